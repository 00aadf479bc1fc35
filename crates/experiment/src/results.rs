//! From counts to tables: what a run says of its flows, links and queues, and what several runs say
//! together.

pub mod course;
pub mod document;
pub mod held;
mod mean;
pub mod notes;
pub mod packets;
pub mod series;
pub mod states;
pub mod statistics;
pub mod table;
pub mod trace;

use self::held::Held;
use self::table::{Builder, Table};
use self::trace::Trace;
use crate::columns::{COURSE, FLOWS, LINKS, PACKETS, QUEUES, SERIES, SESSIONS, STATES, TRANSFERS, TableOf};
use fairq_link::sketch::Coarse;
use fairq_sched::units::{Bytes, PS_PER_S, Rate, Time};
use fairq_sim::net::counts::flow_times;
use fairq_sim::net::line::Line;
use fairq_sim::observe::transfers::{Class, MILLION};
use fairq_sim::plan::{FlowPlan, LinePlan, Plan};
use fairq_sim::run::{FlowCounts, Simulation};
use std::sync::Arc;

/// The tables of one run, or of several together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// One row for each flow.
    pub flows: Table,
    /// One row for each direction of each link; access lines are left out.
    pub links: Table,
    /// One row for each queue of these.
    pub queues: Table,
    /// For each flow whose traffic is transfers a row of all sizes, and one for each decade of
    /// bytes that occurred.
    pub transfers: Table,
    /// One row for each receiver of each session.
    pub sessions: Table,
    /// Samples over time, if they were asked for: throughput of flows, packets held at gateways.
    pub series: Table,
    /// Each packet of a flow, if that was asked for.
    pub packets: Table,
    /// What each discipline counts and keeps, at the samples and at the end, if that was asked for.
    pub states: Table,
    /// What each flow got in each stretch of the run, if that was asked for.
    pub course: Table,
    /// What held each flow; no rows.
    pub held: Vec<Held>,
    /// The run as a trace, if that was asked for.
    pub trace: Option<Arc<Trace>>,
}

impl Tables {
    /// Which of the tables is called `name`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<fn(&Self) -> &Table> {
        Some(match name {
            "flows" => |tables| &tables.flows,
            "links" => |tables| &tables.links,
            "queues" => |tables| &tables.queues,
            "transfers" => |tables| &tables.transfers,
            "sessions" => |tables| &tables.sessions,
            "series" => |tables| &tables.series,
            "packets" => |tables| &tables.packets,
            "states" => |tables| &tables.states,
            "course" => |tables| &tables.course,
            _ => return None,
        })
    }

    /// The rows of all tables together.
    #[must_use]
    pub fn rows(&self) -> usize {
        let Self { flows, links, queues, transfers, sessions, series, packets, states, course, held: _, trace: _ } =
            self;
        [flows, links, queues, transfers, sessions, series, packets, states, course].into_iter().map(Table::rows).sum()
    }

    /// The tables of a run that has come to the end of its measured time, and was settled.
    #[must_use]
    pub fn of(plan: &Plan, simulation: &Simulation) -> Self {
        Self {
            flows: flow_table(plan, simulation),
            links: link_table(plan, simulation),
            queues: queue_table(plan, simulation),
            transfers: transfer_table(plan, simulation),
            sessions: session_table(plan, simulation),
            series: Table::empty(&SERIES),
            packets: Table::empty(&PACKETS),
            states: Table::empty(&STATES),
            course: Table::empty(&COURSE),
            held: held::of(plan, simulation),
            trace: None,
        }
    }
}

/// Seconds of picoseconds.
fn seconds(ps: Option<u64>) -> Option<f64> {
    ps.map(|ps| ps as f64 / PS_PER_S as f64)
}

