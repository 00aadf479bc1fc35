//! Whole designs: disciplines that decide all four questions at once.

pub mod tos_priority;
