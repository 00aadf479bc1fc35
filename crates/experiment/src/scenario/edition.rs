//! Editions: the defaults of a scenario. All defaults that differ by edition are here, and only
//! here.
//!
//! A default that is changed in place would change the results of existing scenarios. A new default
//! comes with a new edition instead; a scenario that names its edition keeps the defaults of that
//! edition. Why: `docs/design/editions.md`.

use super::{Access, Defaults, Flow, Scenario};
use crate::values::{LineRate, LinkRate, TextForm};
use fairq_sched::queue::Queue;
use fairq_sched::registry::DesignSettings;
use fairq_sched::units::{Bytes, Limit};
use fairq_sim::traffic::PACKET;
use fairq_sim::traffic::Release;
use fairq_sim::traffic::registry::TrafficSettings;
use fairq_sim::transport::congestion::{cubic, reno};
use fairq_sim::transport::generic;
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::tcp::settings::{Connection, Recovery, Reduces};
use fairq_sim::transport::uncontrolled;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A set of defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edition {
    /// Those of the paper of 1990.
    One,
    /// Those that a user of today expects.
    Two,
}

impl Edition {
    /// The edition of a scenario without the field.
    pub const LATEST: Self = Self::Two;

    /// All editions, the oldest first.
    pub const ALL: [Self; 2] = [Self::One, Self::Two];

    /// Its number in a scenario.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// Bytes of a packet of IP, for traffic and sessions without `packet`.
    #[must_use]
    pub const fn packet(self) -> Bytes {
        match self {
            // Demers, Keshav and Shenker 1990.
            Self::One => Bytes(1000),
            // The payload of an Ethernet frame.
            Self::Two => PACKET,
        }
    }

    /// Bytes of an acknowledgement without `defaults.acknowledgement`.
    #[must_use]
    pub const fn acknowledgement(self) -> Bytes {
        match self {
            // The headers of IPv4 and TCP, as in the paper of 1990.
            Self::One => Bytes(40),
            // The same with time stamps, which take 12 bytes (RFC 7323, appendix A).
            Self::Two => Bytes(52),
        }
    }

    /// The transport of a flow for which neither the flow nor `defaults` name one.
    #[must_use]
    pub fn transport(self, traffic: &TrafficSettings) -> TransportSettings {
        match (traffic.release(), self) {
            (Release::Stream, _) => TransportSettings::Uncontrolled(uncontrolled::Settings::default()),
            (Release::AtStart(_) | Release::Session, Self::One) => {
                TransportSettings::Generic(generic::Settings::default())
            }
            (Release::Transfers, Self::One) => TransportSettings::Reno(reno::Settings::default()),
            (_, Self::Two) => TransportSettings::Cubic(cubic::Settings::default()),
        }
    }

    /// The limit of `queue`, which names none, where there is no `buffer` either. A queue whose
    /// memory is bounded in bytes needs no other limit.
    #[must_use]
    pub fn limit(self, queue: &Queue) -> Limit {
        let design = queue.design.as_ref().map(|design| design.part().facts());
        match self {
            Self::One => Limit::Unlimited,
            Self::Two => match design.map_or(Limit::Unlimited, |design| design.own_limit) {
                Limit::Unlimited if design.is_some_and(|design| design.memory.is_some()) => Limit::Unlimited,
                Limit::Unlimited => PACKETS,
                own => own,
            },
        }
    }

    /// Fills in settings of a connection under `transport` that neither the flow nor
    /// `defaults.connection` has: how losses are found and repaired, and what a loss reduces.
    pub fn complete(self, connection: &mut Connection, transport: &TransportSettings) {
        let (recovery, reduces) = match self {
            // RFC 6675 and FlightSize as in RFC 5681.
            Self::One => {
                let usual = transport.recovery().map(|own| if own == Recovery::Rack { Recovery::Sack } else { own });
                (usual, Reduces::Flight)
            }
            Self::Two => (transport.recovery(), Reduces::Cwnd),
        };
        connection.recovery = connection.recovery.or(recovery);
        connection.reduces.get_or_insert(reduces);
    }
}

