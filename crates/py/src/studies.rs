//! What a study needs of the compiled part: the names of its runs, tables of several runs as one,
//! and the tables of Parquet files that it wrote before.

use crate::arrow::Table;
use crate::errors::{OutputError, ScenarioError};
use crate::experiments::{Tables, no_table};
use crate::read_file;
use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use arrow_schema::Field;
use fairq_experiment::experiment::Experiment;
use fairq_experiment::results::{self, table::Table as Rows};
use fairq_experiment::scenario::problem::Problem;
use fairq_experiment::scenario::read::{Document, Written};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType as Physical;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;

/// A text in TOML as JSON, and the line of each of its paths.
#[pyfunction]
pub(crate) fn toml_tree(text: &str, name: &str) -> PyResult<(String, Vec<(String, usize)>)> {
    let written = Written::read(text, name).map_err(said)?;
    Ok((written.tree.to_string(), written.lines))
}

/// The names of runs at a point of a scenario: the values of its axes as JSON, the first seed, and
/// the digest for it and each seed behind it.
type Named = (String, u64, Vec<String>);

/// The names of the runs of a scenario: for each element of `points`, settings of a scenario's
/// fields, the points of the scenario's own axes, each with as many digests as `replications` says
/// (the scenario's own if it is None).
#[pyfunction]
#[pyo3(signature = (text, name, points, replications=None))]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
pub(crate) fn named_runs(
    py: Python<'_>,
    text: &str,
    name: &str,
    points: Vec<Vec<(String, String)>>,
    replications: Option<u64>,
) -> PyResult<Vec<Vec<Named>>> {
    let named = || {
        let document = Document::parse(text, name)?;
        points.iter().map(|sets| named_at(document.clone(), name, sets, replications)).collect::<Result<_, Problem>>()
    };
    py.detach(named).map_err(said)
}

fn named_at(
    mut document: Document,
    name: &str,
    sets: &[(String, String)],
    replications: Option<u64>,
) -> Result<Vec<Named>, Problem> {
    for (path, value) in sets {
        document.set(path, value)?;
    }
    let files = |file: &str| read_file(name, file);
    let experiment = Experiment::of(document, &files)?;
    let measure = &experiment.scenario().measure;
    let (first, count) = (measure.seed, replications.unwrap_or_else(|| measure.replications.into()));
    let points = 0..experiment.plans().len();
    let runs = points.filter_map(|point| experiment.run_at(point, first));
    runs.map(|run| {
        let given = run.given(&files)?;
        let digests = (0..count).map(|number| given.digest(first.wrapping_add(number)).to_string());
        let labels: Map<String, Value> = run.point().labels.iter().cloned().collect();
        Ok((Value::Object(labels).to_string(), first, digests.collect()))
    })
    .collect()
}

fn said(problem: Problem) -> PyErr {
    ScenarioError::new_err(problem.to_string())
}

/// The tables called `name` of several runs as one: the digest of each before its rows.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
pub(crate) fn joined(py: Python<'_>, name: &str, runs: Vec<(String, PyRef<'_, Tables>)>) -> PyResult<Table> {
    let of = results::Tables::by_name(name).ok_or_else(|| no_table(name))?;
    let runs: Vec<(&str, &Rows)> = runs.iter().map(|(digest, tables)| (&**digest, of(&tables.tables))).collect();
    let labelled = runs.into_iter().map(|(digest, table)| (vec![("digest".to_owned(), digest.into())], table));
    let rows = py.detach(|| Rows::joined(labelled));
    Table::new(rows)
}

/// A file, and the digests of the runs whose rows are wanted; None for all.
type Part = (String, Option<BTreeSet<String>>);

/// The rows of Parquet files, one after the other, in these columns, each with its kind as
/// `Table.kinds` has it: of files that `Table.write_parquet` wrote. A file without a column has no
/// value there. With digests, only the rows of these runs.
///
/// # Errors
/// `OutputError` with its name for a file that cannot be read.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
pub(crate) fn read_parts(py: Python<'_>, parts: Vec<Part>, columns: Vec<(String, String)>) -> PyResult<Table> {
    let read = || {
        let mut all: Vec<Gathered> = columns.iter().map(|(_, kind)| Gathered::new(kind)).collect();
        for (path, wanted) in &parts {
            let part = read_part(path, wanted.as_ref(), &columns).map_err(|cause| (path, cause))?;
            all.iter_mut().zip(part).for_each(|(all, part)| all.append(part));
        }
        Ok(all)
    };
    let gathered = py.detach(read).map_err(|(path, cause): (&String, ParquetError)| {
        OutputError::new_err(format!("{path}: cannot be read as a part: {cause}"))
    })?;
    let arrays: Vec<ArrayRef> = gathered.into_iter().map(Gathered::array).collect();
    let field = |((name, _), array): (&(String, String), &ArrayRef)| Field::new(name, array.data_type().clone(), true);
    Table::of(columns.iter().zip(&arrays).map(field).collect(), arrays)
}

