//! Linux's fq: flows take turns by credit, a flow with a pacing rate waits for its time, and no
//! flow may queue more than its part.
//!
//! Use when: the queue is that of a sending host whose connections are paced, as with `bbr`. It
//! keeps no queue short: at a router use `fq_codel`. With composed parts in place of the kernel's
//! rules, `fq_pacing`.
//! Source: Linux 6.1, sch_fq.c (E. Dumazet); the bands and their weights are those of Linux 6.7 and
//! later.
//! Rules: a flow that wakes is new and goes before the old ones, with what is left of its credit,
//! and with a whole quantum at least if it has rested longer than `refill_delay`, counted in ticks
//! (`fq_enqueue`); it sends while its credit is above 0 (`fq_dequeue`). A new flow that empties
//! joins the old ones if there are any. While nothing waits no list is looked at. A packet that
//! finds `flow_limit` packets of its flow, or the limit reached, is dropped. A paced flow waits
//! after each quantum, or after each packet at up to `low_rate_threshold`; lateness of up to half
//! of the wait is made up. Where the line waits for a flow's time, the timer comes `timer_slack`
//! later (`qdisc_watchdog_schedule_range_ns`); where something else makes the line ask in between,
//! the packet goes at once.
//! Departs: flows are what the classifier says, the five-tuple without one, not sockets; packets
//! carry no departure times, so that there is no horizon; ticks begin with the run, and Linux takes
//! the next tick for a rest that begins at an even one (`fq_flow_set_detached`), so that a flow may
//! have a whole quantum a tick sooner or later; no packet is the kernel's own (`internal`).
//! `ce_threshold` counts the wait since arrival, the time in which pacing held the packet back too.
//! As in Linux, weights of flows are not used.
//! Chosen: without `weights`, as in Linux 6.1, there is one band. With them the rules are Linux
//! 6.7's: a packet belongs to the band that `priomap` gives the priority of its type of service,
//! and a limit in packets is a band's (`fq_enqueue`); a flow that wakes joins the new ones of the
//! band of its last packet before, and the old ones of the band of its last packet; a new flow that
//! empties joins the old ones in any case; a band sends its weight in bytes, then the next one has
//! its turn, and as bands begin with none, the second one's comes first (`fq_dequeue`). A limit in
//! bytes is that of all together.
//! Cost: O(1) a packet while the quantum is at least the largest packet, else O(N); O(log N) for a
//! flow that is held back.
//! Bound: Linux's order to the packet (docs/agreement/linux.md). A line whose flows are all held
//! back is idle though packets wait.
//! Changes: a pacing rate counts from the flow's next packet sent on; a wait that has begun stands.
//! A new limit in packets is, unlike the setting, that of all bands together and divided among
//! them. The line's rate means nothing to it; weights and classes are refused.

use crate::change::{Change, Unsupported, of_each};
use crate::compose::Composition;
use crate::contract::{BufferPolicy, Discipline, Flow, Gone, HeldPacket, Line, Next, Scheduler, Slot, Tag, Verdict};
use crate::facts::Facts;
use crate::heap::Heap;
use crate::mark::step::Step;
use crate::packet::{Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit, no_readings, show_paces};
use crate::ring::Ring;
use crate::schedule::fq_pacing::Place;
use crate::slots::entry;
use crate::store::Store;
use crate::tos::{self, PRIOMAP, PRIORITIES};
use crate::traits::Traits;
use crate::units::{Bytes, Limit, PS_PER_S, Rate, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// Credits, limits, pacing and bands.
    pub struct Settings {
        /// Packets that may wait of a flow.
        pub flow_limit: u32 = 100,
        /// What a flow may send in a turn, 64 B to 1 MiB.
        pub quantum: Bytes = Bytes(3028),
        /// What a flow may send in its first turn, 64 B to 1 MiB.
        pub initial_quantum: Bytes = Bytes(15_140),
        /// How long a flow is idle before it has a whole quantum again.
        pub refill_delay: Time = Time::from_ms(40),
        /// A cap on every flow's rate, beside what its transport asks for.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub maxrate: Option<Rate> = None,
        /// How much later than a paced flow's time a packet leaves if the line waited for it: the
        /// slack of the kernel's timer.
        pub timer_slack: Time = TIMER_SLACK,
        /// A flow with no more than this is paced packet by packet, one with more quantum by
        /// quantum.
        pub low_rate_threshold: Rate = LOW_RATE,
        /// A packet that accepts CE and has waited longer is marked.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub ce_threshold: Option<Time> = None,
        /// The kernel's tick, in which a flow's rest is counted.
        pub tick: Time = Time::from_ms(1),
        /// What each band may send in a turn; none: one band, as before Linux 6.7, which gives
        /// 589824, 196608 and 65536 B.
        pub weights: Vec<Bytes> = Vec::new(),
        /// The band of each priority from 0 to 15.
        pub priomap: Vec<u8> = PRIOMAP.to_vec(),
    }
}

