//! What passed a line in a stretch of time, as tables: each packet, and what the fluid had served.

use super::passing::{Passage, Record};
use crate::columns::{FLUID, TIMELINE};
use crate::results::table::{Builder, Table};
use fairq_sched::units::Time;
use fairq_sim::plan::Plan;
use std::sync::Arc;

/// The packets that were at the line between two times, the first `most` of them, and whether there
/// are more.
pub(super) fn packets(record: &Record, between: [Time; 2], most: usize) -> (Vec<&Passage>, bool) {
    let mut rows: Vec<&Passage> = record.between(between).take(most + 1).collect();
    let more = rows.len() > most;
    rows.truncate(most);
    (rows, more)
}

/// The name of a flow of the record.
pub(super) fn name(plan: &Plan, record: &Record, flow: u32) -> Arc<str> {
    let flow = plan.flows.get(record.flows()[flow as usize] as usize);
    flow.map_or_else(|| "sessions".into(), |flow| Arc::clone(&flow.name))
}

/// The table of these packets.
pub(super) fn table(plan: &Plan, record: &Record, rows: &[&Passage]) -> Table {
    let mut table = Builder::new(&TIMELINE);
    let rows = || rows.iter().copied();
    let line = &plan.lines[record.line() as usize];
    table.text("link", rows().map(|_| Arc::clone(&line.name)));
    table.words("direction", rows().map(|_| line.direction()));
    table.whole("serial", rows().map(|it| it.serial));
    table.text("flow", rows().map(|it| name(plan, record, it.flow)));
    table.whole("sequence", rows().map(|it| it.sequence));
    table.whole("packet_bytes", rows().map(|it| u64::from(it.bytes)));
    table.real("arrived_s", rows().map(|it| it.arrived.as_s()));
    table.real("began_s", rows().map(|it| it.began.map(Time::as_s)));
    table.real("sent_s", rows().map(|it| it.sent.map(Time::as_s)));
    table.real("start", rows().map(|it| it.tags.map(|tags| tags.0)));
    table.real("finish", rows().map(|it| it.tags.map(|tags| tags.1)));
    table.real("fluid_s", rows().map(|it| it.ideal.map(Time::as_s)));
    table.words("fate", rows().map(Passage::fate));
    table.real("dropped_s", rows().map(|it| it.dropped.map(|(at, _)| at.as_s())));
    table.text("reason", rows().map(|it| it.dropped.map(|(_, reason)| Arc::from(reason.name()))));
    table.whole("marked", rows().map(|it| u64::from(it.is_marked)));
    table.finish()
}

/// What the fluid had served between two times, at each instant at which its shares changed.
pub(super) fn fluid(plan: &Plan, record: &Record, [from, to]: [Time; 2]) -> Table {
    let names: Vec<Arc<str>> = (0..record.flows().len() as u32).map(|flow| name(plan, record, flow)).collect();
    let rows: Vec<(f64, Arc<str>, f64)> = record
        .samples()
        .filter(|sample| (from..=to).contains(&sample.at))
        .flat_map(|sample| {
            names.iter().zip(&sample.served).map(|(name, served)| (sample.at.as_s(), Arc::clone(name), *served))
        })
        .collect();
    let mut table = Builder::new(&FLUID);
    table.real("time_s", rows.iter().map(|row| row.0));
    table.text("flow", rows.iter().map(|row| Arc::clone(&row.1)));
    table.real("served_bytes", rows.iter().map(|row| row.2));
    table.finish()
}
