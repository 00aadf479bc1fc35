//! What a discipline must obey, and what each of the four parts of a composed one is asked.
//!
//! A driver (simulator, gateway, page, replay) runs one loop: it offers arrivals with [`Discipline::enqueue`], asks
//! [`Discipline::dequeue`] when the line is free, and waits until the time that it or
//! [`Discipline::next_update`] gave. It also asks when a transmission ends and nothing waits: *empty* means that the
//! line is idle from now, and averages and clocks hang on that. The packet that is being sent, the last one
//! dequeued, is not among the waiting ones: limits count without it.
//!
//! Nothing here knows a clock. `now` never decreases over the calls on one discipline; at the root it is real time,
//! inside a hierarchy it is service over rate.

use crate::class_tree::ClassTree;
use crate::packet::{Fates, Header, Marks, Packet, Reason};
use crate::store::Store;
use crate::units::{Limit, Rate, Time, Weight};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A dense number of a flow or of a queue inside one discipline.
pub type Slot = u32;

/// The name of a held packet, by which its owner can have it removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(u64);

impl Handle {
    /// The name of the packet that is held at `index` as number `generation` of those that were held there.
    #[inline]
    pub(crate) const fn new(index: u32, generation: u32) -> Self {
        Self((generation as u64) << 32 | index as u64)
    }

    /// Where it is held.
    #[inline]
    pub(crate) const fn index(self) -> u32 {
        self.0 as u32
    }

    /// Which of the packets that were held there it is.
    #[inline]
    pub(crate) const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The handle as a number, for an owner in another language.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The handle of a number that [`Handle::to_bits`] of the same discipline gave. Like any handle it may be old.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// What dequeue answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeue {
    /// Send this packet now. It is no longer held.
    Send(Packet),
    /// Packets are held but none may leave before this time. Answered anew at each call; asking early does no harm.
    NotBefore(Time),
    /// Nothing is held; the line is idle from now.
    Empty,
}

/// How much is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Waiting packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What the line tells a discipline when it is built.
#[derive(Clone, Debug)]
pub struct Line {
    /// The nominal rate. A discipline whose law needs one keeps it until [`Discipline::rate_changed`].
    pub rate: Rate,
    /// The seed of everything drawn or hashed inside.
    pub seed: u64,
    /// The weights that differ from 1, each with a header of its flow.
    pub weights: Vec<(Header, Weight)>,
    /// The classes of flows that name one, each with a header of its flow.
    pub classes: Vec<(Header, String)>,
    /// What the gateway is to the flows that pass it.
    pub role: Role,
}

impl Line {
    /// A line of `rate` with all weights 1, no classes, at a gateway that is edge and core at once.
    #[must_use]
    pub const fn new(rate: Rate) -> Self {
        Self { rate, seed: 0, weights: Vec::new(), classes: Vec::new(), role: Role::Both }
    }
}

/// Where a gateway stands in an island of gateways that share labels (CSFQ, Rainbow FQ).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Role {
    /// It keeps state for each flow and labels packets, and sends them on by their labels.
    #[default]
    Both,
    /// The same as `both`: packets enter the island here.
    Edge,
    /// It keeps no state for flows and believes the labels.
    Core,
}

impl Role {
    /// Whether it labels packets.
    #[must_use]
    pub const fn labels(self) -> bool {
        !matches!(self, Self::Core)
    }
}

/// A whole queueing discipline.
pub trait Discipline: Send {
    /// Offers a packet. It is held, or its fate is reported; so is the fate of any other packet that it pushed out.
    /// The handle names the packet while it is held; there is none if it was dropped.
    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle>;

    /// Asks for the next packet. A transmission that was going on has ended.
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue;

    /// How much waits. Changes with every other call that takes `fates`.
    fn held(&self) -> Held;

    /// When a periodic law must run next, if there is one; the driver then calls [`Discipline::update`], after all else
    /// that happens at that time. A discipline with such a law gives a time from the start. It may change with every call
    /// that is given the time.
    fn next_update(&self) -> Option<Time> {
        None
    }

    /// Runs what is due. Missed periods are applied in closed form.
    fn update(&mut self, _now: Time) {}

    /// Removes a held packet and hands it back; its fate is not reported. `None` if it is no longer held.
    fn remove(&mut self, _now: Time, _handle: Handle) -> Option<Packet> {
        None
    }

    /// The line's rate is another from now.
    fn rate_changed(&mut self, _now: Time, _rate: Rate) {}

