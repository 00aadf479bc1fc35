//! Each transport alone in a named scene: a pipe with a round trip of a second that loses and marks
//! given packets. One line for each instant with an event: the window, the threshold and the
//! timeout after it, and the packets that are sent, retransmissions with a star.

use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use fairq_sim::transport::receiver::Arrival;
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::supply::Supply;
use fairq_sim::transport::tcp::Setup;
use fairq_sim::transport::tcp::settings::Terms;
use fairq_sim::transport::{Acknowledgement, Sender};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

/// The behaviour of the pipe.
#[derive(Default)]
struct Scene {
    /// By packet: how many copies of it are lost.
    lost: BTreeMap<u64, u32>,
    /// The packets that are marked.
    marked: std::ops::Range<u64>,
    /// The number of packets, and the end of the scene.
    packets: u64,
    seconds: u64,
}

const TRIP: Time = Time::from_s(1);

fn play(transport: &str, scene: Scene) -> String {
    play_over(transport, "{}", scene)
}

fn play_over(transport: &str, connection: &str, mut scene: Scene) -> String {
    let settings: Arc<TransportSettings> = Arc::new(serde_json::from_str(transport).expect("a transport"));
    let connection = serde_json::from_str(connection).expect("a connection");
    let connection = Arc::new(Terms::new(connection, Arc::clone(&settings)));
    let supply = Supply::Ready { length: 1000, left: scene.packets };
    let ends = settings.build(Setup { supply, connection, seed: 1 });
    let (mut sender, mut receiver) = (ends.sender, ends.receiver);
    let mut answers: VecDeque<(Time, Acknowledgement)> = VecDeque::new();
    // Instants, the state at the end of each, and the packets sent at it.
    let mut rounds: Vec<(Time, String, Vec<String>)> = Vec::new();
    let mut now = Time::ZERO;
    while now <= Time::from_s(scene.seconds) {
        let mut sent = Vec::new();
        while let Some(packet) = sender.poll(now) {
            sent.push(format!("{}{}", packet.sequence, if packet.is_retransmission { "*" } else { "" }));
            if let Some(copies) = scene.lost.get_mut(&packet.sequence).filter(|copies| **copies > 0) {
                *copies -= 1;
                continue;
            }
            let is_marked = scene.marked.contains(&packet.sequence);
            let marks = if is_marked { Marks::DEC.with(Marks::CE).within(sender.accepts().new) } else { Marks::NONE };
            let arrival = Arrival { marks, flags: packet.flags, ..Arrival::of(packet.sequence, packet.length, now) };
            answers.extend(receiver.receive(now, &arrival).1.map(|answer| (now + TRIP, answer)));
        }
        match rounds.last_mut() {
            Some((time, after, all)) if *time == now => {
                *after = state(&*sender);
                all.extend(sent);
            }
            _ => rounds.push((now, state(&*sender), sent)),
        }
        // Acknowledgements come before timers.
        match answers.front() {
            Some((time, answer)) if *time <= sender.deadline() => {
                now = *time;
                sender.acknowledge(now, answer);
                answers.pop_front();
            }
            _ if sender.deadline() < Time::NEVER => {
                now = sender.deadline();
                sender.wake(now);
            }
            _ => break,
        }
    }
    let mut story = String::new();
    for (time, after, sent) in rounds {
        writeln!(story, "{:>3} s {after} | {}", time.as_s(), sent.join(" ")).expect("text");
    }
    story
}

fn state(sender: &dyn Sender) -> String {
    let mut values = BTreeMap::new();
    sender.inspect(&mut |name, value| {
        values.insert(name.to_string(), value);
    });
    let show = |name: &str| values.get(name).filter(|v| v.is_finite()).map_or("-".to_string(), |v| format!("{v:.2}"));
    let [window, threshold, timeout] = ["window_packets", "threshold_packets", "timeout_s"].map(show);
    format!("w {window} ssthresh {threshold} timeout {timeout}")
}

fn check(name: &str, found: &str, expected: &str) {
    let lines =
        |text: &str| text.lines().map(|line| line.trim().to_string()).filter(|l| !l.is_empty()).collect::<Vec<_>>();
    assert!(lines(found) == lines(expected), "{name}:\n{found}END");
}

