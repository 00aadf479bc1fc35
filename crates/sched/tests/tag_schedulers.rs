//! The schedulers that order packets by tags, packet by packet: worked examples, plain oracles in
//! exact fractions that tag every packet when it arrives, and each other where one is the limit of
//! another. Their bounds are in `tag_bounds.rs`.

use fairq_sched::buffer::longest_queue_drop;
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Dequeue, Discipline, End, Handle, Held, Line};
use fairq_sched::packet::{Address, Fates, Header, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::reading::Reading;
use fairq_sched::registry::{BufferSettings, SchedulerSettings};
use fairq_sched::schedule::leap_forward_virtual_clock;
use fairq_sched::traits::Traits;
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_sched::waiting::Waiting;
use fairq_testkit::arrivals::{self, Load, Pattern};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Arrival, Driver, header};
use fairq_testkit::tag_oracle::{Algorithm, TagOracle};
use fairq_testkit::uneven_line;

fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight of the test")
}

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

fn scheduler(name: &str) -> SchedulerSettings {
    SchedulerSettings::by_name(name).expect("a scheduler of the registry")
}

fn leap_forward(ahead: u64) -> SchedulerSettings {
    SchedulerSettings::LeapForwardVirtualClock(leap_forward_virtual_clock::Settings { ahead: Bytes(ahead) })
}

fn line(rate: Rate, weights: &[Weight]) -> Line {
    Line { weights: (0..).zip(weights).map(|(flow, weight)| (header(flow), *weight)).collect(), ..Line::new(rate) }
}

/// Each scheduler and the algorithm of its oracle.
fn algorithms() -> Vec<(SchedulerSettings, Algorithm)> {
    vec![
        (scheduler("wfq"), Algorithm::Wfq),
        (scheduler("wf2q"), Algorithm::Wf2q),
        (scheduler("scfq"), Algorithm::Scfq),
        (scheduler("sfq"), Algorithm::Sfq),
        (scheduler("wf2q_plus"), Algorithm::Wf2qPlus),
        (leap_forward(0), Algorithm::LeapForward { ahead: 0 }),
        (leap_forward(1000), Algorithm::LeapForward { ahead: 1000 }),
    ]
}

/// A discipline beside the oracle of its algorithm, which is told of every drop.
struct Compared {
    discipline: Checked,
    oracle: TagOracle,
}

impl Compared {
    fn new(queue: &Queue, line: &Line, algorithm: Algorithm, weights: &[Weight]) -> Self {
        let discipline = Checked::new(Rules::of(queue), || queue.build(line));
        Self { discipline, oracle: TagOracle::new(algorithm, line.rate, weights) }
    }
}

impl Discipline for Compared {
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, ..Traits::PLAIN }
    }
    fn enqueue(&mut self, now: Time, packet: Packet, from: &Header, fates: &mut Fates) -> Option<Handle> {
        let Address::Node(flow) = from.source else { panic!("a node of the test") };
        let before = fates.len();
        let handle = self.discipline.enqueue(now, packet, from, fates);
        let dropped = || {
            fates[before..].iter().filter_map(|fate| match fate.outcome {
                Outcome::Dropped(reason) => Some((fate.packet.token, reason)),
                Outcome::Marked(_) => None,
            })
        };
        // What is refused never joined; what is pushed out did.
        if !dropped().any(|drop| drop == (packet.token, Reason::BufferFull)) {
            self.oracle.arrive(now, packet.token, flow, packet.length);
            dropped().for_each(|(token, _)| self.oracle.remove(now, token));
        }
        handle
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        let answer = self.discipline.dequeue(now, fates);
        let sent = if let Dequeue::Send(packet) = answer { Some(packet.token) } else { None };
        assert_eq!(sent, self.oracle.dequeue(now), "sent, and what the oracle sends, at {now:?}");
        answer
    }

    fn held(&self) -> Held {
        self.discipline.held()
    }

    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        let removed = self.discipline.remove(now, handle);
        removed.inspect(|packet| self.oracle.remove(now, packet.token))
    }

    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        if let Change::Weight(header, weight) = *change {
            let Address::Node(flow) = header.source else { panic!("a node of the test") };
            self.oracle.weight_changed(now, flow, weight);
        }
        self.discipline.change(now, change)
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.discipline.readings(now, visit);
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.discipline.waiting(visit);
    }
}

