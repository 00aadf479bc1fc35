//! Rules of Linux's TCP that the profile `linux` adds to the RFCs'. Each test names the kernel's
//! function, and runs a sender over a pipe that loses and marks given packets.

mod pipe;

use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use pipe::{Pipe, reno};
use serde_json::json;

/// Reno with ECN and a window of 40 in a round trip of 100 ms.
fn with_ecn(connection: serde_json::Value) -> Pipe {
    let mut connection = connection;
    (connection["initial_window"], connection["recovery"]) = (40.into(), "rack".into());
    Pipe::new(json!({"kind": "reno", "first_threshold": 1, "ecn": true}), connection)
}

/// `tcp_time_to_recover`: the first packet is lost twice, and one that was sent in the recovery
/// once. When the recovery ends that one is sent again and has not arrived: another recovery
/// begins, and ssthresh falls from 20 to 10. Without a second loss it ends.
#[test]
fn a_recovery_goes_on_while_a_lost_packet_has_not_arrived() {
    let threshold = |losses: &[(u64, u32)], is_linux: bool| {
        let mut pipe = reno(40, json!({"recovery": "rack", "reduces_once": is_linux}));
        pipe.losses = losses.iter().copied().collect();
        pipe.give(400).run_ms(460);
        pipe.value("threshold_packets")
    };
    assert_eq!(threshold(&[(0, 2)], true), 20.0);
    assert_eq!(threshold(&[(0, 2), (45, 1)], true), 10.0);
}

/// `tcp_enter_cwr` and `tcp_cwnd_reduction`: of the 39 acknowledgements after a marked packet every
/// other one lets a packet go. Without it nothing goes for half of the round trip.
#[test]
fn the_reduction_for_a_mark_is_spread_over_a_round_trip() {
    let sent = |spreads: bool| {
        let mut pipe = with_ecn(json!({"spreads_marks": spreads}));
        pipe.spacing = Time::from_ms(2);
        pipe.marked.insert(0);
        pipe.give(400).run_ms(102);
        let mut halves = [0; 2];
        for half in &mut halves {
            let before = pipe.sent.len();
            pipe.run_ms(40);
            *half = pipe.sent.len() - before;
        }
        (halves, pipe.value("threshold_packets"))
    };
    assert_eq!(sent(false), ([1, 19], 20.0));
    assert_eq!(sent(true), ([10, 9], 20.0));
}

/// `tcp_enter_recovery` asks for `tcp_in_cwnd_reduction`: a loss in the round trip of a mark takes
/// nothing more.
#[test]
fn a_loss_in_the_reduction_for_a_mark_takes_nothing_more() {
    let mut pipe = with_ecn(json!({"spreads_marks": true, "reduces_once": true}));
    pipe.marked.insert(0);
    pipe.losses.insert(10, 1);
    pipe.give(400).run_ms(250);
    assert_eq!((pipe.again().len(), pipe.value("threshold_packets")), (1, 20.0));
}

/// `tcp_update_skb_after_send`: a window of 10 of which a packet may leave each 5 ms (2 windows of
/// 10 in 100 ms). After a rest of the pace the gap is half of that.
#[test]
fn a_late_packet_is_made_up_by_half_of_the_gap() {
    let gaps = |departure_times: bool| {
        let connection = json!({"initial_window": 10, "pacing": true, "departure_times": departure_times});
        let mut pipe = Pipe::new(json!({"kind": "reno"}), connection);
        pipe.give(1).run_ms(200).give(6).run_ms(40);
        let times: Vec<_> = pipe.sent[1..].iter().map(|sent| sent.0).collect();
        times.windows(2).map(|pair| ((pair[1] - pair[0]).as_s() * 1e4).round() / 10.0).collect::<Vec<_>>()
    };
    let plain = gaps(false);
    assert!(plain.windows(2).all(|pair| pair[0] == pair[1]), "{plain:?}");
    let made_up = gaps(true);
    assert!((made_up[0] - plain[0] / 2.0).abs() < 0.1, "{made_up:?} {plain:?}");
    assert!(made_up[2] == plain[2], "{made_up:?} {plain:?}");
}

