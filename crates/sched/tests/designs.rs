//! Whole designs and the schedulers they are made of: the rules of their sources, and what their cards claim.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::design::{cake, dualpi2, fq_codel};
use fairq_sched::packet::{Address, Fates, Header, Marks, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{DesignSettings, SchedulerSettings};
use fairq_sched::schedule::drr_plus_plus;
use fairq_sched::units::{Bytes, Limit, PS_PER_S, Rate, Time, Weight};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Driver, End, header};
use std::num::NonZeroU32;

const MS: u64 = PS_PER_S / 1000;

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

/// A discipline, and who sent which packet.
struct World {
    discipline: Checked,
    flow_of: Vec<u32>,
    fates: Fates,
}

impl World {
    fn new(queue: &Queue, line: &Line) -> Self {
        assert_eq!(queue.fault(), None);
        let discipline = Checked::new(Rules::of(queue), || queue.build(line));
        Self { discipline, flow_of: Vec::new(), fates: Fates::new() }
    }

    fn offer(&mut self, now: Time, flow: u32, length: u32) -> u64 {
        self.offer_marked(now, flow, length, Marks::NONE)
    }

    fn offer_marked(&mut self, now: Time, flow: u32, length: u32, accepts: Marks) -> u64 {
        let token = self.flow_of.len() as u64;
        let packet = Packet { accepts, ..Packet::new(token, now, length) };
        self.flow_of.push(flow);
        self.discipline.enqueue(now, packet, &header(flow), &mut self.fates);
        token
    }

    /// The flow and the length of the packet that is sent.
    fn ask(&mut self, now: Time) -> Option<(u32, u32)> {
        match self.discipline.dequeue(now, &mut self.fates) {
            Dequeue::Send(packet) => Some((self.flow_of[packet.token as usize], packet.length)),
            _ => None,
        }
    }

    /// The flows of the next packets.
    fn flows(&mut self, now: Time, count: usize) -> Vec<u32> {
        (0..count).filter_map(|_| self.ask(now)).map(|(flow, _)| flow).collect()
    }

    fn dropped(&mut self) -> Vec<(u64, Reason)> {
        let drops = self.fates.drain(..).filter_map(|fate| match fate.outcome {
            Outcome::Dropped(reason) => Some((fate.packet.token, reason)),
            Outcome::Marked(_) => None,
        });
        drops.collect()
    }
}

fn drr_plus_plus(quantum: u64) -> Queue {
    let settings = drr_plus_plus::Settings { quantum: Bytes(quantum), buckets: None };
    Queue::new(SchedulerSettings::DrrPlusPlus(settings), None)
}

fn fq_codel(settings: fq_codel::Settings) -> Queue {
    Queue::of_design(DesignSettings::FqCodel(settings), None)
}

#[test]
fn drr_plus_plus_is_fair_over_any_time() {
    for seed in 0..60 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let weights = [1000, 3000, 500, 1000];
        let mut line = Line::new(rate(1_000_000));
        line.weights =
            (0..4).map(|f| (header(f), Weight::from_thousandths(weights[f as usize]).expect("a weight"))).collect();
        let quantum = draw.pick(&[100, 700, 1514, 5000]);
        let longest = draw.pick(&[200, 1500]);
        let mut world = World::new(&drr_plus_plus(quantum), &line);
        let mut waiting = [0_u32; 4];
        // For each pair, while both wait: the bytes over weights of the first beyond the second's, least and most.
        let mut ahead = [[(0_i64, 0_i64, 0_i64); 4]; 4];
        for step in 0..3000 {
            let now = Time(step);
            if draw.below(5) < 3 {
                let flow = draw.below(4) as u32;
                world.offer(now, flow, 1 + draw.below(longest) as u32);
                waiting[flow as usize] += 1;
                continue;
            }
            let Some((flow, length)) = world.ask(now) else { continue };
            let flow = flow as usize;
            waiting[flow] -= 1;
            let served = i64::from(length) * 1_000_000 / i64::from(weights[flow]);
            for (first, row) in ahead.iter_mut().enumerate() {
                for (second, (now, least, most)) in row.iter_mut().enumerate().filter(|(second, _)| *second != first) {
                    // Both waited while this packet was chosen.
                    let both = [first, second].iter().all(|f| waiting[*f] > 0 || *f == flow);
                    if !both {
                        (*now, *least, *most) = (0, 0, 0);
                        continue;
                    }
                    *now += if flow == first {
                        served
                    } else if flow == second {
                        -served
                    } else {
                        0
                    };
                    (*least, *most) = ((*least).min(*now), (*most).max(*now));
                    let quantum = quantum as i64 * 1000;
                    let packet = |f: usize| longest as i64 * 1_000_000 / i64::from(weights[f]);
                    let bound = 3 * quantum + packet(first) + packet(second);
                    assert!(*most - *least <= bound + 2000, "{first} and {second}: {least} to {most}, {bound}");
                    if [first, second].iter().any(|f| waiting[*f] == 0) {
                        (*now, *least, *most) = (0, 0, 0);
                    }
                }
            }
        }
    }
}

