//! A network that can run: lines with their disciplines, flows with their paths, in types and without a scenario's text.

pub mod ideal;

use self::ideal::Ideal;
use crate::engine::random;
use crate::multicast::plan::SessionPlan;
use crate::net::impairment::Impairment;
use crate::net::line::Line;
use crate::net::path::Path;
use crate::net::pools::Pools;
use crate::net::route::Ends;
use crate::segment::Direction;
use crate::traffic::registry::TrafficSettings;
use crate::transport::registry::TransportSettings;
use crate::transport::tcp::settings::Terms;
use fairq_link::trace::DeliveryTrace;
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
    /// Whether it belongs to a flow alone.
    pub is_access: bool,
    /// Its rate, that of its trace in the mean; nothing if unlimited.
    pub rate: Option<Rate>,
    /// The delivery trace that it follows.
    pub trace: Option<Arc<DeliveryTrace>>,
    /// Its delay.
    pub delay: Time,
    /// What goes wrong on it.
    pub impairment: Impairment,
    /// Its discipline.
    pub queue: Arc<Queue>,
    /// Whether the scenario says how much may wait there.
    pub names_limit: bool,
    /// How many packets its device takes from that while another is sent.
    pub ring: u32,
    /// Where the scenario says its discipline.
    pub queue_said: Arc<str>,
    /// Bytes that its link layer adds to every packet.
    pub link_header: u8,
    /// The role of the node that it leaves.
    pub role: Role,
    /// The number of the pool that it shares, if it does.
    pub pool: Option<u32>,
    /// The nodes that it joins.
    pub ends: Ends,
    /// What it adds to a path's length under routing by weight.
    pub weight: Weight,
}

impl LinePlan {
    /// Whether its discipline may interrupt a transmission.
    #[must_use]
    pub fn interrupts(&self) -> bool {
        self.rate.is_some_and(|rate| self.queue.build(&contract::Line::new(rate)).can_preempt())
    }

    /// Which of the link's two directions it is, by name.
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
    /// The greatest time that the host of its source takes before it sends; zero is none.
    pub processing: Time,
    /// Whether its packets tell what remains of their transfer, since a line on the way goes by that.
    pub tells_remaining: bool,
    /// What it has from the scenario's entry, of which one may stand for several flows.
    pub entry: Arc<EntryPlan>,
}

/// What the flows of one entry of the scenario share.
#[derive(Clone, Debug)]
pub struct EntryPlan {
    /// Its number among the scenario's entries.
    pub number: usize,
    /// Where its flows start and end, by name.
    pub nodes: [Arc<str>; 2],
    /// What they send.
    pub traffic: TrafficSettings,
    /// How.
    pub transport: Arc<TransportSettings>,
    /// How losses are found and mended, and when is answered.
    pub connection: Arc<Terms>,
    /// When they start; `None` is uniform in the first second, from the random stream of each.
    pub start: Option<Time>,
    /// When they stop, if they do.
    pub stop: Option<Time>,
    /// The weight of each.
    pub weight: Weight,
    /// Their class, if they name one.
    pub class: Option<String>,
    /// How long after its release a packet is due, if it is.
    pub deadline: Option<Time>,
    /// Bytes of an acknowledgement.
    pub acknowledgement: u32,
}

/// The transfers of a flow's copies.
#[derive(Clone, Debug)]
pub struct TransfersPlan {
    /// The flow's name, without a copy's number.
    pub name: String,
    /// The number of the first copy.
    pub first: u32,
    /// How many copies.
    pub count: u32,
    /// Bytes of a packet.
    pub packet: Bytes,
    /// How long they take at least.
    pub ideal: Ideal,
}

/// A scenario at one point of its axes, ready to be run with any seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Lines; both directions of a link next to each other.
    pub lines: Vec<LinePlan>,
    /// Flows, in the order of the scenario.
    pub flows: Vec<FlowPlan>,
    /// The flows whose traffic is transfers.
    pub transfers: Vec<TransfersPlan>,
    /// Sessions, in the order of the scenario.
    pub sessions: Vec<SessionPlan>,
    /// Buffers that lines share.
    pub pools: Vec<PoolPlan>,
    /// What is left out at the beginning.
    pub warm_up: Time,
    /// What is measured.
    pub duration: Time,
    /// Whether tables tell what is lost on the way: if packets may be.
    pub counts_lost: bool,
    /// What there is to know of the topology, a line each.
    pub of_topology: Vec<String>,
}

impl Plan {
    /// The lines with their queues, for a run with `seed`.
    #[must_use]
    pub fn lines(&self, seed: u64) -> Vec<Line> {
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
        let mut build = |(at, plan): (usize, &LinePlan)| {
            let name = format!("{}/{}", plan.name, plan.direction());
            // A line without a rate never queues; any rate will do.
            let line = contract::Line {
                seed: random::key(seed, &format!("{name}/queue")),
                weights: std::mem::take(&mut weights[at]),
                classes: std::mem::take(&mut classes[at]),
                role: plan.role,
                ..contract::Line::new(plan.rate.unwrap_or(Rate::MAX))
            };
            let mut line = Line::new(plan.rate, plan.delay, plan.queue.build(&line));
            line.take_ahead(plan.ring);
            line.frame(plan.link_header);
            if let Some(trace) = &plan.trace {
                line.follow(trace);
            }
            line.impair(plan.impairment, seed, &name);
            line
        };
        self.lines.iter().enumerate().map(&mut build).collect()
    }

    /// The buffers that lines share, empty.
    #[must_use]
    pub fn pools(&self) -> Pools {
        let pools = self.pools.iter().map(PoolPlan::build).collect();
        Pools::new(pools, self.lines.iter().map(|line| line.pool).collect())
    }
}

/// A buffer that the lines which leave a node share.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    /// How much of it each line may have.
    pub policy: BufferSettings,
    /// What all lines may have together.
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