#[test]
fn jk_opens_its_window_a_packet_an_acknowledgement() {
    let scene = Scene { packets: 40, seconds: 6, ..Scene::default() };
    check(
        "slow start",
        &play(r#"{"kind": "jk", "window_max": 8}"#, scene),
        "
          0 s w 1.00 ssthresh - timeout 3.00 | 0
          1 s w 2.00 ssthresh - timeout 3.00 | 1 2
          2 s w 4.00 ssthresh - timeout 2.12 | 3 4 5 6
          3 s w 8.00 ssthresh - timeout 2.00 | 7 8 9 10 11 12 13 14
          4 s w 8.00 ssthresh - timeout 2.00 | 15 16 17 18 19 20 21 22
          5 s w 8.00 ssthresh - timeout 2.00 | 23 24 25 26 27 28 29 30
          6 s w 8.00 ssthresh - timeout 2.00 | 31 32 33 34 35 36 37 38
        ",
    );
}

#[test]
fn jk_sends_one_packet_again_for_a_window_of_data() {
    // Two packets of one window are lost: the first is sent again on the third duplicate, the
    // second not before what was sent by then is acknowledged.
    let scene = Scene { lost: BTreeMap::from([(8, 1), (10, 1)]), packets: 40, seconds: 12, ..Scene::default() };
    check(
        "fast retransmit",
        &play(r#"{"kind": "jk", "window_max": 8}"#, scene),
        "
          0 s w 1.00 ssthresh - timeout 3.00 | 0
          1 s w 2.00 ssthresh - timeout 3.00 | 1 2
          2 s w 4.00 ssthresh - timeout 2.12 | 3 4 5 6
          3 s w 8.00 ssthresh - timeout 2.00 | 7 8 9 10 11 12 13 14
          4 s w 1.00 ssthresh 4.00 timeout 2.00 | 15 8*
          5 s w 2.00 ssthresh 4.00 timeout 2.00 |
          7 s w 1.00 ssthresh 2.00 timeout 4.00 | 10*
          8 s w 2.00 ssthresh 2.00 timeout 4.00 | 16 17
          9 s w 2.90 ssthresh 2.00 timeout 2.00 | 18 19
         10 s w 3.55 ssthresh 2.00 timeout 2.00 | 20 21 22
         11 s w 4.34 ssthresh 2.00 timeout 2.00 | 23 24 25 26
         12 s w 5.20 ssthresh 2.00 timeout 2.00 | 27 28 29 30 31
        ",
    );
}

#[test]
fn jk_backs_off_and_takes_no_sample_of_what_was_sent_twice() {
    let scene = Scene { lost: BTreeMap::from([(3, 3)]), packets: 10, seconds: 60, ..Scene::default() };
    check(
        "backoff",
        &play(r#"{"kind": "jk"}"#, scene),
        "
          0 s w 1.00 ssthresh - timeout 3.00 | 0
          1 s w 2.00 ssthresh - timeout 3.00 | 1 2
          2 s w 4.00 ssthresh - timeout 2.12 | 3 4 5 6
          3 s w 1.00 ssthresh 2.00 timeout 2.00 | 3*
          5 s w 1.00 ssthresh 2.00 timeout 4.00 | 3*
          9 s w 1.00 ssthresh 2.00 timeout 8.00 | 3*
         10 s w 2.00 ssthresh 2.00 timeout 8.00 | 7 8
         11 s w 2.90 ssthresh 2.00 timeout 2.00 | 9
         12 s w 3.24 ssthresh 2.00 timeout 2.00 |
        ",
    );
}

#[test]
fn decbit_decides_every_two_windows() {
    let scene = Scene { marked: 9..30, packets: 60, seconds: 16, ..Scene::default() };
    check(
        "decbit",
        &play(r#"{"kind": "decbit"}"#, scene),
        "
          0 s w 1.00 ssthresh - timeout 3.00 | 0
          1 s w 1.00 ssthresh - timeout 3.00 | 1
          2 s w 2.00 ssthresh - timeout 2.50 | 2 3
          3 s w 2.00 ssthresh - timeout 2.00 | 4 5
          4 s w 3.00 ssthresh - timeout 2.00 | 6 7 8
          5 s w 3.00 ssthresh - timeout 2.00 | 9 10 11
          6 s w 4.00 ssthresh - timeout 2.00 | 12 13 14 15
          7 s w 4.00 ssthresh - timeout 2.00 | 16 17 18 19
          8 s w 3.50 ssthresh - timeout 2.00 | 20 21 22 23
          9 s w 3.50 ssthresh - timeout 2.00 | 24 25 26 27
         10 s w 3.06 ssthresh - timeout 2.00 | 28 29 30
         11 s w 3.06 ssthresh - timeout 2.00 | 31 32 33
         12 s w 4.06 ssthresh - timeout 2.00 | 34 35 36 37
         13 s w 4.06 ssthresh - timeout 2.00 | 38 39 40 41
         14 s w 5.00 ssthresh - timeout 2.00 | 42 43 44 45 46
         15 s w 5.00 ssthresh - timeout 2.00 | 47 48 49 50 51
         16 s w 5.00 ssthresh - timeout 2.00 | 52 53 54 55 56
        ",
    );
}

#[test]
fn generic_sends_again_what_its_own_timer_tells_it_to() {
    let scene = Scene { lost: BTreeMap::from([(6, 1)]), packets: 20, seconds: 12, ..Scene::default() };
    check(
        "generic",
        &play(r#"{"kind": "generic"}"#, scene),
        "
          0 s w 5.00 ssthresh - timeout - | 0 1 2 3 4
          1 s w 5.00 ssthresh - timeout - | 5 6 7 8 9
          2 s w 5.00 ssthresh - timeout - | 10
          3 s w 5.00 ssthresh - timeout - | 6* 7* 8* 9*
          4 s w 5.00 ssthresh - timeout - | 11 12 13 14 15
          5 s w 5.00 ssthresh - timeout - | 16 17 18 19
          6 s w 5.00 ssthresh - timeout - |
        ",
    );
}

#[test]
fn a_fixed_window_goes_back() {
    let scene = Scene { lost: BTreeMap::from([(4, 1)]), packets: 16, seconds: 14, ..Scene::default() };
    check(
        "fixed window",
        &play(r#"{"kind": "fixed_window", "window": 4}"#, scene),
        "
          0 s w 4.00 ssthresh - timeout 3.00 | 0 1 2 3
          1 s w 4.00 ssthresh - timeout 2.00 | 4 5 6 7
          2 s w 4.00 ssthresh - timeout 2.00 |
          3 s w 4.00 ssthresh - timeout 4.00 | 4* 5* 6* 7*
          4 s w 4.00 ssthresh - timeout 4.00 | 8 9 10 11
          5 s w 4.00 ssthresh - timeout 2.00 | 12 13 14 15
          6 s w 4.00 ssthresh - timeout 2.00 |
        ",
    );
}

/// A window of sixteen after slow start from four, packets 8 and 10 of it lost.
fn two_losses() -> Scene {
    Scene { lost: BTreeMap::from([(8, 1), (10, 1)]), packets: 60, seconds: 8, ..Scene::default() }
}

/// Reno's congestion control with each recovery, from an initial window of four.
fn reno(recovery: &str, scene: Scene) -> String {
    play_over(r#"{"kind": "reno"}"#, &format!(r#"{{"recovery": "{recovery}", "initial_window": 4}}"#), scene)
}

#[test]
fn reno_halves_for_each_loss_of_a_window() {
    // The first new acknowledgement ends recovery; the second loss is found by three further
    // duplicates, and halves again.
    check(
        "two losses, Reno",
        &reno("reno", two_losses()),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 12.00 ssthresh - timeout 1.27 | 12 13 14 15 16 17 18 19 20 21
            3 s w 6.00 ssthresh 6.00 timeout 1.27 | 8* 22 23 24 25
            4 s w 3.00 ssthresh 3.00 timeout 1.20 | 10*
            5 s w 3.00 ssthresh 3.00 timeout 1.15 | 26 27 28
            6 s w 3.91 ssthresh 3.00 timeout 1.06 | 29 30 31
            7 s w 4.63 ssthresh 3.00 timeout 1.03 | 32 33 34 35
            8 s w 5.44 ssthresh 3.00 timeout 1.01 | 36 37 38 39 40
        ",
    );
}

#[test]
fn newreno_mends_a_loss_a_round_trip_and_halves_once() {
    // On the partial acknowledgement at 4 s packet 10 is sent again at once.
    check(
        "two losses, NewReno",
        &reno("newreno", two_losses()),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 12.00 ssthresh - timeout 1.27 | 12 13 14 15 16 17 18 19 20 21
            3 s w 6.00 ssthresh 6.00 timeout 1.27 | 8* 22 23 24 25
            4 s w 6.00 ssthresh 6.00 timeout 1.20 | 10* 26 27 28 29 30
            5 s w 6.79 ssthresh 6.00 timeout 1.04 | 31 32 33 34 35 36
            6 s w 7.63 ssthresh 6.00 timeout 1.01 | 37 38 39 40 41 42 43
            7 s w 8.51 ssthresh 6.00 timeout 1.00 | 44 45 46 47 48 49 50 51
            8 s w 9.40 ssthresh 6.00 timeout 1.00 | 52 53 54 55 56 57 58 59
        ",
    );
}

#[test]
fn selective_acknowledgements_mend_two_losses_in_a_round_trip() {
    check(
        "two losses, SACK",
        &reno("sack", two_losses()),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 12.00 ssthresh - timeout 1.15 | 12 13 14 15 16 17 18 19 20 21
            3 s w 6.00 ssthresh 6.00 timeout 1.01 | 8* 10* 22 23 24 25
            4 s w 6.64 ssthresh 6.00 timeout 1.00 | 26 27 28 29 30 31
            5 s w 7.50 ssthresh 6.00 timeout 1.00 | 32 33 34 35 36 37 38
            6 s w 8.39 ssthresh 6.00 timeout 1.00 | 39 40 41 42 43 44 45 46
            7 s w 9.30 ssthresh 6.00 timeout 1.00 | 47 48 49 50 51 52 53 54 55
            8 s w 9.82 ssthresh 6.00 timeout 1.00 | 56 57 58 59
        ",
    );
}

#[test]
fn rack_waits_for_the_reordering_window_where_duplicates_are_few() {
    // Two packets arrived beyond the first loss: RACK waits a quarter of a round trip for
    // reordering.
    check(
        "two losses, RACK",
        &reno("rack", two_losses()),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 12.00 ssthresh - timeout 1.15 | 12 13 14 15 16 17 18 19 20 21
          2.25 s w 6.00 ssthresh 6.00 timeout 1.15 | 8*
            3 s w 6.00 ssthresh 6.00 timeout 1.01 | 10* 22 23 24 25
          3.25 s w 6.00 ssthresh 6.00 timeout 1.01 | 26
            4 s w 6.64 ssthresh 6.00 timeout 1.00 | 27 28 29 30 31
          4.25 s w 6.79 ssthresh 6.00 timeout 1.00 | 32
            5 s w 7.50 ssthresh 6.00 timeout 1.00 | 33 34 35 36 37 38
          5.25 s w 7.63 ssthresh 6.00 timeout 1.00 | 39
            6 s w 8.39 ssthresh 6.00 timeout 1.00 | 40 41 42 43 44 45 46
          6.25 s w 8.51 ssthresh 6.00 timeout 1.00 | 47
            7 s w 9.30 ssthresh 6.00 timeout 1.00 | 48 49 50 51 52 53 54 55
          7.25 s w 9.40 ssthresh 6.00 timeout 1.00 | 56
            8 s w 9.82 ssthresh 6.00 timeout 1.00 | 57 58 59
        ",
    );
}

/// The first half of a window of sixteen is lost.
fn burst() -> Scene {
    Scene { lost: (12..20).map(|n| (n, 1)).collect(), packets: 60, seconds: 9, ..Scene::default() }
}

#[test]
fn newreno_runs_into_the_timer_when_many_are_lost() {
    // One loss a round trip; the timer, which only the first partial acknowledgement restarted,
    // expires before the end.
    check(
        "a burst, NewReno",
        &reno("newreno", burst()),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 16.00 ssthresh - timeout 1.08 | 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27
            3 s w 8.00 ssthresh 8.00 timeout 1.08 | 28 29 12*
            4 s w 8.00 ssthresh 8.00 timeout 1.06 | 13* 30
            5 s w 8.00 ssthresh 8.00 timeout 1.05 | 14* 31 32
          5.063352704048 s w 1.00 ssthresh 4.00 timeout 2.10 | 14*
            6 s w 2.00 ssthresh 4.00 timeout 1.04 | 15* 16*
          6.063352704048 s w 2.00 ssthresh 4.00 timeout 1.04 | 
            7 s w 4.00 ssthresh 4.00 timeout 1.02 | 17* 18* 19* 20*
            8 s w 5.49 ssthresh 4.00 timeout 1.01 | 21* 22* 33 34 35 36 37 38
            9 s w 6.50 ssthresh 4.00 timeout 1.00 | 39 40 41 42 43 44
        ",
    );
}

#[test]
fn selective_acknowledgements_mend_a_burst_in_two_round_trips() {
    check(
        "a burst, SACK",
        &reno("sack", burst()),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 16.00 ssthresh - timeout 1.08 | 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27
            3 s w 8.00 ssthresh 8.00 timeout 1.01 | 28 29 12* 13* 14* 15* 16* 17*
            4 s w 8.00 ssthresh 8.00 timeout 1.00 | 18* 19* 30 31 32 33 34 35
            5 s w 8.72 ssthresh 8.00 timeout 1.00 | 36 37 38 39 40 41 42 43
            6 s w 9.60 ssthresh 8.00 timeout 1.00 | 44 45 46 47 48 49 50 51 52
            7 s w 10.31 ssthresh 8.00 timeout 1.00 | 53 54 55 56 57 58 59
            8 s w 10.31 ssthresh 8.00 timeout 1.00 | 
        ",
    );
}

#[test]
fn a_probe_finds_the_loss_of_the_last_packet_before_the_timer() {
    // The last of ten is lost. The probe is sent two round trips after the last acknowledgement and
    // is the packet itself. Its acknowledgement may be that of a late original: only if more is
    // acknowledged is it known that a packet was lost (RFC 8985, section 7.4.2). There is no more.
    let connection = r#"{"recovery": "rack", "initial_window": 10, "timeout": {"floor": "5 s", "first": "5 s"}}"#;
    let scene = Scene { lost: BTreeMap::from([(19, 1)]), packets: 20, seconds: 9, ..Scene::default() };
    check(
        "tail loss",
        &play_over(r#"{"kind": "reno"}"#, connection, scene),
        "
            0 s w 10.00 ssthresh - timeout 5.00 | 0 1 2 3 4 5 6 7 8 9
            1 s w 16.00 ssthresh - timeout 5.00 | 10 11 12 13 14 15 16 17 18 19
            2 s w 16.00 ssthresh - timeout 5.00 | 
            4 s w 16.00 ssthresh - timeout 5.00 | 19*
            5 s w 16.00 ssthresh - timeout 5.00 | 
        ",
    );
}

#[test]
fn without_limited_transmit_the_first_two_duplicates_let_nothing_go() {
    let play = |limited: bool| {
        let connection = format!(r#"{{"recovery": "newreno", "initial_window": 4, "limited_transmit": {limited}}}"#);
        let scene = Scene { lost: BTreeMap::from([(1, 1)]), packets: 20, seconds: 2, ..Scene::default() };
        play_over(r#"{"kind": "reno"}"#, &connection, scene)
    };
    // Packet 0 opens the window to five. Its acknowledgement is followed by two duplicates, for 2
    // and 3.
    check(
        "limited transmit",
        &play(true),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 5.00 ssthresh - timeout 3.00 | 4 5 6 7
            2 s w 2.50 ssthresh 2.50 timeout 3.00 | 1* 8
        ",
    );
    check(
        "no limited transmit",
        &play(false),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 5.00 ssthresh - timeout 3.00 | 4 5
            2 s w 2.50 ssthresh 2.50 timeout 3.00 | 1* 6
        ",
    );
}

#[test]
fn after_a_timeout_a_duplicate_lets_a_packet_go_again_only_if_it_is_told_to() {
    let play = |told: bool| {
        let connection = format!(
            r#"{{"initial_window": 8, "duplicates": 9, "timeout": {{"first": "3 s"}}, "transmits_after_timeout": {told}}}"#
        );
        let scene = Scene { lost: BTreeMap::from([(0, 1), (4, 2)]), packets: 8, seconds: 5, ..Scene::default() };
        play_over(r#"{"kind": "reno"}"#, &connection, scene)
    };
    // Packet 0 causes 1, 2, 3 to be sent; 4 is lost again, and 5 causes a duplicate.
    check(
        "duplicates after a timeout",
        &play(false),
        "
            0 s w 8.00 ssthresh - timeout 3.00 | 0 1 2 3 4 5 6 7
            1 s w 8.00 ssthresh - timeout 3.00 | 
            3 s w 1.00 ssthresh 4.00 timeout 6.00 | 0*
            4 s w 2.00 ssthresh 4.00 timeout 3.00 | 4* 5*
            5 s w 2.00 ssthresh 4.00 timeout 3.00 | 
        ",
    );
    check(
        "duplicates after a timeout that let packets go",
        &play(true),
        "
            0 s w 8.00 ssthresh - timeout 3.00 | 0 1 2 3 4 5 6 7
            1 s w 8.00 ssthresh - timeout 3.00 | 
            3 s w 1.00 ssthresh 4.00 timeout 6.00 | 0*
            4 s w 2.00 ssthresh 4.00 timeout 3.00 | 4* 5*
            5 s w 2.00 ssthresh 4.00 timeout 3.00 | 6*
        ",
    );
}

#[test]
fn one_packet_at_a_time_is_timed() {
    let play = |timed: &str| {
        let connection = format!(r#"{{"initial_window": 4, "timestamps": false, "timed": "{timed}"}}"#);
        let scene = Scene { lost: BTreeMap::from([(5, 1)]), packets: 40, seconds: 4, ..Scene::default() };
        play_over(r#"{"kind": "newreno"}"#, &connection, scene)
    };
    check(
        "each packet is timed",
        &play("each"),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 4.50 ssthresh 4.50 timeout 1.63 | 12 13 14 15 5*
            3 s w 4.50 ssthresh 4.50 timeout 1.63 | 16 17 18 19
            4 s w 5.33 ssthresh 4.50 timeout 1.20 | 20 21 22 23 24
        ",
    );
    check(
        "one packet at a time is timed",
        &play("one"),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 3.00 | 4 5 6 7 8 9 10 11
            2 s w 4.50 ssthresh 4.50 timeout 2.50 | 12 13 14 15 5*
            3 s w 4.50 ssthresh 4.50 timeout 2.50 | 16 17 18 19
            4 s w 5.33 ssthresh 4.50 timeout 2.12 | 20 21 22 23 24
        ",
    );
}

/// Packets 5 and 9 are lost. Packets that arrived meanwhile give samples, or none where only the
/// oldest that is acknowledged in order is timed: then the timeout stays until packet 12, sent in
/// recovery, is acknowledged.
#[test]
fn what_comes_while_a_packet_is_missing_may_be_timed_or_not() {
    let play = |timed: &str| {
        let connection =
            format!(r#"{{"initial_window": 4, "timestamps": false, "recovery": "sack", "timed": "{timed}"}}"#);
        let scene = Scene { lost: BTreeMap::from([(5, 1), (9, 1)]), packets: 40, seconds: 4, ..Scene::default() };
        play_over(r#"{"kind": "newreno"}"#, &connection, scene)
    };
    check(
        "each packet is timed",
        &play("each"),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 4.50 ssthresh 4.50 timeout 1.15 | 12 13 14 15 5* 16
            3 s w 4.50 ssthresh 4.50 timeout 1.04 | 9* 17 18 19
            4 s w 5.14 ssthresh 4.50 timeout 1.02 | 20 21 22 23 24
        ",
    );
    check(
        "the oldest is timed",
        &play("oldest"),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 4.50 ssthresh 4.50 timeout 1.63 | 12 13 14 15 5* 16
            3 s w 4.50 ssthresh 4.50 timeout 1.63 | 9* 17 18 19
            4 s w 5.14 ssthresh 4.50 timeout 1.27 | 20 21 22 23 24
        ",
    );
}

/// Packet 1 is lost three times; retransmissions give no sample.
#[test]
fn a_backoff_ends_with_a_sample_or_with_an_acknowledgement() {
    let play = |ends: &str| {
        let connection = format!(
            r#"{{"initial_window": 2, "timestamps": false, "recovery": "sack", "timeout": {{"backoff_ends": "{ends}"}}}}"#
        );
        let scene = Scene { lost: BTreeMap::from([(0, 1), (1, 3)]), packets: 9, seconds: 16, ..Scene::default() };
        play_over(r#"{"kind": "reno"}"#, &connection, scene)
    };
    check(
        "by a sample",
        &play("sample"),
        "
            0 s w 2.00 ssthresh - timeout 1.00 | 0 1
            1 s w 1.00 ssthresh 2.00 timeout 2.00 | 0*
            2 s w 2.00 ssthresh 2.00 timeout 2.00 | 1* 2
            3 s w 2.00 ssthresh 2.00 timeout 3.00 | 3
            4 s w 1.00 ssthresh 2.00 timeout 5.00 | 4 1*
            5 s w 1.00 ssthresh 2.00 timeout 2.12 | 1*
            6 s w 2.00 ssthresh 2.00 timeout 2.12 | 5 6
            7 s w 2.90 ssthresh 2.00 timeout 1.63 | 7 8
            8 s w 3.24 ssthresh 2.00 timeout 1.36 |
        ",
    );
    check(
        "by an acknowledgement",
        &play("acknowledgement"),
        "
            0 s w 2.00 ssthresh - timeout 1.00 | 0 1
            1 s w 1.00 ssthresh 2.00 timeout 2.00 | 0*
            2 s w 2.00 ssthresh 2.00 timeout 1.00 | 1* 2
            3 s w 1.00 ssthresh 2.00 timeout 6.00 | 3 1*
            4 s w 1.00 ssthresh 2.00 timeout 2.50 |
            9 s w 1.00 ssthresh 2.00 timeout 5.00 | 1*
            10 s w 2.00 ssthresh 2.00 timeout 2.50 | 4 5
            11 s w 2.90 ssthresh 2.00 timeout 1.84 | 6 7
            12 s w 3.24 ssthresh 2.00 timeout 1.47 | 8
            13 s w 3.24 ssthresh 2.00 timeout 1.36 |
        ",
    );
}

/// Packet 0 is lost twice, 1 once. A retransmission that arrived before 0 frees room in the window,
/// or does not.
#[test]
fn a_packet_sent_again_may_be_held_in_flight_until_it_is_acknowledged_in_order() {
    let play = |holds: bool| {
        let connection = format!(r#"{{"initial_window": 8, "recovery": "sack", "holds_resent": {holds}}}"#);
        let scene = Scene { lost: BTreeMap::from([(0, 2), (1, 1)]), packets: 40, seconds: 5, ..Scene::default() };
        play_over(r#"{"kind": "reno"}"#, &connection, scene)
    };
    check(
        "it is not held",
        &play(false),
        "
            0 s w 8.00 ssthresh - timeout 1.00 | 0 1 2 3 4 5 6 7
            1 s w 4.00 ssthresh 4.00 timeout 1.47 | 8 9 0* 1*
            2 s w 4.00 ssthresh 4.00 timeout 1.20 | 10 11 12
            3 s w 4.00 ssthresh 4.00 timeout 1.08 | 13 14 15
            3.125 s w 1.00 ssthresh 2.00 timeout 2.17 | 0*
            4 s w 1.00 ssthresh 2.00 timeout 1.04 |
            4.125 s w 2.00 ssthresh 2.00 timeout 1.03 | 16 17
        ",
    );
    check(
        "it is held",
        &play(true),
        "
            0 s w 8.00 ssthresh - timeout 1.00 | 0 1 2 3 4 5 6 7
            1 s w 4.00 ssthresh 4.00 timeout 1.47 | 8 9 0* 1*
            2 s w 4.00 ssthresh 4.00 timeout 1.20 | 10 11
            3 s w 4.00 ssthresh 4.00 timeout 1.11 | 12 13
            3.125 s w 1.00 ssthresh 2.00 timeout 2.23 | 0*
            4 s w 1.00 ssthresh 2.00 timeout 1.06 |
            4.125 s w 2.00 ssthresh 2.00 timeout 1.05 | 14 15
        ",
    );
}

/// The packet that opens the connection is lost once: its second copy gives no sample (Karn), or
/// one of 4 s, three of which are the timer's: 4 + 4 · 2.
#[test]
fn a_lost_opening_may_be_timed_from_its_first_copy() {
    let timeout_after = |times: bool| {
        let connection = format!(
            r#"{{"handshake": true, "timestamps": false, "timed": "oldest", "times_lost_opening": {times}, "timeout": {{"first": "3 s"}}}}"#
        );
        let scene = Scene { lost: BTreeMap::from([(0, 1)]), packets: 3, seconds: 6, ..Scene::default() };
        let told = play_over(r#"{"kind": "reno"}"#, &connection, scene);
        let line = told.lines().find(|line| line.trim_start().starts_with("4 s")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{told}"))
    };
    assert!(timeout_after(false).contains("timeout 6.00"), "{}", timeout_after(false));
    assert!(timeout_after(true).contains("timeout 12.00"), "{}", timeout_after(true));
}

/// The same loss leaves a window of one packet (RFC 5681, section 3.1), or the initial one of 4.
#[test]
fn a_lost_opening_may_be_forgiven() {
    let sent_after = |forgives: bool| {
        let connection = format!(
            r#"{{"handshake": true, "initial_window": 4, "forgives_lost_opening": {forgives}, "timeout": {{"first": "3 s"}}}}"#
        );
        let scene = Scene { lost: BTreeMap::from([(0, 1)]), packets: 9, seconds: 5, ..Scene::default() };
        let told = play_over(r#"{"kind": "reno"}"#, &connection, scene);
        let line = told.lines().find(|line| line.trim_start().starts_with("4 s")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{told}"))
    };
    assert!(sent_after(false).ends_with("| 1"), "{}", sent_after(false));
    assert!(sent_after(true).ends_with("| 1 2 3 4"), "{}", sent_after(true));
}

/// All is lost, and packet 1 once more after the timeout. Three packets that overtake its second
/// copy reveal that loss, or the next timeout does.
#[test]
fn a_packet_sent_again_after_a_timeout_may_wait_for_the_next() {
    let play = |once: bool| {
        let connection = format!(
            r#"{{"recovery": "sack", "initial_window": 8, "resends_once": {once}, "timeout": {{"first": "4 s", "floor": "4 s"}}}}"#
        );
        let lost = (0..8).map(|sequence| (sequence, if sequence == 1 { 2 } else { 1 })).collect();
        play_over(r#"{"kind": "reno"}"#, &connection, Scene { lost, packets: 40, seconds: 12, ..Scene::default() })
    };
    check(
        "it is found lost",
        &play(false),
        "
            0 s w 8.00 ssthresh - timeout 4.00 | 0 1 2 3 4 5 6 7
            4 s w 1.00 ssthresh 4.00 timeout 8.00 | 0*
            5 s w 2.00 ssthresh 4.00 timeout 4.00 | 1* 2*
            6 s w 2.00 ssthresh 4.00 timeout 4.00 | 3*
            7 s w 2.00 ssthresh 4.00 timeout 4.00 | 4*
            8 s w 2.00 ssthresh 4.00 timeout 4.00 | 1* 5*
            9 s w 4.00 ssthresh 4.00 timeout 4.00 | 6* 7* 8 9
            10 s w 4.92 ssthresh 4.00 timeout 4.00 | 10 11 12 13
            11 s w 5.69 ssthresh 4.00 timeout 4.00 | 14 15 16 17 18
            12 s w 6.52 ssthresh 4.00 timeout 4.00 | 19 20 21 22 23 24
        ",
    );
    check(
        "it waits",
        &play(true),
        "
            0 s w 8.00 ssthresh - timeout 4.00 | 0 1 2 3 4 5 6 7
            4 s w 1.00 ssthresh 4.00 timeout 8.00 | 0*
            5 s w 2.00 ssthresh 4.00 timeout 4.00 | 1* 2*
            6 s w 2.00 ssthresh 4.00 timeout 4.00 | 3*
            7 s w 2.00 ssthresh 4.00 timeout 4.00 | 4*
            8 s w 2.00 ssthresh 4.00 timeout 4.00 | 5*
            9 s w 1.00 ssthresh 2.00 timeout 8.00 | 6* 1*
            10 s w 2.00 ssthresh 2.00 timeout 4.00 | 7* 8
            11 s w 2.90 ssthresh 2.00 timeout 4.00 | 9 10
            12 s w 3.55 ssthresh 2.00 timeout 4.00 | 11 12 13
        ",
    );
}

/// Packets 2 and 5 are lost too, which is not known, and fill the window: the acknowledgement of 0
/// and 1 allows a packet, or does not.
#[test]
fn a_partial_acknowledgement_may_let_a_packet_go() {
    let play = |lets_go: bool| {
        let connection = format!(
            r#"{{"recovery": "sack", "rate_reduction": "none", "initial_window": 4, "reduces": "pipe", "partial_lets_go": {lets_go}, "timeout": {{"first": "4 s", "floor": "4 s"}}}}"#
        );
        let lost = BTreeMap::from([(0, 1), (2, 1), (5, 1)]);
        play_over(r#"{"kind": "reno"}"#, &connection, Scene { lost, packets: 40, seconds: 4, ..Scene::default() })
    };
    check(
        "it does not",
        &play(false),
        "
            0 s w 4.00 ssthresh - timeout 4.00 | 0 1 2 3
            1 s w 4.00 ssthresh - timeout 4.00 | 4 5
            2 s w 2.00 ssthresh 2.00 timeout 4.00 | 0*
            3 s w 2.00 ssthresh 2.00 timeout 4.00 |
        ",
    );
    check(
        "it does",
        &play(true),
        "
            0 s w 4.00 ssthresh - timeout 4.00 | 0 1 2 3
            1 s w 4.00 ssthresh - timeout 4.00 | 4 5
            2 s w 2.00 ssthresh 2.00 timeout 4.00 | 0*
            3 s w 2.00 ssthresh 2.00 timeout 4.00 | 6
            4 s w 2.00 ssthresh 2.00 timeout 4.00 | 2*
        ",
    );
}

#[test]
fn a_loss_takes_half_of_the_flight_or_of_the_pipe() {
    let play = |reduces: &str| {
        let connection = format!(
            r#"{{"recovery": "sack", "rate_reduction": "none", "initial_window": 12, "reduces": "{reduces}"}}"#
        );
        let scene = Scene { lost: BTreeMap::from([(0, 1)]), packets: 30, seconds: 1, ..Scene::default() };
        play_over(r#"{"kind": "reno"}"#, &connection, scene)
    };
    // The third duplicate shows that packet 0 is lost and that three have arrived: 8 of 12 are in
    // flight, and the two that the first duplicates allowed.
    check(
        "half of the flight",
        &play("flight"),
        "
            0 s w 12.00 ssthresh - timeout 1.00 | 0 1 2 3 4 5 6 7 8 9 10 11
            1 s w 6.00 ssthresh 6.00 timeout 1.11 | 12 13 0* 14 15 16
        ",
    );
    check(
        "half of the pipe",
        &play("pipe"),
        "
            0 s w 12.00 ssthresh - timeout 1.00 | 0 1 2 3 4 5 6 7 8 9 10 11
            1 s w 5.00 ssthresh 5.00 timeout 1.11 | 12 13 0* 14 15
        ",
    );
}

#[test]
fn an_impatient_recovery_by_selective_acknowledgements_may_end_at_the_timer() {
    // The timer of 1.27 s runs since 2 s; the retransmission at 3 s is acknowledged at 4 s.
    let connection = r#"{"recovery": "sack", "initial_window": 4, "impatient": true}"#;
    let scene = Scene { seconds: 5, ..two_losses() };
    check(
        "two losses, impatient",
        &play_over(r#"{"kind": "reno"}"#, connection, scene),
        "
            0 s w 4.00 ssthresh - timeout 1.00 | 0 1 2 3
            1 s w 8.00 ssthresh - timeout 1.84 | 4 5 6 7 8 9 10 11
            2 s w 12.00 ssthresh - timeout 1.15 | 12 13 14 15 16 17 18 19 20 21
            3 s w 6.00 ssthresh 6.00 timeout 1.01 | 8* 10* 22 23 24 25
            3.266967773438 s w 1.00 ssthresh 3.00 timeout 2.02 | 8*
            4 s w 4.16 ssthresh 3.00 timeout 1.00 | 10* 22* 23* 24* 25* 26 27 28 29
            4.266967773438 s w 4.16 ssthresh 3.00 timeout 1.00 |
            5 s w 5.05 ssthresh 3.00 timeout 1.00 | 30 31 32 33 34
        ",
    );
}

/// For the timer, a packet that duplicates caused to be sent again is lost for the first time, and
/// the window is halved; the second timeout of a packet does not halve it (RFC 5681, section 3.1).
#[test]
fn the_second_timeout_of_a_packet_takes_its_part_only_if_told() {
    let play = |always: bool| {
        let connection =
            format!(r#"{{"recovery": "sack", "initial_window": 16, "timeout": {{"always_reduces": {always}}}}}"#);
        let scene = Scene { lost: BTreeMap::from([(0, 3)]), packets: 60, seconds: 6, ..Scene::default() };
        play_over(r#"{"kind": "reno"}"#, &connection, scene)
    };
    let story = |last: &str| {
        format!(
            "
            0 s w 16.00 ssthresh - timeout 1.00 | 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
            1 s w 8.00 ssthresh 8.00 timeout 1.04 | 16 17 0* 18 19 20 21 22
            2 s w 8.00 ssthresh 8.00 timeout 1.00 | 23 24 25 26 27 28 29
            3 s w 8.00 ssthresh 8.00 timeout 1.00 | 30 31 32 33 34 35 36
            3.125 s w 1.00 ssthresh 4.00 timeout 2.00 | 0*
            4 s w 1.00 ssthresh 4.00 timeout 1.00 |
            5.127 s w 1.00 ssthresh {last} timeout 2.00 | 0*
        "
        )
    };
    check("once", &play(false), &story("4.00"));
    check("always", &play(true), &story("2.00"));
}

#[test]
fn the_acknowledgement_that_ends_a_timeout_may_let_nothing_grow() {
    let play = |grows: &str| {
        let connection = format!(r#"{{"recovery": "sack", "initial_window": 2, "grows": "{grows}"}}"#);
        let scene = Scene { lost: BTreeMap::from([(0, 1), (1, 1)]), packets: 9, seconds: 5, ..Scene::default() };
        play_over(r#"{"kind": "reno"}"#, &connection, scene)
    };
    // The acknowledgement of packet 1, at 3 s, ends it.
    check(
        "growth by each acknowledgement",
        &play("acknowledgements"),
        "
            0 s w 2.00 ssthresh - timeout 1.00 | 0 1
            1 s w 1.00 ssthresh 2.00 timeout 2.00 | 0*
            2 s w 2.00 ssthresh 2.00 timeout 3.00 | 1* 2
            3 s w 2.90 ssthresh 2.00 timeout 2.12 | 3 4
            4 s w 3.55 ssthresh 2.00 timeout 1.63 | 5 6 7
            5 s w 4.10 ssthresh 2.00 timeout 1.27 | 8
        ",
    );
    check(
        "growth by each acknowledgement except one",
        &play("except_timeout"),
        "
            0 s w 2.00 ssthresh - timeout 1.00 | 0 1
            1 s w 1.00 ssthresh 2.00 timeout 2.00 | 0*
            2 s w 2.00 ssthresh 2.00 timeout 3.00 | 1* 2
            3 s w 2.50 ssthresh 2.00 timeout 2.12 | 3 4
            4 s w 3.24 ssthresh 2.00 timeout 1.63 | 5 6 7
            5 s w 3.83 ssthresh 2.00 timeout 1.27 | 8
        ",
    );
}
