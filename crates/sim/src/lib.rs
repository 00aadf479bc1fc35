//! A packet-level simulator of networks of fair queueing gateways.

pub mod observe;
pub mod replay;
