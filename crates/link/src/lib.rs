//! Lines and captures: when a transmission ends, at a rate or by a delivery trace, and packets from
//! and to files of packets.

pub mod capture;
pub mod line;
pub mod trace;
