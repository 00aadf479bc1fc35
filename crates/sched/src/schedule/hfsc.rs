//! Hierarchical fair service curve: leaves have deadlines from real-time curves, and what those
//! leave goes down a tree of classes by virtual times from link-sharing curves.
//!
//! Use when: a class needs a low delay without a large rate, and a tree shares the rest. If rates
//! and ceilings are enough, `htb` is simpler; if shares are enough, `hpfq`.
//! Source: Stoica, Zhang and Ng, "A Hierarchical Fair Service Curve Algorithm for Link-Sharing,
//! Real-Time and Priority Services", SIGCOMM 1997, ToN 2000; without `paper` in the arithmetic and
//! order of Linux 6.1, sch_hfsc.c: ticks of 64 ns (`psched_get_time`), slopes in binary parts
//! rounded up (`m2sm`, `m2ism`), the curve of a class that wakes is one of two pieces (`rtsc_min`),
//! a leaf without a link-sharing curve has its real-time service alone (`hfsc_dequeue`), upper
//! limits follow the class's own time (`update_vf`, `cl_myf`).
//! Departs: with `paper` the curve of a class that wakes is the exact minimum of the curves since
//! its earlier wake-ups, which of a convex curve has more pieces than two; from the ninth piece on
//! the two oldest become one below both (curve.rs). What no class takes goes to the default one;
//! Linux drops it where that names no leaf (`hfsc_enqueue`).
//! Chosen: only what is sent by the real-time criterion counts for deadlines, everything counts for
//! virtual times and upper limits. A class that wakes starts half way between the least and the
//! greatest virtual time of its active siblings, or at the greatest that was reached if there is
//! none (`init_vf`). With `paper` a leaf without a link-sharing curve shares by its real-time
//! curve, one whose last packet is being sent sleeps, an upper limit is concave and begins anew
//! with each packet that it did not hold back, so that nothing is saved, and deadlines and virtual
//! times are rounded up to whole picoseconds; equal ones go in the order of the list.
//! Cost: O(leaves + children of the classes on the way down) a packet.
//! Bound: while the real-time curves together stay below C·t, a leaf has the service of its curve,
//! Lmax/C late at most (class_trees.rs: hfsc_meets_deadlines_of_any_curves); what they leave is
//! shared by the link-sharing curves (class_trees.rs: hfsc_shares_the_rest_by_the_curves). With an
//! upper limit u a class has at most u·t, and a packet, of link-sharing service (class_trees.rs:
//! hfsc_keeps_upper_limits), and waits though the line is idle (class_trees.rs:
//! hfsc_waits_at_its_upper_limit). A flow without a class whose packets differ in DSCP is reordered
//! (class_trees.rs: a_flow_of_two_code_points_is_reordered).
//! Changes: a flow's new class holds for the packets that arrive from then on. Curves are settings
//! and do not follow the line's rate; weights are refused.
//!
//! Range: service is in bits × 10⁻¹², up to 2¹⁰⁷ for 2⁶⁴ bytes; times saturate (curve.rs).

pub mod curve;
mod linux;
mod paper;

use super::by_class::{ByClass, Rules, TreeSettings};
use crate::class_tree::{self, ClassTree, Place};
use crate::contract::Line;
use crate::leaf::LeafQueue;
use crate::part::{Part, queues_of_classes, settings};
use crate::queue::Queue;
use crate::units::{Rate, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use curve::Curve;

settings! {
    /// The tree.
    pub struct Settings {
        /// Up to 16384 of them.
        pub classes: Vec<Class> = alloc::vec![sharing("a", None, 1_000_000), sharing("b", None, 1_000_000)],
        /// The leaf of packets that belong to no other; without it the first.
        pub default: Option<String> = None,
        /// The exact curves of the paper, and upper limits that save nothing, in place of Linux's
        /// rules.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub paper: bool = false,
    }
}

/// A class.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Class {
    /// Its name, by which flows choose it if it is a leaf.
    pub name: String,
    /// The class above it; without one it stands at the line.
    pub parent: Option<String>,
    /// Packets with these code points belong to it if their flow names no class.
    pub dscp: Vec<u8>,
    /// Of a leaf: the service it is guaranteed.
    pub real_time: Option<Curve>,
    /// How it shares with its siblings what real-time service leaves; of a leaf without one, its
    /// real-time curve.
    pub link_share: Option<Curve>,
    /// The most that it may be given by sharing.
    pub upper_limit: Option<Curve>,
    /// Of a leaf: the discipline in which its packets wait; without one, where another class names
    /// one, `fifo + 1000packets`.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub queue: Option<LeafQueue>,
}

