//! Queues of hosts: where they are, and their effect on connections.

use fairq_experiment::experiment::{Experiment, Options};
use fairq_sim::plan::Plan;

/// A scenario whose flows have the lines of `defaults`.
fn scenario(defaults: &str, flows: &[(&str, &str)]) -> String {
    let mut text = format!(
        "edition = 2\n[measure]\nduration = \"2 s\"\n[defaults]\nstart = \"0 s\"\n{defaults}\n[[links]]\nname = \"line\"\n\
         from = \"left\"\nto = \"right\"\nrate = \"20 Mbit/s\"\ndelay = \"9 ms\"\nbuffer = \"100 packets\"\n"
    );
    for (name, more) in flows {
        text.push_str(&format!("[[flows]]\nname = \"{name}\"\nfrom = \"left\"\nto = \"right\"\n{more}\n"));
    }
    text
}

fn experiment(text: &str) -> Experiment {
    Experiment::read(text, "a.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"))
}

fn plan(text: &str) -> Plan {
    experiment(text).plans()[0].1.clone()
}

/// Whether the connections of the flows of a scenario are paced.
fn paced(text: &str) -> Vec<bool> {
    plan(text).flows.iter().map(|flow| flow.entry.connection.pacing).collect()
}

/// A queue behind a host of 1 Gbit/s.
fn behind(queue: &str) -> String {
    format!("access = {{ rate = \"1 Gbit/s\", delay = \"1 ms\", host_queue = \"{queue}\" }}")
}

#[test]
fn a_host_queue_is_where_the_host_sends() {
    let lines = format!("{}\nsink_{}", behind("linux_fq"), behind("fq_codel"));
    let plan = plan(&scenario(&lines, &[("a", "traffic = \"ftp\"")]));
    let queues: Vec<(&str, bool, String)> = plan
        .lines
        .iter()
        .filter(|line| line.is_access)
        .map(|line| (&*line.name, line.is_reverse, line.queue.name()))
        .collect();
    let expected = [
        ("a.access", false, "linux_fq"),
        ("a.access", true, "fifo"),
        ("a.sink_access", false, "fifo"),
        ("a.sink_access", true, "fq_codel"),
    ];
    let expected: Vec<_> = expected.map(|(name, reverse, queue)| (name, reverse, queue.to_owned())).to_vec();
    assert_eq!(queues, expected);
}

#[test]
fn connections_behind_a_queue_that_paces_are_paced_if_nothing_else_is_said() {
    let flows = [
        ("plain", "traffic = \"ftp\""),
        ("law", "traffic = \"ftp\"\ntransport = \"reno\""),
        ("profile", "traffic = \"ftp\"\ntransport = \"dctcp\"\nconnection = \"linux\""),
        ("said", "traffic = \"ftp\"\nconnection = { profile = \"linux\", pacing = false }"),
        ("no connection", "traffic = \"poisson(rate=1Mbit/s)\""),
        ("own host", "traffic = \"ftp\"\naccess = { rate = \"1 Gbit/s\" }"),
    ];
    for (queue, expected) in [
        ("linux_fq", [true, true, true, false, false, false]),
        ("fq_pacing + port_pair", [true, true, true, false, false, false]),
        ("fq_codel", [false; 6]),
        ("fifo + 1000packets", [false; 6]),
    ] {
        assert_eq!(paced(&scenario(&behind(queue), &flows)), expected, "{queue}");
    }
}

#[test]
fn a_profile_for_all_is_no_fault_of_a_flow_without_a_connection() {
    let flows = [("a", "traffic = \"ftp\""), ("b", "traffic = \"poisson(rate=1Mbit/s)\"")];
    let plan = plan(&scenario("connection = \"linux\"", &flows));
    assert_eq!(plan.flows[0].entry.connection.initial_window, 10);
    assert!(!plan.flows[1].entry.transport.has_connection());
}

#[test]
fn pacing_keeps_the_first_window_out_of_the_bottleneck() {
    let most = |queue: &str| {
        let flow = ("a", "traffic = \"ftp(packets=10)\"\ntransport = \"cubic\"\nconnection = \"linux\"");
        let files = |_: &str| Err("no file is read here".to_string());
        let result = experiment(&scenario(&behind(queue), &[flow])).run(Options {
            workers: 1,
            files: &files,
            progress: &mut |_| true,
        });
        let result = result.unwrap_or_else(|stopped| panic!("{stopped:?}"));
        result["queues"][0]["waiting_packets_max"].as_f64().unwrap_or_else(|| panic!("{}", result["queues"][0]))
    };
    // Ten packets at once, at 1 Gbit/s, before a line of 20 Mbit/s. Otherwise two windows a round
    // trip of 20 ms, 1000 packets a second, where the line takes 1667: only the two that the pace
    // allows at once can meet.
    assert!(most("fifo + 1000packets") >= 9.0);
    assert!(most("linux_fq") <= 2.0);
}

#[test]
fn what_is_wrong_with_a_host_queue_is_told_with_its_place() {
    for (access, place, remedy) in [
        (behind("linux_fqq"), "defaults.access.host_queue", "did you mean linux_fq?"),
        (
            behind("linux_fq").replace("1 Gbit/s", "unlimited"),
            "defaults.access.host_queue",
            "give the access line a rate",
        ),
        (format!("sink_{}", behind("drr(quantum=-1B)")), "defaults.sink_access.host_queue", "quantum"),
        (behind("fq").replace("\"fq\"", "[\"fq\"]"), "defaults.access.host_queue", "not a list"),
    ] {
        let problem = Experiment::read(&scenario(&access, &[("a", "traffic = \"ftp\"")]), "a.toml", &[]);
        let problem = problem.err().unwrap_or_else(|| panic!("{access} is read")).to_string();
        assert!(problem.contains(place) && problem.contains(remedy), "{problem}");
    }
}
