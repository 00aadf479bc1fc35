//! What the benchmarks run: disciplines kept busy. The crate reads no clock; scenarios are run by
//! the example `workload`.

mod backlog;
mod busy;
mod disciplines;
mod fairness;
mod floors;
mod mix;

pub use backlog::Backlog;
pub use busy::Busy;
pub use disciplines::{Bench, Measured, Subject, subjects};
pub use mix::Mix;

use fairq_sched::packet::{Address, Header};
use fairq_sched::units::Rate;

/// The rate of the line behind a busy discipline: 10 Gbit/s.
const RATE: Rate = match Rate::new(10_000_000_000) {
    Some(rate) => rate,
    None => Rate::MAX,
};

/// The header of the packets of `flow`.
const fn header(flow: u32) -> Header {
    Header {
        source: Address::Node(flow),
        destination: Address::Node(u32::MAX),
        protocol: 6,
        source_port: 0,
        destination_port: 0,
        tos: 0,
    }
}
