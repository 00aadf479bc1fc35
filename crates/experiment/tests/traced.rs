//! A trace says the same as the tables: its waits are the queueing delays, its counters the
//! samples. Slices of a thread do not overlap, so that viewers show all of them.

use fairq_experiment::experiment::{Experiment, Options};
use fairq_experiment::results::document::Outcome;
use fairq_sched::units::Time;
use serde_json::Value;
use std::collections::BTreeMap;

/// Transfers of two connections with data one way and the other, over two links and a queue that
/// drops and marks; all of them end before the run does.
const CROSSING: &str = r#"edition = 2
[measure]
duration = "8 s"
[defaults]
start = "0 s"
access = { rate = "100 Mbit/s" }
[[links]]
name = "first"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "5 ms"
queue = "fq_codel"
buffer = "60 packets"
[[links]]
name = "second"
from = "b"
to = "c"
rate = "8 Mbit/s"
delay = "5 ms"
buffer = "30 packets"
[[flows]]
name = "there"
from = "a"
to = "c"
traffic = "ftp(packets=2000)"
transport = "cubic"
[[flows]]
name = "marked"
from = "a"
to = "c"
traffic = "ftp(packets=1000)"
transport = "cubic(ecn=true)"
[[flows]]
name = "back"
from = "c"
to = "a"
traffic = "ftp(packets=1000)"
transport = "vegas"
"#;

fn outcome(text: &str, most: usize, series: Option<Time>) -> Outcome {
    let mut experiment = Experiment::read(text, "traced.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    experiment.keep_trace(most);
    experiment.sample_every(series.unwrap_or_default()).expect("few rows");
    let files = |name: &str| Err(name.to_owned());
    let outcome = experiment.outcome(Options { workers: 2, files: &files, progress: &mut |_| true });
    outcome.unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

/// The trace as a tree, and its events.
fn trace(outcome: &Outcome) -> (Value, Vec<Value>) {
    let mut text = Vec::new();
    outcome.trace().expect("a trace").write(&mut text).expect("memory");
    let mut whole: Value = serde_json::from_slice(&text).expect("JSON");
    let events = whole["traceEvents"].take();
    (whole, events.as_array().expect("events").clone())
}

fn number(event: &Value, field: &str) -> f64 {
    event[field].as_f64().unwrap_or_else(|| panic!("{field} of {event}"))
}

fn text<'a>(event: &'a Value, field: &str) -> &'a str {
    event[field].as_str().unwrap_or_else(|| panic!("{field} of {event}"))
}

/// The names of processes by their numbers.
fn processes(events: &[Value]) -> BTreeMap<u64, String> {
    let named = events.iter().filter(|event| event["ph"] == "M" && event["name"] == "process_name");
    named.map(|event| (number(event, "pid") as u64, text(&event["args"], "name").to_owned())).collect()
}

#[test]
fn slices_of_a_thread_do_not_overlap_and_every_process_has_a_name() {
    let (_, events) = trace(&outcome(CROSSING, usize::MAX, None));
    let names = processes(&events);
    let mut threads: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    for event in &events {
        assert!(["M", "C", "X", "i"].contains(&text(event, "ph")), "{event}");
        assert!(names.contains_key(&(number(event, "pid") as u64)), "{event}");
        if event["ph"] == "X" {
            assert!(number(event, "dur") > 0.0, "{event}");
            let thread = (number(event, "pid") as u64, number(event, "tid") as u64);
            threads.entry(thread).or_default().push((number(event, "ts"), number(event, "dur")));
        }
    }
    for (thread, mut slices) in threads {
        slices.sort_by(|one, other| one.0.total_cmp(&other.0));
        for pair in slices.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{thread:?}: {pair:?}");
        }
    }
    for found in ["drop", "mark", "wait", "send", "phase"] {
        assert!(events.iter().any(|event| event["cat"] == found), "no event of {found}");
    }
}

#[test]
fn the_waits_of_a_flow_are_its_queueing_delay_and_the_sends_of_a_link_its_utilisation() {
    let outcome = outcome(CROSSING, usize::MAX, None);
    let (_, events) = trace(&outcome);
    let (names, document) = (processes(&events), outcome.document());
    let sum = |category: &str, process: String| {
        let is_of = |event: &&Value| event["cat"] == category && names[&(number(event, "pid") as u64)] == process;
        let all = events.iter().filter(is_of);
        let data = all.filter(|event| category == "send" || event["args"]["of"] == "data");
        data.map(|event| number(event, "dur")).fold((0.0, 0u32), |(sum, count), dur| (sum + dur, count + 1))
    };
    let mut without_drops = 0;
    for flow in document["flows"].as_array().expect("flows") {
        let arrived = number(flow, "throughput_packets");
        let (waited, slices) = sum("wait", format!("flow {}", text(flow, "flow")));
        let is_dropped = |event: &&Value| {
            event["cat"] == "drop"
                && event["args"]["of"] == "data"
                && names[&(number(event, "pid") as u64)] == format!("flow {}", text(flow, "flow"))
        };
        let dropped = events.iter().filter(is_dropped).count();
        assert_eq!(dropped as f64, number(flow, "dropped"), "{flow}");
        without_drops += usize::from(dropped == 0);
        let expected = number(flow, "queueing_s_mean") * 1e6 * arrived;
        // Each slice is cut by less than 1/64 µs at either end. The wait of a dropped packet, at
        // most 60 ms, is in no table.
        let tolerance = f64::from(slices) / 32.0 + dropped as f64 * 60_000.0;
        assert!((waited - expected).abs() <= tolerance, "{waited} and {expected} µs: {flow}");
        assert!(expected > 1e6, "it hardly waited: {flow}");
    }
    assert!(without_drops > 0, "the sums of all flows have a wide tolerance");
    for link in document["links"].as_array().expect("links") {
        let process = format!("link {} {}", text(link, "link"), text(link, "direction"));
        let (busy, slices) = sum("send", process);
        let expected = number(link, "utilisation") * 8e6;
        assert!((busy - expected).abs() <= f64::from(slices) / 32.0, "{busy} and {expected} µs: {link}");
    }
}

