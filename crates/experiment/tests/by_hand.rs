//! A run in the words of its scenario: what is done by hand comes out as by hand, and a run to its
//! end gives what a run of the scenario gives.

use fairq_experiment::experiment::Experiment;
use fairq_experiment::live::{Happening, Live};
use fairq_experiment::results::Tables;
use fairq_experiment::results::table::Cell;
use fairq_sched::units::Time;
use fairq_sim::live::Progress;
use serde_json::{Value, json};
use std::sync::Arc;

fn none(name: &str) -> Result<Vec<u8>, String> {
    Err(format!("{name}: no file is read here"))
}

/// Two flows of 1000 bytes, one packet a second each, over a line that takes a second a packet.
const SLOW: &str = r#"{
    "edition": 2, "measure": { "duration": "100 s", "seed": 1 },
    "links": [{ "name": "l", "from": "a", "to": "b", "rate": "8 kbit/s", "queue": "drr(quantum=1000 B) + 3packets" }],
    "flows": [
        { "name": "f", "from": "a", "to": "b", "start": "0 s", "traffic": "constant_rate(rate=8 kbit/s, packet=1000 B)" },
        { "name": "g", "from": "a", "to": "b", "start": "0.5 s", "traffic": "constant_rate(rate=8 kbit/s, packet=1000 B)" }
    ]
}"#;

