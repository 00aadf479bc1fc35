//! What a packet-hop costs, in instructions: they repeat to the last digit where times on a shared
//! machine differ by half.
//!
//! Each scenario of `crates/sim/cost` is run for its duration and for half of it under callgrind;
//! the difference, over that of the packet-hops, is the cost of a hop without the start.
//! `baseline.txt` beside them holds what it was, by compiler and processor; with another compiler
//! the cost is only said. Then what a packet costs in a large window: `windows`.

use std::path::Path;
use std::process::Command;

use crate::callgrind::{counted, done, instructions, number_before, on_all_cores};
use crate::{Findings, windows};

/// A hop may become dearer by this part; the processor's own copies of memory make a difference of
/// some thousandths.
const ALLOWED: f64 = 0.03;

const FOLDER: &str = "crates/sim/cost";
const BASELINE: &str = "baseline.txt";
const UPDATE: &str = "cargo xtask cost --update";

/// Scenarios, with their duration and half of it, in seconds.
const SCENARIOS: [(&str, [&str; 2]); 3] =
    [("dumbbell", ["20 s", "10 s"]), ("fast", ["1 s", "0.5 s"]), ("network", ["4 s", "2 s"])];

/// What one run took.
struct Run {
    instructions: u64,
    hops: u64,
}

/// Compares each scenario's cost with the baseline, or writes it down as the new one.
pub(crate) fn cost(root: &Path, updates: bool) -> Findings {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("== skipped: the cost of a packet-hop and of a packet in a large window, for there is no valgrind");
        return Findings::new();
    }
    let program = match built(root) {
        Ok(program) => program,
        Err(finding) => return vec![finding],
    };
    let mut findings = match measured(root, &program) {
        Ok(costs) if updates => write(root, &costs).err().into_iter().collect(),
        Ok(costs) => match std::fs::read_to_string(root.join(FOLDER).join(BASELINE)) {
            Ok(baseline) => judge(&compiler(), &costs, &baseline),
            Err(error) => vec![format!("{FOLDER}/{BASELINE}: {error}; write it: {UPDATE}")],
        },
        Err(finding) => vec![finding],
    };
    findings.extend(windows::grown(&program));
    findings
}

/// The path of the program that runs workloads. What a hop runs through is compiled in the profile
/// `quick` as it is released; with the features of the extension, `make setup` has compiled it.
fn built(root: &Path) -> Result<String, String> {
    let packages = ["-p", "fairq-bench", "-p", "fairq-py", "--example", "workload"];
    let build = [&["build", "--quiet", "--profile", "quick", "--message-format=json"], &packages[..]].concat();
    let built = done(Command::new("cargo").args(build).current_dir(root))?;
    let messages = String::from_utf8_lossy(&built.stdout);
    let program = messages.split("\"executable\":\"").nth(1).and_then(|rest| rest.split('"').next());
    program.map(str::to_owned).ok_or("cargo does not say where the example workload is".to_owned())
}

/// Instructions for a packet-hop of each scenario.
fn measured(root: &Path, program: &str) -> Result<Vec<(&'static str, f64)>, String> {
    let run = |name: &str, seconds: &str| {
        let scenario = root.join(FOLDER).join(name).with_extension("toml");
        let output = counted(program, &["run", &scenario.to_string_lossy(), &format!("measure.duration={seconds}")])?;
        let hops = number_before(&output, " packet-hops").ok_or("it says no packet-hops")?;
        Ok::<_, String>(Run { instructions: instructions(&output)?, hops })
    };
    let costs =
        on_all_cores(&SCENARIOS, |(name, [whole, half])| Ok((*name, of_hop(&run(name, whole)?, &run(name, half)?))));
    costs.into_iter().collect()
}

/// The cost of a hop, given a run and one of half its length.
fn of_hop(whole: &Run, half: &Run) -> f64 {
    (whole.instructions - half.instructions) as f64 / (whole.hops - half.hops) as f64
}

/// The compiler, and the processor that it compiles for.
fn compiler() -> String {
    let output = Command::new("rustc").arg("-vV").output().map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown").to_owned();
    format!("{} {}", field("release: "), field("host: "))
}

/// What is wrong with the costs, given the lines of a baseline: compiler, target, scenario,
/// instructions.
fn judge(compiler: &str, costs: &[(&str, f64)], baseline: &str) -> Findings {
    let mut findings = Findings::new();
    for (name, cost) in costs {
        let line = format!("{compiler} {name} ");
        let before = baseline.lines().find_map(|known| known.strip_prefix(&line)?.parse::<f64>().ok());
        let Some(before) = before else {
            eprintln!("{name}: {cost:.0} instructions a packet-hop; no baseline of {compiler}");
            continue;
        };
        let change = cost / before - 1.0;
        eprintln!("{name}: {cost:.0} instructions a packet-hop, {:+.1} % of {before:.0}", 100.0 * change);
        if change > ALLOWED {
            findings.push(format!(
                "{name}: a packet-hop costs {cost:.0} instructions, {:.1} % more than {before:.0}; {:.0} % are allowed. If it is worth \
                 that: {UPDATE}",
                100.0 * change,
                100.0 * ALLOWED
            ));
        } else if change < -ALLOWED {
            eprintln!("{name}: cheaper; keep it so: {UPDATE}");
        }
    }
    findings
}

/// Writes the costs into the baseline, and keeps those of other compilers.
fn write(root: &Path, costs: &[(&str, f64)]) -> Result<(), String> {
    let path = root.join(FOLDER).join(BASELINE);
    let compiler = compiler();
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let others = before.lines().filter(|line| !line.starts_with(&compiler)).map(str::to_owned);
    let lines: Vec<String> =
        others.chain(costs.iter().map(|(name, cost)| format!("{compiler} {name} {cost:.0}"))).collect();
    std::fs::write(&path, lines.join("\n") + "\n").map_err(|error| format!("{FOLDER}/{BASELINE}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_run_does_not_count() {
        let whole = Run { instructions: 5_000 + 700 * 20, hops: 20 };
        let half = Run { instructions: 5_000 + 700 * 10, hops: 10 };
        assert!((of_hop(&whole, &half) - 700.0).abs() < 1e-9);
    }

    #[test]
    fn dearer_hops_are_found_with_the_compiler_of_the_baseline_alone() {
        let baseline = "1.0 here dumbbell 1000\n1.0 here fast 500\n";
        assert_eq!(judge("1.0 here", &[("dumbbell", 1029.0), ("fast", 400.0)], baseline), Findings::new());
        let findings = judge("1.0 here", &[("dumbbell", 1031.0)], baseline);
        assert!(matches!(findings.as_slice(), [finding] if finding.contains("3.1 %") && finding.contains(UPDATE)));
        assert_eq!(judge("1.1 here", &[("dumbbell", 2000.0)], baseline), Findings::new());
    }
}
