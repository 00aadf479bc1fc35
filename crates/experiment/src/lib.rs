//! Experiments: a scenario in text becomes plans of networks, each is run with its seeds, and the
//! counts become tables.
//!
//! It reads no file, no clock and no environment: a scenario comes in as text, plain columns come
//! out, and the same scenario with the same seed gives the same bytes on every machine.

pub mod build;
pub mod columns;
pub mod described;
pub mod digest;
pub mod experiment;
pub mod fuzz;
mod known;
mod layout;
pub mod live;
pub mod memory;
pub mod progress;
pub mod reference;
pub mod refused;
pub mod results;
pub mod routes;
pub mod run;
pub mod scenario;
pub mod scenes;
mod sense;
pub mod shares;
pub mod study;
pub mod topology;
pub mod values;
