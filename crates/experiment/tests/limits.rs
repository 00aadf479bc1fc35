//! Congestion controls at the edge of their range: fewer than two packets in a round trip, every
//! second packet lost, idle times shorter than a timeout. There a congestion control must neither
//! starve nor send without a reaction to losses.

use crate::running;
use fairq_experiment::build;
use fairq_experiment::scenario::read::Document;
use fairq_sched::units::Time;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::run::Simulation;
use fairq_sim::transport::tfrc::equation::throughput;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// Flows of one transport from a to b, over one line and an access line each.
struct Crowd {
    transport: String,
    flows: usize,
    rate: &'static str,
    delay: &'static str,
    buffer: usize,
    queue: &'static str,
    loss: f64,
    seed: u64,
    /// Seconds before the measurement, and of the measurement.
    seconds: [u32; 2],
    /// When a flow begins, and what is added to its table.
    start: &'static str,
    more: String,
}

impl Crowd {
    fn of(transport: &str, flows: usize, rate: &'static str) -> Self {
        Self {
            transport: transport.to_owned(),
            flows,
            rate,
            delay: "10 ms",
            buffer: 30,
            queue: "fifo",
            loss: 0.0,
            seed: 1,
            seconds: [50, 150],
            start: "drawn",
            more: String::new(),
        }
    }

    fn play(&self) -> Seen {
        let text = format!(
            "edition = 1\n[measure]\nwarm_up = \"{} s\"\nduration = \"{} s\"\nseed = {}\n[[links]]\nname = \"line\"\nfrom = \"a\"\n\
             to = \"b\"\nrate = \"{}\"\ndelay = \"{}\"\nbuffer = \"{} packets\"\nqueue = \"{}\"\nloss = {}\n\
             reverse_queue = \"fifo + unlimited\"\n[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
             traffic = \"ftp(packet=1000B)\"\ntransport = \"{}\"\ncount = {}\nstart = \"{}\"\n{}\n",
            self.seconds[0],
            self.seconds[1],
            self.seed,
            self.rate,
            self.delay,
            self.buffer,
            self.queue,
            self.loss,
            self.transport,
            self.flows,
            self.start,
            self.more
        );
        let result = running::run(&text);
        Seen { result, seconds: f64::from(self.seconds[1]) }
    }
}

struct Seen {
    result: Value,
    seconds: f64,
}

impl Seen {
    fn each(&self, column: &str) -> Vec<f64> {
        let rows = self.result["flows"].as_array().expect("rows");
        rows.iter().map(|row| row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row:#}"))).collect()
    }

    /// What each flow gets, in bits per second.
    fn rates(&self) -> Vec<f64> {
        self.each("throughput_packets").iter().map(|packets| packets * 8000.0 / self.seconds).collect()
    }

    /// The lost part of all packets sent.
    fn lost(&self) -> f64 {
        self.each("dropped").iter().sum::<f64>() / self.each("sent").iter().sum::<f64>()
    }

    fn utilisation(&self) -> f64 {
        let rows = self.result["links"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["link"] == "line" && row["direction"] == "forward").expect("the line");
        row["utilisation"].as_f64().expect("a number")
    }
}

fn access() -> String {
    "access = { rate = \"10 Mbit/s\" }".to_owned()
}

/// RFC 5348, section 6.2: a receiver reports at least one packet in a round trip, so that only the
/// equation makes a flow slower than that. Of flows with fewer than two packets in a round trip
/// none falls to a packet in 64 seconds.
#[test]
fn no_flow_of_tfrc_starves_on_a_slow_line() {
    for (flows, rate, share) in [(5, "1 Mbit/s", 200e3), (20, "1 Mbit/s", 50e3), (50, "10 Mbit/s", 200e3)] {
        for queue in ["fifo", "fifo + red", "fq"] {
            let seen = Crowd { queue, more: access(), ..Crowd::of("tfrc", flows, rate) }.play();
            let rates = seen.rates();
            let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(low > 0.4 * share, "{flows} flows over {rate} behind {queue}: {rates:?}");
            assert!(seen.utilisation() > 0.98, "{flows} flows over {rate} behind {queue}: {}", seen.utilisation());
        }
    }
}

/// Random losses on a long line: the rate of RFC 5348's equation, in the mean of twelve seeds and,
/// where losses are frequent, nearly in each. At a tenth a flow has one or two packets in a round
/// trip.
#[test]
fn tfrc_alone_has_the_rate_of_its_equation_at_heavy_losses() {
    for loss in [0.02, 0.05, 0.1] {
        let rates: Vec<f64> = (1..=12)
            .map(|seed| {
                let (delay, buffer, seconds) = ("50 ms", 1000, [50, 300]);
                let crowd = Crowd::of("tfrc", 1, "100 Mbit/s");
                Crowd { loss, seed, delay, buffer, seconds, ..crowd }.play().rates()[0]
            })
            .collect();
        let equation = 8.0 * throughput(1000.0, 0.1, 0.4, loss);
        let mean = rates.iter().sum::<f64>() / 12.0;
        assert!((0.9..1.15).contains(&(mean / equation)), "at {loss}: {mean}, not {equation}: {rates:?}");
        assert!(rates.iter().all(|rate| (0.75..1.35).contains(&(rate / equation))), "at {loss}: {rates:?}");
    }
}

/// Whatever part is lost, RAP finds the losses and halves its rate once a round trip. With an empty
/// queue a round trip is short and the rate grows fast, so that a fifth of the packets is still
/// lost on this line. An independent emulation of the rules of ns-2's agent, with its own event
/// loop, loses 0.20 and 0.22 with one flow and buffers of 10 and 30 packets.
#[test]
fn rap_answers_losses_and_shares_alone_and_with_others() {
    for flows in [1, 2, 3, 4, 8] {
        for buffer in [30, 100] {
            let seen = Crowd { buffer, more: access(), ..Crowd::of("rap", flows, "1 Mbit/s") }.play();
            let (rates, lost) = (seen.rates(), seen.lost());
            assert!(lost < 0.25, "{flows} flows, {buffer} packets: {lost} lost");
            let share = 1e6 / flows as f64;
            assert!(rates.iter().all(|rate| (0.75 * share..1.25 * share).contains(rate)), "{flows} flows: {rates:?}");
        }
    }
}

/// By flow: the times at which packets arrive.
#[derive(Clone, Default)]
struct Arrivals(Arc<Mutex<Vec<Time>>>);

impl Observer for Arrivals {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        if let Event::Arrived { .. } = event {
            self.0.lock().expect("one thread").push(now);
        }
    }
}

