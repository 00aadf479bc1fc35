//! What several runs of one plan say together: the mean of each number and the ends of its 95 %
//! confidence interval.

use super::table::{Cell, Cells, Table};
use super::{Tables, decade_name, held};
use crate::columns::ENDS;
use crate::columns::{Averaged, COURSE, FLOWS, LINKS, PACKETS, QUEUES, SERIES, SESSIONS, STATES, TRANSFERS, TableOf};
use crate::results::statistics::{Scale, interval_of_ratio};
use std::collections::BTreeMap;

/// The rows that are one row of the means: the number of the run and of the row in it, for each run
/// that has it.
type Same = Vec<(usize, usize)>;

impl Tables {
    /// The means over several runs of one plan; with each number the ends of its 95 % confidence
    /// interval beside it, as `<name>_low` and `<name>_high`.
    #[must_use]
    pub fn mean_of(runs: &[Self]) -> Self {
        let mean = |spec: &TableOf, of: fn(&Self) -> &Table| {
            let tables: Vec<&Table> = runs.iter().map(of).collect();
            let rows = tables.first().map_or(0, |table| table.rows());
            let same: Vec<Same> = (0..rows).map(|at| (0..runs.len()).map(|run| (run, at)).collect()).collect();
            mean_table(spec, &tables, &same)
        };
        let transfers: Vec<&Table> = runs.iter().map(|run| &run.transfers).collect();
        Self {
            flows: mean(&FLOWS, |tables| &tables.flows),
            links: mean(&LINKS, |tables| &tables.links),
            queues: mean(&QUEUES, |tables| &tables.queues),
            transfers: mean_table(&TRANSFERS, &transfers, &same_transfers(&transfers)),
            sessions: mean(&SESSIONS, |tables| &tables.sessions),
            series: Table::empty(&SERIES),
            packets: Table::empty(&PACKETS),
            states: Table::empty(&STATES),
            course: Table::empty(&COURSE),
            held: held::mean(runs.iter().map(|run| run.held.as_slice())),
            trace: None,
        }
    }
}

fn mean_table(spec: &TableOf, tables: &[&Table], rows: &[Same]) -> Table {
    let mut mean = Table::default();
    let Some(first) = tables.first() else { return mean };
    let values = |at: usize, same: &Same| -> Vec<f64> {
        let of = |(run, row): &(usize, usize)| tables[*run].columns()[at].1.at(*row).number().unwrap_or(f64::NAN);
        same.iter().map(of).collect()
    };
    let place = |name| first.columns().iter().position(|(other, _)| other == name);
    for (at, (name, _)) in first.columns().iter().enumerate() {
        let Some(column) = spec.column(name).filter(|column| column.averaged == Averaged::Mean) else {
            mean.push(name.clone(), first_of(tables, at, rows));
            continue;
        };
        let ratio = column.of_ratio.and_then(place);
        let of_row = |same| {
            let ratio = ratio.map(|ratio| values(ratio, same)).unwrap_or_default();
            interval_of(&values(at, same), column.scale, &ratio)
        };
        let intervals: Vec<[f64; 3]> = rows.iter().map(of_row).collect();
        for (end, after) in [""].into_iter().chain(ENDS).enumerate() {
            let cells = intervals.iter().map(|interval| interval[end]).collect();
            mean.push(format!("{name}{after}"), Cells::Real(cells));
        }
    }
    mean
}

/// The mean and the ends of its interval; NaN for what it has not.
fn interval_of(values: &[f64], scale: Scale, ratio: &[f64]) -> [f64; 3] {
    let found = interval_of_ratio(values, scale, ratio)
        .unwrap_or_else(|wrong| panic!("a value outside of the range of its column: {wrong}"));
    let [low, high] = found.ends.unwrap_or([f64::NAN; 2]);
    [found.mean.unwrap_or(f64::NAN), low, high]
}

/// Column number `at` of the first run that has the row.
fn first_of(tables: &[&Table], at: usize, rows: &[Same]) -> Cells {
    let first = |same: &Same| {
        same.first().map_or((&tables[0].columns()[at].1, 0), |(run, row)| (&tables[*run].columns()[at].1, *row))
    };
    match &tables[0].columns()[at].1 {
        Cells::Whole(_) => Cells::Whole(rows.iter().map(first).map(|(cells, row)| cells.at(row).whole()).collect()),
        Cells::Real(_) => {
            let real = |(cells, row): (&Cells, usize)| cells.at(row).number().unwrap_or(f64::NAN);
            Cells::Real(rows.iter().map(first).map(real).collect())
        }
        Cells::Text(_) => Cells::Text(rows.iter().map(first).map(|(cells, row)| cells.shared(row)).collect()),
    }
}

/// Transfers are the same by flow and size. A decade may occur in some runs only, and its mean is
/// of those: flows in their order, each with the decades that any run has, in the order of size.
fn same_transfers(tables: &[&Table]) -> Vec<Same> {
    let mut same: BTreeMap<(usize, u32), Same> = BTreeMap::new();
    for (run, table) in tables.iter().enumerate() {
        let Some(sizes) = table.column("size") else { continue };
        let mut flow = 0;
        for row in 0..table.rows() {
            let Cell::Text(size) = sizes.at(row) else { continue };
            flow += usize::from(size == "all");
            let decade = (0..20).find(|decade| size == decade_name(*decade)).map_or(0, |decade| decade + 1);
            same.entry((flow, decade)).or_default().push((run, row));
        }
    }
    same.into_values().collect()
}
