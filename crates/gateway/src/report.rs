//! What a run of the gateway gave, as one document: tables with the names and units of a
//! simulation's (crates/experiment/src/columns.rs), and how well the gateway kept its times.
//!
//! ```json
//! {
//!   "elapsed_s": 10.0,
//!   "flows":   [{"flow": "left:40312 > right:5201 tcp", "plan": null, "from": "left", …}],
//!   "links":   [{"link": "line", "direction": "forward", "packets": 8000, …}],
//!   "queues":  [{"link": "line", "direction": "forward", "discipline": "fq", …}],
//!   "series":  [{"time_s": 0.1, "flow": "…", "throughput_bit_per_s": …, …},
//!               {"time_s": 0.1, "link": "line", "direction": "forward", "held_packets": 7, …}],
//!   "packets": [{"flow": "…", "sent_s": 0.01, "received_s": 0.05, "bytes": 1500}],
//!   "refused": {"not_ip": 0, "no_route": 3, "no_room": 0},
//!   "lateness": {"count": 9000, "p50_s": 1e-5, …, "histogram": [[1e-6, 12], …]},
//!   "gateway": {"cpu_s": 0.4, "cpu_share": 0.04, …},
//!   "stamp":   {"is_valid": true, "mode": "exact", "verdict": "valid", "reasons": []}
//! }
//! ```
//!
//! A value that a row has not is `null`. Times are seconds from the start of the run.

use crate::measured::{Effort, Lateness, Refused};
use crate::stamp::Stamp;
use serde::Serialize;
use std::sync::Arc;

/// A name that many rows share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(pub Arc<str>);

impl Default for Name {
    fn default() -> Self {
        Self("".into())
    }
}

impl Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

/// The document.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// How long the run was.
    pub elapsed_s: f64,
    /// A row for each direction of each conversation, in the order in which they were seen first.
    pub flows: Vec<FlowRow>,
    /// A row for each direction of each link.
    pub links: Vec<LinkRow>,
    /// A row for the queue before each direction of each link.
    pub queues: Vec<QueueRow>,
    /// Samples of flows and of queues, if they were asked for.
    pub series: Vec<SampleRow>,
    /// The packets of the flow that was asked for.
    pub packets: Vec<PacketRow>,
    /// Packets of hosts that no line took.
    pub refused: Refused,
    /// How late packets were given to their hosts.
    pub lateness: Lateness,
    /// What the gateway itself did and used.
    pub gateway: Effort,
    /// Whether the run may be believed.
    pub stamp: Stamp,
}

/// One direction of a conversation: packets of one five-tuple.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlowRow {
    /// Its name: that of the plan's flow, else its ends, ports and protocol. The answers to a flow
    /// of the plan are called `NAME.answers`; flows beyond those that are told apart are one row,
    /// `others`.
    pub flow: Name,
    /// The name of the plan's flow, if it is one.
    pub plan: Option<Name>,
    /// Whether its conversation carries more the other way: acknowledgements, answers.
    pub is_answer: bool,
    /// The host that sends.
    pub from: Name,
    /// The host that receives.
    pub to: Name,
    /// The sender's address.
    pub source: String,
    /// The receiver's address.
    pub destination: String,
    /// The sender's port; 0 if there is none.
    pub source_port: u16,
    /// The receiver's port; 0 if there is none.
    pub destination_port: u16,
    /// `tcp`, `udp`, `icmp`, `icmpv6`, or the protocol's number.
    pub transport: String,
    /// Its weight.
    pub weight: f64,
    /// When its first packet came from the sender.
    pub first_s: f64,
    /// When its last packet came from the sender, or was given to the receiver.
    pub last_s: f64,
    /// Packets that came from the sender.
    pub sent: u64,
    /// Their bytes, with the headers of IP.
    pub sent_bytes: u64,
    /// Of TCP, the packets among them whose data had been sent before.
    pub retransmitted: u64,
    /// Packets that were given to the receiver.
    pub throughput_packets: u64,
    /// Their bytes.
    pub throughput_bytes: u64,
    /// Their bits over the run.
    pub throughput_bit_per_s: f64,
    /// Packets with data that reached the receiver for the first time.
    pub goodput_packets: u64,
    /// Bytes behind the headers of IP and transport that reached the receiver for the first time.
    pub goodput_bytes: u64,
    /// Packets that a queue dropped.
    pub dropped: u64,
    /// Packets that a line lost on the way; `null` if no line does.
    pub lost: Option<u64>,
    /// Packets that a queue marked with congestion experienced.
    pub marked: u64,
    /// Mean round-trip time of TCP, from data coming from the sender to the acknowledgement given
    /// to it: what the sender measures, less the time inside the two hosts' stacks.
    pub rtt_s_mean: Option<f64>,
    /// Time from coming from the sender to the intended time at which it is given to the receiver.
    pub delay_s_mean: Option<f64>,
    /// Its median, within 0.8 %.
    pub delay_s_p50: Option<f64>,
    /// Its 95th percentile, within 0.8 %.
    pub delay_s_p95: Option<f64>,
    /// Its 99th percentile, within 0.8 %.
    pub delay_s_p99: Option<f64>,
    /// The greatest.
    pub delay_s_max: Option<f64>,
    /// The delay without propagation and the packet's own transmissions.
    pub queueing_s_mean: Option<f64>,
    /// Its median, within 0.8 %.
    pub queueing_s_p50: Option<f64>,
    /// Its 95th percentile, within 0.8 %.
    pub queueing_s_p95: Option<f64>,
    /// Its 99th percentile, within 0.8 %.
    pub queueing_s_p99: Option<f64>,
    /// The greatest.
    pub queueing_s_max: Option<f64>,
    /// Its goodput in whole packets, over the run, as a part of the slowest line of its path;
    /// `null` if no line of it has a rate.
    pub share: Option<f64>,
}

