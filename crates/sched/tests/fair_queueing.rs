//! FQ against the fluid it emulates: exact fractions on small cases, the running fluid on long
//! ones.
//!
//! What the paper claims and what holds: sent bits are "always within Pmax" of the fluid's. The
//! late side holds. So does the early side while all weights are equal; with weights a conversation
//! may be ahead by (N-1) Lmax.

use fairq_sched::buffer::longest_queue_drop;
use fairq_sched::change::Change;
use fairq_sched::contract::{Flow, Gone, Line, Scheduler, Tag};
use fairq_sched::fluid::gps::{Departure, Gps, Offer};
use fairq_sched::packet::Packet;
use fairq_sched::queue::Queue;
use fairq_sched::rank;
use fairq_sched::registry::{BufferSettings, SchedulerSettings};
use fairq_sched::round;
use fairq_sched::schedule::fq::{Fq, OnDrop, Settings};
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_testkit::arrivals::{self, Load, Pattern};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Arrival, Driver, Journey, header};
use fairq_testkit::gps_oracle::{BigRational, serve};
use fairq_testkit::shown::number;

fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight of the test")
}

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

/// One byte a second.
fn slow() -> Rate {
    rate(8)
}

fn line(rate: Rate, weights: &[Weight]) -> Line {
    Line { weights: (0..).zip(weights).map(|(flow, weight)| (header(flow), *weight)).collect(), ..Line::new(rate) }
}

/// A random case: few flows whose weights may differ.
struct Case {
    line: Line,
    weights: Vec<Weight>,
    arrivals: Vec<Arrival>,
}

impl Case {
    fn new(pattern: Pattern, seed: u64, flows: u32, packets: usize) -> Self {
        let rates = [56_000, 1_000_000, 999_999_937, 10_000_000_000];
        let load = Load { rate: rate(rates[seed as usize % rates.len()]), flows, packets };
        let list = arrivals::arrivals(pattern, load, seed);
        let weights = arrivals::weights(flows, seed);
        let arrivals = list.into_iter().map(|(time, flow, length)| Arrival { time, flow, length }).collect();
        Self { line: line(load.rate, &weights), weights, arrivals }
    }

    fn with_equal_weights(mut self) -> Self {
        self.weights.fill(Weight::ONE);
        self.line = line(self.line.rate, &self.weights);
        self
    }

    fn longest(&self) -> u64 {
        self.arrivals.iter().map(|arrival| arrival.length).max().unwrap_or(0).into()
    }

    fn run(&self, settings: Settings, limit: Limit) -> Driver<Checked> {
        self.run_dropping(settings, limit, Default::default())
    }

    fn run_dropping(&self, settings: Settings, limit: Limit, drops: longest_queue_drop::Settings) -> Driver<Checked> {
        let interrupts = settings.preemptive;
        let buffer = Some(BufferSettings::LongestQueueDrop(drops));
        let queue = Queue { buffer, ..Queue::new(SchedulerSettings::Fq(settings), Some(limit)) };
        let rules = Rules {
            limit,
            memory: Limit::Unlimited,
            has_limits_inside: false,
            is_work_conserving: true,
            keeps_flow_order: true,
        };
        let mut driver = Driver::new(Checked::new(rules, || queue.build(&self.line)), self.line.rate);
        driver.interrupt(interrupts);
        self.arrivals.iter().for_each(|arrival| driver.offer(*arrival));
        driver.finish();
        driver
    }

    /// As in laws.rs: bids are compared in steps of 2^24 ε, an activation may round R by an ε, and
    /// a flow of weight w is served w times that before its turn; two picoseconds for the end of a
    /// transmission.
    fn slack(&self) -> u128 {
        let weights = self.weights.iter().map(|weight| u128::from(weight.thousandths())).sum::<u128>();
        weights * ((1 << 24) + 2 * self.arrivals.len() as u128) + round::work(self.line.rate, Time(2))
    }

