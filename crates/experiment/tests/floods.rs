//! No congestion control floods a queue, with any recovery. A flood would occur if the decrease at
//! a loss were computed from more than the window.

use crate::running;
use fairq_sim::transport::registry::{TRANSPORTS, TransportSettings};
use serde_json::{Value, json};

/// Congestion controls over a connection, but for those that need a line which serves flows packet
/// by packet in turn.
fn controls() -> impl Iterator<Item = &'static str> {
    let is_one = |name: &&str| {
        let settings: TransportSettings = serde_json::from_value(json!({ "kind": name })).expect("a transport");
        settings.has_connection() && !settings.needs_each_answer()
    };
    TRANSPORTS.iter().map(|card| card.name).filter(is_one)
}
const QUEUES: [&str; 5] = ["fifo", "fq_codel", "fifo + codel", "fifo + pie", "dualpi2"];

/// The result of `count` flows over a line of `rate` Mbit/s and a round trip of 40 ms.
fn run(control: &str, connection: &str, queue: &str, count: u32, rate: u32, buffer: u32) -> Value {
    let text = format!(
        r#"
        measure = {{ warm_up = "4 s", duration = "5 s" }}
        [defaults]
        start = "0 s"
        transport = "{control}"
        connection = {{ {connection} }}
        access = {{ rate = "1 Gbit/s" }}
        [[links]]
        name = "line"
        from = "a"
        to = "b"
        rate = "{rate} Mbit/s"
        delay = "20 ms"
        buffer = "{buffer} packets"
        queue = "{queue}"
        reverse_queue = "fifo + unlimited"
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        traffic = "ftp"
        count = {count}
        "#
    );
    running::run(&text)
}

/// Packets dropped of those sent, and the line's utilisation.
fn lost(result: &Value) -> (f64, f64) {
    let sum = |column: &str| -> f64 {
        result["flows"].as_array().expect("rows").iter().map(|row| row[column].as_f64().expect("a number")).sum()
    };
    let line = &result["links"][0];
    (sum("dropped") / sum("sent"), line["utilisation"].as_f64().expect("a number"))
}

/// The greatest part that may be lost. `bbr` ignores losses, and several flows overestimate a line
/// whose queue is short (Hock, Bless and Zitterbart, ICNP 2017). `hybla` grows by the square of its
/// round trip over 25 ms, 2.6 times as fast as Reno here. The others lose what they need to find
/// their share.
fn bound(control: &str, count: u32) -> f64 {
    match control {
        "bbr" if count > 1 => 0.2,
        "hybla" => 0.04,
        _ => 0.03,
    }
}

fn check(recovery: &str) {
    let mut floods = String::new();
    for control in controls() {
        for queue in QUEUES {
            for count in [1, 4] {
                let (part, used) = lost(&run(control, &format!(r#"recovery = "{recovery}""#), queue, count, 20, 100));
                if part > bound(control, count) {
                    floods += &format!("{control} over {queue}, {count} flows: {part:.4} lost, {used:.3} used\n");
                }
            }
        }
    }
    assert!(floods.is_empty(), "{recovery}:\n{floods}");
}

#[test]
fn no_congestion_control_floods_a_queue_with_sack() {
    check("sack");
}

#[test]
fn no_congestion_control_floods_a_queue_with_rack() {
    check("rack");
}

/// The smallest decreases, for which a decrease from more than the window would most easily exceed
/// the window; a long buffer, and a receiver that acknowledges every second packet.
#[test]
fn a_loss_leaves_less_than_the_window_whatever_was_in_flight() {
    for control in ["cubic", "scalable", "htcp"] {
        for reduces in ["cwnd", "flight"] {
            for (queue, count) in [("fq_codel", 4), ("fifo + codel", 1), ("dualpi2", 1)] {
                let connection = format!(r#"recovery = "rack", reduces = "{reduces}", acknowledge_every = 2"#);
                let (part, _) = lost(&run(control, &connection, queue, count, 50, 400));
                assert!(part < 0.002, "{control}, {reduces}, {queue}: {part:.4} lost");
            }
        }
    }
}

/// BBR beside CUBIC over a short FIFO. At a loss its window is the packets in flight, without those
/// that arrived out of order or are lost. With those counted, recovery by selective
/// acknowledgements with a short timeout lost a sixth of all packets.
#[test]
fn bbr_floods_no_fifo_with_either_recovery() {
    let text = |seed: u32, recovery: &str, floor: &str| {
        format!(
            r#"
            measure = {{ warm_up = "5 s", duration = "10 s", seed = {seed} }}
            [defaults]
            connection = {{ recovery = "{recovery}", acknowledge_every = 2, timeout = {{ floor = "{floor}" }} }}
            [[links]]
            name = "line"
            from = "a"
            to = "b"
            rate = "20 Mbit/s"
            delay = "30 ms"
            buffer = "100 packets"
            queue = "fifo"
            reverse_queue = "fifo + unlimited"
            [[flows]]
            name = "cubic"
            from = "a"
            to = "b"
            traffic = "ftp(packet=1500B)"
            transport = "cubic"
            [[flows]]
            name = "bbr"
            from = "a"
            to = "b"
            traffic = "ftp(packet=1500B)"
            transport = "bbr"
            "#
        )
    };
    for recovery in ["sack", "rack"] {
        for seed in 1..=6 {
            let (part, _) = lost(&running::run(&text(seed, recovery, "200 ms")));
            assert!(part < 0.02, "{recovery}, seed {seed}: {part:.4} lost");
        }
    }
}

/// A FIFO loses packets of a flow, and a short queue in the other direction loses acknowledgements.
/// Nothing is reordered: both recoveries behave alike (RFC 8985, section 6.2, step 3).
#[test]
fn lost_acknowledgements_make_rack_neither_faster_nor_slower() {
    let throughput = |control: &str, recovery: &str, seed: u32| {
        let text = format!(
            r#"
            measure = {{ warm_up = "10 s", duration = "50 s", seed = {seed} }}
            defaults = {{ start = "0 s" }}
            [[links]]
            name = "line"
            from = "a"
            to = "b"
            rate = "50 Mbit/s"
            delay = "20 ms"
            buffer = "20 packets"
            queue = "fifo"
            reverse_rate = "10 Mbit/s"
            reverse_queue = "fifo + 3packets"
            [[flows]]
            name = "f"
            from = "a"
            to = "b"
            traffic = "ftp(packet=1000B)"
            transport = "{control}"
            connection = {{ recovery = "{recovery}" }}
            [[flows]]
            name = "cross"
            from = "a"
            to = "b"
            traffic = "poisson(rate=25Mbit/s, packet=1000B)"
            transport = "uncontrolled"
            [[flows]]
            name = "back"
            from = "b"
            to = "a"
            traffic = "poisson(rate=9Mbit/s, packet=1000B)"
            transport = "uncontrolled"
            "#
        );
        let result = running::run(&text);
        result["flows"][0]["throughput_bit_per_s"].as_f64().expect("a number") / 1e6
    };
    for control in ["cubic", "scalable"] {
        let mean = |recovery: &str| (1..=4).map(|seed| throughput(control, recovery, seed)).sum::<f64>() / 4.0;
        let (sack, rack) = (mean("sack"), mean("rack"));
        assert!((rack / sack - 1.0).abs() < 0.1, "{control}: {rack} with rack, {sack} with sack");
    }
}
