//! Lines, gateways and routes. Knows nothing of transports.

pub mod border;
pub mod departures;
pub mod line;
pub mod network;
pub mod path;
pub mod pools;
pub mod ring;
pub mod route;
pub mod tally;
pub mod varying;
pub mod walk;
