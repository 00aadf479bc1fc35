//! CAKE: a shaper, tins by DSCP, fairness among hosts and their flows, COBALT for each flow, and a
//! filter of acknowledgements, as Linux has it.
//!
//! Use when: one discipline should shape a home line, share it among hosts and flows, and keep
//! queues short. Without shaping and shares by host `fq_codel` is simpler; for a tree of rates use
//! `htb`.
//! Source: Hoeiland-Joergensen, Taht and Morton, "Piece of CAKE: A Comprehensive Queue Management
//! Solution for Home Gateways", LANMAN 2018, and Linux 6.1, sch_cake.c.
//! Rules: with a shaper the tin of highest priority sends whose threshold is not used up, else the
//! one that is scheduled first; without one tins take turns by a deficit (`cake_dequeue`,
//! `cake_advance_shaper`). Each tin has target, interval and quantum of its threshold
//! (`cake_set_rate`). A flow that wakes is sparse and goes before the bulk ones for a quantum; once
//! its credit is used up it is bulk; one that is found empty leaves, or waits among the decaying
//! ones, which are looked at first, until COBALT has forgotten it. The bulk flows of a host divide
//! its quantum; one that is empty and in debt is not counted among them, so that a host of many
//! connections that seldom have a packet waiting gets more than its part. A flow or a host has a
//! place of its own, or the next one of its set that is free (`cake_hash`). The last packet of a
//! queue may be marked and is never dropped but for room. The overflow takes the head of the queue
//! with most bytes over all tins (`cake_drop`).
//! Departs: a flow's quantum is exact to 1/65536 B, where Linux rounds it to a whole byte at random
//! for each turn (`cake_get_flow_quantum`), so that two runs of a kernel differ where hosts share;
//! a packet that needs more memory than there is is refused and takes no other with it; of equally
//! long queues that with the lowest number loses; no NAT look-up, no washing of DSCPs, no autorate,
//! no splitting of super-packets. The filter knows of an acknowledgement its number, marks and type
//! of service, not its options: it takes no selective one for pure.
//! Chosen: the flow is the classifier's if one is named, else the five-tuple. `memory` is Linux's
//! (`cake_reconfigure`): with a shaper what it sends in four intervals and at least 4 MiB, and no
//! more than 10240 packets of `mtu`. It counts as the kernel's does (`buffer_used`): a packet's
//! buffer and what describes it (`truesize`), as a socket makes them: 768 B for up to 176 B, 1280 B
//! for up to 688 B, 2304 B for up to 1712 B.
//! Cost: O(`ways`) to place a packet, O(1) a packet while a quantum is at least the largest packet,
//! O(log `queues`) for a drop that makes room.
//! Bound: Linux's order where nothing is random (docs/agreement/linux.md); hosts whose flows always
//! have packets waiting share evenly whatever their numbers of flows (cake.rs:
//! cake_shares_by_host_and_then_by_flow), but for two that begin together and have the same place
//! (cake.rs: cake_gives_hosts_that_wake_together_a_place_each); a tin below its threshold goes
//! first (cake.rs: cake_lets_voice_below_its_threshold_go_first); a busy shaper is exact to the
//! nanosecond (cake.rs: cake_shapes_exactly); flows meet far less often than by plain hashing
//! (cake.rs: cake_keeps_flows_apart); queues of one packet lose nothing without overload (cake.rs:
//! cake_never_drops_the_last_packet_of_a_queue), and BLUE holds a flood that a slow shaper cannot
//! send (cake.rs: cake_at_a_low_rate_has_a_buffer_from_which_blue_learns). Nothing leaves before
//! the shaper's time though the line is idle, and a flow that met others in a full set may be
//! reordered (cake.rs: cake_may_reorder_a_flow_whose_set_is_full).
//! Changes: a new limit counts from the next arrival on, and `memory` stands. The line's rate means
//! nothing to it: its shaper has its own. Weights, pacing and classes are refused.

mod cobalt;
mod presets;
mod rounds;
mod shaper;
mod tin;
mod tins;
mod ways;