#[test]
fn a_sparse_flow_goes_first() {
    let mut world = World::new(&drr_plus_plus(1000), &Line::new(rate(1_000_000)));
    (0..30).for_each(|at| _ = world.offer(Time::ZERO, at % 3, 1000));
    // The three have their turns and are old; one comes that was silent.
    assert_eq!(world.flows(Time(1), 4), [0, 1, 2, 0]);
    world.offer(Time(2), 7, 100);
    assert_eq!(world.flows(Time(3), 3), [7, 1, 2]);
}

#[test]
fn a_new_flow_that_empties_passes_once_through_the_old_list() {
    let mut world = World::new(&drr_plus_plus(1000), &Line::new(rate(1_000_000)));
    (0..30).for_each(|at| _ = world.offer(Time::ZERO, at % 3, 1000));
    assert_eq!(world.flows(Time(1), 3), [0, 1, 2]);
    world.offer(Time(2), 7, 100);
    assert_eq!(world.flows(Time(2), 2), [7, 0]);
    // It is in the old list now, behind the others, and not new again when its next packet comes.
    world.offer(Time(3), 7, 100);
    assert_eq!(world.flows(Time(3), 4), [1, 2, 7, 0]);
    // Its turn came and it had nothing: it is new once more.
    assert_eq!(world.flows(Time(4), 3), [1, 2, 0]);
    world.offer(Time(5), 7, 100);
    assert_eq!(world.flows(Time(5), 2), [7, 1]);
}

#[test]
fn rounds_that_are_skipped_are_the_rounds_that_would_have_been() {
    // Quanta of a byte against packets of thousands: the same order as an account kept round by round.
    for seed in 0..40 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut world = World::new(&drr_plus_plus(1), &Line::new(rate(1_000_000)));
        let mut queues: Vec<std::collections::VecDeque<u32>> = vec![Default::default(); 4];
        for flow in 0..4_u32 {
            for _ in 0..20 {
                let length = 1 + draw.below(9000) as u32;
                queues[flow as usize].push_back(length);
                world.offer(Time::ZERO, flow, length);
            }
        }
        let (mut credit, mut turns) = ([1_i64; 4], std::collections::VecDeque::from([0, 1, 2, 3]));
        while let Some(flow) = turns.front().copied() {
            let at: usize = flow;
            if credit[at] <= 0 {
                credit[at] += 1;
                turns.rotate_left(1);
                continue;
            }
            let Some(length) = queues[at].pop_front() else {
                turns.pop_front();
                continue;
            };
            credit[at] -= i64::from(length);
            assert_eq!(world.ask(Time(1)), Some((flow as u32, length)));
        }
        assert_eq!(world.ask(Time(1)), None);
    }
}

#[test]
fn fq_codel_follows_the_rules_of_its_rfc() {
    let line = Line::new(rate(8_000_000));
    let settings = fq_codel::Settings { quantum: Bytes(1000), ..Default::default() };
    // 4.1: when there is no room the first packet of the queue with most bytes goes, not that with most packets.
    let mut world = World::new(&Queue { limit: Some(Limit::Packets(6)), ..fq_codel(settings.clone()) }, &line);
    (0..4).for_each(|_| _ = world.offer(Time::ZERO, 0, 100));
    (0..2).for_each(|_| _ = world.offer(Time::ZERO, 1, 900));
    assert_eq!(world.dropped(), []);
    world.offer(Time::ZERO, 2, 100);
    assert_eq!(world.dropped(), [(4, Reason::LongestQueue)]);
    // The same when the memory is what runs out.
    let small = fq_codel::Settings { memory: Bytes(2000), ..settings.clone() };
    let mut world = World::new(&fq_codel(small), &line);
    (0..4).for_each(|_| _ = world.offer(Time::ZERO, 0, 300));
    world.offer(Time::ZERO, 1, 1000);
    assert_eq!(world.dropped(), [(0, Reason::LongestQueue)]);

    // 4.2: a queue in deficit gets a quantum and goes behind the others; a new one goes first, for a quantum.
    let mut world = World::new(&fq_codel(settings.clone()), &line);
    (0..6).for_each(|at| _ = world.offer(Time::ZERO, at % 2, 1500));
    // Both begin with 1000 B and send 1500: two quanta each time from then on are a turn.
    assert_eq!(world.flows(Time(1), 2), [0, 1]);
    world.offer(Time(2), 5, 600);
    world.offer(Time(2), 5, 600);
    world.offer(Time(2), 5, 600);
    assert_eq!(world.flows(Time(3), 3), [5, 5, 0], "two packets use up the quantum");
    // CoDel's drop at the head costs no credit: the queue's turn goes on with the packet behind it.
    let mut world = World::new(&fq_codel(settings), &line);
    (0..300).for_each(|_| _ = world.offer(Time::ZERO, 0, 1000));
    (0..300).for_each(|_| _ = world.offer(Time::ZERO, 1, 1000));
    let mut sent = Vec::new();
    for ms in (6..).step_by(6).take(100) {
        sent.extend(world.flows(Time(ms * MS), 1));
    }
    assert!(!world.dropped().is_empty());
    assert!(sent.windows(2).all(|pair| pair[0] != pair[1]), "{sent:?}");
}

