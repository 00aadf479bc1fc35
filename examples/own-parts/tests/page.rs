//! What the guide shows of this crate is its code.

const PAGE: &str = include_str!("../../../docs/guide/own-parts-in-rust.md");
const CODE: [&str; 2] = [include_str!("../src/shortest_queue.rs"), include_str!("../src/main.rs")];

#[test]
fn the_page_shows_this_code() {
    let blocks: Vec<&str> =
        PAGE.split("```rust\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        assert!(CODE.iter().any(|code| code.contains(block)), "{block}");
    }
}
