//! What is to be built: hosts, lines, the way of each packet. Plain values, without a descriptor.

use fairq_link::impairment::Impairment;
use fairq_link::trace::DeliveryTrace;
use fairq_sched::queue::Queue;
use fairq_sched::registry::ClassifierSettings;
use fairq_sched::units::{Rate, Time, Weight};
use std::net::IpAddr;
use std::sync::Arc;

/// A network of real hosts.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Each has a network namespace.
    pub hosts: Vec<HostPlan>,
    /// Lines in one direction; the two of a link have consecutive numbers.
    pub lines: Vec<LinePlan>,
    /// Nodes that are named by [`LinePlan::from`] and [`LinePlan::to`]; hosts come first, in their
    /// order.
    pub nodes: usize,
    /// By node and by host, the line on which a packet for that host leaves that node; `None`: it
    /// is dropped and counted.
    pub next: Vec<Vec<Option<u32>>>,
    /// Flows that the gateway itself makes, with lines of their own. Packets of no such flow, those
    /// of commands, are told apart by their five-tuple as they come.
    pub flows: Vec<FlowPlan>,
    /// The seed of losses, jitter and reordering.
    pub seed: u64,
}

/// A host: a namespace with one device.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// Its name, in the hosts file of all.
    pub name: Arc<str>,
    /// Its addresses, of both families; the first is that of its name.
    pub addresses: Vec<IpAddr>,
    /// Linux' congestion control of its connections, set on its routes.
    pub control: Arc<str>,
    /// Whether its connections ask for ECN (RFC 3168); Linux answers to it in any case.
    pub ecn: bool,
    /// Commands that run in it for as long as the run lasts.
    pub commands: Vec<Vec<String>>,
}

/// A line in one direction.
#[derive(Clone, Debug)]
pub struct LinePlan {
    /// The link's name.
    pub name: Arc<str>,
    /// Whether it leads from the link's `to` end to its `from` end.
    pub is_reverse: bool,
    /// Whether it belongs to a flow only, and has no row in the tables.
    pub is_access: bool,
    /// Nodes.
    pub from: u32,
    /// Nodes.
    pub to: u32,
    /// What it can carry.
    pub speed: Speed,
    /// Its delay.
    pub delay: Time,
    /// What goes wrong on it.
    pub impairment: Impairment,
    /// Its discipline and limit.
    pub queue: Arc<Queue>,
    /// Bytes that its link layer adds to every packet.
    pub link_header: u8,
}

/// What a line can carry.
#[derive(Clone, Debug)]
pub enum Speed {
    /// As much as comes.
    Unlimited,
    /// A constant rate.
    Rate(Rate),
    /// What a delivery trace says, from the start of the run.
    Trace(Arc<DeliveryTrace>),
}

/// A flow that the gateway makes: a connection or a stream of datagrams between two hosts.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name.
    pub name: Arc<str>,
    /// Hosts of its sender and its receiver.
    pub ends: [u32; 2],
    /// Its addresses at both: one of the host's each.
    pub addresses: [IpAddr; 2],
    /// The lines that its data takes, and those that answers take; between them no others.
    pub lines: [Vec<u32>; 2],
    /// What it sends.
    pub work: Work,
    /// Its start and its end, from the start of the run.
    pub during: [Time; 2],
    /// Its weight for disciplines that know weights.
    pub weight: Weight,
    /// The type of service of its packets.
    pub tos: u8,
}

impl FlowPlan {
    /// The port of both of its ends, if it is flow `number` of its plan.
    #[must_use]
    pub fn port(number: usize) -> u16 {
        u16::try_from(number).map_or(u16::MAX, |number| FIRST_PORT.saturating_add(number))
    }
}

/// The port of both ends of a plan's first flow; those of the others follow.
const FIRST_PORT: u16 = 20_000;

/// What a flow sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// A TCP connection that sends as much as it may; `bytes` in all, if said.
    Bulk {
        /// Linux' congestion control.
        control: Arc<str>,
        /// How much.
        bytes: Option<u64>,
    },
    /// UDP datagrams of `packet` bytes with the headers of IP and UDP, `gap` apart.
    Datagrams {
        /// Length.
        packet: u32,
        /// Distance of their starts.
        gap: Time,
    },
}

/// `queue` for a line between two hosts: one that would tell flows apart by their addresses, as it
/// names no classifier, goes by their ports too. All would be one flow else.
#[must_use]
pub fn by_ports(mut queue: Queue) -> Queue {
    if queue.classifier.is_none() && queue.tells_flows_apart() && queue.classifier().name() == "pair" {
        queue.classifier = ClassifierSettings::by_name("port_pair");
    }
    queue
}