#[test]
fn fq_codel_may_leave_out_a_header_and_take_the_first_of_equals() {
    let line = Line::new(rate(8_000_000));
    let loser = |settings: fq_codel::Settings| {
        let mut world = World::new(&Queue { limit: Some(Limit::Packets(3)), ..fq_codel(settings) }, &line);
        world.offer(Time::ZERO, 0, 1000);
        (0..2).for_each(|_| _ = world.offer(Time::ZERO, 1, 500));
        assert_eq!(world.dropped(), []);
        world.offer(Time::ZERO, 2, 100);
        world.dropped()[0].0
    };
    // As long as each other with what the line adds, and without it the one of a single packet is longer.
    let headers = fq_codel::Settings { uncounted: Some(Bytes(2)), ..Default::default() };
    assert_eq!(loser(headers.clone()), 0);
    // In turns, too: 998 of a quantum of 998 leave nothing, 1000 a debt.
    let sent = |uncounted| {
        let settings =
            fq_codel::Settings { quantum: Bytes(998), uncounted: Some(Bytes(uncounted)), ..Default::default() };
        let mut world = World::new(&fq_codel(settings), &line);
        (0..8).for_each(|at| _ = world.offer(Time::ZERO, at % 2, 1000));
        world.flows(Time(1), 8)
    };
    assert_eq!(sent(2), [0, 1, 0, 1, 0, 1, 0, 1]);

    // Two queues are as long as each other when the second gets another packet: that one loses, or the lowest.
    let of_equals = |lowest_loses| {
        let settings = fq_codel::Settings { lowest_loses, ..Default::default() };
        let lost = |first| {
            let mut world = World::new(&Queue { limit: Some(Limit::Packets(3)), ..fq_codel(settings.clone()) }, &line);
            [first, first, 1 - first, 1 - first].iter().for_each(|flow| _ = world.offer(Time::ZERO, *flow, 100));
            world.dropped()[0].0
        };
        [lost(0), lost(1)]
    };
    // Tokens 0 and 1 are of the flow that came first, 2 and 3 of the other.
    assert_eq!(of_equals(false), [2, 2]);
    let lowest = of_equals(true);
    assert!(lowest == [0, 2] || lowest == [2, 0], "{lowest:?}");
}

#[test]
fn fq_codel_is_fair_to_flows_that_share_no_queue() {
    for seed in 0..20 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let line = Line { seed, ..Line::new(rate(8_000_000)) };
        let mut world = World::new(&fq_codel(fq_codel::Settings { queues: 1 << 20, ..Default::default() }), &line);
        // Flows always have ten packets waiting; one sends small ones, one large, two what comes.
        let length = |draw: &mut Draw, flow: u32| match flow {
            0 => 64,
            1 => 1500,
            _ => 1 + draw.below(1500) as u32,
        };
        for flow in 0..4 {
            (0..10).for_each(|_| _ = world.offer(Time::ZERO, flow, length(&mut draw, flow)));
        }
        let mut bytes = [0_i64; 4];
        for step in 1..4000_u64 {
            let (flow, sent) = world.ask(Time(step * 100_000)).expect("all wait");
            bytes[flow as usize] += i64::from(sent);
            world.offer(Time(step * 100_000), flow, length(&mut draw, flow));
            let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
            assert!(most - least <= 3 * 1514, "{bytes:?}");
        }
    }
}

