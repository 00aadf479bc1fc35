//! Prefetch: the state that events need soon is loaded into the caches while earlier events run.
//!
//! In a network of thousands of lines and connections the next event's state is in no cache, and
//! its addresses form a chain: the line names its first flight, the flight names the packet and its
//! next line or connection. Each step of the chain is prefetched some events after the one before
//! it. No result depends on it.

use super::{Connection, Simulation};
use crate::net::line::Line;
use crate::net::path::HOST;
use crate::segment::{Direction, Token};
use fairq_sched::fast_path::{FastPath, take};
use fairq_sched::prefetch;

/// The least number of lines. With fewer, most of the state stays in the caches.
const LINES_MIN: usize = 1000;

/// How many spans of the event set ahead events are looked for; most spans have one or two events.
const SPANS: u64 = 20;
/// The most spans that are searched after one step of time; the others of a longer step are
/// skipped.
const LEAP: u64 = 4;

/// The number of events between the discovery of an event and each step of its prefetch.
const FLIGHT: usize = 4;
const PACKET: usize = 9;
const ENDS: usize = 13;
const WITHIN: usize = 16;
/// The number of discovered events that are kept; a power of two.
const KNOWN: usize = 32;

/// An event that is due soon.
#[derive(Clone, Copy, Default)]
enum Coming {
    #[default]
    Nothing,
    /// The first flight of a line arrives.
    Flight(u32),
    /// A packet arrives.
    Packet(Token),
    /// The host of a flow has processed an acknowledgement.
    Host(u32),
}

/// The events that were found ahead.
#[derive(Default)]
pub(super) struct Prefetcher {
    /// The span of time up to which events were looked for.
    span: u64,
    /// The number of events found so far; the last of them are in `known`.
    found: usize,
    known: [Coming; KNOWN],
}

impl Prefetcher {
    /// The event found `events` events ago.
    #[inline]
    fn before(&mut self, events: usize) -> &mut Coming {
        &mut self.known[self.found.wrapping_sub(events) % KNOWN]
    }
}

impl Simulation {
    /// Whether a network of this many lines is large enough for prefetch to pay off.
    pub(super) const fn is_wide(lines: usize) -> bool {
        lines >= LINES_MIN
    }

    /// Prefetches for the events that are due some spans after the present one.
    #[inline]
    pub(super) fn prefetch_soon(&mut self) {
        let span = self.events.span();
        let passed = span.saturating_sub(self.prefetcher.span);
        self.prefetcher.span = span;
        for span in span - passed.min(LEAP)..span {
            let mut next = self.events.first_of(span + SPANS);
            while let Some(component) = next {
                next = self.events.after(component);
                if component < self.emissions {
                    self.fetch_for(Coming::Flight(component));
                } else if let Some(flow) = self.host(component) {
                    self.fetch_for(Coming::Host(flow));
                }
            }
        }
    }

    /// Notes a found event. Prefetches the first step for it, and the next steps for those found
    /// before it.
    fn fetch_for(&mut self, coming: Coming) {
        take(FastPath::Prefetch);
        self.prefetcher.found = self.prefetcher.found.wrapping_add(1);
        *self.prefetcher.before(0) = coming;
        if let Coming::Flight(line) = coming {
            prefetch::fetch_all(&self.network.lines[line as usize], 1);
        }
        if let Coming::Flight(line) = *self.prefetcher.before(FLIGHT) {
            self.network.lines[line as usize].fetch_flight();
        }
        let known = self.prefetcher.before(PACKET);
        match *known {
            Coming::Flight(line) => {
                *known = Coming::Nothing;
                if let Some(flight) = self.network.lines[line as usize].flights.front() {
                    let token = flight.token;
                    *known = Coming::Packet(token);
                    self.network.arena.fetch(token.id());
                    match self.network.lines.get(token.next() as usize) {
                        Some(next) => next.fetch(),
                        None => self.fetch_connection(token.next() & !HOST),
                    }
                }
            }
            Coming::Host(flow) => self.fetch_connection(flow),
            _ => {}
        }
        if let Some((direction, flow)) = self.at_end(ENDS) {
            self.fetch_end(direction, flow);
        }
        if let Some((direction, flow)) = self.at_end(WITHIN) {
            self.fetch_within(direction, flow);
        }
    }

    /// For the event found `events` events ago, if it is a packet at the end of its path or a
    /// host's: the direction and flow of the packet.
    fn at_end(&mut self, events: usize) -> Option<(Direction, u32)> {
        match *self.prefetcher.before(events) {
            Coming::Packet(token) if token.next() >= HOST => {
                Some((self.network.arena[token.id()].direction, token.next() & !HOST))
            }
            Coming::Host(flow) => Some((Direction::Backward, flow)),
            _ => None,
        }
    }

    /// The flow of `component`, if that is a host's.
    fn host(&self, component: u32) -> Option<u32> {
        component.checked_sub(self.hosts).filter(|flow| *flow < self.components.ends - self.hosts)
    }

    fn fetch_connection(&self, flow: u32) {
        if let Some(connection) = self.connections.get(flow as usize) {
            prefetch::fetch_all(connection, 2);
            self.network.fetch_way(flow);
        }
    }

