//! The header, the library and the example agree: names, constants, layout, and what the example
//! prints.

use fairq::codes::*;
use fairq::dispatcher::{FairqAsk, FairqSeats, FairqStarted, FairqTicket};
use fairq::records::{FairqAddress, FairqFate, FairqHeader, FairqLine, FairqPacket, FairqReading, FairqWeight};
use std::fmt::Write as _;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEADER: &str = concat!(include_str!("../include/fairq.h"), include_str!("../include/fairq_dispatcher.h"));
const CODES: &str = include_str!("../src/codes.rs");
const LIBRARY: &str = concat!(include_str!("../src/lib.rs"), include_str!("../src/dispatcher.rs"));
const EXAMPLE: &str = include_str!("../examples/two_flows.c");
const PAGE: &str = include_str!("../../../docs/guide/from-c.md");

const FLAGS: [&str; 6] = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Where this test's program lies: `<target>/<profile>/deps`.
fn deps() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    program.parent().expect("it lies in a folder").to_owned()
}

/// A C compiler with the flags that all C here passes, or a loud skip.
fn cc() -> Option<Command> {
    if Command::new("cc").arg("--version").output().is_err() {
        fairq_testkit::skip::skip("there is no C compiler `cc`; the header and the C example were not tried");
        return None;
    }
    let mut cc = Command::new("cc");
    cc.args(FLAGS).arg(root().join("include"));
    Some(cc)
}

/// What a program prints; it must pass.
fn output(command: &mut Command) -> String {
    let done = command.output().expect("it can be run");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {said}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// The words that follow `before` in `text`, each up to the first character that is none of a name.
fn names_after<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names: Vec<_> =
        text.split(before).skip(1).map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or_default()).collect();
    names.sort_unstable();
    names
}

#[test]
fn every_function_is_in_the_header_and_no_other() {
    let declared = HEADER.lines().filter(|line| line.contains('(') && !line.starts_with([' ', '/', '#', '*']));
    let mut declared: Vec<_> = declared
        .map(|line| line.split('(').next().and_then(|before| before.split([' ', '*']).next_back()).unwrap_or_default())
        .collect();
    declared.sort_unstable();
    assert_eq!(declared, names_after(LIBRARY, "extern \"C\" fn "));
    assert_eq!(declared.len(), 13 + 16);
}

macro_rules! constants {
    ($($name:ident)+) => {
        [$((stringify!($name), i128::from($name))),+]
    };
}

/// Every constant of the library with its value.
fn constants() -> Vec<(&'static str, i128)> {
    constants!(
        FAIRQ_OK FAIRQ_DROPPED FAIRQ_SEND FAIRQ_NOT_BEFORE FAIRQ_EMPTY FAIRQ_NONE FAIRQ_REFUSED_TOO_WIDE
        FAIRQ_REFUSED_FULL FAIRQ_REFUSED_TENANT_FULL FAIRQ_REFUSED_TOO_MANY_TENANTS FAIRQ_REFUSED_CLOSED
        FAIRQ_COST_UNKNOWN FAIRQ_ERROR_NULL FAIRQ_ERROR_TEXT
        FAIRQ_ERROR_RATE FAIRQ_ERROR_WEIGHT FAIRQ_ERROR_ADDRESS FAIRQ_ERROR_TIME FAIRQ_ERROR_BROKEN FAIRQ_ERROR_CHANGE FAIRQ_NODE
        FAIRQ_IPV4 FAIRQ_IPV6 FAIRQ_MAC FAIRQ_MARK_DEC FAIRQ_MARK_FQ FAIRQ_MARK_CE FAIRQ_FATE_DROPPED
        FAIRQ_FATE_MARKED FAIRQ_UNIT_NONE FAIRQ_UNIT_PACKETS FAIRQ_UNIT_BYTES FAIRQ_UNIT_SECONDS FAIRQ_UNIT_BIT_PER_S
        FAIRQ_VALUE_COUNT FAIRQ_VALUE_REAL FAIRQ_TIME_MAX
    )
    .to_vec()
}

