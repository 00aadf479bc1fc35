//! What happens soon is fetched into the caches while other things happen. In a network of thousands of lines and connections
//! that which comes next is in none of them, and one thing says where the next one is: the line its first flight, that the
//! packet and its next line or its connection. Each is fetched some events after the one before it. No result hangs on it.

use super::Simulation;
use crate::net::path::HOST;
use fairq_sched::prefetch;

/// With fewer lines most of what is needed stays in the caches.
const LINES_MIN: usize = 1000;

/// So many spans of the event set before an event comes; most spans have one.
const LINE: u64 = 20;
const FLIGHT: u64 = 15;
const PACKET: u64 = 10;
const GOAL: u64 = 6;
const ENDS: u64 = 3;
/// After a longer leap some are not looked at.
const LEAP: u64 = 4;

impl Simulation {
    /// Whether it pays to look ahead.
    pub(super) const fn is_wide(lines: usize) -> bool {
        lines >= LINES_MIN
    }

    /// Fetches what the events need that come some spans after the one at hand.
    #[inline]
    pub(super) fn look_ahead(&mut self) {
        let span = self.events.span();
        let passed = span.saturating_sub(self.looked_from);
        self.looked_from = span;
        for span in span - passed.min(LEAP)..span {
            self.fetch_after(span);
        }
    }

    /// Fetches what is needed so many spans after `span`.
    fn fetch_after(&self, span: u64) {
        let network = &self.network;
        let line = |ahead| {
            let component = self.events.first_of(span + ahead).filter(|component| *component < self.emissions);
            component.map(|line| &network.lines[line as usize])
        };
        let flight = |ahead| line(ahead).and_then(|line| line.flights.front());
        if let Some(line) = line(LINE) {
            prefetch::fetch_all(line, 1);
        }
        if let Some(line) = line(FLIGHT) {
            line.fetch_flight();
        }
        if let Some(flight) = flight(PACKET) {
            network.arena.fetch(flight.token.id());
            match network.lines.get(flight.token.next() as usize) {
                Some(next) => next.fetch(),
                None => self.fetch_connection(flight.token.next() & !HOST),
            }
        }
        if let Some(flight) = flight(ENDS).filter(|flight| flight.token.next() >= HOST) {
            self.fetch_ends(flight.token.next() & !HOST);
        }
        if let Some(host) = self.host(self.events.first_of(span + GOAL)) {
            self.fetch_connection(host);
        }
        if let Some(host) = self.host(self.events.first_of(span + ENDS)) {
            self.fetch_ends(host);
        }
    }

    /// The flow of a host that is done with an acknowledgement.
    fn host(&self, component: Option<u32>) -> Option<u32> {
        component?.checked_sub(self.hosts).filter(|flow| *flow < self.components.ends - self.hosts)
    }

    fn fetch_connection(&self, flow: u32) {
        if let Some(connection) = self.connections.get(flow as usize) {
            prefetch::fetch_all(connection, 2);
            self.network.fetch_way(flow);
        }
    }

    fn fetch_ends(&self, flow: u32) {
        if let Some(connection) = self.connections.get(flow as usize) {
            prefetch::fetch_all(&*connection.sender, 5);
            prefetch::fetch_all(&*connection.receiver, 1);
            if let Some(counts) = &connection.counts {
                prefetch::fetch_all(&**counts, 2);
            }
            self.network.fetch_first(flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use fairq_sched::units::Time;

    const SCENARIO: &str = r#"
        [measure]
        duration = "400 ms"
        [defaults]
        transport = "cubic"
        access = { rate = "200 Mbit/s", delay = "1 ms" }
        sink_access = { rate = "200 Mbit/s", delay = "1 ms" }
        [[links]]
        name = "line"
        from = "a"
        to = "b"
        rate = "100 Mbit/s"
        delay = "3 ms"
        queue = "fq_codel"
        buffer = "60 packets"
        [[flows]]
        name = "flow"
        from = "a"
        to = "b"
        traffic = "ftp"
        count = 50
    "#;

    fn counts(looks_ahead: bool) -> String {
        let experiment = Experiment::read(SCENARIO, "ahead.toml", &[]).unwrap();
        let files = |name: &str| Err(name.to_owned());
        let mut simulation = Simulation::new(&experiment.plans()[0].1, 1, &files).unwrap();
        simulation.looks_ahead = looks_ahead;
        simulation.run_until(Time::from_ms(400));
        simulation.settle();
        assert_eq!(simulation.looked_from > 0, looks_ahead);
        format!("{:?}", simulation.flow_counts().collect::<Vec<_>>())
    }

    #[test]
    fn nothing_hangs_on_it() {
        assert_eq!(counts(true), counts(false));
    }
}
