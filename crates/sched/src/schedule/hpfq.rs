//! Hierarchical packet fair queueing: a tree of classes in which each class shares what it is given
//! by a scheduler of one level.
//!
//! Use when: a tree of classes should share the line by weight, with little unfairness at every
//! level. It sets no ceiling and no delay for a class: for ceilings use `htb`, for delays `hfsc`.
//! Source: Bennett and Zhang, "Hierarchical Packet Fair Queueing Algorithms", SIGCOMM 1996, ToN
//! 1997 (H-PFQ, H-WF2Q+).
//! Departs: the clock of a class moves while its bytes leave; the source's moves when the packet is
//! offered, and with that the index below does not hold (hierarchies.rs:
//! a_class_charged_when_it_offers_breaks_the_index_and_one_charged_when_it_sends_does_not).
//! Chosen: the root's clock is real time; that of a class is the whole bytes it has been given, a
//! picosecond each, those of the packet on the line at the line's nominal rate, and the line that
//! its scheduler sees is one of 8 Tbit/s. A class offers one packet upwards; the offer stays though
//! a better one comes below it, until it is sent or dropped. The next one is chosen when the
//! transmission has ended, and a class that has a packet by then goes on from its last finish
//! number. When an offer is dropped, so are those made from it further up, and the class offers
//! anew. A class of which nothing waits when its packet has been sent is idle.
//! Cost: one operation of the one-level scheduler for each level.
//! Bound: with wf2q_plus, ri, rp and C the rates of a leaf, the class above and the line, the
//! indices of worst-case fairness of the levels add up: Li + (Lmax - Li) ri/rp + Lmax ri/rp
//! (hierarchies.rs: the_worst_case_indices_of_the_levels_add_up). A packet leaves by its expected
//! arrival + L/ri + 2 Lmax/rp + Lmax/C (hierarchies.rs:
//! a_leaf_is_late_by_a_packet_of_each_level_and_one_by_which_its_class_was_ahead). One Lmax/rp for
//! each level is too little, by the source's own procedures too: a class may be a packet ahead of
//! its share when the leaf's packet comes (hierarchies.rs:
//! a_packet_of_each_level_is_too_little_for_the_source_too). While all leaves wait packets leave as
//! by the source, and by the fluid + Lmax/rp + Lmax/C (hierarchies.rs:
//! while_all_leaves_wait_packets_leave_as_by_the_source_and_soon_after_the_fluid). A tree of one
//! level is its scheduler, packet by packet (hierarchies.rs: hpfq_with_one_level_is_its_scheduler).
//! A flow without a class whose packets differ in DSCP is reordered (class_trees.rs:
//! a_flow_of_two_code_points_is_reordered).
//! Changes: at a new rate what has left of the packet on the line is counted at the old one, and
//! the root's scheduler does as its card says; the classes' tags stand. A flow's new class holds
//! for the packets that arrive from then on; weights are refused.
//!
//! Range: the clock of a class counts 2⁶⁴ bytes and stands still then: 213 days at 8 Tbit/s.

use crate::change::{Change, Unsupported};
use crate::class_tree::{self, ClassTree, Place};
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag};
use crate::facts::Facts;
use crate::packet::Packet;
use crate::part::Part;
use crate::queue::Queue;
use crate::reading::Reading;
use crate::registry::SchedulerSettings;
use crate::round;
use crate::store::Store;
use crate::traits::Traits;
use crate::units::{Rate, Time, Weight};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

mod one_level;

pub use one_level::OneLevel;

/// The scheduler of one level, and the tree.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// The scheduler that shares among the children of the line and of each class: its name, or its
    /// table.
    pub scheduler: OneLevel,
    /// Up to 16384 of them.
    pub classes: Vec<Class>,
    /// The leaf of packets that belong to no other; without it the first.
    pub default: Option<String>,
}

/// A class.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Class {
    /// Its name, by which flows choose it if it is a leaf.
    pub name: String,
    /// The class above it; without one it stands at the line.
    #[cfg_attr(feature = "schema", serde(default))]
    pub parent: Option<String>,
    /// Its share among its siblings.
    #[cfg_attr(feature = "schema", serde(default))]
    pub weight: Weight,
    /// Packets with these code points belong to it if their flow names no class.
    #[cfg_attr(feature = "schema", serde(default))]
    pub dscp: Vec<u8>,
}

impl Default for Settings {
    fn default() -> Self {
        let leaf = |name: &str| Class { name: name.to_string(), ..Class::default() };
        Self { scheduler: OneLevel::default(), classes: alloc::vec![leaf("a"), leaf("b")], default: None }
    }
}

