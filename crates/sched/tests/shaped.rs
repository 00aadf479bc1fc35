//! Disciplines that hold packets back or share by class: credit-based shaper, pacing, type of
//! service.

use fairq_sched::change::Change;
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::design::tos_priority;
use fairq_sched::packet::{Fates, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{DesignSettings, SchedulerSettings};
use fairq_sched::schedule::{cbs, fq_pacing};
use fairq_sched::units::{Bytes, Limit, Rate, Time};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Driver, End, Journey, header};
use std::collections::VecDeque;

/// 8 ns a byte.
fn line() -> Line {
    Line::new(Rate::new(1_000_000_000).expect("a rate"))
}
const BYTE_TIME: u64 = 8000;
const LONGEST: u64 = 1500;

fn checked(queue: &Queue) -> Checked {
    Checked::new(Rules::of(queue), || queue.build(&line()))
}

fn scheduler(name: &str) -> Queue {
    Queue::new(SchedulerSettings::by_name(name).expect("a scheduler of the registry"), None)
}

/// Random packets that come at `load` percent of the line, each with one of the services.
fn drawn(draw: &mut Draw, packets: u64, load: u64, services: &[u8]) -> Vec<(u32, Packet)> {
    let mut now = 0;
    let next = |token| {
        let length = draw.pick(&[40, 500, 1500]);
        now += draw.below(680 * 2 * BYTE_TIME * 100 / load);
        let packet = Packet { tos: draw.pick(services), ..Packet::new(token, Time(now), length) };
        (draw.below(5) as u32, packet)
    };
    (0..packets).map(next).collect()
}

fn journeys(discipline: impl Discipline, offers: &[(u32, Packet)]) -> Vec<Journey> {
    let mut driver = Driver::new(discipline, line().rate);
    offers.iter().for_each(|(flow, packet)| driver.offer_packet(*flow, *packet));
    driver.finish();
    driver.journeys
}

/// First and last bit of a packet, in picoseconds.
fn sent(journey: &Journey) -> (u64, u64) {
    match journey.end {
        End::Sent { start, end } => (start.0, end.0),
        other => panic!("{other:?}, though there is no limit"),
    }
}

/// Packets of one flow at time zero, one for each service.
fn burst(services: &[u8]) -> Vec<(u32, Packet)> {
    let packet = |(token, tos): (usize, &u8)| Packet { tos: *tos, ..Packet::new(token as u64, Time::ZERO, 100) };
    services.iter().enumerate().map(packet).map(|packet| (0, packet)).collect()
}

fn order(queue: &Queue, offers: &[(u32, Packet)]) -> Vec<u64> {
    let mut driver = Driver::new(checked(queue), line().rate);
    offers.iter().for_each(|(flow, packet)| driver.offer_packet(*flow, *packet));
    driver.finish();
    driver.order
}

/// The credit of a class as the standard has it, from what came of its packets: in units of which
/// the line sends 8 and the class earns 3 a picosecond. It begins packets with credit only; the
/// least and the greatest credit it had.
fn credit_range(packets: &[&Journey]) -> (i64, i64) {
    // At each time: what arrives (0), ends (1), begins (2).
    let mut events = Vec::new();
    for journey in packets {
        let (start, end) = sent(journey);
        events.extend([(journey.arrival.time.0, 0), (end, 1), (start, 2)]);
    }
    events.sort_unstable();
    let (mut credit, mut waiting, mut is_sending, mut now) = (0i64, 0, false, 0);
    let (mut least, mut greatest) = (0, 0);
    for (at, (time, event)) in events.iter().enumerate() {
        let elapsed = (time - now) as i64;
        now = *time;
        credit = match (is_sending, waiting) {
            (true, _) => credit - 5 * elapsed,
            (false, 0) => (credit + 3 * elapsed).min(0),
            (false, _) => credit + 3 * elapsed,
        };
        (least, greatest) = (least.min(credit), greatest.max(credit));
        match event {
            0 => waiting += 1,
            1 => is_sending = false,
            _ => {
                assert!(credit >= 0, "a packet begins at {time} ps with credit {credit}");
                (waiting, is_sending) = (waiting - 1, true);
            }
        }
        if events.get(at + 1).is_none_or(|(next, _)| next > time) && waiting == 0 && !is_sending {
            credit = credit.min(0);
        }
    }
    (least, greatest)
}

