//! What a study needs of the compiled part: what its file says, its points and the names of their
//! runs, tables of several runs as one, and the tables of Parquet files that it wrote before.

use crate::arrow::{Table, texts};
use crate::errors::{self, OutputError};
use crate::experiments::{Tables, no_table};
use crate::machine;
use crate::own::Own;
use crate::progress::heard;
use crate::read_file;
use arrow_array::{ArrayRef, Float64Array, UInt64Array};
use arrow_schema::Field;
use fairq_experiment::experiment::Experiment;
use fairq_experiment::results::{self, table::Table as Rows};
use fairq_experiment::scenario::problem::Problem;
use fairq_experiment::scenario::read::{Document, Written};
use fairq_experiment::study;
use fairq_text::Fault;
use parquet::basic::PageType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType as Physical;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once, OnceLock};

/// A text in TOML as JSON, and the line of each of its paths.
#[pyfunction]
pub(crate) fn toml_tree(text: &str, name: &str) -> PyResult<(String, Vec<(String, usize)>)> {
    let written = Written::read(text, name).map_err(errors::scenario)?;
    Ok((written.tree.to_string(), written.lines))
}

/// The names of runs at a point of a scenario: the values of its axes as JSON, the first seed, and
/// the digest for it and each seed behind it.
type Named = (String, u64, Vec<String>);

/// Fields of a scenario and their values as JSON.
type Sets = Vec<(String, String)>;

/// A combination of a study's axes: its labels as JSON, what it sets, and its runs at each point of
/// the scenario's own axes.
type At = (String, Sets, Vec<Named>);

/// A study that was read and checked, with the combinations of its axes.
#[pyclass(frozen, name = "Study")]
pub(crate) struct Study {
    document: Arc<study::Document>,
    combinations: OnceLock<Arc<study::Combinations>>,
}

#[pymethods]
impl Study {
    /// Reads `text`; `name` is that of its file, for messages.
    #[new]
    fn new(text: &str, name: &str) -> PyResult<Self> {
        let document = study::Document::parse(text, name).map_err(errors::scenario)?;
        Ok(Self { document: Arc::new(document), combinations: OnceLock::new() })
    }

    /// The study as JSON: scenario, tables to keep, figures.
    fn said(&self) -> String {
        let said = &self.document.study;
        let keep = json!({
            "tables": said.keep.tables(),
            "series": said.keep.series,
            "packets": said.keep.packets,
            "states": said.keep.states,
        });
        json!({ "study": said.study, "keep": keep, "draw": said.draw }).to_string()
    }

    /// The exception that names a place of the file.
    fn fault(&self, py: Python<'_>, path: &str, message: &str) -> Py<PyBaseException> {
        let problem = self.document.problem(Fault::new(path, message));
        errors::scenario(problem).into_value(py)
    }

    /// How many combinations of the axes there are.
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        self.combinations(py).map(|combinations| combinations.count())
    }

    /// What each `step`-th combination sets.
    fn sets(&self, py: Python<'_>, step: usize) -> PyResult<Vec<Sets>> {
        let combinations = self.combinations(py)?;
        Ok((0..combinations.count()).step_by(step.max(1)).map(|at| pairs(&combinations.get(at))).collect())
    }

    /// The combinations from `first`, at most `most` of them, each with its runs of a scenario, as
    /// `named_runs` gives them. `words` are those of a question.
    #[pyo3(signature = (text, name, first, most, words, own=None))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn named(
        &self,
        py: Python<'_>,
        text: String,
        name: String,
        first: usize,
        most: usize,
        words: Vec<String>,
        own: Option<Py<PyAny>>,
    ) -> PyResult<Vec<At>> {
        let own = Own::of(py, own)?;
        let (document, combinations) = (Arc::clone(&self.document), self.combinations(py)?);
        let named = move || {
            let replications = document.study.study.replications;
            let mut scenario = Document::parse_own(&text, &name, &own.parts)?;
            scenario.bound_memory(machine::memory());
            let last = combinations.count().min(first.saturating_add(most));
            let at = |number: usize| {
                let here = combinations.get(number);
                let sets = pairs(&here);
                let runs = named_at(scenario.clone(), &name, &sets, replications)
                    .map_err(|problem| document.located(&here, problem, &words))?;
                check(&document, &here, &runs)?;
                Ok((Value::Object(here.labels.into_iter().collect()).to_string(), sets, runs))
            };
            (first..last).map(at).collect::<Result<_, Problem>>()
        };
        heard(py, named)?.map_err(errors::scenario)
    }

    /// Refuses figures of axes and columns that there are not.
    fn check_draw(&self, axes: Vec<String>) -> PyResult<()> {
        self.document.check_draw(&axes).map_err(errors::scenario)
    }
}