    /// When the fluid finishes each packet, as exact work.
    fn exact(&self) -> Vec<BigRational> {
        let list: Vec<_> = self.arrivals.iter().map(|arrival| (arrival.time, arrival.flow, arrival.length)).collect();
        let outcome = serve(self.line.rate, &self.weights, &list, None);
        let per_ps = BigRational::from_integer(round::work(self.line.rate, Time(1)).into());
        outcome.departures.into_iter().map(|time| time.expect("everything leaves") * &per_ps).collect()
    }

    /// No packet that was sent left later than `bytes` after the exact fluid.
    fn assert_never_later_than(&self, bytes: u64, journeys: &[Journey]) {
        let allowed = BigRational::from_integer((u128::from(bytes) * round::BYTE_WORK + self.slack()).into());
        for (journey, finished) in journeys.iter().zip(self.exact()) {
            let Some(departure) = journey.departure() else { continue };
            let departure = BigRational::from_integer(round::work(self.line.rate, departure).into());
            assert!(departure <= finished + &allowed, "{journey:?} is later than {bytes} B after the fluid");
        }
    }

    /// At every departure, for every flow: what was sent and what the fluid served, as work.
    fn at_departures(&self, driver: &Driver<Checked>, mut look: impl FnMut(u32, u128, u128)) {
        let mut fluid = Gps::new(self.line.rate);
        let mut sent = vec![0; self.weights.len()];
        let mut rest = self.arrivals.iter().peekable();
        for token in &driver.order {
            let Journey { arrival, .. } = driver.journeys[*token as usize];
            let now = driver.journeys[*token as usize].departure().expect("it is in the order of departures");
            while let Some(Arrival { time, flow, length }) = rest.next_if(|arrival| arrival.time <= now).copied() {
                let offer = Offer { flow, weight: self.weights[flow as usize], length, token: 0 };
                fluid.offer(time, offer, &mut |_: Departure| ());
            }
            fluid.advance(now, &mut |_| ());
            sent[arrival.flow as usize] += u128::from(arrival.length) * round::BYTE_WORK;
            (0..).zip(&sent).for_each(|(flow, sent)| look(flow, *sent, fluid.served(flow)));
        }
    }
}

/// All patterns under `seeds` seeds.
fn cases(seeds: u64, flows: u32, packets: usize, mut test: impl FnMut(Case)) {
    for pattern in Pattern::ALL {
        for seed in 0..seeds {
            let _replay = Replay(format!("{pattern:?}, seed {seed}, {flows} flows, {packets} packets"));
            test(Case::new(pattern, seed, flows, packets));
        }
    }
}

fn delta(bytes: u64) -> Settings {
    Settings { delta: Bytes(bytes), ..Default::default() }
}

const LARGE_DELTA: u64 = 1 << 40;

#[test]
fn without_delta_no_packet_is_later_than_the_longest_after_the_exact_fluid() {
    cases(40, 4, 40, |case| {
        let driver = case.run(delta(0), Limit::Unlimited);
        case.assert_never_later_than(case.longest(), &driver.journeys);
    });
}

#[test]
fn with_any_delta_no_packet_is_later_than_the_longest_of_every_conversation_after_the_exact_fluid() {
    // Of each other conversation at most one packet goes early: the next has B ≥ F + P of the one
    // before. So a bid of any delta delays others by at most N - 1 packets on top of Lmax, whatever
    // happened before.
    for bytes in [1, 1500, LARGE_DELTA] {
        cases(12, 4, 40, |case| {
            let driver = case.run(delta(bytes), Limit::Unlimited);
            case.assert_never_later_than(case.longest() * case.weights.len() as u64, &driver.journeys);
        });
    }
}

