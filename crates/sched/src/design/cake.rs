//! CAKE: a shaper, tins by DSCP, fairness among hosts and their flows, COBALT for each flow, and a filter of
//! acknowledgements.
//!
//! Source: Hoeiland-Joergensen, Taht and Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home
//! Gateways", LANMAN 2018, and the Linux qdisc (sch_cake.c); the shares of tins and the ways are settings; BLUE's steps are
//! the defaults of `cobalt`.
//! Departs: tins share the line by weights, shaped or not (Linux gives a tin under its share priority while it shapes);
//! all tins have one target and one quantum, by the rate of all (Linux: each by its own share of it); no NAT look-up, no
//! washing of DSCPs, no autorate, no splitting of super-packets, of the tins' maps only the three named; a full buffer
//! drops from the head of the queue with most bytes over all tins. The filter takes out the last acknowledgement of the
//! flow if it still waits, not earlier ones, and leaves duplicates and those with other marks.
//! Chosen: a flow's quantum is divided by the greater number of its hosts' busy flows, exact to 1/65536 B in place of
//! random rounding; the flow is the classifier's if one is named, else the five-tuple; without a shaper the times of
//! packets are those of the line, which Linux does not know. The last packet of a queue may be marked and is never dropped
//! but for room (`cake_dequeue`). `memory` is Linux's (`cake_reconfigure`): with a shaper what it sends in four intervals and
//! at least 4 MiB, and no more than 10240 packets of `mtu`; Linux counts its own bookkeeping of a packet too.
//! Cost: O(`ways`) to place a packet, a turn of the tins and of DRR++, O(log `queues`) for a drop that makes room.
//! Bound: hosts share evenly whatever their numbers of flows (cake.rs: cake_shares_by_host_and_then_by_flow), tins by
//! their weights (cake.rs: cake_shares_the_line_among_tins_by_weight); at no time has more left than the rate
//! allows, and a busy shaper is exact (cake.rs: cake_shapes_exactly); flows meet far less often than by plain
//! hashing (cake.rs: cake_keeps_flows_apart); CoDel signals nothing that waits for no more than four of the largest
//! packets, however slow the line (cake.rs: cake_lets_four_packets_wait_on_a_slow_line), on which turns are short
//! (cake.rs: cake_gives_short_turns_on_a_slow_line); the last acknowledgement always stays (cake.rs:
//! cake_filters_acknowledgements_and_keeps_what_they_say); queues of one packet lose nothing without overload (cake.rs:
//! cake_never_drops_the_last_packet_of_a_queue), and BLUE holds a flood that a slow shaper cannot send (cake.rs:
//! cake_at_a_low_rate_has_a_buffer_from_which_blue_learns). Nothing leaves before the shaper's time though the line is
//! idle, and a flow that met others in a full set may be reordered, for it may change queues while packets of it wait
//! (cake.rs: cake_may_reorder_a_flow_whose_set_is_full).

mod book;
mod shaper;
mod tins;
mod ways;

use crate::buffer::cobalt;
use crate::buffer::codel::fault_of;
use crate::buffer::longest_queue_drop::LongestQueueDrop;
use crate::classify;
use crate::contract::{
    BufferPolicy, Classifier, Dequeue, Discipline, End, Flow, Handle, Held, Line, Slot, Stay, Verdict, Victim,
};
use crate::hash::Hash;
use crate::law::cobalt::{Judgement, Parameters};
use crate::packet::{Fate, Fates, Header, Marks, Outcome, Packet, Reason};
use crate::part::{Need, Part};
use crate::queue::Queue;
use crate::random::Random;
use crate::registry::ClassifierSettings;
use crate::store::{Store, Taken};
use crate::turns::{Listed, Turns, View};
use crate::units::{Bytes, Limit, Rate, Time};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use book::{Book, Bucket, Flows, Host, PER_BYTE};
pub use shaper::Framing;
use shaper::{Overhead, Shaper};
pub use tins::Tins;
use tins::{BEST_EFFORT, BULK, TINS, VIDEO, VOICE};
use ways::Ways;

/// Linux bounds the memory by its limit of packets (`cake_reconfigure`), and gives a shaper at least so many bytes.
const PACKETS_MAX: u64 = 10_240;
const MEMORY_MIN: u64 = 4 << 20;