/// 550 kbit/s.
const LOW_RATE: Rate = match Rate::new(550_000) {
    Some(rate) => rate,
    None => Rate::MAX,
};

/// 10 us (`fq_init`).
const TIMER_SLACK: Time = Time(10_000_000);

/// What may wait if the scenario says nothing (`tc fq` and `fq_init`).
const OWN_LIMIT: Limit = Limit::Packets(10_000);

/// The longest wait of a paced flow.
const WAIT_MAX: Time = Time::from_s(1);

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts {
            classifier: Some(super::FIVE_TUPLE),
            marks_congestion: self.ce_threshold.is_some(),
            paces: true,
            own_limit: OWN_LIMIT,
            parts_with_limit: self.weights.len().max(1) as u64,
            ..Facts::PLAIN
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        for (name, Bytes(bytes)) in [("quantum", self.quantum), ("initial_quantum", self.initial_quantum)] {
            if !(64..=1 << 20).contains(&bytes) {
                return Some(format!("linux_fq: {name} is {bytes} B; write 64 B to 1 MiB"));
            }
        }
        let fault = |text: &str| Some("linux_fq: ".to_string() + text);
        match () {
            () if self.flow_limit == 0 => fault("flow_limit is at least 1 packet"),
            () if self.tick == Time::ZERO => fault("tick is above 0 s; a kernel's is 1 to 10 ms"),
            () if self.weights.len() > BANDS_MAX => fault("weights has at most 16 bands"),
            () if self.weights.iter().any(|weight| !(1..=1 << 30).contains(&weight.0)) => {
                fault("a band's weight is from 1 B to 1 GiB")
            }
            () if self.priomap.len() != PRIORITIES => fault("priomap has the bands of 16 priorities"),
            () if self
                .priomap
                .iter()
                .any(|band| !self.weights.is_empty() && usize::from(*band) >= self.weights.len()) =>
            {
                fault("priomap names a band that has no weight")
            }
            () => None,
        }
    }

    fn variants() -> Vec<Self> {
        let slow = Self { maxrate: Rate::new(100_000), ..Self::default() };
        let bands = Self { weights: [3000, 2000, 1000].map(Bytes).to_vec(), ..Self::default() };
        let small = Self { quantum: Bytes(64), initial_quantum: Bytes(64), flow_limit: 2, ..Self::default() };
        alloc::vec![slow, small, bands]
    }
}

const BANDS_MAX: usize = 16;

/// Builds the discipline of `settings`.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    let classifier = queue.classifier().build(line);
    let of_a_band = match queue.capacity() {
        Limit::Packets(packets) => packets / settings.facts().parts_with_limit,
        _ => u64::MAX,
    };
    let (waiting, priomap) = (alloc::vec![0; settings.weights.len()], settings.priomap.clone());
    let buffer = Room { of_a_flow: settings.flow_limit, of_a_band, waiting, priomap };
    let marker = Step::beyond(settings.ce_threshold, 0, 0, Time(1));
    Box::new(Composition::new(classifier, LinuxFq::new(settings), buffer, marker, queue.capacity(), line))
}

