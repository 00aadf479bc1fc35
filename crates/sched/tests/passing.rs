//! A discipline that is not shown the packets that may pass sends the same packets at the same times as one that is shown
//! all, for every discipline of the registry that lets packets pass.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::ledger::Ledger;
use fairq_sched::packet::{Fates, Outcome, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::units::{Limit, Rate, Time, Weight};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::header;

const FLOWS: u32 = 12;
/// A byte takes so many picoseconds on a line of 1 Gbit/s.
const BYTE: u64 = 8000;

/// What happened to a packet, and when.
type Deeds = Vec<(u64, u64, &'static str)>;

/// A line in front of a discipline; it shows it what it must, or everything.
struct Sender {
    queue: Ledger<Box<dyn Discipline>>,
    /// When the present transmission ends.
    end: Option<Time>,
    passed: Option<(Time, Packet, u32)>,
    up_to: u32,
    passes: usize,
    recalls: usize,
    deeds: Deeds,
}

impl Sender {
    fn begin(&mut self, now: Time, fates: &mut Fates) {
        if let Dequeue::Send(packet) = self.queue.dequeue(now, fates) {
            self.send(now, &packet);
        }
        self.note(now, fates);
    }

    fn send(&mut self, now: Time, packet: &Packet) {
        self.deeds.push((now.0, packet.token, "sent"));
        self.end = Some(now + Time(u64::from(packet.length) * BYTE));
    }

    fn note(&mut self, now: Time, fates: &mut Fates) {
        for fate in fates.drain(..) {
            if matches!(fate.outcome, Outcome::Dropped(_)) {
                self.deeds.push((now.0, fate.packet.token, "dropped"));
            }
        }
    }

    /// Transmissions that end before `now`: an arrival at the same instant comes first.
    fn settle(&mut self, now: Time) {
        while let Some(end) = self.end.filter(|end| *end < now) {
            self.end = None;
            if self.queue.waiting() > 0 {
                self.begin(end, &mut Fates::new());
            }
        }
    }

    fn arrive(&mut self, now: Time, packet: Packet, flow: u32) {
        self.settle(now);
        let mut fates = Fates::new();
        let is_idle = self.end.is_none();
        if is_idle && packet.length <= self.up_to && self.queue.may_pass(now) {
            self.passes += 1;
            self.passed = Some((now, packet, flow)).filter(|_| self.queue.recalls_passed());
            return self.send(now, &packet);
        }
        if let Some((time, packet, flow)) = self.passed.take().filter(|_| !is_idle) {
            self.recalls += 1;
            self.queue.recall(time, packet, &header(flow), &mut fates);
        }
        self.queue.enqueue(now, packet, &header(flow), &mut fates);
        self.note(now, &mut fates);
        if is_idle {
            self.begin(now, &mut fates);
        }
    }
}

fn sender(queue: &Queue, line: &Line, passes: bool) -> Sender {
    let queue = Ledger::new(queue.build(line));
    let up_to = if passes { queue.passes_when_idle() } else { 0 };
    Sender { queue, end: None, passed: None, up_to, passes: 0, recalls: 0, deeds: Vec::new() }
}

/// Runs the same arrivals past and through `queue`; how many passed, and how many of these were shown after all.
fn compare(queue: &Queue, line: &Line, seed: u64) -> (usize, usize) {
    let (mut with, mut without) = (sender(queue, line, true), sender(queue, line, false));
    let mut draw = Draw::new(seed);
    let mut now = Time(1);
    for token in 0..6000_u64 {
        // At first a packet of each flow at once, one that passes before them: the order in which flows are first seen may
        // matter to who loses.
        let (after, flow) = match token as u32 {
            early @ 0..=FLOWS => (0, early.saturating_sub(1)),
            _ if token % 1000 < 300 => (draw.below(1000 * BYTE), draw.below(u64::from(FLOWS)) as u32),
            _ => (draw.below(4000 * BYTE), draw.below(u64::from(FLOWS)) as u32),
        };
        now = now + Time(after);
        let packet = Packet::new(token, now, 40 + draw.below(1460) as u32);
        with.arrive(now, packet, flow);
        without.arrive(now, packet, flow);
    }
    with.settle(Time(u64::MAX / 2));
    without.settle(Time(u64::MAX / 2));
    assert_eq!(with.queue.waiting(), 0, "{}", queue.name());
    let differs = with.deeds.iter().zip(&without.deeds).find(|(mine, theirs)| mine != theirs);
    assert_eq!((differs, with.deeds.len()), (None, without.deeds.len()), "{} with seed {seed}", queue.name());
    (with.passes, with.recalls)
}

#[test]
fn what_passes_changes_nothing() {
    let rate = Rate::new(1_000_000_000).expect("a rate");
    let weight = |flow: u32| Weight::from_thousandths(500 * (1 + flow % 5)).expect("a weight");
    let line = Line { weights: (0..FLOWS).map(|flow| (header(flow), weight(flow))).collect(), ..Line::new(rate) };
    let (mut passing, mut recalling) = (Vec::new(), Vec::new());
    for card in SCHEDULERS {
        for settings in SchedulerSettings::variants(card.name) {
            for buffer in
                [BufferSettings::TailDrop(Default::default()), BufferSettings::LongestQueueDrop(Default::default())]
            {
                for limit in [None, Some(Limit::Packets(9)), Some(Limit::Bytes(7000))] {
                    let queue = Queue { buffer: Some(buffer.clone()), ..Queue::new(settings.clone(), limit) };
                    if queue.fault().is_some() || queue.build(&line).passes_when_idle() == 0 {
                        continue;
                    }
                    for seed in 1..4 {
                        let (passes, recalls) = compare(&queue, &line, seed);
                        assert!(passes > 500, "{}: {passes} passed", queue.name());
                        passing.push(card.name);
                        if recalls > 100 {
                            recalling.push(card.name);
                        }
                    }
                }
            }
        }
    }
    passing.dedup();
    recalling.dedup();
    assert_eq!((passing, recalling), (vec!["drr", "fifo", "fq", "round_robin", "wfq"], vec!["fq", "wfq"]));
}
