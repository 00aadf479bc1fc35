//! Notes: limits of a run that its user may not have intended. Each code has a run that causes it,
//! and a similar one that does not.

use crate::running;
use fairq_experiment::experiment::{Experiment, Options};
use fairq_experiment::results::notes::CODES;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The notes on a run, as `code where: text`.
fn notes(text: &str) -> Vec<String> {
    let result = running::run(text);
    let notes = result["notes"].as_array().unwrap_or_else(|| panic!("no notes in {result}"));
    let word = |note: &Value, field: &str| note[field].as_str().unwrap_or_else(|| panic!("{note}: {field}")).to_owned();
    notes.iter().map(|note| format!("{} {}: {}", word(note, "code"), word(note, "where"), word(note, "text"))).collect()
}

/// A CUBIC connection over 10 Mbit/s with all settings given; each case replaces pieces.
const CLEAN: &str = r#"edition = 2
[measure]
warm_up = "2 s"
duration = "8 s"
[defaults]
start = "0 s"
access = { rate = "100 Mbit/s", buffer = "1000 packets" }
[[links]]
name = "l"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1 BDP"
[[flows]]
name = "f"
from = "a"
to = "b"
traffic = "ftp"
transport = "cubic"
"#;

/// The notes on the clean scenario with pieces replaced.
fn notes_with(pieces: &[(&str, &str)]) -> Vec<String> {
    let mut text = CLEAN.to_owned();
    for (piece, instead) in pieces {
        assert!(text.contains(piece), "{piece}");
        text = text.replacen(piece, instead, 1);
    }
    notes(&text)
}

#[test]
fn a_run_that_nothing_limits_but_its_links_has_no_notes() {
    assert_eq!(notes(CLEAN), [""; 0]);
    assert_eq!(notes(&CLEAN.replace("edition = 2", "edition = 1")), [""; 0]);
    // For every source: its own rate is intended.
    for traffic in ["telnet", "poisson(rate=1Mbit/s)", "request_response(size=10kB)", "ftp(packets=20000)"] {
        assert_eq!(
            notes_with(&[("traffic = \"ftp\"\ntransport = \"cubic\"", &format!("traffic = \"{traffic}\""))]),
            [""; 0]
        );
    }
}

#[test]
fn an_edition_that_is_not_named_is_told_with_what_it_decided() {
    let bare = notes_with(&[
        ("edition = 2", ""),
        ("buffer = \"1 BDP\"\n", "queue = \"fq_codel\"\n"),
        ("transport = \"cubic\"\n", ""),
        (", buffer = \"1000 packets\"", ""),
    ]);
    let said = "edition edition: edition 2, as the scenario names none: cubic with connection linux for f; \
                packets of 1500 B; acknowledgements of 52 B; room for 10240 packets at l; room for 1000 packets at \
                access lines; write edition = 2 to keep this, or \
                edition = 1 for the defaults of 1990";
    assert_eq!(bare, [said]);
    // Only defaults, at any point of the axes.
    let some = notes_with(&[
        ("edition = 2", ""),
        ("traffic = \"ftp\"", "traffic = \"ftp(packet=1000B)\""),
        (
            "start = \"0 s\"",
            "start = \"0 s\"\nconnection = { recovery = \"sack\", reduces = \"flight\" }\nacknowledgement = \"40 B\"",
        ),
        (
            "transport = \"cubic\"\n",
            "[[axes]]\nname = \"how\"\nvalues = [{ name = \"x\", set = { \"flows[0].transport\" = \"reno\" } }]\n",
        ),
    ]);
    assert_eq!(some, [""; 0]);
    let axis = "[[axes]]\nname = \"edition of\"\npath = \"edition\"\nvalues = [1, 2]\n";
    assert_eq!(notes(&format!("{}{axis}", CLEAN.replace("edition = 2", ""))), [""; 0]);
}

