//! One workload of the benchmarks alone, for a profiler: `workload dumbbell fq 100`, `workload run scenario.toml`,
//! `workload busy fq 4096 1000000`, or `workload backlog fq 4096 1000000`, which is what `fairq bench disciplines` times.

use fairq_sim::experiment::{Experiment, Options};
use fairq_sim::scenario::text;
use fairq_sim::workload::{Busy, Mix, dumbbell, subjects};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|a| a.parse().ok()).expect("a number");
    match arguments.first().map(String::as_str) {
        Some("dumbbell") => {
            let experiment =
                Experiment::read(&dumbbell(&arguments[1], number(2)), "dumbbell", &[]).expect("a scenario");
            let files = |name: &str| Err(name.to_string());
            let options = Options { workers: 1, files: &files, progress: &mut |_| true };
            let Ok(result) = experiment.run(options) else { panic!("stopped") };
            println!("{} packet-hops", result["run_info"]["packet_hops"]);
        }
        Some("run") => {
            let text = std::fs::read_to_string(&arguments[1]).expect("a file");
            let split = |set: &String| set.split_once('=').map(|(path, value)| (path.to_owned(), value.to_owned()));
            let sets: Option<Vec<_>> = arguments[2..].iter().map(split).collect();
            let experiment = Experiment::read(&text, &arguments[1], &sets.expect("PATH=VALUE")).expect("a scenario");
            let files = |name: &str| Err(name.to_string());
            let options = Options { workers: 1, files: &files, progress: &mut |_| true };
            let Ok(outcome) = experiment.outcome(options) else { panic!("stopped") };
            println!("{} packet-hops", outcome.run_info["packet_hops"]);
            let flows = &outcome.points[0].mean().flows;
            let columns = ["flow", "goodput_packets", "retransmitted", "dropped"].map(|name| flows.column(name));
            for at in 0..flows.rows().min(20) {
                println!("{:?}", columns.map(|column| column.map(|cells| cells.at(at))));
            }
            // The result is written whole, to nowhere, as `fairq run` writes it.
            serde_json::to_writer(std::io::sink(), &outcome).expect("a result");
        }
        Some("busy") => {
            let mut busy = Busy::new(&text::queue(&arguments[1]).expect("a queue"), number(2) as u32);
            println!("{} bytes", busy.exchange(number(3)));
        }
        Some("backlog") => {
            let subject = subjects(&arguments[1..2]).expect("a discipline");
            let mix = if arguments.iter().any(|a| a == "mixed") { Mix::Mixed } else { Mix::Equal };
            let (mut backlog, _) = subject[0].backlog(number(2) as u32, mix).expect("a discipline that stands alone");
            backlog.fill();
            println!("{} packets", backlog.exchange(number(3)));
        }
        _ => println!(
            "workload dumbbell QUEUE SECONDS | workload run FILE [PATH=VALUE …] | workload busy QUEUE FLOWS PACKETS | workload backlog NAME FLOWS PACKETS [mixed]"
        ),
    }
}
