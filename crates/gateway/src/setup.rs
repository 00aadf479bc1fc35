//! Makes the hosts of a plan: namespaces, devices, addresses and routes.

use crate::device::Device;
use crate::fault::Fault;
use crate::host::Host;
pub use crate::interface::controls;
use crate::interface::{self, MTU, Offloads, TXQUEUELEN};
use crate::namespace;
use crate::netlink::Netlink;
use crate::outer::Outer;
use crate::plan::{HostPlan, Plan};
use crate::sys;
use crate::tun::{self, Tun};
use crate::veth;
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
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
    /// Whether its connections ask for ECN.
    pub ecn: bool,
    /// Linux' discipline before the device.
    pub qdisc: String,
    /// What the device lets the host put together, as `tso`.
    pub offloads: Vec<&'static str>,
    /// Segments that a connection starts with.
    pub initcwnd: u32,
}

/// Makes the hosts of `plan`. The calling process is put into namespaces of its own for good, so
/// that it must have no other thread; a copy of it returns, as the first process of a process
/// namespace, and the process that called waits for that one and ends as it does, without a return.
/// Signals to end are held from then on (see `command`).
///
/// # Errors
/// If the machine refuses.
pub fn hosts(plan: &Plan, options: &Options) -> Result<Machine, Fault> {
    check(plan)?;
    let (back_end, note) = choose(options.back_end)?;
    let outer = options.outer.map(|number| Outer::prepare(plan, number, back_end, is_inside())).transpose()?;
    let entered = namespace::enter()?;
    let mut notes = entered.notes;
    notes.extend(note);
    let middle = namespace::of_thread().map_err(|e| Fault::of("the gateway's network namespace", &e))?;
    let middle = Arc::new(middle);
    let mut machine = Machine {
        devices: Vec::new(),
        hosts: Vec::new(),
        facts: Facts {
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            user_namespace: entered.user,
            back_end,
            mtu: MTU,
            txqueuelen: TXQUEUELEN,
            hosts: Vec::new(),
            notes,
        },
    };
    let mut outer = outer;
    for (number, host) in plan.hosts.iter().enumerate() {
        let name = Arc::clone(&host.name);
        let (host, (device, facts, notes)) = match outer.take_if(|outer| outer.number == number) {
            None => {
                let made = Making { number, host: host.clone(), back_end, middle: Arc::clone(&middle) };
                Host::new(name, move || made.make())?
            }
            Some(outer) => {
                let (device, qdisc, offloads) = outer.complete()?;
                let facts = HostFacts { qdisc, ..facts(host, offloads) };
                Host::new(name, move || Ok((device, facts, Vec::new())))?
            }
        };
        let device: Box<dyn Device> = match device {
            Some(device) => Box::new(device),
            None => interface::open_end(number)
                .map_err(|e| Fault::of(&format!("host {}: its packet socket", host.name()), &e))?,
        };
        machine.devices.push(device);
        machine.hosts.push(host);
        machine.facts.hosts.push(facts);
        machine.facts.notes.extend(notes);
    }
    if let Err(fault) = namespace::set_hosts_file(&hosts_file(&plan.hosts)) {
        machine.facts.notes.push(fault.message);
    }
    Ok(machine)
}

/// The second part of the addresses of hosts, `10.N.0.0/16` and `fdN::/16`, that is free here: 77,
/// and inside an emulation the next one.
#[expect(clippy::disallowed_methods, reason = "an emulation tells the programs in it that they are in one")]
pub fn prefix() -> u8 {
    let outside: Option<u8> = std::env::var(INSIDE).ok().and_then(|value| value.parse().ok());
    outside.map_or(FIRST_PREFIX, |prefix| prefix.saturating_add(1))
}

/// Whether this process is in a host of an emulation: its environment says so, and it has no right
/// over the machine's own interfaces, for it is in a user namespace.
fn is_inside() -> bool {
    let is_machine = fs::read_link("/proc/self/ns/user").is_ok_and(|link| link.as_os_str() == FIRST_USER_NAMESPACE);
    prefix() != FIRST_PREFIX && !is_machine
}

/// Its number is fixed: `PROC_USER_INIT_INO`.
const FIRST_USER_NAMESPACE: &str = "user:[4026531837]";

/// Linux' congestion control of hosts for which none is said: `cubic` if the kernel has it, or
/// else `reno`.
pub fn default_control() -> Arc<str> {
    let has_cubic = controls().iter().any(|control| control == "cubic");
    if has_cubic { "cubic".into() } else { "reno".into() }
}

/// What all commands have in their environment: the prefix of the addresses of their emulation.
pub(crate) const INSIDE: &str = "FAIRQ_EMULATION";

const FIRST_PREFIX: u8 = 77;
/// Linux' `TCP_INIT_CWND`, where a route says no other.
const INITIAL_WINDOW: u32 = 10;
/// The device of a host.
const DEVICE: &str = "eth0";

/// What cannot be made on any machine.
pub(crate) fn check(plan: &Plan) -> Result<(), Fault> {
    for (number, host) in plan.hosts.iter().enumerate() {
        let name = &host.name;
        if host.addresses.is_empty() {
            return Err(Fault::new(format!("host {name} has no address")));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(Fault::new(format!("host `{name}`: a name has letters, digits, `-`, `_` and `.` only")));
        }
        for other in &plan.hosts[..number] {
            if other.name == *name {
                return Err(Fault::new(format!("two hosts are named {name}")));
            }
            if let Some(address) = host.addresses.iter().find(|address| other.addresses.contains(address)) {
                return Err(Fault::new(format!("hosts {} and {name} both have the address {address}", other.name)));
            }
        }
    }
    Ok(())
}

