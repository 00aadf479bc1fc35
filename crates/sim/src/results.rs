//! From counts to rows: what a run says of its flows, links and queues, and what several runs say together.

use crate::build::Plan;
use crate::observe::statistics::confidence;
use crate::observe::transfers::{Class, MILLION};
use crate::run::Simulation;
use fairq_sched::units::{Bytes, PS_PER_S, Time};
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

/// What a receiver of a session did in the measured time.
#[derive(Clone, Debug, Serialize)]
struct SessionRow<'a> {
    session: &'a str,
    receiver: &'a str,
    at: &'a str,
    control: &'a str,
    /// How many layers there are.
    layers: usize,
    /// Time average of the layers that it took, those at the end, and how often it changed them.
    level_mean: f64,
    level_end: usize,
    level_changes: u64,
    /// Of the layers that it took: what came, and what did not.
    goodput_bit_per_s: f64,
    packets: u64,
    lost_packets: u64,
    loss: Option<f64>,
    /// From its start until it first took as many layers as its target says; over the whole run.
    target_s: Option<f64>,
}

/// What became of the transfers of a flow in the measured time.
#[derive(Clone, Debug, Serialize)]
struct TransferRow<'a> {
    flow: &'a str,
    traffic: &'a str,
    transport: &'a str,
    /// A decade of bytes, or all.
    size: String,
    /// Transfers that came to their end.
    completed: u64,
    completed_bytes: u64,
    /// From the beginning to the last acknowledgement.
    completion_s_mean: Option<f64>,
    completion_s_p50: Option<f64>,
    completion_s_p95: Option<f64>,
    completion_s_p99: Option<f64>,
    /// That over the least time that the path allows.
    slowdown_mean: Option<f64>,
    slowdown_p50: Option<f64>,
    slowdown_p95: Option<f64>,
    slowdown_p99: Option<f64>,
    /// Of all sizes together: transfers for which no connection was idle.
    refused: Option<u64>,
    /// Of all sizes together: the mean over time of those in progress.
    in_progress_mean: Option<f64>,
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
    /// For each flow whose traffic is transfers a row of all sizes, and one for each decade of bytes that occurred.
    pub transfers: Vec<Row>,
    /// One row for each receiver of each session.
    pub sessions: Vec<Row>,
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
        Self {
            flows,
            links,
            queues,
            transfers: transfer_rows(plan, simulation),
            sessions: session_rows(plan, simulation),
            series: Vec::new(),
        }
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
        Self {
            flows: mean(|t| &t.flows),
            links: mean(|t| &t.links),
            queues: mean(|t| &t.queues),
            transfers: mean_of_transfers(runs),
            sessions: mean(|t| &t.sessions),
            series: Vec::new(),
        }
    }
}

fn session_rows(plan: &Plan, simulation: &Simulation) -> Vec<Row> {
    let mut rows = Vec::new();
    let seconds = plan.duration.as_s();
    for (session, state) in plan.sessions.iter().zip(simulation.sessions()) {
        for (receiver, member) in session.receivers.iter().zip(state.members()) {
            let counts = member.counts();
            let all = counts.packets + counts.lost;
            rows.push(row(&SessionRow {
                session: &session.name,
                receiver: &receiver.name,
                at: &receiver.node,
                control: receiver.control.name(),
                layers: session.rates.len(),
                level_mean: counts.area as f64 / plan.duration.0 as f64,
                level_end: member.level(),
                level_changes: counts.changes,
                goodput_bit_per_s: counts.bytes as f64 * 8.0 / seconds,
                packets: counts.packets,
                lost_packets: counts.lost,
                loss: (all > 0).then(|| counts.lost as f64 / all as f64),
                target_s: member.reached().map(Time::as_s),
            }));
        }
    }
    rows
}

