//! Topologies, generated and from files: their counts, the routes over them, and what is refused.

use fairq_experiment::experiment::{Experiment, Options};
use fairq_experiment::scenario::problem::Problem;
use fairq_experiment::scenario::read::Document;
use fairq_experiment::topology::file::Options as FileOptions;
use fairq_experiment::topology::file::{usual_delay, usual_rate};
use fairq_experiment::topology::registry::TopologySettings;
use fairq_experiment::topology::{Context, Graph};
use fairq_sched::units::{Rate, Time};
use fairq_sim::plan::{Files, Plan};
use fairq_topologies::{format, summary};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const LENIENT: FileOptions = FileOptions { rate: usual_rate(), delay: usual_delay(), is_strict: false };

fn no_file(name: &str) -> Result<Vec<u8>, String> {
    Err(format!("{name}: no file is read here"))
}

fn read_with(text: &str, name: &str, files: Files<'_>) -> Result<Experiment, Problem> {
    let mut document = Document::parse(text, name)?;
    document.read_topologies_by(fairq_topologies::read);
    Experiment::of(document, files)
}

fn graph(settings: serde_json::Value) -> Result<Graph, String> {
    let settings: TopologySettings = serde_json::from_value(settings).expect("settings");
    settings.build(Context { seed: 1, files: &no_file, reader: Some(fairq_topologies::read) })
}

