//! Faulty scenarios and the line that a user reads: file, line, place, and what to write instead.

mod cases;

use cases::CASES;
use fairq_experiment::experiment::{Experiment, Options, Stopped};

/// A scenario without fault; each case replaces one piece of it.
const SOUND: &str = r#"title = "a"
[measure]
duration = "1 s"
seed = 3
[defaults]
buffer = "15 packets"
queue = "fq"
[[links]]
name = "bottleneck"
from = "gateway"
to = "sink"
rate = "56 kbit/s"
queue = { scheduler = { kind = "fq", delta = "40 B" } }
[[flows]]
name = "1"
from = "gateway"
to = "sink"
traffic = { kind = "ftp", packet = "1000 B" }
transport = "generic"
weight = 2
route = ["bottleneck"]
[[axes]]
name = "policy"
values = [{ name = "a", set = { "defaults.queue" = "fifo" } }, { name = "b", set = { "defaults.queue" = "fq" } }]
"#;

/// Command lines, and the line that the user reads.
const SETS: &[(&str, &str, &str)] = &[
    (
        "links.bottelneck.rate",
        "1 Mbit/s",
        "a.toml: --set links.bottelneck.rate: nothing is called bottelneck; did you mean bottleneck?",
    ),
    ("links.9.rate", "1 Mbit/s", "a.toml: --set links.9.rate: nothing is called 9; there are bottleneck"),
    ("measure.duraton", "3 s", "a.toml: --set measure.duraton: no such field; did you mean duration?"),
    (
        "measure.duration",
        "3",
        r#"a.toml: --set measure.duration: write a time as text with a unit, like "3 s" or "3 ms", not `3`"#,
    ),
    ("flows.1.weight", "nan", r#"a.toml: --set flows.1.weight: write a number, like 1.5, not "nan""#),
    ("", "3", "a.toml: --set : an empty path; write path=value"),
    ("default.queue", "fq", "a.toml: --set default.queue: default: no such field; did you mean defaults?"),
    (
        "defaults.queue",
        "fq-codel",
        "a.toml: --set defaults.queue: `fq-codel` is no part of a queue; did you mean fq_codel?",
    ),
    ("title.x", "3", r#"a.toml: --set title.x: "a" has no field x"#),
    (
        "defaults.queue",
        "drr(quantm=3B)",
        "a.toml: --set defaults.queue: scheduler.quantm: no such field of drr; did you mean quantum?",
    ),
    (
        "defaults.queue.scheduler.delta",
        "3",
        r#"a.toml: --set defaults.queue.scheduler.delta: write a size as text with a unit, like "3 B", not `3`"#,
    ),
];

/// Trees of classes in the queue of the bottleneck, with the fields of a flow, and the line that
/// the user reads.
const TREES: &[(&str, &str, &str)] = &[
    (
        "hpfq\", classes = [{ name = \"voice\" }, { name = \"bulk\" }]",
        "class = \"voise\"",
        "a.toml:20: flows[0].class: no class voise in the queue of link bottleneck; did you mean voice?",
    ),
    ("hpfq\", scheduler = \"wfq\", classes = [{ name = \"voice\" }]", "class = \"voice\"", "NO FAULT"),
    ("fq", "class = \"anything\"", "NO FAULT"),
    (
        "hpfq\", scheduler = \"wf2q_pluss",
        "",
        "a.toml:13: links[0].queue.scheduler: wf2q_pluss is no scheduler; did you mean wf2q_plus?",
    ),
    (
        "hpfq\", classes = [{ name = \"a\", parent = \"b\" }, { name = \"bb\" }]",
        "",
        "a.toml:13: links[0].queue: hpfq: class `a`: no class is called b, its parent; did you mean bb?",
    ),
    (
        "hpfq\", classes = [{ name = \"a\", weight = 0 }]",
        "",
        "a.toml:13: links[0].queue.scheduler.classes[0].weight: `0`: a weight is a number from 0.001 to 1000000, in whole thousandths",
    ),
    (
        "htb\", classes = [{ name = \"a\", rate = \"-1 bit/s\" }]",
        "",
        "a.toml:13: links[0].queue.scheduler.classes[0].rate: `-1 bit/s`: a rate cannot be negative",
    ),
];

#[test]
fn a_tree_of_classes_is_checked_and_so_are_the_classes_that_flows_name() {
    let mut wrong = Vec::new();
    for (tree, field, said) in TREES {
        let closing = if tree.ends_with(']') { "" } else { "\"" };
        let text = SOUND
            .replace(
                "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }",
                &format!("queue = {{ scheduler = {{ kind = \"{tree}{closing} }} }}"),
            )
            .replace("weight = 2", field);
        let found = message(&text, &[]);
        if found != *said {
            wrong.push(format!("{tree}\n      {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

fn message(text: &str, sets: &[(String, String)]) -> String {
    Experiment::read(text, "a.toml", sets).err().map_or("NO FAULT".into(), |problem| problem.to_string())
}

/// A list that every new discipline extends is left out of the expected line: `…` stands for the
/// rest.
fn is_said(found: &str, said: &str) -> bool {
    said.strip_suffix('…').map_or(found == said, |start| found.starts_with(start))
}

#[test]
fn every_mistake_is_told_in_one_line_with_its_place_and_remedy() {
    assert_eq!(message(SOUND, &[]), "NO FAULT");
    let mut wrong = Vec::new();
    for (piece, instead, said) in CASES {
        assert!(SOUND.contains(piece), "{piece}");
        let found = message(&SOUND.replacen(piece, instead, 1), &[]);
        if !is_said(&found, said) {
            wrong.push(format!("{instead}\n      {found}\n"));
        }
    }
    for (path, value, said) in SETS {
        let found = message(SOUND, &[((*path).into(), (*value).into())]);
        if !is_said(&found, said) {
            wrong.push(format!("--set {path}={value}\n      {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

/// Whole files, and the line that the user reads.
const FILES: &[(&str, &str)] = &[
    ("", "a.toml: flows: there is none; write at least one [[flows]] with name, from, to and traffic"),
    ("\u{feff}", "a.toml: flows: there is none; write at least one [[flows]] with name, from, to and traffic"),
    ("flows = []", "a.toml:1: flows: there is none; write at least one [[flows]] with name, from, to and traffic"),
    ("hello", "a.toml:1: not TOML: key with no value, expected `=`"),
    ("\0", "a.toml:1: not TOML: key with no value, expected `=`"),
    ("[]", "a.toml:1: not TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ("{", "a.toml:1: not JSON: EOF while parsing an object at line 1 column 1"),
    ("{\"flows\": 3}", "a.toml: flows: write a list, like [\"a\", \"b\"] or one [[table]] after another, not `3`"),
];

#[test]
fn what_is_no_scenario_at_all_is_said_so() {
    for (text, said) in FILES {
        assert_eq!(message(text, &[]), *said, "{text:?}");
    }
}

/// One entry may stand for several flows: the fault of a capture is reported at the flow that names
/// it.
#[test]
fn a_file_that_cannot_be_read_is_told_at_its_flow() {
    let text = SOUND
        .replace("weight = 2", "count = 3\n[[flows]]\nname = \"2\"\nfrom = \"gateway\"\nto = \"sink\"")
        .replace("route = [\"bottleneck\"]", "traffic = { kind = \"capture\", file = \"lost.pcap\" }");
    let experiment = Experiment::read(&text, "a.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    for workers in [1, 2] {
        let files = |file: &str| Err(format!("{file}: there is no such file"));
        let options = Options { workers, files: &files, progress: &mut |_| true };
        let Err(Stopped::Problem(problem)) = experiment.run(options) else { panic!("a lost file was read") };
        assert_eq!(problem.to_string(), "a.toml:25: flows[1].traffic: lost.pcap: there is no such file");
    }
}

/// The fields with a narrower range than their type: a negative number gets the same range in its
/// message as zero.
#[test]
fn a_negative_count_is_told_of_the_range_that_zero_is_told_of() {
    for (piece, field) in [
        ("weight = 2", "count = "),
        ("seed = 3", "replications = "),
        ("transport = \"generic\"", "transport = { kind = \"generic\", window = "),
        ("transport = \"generic\"", "transport = { kind = \"jk\", window_max = "),
        ("transport = \"generic\"", "transport = \"reno\"\nconnection = { initial_window = "),
        ("transport = \"generic\"", "transport = \"reno\"\nconnection = { receive_window = "),
        ("transport = \"generic\"", "transport = \"reno\"\nconnection = { duplicates = "),
        ("transport = \"generic\"", "transport = \"reno\"\nconnection = { acknowledge_every = "),
    ] {
        let closing = if field.contains('{') { " }" } else { "" };
        let said = |value: i32| message(&SOUND.replacen(piece, &format!("{field}{value}{closing}"), 1), &[]);
        let range = |said: &str| {
            said.split_once("from ").map(|(_, range)| range.split([',', ' ']).take(3).collect::<Vec<_>>().join(" "))
        };
        let (negative, zero) = (said(-2), said(0));
        assert!(range(&negative).is_some() && range(&negative) == range(&zero), "{negative}\n{zero}");
    }
}

/// A result has each setting under its own name, whatever alias was used.
#[test]
fn a_scenario_in_the_words_of_the_field_is_the_same_scenario() {
    let of = |traffic: &str, transport: &str| {
        let text = SOUND.replacen("{ kind = \"ftp\", packet = \"1000 B\" }", traffic, 1);
        let text = text.replacen("\"generic\"", transport, 1);
        let experiment = Experiment::read(&text, "a.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
        experiment.scenario().clone()
    };
    let ours = of(
        "\"ftp(packet=1500B)\"",
        "\"cubic(decrease=0.8, scale=0.3, first_threshold=20)\"\nconnection = { timeout = { floor = \"200 ms\" } }",
    );
    let theirs =
        of("\"ftp(mss=1448B)\"", "\"cubic(beta=0.8, C=0.3, ssthresh=20)\"\nconnection = { min_rto = \"200 ms\" }");
    assert_eq!(ours, theirs);
}

/// A fault in the defaults is reported where it is written, with the flow that uses it.
#[test]
fn a_fault_of_the_defaults_is_told_at_the_line_of_the_defaults() {
    let (without_axes, _) = SOUND.split_once("[[axes]]").expect("it has axes");
    let own = "queue = { scheduler = { kind = \"fq\", delta = \"40 B\" } }\n";
    for (piece, instead, line, said) in [
        ("queue = \"fq\"", "queue = \"fq_codel + codel\"", 7, "queue: fq_codel "),
        ("queue = \"fq\"", "transport = \"cubic(decrease=1)\"", 7, "transport: decrease is 1; "),
        (
            "queue = \"fq\"",
            "transport = \"reno\"\nconnection = { initial_window = 0 }",
            8,
            "connection: initial_window is 0; ",
        ),
    ] {
        let text = without_axes.replacen(own, "", 1).replacen("transport = \"generic\"\n", "", 1);
        let found = message(&text.replacen(piece, instead, 1), &[]);
        assert!(found.starts_with(&format!("a.toml:{line}: defaults.{said}")), "{found}");
        // A composition is checked when it is read, the rest for the flow or link that uses the
        // defaults.
        let is_read = said.starts_with("queue");
        assert!(is_read || found.ends_with("(for flow 1)"), "{found}");
    }
    // The message names the option, not a line, if the option is the source.
    let found = message(&without_axes.replacen(own, "", 1), &[("defaults.queue".into(), "fq_codel + codel".into())]);
    assert!(found.starts_with("a.toml: --set defaults.queue: fq_codel "), "{found}");
}
