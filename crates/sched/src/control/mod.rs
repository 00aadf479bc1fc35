//! Control laws that several disciplines share, each written once on values that it is given.

pub mod blue;
pub mod cobalt;
pub mod codel;
pub mod pi;
pub mod red;