    /// The weight of the flow of `header` is another from now.
    fn weight_changed(&mut self, _now: Time, _header: &Header, _weight: Weight) {}

    /// The transport of the flow of `header` asks that its packets leave at no more than `rate` from now; nothing
    /// takes the wish back.
    fn pacing_changed(&mut self, _now: Time, _header: &Header, _rate: Option<Rate>) {}

    /// Whether it must be told that the line has become idle; the same for all its life. If not, a driver that knows
    /// that nothing is held need not ask for a packet when a transmission ends. One that lets packets pass
    /// ([`Discipline::passes_when_idle`]) may be told as late as before the next packet that it is shown.
    fn notes_idle(&self) -> bool {
        true
    }

    /// A packet of up to so many bytes that comes while nothing is held and the line is idle is sent as it is and leaves no
    /// trace, but for the order in which flows were first seen; the same for all its life. A driver need not show it such
    /// packets.
    fn passes_when_idle(&self) -> u32 {
        0
    }

    /// If packets leave in the order in which they came, and one is dropped only when it comes and the others would then be more
    /// than a limit: that limit; the same for all its life. A driver that takes no packet out of it may reckon itself when each leaves and
    /// need show it none.
    fn plain_fifo(&self) -> Option<Limit> {
        None
    }

    /// Whether a packet that was not shown to it counts as long as it is being sent; the same for all its life. A driver asks
    /// [`Discipline::may_pass`] before each of them then, and if another packet comes before the end of its transmission
    /// it enqueues and dequeues it after all, at the time at which it came.
    fn recalls_passed(&self) -> bool {
        false
    }

    /// Whether a packet that comes at `time`, and none before it, may pass: nobody is owed anything any more.
    fn may_pass(&self, _time: Time) -> bool {
        true
    }

    /// Whether it may ever want a transmission interrupted; the same for all its life.
    fn can_preempt(&self) -> bool {
        false
    }

    /// Whether the packet being sent should be interrupted for one that has arrived. Asked after an enqueue while a
    /// transmission goes on; may change with each enqueue. A driver that cannot interrupt never asks.
    fn preempts(&self) -> bool {
        false
    }

    /// The transmission of the last packet dequeued was interrupted with `unsent_bits` (> 0) left to send; the packet
    /// comes back with the rank it had and will be dequeued again with [`Packet::unsent_bits`] set. Its old handle does
    /// not name it, and until the next arrival it may wait above the limit.
    fn put_back(&mut self, _now: Time, _unsent_bits: u32) {
        unreachable!("only asked of a discipline that preempts")
    }

    /// Names inner values to one who asks: tags, averages, R.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// A discipline to which a packet's flow can be given by one who knows it, in place of a header to look it up by.
pub trait Offer: Discipline {
    /// As [`Discipline::enqueue`]. The slots of flows are the caller's: all packets come this way, or none does.
    fn offer(&mut self, now: Time, packet: Packet, flow: Flow, fates: &mut Fates) -> Option<Handle>;
}

impl<D: Offer + ?Sized> Offer for Box<D> {
    fn offer(&mut self, now: Time, packet: Packet, flow: Flow, fates: &mut Fates) -> Option<Handle> {
        (**self).offer(now, packet, flow, fates)
    }
}

/// So that whoever holds one in a structure of its own can derive the trait.
impl fmt::Debug for dyn Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discipline").field("held", &self.held()).finish_non_exhaustive()
    }
}

impl<D: Discipline + ?Sized> Discipline for Box<D> {
    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        (**self).enqueue(now, packet, header, fates)
    }
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        (**self).dequeue(now, fates)
    }
    fn held(&self) -> Held {
        (**self).held()
    }
    fn next_update(&self) -> Option<Time> {
        (**self).next_update()
    }
    fn update(&mut self, now: Time) {
        (**self).update(now);
    }
    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        (**self).remove(now, handle)
    }
    fn rate_changed(&mut self, now: Time, rate: Rate) {
        (**self).rate_changed(now, rate);
    }
    fn weight_changed(&mut self, now: Time, header: &Header, weight: Weight) {
        (**self).weight_changed(now, header, weight);
    }
    fn pacing_changed(&mut self, now: Time, header: &Header, rate: Option<Rate>) {
        (**self).pacing_changed(now, header, rate);
    }
    fn notes_idle(&self) -> bool {
        (**self).notes_idle()
    }
    fn passes_when_idle(&self) -> u32 {
        (**self).passes_when_idle()
    }
    fn plain_fifo(&self) -> Option<Limit> {
        (**self).plain_fifo()
    }
    fn recalls_passed(&self) -> bool {
        (**self).recalls_passed()
    }
    fn may_pass(&self, time: Time) -> bool {
        (**self).may_pass(time)
    }
    fn can_preempt(&self) -> bool {
        (**self).can_preempt()
    }
    fn preempts(&self) -> bool {
        (**self).preempts()
    }
    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        (**self).put_back(now, unsent_bits);
    }
    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        (**self).inspect(visit);
    }
}

