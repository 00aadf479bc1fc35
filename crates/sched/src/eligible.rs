//! Heads that may go once their S is reached, the one of least F first: those that have begun by F,
//! the others by S.
//!
//! Chosen: heads that come with S and F not below those of the head before stand in one *line*. The
//! heads that have begun are then a first part of it, and its first head has the least F of that
//! part: when a head begins, no entry moves. Flows with like weights and packets mostly come so.
//! The others stand in two tournaments, by S until they have begun and by F then.
//!
//! Cost: O(log of the greatest queue) for each move in the tournaments, O(1) within the line.

use crate::contract::{Slot, Tag};
use crate::head_tags::{Head, HeadTags};
use crate::rank;
use crate::sorted_ring::SortedRing;
use crate::tournament::Tournament;

/// Where heads do not come in order: number of heads that are not tried on the line after one that
/// did not fit.
const UNASKED_MAX: u32 = 63;

/// The heads of backlogged queues.
#[derive(Clone, Debug)]
pub(crate) struct Eligible {
    /// Heads sorted by F, and by S as well.
    line: SortedRing,
    /// The S of the last head in `line`.
    line_start: Tag,
    /// Number of further heads that are not tried at the end of `line`, because the last one tried
    /// did not fit.
    unasked: u32,
    /// Whether all heads stand in the line.
    are_in_line: bool,
    /// Heads outside the line that had begun when last checked, by F.
    begun: Tournament,
    /// The rest, by S.
    ahead: Tournament,
}

impl Eligible {
    /// No head.
    pub(crate) const fn new() -> Self {
        Self {
            line: SortedRing::new(),
            line_start: 0,
            unasked: 0,
            are_in_line: true,
            begun: Tournament::new(),
            ahead: Tournament::new(),
        }
    }

    /// If `queue` is the first in line and may be the last with `head`, whose S is the F of the one
    /// before, makes it the last. Returns whether it did; if not, call [`set`](Eligible::set).
    #[inline(always)]
    pub(crate) fn turn(&mut self, queue: Slot, head: Head) -> bool {
        let mut start = 0;
        let turned = self.line.turn_if(queue, head.by_finish(), |finish| {
            start = head.by_start_after(finish);
            self.line_start <= start
        });
        if turned {
            self.line_start = start;
        }
        turned
    }

    /// `queue` has a new head, or none, with these `tags`. `now` is V, now or some time ago.
    #[inline(never)]
    pub(crate) fn set(&mut self, queue: Slot, tags: &HeadTags, now: u128) {
        let was_in_line = !self.line.is_empty() && self.line.remove(queue).is_some();
        if !was_in_line && self.begun.remove(queue).is_none() {
            self.ahead.discard(queue);
        }
        if let Some(head) = tags.waiting_head(queue)
            && !self.joins_line(queue, head)
        {
            let start = head.by_start();
            if start <= rank::last_on_grid(now) {
                self.begun.add(queue, head.by_finish());
            } else {
                self.ahead.add(queue, start);
            }
        }
        self.are_in_line = self.begun.is_empty() && self.ahead.is_empty();
    }

    /// Puts `head` into the line if it fits there and the line is to be tried. Returns whether it
    /// did.
    #[inline(always)]
    fn joins_line(&mut self, queue: Slot, head: Head) -> bool {
        if self.unasked > 0 {
            self.unasked -= 1;
            return false;
        }
        let start = head.by_start();
        self.line.make_room_for(queue);
        let joins = (self.line_start <= start || self.line.is_empty()) && self.line.append(queue, head.by_finish());
        if joins {
            self.line_start = start;
        } else {
            self.unasked = UNASKED_MAX;
        }
        joins
    }

    /// The queue whose head has the least F of those with S up to `now`. Fast path: `None` unless
    /// all heads stand in line and one has begun.
    #[inline(always)]
    pub(crate) fn first_at_once(&self, tags: &HeadTags, now: u128) -> Option<Slot> {
        let (queue, _) = self.line.first().filter(|_| self.are_in_line)?;
        (tags.head(queue).start <= now).then_some(queue)
    }

