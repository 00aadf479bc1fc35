//! From a scenario's plan to one of real hosts: which nodes are hosts, their addresses, the way of
//! each packet. What real hosts cannot do is refused, with its place in the scenario.

use super::job::Job;
use super::work;
use fairq_gateway::plan::{FlowPlan, HostPlan, LinePlan, Plan, Speed};
use fairq_link::random::Stream;
use fairq_sched::contract::Role;
use fairq_sched::units::Time;
use fairq_sim::net::route::{Ends, Routes};
use fairq_sim::net::varying::Course;
use fairq_sim::plan::{FlowPlan as Flow, LinePlan as Line, Plan as Network};
use fairq_text::{Fault, near_miss};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// The second number of the addresses of an emulation that is in no other.
pub(super) const PREFIX: u8 = 77;

/// Addresses of a host of one family: those that end in 1 to 250.
const ADDRESSES_MAX: usize = 250;

/// Hosts of a network.
const HOSTS_MAX: usize = 250;

/// Where and how a scenario is to be emulated.
pub(super) struct Wanted<'a> {
    pub(super) network: &'a Network,
    pub(super) job: &'a Job,
    /// Costs of the lines' lengths, by which packets of commands find their way.
    pub(super) costs: Vec<u64>,
    /// The addresses' second number.
    pub(super) prefix: u8,
    pub(super) seed: u64,
}

/// The plan of real hosts.
///
/// # Errors
/// What real hosts cannot do, with its place.
pub(super) fn plan(wanted: &Wanted<'_>) -> Result<Plan, Fault> {
    let network = wanted.network;
    check(network)?;
    let ends: Vec<[u32; 2]> = network.flows.iter().map(|flow| nodes_of(network, flow)).collect();
    let hosts = hosts(wanted, &ends)?;
    let numbers = numbers(network.nodes.len(), &hosts);
    let mut addresses: Vec<Vec<IpAddr>> = (0..hosts.len()).map(|host| of_name(wanted.prefix, host)).collect();
    let mut known = BTreeMap::new();
    let mut flows = Vec::with_capacity(network.flows.len());
    for (flow, ends) in network.flows.iter().zip(&ends) {
        let header = flow.path.header(fairq_sim::segment::Direction::Forward);
        let hosts = ends.map(|node| numbers[node as usize]);
        let mut own = |end: usize, address: fairq_sched::packet::Address| {
            let host = hosts[end] as usize;
            let listed = &mut addresses[host];
            let found = *known.entry((host, format!("{address:?}"))).or_insert_with(|| {
                // The node itself has the address of its name.
                let node = fairq_sched::packet::Address::Node(ends[end]);
                if address != node {
                    listed.push(v4(wanted.prefix, host, listed.len()));
                }
                if address == node { 0 } else { listed.len() - 1 }
            });
            listed[found]
        };
        let addresses = [own(0, header.source), own(1, header.destination)];
        flows.push(flow_plan(wanted, flow, hosts, addresses)?);
    }
    if let Some(host) = addresses.iter().position(|of| of.len() > ADDRESSES_MAX) {
        let name = &network.nodes[hosts[host] as usize];
        let message = format!("at {name} there are more than {ADDRESSES_MAX} hosts of flows; give flows hosts = 1");
        return Err(Fault::new("flows", message));
    }
    let host = |(node, addresses): (&u32, Vec<IpAddr>)| {
        let name = Arc::clone(&network.nodes[*node as usize]);
        let control = wanted.job.controls.get(&*name).or(wanted.job.control.as_ref());
        let mut flows = network.flows.iter().zip(&ends);
        let ecn = wanted.job.ecn || flows.any(|(flow, ends)| ends.contains(node) && work::asks_for_ecn(&flow.entry));
        HostPlan { addresses, control: control.map_or("", String::as_str).into(), ecn, commands: Vec::new(), name }
    };
    Ok(Plan {
        hosts: hosts.iter().zip(addresses).map(host).collect(),
        lines: lines(network, &numbers, &ends),
        nodes: network.nodes.len(),
        next: next(wanted, &numbers, hosts.len()),
        flows,
        seed: wanted.seed,
    })
}

