//! A network that is one part of a larger one: the lines that lead out of it, and the packets that left and were not fetched.

use super::network::Network;
use super::segment::Segment;
use crate::engine::events::EventSet;
use fairq_sched::units::Time;

/// A packet on its way into another part.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// The line that it is on.
    pub line: u32,
    /// When it arrives.
    pub arrival: Time,
    /// Itself.
    pub segment: Segment,
}

/// The lines that lead out; there are none in a network that is whole.
#[derive(Debug, Default)]
pub struct Border {
    /// By line: the part that its packets go to.
    to: Vec<u32>,
    /// What left, by the part it goes to.
    left: Vec<Vec<Parcel>>,
}

impl Border {
    /// A packet leaves over `line` and arrives at `arrival`.
    pub fn leave(&mut self, line: u32, arrival: Time, segment: Segment) {
        let to = self.to[line as usize];
        self.left[to as usize].push(Parcel { line, arrival, segment });
    }

    /// Whether anything left for `part` since that was last fetched.
    #[must_use]
    pub fn has_left(&self, part: usize) -> bool {
        !self.left[part].is_empty()
    }

    /// What left for `part` since this was last asked, in the order in which it left.
    pub fn left_for(&mut self, part: usize) -> &mut Vec<Parcel> {
        &mut self.left[part]
    }
}

impl Network {
    /// Has it be the part number `part` of `parts`: packets on a line that leads to another part, by `tails` and
    /// `heads`, leave there. To be called before the run begins.
    pub fn confine(&mut self, (tails, heads): (&[u32], &[u32]), part: u32, parts: usize, events: &mut EventSet) {
        let is_cut = |line: usize| tails[line] != heads[line];
        for (line, feeder) in self.paths.feeders(self.lines.len()).into_iter().enumerate() {
            let at = &mut self.lines[line];
            // What becomes of a packet here is not known in the other part.
            at.follows &= feeder.is_none_or(|feeder| !is_cut(feeder as usize));
            if is_cut(line) {
                at.leaves = true;
                // What has left is counted as sent, so it leaves when it is.
                at.end_by_events();
            }
        }
        for (number, line) in (0..).zip(&self.updated) {
            if tails[*line as usize] != part {
                events.set(self.components.updates + number, Time::NEVER);
            }
        }
        self.border = Border { to: heads.to_vec(), left: vec![Vec::new(); parts] };
    }

    /// The packet `id` leaves over `line` and arrives at `arrival`. Apart, so that who stays saves no registers for it.
    #[cold]
    #[inline(never)]
    pub(super) fn leave(&mut self, line: u32, arrival: Time, id: u32) {
        self.border.leave(line, arrival, self.arena.release(id));
    }

    /// Takes over what `other` counted, a part of the same network of which the lines in `others` leave. Both have been
    /// settled; neither can go on.
    pub fn absorb(&mut self, other: Self, others: impl Fn(usize) -> bool) {
        for (line, theirs) in other.lines.into_iter().enumerate().filter(|(line, _)| others(*line)) {
            self.lines[line] = theirs;
        }
        self.packet_hops += other.packet_hops;
        self.packet_hops_known += other.packet_hops_known;
        self.dropped.add(&other.dropped);
        self.lost.add(&other.lost);
        self.marked.add(&other.marked);
    }
}
