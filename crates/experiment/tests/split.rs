//! A run in parts gives the same bytes as an undivided one, however many parts there are; so does
//! one in regions, and one in parts with regions.

use crate::networks;
use fairq_experiment::experiment::{Experiment, Options};
use fairq_experiment::results::Tables;
use fairq_sched::units::Time;
use fairq_sim::partition::Partition;
use fairq_sim::plan::Plan;
use fairq_sim::run::Simulation;
use fairq_sim::split;
use serde_json::Value;
use std::path::Path;

fn simulation(plan: &Plan, seed: u64, regions: Option<&Partition>) -> Simulation {
    Simulation::in_regions(plan, seed, &networks::file, regions).unwrap_or_else(|(_, fault)| panic!("{fault}"))
}

fn times(plan: &Plan) -> [Time; 2] {
    [plan.warm_up, plan.warm_up + plan.duration]
}

/// The tables of an undivided run of `plan`, and the number of packets sent on lines; `None` if
/// there are more events than `most`.
fn whole(plan: &Plan, seed: u64, most: u64) -> Option<(Tables, u64)> {
    let mut simulation = simulation(plan, seed, None);
    let mut events = 0;
    for end in times(plan) {
        while simulation.step(end) {
            events += 1;
            if events == most {
                return None;
            }
        }
        simulation.run_until(end);
        if end == plan.warm_up {
            simulation.clear_counts();
        }
    }
    simulation.settle();
    Some((Tables::of(plan, &simulation), simulation.network.packet_hops))
}

/// The same in the parts of `partition`, each in `regions` if given.
fn in_parts(plan: &Plan, seed: u64, partition: &Partition, regions: Option<&Partition>) -> (Tables, u64) {
    let build = || Ok::<_, ()>(simulation(plan, seed, regions));
    let simulation =
        split::run(partition, &build, times(plan), &|_, _| true).expect("it was built").expect("it went on");
    (Tables::of(plan, &simulation), simulation.network.packet_hops)
}

/// The same in `regions`, stopped and continued `stops` times in the middle of turns.
fn in_regions(plan: &Plan, seed: u64, regions: &Partition, stops: u64) -> (Tables, u64) {
    let mut simulation = simulation(plan, seed, Some(regions));
    for end in times(plan) {
        let begin = simulation.now();
        for stop in 1..=stops {
            simulation.run_until(begin + Time((end - begin).0 / (stops + 1) * stop));
            assert!(simulation.conserves_packets(), "a packet is in no line");
        }
        simulation.run_until(end);
        if end == plan.warm_up {
            simulation.clear_counts();
        }
    }
    simulation.settle();
    (Tables::of(plan, &simulation), simulation.network.packet_hops)
}

/// The first difference of two results.
fn first_difference((expected, hops): &(Tables, u64), (found, hops_found): &(Tables, u64)) -> String {
    let lines = |tables: &Tables| format!("{tables:#?}").lines().map(str::to_owned).collect::<Vec<_>>();
    let (expected, found) = (lines(expected), lines(found));
    let at = expected.iter().zip(&found).position(|(a, b)| a != b).unwrap_or(expected.len().min(found.len()));
    let around = |lines: &[String]| lines[at.saturating_sub(30)..lines.len().min(at + 3)].join("\n");
    format!("{hops} hops, {hops_found} in parts; whole:\n{}\nin parts:\n{}", around(&expected), around(&found))
}

#[test]
fn drawn_worlds_are_the_same_in_parts() {
    let (mut divided, mut crossed) = (0, 0);
    for seed in 2000..2100 {
        let text = networks::world(seed);
        let Ok(experiment) = Experiment::read_with(&text, "drawn.json", &[], &networks::file) else { continue };
        let plan = &experiment.plans()[0].1;
        if !plan.sessions.is_empty() {
            continue;
        }
        for parts in 2..4 {
            let Some((_, partition)) = Partition::best(plan, parts) else { continue };
            let Some(expected) = whole(plan, seed, 300_000) else { continue };
            divided += 1;
            let leads_out = |flow: &fairq_sim::plan::FlowPlan| {
                flow.path.forward().iter().chain(flow.path.backward()).any(|line| partition.is_cut(*line as usize))
            };
            crossed += usize::from(plan.flows.iter().any(leads_out));
            let finer = Partition::best(plan, 2 * parts).map_or_else(|| partition.clone(), |(_, finer)| finer);
            let ways = [
                ("parts", in_parts(plan, seed, &partition, None)),
                ("regions", in_regions(plan, seed, &partition, 0)),
                ("regions and stops", in_regions(plan, seed, &finer, 7)),
                ("parts in regions", in_parts(plan, seed, &partition, Some(&finer))),
            ];
            for (way, found) in ways {
                // Compared as text, in which NaN equals itself.
                assert!(
                    format!("{found:?}") == format!("{expected:?}"),
                    "test network {seed} in {parts} {way}: {}\n{text}",
                    first_difference(&expected, &found)
                );
            }
        }
    }
    println!("{divided} divisions, in {crossed} of them packets leave a part");
    assert!(divided > 40 && crossed > 30, "{divided} divisions, {crossed} with packets that leave");
}