#[test]
fn bids_of_a_conversation_only_grow_whatever_delta_weights_and_lengths() {
    for seed in 0..300 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let settings = delta(draw.pick(&[0, 1, 577, 1500, 100_000, LARGE_DELTA]));
        let mut fq = Fq::new(&settings, &Line::new(rate(draw.pick(&[56_000, 1_000_000_000]))));
        let weights = [weight(1), weight(333), weight(1000), weight(7001), Weight::MAX];
        let mut last: [Tag; 5] = [0; 5];
        let mut now = Time::ZERO;
        for token in 0..500 {
            now = Time(now.0 + draw.pick(&[0, 0, 1, 1_000_000, 10_000_000_000]) * draw.below(100));
            let flow = draw.below(5) as usize;
            let length = draw.pick(&[1, 40, 1500, 9000]);
            let tag = fq.arrive(
                now,
                flow as u32,
                Flow::weighted(flow as u32, weights[flow]),
                &Packet::new(token, now, length),
            );
            assert!(tag > last[flow], "flow {flow}: {} after {}", rank::value(tag), rank::value(last[flow]));
            last[flow] = tag;
        }
    }
}

#[test]
fn conversations_that_come_and_go_have_the_bids_of_those_that_are_never_forgotten() {
    // Hundreds of conversations share a few dozen slots. The scheduler itself, with a slot for
    // each, gives the same bids: the order is that of a plain list in which the least bid among the
    // heads goes first.
    let mut slots = 0.0;
    for (seed, bytes) in (0..8).flat_map(|seed| [0, 3000, 100_000].map(|bytes| (seed, bytes))) {
        let _replay = Replay(format!("seed {seed}, delta {bytes}"));
        let mut draw = Draw::new(seed);
        let line = Line::new(rate(1_000_000));
        let mut driver = Driver::new(Queue::new(SchedulerSettings::Fq(delta(bytes)), None).build(&line), line.rate);
        let mut now = Time::ZERO;
        for _ in 0..1500 {
            // 770 bytes take 6.16 ms on average; most come from a window of flows that moves on.
            now = Time(now.0 + draw.below(14_000_000_000));
            let flow = if draw.once_in(3) { draw.below(10) } else { now.0 / 300_000_000_000 * 3 + draw.below(40) };
            driver.offer(Arrival { time: now, flow: flow as u32, length: draw.pick(&[40, 1500]) });
        }
        driver.finish();
        slots = number(driver.discipline(), "flows");

        let mut fq = Fq::new(&delta(bytes), &line);
        let tag = |journey: &Journey| {
            let Arrival { time, flow, length } = journey.arrival;
            fq.arrive(time, flow, Flow::weighted(flow, Weight::ONE), &Packet::new(0, time, length))
        };
        let tags: Vec<Tag> = driver.journeys.iter().map(tag).collect();
        for (place, token) in driver.order.iter().enumerate() {
            let journey = &driver.journeys[*token as usize];
            // Those that left later, though they were here when this one was chosen, have greater
            // bids.
            let fairq_testkit::driver::End::Sent { start, .. } = journey.end else { panic!("all are sent") };
            let passed = driver.order[place + 1..].iter().filter(|later| {
                driver.journeys[**later as usize].arrival.time <= start
                    && tags[**later as usize] < tags[*token as usize]
            });
            assert_eq!(passed.count(), 0, "{journey:?} went before a smaller bid");
        }
    }
    assert!(slots < 150.0, "{slots} slots: nothing was reused");
}

#[test]
fn long_run_shares_do_not_depend_on_delta() {
    // Long runs; the bound does not grow with them. Behind the fluid: (N + 1) Lmax, see the bound
    // for any delta; ahead: what the others are behind.
    cases(2, 5, 8000, |case| {
        let flows = case.weights.len() as u128;
        let behind = (flows + 1) * u128::from(case.longest()) * round::BYTE_WORK + case.slack();
        for bytes in [0, 1500, LARGE_DELTA] {
            let driver = case.run(delta(bytes), Limit::Unlimited);
            case.at_departures(&driver, |flow, sent, served| {
                assert!(served <= sent + behind, "delta {bytes}: flow {flow} is behind");
                assert!(sent <= served + (flows - 1) * behind, "delta {bytes}: flow {flow} is ahead");
            });
        }
    });
}

