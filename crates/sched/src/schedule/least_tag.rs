//! Schedulers that send the head of the least tag: one skeleton, a [`Tagging`] for what differs.
//!
//! A tagging gives packets their tags, and the heads of queues the keys by which they leave. In
//! `fq`, `wfq` and `virtual_clock` the key of a head is the tag that it was given on arrival; in
//! `scfq` and `sfq` it is a tag that the packet is given as a head.

use crate::change::{Change, Unsupported};
use crate::contract::{Flow, Gone, Next, Scheduler, Slot, Tag};
use crate::packet::Packet;
use crate::rank;
use crate::reading::Reading;
use crate::store::Store;
use crate::tournament::Tournament;
use crate::traits::Traits;
use crate::units::{Rate, Time, Weight};
use crate::waiting::{Decision, Stamps, bytes_on_grid};

/// What tells one scheduler that sends the head of the least tag from another. Methods that are
/// called as those of [`Scheduler`] do what is said there.
pub trait Tagging: Send {
    /// [`Scheduler::traits`]. One that preempts has a head of a lesser value interrupt the packet
    /// being sent; keys are tags then.
    fn traits(&self) -> Traits;

    /// What the key of a head is, as [`Decision::by`] says it.
    const BY: &'static str;

    /// The step of the card that sends the head of the least key, as [`Decision::step`].
    const CHOOSES: u8;

    /// Whether the key of a head follows the weight of its flow. Weights are told before packets
    /// join then.
    const REWEIGHS_HEADS: bool = false;

    /// The tag of a packet that joins `queue`.
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag;

    /// The key of the first packet of `queue`, which was empty, by the packet's `tag`.
    #[inline(always)]
    fn enter(&mut self, _queue: Slot, tag: Tag) -> Tag {
        tag
    }

    /// The head of `queue` is sent: the key of the next one, by its tag `head`.
    #[inline(always)]
    fn sent(&mut self, _queue: Slot, head: Option<Tag>) -> Option<Tag> {
        head
    }

    /// The head of `queue` was dropped: the key of the next one, by its tag `head`.
    fn replaced(&mut self, _queue: Slot, head: Option<Tag>) -> Option<Tag> {
        head
    }

    /// A packet that had joined was dropped, from anywhere in its queue.
    fn dropped(&mut self, _now: Time, _gone: &Gone<'_>) {}

    /// A packet that would have joined `queue` was refused.
    fn refused(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) {}

    /// The line has become idle. Told only if its traits say `hears_idle`.
    fn idle(&mut self) {}

    /// [`Scheduler::is_settled_at`].
    fn is_settled_at(&self, _time: Time) -> bool {
        true
    }

    /// [`Scheduler::is_clear`].
    fn is_clear(&mut self, now: Time, queue: Slot) -> bool;

    /// The line has a new rate from now.
    fn rate_changed(&mut self, _now: Time, _rate: Rate) {}

    /// The flow of `queue` has a new weight from now. Returns the key of its head if that changed.
    fn weight_changed(&mut self, now: Time, queue: Slot, weight: Weight) -> Option<Tag>;

    /// [`Scheduler::stamps`].
    fn stamps(&self, queue: Slot, tag: Tag, is_head: bool) -> Stamps;

    /// The value of the key of a head, as [`Decision::value`].
    fn shown(&self, key: Tag) -> f64 {
        bytes_on_grid(key)
    }

    /// Its clock, as [`Decision::clock`].
    fn clock(&mut self, _now: Time) -> Option<f64> {
        None
    }

    /// Visits inner values by name; `least` is the key of the head that goes next.
    fn readings(&self, least: Option<Tag>, visit: &mut dyn FnMut(Reading<'_>));
}

/// Sends the head of the least key.
pub struct LeastTag<T> {
    pub(crate) tagging: T,
    /// Backlogged queues by the key of their head.
    heads: Tournament,
}

impl<T: Tagging> LeastTag<T> {
    /// Nothing has arrived.
    #[must_use]
    pub(crate) const fn with_tagging(tagging: T) -> Self {
        Self { tagging, heads: Tournament::new() }
    }

    #[inline]
    fn reweigh(&mut self, now: Time, queue: Slot, weight: Weight) {
        if let Some(key) = self.tagging.weight_changed(now, queue, weight) {
            self.heads.push(queue, key);
        }
    }
}

impl<T: Tagging> Scheduler for LeastTag<T> {
    #[inline(always)]
    fn traits(&self) -> Traits {
        self.tagging.traits()
    }

    #[inline(never)]
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        if T::REWEIGHS_HEADS {
            self.reweigh(now, queue, flow.weight);
        }
        self.tagging.arrive(now, queue, flow, packet)
    }

    #[inline]
    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        let key = self.tagging.enter(queue, tag);
        self.heads.add(queue, key);
    }

    fn continued(&mut self, queue: Slot, tag: Tag) {
        let key = self.tagging.enter(queue, tag);
        self.heads.push(queue, key);
    }

    fn refused(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) {
        self.tagging.refused(now, queue, flow, packet);
    }

    #[inline]
    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        self.heads.peek().map_or(Next::Empty, |(queue, _)| Next::Queue(queue))
    }

    #[inline(always)]
    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, _tag: Tag, head: Option<Tag>) {
        let key = self.tagging.sent(queue, head);
        self.heads.set(queue, key);
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        if gone.was_head {
            let key = self.tagging.replaced(gone.queue, gone.head);
            self.heads.set(gone.queue, key);
        }
        self.tagging.dropped(now, &gone);
    }

    fn idle(&mut self, _now: Time) {
        self.tagging.idle();
    }

    fn is_settled_at(&self, time: Time) -> bool {
        self.tagging.is_settled_at(time)
    }

    fn is_clear(&mut self, now: Time, queue: Slot) -> bool {
        self.tagging.is_clear(now, queue)
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        match *change {
            Change::Rate(rate) => self.tagging.rate_changed(now, rate),
            Change::Weight(queue, weight) => self.reweigh(now, queue, weight),
            _ => return change.not_used(),
        }
        Ok(())
    }

    fn preempts(&self, serving: Tag) -> bool {
        let least = self.heads.peek().map(|(_, key)| rank::value(key));
        self.traits().preempts && least.is_some_and(|least| least < rank::value(serving))
    }

    fn stamps(&self, queue: Slot, tag: Tag, is_head: bool) -> Stamps {
        self.tagging.stamps(queue, tag, is_head)
    }

    fn decision(&mut self, now: Time, queue: Slot) -> Option<Decision> {
        let (_, key) = self.heads.peek()?;
        let decision = Decision::by(T::BY, queue).with_value(self.tagging.shown(key)).in_step(T::CHOOSES);
        Some(Decision { clock: self.tagging.clock(now), ..decision })
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.tagging.readings(self.heads.peek().map(|(_, key)| key), visit);
    }
}