/// The values of a column so far.
enum Gathered {
    Whole(Vec<Option<u64>>),
    Real(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
}

impl Gathered {
    fn new(kind: &str) -> Self {
        match kind {
            "whole" => Self::Whole(Vec::new()),
            "real" => Self::Real(Vec::new()),
            _ => Self::Text(Vec::new()),
        }
    }

    fn array(self) -> ArrayRef {
        match self {
            Self::Whole(cells) => Arc::new(UInt64Array::from(cells)),
            Self::Real(cells) => Arc::new(Float64Array::from(cells)),
            Self::Text(cells) => Arc::new(StringArray::from(cells)),
        }
    }

    fn extend_missing(&mut self, rows: usize) {
        match self {
            Self::Whole(cells) => cells.extend(std::iter::repeat_n(None, rows)),
            Self::Real(cells) => cells.extend(std::iter::repeat_n(None, rows)),
            Self::Text(cells) => cells.extend(std::iter::repeat_n(None, rows)),
        }
    }

    /// Appends a column of the same kind.
    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Whole(cells), Self::Whole(others)) => cells.extend(others),
            (Self::Real(cells), Self::Real(others)) => cells.extend(others),
            (Self::Text(cells), Self::Text(others)) => cells.extend(others),
            _ => unreachable!("both were made for the same kind"),
        }
    }

    /// Keeps the rows that are wanted.
    fn retain(&mut self, wanted: &[bool]) {
        let mut wanted = wanted.iter();
        let mut is_wanted = || wanted.next().copied().unwrap_or_default();
        match self {
            Self::Whole(cells) => cells.retain(|_| is_wanted()),
            Self::Real(cells) => cells.retain(|_| is_wanted()),
            Self::Text(cells) => cells.retain(|_| is_wanted()),
        }
    }
}

/// The columns of a file, with the rows of the runs that are wanted.
fn read_part(
    path: &str,
    wanted: Option<&BTreeSet<String>>,
    columns: &[(String, String)],
) -> Result<Vec<Gathered>, ParquetError> {
    let file = std::fs::File::open(path).map_err(|cause| ParquetError::General(cause.to_string()))?;
    let reader = SerializedFileReader::new(file)?;
    let read = |(name, kind): &(String, String)| read_column(&reader, name, kind);
    let mut gathered: Vec<Gathered> = columns.iter().map(read).collect::<Result<_, _>>()?;
    if let Some(wanted) = wanted
        && let Gathered::Text(digests) = read_column(&reader, "digest", "text")?
    {
        let is_wanted = |digest: &Option<String>| digest.as_ref().is_some_and(|digest| wanted.contains(digest));
        let rows: Vec<bool> = digests.iter().map(is_wanted).collect();
        gathered.iter_mut().for_each(|cells| cells.retain(&rows));
    }
    Ok(gathered)
}

/// The column called `name` of a file.
fn read_column(reader: &SerializedFileReader<File>, name: &str, kind: &str) -> Result<Gathered, ParquetError> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let at = schema.columns().iter().position(|column| column.name() == name);
    let mut gathered = Gathered::new(kind);
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
        let Some(at) = at else {
            gathered.extend_missing(rows);
            continue;
        };
        match (group.get_column_reader(at)?, &mut gathered) {
            (ColumnReader::Int64ColumnReader(column), Gathered::Whole(cells)) => {
                read_cells(column, rows, cells, i64::cast_unsigned)?;
            }
            (ColumnReader::DoubleColumnReader(column), Gathered::Real(cells)) => {
                read_cells(column, rows, cells, |value| value)?;
            }
            (ColumnReader::ByteArrayColumnReader(column), Gathered::Text(cells)) => {
                read_cells(column, rows, cells, |value| String::from_utf8_lossy(value.data()).into_owned())?;
            }
            _ => return Err(ParquetError::General(format!("column {name} is of another kind"))),
        }
    }
    Ok(gathered)
}

/// Appends the values of a column of `rows` rows, each as `of` makes it.
fn read_cells<T: Physical, V>(
    mut column: ColumnReaderImpl<T>,
    rows: usize,
    cells: &mut Vec<Option<V>>,
    of: impl Fn(T::T) -> V,
) -> Result<(), ParquetError> {
    let (mut values, mut present) = (Vec::new(), Vec::new());
    while present.len() < rows {
        let (read, ..) = column.read_records(rows - present.len(), Some(&mut present), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::EOF(format!("a column ends after {} of {rows} rows", present.len())));
        }
    }
    let mut values = values.into_iter();
    cells.extend(present.into_iter().map(|is_present| (is_present > 0).then(|| values.next().map(&of)).flatten()));
    Ok(())
}