#[test]
fn a_window_that_holds_a_flow_back_is_told_unless_the_scenario_says_it() {
    let generic = ("transport = \"cubic\"", "transport = \"generic\"");
    let found = notes_with(&[generic]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("window flows.f: ") && found[0].contains("the window of generic, 5 packets"),
        "{found:?}"
    );
    assert_eq!(notes_with(&[("transport = \"cubic\"", "transport = \"generic(window=6)\"")]), [""; 0]);
    assert_eq!(notes_with(&[("transport = \"cubic\"", "transport = \"generic(window=5)\"")]), [""; 0]);
    assert_eq!(
        notes_with(&[("transport = \"cubic\"", ""), ("[defaults]", "[defaults]\ntransport = \"jk(window_max=3)\"")]),
        [""; 0]
    );
    let small = ("transport = \"cubic\"", "connection = { receive_window = 4 }\ntransport = \"cubic\"");
    let found = notes_with(&[small]);
    assert!(found.len() == 1 && found[0].contains("its receive window, 4 packets"), "{found:?}");
    // Where the window fills the line, the line is the limit.
    assert_eq!(notes_with(&[generic, ("rate = \"10 Mbit/s\"", "rate = \"1 Mbit/s\"")]), [""; 0]);
    // The copies of a flow have one note.
    assert_eq!(notes_with(&[("transport = \"cubic\"", "transport = \"generic\"\ncount = 3")]).len(), 1);
}

#[test]
fn an_access_line_that_holds_a_flow_back_is_told() {
    let slow = ("access = { rate = \"100 Mbit/s\"", "access = { rate = \"2 Mbit/s\"");
    let found = notes_with(&[slow]);
    assert!(found.len() == 1 && found[0].starts_with("access flows.f: "), "{found:?}");
    assert!(found[0].contains("its access line of 2.00 Mbit/s"), "{found:?}");
    // Six of them fill the link too, and some are held by their own lines; behind a fair queue
    // twelve are held by the link alone.
    let copies = |count: u32, queue: &str| {
        let copies = format!("transport = \"cubic\"\ncount = {count}");
        let queue = format!("queue = \"{queue}\"\nbuffer = \"1 BDP\"");
        notes_with(&[slow, ("transport = \"cubic\"", &copies), ("buffer = \"1 BDP\"", &queue)])
    };
    let found = copies(6, "fifo");
    assert!(found.len() == 1 && found[0].contains("held it back for a part of the time"), "{found:?}");
    assert_eq!(copies(12, "fq"), [""; 0]);
}

#[test]
fn a_long_queue_is_told_where_no_buffer_is_named() {
    let found = notes_with(&[("buffer = \"1 BDP\"\n", "")]);
    assert!(found.len() == 1 && found[0].starts_with("queue links.l: "), "{found:?}");
    assert!(found[0].contains("room for 1000 packets") && found[0].contains("forward"), "{found:?}");
    assert_eq!(notes_with(&[("buffer = \"1 BDP\"\n", "buffer = \"unlimited\"\n")]), [""; 0]);
    assert_eq!(notes_with(&[("buffer = \"1 BDP\"\n", "queue = \"fq_codel\"\n")]), [""; 0]);
}

#[test]
fn a_queue_without_room_for_a_packet_is_told() {
    let text = "room links.l: forward, it has room for 39 B, and no packet passed; write a larger buffer";
    assert_eq!(notes_with(&[("buffer = \"1 BDP\"", "buffer = \"39 B\"")]), [text]);
    assert!(notes_with(&[("buffer = \"1 BDP\"", "buffer = \"15 kB\"")]).is_empty());
}

