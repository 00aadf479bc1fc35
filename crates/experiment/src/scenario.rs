//! The scenario: defined once, here. The schema, the reference page and the error messages follow
//! from these types.

pub mod alias;
pub mod axes;
mod bounds;
pub mod changes;
pub mod edition;
pub mod expand;
pub mod fields;
pub mod own;
pub mod problem;
pub mod profile;
mod profiles;
pub mod read;

use crate::topology::registry::TopologySettings;
use crate::values::{BufferSize, LineRate, LinkRate, LossForm, Start, TextForm};
use edition::Edition;
use fairq_sched::contract::Role;
use fairq_sched::queue::Queue;
use fairq_sched::registry::BufferSettings;
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_sim::multicast::registry::ControlSettings;
use fairq_sim::multicast::source;
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
    /// The edition of the defaults: 1 for those of the 1990 paper, 2 for those of today. The
    /// default is the latest, 2; a result names it.
    #[serde(default)]
    #[schemars(extend("examples" = [2]))]
    pub edition: Option<Edition>,
    /// A short name for tables and figures.
    #[serde(default)]
    #[schemars(extend("examples" = ["two flows"]))]
    pub title: String,
    /// A sentence about the scenario.
    #[serde(default)]
    #[schemars(extend("examples" = ["A file transfer beside a terminal session."]))]
    pub about: String,
    /// What is measured.
    #[serde(default)]
    pub measure: Measure,
    /// Settings of links and flows that do not have their own.
    #[serde(default)]
    pub defaults: Defaults,
    /// Nodes and links of a known shape, or those of a file, in addition to `links`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<TextForm<TopologySettings>>,
    /// The measure by which a flow's path is the shortest.
    #[serde(default, skip_serializing_if = "Routing::is_usual")]
    pub routing: Routing,
    /// Whether flows are spread over equally short paths, by a hash of their names.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schemars(extend("examples" = [true]))]
    pub multipath: bool,
    /// The links between nodes. The nodes are the names in links and flows.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Settings of nodes; most nodes need none.
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
    /// What changes while a run goes on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<changes::Change>,
    /// The parameters to vary; every combination is run.
    #[serde(default)]
    pub axes: Vec<axes::Axis>,
}

/// The measure of a path's length. Of equally short paths those of fewer links win. Of these, link
/// by link from the source, the link that comes first in the scenario wins, those of `topology`
/// before those of `links`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// The number of links.
    #[default]
    Hops,
    /// The sum of the links' delays; transmission times do not count.
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

/// The duration, and the replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// The time at the beginning that is not measured.
    #[schemars(extend("examples" = ["5 s"]))]
    pub warm_up: Time,
    /// The time that is measured after the warm-up.
    pub duration: Time,
    /// The seed of the first replication; the other replications have the next numbers.
    #[schemars(extend("examples" = [7], "x-unit" = "number"))]
    pub seed: u64,
    /// The number of replications, each with a seed of its own.
    #[schemars(extend("examples" = [20], "x-unit" = "runs"))]
    pub replications: u32,
}

impl Default for Measure {
    fn default() -> Self {
        Self { warm_up: Time::ZERO, duration: Time::from_s(10), seed: 1, replications: 1 }
    }
}

/// Settings of links and flows that do not have their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Defaults {
    /// The discipline of a line; by default first in, first out.
    pub queue: Option<TextForm<Queue>>,
    /// The buffer of a line whose queue names no limit: packets, bytes, a time of the line's rate,
    /// or bandwidth-delay products; the default depends on the edition. Not for access lines.
    pub buffer: Option<BufferSize>,
    /// The transport of a flow.
    pub transport: Option<TextForm<TransportSettings>>,
    /// How the losses of a flow are found and repaired, and when its packets are acknowledged; for
    /// congestion controls over TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<Connection>,
    /// When a flow starts; by default a random time in the first second, or as
    /// `drawn(within=50ms)`.
    pub start: Start,
    /// When a flow stops, if it stops before the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// The access line of a flow's source.
    pub access: Option<Access>,
    /// The access line of a flow's sink.
    pub sink_access: Option<Access>,
    /// Bytes of an acknowledgement; the default depends on the edition.
    pub acknowledgement: Option<Bytes>,
}

