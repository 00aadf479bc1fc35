//! What changes while a run goes on.

use super::Reorder;
use crate::values::{ChangedRate, LossForm, TextForm};
use fairq_sched::queue::Queue;
use fairq_sched::units::{Limit, Time, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link or a flow changes while the run goes on. A change names a `link` with what changes of it,
/// or a `flow` with its `weight`; it comes before all else that happens at its time. Changes of one
/// time are made in the order in which they stand, after the `rates` of links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When, from the start of the run.
    #[schemars(extend("examples" = ["10 s"]))]
    pub at: Time,
    /// The link that changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["bottleneck"]))]
    pub link: Option<String>,
    /// The one direction of the link that changes; by default both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["forward"]))]
    pub direction: Option<Way>,
    /// Its rate from then on. At `0 bit/s` it sends nothing, and the rest of the packet that is
    /// being sent follows when there is a rate again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<ChangedRate>,
    /// Whether it is up. The packet that is being sent when it goes down is lost (reason `down`),
    /// those in flight arrive, and the others wait, up to the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [false]))]
    pub up: Option<bool>,
    /// The propagation delay of what is sent from then on. No packet overtakes one in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["40 ms"]))]
    pub delay: Option<Time>,
    /// The losses on the way, as in `links`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossForm>,
    /// The greatest extra delay of a packet, as in `links`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["2 ms"]))]
    pub jitter: Option<Time>,
    /// Packets that are reordered, as in `links`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// Another discipline. Packets that wait are offered to it in the order of their arrival; those
    /// that it refuses are dropped. Without a limit it has that of the queue before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<TextForm<Queue>>,
    /// The limit of the queue. Packets beyond it stay until they are sent, or until an arrival
    /// makes the buffer policy push them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["50 packets"]))]
    pub limit: Option<Limit>,
    /// The flow whose weight changes, each of its copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["bulk"]))]
    pub flow: Option<String>,
    /// Its weight, on every line of its path whose discipline goes by weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [2]))]
    pub weight: Option<Weight>,
}

/// A direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// From `from` to `to`.
    Forward,
    /// From `to` to `from`.
    Reverse,
}

/// The rate of a link from a time on, as `["10 s", "5 Mbit/s"]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateAt(pub Time, pub ChangedRate);
