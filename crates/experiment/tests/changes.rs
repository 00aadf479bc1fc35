//! What changes while a run goes on, by hand: `[[changes]]` and the `rates` of a link.

use crate::running::no_file;
use fairq_experiment::experiment::{Experiment, Options};
use serde_json::Value;

/// One link from a to b, whose fields are `link`, with flows; 20 s long. The rest is behind it.
fn text(link: &str, rest: &str) -> String {
    format!(
        "edition = 2\nmeasure = {{ duration = \"20 s\" }}\n[defaults]\nstart = \"0 s\"\n[[links]]\nname = \"l\"\n\
         from = \"a\"\nto = \"b\"\ndelay = \"1 ms\"\n{link}\n{rest}\n"
    )
}

/// A flow of packets of 1000 bytes at a rate.
fn steady(name: &str, rate: &str) -> String {
    format!(
        "[[flows]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"uncontrolled\"\n\
         traffic = \"constant_rate(rate={rate}, packet=1000B)\"\n"
    )
}

fn change(fields: &str) -> String {
    format!("[[changes]]\n{fields}\n")
}

fn read(text: &str) -> Result<Experiment, String> {
    Experiment::read_with(text, "a.toml", &[], &no_file).map_err(|problem| problem.to_string())
}

fn run(text: &str) -> Value {
    let experiment = read(text).unwrap_or_else(|problem| panic!("{problem}"));
    let options = Options { workers: 1, files: &no_file, progress: &mut |_| true };
    experiment.run(options).unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row}"))
}

fn near(found: f64, expected: f64, by: f64) {
    assert!((found - expected).abs() <= by, "{found}, not {expected}");
}

#[test]
fn half_the_time_at_half_the_rate() {
    // 1000 packets a second; from 10 s on the line carries 500.
    let rates = "rate = \"10 Mbit/s\"\nqueue = \"fifo + unlimited\"\nrates = [[\"10 s\", \"4 Mbit/s\"]]";
    let changed = "rate = \"10 Mbit/s\"\nqueue = \"fifo + unlimited\"";
    let result = run(&text(rates, &steady("f", "8Mbit/s")));
    near(number(&result["flows"][0], "throughput_packets"), 15_000.0, 2.0);
    // It could carry 100 Mbit and then 40.
    near(number(&result["links"][0], "utilisation"), (15_000.0 * 8000.0) / 140e6, 1e-4);
    let longer = steady("f", "8Mbit/s") + &change("at = \"10 s\"\nlink = \"l\"\nrate = \"4 Mbit/s\"");
    let other = run(&text(changed, &longer));
    assert_eq!((&result["flows"], &result["links"]), (&other["flows"], &other["links"]), "the short form is a change");
}

#[test]
fn a_line_that_is_down_loses_the_packet_that_it_sends_and_no_other() {
    let link = "rate = \"10 Mbit/s\"\nqueue = \"fifo + 100packets\"";
    let down = |at: &str| {
        let changes = change(&format!("at = \"{at}\"\nlink = \"l\"\nup = false"))
            + &change("at = \"6 s\"\nlink = \"l\"\nup = true");
        run(&text(link, &(steady("f", "8Mbit/s") + &changes)))
    };
    // Packets arrive each millisecond and take 0.8 ms. In about a second 1000 arrive, and 100 find
    // room; then the line drains a packet in 0.8 ms, and no more are dropped.
    let between = down("5000.9 ms");
    near(number(&between["flows"][0], "dropped"), 899.0, 1.0);
    let during = down("5000.5 ms");
    near(number(&during["flows"][0], "dropped"), 900.0, 1.0);
    assert_eq!(number(&during["flows"][0], "dropped"), number(&between["flows"][0], "dropped") + 1.0);
    let sent = number(&during["flows"][0], "sent");
    near(number(&during["flows"][0], "throughput_packets") + number(&during["flows"][0], "dropped"), sent, 3.0);
}