#[test]
fn cbs_keeps_a_class_to_its_idle_slope() {
    let longest = (LONGEST * BYTE_TIME) as i64;
    let (mut least, mut greatest) = (0, [0, 0]);
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let load = draw.pick(&[40, 90, 150]);
        let offers = drawn(&mut draw, 300, load, &[3 << 5, 2 << 5, 0]);
        // Flow 0 says that it belongs to the first class; the precedence of its packets does not
        // count.
        let line = Line { classes: vec![(header(0), "a".to_owned())], ..line() };
        let queue = cbs(|settings| settings.paper = true);
        let journeys = journeys(Checked::new(Rules::of(&queue), || queue.build(&line)), &offers);
        for (class, precedence) in [3, 2].into_iter().enumerate() {
            let is_in = |flow: u32, packet: &Packet| {
                let named = if flow == 0 { 3 } else { packet.tos >> 5 };
                named == precedence
            };
            let of_class = journeys.iter().zip(&offers).filter(|(_, (flow, packet))| is_in(*flow, packet));
            let mut packets: Vec<&Journey> = of_class.map(|(journey, _)| journey).collect();
            let (low, high) = credit_range(&packets);
            // sendSlope · Lmax/C; idleSlope · L/C, and for the second class idleSlope
            // (L/(C - idleSlope) + L/C), where the first one gathers credit too and spends it
            // before.
            let (lowest, highest) = (-5 * longest, [3 * longest, 3 * (longest * 8 / 5 + longest)][class]);
            assert!(lowest <= low && high <= highest, "class {class}: {low} to {high}");
            (least, greatest[class]) = (least.min(low), greatest[class].max(high));

            packets.sort_by_key(|journey| sent(journey));
            for first in 0..packets.len() {
                let (start, mut units) = (sent(packets[first]).0, 0);
                for packet in &packets[first..] {
                    units += i64::from(packet.arrival.length) * 8 * BYTE_TIME as i64;
                    let time = (sent(packet).1 - start) as i64;
                    assert!(units <= 3 * time + highest - lowest, "{packet:?} after {:?}", packets[first]);
                }
            }
        }
    }
    // The bounds are met: so far down, so far up.
    assert_eq!(least, -5 * longest);
    assert!(greatest[0] > 2 * longest && greatest[1] > 3 * longest, "{greatest:?}");
}

/// CBS with settings of its own.
fn cbs(set: impl FnOnce(&mut cbs::Settings)) -> Queue {
    let mut settings = cbs::Settings::default();
    set(&mut settings);
    Queue::new(SchedulerSettings::Cbs(settings), None)
}

/// Linux's shaper of one class told again, in bytes and bytes a picosecond: `cbs_enqueue_soft` and
/// `cbs_dequeue_soft` of `net/sched/sch_cbs.c`.
struct SchCbs {
    idle: f64,
    send: f64,
    high: f64,
    low: f64,
    credits: f64,
    last: f64,
}

impl SchCbs {
    fn enqueue(&mut self, now: f64, is_empty: bool) {
        if is_empty {
            // The watchdog that the last dequeue set asked once more when the debt was paid.
            self.credits += (now - self.last).max(0.0) * self.idle;
            (self.credits, self.last) = (self.credits.min(0.0), self.last.max(now));
        }
    }

    /// When a packet of `length` leaves that is asked for at `now`, by a port of `rate`.
    fn dequeue(&mut self, mut now: f64, length: f64, rate: f64) -> f64 {
        if self.credits < 0.0 {
            self.credits = (self.credits + (now - self.last) * self.idle).min(self.high);
            if self.credits < 0.0 {
                // The watchdog asks again when they are zero.
                now -= self.credits / self.idle;
                self.credits = 0.0;
            }
        }
        self.credits = (self.credits - length * self.send / rate).max(self.low);
        self.last = now + length / rate;
        now
    }
}