    /// The queue whose head has the least F of those with S up to `now`, wherever the heads are
    /// kept.
    #[inline(always)]
    pub(crate) fn first(&mut self, tags: &HeadTags, now: u128) -> Option<Slot> {
        let now = rank::last_on_grid(now);
        while let Some((queue, _)) = self.ahead.peek().filter(|(_, start)| *start <= now) {
            self.ahead.discard(queue);
            self.begun.add(queue, tags.head(queue).by_finish());
        }
        let in_line = self.line.first().filter(|(queue, _)| tags.head(*queue).by_start() <= now);
        let Some((queue, finish)) = self.begun.peek() else { return in_line.map(|(queue, _)| queue) };
        Some(in_line.filter(|(_, least)| *least < finish).map_or(queue, |(queue, _)| queue))
    }

    /// The queue whose head has the least S, if none has begun.
    pub(crate) fn next_to_begin(&self, tags: &HeadTags) -> Option<Slot> {
        let in_line = self.line.first().map(|(queue, _)| (queue, tags.head(queue).by_start()));
        let least = [in_line, self.ahead.peek()].into_iter().flatten().min_by_key(|(_, start)| *start);
        least.map(|(queue, _)| queue)
    }

    /// How many heads have an S up to `now`, of those in the tournaments when last checked.
    pub(crate) fn count_begun(&self, tags: &HeadTags, now: u128) -> usize {
        let now = rank::last_on_grid(now);
        self.begun.len() + self.line.items().take_while(|queue| tags.head(*queue).by_start() <= now).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::splitmix;
    use crate::packet::Packet;
    use crate::round::BYTE;
    use crate::units::{Time, Weight};

    #[test]
    fn the_first_is_the_one_that_a_look_at_all_heads_finds() {
        for seed in 0..60 {
            let (mut state, queues) = (seed, 1 + (seed * seed % 40) as u32);
            let mut draw = |below: u32| {
                state = splitmix(state);
                (state >> 33) as u32 % below
            };
            let (mut tags, mut heads, mut now) = (HeadTags::new(), Eligible::new(), 0);
            for _ in 0..3000 {
                let (queue, is_mixed) = (draw(queues), seed % 2 == 1);
                let length = if is_mixed { 40 + draw(1400) } else { 1000 };
                let next = (draw(8) > 0).then(|| tags.arrive(&Packet::new(0, Time::ZERO, length)));
                match (tags.waits(queue), next, draw(8)) {
                    (false, Some(tag), 0 | 1) => {
                        let weight = if is_mixed { 1000 + 700 * (queue % 4) } else { 1000 };
                        tags.set_weight(queue, Weight::from_thousandths(weight).unwrap_or_default());
                        tags.enter(queue, tag, now);
                        heads.set(queue, &tags, now);
                    }
                    (true, _, 0) => {
                        tags.replaced(queue, next);
                        heads.set(queue, &tags, now);
                    }
                    _ => {
                        let limit = rank::last_on_grid(now);
                        let waiting = || (0..queues).filter(|queue| tags.waits(*queue));
                        let begun = || waiting().filter(|queue| tags.head(*queue).by_start() <= limit);
                        let first = heads.first(&tags, now);
                        assert_eq!(first, begun().min_by_key(|queue| tags.head(*queue).by_finish()));
                        assert_eq!(heads.count_begun(&tags, now), begun().count());
                        if let Some(queue) = first {
                            let head = tags.sent(queue, next);
                            if !head.is_some_and(|head| heads.turn(queue, head)) {
                                heads.set(queue, &tags, now);
                            }
                            now += u128::from(length) * BYTE / u128::from(queues);
                        } else if let Some(queue) = heads.next_to_begin(&tags) {
                            assert_eq!(Some(queue), waiting().min_by_key(|queue| tags.head(*queue).by_start()));
                            now = tags.head(queue).start;
                        }
                    }
                }
            }
        }
    }
}
