//! The memory that runs need, estimated before their networks are built.
//!
//! The numbers are those of flows of `cubic` over access lines, measured with 100,000 flows
//! (`python/tests/test_memory.py` compares both). A flow that has sent much needs more: what waits
//! in
//! buffers, and segments that are not acknowledged, are not counted.

use crate::scenario::Scenario;

/// Bytes of a flow in a network that is built, and of an access line.
const BUILT: [u64; 2] = [260, 560];
/// Bytes of a flow in a run, and of an access line.
const RUNS: [u64; 2] = [2_800, 1_900];
/// Bytes of a flow in the tables of a run, and of a run's other rows.
const ROWS: [u64; 2] = [700, 10_000];

/// What takes memory in a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The flows, copies counted.
    pub flows: u64,
    /// The access lines of their ends.
    pub accesses: u64,
}

impl Size {
    /// Of a scenario, by what is written: nothing is built.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let defaults = &scenario.defaults;
        let mut size = Self::default();
        for flow in &scenario.flows {
            let copies = u64::from(flow.count.unwrap_or(1));
            let ends = [(&flow.access, &defaults.access), (&flow.sink_access, &defaults.sink_access)];
            let ends = ends.into_iter().filter(|(own, default)| own.is_some() || default.is_some()).count() as u64;
            size.flows = size.flows.saturating_add(copies);
            size.accesses += ends.saturating_mul(flow.hosts.map_or(copies, u64::from).min(copies));
        }
        size
    }

    const fn bytes(self, [flow, access]: [u64; 2]) -> u64 {
        self.flows.saturating_mul(flow).saturating_add(self.accesses.saturating_mul(access))
    }
}

/// The memory that all points of an experiment need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    built: u64,
    largest_run: u64,
    rows: u64,
}

impl Need {
    /// Adds `points` points of this size, each with `replications` runs.
    pub fn add(&mut self, size: Size, points: u64, replications: u64) {
        self.built = self.built.saturating_add(size.bytes(BUILT).saturating_mul(points));
        self.largest_run = self.largest_run.max(size.bytes(RUNS));
        let rows = size.flows.saturating_mul(ROWS[0]).saturating_add(ROWS[1]);
        self.rows = self.rows.saturating_add(rows.saturating_mul(points).saturating_mul(replications));
    }

    /// The bytes of all networks, of `workers` runs at a time, and of the tables of all runs.
    #[must_use]
    pub const fn bytes(&self, workers: u64) -> u64 {
        let runs = self.largest_run.saturating_mul(workers);
        self.built.saturating_add(runs).saturating_add(self.rows)
    }
}

/// Bytes for a person, as `18.8 GB`.
#[must_use]
pub fn shown(bytes: u64) -> String {
    let (size, unit) = if bytes < 1_000_000_000 { (1e6, "MB") } else { (1e9, "GB") };
    let number = bytes as f64 / size;
    if number < 100.0 { format!("{number:.1} {unit}") } else { format!("{number:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::scenario::read::Document;

    const MANY: &str = r#"
        edition = 2
        [measure]
        duration = "1 s"
        [[links]]
        name = "l"
        from = "a"
        to = "b"
        rate = "10 Mbit/s"
        delay = "1 ms"
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        traffic = "ftp"
        count = 1000000
        access = { rate = "1 Mbit/s" }
        [[axes]]
        name = "rate"
        path = "links.l.rate"
        values = ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"]
    "#;

    #[test]
    fn what_needs_more_than_there_is_is_refused_before_it_is_built() {
        let mut document = Document::parse(MANY, "many.toml").unwrap();
        document.bound_memory(Some(8_000_000_000));
        let problem = Experiment::of(document, &|name| Err(name.to_owned())).map(drop).unwrap_err().to_string();
        let said = "flows: about 1000000 flows at 3 points need about 9.3 GB of memory, and 8.0 GB are there";
        assert!(problem.contains(said), "{problem}");
    }

    #[test]
    fn a_host_has_one_access_line_for_all_its_flows() {
        let text = MANY.replace("count = 1000000", "count = 1000\nhosts = 10");
        let (scenario, _) = Document::parse(&text, "").unwrap().scenario().unwrap();
        assert_eq!(Size::of(&scenario), Size { flows: 1000, accesses: 10 });
        assert_eq!([shown(18_750_000_000), shown(187_000_000_000), shown(2_500_000)], ["18.8 GB", "187 GB", "2.5 MB"]);
    }
}
