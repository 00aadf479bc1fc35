//! Senders with a rate of their own, in networks whose numbers can be computed by hand.

use fairq_experiment::build;
use fairq_experiment::scenario::read::Document;
use fairq_sched::packet::Marks;
use fairq_sched::units::{PS_PER_S, Time};
use fairq_sim::observe::{Event, Observer};
use fairq_sim::run::Simulation;
use fairq_sim::transport::Ends;
use fairq_sim::transport::messages::{Acknowledgement, Arrival};
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::supply::Supply;
use fairq_sim::transport::tcp::Setup;
use fairq_sim::transport::tcp::settings::{Connection, Terms};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

fn simulation(text: &str) -> Simulation {
    let document = Document::parse(text, "rates.toml").unwrap_or_else(|problem| panic!("{problem}"));
    let (scenario, _) = document.scenario().unwrap_or_else(|problem| panic!("{problem}"));
    let plan = build::plan(&scenario, &|name| Err(name.to_string()), None).unwrap_or_else(|fault| panic!("{fault:?}"));
    Simulation::new(&plan, 1, &|_| Err("no file is read here".to_string())).unwrap_or_else(|fault| panic!("{fault:?}"))
}

/// Flows of 1000-byte packets over one line of 1 Mbit/s under `queue`, acknowledgements on a line
/// that takes no time to send: first one with `transport`, then `others` with always 20 packets in
/// the network.
fn beside(transport: &str, queue: &str, others: u32) -> String {
    let link = format!(
        "[[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n\
         queue = \"{queue}\"\nreverse_rate = \"unlimited\"\n"
    );
    let flow = |name: &str, transport: &str, more: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\ntransport = \"{transport}\"\n\
             access = {{ rate = \"unlimited\" }}\n{more}\n"
        )
    };
    let mut text =
        format!("edition = 1\n[measure]\nduration = \"60 s\"\n{link}{}", flow("x", transport, "start = \"1 s\""));
    if others > 0 {
        text += &flow("other", "generic(window=20)", &format!("count = {others}\nstart = \"0 s\""));
    }
    text
}

/// The different values of `name` of the first flow's sender in `seconds` seconds.
fn values(text: &str, name: &str, seconds: u64) -> Vec<f64> {
    let mut simulation = simulation(text);
    let mut seen = Vec::new();
    while simulation.step(Time::from_s(seconds)) {
        simulation.inspect(0, &mut |found, value| {
            if found == name && value.is_finite() && seen.last() != Some(&value) {
                seen.push(value);
            }
        });
    }
    seen
}

#[test]
fn a_pair_gives_the_share_of_the_line() {
    for queue in ["fq", "wfq", "scfq", "sfq", "wf2q_plus", "round_robin"] {
        for flows in [1, 2, 4, 8] {
            let pairs = values(&beside("packet_pair", queue, flows - 1), "pair_bit_per_s", 60);
            let share = 1e6 / f64::from(flows);
            assert_eq!(pairs, [share], "{queue}, {flows} flows");
        }
    }
}

/// With first in, first out a pair shows the rate of an idle line, and on a busy one the packets
/// that arrived between the two: not the share.
#[test]
fn a_pair_alone_gives_the_line_under_first_in_first_out() {
    assert_eq!(values(&beside("packet_pair", "fifo", 0), "pair_bit_per_s", 60), [1e6]);
    assert!(values(&beside("packet_pair", "fifo", 3), "pair_bit_per_s", 60).iter().any(|pair| *pair != 250_000.0));
}

#[test]
fn a_great_quantum_sends_both_packets_of_a_pair() {
    // One packet a turn shows the share; with more than two packets a turn both are sent together
    // and show the line's rate.
    assert_eq!(values(&beside("packet_pair", "drr(quantum=1000B)", 3), "pair_bit_per_s", 60), [250_000.0]);
    let pairs = values(&beside("packet_pair", "drr(quantum=2001B)", 3), "pair_bit_per_s", 60);
    assert_eq!(pairs[0], 1e6);
}

