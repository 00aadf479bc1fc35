//! A host's device with its addresses and routes.

use crate::device::Device;
use crate::fault::Fault;
use crate::netlink::{Netlink, Settings};
use crate::plan::HostPlan;
use crate::veth::Veth;
use std::fs;
use std::io;
use std::net::IpAddr;

/// Names of what a device lets its host put together.
pub(crate) type Offloads = &'static [&'static str];

pub(crate) const MTU: u32 = 1500;
/// The ring of a TUN device has as many places.
pub(crate) const TXQUEUELEN: u32 = 10_000;

/// The congestion controls that the kernel has at once; it may load others.
pub fn controls() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Sets a device up, with the addresses of `host` and routes from them: to all, or to `others`
/// only.
pub(crate) fn configure(
    netlink: &mut Netlink,
    device: &str,
    host: &HostPlan,
    others: Option<&[IpAddr]>,
) -> Result<(), Fault> {
    let HostPlan { name, addresses, control, .. } = host;
    let failed = |what: &str, e: &io::Error| Fault::of(&format!("host {name}: {what}"), e);
    let index = netlink.link(device).map_err(|e| failed("its device", &e))?.index;
    let settings = Settings { mtu: MTU, txqueuelen: TXQUEUELEN };
    netlink.set_up(index, &settings).map_err(|e| failed("its device", &e))?;
    for &address in addresses {
        netlink.add_address(index, address).map_err(|e| failed(&format!("address {address}"), &e))?;
    }
    let first = |is_of: fn(&IpAddr) -> bool| addresses.iter().copied().find(is_of);
    for source in [first(IpAddr::is_ipv4), first(IpAddr::is_ipv6)].into_iter().flatten() {
        let ways: Vec<Option<IpAddr>> = match others {
            None => vec![None],
            Some(others) => others.iter().filter(|to| to.is_ipv4() == source.is_ipv4()).copied().map(Some).collect(),
        };
        for to in ways {
            netlink.add_route(index, to, source, control).map_err(|e| no_control(name, control, &e))?;
        }
    }
    Ok(())
}

/// What is wrong with a route that was refused.
fn no_control(host: &str, control: &str, cause: &io::Error) -> Fault {
    if cause.raw_os_error() == Some(libc::EINVAL) {
        let there = controls().join(", ");
        return Fault::new(format!(
            "host {host}: this kernel has no congestion control `{control}`; it has {there}; \
             as root, `modprobe tcp_{control}` may add it"
        ));
    }
    Fault::of(&format!("host {host}: its route"), cause)
}

/// The gateway's end of the pair of veth devices of host `number`, in the middle namespace.
pub(crate) fn open_end(number: usize) -> io::Result<Box<dyn Device>> {
    let mut netlink = Netlink::open()?;
    let index = netlink.link(&end_of(number))?.index;
    netlink.set_up(index, &Settings { mtu: MTU, txqueuelen: TXQUEUELEN })?;
    Ok(Box::new(Veth::open(index)?))
}

/// Its name.
pub(crate) fn end_of(number: usize) -> String {
    format!("host{number}")
}
