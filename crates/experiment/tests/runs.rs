//! A run by itself: it gives what the experiment gives, wherever it is run, and its digest says
//! what that depends on.

use crate::running::{no_file, read};
use fairq_experiment::digest::{Digest, RESULTS_VERSION};
use fairq_experiment::experiment::{Experiment, Options, Stopped};
use fairq_experiment::progress::Progress;
use fairq_experiment::run::Run;
use serde_json::Value;
use std::collections::BTreeSet;

const TEXT: &str = "edition = 2\ntitle = \"two\"\n[measure]\nduration = \"2 s\"\nwarm_up = \"1 s\"\nreplications = 2\nseed = 5\n\
    [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\nqueue = \"drr(quantum=300B)\"\n\
    [[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ncount = 2\ntraffic = \"poisson(rate=0.5Mbit/s)\"\n\
    [[axes]]\nname = \"rate\"\npath = \"links.line.rate\"\nvalues = [\"1 Mbit/s\", \"2 Mbit/s\"]\n";

fn digests(experiment: &Experiment) -> Vec<Digest> {
    experiment.runs().map(|run| run.digest(&no_file).unwrap_or_else(|problem| panic!("{problem}"))).collect()
}

/// The document without what a machine contributes.
fn values(mut document: Value) -> String {
    document.as_object_mut().expect("a document").shift_remove("run_info");
    document.to_string()
}

#[test]
fn runs_on_other_threads_in_any_order_give_what_the_experiment_gives() {
    let experiment = read(TEXT);
    let whole = experiment.run(Options { workers: 1, files: &no_file, progress: &mut |_| true });
    let runs: Vec<Run> = experiment.runs().collect();
    assert_eq!(runs.len(), 4);
    let mut threads: Vec<_> = runs.into_iter().map(|run| std::thread::spawn(move || run.finish(&no_file))).collect();
    threads.reverse();
    let mut tables: Vec<_> =
        threads.into_iter().map(|thread| thread.join().expect("no panic").expect("no problem")).collect();
    tables.reverse();
    let collected = experiment.collect(tables.clone()).expect("as many tables as runs");
    assert_eq!(values(collected.document()), values(whole.expect("a result")));
    tables.pop();
    assert_eq!(experiment.collect(tables).map(|_| ()), Err("there are fewer tables than runs".to_owned()));
}

#[test]
fn a_digest_has_32_digits_and_is_read_back() {
    let digest = digests(&read(TEXT))[0];
    let text = digest.to_string();
    assert_eq!(text.len(), 32);
    assert_eq!(text.parse(), Ok(digest));
    for wrong in ["", "12", &text.to_uppercase().replace(char::is_numeric, "F"), &format!("{text}0")] {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
    }
}

#[test]
fn what_changes_no_value_changes_no_digest() {
    let first = digests(&read(TEXT));
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 4, "each point and seed has its own");
    for (old, new) in [
        ("title = \"two\"", "title = \"three\"\nabout = \"said anew\""),
        ("replications = 2", "replications = 3"),
        // The field may be written as a table.
        ("traffic = \"poisson(rate=0.5Mbit/s)\"", "traffic = { kind = \"poisson\", rate = \"500 kbit/s\" }"),
    ] {
        assert!(TEXT.contains(old), "{old}");
        let others = digests(&read(&TEXT.replace(old, new)));
        assert!(first.iter().all(|digest| others.contains(digest)), "{new}");
    }
    // The same points without axes.
    let (without, _) = TEXT.split_once("[[axes]]").expect("axes");
    assert_eq!(digests(&read(without)), first[..2]);
    let seed = digests(&read(&TEXT.replace("seed = 5", "seed = 6")));
    assert_eq!(seed[0], first[1], "the seed 6 at the first point");
}

#[test]
fn a_file_counts_by_its_content() {
    let text = TEXT.replace("poisson(rate=0.5Mbit/s)", "csv(file=p.csv)");
    let experiment = read(&text);
    let run = experiment.runs().next().expect("a run");
    let digest = |content: &'static str| run.digest(&|_| Ok(content.into())).ok();
    assert_ne!(digest("time_s,bytes\n0,100\n"), digest("time_s,bytes\n0,101\n"));
    assert_eq!(digest("x"), digest("x"));
    let problem = run.digest(&no_file).expect_err("no such file").to_string();
    assert!(problem.starts_with("a.toml:") && problem.contains("flows[0].traffic"), "{problem}");
}