impl Study {
    fn combinations(&self, py: Python<'_>) -> PyResult<Arc<study::Combinations>> {
        if self.combinations.get().is_none() {
            let document = Arc::clone(&self.document);
            let found = heard(py, move || document.combinations())?.map_err(errors::scenario)?;
            let _ = self.combinations.set(Arc::new(found));
        }
        Ok(Arc::clone(self.combinations.get().expect("it was set above")))
    }
}

fn pairs(at: &study::Combination) -> Sets {
    at.sets.iter().map(|set| (set.path.clone(), set.value.clone())).collect()
}

/// Refuses axes of the scenario that are of the study too, and seeds that a table cannot hold.
fn check(document: &study::Document, at: &study::Combination, runs: &[Named]) -> Result<(), Problem> {
    for (axes, first, digests) in runs {
        let last = first.checked_add(digests.len() as u64).map(|behind| behind - 1);
        if last.is_none_or(|last| last > SEED_MAX) {
            let message = format!("the last seed of a point is more than {SEED_MAX}; take a lower one");
            return Err(document.problem(Fault::new("study.seed", message)));
        }
        let axes: Map<String, Value> = serde_json::from_str(axes).unwrap_or_default();
        document.check_axes(at, &axes.keys().map(String::as_str).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// The last seed: a whole number of a table has no more bits.
const SEED_MAX: u64 = i64::MAX as u64;

/// The names of the runs of a scenario: for each element of `points`, settings of a scenario's
/// fields, the points of the scenario's own axes, each with as many digests as `replications` says
/// (the scenario's own if it is None).
#[pyfunction]
#[pyo3(signature = (text, name, points, replications=None, own=None))]
pub(crate) fn named_runs(
    py: Python<'_>,
    text: String,
    name: String,
    points: Vec<Vec<(String, String)>>,
    replications: Option<u64>,
    own: Option<Py<PyAny>>,
) -> PyResult<Vec<Vec<Named>>> {
    let own = Own::of(py, own)?;
    let named = move || {
        let mut document = Document::parse_own(&text, &name, &own.parts)?;
        document.bound_memory(machine::memory());
        points.iter().map(|sets| named_at(document.clone(), &name, sets, replications)).collect::<Result<_, Problem>>()
    };
    heard(py, named)?.map_err(errors::scenario)
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

/// A file, the digests of the runs whose rows are wanted (None for all), and what its marker says:
/// the digests of its runs, and how many rows it has.
type Part = (String, Option<BTreeSet<String>>, BTreeSet<String>, u64);

/// The rows of Parquet files, one after the other, in these columns, each with its kind as
/// `Table.kinds` has it: of files that `Table.write_parquet` wrote. A file without a column has no
/// value there. With digests, only the rows of these runs.
///
/// # Errors
/// `OutputError` with its name for a file that cannot be read, whatever it holds.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "a Python list is converted, not borrowed")]
pub(crate) fn read_parts(py: Python<'_>, parts: Vec<Part>, columns: Vec<(String, String)>) -> PyResult<Table> {
    let read = || {
        let mut all: Vec<Gathered> = columns.iter().map(|(_, kind)| Gathered::new(kind)).collect();
        for part in &parts {
            let part = quietly(|| read_part(part, &columns)).map_err(|cause| (&part.0, cause))?;
            all.iter_mut().zip(part).for_each(|(all, part)| all.append(part));
        }
        Ok(all)
    };
    let gathered = py.detach(read).map_err(|(path, cause): (&String, ParquetError)| {
        let cause = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        OutputError::new_err(format!("{path}: cannot be read as a part: {cause}; fairq sweep --verify sets it aside"))
    })?;
    let arrays: Vec<ArrayRef> = gathered.into_iter().map(Gathered::array).collect();
    let field = |((name, _), array): (&(String, String), &ArrayRef)| Field::new(name, array.data_type().clone(), true);
    Table::of(columns.iter().zip(&arrays).map(field).collect(), arrays)
}

thread_local! {
    /// Whether a panic on this thread becomes an error only, without a message on standard error.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What `read` gives; a panic becomes an error without a word on standard error.
///
/// The reader of Parquet trusts the lengths in a file: those of a damaged file lead out of its
/// buffers.
fn quietly<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if !IS_QUIET.get() {
                before(panicked);
            }
        }));
    });
    IS_QUIET.set(true);
    // Nothing that `read` has changed is used after a panic.
    let given = panic::catch_unwind(AssertUnwindSafe(read));
    IS_QUIET.set(false);
    given.unwrap_or_else(|_| Err(ParquetError::General("its content is damaged".to_owned())))
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
            Self::Text(cells) => texts(cells.iter().map(Option::as_deref)),
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
fn read_part(part: &Part, columns: &[(String, String)]) -> Result<Vec<Gathered>, ParquetError> {
    let (path, wanted, runs, rows) = part;
    let file = std::fs::File::open(path).map_err(|cause| ParquetError::General(cause.to_string()))?;
    let reader = SerializedFileReader::new(file)?;
    check_lengths(&reader)?;
    let Gathered::Text(digests) = read_column(&reader, "digest", "text")? else {
        unreachable!("a text was asked for");
    };
    check_rows(&digests, runs, *rows)?;
    let read = |(name, kind): &(String, String)| read_column(&reader, name, kind);
    let mut gathered: Vec<Gathered> = columns.iter().map(read).collect::<Result<_, _>>()?;
    if let Some(wanted) = wanted {
        let is_wanted = |digest: &Option<String>| digest.as_ref().is_some_and(|digest| wanted.contains(digest));
        let rows: Vec<bool> = digests.iter().map(is_wanted).collect();
        gathered.iter_mut().for_each(|cells| cells.retain(&rows));
    }
    Ok(gathered)
}