#[test]
fn a_start_beyond_the_end_is_told_unless_an_axis_chooses_it() {
    let late = ("transport = \"cubic\"", "transport = \"cubic\"\nstart = \"1 h\"");
    let found = notes_with(&[late]);
    assert_eq!(
        found,
        ["start flows.f: it starts at 3600 s and the run ends at 10 s: it sent nothing; write an earlier start"]
    );
    let axis = "[[axes]]\nname = \"begins\"\npath = \"flows[0].start\"\nvalues = [\"0 s\", \"1 h\"]\n";
    assert_eq!(notes(&format!("{CLEAN}{axis}")), [""; 0]);
}

#[test]
fn a_receive_window_that_held_a_flow_is_told_whatever_else_happened() {
    let long =
        [("delay = \"10 ms\"", "delay = \"100 ms\"\nloss = 0.002"), ("rate = \"10 Mbit/s\"", "rate = \"100 Mbit/s\"")];
    let with = |transport: &str| {
        let transport = format!("transport = \"bbr\"\n{transport}");
        notes_with(&[
            long[0],
            long[1],
            ("rate = \"100 Mbit/s\"", "rate = \"1 Gbit/s\""),
            ("transport = \"cubic\"", &transport),
        ])
    };
    let found = with("connection = { receive_window = 300 }");
    assert!(
        found.len() == 1 && found[0].starts_with("window flows.f: its receive window, 300 packets, held it"),
        "{found:?}"
    );
    assert!(found[0].ends_with("% of the time; write a larger connection.receive_window"), "{found:?}");
    assert_eq!(with("connection = { receive_window = 100000 }"), [""; 0]);
}

#[test]
fn the_end_of_a_flow_s_data_is_told() {
    let found = notes_with(&[("traffic = \"ftp\"", "traffic = \"ftp(packets=5000)\"")]);
    assert!(
        found.len() == 1 && found[0].starts_with("application flows.f: the end of its data held it back"),
        "{found:?}"
    );
    assert_eq!(notes_with(&[("traffic = \"ftp\"", "traffic = \"ftp(packets=20000)\"")]), [""; 0]);
}

#[test]
fn a_flow_that_delivered_nothing_is_told_with_the_reason() {
    let because = |pieces: &[(&str, &str)], code: &str, part: &str| {
        let found = notes_with(pieces);
        assert!(found.iter().any(|note| note.starts_with(code) && note.contains(part)), "{part}: {found:?}");
    };
    because(
        &[("delay = \"10 ms\"", "delay = \"20 s\"")],
        "nothing flows.f",
        "it starts at 0 s, its first packet takes 20",
    );
    because(&[("rate = \"10 Mbit/s\"", "rate = \"1 bit/s\"")], "nothing links.l", "forward, no packet passed");
    let brief = [("warm_up = \"2 s\"", "warm_up = \"0 s\""), ("duration = \"8 s\"", "duration = \"100 ms\"")];
    because(&[brief[0], brief[1], ("start = \"0 s\"", "")], "nothing flows.f", "starts at a random time");
    because(
        &[("transport = \"cubic\"", "transport = \"cubic\"\nstop = \"1 s\"")],
        "nothing flows.f",
        "it stops at 1 s",
    );
    because(&[("traffic = \"ftp\"", "traffic = \"ftp(packets=10)\"")], "nothing flows.f", "it had sent all its data");
    let slow = ("buffer = \"1 BDP\"", "queue = \"cake(rate=1kbit/s)\"");
    because(&[slow], "nothing links.l", "forward, no packet passed");
    because(&[("delay = \"10 ms\"", "delay = \"10 ms\"\nloss = 0.999999")], "nothing flows.f", "lost on the way");
    assert_eq!(notes(CLEAN), [""; 0]);
}

#[test]
fn a_start_that_may_miss_the_measured_time_is_told() {
    let with = |warm_up: &str| {
        notes_with(&[("warm_up = \"2 s\"", &format!("warm_up = \"{warm_up}\"")), ("start = \"0 s\"", "")])
    };
    let found = with("500 ms");
    assert!(found.len() == 1 && found[0].starts_with("start flows.f: it starts at a random time"), "{found:?}");
    assert_eq!([with("0 s"), with("1 s")].concat(), [""; 0]);
    assert_eq!(notes_with(&[("warm_up = \"2 s\"", "warm_up = \"500 ms\"")]), [""; 0]);
}

