//! Hierarchical token bucket: each class of a tree has a rate that is its own and a ceiling;
//! between the two it borrows from the classes above it.
//!
//! Use when: each class needs a guaranteed rate and a ceiling, and may borrow, as in Linux. It
//! guarantees no delay: for that use `hfsc`. For shares without rates use `hpfq` or `drr`.
//! Source: Devera, "Hierarchical token bucket theory", 2002, and Linux 6.1, sch_htb.c.
//! Rules: Linux's, by default: a class sends while its tokens are not negative, and goes into debt
//! by a packet (`htb_class_mode`, `htb_accnt_tokens`); one that may borrow sends for the nearest
//! class above it that can send, whose ceilings and those between count and no others
//! (`htb_charge_class`); without `ceil` a class has its `rate`; the least level, then the least
//! priority number, then turns of a quantum in the order of the list, each level and inner class
//! with a pointer of its own (`htb_lookup_leaf`, `htb_dequeue_tree`); a class that names no quantum
//! has what its rate gives in a second over `r2q`, from 1000 B to 200 kB (`htb_change_class`).
//! Rates of children may be more together than their parent's.
//! The theory's, with `paper`: a packet goes when its bucket holds enough for it, or is full; the
//! ceilings of all classes above a leaf are kept; without a ceiling a class may have what those
//! above it may have; rates of children may not sum up to more than their parent's; a quantum is
//! from 1514 B.
//! Departs: a packet that belongs to no class goes to `default`, where Linux sends it unshaped if
//! there is none. Without queues of their own classes share one limit (docs/design/leaves.md).
//! Chosen: buckets are full at the start. A bucket's debt is at most 60 s of its rate, the kernel's
//! mbuffer. A class without a rate, which Linux refuses, has an equal part of what its siblings
//! leave.
//! Cost: O(levels · log(classes)) a packet; with `paper` O(backlogged leaves times levels).
//! Bound: Linux's order to the packet (docs/agreement/linux.md). With `paper` in any time t a class
//! sends at most ceil·t + max(cburst, Lmax) (class_trees.rs: htb_keeps_every_ceiling); a backlogged
//! leaf whose siblings' rates fit the line has its rate (class_trees.rs: htb_guarantees_rates);
//! what is left goes to borrowers of one level and priority in proportion to their quanta while a
//! quantum is at least the longest packet (class_trees.rs: htb_shares_what_is_left_by_quanta).
//! Above its ceiling a class waits though the line is idle (class_trees.rs:
//! htb_waits_at_its_ceiling). At the time it names a packet goes, and none before. A flow without a
//! class whose packets differ in DSCP is reordered (class_trees.rs:
//! a_flow_of_two_code_points_is_reordered).
//! Changes: a flow's new class holds for the packets that arrive from then on. With `paper` a class
//! that names no rate has its equal part of the new rate, and all tokens stand; by Linux's rules
//! rates stay those of the start. Weights are refused.

mod linux;
mod paper;

use super::by_class::{ByClass, Rules, TreeSettings};
use crate::class_tree::{self, ClassTree, Place};
use crate::contract::Line;
use crate::facts::Facts;
use crate::leaf::LeafQueue;
#[cfg(feature = "schema")]
use crate::link_layer;
use crate::link_layer::{Link, LinkLayer};
use crate::part::{Part, queues_of_classes, settings};
use crate::queue::Queue;
use crate::units::{Bytes, Rate, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// The tree.
    pub struct Settings {
        /// Up to 16384 of them.
        pub classes: Vec<Class> = alloc::vec![named("all", None), named("a", Some("all")), named("b", Some("all"))],
        /// The leaf of packets that belong to no other; without it the first.
        pub default: Option<String> = None,
        /// A class that names no quantum has what its rate gives in a second over this; at least 1.
        pub r2q: u32 = 10,
        /// A class whose children send more than its rate owes at most what the rate gives in so
        /// long; above 0.
        pub mbuffer: Time = Time::from_s(60),
        /// The rules of the theory in place of Linux's.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub paper: bool = false,
    }
}

