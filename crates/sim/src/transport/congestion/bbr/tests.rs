use super::super::bottleneck::Bottleneck;
use super::*;

fn law() -> Bbr {
    seeded(1)
}

fn seeded(seed: u64) -> Bbr {
    Bbr::new(&Settings::default(), &Beginning { seed, ..Beginning::with_window(10.0) })
}

#[test]
fn the_gains_are_the_published_ones() {
    let mut law = law();
    assert!((law.pace_gain() - 2.885_39).abs() < 1e-3);
    law.state = State::Drain;
    assert!((law.pace_gain() - 0.346_57).abs() < 1e-3);
    let mut sum = 0.0;
    for phase in 0..PHASES {
        law.state = State::ProbeBandwidth { phase };
        sum += law.pace_gain();
    }
    assert_eq!(sum, 8.0, "the mean gain of a cycle is 1");
}

/// Ten packets in 0.1 s: 2.885 · 100 packets/s, less the margin if there is one.
#[test]
fn the_first_pace_is_the_first_window_in_a_round_trip() {
    for (pacing_margin, expected) in [(0.0, 288.5), (0.01, 285.65)] {
        let settings = Settings { pacing_margin, ..Settings::default() };
        let mut law = Bbr::new(&settings, &Beginning::with_window(10.0));
        law.set_pace(Time::from_ms(100));
        let pace = law.pace.expect("a pace");
        assert!((pace / expected - 1.0).abs() < 1e-3, "{pace}");
    }
}

#[test]
fn a_cycle_begins_in_any_phase_but_the_draining_one() {
    let mut counts = [0; 8];
    let mut law = law();
    for _ in 0..7000 {
        law.begin_cycle(Time::ZERO);
        let State::ProbeBandwidth { phase } = law.state else { panic!("{:?}", law.state) };
        counts[phase as usize] += 1;
    }
    assert_eq!(counts[1], 0);
    assert!(counts.iter().enumerate().all(|(phase, n)| phase == 1 || (800..1200).contains(n)), "{counts:?}");
}

#[test]
fn seeds_begin_in_phases_of_their_own_and_one_seed_in_its_own() {
    let first = |seed| {
        let mut law = seeded(seed);
        law.begin_cycle(Time::ZERO);
        law.state
    };
    assert_eq!(first(3), first(3));
    assert!((2..20).any(|seed| first(seed) != first(1)));
}

#[test]
fn startup_comes_from_10_to_625_packets_in_about_six_rounds() {
    let mut law = law();
    let mut rounds = 0;
    let mut reached = None;
    let line = Bottleneck::new(1e5, Time::from_ms(100));
    line.watched(&mut [&mut law], Time::ZERO, Time::from_ms(1200), &mut |acked, law| {
        rounds += u32::from(acked.begins_round);
        if law.window() >= 625.0 && reached.is_none() {
            reached = Some(rounds);
        }
    });
    assert!((6..=7).contains(&reached.expect("a window of 625")), "{reached:?}");
}

#[test]
fn alone_it_uses_the_line_but_two_percent() {
    let mut law = law();
    let line = Bottleneck::new(2000.0, Time::from_ms(40));
    // Three cycles of 10.2 s.
    let seen = line.run(&mut [&mut law], Time::from_ms(12_000), Time::from_ms(42_600));
    let used = seen.delivered[0] as f64 / (2000.0 * 30.6);
    assert!((0.970..=0.985).contains(&used), "{used}");
    assert!(seen.queue_mean() < 0.3 * 80.0, "{}", seen.queue_mean());
    assert!((law.bandwidth.value() / 2000.0 - 1.0).abs() < 0.01, "{}", law.bandwidth.value());
    assert!((law.least.as_s() - 0.040).abs() < 0.0011, "{:?}", law.least);
}

#[test]
fn the_window_is_four_packets_while_it_looks_for_the_round_trip() {
    let mut law = law();
    let line = Bottleneck::new(2000.0, Time::from_ms(40));
    let (mut from, mut until) = (None, Time::ZERO);
    line.watched(&mut [&mut law], Time::ZERO, Time::from_s(12), &mut |acked, law| {
        if law.window() == 4.0 {
            from.get_or_insert(acked.now);
            until = acked.now;
        }
    });
    let lasted = (until - from.expect("a probe")).as_s();
    // The flight drains for a round trip before the 200 ms count, and a round must end after them.
    assert!((0.2..0.4).contains(&lasted), "{lasted}");
}

