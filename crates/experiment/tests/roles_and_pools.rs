//! Settings of nodes: roles under disciplines that label packets, and buffers that lines share.

use crate::running::run;
use fairq_experiment::experiment::Experiment;
use fairq_sched::fluid::max_min;
use serde_json::Value;

/// A column of a table, row by row.
fn column(result: &Value, table: &str, column: &str) -> Vec<f64> {
    let rows = result[table].as_array().expect("a table");
    rows.iter().map(|row| row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row}"))).collect()
}

/// Two edges, two cores in a row, five floods; one queue for the edges and one for the cores.
fn island(edge: &str, core: &str) -> Value {
    let mut text = String::from(
        "edition = 1\n[measure]\nwarm_up = \"5 s\"\nduration = \"25 s\"\n[defaults]\nbuffer = \"64 packets\"\n",
    );
    for (name, role) in [("e1", "edge"), ("e2", "edge"), ("c1", "core"), ("c2", "core")] {
        text.push_str(&format!("[[nodes]]\nname = \"{name}\"\nrole = \"{role}\"\n"));
    }
    for (from, to, rate, queue) in
        [("e1", "c1", 100, edge), ("e2", "c2", 100, edge), ("c1", "c2", 6, core), ("c2", "x", 5, core)]
    {
        text.push_str(&format!(
            "[[links]]\nname = \"{from}{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\n\
             delay = \"1 ms\"\nqueue = \"{queue}\"\n"
        ));
    }
    for (at, (from, to, rate)) in FLOODS.iter().enumerate() {
        text.push_str(&format!(
            "[[flows]]\nname = \"{at}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             traffic = \"constant_rate(rate={rate}Mbit/s, packet=1000B)\"\naccess = {{ rate = \"100 Mbit/s\" }}\n"
        ));
    }
    run(&text)
}

/// Source, destination, and rate in Mbit/s.
const FLOODS: [(&str, &str, u32); 5] =
    [("e1", "x", 2), ("e1", "x", 4), ("e1", "c2", 3), ("e1", "c2", 6), ("e2", "x", 4)];

/// The relative distance of each flood from its max-min share over both bottlenecks.
fn distances(result: &Value) -> Vec<f64> {
    let links = |to: &str, from: &str| match (from, to) {
        ("e2", _) => vec![1],
        (_, "c2") => vec![0],
        _ => vec![0, 1],
    };
    let flows = FLOODS.map(|(from, to, rate)| max_min::Flow {
        weight: 1.0,
        demand: f64::from(rate) * 1e6,
        links: links(to, from),
    });
    let fair = max_min::rates(&[6e6, 5e6], &flows);
    let got = column(result, "flows", "throughput_bit_per_s");
    got.iter().zip(fair).map(|(got, fair)| (got - fair).abs() / fair).collect()
}

#[test]
fn with_labels_the_core_alone_gives_max_min_shares_over_two_bottlenecks() {
    // Rainbow distinguishes rates by layers, each a tenth of the rate wide.
    for (policy, tolerance) in [("fifo + csfq", 0.1), ("fifo + rainbow_fq", 0.15)] {
        let distances = distances(&island(policy, policy));
        assert!(distances.iter().all(|far| *far <= tolerance), "{policy}: {distances:?}");
    }
}

#[test]
fn without_labels_a_core_is_a_plain_queue() {
    // The edges write no labels: the floods get the rates that they send.
    for policy in ["fifo + csfq", "fifo + rainbow_fq"] {
        let distances = distances(&island("fifo", policy));
        assert!(distances.iter().any(|far| *far > 0.4), "{policy}: {distances:?}");
    }
}

#[test]
fn an_acknowledgement_does_not_carry_the_label_of_its_packet() {
    // Data is labelled with 50 Mbit/s; acknowledgements return over a core whose line they fill.
    // With the label of their data they would lose as the flood beside them does.
    let text = r#"
edition = 1
[measure]
warm_up = "5 s"
duration = "20 s"
[[nodes]]
name = "a"
role = "core"
[[nodes]]
name = "b"
role = "core"
[[nodes]]
name = "e"
role = "edge"
[[links]]
name = "in"
from = "e"
to = "a"
rate = "100 Mbit/s"
queue = "fifo + csfq + 64 packets"
[[links]]
name = "line"
from = "a"
to = "b"
rate = "100 Mbit/s"
reverse_rate = "1 Mbit/s"
queue = "fifo + csfq + 64 packets"
[[flows]]
name = "data"
from = "e"
to = "b"
traffic = "ftp(packet=1000B)"
transport = "fixed_window(window=20)"
"#;
    let result = run(text);
    // 1 Mbit/s carries 3125 acknowledgements of 40 bytes.
    let packets = column(&result, "flows", "throughput_packets")[0];
    assert!((packets / 20.0 - 3125.0).abs() < 20.0, "{packets}");
    assert_eq!(column(&result, "queues", "dropped").iter().sum::<f64>(), 0.0);
}

