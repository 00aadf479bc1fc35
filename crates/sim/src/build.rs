//! From a scenario to a network that can run: names become numbers, routes are found, and what cannot be is refused.

pub mod nodes;

use self::nodes::{Nodes, PoolPlan};
use crate::engine::random;
use crate::net::line::Line;
use crate::net::network::Path;
use crate::net::pools::Pools;
use crate::net::route::{Ends, shortest};
use crate::scenario::problem::{Fault, near_miss};
use crate::scenario::values::{LineRate, Start, TextForm};
use crate::scenario::{Access, Flow, Link, Scenario};
use crate::traffic::registry::TrafficSettings;
use crate::transport::registry::TransportSettings;
use crate::transport::tcp::settings::Connection;
use fairq_sched::contract::{self, Role};
use fairq_sched::packet::{Address, Header};
use fairq_sched::queue::Queue;
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Bytes of an acknowledgement, if the scenario says nothing: a TCP/IP header, as in the 1990 paper.
const ACKNOWLEDGEMENT: Bytes = Bytes(40);

/// The longest packet: a jumbogram is no packet of a gateway, and a buffer of 64 bits counts any number of these.
const LONGEST: u64 = 1 << 20;

/// What a file transfer without flow control may put into the network in one instant.
const PACKETS_AT_ONCE: u64 = 1_000_000;

/// A packet counts the lines it has passed in 16 bits.
const LINES_OF_A_PATH: usize = u16::MAX as usize;

/// One direction of a link, or of an access line.
#[derive(Clone, Debug)]
pub struct LinePlan {
    /// The link's name.
    pub name: String,
    /// Whether it leads from the link's `to` end to its `from` end.
    pub is_reverse: bool,
    /// Whether it belongs to a flow alone.
    pub is_access: bool,
    /// Its rate; nothing if unlimited.
    pub rate: Option<Rate>,
    /// Its delay.
    pub delay: Time,
    /// Its discipline.
    pub queue: Queue,
    /// The role of the node that it leaves.
    pub role: Role,
    /// The number of the pool that it shares, if it does.
    pub pool: Option<u32>,
    ends: Ends,
}

/// A flow with its path.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// Its number among the scenario's flows, of which one may stand for several.
    pub entry: usize,
    /// Where it starts and ends, by name.
    pub nodes: [String; 2],
    /// Its path.
    pub path: Path,
    /// What it sends.
    pub traffic: TrafficSettings,
    /// How.
    pub transport: TransportSettings,
    /// How its losses are found and mended, and when it is answered.
    pub connection: Arc<Connection>,
    /// When it starts.
    pub start: Start,
    /// Its weight.
    pub weight: Weight,
    /// Its class, if it names one.
    pub class: Option<String>,
    /// Bytes of an acknowledgement.
    pub acknowledgement: u32,
}

/// A scenario at one point of its axes, ready to be run with any seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Lines; both directions of a link next to each other.
    pub lines: Vec<LinePlan>,
    /// Flows, in the order of the scenario.
    pub flows: Vec<FlowPlan>,
    /// Buffers that lines share.
    pub pools: Vec<PoolPlan>,
    /// What is left out at the beginning.
    pub warm_up: Time,
    /// What is measured.
    pub duration: Time,
}

impl Plan {
    /// Checks the whole scenario and finds the routes.
    ///
    /// # Errors
    /// The first thing that cannot be, with its path.
    pub fn new(scenario: &Scenario) -> Result<Self, Fault> {
        check_measure(scenario)?;
        let said = Nodes::new(scenario);
        let mut builder =
            Builder { scenario, said, nodes: Vec::new(), lines: Vec::new(), hosts: 0, names: BTreeSet::new() };
        for (at, link) in scenario.links.iter().enumerate() {
            builder.add_link(at, link)?;
        }
        builder.hosts = builder.nodes.len() as u32;
        let pools = builder.said.check(&builder.nodes, &builder.lines)?;
        let ends: Vec<Ends> = builder.lines.iter().map(|line| line.ends).collect();
        let mut flows = Vec::new();
        for (at, flow) in scenario.flows.iter().enumerate() {
            builder.add_flow(at, flow, &ends, &mut flows)?;
        }
        let lines = builder.lines;
        Ok(Self { lines, flows, pools, warm_up: scenario.measure.warm_up, duration: scenario.measure.duration })
    }

