//! What there is at the line now, and what was: for the picture.

use crate::refused::Refused;
use crate::run::Run;
use fairq_experiment::live::passing::{Decided, Passage, Record};
use fairq_experiment::results::table::Table;
use fairq_sched::contract::Discipline as _;
use fairq_sched::packet::Packet;
use fairq_sched::reading::Reading;
use fairq_sched::units::Time;
use fairq_sched::waiting::Stamps;
use fairq_sim::net::gateway::{Gateway, LineService};
use fairq_sim::segment::Segment;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many waiting packets are told.
const WAITING: usize = 400;
/// How many packets that are in the fluid are told.
const IN_FLUID: usize = 1_000;

/// A packet's number in its flow; one that was put in by hand has none.
fn numbered(sequence: u64) -> Option<u64> {
    Some(sequence).filter(|sequence| *sequence != Segment::OFFERED)
}

/// Everything that is there at the present instant.
pub(crate) fn look(run: &mut Run) -> Value {
    let (now, line) = (run.live.run().now(), run.line as usize);
    let (steps, end, digest) = (run.live.run().steps(), run.live.run().end(), run.live.run().digest());
    let simulation = run.live.settled();
    let mut record = run.passing.at(now);
    let Some(gateway) = simulation.network.lines.get(line).and_then(|line| line.gateway.as_ref()) else {
        return Value::Null;
    };
    let held = gateway.port.held();
    let rate = match gateway.port.service() {
        LineService::Fixed(transmitter) => Some(transmitter.rate().bit_per_s()),
        LineService::Varying(_) => None,
    };
    let segment = |packet: &Packet| simulation.network.arena.get(packet.token as u32).copied();
    let waits = |packet: &Packet| {
        let serial = record.serial(packet.token as u32)?;
        Some((serial, record.passage(serial)?, segment(packet)?.sequence))
    };
    let sending = gateway.port.sending().and_then(|(packet, began, ends)| {
        let (serial, passage, sequence) = waits(&packet)?;
        Some(json!({
            "packet": packet.token as u32, "serial": serial, "flow": passage.flow, "sequence": numbered(sequence),
            "bytes": passage.bytes, "began_s": passage.began.unwrap_or(began).as_s(), "ends_s": ends.as_s(),
            "marked": passage.is_marked,
        }))
    });
    let mut waiting = Vec::new();
    let mut more = 0;
    let mut places = BTreeMap::new();
    gateway.port.discipline().waiting(&mut |it| {
        let place = places.entry(it.queue).or_insert(0u64);
        *place += 1;
        if waiting.len() == WAITING {
            more += 1;
        } else if let Some((serial, passage, sequence)) = waits(it.packet) {
            waiting.push(packet_json(it.packet, (serial, passage, sequence), (it.queue, *place), &it.stamps));
        }
    });
    let readings = readings(gateway, now);
    let decision = record.decided().map(|decided| decision(&record, decided));
    let fluid = fluid(&mut record);
    let (events, missed) = record.take();
    let events: Vec<Value> = events
        .iter()
        .filter_map(|it| record.passage(it.serial).map(|passage| (it, passage)))
        .map(|(it, passage)| {
            let reason = passage.dropped.filter(|_| it.event == "dropped").map(|(_, reason)| reason.name());
            json!({
                "at_s": it.at.as_s(), "event": it.event, "serial": it.serial, "flow": passage.flow,
                "sequence": numbered(passage.sequence), "bytes": passage.bytes, "reason": reason,
            })
        })
        .collect();
    json!({
        "now_s": now.as_s(), "steps": steps, "end_s": end.as_s(), "digest": format!("{:016x}", digest.0),
        "link_rate_bit_per_s": rate,
        "sending": sending, "waiting": waiting, "waiting_more": more,
        "held_packets": held.packets, "held_bytes": held.bytes,
        "readings": readings, "fluid": fluid, "decision": decision, "events": events, "events_missed": missed,
    })
}

fn packet_json(
    packet: &Packet,
    (serial, passage, sequence): (u64, &Passage, u64),
    (queue, place): (u32, u64),
    stamps: &Stamps,
) -> Value {
    json!({
        "packet": packet.token as u32, "serial": serial, "flow": passage.flow, "sequence": numbered(sequence),
        "bytes": passage.bytes, "queue": queue, "place": place, "arrived_s": passage.arrived.as_s(),
        "start": stamps.start, "finish": stamps.finish, "rank": stamps.rank, "marked": passage.is_marked,
    })
}

