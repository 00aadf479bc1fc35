//! What is told of a run beside its counts: samples over time, and each packet of a flow.

use crate::running;
use fairq_sched::units::Time;
use fairq_testkit::scenarios::dumbbell;

#[test]
fn the_samples_add_up_to_what_the_run_delivered() {
    let text = dumbbell("fq", 2);
    let mut experiment = running::read(&text);
    experiment.sample_every(Time::from_ms(100)).unwrap();
    let result = running::document(&experiment);
    let rows = result["series"].as_array().unwrap();
    let sum: f64 = rows.iter().filter_map(|row| row["throughput_bit_per_s"].as_f64()).sum();
    let flows = result["flows"].as_array().unwrap();
    let delivered: f64 = flows.iter().filter_map(|row| row["throughput_bit_per_s"].as_f64()).sum();
    assert!((sum * 0.1 - delivered * 2.0).abs() < 1.0, "{sum} {delivered}");
    assert_eq!(rows.iter().filter(|row| row["flow"] == "flow.1").count(), 20);
    // Sixteen windows of eight: what is not in flight is held at the bottleneck.
    assert!(rows.iter().any(|row| row["held_packets"].as_u64().is_some_and(|held| held > 60)));
    assert!(experiment.sample_every(Time(1)).is_err(), "too many rows");
    let longest = experiment.longest_run();
    assert!(experiment.sample_every(longest).is_ok(), "one row for each");
    let refused = experiment.sample_every(Time(longest.0 + 1)).unwrap_err().to_string();
    assert!(refused.contains("is longer than the run ("), "{refused}");
}

#[test]
fn each_packet_that_was_counted_is_there_and_those_that_were_dropped_have_no_end() {
    let text = dumbbell("fifo", 2);
    let mut experiment = running::read(&text);
    experiment.trace_flow("flow.1").unwrap();
    let result = running::document(&experiment);
    let rows = result["packets"].as_array().unwrap();
    let of = |column: &str| result["flows"][0][column].as_u64().unwrap() as usize;
    assert!(rows.iter().all(|row| row["flow"] == "flow.1" && row["bytes"].as_u64().is_some()));
    assert_eq!(rows.iter().filter(|row| !row["received_s"].is_null()).count(), of("throughput_packets"));
    assert_eq!(rows.iter().filter(|row| row["received_s"].is_null()).count(), of("dropped"));
    assert!(rows.is_sorted_by(|a, b| a["sent_s"].as_f64() <= b["sent_s"].as_f64()));
    assert!(experiment.trace_flow("flow").is_ok(), "all copies");
    assert!(experiment.trace_flow("flo").is_err(), "no flow of that name");
}
