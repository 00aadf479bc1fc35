//! Start and finish tags of the heads of queues, for schedulers whose virtual time follows the
//! packets they send.
//!
//! Source: Golestani, "A Self-Clocked Fair Queueing Scheme", INFOCOM 1994; Goyal, Vin and Cheng,
//! "Start-time Fair Queueing", SIGCOMM 1996: S = max(F of the packet before, V at the arrival),
//! F = S + L/w.
//! Departs: a packet is tagged when it becomes the head of its queue, not when it arrives. For SCFQ
//! and SFQ it is the same: while a packet of the flow waits, V is not above its F, so that the next
//! packet's S is that F. WF2Q+ and the leap forward clock are defined in this way.
//!
//! *A drop costs nothing*: the packet behind a dropped head takes over its S; a flow that a drop
//! empties keeps that S as its last F. *A weight that changes* counts for the head. *A flow that
//! begins at V is as new*: what its lengths over its weight were rounded down by is left behind
//! with its F. *When the line becomes idle* all F are reset by a count of busy periods: V and every
//! F go to zero together.
//!
//! Range: tags are in units of round.rs, 1/(8·10⁹·2¹⁶) byte at weight one. In one busy period a
//! line of 10¹³ bit/s sends 2⁶⁴·³ bytes, which at the least weight are 2¹²³·² of them, and a packet
//! adds less than 2⁹¹: no sum overflows. Tags are compared on the grid of rank.rs up to 2⁶⁴ bytes
//! of weight one (16 days at 100 Gbit/s without an idle moment and a weight of 0.001); beyond,
//! heads leave in order of arrival.

use crate::contract::{Slot, Tag};
use crate::packet::Packet;
use crate::rank;
use crate::round::BYTE_WORK;
use crate::units::Weight;
use crate::waiting::{Stamps, bytes};
use alloc::vec::Vec;

/// The tags of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// S.
    pub start: u128,
    /// F.
    pub finish: u128,
    /// Which packet it is, in order of arrival.
    sequence: u64,
}

impl Head {
    /// A key that orders heads by S, and equal ones by arrival.
    #[must_use]
    #[inline(always)]
    pub const fn by_start(&self) -> Tag {
        rank::tag_on_grid(self.start, self.sequence)
    }

    /// Key by start tag of the next head. Its start tag equals the finish tag encoded in `before`,
    /// the [`Head::by_finish`] of the head in front of it.
    #[must_use]
    #[inline(always)]
    pub(crate) const fn by_start_after(&self, before: Tag) -> Tag {
        rank::renumbered(before, self.sequence)
    }

    /// A key that orders heads by F, and equal ones by arrival.
    #[must_use]
    #[inline(always)]
    pub const fn by_finish(&self) -> Tag {
        rank::tag_on_grid(self.finish, self.sequence)
    }
}

/// The state of a queue: a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Flow {
    /// S of the head packet; F of the last packet sent when the queue is empty.
    start: u128,
    /// F of the head packet.
    finish: u128,
    /// Sequence number of the head packet ([`HeadTags::number`]); 0 when the queue is empty.
    number: u64,
    /// What a byte adds to F, below 2⁵⁹.
    per_byte: u64,
    /// The busy period that `start` belongs to.
    period: u64,
    /// Length of the head packet in bytes.
    length: u32,
    /// The weight in thousandths, below 2³⁰, and [`HAS_REST`] if a byte adds some parts of F besides.
    weight: u32,
}

const _: () = assert!(size_of::<Flow>() == 64);

/// The bit of `weight` that says that the weight does not divide what a byte is.
const HAS_REST: u32 = 1 << 31;

/// The rounding rest of F for a weight that does not divide a byte, in parts of the weight.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    /// Rest that a byte adds to F.
    per_byte: u32,
    /// Sum of what lengths over the weight were rounded down by so far.
    carry: u32,
    /// `carry` after the head is sent.
    carry_after: u32,
}

