//! The first program of a kernel: a script that sets up its network and runs its commands.

use crate::plan::HostPlan;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::Path;

/// Where commands and the tools of the network are looked for.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What is written here goes to the clock.
const SAY: &str = "/sys/kernel/um-ext-time/bc-message";

/// What ends the run, when it has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Front<'a> {
    /// The program and its arguments.
    pub(crate) argv: &'a [String],
    /// Whether there are commands beside it, which are to listen first.
    pub(crate) is_one_of_many: bool,
}

/// What a host says in place of the exit status of its command if its kernel has not the congestion
/// control that it is to have.
pub(crate) const NO_CONTROL: u64 = 256;

/// A file of the names of all hosts.
pub(crate) fn hosts_file(hosts: &[HostPlan]) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    for host in hosts {
        for address in &host.addresses {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{address} {}", host.name);
        }
    }
    text
}

/// The script of `host`. It waits first until the kernel has random numbers, which it makes by
/// looking at its clock again and again: it is alone then ([`starts`](super::run::starts)).
/// Commands start `wait` seconds later, when all hosts have; the front one a moment after the others.
pub(crate) fn script(host: &HostPlan, names: &Path, wait: usize, front: Option<Front<'_>>) -> String {
    let names = quoted(&names.to_string_lossy());
    let mut text = format!(
        "#!/bin/sh\nexport PATH={PATH} HOME=/tmp\nmount -n -t proc proc /proc\nmount -n -t sysfs sys /sys\n\
         mount -n --bind {names} /etc/hosts\necho 1 > /proc/sys/net/ipv4/tcp_no_metrics_save\n\
         [ -d /proc/sys/net/ipv6 ] && echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad\n\
         head -c 1 /dev/random > /dev/null\nip link set lo up\n\
         ip link set eth0 arp off up\n"
    );
    // 2: only if the other end asks.
    let _ = writeln!(text, "echo {} > /proc/sys/net/ipv4/tcp_ecn", if host.ecn { 1 } else { 2 });
    for address in &host.addresses {
        let (ip, length) = match address {
            IpAddr::V4(_) => ("ip -4", 32),
            IpAddr::V6(_) => ("[ -d /proc/sys/net/ipv6 ] && ip -6", 128),
        };
        let _ = writeln!(text, "{ip} address add {address}/{length} dev eth0");
    }
    let mut control = String::new();
    if !host.control.is_empty() {
        let name = quoted(&host.control);
        control = format!(" congctl {name}");
        let known = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let _ = writeln!(text, "grep -qwe {name} {known} || echo {NO_CONTROL} > {SAY}");
    }
    for ip in ["ip -4", "[ -d /proc/sys/net/ipv6 ] && ip -6"] {
        let _ = writeln!(text, "{ip} route add default dev eth0{control}");
    }
    let _ = writeln!(text, "sleep {wait}");
    for argv in &host.commands {
        let _ = writeln!(text, "{} &", command(argv));
    }
    if let Some(front) = front {
        let argv = command(front.argv);
        let moment = if front.is_one_of_many { "sleep 0.1\n" } else { "" };
        let _ = write!(text, "{moment}{argv}\necho $? > {SAY}\n");
    }
    // The end of the first program is a panic of the kernel.
    text.push_str("while :; do sleep 1000; done\n");
    text
}

fn command(argv: &[String]) -> String {
    argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> HostPlan {
        HostPlan {
            name: "left".into(),
            addresses: vec!["10.77.0.1".parse().unwrap(), "fd77::1".parse().unwrap()],
            control: "bbr".into(),
            ecn: true,
            commands: vec![vec!["echo".into(), "it's".into()]],
        }
    }

    #[test]
    fn a_host_has_its_addresses_its_control_and_its_commands() {
        let argv = ["iperf3".into(), "-c".into(), "right".into()];
        let front = Front { argv: &argv, is_one_of_many: true };
        let text = script(&host(), Path::new("/tmp/x/hosts"), 4, Some(front));
        for line in [
            "echo 1 > /proc/sys/net/ipv4/tcp_ecn",
            "mount -n --bind '/tmp/x/hosts' /etc/hosts",
            "ip -4 address add 10.77.0.1/32 dev eth0",
            "[ -d /proc/sys/net/ipv6 ] && ip -6 address add fd77::1/128 dev eth0",
            "ip -4 route add default dev eth0 congctl 'bbr'",
            "grep -qwe 'bbr' /proc/sys/net/ipv4/tcp_available_congestion_control || \
             echo 256 > /sys/kernel/um-ext-time/bc-message",
            r"'echo' 'it'\''s' &",
            "sleep 4",
            "sleep 0.1\n'iperf3' '-c' 'right'\necho $? > /sys/kernel/um-ext-time/bc-message",
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "{line} in:\n{text}");
        }
    }

    #[test]
    fn all_names_are_known() {
        let text = hosts_file(&[host()]);
        assert_eq!(text, "127.0.0.1 localhost\n::1 localhost\n10.77.0.1 left\nfd77::1 left\n");
    }
}
