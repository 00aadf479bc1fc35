//! AIFO: one FIFO that admits a packet if its rank is among the least of the latest arrivals, the
//! less the fuller it is.
//!
//! Use when: an order by rank is to be approximated with one FIFO, by refusing packets of high
//! rank. It needs `fifo` and a limit; with several queues use `sp_pifo`, for the exact order
//! `pifo`.
//! Source: Yu et al., "Programmable Packet Scheduling with a Single Queue", SIGCOMM 2021 (section
//! 4: quantile of a sliding window against the free part of the queue).
//! Chosen: every arrival enters the window, refused or not; while the window is empty everything is
//! admitted; a packet that is refused or dropped does not count in its flow's rank; the window (20)
//! and the headroom k (0.1) are settings, for their defaults are from memory.
//! Cost: O(window) a packet.
//! Bound: while less than k of the buffer is taken everything is admitted (ranked.rs:
//! aifo_admits_everything_in_its_headroom). It is meant for `fifo`; a queue without a limit admits
//! everything.
//! Changes: a weight counts for the ranks of the packets that arrive from then on; the window
//! stands. The free part of the buffer is that of the new limit at once. A rate means nothing to
//! it.

use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, HeldPacket, Line, Slot, Verdict, traits};
use crate::facts::{Facts, Overflow};
use crate::packet::{Packet, Reason};
use crate::part::{Part, settings};
use crate::program::{Named, Program, Rank};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Limit, Time};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

settings! {
    /// The program, the window and the headroom.
    pub struct Settings {
        /// The program that gives a packet its rank.
        pub rank: Rank = Rank::default(),
        /// How many of the latest ranks are remembered, 1 to 10000.
        pub window: u32 = 20,
        /// k, the part of the buffer that is kept for bursts; at least 0 and less than 1.
        pub headroom: f64 = 0.1,
        /// Every how many arrivals one is remembered; at least 1.
        pub sample: u32 = 1,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts { overflow: Overflow::Leaves, ..self.rank.facts() }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !(1..=10_000).contains(&self.window) {
            return Some(format!("aifo: window is {}; write 1 to 10000", self.window));
        }
        if !(0.0..1.0).contains(&self.headroom) {
            return Some(format!("aifo: headroom is {}; write at least 0 and less than 1", self.headroom));
        }
        (self.sample == 0).then(|| "aifo: sample is at least 1".into())
    }

    fn variants() -> Vec<Self> {
        alloc::vec![Self { rank: Rank::ShortestRemaining, window: 3, headroom: 0.0, sample: 2 }]
    }
}

/// The latest ranks, and the program that makes them.
pub struct Aifo {
    program: Named,
    settings: Settings,
    /// A ring of ranks; `next` is the oldest once it is full.
    window: Vec<u128>,
    next: usize,
    arrivals: u64,
    /// The flow of the packet that was admitted last, until it has joined.
    admitted: Option<Flow>,
    /// Ranks of waiting packets by the index of their handle.
    waiting: Vec<u128>,
}

impl Aifo {
    /// An empty window.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        Self {
            program: Named::new(settings.rank),
            settings: settings.clone(),
            window: Vec::with_capacity(settings.window as usize),
            next: 0,
            arrivals: 0,
            admitted: None,
            waiting: Vec::new(),
        }
    }

    fn remember(&mut self, rank: u128) {
        self.arrivals += 1;
        if !self.arrivals.is_multiple_of(u64::from(self.settings.sample)) {
            return;
        }
        if self.window.len() < self.settings.window as usize {
            self.window.push(rank);
            return;
        }
        self.window[self.next] = rank;
        self.next = (self.next + 1) % self.window.len();
    }

    /// The part of the remembered ranks that are less than `rank`.
    fn quantile(&self, rank: u128) -> f64 {
        if self.window.is_empty() {
            return 0.0;
        }
        self.window.iter().filter(|other| **other < rank).count() as f64 / self.window.len() as f64
    }
}

/// The part of the buffer that is free; `None` without a limit.
fn free(store: &Store) -> Option<f64> {
    let (taken, limit) = match store.limit() {
        Limit::Unlimited => return None,
        Limit::Packets(limit) => (store.packets(), limit),
        Limit::Bytes(limit) => (store.bytes(), limit),
    };
    Some((limit as f64 - taken as f64).max(0.0) / limit as f64)
}

impl BufferPolicy for Aifo {
    traits!(hears_joins = true, hears_idle = true);

    no_changes!(Weight);

    fn admit(&mut self, _now: Time, store: &Store, _queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        let rank = self.program.peek(flow, packet);
        let quantile = self.quantile(rank);
        self.remember(rank);
        match free(store) {
            // W.quantile(rank) ≤ 1/(1 - k) · (C - c)/C
            Some(free) if quantile > free / (1.0 - self.settings.headroom) => Verdict::Drop(Reason::Rank),
            _ => {
                self.admitted = Some(flow);
                Verdict::Pass
            }
        }
    }

    fn joined(&mut self, now: Time, _store: &Store, held: HeldPacket<'_>) {
        // An interrupted packet comes back to its place, with the rank it had.
        let Some(flow) = self.admitted.take().filter(|_| held.packet.unsent_bits == 0) else { return };
        let rank = self.program.rank(now, flow, held.packet);
        let index = held.handle.index() as usize;
        if self.waiting.len() <= index {
            self.waiting.resize(index + 1, 0);
        }
        self.waiting[index] = rank;
    }

    fn left(&mut self, _now: Time, _store: &Store, held: HeldPacket<'_>, is_sent: bool) {
        let rank = self.waiting[held.handle.index() as usize];
        if is_sent {
            self.program.sent(rank);
        } else {
            self.program.removed(held.flow, rank, held.packet);
        }
    }

    fn idle(&mut self, _now: Time) {
        self.program.idle();
    }

    fn is_clear(&mut self, _now: Time, flow: Slot) -> bool {
        self.program.is_clear(flow)
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("window_ranks", Unit::None, self.window.len() as u64));
    }
}
