//! Markers: who is told of congestion?

mod cycle;
pub mod decbit;
pub mod fq_bit;
pub mod none;
pub mod selective_decbit;
