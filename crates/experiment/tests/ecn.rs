//! Marks: which packets may be marked, how a mark changes a window, that no connection reacts to
//! another's marks, and that the transport sets the ECN field of its packets.

use crate::running;
use fairq_experiment::experiment::Experiment;
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use fairq_sim::transport::messages::{Acknowledgement, Arrival, Flags, Transmission};
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::supply::Supply;
use fairq_sim::transport::tcp::Setup;
use fairq_sim::transport::tcp::settings::Terms;
use fairq_sim::transport::{Ends, Sender};
use serde_json::{Value, json};
use std::sync::Arc;

/// Congestion controls that react to marks as to losses, once a window.
const CLASSIC: [&str; 8] = ["reno", "newreno", "cubic", "hstcp", "htcp", "hybla", "scalable", "westwood_plus"];

/// A transport by its text form, through a scenario as a user would write it.
fn settings(transport: &str) -> Arc<TransportSettings> {
    let text = format!(
        "links = [{{ name = \"l\", from = \"a\", to = \"b\", rate = \"1 Mbit/s\" }}]\n\
         flows = [{{ name = \"f\", from = \"a\", to = \"b\", traffic = \"ftp\", transport = \"{transport}\" }}]\n"
    );
    let experiment = running::read(&text);
    Arc::clone(&experiment.plans()[0].1.flows[0].entry.transport)
}

fn ends(transport: &str, connection: &Value, packets: u64) -> Ends {
    let settings = settings(transport);
    let connection = serde_json::from_value(connection.clone()).expect("a connection");
    let connection = Arc::new(Terms::new(connection, Arc::clone(&settings)));
    settings.build(Setup { supply: Supply::Ready { length: 1000, left: packets }, connection, seed: 7 })
}

fn inner(sender: &dyn Sender, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    sender.inspect(&mut |name, value| found = if name == wanted { value } else { found });
    found
}

/// What happens to a packet on its way.
#[derive(Clone, Copy, Default)]
struct Way {
    lost: bool,
    marked: bool,
    /// Its extra delay.
    late: Time,
    /// The extra delay of its acknowledgement.
    answered_late: Time,
}

/// Both ends, 50 ms apart, over a line that takes 1 ms for a packet.
struct Pipe {
    now: Time,
    free: Time,
    count: u64,
    ends: Ends,
    arriving: Vec<(Time, u64, Arrival, Time)>,
    answers: Vec<(Time, u64, Acknowledgement)>,
    /// All transmissions, with their times and the window just before each.
    sent: Vec<(Time, Transmission, f64)>,
    /// The windows after each acknowledgement and each timer.
    windows: Vec<f64>,
}

impl Pipe {
    fn new(ends: Ends, now: Time) -> Self {
        Self {
            now,
            free: now,
            count: 0,
            ends,
            arriving: Vec::new(),
            answers: Vec::new(),
            sent: Vec::new(),
            windows: Vec::new(),
        }
    }

    fn poll(&mut self, way: &mut dyn FnMut(&Transmission) -> Way) {
        let window = inner(&*self.ends.sender, "window_packets");
        while let Some(packet) = self.ends.sender.poll(self.now) {
            self.sent.push((self.now, packet, window));
            self.free = self.free.max(self.now) + Time::from_ms(1);
            let way = way(&packet);
            if way.lost {
                continue;
            }
            let marks = if way.marked { Marks::CE.within(self.ends.sender.accepts().of(&packet)) } else { Marks::NONE };
            let flags = packet.flags;
            let arrival = Arrival { marks, flags, ..Arrival::of(packet.sequence, packet.length, self.now) };
            self.count += 1;
            self.arriving.push((self.free + Time::from_ms(25) + way.late, self.count, arrival, way.answered_late));
        }
    }

    fn answer(&mut self, answer: Option<Acknowledgement>, late: Time) {
        self.count += 1;
        self.answers.extend(answer.map(|answer| (self.now + Time::from_ms(25) + late, self.count, answer)));
    }

