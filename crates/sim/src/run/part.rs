//! A run that is one part of a network while other runs simulate the rest. It has all lines and
//! flows, and moves only its own.

use super::{FlowCounts, Simulation};
use crate::net::border::Parcel;
use crate::partition::Partition;
use crate::transport::reports::Report;
use fairq_sched::units::Time;

/// A packet on its way into another part, with its report. The numbers of reports are valid in one
/// part only.
pub type Crossing = (Parcel, Option<Report>);

impl Simulation {
    /// Makes this run simulate part number `part`, from the start on.
    pub fn confine(&mut self, partition: &Partition, part: u32) {
        let traffic = (self.emissions..).take(partition.sources.len());
        let laws = (self.components.updates..).take(self.network.updates() as usize);
        for component in traffic.chain(laws) {
            if self.place_of(component, partition) != part as usize {
                self.silence(component);
            }
        }
        self.network.confine((&partition.tails, &partition.heads), part, partition.parts);
    }

    /// Runs up to `most` events that are not after `until`, or the turn of a region. Returns
    /// whether there may be more.
    pub fn advance(&mut self, until: Time, most: usize) -> bool {
        if self.regions.is_some() {
            return self.run_turn(until);
        }
        (0..most).all(|_| self.step(until))
    }

    /// Declares that no more events occur up to `end`.
    pub fn pass(&mut self, end: Time) {
        self.let_all_in();
        self.events.pass(end);
        self.now = end;
    }

    /// Whether any packet left for `part`.
    #[must_use]
    pub fn has_left(&self, part: usize) -> bool {
        self.network.border.has_left(part)
    }

    /// Adds to `crossings` the packets that left for `part`.
    pub fn fetch(&mut self, part: usize, crossings: &mut Vec<Crossing>) {
        while let Some(name) = self.network.dropped_reports.pop() {
            self.reports.take(name);
        }
        for parcel in self.network.border.left_for(part).drain(..) {
            let name = parcel.segment.report;
            crossings.push((parcel, (name != 0).then(|| self.reports.take(name))));
        }
    }

    /// Packets arrive from another part.
    pub fn receive(&mut self, crossings: impl Iterator<Item = Crossing>) {
        for (mut parcel, report) in crossings {
            parcel.segment.report = self.reports.keep(report);
            self.network.receive(parcel, &mut self.events);
        }
    }

    /// Takes over the counts of `other`, which was part number `part`. Both have been settled;
    /// neither can continue.
    pub fn absorb(&mut self, mut other: Self, partition: &Partition, part: u32) {
        for (connection, other) in self.connections.iter_mut().zip(&mut other.connections) {
            if let Some(counts) = other.counts.take() {
                match &mut connection.counts {
                    Some(mine) => mine.add(&counts),
                    none => *none = Some(counts),
                }
            }
        }
        for (mine, other) in self.groups.iter_mut().zip(other.groups) {
            if partition.sources[mine.first as usize] == part {
                *mine = other;
            }
        }
        self.network.absorb(other.network, |line| partition.tails[line] == part);
    }
}

impl FlowCounts {
    /// Adds the counts of another part.
    fn add(&mut self, other: &Self) {
        let Self {
            sent,
            retransmitted,
            delivered,
            delivered_bytes,
            unique,
            in_time,
            samples,
            samples_sum,
            held,
            delay,
            queueing,
            ..
        } = other;
        self.sent += sent;
        self.retransmitted += retransmitted;
        self.delivered += delivered;
        self.delivered_bytes += delivered_bytes;
        self.unique += unique;
        self.in_time += in_time;
        self.samples += samples;
        self.samples_sum += samples_sum;
        self.held = self.held.with(*held);
        self.queueing.merge(queueing);
        self.delay.merge(delay);
    }
}
