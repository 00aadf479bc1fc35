//! Every discipline of the registry compared with its floor. Measurements alternate; the caller
//! provides the clock.

use super::RATE;
use super::backlog::{Backlog, Loop};
use super::floors::{Finishes, Nothing, Turns};
use super::mix::Mix;
use fairq_sched::card::Card;
use fairq_sched::contract::{Discipline, Line};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::units::Limit;
use fairq_text::near_miss;
use schemars::JsonSchema;
use serde::Serialize;
use std::hint::black_box;

/// What was measured: what `fairq bench disciplines --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// The floors, for each number of flows.
    pub floors: Vec<FloorRow>,
    /// A row for each discipline and number of flows.
    pub rows: Vec<Row>,
    /// What the numbers depend on besides the machine.
    pub run_info: RunInfo,
}

/// The speed of a floor.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FloorRow {
    /// `A` (flows in turn) or `B` (flows by finish number).
    pub floor: &'static str,
    /// The number of flows.
    pub flows: u32,
    /// CPU time of a packet in nanoseconds, the median of the turns.
    pub ns_per_packet: f64,
}

/// The speed and the unfairness of a discipline; all numbers are null if it cannot be measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Its name in the registry.
    pub discipline: &'static str,
    /// The part of the registry that holds it.
    pub part: &'static str,
    /// The number of flows.
    pub flows: u32,
    /// Why it cannot be measured; null if it was.
    pub note: Option<String>,
    /// CPU time of a packet in nanoseconds, the median of the turns.
    pub ns_per_packet: Option<f64>,
    /// The floor that it is compared with: `A` or `B`.
    pub floor: Option<&'static str>,
    /// Its time over that of its floor, the median of the turns.
    pub ratio: Option<f64>,
    /// The greatest difference of two of 16 flows, in greatest packets of a flow of weight 1; null
    /// if a flow was not backlogged throughout.
    pub unfairness_packets: Option<f64>,
    /// Bytes allocated for each flow when all flows were seen and no packet waits.
    pub idle_flow_bytes: Option<f64>,
    /// Bytes allocated for each flow when two packets of each wait.
    pub backlogged_flow_bytes: Option<f64>,
    /// The part of the packets that was dropped.
    pub dropped_share: Option<f64>,
}

/// What the numbers depend on besides the machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunInfo {
    /// The version of fairq.
    pub version: &'static str,
    /// `equal` or `mixed` weights and packets.
    pub load: &'static str,
    /// Packets that are timed together.
    pub exchanges: u64,
    /// Measurements of each; the median counts.
    pub turns: usize,
}

/// The floor that a discipline is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Floor {
    /// Flows in turn.
    A,
    /// Flows by finish number.
    B,
}

impl Floor {
    const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    /// A discipline whose card has a cost of O(log …) orders tags and is compared with B. One that
    /// serves in turn, or sorts into buckets, is compared with A. Buffer policies are measured over
    /// fifo.
    fn of(card: &Card) -> Self {
        if card.part != "buffer" && card.field("Cost").starts_with("O(log") { Self::B } else { Self::A }
    }
}

/// A discipline that is measured, with its default settings.
pub struct Subject(&'static Card);

/// The disciplines called `names`, or all of them if there are none: schedulers, buffer policies
/// over fifo, whole designs.
///
/// # Errors
/// An unknown name, with the near miss.
pub fn subjects(names: &[String]) -> Result<Vec<Subject>, String> {
    let all: Vec<&'static Card> = [SCHEDULERS, BUFFER_POLICIES, DESIGNS].into_iter().flatten().collect();
    if names.is_empty() {
        return Ok(all.into_iter().map(Subject).collect());
    }
    let find = |name: &String| {
        let found = all.iter().find(|card| card.is_called(name)).map(|card| Subject(card));
        let known = all.iter().flat_map(|card| std::iter::once(card.name).chain(card.aliases.iter().copied()));
        found.ok_or_else(|| format!("{name}: no such scheduler, buffer policy or design{}", near_miss(name, known)))
    };
    names.iter().map(find).collect()
}

impl Subject {
    /// Its name in the registry.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.0.name
    }

    /// The queue, without a limit if it does not need one; or why it cannot be measured alone.
    fn queue(&self, flows: u32) -> Result<Queue, String> {
        let name = self.0.name;
        let fifo = || Queue::unlimited_fifo();
        let queue = match self.0.part {
            "scheduler" => SchedulerSettings::by_name(name).map(|scheduler| Queue::new(scheduler, None)),
            "buffer" => Some(Queue { buffer: BufferSettings::by_name(name), ..fifo() }),
            _ => DesignSettings::by_name(name).map(|design| Queue::of_design(design, None)),
        };
        let queue = queue.unwrap_or_else(fifo);
        if queue.fault().is_none() {
            return Ok(queue);
        }
        let limited = Queue { limit: Some(Limit::Packets(4 * u64::from(flows))), ..queue };
        limited.fault().map_or(Ok(limited), Err)
    }

    /// The discipline with no packet waiting.
    ///
    /// # Errors
    /// Why it cannot be measured alone.
    pub fn backlog(&self, flows: u32, mix: Mix) -> Result<Box<dyn Backlog>, String> {
        let line = Line { weights: mix.weights(flows), ..Line::new(RATE) };
        Ok(Box::new(Loop::new(self.queue(flows)?.build(&line), flows, mix)))
    }
}

