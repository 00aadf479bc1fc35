//! The only list of the kinds of topologies. From a line here follow the name in scenarios and on
//! the command line, the settings' schema and the reference page.

use super::{Context, Graph, chain, dumbbell, fat_tree, file, leaf_spine, parking_lot, star, tiers};
use crate::values::{BufferSize, Spelled, TextForm};
use fairq_sched::card::Card;
use fairq_sched::queue::Queue;

macro_rules! topologies {
    ($($type:ident $module:ident = $name:literal $file:literal;)+) => {
        /// The kind of topology, which gives links and nodes in addition to those that the scenario
        /// lists.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "kind")]
        pub enum TopologySettings {
            $(
                #[doc = concat!("See the card of `", $name, "`.")]
                #[serde(rename = $name)]
                $type($module::Settings),
            )+
        }

        impl TopologySettings {
            /// The name in the registry.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => $name),+ }
            }

            /// The discipline of its links, and the buffer of a link whose discipline names no
            /// limit.
            #[must_use]
            pub fn queue(&self) -> (Option<&TextForm<Queue>>, Option<BufferSize>) {
                match self { $(Self::$type(settings) => (settings.queue.as_ref(), settings.buffer)),+ }
            }

            /// The discipline of its links, if it names one.
            pub const fn queue_mut(&mut self) -> Option<&mut TextForm<Queue>> {
                match self { $(Self::$type(settings) => settings.queue.as_mut()),+ }
            }

            /// Its nodes and links.
            ///
            /// # Errors
            /// Settings without sense, or a fault of the file that it reads.
            pub fn build(&self, context: Context<'_>) -> Result<Graph, String> {
                match self { $(Self::$type(settings) => $module::build(settings, context)),+ }
            }
        }

        /// The cards of the kinds of topologies, sorted by name.
        pub const TOPOLOGIES: &[Card] = &[$(
            Card { name: $name, aliases: &[], part: "topology", breaks: &[], comment: fairq_sched::opening!(include_str!($file)) }
        ),+];
    };
}

topologies! {
    Chain chain = "chain" "chain.rs";
    Dumbbell dumbbell = "dumbbell" "dumbbell.rs";
    FatTree fat_tree = "fat_tree" "fat_tree.rs";
    File file = "file" "file.rs";
    LeafSpine leaf_spine = "leaf_spine" "leaf_spine.rs";
    ParkingLot parking_lot = "parking_lot" "parking_lot.rs";
    Star star = "star" "star.rs";
    Tiers tiers = "tiers" "tiers.rs";
}

impl Spelled for TopologySettings {
    const EXAMPLE: &str = "dumbbell(hosts=4)";
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_has_unique_names_and_links_between_its_own_nodes() {
        let files = |_: &str| Ok(Vec::new());
        let reader = |_: &[u8], _: &str, _: &file::Options| {
            let mut graph = Graph::default();
            let ends = [graph.node("a"), graph.node("b")];
            graph.link(ends[0], ends[1], super::super::Medium::new(file::usual_rate(), file::usual_delay()));
            Ok(graph)
        };
        for card in TOPOLOGIES {
            let table = json!({ "kind": card.name, "file": "a.csv" });
            let without = json!({ "kind": card.name });
            let settings: TopologySettings =
                serde_json::from_value(table).or_else(|_| serde_json::from_value(without)).expect(card.name);
            assert_eq!(settings.name(), card.name);
            let graph = settings.build(Context { seed: 1, files: &files, reader: Some(reader) }).expect(card.name);
            let nodes: BTreeSet<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
            let links: BTreeSet<&str> = graph.links.iter().map(|link| link.name.as_str()).collect();
            assert_eq!((nodes.len(), links.len()), (graph.nodes.len(), graph.links.len()), "{}", card.name);
            let within = |end: usize| end < graph.nodes.len();
            assert!(graph.links.iter().all(|link| within(link.from) && within(link.to) && link.from != link.to));
        }
        assert!(TOPOLOGIES.is_sorted_by_key(|card| card.name));
    }
}
