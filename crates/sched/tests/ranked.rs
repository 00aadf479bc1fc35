//! Schedulers and policies that order packets by rank, priority or length, against slow and obvious
//! ones.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::packet::{Fates, Outcome, Packet};
use fairq_sched::program::Rank;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::schedule::{datakit, fq, pifo, sp_pifo};
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Driver, header};
use std::collections::{BTreeMap, VecDeque};

/// 8 ns a byte.
fn line() -> Line {
    Line::new(Rate::new(1_000_000_000).expect("a rate"))
}
const BYTE_TIME: u64 = 8000;

fn checked(queue: &Queue) -> Checked {
    Checked::new(Rules::of(queue), || queue.build(&line()))
}

fn scheduler(name: &str) -> SchedulerSettings {
    SchedulerSettings::by_name(name).expect("a scheduler of the registry")
}

fn pifo_by(rank: Rank) -> SchedulerSettings {
    SchedulerSettings::Pifo(pifo::Settings { rank })
}

/// A flow and its packet.
type Offer = (u32, Packet);

/// Random packets of `flows` flows that come in bursts and fill the line about half.
fn drawn(draw: &mut Draw, packets: u64, flows: u64) -> Vec<Offer> {
    let mut now = Time::ZERO;
    let next = |token| {
        let length = draw.pick(&[40, 64, 65, 500, 1500]);
        now = now + Time(draw.pick(&[0, 0, 1, 1, 6]) * draw.below(2000) * BYTE_TIME);
        let mut packet = Packet::new(token, now, length);
        packet.remaining = draw.below(50) as u32;
        packet.tos = draw.bits() as u8;
        (draw.below(flows) as u32, packet)
    };
    (0..packets).map(next).collect()
}

fn order(discipline: impl Discipline, offers: &[Offer]) -> Vec<u64> {
    let mut driver = Driver::new(discipline, line().rate);
    offers.iter().for_each(|(flow, packet)| driver.offer_packet(*flow, *packet));
    driver.finish();
    driver.order
}

/// The order in which a line sends if `next` picks among the packets that wait, in order of
/// arrival, by place.
fn slow_order(offers: &[Offer], mut next: impl FnMut(&[Offer]) -> usize) -> Vec<u64> {
    let (mut waiting, mut order, mut free, mut coming) = (Vec::new(), Vec::new(), Time::ZERO, offers.iter().peekable());
    while !waiting.is_empty() || coming.peek().is_some() {
        if waiting.is_empty() {
            free = coming.peek().map_or(free, |(_, packet)| free.max(packet.arrival));
        }
        while let Some(offer) = coming.next_if(|(_, packet)| packet.arrival <= free) {
            waiting.push(*offer);
        }
        let (_, packet) = waiting.remove(next(&waiting));
        free = free + Time(u64::from(packet.length) * BYTE_TIME);
        order.push(packet.token);
    }
    order
}

/// The place of the least by `key`, the first of equals.
fn least<K: Ord>(waiting: &[Offer], mut key: impl FnMut(&Offer) -> K) -> usize {
    (0..waiting.len()).min_by_key(|at| key(&waiting[*at])).expect("a packet waits")
}

/// The waiting offers that are not among the first `seen` to arrive.
fn newcomers<'a>(offers: &'a [Offer], waiting: &[Offer], seen: usize) -> &'a [Offer] {
    let last = waiting.iter().map(|(_, packet)| packet.token as usize + 1).max().unwrap_or(0);
    &offers[seen..last.max(seen)]
}

#[test]
fn pifo_sends_the_least_rank_present() {
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let offers = drawn(&mut Draw::new(seed), 300, 5);
        let queue = Queue::new(pifo_by(Rank::ShortestRemaining), None);
        let slow = slow_order(&offers, |waiting| least(waiting, |(_, packet)| packet.remaining));
        assert_eq!(order(checked(&queue), &offers), slow);
    }
}