fn simulation(text: &str, file: &str) -> Simulation {
    let document = Document::parse(text, "limits.toml").unwrap_or_else(|problem| panic!("{problem}"));
    let (scenario, _) = document.scenario().unwrap_or_else(|problem| panic!("{problem}"));
    let file = file.as_bytes().to_vec();
    let files = move |_: &str| Ok(file.clone());
    let plan = build::plan(&scenario, &files, None).unwrap_or_else(|fault| panic!("{fault:?}"));
    Simulation::new(&plan, 1, &files).unwrap_or_else(|fault| panic!("{fault:?}"))
}

/// 300 packets are offered every `period` milliseconds over a round trip of 100 ms. Returns how
/// many of them are sent at once, which is the window, for each of 16 bursts.
fn windows_of_bursts(transport: &str, period: u64) -> Vec<usize> {
    let text = format!(
        "edition = 1\n[measure]\nduration = \"{} ms\"\n[defaults]\nstart = \"0 s\"\n[[links]]\nname = \"line\"\nfrom = \"a\"\n\
         to = \"b\"\nrate = \"10 Gbit/s\"\ndelay = \"50 ms\"\nqueue = \"fifo + unlimited\"\n[[flows]]\nname = \"f\"\n\
         from = \"a\"\nto = \"b\"\ntraffic = \"csv(file=bursts.csv)\"\ntransport = \"{transport}\"\n\
         connection = {{ initial_window = 50 }}\n",
        16 * period
    );
    let mut file = "time,flow,bytes\n".to_owned();
    for burst in 0..16 {
        for _ in 0..300 {
            file += &format!("{}.{:03},f,1000\n", burst * period / 1000, burst * period % 1000);
        }
    }
    let mut simulation = simulation(&text, &file);
    let seen = Arrivals::default();
    simulation.observe(Box::new(seen.clone()));
    simulation.run_until(Time::from_ms(16 * period));
    let seen = seen.0.lock().expect("one thread");
    let at_once = |burst: u64| {
        let from = Time::from_ms(burst * period + 50);
        seen.iter().filter(|time| (from..from + Time::from_ms(50)).contains(time)).count()
    };
    (0..16).map(at_once).collect()
}

/// RFC 9438, sections 4.2 and 5.8: t does not include periods in which the window is not the limit.
/// Of a burst only the round trips count in which the window is full, and perhaps the last. Whether
/// the idle time after it lasts 0.1 or 0.6 s, below the timeout of a second, makes no difference.
/// If idle times counted, the tenth burst would have 181 packets.
#[test]
fn cubics_window_does_not_grow_in_a_rest() {
    let law = "cubic(first_threshold=50, reno_friendly=false)";
    let windows = [700, 800, 1000, 1200].map(|period| windows_of_bursts(law, period));
    for found in &windows {
        // The function is flat where it begins, at 50 packets: W(t) = 50 + 0.4 t³. t begins with
        // the first acknowledgement, and the window follows it within a round trip.
        let (mut least, mut most) = (-0.2_f64, 0.0_f64);
        assert!(found[9] < 110, "{windows:?}");
        for window in found {
            let (low, high) = [least.max(0.0), most].map(|t| 50.0 + 0.4 * t * t * t).into();
            assert!(
                (0.95 * low - 2.0..=high + 2.0).contains(&(*window as f64)),
                "{window} packets, {low} to {high}: {windows:?}"
            );
            let (full, begun) = (300 / window, 300_usize.div_ceil(*window));
            (least, most) = (least + 0.1 * full as f64, most + 0.1 * begun as f64);
        }
        let pairs = found.iter().zip(&windows[0]);
        assert!(pairs.into_iter().all(|(one, other)| one.abs_diff(*other) <= 1), "{windows:?}");
    }
}

