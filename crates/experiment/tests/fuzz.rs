//! No damaged text breaks the reading of a scenario. `FAIRQ_TIMES=50` makes the run that many times
//! longer.

use crate::networks;
use fairq_experiment::fuzz::fuzz_scenario;
use fairq_testkit::mutate::Mutator;
use fairq_testkit::skip::iterations;
use std::path::Path;

/// The pieces of scenarios: fields, kinds, units, and numbers at the edges of ranges.
const WORDS: &[&[u8]] = &[
    b"[[links]]\n",
    b"[[flows]]\n",
    b"[[axes]]\n",
    b"[measure]\n",
    b"[defaults]\n",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\"",
    b"\n",
    b"name = ",
    b"from = ",
    b"to = ",
    b"rate = ",
    b"delay = ",
    b"queue = ",
    b"reverse_queue = ",
    b"buffer = ",
    b"traffic = ",
    b"transport = ",
    b"route = ",
    b"start = ",
    b"weight = ",
    b"access = ",
    b"sink_access = ",
    b"tos = ",
    b"count = ",
    b"node = ",
    b"role = ",
    b"policy = ",
    b"size = ",
    b"[[nodes]]",
    b"[[pools]]",
    b"\"core\"",
    b"kind = ",
    b"[topology]\n",
    b"topology = ",
    b"routing = ",
    b"multipath = true\n",
    b"dumbbell",
    b"tiers",
    b"fat_tree(k=2)",
    b"file(file=a.csv)",
    b"trace = ",
    b"loss = ",
    b"jitter = ",
    b"reorder = ",
    b"probability = ",
    b"scheduler = ",
    b"classifier = ",
    b"marker = ",
    b"values = ",
    b"set = ",
    b"path = ",
    b"group = ",
    b"fq",
    b"fifo",
    b"round_robin",
    b"virtual_clock",
    b"token_bucket",
    b"longest_queue_drop",
    b"tail_drop",
    b"fuzzball",
    b"dynamic_threshold",
    b"csfq",
    b"decbit",
    b"selective_decbit",
    b"fq_bit",
    b"generic",
    b"jk",
    b"fixed_window",
    b"uncontrolled",
    b"ftp",
    b"telnet",
    b"poisson",
    b"constant_rate",
    b"capture",
    b"(delta=1000B)",
    b"(preemptive=true)",
    b"(window=1)",
    b" + ",
    b" kbit/s",
    b" bit/s",
    b" Tbit/s",
    b" B",
    b" kB",
    b" s",
    b" ps",
    b" h",
    b" packets",
    b"unlimited",
    b"drawn",
    b"nan",
    b"-inf",
    b"0",
    b"-1",
    b"1e400",
    b"1e-400",
    b"18446744073709551616",
    b"9223372036854775807",
    b"340282366920938463463",
    b"0.0000000000001",
    b"true",
    b"\"\"\"",
    b"#",
    b"=",
    b",",
    b".",
    b"\xc2\xb5s",
    b"\xff",
    b"\\u0000",
];

/// Scenarios small enough to be read quickly: the papers', the project's, and random ones.
fn seeds() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["papers/demers1990", "scenarios"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap_or_else(|e| panic!("{folder}: {e}"));
        files.extend(entries.filter_map(Result::ok).map(|entry| entry.path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("a file that is there")).collect();
    seeds.extend((0..20).map(|seed| networks::world(seed).into_bytes()));
    // In short ones damage more often hits a relevant place.
    seeds.retain(|seed| seed.len() < 2500);
    assert!(seeds.len() > 20);
    seeds
}

#[test]
fn no_damage_breaks_the_reading_of_a_scenario() {
    damage(0x1989, iterations(100_000));
}

/// Each iteration has a mutator of its own, so that one can be replayed without those before it.
fn damage(seed: u64, iterations: u64) {
    let seeds = seeds();
    for whole in &seeds {
        fuzz_scenario(whole);
    }
    for iteration in 0..iterations {
        let bytes = Mutator::new(seed << 32 | iteration).mutant(&seeds, WORDS);
        if let Err(panic) = std::panic::catch_unwind(|| fuzz_scenario(&bytes)) {
            eprintln!(
                "seed {seed:#x}, iteration {iteration}: fuzz_scenario panics on\n{}",
                String::from_utf8_lossy(&bytes)
            );
            eprintln!(
                "replay: cargo test -p fairq-experiment --test it fuzz::; the text follows from seed and iteration"
            );
            std::panic::resume_unwind(panic);
        }
    }
}