#[test]
fn pifo_by_start_time_is_start_time_fair_queueing() {
    const WEIGHTS: [u32; 4] = [500, 1000, 2000, 4000];
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut line = line();
        for (flow, weight) in (0..).zip(WEIGHTS) {
            line.weights.push((header(flow), Weight::from_thousandths(weight).expect("a weight")));
        }
        let offers = drawn(&mut Draw::new(seed), 300, 4);
        let queue = Queue::new(pifo_by(Rank::StartTime), None);
        let fast = order(Checked::new(Rules::of(&queue), || queue.build(&line)), &offers);
        assert_eq!(fast, order(Queue::new(scheduler("sfq"), None).build(&line), &offers));

        // In quarters of a byte. A packet that arrives while another is sent sees that one's tag,
        // so arrivals are taken in before V moves on.
        let (mut virtual_time, mut finish) = (0, [0; 4]);
        let (mut starts, mut end) = (Vec::new(), Time::ZERO);
        let slow = slow_order(&offers, |waiting| {
            if waiting.iter().all(|(_, packet)| packet.arrival > end) {
                // The line was idle: every flow begins at the greatest F.
                virtual_time = finish.into_iter().max().expect("four");
            }
            for (flow, packet) in newcomers(&offers, waiting, starts.len()) {
                let flow = *flow as usize;
                let start = virtual_time.max(finish[flow]);
                finish[flow] = start + packet.length * 4000 / WEIGHTS[flow];
                starts.push(start);
            }
            let next = least(waiting, |(_, packet)| starts[packet.token as usize]);
            let (_, packet) = &waiting[next];
            virtual_time = starts[packet.token as usize];
            end = end.max(packet.arrival) + Time(u64::from(packet.length) * BYTE_TIME);
            next
        });
        assert_eq!(fast, slow);
    }
}

/// Packets of flow 0 at time zero, each with `change` made to it.
fn burst(count: u64, change: impl Fn(u64, &mut Packet)) -> Vec<Offer> {
    let mut offers = vec![(0, Packet::new(0, Time::ZERO, 100)); count as usize];
    for (token, (_, packet)) in (0..).zip(&mut offers) {
        packet.token = token;
        change(token, packet);
    }
    offers
}

#[test]
fn pifo_by_remaining_size_breaks_the_order_of_a_flow() {
    let offers = burst(3, |token, packet| packet.remaining = 300 - 100 * token as u32);
    assert_eq!(order(checked(&Queue::new(pifo_by(Rank::ShortestRemaining), None)), &offers), [2, 1, 0]);
}

#[test]
fn pifo_by_least_attained_prefers_flows_that_have_sent_less() {
    // Flow 0 has sent two packets when flow 1 comes with two: these go first, whatever came before.
    let mut offers = burst(6, |_, _| ());
    for (flow, packet) in &mut offers[4..] {
        (*flow, packet.arrival) = (1, Time(BYTE_TIME * 150));
    }
    let queue = |rank| Queue::new(pifo_by(rank), None);
    assert_eq!(order(checked(&queue(Rank::LeastAttained)), &offers), [0, 1, 4, 5, 2, 3]);
    assert_eq!(order(checked(&queue(Rank::StartTime)), &offers), [0, 1, 4, 2, 5, 3]);
}

#[test]
fn edf_is_late_by_a_packet_at_most() {
    let mut late = 0;
    for seed in 0..200 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut offers = drawn(&mut draw, 100, 5);
        for (_, packet) in &mut offers {
            packet.deadline = packet.arrival + Time(draw.below(8000) * BYTE_TIME);
        }
        // By as much as preemptive EDF is late at worst all deadlines are put off: its order stays,
        // and it meets them all, the worst one exactly.
        let off = preemptive_lateness(&offers);
        offers.iter_mut().for_each(|(_, packet)| packet.deadline = packet.deadline + Time(off));
        assert_eq!(preemptive_lateness(&offers), 0);
        let mut driver = Driver::new(checked(&Queue::new(scheduler("edf"), None)), line().rate);
        offers.iter().for_each(|(flow, packet)| driver.offer_packet(*flow, *packet));
        driver.finish();
        for (journey, (_, packet)) in driver.journeys.iter().zip(&offers) {
            let end = journey.departure().expect("without a limit all are sent");
            assert!(end <= packet.deadline + Time(1500 * BYTE_TIME), "{packet:?} left at {end:?}");
            late += u64::from(end > packet.deadline);
        }
    }
    assert!(late > 100, "{late} packets were late at all");
}

