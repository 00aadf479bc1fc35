//! What every discipline obeys, over the registry, and the bounds that the cards claim.
//!
//! [`Checked`] checks after every call: arrived = sent + dropped + held; the limit; each packet
//! sent, dropped or removed once; the order within a flow; handles; the same calls, the same
//! answers; asking again does no harm. [`Driver`] checks that *nothing before t* is exact: nothing
//! a picosecond before, a packet at t.

use fairq_sched::change::Change;
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::fluid::gps::{Departure, Gps, Offer};
use fairq_sched::packet::{Fates, Marks, Outcome, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, CLASSIFIERS, ClassifierSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings,
    POLICERS, PolicerSettings, SCHEDULERS, SchedulerSettings,
};
use fairq_sched::round;
use fairq_sched::schedule::{fq, token_bucket};
use fairq_sched::units::{Bytes, Limit, PS_PER_S, Rate, Time, Weight};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Arrival, Driver, End, header};
use fairq_testkit::shown::number;
use fairq_testkit::world::{World, arrivals};

/// Every pair of scheduler and buffer policy that has no fault, with all their settings, under each
/// of the limits; and every whole design. Classifiers, markers and policers go round, so that each
/// meets most of the others.
fn queues(limits: &[Limit]) -> Vec<Queue> {
    let (mut queues, mut turn) = (Vec::new(), 0);
    let mut buffers: Vec<_> = BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name)).collect();
    for afd in &mut buffers {
        if let BufferSettings::Afd(afd) = afd {
            // Its own on a fast line, where a slow class waits for minutes, is millions of periods.
            afd.interval = afd.interval.or(Some(Time::from_ms(100)));
        }
    }
    let policers: Vec<_> = POLICERS.iter().flat_map(|card| PolicerSettings::variants(card.name)).collect();
    let mut keep = |mut queue: Queue| {
        turn += 1;
        queue.policer = if turn % 5 == 0 { Some(policers[turn / 5 % policers.len()].clone()) } else { None };
        queue.classifier = ClassifierSettings::by_name(CLASSIFIERS[turn % CLASSIFIERS.len()].name);
        let marker = MarkerSettings::by_name(MARKERS[turn / CLASSIFIERS.len() % MARKERS.len()].name);
        let marked = Queue { marker, ..queue.clone() };
        // Not all parts go with a marker, and not all ask whose a packet is.
        let choices =
            [marked, queue].into_iter().flat_map(|queue| [queue.clone(), Queue { classifier: None, ..queue }]);
        queues.extend(choices.into_iter().find(|queue| queue.fault().is_none()));
    };
    for limit in limits {
        for scheduler in SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name)) {
            for buffer in &buffers {
                keep(Queue { buffer: Some(buffer.clone()), ..Queue::new(scheduler.clone(), Some(*limit)) });
            }
        }
        for design in DESIGNS.iter().flat_map(|card| DesignSettings::variants(card.name)) {
            keep(Queue::of_design(design, Some(*limit)));
        }
    }
    queues
}

fn checked(queue: &Queue, line: &Line) -> Checked {
    Checked::new(Rules::of(queue), || queue.build(line))
}

fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight of the test")
}

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

#[test]
fn every_combination_of_parts_obeys_the_contract() {
    let limits = [Limit::Packets(1), Limit::Packets(12), Limit::Bytes(4000), Limit::Bytes(100), Limit::Unlimited];
    for (at, queue) in queues(&limits).iter().enumerate() {
        for round in 0..3 {
            let seed = at as u64 * 3 + round;
            let _replay = Replay(format!("seed {seed}, {queue:?}"));
            let mut draw = Draw::new(seed);
            let mut world = World::new(&mut draw, 20 + 60 * round);
            world.choose_classes(&mut draw, queue);
            let driver = world.run(&mut draw, checked(queue, &world.line));
            let is_inside = |journey: &&fairq_testkit::driver::Journey| journey.end == End::Inside;
            assert_eq!(driver.journeys.iter().find(is_inside), None, "everything leaves in the end");
        }
    }
}

