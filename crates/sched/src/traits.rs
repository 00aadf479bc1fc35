//! What a built part or a whole discipline is: one value, constant from its construction. Its
//! drivers read it once a line; the composition reads single fields of its parts for each packet.

use crate::units::Limit;

/// The traits of a part or a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Of a scheduler: whether every flow's packets wait in the queue of the flow's own number. If
    /// `false`, [`Scheduler::queue_of`](crate::contract::Scheduler::queue_of) gives the queue, and
    /// packets per flow are counted apart from packets per queue.
    pub queue_per_flow: bool,
    /// Of a scheduler: whether it reads its own tags again. If `false`, tags are not stored, and
    /// the tag passed back with a packet is the packet's length.
    pub tags: bool,
    /// Whether it must be told that the line has become idle. If `false`, a driver that knows that
    /// nothing is held need not call `dequeue` when a transmission ends. A bypassed discipline is
    /// told that the line went idle no later than just before its next `enqueue`.
    pub hears_idle: bool,
    /// Of a buffer policy: whether
    /// [`BufferPolicy::joined`](crate::contract::BufferPolicy::joined) ever changes state.
    pub hears_joins: bool,
    /// Bypass: a packet of at most this many bytes that arrives while nothing is held and the line
    /// is idle is sent unchanged and leaves no state behind when its transmission ends, except the
    /// order in which flows first appeared. A driver need not show such packets to the discipline.
    pub bypass: u32,
    /// Whether a bypassed packet must be replayed if another arrives before its transmission ends.
    /// If `true`, a driver calls
    /// [`Discipline::may_pass`](crate::contract::Discipline::may_pass) before each bypass; if
    /// another packet comes during the transmission, the driver enqueues and dequeues the bypassed
    /// packet after all, with its time of arrival as `now`.
    pub replays: bool,
    /// Of a discipline: the limit of a plain FIFO; `None` for any other. A plain FIFO serves
    /// packets in order of arrival and drops only an arriving packet that would exceed the limit. A
    /// driver that removes no packets may compute the departure times itself and need show the
    /// discipline no packet.
    pub fifo: Option<Limit>,
    /// Whether a packet may leave a little before the time that it named if it is asked in between:
    /// the time is that at which a timer comes, which may be late.
    pub late_timer: bool,
    /// Whether it may have to wait on at the time that it named: a leaf inside says so when its turn
    /// comes.
    pub waits_on: bool,
    /// Whether it may ever want a transmission interrupted.
    pub preempts: bool,
    /// Of a buffer policy or a marker: whether its `depart` may drop or mark.
    pub judges_departures: bool,
    /// Of a buffer policy: whether it picks held packets at random
    /// ([`Store::drawn`](crate::store::Store::drawn)).
    pub draws_packets: bool,
    /// Of a marker: whether it ever marks a packet or keeps state.
    pub marks: bool,
}

impl Traits {
    /// Those of a part about which nothing is special: it allows no bypass and is told the least.
    pub const PLAIN: Self = Self {
        queue_per_flow: true,
        tags: true,
        hears_idle: false,
        hears_joins: false,
        bypass: 0,
        replays: false,
        fifo: None,
        late_timer: false,
        waits_on: false,
        preempts: false,
        judges_departures: false,
        draws_packets: false,
        marks: false,
    };

    /// Those of two parts together: what either needs is done, and what both allow is allowed. A
    /// plain FIFO is no composition.
    #[must_use]
    #[inline(always)]
    pub const fn and(self, other: Self) -> Self {
        Self {
            queue_per_flow: self.queue_per_flow && other.queue_per_flow,
            tags: self.tags && other.tags,
            hears_idle: self.hears_idle || other.hears_idle,
            hears_joins: self.hears_joins || other.hears_joins,
            bypass: if self.bypass < other.bypass { self.bypass } else { other.bypass },
            replays: self.replays || other.replays,
            fifo: None,
            late_timer: self.late_timer || other.late_timer,
            waits_on: self.waits_on || other.waits_on,
            preempts: self.preempts || other.preempts,
            judges_departures: self.judges_departures || other.judges_departures,
            draws_packets: self.draws_packets || other.draws_packets,
            marks: self.marks || other.marks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parts_together_need_what_either_needs_and_allow_what_both_allow() {
        const PLAIN: Traits = Traits::PLAIN;
        // A trait that either part changes, and whether the two together have it then.
        let table = [
            (Traits { queue_per_flow: false, ..PLAIN }, true),
            (Traits { tags: false, ..PLAIN }, true),
            (Traits { hears_idle: true, ..PLAIN }, true),
            (Traits { hears_joins: true, ..PLAIN }, true),
            (Traits { bypass: 9, ..PLAIN }, false),
            (Traits { replays: true, ..PLAIN }, true),
            (Traits { fifo: Some(Limit::Packets(3)), ..PLAIN }, false),
            (Traits { late_timer: true, ..PLAIN }, true),
            (Traits { waits_on: true, ..PLAIN }, true),
            (Traits { preempts: true, ..PLAIN }, true),
            (Traits { judges_departures: true, ..PLAIN }, true),
            (Traits { draws_packets: true, ..PLAIN }, true),
            (Traits { marks: true, ..PLAIN }, true),
        ];
        for (changed, is_kept) in table {
            let expected = if is_kept { changed } else { PLAIN };
            assert_eq!([changed.and(PLAIN), PLAIN.and(changed)], [expected; 2], "{changed:?}");
            assert_eq!(changed.and(changed), Traits { fifo: None, ..changed });
        }
        let [short, long] = [7, 9].map(|bypass| Traits { bypass, ..PLAIN });
        assert_eq!(short.and(long), short);
        assert_eq!(long.and(short), short);
    }
}