#[test]
fn a_weight_that_no_queue_goes_by_is_told() {
    let weight = ("transport = \"cubic\"", "transport = \"cubic\"\nweight = 3");
    let queue =
        |text: &str| notes_with(&[weight, ("buffer = \"1 BDP\"", &format!("queue = \"{text}\"\nbuffer = \"1 BDP\""))]);
    for text in ["fifo", "fq_codel", "drr_plus_plus(buckets=8)"] {
        let found = queue(text);
        assert!(found.len() == 1 && found[0].starts_with("weight flows.f: its weight 3"), "{text}: {found:?}");
    }
    for text in ["fq", "drr", "fifo + csfq"] {
        assert_eq!(queue(text), [""; 0], "{text}");
    }
}

#[test]
fn packets_that_may_be_marked_and_are_not_are_told() {
    let with = |transport: &str, queue: &str| {
        let transport = format!("transport = \"{transport}\"");
        let queue = format!("queue = \"{queue}\"\nbuffer = \"1 BDP\"");
        notes_with(&[("transport = \"cubic\"", &transport), ("buffer = \"1 BDP\"", &queue)])
    };
    for (transport, queue) in
        [("cubic(ecn=true)", "fifo"), ("prague", "fifo + codel"), ("dctcp", "fifo + pie"), ("dctcp", "fifo + red")]
    {
        let found = with(transport, queue);
        assert!(found.len() == 1 && found[0].starts_with("ecn flows.f: its packets may be marked"), "{found:?}");
    }
    for (transport, queue) in
        [("cubic(ecn=true)", "fq_codel"), ("prague", "dualpi2"), ("dctcp", "fifo + step"), ("cubic", "fifo")]
    {
        assert_eq!(with(transport, queue), [""; 0], "{transport}, {queue}");
    }
}

#[test]
fn equal_sources_that_get_unequal_shares_of_a_full_fifo_are_told() {
    let floods = |jitter: u32, second: &str| {
        let of = |rate: &str| format!("traffic = {{ kind = \"constant_rate\", rate = \"{rate}\", jitter = {jitter} }}");
        let text = CLEAN
            .replace("start = \"0 s\"\n", "")
            .replace("traffic = \"ftp\"\ntransport = \"cubic\"", &of("50 Mbit/s"));
        let another = format!("[[flows]]\nname = \"g\"\nfrom = \"a\"\nto = \"b\"\n{}\n", of(second));
        notes(&(text + &another))
    };
    let found = floods(0, "50 Mbit/s");
    let tie = "tie links.l: forward, its queue is full, and f and g send at equal distances";
    assert!(found.iter().any(|note| note.starts_with(tie)), "{found:?}");
    assert_eq!(floods(1, "50 Mbit/s"), [""; 0]);
    assert_eq!(floods(0, "49 Mbit/s"), [""; 0]);
}

#[test]
fn packets_of_another_size_than_ns_2s_are_told() {
    let with = |connection: &str, packet: &str, acknowledgement: &str| {
        let traffic = format!("traffic = \"ftp(packet={packet})\"\nconnection = \"{connection}\"");
        let defaults = format!("[defaults]\nacknowledgement = \"{acknowledgement}\"");
        notes_with(&[("traffic = \"ftp\"", &traffic), ("[defaults]", &defaults)])
    };
    let found = with("ns-2", "1500B", "40 B");
    assert!(found.len() == 1 && found[0].starts_with("packet flows.f: its profile is ns-2"), "{found:?}");
    assert_eq!(with("ns-2", "1000B", "52 B").len(), 1);
    assert_eq!(with("ns-2", "1000B", "40 B"), [""; 0]);
    assert_eq!(with("linux", "1500B", "52 B"), [""; 0]);
}