#[test]
fn a_flood_of_flows_costs_bounded_memory_and_work() {
    // A million flows of a packet each: 10240 wait, in 1024 queues, and a packet has as much to do as ever.
    let mut discipline = fq_codel(fq_codel::Settings::default()).build(&Line::new(rate(1_000_000_000)));
    let mut fates = Fates::new();
    let mut most = 0;
    for token in 0..1_000_000_u64 {
        let now = Time(token * 1_000_000);
        let flow = token as u32;
        let header = Header { source: Address::Node(flow), destination_port: flow as u16, ..header(0) };
        discipline.enqueue(now, Packet::new(token, now, 1000), &header, &mut fates);
        if token % 8 == 0 {
            discipline.dequeue(now, &mut fates);
        }
        most = most.max(fates.len());
        fates.clear();
    }
    assert!(discipline.held().packets <= 10_240, "{:?}", discipline.held());
    let mut inner = Vec::new();
    discipline.inspect(&mut |name, value| inner.push((name.to_owned(), value)));
    let inner = |name: &str| inner.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
    assert_eq!(inner("flows"), Some(0.0), "no flow has a slot of its own");
    assert!(inner("backlogged_queues") <= Some(1024.0));
    assert!(most < 200, "{most} packets were dropped at once");
}

#[test]
fn fq_pie_refuses_only_whom_the_delay_is_due_to() {
    // One flow sends more than the line carries, ten others a little each; nobody runs out of room.
    let queue = Queue::of_design(DesignSettings::FqPie(Default::default()), None);
    let mut world = World::new(&queue, &Line::new(rate(8_000_000)));
    let mut refused = Vec::new();
    for ms in 0..4000_u64 {
        let now = Time(ms * MS);
        (0..2).for_each(|_| _ = world.offer(now, 0, 1000));
        if ms % 50 == 0 {
            (1..11).for_each(|flow| _ = world.offer(now, flow, 100));
        }
        world.ask(now);
        let drops = world.dropped();
        refused.extend(drops.iter().map(|(token, _)| world.flow_of[*token as usize]));
    }
    assert!(refused.len() > 100 && refused.iter().all(|flow| *flow == 0), "{refused:?}");
}

/// A packet of `length` for L4S, or a classic one that accepts CE.
fn ect(token: u64, now: Time, low: bool) -> Packet {
    Packet { accepts: Marks::CE, tos: if low { 1 } else { 2 }, ..Packet::new(token, now, 1000) }
}

fn dualpi2(settings: dualpi2::Settings) -> Box<dyn Discipline> {
    let queue = Queue::of_design(DesignSettings::DualPi2(settings), None);
    assert_eq!(queue.fault(), None);
    queue.build(&Line::new(rate(8_000_000)))
}

fn inner(discipline: &dyn Discipline, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    discipline.inspect(&mut |name, value| found = if name == wanted { value } else { found });
    found
}

/// Offers a packet of each kind a millisecond, unless it has enough waiting, asks for one, and counts what of each was
/// sent and what was signalled, from `from` to `to` ms.
fn run_dual(discipline: &mut dyn Discipline, most: [f64; 2], from: u64, to: u64) -> [[u64; 3]; 2] {
    let (mut fates, mut counts) = (Fates::new(), [[0; 3]; 2]);
    for ms in from..to {
        let now = Time(ms * MS);
        for (low, name) in [(true, "low_latency_packets"), (false, "classic_packets")] {
            while inner(discipline, name) < most[usize::from(!low)] {
                discipline.enqueue(now, ect(0, now, low), &header(0), &mut fates);
            }
        }
        if let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates) {
            counts[usize::from(packet.tos & 1 == 0)][0] += 1;
        }
        for fate in fates.drain(..) {
            let kind = if let Outcome::Marked(_) = fate.outcome { 1 } else { 2 };
            counts[usize::from(fate.packet.tos & 1 == 0)][kind] += 1;
        }
    }
    counts
}

#[test]
fn dualpi2_couples_l_to_the_root_of_c() {
    // Gains of nothing but a start: p' is brought to a value by a long queue and then stays.
    for wanted in [0.05, 0.1, 0.2, 0.4] {
        let mut held = dualpi2(dualpi2::Settings {
            alpha: wanted / 16e-3,
            beta: 0.0,
            target: Time(1),
            step: Time::from_s(1000),
            ..Default::default()
        });
        let mut fates = Fates::new();
        // One packet waits in C for a period of 16 ms: p' rises by alpha times 16 ms, and falls by nothing to speak of.
        held.enqueue(Time(1), ect(0, Time(1), false), &header(0), &mut fates);
        held.update(Time(16 * MS));
        held.dequeue(Time(16 * MS), &mut fates);
        let p = inner(&*held, "base_probability");
        assert!((p - wanted).abs() < 1e-6, "{p}");
        // Within the next period, in which p' stays.
        let (mut counts, mut token) = ([[0_u32; 2]; 2], 0);
        for step in 0..20_000_u64 {
            let now = Time(16 * MS + step * 1000);
            let low = step % 2 == 0;
            held.enqueue(now, ect(token, now, low), &header(0), &mut fates);
            fates.clear();
            token += 1;
            held.dequeue(now, &mut fates);
            counts[usize::from(low)][0] += 1;
            counts[usize::from(low)][1] += fates.len() as u32;
        }
        let [classic, low] = counts.map(|[sent, signals]| f64::from(signals) / f64::from(sent));
        assert!((classic - wanted * wanted).abs() < 1e-3, "{classic} for {wanted}");
        assert!((low - 2.0 * classic.sqrt()).abs() < 5e-3, "{low}, {classic}");
    }
}

