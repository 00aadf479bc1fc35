//! A part that does what one of the registry does gives the same packets.

use fairq_experiment::experiment::{Experiment, Options};
use serde_json::Value;

/// What two flows get behind `queue`.
fn flows(queue: &str) -> Value {
    let flow = |name: &str, traffic: &str| {
        format!("[[flows]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"{traffic}\"\n")
    };
    let scenario = format!(
        "[[links]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\nqueue = \"{queue}\"\n{}{}",
        flow("file", "ftp"),
        flow("beats", "metronome(gap=1ms)")
    );
    let files = |name: &str| Err(format!("{name}: no file is read here"));
    let experiment = Experiment::read_own(&scenario, "own.toml", &[], &files, &own_parts::parts());
    let experiment = experiment.unwrap_or_else(|problem| panic!("{problem}"));
    let result = experiment.run(Options { workers: 1, files: &files, progress: &mut |_| true });
    result.unwrap_or_else(|stopped| panic!("{stopped:?}"))["flows"].take()
}

#[test]
fn plain_drop_is_tail_drop() {
    let own = flows("fifo + plain_drop + 20packets");
    assert_eq!(own, flows("fifo + tail_drop + 20packets"));
    assert_ne!(own, flows("fifo + tail_drop + 30packets"));
}

#[test]
fn shortest_queue_with_one_grain_for_all_is_round_robin() {
    let own = flows("shortest_queue(grain=1000) + port_pair + 20packets");
    assert_eq!(own, flows("round_robin + port_pair + 20packets"));
    assert_ne!(own, flows("shortest_queue + port_pair + 20packets"));
}
