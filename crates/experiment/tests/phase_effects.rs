//! Phase effects: two connections over one full queue, the second with a longer path. Without the
//! processing time of hosts, ties decide which connection gets the line, here by which link the
//! scenario names first. With it, or with jitter on the access lines instead, the longer path gets
//! less the longer it is. The network is that of Floyd and Jacobson 1992, figure 3.

use crate::running;
use serde_json::Value;

/// The delay of the second connection's access line is `far_ms`, that of the first 5 ms; a packet
/// takes 10 ms on the slow line.
struct World<'a> {
    far_ms: u32,
    /// Whether the far link is named first, so that of packets that arrive in one instant the
    /// second connection's goes first.
    far_first: bool,
    /// Whether the second connection is left out.
    only_near: bool,
    connection: &'a str,
    jitter: &'static str,
    seed: u64,
}

const USUAL: World<'static> =
    World { far_ms: 5, far_first: false, only_near: false, connection: "", jitter: "0 s", seed: 1 };
const EXACT: World<'static> = World { connection: "processing = \"0 s\"", ..USUAL };

impl World<'_> {
    fn play(&self) -> Value {
        let access = |name: &str, from: &str, ms: u32| {
            let jitter = self.jitter;
            format!(
                "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"a\"\nrate = \"8 Mbit/s\"\n\
                 delay = \"{ms} ms\"\njitter = \"{jitter}\"\n"
            )
        };
        let (near, far) = (access("near", "c", 5), access("far", "d", self.far_ms));
        let links = if self.far_first { far + &near } else { near + &far };
        let flow = |name: &str, from: &str| {
            format!("[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"b\"\ntraffic = \"ftp(packet=1000B)\"\n")
        };
        let connection = format!(
            "{}{}",
            if self.only_near { "" } else { "receive_window = 32, recovery = \"sack\", " },
            self.connection
        );
        let (seed, first, second) = (self.seed, flow("1", "c"), flow("2", "d"));
        let second = if self.only_near { String::new() } else { second };
        let text = format!(
            r#"
            edition = 1
            measure = {{ warm_up = "50 s", duration = "200 s", seed = {seed} }}
            [defaults]
            transport = "reno"
            connection = {{ {connection} }}
            [[links]]
            name = "line"
            from = "a"
            to = "b"
            rate = "800 kbit/s"
            delay = "100 ms"
            queue = "fifo + 15packets"
            reverse_queue = "fifo + unlimited"
            {links}
            {first}
            {second}
            "#
        );
        running::run(&text)
    }

    /// The second connection's part of the line, in the mean of ten seeds.
    fn part(&self) -> f64 {
        let one = |seed| {
            let result = Self { seed, ..*self }.play();
            let of = |flow: usize| result["flows"][flow]["throughput_packets"].as_f64().expect("a number");
            of(1) / (of(0) + of(1))
        };
        (1..=10).map(one).sum::<f64>() / 10.0
    }
}

#[test]
fn connections_lock_in_phase_unless_their_hosts_take_time() {
    for far_ms in [15, 25, 35, 55] {
        let both = |world: World<'static>| [false, true].map(|far_first| World { far_ms, far_first, ..world }.part());
        let [last, first] = both(EXACT);
        assert!(last < 0.5 && first > 0.7, "{far_ms} ms: locked, the longer path has {last} or {first}");
        let [last, first] = both(USUAL);
        assert!((last - first).abs() < 0.04, "{far_ms} ms: {last} or {first} by the order of links");
        // The jitter of both directions together is as large as the processing time of a host.
        let [jittered, _] = both(World { jitter: "5 ms", ..EXACT });
        assert!((last - jittered).abs() < 0.06, "{far_ms} ms: {last}, with jitter of lines {jittered}");
    }
}

#[test]
fn with_the_time_of_hosts_the_longer_path_gets_less_the_longer_it_is() {
    let parts = [15, 35, 85, 155, 305].map(|far_ms| World { far_ms, ..USUAL }.part());
    assert!(parts.is_sorted_by(|a, b| a > b) && parts[0] < 0.65 && parts[4] > 0.1, "{parts:?}");
}

/// A window of one packet: a round trip takes the lines' 10 + 1 ms, the delays' 210 ms, an
/// acknowledgement's 0.04 ms and 0.4 ms, and the host's time.
#[test]
fn a_host_takes_half_the_greatest_time_on_average() {
    for (connection, host_s) in [(EXACT.connection, 0.0), ("processing = \"100 ms\"", 0.05), ("", 0.005)] {
        let connection = format!("recovery = \"newreno\", receive_window = 1, {connection}");
        let document = World { only_near: true, connection: &connection, ..USUAL }.play();
        let packets = document["flows"][0]["throughput_packets"].as_f64().expect("a number");
        let expected = 200.0 / (0.221_44 + host_s);
        assert!((packets - expected).abs() < 0.02 * expected, "{connection}: {packets} packets for {expected}");
    }
}

#[test]
fn the_usual_time_is_that_of_a_packet_on_the_slowest_line() {
    let result = |connection| World { far_ms: 20, connection, ..USUAL }.play()["flows"].to_string();
    assert_eq!(result(""), result("processing = \"10 ms\""));
    assert_ne!(result(""), result("processing = \"9.999 ms\""));
    assert_ne!(result(""), result(EXACT.connection));
    // Packets that a pace spaces leave at their times.
    assert_eq!(result("pacing = true"), result("pacing = true, processing = \"0 s\""));
}