/// A fault for the first thing that real hosts or this gateway cannot do.
fn check(network: &Network) -> Result<(), Fault> {
    let refused = |path: &str, message: &str| Err(Fault::new(path, message));
    if !network.sessions.is_empty() {
        return refused("sessions", "emulation has no multicast; leave sessions out, or run them with fairq run");
    }
    if !network.pools.is_empty() {
        return refused("pools", "emulated queues share no buffer; leave pools out, or use fairq run");
    }
    if !network.changes.is_empty() {
        return refused("changes", "an emulated line does not change while it runs, but by a trace; use fairq run");
    }
    for line in &network.lines {
        let at = format!("links.{}", line.name);
        if line.ring > 0 {
            return refused(&format!("{at}.ring"), "an emulated line has no ring; leave it out");
        }
        if line.role != Role::Both {
            return refused("nodes", "real packets carry no labels from edge to core; leave roles out");
        }
        if matches!(line.course, Some(Course::Walk(_))) {
            let message = "a random walk is simulated only; write one rate, or trace = \"FILE\"";
            return refused(&format!("{at}.rate"), message);
        }
    }
    for flow in &network.flows {
        let at = format!("flows[{}]", flow.entry.number);
        let entry = &flow.entry;
        if entry.class.is_some() {
            let message = "real packets carry no class; tell them apart by DSCP or addresses";
            return refused(&format!("{at}.class"), message);
        }
        if entry.deadline.is_some() {
            return refused(&format!("{at}.deadline"), "real packets carry no deadline; leave it out");
        }
        if flow.tells_remaining {
            let message = "a queue on its path goes by what is left of a transfer, which real packets do not carry";
            return refused(&at, message);
        }
    }
    Ok(())
}

/// The nodes at the ends of a flow.
fn nodes_of(network: &Network, flow: &Flow) -> [u32; 2] {
    let mut lines = flow.path.forward().iter().map(|line| &network.lines[*line as usize]).filter(|l| !l.is_access);
    let first = lines.next().map_or(0, |line| line.ends.from);
    let mut lines = flow.path.forward().iter().rev().map(|line| &network.lines[*line as usize]);
    let last = lines.find(|line| !line.is_access).map_or(0, |line| line.ends.to);
    [first, last]
}

/// The nodes that are hosts: the ends of flows, those with one link, and those that commands name.
fn hosts(wanted: &Wanted<'_>, ends: &[[u32; 2]]) -> Result<Vec<u32>, Fault> {
    let network = wanted.network;
    let mut hosts: BTreeSet<u32> = ends.iter().flatten().copied().collect();
    let mut links = vec![0u32; network.nodes.len()];
    for line in network.lines.iter().filter(|line| !line.is_access) {
        links[line.ends.from as usize] += 1;
    }
    hosts.extend((0..).zip(&links).filter(|(_, links)| **links == 1).map(|(node, _)| node));
    for name in wanted.job.named_hosts() {
        let found = network.nodes.iter().position(|node| **node == *name);
        let Some(node) = found else {
            let near = near_miss(name, network.nodes.iter().map(|node| &**node));
            let known = network.nodes.iter().take(8).map(|node| &**node).collect::<Vec<_>>().join(", ");
            let near = if near.is_empty() { format!("; there are {known}") } else { near };
            return Err(Fault::new("", format!("--on {name}: no host is called {name}{near}")));
        };
        hosts.insert(node as u32);
    }
    if hosts.len() > HOSTS_MAX {
        return Err(Fault::new("links", format!("{} hosts; an emulation has at most {HOSTS_MAX}", hosts.len())));
    }
    Ok(hosts.into_iter().collect())
}

/// By node of the scenario, its number in the plan: hosts first.
fn numbers(nodes: usize, hosts: &[u32]) -> Vec<u32> {
    let is_host: BTreeSet<u32> = hosts.iter().copied().collect();
    let others = (0..nodes as u32).filter(|node| !is_host.contains(node));
    let mut numbers = vec![0; nodes];
    for (number, node) in (0..).zip(hosts.iter().copied().chain(others)) {
        numbers[node as usize] = number;
    }
    numbers
}