#[test]
fn cbs_sends_when_linux_would() {
    let rate = 1.0 / BYTE_TIME as f64;
    for seed in 0..60 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let load = draw.pick(&[20, 45, 90]);
        let offers = drawn(&mut draw, 200, load, &[3 << 5]);
        let [high, low] = [draw.pick(&[0, 50, 400]), draw.pick(&[0, 100, 2000])];
        let [idle, send] = [draw.pick(&[2, 5]), draw.pick(&[3, 8])].map(|tenths| line().rate.bit_per_s() * tenths / 10);
        let queue = cbs(|settings| {
            settings.classes.truncate(1);
            let class = &mut settings.classes[0];
            (class.idle_slope, class.send_slope) = (Rate::new(idle), Rate::new(send));
            (class.hi_credit, class.lo_credit) = (Some(Bytes(high)), Some(Bytes(low)));
        });
        let slope = |bit_per_s: u64| bit_per_s as f64 / line().rate.bit_per_s() as f64 * rate;
        let (idle, send, high, low) = (slope(idle), slope(send), high as f64, -(low as f64));
        let mut linux = SchCbs { idle, send, high, low, credits: 0.0, last: 0.0 };
        let (mut began, mut free) = (0, 0);
        for journey in journeys(checked(&queue), &offers) {
            let (arrival, length) = (journey.arrival.time.0, journey.arrival.length);
            let (start, end) = sent(&journey);
            linux.enqueue(arrival as f64, began <= arrival);
            let expected = linux.dequeue(arrival.max(free) as f64, length.into(), rate);
            assert!((start as f64 - expected).abs() < 10.0, "{start} ps, by Linux {expected} ps");
            (began, free) = (start, end);
        }
    }
}

#[test]
fn a_class_of_cbs_that_waits_behind_others_gains_credit_by_the_standard_only() {
    // Best effort first; the class's two come while it is sent.
    let starts = |paper: bool| {
        let mut offers = burst(&[0, 3 << 5, 3 << 5]);
        offers[1..].iter_mut().for_each(|(_, packet)| packet.arrival = Time(1));
        let journeys = journeys(checked(&cbs(|settings| settings.paper = paper)), &offers);
        journeys.iter().map(|journey| sent(journey).0 / BYTE_TIME).collect::<Vec<_>>()
    };
    // 3/8 of 100 B are earned meanwhile, and 62.5 B are owed after the first: at 3/8 they take 66.7
    // B of time.
    assert_eq!(starts(true), [0, 100, 266]);
    assert_eq!(starts(false), [0, 100, 366]);
}

#[test]
fn cbs_refuses_what_is_none_of_its_rules() {
    let fault = |set: fn(&mut cbs::Settings)| cbs(set).fault();
    let found = fault(|settings| {
        settings.paper = true;
        settings.classes[1].hi_credit = Some(Bytes(10));
    });
    let bounds = "cbs: class `b`: send_slope, hi_credit and lo_credit are Linux's; leave paper or them out";
    assert_eq!(found.as_deref(), Some(bounds));
    let found = fault(|settings| settings.default = Some("c".to_owned()));
    assert_eq!(found.as_deref(), Some("cbs: default: there is no class `c`"));
}

#[test]
fn cbs_waits_until_the_credit_is_back_to_zero() {
    // Three packets of the first class at once: each is charged its 100 B, which take 8/3 of its
    // time to earn.
    let journeys = journeys(checked(&scheduler("cbs")), &burst(&[3 << 5; 3]));
    let starts: Vec<u64> = journeys.iter().map(|journey| sent(journey).0).collect();
    let earned = 100 * BYTE_TIME * 8;
    assert_eq!(starts, [0, earned.div_ceil(3), (2 * earned).div_ceil(3)]);
}

/// CBS with `share` of the line for a class that names no slope.
fn shared(share: f64) -> Queue {
    let settings = cbs::Settings { share, ..Default::default() };
    Queue::new(SchedulerSettings::Cbs(settings), None)
}

#[test]
fn cbs_gives_a_class_without_a_slope_the_share_that_is_set() {
    // 100 B at half the line and at all of it.
    for (share, times) in [(0.5, 2), (1.0, 1)] {
        let journeys = journeys(checked(&shared(share)), &burst(&[3 << 5; 3]));
        let starts: Vec<u64> = journeys.iter().map(|journey| sent(journey).0).collect();
        assert_eq!(starts, [0, times * 100 * BYTE_TIME, 2 * times * 100 * BYTE_TIME]);
    }
    for share in [0.0, -1.0, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(shared(share).fault().as_deref(), Some("cbs: share is above 0 and at most 1"));
    }
}

#[test]
fn cbs_breaks_the_order_of_a_flow_of_many_precedences() {
    assert_eq!(order(&scheduler("cbs"), &burst(&[0, 2 << 5, 3 << 5])), [2, 1, 0]);
}

fn pacing(quantum: u64, initial_quantum: u64, rate_max: Option<Rate>) -> Queue {
    let (quantum, initial_quantum) = (Bytes(quantum), Bytes(initial_quantum));
    let settings = fq_pacing::Settings { quantum, initial_quantum, rate_max, ..Default::default() };
    Queue::new(SchedulerSettings::FqPacing(settings), None)
}

