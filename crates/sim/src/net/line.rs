//! One direction of a link: a queueing discipline, a transmitter, and the packets in flight.

use fairq_link::line::Transmitter;
use fairq_sched::contract::Discipline;
use fairq_sched::ledger::Ledger;
use fairq_sched::units::{Rate, Time};
use std::collections::VecDeque;

/// What stands before a line of finite rate.
pub struct Gateway {
    /// The discipline, with its accounts.
    pub queue: Ledger<Box<dyn Discipline>>,
    /// When a transmission ends.
    pub transmitter: Transmitter,
    /// The packet being sent.
    pub serving: Option<u32>,
    /// When that ends, as told.
    pub end: Time,
    /// Whether the discipline may want to interrupt it.
    pub can_preempt: bool,
    /// Whether the discipline must be told that the line has become idle.
    pub notes_idle: bool,
}

/// One direction of a link.
pub struct Line {
    /// Nothing if the rate is unlimited: then a packet takes no time to send and never waits.
    pub gateway: Option<Gateway>,
    /// How long the last bit travels.
    pub delay: Time,
    /// Packets on their way, in the order they were sent, with their arrival.
    pub flights: VecDeque<(Time, u32)>,
    /// What was sent, and how long packets waited, since the counts were last cleared.
    pub counts: Counts,
}

/// What a line did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Packets whose transmission ended.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets dropped in its gateway.
    pub dropped: u64,
    /// Packets marked in its gateway.
    pub marked: u64,
    /// Waiting packets times picoseconds.
    pub area: u128,
    /// The most packets that waited.
    pub waiting_max: u64,
    /// Up to when the area is counted.
    pub counted: Time,
}

impl Line {
    /// An idle line.
    #[must_use]
    pub fn new(rate: Option<Rate>, delay: Time, queue: Box<dyn Discipline>) -> Self {
        let gateway = rate.map(|rate| Gateway {
            can_preempt: queue.can_preempt(),
            notes_idle: queue.notes_idle(),
            queue: Ledger::new(queue),
            transmitter: Transmitter::new(rate),
            serving: None,
            end: Time::NEVER,
        });
        Self { gateway, delay, flights: VecDeque::new(), counts: Counts::default() }
    }

    /// Packets waiting, being sent and in flight.
    #[must_use]
    pub fn packets(&self) -> u64 {
        let waiting = self.gateway.as_ref().map_or(0, |g| g.queue.waiting() + u64::from(g.serving.is_some()));
        waiting + self.flights.len() as u64
    }

    /// Counts what has waited up to now. Must be called before what waits changes; more often does no harm.
    #[inline]
    pub fn count_waiting(&mut self, now: Time) {
        let waiting = self.gateway.as_ref().map_or(0, |gateway| gateway.queue.waiting());
        if waiting > 0 {
            self.counts.area += u128::from(waiting) * u128::from((now - self.counts.counted).0);
        }
        self.counts.counted = now;
    }

    /// Notes how many wait now, if that is the most. To be called after what waits has settled.
    #[inline]
    pub fn note_most(&mut self) {
        if let Some(gateway) = &self.gateway {
            self.counts.waiting_max = self.counts.waiting_max.max(gateway.queue.waiting());
        }
    }

    /// Begins a new count: of what waits already, too.
    pub fn clear_counts(&mut self, now: Time) {
        self.counts = Counts { counted: now, ..Counts::default() };
        self.note_most();
    }
}