/// A line from a host to its node, the same in both directions; by default first in, first out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{ "rate": "100 Mbit/s", "delay": "1 ms" }]))]
pub struct Access {
    /// Its rate.
    pub rate: LineRate,
    /// The propagation delay.
    #[serde(default)]
    pub delay: Time,
    /// The buffer of each direction; the default depends on the edition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// The discipline of the packets that the host sends. With one that paces, `linux_fq` or
    /// `fq_pacing`, connections have `pacing = true` by default (Linux: `sch_fq.c fq_dequeue()`,
    /// `sk_pacing_rate`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<TextForm<Queue>>,
}

/// A link, both directions of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name, for routes and tables.
    #[schemars(extend("examples" = ["bottleneck"]))]
    pub name: String,
    /// The node at one end.
    #[schemars(extend("examples" = ["left"]))]
    pub from: String,
    /// The node at the other.
    #[schemars(extend("examples" = ["right"]))]
    pub to: String,
    /// The rate of each direction. A link has this or a `trace`. Two rates with `..` between, as
    /// `30 Mbit/s..130 Mbit/s`, are the ends of a random walk of the rate's logarithm, which is
    /// reflected at both: a step every 100 ms, normal with a standard deviation of a tenth of the
    /// logarithm's range, another walk for each direction and seed. The line's disciplines and
    /// buffers take the geometric middle as its rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<LinkRate>,
    /// The propagation delay.
    #[serde(default)]
    #[schemars(extend("examples" = ["10 ms"]))]
    pub delay: Time,
    /// The discipline from `from` to `to`.
    #[serde(default)]
    pub queue: Option<TextForm<Queue>>,
    /// The discipline from `to` to `from`; by default the same as forward.
    #[serde(default)]
    pub reverse_queue: Option<TextForm<Queue>>,
    /// The rate from `to` to `from`; by default the same as forward.
    #[serde(default)]
    pub reverse_rate: Option<LinkRate>,
    /// The buffer of each direction whose queue names no limit: packets, bytes, a time of the
    /// line's rate like `50 ms`, or bandwidth-delay products like `1 BDP`. The delay of a product
    /// is that of the longest path, there and back, whose data or acknowledgements use the line,
    /// without transmission times. At least one packet.
    #[serde(default)]
    pub buffer: Option<BufferSize>,
    /// The length that it adds to a path under `routing = "weight"`; by default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Weight>,
    /// A file that replaces `rate` and gives the times at which packets may leave, as Mahimahi
    /// records them: a line for each opportunity to send 1500 bytes, with its millisecond. The
    /// line's disciplines take its mean as their rate. A relative path starts at the scenario's
    /// folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["cellular.trace"]))]
    pub trace: Option<String>,
    /// The same from `to` to `from`; by default `reverse_rate`, or else the same as forward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["cellular.up.trace"]))]
    pub reverse_trace: Option<String>,
    /// The number of packets that the device of each direction takes from the discipline while it
    /// sends another packet, like the ring of a network card. Later packets cannot overtake packets
    /// in the ring, and the discipline no longer drops or marks those. By default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [256], "x-unit" = "packets"))]
    pub ring: Option<u32>,
    /// Bytes that the link layer adds to every packet of IP, in each direction: 14 B for Ethernet's
    /// header, 38 B with its check, preamble and gap. They take time to send and room in the
    /// buffer, and count in the utilisation of the link, not in the throughput of a flow. By
    /// default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["38 B"]))]
    pub link_header: Option<Bytes>,
    /// The probability that a packet is lost on the way, in each direction: a number, or text as
    /// `2%`. As `2%@burst=5` losses come in bursts of 5 packets in the mean, and are 2 % in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossForm>,
    /// The greatest extra delay of a packet, in each direction: uniform from zero to this, but no
    /// packet overtakes another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["2 ms"]))]
    pub jitter: Option<Time>,
    /// Packets that are reordered, in each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// The rates of both directions from given times on, from the start of the run. For other
    /// changes see `[[changes]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [[["10 s", "5 Mbit/s"], ["20 s", "10 Mbit/s"]]]))]
    pub rates: Vec<changes::RateAt>,
}

