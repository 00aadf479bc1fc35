//! Entries that end before the run does: the traffic of a flow, a session, a receiver.

#[expect(dead_code, reason = "only the files that test networks read")]
mod networks;

use fairq_experiment::experiment::{Experiment, Options};
use fairq_experiment::shares::max_min;
use fairq_sched::units::Time;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::plan::Plan;
use fairq_sim::run::{FlowCounts, Simulation};
use fairq_sim::traffic::registry::TRAFFIC;
use fairq_sim::transport::registry::TRANSPORTS;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// No packet is due in exactly this instant.
const STOP: Time = Time(7_000_000_000_001);

fn simulation(plan: &Plan) -> Simulation {
    Simulation::new(plan, 1, &networks::file).unwrap_or_else(|(_, fault)| panic!("{fault}"))
}

/// Flows of `traffic` over 800 kbit/s: without a stop as they are at [`STOP`], and with one a long
/// time after it.
fn before_and_after(flow: &str) -> [Simulation; 2] {
    let text = format!(
        "edition = 1\n[measure]\nduration = \"100 s\"\n[[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"800 kbit/s\"\n\
         delay = \"20 ms\"\nqueue = \"fifo + 12 packets\"\n[[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\n\
         start = \"0.1 s\"\n{flow}\n"
    );
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

/// The settings of a kind of traffic.
fn traffic(kind: &str) -> String {
    match kind {
        "capture" => "{ kind = \"capture\", file = \"drawn.pcap\", gap_max = \"1 s\" }".to_owned(),
        "csv" => "{ kind = \"csv\", file = \"drawn.csv\" }".to_owned(),
        "constant_rate" | "poisson" => format!("\"{kind}(rate = 300 kbit/s)\""),
        "on_off" => "\"on_off(rate = 300 kbit/s, on = exponential(mean=200ms), off = 0.1 s)\"".to_owned(),
        "self_similar" => "\"self_similar(rate = 300 kbit/s, packet = 40 B)\"".to_owned(),
        "telnet" => "\"telnet(mean_gap = 50 ms)\"".to_owned(),
        "flow_arrivals" => "\"flow_arrivals(mean_gap = 0.3 s, size = exponential(mean=20kB))\"".to_owned(),
        "incast" => "\"incast(size = 30 kB)\"".to_owned(),
        "request_response" => "\"request_response(size = 10 kB, think = exponential(mean=0.3s))\"".to_owned(),
        "web" => "\"web(session_gap = 0.5 s, size = 4 kB, objects = 3, think = 1 s)\"".to_owned(),
        _ => format!("\"{kind}\""),
    }
}

#[test]
fn from_its_stop_on_no_traffic_gives_a_packet() {
    for card in TRAFFIC.iter().filter(|card| card.name != "ftp") {
        let [before, after] = before_and_after(&format!("traffic = {}\n", traffic(card.name)));
        if before.transfers().next().is_some() {
            continue;
        }
        assert!(sent_anew(&before) > 20, "{}: {} packets", card.name, sent_anew(&before));
        assert_eq!(sent_anew(&before), sent_anew(&after), "{}", card.name);
    }
}

#[test]
fn from_its_stop_on_no_transfer_begins_and_those_in_progress_are_completed() {
    for kind in ["flow_arrivals", "incast", "request_response", "web"] {
        let [before, after] = before_and_after(&format!("traffic = {}\ncount = 9\n", traffic(kind)));
        let [before, after] = [&before, &after].map(|run| {
            let counts = &run.transfers().next().expect("transfers").counts;
            (counts.all.completion.count(), u64::from(counts.in_progress), counts.refused)
        });
        assert!(before.0 > 5 && before.1 > 0, "{kind}: {before:?}");
        assert_eq!(after, (before.0 + before.1, 0, before.2), "{kind}");
    }
}

/// A line that drops packets: some of those sent before the stop are to be sent again after it.
#[test]
fn a_file_transfer_sends_nothing_new_from_its_stop_on_and_mends_what_it_lost() {
    let mut mended = 0;
    for card in TRANSPORTS.iter().filter(|card| card.name != "uncontrolled") {
        let [before, after] = before_and_after(&format!("traffic = \"ftp\"\ntransport = \"{}\"\n", card.name));
        assert!(sent_anew(&before) > 20, "{}", card.name);
        assert_eq!(sent_anew(&after), sent_anew(&before), "{}", card.name);
        let after = counts(&after);
        if !["fixed_rate", "rap", "tfrc"].contains(&card.name) {
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
        let flow = format!("traffic = \"constant_rate(rate = 1.6 Mbit/s)\"\ntransport = \"{transport}\"\n");
        let [before, after] = before_and_after(&flow);
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
        let files = |_: &str| Err(String::new());
        let result = experiment.run(Options { workers: 1, files: &files, progress: &mut |_| true });
        result.unwrap_or_else(|stopped| panic!("{stopped:?}"))["flows"].to_string()
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
    let experiment = Experiment::read(text, "stops.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
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
    let experiment = Experiment::read(&text, "stops.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
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
