//! The tables of the report.

use super::Network;
use super::line::Line;
use super::ways::transport;
use crate::flows::{Counts, Flow, Tcp, Way, span};
use crate::plan::Speed;
use crate::report::{FlowRow, LinkRow, Name, QueueRow, Report};
use fairq_link::sketch::Coarse;
use fairq_link::trace::OPPORTUNITY;
use fairq_sched::packet::{Address, Header};
use fairq_sched::units::Time;
use std::net::{Ipv4Addr, Ipv6Addr};

impl Network {
    /// The tables after a run of `elapsed`; what is measured of the gateway itself is left empty.
    pub fn report(&mut self, elapsed: Time) -> Report {
        self.advance(elapsed);
        let mut flows: Vec<Crossing<'_>> =
            self.flows.all().map(|flow| (flow, self.is_answer(flow), self.lines_of(flow))).collect();
        flows.sort_by_key(|(flow, ..)| flow.number);
        let mut rows: Vec<FlowRow> = flows.iter().map(|flow| self.flow_row(flow, elapsed)).collect();
        let others = self.flows.others();
        if others.sent > 0 {
            let names = FlowRow { flow: Name("others".into()), weight: 1.0, ..FlowRow::default() };
            rows.push(counted(names, others, elapsed, self.loses()));
        }
        let shown = || self.lines.iter().zip(0..).filter(|(line, _)| !line.plan.is_access);
        let links = shown().map(|(line, _)| link_row(line, elapsed, self.loses())).collect();
        let queues = shown().map(|(line, number)| self.queue_row(line, number, &flows, elapsed)).collect();
        let refused = self.refused;
        let series = self.samples.as_mut().map(super::Samples::take_rows).unwrap_or_default();
        Report { elapsed_s: elapsed.as_s(), flows: rows, links, queues, series, refused, ..Report::default() }
    }

    /// Whether a line of the plan loses packets.
    fn loses(&self) -> bool {
        self.lines.iter().any(|line| line.plan.impairment.loss.probability > 0.0)
    }

    fn lines_of(&self, flow: &Flow) -> Vec<u32> {
        self.ways.lines(flow.way, flow.from, |line| self.lines[line as usize].to)
    }

    fn is_answer(&self, flow: &Flow) -> bool {
        match flow.way {
            Way::Planned(_, direction) => direction == 1,
            Way::Towards(_) => {
                let reverse = flow.reverse.and_then(|id| self.flows.get(id));
                // Of two that carry the same, the one that was seen first is asked.
                reverse
                    .is_some_and(|other| (other.counts.sent_data, flow.number) > (flow.counts.sent_data, other.number))
            }
        }
    }

    fn flow_row(&self, (flow, is_answer, lines): &Crossing<'_>, elapsed: Time) -> FlowRow {
        let Header { source, destination, protocol, source_port, destination_port, .. } = flow.header;
        let row = FlowRow {
            flow: flow.name.clone(),
            plan: flow.plan.clone(),
            is_answer: *is_answer,
            from: Name(self.ways.host(flow.from).clone()),
            to: Name(self.ways.host(flow.to).clone()),
            source: text(source),
            destination: text(destination),
            source_port,
            destination_port,
            transport: transport(protocol),
            weight: f64::from(flow.weight.thousandths()) / 1000.0,
            ..FlowRow::default()
        };
        let rates = lines.iter().filter_map(|line| self.lines[*line as usize].plan.speed.rate());
        let slowest = rates.map(|rate| rate.bit_per_s()).min();
        let good = flow.counts.good_length as f64 * 8.0;
        let share = slowest.map(|rate| good / (rate as f64 * elapsed.as_s()).max(1.0));
        FlowRow { share, ..counted(row, &flow.counts, elapsed, self.loses()) }
    }

    fn queue_row(&self, line: &Line, number: u32, flows: &[Crossing<'_>], elapsed: Time) -> QueueRow {
        let counts = line.path.counts();
        QueueRow {
            link: Name(line.plan.name.clone()),
            direction: direction(line),
            discipline: line.plan.queue.name(),
            arrived: counts.arrived.packets,
            dropped: line.tally.dropped,
            marked: line.tally.marked,
            waiting_packets_mean: line.tally.waiting_mean(elapsed),
            waiting_packets_max: line.tally.waiting_max,
            utilisation: utilisation(line, elapsed),
            overtaken: (counts.sent.packets > 0).then(|| counts.overtaken as f64 / counts.sent.packets as f64),
            jain: jain(number, flows),
        }
    }
}

/// A flow, whether it is of answers, and the lines that it crosses.
type Crossing<'a> = (&'a Flow, bool, Vec<u32>);

