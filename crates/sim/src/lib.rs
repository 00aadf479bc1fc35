//! A packet-level simulator of networks of fair queueing gateways.
//!
//! It reads no file, no clock and no environment. A scenario comes in as text, and plain columns
//! come out. The same scenario with the same seed gives the same bytes on every machine.

pub mod build;
pub mod engine;
pub mod experiment;
pub mod multicast;
mod needs;
pub mod net;
pub mod observe;
pub mod processing;
pub mod reference;
pub mod refused;
pub mod replay;
pub mod results;
pub mod routes;
pub mod run;
pub mod scenario;
pub mod shares;
pub mod split;
pub mod topology;
pub mod traffic;
pub mod transfers;
pub mod transport;
pub mod workload;
