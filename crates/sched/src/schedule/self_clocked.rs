//! The tags of `scfq` and `sfq`, whose virtual time is a tag of the packet in service.
//!
//! When the line is idle V and all F go back to zero. A packet that is dropped costs its flow
//! nothing (head_tags.rs).

use super::least_tag::{LeastTag, Tagging};
use crate::contract::{Flow, Line, Slot, Tag, traits};
use crate::head_tags::{Head, HeadTags};
use crate::packet::Packet;
use crate::reading::{Reading, Unit};
use crate::round::BYTE;
use crate::units::{Time, Weight};
use crate::waiting::{Stamps, bytes};
use core::marker::PhantomData;

/// Which tag of a head counts.
pub trait Counts: Send {
    /// The key by which `head` leaves, and V while it is in service.
    fn key_and_clock(head: Head) -> (Tag, u128);

    /// The name of that tag.
    const NAME: &'static str;

    /// The step of the card that sends the head of the least such tag.
    const CHOOSES: u8;
}

#[inline(always)]
fn key<C: Counts>(head: Head) -> Tag {
    C::key_and_clock(head).0
}

/// Tags of heads, and a clock that is one of them.
pub struct SelfClocked<C> {
    pub(crate) tags: HeadTags,
    /// V: what counts of the packet in service.
    pub(crate) virtual_time: u128,
    counts: PhantomData<C>,
}

impl<C: Counts> LeastTag<SelfClocked<C>> {
    /// Nothing has arrived. Nothing can be set, and the line's rate does not matter.
    #[must_use]
    pub const fn new<S>(_: &S, _: &Line) -> Self {
        Self::with_tagging(SelfClocked { tags: HeadTags::new(), virtual_time: 0, counts: PhantomData })
    }
}

impl<C: Counts> Tagging for SelfClocked<C> {
    // V and all F are zero when the line becomes idle: it does not matter which flow came last.
    traits!(hears_idle = true, bypass = u32::MAX, replays = true);

    const BY: &'static str = C::NAME;
    const CHOOSES: u8 = C::CHOOSES;
    const REWEIGHS_HEADS: bool = true;

    #[inline(always)]
    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, packet: &Packet) -> Tag {
        self.tags.arrive(packet)
    }

    #[inline(always)]
    fn enter(&mut self, queue: Slot, tag: Tag) -> Tag {
        // S = max(F', V), F = S + L/w
        key::<C>(self.tags.enter(queue, tag, self.virtual_time))
    }

    #[inline(always)]
    fn sent(&mut self, queue: Slot, head: Option<Tag>) -> Option<Tag> {
        self.virtual_time = C::key_and_clock(self.tags.head(queue)).1;
        self.tags.sent(queue, head).map(key::<C>)
    }

    fn replaced(&mut self, queue: Slot, head: Option<Tag>) -> Option<Tag> {
        self.tags.replaced(queue, head).map(key::<C>)
    }

    fn idle(&mut self) {
        self.virtual_time = 0;
        self.tags.reset();
    }

    fn is_clear(&mut self, _now: Time, queue: Slot) -> bool {
        self.tags.last(queue) <= self.virtual_time
    }

    #[inline]
    fn weight_changed(&mut self, _now: Time, queue: Slot, weight: Weight) -> Option<Tag> {
        self.tags.set_weight(queue, weight).map(key::<C>)
    }

    fn stamps(&self, queue: Slot, _tag: Tag, is_head: bool) -> Stamps {
        self.tags.stamps(queue, is_head)
    }

    fn clock(&mut self, _now: Time) -> Option<f64> {
        Some(bytes(self.virtual_time))
    }

    fn readings(&self, _least: Option<Tag>, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("virtual_time_bytes", Unit::Bytes, self.virtual_time as f64 / BYTE as f64));
    }
}
