//! Flows: from an entry of the scenario to its copies, each with its hosts and its path.

use super::Builder;
use crate::scenario::Flow;
use crate::sense;
use fairq_link::random;
use fairq_sched::units::Time;
use fairq_sim::net::path::{Ends, Path};
use fairq_sim::net::route::Routes;
use fairq_sim::plan::ideal::Ideal;
use fairq_sim::plan::{EntryPlan, FlowPlan, TransfersPlan};
use fairq_sim::traffic::Release;
use fairq_sim::traffic::registry::TrafficSettings;
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::tcp::settings::Terms;
use fairq_text::{Fault, near_miss};
use std::sync::Arc;

/// The most packets that a file transfer without flow control may put into the network in one
/// instant.
const PACKETS_AT_ONCE: u64 = 1_000_000;

/// A packet counts the lines of its path in 16 bits.
const LINES_OF_A_PATH: usize = u16::MAX as usize;

/// The access lines of a copy's source and sink, where they have one: the number of the first of
/// its two lines, and the host.
type Accesses = [Option<(u32, u32)>; 2];

/// What the copies of a flow have in common.
struct Copies<'a> {
    flow: &'a Flow,
    /// Where it is written, as `flows[0]`.
    place: &'a str,
    nodes: [u32; 2],
    entry: Arc<EntryPlan>,
    tos: u8,
    /// The number of hosts that they share; `None` if each has its own.
    hosts: Option<u32>,
    /// By host number: the access lines that copies share.
    shared: Vec<Accesses>,
    /// The path of the previous copy, which is also the next one's if both have the same lines.
    last: Option<Path>,
}