/// The parameters of a measurement.
pub struct Bench<'a> {
    /// Numbers of flows, powers of two.
    pub flows: &'a [u32],
    /// The flows' weights and packets.
    pub mix: Mix,
    /// Exchanges that are timed together.
    pub exchanges: u64,
    /// The number of measurements of each; the median counts.
    pub turns: usize,
    /// Returns seconds since any fixed time.
    pub clock: &'a mut dyn FnMut() -> f64,
    /// Returns the bytes held by the program, if they are known.
    pub held: &'a dyn Fn() -> Option<usize>,
    /// Called with the fraction done; returns `false` to stop.
    pub told: &'a mut dyn FnMut(f64) -> bool,
}

/// The floors for one number of flows, with their packets.
struct Floors {
    nothing: Box<dyn Backlog>,
    a: Box<dyn Backlog>,
    b: Box<dyn Backlog>,
}

impl Floors {
    fn new(flows: u32, mix: Mix) -> Self {
        let filled = |discipline: Box<dyn Discipline>| -> Box<dyn Backlog> {
            let mut backlog = Loop::new(discipline, flows, mix);
            backlog.fill();
            Box::new(backlog)
        };
        Self {
            nothing: filled(Box::new(Nothing::new(flows))),
            a: filled(Box::<Turns>::default()),
            b: filled(Box::new(Finishes::new(mix))),
        }
    }
}

/// Nanoseconds a packet of the floors for one number of flows, by turn.
#[derive(Default)]
struct FloorTimes {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl FloorTimes {
    fn rows(&self, flows: u32) -> impl Iterator<Item = FloorRow> {
        let rows = [("A", &self.a), ("B", &self.b)];
        rows.map(|(floor, times)| FloorRow { floor, flows, ns_per_packet: median(times) }).into_iter()
    }
}

/// Blocks of memory of all the sizes of small arrays, `blocks` of each: later allocations get other
/// addresses.
fn taken(blocks: usize) -> Vec<Vec<u8>> {
    (0..blocks).flat_map(|_| (5..14).map(|size| vec![0; 1 << size])).collect()
}

impl Bench<'_> {
    /// Measures `subjects`. `None` if `told` stopped it.
    pub fn run(&mut self, subjects: &[Subject]) -> Option<Measured> {
        let mut all: Vec<(u32, FloorTimes)> = self.flows.iter().map(|flows| (*flows, FloorTimes::default())).collect();
        let (mut rows, count) = (Vec::new(), (subjects.len() * all.len()) as f64);
        for subject in subjects {
            for (flows, floors) in &mut all {
                rows.push(self.row(subject, *flows, floors));
                if !(self.told)(rows.len() as f64 / count) {
                    return None;
                }
            }
        }
        let floors = all.iter().flat_map(|(flows, floors)| floors.rows(*flows)).collect();
        let run_info = RunInfo {
            version: env!("CARGO_PKG_VERSION"),
            load: self.mix.name(),
            exchanges: self.exchanges,
            turns: self.turns,
        };
        Some(Measured { floors, rows, run_info })
    }

