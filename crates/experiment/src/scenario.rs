//! The scenario: said once, here. The schema, the reference page and the error messages follow from these types.

pub mod alias;
pub mod axes;
pub mod edition;
pub mod expand;
pub mod problem;
pub mod profile;
mod profiles;
pub mod read;

use crate::topology::registry::TopologySettings;
use crate::values::{BufferSize, LineRate, Start, TextForm};
use edition::Edition;
use fairq_sched::contract::Role;
use fairq_sched::queue::Queue;
use fairq_sched::registry::BufferSettings;
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_sim::multicast::{ControlSettings, source};
use fairq_sim::traffic::registry::TrafficSettings;
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::tcp::settings::Connection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the schema. A renamed field keeps its old name as an alias.
pub const SCHEMA_VERSION: u32 = 1;

/// A network, its traffic, and what is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Which defaults it has where it says nothing: 1 for those of the 1990 paper, 2 for those of today. Without it the
    /// latest, 2; a result names it.
    #[serde(default)]
    pub edition: Option<Edition>,
    /// A short name for tables and figures.
    #[serde(default)]
    pub title: String,
    /// What it shows, in a sentence.
    #[serde(default)]
    pub about: String,
    /// What is measured.
    #[serde(default)]
    pub measure: Measure,
    /// What links and flows have unless they say otherwise.
    #[serde(default)]
    pub defaults: Defaults,
    /// Nodes and links of a known shape, or those of a file, beside `links`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<TextForm<TopologySettings>>,
    /// What the shortest path of a flow is short by.
    #[serde(default, skip_serializing_if = "Routing::is_usual")]
    pub routing: Routing,
    /// Whether flows are spread over equally short paths, by a hash of their names.
    #[serde(default, skip_serializing_if = "is_false")]
    pub multipath: bool,
    /// The links between nodes. Nodes are the names they and the flows mention.
    #[serde(default)]
    pub links: Vec<Link>,
    /// What is to be said of nodes; most need nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// Buffers that the lines of a node share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<Pool>,
    /// The flows, each from a source to its sink.
    #[serde(default)]
    pub flows: Vec<Flow>,
    /// The sessions, each from a source to several receivers, in layers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<Session>,
    /// What is varied; every combination is run.
    #[serde(default)]
    pub axes: Vec<axes::Axis>,
}

/// What a path is short by. Of equally short paths those of fewer links win, then, link by link from the source, the
/// link that stands first in the scenario, those of `topology` before those of `links`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// The number of links.
    #[default]
    Hops,
    /// The sum of the links' delays; what a packet's transmission takes does not count.
    Delay,
    /// The sum of the links' weights.
    Weight,
}

impl Routing {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// How long, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// What is left out at the beginning.
    pub warm_up: Time,
    /// What is measured after it.
    pub duration: Time,
    /// The seed of the first replication; the others have the numbers after it.
    pub seed: u64,
    /// How many replications, each with a seed of its own.
    pub replications: u32,
}

impl Default for Measure {
    fn default() -> Self {
        Self { warm_up: Time::ZERO, duration: Time::from_s(10), seed: 1, replications: 1 }
    }
}

/// What links and flows have unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Defaults {
    /// The discipline of a line; first in, first out, if nothing is said.
    pub queue: Option<TextForm<Queue>>,
    /// How much may wait at a line whose queue names no limit: packets, bytes, a time of the line's rate, or bandwidth-delay
    /// products; by the edition, if nothing is said. Not for access lines.
    pub buffer: Option<BufferSize>,
    /// The transport of a flow.
    pub transport: Option<TextForm<TransportSettings>>,
    /// How the losses of a flow are found and mended, and when it is answered; for laws of congestion over TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<Connection>,
    /// When a flow starts; drawn in the first second if nothing is said.
    pub start: Start,
    /// When a flow stops, if it does before the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// The access line of a flow's source.
    pub access: Option<Access>,
    /// The access line of a flow's sink.
    pub sink_access: Option<Access>,
    /// Bytes of an acknowledgement; by the edition, if nothing is said.
    pub acknowledgement: Option<Bytes>,
}