/// The band of a packet.
fn band_of(priomap: &[u8], packet: &Packet) -> u8 {
    priomap[usize::from(tos::priority(packet.tos))]
}

/// Drops a packet that finds too many of its flow, of its band or of all waiting.
struct Room {
    of_a_flow: u32,
    of_a_band: u64,
    /// Packets that wait of each band, if there are several.
    waiting: Vec<u64>,
    priomap: Vec<u8>,
}

impl Room {
    fn band(&mut self, packet: &Packet) -> Option<&mut u64> {
        if self.waiting.is_empty() {
            return None;
        }
        self.waiting.get_mut(usize::from(band_of(&self.priomap, packet)))
    }
}

impl BufferPolicy for Room {
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits { hears_joins: !self.waiting.is_empty(), ..Traits::PLAIN }
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        if let Change::Limit(limit) = *change {
            self.of_a_band = of_each(limit, (self.waiting.len() as u64).max(1))?.packets();
        }
        change.not_used()
    }

    fn admit(&mut self, _now: Time, store: &Store, queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        if store.has_no_room_for(packet.length) {
            return Verdict::Drop(Reason::BufferFull);
        }
        let of_a_band = self.of_a_band;
        let band_is_full = self.band(packet).is_some_and(|waiting| *waiting >= of_a_band);
        if band_is_full || store.queue_packets(queue) >= self.of_a_flow {
            return Verdict::Drop(Reason::OverShare);
        }
        Verdict::Pass
    }

    fn joined(&mut self, _now: Time, _store: &Store, held: HeldPacket<'_>) {
        if let Some(waiting) = self.band(held.packet) {
            *waiting += 1;
        }
    }

    fn left(&mut self, _now: Time, _store: &Store, held: HeldPacket<'_>, _is_sent: bool) {
        if let Some(waiting) = self.band(held.packet) {
            *waiting -= 1;
        }
    }

    no_readings!();
}

#[derive(Clone)]
struct State {
    place: Place,
    /// The band of its last packet.
    band: u8,
    /// The band whose lists the flow is in, or enters next.
    list: u8,
    credit: i64,
    rate: Option<Rate>,
    /// Time before which no packet of the flow leaves; 0 until it was paced.
    next: Time,
    /// The tick at which it became idle; none if it was never seen.
    rested: Option<u64>,
}

/// The lists of a band.
#[derive(Default)]
struct Band {
    new: Ring,
    old: Ring,
    credit: i64,
}

/// New flows, old flows, and those whose time has not come.
struct LinuxFq {
    settings: Settings,
    flows: Vec<State>,
    bands: Vec<Band>,
    /// The band whose turn it is.
    turn: usize,
    held_back: Heap<(Time, Slot)>,
}

impl LinuxFq {
    fn new(settings: &Settings) -> Self {
        let mut bands: Vec<Band> = settings.weights.iter().map(|_| Band::default()).collect();
        if bands.is_empty() {
            bands.push(Band { credit: i64::MAX, ..Band::default() });
        }
        Self { settings: settings.clone(), flows: Vec::new(), bands, turn: 0, held_back: Heap::new() }
    }

    fn state(&mut self, flow: Slot) -> &mut State {
        let fresh = self.fresh();
        entry(&mut self.flows, flow, fresh)
    }

    /// A flow that was never seen.
    const fn fresh(&self) -> State {
        let credit = self.settings.initial_quantum.0 as i64;
        State { place: Place::Idle, band: 0, list: 0, credit, rate: None, next: Time::ZERO, rested: None }
    }

    const fn ticks(&self, time: Time) -> u64 {
        time.0 / self.settings.tick.0
    }

