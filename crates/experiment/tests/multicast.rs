//! Sessions through whole networks whose numbers can be computed by hand.

use crate::running;
use fairq_experiment::build;
use fairq_experiment::scenario::read::Document;
use fairq_sched::units::Time;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::run::Simulation;
use serde_json::Value;
use std::sync::{Arc, Mutex};

fn run(text: &str, series: Option<Time>) -> Value {
    let mut experiment = running::read(text);
    experiment.sample_every(series.unwrap_or(Time::ZERO)).expect("few rows");
    running::document(&experiment)
}

fn receivers(text: &str) -> Vec<Value> {
    run(text, None)["sessions"].as_array().expect("rows").clone()
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("{column} is {}", row[column]))
}

fn link(name: &str, from: &str, to: &str, rate: &str, queue: &str) -> String {
    format!(
        "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"5 ms\"\n\
         queue = \"{queue}\"\n"
    )
}

/// Five layers of 50 kbit/s in pairs, over a trunk and a line of 256 kbit/s under fair queueing;
/// traffic in `more` may take a part of it.
fn pairs(queue: &str, more: &str) -> String {
    format!(
        "edition = 1\n[measure]\nduration = \"40 s\"\n{}{}[[sessions]]\nname = \"s\"\nfrom = \"source\"\nrates = [{}]\n\
         source = \"pairs\"\ncontrol = \"plm\"\n[[sessions.receivers]]\nat = \"home\"\ntarget = 5\n{more}",
        link("trunk", "source", "edge", "10 Mbit/s", "fq"),
        link("last", "edge", "home", "256 kbit/s", queue),
        ["\"50 kbit/s\""; 5].join(", "),
    )
}

const BACKLOGGED: &str = "[[flows]]\nname = \"x\"\nfrom = \"edge\"\nto = \"home\"\ntraffic = \"ftp\"\n\
                          transport = \"generic(window=20)\"\n";

#[test]
fn plm_takes_what_a_pair_tells() {
    let alone = &receivers(&pairs("fq + 20 packets", ""))[0];
    assert_eq!(alone["level_end"], 5);
    // The first pair arrives within the 320 ms between two; a check is a second later, with the
    // next pair; then it takes 5.
    let seconds = number(alone, "target_s");
    assert!((1.0..2.0).contains(&seconds), "{seconds}");
    assert_eq!((number(alone, "level_changes"), number(alone, "lost_packets")), (1.0, 0.0));
    let beside = &receivers(&pairs("fq", &format!("{BACKLOGGED}start = \"0 s\"\n")))[0];
    assert_eq!((&beside["level_end"], number(beside, "lost_packets")), (&Value::from(2), 0.0));
    assert_eq!(beside["target_s"], Value::Null);
    // With first in, first out the estimate of a pair is not the session's share.
    let fifo = &receivers(&pairs("fifo", &format!("{BACKLOGGED}start = \"0 s\"\n")))[0];
    assert_ne!(fifo["level_end"], 2);
}

/// Changes of levels, and by layer the times at which packets left the trunk.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<(Levels, Packets)>>);

type Levels = Vec<(Time, u32)>;
type Packets = Vec<(Time, u64)>;

impl Observer for Seen {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        let mut seen = self.0.lock().expect("one thread");
        match event {
            Event::Level { level, .. } => seen.0.push((now, *level)),
            Event::Sent { line: 0, segment, .. } => seen.1.push((now, segment.cumulative)),
            _ => {}
        }
    }
}

#[test]
fn a_layer_that_was_left_comes_until_the_router_has_waited_and_the_source_has_heard() {
    let text = pairs("fq", &format!("leave_latency = \"2 s\"\n{BACKLOGGED}start = \"20 s\"\n"));
    let document = Document::parse(&text, "multicast.toml").unwrap_or_else(|problem| panic!("{problem}"));
    let (scenario, _) = document.scenario().unwrap_or_else(|problem| panic!("{problem}"));
    let plan = build::plan(&scenario, &|_| Err(String::new()), None).unwrap_or_else(|fault| panic!("{fault:?}"));
    let mut simulation = Simulation::new(&plan, 1, &|_| Err(String::new())).unwrap_or_else(|fault| panic!("{fault:?}"));
    let seen = Seen::default();
    simulation.observe(Box::new(seen.clone()));
    simulation.run_until(Time::from_s(40));
    assert!(simulation.conserves_packets());
    let seen = seen.0.lock().expect("one thread");
    let (joined, left) = (seen.0[1], seen.0[2]);
    assert_eq!((seen.0[0].1, joined.1, left.1), (1, 5, 2), "{:?}", seen.0);
    // Two lines of 5 ms each, 320 bits at 256 kbit/s and at 10 Mbit/s; then the next pair of the
    // layer, 0.8 ms each.
    let message = Time(2 * 5_000_000_000 + 1_250_000_000 + 32_000_000);
    let top: Vec<Time> = seen.1.iter().filter(|(_, layer)| *layer == 4).map(|(time, _)| *time).collect();
    let (first, last) = (top[0], top[top.len() - 1]);
    assert!(first >= joined.0 + message && first <= joined.0 + message + Time::from_ms(325), "{first}");
    let pruned = left.0 + Time::from_s(2) + message;
    assert!(last <= pruned + Time::from_ms(5) && last + Time::from_ms(325) >= pruned, "{last} {pruned}");
}

