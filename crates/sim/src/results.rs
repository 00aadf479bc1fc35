//! From counts to rows: what a run says of its flows, links and queues, and what several runs say together.

use crate::build::Plan;
use crate::observe::statistics::confidence;
use crate::run::Simulation;
use fairq_sched::units::PS_PER_S;
use serde::Serialize;
use serde_json::{Map, Value};

/// A row of a table.
pub type Row = Map<String, Value>;

/// What a flow did in the measured time.
#[derive(Clone, Debug, Serialize)]
struct FlowRow<'a> {
    flow: &'a str,
    from: &'a str,
    to: &'a str,
    traffic: &'a str,
    transport: &'a str,
    weight: f64,
    /// Data packets that reached the sink, repeated ones too.
    throughput_packets: u64,
    throughput_bit_per_s: f64,
    /// Data packets that reached the sink for the first time.
    goodput_packets: u64,
    sent: u64,
    retransmitted: u64,
    dropped: u64,
    /// Lost on the way; told where packets may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    marked: u64,
    /// Mean of the samples that the source's estimator took.
    rtt_s_mean: Option<f64>,
    /// From the sending of a packet to its arrival.
    delay_s_mean: Option<f64>,
    delay_s_p50: Option<f64>,
    delay_s_p95: Option<f64>,
    delay_s_p99: Option<f64>,
    delay_s_max: Option<f64>,
}

/// What a line did in the measured time.
#[derive(Clone, Debug, Serialize)]
struct LinkRow<'a> {
    link: &'a str,
    direction: &'a str,
    rate_bit_per_s: Option<u64>,
    delay_s: f64,
    packets: u64,
    bytes: u64,
    /// Of these packets, those that were lost on the way; told where packets may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    /// The part of the line's capacity that was used, by its trace's mean rate; nothing for an unlimited line.
    utilisation: Option<f64>,
}

/// What the gateway of a line did in the measured time.
#[derive(Clone, Debug, Serialize)]
struct QueueRow<'a> {
    link: &'a str,
    direction: &'a str,
    discipline: String,
    limit: String,
    dropped: u64,
    marked: u64,
    /// Time average of the packets that waited.
    waiting_packets_mean: f64,
    waiting_packets_max: u64,
}

/// The tables of one run, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tables {
    /// One row for each flow.
    pub flows: Vec<Row>,
    /// One row for each direction of each link; access lines are left out.
    pub links: Vec<Row>,
    /// One row for each queue of these.
    pub queues: Vec<Row>,
    /// Samples over time, if they were asked for: throughput of flows, packets held at gateways.
    #[serde(skip)]
    pub series: Vec<Row>,
}

fn row(of: &impl Serialize) -> Row {
    match serde_json::to_value(of) {
        Ok(Value::Object(row)) => row,
        // The rows are structs of numbers and text, and no number in them is infinite or NaN.
        _ => unreachable!("a row is a struct"),
    }
}

