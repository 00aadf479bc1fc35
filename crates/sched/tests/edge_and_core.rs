//! Fair shares by dropping before a first-in-first-out queue: CSFQ and Rainbow with labels, V-WFQ
//! without.
//!
//! Flows are constant, so that the fair shares are known exactly: progressive filling of
//! `fluid::max_min`.

use fairq_sched::contract::{BufferPolicy, Discipline, Flow, Line, Role, Verdict};
use fairq_sched::fluid::max_min;
use fairq_sched::packet::{Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SchedulerSettings};
use fairq_sched::store::Store;
use fairq_sched::units::{Limit, PS_PER_S, Rate, Time, Weight};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Arrival, Driver, Journey, header};

const CAPACITY: u64 = 10_000_000;

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight of the test")
}

fn policy(name: &str) -> BufferSettings {
    BufferSettings::by_name(name).expect("a policy of the registry")
}

fn fifo_with(buffer: BufferSettings, limit: Limit) -> Queue {
    let fifo = SchedulerSettings::by_name("fifo").expect("a scheduler of the registry");
    Queue { buffer: Some(buffer), ..Queue::new(fifo, Some(limit)) }
}

/// An inner value, by its name.
fn inner(policy: &dyn BufferPolicy, name: &str) -> f64 {
    let mut found = None;
    policy.readings(Time::ZERO, &mut |reading| {
        found = if reading.name == name { Some(reading.value.real()) } else { found };
    });
    found.expect("a name that is shown")
}

/// A flow of constant rate.
#[derive(Clone, Copy)]
struct Constant {
    bit_per_s: u64,
    length: u32,
    weight: u32,
}

/// The packets of `flows` up to `end`, each flow beginning somewhere in its first gap.
fn arrivals(draw: &mut Draw, flows: &[Constant], end: Time) -> Vec<Arrival> {
    let mut all = Vec::new();
    for (flow, constant) in flows.iter().enumerate() {
        let bits = u128::from(constant.length) * 8 * u128::from(PS_PER_S);
        let gap = (bits / u128::from(constant.bit_per_s)) as u64;
        let mut time = draw.below(gap);
        while time < end.0 {
            all.push(Arrival { time: Time(time), flow: flow as u32, length: constant.length });
            time += gap;
        }
    }
    all.sort_by_key(|arrival| (arrival.time, arrival.flow));
    all
}

/// Bits per second of each flow that came in `from..end` and were sent.
fn accepted(journeys: &[Journey], flows: usize, from: Time, end: Time) -> Vec<f64> {
    let mut bits = vec![0u64; flows];
    for journey in journeys.iter().filter(|j| j.arrival.time >= from && j.departure().is_some()) {
        bits[journey.arrival.flow as usize] += u64::from(journey.arrival.length) * 8;
    }
    bits.into_iter().map(|bits| bits as f64 / (end - from).as_s()).collect()
}

fn fair_shares(flows: &[Constant]) -> Vec<f64> {
    let fluid = |flow: &Constant| max_min::Flow {
        weight: f64::from(flow.weight),
        demand: flow.bit_per_s as f64,
        links: vec![0],
    };
    max_min::rates(&[CAPACITY as f64], &flows.iter().map(fluid).collect::<Vec<_>>())
}

/// What is accepted of constant `flows` in front of `queue` after the first 5 s, and their max-min
/// shares.
fn shares(queue: &Queue, flows: &[Constant], seed: u64) -> (Vec<f64>, Vec<f64>) {
    let (from, end) = (Time::from_s(5), Time::from_s(25));
    let weights = flows.iter().enumerate().map(|(at, flow)| (header(at as u32), weight(flow.weight))).collect();
    let line = Line { seed, weights, ..Line::new(rate(CAPACITY)) };
    let journeys = Driver::new(queue.build(&line), line.rate).run(&arrivals(&mut Draw::new(seed), flows, end));
    (accepted(&journeys, flows.len(), from, end), fair_shares(flows))
}

