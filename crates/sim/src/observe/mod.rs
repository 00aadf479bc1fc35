//! What a run is watched with.

pub mod sketch;