#[test]
fn the_counters_are_the_samples_and_phases_last_from_sample_to_sample() {
    let outcome = outcome(CROSSING, usize::MAX, Some(Time::from_ms(20)));
    let (_, events) = trace(&outcome);
    let (names, document) = (processes(&events), outcome.document());
    let mut counters: BTreeMap<(String, String, u64), f64> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "C") {
        let process = names[&(number(event, "pid") as u64)].clone();
        let key = (process, text(event, "name").to_owned(), number(event, "ts") as u64);
        assert_eq!(counters.insert(key.clone(), number(&event["args"], "value")), None, "{key:?} twice");
    }
    let phases: Vec<&Value> = events.iter().filter(|event| event["cat"] == "phase").collect();
    let (mut found, rows) = (0, document["series"].as_array().expect("rows").clone());
    for row in &rows {
        let (flow, link) = (row["flow"].as_str(), row["link"].as_str());
        let process = flow.map_or_else(
            || format!("link {} {}", link.unwrap_or_default(), text(row, "direction")),
            |flow| format!("flow {flow}"),
        );
        let at = (number(row, "time_s") * 1e6).round() as u64;
        for name in ["throughput_bit_per_s", "window_packets", "flight_packets", "rtt_s", "held_packets"] {
            let counter = counters.get(&(process.clone(), name.to_owned(), at));
            // Of a number that is read from text the last bit may differ.
            let differs = |(one, other): (&f64, f64)| (one - other).abs() > 1e-14 * other.abs();
            assert_eq!(counter.is_some(), row[name].is_number(), "{process} {name} {at}");
            assert!(!counter.zip(row[name].as_f64()).is_some_and(differs), "{process} {name} {at}: {counter:?} {row}");
            found += usize::from(counter.is_some());
        }
        if let Some(phase) = row["phase"].as_str().filter(|_| at < 8_000_000) {
            let covers = |event: &&&Value| {
                names[&(number(event, "pid") as u64)] == process
                    && (0.0..number(event, "dur")).contains(&(at as f64 - number(event, "ts")))
            };
            let shown: Vec<&str> = phases.iter().filter(covers).map(|event| text(event, "name")).collect();
            assert_eq!(shown, [phase], "{process} at {at}");
        }
    }
    assert!(found > 5 * 400, "{found}");
    // Without the samples of a table the trace has its own.
    assert!(document["series"].as_array().is_some_and(|rows| !rows.is_empty()));
    let own = self::outcome(CROSSING, usize::MAX, None);
    assert_eq!(own.document()["series"], Value::Array(Vec::new()));
    let times = trace(&own).1.iter().filter(|event| event["name"] == "rtt_s" && event["pid"] == 1).count();
    assert!((150..=200).contains(&times), "{times}");
}

/// Its flows have an end, on which there are notes too.
fn notes_on_traces(outcome: &Outcome) -> Vec<Value> {
    let document = outcome.document();
    let notes = document["notes"].as_array().expect("an array");
    notes.iter().filter(|note| note["code"] == "trace").cloned().collect()
}

#[test]
fn a_trace_that_is_full_says_from_when_on_and_a_note_too() {
    let whole = outcome(CROSSING, usize::MAX, None);
    assert_eq!(trace(&whole).0["otherData"]["packets_cut_at_s"], Value::Null);
    assert_eq!(notes_on_traces(&whole), Vec::<Value>::new());
    let outcome = outcome(CROSSING, 1000, None);
    let (about, events) = trace(&outcome);
    let packets = events.iter().filter(|event| event["args"]["packet"].is_u64());
    let last = packets.clone().map(|event| number(event, "ts")).fold(0.0, f64::max);
    assert!((999..=1000).contains(&packets.count()));
    let cut = number(&about["otherData"], "packets_cut_at_s");
    assert!(last <= cut * 1e6 && cut < 1.0, "{last} and {cut}");
    assert!(events.iter().any(|event| event["ph"] == "C" && number(event, "ts") > 7e6), "counters go on");
    let notes = notes_on_traces(&outcome);
    assert!(text(&notes[0], "text").contains(&format!("{cut:.3} s of 8 s")), "{notes:?}");
}

#[test]
fn of_several_runs_the_first_is_traced_and_a_note_says_so() {
    let several = format!(
        "{CROSSING}\n[[axes]]\nname = \"rate\"\npath = \"links.0.rate\"\nvalues = [\"10 Mbit/s\", \"9 Mbit/s\"]\n"
    )
    .replace("duration = \"8 s\"", "duration = \"8 s\"\nreplications = 2");
    let outcome = outcome(&several, usize::MAX, None);
    let alone = self::outcome(CROSSING, usize::MAX, None);
    assert!(trace(&outcome) == trace(&alone), "the traces differ");
    let notes = notes_on_traces(&outcome);
    assert_eq!(text(&notes[0], "text"), "the trace is of the first of 4 runs (at rate = 10 Mbit/s)");
}