use crate::buffer::codel::fault_of;
use crate::buffer::longest_queue_drop::LongestQueueDrop;
use crate::change::{Change, Unsupported};
use crate::classify;
use crate::contract::{
    BufferPolicy, Classifier, Dequeue, Discipline, End, Handle, Held, HeldPacket, Line, Slot, traits,
};
use crate::facts::{Facts, Need};
use crate::hash::Hash;
use crate::packet::{Fate, Fates, Header, Marks, Outcome, Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::truesize::truesize;
use crate::units::{Bytes, Limit, Rate, Time};
use crate::waiting::Waiting;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
pub use presets::{Preset, Rtt};
pub use shaper::Framing;
use shaper::{ByteTime, Overhead, Shaper};
use tin::Tin;
pub use tins::Tins;

/// Linux bounds the memory by its limit of packets (`cake_reconfigure`), and gives a shaper at
/// least `MEMORY_MIN` bytes.
const PACKETS_MAX: u64 = 10_240;
const MEMORY_MIN: u64 = 4 << 20;

/// The readings of how long flows were of each kind, of all flows together, since the start.
pub const FLOW_TIMES: [&str; 3] = ["sparse_flow_ns", "bulk_flow_ns", "unresponsive_flow_ns"];

/// Which acknowledgements are taken out that a later one makes unnecessary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum AckFilter {
    /// None.
    #[default]
    None,
    /// The first, where two are unnecessary.
    Conservative,
    /// The first, where two are, or the only one directly before the one that comes.
    Aggressive,
}

/// Which users get an equal share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Isolation {
    /// None: one queue.
    Blind,
    /// Each source.
    Source,
    /// Each destination.
    Destination,
    /// Each pair of hosts.
    Hosts,
    /// Each flow.
    Flows,
    /// Each source, then each of its flows.
    DualSource,
    /// Each destination, then each of its flows.
    DualDestination,
    /// Each source and each destination, then each of their flows.
    #[default]
    Triple,
}

settings! {
    /// Shaper, tins, isolation, COBALT and the filter.
    pub struct Settings {
        /// The rate of the shaper; without one packets leave as the line takes them.
        pub rate: Option<Rate> = None,
        /// The kind of line behind, which gives `overhead`, `mpu` and `framing` where they are not
        /// said.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub preset: Option<Preset> = None,
        /// Bytes that the line behind adds to a packet of the network layer; may be negative. If
        /// given, even as 0, it is in place of the link layer's header, where a packet's length has
        /// one; without it the length counts as it is.
        pub overhead: Option<i32> = None,
        /// Bytes that a packet takes there at least; without it the preset's, or 0.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub mpu: Option<u32> = None,
        /// How the line behind cuts packets up; without it the preset's, or not at all.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub framing: Option<Framing> = None,
        /// The classes.
        pub tins: Tins = Tins::Diffserv3,
        /// Which users get an equal share.
        pub isolation: Isolation = Isolation::Triple,
        /// How many queues a tin has.
        pub queues: u32 = 1024,
        /// In how many places of its set a flow may be.
        pub ways: u32 = 8,
        /// What a flow alone at its hosts may send in a turn; without it what its tin's threshold
        /// lets pass in 1/4096 s, from 300 to 1514 B, and 1514 B without a shaper.
        pub quantum: Option<Bytes> = None,
        /// How many bytes of the kernel's memory may be used, beside the limit; a packet of 1514 B
        /// takes 2304. Without it what the shaper sends in four intervals, from 4 MiB to 10240
        /// packets of `mtu`, and the latter without a shaper.
        pub memory: Option<Bytes> = None,
        /// The usual round trip by name or as a time: `interval`, and a twentieth of it as
        /// `target`, where they are not said.
        pub rtt: Rtt = Rtt::Internet,
        /// The delay that is acceptable, at least one and a half of the largest packets; without it
        /// by `rtt`.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub target: Option<Time> = None,
        /// How long the delay may be above the target: as much longer as the target is, and at
        /// least two targets; without it by `rtt`.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub interval: Option<Time> = None,
        /// The largest packet: with a shaper what waits no longer than four of them take is not
        /// late.
        pub mtu: Bytes = Bytes(1514),
        /// Whether packets that accept CE are marked in place of being dropped.
        pub ecn: bool = true,
        /// Which acknowledgements that a later one makes unnecessary are taken out.
        pub ack_filter: AckFilter = AckFilter::None,
        /// Whether the line to be shaped is before the gateway: drops are charged, and twice as
        /// many of the largest packets as there are bulk flows may always wait.
        pub ingress: bool = false,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        let classifier = match self.isolation {
            Isolation::Source => "source",
            Isolation::Destination => "destination",
            Isolation::Hosts => "pair",
            Isolation::Blind
            | Isolation::Flows
            | Isolation::DualSource
            | Isolation::DualDestination
            | Isolation::Triple => super::FIVE_TUPLE,
        };
        Facts {
            classifier: Some(classifier),
            needs: if self.ack_filter == AckFilter::None { &[] } else { &[Need::Acknowledges] },
            tells_flows_apart: self.isolation != Isolation::Blind,
            marks_congestion: self.ecn,
            own_limit: super::OWN_LIMIT,
            memory: Some(self.room()),
            ..Facts::PLAIN
        }
    }

    fn fault(&self, queue: &Queue) -> Option<String> {
        let fault = |text: &str| Some("cake: ".to_string() + text);
        use Isolation::{Blind, Destination, Hosts, Source};
        if queue.classifier.is_some() && matches!(self.isolation, Blind | Source | Destination | Hosts) {
            return fault("this isolation goes by hosts and asks for no flows; leave the classifier out");
        }
        if !(1..=1 << 16).contains(&self.queues) {
            return fault("queues is from 1 to 65536");
        }
        if self.ways == 0 || !self.queues.is_multiple_of(self.ways) {
            return fault("ways is at least 1 and divides queues");
        }
        if !self.overhead.is_none_or(|bytes| (-64..=256).contains(&bytes)) || self.mpu.is_some_and(|mpu| mpu > 256) {
            return fault("overhead is from -64 to 256, mpu at most 256");
        }
        let (target, interval) = self.times();
        let mtu = || crate::buffer::cobalt::mtu_fault("cake", self.mtu);
        let times = || fault_of("cake", target, interval).or_else(mtu);
        let quantum = self.quantum.unwrap_or(Bytes(1514));
        super::fault_of_queues("cake", self.queues, quantum, self.room()).or_else(times)
    }

    fn variants() -> Vec<Self> {
        // Few queues, little room, and impatient; and shaped to half of a slow line.
        let times = (Some(Time(1_000)), Some(Time(1_000_000)));
        let memory = Some(Bytes(5000));
        let (target, interval) = times;
        let eager = Self { queues: 4, ways: 2, memory, target, interval, mtu: Bytes(0), ..Self::default() };
        let isolation = Isolation::DualSource;
        let preset = Some(Preset::Conservative);
        let shaped = Self { rate: Rate::new(28_000), preset, tins: Tins::Diffserv4, ..Self::default() };
        let ingress = Self { rate: Rate::new(28_000), ingress: true, tins: Tins::Diffserv8, ..Self::default() };
        let filtered = Self { ack_filter: AckFilter::Aggressive, quantum: Some(Bytes(300)), isolation, ..eager };
        alloc::vec![filtered, shaped, ingress]
    }
}

