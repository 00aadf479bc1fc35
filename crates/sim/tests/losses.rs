//! How a TCP sender reacts to losses: the size of the decrease, when a loss counts as another sign,
//! the effect of a probe and of a timeout. Each test runs a sender over a pipe that loses and
//! delays given packets.

use fairq_sched::units::Time;
use fairq_sim::transport::congestion::Beginning;
use fairq_sim::transport::held::HeldTimes;
use fairq_sim::transport::registry::{TRANSPORTS, TransportSettings};
use serde_json::json;

mod pipe;

use pipe::{Pipe, TRIP, reno};

const SELECTIVE: [&str; 2] = ["sack", "rack"];

/// Of 40 packets the first is lost: 20 are left, whichever way the flight is counted. With 12
/// packets in a window of 40 the first is lost: 20 by the window, 6 by the flight, also if limited
/// transmit had no data to send.
#[test]
fn a_loss_takes_half_of_the_window_or_of_what_of_it_was_in_flight() {
    for recovery in ["newreno", "sack", "rack"] {
        for (reduces, packets, left) in
            [("cwnd", 40, 20.0), ("flight", 40, 20.0), ("cwnd", 12, 20.0), ("flight", 12, 6.0)]
        {
            let mut pipe = reno(40, json!({"recovery": recovery, "reduces": reduces}));
            pipe.losses.insert(0, 1);
            pipe.give(packets).run_ms(350);
            assert_eq!(pipe.value("threshold_packets"), left, "{recovery}, {packets} packets, {reduces}");
        }
    }
    // A greedy sender, which sends two more by limited transmit.
    for recovery in ["newreno", "sack", "rack"] {
        for reduces in ["cwnd", "flight"] {
            let mut pipe = reno(40, json!({"recovery": recovery, "reduces": reduces}));
            pipe.losses.insert(0, 1);
            pipe.give(1000).run_ms(180);
            assert_eq!(pipe.value("threshold_packets"), 20.0, "{recovery}, {reduces}");
        }
    }
}

/// A recovery lasts several round trips, because a retransmission is lost three times. New packets
/// arrive meanwhile, and one of them is lost. No congestion control may have a larger window after
/// a loss than before it.
#[test]
fn no_loss_makes_a_window_larger_however_long_a_recovery_lasts() {
    // A congestion control with a recovery of its own sets its window by what it measures.
    let is_one = |kind: &&str| {
        let settings: TransportSettings = serde_json::from_value(json!({"kind": kind})).expect("a transport");
        settings.law(&Beginning::with_window(1.0)).is_some_and(|law| !law.has_own_recovery())
    };
    for kind in TRANSPORTS.iter().map(|card| card.name).filter(is_one) {
        for recovery in SELECTIVE {
            for reduces in ["cwnd", "flight", "window"] {
                let mut pipe = Pipe::new(
                    json!({"kind": kind}),
                    json!({"recovery": recovery, "reduces": reduces, "initial_window": 60, "timeout": {"floor": "10 s", "first": "10 s"}}),
                );
                // The first packet is lost four times; of the others one of 30, once.
                pipe.losses = (1..400).filter(|n| n % 30 == 0).map(|n| (n, 1)).collect();
                pipe.losses.insert(0, 4);
                pipe.give(100_000).run_ms(140);
                for _ in 0..60 {
                    let (before, resent) = (pipe.window(), pipe.again().values().sum::<u32>());
                    pipe.run_ms(10);
                    let (window, grows_by) = (pipe.window(), 0.1 * before + 1.0);
                    if pipe.again().values().sum::<u32>() > resent {
                        let what = format!("{kind}, {recovery}, {reduces}");
                        assert!(window <= before + grows_by, "{what}: from {before} to {window}");
                    }
                }
            }
        }
    }
}

