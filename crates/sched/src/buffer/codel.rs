//! CoDel: drops at the head while packets have waited too long for too long, ever more often until
//! they do not.
//!
//! Use when: a standing queue should be cut without knowing the line's rate. It does not hold
//! senders that ignore drops: use `cobalt`. With fair sharing use `fq_codel`; to decide on arrival,
//! `pie`.
//! Source: Nichols, Jacobson, McGregor and Iyengar, "Controlled Delay Active Queue Management", RFC
//! 8289 (2018), section 5, and Linux 6.1, sch_codel.c.
//!
//! Steps:
//! 1. The head of a queue may go: it has waited for d = now - its arrival.
//! 2. If d < target, or no more than `mtu` bytes wait behind it, the delay is low: dropping ends.
//!    Send it.
//! 3. Else the delay is high. If it has not been so for an interval yet, send it.
//! 4. Else, if not dropping: dropping begins and a signal is due now. count = 1, or the signals of
//!    the last series after its first, if they were more than one and the next was due less than 16
//!    intervals ago; the next signal is due interval/√count from now.
//! 5. If dropping and the next signal is not due yet, or the head stands behind the packet whose
//!    drop began this: send it.
//! 6. If dropping and the next signal is due: count = count + 1, and the one after it is due
//!    interval/√count after this one was.
//! 7. A signal: if `ecn` is set and the packet accepts CE, mark it and send it.
//! 8. Else drop it; the next head is looked at (step 1).
//!
//! Rules: Linux's arithmetic by default (`codel_Newton_step`, `codel_should_drop`), the
//! RFC's with `rfc` (control/codel.rs).
//! Departs: each queue has a state of its own; a scheduler that gives every packet its own queue
//! leaves it nothing to judge. With `ecn` a packet that accepts CE is marked in place of being
//! dropped (`codel_dequeue`; the RFC leaves it open); a dequeue marks one packet at most, and what
//! else is due comes with the packets after it.
//! Chosen: `ecn` is off by default, as in Linux. `ce_threshold` is Linux's: a packet that has
//! waited longer is marked, whatever the schedule says and whether `ecn` is set or not; with a mask
//! only those of which the TOS byte has the selector's bits there. The largest packet is a setting.
//! With `rfc` interval/√count is rounded down to a whole picosecond, and exact.
//! Cost: O(1) a packet, and with `rfc` one integer square root a drop.
//! Bound: with `rfc` and under constant overload the signals come at the times that the control law
//! names, to the picosecond (delay_laws.rs:
//! codel_drops_at_the_times_of_the_inverse_square_root_law); none come while a packet in each
//! interval waited less than the target (delay_laws.rs:
//! codel_drops_nothing_that_comes_below_target_once_an_interval).
//! Changes: a rate means nothing to it: it goes by the time that packets waited. Its states stand.