    /// Runs until no event is left, or until `end`.
    fn play(&mut self, end: Time, way: &mut dyn FnMut(&Transmission) -> Way) {
        loop {
            self.poll(way);
            let arrival = self.arriving.iter().map(|arriving| (arriving.0, arriving.1)).min();
            let answer = self.answers.iter().map(|answer| (answer.0, answer.1)).min();
            let timers = [self.ends.receiver.deadline(), self.ends.sender.deadline()];
            let times =
                [arrival.map_or(Time::NEVER, |at| at.0), answer.map_or(Time::NEVER, |at| at.0), timers[0], timers[1]];
            let next = times.into_iter().min().unwrap_or(Time::NEVER);
            if next == Time::NEVER || next > end {
                return;
            }
            self.now = self.now.max(next);
            if times[0] == next {
                let at = self
                    .arriving
                    .iter()
                    .position(|arriving| Some(arriving.1) == arrival.map(|a| a.1))
                    .expect("it is there");
                let (_, _, arrival, late) = self.arriving.remove(at);
                let (_, answer) = self.ends.receiver.receive(self.now, &arrival);
                self.answer(answer, late);
            } else if times[1] == next {
                let at =
                    self.answers.iter().position(|waits| Some(waits.1) == answer.map(|a| a.1)).expect("it is there");
                let (_, _, answer) = self.answers.remove(at);
                self.ends.sender.acknowledge(self.now, &answer);
            } else if times[2] == next {
                let answer = self.ends.receiver.wake(self.now);
                self.answer(answer, Time::ZERO);
            } else {
                self.ends.sender.wake(self.now);
            }
            self.windows.push(inner(&*self.ends.sender, "window_packets"));
        }
    }

    /// How often the window decreased.
    fn reductions(&self) -> usize {
        self.windows.windows(2).filter(|pair| pair[1] < pair[0]).count()
    }
}

/// A window of 40 packets whose fates are given by number; 200 ms of it, which is a little more
/// than two round trips.
fn flight(transport: &str, recovery: &str, way: &mut dyn FnMut(u64) -> Way) -> Pipe {
    let connection =
        json!({"recovery": recovery, "initial_window": 40, "timeout": {"floor": "200 ms", "first": "1 s"}});
    let mut pipe = Pipe::new(ends(transport, &connection, 400), Time::ZERO);
    pipe.play(Time::from_ms(190), &mut |packet| {
        if packet.is_retransmission { Way::default() } else { way(packet.sequence) }
    });
    pipe
}

#[test]
fn a_mark_reduces_once_and_is_repeated_until_the_receiver_heard() {
    for law in CLASSIC {
        for (at, marked) in [5, 0, 17, 39].into_iter().flat_map(|at| [1, 2, 20].map(|marked| (at, marked))) {
            let pipe = flight(&format!("{law}(ecn=true)"), "sack", &mut |sequence| Way {
                marked: (at..at + marked).contains(&sequence) && sequence < 40,
                ..Way::default()
            });
            assert_eq!(pipe.reductions(), 1, "{law}, packets {at} to {}: {:?}", at + marked, pipe.windows);
            let told = pipe.sent.iter().filter(|(_, packet, _)| packet.flags.has(Flags::HEARD)).count();
            assert_eq!(told, 1, "{law}: the receiver is told once");
        }
    }
}

#[test]
fn a_mark_and_a_loss_of_one_window_reduce_once_in_either_order() {
    for law in CLASSIC {
        for recovery in ["newreno", "sack", "rack"] {
            for (marked, lost) in [(5, 10), (10, 5), (5, 6), (20, 1), (1, 20), (0, 30), (30, 0)] {
                let transport = format!("{law}(ecn=true)");
                let pipe = flight(&transport, recovery, &mut |sequence| Way {
                    marked: sequence == marked,
                    lost: sequence == lost,
                    ..Way::default()
                });
                let what = format!("{law} {recovery}, {marked} marked, {lost} lost");
                assert_eq!(pipe.reductions(), 1, "{what}: {:?}", pipe.windows);
                let first = pipe.sent.iter().position(|(_, packet, _)| packet.flags.has(Flags::HEARD));
                let first = first.unwrap_or_else(|| panic!("{what}: the receiver is not told"));
                let before = pipe.windows[0];
                let sent_since = pipe.sent[..first]
                    .iter()
                    .filter(|(_, packet, window)| *window < before && !packet.is_retransmission);
                assert_eq!(sent_since.count(), 0, "{what}: the first new packet after the reduction tells");
            }
        }
    }
}

