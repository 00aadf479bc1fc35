//! CHOKe: an arriving packet is compared with a random one of the queue; if both are of one flow,
//! both are dropped.
//!
//! Use when: one FIFO should hold back a flow that ignores signals, without state for flows. A
//! flood still gets up to 0.27 of the line: to hold it near its share use `sfb` or `afd`.
//! Source: Pan, Prabhakar and Psounis, "CHOKe: A Stateless Active Queue Management Scheme for
//! Approximating Fair Bandwidth Allocation", INFOCOM 2000 (figure 1).
//! Departs: what the comparison spares is RED's matter, so that a packet may be marked; above `max`
//! RED drops, all at once or, with `gentle`, more and more. As in Linux 6.1 (`choke_enqueue`,
//! `choke_match_random`, sch_choke.c) a match above `min` costs both packets, and nothing is marked
//! without `ecn`.
//! Chosen: the packet is picked uniformly from all that wait, in whatever queue, the head among
//! them; the one being sent is not picked. One packet is picked for each arrival (the basic
//! scheme).
//! Cost: O(1) a packet.
//! Bound: an unresponsive flow's share of what is sent falls with its rate and is at most about
//! 1/(e + 1) = 0.269 beside many flows that slow down, the number from memory (active_queues.rs:
//! choke_bounds_the_share_of_a_flood).
//! Changes: as `red`, whose average it goes by.

use super::red::{self, Red};
use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, Flow, Handle, Line, Slot, Verdict, Victim, traits};
use crate::control::red::Level;
use crate::facts::{Facts, Overflow};
use crate::packet::{Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::Reading;
use crate::store::Store;
use crate::units::{Bytes, Limit, Time};
use alloc::string::String;

settings! {
    /// RED's settings.
    pub struct Settings {
        /// Up to this average nothing is compared. In packets or in bytes: so is the queue
        /// measured.
        pub min: Limit = red::Settings::default().min,
        /// From this average on packets are dropped. In the unit of `min`.
        pub max: Limit = red::Settings::default().max,
        /// RED's probability when the average comes to `max`, in (0, 1].
        pub probability: f64 = red::Settings::default().probability,
        /// What the queue found by one arrival counts in the average, in (0, 1].
        pub weight: f64 = red::Settings::default().weight,
        /// Whether RED's probability goes on to 1 at twice `max` in place of a step.
        pub gentle: bool = red::Settings::default().gentle,
        /// Whether packets that accept a mark are marked where RED would drop them.
        pub ecn: bool = red::Settings::default().ecn,
        /// Whether such packets are dropped from `max` on all the same.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub hard_drop: bool = red::Settings::default().hard_drop,
        /// The usual length of a packet, for idle times.
        pub mean_packet: Bytes = red::Settings::default().mean_packet,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { marks_congestion: self.ecn, overflow: Overflow::Leaves, ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        self.red().fault_of("choke")
    }

    fn variants() -> alloc::vec::Vec<Self> {
        let (min, max) = (Limit::Packets(1), Limit::Packets(6));
        let quick = Self { min, max, weight: 0.5, gentle: true, ..Self::default() };
        alloc::vec![quick.clone(), Self { ecn: true, ..quick }]
    }
}

impl Settings {
    fn red(&self) -> red::Settings {
        let Self { min, max, probability, weight, gentle, ecn, hard_drop, mean_packet } = *self;
        red::Settings { min, max, probability, weight, gentle, ecn, hard_drop, mean_packet, ..red::Settings::default() }
    }
}

/// RED behind a comparison.
pub struct Choke {
    red: Red,
    random: Random,
    /// The packet that was picked and is of the flow of the arriving one.
    matched: Option<Handle>,
}

impl Choke {
    /// An empty queue and a line that has never sent.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let red = Red::named("choke", &settings.red(), line);
        Self { red, random: Random::new(line.seed, "choke/draw"), matched: None }
    }
}

impl BufferPolicy for Choke {
    traits!(hears_idle = true, draws_packets = true);

    fn admit(&mut self, now: Time, store: &Store, _queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        let level = self.red.see(now, store);
        if level != Level::Low
            && let Some((handle, entry)) = store.drawn(self.random.below(store.packets().max(1)))
            && entry.flow == flow.slot
        {
            self.matched = Some(handle);
            return Verdict::Drop(Reason::OverShare);
        }
        self.red.judge.verdict(level, packet)
    }

    fn victim(&mut self, _now: Time, _store: &Store, _arriving: Slot) -> Option<(Victim, Reason)> {
        self.matched.take().map(|handle| (Victim::Packet(handle), Reason::OverShare))
    }

    fn idle(&mut self, now: Time) {
        self.red.idle(now);
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        self.red.change(now, change)
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.red.readings(now, visit);
    }
}
