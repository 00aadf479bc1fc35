//! What tables say of queueing, order and fairness, held to cases that can be computed by hand.

use crate::running;
use fairq_sched::units::Time;
use serde_json::Value;

/// The document of a scenario with samples every 100 ms.
fn run(text: &str) -> Value {
    let mut experiment = running::read(text);
    experiment.sample_every(Time::from_ms(100)).expect("few samples");
    running::document(&experiment)
}

/// One line of 8 Mbit/s and 10 ms, so that a packet of 1000 B takes 1 ms.
fn one_line(queue: &str, flows: &str) -> String {
    format!(
        "edition = 1\n[measure]\nduration = \"50 s\"\nwarm_up = \"1 s\"\n\
         [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"{queue}\"\n{flows}"
    )
}

fn flow(name: &str, traffic: &str, more: &str) -> String {
    format!("[[flows]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"{traffic}\"\n{more}\n")
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row}"))
}

#[test]
fn a_packet_that_waits_for_no_other_has_no_queueing_delay() {
    let result = run(&one_line("fifo", &flow("x", "constant_rate(rate=4Mbit/s, packet=1000B)", "start = \"0 s\"")));
    let row = &result["flows"][0];
    assert!(number(row, "queueing_s_max").abs() < 2e-12, "{row}");
    assert!((number(row, "delay_s_mean") - 0.011).abs() < 1e-9, "{row}");
    assert!(number(&result["queues"][0], "overtaken").abs() < 1e-12);
}

#[test]
fn queueing_of_poisson_arrivals_is_that_of_md1() {
    let result =
        run(&one_line("fifo", &flow("x", "poisson(rate=6.4Mbit/s, packet=1000B)", "")).replace("50 s", "400 s"));
    // Pollaczek and Khinchine: ρ/(2(1-ρ)) services of 1 ms, with ρ = 0.8.
    let row = &result["flows"][0];
    assert!((number(row, "queueing_s_mean") / 0.002 - 1.0).abs() < 0.1, "{row}");
    let difference = number(row, "delay_s_mean") - number(row, "queueing_s_mean");
    assert!((difference - 0.011).abs() < 1e-9, "propagation and transmission: {difference}");
}

/// A packet of the slow flow is sent before those of the burst that came before it.
#[test]
fn packets_are_overtaken_where_a_queue_is_not_first_in_first_out() {
    let flows = flow("fast", "constant_rate(rate=12Mbit/s, packet=1000B)", "start = \"0 s\"")
        + &flow("slow", "constant_rate(rate=80kbit/s, packet=1000B)", "start = \"50 us\"");
    let overtaken = |queue: &str| number(&run(&one_line(queue, &flows))["queues"][0], "overtaken");
    assert!(overtaken("fifo + 40packets").abs() < 1e-12);
    let fair = overtaken("fq(on_drop=refund) + port_pair + 40packets");
    // Each packet of the slow flow passes a queue of some 40, of 100 packets sent between two of
    // them.
    assert!((0.2..=0.5).contains(&fair), "{fair}");
}

#[test]
fn jain_s_index_is_over_throughput_per_weight() {
    let two = |queue: &str, weight: &str| {
        let flows = flow("a", "constant_rate(rate=20Mbit/s, packet=1000B)", "start = \"0 s\"")
            + &flow("b", "constant_rate(rate=20Mbit/s, packet=1000B)", &format!("start = \"0 s\"\nweight = {weight}"));
        let result = run(&one_line(queue, &flows));
        (number(&result["queues"][0], "jain"), number(&result["queues"][0], "utilisation"))
    };
    let (fair, used) = two("wfq + port_pair + 40packets", "3.0");
    assert!(fair > 0.999 && (used - 1.0).abs() < 0.01, "{fair} {used}");
    // Equal shares, of which b should have three: (1 + 1/3)²/(2(1 + 1/9)) = 0.8.
    let (unfair, _) = two("round_robin + port_pair + 40packets", "3.0");
    assert!((unfair - 0.8).abs() < 0.01, "{unfair}");
    let idle = run(&one_line("fifo", &flow("x", "constant_rate(rate=4Mbit/s, packet=1000B)", "start = \"60 s\"")));
    assert!(idle["queues"][0]["jain"].is_null() && idle["queues"][0]["overtaken"].is_null());
}