/// Random losses do not distort Westwood+'s estimate: it measures delivered packets, which the
/// window limits, and each loss sets the window to the packets delivered in the least round trip.
/// So the rate stays between Reno's and the line's.
#[test]
fn the_estimate_of_westwood_is_what_is_delivered_at_random_losses() {
    for loss in [0.001, 0.003, 0.01] {
        let play = |transport: &str| {
            let text = format!(
                "edition = 1\n[measure]\nduration = \"120 s\"\n[[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\n\
                 rate = \"20 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"100 packets\"\nqueue = \"fifo\"\nloss = {loss}\n\
                 reverse_queue = \"fifo + unlimited\"\n[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
                 traffic = \"ftp(packet=1000B)\"\ntransport = \"{transport}\"\nstart = \"0 s\"\n\
                 connection = {{ recovery = \"rack\", timeout = {{ floor = \"200 ms\" }} }}\n"
            );
            let mut simulation = simulation(&text, "");
            let (mut estimates, mut delivered) = (0.0, 0);
            for tenth in 1..=1200 {
                simulation.run_until(Time::from_ms(100 * tenth));
                let counts = simulation.flow_counts().next().expect("a flow").delivered;
                if tenth == 200 {
                    delivered = counts;
                }
                if tenth > 200 {
                    simulation.inspect(0, &mut |name, value| {
                        if name == "bandwidth_packets_per_s" {
                            estimates += value / 1000.0;
                        }
                    });
                }
                if tenth == 1200 {
                    delivered = counts - delivered;
                }
            }
            (delivered as f64 / 100.0, estimates)
        };
        let ((rate, estimate), (reno, _)) = (play("westwood_plus"), play("newreno"));
        assert!((0.9..1.1).contains(&(estimate / rate)), "at {loss}: {estimate} of {rate}");
        assert!(rate > 1.2 * reno && rate < 2500.0, "at {loss}: {rate}, and {reno} of Reno's");
    }
}

/// draft-ietf-ccwg-bbr: the greatest bandwidth is that of this cycle of probing and the last
/// (AdvanceMaxBwFilter), and ProbeRTT, each 5 s, ends in a new cycle (ExitProbeRTT). A cycle takes
/// two to three seconds, plus some five round trips, which the queue of twice the old product
/// lengthens: 0.16 s at a quarter of the rate, 0.8 s at a tenth. The latter does not fit between
/// two probes, so that the old bandwidth stays; without these probes it is forgotten.
#[test]
fn bbr3_forgets_a_rate_that_fell_if_a_cycle_fits_between_two_probes() {
    let after = |falls: usize, transport: &str| {
        let text = format!(
            "edition = 1\n[measure]\nduration = \"45 s\"\n[[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\ntrace = \"fall.down\"\n\
             delay = \"20 ms\"\nbuffer = \"4000 packets\"\nqueue = \"fifo\"\nreverse_rate = \"1 Gbit/s\"\n\
             reverse_queue = \"fifo + unlimited\"\n[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
             traffic = \"ftp(packet=1460B)\"\ntransport = \"{transport}\"\nstart = \"0 s\"\n\
             connection = {{ recovery = \"rack\" }}\n"
        );
        // A packet each millisecond for 20 s, then each `falls` milliseconds.
        let times = (1..=20_000).chain((20_000..60_000).step_by(falls).skip(1));
        let mut simulation = simulation(&text, &times.map(|ms| format!("{ms}\n")).collect::<String>());
        simulation.run_until(Time::from_s(42));
        let mut bandwidth = f64::NAN;
        simulation.inspect(0, &mut |name, value| {
            if name == "bandwidth_packets_per_s" {
                bandwidth = value;
            }
        });
        (bandwidth * falls as f64 / 1000.0, simulation.network.lines[0].packets())
    };
    for falls in [2, 4] {
        let (bandwidth, waiting) = after(falls, "bbr3");
        assert!(
            (0.8..1.3).contains(&bandwidth) && waiting < 40,
            "a fall by {falls}: {bandwidth} and {waiting} packets"
        );
    }
    let (bandwidth, waiting) = after(10, "bbr3");
    assert!(bandwidth > 8.0 && waiting > 300, "{bandwidth} and {waiting} packets");
    let (bandwidth, waiting) = after(10, "bbr3(probe_interval=100s)");
    assert!((0.8..1.3).contains(&bandwidth) && waiting < 40, "without probes: {bandwidth} and {waiting} packets");
}
