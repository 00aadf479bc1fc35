//! A table by columns: each holds values of one kind, so that a row costs what its numbers take.

use crate::columns::{Column, Kind, TableOf};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// A value for each row of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Whole(Vec<Option<u64>>),
    /// Numbers; what is not finite is no value.
    Real(Vec<f64>),
    /// Text, of which the same is kept once.
    Text(Vec<Option<Arc<str>>>),
}

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A whole number.
    Whole(u64),
    /// A finite number.
    Real(f64),
    /// Text.
    Text(&'a str),
    /// No value.
    None,
}

impl Cells {
    /// No cells of a kind.
    #[must_use]
    pub const fn none(kind: Kind) -> Self {
        match kind {
            Kind::Whole => Self::Whole(Vec::new()),
            Kind::Real => Self::Real(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
        }
    }

    /// Values of an axis, each for as many rows as stands beside it: numbers if all are, else text.
    fn of_labels(labels: Vec<(Value, usize)>) -> Self {
        if labels.iter().all(|(label, _)| label.is_u64()) {
            let cells = labels.iter().flat_map(|(label, rows)| std::iter::repeat_n(label.as_u64(), *rows));
            return Self::Whole(cells.collect());
        }
        if labels.iter().all(|(label, _)| label.is_number()) {
            let number = |label: &Value| label.as_f64().unwrap_or(f64::NAN);
            let cells = labels.iter().flat_map(|(label, rows)| std::iter::repeat_n(number(label), *rows));
            return Self::Real(cells.collect());
        }
        let text = |label: &Value| label.as_str().map_or_else(|| label.to_string(), str::to_owned);
        let cells = labels.iter().flat_map(|(label, rows)| {
            let text: Arc<str> = text(label).into();
            std::iter::repeat_n(Some(text), *rows)
        });
        Self::Text(cells.collect())
    }

    /// The values of a column, by the kind that it declares.
    ///
    /// # Errors
    /// A value that is missing from its row or of another kind.
    fn of_values<'a>(column: &Column, values: impl Iterator<Item = Option<&'a Value>>) -> Result<Self, String> {
        fn read<'a, T>(value: Option<&'a Value>, read: impl Fn(&'a Value) -> Option<T>) -> Option<Option<T>> {
            value.and_then(|value| if value.is_null() { Some(None) } else { read(value).map(Some) })
        }
        let cells = match column.kind {
            Kind::Whole => values.map(|value| read(value, Value::as_u64)).collect::<Option<_>>().map(Self::Whole),
            Kind::Real => {
                let real = |value| read(value, Value::as_f64).map(|real| real.unwrap_or(f64::NAN));
                values.map(real).collect::<Option<_>>().map(Self::Real)
            }
            Kind::Text => {
                let text = |value| read(value, Value::as_str).map(|text| text.map(Into::into));
                values.map(text).collect::<Option<_>>().map(Self::Text)
            }
        };
        cells.ok_or_else(|| format!("{}: a row has no value of the kind {:?} here", column.name, column.kind))
    }

    /// Adds the cells of another column of the same kind.
    ///
    /// # Panics
    /// If it is of another kind.
    fn append(&mut self, other: &Self) {
        match (self, other) {
            (Self::Whole(cells), Self::Whole(others)) => cells.extend_from_slice(others),
            (Self::Real(cells), Self::Real(others)) => cells.extend_from_slice(others),
            (Self::Text(cells), Self::Text(others)) => cells.extend_from_slice(others),
            // Over one run whole numbers stay whole; no table is joined of both.
            (this, other) => panic!("a column of {:?} and of {:?}", this.kind(), other.kind()),
        }
    }

    /// The kind of the values.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Whole(_) => Kind::Whole,
            Self::Real(_) => Kind::Real,
            Self::Text(_) => Kind::Text,
        }
    }

    /// Their number.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Whole(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value in a row.
    #[must_use]
    pub fn at(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Whole(cells) => cells[row].map_or(Cell::None, Cell::Whole),
            Self::Real(cells) if cells[row].is_finite() => Cell::Real(cells[row]),
            Self::Real(_) => Cell::None,
            Self::Text(cells) => cells[row].as_deref().map_or(Cell::None, Cell::Text),
        }
    }

    /// The text in a row, shared.
    #[must_use]
    pub fn shared(&self, row: usize) -> Option<Arc<str>> {
        match self {
            Self::Text(cells) => cells[row].clone(),
            Self::Whole(_) | Self::Real(_) => None,
        }
    }
}

impl Cell<'_> {
    /// The whole number, if it is one.
    #[must_use]
    pub const fn whole(self) -> Option<u64> {
        match self {
            Self::Whole(number) => Some(number),
            Self::Real(_) | Self::Text(_) | Self::None => None,
        }
    }

    /// The number, if it is one.
    #[must_use]
    pub const fn number(self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(number as f64),
            Self::Real(number) => Some(number),
            Self::Text(_) | Self::None => None,
        }
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(number) => to.serialize_u64(*number),
            Self::Real(number) => to.serialize_f64(*number),
            Self::Text(text) => to.serialize_str(text),
            Self::None => to.serialize_none(),
        }
    }
}

