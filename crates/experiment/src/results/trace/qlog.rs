//! What the sender of a flow did and heard, as qlog, which qvis and other viewers of QUIC's logs
//! read.
//!
//! Source: draft-ietf-quic-qlog-main-schema-02 (version 0.3, `JSON-SEQ`: RFC 7464) and
//! draft-ietf-quic-qlog-quic-events-02 for the events' names and data.
//! Chosen: a file is of one flow. Packets of TCP and of the others are those of one number space
//! (`1RTT`), each copy with a number of its own. Windows are in bytes of the flow's packets, as
//! long as its longest, at the instants of the samples. A lost packet is told when it is sent
//! again: before that the packets show nothing of it.

use super::Trace;
use super::ends::End;
use crate::results::table::{Cell, Cells};
use fairq_sched::units::{PS_PER_S, Time};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// What stands before each record (RFC 7464, section 2.1).
const RECORD_SEPARATOR: &[u8] = b"\x1e";

/// The columns of samples, what each is called there, and by how much it is multiplied; packets
/// become bytes.
const METRICS: [(&str, &str, f64, bool); 4] = [
    ("window_packets", "congestion_window", 1.0, true),
    ("flight_packets", "bytes_in_flight", 1.0, true),
    ("rtt_s", "smoothed_rtt", 1e3, false),
    ("pacing_bit_per_s", "pacing_rate", 1.0, false),
];

impl Trace {
    /// The flows, in their order.
    pub fn flows(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|name| &**name)
    }

    /// Writes what the sender of the flow called `name` did and heard.
    ///
    /// # Errors
    /// What writing to `to` gives; not found if there is no such flow.
    pub fn write_qlog(&self, name: &str, to: &mut dyn Write) -> io::Result<()> {
        let flow = self.flows.iter().position(|flow| **flow == *name);
        let flow = flow.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("there is no flow {name}")))?;
        let ends: &[(Time, End)] = self.records.senders.get(flow).map_or(&[], |sender| &sender.ends);
        record(to, &self.head(name))?;
        let packet =
            ends.iter().filter_map(|(_, end)| if let End::Sent(_, length) = end { Some(*length) } else { None });
        let mut samples = self.metrics(name, packet.max().unwrap_or(0)).into_iter().peekable();
        let mut heard = 0;
        for (time, end) in ends {
            let time = milliseconds(*time);
            while let Some((at, events)) = samples.next_if(|(at, _)| *at < time) {
                events.into_iter().try_for_each(|(name, data)| event(to, at, name, data))?;
            }
            match end {
                End::Sent(number, length) => {
                    let raw = json!({ "length": length });
                    event(to, time, "transport:packet_sent", json!({ "header": header(*number), "raw": raw }))?;
                }
                End::GaveUp(number) => event(to, time, "recovery:packet_lost", json!({ "header": header(*number) }))?,
                End::Acknowledged(runs) => {
                    let frames = json!([{ "frame_type": "ack", "acked_ranges": runs }]);
                    let data = json!({ "header": header(heard), "frames": frames });
                    event(to, time, "transport:packet_received", data)?;
                    heard += 1;
                }
            }
        }
        samples.try_for_each(|(at, events)| events.into_iter().try_for_each(|(name, data)| event(to, at, name, data)))
    }

    fn head(&self, name: &str) -> Value {
        json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": format!("flow {name}"),
            "description": concat!("fairq ", env!("CARGO_PKG_VERSION")),
            "trace": {
                "title": format!("flow {name}"),
                "vantage_point": { "name": name, "type": "server" },
                "common_fields": { "time_format": "relative", "reference_time": 0.0, "group_id": name },
            },
        })
    }

    /// The changes of the flow's windows and phases, by time in milliseconds.
    fn metrics(&self, name: &str, packet: u32) -> Vec<(f64, Vec<(&'static str, Value)>)> {
        let column = |name: &str| self.samples.column(name);
        let (Some(times), Some(flows), Some(phases)) = (column("time_s"), column("flow"), column("phase")) else {
            return Vec::new();
        };
        let cells: Vec<(&Cells, &str, f64)> = METRICS
            .iter()
            .filter_map(|(from, to, factor, is_packets)| {
                let factor = if *is_packets { f64::from(packet) } else { *factor };
                Some((column(from)?, *to, factor))
            })
            .collect();
        let (mut said, mut phase) = (Map::new(), None);
        let mut all = Vec::new();
        for row in (0..self.samples.rows()).filter(|row| matches!(flows.at(*row), Cell::Text(of) if *of == *name)) {
            let mut events = Vec::new();
            if let Cell::Text(now) = phases.at(row)
                && phase != Some(now)
            {
                events.push(("recovery:congestion_state_updated", json!({ "old": phase, "new": now })));
                phase = Some(now);
            }
            let changed: Map<String, Value> = cells
                .iter()
                .filter_map(|(cells, to, factor)| Some(((*to).to_string(), whole(cells.at(row).number()? * factor))))
                .filter(|(to, value)| said.get(to) != Some(value))
                .collect();
            if !changed.is_empty() {
                said.extend(changed.clone());
                events.push(("recovery:metrics_updated", Value::Object(changed)));
            }
            if !events.is_empty() {
                all.push((times.at(row).number().unwrap_or_default() * 1e3, events));
            }
        }
        all
    }
}

/// A value without a fraction of a byte or of a microsecond.
fn whole(value: f64) -> Value {
    let rounded = (value * 1e3).round() / 1e3;
    if rounded.fract() == 0.0 { json!(rounded as u64) } else { json!(rounded) }
}

fn header(number: u64) -> Value {
    json!({ "packet_type": "1RTT", "packet_number": number })
}

/// Milliseconds to the nanosecond.
fn milliseconds(time: Time) -> f64 {
    (time.0 / (PS_PER_S / 1_000_000_000)) as f64 / 1e6
}

fn event(to: &mut dyn Write, time: f64, name: &str, data: Value) -> io::Result<()> {
    record(to, &json!({ "time": time, "name": name, "data": data }))
}

fn record(to: &mut dyn Write, value: &Value) -> io::Result<()> {
    to.write_all(RECORD_SEPARATOR)?;
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}
