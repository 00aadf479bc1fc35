//! Time, ties and random numbers. Knows nothing of networks.

mod bitmap;
pub mod events;
pub mod random;