/// A line of a host's own to its node, the same in both directions, first in first out if nothing else is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Its rate.
    pub rate: LineRate,
    /// How long a bit travels.
    #[serde(default)]
    pub delay: Time,
    /// How much may wait at each direction; by the edition, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// The discipline of what the host sends. Behind one that paces, `linux_fq` or `fq_pacing`, connections have
    /// `pacing = true` if nothing else is said (Linux: `sch_fq.c fq_dequeue()`, `sk_pacing_rate`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<TextForm<Queue>>,
}

/// A link, both directions of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name, for routes and tables.
    pub name: String,
    /// The node at one end.
    pub from: String,
    /// The node at the other.
    pub to: String,
    /// The rate of each direction. A link has this or a `trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<LineRate>,
    /// How long a bit travels.
    #[serde(default)]
    pub delay: Time,
    /// The discipline from `from` to `to`.
    #[serde(default)]
    pub queue: Option<TextForm<Queue>>,
    /// The discipline from `to` to `from`; the same as forward if nothing is said.
    #[serde(default)]
    pub reverse_queue: Option<TextForm<Queue>>,
    /// The rate from `to` to `from`; the same as forward if nothing is said.
    #[serde(default)]
    pub reverse_rate: Option<LineRate>,
    /// How much may wait at each direction whose queue names no limit: packets, bytes, a time of the line's rate like `50 ms`, or
    /// bandwidth-delay products like `1 BDP`, where the delay is that of the longest path, there and back, whose data or
    /// acknowledgements cross the line, without transmission times. At least a packet.
    #[serde(default)]
    pub buffer: Option<BufferSize>,
    /// What it adds to the length of a path under `routing = "weight"`; 1 if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Weight>,
    /// A file that says in place of `rate` when packets may leave, as Mahimahi records it: a line for each opportunity to
    /// send 1500 bytes, with its millisecond. The line's disciplines take its mean for their rate. A relative path is one
    /// from the scenario's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The same from `to` to `from`; `reverse_rate`, or else the same as forward, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_trace: Option<String>,
    /// How many packets the device of each direction takes from the discipline while it sends another, as a card's ring does:
    /// what comes behind them cannot pass them any more, and the discipline no longer drops or marks them. None if nothing is
    /// said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<u32>,
    /// Bytes that the link layer adds to every packet of IP, in each direction: 14 B for Ethernet's header, 38 B with its check,
    /// preamble and gap. They take time to send and room in the buffer, and count in the utilisation of the link, not in the
    /// throughput of a flow. None if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_header: Option<Bytes>,
    /// The probability that a packet is lost on the way, in each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The greatest extra delay of a packet, in each direction: uniform from zero to this, but no packet passes another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Time>,
    /// Packets that others may pass, in each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
}

/// Which packets lose their place on a link, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// The probability that a packet does.
    pub probability: f64,
    /// How much later it comes than it would have.
    pub delay: Time,
}

/// A node of which there is something to say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name, as the links have it.
    pub name: String,
    /// What its lines do under disciplines that label packets (`csfq`, `rainbow_fq`): at an `edge` they estimate rates,
    /// write the labels and drop by them, in the `core` they believe the labels. A node that is not listed is `both`,
    /// which is the same as `edge`.
    pub role: Role,
}

/// A buffer that all links leading out of a node share, access lines left out. A packet needs a place in it from its arrival
/// until its transmission begins. Such a line has a limit of its own only if its queue or its `buffer` names one;
/// `defaults.buffer` is not for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// The node.
    pub node: String,
    /// Who may have how much of it: `fuzzball` or `dynamic_threshold`.
    pub policy: TextForm<BufferSettings>,
    /// How much may wait in all.
    pub size: Limit,
}