/// Which packets lose their place on a link, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{ "probability": 0.01, "delay": "5 ms" }]))]
pub struct Reorder {
    /// The probability that a packet loses its place.
    #[schemars(extend("examples" = [0.01], "x-unit" = "probability, 0 to 1"))]
    pub probability: f64,
    /// The additional delay of such a packet.
    #[schemars(extend("examples" = ["5 ms"]))]
    pub delay: Time,
}

/// A node with settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name, as in the links.
    #[schemars(extend("examples" = ["left"]))]
    pub name: String,
    /// The role of its lines under disciplines that label packets (`csfq`, `rainbow_fq`): at an
    /// `edge` they estimate rates, write the labels and drop by them, in the `core` they trust the
    /// labels. A node that is not listed is `both`, which is the same as `edge`.
    pub role: Role,
}

/// A buffer that all links leading out of a node share, except access lines. A packet needs room in
/// it from its arrival until its transmission begins. Such a line has a limit of its own only if
/// its queue or its `buffer` names one; `defaults.buffer` does not apply to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Its name.
    #[schemars(extend("examples" = ["memory"]))]
    pub name: String,
    /// The node.
    #[schemars(extend("examples" = ["left"]))]
    pub node: String,
    /// How the buffer is divided: `fuzzball` or `dynamic_threshold`.
    pub policy: TextForm<BufferSettings>,
    /// The size of the whole buffer.
    #[schemars(extend("examples" = ["500 packets"]))]
    pub size: Limit,
}

/// A flow: data from a source, acknowledgements back. An access line gives its source (or sink) a
/// host of its own. Flows without access lines are at the node itself, and under `pair` those
/// between the same two nodes are one conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name, for tables and random streams.
    #[schemars(extend("examples" = ["file"]))]
    pub name: String,
    /// The node of its source.
    #[schemars(extend("examples" = ["left"]))]
    pub from: String,
    /// The node of its sink.
    #[schemars(extend("examples" = ["right"]))]
    pub to: String,
    /// The traffic: what is sent, and when.
    pub traffic: TextForm<TrafficSettings>,
    /// The transport. By default that of `defaults`; else it depends on the edition for traffic
    /// that waits for acknowledgements, and is `uncontrolled` for traffic with a rate of its own.
    #[serde(default)]
    pub transport: Option<TextForm<TransportSettings>>,
    /// How its losses are found and repaired, and when its packets are acknowledged; by default as
    /// in `defaults`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Connection>,
    /// Links that its path must contain, in this order; shortest paths connect them. `-name` takes
    /// a link from its `to` end to its `from` end.
    #[serde(default)]
    #[schemars(extend("examples" = [["bottleneck", "-back"]]))]
    pub route: Option<Vec<String>>,
    /// When it starts.
    #[serde(default)]
    pub start: Option<Start>,
    /// When it stops, if it stops before the end of the run: from then on its traffic gives no new
    /// data. Earlier data is still delivered, and transfers in progress are completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["20 s"]))]
    pub stop: Option<Time>,
    /// Its share under disciplines that know weights.
    #[serde(default)]
    pub weight: Option<Weight>,
    /// The class of its data under disciplines with classes; lines whose queue has no classes
    /// ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["voice"]))]
    pub class: Option<String>,
    /// The time from the release of each packet to its deadline. The release is that of its
    /// transfer where the traffic is transfers or a file with an end, else that of the packet.
    /// Packets carry their deadline to all lines (`edf`, `rank = "deadline"`), a retransmission the
    /// same as before; tables count packets that arrived in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["100 ms"]))]
    pub deadline: Option<Time>,
    /// Its source's access line.
    #[serde(default)]
    pub access: Option<Access>,
    /// Its sink's access line.
    #[serde(default)]
    pub sink_access: Option<Access>,
    /// The type-of-service byte of its packets. Its two low bits are the ECN field, which the
    /// transport sets: write 0 or the transport's value.
    #[serde(default)]
    #[schemars(extend("examples" = [184], "x-unit" = "number of the byte, 0 to 255"))]
    pub tos: u8,
    /// The number of flows like this one, called `name.1`, `name.2`, …; each has access lines of
    /// its own if it has any and `hosts` is not given.
    #[serde(default)]
    #[schemars(extend("examples" = [10], "x-unit" = "flows"))]
    pub count: Option<u32>,
    /// The number of hosts for the `count` flows, at each end that has an access line. Flows are
    /// assigned to hosts in turn, and their packets differ by ports. By default each flow has a
    /// host of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [2], "x-unit" = "hosts"))]
    pub hosts: Option<u32>,
}

