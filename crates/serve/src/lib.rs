//! Requests of tenants before a server with seats: what each tenant gets under a policy.
//!
//! Requests come from a log ([`log`]) or are random ([`drawn`]). [`simulate`](simulate()) runs them
//! through `work::Dispatcher`, the same that stands in a server. [`measure`](measure()) says of
//! requests with starts and ends, simulated or of a log, how long each tenant waited and what it
//! got beside its max-min share. [`run`](run()) does what [`Options`] ask and makes the document.
//!
//! Time and cost are whole nanoseconds: a request that costs c takes its seats for c. At one
//! instant requests end first, then others arrive, and then the dispatcher starts what it may.

mod answer;
mod document;
pub mod drawn;
mod gaps;
pub mod level;
mod likeness;
pub mod log;
mod measure;
mod options;
mod requests;
mod run;
mod simulate;
mod times;

pub use document::{Answer, Document, LOG, Likeness, PolicyRow, Question, Row, TenantRow};
pub use gaps::COMPARED_MAX;
pub use likeness::likeness;
pub use measure::{Interval, Measured, OfTenant, measure};
pub use options::{From, Named, Options};
pub use requests::{NS_PER_S, Request, Requests, Served, Tenant};
pub use run::{Ends, Failure, run};
pub use simulate::{Extremes, Known, Server, simulate, work};
