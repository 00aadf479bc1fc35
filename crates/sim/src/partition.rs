//! The assignment of lines and sources to the parts of a network, when several workers share one
//! run.
//!
//! A part holds whole nodes: what happens at a node is decided there at once. Between parts lie
//! lines with a delay. Within the least of these delays no part can be affected by another (the
//! lookahead). A least delay decides which lines may lie between parts. Of the candidates, the one
//! with the shortest estimated run is taken. The estimate: each flow sends what its lines would
//! give it if each were shared evenly; a packet costs one unit on each line, more at its ends, and
//! half a unit on each side of a border; each lookahead costs its exchange.

use crate::plan::{FlowPlan, Plan};
use fairq_sched::units::Time;
use std::collections::BTreeMap;

/// The cost of a packet at its source, with its acknowledgement, in units of a packet on a line.
const AT_SOURCE: f64 = 2.0;
/// The cost of a packet at its sink.
const AT_SINK: f64 = 1.0;
/// The cost of a packet that leaves a part, or enters one.
const AT_BORDER: f64 = 0.5;
/// The cost of reading the others' progress, once in each lookahead.
const EXCHANGE: f64 = 50.0;
/// The least estimated speedup of a split.
const WORTH: f64 = 1.2;
/// The greatest number of lookaheads of a run.
const EXCHANGES_MAX: u64 = 10_000_000;
/// The least sum of flows over all lines. With fewer, all state is in the caches anyway.
const FLOWS_ON_LINES: usize = 500;
/// The part of all work that may be in one region.
const HEAVIEST: f64 = 1.0 / 8.0;
/// The least work of a region in its turn, in units of a packet on a line.
const TURN: f64 = 100.0;
/// The least and greatest number of regions.
const REGIONS_MIN: usize = 4;
const REGIONS_MAX: usize = 64;
/// The most groups that are assigned to regions; more would take too long.
const GROUPS_MAX: usize = 4096;
/// The number of least delays that are tried.
const CANDIDATES: usize = 24;

/// A network in parts.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The number of parts.
    pub parts: usize,
    /// By line: the part of the node that the line leaves.
    pub tails: Vec<u32>,
    /// By line: the part of the node that the line leads to.
    pub heads: Vec<u32>,
    /// By flow: the part of its source.
    pub sources: Vec<u32>,
    /// The least delay of the lines between two parts, by both parts; [`Time::NEVER`] if there is
    /// no line.
    lookahead: Vec<Time>,
}