fn flow_table(plan: &Plan, simulation: &Simulation) -> Table {
    let (network, time) = (&simulation.network, plan.duration.as_s());
    let mut table = Builder::new(&FLOWS);
    let flows = || plan.flows.iter();
    let node = |at: usize| move |flow: &FlowPlan| Arc::clone(&flow.entry.nodes[at]);
    table.text("flow", flows().map(|flow| Arc::clone(&flow.name)));
    table.text("from", flows().map(node(0)));
    table.text("to", flows().map(node(1)));
    table.words("traffic", flows().map(|flow| flow.entry.traffic.name()));
    table.words("transport", flows().map(|flow| flow.entry.transport.name()));
    table.real("weight", flows().map(|flow| f64::from(flow.entry.weight.thousandths()) / 1000.0));
    let counts = || simulation.flow_counts();
    table.whole("throughput_packets", counts().map(|counts| counts.delivered));
    table.real("throughput_bit_per_s", counts().map(|counts| counts.delivered_bytes as f64 * 8.0 / time));
    table.whole("goodput_packets", counts().map(|counts| counts.unique));
    let in_time = |(flow, counts): (&FlowPlan, &FlowCounts)| flow.entry.deadline.map(|_| counts.in_time);
    table.whole("in_time", flows().zip(counts()).map(in_time));
    table.whole("sent", counts().map(|counts| counts.sent));
    table.whole("retransmitted", counts().map(|counts| counts.retransmitted));
    // Branches of sessions have the numbers after those of flows.
    let number = plan.flows.len();
    table.whole("dropped", (0..number).map(|flow| network.dropped.of(flow)));
    table.whole("lost", (0..number).map(|flow| plan.counts_lost.then(|| network.lost.of(flow))));
    table.whole("marked", (0..number).map(|flow| network.marked.of(flow)));
    let mean = |counts: &FlowCounts| counts.samples_sum as f64 / counts.samples as f64 / PS_PER_S as f64;
    table.real("rtt_s_mean", counts().map(|counts| (counts.samples > 0).then(|| mean(counts))));
    let delay = ["delay_s_mean", "delay_s_p50", "delay_s_p95", "delay_s_p99", "delay_s_max"];
    times(&mut table, delay, || counts().map(|counts| &counts.delay));
    let queueing = ["queueing_s_mean", "queueing_s_p50", "queueing_s_p95", "queueing_s_p99", "queueing_s_max"];
    times(&mut table, queueing, || counts().map(|counts| &counts.queueing));
    table.real("share", flows().zip(counts()).map(|(flow, counts)| share(plan, flow, counts)));
    table.finish()
}

/// The goodput as a part of the rate of the slowest line of the flow's path; `None` if none has a
/// rate.
fn share(plan: &Plan, flow: &FlowPlan, counts: &FlowCounts) -> Option<f64> {
    let rate = flow.path.forward().iter().filter_map(|line| plan.lines[*line as usize].rate).min()?;
    // Packets of a flow may differ in length: what came again has the mean one.
    let first = if counts.delivered == 0 { 0.0 } else { counts.unique as f64 / counts.delivered as f64 };
    let goodput = counts.delivered_bytes as f64 * first * 8.0 / plan.duration.as_s();
    // A packet that crosses the beginning of the measured time counts whole.
    Some((goodput / rate.bit_per_s() as f64).min(1.0))
}

/// Columns of mean, median, 95th and 99th percentile and maximum of times.
fn times<'a, I: Iterator<Item = &'a Coarse>>(table: &mut Builder, names: [&'static str; 5], of: impl Fn() -> I) {
    let [mean, p50, p95, p99, max] = names;
    table.real(mean, of().map(|times| times.mean().map(|ps| ps / PS_PER_S as f64)));
    for (name, part) in [(p50, 0.5), (p95, 0.95), (p99, 0.99)] {
        table.real(name, of().map(|times| seconds(times.quantile(part))));
    }
    table.real(max, of().map(|times| seconds(times.greatest())));
}

/// The lines that have a row, each with its state.
fn lines<'a>(plan: &'a Plan, simulation: &'a Simulation) -> impl Iterator<Item = (&'a LinePlan, &'a Line)> {
    plan.lines.iter().zip(&simulation.network.lines).filter(|(line, _)| !line.is_access)
}

/// A table of lines, with the columns that name them.
fn table_of_lines(of: &'static TableOf, plan: &Plan, simulation: &Simulation) -> Builder {
    let mut table = Builder::new(of);
    table.text("link", lines(plan, simulation).map(|(line, _)| Arc::clone(&line.name)));
    table.words("direction", lines(plan, simulation).map(|(line, _)| line.direction()));
    table
}

fn link_table(plan: &Plan, simulation: &Simulation) -> Table {
    let mut table = table_of_lines(&LINKS, plan, simulation);
    let lines = || lines(plan, simulation);
    table.whole("rate_bit_per_s", lines().map(|(line, _)| line.rate.map(Rate::bit_per_s)));
    table.real("delay_s", lines().map(|(line, _)| line.delay.as_s()));
    table.whole("packets", lines().map(|(_, state)| state.counts.packets));
    table.whole("bytes", lines().map(|(_, state)| state.counts.bytes));
    table.whole("lost", lines().map(|(_, state)| plan.counts_lost.then_some(state.counts.lost)));
    table.real("utilisation", lines().map(|line| utilisation(plan, line)));
    table.finish()
}

