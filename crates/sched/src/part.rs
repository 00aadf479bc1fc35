//! What the settings of a part say of it before it is built.

use crate::class_tree::{Place, leaf_names};
use crate::facts::{Facts, Need};
use crate::pool::Sharing;
use crate::promise::{Load, Measure};
use crate::queue::Queue;
use crate::registry::ClassifierSettings;
use crate::units::{Bytes, Limit, Rate};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Implemented by the settings of every part; most need nothing of it.
pub trait Part {
    /// Why these settings make no sense, or do not fit into `queue`: one line that names the
    /// setting and says what to write instead.
    fn fault(&self, _queue: &Queue) -> Option<String> {
        None
    }

    /// Settings beside the default that take other paths: the tests of the registry and the audit
    /// run over them too.
    fn variants() -> Vec<Self>
    where
        Self: Sized,
    {
        Vec::new()
    }

    /// Of a scheduler or a whole design: the bound that its card claims for `measure` under `load`,
    /// if it claims one.
    fn promise(&self, _measure: Measure, _load: &Load<'_>) -> Option<f64> {
        None
    }

    /// What it is: the questions below as one value.
    fn facts(&self) -> Facts {
        Facts::of_tree(&self.places())
    }

    /// What it needs of packets that not every driver tells: where nothing tells it, the part does
    /// not do what its card says.
    fn needs(&self) -> &'static [Need] {
        needs_of(&self.places())
    }

    /// Whether what it does hangs on a packet's flow, as the classifier tells it.
    fn tells_flows_apart(&self) -> bool {
        self.places().is_empty()
    }

    /// Whether the weights of flows matter to it.
    fn goes_by_weights(&self) -> bool {
        false
    }

    /// Whether it may give packets that accept it the mark CE, *congestion experienced*.
    fn marks_congestion(&self) -> bool {
        false
    }

    /// Of a scheduler: whether every flow waits in a queue of its own. Longest-queue drop is then
    /// the default.
    fn has_queue_per_flow(&self) -> bool {
        self.places().is_empty()
    }

    /// Of a scheduler: whether the tags that it gives packets are the order in which they leave, so
    /// that the packet of the greatest tag is the one that matters least.
    fn ranks_packets(&self) -> bool {
        false
    }

    /// Of a scheduler: whether it can share among the classes of a tree. It names a queue whenever
    /// one holds a packet, does not look into the store, interrupts nothing, and may be told that
    /// the queue it named last was sent though others have packets by then.
    fn fits_inner_nodes(&self) -> bool {
        false
    }

    /// Of a scheduler of a tree of classes: the places in it, from which follow what it needs, that
    /// it tells no flows apart, and the names of its classes.
    fn places(&self) -> Vec<Place<'_>> {
        Vec::new()
    }

    /// Of a scheduler that knows classes: their names, by which flows choose one.
    fn classes(&self) -> Option<Vec<&str>> {
        let places = self.places();
        (!places.is_empty()).then(|| leaf_names(&places))
    }

    /// Of a scheduler that guarantees rates: which of them exceed together what a line of `_line`
    /// has for them, and what follows.
    fn oversubscribed(&self, _line: Rate) -> Option<String> {
        None
    }

    /// Of a scheduler or design: whether it sends packets at the pace of their connection, so that
    /// on a host it paces TCP (Linux: sch_fq.c `fq_dequeue`, `sk_pacing_rate`).
    fn paces(&self) -> bool {
        false
    }

    /// Of a buffer policy: whether it acts before the buffer is full and leaves the full one to
    /// another policy.
    fn leaves_overflow(&self) -> bool {
        false
    }

    /// Of a buffer policy: whether it does nothing but deal with a full buffer, so that it can
    /// stand beside one that acts before.
    fn deals_with_overflow(&self) -> bool {
        false
    }

    /// Of a buffer policy: whether it judges a queue by its length, or by what waits behind a
    /// packet.
    fn looks_at_queues(&self) -> bool {
        false
    }

    /// Of a policer: the longest packet that ever passes it before a line of `_line`.
    fn longest_passed(&self, _line: Rate) -> Option<Bytes> {
        None
    }

    /// Of a classifier: whether no two hosts' flows to one destination, nor those of one host to
    /// two, share a queue.
    fn keeps_conversations_apart(&self) -> bool {
        false
    }

    /// Of a scheduler: whether every packet waits in a queue of its own.
    fn has_queue_per_packet(&self) -> bool {
        false
    }

    /// Of a whole design: how much may wait where the queue says nothing.
    fn own_limit(&self) -> Limit {
        Limit::Unlimited
    }

    /// Of a whole design: how many parts of it may each hold what a limit in packets says.
    fn parts_with_limit(&self) -> u64 {
        1
    }

    /// Of a whole design: bytes that may wait at most, beside the limit.
    fn memory(&self) -> Option<Bytes> {
        None
    }

    /// Of a buffer policy or a whole design: the classifier that it is made for, if it is not the
    /// default.
    fn default_classifier(&self) -> Option<ClassifierSettings> {
        None
    }

    /// Of a buffer policy that can rule a buffer which several lines share: that rule.
    fn sharing(&self) -> Option<Box<dyn Sharing>> {
        None
    }
}

/// What a scheduler of `places` needs of packets: their flows' classes, if there are several leaves
/// and none lists a code point.
fn needs_of(places: &[Place<'_>]) -> &'static [Need] {
    let is_told = places.iter().any(|place| !place.dscp.is_empty()) || leaf_names(places).len() < 2;
    if is_told { &[] } else { &[Need::Class] }
}

/// What is always so, or never, as methods of the trait that is implemented.
macro_rules! answers {
    ($($fact:ident = $value:literal),+ $(,)?) => {
        $(fn $fact(&self) -> bool { $value })+
    };
}
pub(crate) use answers;

/// The `Settings` of a part in which nothing can be set, with what documentation and schema say.
macro_rules! no_settings {
    ($text:literal) => {
        #[doc = $text]
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
        pub struct Settings {}
    };
}
pub(crate) use no_settings;