#[test]
fn dualpi2_with_weights_never_starves_c() {
    for share in [0.1, 0.25] {
        let between = dualpi2::Between::Weighted;
        // The controller is off: only the way between the queues is looked at.
        let (alpha, beta, classic_share) = (0.0, 0.0, share);
        let mut dual = dualpi2(dualpi2::Settings { between, alpha, beta, classic_share, ..Default::default() });
        let [low, classic] = run_dual(&mut *dual, [50.0, 50.0], 0, 10_000);
        let got = classic[0] as f64 / (low[0] + classic[0]) as f64;
        assert!((got - share).abs() < 0.001, "{got}");
    }
    // By time, C goes when it has waited longer than L by the shift.
    let mut dual = dualpi2(Default::default());
    let mut fates = Fates::new();
    dual.enqueue(Time(0), ect(0, Time(0), false), &header(0), &mut fates);
    for token in 1..40 {
        dual.enqueue(Time(token), ect(token, Time(token), true), &header(0), &mut fates);
    }
    let mut sent = |ms: u64| match dual.dequeue(Time(ms * MS), &mut fates) {
        Dequeue::Send(packet) => packet.token,
        _ => panic!("packets wait"),
    };
    assert_eq!([sent(1), sent(2), sent(40)], [1, 2, 3], "both have waited as long");
}

#[test]
fn dualpi2_drops_in_l_when_it_is_saturated() {
    // C holds 300 packets whatever is signalled: p' rises to 1, C loses p'², and L marks all and loses as much as C.
    let mut dual = dualpi2(Default::default());
    run_dual(&mut *dual, [5.0, 300.0], 0, 20_000);
    assert!(inner(&*dual, "base_probability") >= 0.5);
    let [low, classic] = run_dual(&mut *dual, [5.0, 300.0], 20_000, 20_100);
    assert!(low[2] > 0 && classic[1] == 0, "{low:?} {classic:?}");
}

#[test]
fn dualpi2_may_reorder_a_flow_whose_ecn_field_changes() {
    let mut dual = dualpi2(Default::default());
    let mut fates = Fates::new();
    dual.enqueue(Time(0), ect(0, Time(0), false), &header(0), &mut fates);
    dual.enqueue(Time(0), ect(1, Time(0), true), &header(0), &mut fates);
    assert!(matches!(dual.dequeue(Time(1), &mut fates), Dequeue::Send(packet) if packet.token == 1));
}

fn cake(settings: cake::Settings) -> Box<dyn Discipline> {
    let queue = Queue::of_design(DesignSettings::Cake(settings), None);
    assert_eq!(queue.fault(), None);
    queue.build(&Line::new(rate(8_000_000)))
}

fn between(source: u32, destination: u32, port: u16, tos: u8) -> Header {
    let (source, destination) = (Address::Node(source), Address::Node(destination));
    Header { source, destination, protocol: 6, source_port: port, destination_port: 80, tos }
}

/// Keeps a packet of each header waiting twice, and counts what each sends of `packets`.
fn shares(discipline: &mut dyn Discipline, headers: &[Header], packets: u64) -> Vec<u64> {
    let (mut fates, mut counts) = (Fates::new(), vec![0; headers.len()]);
    for _ in 0..3 {
        for (token, header) in headers.iter().enumerate() {
            discipline.enqueue(Time(1), Packet::new(token as u64, Time(1), 1000), header, &mut fates);
        }
    }
    for step in 2..packets + 2 {
        let Dequeue::Send(packet) = discipline.dequeue(Time(step), &mut fates) else { panic!("packets wait") };
        counts[packet.token as usize] += 1;
        let (token, header) = (packet.token, &headers[packet.token as usize]);
        discipline.enqueue(Time(step), Packet::new(token, Time(step), 1000), header, &mut fates);
    }
    assert!(fates.is_empty());
    counts
}

