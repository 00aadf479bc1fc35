//! Every number of the fixed runs, whatever the name of its column and whichever columns stand
//! beside it.
//!
//! `same.txt` is a digest of the text of a result: it changes when a column is added, renamed or
//! moved. The digest here is the sum over all numbers of a hash of (table, row key, column, value),
//! so only a change of a value changes it. `columns.txt` lists the columns that count, with the
//! present name of each column that was renamed; columns that are not in the list do not count.

use crate::digest;
use fairq_experiment::columns::{STATES, TABLES};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The digests as committed.
const COMMITTED: &str = include_str!("values.txt");
/// Lines of a table, a column of it and, if the column was renamed, its present name.
const COLUMNS: &str = include_str!("columns.txt");

/// Scenarios of the papers that have no run in `same.txt`.
const OTHERS: &[(&str, &[(&str, &str)])] = &[
    ("papers/buffers/evolution.toml", digest::BRIEF),
    ("papers/buffers/mixed.toml", digest::BRIEF),
    ("papers/buffers/newcomer.toml", digest::BRIEF),
    ("papers/buffers/packets.toml", digest::BRIEF),
    ("papers/buffers/progress.toml", digest::BRIEF),
    ("papers/buffers/schedule.toml", digest::BRIEF),
    ("papers/buffers/wider.toml", digest::BRIEF),
    ("papers/demers1990/figure1.toml", digest::SHORT),
    ("papers/game/bystander.toml", digest::BRIEF),
    ("papers/game/rates.toml", digest::BRIEF),
    ("papers/legout2002/flood.toml", digest::BRIEF),
    ("papers/legout2002/network.toml", digest::BRIEF),
    ("papers/legout2002/round_trips.toml", digest::BRIEF),
    ("papers/legout2002/selfish.toml", digest::BRIEF),
    ("papers/plm/misbehaving.toml", digest::BRIEF),
    ("papers/plm/self_similar.toml", digest::BRIEF),
    ("papers/plm/sessions.toml", digest::BRIEF),
];

/// Scenarios that run once more with samples over time, the packets of a flow and the disciplines'
/// states.
const WATCHED: &[(&str, &str)] = &[
    ("scenarios/dumbbell.toml", "terminal"),
    ("scenarios/multicast.toml", "transfer"),
    ("scenarios/incast.toml", "block"),
];

/// The columns that name a row of a table; the axes' labels and the seed are part of the key too.
/// The time of a reading is not in the list: of readings those at the end count (`at_end`).
fn keys(table: &str) -> impl Iterator<Item = &'static str> {
    let table = TABLES.into_iter().find(|of| of.name == table).expect("a table");
    let counts = move |name: &&str| (table.name, *name) != (STATES.name, "time_s");
    table.columns.iter().filter(|column| column.is_key).map(|column| column.name).filter(counts)
}

/// Of the rows of `states` of a run those at its end.
fn at_end(mut rows: Vec<Value>) -> Vec<Value> {
    let time = |row: &Value| row["time_s"].as_f64().expect("a reading has a time");
    let end = rows.iter().map(time).fold(0.0, f64::max);
    rows.retain(|row| time(row) == end);
    rows
}

/// By the present name of a column of a table: its first name.
fn first_names() -> BTreeMap<(&'static str, &'static str), &'static str> {
    let line = |line: &'static str| {
        let mut words = line.split_whitespace();
        let [table, first] = [(); 2].map(|()| words.next().expect("a table and a column"));
        ((table, words.next().unwrap_or(first)), first)
    };
    COLUMNS.lines().map(line).collect()
}

/// The column that was zero where no link of a point loses packets, if links of other points do; it
/// has no value there now, so that the tables of a run depend on the run alone.
const LOST: &str = "lost";

/// The sum of the hashes of all numbers and texts of a result.
#[derive(Default)]
struct Values {
    sum: u128,
    /// Whether links of some point lose packets.
    has_lost: bool,
}

