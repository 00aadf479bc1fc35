//! Runs a small scenario with the parts of this crate and prints what each flow got.

use fairq_experiment::experiment::{Experiment, Options};
use serde_json::Value;

const SCENARIO: &str = r#"
[[links]]
name = "bottleneck"
from = "left"
to = "right"
rate = "10 Mbit/s"
delay = "10 ms"
queue = "shortest_queue + plain_drop + 50packets"

[[flows]]
name = "file"
from = "left"
to = "right"
traffic = "ftp"
transport = "aimd(left=0.7)"

[[flows]]
name = "beats"
from = "left"
to = "right"
traffic = "metronome(gap=2ms, packet=500)"

[[axes]]
name = "queue"
path = "links.bottleneck.queue"
values = ["shortest_queue(grain=1) + plain_drop + 50packets", "drr + 50packets"]
"#;

fn main() {
    let files = |name: &str| Err(format!("{name}: no file is read here"));
    let experiment = match Experiment::read_own(SCENARIO, "own.toml", &[], &files, &own_parts::parts()) {
        Ok(experiment) => experiment,
        Err(problem) => return eprintln!("{problem}"),
    };
    let Ok(result) = experiment.run(Options { workers: 1, files: &files, progress: &mut |_| true }) else { return };
    for row in result["flows"].as_array().into_iter().flatten() {
        let number = |column: &str| row[column].as_f64().unwrap_or_default();
        let (packets, delay_s) = (number("throughput_packets"), number("delay_s_mean"));
        println!("{:40} {:6} {packets:7.0} packets {delay_s:.4} s", text(&row["queue"]), text(&row["flow"]));
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