/// A scenario with many kinds of fields, all written out.
fn everything() -> Value {
    let text = "edition = 2\n[measure]\nduration = \"2 s\"\n\
        [defaults]\ntransport = \"cubic\"\naccess = { rate = \"100 Mbit/s\", delay = \"1 ms\" }\n\
        [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"3 ms\"\nloss = 0.01\n\
        queue = \"drr(quantum=300B) + codel(target=7ms) + 40packets\"\n\
        [[links]]\nname = \"second\"\nfrom = \"b\"\nto = \"c\"\nrate = \"2 Mbit/s\"\nqueue = \"cake(rate=1Mbit/s)\"\n\
        [[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ncount = 2\ntraffic = \"poisson(rate=0.5Mbit/s)\"\n\
        [[flows]]\nname = \"y\"\nfrom = \"a\"\nto = \"c\"\ntraffic = \"ftp\"\ntransport = \"bbr\"\nweight = 2.0\n\
        connection = { recovery = \"sack\", initial_window = 3, receive_window = 90, acknowledge_every = 2, pacing = true }\n\
        access = { rate = \"80 Mbit/s\", delay = \"2 ms\" }\nsink_access = { rate = \"90 Mbit/s\", delay = \"3 ms\" }\n\
        stop = \"1900 ms\"\n\
        [[flows]]\nname = \"z\"\nfrom = \"a\"\nto = \"c\"\ntraffic = \"web\"\ntransport = \"reno\"\nstart = \"100 ms\"\n";
    let scenario = read(text).scenario().clone();
    serde_json::to_value(scenario).expect("a scenario has a form in JSON")
}

