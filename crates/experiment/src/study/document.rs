//! A study as it was written, checked, with the line of whatever is wrong.

use super::combinations::{Combination, Combinations};
use super::{KeptTable, Study};
use crate::columns::{ENDS, Kind, TABLES, TableOf, is_column};
use crate::scenario::problem::Problem;
use crate::scenario::read::{Written, line_of, refuse_lists_for_tables};
use fairq_text::{Fault, near_miss, typed};
use serde_json::{Value, json};

/// Columns of the table of runs and of tables of means, which no axis can be called.
const TAKEN: [&str; 8] = ["digest", "part", "point", "seed", "cost_s", "error", "runs", "seeds"];

/// Prefix of the path of a fault in a field that a point sets.
const OPTION: &str = "--set ";

/// A study that was read.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    lines: Vec<(String, usize)>,
    /// The study.
    pub study: Study,
}

impl Document {
    /// Reads `text`; `file` is its name for messages.
    ///
    /// # Errors
    /// What is not TOML, and the first field that is none or has no value that it takes.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problem> {
        let Written { mut tree, lines } = Written::read(text, file)?;
        let problem = |fault: Fault| Problem { file: file.into(), line: line_of(&lines, &fault.path), fault };
        // An expression alone is the table that has it as its value.
        for derived in
            tree.get_mut("derive").and_then(Value::as_object_mut).into_iter().flat_map(|all| all.values_mut())
        {
            if derived.is_string() {
                *derived = json!({ "value": derived.take() });
            }
        }
        let study: Study = typed(&tree).map_err(problem)?;
        serde_json::to_value(&study)
            .map_or(Ok(()), |typed| refuse_lists_for_tables(&tree, &typed, ""))
            .and_then(|()| check_ranges(&study))
            .map_err(problem)?;
        Ok(Self { file: file.into(), lines, study })
    }

    /// A fault with the file and the line of its path, or of what is around that.
    #[must_use]
    pub fn problem(&self, fault: Fault) -> Problem {
        Problem { file: self.file.clone(), line: line_of(&self.lines, &fault.path), fault }
    }

    /// Every combination of the axes' values that meets the conditions.
    ///
    /// # Errors
    /// Axes and derived values that are none, two of a name or of a field, axes that change no run,
    /// too many combinations.
    pub fn combinations(&self) -> Result<Combinations, Problem> {
        Combinations::of(&self.study).map_err(|fault| self.problem(fault))
    }

    /// What is wrong in the scenario at a combination: at the place in the study that sets the
    /// field, if one does. `words` are those of a question, which are no fields of its scenario.
    #[must_use]
    pub fn located(&self, at: &Combination, problem: Problem, words: &[String]) -> Problem {
        let Some(path) = problem.fault.path.strip_prefix(OPTION) else { return problem };
        let place = at.sets.iter().rev().find(|set| set.path == path).map_or("study.set", |set| &set.place);
        let field = match problem.fault.field.as_str() {
            "" => path.to_owned(),
            inside if inside.starts_with('[') => format!("{path}{inside}"),
            // A table around the field is what is wrong.
            around if path.starts_with(around) => around.to_owned(),
            inside => format!("{path}.{inside}"),
        };
        let message = if self.study.study.compare.is_some() && words.iter().any(|word| word == path) {
            let write = format!("write compare = {{ {path} = \"…, …\" }}");
            format!("the question says this itself, and its lists are axes; {write}")
        } else {
            format!("{}{}", problem.fault.message, at.said())
        };
        self.problem(Fault::new(place, message).of_field(field))
    }

    /// Refuses an axis of the study that is one of the scenario too, or a column. `own` are the axes
    /// of the scenario.
    ///
    /// # Errors
    /// The first such name.
    pub fn check_axes(&self, at: &Combination, own: &[&str]) -> Result<(), Problem> {
        let is_known = |name: &str| at.labels.iter().any(|(known, _)| known.to_lowercase() == name.to_lowercase());
        let fault =
            |name: &str, what: &str| self.problem(Fault::new("axes", format!("{name} is {what}; choose another name")));
        match own.iter().find(|name| is_known(name) || is_taken(name)) {
            Some(name) if is_known(name) => Err(fault(name, "an axis of the scenario too")),
            Some(name) => Err(fault(name, "a column of the results")),
            None => Ok(()),
        }
    }

    /// Refuses figures of axes and columns that there are not.
    ///
    /// # Errors
    /// The first such name.
    pub fn check_draw(&self, axes: &[String]) -> Result<(), Problem> {
        let (draw, kept) = (&self.study.draw, self.study.keep.tables());
        for (name, axis) in [("x", &draw.x), ("by", &draw.by), ("facet", &draw.facet)] {
            if let Some(axis) = axis.as_ref().filter(|axis| !axes.contains(axis)) {
                let near = near_miss(axis, axes.iter().map(String::as_str));
                return Err(self.problem(Fault::new(format!("draw.{name}"), format!("{axis}: no such axis{near}"))));
            }
        }
        for (at, column) in draw.columns.iter().enumerate() {
            let fault = |message: String| Err(self.problem(Fault::new(format!("draw.columns[{at}]"), message)));
            let tables = tables_of(column);
            let Some(first) = tables.first() else {
                let known = KeptTable::ALL.into_iter().flat_map(|table| numbers(of(table)));
                return fault(format!("{column}: no such column{}", near_miss(column, known)));
            };
            if !tables.iter().any(|table| kept.contains(table)) {
                let table = first.name();
                return fault(format!(
                    "{column} is a column of {table}, which [keep] leaves out; add it to keep.tables"
                ));
            }
        }
        Ok(())
    }
}

/// Whether no axis can have this name. SQL ignores case.
pub(super) fn is_taken(name: &str) -> bool {
    let name = name.to_lowercase();
    TAKEN.contains(&name.as_str()) || is_column(&name)
}

/// Refuses empty texts and numbers out of their range.
fn check_ranges(study: &Study) -> Result<(), Fault> {
    let subject = &study.study;
    let names = study.axes.iter().enumerate().flat_map(|(at, axis)| {
        let paired = axis.paired.iter().enumerate();
        let paired = paired.map(move |(number, paired)| (format!("axes[{at}].paired[{number}].name"), &paired.name));
        std::iter::once((format!("axes[{at}].name"), &axis.name)).chain(paired)
    });
    let named = subject.name.iter().map(|name| ("study.name".to_owned(), name));
    if let Some((place, _)) = named.chain(names).find(|(_, name)| name.is_empty()) {
        return Err(Fault::new(place, "the text is empty"));
    }
    let most = super::RUNS_MAX as u64;
    match subject.replications {
        Some(number) if !(1..=most).contains(&number) => {
            Err(Fault::new("study.replications", format!("{number} is not from 1 to {most}")))
        }
        _ => Ok(()),
    }
}

fn of(table: KeptTable) -> &'static TableOf {
    let found = TABLES.into_iter().find(|of| of.name == table.name());
    found.expect("a run has the tables that a study may keep")
}

fn numbers(table: &'static TableOf) -> impl Iterator<Item = &'static str> {
    table.columns.iter().filter(|column| column.kind != Kind::Text).map(|column| column.name)
}

/// The tables of every run that have a column of numbers, or the column of which this is an end.
fn tables_of(column: &str) -> Vec<KeptTable> {
    let column = ENDS.into_iter().find_map(|end| column.strip_suffix(end)).unwrap_or(column);
    KeptTable::ALL.into_iter().filter(|table| numbers(of(*table)).any(|name| name == column)).collect()
}