/// Who gets an equal share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Isolation {
    /// Nobody: one queue.
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

/// Shaper, tins, isolation, COBALT and the filter.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// The rate of the shaper; without one packets leave as the line takes them.
    pub rate: Option<Rate>,
    /// Bytes that the line behind adds to a packet of the network layer; may be negative. If given, even as 0, it is in place of
    /// the link layer's header, where a packet's length has one; without it the length counts as it is.
    pub overhead: Option<i32>,
    /// Bytes that a packet takes there at least.
    pub least: u32,
    /// How the line behind cuts packets up.
    pub framing: Framing,
    /// The classes.
    pub tins: Tins,
    /// The share of the bulk tin; best effort has 1024.
    pub bulk: u32,
    /// The share of the video tin.
    pub video: u32,
    /// The share of the voice tin.
    pub voice: u32,
    /// Who gets an equal share.
    pub isolation: Isolation,
    /// How many queues a tin has.
    pub queues: u32,
    /// In how many places of its set a flow may be.
    pub ways: u32,
    /// What a flow alone at its hosts may send in a turn; without it what the shaper lets pass in 1/4096 s, from 300 to
    /// 1514 B, and 1514 B without a shaper.
    pub quantum: Option<Bytes>,
    /// How many bytes may wait at most, beside the limit; without it what the shaper sends in four intervals, from 4 MiB to
    /// 10240 packets of `mtu`, and the latter without a shaper.
    pub memory: Option<Bytes>,
    /// The delay that is acceptable, at least one and a half of the largest packets.
    pub target: Time,
    /// How long the delay may be above the target: as much longer as the target is, and at least two targets.
    pub interval: Time,
    /// The largest packet: what waits no longer than four of them take is not late.
    pub mtu: Bytes,
    /// Whether packets that accept CE are marked in place of being dropped.
    pub ecn: bool,
    /// Whether acknowledgements that a later one makes unnecessary are taken out.
    pub ack_filter: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let cobalt::Settings { target, interval, mtu, ecn, .. } = cobalt::Settings::default();
        Self {
            rate: None,
            overhead: None,
            least: 0,
            framing: Framing::None,
            tins: Tins::Diffserv3,
            bulk: 64,
            video: 512,
            voice: 256,
            isolation: Isolation::Triple,
            queues: 1024,
            ways: 8,
            quantum: None,
            memory: None,
            target,
            interval,
            mtu,
            ecn,
            ack_filter: false,
        }
    }
}

impl Part for Settings {
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
        if [self.bulk, self.video, self.voice].iter().any(|share| !(1..=1 << 16).contains(share)) {
            return fault("bulk, video and voice are from 1 to 65536");
        }
        if !self.overhead.is_none_or(|bytes| (-64..=256).contains(&bytes)) || self.least > 256 {
            return fault("overhead is from -64 to 256, least at most 256");
        }
        let times = || fault_of("cake", self.target, self.interval).or_else(|| cobalt::mtu_fault("cake", self.mtu));
        super::fault_of_queues("cake", self.queues, self.quantum(), self.room()).or_else(times)
    }

    fn needs(&self) -> &'static [Need] {
        if self.ack_filter { &[Need::Acknowledges] } else { &[] }
    }

    fn tells_flows_apart(&self) -> bool {
        self.isolation != Isolation::Blind
    }

    fn variants() -> Vec<Self> {
        // Few queues, little room, and impatient; and shaped to half of a slow line.
        let (target, interval) = (Time(1), Time(1_000_000));
        let memory = Some(Bytes(5000));
        let eager = Self { queues: 4, ways: 2, memory, target, interval, mtu: Bytes(0), ..Self::default() };
        let isolation = Isolation::DualSource;
        let framing = Framing::Atm;
        let shaped =
            Self { rate: Rate::new(28_000), overhead: Some(44), framing, tins: Tins::Diffserv4, ..Self::default() };
        alloc::vec![Self { ack_filter: true, quantum: Some(Bytes(300)), isolation, ..eager }, shaped]
    }

    fn own_limit(&self) -> Limit {
        super::OWN_LIMIT
    }

    fn memory(&self) -> Option<Bytes> {
        Some(self.room())
    }

    fn usual_classifier(&self) -> Option<ClassifierSettings> {
        match self.isolation {
            Isolation::Source => Some(ClassifierSettings::Source(Default::default())),
            Isolation::Destination => Some(ClassifierSettings::Destination(Default::default())),
            Isolation::Hosts => Some(ClassifierSettings::Pair(Default::default())),
            Isolation::Blind
            | Isolation::Flows
            | Isolation::DualSource
            | Isolation::DualDestination
            | Isolation::Triple => super::five_tuple(),
        }
    }
}

