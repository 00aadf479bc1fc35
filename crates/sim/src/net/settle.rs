//! Counts of lines at the present instant. A packet is counted as sent when the end of its
//! transmission is known, which may be before that end; here what lies ahead is taken off again.

use super::counts::{Ahead, Carried};
use super::gateway::Gateway;
use super::line::{Line, Sending};
use super::network::Network;
use crate::engine::events::EventSet;
use crate::segment::Segment;
use fairq_sched::units::Time;

impl Network {
    /// Makes the counts of sent packets exact for the present instant. Call it before the counts of
    /// lines are read.
    pub fn settle(&mut self, now: Time, events: &EventSet) {
        self.packet_hops = self.packet_hops_known;
        for (at, ahead) in self.ahead(now, events).into_iter().enumerate() {
            let line = &mut self.lines[at];
            line.counts.packets = line.sent.packets - ahead.sent.packets;
            line.counts.bytes = line.sent.bytes - ahead.sent.bytes;
            line.counts.carried = Carried::of_bytes(line.counts.bytes);
            line.counts.carried += line.begun(now, ahead.begun);
            line.counts.carried -= line.counts.begun;
            line.counts.overtaken = line.overtaken() - line.counts.overtaken_before;
            self.packet_hops -= ahead.sent.packets;
        }
    }

    /// By line, the packets in its queue at the present instant, that in transmission included.
    #[must_use]
    pub fn held(&self, now: Time, events: &EventSet) -> Vec<u64> {
        let held = |line: &Line| {
            let waiting = line.gateway.as_ref().map_or(0, Gateway::waiting);
            waiting + u64::from(line.sending == Sending::Packet)
        };
        let mut held: Vec<u64> = self.lines.iter().map(held).collect();
        self.unsent(events, &mut |line, length, end| {
            let at = &self.lines[line as usize];
            // A packet that follows another line arrives there when its transmission begins.
            let is_to_come = at.follows && at.gateway.as_ref().is_some_and(|it| now < end - it.time_alone(length));
            held[line as usize] += u64::from(!is_to_come);
        });
        held
    }

    /// By line, the packets that are counted as sent though their transmission has not ended.
    fn ahead(&self, now: Time, events: &EventSet) -> Vec<Ahead> {
        let mut ahead = vec![Ahead::default(); self.lines.len()];
        self.unsent(events, &mut |line, length, end| {
            let (Some(gateway), ahead) = (&self.lines[line as usize].gateway, &mut ahead[line as usize]) else {
                return;
            };
            ahead.sent.add(length);
            ahead.begun += gateway.part_sent(now, length, end);
        });
        ahead
    }

    /// Visits the packets that are counted as sent on a line though their transmission there has
    /// not ended: the line, their bytes there, and when it ends.
    fn unsent(&self, events: &EventSet, visit: &mut dyn FnMut(u32, u32, Time)) {
        for at in &self.lines {
            for flight in at.flights.iter().rev() {
                if !self.is_unsent((flight.arrival, flight.token.id()), events, visit) {
                    break;
                }
            }
        }
    }

    /// The packet `id` is in flight and arrives at `arrival`. Visits each line where its
    /// transmission has not ended: its last line, and the lines before it that forwarded it without
    /// an event. Returns whether there is such a line.
    fn is_unsent(&self, (arrival, id): (Time, u32), events: &EventSet, visit: &mut dyn FnMut(u32, u32, Time)) -> bool {
        let Segment { flow, direction, place, length, .. } = self.arena[id];
        let passed = self.paths.first(flow, direction)..place;
        let (mut arrival, mut is_ahead) = (arrival, false);
        for line in passed.rev().map(|place| self.paths.line(place)) {
            let at = &self.lines[line as usize];
            let Some(gateway) = at.gateway.as_ref().filter(|_| !at.needs_end) else { break };
            let end = arrival - at.delay;
            if end < events.pending_from(self.components.ends + line) {
                break;
            }
            is_ahead = true;
            visit(line, length + at.header, end);
            if !at.follows {
                break;
            }
            // If the packet waited there, the time of its arrival at that line has passed as well.
            arrival = end - gateway.time_alone(length + at.header);
        }
        is_ahead
    }

    /// Restarts all counts.
    pub fn clear_counts(&mut self, now: Time, events: &EventSet) {
        for (line, ahead) in self.ahead(now, events).into_iter().enumerate() {
            let pending = events.pending_from(self.components.ends + line as u32);
            self.lines[line].clear_counts(now, ahead, pending);
        }
        self.dropped.clear();
        self.lost.clear();
        self.marked.clear();
    }
}
