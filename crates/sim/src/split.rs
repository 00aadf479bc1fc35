//! One run on several cores: each core simulates one part, and never beyond the time at which
//! another part could still affect it (conservative lookahead).
//!
//! Source: Chandy and Misra, "Distributed Simulation: A Case Study in Design and Verification of
//! Distributed Programs", IEEE Transactions on Software Engineering SE-5(5), 1979. What a part does
//! at t reaches another no sooner than t plus the least delay of the lines between them (the
//! lookahead). Each part publishes its progress; another may advance to the least of these times
//! plus its lookahead. Equal times go by component, and what concerns a component happens in one
//! part. So no result depends on the number of parts or on their speeds (docs/design/parallel.md).

use crate::partition::Partition;
use crate::run::Simulation;
use crate::run::part::Crossing;
use fairq_sched::units::Time;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Events between two reads of the other parts' progress.
const BATCH: usize = 256;
/// A waiting part spins this many times, then yields the core, then sleeps.
const SPINS: u32 = 200;
const YIELDS: u32 = 2000;
const SLEEP: std::time::Duration = std::time::Duration::from_micros(50);

/// What parts share with each other.
struct Exchange<'a> {
    partition: &'a Partition,
    /// By part: it will send no packet for an event before this time.
    clocks: Vec<Clock>,
    /// By part: the packets that have arrived for it.
    inboxes: Vec<Mutex<Vec<Crossing>>>,
}

/// A time in a cache line of its own.
#[repr(align(128))]
struct Clock(AtomicU64);

/// One part and its thread's state.
struct Worker<'a> {
    simulation: Simulation,
    part: usize,
    exchange: &'a Exchange<'a>,
    /// Packets that arrive, while they are taken over.
    crossings: Vec<Crossing>,
    /// Called with the part's progress; returns `false` to stop.
    on_progress: &'a (dyn Fn(usize, &Simulation) -> bool + Sync),
}

/// Runs the parts that `build` makes from zero to `end`, counting from `warm_up` on. Returns the
/// run as if it had been undivided, with its counts settled. `on_progress` is called with the
/// part's number and its state; if it returns `false`, the result is `None`.
pub fn run<E: Send>(
    partition: &Partition,
    build: &(dyn Fn() -> Result<Simulation, E> + Sync),
    [warm_up, end]: [Time; 2],
    on_progress: &(dyn Fn(usize, &Simulation) -> bool + Sync),
) -> Result<Option<Simulation>, E> {
    let exchange = Exchange::new(partition);
    let parts = std::thread::scope(|scope| {
        let start = |part: usize| {
            let exchange = &exchange;
            scope.spawn(move || {
                // Whatever happens in this part, the others must not wait for it.
                let _leaver = Leaver { exchange, part };
                let mut simulation = build()?;
                simulation.confine(partition, part as u32);
                let worker = Worker { simulation, part, exchange, crossings: Vec::new(), on_progress };
                Ok(worker.run([warm_up, end]))
            })
        };
        let threads: Vec<_> = (0..partition.parts).map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<Option<Simulation>, E>>| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).collect::<Result<Option<Vec<Simulation>>, E>>()
    })?;
    let Some(parts) = parts else { return Ok(None) };
    let mut parts = (0..).zip(parts);
    let whole = parts.next().map(|(_, first)| first);
    Ok(whole.map(|mut whole| {
        parts.for_each(|(part, other)| whole.absorb(other, partition, part));
        whole
    }))
}

impl<'a> Exchange<'a> {
    fn new(partition: &'a Partition) -> Self {
        let parts = 0..partition.parts;
        Self {
            partition,
            clocks: parts.clone().map(|_| Clock(AtomicU64::new(0))).collect(),
            inboxes: parts.map(|_| Mutex::default()).collect(),
        }
    }

    /// Before this time no packet reaches `part` that has not been sent yet.
    fn bound(&self, part: usize) -> Time {
        self.partition.bound(part, |other| Time(self.clocks[other].0.load(Ordering::Acquire)))
    }

    fn inbox(&self, part: usize) -> std::sync::MutexGuard<'_, Vec<Crossing>> {
        self.inboxes[part].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Promises that `part` sends no more packets for events before `time`, apart from those in
    /// inboxes.
    fn set_clock(&self, part: usize, time: Time) {
        self.clocks[part].0.store(time.0, Ordering::Release);
    }
}

/// Releases the other parts when a part has finished or failed.
struct Leaver<'a> {
    exchange: &'a Exchange<'a>,
    part: usize,
}

impl Drop for Leaver<'_> {
    fn drop(&mut self) {
        self.exchange.set_clock(self.part, Time::NEVER);
    }
}

impl Worker<'_> {
    fn run(mut self, [warm_up, end]: [Time; 2]) -> Option<Simulation> {
        if warm_up > Time::ZERO && !self.run_until(warm_up) {
            return None;
        }
        self.simulation.clear_counts();
        if !self.run_until(end) {
            return None;
        }
        self.simulation.settle();
        Some(self.simulation)
    }

    /// Runs every event up to `end`. Returns whether the run is to go on.
    fn run_until(&mut self, end: Time) -> bool {
        let mut waited = 0;
        loop {
            // The order matters: what was sent before a clock was set is in the inbox when it is
            // read below.
            let bound = self.exchange.bound(self.part);
            self.receive();
            let until = Time(bound.0 - 1).min(end);
            let has_more = self.simulation.advance(until, BATCH);
            self.send();
            let clock = if has_more { self.simulation.now() } else { Time(until.0 + 1) };
            self.exchange.set_clock(self.part, clock);
            if !has_more && until == end {
                self.simulation.pass(end);
                return (self.on_progress)(self.part, &self.simulation);
            }
            if has_more {
                waited = 0;
            } else {
                wait(&mut waited);
            }
            if waited % SPINS == 0 && !(self.on_progress)(self.part, &self.simulation) {
                return false;
            }
        }
    }

    fn receive(&mut self) {
        std::mem::swap(&mut self.crossings, &mut self.exchange.inbox(self.part));
        self.simulation.receive(self.crossings.drain(..));
    }

    fn send(&mut self) {
        for part in (0..self.exchange.partition.parts).filter(|part| *part != self.part) {
            if self.simulation.has_left(part) {
                self.simulation.fetch(part, &mut self.exchange.inbox(part));
            }
        }
    }
}

/// Waits for the others, longer with each call.
fn wait(waited: &mut u32) {
    *waited += 1;
    match *waited {
        0..SPINS => std::hint::spin_loop(),
        SPINS..YIELDS => std::thread::yield_now(),
        YIELDS.. => std::thread::sleep(SLEEP),
    }
}
