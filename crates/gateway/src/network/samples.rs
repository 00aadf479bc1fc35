//! Samples of flows and queues at equal intervals.

use super::line::Line;
use crate::flows::Flows;
use crate::report::{Name, SampleRow};
use fairq_sched::units::Time;

/// The most rows. Later samples are left out.
const ROWS_MAX: usize = 5_000_000;

/// Samples so far.
#[derive(Debug)]
pub(super) struct Samples {
    interval: Time,
    next: Time,
    rows: Vec<SampleRow>,
}

impl Samples {
    pub(super) fn new(interval: Time) -> Self {
        Self { interval, next: interval, rows: Vec::new() }
    }

    /// Takes the samples that are due before `now`.
    pub(super) fn take_before(&mut self, now: Time, flows: &mut Flows, lines: &[Line]) {
        while self.next < now {
            let at = self.next;
            self.next = at.saturating_add(self.interval.max(Time(1)));
            self.take(at, flows, lines);
        }
    }

    fn take(&mut self, at: Time, flows: &mut Flows, lines: &[Line]) {
        let mut rows = Vec::new();
        for flow in flows.all_mut() {
            let counts = &mut flow.counts;
            // A flow that is silent has rows of zero while it may go on.
            let is_over = counts.sampled_bytes == counts.delivered_bytes
                && counts.last.saturating_add(Time(self.interval.0.saturating_mul(2))) < at;
            if is_over {
                continue;
            }
            let bytes = counts.delivered_bytes - counts.sampled_bytes;
            counts.sampled_bytes = counts.delivered_bytes;
            let row = SampleRow {
                time_s: at.as_s(),
                flow: Some(flow.name.clone()),
                throughput_bit_per_s: Some(bytes as f64 * 8.0 / self.interval.as_s()),
                rtt_s: counts.tcp.as_ref().and_then(|tcp| tcp.rtt).map(Time::as_s),
                ..SampleRow::default()
            };
            rows.push((flow.number, row));
        }
        rows.sort_by_key(|(number, _)| *number);
        let flows = rows.into_iter().map(|(_, row)| row);
        let lines = lines.iter().filter(|line| !line.plan.is_access).map(|line| SampleRow {
            time_s: at.as_s(),
            link: Some(Name(line.plan.name.clone())),
            direction: Some(super::rows::direction(line)),
            held_packets: Some(line.tally.held()),
            ..SampleRow::default()
        });
        let room = ROWS_MAX.saturating_sub(self.rows.len());
        self.rows.extend(flows.chain(lines).take(room));
    }

    pub(super) fn rows(&self) -> &[SampleRow] {
        &self.rows
    }

    pub(super) fn take_rows(&mut self) -> Vec<SampleRow> {
        std::mem::take(&mut self.rows)
    }
}
