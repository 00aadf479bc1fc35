//! The event set: at most one time for each component, with the least of them at hand.
//!
//! A component is a number; equal times go in order of it. The numbering of components therefore
//! fixes the order of ties: arrivals before ends of transmission before timers, and lines and flows
//! in their order (`run.rs`).
//!
//! The near future is a ring of spans of time. Each span has a chain of its few events in order; a
//! bitmap says which spans have any. An event beyond the ring, or whose chain is long, is in a
//! heap. The length of a span adapts to the cost of recent events and affects nothing else
//! (docs/design/performance.md).
//! Cost: O(1) for what the ring holds, O(log n) for what passes through the heap; no allocation
//! after the first growth.

use super::bitmap::Bitmap;
use fairq_sched::heap::Heap;
use fairq_sched::units::Time;

/// Time and component in one number, so that one comparison suffices: the time in the high bits,
/// the component in the low ones.
type Key = u128;

const COMPONENT_BITS: u32 = 32;
/// Follows the last component of a chain.
const END: u32 = u32::MAX;
/// `after` of a component that is in the heap.
const IN_HEAP: u32 = u32::MAX - 1;
/// The length of a chain from which on a further event goes to the heap.
const CHAIN_MAX: u32 = 16;
/// The least number of spans in the ring. There is one for two components, most of which have no
/// time.
pub const SPANS_MIN: usize = 256;
/// The base-2 logarithm of a span in picoseconds: 1 µs at the start, between 16 ps and 18 s.
const WIDTH: u32 = 20;
const WIDTH_MIN: u32 = 4;
const WIDTH_MAX: u32 = 44;
/// The least number of insertions after which the width is judged; otherwise one for each span.
const INSERTIONS_MIN: u32 = 1024;

/// A component's time, [`Time::NEVER`] if it has none, and the component after it in its span.
/// Packed, because there are several for every connection, and most have no time.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Slot {
    time: Time,
    after: u32,
}

/// The cost of insertions since the width was last judged.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    insertions: u32,
    /// Steps along chains.
    steps: u32,
    /// Insertions beyond the end of the ring.
    behind: u32,
}

/// Times of components. A network in regions has a queue for each region; one of the queues is
/// current.
#[derive(Clone, Debug)]
pub struct EventSet {
    slots: Vec<Slot>,
    queue: Queue,
    /// By region: its queue, except that of the current region.
    others: Vec<Queue>,
    region: usize,
}

/// The events of a region in order.
#[derive(Clone, Debug)]
struct Queue {
    /// The first component of each span.
    first: Vec<u32>,
    /// The spans that have events.
    occupied: Bitmap,
    width: u32,
    /// The span of the last event, counted from time zero. The ring begins there.
    span: u64,
    heap: Heap<Key>,
    /// The least time in the heap; [`Time::NEVER`] if the heap is empty.
    heap_least: Time,
    /// The greatest (time, component) of the events so far.
    passed: (Time, u32),
    load: Load,
    /// The number of insertions after which the width is judged.
    judged_after: u32,
}

impl Queue {
    /// An empty queue for `components` components.
    fn new(components: usize) -> Self {
        let spans = (components / 2).next_power_of_two().clamp(SPANS_MIN, Bitmap::SIZE_MAX);
        Self {
            first: vec![END; spans],
            occupied: Bitmap::new(spans),
            width: WIDTH,
            span: 0,
            heap: Heap::new(),
            heap_least: Time::NEVER,
            passed: (Time::ZERO, 0),
            load: Load::default(),
            judged_after: INSERTIONS_MIN.max(spans as u32),
        }
    }
}

const fn key(time: Time, component: u32) -> Key {
    (time.0 as Key) << COMPONENT_BITS | component as Key
}

impl EventSet {
    /// An event set in which no component has a time.
    #[must_use]
    pub fn new(components: usize) -> Self {
        let slots = vec![Slot { time: Time::NEVER, after: END }; components];
        Self { slots, queue: Queue::new(components), others: Vec::new(), region: 0 }
    }

    /// The same times, each in the queue of its component's region, `region_of`. To be called
    /// before the first event; region 0 is current.
    #[must_use]
    pub fn divided(&self, regions: usize, region_of: impl Fn(u32) -> usize) -> Self {
        let components = self.slots.len();
        let empty = Queue::new(components / regions);
        let mut divided = Self { queue: empty.clone(), others: vec![empty; regions], ..Self::new(components) };
        for component in 0..components as u32 {
            let time = self.time_of(component);
            if time != Time::NEVER {
                divided.turn_to(region_of(component));
                divided.set(component, time);
            }
        }
        divided.turn_to(0);
        divided
    }

    /// Makes `region` the current region.
    pub fn turn_to(&mut self, region: usize) {
        std::mem::swap(&mut self.queue, &mut self.others[self.region]);
        std::mem::swap(&mut self.queue, &mut self.others[region]);
        self.region = region;
    }

