//! Makes the hosts of a plan: namespaces, devices, addresses and routes.

use crate::device::Device;
use crate::fault::Fault;
use crate::host::Host;
use crate::plan::Plan;
use serde::Serialize;
use std::sync::Arc;

/// What stands between a host and the gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackEnd {
    /// A TUN device, or a packet socket where `/dev/net/tun` cannot be opened.
    #[default]
    Auto,
    /// A TUN device.
    Tun,
    /// A pair of veth devices and a packet socket.
    Packet,
}

/// How hosts are made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What stands between a host and the gateway.
    pub back_end: BackEnd,
    /// The host, by its number, that is the present namespace and not a new one. Only inside an
    /// emulation.
    pub outer: Option<usize>,
}

/// Hosts that run.
pub struct Machine {
    /// By host.
    pub devices: Vec<Box<dyn Device>>,
    /// By host.
    pub hosts: Vec<Host>,
    /// How they were made.
    pub facts: Facts,
}

/// How hosts were made, for the results.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    /// Release of the kernel.
    pub kernel: String,
    /// Whether a user namespace was entered, so that no right over the machine is held.
    pub user_namespace: bool,
    /// `tun` or `packet`.
    pub back_end: &'static str,
    /// Largest packet of the devices, in bytes.
    pub mtu: u32,
    /// Packets that a device holds for the gateway.
    pub txqueuelen: u32,
    /// By host.
    pub hosts: Vec<HostFacts>,
    /// What could not be had and is not needed, a line each.
    pub notes: Vec<String>,
}

/// How a host was made.
#[derive(Clone, Debug, Serialize)]
pub struct HostFacts {
    /// Its name.
    pub name: String,
    /// Congestion control of its connections.
    pub control: String,
    /// Linux' discipline before the device.
    pub qdisc: String,
    /// What the device lets the host put together, as `tso`.
    pub offloads: Vec<&'static str>,
    /// Segments that a connection starts with.
    pub initcwnd: u32,
}

/// Makes the hosts of `plan`. The calling process is put into namespaces of its own for good, so
/// that it must have no other thread; it goes on as the first process of a process namespace, and
/// the process that called waits for it and ends as it does.
///
/// # Errors
/// If the machine refuses.
pub fn hosts(plan: &Plan, options: &Options) -> Result<Machine, Fault> {
    let _ = (plan, options);
    Err(Fault::new("this machine cannot make hosts"))
}

/// The second part of the addresses of hosts, `10.N.0.0/16` and `fdN::/16`, that is free here: 77,
/// and inside an emulation the next one.
pub fn prefix() -> u8 {
    77
}

/// Linux' congestion control of hosts for which none is said: `cubic` if the kernel has it, or
/// else `reno`.
pub fn default_control() -> Arc<str> {
    "reno".into()
}
