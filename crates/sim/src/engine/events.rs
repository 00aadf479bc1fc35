//! The event set: at most one time for each component, the least of them at hand.
//!
//! A component is a number; equal times go in order of it. Whoever numbers the components therefore fixes the order
//! of ties: arrivals before ends of transmission before timers, and lines and flows in their order (`run.rs`).
//! A tournament tree holds the times: setting one costs a comparison for each doubling of the components, and stops
//! where the winner stays the same.

use fairq_sched::units::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    time: Time,
    component: u32,
}

/// Times of components.
#[derive(Clone, Debug)]
pub struct EventSet {
    /// A complete binary tree in heap order from index 1; the leaves are the upper half.
    nodes: Vec<Node>,
    leaves: usize,
}

impl EventSet {
    /// No component has a time.
    #[must_use]
    pub fn new(components: usize) -> Self {
        let leaves = components.next_power_of_two().max(2);
        let mut nodes = vec![Node { time: Time::NEVER, component: 0 }; 2 * leaves];
        for (component, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.component = component as u32;
        }
        for at in (1..leaves).rev() {
            nodes[at] = nodes[2 * at];
        }
        Self { nodes, leaves }
    }

    /// The time of `component`; [`Time::NEVER`] if it has none.
    #[must_use]
    pub fn time_of(&self, component: u32) -> Time {
        self.nodes[self.leaves + component as usize].time
    }

    /// Gives `component` a time, or with [`Time::NEVER`] none.
    #[inline]
    pub fn set(&mut self, component: u32, time: Time) {
        let mut at = self.leaves + component as usize;
        self.nodes[at].time = time;
        while at > 1 {
            let left = self.nodes[at & !1];
            let right = self.nodes[at | 1];
            let winner = if right.time < left.time { right } else { left };
            at >>= 1;
            if self.nodes[at] == winner {
                break;
            }
            self.nodes[at] = winner;
        }
    }

    /// The component with the least time, and that time; among equals the one with the least number.
    #[must_use]
    #[inline]
    pub fn next(&self) -> (Time, u32) {
        (self.nodes[1].time, self.nodes[1].component)
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