#[test]
fn fq_pacing_waits_until_the_last_packet_has_earned_the_next() {
    for (cap, rate) in [(None, 3_000_000), (Rate::new(7_000_000), 3_000_000), (Rate::new(700_000), 700_000)] {
        let mut driver = Driver::new(checked(&pacing(3028, 15_140, cap)), line().rate);
        driver.discipline_mut().change(Time::ZERO, &Change::Pacing(header(0), Rate::new(3_000_000))).expect("it paces");
        burst(&[0; 3]).iter().for_each(|(flow, packet)| driver.offer_packet(*flow, *packet));
        driver.finish();
        let starts: Vec<u64> = driver.journeys.iter().map(|journey| sent(journey).0).collect();
        let gap = (800 * 1_000_000_000_000u64).div_ceil(rate);
        assert_eq!(starts, [0, gap, 2 * gap]);
    }
}

#[test]
fn fq_pacing_keeps_a_flow_to_its_rate() {
    let rates = [Rate::new(20_000_000), Rate::new(150_000_000), None];
    for seed in 0..50 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let load = draw.pick(&[40, 90, 150]);
        let offers = drawn(&mut draw, 300, load, &[0]);
        let mut driver = Driver::new(checked(&pacing(3028, 15_140, None)), line().rate);
        for (flow, rate) in (0..).zip(rates) {
            driver.discipline_mut().change(Time::ZERO, &Change::Pacing(header(flow), rate)).expect("it paces");
        }
        offers.iter().for_each(|(flow, packet)| driver.offer_packet(*flow, *packet));
        driver.finish();
        for (flow, rate) in (0..).zip(rates.into_iter().flatten()) {
            let of_flow: Vec<_> = driver.journeys.iter().filter(|journey| journey.arrival.flow == flow).collect();
            for first in 0..of_flow.len() {
                let (start, mut bits) = (sent(of_flow[first]).0, 0);
                for packet in &of_flow[first..] {
                    bits += u128::from(packet.arrival.length) * 8;
                    let time = u128::from(sent(packet).0 - start);
                    let allowed = u128::from(rate.bit_per_s()) * time + u128::from(LONGEST) * 8 * 1_000_000_000_000;
                    assert!(bits * 1_000_000_000_000 <= allowed, "{packet:?} after {:?}", of_flow[first]);
                }
            }
        }
    }
}

/// Both lists as plain lists, with a round after another however many it takes.
#[derive(Default)]
struct Lists {
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// By flow: credit, once it has been seen; the lengths that wait.
    flows: Vec<(Option<i64>, VecDeque<u64>)>,
}

impl Lists {
    fn arrive(&mut self, flow: usize, length: u64, initial: i64) {
        self.flows[flow].0.get_or_insert(initial);
        self.flows[flow].1.push_back(length);
        if !self.new.contains(&flow) && !self.old.contains(&flow) {
            self.new.push_back(flow);
        }
    }

    /// The queue that sends, and how much.
    fn send(&mut self, quantum: i64) -> Option<(usize, u64)> {
        loop {
            let is_new = !self.new.is_empty();
            let flow = if is_new { *self.new.front()? } else { *self.old.front()? };
            let (Some(credit), waiting) = &mut self.flows[flow] else { panic!("it was seen") };
            if *credit > 0
                && let Some(length) = waiting.pop_front()
            {
                *credit -= length as i64;
                return Some((flow, length));
            }
            let is_poor = *credit <= 0;
            *credit += if is_poor { quantum } else { 0 };
            if is_new {
                self.new.pop_front()
            } else {
                self.old.pop_front()
            };
            if is_poor || is_new && !self.old.is_empty() {
                self.old.push_back(flow);
            }
        }
    }
}