    /// Prefetches the state for a packet at the end of its path, and for the packet that it
    /// triggers.
    fn fetch_end(&self, direction: Direction, flow: u32) {
        let Some(connection) = self.connections.get(flow as usize) else { return };
        let answers = match direction {
            Direction::Forward => {
                prefetch::fetch_all(&*connection.receiver, 1);
                Direction::Backward
            }
            Direction::Backward => {
                prefetch::fetch_all(&*connection.sender, 5);
                Direction::Forward
            }
        };
        connection.fetch_counts();
        self.network.first_lines(flow, answers).for_each(Line::fetch);
    }

    /// Prefetches what the state of `fetch_end` points to.
    fn fetch_within(&self, direction: Direction, flow: u32) {
        let Some(connection) = self.connections.get(flow as usize) else { return };
        let answers = match direction {
            Direction::Forward => Direction::Backward,
            Direction::Backward => {
                connection.sender.fetch();
                Direction::Forward
            }
        };
        self.network.first_lines(flow, answers).for_each(Line::fetch_last);
    }
}

impl Connection {
    fn fetch_counts(&self) {
        if let Some(counts) = &self.counts {
            prefetch::fetch_all(&**counts, 3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::path::{self, Path};
    use crate::net::route;
    use crate::plan::{EntryPlan, FlowPlan, LinePlan, Plan};
    use crate::traffic::ftp;
    use crate::traffic::registry::TrafficSettings;
    use crate::transport::congestion::cubic;
    use crate::transport::registry::TransportSettings;
    use crate::transport::tcp::settings::{Connection, Terms};
    use fairq_link::impairment::Impairment;
    use fairq_sched::contract::Role;
    use fairq_sched::queue::Queue;
    use fairq_sched::registry::DesignSettings;
    use fairq_sched::units::{Limit, Rate, Time, Weight};
    use std::sync::Arc;

    /// A link from node `from` to node `to`, there and back.
    fn link(name: &str, (from, to): (u32, u32), mbit_per_s: u64, delay: Time, queue: &Arc<Queue>) -> [LinePlan; 2] {
        [(from, to, false), (to, from, true)].map(|(from, to, is_reverse)| LinePlan {
            name: name.into(),
            is_reverse,
            is_access: false,
            rate: Rate::new(mbit_per_s * 1_000_000),
            course: None,
            delay,
            impairment: Impairment::default(),
            queue: Arc::clone(queue),
            names_limit: true,
            ring: 0,
            queue_said: name.into(),
            link_header: 0,
            role: Role::Both,
            pool: None,
            ends: route::Ends { from, to },
            weight: Weight::ONE,
        })
    }

    /// Fifty files over one line, each from a host of its own to another.
    fn plan() -> Plan {
        let design = DesignSettings::by_name("fq_codel").unwrap();
        let middle = Arc::new(Queue::of_design(design, Some(Limit::Packets(60))));
        let access = Arc::new(Queue::unlimited_fifo());
        let mut lines = Vec::from(link("line", (0, 1), 100, Time::from_ms(3), &middle));
        let transport = Arc::new(TransportSettings::Cubic(cubic::Settings::default()));
        let entry = Arc::new(EntryPlan {
            number: 0,
            nodes: ["a".into(), "b".into()],
            traffic: TrafficSettings::Ftp(ftp::Settings::default()),
            connection: Arc::new(Terms::new(Connection::default(), Arc::clone(&transport))),
            transport,
            start: None,
            start_within: Time::from_s(1),
            stop: None,
            weight: Weight::ONE,
            class: None,
            deadline: None,
            acknowledgement: 40,
        });
        let mut flows = Vec::new();
        for number in 0..50 {
            let (source, sink) = (2 * number + 2, 2 * number + 3);
            let first = lines.len() as u32;
            lines.extend(link("access", (source, 0), 200, Time::from_ms(1), &access));
            lines.extend(link("access", (1, sink), 200, Time::from_ms(1), &access));
            let ends = path::Ends { from: source, to: sink, port: 1, tos: 0 };
            flows.push(FlowPlan {
                name: format!("flow.{number}").into(),
                path: Path::new(&[first, 0, first + 2], &[first + 3, 1, first + 1], ends),
                processing: Time::ZERO,
                tells_remaining: false,
                entry: Arc::clone(&entry),
            });
        }
        Plan {
            nodes: Vec::new(),
            lines,
            flows,
            transfers: Vec::new(),
            sessions: Vec::new(),
            pools: Vec::new(),
            warm_up: Time::ZERO,
            duration: Time::from_ms(400),
            counts_lost: false,
            changes: Vec::new(),
            is_held: Vec::new(),
            of_topology: Vec::new(),
        }
    }

    fn counts(prefetches: bool) -> String {
        let files = |name: &str| Err(name.to_owned());
        let mut simulation = Simulation::new(&plan(), 1, &files).unwrap();
        simulation.network.prefetches = prefetches;
        simulation.run_until(Time::from_ms(400));
        simulation.settle();
        assert_eq!(simulation.prefetcher.span > 0, prefetches);
        format!("{:?}", simulation.flow_counts().collect::<Vec<_>>())
    }

    #[test]
    fn nothing_hangs_on_it() {
        assert_eq!(counts(true), counts(false));
    }
}