impl Partition {
    /// `plan` in up to `parts` parts, if the estimated speedup is worth it.
    ///
    /// # Errors
    /// Why the run is better undivided.
    pub fn new(plan: &Plan, parts: usize) -> Result<Self, &'static str> {
        if parts < 2 {
            return Err("there is one worker");
        }
        if !plan.sessions.is_empty() {
            return Err("sessions join and prune over the whole network at once");
        }
        if !plan.changes.is_empty() {
            return Err("a line changes while it runs");
        }
        match Self::best(plan, parts) {
            None => Err("no line with a delay lies between two parts of it"),
            Some((speedup, _)) if speedup < WORTH => {
                Err("too little happens within a delay, or too much of it in one place")
            }
            Some((_, found)) => Ok(found),
        }
    }

    /// The best division of `plan`, which has no sessions, into up to `parts` parts, with its
    /// estimated speedup. `None` if there is none.
    #[must_use]
    pub fn best(plan: &Plan, parts: usize) -> Option<(f64, Self)> {
        let (rates, nodes) = (rates(plan), Nodes::new(plan));
        let mut best: Option<(f64, Self)> = None;
        for least in least_delays(plan) {
            let Some((speedup, found)) = nodes.without(plan, least).divide(plan, &rates, parts, least) else {
                continue;
            };
            // Candidates come by falling delay: a longer lookahead wins unless a shorter one
            // promises clearly more.
            if best.as_ref().is_none_or(|(most, _)| speedup > most * 1.03) {
                best = Some((speedup, found));
            }
        }
        best
    }

    /// `plan` in regions for one worker, which runs them in turn (`run/regions.rs`). `None` if the
    /// order of all events is better: few flows on few lines, or no delay that is long enough.
    #[must_use]
    pub fn regions(plan: &Plan) -> Option<Self> {
        let on_lines: usize =
            plan.flows.iter().map(|flow| flow.path.forward().len() + flow.path.backward().len()).sum();
        if on_lines < FLOWS_ON_LINES || !plan.sessions.is_empty() || !plan.changes.is_empty() {
            return None;
        }
        let (rates, nodes) = (rates(plan), Nodes::new(plan));
        for least in least_delays(plan) {
            let (group_of, groups) = nodes.without(plan, least).groups();
            if groups > GROUPS_MAX {
                break;
            }
            let load = Load::new(plan, &rates, &group_of, groups);
            let heaviest = load.at.iter().copied().fold(0.0, f64::max);
            if heaviest > load.total * HEAVIEST {
                continue;
            }
            // With shorter delays there is less to do in a turn.
            let busy = load.at.iter().filter(|load| **load > 0.0).count();
            let parts = busy.min((load.total * least.as_s() / TURN) as usize).min(REGIONS_MAX);
            if parts < REGIONS_MIN {
                return None;
            }
            let part_of = if parts == busy { load.one_each() } else { load.deal(parts) };
            return Some(Self::of_groups(plan, &group_of, &part_of, parts));
        }
        None
    }

    /// `plan` in `parts` parts: `group_of` gives the group of each end of a line, `part_of` the
    /// part of each group.
    fn of_groups(plan: &Plan, group_of: &[usize], part_of: &[usize], parts: usize) -> Self {
        let part = |end: u32| part_of[group_of[end as usize]] as u32;
        let lines = 0..plan.lines.len() as u32;
        let tails: Vec<u32> = lines.clone().map(|line| part(tail(line))).collect();
        let heads: Vec<u32> = lines.map(|line| part(head(line))).collect();
        let source = |flow: &FlowPlan| flow.path.forward().first().map_or(0, |line| tails[*line as usize]);
        let sources = plan.flows.iter().map(source).collect();
        let mut lookahead = vec![Time::NEVER; parts * parts];
        for (line, (tail, head)) in plan.lines.iter().zip(tails.iter().zip(&heads)) {
            let between = &mut lookahead[*head as usize * parts + *tail as usize];
            if tail != head {
                *between = (*between).min(line.delay);
            }
        }
        Self { parts, tails, heads, sources, lookahead }
    }

    /// The time before which nothing that others have not done yet reaches `part`, if each other
    /// part has done all before its `clock`.
    #[must_use]
    pub fn bound(&self, part: usize, clock: impl Fn(usize) -> Time) -> Time {
        let lookahead = self.lookahead[part * self.parts..].iter().take(self.parts).enumerate();
        let bounds = lookahead.map(|(other, lookahead)| clock(other).saturating_add(*lookahead));
        bounds.min().unwrap_or(Time::NEVER)
    }

    /// Whether `line` leads from one part to another.
    #[must_use]
    pub fn is_cut(&self, line: usize) -> bool {
        self.tails[line] != self.heads[line]
    }
}

#[cfg(test)]
impl Partition {
    /// Parts in a row, with these delays between neighbours.
    pub(crate) fn row(delays: &[Time]) -> Self {
        let parts = delays.len() + 1;
        let mut lookahead = vec![Time::NEVER; parts * parts];
        for (one, delay) in delays.iter().enumerate() {
            lookahead[one * parts + one + 1] = *delay;
            lookahead[(one + 1) * parts + one] = *delay;
        }
        Self { parts, tails: Vec::new(), heads: Vec::new(), sources: Vec::new(), lookahead }
    }
}

/// Packets a second of each flow, if each line were shared evenly.
fn rates(plan: &Plan) -> Vec<f64> {
    let mut users = vec![0.0_f64; plan.lines.len()];
    for flow in &plan.flows {
        flow.path.forward().iter().for_each(|line| users[*line as usize] += 1.0);
    }
    let share = |line: &u32| {
        let rate = plan.lines[*line as usize].rate?;
        Some(rate.bit_per_s() as f64 / users[*line as usize])
    };
    let rate = |flow: &FlowPlan| {
        let least = flow.path.forward().iter().filter_map(share).fold(f64::INFINITY, f64::min);
        let bits = flow.entry.traffic.packet().map_or(8000.0, |packet| packet.0 as f64 * 8.0);
        if least.is_finite() { least / bits } else { 1.0 }
    };
    plan.flows.iter().map(rate).collect()
}

