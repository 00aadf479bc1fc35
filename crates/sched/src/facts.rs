//! What the settings of a part say of it before it is built: one value, read by its fields.

use crate::class_tree::{Place, leaf_names};
use crate::units::{Bytes, Limit};

/// The facts of a part. A part that says none has those of [`Facts::PLAIN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it needs of packets that not every driver tells: where nothing tells it, the part does
    /// not do what its card says.
    pub needs: &'static [Need],
    /// Whether what it does depends on a packet's flow, as the classifier tells it.
    pub tells_flows_apart: bool,
    /// Whether the weights of flows matter to it.
    pub goes_by_weights: bool,
    /// Whether it computes with the rate of the line and is given none: it cannot stand in a leaf.
    pub needs_rate: bool,
    /// Whether it may give packets that accept it the mark CE, *congestion experienced*.
    pub marks_congestion: bool,
    /// Of a scheduler: the queues in which packets wait.
    pub queues: Queues,
    /// Of a scheduler: whether the tags that it gives packets are the order in which they leave, so
    /// that the packet of the greatest tag is the one that matters least.
    pub ranks_packets: bool,
    /// Of a scheduler: whether it can share among the classes of a tree. It names a queue whenever
    /// one holds a packet, does not look into the store, interrupts nothing, and may be told that
    /// the queue it named last was sent though others have packets by then.
    pub fits_inner_nodes: bool,
    /// Of a scheduler or design: whether it sends packets at the pace of their connection, so that
    /// on a host it paces TCP (Linux: sch_fq.c `fq_dequeue`, `sk_pacing_rate`).
    pub paces: bool,
    /// Of a buffer policy: what it has to do with a full buffer.
    pub overflow: Overflow,
    /// Of a buffer policy: whether it judges a queue by its length, or by what waits behind a
    /// packet.
    pub looks_at_queues: bool,
    /// Of a classifier: whether no two hosts' flows to one destination, nor those of one host to
    /// two, share a queue.
    pub keeps_conversations_apart: bool,
    /// Of a buffer policy or a whole design: the name of the classifier that it is made for, if that
    /// is not the default.
    pub classifier: Option<&'static str>,
    /// Of a whole design: how much may wait where the queue says nothing.
    pub own_limit: Limit,
    /// Of a whole design: how many parts of it may each hold what a limit in packets says.
    pub parts_with_limit: u64,
    /// Of a whole design: bytes that may wait at most, beside the limit.
    pub memory: Option<Bytes>,
}

impl Facts {
    /// Those of a part that tells flows apart, has a queue for each, and needs and limits nothing.
    pub const PLAIN: Self = Self {
        needs: &[],
        tells_flows_apart: true,
        goes_by_weights: false,
        needs_rate: false,
        marks_congestion: false,
        queues: Queues::PerFlow,
        ranks_packets: false,
        fits_inner_nodes: false,
        paces: false,
        overflow: Overflow::Both,
        looks_at_queues: false,
        keeps_conversations_apart: false,
        classifier: None,
        own_limit: Limit::Unlimited,
        parts_with_limit: 1,
        memory: None,
    };

    /// Those of a scheduler of the classes at `places`: it tells no flows apart, and needs their
    /// classes if there are several leaves and none lists a code point. Plain without places.
    #[must_use]
    pub fn of_tree(places: &[Place<'_>]) -> Self {
        if places.is_empty() {
            return Self::PLAIN;
        }
        let is_told = places.iter().any(|place| !place.dscp.is_empty()) || leaf_names(places).len() < 2;
        let needs: &[Need] = if is_told { &[] } else { &[Need::Class] };
        Self { needs, tells_flows_apart: false, queues: Queues::Own, ..Self::PLAIN }
    }
}

/// The queues in which a scheduler lets packets wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// Every flow waits in a queue of its own. Longest-queue drop is then the default.
    PerFlow,
    /// Every packet waits in a queue of its own.
    PerPacket,
    /// One queue, or one for each class, level or bucket.
    Own,
}

/// What a buffer policy has to do with a full buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It acts before the buffer is full and leaves the full one to another policy.
    Leaves,
    /// It only deals with a full buffer, so that it can stand beside one that acts before.
    Deals,
    /// It acts before the buffer is full and deals with the full one too.
    Both,
}

/// Something that a packet's descriptor may say of it, and may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// [`Packet::remaining`](crate::packet::Packet::remaining).
    Remaining,
    /// [`Packet::deadline`](crate::packet::Packet::deadline).
    Deadline,
    /// [`Packet::acknowledges`](crate::packet::Packet::acknowledges).
    Acknowledges,
    /// In the core of an island of gateways, [`Packet::label`](crate::packet::Packet::label) as an
    /// edge writes it.
    Label,
    /// The class of a packet's flow ([`Line::classes`](crate::contract::Line::classes)): no class
    /// has a code point of its own.
    Class,
    /// That a packet accepts the bit of DECbit ([`Marks::DEC`](crate::packet::Marks::DEC)).
    AcceptsDec,
    /// That a packet accepts the bit of 1990 ([`Marks::FQ`](crate::packet::Marks::FQ)).
    AcceptsFq,
}

impl Need {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Remaining,
        Self::Deadline,
        Self::Acknowledges,
        Self::Label,
        Self::Class,
        Self::AcceptsDec,
        Self::AcceptsFq,
    ];
}