#[test]
fn cake_shares_by_host_and_then_by_flow() {
    // A host with one flow and a host with ten, to different destinations.
    let headers: Vec<Header> =
        (0..11).map(|flow| between(u32::from(flow > 0), 100 + u32::from(flow), flow, 0)).collect();
    let share = |isolation, headers: &[Header]| {
        let counts = shares(&mut *cake(cake::Settings { isolation, ..Default::default() }), headers, 11_000);
        (counts[0] as f64 / 11_000.0, counts[1..].iter().max().unwrap() - counts[1..].iter().min().unwrap())
    };
    for isolation in [cake::Isolation::Triple, cake::Isolation::DualSource] {
        let (single, spread) = share(isolation, &headers);
        assert!((single - 0.5).abs() < 0.01 && spread <= 8, "{isolation:?}: {single}, {spread}");
    }
    for isolation in [cake::Isolation::Flows, cake::Isolation::DualDestination] {
        let (single, _) = share(isolation, &headers);
        assert!((single - 1.0 / 11.0).abs() < 0.01, "{isolation:?}: {single}");
    }
    // The other way round it is the destinations that are shared among.
    let back: Vec<Header> = (0..11).map(|flow| between(100 + u32::from(flow), u32::from(flow > 0), flow, 0)).collect();
    for isolation in [cake::Isolation::Triple, cake::Isolation::DualDestination] {
        assert!((share(isolation, &back).0 - 0.5).abs() < 0.01, "{isolation:?}");
    }
}

#[test]
fn cake_shares_the_line_among_tins_by_weight() {
    // CS1, best effort, AF41, EF.
    let headers = [8_u8, 0, 34, 46].map(|dscp| between(1, 2, 3, dscp << 2));
    let settings = cake::Settings { tins: cake::Tins::Diffserv4, ..Default::default() };
    let counts = shares(&mut *cake(settings), &headers, 18_560);
    for (count, share) in counts.iter().zip([64, 1024, 512, 256]) {
        assert!(count.abs_diff(share * 10) <= 4, "{counts:?}");
    }
    let settings = cake::Settings { tins: cake::Tins::BestEffort, ..Default::default() };
    let counts = shares(&mut *cake(settings), &headers, 4000);
    assert_eq!(counts, [1000; 4], "one flow, one queue, in order");
}

#[test]
fn cake_shapes_exactly() {
    // 999 983 bit/s, 44 B of overhead, in cells of ATM: 1000 B are 1044, in 22 cells 1166 B.
    let settings = cake::Settings {
        rate: Rate::new(999_983),
        overhead: Some(44),
        framing: cake::Framing::Atm,
        ..Default::default()
    };
    let queue = Queue::of_design(DesignSettings::Cake(settings), None);
    let line = Line::new(rate(1_000_000_000));
    let mut driver = Driver::new(Checked::new(Rules::of(&queue), || queue.build(&line)), line.rate);
    // The driver checks that nothing leaves a picosecond before the time that was named, and something then.
    (0..200).for_each(|token| driver.offer_packet(token as u32 % 3, Packet::new(token, Time(5), 1000)));
    driver.finish();
    let mut starts: Vec<u64> = driver
        .journeys
        .iter()
        .filter_map(|journey| match journey.end {
            End::Sent { start, .. } => Some(start.0),
            _ => None,
        })
        .collect();
    starts.sort_unstable();
    for (number, start) in starts.iter().enumerate() {
        let bits = number as u128 * 22 * 53 * 8;
        assert_eq!(*start, 5 + (bits * u128::from(PS_PER_S)).div_ceil(999_983) as u64);
    }
}

#[test]
fn cake_takes_the_link_layers_header_off_where_an_overhead_is_given() {
    // The bytes that a packet of `length`, of which `link_header` are the link layer's, takes at a shaper of 8 Mbit/s: 1 us each.
    let charged = |settings: &cake::Settings, length: u32, link_header: u8| {
        let mut cake = cake(cake::Settings { rate: Rate::new(8_000_000), ..settings.clone() });
        let mut fates = Fates::new();
        for token in 0..2 {
            let packet = Packet { link_header, ..Packet::new(token, Time(0), length) };
            cake.enqueue(Time(0), packet, &between(1, 2, 3, 0), &mut fates);
        }
        assert!(matches!(cake.dequeue(Time(0), &mut fates), Dequeue::Send(_)));
        let Dequeue::NotBefore(time) = cake.dequeue(Time(0), &mut fates) else { panic!("the second waits") };
        time.0 / 1_000_000
    };
    let framed = |overhead, framing| cake::Settings { overhead, framing, ..Default::default() };
    use cake::Framing;
    // 1484 B of IP and 44 B are 32 cells, whether the length has an Ethernet header, one with a VLAN tag, or none.
    let atm = framed(Some(44), Framing::Atm);
    assert_eq!([(1484, 0), (1498, 14), (1502, 18)].map(|(length, link)| charged(&atm, length, link)), [32 * 53; 3]);
    // An overhead of 0 is given, too: the network layer's bytes alone. Without one the length counts as it is.
    assert_eq!([(1484, 0), (1498, 14)].map(|(l, h)| charged(&framed(Some(0), Framing::None), l, h)), [1484; 2]);
    assert_eq!([(1484, 0), (1498, 14)].map(|(l, h)| charged(&framed(None, Framing::None), l, h)), [1484, 1498]);
    // 64 of 65 bytes are PTM's; a negative overhead, and a packet shorter than what is taken off.
    assert_eq!(charged(&framed(Some(30), Framing::Ptm), 112, 14), 128 + 2);
    assert_eq!(charged(&framed(Some(-14), Framing::None), 114, 14), 86);
    let least = cake::Settings { least: 84, ..framed(Some(-64), Framing::None) };
    assert_eq!(charged(&least, 60, 14), 84);
}