/// Least delays of lines between parts that are worth a try, the greatest first.
fn least_delays(plan: &Plan) -> Vec<Time> {
    // Even idle parts advance by only one delay after the other.
    let shortest = Time(((plan.warm_up.saturating_add(plan.duration).0) / EXCHANGES_MAX).max(1));
    let mut delays: Vec<Time> = plan.lines.iter().map(|line| line.delay).filter(|delay| *delay >= shortest).collect();
    delays.sort_unstable_by(|a, b| b.cmp(a));
    delays.dedup();
    let step = delays.len().div_ceil(CANDIDATES).max(1);
    // The last of each step, so that all longer ones may be cut as well.
    delays.chunks(step).filter_map(|chunk| chunk.last().copied()).collect()
}

/// Ends of lines in groups that stay in one part (union-find). Line `n` leaves number `2n` and
/// leads to number `2n + 1`.
#[derive(Clone)]
struct Nodes(Vec<u32>);

impl Nodes {
    /// Joins the ends at each node, and the nodes that affect each other without delay.
    fn new(plan: &Plan) -> Self {
        let mut nodes = Self((0..2 * plan.lines.len() as u32).collect());
        for flow in &plan.flows {
            let (forward, backward) = (flow.path.forward(), flow.path.backward());
            for way in [forward, backward] {
                way.windows(2).for_each(|pair| nodes.join(head(pair[0]), tail(pair[1])));
            }
            for (last, first) in [(forward.last(), backward.first()), (backward.last(), forward.first())] {
                if let (Some(last), Some(first)) = (last, first) {
                    nodes.join(head(*last), tail(*first));
                }
            }
        }
        let mut of_pool: Vec<Option<u32>> = vec![None; plan.pools.len()];
        for (number, line) in (0..).zip(&plan.lines) {
            // The two directions of a link differ in the last bit of their numbers.
            nodes.join(tail(number), head(number ^ 1));
            if line.delay == Time::ZERO || !line.impairment.is_none() {
                nodes.join(tail(number), head(number));
            }
            if let Some(pool) = line.pool {
                let first = *of_pool[pool as usize].get_or_insert(number);
                nodes.join(tail(first), tail(number));
            }
        }
        // The source of transfers learns at once when each transfer ends.
        for transfers in &plan.transfers {
            let mut sources = (transfers.first..transfers.first + transfers.count)
                .filter_map(|flow| plan.flows[flow as usize].path.forward().first().copied());
            if let Some(first) = sources.next() {
                sources.for_each(|line| nodes.join(tail(first), tail(line)));
            }
        }
        nodes
    }

    /// Joins the ends of lines with a delay below `least` as well.
    fn without(&self, plan: &Plan, least: Time) -> Self {
        let mut nodes = self.clone();
        for (number, line) in (0..).zip(&plan.lines) {
            if line.delay < least {
                nodes.join(tail(number), head(number));
            }
        }
        nodes
    }

    fn find(&mut self, mut end: u32) -> u32 {
        while self.0[end as usize] != end {
            let above = self.0[self.0[end as usize] as usize];
            self.0[end as usize] = above;
            end = above;
        }
        end
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// The groups assigned to `parts` parts, with the estimated speedup. `None` if all are one
    /// group.
    fn divide(mut self, plan: &Plan, rates: &[f64], parts: usize, least: Time) -> Option<(f64, Partition)> {
        let (group_of, groups) = self.groups();
        let parts = parts.min(groups);
        if parts < 2 {
            return None;
        }
        let load = Load::new(plan, rates, &group_of, groups);
        let part_of = load.deal(parts);
        let exchange = EXCHANGE / least.as_s();
        let longest = load.of_parts(&part_of, parts).into_iter().fold(0.0, f64::max) + exchange;
        Some((load.total / longest, Partition::of_groups(plan, &group_of, &part_of, parts)))
    }

    /// The group of each end, and how many groups there are.
    fn groups(&mut self) -> (Vec<usize>, usize) {
        let mut numbers = BTreeMap::new();
        let mut group_of = Vec::with_capacity(self.0.len());
        for end in 0..self.0.len() as u32 {
            let root = self.find(end);
            let next = numbers.len();
            group_of.push(*numbers.entry(root).or_insert(next));
        }
        (group_of, numbers.len())
    }
}

const fn tail(line: u32) -> u32 {
    2 * line
}

const fn head(line: u32) -> u32 {
    2 * line + 1
}

/// The work at groups of nodes.
struct Load {
    /// The work at each group.
    at: Vec<f64>,
    /// By group: the packets to each other group.
    between: Vec<BTreeMap<usize, f64>>,
    total: f64,
}

impl Load {
    fn new(plan: &Plan, rates: &[f64], group_of: &[usize], groups: usize) -> Self {
        let mut load = Self { at: vec![0.0; groups], between: vec![BTreeMap::new(); groups], total: 0.0 };
        for (flow, rate) in plan.flows.iter().zip(rates) {
            let (forward, backward) = (flow.path.forward(), flow.path.backward());
            for line in forward.iter().chain(backward) {
                let [from, to] = [tail(*line), head(*line)].map(|end| group_of[end as usize]);
                load.at[from] += rate;
                if from != to {
                    *load.between[from].entry(to).or_default() += rate;
                    *load.between[to].entry(from).or_default() += rate;
                }
            }
            for (way, cost) in [(forward, AT_SOURCE), (backward, AT_SINK)] {
                if let Some(line) = way.first() {
                    load.at[group_of[tail(*line) as usize]] += rate * cost;
                }
            }
        }
        load.total = load.at.iter().sum();
        load
    }