impl Settings {
    /// What a flow alone at its hosts may send in a turn.
    fn quantum(&self) -> Bytes {
        let by_rate = self.rate.map_or(1514, |rate| (rate.bit_per_s() / (8 * 4096)).clamp(300, 1514));
        self.quantum.unwrap_or(Bytes(by_rate))
    }

    /// The bytes that may wait.
    fn room(&self) -> Bytes {
        let most = PACKETS_MAX.saturating_mul(self.mtu.0.max(1));
        let shaped = |rate: Rate| (rate.bits_in(self.interval) / 8).saturating_mul(4).max(MEMORY_MIN).min(most);
        self.memory.unwrap_or(Bytes(self.rate.map_or(most, shaped)))
    }

    /// COBALT's times on a line of `line`, or at the shaper's rate.
    fn parameters(&self, line: Rate) -> Parameters {
        let Self { target, interval, mtu, .. } = *self;
        let usual = cobalt::Settings { target, interval, mtu, ..Default::default() };
        let parameters = usual.parameters(self.rate.unwrap_or(line));
        // target' = max(target, 3/2 packets), interval' = max(interval + target' − target, 2 target')
        let packets = Time((parameters.packet_time.0 / 2).saturating_mul(3));
        let least = target.max(packets);
        let longer = interval.saturating_add(least - target).max(least.saturating_add(least));
        Parameters { target: least, interval: longer, ..parameters }
    }
}

/// One tin.
struct Tin {
    flows: Ways,
    places: [Ways; 2],
    turns: Turns,
    book: Book,
}

/// The tins' shares of the line, and which of them have something to send.
struct Shares<'a> {
    tins: &'a [Tin],
    shares: [u32; TINS],
}

impl View for Shares<'_> {
    fn waits(&self, tin: Slot) -> bool {
        self.tins[tin as usize].book.packets > 0
    }

    fn quantum(&self, tin: Slot) -> i64 {
        i64::from(self.shares[tin as usize])
    }
}

/// The whole discipline.
struct Cake {
    settings: Settings,
    parameters: Parameters,
    overhead: Overhead,
    shaper: Option<Shaper>,
    classifier: Box<dyn Classifier>,
    hash: Hash,
    tins: Vec<Tin>,
    shares: [u32; TINS],
    turns: Turns,
    store: Store,
    full: LongestQueueDrop,
    random: Random,
}

/// Builds it.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    let mut shares = [1024; TINS];
    (shares[BULK], shares[VIDEO], shares[VOICE]) = (settings.bulk, settings.video, settings.voice);
    debug_assert_eq!(shares[BEST_EFFORT], 1024);
    Box::new(Cake {
        parameters: settings.parameters(line.rate),
        overhead: Overhead { bytes: settings.overhead, least: settings.least, framing: settings.framing },
        shaper: settings.rate.map(Shaper::new),
        classifier: queue.classifier().boxed(line),
        hash: Hash::new(line.seed),
        tins: (0..TINS as u32).map(|tin| Tin::new(settings, tin * settings.queues)).collect(),
        shares,
        turns: Turns::new(),
        store: Store::new(queue.capacity()),
        full: LongestQueueDrop::of_fattest(settings.room()),
        random: Random::new(line.seed, "cake"),
        settings: settings.clone(),
    })
}