fn transfer_rows(plan: &Plan, simulation: &Simulation) -> Vec<Row> {
    let mut rows = Vec::new();
    for (transfers, group) in plan.transfers.iter().zip(simulation.transfers()) {
        let counts = &group.counts;
        let flow = &plan.flows[transfers.first as usize];
        let row_of = |size: String, class: &Class, of_all: Option<(u64, f64)>| {
            let seconds = |ps: Option<u64>| ps.map(|ps| ps as f64 / PS_PER_S as f64);
            let times = |millionths: Option<u64>| millionths.map(|m| m as f64 / MILLION as f64);
            row(&TransferRow {
                flow: &transfers.name,
                traffic: flow.traffic.name(),
                transport: flow.transport.name(),
                size,
                completed: class.completion.count(),
                completed_bytes: u64::try_from(class.bytes).unwrap_or(u64::MAX),
                completion_s_mean: class.completion.mean().map(|ps| ps / PS_PER_S as f64),
                completion_s_p50: seconds(class.completion.quantile(0.5)),
                completion_s_p95: seconds(class.completion.quantile(0.95)),
                completion_s_p99: seconds(class.completion.quantile(0.99)),
                slowdown_mean: class.slowdown.mean().map(|m| m / MILLION as f64),
                slowdown_p50: times(class.slowdown.quantile(0.5)),
                slowdown_p95: times(class.slowdown.quantile(0.95)),
                slowdown_p99: times(class.slowdown.quantile(0.99)),
                refused: of_all.map(|(refused, _)| refused),
                in_progress_mean: of_all.map(|(_, in_progress)| in_progress),
            })
        };
        let in_progress = counts.area as f64 / plan.duration.0 as f64;
        rows.push(row_of("all".to_string(), &counts.all, Some((counts.refused, in_progress))));
        for (decade, class) in counts.classes.iter().enumerate() {
            let decade = u32::try_from(decade).unwrap_or_default();
            rows.extend(class.as_ref().map(|class| row_of(decade_name(decade), class, None)));
        }
    }
    rows
}

/// "1 kB to 10 kB": from 1000 B on and below 10 000 B.
fn decade_name(decade: u32) -> String {
    let bytes = |decade: u32| Bytes(10u64.saturating_pow(decade)).to_string();
    format!("{} to {}", bytes(decade), bytes(decade + 1))
}

/// As the other tables; but a decade may occur in some runs only, and its mean is of those.
fn mean_of_transfers(runs: &[&Tables]) -> Vec<Row> {
    if let [one] = runs {
        return one.transfers.clone();
    }
    // Flows in their order, each with the decades that any run has, in the order of size.
    let mut keys: Vec<(usize, u32, &Row)> = Vec::new();
    for run in runs {
        let mut flow = 0;
        for row in &run.transfers {
            flow += usize::from(row["size"] == "all");
            let decade = (0..20).find(|decade| row["size"] == decade_name(*decade)).map_or(0, |decade| decade + 1);
            if !keys.iter().any(|(f, d, _)| (*f, *d) == (flow, decade)) {
                keys.push((flow, decade, row));
            }
        }
    }
    keys.sort_by_key(|(flow, decade, _)| (*flow, *decade));
    let same = |a: &Row, b: &Row| a["flow"] == b["flow"] && a["size"] == b["size"];
    let rows_of =
        |key: &Row| runs.iter().flat_map(|run| &run.transfers).filter(|row| same(row, key)).collect::<Vec<_>>();
    keys.iter().map(|(_, _, key)| mean_row(&rows_of(key))).collect()
}

/// The columns of all tables.
const COLUMNS: [&str; 58] = [
    "session",
    "receiver",
    "at",
    "control",
    "layers",
    "level",
    "level_mean",
    "level_end",
    "level_changes",
    "goodput_bit_per_s",
    "lost_packets",
    "loss",
    "target_s",
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
    "size",
    "completed",
    "completed_bytes",
    "completion_s_mean",
    "completion_s_p50",
    "completion_s_p95",
    "completion_s_p99",
    "slowdown_mean",
    "slowdown_p50",
    "slowdown_p95",
    "slowdown_p99",
    "refused",
    "in_progress_mean",
    "seed",
];

/// Whether `name` is a column of some table, which an axis of that name would hide.
#[must_use]
pub fn is_column(name: &str) -> bool {
    COLUMNS.contains(&name)
}

/// Columns that describe and are the same in every run.
const FIXED: [&str; 4] = ["weight", "rate_bit_per_s", "delay_s", "layers"];

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
