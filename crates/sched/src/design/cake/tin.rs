//! A tin of CAKE: its flows, whose turn it is, and the hosts that they belong to
//! (`struct cake_tin_data`).

use super::FLOW_TIMES;
use super::cobalt::{Control, Parameters};
use super::rounds::Rounds;
use super::shaper::ByteTime;
use super::ways::Ways;
use super::{Isolation, Settings};
use crate::contract::{Handle, Slot};
use crate::packet::Packet;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::ring::Ring;
use crate::store::Store;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Parts of a byte in which credits count.
const PER_BYTE: i64 = 1 << 16;

/// The set of flows that a flow is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// Nowhere.
    #[default]
    Out,
    /// It woke a short while ago.
    Sparse,
    /// It was found empty and in debt while sparse: among the bulk flows, and not counted there.
    SparseWait,
    /// It takes turns.
    Bulk,
    /// It is empty, and COBALT has not forgotten it.
    Decaying,
}

/// A queue of a flow.
#[derive(Clone, Default)]
struct Bucket {
    set: Set,
    control: Control,
    /// Pure acknowledgements in their order, and whose they are.
    acknowledgements: VecDeque<(Handle, u64)>,
    /// The packet that came last.
    last: Option<Handle>,
}

/// What a tin counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) sent: u64,
    pub(super) bytes: u64,
    pub(super) dropped: u64,
    pub(super) marked: u64,
    pub(super) filtered: u64,
    pub(super) most: u32,
    unresponsive: u32,
    /// Means of the delay in nanoseconds: of all packets, of its peaks and of its base.
    mean: u64,
    peak: u64,
    base: u64,
}

/// How long flows were of each kind: nanoseconds, of all flows together.
#[derive(Clone, Copy, Debug, Default)]
struct FlowTimes {
    /// They woke a short while ago, or are empty and not forgotten yet.
    sparse: u128,
    /// They take turns.
    bulk: u128,
    /// They went on to overflow, and packets of theirs are dropped at random.
    unresponsive: u128,
}

/// The flows of a tin.
pub(super) struct Tin {
    /// Its queues are numbered in the store from here on.
    pub(super) first: Slot,
    /// Packets that wait.
    pub(super) packets: u64,
    /// What is left of its turn, without a shaper.
    pub(super) deficit: i64,
    pub(super) quantum: i64,
    /// When its threshold lets the next packet go.
    pub(super) next: u64,
    pub(super) counts: Counts,
    threshold: Option<u64>,
    time: ByteTime,
    parameters: Parameters,
    shares: Shares,
    flows: Ways,
    places: [Ways; 2],
    buckets: Vec<Bucket>,
    /// By flow, in parts of a byte.
    credits: Vec<i64>,
    new: Ring,
    old: Rounds,
    decaying: Ring,
    sparse: u32,
    bulk: u32,
    decays: u32,
    /// Up to `tallied`.
    times: FlowTimes,
    tallied: u64,
}

/// What a flow alone may send in a turn, in bytes, by its tin's threshold (`cake_set_rate`).
fn flow_quantum(settings: &Settings, threshold: Option<u64>) -> i64 {
    let by_rate = threshold.map_or(1514, |rate| (rate >> 12).clamp(300, 1514));
    settings.quantum.map_or(by_rate, |quantum| quantum.0) as i64
}

/// The quantum of a flow by the number of bulk flows that share its host, in parts of a byte.
fn quanta(quantum: i64, queues: u32) -> Vec<i64> {
    (0..=i64::from(queues)).map(|load| (quantum * (65_535 / load.max(1))).max(1)).collect()
}

/// What a flow may send in a turn.
struct Shares {
    /// In bytes, of a flow alone.
    quantum: i64,
    /// The quantum by the number of bulk flows that share the flow's hosts.
    quanta: Vec<i64>,
    /// By flow, the places of its source and its destination.
    hosts: Vec<[u32; 2]>,
    /// Bulk flows of each source and each destination, and which of the two count.
    bulk: [Vec<u32>; 2],
    counted: [bool; 2],
}

impl Shares {
    #[inline(always)]
    fn quantum(&self, flow: u32) -> i64 {
        let places = self.hosts[flow as usize];
        let bulk = |side: usize| if self.counted[side] { self.bulk[side][places[side] as usize] } else { 0 };
        self.quanta[bulk(0).max(bulk(1)).max(1) as usize]
    }
}

