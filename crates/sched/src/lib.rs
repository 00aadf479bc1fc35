//! Queueing disciplines, each one file, made of four parts: classifier, scheduler, buffer policy, marker.
//!
//! The crate knows no clock, no I/O and no randomness of its own: `now` is an argument, a seed is given at
//! construction, and what becomes of a packet is returned.
#![no_std]

extern crate alloc;

pub mod fluid;
pub mod heap;
pub mod packet;
pub mod round;
pub mod units;