/// Whose packet is this? A pure function of the header.
pub trait Classifier: Send {
    /// A key of 64 bits for the flow of `header`. `hash` is keyed with the line's seed.
    fn key(&self, header: &Header, hash: crate::hash::Hash) -> u64;
}

/// Why a scheduler has no queue to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The head of this queue goes next.
    Queue(Slot),
    /// No packet may leave before this time.
    NotBefore(Time),
    /// Nothing waits.
    Empty,
}

/// A scheduler's mark on a packet, kept beside it.
pub type Tag = u128;

/// A class of flows in a scheduler that knows classes, by its number there.
pub type Class = u16;

/// What the parts see of a packet's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its number; another flow may have it later, when this one has left nothing behind.
    pub slot: Slot,
    /// Its weight.
    pub weight: Weight,
    /// Its class and 1, or 0: one word, for an `Option` that is written in two parts and read in one waits.
    class: u32,
}

impl Flow {
    /// A flow of weight 1 without a class.
    #[must_use]
    pub const fn of_slot(slot: Slot) -> Self {
        Self::weighted(slot, Weight::ONE)
    }

    /// A flow of `weight` without a class.
    #[must_use]
    pub const fn weighted(slot: Slot, weight: Weight) -> Self {
        Self { slot, weight, class: 0 }
    }

    /// The same flow in `class`.
    #[must_use]
    #[inline]
    pub fn in_class(self, class: Option<Class>) -> Self {
        Self { class: class.map_or(0, |class| u32::from(class) + 1), ..self }
    }

    /// Its class, if it names one that the scheduler knows.
    #[must_use]
    #[inline]
    pub fn class(self) -> Option<Class> {
        self.class.checked_sub(1).map(|class| class as Class)
    }
}

/// Who sends next? A scheduler sees the queues, owns no packet and counts none.
pub trait Scheduler: Send {
    /// The slot of a flow by its key, from a scheduler that hashes flows into buckets of its own; all buckets have
    /// weight 1. Nothing means that each flow is to have a slot.
    fn bucket(&mut self, _now: Time, _key: u64, _store: &Store) -> Option<Slot> {
        None
    }

    /// The tree of which the leaves are its queues, in a scheduler that has one; it says what the next three do.
    fn class_tree(&self) -> Option<&ClassTree> {
        None
    }

    /// The number of the class called `name`, in a scheduler that knows classes. Asked when it is built.
    fn class_named(&self, name: &str) -> Option<Class> {
        self.class_tree()?.class_named(name)
    }

    /// Whether every flow's packets wait in the queue of the flow's own number; the same for all its life. If not,
    /// [`Scheduler::queue_of`] says where, and the packets of flows are counted apart from those of queues.
    fn has_queue_per_flow(&self) -> bool {
        self.class_tree().is_none()
    }

    /// Whether the tags that it gives mean something to it; the same for all its life. If not they are not kept, and the
    /// tag of a packet that it is told of is the packet's length.
    fn tags_packets(&self) -> bool {
        true
    }

