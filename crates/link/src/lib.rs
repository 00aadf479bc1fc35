//! Lines and captures: when a transmission ends, and packets from and to files of packets.

pub mod capture;
pub mod line;