#[test]
fn cake_lets_four_packets_wait_on_a_slow_line() {
    // 1514 B take 12.112 ms at 1 Mbit/s: four of them 48.4 ms, far above the target of 5 ms.
    let turn = 12_112_000_000;
    let lost = |ahead: u64| {
        let mut cake = cake(cake::Settings { rate: Rate::new(1_000_000), ..Default::default() });
        let mut fates = Fates::new();
        for step in 0..200 {
            let now = Time(step * turn);
            cake.enqueue(now, Packet::new(step, now, 1514), &between(1, 2, 3, 0), &mut fates);
            if step >= ahead {
                assert!(matches!(cake.dequeue(now, &mut fates), Dequeue::Send(_)));
            }
        }
        fates.len()
    };
    assert_eq!([3, 4].map(lost), [0, 0]);
    assert!(lost(5) > 0);
}

#[test]
fn cake_gives_short_turns_on_a_slow_line() {
    // Ten flows always have something; how many of the five packets of an eleventh go before one of theirs?
    let before_others = |settings: cake::Settings| {
        let mut cake = cake(cake::Settings { target: Time::from_s(100), interval: Time::from_s(100), ..settings });
        let mut fates = Fates::new();
        let mut offer = |cake: &mut dyn Discipline, port, packets| {
            for _ in 0..packets {
                let packet = Packet::new(port, Time(1), 300);
                cake.enqueue(Time(1), packet, &between(1, 2, port as u16, 0), &mut fates);
            }
        };
        let mut now = Time(1);
        let mut take = |cake: &mut dyn Discipline| loop {
            match cake.dequeue(now, &mut Fates::new()) {
                Dequeue::Send(packet) => return packet.token,
                Dequeue::NotBefore(time) => now = time,
                Dequeue::Empty => panic!("packets wait"),
            }
        };
        (0..10).for_each(|port| offer(&mut *cake, port, 20));
        (0..100).for_each(|_| _ = take(&mut *cake));
        offer(&mut *cake, 10, 5);
        (0..5).take_while(|_| take(&mut *cake) == 10).count()
    };
    let at = |rate| cake::Settings { rate: Rate::new(rate), isolation: cake::Isolation::Flows, ..Default::default() };
    // 300 B up to 9.8 Mbit/s, 1514 B from 50 Mbit/s on and without a shaper.
    assert_eq!(before_others(at(1_000_000)), 1);
    assert_eq!(before_others(at(50_000_000)), 5);
    assert_eq!(before_others(cake::Settings { rate: None, ..at(1) }), 5);
    assert_eq!(before_others(cake::Settings { quantum: Some(Bytes(1514)), ..at(1_000_000) }), 5);
}

#[test]
fn cake_keeps_flows_apart() {
    // 200 flows in 1024 queues: by plain hashing 200·(1 - (1 - 1/1024)^199) = 35 of them would share a queue.
    let apart = |ways: u32| -> f64 {
        let settings = cake::Settings { ways, ..Default::default() };
        let mut cake = cake(settings);
        let mut fates = Fates::new();
        for flow in 0..200 {
            let header = between(flow, 1_000_000, 7, 0);
            cake.enqueue(Time(1), Packet::new(flow.into(), Time(1), 1000), &header, &mut fates);
        }
        inner(&*cake, "backlogged_queues")
    };
    assert!(apart(1) < 195.0, "{}", apart(1));
    assert_eq!(apart(8), 200.0);
}

