//! The border of a part of a network. A part has lines that lead out of it, and packets that left
//! and were not yet fetched. Between regions, which one worker runs in turn, packets wait until the
//! other region's turn.

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
    /// The packet.
    pub segment: Segment,
}

/// The lines that lead out; there are none in an undivided network.
#[derive(Debug, Default)]
pub struct Border {
    /// Which part this is.
    part: u32,
    /// By line: the part that its packets go to; empty if there is only one part.
    to: Vec<u32>,
    /// The packets that left, by the part they go to.
    left: Vec<Vec<Parcel>>,
    /// By line: the region that its packets go to; empty if there is only one region.
    regions: Vec<u32>,
    /// By region: the packets that have crossed into it and that it has not taken yet, each with
    /// its line.
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

    /// The packets that left for `part` since the last call, in the order in which they left.
    pub fn left_for(&mut self, part: usize) -> &mut Vec<Parcel> {
        &mut self.left[part]
    }
}

impl Network {
    /// Makes this network part number `part` of `parts`. `tails` and `heads` give the part at each
    /// line's begin and end; packets on a line between two parts leave there. To be called before
    /// the run begins.
    pub fn confine(&mut self, (tails, heads): (&[u32], &[u32]), part: u32, parts: usize) {
        let is_cut = |line: usize| tails[line] != heads[line];
        self.cut(is_cut);
        for line in (0..self.lines.len()).filter(|line| is_cut(*line)) {
            // A packet that left is counted as sent, so it leaves at the end of its transmission.
            self.lines[line].end_by_events();
        }
        (self.border.part, self.border.to, self.border.left) = (part, heads.to_vec(), vec![Vec::new(); parts]);
    }

    /// Divides this network into `regions`. `tails` and `heads` give the region at each line's
    /// begin and end; packets on a line between two regions wait until `let_in`. To be called
    /// before the run begins.
    pub fn divide(&mut self, (tails, heads): (&[u32], &[u32]), regions: usize) {
        self.cut(|line| tails[line] != heads[line]);
        (self.border.regions, self.border.crossed) = (heads.to_vec(), vec![Vec::new(); regions]);
    }

    /// Packets on a line that `is_cut` leave the part or region. The line after it does not follow
    /// it: the fate of such a packet there is not known at its sending.
    fn cut(&mut self, is_cut: impl Fn(usize) -> bool) {
        for (line, feeder) in self.paths.feeders(self.lines.len()).into_iter().enumerate() {
            let at = &mut self.lines[line];
            at.follows &= feeder.is_some_and(|feeder| !is_cut(feeder as usize));
            at.leaves |= is_cut(line);
        }
    }

    /// The packet of `flight` leaves over `line`. Not inlined: packets that stay then save no
    /// registers for it.
    #[inline(never)]
    pub(super) fn leave(&mut self, line: u32, flight: Flight) {
        if self.border.leads_out(line) {
            self.border.leave(line, flight.arrival, self.arena.release(flight.token.id()));
        } else {
            self.cross(line, flight);
        }
    }

    /// The packet of `flight` on `line` goes to the region at the end of that line.
    fn cross(&mut self, line: u32, flight: Flight) {
        let region = self.border.regions[line as usize];
        self.border.crossed[region as usize].push((line, flight));
    }

    /// Puts the packets that crossed into `region` on their lines there.
    pub fn let_in(&mut self, region: usize, events: &mut EventSet) {
        let mut crossed = std::mem::take(&mut self.border.crossed[region]);
        for (line, flight) in crossed.drain(..) {
            // The packet may arrive in this turn.
            self.arena.fetch(flight.token.id());
            self.take_off(line, flight, events);
        }
        self.border.crossed[region] = crossed;
    }

    /// A packet arrives from another part.
    pub fn receive(&mut self, Parcel { line, arrival, segment }: Parcel, events: &mut EventSet) {
        let flight = Flight { arrival, token: Token::new(self.arena.keep(segment), segment.next) };
        if self.border.regions.is_empty() {
            self.take_off(line, flight, events);
        } else {
            self.cross(line, flight);
        }
    }

    /// Takes over the counts of `other`, a part of the same network; packets on the lines in
    /// `others` leave that part. Both parts have been settled; neither can continue.
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