/// A class called `name` under `parent` that shares by a line of `bit_per_s`.
fn sharing(name: &str, parent: Option<&str>, bit_per_s: u64) -> Class {
    let link_share = Rate::new(bit_per_s).map(Curve::line);
    Class { name: name.to_string(), parent: parent.map(str::to_string), link_share, ..Class::default() }
}

impl Settings {
    /// What is wrong with the curves of `class`.
    fn fault_of(&self, class: &Class) -> Option<String> {
        let name = &class.name;
        let is_leaf = self.classes.iter().all(|child| child.parent.as_ref() != Some(name));
        let fault = match class {
            Class { real_time: Some(_), .. } if !is_leaf => "real_time is for leaves; give it to one of those below it",
            Class { real_time: None, link_share: None, .. } if is_leaf => {
                "needs a curve; write link_share = { m2 = \"1 Mbit/s\" } or a real_time one"
            }
            Class { link_share: None, .. } if !is_leaf => "needs a curve; write link_share = { m2 = \"1 Mbit/s\" }",
            _ => {
                let curves = [
                    ("real_time", &class.real_time),
                    ("link_share", &class.link_share),
                    ("upper_limit", &class.upper_limit),
                ];
                if class.upper_limit.as_ref().is_some_and(|c| c.d > Time::ZERO && c.m1.is_none_or(|m1| m1 < c.m2)) {
                    return Some(format!(
                        "hfsc: class `{name}`: the m1 of an upper_limit is at least its m2, or there is no d"
                    ));
                }
                let field = curves
                    .iter()
                    .find(|(_, curve)| curve.as_ref().is_some_and(|c| c.m1.is_some() && c.d == Time::ZERO))?
                    .0;
                return Some(format!(
                    "hfsc: class `{name}`: {field} has an m1 and no d; write for how long it is the slope"
                ));
            }
        };
        Some(format!("hfsc: class `{name}`: {fault}"))
    }
}

impl Part for Settings {
    fn places(&self) -> Vec<Place<'_>> {
        self.classes
            .iter()
            .map(|class| Place::new(&class.name, class.parent.as_ref(), &class.dscp).with(class.queue.as_ref()))
            .collect()
    }

    queues_of_classes!();

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let fault = class_tree::fault("hfsc", &self.places(), self.default.as_deref());
        fault.or_else(|| self.classes.iter().find_map(|class| self.fault_of(class)))
    }

    fn variants() -> Vec<Self> {
        let curve = |m1, ms, m2| Rate::new(m2).map(|m2| Curve { m1: Rate::new(m1), d: Time::from_ms(ms), m2 });
        let concave = Class { real_time: curve(400_000, 30, 100_000), dscp: [1, 5, 9].to_vec(), ..Class::default() };
        let convex = Class { real_time: curve(0, 20, 300_000), dscp: [2, 6, 33].to_vec(), ..Class::default() };
        let limited = Class { upper_limit: curve(900_000, 5, 500_000), ..sharing("limited", None, 3_000_000) };
        let classes = alloc::vec![
            limited,
            Class { name: "voice".to_string(), parent: Some("limited".to_string()), ..concave },
            Class { name: "bulk".to_string(), parent: Some("limited".to_string()), ..convex },
            Class { link_share: curve(0, 10, 1), dscp: [3, 7].to_vec(), ..sharing("free", None, 1) },
        ];
        let linux = Self { classes, default: Some("free".to_string()), paper: false };
        alloc::vec![Self { paper: true, ..linux.clone() }, linux]
    }

    fn oversubscribed(&self, line: Rate) -> Option<String> {
        let curves = || self.classes.iter().filter_map(|class| class.real_time.as_ref());
        let sum = |of: fn(&Curve) -> Rate| curves().map(of).map(Rate::bit_per_s).sum::<u64>();
        let sums = [sum(|curve| curve.m1.unwrap_or(curve.m2)), sum(|curve| curve.m2)];
        let most = sums.into_iter().max().and_then(Rate::new).filter(|most| *most > line)?;
        Some(format!(
            "hfsc: the real_time curves rise by {most} together, and the line has {line}: their deadlines cannot all be met; \
             Linux takes it so too"
        ))
    }
}

/// The tree at work.
pub type Hfsc = ByClass;

impl TreeSettings for Settings {
    fn default_leaf(&self) -> Option<&str> {
        self.default.as_deref()
    }

    fn rules(&self, tree: ClassTree, line: &Line) -> Box<dyn Rules> {
        if self.paper { Box::new(paper::Hfsc::new(tree, self, line)) } else { Box::new(linux::Hfsc::new(tree, self)) }
    }
}
