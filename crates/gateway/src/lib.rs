//! Real packets through the disciplines of `sched`: hosts are network namespaces of this machine,
//! and all lines between them are [`Path`](fairq_link::path::Path)s in one process, on the clock of
//! the machine.
//!
//! [`plan`] says what is to be built; [`device`] is where packets enter and leave; [`network`] has
//! the lines between them, without a clock; [`drive`] has the clock; [`report`] is what a run gives.

#[cfg(target_os = "linux")]
pub mod command;
pub mod device;
#[cfg(target_os = "linux")]
pub mod doctor;
pub mod drive;
pub mod fault;
pub mod flows;
#[cfg(target_os = "linux")]
pub mod host;
#[cfg(target_os = "linux")]
pub mod kernel;
pub mod measured;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod netlink;
pub mod network;
pub mod packet;
pub mod pair;
pub mod plan;
pub mod record;
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
mod virtio;
#[cfg(target_os = "linux")]
pub mod work;

#[cfg(test)]
mod made;
