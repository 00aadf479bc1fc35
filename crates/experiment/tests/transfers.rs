//! Transfers: how long they take alone and together, and how many there are at a time, compared
//! with theory.

use fairq_experiment::experiment::{Experiment, Options};
use fairq_sched::units::Time;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::run::Simulation;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

fn run(scenario: &Value) -> Value {
    let experiment = Experiment::read(&scenario.to_string(), "transfers.json", &[]).unwrap_or_else(|p| panic!("{p}"));
    let files = |name: &str| Err(format!("{name}: no file is read here"));
    let options = Options { workers: 2, files: &files, progress: &mut |_| true };
    experiment.run(options).unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

/// One flow over one line.
fn scenario(seconds: u32, queue: &str, flow: Value) -> Value {
    let mut whole = json!({
        "name": "users", "from": "gateway", "to": "sink", "transport": "fixed_window(window=100000)", "start": "0 s",
    });
    whole.as_object_mut().expect("a table").extend(flow.as_object().expect("a table").clone());
    json!({
        "edition": 1,
        "measure": {"warm_up": "10 s", "duration": format!("{seconds} s")},
        "links": [{"name": "line", "from": "gateway", "to": "sink", "rate": "8 Mbit/s", "reverse_rate": "unlimited",
                   "queue": queue}],
        "flows": [whole],
    })
}

/// A column of the row of all sizes.
fn of_all(document: &Value, column: &str) -> f64 {
    let row = &document["transfers"][0];
    assert_eq!(row["size"], "all");
    row[column].as_f64().unwrap_or_else(|| panic!("{column} is {}", row[column]))
}

#[test]
fn alone_on_its_path_a_transfer_takes_the_ideal_time() {
    // 2500 B in three packets. Access 1 Mbit/s and 3 ms, line 8 Mbit/s, the sink's access 4 Mbit/s
    // and 4 ms; 40 B back.
    let flow = json!({
        "traffic": "request_response(size=2500B, think=1s)",
        "access": {"rate": "1 Mbit/s", "delay": "3 ms"},
        "sink_access": {"rate": "4 Mbit/s", "delay": "4 ms"},
    });
    let document = run(&scenario(100, "fq", flow));
    // In milliseconds: all of it, then the last packet's 500 B on two lines.
    let data = 20.0 + 0.5 + 1.0;
    let back = 2.0 * 7.0 + 0.32 + 0.08;
    assert!((of_all(&document, "completion_s_mean") - (data + back) / 1e3).abs() < 1e-12, "{}", document["transfers"]);
    assert_eq!(of_all(&document, "slowdown_mean"), 1.0);
    assert_eq!(document["transfers"][1]["size"], "1 kB to 10 kB");
    assert_eq!(of_all(&document, "completed_bytes"), 2500.0 * of_all(&document, "completed"));
}

/// 25 packets of 1 ms over a round trip of 100 ms: ten at once, whose first acknowledgement arrives
/// at 101 ms and allows two more, and so on. The line is busy from then with the other fifteen, and
/// the last is acknowledged at 216 ms. The host takes no time.
#[test]
fn a_transfer_finds_its_tcp_connection_new() {
    let mut whole = scenario(100, "fq", json!({"traffic": "request_response(size=25kB)", "transport": "reno"}));
    whole["links"][0]["delay"] = json!("50 ms");
    whole["flows"][0]["connection"] = json!({"processing": "0 s"});
    let document = run(&whole);
    assert!(of_all(&document, "completed") > 50.0);
    // The mean of all is exact: no transfer found a larger window than the first.
    assert!((of_all(&document, "completion_s_mean") - 0.216).abs() < 1e-12, "{}", document["transfers"][0]);
    // Alone it would take 25 ms and a round trip.
    assert!((of_all(&document, "slowdown_mean") - 0.216 / 0.125).abs() < 1e-9);
}

/// The connections of one flow whose packets came to a line.
#[derive(Clone, Default)]
struct Incarnations(Arc<Mutex<BTreeSet<u8>>>);

impl Observer for Incarnations {
    fn event(&mut self, _: Time, event: &Event<'_>) {
        if let Event::Arrived { segment, .. } = event {
            self.0.lock().expect("one thread").insert(segment.incarnation);
        }
    }
}

/// Five transfers, one every second and a bit: each is a connection with a port of its own. A queue
/// knows a flow with a weight by its ports, which stay then.
#[test]
fn each_transfer_has_a_port_of_its_own() {
    for (more, expected) in [(json!({}), 5), (json!({"weight": 2}), 1)] {
        let mut whole = scenario(4, "cake", json!({"traffic": "request_response(size=2500B, think=1s)"}));
        whole["measure"]["warm_up"] = json!("1 s");
        whole["flows"][0].as_object_mut().expect("a table").extend(more.as_object().expect("a table").clone());
        let experiment = Experiment::read(&whole.to_string(), "ports.json", &[]).unwrap_or_else(|p| panic!("{p}"));
        let files = |name: &str| Err(format!("{name}: no file is read here"));
        let mut simulation = Simulation::new(&experiment.plans()[0].1, 1, &files).expect("a run");
        let seen = Incarnations::default();
        simulation.observe(Box::new(seen.clone()));
        simulation.run_until(Time::from_s(5));
        assert_eq!(seen.0.lock().expect("one thread").len(), expected, "{more}");
    }
}

/// Poisson arrivals of transfers of 20 packets at a load of 0.7.
fn arrivals(queue: &str, size: &str) -> f64 {
    let traffic = format!("flow_arrivals(rate=8Mbit/s, load=0.7, size={size})");
    let flow = json!({"traffic": traffic, "count": 200, "access": {"rate": "unlimited"}});
    let document = run(&scenario(2000, queue, flow));
    assert_eq!(of_all(&document, "refused"), 0.0);
    of_all(&document, "in_progress_mean")
}

/// Processor sharing: 0.7 / 0.3 = 2.33 for any distribution of sizes. The deviation of the mean
/// over 2000 s is that of M/M/1, sqrt(2 rho (1 + rho) / (1 - rho)^4 / mu / T) = 0.054; whole
/// packets make each transfer longer by at most one: 0.035.
#[test]
fn a_fair_line_holds_as_many_transfers_as_processor_sharing() {
    for size in ["20kB", "exponential(mean=20kB)"] {
        let found = arrivals("fq", size);
        assert!((found - 0.7 / 0.3).abs() < 3.0 * 0.054 + 0.035, "{size}: {found}");
    }
    // First in, first out serves one after another: M/D/1 has 0.7 + 0.49 / 0.6 = 1.52.
    let found = arrivals("fifo", "20kB");
    assert!((found - 1.517).abs() < 0.1, "{found}");
}

/// One connection that refuses transfers while it is busy: Erlang's loss formula, for any
/// distribution of sizes.
#[test]
fn what_finds_no_idle_connection_is_refused() {
    // 10 kB take 10 ms, and arrive every 10 ms on average: a load of 1 Erlang, of which half is
    // lost.
    let flow = json!({"traffic": "flow_arrivals(mean_gap=10ms, size=exponential(mean=10kB))"});
    let document = run(&scenario(200, "fq", flow));
    let (refused, completed) = (of_all(&document, "refused"), of_all(&document, "completed"));
    let lost = refused / (refused + completed);
    // Of 20 000 arrivals; each outcome depends on those within some transfers.
    assert!((lost - 0.5).abs() < 0.02, "{lost}");
    assert!((of_all(&document, "in_progress_mean") - 0.5).abs() < 0.02);
}

/// Erlang C: a line with five times the rate of the transfers' access lines, at a load of 0.8,
/// holds A + C rho / (1 - rho) of them if none is ever faster than its access line. Here a transfer
/// that has fallen behind has packets at the line and catches up faster, so that there are some
/// percent fewer.
#[test]
fn a_peak_rate_makes_the_line_a_queue_of_several_servers() {
    let traffic = "flow_arrivals(rate=8Mbit/s, load=0.8, size=exponential(mean=20kB))";
    let flow = json!({"traffic": traffic, "count": 200, "access": {"rate": "1.6 Mbit/s"}});
    let document = run(&scenario(1000, "fq", flow));
    // A = 4: the terms A^k / k! are 1, 4, 8, 10.667, 10.667 and at five 8.533 / 0.2.
    let waits = 42.667 / (1.0 + 4.0 + 8.0 + 10.667 + 10.667 + 42.667);
    let expected = 4.0 + waits * 0.8 / 0.2;
    let found = of_all(&document, "in_progress_mean");
    // Without the peak rate there would be 4.0. The deviation over 1000 s is three percent.
    assert!((found / expected - 1.0).abs() < 0.12, "{found}, not {expected}");
}

#[test]
fn a_decade_that_one_seed_lacks_has_a_row_all_the_same() {
    let mut whole = scenario(
        20,
        "fq",
        json!({"traffic": "flow_arrivals(mean_gap=1s, size=pareto(mean=10kB, shape=1.1))", "count": 20}),
    );
    whole["measure"]["replications"] = json!(8);
    let document = run(&whole);
    let sizes = |rows: &Value| -> Vec<String> {
        rows.as_array().into_iter().flatten().filter_map(|row| row["size"].as_str().map(str::to_string)).collect()
    };
    let all = sizes(&document["transfers"]);
    let seeds = document["points"][0]["seeds"].as_array().expect("seeds");
    let counts: Vec<usize> = seeds.iter().map(|seed| sizes(&seed["transfers"]).len()).collect();
    assert!(counts.iter().any(|count| *count < all.len()), "the seeds are too alike for this test: {counts:?}");
    for seed in seeds {
        assert!(sizes(&seed["transfers"]).iter().all(|size| all.contains(size)));
    }
    let decade = |size: &String| {
        let (number, unit) = size.split(" to ").next().and_then(|from| from.split_once(' ')).expect("a size");
        let thousands = ["B", "kB", "MB", "GB"].iter().position(|known| *known == unit).expect("a unit");
        3 * thousands + number.len() - 1
    };
    let decades: Vec<usize> = all.iter().skip(1).map(decade).collect();
    assert!(decades.is_sorted() && !decades.is_empty(), "{all:?}");
    assert!(document["transfers"][0]["completed_low"].is_number());
}
