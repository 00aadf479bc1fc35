//! Where packets go: which flow of the plan they are of, which host has their destination, which
//! line is next.

use crate::flows::{Way, reversed};
use crate::packet::{TCP, UDP};
use crate::plan::{FlowPlan, Plan, Work};
use crate::report::Name;
use fairq_sched::packet::{Address, Header};
use fairq_sched::units::Weight;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The ways of all packets.
pub(super) struct Ways {
    names: Vec<Arc<str>>,
    hosts: BTreeMap<Address, u32>,
    planned: BTreeMap<Fields, (u32, u8)>,
    flows: Vec<FlowPlan>,
    next: Vec<Vec<Option<u32>>>,
    lines: usize,
}

/// What a flow of the plan is known by: addresses, protocol, ports.
type Fields = (Address, Address, u16, u16, u16);

const fn fields(header: &Header) -> Fields {
    (header.source, header.destination, header.protocol, header.source_port, header.destination_port)
}

impl Ways {
    pub(super) fn new(plan: &Plan) -> Self {
        let hosts = plan.hosts.iter().zip(0..);
        let hosts = hosts.flat_map(|(host, number)| host.addresses.iter().map(move |ip| (address(*ip), number)));
        let planned = plan.flows.iter().enumerate().flat_map(|(number, flow)| {
            let header = header_of(flow, number);
            [(fields(&header), (number as u32, 0)), (fields(&reversed(&header)), (number as u32, 1))]
        });
        Self {
            names: plan.hosts.iter().map(|host| Arc::clone(&host.name)).collect(),
            hosts: hosts.collect(),
            planned: planned.collect(),
            flows: plan.flows.clone(),
            next: plan.next.clone(),
            lines: plan.lines.len(),
        }
    }

    /// The way of packets with this header from a host, and the host at its end; `None` if the
    /// sender is not an address of that host's, or no host has the receiver's. A host cannot take
    /// more shares of a line by making addresses up.
    pub(super) fn of(&self, header: &Header, from: u32) -> Option<(Way, u32)> {
        if self.hosts.get(&header.source) != Some(&from) {
            return None;
        }
        if let Some((flow, direction)) = self.planned.get(&fields(header)) {
            let way = Way::Planned(*flow, *direction);
            return Some((way, self.end(way)));
        }
        let host = *self.hosts.get(&header.destination)?;
        Some((Way::Towards(host), host))
    }

    /// The plan's flow of this number.
    pub(super) fn flow(&self, number: u32) -> Option<&FlowPlan> {
        self.flows.get(number as usize)
    }

    pub(super) fn host(&self, number: u32) -> &Arc<str> {
        &self.names[number as usize]
    }

    /// The host at the end of a way.
    pub(super) fn end(&self, way: Way) -> u32 {
        match way {
            Way::Planned(flow, direction) => self.flows[flow as usize].ends[usize::from(1 - direction)],
            Way::Towards(host) => host,
        }
    }

    pub(super) fn weight(&self, way: Way) -> Weight {
        match way {
            Way::Planned(flow, 0) => self.flows[flow as usize].weight,
            _ => Weight::ONE,
        }
    }

    /// Whether a packet that has crossed `hops` lines and is at `node` has come to its end.
    pub(super) fn is_there(&self, way: Way, hops: u16, node: u32) -> bool {
        match way {
            Way::Planned(flow, direction) => {
                self.flows[flow as usize].lines[usize::from(direction)].len() <= usize::from(hops)
            }
            Way::Towards(host) => host == node,
        }
    }

    /// The line that a packet takes next after `hops` lines, at `node`.
    pub(super) fn next(&self, way: Way, hops: u16, node: u32) -> Option<u32> {
        let line = match way {
            Way::Planned(flow, direction) => {
                self.flows[flow as usize].lines[usize::from(direction)].get(usize::from(hops)).copied()
            }
            Way::Towards(host) => self.next.get(node as usize).and_then(|next| *next.get(host as usize)?),
        };
        line.filter(|line| (*line as usize) < self.lines)
    }

    /// The lines of a way that begins at `from`.
    pub(super) fn lines(&self, way: Way, from: u32, to_of: impl Fn(u32) -> u32) -> Vec<u32> {
        let (mut node, mut lines) = (from, Vec::new());
        while lines.len() <= self.lines && !self.is_there(way, lines.len() as u16, node) {
            let Some(line) = self.next(way, lines.len() as u16, node) else { break };
            node = to_of(line);
            lines.push(line);
        }
        lines
    }

    /// The name of a flow that is not of the plan, from host `from` to host `to`.
    pub(super) fn name_of(&self, header: &Header, from: u32, to: u32) -> Name {
        let end = |host: u32, port: u16| match port {
            0 => self.host(host).to_string(),
            port => format!("{}:{port}", self.host(host)),
        };
        let (from, to) = (end(from, header.source_port), end(to, header.destination_port));
        Name(format!("{from} > {to} {}", transport(header.protocol)).into())
    }
}

/// The name of a protocol.
pub(super) fn transport(protocol: u16) -> String {
    match protocol {
        1 => "icmp".to_owned(),
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        58 => "icmpv6".to_owned(),
        number => number.to_string(),
    }
}

pub(super) const fn address(ip: IpAddr) -> Address {
    match ip {
        IpAddr::V4(ip) => Address::V4(ip.octets()),
        IpAddr::V6(ip) => Address::V6(ip.octets()),
    }
}

/// The header of the data of the plan's flow of this number.
pub(super) fn header_of(flow: &FlowPlan, number: usize) -> Header {
    let protocol = match flow.work {
        Work::Bulk { .. } => TCP,
        Work::Datagrams { .. } => UDP,
    };
    let port = FlowPlan::port(number);
    Header {
        source: address(flow.addresses[0]),
        destination: address(flow.addresses[1]),
        protocol: protocol.into(),
        source_port: port,
        destination_port: port,
        tos: 0,
    }
}