#[test]
fn however_little_may_wait_something_is_sent() {
    // Half of what the line carries, one packet at a time: each may be lost to chance, not all.
    let limits = [Limit::Packets(1), Limit::Packets(2), Limit::Bytes(1000), Limit::Bytes(1200), Limit::Bytes(1999)];
    for queue in queues(&limits) {
        for length in [40, 999, 1000] {
            let _replay = Replay(format!("{length} B, {queue:?}"));
            let line = Line::new(rate(1_000_000));
            let mut driver = Driver::new(checked(&queue, &line), line.rate);
            (0..60)
                .for_each(|at| driver.offer(Arrival { time: Time(at * 16_000_000_000), flow: at as u32 % 3, length }));
            driver.finish();
            let sent = driver.journeys.iter().filter(|journey| journey.departure().is_some()).count();
            assert!(sent > 0, "none of 60 was sent");
        }
    }
}

#[test]
fn long_runs_with_many_flows_obey_the_contract() {
    for (at, scheduler) in SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name)).enumerate() {
        for limit in [Limit::Packets(50), Limit::Bytes(30_000)] {
            let queue = Queue::new(scheduler.clone(), Some(limit));
            let seed = 7000 + at as u64;
            let _replay = Replay(format!("seed {seed}, {queue:?}"));
            let mut draw = Draw::new(seed);
            let mut world = World::new(&mut draw, 6000);
            world.flows = 2000;
            world.run(&mut draw, checked(&queue, &world.line));
        }
    }
}

#[test]
fn a_slot_serves_another_flow_only_when_nothing_of_its_flow_is_in_the_gateway() {
    // Round robin keeps no debts, so a slot is clear whenever its flow has left. While a packet is
    // sent many more flows come than there are slots without a waiting packet. The FQ bit, with
    // little room, marks every flow that has something in the gateway: a flow that was given
    // another's slot too early would be marked.
    for scheduler in ["round_robin", "fq", "virtual_clock"] {
        let _replay = Replay(scheduler.to_owned());
        let marker = MarkerSettings::by_name("fq_bit");
        let queue = Queue { marker, ..Queue::new(self::scheduler(scheduler), Some(Limit::Packets(2))) };
        let mut discipline = checked(&queue, &Line::new(rate(1_000_000)));
        let (mut fates, mut flow_of, mut sending) = (Fates::new(), Vec::new(), None);
        let mut waiting = Vec::new();
        for token in 0..20_000 {
            let now = Time(token * 100_000_000);
            let mut packet = Packet::new(token, now, 1000);
            packet.accepts = Marks::FQ;
            let is_new = token % 7 > 0;
            let flow = if is_new { token as u32 } else { sending.unwrap_or(0) };
            let has_something = sending == Some(flow) || waiting.contains(&flow);
            flow_of.push(flow);
            waiting.push(flow);
            discipline.enqueue(now, packet, &header(flow), &mut fates);
            let leaves = |waiting: &mut Vec<u32>, token: u64| {
                let place = waiting.iter().position(|flow| *flow == flow_of[token as usize]);
                waiting.swap_remove(place.expect("it waited"));
            };
            for fate in fates.drain(..) {
                match fate.outcome {
                    Outcome::Marked(_) => assert!(has_something, "flow {flow} has nothing in the gateway"),
                    Outcome::Dropped(_) => leaves(&mut waiting, fate.packet.token),
                }
            }
            if token % 150 == 0
                && let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates)
            {
                leaves(&mut waiting, packet.token);
                sending = Some(flow_of[packet.token as usize]);
            }
        }
    }
}

