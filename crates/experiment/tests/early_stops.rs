//! Entries that end before the run does: the traffic of a flow, a session, a receiver.

use crate::networks;
use crate::running;
use fairq_experiment::experiment::Experiment;
use fairq_experiment::shares::max_min;
use fairq_sched::units::Time;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::plan::Plan;
use fairq_sim::run::{FlowCounts, Simulation};
use fairq_sim::traffic::Release;
use fairq_sim::traffic::registry::TrafficSettings;
use fairq_sim::transport::registry::{TRANSPORTS, TransportSettings};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// No packet is due in exactly this instant.
const STOP: Time = Time(7_000_000_000_001);

fn simulation(plan: &Plan) -> Simulation {
    Simulation::new(plan, 1, &networks::file).unwrap_or_else(|(_, fault)| panic!("{fault}"))
}

/// A flow with `fields` over 800 kbit/s: without a stop as it is at [`STOP`], and a long time after
/// it with one.
fn before_and_after(fields: &Value) -> [Simulation; 2] {
    let mut flow = json!({ "name": "x", "from": "a", "to": "b", "start": "0.1 s" });
    let fields = fields.as_object().expect("fields").clone();
    flow.as_object_mut().expect("a table").extend(fields);
    let text = json!({
        "edition": 1,
        "measure": { "duration": "100 s" },
        "links": [{ "name": "line", "from": "a", "to": "b", "rate": "800 kbit/s", "delay": "20 ms",
                    "queue": "fifo + 12 packets" }],
        "flows": [flow],
    })
    .to_string();
    let run = |sets: &[(String, String)], until: Time| {
        let experiment = Experiment::read(&text, "stops.toml", sets).unwrap_or_else(|problem| panic!("{problem}"));
        let mut simulation = simulation(&experiment.plans()[0].1);
        simulation.run_until(until);
        simulation.settle();
        assert!(simulation.conserves_packets());
        simulation
    };
    let stop = [("flows.x.stop".to_owned(), format!("{} ps", STOP.0))];
    [run(&[], STOP), run(&stop, Time::from_s(3000))]
}

fn counts(simulation: &Simulation) -> &FlowCounts {
    simulation.flow_counts().next().expect("a flow")
}

fn sent_anew(simulation: &Simulation) -> u64 {
    counts(simulation).sent - counts(simulation).retransmitted
}

#[test]
fn from_its_stop_on_no_traffic_gives_a_packet() {
    let gives = |traffic: &TrafficSettings| matches!(traffic.release(), Release::Session | Release::Stream);
    for traffic in TrafficSettings::examples().into_iter().filter(gives) {
        let [before, after] = before_and_after(&json!({ "traffic": traffic }));
        assert!(sent_anew(&before) > 10, "{}: {} packets", traffic.name(), sent_anew(&before));
        assert_eq!(sent_anew(&before), sent_anew(&after), "{}", traffic.name());
    }
}

#[test]
fn from_its_stop_on_no_transfer_begins_and_those_in_progress_are_completed() {
    let mut in_progress = 0;
    let transfers = |traffic: &TrafficSettings| traffic.release() == Release::Transfers;
    for traffic in TrafficSettings::examples().into_iter().filter(transfers) {
        let [before, after] = before_and_after(&json!({ "traffic": traffic, "count": 9 }));
        let [before, after] = [&before, &after].map(|run| {
            let counts = &run.transfers().next().expect("transfers").counts;
            (counts.all.completion.count(), u64::from(counts.in_progress), counts.refused)
        });
        assert!(before.0 > 5, "{}: {before:?}", traffic.name());
        assert_eq!(after, (before.0 + before.1, 0, before.2), "{}", traffic.name());
        in_progress += before.1;
    }
    assert!(in_progress > 1, "{in_progress}");
}

/// A line that drops packets: some of those sent before the stop are to be sent again after it.
#[test]
fn a_file_transfer_sends_nothing_new_from_its_stop_on_and_mends_what_it_lost() {
    let mut mended = 0;
    for card in TRANSPORTS {
        let transport: TransportSettings = serde_json::from_value(json!({ "kind": card.name })).expect("a transport");
        // A file without end is not for it.
        if transport.sends_at_once() {
            continue;
        }
        let [before, after] = before_and_after(&json!({ "traffic": "ftp", "transport": card.name }));
        assert!(sent_anew(&before) > 20, "{}", card.name);
        assert_eq!(sent_anew(&after), sent_anew(&before), "{}", card.name);
        let after = counts(&after);
        if transport.is_reliable() {
            assert_eq!(after.unique, sent_anew_of(after), "{}: all arrives", card.name);
            mended += after.retransmitted - counts(&before).retransmitted;
        }
    }
    assert!(mended > 1, "{mended}");
}

const fn sent_anew_of(counts: &FlowCounts) -> u64 {
    counts.sent - counts.retransmitted
}

/// 1.6 Mbit/s offered to a line of half of that: at the stop about as many packets wait as were
/// sent.
#[test]
fn what_was_given_before_the_stop_is_delivered_after_it() {
    for transport in ["generic", "reno", "fixed_rate(rate = 400 kbit/s)", "decbit"] {
        let traffic = "constant_rate(rate = 1.6 Mbit/s)";
        let [before, after] = before_and_after(&json!({ "traffic": traffic, "transport": transport }));
        // From 0.1 s on a packet of 1000 B each 5 ms.
        let offered = 6_900 / 5 + 1;
        assert!(counts(&before).unique < 800, "{transport}");
        assert_eq!(counts(&after).unique, offered, "{transport}");
    }
}