/// A direction of a link.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LinkRow {
    /// The link's name.
    pub link: Name,
    /// `forward` or `reverse`.
    pub direction: &'static str,
    /// Its rate, the mean of its trace; `null` if it is unlimited.
    pub rate_bit_per_s: Option<u64>,
    /// Its propagation delay.
    pub delay_s: f64,
    /// Packets sent on it.
    pub packets: u64,
    /// Their bytes, with the header of the link layer.
    pub bytes: u64,
    /// Of these packets, those that were lost on the way; `null` if it loses none by its plan.
    pub lost: Option<u64>,
    /// The part that was used of what it could send in the run; `null` if it is unlimited.
    pub utilisation: Option<f64>,
}

/// The queue before a direction of a link.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QueueRow {
    /// The link's name.
    pub link: Name,
    /// `forward` or `reverse`.
    pub direction: &'static str,
    /// The discipline: its parts by name.
    pub discipline: String,
    /// Packets that came to it.
    pub arrived: u64,
    /// Packets that it dropped.
    pub dropped: u64,
    /// Packets that it marked with congestion experienced.
    pub marked: u64,
    /// Mean over time of the packets that waited.
    pub waiting_packets_mean: f64,
    /// The most packets that waited.
    pub waiting_packets_max: u64,
    /// As that of its link.
    pub utilisation: Option<f64>,
    /// The part of the packets sent before which a later one was sent; `null` if none was sent.
    pub overtaken: Option<f64>,
    /// Jain's index over the throughput per weight of the flows with data that crossed it, answers
    /// left out; `null` without such a flow.
    pub jain: Option<f64>,
}

/// A sample of a flow or of a queue.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SampleRow {
    /// The end of the interval.
    pub time_s: f64,
    /// The flow, if it is of one.
    pub flow: Option<Name>,
    /// The link, if it is of a queue.
    pub link: Option<Name>,
    /// The link's direction.
    pub direction: Option<&'static str>,
    /// What was given to the flow's receiver in the interval.
    pub throughput_bit_per_s: Option<f64>,
    /// The flow's round-trip time, smoothed as TCP does (RFC 6298).
    pub rtt_s: Option<f64>,
    /// Packets in the queue, that in transmission included.
    pub held_packets: Option<u64>,
}

/// A packet of a flow that was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct PacketRow {
    /// The flow.
    pub flow: Name,
    /// When it came from its sender.
    pub sent_s: f64,
    /// The intended time at which it was given to its receiver; `null` if it was dropped or lost.
    pub received_s: Option<f64>,
    /// Its length.
    pub bytes: u32,
}
