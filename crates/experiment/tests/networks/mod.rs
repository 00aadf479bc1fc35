//! Random test networks: whole scenarios from one seed, as JSON text. They use every part of the
//! registry, every transport and traffic, rates from a few bits a second to unlimited, delays from
//! zero. Each feature is off in some of them, so that rare states occur.

pub(crate) mod changes;

use fairq_sched::card::Card;
use fairq_sched::registry::{BUFFER_POLICIES, CLASSIFIERS, MARKERS, SCHEDULERS};
use fairq_sim::traffic::Release;
use fairq_sim::traffic::registry::{TRAFFIC, TrafficSettings};
use fairq_sim::transport::registry::{TRANSPORTS, TransportSettings};
use fairq_testkit::arrivals::SplitMix64;
use serde_json::{Map, Value, json};

/// The random choices of one test network.
pub(crate) struct Draw {
    random: SplitMix64,
    /// Features that this test network has.
    has_unlimited_lines: bool,
    has_delays: bool,
    has_limits: bool,
    has_weights: bool,
    has_access: bool,
    has_acknowledgements_of_size: bool,
    starts_together: bool,
    has_impairments: bool,
    has_traces: bool,
}

/// The scenario of `seed`, as JSON text.
pub(crate) fn world(seed: u64) -> String {
    let mut random = SplitMix64(seed);
    let mut coin = || random.below(3) > 0;
    let [has_unlimited_lines, has_delays, has_limits, has_weights, has_access, has_sizes, starts_together] =
        std::array::from_fn(|_| coin());
    let [has_impairments, has_traces] = std::array::from_fn(|_| coin());
    Draw {
        random,
        has_unlimited_lines,
        has_delays,
        has_limits,
        has_weights,
        has_access,
        has_acknowledgements_of_size: has_sizes,
        starts_together,
        has_impairments,
        has_traces,
    }
    .scenario(seed)
    .to_string()
}

