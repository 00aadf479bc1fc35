//! What the page is told: the same run taken again, records that count what the tables count, and
//! one line for what is wrong.

use fairq_experiment::experiment::Experiment;
use fairq_wasm::lab::Lab;
use serde_json::{Value, json};

const NET: &str = r#"
edition = 2
title = "two flows"
[measure]
duration = "2 s"
[[links]]
name = "uplink"
from = "a"
to = "b"
rate = "100 kbit/s"
delay = "1 ms"
buffer = "10 packets"
queue = "fq"
[[flows]]
name = "small"
from = "a"
to = "b"
traffic = "cbr(rate=30 kbit/s, packet=100 B)"
start = "0 s"
[[flows]]
name = "large"
from = "a"
to = "b"
traffic = "cbr(rate=150 kbit/s, packet=1000 B)"
start = "0 s"
"#;

fn ask(lab: &mut Lab, request: &Value) -> Value {
    serde_json::from_str(&lab.call(request.to_string().as_bytes())).expect("an answer is JSON")
}

fn ok(lab: &mut Lab, request: &Value) -> Value {
    let answer = ask(lab, request);
    assert!(answer.get("ok").is_some(), "{request}: {answer}");
    answer["ok"].clone()
}

fn fault(lab: &mut Lab, request: &Value) -> Value {
    let answer = ask(lab, request);
    assert!(answer.get("fault").is_some(), "{request}: {answer}");
    answer["fault"].clone()
}

fn begin(lab: &mut Lab, sets: &[[&str; 2]], log: &[Value]) -> Value {
    ok(lab, &json!({ "do": "begin", "run": 0, "text": NET, "name": "net.toml", "sets": sets, "log": log }))
}

fn advance(lab: &mut Lab, to: f64) -> Value {
    ok(lab, &json!({ "do": "advance", "run": 0, "to_s": to, "most": 1_000_000 }))
}

fn go(lab: &mut Lab, to: u64) -> Value {
    // In small pieces, as a worker does.
    loop {
        let at = ok(lab, &json!({ "do": "go", "run": 0, "to_step": to, "most": 3 }));
        if at["reached"] == true {
            return at;
        }
    }
}

fn hand(lab: &mut Lab, hand: &Value) -> Value {
    ok(lab, &json!({ "do": "hand", "run": 0, "hand": hand }))["entry"].clone()
}

fn look(lab: &mut Lab) -> Value {
    ok(lab, &json!({ "do": "look", "run": 0 }))
}

/// A run with changes by hand between its steps: its log, and its digest after each step and after
/// each change.
fn changed(lab: &mut Lab) -> (Vec<Value>, Vec<(u64, String)>) {
    begin(lab, &[], &[]);
    advance(lab, 0.5);
    let mut log = vec![hand(lab, &json!({ "offer": { "flow": 1, "bytes": 700, "count": 3 } }))];
    let waits = look(lab)["waiting"][0]["packet"].clone();
    log.push(hand(lab, &json!({ "drop": waits })));
    let mut digests = Vec::new();
    for at in 0..40 {
        if at == 10 {
            // Between two events.
            let now = look(lab)["now_s"].as_f64().unwrap_or_default();
            advance(lab, now + 1e-7);
            log.push(hand(lab, &json!({ "set": ["links.uplink.rate", "50 kbit/s"] })));
            let waits = look(lab)["waiting"][1]["packet"].clone();
            log.push(hand(lab, &json!({ "hold": { "packet": waits, "for_s": 0.2 } })));
        }
        let there = look(lab);
        digests.push((there["steps"].as_u64().unwrap_or_default(), there["digest"].to_string()));
        ok(lab, &json!({ "do": "step", "run": 0 }));
    }
    (log, digests)
}

#[test]
fn a_run_that_is_taken_again_with_its_log_is_the_same() {
    let mut lab = Lab::default();
    let (log, digests) = changed(&mut lab);
    let end = advance(&mut lab, 2.0);
    let last = look(&mut lab);
    for (step, digest) in &digests {
        begin(&mut lab, &[], &log);
        let there = go(&mut lab, *step);
        assert_eq!(there["digest"].to_string(), *digest, "step {step}");
    }
    // The changes that were to come are made again on the way to the end.
    let again = advance(&mut lab, 2.0);
    assert_eq!((&again["digest"], &again["steps"], &again["pending"]), (&end["digest"], &end["steps"], &json!(0)));
    let there = look(&mut lab);
    for what in ["waiting", "sending", "fluid", "readings", "held_bytes"] {
        assert_eq!(there[what], last[what], "{what}");
    }
}

#[test]
fn a_change_forgets_what_the_log_had_of_later() {
    let mut lab = Lab::default();
    let (log, digests) = changed(&mut lab);
    begin(&mut lab, &[], &log);
    assert!(go(&mut lab, digests[3].0)["pending"].as_u64() > Some(0));
    hand(&mut lab, &json!({ "offer": { "flow": 0, "bytes": 100, "count": 1 } }));
    assert_eq!(advance(&mut lab, 1.0)["pending"], 0);
}

