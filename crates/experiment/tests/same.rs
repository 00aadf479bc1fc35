//! The same scenario with the same seed gives the same bytes: twice, on any number of workers, in
//! any build.

use crate::digest;
use crate::networks;
use crate::running;
use fairq_experiment::experiment::{Experiment, Options};
use fairq_sim::run::Simulation;
use serde_json::Value;
use std::fmt::Write as _;

/// The digests as committed. An intended change of results writes this file again, with an entry in
/// the changelog.
const COMMITTED: &str = include_str!("same.txt");

#[test]
fn results_are_those_that_are_committed() {
    let found = digest::lines(1);
    let repair = "cargo run --release -p fairq-experiment --example digest > crates/experiment/tests/same.txt";
    assert!(found == COMMITTED, "results have changed:\n{found}if they should, run: {repair}");
}

#[test]
fn workers_change_nothing() {
    for workers in [2, 8] {
        assert_eq!(digest::lines(workers), COMMITTED, "{workers} workers");
    }
}

/// The most events of a random test network.
const EVENTS: u64 = 300_000;

#[test]
fn a_drawn_world_runs_twice_the_same() {
    for seed in 1000..1040 {
        let text = networks::world(seed);
        let run = |workers| {
            let sets = [("measure.replications".into(), "3".into())];
            let experiment = Experiment::read_with(&text, "drawn.json", &sets, &networks::file).ok()?;
            // A window over lines that take almost no time never ends.
            let plan = &experiment.plans()[0].1;
            let mut probe = Simulation::new(plan, seed, &networks::file).ok()?;
            let end = plan.warm_up + plan.duration;
            if (0..EVENTS).all(|_| probe.step(end)) {
                return None;
            }
            let mut result =
                experiment.run(Options { workers, files: &networks::file, progress: &mut |_| true }).ok()?;
            result.as_object_mut()?.shift_remove("run_info");
            Some(result.to_string())
        };
        let first = run(1);
        assert!(first == run(1) && first == run(3), "test network {seed}");
    }
}

/// Flows of one network, as rows; `more` adds a flow before the others.
fn rows(more: bool) -> Vec<Value> {
    let another = "[[flows]]\nname = \"new\"\nfrom = \"c\"\nto = \"d\"\ntraffic = \"telnet(mean_gap=10ms)\"\n";
    let text = format!(
        "edition = 1\n[measure]\nduration = \"200 s\"\nreplications = 3\n\
         [[links]]\nname = \"other\"\nfrom = \"c\"\nto = \"d\"\nrate = \"1 Mbit/s\"\n\
         [[links]]\nname = \"one\"\nfrom = \"a\"\nto = \"b\"\nrate = \"56 kbit/s\"\nqueue = \"fq + 5packets\"\n\
         {}[[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"telnet(mean_gap=50ms)\"\n\
         [[flows]]\nname = \"y\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"poisson(rate=50kbit/s)\"\n",
        if more { another } else { "" },
    );
    let result = running::run(&text);
    let rows = result["flows"].as_array().expect("rows").iter();
    rows.filter(|row| row["flow"] != "new").cloned().collect()
}

/// Starts and traffic have random streams by name: a flow that shares no line with the others does
/// not change them.
#[test]
fn another_flow_changes_no_other_flows_chance() {
    assert_eq!(rows(false), rows(true));
}

/// Another seed is another run: otherwise the tests above would prove little.
#[test]
fn another_seed_gives_another_result() {
    let run =
        |seed| digest::result("scenarios/dumbbell.toml", &[("measure.seed", seed), ("measure.duration", "50 s")], 1);
    let [one, two] = ["1", "2"].map(|seed| {
        let result: Value = serde_json::from_str(&run(seed)).expect("what was written");
        result["flows"].clone()
    });
    assert_ne!(one, two);
}

/// One seed of two of the paper's scenarios, for people to read: packets that arrived, were sent
/// again, were dropped.
#[test]
fn the_paper_s_second_and_fourth_scenario_look_like_this() {
    let mut table = String::new();
    for number in [2, 4] {
        let file = format!("papers/demers1990/scenario{number}.toml");
        let result = digest::result(&file, &[("measure.replications", "1")], 2);
        let result: Value = serde_json::from_str(&result).expect("what was written");
        writeln!(table, "scenario {number}    flow  arrived    again  dropped").expect("text");
        for row in result["flows"].as_array().expect("rows") {
            let [policy, flow] = ["policy", "flow"].map(|column| row[column].as_str().expect("text"));
            let [arrived, again, dropped] =
                ["throughput_packets", "retransmitted", "dropped"].map(|column| row[column].as_u64().expect("a count"));
            writeln!(table, "{policy:<12} {flow:>6} {arrived:>8} {again:>8} {dropped:>8}").expect("text");
        }
    }
    assert!(
        table == include_str!("paper.txt"),
        "crates/experiment/tests/paper.txt should be, if this is meant:\n{table}"
    );
}
