//! Lines and captures: when a transmission ends, at a rate or by a delivery trace, and packets from
//! and to files of packets; the distribution of what was measured on them, in constant memory.

pub mod capture;
pub mod line;
pub mod sketch;
pub mod trace;
