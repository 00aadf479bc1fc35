//! What this machine can, and how to get the rest.

use crate::clock::{now, sleep_until};
use crate::fault::Fault;
use crate::namespace;
use crate::netlink::{Netlink, Settings};
use crate::{setup, sys, tun};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::num::NonZeroU64;

/// One thing that a run may need.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// Whether it can be had.
    pub is_fine: bool,
    /// What was found.
    pub found: String,
    /// How to get it, where that is known.
    pub remedy: Option<String>,
}

impl Check {
    fn fine(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, is_fine: true, found: found.into(), remedy: None }
    }

    fn missing(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, is_fine: false, found: found.into(), remedy: Some(remedy.into()) }
    }
}

/// Looks at the machine; takes less than a second.
pub fn doctor() -> Vec<Check> {
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    vec![
        Check::fine("kernel", kernel),
        namespaces(),
        tun_devices(),
        packet_sockets(),
        controls(),
        timers(),
        landlock(),
        seccomp(),
    ]
}

/// What `question` answers in a process that has entered namespaces, and ends with that.
fn inside(question: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
    let said = |e: io::Error| e.to_string();
    let (answer, to_answer) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| said(e.into()))?;
    let Some(child) = sys::fork().map_err(said)? else {
        let entered = enter().map_err(|fault| fault.message);
        let line = match entered.and_then(|()| question()) {
            Ok(found) => format!("+{found}"),
            Err(refused) => format!("-{refused}"),
        };
        let _ = File::from(to_answer).write_all(line.as_bytes());
        sys::exit_now(0);
    };
    drop(to_answer);
    let mut line = String::new();
    let read = File::from(answer).read_to_string(&mut line);
    let _ = sys::wait_for(child);
    read.map_err(said)?;
    match line.split_at_checked(1) {
        Some(("+", found)) => Ok(found.to_owned()),
        Some((_, refused)) => Err(refused.to_owned()),
        None => Err("the process that was to try it has failed".to_owned()),
    }
}

/// The kinds of namespaces that a run enters; without one of users where they are not to be had
/// and not needed.
fn enter() -> Result<(), Fault> {
    let others = libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWPID;
    let tried = sys::unshare(libc::CLONE_NEWUSER | others);
    tried.or_else(|e| sys::unshare(others).map_err(|_| namespace::refused(&e)))
}

fn namespaces() -> Check {
    const NAME: &str = "namespaces";
    match inside(|| Ok(String::new())) {
        Ok(_) => Check::fine(NAME, "user, network, mount and process namespaces can be made"),
        Err(refused) => {
            let (found, remedy) = refused.split_once("; ").unwrap_or((&refused, "run as root"));
            Check::missing(NAME, found, remedy)
        }
    }
}

fn tun_devices() -> Check {
    const NAME: &str = "TUN devices";
    // Whether it may be opened is asked outside: a namespace takes no right to a file away.
    let made = tun::is_there().map_err(|e| e.to_string()).and_then(|()| {
        inside(|| {
            let (_, offloads) = tun::Tun::make("fairq").map_err(|e| e.to_string())?;
            Ok(offloads.join(", "))
        })
    });
    match made {
        Ok(offloads) => Check::fine(NAME, format!("they can be made, with {offloads}")),
        Err(refused) => Check::missing(
            NAME,
            format!("{}: {refused}", tun::PATH),
            "packet sockets serve as well; `modprobe tun` and `chmod 666 /dev/net/tun` as root open it",
        ),
    }
}

fn packet_sockets() -> Check {
    const NAME: &str = "packet sockets";
    let made = inside(|| {
        let made = socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, None);
        made.map(|_| String::new()).map_err(|e| io::Error::from(e).to_string())
    });
    match made {
        Ok(_) => Check::fine(NAME, "they can be made"),
        Err(refused) => Check::missing(NAME, refused, "they go with namespaces, and `modprobe af_packet`"),
    }
}

