//! Rules of Linux's TCP that the profile `linux` adds to the RFCs'. Each test names the kernel's
//! function, and runs a sender over a pipe that loses and marks given packets.

mod pipe;

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