#[test]
fn the_contract_holds_at_the_ends_of_the_ranges() {
    for (at, scheduler) in SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name)).enumerate() {
        let queue = Queue::new(scheduler, Some(Limit::Packets(3)));
        let _replay = Replay(format!("{queue:?}"));
        let mut draw = Draw::new(at as u64);
        let (least, most) = (weight(1), Weight::MAX);
        let weights = vec![(header(0), least), (header(1), most), (header(2), most)];
        let line = Line { seed: 1, weights, ..Line::new(rate(1_000_000)) };
        let mut discipline = checked(&queue, &line);
        let mut fates = Fates::new();
        for token in 0..2000 {
            let now = Time(token * 1_000_000_000);
            let packet = Packet::new(token, now, draw.pick(&[0, 1, u32::MAX]));
            discipline.enqueue(now, packet, &header(draw.below(3) as u32), &mut fates);
            fates.clear();
            if draw.once_in(3) {
                discipline.dequeue(now, &mut fates);
            }
        }
    }
}

fn scheduler(name: &str) -> SchedulerSettings {
    SchedulerSettings::by_name(name).expect("a scheduler of the registry")
}

#[test]
fn fifo_keeps_the_order_of_arrival() {
    for seed in 0..50 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let world = World::new(&mut draw, 300);
        let arrivals = arrivals(&mut draw, &world);
        let queue = Queue::new(scheduler("fifo"), None);
        let journeys = Driver::new(checked(&queue, &world.line), world.line.rate).run(&arrivals);
        // The backlog ahead over the rate: bits since the line became busy, counted from there.
        let (mut busy_since, mut bits, mut free) = (Time::ZERO, 0u128, Time::ZERO);
        for journey in &journeys {
            if journey.arrival.time > free {
                (busy_since, bits) = (journey.arrival.time, 0);
            }
            bits += u128::from(journey.arrival.length) * 8;
            // To the nearest picosecond.
            let rate = u128::from(world.line.rate.bit_per_s());
            let picoseconds = (2 * bits * u128::from(PS_PER_S) + rate) / (2 * rate);
            free = busy_since + Time(picoseconds as u64);
            assert_eq!(journey.departure(), Some(free));
        }
    }
}

#[test]
fn round_robin_serves_packets_evenly() {
    const FLOWS: usize = 5;
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let line = Line::new(rate(1_000_000));
        let mut discipline = checked(&Queue::new(scheduler("round_robin"), None), &line);
        let mut waiting = [0u32; FLOWS];
        // For each pair, while both wait: how far the first was ahead of the second, least and
        // most.
        let mut ahead = [[(0i32, 0i32, 0i32); FLOWS]; FLOWS];
        let (mut tokens, mut fates, mut flow_of) = (0, Fates::new(), Vec::new());
        let arrives = draw.pick(&[2, 3]);
        for step in 0..2000 {
            let now = Time(step);
            if draw.below(4) < arrives {
                let flow = draw.below(FLOWS as u64) as usize;
                discipline.enqueue(now, Packet::new(tokens, now, 40 + step as u32), &header(flow as u32), &mut fates);
                flow_of.push(flow);
                waiting[flow] += 1;
                tokens += 1;
                continue;
            }
            let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates) else { continue };
            let flow = flow_of[packet.token as usize];
            waiting[flow] -= 1;
            for (first, row) in ahead.iter_mut().enumerate() {
                for (second, (now, least, most)) in row.iter_mut().enumerate().filter(|(second, _)| *second != first) {
                    *now += i32::from(flow == first) - i32::from(flow == second);
                    (*least, *most) = ((*least).min(*now), (*most).max(*now));
                    assert!(*most - *least <= 1, "flows {first} and {second}: {least} to {most}");
                    if waiting[first] == 0 || waiting[second] == 0 {
                        (*now, *least, *most) = (0, 0, 0);
                    }
                }
            }
        }
    }
}

