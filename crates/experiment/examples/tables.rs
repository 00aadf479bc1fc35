//! Runs a scenario and prints its flows, one line each: `tables FILE [path=value …]`.

use fairq_experiment::experiment::{Experiment, Options};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("name a scenario");
    let sets: Vec<_> =
        arguments.filter_map(|a| a.split_once('=').map(|(p, v)| (p.to_string(), v.to_string()))).collect();
    let text = std::fs::read_to_string(&file).expect("a file that can be read");
    let experiment = Experiment::read(&text, &file, &sets).unwrap_or_else(|problem| panic!("{problem}"));
    let options =
        Options { workers: 2, files: &|name| std::fs::read(name).map_err(|e| e.to_string()), progress: &mut |_| true };
    let Ok(result) = experiment.run(options) else { panic!("stopped") };
    for row in result["flows"].as_array().into_iter().flatten() {
        let number = |key: &str| row[key].as_f64().map_or("-".to_string(), |x| format!("{x:.4}"));
        println!(
            "{:10} {:4} {:>11} rtt {:>9} retransmitted {:>8} dropped {:>8}",
            row["policy"].as_str().unwrap_or_default(),
            row["flow"].as_str().unwrap_or_default(),
            number("throughput_packets"),
            number("rtt_s_mean"),
            number("retransmitted"),
            number("dropped"),
        );
    }
    println!("{}", result["run_info"]);
}
