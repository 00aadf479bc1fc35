//! What an observer hears of flows, beside their packets.

use super::{Simulation, Upcoming};
use crate::observe::Event;

/// What an observer has heard of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    /// The window.
    window: f64,
    has_begun: bool,
    has_ended: bool,
}

impl Simulation {
    /// Tells the observer.
    #[cold]
    pub(super) fn hear(&mut self, event: &Event<'_>) {
        if let Some(observer) = &mut self.network.observer {
            observer.event(self.now, event);
        }
    }

    /// The traffic of `flow` begins, if it has not begun before or `is_another` transfer begins.
    pub(super) fn hear_begin(&mut self, flow: usize, is_another: bool) {
        let heard = &mut self.heard[flow];
        if is_another || !heard.has_begun {
            (heard.has_begun, heard.has_ended) = (true, false);
            self.hear(&Event::FlowBegan { flow: flow as u32 });
        }
    }

    /// All that `flow` or its transfer had to send has arrived.
    pub(super) fn hear_end(&mut self, flow: usize) {
        if !std::mem::replace(&mut self.heard[flow].has_ended, true) {
            self.hear(&Event::FlowEnded { flow: flow as u32 });
        }
    }

    /// The sender of `flow` was called: its window may be another one, and it may have ended.
    pub(super) fn hear_sender(&mut self, flow: usize) {
        let mut packets = self.heard[flow].window;
        let connection = &mut self.connections[flow];
        connection.sender.inspect(&mut |name, value| {
            if name == "window_packets" {
                packets = value;
            }
        });
        let is_over = match connection.upcoming.as_deref() {
            None => true,
            Some(Upcoming::Stop(stop)) => *stop <= self.now,
            Some(Upcoming::Packet { .. }) => false,
        };
        let has_ended = is_over && connection.group.is_none() && connection.sender.is_complete();
        if packets != self.heard[flow].window {
            self.heard[flow].window = packets;
            self.hear(&Event::Window { flow: flow as u32, packets });
        }
        if has_ended && self.heard[flow].has_begun {
            self.hear_end(flow);
        }
    }
}
