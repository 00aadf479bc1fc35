//! Curves of each flow over time, and the measures of a stretch of it.

use crate::run::Run;
use fairq_experiment::live::curves::{Cell, Curves};
use fairq_experiment::results::jain_index;
use fairq_sched::units::Time;
use serde_json::{Value, json};

/// How many drops and marks are told.
const TICKS: usize = 2_000;

/// The curves between two times, in at most `bins` bins, and the measures of all of them together.
pub(crate) fn history(run: &Run, from: Time, to: Time, bins: usize) -> Value {
    let now = run.live.run().now();
    let to = to.min(now);
    let record = run.passing.at(now);
    let curves = record.curves();
    let groups = curves.between(from, to, bins);
    let times: Vec<f64> = groups.iter().map(|(end, _)| end.as_s()).collect();
    let start = Time(from.0 / curves.width().0 * curves.width().0);
    let flows: Vec<Value> = (0..run.flows.len()).map(|flow| curve(curves, &groups, (flow, start, now))).collect();
    let ticks = curves.ticks(from, to).take(TICKS).map(|tick| {
        let kind = if tick.dropped.is_some() { "dropped" } else { "marked" };
        let reason = tick.dropped.map(fairq_sched::packet::Reason::name);
        json!({ "at_s": tick.at.as_s(), "kind": kind, "flow": tick.flow, "reason": reason })
    });
    let ticks: Vec<Value> = ticks.collect();
    json!({ "from_s": start.as_s(), "time_s": times, "flows": flows, "ticks": ticks, "measures": measures(run, curves, start, to) })
}

fn curve(curves: &Curves, groups: &[(Time, Box<[Cell]>)], (flow, start, now): (usize, Time, Time)) -> Value {
    let mut begin = start;
    let mut fluid = curves.fluid_before(start, flow);
    let mut columns: [Vec<Option<f64>>; 4] = Default::default();
    for (end, cells) in groups {
        let cell = &cells[flow];
        // The bin that has begun is shorter.
        let seconds = ((*end).min(now).saturating_sub(begin)).as_s();
        let rate = |bytes: f64| (seconds > 0.0).then(|| bytes * 8.0 / seconds);
        columns[0].push(rate(cell.bytes as f64));
        columns[1].push((cell.packets > 0).then(|| cell.delay_sum_s / cell.packets as f64));
        columns[2].push(Some(cell.backlog as f64));
        columns[3].push(rate(cell.fluid - fluid));
        (begin, fluid) = (*end, cell.fluid);
    }
    let [throughput, delay, backlog, fluid] = columns;
    json!({ "throughput_bit_per_s": throughput, "delay_s": delay, "backlog_bytes": backlog, "fluid_bit_per_s": fluid })
}

/// Jain's index over throughput per weight; `None` if no flow sent anything.
fn jain(shares: &[f64]) -> Option<f64> {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    jain_index((shares.len() as u32, sum, squares))
}

fn measures(run: &Run, curves: &Curves, from: Time, to: Time) -> Value {
    let plan = run.live.run().plan();
    let sums = curves.sums(from, to);
    let seconds = to.saturating_sub(from).as_s();
    let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
    let all: u64 = sums.iter().map(|cell| cell.bytes).sum();
    let weight = |flow: usize| {
        let flow = plan.flows.get(run.flows[flow] as usize);
        flow.map_or(1.0, |flow| f64::from(flow.entry.weight.thousandths()) / 1000.0)
    };
    let per_weight: Vec<f64> = sums.iter().enumerate().map(|(flow, cell)| cell.bytes as f64 / weight(flow)).collect();
    let late = sums.iter().map(|cell| cell.late_max).max().unwrap_or(Time::ZERO);
    let line = &plan.lines[run.line as usize];
    let packet =
        line.rate.map(|rate| rate.time_of_bits(u64::from(curves.longest()) * 8).as_s()).filter(|time| *time > 0.0);
    let flows = sums.iter().map(|cell| {
        json!({
            "share": (all > 0).then(|| cell.bytes as f64 / all as f64),
            "throughput_bit_per_s": rate(cell.bytes),
            "delay_mean_s": (cell.packets > 0).then(|| cell.delay_sum_s / cell.packets as f64),
            "delay_max_s": (cell.packets > 0).then(|| cell.delay_max.as_s()),
            "late_max_s": cell.late_max.as_s(),
            "packets": cell.packets, "drops": cell.drops, "marks": cell.marks,
        })
    });
    json!({
        "flows": flows.collect::<Vec<_>>(),
        "jain": jain(&per_weight),
        "utilisation": line.rate.map(|of| rate(all) / of.bit_per_s() as f64),
        "late_max_s": late.as_s(),
        "late_max_packets": packet.map(|packet| late.as_s() / packet),
        "drops": curves.reasons(from, to),
        "max_min_bit_per_s": max_min(run),
    })
}

/// The max-min share of each flow at the line, bit/s; `null` where there are transfers or sessions.
fn max_min(run: &Run) -> Value {
    let shares = run.shares();
    if run.flows.iter().any(|flow| shares.get(*flow as usize).is_none_or(Option::is_none)) {
        return Value::Null;
    }
    run.flows.iter().map(|flow| shares[*flow as usize]).collect()
}