impl Values {
    fn table(&mut self, table: &str, rows: &Value, labels: &str) {
        let names = first_names();
        // Rows of one key are numbered, in order.
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        for row in rows.as_array().into_iter().flatten().filter_map(Value::as_object) {
            let mut key = labels.to_owned();
            for column in keys(table) {
                // A key column uses its first name too.
                let now = names.iter().find(|((of, _), first)| *of == table && **first == column);
                let value = now.and_then(|((_, now), _)| row.get(*now)).unwrap_or(&Value::Null);
                write!(key, "|{value}").expect("text");
            }
            let times = seen.entry(key.clone()).or_default();
            *times += 1;
            let key = format!("{table}|{key}|{times}");
            self.row(table, row, &key, &names);
        }
    }

    fn row(
        &mut self,
        table: &str,
        row: &Map<String, Value>,
        key: &str,
        names: &BTreeMap<(&'static str, &'static str), &'static str>,
    ) {
        let zero = Value::from(0);
        for (column, value) in row {
            let value = if value.is_null() && column == LOST && self.has_lost { &zero } else { value };
            if value.is_null() {
                continue;
            }
            let end = ["_low", "_high"].into_iter().find(|end| column.ends_with(end)).unwrap_or_default();
            let base = &column[..column.len() - end.len()];
            if let Some(first) = names.get(&(table, base)) {
                self.sum = self.sum.wrapping_add(digest::digest(&format!("{key}|{first}{end}|{value}")));
            }
        }
    }

    fn tables(&mut self, object: &Value, labels: &str) {
        for table in ["flows", "links", "queues", "transfers", "sessions"] {
            self.table(table, &object[table], labels);
        }
    }

    /// All tables of a document: of each point, and of each of its seeds.
    fn document(&mut self, document: &Value) {
        let links = document["links"].as_array().into_iter().flatten();
        self.has_lost = links.into_iter().any(|row| row.get(LOST).is_some_and(|lost| !lost.is_null()));
        for point in document["points"].as_array().expect("points") {
            let labels = point["axes"].to_string();
            self.tables(point, &labels);
            for seed in point["seeds"].as_array().expect("seeds") {
                self.tables(seed, &format!("{labels}|{}", seed["seed"]));
            }
        }
        for table in ["series", "packets", "states"] {
            let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
            let axes: Vec<String> = document["points"][0]["axes"].as_object().expect("axes").keys().cloned().collect();
            for row in document[table].as_array().into_iter().flatten() {
                let label = |name: &String| row[name].to_string();
                let labels: Vec<String> = axes.iter().chain([&"seed".to_owned()]).map(label).collect();
                groups.entry(labels.join("|")).or_default().push(row.clone());
            }
            for (labels, rows) in groups {
                let rows = if table == STATES.name { at_end(rows) } else { rows };
                self.table(table, &Value::Array(rows), &labels);
            }
        }
    }
}

/// The lines of `values.txt`.
fn lines() -> String {
    let mut lines = String::new();
    let mut add = |name: &str, document: &Value| {
        let mut values = Values::default();
        values.document(document);
        writeln!(lines, "{:032x} {name}", values.sum).expect("text");
    };
    for (file, sets) in digest::RUNS.iter().chain(OTHERS) {
        add(file, &digest::document(file, sets, 2, None));
    }
    for (file, flow) in WATCHED {
        add(&format!("{file} watched"), &digest::document(file, digest::BRIEF, 2, Some(flow)));
    }
    lines
}

/// An intended change of values is an entry under *Results* in the changelog.
#[test]
fn no_value_has_changed() {
    let found = lines();
    assert!(found == COMMITTED, "values have changed; if they should, crates/experiment/tests/values.txt is:\n{found}");
}

/// The digest reacts to a change of one value, but not to the order of columns or to a further
/// column.
#[test]
fn the_digest_is_of_values() {
    let sum = |text: &str| {
        let mut values = Values::default();
        values.table("queues", &serde_json::from_str(text).expect("JSON"), "");
        values.sum
    };
    let one = sum(r#"[{"link": "a", "direction": "forward", "dropped": 3, "marked": null}]"#);
    assert_eq!(one, sum(r#"[{"dropped": 3, "direction": "forward", "link": "a", "is_new": 7}]"#));
    assert_ne!(one, sum(r#"[{"dropped": 4, "direction": "forward", "link": "a"}]"#));
    assert_ne!(one, sum(r#"[{"dropped": 3, "direction": "reverse", "link": "a"}]"#));
}