#[test]
fn a_stop_after_the_end_of_the_run_changes_nothing() {
    let text = "edition = 1\n[measure]\nduration = \"10 s\"\n[[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                [[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\ntransport = \"reno\"\n\
                [[flows]]\nname = \"y\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"poisson(rate = 300 kbit/s)\"\n";
    let tables = |sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
        let experiment = Experiment::read(text, "stops.toml", &sets).unwrap_or_else(|problem| panic!("{problem}"));
        running::document(&experiment)["flows"].to_string()
    };
    assert_eq!(tables(&[("defaults.stop", "11 s")]), tables(&[]));
    assert_ne!(tables(&[("defaults.stop", "9 s")]), tables(&[]));
}

/// Of four seconds x is present for two and y for three; in one of them they share.
#[test]
fn a_share_is_the_mean_over_the_measured_time() {
    let text = "edition = 1\n[measure]\nwarm_up = \"1 s\"\nduration = \"4 s\"\n[[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\n\
                rate = \"1 Mbit/s\"\n\
                [[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\nstop = \"3 s\"\n\
                [[flows]]\nname = \"y\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\nstart = \"2 s\"\nstop = \"9 s\"\n\
                [[flows]]\nname = \"z\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\nstop = \"1 s\"\n";
    let experiment = running::read(text);
    let shares: Vec<Value> = max_min(&experiment).into_iter().map(|row| row["share_bit_per_s"].clone()).collect();
    assert_eq!(shares, [375_000.0, 625_000.0, 0.0]);
}

/// Five layers of 50 kbit/s in pairs over two lines of 5 ms.
fn session(more: &str) -> Plan {
    let text = format!(
        "edition = 1\n[measure]\nduration = \"40 s\"\n\
         [[links]]\nname = \"trunk\"\nfrom = \"s\"\nto = \"e\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"fq\"\n\
         [[links]]\nname = \"last\"\nfrom = \"e\"\nto = \"h\"\nrate = \"256 kbit/s\"\ndelay = \"5 ms\"\nqueue = \"fq\"\n\
         [[sessions]]\nname = \"s\"\nfrom = \"s\"\nlayers = {{ count = 5, rate = \"50 kbit/s\", factor = 1.5 }}\n\
         source = \"pairs\"\ncontrol = \"plm\"\nleave_latency = \"2 s\"\n{more}"
    );
    let experiment = running::read(&text);
    experiment.plans()[0].1.clone()
}

/// Changes of levels: time, receiver, level.
type Levels = Vec<(Time, u32, u32)>;

/// Levels of receivers, and when packets left the trunk.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<(Levels, Vec<Time>)>>);

impl Observer for Seen {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        let mut seen = self.0.lock().expect("one thread");
        match event {
            Event::Level { receiver, level } => seen.0.push((now, *receiver, *level)),
            Event::Sent { line: 0, .. } => seen.1.push(now),
            _ => {}
        }
    }
}

fn watch(plan: &Plan) -> (Simulation, Levels, Vec<Time>) {
    let mut simulation = simulation(plan);
    let seen = Seen::default();
    simulation.observe(Box::new(seen.clone()));
    simulation.run_until(Time::from_s(40));
    simulation.settle();
    assert!(simulation.conserves_packets());
    let (levels, sent) = seen.0.lock().expect("one thread").clone();
    (simulation, levels, sent)
}

#[test]
fn a_receiver_that_leaves_is_pruned_after_the_leave_latency() {
    let stop = Time::from_s(20);
    let (simulation, levels, sent) = watch(&session("receivers = [{ at = \"h\", stop = \"20 s\" }]\n"));
    assert_eq!(levels.last(), Some(&(stop, 0, 0)), "{levels:?}");
    // Two seconds at its router, then two messages of 320 bits on lines of 5 ms, of which one is of
    // 256 kbit/s.
    let pruned = stop + Time::from_s(2) + Time(2 * 5_000_000_000 + 1_250_000_000 + 32_000_000);
    let last = *sent.last().expect("packets");
    assert!(last <= pruned + Time::from_ms(2) && last + Time::from_ms(325) >= pruned, "{last} {pruned}");
    let member = &simulation.sessions().next().expect("a session").members()[0];
    assert_eq!((member.level(), member.counts().lost), (0, 0), "what still comes is no loss");
    assert_eq!(member.counts().changes, levels.len() as u64 - 2, "its join and its leave are no changes");
    // The layers that it took while it was present, over the whole run.
    let area = |pair: &[(Time, u32, u32)]| u128::from((pair[1].0 - pair[0].0).0) * u128::from(pair[0].2);
    assert_eq!(member.counts().area, levels.windows(2).map(area).sum());
}

#[test]
fn the_others_keep_what_they_take_when_one_leaves() {
    let both = "receivers = [{ at = \"h\", stop = \"20 s\" }, { at = \"h\", name = \"other\" }]\n";
    let (simulation, _, sent) = watch(&session(both));
    let members = simulation.sessions().next().expect("a session").members();
    assert_eq!((members[0].level(), members[1].counts().lost), (0, 0));
    assert!(members[1].level() > 2 && sent.last() > Some(&Time::from_ms(39_600)), "{:?}", sent.last());
}

#[test]
fn a_session_that_stops_sends_nothing_more_and_its_receivers_leave() {
    let stop = Time::from_s(20);
    let more = "stop = \"20 s\"\nreceivers = [{ at = \"h\" }, { at = \"h\", name = \"early\", stop = \"10 s\" }]\n";
    let (_, levels, sent) = watch(&session(more));
    assert_eq!(levels[levels.len() - 1], (stop, 0, 0), "{levels:?}");
    assert!(levels.contains(&(Time::from_s(10), 1, 0)), "{levels:?}");
    // At most a pair of each of five layers was on its way to the line.
    let last = *sent.last().expect("packets");
    assert!(last < stop + Time::from_ms(8) && last + Time::from_ms(325) > stop, "{last}");
}