impl Draw {
    /// Random choices with every limit, and nothing else.
    fn plain(seed: u64) -> Self {
        Self {
            random: SplitMix64(seed),
            has_unlimited_lines: false,
            has_delays: true,
            has_limits: true,
            has_weights: false,
            has_access: false,
            has_acknowledgements_of_size: false,
            starts_together: false,
            has_impairments: false,
            has_traces: false,
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn name_of(&mut self, cards: &[Card]) -> &'static str {
        cards[self.below(cards.len())].name
    }

    fn scenario(mut self, seed: u64) -> Value {
        let nodes = 2 + self.below(5);
        let mut defaults = Map::new();
        if self.starts_together {
            defaults.insert("start".into(), "0 s".into());
        }
        if self.has_acknowledgements_of_size {
            defaults.insert("acknowledgement".into(), self.one(&["1 B", "40 B", "1500 B"]).into());
        }
        if self.has_limits && self.one_in(2) {
            defaults.insert("buffer".into(), self.limit().into());
        }
        if self.one_in(2) {
            defaults.insert("queue".into(), self.queue().into());
        }
        // A chain that reaches every node, and a few links across it.
        let mut links: Vec<Value> = (1..nodes).map(|to| self.link(to - 1, to, to - 1)).collect();
        for extra in 0..self.below(3) {
            let (from, to) = (self.below(nodes), self.below(nodes));
            if from != to {
                links.push(self.link(from, to, nodes - 1 + extra));
            }
        }
        let flows: Vec<Value> = (0..1 + self.below(6)).map(|number| self.flow(number, nodes)).collect();
        let mut scenario = json!({
            "title": format!("world {seed}"),
            "measure": { "warm_up": "1 s", "duration": "20 s", "seed": seed },
            "defaults": defaults,
            "links": links,
            "flows": flows,
        });
        self.say_of_nodes(&mut scenario, nodes);
        // Separate random numbers, so that the rest of a test network is as it was before there
        // were sessions.
        self.random = SplitMix64(!seed);
        if self.one_in(2) {
            scenario["sessions"] = (0..1 + self.below(2)).map(|number| self.session(number, nodes)).collect();
        }
        // And as before there were rings. A line that interrupts has none.
        self.random = SplitMix64(seed.rotate_left(32));
        if self.one_in(3) && !scenario.to_string().contains("preemptive=true") {
            for link in scenario["links"].as_array_mut().into_iter().flatten() {
                if self.one_in(2) {
                    link["ring"] = [1, 2, 30][self.below(3)].into();
                }
            }
        }
        // And as before there were stops.
        self.random = SplitMix64(seed.rotate_left(16));
        if self.one_in(2) {
            self.stop_some(&mut scenario, "flows");
            self.stop_some(&mut scenario, "sessions");
            for session in scenario.get_mut("sessions").and_then(Value::as_array_mut).into_iter().flatten() {
                self.stop_some(session, "receivers");
            }
        }
        // And as before there were editions.
        self.random = SplitMix64(seed.rotate_left(48));
        if self.one_in(2) {
            scenario["edition"] = 1.into();
        }
        scenario
    }

    /// Some of the `entries` stop before the run does.
    fn stop_some(&mut self, table: &mut Value, entries: &str) {
        for entry in table.get_mut(entries).and_then(Value::as_array_mut).into_iter().flatten() {
            if self.one_in(2) {
                entry["stop"] = self.one(&["1 s", "1.000000000001 s", "4.2 s", "12 s", "21 s", "60 s"]).into();
            }
        }
    }

    /// In some test networks roles and shared buffers.
    fn say_of_nodes(&mut self, scenario: &mut Value, nodes: usize) {
        let some = |draw: &mut Self| -> Vec<String> {
            // A node without a link does not exist.
            (0..nodes).filter(|_| draw.one_in(2)).map(|node| format!("n{node}")).collect()
        };
        if self.one_in(2) {
            let role = |(name, draw): (String, &mut Self)| json!({ "name": name, "role": draw.one(&["edge", "core", "both"]) });
            let named = some(self);
            scenario["nodes"] = named.into_iter().map(|name| role((name, self))).collect();
        }
        // A line that interrupts shares no buffer.
        if self.one_in(2) && !scenario.to_string().contains("preemptive=true") {
            let sizes = ["1 packets", "7 packets", "900 B", "12000 B"];
            let named = some(self);
            let pool = |name: String| {
                let policy = match self.below(3) {
                    0 => "dynamic_threshold",
                    1 => "dynamic_threshold(alpha=0.25)",
                    _ => "fuzzball",
                };
                json!({ "name": format!("pool {name}"), "node": name, "policy": policy, "size": self.one(&sizes) })
            };
            scenario["pools"] = named.into_iter().map(pool).collect();
        }
    }

    fn rate(&mut self) -> String {
        if self.has_unlimited_lines && self.one_in(6) {
            return "unlimited".into();
        }
        self.one(&["800 bit/s", "9.6 kbit/s", "56 kbit/s", "56 kbit/s", "64001 bit/s", "1 Mbit/s", "10 Tbit/s"]).into()
    }

    fn delay(&mut self) -> String {
        if !self.has_delays {
            return "0 s".into();
        }
        self.one(&["0 s", "1 ps", "1 ms", "0.075 s", "1 s"]).into()
    }

    fn limit(&mut self) -> String {
        match self.below(3) {
            0 => format!("{} packets", 1 + self.below(20)),
            1 => format!("{} B", 1 + self.below(12_000)),
            _ => "unlimited".into(),
        }
    }

    fn queue(&mut self) -> String {
        let mut terms = vec![match self.name_of(SCHEDULERS) {
            "fq" => {
                let delta = self.below(3) * 700;
                let (preemptive, on_drop) = (self.one(&["true", "false"]), self.one(&["charge", "refund"]));
                format!("fq(delta={delta}B, preemptive={preemptive}, on_drop={on_drop})")
            }
            "token_bucket" => {
                let rate = self.one(&["", "rate=700bit/s, ", "rate=30kbit/s, ", "rate=20Mbit/s, "]);
                format!("token_bucket({rate}burst={}B)", 1 + self.below(4000))
            }
            name => name.to_string(),
        }];
        if self.one_in(2) {
            terms.push(match self.name_of(BUFFER_POLICIES) {
                "longest_queue_drop" => format!("longest_queue_drop(from={})", self.one(&["front", "tail"])),
                // Without a limit no buffer overflows.
                "blue" => format!("blue(threshold={}packets)", 1 + self.below(20)),
                name => name.to_string(),
            });
        }
        if self.one_in(2) {
            terms.push(self.name_of(CLASSIFIERS).to_string());
        }
        if self.has_limits {
            terms.push(self.limit());
        }
        // Not every buffer policy fits every scheduler, nor a classifier a composition in which no
        // part uses flows.
        while fairq_text::queue(&terms.join(" + ")).is_err() && terms.len() > 1 {
            terms.remove(1);
        }
        let plain = terms.join(" + ");
        if self.one_in(2) {
            return plain;
        }
        // Not every marker fits every queue.
        let marked = format!("{plain} + {}", self.name_of(MARKERS));
        if fairq_text::queue(&marked).is_ok() { marked } else { plain }
    }

    fn link(&mut self, from: usize, to: usize, number: usize) -> Value {
        let mut link = json!({
            "name": format!("link {number}"),
            "from": format!("n{from}"),
            "to": format!("n{to}"),
            "rate": self.rate(),
            "delay": self.delay(),
        });
        if self.one_in(2) {
            link["queue"] = self.queue().into();
        }
        if self.one_in(3) {
            link["reverse_queue"] = self.queue().into();
        }
        if self.one_in(4) {
            link["reverse_rate"] = self.rate().into();
        }
        if self.has_limits && self.one_in(4) {
            link["buffer"] = self.limit().into();
        }
        if self.has_traces && self.one_in(5) {
            link["rate"] = "9.6 kbit/s..1 Mbit/s".into();
        }
        if self.has_traces && self.one_in(5) {
            let table = link.as_object_mut().expect("a table");
            table.remove("rate");
            table.insert("trace".into(), "drawn.trace".into());
        }
        if self.has_impairments && self.one_in(3) {
            link["jitter"] = self.one(&["0 s", "1 ps", "3 ms", "0.2 s"]).into();
        }
        if self.has_impairments && self.one_in(3) {
            link["loss"] = [json!(0.0), json!(0.01), json!(0.3), json!("2%@burst=5")][self.below(4)].clone();
        }
        if self.has_impairments && self.one_in(4) {
            let delay = self.one(&["0 s", "2 ms", "0.5 s"]).to_string();
            let probability = if self.one_in(2) { 0.02 } else { 0.5 };
            link["reorder"] = json!({ "probability": probability, "delay": delay });
        }
        link
    }

    fn transport(&mut self) -> Value {
        match self.name_of(TRANSPORTS) {
            "generic" => {
                json!({ "kind": "generic", "window": 1 + self.below(8), "first_timeout": self.one(&["3 s", "0.2 s"]) })
            }
            "jk" => json!({ "kind": "jk", "window_max": 1 + self.below(12), "duplicates": self.below(4) }),
            "decbit" => json!({ "kind": "decbit", "window_max": 1 + self.below(12) }),
            "fixed_window" => {
                let timeout = json!({ "first": "0.5 s", "floor": "0 s", "deviation_floor": "10 ms" });
                json!({ "kind": "fixed_window", "window": 1 + self.below(12), "timeout": timeout })
            }
            name => json!({ "kind": name }),
        }
    }

    fn traffic(&mut self, is_controlled: bool) -> Value {
        let packet = self.one(&["40 B", "1 B", "576 B", "1000 B", "1500 B"]);
        let name = self.name_of(TRAFFIC);
        match name {
            // A transfer's end is its last acknowledgement.
            _ if is_transfers(name) && is_controlled => self.transfers(name, packet),
            _ if is_transfers(name) => json!({ "kind": "telnet", "packet": packet }),
            "ftp" if is_controlled && self.one_in(2) => json!({ "kind": "ftp", "packet": packet }),
            "ftp" => json!({ "kind": "ftp", "packet": packet, "packets": 1 + self.below(300) }),
            "telnet" => json!({ "kind": "telnet", "packet": packet, "mean_gap": self.one(&["5 s", "50 ms"]) }),
            "capture" => json!({ "kind": "capture", "file": "drawn.pcap", "gap_max": "2 s" }),
            "csv" if self.one_in(2) => json!({ "kind": "csv", "file": "drawn.csv" }),
            "csv" => json!({ "kind": "csv", "file": "drawn.csv", "flow": self.one(&["a", "b"]) }),
            "on_off" => {
                let times = ["0.5 s", "exponential(mean=200ms)", "pareto(mean=1s, shape=1.2, max=9s)"];
                let begins = self.one(&["drawn", "on", "off"]);
                let (on, off) = (self.one(&times), self.one(&times));
                json!({ "kind": "on_off", "packet": packet, "on": on, "off": off, "begins": begins })
            }
            "self_similar" => {
                let time = self.one(&["10 s", "100 s"]);
                let sources = 1 + self.below(5);
                json!({ "kind": "self_similar", "packet": "40 B", "rate": "56 kbit/s", "sources": sources,
                        "mean_on": time, "mean_off": time })
            }
            "constant_rate" | "poisson" => {
                json!({ "kind": name, "packet": packet, "rate": self.one(&["112 kbit/s", "5 kbit/s", "33333 bit/s"]) })
            }
            name => json!(example(name)),
        }
    }

    fn transfers(&mut self, name: &str, packet: &str) -> Value {
        let size = self.one(&["1 B", "exponential(mean=3kB)", "pareto(mean=5kB, shape=1.2, max=100kB)"]);
        let time = self.one(&["0.5 s", "exponential(mean=300ms)"]);
        let mut traffic = json!({ "kind": name, "packet": packet, "size": size });
        match name {
            "flow_arrivals" if self.one_in(2) => traffic["mean_gap"] = "0.7 s".into(),
            "flow_arrivals" => {
                (traffic["rate"], traffic["load"]) = ("56 kbit/s".into(), json!(0.3 * (1 + self.below(4)) as f64));
            }
            "incast" => {
                traffic["gap"] = self.one(&["0 s", "0.3 s"]).into();
                traffic["rounds"] = json!(self.below(30));
            }
            "request_response" => traffic["think"] = time.into(),
            "web" => {
                traffic["think"] = time.into();
                traffic["counts"] = self.one(&["fixed", "geometric"]).into();
                traffic["objects"] = json!(1 + self.below(4));
            }
            _ => traffic = json!(example(name)),
        }
        traffic
    }

    fn flow(&mut self, number: usize, nodes: usize) -> Value {
        let from = self.below(nodes);
        let to = (from + 1 + self.below(nodes - 1)) % nodes;
        let transport = self.transport();
        // On lines that take no time nothing else would limit the growth of a rate.
        let settings: TransportSettings = serde_json::from_value(transport.clone()).expect("a transport");
        let is_held_back = settings.is_reliable();
        let mut flow = json!({
            "name": format!("{number}"),
            "from": format!("n{from}"),
            "to": format!("n{to}"),
            "traffic": self.traffic(is_held_back),
            "transport": transport,
            "tos": 4 * self.below(3),
        });
        if settings.has_connection() {
            // Over lines without a rate a window may grow without end.
            let (window, every) = (1 + self.below(40), 1 + self.below(2));
            let every = if settings.needs_each_answer() { 1 } else { every };
            flow["connection"] = json!({ "receive_window": window, "acknowledge_every": every });
        }
        if self.one_in(5) {
            flow["route"] = json!([format!("{}link {}", self.one(&["", "-"]), self.below(nodes - 1))]);
        }
        if self.one_in(5) {
            flow["count"] = json!(1 + self.below(3));
        }
        if self.has_weights {
            flow["weight"] = json!([0.001, 0.5, 1.0, 7.0, 1_000_000.0][self.below(5)]);
        }
        for side in ["access", "sink_access"] {
            if self.has_access && self.one_in(2) {
                flow[side] = json!({ "rate": self.rate(), "delay": self.delay() });
            }
        }
        flow
    }
}

impl Draw {
    /// Layers to some nodes, in which the same node may occur twice.
    fn session(&mut self, number: usize, nodes: usize) -> Value {
        let from = self.below(nodes);
        let (control, source) =
            [("plm", "pairs"), ("rlm", "constant"), ("rlm", "pairs"), ("rlc", "bursts")][self.below(4)];
        let base = [1000, 9600, 64_000][self.below(3)];
        let layers = 1 + self.below(5);
        // Bursts double the rate with each layer; others may have any rates.
        let rates = (0..layers).map(|layer| match source {
            "bursts" => base << layer.saturating_sub(1),
            _ => base * (1 + self.below(4)),
        });
        let rates: Vec<String> = rates.map(|rate| format!("{rate} bit/s")).collect();
        let receivers = (0..1 + self.below(4)).map(|receiver| {
            let at = (from + 1 + self.below(nodes - 1)) % nodes;
            let (start, leave_latency) = (self.one(&["0 s", "0.3 s"]), self.one(&["0 s", "0.7 s"]));
            json!({ "at": format!("n{at}"), "name": format!("r{receiver}"), "start": start,
                    "leave_latency": leave_latency, "target": 1 + self.below(layers) })
        });
        let receivers: Vec<Value> = receivers.collect();
        json!({
            "name": format!("session {number}"), "from": format!("n{from}"), "rates": rates, "source": source,
            "packet": self.one(&["40 B", "100 B", "1000 B"]), "start": self.one(&["0 s", "0.2 s"]),
            "control": control, "tos": 4 * self.below(3), "receivers": receivers,
        })
    }
}

/// The bytes of a file that a random test network names.
pub(crate) fn file(name: &str) -> Result<Vec<u8>, String> {
    Ok(match name.rsplit('.').next() {
        Some("pcap") => capture(),
        Some("csv") => table(),
        // Some 200 kbit/s, in bursts.
        _ => b"0\n0\n20\n20\n20\n81\n300\n300\n".to_vec(),
    })
}

/// The example of a kind of traffic.
fn example(name: &str) -> TrafficSettings {
    let examples = TrafficSettings::examples();
    examples.into_iter().find(|traffic| traffic.name() == name).expect("a kind of traffic")
}

/// Whether a kind of traffic releases transfers.
fn is_transfers(name: &str) -> bool {
    example(name).release() == Release::Transfers
}

/// 80 packets of two flows, some at one instant.
fn table() -> Vec<u8> {
    let mut random = SplitMix64(8);
    let mut at = 0;
    let mut text = "time,flow,bytes\n".to_string();
    for number in 0..80 {
        at += [0, 0, 1, 300, 1500][random.below(5) as usize];
        let flow = if number < 2 || random.below(3) > 0 { "a" } else { "b" };
        text.push_str(&format!("{}.{:03},{flow},{}\n", at / 1000, at % 1000, 1 + random.below(1500)));
    }
    text.into_bytes()
}

/// The capture that random test networks replay: 60 packets of raw IPv4, some at one instant, with
/// a long pause.
fn capture() -> Vec<u8> {
    let mut random = SplitMix64(7);
    let mut bytes: Vec<u8> =
        [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 101].iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut at = 1_000_000_000u64;
    for number in 0..60u64 {
        at += [0, 0, 1, 20_000, 400_000][random.below(5) as usize] + if number == 30 { 60_000_000 } else { 0 };
        let length = 20 + random.below(1480) as u32;
        let record = [(at / 1_000_000) as u32, (at % 1_000_000) as u32, 20, length];
        bytes.extend(record.iter().flat_map(|word| word.to_le_bytes()));
        let [high, low] = (length as u16).to_be_bytes();
        bytes.extend([0x45, 0, high, low, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    }
    bytes
}