    /// The lines with their queues, for a run with `seed`.
    #[must_use]
    pub fn lines(&self, seed: u64) -> Vec<Line> {
        let mut weights: Vec<Vec<(Header, Weight)>> = vec![Vec::new(); self.lines.len()];
        for flow in self.flows.iter().filter(|flow| flow.weight != Weight::ONE) {
            for line in &flow.path.forward {
                weights[*line as usize].push((flow.path.headers[0], flow.weight));
            }
        }
        let mut classes: Vec<Vec<(Header, String)>> = vec![Vec::new(); self.lines.len()];
        for flow in &self.flows {
            let Some(class) = &flow.class else { continue };
            for line in &flow.path.forward {
                classes[*line as usize].push((flow.path.headers[0], class.clone()));
            }
        }
        let mut build = |(at, plan): (usize, &LinePlan)| {
            let direction = if plan.is_reverse { "reverse" } else { "forward" };
            let seed = random::key(seed, &format!("{}/{direction}/queue", plan.name));
            // A line without a rate never queues; any rate will do.
            let line = contract::Line {
                seed,
                weights: std::mem::take(&mut weights[at]),
                classes: std::mem::take(&mut classes[at]),
                role: plan.role,
                ..contract::Line::new(plan.rate.unwrap_or(Rate::MAX))
            };
            Line::new(plan.rate, plan.delay, plan.queue.build(&line))
        };
        self.lines.iter().enumerate().map(&mut build).collect()
    }

    /// The buffers that lines share, empty.
    #[must_use]
    pub fn pools(&self) -> Pools {
        let pools = self.pools.iter().map(PoolPlan::build).collect();
        Pools::new(pools, self.lines.iter().map(|line| line.pool).collect())
    }
}

fn check_measure(scenario: &Scenario) -> Result<(), Fault> {
    let measure = &scenario.measure;
    if measure.duration == Time::ZERO {
        return Err(Fault::new("measure.duration", "a run needs some time to measure; write for example \"10 s\""));
    }
    if !(1..=1_000_000).contains(&measure.replications) {
        return Err(Fault::new("measure.replications", "write a number from 1 to 1000000"));
    }
    if scenario.defaults.acknowledgement.is_some_and(|bytes| !(1..=LONGEST).contains(&bytes.0)) {
        return Err(Fault::new("defaults.acknowledgement", "an acknowledgement has from 1 B to 1 MiB"));
    }
    if scenario.flows.is_empty() {
        return Err(Fault::new("flows", "a scenario needs at least one flow"));
    }
    Ok(())
}

struct Builder<'a> {
    scenario: &'a Scenario,
    said: Nodes<'a>,
    nodes: Vec<String>,
    lines: Vec<LinePlan>,
    /// Nodes and the hosts of access lines.
    hosts: u32,
    /// The names of flows.
    names: BTreeSet<String>,
}