/// Random arrivals for a few flows.
struct Case {
    weights: Vec<Weight>,
    line: Line,
    arrivals: Vec<Arrival>,
}

impl Case {
    fn new(pattern: Pattern, seed: u64, flows: u32, packets: usize) -> Self {
        let rates = [56_000, 1_000_000, 999_999_937, 10_000_000_000];
        let load = Load { rate: rate(rates[seed as usize % rates.len()]), flows, packets };
        let weights = match seed % 5 {
            // Thirds and sevenths, which no tag holds exactly; and one flow of a million times the
            // others' weight.
            3 => (0..flows).map(|flow| weight([3000, 7000, 1000][flow as usize % 3])).collect(),
            4 => (0..flows).map(|flow| if flow == 1 { Weight::MAX } else { Weight::ONE }).collect(),
            _ => arrivals::weights(flows, seed),
        };
        let list = arrivals::arrivals(pattern, load, seed);
        let arrivals = list.into_iter().map(|(time, flow, length)| Arrival { time, flow, length }).collect();
        Self { line: line(load.rate, &weights), weights, arrivals }
    }
}

/// All patterns under `seeds` seeds.
fn cases(seeds: u64, flows: u32, packets: usize, mut test: impl FnMut(u64, Case)) {
    for pattern in Pattern::ALL {
        for seed in 0..seeds {
            let _replay = Replay(format!("{pattern:?}, seed {seed}, {flows} flows, {packets} packets"));
            test(seed, Case::new(pattern, seed, flows, packets));
        }
    }
}

#[test]
fn every_packet_leaves_when_the_plain_oracle_sends_it() {
    for (scheduler, algorithm) in algorithms() {
        let queue = Queue::new(scheduler, None);
        let _replay = Replay(queue.name());
        cases(15, 6, 80, |_, case| {
            let mut driver = Driver::new(Compared::new(&queue, &case.line, algorithm, &case.weights), case.line.rate);
            case.arrivals.iter().for_each(|arrival| driver.offer(*arrival));
            driver.finish();
        });
    }
}

#[test]
fn drops_removals_and_changes_of_weight_leave_the_same_tags_as_in_the_plain_oracle() {
    for (scheduler, algorithm) in algorithms() {
        let _replay = Replay(format!("{scheduler:?}"));
        let mut drops = 0;
        cases(12, 5, 80, |seed, case| {
            let mut draw = Draw::new(seed);
            let lqd = |from| BufferSettings::LongestQueueDrop(longest_queue_drop::Settings { from });
            let tail_drop = BufferSettings::by_name("tail_drop").expect("it is in the registry");
            let buffer = [lqd(End::Tail), lqd(End::Front), tail_drop][seed as usize % 3].clone();
            // A limit of one or two packets empties flows by drops.
            let limit = Limit::Packets(draw.pick(&[1, 2, 4, 8]));
            let queue = Queue { buffer: Some(buffer), ..Queue::new(scheduler.clone(), Some(limit)) };
            let mut driver = Driver::new(Compared::new(&queue, &case.line, algorithm, &case.weights), case.line.rate);
            for (at, arrival) in case.arrivals.iter().enumerate() {
                driver.offer(*arrival);
                if draw.once_in(4) {
                    driver.remove((at as u64).saturating_sub(draw.below(6)));
                }
                if draw.once_in(10) {
                    let (flow, weight) = (draw.below(5) as u32, weight(draw.pick(&[500, 1000, 3000, 7000])));
                    let now = driver.now();
                    driver
                        .discipline_mut()
                        .change(now, &Change::Weight(header(flow), weight))
                        .expect("it goes by weights");
                    driver.ask_again();
                }
            }
            driver.finish();
            drops += driver.journeys.iter().filter(|journey| journey.departure().is_none()).count();
        });
        assert!(drops > 1000, "{drops} drops are too few to mean anything");
    }
}

#[test]
fn the_plain_oracle_agrees_on_a_line_whose_rate_varies_in_any_way() {
    for (scheduler, algorithm) in algorithms() {
        let queue = Queue::new(scheduler, None);
        let _replay = Replay(queue.name());
        cases(10, 5, 60, |seed, case| {
            let compared = Compared::new(&queue, &case.line, algorithm, &case.weights);
            let journeys =
                uneven_line::run(compared, &case.arrivals, case.line.rate.time_of_bits(8000), &mut Draw::new(seed));
            assert!(journeys.iter().all(|journey| journey.departure().is_some()));
        });
    }
}