impl Settings {
    /// Target and interval, said or by the round trip.
    fn times(&self) -> (Time, Time) {
        let (target, interval) = self.rtt.times();
        (self.target.unwrap_or(target), self.interval.unwrap_or(interval))
    }

    /// The bytes that may wait.
    fn room(&self) -> Bytes {
        let most = PACKETS_MAX.saturating_mul(self.mtu.0.max(1));
        let (_, interval) = self.times();
        let shaped = |rate: Rate| (rate.bits_in(interval) / 8).saturating_mul(4).max(MEMORY_MIN).min(most);
        self.memory.unwrap_or(Bytes(self.rate.map_or(most, shaped)))
    }

    fn overhead(&self) -> Overhead {
        let (bytes, mpu, framing) = self.preset.map_or((None, 0, Framing::None), Preset::line);
        Overhead {
            bytes: self.overhead.or(bytes),
            mpu: self.mpu.unwrap_or(mpu),
            framing: self.framing.unwrap_or(framing),
        }
    }
}

/// The whole discipline. Times are nanoseconds.
pub(super) struct Cake {
    settings: Settings,
    overhead: Overhead,
    shaper: Option<Shaper>,
    classifier: Box<dyn Classifier>,
    hash: Hash,
    tins: Vec<Tin>,
    /// The tin that was looked at last.
    current: usize,
    store: Store,
    /// What may wait of the kernel's memory, and what does (`buffer_used`).
    memory: u64,
    used: u64,
    full: LongestQueueDrop,
    random: Random,
}

/// Builds the discipline of `settings`.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    Box::new(Cake::new(settings, queue, queue.capacity(), line))
}

impl Cake {
    /// An empty one that holds what `limit` says.
    pub(super) fn new(settings: &Settings, queue: &Queue, limit: Limit, line: &Line) -> Self {
        let rate = settings.rate.map(|rate| rate.bit_per_s() / 8);
        let names = settings.tins.names();
        Self {
            overhead: settings.overhead(),
            shaper: rate.map(|rate| Shaper::new(ByteTime::new(rate))),
            classifier: queue.classifier().boxed(line),
            hash: Hash::new(line.seed),
            tins: (0..names.len()).map(|at| Tin::new(settings, at, rate)).collect(),
            current: 0,
            store: Store::new(limit),
            memory: settings.room().0,
            used: 0,
            full: LongestQueueDrop::of_fattest(settings.room()).with_lowest_losing(true),
            random: Random::new(line.seed, "cake"),
            settings: settings.clone(),
        }
    }