/// RFC 5681, section 4.3: a retransmission that is lost is a second sign. Many that are lost in one
/// round trip are one.
#[test]
fn a_lost_retransmission_reduces_once_more_and_once_in_a_round_trip() {
    for (lost, copies, left) in [(1, 1, 20.0), (1, 2, 10.0), (1, 3, 5.0), (5, 2, 10.0)] {
        let mut pipe = reno(40, json!({"recovery": "rack"}));
        pipe.losses = (3..3 + lost).map(|n| (n, copies)).collect();
        pipe.give(120).run_ms(800);
        assert_eq!(pipe.value("threshold_packets"), left, "{lost} packets, {copies} copies");
        assert_eq!(pipe.again().values().sum::<u32>(), lost as u32 * copies, "{lost} packets, {copies} copies");
    }
    // Losses of the window that was already reduced do not count again either.
    let mut pipe = reno(40, json!({"recovery": "rack"}));
    pipe.losses = [(3, 1), (10, 1), (20, 1), (38, 1)].into();
    pipe.give(120).run_ms(800);
    assert_eq!(pipe.value("threshold_packets"), 20.0);
}

/// After a timeout slow start sends, and RACK finds the losses among that: the ninth of 32 packets
/// that are all lost once.
#[test]
fn what_is_lost_after_a_timeout_reduces_again() {
    for (copies, [low, high]) in [(1, [16.0, 16.0]), (2, [2.0, 8.0])] {
        let mut pipe = reno(32, json!({"recovery": "rack"}));
        pipe.losses = (0..31).map(|n| (n, 1)).chain([(8, copies), (31, 2)]).collect();
        pipe.give(32).run_ms(2_900);
        let threshold = pipe.value("threshold_packets");
        assert!((low..=high).contains(&threshold), "{copies} copies: {threshold}");
    }
}

/// RFC 8985, section 7.4.2: the acknowledgements of 40 packets are late, a probe is sent, and
/// nothing was lost. The window stays, whatever data the application has then, and however late
/// they were.
#[test]
fn a_probe_in_vain_takes_nothing() {
    for late in [170, 250, 400] {
        for kind in ["reno", "cubic"] {
            let connection = json!({"recovery": "rack", "initial_window": 40});
            let mut pipe = Pipe::new(json!({"kind": kind, "first_threshold": 1}), connection);
            pipe.give(40).run_ms(600);
            let before = pipe.window();
            pipe.delays.insert(40, Time::from_ms(late));
            pipe.give(40).run_ms(1000).give(40).run_ms(600);
            assert_eq!(pipe.again().values().sum::<u32>(), 1, "{kind}, {late} ms: one probe");
            assert!(pipe.window() >= before, "{kind}, {late} ms: {before} to {}", pipe.window());
        }
    }
}

/// The last packet is lost and the probe repairs it: that is a loss, found when more is
/// acknowledged.
#[test]
fn a_probe_that_mends_a_loss_halves_the_window() {
    let mut pipe = reno(40, json!({"recovery": "rack"}));
    pipe.losses.insert(39, 1);
    pipe.give(40).run_ms(900).give(40).run_ms(600);
    assert_eq!(pipe.again(), [(39, 1)].into());
    assert_eq!(pipe.value("threshold_packets"), 20.0);
    assert!(pipe.window() >= 20.0);
}

/// RFC 8985, section 7.2: where two round trips reach the timeout a probe is sent at that time, and
/// the window stays.
#[test]
fn a_probe_stands_in_the_place_of_the_timeout() {
    for (floor, at) in [("200 ms", 300), ("10 ms", 300), ("1 s", 200)] {
        let mut pipe = reno(20, json!({"recovery": "rack", "timeout": {"floor": floor}}));
        pipe.losses.insert(19, 1);
        pipe.give(20).run_ms(2_000);
        assert_eq!(pipe.again(), [(19, 1)].into(), "{floor}");
        let (when, ..) = *pipe.sent.iter().find(|(_, _, is_again)| *is_again).expect("it was");
        assert!(when <= Time::from_ms(100 + at + 5), "{floor}: at {when}");
        assert!(pipe.window() >= 20.0, "{floor}: window {}", pipe.window());
    }
}

/// RFC 8985, section 7.2: no probe is planned while packets are known to have arrived out of order;
/// the timer finds the loss.
#[test]
fn no_probe_goes_while_packets_are_out_of_order() {
    let mut pipe = reno(4, json!({"recovery": "rack", "duplicates": 10}));
    // The second packet is lost and acknowledgements report others at once; RACK's time passes
    // before any probe.
    pipe.losses.insert(1, 1);
    pipe.give(4).run_ms(2_000);
    assert_eq!(pipe.again(), [(1, 1)].into());
}