/// Linux's length of a device's queue (`txqueuelen`), and so of its `pfifo`.
const PACKETS: Limit = Limit::Packets(1000);

impl Scenario {
    /// The edition of its defaults.
    #[must_use]
    pub fn edition(&self) -> Edition {
        self.edition.unwrap_or(Edition::LATEST)
    }

    /// Fills in the edition, and those of its defaults that are one value for the whole scenario.
    pub(super) fn resolve(&mut self) {
        let edition = *self.edition.get_or_insert(Edition::LATEST);
        self.defaults.acknowledgement.get_or_insert(edition.acknowledgement());
        for packet in self.flows.iter_mut().filter_map(|flow| flow.traffic.0.packet_mut()) {
            packet.get_or_insert(edition.packet());
        }
        for session in &mut self.sessions {
            session.packet.get_or_insert(edition.packet());
        }
    }
}

/// Settings of disciplines that are on by default in the first edition: part, field.
const FIRST: [(&str, &str); 14] = [
    // From the second edition on they are those of Linux.
    ("choke", "ecn"),
    ("choke", "hard_drop"),
    ("codel", "ecn"),
    ("codel", "rfc"),
    ("fq_codel", "rfc"),
    ("cbs", "paper"),
    ("hfsc", "paper"),
    ("htb", "paper"),
    ("pie", "ecn"),
    ("pie", "rfc"),
    ("red", "ecn"),
    ("red", "gentle"),
    ("red", "hard_drop"),
    ("sfb", "paper"),
];

/// Fills in the defaults of disciplines by edition, in a scenario whose text forms are tables.
pub(super) fn fill_disciplines(scenario: &mut Value) {
    if scenario.get("edition").and_then(Value::as_u64) == Some(Edition::One.number().into()) {
        fill(scenario);
    }
}

fn fill(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(fill),
        Value::Object(fields) => {
            let kind = fields.get("kind").and_then(Value::as_str).map(str::to_owned);
            if kind.as_deref() == Some("fq_pie") {
                // The controller of its queues is a table of pie without a kind.
                if let Value::Object(pie) = fields.entry("pie").or_insert_with(|| Value::Object(Map::new())) {
                    fill_part(pie, "pie");
                }
            }
            if let Some(kind) = kind {
                fill_part(fields, &kind);
            }
            fields.values_mut().for_each(fill);
        }
        _ => {}
    }
}

/// Fills in the first edition's settings of the part called `kind`.
fn fill_part(fields: &mut Map<String, Value>, kind: &str) {
    for (_, field) in FIRST.into_iter().filter(|(part, _)| *part == kind) {
        fields.entry(field).or_insert(Value::Bool(true));
    }
}

/// The defaults that differ, one row each: its name, then its value in each edition.
#[must_use]
pub fn table() -> Vec<[String; 3]> {
    let greedy = TrafficSettings::Ftp(Default::default());
    let session = TrafficSettings::Telnet(Default::default());
    let transfers = TrafficSettings::Web(Default::default());
    let plain = Queue::unlimited_fifo();
    let designs = |edition: Edition| {
        let limit = |name: &str| DesignSettings::by_name(name).map(|d| edition.limit(&Queue::of_design(d, None)));
        limit("fq_codel").map_or_else(String::new, |limit| limit.to_string())
    };
    let of = |edition: Edition| {
        let mut connection = Connection::default();
        edition.complete(&mut connection, &TransportSettings::Cubic(cubic::Settings::default()));
        connection
    };
    let row =
        |what: &str, value: &dyn Fn(Edition) -> String| [what.to_string(), value(Edition::One), value(Edition::Two)];
    let mut rows = vec![
        row("`transport` of `ftp`", &|edition| edition.transport(&greedy).name().to_string()),
        row("`transport` of `telnet`", &|edition| edition.transport(&session).name().to_string()),
        row("`transport` of transfers", &|edition| edition.transport(&transfers).name().to_string()),
        row("`packet` of traffic and sessions", &|edition| edition.packet().to_string()),
        row("`defaults.acknowledgement`", &|edition| edition.acknowledgement().to_string()),
        row("`buffer` of a queue, of an access line", &|edition| edition.limit(&plain).to_string()),
        row("`buffer` of a design with a limit of its own, as `fq_codel`", &designs),
        row("`connection.recovery`, but of `tahoe`, `reno`, `newreno`", &|edition| name_of(&of(edition).recovery)),
        row("`connection.reduces`: of what a loss takes a part", &|edition| name_of(&of(edition).reduces)),
    ];
    let mut parts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (part, field) in FIRST {
        parts.entry(field).or_default().push(format!("`{part}`"));
    }
    for (field, parts) in parts {
        rows.push(row(&format!("`{field}` of {}", parts.join(", ")), &|edition| (edition == Edition::One).to_string()));
    }
    rows
}