#[test]
fn with_equal_weights_no_conversation_is_more_than_a_packet_from_the_fluid_either_way() {
    // Ahead: when a packet k is chosen while j waits unfinished, F_k ≤ F_j ≤ R + Lmax, and F_k - R
    // is the lead.
    cases(20, 6, 300, |case| {
        let case = case.with_equal_weights();
        let packet = u128::from(case.longest()) * round::BYTE_WORK;
        let driver = case.run(delta(0), Limit::Unlimited);
        case.at_departures(&driver, |flow, sent, served| {
            assert!(sent.abs_diff(served) <= packet + case.slack() * 2, "flow {flow}: {sent} sent, {served} served");
        });
    });
}

/// A packet of one byte.
const fn unit(time: u64, flow: u32) -> Arrival {
    Arrival { time: Time::from_s(time), flow, length: 1 }
}

#[test]
fn with_weights_a_conversation_may_be_many_packets_ahead_of_the_fluid() {
    // The case of Bennett and Zhang: a conversation of weight 0.5 sends eleven packets, ten of
    // weight 0.05 one each. Ten of the first leave in a row; equal bids leave in order of arrival.
    // Then the ten others, then its eleventh.
    let mut weights = vec![weight(50); 11];
    weights[0] = weight(500);
    let mut arrivals = vec![unit(0, 0); 11];
    arrivals.extend((1..11).map(|flow| unit(0, flow)));
    let case = Case { line: line(slow(), &weights), weights, arrivals };
    let driver = case.run(delta(0), Limit::Unlimited);
    let order: Vec<u32> = driver.order.iter().map(|at| case.arrivals[*at as usize].flow).collect();
    assert_eq!(order, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0]);
    // After ten seconds it has sent ten, the fluid five: not "within Pmax", which is one.
    let mut most = 0;
    case.at_departures(&driver, |_, sent, served| most = most.max(sent.saturating_sub(served)));
    assert_eq!(most, 5 * round::BYTE_WORK);
}

/// F (and B, without delta) of packets offered to FQ itself, in bytes at weight one: (time in s,
/// flow, thousandths, bytes).
fn finish_numbers(packets: &[(u64, u32, u32, u32)]) -> Vec<f64> {
    let mut fq = Fq::new(&Settings::default(), &Line::new(slow()));
    let number = |(time, flow, thousandths, length): &(u64, u32, u32, u32)| {
        let tag = fq.arrive(
            Time::from_s(*time),
            *flow,
            Flow::weighted(*flow, weight(*thousandths)),
            &Packet::new(0, Time::from_s(*time), *length),
        );
        rank::value(tag) as f64 / STEPS_PER_BYTE
    };
    packets.iter().map(number).collect()
}

/// Bids are compared in steps of 1/(16·5⁹) byte.
const STEPS_PER_BYTE: f64 = 16.0 * 1_953_125.0;

#[test]
fn finish_numbers_of_the_worked_examples_come_out() {
    // A three at 0, B one at 1.
    assert_eq!(
        finish_numbers(&[(0, 0, 1000, 1), (0, 0, 1000, 1), (0, 0, 1000, 1), (1, 1, 1000, 1)]),
        [1.0, 2.0, 3.0, 2.0]
    );
    // Weights 1/2 and 1/4.
    assert_eq!(finish_numbers(&[(0, 0, 500, 1), (0, 1, 250, 1), (0, 1, 250, 1)]), [2.0, 4.0, 8.0]);
    // A of length 3 at 0, B at 1, C at 2, when R is 1.5.
    assert_eq!(finish_numbers(&[(0, 0, 1000, 3), (1, 1, 1000, 1), (2, 2, 1000, 1)]), [3.0, 2.0, 2.5]);
}