impl Builder<'_> {
    fn node(&mut self, name: &str) -> u32 {
        let found = self.nodes.iter().position(|node| node == name);
        found.unwrap_or_else(|| {
            self.nodes.push(name.to_string());
            self.nodes.len() - 1
        }) as u32
    }

    fn add_link(&mut self, at: usize, link: &Link) -> Result<(), Fault> {
        let path = format!("links[{at}]");
        if link.name.is_empty() || link.name.starts_with('-') {
            return Err(Fault::new(format!("{path}.name"), "a name is not empty and does not begin with -"));
        }
        if self.lines.iter().any(|line| line.name == link.name) {
            return Err(Fault::new(format!("{path}.name"), format!("there is another link called {}", link.name)));
        }
        let (from, to) = (self.node(&link.from), self.node(&link.to));
        if from == to {
            return Err(Fault::new(format!("{path}.to"), "a link leads to another node"));
        }
        let forward = self.queue(link, &link.from, link.queue.as_ref(), &format!("{path}.queue"))?;
        let reverse = match &link.reverse_queue {
            None => self.queue(link, &link.to, link.queue.as_ref(), &format!("{path}.queue"))?,
            given => self.queue(link, &link.to, given.as_ref(), &format!("{path}.reverse_queue"))?,
        };
        let reverse_rate = link.reverse_rate.unwrap_or(link.rate);
        for (is_reverse, LineRate(rate), queue) in [(false, link.rate, forward), (true, reverse_rate, reverse)] {
            let ends = if is_reverse { Ends { from: to, to: from } } else { Ends { from, to } };
            let name = link.name.clone();
            let node = if is_reverse { &link.to } else { &link.from };
            let (role, pool, delay) = (self.said.role(node), self.said.pool(node), link.delay);
            self.lines.push(LinePlan { name, is_reverse, is_access: false, rate, delay, queue, role, pool, ends });
        }
        Ok(())
    }

    /// The discipline of the direction of `link` that leaves `node`.
    fn queue(&self, link: &Link, node: &str, given: Option<&TextForm<Queue>>, path: &str) -> Result<Queue, Fault> {
        let defaults = &self.scenario.defaults;
        let usual = if self.said.pool(node).is_some() { None } else { defaults.buffer };
        let mut queue = given.or(defaults.queue.as_ref()).map_or_else(Queue::unlimited_fifo, |form| form.0.clone());
        queue.limit = queue.limit.or(link.buffer).or(usual).or(Some(Limit::Unlimited));
        match queue.fault() {
            Some(fault) => Err(Fault::new(path, fault)),
            None => Ok(queue),
        }
    }

    fn add_flow(&mut self, at: usize, flow: &Flow, ends: &[Ends], flows: &mut Vec<FlowPlan>) -> Result<(), Fault> {
        let path = format!("flows[{at}]");
        let defaults = &self.scenario.defaults;
        let from = self.known_node(&flow.from, &format!("{path}.from"))?;
        let to = self.known_node(&flow.to, &format!("{path}.to"))?;
        if from == to {
            return Err(Fault::new(format!("{path}.to"), "a flow leads to another node than it comes from"));
        }
        let route = self.route(flow, ends, from, to, &path)?;
        let transport = flow.transport.as_ref().or(defaults.transport.as_ref());
        let transport = transport.map_or_else(|| flow.traffic.0.usual_transport(), |form| form.0.clone());
        if let Some(fault) = transport.fault() {
            return Err(Fault::new(format!("{path}.transport"), fault));
        }
        let connection = self.connection(flow, &transport, &path)?;
        let traffic = flow.traffic.0.clone();
        if let Some(fault) = traffic.fault() {
            return Err(Fault::new(format!("{path}.traffic"), fault));
        }
        if let (TrafficSettings::Ftp(ftp), true) = (&traffic, transport.sends_at_once())
            && ftp.packets.is_none_or(|packets| packets > PACKETS_AT_ONCE)
        {
            return Err(Fault::new(
                format!("{path}.transport"),
                "a file transfer without flow control sends all it has at once; write transport = \"generic\", or give \
                 the ftp at most 1000000 packets",
            ));
        }
        let acknowledgement = defaults.acknowledgement.unwrap_or(ACKNOWLEDGEMENT).0 as u32;
        let count = flow.count.unwrap_or(1);
        if count == 0 || count > 1_000_000 {
            return Err(Fault::new(format!("{path}.count"), "write a number from 1 to 1000000"));
        }
        for copy in 1..=count {
            let name = if flow.count.is_some() { format!("{}.{copy}", flow.name) } else { flow.name.clone() };
            if name.is_empty() || !self.names.insert(name.clone()) {
                return Err(Fault::new(
                    format!("{path}.name"),
                    format!("`{name}` is empty or taken; names are unique"),
                ));
            }
            let (mut forward, mut source, mut sink) = (Vec::new(), from, to);
            if let Some(access) = flow.access.as_ref().or(defaults.access.as_ref()) {
                source = self.add_access(&format!("{name}.access"), access, &mut forward);
            }
            forward.extend(&route);
            if let Some(access) = flow.sink_access.as_ref().or(defaults.sink_access.as_ref()) {
                sink = self.add_access(&format!("{name}.sink_access"), access, &mut forward);
            }
            // The two directions of a link differ in the last bit of their numbers.
            let backward: Vec<u32> = forward.iter().rev().map(|line| line ^ 1).collect();
            if forward.len() > LINES_OF_A_PATH {
                return Err(Fault::new(format!("{path}.route"), "a path has at most 65535 lines"));
            }
            // An acknowledgement that came back in no time would let the source send for ever at one instant.
            let takes_time = |line: &u32| {
                let line = &self.lines[*line as usize];
                line.rate.is_some() || line.delay > Time::ZERO
            };
            if !forward.iter().chain(&backward).any(takes_time) {
                let message = "nothing on the way there and back takes time; give a link on it a rate or a delay";
                return Err(Fault::new(format!("{path}.to"), message));
            }
            self.check_class(flow, &forward, &path)?;
            let port = (flows.len() % 0xffff) as u16 + 1;
            let header = Header {
                source: Address::Node(source),
                destination: Address::Node(sink),
                protocol: 0,
                source_port: port,
                destination_port: port,
                tos: flow.tos,
            };
            let answer = Header { source: header.destination, destination: header.source, ..header };
            flows.push(FlowPlan {
                name,
                entry: at,
                nodes: [flow.from.clone(), flow.to.clone()],
                path: Path { forward, backward, headers: [header, answer] },
                traffic: traffic.clone(),
                transport: transport.clone(),
                connection: connection.clone(),
                start: flow.start.unwrap_or(defaults.start),
                weight: flow.weight.unwrap_or_default(),
                class: flow.class.clone(),
                acknowledgement,
            });
        }
        Ok(())
    }

    /// What the connection of `flow` is besides its law.
    fn connection(&self, flow: &Flow, transport: &TransportSettings, path: &str) -> Result<Arc<Connection>, Fault> {
        if flow.connection.is_some() && !transport.has_connection() {
            let message = format!("{} has rules of its own and takes no connection settings", transport.name());
            return Err(Fault::new(format!("{path}.connection"), message));
        }
        let given = flow.connection.as_ref().or(self.scenario.defaults.connection.as_ref());
        let connection = given.cloned().unwrap_or_default();
        match connection.fault() {
            Some(fault) => Err(Fault::new(format!("{path}.connection"), fault)),
            None => Ok(Arc::new(connection)),
        }
    }

    /// A line on the way that knows classes must know that of the flow.
    fn check_class(&self, flow: &Flow, forward: &[u32], path: &str) -> Result<(), Fault> {
        let Some(class) = &flow.class else { return Ok(()) };
        let lines = forward.iter().map(|line| &self.lines[*line as usize]);
        let known = lines.filter_map(|line| Some((line, line.queue.classes()?)));
        let mut strange = None;
        for (line, classes) in known {
            if classes.contains(&class.as_str()) {
                return Ok(());
            }
            strange = strange.or(Some((line, classes)));
        }
        strange.map_or(Ok(()), |(line, classes)| {
            let near = near_miss(class, classes);
            let message = format!("no class {class} in the queue of link {}{near}", line.name);
            Err(Fault::new(format!("{path}.class"), message))
        })
    }

    /// A host of its own, with a line in each direction; the first is appended to `path`.
    fn add_access(&mut self, name: &str, access: &Access, path: &mut Vec<u32>) -> u32 {
        let host = self.hosts;
        self.hosts += 1;
        path.push(self.lines.len() as u32);
        for is_reverse in [false, true] {
            self.lines.push(LinePlan {
                name: name.to_string(),
                is_reverse,
                is_access: true,
                rate: access.rate.0,
                delay: access.delay,
                queue: Queue::unlimited_fifo(),
                role: Role::Both,
                pool: None,
                // No route leads through an access line.
                ends: Ends { from: host, to: host },
            });
        }
        host
    }

    fn known_node(&self, name: &str, path: &str) -> Result<u32, Fault> {
        let found = self.nodes.iter().position(|node| node == name).map(|node| node as u32);
        found.ok_or_else(|| {
            let known = self.nodes.iter().map(String::as_str);
            Fault::new(path, format!("no link leads to a node called {name}{}", near_miss(name, known)))
        })
    }

    fn route(&self, flow: &Flow, ends: &[Ends], from: u32, to: u32, path: &str) -> Result<Vec<u32>, Fault> {
        let mut route = Vec::new();
        let mut at = from;
        let way = |at: u32, to: u32, place: String| {
            let none = || {
                let (at, to) = (&self.nodes[at as usize], &self.nodes[to as usize]);
                Fault::new(place, format!("there is no way from {at} to {to}"))
            };
            shortest(ends, self.nodes.len(), at, to).ok_or_else(none)
        };
        for (step, name) in flow.route.iter().flatten().enumerate() {
            let place = format!("{path}.route[{step}]");
            let (plain, is_reverse) = name.strip_prefix('-').map_or((name.as_str(), false), |plain| (plain, true));
            let named = |line: &LinePlan| line.name == plain && line.is_reverse == is_reverse;
            let Some(line) = self.lines.iter().position(named) else {
                let known = self.scenario.links.iter().map(|link| link.name.as_str());
                return Err(Fault::new(place, format!("no link is called {plain}{}", near_miss(plain, known))));
            };
            route.extend(way(at, ends[line].from, place)?);
            route.push(line as u32);
            at = ends[line].to;
        }
        route.extend(way(at, to, format!("{path}.to"))?);
        Ok(route)
    }
}
