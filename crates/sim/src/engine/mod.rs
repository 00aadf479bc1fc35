//! Time, ties and chance. Knows nothing of networks.

pub mod events;
pub mod random;
