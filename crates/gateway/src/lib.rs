//! Real packets through the disciplines of `sched`: hosts are network namespaces of this machine,
//! and all lines between them are [`Path`](fairq_link::path::Path)s in one process, on the clock of
//! the machine.
//!
//! [`plan`] says what is to be built; [`device`] is where packets enter and leave; [`network`] has
//! the lines between them, without a clock; [`drive`] has the clock; [`report`] is what a run
//! gives. [`relay`] is a line between sockets of this machine, for tests that have no rights.
//! [`kernel`] has hosts that are kernels of their own in virtual time.

#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
pub mod command;
pub mod device;
#[cfg(target_os = "linux")]
pub mod doctor;
#[cfg(target_os = "linux")]
pub mod drive;
pub mod fault;
pub mod flows;
#[cfg(target_os = "linux")]
pub mod host;
#[cfg(target_os = "linux")]
mod interface;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
mod listening;
pub mod measured;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod netlink;
pub mod network;
#[cfg(target_os = "linux")]
mod outer;
pub mod packet;
pub mod pair;
pub mod plan;
pub mod record;
pub mod relay;
pub mod report;
#[cfg(target_os = "linux")]
pub mod sandbox;
#[cfg(target_os = "linux")]
pub mod setup;
pub mod stamp;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tun;
#[cfg(target_os = "linux")]
mod veth;
#[cfg(target_os = "linux")]
pub mod work;

#[cfg(test)]
mod made;