/// A packet of `length` bytes.
const fn packet(second: u64, flow: u32, length: u32) -> Arrival {
    Arrival { time: Time::from_s(second), flow, length }
}

/// Which flows' packets leave, in order, on a line of a byte a second.
fn order(scheduler: SchedulerSettings, weights: &[Weight], arrivals: &[Arrival]) -> Vec<u32> {
    let queue = Queue::new(scheduler, None);
    let line = line(rate(8), weights);
    let mut driver = Driver::new(Checked::new(Rules::of(&queue), || queue.build(&line)), line.rate);
    arrivals.iter().for_each(|arrival| driver.offer(*arrival));
    driver.finish();
    driver.order.iter().map(|token| arrivals[*token as usize].flow).collect()
}

#[test]
fn the_case_of_eleven_flows() {
    // Bennett and Zhang, INFOCOM 1996: a flow with half the line sends eleven packets at once, ten
    // flows with a twentieth each send one. Its S are 0, 2, 4 … and its F 2, 4 … 22; the others
    // have S = 0 and F = 20. Flow 0 comes first.
    let mut weights = vec![weight(50); 11];
    weights[0] = weight(500);
    let mut arrivals = vec![packet(0, 0, 1); 11];
    arrivals.extend((1..11).map(|flow| packet(0, flow, 1)));
    let others = 1..11;
    // WFQ: ten in a row (the tenth ties with the others and came first), the ten others, the
    // eleventh.
    let in_a_row: Vec<u32> = [0; 10].into_iter().chain(others.clone()).chain([0]).collect();
    // WF2Q: its next one has begun in the fluid every second time only.
    let by_turns: Vec<u32> = others.flat_map(|other| [0, other]).chain([0]).collect();
    for (name, expected) in [("wfq", &in_a_row), ("wf2q", &by_turns), ("wf2q_plus", &by_turns), ("scfq", &in_a_row)] {
        assert_eq!(&order(scheduler(name), &weights, &arrivals), expected, "{name}");
    }
    // All begin at S = 0: first flow 0, then the ten others, for their S are less than its second.
    let by_start: Vec<u32> = core::iter::once(0).chain(1..11).chain([0; 10]).collect();
    assert_eq!(order(scheduler("sfq"), &weights, &arrivals), by_start);
    // A packet of flow 0 takes 2 s of its clock, those of the others 20 s: as WF2Q, by clocks of
    // real time.
    assert_eq!(order(leap_forward(0), &weights, &arrivals)[..4], [0, 1, 0, 2]);
}

#[test]
fn small_cases_checked_by_hand() {
    // A, of weight 1, has 4, 4, 4 bytes at 0; B, of weight 2, has 2, 2 at 1; C, of weight 1, has 3
    // at 5.
    let weights = [weight(1000), weight(2000), weight(1000)];
    let arrivals =
        [packet(0, 0, 4), packet(0, 0, 4), packet(0, 0, 4), packet(1, 1, 2), packet(1, 1, 2), packet(5, 2, 3)];
    // SCFQ. A: F = 4, 8, 12. At 1 V = 4: B: F = 5, 6. At 4 B goes, V = 5; at 5 C: F = 8. At 6 B; at
    // 8 A's second (F = 8, it came before C), then C, then A.
    assert_eq!(order(scheduler("scfq"), &weights, &arrivals), [0, 1, 1, 0, 2, 0]);
    // SFQ. A: S = 0, 4, 8. At 1 V = 0: B: S = 0, 1. At 4 B goes, V = 0; at 5 C: S = 0. At 6 C, then
    // B (1), A (4), A (8).
    assert_eq!(order(scheduler("sfq"), &weights, &arrivals), [0, 1, 2, 1, 0, 0]);
    // WF2Q+. A: S = 0, F = 4, then S = 4. At 1 V = 1: B: S = 1, F = 2. At 4 V = 2: A has not begun,
    // B goes, then has S = 2, F = 3. At 5 V = 2 1/3: C: S = 2 1/3. At 6 V = 2 7/12: B (3). At 8
    // V = 3 1/12: C, for A still has not begun.
    assert_eq!(order(scheduler("wf2q_plus"), &weights, &arrivals), [0, 1, 1, 2, 0, 0]);
    // WFQ. R(1) = 1: B: S = 1, F = 2, 3. From there dR = 1/3: R(5) = 2 1/3, C: F = 5 1/3. At 4 B, 6
    // B, 8 C (5 1/3), A (8).
    assert_eq!(order(scheduler("wfq"), &weights, &arrivals), [0, 1, 1, 2, 0, 0]);
    // WF2Q. The same: at 4 R = 2, B has begun; at 6 R = 2 + 1/3 + 1/4: so have B's second (S = 2)
    // and C (S = 2 1/3).
    assert_eq!(order(scheduler("wf2q"), &weights, &arrivals), [0, 1, 1, 2, 0, 0]);
}