/// Another value of the same kind: an effect is asked of it, not a meaning.
fn another(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(is) => Some((!is).into()),
        Value::Number(number) if number.is_u64() => Some((number.as_u64()? + 1).into()),
        Value::Number(number) => Some((number.as_f64()? * 1.5 + 0.001).into()),
        Value::String(text) => {
            let at = text.find(|c: char| c.is_ascii_digit() && c != '0')?;
            let digit = if text.as_bytes()[at] == b'9' { "8" } else { "9" };
            Some(format!("{}{digit}{}", &text[..at], &text[at + 1..]).into())
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(table) => {
            table.iter().for_each(|(name, value)| leaves(value, &format!("{path}/{name}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| leaves(value, &format!("{path}/{at}"), found));
        }
        _ => found.push(path.to_owned()),
    }
}

/// Every field whose change leaves a scenario that can be read gives another digest, but for those
/// on which no value depends.
#[test]
fn every_field_that_matters_is_in_the_digest() {
    let tree = everything();
    let of = |tree: &Value| {
        let experiment = Experiment::read(&tree.to_string(), "a.json", &[]).ok()?;
        experiment.runs().next()?.digest(&no_file).ok()
    };
    let first = of(&tree).expect("it is read back");
    let mut paths = Vec::new();
    leaves(&tree, "", &mut paths);
    let mut changed = 0;
    for path in paths {
        let mut tree = tree.clone();
        let place = tree.pointer_mut(&path).expect("a leaf");
        let Some(value) = another(place) else { continue };
        *place = value;
        let Some(digest) = of(&tree) else { continue };
        let is_free = ["/measure/replications", "/title", "/about"].contains(&path.as_str());
        assert_eq!(digest == first, is_free, "{path}: {:?}", tree.pointer(&path));
        changed += usize::from(!is_free);
    }
    assert!(changed > 60, "{changed} fields could be changed");
}

/// The digest of the first run of `scenarios/dumbbell.toml`. Python's tests hold the extension to
/// the same, which is another build.
const DUMBBELL: &str = include_str!("dumbbell_digest.txt");

#[test]
fn a_digest_is_the_same_in_every_build() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/dumbbell.toml");
    let text = std::fs::read_to_string(path).expect("a scenario of the project");
    let found = digests(&read(&text))[0].to_string();
    assert_eq!(
        found,
        DUMBBELL.trim(),
        "scenario, its types or RESULTS_VERSION have changed: write dumbbell_digest.txt"
    );
}

/// The version of results and the digest of all fixed values, a line each since the first.
const VERSIONS: &str = include_str!("versions.txt");

/// A change of `values.txt` is a change of results: it takes a new version.
#[test]
fn the_version_of_results_rises_when_values_move() {
    let values = include_str!("values.txt");
    let digest = digest_of(values);
    let last = VERSIONS.lines().last().expect("a line");
    assert_eq!(
        last,
        format!("{RESULTS_VERSION} {digest}"),
        "values.txt has changed: raise RESULTS_VERSION in digest.rs and add its line to versions.txt"
    );
    let numbers: Vec<u32> = VERSIONS.lines().filter_map(|line| line.split_once(' ')?.0.parse().ok()).collect();
    assert_eq!(numbers, (1..=RESULTS_VERSION).collect::<Vec<_>>(), "a line for each version");
    let digests: BTreeSet<&str> = VERSIONS.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    assert_eq!(digests.len(), numbers.len(), "each version has values of its own");
}

/// FNV-1a of 64 bits: it tells versions of one file apart.
fn digest_of(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

#[test]
fn tables_of_runs_have_the_same_columns_whatever_they_hold() {
    let columns = |text: &str, table: &str| {
        let experiment = read(text);
        let outcome =
            experiment.outcome(Options { workers: 1, files: &no_file, progress: &mut |_| true }).expect("a result");
        let table = outcome.by_seed(table).expect("a table");
        table.columns().iter().map(|(name, cells)| (name.to_string(), cells.kind())).collect::<Vec<_>>()
    };
    let other = TEXT.replace("poisson(rate=0.5Mbit/s)", "web").replace("drr(quantum=300B)", "fifo");
    for table in ["flows", "links", "queues", "transfers", "sessions", "series", "packets", "states"] {
        assert_eq!(columns(TEXT, table), columns(&other, table), "{table}");
    }
    assert_eq!(columns(TEXT, "queues")[..2].iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["rate", "seed"]);
}

#[test]
fn a_run_is_had_by_its_point_and_any_seed() {
    let experiment = read(TEXT);
    for run in experiment.runs() {
        let same = experiment.run_at(run.point_number(), run.seed()).expect("the point is there");
        assert_eq!(same.digest(&no_file).ok(), run.digest(&no_file).ok());
        let given = run.given(&no_file).expect("no file is read");
        assert_eq!(Some(given.digest(run.seed())), run.digest(&no_file).ok());
        assert_ne!(given.digest(run.seed() + 1), given.digest(run.seed()));
        let tables = |run: &fairq_experiment::run::Run| run.finish(&no_file).map(|tables| tables.flows).ok();
        assert_eq!(tables(&same), tables(&run));
    }
    assert!(experiment.run_at(experiment.plans().len(), 1).is_none());
}

#[test]
fn short_runs_tell_their_progress_too_and_stop() {
    let text = "edition = 2\n[measure]\nduration = \"1 ms\"\nreplications = 5000\n\
        [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
        [[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\nstart = \"0 s\"\n";
    for workers in [1, 2] {
        let (mut calls, mut fraction) = (0, 0.0);
        let mut progress = |progress: Progress| {
            (calls, fraction) = (calls + 1, progress.fraction);
            fraction < 0.1
        };
        let stopped = read(text).outcome(Options { workers, files: &no_file, progress: &mut progress });
        let Err(Stopped::Interrupted(Some(so_far))) = stopped else { panic!("{workers} workers: it went on") };
        let ended = so_far.points[0].replications();
        assert_eq!(so_far.run_info["runs_complete"], ended, "{workers} workers");
        // A run in progress counts by its part, so that one of each worker may be missing.
        assert!((500 - workers..5000).contains(&ended), "{workers} workers: {ended} runs");
        assert!(calls > 10 && (0.1..0.5).contains(&fraction), "{workers} workers: {calls} calls, {fraction}");
    }
}

#[test]
fn of_points_that_were_stopped_the_complete_runs_remain_with_their_seeds() {
    let text = "edition = 2\n[measure]\nduration = \"1 s\"\nreplications = 3\nseed = 7\n\
        [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
        [[flows]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n\
        [[axes]]\nname = \"rate\"\npath = \"links.line.rate\"\nvalues = [\"1 Mbit/s\", \"2 Mbit/s\", \"4 Mbit/s\"]\n";
    let whole = read(text).outcome(Options { workers: 1, files: &no_file, progress: &mut |_| true });
    let whole = whole.unwrap_or_else(|_| panic!("nothing stops it"));
    let mut progress = |progress: Progress| progress.fraction < 0.4;
    let stopped = read(text).outcome(Options { workers: 1, files: &no_file, progress: &mut progress });
    let Err(Stopped::Interrupted(Some(so_far))) = stopped else { panic!("it went on") };
    let mut runs = 0;
    for (mine, of_all) in so_far.points.iter().zip(&whole.points) {
        assert_eq!(mine.point().labels, of_all.point().labels);
        // as text, in which NaN is itself
        assert!(format!("{:?}", mine.runs()) == format!("{:?}", &of_all.runs()[..mine.replications()]));
        runs += mine.replications();
    }
    assert!((1..9).contains(&runs), "{runs} runs");
    assert_eq!(so_far.by_seed("flows").map(|table| table.rows()), Some(runs));
}