/// RFC 3168, section 6.1.2: after a timeout in the same window, ssthresh stays at the value that a
/// mark reduced it to.
#[test]
fn a_timeout_in_the_window_of_a_mark_does_not_lower_ssthresh_again() {
    let connection =
        json!({"recovery": "newreno", "initial_window": 40, "timeout": {"floor": "200 ms", "first": "1 s"}});
    let mut pipe = Pipe::new(ends("newreno(ecn=true)", &connection, 41), Time::ZERO);
    // The last packets and the one after them are lost, so that only the timer finds them.
    pipe.play(Time::from_s(1), &mut |packet| Way {
        marked: packet.sequence == 5,
        lost: !packet.is_retransmission && packet.sequence >= 38,
        ..Way::default()
    });
    let threshold = inner(&*pipe.ends.sender, "threshold_packets");
    assert!(pipe.windows.contains(&1.0), "the timer expired: {:?}", pipe.windows);
    assert!(threshold >= 17.0, "{threshold}");
}

/// Every other loss of a window has the same effect as without ECN.
#[test]
fn without_marks_ecn_changes_nothing() {
    for law in CLASSIC {
        for recovery in ["tahoe", "reno", "newreno", "sack", "rack"] {
            let play = |ecn: bool| {
                let connection = json!({"recovery": recovery, "timeout": {"floor": "200 ms"}});
                let mut pipe = Pipe::new(ends(&format!("{law}(ecn={ecn})"), &connection, 3000), Time::ZERO);
                pipe.play(Time::from_s(5), &mut |packet| Way {
                    lost: packet.sequence % 61 < 2 && !packet.is_retransmission,
                    ..Way::default()
                });
                (pipe.windows, pipe.sent.iter().map(|(time, packet, _)| (*time, packet.sequence)).collect::<Vec<_>>())
            };
            assert!(play(true) == play(false), "{law} {recovery}");
        }
    }
}

#[test]
fn an_echo_that_was_overtaken_tells_of_no_other_mark() {
    // The acknowledgement of packet 10 repeats the mark of packet 5 and arrives after the
    // acknowledgement of the packet with CWR.
    let pipe = flight("newreno(ecn=true)", "sack", &mut |sequence| Way {
        marked: sequence == 5,
        answered_late: if sequence == 10 { Time::from_ms(75) } else { Time::ZERO },
        ..Way::default()
    });
    assert_eq!(pipe.reductions(), 1, "{:?}", pipe.windows);
}

/// RFC 3168, sections 6.1.1 and 6.1.5; RFC 8257, section 3.5, and Linux for the congestion controls
/// that need marks.
#[test]
fn retransmissions_and_openings_of_classic_ecn_are_not_ect() {
    for (transport, has_all) in CLASSIC
        .map(|law| (format!("{law}(ecn=true)"), false))
        .into_iter()
        .chain([("dctcp".to_string(), true), ("prague".to_string(), true)])
    {
        for recovery in ["newreno", "sack", "rack"] {
            let connection = json!({"recovery": recovery, "handshake": true, "timeout": {"floor": "200 ms"}});
            let mut pipe = Pipe::new(ends(&transport, &connection, 600), Time::ZERO);
            pipe.play(Time::from_s(5), &mut |packet| Way {
                lost: packet.sequence % 50 == 40 && !packet.is_retransmission,
                ..Way::default()
            });
            let accepts = pipe.ends.sender.accepts();
            let (mut others, mut new) = (0, 0);
            for (_, packet, _) in &pipe.sent {
                let is_other = packet.is_retransmission || packet.flags.has(Flags::CONTROL);
                let is_ect = accepts.of(packet).intersects(Marks::CE);
                assert_eq!(is_ect, has_all || !is_other, "{transport} {recovery} {packet:?}");
                others += u32::from(is_other);
                new += u32::from(!is_other);
            }
            assert!(others > 5 && new > 500, "{transport} {recovery}: {others} {new}");
        }
    }
}

/// A connection relative to its first packet and its beginning: the time and content of each
/// transmission, and the state of the congestion control after it.
type Story = Vec<(Time, u64, u32, bool, u8, Vec<(String, u64)>)>;

