//! Each fast path has a network here that takes it: without one, the comparisons of fast paths with
//! the ordinary ones could compare the ordinary ones with themselves.
//!
//! A program of its own: paths are counted by process.

use fairq_experiment::experiment::Experiment;
use fairq_sched::fast_path::FastPath;
use fairq_sched::units::Time;
use fairq_sim::partition::Partition;
use fairq_sim::plan::Plan;
use fairq_sim::run::Simulation;

/// A network that takes a path: `count` flows over a line of `delay` with `queue`, to sinks behind
/// lines of the rate `sink`, in this number of regions.
#[derive(Debug)]
struct Row {
    takes: FastPath,
    queue: &'static str,
    delay: &'static str,
    sink: &'static str,
    count: u32,
    regions: usize,
}

/// One flow over a line of 1 ms with drr.
const ONE: Row = Row { takes: FastPath::Bypass, queue: "drr", delay: "1 ms", sink: "10 Mbit/s", count: 1, regions: 1 };

const NETWORKS: [Row; 11] = [
    Row { takes: FastPath::Bypass, count: 3, ..ONE },
    Row { takes: FastPath::Replay, queue: "fq", count: 3, ..ONE },
    Row { takes: FastPath::ComputedFifo, queue: "fifo", count: 3, ..ONE },
    // No shortcut leads over a line without a rate.
    Row { takes: FastPath::ArrivalAtEnd, queue: "fifo", delay: "0 s", sink: "unlimited", count: 3, ..ONE },
    // The line takes all its packets from the access line of the flow.
    Row { takes: FastPath::Shortcut, ..ONE },
    Row { takes: FastPath::SilentEnd, count: 3, ..ONE },
    Row { takes: FastPath::NextPacket, ..ONE },
    Row { takes: FastPath::NextAcknowledgement, ..ONE },
    // Four access lines a flow: a thousand lines are a large network.
    Row { takes: FastPath::Prefetch, count: 250, ..ONE },
    Row { takes: FastPath::Regions, count: 3, regions: 2, ..ONE },
    // A packet that crosses between regions takes no shortcut; those within a region do.
    Row { takes: FastPath::Shortcut, count: 1, regions: 2, ..ONE },
];

fn text(row: &Row) -> String {
    format!(
        "edition = 1\n[measure]\nduration = \"500 ms\"\n\
         [defaults]\ntransport = \"reno\"\nbuffer = \"20 packets\"\nstart = \"0 s\"\n\
         access = {{ rate = \"10 Mbit/s\", delay = \"1 ms\" }}\nsink_access = {{ rate = \"{}\", delay = \"1 ms\" }}\n\
         [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"4 Mbit/s\"\ndelay = \"{}\"\nqueue = \"{}\"\n\
         [[flows]]\nname = \"flow\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\ncount = {}\n",
        row.sink, row.delay, row.queue, row.count
    )
}

fn plan(row: &Row) -> Plan {
    let text = text(row);
    let experiment = Experiment::read(&text, "fast_paths.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    experiment.plans()[0].1.clone()
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "fast paths are counted where debug assertions are on")]
fn each_fast_path_is_taken_by_its_networks() {
    for path in FastPath::ALL {
        assert!(NETWORKS.iter().any(|row| row.takes == path), "no network takes {path:?}");
    }
    let takes = |row: &Row| {
        let plan = plan(row);
        let divided = || Partition::best(&plan, row.regions).expect("it can be divided").1;
        let partition = (row.regions > 1).then(divided);
        let files = |name: &str| Err(name.to_owned());
        let mut simulation = Simulation::in_regions(&plan, 1, &files, partition.as_ref()).expect("it reads no file");
        row.takes.taken();
        simulation.run_until(Time::from_ms(500));
        row.takes.taken() > 0
    };
    let missed: Vec<_> = NETWORKS.iter().filter(|row| !takes(row)).collect();
    assert!(missed.is_empty(), "these paths are not taken: {missed:?}");
}