#[test]
fn a_share_is_of_the_slowest_line_of_the_path_and_of_new_packets() {
    let slower = "[[links]]\nname = \"next\"\nfrom = \"b\"\nto = \"c\"\nrate = \"4 Mbit/s\"\ndelay = \"0 s\"\n";
    let flows = flow("x", "constant_rate(rate=2Mbit/s, packet=1000B)", "start = \"0 s\"")
        + &flow("y", "constant_rate(rate=1Mbit/s, packet=1000B)", "start = \"0 s\"")
            .replace("to = \"b\"", "to = \"c\"");
    let result = run(&(one_line("fifo", &flows) + slower));
    for row in result["flows"].as_array().expect("rows") {
        assert!((number(row, "share") - 0.25).abs() < 0.001, "{row}");
    }
    // What comes again is no goodput.
    let lossy = flow("x", "ftp", "transport = { kind = \"reno\" }");
    let result = run(&one_line("fifo + 3packets", &lossy));
    let row = &result["flows"][0];
    let new = number(row, "goodput_packets") / number(row, "throughput_packets");
    let share = number(row, "throughput_bit_per_s") * new / 8e6;
    assert!((number(row, "share") / share - 1.0).abs() < 1e-12 && number(row, "retransmitted") > 0.0, "{row}");
    let unlimited = one_line("fifo", &lossy).replace("8 Mbit/s", "unlimited").replace("queue = \"fifo\"\n", "");
    assert!(run(&unlimited.replace("ftp", "constant_rate(rate=2Mbit/s)"))["flows"][0]["share"].is_null());
}

#[test]
fn a_queue_s_row_has_its_settings() {
    let row = |queue: &str| {
        run(&one_line(queue, &flow("x", "constant_rate(rate=4Mbit/s)", "")))["queues"][0]["discipline_settings"].clone()
    };
    assert_eq!(
        row("drr(quantum=300B) + lqd(from=front) + 9packets"),
        "drr(quantum=300 B) + longest_queue_drop(from=front)"
    );
    assert_eq!(row("sfq + 40packets"), "sfq");
}

#[test]
fn senders_are_sampled_at_the_end_of_each_interval() {
    let flows = flow("reno", "ftp", "transport = \"reno\"\nstart = \"0 s\"")
        + &flow("bbr", "ftp", "transport = \"bbr\"\nstart = \"0 s\"")
        + &flow("cbr", "constant_rate(rate=80kbit/s)", "");
    let text = one_line("drr + 100packets", &flows).replace("edition = 1", "edition = 2").replace("50 s", "5 s");
    let result = run(&text);
    let rows = |flow: &str| {
        let rows = result["series"].as_array().expect("rows").iter();
        rows.filter(|row| row["flow"] == flow).cloned().collect::<Vec<_>>()
    };
    assert_eq!(rows("reno").len(), 60);
    for row in &rows("reno")[20..] {
        let (window, flight, rtt) =
            (number(row, "window_packets"), number(row, "flight_packets"), number(row, "rtt_s"));
        assert!(window >= 1.0 && (0.02..1.0).contains(&rtt), "{row}");
        assert!((0.0..=window + 2.0).contains(&flight) || flight < 110.0, "{row}");
    }
    assert!(rows("bbr")[40..].iter().all(|row| number(row, "pacing_bit_per_s") > 1e5));
    assert!(rows("cbr").iter().all(|row| row["window_packets"].is_null() && row["rtt_s"].is_null()));
}