/// By how much the latest packet misses its deadline if the line changes to the most urgent one at
/// every instant.
fn preemptive_lateness(offers: &[Offer]) -> u64 {
    let mut left: Vec<u64> = offers.iter().map(|(_, packet)| u64::from(packet.length) * BYTE_TIME).collect();
    let (mut now, mut worst) = (0, 0);
    while left.iter().any(|left| *left > 0) {
        let is_here = |at: &usize| left[*at] > 0 && offers[*at].1.arrival.0 <= now;
        let urgent = (0..offers.len()).filter(is_here).min_by_key(|at| offers[*at].1.deadline);
        let arrival = offers.iter().map(|(_, packet)| packet.arrival.0).filter(|arrival| *arrival > now).min();
        let Some(urgent) = urgent else {
            now = arrival.expect("something is left");
            continue;
        };
        let end = arrival.unwrap_or(u64::MAX).min(now + left[urgent]);
        left[urgent] -= end - now;
        now = end;
        if left[urgent] == 0 {
            worst = worst.max(now.saturating_sub(offers[urgent].1.deadline.0));
        }
    }
    worst
}

#[test]
fn edf_breaks_the_order_of_a_flow() {
    // The first has no deadline and is given one after 100 ms; the others' are not in order.
    let deadlines = [Time::NEVER, Time::from_ms(101), Time::from_ms(99)];
    let offers = burst(3, |token, packet| packet.deadline = deadlines[token as usize]);
    assert_eq!(order(checked(&Queue::new(scheduler("edf"), None)), &offers), [2, 0, 1]);
}

fn sp_pifo(queues: u32) -> Queue {
    Queue::new(SchedulerSettings::SpPifo(sp_pifo::Settings { rank: Rank::ShortestRemaining, queues }), None)
}

#[test]
fn sp_pifo_inverts_less_with_more_queues() {
    let mut inversions = [1, 2, 4, 8, 16, 32].map(|queues| (queues, 0));
    for seed in 0..30 {
        let mut offers = drawn(&mut Draw::new(seed), 1000, 5);
        // Twice what the line carries: enough wait for a choice.
        offers.iter_mut().for_each(|(_, packet)| packet.arrival = Time(packet.arrival.0 / 4));
        for (queues, found) in &mut inversions {
            let order = order(checked(&sp_pifo(*queues)), &offers);
            let mut sent = order.iter();
            // Counts the waiting packets with a lesser rank than the one that is sent.
            slow_order(&offers, |waiting| {
                let token = *sent.next().expect("one is sent each time");
                let at = waiting.iter().position(|(_, packet)| packet.token == token).expect("it waits");
                let is_less = |offer: &&Offer| offer.1.remaining < waiting[at].1.remaining;
                *found += waiting.iter().filter(is_less).count();
                at
            });
        }
    }
    assert!(inversions.is_sorted_by(|(_, few), (_, more)| few > more), "{inversions:?}");
}

#[test]
fn sp_pifo_maps_ranks_as_the_paper_says() {
    // Two queues with bounds 0, 0. Ranks 7 and 9: the lower queue, bound 9. 5: the upper one,
    // bound 5. 3: below it, a push down by 2 to 3, 7. 7: the lower queue.
    let ranks = [7, 9, 5, 3, 7];
    let offers = burst(5, |token, packet| packet.remaining = ranks[token as usize]);
    assert_eq!(order(checked(&sp_pifo(2)), &offers), [2, 3, 0, 1, 4]);
}

#[test]
fn sp_pifo_with_one_queue_is_a_fifo() {
    for seed in 0..50 {
        let offers = drawn(&mut Draw::new(seed), 300, 5);
        assert_eq!(order(checked(&sp_pifo(1)), &offers), slow_order(&offers, |_| 0));
    }
}