#[test]
fn virtual_clock_keeps_its_stamps() {
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut world = World::new(&mut draw, 500);
        world.flows = world.flows.min(60);
        let flows = world.flows as u32;
        world.line.weights = (0..flows).map(|flow| (header(flow), weight(draw.pick(&[500, 1000, 3000])))).collect();
        // Every flow sends once, then all is quiet until their clocks are passed: from then on what
        // is reserved is the line, whichever flows send.
        let mut all: Vec<_> = (0..flows).map(|flow| Arrival { time: Time::ZERO, flow, length: 1 }).collect();
        let quiet = Time(world.line.rate.time_of_bits(8).0 * 1_000_000);
        all.extend(arrivals(&mut draw, &world).into_iter().map(|a| Arrival { time: quiet + a.time, ..a }));

        let (mut clocks, mut stamps) = (vec![0u128; flows as usize], Vec::new());
        let share = |flow: u32| u128::from(world.line.weights[flow as usize].1.thousandths());
        let capacity = u128::from(world.line.rate.bit_per_s());
        let mut reserved = 0;
        for (at, arrival) in all.iter().enumerate() {
            reserved += if at < flows as usize { share(arrival.flow) } else { 0 };
            let picobits = u128::from(arrival.length) * 8 * u128::from(PS_PER_S) * reserved;
            let clock = &mut clocks[arrival.flow as usize];
            *clock = (*clock).max(arrival.time.0.into()) + picobits.div_ceil(capacity * share(arrival.flow));
            stamps.push(*clock);
        }
        let queue = Queue::new(scheduler("virtual_clock"), None);
        let journeys = Driver::new(checked(&queue, &world.line), world.line.rate).run(&all);
        let longest =
            world.line.rate.time_of_rounded_up(Bytes(world.lengths.iter().copied().max().unwrap_or(0).into()));
        for (journey, stamp) in journeys.iter().zip(&stamps).skip(flows as usize) {
            let departure = journey.departure().expect("without a limit all are sent");
            // A picosecond for the end of a transmission, rounded up, and one for the choice made
            // then.
            let late = i128::from(departure.0) - *stamp as i128 - i128::from(longest.0) - 2;
            assert!(late <= 0, "{late} ps too late: {journey:?}, stamp {stamp}");
        }
    }
}

#[test]
fn virtual_clock_punishes_past_use() {
    // Two flows reserve half the line each. One uses all of it, alone, for 100 packets: 50 more
    // than its share. When the other comes back it has the line for itself for 50 packets (and one
    // for the packet that ties).
    const LENGTH: u32 = 125;
    let line = Line::new(rate(1_000_000));
    let arrival = |time: u64, flow| Arrival { time: Time::from_ms(time), flow, length: LENGTH };
    let mut arrivals = vec![arrival(0, 1)];
    arrivals.extend((0..100).map(|at| arrival(10 + at, 0)));
    arrivals.extend((0..100).map(|_| arrival(110, 1)));
    arrivals.extend((0..100).map(|_| arrival(110, 0)));
    let mut driver = Driver::new(Queue::new(scheduler("virtual_clock"), None).build(&line), line.rate);
    arrivals.iter().for_each(|arrival| driver.offer(*arrival));
    driver.finish();
    let order: Vec<u32> = driver.order[101..].iter().map(|at| driver.journeys[*at as usize].arrival.flow).collect();
    assert_eq!(order.iter().take_while(|flow| **flow == 1).count(), 51);
    assert_eq!(order[51..59], [0, 1, 0, 1, 0, 1, 0, 1]);
    // Fair queueing gives the returning flow its half and no more.
    let mut driver = Driver::new(Queue::new(scheduler("fq"), None).build(&line), line.rate);
    arrivals.iter().for_each(|arrival| driver.offer(*arrival));
    driver.finish();
    let order: Vec<u32> = driver.order[101..].iter().map(|at| driver.journeys[*at as usize].arrival.flow).collect();
    assert_eq!(order[..6], [1, 0, 1, 0, 1, 0]);
}