fn assert_shares(queue: &Queue, flows: &[Constant], seed: u64, tolerance: f64) {
    let _replay = Replay(format!("seed {seed}, {queue:?}"));
    let (got, fair) = shares(queue, flows, seed);
    for (flow, (got, fair)) in got.iter().zip(&fair).enumerate() {
        let error = (got - fair).abs() / fair;
        assert!(error <= tolerance, "flow {flow}: {got:.0} bit/s, its share is {fair:.0}");
    }
}

/// Rates from a quarter of the fair share of eight to four times it; packets of many lengths.
fn mixed(weighted: bool) -> Vec<Constant> {
    let lengths = [500, 1000, 40, 1500, 1000, 250, 1000, 1000];
    let flow = |(at, length): (usize, u32)| Constant {
        bit_per_s: [312_500, 625_000, 1_250_000, 1_875_000, 2_500_000, 3_000_000, 4_000_000, 5_000_000][at],
        length,
        weight: if weighted { 1000 * (1 + at as u32 % 3) } else { 1000 },
    };
    lengths.into_iter().enumerate().map(flow).collect()
}

#[test]
fn csfq_accepts_with_the_probability_of_the_label() {
    // An island's core: labels from 100 kbit/s to 6 Mbit/s. α moves; each packet's chance is that
    // of the α it meets.
    let line = Line { seed: 3, role: Role::Core, ..Line::new(rate(CAPACITY)) };
    let mut core = policy("csfq").boxed(&line);
    let store = Store::new(Limit::Unlimited);
    let labels = [100_000.0f32, 1e6, 3e6, 6e6];
    let (mut accepted, mut expected, mut variance) = ([0u32; 4], [0.0; 4], [0.0; 4]);
    for step in 0..200_000u64 {
        let at = (step % 4) as usize;
        // 4 packets of 1000 bytes in 1.6 ms: twice the capacity.
        let mut packet = Packet::new(step, Time(step * 400_000_000), 1000);
        packet.label = labels[at].to_bits();
        let fair = inner(&*core, "fair_rate");
        let verdict = core.admit(packet.arrival, &store, 1, Flow::of_slot(1), &mut packet);
        if step > 10_000 {
            let chance = (fair / f64::from(labels[at])).min(1.0);
            accepted[at] += u32::from(verdict == Verdict::Pass);
            expected[at] += chance;
            variance[at] += chance * (1.0 - chance);
            assert_eq!(verdict == Verdict::Drop(Reason::OverShare), verdict != Verdict::Pass);
            // Relabelled with the fair rate, as it is after or before the packet's own step.
            assert!(f32::from_bits(packet.label) <= labels[at]);
        }
    }
    for at in 0..4 {
        let far = (f64::from(accepted[at]) - expected[at]).abs();
        // The line is congested all the time, so that every packet is accepted with the fair
        // chance; five standard deviations.
        assert!(far <= 5.0 * variance[at].sqrt() + 1e-6, "{at}: {} of {}", accepted[at], expected[at]);
    }
    assert_eq!(f64::from(accepted[0]), expected[0], "a flow below the fair rate loses nothing");
    assert!(variance[3] > 1000.0, "the greatest label is often dropped");
}

#[test]
fn csfq_gives_constant_flows_their_max_min_shares() {
    for seed in 0..3 {
        for weighted in [false, true] {
            assert_shares(&fifo_with(policy("csfq"), Limit::Packets(64)), &mixed(weighted), seed, 0.1);
        }
    }
}

#[test]
fn csfq_drops_nothing_for_its_label_on_a_line_that_is_not_congested() {
    let flows: Vec<Constant> =
        (1..4).map(|n| Constant { bit_per_s: n * 1_500_000, length: 1000, weight: 1000 }).collect();
    let mut draw = Draw::new(1);
    let line = Line::new(rate(CAPACITY));
    let queue = fifo_with(policy("csfq"), Limit::Packets(64));
    let arrivals = arrivals(&mut draw, &flows, Time::from_s(20));
    let journeys = Driver::new(queue.build(&line), line.rate).run(&arrivals);
    assert!(journeys.iter().all(|journey| journey.departure().is_some()));
}