/// The first row of a table has this in a column.
fn cell(lab: &mut Lab, table: &str, column: &str) -> Value {
    let table = ok(lab, &json!({ "do": "table", "run": 0, "name": table }));
    let mut columns = table["columns"].as_array().into_iter().flatten();
    let at = columns.position(|it| it["name"] == column).unwrap_or_else(|| panic!("{column}: {table}"));
    table["rows"][0][at].clone()
}

#[test]
fn the_records_count_what_the_tables_count() {
    for queue in ["fq", "fifo", "drr", "wf2q_plus", "fq_codel", "fq + longest_queue_drop"] {
        let mut lab = Lab::default();
        begin(&mut lab, &[["links.uplink.queue", queue]], &[]);
        advance(&mut lab, 2.0);
        let history = ok(&mut lab, &json!({ "do": "history", "run": 0, "from_s": 0, "to_s": 2, "bins": 7 }));
        let measures = &history["measures"];
        let total = |column: &str| -> u64 {
            let flows = measures["flows"].as_array().into_iter().flatten();
            flows.map(|flow| flow[column].as_u64().unwrap_or_default()).sum()
        };
        assert_eq!(json!(total("packets")), cell(&mut lab, "links", "packets"), "{queue}");
        assert_eq!(json!(total("drops")), cell(&mut lab, "queues", "dropped"), "{queue}");
        assert!(total("drops") > 0, "{queue}: a test without drops tests no drop");
        let there = look(&mut lab);
        let backlog: f64 = history["flows"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|flow| flow["backlog_bytes"].as_array()?.last()?.as_f64())
            .sum();
        let held = there["held_bytes"].as_f64().unwrap_or_default();
        let sending = there["sending"]["bytes"].as_f64().unwrap_or_default();
        assert!((backlog - held).abs() < 0.5 || (backlog - held - sending).abs() < 0.5, "{queue}: {backlog} {held}");
        let timeline = ok(&mut lab, &json!({ "do": "timeline", "run": 0, "from_s": 0, "to_s": 2, "most": 5000 }));
        let packets = timeline["packets"].as_array().cloned().unwrap_or_default();
        let of = |fate: &str| packets.iter().filter(|it| it["fate"] == fate).count() as u64;
        assert_eq!((of("sent"), of("dropped")), (total("packets"), total("drops")), "{queue}");
    }
}

/// Parekh and Gallager 1993, theorem 1: packet-by-packet, no packet leaves later than in the fluid
/// by
/// more than the longest packet takes. FIFO has no such bound.
#[test]
fn lateness_against_the_fluid_keeps_the_bound_of_pgps_and_fifo_breaks_it() {
    let late = |queue: &str| {
        let mut lab = Lab::default();
        begin(&mut lab, &[["links.uplink.queue", queue], ["links.uplink.buffer", "1000 packets"]], &[]);
        advance(&mut lab, 2.0);
        let history = ok(&mut lab, &json!({ "do": "history", "run": 0, "from_s": 0, "to_s": 2, "bins": 1 }));
        history["measures"]["late_max_packets"].as_f64().unwrap_or(f64::NAN)
    };
    for queue in ["fq + five_tuple", "wfq + five_tuple", "wf2q + five_tuple", "wf2q_plus + five_tuple"] {
        let late = late(queue);
        assert!(late <= 1.0 + 1e-9, "{queue}: {late}");
    }
    assert!(late("fifo") > 1.0);
}

/// What the fluid has served and still holds is what was taken in; it never serves faster than the
/// line.
#[test]
fn the_fluid_serves_what_came() {
    let mut lab = Lab::default();
    begin(&mut lab, &[["links.uplink.buffer", "1000 packets"]], &[]);
    for tenth in 1..20 {
        advance(&mut lab, f64::from(tenth) / 10.0);
        let there = look(&mut lab);
        let timeline = ok(&mut lab, &json!({ "do": "timeline", "run": 0, "from_s": 0, "to_s": 2, "most": 5000 }));
        let came: f64 =
            timeline["packets"].as_array().into_iter().flatten().filter_map(|it| it["bytes"].as_f64()).sum();
        let sum = |what: &str| -> f64 {
            there["fluid"]["flows"].as_array().into_iter().flatten().filter_map(|flow| flow[what].as_f64()).sum()
        };
        assert!((sum("served_bytes") + sum("backlog_bytes") - came).abs() < 0.01, "at {tenth}");
        assert!(sum("served_bytes") <= f64::from(tenth) / 10.0 * 100_000.0 / 8.0 + 0.01);
    }
}

#[test]
fn the_whole_is_what_an_experiment_gives() {
    let mut lab = Lab::default();
    let sets = [["measure.replications", "2"]];
    let whole = ok(&mut lab, &json!({ "do": "whole", "text": NET, "name": "net.toml", "sets": sets }));
    let sets = [("measure.replications".to_owned(), "2".to_owned())];
    let experiment = Experiment::read(NET, "net.toml", &sets).expect("it is a scenario");
    let tables = experiment.runs().map(|run| run.finish(&|_| unreachable!("it names no file")).expect("it runs"));
    let document = experiment.collect(tables).expect("all runs are there").document();
    for name in ["flows", "links", "points", "scenario", "notes"] {
        assert_eq!(whole["document"][name], document[name], "{name}");
    }
}