impl Tin {
    fn new(settings: &Settings, first: Slot) -> Self {
        let Settings { queues, ways, isolation, .. } = *settings;
        let table = || Ways::new(queues, ways);
        let hosts = || alloc::vec![Host::default(); queues as usize];
        let triple = isolation == Isolation::Triple;
        let counts = [triple || isolation == Isolation::DualSource, triple || isolation == Isolation::DualDestination];
        Self {
            flows: table(),
            places: [table(), table()],
            turns: Turns::new(),
            book: Book {
                first,
                packets: 0,
                buckets: alloc::vec![Bucket::default(); queues as usize],
                hosts: [hosts(), hosts()],
                counts,
                quanta: book::quanta(settings.quantum().0 as i64 * PER_BYTE, queues),
            },
        }
    }

    /// The queue of the flow `key` between `hosts`; if it was idle it becomes active.
    fn bucket(&mut self, key: u64, hosts: [u64; 2]) -> Slot {
        let turns = &self.turns;
        let bucket = self.flows.place(key, |place| turns.listed(place) == Listed::Out);
        if self.turns.listed(bucket) == Listed::Out {
            for (side, host) in hosts.into_iter().enumerate() {
                let known = &mut self.book.hosts[side];
                let place = self.places[side].place(host, |place| known[place as usize].queues == 0);
                known[place as usize].queues += 1;
                self.book.buckets[bucket as usize].hosts[side] = place;
            }
        }
        bucket
    }
}

impl Cake {
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

    /// Takes out the flow's last acknowledgement if `packet` makes it unnecessary.
    fn filter(&mut self, now: Time, tin: usize, bucket: Slot, key: u64, packet: &Packet, fates: &mut Fates) {
        let Some(number) = packet.acknowledges.filter(|_| self.settings.ack_filter) else { return };
        let last = self.tins[tin].book.buckets[bucket as usize].acknowledgement;
        let Some((handle, _)) = last.filter(|(_, of)| *of == key) else { return };
        let is_older = self.store.waiting(handle).is_some_and(|entry| {
            let ahead = entry.packet.acknowledges.map_or(0, |old| number.get().wrapping_sub(old.get()));
            let same = entry.packet.marks == packet.marks && entry.packet.tos == packet.tos;
            same && (1..1 << 31).contains(&ahead)
        });
        if is_older && let Some(gone) = self.store.remove(handle) {
            self.drop(now, &gone, Reason::Redundant, fates);
        }
    }

    fn drop(&mut self, now: Time, gone: &Taken, reason: Reason, fates: &mut Fates) {
        fates.push(Fate { packet: gone.packet, outcome: Outcome::Dropped(reason) });
        self.left(now, gone.queue);
    }

    /// A packet has left `queue`.
    fn left(&mut self, now: Time, queue: Slot) {
        let tin = &mut self.tins[(queue / self.settings.queues) as usize];
        tin.book.packets -= 1;
        if self.store.queue_packets(queue) == 0 {
            tin.book.buckets[(queue - tin.book.first) as usize].control.emptied(now, &self.parameters);
        }
        if tin.book.packets == 0 {
            tin.turns.clear(&mut Flows { book: &mut tin.book, store: &self.store });
        }
        if self.store.packets() == 0 {
            self.turns.clear(&mut Shares { tins: &self.tins, shares: self.shares });
        }
    }

    fn make_room(&mut self, now: Time, arriving: Slot, fates: &mut Fates) {
        while let Some((Victim::End(queue, end), reason)) = self.full.victim(now, &self.store, arriving) {
            let Some(gone) = self.store.pop(queue, end) else { break };
            let tin = &mut self.tins[(queue / self.settings.queues) as usize];
            tin.book.buckets[(queue - tin.book.first) as usize].control.full(now, &self.parameters);
            self.drop(now, &gone, reason, fates);
        }
    }

    /// The tin and the queue in it that send next.
    fn next(&mut self) -> Option<(usize, Slot)> {
        let tin = self.turns.next(&mut Shares { tins: &self.tins, shares: self.shares })? as usize;
        let Tin { turns, book, .. } = &mut self.tins[tin];
        let bucket = turns.next(&mut Flows { book, store: &self.store })?;
        Some((tin, bucket))
    }

