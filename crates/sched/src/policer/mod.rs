//! Policers: which packets may join the queue at all?

pub mod police;
