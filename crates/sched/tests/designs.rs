//! Whole designs and the schedulers they are made of: the rules of their sources, and what their
//! cards claim.

use fairq_sched::buffer::pie;
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::design::{cake, dualpi2, fq_codel, fq_pie};
use fairq_sched::packet::{Address, Fates, Header, Marks, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{DesignSettings, SchedulerSettings};
use fairq_sched::schedule::drr_plus_plus;
use fairq_sched::units::{Bytes, Limit, PS_PER_S, Rate, Time, Weight};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::header;
use fairq_testkit::shown::number;

const MS: u64 = PS_PER_S / 1000;
const US: u64 = MS / 1000;

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

/// A discipline, and the sender of each packet.
struct Gateway {
    discipline: Checked,
    flow_of: Vec<u32>,
    fates: Fates,
}

impl Gateway {
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
    Queue::of_design(DesignSettings::FqCodel(fq_codel::Settings { rfc: true, ..settings }), None)
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
        let mut gateway = Gateway::new(&drr_plus_plus(quantum), &line);
        let mut waiting = [0_u32; 4];
        // For each pair, while both wait: the bytes over weights of the first beyond the second's,
        // least and most.
        let mut ahead = [[(0_i64, 0_i64, 0_i64); 4]; 4];
        for step in 0..3000 {
            let now = Time(step);
            if draw.below(5) < 3 {
                let flow = draw.below(4) as u32;
                gateway.offer(now, flow, 1 + draw.below(longest) as u32);
                waiting[flow as usize] += 1;
                continue;
            }
            let Some((flow, length)) = gateway.ask(now) else { continue };
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
    let mut gateway = Gateway::new(&drr_plus_plus(1000), &Line::new(rate(1_000_000)));
    (0..30).for_each(|at| _ = gateway.offer(Time::ZERO, at % 3, 1000));
    // The three have their turns and are old; one comes that was silent.
    assert_eq!(gateway.flows(Time(1), 4), [0, 1, 2, 0]);
    gateway.offer(Time(2), 7, 100);
    assert_eq!(gateway.flows(Time(3), 3), [7, 1, 2]);
}

#[test]
fn a_new_flow_that_empties_passes_once_through_the_old_list() {
    let mut gateway = Gateway::new(&drr_plus_plus(1000), &Line::new(rate(1_000_000)));
    (0..30).for_each(|at| _ = gateway.offer(Time::ZERO, at % 3, 1000));
    assert_eq!(gateway.flows(Time(1), 3), [0, 1, 2]);
    gateway.offer(Time(2), 7, 100);
    assert_eq!(gateway.flows(Time(2), 2), [7, 0]);
    // It is in the old list now, behind the others, and not new again when its next packet comes.
    gateway.offer(Time(3), 7, 100);
    assert_eq!(gateway.flows(Time(3), 4), [1, 2, 7, 0]);
    // Its turn came and it had nothing: it is new once more.
    assert_eq!(gateway.flows(Time(4), 3), [1, 2, 0]);
    gateway.offer(Time(5), 7, 100);
    assert_eq!(gateway.flows(Time(5), 2), [7, 1]);
}

#[test]
fn rounds_that_are_skipped_are_the_rounds_that_would_have_been() {
    // Quanta of a byte against packets of thousands: the same order as an account kept round by
    // round.
    for seed in 0..40 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut gateway = Gateway::new(&drr_plus_plus(1), &Line::new(rate(1_000_000)));
        let mut queues: Vec<std::collections::VecDeque<u32>> = vec![Default::default(); 4];
        for flow in 0..4_u32 {
            for _ in 0..20 {
                let length = 1 + draw.below(9000) as u32;
                queues[flow as usize].push_back(length);
                gateway.offer(Time::ZERO, flow, length);
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
            assert_eq!(gateway.ask(Time(1)), Some((flow as u32, length)));
        }
        assert_eq!(gateway.ask(Time(1)), None);
    }
}

#[test]
fn fq_codel_follows_the_rules_of_its_rfc() {
    let line = Line::new(rate(8_000_000));
    let settings = fq_codel::Settings { quantum: Bytes(1000), ..Default::default() };
    // 4.1: when there is no room the first packet of the queue with most bytes goes, not that with
    // most packets.
    let mut gateway = Gateway::new(&Queue { limit: Some(Limit::Packets(6)), ..fq_codel(settings.clone()) }, &line);
    (0..4).for_each(|_| _ = gateway.offer(Time::ZERO, 0, 100));
    (0..2).for_each(|_| _ = gateway.offer(Time::ZERO, 1, 900));
    assert_eq!(gateway.dropped(), []);
    gateway.offer(Time::ZERO, 2, 100);
    assert_eq!(gateway.dropped(), [(4, Reason::LongestQueue)]);
    // The same when the memory is what runs out.
    let small = fq_codel::Settings { memory: Bytes(2000), ..settings.clone() };
    let mut gateway = Gateway::new(&fq_codel(small), &line);
    (0..4).for_each(|_| _ = gateway.offer(Time::ZERO, 0, 300));
    gateway.offer(Time::ZERO, 1, 1000);
    assert_eq!(gateway.dropped(), [(0, Reason::LongestQueue)]);

    // 4.2: a queue in deficit gets a quantum and goes behind the others; a new one goes first, for
    // a quantum.
    let mut gateway = Gateway::new(&fq_codel(settings.clone()), &line);
    (0..6).for_each(|at| _ = gateway.offer(Time::ZERO, at % 2, 1500));
    // Both begin with 1000 B and send 1500: two quanta each time from then on are a turn.
    assert_eq!(gateway.flows(Time(1), 2), [0, 1]);
    gateway.offer(Time(2), 5, 600);
    gateway.offer(Time(2), 5, 600);
    gateway.offer(Time(2), 5, 600);
    assert_eq!(gateway.flows(Time(3), 3), [5, 5, 0], "two packets use up the quantum");
    // CoDel's drop at the head costs no credit: the queue's turn goes on with the packet behind it.
    let mut gateway = Gateway::new(&fq_codel(settings), &line);
    (0..300).for_each(|_| _ = gateway.offer(Time::ZERO, 0, 1000));
    (0..300).for_each(|_| _ = gateway.offer(Time::ZERO, 1, 1000));
    let mut sent = Vec::new();
    for ms in (6..).step_by(6).take(100) {
        sent.extend(gateway.flows(Time(ms * MS), 1));
    }
    assert!(!gateway.dropped().is_empty());
    assert!(sent.windows(2).all(|pair| pair[0] != pair[1]), "{sent:?}");
}

#[test]
fn fq_codel_may_leave_out_a_header_and_take_the_first_of_equals() {
    let line = Line::new(rate(8_000_000));
    let loser = |settings: fq_codel::Settings| {
        let mut gateway = Gateway::new(&Queue { limit: Some(Limit::Packets(3)), ..fq_codel(settings) }, &line);
        gateway.offer(Time::ZERO, 0, 1000);
        (0..2).for_each(|_| _ = gateway.offer(Time::ZERO, 1, 500));
        assert_eq!(gateway.dropped(), []);
        gateway.offer(Time::ZERO, 2, 100);
        gateway.dropped()[0].0
    };
    // As long as each other with what the line adds, and without it the one of a single packet is
    // longer.
    let headers = fq_codel::Settings { uncounted: Some(Bytes(2)), ..Default::default() };
    assert_eq!(loser(headers.clone()), 0);
    // In turns, too: 998 of a quantum of 998 leave nothing, 1000 a debt.
    let sent = |uncounted| {
        let settings =
            fq_codel::Settings { quantum: Bytes(998), uncounted: Some(Bytes(uncounted)), ..Default::default() };
        let mut gateway = Gateway::new(&fq_codel(settings), &line);
        (0..8).for_each(|at| _ = gateway.offer(Time::ZERO, at % 2, 1000));
        gateway.flows(Time(1), 8)
    };
    assert_eq!(sent(2), [0, 1, 0, 1, 0, 1, 0, 1]);

    // Two queues are as long as each other when the second gets another packet: that one loses, or
    // the lowest.
    let of_equals = |lowest_loses| {
        let settings = fq_codel::Settings { lowest_loses, ..Default::default() };
        let lost = |first| {
            let mut gateway =
                Gateway::new(&Queue { limit: Some(Limit::Packets(3)), ..fq_codel(settings.clone()) }, &line);
            [first, first, 1 - first, 1 - first].iter().for_each(|flow| _ = gateway.offer(Time::ZERO, *flow, 100));
            gateway.dropped()[0].0
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
        let mut gateway = Gateway::new(&fq_codel(fq_codel::Settings { queues: 1 << 14, ..Default::default() }), &line);
        // Flows always have ten packets waiting; one sends small ones, one large, two what comes.
        let length = |draw: &mut Draw, flow: u32| match flow {
            0 => 64,
            1 => 1500,
            _ => 1 + draw.below(1500) as u32,
        };
        for flow in 0..4 {
            (0..10).for_each(|_| _ = gateway.offer(Time::ZERO, flow, length(&mut draw, flow)));
        }
        let mut bytes = [0_i64; 4];
        for step in 1..4000_u64 {
            let (flow, sent) = gateway.ask(Time(step * 100_000)).expect("all wait");
            bytes[flow as usize] += i64::from(sent);
            gateway.offer(Time(step * 100_000), flow, length(&mut draw, flow));
            let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
            assert!(most - least <= 3 * 1514, "{bytes:?}");
        }
    }
}

#[test]
fn a_flood_of_flows_costs_bounded_memory_and_work() {
    // A million flows of a packet each: 10240 wait, in 1024 queues, and a packet has as much to do
    // as ever.
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
    assert_eq!(number(&*discipline, "flows"), 0.0, "no flow has a slot of its own");
    assert!(number(&*discipline, "backlogged_queues") <= 1024.0);
    assert!(most < 200, "{most} packets were dropped at once");
}

#[test]
fn fq_pie_refuses_only_whom_the_delay_is_due_to() {
    // One flow sends more than the line carries, ten others a little each; the buffer never
    // overflows.
    let queue = Queue::of_design(DesignSettings::FqPie(Default::default()), None);
    let mut gateway = Gateway::new(&queue, &Line::new(rate(8_000_000)));
    let mut refused = Vec::new();
    for ms in 0..4000_u64 {
        let now = Time(ms * MS);
        (0..2).for_each(|_| _ = gateway.offer(now, 0, 1000));
        if ms % 50 == 0 {
            (1..11).for_each(|flow| _ = gateway.offer(now, flow, 100));
        }
        gateway.ask(now);
        let drops = gateway.dropped();
        refused.extend(drops.iter().map(|(token, _)| gateway.flow_of[*token as usize]));
    }
    assert!(refused.len() > 100 && refused.iter().all(|flow| *flow == 0), "{refused:?}");
}

/// `flows` flows in turn offer a tenth more than 20 Mbit/s together, in packets of 1500 B, after 20
/// of each at once. They begin after one second, when PIE's periods have begun. How many packets of
/// each flow are refused in six seconds.
fn refused_by_rate(flows: u32, rfc: bool) -> Vec<usize> {
    let pie = pie::Settings { delay: pie::DelayBy::DepartureRate, rfc, ..Default::default() };
    let settings = fq_pie::Settings { pie, ..Default::default() };
    let queue = Queue::of_design(DesignSettings::FqPie(settings), None);
    let mut gateway = Gateway::new(&queue, &Line::new(rate(20_000_000)));
    let mut refused = vec![0; flows as usize];
    let mut next = 0;
    let mut offer = |gateway: &mut Gateway, now, count| {
        (next..next + count).for_each(|n| _ = gateway.offer(now, n % flows, 1500));
        next += count;
    };
    offer(&mut gateway, Time::from_s(1), 20 * flows);
    for n in 0..10_000_u64 {
        let now = Time(1000 * MS + n * 600 * US);
        gateway.ask(now);
        offer(&mut gateway, now, if n % 10 == 0 { 2 } else { 1 });
        for (token, reason) in gateway.dropped() {
            assert_eq!(reason, Reason::Early);
            refused[gateway.flow_of[token as usize] as usize] += 1;
        }
    }
    refused
}

#[test]
fn fq_pie_measures_the_departure_rate_over_several_periods() {
    // 16 KB take 13 ms at half of the line, 26 ms at a quarter, 105 ms at a sixteenth; a period
    // has 15 ms.
    for (flows, rfc) in [(2, false), (4, false), (16, false), (2, true), (4, true), (16, true)] {
        let refused = refused_by_rate(flows, rfc);
        assert!(refused.iter().all(|count| *count > 0), "{flows}, {rfc}: {refused:?}");
    }
    // 400 kbit/s are no rate in the whole numbers of Linux.
    assert_eq!(refused_by_rate(50, false), [0; 50]);
    assert!(refused_by_rate(50, true).iter().all(|count| *count > 0));
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

/// Offers a packet of each kind a millisecond, unless it has enough waiting, asks for one, and
/// counts what of each was sent and what was signalled, from `from` to `to` ms.
fn run_dual(discipline: &mut dyn Discipline, most: [f64; 2], from: u64, to: u64) -> [[u64; 3]; 2] {
    let (mut fates, mut counts) = (Fates::new(), [[0; 3]; 2]);
    for ms in from..to {
        let now = Time(ms * MS);
        for (low, name) in [(true, "low_latency_packets"), (false, "classic_packets")] {
            while number(discipline, name) < most[usize::from(!low)] {
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
        // One packet waits in C for a period of 16 ms: p' rises by alpha times 16 ms, and falls by
        // nothing to speak of.
        held.enqueue(Time(1), ect(0, Time(1), false), &header(0), &mut fates);
        held.update(Time(16 * MS));
        held.dequeue(Time(16 * MS), &mut fates);
        let p = number(&*held, "base_probability");
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
    for share in [1.0 / 16.0, 0.1, 0.25] {
        let between = dualpi2::Between::Weighted;
        // The controller is off: only the way between the queues is looked at.
        let (alpha, beta, classic_share) = (0.0, 0.0, share);
        let mut dual = dualpi2(dualpi2::Settings { between, alpha, beta, classic_share, ..Default::default() });
        let [low, classic] = run_dual(&mut *dual, [50.0, 50.0], 0, 10_000);
        let got = classic[0] as f64 / (low[0] + classic[0]) as f64;
        assert!((got - share).abs() < 0.001, "{got}");
    }
    // By time, C goes when it has waited longer than L by the shift.
    let (between, shift) = (dualpi2::Between::TimeShifted, Time(30 * MS));
    let mut dual = dualpi2(dualpi2::Settings { between, shift, ..Default::default() });
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
    // C holds 300 packets whatever is signalled: p' rises to 1, C loses p'², and L marks all and
    // loses as much as C.
    let mut dual = dualpi2(Default::default());
    run_dual(&mut *dual, [5.0, 300.0], 0, 20_000);
    assert!(number(&*dual, "base_probability") >= 0.5);
    let [low, classic] = run_dual(&mut *dual, [5.0, 300.0], 20_000, 20_100);
    assert!(low[2] > 0 && classic[1] == 0, "{low:?} {classic:?}");
}

/// Offers packets of 1000 B at constant rates of L and C, of [`dualpi2`]'s line of 8 Mbit/s, for
/// `seconds`. For each second and for both queues: packets sent, dropped, and the mean wait of
/// those sent in ms.
fn flood_dual(
    settings: dualpi2::Settings,
    accepts: Marks,
    mbit_per_s: [f64; 2],
    seconds: u64,
) -> Vec<[(u64, u64, f64); 2]> {
    let mut dual = dualpi2(settings);
    let (mut fates, mut due, mut token) = (Fates::new(), [0.0, 0.0], 0);
    let mut table = Vec::new();
    for second in 0..seconds {
        let mut counts = [(0, 0, 0.0); 2];
        for ms in second * 1000..(second + 1) * 1000 {
            let now = Time(ms * MS);
            for (low, due) in [true, false].into_iter().zip(&mut due) {
                *due += mbit_per_s[usize::from(!low)] / 8.0;
                while *due >= 1.0 {
                    *due -= 1.0;
                    token += 1;
                    let tos = if low { 1 } else { 0 };
                    let accepts = if low { Marks::CE } else { accepts };
                    let packet = Packet { accepts, tos, ..Packet::new(token, now, 1000) };
                    dual.enqueue(now, packet, &header(0), &mut fates);
                }
            }
            if let Dequeue::Send(packet) = dual.dequeue(now, &mut fates) {
                let count = &mut counts[usize::from(packet.tos & 1 == 0)];
                *count = (count.0 + 1, count.1, count.2 + (now - packet.arrival).as_s() * 1e3);
            }
            for fate in fates.drain(..).filter(|fate| matches!(fate.outcome, Outcome::Dropped(_))) {
                counts[usize::from(fate.packet.tos & 1 == 0)].1 += 1;
            }
        }
        table.push(counts.map(|(sent, dropped, wait)| (sent, dropped, wait / sent.max(1) as f64)));
    }
    table
}

#[test]
fn dualpi2_sheds_a_flood_of_l_to_the_target() {
    // L alone sends `over` times what the line carries and ignores signals (RFC 9332, appendix A.2,
    // figure 8, line 2a).
    use dualpi2::Between::{TimeShifted, Weighted};
    for (over, between) in [(1.25, Weighted), (2.0, Weighted), (2.0, TimeShifted), (3.0, Weighted)] {
        let settings = dualpi2::Settings { between, ..Default::default() };
        let target = settings.target.as_s() * 1e3;
        let table = flood_dual(settings, Marks::NONE, [8.0 * over, 0.0], 12);
        for [(sent, dropped, wait), _] in &table[3..] {
            let _replay = Replay(format!("{over} times, {between:?}: {sent} sent, {dropped} dropped, {wait} ms"));
            assert!((0.8 * target..4.0 / 3.0 * target).contains(wait));
            // What the line does not carry, and the line is never idle.
            let share = *dropped as f64 / (sent + dropped) as f64;
            assert!(*sent >= 995 && (share - (1.0 - 1.0 / over)).abs() < 0.1);
        }
    }
    // Beside C, too: both queues' senders are deaf, and no queue holds more than a few targets.
    for c in [1.0, 4.0, 16.0] {
        let table = flood_dual(Default::default(), Marks::NONE, [16.0, c], 12);
        for [low, classic] in &table[4..] {
            assert!(low.2 < 45.0, "C {c} Mbit/s: L waits {} ms, C {} ms", low.2, classic.2);
        }
    }
}

#[test]
fn dualpi2_has_the_defaults_of_its_sources() {
    let ms = Time::from_ms;
    let dualpi2::Settings {
        target,
        update,
        alpha,
        beta,
        coupling,
        step,
        native,
        range,
        between,
        shift,
        classic_share,
        at,
    } = Default::default();
    // RFC 9332, appendix A.1: target 15 ms, Tupdate 16 ms, k = 2; Linux: alpha 0.16, beta 3.2, a
    // step at 1 ms, and a tenth for C (the RFC's example: 1/16).
    assert_eq!((target, update, alpha, beta, coupling), (ms(15), ms(16), 0.16, 3.2, 2.0));
    assert_eq!((step, native, at), (ms(1), dualpi2::Native::Step, dualpi2::At::Dequeue));
    assert_eq!((between, classic_share), (dualpi2::Between::Weighted, 0.1));
    // Appendix A.2: tshift is 50 ms on the public Internet. Figure 2: the ramp is 400 us wide.
    assert_eq!((shift, range), (ms(50), Time(400_000_000)));
}

#[test]
fn dualpi2_ramps_over_its_range() {
    // L's head has waited so long, in us: the part of the heads that are marked, with a ramp from
    // 800 to 1200 us.
    let share = |wait: u64| {
        let native = dualpi2::Native::Ramp;
        let step = Time(800_000_000);
        let mut dual = dualpi2(dualpi2::Settings { native, step, alpha: 0.0, beta: 0.0, ..Default::default() });
        let (mut fates, mut marks) = (Fates::new(), 0);
        for token in 0..1000_u64 {
            let now = Time(token * 10 * MS);
            (0..2).for_each(|_| _ = dual.enqueue(now, ect(token, now, true), &header(0), &mut fates));
            dual.dequeue(Time(now.0 + wait * MS / 1000), &mut fates);
            marks += fates.drain(..).filter(|fate| matches!(fate.outcome, Outcome::Marked(_))).count();
            dual.dequeue(Time(now.0 + wait * MS / 1000), &mut fates);
            fates.clear();
        }
        marks
    };
    assert_eq!(
        [700, 800, 900, 1000, 1100, 1200, 2000].map(share),
        [0, 0, 250, 500, 749, 1000, 1000],
        "a running sum of 3/4 is rounded"
    );
}

#[test]
fn dualpi2_may_reorder_a_flow_whose_ecn_field_changes() {
    let mut dual = dualpi2(Default::default());
    let mut fates = Fates::new();
    dual.enqueue(Time(0), ect(0, Time(0), false), &header(0), &mut fates);
    dual.enqueue(Time(0), ect(1, Time(0), true), &header(0), &mut fates);
    assert!(matches!(dual.dequeue(Time(1), &mut fates), Dequeue::Send(packet) if packet.token == 1));
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
    refused(cake(cake::Settings { mpu: Some(257), ..Default::default() }), "mpu at most 256");
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
