//! What the guide shows is this code, and what it prints.

const PAGE: &str = include_str!("../../../docs/guide/path-in-tests.md");
const CODE: &str = include_str!("../src/lib.rs");

fn blocks(of: &str) -> Vec<&'static str> {
    PAGE.split(of).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect()
}

#[test]
fn the_page_shows_this_code() {
    let blocks = blocks("```rust\n");
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        assert!(CODE.contains(block), "{block}");
    }
}

#[test]
fn the_page_shows_what_is_printed() {
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_quic-over-fq")).output().expect("it is built");
    assert_eq!(blocks("```text\n"), [String::from_utf8_lossy(&program.stdout)]);
}