/// A value as written in a scenario.
fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The defaults of the latest edition that a scenario without an edition uses.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// By transport: the flows that have it by default.
    transports: BTreeMap<&'static str, Names>,
    /// By setting of a connection: the flows that have it by default.
    connections: BTreeMap<String, Names>,
    has_packets: bool,
    has_acknowledgements: bool,
    /// By limit: the links that have it by default.
    limits: BTreeMap<String, Names>,
    has_access: bool,
}

impl Decided {
    /// Adds the defaults used by `scenario`, which is as written, except that the profiles of the
    /// flows with these numbers are filled in.
    pub(super) fn add(&mut self, scenario: &Scenario, plain: &[usize]) {
        if scenario.edition.is_some() {
            return;
        }
        for (number, flow) in scenario.flows.iter().enumerate() {
            self.add_flow(flow, &scenario.defaults, plain.contains(&number));
        }
        self.has_packets |= scenario.sessions.iter().any(|session| session.packet.is_none());
        if scenario.defaults.buffer.is_none() {
            self.add_limits(scenario);
        }
    }

    /// Adds the defaults used by `flow`, whose profile was filled in if it `is_plain`.
    fn add_flow(&mut self, flow: &Flow, defaults: &Defaults, is_plain: bool) {
        let edition = Edition::LATEST;
        if is_plain {
            self.transports.entry("cubic with connection linux").or_default().add(&flow.name);
        }
        let given = flow.transport.as_ref().or(defaults.transport.as_ref());
        let transport = given.map_or_else(|| edition.transport(&flow.traffic.0), |form| form.0.clone());
        let answers = transport.heeds_answers();
        // A source with a rate of its own sends at that rate in every edition.
        if given.is_none() && answers {
            self.transports.entry(transport.name()).or_default().add(&flow.name);
        }
        let connection = flow.connection.as_ref().or(defaults.connection.as_ref()).cloned().unwrap_or_default();
        for setting in connection_settings(&connection, &transport) {
            self.connections.entry(setting).or_default().add(&flow.name);
        }
        self.has_acknowledgements |= answers && defaults.acknowledgement.is_none();
        self.has_packets |= flow.traffic.0.clone().packet_mut().is_some_and(|packet| packet.is_none());
        let accesses = [
            flow.access.as_ref().or(defaults.access.as_ref()),
            flow.sink_access.as_ref().or(defaults.sink_access.as_ref()),
        ];
        let is_open = |access: &Access| access.buffer.is_none() && access.rate.0.is_some();
        self.has_access |= accesses.into_iter().flatten().any(is_open);
    }

