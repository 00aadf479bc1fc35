//! What a session is planned to be, before it runs.

use super::registry::ControlSettings;
use super::source;
use super::tree::Shape;
use crate::net::path::{Ends, Path};
use fairq_sched::units::{Bytes, Rate, Time};

/// A receiver.
#[derive(Clone, Debug)]
pub struct ReceiverPlan {
    /// Its name.
    pub name: String,
    /// The name of its node.
    pub node: String,
    /// The place of its node in the tree.
    pub place: usize,
    /// How it chooses its layers.
    pub control: ControlSettings,
    /// When it starts.
    pub start: Time,
    /// When it leaves, if it leaves.
    pub stop: Option<Time>,
    /// How long its router goes on sending a layer that it left.
    pub leave_latency: Time,
    /// The number of layers that it should reach.
    pub target: Option<u32>,
}

/// A session.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    /// Its name.
    pub name: String,
    /// The rate of each layer.
    pub rates: Vec<Rate>,
    /// Bytes of a packet.
    pub packet: Bytes,
    /// How the source sends.
    pub source: source::Settings,
    /// When it starts.
    pub start: Time,
    /// When it stops, if it stops.
    pub stop: Option<Time>,
    /// Its tree.
    pub shape: Shape,
    /// Its receivers.
    pub receivers: Vec<ReceiverPlan>,
    /// The nodes of its source and its group.
    pub ends: Ends,
}

impl SessionPlan {
    /// The paths of its branches, each of one line. All have the same ends: to gateways a session
    /// is one flow.
    pub fn paths(&self) -> impl Iterator<Item = Path> + '_ {
        let path = |line| Path::new(&[line], &[], self.ends);
        self.shape.branches.iter().map(move |branch| path(branch.line))
    }
}
