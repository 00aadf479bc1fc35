//! What an experiment gave, as one document: for each point the tables of each seed and their
//! means, and all rows together. It is written row by row from the columns of the tables; no tree
//! of it is made.

use super::Tables;
use super::notes::Note;
use super::table::Table;
use super::trace::Trace;
use crate::columns::{RESULT_SCHEMA_VERSION, SEED, TABLES};
use crate::scenario::Scenario;
use crate::scenario::axes::Point;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value, json};

/// What an experiment gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The scenario as written.
    pub scenario: Scenario,
    /// What it gave at each point of its axes.
    pub points: Vec<AtPoint>,
    /// What limited the runs that the user may not have meant.
    pub notes: Vec<Note>,
    /// Facts about the machine that ran it: times and versions.
    pub run_info: Map<String, Value>,
}

/// What an experiment gave at one point.
#[derive(Clone, Debug)]
pub struct AtPoint {
    point: Point,
    seeds: Vec<u64>,
    runs: Vec<Tables>,
    /// The means over the seeds, if there are several.
    mean: Option<Tables>,
}

impl AtPoint {
    /// The tables of the runs with `seeds`, at least one.
    #[must_use]
    pub fn new(point: Point, seeds: Vec<u64>, runs: Vec<Tables>) -> Self {
        let mean = (runs.len() > 1).then(|| Tables::mean_of(&runs));
        Self { point, seeds, runs, mean }
    }

    /// The point of the axes.
    #[must_use]
    pub const fn point(&self) -> &Point {
        &self.point
    }

    /// How many runs there were.
    #[must_use]
    pub const fn replications(&self) -> usize {
        self.runs.len()
    }

    /// The tables of each run.
    #[must_use]
    pub fn runs(&self) -> &[Tables] {
        &self.runs
    }

    /// The means over all seeds: of one run the tables themselves.
    #[must_use]
    pub fn mean(&self) -> &Tables {
        self.mean.as_ref().unwrap_or(&self.runs[0])
    }

    /// The trace of its first run, if that kept one.
    #[must_use]
    pub fn trace(&self) -> Option<&Trace> {
        self.runs.first().and_then(|tables| tables.trace.as_deref())
    }

    fn by_seed(&self) -> impl Iterator<Item = BySeed<'_>> {
        self.seeds.iter().zip(&self.runs).map(|(seed, tables)| BySeed { seed: *seed, tables })
    }
}

impl Outcome {
    /// The document as a tree, for a caller that reads a few numbers of a small result.
    #[must_use]
    pub fn document(&self) -> Value {
        // Its keys are text and its values numbers and text: nothing that has no place in a tree.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The table called `name` of all points, with the axes as columns: the means over the seeds,
    /// or of a table that is not averaged the rows of each seed. `None` if no table is called so.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<Table> {
        let of = Tables::by_name(name)?;
        if !TABLES.iter().any(|table| table.name == name && table.is_averaged()) {
            return self.by_seed(name);
        }
        Some(Table::joined(self.points.iter().map(|at| (at.point.labels.clone(), of(at.mean())))))
    }

    /// The table called `name` of all points and seeds, with the axes and the seed as columns.
    #[must_use]
    pub fn by_seed(&self, name: &str) -> Option<Table> {
        let of = Tables::by_name(name)?;
        let labelled = |at: &AtPoint, by_seed: BySeed<'_>| {
            let seed = (SEED.name.to_owned(), json!(by_seed.seed));
            at.point.labels.iter().cloned().chain([seed]).collect::<Vec<_>>()
        };
        let runs = |at| AtPoint::by_seed(at).map(move |run| (at, run));
        let rows = self.points.iter().flat_map(runs).map(|(at, run)| {
            let tables = run.tables;
            (labelled(at, run), of(tables))
        });
        Some(Table::joined(rows))
    }

    /// The trace, if the first run kept one.
    #[must_use]
    pub fn trace(&self) -> Option<&Trace> {
        self.points.first().and_then(AtPoint::trace)
    }

    /// All rows of one table, with the point's axes as columns.
    const fn all(&self, of: fn(&Tables) -> &Table) -> All<'_> {
        All { points: self.points.as_slice(), of }
    }

    /// All rows of one table that has no means, with the point's axes and the seed as columns.
    const fn of_seeds(&self, of: fn(&Tables) -> &Table) -> OfSeeds<'_> {
        OfSeeds(All { points: self.points.as_slice(), of })
    }
}

/// As one JSON object.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut document = to.serialize_map(None)?;
        document.serialize_entry("schema_version", &RESULT_SCHEMA_VERSION)?;
        document.serialize_entry("scenario", &self.scenario)?;
        document.serialize_entry("flows", &self.all(|tables| &tables.flows))?;
        document.serialize_entry("links", &self.all(|tables| &tables.links))?;
        document.serialize_entry("queues", &self.all(|tables| &tables.queues))?;
        document.serialize_entry("points", &self.points)?;
        document.serialize_entry("notes", &self.notes)?;
        document.serialize_entry("run_info", &self.run_info)?;
        document.serialize_entry("transfers", &self.all(|tables| &tables.transfers))?;
        document.serialize_entry("sessions", &self.all(|tables| &tables.sessions))?;
        document.serialize_entry("series", &self.of_seeds(|tables| &tables.series))?;
        document.serialize_entry("packets", &self.of_seeds(|tables| &tables.packets))?;
        document.serialize_entry("states", &self.of_seeds(|tables| &tables.states))?;
        document.end()
    }
}

impl Serialize for AtPoint {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mean = self.mean();
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("axes", &self.point.labels.iter().cloned().collect::<Map<String, Value>>())?;
        serialize_lines(mean, &mut object)?;
        object.serialize_entry("seeds", &self.by_seed().collect::<Vec<_>>())?;
        serialize_others(mean, &mut object)?;
        object.end()
    }
}

/// The tables of one run.
struct BySeed<'a> {
    seed: u64,
    tables: &'a Tables,
}

impl Serialize for BySeed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("seed", &self.seed)?;
        serialize_lines(self.tables, &mut object)?;
        serialize_others(self.tables, &mut object)?;
        object.end()
    }
}

fn serialize_lines<M: SerializeMap>(tables: &Tables, to: &mut M) -> Result<(), M::Error> {
    to.serialize_entry("flows", &tables.flows)?;
    to.serialize_entry("links", &tables.links)?;
    to.serialize_entry("queues", &tables.queues)
}

fn serialize_others<M: SerializeMap>(tables: &Tables, to: &mut M) -> Result<(), M::Error> {
    to.serialize_entry("transfers", &tables.transfers)?;
    to.serialize_entry("sessions", &tables.sessions)
}

/// One table of all points.
struct All<'a> {
    points: &'a [AtPoint],
    of: fn(&Tables) -> &Table,
}

impl Serialize for All<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut rows = to.serialize_seq(None)?;
        for at in self.points {
            for row in (self.of)(at.mean()).labelled(&at.point.labels).iter() {
                rows.serialize_element(&row)?;
            }
        }
        rows.end()
    }
}

/// One table of all points and seeds.
struct OfSeeds<'a>(All<'a>);

impl Serialize for OfSeeds<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut rows = to.serialize_seq(None)?;
        let All { points, of } = &self.0;
        for at in *points {
            for BySeed { seed, tables } in at.by_seed() {
                let seed = ("seed".to_string(), json!(seed));
                let labels: Vec<_> = std::iter::once(seed).chain(at.point.labels.iter().cloned()).collect();
                for row in of(tables).labelled(&labels).iter() {
                    rows.serialize_element(&row)?;
                }
            }
        }
        rows.end()
    }
}
