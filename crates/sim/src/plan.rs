//! A network that can run: lines with their disciplines, flows with their paths, in types and without a scenario's text.

pub mod ideal;

use self::ideal::Ideal;
use crate::changes::{Intervention, Planned, What};
use crate::multicast::plan::SessionPlan;
use crate::net::change::Built;
use crate::net::line::{self, Line};
use crate::net::path::Path;
use crate::net::pools::Pools;
use crate::net::route::Ends;
use crate::net::varying::Course;
use crate::segment::Direction;
use crate::traffic::registry::TrafficSettings;
use crate::transport::registry::TransportSettings;
use crate::transport::tcp::settings::Terms;
use fairq_link::impairment::Impairment;
use fairq_link::random;
use fairq_sched::contract::{self, Role};
use fairq_sched::packet::Header;
use fairq_sched::pool::Pool;
use fairq_sched::queue::Queue;
use fairq_sched::registry::BufferSettings;
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use std::sync::Arc;

/// The bytes of a file that a flow reads, by its name in the scenario.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// One direction of a link, or of an access line.
#[derive(Clone, Debug)]
pub struct LinePlan {
    /// The link's name.
    pub name: Arc<str>,
    /// Whether it leads from the link's `to` end to its `from` end.
    pub is_reverse: bool,
    /// Whether it belongs to a flow only.
    pub is_access: bool,
    /// Its rate, or the nominal one if it changes; `None` if unlimited.
    pub rate: Option<Rate>,
    /// What its rate follows, if it changes.
    pub course: Option<Course>,
    /// Its delay.
    pub delay: Time,
    /// Its impairments.
    pub impairment: Impairment,
    /// Its discipline.
    pub queue: Arc<Queue>,
    /// Whether the scenario names its limit.
    pub names_limit: bool,
    /// The number of packets that its device takes from the discipline while another is sent.
    pub ring: u32,
    /// The place in the scenario that names its discipline.
    pub queue_said: Arc<str>,
    /// Bytes that its link layer adds to every packet.
    pub link_header: u8,
    /// The role of the node that it leaves.
    pub role: Role,
    /// The number of the pool that it shares, if it shares one.
    pub pool: Option<u32>,
    /// The nodes that it joins.
    pub ends: Ends,
    /// The length that it adds to a path under routing by weight.
    pub weight: Weight,
}

impl LinePlan {
    /// Whether its discipline may interrupt a transmission.
    #[must_use]
    pub fn interrupts(&self) -> bool {
        self.rate.is_some_and(|rate| self.queue.build(&contract::Line::new(rate)).traits().preempts)
    }

    /// How long a packet waits behind a full queue of packets of `packet` bytes; zero without a
    /// rate or a limit.
    #[must_use]
    pub fn longest_wait(&self, packet: u64) -> Time {
        let bytes = match self.queue.bound() {
            Limit::Packets(packets) => packets.saturating_mul(packet),
            Limit::Bytes(bytes) => bytes,
            Limit::Unlimited => 0,
        };
        self.rate.map_or(Time::ZERO, |rate| rate.time_of_bits(bytes.saturating_mul(8)))
    }

    /// Its name and that of its direction.
    fn full_name(&self) -> String {
        format!("{}/{}", self.name, self.direction())
    }

    /// The name of its direction.
    #[must_use]
    pub const fn direction(&self) -> &'static str {
        if self.is_reverse { "reverse" } else { "forward" }
    }
}

/// A flow with its path.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name.
    pub name: Arc<str>,
    /// Its path.
    pub path: Path,
    /// The greatest time that the host of its source takes before it sends; zero if none.
    pub processing: Time,
    /// Whether its packets carry the rest of their transfer, because a line on its path uses that.
    pub tells_remaining: bool,
    /// Its entry in the scenario, which may be that of several flows.
    pub entry: Arc<EntryPlan>,
}

/// The common part of all flows of one entry of the scenario.
#[derive(Clone, Debug)]
pub struct EntryPlan {
    /// Its number among the scenario's entries.
    pub number: usize,
    /// The names of the nodes of its source and its sink.
    pub nodes: [Arc<str>; 2],
    /// Their traffic.
    pub traffic: TrafficSettings,
    /// Their transport.
    pub transport: Arc<TransportSettings>,
    /// How losses are found and repaired, and when packets are acknowledged.
    pub connection: Arc<Terms>,
    /// When they start; `None` is uniform within `start_within`, from the random stream of each.
    pub start: Option<Time>,
    /// Within which time a random start is.
    pub start_within: Time,
    /// When they stop, if they do.
    pub stop: Option<Time>,
    /// The weight of each.
    pub weight: Weight,
    /// Their class, if they have one.
    pub class: Option<String>,
    /// The time from release to deadline, if they have a deadline.
    pub deadline: Option<Time>,
    /// Bytes of an acknowledgement.
    pub acknowledgement: u32,
}

impl EntryPlan {
    /// The latest time at which they may start.
    #[must_use]
    pub fn latest_start(&self) -> Time {
        self.start.unwrap_or(self.start_within)
    }
}

/// The transfers of a flow's copies.
#[derive(Clone, Debug)]
pub struct TransfersPlan {
    /// The flow's name, without a copy's number.
    pub name: String,
    /// The number of the first copy.
    pub first: u32,
    /// The number of copies.
    pub count: u32,
    /// Bytes of a packet.
    pub packet: Bytes,
    /// The least time of a transfer.
    pub ideal: Ideal,
}