impl Part for Settings {
    fn places(&self) -> Vec<Place<'_>> {
        self.classes.iter().map(|class| Place::new(&class.name, class.parent.as_ref(), &class.dscp)).collect()
    }

    fn facts(&self) -> Facts {
        Facts { needs_rate: true, ..Facts::of_tree(&self.places()) }
    }

    fn fault(&self, queue: &Queue) -> Option<String> {
        let scheduler = &*self.scheduler.0;
        if !scheduler.part().facts().fits_inner_nodes {
            let name = scheduler.name();
            return Some(format!(
                "hpfq: {name} does not share among classes; write scheduler = \"wf2q_plus\" or the like, without preemption"
            ));
        }
        let fault = class_tree::fault("hpfq", &self.places(), self.default.as_deref());
        fault.or_else(|| scheduler.part().fault(queue))
    }

    fn variants() -> Vec<Self> {
        let class = |(name, parent, thousandths, dscp): (&str, Option<&str>, u32, &[u8])| Class {
            name: name.to_string(),
            parent: parent.map(str::to_string),
            weight: Weight::from_thousandths(thousandths).unwrap_or_default(),
            dscp: dscp.to_vec(),
        };
        let deep = [
            ("line", None, 1000, &[][..]),
            ("left", Some("line"), 300, &[]),
            ("right", Some("line"), 2000, &[]),
            ("low", Some("left"), 1, &[1, 5, 9]),
            ("high", Some("left"), 1_000_000_000, &[2, 6, 33]),
            ("far", Some("right"), 1000, &[3, 7, 35]),
        ];
        let deep = deep.map(class).to_vec();
        let by = |name| OneLevel(Box::new(SchedulerSettings::by_name(name).unwrap_or_else(|| *OneLevel::default().0)));
        let variant = |name| Self { scheduler: by(name), classes: deep.clone(), default: Some("far".to_string()) };
        ["wf2q_plus", "fq", "round_robin", "leap_forward_virtual_clock"].map(variant).to_vec()
    }
}

/// What a class offers to the node above it.
#[derive(Clone, Copy)]
struct Offer {
    /// The child it is of.
    child: usize,
    packet: Packet,
    /// The tag that the node above gave it.
    tag: Tag,
}

/// A class, or the line.
struct Node {
    /// The flow as which the node above sees it.
    flow: Flow,
    parent: usize,
    depth: usize,
    /// Children by their queue here; leaves have no node.
    children: Vec<Child>,
    scheduler: Box<dyn Scheduler>,
    /// Bytes it has sent, without the packet on the line.
    sent: u64,
    /// Whether the packet on the line is one of its own.
    is_served: bool,
    offer: Option<Offer>,
    /// Children with something to send.
    active: usize,
    /// Whether its offer has gone and the next one is chosen when the line asks.
    is_due: bool,
    /// Whether it had something else to send when its offer went.
    goes_on: bool,
}

#[derive(Clone, Copy)]
enum Child {
    Leaf(Slot),
    Node(usize),
}

/// Where the packets of a leaf go.
#[derive(Clone, Copy)]
struct Leaf {
    parent: usize,
    flow: Flow,
}

/// The line's node comes first.
const ROOT: usize = 0;

/// The rate at which a byte takes a picosecond.
const BYTE_PER_PS: Rate = match Rate::new(8_000_000_000_000) {
    Some(rate) => rate,
    None => Rate::MAX,
};

/// A tree of one-level schedulers.
pub struct Hpfq {
    tree: ClassTree,
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// Nodes that are due, perhaps.
    due: Vec<usize>,
    /// The packet that arrives, and when.
    arriving: Option<(Time, Packet)>,
    /// The packet on the line.
    serving: Option<Serving>,
    rate: Rate,
}

/// A packet on the line.
#[derive(Clone, Copy)]
struct Serving {
    length: u32,
    /// Bytes of it that had left then.
    gone: (Time, u64),
    /// The class above its leaf.
    parent: usize,
}

impl Serving {
    /// Bytes of it that have left by `now`, on a line that has had `rate` since it was looked at
    /// last.
    fn gone_by(&self, now: Time, rate: Rate) -> u64 {
        let (since, gone) = self.gone;
        let more = round::work(rate, now - since) / round::BYTE_WORK;
        more.saturating_add(gone.into()).min(self.length.into()) as u64
    }
}