#[test]
fn a_trunk_carries_what_the_greatest_receiver_takes_and_no_more() {
    let text = format!(
        "edition = 1\n[measure]\nwarm_up = \"10 s\"\nduration = \"40 s\"\n{}{}{}[[sessions]]\nname = \"s\"\nfrom = \"source\"\n\
         rates = [{}]\nsource = \"pairs\"\ncontrol = \"plm\"\n\
         receivers = [{{ at = \"fast\" }}, {{ at = \"slow\" }}, {{ at = \"slow\", name = \"other\" }}]\n",
        link("trunk", "source", "edge", "1 Mbit/s", "fq"),
        link("a", "edge", "fast", "256 kbit/s", "fq"),
        link("b", "edge", "slow", "128 kbit/s", "fq"),
        ["\"50 kbit/s\""; 5].join(", "),
    );
    let result = run(&text, None);
    let rows = result["sessions"].as_array().expect("rows");
    let levels: Vec<_> = rows.iter().map(|row| row["level_mean"].as_f64().expect("a number")).collect();
    assert_eq!(levels, [5.0, 2.0, 2.0]);
    let links = result["links"].as_array().expect("rows");
    let packets = |name: &str| {
        let row = links.iter().find(|row| row["link"] == name && row["direction"] == "forward");
        number(row.expect("a line"), "packets")
    };
    assert_eq!((packets("trunk"), packets("a"), packets("b")), (1250.0, 1250.0, 500.0));
    assert_eq!([0, 1, 2].map(|at| number(&rows[at], "packets")), [1250.0, 500.0, 500.0]);
}

/// Five layers of 32, 32, 64, 128 and 256 kbit/s with bursts, over 200 kbit/s with room for
/// `packets` packets.
fn bursts(packets: u32) -> String {
    format!(
        "edition = 1\n[measure]\nwarm_up = \"10 s\"\nduration = \"200 s\"\n{}[[sessions]]\nname = \"s\"\nfrom = \"source\"\n\
         layers = {{ count = 5, rate = \"32 kbit/s\" }}\nsource = \"bursts\"\ncontrol = \"rlc\"\n\
         receivers = [{{ at = \"home\", target = 3 }}]\n",
        link("last", "source", "home", "200 kbit/s", &format!("fifo + {packets} packets")),
    )
}

#[test]
fn rlc_doubles_up_to_what_the_line_carries() {
    // 128 kbit/s fit; the burst that tries 256 kbit/s overflows a small buffer.
    let row = &receivers(&bursts(5))[0];
    assert_eq!((number(row, "level_mean"), number(row, "level_changes")), (3.0, 0.0));
    assert!((number(row, "target_s") - 4.0).abs() < 0.5, "two points of the lowest layer and one of the next: {row}");
    // A buffer that holds the burst hides that: the receiver joins, loses, and leaves, again and
    // again.
    let row = &receivers(&bursts(20))[0];
    assert!(number(row, "level_changes") > 10.0 && number(row, "lost_packets") > 10.0, "{row}");
    // Without a limit no packet is ever lost, and the receiver takes all layers.
    let row = &receivers(&bursts(1_000_000))[0];
    assert_eq!(row["level_end"], 5);
}

#[test]
fn rlm_stays_about_what_the_line_carries() {
    let text = format!(
        "edition = 1\n[measure]\nwarm_up = \"60 s\"\nduration = \"600 s\"\n{}[[sessions]]\nname = \"s\"\nfrom = \"source\"\n\
         rates = [{}]\ncontrol = \"rlm\"\nleave_latency = \"200 ms\"\nreceivers = [{{ at = \"home\" }}]\n",
        link("last", "source", "home", "110 kbit/s", "fifo + 10 packets"),
        ["\"32 kbit/s\""; 6].join(", "),
    );
    let row = &receivers(&text)[0];
    // Three layers are 96 kbit/s. It tries the fourth from time to time, and loses packets
    // meanwhile.
    let mean = number(row, "level_mean");
    assert!((2.5..3.5).contains(&mean), "{row}");
    assert!(number(row, "level_changes") >= 10.0 && number(row, "loss") < 0.1, "{row}");
}

#[test]
fn series_tell_the_level_if_there_is_a_session() {
    let result = run(&pairs("fq", BACKLOGGED), Some(Time::from_s(1)));
    let rows = result["series"].as_array().expect("rows");
    let levels: Vec<_> = rows.iter().filter_map(|row| row["level"].as_u64()).collect();
    assert_eq!(levels.len(), 40);
    assert_eq!((levels[0], levels[39]), (1, 2));
    let columns = |row: &Value| row.as_object().expect("a row").keys().cloned().collect::<Vec<_>>();
    assert!(rows.iter().all(|row| columns(row) == columns(&rows[0])), "all rows have the same columns");
}
