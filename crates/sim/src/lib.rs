//! A packet-level simulator of networks of fair queueing gateways.
//!
//! It reads no file, no clock and no environment: a scenario comes in as text, plain columns come out, and the same
//! scenario with the same seed gives the same bytes on every machine.

pub mod build;
pub mod engine;
pub mod experiment;
pub mod multicast;
mod needs;
pub mod net;
pub mod observe;
pub mod partition;
pub mod plan;
pub mod processing;
pub mod reference;
pub mod refused;
pub mod replay;
pub mod results;
pub mod routes;
pub mod run;
pub mod scenario;
pub mod segment;
pub mod shares;
pub mod split;
pub mod topology;
pub mod traffic;
pub mod transfers;
pub mod transport;
pub mod workload;