settings! {
    /// A class.
    pub struct Class {
        /// Its name, by which flows choose it if it is a leaf.
        pub name: String = String::new(),
        /// The class above it, from which it borrows; without one it stands at the line.
        pub parent: Option<String> = None,
        /// Packets with these code points belong to it if their flow names no class.
        pub dscp: Vec<u8> = Vec::new(),
        /// Its own; without one an equal part of what siblings with one leave of the parent's, or
        /// of the line's.
        pub rate: Option<Rate> = None,
        /// What it may have with what it borrows; without one its `rate`, and without that or with
        /// `paper` no bound of its own.
        pub ceil: Option<Rate> = None,
        /// What it may save of its rate.
        pub burst: Bytes = BURST,
        /// What it may save of its ceiling.
        pub cburst: Bytes = BURST,
        /// Lower numbers borrow first; 0 to 7.
        pub priority: u8 = 0,
        /// Its share of what is left; without one what its rate gives in a second over `r2q`, from
        /// 1000 B to 200 kB, or from 1514 B with `paper`.
        pub quantum: Option<Bytes> = None,
        /// Bytes that the line behind adds to each packet; not with `paper`, as the next two.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "link_layer::is_zero"))]
        pub overhead: u32 = 0,
        /// Bytes that a packet takes there at least.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "link_layer::is_zero"))]
        pub mpu: u32 = 0,
        /// How the line behind cuts packets up.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "link_layer::is_plain"))]
        pub linklayer: LinkLayer = LinkLayer::Ethernet,
        /// Of a leaf: the discipline in which its packets wait; without one, where another class names
        /// one, `fifo + 1000packets`.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub queue: Option<LeafQueue> = None,
    }
}

/// Two packets of the largest Ethernet length: one to send while the next gathers tokens. `tc` has
/// 1600 B.
const BURST: Bytes = Bytes(3028);

impl Class {
    const fn link(&self) -> Link {
        Link { overhead: self.overhead, mpu: self.mpu, layer: self.linklayer }
    }
}

/// A class called `name` under `parent`.
fn named(name: &str, parent: Option<&str>) -> Class {
    Class { name: name.to_string(), parent: parent.map(str::to_string), ..Class::default() }
}

impl Settings {
    /// The classes' rates in bit/s on a line of `line`: one that has none has an equal part of what
    /// is left by siblings with one.
    fn rates(&self, line: Rate) -> Vec<u64> {
        let parent = |class: &Class| self.classes.iter().position(|other| Some(&other.name) == class.parent.as_ref());
        let mut rates: Vec<Option<u64>> = self.classes.iter().map(|class| class.rate.map(Rate::bit_per_s)).collect();
        let is_missing = |rates: &[Option<u64>]| rates.iter().any(Option::is_none);
        // A pass for each level.
        for _ in 0..class_tree::LEVELS_MAX {
            let known = rates.clone();
            for (at, class) in self.classes.iter().enumerate().filter(|(at, _)| known[*at].is_none()) {
                let parent = parent(class);
                let Some(above) = parent.map_or(Some(line.bit_per_s()), |parent| known[parent]) else { continue };
                let siblings = self.classes.iter().filter(|other| other.parent == class.parent);
                let (given, open) = siblings.fold((0, 0), |(given, open), other| match other.rate {
                    Some(rate) => (given + rate.bit_per_s(), open),
                    None => (given, open + 1),
                });
                rates[at] = Some((above.saturating_sub(given) / open).max(8));
            }
            if !is_missing(&rates) {
                break;
            }
        }
        rates.into_iter().map(|rate| rate.unwrap_or(8)).collect()
    }

    /// What is wrong with the numbers of `class`.
    fn fault_of(&self, class: &Class) -> Option<String> {
        let Class { name, rate, ceil, burst, cburst, priority, quantum, .. } = class;
        let at_least_one = |field: &str| Some(format!("htb: class `{name}`: {field} is at least 1 B"));
        if let (Some(rate), Some(ceil)) = (rate, ceil)
            && ceil < rate
        {
            return Some(format!("htb: class `{name}`: its ceil of {ceil} is below its rate of {rate}"));
        }
        match () {
            () if burst.0 == 0 => at_least_one("burst"),
            () if cburst.0 == 0 => at_least_one("cburst"),
            () if *quantum == Some(Bytes(0)) => at_least_one("quantum"),
            () if *priority > 7 => Some(format!("htb: class `{name}`: priority {priority}; write 0 to 7")),
            () if self.paper && class.link() != Link::default() => {
                Some(format!("htb: class `{name}`: overhead, mpu and linklayer are Linux's; leave paper out"))
            }
            () if self.paper => self.fault_of_sum(class),
            () => None,
        }
    }