/// `__tcp_ack_snd_check`: behind a missing packet the first three packets are acknowledged one by
/// one, then those of a millisecond together.
#[test]
fn acknowledgements_behind_a_hole_are_compressed() {
    let answers = |compresses: bool| {
        let connection = json!({"recovery": "rack", "compresses_acknowledgements": compresses,
            "acknowledge_every": 2, "tunes_window": true});
        let mut pipe = reno(100, connection);
        pipe.spacing = Time(300_000_000);
        pipe.give(1).run_ms(1_000);
        pipe.losses.insert(11, 1);
        pipe.give(60).run_ms(98);
        pipe.answered.iter().filter(|answer| !answer.1.blocks.is_empty()).map(|answer| answer.0).collect::<Vec<_>>()
    };
    let (plain, fewer) = (answers(false), answers(true));
    assert_eq!(plain[..3], fewer[..3]);
    let gaps: Vec<_> = fewer[3..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(plain.len() > 40 && fewer.len() < 20, "{} {}", plain.len(), fewer.len());
    assert!(gaps.iter().all(|gap| *gap >= Time::from_ms(1) && *gap < Time(1_400_000_000)), "{gaps:?}");
}

/// `tcp_enter_loss`: a timeout in a recovery reduces nothing more, as high_seq is after snd_una.
#[test]
fn a_timeout_in_a_recovery_takes_nothing_more() {
    for (reduces_once, left) in [(false, 10.0), (true, 20.0)] {
        let mut pipe = reno(40, json!({"recovery": "sack", "reduces_once": reduces_once}));
        pipe.losses.insert(0, 2);
        pipe.give(40).run_ms(8_000);
        assert_eq!(pipe.value("threshold_packets"), left);
    }
}

/// `tcp_enter_loss`: the window is one packet more than are in flight. Ten packets are lost, and
/// three that are sent shortly before the timer expires may still arrive.
#[test]
fn after_a_timeout_the_window_is_a_packet_more_than_are_in_flight() {
    for (reduces_once, window) in [(false, 1.0), (true, 4.0)] {
        let mut pipe = reno(20, json!({"recovery": "rack", "reduces_once": reduces_once}));
        pipe.give(1).run_ms(1_000);
        pipe.losses = (1..11).map(|n| (n, 2)).collect();
        pipe.give(10).run_ms(1_170).give(3).run_ms(60);
        assert_eq!(pipe.window(), window);
    }
}

/// `tcp_cwnd_restart`: after a rest of one and a half timeouts a half of the window is left, of two
/// and a half a quarter, and never less than the initial window; ssthresh is at least three
/// quarters of it. RFC 5681 has the initial window at once.
#[test]
fn a_rest_halves_the_window_once_for_each_timeout_that_it_lasts() {
    let after = |timeouts: u64, rests_by_halves: bool| {
        let timeout = json!({"floor": "400 ms", "granularity": "1 ms"});
        let connection = json!({"initial_window": 4, "timeout": timeout, "rests_by_halves": rests_by_halves});
        let mut pipe = Pipe::new(json!({"kind": "reno", "first_threshold": 20}), connection);
        pipe.give(400).run_ms(3_000);
        let (before, last) = (pipe.window(), pipe.sent[399].0);
        pipe.run(last + Time::from_ms(400 * timeouts + 200)).give(1);
        let (window, threshold) = (pipe.window(), pipe.value("threshold_packets"));
        assert_eq!(
            threshold,
            if timeouts > 0 && rests_by_halves { (before / 2.0).floor() + (before / 4.0).floor() } else { 20.0 }
        );
        (before / window).round()
    };
    assert_eq!([0, 1, 2].map(|timeouts| after(timeouts, true)), [1.0, 2.0, 4.0]);
    assert_eq!([after(9, true), after(1, false)], [8.0; 2], "from 33 to the initial 4");
}

/// `tcp_process_loss`: a window of 40 stalls for 440 ms, and the timer expires. The time stamp of
/// the first packet that arrives tells, or without one the second packet: two new ones were sent
/// before. The window is 40 again, and only the first packet was sent twice.
#[test]
fn a_timeout_that_was_only_a_delay_is_undone() {
    let after = |undoes: bool, timestamps: bool| {
        let timeout = json!({"floor": "200 ms"});
        let connection = json!({"recovery": "rack", "reduces_once": true, "undoes": undoes, "timestamps": timestamps,
            "timeout": timeout});
        let mut pipe = reno(40, connection);
        pipe.give(1).run_ms(1_000);
        pipe.delays.insert(1, Time::from_ms(440));
        pipe.give(60).run_ms(560);
        (pipe.window().floor(), pipe.value("threshold_packets"), pipe.again().len())
    };
    for timestamps in [true, false] {
        assert_eq!(after(true, timestamps), (40.0, 30.0, 1));
        let (window, threshold, again) = after(false, timestamps);
        assert!(window < 30.0 && threshold == 20.0 && again > 10, "{window} {threshold} {again}");
    }
}

/// `tcp_try_undo_partial` and `tcp_try_undo_dsack`: a packet arrives 60 ms late, before its second
/// copy, and its time stamp tells; or 170 ms late, and is reported as a duplicate.
#[test]
fn a_recovery_of_a_packet_that_was_only_late_is_undone() {
    let after = |undoes: bool, late_ms: u64| {
        let mut pipe = reno(40, json!({"recovery": "rack", "reduces_once": true, "undoes": undoes}));
        pipe.late.insert(5, Time::from_ms(late_ms));
        pipe.give(400).run_ms(290);
        assert_eq!(pipe.again().len(), 1);
        (pipe.window() >= 40.0, pipe.value("threshold_packets").floor())
    };
    assert_eq!([60, 170].map(|late_ms| after(true, late_ms)), [(true, 30.0); 2]);
    assert_eq!([60, 170].map(|late_ms| after(false, late_ms)), [(false, 20.0); 2]);
}

/// `tcp_fastretrans_alert` in CA_Loss: a window of 20 is lost, and the timer halves ssthresh. Of
/// what is sent then, a packet that was sent again and is lost begins a recovery of four packets; a
/// new packet does not.
#[test]
fn after_a_timeout_a_lost_retransmission_begins_a_recovery_and_a_lost_new_packet_does_not() {
    let threshold = |lost: u64, copies: u32| {
        let connection = json!({"recovery": "rack", "reduces_once": true, "undoes": true});
        let mut pipe = reno(20, connection);
        pipe.give(1).run_ms(1_000);
        pipe.losses = (1..22).map(|n| (n, 1)).collect();
        pipe.losses.insert(lost, copies);
        pipe.give(60).run_ms(1_700);
        (pipe.value("threshold_packets"), pipe.ends.sender.phase())
    };
    assert_eq!(threshold(22, 1).0, 10.0);
    assert_eq!(threshold(2, 2).0, 2.0);
}

/// `tcp_enter_loss` and `tcp_init_transfer`: a lost opening packet halves ssthresh of the first
/// window, which is then sent; after two it is one packet.
#[test]
fn a_lost_opening_packet_takes_from_ssthresh_and_two_from_the_window() {
    let begins = |lost: u32, counts_lost_opening: bool| {
        let connection = json!({"handshake": true, "counts_lost_opening": counts_lost_opening});
        let mut pipe = Pipe::new(json!({"kind": "reno"}), connection);
        pipe.losses.insert(0, lost);
        pipe.give(100).run_ms([0, 1_000, 3_000][lost as usize] + 150);
        (pipe.window(), pipe.value("threshold_packets"))
    };
    assert_eq!([0, 1, 2].map(|lost| begins(lost, true)), [(10.0, f64::INFINITY), (10.0, 5.0), (1.0, 5.0)]);
    assert_eq!(begins(1, false), (1.0, f64::INFINITY));
}

/// `tcp_ecn_clear_syn`: the second copy of the opening packet asks for no ECN.
#[test]
fn a_connection_whose_opening_packet_was_lost_does_without_ecn() {
    for (lost, ecn_fallback) in [(0, true), (1, false), (1, true)] {
        let mut pipe = with_ecn(json!({"handshake": true, "ecn_fallback": ecn_fallback}));
        pipe.losses.insert(0, lost);
        pipe.give(41).run_ms(1_000 * u64::from(lost) + 250);
        assert_eq!(pipe.ends.sender.accepts().new == Marks::NONE, lost > 0 && ecn_fallback);
    }
}

/// `tcp_schedule_loss_probe`: two round trips and 200 ms for a lone packet, and 2 ms for several.
#[test]
fn a_probe_waits_for_the_least_timeout_where_one_packet_is_out() {
    let waits = |probes_by_floor: bool, packets: u64| {
        let timeout = json!({"floor": "200 ms", "granularity": "800 ms"});
        let connection = json!({"recovery": "rack", "timeout": timeout, "probes_by_floor": probes_by_floor});
        let mut pipe = reno(20, connection);
        pipe.give(1).run_ms(1_000);
        pipe.losses = (1..=packets).map(|n| (n, 1)).collect();
        pipe.give(packets).run_ms(800);
        let (again, ..) = *pipe.sent.iter().find(|sent| sent.2).expect("a probe");
        ((again - Time::from_s(1)).as_s() * 1e3).round()
    };
    assert_eq!([waits(false, 1), waits(true, 1)], [200.0, 400.0]);
    assert_eq!(waits(true, 2) - waits(false, 2), 2.0);
}
