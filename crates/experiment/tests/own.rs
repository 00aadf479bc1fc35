//! Parts that are written outside this tree: those of `examples/own-parts`, in scenarios.

use crate::own_parts::parts;
use crate::running::no_file;
use fairq_experiment::experiment::{Experiment, Options};
use serde_json::Value;

/// A link of 10 Mbit/s from a to b with `queue`, and two flows; `rest` is behind it.
fn text(queue: &str, rest: &str) -> String {
    let flow = |name: &str, traffic: &str, transport: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\ntraffic = {traffic}\ntransport = {transport}\n"
        )
    };
    format!(
        "edition = 2\nmeasure = {{ duration = \"5 s\" }}\n[defaults]\nstart = \"0 s\"\n[[links]]\nname = \"l\"\n\
         from = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = {queue}\n{}{}{rest}\n",
        flow("file", "\"ftp\"", "\"reno\""),
        flow("beats", "\"constant_rate(rate=4Mbit/s, packet=500B)\"", "\"uncontrolled\""),
    )
}

fn read(text: &str, sets: &[(&str, &str)]) -> Result<Experiment, String> {
    let sets: Vec<(String, String)> = sets.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    Experiment::read_own(text, "a.toml", &sets, &no_file, &parts()).map_err(|problem| problem.to_string())
}

fn run(text: &str, sets: &[(&str, &str)]) -> Value {
    let experiment = read(text, sets).unwrap_or_else(|problem| panic!("{problem}"));
    let options = Options { workers: 1, files: &no_file, progress: &mut |_| true };
    experiment.run(options).unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

fn fault(text: &str, sets: &[(&str, &str)]) -> String {
    read(text, sets).map(drop).unwrap_err()
}

/// What the flows got, without the names of parts.
fn counts(result: &Value) -> Vec<Value> {
    let mut rows = result["flows"].as_array().expect("rows").clone();
    for row in &mut rows {
        for named in ["policy", "queue"] {
            row.as_object_mut().expect("a row").shift_remove(named);
        }
    }
    rows
}

#[test]
fn text_table_and_option_say_the_same() {
    let written = run(&text("\"shortest_queue(grain=3) + 50packets\"", ""), &[]);
    let table = "{ scheduler = { kind = \"shortest_queue\", grain = 3 }, limit = \"50 packets\" }";
    let shape = "{ scheduler = { kind = \"own\", name = \"shortest_queue\", settings = { grain = 3 } }, limit = \"50 packets\" }";
    let plain = text("\"shortest_queue + 50packets\"", "");
    let others = [
        run(&text(table, ""), &[]),
        run(&text(shape, ""), &[]),
        run(&plain, &[("links.l.queue.scheduler.grain", "3")]),
        run(&text("\"fifo\"", ""), &[("links.l.queue", "shortest_queue(grain=3) + 50packets")]),
        run(
            &text("\"shortest_queue(grain=3) + 50packets\"", "").replace("[[links]]", "queue = \"fifo\"\n[[links]]"),
            &[],
        ),
    ];
    for other in others {
        assert_eq!((&other["flows"], &other["links"]), (&written["flows"], &written["links"]));
    }
    assert_eq!(written["flows"][0]["policy"], "shortest_queue");
    assert!(counts(&run(&plain, &[])) != counts(&written), "the setting changes what is sent");
    // The scenario of a result is read again.
    let again = written["scenario"].to_string();
    assert_eq!(run(&again, &[])["flows"], written["flows"]);
}

#[test]
fn axes_vary_own_parts_and_their_settings() {
    let of_queues = "[[axes]]\nname = \"x\"\npath = \"links.l.queue\"\nvalues = [\"shortest_queue(grain=1) + 50packets\", \
                     \"shortest_queue(grain=9) + 50packets\", \"drr + 50packets\"]";
    let three = run(&text("\"fifo\"", of_queues), &[]);
    let policies: Vec<&str> = three["points"]
        .as_array()
        .expect("points")
        .iter()
        .map(|point| point["flows"][0]["policy"].as_str().expect("a name"))
        .collect();
    assert_eq!(policies, ["shortest_queue", "shortest_queue", "drr"]);
    let of_settings = "[[axes]]\nname = \"x\"\npath = \"links.l.queue.scheduler.grain\"\nvalues = [1, 9]";
    let two = run(&text("\"shortest_queue + 50packets\"", of_settings), &[]);
    for point in 0..2 {
        assert_eq!(counts(&two["points"][point]), counts(&three["points"][point]));
    }
}
