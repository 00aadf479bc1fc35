//! From a scenario to a network that can run: names become numbers, routes are computed, and
//! impossible settings are refused.

mod buffers;
mod changes;
mod flows;
mod media;
mod needs;
mod nodes;
mod policers;
mod sessions;

use self::buffers::{At, Buffers};
use self::media::{Capacity, Media};
use self::nodes::Nodes;
use crate::scenario::{Access, Flow, Link, Routing, Scenario};
use crate::topology::{self, Context};
use crate::values::{BufferSize, TextForm};
use fairq_link::impairment::Impairment;
use fairq_sched::contract::Role;
use fairq_sched::queue::Queue;
use fairq_sched::units::{Limit, Time, Weight};
use fairq_sim::changes::What;
use fairq_sim::net::route::{Ends, Routes};
use fairq_sim::plan::{Files, LinePlan, Plan};
use fairq_text::{Fault, near_miss};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most places of a device's ring.
const RING_MAX: u32 = 65_536;

/// The longest packet: gateways take no jumbograms, and the 64 bits of a buffer's count suffice for
/// packets up to this.
const LONGEST: u64 = 1 << 20;

/// Checks the whole scenario and computes the routes; `files` gives the bytes of files that its
/// topology and its links name, `reader` reads that of a topology.
///
/// # Errors
/// The first impossible setting, with its path.
pub fn plan(scenario: &Scenario, files: Files<'_>, reader: Option<topology::Reader>) -> Result<Plan, Fault> {
    check_measure(scenario)?;
    check_flows(scenario)?;
    network(scenario, files, reader)
}

/// As [`plan`], of a scenario that may have no flow: packets then come from outside.
///
/// # Errors
/// The first impossible setting, with its path.
pub fn network(scenario: &Scenario, files: Files<'_>, reader: Option<topology::Reader>) -> Result<Plan, Fault> {
    check_measure(scenario)?;
    let mut builder = Builder {
        scenario,
        reader,
        said: Nodes::new(scenario),
        nodes: Vec::new(),
        numbers: BTreeMap::new(),
        labels: BTreeMap::new(),
        lines: Vec::new(),
        links: BTreeMap::new(),
        hosts: 0,
        access_said: "access".into(),
        buffers: Buffers::new(scenario),
        names: BTreeSet::new(),
    };
    let mut media = Media::new(files);
    let of_topology = builder.add_topology(files, &mut media)?;
    for (at, link) in scenario.links.iter().enumerate() {
        builder.add_link(&format!("links[{at}]"), link, &mut media)?;
    }
    builder.hosts = builder.nodes.len() as u32;
    let pools = builder.said.check(&builder.nodes, &builder.lines)?;
    let mut routes = builder.routes();
    let (mut flows, mut transfers) = (Vec::new(), Vec::new());
    for (at, flow) in scenario.flows.iter().enumerate() {
        let first = flows.len();
        builder.add_flow(at, flow, &mut routes, &mut flows)?;
        transfers.extend(builder.transfers(flow, first, &flows));
    }
    let sessions = builder.sessions(&mut routes)?;
    let nodes = builder.nodes.iter().map(|name| Arc::from(name.as_str())).collect();
    let mut lines = builder.lines;
    builder.buffers.finish(&mut lines, &flows)?;
    needs::check(&lines, &mut flows, &sessions)?;
    policers::check(&lines, &flows, &sessions)?;
    let changes = changes::changes(scenario, &builder.links, &lines, &mut flows, &sessions)?;
    let counts_lost = lines.iter().any(|line| loses(&line.impairment))
        || changes.iter().any(|planned| matches!(&planned.change.what, What::Impairment(what) if loses(what)));
    let (warm_up, duration) = (scenario.measure.warm_up, scenario.measure.duration);
    let is_held = Vec::new();
    Ok(Plan {
        nodes,
        lines,
        flows,
        transfers,
        sessions,
        pools,
        changes,
        is_held,
        warm_up,
        duration,
        counts_lost,
        of_topology,
    })
}