/// The rest of each queue; used only where the weight leaves one.
#[derive(Clone, Debug)]
struct Rests(Vec<Rest>);

impl Rest {
    /// Whole units that the rests of a head of `length` bytes add to F.
    fn of_head(&mut self, length: u32, weight: u32) -> u128 {
        // 2^32 · 2^30 + 2^30 < 2^63.
        let parts = u64::from(length) * u64::from(self.per_byte) + u64::from(self.carry);
        self.carry_after = (parts % u64::from(weight)) as u32;
        u128::from(parts / u64::from(weight))
    }
}

impl Flow {
    #[inline(always)]
    const fn has_rest(&self) -> bool {
        self.weight & HAS_REST != 0
    }

    #[inline(always)]
    const fn weight(&self) -> u32 {
        self.weight & !HAS_REST
    }

    #[inline(always)]
    fn set_head(&mut self, tag: Tag) {
        (self.number, self.length) = (tag as u64, (tag >> NUMBER_BITS) as u32);
    }

    /// L/w of its head, but for the rest.
    #[inline(always)]
    fn size(&self) -> u128 {
        u128::from(self.length) * u128::from(self.per_byte)
    }

    /// Gives its head an F: S + L/w.
    #[inline(always)]
    fn finish_head(&mut self, queue: Slot, rests: &mut Rests) -> Head {
        let mut size = self.size();
        if self.has_rest() {
            size += rests.0[queue as usize].of_head(self.length, self.weight());
        }
        self.finish = self.start + size;
        self.head()
    }

    #[inline]
    const fn head(&self) -> Head {
        Head { start: self.start, finish: self.finish, sequence: self.number >> NUMBER_SHIFT }
    }
}

/// Bits of the tag beside a packet that hold its number; above is its length. Each half is a word,
/// so that nothing is shifted.
const NUMBER_BITS: u32 = 64;
/// A number holds in its upper bits which packet it is in order of arrival, as far as that counts
/// in a tag: one shift and no mask. Its lower bits say that there is a packet.
const NUMBER_SHIFT: u32 = u64::BITS - rank::SEQUENCE_BITS;

/// The heads of all queues. The caller keeps V and the order of the heads.
#[derive(Clone, Debug)]
pub struct HeadTags {
    flows: Vec<Flow>,
    rests: Rests,
    /// That of the last packet that came.
    number: u64,
    period: u64,
}

impl Default for HeadTags {
    fn default() -> Self {
        Self::new()
    }
}

impl HeadTags {
    /// Nothing has arrived.
    #[must_use]
    pub const fn new() -> Self {
        Self { flows: Vec::new(), rests: Rests(Vec::new()), number: 1, period: 0 }
    }

    /// A packet joins `queue`: the tag to keep beside it.
    #[inline(always)]
    pub fn arrive(&mut self, packet: &Packet) -> Tag {
        self.number = self.number.wrapping_add(1 << NUMBER_SHIFT);
        Tag::from(packet.length) << NUMBER_BITS | Tag::from(self.number)
    }

    /// `queue` has its first packet, while the virtual time is `now`. [`HeadTags::set_weight`]
    /// comes before.
    #[inline]
    pub fn enter(&mut self, queue: Slot, tag: Tag, now: u128) -> Head {
        let last = self.last(queue);
        let flow = &mut self.flows[queue as usize];
        (flow.start, flow.period) = (last.max(now), self.period);
        if last <= now && flow.has_rest() {
            // It begins where V is, and not at an F that was rounded down.
            self.rests.0[queue as usize].carry = 0;
        }
        flow.set_head(tag);
        flow.finish_head(queue, &mut self.rests)
    }

    /// The tags of the head of `queue`, in which a packet waits.
    #[must_use]
    #[inline]
    pub fn head(&self, queue: Slot) -> Head {
        self.flows[queue as usize].head()
    }

