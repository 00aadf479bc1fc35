//! What disciplines show of themselves is the same wherever a run tells of it: in `states` at the
//! end and at each sample, and asked of the discipline itself. Asking changes nothing.

use crate::digest;
use crate::running::{document, no_file, read};
use fairq_experiment::experiment::Experiment;
use fairq_sched::contract::Discipline as _;
use fairq_sched::registry::{BUFFER_POLICIES, DESIGNS, SCHEDULERS};
use fairq_sched::units::Time;
use fairq_sim::plan::Plan;
use fairq_sim::run::Simulation;
use fairq_testkit::scenarios::dumbbell;
use serde_json::{Value, json};

const INTERVAL: Time = Time::from_ms(250);
const SAMPLES: u64 = 4;

/// A dumbbell behind each scheduler, buffer policy and design that may stand there. After 250 ms
/// its line is idle, after a second it is not.
fn experiments(duration: &str) -> Vec<(String, Experiment)> {
    let names = SCHEDULERS.iter().chain(DESIGNS).map(|card| card.name.to_owned());
    let names = names.chain(BUFFER_POLICIES.iter().map(|card| format!("fifo + {}", card.name)));
    let experiment = |name: String| {
        let sets = [("links.bottleneck.queue", name.as_str()), ("measure.duration", duration)];
        let sets = sets.map(|(path, value)| (path.to_owned(), value.to_owned()));
        let experiment = Experiment::read(&dumbbell("fifo", 1), "a.toml", &sets).ok()?;
        Some((name, experiment))
    };
    names.filter_map(experiment).collect()
}

/// The rows of `states` that the disciplines themselves give now.
fn asked(plan: &Plan, simulation: &Simulation, now: Time) -> Vec<Value> {
    let mut rows = Vec::new();
    for (line, state) in plan.lines.iter().zip(&simulation.network.lines).filter(|(line, _)| !line.is_access) {
        let gateway = state.gateway.as_ref().expect("it has a rate");
        gateway.port.discipline().readings(now, &mut |reading| {
            rows.push(json!({
                "seed": 1, "time_s": now.as_s(), "link": *line.name, "direction": line.direction(),
                "discipline": line.queue.name(), "quantity": reading.name,
                "subqueue": reading.part(), "unit": reading.unit.name(),
                "value": reading.value.real(),
            }));
        });
    }
    rows
}

fn take(document: &mut Value, table: &str) -> Vec<Value> {
    document[table].take().as_array().expect("a table").clone()
}

#[test]
fn each_sample_and_the_end_have_what_the_disciplines_show_then() {
    let mut readings = 0;
    for (name, mut experiment) in experiments("1 s") {
        experiment.sample_every(INTERVAL).expect("few rows");
        experiment.keep_states().expect("few rows");
        let found = take(&mut document(&experiment), "states");
        let plan = &experiment.plans()[0].1;
        let mut simulation = Simulation::new(plan, 1, &no_file).unwrap_or_else(|(_, fault)| panic!("{fault}"));
        simulation.observe(Box::new(Vec::new()));
        let mut expected = Vec::new();
        for sample in 1..=SAMPLES {
            let now = Time(sample * INTERVAL.0);
            simulation.run_until(now);
            expected.extend(asked(plan, &simulation, now));
        }
        assert_eq!(found, expected, "{name}");
        readings += found.len();
    }
    assert!(readings > 3000, "{readings}");
}

#[test]
fn samples_change_no_number_of_a_run() {
    for (name, mut experiment) in experiments("1 s").into_iter().chain(experiments("250 ms")) {
        let end_s = experiment.longest_run().as_s();
        let mut plain = document(&experiment);
        experiment.keep_states().expect("few rows");
        let mut kept = document(&experiment);
        experiment.sample_every(Time::from_ms(50)).expect("few rows");
        let mut sampled = document(&experiment);
        let [alone, all] = [&mut kept, &mut sampled].map(|document| take(document, "states"));
        let end: Vec<Value> = all.iter().filter(|row| row["time_s"] == end_s).cloned().collect();
        assert_eq!(end, alone, "{name}");
        assert!(all.is_sorted_by_key(|row| row["time_s"].as_f64()), "{name}");
        let without = |document: &mut Value| {
            for part in ["states", "series", "run_info"] {
                document[part].take();
            }
            document.to_string()
        };
        let plain = without(&mut plain);
        assert_eq!([without(&mut kept), without(&mut sampled)], [plain.clone(), plain], "{name}");
    }
}

/// An interval that does not divide the run: the end has rows of its own.
#[test]
fn the_times_of_readings_are_those_of_the_samples_and_the_end() {
    let mut experiment = read(&dumbbell("drr", 1));
    experiment.keep_states().expect("few rows");
    experiment.sample_every(Time::from_ms(300)).expect("few rows");
    let document = document(&experiment);
    let times = |table: &str| {
        let rows = document[table].as_array().expect("a table").iter();
        let mut times: Vec<f64> = rows.map(|row| row["time_s"].as_f64().expect("a time")).collect();
        times.dedup();
        times
    };
    let mut expected = times("series");
    expected.push(1.0);
    assert_eq!(times("states"), expected);
}

#[test]
fn the_readings_do_not_depend_on_the_number_of_threads() {
    let of = |workers: usize| {
        let sets = [("measure.duration", "1 s"), ("measure.replications", "3")];
        let mut document = digest::document("scenarios/dumbbell.toml", &sets, workers, Some("terminal"));
        take(&mut document, "states")
    };
    let one = of(1);
    assert!(one.len() > 100);
    assert_eq!(one, of(2));
}

#[test]
fn an_interval_that_gives_too_many_readings_is_refused() {
    let text = "edition = 2\n[measure]\nduration = \"1 s\"\n\
        [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\nqueue = \"cake\"\n\
        [[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n";
    let short = Time(1_000_000);
    let mut samples_first = read(text);
    samples_first.sample_every(short).expect("three rows each");
    let mut states_first = read(text);
    states_first.keep_states().expect("no samples");
    for refused in [samples_first.keep_states(), states_first.sample_every(short)] {
        let said = refused.expect_err("many rows each").to_string();
        assert!(
            said.contains("a sample every 1 us gives ")
                && said.contains(" rows of states, and at most 5000000 are kept"),
            "{said}"
        );
    }
}
