//! Control laws that several parts share, on values they are given.

pub mod blue;
pub mod red;