    /// The shaper has `rate` bytes a second from now (`cake_configure_rates`).
    pub(super) fn set_rate(&mut self, rate: u64) {
        if let Some(shaper) = &mut self.shaper {
            shaper.set_time(ByteTime::new(rate));
        }
        for (at, tin) in self.tins.iter_mut().enumerate() {
            tin.set_threshold(&self.settings, self.settings.tins.threshold(at, rate));
        }
    }

    /// The flow's key under the isolation, and its hosts'.
    fn keys(&self, header: &Header) -> (u64, [u64; 2]) {
        let hosts = [&header.source, &header.destination].map(|host| self.hash.of_fields(&classify::words(host)));
        let key = match self.settings.isolation {
            Isolation::Blind => 0,
            Isolation::Source => hosts[0],
            Isolation::Destination => hosts[1],
            Isolation::Hosts => self.hash.of_fields(&hosts),
            _ => self.classifier.key(header, self.hash),
        };
        (self.hash.of_fields(&[key]), hosts)
    }

    fn place_of(&self, queue: Slot) -> (usize, u32) {
        ((queue / self.settings.queues) as usize, queue % self.settings.queues)
    }

    /// The packet at the head of `queue` goes; its bytes on the line behind.
    fn drop_head(&mut self, now: u64, queue: Slot, reason: Reason, fates: &mut Fates) -> u64 {
        let Some(gone) = self.store.pop(queue, End::Front) else { return 0 };
        fates.push(Fate { packet: gone.packet, outcome: Outcome::Dropped(reason) });
        self.used -= truesize(gone.packet.length);
        let (tin, _) = self.place_of(queue);
        self.tins[tin].counts.dropped += 1;
        self.tins[tin].packets -= 1;
        let bytes = self.overhead.adjusted(&gone.packet);
        if self.settings.ingress {
            self.charge(now, tin, bytes, false);
        }
        bytes
    }

    /// The shaper and the tin's threshold are used for `bytes`.
    fn charge(&mut self, now: u64, tin: usize, bytes: u64, is_sent: bool) {
        if let Some(shaper) = &mut self.shaper {
            self.tins[tin].charge(now, bytes);
            shaper.charge(bytes, is_sent);
        }
    }

    fn make_room(&mut self, now: u64, arriving: Slot, fates: &mut Fates) {
        while self.store.is_over_limit() || self.used > self.memory {
            let Some((queue, longest)) = self.full.fattest(&self.store, arriving) else { return };
            // Where memory lacks, the limit has room left.
            let reason = if self.store.is_over_limit() { longest } else { Reason::OverShare };
            let (tin, bucket) = self.place_of(queue);
            self.tins[tin].overflowed(now, bucket);
            self.drop_head(now, queue, reason, fates);
        }
    }

    /// The tin to serve: without a shaper round robin, else the highest that may send, or the first
    /// that will.
    fn choose_tin(&mut self, now: u64) -> Option<usize> {
        if self.shaper.is_some() {
            let mut best: Option<(u64, usize)> = None;
            for (at, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
                let wait = tin.next.saturating_sub(now);
                if wait == 0 || best.is_none_or(|(least, _)| wait <= least) {
                    best = Some((wait, at));
                }
            }
            return best.map(|(_, at)| at);
        }
        if !self.tins.iter().any(Tin::is_active) {
            return None;
        }
        let mut at = self.current;
        while self.tins[at].deficit < 0 || !self.tins[at].is_active() {
            let tin = &mut self.tins[at];
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            at = (at + 1) % self.tins.len();
        }
        Some(at)
    }