    /// The queue for a packet of `flow`. Asked before it is known whether the packet may join: it changes nothing.
    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        self.class_tree().map_or(flow.slot, |tree| tree.leaf_of(flow, packet))
    }

    /// A packet is about to join the end of `queue`; the tag stays beside it.
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag;

    /// As [`Scheduler::arrive`], of a packet that joins others in the queue of its flow, whose weight is the one that was
    /// told last, for one who has little to do then. Nothing means that it did nothing, and that `arrive` is to be called.
    #[inline(always)]
    fn follow(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Option<Tag> {
        Some(self.arrive(now, queue, flow, packet))
    }

    /// `queue`, empty before, has its first packet, with `tag`.
    fn backlogged(&mut self, queue: Slot, tag: Tag);

    /// `queue`, which lost its last packet, has one with `tag` now, and never was without: inside a hierarchy the next
    /// packet is known when the one before has been sent.
    fn continued(&mut self, queue: Slot, tag: Tag) {
        self.backlogged(queue, tag);
    }

    /// A packet that would have joined `queue` was refused on arrival and never held.
    fn refused(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) {}

    /// Which queue sends next? Asked again, it answers the same until something else is told.
    fn next(&mut self, now: Time, store: &Store) -> Next;

    /// The queue that [`Scheduler::next`] would name, from one who knows it by a look; nothing means that it is to be
    /// asked. Only of a scheduler with a queue to each flow.
    #[inline(always)]
    fn next_at_once(&mut self, _now: Time) -> Option<Slot> {
        None
    }

    /// A guess which queue will send when `packets` more have been sent; a wrong one costs time and nothing else.
    #[inline(always)]
    fn soon(&self, _packets: u32) -> Option<Slot> {
        None
    }

    /// Has what is known of `queue` fetched into the caches.
    #[inline(always)]
    fn fetch(&self, _queue: Slot) {}

    /// The head of `queue` was taken to be sent; `head` is the tag of the next one, if any.
    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, tag: Tag, head: Option<Tag>);

    /// A packet of `queue` was dropped or removed from anywhere in it.
    fn removed(&mut self, now: Time, gone: Gone<'_>);

    /// The line has become idle. Told only if [`Scheduler::notes_idle`].
    fn idle(&mut self, _now: Time) {}

    /// Whether it must be told that the line has become idle.
    fn notes_idle(&self) -> bool {
        false
    }

    /// Whether nothing is left of a packet that is sent as soon as it comes, while nothing waits, when its transmission ends;
    /// the same for all its life.
    fn forgets_when_idle(&self) -> bool {
        false
    }

    /// Whether it must know of such a packet as long as that is being sent; the same for all its life.
    fn recalls_passed(&self) -> bool {
        false
    }

    /// Whether, if nothing comes before `time`, nobody is owed anything then. Asked only if [`Scheduler::recalls_passed`].
    fn is_settled_at(&self, _time: Time) -> bool {
        true
    }

    /// Whether the flow in slot `flow`, of which nothing waits, owes nothing and is owed nothing, so that its slot may
    /// serve another flow. After a yes it does: what is known of the flow may be let go.
    fn is_clear(&mut self, now: Time, flow: Slot) -> bool;

    /// The line's rate is another from now.
    fn rate_changed(&mut self, _now: Time, _rate: Rate) {}

    /// The weight of the flow in slot `flow` is another from now.
    fn weight_changed(&mut self, _now: Time, _flow: Slot, _weight: Weight) {}

    /// The flow in slot `flow` wishes to be sent at no more than `rate`.
    fn pacing_changed(&mut self, _now: Time, _flow: Slot, _rate: Option<Rate>) {}

    /// Whether it may ever want a transmission interrupted; the same for all its life.
    fn can_preempt(&self) -> bool {
        false
    }

    /// Whether the packet being sent, whose tag was `serving`, should give way to one that waits.
    fn preempts(&self, _serving: Tag) -> bool {
        false
    }

    /// An interrupted packet is the head of `queue` again, with its old tag.
    fn put_back(&mut self, _queue: Slot, _tag: Tag) {}

    /// Names inner values to one who asks.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// A packet that left its queue without being sent.
#[derive(Clone, Copy, Debug)]
pub struct Gone<'a> {
    /// Its queue.
    pub queue: Slot,
    /// Its flow.
    pub flow: Flow,
    /// The packet.
    pub packet: &'a Packet,
    /// Its tag.
    pub tag: Tag,
    /// The tag of the queue's head now, if any packet is left.
    pub head: Option<Tag>,
    /// Whether it was the first.
    pub was_head: bool,
    /// Whether it was the last.
    pub was_tail: bool,
}

/// Which packet of a queue loses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum End {
    /// The one that has waited longest.
    Front,
    /// The one that came last.
    #[default]
    Tail,
}

/// What a buffer policy says of a packet that arrives or is about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may go on.
    Pass,
    /// Its sender is to be told: it is marked with [`Marks::CE`] if it accepts that, else dropped for this reason.
    Notify(Reason),
    /// It is dropped.
    Drop(Reason),
}

/// Who loses a packet that was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// A packet at one end of a queue.
    End(Slot, End),
    /// A certain packet.
    Packet(Handle),
}

/// A held packet as a buffer policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct HeldPacket<'a> {
    /// Its queue.
    pub queue: Slot,
    /// Its flow's slot.
    pub flow: Slot,
    /// Its name while it is held.
    pub handle: Handle,
    /// The packet.
    pub packet: &'a Packet,
}