#[test]
fn a_rate_of_zero_delays_and_loses_nothing() {
    let link = "rate = \"10 Mbit/s\"\nqueue = \"fifo + unlimited\"\nrates = [[\"5000.5 ms\", \"0 bit/s\"], [\"6 s\", \"10 Mbit/s\"]]";
    let result = run(&text(link, &steady("f", "8Mbit/s")));
    let flow = &result["flows"][0];
    assert_eq!(number(flow, "dropped"), 0.0);
    near(number(flow, "throughput_packets"), 20_000.0, 3.0);
    // The packet that arrives at 5 s is sent for 0.5 ms; the rest follows at 6 s, and that of 5.001
    // s behind it: 6 s + 0.3 ms + 0.8 ms + 1 ms - 5.001 s.
    near(number(flow, "delay_s_max"), 1.0013, 0.0005);
    // It carried 8 Mbit/s of what it could carry in 19.0005 s.
    near(number(&result["links"][0], "utilisation"), 160e6 / (10e6 * 19.0005), 1e-3);
}

#[test]
fn a_new_delay_is_of_what_is_sent_later_and_nothing_overtakes() {
    let link = "rate = \"10 Mbit/s\"";
    let delays = |first: &str, then: &str| {
        let changes = change(&format!("at = \"0 s\"\nlink = \"l\"\ndelay = \"{first}\""))
            + &change(&format!("at = \"10 s\"\nlink = \"l\"\ndelay = \"{then}\""));
        number(&run(&text(link, &(steady("f", "8Mbit/s") + &changes)))["flows"][0], "delay_s_mean")
    };
    near(delays("2 ms", "6 ms"), 0.0008 + 0.004, 2e-6);
    // 4 packets are in flight or just sent when the line becomes shorter: they arrive first.
    near(delays("6 ms", "2 ms"), 0.0008 + 0.004, 2e-6);
}

#[test]
fn a_new_weight_is_a_new_share() {
    let link = "rate = \"10 Mbit/s\"\nqueue = \"drr + port_pair + 1000packets\"";
    let flows = steady("f", "10Mbit/s") + &steady("g", "10Mbit/s");
    let result = run(&text(link, &(flows + &change("at = \"10 s\"\nflow = \"f\"\nweight = 3"))));
    // Half of 10 Mbit/s, then three quarters.
    near(number(&result["flows"][0], "throughput_bit_per_s"), (5e6 + 7.5e6) / 2.0, 3e4);
    near(number(&result["flows"][1], "throughput_bit_per_s"), (5e6 + 2.5e6) / 2.0, 3e4);
}

#[test]
fn losses_begin_and_end() {
    let changes = change("at = \"5 s\"\nlink = \"l\"\ndirection = \"forward\"\nloss = 0.5\njitter = \"1 ms\"")
        + &change("at = \"10 s\"\nlink = \"l\"\nloss = 0");
    let result = run(&text("rate = \"10 Mbit/s\"", &(steady("f", "8Mbit/s") + &changes)));
    // Binomial of 5000: standard deviation 35; five of them.
    near(number(&result["flows"][0], "lost"), 2500.0, 177.0);
    assert_eq!(number(&result["links"][1], "lost"), 0.0);
}

#[test]
fn packets_that_wait_are_offered_to_the_new_queue_in_order() {
    // At 10 s 40 000 packets wait, or up to the limit.
    let link = "rate = \"4 Mbit/s\"\nqueue = \"fifo + 300packets\"";
    let to = |queue: &str| {
        run(&text(
            link,
            &(steady("f", "8Mbit/s") + &change(&format!("at = \"10 s\"\nlink = \"l\"\nqueue = \"{queue}\""))),
        ))
    };
    let same = run(&text(link, &steady("f", "8Mbit/s")));
    let dropped = |result: &Value| number(&result["flows"][0], "dropped");
    assert_eq!(to("fifo")["flows"], same["flows"], "a queue of the same kind and limit changes nothing");
    assert_eq!(to("drr")["flows"][0]["overtaken"], same["flows"][0]["overtaken"]);
    // 200 of those that wait find no room.
    near(dropped(&to("fifo + 100packets")), dropped(&same) + 200.0, 1.0);
    near(dropped(&to("fq + 100packets")), dropped(&same) + 200.0, 1.0);
    near(dropped(&to("fifo + 500packets")), dropped(&same) - 200.0, 1.0);
}

