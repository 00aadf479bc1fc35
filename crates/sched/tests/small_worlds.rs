//! Every sequence of six operations on three flows, for each scheduler, against the plain oracle.

use fairq_sched::buffer::longest_queue_drop;
use fairq_sched::contract::{Dequeue, Discipline, End, Handle, Line};
use fairq_sched::packet::{Fates, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SchedulerSettings};
use fairq_sched::schedule::{fq, token_bucket};
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_testkit::discipline_oracle::{Algorithm, Answer, Exact, Loser, Oracle};
use fairq_testkit::driver::header;

const STEPS: u32 = 6;
const FLOWS: usize = 3;
const LIMIT: usize = 3;
/// Picoseconds in the oracle's microsecond.
const US: i64 = 1_000_000;

/// What may happen; a microsecond passes before each, unless a transmission ends before.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// A packet of the flow arrives.
    Arrive(usize, i64),
    /// The transmission ends, and the line asks for the next packet.
    End,
    /// The owner takes out the second of the waiting packets, or the only one.
    Remove,
}
use Operation::{Arrive, Remove};

const OPERATIONS: [Operation; 8] =
    [Arrive(0, 2), Arrive(0, 3), Arrive(1, 2), Arrive(1, 3), Arrive(2, 2), Arrive(2, 3), Operation::End, Remove];

struct World {
    discipline: Box<dyn Discipline>,
    oracle: Oracle,
    now: i64,
    busy_until: Option<i64>,
    handles: Vec<Option<Handle>>,
    lengths: Vec<i64>,
    interrupted: Vec<u64>,
    fates: Fates,
}

impl World {
    fn time(&self) -> Time {
        Time((self.now * US) as u64)
    }

    fn ask(&mut self) {
        loop {
            let expected = self.oracle.dequeue(self.now.into());
            let answer = self.discipline.dequeue(self.time(), &mut self.fates);
            match (expected, answer) {
                (Answer::Send(token), Dequeue::Send(packet)) if packet.token == token => {
                    let left = packet.bits_to_send().div_ceil(8) as i64;
                    self.busy_until = Some(self.now + left);
                    return;
                }
                (Answer::NotBefore(time), Dequeue::NotBefore(at)) if time * US == Exact::from(at.0 as i64) => {
                    assert!(time.is_integer());
                    self.now = time.to_integer();
                }
                (Answer::Empty, Dequeue::Empty) => {
                    self.busy_until = None;
                    return;
                }
                _ => panic!("expected {expected:?}, got {answer:?}"),
            }
        }
    }

    fn run(&mut self, operation: Operation) {
        let passed = self.now + 1;
        self.now = self.busy_until.map_or(passed, |end| end.min(passed));
        match operation {
            Arrive(flow, length) => {
                let token = self.handles.len() as u64;
                let packet = Packet::new(token, self.time(), length as u32);
                let handle = self.discipline.enqueue(self.time(), packet, &header(flow as u32), &mut self.fates);
                self.handles.push(handle);
                self.lengths.push(length);
                let dropped: Vec<u64> = self.fates.drain(..).map(|fate| fate.packet.token).collect();
                assert_eq!(dropped, self.oracle.enqueue(self.now.into(), token, flow, length), "dropped");
                assert_eq!(self.discipline.preempts(), self.oracle.preempts(), "preempts");
                if let Some(unsent) = self.busy_until.map(|end| end - self.now)
                    && unsent > 0
                    && self.oracle.preempts()
                {
                    self.discipline.put_back(self.time(), unsent as u32 * 8);
                    self.interrupted.extend(self.oracle.put_back());
                    self.ask();
                }
            }
            Operation::End => {
                self.now = self.busy_until.unwrap_or(self.now);
                self.ask();
            }
            Remove => {
                let mut waiting: Vec<u64> = self.oracle.waiting().collect();
                waiting.sort_unstable();
                let Some(token) = waiting.get(1).or(waiting.first()).copied() else { return };
                let handle = self.handles[token as usize].expect("what waits was held");
                let removed = self.discipline.remove(self.time(), handle).map(|packet| packet.token);
                if self.interrupted.contains(&token) {
                    assert_eq!(removed, None, "a packet that was sent in part has lost its handle");
                } else {
                    assert_eq!(removed, Some(token));
                    self.oracle.remove(self.now.into(), token);
                }
            }
        }
        let held = self.discipline.held();
        let bytes: i64 = self.oracle.waiting().map(|token| self.lengths[token as usize]).sum();
        assert_eq!((held.packets, held.bytes), (self.oracle.waiting().count() as u64, bytes as u64), "held");
    }
}

/// Names the sequence if the test fails in it.
struct Sequence<'a> {
    queue: &'a Queue,
    operations: &'a [Operation],
}

impl Drop for Sequence<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed in {:?} of {:?}", self.operations, self.queue);
        }
    }
}