fn live(text: &str) -> Live {
    let experiment = Experiment::read(text, "s.json", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    Live::new(experiment, 1, Arc::new(none), None).unwrap_or_else(|problem| panic!("{problem}"))
}

fn to(run: &mut Live, seconds: f64) {
    while run.run_some(Time((seconds * 1e12) as u64), 100) != Progress::Reached {}
}

fn whole(run: &mut Live, table: &str, column: &str) -> Vec<u64> {
    let table = run.look(table).expect("a table");
    let cells = table.column(column).expect("a column");
    (0..table.rows()).map(|row| if let Cell::Whole(cell) = cells.at(row) { cell } else { panic!("{column}") }).collect()
}

fn entry(of: Value) -> serde_json::Map<String, Value> {
    of.as_object().expect("a table").clone()
}

/// The names of the events that were recorded of packets, each with its flow.
fn said(events: impl IntoIterator<Item = Happening>) -> Vec<(&'static str, String)> {
    let of = |event: Happening| (event.event, event.flow.map(|name| name.to_string()).unwrap_or_default());
    events.into_iter().map(of).collect()
}

#[test]
fn a_packet_is_offered_held_and_dropped() {
    let mut run = live(SLOW);
    to(&mut run, 0.25);
    // f's first packet is being sent.
    assert_eq!(whole(&mut run, "waiting", "place"), [0]);
    run.offer("l", false, ("g", 500), 2).expect("it is on the path");
    assert_eq!(whole(&mut run, "waiting", "packet_bytes"), [1000, 500, 500]);
    let packets = whole(&mut run, "waiting", "packet");
    run.hold_packet(packets[1] as u32, Time(2_250_000_000_000)).expect("it waits");
    assert_eq!(whole(&mut run, "waiting", "packet"), [packets[0], packets[2]]);
    run.drop_packet(packets[2] as u32).expect("it waits");
    let again = run.drop_packet(packets[2] as u32).expect_err("it is gone");
    assert!(again.message.contains("no packet of this number waits there"), "{again:?}");
    assert!(run.mark_packet(packets[0] as u32).is_err(), "it is being sent");
    let (_, tape) = run.watch(Some(&["l".to_owned()]), Some(&["g".to_owned()]), None).expect("there are both");
    to(&mut run, 2.3);
    let of_500: Vec<_> = tape.take().into_iter().filter(|event| event.bytes == Some(500)).collect();
    assert_eq!(of_500.iter().map(|event| event.at.as_s()).collect::<Vec<_>>(), [2.25], "it came back");
    to(&mut run, 100.0);
    let mut sent = whole(&mut run, "flows", "sent");
    let delivered = whole(&mut run, "flows", "throughput_packets");
    sent.sort_unstable();
    // One a second from 0 s to 100 s, one a second from 0.5 s on, and the two that were offered.
    assert_eq!(sent, [101, 102], "the offered packets are the flow's");
    assert!(delivered.iter().sum::<u64>() > 90, "{delivered:?}");
    assert!(run.run().simulation().conserves_packets());
    assert_eq!(run.run().made().len(), 3, "what could not be done was not made");
}

#[test]
fn a_mark_reaches_the_receiver() {
    let text = SLOW.replace(
        "\"start\": \"0 s\", \"traffic\": \"constant_rate(rate=8 kbit/s, packet=1000 B)\"",
        "\"start\": \"0 s\", \"traffic\": \"ftp(packet=1000 B)\", \"transport\": \"dctcp\"",
    );
    let mut run = live(&text.replace("+ 3packets", "+ 30packets"));
    to(&mut run, 20.0);
    let (packets, bytes) = (whole(&mut run, "waiting", "packet"), whole(&mut run, "waiting", "packet_bytes"));
    let flows = run.look("waiting").expect("a table");
    let flow = |row: usize| flows.column("flow").map(|cells| matches!(cells.at(row), Cell::Text(name) if name == "f"));
    let at = (1..packets.len()).find(|row| flow(*row) == Some(true) && bytes[*row] == 1000).expect("one of f waits");
    let (_, tape) = run.watch(None, Some(&["f".to_owned()]), None).expect("there is one");
    run.mark_packet(packets[at] as u32).expect("it accepts marks");
    to(&mut run, 60.0);
    let events = tape.take();
    assert!(events.iter().any(|event| event.event == "marked" && event.packet == Some(packets[at] as u32)));
    assert!(said(events).contains(&("window", "f".to_owned())));
    assert_eq!(whole(&mut run, "queues", "marked")[0], 1);
    let other = whole(&mut run, "waiting", "packet");
    let of_g = (1..other.len()).find(|row| flow(*row) == Some(false));
    if let Some(row) = of_g {
        assert!(run.mark_packet(other[row] as u32).is_err(), "g uses no ECN");
    }
}

#[test]
fn a_change_by_hand_is_one_of_the_scenario() {
    let changes = json!([
        { "at": "10 s", "link": "l", "rate": "16 kbit/s" },
        { "at": "20 s", "link": "l", "direction": "forward", "queue": { "scheduler": { "kind": "drr", "quantum": "500 B" } } },
        { "at": "30 s", "flow": "f", "weight": 3 },
        { "at": "40 s", "link": "l", "up": false },
        { "at": "45 s", "link": "l", "up": true }
    ]);
    let mut scenario: Value = serde_json::from_str(SLOW).expect("JSON");
    scenario["flows"][0]["traffic"] = "constant_rate(rate=24 kbit/s, packet=1000 B)".into();
    scenario["flows"][1]["traffic"] = "constant_rate(rate=24 kbit/s, packet=1000 B)".into();
    let mut run = live(&scenario.to_string());
    // Between two events: a change of the scenario comes before those of its instant.
    to(&mut run, 9.999_999_999);
    for (seconds, make) in [
        (10.0, &(|run: &mut Live| run.set("links.l.rate", "16 kbit/s")) as &dyn Fn(&mut Live) -> _),
        (20.0, &|run: &mut Live| {
            run.change(entry(json!({ "link": "l", "direction": "forward", "queue": "drr(quantum=500 B)" })))
        }),
        (30.0, &|run: &mut Live| run.set("flows[f].weight", "3")),
        (40.0, &|run: &mut Live| run.change(entry(json!({ "link": "l", "up": false })))),
        (45.0, &|run: &mut Live| run.set("links[0].up", "true")),
    ] {
        to(&mut run, seconds - 1e-9);
        make(&mut run).unwrap_or_else(|fault| panic!("{seconds}: {fault:?}"));
    }
    to(&mut run, 100.0);
    let by_hand = run.outcome().expect("it has ended");
    let text = by_hand.document().to_string();
    assert!(text.contains("\"weight\":3"), "the result's scenario has the changes");
    let mut early = changes;
    for change in early.as_array_mut().expect("a list") {
        let seconds: f64 = change["at"].as_str().and_then(|at| at.trim_end_matches(" s").parse().ok()).expect("a time");
        change["at"] = format!("{} ps", (seconds * 1e12 - 1000.0) as u64).into();
    }
    scenario["changes"] = early;
    let plain = Experiment::read(&scenario.to_string(), "s.json", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let tables = plain.runs().next().expect("a run").finish(&none).unwrap_or_else(|problem| panic!("{problem}"));
    let plain = plain.collect([tables]).expect("one run");
    assert_eq!(by_hand.document()["points"], plain.document()["points"]);
}

#[test]
fn taking_back_forgets_what_was_done_since() {
    let mut run = live(SLOW);
    to(&mut run, 10.0);
    let (digest, steps) = (run.run().digest(), run.run().steps());
    run.step().expect("an event");
    run.set("links.l.rate", "1 Mbit/s").expect("it can");
    to(&mut run, 20.0);
    run.run_steps(steps).expect("no file is read");
    assert_eq!((run.run().digest(), run.run().made().len()), (digest, 0));
    to(&mut run, 100.0);
    let mut plain = live(SLOW);
    to(&mut plain, 100.0);
    assert_eq!(
        run.outcome().expect("the end").document()["points"],
        plain.outcome().expect("the end").document()["points"]
    );
}

#[test]
fn a_run_to_its_end_is_that_of_the_scenario() {
    let text = SLOW.replace("\"duration\": \"100 s\"", "\"duration\": \"90 s\", \"warm_up\": \"10 s\"");
    let mut run = live(&text);
    to(&mut run, 5.0);
    let early = whole(&mut run, "flows", "sent").iter().sum::<u64>();
    assert!(early >= 9, "{early}: while the warm-up lasts, since the start");
    assert!(run.outcome().expect_err("it goes on").contains("ends at 100 s"));
    to(&mut run, 1e6);
    let experiment = Experiment::read(&text, "s.json", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let tables = experiment.runs().next().expect("a run").finish(&none).unwrap_or_else(|problem| panic!("{problem}"));
    for name in ["flows", "links", "queues"] {
        let of = Tables::by_name(name).expect("a table");
        let found = run.look(name).expect("a table");
        assert_eq!(format!("{:?}", of(&tables)), format!("{found:?}"), "{name}");
    }
    let plain = experiment.collect([tables]).expect("one run");
    assert_eq!(run.outcome().expect("the end").document()["points"], plain.document()["points"]);
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    let mut run = live(SLOW);
    to(&mut run, 10.0);
    let digest = run.run().digest();
    for (path, value, says) in [
        ("links.m.rate", "1 Mbit/s", "nothing is called m; there are l"),
        ("links.l.name", "x", "it cannot change in a run; there are rate, up, delay"),
        ("flows.f.transport", "cubic", "of a flow only its weight does"),
        ("measure.seed", "2", "write a field of a link or the weight of a flow"),
        ("links.l.rate", "fast", "`fast`"),
        ("links.l.queue", "fqq", "did you mean fq?"),
        ("links[7].rate", "1 Mbit/s", "nothing is called 7; there are l"),
    ] {
        let fault = run.set(path, value).expect_err(path);
        assert!(fault.message.contains(says), "{path}: {fault:?}");
    }
    let fault = run.change(entry(json!({ "link": "l", "loss": 2 }))).expect_err("no probability");
    assert_eq!((fault.path.as_str(), fault.message.contains("a probability")), ("loss", true), "{fault:?}");
    assert!(run.offer("l", true, ("f", 100), 1).is_err(), "the way back is not on the data's path");
    assert_eq!((run.run().digest(), run.run().made().len()), (digest, 0));
    let axes = SLOW.replace(
        "\"links\"",
        "\"axes\": [{ \"name\": \"w\", \"path\": \"flows.f.weight\", \"values\": [1, 2] }], \"links\"",
    );
    let experiment = Experiment::read(&axes, "s.json", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let problem = Live::new(experiment, 1, Arc::new(none), None).err().expect("two points");
    assert!(problem.to_string().contains("2 points; choose one by set"), "{problem}");
}

#[test]
fn lines_that_are_not_held_keep_their_shortcuts_and_count_the_same() {
    let text = r#"{
        "edition": 2, "measure": { "duration": "5 s", "warm_up": "1 s", "seed": 1 },
        "topology": { "kind": "dumbbell", "pairs": 4 },
        "links": [{ "name": "bottleneck", "rate": "10 Mbit/s", "delay": "10 ms" }],
        "flows": [{ "name": "f", "count": 4, "from": "left", "to": "right", "traffic": "ftp", "transport": "cubic" }]
    }"#;
    let chain = text.replace("\"topology\": { \"kind\": \"dumbbell\", \"pairs\": 4 },", "").replace(
        "[{ \"name\": \"bottleneck\", \"rate\": \"10 Mbit/s\", \"delay\": \"10 ms\" }]",
        "[{ \"name\": \"fast\", \"from\": \"left\", \"to\": \"m\", \"rate\": \"100 Mbit/s\", \"delay\": \"5 ms\" }, \
          { \"name\": \"slow\", \"from\": \"m\", \"to\": \"right\", \"rate\": \"10 Mbit/s\", \"delay\": \"5 ms\" }]",
    );
    let experiment = || Experiment::read(&chain, "s.json", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let of = |links: Option<&[String]>| {
        let mut run = Live::new(experiment(), 1, Arc::new(none), links).unwrap_or_else(|problem| panic!("{problem}"));
        to(&mut run, 10.0);
        let points = run.outcome().expect("the end").document()["points"].clone();
        (run.run().steps(), points)
    };
    let (all, one) = (of(None), of(Some(&["slow".to_owned()])));
    assert_eq!(all.1, one.1);
    assert!(one.0 < all.0, "{} and {}", one.0, all.0);
    let mut run = Live::new(experiment(), 1, Arc::new(none), Some(&["slow".to_owned()])).unwrap_or_else(|_| panic!());
    let fault = run.set("links.fast.rate", "1 Mbit/s").expect_err("it is not held");
    assert!(fault.message.contains("not held in this run"), "{fault:?}");
}