impl Builder<'_> {
    /// Adds the copies of `flow`, the entry with number `at`, to `flows`.
    pub(super) fn add_flow(
        &mut self,
        at: usize,
        flow: &Flow,
        routes: &mut Routes,
        flows: &mut Vec<FlowPlan>,
    ) -> Result<(), Fault> {
        let path = format!("flows[{at}]");
        let defaults = &self.scenario.defaults;
        let from = self.known_node(&flow.from, &format!("{path}.from"))?;
        let to = self.known_node(&flow.to, &format!("{path}.to"))?;
        if from == to {
            return Err(Fault::new(format!("{path}.to"), "a flow leads to another node than it comes from"));
        }
        let mut route = self.route(flow, routes, [from, to], &path, None)?;
        let transport = self.transport(flow, &path)?;
        let tos = flow.tos & !3 | transport.code_point().field().bits();
        let connection = self.connection(flow, &transport, &path)?;
        check_traffic(flow, &transport, &path)?;
        let count = flow.count.unwrap_or(1);
        if count == 0 || count > 1_000_000 {
            return Err(Fault::new(format!("{path}.count"), "write a number from 1 to 1000000"));
        }
        let hosts = self.hosts_of(flow, count, &path)?;
        let (start, stop) = (flow.start.unwrap_or(defaults.start), flow.stop.or(defaults.stop));
        if let Some(message) = start.fault_of(stop) {
            return Err(Fault::new(format!("{path}.stop"), message));
        }
        let acknowledgement = defaults.acknowledgement.unwrap_or(self.scenario.edition().acknowledgement()).0 as u32;
        let entry = Arc::new(EntryPlan {
            number: at,
            nodes: [&*flow.from, &*flow.to].map(Arc::from),
            traffic: flow.traffic.0.clone(),
            transport,
            connection,
            start: start.time(),
            start_within: start.within(),
            stop,
            weight: flow.weight.unwrap_or_default(),
            class: flow.class.clone(),
            deadline: flow.deadline,
            acknowledgement,
        });
        let nodes = [from, to];
        let mut copies = Copies { flow, place: &path, nodes, entry, tos, hosts, shared: Vec::new(), last: None };
        for copy in 1..=count {
            let name = self.name(flow, copy, &path)?;
            if self.scenario.multipath {
                let key = random::key(self.scenario.measure.seed, &format!("{name}/path"));
                route = self.route(flow, routes, nodes, &path, Some(key))?;
            }
            let accesses = self.accesses(&mut copies, copy, &name)?;
            let port = (flows.len() % 0xffff) as u16 + 1;
            flows.push(self.copy(&mut copies, name, accesses, &route, port)?);
        }
        Ok(())
    }

    /// The transport of `flow`: its own, else that of the defaults, else that of the edition.
    fn transport(&self, flow: &Flow, path: &str) -> Result<Arc<TransportSettings>, Fault> {
        let given = flow.transport.as_ref().or(self.scenario.defaults.transport.as_ref());
        let transport = given.map_or_else(|| self.scenario.edition().transport(&flow.traffic.0), |form| form.0.clone());
        if let Some(fault) = transport.fault().or_else(|| sense::fault(&transport)) {
            return Err(Fault::new(format!("{path}.transport"), fault));
        }
        match transport.tos_fault(flow.tos) {
            Some(fault) => Err(Fault::new(format!("{path}.tos"), fault)),
            None => Ok(Arc::new(transport)),
        }
    }

    /// The name of copy `copy` of `flow`, counted from one; no other flow has it.
    fn name(&mut self, flow: &Flow, copy: u32, path: &str) -> Result<Arc<str>, Fault> {
        let name = if flow.count.is_some() { format!("{}.{copy}", flow.name) } else { flow.name.clone() };
        let name: Arc<str> = name.into();
        if name.is_empty() || !self.names.insert(Arc::clone(&name)) {
            return Err(Fault::new(format!("{path}.name"), format!("`{name}` is empty or taken; names are unique")));
        }
        Ok(name)
    }

    /// The access lines of copy `copy`, which is called `name`: those of a copy on the same host,
    /// or new ones.
    fn accesses(&mut self, copies: &mut Copies<'_>, copy: u32, name: &str) -> Result<Accesses, Fault> {
        let Copies { flow, place, hosts, ref mut shared, .. } = *copies;
        if let Some(known) = hosts.and_then(|hosts| shared.get(((copy - 1) % hosts) as usize)) {
            return Ok(*known);
        }
        let defaults = &self.scenario.defaults;
        let said =
            [(&flow.access, &defaults.access, "access"), (&flow.sink_access, &defaults.sink_access, "sink_access")];
        let mut ends = [None, None];
        for (end, (own, default, word)) in said.into_iter().enumerate() {
            let Some(access) = own.as_ref().or(default.as_ref()) else { continue };
            let place = if own.is_some() { format!("{place}.{word}") } else { format!("defaults.{word}") };
            // A host sends into the first direction of the source's line and the second of the
            // sink's.
            ends[end] = Some(self.add_access(&format!("{name}.{word}"), access, end, &place)?);
        }
        if hosts.is_some() {
            shared.push(ends);
        }
        Ok(ends)
    }

    /// The copy called `name` behind its access lines. Its packets take `route` between the nodes.
    fn copy(
        &self,
        copies: &mut Copies<'_>,
        name: Arc<str>,
        accesses: Accesses,
        route: &[u32],
        port: u16,
    ) -> Result<FlowPlan, Fault> {
        let Copies { flow, place, nodes: [from, to], tos, ref entry, .. } = *copies;
        let of_end = |end: Option<(u32, u32)>, node| end.map_or((None, node), |(line, host)| (Some(line), host));
        let ((first, source), (last_line, sink)) = (of_end(accesses[0], from), of_end(accesses[1], to));
        let forward: Vec<u32> = first.into_iter().chain(route.iter().copied()).chain(last_line).collect();
        // The two directions of a link differ in the last bit of their numbers.
        let backward: Vec<u32> = forward.iter().rev().map(|line| line ^ 1).collect();
        self.check_lines(&forward, &backward, place)?;
        self.check_class(flow, &forward, place)?;
        let (processing, entry) = (self.processing(entry, &forward), Arc::clone(entry));
        let ends = Ends { from: source, to: sink, port, tos };
        let path = match copies.last.take().filter(|last| last.forward() == forward) {
            Some(last) => last.between(ends),
            None => Path::new(&forward, &backward, ends),
        };
        copies.last = Some(path.clone());
        Ok(FlowPlan { name, path, processing, tells_remaining: false, entry })
    }

    /// Checks that a path is not too long, and that it takes time.
    fn check_lines(&self, forward: &[u32], backward: &[u32], path: &str) -> Result<(), Fault> {
        if forward.len() > LINES_OF_A_PATH {
            return Err(Fault::new(format!("{path}.route"), "a path has at most 65535 lines"));
        }
        // An acknowledgement that returns in no time would let the source send forever in one
        // instant.
        let takes_time = |line: &u32| {
            let line = &self.lines[*line as usize];
            line.rate.is_some() || line.delay > Time::ZERO
        };
        if !forward.iter().chain(backward).any(takes_time) {
            let message = "nothing on the way there and back takes time; give a link on it a rate or a delay";
            return Err(Fault::new(format!("{path}.to"), message));
        }
        Ok(())
    }

    /// How long the ends take for a packet: as the connection says, else as long as the slowest
    /// line of the path.
    fn processing(&self, entry: &EntryPlan, forward: &[u32]) -> Time {
        let lines = forward.iter().map(|line| &self.lines[*line as usize]);
        let slowest = lines.filter_map(|line| Some((line.rate?, line))).min_by_key(|(rate, _)| *rate);
        let slowest = slowest
            .zip(entry.traffic.packet())
            .map(|((rate, line), packet)| rate.time_of_bits(8 * (packet.0 + u64::from(line.link_header))));
        let processing = if entry.transport.has_connection() { entry.connection.processing.or(slowest) } else { None };
        processing.unwrap_or(Time::ZERO)
    }

    /// The connection of `flow`, without its congestion control.
    fn connection(&self, flow: &Flow, transport: &Arc<TransportSettings>, path: &str) -> Result<Arc<Terms>, Fault> {
        if flow.connection.is_some() && !transport.has_connection() {
            let message = format!("{} has rules of its own and takes no connection settings", transport.name());
            return Err(Fault::new(format!("{path}.connection"), message));
        }
        let given = flow.connection.as_ref().or(self.scenario.defaults.connection.as_ref());
        let mut connection = given.cloned().unwrap_or_default();
        self.scenario.edition().complete(&mut connection, transport);
        if transport.needs_each_answer() && connection.acknowledge_every > 1 {
            let message =
                format!("{} goes by the gaps of answers to each packet; write acknowledge_every = 1", transport.name());
            return Err(Fault::new(format!("{path}.connection.acknowledge_every"), message));
        }
        match connection.fault().or_else(|| sense::fault(&connection)) {
            Some(fault) => Err(Fault::new(format!("{path}.connection"), fault)),
            None => Ok(Arc::new(Terms::new(connection, Arc::clone(transport)))),
        }
    }

    /// The transfers of `flow`, whose copies are those of `flows` from `first` on.
    pub(super) fn transfers(&self, flow: &Flow, first: usize, flows: &[FlowPlan]) -> Option<TransfersPlan> {
        let packet = flow.traffic.0.transfer_packet()?;
        let copy = flows.get(first)?;
        // The copies' paths differ in their access lines, which are alike.
        let ideal = Ideal::new(&self.lines, &copy.path, packet, copy.entry.acknowledgement);
        let (name, count) = (flow.name.clone(), (flows.len() - first) as u32);
        Some(TransfersPlan { name, first: first as u32, count, packet, ideal })
    }

    /// Checks that a line with classes on the path knows the class of the flow.
    fn check_class(&self, flow: &Flow, forward: &[u32], path: &str) -> Result<(), Fault> {
        let Some(class) = &flow.class else { return Ok(()) };
        let lines = forward.iter().map(|line| &self.lines[*line as usize]);
        let known = lines.filter_map(|line| Some((line, line.queue.classes()?)));
        let mut strange = None;
        for (line, classes) in known {
            if classes.contains(class) {
                return Ok(());
            }
            strange = strange.or(Some((line, classes)));
        }
        strange.map_or(Ok(()), |(line, classes)| {
            let near = near_miss(class, classes.iter().map(String::as_str));
            let message = format!("no class {class} in the queue of link {}{near}", line.name);
            Err(Fault::new(format!("{path}.class"), message))
        })
    }

    /// The number of hosts of the `count` copies of `flow`; `None` if each has its own.
    fn hosts_of(&self, flow: &Flow, count: u32, path: &str) -> Result<Option<u32>, Fault> {
        let Some(hosts) = flow.hosts else { return Ok(None) };
        let fault = |message: String| Err(Fault::new(format!("{path}.hosts"), message));
        let defaults = &self.scenario.defaults;
        let accesses = [&flow.access, &flow.sink_access, &defaults.access, &defaults.sink_access];
        if accesses.iter().all(|access| access.is_none()) {
            // With one host the node itself is that host.
            if hosts == 1 {
                return Ok(None);
            }
            let message =
                "without an access line its flows stand at the node itself; give it access = { rate = \"…\" }";
            return fault(message.to_string());
        }
        if hosts == 0 || !count.is_multiple_of(hosts) {
            return fault(format!(
                "{count} flows cannot stand on {hosts} hosts evenly; write a number that divides {count}"
            ));
        }
        Ok(Some(hosts))
    }
}

