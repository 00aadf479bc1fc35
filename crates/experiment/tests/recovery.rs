//! TCP's recovery in networks: the utilisation of a line, and that the work grows no faster than
//! the packets sent.

use crate::running::run;
use fairq_sched::units::Time;
use fairq_sim::transport::messages::Arrival;
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::supply::Supply;
use fairq_sim::transport::tcp::Setup;
use fairq_sim::transport::tcp::settings::Terms;
use serde_json::Value;
use std::sync::Arc;

/// One connection over a line of `packets` a round trip, with a buffer for some of them.
fn alone(transport: &str, connection: &str, buffer: u32, seconds: u32) -> Value {
    run(&format!(
        r#"
        edition = 1
        measure = {{ warm_up = "100 s", duration = "{seconds} s" }}
        [defaults]
        start = "0 s"
        transport = "{transport}"
        {connection}
        [[links]]
        name = "line"
        from = "a"
        to = "b"
        rate = "8 Mbit/s"
        delay = "50.2 ms"
        buffer = "{buffer} packets"
        queue = "fifo"
        reverse_rate = "unlimited"
        [[flows]]
        name = "flow"
        from = "a"
        to = "b"
        traffic = "ftp"
        "#
    ))
}

fn utilisation(result: &Value) -> f64 {
    result["links"][0]["utilisation"].as_f64().expect("a number")
}

/// With x = (1 + b) / 2 for a buffer of b bandwidth-delay products: ((1 - x²)/2 + q) / ((1 - x) +
/// q), q = ((1 + b)² - 1)/2.
fn sawtooth(buffer: f64) -> f64 {
    let (x, q) = ((1.0 + buffer) / 2.0, ((1.0 + buffer) * (1.0 + buffer) - 1.0) / 2.0);
    ((1.0 - x * x) / 2.0 + q) / ((1.0 - x) + q)
}

#[test]
fn a_bufferless_line_is_used_as_published() {
    // The published points of the formula, for the line itself.
    for (buffer, published) in [(0.0, 0.750), (0.032, 0.7732), (0.1, 0.8176), (0.25, 0.8929), (0.5, 0.9643), (1.0, 1.0)]
    {
        assert!((sawtooth(buffer) - published).abs() < 5e-4, "{buffer}");
    }
    // A hundred packets a round trip; a loss every 5 s or less often. The packet being sent is not
    // in the buffer, and of a clocked pair the second arrives just before the place of the first is
    // free: two packets is the minimum.
    for recovery in ["newreno", "sack", "rack"] {
        for (packets, tolerance) in [(2, 0.02), (10, 0.02), (25, 0.02), (50, 0.02), (100, 0.01)] {
            let connection = format!("connection = {{ recovery = \"{recovery}\", initial_window = 2 }}");
            let found = utilisation(&alone("reno", &connection, packets, 900));
            let expected = sawtooth(f64::from(packets) / 101.0);
            assert!((found - expected).abs() < tolerance, "{recovery}, {packets} packets: {found} for {expected}");
        }
    }
}

/// The packet being sent is not in the buffer of one. A longer buffer has another effect than with
/// Reno: nothing limits a rate while the queue grows.
#[test]
fn rap_uses_a_bufferless_line_to_three_quarters() {
    for transport in ["rap", "rap(fine_grain=true)"] {
        let found = utilisation(&alone(transport, "", 1, 900));
        assert!((found - sawtooth(1.0 / 101.0)).abs() < 0.02, "{transport}: {found}");
    }
}