#[test]
fn the_round_number_follows_the_rate_and_the_weights_as_they_change() {
    let mut fq = Fq::new(&Settings::default(), &Line::new(slow()));
    let packet = |length| Packet::new(0, Time::ZERO, length);
    let bid = |fq: &mut Fq, now, flow, length| {
        rank::value(fq.arrive(Time::from_s(now), flow, Flow::weighted(flow, Weight::ONE), &packet(length))) as f64
            / STEPS_PER_BYTE
    };
    bid(&mut fq, 0, 0, 1000);
    // A byte a second for 10 s, then two: at 20 s R is 10 + 20. Two flows from there: R is 40 at 30
    // s.
    fq.change(Time::from_s(10), &Change::Rate(rate(16))).expect("it follows the rate");
    assert_eq!(bid(&mut fq, 20, 1, 1000), 1030.0);
    assert_eq!(bid(&mut fq, 30, 2, 1), 41.0);
    // It leaves at R = 41, at 31.5 s. From 40 s, when R is 49.5, weights 3 and 1: at 50 s R is
    // 54.5.
    fq.change(Time::from_s(40), &Change::Weight(0, weight(3000))).expect("it goes by weights");
    assert_eq!(bid(&mut fq, 50, 2, 1), 55.5);
}

#[test]
fn packets_of_the_worked_examples_leave_by_their_finish_numbers() {
    let ends = |arrivals: &[Arrival], weights: &[Weight]| {
        let case = Case { line: line(slow(), weights), weights: weights.to_vec(), arrivals: arrivals.to_vec() };
        let driver = case.run(delta(0), Limit::Unlimited);
        driver.journeys.iter().map(|journey| journey.departure().map(|end| end.as_s())).collect::<Vec<_>>()
    };
    // B's F is 2, like A's second, which came first; the fluid finishes B at 3 and A at 1, 3, 4.
    assert_eq!(
        ends(&[unit(0, 0), unit(0, 0), unit(0, 0), unit(1, 1)], &[Weight::ONE; 2]),
        [1.0, 2.0, 4.0, 3.0].map(Some)
    );
    assert_eq!(ends(&[unit(0, 0), unit(0, 1), unit(0, 1)], &[weight(500), weight(250)]), [1.0, 2.0, 3.0].map(Some));
    // A is on the line until 3; then B and C. The fluid finishes A at 5, B at 3.5, C at 4.5.
    let a = Arrival { length: 3, ..unit(0, 0) };
    assert_eq!(ends(&[a, unit(1, 1), unit(2, 2)], &[Weight::ONE; 3]), [3.0, 4.0, 5.0].map(Some));
}

#[test]
fn bids_move_little_when_an_arrival_does() {
    for seed in 0..400 {
        let _replay = Replay(format!("seed {seed}"));
        let pattern = Pattern::ALL[seed as usize % 7];
        let case = Case::new(pattern, seed, 4, 40);
        let mut draw = Draw::new(seed);
        let settings = delta(draw.pick(&[0, 0, 1500, LARGE_DELTA]));
        let weights = [[1000; 4], [500, 1000, 2000, 3000]][draw.below(2) as usize].map(weight);
        let bids = |arrivals: &[Arrival]| {
            let mut fq = Fq::new(&settings, &case.line);
            let bid = |a: &Arrival| {
                rank::value(fq.arrive(
                    a.time,
                    a.flow,
                    Flow::weighted(a.flow, weights[a.flow as usize]),
                    &Packet::new(0, a.time, a.length),
                ))
            };
            arrivals.iter().map(bid).collect::<Vec<_>>()
        };
        // One arrival comes later, by up to a picosecond, a nanosecond, a microsecond, though not
        // after the next.
        let moved = draw.below(case.arrivals.len() as u64) as usize;
        let room = case.arrivals.get(moved + 1).map_or(u64::MAX, |next| next.time.0 - case.arrivals[moved].time.0);
        let shift = draw.pick(&[1, 1000, 1_000_000]).min(room);
        let mut shifted = case.arrivals.clone();
        shifted[moved].time.0 += shift;
        // What the fluid has left differs by the work of the shift at most. So R differs by no more
        // than F does and that work over the least weight; and the next F that is set from R by as
        // much: a step for each packet since.
        let least = weights.iter().map(|weight| weight.thousandths()).min().unwrap_or(1000);
        let work = case.line.rate.bit_per_s() as f64 * shift as f64 / 8e12;
        let step = work * 1000.0 / f64::from(least) * STEPS_PER_BYTE;
        for (at, (before, after)) in bids(&case.arrivals).iter().zip(bids(&shifted)).enumerate() {
            // A step of the grid and the rounding of R come on top.
            let allowed = step * (at + 1).saturating_sub(moved) as f64 + 2.0;
            assert!(before.abs_diff(after) as f64 <= allowed, "packet {at}: {before}, {after}, {allowed} may be");
        }
    }
}

