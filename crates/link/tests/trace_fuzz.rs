//! No bytes, however damaged, break the reading of a delivery trace, and what reads can be
//! followed.

use fairq_link::trace::{DeliveryTrace, Opportunities};
use fairq_sched::units::Time;
use fairq_testkit::mutate::Mutator;
use std::sync::Arc;

const WORDS: &[&[u8]] =
    &[b"\n", b"0\n", b"-", b"4611686018\n", b"18446744073709551616", b" ", b"\r\n", b"1e3", b"\xff", b"0x1", b"\t"];

#[test]
fn no_damage_breaks_the_reading_of_a_delivery_trace() {
    let seeds =
        vec![b"0\n0\n3\n7\n7\n7\n20\n".to_vec(), (1..=30).map(|ms| format!("{ms}\n")).collect::<String>().into_bytes()];
    let (mut read, mut refused) = (0, 0);
    for iteration in 0..100_000u64 {
        let bytes = Mutator::new(0x2015 << 32 | iteration).mutant(&seeds, WORDS);
        let trace = match DeliveryTrace::parse(&bytes) {
            Ok(trace) => Arc::new(trace),
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains(['\n', '\r']) && text.len() < 500, "iteration {iteration}: {text}");
                refused += 1;
                continue;
            }
        };
        read += 1;
        let mut line = Opportunities::new(Arc::clone(&trace));
        let mut now = Time::ZERO;
        for (bits, pause) in [(12_000, 0), (8, 5), (100_000, 1_000_000_007), (1, u64::MAX / 4)] {
            now = now.saturating_add(Time(pause));
            line.begin(now);
            let end = line.send(bits);
            assert!(end >= now, "iteration {iteration}: a transmission ends before it begins");
            now = end;
        }
        assert!(trace.up_to(Time::from_s(1)) <= trace.up_to(Time::from_s(2)), "iteration {iteration}");
    }
    assert!(read > 10_000 && refused > 10_000, "{read} were read, {refused} refused");
}
