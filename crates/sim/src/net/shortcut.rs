//! Shortcut: a packet goes on over the next line without an event for its arrival there.
//!
//! A line that takes all its packets in order from one other line may follow it: the fate of a
//! packet there is then decided when it is sent on the line before, as long as the packet bypasses
//! the discipline. Which lines may follow is a function of the topology. At run time one condition
//! is left: no packet of unknown fate is on its way to the line.

use super::line::Line;
use fairq_sched::fast_path::{FastPath, take};
use fairq_sched::units::Time;

/// By line, whether all its packets come in order from one other line. `feeders`: that other line,
/// if there is one.
pub(super) fn fed(lines: &[Line], feeders: &[Option<u32>]) -> Vec<bool> {
    let keeps_order = |feeder: u32| {
        let at = &lines[feeder as usize];
        at.is_orderly() && !at.leaves
    };
    feeders.iter().map(|feeder| feeder.is_some_and(keeps_order)).collect()
}

impl Line {
    /// The packet `id` of `length` bytes, sent on the line before, will arrive at `arrival`, after
    /// all packets sent before it. Returns when its transmission here ends if that is known now. If
    /// not, the packet is to fly to this line, and `forward` counts it as arrived.
    #[inline(always)]
    pub(super) fn foresee(&mut self, arrival: Time, id: u32, length: u32) -> Option<Time> {
        let end = if self.coming == 0 { self.pass_at(arrival, id, length) } else { None };
        if end.is_some() {
            take(FastPath::Shortcut);
        }
        self.coming += u32::from(end.is_none());
        end
    }
}