impl Hpfq {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let tree = ClassTree::new(&settings.places(), settings.default.as_deref());
        let inner: Vec<usize> = (0..tree.len()).filter(|class| tree.slot(*class).is_none()).collect();
        // The node of a class is the one after its place among the inner ones; the root comes
        // before.
        let node_of =
            |class: Option<usize>| class.and_then(|class| inner.binary_search(&class).ok()).map_or(ROOT, |at| at + 1);
        let node = |class: Option<usize>| Node {
            flow: Flow::of_slot(0),
            parent: class.map_or(ROOT, |class| node_of(tree.parent(class))),
            depth: class.map_or(0, |class| tree.depth(class) + 1),
            children: Vec::new(),
            scheduler: settings
                .scheduler
                .0
                .boxed(&Line { seed: line.seed, ..Line::new(class.map_or(line.rate, |_| BYTE_PER_PS)) }),
            sent: 0,
            is_served: false,
            offer: None,
            active: 0,
            is_due: false,
            goes_on: false,
        };
        let mut nodes: Vec<Node> = core::iter::once(None).chain(inner.iter().copied().map(Some)).map(node).collect();
        let mut leaves = Vec::new();
        for (class, Class { weight, .. }) in settings.classes.iter().enumerate() {
            let parent = node_of(tree.parent(class));
            let flow = Flow::weighted(nodes[parent].children.len() as Slot, *weight);
            match tree.slot(class) {
                Some(slot) => {
                    nodes[parent].children.push(Child::Leaf(slot));
                    leaves.push(Leaf { parent, flow });
                }
                None => {
                    let node = node_of(Some(class));
                    nodes[parent].children.push(Child::Node(node));
                    nodes[node].flow = flow;
                }
            }
        }
        let due = Vec::with_capacity(nodes.len());
        Self { tree, nodes, leaves, due, arriving: None, serving: None, rate: line.rate }
    }

    /// What `node`'s scheduler takes for the time: at the line real time, else the bytes that the
    /// node has been given.
    fn clock(&self, node: usize, now: Time) -> Time {
        let Node { sent, is_served, .. } = self.nodes[node];
        match self.serving.filter(|_| is_served) {
            _ if node == ROOT => now,
            None => Time(sent),
            Some(serving) => Time(sent.saturating_add(serving.gone_by(now, self.rate))),
        }
    }

    /// The packet on the line has been sent.
    fn end_serving(&mut self) {
        let Some(Serving { length, mut parent, .. }) = self.serving.take() else { return };
        while parent != ROOT {
            let node = &mut self.nodes[parent];
            node.sent = node.sent.saturating_add(length.into());
            (node.is_served, node.goes_on) = (false, true);
            parent = node.parent;
        }
    }

    /// The offer of `node` has gone; the next one is chosen when the line asks.
    fn postpone(&mut self, node: usize) {
        let Node { active, is_due, goes_on, .. } = &mut self.nodes[node];
        *goes_on = *active > 0;
        if !core::mem::replace(is_due, true) {
            self.due.push(node);
        }
    }

    /// A child of `node` has something to send, or has nothing any more.
    fn count(&mut self, mut node: usize, is_active: bool) {
        loop {
            let Node { active, goes_on, parent, .. } = &mut self.nodes[node];
            let others = if is_active { *active } else { *active - 1 };
            *active = others + usize::from(is_active);
            *goes_on &= *active > 0;
            if others > 0 || node == ROOT {
                return;
            }
            node = *parent;
        }
    }

    /// `node` offers the packet of `child` to the node above it.
    fn offer(&mut self, now: Time, node: usize, child: usize, packet: Packet) {
        let Node { parent, flow, goes_on, is_due, .. } = self.nodes[node];
        let clock = self.clock(parent, now);
        let above = &mut self.nodes[parent].scheduler;
        let tag = above.arrive(clock, flow.slot, flow, &packet);
        if is_due && goes_on {
            above.continued(flow.slot, tag);
        } else {
            above.backlogged(flow.slot, tag);
        }
        self.nodes[node].offer = Some(Offer { child, packet, tag });
    }

    /// Nodes whose offers have gone make new ones, the deepest first, for those above offer what
    /// these do.
    fn offer_anew(&mut self, now: Time, store: &Store) {
        let mut due = core::mem::take(&mut self.due);
        due.sort_unstable_by_key(|node| (core::cmp::Reverse(self.nodes[*node].depth), *node));
        for node in due.drain(..) {
            let clock = self.clock(node, now);
            let Node { scheduler, offer, active, .. } = &mut self.nodes[node];
            if *active == 0 {
                scheduler.idle(clock);
            } else if offer.is_none()
                && let Next::Queue(queue) = scheduler.next(clock, store)
            {
                let child = queue as usize;
                let packet = match self.nodes[node].children[child] {
                    Child::Leaf(slot) => store.head(slot).map(|(packet, _)| *packet),
                    Child::Node(below) => self.nodes[below].offer.map(|offer| offer.packet),
                };
                let Some(packet) = packet else { unreachable!("a child that is next has a packet") };
                self.offer(now, node, child, packet);
            }
            self.nodes[node].is_due = false;
        }
        // Its memory is used again.
        self.due = due;
    }

    /// What `node` offered was dropped, and with it what was offered because of it further up.
    fn withdraw(&mut self, now: Time, mut node: usize) {
        while let Some(Offer { packet, tag, .. }) = self.nodes[node].offer.take() {
            self.postpone(node);
            let Node { parent, flow, .. } = self.nodes[node];
            let clock = self.clock(parent, now);
            let packet = &packet;
            let gone = Gone { queue: flow.slot, flow, packet, tag, head: None, was_head: true, was_tail: true };
            self.nodes[parent].scheduler.removed(clock, gone);
            let is_offered = self.nodes[parent].offer.is_some_and(|offer| offer.child == flow.slot as usize);
            if !is_offered {
                return;
            }
            node = parent;
        }
    }
}