/// RFC 6675, NextSeg: rule 3 skips packets that were sent again already, rule 4 sends one packet
/// more.
#[test]
fn one_loss_in_a_short_transfer_is_mended_by_one_packet_and_one_rescue() {
    for packets in [10, 30, 100] {
        for lost in [0, 1, packets / 2, packets - 5] {
            for (recovery, most) in [("sack", 2), ("rack", 1)] {
                let mut pipe = reno(packets, json!({"recovery": recovery}));
                pipe.losses.insert(lost, 1);
                pipe.give(packets).run_ms(900);
                let again = pipe.again();
                assert_eq!(again.get(&lost), Some(&1), "{recovery}, {packets}, {lost}: {again:?}");
                assert!(again.values().sum::<u32>() <= most, "{recovery}, {packets}, {lost}: {again:?}");
            }
        }
    }
}

/// A timeout in a recovery is a second sign: it reduces what the first left (`losses.rs`, Chosen).
/// A second timeout of the same packet reduces nothing more.
#[test]
fn a_timeout_in_a_recovery_takes_its_part_of_what_that_left() {
    for (copies, left) in [(1, 20.0), (2, 10.0), (3, 10.0)] {
        let mut pipe = reno(40, json!({"recovery": "sack"}));
        pipe.losses.insert(0, copies);
        pipe.give(40).run_ms(8_000);
        assert_eq!(pipe.value("threshold_packets"), left, "{copies} copies");
    }
}

/// RFC 8985, section 6.3: at a timeout, packets sent within the last round trip may still arrive.
#[test]
fn a_timeout_loses_only_what_had_time_to_arrive() {
    // A round trip is known; then all packets are lost, a probe too. Three new packets are sent
    // shortly before the timer expires.
    for (recovery, in_flight) in [("sack", 1.0), ("rack", 4.0)] {
        let mut pipe = reno(20, json!({"recovery": recovery}));
        pipe.give(1).run_ms(1_000);
        pipe.losses = (1..11).map(|n| (n, 2)).collect();
        pipe.give(10).run_ms(970 + if recovery == "rack" { 200 } else { 0 }).give(3).run_ms(60);
        assert_eq!(pipe.value("flight_packets"), in_flight, "{recovery}: {:?}", pipe.sent);
        pipe.run_ms(10_000);
        assert!((1..14).all(|n| pipe.again().contains_key(&n) == (n < 11)), "{recovery}: {:?}", pipe.again());
    }
}

/// RFC 5681, section 3.1: a lost opening packet leaves a window of one packet, and has no other
/// effect.
#[test]
fn after_a_lost_opening_slow_start_begins_from_one_packet() {
    let kinds = ["reno", "newreno", "cubic", "scalable", "htcp", "hstcp", "vegas", "dctcp", "westwood_plus"];
    for kind in kinds {
        for recovery in ["newreno", "sack", "rack"] {
            let mut pipe = Pipe::new(json!({"kind": kind}), json!({"recovery": recovery, "handshake": true}));
            pipe.losses.insert(0, 1);
            pipe.give(1_000).run_ms(1_050);
            let mut rounds = Vec::new();
            for _ in 0..5 {
                let before = pipe.sent.len();
                pipe.run_ms(101);
                rounds.push(pipe.sent.len() - before);
            }
            // Vegas opens its window every other round trip.
            let expected = if kind == "vegas" { [1, 1, 2, 2, 4] } else { [1, 2, 4, 8, 16] };
            assert_eq!(rounds, expected, "{kind}, {recovery}");
        }
    }
}