    fn place(&mut self, flow: Slot, place: Place) {
        let state = &mut self.flows[flow as usize];
        let from = &mut self.bands[usize::from(state.list)];
        match core::mem::replace(&mut state.place, place) {
            Place::New => from.new.remove(flow),
            Place::Old => from.old.remove(flow),
            Place::HeldBack => {
                self.held_back.remove(flow);
            }
            Place::Idle => {}
        }
        match place {
            Place::New => self.bands[usize::from(state.list)].new.push_back(flow),
            Place::Old => {
                state.list = state.band;
                self.bands[usize::from(state.list)].old.push_back(flow);
            }
            Place::HeldBack => self.held_back.push(flow, (state.next, flow)),
            Place::Idle => {}
        }
    }

    fn rest(&mut self, now: Time, flow: Slot) {
        self.place(flow, Place::Idle);
        self.flows[flow as usize].rested = Some(self.ticks(now));
    }

    /// The first flow of the band whose turn it is, after bands that have none or have sent their
    /// weight.
    fn front(&mut self) -> Option<Slot> {
        let bands = self.bands.len();
        if bands == 1 {
            let Band { new, old, .. } = &self.bands[0];
            return new.front().or_else(|| old.front());
        }
        let front = |band: &Band| band.new.front().or_else(|| band.old.front());
        // A look that finds no flow changes nothing, so that one more look does not either.
        if self.bands.iter().all(|band| front(band).is_none()) {
            return None;
        }
        loop {
            let band = &self.bands[self.turn];
            if let Some(flow) = front(band).filter(|_| band.credit > 0) {
                return Some(flow);
            }
            self.turn = (self.turn + 1) % bands;
            let weight = self.settings.weights[self.turn].0 as i64;
            let next = &mut self.bands[self.turn];
            next.credit = (next.credit + weight).min(weight);
        }
    }

    /// The rounds of a band in which no flow would get out of debt, at once.
    fn skip_rounds(&mut self, band: u8) {
        let quantum = self.settings.quantum.0 as i64;
        let is_old = |state: &&mut State| state.place == Place::Old && state.list == band;
        let rounds = self.flows.iter_mut().filter(is_old).map(|state| (-state.credit).max(0) / quantum).min();
        for state in self.flows.iter_mut().filter(is_old) {
            state.credit += rounds.unwrap_or(0) * quantum;
        }
    }
}

