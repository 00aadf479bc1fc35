//! No axis hides a column: the name of each column of each table is refused as an axis.

use crate::running;
use fairq_experiment::experiment::Experiment;
use fairq_sched::units::Time;
use serde_json::Value;
use std::collections::BTreeSet;

/// Flows, transfers and a session over a link that loses packets, so that every table has rows and
/// all its columns.
const ALL_TABLES: &str = r#"
[measure]
duration = "1 s"
replications = 2
[[links]]
name = "line"
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"
loss = 0.01
[[flows]]
name = "file"
from = "a"
to = "b"
traffic = "ftp"
transport = "reno"
[[flows]]
name = "pages"
from = "a"
to = "b"
traffic = { kind = "flow_arrivals", mean_gap = "100 ms", size = "2 kB" }
transport = "reno"
deadline = "10 ms"
count = 4
[[sessions]]
name = "film"
from = "a"
rates = ["100 kbit/s", "100 kbit/s"]
control = "rlm"
receivers = [{ at = "b" }]
"#;

/// Every table of a run, and those that theory adds (python/fairq/theories/overlay.py).
const TABLES: [&str; 7] = ["flows", "links", "queues", "transfers", "sessions", "series", "packets"];

fn columns() -> BTreeSet<String> {
    let mut experiment = running::read(ALL_TABLES);
    experiment.sample_every(Time::from_ms(100)).expect("few rows");
    experiment.trace_flow("file").expect("a flow");
    let document = running::document(&experiment);
    let mut names = BTreeSet::new();
    let mut add = |tables: &Value, which: &[&str]| {
        for table in which {
            let row = tables[*table].get(0).and_then(Value::as_object).unwrap_or_else(|| panic!("no row of {table}"));
            names.extend(row.keys().cloned());
        }
    };
    add(&document, &TABLES);
    // The tables of a seed have no interval columns; those of a point have them.
    add(&document["points"][0]["seeds"][0], &TABLES[..5]);
    add(&document["points"][0], &TABLES[..5]);
    names
}

fn with_axis(name: &str) -> Option<String> {
    let text = format!("{ALL_TABLES}\n[[axes]]\nname = {name:?}\npath = \"measure.seed\"\nvalues = [1, 2]\n");
    Experiment::read(&text, "all.toml", &[]).err().map(|problem| problem.to_string())
}

#[test]
fn an_axis_called_as_any_column_of_any_table_is_refused() {
    let columns = columns();
    let found: Vec<&str> = columns.iter().map(String::as_str).collect();
    for column in [
        "time_s",
        "held_packets",
        "sent_s",
        "received_s",
        "rtt_s_mean_low",
        "level_mean_high",
        "seed",
        "lost",
        "in_time",
    ] {
        assert!(found.contains(&column), "the run has no column {column}: {found:?}");
    }
    let let_through: Vec<&str> = found.into_iter().filter(|column| with_axis(column).is_none()).collect();
    assert!(let_through.is_empty(), "axes may be called {let_through:?}");
    assert_eq!(
        with_axis("time_s").as_deref(),
        Some("all.toml:34: axes[0].name: time_s is a column of the results; choose another name")
    );
    assert_eq!(with_axis("policy"), None);
    assert_eq!(with_axis("below"), None);
}
