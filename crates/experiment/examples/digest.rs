//! Prints a digest of the results of a handful of scenarios, a line each:
//! `digest > crates/experiment/tests/same.txt`.
//!
//! The result is the JSON text without `run_info`, the scenario and the notes, whose words may
//! change while the numbers stay. A debug build, a release build and every machine print the same.

use fairq_experiment::experiment::{Experiment, Options};
use fairq_sched::units::Time;
use serde_json::Value;
use std::path::Path;

/// The scenarios, and the overrides that make them short.
pub const RUNS: &[(&str, &[(&str, &str)])] = &[
    ("papers/demers1990/scenario1.toml", SHORT),
    ("papers/demers1990/scenario2.toml", SHORT),
    ("papers/demers1990/scenario3.toml", SHORT),
    ("papers/demers1990/scenario4.toml", &[("measure.duration", "300 s")]),
    ("papers/demers1990/scenario5.toml", &[("measure.duration", "300 s")]),
    ("papers/demers1990/scenario6.toml", &[("measure.duration", "300 s")]),
    ("papers/buffers/alone.toml", BRIEF),
    ("papers/buffers/flows.toml", BRIEF),
    ("papers/game/crowd.toml", BRIEF),
    ("papers/game/pairs.toml", BRIEF),
    ("papers/legout2002/figure1.toml", BRIEF),
    ("papers/legout2002/users.toml", BRIEF),
    ("papers/miyamura2002/experiment1.toml", BRIEF),
    ("papers/miyamura2002/experiment2.toml", BRIEF),
    ("papers/miyamura2002/experiment3.toml", BRIEF),
    ("papers/plm/receivers.toml", BRIEF),
    ("papers/plm/tcp.toml", BRIEF),
    ("scenarios/byte_buffers.toml", &[]),
    ("scenarios/come_and_go.toml", &[]),
    ("scenarios/congestion_controls.toml", BRIEF),
    ("scenarios/csfq_island.toml", BRIEF),
    ("scenarios/decbit.toml", BRIEF),
    ("scenarios/delta.toml", &[]),
    ("scenarios/dumbbell.toml", BRIEF),
    ("scenarios/flow_arrivals.toml", BRIEF),
    ("scenarios/generated_parking_lot.toml", BRIEF),
    ("scenarios/hpfq.toml", BRIEF),
    ("scenarios/htb.toml", BRIEF),
    ("scenarios/ill_behaved.toml", BRIEF),
    ("scenarios/incast.toml", BRIEF),
    ("scenarios/leaf_spine.toml", BRIEF),
    ("scenarios/long_fat.toml", BRIEF),
    ("scenarios/lossy_link.toml", BRIEF),
    ("scenarios/multicast.toml", BRIEF),
    ("scenarios/packet_table.toml", BRIEF),
    ("scenarios/parking_lot.toml", BRIEF),
    ("scenarios/phase.toml", BRIEF),
    ("scenarios/preemption.toml", &[]),
    ("scenarios/refund.toml", &[]),
    ("scenarios/request_response.toml", BRIEF),
    ("scenarios/reverse_path.toml", BRIEF),
    ("scenarios/round_robin_sizes.toml", BRIEF),
    ("scenarios/self_similar.toml", BRIEF),
    ("scenarios/shared_buffer.toml", BRIEF),
    ("scenarios/token_bucket.toml", &[]),
    ("scenarios/virtual_clock.toml", &[]),
    ("scenarios/web.toml", BRIEF),
    ("scenarios/weights.toml", &[("defaults.start", "drawn"), ("measure.replications", "3")]),
    ("tests/peers/scenarios/buffers.toml", BRIEF),
    ("tests/peers/scenarios/dumbbell.toml", BRIEF),
    ("tests/peers/scenarios/vwfq1.toml", BRIEF),
];
/// Five minutes of a paper, three times.
pub const SHORT: &[(&str, &str)] =
    &[("measure.warm_up", "50 s"), ("measure.duration", "300 s"), ("measure.replications", "3")];
/// Eight seconds, once.
pub const BRIEF: &[(&str, &str)] =
    &[("measure.warm_up", "2 s"), ("measure.duration", "8 s"), ("measure.replications", "1")];

/// A line for each run: its digest and its scenario.
pub fn lines(workers: usize) -> String {
    RUNS.iter().map(|(file, sets)| format!("{:032x} {file}\n", digest(&result(file, sets, workers)))).collect()
}

/// The result of a scenario without the parts that depend on the machine, as JSON text.
pub fn result(file: &str, sets: &[(&str, &str)], workers: usize) -> String {
    let mut result = document(file, sets, workers, None);
    for part in ["run_info", "scenario", "notes"] {
        result.as_object_mut().expect("a document").shift_remove(part).expect(part);
    }
    result.to_string()
}

/// The result of a scenario. With a `watched` flow it includes each packet of that flow, samples
/// every 100 ms, and the disciplines' states.
pub fn document(file: &str, sets: &[(&str, &str)], workers: usize, watched: Option<&str>) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
    let sets: Vec<(String, String)> = sets.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    let mut experiment = Experiment::read(&text, file, &sets).unwrap_or_else(|problem| panic!("{problem}"));
    if let Some(flow) = watched {
        experiment.trace_flow(flow).unwrap_or_else(|problem| panic!("{problem}"));
        experiment.sample_every(Time::from_ms(100)).unwrap_or_else(|problem| panic!("{problem}"));
        experiment.keep_states().unwrap_or_else(|problem| panic!("{problem}"));
    }
    let folder = path.parent().expect("a folder");
    let files = |name: &str| std::fs::read(folder.join(name)).map_err(|fault| format!("{name}: {fault}"));
    let run = experiment.run(Options { workers, files: &files, progress: &mut |_| true });
    run.unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

/// FNV-1a of 128 bits.
pub fn digest(text: &str) -> u128 {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    text.bytes().fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

fn main() {
    print!("{}", lines(2));
}
