use super::super::bbr::Bbr;
use super::super::bottleneck::{Bottleneck, Seen};
use super::*;

fn law() -> Bbr3 {
    Bbr3::new(&Settings::default(), &Beginning::with_window(10.0))
}

#[test]
fn the_gains_are_those_of_the_table() {
    let mut law = law();
    let table = [
        (State::Startup, 2.77, 2.0),
        (State::Drain, 0.5, 2.0),
        (State::Down, 0.9, 2.0),
        (State::Cruise, 1.0, 2.0),
        (State::Refill, 1.0, 2.0),
        (State::Up, 1.25, 2.25),
        (State::ProbeRoundTrip, 1.0, 0.5),
    ];
    for (state, pace, window) in table {
        law.state = state;
        assert_eq!((law.pace_gain(), law.window_gain()), (pace, window), "{state:?}");
    }
}

#[test]
fn the_first_pace_is_2_77_first_windows_in_a_round_trip() {
    let mut law = law();
    law.set_pace(law.pace_gain(), Time::from_ms(100));
    let pace = law.pace.expect("a pace");
    assert!((pace - 277.0).abs() < 1e-9, "{pace}");
    law.greatest = [1000.0, 0.0];
    law.set_pace(1.25, Time::from_ms(100));
    let pace = law.pace.expect("a pace");
    assert!((pace - 1.25 * 1000.0 * 0.99).abs() < 1e-9, "{pace}");
}

/// (0.2 · 0.5 + 4.8)/5 = 0.98. In Cruise, the margin of the pace leaves the line idle in addition.
#[test]
fn alone_it_uses_the_line_but_two_percent() {
    for (pacing_margin, expected) in [(0.0, 0.98), (0.01, 0.97)] {
        let settings = Settings { pacing_margin, ..Settings::default() };
        let mut law = Bbr3::new(&settings, &Beginning::with_window(10.0));
        let line = Bottleneck::new(2000.0, Time::from_ms(40));
        let seen = line.run(&mut [&mut law], Time::from_s(6), Time::from_s(32));
        let used = seen.delivered[0] as f64 / (2000.0 * 26.0);
        assert!((used - expected).abs() < 0.005, "{pacing_margin}: {used}");
        assert!(seen.queue_mean() < 0.25 * 80.0, "{}", seen.queue_mean());
        assert!((law.least.0.as_s() - 0.040).abs() < 0.0011, "{:?}", law.least);
    }
}

#[test]
fn the_flight_is_half_a_product_while_it_looks_for_the_round_trip() {
    let mut law = law();
    let line = Bottleneck::new(2000.0, Time::from_ms(40));
    let mut least = f64::INFINITY;
    line.watched(&mut [&mut law], Time::ZERO, Time::from_s(7), &mut |acked, law| {
        if acked.now > Time::from_s(5) {
            least = least.min(law.window());
        }
    });
    // Half of 2000 · 0.04.
    assert!((39.0..=41.0).contains(&least), "{least}");
}

#[test]
fn it_probes_every_two_to_three_seconds_or_after_63_rounds() {
    let mut law = law();
    let line = Bottleneck::new(4000.0, Time::from_ms(100));
    let mut probes: Vec<Time> = Vec::new();
    let mut is_up = false;
    line.watched(&mut [&mut law], Time::ZERO, Time::from_s(40), &mut |acked, law| {
        let mut gain = 0.0;
        law.inspect(&mut |name, value| gain += if name == "pace_gain" { value } else { 0.0 });
        if gain == 1.25 && !is_up {
            probes.push(acked.now);
        }
        is_up = gain == 1.25;
    });
    assert!(probes.len() >= 8, "{probes:?}");
    // The wait counts from Down. Refilling and probing take some rounds; a probe of the round trip
    // restarts the wait.
    let gaps: Vec<f64> = probes.windows(2).map(|pair| (pair[1] - pair[0]).as_s()).collect();
    assert!(gaps.iter().all(|gap| (2.0..6.5).contains(gap)), "{gaps:?}");
    let mut law = self::law();
    law.window = 1000.0;
    law.greatest = [10_000.0, 0.0];
    law.least = (Time::from_ms(100), Time::ZERO);
    law.start_down(Time::ZERO);
    law.cycle.rounds = 62;
    let mut rate = sample(0, 1);
    law.state = State::Cruise;
    law.is_full = true;
    rate.packets_per_s = 10_000.0;
    law.acknowledged(&Acked { rate: Some(rate), ..Acked::of(Time::from_ms(10), 1) });
    assert_eq!(law.state, State::Refill, "63 rounds have passed");
}

fn sample(delivered_before: u64, delivered: u64) -> RateSample {
    RateSample {
        packets_per_s: 100.0,
        delivered_before,
        delivered,
        interval: Time::from_ms(100),
        is_application_limited: false,
        flight_at_send: 20,
        lost: 0,
        ahead: None,
    }
}