/// Flows that lose a packet when flow 3 has its first one, of 40 B, under the limit `then`. Before,
/// under `limit`, flow 1 has two packets of 40 B and flow 2 one of 1500 B.
fn losers(limit: Limit, then: Limit) -> Vec<u64> {
    let buffer = BufferSettings::by_name("longest_queue_drop");
    // Not built without a limit: the queue would take none later.
    let queue = Queue { buffer, ..Queue::new(scheduler("round_robin"), Some(Limit::Packets(9))) };
    let (mut discipline, mut fates) = (queue.build(&Line::new(rate(1_000_000))), Fates::new());
    discipline.change(Time::ZERO, &Change::Limit(limit)).expect("it takes a limit");
    for (flow, length) in [(1, 40), (1, 40), (2, 1500), (3, 40)] {
        if flow == 3 {
            discipline.change(Time::ZERO, &Change::Limit(then)).expect("it takes a limit");
        }
        let packet = Packet::new(flow.into(), Time::ZERO, length);
        discipline.enqueue(Time::ZERO, packet, &header(flow), &mut fates);
    }
    fates.iter().map(|fate| fate.packet.token).collect()
}

#[test]
fn under_a_new_limit_the_queue_that_is_longest_by_it_loses() {
    for limit in [Limit::Unlimited, Limit::Packets(9), Limit::Bytes(9000)] {
        assert_eq!(losers(limit, Limit::Packets(3)), [1], "{limit:?}");
        assert_eq!(losers(limit, Limit::Bytes(1600)), [2], "{limit:?}");
        assert_eq!(losers(limit, Limit::Unlimited), [0; 0], "{limit:?}");
    }
}

/// A scheduler that ranks packets may leave it to its program whether a weight counts.
#[test]
fn a_weight_is_taken_by_schedulers_that_go_by_weights_alone() {
    let line = Line::new(rate(1_000_000));
    let (mut taken, mut refused) = (0, 0);
    for settings in SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name)) {
        let facts = settings.part().facts();
        let queue = Queue::new(settings, None);
        if queue.fault().is_some() || (facts.ranks_packets && !facts.goes_by_weights) {
            continue;
        }
        let answer = queue.build(&line).change(Time::ZERO, &Change::Weight(header(1), weight(3000)));
        assert_eq!(answer.is_ok(), facts.goes_by_weights, "{queue:?}: {answer:?}");
        *if answer.is_ok() { &mut taken } else { &mut refused } += 1;
    }
    assert!(taken > 10 && refused > 10, "{taken} taken, {refused} refused");
}

#[test]
fn a_weight_counts_from_when_it_is_changed() {
    for name in ["fq", "virtual_clock"] {
        let _replay = Replay(name.to_owned());
        let line = Line::new(rate(1_000_000));
        let mut discipline = checked(&Queue::new(scheduler(name), None), &line);
        let (mut fates, mut flow_of, mut sent) = (Fates::new(), Vec::new(), Vec::new());
        // Two flows always have five packets waiting.
        let mut offer = |discipline: &mut Checked, now, flow: u32| {
            discipline.enqueue(now, Packet::new(flow_of.len() as u64, now, 1000), &header(flow), &mut Fates::new());
            flow_of.push(flow);
        };
        (0..10).for_each(|at| offer(&mut discipline, Time::ZERO, at % 2));
        for step in 0..1000u64 {
            let now = Time(step * 8_000_000_000);
            if step == 200 {
                let weights = if name == "fq" { "active_weight" } else { "reserved_weight" };
                let before = number(&discipline, weights);
                discipline.change(now, &Change::Weight(header(1), weight(3000))).expect("it goes by weights");
                assert_eq!(number(&discipline, weights), before + 2.0);
            }
            let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates) else { panic!("packets are held") };
            // Tokens are numbered by `offer`: the first ten alternate, then one follows each that
            // was sent.
            let flow = if packet.token < 10 { (packet.token % 2) as u32 } else { sent[packet.token as usize - 10] };
            sent.push(flow);
            offer(&mut discipline, now, flow);
        }
        let share = |from: usize, to: usize| sent[from..to].iter().filter(|flow| **flow == 1).count();
        assert!((99..=101).contains(&share(0, 200)), "{}", share(0, 200));
        // The five packets that waited have the bids or stamps that they came with.
        assert!((595..=605).contains(&share(200, 1000)), "{}", share(200, 1000));
    }
}

