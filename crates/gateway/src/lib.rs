//! Real packets through the disciplines of `sched`: hosts are network namespaces of this machine,
//! and all lines between them are [`Path`](fairq_link::path::Path)s in one process, on the clock of
//! the machine.
//!
//! [`plan`] says what is to be built; [`device`] is where packets enter and leave.

#[cfg(target_os = "linux")]
pub mod command;
pub mod device;
#[cfg(target_os = "linux")]
pub mod doctor;
pub mod fault;
#[cfg(target_os = "linux")]
pub mod host;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod netlink;
pub mod plan;
#[cfg(target_os = "linux")]
pub mod sandbox;
#[cfg(target_os = "linux")]
pub mod setup;
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