    /// The work of each part.
    fn of_parts(&self, part_of: &[usize], parts: usize) -> Vec<f64> {
        let mut loads = vec![0.0; parts];
        for (group, part) in part_of.iter().enumerate() {
            let over = self.between[group].iter().filter(|(other, _)| part_of[**other] != *part);
            loads[*part] += self.at[group] + over.map(|(_, packets)| packets * AT_BORDER).sum::<f64>();
        }
        loads
    }

    /// A part of its own for each group with work; the others are in the first.
    fn one_each(&self) -> Vec<usize> {
        let mut parts = 0;
        let of = |load: &f64| {
            let is_busy = *load > 0.0;
            parts += usize::from(is_busy);
            if is_busy { parts - 1 } else { 0 }
        };
        self.at.iter().map(of).collect()
    }

    /// A part for each group: the heaviest group first, each where it makes the heaviest part least
    /// heavy. Then groups are moved again while that helps.
    fn deal(&self, parts: usize) -> Vec<usize> {
        const PASSES: usize = 8;
        let mut order: Vec<usize> = (0..self.at.len()).collect();
        order.sort_by(|a, b| self.at[*b].total_cmp(&self.at[*a]).then(a.cmp(b)));
        let mut deal = Deal { load: self, part_of: vec![None; self.at.len()], loads: vec![0.0; parts] };
        for pass in 0..PASSES {
            let mut moved = false;
            for group in &order {
                moved |= deal.place(*group);
            }
            if pass > 0 && !moved {
                break;
            }
        }
        deal.part_of.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// An assignment in progress.
struct Deal<'a> {
    load: &'a Load,
    part_of: Vec<Option<usize>>,
    loads: Vec<f64>,
}

impl Deal<'_> {
    /// Puts `group` where the heaviest part is least heavy; of several such parts, where the total
    /// work is least. Returns whether the part of `group` changed.
    fn place(&mut self, group: usize) -> bool {
        let before = self.part_of[group].take();
        if let Some(part) = before {
            self.add(group, part, -1.0);
        }
        let mut best: Option<((f64, f64), usize)> = None;
        for part in 0..self.loads.len() {
            self.add(group, part, 1.0);
            let found = (self.loads.iter().copied().fold(0.0, f64::max), self.loads.iter().sum::<f64>());
            self.add(group, part, -1.0);
            if best.is_none_or(|(least, _)| found < least) {
                best = Some((found, part));
            }
        }
        let part = best.map_or(0, |(_, part)| part);
        self.add(group, part, 1.0);
        self.part_of[group] = Some(part);
        before != Some(part)
    }

    /// Adds the work of `group` in `part` to the parts' work, or subtracts it, by `sign`.
    fn add(&mut self, group: usize, part: usize, sign: f64) {
        self.loads[part] += sign * self.load.at[group];
        for (other, packets) in &self.load.between[group] {
            if let Some(there) = self.part_of[*other].filter(|there| *there != part) {
                self.loads[there] += sign * packets * AT_BORDER;
                self.loads[part] += sign * packets * AT_BORDER;
            }
        }
    }
}
