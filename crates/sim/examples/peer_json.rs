//! scratch
use fairq_sim::experiment::{Experiment, Options};
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut sets: Vec<(String, String)> = Vec::new();
    let mut at = 2;
    while at < arguments.len() { if arguments[at] == "--set" { let (p, v) = arguments[at+1].split_once("=").unwrap(); sets.push((p.to_string(), v.to_string())); at += 1; } at += 1; }
    let text = std::fs::read_to_string(&arguments[1]).expect("a file");
    let experiment = Experiment::read(&text, &arguments[1], &sets).expect("a scenario");
    let files = |name: &str| Err(name.to_string());
    let options = Options { workers: 1, files: &files, progress: &mut |_| true };
    let Ok(result) = experiment.run(options) else { panic!("stopped") };
    println!("{}", serde_json::to_string(&result).unwrap());
}
