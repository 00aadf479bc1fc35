//! A test that cannot do its work here says so where a person and `scripts/run_tests.py` see it,
//! and a test can be made longer.

use std::io::Write;

/// Says that a test, or a part of it, was not carried out, and why: a line `SKIPPED: …` on standard
/// error. The harness captures what `eprintln!` writes in a test that passes; this line it does not
/// capture.
pub fn skip(reason: &str) {
    let line = format!("SKIPPED: {reason}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error can be written");
}

/// How often a test of `usual` iterations is to iterate: the environment variable `FAIRQ_TIMES`
/// says how many times that, as 50.
///
/// # Panics
///
/// If `FAIRQ_TIMES` is not a whole number above 0.
#[expect(clippy::disallowed_methods, reason = "the length of a test is said from outside")]
pub fn iterations(usual: u64) -> u64 {
    let times = std::env::var("FAIRQ_TIMES").map_or(1, |times| times.parse().expect("FAIRQ_TIMES is a whole number"));
    assert!(times > 0, "FAIRQ_TIMES is 0");
    usual * times
}