/// Networks that are worth dividing: three levels, a fat tree with transfers, a dumbbell whose
/// delay is long.
const NETWORKS: [&str; 3] = [
    "edition = 1\n[topology]\nkind = \"tiers\"\n[measure]\nduration = \"3 s\"\nwarm_up = \"1 s\"\n[defaults]\nqueue = \"fq+longest_queue_drop\"\n\
     buffer = \"50 packets\"\n[[flows]]\nname = \"a\"\nfrom = \"lan1.1\"\nto = \"lan4.2\"\ntraffic = \"ftp\"\ntransport = \"reno\"\ncount = 20\n\
     [[flows]]\nname = \"b\"\nfrom = \"lan9.3\"\nto = \"lan2.2\"\ntraffic = \"ftp\"\ntransport = \"cubic\"\ncount = 20\n",
    "edition = 1\n[topology]\nkind = \"fat_tree\"\nk = 4\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n[measure]\nduration = \"2 s\"\n\
     [[flows]]\nname = \"a\"\nfrom = \"h1\"\nto = \"h16\"\ncount = 40\n\
     traffic = \"flow_arrivals(rate=30 Mbit/s, size=exponential(mean=200 kB))\"\n\
     [[flows]]\nname = \"b\"\nfrom = \"h9\"\nto = \"h3\"\ntraffic = \"ftp\"\ntransport = \"dctcp\"\n",
    "edition = 1\n[measure]\nduration = \"2 s\"\n[[links]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nrate = \"500 Mbit/s\"\ndelay = \"20 ms\"\n\
     queue = \"fq_codel\"\nbuffer = \"1000 packets\"\n[defaults]\naccess = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n\
     sink_access = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n\
     [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\ntransport = \"cubic\"\ncount = 30\n",
];

#[test]
fn workers_share_one_run() {
    for text in NETWORKS {
        let experiment =
            Experiment::read(text, "network.toml", &[]).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        let run = |workers| {
            let options = Options { workers, files: &networks::file, progress: &mut |_| true };
            let mut result = experiment.run(options).unwrap_or_else(|_| panic!("it is not stopped"));
            let info = result.as_object_mut().and_then(|result| result.shift_remove("run_info")).unwrap_or_default();
            (result.to_string(), info)
        };
        let (first, _) = run(1);
        for workers in [2, 3] {
            let (same, info) = run(workers);
            assert!(same == first, "{workers} workers change the result of\n{text}");
            assert_eq!(info["parts"], Value::from(workers), "{info} of\n{text}");
        }
    }
}

