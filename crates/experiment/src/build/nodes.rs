//! The nodes of a scenario: their roles, and the buffers that their lines share.

use crate::scenario::{Pool, Scenario};
use fairq_sched::contract::Role;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings};
use fairq_sched::units::Limit;
use fairq_sim::plan::{LinePlan, PoolPlan};
use fairq_text::{Fault, near_miss};

/// The nodes of a scenario, as its links are read.
pub(super) struct Nodes<'a> {
    scenario: &'a Scenario,
}

impl<'a> Nodes<'a> {
    pub(super) const fn new(scenario: &'a Scenario) -> Self {
        Self { scenario }
    }

    /// The role of the node called `name`.
    pub(super) fn role(&self, name: &str) -> Role {
        self.scenario.nodes.iter().find(|node| node.name == name).map_or(Role::Both, |node| node.role)
    }

    /// The number of the pool of the node called `name`.
    pub(super) fn pool(&self, name: &str) -> Option<u32> {
        self.scenario.pools.iter().position(|pool| pool.node == name).map(|at| at as u32)
    }

    /// Checks the settings of nodes and pools; `names` are those of all nodes.
    pub(super) fn check(&self, names: &[String], lines: &[LinePlan]) -> Result<Vec<PoolPlan>, Fault> {
        let known = |name: &str, path: String| {
            let names = || names.iter().map(String::as_str);
            let message = || format!("no link leads to a node called {name}{}", near_miss(name, names()));
            if names().any(|node| node == name) { Ok(()) } else { Err(Fault::new(path, message())) }
        };
        for (at, node) in self.scenario.nodes.iter().enumerate() {
            let path = format!("nodes[{at}].name");
            known(&node.name, path.clone())?;
            if self.scenario.nodes[..at].iter().any(|other| other.name == node.name) {
                return Err(Fault::new(path, format!("the node {} is listed twice", node.name)));
            }
        }
        let mut pools = Vec::new();
        for (at, pool) in self.scenario.pools.iter().enumerate() {
            known(&pool.node, format!("pools[{at}].node"))?;
            pools.push(self.pool_plan(at, pool, lines)?);
        }
        Ok(pools)
    }

    fn pool_plan(&self, at: usize, pool: &Pool, lines: &[LinePlan]) -> Result<PoolPlan, Fault> {
        let fault = |field: &str, message: String| Err(Fault::new(format!("pools[{at}].{field}"), message));
        let others = &self.scenario.pools[..at];
        if pool.name.is_empty() || others.iter().any(|other| other.name == pool.name) {
            return fault("name", format!("`{}` is empty or taken; names are unique", pool.name));
        }
        if let Some(other) = others.iter().find(|other| other.node == pool.node) {
            return fault("node", format!("{} has a pool already, {}; a node has one", pool.node, other.name));
        }
        if pool.size == Limit::Unlimited {
            return fault("size", "a pool has a size; write for example \"64 kB\" or \"40 packets\"".to_string());
        }
        let policy = pool.policy.0.clone();
        if policy.part().sharing().is_none() {
            let shares = |name: &str| BufferSettings::by_name(name).is_some_and(|p| p.part().sharing().is_some());
            let known: Vec<&str> = BUFFER_POLICIES.iter().map(|card| card.name).filter(|name| shares(name)).collect();
            let (name, known) = (policy.name(), known.join(", "));
            return fault("policy", format!("{name} is no policy for lines that share a buffer; there are {known}"));
        }
        if let Some(message) = policy.part().fault(&Queue::unlimited_fifo()) {
            return fault("policy", message);
        }
        let interrupts = |line: &&LinePlan| line.pool == Some(at as u32) && line.interrupts();
        // A packet that is put back would be outside the pool: it has a new handle, which the pool
        // does not know.
        if let Some(line) = lines.iter().find(interrupts) {
            let message = format!("the queue of {} interrupts transmissions, which goes with no pool", line.name);
            return fault("node", message);
        }
        Ok(PoolPlan { policy, size: pool.size })
    }
}
