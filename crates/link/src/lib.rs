//! Lines and captures: when a transmission ends by a delivery trace, and packets from and to files
//! of packets; a path for tests of protocols; what goes wrong with packets on the way, and what
//! their ECN field means; the distribution of what was measured on them, in constant memory.

pub mod capture;
pub mod ecn;
pub mod impairment;
pub mod path;
pub mod random;
pub mod sketch;
pub mod trace;
