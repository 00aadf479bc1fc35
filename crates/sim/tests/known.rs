//! Networks whose numbers can be worked out by hand.

use fairq_sim::experiment::{Experiment, Options};
use serde_json::Value;

/// The rows of the flows of a scenario.
fn flows(text: &str) -> Vec<Value> {
    let experiment = Experiment::read(text, "known.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let files = |_: &str| Err("no file is read here".to_string());
    let result = experiment.run(Options { workers: 2, files: &files, progress: &mut |_| true });
    let result = result.unwrap_or_else(|stopped| panic!("{stopped:?}"));
    result["flows"].as_array().expect("rows").clone()
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

/// Mean wait of M/D/1: ρ/(2(1−ρ)) services. The mean of 40 replications is within twice its 95 % interval, which one
/// run in some 10 000 would not be; and that interval is narrow enough to tell M/D/1 from M/M/1, which waits twice.
#[test]
fn poisson_packets_wait_as_m_d_1_says() {
    for rho in [0.2, 0.5, 0.8] {
        let measure = "[measure]\nwarm_up = \"500 s\"\nduration = \"20000 s\"\nreplications = 40\n";
        let traffic = format!("\"poisson(rate={}bit/s)\"", (8000.0 * rho) as u64);
        let rows = flows(&format!("{measure}{}{}", link("8 kbit/s", ""), flow("x", &traffic, "")));
        let mean = number(&rows[0], "delay_s_mean");
        let half = (number(&rows[0], "delay_s_mean_high") - number(&rows[0], "delay_s_mean_low")) / 2.0;
        let wait = rho / (2.0 * (1.0 - rho));
        assert!((mean - 1.0 - wait).abs() < 2.0 * half, "rho {rho}: {mean} is not 1 + {wait}, within {half}");
        assert!(half < 0.05 * wait, "rho {rho}: {half}");
    }
}

/// The arithmetic of the paper's first scenario: 5 packets of each of two transfers over 7 packets a second, 10/7 s;
/// with windows of one, 2/7 s.
#[test]
fn a_round_trip_is_the_windows_over_the_line() {
    for (window, trip) in [(5, 10.0 / 7.0), (1, 2.0 / 7.0)] {
        for queue in ["fifo", "fq", "round_robin"] {
            let defaults = format!(
                "[measure]\nwarm_up = \"100 s\"\nduration = \"500 s\"\n[defaults]\nqueue = \"{queue}\"\nstart = \"0 s\"\n\
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

/// Long: 1 s of line from 0. Short: 0.1 s each, at 0.3 s and at 0.8 s. Preemptive FQ sends the short ones at once and
/// then what is left of the long one; without preemption they wait for it.
#[test]
fn a_line_that_is_interrupted_goes_on_where_it_was() {
    for (queue, long, short) in [("fq(preemptive=true)", 1.2, [0.1, 0.1]), ("fq", 1.0, [0.8, 0.4])] {
        let text = format!(
            "[measure]\nduration = \"10 s\"\n[defaults]\nqueue = \"{queue}\"\naccess = {{ rate = \"unlimited\" }}\n{}{}{}{}",
            link("8 kbit/s", ""),
            flow("long", "\"ftp(packets=1)\"", "start = \"0 s\""),
            flow("short 1", "\"ftp(packets=1, packet=100B)\"", "start = \"0.3 s\""),
            flow("short 2", "\"ftp(packets=1, packet=100B)\"", "start = \"0.8 s\""),
        );
        let delays: Vec<f64> = flows(&text).iter().map(|row| number(row, "delay_s_max")).collect();
        assert_eq!(delays, [long, short[0], short[1]], "{queue}");
    }
}

/// A line of unlimited rate takes its delay and no more, and keeps the order of what is sent at one instant: with one
/// duplicate enough for a retransmission there is none.
#[test]
fn an_unlimited_line_takes_its_delay_and_keeps_the_order() {
    for delay in [0.0, 0.25] {
        let text = format!(
            "[measure]\nduration = \"100 s\"\n{}{}",
            link("unlimited", &format!("delay = \"{delay} s\"\nreverse_rate = \"40 Mbit/s\"")),
            flow("x", "\"ftp(packets=2000)\"", "transport = \"jk(window_max=50, duplicates=1)\"\nstart = \"0 s\"")
        );
        let row = &flows(&text)[0];
        assert_eq!(number(row, "delay_s_max"), delay, "{row:#}");
        assert_eq!([number(row, "goodput_packets"), number(row, "retransmitted")], [2000.0, 0.0], "{row:#}");
    }
}

/// Two sources at exactly the line's rate, one packet may wait. At each whole second both send and a transmission
/// ends: what arrives comes first, and finds the packet that waits still waiting. At 0 x is sent and y waits; at 1
/// both are refused, then y is sent; from 2 on x finds room, and y finds x.
#[test]
fn arrivals_come_before_ends_of_transmission() {
    let text = format!(
        "[measure]\nduration = \"100.5 s\"\n[defaults]\nstart = \"0 s\"\n{}{}{}",
        link("8 kbit/s", "queue = \"fifo + 1packets\""),
        flow("x", "\"constant_rate(rate=8kbit/s)\"", ""),
        flow("y", "\"constant_rate(rate=8kbit/s)\"", "")
    );
    let rows = flows(&text);
    let seen: Vec<[f64; 2]> =
        rows.iter().map(|row| [number(row, "throughput_packets"), number(row, "dropped")]).collect();
    // Of 101 packets each: x loses one, sends those of 0 and of 2 to 98 in time; y gets one through.
    assert_eq!(seen, [[99.0, 1.0], [1.0, 100.0]]);
}

/// A round trip of a second and a timer of once the round trip: the acknowledgement comes first at each instant.
#[test]
fn acknowledgements_come_before_timers() {
    let more = "delay = \"0.5 s\"";
    for (beta, again) in [(1.0, false), (0.999, true)] {
        let transport = format!("transport = {{ kind = \"generic\", beta = {beta} }}\nstart = \"0 s\"");
        let text =
            format!("[measure]\nduration = \"50 s\"\n{}{}", link("unlimited", more), flow("x", "\"ftp\"", &transport));
        assert_eq!(number(&flows(&text)[0], "retransmitted") > 0.0, again, "beta {beta}");
    }
}

/// What waits when the warm-up ends is counted from then on, and what is under way arrives in the measured time.
#[test]
fn a_count_begins_amid_the_traffic() {
    let text = format!(
        "[measure]\nwarm_up = \"5.5 s\"\nduration = \"2 s\"\n{}{}",
        link("8 kbit/s", "queue = \"fifo\""),
        flow("x", "\"ftp(packets=10)\"", "transport = \"uncontrolled\"\nstart = \"0 s\"")
    );
    let experiment = Experiment::read(&text, "known.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let files = |_: &str| Err(String::new());
    let result = experiment.run(Options { workers: 1, files: &files, progress: &mut |_| true });
    let result = result.unwrap_or_else(|stopped| panic!("{stopped:?}"));
    let (flow, queue) = (&result["flows"][0], &result["queues"][0]);
    // Packet 5 is being sent at 5.5 s, 6 to 9 wait; 5 arrives at 6 s and 6 at 7 s.
    assert_eq!(
        [number(flow, "sent"), number(flow, "throughput_packets"), number(flow, "delay_s_max")],
        [0.0, 2.0, 7.0]
    );
    assert_eq!(number(queue, "waiting_packets_max"), 4.0);
    assert_eq!(number(queue, "waiting_packets_mean"), (4.0 * 0.5 + 3.0 + 2.0 * 0.5) / 2.0);
}

/// A shaper keeps packets while its line is idle; they wait too. 1000 B at 8 kbit/s behind a bucket of one packet.
#[test]
fn what_waits_for_tokens_is_seen_to_wait() {
    let text = format!(
        "[measure]\nduration = \"20 s\"\n{}{}",
        link("8 Mbit/s", "queue = \"token_bucket(rate=8kbit/s, burst=1000B)\""),
        flow("x", "\"ftp(packets=4)\"", "transport = \"uncontrolled\"\nstart = \"0 s\"")
    );
    let experiment = Experiment::read(&text, "known.toml", &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let files = |_: &str| Err(String::new());
    let result = experiment.run(Options { workers: 1, files: &files, progress: &mut |_| true });
    let result = result.unwrap_or_else(|stopped| panic!("{stopped:?}"));
    assert_eq!(number(&result["flows"][0], "delay_s_max"), 3.001);
    assert_eq!(number(&result["queues"][0], "waiting_packets_max"), 3.0);
    // 3 wait for a second, then 2, then 1.
    assert!((number(&result["queues"][0], "waiting_packets_mean") - 6.0 / 20.0).abs() < 1e-9);
}

/// Approximate fair dropping shares a line evenly if its law runs on time, and cannot tell flows apart without it: of a
/// flow of once and one of twice the line, FIFO gives the second twice as much.
#[test]
fn a_periodic_law_runs_behind_its_line() {
    for (queue, expected) in [("fifo + 100packets", 2.0), ("fifo + afd + 100packets", 1.0)] {
        let text = format!(
            "[measure]\nwarm_up = \"10 s\"\nduration = \"50 s\"\n\
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