#[test]
fn departures_may_jump_when_an_arrival_moves_by_a_picosecond() {
    // A short packet arrives just before a long one is chosen, or just after.
    let long = Arrival { time: Time::ZERO, flow: 0, length: 1000 };
    let departure = |time| {
        let short = Arrival { time: Time(time), flow: 1, length: 1 };
        let weights = vec![Weight::ONE; 2];
        let case = Case { line: line(slow(), &weights), weights, arrivals: vec![long, short] };
        case.run(delta(0), Limit::Unlimited).journeys[1].departure()
    };
    assert_eq!(departure(0), Some(Time::from_s(1)));
    assert_eq!(departure(1), Some(Time::from_s(1001)));
}

#[test]
fn delta_lets_the_packet_of_an_idle_conversation_go_earlier_by_that_much() {
    // At 10 s R is 10. Conversation 1 was never seen: B = 5 + max(0, 10 - delta); the bid of the
    // other's next is 12.
    let bid = |bytes| {
        let mut fq = Fq::new(&delta(bytes), &Line::new(slow()));
        let packet = |length| Packet::new(0, Time::ZERO, length);
        fq.arrive(Time::ZERO, 0, Flow::weighted(0, Weight::ONE), &packet(11));
        let first = fq.arrive(Time::from_s(10), 1, Flow::weighted(1, Weight::ONE), &packet(5));
        // Of a conversation that is active delta is of no account.
        let second = fq.arrive(Time::from_s(10), 1, Flow::weighted(1, Weight::ONE), &packet(5));
        assert_eq!(rank::value(second) as f64 / STEPS_PER_BYTE, 20.0);
        rank::value(first) as f64 / STEPS_PER_BYTE
    };
    assert_eq!([0, 3, 10, LARGE_DELTA].map(bid), [15.0, 12.0, 5.0, 5.0]);
}

#[test]
fn with_charged_drops_no_packet_is_later_than_the_fluid_that_serves_the_dropped_ones_too() {
    use fairq_sched::contract::End;
    let mut dropped = 0;
    for (limit, from) in [(Limit::Packets(4), End::Tail), (Limit::Bytes(4000), End::Front)] {
        cases(20, 4, 60, |case| {
            let driver = case.run_dropping(delta(0), limit, longest_queue_drop::Settings { from });
            case.assert_never_later_than(case.longest(), &driver.journeys);
            dropped += driver.journeys.iter().filter(|journey| journey.departure().is_none()).count();
        });
    }
    assert!(dropped > 1000, "{dropped} drops are too few to mean anything");
}

#[test]
fn a_refund_takes_the_charge_back_though_not_below_r() {
    let settings = Settings { on_drop: OnDrop::Refund, ..Default::default() };
    let mut fq = Fq::new(&settings, &Line::new(slow()));
    let packet = Packet::new(0, Time::ZERO, 4);
    let bid = |fq: &mut Fq, now, flow| {
        rank::value(fq.arrive(Time::from_s(now), flow, Flow::weighted(flow, Weight::ONE), &packet)) as f64
            / STEPS_PER_BYTE
    };
    let gone = |fq: &mut Fq, now| {
        let (queue, weight, packet) = (0, Weight::ONE, &packet);
        let gone = Gone {
            queue,
            flow: Flow::weighted(queue, weight),
            packet,
            tag: 0,
            head: None,
            was_head: false,
            was_tail: true,
        };
        fq.removed(Time::from_s(now), gone);
    };
    assert_eq!([bid(&mut fq, 0, 0), bid(&mut fq, 0, 0), bid(&mut fq, 0, 1)], [4.0, 8.0, 4.0]);
    // The second packet is dropped: the next has its bid.
    gone(&mut fq, 0);
    assert_eq!(bid(&mut fq, 0, 0), 8.0);
    // At 6 s R is 3. Both of the flow's packets are dropped: F goes back from 8 to 4 and then to R,
    // not to 0.
    gone(&mut fq, 6);
    gone(&mut fq, 6);
    // Conversation 1 is alone from there: at 7 s R is 4 and the fluid is empty.
    assert_eq!(bid(&mut fq, 6, 0), 7.0);
}

