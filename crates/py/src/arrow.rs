//! Tables as Arrow: to Python by the C data interface's capsules, without a copy of numbers, and to
//! Parquet.
//!
//! Text is kept as views, which polars takes as they are. To all others goes the older layout,
//! offsets into one text: pyarrow 26 has views but neither compares, sorts nor joins them.

use crate::errors::{self, UsageError};
use crate::parquet::{self, About, Cell};
use arrow_array::builder::{StringBuilder, StringViewBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringViewArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, ffi::FFI_ArrowSchema};
use fairq_experiment::results::table::{Cells, Table as Rows};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::sync::Arc;

/// A table of results: named columns of whole numbers (`u64`), real numbers (`f64`) and text, in
/// Arrow's memory layout.
#[pyclass(frozen)]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// `rows` as Arrow arrays.
    pub(crate) fn new(rows: Rows) -> PyResult<Self> {
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = rows
            .into_columns()
            .map(|(name, cells)| {
                let array = array(cells);
                (Field::new(name, array.data_type().clone(), true), array)
            })
            .unzip();
        Self::of(fields, columns)
    }

    /// Columns of the three kinds, all of the same length.
    pub(crate) fn of(fields: Vec<Field>, columns: Vec<ArrayRef>) -> PyResult<Self> {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        Ok(Self { batch: batch.map_err(|error| UsageError::new_err(error.to_string()))? })
    }
}

/// The cells of a column; a number that is not finite is no value.
fn array(cells: Cells) -> ArrayRef {
    match cells {
        Cells::Whole(cells) => Arc::new(UInt64Array::from(cells)),
        Cells::Real(cells) if cells.iter().all(|cell| cell.is_finite()) => Arc::new(Float64Array::from(cells)),
        Cells::Real(cells) => {
            Arc::new(cells.into_iter().map(|cell| cell.is_finite().then_some(cell)).collect::<Float64Array>())
        }
        Cells::Text(cells) => texts(cells.iter().map(Option::as_deref)),
    }
}

/// Text as views; what is too long to stand in a view is kept once, as the digest of a run in each
/// of its rows.
pub(crate) fn texts<'a>(cells: impl ExactSizeIterator<Item = Option<&'a str>>) -> ArrayRef {
    let mut views = StringViewBuilder::with_capacity(cells.len()).with_deduplicate_strings();
    cells.for_each(|cell| views.append_option(cell));
    Arc::new(views.finish())
}

/// A column as every package computes with it: of text a copy.
fn with_offsets(column: &ArrayRef) -> ArrayRef {
    let Typed::Text(cells) = typed(column) else { return Arc::clone(column) };
    let bytes = cells.lengths().map(|length| length as usize).sum();
    let mut texts = StringBuilder::with_capacity(cells.len(), bytes);
    cells.iter().for_each(|cell| texts.append_option(cell));
    Arc::new(texts.finish())
}

/// A field of a column of `with_offsets`.
fn field_with_offsets(field: &Arc<Field>) -> Field {
    let kind = match field.data_type() {
        DataType::Utf8View => DataType::Utf8,
        kind => kind.clone(),
    };
    Field::new(field.name(), kind, field.is_nullable())
}

/// Arrow's stream of one batch.
fn stream(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = batch.schema();
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
}

/// A table whose text leaves as it is kept.
#[pyclass(frozen)]
pub(crate) struct Views(RecordBatch);

#[pymethods]
impl Views {
    /// Arrow's stream of the table, one batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol allows a producer to leave a request for other types unheard.
        let _ = requested_schema;
        stream(py, self.0.clone())
    }
}

