//! Rows of a result as a Parquet file: the columns and their kinds are read off the rows.

use crate::parquet::{About, Cell, Column, Kind, Table};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes `rows`, which all have the columns of the first.
///
/// # Errors
/// As the sink.
pub(crate) fn write(sink: impl Write + Send, rows: &[Map<String, Value>], about: About<'_>) -> io::Result<()> {
    let columns: Vec<Column> = rows.first().into_iter().flat_map(Map::keys).map(|name| column(name, rows)).collect();
    let mut table = Table::new(sink, &columns, about)?;
    for row in rows {
        let cells: Vec<Cell<'_>> = columns.iter().map(|column| cell(row.get(&*column.name), column.kind)).collect();
        table.row(&cells)?;
    }
    table.finish().map(drop)
}

/// A column of whole numbers becomes one of numbers where a row has a fraction; any may miss
/// values.
fn column(name: &str, rows: &[Map<String, Value>]) -> Column {
    let kind = rows.iter().filter_map(|row| row.get(name)).filter_map(kind_of).reduce(|a, b| match (a, b) {
        (a, b) if a == b => a,
        (Kind::U64, Kind::I64) | (Kind::I64, Kind::U64) => Kind::I64,
        (Kind::U64 | Kind::I64 | Kind::F64, Kind::U64 | Kind::I64 | Kind::F64) => Kind::F64,
        _ => Kind::Text,
    });
    Column { name: Cow::Owned(name.to_owned()), kind: kind.unwrap_or(Kind::F64), is_nullable: true }
}

fn kind_of(value: &Value) -> Option<Kind> {
    match value {
        Value::Number(number) if number.is_u64() => Some(Kind::U64),
        Value::Number(number) if number.is_i64() => Some(Kind::I64),
        Value::Number(_) => Some(Kind::F64),
        Value::Bool(_) => Some(Kind::Bool),
        Value::String(_) => Some(Kind::Text),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn cell(value: Option<&Value>, kind: Kind) -> Cell<'_> {
    let found = value.and_then(|value| match kind {
        Kind::U64 => value.as_u64().map(Cell::U64),
        Kind::I64 => value.as_i64().map(Cell::I64),
        Kind::F64 => value.as_f64().map(Cell::F64),
        Kind::Bool => value.as_bool().map(Cell::Bool),
        Kind::Text => value.as_str().map(Cell::Text),
    });
    found.unwrap_or(Cell::Null)
}
