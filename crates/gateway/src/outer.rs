//! A host that is the present network namespace: that of a program inside an emulation, which makes
//! another one beside it.
//!
//! Its device is made before the gateway leaves for namespaces of its own: later it has no right.
//! Of a pair of veth devices the other end belongs into the gateway's namespace, which is not
//! there yet: a copy of the process stays behind, makes the pair when it is, and ends.

use crate::fault::Fault;
use crate::interface::{self, Offloads};
use crate::netlink::Netlink;
use crate::plan::{HostPlan, Plan};
use crate::tun::Tun;
use crate::{sys, veth};
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// The host, before the gateway has left.
pub(crate) struct Outer {
    /// Its number.
    pub(crate) number: usize,
    made: Made,
}

enum Made {
    Tun {
        tun: Tun,
        qdisc: String,
        offloads: Offloads,
    },
    /// Where the copy is told that it is time, and what it answers: `+` and the discipline, or `-`
    /// and what was refused.
    Pair {
        go: File,
        answer: File,
    },
}

/// What the host's device is: a TUN device, or `None` for a pair; Linux' discipline before it; and
/// what the host may put together.
pub(crate) type Device = (Option<Tun>, String, Offloads);

impl Outer {
    /// Makes what is to be made in the present namespace, if that is one of an emulation.
    pub(crate) fn prepare(plan: &Plan, number: usize, back_end: &str, is_inside: bool) -> Result<Self, Fault> {
        let Some(host) = plan.hosts.get(number) else {
            return Err(Fault::new(format!("there is no host {number} to be the present namespace")));
        };
        if !is_inside {
            return Err(Fault::new(format!(
                "host {} is to be the present namespace, whose interfaces belong to this machine and are not \
                 touched; start it inside `fairq emulate`",
                host.name
            )));
        }
        if !host.commands.is_empty() {
            return Err(Fault::new(format!("host {}: commands of the present namespace are its own", host.name)));
        }
        let others = plan.hosts.iter().enumerate().filter(|(other, _)| *other != number);
        let others: Vec<IpAddr> = others.flat_map(|(_, host)| host.addresses.iter().copied()).collect();
        let made = if back_end == "tun" { tun(host, &others)? } else { copy(host, &others, number)? };
        Ok(Self { number, made })
    }

    /// What was made; the gateway is in its namespaces now.
    pub(crate) fn complete(self) -> Result<Device, Fault> {
        match self.made {
            Made::Tun { tun, qdisc, offloads } => Ok((Some(tun), qdisc, offloads)),
            Made::Pair { mut go, mut answer } => {
                let mut line = String::new();
                let told = go.write_all(b"+").and_then(|()| answer.read_to_string(&mut line));
                told.map_err(|e| Fault::of("the present namespace", &e))?;
                match line.split_at_checked(1) {
                    Some(("+", qdisc)) => Ok((None, qdisc.to_owned(), veth::OFFLOADS)),
                    Some((_, refused)) => Err(Fault::new(refused)),
                    None => Err(Fault::new("the present namespace: the process that was to set it has failed")),
                }
            }
        }
    }
}

/// A name that no device here has.
fn free_name(netlink: &mut Netlink) -> String {
    let mut names = (0..).map(|number| format!("fairq{number}"));
    // There are fewer devices than numbers.
    names.find(|name| netlink.link(name).is_err()).unwrap_or_default()
}

fn tun(host: &HostPlan, others: &[IpAddr]) -> Result<Made, Fault> {
    let failed = |e: io::Error| Fault::of(&format!("host {}: its device in the present namespace", host.name), &e);
    let mut netlink = Netlink::open().map_err(failed)?;
    let name = free_name(&mut netlink);
    let (tun, offloads) = Tun::make(&name).map_err(failed)?;
    interface::configure(&mut netlink, &name, host, Some(others))?;
    let qdisc = netlink.link(&name).map_err(failed)?.qdisc;
    Ok(Made::Tun { tun, qdisc, offloads })
}

/// The copy that stays.
fn copy(host: &HostPlan, others: &[IpAddr], number: usize) -> Result<Made, Fault> {
    let failed = |e: io::Error| Fault::of("a process for the present namespace", &e);
    let gateway = open("/proc/self", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let gateway = gateway.map_err(|e| failed(e.into()))?;
    let (wait, go) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| failed(e.into()))?;
    let (answer, to_answer) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| failed(e.into()))?;
    if sys::fork().map_err(failed)?.is_some() {
        return Ok(Made::Pair { go: File::from(go), answer: File::from(answer) });
    }
    drop(go);
    if matches!(File::from(wait).read(&mut [0]), Ok(1)) {
        let line = match pair(host, others, number, gateway.as_fd()) {
            Ok(qdisc) => format!("+{qdisc}"),
            Err(fault) => format!("-{fault}"),
        };
        let _ = File::from(to_answer).write_all(line.as_bytes());
    }
    sys::exit_now(0);
}

/// Makes the pair, one end of it in the namespace of the process whose folder in `/proc` is given.
fn pair(host: &HostPlan, others: &[IpAddr], number: usize, gateway: BorrowedFd<'_>) -> Result<String, Fault> {
    let failed = |e: io::Error| Fault::of(&format!("host {}: its device in the present namespace", host.name), &e);
    let there = openat(gateway, "ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let there = there.map_err(|e| failed(e.into()))?;
    let mut netlink = Netlink::open().map_err(failed)?;
    let name = free_name(&mut netlink);
    let end = interface::end_of(number);
    netlink.make_pair(&name, &end, there.as_fd(), veth::ADDRESSES).map_err(failed)?;
    interface::configure(&mut netlink, &name, host, Some(others))?;
    Ok(netlink.link(&name).map_err(failed)?.qdisc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_namespace_is_not_touched() {
        let host = HostPlan {
            name: "outside".into(),
            addresses: vec![IpAddr::from([10, 78, 0, 1])],
            control: "reno".into(),
            ecn: false,
            commands: Vec::new(),
        };
        let plan =
            Plan { hosts: vec![host], lines: Vec::new(), nodes: 1, next: Vec::new(), flows: Vec::new(), seed: 0 };
        let refused = |number| Outer::prepare(&plan, number, "packet", false).err().map(|fault| fault.message);
        assert!(
            refused(0).unwrap().starts_with("host outside is to be the present namespace, whose interfaces belong")
        );
        assert_eq!(refused(1).unwrap(), "there is no host 1 to be the present namespace");
    }
}