/// Every sequence for one discipline.
fn all_sequences(scheduler: &SchedulerSettings, algorithm: Algorithm, loser: Loser, weights: [i64; FLOWS]) {
    let buffer = match loser {
        Loser::Arriving => BufferSettings::TailDrop(Default::default()),
        Loser::LongestFront => BufferSettings::LongestQueueDrop(longest_queue_drop::Settings { from: End::Front }),
        Loser::LongestTail => BufferSettings::LongestQueueDrop(longest_queue_drop::Settings { from: End::Tail }),
    };
    let queue = Queue { buffer: Some(buffer), ..Queue::new(scheduler.clone(), Some(Limit::Packets(LIMIT as u64))) };
    let weight = |weight: i64| Weight::from_thousandths(weight as u32 * 1000).expect("small weights");
    let weights_of = (0..).zip(weights).map(|(flow, of)| (header(flow), weight(of)));
    let rate = Rate::new(8_000_000).expect("a byte a microsecond");
    let line = Line { weights: weights_of.collect(), ..Line::new(rate) };
    for code in 0..OPERATIONS.len().pow(STEPS) {
        let operations: [Operation; STEPS as usize] =
            core::array::from_fn(|at| OPERATIONS[code / OPERATIONS.len().pow(at as u32) % OPERATIONS.len()]);
        // Without a packet nothing happens: such a beginning is a shorter sequence, and those are
        // beginnings of others.
        if !matches!(operations[0], Arrive(..)) {
            continue;
        }
        let mut world = World {
            discipline: queue.build(&line),
            oracle: Oracle::new(algorithm, loser, LIMIT, &weights),
            now: 0,
            busy_until: None,
            handles: Vec::with_capacity(STEPS as usize),
            lengths: Vec::with_capacity(STEPS as usize),
            interrupted: Vec::new(),
            fates: Fates::new(),
        };
        let _replay = Sequence { queue: &queue, operations: &operations };
        for operation in operations {
            world.run(operation);
        }
        // Then everything leaves.
        while world.oracle.waiting().next().is_some() {
            world.run(Operation::End);
        }
    }
}

const EQUAL: [i64; FLOWS] = [1, 1, 1];
const UNEQUAL: [i64; FLOWS] = [2, 1, 1];

#[test]
fn fifo_is_the_plain_queue() {
    let fifo = SchedulerSettings::Fifo(Default::default());
    for loser in [Loser::Arriving, Loser::LongestFront] {
        all_sequences(&fifo, Algorithm::Fifo, loser, EQUAL);
    }
}

#[test]
fn round_robin_is_the_plain_round() {
    let round_robin = SchedulerSettings::RoundRobin(Default::default());
    for loser in [Loser::Arriving, Loser::LongestFront, Loser::LongestTail] {
        all_sequences(&round_robin, Algorithm::RoundRobin, loser, EQUAL);
    }
}

#[test]
fn virtual_clock_is_the_plain_stamps() {
    let clock = SchedulerSettings::VirtualClock(Default::default());
    all_sequences(&clock, Algorithm::VirtualClock, Loser::LongestTail, EQUAL);
    all_sequences(&clock, Algorithm::VirtualClock, Loser::LongestFront, UNEQUAL);
}

#[test]
fn token_bucket_is_the_plain_bucket() {
    for (burst, loser) in [(2, Loser::Arriving), (4, Loser::LongestFront)] {
        let bucket = token_bucket::Settings { burst: Bytes(burst as u64), ..Default::default() };
        all_sequences(&SchedulerSettings::TokenBucket(bucket), Algorithm::TokenBucket { burst }, loser, EQUAL);
    }
}

/// FQ with these settings, in exact fractions.
fn fq_sequences(delta: i64, on_drop: fq::OnDrop, preemptive: bool, loser: Loser, weights: [i64; FLOWS]) {
    let settings = fq::Settings { delta: Bytes(delta as u64), preemptive, on_drop };
    let refunds = on_drop == fq::OnDrop::Refund;
    all_sequences(&SchedulerSettings::Fq(settings), Algorithm::Fq { delta, refunds, preemptive }, loser, weights);
}

#[test]
fn fq_is_the_papers_bids_in_exact_fractions() {
    fq_sequences(0, fq::OnDrop::Charge, false, Loser::LongestTail, EQUAL);
    fq_sequences(2, fq::OnDrop::Charge, false, Loser::Arriving, UNEQUAL);
}

#[test]
fn fq_with_refunds_is_the_papers_bids_in_exact_fractions() {
    fq_sequences(0, fq::OnDrop::Refund, false, Loser::LongestFront, UNEQUAL);
    fq_sequences(1000, fq::OnDrop::Refund, false, Loser::LongestTail, EQUAL);
}

#[test]
fn preemptive_fq_is_the_papers_bids_in_exact_fractions() {
    fq_sequences(0, fq::OnDrop::Charge, true, Loser::LongestTail, EQUAL);
    fq_sequences(2, fq::OnDrop::Refund, true, Loser::LongestFront, UNEQUAL);
}
