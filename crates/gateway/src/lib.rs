//! Real packets through the disciplines of `sched`: hosts are network namespaces of this machine,
//! and all lines between them are [`Path`](fairq_link::path::Path)s in one process, on the clock of
//! the machine.
//!
//! [`plan`] says what is to be built; [`device`] is where packets enter and leave; [`network`] has
//! the lines between them, without a clock; [`drive`] has the clock; [`report`] is what a run
//! gives.

pub mod device;
pub mod drive;
pub mod flows;
pub mod measured;
pub mod network;
pub mod packet;
pub mod pair;
pub mod plan;
pub mod record;
pub mod report;
pub mod stamp;

#[cfg(test)]
mod made;