/// A session: layers from one source to several receivers, over a tree of shortest paths. To
/// gateways its layers are one flow: they have the same header, whose destination is the session's
/// own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its name, for tables and random streams.
    #[schemars(extend("examples" = ["lecture"]))]
    pub name: String,
    /// The node of its source.
    #[schemars(extend("examples" = ["left"]))]
    pub from: String,
    /// The rate of each layer, the lowest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [["50 kbit/s", "50 kbit/s", "100 kbit/s"]]))]
    pub rates: Option<Vec<Rate>>,
    /// The layers by a rule, instead of `rates`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Layers>,
    /// Bytes of a packet of IP; the default depends on the edition.
    #[serde(default)]
    pub packet: Option<Bytes>,
    /// How the packets of a layer follow each other: by default `constant`, `pairs` for `plm`,
    /// `bursts` for `rlc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<TextForm<source::Settings>>,
    /// When it starts.
    #[serde(default)]
    pub start: Time,
    /// When it stops, if it stops before the end of the run: the source sends no more from then on,
    /// and the receivers leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// How its receivers choose their layers, unless they have a `control` of their own: `plm`,
    /// `rlc` or `rlm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<TextForm<ControlSettings>>,
    /// How long a receiver's router goes on sending a layer that was left, unless the receiver has
    /// its own `leave_latency`.
    #[serde(default)]
    #[schemars(extend("examples" = ["500 ms"]))]
    pub leave_latency: Time,
    /// The type-of-service byte of its packets. Its two low bits, the ECN field, are 0: receivers
    /// react to losses only.
    #[serde(default)]
    #[schemars(extend("examples" = [184], "x-unit" = "number of the byte, 0 to 255"))]
    pub tos: u8,
    /// The receivers.
    #[serde(default)]
    pub receivers: Vec<Receiver>,
}

/// Layers whose cumulative rates grow by a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{ "count": 5, "rate": "50 kbit/s", "factor": 1.5 }]))]
pub struct Layers {
    /// The number of layers.
    #[schemars(extend("examples" = [5], "x-unit" = "layers"))]
    pub count: u32,
    /// The rate of the lowest layer.
    pub rate: Rate,
    /// The rate of the lowest two layers is that of the lowest times this, and so on.
    #[serde(default = "two")]
    #[schemars(extend("examples" = [1.5], "x-unit" = "times"))]
    pub factor: f64,
}

const fn two() -> f64 {
    2.0
}

/// A receiver of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receiver {
    /// Its node.
    #[schemars(extend("examples" = ["right"]))]
    pub at: String,
    /// Its name; by default that of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["student"]))]
    pub name: Option<String>,
    /// How it chooses its layers; by default as in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<TextForm<ControlSettings>>,
    /// When it joins the lowest layer; not before its session starts.
    #[serde(default)]
    pub start: Time,
    /// When it leaves all layers, if it leaves before its session stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// How long its router goes on sending a layer that it left; by default as in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["500 ms"]))]
    pub leave_latency: Option<Time>,
    /// The number of layers that it should reach: the table shows how long that took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [4], "x-unit" = "layers"))]
    pub target: Option<u32>,
}

/// The JSON Schema of scenarios, for editors.
#[must_use]
pub fn schema() -> serde_json::Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(Scenario)).unwrap_or_default();
    alias::describe(&mut schema);
    schema
}
