//! All tests of this folder as one program: it links once, and its tests keep both cores busy.
//!
//! A test is named by its file: `cargo test -p fairq-sched --test it laws::`. Files that
//! need a process of their own, for they count what is allocated, are named in Cargo.toml.

mod active_queues;
mod cake;
mod cake_mq;
mod cake_turns;
mod class_trees;
mod delay_laws;
mod designs;
mod edge_and_core;
mod fair_queueing;
mod fluid;
mod given;
mod hierarchies;
mod laws;
mod leaves;
mod newcomers;
mod passing;
mod policed;
mod policies;
mod port;
mod ranked;
mod reached;
mod reasons;
mod round_bounds;
mod round_schedulers;
mod rounds;
mod shaped;
#[cfg(feature = "std")]
mod shared;
mod shared_buffers;
mod small_worlds;
mod tag_bounds;
mod tag_schedulers;
#[cfg(feature = "std")]
mod tenants;
mod trees;
mod work;