    /// S and F of the head of `queue`; a packet behind it has none yet.
    pub(crate) fn stamps(&self, queue: Slot, is_head: bool) -> Stamps {
        let head = self.waiting_head(queue).filter(|_| is_head);
        head.map_or(Stamps::NONE, |head| Stamps {
            start: Some(bytes(head.start)),
            finish: Some(bytes(head.finish)),
            rank: None,
        })
    }

    /// The tags of the head of `queue`, if a packet waits there.
    #[must_use]
    #[inline]
    pub(crate) fn waiting_head(&self, queue: Slot) -> Option<Head> {
        self.flows.get(queue as usize).filter(|flow| flow.number > 0).map(Flow::head)
    }

    /// The head of `queue` was sent, and `next` stands behind it.
    #[inline(always)]
    pub fn sent(&mut self, queue: Slot, next: Option<Tag>) -> Option<Head> {
        let flow = &mut self.flows[queue as usize];
        flow.start = flow.finish;
        let Some(next) = next else {
            flow.number = 0;
            if flow.has_rest() {
                let rest = &mut self.rests.0[queue as usize];
                rest.carry = rest.carry_after;
            }
            return None;
        };
        flow.set_head(next);
        // As `finish_head`, asking once whether there is a rest.
        let mut size = flow.size();
        if flow.has_rest() {
            let rest = &mut self.rests.0[queue as usize];
            rest.carry = rest.carry_after;
            size += rest.of_head(flow.length, flow.weight());
        }
        flow.finish = flow.start + size;
        Some(flow.head())
    }

    /// The head of `queue` was dropped, and `next` stands behind it.
    #[inline(always)]
    pub fn replaced(&mut self, queue: Slot, next: Option<Tag>) -> Option<Head> {
        let flow = &mut self.flows[queue as usize];
        let Some(next) = next else {
            flow.number = 0;
            return None;
        };
        flow.set_head(next);
        Some(flow.finish_head(queue, &mut self.rests))
    }

    /// F of the last packet sent of the flow of `queue`, or what is left of it: S of its head if
    /// one waits.
    #[must_use]
    #[inline]
    pub fn last(&self, queue: Slot) -> u128 {
        self.flows.get(queue as usize).filter(|flow| flow.period == self.period).map_or(0, |flow| flow.start)
    }

    /// The weight of the flow of `queue` in thousandths; 0 if it was never given.
    #[must_use]
    pub fn weight(&self, queue: Slot) -> u32 {
        self.flows.get(queue as usize).map_or(0, Flow::weight)
    }

    /// Whether a packet waits in `queue`.
    #[must_use]
    #[inline]
    pub fn waits(&self, queue: Slot) -> bool {
        self.flows.get(queue as usize).is_some_and(|flow| flow.number > 0)
    }

    /// Whether a packet waits in `queue` and the weight of its flow is `weight`.
    #[must_use]
    #[inline]
    pub fn waits_with(&self, queue: Slot, weight: Weight) -> bool {
        self.flows.get(queue as usize).is_some_and(|flow| flow.number > 0 && flow.weight() == weight.thousandths())
    }

    /// The weight of the flow of `queue` is `weight` from now on. Gives the head's tags if that
    /// changed them.
    #[inline]
    pub fn set_weight(&mut self, queue: Slot, weight: Weight) -> Option<Head> {
        let known = self.flows.get(queue as usize).is_some_and(|flow| flow.weight() == weight.thousandths());
        if known { None } else { self.change_weight(queue, weight.thousandths()) }
    }

    /// One division per change of weight, so that packets need none.
    #[cold]
    fn change_weight(&mut self, queue: Slot, weight: u32) -> Option<Head> {
        let index = queue as usize;
        if index >= self.flows.len() {
            self.flows.resize(index + 1, Flow::default());
            self.rests.0.resize(index + 1, Rest::default());
        }
        let (flow, rest) = (&mut self.flows[index], &mut self.rests.0[index]);
        let (per_byte, left) = (BYTE_WORK / u128::from(weight), BYTE_WORK % u128::from(weight));
        flow.weight = weight | if left > 0 { HAS_REST } else { 0 };
        flow.per_byte = per_byte as u64;
        (rest.per_byte, rest.carry) = (left as u32, 0);
        (flow.number > 0).then(|| flow.finish_head(queue, &mut self.rests))
    }