#[test]
fn sp_pifo_breaks_the_order_of_a_flow() {
    let offers = burst(2, |token, packet| packet.remaining = 5 - 2 * token as u32);
    assert_eq!(order(checked(&sp_pifo(2)), &offers), [1, 0]);
}

#[test]
fn priority_makes_nobody_wait_for_a_later_band() {
    let mut line = line();
    line.classes = vec![(header(0), "band_5".to_owned()), (header(1), "band_0".to_owned())];
    let band = |offer: &Offer| match offer.0 {
        0 => 5,
        1 => 0,
        _ => 7 - (offer.1.tos >> 5),
    };
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let offers = drawn(&mut Draw::new(seed), 300, 6);
        let queue = Queue::new(scheduler("priority"), None);
        let fast = order(Checked::new(Rules::of(&queue), || queue.build(&line)), &offers);
        assert_eq!(fast, slow_order(&offers, |waiting| least(waiting, band)));
    }
}

#[test]
fn priority_breaks_the_order_of_a_flow_of_many_precedences() {
    let offers = burst(3, |token, packet| packet.tos = (token as u8) << 5);
    assert_eq!(order(checked(&Queue::new(scheduler("priority"), None)), &offers), [2, 1, 0]);
}

#[test]
fn datakit_makes_a_short_message_wait_for_short_ones_only() {
    for seed in 0..200 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let short = draw.pick(&[0, 64, 500]);
        let flows = draw.pick(&[3, 30]);
        let offers = drawn(&mut draw, 300, flows);
        let queue = Queue::new(SchedulerSettings::Datakit(datakit::Settings { short: Bytes(short) }), None);
        let fast = order(checked(&queue), &offers);
        // Whether a packet is a message is settled on arrival; circuits take turns in a list of
        // those that wait.
        let (mut messages, mut turns) = (VecDeque::new(), VecDeque::<u32>::new());
        let (mut circuits, mut seen) = (BTreeMap::<u32, VecDeque<u64>>::new(), 0);
        let slow = slow_order(&offers, |waiting| {
            for (flow, packet) in newcomers(&offers, waiting, seen) {
                seen += 1;
                let circuit = circuits.entry(*flow).or_default();
                let is_alone = circuit.is_empty() && !messages.iter().any(|(of, _)| of == flow);
                if is_alone && u64::from(packet.length) <= short {
                    messages.push_back((*flow, packet.token));
                    continue;
                }
                if circuit.is_empty() {
                    turns.push_back(*flow);
                }
                circuit.push_back(packet.token);
            }
            let token = messages.pop_front().map_or_else(
                || {
                    let flow = turns.pop_front().expect("a packet waits");
                    let circuit = circuits.get_mut(&flow).expect("it waits");
                    let token = circuit.pop_front().expect("it waits");
                    if !circuit.is_empty() {
                        turns.push_back(flow);
                    }
                    token
                },
                |(_, token)| token,
            );
            waiting.iter().position(|(_, packet)| packet.token == token).expect("it waits")
        });
        assert_eq!(fast, slow);
    }
}

#[test]
fn datakit_serves_circuits_evenly() {
    // Three circuits with ten long packets each, of different lengths, while messages of a fourth
    // come in between.
    let mut offers = Vec::new();
    for token in 0..40 {
        let circuit = (token / 10) as u32;
        let (time, length) = if circuit == 3 { (token - 30, 40) } else { (0, 100 * (circuit + 1)) };
        offers.push((circuit, Packet::new(token, Time(time * 700 * BYTE_TIME), length)));
    }
    let order = order(checked(&Queue::new(scheduler("datakit"), None)), &offers);
    let circuits: Vec<u64> = order.iter().map(|token| token / 10).filter(|circuit| *circuit < 3).collect();
    assert_eq!(circuits, [0, 1, 2].repeat(10));
}