impl Tin {
    /// Tin `at` of a shaper of `rate` bytes a second.
    pub(super) fn new(settings: &Settings, at: usize, rate: Option<u64>) -> Self {
        let Settings { queues, ways, isolation, tins, .. } = *settings;
        let threshold = rate.map(|rate| tins.threshold(at, rate));
        let time = threshold.map(ByteTime::new).unwrap_or_default();
        let quantum = flow_quantum(settings, threshold);
        let (target, interval) = settings.times();
        let (usual, interval) = (target.0 / 1000, interval.0 / 1000);
        let packet_time = time.of(settings.mtu.0);
        let target = usual.max(packet_time.saturating_mul(3) / 2);
        let interval = interval.saturating_add(target - usual).max(target.saturating_mul(2));
        let is_triple = isolation == Isolation::Triple;
        Self {
            first: at as Slot * queues,
            packets: 0,
            deficit: 0,
            quantum: tins.quantum(at),
            next: 0,
            counts: Counts::default(),
            threshold,
            time,
            parameters: Parameters { target, interval, packet_time },
            shares: Shares {
                quantum,
                quanta: quanta(quantum, queues),
                hosts: alloc::vec![[0; 2]; queues as usize],
                bulk: [alloc::vec![0; queues as usize], alloc::vec![0; queues as usize]],
                counted: [
                    is_triple || isolation == Isolation::DualSource,
                    is_triple || isolation == Isolation::DualDestination,
                ],
            },
            flows: Ways::new(queues, ways),
            places: [Ways::new(queues, ways), Ways::new(queues, ways)],
            buckets: alloc::vec![Bucket::default(); queues as usize],
            credits: alloc::vec![0; queues as usize],
            new: Ring::new(),
            old: Rounds::new(),
            decaying: Ring::new(),
            sparse: 0,
            bulk: 0,
            decays: 0,
            times: FlowTimes::default(),
            tallied: 0,
        }
    }

    /// Its threshold is `threshold` bytes a second from now, its targets as before
    /// (`cake_set_rate` with an mtu of 0).
    pub(super) fn set_threshold(&mut self, settings: &Settings, threshold: u64) {
        self.threshold = Some(threshold);
        self.time = ByteTime::new(threshold);
        let quantum = flow_quantum(settings, Some(threshold));
        if quantum != self.shares.quantum {
            self.shares.quantum = quantum;
            self.shares.quanta = quanta(quantum, settings.queues);
            self.old.quantum_changed();
        }
    }

    /// Whether a flow of it may have something to send.
    pub(super) const fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue of the flow `key` between `hosts` (`cake_hash`).
    pub(super) fn bucket(&mut self, key: u64, hosts: [u64; 2]) -> u32 {
        let Self { flows, buckets, .. } = self;
        let is_set = |place: u32| buckets[place as usize].set != Set::Out;
        let (place, is_known) = flows.place(key, |place| !is_set(place));
        let was_set = is_set(place);
        if is_known && was_set {
            return place;
        }
        let is_bulk = self.buckets[place as usize].set == Set::Bulk;
        for (side, host) in hosts.into_iter().enumerate().filter(|(side, _)| self.shares.counted[*side]) {
            let before = self.shares.hosts[place as usize][side];
            let bulk = &mut self.shares.bulk[side];
            let with_it = bulk[before as usize];
            bulk[before as usize] = with_it.saturating_sub(is_bulk.into());
            let (found, _) = self.places[side].place(host, |place| bulk[place as usize] == 0);
            bulk[found as usize] += u32::from(is_bulk);
            if found != before && with_it.max(bulk[found as usize]) > 1 {
                self.old.quantum_changed();
            }
            self.shares.hosts[place as usize][side] = found;
        }
        place
    }

    /// The flow counts among the bulk flows of its hosts, or does no longer.
    fn count_bulk(&mut self, bucket: u32, counts: bool) {
        let Shares { hosts, bulk, counted, .. } = &mut self.shares;
        let places = hosts[bucket as usize];
        for side in (0..2).filter(|side| counted[*side]) {
            let bulk = &mut bulk[side][places[side] as usize];
            let before = *bulk;
            *bulk = if counts { before + 1 } else { before.saturating_sub(1) };
            // A flow alone has the quantum of one that does not count.
            if before.max(*bulk) > 1 {
                self.old.quantum_changed();
            }
        }
    }

