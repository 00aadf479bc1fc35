//! The one Parquet writer: rows in, row groups out, in memory that does not grow with the table.
//!
//! Columns of whole numbers, numbers, truth values and text, each with or without nulls. Whole
//! numbers are written as differences and text through a dictionary, so that tables are small
//! without a compression library. Only the footer grows, by some hundred bytes for each row group.

use fairq_experiment::columns::RESULT_SCHEMA_VERSION;
use parquet::basic::{ConvertedType, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

/// The kind of values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whole numbers from 0.
    U64,
    /// Numbers.
    F64,
    /// Truth values.
    Bool,
    /// Text.
    Text,
}

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: Kind,
    /// Whether a value may be missing.
    pub(crate) is_nullable: bool,
}

impl Column {
    /// A column in which every row has a value.
    pub(crate) const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name: Cow::Borrowed(name), kind, is_nullable: false }
    }

    /// A column in which values may be missing.
    pub(crate) const fn nullable(name: &'static str, kind: Kind) -> Self {
        Self { name: Cow::Borrowed(name), kind, is_nullable: true }
    }
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    U64(u64),
    F64(f64),
    Bool(bool),
    Text(&'a str),
    Null,
}

/// What a file says of itself beside its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    /// The command or scenario that it comes from.
    pub(crate) source: &'a str,
    /// The seed of the run; a file of several runs has none.
    pub(crate) seed: Option<u64>,
}

/// A table that is being written.
pub(crate) struct Table<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Gathered>,
    rows: usize,
}

/// Rows of a row group: what is in memory at a time.
const GROUP: usize = 64 * 1024;

impl<W: Write + Send> Table<W> {
    /// Begins a table in `sink`.
    ///
    /// # Errors
    /// As the sink.
    pub(crate) fn new(sink: W, columns: &[Column], about: About<'_>) -> std::io::Result<Self> {
        let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_, _>>();
        let schema = fields.and_then(|fields| Type::group_type_builder("table").with_fields(fields).build());
        let schema = schema.map_err(as_io)?;
        let said = [
            ("fairq.source", Some(about.source.to_owned())),
            ("fairq.seed", about.seed.map(|seed| seed.to_string())),
            ("fairq.version", Some(env!("CARGO_PKG_VERSION").to_owned())),
            ("fairq.schema_version", Some(RESULT_SCHEMA_VERSION.to_string())),
        ];
        let said = said.into_iter().filter_map(|(key, value)| Some(KeyValue::new(key.to_owned(), value?)));
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("fairq version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(said.collect()))
            // Statistics of pages would make the footer grow faster.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_dictionary_enabled(false);
        for column in columns {
            let path = ColumnPath::from(&*column.name);
            properties = match column.kind {
                Kind::U64 => properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
                Kind::Text => properties.set_column_dictionary_enabled(path, true),
                Kind::F64 | Kind::Bool => properties,
            };
        }
        let writer = SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties.build())).map_err(as_io)?;
        Ok(Self { writer, columns: columns.iter().map(Gathered::new).collect(), rows: 0 })
    }

    /// Appends a row: a cell for each column, of its kind.
    ///
    /// # Errors
    /// If the row does not fit the columns; else as the sink.
    pub(crate) fn row(&mut self, cells: &[Cell<'_>]) -> std::io::Result<()> {
        // Looked at before any is taken: a row is taken whole or not at all.
        let fits = self.columns.iter().zip(cells).all(|(column, cell)| column.takes(*cell));
        if !fits || cells.len() != self.columns.len() {
            return Err(std::io::Error::other(format!("a row does not fit its table: {cells:?}")));
        }
        self.columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(*cell));
        self.rows += 1;
        if self.rows == GROUP { self.write_group() } else { Ok(()) }
    }

    /// Writes what is left and the footer, and gives the sink back.
    ///
    /// # Errors
    /// As the sink.
    pub(crate) fn finish(mut self) -> std::io::Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.into_inner().map_err(as_io)
    }

    fn write_group(&mut self) -> std::io::Result<()> {
        let mut group = self.writer.next_row_group().map_err(as_io)?;
        self.columns.iter_mut().try_for_each(|column| column.write(&mut group)).map_err(as_io)?;
        group.close().map_err(as_io)?;
        self.rows = 0;
        Ok(())
    }
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let physical = match column.kind {
        Kind::U64 => Physical::INT64,
        Kind::F64 => Physical::DOUBLE,
        Kind::Bool => Physical::BOOLEAN,
        Kind::Text => Physical::BYTE_ARRAY,
    };
    let logical = match column.kind {
        Kind::U64 => Some(LogicalType::integer(64, false)),
        Kind::Text => Some(LogicalType::String),
        Kind::F64 | Kind::Bool => None,
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(if column.is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED })
        .with_logical_type(logical)
        .with_converted_type(ConvertedType::NONE)
        .build()
}

/// The rows of a column that are not written yet.
struct Gathered {
    values: Values,
    /// Whether each row has a value, for a column in which some may have none.
    present: Option<Vec<i16>>,
}

enum Values {
    U64(Vec<i64>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<ByteArray>),
}

impl Gathered {
    fn new(column: &Column) -> Self {
        let values = match column.kind {
            Kind::U64 => Values::U64(Vec::new()),
            Kind::F64 => Values::F64(Vec::new()),
            Kind::Bool => Values::Bool(Vec::new()),
            Kind::Text => Values::Text(Vec::new()),
        };
        Self { values, present: column.is_nullable.then(Vec::new) }
    }

    fn takes(&self, cell: Cell<'_>) -> bool {
        match cell {
            Cell::Null => self.present.is_some(),
            Cell::U64(_) => matches!(self.values, Values::U64(_)),
            Cell::F64(_) => matches!(self.values, Values::F64(_)),
            Cell::Bool(_) => matches!(self.values, Values::Bool(_)),
            Cell::Text(_) => matches!(self.values, Values::Text(_)),
        }
    }

    /// Takes a cell that it takes; another would be passed over.
    fn push(&mut self, cell: Cell<'_>) {
        if let Some(present) = &mut self.present {
            present.push(i16::from(cell != Cell::Null));
        }
        match (&mut self.values, cell) {
            // The 64 bits as they are; the column is marked as unsigned.
            (Values::U64(values), Cell::U64(value)) => values.push(value.cast_signed()),
            (Values::F64(values), Cell::F64(value)) => values.push(value),
            (Values::Bool(values), Cell::Bool(value)) => values.push(value),
            (Values::Text(values), Cell::Text(value)) => values.push(ByteArray::from(value)),
            (_, cell) => debug_assert_eq!(cell, Cell::Null),
        }
    }

    fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        let present = self.present.as_deref();
        match &mut self.values {
            Values::U64(values) => write_values::<Int64Type, W>(group, values, present),
            Values::F64(values) => write_values::<DoubleType, W>(group, values, present),
            Values::Bool(values) => write_values::<BoolType, W>(group, values, present),
            Values::Text(values) => write_values::<ByteArrayType, W>(group, values, present),
        }?;
        if let Some(present) = &mut self.present {
            present.clear();
        }
        Ok(())
    }
}

/// Writes the next column of `group` and empties `values`.
fn write_values<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("a row group has fewer columns than its table".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()?;
    values.clear();
    Ok(())
}

/// The system's own error where there is one.
fn as_io(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => std::io::Error::other(cause),
        },
        other => std::io::Error::other(other),
    }
}
