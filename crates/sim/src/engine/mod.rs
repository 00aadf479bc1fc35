//! Time and ties. Knows nothing of networks.

mod bitmap;
pub mod events;
