//! DualPI2: a short queue for scalable senders and a classic one for all others, whose signals are
//! coupled.
//!
//! Use when: L4S senders (`prague`) and classic ones share a line, and the first should have a
//! short queue. It does not keep flows apart: for shares by flow use `fq_codel`.
//! Source: De Schepper, Briscoe and White, "Dual-Queue Coupled Active Queue Management (AQM) for
//! Low Latency, Low Loss, and Scalable Throughput (L4S)", RFC 9332 (2023), appendix A, with the
//! overload rules of its figures 8 and 9. One PI controller steers p' by the greater delay of the
//! classic queue C and the low-latency queue L; C signals with p'², L with k·p' or its own step,
//! whichever is greater.
//! Departs: a packet goes to L if its ECN field is ECT(1) or CE and it accepts CE; the classifier
//! is not used.
//! Chosen: signals are spread evenly, as the appendix does (a running sum), not at random; periods
//! end at whole multiples of `update` and are made up when a packet comes or goes. L goes first but
//! for C's weight, as appendix A.2 recommends: a tenth, as in Linux (the RFC's example is 1/16);
//! its shifted FIFO, "not recommended over WRR", is `between = "time_shifted"` with the 50 ms that
//! it names for the public Internet. Gains and period are Linux's. L's own signal is Linux's step
//! at 1 ms; with `native = "ramp"`, `step = "800 us"` and `range = "400 us"` it is the ramp of
//! figure 2. With `enqueue` coupled signals are given on arrival, L's own step still on departure.
//! Cost: O(1) a packet, and a step for each period that passed.
//! Bound: L is signalled with k·√p_C (designs.rs: dualpi2_couples_l_to_the_root_of_c); with weights
//! C gets its share whatever L sends (designs.rs: dualpi2_with_weights_never_starves_c); from p' =
//! 1/k on L loses packets too (designs.rs: dualpi2_drops_in_l_when_it_is_saturated), so that a
//! flood of L alone is held to the target (designs.rs: dualpi2_sheds_a_flood_of_l_to_the_target).
//! Within a queue the order of arrival holds; packets of one flow that differ in their ECN field
//! wait in two queues and overtake each other (designs.rs:
//! dualpi2_may_reorder_a_flow_whose_ecn_field_changes).
//! Changes: a new limit counts from the next arrival on. A rate means nothing to it, for it goes by
//! delays; p' stands. Weights, pacing and classes are refused.

use crate::change::{Change, Unsupported};
use crate::contract::{Dequeue, Discipline, End, Handle, Held, Line, Slot, traits};
use crate::control::pi::{Gains, Pi, is_gain, is_probability};
use crate::packet::{Fate, Fates, Header, Marks, Outcome, Packet, Reason};
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Limit, Time};
use crate::waiting::Waiting;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Which queue sends next when both wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Between {
    /// L, but for `classic_share` of the bytes.
    #[default]
    Weighted,
    /// The head that has waited longer, `shift` being added to L's.
    TimeShifted,
}

/// L's own signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Native {
    /// Every packet that waited for `step` or longer.
    #[default]
    Step,
    /// None up to `step`, all from `range` beyond it on, in between in proportion.
    Ramp,
}

/// Where coupled signals are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum At {
    /// To the packet that is about to be sent.
    #[default]
    Dequeue,
    /// To the packet that arrives.
    Enqueue,
}

settings! {
    /// Controller, coupling and the way between the queues.
    pub struct Settings {
        /// The delay that is wanted in the longer of the two queues.
        pub target: Time = Time::from_ms(15),
        /// The controller's period.
        pub update: Time = Time::from_ms(16),
        /// For the distance from the target, in 1/s.
        pub alpha: f64 = 0.16,
        /// For the change of the delay, in 1/s.
        pub beta: f64 = 3.2,
        /// k: how much more often L is signalled than p' says.
        pub coupling: f64 = 2.0,
        /// The delay from which L is signalled by itself.
        pub step: Time = Time::from_ms(1),
        /// How packets that have waited this long are signalled.
        pub native: Native = Native::Step,
        /// With `ramp`: how much longer than `step` a packet waits from which on all are signalled
        /// (RFC 9332, figure 2).
        pub range: Time = Time(400_000_000),
        /// Which queue sends next when both wait.
        pub between: Between = Between::Weighted,
        /// With `time_shifted`: how much longer C's head must have waited than L's.
        pub shift: Time = Time::from_ms(50),
        /// With `weighted`: the part of the bytes that C gets.
        pub classic_share: f64 = 0.1,
        /// Where coupled signals are given.
        pub at: At = At::Dequeue,
    }
}

