//! The border of a part of a network. A part has lines that lead out of it, and packets that left
//! and were not yet fetched. Between regions, which one worker runs in turn, packets wait until the
//! other region's turn.

use super::line::Flight;
use crate::segment::Segment;
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
    /// Makes this the border of `part` of `parts`; `to` gives the part that each line's packets go
    /// to.
    pub(super) fn confine(&mut self, part: u32, to: Vec<u32>, parts: usize) {
        (self.part, self.to, self.left) = (part, to, vec![Vec::new(); parts]);
    }

    /// Adds borders between `regions`; `to` gives the region that each line's packets go to.
    pub(super) fn divide(&mut self, to: Vec<u32>, regions: usize) {
        (self.regions, self.crossed) = (to, vec![Vec::new(); regions]);
    }

    /// Whether this network is divided into regions.
    pub(super) const fn has_regions(&self) -> bool {
        !self.regions.is_empty()
    }

    /// Whether `line` leads to another part.
    pub(super) fn leads_out(&self, line: u32) -> bool {
        self.to.get(line as usize).is_some_and(|part| *part != self.part)
    }

    /// A packet leaves over `line` and arrives at `arrival`.
    pub(super) fn leave(&mut self, line: u32, arrival: Time, segment: Segment) {
        let to = self.to[line as usize];
        self.left[to as usize].push(Parcel { line, arrival, segment });
    }

    /// The packet of `flight` on `line` goes to the region at the end of that line.
    pub(super) fn cross(&mut self, line: u32, flight: Flight) {
        let region = self.regions[line as usize];
        self.crossed[region as usize].push((line, flight));
    }

    /// Takes the packets that crossed into `region`, each with its line.
    pub(super) fn take_crossed(&mut self, region: usize) -> Vec<(u32, Flight)> {
        std::mem::take(&mut self.crossed[region])
    }

    /// Gives back the memory of packets that were taken.
    pub(super) fn reuse_crossed(&mut self, region: usize, emptied: Vec<(u32, Flight)>) {
        self.crossed[region] = emptied;
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