/// Offers all at once, or with a packet sent after each where `sends` says so. Returns per offer
/// the tokens of the packets that it drops.
fn drops(queue: &Queue, offers: &[Offer], sends: &[bool]) -> Vec<Vec<u64>> {
    let (mut discipline, mut fates) = (checked(queue), Fates::new());
    let mut drops = Vec::new();
    for ((flow, packet), sends) in offers.iter().zip(sends) {
        discipline.enqueue(packet.arrival, *packet, &header(*flow), &mut fates);
        let is_drop = |outcome| matches!(outcome, Outcome::Dropped(_));
        drops.push(fates.drain(..).filter(|fate| is_drop(fate.outcome)).map(|fate| fate.packet.token).collect());
        if *sends {
            assert!(matches!(discipline.dequeue(packet.arrival, &mut fates), Dequeue::Send(_) | Dequeue::Empty));
        }
    }
    drops
}

#[test]
fn aifo_admits_everything_in_its_headroom() {
    let settings = |window, headroom| {
        let rank = Rank::ShortestRemaining;
        BufferSettings::Aifo(fairq_sched::buffer::aifo::Settings { rank, window, headroom, sample: 1 })
    };
    let (mut refused, mut full) = (0, 0);
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let mut offers = drawn(&mut draw, 500, 5);
        offers.iter_mut().for_each(|(_, packet)| packet.length = 100);
        let sends: Vec<bool> = offers.iter().map(|_| draw.once_in(2)).collect();
        // k = 1/4 of 8 packets; the rule in whole numbers.
        let buffer = Some(settings(8, 0.25));
        let queue = Queue { buffer, ..Queue::new(scheduler("fifo"), Some(Limit::Packets(8))) };
        let (mut window, mut held) = (VecDeque::new(), 0usize);
        for ((dropped, (_, packet)), sends) in drops(&queue, &offers, &sends).iter().zip(&offers).zip(&sends) {
            let less = window.iter().filter(|rank| **rank < packet.remaining).count();
            // less/|W| <= 1/(1 - 1/4) · (8 - held)/8
            let is_admitted = less * 6 <= window.len() * (8 - held);
            assert!(is_admitted || held > 2, "{held} wait, which is the headroom");
            let joins = is_admitted && held < 8;
            assert_eq!(dropped.is_empty(), joins, "{packet:?} with {held} waiting, {less} of {}", window.len());
            refused += usize::from(!is_admitted);
            full += usize::from(is_admitted && !joins);
            window.push_back(packet.remaining);
            if window.len() > 8 {
                window.pop_front();
            }
            held = (held + usize::from(joins)).saturating_sub(usize::from(*sends));
        }
    }
    assert!(refused > 1000 && full > 10, "{refused} refused by rank, {full} for want of room");
}

#[test]
fn greatest_rank_drop_keeps_the_least_ranks() {
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let offers = drawn(&mut draw, 300, 5);
        let sends: Vec<bool> = offers.iter().map(|_| draw.once_in(3)).collect();
        let limit = draw.pick(&[Limit::Packets(10), Limit::Bytes(6000)]);
        let buffer = BufferSettings::by_name("greatest_rank_drop");
        let queue = Queue { buffer, ..Queue::new(pifo_by(Rank::ShortestRemaining), Some(limit)) };
        let mut held: Vec<(u32, u64, u32)> = Vec::new();
        for ((dropped, (_, packet)), sends) in drops(&queue, &offers, &sends).iter().zip(&offers).zip(&sends) {
            held.push((packet.remaining, packet.token, packet.length));
            held.sort_unstable();
            let mut lost = Vec::new();
            while limit.is_exceeded_by(held.len() as u64, held.iter().map(|(_, _, length)| u64::from(*length)).sum()) {
                lost.extend(held.pop().map(|(_, token, _)| token));
            }
            assert_eq!(*dropped, lost);
            if *sends && !held.is_empty() {
                held.remove(0);
            }
        }
    }
}