/// The part that was used of what a line could send in the measured time; `None` if its rate is
/// unlimited.
fn utilisation(plan: &Plan, (line, state): (&LinePlan, &Line)) -> Option<f64> {
    let gateway = state.gateway.as_ref().filter(|_| line.rate.is_some())?;
    let capacity = gateway.capacity(plan.warm_up, plan.warm_up + plan.duration);
    let used = if capacity > 0.0 { state.counts.carried.bits() / capacity } else { 0.0 };
    debug_assert!(used < 1.0 + 1e-6, "{}: {used} of what it can carry", line.name);
    // Ends of transmissions are rounded to picoseconds.
    Some(used.min(1.0))
}

fn queue_table(plan: &Plan, simulation: &Simulation) -> Table {
    let mut table = table_of_lines(&QUEUES, plan, simulation);
    let lines = || lines(plan, simulation);
    table.text("discipline", lines().map(|(line, _)| Arc::<str>::from(line.queue.name())));
    let settings = |line: &LinePlan| Arc::<str>::from(fairq_text::written(&line.queue));
    table.text("discipline_settings", lines().map(|(line, _)| settings(line)));
    table.text("limit", lines().map(|(line, _)| Arc::<str>::from(line.queue.bound().to_string())));
    table.whole("dropped", lines().map(|(_, state)| state.counts.dropped));
    table.whole("marked", lines().map(|(_, state)| state.counts.marked));
    let mean = |(_, state): (_, &Line)| state.counts.area as f64 / plan.duration.0 as f64;
    table.real("waiting_packets_mean", lines().map(mean));
    table.whole("waiting_packets_max", lines().map(|(_, state)| state.counts.waiting_max));
    table.real("utilisation", lines().map(|line| utilisation(plan, line)));
    table.real("overtaken", lines().map(|(_, state)| overtaken(state)));
    let of_lines = plan.lines.iter().zip(jain(plan, simulation));
    table.real("jain", of_lines.filter(|(line, _)| !line.is_access).map(|(_, jain)| jain));
    let means: Vec<_> = lines().map(|(_, state)| flow_means(plan, state)).collect();
    for (kind, column) in ["sparse", "bulk", "unresponsive"].into_iter().enumerate() {
        table.real(column, means.iter().map(|means| means.map(|means| means[kind])));
    }
    table.finish()
}

/// How many flows of each kind there were at a mean in the measured time; `None` if the queue has
/// no kinds of flows.
fn flow_means(plan: &Plan, line: &Line) -> Option<[f64; 3]> {
    let gateway = line.gateway.as_ref()?;
    let times = flow_times(gateway.port.discipline(), plan.warm_up + plan.duration)?;
    let before = line.flow_times.as_deref().copied().unwrap_or_default();
    let mean = |kind: usize| (times[kind] - before[kind]) as f64 * 1000.0 / plan.duration.0 as f64;
    Some([0, 1, 2].map(mean))
}

/// The part of the packets that a line sent before which a packet that arrived later was sent.
fn overtaken(line: &Line) -> Option<f64> {
    (line.counts.packets > 0).then(|| line.counts.overtaken as f64 / line.counts.packets as f64)
}

/// By line, Jain's index (Σx)²/(nΣx²) over the throughput per weight of the flows whose data
/// crossed it (Jain, Chiu and Hawe 1984, section 3); `None` where no flow's data did. Where some of
/// them always have data to send, the others got what they asked for, and are left out.
fn jain(plan: &Plan, simulation: &Simulation) -> Vec<Option<f64>> {
    let of = |only_endless: bool| {
        let mut sums = vec![(0u32, 0.0f64, 0.0f64); plan.lines.len()];
        let flows = plan.flows.iter().zip(simulation.flow_counts());
        for (flow, counts) in flows.filter(|(flow, _)| !only_endless || flow.entry.traffic.is_endless()) {
            let share = counts.delivered_bytes as f64 / f64::from(flow.entry.weight.thousandths());
            for line in flow.path.forward() {
                let (flows, sum, squares) = &mut sums[*line as usize];
                *flows += 1;
                *sum += share;
                *squares += share * share;
            }
        }
        sums
    };
    let of_line = |(endless, all): ((u32, f64, f64), _)| jain_index(if endless.0 > 0 { endless } else { all });
    of(true).into_iter().zip(of(false)).map(of_line).collect()
}

/// Jain's index of a number of flows, the sum of their shares and that of their squares; `None` if
/// all shares are zero.
#[must_use]
pub fn jain_index((flows, sum, squares): (u32, f64, f64)) -> Option<f64> {
    // The quotient of equal sums may round to just above 1.
    (squares > 0.0).then(|| (sum * sum / (f64::from(flows) * squares)).min(1.0))
}