#[test]
fn virtual_clock_remembers_past_use_while_other_flows_come_and_go() {
    let line = Line::new(rate(1_000_000));
    let mut discipline = checked(&Queue::new(scheduler("virtual_clock"), None), &line);
    let mut fates = Fates::new();
    let mut token = 0;
    let mut offer = |discipline: &mut Checked, now, flow| {
        discipline.enqueue(now, Packet::new(token, now, 1000), &header(flow), &mut Fates::new());
        token += 1;
    };
    // One flow sends 1000 packets at once: its clock is 8 s ahead. The clocks of 300 others, a
    // packet each, are passed by 2.4 s, and at 5 s others take over their slots.
    (0..1000).for_each(|_| offer(&mut discipline, Time::ZERO, 0));
    for flow in 1..300 {
        offer(&mut discipline, Time(flow.into()), flow);
    }
    let now = Time::from_s(5);
    while discipline.held().packets > 0 {
        discipline.dequeue(now, &mut fates);
    }
    for flow in 1000..1300 {
        offer(&mut discipline, now, flow);
        discipline.dequeue(now, &mut fates);
    }
    // What is reserved is for the flows that have a slot, no more.
    assert!(number(&discipline, "flows") < 400.0, "slots are reused");
    assert!(number(&discipline, "reserved_weight") <= number(&discipline, "flows"));
    // It comes back and is still behind one that was never seen.
    offer(&mut discipline, now, 0);
    offer(&mut discipline, now, 5000);
    let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates) else { panic!("two packets are held") };
    assert_eq!(packet.token, token - 1);
}

#[test]
fn token_bucket_keeps_its_rate() {
    for seed in 0..200 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut world = World::new(&mut draw, 150);
        world.load = draw.pick(&[300, 900, 3000]);
        let slow = 1 + draw.below(world.line.rate.bit_per_s());
        let bucket = token_bucket::Settings {
            rate: Some(rate(slow)),
            burst: Bytes(draw.pick(&[1, 100, 1500, 40_000])),
            peak_rate: draw
                .once_in(2)
                .then(|| rate((slow + draw.below(world.line.rate.bit_per_s())).min(Rate::MAX.bit_per_s()))),
            mtu: Bytes(draw.pick(&[1, 1500, 3000])),
            ..token_bucket::Settings::default()
        };
        let queue = Queue::new(SchedulerSettings::TokenBucket(bucket.clone()), None);
        let arrivals = arrivals(&mut draw, &world);
        let journeys = Driver::new(checked(&queue, &world.line), world.line.rate).run(&arrivals);
        let starts: Vec<(u128, u128)> = journeys
            .iter()
            .map(|journey| match journey.end {
                End::Sent { start, .. } => (start.0.into(), u128::from(journey.arrival.length) * 8),
                _ => panic!("without a limit all are sent"),
            })
            .collect();
        let longest = world.lengths.iter().copied().max().unwrap_or(0);
        for (rate, size) in [(bucket.rate, bucket.burst), (bucket.peak_rate, bucket.mtu)] {
            let Some(bit_per_s) = rate.map(|rate| u128::from(rate.bit_per_s())) else { continue };
            // What may leave at once: the bucket, or one packet that is longer than it.
            let at_once = u128::from(u64::from(longest).max(size.0)) * 8 * u128::from(PS_PER_S);
            for from in 0..starts.len() {
                let mut bits = 0;
                for to in from..starts.len() {
                    bits += starts[to].1;
                    let time = starts[to].0 - starts[from].0;
                    assert!(bits * u128::from(PS_PER_S) <= at_once + bit_per_s * time, "packets {from} to {to}");
                }
            }
        }
    }
}