/// The name of a column.
pub type Name = Cow<'static, str>;

/// Named columns of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<(Name, Cells)>,
}

impl Table {
    /// The columns, in their order.
    #[must_use]
    pub fn columns(&self) -> &[(Name, Cells)] {
        &self.columns
    }

    /// The columns by themselves.
    pub fn into_columns(self) -> impl Iterator<Item = (Name, Cells)> {
        self.columns.into_iter()
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, cells)| cells.len())
    }

    /// Whether it has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// The column called `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Cells> {
        self.columns.iter().find(|(other, _)| other == name).map(|(_, cells)| cells)
    }

    /// A table without rows; its columns are there all the same.
    #[must_use]
    pub fn empty(of: &'static TableOf) -> Self {
        let columns = of.columns.iter().map(|column| (column.name.into(), Cells::none(column.kind)));
        Self { columns: columns.collect() }
    }

    /// The rows of several tables with the same columns one after the other, with the labels of
    /// each as columns before the others. All have labels of the same names.
    #[must_use]
    pub fn joined<'a>(parts: impl Iterator<Item = (Vec<(String, Value)>, &'a Self)>) -> Self {
        let parts: Vec<(Vec<(String, Value)>, &Self)> = parts.collect();
        let Some((labels, first)) = parts.first() else { return Self::default() };
        let mut joined = Self::default();
        for (at, (name, _)) in labels.iter().enumerate() {
            let label = |(labels, table): &(Vec<(String, Value)>, &Self)| (labels[at].1.clone(), table.rows());
            joined.push(name.clone(), Cells::of_labels(parts.iter().map(label).collect()));
        }
        for (at, (name, cells)) in first.columns.iter().enumerate() {
            let mut all = Cells::none(cells.kind());
            parts.iter().for_each(|(_, table)| all.append(&table.columns[at].1));
            joined.push(name.clone(), all);
        }
        joined
    }

    /// The table of `rows`: objects with the values of axes and the columns of `of`.
    ///
    /// # Errors
    /// A value that is missing from its row or of another kind.
    pub fn of_rows(of: &'static TableOf, rows: &[Map<String, Value>]) -> Result<Self, String> {
        let mut table = Self::default();
        for axis in rows.first().into_iter().flat_map(Map::keys).filter(|name| of.column(name).is_none()) {
            let labels = rows.iter().map(|row| (row.get(axis).cloned().unwrap_or_default(), 1));
            table.push(axis.clone(), Cells::of_labels(labels.collect()));
        }
        for column in of.columns {
            table.push(column.name, Cells::of_values(column, rows.iter().map(|row| row.get(column.name)))?);
        }
        Ok(table)
    }

    /// Adds a column.
    pub(super) fn push(&mut self, name: impl Into<Name>, cells: Cells) {
        self.columns.push((name.into(), cells));
    }

    /// The rows as objects, each after the same `labels`.
    #[must_use]
    pub const fn labelled<'a>(&'a self, labels: &'a [(String, Value)]) -> Rows<'a> {
        Rows { table: self, labels }
    }
}

/// A table that is made column by column, in the order and of the kinds that its description says.
#[derive(Clone, Debug)]
pub struct Builder {
    of: &'static TableOf,
    table: Table,
}

impl Builder {
    /// The beginning of a table.
    #[must_use]
    pub fn new(of: &'static TableOf) -> Self {
        Self { of, table: Table::default() }
    }

    fn push(&mut self, name: &'static str, cells: Cells) {
        let at = self.table.columns.len();
        let column = self.of.columns.get(at).map(|column| (column.name, column.kind));
        assert_eq!(column, Some((name, cells.kind())), "column {at} of {}", self.of.name);
        self.table.push(name, cells);
    }

    /// Adds a column of whole numbers.
    pub fn whole(&mut self, name: &'static str, cells: impl Iterator<Item = impl Into<Option<u64>>>) {
        self.push(name, Cells::Whole(cells.map(Into::into).collect()));
    }

    /// Adds a column of numbers.
    pub fn real(&mut self, name: &'static str, cells: impl Iterator<Item = impl Into<Option<f64>>>) {
        self.push(name, Cells::Real(cells.map(|cell| cell.into().unwrap_or(f64::NAN)).collect()));
    }

    /// Adds a column of text.
    pub fn text(&mut self, name: &'static str, cells: impl Iterator<Item = impl Into<Option<Arc<str>>>>) {
        self.push(name, Cells::Text(cells.map(Into::into).collect()));
    }

