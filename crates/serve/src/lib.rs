//! Requests of tenants before a server with seats: what each tenant gets under a policy.
//!
//! Requests come from a log ([`log`]) or are random ([`drawn`]). [`simulate`](simulate()) runs them
//! through `work::Dispatcher`, the same that stands in a server. [`measure`](measure()) says of
//! requests with starts and ends, simulated or of a log, how long each tenant waited and what it
//! got beside its max-min share.
//!
//! Time and cost are whole nanoseconds: a request that costs c takes its seats for c. At one
//! instant requests end first, then others arrive, and then the dispatcher starts what it may.

pub mod drawn;
mod gaps;
pub mod level;
pub mod log;
mod measure;
mod requests;
mod simulate;
mod times;

pub use gaps::COMPARED_MAX;
pub use measure::{Measured, measure};
pub use requests::{NS_PER_S, Request, Requests, Served};
pub use simulate::{Known, simulate};
