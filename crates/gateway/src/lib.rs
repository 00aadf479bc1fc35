//! Real packets through the disciplines of `sched`: hosts are network namespaces of this machine,
//! and all lines between them are [`Path`](fairq_link::path::Path)s in one process, on the clock of
//! the machine.
//!
//! [`plan`] says what is to be built; [`device`] is where packets enter and leave; [`report`] is
//! what a run gives.

pub mod device;
pub mod measured;
pub mod plan;
pub mod report;
pub mod stamp;