    fn row(&mut self, subject: &Subject, flows: u32, of_floors: &mut FloorTimes) -> Row {
        let card = subject.0;
        let unmeasured = Row {
            discipline: card.name,
            part: card.part,
            flows,
            note: None,
            ns_per_packet: None,
            floor: None,
            ratio: None,
            unfairness_packets: None,
            idle_flow_bytes: None,
            backlogged_flow_bytes: None,
            dropped_share: None,
        };
        let before = (self.held)();
        let mut backlog = match subject.backlog(flows, self.mix) {
            Ok(found) => found,
            Err(fault) => return Row { note: Some(fault), ..unmeasured },
        };
        // What is allocated here beside the discipline.
        let own = flows as usize * size_of::<fairq_sched::packet::Header>();
        let of_flow = |now: Option<usize>| Some((now?.saturating_sub(before? + own)) as f64 / f64::from(flows));
        backlog.touch();
        let idle = of_flow((self.held)());
        backlog.fill();
        let backlogged = of_flow((self.held)());

        let (mut times, mut ratios, mut sent, mut dropped) = (Vec::new(), Vec::new(), 0, 0);
        let floor = Floor::of(card);
        for turn in 0..self.turns {
            // Each turn uses other memory, because times depend on the addresses of arrays.
            let _before = taken(turn);
            let mut floors = Floors::new(flows, self.mix);
            if let Ok(anew) = subject.backlog(flows, self.mix) {
                backlog = anew;
                backlog.fill();
            }
            let (nothing, _) = self.time(&mut *floors.nothing, flows, turn);
            let of_a = self.time(&mut *floors.a, flows, turn).0 - nothing;
            let of_b = self.time(&mut *floors.b, flows, turn).0 - nothing;
            let (own, packets) = self.time(&mut *backlog, flows, turn);
            sent += packets;
            dropped += backlog.dropped();
            of_floors.a.push(of_a);
            of_floors.b.push(of_b);
            times.push(own - nothing);
            ratios.push((own - nothing) / if floor == Floor::A { of_a } else { of_b });
        }
        // The worst unfairness over a run in which each flow has some turns.
        let unfairness = backlog.unfairness(16 * u64::from(flows.max(256)));
        Row {
            ns_per_packet: Some(median(&times)),
            floor: Some(floor.name()),
            ratio: Some(median(&ratios)),
            unfairness_packets: unfairness,
            idle_flow_bytes: idle,
            backlogged_flow_bytes: backlogged,
            dropped_share: Some(dropped as f64 / (dropped + sent).max(1) as f64),
            ..unmeasured
        }
    }

    /// Nanoseconds a packet of the loop around one discipline, and the number of packets that left.
    /// Successive turns use different stack addresses. Where the low address bits of the stack
    /// equal those of a discipline's memory, reads wait for unrelated writes (4 KiB aliasing), and
    /// a loop takes up to twice as long. A step of seven covers all offsets in few turns.
    fn time(&mut self, backlog: &mut dyn Backlog, flows: u32, turn: usize) -> (f64, u64) {
        let mut found = (f64::NAN, 0);
        below(7 * turn % FRAMES, &mut || {
            // Earlier measurements have evicted it from the caches.
            backlog.exchange(2 * u64::from(flows));
            let start = (self.clock)();
            let sent = backlog.exchange(self.exchanges);
            let seconds = (self.clock)() - start;
            found = (seconds * 1e9 / sent.max(1) as f64, sent);
        });
        found
    }
}

/// The number of frames that covers 4096 bytes, after which the low address bits, which processors
/// compare first, repeat.
const FRAMES: usize = 15;

/// Calls `act` with `frames` more frames of some 280 bytes on the stack.
#[inline(never)]
fn below(frames: usize, act: &mut dyn FnMut()) {
    let frame = black_box([0_u8; 256]);
    if frames == 0 {
        act()
    } else {
        below(frames - 1, act)
    }
    black_box(&frame);
}

/// The median; NaN without values.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_serves_in_the_order_it_is_made_for() {
        let unfairness = |discipline: Box<dyn Discipline>, mix| {
            let mut backlog = Loop::new(discipline, 16, mix);
            backlog.fill();
            backlog.exchange(100);
            backlog.unfairness(2000).unwrap()
        };
        // One packet of each flow in turn; and finish numbers, by which two flows differ by less
        // than their two packets.
        assert!((unfairness(Box::<Turns>::default(), Mix::Equal) - 1.0).abs() < 1e-9);
        assert!(unfairness(Box::new(Finishes::new(Mix::Mixed)), Mix::Mixed) <= 2.0);
        assert!(unfairness(Box::<Turns>::default(), Mix::Mixed) > 10.0);
    }

    #[test]
    fn every_discipline_has_a_row_and_a_wrong_name_a_near_miss() {
        let mut ticks = 0.0;
        let mut bench = Bench {
            flows: &[16],
            mix: Mix::Mixed,
            exchanges: 100,
            turns: 1,
            clock: &mut || {
                ticks += 1.0;
                ticks
            },
            held: &|| None,
            told: &mut |_| true,
        };
        let all = subjects(&[]).unwrap();
        let document = bench.run(&all).unwrap();
        assert_eq!(document.rows.len(), all.len());
        for row in document.rows {
            assert!(row.ns_per_packet.is_some() != row.note.is_some(), "{row:?}");
        }
        assert_eq!(document.floors.len(), 2);
        let error = subjects(&["fqq".to_owned()]).err().unwrap();
        assert!(error.contains("did you mean fq"), "{error}");
    }

    #[test]
    fn disciplines_that_order_tags_are_compared_with_the_heap_and_others_with_turns() {
        let floor = |name: &str| subjects(&[name.to_owned()]).map(|found| Floor::of(found[0].0)).unwrap();
        for name in ["fq", "virtual_clock"] {
            assert_eq!(floor(name), Floor::B, "{name}");
        }
        for name in ["fifo", "round_robin", "tail_drop", "longest_queue_drop"] {
            assert_eq!(floor(name), Floor::A, "{name}");
        }
    }
}