impl Tables {
    /// The tables of a run that has come to the end of its measured time.
    #[must_use]
    pub fn of(plan: &Plan, simulation: &mut Simulation) -> Self {
        simulation.settle();
        let seconds = plan.duration.as_s();
        let as_s = |ps: Option<u64>| ps.map(|ps| ps as f64 / PS_PER_S as f64);
        let network = &simulation.network;
        let flow_row = |(number, (flow, counts)): (usize, (&crate::build::FlowPlan, &crate::run::FlowCounts))| {
            row(&FlowRow {
                flow: &flow.name,
                from: &flow.nodes[0],
                to: &flow.nodes[1],
                traffic: flow.traffic.name(),
                transport: flow.transport.name(),
                weight: f64::from(flow.weight.thousandths()) / 1000.0,
                throughput_packets: counts.delivered,
                throughput_bit_per_s: counts.delivered_bytes as f64 * 8.0 / seconds,
                goodput_packets: counts.unique,
                sent: counts.sent,
                retransmitted: counts.retransmitted,
                dropped: network.dropped[number],
                lost: plan.counts_lost.then(|| network.lost[number]),
                marked: network.marked[number],
                rtt_s_mean: (counts.samples > 0)
                    .then(|| counts.samples_sum as f64 / counts.samples as f64 / PS_PER_S as f64),
                delay_s_mean: counts.delay.mean().map(|ps| ps / PS_PER_S as f64),
                delay_s_p50: as_s(counts.delay.quantile(0.5)),
                delay_s_p95: as_s(counts.delay.quantile(0.95)),
                delay_s_p99: as_s(counts.delay.quantile(0.99)),
                delay_s_max: as_s(counts.delay.greatest()),
            })
        };
        let flows = plan.flows.iter().zip(simulation.flow_counts()).enumerate().map(flow_row).collect();
        let (mut links, mut queues) = (Vec::new(), Vec::new());
        for (line, state) in plan.lines.iter().zip(&simulation.network.lines).filter(|(line, _)| !line.is_access) {
            let (link, direction) = (line.name.as_str(), if line.is_reverse { "reverse" } else { "forward" });
            let counts = &state.counts;
            let rate = line.rate.map(fairq_sched::units::Rate::bit_per_s);
            links.push(row(&LinkRow {
                link,
                direction,
                rate_bit_per_s: rate,
                delay_s: line.delay.as_s(),
                packets: counts.packets,
                bytes: counts.bytes,
                lost: plan.counts_lost.then_some(counts.lost),
                utilisation: rate.map(|rate| counts.bytes as f64 * 8.0 / (rate as f64 * seconds)),
            }));
            queues.push(row(&QueueRow {
                link,
                direction,
                discipline: line.queue.name(),
                limit: line.queue.limit.unwrap_or_default().to_string(),
                dropped: counts.dropped,
                marked: counts.marked,
                waiting_packets_mean: counts.area as f64 / plan.duration.0 as f64,
                waiting_packets_max: counts.waiting_max,
            }));
        }
        Self { flows, links, queues, series: Vec::new() }
    }

    /// The means over several runs of one plan; with more than one run each number has the ends of its 95 %
    /// confidence interval beside it, as `<name>_low` and `<name>_high`.
    #[must_use]
    pub fn mean_of(runs: &[&Self]) -> Self {
        let mean = |of: fn(&Self) -> &Vec<Row>| match runs {
            [] => Vec::new(),
            [one] => of(one).clone(),
            [first, ..] => {
                let tables: Vec<&Vec<Row>> = runs.iter().map(|run| of(run)).collect();
                (0..of(first).len()).map(|at| mean_row(&tables.iter().map(|t| &t[at]).collect::<Vec<_>>())).collect()
            }
        };
        Self { flows: mean(|t| &t.flows), links: mean(|t| &t.links), queues: mean(|t| &t.queues), series: Vec::new() }
    }
}

/// The columns of all tables.
const COLUMNS: [&str; 32] = [
    "flow",
    "from",
    "to",
    "traffic",
    "transport",
    "weight",
    "throughput_packets",
    "throughput_bit_per_s",
    "goodput_packets",
    "sent",
    "retransmitted",
    "dropped",
    "lost",
    "marked",
    "rtt_s_mean",
    "delay_s_mean",
    "delay_s_p50",
    "delay_s_p95",
    "delay_s_p99",
    "delay_s_max",
    "link",
    "direction",
    "rate_bit_per_s",
    "delay_s",
    "packets",
    "bytes",
    "utilisation",
    "discipline",
    "limit",
    "waiting_packets_mean",
    "waiting_packets_max",
    "seed",
];

/// Whether `name` is a column of some table, which an axis of that name would hide.
#[must_use]
pub fn is_column(name: &str) -> bool {
    COLUMNS.contains(&name)
}

/// Columns that describe and are the same in every run.
const FIXED: [&str; 3] = ["weight", "rate_bit_per_s", "delay_s"];

fn mean_row(rows: &[&Row]) -> Row {
    let mut mean = Row::new();
    for (name, first) in rows[0] {
        if first.is_string() || FIXED.contains(&name.as_str()) {
            mean.insert(name.clone(), first.clone());
            continue;
        }
        let values: Vec<f64> = rows.iter().filter_map(|row| row[name].as_f64()).collect();
        let interval = confidence(&values);
        mean.insert(name.clone(), interval.map_or(Value::Null, |i| i.mean.into()));
        mean.insert(format!("{name}_low"), interval.map_or(Value::Null, |i| i.low.into()));
        mean.insert(format!("{name}_high"), interval.map_or(Value::Null, |i| i.high.into()));
    }
    mean
}