    /// A packet joined the queue.
    pub(super) fn wake(&mut self, now: u64, bucket: u32) {
        match self.buckets[bucket as usize].set {
            set @ (Set::Out | Set::Decaying) => {
                self.tally(now);
                if set == Set::Decaying {
                    self.leave(bucket);
                }
                self.new.push_back(bucket);
                self.buckets[bucket as usize].set = Set::Sparse;
                self.sparse += 1;
                self.credits[bucket as usize] = self.shares.quantum(bucket);
            }
            Set::SparseWait => {
                self.tally(now);
                self.buckets[bucket as usize].set = Set::Bulk;
                self.sparse -= 1;
                self.bulk += 1;
                self.count_bulk(bucket, true);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Takes the flow out of the list that it is in; a flow that takes turns has the turn.
    fn leave(&mut self, bucket: u32) {
        match self.buckets[bucket as usize].set {
            Set::Out => {}
            Set::Sparse => self.new.remove(bucket),
            Set::SparseWait | Set::Bulk => self.old.leave(),
            Set::Decaying => {
                self.decaying.remove(bucket);
                self.decays -= 1;
            }
        }
    }

    /// The flow whose turn it is and that has credit; the first look of a dequeue goes to the
    /// decaying ones, which always have credit.
    pub(super) fn turn(&mut self, now: u64, is_first: &mut bool, store: &Store) -> Option<u32> {
        let decaying = self.decaying.front();
        if core::mem::take(is_first) && decaying.is_some() {
            return decaying;
        }
        while let Some(bucket) = self.new.front() {
            if self.credits[bucket as usize] > 0 {
                return Some(bucket);
            }
            self.tally(now);
            self.retire(bucket, store.queue_packets(self.first + bucket) > 0);
        }
        let Self { old, credits, shares, .. } = self;
        old.next(credits, |flow| shares.quantum(flow)).or(decaying)
    }

    /// A sparse flow that has used up its credit takes turns from now on.
    fn retire(&mut self, bucket: u32, waits: bool) {
        self.leave(bucket);
        if waits {
            self.buckets[bucket as usize].set = Set::Bulk;
            self.sparse -= 1;
            self.bulk += 1;
            self.count_bulk(bucket, true);
        } else {
            self.buckets[bucket as usize].set = Set::SparseWait;
        }
        let credit = &mut self.credits[bucket as usize];
        *credit += self.shares.quantum(bucket);
        self.old.join(bucket, *credit);
    }

    /// The flow whose turn it was has nothing to send.
    pub(super) fn found_empty(&mut self, now: u64, bucket: u32) {
        self.tally(now);
        let control = &mut self.buckets[bucket as usize].control;
        let ceases = control.found_empty(now, &self.parameters);
        let decays = control.decays(now);
        self.counts.unresponsive -= u32::from(ceases);
        self.leave(bucket);
        match self.buckets[bucket as usize].set {
            Set::Bulk => {
                self.bulk -= 1;
                self.count_bulk(bucket, false);
            }
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Out | Set::Decaying => {}
        }
        self.buckets[bucket as usize].set = if decays {
            self.decaying.push_back(bucket);
            self.decays += 1;
            Set::Decaying
        } else {
            Set::Out
        };
    }

    /// COBALT's word on the head of the queue: whether it is marked, and whether it is dropped.
    pub(super) fn judge(
        &mut self,
        now: u64,
        bucket: u32,
        sojourn: u64,
        ingress: bool,
        can_mark: bool,
        random: &mut Random,
    ) -> (bool, bool) {
        let bulk = if ingress { self.bulk.into() } else { 0 };
        let control = &mut self.buckets[bucket as usize].control;
        control.judge(now, sojourn, bulk, can_mark, &self.parameters, || (random.bits() >> 32) as u32)
    }

    /// Counts the time up to `now`; to be called before flows change their kind.
    fn tally(&mut self, now: u64) {
        self.times = self.flow_times(now);
        self.tallied = now;
    }

    /// As `tc -s` has the kinds (`cake_dump_stats`): a flow that decays is sparse.
    fn flow_times(&self, now: u64) -> FlowTimes {
        let since = |flows: u32| u128::from(flows) * u128::from(now.saturating_sub(self.tallied));
        FlowTimes {
            sparse: self.times.sparse + since(self.sparse + self.decays),
            bulk: self.times.bulk + since(self.bulk),
            unresponsive: self.times.unresponsive + since(self.counts.unresponsive),
        }
    }

    /// The queue loses a packet to make room.
    pub(super) fn overflowed(&mut self, now: u64, bucket: u32) {
        self.tally(now);
        let begins = self.buckets[bucket as usize].control.full(now, &self.parameters);
        self.counts.unresponsive += u32::from(begins);
    }

    /// The tin's threshold is used for `bytes`.
    pub(super) fn charge(&mut self, now: u64, bytes: u64) {
        let time = self.time.of(bytes);
        self.next = if self.next < now { self.next + time } else { self.next.max(now + time) };
    }

    pub(super) fn spend(&mut self, bucket: u32, bytes: i64) {
        self.credits[bucket as usize] -= bytes * PER_BYTE;
        self.deficit -= bytes;
    }

    /// A packet of `length` that waited for `sojourn` is sent.
    pub(super) fn sent(&mut self, sojourn: u64, length: u32) {
        let Counts { mean, peak, base, sent, bytes, .. } = &mut self.counts;
        *sent += 1;
        *bytes += u64::from(length);
        *mean = average(*mean, sojourn, 8);
        *peak = average(*peak, sojourn, if sojourn > *peak { 2 } else { 8 });
        *base = average(*base, sojourn, if sojourn < *base { 2 } else { 8 });
    }

    /// Takes out an acknowledgement of the flow `key` that `packet`, which came as `handle`, makes
    /// unnecessary (`cake_ack_filter`).
    pub(super) fn filter(
        &mut self,
        bucket: u32,
        key: u64,
        handle: Handle,
        packet: &Packet,
        is_aggressive: bool,
        store: &mut Store,
    ) -> Option<Packet> {
        let bucket = &mut self.buckets[bucket as usize];
        let before = bucket.last.replace(handle);
        let number = packet.acknowledges?;
        bucket.acknowledgements.retain(|(handle, _)| store.waiting(*handle).is_some());
        let (mut eligible, mut found): (Option<(Handle, Packet)>, i32) = (None, 0);
        let mut gone = None;
        for (older, _) in bucket.acknowledgements.iter().filter(|(_, of)| *of == key) {
            let Some(entry) = store.waiting(*older) else { continue };
            let old = *entry.packet;
            let is_alike = |other: &Packet| other.marks == old.marks && other.tos == old.tos;
            if eligible.is_some_and(|(_, first)| !is_alike(&first)) {
                eligible = None;
                found -= 1;
            }
            let ahead = old.acknowledges.map_or(0, |old| number.get().wrapping_sub(old.get()));
            if !(1..1 << 31).contains(&ahead) {
                continue;
            }
            eligible = eligible.or(Some((*older, old)));
            found += 1;
            if found > 1 {
                gone = eligible;
                break;
            }
        }
        let is_next = |(handle, first): &(Handle, Packet)| {
            before == Some(*handle) && first.marks == packet.marks && first.tos == packet.tos
        };
        gone = gone.or_else(|| eligible.filter(|first| is_aggressive && is_next(first)));
        bucket.acknowledgements.push_back((handle, key));
        let taken = gone.and_then(|(handle, _)| store.remove(handle))?;
        self.packets -= 1;
        self.counts.filtered += 1;
        Some(taken.packet)
    }

    /// Names what it counts.
    /// `now` in nanoseconds.
    pub(super) fn readings(&self, now: u64, visit: &mut dyn FnMut(Reading<'_>)) {
        let Counts { sent, bytes, dropped, marked, filtered, most, unresponsive, mean, peak, base } = self.counts;
        let seconds = |ns: u64| ns as f64 / 1e9;
        if let Some(threshold) = self.threshold {
            visit(Reading::real("threshold_bit_per_s", Unit::BitPerS, threshold as f64 * 8.0));
        }
        visit(Reading::real("target_s", Unit::Seconds, seconds(self.parameters.target)));
        visit(Reading::real("interval_s", Unit::Seconds, seconds(self.parameters.interval)));
        visit(Reading::count("sent_packets", Unit::Packets, sent));
        visit(Reading::count("sent_bytes", Unit::Bytes, bytes));
        visit(Reading::count("dropped", Unit::Packets, dropped));
        visit(Reading::count("marked", Unit::Packets, marked));
        visit(Reading::count("filtered", Unit::Packets, filtered));
        visit(Reading::real("delay_mean_s", Unit::Seconds, seconds(mean)));
        visit(Reading::real("delay_peak_s", Unit::Seconds, seconds(peak)));
        visit(Reading::real("delay_base_s", Unit::Seconds, seconds(base)));
        let FlowTimes { sparse, bulk, unresponsive: beyond } = self.flow_times(now);
        for (name, time) in FLOW_TIMES.iter().zip([sparse, bulk, beyond]) {
            visit(Reading::count(name, Unit::None, time));
        }
        visit(Reading::count("sparse_flows", Unit::None, self.sparse + self.decays));
        visit(Reading::count("bulk_flows", Unit::None, self.bulk));
        visit(Reading::count("unresponsive_flows", Unit::None, unresponsive));
        visit(Reading::count("longest_bytes", Unit::Bytes, most));
    }
}

/// A mean that forgets (`cake_ewma`).
const fn average(mean: u64, sample: u64, shift: u32) -> u64 {
    mean - (mean >> shift) + (sample >> shift)
}
