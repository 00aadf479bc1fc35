//! The defaults of a scenario by its edition, and the size of a buffer in each unit.

use crate::running::{no_file, read, run};
use fairq_experiment::experiment::{Experiment, Options};
use fairq_sim::plan::Plan;
use serde_json::Value;

/// One line of 10 Mbit/s and 20 ms; `first`, `link` and `flow` are added at the top, to the link
/// and to the flow.
fn network(first: &str, link: &str, flow: &str) -> String {
    let rate = if link.starts_with("rate =") { "" } else { "rate = \"10 Mbit/s\"" };
    format!(
        "{first}\n[measure]\nduration = \"2 s\"\n[[links]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\n{rate}\ndelay = \"20 ms\"\n\
         {link}\n[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}

fn plan(text: &str) -> Plan {
    read(text).plans()[0].1.clone()
}

/// The limits of all lines, those of the link first.
fn limits(text: &str) -> Vec<String> {
    plan(text).lines.iter().map(|line| line.queue.bound().to_string()).collect()
}

#[test]
fn traffic_runs_over_what_its_edition_says_in_packets_of_its_edition() {
    let kinds = [
        ("ftp", "generic", "cubic", 1000, 1500),
        ("telnet", "generic", "cubic", 40, 40),
        ("flow_arrivals(rate=1Mbit/s, load=0.5, size=10kB)", "reno", "cubic", 1000, 1500),
        ("incast(size=10kB)", "reno", "cubic", 1000, 1500),
        ("request_response(size=10kB)", "reno", "cubic", 1000, 1500),
        ("web", "reno", "cubic", 1000, 1500),
        ("poisson(rate=1Mbit/s)", "uncontrolled", "uncontrolled", 1000, 1500),
        ("constant_rate(rate=1Mbit/s)", "uncontrolled", "uncontrolled", 1000, 1500),
        ("on_off(rate=1Mbit/s)", "uncontrolled", "uncontrolled", 210, 210),
        ("self_similar(rate=10Mbit/s, sources=4)", "uncontrolled", "uncontrolled", 1000, 1500),
    ];
    for (traffic, transport_1, transport_2, packet_1, packet_2) in kinds {
        for (first, transport, packet, acknowledgement) in [
            ("edition = 1", transport_1, packet_1, 40),
            ("edition = 2", transport_2, packet_2, 52),
            ("", transport_2, packet_2, 52),
        ] {
            let plan = plan(&network(first, "", &format!("traffic = \"{traffic}\"")));
            let entry = &plan.flows[0].entry;
            let found = (entry.transport.name(), entry.traffic.packet().map(|bytes| bytes.0), entry.acknowledgement);
            assert_eq!(found, (transport, Some(packet), acknowledgement), "{traffic} {first}");
        }
    }
}

#[test]
fn what_a_scenario_says_is_no_matter_of_its_edition() {
    let said = "[defaults]\nacknowledgement = \"60 B\"\ntransport = \"reno\"\nbuffer = \"7 packets\"";
    let flow = "traffic = \"ftp(packet=700B)\"\naccess = { rate = \"1 Mbit/s\", buffer = \"9 packets\" }";
    let of = |first: &str| {
        let mut result = run(&network(&format!("{first}\n{said}"), "", flow));
        let result = result.as_object_mut().expect("a document");
        result["scenario"].as_object_mut().expect("a scenario").shift_remove("edition");
        result.shift_remove("run_info");
        result.shift_remove("notes");
        Value::from(std::mem::take(result))
    };
    assert_eq!(of("edition = 1"), of("edition = 2"));
}

#[test]
fn a_queue_without_a_buffer_holds_what_its_design_or_its_edition_says() {
    let of = |first: &str, queue: &str| {
        let flow = "traffic = \"ftp\"\naccess = { rate = \"100 Mbit/s\" }";
        limits(&network(first, &format!("queue = \"{queue}\""), flow))
    };
    assert_eq!(of("edition = 1", "fifo"), ["unlimited"; 4]);
    assert_eq!(of("edition = 2", "fifo"), ["1000 packets"; 4]);
    assert_eq!(of("", "drr + codel"), ["1000 packets"; 4]);
    assert_eq!(of("edition = 2", "fq_codel"), ["10240 packets", "10240 packets", "1000 packets", "1000 packets"]);
    assert_eq!(of("edition = 2", "fq_codel + 7packets")[..3], ["7 packets", "7 packets", "1000 packets"]);
    // Without a limit its memory bounds it, and the table shows that.
    assert_eq!(of("edition = 1", "fq_codel(memory=4MB)")[0], "4 MB");
    assert_eq!(of("edition = 2", "fifo + unlimited")[..3], ["unlimited", "unlimited", "1000 packets"]);
    let result = run(&network("edition = 2", "queue = \"fq_codel\"", "traffic = \"ftp\""));
    assert_eq!(result["queues"][0]["limit"], "10240 packets");
}

#[test]
fn lines_that_share_a_buffer_have_no_limit_of_their_own() {
    let pool = "[[pools]]\nname = \"p\"\nnode = \"a\"\npolicy = \"dynamic_threshold\"\nsize = \"40 packets\"\n";
    let text = network("edition = 2\n[defaults]\nbuffer = \"50 ms\"", "", "traffic = \"ftp\"") + pool;
    assert_eq!(limits(&text), ["unlimited", "62500 B"]);
}

#[test]
fn a_buffer_in_time_is_what_the_line_sends_meanwhile() {
    let of = |link: &str| limits(&network("edition = 2", link, "traffic = \"ftp\""));
    // 50 ms of 10 Mbit/s, and of 1 Mbit/s.
    assert_eq!(of("buffer = \"50 ms\""), ["62500 B", "62500 B"]);
    assert_eq!(of("buffer = \"50 ms\"\nreverse_rate = \"1 Mbit/s\""), ["62500 B", "6250 B"]);
    // Less than a packet becomes a packet; a line that takes no time to send needs no buffer.
    assert_eq!(of("buffer = \"10 us\""), ["1500 B", "1500 B"]);
    assert_eq!(of("buffer = \"50 ms\"\nreverse_rate = \"unlimited\""), ["62500 B", "unlimited"]);
    // A queue's own limit comes first.
    assert_eq!(of("buffer = \"50 ms\"\nqueue = \"fifo + 3packets\""), ["3 packets", "3 packets"]);
    let defaults = network("[defaults]\nbuffer = \"50 ms\"", "", "traffic = \"ftp\"\naccess = { rate = \"1 Gbit/s\" }");
    assert_eq!(limits(&defaults), ["62500 B", "62500 B", "1000 packets", "1000 packets"]);
    let shape = "topology = \"dumbbell(buffer=10ms)\"\n[[flows]]\nname = \"f\"\nfrom = \"l1\"\nto = \"r1\"\ntraffic = \"ftp\"\n";
    let bottleneck = plan(shape).lines.iter().find(|line| &*line.name == "bottleneck").map(|line| line.queue.bound());
    assert!(bottleneck.is_some_and(|limit| limit.to_string().ends_with('B')), "{bottleneck:?}");
}

#[test]
fn a_bandwidth_delay_product_is_that_of_the_longest_path_across_the_line() {
    let near = "traffic = \"ftp\"";
    let of = |buffer: &str, flow: &str| limits(&network("edition = 2", &format!("buffer = \"{buffer}\""), flow));
    // 10 Mbit/s and 40 ms there and back.
    assert_eq!(of("1 BDP", near), ["50 kB", "50 kB"]);
    assert_eq!(of("0.5 BDP", near), ["25 kB", "25 kB"]);
    assert_eq!(of("0.001 BDP", near), ["1500 B", "1500 B"]);
    // An access line of 30 ms makes it 100 ms.
    let far = "traffic = \"ftp\"\naccess = { rate = \"100 Mbit/s\", delay = \"30 ms\" }";
    assert_eq!(of("1 BDP", far)[..2], ["125 kB", "125 kB"]);
    let both = format!("{near}\n[[flows]]\nname = \"g\"\nfrom = \"a\"\nto = \"b\"\n{far}");
    assert_eq!(of("1 BDP", &both)[..2], ["125 kB", "125 kB"]);
    // No path crosses the second link.
    let text = network("edition = 2\n[defaults]\nbuffer = \"1 BDP\"", "", near)
        + "[[links]]\nname = \"m\"\nfrom = \"b\"\nto = \"c\"\nrate = \"1 Mbit/s\"\n";
    assert_eq!(limits(&text), ["50 kB", "50 kB", "1500 B", "1500 B"]);
    // Access lines, too, and axes.
    let text = network("", "", "traffic = \"ftp\"\naccess = { rate = \"100 Mbit/s\", buffer = \"1 BDP\" }")
        + "[[axes]]\nname = \"room\"\npath = \"links[0].buffer\"\nvalues = [\"2 BDP\", \"8 ms\", \"5 packets\"]\n";
    let found: Vec<String> =
        read(&text).plans().iter().map(|(_, plan)| plan.lines[0].queue.bound().to_string()).collect();
    assert_eq!(found, ["100 kB", "10 kB", "5 packets"]);
    assert_eq!(limits(&text)[2], "500 kB");
    for (value, limit) in [("2 BDP", "100 kB"), ("50ms", "62500 B"), ("3packets", "3 packets")] {
        let sets = [("defaults.buffer".to_string(), value.to_string())];
        let text = network("edition = 2", "", near);
        let experiment = Experiment::read(&text, "editions.toml", &sets).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(experiment.plans()[0].1.lines[0].queue.bound().to_string(), limit, "{value}");
    }
}

#[test]
fn flows_of_one_host_share_its_access_lines_and_differ_in_their_ports() {
    let flow = |hosts: &str| {
        format!(
            "traffic = \"ftp\"\ncount = 16\n{hosts}\naccess = {{ rate = \"100 Mbit/s\" }}\n\
             sink_access = {{ rate = \"100 Mbit/s\" }}"
        )
    };
    for (hosts, number) in [("", 16), ("hosts = 16", 16), ("hosts = 4", 4), ("hosts = 1", 1)] {
        let plan = plan(&network("edition = 2", "", &flow(hosts)));
        let of_access = plan.lines.iter().filter(|line| line.is_access).count();
        assert_eq!(of_access, 4 * number, "{hosts}");
        for (at, flow) in plan.flows.iter().enumerate() {
            // Flows are assigned to hosts in turn.
            let first = &plan.flows[at % number];
            assert_eq!(flow.path.forward(), first.path.forward(), "{hosts} {at}");
            let [mine, others] = [flow, first].map(|flow| flow.path.header(fairq_sim::segment::Direction::Forward));
            assert_eq!((mine.source, mine.destination), (others.source, others.destination));
            assert!(at < number || mine != others, "{hosts}: {at} has the header of another");
        }
    }
}

#[test]
fn one_host_without_an_access_line_is_the_node() {
    let [with, without] = ["hosts = 1", ""].map(|hosts| {
        let plan = plan(&network("edition = 2", "", &format!("traffic = \"ftp\"\ncount = 3\n{hosts}")));
        plan.flows.iter().map(|flow| flow.path.header(fairq_sim::segment::Direction::Forward)).collect::<Vec<_>>()
    });
    assert_eq!(with, without);
    assert!(with.iter().all(|header| header.source == with[0].source) && with[0] != with[1]);
}

/// Flows on one host share its access line: 16 of 1 Mbit/s each behave like one.
#[test]
fn a_host_s_flows_have_together_what_its_access_line_takes() {
    let flow = |hosts: &str| {
        format!("traffic = \"ftp\"\ncount = 4\n{hosts}\naccess = {{ rate = \"1 Mbit/s\" }}\nstart = \"0 s\"")
    };
    let sum = |hosts: &str| {
        let result = run(&network("edition = 2", "", &flow(hosts)));
        let rows = result["flows"].as_array().expect("rows");
        rows.iter().map(|row| row["throughput_bit_per_s"].as_f64().expect("a rate")).sum::<f64>()
    };
    assert!((sum("hosts = 1") - 1e6).abs() < 0.1e6, "{}", sum("hosts = 1"));
    assert!((sum("hosts = 2") - 2e6).abs() < 0.2e6, "{}", sum("hosts = 2"));
    assert!((sum("") - 4e6).abs() < 0.4e6, "{}", sum(""));
}

/// A network of three lines in a row, the middle one with a header; `queue` and `flow` are added.
fn framed(queue: &str, header: &str, flow: &str) -> String {
    format!(
        "edition = 2\n[measure]\nduration = \"4 s\"\nwarm_up = \"1 s\"\n[defaults]\nstart = \"0 s\"\n\
         acknowledgement = \"40 B\"\n\
         [[links]]\nname = \"in\"\nfrom = \"a\"\nto = \"b\"\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
         [[links]]\nname = \"mid\"\nfrom = \"b\"\nto = \"c\"\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\"\nqueue = \"{queue}\"\n{header}\n\
         [[links]]\nname = \"out\"\nfrom = \"c\"\nto = \"d\"\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"d\"\n{flow}\n"
    )
}

#[test]
fn a_link_header_takes_time_and_is_counted_by_the_link_only() {
    let steady = "traffic = \"constant_rate(rate=4Mbit/s, packet=1000B)\"";
    for queue in ["fifo", "fq_codel", "drr + codel"] {
        let result = run(&framed(queue, "link_header = \"38 B\"", steady));
        let row = &result["links"][2];
        let packets = row["packets"].as_u64().expect("a count");
        assert!((1999..=2001).contains(&packets), "{row}");
        assert_eq!(row["bytes"].as_u64(), Some(packets * 1038), "{queue}");
        // The links before and after are not affected.
        for other in [0, 4] {
            let row = &result["links"][other];
            assert_eq!(row["bytes"].as_u64(), row["packets"].as_u64().map(|packets| packets * 1000), "{row}");
        }
        let flow = &result["flows"][0];
        assert_eq!(
            flow["throughput_bit_per_s"].as_f64(),
            flow["throughput_packets"].as_f64().map(|n| n * 8000.0 / 4.0)
        );
        // A packet takes 1000 B at 100 Mbit/s twice, 1038 B at 10 Mbit/s once, and 4 ms: 4.9904 ms.
        let delay = flow["delay_s_max"].as_f64().expect("a delay");
        assert!((delay - 4.990_4e-3).abs() < 1e-9, "{queue}: {delay}");
    }
}

#[test]
fn a_full_link_carries_less_by_its_headers() {
    for (queue, transport) in [("fifo", "cubic"), ("fq_codel", "cubic"), ("fifo", "generic(window=60)")] {
        let flow = format!("traffic = \"ftp\"\ntransport = \"{transport}\"");
        let result = run(&framed(queue, "link_header = \"38 B\"\nbuffer = \"100 packets\"", &flow));
        let used = result["links"][2]["utilisation"].as_f64().expect("a part");
        let throughput = result["flows"][0]["throughput_bit_per_s"].as_f64().expect("a rate");
        assert!((0.97..1.001).contains(&used), "{queue} {transport}: {used}");
        let part = throughput / (used * 1e7);
        assert!((part - 1500.0 / 1538.0).abs() < 1e-3, "{queue} {transport}: {part}");
    }
}

/// Without a header nothing changes; with one the result is the same for every way of running.
#[test]
fn a_link_header_is_the_same_in_every_way_of_running() {
    let flow = "traffic = \"ftp\"\ncount = 4\nhosts = 2\naccess = { rate = \"1 Gbit/s\" }\nsink_access = { rate = \"1 Gbit/s\", delay = \"1 ms\" }";
    for queue in ["fifo + 30packets", "fq_codel"] {
        let of = |header: &str, workers: usize, is_watched: bool| {
            let text = framed(queue, header, flow);
            let mut experiment = read(&text);
            if is_watched {
                experiment.sample_every(fairq_sched::units::Time::from_s(1)).expect("few samples");
            }
            let result = experiment.run(Options { workers, files: &no_file, progress: &mut |_| true });
            let result = result.unwrap_or_else(|stopped| panic!("{stopped:?}"));
            ["flows", "links", "queues"].map(|table| result[table].clone())
        };
        assert_eq!(of("", 1, false), of("link_header = \"0 B\"", 1, false));
        let one = of("link_header = \"38 B\"", 1, false);
        assert_ne!(one, of("", 1, false));
        assert_eq!(one, of("link_header = \"38 B\"", 3, false), "{queue}");
        assert_eq!(one, of("link_header = \"38 B\"", 1, true), "{queue}");
    }
}

/// CAKE subtracts the header before it adds its own overhead: a packet of 1000 B with 14 B of
/// Ethernet counts as 1000 B.
#[test]
fn a_queue_sees_how_long_the_link_header_is() {
    let steady = "traffic = \"constant_rate(rate=8Mbit/s, packet=1000B)\"";
    let sent = |overhead: &str| {
        let result = run(&framed(&format!("cake(rate=2Mbit/s{overhead})"), "link_header = \"14 B\"", steady));
        result["links"][2]["packets"].as_f64().expect("a count")
    };
    // 4 s of 2 Mbit/s in packets of 1014 B, and of 1000 B.
    assert!((sent("") - 986.2).abs() < 3.0, "{}", sent(""));
    assert!((sent(", overhead=0") - 1000.0).abs() < 3.0, "{}", sent(", overhead=0"));
}

#[test]
fn the_page_on_editions_has_the_table_of_the_program() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/design/editions.md");
    let page = std::fs::read_to_string(page).expect("docs/design/editions.md");
    for [what, one, two] in fairq_experiment::scenario::edition::table() {
        let row = format!("| {what} | {one} | {two} |\n");
        assert!(page.contains(&row), "docs/design/editions.md has no row {row}");
    }
}

/// Additions at the top, to the link and to the flow, and the line that the user reads.
const WRONG: &[([&str; 3], &str)] = &[
    (
        ["edition = 0", "", "traffic = \"ftp\""],
        "editions.toml:1: edition: an edition is 1 or 2; write edition = 2, or 1 for the defaults of 1990, not `0`",
    ),
    (
        ["edition = 3", "", "traffic = \"ftp\""],
        "editions.toml:1: edition: an edition is 1 or 2; write edition = 2, or 1 for the defaults of 1990, not `3`",
    ),
    (
        ["edition = true", "", "traffic = \"ftp\""],
        "editions.toml:1: edition: an edition is 1 or 2; write edition = 2, or 1 for the defaults of 1990, not `true`",
    ),
    (
        ["edition = \"2\"", "", "traffic = \"ftp\""],
        "editions.toml:1: edition: an edition is a number; write edition = 2, not `\"2\"`",
    ),
    (
        ["defaults.buffer = \"0 ms\"", "", "traffic = \"ftp\""],
        "editions.toml:1: defaults.buffer: `0 ms`: a buffer has some room; write for example \"50 ms\"",
    ),
    (
        ["", "buffer = \"BDP\"", "traffic = \"ftp\""],
        "editions.toml:10: links[0].buffer: `BDP`: write how many bandwidth-delay products, above 0 and at most 1000, like \
         \"0.5 BDP\"",
    ),
    (
        ["", "rate = \"unlimited\"\nbuffer = \"50 ms\"", "traffic = \"ftp\""],
        "editions.toml:11: links[0].buffer: `50 ms` is as many bytes as the line sends meanwhile, and its rate is unlimited; \
         leave it out",
    ),
    (
        ["", "queue = \"fq + 50ms\"", "traffic = \"ftp\""],
        "editions.toml:10: links[0].queue: `50ms`: a text form takes packets or bytes; a scenario says this as buffer = \
         \"50ms\"",
    ),
    (
        ["", "link_header = \"256 B\"", "traffic = \"ftp\""],
        "editions.toml:10: links[0].link_header: a link layer's header has at most 255 B",
    ),
    (
        ["", "", "traffic = \"ftp\"\naccess = { rate = \"unlimited\", buffer = \"1 BDP\" }"],
        "editions.toml:16: flows[0].access.buffer: `1 BDP` is as many bytes as the line sends meanwhile, and its rate is \
         unlimited; leave it out",
    ),
    (
        ["", "", "traffic = \"ftp\"\ncount = 16\nhosts = 2"],
        "editions.toml:17: flows[0].hosts: without an access line its flows stand at the node itself; give it access = { rate \
         = \"…\" }",
    ),
    (
        ["", "", "traffic = \"ftp\"\ncount = 16\nhosts = 3\naccess = { rate = \"1 Mbit/s\" }"],
        "editions.toml:17: flows[0].hosts: 16 flows cannot stand on 3 hosts evenly; write a number that divides 16",
    ),
];

#[test]
fn what_cannot_be_is_told_with_its_place_and_remedy() {
    for ([first, link, flow], said) in WRONG {
        let found = Experiment::read(&network(first, link, flow), "editions.toml", &[]);
        assert_eq!(found.err().map(|problem| problem.to_string()).as_deref(), Some(*said));
    }
    // Dictionaries from a program are read in the same way.
    let found = Experiment::read("{\"edition\": \"1\"}", "x.json", &[]).err().map(|problem| problem.to_string());
    assert_eq!(found.as_deref(), Some("x.json: edition: an edition is a number; write edition = 1, not `\"1\"`"));
}