#[test]
fn packet_pair_keeps_the_set_point_waiting_and_uses_the_line() {
    let mut simulation = simulation(&beside("packet_pair(set_point=6)", "fq", 0));
    simulation.run_until(Time::from_s(20));
    simulation.clear_counts();
    simulation.run_until(Time::from_s(60));
    simulation.settle();
    let counts = &simulation.network.lines[0].counts;
    assert!(counts.bytes * 8 >= 39_990_000, "{} bytes", counts.bytes);
    let mean = counts.area as f64 / (40.0 * PS_PER_S as f64);
    // The packet that is being sent is outstanding too, and a pair more or less.
    assert!((4.0..=8.0).contains(&mean), "{mean} packets wait");
}

/// Times at which packets arrive.
#[derive(Clone, Default)]
struct Arrivals(Arc<Mutex<Vec<(u64, Time)>>>);

impl Observer for Arrivals {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        if let Event::Arrived { segment, .. } = event {
            self.0.lock().expect("one thread").push((segment.sequence, now));
        }
    }
}

#[test]
fn a_fixed_rate_is_kept_to_the_picosecond() {
    // 8000 bits at 300007 bit/s take 26666.0444… µs; packet k goes at the nearest picosecond to k
    // times that.
    let text = beside("fixed_rate(rate=300007bit/s)", "fifo", 0).replace("1 Mbit/s", "1 Gbit/s");
    let mut simulation = simulation(&text);
    let seen = Arrivals::default();
    simulation.observe(Box::new(seen.clone()));
    simulation.run_until(Time::from_s(60));
    let seen = seen.0.lock().expect("one thread");
    assert_eq!(seen.len(), 2213);
    for (k, time) in seen.iter() {
        let (bits, rate) = (u128::from(k * 8000), 300_007);
        let due = Time::from_s(1).0 + ((2 * bits * u128::from(PS_PER_S) + rate) / (2 * rate)) as u64;
        assert_eq!(time.0, due, "packet {k}");
    }
}

#[test]
fn a_fixed_rate_delays_what_comes_faster_and_nothing_else() {
    let slow = beside("fixed_rate(rate=800kbit/s)", "fifo", 0).replace("\"ftp\"", "\"constant_rate(rate=400kbit/s)\"");
    let fast = slow.replace("400kbit", "900kbit");
    for (text, packets) in [(slow, 59 * 50), (fast, 59 * 100)] {
        let mut simulation = simulation(&text);
        simulation.run_until(Time::from_s(60));
        let sent = simulation.flow_counts().next().map_or(0, |counts| counts.sent);
        assert!((packets..=packets + 1).contains(&sent), "{sent} is not {packets}");
    }
}