    /// Adds the limits of queues that have none of their own, nor a shared buffer.
    fn add_limits(&mut self, scenario: &Scenario) {
        let (edition, defaults) = (Edition::LATEST, &scenario.defaults);
        let mut limit = |name: &str, queue: Option<&Queue>| {
            let plain = Queue::unlimited_fifo();
            let queue = queue.or(defaults.queue.as_ref().map(|form| &form.0)).unwrap_or(&plain);
            if queue.limit.is_none() {
                let limit = edition.limit(queue);
                if limit != Limit::Unlimited {
                    self.limits.entry(limit.to_string()).or_default().add(name);
                }
            }
        };
        let shares = |node: &str| scenario.pools.iter().any(|pool| pool.node == node);
        if let Some(TextForm(topology)) = &scenario.topology
            && let (queue, None) = topology.queue()
        {
            limit("the links of the topology", queue.map(|form| &form.0));
        }
        for link in scenario.links.iter().filter(|link| link.buffer.is_none()) {
            let queue = link.queue.as_ref().map(|form| &form.0);
            let has_rate = |rate: Option<LinkRate>| !matches!(rate, Some(LinkRate::Constant(LineRate(None))));
            if !shares(&link.from) && has_rate(link.rate) {
                limit(&link.name, queue);
            }
            if !shares(&link.to) && has_rate(link.reverse_rate.or(link.rate)) {
                limit(&link.name, link.reverse_queue.as_ref().map(|form| &form.0).or(queue));
            }
        }
    }

    /// A phrase for each kind of default.
    pub(super) fn told(&self) -> Vec<String> {
        let edition = Edition::LATEST;
        let transports = self.transports.iter().map(|(transport, flows)| format!("{transport} for {flows}"));
        let connections = self.connections.iter().map(|(setting, flows)| format!("{setting} for {flows}"));
        let packets = self.has_packets.then(|| format!("packets of {}", edition.packet()));
        let answers = self.has_acknowledgements.then(|| format!("acknowledgements of {}", edition.acknowledgement()));
        let limits = self.limits.iter().map(|(limit, links)| format!("room for {limit} at {links}"));
        let access = self.has_access.then(|| format!("room for {PACKETS} at access lines"));
        transports.chain(connections).chain(packets).chain(answers).chain(limits).chain(access).collect()
    }
}

/// The connection settings under `transport` by which the latest edition differs from another.
fn connection_settings(connection: &Connection, transport: &TransportSettings) -> Vec<String> {
    let of = |edition: Edition| {
        let mut connection = connection.clone();
        edition.complete(&mut connection, transport);
        [("recovery", name_of(&connection.recovery)), ("reduces", name_of(&connection.reduces))]
    };
    let latest = of(Edition::LATEST).into_iter().filter(|_| transport.has_connection());
    let is_decided = |(field, value): &(&str, String)| {
        Edition::ALL.into_iter().any(|other| of(other).iter().any(|(name, before)| name == field && before != value))
    };
    latest.filter(is_decided).map(|(field, value)| format!("{field} {value}")).collect()
}

/// Names, of which a message shows the first three.
#[derive(Debug, Default)]
struct Names(Vec<String>);

impl Names {
    fn add(&mut self, name: &str) {
        if !self.0.iter().any(|other| other == name) {
            self.0.push(name.to_string());
        }
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const TOLD: usize = 3;
        write!(f, "{}", self.0[..self.0.len().min(TOLD)].join(", "))?;
        match self.0.len().saturating_sub(TOLD) {
            0 => Ok(()),
            others => write!(f, " and {others} more"),
        }
    }
}

impl Serialize for Edition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

impl<'de> Deserialize<'de> for Edition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|edition| given == u64::from(edition.number()));
        found.ok_or_else(|| {
            D::Error::custom(match given.as_str().map(str::trim) {
                Some(number @ ("1" | "2")) => {
                    format!("an edition is a number; write edition = {number}, not `{given}`")
                }
                _ => format!("an edition is 1 or 2; write edition = 2, or 1 for the defaults of 1990, not `{given}`"),
            })
        })
    }
}

impl JsonSchema for Edition {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Edition")
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "enum": [1, 2] })
    }
}