/// A column of one of the three kinds that tables have.
enum Typed<'a> {
    Whole(&'a UInt64Array),
    Real(&'a Float64Array),
    Text(&'a StringViewArray),
}

fn typed(array: &ArrayRef) -> Typed<'_> {
    let any = array.as_any();
    if let Some(array) = any.downcast_ref() {
        Typed::Whole(array)
    } else if let Some(array) = any.downcast_ref() {
        Typed::Real(array)
    } else if let Some(array) = any.downcast_ref() {
        Typed::Text(array)
    } else {
        unreachable!("a column is one of the three that `array` makes")
    }
}

#[pymethods]
impl Table {
    /// The table for polars, which takes its text without a copy, too.
    fn views(&self) -> Views {
        Views(self.batch.clone())
    }

    /// Arrow's stream of this table, one batch: what `polars.DataFrame(table)` and the like take.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol allows a producer to leave a request for other types unheard.
        let _ = requested_schema;
        let columns = py.detach(|| self.batch.columns().iter().map(with_offsets).collect());
        let batch = RecordBatch::try_new(Arc::new(self.schema()), columns);
        stream(py, batch.map_err(|error| UsageError::new_err(error.to_string()))?)
    }

    /// Arrow's schema of this table.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&self.schema());
        let schema = schema.map_err(|error| UsageError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The names of the columns, in their order.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The kinds of the columns: "text", "whole" or "real".
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        let kind = |field: &Arc<Field>| match field.data_type() {
            DataType::UInt64 => "whole",
            DataType::Float64 => "real",
            _ => "text",
        };
        self.batch.schema().fields().iter().map(kind).collect()
    }

    /// The values of column number `at` from row `start` on, `count` at most; None for a missing
    /// one.
    fn cells<'py>(&self, py: Python<'py>, at: usize, start: usize, count: usize) -> PyResult<Bound<'py, PyList>> {
        let rows = self.batch.num_rows();
        let from = start.min(rows);
        let column = self.batch.columns().get(at).ok_or_else(|| UsageError::new_err("no such column"))?;
        let column = column.slice(from, count.min(rows - from));
        match typed(&column) {
            Typed::Whole(cells) => PyList::new(py, cells.iter().collect::<Vec<_>>()),
            Typed::Real(cells) => PyList::new(py, cells.iter().collect::<Vec<_>>()),
            Typed::Text(cells) => PyList::new(py, cells.iter().collect::<Vec<_>>()),
        }
    }

    /// The address of the values of column number `at`, to show that they were not copied.
    fn address(&self, at: usize) -> Option<usize> {
        match typed(self.batch.columns().get(at)?) {
            Typed::Whole(cells) => Some(cells.values().as_ptr() as usize),
            Typed::Real(cells) => Some(cells.values().as_ptr() as usize),
            Typed::Text(_) => None,
        }
    }

    /// Writes the table as a Parquet file; `source` and `seed` go into its metadata.
    #[pyo3(signature = (path, source, seed=None))]
    fn write_parquet(&self, py: Python<'_>, path: &str, source: &str, seed: Option<u64>) -> PyResult<()> {
        py.detach(|| {
            let file = std::fs::File::create_new(path);
            let written = file.and_then(|file| self.write(std::io::BufWriter::new(file), About { source, seed }));
            written.map_err(|cause| {
                errors::output(format!("{path}: cannot be written: {}", errors::reason(&cause)), cause.raw_os_error())
            })
        })
    }
}

impl Table {
    /// The columns as they leave, which only polars gets as they are kept.
    fn schema(&self) -> Schema {
        Schema::new(self.batch.schema().fields().iter().map(field_with_offsets).collect::<Vec<_>>())
    }

    fn write(&self, sink: impl std::io::Write + Send, about: About<'_>) -> std::io::Result<()> {
        let columns: Vec<Typed<'_>> = self.batch.columns().iter().map(typed).collect();
        let kind = |column: &Typed<'_>| match column {
            Typed::Whole(_) => parquet::Kind::U64,
            Typed::Real(_) => parquet::Kind::F64,
            Typed::Text(_) => parquet::Kind::Text,
        };
        let described = |(name, column): (String, &Typed<'_>)| parquet::Column {
            name: name.into(),
            kind: kind(column),
            is_nullable: true,
        };
        let described: Vec<_> = self.names().into_iter().zip(&columns).map(described).collect();
        let mut table = parquet::Table::new(sink, &described, about)?;
        let mut cells = Vec::with_capacity(columns.len());
        for row in 0..self.batch.num_rows() {
            cells.clear();
            cells.extend(columns.iter().map(|column| match column {
                Typed::Whole(array) if array.is_valid(row) => Cell::U64(array.value(row)),
                Typed::Real(array) if array.is_valid(row) => Cell::F64(array.value(row)),
                Typed::Text(array) if array.is_valid(row) => Cell::Text(array.value(row)),
                _ => Cell::Null,
            }));
            table.row(&cells)?;
        }
        table.finish().map(drop)
    }
}