    /// The rates given to the classes right below `parent`, together, if they are more than `rate`.
    fn sum_above(&self, parent: Option<&str>, rate: Rate) -> Option<Rate> {
        let children = self.classes.iter().filter(|child| child.parent.as_deref() == parent);
        // At most 2^14 rates of 10¹³ bit/s.
        let sum = children.filter_map(|child| child.rate).map(Rate::bit_per_s).sum::<u64>();
        Rate::new(sum).filter(|sum| *sum > rate)
    }

    fn fault_of_sum(&self, class: &Class) -> Option<String> {
        let (name, rate) = (&class.name, class.rate?);
        self.sum_above(Some(name), rate).map(|sum| {
            format!("htb: class `{name}`: the classes below it have {sum} together, it has {rate}; give it more or them less")
        })
    }
}

impl Part for Settings {
    fn places(&self) -> Vec<Place<'_>> {
        self.classes
            .iter()
            .map(|class| Place::new(&class.name, class.parent.as_ref(), &class.dscp).with(class.queue.as_ref()))
            .collect()
    }

    fn facts(&self) -> Facts {
        let needs_rate = self.classes.iter().any(|class| class.parent.is_none() && class.rate.is_none());
        Facts { needs_rate, ..Facts::of_tree(&self.places()) }
    }

    queues_of_classes!();

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if self.r2q == 0 {
            return Some("htb: r2q is at least 1".to_string());
        }
        if self.mbuffer == Time::ZERO {
            return Some("htb: mbuffer is above 0; write a time like \"60s\"".to_string());
        }
        let fault = class_tree::fault("htb", &self.places(), self.default.as_deref());
        fault.or_else(|| self.classes.iter().find_map(|class| self.fault_of(class)))
    }

    fn variants() -> Vec<Self> {
        let slow = Class { ceil: Rate::new(900_000), burst: Bytes(1), ..named("slow", None) };
        let rate = Rate::new(100_000);
        let low = Class {
            rate,
            priority: 3,
            quantum: Some(Bytes(40)),
            dscp: [1, 5, 9].to_vec(),
            ..named("low", Some("slow"))
        };
        let high = Class {
            rate,
            ceil: Rate::new(800_000),
            cburst: Bytes(100),
            dscp: [2, 6, 33].to_vec(),
            ..named("high", Some("slow"))
        };
        let (left, right) =
            (Class { dscp: [3, 7].to_vec(), ..named("left", Some("mid")) }, named("right", Some("mid")));
        let deep = [
            named("top", None),
            named("mid", Some("top")),
            left,
            right,
            named("alone", Some("top")),
            named("line", None),
        ];
        let deep = Self { classes: deep.to_vec(), default: Some("right".to_string()), ..Self::default() };
        let flat = Self { classes: alloc::vec![slow, low, high], default: None, ..Self::default() };
        let paper = |settings: &Self| Self { paper: true, ..settings.clone() };
        alloc::vec![paper(&flat), flat, paper(&deep), deep]
    }

    fn oversubscribed(&self, line: Rate) -> Option<String> {
        let given = self.classes.iter().filter_map(|class| Some((Some(class.name.as_str()), class.rate?)));
        core::iter::once((None, line)).chain(given).find_map(|(parent, rate)| {
            let sum = self.sum_above(parent, rate)?;
            let above = parent.map_or_else(|| "the line".to_string(), |name| format!("class `{name}`"));
            Some(format!(
                "htb: {above} has {rate}, and the rates below it are {sum} together: when all send, the line and their turns \
                 decide what each gets, not its rate; Linux takes it so too"
            ))
        })
    }
}

/// The tree at work.
pub type Htb = ByClass;

impl TreeSettings for Settings {
    fn default_leaf(&self) -> Option<&str> {
        self.default.as_deref()
    }

    fn rules(&self, tree: ClassTree, line: &Line) -> Box<dyn Rules> {
        if self.paper {
            Box::new(paper::Htb::new(tree, self, line))
        } else {
            Box::new(linux::Htb::new(tree, self, line))
        }
    }
}