/// RFC 6298, rule (5.7): 3 s after a lost opening packet, unless time stamps gave a sample.
#[test]
fn after_a_lost_opening_the_first_timeout_is_3_s() {
    for (timestamps, lost, timeout) in [(false, 0, 1.0), (false, 1, 3.0), (false, 2, 3.0), (true, 1, 1.0)] {
        let mut pipe = reno(10, json!({"handshake": true, "timestamps": timestamps}));
        pipe.losses.insert(0, lost);
        pipe.give(1).run_ms(if lost == 2 { 3_140 } else { 140 + 1_000 * u64::from(lost) });
        assert_eq!(pipe.value("timeout_s"), timeout, "{timestamps} {lost}");
    }
}

/// RFC 8985, section 6.2, step 3: a lost acknowledgement is no reordering, so that RACK still
/// detects at once a loss that three other packets overtook.
#[test]
fn a_lost_acknowledgement_is_no_reordering() {
    use fairq_sim::transport::ranges::Run;
    use fairq_sim::transport::tcp::scoreboard::Scoreboard;
    let told = |runs: &[(u64, u64)], more: &[(u64, u64)]| {
        let mut board = Scoreboard::default();
        (0..20).for_each(|_| board.send(Time::ZERO, 1000));
        let runs_of =
            |runs: &[(u64, u64)]| runs.iter().map(|(start, end)| Run { start: *start, end: *end }).collect::<Vec<_>>();
        board.acknowledge(TRIP, 3, runs_of(runs).into_iter(), Time::ZERO, false);
        board.acknowledge(TRIP, 3, runs_of(more).into_iter(), Time::ZERO, false).is_reordered
    };
    // All up to 12 is known; 13 is missing. The acknowledgement of 12 was lost, so that 14 and 12
    // are reported together, latest first.
    assert!(!told(&[(10, 12)], &[(14, 16), (10, 13)]));
    assert!(!told(&[], &[(14, 16), (10, 13), (5, 6)]));
    // A packet below one that was known before is reordered, in whichever order the blocks are.
    assert!(told(&[(10, 12)], &[(14, 16), (8, 12)]));
    assert!(told(&[(10, 12)], &[(8, 12), (14, 16)]));
}

/// Linux's `tcp_sndbuf_expand`: two windows of 40, which its count of bytes makes 81 packets. The
/// first packet is lost eight times; packets that arrive behind it stay in the host's buffer.
#[test]
fn behind_a_hole_a_host_sends_no_more_than_its_buffer_holds() {
    let highest = |tunes_buffer: bool, copies: u32| {
        let connection = json!({"recovery": "rack", "reduces_once": true, "tunes_buffer": tunes_buffer});
        let mut pipe = reno(40, connection);
        pipe.losses.insert(0, copies);
        pipe.give(1000).run_ms(800);
        pipe.sent.iter().map(|(_, sequence, _)| *sequence).max().unwrap_or_default() + 1
    };
    assert_eq!(highest(true, 8), 81);
    assert!(highest(false, 8) > 120, "{}", highest(false, 8));
    // Once the hole is filled no packet is held back.
    assert_eq!(highest(true, 1), highest(false, 1));
}

/// The sender counts the time in which window and pace let it send and its host, the receiver or
/// the lack of data does not.
#[test]
fn a_sender_knows_what_held_it_and_for_how_long() {
    let held = |connection: serde_json::Value, copies: u32, packets: u64| {
        let mut pipe = reno(40, connection);
        if copies > 0 {
            pipe.losses.insert(0, copies);
        }
        pipe.give(packets).run_ms(800);
        pipe.ends.sender.held(pipe.now)
    };
    let rack = |tunes_buffer: bool| json!({"recovery": "rack", "reduces_once": true, "tunes_buffer": tunes_buffer});
    let by_buffer = held(rack(true), 8, 1000);
    assert!(by_buffer.buffer > Time::from_ms(50) && by_buffer.receiver == Time::ZERO, "{by_buffer:?}");
    assert_eq!(held(rack(false), 8, 1000), HeldTimes::default());
    let by_receiver = held(json!({"receive_window": 30}), 0, 10_000);
    assert!(by_receiver.receiver > Time::from_ms(400), "{by_receiver:?}");
    assert_eq!([by_receiver.buffer, by_receiver.application], [Time::ZERO; 2]);
    let by_application = held(json!({}), 0, 20);
    assert!(by_application.application > Time::from_ms(700), "{by_application:?}");
}