    /// The line is idle: V and every F are zero.
    pub fn reset(&mut self) {
        self.period += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::BYTE;
    use crate::units::Time;

    fn packet(length: u32) -> Packet {
        Packet::new(0, Time::ZERO, length)
    }

    #[test]
    fn a_drop_costs_nothing_and_a_changed_weight_counts_for_the_head() {
        let mut tags = HeadTags::new();
        tags.set_weight(3, Weight::ONE);
        let [a, b, c] = [4, 5, 6].map(|length| tags.arrive(&packet(length)));
        let in_bytes = |head: Option<Head>| head.map(|head| (head.start / BYTE, head.finish / BYTE));
        let first = tags.enter(3, a, 10 * BYTE);
        assert_eq!(in_bytes(Some(first)), Some((10, 14)));
        // The head is dropped: the next one takes its S. It is sent: the third begins at its F.
        assert_eq!(in_bytes(tags.replaced(3, Some(b))), Some((10, 15)));
        assert_eq!(in_bytes(tags.sent(3, Some(c))), Some((15, 21)));
        assert_eq!(in_bytes(tags.set_weight(3, Weight::from_thousandths(2000).unwrap())), Some((15, 18)));
        // That is dropped too: 15 is the last F. A packet at V = 12 begins there, one in the next
        // busy period at V.
        assert_eq!(tags.replaced(3, None), None);
        assert_eq!(tags.last(3), 15 * BYTE);
        let d = tags.arrive(&packet(2));
        assert_eq!(in_bytes(Some(tags.enter(3, d, 12 * BYTE))), Some((15, 16)));
        assert_eq!(tags.sent(3, None), None);
        tags.reset();
        assert_eq!((tags.last(3), in_bytes(Some(tags.enter(3, d, BYTE)))), (0, Some((1, 2))));
        assert!(first.by_start() < first.by_finish());
    }

    #[test]
    fn lengths_over_a_weight_that_does_not_divide_them_sum_up_exactly() {
        let mut tags = HeadTags::new();
        tags.set_weight(0, Weight::from_thousandths(7001).unwrap());
        let tag = tags.arrive(&packet(1));
        tags.enter(0, tag, 0);
        for _ in 0..70_010 {
            tags.sent(0, Some(tag));
        }
        assert_eq!(tags.last(0), 10_000 * BYTE);
    }

    #[test]
    fn who_begins_at_v_is_as_new_though_its_weight_left_a_rest() {
        let mut tags = HeadTags::new();
        tags.set_weight(0, Weight::from_thousandths(7001).unwrap());
        let tag = tags.arrive(&packet(1));
        // Each time in another busy period, then in one.
        for now in [0; 20_000].into_iter().chain((0..20_000).map(|n| n * BYTE)) {
            assert_eq!(tags.enter(0, tag, now).finish - now, BYTE_WORK / 7001);
            tags.sent(0, None);
            if now == 0 {
                tags.reset();
            }
        }
    }

    #[test]
    fn the_longest_busy_period_of_the_fastest_line_overflows_nothing() {
        let mut tags = HeadTags::new();
        tags.set_weight(0, Weight::from_thousandths(1).unwrap());
        let tag = tags.arrive(&packet(u32::MAX));
        // All that 10 Tbit/s send in 2^64 ps, of one flow of the least weight.
        let far = 1000 * BYTE * ((1_u128 << 64) * 10 / 8);
        let head = tags.enter(0, tag, far);
        assert_eq!(head.finish, far + 1000 * BYTE * u128::from(u32::MAX));
        // Beyond the grid equal keys leave in order of arrival.
        let other = tags.arrive(&packet(1));
        tags.set_weight(1, Weight::ONE);
        assert!(head.by_finish() < tags.enter(1, other, far).by_finish());
    }
}