/// The back end that is used, and why not the one that is tried first.
fn choose(wanted: BackEnd) -> Result<(&'static str, Option<String>), Fault> {
    match (wanted, tun::is_there()) {
        (BackEnd::Packet, _) => Ok(("packet", None)),
        (_, Ok(())) => Ok(("tun", None)),
        (BackEnd::Auto, Err(e)) => Ok(("packet", Some(format!("{} cannot be opened: {e}", tun::PATH)))),
        (BackEnd::Tun, Err(e)) => Err(Fault::new(format!(
            "{} cannot be opened ({e}); as root, `modprobe tun` and `chmod 666 {}` open it, or use the back end `packet`",
            tun::PATH,
            tun::PATH
        ))),
    }
}

/// The names of all hosts.
fn hosts_file(hosts: &[HostPlan]) -> String {
    let mut text = String::from("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n");
    for host in hosts {
        for address in &host.addresses {
            let _ = writeln!(text, "{address} {}", host.name);
        }
    }
    text
}

/// A host that is made, in its thread.
struct Making {
    number: usize,
    host: HostPlan,
    back_end: &'static str,
    middle: Arc<OwnedFd>,
}

impl Making {
    fn make(self) -> Result<(Option<Tun>, HostFacts, Vec<String>), Fault> {
        let name = &self.host.name;
        let at = |what: &'static str| move |e: io::Error| Fault::of(&format!("host {name}: {what}"), &e);
        sys::unshare(libc::CLONE_NEWNET).map_err(|e| namespace::refused(&e))?;
        let mut netlink = Netlink::open().map_err(at("netlink"))?;
        netlink.set_loopback_up().map_err(at("its loopback device"))?;
        let (tun, offloads) = self.device(&mut netlink).map_err(at("its device"))?;
        interface::configure(&mut netlink, DEVICE, &self.host, None)?;
        let notes = settings(&self.host);
        let qdisc = netlink.link(DEVICE).map_err(at("its device"))?.qdisc;
        let facts = HostFacts { qdisc, ..facts(&self.host, offloads) };
        Ok((tun, facts, notes))
    }

    fn device(&self, netlink: &mut Netlink) -> io::Result<(Option<Tun>, Offloads)> {
        if self.back_end == "tun" {
            let (tun, offloads) = Tun::make(DEVICE)?;
            return Ok((Some(tun), offloads));
        }
        netlink.make_pair(DEVICE, &interface::end_of(self.number), self.middle.as_fd(), veth::ADDRESSES)?;
        Ok((None, veth::OFFLOADS))
    }
}

/// What connections depend on beside addresses; gives what was refused and is not needed.
fn settings(host: &HostPlan) -> Vec<String> {
    // A connection is not to know what one before it has seen; and `ping` needs no rights.
    let group = rustix::process::getegid().as_raw();
    // 2: not asked for, but agreed to.
    let ecn = if host.ecn { "1" } else { "2" };
    let settings = [
        ("tcp_no_metrics_save", "1".to_owned()),
        ("tcp_ecn", ecn.to_owned()),
        ("ping_group_range", format!("{group} {group}")),
    ];
    let refused = settings.into_iter().filter_map(|(setting, value)| {
        let path = format!("/proc/sys/net/ipv4/{setting}");
        fs::write(&path, value).err().map(|e| format!("host {}: {path}: {e}", host.name))
    });
    refused.collect()
}

/// How a host was made.
fn facts(host: &HostPlan, offloads: Offloads) -> HostFacts {
    HostFacts {
        name: host.name.to_string(),
        control: host.control.to_string(),
        ecn: host.ecn,
        qdisc: String::new(),
        offloads: offloads.to_vec(),
        initcwnd: INITIAL_WINDOW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, address: &str) -> HostPlan {
        HostPlan {
            name: name.into(),
            addresses: vec![address.parse().unwrap()],
            control: "reno".into(),
            ecn: false,
            commands: Vec::new(),
        }
    }

    fn plan(hosts: Vec<HostPlan>) -> Plan {
        Plan { hosts, lines: Vec::new(), nodes: 0, next: Vec::new(), flows: Vec::new(), seed: 0 }
    }

    #[test]
    fn what_no_machine_can_make_is_said_before_anything_is_made() {
        let message = |hosts| check(&plan(hosts)).unwrap_err().message;
        assert_eq!(message(vec![host("a", "10.77.0.1"), host("a", "10.77.1.1")]), "two hosts are named a");
        assert_eq!(
            message(vec![host("a", "10.77.0.1"), host("b", "10.77.0.1")]),
            "hosts a and b both have the address 10.77.0.1"
        );
        assert!(message(vec![host("a b", "10.77.0.1")]).starts_with("host `a b`: "));
        assert_eq!(check(&plan(vec![host("a", "10.77.0.1"), host("b", "fd77::1")])), Ok(()));
    }

    #[test]
    fn the_hosts_file_names_all_and_the_machine_itself() {
        let text = hosts_file(&[host("left", "10.77.0.1"), host("right", "fd77::1:1")]);
        assert!(text.contains("\n10.77.0.1 left\nfd77::1:1 right\n"), "{text}");
        assert!(text.starts_with("127.0.0.1 localhost\n"), "{text}");
    }

    #[test]
    fn the_congestion_control_that_is_not_said_is_one_of_the_kernel() {
        let control = default_control();
        assert!(controls().iter().any(|known| **known == *control), "{control}");
    }
}
