//! The queue in a leaf of a scheduler that knows classes, as its settings say it.

use crate::class_tree::Place;
use crate::part::Part;
use crate::queue::Queue;
use crate::units::Limit;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A queue in a leaf: in a scenario its text form or its table.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafQueue(pub Box<Queue>);

impl LeafQueue {
    /// That of a leaf that says nothing where another does: a FIFO of Linux's `txqueuelen`.
    #[must_use]
    pub fn usual() -> Self {
        Self(Box::new(Queue { limit: Some(Limit::Packets(1000)), ..Queue::unlimited_fifo() }))
    }
}

/// Whether a leaf names a queue of its own, so that each has one.
#[must_use]
pub fn have_queues(leaves: &[Place<'_>]) -> bool {
    leaves.iter().any(|leaf| leaf.queue.is_some())
}

/// Why the leaves of `scheduler` cannot have the queues that they name.
#[must_use]
pub(crate) fn fault(scheduler: &str, part: &dyn Part) -> Option<String> {
    part.leaves().iter().find_map(|leaf| {
        let queue = &*leaf.queue?.0;
        let of = shown(leaf.name);
        if let Some(fault) = queue.fault().or_else(|| queue.fault_of_limits()) {
            return Some(format!("{scheduler}: {of}{fault}"));
        }
        let part = queue.without_rate()?;
        Some(format!(
            "{scheduler}: {of}{part} goes by the rate of a line, and a leaf has none; write another queue, or its rate where \
             {part} takes one"
        ))
    })
}

/// Which leaf of `scheduler` names a greater limit than `all`, that of all leaves together.
#[must_use]
pub(crate) fn above(scheduler: &str, part: &dyn Part, all: Limit) -> Option<String> {
    part.leaves().iter().find_map(|leaf| {
        let queue = &*leaf.queue?.0;
        let own = queue.limit?;
        let is_above = match (own, all) {
            (Limit::Packets(own), Limit::Packets(all)) | (Limit::Bytes(own), Limit::Bytes(all)) => own > all,
            _ => false,
        };
        let (of, name) = (shown(leaf.name), queue.name());
        is_above.then(|| {
            format!("{scheduler}: {of}{name} may hold {own}, and all leaves together {all}; lower the one or raise the other")
        })
    })
}

/// A leaf in a message.
fn shown(name: &str) -> String {
    if name.is_empty() { "queue: ".to_string() } else { format!("class `{name}`: ") }
}

/// The names of `leaves` as flows choose them: each by itself, and in a leaf that has classes those
/// as `leaf/class`.
pub(crate) fn paths(leaves: &[Place<'_>]) -> Vec<String> {
    let of = |leaf: &Place<'_>| {
        let own = leaf.queue.and_then(|queue| queue.0.classes()).unwrap_or_default();
        if leaf.name.is_empty() {
            return own;
        }
        let below = own.into_iter().map(|class| format!("{}/{class}", leaf.name));
        core::iter::once(leaf.name.to_string()).chain(below).collect()
    };
    leaves.iter().flat_map(of).collect()
}

/// A text form is turned into the table before it is read here.
#[cfg(feature = "schema")]
mod schema {
    use super::LeafQueue;
    use crate::queue::Queue;
    use alloc::borrow::Cow;
    use alloc::boxed::Box;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl Serialize for LeafQueue {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for LeafQueue {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Queue::deserialize(deserializer).map(|queue| Self(Box::new(queue)))
        }
    }

    impl JsonSchema for LeafQueue {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            Cow::Borrowed("LeafQueue")
        }
        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            let table = generator.subschema_for::<Queue>();
            let text = "the text form of a queue, like \"fq_codel\" or \"drr + codel + 100packets\"";
            json_schema!({ "anyOf": [{ "type": "string", "description": text }, table] })
        }
    }
}