impl Part for Settings {
    facts!(tells_flows_apart = false, marks_congestion = true, own_limit = super::OWN_LIMIT);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let fault = |text: &str| Some("dualpi2: ".to_string() + text);
        if self.target == Time::ZERO || self.update < Time(1_000_000) {
            return fault("target is above 0 s, update at least 1 us");
        }
        if !is_gain(self.alpha) || !is_gain(self.beta) {
            return fault("alpha and beta are numbers from 0");
        }
        if !is_gain(self.coupling) || self.coupling < 1.0 {
            return fault("coupling is a number from 1");
        }
        let is_share = is_probability(self.classic_share) && self.classic_share > 0.0;
        if !is_share { fault("classic_share is above 0 and at most 1") } else { None }
    }

    fn variants() -> Vec<Self> {
        let eager = Self { alpha: 1e5, beta: 1e5, target: Time(1000), step: Time(1), ..Self::default() };
        let shifted = Self { between: Between::TimeShifted, native: Native::Ramp, range: Time(2), ..eager.clone() };
        alloc::vec![Self { at: At::Enqueue, ..shifted.clone() }, shifted, eager]
    }
}

/// Two queues and a controller.
struct DualPi2 {
    settings: Settings,
    gains: Gains,
    store: Store,
    pi: Pi,
    /// Whole periods that were gone through, from time zero on.
    periods: u64,
    /// Running sums of what was due: marks in L, drops in L, signals in C.
    due: [f64; 3],
    /// What C has sent less than its share of, in bytes.
    credit: f64,
}

const L: Slot = 0;
const C: Slot = 1;

/// Builds the discipline of `settings`.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, _line: &Line) -> Box<dyn Discipline> {
    Box::new(DualPi2 {
        gains: Gains { target: settings.target.as_s(), alpha: settings.alpha, beta: settings.beta },
        settings: settings.clone(),
        store: Store::new(queue.capacity()),
        pi: Pi::default(),
        periods: 0,
        due: [0.0; 3],
        credit: 0.0,
    })
}

/// Adds `part` to a running sum; whether a whole one is due.
fn recurs(sum: &mut f64, part: f64) -> bool {
    *sum += part;
    let is_due = *sum >= 1.0;
    *sum -= f64::from(u8::from(is_due));
    is_due
}

impl DualPi2 {
    fn coupled(&self) -> f64 {
        (self.settings.coupling * self.pi.probability).min(1.0)
    }

    fn classic(&self) -> f64 {
        self.pi.probability * self.pi.probability
    }

    /// The longer wait of the two heads, in seconds: what the controller sees (appendix A.2, figure
    /// 8, line 2a).
    fn delay(&self, now: Time) -> f64 {
        self.wait(now, L).max(self.wait(now, C)).unwrap_or(Time::ZERO).as_s()
    }

    /// How long the head of `queue` has waited.
    fn wait(&self, now: Time, queue: Slot) -> Option<Time> {
        self.store.head(queue).map(|(packet, _)| now.saturating_sub(packet.arrival))
    }

    /// Makes up the periods that have passed; since the last call nothing came or went.
    fn catch_up(&mut self, now: Time) {
        let last = now.0 / self.settings.update.0;
        while self.periods < last {
            self.periods += 1;
            let end = Time(self.periods * self.settings.update.0);
            let delay = self.delay(end);
            let before = self.pi;
            let change = self.pi.change(delay, &self.gains);
            self.pi.add(change);
            let is_settled = before == self.pi || (self.pi.probability == 1.0 && delay >= self.gains.target);
            if is_settled {
                // Only the delay of the last period may still change.
                self.periods = last;
                let end = Time(last * self.settings.update.0);
                self.pi.previous = self.delay(end);
            }
        }
    }

    /// What the coupled probability does to a packet of `queue`: `Err` if the packet is dropped,
    /// else whether it is marked.
    fn signal(&mut self, queue: Slot, packet: &Packet, native: f64) -> Result<bool, Reason> {
        let (coupled, classic) = (self.coupled(), self.classic());
        let is_saturated = self.settings.coupling * self.pi.probability >= 1.0;
        let [marks, drops, signals] = &mut self.due;
        if queue == L {
            if is_saturated && recurs(drops, classic) {
                return Err(Reason::Early);
            }
            return Ok(recurs(marks, coupled.max(native)));
        }
        match recurs(signals, classic) {
            true if !is_saturated && packet.accepts.intersects(Marks::CE) => Ok(true),
            true => Err(Reason::Early),
            false => Ok(false),
        }
    }

