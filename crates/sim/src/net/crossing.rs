//! A network that is one part of several, or that is divided into regions: what leaves it and what
//! enters it (`border.rs`).

use super::border::Parcel;
use super::line::Flight;
use super::network::Network;
use crate::engine::events::EventSet;
use crate::segment::Token;

impl Network {
    /// Makes this network part number `part` of `parts`. `tails` and `heads` give the part at each
    /// line's begin and end; packets on a line between two parts leave there. To be called before
    /// the run begins.
    pub fn confine(&mut self, (tails, heads): (&[u32], &[u32]), part: u32, parts: usize) {
        self.border.confine(part, heads.to_vec(), parts);
        self.cut(tails, heads);
    }

    /// Divides this network into `regions`. `tails` and `heads` give the region at each line's
    /// begin and end; packets on a line between two regions wait until `let_in`. To be called
    /// before the run begins.
    pub fn divide(&mut self, (tails, heads): (&[u32], &[u32]), regions: usize) {
        self.border.divide(heads.to_vec(), regions);
        self.cut(tails, heads);
    }

    /// Packets on a line between two parts or regions leave there.
    fn cut(&mut self, tails: &[u32], heads: &[u32]) {
        for (at, (tail, head)) in self.lines.iter_mut().zip(tails.iter().zip(heads)) {
            at.leaves |= tail != head;
        }
        self.lay_out();
    }

    /// The packet of `flight` leaves over `line`. Not inlined: packets that stay then save no
    /// registers for it.
    #[inline(never)]
    pub(super) fn leave(&mut self, line: u32, flight: Flight) {
        if self.border.leads_out(line) {
            self.border.leave(line, flight.arrival, self.arena.release(flight.token.id()));
        } else {
            self.border.cross(line, flight);
        }
    }

    /// Puts the packets that crossed into `region` on their lines there.
    pub fn let_in(&mut self, region: usize, events: &mut EventSet) {
        let mut crossed = self.border.take_crossed(region);
        for (line, flight) in crossed.drain(..) {
            // The packet may arrive in this turn.
            self.arena.fetch(flight.token.id());
            self.take_off(line, flight, events);
        }
        self.border.reuse_crossed(region, crossed);
    }

    /// A packet arrives from another part.
    pub fn receive(&mut self, Parcel { line, arrival, segment }: Parcel, events: &mut EventSet) {
        let flight = Flight { arrival, token: Token::new(self.arena.keep(segment), segment.next) };
        if self.border.has_regions() {
            self.border.cross(line, flight);
        } else {
            self.take_off(line, flight, events);
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
