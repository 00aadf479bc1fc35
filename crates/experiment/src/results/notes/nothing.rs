//! Flows that delivered nothing in the measured time, and why; lines that let nothing pass.

use super::{Finder, Found, number};
use fairq_sched::units::{Bytes, Time};
use fairq_sim::plan::{FlowPlan, LinePlan};
use fairq_sim::traffic::Release;
use fairq_sim::transport::tcp::settings::OPENING;

impl Finder<'_> {
    /// A note on each entry of which no flow delivered anything, unless a line on its path has one.
    pub(super) fn nothing(&self, closed: &[Found]) -> Vec<Found> {
        let is_told = |flow: &FlowPlan| {
            let is_on_path = |at: u32| flow.path.forward().contains(&at);
            let told = |line: &LinePlan| closed.iter().any(|(_, place, _)| *place == format!("links.{}", line.name));
            self.shown_lines().any(|(_, at, line)| is_on_path(at) && told(line))
        };
        let is_empty = |row: usize| number(&self.at.mean().flows, "throughput_packets", row) == Some(0.0);
        let (mut found, mut first) = (Vec::new(), 0);
        for copies in self.plan.flows.chunk_by(|one, other| one.entry.number == other.entry.number) {
            let rows = first..first + copies.len();
            // A start after the end has a note of its own.
            let starts_late = copies[0].entry.start.is_some_and(|start| start >= self.end());
            if rows.clone().all(is_empty) && !starts_late && !is_told(&copies[0]) {
                let note = |why| ("nothing", self.place(&copies[0]), format!("it delivered nothing, because {why}"));
                found.extend(self.why(first, &copies[0]).map(note));
            }
            first = rows.end;
        }
        found
    }

    fn why(&self, row: usize, flow: &FlowPlan) -> Option<String> {
        self.why_of_times(flow).or_else(|| self.why_of_counts(row, flow))
    }

    /// A run that ends before a packet can have arrived.
    fn why_of_times(&self, flow: &FlowPlan) -> Option<String> {
        let (begin, end) = (self.plan.warm_up, self.end());
        if let Some(stop) = flow.entry.stop.filter(|stop| *stop <= begin) {
            return Some(format!("it stops at {stop}, and the measured time begins at {begin}; write a later stop"));
        }
        let needs = self.first_arrival(flow);
        if flow.entry.latest_start().saturating_add(needs) < end {
            return None;
        }
        let starts = match flow.entry.start {
            Some(start) => format!("starts at {start}"),
            None => format!("starts at a random time within {}", flow.entry.start_within),
        };
        Some(format!(
            "it {starts}, its first packet takes {} to the other end, and the run ends at {end}; write a longer \
             measure.duration",
            duration(needs)
        ))
    }

    /// How long its first packet is on the way where nothing waits.
    fn first_arrival(&self, flow: &FlowPlan) -> Time {
        let entry = &flow.entry;
        let opens = entry.transport.has_connection() && entry.connection.handshake;
        let length = if opens { OPENING } else { entry.traffic.packet().unwrap_or(Bytes(1)) };
        let on = |line: &u32| {
            let line = &self.plan.lines[*line as usize];
            line.delay.saturating_add(line.rate.map_or(Time::ZERO, |rate| rate.time_of_rounded_up(length)))
        };
        flow.path.forward().iter().map(on).fold(Time::ZERO, Time::saturating_add)
    }

    /// Notes on lines that let no packet pass. One that dropped all has too little room.
    pub(super) fn closed(&self) -> impl Iterator<Item = Found> {
        let (links, queues) = (&self.at.mean().links, &self.at.mean().queues);
        self.shown_lines().filter_map(move |(row, _, line)| {
            let (sent, dropped) = (number(links, "packets", row)?, number(queues, "dropped", row)?);
            let (waiting, direction) = (number(queues, "waiting_packets_mean", row)?, line.direction());
            let place = format!("links.{}", line.name);
            if sent > 0.0 || waiting + dropped == 0.0 {
                return None;
            }
            if dropped > 0.0 && waiting == 0.0 {
                let room = line.queue.bound();
                let text = format!("{direction}, it has room for {room}, and no packet passed; write a larger buffer");
                return Some(("room", place, text));
            }
            let text = format!(
                "{direction}, no packet passed in the measured time, and {waiting:.1} waited before it on average; write a \
                 higher rate, there or in its queue, or a longer measure.duration"
            );
            Some(("nothing", place, text))
        })
    }

    /// That other flows took all the room is what a run shows, in its column `dropped`: no note.
    fn why_of_counts(&self, row: usize, flow: &FlowPlan) -> Option<String> {
        let of = |column| number(&self.at.mean().flows, column, row).unwrap_or(0.0);
        let (sent, dropped, lost) = (of("sent"), of("dropped"), of("lost"));
        let because = match flow.entry.traffic.release() {
            _ if dropped > 0.0 => return None,
            _ if sent > 0.0 && lost >= sent => format!("all {sent:.0} packets that it sent were lost on the way"),
            _ if sent > 0.0 => format!("the {sent:.0} packets that it sent were under way at the end"),
            Release::AtStart(Some(_)) if self.held_of(row).by_application > 0.0 => {
                "it had sent all its data before the measured time began; write more packets".to_owned()
            }
            _ if flow.entry.transport.is_reliable() && self.held_of(row).by_application == 0.0 => {
                "it waited for an answer or a timeout all the time; write a longer measure.duration".to_owned()
            }
            _ => "its traffic had nothing to send in the measured time".to_owned(),
        };
        Some(because)
    }
}

/// A time with three digits behind the point.
fn duration(time: Time) -> String {
    if time < Time::from_s(1) { format!("{:.3} ms", time.as_s() * 1e3) } else { format!("{:.3} s", time.as_s()) }
}