#[test]
fn copas_that_compete_with_each_other_are_told() {
    let with = |transport: &str, count: u32, queue: &str| {
        let transport = format!("transport = \"{transport}\"\ncount = {count}");
        let queue = format!("queue = \"{queue}\"\nbuffer = \"1 BDP\"");
        notes_with(&[("transport = \"cubic\"", &transport), ("buffer = \"1 BDP\"", &queue)])
    };
    let found = with("copa", 3, "fifo");
    assert!(
        found.len() == 1 && found[0].starts_with("copa links.l: forward, only Copa flows share it, 3"),
        "{found:?}"
    );
    for (transport, count, queue) in
        [("copa", 2, "fifo"), ("copa(competes=false)", 5, "fifo"), ("copa", 5, "fq_codel"), ("cubic", 5, "fifo")]
    {
        assert_eq!(with(transport, count, queue), [""; 0], "{transport}, {count}, {queue}");
    }
}

#[test]
fn a_class_that_no_queue_knows_is_told() {
    let class = ("transport = \"cubic\"", "transport = \"cubic\"\nclass = \"gold\"");
    let found = notes_with(&[class]);
    assert!(found.len() == 1 && found[0].starts_with("class flows.f: its class gold"), "{found:?}");
    let tree = "queue = \"htb(classes=[(name=gold, rate=1Mbit/s), (name=rest, rate=1Mbit/s)], default=rest)\"\nbuffer";
    assert_eq!(
        notes_with(&[class, ("buffer", "buffer"), ("\nbuffer = \"1 BDP\"", &format!("\n{tree} = \"1 BDP\""))]),
        [""; 0]
    );
}

#[test]
fn more_rate_than_there_is_is_told() {
    let queue = |text: &str| notes_with(&[("buffer = \"1 BDP\"", &format!("queue = \"{text}\"\nbuffer = \"1 BDP\""))]);
    let htb = |a: u32, b: u32| {
        format!(
            "htb(classes=[(name=all, rate=10Mbit/s), (name=a, parent=all, rate={a}Mbit/s), (name=b, parent=all, rate={b}Mbit/s)])"
        )
    };
    let hfsc = |a: u32, b: u32| {
        let leaf = |name: &str, rate: u32| format!("(name={name}, real_time=(m2={rate}Mbit/s))");
        format!("hfsc(classes=[{}, {}])", leaf("a", a), leaf("b", b))
    };
    let cbs = |a: u32, b: u32| {
        let class = |name: &str, rate: u32| format!("(name={name}, idle_slope={rate}Mbit/s)");
        format!("cbs(classes=[{}, {}], default=a)", class("a", a), class("b", b))
    };
    let rest = "when all send, the line and their turns decide what each gets, not its rate; Linux takes it so too";
    assert_eq!(
        queue(&htb(8, 8)),
        [format!(
            "oversubscribed links.l: htb: class `all` has 10 Mbit/s, and the rates below it are 16 Mbit/s together: {rest}"
        )]
    );
    assert_eq!(
        queue(&hfsc(9, 7)),
        [
            "oversubscribed links.l: hfsc: the real_time curves rise by 16 Mbit/s together, and the line has 10 Mbit/s: their \
          deadlines cannot all be met; Linux takes it so too"
        ]
    );
    assert_eq!(
        queue(&cbs(9, 7)),
        [
            "oversubscribed links.l: cbs: the idle slopes are 16 Mbit/s together, and the line has 10 Mbit/s: the first classes \
          can keep the others from it"
        ]
    );
    for text in [htb(8, 2), hfsc(8, 2), cbs(8, 2)] {
        assert_eq!(queue(&text), [""; 0], "{text}");
    }
}