#[test]
fn csfq_recovers_when_nothing_has_been_accepted_for_long() {
    // A slow line and long packets: in a window hardly one is accepted. α must come back from
    // wherever it was.
    let line = Line { role: Role::Core, ..Line::new(rate(56_000)) };
    let mut core = policy("csfq").boxed(&line);
    let store = Store::new(Limit::Unlimited);
    let mut accepted = 0;
    for step in 0..20_000u64 {
        let mut packet = Packet::new(step, Time(step * (PS_PER_S / 10)), 1000);
        packet.label = 80_000.0f32.to_bits();
        let verdict = core.admit(packet.arrival, &store, 1, Flow::of_slot(1), &mut packet);
        accepted += u64::from(verdict == Verdict::Pass && step >= 10_000);
    }
    // 1000 s, 80 kbit/s offered, 56 carried.
    let share = accepted as f64 / 10_000.0;
    assert!((0.6..0.8).contains(&share), "{share} of the packets, 0.7 fit");
}

/// The ends of `layers` layers that grow by `growth` and carry `all` together.
fn layer_ends(layers: usize, growth: f64, all: f64) -> Vec<f64> {
    let widths: Vec<f64> = (0..layers).map(|layer| std::iter::repeat_n(growth, layer).product()).collect();
    let sum: f64 = widths.iter().sum();
    (1..=layers).map(|upto| widths[..upto].iter().sum::<f64>() * all / sum).collect()
}

#[test]
fn rainbow_accepts_the_layers_up_to_the_threshold() {
    // An edge paints a flow of 4 Mbit/s and weight 2: 2 Mbit/s for each unit of weight. Which
    // colours come, how often?
    let line = Line { seed: 5, role: Role::Edge, ..Line::new(rate(CAPACITY)) };
    let mut edge = policy("rainbow_fq").boxed(&line);
    let store = Store::new(Limit::Unlimited);
    let ends = layer_ends(64, 1.1, CAPACITY as f64);
    let flow = Flow::weighted(1, weight(2000));
    let mut painted = [0u32; 64];
    let packets = 100_000;
    for step in 0..packets + 1000 {
        let mut packet = Packet::new(step, Time(step * 2_000_000_000), 1000);
        edge.admit(packet.arrival, &store, 1, flow, &mut packet);
        if step >= 1000 {
            painted[packet.label as usize - 1] += 1;
        }
    }
    let mut upto = 0;
    for (colour, count) in painted.iter().enumerate() {
        upto += count;
        let chance = (ends[colour] / 2e6).min(1.0);
        let deviation = (packets as f64 * chance * (1.0 - chance)).sqrt();
        let far = (f64::from(upto) - packets as f64 * chance).abs();
        // The estimated rate is exact after the first packets but for its rounding.
        assert!(far <= 5.0 * deviation + 1.0, "{upto} packets up to colour {}, chance {chance}", colour + 1);
    }
}

#[test]
fn rainbow_settles_within_a_layer_of_the_fair_share() {
    for seed in 0..3 {
        for weighted in [false, true] {
            let flows = mixed(weighted);
            let ends = layer_ends(64, 1.1, CAPACITY as f64);
            // The layer of the level per unit of weight decides how finely shares can be told
            // apart; the threshold moves a layer up and down around it.
            let fair = fair_shares(&flows);
            let level = fair.iter().zip(&flows).map(|(fair, flow)| fair * 1000.0 / f64::from(flow.weight));
            let level = level.fold(0.0, f64::max);
            let above = ends.iter().position(|end| *end > level).expect("the level is below the line's rate");
            let tolerance = (ends[above + 1] - ends[above - 1]) / level;
            let queue = fifo_with(policy("rainbow_fq"), Limit::Packets(64));
            assert_shares(&queue, &flows, seed, tolerance);
        }
    }
}

