//! BLUE: packets are marked or dropped with one probability that rises on overflow and falls when
//! the line is idle.
//!
//! Use when: the rate of signals should follow overflows and idle times, not the queue's length. It
//! has no target delay: for one use `codel` or `pie`; against floods use `sfb`.
//! Source: Feng, Kandlur, Saha and Shin, "BLUE: A New Class of Active Queue Management Algorithms",
//! University of Michigan CSE-TR-387-99, 1999 (figure 4). Its constants are a range there; all are
//! settings.
//! Chosen: an arrival that does not fit overflows, whichever packet is dropped; a queue above
//! `threshold`, if there is one, is the same. An idle line lowers the probability when it becomes
//! idle and again for every freeze time that it stays so.
//! Cost: O(1) a packet.
//! Bound: the probability rises at most once in a freeze time and falls while the line is idle
//! (active_queues.rs: blue_rises_on_overflow_once_in_a_freeze_time_and_falls_while_idle).
//! Changes: a rate means nothing to it; the probability stands whatever changes.

use super::red::is_share;
use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, Line, Slot, Verdict, traits};
use crate::control::blue::{Blue as Control, Steps};
use crate::facts::{Facts, Overflow};
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Limit, Time};
use alloc::format;
use alloc::string::{String, ToString};

settings! {
    /// The steps of the probability.
    pub struct Settings {
        /// Added to the probability on overflow, in (0, 1].
        pub increment: f64 = 0.02,
        /// Taken off the probability when the line is idle, in (0, 1]; much less than `increment`.
        pub decrement: f64 = 0.002,
        /// The least time between two changes, at least 1 us.
        pub freeze: Time = Time::from_ms(100),
        /// A queue longer than this counts as overflow; without it only a full buffer does.
        pub threshold: Option<Limit> = None,
        /// Whether packets that accept a mark are marked in place of being dropped.
        pub ecn: bool = true,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { tells_flows_apart: false, marks_congestion: self.ecn, overflow: Overflow::Leaves, ..Facts::PLAIN }
    }

    fn fault(&self, queue: &Queue) -> Option<String> {
        if let Some(fault) = steps_fault("blue", self.increment, self.decrement) {
            return Some(fault);
        }
        if self.freeze < FREEZE_MIN {
            return Some(format!("blue: freeze is {}; it is at least {FREEZE_MIN}", self.freeze));
        }
        let is_full = |limit: Option<Limit>| !matches!(limit, None | Some(Limit::Unlimited));
        let overflows = is_full(self.threshold) || is_full(queue.limit);
        (!overflows)
            .then(|| "blue: without a limit nothing overflows; give the queue a limit or blue a threshold".to_string())
    }

    fn variants() -> alloc::vec::Vec<Self> {
        let (increment, decrement, freeze) = (0.5, 0.25, FREEZE_MIN);
        alloc::vec![Self { increment, decrement, freeze, threshold: Some(Limit::Bytes(2000)), ecn: false }]
    }
}

/// A line that calls again at once must not lower the probability again.
const FREEZE_MIN: Time = Time(1_000_000);

/// Why the steps of the probability make no sense for the policy called `name`.
pub(super) fn steps_fault(name: &str, increment: f64, decrement: f64) -> Option<String> {
    if !is_share(increment) || !is_share(decrement) {
        return Some(format!(
            "{name}: increment is {increment}, decrement {decrement}; both are above 0 and at most 1"
        ));
    }
    (decrement > increment)
        .then(|| format!("{name}: decrement {decrement} is more than increment {increment}; it is much less"))
}

/// The probability.
pub struct Blue {
    settings: Settings,
    steps: Steps,
    control: Control,
    idle_since: Option<Time>,
    random: Random,
}

impl Blue {
    /// An empty queue with a drop probability of zero.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let Settings { increment, decrement, freeze, .. } = *settings;
        let steps = Steps { increment, decrement, freeze };
        let random = Random::new(line.seed, "blue");
        Self { settings: settings.clone(), steps, control: Control::default(), idle_since: None, random }
    }

    fn overflows(&self, store: &Store, packet: &Packet) -> bool {
        let (packets, bytes) = (store.packets() + 1, store.bytes() + u64::from(packet.length));
        let is_long = self.settings.threshold.is_some_and(|most| most.is_exceeded_by(store.packets(), store.bytes()));
        is_long || store.limit().is_exceeded_by(packets, bytes)
    }
}

impl BufferPolicy for Blue {
    traits!(hears_idle = true);

    no_changes!();

    fn admit(&mut self, now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        if let Some(since) = self.idle_since.take() {
            self.control.idle(since, now, &self.steps);
        }
        if self.overflows(store, packet) {
            self.control.rise(now, &self.steps);
        }
        if self.random.unit() < self.control.probability() { super::early(self.settings.ecn) } else { Verdict::Pass }
    }

    fn idle(&mut self, now: Time) {
        let since = *self.idle_since.get_or_insert(now);
        self.control.idle(since, now, &self.steps);
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("probability", Unit::None, self.control.probability()));
    }
}