/// Floods `queue`, interrupts what it says should be, and hands over every drop: the waiting of
/// each flow just before it, the victim's flow and length.
fn flood(seed: u64, queue: &Queue, mut dropped: impl FnMut(&[(u64, u64)], usize, Outcome)) -> u64 {
    const FLOWS: usize = 7;
    let mut draw = Draw::new(seed);
    let line = Line::new(rate(1_000_000));
    let mut discipline = queue.build(&line);
    let mut waiting = [(0u64, 0u64); FLOWS];
    let (mut flow_of, mut fates, mut drops) = (Vec::new(), Fates::new(), 0);
    // What is being sent, and the packets that were interrupted and wait: they may exceed the
    // limit.
    let (mut sending, mut interrupted) = (None, Vec::<Packet>::new());
    for step in 0..3000 {
        let now = Time(step * 1_000_000);
        let interrupts = discipline.preempts();
        if let Some(packet) = sending.filter(|_| interrupts) {
            let packet: Packet = packet;
            let of: usize = flow_of[packet.token as usize];
            waiting[of] = (waiting[of].0 + 1, waiting[of].1 + u64::from(packet.length));
            discipline.put_back(now, 8);
            interrupted.push(packet);
        }
        if interrupts || draw.once_in(3) {
            sending = None;
            if let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates) {
                let of: usize = flow_of[packet.token as usize];
                waiting[of] = (waiting[of].0 - 1, waiting[of].1 - u64::from(packet.length));
                interrupted.retain(|other| other.token != packet.token);
                sending = Some(packet);
            }
        } else {
            let (flow, length) = (draw.below(FLOWS as u64).min(draw.below(FLOWS as u64)), draw.pick(&[40, 500, 1500]));
            let packet = Packet::new(flow_of.len() as u64, now, length);
            flow_of.push(flow as usize);
            waiting[flow as usize].0 += 1;
            waiting[flow as usize].1 += u64::from(length);
            discipline.enqueue(now, packet, &header(flow as u32), &mut fates);
        }
        for fate in fates.drain(..) {
            let of = flow_of[fate.packet.token as usize];
            dropped(&waiting, of, fate.outcome);
            interrupted.retain(|other| other.token != fate.packet.token);
            waiting[of] = (waiting[of].0 - 1, waiting[of].1 - u64::from(fate.packet.length));
            drops += 1;
        }
        let held = discipline.held();
        let packets = waiting.iter().map(|w| w.0).sum::<u64>();
        let bytes = waiting.iter().map(|w| w.1).sum::<u64>();
        assert_eq!((held.packets, held.bytes), (packets, bytes));
        let out = interrupted.iter().map(|packet| u64::from(packet.length)).sum::<u64>();
        let is_over = queue.limit.unwrap_or_default().is_exceeded_by(packets - interrupted.len() as u64, bytes - out);
        assert!(!is_over, "{packets} packets, {bytes} B are over the limit");
    }
    drops
}

#[test]
fn the_limit_is_kept() {
    for scheduler in SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name)) {
        for policy in BUFFER_POLICIES {
            for (seed, limit) in [Limit::Packets(1), Limit::Packets(20), Limit::Bytes(1500), Limit::Bytes(20_001)]
                .into_iter()
                .enumerate()
            {
                let buffer = BufferSettings::by_name(policy.name);
                let queue = Queue { buffer, ..Queue::new(scheduler.clone(), Some(limit)) };
                if queue.fault().is_some() {
                    continue;
                }
                let _replay = Replay(format!("seed {seed}, {queue:?}"));
                assert!(flood(seed as u64, &queue, |_, _, _| ()) > 0, "nothing was dropped");
            }
        }
    }
}

#[test]
fn a_queue_within_its_share_never_loses() {
    use fairq_sched::buffer::longest_queue_drop::Settings;
    use fairq_sched::contract::End as QueueEnd;
    for seed in 0..40 {
        let preemptive = SchedulerSettings::Fq(fq::Settings { preemptive: true, ..Default::default() });
        for (from, by) in [
            (QueueEnd::Front, scheduler("fq")),
            (QueueEnd::Tail, preemptive),
            (QueueEnd::Tail, scheduler("round_robin")),
            (QueueEnd::Tail, scheduler("virtual_clock")),
        ] {
            for limit in [Limit::Packets(20), Limit::Bytes(12_000)] {
                let buffer = Some(BufferSettings::LongestQueueDrop(Settings { from }));
                let queue = Queue { buffer, ..Queue::new(by.clone(), Some(limit)) };
                let _replay = Replay(format!("seed {seed}, {queue:?}"));
                flood(seed, &queue, |waiting, victim, _| {
                    let backlogged = waiting.iter().filter(|(packets, _)| *packets > 0).count() as u64;
                    let (length, limit, longest) = match limit {
                        Limit::Bytes(limit) => (waiting[victim].1, limit, waiting.iter().map(|w| w.1).max()),
                        Limit::Packets(limit) => (waiting[victim].0, limit, waiting.iter().map(|w| w.0).max()),
                        Limit::Unlimited => unreachable!("both limits are finite"),
                    };
                    assert!(length * backlogged > limit, "{length} of {limit} among {backlogged} is within its share");
                    assert_eq!(Some(length), longest, "the longest loses");
                });
            }
        }
    }
}

