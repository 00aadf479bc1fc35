//! Longest-queue drop: when too much waits, the flow that uses most buffer space loses a packet.
//!
//! Use when: flows have queues of their own and the one that fills the buffer should lose; it is
//! the default there. It gives no early signal: for short queues use `fq_codel`.
//! Source: Demers, Keshav and Shenker 1990 (Definition); McKenney 1990; Suter et al., INFOCOM 1998
//! (from the front).
//! Chosen: the arriving packet counts; of equal queues the arriving packet's loses, else the one
//! with the lowest number; the longest is measured in the limit's unit (packets if there is none).
//! Cost: O(1) a packet; a drop settles what was left to be done since the last, O(log N) for each
//! queue that shrank: amortised over the packets that left it, at worst all queues in one call.
//! Bound: a queue within limit / (backlogged queues) never loses (laws.rs:
//! a_queue_within_its_share_never_loses).
//! Changes: a rate means nothing to it; packets beyond a lower limit go at the next arrival, from
//! the longest queues. A queue that began without a limit refuses one.

use crate::change::{Change, Unsupported};
use crate::contract::{BufferPolicy, End, Flow, HeldPacket, Line, Slot, Verdict, Victim};
use crate::facts::Overflow;
use crate::heap::Heap;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts};
use crate::reading::no_readings;
use crate::store::{Entry, Store};
use crate::traits::Traits;
use crate::units::{Bytes, Limit, Time};
use core::cmp::Reverse;

/// Which end of the longest queue loses.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// Which packet of the longest queue loses; the paper's rule is `tail`.
    pub from: End,
}

impl Part for Settings {
    facts!(tells_flows_apart = false, overflow = Overflow::Deals, looks_at_queues = true);
}

/// Finds the longest queue lazily: a heap of upper bounds. A queue that grows past its bound raises
/// it; a queue that shrinks leaves it, and the top is settled only when a victim is asked for.
pub struct LongestQueueDrop {
    from: End,
    /// The greatest number of waiting bytes in a whole design that counts bytes beside its limit;
    /// [`NO_MEMORY`] otherwise.
    memory: u64,
    /// Bytes of each packet that do not count.
    uncounted: u64,
    /// Whether of equally long queues always the one with the lowest number loses.
    lowest_loses: bool,
    /// By bound, the greatest first; of equal ones the queue with the lowest number.
    bounds: Heap<(Reverse<u64>, Slot)>,
    /// Whether bounds are of another limit, and missing where there was none.
    is_stale: bool,
}

const NO_MEMORY: u64 = u64::MAX;

impl LongestQueueDrop {
    /// All queues are empty.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        Self::dropping(settings.from, NO_MEMORY)
    }

    /// Drops the first packet of the queue with most bytes, when more waits than the limit or than
    /// `memory`.
    #[must_use]
    pub fn of_fattest(memory: Bytes) -> Self {
        Self::dropping(End::Front, memory.0)
    }

    fn dropping(from: End, memory: u64) -> Self {
        Self { from, memory, uncounted: 0, lowest_loses: false, bounds: Heap::new(), is_stale: false }
    }

    /// This policy with lengths that leave out `bytes` of each packet.
    #[must_use]
    pub fn without(self, bytes: Bytes) -> Self {
        Self { uncounted: bytes.0, ..self }
    }

    /// This policy with a rule for equally long queues: if `lowest_loses`, the one with the lowest
    /// number loses.
    #[must_use]
    pub fn with_lowest_losing(self, lowest_loses: bool) -> Self {
        Self { lowest_loses, ..self }
    }

    /// The queue that loses, asked by a design that has found for itself that there is no room.
    pub(crate) fn fattest(&mut self, store: &Store, arriving: Slot) -> Option<(Slot, Reason)> {
        match self.longest(store, arriving)? {
            (Victim::End(queue, _), reason) => Some((queue, reason)),
            (Victim::Packet(_), _) => None,
        }
    }

    /// The queue that loses.
    #[cold]
    fn longest(&mut self, store: &Store, arriving: Slot) -> Option<(Victim, Reason)> {
        if core::mem::take(&mut self.is_stale) {
            self.measure_all(store);
        }
        loop {
            let (queue, (Reverse(bound), _)) = self.bounds.peek()?;
            let length = self.measure(store, queue);
            if length == 0 {
                self.bounds.remove(queue);
            } else if length < bound {
                self.bounds.update(queue, (Reverse(length), queue));
            } else {
                let is_arriving = !self.lowest_loses && self.measure(store, arriving) == length;
                let longest = if is_arriving { arriving } else { queue };
                return Some((Victim::End(longest, self.from), Reason::LongestQueue));
            }
        }
    }

    /// Measures every queue anew.
    fn measure_all(&mut self, store: &Store) {
        let mut bounds = Heap::new();
        store.visit(&mut |Entry { queue, .. }, is_head| {
            if is_head {
                bounds.push(queue, (Reverse(self.measure(store, queue)), queue));
            }
        });
        self.bounds = bounds;
    }

    /// Whether more waits than may.
    #[inline]
    fn is_over(&self, store: &Store) -> bool {
        store.is_over_limit() || store.bytes() > self.memory
    }

    /// The length of `queue` in the limit's unit.
    fn measure(&self, store: &Store, queue: Slot) -> u64 {
        let packets = u64::from(store.queue_packets(queue));
        if self.counts_packets(store) {
            return packets;
        }
        // A packet counts for a byte at least: a queue that holds any can lose.
        store.queue_bytes(queue).saturating_sub(packets.saturating_mul(self.uncounted)).max(packets)
    }

    fn counts_packets(&self, store: &Store) -> bool {
        !matches!(store.limit(), Limit::Bytes(_)) && self.memory == NO_MEMORY
    }
}

impl BufferPolicy for LongestQueueDrop {
    // A bound that is too great changes nothing.
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits { hears_joins: true, bypass: u32::try_from(self.memory).unwrap_or(u32::MAX), ..Traits::PLAIN }
    }

    // Without a limit no bounds were kept, and another one may be in another unit.
    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        self.is_stale |= matches!(change, Change::Limit(_));
        change.not_used()
    }

    #[inline]
    fn admit(&mut self, _now: Time, store: &Store, _queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        if u64::from(packet.length) > self.memory {
            return Verdict::Drop(Reason::TooLong);
        }
        super::refuse_too_long(store, packet)
    }

    #[inline]
    fn joined(&mut self, _now: Time, store: &Store, held: HeldPacket<'_>) {
        if store.is_unlimited() && self.memory == NO_MEMORY {
            // No packet will ever be dropped for room.
            return;
        }
        let queue = held.queue;
        let length = self.measure(store, queue);
        match self.bounds.key(queue) {
            Some((Reverse(bound), _)) if bound >= length => {}
            _ => self.bounds.push(queue, (Reverse(length), queue)),
        }
    }

    #[inline]
    fn victim(&mut self, _now: Time, store: &Store, arriving: Slot) -> Option<(Victim, Reason)> {
        if self.is_over(store) { self.longest(store, arriving) } else { None }
    }

    no_readings!();
}