#[test]
fn every_constant_is_in_the_header_and_no_other() {
    let mut named: Vec<_> = constants().iter().map(|(name, _)| *name).collect();
    named.sort_unstable();
    assert_eq!(named, names_after(CODES, "pub const "));
    let mut defined = names_after(HEADER, "#define ");
    defined.retain(|name| !name.ends_with("_H"));
    assert_eq!(named, defined);
}

macro_rules! layout {
    ($($type:ident $record:literal { $($field:ident),+ })+) => {{
        let mut text = String::new();
        $(
            let size = size_of::<$type>();
            writeln!(text, "_Static_assert(sizeof(struct {}) == {size}, \"size\");", $record).expect("a string");
            $(
                let at = offset_of!($type, $field);
                let field = stringify!($field);
                writeln!(text, "_Static_assert(offsetof(struct {}, {field}) == {at}, \"{field}\");", $record)
                    .expect("a string");
            )+
        )+
        text
    }};
}

#[test]
fn the_compiler_agrees_on_values_and_on_the_layout_of_the_records() {
    let Some(mut cc) = cc() else { return };
    let mut text = String::from("#include <fairq_dispatcher.h>\n");
    for (name, value) in constants() {
        let suffix = if value > i128::from(i64::MAX) { "ull" } else { "" };
        writeln!(text, "_Static_assert({name} == {value}{suffix}, \"{name}\");").expect("a string");
    }
    text += &layout!(
        FairqAddress "fairq_address" { kind, bytes }
        FairqHeader "fairq_header" { source, destination, protocol, source_port, destination_port, tos }
        FairqPacket "fairq_packet" { token, arrival_ps, deadline_ps, length, remaining, marks, accepts, tos }
        FairqFate "fairq_fate" { packet, outcome, marks, reason }
        FairqReading "fairq_reading" { name, subqueue, real, count, flow, has_flow, unit, kind }
        FairqWeight "fairq_weight" { header, thousandths }
        FairqLine "fairq_line" { bit_per_s, seed, weights, weights_count }
        FairqSeats "fairq_seats" { seats, items_max, items_per_tenant_max, tenants_max, guess }
        FairqAsk "fairq_ask" { cost, size, seats }
        FairqTicket "fairq_ticket" { serial, index }
        FairqStarted "fairq_started" { ticket, tenant, item, waited, seats }
    );
    let source = deps().join("fairq_layout.c");
    std::fs::write(&source, text).expect("the target folder can be written");
    output(cc.arg("-fsyntax-only").arg(&source));
}

#[test]
fn the_example_prints_what_the_guide_shows() {
    let parts: Vec<_> = PAGE.split("```c\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!parts.is_empty());
    for part in parts {
        assert!(
            EXAMPLE.contains(part),
            "examples/two_flows.c does not hold this part of docs/guide/from-c.md:\n{part}"
        );
    }
    let shown = PAGE.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let Some(printed) = printed_by("two_flows") else { return };
    assert_eq!(Some(printed.as_str()), shown);
}

#[test]
fn the_example_of_a_server_serves_a_small_tenant_beside_a_greedy_one() {
    let Some(printed) = printed_by("tenants") else { return };
    assert_eq!(printed, "fcfs:  g g g g g g s s\nsfq_d: g s g s g g g g\n");
}

/// What an example prints; `None` without a compiler.
fn printed_by(example: &str) -> Option<String> {
    let mut cc = cc()?;
    // The tests' build leaves the static library under a name with a hash; this one reuses what it
    // can of it.
    let target = deps().ancestors().nth(2).expect("<target>/<profile>/deps").to_owned();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--offline", "--package", "fairq-c", "--target-dir"]).arg(&target);
    output(build.current_dir(root()));
    let program = deps().join(example);
    cc.arg(root().join("examples").join(format!("{example}.c"))).arg(target.join("debug/libfairq.a"));
    output(cc.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
    Some(output(&mut Command::new(program)))
}
