//! The event set: at most one time for each component, the least of them at hand.
//!
//! A component is a number; equal times go in order of it. Whoever numbers the components therefore fixes the order
//! of ties: arrivals before ends of transmission before timers, and lines and flows in their order (`run.rs`).
//! The components that have a time stand in a heap of four children a node. Most have none at any instant, so that it
//! is much lower than a tournament tree over all of them (docs/design/events.md).

use fairq_sched::units::Time;

/// Time and component in one number, so that one comparison decides: the time above, the component below.
type Key = u128;

const COMPONENT_BITS: u32 = 32;
/// Marks a component without a time.
const ABSENT: u32 = u32::MAX;
const CHILDREN: usize = 4;

/// Times of components.
#[derive(Clone, Debug)]
pub struct EventSet {
    heap: Vec<Key>,
    /// Where in the heap each component stands.
    places: Vec<u32>,
}

impl EventSet {
    /// No component has a time.
    #[must_use]
    pub fn new(components: usize) -> Self {
        Self { heap: Vec::new(), places: vec![ABSENT; components] }
    }

    /// The time of `component`; [`Time::NEVER`] if it has none.
    #[must_use]
    #[inline]
    pub fn time_of(&self, component: u32) -> Time {
        let place = self.places[component as usize] as usize;
        self.heap.get(place).map_or(Time::NEVER, |key| Time((key >> COMPONENT_BITS) as u64))
    }

    /// Gives `component` a time, or with [`Time::NEVER`] none.
    #[inline]
    pub fn set(&mut self, component: u32, time: Time) {
        let place = self.places[component as usize];
        let key = Key::from(time.0) << COMPONENT_BITS | Key::from(component);
        if place == ABSENT {
            if time != Time::NEVER {
                self.heap.push(key);
                self.rise(self.heap.len() - 1, key);
            }
        } else if time != Time::NEVER {
            self.settle(place as usize, key);
        } else {
            self.places[component as usize] = ABSENT;
            // The place is taken, so there is a last entry; it closes the gap unless it was the gap.
            if let Some(last) = self.heap.pop()
                && (place as usize) < self.heap.len()
            {
                self.settle(place as usize, last);
            }
        }
    }

    /// The component with the least time, and that time; among equals the one with the least number.
    #[must_use]
    #[inline]
    pub fn next(&self) -> (Time, u32) {
        self.heap.first().map_or((Time::NEVER, 0), |key| (Time((key >> COMPONENT_BITS) as u64), *key as u32))
    }

    /// Puts `key` at `place` or above, as its parents allow, or below.
    #[inline]
    fn settle(&mut self, place: usize, key: Key) {
        if place > 0 && key < self.heap[(place - 1) / CHILDREN] {
            self.rise(place, key);
        } else {
            self.sink(place, key);
        }
    }

    #[inline]
    fn rise(&mut self, mut place: usize, key: Key) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            let above = self.heap[parent];
            if above < key {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, key);
    }

    #[inline]
    fn sink(&mut self, mut place: usize, key: Key) {
        loop {
            let first = place * CHILDREN + 1;
            let (least, child) = if let Some(&[a, b, c, d]) = self.heap.get(first..first + CHILDREN) {
                let (ab, at_ab) = if b < a { (b, first + 1) } else { (a, first) };
                let (cd, at_cd) = if d < c { (d, first + 3) } else { (c, first + 2) };
                if cd < ab { (cd, at_cd) } else { (ab, at_ab) }
            } else {
                let rest = self.heap.get(first..).unwrap_or_default();
                let Some((child, least)) = rest.iter().enumerate().min_by_key(|(_, key)| **key) else { break };
                (*least, first + child)
            };
            if key < least {
                break;
            }
            self.put(place, least);
            place = child;
        }
        self.put(place, key);
    }

    #[inline]
    fn put(&mut self, place: usize, key: Key) {
        self.heap[place] = key;
        self.places[key as u32 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_least_time_wins_and_ties_go_by_number() {
        for components in [1usize, 2, 3, 7, 64, 100] {
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
                let least = model.iter().map(|(c, t)| (*t, *c)).min();
                match least {
                    Some(least) => assert_eq!(events.next(), least),
                    None => assert_eq!(events.next().0, Time::NEVER),
                }
            }
        }
    }
}
