//! The ideals that disciplines are compared with: service divided like a fluid, and fair shares of
//! rates.
//!
//! - [`gps`]: bit-by-bit round robin with weights (generalised processor sharing), exact, packet by
//!   packet.
//! - [`max_min`]: weighted max-min fair rates of flows with demands, on one link and on many.

pub mod gps;
pub mod max_min;