/// A flow: data from a source, acknowledgements back. An access line gives its source (or sink) a host of its own;
/// flows without stand at the node itself, and under `pair` those between the
/// same two nodes are one conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name, for tables and random streams.
    pub name: String,
    /// The node its source stands at.
    pub from: String,
    /// The node its sink stands at.
    pub to: String,
    /// What is sent, and when.
    pub traffic: TextForm<TrafficSettings>,
    /// How; what `defaults` say, or else by the edition for traffic that waits for answers, and `uncontrolled` for traffic
    /// with a rate of its own.
    #[serde(default)]
    pub transport: Option<TextForm<TransportSettings>>,
    /// How its losses are found and mended, and when it is answered; what `defaults` say if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Connection>,
    /// Links that it must take, in this order; the shortest path leads from one to the next. `-name` takes a link from
    /// its `to` end to its `from` end.
    #[serde(default)]
    pub route: Option<Vec<String>>,
    /// When it starts.
    #[serde(default)]
    pub start: Option<Start>,
    /// When it stops, if it does before the run: from then on its traffic gives nothing new. What it gave before is still
    /// delivered, and transfers in progress are completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// Its share under disciplines that know weights.
    #[serde(default)]
    pub weight: Option<Weight>,
    /// The class of its data under disciplines that know classes; lines whose queue knows none ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How long after its release each packet is due: that of its transfer where the traffic is transfers or a file of so
    /// many packets, else its own, when the traffic gives it. Packets carry the time at which they are due to all lines
    /// (`edf`, `rank = "deadline"`), a retransmission the same as before; tables tell what came in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Its source's access line.
    #[serde(default)]
    pub access: Option<Access>,
    /// Its sink's access line.
    #[serde(default)]
    pub sink_access: Option<Access>,
    /// The type-of-service byte of its packets. Its two low bits are the ECN field, which the transport sets: they are 0 or
    /// what the transport says.
    #[serde(default)]
    pub tos: u8,
    /// So many flows like this one, called `name.1`, `name.2`, …; each with access lines of its own if it has any and `hosts`
    /// says nothing.
    #[serde(default)]
    pub count: Option<u32>,
    /// On how many hosts the `count` flows stand, at each end that has an access line; they take the hosts by turns and tell
    /// their packets apart by ports. As many as flows if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
}

/// A session: layers from one source to several receivers, over a tree of shortest paths. Its layers are one flow to
/// gateways: they have the same header, whose destination is the session's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its name, for tables and random streams.
    pub name: String,
    /// The node its source stands at.
    pub from: String,
    /// The rate of each layer, the lowest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<Rate>>,
    /// The layers by a rule, in place of `rates`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Layers>,
    /// Bytes of a packet of IP; by the edition, if nothing is said.
    #[serde(default)]
    pub packet: Option<Bytes>,
    /// How the packets of a layer follow each other: `constant` if nothing is said, `pairs` for `plm`, `bursts` for `rlc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<TextForm<source::Settings>>,
    /// When it starts.
    #[serde(default)]
    pub start: Time,
    /// When it stops, if it does before the run: the source sends nothing from then on, and the receivers leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// How a receiver that says nothing of it chooses its layers: `plm`, `rlc` or `rlm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<TextForm<ControlSettings>>,
    /// How long the router of a receiver that says nothing of it goes on sending what was left.
    #[serde(default)]
    pub leave_latency: Time,
    /// The type-of-service byte of its packets. Its two low bits, the ECN field, are 0: receivers hear of losses only.
    #[serde(default)]
    pub tos: u8,
    /// Who receives it.
    #[serde(default)]
    pub receivers: Vec<Receiver>,
}

/// Layers whose cumulative rates grow by a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layers {
    /// How many.
    pub count: u32,
    /// The rate of the lowest.
    pub rate: Rate,
    /// The rate of the lowest two is that of the lowest times this, and so on.
    #[serde(default = "two")]
    pub factor: f64,
}

const fn two() -> f64 {
    2.0
}

/// A receiver of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receiver {
    /// The node it stands at.
    pub at: String,
    /// Its name; that of the node if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How it chooses its layers; what the session says if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<TextForm<ControlSettings>>,
    /// When it joins the lowest layer; not before its session starts.
    #[serde(default)]
    pub start: Time,
    /// When it leaves all layers, if it does before its session stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// How long its router goes on sending what it left; what the session says if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_latency: Option<Time>,
    /// How many layers it should come to: the table tells how long that took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
}

/// The JSON Schema of scenarios, for editors.
#[must_use]
pub fn schema() -> serde_json::Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(Scenario)).unwrap_or_default();
    alias::describe(&mut schema);
    schema
}
