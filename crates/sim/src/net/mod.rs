//! Lines, gateways and routes. Knows nothing of transports.

pub mod border;
mod by_hand;
pub mod change;
pub mod counts;
mod crossing;
mod departures;
pub mod gateway;
mod hop;
mod layout;
pub mod line;
pub mod network;
pub mod path;
pub mod pools;
pub mod route;
mod settle;
mod shortcut;
pub mod tally;
pub mod varying;
pub mod walk;