/// Who loses when space is short, and before it is?
///
/// Of an arriving packet it is asked [`BufferPolicy::admit`]; if the packet joins, [`BufferPolicy::joined`] follows; in
/// any case [`BufferPolicy::victim`], until nobody is named. A packet that the scheduler has chosen passes
/// [`BufferPolicy::depart`]. Every packet that joined has one [`BufferPolicy::left`] in the end.
pub trait BufferPolicy: Send {
    /// Whether the arriving packet may join `queue`; the packets that wait are `store`'s. The label and the remaining
    /// size of the packet may be changed.
    fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict;

    /// Whether `packet` may join `queue` unseen: it would be admitted as it is, nobody would lose a packet, and that it
    /// has joined would change nothing.
    #[inline(always)]
    fn lets_join(&self, _store: &Store, _queue: Slot, _packet: &Packet) -> bool {
        false
    }

    /// Whether [`BufferPolicy::joined`] ever has something to do; the same for all its life.
    #[inline(always)]
    fn is_told(&self) -> bool {
        true
    }

    /// A packet has joined its queue, or has come back to its head after an interrupted transmission.
    fn joined(&mut self, _now: Time, _store: &Store, _held: HeldPacket<'_>) {}

    /// After an arrival, whether it joined `arriving` or not: who loses a packet. Asked again until it answers `None`.
    fn victim(&mut self, _now: Time, _store: &Store, _arriving: Slot) -> Option<(Victim, Reason)> {
        None
    }

    /// Whether it has something to say in [`BufferPolicy::depart`]; the same for all its life.
    fn judges_departures(&self) -> bool {
        false
    }

    /// The packet at the head of `queue` is about to be sent. If it is dropped the scheduler is asked again.
    fn depart(&mut self, _now: Time, _store: &Store, _queue: Slot) -> Verdict {
        Verdict::Pass
    }

    /// A packet has left its queue: `is_sent`, or dropped, or removed by its owner. `store` is without it.
    fn left(&mut self, _now: Time, _store: &Store, _held: HeldPacket<'_>, _is_sent: bool) {}

    /// The line has become idle. Told only if [`BufferPolicy::notes_idle`].
    fn idle(&mut self, _now: Time) {}

    /// While nothing waits, it admits and lets go every packet of up to so many bytes within the limit as it is, if that is
    /// sent as soon as it comes, and keeps nothing of it; the same for all its life.
    fn passes_when_empty(&self) -> u32 {
        0
    }

    /// Whether it must be told that the line has become idle.
    fn notes_idle(&self) -> bool {
        false
    }

    /// Whether it draws held packets at random ([`Store::drawn`]); the same for all its life.
    fn draws_packets(&self) -> bool {
        false
    }

    /// When its periodic law must run next, if it has one.
    fn next_update(&self) -> Option<Time> {
        None
    }

    /// Runs what is due. Missed periods are applied in closed form.
    fn update(&mut self, _now: Time, _store: &Store) {}

    /// The line's rate is another from now.
    fn rate_changed(&mut self, _now: Time, _rate: Rate) {}

    /// Whether nothing is known of the flow in slot `flow`, of which nothing waits, so that its slot may serve another
    /// flow.
    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    /// Names inner values to one who asks.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// Who is told of congestion?
pub trait Marker: Send {
    /// A packet of `flow` arrives; what is held, and what is being sent, is in `store`, without it. The marks are put
    /// on the packet as far as it accepts them.
    fn arrive(&mut self, now: Time, store: &Store, flow: Slot, packet: &Packet) -> Marks;

    /// Whether it marks nobody and keeps nothing; the same for all its life.
    fn is_silent(&self) -> bool {
        false
    }

    /// Whether it has something to say in [`Marker::depart`]; the same for all its life.
    fn judges_departures(&self) -> bool {
        false
    }

    /// `packet`, the head of its queue, is about to be sent. The marks are put on it as far as it accepts them.
    fn depart(&mut self, _now: Time, _packet: &Packet) -> Marks {
        Marks::NONE
    }

    /// What is held is about to change, or a transmission is about to end. `store` is as it was until now.
    fn before_change(&mut self, _now: Time, _store: &Store) {}

    /// Whether it must be told of the end of a transmission after which the line is idle.
    fn notes_idle(&self) -> bool {
        true
    }

    /// Whether nothing is known of `flow`, which holds nothing, so that its slot may serve another flow.
    fn is_clear(&mut self, _flow: Slot) -> bool {
        true
    }

    /// Names inner values to one who asks.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
