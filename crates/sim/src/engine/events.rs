//! The event set: at most one time for each component, the least of them at hand.
//!
//! A component is a number; equal times go in order of it. Whoever numbers the components therefore fixes the order
//! of ties: arrivals before ends of transmission before timers, and lines and flows in their order (`run.rs`).
//! The next events stand in a short sorted list, what comes after them in a heap. A new event is mostly one of the
//! next, so that it passes a few entries of the list and the heap is left alone; a network with few busy lines has
//! nothing in the heap at all (docs/design/performance.md).
//! Cost: O(1) for what is next, O(log n) for what passes through the heap; no allocation once it has held as many.

use fairq_sched::heap::Heap;
use fairq_sched::units::Time;

/// Time and component in one number, so that one comparison decides: the time above, the component below.
type Key = u128;

const COMPONENT_BITS: u32 = 32;
/// The list holds at most so many. When it is full the later half moves to the heap; when it is empty as many come back.
const NEXT_MAX: usize = 64;

/// Times of components.
#[derive(Clone, Debug)]
pub struct EventSet {
    /// The time of each component; [`Time::NEVER`] if it has none.
    times: Vec<Time>,
    /// The next events, the latest first. All are before those in `later`.
    next: Vec<Key>,
    later: Heap<Key>,
    /// The greatest that came.
    passed: Key,
}

fn key(time: Time, component: u32) -> Key {
    Key::from(time.0) << COMPONENT_BITS | Key::from(component)
}

impl EventSet {
    /// No component has a time.
    #[must_use]
    pub fn new(components: usize) -> Self {
        Self { times: vec![Time::NEVER; components], next: Vec::with_capacity(NEXT_MAX), later: Heap::new(), passed: 0 }
    }

    /// The time of `component`; [`Time::NEVER`] if it has none.
    #[must_use]
    #[inline]
    pub fn time_of(&self, component: u32) -> Time {
        self.times[component as usize]
    }

    /// Gives `component` a time, or with [`Time::NEVER`] none.
    #[inline]
    pub fn set(&mut self, component: u32, time: Time) {
        let old = core::mem::replace(&mut self.times[component as usize], time);
        if old != Time::NEVER {
            self.remove(old, component);
        }
        if time != Time::NEVER {
            self.insert(key(time, component));
        }
    }

    /// Takes out the least time that is not after `end`, and its component; among equals the one with the least number.
    #[inline]
    pub fn pop(&mut self, end: Time) -> Option<(Time, u32)> {
        if self.next.is_empty() {
            self.refill();
        }
        let least = *self.next.last()?;
        let (time, component) = ((least >> COMPONENT_BITS) as u64, least as u32);
        if time > end.0 {
            return None;
        }
        self.next.pop();
        self.passed = self.passed.max(least);
        self.times[component as usize] = Time::NEVER;
        Some((Time(time), component))
    }

    /// Says that nothing more comes up to `end`.
    pub fn pass(&mut self, end: Time) {
        self.passed = self.passed.max(key(end, u32::MAX));
    }

    /// Whether an event of `component` would have come by now, had one been set for `time` while that lay ahead. Who
    /// asks this instead of setting it sees the same order of equal times.
    #[must_use]
    #[inline]
    pub fn has_passed(&self, component: u32, time: Time) -> bool {
        key(time, component) <= self.passed
    }

    #[inline]
    fn insert(&mut self, key: Key) {
        if self.next.len() >= NEXT_MAX {
            self.spill();
        }
        if !self.later.is_empty() && self.next.first().is_none_or(|latest| *latest < key) {
            self.later.push(key as u32, key);
            return;
        }
        let place = self.next.partition_point(|other| *other > key);
        self.next.insert(place, key);
    }

    #[cold]
    fn remove(&mut self, time: Time, component: u32) {
        if self.later.remove(component).is_none() {
            let key = key(time, component);
            // It is held and not among the later ones.
            if let Ok(place) = self.next.binary_search_by(|other| key.cmp(other)) {
                self.next.remove(place);
            }
        }
    }

    #[cold]
    fn spill(&mut self) {
        for key in self.next.drain(..NEXT_MAX / 2) {
            self.later.push(key as u32, key);
        }
    }

    #[cold]
    fn refill(&mut self) {
        while let Some((_, key)) = self.later.pop() {
            self.next.push(key);
            if self.next.len() == NEXT_MAX / 2 {
                break;
            }
        }
        self.next.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_least_time_wins_and_ties_go_by_number() {
        for components in [1usize, 2, 3, 7, 64, 100, 500] {
            let mut events = EventSet::new(components);
            let mut model = BTreeMap::new();
            let mut state = 1u64;
            for _ in 0..5000 {
                state = fairq_sched::hash::splitmix(state);
                let component = (state >> 8) as u32 % components as u32;
                // Few different times, so that ties are common.
                let time = if state.is_multiple_of(5) { Time::NEVER } else { Time(state >> 40 & 15) };
                events.set(component, time);
                if time == Time::NEVER {
                    model.remove(&component);
                } else {
                    model.insert(component, time);
                }
                assert_eq!(events.time_of(component), time);
                // Now and then the next are taken out, more of them than the list holds.
                let pops = if state >> 20 & 63 == 0 { state >> 50 & 127 } else { 0 };
                for _ in 0..pops {
                    let end = Time(state >> 30 & 15);
                    let least = model.iter().map(|(c, t)| (*t, *c)).min().filter(|(time, _)| *time <= end);
                    assert_eq!(events.pop(end), least);
                    let Some((_, component)) = least else { break };
                    model.remove(&component);
                    assert_eq!(events.time_of(component), Time::NEVER);
                }
            }
            let mut left: Vec<_> = model.iter().map(|(component, time)| (*time, *component)).collect();
            left.sort_unstable();
            let popped: Vec<_> = std::iter::from_fn(|| events.pop(Time::NEVER)).collect();
            assert_eq!(popped, left);
        }
    }
}