fn readings(gateway: &Gateway, now: Time) -> Vec<Value> {
    let mut all = Vec::new();
    gateway.port.discipline().readings(now, &mut |it: Reading<'_>| {
        all.push(json!({ "name": it.name, "unit": it.unit.name(), "part": it.part(), "value": it.value.real() }));
    });
    all
}

fn decision(record: &Record, decided: &Decided) -> Value {
    let it = &decided.decision;
    json!({
        "serial": decided.serial,
        "flow": record.passage(decided.serial).map(|passage| passage.flow),
        "at_s": decided.at.as_s(),
        "by": it.by, "value": it.value, "clock": it.clock, "eligible": it.eligible, "queue": it.queue, "step": it.step,
    })
}

/// The fluid of the same packets; `null` if the line has none.
fn fluid(record: &mut Record) -> Value {
    let Some((round, levels)) = record.fluid() else { return Value::Null };
    let flows = (0u32..)
        .zip(levels)
        .map(|(flow, level)| json!({ "flow": flow, "served_bytes": level.served, "backlog_bytes": level.backlog }));
    let mut packets = Vec::new();
    record.in_fluid(&mut |serial, start, finish| {
        if packets.len() < IN_FLUID {
            let flow = record.passage(serial).map(|passage| passage.flow);
            packets.push(json!({ "serial": serial, "flow": flow, "start": start, "finish": finish }));
        }
    });
    json!({ "round": round, "flows": flows.collect::<Vec<_>>(), "packets": packets })
}

/// The packets that were at the line in a stretch of time, and the fluid's service then.
pub(crate) fn timeline(run: &Run, from: Time, to: Time, most: usize) -> Value {
    let record = run.passing.at(run.live.run().now());
    let all: Vec<&Passage> = record.between([from, to]).collect();
    let packets: Vec<Value> = all
        .iter()
        .take(most)
        .map(|it| {
            json!({
                "serial": it.serial, "flow": it.flow, "sequence": numbered(it.sequence), "bytes": it.bytes,
                "arrived_s": it.arrived.as_s(), "began_s": it.began.map(Time::as_s), "sent_s": it.sent.map(Time::as_s),
                "start": it.tags.map(|tags| tags.0), "finish": it.tags.map(|tags| tags.1),
                "fluid_s": it.ideal.map(Time::as_s), "fate": it.fate(),
                "dropped_s": it.dropped.map(|(at, _)| at.as_s()), "reason": it.dropped.map(|(_, reason)| reason.name()),
                "marked": it.is_marked,
            })
        })
        .collect();
    let samples = record.samples().filter(|sample| (from..=to).contains(&sample.at)).take(most);
    let samples = samples
        .map(|sample| std::iter::once(sample.at.as_s()).chain(sample.served.iter().copied()).collect::<Vec<f64>>());
    json!({ "packets": packets, "more": all.len().saturating_sub(most), "fluid": samples.collect::<Vec<_>>() })
}

/// A table of the present instant: its columns, and its rows as lists.
pub(crate) fn table(run: &mut Run, name: &str) -> Result<Value, Refused> {
    let table: Table = run.live.look(name).ok_or_else(|| format!("table: {name}: there is no such table"))?;
    let names: Vec<&str> = table.columns().iter().map(|(name, _)| &**name).collect();
    let rows = serde_json::to_value(&table).map_err(|error| error.to_string())?;
    let of_row = |row: &Value| names.iter().map(|name| row[*name].clone()).collect::<Vec<_>>();
    let rows: Vec<Vec<Value>> = rows.as_array().into_iter().flatten().map(of_row).collect();
    let of = fairq_experiment::columns::TABLES.iter().find(|table| table.name == name);
    let unit = |column: &str| of.and_then(|of| of.column(column)).map(|column| column.unit);
    let columns: Vec<Value> = names.iter().map(|name| json!({ "name": name, "unit": unit(name) })).collect();
    Ok(json!({ "columns": columns, "rows": rows }))
}