#[test]
fn what_is_wrong_is_said_in_one_line_and_the_run_stays() {
    let mut lab = Lab::default();
    begin(&mut lab, &[], &[]);
    let before = advance(&mut lab, 0.3)["digest"].clone();
    let cases = [
        (json!({ "do": "read", "text": "links = 3", "name": "a.toml" }), "a.toml"),
        (
            json!({ "do": "read", "text": NET.replace("uplink", "<img onerror=1>"), "sets": [["links.0.rate", "fast"]] }),
            "rate",
        ),
        (
            json!({ "do": "read", "text": NET, "sets": [["flows.0.count", "100000"]], "name": "n.toml" }),
            "fairq run n.toml",
        ),
        (
            json!({ "do": "read", "text": NET, "sets": [["flows.0.count", "1000000"]], "name": "n.toml" }),
            "fairq run n.toml",
        ),
        (json!({ "do": "begin", "run": 1, "text": NET, "link": "uplnk" }), "uplink"),
        (json!({ "do": "begin", "run": 2, "text": NET }), "0 or 1"),
        (json!({ "do": "look", "run": 1 }), "no run"),
        (json!({ "do": "dance", "run": 0 }), "dance"),
        (json!({ "do": "table", "run": 0, "name": "chairs" }), "chairs"),
        (json!({ "do": "hand", "run": 0, "hand": { "drop": 99999 } }), "99999"),
        (json!({ "do": "hand", "run": 0, "hand": { "offer": { "flow": 7, "bytes": 1, "count": 1 } } }), "flow"),
        (json!({ "do": "hand", "run": 0, "hand": { "offer": { "flow": 0, "bytes": 0, "count": 1 } } }), "bytes"),
        (json!({ "do": "hand", "run": 0, "hand": { "set": ["links.uplink.rate", "-1"] } }), "rate"),
        (json!({ "do": "card", "of": "nothing" }), "nothing"),
    ];
    for (request, said) in cases {
        let fault = fault(&mut lab, &request);
        let text = fault["text"].as_str().unwrap_or_default();
        assert!(text.contains(said) && !text.contains('\n'), "{request}: {text}");
        assert_ne!(fault["restart"], true, "{request}");
    }
    assert_eq!(look(&mut lab)["digest"], before);
    for broken in ["", "[]", "{", "\u{0}"] {
        assert!(lab.call(broken.as_bytes()).contains("fault"));
    }
}

#[test]
fn what_a_run_cannot_take_while_it_runs_may_begin_again() {
    let mut lab = Lab::default();
    begin(&mut lab, &[], &[]);
    let set = json!({ "set": ["flows.large.traffic.packet", "500 B"] });
    let fault = fault(&mut lab, &json!({ "do": "hand", "run": 0, "hand": set }));
    assert_eq!(fault["restart"], true, "{fault}");
    begin(&mut lab, &[["flows.large.traffic.packet", "500 B"]], &[]);
    let value = ok(&mut lab, &json!({ "do": "field", "run": 0, "path": "flows.large.traffic.packet" }));
    assert_eq!(value["value"], "500 B");
}

#[test]
fn a_run_stops_at_the_event_that_is_asked_for() {
    let mut lab = Lab::default();
    begin(&mut lab, &[], &[]);
    let until = json!({ "do": "until", "run": 0, "events": ["dropped"], "flow": 1, "to_s": 2, "most": 1_000_000 });
    let there = ok(&mut lab, &until);
    assert_eq!(there["found"], true);
    let events = look(&mut lab)["events"].clone();
    let last =
        events.as_array().into_iter().flatten().rfind(|it| it["event"] == "dropped").cloned().unwrap_or_default();
    assert_eq!((&last["at_s"], &last["flow"]), (&there["now_s"], &json!(1)));
    let none = json!({ "do": "until", "run": 0, "events": ["marked"], "to_s": 2, "most": 1_000_000 });
    let there = ok(&mut lab, &none);
    assert_eq!((&there["found"], &there["reached"]), (&json!(false), &json!(true)));
}

#[test]
fn a_weight_that_changes_by_plan_and_one_by_hand_are_the_same_to_the_fluid() {
    let fluid = |planned: &str, by_hand: bool| {
        let mut lab = Lab::default();
        ok(&mut lab, &json!({ "do": "begin", "run": 0, "text": format!("{NET}{planned}"), "name": "net.toml" }));
        advance(&mut lab, 0.5);
        if by_hand {
            hand(&mut lab, &json!({ "set": ["flows.small.weight", "4"] }));
        }
        advance(&mut lab, 2.0);
        // S and F of each packet: a weight shows in them at once.
        let timeline = json!({ "do": "timeline", "run": 0, "from_s": 0, "to_s": 2, "most": 5000 });
        ok(&mut lab, &timeline)["packets"].clone()
    };
    let planned = "[[changes]]\nat = \"0.5 s\"\nflow = \"small\"\nweight = 4\n";
    assert_eq!(fluid(planned, false), fluid("", true));
    assert_ne!(fluid("", false), fluid("", true));
}