/// The addresses of a host's name.
fn of_name(prefix: u8, host: usize) -> Vec<IpAddr> {
    let v6 = Ipv6Addr::new(0xfd00 | u16::from(prefix), 0, 0, 0, 0, 0, host as u16 + 1, 1);
    vec![v4(prefix, host, 0), IpAddr::V6(v6)]
}

/// The address with this number among those of a host, of IPv4.
fn v4(prefix: u8, host: usize, number: usize) -> IpAddr {
    Ipv4Addr::new(10, prefix, host as u8 + 1, number as u8 + 1).into()
}

fn flow_plan(wanted: &Wanted<'_>, flow: &Flow, ends: [u32; 2], addresses: [IpAddr; 2]) -> Result<FlowPlan, Fault> {
    let entry = &flow.entry;
    let start = entry.start.unwrap_or_else(|| {
        let part = Stream::new(wanted.seed, &format!("{}/start", flow.name)).uniform();
        Time((part * entry.start_within.0 as f64) as u64)
    });
    let end = wanted.network.warm_up.saturating_add(wanted.network.duration);
    Ok(FlowPlan {
        name: Arc::clone(&flow.name),
        ends,
        addresses,
        lines: [flow.path.forward().to_vec(), flow.path.backward().to_vec()],
        work: work::of(entry)?,
        during: [start, entry.stop.unwrap_or(end).min(end)],
        weight: entry.weight,
        // The system sets the code point of ECN itself.
        tos: flow.path.header(fairq_sim::segment::Direction::Forward).tos & !3,
    })
}

/// The lines, with the numbers that they have in the scenario's plan.
fn lines(network: &Network, numbers: &[u32], ends: &[[u32; 2]]) -> Vec<LinePlan> {
    let mut nodes: Vec<[u32; 2]> = network.lines.iter().map(|line| [line.ends.from, line.ends.to]).collect();
    for (flow, ends) in network.flows.iter().zip(ends) {
        let path = flow.path.forward();
        // A flow's own line joins its host to itself: the host is the node.
        for (line, node) in [(path.first(), ends[0]), (path.last(), ends[1])] {
            let Some(line) = line.filter(|line| network.lines[**line as usize].is_access) else { continue };
            nodes[*line as usize] = [node; 2];
            nodes[(*line ^ 1) as usize] = [node; 2];
        }
    }
    let line = |(line, [from, to]): (&Line, [u32; 2])| LinePlan {
        name: Arc::clone(&line.name),
        is_reverse: line.is_reverse,
        is_access: line.is_access,
        from: numbers[from as usize],
        to: numbers[to as usize],
        speed: speed(line),
        delay: line.delay,
        impairment: line.impairment,
        queue: Arc::clone(&line.queue),
        link_header: line.link_header,
    };
    network.lines.iter().zip(nodes).map(line).collect()
}

fn speed(line: &Line) -> Speed {
    match (&line.course, line.rate) {
        (Some(Course::Trace(trace)), _) => Speed::Trace(Arc::clone(trace)),
        (_, Some(rate)) => Speed::Rate(rate),
        (_, None) => Speed::Unlimited,
    }
}

/// By node and host, the line on which a packet for that host leaves that node: the first of the
/// shortest path, as the simulator routes.
fn next(wanted: &Wanted<'_>, numbers: &[u32], hosts: usize) -> Vec<Vec<Option<u32>>> {
    let network = wanted.network;
    let nodes = network.nodes.len();
    // Flows' own lines keep their numbers, and lead nowhere.
    let nowhere = Ends { from: nodes as u32, to: nodes as u32 };
    let ends = |line: &Line| {
        if line.is_access {
            return nowhere;
        }
        Ends { from: numbers[line.ends.from as usize], to: numbers[line.ends.to as usize] }
    };
    let lines = network.lines.iter().zip(&wanted.costs).map(|(line, cost)| (ends(line), *cost)).collect();
    let mut routes = Routes::new(lines, nodes + 1);
    let mut first = |node, host| routes.path(node, host, None).and_then(|path| path.first().copied());
    (0..nodes as u32).map(|node| (0..hosts as u32).map(|host| first(node, host)).collect()).collect()
}
