//! What a tin of CAKE knows of its queues and of the hosts that they belong to.

use crate::contract::{Handle, Slot};
use crate::law::cobalt::Control;
use crate::store::Store;
use crate::turns::{Listed, View};
use alloc::vec::Vec;

/// Parts of a byte in which credits count.
pub(super) const PER_BYTE: i64 = 1 << 16;

/// A queue of a flow.
#[derive(Clone, Copy, Default)]
pub(super) struct Bucket {
    pub(super) control: Control,
    /// The places of its source and its destination.
    pub(super) hosts: [u32; 2],
    /// Whether it counts among the busy flows of its hosts.
    pub(super) is_busy: bool,
    /// The last acknowledgement that came, and whose it was.
    pub(super) acknowledgement: Option<(Handle, u64)>,
}

/// A host of a tin, as source or destination.
#[derive(Clone, Copy, Default)]
pub(super) struct Host {
    /// Active queues that are its.
    pub(super) queues: u32,
    /// Of these, those that take turns.
    pub(super) busy: u32,
}

/// What a tin knows of its queues and hosts. Its queues are numbered in the store from `first` on.
pub(super) struct Book {
    pub(super) first: Slot,
    /// Packets that wait in the tin.
    pub(super) packets: u64,
    pub(super) buckets: Vec<Bucket>,
    pub(super) hosts: [Vec<Host>; 2],
    /// Which of the two hosts count for a flow's quantum.
    pub(super) counts: [bool; 2],
    /// What a flow may send in a turn, in 1/65536 B, by the number of busy flows that it shares its hosts with. When many
    /// do, each packet takes as many turns, and a division for each of them would be most of its cost.
    pub(super) quanta: Vec<i64>,
}

/// The parts of `quantum` for 0 to `most` flows that share it.
pub(super) fn quanta(quantum: i64, most: u32) -> Vec<i64> {
    (0..=i64::from(most)).map(|flows| (quantum / flows.max(1)).max(1)).collect()
}

impl Book {
    pub(super) fn set_busy(&mut self, bucket: Slot, is_busy: bool) {
        let bucket = &mut self.buckets[bucket as usize];
        if bucket.is_busy != is_busy {
            bucket.is_busy = is_busy;
            for (hosts, place) in self.hosts.iter_mut().zip(bucket.hosts) {
                let busy = &mut hosts[place as usize].busy;
                *busy = if is_busy { *busy + 1 } else { *busy - 1 };
            }
        }
    }
}

/// A tin's book, and what waits.
pub(super) struct Flows<'a> {
    pub(super) book: &'a mut Book,
    pub(super) store: &'a Store,
}

impl View for Flows<'_> {
    #[inline]
    fn waits(&self, queue: Slot) -> bool {
        self.store.queue_packets(self.book.first + queue) > 0
    }

    #[inline]
    fn quantum(&self, queue: Slot) -> i64 {
        let bucket = &self.book.buckets[queue as usize];
        let busy = |side: usize| self.book.hosts[side][bucket.hosts[side] as usize].busy;
        let load = (0..2).filter(|side| self.book.counts[*side]).map(busy).max().unwrap_or(1);
        self.book.quanta[load as usize]
    }

    fn moved(&mut self, queue: Slot, to: Listed) {
        let waits = self.waits(queue);
        self.book.set_busy(queue, to == Listed::Old && waits);
        if to == Listed::Out {
            let places = self.book.buckets[queue as usize].hosts;
            for (hosts, place) in self.book.hosts.iter_mut().zip(places) {
                hosts[place as usize].queues -= 1;
            }
        }
    }
}