/// How far the order of bids may be from that of exact finish numbers, as work: bids are compared
/// in steps of 2^24 ε, and each activation may round R by an ε; a flow of weight w can be served w
/// times that before its turn. Two picoseconds come on top: the end of a transmission is rounded
/// up, and the choice is made then.
fn slack(line: &Line, flows: u64, packets: u64) -> u128 {
    let weights = line.weights.iter().map(|(_, weight)| u128::from(weight.thousandths())).sum::<u128>();
    (weights + u128::from(flows) * 1000) * ((1 << 24) + 2 * u128::from(packets)) + round::work(line.rate, Time(2))
}

#[test]
fn fq_is_never_late() {
    for seed in 0..120 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut world = World::new(&mut draw, 20 + 20 * seed);
        world.load = world.load.min(1100);
        let (line, queue) = (&world.line, Queue::new(scheduler("fq"), None));
        let of: Vec<Weight> = (0..world.flows)
            .map(|flow| line.weights.iter().find(|(h, _)| *h == header(flow as u32)).map_or(Weight::ONE, |(_, w)| *w))
            .collect();
        let arrivals = arrivals(&mut draw, &world);
        let mut driver = Driver::new(checked(&queue, line), line.rate);
        arrivals.iter().for_each(|arrival| driver.offer(*arrival));
        driver.finish();

        let longest = u128::from(arrivals.iter().map(|arrival| arrival.length).max().unwrap_or(0)) * round::BYTE_WORK;
        let slack = slack(line, world.flows, world.packets);
        let (mut fluid, mut finished) = (Gps::new(line.rate), vec![0; arrivals.len()]);
        let mut departed = |departure: Departure| finished[departure.token as usize] = departure.work;
        let mut sent = vec![0; of.len()];
        let mut rest = arrivals.iter().enumerate().peekable();
        for token in &driver.order {
            let journey = &driver.journeys[*token as usize];
            let (Arrival { flow, length, .. }, now) = (journey.arrival, journey.departure().unwrap_or(Time::NEVER));
            while let Some((at, arrival)) = rest.next_if(|(_, arrival)| arrival.time <= now) {
                let weight = of[arrival.flow as usize];
                let offer = Offer { flow: arrival.flow, weight, length: arrival.length, token: at as u64 };
                fluid.offer(arrival.time, offer, &mut departed);
            }
            fluid.advance(now, &mut departed);
            sent[flow as usize] += u128::from(length) * round::BYTE_WORK;
            // At this departure: no flow more than Lmax behind the fluid, none more than (N-1) Lmax
            // ahead.
            for (flow, sent) in sent.iter().enumerate() {
                let served = fluid.served(flow as u32);
                assert!(served <= sent + longest + slack, "flow {flow} is behind at {now:?}");
                let others = (of.len() - 1) as u128;
                assert!(*sent <= served + others * (longest + slack) + slack, "flow {flow} is ahead at {now:?}");
            }
        }
        fluid.finish(&mut departed);
        for (journey, finished) in driver.journeys.iter().zip(&finished) {
            let departure = round::work(line.rate, journey.departure().expect("without a limit all are sent"));
            let late = departure.saturating_sub(finished + longest);
            assert!(late <= slack, "{journey:?} is {late} too late, {slack} may be");
        }
    }
}
