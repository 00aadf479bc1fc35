//! All tests of this folder as one program: it links once, and its tests keep both cores busy.
//!
//! A test is named by its file: `cargo test -p fairq-experiment --test it scenes::`. Files that
//! need a process of their own, for they count what is allocated, are named in Cargo.toml.

#[path = "bad_input/main.rs"]
mod bad_input;
mod changes;
mod closed_form;
mod closed_form_paced;
mod columns;
mod congestion_controls;
#[path = "../examples/digest.rs"]
#[expect(dead_code, unreachable_pub, reason = "the example's own main, and what it shares")]
mod digest;
mod early_stops;
mod ecn;
mod editions;
mod floods;
mod fuzz;
mod hosts;
mod impairments;
mod interval_coverage;
mod limits;
mod live;
mod marking;
mod measures;
mod multicast;
mod networks;
mod notes;
mod own;
#[path = "../../../examples/own-parts/src/lib.rs"]
#[expect(unreachable_pub, reason = "the example is a crate")]
mod own_parts;
mod phase_effects;
mod phases;
mod random_networks;
mod readings;
mod recovery;
mod roles_and_pools;
mod running;
mod runs;
mod same;
mod same_instant;
mod scenarios;
mod scenes;
mod settings;
mod split;
mod traced;
mod transfers;
mod urgency;
mod values;
mod wasm;
mod watch;
mod watched;