/// Refuses a file that does not have the rows of its marker.
fn check_rows(digests: &[Option<String>], runs: &BTreeSet<String>, rows: u64) -> Result<(), ParquetError> {
    if digests.len() as u64 != rows {
        return Err(ParquetError::General(format!("it has {} rows and not {rows}", digests.len())));
    }
    // Rows of one run stand one behind the other.
    let is_strange = |digest: &Option<String>| digest.as_ref().is_none_or(|digest| !runs.contains(digest));
    match digests.chunk_by(|one, other| one == other).find(|same| is_strange(&same[0])) {
        Some(_) => Err(ParquetError::General("it has rows of a run that its marker does not name".to_owned())),
        None => Ok(()),
    }
}

/// Refuses numbers of rows and values that the pages of a file cannot hold: memory is taken by
/// them.
fn check_lengths(reader: &SerializedFileReader<File>) -> Result<(), ParquetError> {
    let wrong = |what: String| Err(ParquetError::General(what));
    let mut rows_all = 0_i64;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = group.metadata().num_rows();
        rows_all = rows_all.saturating_add(rows);
        if !(0..=ROWS_MAX).contains(&rows) || rows_all > ROWS_MAX {
            return wrong(format!("it says to hold {rows_all} rows"));
        }
        for at in 0..group.num_columns() {
            let mut values = 0_i64;
            for page in group.get_column_page_reader(at)? {
                let page = page?;
                let (number, bytes) = (i64::from(page.num_values()), page.buffer().len() as i64);
                if page.page_type() == PageType::DICTIONARY_PAGE {
                    // A text has its length in four bytes before it.
                    if number > bytes {
                        return wrong(format!("a dictionary says to hold {number} values in {bytes} bytes"));
                    }
                } else {
                    values += number;
                }
            }
            if values != rows {
                return wrong(format!("a column has {values} values and its group {rows} rows"));
            }
        }
    }
    Ok(())
}

/// More rows than a part ever has: those of the packets of a run come to some ten million.
const ROWS_MAX: i64 = 1 << 26;

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