/// A transfer of 300 packets that begins at `begins` and has losses, marks and reordering. `strays`
/// are packets of an earlier connection that arrive late, once the second round trip has begun.
fn story(pipe: &mut Pipe, begins: Time, strays: &[Arrival]) -> Story {
    pipe.now = begins;
    pipe.free = begins;
    pipe.sent.clear();
    pipe.ends.sender.begin(begins, 299_500, 1000);
    let mut first = None;
    let mut after = |packet: &Transmission| {
        let at = packet.sequence - *first.get_or_insert(packet.sequence);
        Way {
            lost: !packet.is_retransmission && at % 47 == 20,
            marked: at % 31 == 12,
            late: if at % 43 == 9 { Time::from_ms(3) } else { Time::ZERO },
            answered_late: if at % 37 == 5 { Time::from_ms(4) } else { Time::ZERO },
        }
    };
    pipe.play(begins + Time::from_ms(70), &mut after);
    for stray in strays {
        let (_, answer) = pipe.ends.receiver.receive(pipe.now, stray);
        pipe.answer(answer, Time::ZERO);
    }
    let mut told = Story::new();
    let mut seen = 0;
    // Step by step, so that each transmission is recorded with the values of its sender at that
    // time.
    for step in 71..60_000 {
        pipe.play(begins + Time::from_ms(step), &mut after);
        for (time, packet, _) in &pipe.sent[seen..] {
            let start = pipe.sent[0].1.sequence;
            let flags = packet.flags.0 & !Flags::ODD.0;
            let mut values = Vec::new();
            pipe.ends.sender.inspect(&mut |name, value| values.push((name.to_string(), value.to_bits())));
            told.push((
                *time - begins,
                packet.sequence - start,
                packet.length,
                packet.is_retransmission,
                flags,
                values,
            ));
        }
        seen = pipe.sent.len();
        if pipe.ends.sender.is_complete() && pipe.arriving.is_empty() && pipe.answers.is_empty() {
            return told;
        }
    }
    panic!("the transfer is not complete after a minute");
}

/// What a first connection does, and what a second one does on the same ends, while packets of the
/// first are still under way.
fn fresh_and_reused(law: &str, connection: &Value) -> [Story; 2] {
    let at = Time::from_s(100);
    let make = || {
        let mut ends = ends(law, connection, 0);
        *ends.sender.supply() = Supply::empty();
        Pipe::new(ends, Time::ZERO)
    };
    let fresh = story(&mut make(), at, &[]);
    let mut pipe = make();
    story(&mut pipe, Time::ZERO, &[]);
    // The last packets of the first connection were sent again unnecessarily, and marked.
    let strays: Vec<Arrival> = pipe.sent[pipe.sent.len() - 5..]
        .iter()
        .map(|(time, packet, _)| Arrival {
            marks: Marks::CE.within(pipe.ends.sender.accepts().new),
            flags: packet.flags,
            ..Arrival::of(packet.sequence, packet.length, *time)
        })
        .collect();
    let mut answers = Vec::new();
    for stray in &strays[..2] {
        // Two arrive between the connections, and their acknowledgements reach the next one.
        answers.extend(pipe.ends.receiver.receive(pipe.now, stray).1);
    }
    for (number, answer) in answers.into_iter().enumerate() {
        pipe.answers.push((at + Time::from_ms(30), u64::MAX - number as u64, answer));
    }
    [fresh, story(&mut pipe, at, &strays[2..])]
}

/// No state of a connection survives it: the second on the same ends does exactly what a first one
/// does.
#[test]
fn a_reused_connection_is_like_a_fresh_one() {
    let laws = [
        "reno(ecn=true)",
        "newreno(ecn=true)",
        "cubic(ecn=true)",
        "hstcp(ecn=true)",
        "htcp(ecn=true)",
        "hybla(ecn=true)",
        "scalable(ecn=true)",
        "westwood_plus(ecn=true)",
        "tahoe",
        "vegas",
        "fast",
        "ledbat",
        "copa",
        "bbr",
        "bbr3",
        "dctcp",
        "prague",
        "packet_pair",
    ];
    for law in laws {
        for recovery in ["tahoe", "reno", "newreno", "sack", "rack"] {
            for (number, more) in [
                json!({}),
                json!({"handshake": true}),
                json!({"acknowledge_every": 2, "acknowledgement_delay": "40 ms"}),
                json!({"timestamps": false, "timed": "one", "handshake": true, "times_lost_opening": true}),
                json!({"pacing": true, "receive_window": 30}),
            ]
            .into_iter()
            .enumerate()
            {
                if law == "packet_pair" && number == 2 {
                    continue;
                }
                let mut connection = more.clone();
                connection["recovery"] = recovery.into();
                connection["timeout"] = json!({"floor": "200 ms"});
                let [fresh, reused] = fresh_and_reused(law, &connection);
                let differs = fresh.iter().zip(&reused).position(|(one, other)| one != other);
                let shown = differs.map(|at| (at, &fresh[at], &reused[at]));
                assert!(fresh == reused, "{law} {connection}: {shown:?}");
            }
        }
    }
}

