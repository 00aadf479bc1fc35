//! The benchmark of new tenants with little input: it is compiled and run here, and what it says of
//! memory is held to the bound. One test, for bytes are counted for the whole program.

#[expect(dead_code, reason = "its main is for those who run it by itself")]
#[path = "../examples/new_tenants.rs"]
mod example;

use example::{KNOWN, WORKLOADS, measure};

#[test]
fn ten_times_as_many_new_tenants_take_no_more_memory() {
    // More than are kept of those that left.
    const ITEMS: u64 = 20_000;
    for workload in &WORKLOADS {
        let [few, many] = [ITEMS, 10 * ITEMS].map(|items| measure(workload, items));
        assert!(many.bytes <= few.bytes + few.bytes / 10, "{}: {} and {}", workload.name, few.bytes, many.bytes);
        let here = if workload.is_new { workload.waiting as usize } else { KNOWN as usize };
        assert!(many.tenants <= 20 + 5 * here, "{}: {} known", workload.name, many.tenants);
    }
}
