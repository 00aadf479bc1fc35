//! Time, ties and chance. Knows nothing of networks.

mod bitmap;
pub mod events;
pub mod random;