#[test]
fn fq_pacing_shares_by_credit() {
    for seed in 0..100 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let quantum = draw.pick(&[64, 100, 1500, 3028]);
        let initial = draw.pick(&[quantum, 5 * quantum]);
        let mut discipline = checked(&pacing(quantum, initial, None));
        let (mut fates, mut flow_of) = (Fates::new(), Vec::new());
        let mut slow = Lists { flows: vec![Default::default(); 6], ..Default::default() };
        // How far flow 0 is ahead of flow 1, which both wait all the time; now, least and most
        // since the first turns.
        let (mut ahead, mut least, mut most) = (0i64, i64::MAX, i64::MIN);
        for step in 0..3000 {
            let both = slow.flows[0].1.len().min(slow.flows[1].1.len());
            let flow = if both < 2 { step % 2 } else { 2 + draw.below(4) };
            if both < 2 || draw.once_in(3) {
                let length = draw.pick(&[40, 500, LONGEST]);
                let packet = Packet::new(flow_of.len() as u64, Time(step), length as u32);
                discipline.enqueue(Time(step), packet, &header(flow as u32), &mut fates);
                slow.arrive(flow as usize, length, initial as i64);
                flow_of.push(flow);
                continue;
            }
            let Dequeue::Send(packet) = discipline.dequeue(Time(step), &mut fates) else { panic!("two wait") };
            let flow = flow_of[packet.token as usize];
            assert_eq!(slow.send(quantum as i64), Some((flow as usize, packet.length.into())));
            match flow {
                0 => ahead += i64::from(packet.length),
                1 => ahead -= i64::from(packet.length),
                _ => (),
            }
            if step > 500 {
                (least, most) = (least.min(ahead), most.max(ahead));
            }
        }
        assert!(most - least <= (quantum + 2 * LONGEST) as i64, "{least} to {most}");
    }
}

/// A discipline and what it sends next, flow by flow; every packet has 500 bytes.
struct Turns {
    discipline: Checked,
    flow_of: Vec<u32>,
    now: Time,
}

impl Turns {
    fn new(queue: &Queue) -> Self {
        Self { discipline: checked(queue), flow_of: Vec::new(), now: Time::ZERO }
    }

    fn arrive(&mut self, flow: u32, packets: u32) {
        for _ in 0..packets {
            let packet = Packet::new(self.flow_of.len() as u64, self.now, 500);
            self.discipline.enqueue(self.now, packet, &header(flow), &mut Fates::new());
            self.flow_of.push(flow);
        }
    }

    fn send(&mut self, packets: u32) -> Vec<u32> {
        let mut next = || match self.discipline.dequeue(self.now, &mut Fates::new()) {
            Dequeue::Send(packet) => self.flow_of[packet.token as usize],
            other => panic!("{other:?}"),
        };
        (0..packets).map(|_| next()).collect()
    }
}

#[test]
fn fq_pacing_lets_a_flow_go_first_once() {
    let mut turns = Turns::new(&pacing(500, 600, None));
    [0, 1, 3].iter().for_each(|flow| turns.arrive(*flow, 9));
    assert_eq!(turns.send(7), [0, 0, 1, 1, 3, 3, 0]);
    // A new flow goes before those that had a turn.
    turns.arrive(2, 1);
    assert_eq!(turns.send(2), [2, 1]);
    // It has sent all it had, with credit left, and must still go through the old flows before it
    // is new again.
    turns.arrive(2, 1);
    assert_eq!(turns.send(4), [3, 2, 0, 1]);
}

#[test]
fn fq_pacing_remembers_a_flow_until_it_has_rested() {
    for (rest, in_a_row) in [(0, 1), (40_000_000_000, 1), (40_000_000_001, 2)] {
        let mut turns = Turns::new(&pacing(1000, 3000, None));
        turns.arrive(1, 40);
        assert_eq!(turns.send(8), [1; 8]);
        // New: six packets at once. It sends five.
        turns.arrive(0, 5);
        assert_eq!(turns.send(8), [0, 0, 0, 0, 0, 1, 1, 1]);
        // The other is in the middle of a turn. Back soon it has what it left, later a quantum, but
        // not what a new flow has.
        turns.now = turns.now + Time(rest);
        turns.arrive(0, 9);
        let first = turns.send(6);
        assert_eq!(first.iter().take_while(|flow| **flow == 0).count(), in_a_row, "{first:?}");
    }
}

/// TOS bytes.
const SERVICES: [u8; 4] = [0x10, 0x08, 0x04, 0];

fn tos(limit: Limit) -> Queue {
    let settings = tos_priority::Settings { delay_max: Time::from_ms(1), ..Default::default() };
    Queue::of_design(DesignSettings::TosPriority(settings), Some(limit))
}