/// A scenario at one point of its axes, ready to be run with any seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The names of the nodes that links join, by their numbers.
    pub nodes: Vec<Arc<str>>,
    /// Lines; the two directions of a link have consecutive numbers.
    pub lines: Vec<LinePlan>,
    /// Flows, in the order of the scenario.
    pub flows: Vec<FlowPlan>,
    /// The groups of flows whose traffic is transfers.
    pub transfers: Vec<TransfersPlan>,
    /// Sessions, in the order of the scenario.
    pub sessions: Vec<SessionPlan>,
    /// Buffers that lines share.
    pub pools: Vec<PoolPlan>,
    /// What changes while it runs, in the order of time.
    pub changes: Vec<Planned>,
    /// By line, whether it may change by hand while it runs (`live.rs`); empty: none may.
    pub is_held: Vec<bool>,
    /// The time at the beginning that is not measured.
    pub warm_up: Time,
    /// The time that is measured.
    pub duration: Time,
    /// Whether tables count packets lost on the way: whether any may be.
    pub counts_lost: bool,
    /// Notes on the topology, a line each.
    pub of_topology: Vec<String>,
}

impl Plan {
    /// What the discipline of each line is told of it, in a run with `seed`.
    fn told(&self, seed: u64) -> Vec<contract::Line> {
        let mut weights: Vec<Vec<(Header, Weight)>> = vec![Vec::new(); self.lines.len()];
        for flow in self.flows.iter().filter(|flow| flow.entry.weight != Weight::ONE) {
            for line in flow.path.forward() {
                weights[*line as usize].push((flow.path.header(Direction::Forward), flow.entry.weight));
            }
        }
        let mut classes: Vec<Vec<(Header, String)>> = vec![Vec::new(); self.lines.len()];
        for flow in &self.flows {
            let Some(class) = &flow.entry.class else { continue };
            for line in flow.path.forward() {
                classes[*line as usize].push((flow.path.header(Direction::Forward), class.clone()));
            }
        }
        let is_held = self.is_held.iter().copied().chain(core::iter::repeat(false));
        let of = |(((plan, weights), classes), is_held): (((&LinePlan, _), _), bool)| contract::Line {
            seed: random::key(seed, &format!("{}/queue", plan.full_name())),
            weights,
            classes,
            role: plan.role,
            explains: is_held,
            // A line without a rate never queues; any rate will do.
            ..contract::Line::new(plan.rate.unwrap_or(Rate::MAX))
        };
        self.lines.iter().zip(weights).zip(classes).zip(is_held).map(of).collect()
    }

    /// The lines with their queues, for a run with `seed`.
    #[must_use]
    pub fn lines(&self, seed: u64) -> Vec<Line> {
        let mut changes = self.is_held.clone();
        changes.resize(self.lines.len(), false);
        self.changes.iter().for_each(|planned| changes[planned.change.line as usize] = true);
        let build = |((plan, told), changes): ((&LinePlan, contract::Line), bool)| {
            let name = plan.full_name();
            let settings = line::Settings {
                name: &name,
                seed,
                rate: plan.rate,
                course: plan.course.as_ref(),
                delay: plan.delay,
                ring: plan.ring,
                header: plan.link_header,
                impairment: plan.impairment,
                changes,
            };
            Line::new(&settings, plan.queue.build(&told))
        };
        self.lines.iter().zip(self.told(seed)).zip(changes).map(build).collect()
    }

    /// What changes in a run with `seed`, in the order of time, with the disciplines that are put
    /// in the place of others.
    pub(crate) fn interventions(&self, seed: u64) -> Vec<(Time, Intervention<Built>)> {
        if self.changes.is_empty() {
            return Vec::new();
        }
        let told = self.told(seed);
        let of = |Planned { at, change }: &Planned| (*at, with_built(change, &told[change.line as usize]));
        self.changes.iter().map(of).collect()
    }

    /// The same of a change that the plan has not.
    pub(crate) fn built(&self, change: &Intervention, seed: u64) -> Intervention<Built> {
        with_built(change, &self.told(seed)[change.line as usize])
    }

    /// Whether the rate of the line of this number changes while it runs.
    #[must_use]
    pub fn changes_rate(&self, line: usize) -> bool {
        let changes = |planned: &Planned| {
            planned.change.line as usize == line && matches!(planned.change.what, What::Rate(_) | What::Up(_))
        };
        self.lines[line].course.is_some() || self.changes.iter().any(changes)
    }

    /// The empty buffers that lines share.
    #[must_use]
    pub fn pools(&self) -> Pools {
        let pools = self.pools.iter().map(PoolPlan::build).collect();
        Pools::new(pools, self.lines.iter().map(|line| line.pool).collect())
    }
}

/// The change with the discipline that it puts in the place of another before the line `told`.
fn with_built(change: &Intervention, told: &contract::Line) -> Intervention<Built> {
    Intervention { line: change.line, what: change.what.with(|queue| queue.build(told)) }
}

/// A buffer that the lines which leave a node share.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    /// The part of it that each line may have.
    pub policy: BufferSettings,
    /// The room of all lines together.
    pub size: Limit,
}

impl PoolPlan {
    /// The empty buffer.
    #[must_use]
    pub fn build(&self) -> Pool {
        let Some(sharing) = self.policy.part().sharing() else { unreachable!("the plan was checked") };
        Pool::new(self.size, sharing)
    }
}
