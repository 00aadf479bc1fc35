//! What the program prints holds, and holds again.

use quic_over_fq::upload;

const BYTES: usize = 200_000;

#[test]
fn an_upload_beside_a_flood_ends_sooner_behind_fair_queueing() {
    let finished = |text: &str| upload(&fairq_text::queue(text).unwrap(), BYTES).finished.as_s();
    let fifo = finished("fifo + 100packets");
    for text in ["drr + 100packets", "fq + 100packets", "fq_codel"] {
        let fair = finished(text);
        // Half of 10 Mbit/s carries it in 0.32 s.
        assert!((0.32..1.5).contains(&fair) && 3.0 * fair < fifo, "{text}: {fair} s, fifo: {fifo} s");
    }
}

#[test]
fn a_run_gives_the_same_again() {
    let queue = fairq_text::queue("fifo + 100packets").unwrap();
    assert_eq!(upload(&queue, BYTES), upload(&queue, BYTES));
}