use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, HeldPacket, Line, Marker, Slot, Verdict, traits};
use crate::control::codel::{Control, Head, Parameters, Rules, Stage};
use crate::facts::{Facts, Overflow};
use crate::mark::step::{Step, selector_fault};
use crate::packet::{Marks, Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::slots::entry;
use crate::store::Store;
use crate::units::{Bytes, Time};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// Target and interval.
    pub struct Settings {
        /// The delay that is acceptable.
        pub target: Time = Time::from_ms(5),
        /// How long the delay may be above the target: about the longest usual round-trip time.
        pub interval: Time = Time::from_ms(100),
        /// The largest packet: a queue that is left with no more than this is never too long.
        pub mtu: Bytes = Bytes(1514),
        /// Whether packets that accept CE are marked in place of being dropped.
        pub ecn: bool = false,
        /// RFC 8289's exact square root and times in place of Linux's.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub rfc: bool = false,
        /// A packet that accepts CE and has waited longer is marked in any case.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub ce_threshold: Option<Time> = None,
        /// Which bits of the type-of-service byte `ce_threshold` looks at; 0: it counts for all
        /// packets.
        pub ce_threshold_mask: u8 = 0,
        /// What those bits are in the packets that `ce_threshold` counts for: 1 under mask 3 is
        /// ECT(1).
        pub ce_threshold_selector: u8 = 0,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts {
            tells_flows_apart: false,
            marks_congestion: self.ecn || self.ce_threshold.is_some(),
            overflow: Overflow::Leaves,
            looks_at_queues: true,
            ..Facts::PLAIN
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        fault_of("codel", self.target, self.interval).or_else(|| self.selector_fault("codel"))
    }

    fn variants() -> Vec<Self> {
        // So impatient that most packets of a busy line are signals.
        let (target, interval) = (Time(1), Time(1_000_000));
        let eager = Self { target, interval, mtu: Bytes(0), ..Self::default() };
        let early = Self { ce_threshold: Some(Time::from_ms(1)), ..Self::default() };
        alloc::vec![Self { rfc: true, ..eager.clone() }, Self { ecn: true, ..eager }, early]
    }
}

impl Settings {
    /// What is wrong with `ce_threshold` of the discipline called `name`.
    pub(crate) fn selector_fault(&self, name: &str) -> Option<String> {
        selector_fault(&(name.to_string() + ": ce_threshold"), self.ce_threshold_mask, self.ce_threshold_selector)
    }
}

/// What is wrong with the times of the discipline called `name`.
pub(crate) fn fault_of(name: &str, target: Time, interval: Time) -> Option<String> {
    let is_sound = target > Time::ZERO && target <= interval;
    (!is_sound).then(|| name.to_string() + ": target is above 0 s and at most the interval")
}

/// A control for each queue.
pub struct Codel {
    parameters: Parameters,
    ecn: bool,
    early: Step,
    controls: Vec<Control>,
    /// Packets marked or dropped so far.
    signals: u64,
    /// Whether the packet judged last was one.
    is_signal: bool,
}

/// The steps of the card that send: the delay is low, or not high for long, or no signal is due, or
/// the packet is marked.
const SENDS: [u8; 4] = [2, 3, 5, 7];

impl Codel {
    /// No queue was seen.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        let Settings { target, interval, mtu, ecn, rfc, ce_threshold, ce_threshold_mask, ce_threshold_selector } =
            *settings;
        let rules = if rfc { Rules::Rfc } else { Rules::Linux };
        let early = Step::beyond(ce_threshold, ce_threshold_mask, ce_threshold_selector, rules.unit());
        Self {
            parameters: Parameters { rules, target, interval, mtu: mtu.0 },
            ecn,
            early,
            controls: Vec::new(),
            signals: 0,
            is_signal: false,
        }
    }
}

impl BufferPolicy for Codel {
    // Nothing waits behind the last packet of a queue, which ends what its delay had begun; one
    // that comes then and has not waited is judged likewise.
    traits!(bypass = u32::MAX, judges_departures = true);

    no_changes!();

    fn admit(&mut self, _now: Time, _store: &Store, queue: Slot, _flow: Flow, _packet: &mut Packet) -> Verdict {
        entry(&mut self.controls, queue, Control::default());
        Verdict::Pass
    }

    fn depart(&mut self, now: Time, store: &Store, queue: Slot) -> Verdict {
        let (Some((packet, _)), Some(control)) = (store.head(queue), self.controls.get_mut(queue as usize)) else {
            return Verdict::Pass;
        };
        let can_mark = packet.accepts.intersects(Marks::CE);
        let is_early = can_mark && self.early.depart(now, packet) != Marks::NONE;
        let head = Head {
            arrival: packet.arrival,
            behind: store.queue_bytes(queue) - u64::from(packet.length),
            is_marked: self.ecn && can_mark,
        };
        let is_signal = control.judge(now, head, &self.parameters);
        self.is_signal = is_signal;
        self.signals += u64::from(is_signal);
        match is_signal {
            true if head.is_marked => Verdict::Notify(Reason::Early),
            true => Verdict::Drop(Reason::Early),
            false if is_early => Verdict::Notify(Reason::Early),
            false => Verdict::Pass,
        }
    }

    fn step(&self, queue: Slot) -> Option<u8> {
        let [low, high, not_due, marked] = SENDS;
        Some(match self.controls.get(queue as usize)?.stage() {
            _ if self.is_signal => marked,
            Stage::Low => low,
            Stage::High => high,
            Stage::Dropping => not_due,
        })
    }

    fn left(&mut self, _now: Time, store: &Store, held: HeldPacket<'_>, is_sent: bool) {
        if !is_sent && store.queue_packets(held.queue) == 0 {
            self.controls[held.queue as usize].emptied();
        }
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        self.controls.get(flow as usize).is_none_or(|control| control.is_clear(now, &self.parameters))
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("codel_signals", Unit::None, self.signals));
    }
}
