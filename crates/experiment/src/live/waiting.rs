//! The packets that wait or are being sent at the present instant.

use crate::columns::WAITING;
use crate::results::table::{Builder, Table};
use fairq_sched::contract::Discipline as _;
use fairq_sched::waiting::Stamps;
use fairq_sim::plan::Plan;
use fairq_sim::run::Simulation;
use fairq_sim::segment::Segment;
use std::collections::BTreeMap;
use std::sync::Arc;

struct Row {
    line: usize,
    place: u64,
    queue: Option<u64>,
    id: u32,
    segment: Segment,
    bytes: u32,
    arrived: f64,
    ends: Option<f64>,
    stamps: Stamps,
}

/// The table, line by line: the packet being sent first, then each queue in its order.
pub(super) fn table(plan: &Plan, simulation: &Simulation) -> Table {
    let mut rows = Vec::new();
    for (line, at) in simulation.network.lines.iter().enumerate() {
        let Some(gateway) = &at.gateway else { continue };
        let mut add = |packet: &fairq_sched::packet::Packet, row: (u64, Option<u64>, Option<f64>, Stamps)| {
            let id = packet.token as u32;
            let Some(segment) = simulation.network.arena.get(id).copied() else { return };
            let (place, queue, ends, stamps) = row;
            let arrived = packet.arrival.as_s();
            rows.push(Row { line, place, queue, id, segment, bytes: packet.length, arrived, ends, stamps });
        };
        if let Some((packet, _, end)) = gateway.port.sending() {
            add(&packet, (0, None, Some(end.as_s()), Stamps::NONE));
        }
        let mut places = BTreeMap::new();
        gateway.port.discipline().waiting(&mut |waiting| {
            let place = places.entry(waiting.queue).or_insert(0);
            *place += 1;
            add(waiting.packet, (*place, Some(waiting.queue.into()), None, waiting.stamps));
        });
    }
    let flow = |row: &Row| plan.flows.get(row.segment.flow as usize).map(|flow| Arc::clone(&flow.name));
    let mut table = Builder::new(&WAITING);
    table.text("link", rows.iter().map(|row| Arc::clone(&plan.lines[row.line].name)));
    table.words("direction", rows.iter().map(|row| plan.lines[row.line].direction()));
    table.whole("place", rows.iter().map(|row| row.place));
    table.whole("queue_number", rows.iter().map(|row| row.queue));
    table.text("flow", rows.iter().map(flow));
    table.whole("packet", rows.iter().map(|row| u64::from(row.id)));
    table.whole("sequence", rows.iter().map(|row| row.segment.sequence));
    table.whole("packet_bytes", rows.iter().map(|row| u64::from(row.bytes)));
    table.real("arrived_s", rows.iter().map(|row| row.arrived));
    table.real("ends_s", rows.iter().map(|row| row.ends));
    table.real("start", rows.iter().map(|row| row.stamps.start));
    table.real("finish", rows.iter().map(|row| row.stamps.finish));
    table.real("rank", rows.iter().map(|row| row.stamps.rank));
    table.finish()
}