/// A gateway with `count` lines of 56 kbit/s, each flooded by a host of its own.
fn flooded(count: u32, policy: &str, size: &str) -> Value {
    let mut text = format!(
        "edition = 1\n[measure]\nwarm_up = \"50 s\"\nduration = \"100 s\"\n\
         [[pools]]\nname = \"memory\"\nnode = \"gateway\"\npolicy = \"{policy}\"\nsize = \"{size}\"\n"
    );
    for line in 0..count {
        text.push_str(&format!(
            "[[links]]\nname = \"{line}\"\nfrom = \"gateway\"\nto = \"sink {line}\"\nrate = \"56 kbit/s\"\n\
             [[flows]]\nname = \"{line}\"\nfrom = \"gateway\"\nto = \"sink {line}\"\n\
             traffic = \"constant_rate(rate=200kbit/s, packet=100B)\"\naccess = {{ rate = \"1 Mbit/s\" }}\n"
        ));
    }
    run(&text)
}

#[test]
fn lines_that_are_flooded_hold_what_dynamic_thresholds_give_them() {
    for (alpha, count) in [(1.0, 1), (1.0, 3), (2.0, 4), (0.5, 2)] {
        let result = flooded(count, &format!("dynamic_threshold(alpha={alpha})"), "240 packets");
        let expected = alpha * 240.0 / (1.0 + alpha * f64::from(count));
        let waiting = column(&result, "queues", "waiting_packets_mean");
        // Every second row is the reverse direction. A free place is taken a moment later.
        for waiting in waiting.iter().step_by(2) {
            assert!(
                (waiting - expected).abs() < 3.0,
                "{waiting} wait, {expected} should: alpha {alpha}, {count} lines"
            );
        }
    }
}

#[test]
fn hosts_that_flood_share_a_buffer_evenly_under_fuzzball() {
    let result = flooded(3, "fuzzball", "24 packets");
    for waiting in column(&result, "queues", "waiting_packets_mean").iter().step_by(2) {
        assert!((waiting - 8.0).abs() < 1.0, "{waiting} of 24 wait for one of three lines");
    }
    // Each line is busy all the time: 70 packets of 100 bytes a second.
    assert!(column(&result, "flows", "throughput_packets").iter().all(|packets| (packets - 7000.0).abs() < 2.0));
}

#[test]
fn what_is_wrong_with_nodes_and_pools_is_told() {
    let sound = r#"
[[nodes]]
name = "a"
role = "core"
[[pools]]
name = "memory"
node = "a"
policy = "fuzzball"
size = "9 packets"
[[links]]
name = "line"
from = "a"
to = "b"
rate = "1 Mbit/s"
queue = "fq"
[[flows]]
name = "1"
from = "a"
to = "b"
traffic = "ftp"
"#;
    assert!(Experiment::read(sound, "a.toml", &[]).is_ok());
    let again = "[[nodes]]\nname = \"a\"\nrole = \"edge\"\n[[nodes]]\nname = \"a\"\nrole = \"core\"";
    let second = "[[pools]]\nname = \"more\"\nnode = \"a\"\npolicy = \"fuzzball\"\nsize = \"9 packets\"\n[[pools]]";
    for (piece, instead, says) in [
        (
            "name = \"a\"\nrole",
            "name = \"aa\"\nrole",
            "nodes[0].name: no link leads to a node called aa; did you mean a?",
        ),
        ("[[nodes]]\nname = \"a\"\nrole = \"core\"", again, "nodes[1].name: the node a is listed twice"),
        ("\"core\"", "\"cor\"", "nodes[0].role: `cor` is not known here; did you mean core?"),
        ("role = \"core\"", "", "nodes[0]: role is missing; write role = \"edge\""),
        ("role =", "rol =", "nodes[0].rol: no such field; did you mean role?"),
        ("node = \"a\"", "node = \"q\"", "pools[0].node: no link leads to a node called q; there are a, b"),
        ("[[pools]]", second, "pools[1].node: a has a pool already, more; a node has one"),
        ("name = \"memory\"", "name = \"\"", "pools[0].name: `` is empty or taken; names are unique"),
        ("\"fuzzball\"", "\"fuzball\"", "pools[0].policy.kind: `fuzball` is not known here; did you mean fuzzball?"),
        (
            "\"fuzzball\"",
            "\"lqd\"",
            "pools[0].policy: longest_queue_drop is no policy for lines that share a buffer; there are \
             dynamic_threshold, fuzzball",
        ),
        (
            "\"fuzzball\"",
            "\"dynamic_threshold(alpha=0)\"",
            "pools[0].policy: alpha = 0: write a number from 0.001 to 1000",
        ),
        ("policy = \"fuzzball\"", "", "pools[0]: policy is missing; write policy = \"fuzzball\""),
        ("\"9 packets\"", "\"unlimited\"", "pools[0].size: a pool has a size; write for example"),
        ("size = \"9 packets\"", "", "pools[0]: size is missing; write size = \"40 packets\""),
        (
            "queue = \"fq\"",
            "queue = \"fq(preemptive=true)\"",
            "pools[0].node: the queue of line interrupts transmissions, which goes with no pool",
        ),
    ] {
        assert!(sound.contains(piece), "{piece}");
        match Experiment::read(&sound.replacen(piece, instead, 1), "a.toml", &[]) {
            Ok(_) => panic!("{instead} is taken"),
            Err(problem) => assert!(problem.to_string().contains(says), "{problem}\n{says}"),
        }
    }
}