fn run(text: &str, set: &[(&str, String)]) -> Value {
    let set: Vec<(String, String)> = set.iter().map(|(path, value)| (path.to_string(), value.clone())).collect();
    let experiment = Experiment::read(text, "ecn.toml", &set).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    running::document(&experiment)
}

/// The row of the line's queue in the direction of the data.
fn forward(result: &Value) -> &Value {
    let rows = result["queues"].as_array().expect("rows");
    rows.iter().find(|row| row["direction"] == "forward").expect("the line")
}

const ONE: &str = r#"
    edition = 1
    measure = { warm_up = "20 s", duration = "100 s" }
    defaults = { start = "0 s", acknowledgement = "40 B" }
    [[links]]
    name = "line"
    from = "a"
    to = "b"
    rate = "10 Mbit/s"
    delay = "20 ms"
    buffer = "100 packets"
    queue = "fifo"
    reverse_queue = "fifo + unlimited"
    [[flows]]
    name = "f"
    from = "a"
    to = "b"
    traffic = "ftp(packet=1000B)"
    transport = "newreno"
"#;

/// A mark carries the same information as a drop and costs no packet: the line is used as well as
/// by a sender with losses.
#[test]
fn marks_cost_no_more_of_a_line_than_drops() {
    for law in ["newreno", "cubic", "reno", "hstcp"] {
        // A drop at the head of CoDel's queue also shortens it.
        for (queue, rate, less) in
            [("fifo + pie", 10, 0.01), ("fifo + pie", 40, 0.01), ("fifo + codel", 10, 0.02), ("fifo + codel", 20, 0.02)]
        {
            let used = |ecn: bool| {
                let set = [
                    ("links.line.queue", queue.to_string()),
                    ("links.line.rate", format!("{rate} Mbit/s")),
                    ("flows.f.transport", format!("{law}(ecn={ecn})")),
                    ("flows.f.connection.recovery", "sack".to_string()),
                ];
                let result = run(ONE, &set);
                result["links"][0]["utilisation"].as_f64().expect("a number")
            };
            let (with, without) = (used(true), used(false));
            assert!(with > without - less, "{law} {queue} {rate} Mbit/s: {with} with ECN, {without} without");
        }
    }
}