#[test]
fn too_few_seeds_are_told() {
    // Bursts of which a run of eight seconds has at most one.
    let rare = "traffic = \"on_off(rate=1Mbit/s, on=exponential(mean=1s), off=pareto(mean=60s))\"";
    let few = [("traffic = \"ftp\"\ntransport = \"cubic\"", rare), ("duration", "replications = 2\nduration")];
    let found = notes_with(&few);
    assert!(
        found.len() == 1 && found[0].starts_with("seeds measure.replications: 2 leave the throughput of f between "),
        "{found:?}"
    );
    assert_eq!(notes_with(&[("duration", "replications = 2\nduration")]), [""; 0]);
}

/// The codes of the notes on every small scenario, so that a new one is noticed. Scenarios about a
/// limit name it.
#[test]
fn the_scenarios_of_the_repository_have_no_notes_but_these() {
    let expected: &[(&str, &str)] = &[
        // A FIFO of 1000 packets holds more than the host has room for while losses are repaired.
        ("class_leaves.toml", "\"send_buffer\""),
        // Its two flows are one conversation, which they share by their equal windows.
        ("come_and_go.toml", "\"pair\""),
        ("phase.toml", "\"tie\""),
        // A conversation that is known and sends next to nothing.
        ("virtual_clock.toml", "its traffic had nothing to send"),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(&folder).expect("a folder").filter_map(Result::ok) {
        let name = entry.file_name().into_string().expect("a name");
        if !name.ends_with(".toml") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).expect("a file");
        let experiment = Experiment::read(&text, &name, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        let files = |file: &str| std::fs::read(folder.join(file)).map_err(|fault| fault.to_string());
        let result = experiment.run(Options { workers: 2, files: &files, progress: &mut |_| true });
        let result = result.unwrap_or_else(|stopped| panic!("{stopped:?}"));
        found.extend(result["notes"].as_array().expect("notes").iter().map(|note| format!("{name} {note}")));
    }
    let is_expected = |note: &String| expected.iter().any(|(name, part)| note.starts_with(name) && note.contains(part));
    let others: Vec<&String> = found.iter().filter(|note| !is_expected(note)).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn flows_with_the_same_ends_that_a_queue_takes_for_one_are_told() {
    let access = "access = { rate = \"100 Mbit/s\", buffer = \"1000 packets\" }\n";
    let of = |queue: &str, access_instead: &str| {
        let queue = format!("buffer = \"1 BDP\"\nqueue = {queue}");
        let copies = "transport = \"cubic\"\ncount = 2";
        let pieces = [(access, access_instead), ("buffer = \"1 BDP\"", &queue), ("transport = \"cubic\"", copies)];
        notes_with(&pieces).into_iter().filter(|note| note.starts_with("pair ")).collect::<Vec<_>>()
    };
    for queue in ["fq", "drr", "sfq", "wf2q_plus"] {
        let [note] = &of(&format!("\"{queue}\""), "")[..] else { panic!("{queue} has one note") };
        let said =
            format!("pair links.l: forward, {queue} goes by pairs of ends, and 2 flows go from a to b, as f.1 and f.2");
        assert!(note.starts_with(&said) && note.contains(&format!("write \"{queue} + port_pair\"")), "{note}");
    }
    // Which classifier is meant is written, or no flow is told apart, or the ends differ.
    for queue in ["\"fq + port_pair\"", "\"fq + pair\"", "\"fifo\"", "\"fq_codel\""] {
        assert_eq!(of(queue, ""), [""; 0], "{queue}");
    }
    assert_eq!(of("\"fq\"", access), [""; 0]);
}

#[test]
fn every_code_stands_in_the_guide() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/notes.md");
    let page = std::fs::read_to_string(page).expect("docs/guide/notes.md");
    for (code, means) in CODES {
        assert!(
            page.contains(&format!("| `{code}` | {means} |")),
            "docs/guide/notes.md has no row `{code}` that says: {means}"
        );
    }
}