/// Jain's index over the flows that crossed a line: of TCP if there are such, for others may have
/// had no more to send.
fn jain(number: u32, flows: &[Crossing<'_>]) -> Option<f64> {
    let crosses =
        |(flow, is_answer, lines): &&Crossing<'_>| flow.counts.good > 0 && !is_answer && lines.contains(&number);
    let crossing = || flows.iter().filter(crosses).map(|(flow, ..)| flow);
    let has_tcp = crossing().any(|flow| flow.counts.tcp.is_some());
    let shares = crossing()
        .filter(|flow| !has_tcp || flow.counts.tcp.is_some())
        .map(|flow| flow.counts.delivered_bytes as f64 / f64::from(flow.weight.thousandths()));
    let (count, sum, squares) =
        shares.fold((0.0, 0.0, 0.0), |(n, sum, squares), share| (n + 1.0, sum + share, squares + share * share));
    (squares > 0.0).then(|| f64::min(sum * sum / (count * squares), 1.0))
}

/// The direction of a line in words.
pub(super) const fn direction(line: &Line) -> &'static str {
    if line.plan.is_reverse { "reverse" } else { "forward" }
}

/// The part that was used of what a line could send until `elapsed`.
fn utilisation(line: &Line, elapsed: Time) -> Option<f64> {
    let capacity = match &line.plan.speed {
        Speed::Unlimited => return None,
        Speed::Rate(rate) => rate.bit_per_s() as f64 * elapsed.as_s(),
        Speed::Trace(trace) => (trace.up_to(elapsed) * u64::from(OPPORTUNITY) * 8) as f64,
    };
    Some(if capacity > 0.0 { f64::min(line.tally.bytes as f64 * 8.0 / capacity, 1.0) } else { 0.0 })
}

fn link_row(line: &Line, elapsed: Time, loses: bool) -> LinkRow {
    LinkRow {
        link: Name(line.plan.name.clone()),
        direction: direction(line),
        rate_bit_per_s: line.plan.speed.rate().map(|rate| rate.bit_per_s()),
        delay_s: line.plan.delay.as_s(),
        packets: line.tally.packets,
        bytes: line.tally.bytes,
        lost: loses.then_some(line.tally.lost),
        utilisation: utilisation(line, elapsed),
    }
}

/// `row` with what was counted.
fn counted(row: FlowRow, counts: &Counts, elapsed: Time, loses: bool) -> FlowRow {
    let (first, last) = span(counts);
    let seconds = elapsed.as_s().max(1e-12);
    let mean = |sketch: &Coarse| sketch.mean().map(|ps| ps * 1e-12);
    let at = |sketch: &Coarse, p: f64| sketch.quantile(p).map(|ps| Time(ps).as_s());
    let most = |sketch: &Coarse| sketch.greatest().map(|ps| Time(ps).as_s());
    let (delay, queueing) = (&counts.delay, &counts.queueing);
    FlowRow {
        first_s: first.as_s(),
        last_s: last.as_s(),
        sent: counts.sent,
        sent_bytes: counts.sent_bytes,
        retransmitted: counts.retransmitted,
        throughput_packets: counts.delivered,
        throughput_bytes: counts.delivered_bytes,
        throughput_bit_per_s: counts.delivered_bytes as f64 * 8.0 / seconds,
        goodput_packets: counts.good,
        goodput_bytes: counts.good_bytes,
        dropped: counts.dropped,
        lost: loses.then_some(counts.lost),
        marked: counts.marked,
        rtt_s_mean: counts.tcp.as_deref().and_then(Tcp::rtt_mean),
        delay_s_mean: mean(delay),
        delay_s_p50: at(delay, 0.5),
        delay_s_p95: at(delay, 0.95),
        delay_s_p99: at(delay, 0.99),
        delay_s_max: most(delay),
        queueing_s_mean: mean(queueing),
        queueing_s_p50: at(queueing, 0.5),
        queueing_s_p95: at(queueing, 0.95),
        queueing_s_p99: at(queueing, 0.99),
        queueing_s_max: most(queueing),
        ..row
    }
}

fn text(address: Address) -> String {
    match address {
        Address::V4(bytes) => Ipv4Addr::from(bytes).to_string(),
        Address::V6(bytes) => Ipv6Addr::from(bytes).to_string(),
        Address::Node(_) | Address::Mac(_) => String::new(),
    }
}