/// The sender and receiver of `transport` over a pipe with a round trip of 100 ms for `seconds`;
/// `lost` says which packets are lost. Returns the sender's inner values, and the packets sent in
/// each second.
fn through_a_pipe(transport: &str, seconds: u64, lost: impl Fn(u64) -> bool) -> (BTreeMap<String, f64>, Vec<u64>) {
    let settings: Arc<TransportSettings> = Arc::new(serde_json::from_str(transport).expect("a transport"));
    let connection = Arc::new(Terms::new(Connection::default(), Arc::clone(&settings)));
    let supply = Supply::Ready { length: 1000, left: u64::MAX };
    let Ends { mut sender, mut receiver } = settings.build(Setup { supply, connection, seed: 1 });
    let (there, back) = (Time::from_ms(60), Time::from_ms(40));
    let mut packets: VecDeque<(Time, Arrival)> = VecDeque::new();
    let mut answers: VecDeque<(Time, Acknowledgement)> = VecDeque::new();
    let (mut now, mut sent) = (Time::ZERO, vec![0; seconds as usize + 1]);
    while now <= Time::from_s(seconds) {
        while let Some(packet) = sender.poll(now) {
            sent[(now.0 / PS_PER_S) as usize] += 1;
            if !lost(packet.sequence) {
                let arrival = Arrival {
                    marks: Marks::NONE,
                    round_trip: packet.round_trip,
                    ..Arrival::of(packet.sequence, 1000, now)
                };
                packets.push_back((now + there, arrival));
            }
        }
        let first = |time: Option<&Time>| time.copied().unwrap_or(Time::NEVER);
        let (packet, answer) = (first(packets.front().map(|p| &p.0)), first(answers.front().map(|a| &a.0)));
        now = packet.min(answer).min(sender.deadline()).min(receiver.deadline());
        if packet == now {
            let (_, arrival) = packets.pop_front().expect("it is there");
            answers.extend(receiver.receive(now, &arrival).1.map(|answer| (now + back, answer)));
        } else if answer == now {
            let (_, answer) = answers.pop_front().expect("it is there");
            sender.acknowledge(now, &answer);
        } else if receiver.deadline() == now {
            answers.extend(receiver.wake(now).map(|answer| (now + back, answer)));
        } else {
            sender.wake(now);
        }
    }
    let mut values = BTreeMap::new();
    sender.inspect(&mut |name, value| _ = values.insert(name.to_string(), value));
    (values, sent)
}

#[test]
fn tfrc_settles_at_the_rate_of_the_equation() {
    // One packet in a hundred: p is 1 %, unless the open interval is the longer one for a moment.
    // 112 332 bytes a second.
    let (values, sent) = through_a_pipe(r#"{"kind": "tfrc"}"#, 60, |sequence| sequence % 100 == 99);
    assert!((values["loss_event_rate"] - 0.01).abs() < 1e-9, "{values:?}");
    assert!((values["rate_bit_per_s"] / 8.0 - 112_332.0).abs() < 0.5, "{values:?}");
    assert!(sent[30..60].iter().all(|packets| (112..=113).contains(packets)), "{sent:?}");
    // One in a thousand, with a run twice as long: 383 844 bytes a second.
    let (values, _) = through_a_pipe(r#"{"kind": "tfrc"}"#, 120, |sequence| sequence % 1000 == 999);
    assert!((values["rate_bit_per_s"] / 8.0 - 383_844.0).abs() < 0.5, "{values:?}");
}

#[test]
fn tfrc_slows_down_when_it_hears_nothing_and_comes_back() {
    // Some time after the tenth second 70 packets in a row are lost: more than the four round trips
    // of its timer.
    let lost = |sequence: u64| sequence % 100 == 99 || (1200..1270).contains(&sequence);
    let (_, sent) = through_a_pipe(r#"{"kind": "tfrc"}"#, 60, lost);
    assert!(sent[5..30].iter().any(|packets| *packets < 50), "{sent:?}");
    assert!(sent[55..60].iter().all(|packets| *packets > 100), "{sent:?}");
}

#[test]
fn a_sender_alone_uses_the_line_and_every_packet_is_accounted_for() {
    for transport in ["tfrc", "rap", "packet_pair", "fixed_rate(rate=2Mbit/s)"] {
        let text = beside(transport, "fifo + 20 packets", 0);
        let mut simulation = simulation(&text);
        simulation.run_until(Time::from_s(60));
        simulation.settle();
        assert!(simulation.conserves_packets(), "{transport}");
        let counts = simulation.flow_counts().next().expect("a flow").clone();
        let (dropped, held) = (simulation.network.dropped.of(0), simulation.network.lines[0].packets());
        assert!(counts.sent - counts.delivered - dropped <= held + 1, "{transport}: {counts:?}, {dropped} dropped");
        // 59 seconds of 125 packets.
        assert!(counts.delivered > 59 * 125 * 6 / 10, "{transport} uses less than 60 %: {}", counts.delivered);
    }
}
