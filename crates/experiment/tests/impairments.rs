//! Links that lose, delay and reorder packets, and links whose rate changes.

use crate::running::no_file;
use fairq_experiment::experiment::{Experiment, Options};
use serde_json::Value;

type Files<'a> = &'a (dyn Fn(&str) -> Result<Vec<u8>, String> + Sync);

/// One link of `medium` and one flow of `traffic`, both as TOML.
fn text(medium: &str, traffic: &str) -> String {
    format!(
        "edition = 1\nmeasure = {{ duration = \"20 s\" }}\n[defaults]\nstart = \"0 s\"\n[[links]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\n{medium}\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{traffic}\n"
    )
}

fn run(text: &str, files: Files<'_>) -> Value {
    let experiment = Experiment::read_with(text, "a.toml", &[], files).unwrap_or_else(|problem| panic!("{problem}"));
    experiment
        .run(Options { workers: 1, files, progress: &mut |_| true })
        .unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

fn count(row: &Value, column: &str) -> u64 {
    row[column].as_u64().unwrap_or_else(|| panic!("{column} of {row}"))
}

/// 1000 packets of 1000 bytes a second.
const STEADY: &str = "traffic = \"constant_rate(rate=8Mbit/s)\"";

/// A window whose timeout is long enough not to expire without a loss.
const PATIENT: &str =
    "traffic = \"ftp\"\ntransport = { kind = \"fixed_window\", window = 20, timeout = { floor = \"5 s\" } }";

#[test]
fn packets_are_lost_as_often_as_is_said_and_are_counted() {
    let result = run(&text("rate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nloss = 0.03", STEADY), &no_file);
    let (flow, link) = (&result["flows"][0], &result["links"][0]);
    let (sent, lost) = (count(flow, "sent"), count(flow, "lost"));
    assert!(sent >= 19_990, "{sent}");
    // Binomial with p = 0.03: mean 600, standard deviation 24.1; five of them.
    assert!((479..=721).contains(&lost), "{lost} of {sent}");
    assert_eq!(count(link, "lost"), lost);
    assert!(sent - count(link, "packets") <= 1, "one may be on its way at the end");
    assert!(sent - lost - count(flow, "throughput_packets") <= 2, "what is not lost arrives");
    assert_eq!(count(flow, "dropped"), 0);
    // Each direction has random numbers of its own: acknowledgements are lost too.
    let back = &result["links"][1];
    assert!((400..=740).contains(&count(back, "lost")) && count(back, "lost") != lost, "{back}");
}

#[test]
fn a_line_of_unlimited_rate_loses_too() {
    let result = run(&text("rate = \"unlimited\"\ndelay = \"1 ms\"\nloss = 0.03", STEADY), &no_file);
    assert!((479..=721).contains(&count(&result["flows"][0], "lost")), "{}", result["flows"][0]);
}

#[test]
fn losses_are_counted_where_a_link_of_the_run_may_lose() {
    let plain = run(&text("rate = \"10 Mbit/s\"\ndelay = \"1 ms\"", STEADY), &no_file);
    assert!(plain["links"][0]["lost"].is_null() && plain["flows"][0]["lost"].is_null());
    let axis = "[[axes]]\nname = \"p\"\npath = \"links.l.loss\"\nvalues = [0.0, 0.1]\n";
    let both = run(&(text("rate = \"10 Mbit/s\"\ndelay = \"1 ms\"", STEADY) + axis), &no_file);
    assert!(both["links"][0]["lost"].is_null(), "a point depends on no other");
    assert!(count(&both["links"][2], "lost") > 1000, "{}", both["links"]);
}

#[test]
fn a_file_transfer_comes_through_a_line_that_loses() {
    let text = text("rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nloss = 0.05", "traffic = \"ftp(packets=300)\"");
    let result = run(&text.replace("20 s", "2000 s"), &no_file);
    let flow = &result["flows"][0];
    assert_eq!(count(flow, "goodput_packets"), 300);
    assert!(count(flow, "lost") > 0 && count(flow, "retransmitted") >= count(flow, "lost"), "{flow}");
}

#[test]
fn jitter_delays_and_lets_no_packet_pass_another() {
    let delay = |medium: &str, column: &str| {
        let result = run(&text(medium, STEADY), &no_file);
        result["flows"][0][column].as_f64().unwrap_or_else(|| panic!("{column}"))
    };
    // Packets arrive every millisecond and take 0.8 ms; the jitter is far below the gap, so that it
    // appears unchanged in the delay.
    let plain = "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"";
    let small = format!("{plain}\njitter = \"0.2 ms\"");
    let (without, with) = (delay(plain, "delay_s_mean"), delay(&small, "delay_s_mean"));
    // Uniform: mean 0.1 ms, standard deviation of the mean of 20000 below 0.5 us; ten of them.
    assert!((without - 0.0058).abs() < 1e-9 && (with - without - 0.0001).abs() < 5e-6, "{without} {with}");
    assert!(delay(&small, "delay_s_max") < 0.0060 + 1e-5);
    // With jitter far above the gap packets wait for those before them: go back n finds no packet
    // out of order and repeats nothing.
    let text = text("rate = \"1 Mbit/s\"\ndelay = \"5 ms\"\njitter = \"100 ms\"", PATIENT);
    let result = run(&text, &no_file);
    assert_eq!(count(&result["flows"][0], "retransmitted"), 0, "{}", result["flows"][0]);
    assert!(count(&result["flows"][0], "goodput_packets") > 1000);
}

#[test]
fn reordered_packets_are_passed_by_others() {
    let medium = "rate = \"1 Mbit/s\"\ndelay = \"5 ms\"\nreorder = { probability = 0.02, delay = \"50 ms\" }";
    // Duplicate acknowledgements follow, and the source retransmits though no packet is lost.
    let text = text(medium, "traffic = \"ftp\"\ntransport = \"jk(window_max=30)\"");
    let result = run(&text, &no_file);
    assert!(count(&result["flows"][0], "retransmitted") > 10, "{}", result["flows"][0]);
    assert_eq!(count(&result["flows"][0], "dropped"), 0);
    assert!(result["flows"][0]["lost"].is_null(), "no packet can be lost here");
}

/// Four packets of 1000 bytes at once and a short one of another flow behind them: 8 ms and 0.8 ms
/// each.
#[test]
fn what_a_ring_has_taken_is_not_passed() {
    let waits = |ring: &str| {
        let text = format!(
            "edition = 1\n[measure]\nduration = \"20 s\"\n[[links]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
             queue = \"fq + longest_queue_drop(from=front) + port_pair + 2packets\"\n{ring}\n\
             [[flows]]\nname = \"long\"\nfrom = \"a\"\nto = \"b\"\nstart = \"0 s\"\n\
             traffic = {{ kind = \"ftp\", packet = \"1000 B\", packets = 4 }}\ntransport = \"fixed_window(window=4)\"\n\
             [[flows]]\nname = \"short\"\nfrom = \"a\"\nto = \"b\"\nstart = \"1 ms\"\n\
             traffic = {{ kind = \"ftp\", packet = \"100 B\", packets = 1 }}\ntransport = \"fixed_window(window=1)\"\n"
        );
        let result = run(&text, &no_file);
        let delay = result["flows"][1]["delay_s_mean"].as_f64().unwrap_or(f64::NAN);
        (count(&result["flows"][0], "dropped"), (delay * 1e6).round())
    };
    // Of four packets one is sent at once and one is dropped, because two may wait; the short one
    // causes another drop. It waits for the rest of the first, 7 ms, then takes 0.8 ms, and 1 ms on
    // the way.
    assert_eq!(waits(""), (2, 8800.0));
    // A ring has taken the second: there is room for all but the short one, which causes a drop and
    // waits for two packets.
    assert_eq!(waits("ring = 1"), (1, 16_800.0));
    // A longer ring has taken all of them.
    assert_eq!(waits("ring = 3"), (0, 32_800.0));
}

#[test]
fn another_impairment_changes_nothing_of_the_first() {
    let lost = |more: &str| {
        let medium = format!("rate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nloss = 0.03\n{more}");
        count(&run(&text(&medium, STEADY), &no_file)["links"][0], "lost")
    };
    assert_eq!(lost(""), lost("jitter = \"0.1 ms\""));
    assert_eq!(lost(""), lost("reorder = { probability = 0.1, delay = \"2 ms\" }"));
}

#[test]
fn losses_in_bursts_are_as_many_and_fewer_of_them_are_alone() {
    let lost = |loss: &str| {
        let medium = format!("rate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nloss = {loss}");
        count(&run(&text(&medium, STEADY), &no_file)["flows"][0], "lost")
    };
    // 20000 packets, some 80 bursts of 5 in the mean: 400 lost, standard deviation 59; four of
    // them.
    assert!((164..=636).contains(&lost("\"2%@burst=5\"")), "{}", lost("\"2%@burst=5\""));
    assert_eq!(lost("\"3%\""), lost("0.03"), "a number and its text are one");
}

#[test]
fn a_walk_carries_what_its_rates_let_it_and_no_flow_changes_it() {
    let flood = "traffic = \"constant_rate(rate=200Mbit/s, packet=1500B)\"";
    let medium = "rate = \"3 Mbit/s..13 Mbit/s\"\nreverse_rate = \"1 Gbit/s\"\ndelay = \"1 ms\"";
    let of = |seed: u64, more: &str| {
        let seeded = text(medium, flood).replace("duration = \"20 s\"", &format!("duration = \"20 s\", seed = {seed}"));
        let result = run(&(seeded + more), &no_file);
        (count(&result["links"][0], "bytes"), result["links"][0]["utilisation"].as_f64().expect("a part"))
    };
    let (bytes, used) = of(1, "");
    // The line is full from its first packet on; a packet that crosses the end counts whole.
    assert!((used - 1.0).abs() < 1e-3, "{used}");
    assert!((3e6..13e6).contains(&(bytes as f64 * 8.0 / 20.0)), "{bytes}");
    assert_eq!(of(1, ""), (bytes, used), "the same seed is the same run");
    assert_ne!(of(2, "").0, bytes);
    let other =
        "[[flows]]\nname = \"g\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"constant_rate(rate=1Mbit/s, packet=1500B)\"";
    let (with, _) = of(1, other);
    assert!(with.abs_diff(bytes) <= 1500, "{with} and {bytes}: another flow changes nothing of the walk");
}

#[test]
fn disciplines_are_told_the_geometric_middle_of_a_walk() {
    let result = run(&text("rate = \"4 Mbit/s..16 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"10 ms\"", STEADY), &no_file);
    assert_eq!(count(&result["links"][0], "rate_bit_per_s"), 8_000_000);
    assert_eq!(result["queues"][0]["limit"], "10 kB");
}

#[test]
fn a_trace_of_a_line_each_millisecond_carries_12_megabits_per_second() {
    let trace: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
    let files = move |_: &str| Ok(trace.clone().into_bytes());
    let traffic = "traffic = \"ftp(packet=1500B)\"\ntransport = \"generic(window=200)\"";
    for queue in ["fifo", "fq", "drr", "fq(preemptive=true)"] {
        let medium = format!("trace = \"x.down\"\nreverse_rate = \"1 Gbit/s\"\ndelay = \"10 ms\"\nqueue = \"{queue}\"");
        let result = run(&text(&medium, traffic), &files);
        let rate = result["flows"][0]["throughput_bit_per_s"].as_f64().expect("a rate");
        assert!((rate - 12e6).abs() < 0.005 * 12e6, "{queue}: {rate}");
        assert_eq!(count(&result["links"][0], "rate_bit_per_s"), 12_000_000);
        assert_eq!(count(&result["links"][1], "rate_bit_per_s"), 1_000_000_000);
    }
}

#[test]
fn a_real_trace_carries_what_its_opportunities_let_it() {
    let Some(folder) = fairq_testkit::real::folder("links", "no real trace was followed") else { return };
    let files = move |name: &str| std::fs::read(folder.join(name)).map_err(|error| error.to_string());
    for name in
        ["ATT-LTE-driving-2016.down", "TMobile-LTE-short.down", "TMobile-LTE-short.up", "Verizon-LTE-short.down"]
    {
        let medium = format!("trace = \"{name}\"\nreverse_rate = \"1 Gbit/s\"\ndelay = \"10 ms\"");
        // More than the line carries, in packets that fill an opportunity each.
        let result = run(&text(&medium, "traffic = \"constant_rate(rate=200Mbit/s, packet=1500B)\""), &files);
        let bytes = files(name).expect("a trace");
        let times = String::from_utf8(bytes)
            .expect("text")
            .lines()
            .map(|ms| ms.parse::<u64>().expect("a number"))
            .collect::<Vec<_>>();
        // The first packet arrives at time zero, before any opportunity of that instant.
        let due = times.iter().filter(|ms| **ms <= 20_000).count() as u64;
        let sent = count(&result["links"][0], "packets");
        assert!(times.last() > Some(&20_000), "{name}: the run goes beyond the trace");
        // The line is backlogged except in its first instants, in which packets arrive one after
        // another.
        assert!(sent <= due && sent + 200 > due, "{name}: {sent} of {due} opportunities");
    }
}

/// Media without sense, and the line that the user reads.
const BAD_MEDIA: &[(&str, &str)] = &[
    ("delay = \"1 ms\"", "a.toml:5: links[0]: rate is missing; write rate = \"56 kbit/s\""),
    (
        "rate = \"1 Mbit/s\"\ntrace = \"x\"",
        "a.toml:10: links[0].trace: a link has a rate or a trace; leave one of them out",
    ),
    (
        "rate = \"1 Mbit/s\"\nreverse_rate = \"1 Mbit/s\"\nreverse_trace = \"x\"",
        "a.toml:11: links[0].reverse_trace: a direction has a rate or a trace; leave one of them out",
    ),
    ("trace = \"gone\"", "a.toml:9: links[0].trace: gone cannot be read: no such file"),
    (
        "trace = \"empty\"",
        "a.toml:9: links[0].trace: empty: the trace is empty; a line is a millisecond at which 1500 bytes may leave",
    ),
    (
        "trace = \"backwards\"",
        "a.toml:9: links[0].trace: backwards:3: the trace goes backwards, from 5 to 4; if its file is cut, leave \
         this line out",
    ),
    (
        "rate = \"5 Mbit/s..3 Mbit/s\"",
        "a.toml:9: links[0].rate: `5 Mbit/s..3 Mbit/s`: a walk goes from a lower rate to a higher one; write 3 \
         Mbit/s..5 Mbit/s",
    ),
    ("rate = \"0 bit/s..3 Mbit/s\"", "a.toml:9: links[0].rate: `0 bit/s`: a rate is above zero and at most 10 Tbit/s"),
    (
        "trace = \"words\"",
        "a.toml:9: links[0].trace: words:1: a line is a whole number of milliseconds, at most 53 days, not `hello`",
    ),
    ("trace = \"still\"", "a.toml:9: links[0].trace: still: the trace takes no time; its last line is above 0"),
    ("trace = 3", "a.toml:9: links[0].trace: write text in quotes, not `3`"),
    ("rate = \"1 Mbit/s\"\nring = 65537", "a.toml:10: links[0].ring: a ring has at most 65536 places"),
    (
        "rate = \"1 Mbit/s\"\nqueue = \"fq(preemptive=true)\"\nring = 1",
        "a.toml:11: links[0].ring: the queue interrupts transmissions, which goes with no ring; leave one of them out",
    ),
    ("rate = \"1 Mbit/s\"\nloss = 1", "a.toml:10: links[0].loss: a probability is from 0 to below 1, not 1"),
    ("rate = \"1 Mbit/s\"\nloss = -0.1", "a.toml:10: links[0].loss: a probability is from 0 to below 1, not -0.1"),
    (
        "rate = \"1 Mbit/s\"\nloss = \"1 of 100\"",
        "a.toml:10: links[0].loss: `1 of 100`: a loss is a part of the packets, as 0.01, \"1%\" or \"2%@burst=5\"",
    ),
    (
        "rate = \"1 Mbit/s\"\nloss = \"90%@burst=2\"",
        "a.toml:10: links[0].loss: bursts of 2 lose at most 0.667 of the packets, as one that arrives parts two \
         bursts; write a longer burst",
    ),
    (
        "rate = \"1 Mbit/s\"\njitter = 3",
        "a.toml:10: links[0].jitter: write a time as text with a unit, like \"3 s\" or \"3 ms\", not `3`",
    ),
    (
        "rate = \"1 Mbit/s\"\nreorder = { probability = 2, delay = \"1 ms\" }",
        "a.toml:10: links[0].reorder.probability: a probability is from 0 to below 1, not 2",
    ),
    (
        "rate = \"1 Mbit/s\"\nreorder = { probability = 0.1 }",
        "a.toml:10: links[0].reorder: delay is missing; write delay = \"5 ms\"",
    ),
    (
        "rate = \"1 Mbit/s\"\nreorder = 0.1",
        "a.toml:10: links[0].reorder: write a table like { probability = 0.01, delay = \"5 ms\" }, not `0.1`",
    ),
];

#[test]
fn bad_media_are_told_in_one_line() {
    let files = |name: &str| match name {
        "empty" => Ok(Vec::new()),
        "backwards" => Ok(b"1\n5\n4\n".to_vec()),
        "words" => Ok(b"hello\n".to_vec()),
        "still" => Ok(b"0\n".to_vec()),
        _ => Err(format!("{name} cannot be read: no such file")),
    };
    for (medium, said) in BAD_MEDIA {
        let problem = Experiment::read_with(&text(medium, STEADY), "a.toml", &[], &files).err();
        assert_eq!(problem.map_or("NO FAULT".to_string(), |problem| problem.to_string()), *said, "{medium}");
    }
}