/// Whether it may lose packets.
fn loses(impairment: &Impairment) -> bool {
    impairment.loss.probability > 0.0
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
    Ok(())
}

fn check_flows(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.flows.is_empty() && scenario.sessions.is_empty() {
        let message = "there is none; write at least one [[flows]] with name, from, to and traffic";
        return Err(Fault::new("flows", message));
    }
    Ok(())
}

struct Builder<'a> {
    scenario: &'a Scenario,
    reader: Option<topology::Reader>,
    said: Nodes<'a>,
    nodes: Vec<String>,
    /// The numbers of nodes by name, and those of a topology's nodes by label.
    numbers: BTreeMap<String, u32>,
    labels: BTreeMap<String, Vec<u32>>,
    lines: Vec<LinePlan>,
    /// By link name: the number of its first line.
    links: BTreeMap<String, u32>,
    /// The number of nodes and of hosts of access lines.
    hosts: u32,
    access_said: Arc<str>,
    buffers: Buffers,
    /// The names of flows.
    names: BTreeSet<Arc<str>>,
}

impl Builder<'_> {
    fn node(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(name.to_string());
        self.numbers.insert(name.to_string(), number);
        number
    }

    /// Adds the nodes and links of the topology, in its order. Returns its warnings and notes.
    fn add_topology(&mut self, files: Files<'_>, media: &mut Media<'_>) -> Result<Vec<String>, Fault> {
        let Some(TextForm(settings)) = &self.scenario.topology else { return Ok(Vec::new()) };
        let context = Context { seed: self.scenario.measure.seed, files, reader: self.reader };
        let graph = settings.build(context).map_err(|message| Fault::new("topology", message))?;
        for node in &graph.nodes {
            let number = self.node(&node.name);
            if !node.label.is_empty() {
                self.labels.entry(node.label.clone()).or_default().push(number);
            }
        }
        let (queue, buffer) = settings.queue();
        for topology::Edge { name, from, to, rate, delay, weight } in &graph.links {
            let link = Link {
                name: name.clone(),
                from: graph.nodes[*from].name.clone(),
                to: graph.nodes[*to].name.clone(),
                rate: Some((*rate).into()),
                delay: *delay,
                queue: queue.cloned(),
                buffer,
                weight: *weight,
                ..Link::default()
            };
            self.add_link("topology", &link, media)?;
        }
        Ok([graph.warnings, graph.notes].concat())
    }

    fn add_link(&mut self, path: &str, link: &Link, media: &mut Media<'_>) -> Result<(), Fault> {
        let (from, to) = self.ends_of_link(path, link)?;
        let [there, back] = media.capacities(link, path)?;
        let link_header = media::link_header(link, path)?;
        if let Some(message) = buffers::fault(link.buffer, [there.rate, back.rate]) {
            return Err(Fault::new(format!("{path}.buffer"), message));
        }
        let (place, first) = (format!("{path}.queue"), self.lines.len());
        let at = At { line: first, rate: there.rate, link_header, path: &place };
        let forward = self.queue(link, &link.from, link.queue.as_ref(), &at)?;
        let at = At { line: first + 1, rate: back.rate, link_header, path: &place };
        let reverse = match &link.reverse_queue {
            None => self.queue(link, &link.to, link.queue.as_ref(), &at)?,
            given => {
                let place = format!("{path}.reverse_queue");
                self.queue(link, &link.to, given.as_ref(), &At { path: &place, ..at })?
            }
        };
        let impairment = media::impairment(link, path)?;
        let name: Arc<str> = (*link.name).into();
        let [said, reverse_said] = queues_said(path, link);
        for (is_reverse, Capacity { rate, course }, (queue, names_limit), queue_said) in
            [(false, there, forward, said), (true, back, reverse, reverse_said)]
        {
            let ends = if is_reverse { Ends { from: to, to: from } } else { Ends { from, to } };
            let node = if is_reverse { &link.to } else { &link.from };
            let line = LinePlan {
                name: Arc::clone(&name),
                is_reverse,
                is_access: false,
                rate,
                course,
                delay: link.delay,
                impairment,
                queue: Arc::new(queue),
                names_limit,
                queue_said,
                ring: link.ring.unwrap_or_default(),
                link_header,
                role: self.said.role(node),
                pool: self.said.pool(node),
                ends,
                weight: link.weight.unwrap_or_default(),
            };
            if let Some(message) = ring_fault(&line) {
                return Err(Fault::new(format!("{path}.ring"), message));
            }
            self.lines.push(line);
        }
        Ok(())
    }

    /// Notes the name of `link`. Returns its nodes.
    fn ends_of_link(&mut self, path: &str, link: &Link) -> Result<(u32, u32), Fault> {
        if link.name.is_empty() || link.name.starts_with('-') {
            return Err(Fault::new(format!("{path}.name"), "a name is not empty and does not begin with -"));
        }
        if self.links.insert(link.name.clone(), self.lines.len() as u32).is_some() {
            return Err(Fault::new(format!("{path}.name"), format!("there is another link called {}", link.name)));
        }
        match (self.node(&link.from), self.node(&link.to)) {
            (from, to) if from == to => Err(Fault::new(format!("{path}.to"), "a link leads to another node")),
            ends => Ok(ends),
        }
    }

    /// The discipline of the direction of `link` that leaves `node`, and whether the scenario names
    /// its limit.
    fn queue(
        &mut self,
        link: &Link,
        node: &str,
        given: Option<&TextForm<Queue>>,
        at: &At<'_>,
    ) -> Result<(Queue, bool), Fault> {
        let defaults = &self.scenario.defaults;
        let mut queue = given.or(defaults.queue.as_ref()).map_or_else(Queue::unlimited_fifo, |form| form.0.clone());
        let size = match self.said.pool(node) {
            // The limit of such lines is the shared buffer.
            Some(_) => link.buffer.or(Some(BufferSize::Limit(Limit::Unlimited))),
            None => link.buffer.or(defaults.buffer),
        };
        let above = queue.fault_of_limits();
        let names_limit = self.buffers.fill(&mut queue, size, at);
        match queue.fault().or(above) {
            Some(fault) => Err(Fault::new(at.path, fault)),
            None => Ok((queue, names_limit)),
        }
    }

    /// Adds a host with a line in each direction; the host sends into the line with number `sent`
    /// of the two. Returns the number of the first line, and the host.
    fn add_access(&mut self, name: &str, access: &Access, sent: usize, place: &str) -> Result<(u32, u32), Fault> {
        let host = self.hosts;
        self.hosts += 1;
        let first = self.lines.len();
        if let Some(message) = buffers::fault(access.buffer, [access.rate.0; 2]) {
            return Err(Fault::new(format!("{place}.buffer"), message));
        }
        let host_queue = access.host_queue.as_ref().map(|form| &form.0);
        if host_queue.is_some() && access.rate.0.is_none() {
            let message = "nothing waits at a line without a rate; give the access line a rate, as rate = \"1 Gbit/s\"";
            return Err(Fault::new(format!("{place}.host_queue"), message));
        }
        let name: Arc<str> = name.into();
        for (direction, is_reverse) in [false, true].into_iter().enumerate() {
            let given = host_queue.filter(|_| direction == sent);
            let said: Arc<str> =
                if given.is_some() { format!("{place}.host_queue").into() } else { Arc::clone(&self.access_said) };
            let at = At { line: first + direction, rate: access.rate.0, link_header: 0, path: place };
            let queue = self.buffers.access_queue(given, access.buffer, &at);
            self.lines.push(LinePlan {
                name: Arc::clone(&name),
                is_reverse,
                is_access: true,
                rate: access.rate.0,
                course: None,
                delay: access.delay,
                impairment: Impairment::default(),
                queue,
                names_limit: access.buffer.is_some() || given.is_some_and(|queue| queue.limit.is_some()),
                queue_said: said,
                ring: 0,
                link_header: 0,
                role: Role::Both,
                pool: None,
                // No route uses an access line.
                ends: Ends { from: host, to: host },
                weight: Weight::ONE,
            });
        }
        Ok((first as u32, host))
    }

    fn known_node(&self, name: &str, path: &str) -> Result<u32, Fault> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        match self.labels.get(name).map(Vec::as_slice) {
            Some([only]) => Ok(*only),
            Some(several) => {
                let names: Vec<&str> = several.iter().take(5).map(|node| self.nodes[*node as usize].as_str()).collect();
                let (number, names) = (several.len(), names.join(", "));
                Err(Fault::new(path, format!("{number} nodes are labelled {name}; write the name of one: {names}")))
            }
            None => {
                let known = self.nodes.iter().chain(self.labels.keys()).map(String::as_str);
                Err(Fault::new(path, format!("no link leads to a node called {name}{}", near_miss(name, known))))
            }
        }
    }

    /// The lines between nodes, with the length that each adds to a path.
    fn routes(&self) -> Routes {
        let cost = |line: &LinePlan| match self.scenario.routing {
            Routing::Hops => 1,
            Routing::Delay => line.delay.0,
            Routing::Weight => u64::from(line.weight.thousandths()),
        };
        Routes::new(self.lines.iter().map(|line| (line.ends, cost(line))).collect(), self.nodes.len())
    }

    /// The lines from one node to the other, by way of the links that the flow names.
    fn route(
        &self,
        flow: &Flow,
        routes: &mut Routes,
        [from, to]: [u32; 2],
        path: &str,
        key: Option<u64>,
    ) -> Result<Vec<u32>, Fault> {
        let mut route = Vec::new();
        let mut at = from;
        let mut way = |at: u32, to: u32, place: String| {
            let none = || {
                let (at, to) = (&self.nodes[at as usize], &self.nodes[to as usize]);
                Fault::new(place, format!("there is no way from {at} to {to}"))
            };
            routes.path(at, to, key).ok_or_else(none)
        };
        for (step, name) in flow.route.iter().flatten().enumerate() {
            let place = format!("{path}.route[{step}]");
            let (plain, is_reverse) = name.strip_prefix('-').map_or((name.as_str(), false), |plain| (plain, true));
            let Some(first) = self.links.get(plain) else {
                let known = self.lines.iter().filter(|line| !line.is_access && !line.is_reverse);
                let near = near_miss(plain, known.map(|line| &*line.name));
                return Err(Fault::new(place, format!("no link is called {plain}{near}")));
            };
            // Both directions of a link have numbers next to each other.
            let line = first + u32::from(is_reverse);
            let ends = self.lines[line as usize].ends;
            route.extend(way(at, ends.from, place)?);
            route.push(line);
            at = ends.to;
        }
        route.extend(way(at, to, format!("{path}.to"))?);
        Ok(route)
    }
}

/// The fields that say the queues of `link`, whose place is `path`: there and back.
fn queues_said(path: &str, link: &Link) -> [Arc<str>; 2] {
    let field = if path == "topology" { "" } else { ".queue" };
    let queue: Arc<str> = match link.queue {
        Some(_) => format!("{path}{field}").into(),
        None => "defaults.queue".into(),
    };
    let reverse = match link.reverse_queue {
        Some(_) => format!("{path}.reverse_queue").into(),
        None => Arc::clone(&queue),
    };
    [queue, reverse]
}

/// Why the ring of `line` makes no sense; `None` if it does.
fn ring_fault(line: &LinePlan) -> Option<String> {
    if line.ring > RING_MAX {
        return Some(format!("a ring has at most {RING_MAX} places"));
    }
    let is_wrong = line.ring > 0 && line.interrupts();
    is_wrong.then(|| "the queue interrupts transmissions, which goes with no ring; leave one of them out".to_owned())
}