    /// The time of `component`; [`Time::NEVER`] if it has none.
    #[must_use]
    #[inline]
    pub fn time_of(&self, component: u32) -> Time {
        self.slots[component as usize].time
    }

    /// Sets the time of `component`; [`Time::NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, component: u32, time: Time) {
        if self.time_of(component) != Time::NEVER {
            self.remove(component);
        }
        if time != Time::NEVER {
            self.insert(component, time);
        }
    }

    /// As `set`, where the component often has this time already.
    #[inline(always)]
    pub fn keep(&mut self, component: u32, time: Time) {
        if self.time_of(component) != time {
            self.set(component, time);
        }
    }

    /// The least time; [`Time::NEVER`] if there is none.
    #[must_use]
    pub fn next_time(&self) -> Time {
        let of = |component: u32| self.time_of(component);
        let sorted = self.queue.occupied.next(self.place(self.queue.span)).map(|place| of(self.queue.first[place]));
        let heaped = self.queue.heap.peek().map(|(component, _)| of(component));
        sorted.into_iter().chain(heaped).min().unwrap_or(Time::NEVER)
    }

    /// Removes the least time that is not after `end` and returns it with its component; among
    /// equal times the least component.
    #[inline(always)]
    pub fn pop(&mut self, end: Time) -> Option<(Time, u32)> {
        let Some(place) = self.queue.occupied.next(self.place(self.queue.span)) else { return self.pop_from_heap(end) };
        let component = self.queue.first[place];
        let slot = &mut self.slots[component as usize];
        let time = slot.time;
        if time >= self.queue.heap_least
            && self.queue.heap.peek().is_some_and(|(_, least)| least < key(time, component))
        {
            return self.pop_from_heap(end);
        }
        if time > end {
            return None;
        }
        slot.time = Time::NEVER;
        self.queue.first[place] = slot.after;
        if slot.after == END {
            self.queue.occupied.remove(place);
        }
        self.come(time, component);
        Some((time, component))
    }

    #[cold]
    fn pop_from_heap(&mut self, end: Time) -> Option<(Time, u32)> {
        let (component, _) = self.queue.heap.peek()?;
        let time = self.time_of(component);
        if time > end {
            return None;
        }
        self.queue.heap.pop();
        self.note_heap();
        self.slots[component as usize].time = Time::NEVER;
        self.come(time, component);
        Some((time, component))
    }

    /// Notes that the event of `component` at `time` occurs.
    #[inline]
    fn come(&mut self, time: Time, component: u32) {
        self.queue.span = self.queue.span.max(time.0 >> self.queue.width);
        let passed = &mut self.queue.passed;
        // An event may have been set for this instant with a component before those that already
        // occurred in it.
        if time > passed.0 || time == passed.0 && component > passed.1 {
            *passed = (time, component);
        }
    }

    /// Declares that no more events occur up to `end`.
    pub fn pass(&mut self, end: Time) {
        self.queue.passed = self.queue.passed.max((end, u32::MAX));
    }

    /// The least time for which an event of `component` would still be to come: had one been set
    /// for an earlier time while that lay ahead, it would have occurred by now. A caller that
    /// compares with this instead of setting the event sees the same order of equal times.
    #[must_use]
    #[inline]
    pub const fn pending_from(&self, component: u32) -> Time {
        let (time, last) = self.queue.passed;
        Time(time.0.saturating_add((component <= last) as u64))
    }

    /// The span of the last event, counted from time zero; its width changes.
    #[must_use]
    #[inline]
    pub const fn span(&self) -> u64 {
        self.queue.span
    }

    /// The first component with an event in `span`, which is less than [`SPANS_MIN`] spans from
    /// now.
    #[must_use]
    #[inline]
    pub fn first_of(&self, span: u64) -> Option<u32> {
        let first = self.queue.first[self.place(span)];
        (first != END).then_some(first)
    }

    /// The component after `component` in the same span.
    #[must_use]
    #[inline]
    pub fn after(&self, component: u32) -> Option<u32> {
        let after = self.slots[component as usize].after;
        (after != END).then_some(after)
    }

    /// The place of a span in the ring.
    #[inline]
    const fn place(&self, span: u64) -> usize {
        span as usize & (self.queue.first.len() - 1)
    }

    /// The span of `time`. A time before the ring is put into the ring's first span, where it is
    /// the least.
    #[inline]
    fn span_of(&self, time: Time) -> u64 {
        (time.0 >> self.queue.width).max(self.queue.span)
    }

    fn insert(&mut self, component: u32, time: Time) {
        self.queue.load.insertions += 1;
        if self.queue.load.insertions > self.queue.judged_after {
            self.judge();
        }
        let span = self.span_of(time);
        if span - self.queue.span >= self.queue.first.len() as u64 {
            self.queue.load.behind += 1;
            return self.insert_into_heap(component, time);
        }
        let place = self.place(span);
        let first = self.queue.first[place];
        if first == END {
            self.queue.occupied.add(place);
        } else if self.comes_before(first, time, component) {
            return self.insert_behind(first, component, time);
        }
        self.slots[component as usize] = Slot { time, after: first };
        self.queue.first[place] = component;
    }

    /// Whether the event of `other` precedes one of `component` at `time`.
    #[inline]
    fn comes_before(&self, other: u32, time: Time, component: u32) -> bool {
        let at = self.time_of(other);
        at < time || at == time && other < component
    }

    /// Inserts `component` somewhere after `before`, which is less. Not inlined: most insertions
    /// then save no registers.
    #[inline(never)]
    fn insert_behind(&mut self, mut before: u32, component: u32, time: Time) {
        for _ in 0..CHAIN_MAX {
            self.queue.load.steps += 1;
            let after = self.slots[before as usize].after;
            if after == END || !self.comes_before(after, time, component) {
                self.slots[component as usize] = Slot { time, after };
                self.slots[before as usize].after = component;
                return;
            }
            before = after;
        }
        self.insert_into_heap(component, time);
    }

    #[cold]
    #[inline(never)]
    fn insert_into_heap(&mut self, component: u32, time: Time) {
        self.slots[component as usize] = Slot { time, after: IN_HEAP };
        self.queue.heap.push(component, key(time, component));
        self.note_heap();
    }

    /// Widens the spans if many events lie beyond the ring, narrows them if chains are long.
    #[cold]
    #[inline(never)]
    fn judge(&mut self) {
        let Load { insertions, steps, behind } = core::mem::take(&mut self.queue.load);
        let width = match () {
            () if behind > insertions / 16 => (self.queue.width + 1).min(WIDTH_MAX),
            () if behind < insertions / 64 && steps > insertions / 2 => (self.queue.width - 1).max(WIDTH_MIN),
            () => self.queue.width,
        };
        if width != self.queue.width {
            self.lay_out(width);
        }
    }

    /// Places every event of the ring again, with spans of another width.
    fn lay_out(&mut self, width: u32) {
        let mut held = Vec::new();
        while let Some(place) = self.queue.occupied.next(0) {
            let mut component = core::mem::replace(&mut self.queue.first[place], END);
            self.queue.occupied.remove(place);
            while component != END {
                held.push(component);
                component = self.slots[component as usize].after;
            }
        }
        self.queue.width = width;
        self.queue.span = self.queue.passed.0.0 >> width;
        for component in held {
            self.insert(component, self.time_of(component));
        }
        self.queue.load = Load::default();
    }

    fn note_heap(&mut self) {
        self.queue.heap_least = self.queue.heap.peek().map_or(Time::NEVER, |(component, _)| self.time_of(component));
    }

    #[cold]
    fn remove(&mut self, component: u32) {
        let Slot { time, after } = self.slots[component as usize];
        self.slots[component as usize].time = Time::NEVER;
        if after == IN_HEAP {
            self.queue.heap.remove(component);
            return self.note_heap();
        }
        let place = self.place(self.span_of(time));
        if self.queue.first[place] == component {
            self.queue.first[place] = after;
            if after == END {
                self.queue.occupied.remove(place);
            }
            return;
        }
        let mut before = self.queue.first[place];
        while self.slots[before as usize].after != component {
            before = self.slots[before as usize].after;
        }
        self.slots[before as usize].after = after;
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
                // From time to time events are removed, more of them than the list holds.
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

    #[test]
    fn an_event_of_the_present_instant_is_to_come_if_its_component_is_behind_the_last() {
        let mut events = EventSet::new(10);
        assert_eq!([0, 1].map(|component| events.pending_from(component)), [Time(1), Time(0)]);
        events.set(5, Time(1000));
        events.set(3, Time(1000));
        assert_eq!(events.pop(Time::NEVER), Some((Time(1000), 3)));
        assert_eq!([2, 3, 4].map(|component| events.pending_from(component)), [1001, 1001, 1000].map(Time));
        assert_eq!(events.pop(Time::NEVER), Some((Time(1000), 5)));
        // An event before the last one that is set in its instant changes nothing.
        events.set(1, Time(1000));
        assert_eq!(events.pop(Time::NEVER), Some((Time(1000), 1)));
        assert_eq!([5, 6].map(|component| events.pending_from(component)), [1001, 1000].map(Time));
        events.pass(Time(2000));
        assert_eq!(events.pending_from(9), Time(2001));
        events.pass(Time::NEVER);
        assert_eq!(events.pending_from(9), Time::NEVER);
    }
}