fn read(text: &str, files: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<Experiment, Problem> {
    read_with(text, "a.toml", files)
}

fn plan(text: &str) -> Plan {
    let experiment = read(text, &no_file).unwrap_or_else(|problem| panic!("{problem}"));
    experiment.plans()[0].1.clone()
}

/// The path of a flow of `plan` as text: `-a` is the link a backwards.
fn path(plan: &Plan, flow: usize) -> String {
    let name = |line: &u32| {
        let line = &plan.lines[*line as usize];
        format!("{}{}", if line.is_reverse { "-" } else { "" }, line.name)
    };
    plan.flows[flow].path.forward().iter().map(name).collect::<Vec<_>>().join(" ")
}

fn flow(name: &str, from: &str, to: &str) -> String {
    format!("[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntraffic = \"ftp\"\n")
}

#[test]
fn shapes_have_their_counts() {
    for (settings, nodes, links) in [
        (json!({ "kind": "chain", "nodes": 7 }), 7, 6),
        (json!({ "kind": "star", "hosts": 9 }), 10, 9),
        (json!({ "kind": "dumbbell", "hosts": 5 }), 12, 11),
        // Gateways, and a pair of hosts for each hop and for all.
        (json!({ "kind": "parking_lot", "hops": 3 }), 4 + 8, 3 + 8),
        // 4 core, 8 aggregation and 8 edge switches, 16 hosts; three layers of 16 links.
        (json!({ "kind": "fat_tree", "k": 4 }), 20 + 16, 48),
        (json!({ "kind": "fat_tree", "k": 6 }), 45 + 54, 162),
        (json!({ "kind": "leaf_spine", "leaves": 4, "spines": 3, "hosts": 5 }), 4 + 3 + 20, 12 + 20),
    ] {
        let graph = graph(settings.clone()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((graph.nodes.len(), graph.links.len()), (nodes, links), "{settings}");
        assert_eq!(summary::parts(&graph), 1, "{settings}");
    }
    let fat = graph(json!({ "kind": "fat_tree" })).expect("a fat tree");
    let ports = |node: usize| fat.links.iter().filter(|link| link.from == node || link.to == node).count();
    let switches: Vec<usize> = (0..fat.nodes.len()).filter(|node| !fat.nodes[*node].name.starts_with('h')).collect();
    assert_eq!(switches.len(), 20);
    assert!(switches.iter().all(|switch| ports(*switch) == 4), "every switch has k ports, all in use");
}

#[test]
fn the_paper_s_tiers_have_225_nodes_and_226_links() {
    let paper = json!({ "kind": "tiers" });
    let rt = graph(paper.clone()).expect("tiers");
    assert_eq!((rt.nodes.len(), rt.links.len(), summary::parts(&rt)), (225, 226, 1));
    let class = |from: &str, to: &str| {
        let is = |end: usize, level: &str| rt.nodes[end].name.starts_with(level);
        rt.links.iter().filter(|link| is(link.from, from) && is(link.to, to)).collect::<Vec<_>>()
    };
    let counts = [("wan", "wan"), ("man", "man"), ("man", "wan"), ("lan", "man")].map(|(a, b)| class(a, b).len());
    assert_eq!(counts, [6, 20, 20, 180]);
    for (level, rate, delays) in
        [("wan", 155_000_000, 100..=150), ("man", 55_000_000, 20..=40), ("lan", 10_000_000, 10..=10)]
    {
        for link in rt.links.iter().filter(|link| rt.nodes[link.from].name.starts_with(level)) {
            assert_eq!(link.rate.0.map(Rate::bit_per_s), Some(rate));
            assert!(
                link.delay >= Time::from_ms(*delays.start()) && link.delay <= Time::from_ms(*delays.end()),
                "{level}"
            );
        }
    }
    // One topology for one seed, however the seed is given.
    assert_eq!(rt, graph(paper).expect("tiers"));
    assert_eq!(rt, graph(json!({ "kind": "tiers", "seed": 1 })).expect("tiers"));
    assert_ne!(rt, graph(json!({ "kind": "tiers", "seed": 2 })).expect("tiers"));
    let dual = graph(json!({ "kind": "tiers", "uplinks": 2, "man_links": 1, "lan_nodes": 3 })).expect("tiers");
    assert_eq!((dual.nodes.len(), dual.links.len()), (5 + 40 + 540, 6 + 20 + 40 + 540));
}

#[test]
fn drawn_tiers_hang_together_and_have_the_links_that_were_asked_for() {
    for seed in 0..60u64 {
        let draw = |name: u64, bound: u64| fairq_sched::hash::splitmix(seed * 100 + name) % bound;
        let (wan, man, mans, lans, lan) = (1 + draw(0, 12), 1 + draw(1, 6), draw(2, 8), draw(3, 5), 1 + draw(4, 4));
        let links = |nodes: u64, name: u64| nodes - 1 + draw(name, nodes * (nodes - 1) / 2 - (nodes - 1) + 1);
        let (wan_links, man_links, uplinks) = (links(wan, 5), links(man, 6), 1 + draw(7, man));
        let graph = graph(json!({
            "kind": "tiers", "seed": seed, "wan_nodes": wan, "wan_links": wan_links, "mans": mans, "man_nodes": man,
            "man_links": man_links, "uplinks": uplinks, "lans": lans, "lan_nodes": lan,
        }));
        let graph = graph.unwrap_or_else(|error| panic!("{error}"));
        let nodes = wan + mans * (man + lans * lan);
        assert_eq!(graph.nodes.len() as u64, nodes, "seed {seed}");
        assert_eq!(graph.links.len() as u64, wan_links + mans * (man_links + uplinks + lans * lan), "seed {seed}");
        assert_eq!(summary::parts(&graph), 1, "seed {seed}");
        let ends: BTreeSet<_> = graph.links.iter().map(|link| (link.from, link.to)).collect();
        assert_eq!(ends.len(), graph.links.len(), "seed {seed}: two links between the same nodes");
    }
}

/// The real maps in the folder of test data, if it is there.
fn real_maps() -> Vec<(String, Vec<u8>)> {
    let paths = fairq_testkit::real::files("topologies", "no real map was read");
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_string();
        (name, std::fs::read(&path).expect("a file that is there"))
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn all_real_maps_load_and_route() {
    // Nodes and edges as `grep -c 'node \['` and `grep -c 'edge \['` count them.
    let known = [
        ("Abilene.gml", 11, 14),
        ("Arpanet196912.gml", 4, 4),
        ("Cogentco.gml", 197, 245),
        ("Geant2012.gml", 40, 61),
        ("Kdl.gml", 754, 899),
    ];
    let maps = real_maps();
    for ((file, bytes), (name, nodes, links)) in maps.iter().zip(known) {
        assert_eq!(file, name);
        let (format, graph) = format::read(bytes, file, &LENIENT).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((format, graph.nodes.len(), graph.links.len()), ("GML", nodes, links), "{file}");
        let is_whole = !String::from_utf8_lossy(bytes).contains("hyperedge") && !matches!(name, "Geant2012.gml");
        assert_eq!(graph.warnings.is_empty(), is_whole, "{file}: {:?}", graph.warnings);
        let strict = format::read(bytes, file, &FileOptions { is_strict: true, ..LENIENT });
        assert_eq!(strict.is_ok(), is_whole, "{file}: {strict:?}");
        // No link is longer than half the earth, and in vacuum light is no slower.
        assert!(graph.links.iter().all(|link| link.delay < Time::from_ms(101)), "{file}");
        // A flow from the first node to every other one that it can reach, by each kind of routing.
        let component: BTreeSet<usize> = reachable(&graph, 0);
        for routing in ["hops", "delay", "weight"] {
            let mut text = format!(
                "routing = \"{routing}\"\nmultipath = true\ntopology = \"file(file={file})\"\n[measure]\nduration = \"1 s\"\n"
            );
            for to in component.iter().filter(|to| **to != 0) {
                text += &flow(&format!("to {to}"), &graph.nodes[0].name, &graph.nodes[*to].name);
            }
            let files = |_: &str| Ok(bytes.clone());
            let experiment = read(&text, &files).unwrap_or_else(|problem| panic!("{problem}"));
            assert_eq!(experiment.plans()[0].1.flows.len(), component.len() - 1, "{file}");
        }
    }
}

/// The nodes that have a path from `start`.
fn reachable(graph: &Graph, start: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([start]);
    loop {
        let before = reached.len();
        for link in &graph.links {
            if reached.contains(&link.from) || reached.contains(&link.to) {
                reached.extend([link.from, link.to]);
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

#[test]
fn abilene_s_rates_and_delays_are_those_of_its_labels_and_places() {
    let Some((file, bytes)) = real_maps().into_iter().find(|(file, _)| file == "Abilene.gml") else { return };
    let (_, graph) = format::read(&bytes, &file, &LENIENT).unwrap_or_else(|error| panic!("{error}"));
    assert!(graph.links.iter().all(|link| link.rate.0 == Rate::new(9_953_280_000)), "OC-192 everywhere");
    assert_eq!(graph.rates_by_default, 0);
    // New York to Chicago: 1145 km at two thirds of the speed of light.
    let link = graph.links.iter().find(|link| link.name == "0-1").expect("the first edge");
    let us = link.delay.0 / 1_000_000;
    assert!((5720..5740).contains(&us), "{us} us");
    // A label that one node has names it.
    let text = format!(
        "topology = \"file(file=Abilene.gml)\"\n[measure]\nduration = \"1 s\"\n{}",
        flow("x", "Seattle", "New York")
    );
    let files = |_: &str| Ok(bytes.clone());
    assert!(read(&text, &files).is_ok());
}

#[test]
fn a_plan_for_1600_flows_over_the_paper_s_tiers_has_a_path_for_each() {
    let mut text = "topology = \"tiers\"\nmultipath = true\n[measure]\nduration = \"1 s\"\n".to_string();
    for number in 0..1600 {
        let (man, lan) = (number % 20 + 1, number % 9 + 1);
        text += &flow(&number.to_string(), &format!("lan{man}.{lan}"), &format!("lan{}.{}", (man + 6) % 20 + 1, lan));
    }
    let plan = plan(&text);
    assert_eq!(plan.flows.len(), 1600);
    // Over two metropolitan networks and the wide-area one.
    assert!(plan.flows.iter().all(|flow| flow.path.forward().len() >= 4));
    assert!(
        plan.flows.iter().all(|flow| flow
            .path
            .backward()
            .iter()
            .rev()
            .zip(flow.path.forward())
            .all(|(a, b)| a ^ 1 == *b))
    );
}

#[test]
fn equal_cost_paths_share_the_flows() {
    let mut text = "topology = \"leaf_spine(spines=4)\"\nmultipath = true\n[measure]\nduration = \"1 s\"\n".to_string();
    text += "[[flows]]\nname = \"f\"\nfrom = \"h1\"\nto = \"h16\"\ntraffic = \"ftp\"\ncount = 400\n";
    let many = plan(&text);
    let mut over = [0u32; 4];
    for flow in &many.flows {
        let spine =
            flow.path.forward().iter().find_map(|line| many.lines[*line as usize].name.strip_prefix("leaf1-spine"));
        over[spine.and_then(|spine| spine.parse::<usize>().ok()).expect("a spine") - 1] += 1;
    }
    // Binomial with n = 400, p = 1/4: mean 100, standard deviation 8.7; five of them.
    assert!(over.iter().all(|flows| (57..=143).contains(flows)), "{over:?}");
    // A flow's path depends only on its name: another flow before it changes nothing.
    let more = plan(&text.replace("[[flows]]", &(flow("new", "h2", "h9") + "[[flows]]")));
    assert!(many.flows.iter().zip(&more.flows[1..]).all(|(a, b)| a.path.forward() == b.path.forward()));
    // Without multipath all take the same path.
    let single = plan(&text.replace("multipath = true", ""));
    assert!(single.flows.iter().all(|flow| flow.path.forward() == single.flows[0].path.forward()));
    // In a fat tree of k = 4 there are four paths between pods, chosen at two nodes independently.
    let text = "topology = \"fat_tree\"\nmultipath = true\n[measure]\nduration = \"1 s\"\n[[flows]]\nname = \"f\"\nfrom = \"h1\"\nto = \"h16\"\ntraffic = \"ftp\"\ncount = 100\n";
    let fat = plan(text);
    let paths: BTreeSet<&[u32]> = fat.flows.iter().map(|flow| flow.path.forward()).collect();
    assert_eq!(paths.len(), 4);
}

const SQUARE: &str = r#"[measure]
duration = "1 s"
[[links]]
name = "long"
from = "a"
to = "d"
rate = "1 Mbit/s"
delay = "10 ms"
weight = 5
[[links]]
name = "ab"
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "2 ms"
weight = 3
[[links]]
name = "bd"
from = "b"
to = "d"
rate = "1 Mbit/s"
delay = "2 ms"
weight = 2.5
[[links]]
name = "ac"
from = "a"
to = "c"
rate = "1 Mbit/s"
delay = "2 ms"
weight = 2
[[links]]
name = "cd"
from = "c"
to = "d"
rate = "1 Mbit/s"
delay = "2 ms"
weight = 2
"#;

#[test]
fn paths_are_short_by_what_routing_says() {
    for (routing, way) in [("hops", "long"), ("delay", "ab bd"), ("weight", "ac cd")] {
        let plan = plan(&format!("routing = \"{routing}\"\n{SQUARE}{}", flow("x", "a", "d")));
        assert_eq!(path(&plan, 0), way, "{routing}");
    }
    assert_eq!(path(&plan(&format!("{SQUARE}{}", flow("x", "a", "d"))), 0), "long");
}

#[test]
fn two_parts_are_an_error_only_for_a_pair_with_traffic() {
    let files = |_: &str| Ok(b"from,to\na,b\nc,d\n".to_vec());
    let text =
        |to: &str| format!("topology = \"file(file=x.csv)\"\n[measure]\nduration = \"1 s\"\n{}", flow("x", "a", to));
    assert!(read(&text("b"), &files).is_ok());
    let problem = read(&text("d"), &files).err().map(|problem| problem.to_string());
    assert_eq!(problem.as_deref(), Some("a.toml:7: flows[0].to: there is no way from a to d"));
}

#[test]
fn a_topology_runs_beside_links_of_the_scenario_with_its_own_queue() {
    let text = format!(
        "edition = 1\ntopology = {{ kind = \"dumbbell\", hosts = 1, rate = \"56 kbit/s\", queue = \"fq\", buffer = \"7 packets\" }}\n\
         [measure]\nduration = \"20 s\"\n[defaults]\nqueue = \"fifo\"\n[[links]]\nname = \"more\"\nfrom = \"r1\"\nto = \"far\"\n\
         rate = \"1 Mbit/s\"\n{}",
        flow("x", "l1", "far")
    );
    let experiment = read(&text, &no_file).unwrap_or_else(|problem| panic!("{problem}"));
    let plan = &experiment.plans()[0].1;
    assert_eq!(path(plan, 0), "l1-left bottleneck right-r1 more");
    let result = experiment.run(Options { workers: 1, files: &no_file, progress: &mut |_| true });
    let result = result.unwrap_or_else(|stopped| panic!("{stopped:?}"));
    let mut queues = String::new();
    for row in result["queues"].as_array().into_iter().flatten().filter(|row| row["direction"] == "forward") {
        writeln!(queues, "{} {} {}", row["link"], row["discipline"], row["limit"]).expect("text");
    }
    assert!(queues.contains("\"bottleneck\" \"fq") && queues.contains("\"7 packets\""), "{queues}");
    assert!(queues.contains("\"more\" \"fifo\" \"unlimited\""), "{queues}");
    assert!(result["flows"][0]["goodput_packets"].as_u64() > Some(100));
    // The topology is the same for all seeds of a run; an axis changes it.
    let axes = "[[axes]]\nname = \"hosts\"\npath = \"topology.hosts\"\nvalues = [1, 3]\n";
    let experiment = read(&(text + axes), &no_file).unwrap_or_else(|problem| panic!("{problem}"));
    let lines: Vec<usize> = experiment.plans().iter().map(|(_, plan)| plan.lines.len()).collect();
    assert_eq!(lines, [2 * 4, 2 * 8]);
}

#[test]
fn what_a_file_lacks_is_filled_with_a_warning() {
    let text = "graph [ node [ id 0 Latitude 0 Longitude 0 ] node [ id 1 ] node [ id 2 Latitude 0 Longitude 4 ] node [ id 3 ]\n\
                node [ id 4 ] node [ id 5 ] edge [ source 0 target 1 ] edge [ source 1 target 2 ] edge [ source 1 target 3 ]\n\
                edge [ source 4 target 5 ] edge [ source 4 target 4 ] edge [ source 0 target 1 LinkLabel \"E1\" ] ]";
    let (_, graph) = format::read(text.as_bytes(), "x.gml", &LENIENT).unwrap_or_else(|error| panic!("{error}"));
    let ms = |at: usize| (graph.links[at].delay.0 + 500_000) / 1_000_000;
    // Node 1 lies between its neighbours, two degrees of the equator (222.4 km) from each; 3 is at
    // the same place as 1.
    assert_eq!([0, 1, 2, 3].map(ms), [1113, 1113, 0, 1000]);
    let names: Vec<&str> = graph.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["0-1", "1-2", "1-3", "4-5", "0-1.2"]);
    assert_eq!(graph.links[4].rate.0, Rate::new(2_048_000));
    assert_eq!(
        graph.warnings,
        [
            "1 edge from a node to itself left out: `4`",
            "2 nodes without coordinates placed at the mean of neighbours: `1`, `3`",
            "2 nodes without coordinates and without a neighbour that has any: `4`, `5`",
            "1 link without delay or coordinates given 1 ms: `4-5`",
        ]
    );
}

/// An invalid rate is not read as another.
#[test]
fn a_rate_that_makes_no_sense_is_told_and_not_guessed() {
    let read = |rate: &str| {
        let text = format!("from,to,rate,delay\na,b,\"{rate}\",1 ms\n");
        format::read(text.as_bytes(), "x.csv", &LENIENT).unwrap_or_else(|error| panic!("{error}")).1
    };
    for rate in ["-1 Mbit/s", "1.2.3 Mbit/s", "10 MB/s", "about 10 Mbit/s", "10"] {
        let graph = read(rate);
        let told = graph.warnings.iter().any(|warning| warning.contains(&format!("unlike `{rate}`")));
        assert!(told, "{rate}: {:?} {:?}", graph.warnings, graph.links[0].rate);
    }
    let either =
        "1 link given 1 Gbit/s, for the rate `1,000` may be 1000 or 1.000; write it without a comma: `a-b` in line 2";
    assert_eq!(read("1,000 Mbit/s").warnings, [either]);
    for (rate, bit_per_s) in [
        ("10 Mbit/s", 10_000_000),
        ("10 Gbps", 10_000_000_000),
        ("OC-3", 155_520_000),
        ("10,5 Mbit/s", 10_500_000),
        ("1 000,5 Mbit/s", 1_000_500_000),
        ("10 Gigabit Ethernet", 10_000_000_000),
    ] {
        let graph = read(rate);
        assert_eq!((graph.links[0].rate.0, graph.warnings.as_slice()), (Rate::new(bit_per_s), &[][..]), "{rate}");
    }
}

/// In each format, in each of its fields: the link has the default rate, and the user reads which
/// link, where and why.
#[test]
fn a_rate_that_is_none_is_told_with_its_link_its_line_and_what_it_is_given() {
    let above_zero = |said: &str| format!("a rate is above zero and at most 10 Tbit/s, unlike `{said}`");
    let number = |said: &str| format!("a rate in a field with its unit is a number, unlike `{said}`");
    let speed = |said: &str| format!("a LinkSpeed is a number with LinkSpeedUnits, unlike `{said}`");
    let brite = |rate: &str| {
        format!(
            "Topology: ( 2 Nodes, 1 Edges )\nNodes: ( 2 )\n0 1 1 1 1 -1 RT\n1 2 2 1 1 -1 RT\nEdges: ( 1 )\n\
             0 0 1 1.4 1 {rate} -1 -1 E_RT U\n"
        )
    };
    let tiers = |rate: &str| format!("# NODES\n0 0 0 0\n1 1 1 0\n# EDGES\n\n0 1 5 {rate} 0 0 1\n");
    let csv = |column: &str, rate: &str| format!("from,to,{column},delay\n# a\n\n\n\n0,1,{rate},1 ms\n");
    let gml = |fields: &str| {
        format!("graph [\nnode [ id 0 ]\nnode [ id 1 ]\n\n\nedge [ source 0 target 1 delay \"1 ms\" {fields} ] ]")
    };
    let graphml = |rate: &str| {
        format!(
            "<graphml><key id=\"r\" attr.name=\"LinkSpeedRaw\"/><key id=\"d\" attr.name=\"delay\"/><graph>\n\
             <node id=\"0\"/>\n<node id=\"1\"/>\n\n\n<edge source=\"0\" target=\"1\"><data key=\"r\">{rate}</data>\
             <data key=\"d\">1 ms</data></edge></graph></graphml>"
        )
    };
    let mut cases = Vec::new();
    for rate in ["0", "-1", "-1.0", "1e30"] {
        cases.push(("x.brite", brite(rate), above_zero(rate)));
        cases.push(("x.tiers", tiers(rate), above_zero(rate)));
        cases.push(("x.csv", csv("rate_mbit_per_s", rate), above_zero(rate)));
        cases.push(("x.csv", csv("rate_bit_per_s", rate), above_zero(rate)));
        cases.push(("x.graphml", graphml(rate), above_zero(rate)));
        cases.push(("x.gml", gml(&format!("LinkSpeed \"{rate}\" LinkSpeedUnits \"G\"")), above_zero(rate)));
    }
    cases.push(("x.csv", csv("rate_mbit_per_s", "fast"), number("fast")));
    cases.push(("x.csv", csv("rate_bit_per_s", "10 Mbit/s"), number("10 Mbit/s")));
    cases.push(("x.graphml", graphml("nan"), number("nan")));
    cases.push(("x.gml", gml("LinkSpeed \"fast\" LinkSpeedUnits \"G\""), speed("fast")));
    cases.push(("x.gml", gml("LinkSpeed \"10\""), speed("10")));
    for (file, text, fault) in cases {
        let (_, graph) = format::read(text.as_bytes(), file, &LENIENT).unwrap_or_else(|error| panic!("{error}"));
        let said = format!("1 link given 1 Gbit/s, for {fault}: `0-1` in line 6");
        assert_eq!((graph.links[0].rate, &graph.warnings), (usual_rate(), &vec![said.clone()]), "{text}");
        let strict = format::read(text.as_bytes(), file, &FileOptions { is_strict: true, ..LENIENT });
        assert_eq!(strict.expect_err(&text), format!("{file}: {said} (an error because of strict)"));
    }
    // The value of another field of the link is no default.
    let graph = format::read(gml("LinkSpeed \"fast\" LinkLabel \"E1\"").as_bytes(), "x.gml", &LENIENT);
    let (_, graph) = graph.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((graph.links[0].rate.0, graph.warnings), (Rate::new(2_048_000), Vec::new()));
    // Many warnings are combined into one line.
    let many = "from,to,rate_mbit_per_s,delay\n".to_string() + &"a,b,0,1 ms\n".repeat(7);
    let (_, graph) = format::read(many.as_bytes(), "x.csv", &LENIENT).unwrap_or_else(|error| panic!("{error}"));
    assert!(graph.warnings[0].starts_with("7 links given 1 Gbit/s, for") && graph.warnings[0].ends_with("line 6, …"));
    assert_eq!(graph.warnings.len(), 1);
}

#[test]
fn broken_files_are_told_in_one_line() {
    for (file, text, said) in [
        (
            "x.txt",
            "hello\nworld\n",
            "x.txt: a topology in an unknown format; there are GraphML, BRITE, tiers, GML, CSV",
        ),
        ("x.gml", "", "x.gml: not GML: there is no graph [ … ]"),
        ("x", "", "x: a topology in an unknown format; there are GraphML, BRITE, tiers, GML, CSV"),
        ("x.gml", "graph [ ]", "x.gml: there is no node in it"),
        (
            "x.gml",
            "graph [\nnode [ id 1 ]\nnode [ id 1 ] ]",
            "x.gml:3: the id `1` of a node is taken by that of line 2; ids are unique",
        ),
        (
            "x.gml",
            "graph [\nnode [ id 1 ]\nedge [ source 1 target 7 ] ]",
            "x.gml:3: an edge leads to `7`, and no node has this id",
        ),
        (
            "x.graphml",
            "<graphml><graph><node id=\"a\"/>\n<node id=\"a\"/></graph></graphml>",
            "x.graphml:2: the id `a` of a node is taken by that of line 1; ids are unique",
        ),
        (
            "x.brite",
            "Topology: ( 1 Nodes, 1 Edges )\nNodes: ( 1 )\n0 1 1 1 1 -1 RT\nEdges: ( 1 )\n0 0 9 1 1 1",
            "x.brite:5: an edge leads to `9`, and no node has this id",
        ),
        (
            "x.out",
            "# NODES\n0 0 0 0\n0 1 1 0\n# EDGES\n",
            "x.out:3: the id `0` of a node is taken by that of line 2; ids are unique",
        ),
        ("x.csv", "from,to,name\na,b,l\nb,c,l\n", "x.csv:3: the name `l` of a link is taken; names are unique"),
    ] {
        let error = format::read(text.as_bytes(), file, &LENIENT).expect_err(text);
        assert_eq!(error, said, "{text}");
    }
}

#[test]
fn settings_without_sense_are_refused_in_one_line() {
    for (topology, said) in [
        (
            "\"ring\"",
            "a.toml:1: topology.kind: `ring` is not known here; there are chain, dumbbell, fat_tree, file, leaf_spine, parking_lot, star, tiers",
        ),
        ("\"chain(nodes=1)\"", "a.toml:1: topology: nodes is at least 2"),
        ("\"chain(node=1)\"", "a.toml:1: topology.node: no such field of chain; did you mean nodes?"),
        ("\"star(hosts=0)\"", "a.toml:1: topology: hosts is at least 1"),
        ("\"star(hosts=4000000000)\"", "a.toml:1: topology: that makes more than 100000 nodes; write smaller numbers"),
        ("\"dumbbell(hosts=0)\"", "a.toml:1: topology: hosts is at least 1"),
        ("\"parking_lot(hops=0)\"", "a.toml:1: topology: hops is at least 1"),
        ("\"fat_tree(k=3)\"", "a.toml:1: topology: k is even and at least 2"),
        ("\"leaf_spine(spines=0)\"", "a.toml:1: topology: leaves, spines and hosts are at least 1 each"),
        (
            "\"leaf_spine(leaves=1000000, spines=1000000)\"",
            "a.toml:1: topology: that makes more than 100000 nodes; write smaller numbers",
        ),
        ("\"tiers(wan_links=3)\"", "a.toml:1: topology: wan_links is from 4 to 10 for 5 nodes"),
        ("\"tiers(uplinks=3)\"", "a.toml:1: topology: uplinks is from 1 to man_nodes, which is 2"),
        ("\"tiers(lan_delay_min=11ms)\"", "a.toml:1: topology: lan_delay_min is at most lan_delay_max"),
        ("\"file(file=x.gml)\"", "a.toml:1: topology: x.gml: no file is read here"),
        ("\"file\"", "a.toml:1: topology: file is missing; write file = \"map.gml\""),
        (
            "{ kind = \"star\", queue = \"fqq\" }",
            "a.toml:1: topology.queue: `fqq` is no part of a queue; did you mean fq?",
        ),
        (
            "{ kind = \"star\", queue = \"fifo + fq_bit\" }",
            "a.toml:1: topology.queue: fq_bit looks at a flow's own queue; use it with a scheduler that has one, like fq",
        ),
        ("[\"star\"]", "a.toml:1: topology: write text like \"fq + pair\" or \"ftp\", or a table, not a list"),
    ] {
        let text = format!("topology = {topology}\n[measure]\nduration = \"1 s\"\n{}", flow("x", "h1", "h2"));
        let problem = read(&text, &no_file).err().map_or("NO FAULT".to_string(), |problem| problem.to_string());
        assert_eq!(problem, said, "{topology}");
    }
    let taken = format!(
        "topology = \"star\"\n[measure]\nduration = \"1 s\"\n[[links]]\nname = \"h1-hub\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n{}",
        flow("x", "h1", "h2")
    );
    let problem = read(&taken, &no_file).err().map(|problem| problem.to_string());
    assert_eq!(problem.as_deref(), Some("a.toml:5: links[0].name: there is another link called h1-hub"));
    let twice = "graph [ node [ id 0 label \"x\" ] node [ id 1 label \"x\" ] edge [ source 0 target 1 ] ]";
    let files = |_: &str| Ok(twice.as_bytes().to_vec());
    let text = format!("topology = \"file(file=x.gml)\"\n[measure]\nduration = \"1 s\"\n{}", flow("x", "x", "1"));
    let problem = read(&text, &files).err().map(|problem| problem.to_string());
    assert_eq!(
        problem.as_deref(),
        Some("a.toml:6: flows[0].from: 2 nodes are labelled x; write the name of one: 0, 1")
    );
}

#[test]
fn what_a_topology_s_file_lacks_or_leaves_to_a_guess_is_noted() {
    let text = "edition = 2\ntopology = \"file(file=x.csv)\"\n[measure]\nduration = \"1 s\"\n[[flows]]\nname = \"f\"\nfrom = \"a\"\n\
                to = \"b\"\ntraffic = \"poisson(rate=1Mbit/s)\"\n";
    let of = |file: &str| {
        let files = |_: &str| Ok(file.as_bytes().to_vec());
        let experiment = read_with(text, "notes.toml", &files);
        let experiment = experiment.unwrap_or_else(|problem| panic!("{problem}"));
        let result = experiment.run(Options { workers: 1, files: &files, progress: &mut |_| true });
        result.unwrap_or_else(|stopped| panic!("{stopped:?}"))["notes"].clone()
    };
    assert_eq!(of("from,to,rate,delay\na,b,10 Mbit/s,1 ms\n"), json!([]));
    assert_eq!(
        of("from,to,label,delay\na,b,Fast Ethernet,fast\n"),
        json!([{ "code": "topology", "where": "topology", "text": "a delay has a unit, as in \"5 ms\", unlike `fast`; \
            1 link without delay or coordinates given 1 ms: `a-b`; the rate of 1 link is guessed from labels: `Fast Ethernet` \
            as 100 Mbit/s" }])
    );
}
