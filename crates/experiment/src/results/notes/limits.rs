//! What held a flow beside its congestion control and the links: windows, buffers, data, the host's
//! line.

use super::{Finder, Found, bit_rate, number, percent};
use crate::results::held::Held;
use fairq_sim::plan::FlowPlan;
use fairq_sim::traffic::Release;

/// From this part of the measured time on it is told that something held a flow.
const HELD: f64 = 0.01;

/// With as many packets waiting before it on average, an access line slower than the links holds
/// its flow.
const WAITING: f64 = 1.0;

impl Finder<'_> {
    /// What held the flow's sender for some part of the measured time, whatever else happened.
    pub(super) fn held(&self, row: usize, flow: &FlowPlan) -> impl Iterator<Item = Found> {
        let held = self.held_of(row);
        let place = self.place(flow);
        let window = flow.entry.connection.receive_window;
        let by_receiver = format!("its receive window, {window} packets,");
        // Traffic with a rate or pauses of its own means to leave the line idle.
        let has_end = matches!(flow.entry.traffic.release(), Release::AtStart(Some(_)));
        let is_over = has_end && number(&self.at.mean().flows, "throughput_packets", row) > Some(0.0);
        let by_application = if is_over { held.by_application } else { 0.0 };
        let all = [
            ("window", held.by_receiver, &*by_receiver, "write a larger connection.receive_window"),
            (
                "send_buffer",
                held.by_buffer,
                "its host's buffer, which grows with the window and is short while losses are repaired,",
                "write connection = { tunes_buffer = false } beside its profile",
            ),
            ("application", by_application, "the end of its data", "write more packets, or a shorter measure.duration"),
        ];
        let note = move |(code, part, what, remedy): (&'static str, f64, &str, &str)| {
            let text = format!("{what} held it back for {} of the time; {remedy}", percent(part));
            (part >= HELD).then(|| (code, place.clone(), text))
        };
        all.into_iter().filter_map(note).collect::<Vec<_>>().into_iter()
    }

    pub(super) fn held_of(&self, row: usize) -> Held {
        self.at.mean().held.get(row).copied().unwrap_or_default()
    }

    /// The window of a transport of 1990, which is no connection's.
    pub(super) fn window(&self, row: usize, flow: &FlowPlan) -> Option<Found> {
        let entry = &flow.entry;
        let window = entry.transport.window()?;
        if !self.is_greedy(flow) || self.meets_busy(flow, false) || (self.names_window)(self.at.point(), entry.number) {
            return None;
        }
        let flows = &self.at.mean().flows;
        let of = |column| number(flows, column, row);
        let (throughput, trip, packet) = (of("throughput_bit_per_s")?, of("rtt_s_mean")?, entry.traffic.packet()?);
        let is_full = throughput * trip >= super::BUSY * f64::from(window) * packet.0 as f64 * 8.0;
        let name = entry.transport.name();
        let text = format!(
            "{} was all that it could send: what held it back is the window of {name}, {window} packets; write transport = \
             \"cubic\", or {name}(window=…)",
            bit_rate(throughput)
        );
        (is_full && of("dropped") == Some(0.0)).then(|| ("window", self.place(flow), text))
    }

    /// The line of the flow's host: the only busy one, or one where packets waited.
    pub(super) fn access(&self, row: usize, flow: &FlowPlan) -> Option<Found> {
        if !self.is_greedy(flow) {
            return None;
        }
        let rate = |line: u32| Some((self.plan.lines[line as usize].rate?.bit_per_s(), line));
        let of = |is_access: bool| {
            let is_it = move |line: &u32| self.plan.lines[*line as usize].is_access == is_access;
            flow.path.forward().iter().copied().filter(is_it).filter_map(rate).min()
        };
        let (rate, line) = of(true)?;
        let throughput = number(&self.at.mean().flows, "throughput_bit_per_s", row)?;
        let (used, waiting) = (self.used[line as usize], self.held_of(row).at_access);
        let line = format!("its access line of {}", bit_rate(rate as f64));
        let is_slowest = of(false).is_none_or(|(link, _)| rate < link);
        let text = if used >= super::BUSY && !self.meets_busy(flow, true) {
            let throughput = bit_rate(throughput);
            format!("{throughput} was all that it could send: what held it back is {line}, no link; write a faster one")
        } else if is_slowest && waiting >= WAITING {
            let used = percent(used);
            format!(
                "{line} held it back for a part of the time: it was {used} busy, and {waiting:.1} packets waited before it \
                     on average; write a faster one"
            )
        } else {
            return None;
        };
        Some(("access", self.place(flow), text))
    }
}