    /// Adds a column of few different texts.
    pub fn words<'a>(&mut self, name: &'static str, cells: impl Iterator<Item = &'a str>) {
        let mut known: Vec<Arc<str>> = Vec::new();
        let shared = |text: &str| match known.iter().find(|word| &***word == text) {
            Some(word) => Arc::clone(word),
            None => {
                known.push(text.into());
                text.into()
            }
        };
        let cells: Vec<Arc<str>> = cells.map(shared).collect();
        self.text(name, cells.into_iter());
    }

    /// The table.
    ///
    /// # Panics
    /// If a column is missing.
    #[must_use]
    pub fn finish(self) -> Table {
        let (made, all) = (self.table.columns.len(), self.of.columns);
        assert_eq!(
            made,
            all.len(),
            "{} has no column {}",
            self.of.name,
            all.get(made).map_or("", |column| column.name)
        );
        self.table
    }
}

/// As an array of rows, each an object.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut rows = to.serialize_seq(Some(self.rows()))?;
        for row in self.labelled(&[]).iter() {
            rows.serialize_element(&row)?;
        }
        rows.end()
    }
}

/// The rows of a table with labels before them.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    table: &'a Table,
    labels: &'a [(String, Value)],
}

impl<'a> Rows<'a> {
    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = Row<'a>> {
        (0..self.table.rows()).map(move |at| Row { of: self, at })
    }
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    of: Rows<'a>,
    at: usize,
}

/// As an object.
impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Rows { table, labels } = self.of;
        let mut object = to.serialize_map(Some(labels.len() + table.columns.len()))?;
        for (name, value) in labels {
            object.serialize_entry(name, value)?;
        }
        for (name, cells) in &table.columns {
            object.serialize_entry(name, &cells.at(self.at))?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::SEED;
    use serde_json::json;

    const TRIED: TableOf = TableOf {
        name: "tried",
        row: "a try",
        class: "Try",
        columns: &[
            Column { name: "kind", kind: Kind::Text, ..SEED },
            Column { name: "count", kind: Kind::Whole, ..SEED },
            Column { name: "mean", kind: Kind::Real, ..SEED },
        ],
    };

    #[test]
    fn rows_are_written_as_they_would_be_from_a_tree() {
        let mut table = Builder::new(&TRIED);
        table.words("kind", ["a", "b", "a"].into_iter());
        table.whole("count", [Some(1), None, Some(u64::MAX)].into_iter());
        table.real("mean", [0.1, f64::NAN, 1e16].into_iter());
        let table = table.finish();
        let labels = [("seed".to_string(), json!(7))];
        let tree = json!([
            { "seed": 7, "kind": "a", "count": 1, "mean": 0.1 },
            { "seed": 7, "kind": "b", "count": null, "mean": null },
            { "seed": 7, "kind": "a", "count": u64::MAX, "mean": 1e16 },
        ]);
        let rows: Vec<Row<'_>> = table.labelled(&labels).iter().collect();
        assert_eq!(serde_json::to_string(&rows).unwrap(), tree.to_string());
        assert_eq!(table.rows(), 3);
        let names = |table: &Table| table.columns().iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&Table::empty(&TRIED)), names(&table));
    }

    #[test]
    fn columns_of_rows_have_the_declared_kinds_whatever_their_values_are() {
        let made = |rows: Value| {
            let rows: Vec<Map<String, Value>> = serde_json::from_value(rows).unwrap();
            Table::of_rows(&TRIED, &rows)
        };
        let table = made(json!([
            { "axis": "x", "kind": "a", "count": null, "mean": 1 },
            { "axis": 2, "kind": "b", "count": null, "mean": null },
        ]))
        .unwrap();
        let kinds: Vec<_> = table.columns().iter().map(|(name, cells)| (&**name, cells.kind())).collect();
        let expected = [("axis", Kind::Text), ("kind", Kind::Text), ("count", Kind::Whole), ("mean", Kind::Real)];
        assert_eq!(kinds, expected);
        assert_eq!(table.column("mean").map(|mean| [mean.at(0), mean.at(1)]), Some([Cell::Real(1.0), Cell::None]));
        assert_eq!(made(json!([])).unwrap(), Table::empty(&TRIED));
        for wrong in [json!({ "kind": "a", "count": 1 }), json!({ "kind": "a", "count": 1.5, "mean": 1 })] {
            assert!(made(json!([wrong])).unwrap_err().contains("no value of the kind"));
        }
    }

    #[test]
    #[should_panic(expected = "column 0 of tried")]
    fn a_column_of_another_name_is_refused() {
        Builder::new(&TRIED).whole("count", [1].into_iter());
    }

    #[test]
    #[should_panic(expected = "tried has no column count")]
    fn a_missing_column_is_refused() {
        let mut table = Builder::new(&TRIED);
        table.words("kind", ["a"].into_iter());
        let _ = table.finish();
    }
}