/// When each packet leaves a preemptive FQ on a slow line, and how often it was interrupted.
fn preemptive(arrivals: &[(u64, u32, u32)]) -> Vec<(f64, u32)> {
    let weights = vec![Weight::ONE; 4];
    let arrivals = arrivals.iter().map(|(time, flow, length)| Arrival { length: *length, ..unit(*time, *flow) });
    let case = Case { line: line(slow(), &weights), weights, arrivals: arrivals.collect() };
    let settings = Settings { preemptive: true, ..Default::default() };
    let end = |journey: &Journey| (journey.departure().map_or(0.0, Time::as_s), journey.interruptions);
    case.run(settings, Limit::Unlimited).journeys.iter().map(end).collect()
}

#[test]
fn a_smaller_bid_interrupts_and_the_interrupted_packet_is_resumed() {
    // F = 10; at 2 s R is 2 and a packet of 3 has F = 5: it goes at once, the other has 8 left.
    assert_eq!(preemptive(&[(0, 0, 10), (2, 1, 3)]), [(13.0, 1), (5.0, 0)]);
    // An equal bid does not interrupt: F = 10 and 2 + 8.
    assert_eq!(preemptive(&[(0, 0, 10), (2, 1, 8)]), [(10.0, 0), (18.0, 0)]);
    // Two levels: F = 20; at 2 s F = 12; at 4 s R is 3 and F = 5. The last bit of the third leaves
    // at 6 s.
    assert_eq!(preemptive(&[(0, 0, 20), (2, 1, 10), (4, 2, 2)]), [(32.0, 1), (14.0, 1), (6.0, 0)]);
    // The interrupted one goes before a later packet of its conversation.
    assert_eq!(preemptive(&[(0, 0, 10), (1, 0, 1), (2, 1, 3)]), [(13.0, 1), (14.0, 0), (5.0, 0)]);
    // A packet that comes when the last bit is out interrupts nothing.
    assert_eq!(preemptive(&[(0, 0, 10), (10, 1, 1)]), [(10.0, 0), (11.0, 0)]);
}

#[test]
fn preemptive_fq_is_never_later_than_the_fluid() {
    // Since the last instant at which nothing with a bid up to its own waited, the line sent such
    // packets only, and the fluid has finished all of them when it finishes this one. A bit comes
    // on top: what is sent is cut at whole bits.
    let settings = Settings { preemptive: true, ..Default::default() };
    let mut interruptions = 0;
    cases(40, 4, 40, |mut case| {
        let driver = case.run(settings.clone(), Limit::Unlimited);
        interruptions += driver.journeys.iter().map(|journey| journey.interruptions).sum::<u32>();
        // A whole byte is eight times what is needed.
        case.assert_never_later_than(1, &driver.journeys);
        // Bits are conserved: the last one leaves when it does without preemption.
        let last = |driver: &Driver<Checked>| driver.journeys.iter().filter_map(Journey::departure).max();
        assert_eq!(last(&driver), last(&case.run(delta(0), Limit::Unlimited)));
        // And when every packet is of one conversation, nothing is interrupted.
        case.arrivals.iter_mut().for_each(|arrival| arrival.flow = 0);
        assert!(case.run(settings.clone(), Limit::Unlimited).journeys.iter().all(|journey| journey.interruptions == 0));
    });
    assert!(interruptions > 1000, "{interruptions} interruptions are too few to mean anything");
}