/// Several flows overestimate the bandwidth, by up to the gain of their probes, so that the windows
/// limit them: twice the product in flight, about one of the two in the queue, and at most 2 · 1.25
/// − 1 products.
#[test]
fn flows_in_a_deep_queue_hold_one_product_in_it() {
    let mut laws = [1, 2, 3, 4].map(seeded);
    let mut flows: Vec<&mut dyn Congestion> = laws.iter_mut().map(|law| law as _).collect();
    let line = Bottleneck::new(4000.0, Time::from_ms(50));
    let seen = line.run(&mut flows, Time::from_s(20), Time::from_s(29));
    // Three send quanta and the rounding to even add up to eight packets a flow.
    assert!(seen.queue_most <= 1.5 * 200.0, "{}", seen.queue_most);
    assert!((150.0..=200.0 * 1.1 + 32.0).contains(&seen.queue_mean()), "{}", seen.queue_mean());
}

#[test]
fn the_first_round_of_recovery_conserves_packets_and_its_end_restores_the_window() {
    let mut law = law();
    law.window = 40.0;
    // Of 40 packets 20 had arrived out of order in an earlier recovery, 3 are lost, and an
    // acknowledgement reported 2.
    let congested = Congested { packets: 3, in_flight: 15, delivered: 2, ..Congested::of(Time::ZERO, 40) };
    law.found_lost(&congested);
    law.lost(&congested);
    assert_eq!((law.window, law.conserves), (17.0, true));
    law.recovered(Time::ZERO);
    assert_eq!((law.window, law.conserves), (40.0, false));
}

#[test]
fn one_percent_of_loss_costs_it_little() {
    let mut law = law();
    let mut line = Bottleneck::new(2000.0, Time::from_ms(40));
    line.drop_every = Some(100);
    let seen = line.run(&mut [&mut law], Time::from_s(2), Time::from_s(10));
    let used = seen.delivered[0] as f64 / (2000.0 * 8.0);
    assert!(used > 0.9, "{used}");
}

/// `bbr_set_cwnd_to_recover_or_restore`: a recovery that follows another at once is the same one,
/// with neither another round of conservation nor a smaller window; after a timeout it is a new
/// one.
#[test]
fn a_recovery_that_goes_on_conserves_no_other_round() {
    let mut law = law();
    let told = |law: &mut Bbr| {
        law.lost(&Congested { in_flight: 12, delivered: 1, ..Congested::of(Time::ZERO, 40) });
        (law.conserves, law.window)
    };
    law.window = 40.0;
    assert_eq!(told(&mut law), (true, 13.0));
    (law.conserves, law.window) = (false, 30.0);
    assert_eq!(told(&mut law), (false, 30.0));
    law.recovered(Time::ZERO);
    assert_eq!(law.window, 40.0, "the window before the first");
    law.timed_out(&Congested::of(Time::ZERO, 40));
    assert_eq!(told(&mut law), (true, 13.0));
}

/// `bbr_init`: the opening packet's round trip is the first least one, and 2.885 windows a round
/// trip less a percent the first pace.
#[test]
fn the_round_trip_of_the_opening_packet_may_count() {
    for (counts_opening, least, pace) in [(true, Time::from_ms(100), Some(285)), (false, Time::NEVER, None)] {
        let settings = Settings { counts_opening, ..Settings::default() };
        let mut law = Bbr::new(&settings, &Beginning::with_window(10.0));
        law.opened(Time::from_s(1), Some(Time::from_ms(100)), Time::from_ms(100), 1514);
        assert_eq!((law.least, law.pace.map(|pace| pace as u32)), (least, pace));
    }
}

/// `bbr_packets_in_net_at_edt`: at 1000 packets/s, 5 leave while the next waits 5 ms; a probe adds
/// the packets of a burst.
#[test]
fn the_flight_is_that_at_the_next_departure() {
    let mut law = law();
    law.bandwidth.update(10, 1, 1000.0);
    assert_eq!(law.at_departure(20.0), 20.0, "it does not count");
    law.ahead = Some(Time::from_ms(5));
    assert_eq!(law.at_departure(20.0), 17.0, "Startup paces above the bandwidth");
    law.state = State::Drain;
    assert_eq!([law.at_departure(20.0), law.at_departure(3.0)], [15.0, 0.0]);
}