#[test]
fn a_lower_limit_drops_no_packet_that_waits() {
    let link = "rate = \"4 Mbit/s\"\nqueue = \"fifo + 300packets\"";
    let lower =
        run(&text(link, &(steady("f", "8Mbit/s") + &change("at = \"10 s\"\nlink = \"l\"\nlimit = \"100 packets\""))));
    let same = run(&text(link, &steady("f", "8Mbit/s")));
    // For 200 sent packets none finds room: 400 ms more of arrivals are dropped, in place of half.
    near(number(&lower["flows"][0], "dropped"), number(&same["flows"][0], "dropped") + 200.0, 2.0);
}

#[test]
fn what_cannot_change_is_refused_at_its_place() {
    let link = "rate = \"10 Mbit/s\"\nqueue = \"fifo\"";
    let refused = |link: &str, fields: &str| {
        read(&text(link, &(steady("f", "8Mbit/s") + &change(fields))))
            .err()
            .unwrap_or_else(|| panic!("{fields}: accepted"))
    };
    for (fields, says) in [
        ("at = \"1 s\"\nlink = \"m\"\nup = false", "changes[0].link: no link is called m; there are l"),
        ("at = \"20 s\"\nlink = \"l\"\nup = false", "changes[0].at: 20 s is not before the end of the run, 20 s"),
        ("at = \"-1 s\"\nlink = \"l\"\nup = false", "changes[0].at"),
        ("at = \"1 s\"\nlink = \"l\"", "changes[0]: nothing changes; write for example rate"),
        ("at = \"1 s\"\nup = false", "changes[0]: write the link that changes"),
        ("at = \"1 s\"\nlink = \"l\"\nflow = \"f\"\nweight = 2", "changes[0]: write the link that changes"),
        ("at = \"1 s\"\nlink = \"l\"\nweight = 2", "changes[0].weight: a weight is of a flow"),
        ("at = \"1 s\"\nflow = \"f\"", "changes[0]: of a flow only the weight changes"),
        ("at = \"1 s\"\nflow = \"e\"\nweight = 2", "changes[0].flow: no flow is called e"),
        (
            "at = \"1 s\"\nflow = \"f\"\nweight = 2",
            "changes[0].weight: the queue of link l does not take it: it does not go by weights",
        ),
        ("at = \"1 s\"\nlink = \"l\"\nloss = 2", "changes[0].loss: a probability is from 0 to below 1, not 2"),
        ("at = \"1 s\"\nlink = \"l\"\nqueue = \"fqq\"", "changes[0].queue"),
        ("at = \"1 s\"\nlink = \"l\"\nrat = \"1 Mbit/s\"", "changes[0].rat"),
        ("at = \"1 s\"\nlink = \"l\"\nrate = \"0\"", "changes[0].rate"),
    ] {
        let message = refused(link, fields);
        assert!(message.contains(says), "{fields}: {message}");
    }
    let walks = refused("rate = \"1 Mbit/s..2 Mbit/s\"", "at = \"1 s\"\nlink = \"l\"\nrate = \"1 Mbit/s\"");
    assert!(walks.contains("changes[0].rate: the rate of this link follows a course of its own"), "{walks}");
    let unlimited = refused("rate = \"unlimited\"", "at = \"1 s\"\nlink = \"l\"\nup = false");
    assert!(unlimited.contains("changes[0].up: link l has an unlimited rate"), "{unlimited}");
    let late =
        read(&text("rate = \"1 Mbit/s\"\nrates = [[\"30 s\", \"2 Mbit/s\"]]", &steady("f", "8Mbit/s"))).err().unwrap();
    assert!(late.contains("links[0].rates[0]: 30 s is not before the end of the run"), "{late}");
}