    /// L's own signal for the packet at its head.
    fn native(&self, now: Time) -> f64 {
        let wait = self.wait(now, L).unwrap_or(Time::ZERO);
        let step = self.settings.step;
        match self.settings.native {
            // A packet with nothing behind it is not to blame.
            _ if self.store.queue_packets(L) < 2 || wait < step => 0.0,
            Native::Step => 1.0,
            Native::Ramp => ((wait - step).as_s() / self.settings.range.as_s().max(1e-12)).min(1.0),
        }
    }

    fn next(&self, now: Time) -> Option<Slot> {
        match (self.wait(now, L), self.wait(now, C)) {
            (None, None) => None,
            (Some(_), None) => Some(L),
            (None, Some(_)) => Some(C),
            (Some(low), Some(classic)) => {
                let takes_classic = match self.settings.between {
                    Between::TimeShifted => classic > low.saturating_add(self.settings.shift),
                    Between::Weighted => self.credit > 0.0,
                };
                Some(if takes_classic { C } else { L })
            }
        }
    }

    /// Both waited and `queue` sent `length` bytes.
    fn charge(&mut self, queue: Slot, length: u32) {
        let share = self.settings.classic_share;
        let sent = f64::from(length);
        self.credit += if queue == C { (share - 1.0) * sent } else { share * sent };
    }
}

impl Discipline for DualPi2 {
    traits!();

    fn enqueue(&mut self, now: Time, mut packet: Packet, _header: &Header, fates: &mut Fates) -> Option<Handle> {
        self.catch_up(now);
        let mut refuse = |packet, reason| {
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
            None
        };
        let (limit, length) = (self.store.limit(), u64::from(packet.length));
        if matches!(limit, Limit::Bytes(bytes) if length > bytes) {
            return refuse(packet, Reason::TooLong);
        }
        if limit.is_exceeded_by(self.store.packets() + 1, self.store.bytes() + length) {
            return refuse(packet, Reason::BufferFull);
        }
        let says_low = packet.tos & 1 == 1 || packet.marks.intersects(Marks::CE);
        let queue = if says_low && packet.accepts.intersects(Marks::CE) { L } else { C };
        if self.settings.at == At::Enqueue {
            match self.signal(queue, &packet, 0.0) {
                Err(reason) => return refuse(packet, reason),
                Ok(true) => {
                    packet.marks = packet.marks.with(Marks::CE);
                    fates.push(Fate { packet, outcome: Outcome::Marked(Marks::CE) });
                }
                Ok(false) => {}
            }
        }
        Some(self.store.push(&packet, 0, queue, queue).0)
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.catch_up(now);
        self.store.end_serving();
        loop {
            let Some(queue) = self.next(now) else { return Dequeue::Empty };
            let Some((head, _)) = self.store.head(queue) else { return Dequeue::Empty };
            let packet = *head;
            let native = if queue == L { self.native(now) } else { 0.0 };
            let verdict = match self.settings.at {
                At::Dequeue => self.signal(queue, &packet, native),
                At::Enqueue => Ok(queue == L && native > 0.0 && recurs(&mut self.due[0], native)),
            };
            match verdict {
                Err(reason) => {
                    self.store.pop(queue, End::Front);
                    fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
                    continue;
                }
                Ok(true) => {
                    let marked = self.store.mark_head(queue, Marks::CE).copied();
                    fates.extend(marked.map(|packet| Fate { packet, outcome: Outcome::Marked(Marks::CE) }));
                }
                Ok(false) => {}
            }
            let both = self.store.queue_packets(L) > 0 && self.store.queue_packets(C) > 0;
            if both {
                self.charge(queue, packet.length);
            } else {
                self.credit = 0.0;
            }
            self.store.serve(queue);
            let Some(entry) = self.store.serving() else { return Dequeue::Empty };
            return Dequeue::Send(*entry.packet);
        }
    }

    fn held(&self) -> Held {
        self.store.held()
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.store.change(change)
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        self.catch_up(now);
        self.store.remove(handle).map(|taken| taken.packet)
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("base_probability", Unit::None, self.pi.probability));
        visit(Reading::count("low_latency_packets", Unit::Packets, self.store.queue_packets(L)));
        visit(Reading::count("classic_packets", Unit::Packets, self.store.queue_packets(C)));
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.store.show(visit);
    }
}