#[test]
fn wfq_is_fq_without_delta() {
    cases(30, 6, 300, |_, case| {
        let run = |name: &str| {
            let queue = Queue::new(scheduler(name), None);
            Driver::new(queue.build(&case.line), case.line.rate).run(&case.arrivals)
        };
        let departures = |name| run(name).iter().map(|journey| journey.departure()).collect::<Vec<_>>();
        assert_eq!(departures("wfq"), departures("fq"));
    });
}

#[test]
fn never_leaping_is_virtual_clock() {
    // A byte takes a microsecond, and weights are such that stamps are whole picoseconds. Every
    // flow shows up first: a new one would slow the one clock for all, and with Virtual Clock the
    // stamps of later packets. Packets come together, to empty queues, when the clocks of flows
    // that have sent much are far ahead.
    let mut differs = 0;
    for (pattern, seed) in Pattern::ALL.into_iter().flat_map(|pattern| (0..30).map(move |seed| (pattern, seed))) {
        let _replay = Replay(format!("{pattern:?}, seed {seed}"));
        let weights = [[1000, 1000, 1000, 1000, 1000], [500, 2000, 4000, 1000, 2500]][seed as usize % 2].map(weight);
        let line = line(rate(8_000_000), &weights);
        let list = arrivals::arrivals(pattern, Load { rate: line.rate, flows: 5, packets: 300 }, seed);
        let first = (0..5).map(|flow| Arrival { time: Time::ZERO, flow, length: 1 });
        let mut draw = Draw::new(seed);
        let mut together = Vec::<Arrival>::new();
        let mut time = Time::from_s(1);
        for burst in list.chunk_by(|_, _| !draw.once_in(20)) {
            together.extend(burst.iter().map(|&(_, flow, length)| Arrival { time, flow, length }));
            let bytes: u64 = burst.iter().map(|(.., length)| u64::from(*length)).sum();
            time = time + line.rate.time_of_bits(8 * bytes) + Time(1);
        }
        let arrivals: Vec<Arrival> = first.chain(together).collect();
        let run = |scheduler: SchedulerSettings| {
            let journeys = Driver::new(Queue::new(scheduler, None).build(&line), line.rate).run(&arrivals);
            journeys[5..].iter().map(|journey| journey.departure()).collect::<Vec<_>>()
        };
        let virtual_clock = run(scheduler("virtual_clock"));
        assert!(run(leap_forward(1 << 60)) == virtual_clock, "not the same packets at the same times");
        differs += u32::from(run(leap_forward(0)) != virtual_clock);
    }
    assert!(differs > 100, "{differs}: leaping should matter");
}

#[test]
fn a_flow_that_returns_within_a_busy_period_pays_what_it_owes() {
    // Two flows of equal weight. Flow 0 sends a packet of ten bytes, and a next one each time that
    // it is gone; flow 1 always waits with packets of one. A record forgotten too early would let
    // flow 0 go first each time.
    for name in ["wfq", "wf2q", "scfq", "sfq", "wf2q_plus", "leap_forward_virtual_clock"] {
        let _replay = Replay(name.to_owned());
        let queue = Queue::new(scheduler(name), None);
        let line = Line::new(rate(8));
        let mut driver = Driver::new(Checked::new(Rules::of(&queue), || queue.build(&line)), line.rate);
        (0..1000).for_each(|_| driver.offer(packet(0, 1, 1)));
        for second in 0..1000 {
            // It comes back a second after its last packet has left.
            let sent = |journey: &&fairq_testkit::driver::Journey| journey.arrival.flow == 0;
            let last = driver.journeys.iter().rfind(sent).map(|journey| journey.departure());
            if last.is_none_or(|end| end.is_some_and(|end| end < Time::from_s(second))) {
                driver.offer(packet(second, 0, 10));
            }
            driver.advance(Time::from_s(second));
        }
        let served = driver.order.iter().filter(|token| driver.journeys[**token as usize].arrival.flow == 0).count();
        assert!((40..=52).contains(&served), "{served} packets of ten in 1000 s are not half");
    }
}