impl Scheduler for LinuxFq {
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits { late_timer: self.settings.timer_slack > Time::ZERO, ..Traits::PLAIN }
    }

    fn arrive(&mut self, now: Time, queue: Slot, _flow: Flow, packet: &Packet) -> Tag {
        let quantum = self.settings.quantum.0 as i64;
        let (tick, delay) = (self.ticks(now), self.ticks(self.settings.refill_delay));
        let band = match self.bands.len() {
            1 => 0,
            _ => band_of(&self.settings.priomap, packet),
        };
        let state = self.state(queue);
        if state.place == Place::Idle {
            state.list = state.band;
            if state.rested.is_some_and(|since| tick > since + delay) {
                state.credit = state.credit.max(quantum);
            }
        }
        state.band = band;
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        if self.flows[queue as usize].place == Place::Idle {
            self.place(queue, Place::New);
        }
    }

    fn next(&mut self, now: Time, store: &Store) -> Next {
        if store.packets() == 0 {
            return Next::Empty;
        }
        while let Some((flow, _)) = self.held_back.peek().filter(|(_, (time, _))| *time <= now) {
            self.place(flow, Place::Old);
        }
        // The flow with which a round began that none has left.
        let mut first = None;
        while let Some(flow) = self.front() {
            let State { credit, next, list, place, .. } = self.flows[flow as usize];
            if credit <= 0 {
                if first == Some(flow) {
                    self.skip_rounds(list);
                }
                first = first.or(Some(flow));
                self.flows[flow as usize].credit += self.settings.quantum.0 as i64;
                self.place(flow, Place::Old);
                continue;
            }
            first = None;
            if store.queue_packets(flow) == 0 {
                let (has_bands, band) = (self.bands.len() > 1, &self.bands[usize::from(list)]);
                if place == Place::New && (has_bands || band.old.front().is_some()) {
                    self.place(flow, Place::Old);
                } else {
                    self.rest(now, flow);
                }
            } else if next > now {
                self.place(flow, Place::HeldBack);
            } else {
                return Next::Queue(flow);
            }
        }
        // A timer may come late by its slack, and does if nothing else wakes the processor before.
        let late = |time: Time| time.saturating_add(self.settings.timer_slack);
        self.held_back.peek().map_or(Next::Empty, |(_, (time, _))| Next::NotBefore(late(time)))
    }

    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, _tag: Tag, _head: Option<Tag>) {
        let Settings { maxrate, low_rate_threshold, quantum, .. } = self.settings;
        let state = &mut self.flows[queue as usize];
        let band = &mut self.bands[usize::from(state.list)];
        band.credit = band.credit.saturating_sub(i64::from(packet.length));
        state.credit -= i64::from(packet.length);
        let Some(rate) = [state.rate, maxrate].into_iter().flatten().min_by_key(|rate| rate.bit_per_s()) else {
            return;
        };
        let mut bytes = Bytes(u64::from(packet.length));
        if rate.bit_per_s() <= low_rate_threshold.bit_per_s() {
            state.credit = 0;
        } else {
            bytes = bytes.max(quantum);
            if state.credit > 0 {
                return;
            }
        }
        let mut wait = rate.time_of_rounded_up(bytes).min(WAIT_MAX).0;
        if state.next > Time::ZERO {
            wait -= (wait / 2).min(now.saturating_sub(state.next).0);
        }
        state.next = now.saturating_add(Time(wait));
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        // In its turn an empty flow is found to be empty; one that is held back has none.
        if gone.head.is_none() && self.flows[gone.queue as usize].place == Place::HeldBack {
            self.rest(now, gone.queue);
        }
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        // After a long rest Linux forgets the flow too (`fq_gc`), and takes it for one never seen.
        let (tick, forgets, fresh) = (self.ticks(now), self.ticks(FORGETS), self.fresh());
        let state = self.state(flow);
        let is_forgotten = state.rested.is_none_or(|since| tick > since + forgets);
        let is_clear = state.place == Place::Idle && is_forgotten && state.next <= now && state.rate.is_none();
        if is_clear {
            *state = fresh;
        }
        is_clear
    }

    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Pacing(flow, rate) = *change else { return change.not_used() };
        self.state(flow).rate = rate;
        Ok(())
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("flows_held_back", Unit::None, self.held_back.len() as u64));
        show_paces(self.flows.iter().map(|state| state.rate), visit);
    }
}

/// `FQ_GC_AGE`.
const FORGETS: Time = Time(3 * PS_PER_S);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Dequeue;
    use crate::packet::{Address, Fates, Header};
    use crate::registry::DesignSettings;

    #[test]
    fn a_line_that_waits_for_a_flow_waits_for_the_slack_of_the_timer_too() {
        let settings = Settings { maxrate: Rate::new(8000), ..Settings::default() };
        let queue = Queue::of_design(DesignSettings::LinuxFq(settings), None);
        let mut fq = queue.build(&Line::new(Rate::MAX));
        let (source, destination) = (Address::Node(0), Address::Node(1));
        let header = Header { source, destination, protocol: 0, source_port: 0, destination_port: 0, tos: 0 };
        let mut fates = Fates::new();
        for token in 0..3 {
            fq.enqueue(Time::ZERO, Packet::new(token, Time::ZERO, 100), &header, &mut fates);
        }
        let mut ask = |us: u64| match fq.dequeue(Time(us * 1_000_000), &mut fates) {
            Dequeue::Send(packet) => Ok(packet.token),
            Dequeue::NotBefore(time) => Err(time.0 / 1_000_000),
            Dequeue::Empty => unreachable!("packets wait"),
        };
        // A packet of 100 B takes 100 ms, and 10 us later the timer comes (`timer_slack`).
        assert_eq!((ask(0), ask(0)), (Ok(0), Err(100_010)));
        // Something else makes the line ask at 100.004 ms: the packet goes. What is late is made
        // up.
        assert_eq!((ask(100_004), ask(100_004)), (Ok(1), Err(200_010)));
    }
}