#[test]
fn rainbow_falls_while_packets_find_no_room_however_they_come() {
    // Ten flows of i Mbit/s into 10, exactly constant, a few nanoseconds apart: the one look of an
    // interval falls on the same place of the pattern again and again, and a full queue does not
    // grow.
    for packets in [32, 64, 200] {
        for offset in [1_000, 137_000, 1_000_000] {
            let mut all = Vec::new();
            for flow in 0..10_u32 {
                let gap = 8_000_000_000_000_000 / (u64::from(flow + 1) * 1_000_000);
                let times = (0..).map(|at| at * gap + offset * u64::from(flow));
                all.extend(times.take_while(|time| *time < 20 * PS_PER_S).map(|time| (Time(time), flow)));
            }
            all.sort_unstable();
            let line = Line { seed: 1, ..Line::new(rate(CAPACITY)) };
            let queue = fifo_with(policy("rainbow_fq"), Limit::Packets(packets));
            let mut driver = Driver::new(queue.build(&line), line.rate);
            all.iter().for_each(|(time, flow)| driver.offer(Arrival { time: *time, flow: *flow, length: 1000 }));
            driver.finish();
            let got = accepted(&driver.journeys, 10, Time::from_s(5), Time::from_s(20));
            let (sum, squares) = (got.iter().sum::<f64>(), got.iter().map(|got| got * got).sum::<f64>());
            let jain = sum * sum / (10.0 * squares);
            assert!(jain > 0.95, "{packets} packets, {offset} ps: {jain}, {got:?}");
        }
    }
}

/// The source's first experiment in its own numbers: 16 flows of i·10/16 Mbit/s.
fn sixteen() -> Vec<Constant> {
    (1..=16).map(|i| Constant { bit_per_s: i * 625_000, length: 500, weight: 1000 }).collect()
}

#[test]
fn vwfq_gives_flows_above_their_share_the_same_for_their_weight() {
    use fairq_sched::buffer::vwfq::{Reading, Settings};
    let five: Vec<Constant> =
        (1..=5).map(|i| Constant { bit_per_s: 5_000_000, length: 1000, weight: i * 1000 }).collect();
    for (flows, reading) in [(sixteen(), Reading::Text), (five.clone(), Reading::Text), (five, Reading::Figure)] {
        for seed in 0..3 {
            let queue =
                fifo_with(BufferSettings::Vwfq(Settings { reading, ..Settings::default() }), Limit::Bytes(128_000));
            let _replay = Replay(format!("seed {seed}, {queue:?}"));
            let (got, fair) = shares(&queue, &flows, seed);
            // A flow that asks for twice its share or more is above it however AR swings.
            let greedy = flows.iter().zip(&fair).map(|(flow, fair)| flow.bit_per_s as f64 >= 2.0 * fair);
            let parts: Vec<f64> =
                got.iter().zip(&fair).zip(greedy).filter(|(_, greedy)| *greedy).map(|((g, f), _)| g / f).collect();
            let mean = parts.iter().sum::<f64>() / parts.len() as f64;
            assert!(parts.len() >= 3 && parts.iter().all(|part| (part / mean - 1.0).abs() < 0.1), "{parts:?}");
        }
    }
}

#[test]
fn vwfq_fills_more_of_the_line_above_a_guaranteed_rate() {
    use fairq_sched::buffer::vwfq::Settings;
    let used = |rate_min: Option<Rate>| {
        let settings = BufferSettings::Vwfq(Settings { rate_min, ..Settings::default() });
        let (got, _) = shares(&fifo_with(settings, Limit::Bytes(128_000)), &sixteen(), 1);
        got.iter().sum::<f64>() / CAPACITY as f64
    };
    let (free, guaranteed) = (used(None), used(Rate::new(500_000)));
    assert!(guaranteed > free && guaranteed > 0.8, "{free} and {guaranteed} of the line");
}