#[test]
fn tos_priority_gives_every_class_its_part() {
    for seed in 0..20 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let settings = tos_priority::Settings { delay_max: Time::from_s(1), ..Default::default() };
        let queue = Queue::of_design(DesignSettings::TosPriority(settings), None);
        let (mut discipline, mut fates) = (checked(&queue), Fates::new());
        for token in 0..4000 {
            let length = draw.pick(&[40, 500, 1500]);
            let packet = Packet { tos: SERVICES[token as usize % 4], ..Packet::new(token, Time::ZERO, length) };
            discipline.enqueue(Time::ZERO, packet, &header(0), &mut fates);
        }
        let (mut sent, mut all) = ([0i64; 4], 0);
        // While all wait: the class of the greatest part has 40 of 100.
        for _ in 0..2000 {
            let Dequeue::Send(packet) = discipline.dequeue(Time::ZERO, &mut fates) else { panic!("packets wait") };
            let class = SERVICES.iter().position(|tos| *tos == packet.tos).expect("one of the four");
            (sent[class], all) = (sent[class] + i64::from(packet.length), all + i64::from(packet.length));
            for (sent, part) in sent.iter().zip([25, 40, 20, 15]) {
                let slack = 30_000 * part / 100 + 5 * LONGEST as i64;
                assert!((sent - all * part / 100).abs() <= slack, "{sent} of {all} for {part} of 100");
            }
        }
    }
}

#[test]
fn tos_priority_lets_low_delay_overtake() {
    let queue = tos(Limit::Unlimited);
    let mut services = vec![0, 0x08, 0x04, 0, 0x08, 0x04];
    services.extend([0x10, 0x10 | 0x08 | 0x04, 0x10 | 5 << 5]);
    let order = order(&queue, &burst(&services));
    // Of low delay the higher precedence first; then the others in turns.
    assert_eq!(order, [8, 6, 7, 1, 4, 2, 5, 0, 3]);
}

#[test]
fn tos_priority_keeps_the_limits_of_its_classes() {
    let (mut discipline, mut fates) = (checked(&tos(Limit::Packets(100))), Fates::new());
    let mut token = 0;
    let mut refused = |tos, packets: usize, length| -> Vec<Reason> {
        for _ in 0..packets {
            let packet = Packet { tos, ..Packet::new(token, Time::ZERO, length) };
            discipline.enqueue(Time::ZERO, packet, &header(0), &mut fates);
            token += 1;
        }
        let reason = |outcome| match outcome {
            Outcome::Dropped(reason) => reason,
            Outcome::Marked(_) => panic!("no part marks"),
        };
        fates.drain(..).map(|fate| reason(fate.outcome)).collect()
    };
    // A millisecond at a quarter of 1 Gbit/s: 31 250 B.
    assert_eq!(refused(0x10, 31, 1000), []);
    assert_eq!(refused(0x10, 2, 251), [Reason::Horizon; 2]);
    assert_eq!(refused(0x10, 1, 250), []);
    // 32 of 100 packets are taken; 20 are kept for high reliability.
    assert_eq!(refused(0x08, 24, 1000), []);
    assert_eq!(refused(0, 25, 1000), [Reason::OverShare]);
    assert_eq!(refused(0x08, 1, 1000), [Reason::OverShare]);
    assert_eq!(refused(0x04, 22, 1000), [Reason::BufferFull; 2]);
}

#[test]
fn tos_priority_drops_high_reliability_last() {
    let mut lost = [0; 4];
    for seed in 0..50 {
        let _replay = Replay(format!("seed {seed}"));
        let offers = drawn(&mut Draw::new(seed), 500, 150, &SERVICES);
        for (journey, (_, packet)) in journeys(checked(&tos(Limit::Bytes(20_000))), &offers).iter().zip(&offers) {
            let class = SERVICES.iter().position(|tos| *tos == packet.tos).expect("one of the four");
            if let End::Dropped(_, reason) = journey.end {
                lost[class] += 1;
                assert!(reason == Reason::BufferFull || class != 2, "{reason:?}");
            }
        }
    }
    let [low_delay, high_throughput, high_reliability, routine] = lost;
    assert!(high_reliability * 10 < routine.min(high_throughput).min(low_delay), "{lost:?}");
}

#[test]
fn tos_priority_is_a_fifo_without_tos_bits() {
    for seed in 0..50 {
        let _replay = Replay(format!("seed {seed}"));
        let offers = drawn(&mut Draw::new(seed), 500, 130, &[0]);
        let designed = journeys(checked(&tos(Limit::Packets(20))), &offers);
        // Four fifths of the buffer are open.
        let queue = Queue { limit: Some(Limit::Packets(16)), ..scheduler("fifo") };
        for (designed, plain) in designed.iter().zip(journeys(checked(&queue), &offers)) {
            assert_eq!(designed.departure(), plain.departure());
        }
    }
}

#[test]
fn tos_priority_breaks_the_order_of_a_flow_of_many_services() {
    assert_eq!(order(&tos(Limit::Unlimited), &burst(&[0, 0x10])), [1, 0]);
}