#[test]
fn a_flow_that_loses_packets_is_served_its_share_and_no_less() {
    // Two flows offer three times what the line carries; one of them loses most of it.
    for (name, from) in ["wfq", "wf2q", "scfq", "sfq", "wf2q_plus", "leap_forward_virtual_clock"]
        .into_iter()
        .flat_map(|name| [(name, End::Front), (name, End::Tail)])
    {
        let _replay = Replay(format!("{name}, {from:?}"));
        let buffer = Some(BufferSettings::LongestQueueDrop(longest_queue_drop::Settings { from }));
        let queue = Queue { buffer, ..Queue::new(scheduler(name), Some(Limit::Packets(20))) };
        let line = Line::new(rate(8));
        let mut driver = Driver::new(queue.build(&line), line.rate);
        for second in 0..2000 {
            [0, 0, 1].into_iter().for_each(|flow| driver.offer(packet(second, flow, 1)));
        }
        let shares = [0, 1].map(|flow| {
            driver.order.iter().filter(|token| driver.journeys[**token as usize].arrival.flow == flow).count()
        });
        assert!(shares[0].abs_diff(shares[1]) <= 20, "{name}, {from:?}: {shares:?}");
    }
}

#[test]
fn a_weight_counts_from_when_it_is_changed() {
    for name in ["wfq", "wf2q", "scfq", "sfq", "wf2q_plus", "leap_forward_virtual_clock"] {
        let _replay = Replay(name.to_owned());
        let queue = Queue::new(scheduler(name), None);
        let line = Line::new(rate(8));
        let mut driver = Driver::new(Checked::new(Rules::of(&queue), || queue.build(&line)), line.rate);
        // Two flows always wait.
        (0..10).for_each(|at| driver.offer(packet(0, at % 2, 1)));
        for second in 1..1001 {
            driver.advance(Time::from_s(second));
            if second == 200 {
                driver
                    .discipline_mut()
                    .change(Time::from_s(second), &Change::Weight(header(1), weight(3000)))
                    .expect("it goes by weights");
            }
            let last = *driver.order.last().unwrap_or(&0);
            let flow = driver.journeys[last as usize].arrival.flow;
            driver.offer(packet(second, flow, 1));
        }
        let flows: Vec<u32> = driver.order.iter().map(|at| driver.journeys[*at as usize].arrival.flow).collect();
        let share = |from: usize, to: usize| flows[from..to].iter().filter(|flow| **flow == 1).count();
        assert!((94..=106).contains(&share(0, 200)), "{}", share(0, 200));
        assert!((585..=605).contains(&share(200, 990)), "{}", share(200, 990));
    }
}

#[test]
fn tags_at_the_end_of_their_range_order_packets_by_arrival() {
    // Without an idle moment two flows of the least weight, one with twice that, have packets of 4
    // GiB. Up to 2^64 bytes of weight one, 2^22 packets of the lighter, shares are as ever; beyond,
    // packets leave in order of arrival, alternately.
    for name in ["scfq", "wf2q_plus"] {
        let line = line(rate(8), &[weight(1), weight(2)]);
        let mut discipline = Queue::new(scheduler(name), None).build(&line);
        let (mut fates, mut served) = (Fates::new(), [0_u64; 2]);
        let offer = |discipline: &mut Box<dyn Discipline>, flow: u64| {
            let packet = Packet::new(flow, Time::ZERO, u32::MAX);
            discipline.enqueue(Time::ZERO, packet, &header(flow as u32), &mut Fates::new());
        };
        (0..6).for_each(|at| offer(&mut discipline, at % 2));
        let mut after = [0_u64; 2];
        for step in 0..15_000_000_u64 {
            let Dequeue::Send(packet) = discipline.dequeue(Time::ZERO, &mut fates) else { panic!("two always wait") };
            served[packet.token as usize] += 1;
            if step < 12_000_000 {
                assert!((served[1]).abs_diff(2 * served[0]) <= 4, "{name}: {served:?} at {step}");
            } else if step >= 14_000_000 {
                after[packet.token as usize] += 1;
            }
            offer(&mut discipline, packet.token);
        }
        assert!(after[0].abs_diff(after[1]) <= 10, "{name}: {after:?}");
    }
}