fn session_table(plan: &Plan, simulation: &Simulation) -> Table {
    let mut rows = Vec::new();
    for (session, state) in plan.sessions.iter().zip(simulation.sessions()) {
        rows.extend(
            session.receivers.iter().zip(state.members()).map(|(receiver, member)| (session, receiver, member)),
        );
    }
    let mut table = Builder::new(&SESSIONS);
    let (rows, counts) = (|| rows.iter().copied(), || rows.iter().map(|(_, _, member)| member.counts()));
    table.text("session", rows().map(|(session, ..)| Arc::<str>::from(&*session.name)));
    table.text("receiver", rows().map(|(_, receiver, _)| Arc::<str>::from(&*receiver.name)));
    table.text("at", rows().map(|(_, receiver, _)| Arc::<str>::from(&*receiver.node)));
    table.words("control", rows().map(|(_, receiver, _)| receiver.control.name()));
    table.whole("layers", rows().map(|(session, ..)| session.rates.len() as u64));
    table.real("level_mean", counts().map(|counts| counts.area as f64 / plan.duration.0 as f64));
    table.whole("level_end", rows().map(|(_, _, member)| member.level() as u64));
    table.whole("level_changes", counts().map(|counts| counts.changes));
    let time = plan.duration.as_s();
    table.real("goodput_bit_per_s", counts().map(|counts| counts.bytes as f64 * 8.0 / time));
    table.whole("packets", counts().map(|counts| counts.packets));
    table.whole("lost_packets", counts().map(|counts| counts.lost));
    let loss = |packets: u64, lost: u64| (packets + lost > 0).then(|| lost as f64 / (packets + lost) as f64);
    table.real("loss", counts().map(|counts| loss(counts.packets, counts.lost)));
    table.real("target_s", rows().map(|(_, _, member)| member.reached().map(Time::as_s)));
    table.finish()
}

/// The transfers of a flow: all, or those of a decade of bytes.
struct TransferRow<'a> {
    flow: &'a str,
    /// The first of its copies.
    copy: &'a FlowPlan,
    size: String,
    class: &'a Class,
    /// Of all sizes together: transfers for which no connection was idle, and the mean over time of
    /// those in progress.
    of_all: Option<(u64, f64)>,
}

fn transfer_table(plan: &Plan, simulation: &Simulation) -> Table {
    let mut rows = Vec::new();
    for (transfers, group) in plan.transfers.iter().zip(simulation.transfers()) {
        let counts = &group.counts;
        let (flow, copy) = (&*transfers.name, &plan.flows[transfers.first as usize]);
        let of_all = Some((counts.refused, counts.area as f64 / plan.duration.0 as f64));
        rows.push(TransferRow { flow, copy, size: "all".to_string(), class: &counts.all, of_all });
        for (decade, class) in (0..).zip(&counts.classes) {
            let row = |class| TransferRow { flow, copy, size: decade_name(decade), class, of_all: None };
            rows.extend(class.as_deref().map(row));
        }
    }
    let mut table = Builder::new(&TRANSFERS);
    let (rows, classes) = (|| rows.iter(), || rows.iter().map(|row| row.class));
    table.words("flow", rows().map(|row| row.flow));
    table.words("traffic", rows().map(|row| row.copy.entry.traffic.name()));
    table.words("transport", rows().map(|row| row.copy.entry.transport.name()));
    table.words("size", rows().map(|row| &*row.size));
    table.whole("completed", classes().map(|class| class.completion.count()));
    table.whole("completed_bytes", classes().map(|class| u64::try_from(class.bytes).unwrap_or(u64::MAX)));
    table.real("completion_s_mean", classes().map(|class| class.completion.mean().map(|ps| ps / PS_PER_S as f64)));
    for (name, part) in [("completion_s_p50", 0.5), ("completion_s_p95", 0.95), ("completion_s_p99", 0.99)] {
        table.real(name, classes().map(|class| seconds(class.completion.quantile(part))));
    }
    table.real("slowdown_mean", classes().map(|class| class.slowdown.mean().map(|m| m / MILLION as f64)));
    let times = |millionths: Option<u64>| millionths.map(|m| m as f64 / MILLION as f64);
    for (name, part) in [("slowdown_p50", 0.5), ("slowdown_p95", 0.95), ("slowdown_p99", 0.99)] {
        table.real(name, classes().map(|class| times(class.slowdown.quantile(part))));
    }
    table.whole("in_time", rows().map(|row| row.copy.entry.deadline.map(|_| row.class.in_time)));
    table.whole("refused", rows().map(|row| row.of_all.map(|(refused, _)| refused)));
    table.real("in_progress_mean", rows().map(|row| row.of_all.map(|(_, in_progress)| in_progress)));
    table.finish()
}

/// "1 kB to 10 kB": from 1000 B on and below 10 000 B.
fn decade_name(decade: u32) -> String {
    let bytes = |decade: u32| Bytes(10u64.saturating_pow(decade)).to_string();
    format!("{} to {}", bytes(decade), bytes(decade + 1))
}