#[test]
fn cake_may_reorder_a_flow_whose_set_is_full() {
    // Four flows in a set of two: one that lost its place may come back to the other while a packet of it still waits.
    let reorders = (0..200).any(|seed| {
        let queue =
            Queue::of_design(DesignSettings::Cake(cake::Settings { queues: 2, ways: 2, ..Default::default() }), None);
        let mut cake = queue.build(&Line { seed, ..Line::new(rate(8_000_000)) });
        let (mut fates, mut draw) = (Fates::new(), Draw::new(seed));
        let mut last = [0; 4];
        (1..200_u64).any(|token| {
            let flow = draw.below(4);
            let header = between(flow as u32, 9, 7, 0);
            let packet = Packet { label: flow as u32, ..Packet::new(token, Time(token), 1000) };
            cake.enqueue(Time(token), packet, &header, &mut fates);
            if !draw.once_in(3)
                && let Dequeue::Send(packet) = cake.dequeue(Time(token), &mut fates)
            {
                let before = std::mem::replace(&mut last[packet.label as usize], packet.token);
                return before > packet.token;
            }
            false
        })
    });
    assert!(reorders);
}

#[test]
fn cake_filters_acknowledgements_and_keeps_what_they_say() {
    let mut cake = cake(cake::Settings { ack_filter: true, ..Default::default() });
    let mut fates = Fates::new();
    let mut offer = |token: u64, port: u16, number: u32, marks: Marks| {
        let mut packet = Packet::new(token, Time(1), 40);
        (packet.acknowledges, packet.marks) = (NonZeroU32::new(number), marks);
        cake.enqueue(Time(1), packet, &between(1, 2, port, 0), &mut fates);
    };
    // 10 and 20 are made unnecessary by 30; the duplicate of 30 says something else, and so does the mark of 40.
    for (token, number) in [(0, 10), (1, 20), (2, 30), (3, 30)] {
        offer(token, 7, number, Marks::NONE);
    }
    offer(4, 7, 40, Marks::CE);
    // Another flow's, a data packet, and a number past the wrap.
    offer(5, 8, 5, Marks::NONE);
    offer(6, 8, 0, Marks::NONE);
    offer(7, 9, u32::MAX, Marks::NONE);
    offer(8, 9, 2, Marks::NONE);
    let gone: Vec<(u64, Outcome)> = fates.drain(..).map(|fate| (fate.packet.token, fate.outcome)).collect();
    let redundant = Outcome::Dropped(Reason::Redundant);
    assert_eq!(gone, [(0, redundant), (1, redundant), (7, redundant)]);
    assert_eq!(cake.held().packets, 6);
}

#[test]
fn settings_without_sense_are_refused_with_what_is_allowed() {
    let refused = |design: DesignSettings, said: &str| {
        let fault = Queue::of_design(design, None).fault().expect(said);
        assert!(fault.contains(said), "{fault}");
    };
    let fq_codel = |settings| DesignSettings::FqCodel(settings);
    refused(fq_codel(fq_codel::Settings { quantum: Bytes(0), ..Default::default() }), "quantum is from 1 B to 1 MiB");
    refused(fq_codel(fq_codel::Settings { target: Time(0), ..Default::default() }), "target is above 0 s");
    refused(fq_codel(fq_codel::Settings { queues: 0, ..Default::default() }), "queues is from 1 to 1048576");
    refused(fq_codel(fq_codel::Settings { memory: Bytes(0), ..Default::default() }), "memory is at least 1 B");
    let cake = |settings| DesignSettings::Cake(settings);
    refused(cake(cake::Settings { ways: 2048, ..Default::default() }), "ways is at least 1 and divides queues");
    refused(cake(cake::Settings { queues: 0, ..Default::default() }), "queues is from 1 to 65536");
    refused(cake(cake::Settings { mtu: Bytes(65_536), ..Default::default() }), "mtu is 65536 B; it is at most 65535 B");
    refused(cake(cake::Settings { quantum: Some(Bytes(0)), ..Default::default() }), "quantum is from 1 B to 1 MiB");
    refused(cake(cake::Settings { voice: 0, ..Default::default() }), "voice are from 1");
    let dualpi2 = |settings| DesignSettings::DualPi2(settings);
    refused(dualpi2(dualpi2::Settings { coupling: f64::NAN, ..Default::default() }), "coupling is a number from 1");
    refused(dualpi2(dualpi2::Settings { alpha: -1.0, ..Default::default() }), "alpha and beta");
    refused(dualpi2(dualpi2::Settings { classic_share: 0.0, ..Default::default() }), "classic_share is above 0");
    let other = Queue {
        buffer: fairq_sched::registry::BufferSettings::by_name("codel"),
        ..Queue::of_design(fq_codel(Default::default()), None)
    };
    assert!(other.fault().is_some_and(|fault| fault.contains("whole design")));
}
