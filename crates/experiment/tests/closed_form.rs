//! Networks whose numbers can be computed by hand.

use fairq_experiment::build;
use fairq_experiment::experiment::{Experiment, Options};
use fairq_experiment::scenario::read::Document;
use fairq_sched::units::Time;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::run::Simulation;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// What a scenario gives.
fn result_of(text: &str) -> Value {
    let experiment = Experiment::read(text, "known.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let files = |_: &str| Err("no file is read here".to_string());
    let result = experiment.run(Options { workers: 2, files: &files, progress: &mut |_| true });
    result.unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

/// The rows of the flows of a scenario.
fn flows(text: &str) -> Vec<Value> {
    result_of(text)["flows"].as_array().expect("rows").clone()
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("{column} is {}", row[column]))
}

fn link(rate: &str, more: &str) -> String {
    format!(
        "[[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate}\"\nreverse_queue = \"fifo\"\n{more}\n"
    )
}

fn flow(name: &str, traffic: &str, more: &str) -> String {
    format!("[[flows]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\ntraffic = {traffic}\n{more}\n")
}

/// The mean wait of M/D/1 is ρ/(2(1−ρ)) services. The mean of 40 replications is within twice its
/// 95 % interval; a correct run would fail once in some 10 000. The interval is narrow enough to
/// separate M/D/1 from M/M/1, which waits twice as long.
#[test]
fn poisson_packets_wait_as_m_d_1_says() {
    for rho in [0.2, 0.5, 0.8] {
        let measure = "edition = 1\n[measure]\nwarm_up = \"500 s\"\nduration = \"20000 s\"\nreplications = 40\n";
        let traffic = format!("\"poisson(rate={}bit/s)\"", (8000.0 * rho) as u64);
        let rows = flows(&format!("{measure}{}{}", link("8 kbit/s", ""), flow("x", &traffic, "")));
        let mean = number(&rows[0], "delay_s_mean");
        let half = (number(&rows[0], "delay_s_mean_high") - number(&rows[0], "delay_s_mean_low")) / 2.0;
        let wait = rho / (2.0 * (1.0 - rho));
        assert!((mean - 1.0 - wait).abs() < 2.0 * half, "rho {rho}: {mean} is not 1 + {wait}, within {half}");
        assert!(half < 0.05 * wait, "rho {rho}: {half}");
    }
}

/// What packets find at a line: the packets that wait or are being sent, and those that arrived
/// since the line was last idle.
#[derive(Clone, Default)]
struct Found(Arc<Mutex<Counts>>);

#[derive(Default)]
struct Counts {
    held: usize,
    since_idle: usize,
    /// By number of packets: how many arrivals found that number.
    finding_held: Vec<u32>,
    finding_since_idle: Vec<u32>,
    /// By number of packets: how many busy periods had that number.
    busy_periods: Vec<u32>,
}

fn count(table: &mut Vec<u32>, number: usize) {
    if table.len() <= number {
        table.resize(number + 1, 0);
    }
    table[number] += 1;
}

impl Observer for Found {
    fn event(&mut self, _now: Time, event: &Event<'_>) {
        let mut counts = self.0.lock().expect("one thread");
        let Counts { held, since_idle, finding_held, finding_since_idle, busy_periods } = &mut *counts;
        match event {
            Event::Arrived { line: 0, .. } => {
                count(finding_held, *held);
                count(finding_since_idle, *since_idle);
                (*held, *since_idle) = (*held + 1, *since_idle + 1);
            }
            Event::Sent { line: 0, .. } => {
                *held -= 1;
                if *held == 0 {
                    count(busy_periods, core::mem::take(since_idle));
                }
            }
            _ => {}
        }
    }
}

/// The mean of a table of counts, or the share above a number.
#[derive(Clone, Copy, Debug)]
enum Of {
    Mean,
    Above(usize),
}

impl Of {
    fn take(self, table: &[u32]) -> f64 {
        let sum = |weight: &dyn Fn(usize) -> f64| -> f64 {
            table.iter().enumerate().map(|(number, count)| weight(number) * f64::from(*count)).sum()
        };
        let weighted = match self {
            Self::Mean => sum(&|number| number as f64),
            Self::Above(most) => sum(&|number| f64::from(u8::from(number > most))),
        };
        weighted / sum(&|_| 1.0)
    }
}

/// Poisson packets of one second each at a line, for forty seeds of `seconds` seconds.
fn found_by_packets(load: f64, seconds: u64) -> Vec<Found> {
    let of_seed = |seed| {
        let traffic = format!("\"poisson(rate={}bit/s)\"", (8000.0 * load).round());
        let text = format!(
            "edition = 1\n[measure]\nduration = \"{seconds} s\"\nseed = {seed}\n{}{}",
            link("8 kbit/s", ""),
            flow("x", &traffic, "transport = \"uncontrolled\"")
        );
        let document = Document::parse(&text, "known.toml").unwrap_or_else(|problem| panic!("{problem}"));
        let (scenario, _) = document.scenario().unwrap_or_else(|problem| panic!("{problem}"));
        let plan = build::plan(&scenario, &|_| Err(String::new()), None).unwrap_or_else(|fault| panic!("{fault:?}"));
        let simulation = Simulation::new(&plan, seed, &|_| Err(String::new()));
        let mut simulation = simulation.unwrap_or_else(|fault| panic!("{fault:?}"));
        let found = Found::default();
        simulation.observe(Box::new(found.clone()));
        simulation.run_until(Time::from_s(seconds));
        found
    };
    (1..=40).map(of_seed).collect()
}

/// M/D/1, one packet a flow: an arriving packet finds the distribution at any time. The number of
/// packets present is the number of flows with a packet queued. The number that arrived since the
/// line was last idle is the number of flows that start-time fair queueing keeps: rho (1 - rho/2) /
/// (1 - rho)^2 on average. The number in a busy period has Borel's distribution. The mean of forty
/// seeds is within its 99.9 % interval (t of 39 is 3.56) of the number, plus its rounding.
#[test]
fn flows_that_a_line_has_to_remember_are_as_many_as_queueing_theory_says() {
    type Tables = [&'static [(Of, f64, f64)]; 3];
    // For packets present, packets since the line was idle, and busy periods: the number, and half
    // of its last digit.
    let known: [(f64, Tables); 4] = [
        (
            0.5,
            [&[(Of::Mean, 0.75, 0.0), (Of::Above(5), 1.24e-3, 5e-6)], &[(Of::Mean, 1.5, 0.0)], &[(Of::Mean, 2.0, 0.0)]],
        ),
        (
            0.8,
            [
                &[(Of::Mean, 2.40, 0.0), (Of::Above(5), 0.1005, 5e-5)],
                &[(Of::Mean, 12.0, 0.0)],
                &[(Of::Mean, 5.0, 0.0), (Of::Above(100), 1.4e-3, 5e-5)],
            ],
        ),
        (
            0.9,
            [
                &[(Of::Mean, 4.95, 0.0), (Of::Above(5), 0.331, 5e-4), (Of::Above(20), 1.48e-2, 5e-5)],
                &[(Of::Mean, 49.5, 0.0), (Of::Above(100), 0.15, 0.005), (Of::Above(500), 0.0045, 0.0005)],
                &[(Of::Mean, 10.0, 0.0), (Of::Above(100), 1.72e-2, 5e-5), (Of::Above(500), 3.5e-4, 5e-6)],
            ],
        ),
        (
            0.95,
            [
                &[(Of::Mean, 9.975, 0.0)],
                &[(Of::Mean, 199.5, 0.0), (Of::Above(500), 0.11, 0.005)],
                &[(Of::Mean, 20.0, 0.0), (Of::Above(100), 4.1e-2, 5e-4), (Of::Above(500), 6.0e-3, 5e-5)],
            ],
        ),
    ];
    for (load, tables) in known {
        let found = found_by_packets(load, 100_000);
        for (number, numbers) in tables.iter().enumerate() {
            for (of, expected, rounding) in *numbers {
                let values: Vec<f64> = found
                    .iter()
                    .map(|found| {
                        let counts = found.0.lock().expect("one thread");
                        of.take([&counts.finding_held, &counts.finding_since_idle, &counts.busy_periods][number])
                    })
                    .collect();
                let mean = values.iter().sum::<f64>() / 40.0;
                let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 39.0;
                let half = 3.56 * (variance / 40.0).sqrt();
                let what = format!("load {load}, table {number}, {of:?}: {mean}, within {half}, for {expected}");
                assert!((mean - expected).abs() <= half + rounding, "{what}");
                // Rare values occur in few busy periods.
                let widest = if matches!(of, Of::Mean) { 0.15 } else { 0.7 };
                assert!(half < widest * expected, "{what}");
            }
        }
    }
}

/// 40 bytes every 5 s on average, 64 bit/s: 100 packets in 500 s, with a deviation of 10. Over 400
/// seeds the mean deviates by 0.5, and the deviation by 10 / sqrt(800) = 0.35; four times that is
/// allowed.
#[test]
fn a_telnet_conversation_sends_a_hundred_packets_in_500_seconds() {
    let measure = "edition = 1\n[measure]\nduration = \"500 s\"\nreplications = 400\n";
    let text = format!("{measure}{}{}", link("56 kbit/s", ""), flow("x", "\"telnet\"", "start = \"0 s\""));
    let result = result_of(&text);
    let seeds = result["points"][0]["seeds"].as_array().expect("seeds");
    let sent: Vec<f64> = seeds.iter().map(|seed| number(&seed["flows"][0], "sent")).collect();
    let mean = sent.iter().sum::<f64>() / 400.0;
    let deviation = (sent.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 399.0).sqrt();
    assert!((mean - 100.0).abs() < 4.0 * 0.5, "{mean}");
    assert!((deviation - 10.0).abs() < 4.0 * 0.354, "{deviation}");
}

/// The arithmetic of the paper's first scenario: 5 packets of each of two transfers over 7 packets
/// a second, 10/7 s; with windows of one, 2/7 s.
#[test]
fn a_round_trip_is_the_windows_over_the_line() {
    for (window, trip) in [(5, 10.0 / 7.0), (1, 2.0 / 7.0)] {
        for queue in ["fifo", "fq", "round_robin"] {
            let defaults = format!(
                "edition = 1\n[measure]\nwarm_up = \"100 s\"\nduration = \"500 s\"\n[defaults]\nqueue = \"{queue}\"\nstart = \"0 s\"\n\
                 transport = \"generic(window={window})\"\naccess = {{ rate = \"800 kbit/s\" }}\n"
            );
            let text =
                format!("{defaults}{}{}{}", link("56 kbit/s", ""), flow("1", "\"ftp\"", ""), flow("2", "\"ftp\"", ""));
            for row in flows(&text) {
                assert!((number(&row, "rtt_s_mean") - trip).abs() < 1e-9, "{queue}, window {window}: {row:#}");
                assert_eq!(number(&row, "throughput_packets"), 1750.0, "{queue}, window {window}");
            }
        }
    }
}

/// Six transfers whose windows are one packet, as with DECbit in the paper's scenario 6: 6/7 s.
/// And, as in its scenario 3, one with a window of five beside a source of twice the line. FQ
/// charges that source for its losses too, so that a packet that it has at the gateway waits until
/// the time from the start has doubled. Of the 15 places that five packets leave in a buffer of 19,
/// 15 log2(2000/1500) = 6 are served from 1500 s to 2000 s; the rest of 3500 is the transfer's.
#[test]
fn a_transfer_has_its_windows_round_trip_whatever_floods_the_line() {
    let defaults = |transport: &str| {
        format!(
            "edition = 1\n[measure]\nwarm_up = \"1500 s\"\nduration = \"500 s\"\n[defaults]\nqueue = \"fq\"\nbuffer = \"19 packets\"\n\
             start = \"0 s\"\ntransport = \"{transport}\"\naccess = {{ rate = \"800 kbit/s\" }}\n{}",
            link("56 kbit/s", "")
        )
    };
    let six: String = (0..6).map(|name| flow(&name.to_string(), "\"ftp\"", "")).collect();
    for row in flows(&(defaults("generic(window=1)") + &six)) {
        assert!((number(&row, "rtt_s_mean") - 6.0 / 7.0).abs() < 1e-9, "{row:#}");
    }
    let flood = flow("flood", "\"constant_rate(rate=112kbit/s)\"", "transport = \"uncontrolled\"");
    let rows = flows(&(defaults("generic(window=5)") + &flow("1", "\"ftp\"", "") + &flood));
    let [trip, served] = [number(&rows[0], "rtt_s_mean"), number(&rows[0], "throughput_packets")];
    assert!((3493.0..=3496.0).contains(&served), "{served}");
    assert!((trip - 5.0 / served * 500.0).abs() < 1e-3 && (trip - 5.0 / 7.0).abs() < 2e-3, "{trip}");
    let [sent, dropped] = ["sent", "dropped"].map(|column| number(&rows[1], column));
    assert!(sent == 7000.0 && (6993.0..=6996.0).contains(&dropped), "{sent}, {dropped}");
}

/// Long: 1 s of line from 0. Short: 0.1 s each, at 0.3 s and at 0.8 s. Preemptive FQ sends the
/// short packets at once and then the rest of the long one; without preemption they wait for it.
#[test]
fn a_line_that_is_interrupted_goes_on_where_it_was() {
    for (queue, long, short) in [("fq(preemptive=true)", 1.2, [0.1, 0.1]), ("fq", 1.0, [0.8, 0.4])] {
        let text = format!(
            "edition = 1\n[measure]\nduration = \"10 s\"\n[defaults]\nqueue = \"{queue}\"\naccess = {{ rate = \"unlimited\" }}\n{}{}{}{}",
            link("8 kbit/s", ""),
            flow("long", "\"ftp(packets=1)\"", "start = \"0 s\""),
            flow("short 1", "\"ftp(packets=1, packet=100B)\"", "start = \"0.3 s\""),
            flow("short 2", "\"ftp(packets=1, packet=100B)\"", "start = \"0.8 s\""),
        );
        let delays: Vec<f64> = flows(&text).iter().map(|row| number(row, "delay_s_max")).collect();
        assert_eq!(delays, [long, short[0], short[1]], "{queue}");
    }
}

/// A line of unlimited rate takes its delay and no more, and keeps the order of packets sent at one
/// instant: a retransmission would need only one duplicate, and there is none.
#[test]
fn an_unlimited_line_takes_its_delay_and_keeps_the_order() {
    for delay in [0.0, 0.25] {
        let text = format!(
            "edition = 1\n[measure]\nduration = \"100 s\"\n{}{}",
            link("unlimited", &format!("delay = \"{delay} s\"\nreverse_rate = \"40 Mbit/s\"")),
            flow("x", "\"ftp(packets=2000)\"", "transport = \"jk(window_max=50, duplicates=1)\"\nstart = \"0 s\"")
        );
        let row = &flows(&text)[0];
        assert_eq!(number(row, "delay_s_max"), delay, "{row:#}");
        assert_eq!([number(row, "goodput_packets"), number(row, "retransmitted")], [2000.0, 0.0], "{row:#}");
    }
}

/// Two sources at exactly the line's rate; one packet may wait. At each whole second both send and
/// a transmission ends: arrivals precede that end, so they find the waiting packet still there. At
/// 0 x is sent and y waits; at 1 both are refused, then y is sent; from 2 on x finds room, and y
/// finds x.
#[test]
fn arrivals_come_before_ends_of_transmission() {
    let text = format!(
        "edition = 1\n[measure]\nduration = \"100.5 s\"\n[defaults]\nstart = \"0 s\"\n{}{}{}",
        link("8 kbit/s", "queue = \"fifo + 1packets\""),
        flow("x", "\"constant_rate(rate=8kbit/s)\"", ""),
        flow("y", "\"constant_rate(rate=8kbit/s)\"", "")
    );
    let rows = flows(&text);
    let seen: Vec<[f64; 2]> =
        rows.iter().map(|row| [number(row, "throughput_packets"), number(row, "dropped")]).collect();
    // Of 101 packets each: x loses one and sends those of 0 and of 2 to 98 in time; one packet of y
    // is sent.
    assert_eq!(seen, [[99.0, 1.0], [1.0, 100.0]]);
}

/// A round trip of a second and a timer of once the round trip: the acknowledgement precedes the
/// timer at each instant.
#[test]
fn acknowledgements_come_before_timers() {
    let more = "delay = \"0.5 s\"";
    for (beta, again) in [(1.0, false), (0.999, true)] {
        let transport = format!("transport = {{ kind = \"generic\", beta = {beta} }}\nstart = \"0 s\"");
        let text = format!(
            "edition = 1\n[measure]\nduration = \"50 s\"\n{}{}",
            link("unlimited", more),
            flow("x", "\"ftp\"", &transport)
        );
        assert_eq!(number(&flows(&text)[0], "retransmitted") > 0.0, again, "beta {beta}");
    }
}

/// Packets that wait when the warm-up ends are counted from then on, and packets in flight arrive
/// in the measured time.
#[test]
fn a_count_begins_amid_the_traffic() {
    let text = format!(
        "edition = 1\n[measure]\nwarm_up = \"5.5 s\"\nduration = \"2 s\"\n{}{}",
        link("8 kbit/s", "queue = \"fifo\""),
        flow("x", "\"ftp(packets=10)\"", "transport = \"uncontrolled\"\nstart = \"0 s\"")
    );
    let result = result_of(&text);
    let (flow, queue) = (&result["flows"][0], &result["queues"][0]);
    // Packet 5 is being sent at 5.5 s, 6 to 9 wait; 5 arrives at 6 s and 6 at 7 s.
    assert_eq!(
        [number(flow, "sent"), number(flow, "throughput_packets"), number(flow, "delay_s_max")],
        [0.0, 2.0, 7.0]
    );
    assert_eq!(number(queue, "waiting_packets_max"), 4.0);
    assert_eq!(number(queue, "waiting_packets_mean"), (4.0 * 0.5 + 3.0 + 2.0 * 0.5) / 2.0);
}

/// A shaper holds packets while its line is idle; they wait too. 1000 B at 8 kbit/s behind a bucket
/// of one packet.
#[test]
fn what_waits_for_tokens_is_seen_to_wait() {
    let text = format!(
        "edition = 1\n[measure]\nduration = \"20 s\"\n{}{}",
        link("8 Mbit/s", "queue = \"token_bucket(rate=8kbit/s, burst=1000B)\""),
        flow("x", "\"ftp(packets=4)\"", "transport = \"uncontrolled\"\nstart = \"0 s\"")
    );
    let result = result_of(&text);
    assert_eq!(number(&result["flows"][0], "delay_s_max"), 3.001);
    assert_eq!(number(&result["queues"][0], "waiting_packets_max"), 3.0);
    // 3 packets wait for a second, then 2, then 1.
    assert!((number(&result["queues"][0], "waiting_packets_mean") - 6.0 / 20.0).abs() < 1e-9);
}

/// Approximate fair dropping shares a line evenly if its periodic update runs on time, and cannot
/// separate flows without it. Of a flow at the line's rate and one at twice that, FIFO gives the
/// second twice as much.
#[test]
fn a_periodic_law_runs_behind_its_line() {
    for (queue, expected) in [("fifo + 100packets", 2.0), ("fifo + afd + 100packets", 1.0)] {
        let text = format!(
            "edition = 1\n[measure]\nwarm_up = \"10 s\"\nduration = \"50 s\"\n\
             [defaults]\naccess = {{ rate = \"100 Mbit/s\" }}\n{}{}{}",
            link("8 Mbit/s", &format!("queue = \"{queue}\"")),
            flow("one", "\"poisson(rate=8Mbit/s)\"", "transport = \"uncontrolled\""),
            flow("two", "\"poisson(rate=16Mbit/s)\"", "transport = \"uncontrolled\"")
        );
        let rows = flows(&text);
        let [one, two] = [0, 1].map(|at: usize| number(&rows[at], "throughput_packets"));
        assert!((two / one / expected - 1.0).abs() < 0.05, "{queue}: {one}, {two}");
        assert!(one + two > 0.98 * 50_000.0, "{queue}: the line is full");
    }
}

/// Two floods that overload a line take turns all the time behind CAKE, and a flow that sends a
/// packet now and then is sparse; a FIFO has no kinds of flows.
#[test]
fn a_queue_of_kinds_of_flows_says_how_many_there_were() {
    for (queue, expected) in [("cake(tins=best_effort)", Some([1.0, 2.0])), ("fq_codel", None)] {
        let text = format!(
            "edition = 2\n[measure]\nwarm_up = \"5 s\"\nduration = \"20 s\"\n[defaults]\nstart = \"0 s\"\n{}{}{}{}",
            link("1 Mbit/s", &format!("queue = \"{queue}\"")),
            flow("x", "\"constant_rate(rate=2Mbit/s)\"", ""),
            flow("y", "\"constant_rate(rate=2Mbit/s)\"", ""),
            flow("z", "\"constant_rate(rate=80kbit/s, packet=200B)\"", ""),
        );
        let result = result_of(&text);
        let row = &result["queues"][0];
        let Some([sparse, bulk]) = expected else {
            assert!(row["sparse"].is_null() && row["bulk"].is_null() && row["unresponsive"].is_null(), "{row}");
            continue;
        };
        assert!((number(row, "bulk") - bulk).abs() < 0.02, "{row}");
        assert!(number(row, "sparse") > 0.1 && number(row, "sparse") <= sparse, "{row}");
        assert!(number(row, "unresponsive") <= bulk, "{row}");
    }
}