/// Of equal queues the one with the lowest slot loses, and slots are given in the order in which
/// packets are shown. So a packet that may bypass a discipline must bypass it in every division of
/// the run.
#[test]
fn ties_between_flows_do_not_hang_on_the_division() {
    use std::fmt::Write as _;
    let mut text = "edition = 1\n[topology]\nkind = \"tiers\"\n[measure]\nduration = \"4 s\"\n[defaults]\nbuffer = \"40 packets\"\n\
        queue = \"wfq + longest_queue_drop + port_pair\"\ntransport = \"reno\"\nconnection = { processing = \"0 s\" }\n"
        .to_owned();
    let mut state = 1;
    let mut lan = || {
        state = fairq_sched::hash::splitmix(state);
        format!("lan{}.{}", 1 + state % 20, 1 + state / 20 % 9)
    };
    for flow in 0..1600 {
        let (from, to) = (lan(), lan());
        if from != to {
            let _ = write!(text, "[[flows]]\nname = \"{flow}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntraffic = \"ftp\"\n");
        }
    }
    let experiment = Experiment::read(&text, "ties.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let plan = &experiment.plans()[0].1;
    let expected = whole(plan, 1, u64::MAX).expect("it comes to its end");
    let regions = Partition::regions(plan).expect("many flows on many lines");
    let parts = |parts| Partition::best(plan, parts).expect("it can be divided").1;
    let ways = [
        ("4 parts", in_parts(plan, 1, &parts(4), None)),
        ("16 parts", in_parts(plan, 1, &parts(16), None)),
        ("regions", in_regions(plan, 1, &regions, 9)),
        ("3 parts in regions", in_parts(plan, 1, &parts(3), Some(&regions))),
    ];
    for (way, found) in ways {
        assert!(format!("{found:?}") == format!("{expected:?}"), "{way}: {}", first_difference(&expected, &found));
    }
}

#[test]
fn one_bottleneck_and_a_small_network_have_no_regions() {
    let many_flows = NETWORKS[2].replace("count = 30", "count = 1000");
    let few_flows = NETWORKS[0].replace("count = 20", "count = 5");
    for text in [many_flows, few_flows] {
        let experiment = Experiment::read(&text, "whole.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(Partition::regions(&experiment.plans()[0].1).is_none(), "{text}");
    }
}

/// Of two ends in two regions one may be a lookahead ahead of the other: the timer of one must not
/// wake the other.
#[test]
fn each_end_of_a_connection_has_a_timer_of_its_own_in_regions() {
    let text = "edition = 1\n[measure]\nduration = \"20 s\"\n\
        [[links]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"60 ms\"\n\
        [defaults]\ntransport = \"newreno\"\naccess = { rate = \"10 Mbit/s\", delay = \"1 ms\" }\n\
        connection = { acknowledge_every = 2, acknowledgement_delay = \"150 ms\" }\n\
        [[flows]]\nname = \"there\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"poisson(rate=40 kbit/s)\"\ncount = 10\n\
        [[flows]]\nname = \"back\"\nfrom = \"b\"\nto = \"a\"\ntraffic = \"poisson(rate=40 kbit/s)\"\ncount = 10\n";
    let experiment = Experiment::read(text, "timers.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let plan = &experiment.plans()[0].1;
    let expected = whole(plan, 1, u64::MAX).expect("it comes to its end");
    let (_, regions) = Partition::best(plan, 2).expect("it can be divided");
    let found = in_regions(plan, 1, &regions, 0);
    assert!(format!("{found:?}") == format!("{expected:?}"), "{}", first_difference(&expected, &found));
}

#[test]
fn a_run_that_cannot_be_divided_says_why() {
    let flow = "[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n";
    let link = "edition = 1\n[measure]\nduration = \"1 s\"\n[[links]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n";
    for (delay, why) in [("0 s", "no line with a delay"), ("1 ms", "too little happens")] {
        let text = format!("{link}delay = \"{delay}\"\n{flow}");
        let experiment = Experiment::read(&text, "small.toml", &[]).expect("it is right");
        let options = Options { workers: 4, files: &networks::file, progress: &mut |_| true };
        let info = experiment.run(options).expect("it is not stopped")["run_info"].clone();
        assert_eq!(info["parts"], 1);
        assert!(info["whole"].as_str().is_some_and(|told| told.contains(why)), "{info}");
    }
}

#[test]
fn a_run_in_parts_is_stopped_by_the_progress() {
    let text = NETWORKS[2].replace("2 s", "100000 s");
    let experiment = Experiment::read(&text, "long.toml", &[]).expect("it is right");
    let options = Options { workers: 2, files: &networks::file, progress: &mut |_| false };
    assert!(experiment.run(options).is_err());
}

#[test]
fn a_file_that_is_not_there_is_told_of_once_by_a_run_in_parts() {
    let more = "[[flows]]\nname = \"g\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"csv(file=nothing.csv)\"\n";
    let text = format!("{}{more}", NETWORKS[2]);
    let experiment = Experiment::read(&text, "file.toml", &[]).expect("it is right");
    let files = |name: &str| Err(format!("{} cannot be read", Path::new(name).display()));
    let Err(stopped) = experiment.run(Options { workers: 2, files: &files, progress: &mut |_| true }) else {
        panic!("there is no file")
    };
    assert!(format!("{stopped:?}").contains("nothing.csv cannot be read"), "{stopped:?}");
}