fn controls() -> Check {
    const NAME: &str = "congestion controls";
    let all = setup::controls();
    let by_route = inside(|| routes(&setup::controls()).map_err(|e| e.to_string()));
    match by_route {
        Ok(set) if set.split(' ').count() == all.len() => {
            Check::fine(NAME, format!("{}: all can be set by route", all.join(" ")))
        }
        Ok(set) => Check::missing(
            NAME,
            format!("{} are there; by route can be set: {set}", all.join(" ")),
            "a kernel since 4.0 sets them by route",
        ),
        Err(refused) => {
            Check::missing(NAME, format!("{} are there; none was set: {refused}", all.join(" ")), "see namespaces")
        }
    }
}

/// Those of `controls` that a route may have.
fn routes(controls: &[String]) -> io::Result<String> {
    let mut netlink = Netlink::open()?;
    netlink.set_loopback_up()?;
    netlink.set_up(1, &Settings { mtu: 1500, txqueuelen: 10 })?;
    let from = IpAddr::from([10, 77, 0, 1]);
    netlink.add_address(1, from)?;
    let mut set = Vec::new();
    for (number, control) in (2..).zip(controls) {
        if netlink.add_route(1, Some(IpAddr::from([10, 77, 1, number])), from, control).is_ok() {
            set.push(control.as_str());
        }
    }
    Ok(set.join(" "))
}

/// Naps of the measurement, and how long each is.
const NAPS: u64 = 200;
const NAP: u64 = 1_000_000;
/// What a late departure should stay below: a packet of 1500 bytes at 100 Mbit/s.
const LATE: u64 = 120_000;

fn timers() -> Check {
    const NAME: &str = "timers";
    let slack = rustix::thread::current_timer_slack();
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let start = now();
    let mut late: Vec<u64> = (1..=NAPS)
        .map(|number| {
            let when = start + number * NAP;
            sleep_until(when);
            now().saturating_sub(when)
        })
        .collect();
    let _ = rustix::thread::set_current_timer_slack(slack.ok().and_then(NonZeroU64::new));
    late.sort_unstable();
    let quantile = |hundredths: usize| late[(late.len() - 1) * hundredths / 100];
    let (middle, high) = (quantile(50), quantile(99));
    let found = format!("half are {} us late or more, a hundredth {} us", middle / 1000, high / 1000);
    if high <= LATE {
        return Check::fine(NAME, found);
    }
    Check::missing(NAME, found, "a machine with less to do is less late; every run says how late it was")
}

fn landlock() -> Check {
    const NAME: &str = "Landlock";
    match sys::landlock_version() {
        Ok(version) => Check::fine(NAME, format!("version {version}")),
        Err(e) => Check::missing(NAME, e.to_string(), "not needed; Linux 5.13 has it, with `lsm=landlock,...`"),
    }
}

fn seccomp() -> Check {
    const NAME: &str = "seccomp";
    match fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail") {
        Ok(actions) if actions.contains("errno") => Check::fine(NAME, "system calls can be refused"),
        _ => Check::missing(
            NAME,
            "system calls cannot be refused",
            "not needed; Linux with CONFIG_SECCOMP_FILTER has it",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_has_a_finding_and_what_is_missing_a_remedy() {
        let checks = doctor();
        println!("{checks:#?}");
        assert_eq!(checks.len(), 8);
        for check in checks {
            assert!(!check.found.is_empty(), "{check:?}");
            assert_eq!(check.is_fine, check.remedy.is_none(), "{check:?}");
            assert!(!check.found.contains('\n'), "{check:?}");
        }
    }

    #[test]
    fn what_a_process_inside_says_comes_out() {
        match inside(|| Err("no such thing".to_owned())) {
            Err(refused) => assert!(refused == "no such thing" || refused.contains("refuses namespaces"), "{refused}"),
            Ok(found) => panic!("{found}"),
        }
    }
}
