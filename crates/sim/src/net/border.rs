//! Where a network is divided. A part of a larger one has lines that lead out of it, and packets that left and were not fetched.
//! Between regions, which one worker runs by turns, packets wait until it is the other's turn.

use super::line::Flight;
use super::network::Network;
use crate::engine::events::EventSet;
use crate::segment::{Segment, Token};
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
    /// Which part this is.
    part: u32,
    /// By line: the part that its packets go to; nothing if there is one.
    to: Vec<u32>,
    /// What left, by the part it goes to.
    left: Vec<Vec<Parcel>>,
    /// By line: the region that its packets come to; nothing if there is one.
    regions: Vec<u32>,
    /// Who came to each region and has not been seen there, with the line.
    crossed: Vec<Vec<(u32, Flight)>>,
}

impl Border {
    /// Whether `line` leads to another part.
    fn leads_out(&self, line: u32) -> bool {
        self.to.get(line as usize).is_some_and(|part| *part != self.part)
    }

    /// A packet leaves over `line` and arrives at `arrival`.
    fn leave(&mut self, line: u32, arrival: Time, segment: Segment) {
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
    pub fn confine(&mut self, (tails, heads): (&[u32], &[u32]), part: u32, parts: usize) {
        let is_cut = |line: usize| tails[line] != heads[line];
        self.cut(is_cut);
        for line in (0..self.lines.len()).filter(|line| is_cut(*line)) {
            // What has left is counted as sent, so it leaves when it is.
            self.lines[line].end_by_events();
        }
        (self.border.part, self.border.to, self.border.left) = (part, heads.to_vec(), vec![Vec::new(); parts]);
    }

    /// Has it be in so many regions: packets on a line that leads to another, by `tails` and `heads`, wait until they are let
    /// in there. To be called before the run begins.
    pub fn divide(&mut self, (tails, heads): (&[u32], &[u32]), regions: usize) {
        self.cut(|line| tails[line] != heads[line]);
        (self.border.regions, self.border.crossed) = (heads.to_vec(), vec![Vec::new(); regions]);
    }

    /// Who goes over a line that `is_cut` leaves, and what becomes of the packet then is not known where it comes from.
    fn cut(&mut self, is_cut: impl Fn(usize) -> bool) {
        for (line, feeder) in self.paths.feeders(self.lines.len()).into_iter().enumerate() {
            let at = &mut self.lines[line];
            at.follows &= feeder.is_some_and(|feeder| !is_cut(feeder as usize));
            at.leaves |= is_cut(line);
        }
    }

    /// The packet of `flight` leaves over `line`. Apart, so that who stays saves no registers for it.
    #[inline(never)]
    pub(super) fn leave(&mut self, line: u32, flight: Flight) {
        if self.border.leads_out(line) {
            self.border.leave(line, flight.arrival, self.arena.release(flight.token.id()));
        } else {
            self.cross(line, flight);
        }
    }

    /// The packet of `flight` on `line` arrives in its region.
    fn cross(&mut self, line: u32, flight: Flight) {
        let region = self.border.regions[line as usize];
        self.border.crossed[region as usize].push((line, flight));
    }

    /// Who came to `region` is on its line there from now on.
    pub fn let_in(&mut self, region: usize, events: &mut EventSet) {
        let mut crossed = std::mem::take(&mut self.border.crossed[region]);
        for (line, flight) in crossed.drain(..) {
            // It may land in this turn.
            self.arena.fetch(flight.token.id());
            self.take_off(line, flight, events);
        }
        self.border.crossed[region] = crossed;
    }

    /// A packet comes from another part.
    pub fn receive(&mut self, Parcel { line, arrival, segment }: Parcel, events: &mut EventSet) {
        let flight = Flight { arrival, token: Token::new(self.arena.keep(segment), segment.next) };
        if self.border.regions.is_empty() {
            self.take_off(line, flight, events);
        } else {
            self.cross(line, flight);
        }
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