#[test]
fn vwfq_knows_a_flow_only_after_its_first_window() {
    let mut vwfq = policy("vwfq").boxed(&Line::new(rate(100_000)));
    let store = Store::new(Limit::Unlimited);
    let mut admit = |ms: u64| {
        let mut packet = Packet::new(0, Time::from_ms(ms), 1000);
        vwfq.admit(packet.arrival, &store, 1, Flow::of_slot(1), &mut packet)
    };
    // 8 Mbit/s before a line of 100 kbit/s: all of the first window pass, a hundredth or so of the
    // second.
    assert!((0..100).all(|ms| admit(ms) == Verdict::Pass));
    let passed = (100..200).filter(|ms| admit(*ms) == Verdict::Pass).count();
    assert!(passed < 10, "{passed} of 100, one was expected");
    // Windows without a packet: free again.
    assert!((500..600).all(|ms| admit(ms) == Verdict::Pass));
}

#[test]
fn settings_without_sense_are_refused_with_what_is_allowed() {
    use fairq_sched::buffer::{csfq, rainbow_fq, vwfq};
    let csfq = |change: fn(&mut csfq::Settings)| {
        let mut settings = csfq::Settings::default();
        change(&mut settings);
        BufferSettings::Csfq(settings)
    };
    let rainbow = |change: fn(&mut rainbow_fq::Settings)| {
        let mut settings = rainbow_fq::Settings::default();
        change(&mut settings);
        BufferSettings::RainbowFq(settings)
    };
    let vwfq = |change: fn(&mut vwfq::Settings)| {
        let mut settings = vwfq::Settings::default();
        change(&mut settings);
        BufferSettings::Vwfq(settings)
    };
    for (settings, says) in [
        (csfq(|s| s.flow_window = Time::ZERO), "flow_window = \"0 s\": write a time from \"1 ms\" to \"1 h\""),
        (csfq(|s| s.congestion_window = Time::from_s(4000)), "congestion_window"),
        (csfq(|s| s.overflow_cut = 1.0), "from 0 to below 1"),
        (csfq(|s| s.overflow_cut_max = f64::NAN), "from 0 to below 1"),
        (rainbow(|s| s.layers = 0), "from 1 to 1024"),
        (rainbow(|s| s.growth = 0.9), "from 1 (all layers alike) to 2"),
        (rainbow(|s| s.high = Limit::Unlimited), "low and high are marks"),
        (rainbow(|s| s.interval = Time(1)), "interval"),
        (vwfq(|s| s.window = Time::ZERO), "window"),
        (vwfq(|s| s.gain = 0.0), "above 0 and at most 1"),
        (vwfq(|s| s.queue_min = Limit::Bytes(65_000)), "the lesser first"),
        (vwfq(|s| s.queue_min = Limit::Packets(1)), "both in packets or both in bytes"),
        (vwfq(|s| (s.rate_min, s.rate_max) = (Rate::new(2), Rate::new(1))), "the lesser as rate_min"),
    ] {
        let fault = fifo_with(settings, Limit::Packets(9)).fault().expect("a fault");
        assert!(fault.contains(says), "{fault} does not say: {says}");
    }
}

#[test]
fn a_core_keeps_nothing_of_flows() {
    for name in ["csfq", "rainbow_fq"] {
        let _replay = Replay(name.to_owned());
        let line = Line { role: Role::Core, ..Line::new(rate(CAPACITY)) };
        let queue = fifo_with(policy(name), Limit::Packets(4));
        let mut core = queue.build(&line);
        let mut fates = Vec::new();
        let mut policy = policy(name).boxed(&line);
        for token in 0..5000u64 {
            let packet = Packet::new(token, Time(token), 100);
            core.enqueue(packet.arrival, packet, &header(token as u32), &mut fates);
            // Slots are clear at once: nothing was noted under them.
            policy.admit(
                packet.arrival,
                &Store::new(Limit::Unlimited),
                1,
                Flow::of_slot(token as u32),
                &mut packet.clone(),
            );
            assert!(policy.is_clear(packet.arrival, token as u32));
        }
    }
}
