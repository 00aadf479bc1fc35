//! Each congestion control names its phases in the words of its source, and each phase comes where
//! the source has it.

use crate::running;
use fairq_sim::transport::registry::TRANSPORTS;
use std::collections::BTreeSet;

/// The phases of a connection alone on 20 Mbit/s with a round trip of 40 ms and a buffer of its
/// product, one a sample; `None` where it names none.
fn phases(transport: &str) -> Vec<(f64, Option<String>)> {
    let text = format!(
        r#"edition = 2
[measure]
duration = "12 s"
[defaults]
start = "0 s"
[[links]]
name = "line"
from = "a"
to = "b"
rate = "20 Mbit/s"
delay = "20 ms"
buffer = "1 BDP"
[[flows]]
name = "flow"
from = "a"
to = "b"
traffic = "ftp"
transport = "{transport}"
"#
    );
    let mut experiment = running::read(&text);
    experiment.sample_every(fairq_sched::units::Time::from_ms(10)).expect("few rows");
    let result = running::document(&experiment);
    let of_flow = result["series"].as_array().expect("rows").iter().filter(|row| row["flow"].is_string());
    of_flow.map(|row| (row["time_s"].as_f64().expect("a time"), row["phase"].as_str().map(str::to_owned))).collect()
}

/// The phases in the order in which they begin, each one once for every time that it begins.
fn sequence(transport: &str) -> Vec<String> {
    let mut all: Vec<String> = phases(transport).into_iter().filter_map(|(_, phase)| phase).collect();
    all.dedup();
    all
}

#[test]
fn every_control_names_a_phase_in_every_sample_and_what_controls_nothing_names_none() {
    let without: BTreeSet<&str> = ["fixed_rate", "generic"].into();
    for card in TRANSPORTS.iter().filter(|card| card.name != "uncontrolled") {
        let phases = phases(card.name);
        assert_eq!(phases.len(), 1200, "{}", card.name);
        for (time, phase) in phases {
            assert_eq!(phase.is_none(), without.contains(card.name), "{} at {time}: {phase:?}", card.name);
        }
    }
}

#[test]
fn a_control_that_goes_by_losses_starts_recovers_and_avoids() {
    for transport in ["cubic", "htcp", "hybla", "scalable", "hstcp", "westwood_plus"] {
        let mut sequence = sequence(transport);
        // RFC 9406, which RFC 9438 asks for.
        assert_eq!(sequence[1] == "conservative slow start", transport == "cubic", "{transport}: {sequence:?}");
        sequence.retain(|phase| phase != "conservative slow start");
        assert_eq!(sequence[..3], ["slow start", "recovery", "congestion avoidance"], "{transport}: {sequence:?}");
        assert!(!sequence[3..].contains(&"slow start".to_owned()), "{transport}: {sequence:?}");
    }
    // Reno and NewReno repair one loss a round trip: of many at once the timer ends the wait, and
    // slow start follows.
    for transport in ["reno", "newreno"] {
        let sequence = sequence(transport);
        assert_eq!(sequence[..2], ["slow start", "recovery"], "{transport}: {sequence:?}");
        assert_eq!(sequence.iter().filter(|phase| *phase == "slow start").count(), 2, "{transport}: {sequence:?}");
    }
    assert!(!sequence("tahoe").contains(&"recovery".to_owned()), "RFC 5681's fast recovery is newer than Tahoe");
}

/// The draft's state machine: Startup, Drain, then DOWN, CRUISE, REFILL, UP in turns, and ProbeRTT
/// after five seconds.
#[test]
fn bbr3_goes_through_the_states_of_the_draft_in_their_order() {
    let sequence = sequence("bbr3");
    // The first DOWN ends with the acknowledgement after it: the queue is empty already.
    let cycle = ["ProbeBW_CRUISE", "ProbeBW_REFILL", "ProbeBW_UP", "ProbeBW_DOWN"];
    assert_eq!(
        (&sequence[..2], &sequence[2..6]),
        (&["Startup", "Drain"].map(str::to_owned)[..], &cycle.map(str::to_owned)[..])
    );
    for pair in sequence.windows(2) {
        let may_follow: &[&str] = match pair[0].as_str() {
            "Startup" => &["Drain"],
            "Drain" | "ProbeBW_UP" => &["ProbeBW_DOWN", "ProbeBW_CRUISE", "ProbeRTT"],
            "ProbeBW_DOWN" => &["ProbeBW_CRUISE", "ProbeBW_REFILL", "ProbeRTT"],
            "ProbeBW_CRUISE" => &["ProbeBW_REFILL", "ProbeRTT"],
            "ProbeBW_REFILL" => &["ProbeBW_UP", "ProbeRTT"],
            "ProbeRTT" => &["ProbeBW_CRUISE", "ProbeBW_REFILL"],
            other => panic!("{other} is no state of the draft"),
        };
        assert!(may_follow.contains(&pair[1].as_str()), "{pair:?}");
    }
    let probes: Vec<f64> = phases("bbr3")
        .into_iter()
        .filter(|(_, phase)| phase.as_deref() == Some("ProbeRTT"))
        .map(|(time, _)| time)
        .collect();
    // Each lasts 200 ms and a round trip, five seconds apart.
    assert!((5.0..5.3).contains(&probes[0]), "{probes:?}");
    let begins: Vec<f64> = probes.windows(2).filter(|pair| pair[1] - pair[0] > 1.0).map(|pair| pair[1]).collect();
    assert!(begins.iter().all(|begin| (10.0..10.8).contains(begin)) && begins.len() == 1, "{begins:?}");
    assert!((20..60).contains(&probes.len()), "{} samples of 10 ms", probes.len());
}

#[test]
fn the_phases_of_others_are_those_of_their_sources() {
    let bbr: BTreeSet<String> = sequence("bbr").into_iter().collect();
    assert_eq!(bbr, ["Drain", "ProbeBW", "ProbeRTT", "Startup"].map(str::to_owned).into());
    for (transport, first) in [
        ("vegas", ["slow start", "congestion avoidance"]),
        ("fast", ["slow start", "window control"]),
        ("copa", ["slow start", "default mode"]),
        ("packet_pair", ["first pair", "rate control"]),
        ("tfrc", ["slow start", "congestion avoidance"]),
        ("rap", ["start-up", "additive increase"]),
        ("prague", ["slow start", "recovery"]),
    ] {
        let sequence = sequence(transport);
        assert_eq!(sequence[..2], first, "{transport}: {sequence:?}");
    }
}
