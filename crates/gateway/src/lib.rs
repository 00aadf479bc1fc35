//! Real packets through the disciplines of `sched`: hosts are network namespaces of this machine,
//! and all lines between them are [`Path`](fairq_link::path::Path)s in one process, on the clock of
//! the machine.
//!
//! [`plan`] says what is to be built; [`device`] is where packets enter and leave. [`relay`] is a
//! line between sockets of this machine, for tests that have no rights.

pub mod device;
pub mod plan;
pub mod relay;
