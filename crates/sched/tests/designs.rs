//! Whole designs and the schedulers they are made of: the rules of their sources, and what their cards claim.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::design::fq_codel;
use fairq_sched::packet::{Address, Fates, Header, Marks, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{DesignSettings, SchedulerSettings};
use fairq_sched::schedule::drr_plus_plus;
use fairq_sched::units::{Bytes, Limit, PS_PER_S, Rate, Time, Weight};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::header;

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
            for first in 0..4 {
                for second in (0..4).filter(|second| *second != first) {
                    let (now, least, most) = &mut ahead[first][second];
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
