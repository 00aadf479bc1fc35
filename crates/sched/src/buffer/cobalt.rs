//! COBALT: CoDel for flows that listen, and BLUE for those that do not.
//!
//! Use when: queues should be short and a flood that ignores signals must be held too, as in
//! `cake`. If all senders respond, `codel` is enough.
//! Source: Hoeiland-Joergensen, Taht and Morton, "Piece of CAKE: A Comprehensive Queue Management
//! Solution for Home Gateways", LANMAN 2018; the algorithm (control/cobalt.rs), and the rule that
//! the last packet of a queue may be marked and is never dropped, are those of the Linux qdisc
//! (sch_cake.c).
//! Departs: each queue has a state of its own; BLUE's steps are settings; a head that is late after
//! a pause is given another interval though a signal was due, where the qdisc signals at once; all
//! signals that come due while a queue is empty are taken back (the qdisc: one).
//! Chosen: it makes room itself, at the head of the longest queue, for a drop there is what BLUE
//! learns from; a queue that stays empty takes a step of BLUE down for each target time.
//! Cost: O(1) a packet; an integer square root a signal; O(log N) for a drop that makes room,
//! amortised as in longest-queue drop.
//! Bound: an unresponsive flood is held to a drop rate that empties the queue (delay_laws.rs:
//! cobalt_holds_a_flood_that_fills_the_queue_under_codel); the last packet of a queue is dropped
//! for room alone (cake.rs: cake_never_drops_the_last_packet_of_a_queue).
//! Changes: at a new rate only the time that a packet of `mtu` takes is new; the states of the
//! queues stand.

use super::codel::fault_of;
use super::longest_queue_drop::{self, LongestQueueDrop};
use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, End, Flow, HeldPacket, Line, Slot, Verdict, Victim, traits};
use crate::control::cobalt::{Control, Judgement, Parameters};
use crate::control::pi::is_probability;
use crate::facts::Facts;
use crate::packet::{Marks, Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::no_readings;
use crate::slots::entry;
use crate::store::Store;
use crate::units::{Bytes, Rate, Time};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// CoDel's times and BLUE's steps.
    pub struct Settings {
        /// The delay that is acceptable; BLUE changes at most once in this time.
        pub target: Time = Time::from_ms(5),
        /// How long the delay may be above the target.
        pub interval: Time = Time::from_ms(100),
        /// The largest packet: what waits no longer than four of them take on the line is not late.
        pub mtu: Bytes = Bytes(1514),
        /// What a full buffer adds to BLUE's probability.
        pub increment: f64 = 1.0 / 256.0,
        /// What an empty queue takes off it.
        pub decrement: f64 = 1.0 / 4096.0,
        /// Whether CoDel marks packets that accept CE in place of dropping them.
        pub ecn: bool = true,
    }
}

impl Settings {
    /// The constants of the control law on a line of `rate`.
    #[must_use]
    pub fn parameters(&self, rate: Rate) -> Parameters {
        let Self { target, interval, mtu, increment, decrement, .. } = *self;
        Parameters { target, interval, packet_time: rate.time_of_rounded_up(mtu), increment, decrement }
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { tells_flows_apart: false, marks_congestion: self.ecn, looks_at_queues: true, ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let is_sound = is_probability(self.increment) && is_probability(self.decrement);
        let steps = || (!is_sound).then(|| "cobalt: increment and decrement are from 0 to 1".to_string());
        let length = || mtu_fault("cobalt", self.mtu);
        fault_of("cobalt", self.target, self.interval).or_else(steps).or_else(length)
    }

    fn variants() -> Vec<Self> {
        let (target, interval) = (Time(1), Time(1_000_000));
        let eager = Self { target, interval, mtu: Bytes(0), increment: 0.5, ..Self::default() };
        alloc::vec![Self { ecn: false, ..eager.clone() }, eager]
    }
}

/// What is wrong with the largest packet of the discipline called `name`.
pub(crate) fn mtu_fault(name: &str, mtu: Bytes) -> Option<String> {
    (mtu > MTU_MAX).then(|| alloc::format!("{name}: mtu is {mtu}; it is at most {MTU_MAX}"))
}

/// The longest packet of IP.
const MTU_MAX: Bytes = Bytes(65_535);

/// A control for each queue, and the choice of packets to drop when there is no room.
pub struct Cobalt {
    settings: Settings,
    parameters: Parameters,
    controls: Vec<Control>,
    random: Random,
    full: LongestQueueDrop,
}

impl Cobalt {
    /// No queue was seen.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        Self {
            parameters: settings.parameters(line.rate),
            settings: settings.clone(),
            controls: Vec::new(),
            random: Random::new(line.seed, "cobalt"),
            full: LongestQueueDrop::new(&longest_queue_drop::Settings { from: End::Front }, line),
        }
    }
}

impl BufferPolicy for Cobalt {
    traits!(hears_joins = true, judges_departures = true);

    fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        entry(&mut self.controls, queue, Control::default());
        if store.queue_packets(queue) == 0 {
            self.controls[queue as usize].wakes(now, &self.parameters);
        }
        self.full.admit(now, store, queue, flow, packet)
    }

    fn joined(&mut self, now: Time, store: &Store, held: HeldPacket<'_>) {
        self.full.joined(now, store, held);
    }

    fn victim(&mut self, now: Time, store: &Store, arriving: Slot) -> Option<(Victim, Reason)> {
        let victim = self.full.victim(now, store, arriving);
        if let Some((Victim::End(queue, _), _)) = victim {
            self.controls[queue as usize].full(now, &self.parameters);
        }
        victim
    }

    fn depart(&mut self, now: Time, store: &Store, queue: Slot) -> Verdict {
        let Some((packet, _)) = store.head(queue) else { return Verdict::Pass };
        let draw = self.random.unit();
        let is_marked = self.settings.ecn && packet.accepts.intersects(Marks::CE);
        let control = &mut self.controls[queue as usize];
        match control.judge(now, now - packet.arrival, is_marked, draw, &self.parameters) {
            Judgement::Signal if is_marked => Verdict::Notify(Reason::Early),
            Judgement::Signal | Judgement::Drop if store.queue_packets(queue) > 1 => Verdict::Drop(Reason::Early),
            Judgement::Signal | Judgement::Drop | Judgement::Pass => Verdict::Pass,
        }
    }

    fn left(&mut self, now: Time, store: &Store, held: HeldPacket<'_>, _is_sent: bool) {
        if store.queue_packets(held.queue) == 0 {
            self.controls[held.queue as usize].emptied(now, &self.parameters);
        }
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return self.full.change(now, change) };
        self.parameters = self.settings.parameters(rate);
        Ok(())
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        self.controls.get(flow as usize).is_none_or(|control| control.is_clear(now, &self.parameters))
    }

    no_readings!();
}
