//! Each transport alone in a named scene: a pipe with a round trip of a second that loses and marks
//! given packets. A scene file, `transports/NAME.txt`, says the runs and what came of each: one
//! line for each instant with an event, with the window, the threshold and the timeout after it,
//! and the packets that are sent, retransmissions with a star.

use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use fairq_sim::transport::Sender;
use fairq_sim::transport::messages::{Acknowledgement, Arrival};
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::supply::Supply;
use fairq_sim::transport::tcp::Setup;
use fairq_sim::transport::tcp::settings::{Connection, Terms};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

/// The sender of a run, and the behaviour of the pipe.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    transport: TransportSettings,
    #[serde(default)]
    connection: Connection,
    /// The packets of which a copy is lost; a packet stands once for each copy.
    #[serde(default)]
    lost: Vec<u64>,
    /// The first packet that is marked, and the first after it that is not.
    #[serde(default)]
    marked: [u64; 2],
    /// The number of packets, and the end of the run.
    packets: u64,
    seconds: u64,
}

const TRIP: Time = Time::from_s(1);

/// Plays the runs of a scene file: its text with what came of them this time. A run is a paragraph:
/// its name, what is played as JSON, and the rows. Other paragraphs are comments.
fn played(text: &str) -> String {
    let mut paragraphs = Vec::new();
    for paragraph in text.trim_end().split("\n\n") {
        let Some(begin) = paragraph.find("\n{") else {
            paragraphs.push(paragraph.to_owned());
            continue;
        };
        let mut runs = serde_json::Deserializer::from_str(&paragraph[begin..]).into_iter();
        let run = runs.next().expect("a run").unwrap_or_else(|error| panic!("{error} in\n{paragraph}"));
        paragraphs.push(format!("{}\n{}", &paragraph[..begin + runs.byte_offset()], play(run).trim_end()));
    }
    paragraphs.join("\n\n") + "\n"
}

fn play(mut run: Run) -> String {
    let settings = Arc::new(run.transport);
    let connection = Arc::new(Terms::new(run.connection, Arc::clone(&settings)));
    let supply = Supply::Ready { length: 1000, left: run.packets };
    let ends = settings.build(Setup { supply, connection, seed: 1 });
    let (mut sender, mut receiver) = (ends.sender, ends.receiver);
    let mut answers: VecDeque<(Time, Acknowledgement)> = VecDeque::new();
    // Instants, the state at the end of each, and the packets sent at it.
    let mut rounds: Vec<(Time, String, Vec<String>)> = Vec::new();
    let mut now = Time::ZERO;
    while now <= Time::from_s(run.seconds) {
        let mut sent = Vec::new();
        while let Some(packet) = sender.poll(now) {
            sent.push(format!("{}{}", packet.sequence, if packet.is_retransmission { "*" } else { "" }));
            if let Some(copy) = run.lost.iter().position(|lost| *lost == packet.sequence) {
                run.lost.swap_remove(copy);
                continue;
            }
            let is_marked = (run.marked[0]..run.marked[1]).contains(&packet.sequence);
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
        let row = format!("{:>3} s {after} | {}", time.as_s(), sent.join(" "));
        writeln!(story, "{}", row.trim_end()).expect("text");
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

/// The scene files, each a test of its name.
macro_rules! scenes {
    ($($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )+

        /// A file without a test would be read and believed.
        #[test]
        fn every_scene_is_played() {
            let files = std::fs::read_dir(FOLDER).expect("the scenes").map(|file| file.expect("a file"));
            let files: BTreeSet<_> = files.map(|file| file.file_name()).collect();
            assert_eq!(files, BTreeSet::from([$(concat!(stringify!($name), ".txt").into()),+]));
        }
    };
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transports");

/// `UPDATE=1 cargo test -p fairq-sim --test transports` writes the files again; read what has
/// changed.
#[expect(clippy::disallowed_methods, reason = "tests may read the environment; the core may not")]
fn check(name: &str) {
    let path = format!("{FOLDER}/{name}.txt");
    let told = std::fs::read_to_string(&path).expect("a scene file");
    let found = played(&told);
    if std::env::var("UPDATE").is_ok() {
        std::fs::write(&path, found).expect("a folder that can be written");
    } else {
        assert!(found == told, "{name} differs; now it is\n{found}END");
    }
}

scenes! {
    jk_opens_its_window_a_packet_an_acknowledgement
    jk_sends_one_packet_again_for_a_window_of_data
    jk_backs_off_and_takes_no_sample_of_what_was_sent_twice
    decbit_decides_every_two_windows
    generic_sends_again_what_its_own_timer_tells_it_to
    a_fixed_window_goes_back
    reno_halves_for_each_loss_of_a_window
    newreno_mends_a_loss_a_round_trip_and_halves_once
    selective_acknowledgements_mend_two_losses_in_a_round_trip
    rack_waits_for_the_reordering_window_where_duplicates_are_few
    newreno_runs_into_the_timer_when_many_are_lost
    selective_acknowledgements_mend_a_burst_in_two_round_trips
    a_probe_finds_the_loss_of_the_last_packet_before_the_timer
    without_limited_transmit_the_first_two_duplicates_let_nothing_go
    after_a_timeout_a_duplicate_lets_a_packet_go_again_only_if_it_is_told_to
    one_packet_at_a_time_is_timed
    what_comes_while_a_packet_is_missing_may_be_timed_or_not
    a_backoff_ends_with_a_sample_or_with_an_acknowledgement
    a_packet_sent_again_may_be_held_in_flight_until_it_is_acknowledged_in_order
    a_lost_opening_may_be_timed_from_its_first_copy
    a_lost_opening_may_be_forgiven
    a_packet_sent_again_after_a_timeout_may_wait_for_the_next
    a_partial_acknowledgement_may_let_a_packet_go
    a_loss_takes_half_of_the_flight_or_of_the_pipe
    an_impatient_recovery_by_selective_acknowledgements_may_end_at_the_timer
    the_second_timeout_of_a_packet_takes_its_part_only_if_told
    the_acknowledgement_that_ends_a_timeout_may_let_nothing_grow
}