#[test]
fn too_many_losses_in_a_probe_set_the_long_term_bound_once() {
    let mut law = law();
    law.is_full = true;
    law.greatest = [1000.0, 0.0];
    law.least = (Time::from_ms(100), Time::ZERO);
    law.window = 250.0;
    let third = LostPacket { delivered_before: 0, flight_at_send: 130, lost: 3, is_application_limited: false };
    law.judge_loss(&third, Time::ZERO);
    assert_eq!(law.long_flight, f64::INFINITY, "not a packet of a probe");
    law.start_up(&sample(0, 1));
    law.judge_loss(&LostPacket { lost: 2, ..third }, Time::ZERO);
    assert_eq!((law.state, law.long_flight), (State::Up, f64::INFINITY), "2 of 130 are not more than 2 %");
    law.judge_loss(&third, Time::ZERO);
    // Of 129 packets before this one 2 were lost, and 2 % of 129 and a part x of this one are 2 +
    // x: x = 0.58 / 0.98.
    assert_eq!(law.state, State::Down);
    assert!((law.long_flight - (129.0 + 0.58 / 0.98)).abs() < 1e-9, "{}", law.long_flight);
    let bound = law.long_flight;
    law.judge_loss(&LostPacket { flight_at_send: 50, ..third }, Time::ZERO);
    assert_eq!(law.long_flight, bound, "once a probe");
    // At least 0.7 of the product of 100.
    law.start_up(&sample(0, 1));
    law.judge_loss(&LostPacket { flight_at_send: 50, ..third }, Time::ZERO);
    assert!((law.long_flight - 70.0).abs() < 1e-9, "{}", law.long_flight);
    law.state = State::Cruise;
    assert!((law.long_flight_with_headroom() - 0.85 * 70.0).abs() < 1e-9);
}

#[test]
fn a_round_with_losses_lowers_the_short_term_bounds_to_what_is_delivered_and_not_below_seven_tenths() {
    let mut law = law();
    law.greatest = [1000.0, 0.0];
    law.window = 200.0;
    law.state = State::Cruise;
    law.loss_round_began = true;
    law.adapt_short_term();
    assert_eq!(law.short_rate, f64::INFINITY, "nothing was lost");
    law.has_lost = true;
    (law.latest_rate, law.latest_delivered) = (900.0, 90.0);
    law.adapt_short_term();
    assert_eq!((law.short_rate, law.short_flight), (900.0, 140.0));
    (law.latest_rate, law.latest_delivered) = (500.0, 120.0);
    law.adapt_short_term();
    assert_eq!((law.short_rate, law.short_flight), (630.0, 120.0));
    law.state = State::Up;
    law.adapt_short_term();
    assert_eq!(law.short_rate, 630.0, "a probe expects losses");
    law.start_refill();
    assert_eq!((law.short_rate, law.short_flight), (f64::INFINITY, f64::INFINITY));
}

#[test]
fn the_long_term_bound_grows_by_one_two_four_packets_a_round() {
    let mut law = law();
    (law.window, law.long_flight) = (64.0, 64.0);
    law.start_refill();
    law.start_up(&sample(0, 1));
    let mut bounds = vec![law.long_flight];
    for _ in 0..5 {
        for packet in 0..64 {
            law.ends_round = packet == 63;
            law.raise_long_term(1.0);
        }
        bounds.push(law.long_flight);
    }
    let growth: Vec<f64> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(growth, [1.0, 2.0, 4.0, 8.0, 16.0]);
}

fn over_a_short_buffer(law: &mut dyn Congestion) -> Seen {
    let mut line = Bottleneck::new(4000.0, Time::from_ms(50));
    line.buffer = 20;
    line.run(&mut [law], Time::from_s(2), Time::from_s(12))
}

/// A buffer of a tenth of the product: version 1 ignores its losses, version 3 sets its bound by
/// them.
#[test]
fn with_a_short_buffer_it_loses_less_than_version_1_and_uses_the_line() {
    let first = over_a_short_buffer(&mut Bbr::new(&Default::default(), &Beginning::with_window(10.0)));
    let mut law = law();
    let third = over_a_short_buffer(&mut law);
    assert!(law.long_flight.is_finite());
    assert!(third.dropped * 2 < first.dropped, "{} {}", third.dropped, first.dropped);
    assert!(third.delivered[0] as f64 > 0.85 * 40_000.0, "{}", third.delivered[0]);
}

#[test]
fn a_timeout_leaves_one_packet_and_the_end_of_recovery_restores_the_window() {
    let mut law = law();
    law.window = 80.0;
    law.timed_out(&Congested::of(Time::ZERO, 80));
    assert_eq!(law.window, 1.0);
    law.recovered(Time::ZERO);
    assert_eq!(law.window, 80.0);
}
