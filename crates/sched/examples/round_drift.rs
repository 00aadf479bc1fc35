//! How far the round number is from exact arithmetic after many packets.
//!
//! `cargo run --release -p fairq-sched --example round_drift -- 1000000000`

fn main() {
    let packets = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let found = fairq_testkit::drift::drift(packets, 1);
    let limit = 1.0 / f64::from(1 << 20);
    println!("packets          {packets}");
    println!("activations      {}", found.activations);
    println!("R at the end     {:.6e} B", found.round);
    println!("worst |error|    {:.3e} B", found.worst);
    println!("last error       {:+.3e} B", found.last);
    println!("limit 2^-20 B    {limit:.3e} B");
    assert!(found.worst < limit, "R has drifted");
}
