//! A packet-level simulator of networks of fair queueing gateways.
//!
//! It reads no file, no clock, no environment and no text. A plan comes in as types, and counts come
//! out. The same plan with the same seed gives the same counts on every machine.

#[macro_use(settings)]
extern crate fairq_sched;

pub mod changes;
pub mod engine;
pub mod live;
pub mod multicast;
pub mod net;
pub mod observe;
pub mod own;
pub mod partition;
pub mod plan;
pub mod processing;
pub mod run;
pub mod segment;
mod settings;
pub mod split;
pub mod traffic;
pub mod transfers;
pub mod transport;