/// Checks that the traffic of `flow` is possible, and that `transport` can carry it.
fn check_traffic(flow: &Flow, transport: &TransportSettings, path: &str) -> Result<(), Fault> {
    let traffic = &flow.traffic.0;
    if let Some(fault) = traffic.fault() {
        return Err(Fault::new(format!("{path}.traffic"), fault));
    }
    if let (Release::AtStart(packets), true) = (traffic.release(), transport.sends_at_once())
        && packets.is_none_or(|packets| packets > PACKETS_AT_ONCE)
    {
        return Err(Fault::new(
            format!("{path}.transport"),
            "a file transfer without flow control sends all it has at once; write transport = \"generic\", or give \
             the ftp at most 1000000 packets",
        ));
    }
    if traffic.transfer_packet().is_some() && !transport.is_reliable() {
        let message = "a transfer is complete when all of it is acknowledged; write a transport that waits for that, \
                       like \"reno\"";
        return Err(Fault::new(format!("{path}.transport"), message));
    }
    match deadline_fault(flow.deadline, traffic) {
        Some(fault) => Err(Fault::new(format!("{path}.deadline"), fault)),
        None => Ok(()),
    }
}

/// Why `traffic` cannot have this deadline; `None` if it can.
fn deadline_fault(deadline: Option<Time>, traffic: &TrafficSettings) -> Option<&'static str> {
    match (deadline, traffic) {
        (Some(Time::ZERO), _) => Some("nothing arrives in no time; write a time above zero, as \"10 ms\""),
        (Some(_), traffic) if traffic.is_endless() => Some(
            "a file without end is never due; give the ftp a number of packets, or write traffic in packets or transfers",
        ),
        _ => None,
    }
}