fn of_flow(result: &Value, name: &str, column: &str) -> f64 {
    let rows = result["flows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["flow"] == name).unwrap_or_else(|| panic!("no {name} in {result:#}"));
    row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row:#}"))
}

/// L4S without `tos`: Prague is in the low-latency queue, and the rates are similar (RFC 9332).
#[test]
fn prague_shares_a_dual_queue_without_a_tos() {
    // The longer the round trip, the more CUBIC's window lags behind (RFC 9332 aims at about equal
    // shares).
    for (rate, delay, rivals, most) in [(40, 5, 1, 1.5), (100, 5, 2, 1.5), (40, 10, 1, 2.0)] {
        let text = format!(
            r#"
            edition = 1
            measure = {{ warm_up = "20 s", duration = "40 s" }}
            defaults = {{ start = "0 s", access = {{ rate = "1 Gbit/s" }} }}
            [[links]]
            name = "line"
            from = "a"
            to = "b"
            rate = "{rate} Mbit/s"
            delay = "{delay} ms"
            buffer = "1000 packets"
            queue = "dualpi2"
            reverse_queue = "fifo + unlimited"
            [[flows]]
            name = "p"
            from = "a"
            to = "b"
            traffic = "ftp(packet=1500B)"
            transport = "prague"
            count = {rivals}
            [[flows]]
            name = "c"
            from = "a"
            to = "b"
            traffic = "ftp(packet=1500B)"
            transport = "cubic"
            count = {rivals}
            "#
        );
        let result = run(&text, &[]);
        let sum = |name: &str| {
            (1..=rivals).map(|at| of_flow(&result, &format!("{name}.{at}"), "throughput_bit_per_s")).sum::<f64>()
        };
        let ratio = sum("p") / sum("c");
        assert!((0.7..=most).contains(&ratio), "{rate} Mbit/s, {delay} ms: {ratio}");
        let delays: Vec<f64> = (1..=rivals).map(|at| of_flow(&result, &format!("p.{at}"), "delay_s_mean")).collect();
        let waits = delays.iter().map(|d| 1e3 * d - f64::from(delay)).fold(0.0, f64::max);
        assert!(waits < 1.5, "{rate} Mbit/s, {delay} ms: {waits} ms");
    }
}

/// Claim of RFC 9331, section 4.1, measured at a queue: ECT(1) packets are marked in the
/// low-latency queue, and ECT(0) packets in the classic one, at any rate; Not-ECT packets are
/// dropped.
#[test]
fn traffic_without_a_control_has_the_code_point_that_it_names() {
    for transport in ["uncontrolled", "fixed_rate(rate=12Mbit/s)"] {
        let seen = ["none", "ect0", "ect1"].map(|ecn| {
            let form = match transport.strip_suffix(')') {
                Some(start) => format!("{start}, ecn={ecn})"),
                None => format!("{transport}(ecn={ecn})"),
            };
            let set = [
                ("links.line.queue", "dualpi2".to_string()),
                ("flows.f.transport", form),
                ("flows.f.traffic", "constant_rate(rate=12Mbit/s, packet=1000B)".to_string()),
                ("measure.duration", "10 s".to_string()),
            ];
            let result = run(ONE, &set);
            let row = forward(&result);
            ["marked", "dropped"].map(|column| row[column].as_f64().expect("a number"))
        });
        let [none, classic, low] = seen;
        assert!(none[0] == 0.0 && none[1] > 0.0, "{transport}: {seen:?}");
        assert!(classic[0] > 0.0 && low[0] > classic[0], "{transport}: {seen:?}");
    }
}

/// The value of `count` does not depend on the order in which acknowledgements arrive.
#[test]
fn reordered_packets_are_no_marks() {
    for (probability, late) in [(0.001, "1 ms"), (0.01, "1 ms"), (0.05, "1 ms"), (0.01, "4 ms")] {
        let text = format!(
            r#"
            edition = 1
            measure = {{ warm_up = "10 s", duration = "30 s" }}
            defaults = {{ start = "0 s", transport = "prague", access = {{ rate = "1 Gbit/s" }}, connection = {{ recovery = "rack" }} }}
            links = [
              {{ name = "line", from = "a", to = "m", rate = "100 Mbit/s", delay = "5 ms", buffer = "1000 packets", queue = "dualpi2", reverse_queue = "fifo + unlimited" }},
              {{ name = "clean", from = "m", to = "b", rate = "1 Gbit/s", delay = "5 ms", queue = "fifo + unlimited" }},
              {{ name = "radio", from = "m", to = "c", rate = "1 Gbit/s", delay = "5 ms", queue = "fifo + unlimited", reorder = {{ probability = {probability}, delay = "{late}" }} }},
            ]
            flows = [
              {{ name = "clean", from = "a", to = "b", traffic = "ftp(packet=1000B)", tos = 1 }},
              {{ name = "radio", from = "a", to = "c", traffic = "ftp(packet=1000B)" }},
            ]
            "#
        );
        let result = run(&text, &[]);
        let [clean, radio] = ["clean", "radio"].map(|name| of_flow(&result, name, "throughput_bit_per_s"));
        let share = radio / (clean + radio);
        assert!((0.45..=0.55).contains(&share), "{probability} {late}: {share}");
    }
}

/// Successive connections share no state: transfers over a few connections take as long as over
/// separate ones.
#[test]
fn a_mark_of_one_transfer_does_not_slow_the_next() {
    let mean = |count: u32| {
        let text = format!(
            r#"
            edition = 1
            measure = {{ warm_up = "20 s", duration = "200 s", replications = 4 }}
            defaults = {{ start = "0 s", access = {{ rate = "1 Gbit/s" }}, acknowledgement = "40 B" }}
            links = [
              {{ name = "line", from = "a", to = "b", rate = "10 Mbit/s", delay = "20 ms", buffer = "1000 packets", queue = "fifo + pie", reverse_queue = "fifo + unlimited" }},
            ]
            flows = [
              {{ name = "bulk", from = "a", to = "b", traffic = "ftp(packet=1000B)", transport = "newreno(ecn=true)", count = 10 }},
              {{ name = "p", from = "a", to = "b", traffic = "flow_arrivals(size=60kB, mean_gap=500ms, packet=1000B)", transport = "newreno(ecn=true)", connection = {{ handshake = true, recovery = "sack" }}, count = {count} }},
            ]
            "#
        );
        run(&text, &[])["transfers"][0]["completion_s_mean"].as_f64().expect("a number")
    };
    let (few, many) = (mean(20), mean(500));
    assert!((few / many - 1.0).abs() < 0.05, "{few} s over 20 connections, {many} s over 500");
}

/// Linux's `tcp_ecn_clear_syn`: a flood takes the opening packet, and all later packets of the
/// connection go without ECN.
#[test]
fn a_connection_whose_opening_packet_was_dropped_is_not_marked() {
    let marked = |ecn_fallback: bool| {
        let text = format!(
            r#"
            edition = 1
            measure = {{ duration = "20 s" }}
            defaults = {{ acknowledgement = "40 B" }}
            links = [
              {{ name = "line", from = "a", to = "b", rate = "10 Mbit/s", delay = "20 ms", buffer = "100 packets", queue = "fifo + pie", reverse_queue = "fifo + unlimited" }},
            ]
            flows = [
              {{ name = "flood", from = "a", to = "b", start = "0 s", stop = "0.5 s", traffic = {{ kind = "cbr", rate = "1 Gbit/s", packet = "1000 B" }} }},
              {{ name = "f", from = "a", to = "b", start = "0.3 s", traffic = "ftp(packet=1000B)", transport = "cubic(ecn=true)", connection = {{ profile = "linux", ecn_fallback = {ecn_fallback} }} }},
            ]
            "#
        );
        of_flow(&run(&text, &[]), "f", "marked")
    };
    assert!(marked(false) > 0.0);
    assert_eq!(marked(true), 0.0);
}

/// draft-ietf-ccwg-bbr, "Considerations Related to Receiver Flow Control Limits": a window set by
/// the receiver is a bottleneck, and ends Startup like any other.
#[test]
fn a_receive_window_does_not_keep_bbr_in_startup() {
    for law in ["bbr", "bbr3"] {
        for (rate, window) in [(20, 200), (20, 150), (50, 500)] {
            let set = [
                ("links.line.rate", format!("{rate} Mbit/s")),
                ("links.line.buffer", "1000 packets".to_string()),
                ("flows.f.transport", law.to_string()),
                ("flows.f.connection.receive_window", window.to_string()),
            ];
            let result = run(ONE, &set);
            let row = forward(&result);
            let waiting = row["waiting_packets_mean"].as_f64().expect("a number");
            // A fifth of the path's product of 40 ms.
            assert!(waiting < f64::from(rate), "{law}, {rate} Mbit/s, {window} packets: {waiting} wait");
        }
    }
}

/// Linux's minimum, where RFC 3168, section 6.1.2, would continue to one packet and then to one a
/// timeout: the cards say so.
#[test]
fn marks_leave_two_packets() {
    for law in CLASSIC {
        let connection = json!({"recovery": "sack", "initial_window": 40});
        let mut pipe = Pipe::new(ends(&format!("{law}(ecn=true)"), &connection, 400), Time::ZERO);
        pipe.play(Time::from_s(60), &mut |_| Way { marked: true, ..Way::default() });
        let least = pipe.windows.iter().copied().fold(f64::INFINITY, f64::min);
        // Westwood's window is bandwidth times round trip.
        assert!(if law == "westwood_plus" { least >= 2.0 } else { least == 2.0 }, "{law}: {least}");
        assert!(pipe.ends.sender.is_complete(), "{law}");
    }
}

/// A wrong unit, or a zero where it has no meaning, is one line for the user, in every congestion
/// control.
#[test]
fn times_and_counts_without_sense_are_refused() {
    for (transport, said) in [
        ("bbr(least_window=0s)", "least_window is 0 s; it is at least 1 us and at most 1000000 s"),
        ("bbr(probe_duration=1000h)", "probe_duration is 3600000 s; it is at least 1 us and at most 1000000 s"),
        ("bbr3(probe_interval=0s)", "probe_interval is 0 s; it is at least 1 us and at most 1000000 s"),
        ("bbr3(probe_rounds=0)", "probe_rounds is 0; it must be above 0 and at most 1000000"),
        ("hybla(round_trip=1ps)", "round_trip is 1 ps; it is at least 1 us and at most 1000000 s"),
        ("htcp(low_speed_period=3ns)", "low_speed_period is 3 ns; it is at least 1 us and at most 1000000 s"),
        ("westwood_plus(interval_min=500h)", "interval_min is 1800000 s; it is at least 1 us and at most 1000000 s"),
        ("fast(period=1ps)", "period is 1 ps; it is at least 1 us and at most 1000000 s"),
        ("prague(burst=5ns)", "burst is 5 ns; it is at least 1 us and at most 1000000 s"),
        ("cubic(first_threshold=0)", "first_threshold"),
        ("dctcp(first_alpha=1.5)", "first_alpha is 1.5; it is at least 0 and at most 1"),
        ("dctcp(ecn=none)", "ecn is none, but dctcp lives on marks; write ect0 or ect1"),
        ("rap(first=500h)", "first is 1800000 s; it is at least 1 us and at most 1000000 s"),
        ("tfrc(timeout_floor=1ps)", "timeout_floor is 1 ps; it is at least 1 us and at most 1000000 s"),
        ("jk(timeout=(first=400h))", "timeout.first is 1440000 s; it is at least 1 us and at most 1000000 s"),
    ] {
        let set = vec![("flows.f.transport".to_string(), transport.to_string())];
        let problem = Experiment::read(ONE, "ecn.toml", &set).err().unwrap_or_else(|| panic!("{transport} is taken"));
        let line = problem.to_string();
        assert!(line.contains(said) && line.lines().count() == 1, "{transport}: {line}");
    }
    for taken in
        ["dctcp(first_alpha=0)", "prague(virtual_round_trip=0s)", "prague(burst=0s)", "westwood_plus(interval_min=0s)"]
    {
        let set = vec![("flows.f.transport".to_string(), taken.to_string())];
        Experiment::read(ONE, "ecn.toml", &set).unwrap_or_else(|problem| panic!("{taken}: {problem}"));
    }
    for (delay, is_taken) in [("100 s", false), ("600 ms", false), ("500 ms", false), ("499 ms", true)] {
        let set = vec![
            ("flows.f.connection.acknowledge_every".to_string(), "2".to_string()),
            ("flows.f.connection.acknowledgement_delay".to_string(), delay.to_string()),
        ];
        let problem = Experiment::read(ONE, "ecn.toml", &set).err().map(|problem| problem.to_string());
        let is_said = problem.as_ref().is_some_and(|line| line.contains("RFC 5681, section 4.2, has it below 500 ms"));
        assert!(problem.is_none() == is_taken && is_said != is_taken, "{delay}: {problem:?}");
    }
}

/// RFC 2018, section 3: a time stamp leaves room for three blocks.
#[test]
fn a_time_stamp_leaves_room_for_three_blocks() {
    for (timestamps, blocks) in [(true, 3), (false, 4)] {
        let connection = json!({"recovery": "sack", "initial_window": 20, "timestamps": timestamps});
        let mut ends = ends("newreno", &connection, 20);
        let mut most = 0;
        while let Some(packet) = ends.sender.poll(Time::ZERO) {
            if packet.sequence % 2 == 1 {
                let arrival = Arrival::of(packet.sequence, packet.length, Time::ZERO);
                most =
                    ends.receiver.receive(Time::ZERO, &arrival).1.map_or(most, |answer| answer.blocks.len().max(most));
            }
        }
        assert_eq!(most, blocks, "time stamps: {timestamps}");
    }
}
