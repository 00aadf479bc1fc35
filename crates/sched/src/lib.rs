//! Queueing disciplines, each one file, made of four parts: classifier, scheduler, buffer policy,
//! marker.
//!
//! The crate knows no clock, no I/O and no randomness of its own: `now` is an argument, a seed is
//! given at construction, and what becomes of a packet is returned.
#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod any;
pub mod buffer;
pub mod card;
pub mod change;
pub mod checked;
pub mod class_tree;
pub mod classify;
pub mod compose;
pub mod contract;
pub mod control;
pub mod count;
mod deficit;
pub mod design;
mod eligible;
pub mod emulation;
pub mod facts;
pub mod fast_path;
pub mod flows;
pub mod fluid;
pub mod hash;
pub mod head_tags;
pub mod heap;
pub mod invariant;
pub mod leaf;
mod leaves;
pub mod link_layer;
pub mod mark;
pub mod own;
pub mod packet;
pub mod part;
pub mod plain_fifo;
pub mod policed;
pub mod policer;
pub mod pool;
pub mod port;
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a hint to the caches is an unsafe function, though it reads and writes nothing")
)]
pub mod prefetch;
pub mod program;
pub mod promise;
mod psched;
pub mod queue;
pub mod random;
pub mod rank;
pub mod reading;
pub mod registry;
pub mod ring;
pub mod round;
pub mod schedule;
pub mod service;
mod slots;
mod sorted_ring;
pub mod store;
mod tos;
pub mod tournament;
pub mod traits;
mod truesize;
pub(crate) mod turns;
pub mod units;
pub mod waiting;
pub mod work;
