//! Time series: what each flow delivered and what each gateway held, sampled at equal distances.
//!
//! An observer like any other: a run without it pays nothing.

use super::{Event, Observer};
use crate::build::Plan;
use crate::build::sessions::SessionPlan;
use crate::net::segment::Direction;
use crate::results::Row;
use fairq_sched::units::Time;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Rows at most, so that a short interval over a long run is refused rather than kept.
pub const ROWS_MAX: u64 = 5_000_000;

/// The rows gathered so far, shared with whoever asked for them.
pub type Rows = Arc<Mutex<Vec<Row>>>;

/// Gathers the rows.
pub struct Series {
    interval: Time,
    /// The end of the present interval.
    end: Time,
    flows: Vec<String>,
    /// Name, direction and number of the lines that have a gateway and are not access lines.
    lines: Vec<(String, &'static str, u32)>,
    /// Bytes delivered in the present interval, by flow.
    delivered: Vec<u64>,
    /// Packets held, waiting or being sent, by line.
    held: Vec<u64>,
    /// Receivers of sessions, with the layers that each takes.
    receivers: Vec<(String, String, u32)>,
    rows: Rows,
}

impl Series {
    /// Samples every `interval` (above zero) from the start of the run.
    #[must_use]
    pub fn new(plan: &Plan, interval: Time, rows: Rows) -> Self {
        let lines = plan.lines.iter().zip(0..).filter(|(line, _)| !line.is_access && line.rate.is_some());
        let direction = |is_reverse| if is_reverse { "reverse" } else { "forward" };
        Self {
            interval,
            end: interval,
            flows: plan.flows.iter().map(|flow| flow.name.clone()).collect(),
            lines: lines.map(|(line, number)| (line.name.clone(), direction(line.is_reverse), number)).collect(),
            delivered: vec![0; plan.flows.len()],
            held: vec![0; plan.lines.len()],
            receivers: receivers(plan),
            rows,
        }
    }

    /// How many rows a run of `plan` gives.
    #[must_use]
    pub fn rows_of(plan: &Plan, interval: Time) -> u64 {
        let samples = plan.warm_up.saturating_add(plan.duration).0 / interval.0.max(1);
        samples.saturating_mul((plan.flows.len() + plan.lines.len() + receivers(plan).len()) as u64)
    }

    /// Closes the intervals that end before `now`.
    fn close(&mut self, now: Time) {
        while self.end < now {
            let time = self.end.as_s();
            let seconds = self.interval.as_s();
            // Nobody panics while holding the lock: the rows are plain values.
            let Ok(mut rows) = self.rows.lock() else { return };
            let first = rows.len();
            for (flow, bytes) in self.flows.iter().zip(&mut self.delivered) {
                let rate = std::mem::take(bytes) as f64 * 8.0 / seconds;
                rows.push(row(json!({ "time_s": time, "flow": flow, "link": null, "direction": null,
                    "throughput_bit_per_s": rate, "held_packets": null })));
            }
            for (link, direction, number) in &self.lines {
                let held = self.held[*number as usize];
                rows.push(row(json!({ "time_s": time, "flow": null, "link": link, "direction": direction,
                    "throughput_bit_per_s": null, "held_packets": held })));
            }
            // Only a scenario that has sessions has columns for them.
            if !self.receivers.is_empty() {
                for row in rows.iter_mut().skip(first) {
                    row.extend(["session", "receiver", "level"].map(|column| (column.to_string(), Value::Null)));
                }
                for (session, receiver, level) in &self.receivers {
                    rows.push(row(json!({ "time_s": time, "flow": null, "link": null, "direction": null,
                        "throughput_bit_per_s": null, "held_packets": null,
                        "session": session, "receiver": receiver, "level": level })));
                }
            }
            drop(rows);
            self.end = self.end.saturating_add(self.interval);
        }
    }
}

/// The receivers of all sessions, before any of them has joined.
fn receivers(plan: &Plan) -> Vec<(String, String, u32)> {
    let of = |session: &SessionPlan| {
        let name = session.name.clone();
        session.receivers.iter().map(move |receiver| (name.clone(), receiver.name.clone(), 0)).collect::<Vec<_>>()
    };
    plan.sessions.iter().flat_map(of).collect()
}

fn row(value: Value) -> Row {
    match value {
        Value::Object(row) => row,
        _ => Row::new(),
    }
}

impl Observer for Series {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        if self.end < now {
            self.close(now);
        }
        match event {
            Event::Arrived { line, .. } => self.held[*line as usize] += 1,
            Event::Dropped { line, .. } => self.held[*line as usize] -= 1,
            // An unlimited line has no gateway, and nothing arrives at one.
            Event::Sent { line, .. } => self.held[*line as usize] = self.held[*line as usize].saturating_sub(1),
            Event::Delivered { segment } if segment.direction == Direction::Forward => {
                // Branches of sessions have the numbers after those of flows.
                if let Some(delivered) = self.delivered.get_mut(segment.flow as usize) {
                    *delivered += u64::from(segment.length);
                }
            }
            Event::Level { receiver, level } => self.receivers[*receiver as usize].2 = *level,
            Event::Delivered { .. } | Event::Lost { .. } | Event::Marked { .. } => {}
        }
    }

    fn end(&mut self, now: Time) {
        // What ends just now is closed too.
        self.close(now.saturating_add(Time(1)));
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, Options};
    use fairq_sched::units::Time;

    #[test]
    fn the_samples_add_up_to_what_the_run_delivered() {
        let text = crate::workload::dumbbell("fq", 2);
        let mut experiment = Experiment::read(&text, "dumbbell", &[]).unwrap();
        experiment.sample_every(Time::from_ms(100)).unwrap();
        let files = |name: &str| Err(name.to_string());
        let Ok(result) = experiment.run(Options { workers: 1, files: &files, progress: &mut |_| true }) else {
            panic!()
        };
        let rows = result["series"].as_array().unwrap();
        let sum: f64 = rows.iter().filter_map(|row| row["throughput_bit_per_s"].as_f64()).sum();
        let flows = result["flows"].as_array().unwrap();
        let delivered: f64 = flows.iter().filter_map(|row| row["throughput_bit_per_s"].as_f64()).sum();
        assert!((sum * 0.1 - delivered * 2.0).abs() < 1.0, "{sum} {delivered}");
        assert_eq!(rows.iter().filter(|row| row["flow"] == "flow.1").count(), 20);
        // Sixteen windows of eight: what is not in flight is held at the bottleneck.
        assert!(rows.iter().any(|row| row["held_packets"].as_u64().is_some_and(|held| held > 60)));
        assert!(experiment.sample_every(Time(1)).is_err(), "too many rows");
    }
}