    /// Looks at the flows of a tin: the queue that sends; none if one was found empty, and a tin is
    /// to be chosen again.
    fn serve_tin(&mut self, now: u64, at: usize, is_first: &mut bool, fates: &mut Fates) -> Option<Slot> {
        let ingress = self.settings.ingress;
        loop {
            let bucket = self.tins[at].turn(now, is_first, &self.store)?;
            let queue = self.tins[at].first + bucket;
            loop {
                let Some(head) = self.store.head(queue).map(|(head, _)| *head) else {
                    self.tins[at].found_empty(now, bucket);
                    return None;
                };
                let is_last = self.store.queue_packets(queue) == 1;
                let can_mark = self.settings.ecn && head.accepts.intersects(Marks::CE);
                let sojourn = now - head.arrival.0 / 1000;
                let (is_marked, is_dropped) =
                    self.tins[at].judge(now, bucket, sojourn, ingress, can_mark, &mut self.random);
                if is_dropped && !is_last {
                    let bytes = self.drop_head(now, queue, Reason::Early, fates) as i64;
                    if ingress {
                        self.tins[at].spend(bucket, bytes);
                        break;
                    }
                    continue;
                }
                if is_marked {
                    self.tins[at].counts.marked += 1;
                    let marked = self.store.mark_head(queue, Marks::CE).copied();
                    fates.extend(marked.map(|packet| Fate { packet, outcome: Outcome::Marked(Marks::CE) }));
                }
                let bytes = self.overhead.adjusted(&head);
                self.tins[at].sent(sojourn, head.length);
                self.charge(now, at, bytes, true);
                self.tins[at].spend(bucket, bytes as i64);
                return Some(queue);
            }
        }
    }
}

impl Discipline for Cake {
    traits!();

    fn enqueue(&mut self, time: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        let now = time.0 / 1000;
        let is_too_long = self.store.is_too_short_for(packet.length);
        if is_too_long || truesize(packet.length) > self.memory {
            let reason = if is_too_long { Reason::TooLong } else { Reason::OverShare };
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
            return None;
        }
        let (key, hosts) = self.keys(header);
        let at = self.settings.tins.of(header.tos);
        let bucket = self.tins[at].bucket(key, hosts);
        let queue = self.tins[at].first + bucket;
        if self.tins[at].packets == 0 {
            self.tins[at].next = self.tins[at].next.max(now);
            if let Some(shaper) = self.shaper.as_mut().filter(|_| self.store.packets() == 0) {
                shaper.wake(now);
            }
        }
        let (handle, _) = self.store.push(&packet, 0, queue, queue);
        self.tins[at].packets += 1;
        self.used += truesize(packet.length);
        self.tins[at].counts.most = self.tins[at].counts.most.max(packet.length);
        if self.settings.ack_filter != AckFilter::None {
            let is_aggressive = self.settings.ack_filter == AckFilter::Aggressive;
            if let Some(gone) = self.tins[at].filter(bucket, key, handle, &packet, is_aggressive, &mut self.store) {
                fates.push(Fate { packet: gone, outcome: Outcome::Dropped(Reason::Redundant) });
                self.used -= truesize(gone.length);
                if self.settings.ingress {
                    let bytes = self.overhead.adjusted(&gone);
                    self.charge(now, at, bytes, false);
                }
            }
        }
        self.tins[at].wake(now, bucket);
        self.full.joined(time, &self.store, HeldPacket { queue, flow: queue, handle, packet: &packet });
        self.make_room(now, queue, fates);
        self.store.waiting(handle).is_some().then_some(handle)
    }

    fn dequeue(&mut self, time: Time, fates: &mut Fates) -> Dequeue {
        self.store.end_serving();
        let (now, mut is_first) = (time.0 / 1000, true);
        while self.store.packets() > 0 {
            if let Some(next) = self.shaper.map(|shaper| shaper.next()).filter(|next| *next > now) {
                return Dequeue::NotBefore(Time(next.saturating_mul(1000)));
            }
            let Some(at) = self.choose_tin(now) else { break };
            self.current = at;
            if let Some(queue) = self.serve_tin(now, at, &mut is_first, fates) {
                self.store.serve(queue);
                self.tins[at].packets -= 1;
                let Some(packet) = self.store.serving().map(|entry| *entry.packet) else { break };
                self.used -= truesize(packet.length);
                return Dequeue::Send(packet);
            }
        }
        Dequeue::Empty
    }

    fn held(&self) -> Held {
        self.store.held()
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.store.change(change)
    }

    fn remove(&mut self, _now: Time, handle: Handle) -> Option<Packet> {
        let gone = self.store.remove(handle)?;
        let (tin, _) = self.place_of(gone.queue);
        self.tins[tin].packets -= 1;
        self.used -= truesize(gone.packet.length);
        Some(gone.packet)
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("backlogged_queues", Unit::None, self.store.backlogged_queues()));
        for (name, tin) in self.settings.tins.names().iter().zip(&self.tins) {
            tin.readings(now.0 / 1000, &mut |reading| visit(reading.of_queue(name)));
            let queues = tin.first..tin.first + self.settings.queues;
            let bytes: u64 = queues.map(|queue| self.store.queue_bytes(queue)).sum();
            visit(Reading::count("backlog_bytes", Unit::Bytes, bytes).of_queue(name));
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.store.show(visit);
    }
}
