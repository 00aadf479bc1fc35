//! The policies, each in a file of its own; `registry.rs` has the list.

pub mod sfq_d;