/// A sender over a pipe that loses given packets, once. Returns the packets sent until all are
/// acknowledged, and the number of calls that took.
fn transfer(recovery: &str, packets: u64, window: u32, lost: impl Fn(u64) -> bool) -> (u64, u64) {
    let settings: Arc<TransportSettings> = Arc::new(serde_json::from_str(r#"{"kind": "reno"}"#).expect("a transport"));
    let connection = format!(r#"{{"recovery": "{recovery}", "initial_window": {window}}}"#);
    let connection = serde_json::from_str(&connection).expect("a connection");
    let connection = Arc::new(Terms::new(connection, Arc::clone(&settings)));
    let supply = Supply::Ready { length: 1000, left: packets };
    let mut ends = settings.build(Setup { supply, connection, seed: 1 });
    let mut answers = std::collections::VecDeque::new();
    let (mut now, mut sent, mut calls, mut gap) = (Time::ZERO, 0, 0, 0);
    while !ends.sender.is_complete() {
        calls += 1;
        while let Some(packet) = ends.sender.poll(now) {
            sent += 1;
            calls += 1;
            if !packet.is_retransmission && lost(packet.sequence) {
                continue;
            }
            let (sequence, length, flags) = (packet.sequence, packet.length, packet.flags);
            let arrival = Arrival { flags, ..Arrival::of(sequence, length, now) };
            gap += 1;
            let back = now + Time::from_ms(100) + Time(gap);
            answers.extend(ends.receiver.receive(now, &arrival).1.map(|answer| (back, answer)));
        }
        match answers.front() {
            Some((time, answer)) if *time <= ends.sender.deadline() => {
                now = now.max(*time);
                ends.sender.acknowledge(now, answer);
                answers.pop_front();
            }
            _ => {
                now = ends.sender.deadline();
                assert!(now < Time::NEVER, "stuck after {sent} packets");
                ends.sender.wake(now);
            }
        }
    }
    (sent, calls)
}

/// Calls are counted here; the work within them, of all transports, by `cargo xtask cost`
/// (`windows.rs`).
#[test]
fn a_thousand_losses_in_a_window_of_fifty_thousand_are_mended_once_each() {
    for recovery in ["sack", "rack"] {
        let (sent, calls) = transfer(recovery, 200_000, 50_000, |n| (20_000..40_000).contains(&n) && n % 20 == 0);
        assert_eq!(sent, 201_000, "{recovery}: each lost packet is sent once more");
        assert!(calls < 3 * sent, "{recovery}: {calls} calls");
        // A run of losses, and the very last packets.
        let (sent, _) = transfer(recovery, 200_000, 50_000, |n| (20_000..21_000).contains(&n) || n >= 199_990);
        assert!((201_010..201_030).contains(&sent), "{recovery}: {sent} packets");
    }
}

/// Retransmissions of 2000 packets over a pipe of 40 ms that carries one each 0.2 ms, where `late`
/// gives the extra delay of each.
fn again(recovery: &str, late: impl Fn(u64) -> Time) -> u64 {
    let settings: Arc<TransportSettings> = Arc::new(serde_json::from_str(r#"{"kind": "reno"}"#).expect("a transport"));
    let connection = format!(r#"{{"recovery": "{recovery}", "initial_window": 10, "receive_window": 100}}"#);
    let connection = serde_json::from_str(&connection).expect("a connection");
    let connection = Arc::new(Terms::new(connection, Arc::clone(&settings)));
    let supply = Supply::Ready { length: 1000, left: 2000 };
    let mut ends = settings.build(Setup { supply, connection, seed: 1 });
    // By time, and by number where times are equal: arriving packets and acknowledgements.
    let (mut packets, mut answers) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
    let (mut now, mut arrives, mut again, mut number) = (Time::ZERO, Time::ZERO, 0, 0u64);
    let way = Time::from_ms(20);
    while !ends.sender.is_complete() {
        while let Some(packet) = ends.sender.poll(now) {
            again += u64::from(packet.is_retransmission);
            arrives = (arrives + Time(200_000_000)).max(now + way);
            let delay = if packet.is_retransmission { Time::ZERO } else { late(packet.sequence) };
            let arrival = Arrival { flags: packet.flags, ..Arrival::of(packet.sequence, packet.length, now) };
            number += 1;
            packets.insert((arrives + delay, number), arrival);
        }
        let first = |key: Option<&(Time, u64)>| key.map_or(Time::NEVER, |key| key.0);
        let next = [first(packets.keys().next()), first(answers.keys().next()), ends.sender.deadline()];
        now = next[0].min(next[1]).min(next[2]);
        assert!(now < Time::NEVER, "stuck");
        if now == next[0] {
            let (_, arrival) = packets.pop_first().expect("it is there");
            number += 1;
            answers.extend(ends.receiver.receive(now, &arrival).1.map(|answer| ((now + way, number), answer)));
        } else if now == next[1] {
            let (_, answer) = answers.pop_first().expect("it is there");
            ends.sender.acknowledge(now, &answer);
        } else {
            ends.sender.wake(now);
        }
    }
    again
}

/// RFC 8985: after a packet was seen that arrived behind another, RACK waits a quarter of the least
/// round trip, 10 ms, for a late packet. The first is behind one other packet; the others are 1 ms
/// late, behind up to five. Selective acknowledgements alone mistake packets behind three others
/// for lost, again and again; so does RACK before it has seen one.
#[test]
fn rack_sends_nothing_again_for_packets_that_come_late_once_it_has_seen_one() {
    let (a_little, a_millisecond) = (Time(250_000_000), Time(1_050_000_000));
    let comes_late = |seen: bool| {
        move |n: u64| match n {
            15 if seen => a_little,
            _ if n >= 100 && n.is_multiple_of(100) => a_millisecond,
            _ => Time::ZERO,
        }
    };
    assert_eq!(again("rack", comes_late(true)), 0);
    let [selective, at_first] = [again("sack", comes_late(true)), again("rack", comes_late(false))];
    assert!(selective > at_first && at_first > 0, "{selective} {at_first}");
}

#[test]
fn every_recovery_mends_every_pattern() {
    // Random losses of a tenth, heavy bursts, losses of the first and last packets.
    for recovery in ["tahoe", "reno", "newreno", "sack", "rack"] {
        for seed in 0..60u64 {
            let draw = |n: u64| (n ^ seed.wrapping_mul(0x9e37_79b9)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
            let lost = |n: u64| match seed % 4 {
                0 => draw(n) % 10 == 0,
                1 => (n / 40).is_multiple_of(3) && draw(n) % 3 > 0,
                2 => !(5..=290).contains(&n),
                _ => draw(n) % 50 == 0,
            };
            let (sent, _) = transfer(recovery, 300, 10, lost);
            assert!((300..2_000).contains(&sent), "{recovery}, seed {seed}: {sent} packets");
        }
    }
}
