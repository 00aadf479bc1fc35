//! The thread pool of the examples: it is compiled and run here, and what the guide shows of it is
//! judged by the same rule as what it prints.

#[expect(dead_code, reason = "its main is for those who run it by itself")]
#[path = "../examples/tenants.rs"]
mod example;

const PROGRAM: &str = include_str!("../examples/tenants.rs");
const PAGE: &str = include_str!("../../../docs/guide/dispatcher.md");

/// Name, items and share in percent of each line of a table.
fn lines(table: &str) -> Vec<(&str, u32, f64)> {
    let fields = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    fields.map(|f| (f[0], f[2].parse().expect("a number"), f[3].parse().expect("a number"))).collect()
}

/// The modest tenant asks for 400 of 4000 units and gets them all; the others share the rest 1
/// to 2. Threads end in any order, and items of at most 40 units are not cut: 40 units for each of
/// four threads are 4 %.
fn judge(table: &str) {
    let lines = lines(table);
    let names: Vec<_> = lines.iter().map(|line| line.0).collect();
    assert_eq!(names, ["flood", "paying", "modest"]);
    assert_eq!(lines[2].1, 200, "the modest tenant is served whole: {table}");
    for ((name, _, share), expected) in lines.iter().zip([30.0, 60.0, 10.0]) {
        assert!((share - expected).abs() <= 4.0, "{name}: {table}");
    }
}

#[test]
fn a_thread_pool_is_shared_by_weight_and_by_what_is_asked() {
    judge(&example::table());
}

#[test]
fn the_guide_shows_parts_of_this_program_and_a_table_that_it_may_print() {
    let parts: Vec<_> = PAGE.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!parts.is_empty());
    for part in parts {
        assert!(
            PROGRAM.contains(part),
            "examples/tenants.rs does not hold this part of docs/guide/dispatcher.md:\n{part}"
        );
    }
    let table = PAGE.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    judge(table.expect("the page shows a table"));
}
