//! The fuzz target of scenarios: what must hold for any text.

use crate::experiment::Experiment;
use fairq_sched::units::Time;
use fairq_sim::plan::FlowPlan;
use fairq_sim::run::Simulation;
use fairq_sim::traffic::Release;

/// The most flows, lines and points of a scenario that is run, and the most events of its run.
const FLOWS: usize = 50;
const LINES: usize = 200;
const POINTS: usize = 4;
const EVENTS: usize = 200;

/// Reads `bytes` as a scenario (invalid UTF-8 is replaced) and asserts what must hold for any: no
/// panic; an error of one line that begins with the file's name; and a small valid scenario runs,
/// and loses no packet.
///
/// # Panics
/// If one of these does not hold, which is a bug.
pub fn fuzz_scenario(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    // A delivery trace, or a topology.
    let files =
        |file: &str| Ok(if file.contains("trace") { b"3\n9\n".to_vec() } else { b"from,to\na,b\nb,c\n".to_vec() });
    let experiment = match Experiment::read_with(&text, "fuzz.toml", &[], &files) {
        Ok(experiment) => experiment,
        Err(problem) => {
            let line = problem.to_string();
            let is_one_line = line.starts_with("fuzz.toml:") && !line.contains(['\n', '\r']);
            assert!(is_one_line && line.len() > "fuzz.toml: ".len(), "{line:?}");
            return;
        }
    };
    for (_, plan) in experiment.plans().iter().take(POINTS) {
        if plan.flows.len() > FLOWS || plan.lines.len() > LINES {
            continue;
        }
        if plan.flows.iter().any(sends_much_at_once) {
            continue;
        }
        // No file is read: an empty capture is refused.
        let files = |_: &str| Ok(Vec::new());
        let Ok(mut simulation) = Simulation::new(plan, experiment.scenario().measure.seed, &files) else { continue };
        let end = plan.warm_up.saturating_add(plan.duration);
        let mut now = Time::ZERO;
        for _ in 0..EVENTS {
            if !simulation.step(end) {
                break;
            }
            assert!(simulation.now() >= now && simulation.now() <= end, "time goes from {now} to {}", simulation.now());
            now = simulation.now();
            assert!(simulation.conserves_packets(), "a packet is lost at {now}");
        }
    }
}

/// Whether a flow may send very many packets in one event, which is slow but no bug.
fn sends_much_at_once(flow: &FlowPlan) -> bool {
    const MUCH: u64 = 1000;
    let at_start = match (flow.entry.traffic.release(), flow.entry.transport.window()) {
        (Release::AtStart(packets), window) => packets.unwrap_or(u64::MAX).min(window.map_or(u64::MAX, u64::from)),
        _ => 0,
    };
    at_start > MUCH
}