    /// What becomes of the head of `queue`: dropped, or sent with these marks.
    fn judge(&mut self, now: Time, tin: usize, bucket: Slot, head: &Packet) -> Result<Marks, Reason> {
        let draw = self.random.unit();
        let book = &mut self.tins[tin].book;
        let is_last = self.store.queue_packets(book.first + bucket) == 1;
        let can_mark = self.settings.ecn && head.accepts.intersects(Marks::CE);
        let control = &mut book.buckets[bucket as usize].control;
        match control.judge(now, now - head.arrival, can_mark, draw, &self.parameters) {
            Judgement::Signal if can_mark => Ok(Marks::CE),
            Judgement::Signal | Judgement::Drop if !is_last => Err(Reason::Early),
            Judgement::Signal | Judgement::Drop | Judgement::Pass => Ok(Marks::NONE),
        }
    }
}

impl Discipline for Cake {
    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        let tin = self.settings.tins.of(header.tos);
        let flow = Flow::of_slot(0);
        if let Verdict::Drop(reason) = self.full.admit(now, &self.store, 0, flow, &mut { packet }) {
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
            return None;
        }
        let (key, hosts) = self.keys(header);
        let bucket = self.tins[tin].bucket(key, hosts);
        self.begin(tin, bucket);
        let queue = self.tins[tin].book.first + bucket;
        let was_empty = self.store.queue_packets(queue) == 0;
        let (handle, _) = self.store.push(&packet, 0, queue, queue);
        self.tins[tin].book.packets += 1;
        if self.tins[tin].turns.listed(bucket) == Listed::Old {
            self.tins[tin].book.set_busy(bucket, true);
        }
        if was_empty {
            self.tins[tin].book.buckets[bucket as usize].control.wakes(now, &self.parameters);
        }
        self.filter(now, tin, bucket, key, &packet, fates);
        if packet.acknowledges.is_some() {
            self.tins[tin].book.buckets[bucket as usize].acknowledgement = Some((handle, key));
        }
        self.full.joined(now, &self.store, Stay { queue, flow: queue, handle, packet: &packet });
        self.make_room(now, queue, fates);
        self.store.waiting(handle).is_some().then_some(handle)
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.store.end_serving();
        if self.store.packets() == 0 {
            return Dequeue::Empty;
        }
        if let Some(time) = self.shaper.map(|shaper| shaper.next()).filter(|time| *time > now) {
            return Dequeue::NotBefore(time);
        }
        while let Some((tin, bucket)) = self.next() {
            let queue = self.tins[tin].book.first + bucket;
            let Some(head) = self.store.head(queue).map(|(head, _)| *head) else { break };
            match self.judge(now, tin, bucket, &head) {
                Err(reason) => {
                    if let Some(gone) = self.store.pop(queue, End::Front) {
                        self.drop(now, &gone, reason, fates);
                    }
                    continue;
                }
                Ok(Marks::NONE) => {}
                Ok(marks) => {
                    let marked = self.store.mark_head(queue, marks).copied();
                    fates.extend(marked.map(|packet| Fate { packet, outcome: Outcome::Marked(marks) }));
                }
            }
            let bytes = self.overhead.adjusted(&head);
            self.turns.charge(tin as Slot, bytes as i64);
            self.tins[tin].turns.charge(bucket, bytes as i64 * PER_BYTE);
            if let Some(shaper) = &mut self.shaper {
                shaper.send(now, bytes);
            }
            self.store.serve(queue);
            self.left(now, queue);
            let Some(entry) = self.store.serving() else { break };
            return Dequeue::Send(*entry.packet);
        }
        Dequeue::Empty
    }

    fn held(&self) -> Held {
        Held { packets: self.store.packets(), bytes: self.store.bytes() }
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        let gone = self.store.remove(handle)?;
        self.left(now, gone.queue);
        Some(gone.packet)
    }

    fn rate_changed(&mut self, _now: Time, rate: Rate) {
        self.parameters = self.settings.parameters(rate);
    }

    fn notes_idle(&self) -> bool {
        false
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("backlogged_queues", f64::from(self.store.backlogged_queues()));
    }
}

impl Cake {
    /// Puts the tin and its queue on the lists, if they are not.
    fn begin(&mut self, tin: usize, bucket: Slot) {
        self.turns.begin(tin as Slot, i64::from(self.shares[tin]));
        let Tin { turns, book, .. } = &mut self.tins[tin];
        let quantum = Flows { book, store: &self.store }.quantum(bucket);
        turns.begin(bucket, quantum);
    }
}