impl Scheduler for Hpfq {
    #[inline(always)]
    fn traits(&self) -> Traits {
        // Whatever the scheduler of the root needs: the service of the last packet ends with it,
        // and its classes choose anew.
        Traits { queue_per_flow: false, hears_idle: true, ..Traits::PLAIN }
    }

    fn classes(&self) -> Vec<&str> {
        self.tree.leaf_names()
    }

    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        self.tree.leaf_of(flow, packet)
    }

    fn arrive(&mut self, now: Time, queue: Slot, _flow: Flow, packet: &Packet) -> Tag {
        self.arriving = Some((now, *packet));
        let Leaf { parent, flow } = self.leaves[queue as usize];
        let clock = self.clock(parent, now);
        self.nodes[parent].scheduler.arrive(clock, flow.slot, flow, packet)
    }

    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        let Some((now, packet)) = self.arriving else { unreachable!("a packet has arrived") };
        let Leaf { parent, flow } = self.leaves[queue as usize];
        self.nodes[parent].scheduler.backlogged(flow.slot, tag);
        self.count(parent, true);
        let (mut node, mut child) = (parent, flow.slot as usize);
        while node != ROOT {
            let Node { offer, is_due, goes_on, is_served, parent, flow, .. } = &self.nodes[node];
            // One that is due and has something else, or is being served, chooses later.
            if offer.is_some() || *is_served || (*is_due && *goes_on) {
                return;
            }
            let (above, slot) = (*parent, flow.slot);
            self.offer(now, node, child, packet);
            (node, child) = (above, slot as usize);
        }
    }

    fn refused(&mut self, now: Time, queue: Slot, _flow: Flow, packet: &Packet) {
        let Leaf { parent, flow } = self.leaves[queue as usize];
        let clock = self.clock(parent, now);
        self.nodes[parent].scheduler.refused(clock, flow.slot, flow, packet);
    }

    fn next(&mut self, now: Time, store: &Store) -> Next {
        self.end_serving();
        self.offer_anew(now, store);
        let mut answer = self.nodes[ROOT].scheduler.next(now, store);
        let mut node = ROOT;
        while let Next::Queue(child) = answer {
            match self.nodes[node].children[child as usize] {
                Child::Leaf(slot) => return Next::Queue(slot),
                Child::Node(below) => {
                    let Some(offer) = &self.nodes[below].offer else { unreachable!("the node above holds its offer") };
                    (node, answer) = (below, Next::Queue(offer.child as Slot));
                }
            }
        }
        answer
    }

    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, tag: Tag, head: Option<Tag>) {
        let Leaf { parent, flow } = self.leaves[queue as usize];
        if head.is_none() {
            self.count(parent, false);
        }
        self.serving = Some(Serving { length: packet.length, gone: (now, 0), parent });
        let (mut node, mut child) = (parent, (flow.slot, tag, head));
        loop {
            let clock = self.clock(node, now);
            let (slot, tag, head) = child;
            let Node { scheduler, is_served, offer, flow, parent, .. } = &mut self.nodes[node];
            scheduler.sent(clock, slot, packet, tag, head);
            *is_served = true;
            let Some(offer) = offer.take() else { return };
            // The next head is not known yet.
            child = (flow.slot, offer.tag, None);
            let above = *parent;
            self.postpone(node);
            node = above;
        }
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        let Leaf { parent, flow } = self.leaves[gone.queue as usize];
        if gone.head.is_none() {
            self.count(parent, false);
        }
        let clock = self.clock(parent, now);
        self.nodes[parent].scheduler.removed(clock, Gone { queue: flow.slot, flow, ..gone });
        if gone.was_head && self.nodes[parent].offer.is_some_and(|offer| offer.child == flow.slot as usize) {
            self.withdraw(now, parent);
        }
    }

    fn idle(&mut self, now: Time) {
        self.nodes[ROOT].scheduler.idle(now);
    }

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        if let Some(serving) = &mut self.serving {
            serving.gone = (now, serving.gone_by(now, self.rate));
        }
        self.rate = rate;
        self.nodes[ROOT].scheduler.change(now, change)
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.nodes[ROOT].scheduler.readings(now, visit);
    }
}