/// Jain's index of what ten flows get that send 1 to 10 Mbit/s of packets of 1000 B at random times
/// into 10 Mbit/s.
fn evenness(queue: &Queue) -> f64 {
    let (mut draw, line) = (Draw::new(7), Line::new(Rate::new(10_000_000).expect("a rate")));
    let mut offers = Vec::new();
    for flow in 0..10_u32 {
        let mean = 8_000_000_000_000_000 / (u64::from(flow + 1) * 1_000_000);
        let mut time = Time::ZERO;
        while time < Time::from_s(20) {
            let unit = (draw.below(1 << 32) as f64 + 1.0) / (1_u64 << 32) as f64;
            time = time + Time((-libm::log(unit) * mean as f64) as u64);
            offers.push((time, flow));
        }
    }
    offers.sort_unstable();
    let mut driver = Driver::new(queue.build(&line), line.rate);
    for (token, (time, flow)) in offers.iter().enumerate() {
        driver.offer_packet(*flow, Packet::new(token as u64, *time, 1000));
    }
    driver.finish();
    let mut sent = [0.0; 10];
    for journey in driver.journeys.iter().filter(|journey| journey.arrival.time > Time::from_s(5)) {
        sent[journey.arrival.flow as usize] += f64::from(u8::from(journey.departure().is_some()));
    }
    // All are offered a tenth of the line or more.
    let sum: f64 = sent.iter().sum();
    sum * sum / (10.0 * sent.iter().map(|sent| sent * sent).sum::<f64>())
}

#[test]
fn no_scheduler_of_flows_keeps_the_charge_of_a_packet_that_is_pushed_out() {
    // The rule of 1990 charges drops, as its card says (`on_drop`), and so does the Virtual Clock.
    let charges = ["fq", "virtual_clock"];
    // Not all flows have a queue of their own, or the same share.
    let others = ["cbs", "datakit", "edf", "ets", "fifo", "hfsc", "hpfq", "htb", "priority", "token_bucket"];
    let refund = fq::Settings { on_drop: fq::OnDrop::Refund, ..Default::default() };
    let fair = SCHEDULERS.iter().filter(|card| !charges.contains(&card.name) && !others.contains(&card.name));
    for scheduler in fair.map(|card| scheduler(card.name)).chain([SchedulerSettings::Fq(refund)]) {
        for policy in ["greatest_rank_drop", "longest_queue_drop", "random_drop", "head_drop"] {
            let buffer = BufferSettings::by_name(policy);
            let queue = Queue { buffer, ..Queue::new(scheduler.clone(), Some(Limit::Packets(64))) };
            // Longest-queue drop and ranks name the flow that has too much; chance and age hit the
            // others, too.
            let least = match (policy, queue.scheduler.name()) {
                ("random_drop" | "head_drop", _) | ("greatest_rank_drop", "sp_pifo") => 0.9,
                _ => 0.98,
            };
            if queue.fault().is_none() {
                let evenness = evenness(&queue);
                assert!(evenness > least, "{} + {policy}: {evenness}", queue.scheduler.name());
            }
        }
    }
}

#[test]
fn greatest_rank_drop_is_refused_where_packets_have_no_ranks() {
    let ranked = ["edf", "fq", "pifo", "sp_pifo", "virtual_clock", "wf2q", "wfq"];
    for card in SCHEDULERS {
        let buffer = BufferSettings::by_name("greatest_rank_drop");
        let fault = Queue { buffer, ..Queue::new(scheduler(card.name), Some(Limit::Packets(9))) }.fault();
        assert_eq!(fault.is_none(), ranked.contains(&card.name), "{}: {fault:?}", card.name);
        assert!(fault.is_none_or(|fault| fault.contains("use longest_queue_drop or tail_drop")));
    }
}

#[test]
fn policies_that_compare_queues_are_refused_where_each_packet_has_one() {
    for name in ["pifo", "edf"] {
        for policy in ["longest_queue_drop", "codel", "cobalt", "pie", "dynamic_threshold"] {
            let buffer = BufferSettings::by_name(policy);
            let queue = Queue { buffer, ..Queue::new(scheduler(name), Some(Limit::Packets(9))) };
            assert!(queue.fault().is_some_and(|fault| fault.contains("greatest_rank_drop")), "{name} + {policy}");
            let (buffer, overflow) = (BufferSettings::by_name("red"), BufferSettings::by_name(policy));
            assert!(Queue { buffer, overflow, ..queue }.fault().is_some());
        }
    }
}
