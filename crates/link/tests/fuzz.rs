//! No bytes, however damaged, break the reading of a capture, nor the pairing of two.
//! `FAIRQ_TIMES=50` makes the run that many times longer.

mod tiny;

use fairq_link::capture::{fuzz_capture, fuzz_pairing};
use fairq_testkit::mutate::Mutator;
use fairq_testkit::skip::iterations;
use std::fmt::Write as _;

/// What captures are made of: magic numbers, types of blocks, tags and headers of packets.
const WORDS: [&[u8]; 17] = [
    &[0xa1, 0xb2, 0xc3, 0xd4],
    &[0x4d, 0x3c, 0xb2, 0xa1],
    &[0x0a, 0x0d, 0x0d, 0x0a],
    &[0x4d, 0x3c, 0x2b, 0x1a],
    &[1, 0, 0, 0],
    &[2, 0, 0, 0],
    &[3, 0, 0, 0],
    &[6, 0, 0, 0],
    &[9, 0, 1, 0, 0x94, 0, 0, 0],
    &[14, 0, 8, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    &[0x81, 0, 0, 0],
    &[0x86, 0xdd],
    &[0x60, 0, 0, 0],
    &[44, 0, 0, 9],
    &[0x88, 0x64, 0x11, 0, 0, 1, 0, 40, 0, 0x21],
    &[0x88, 0x47, 0, 1, 1, 64],
    &[0, 7, 0x20, 0, 64, 17],
];

#[test]
fn no_damage_breaks_the_reading_of_a_capture() {
    damage(0x1989, iterations(100_000));
}

#[test]
fn no_damage_breaks_the_pairing_of_two_captures() {
    let whole = &tiny::all();
    check(0x1991, iterations(20_000), whole, |bytes, iteration| {
        fuzz_pairing(&whole[iteration as usize % whole.len()], bytes);
        fuzz_pairing(bytes, &whole[iteration as usize % whole.len()]);
    });
}

fn damage(seed: u64, iterations: u64) {
    let seeds = tiny::all();
    seeds.iter().for_each(|whole| fuzz_capture(whole));
    check(seed, iterations, &seeds, |bytes, _| fuzz_capture(bytes));
}

/// Each iteration has a mutator of its own, so that one can be replayed without those before it.
fn check(seed: u64, iterations: u64, seeds: &[Vec<u8>], target: impl Fn(&[u8], u64) + std::panic::RefUnwindSafe) {
    for iteration in 0..iterations {
        let bytes = Mutator::new(seed << 32 | iteration).mutant(seeds, &WORDS);
        if let Err(panic) = std::panic::catch_unwind(|| target(&bytes, iteration)) {
            let mut text = String::new();
            bytes.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string takes all that is written"));
            eprintln!("seed {seed:#x}, iteration {iteration}: the fuzz target panics on the bytes {text}");
            eprintln!("replay: cargo test -p fairq-link --test fuzz; the bytes follow from seed and iteration");
            std::panic::resume_unwind(panic);
        }
    }
}
