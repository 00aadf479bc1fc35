//! The groups, slots and sets of QFQ. What is scheduled are entities: flows in QFQ, aggregates of
//! flows in QFQ+.
//!
//! An entity belongs to the group i of width σ = 2ⁱ, the least that is not below its L/w. A group
//! keeps its entities in slots by their start rounded down to a multiple of σ; its own S is that of
//! its first slot and its F is S + 2σ. A group is *early* while S > V, else eligible; it is
//! *blocked* while an eligible group of greater width has a lesser F. Among the eligible groups
//! that are not blocked F grows with the width: the next to serve is the lowest bit of a set.
//!
//! No start is further ahead than the slot after the one that V is in. So the early groups' starts
//! grow with the width, too, and all that one step of V makes eligible are the bits below one
//! place.

use crate::contract::Slot;
use crate::units::Weight;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::array;
use core::hint::select_unpredictable;
use core::num::NonZero;

const NONE: u32 = u32::MAX;
/// Bits after the point of a time stamp; its unit is a byte of weight one.
const FRACTION: u32 = 50;
/// Group 0 has slots of this width, as a power of two of the last bit: 2⁻²⁰ bytes.
const LEAST_SHIFT: u32 = 30;
/// 2³² bytes at a weight of 0.001 are just below 2⁴².
const GROUPS: usize = 63;
/// At most four are in use while no weight changes.
const SLOTS: u32 = 32;
/// The place of an entity that is in no slot.
const NOWHERE: u8 = u8::MAX;

/// A set of groups: bit i is group i.
type Set = u64;

/// A cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Entity {
    /// S of its head; while nothing waits, F of what it sent last. While `within` is not 0, S is
    /// the start of its slot plus `offset`, and this field is stale.
    start: u128,
    offset: u64,
    /// The greatest offset in its slot. 0 if its slot is not narrower than a word, or not that of
    /// its start: a change of its weight put it into a group that was too far ahead.
    within: u64,
    /// 1/w.
    inverse: u64,
    /// Its neighbours in its slot. `previous` of the first and `next` of the last are stale.
    previous: u32,
    next: u32,
    longest: u32,
    /// In thousandths; 0 while it is not known.
    weight: u32,
    group: u8,
    /// The place of its slot in the group's circle of slots; `NOWHERE` while nothing waits.
    place: u8,
}

const UNKNOWN: Entity = Entity {
    start: 0,
    offset: 0,
    within: 0,
    inverse: 0,
    previous: NONE,
    next: NONE,
    longest: 0,
    weight: 0,
    group: 0,
    place: NOWHERE,
};

const _: () = assert!(size_of::<Entity>() == 64);

/// The entities of a slot; `last` is `NONE` if it is empty.
#[derive(Clone, Copy)]
struct Members {
    first: u32,
    last: u32,
}

/// Five cache lines: the address of a group takes an add and a shift. A multiplication would add
/// its latency twice per packet.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group {
    /// S: the start of the first slot.
    start: u128,
    /// The slots that hold entities; bit 0 is the first.
    full: u32,
    /// The place of the first slot.
    front: u32,
    /// σ: how wide a slot is.
    width: u128,
    /// The bits of a time stamp within a slot, if they are less than a word; else none.
    within: u64,
    /// The members of each slot, by place.
    slots: [Members; SLOTS as usize],
}

const _: () = assert!(size_of::<Group>() == 5 * 64);

/// All groups and entities, and V.
pub(crate) struct Groups {
    entities: Vec<Entity>,
    /// One for each bit of a set, though the last is unused: every bit number is an index within
    /// bounds, so that no check is compiled.
    groups: Box<[Group; Set::BITS as usize]>,
    /// Eligible groups that are not blocked; all that are early; all that are blocked. The source's
    /// four sets are these and their intersections: a test whether any group is early reads one set
    /// here.
    ready: Set,
    early: Set,
    blocked: Set,
    /// The first entity of the ready groups' first slot, which is served next; `NONE` where it must
    /// be looked up. Every change of the ready set or of its first entity sets it anew.
    upcoming: u32,
    /// V without the `pending` bytes that were sent since, and these.
    now: u128,
    pending: u64,
    /// While fewer bytes than these are pending, V has not come to the start of an early group and
    /// need not be computed.
    until: u64,
    /// Once nothing waits, the greatest F so far: that of what waits follows when it is gone, for F
    /// grows.
    latest: u128,
    /// 1/W.
    inverse_total: u64,
}

/// 1/w for a weight in thousandths, rounded down.
const fn inverse(thousandths: u64) -> u64 {
    match (1000_u64 << FRACTION).checked_div(thousandths) {
        Some(inverse) => inverse,
        None => 0,
    }
}

impl Group {
    const fn of_index(index: usize) -> Self {
        let shift = LEAST_SHIFT + index as u32;
        let (width, within) = (1 << shift, if shift < u64::BITS { (1 << shift) - 1 } else { 0 });
        Self {
            start: 0,
            full: 0,
            front: 0,
            width,
            within,
            slots: [Members { first: NONE, last: NONE }; SLOTS as usize],
        }
    }

    /// `stamp`, rounded down to a multiple of σ.
    #[inline]
    const fn rounded_down(&self, stamp: u128) -> u128 {
        stamp & self.width.wrapping_neg()
    }

    /// F.
    #[inline]
    const fn finish(&self) -> u128 {
        self.start + 2 * self.width
    }
}

impl Groups {
    /// No entity is known.
    pub(crate) fn new() -> Self {
        Self {
            entities: Vec::new(),
            groups: Box::new(array::from_fn(Group::of_index)),
            ready: 0,
            early: 0,
            blocked: 0,
            upcoming: NONE,
            now: 0,
            pending: 0,
            until: u64::MAX,
            latest: 0,
            inverse_total: 0,
        }
    }

    /// The weight in thousandths, 0 if it is not known, and the longest packet of `entity`.
    #[inline]
    pub(crate) fn known(&self, entity: Slot) -> (u32, u32) {
        self.entities.get(entity as usize).map_or((0, 0), |entity| (entity.weight, entity.longest))
    }

    /// The weights of all are this, in thousandths.
    pub(crate) fn set_total(&mut self, thousandths: u64) {
        self.catch_up();
        self.inverse_total = inverse(thousandths);
        self.look_out();
    }

    /// From now on `entity` has this weight and sends at most `longest` bytes at once. It moves to
    /// its new group.
    pub(crate) fn resize(&mut self, entity: Slot, weight: Weight, longest: u32) {
        self.catch_up();
        if self.entities.len() <= entity as usize {
            self.entities.resize(entity as usize + 1, UNKNOWN);
        }
        let waits = self.entities[entity as usize].place != NOWHERE;
        if waits {
            self.unlink(entity);
        }
        let inverse = inverse(weight.thousandths().into());
        // ⌈log2(L/w)⌉
        let width = u128::from(inverse) * u128::from(longest.max(1));
        let shift = u128::BITS - (width - 1).leading_zeros();
        let group = shift.saturating_sub(LEAST_SHIFT).min(GROUPS as u32 - 1) as u8;
        let known = &mut self.entities[entity as usize];
        *known = Entity { inverse, longest, weight: weight.thousandths(), group, ..*known };
        if waits {
            self.link(entity);
            self.sort_sets();
        }
    }

    /// Forgets `entity`, which has nothing waiting.
    pub(crate) fn forget(&mut self, entity: Slot) {
        if let Some(entity) = self.entities.get_mut(entity as usize) {
            *entity = UNKNOWN;
        }
    }

    /// Whether `entity` has been served ahead of V.
    pub(crate) fn owes(&self, entity: Slot) -> bool {
        self.entities.get(entity as usize).is_some_and(|entity| entity.start > self.now())
    }

    /// What `length` bytes cost an entity of `members` times the weight of `entity`.
    #[inline]
    pub(crate) fn cost(&self, entity: Slot, length: u64, members: u32) -> u128 {
        let inverse = self.entities[entity as usize].inverse;
        let inverse = if members == 1 { inverse } else { inverse / u64::from(members) };
        u128::from(inverse) * u128::from(length)
    }

    /// `entity`, of which nothing waited, has something to send.
    #[inline]
    pub(crate) fn activate(&mut self, entity: Slot) {
        self.catch_up();
        let known = &mut self.entities[entity as usize];
        // S = max(F, V)
        known.start = known.start.max(self.now);
        let group = usize::from(known.group);
        let Group { start: group_start, full, .. } = self.groups[group];
        self.link(entity);
        if full == 0 || self.groups[group].start != group_start {
            self.sort_in(group);
            self.look_out();
        }
    }

    /// The entity to serve next, if a group is ready.
    #[inline(always)]
    pub(crate) fn ready(&mut self) -> Option<Slot> {
        if self.pending >= self.until || self.upcoming == NONE {
            self.look();
        }
        debug_assert_eq!(self.upcoming, self.first().unwrap_or(NONE), "it is kept up to date");
        (self.upcoming != NONE).then_some(self.upcoming)
    }

    /// Computes V and looks up the entity to serve next. Not inlined: V rarely comes to a start.
    #[inline(never)]
    fn look(&mut self) {
        if self.pending >= self.until {
            self.catch_up();
        }
        self.look_up();
    }

    /// Looks up the entity to serve next and keeps it.
    #[inline(always)]
    fn look_up(&mut self) -> Option<Slot> {
        let first = self.first();
        self.upcoming = first.unwrap_or(NONE);
        first
    }

    /// The first of the ready groups' first slot.
    #[inline(always)]
    fn first(&self) -> Option<Slot> {
        let least = NonZero::new(self.ready)?.trailing_zeros();
        let group = &self.groups[least as usize];
        Some(group.slots[group.front as usize % SLOTS as usize].first)
    }

    /// The entity to serve next. If all groups are early V jumps to the least start.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Slot> {
        self.catch_up();
        if self.ready == 0 {
            let least = self.groups.get(self.early.trailing_zeros() as usize)?;
            let start = least.start;
            let before = core::mem::replace(&mut self.now, start);
            self.pending = 0;
            self.reach(before);
        }
        self.look_up()
    }

    /// V passes the time in which `length` bytes are sent: at most the slot of any known entity.
    /// Its effect is computed later, by `catch_up`.
    #[inline]
    pub(crate) fn advance(&mut self, length: u64) {
        self.pending += length;
    }

    /// V.
    #[inline]
    fn now(&self) -> u128 {
        self.now + u128::from(self.pending) * u128::from(self.inverse_total)
    }

    /// Computes V; the groups whose start it has come to are eligible. Call it before V is read and
    /// before W or the S of a group changes.
    #[inline]
    fn catch_up(&mut self) {
        let (before, has_reached) = (self.now, self.pending >= self.until);
        self.until = self.until.saturating_sub(self.pending);
        (self.now, self.pending) = (self.now(), 0);
        if has_reached {
            self.reach(before);
        }
    }

    /// `entity` has been served at `cost` and starts anew from there, if something of it still
    /// waits.
    #[inline]
    pub(crate) fn served(&mut self, entity: Slot, cost: u128, waits: bool) {
        let (group, is_narrow) = (self.entities[entity as usize].group, u64::try_from(cost).is_ok());
        let is_next = self.first() == Some(entity);
        if !(waits && is_narrow && is_next && self.moves_on(entity, usize::from(group), cost as u64)) {
            self.served_anyhow(entity, cost, waits);
        }
    }

    /// `entity`, which [`Groups::next`] named last, has sent a packet of `length`, not longer than
    /// its longest. V passes the packet's time; the entity starts anew from there, if something of
    /// it still waits.
    #[inline(always)]
    pub(crate) fn sent(&mut self, entity: Slot, length: u32, waits: bool) {
        self.pending += u64::from(length);
        // The cost is at most a slot. If it does not fit into a word the group's slots are wider
        // than a word, and the cut value is not used.
        let known = &self.entities[entity as usize];
        let (cost, group) = (known.inverse.wrapping_mul(length.into()), usize::from(known.group) % self.groups.len());
        if !(waits && self.moves_on(entity, group, cost)) {
            self.sent_anyhow(entity, length, waits);
        }
    }

    /// If `entity`, the next to serve, of the group `index`, stands in the slot of its start, and
    /// that is wider than `cost` and narrower than a word: moves it to the end of the same slot or
    /// of the next one. Most of the served do that.
    #[inline(always)]
    fn moves_on(&mut self, entity: Slot, index: usize, cost: u64) -> bool {
        let known = &mut self.entities[entity as usize];
        // cost < σ - 1, and σ is at most half of what a word holds: the sum below fits into one.
        if cost >= known.within {
            return false;
        }
        let group = &mut self.groups[index];
        let front = group.front % SLOTS;
        let members = &mut group.slots[front as usize];
        debug_assert!(members.first == entity && usize::from(known.group) == index, "it is the next");
        let offset = known.offset + cost;
        let leaves = offset > known.within;
        known.offset = offset & known.within;
        if members.last == entity {
            // Alone it stays in its place, or the group moves with it.
            if leaves {
                self.take_along(entity, index);
            }
            return true;
        }
        members.first = known.next;
        self.upcoming = known.next;
        // Both slots are read and written, so that no address depends on an unpredictable
        // condition: the loads that follow would wait for it.
        let (here, after) = (front as usize, ((front + 1) % SLOTS) as usize);
        let (last_here, last_after) = (group.slots[here].last, group.slots[after].last);
        group.slots[here].last = select_unpredictable(leaves, last_here, entity);
        group.slots[after].last = select_unpredictable(leaves, entity, last_after);
        known.place = select_unpredictable(leaves, after, here) as u8;
        let previous = select_unpredictable(leaves, last_after, last_here);
        known.previous = previous;
        match self.entities.get_mut(previous as usize) {
            Some(previous) => previous.next = entity,
            None => {
                group.slots[after].first = entity;
                group.full |= 2;
            }
        }
        true
    }

    /// `entity`, the next to serve, alone in the first slot of the group `index`, goes to the slot
    /// after that: it is the first now, and S of the group grows by σ.
    #[inline(never)]
    fn take_along(&mut self, entity: Slot, index: usize) {
        self.catch_up();
        self.upcoming = NONE;
        let group = &mut self.groups[index];
        group.slots[group.front as usize % SLOTS as usize].last = NONE;
        let finish = group.finish();
        group.start += group.width;
        group.front = (group.front + 1) % SLOTS;
        group.full >>= 1;
        let place = group.front;
        self.append(entity, index, 0, place);
        self.sort_in(index);
        self.unblock(index, finish);
        self.look_out();
    }

    /// Slow path of [`Groups::sent`]: the group may change in any way. V has grown before.
    #[inline(never)]
    fn sent_anyhow(&mut self, entity: Slot, length: u32, waits: bool) {
        let cost = self.cost(entity, length.into(), 1);
        self.served_anyhow(entity, cost, waits);
    }

    /// Slow path of [`Groups::served`]: the group may change in any way.
    fn served_anyhow(&mut self, entity: Slot, cost: u128, waits: bool) {
        self.catch_up();
        let Entity { group, place, .. } = self.entities[entity as usize];
        let index = usize::from(group);
        let Group { start: before, front, width, .. } = self.groups[index];
        let is_first = self.ready.trailing_zeros() == u32::from(group) && front == u32::from(place);
        self.unlink(entity);
        self.entities[entity as usize].start += cost;
        if waits {
            self.link(entity);
        } else {
            self.latest = self.latest.max(self.entities[entity as usize].start);
        }
        let group = &self.groups[index];
        if group.full != 0 && group.start == before {
            return;
        }
        if is_first {
            self.sort_in(index);
            self.unblock(index, before + 2 * width);
            self.look_out();
        } else {
            self.sort_sets();
        }
    }

    /// `entity` has nothing waiting any more, and what waited was not served.
    pub(crate) fn remove(&mut self, entity: Slot) {
        self.unlink(entity);
        self.latest = self.latest.max(self.entities[entity as usize].start);
        self.sort_sets();
    }

    /// The line is idle: all debts are forgiven.
    pub(crate) fn idle(&mut self) {
        self.catch_up();
        self.now = self.now.max(self.latest);
    }

    /// V, in bytes of weight one.
    pub(crate) fn now_bytes(&self) -> f64 {
        self.now() as f64 / (1_u64 << FRACTION) as f64
    }

    /// The groups in which an entity waits.
    pub(crate) fn in_use(&self) -> Set {
        self.ready | self.early | self.blocked
    }

    /// F of a group.
    #[inline]
    fn finish(&self, group: usize) -> u128 {
        self.groups[group].finish()
    }

    /// Puts `entity` into its slot, last of those there.
    #[inline]
    fn link(&mut self, entity: Slot) {
        let (now, known) = (self.now, &mut self.entities[entity as usize]);
        let index = usize::from(known.group);
        let shift = LEAST_SHIFT + index as u32;
        let group = &mut self.groups[index];
        // Changes of weights and lengths leave some starts beyond the slot after V's.
        let last = group.rounded_down(now) + group.width;
        let mut start = group.rounded_down(known.start);
        if start > last {
            self.latest = self.latest.max(known.start);
            (start, known.start) = (last, last);
        }
        if group.full == 0 {
            group.start = start;
        }
        let slot = if start < group.start {
            let back = (((group.start - start) >> shift) as u32).min(group.full.leading_zeros());
            group.full <<= back;
            group.front = group.front.wrapping_sub(back) % SLOTS;
            group.start -= u128::from(back) << shift;
            0
        } else {
            ((start - group.start) >> shift).min(u128::from(SLOTS - 1)) as u32
        };
        let is_in_its_slot = group.start + (u128::from(slot) << shift) == start;
        known.within = if is_in_its_slot { group.within } else { 0 };
        known.offset = known.start as u64 & group.within;
        let place = (group.front + slot) % SLOTS;
        self.append(entity, index, slot, place);
    }

    /// Puts `entity` last into a slot of `group`, the one at `place` in the circle, which is number
    /// `slot` from the front.
    #[inline(always)]
    fn append(&mut self, entity: Slot, group: usize, slot: u32, place: u32) {
        let (group, known) = (&mut self.groups[group], &mut self.entities[entity as usize]);
        known.place = place as u8;
        let members = &mut group.slots[place as usize];
        known.previous = core::mem::replace(&mut members.last, entity);
        let previous = known.previous;
        match self.entities.get_mut(previous as usize) {
            Some(previous) => previous.next = entity,
            None => {
                members.first = entity;
                group.full |= 1 << slot;
            }
        }
    }

    /// Takes `entity` out of its slot; the group's first slot is again one that holds an entity.
    #[inline]
    fn unlink(&mut self, entity: Slot) {
        let Entity { previous, next, group, place, offset, within, .. } = self.entities[entity as usize];
        let shift = LEAST_SHIFT + u32::from(group);
        self.upcoming = NONE;
        let group = &mut self.groups[usize::from(group)];
        let slot = u32::from(place).wrapping_sub(group.front) % SLOTS;
        let known = &mut self.entities[entity as usize];
        if within != 0 {
            known.start = group.start + (u128::from(slot) << shift) + u128::from(offset);
        }
        known.place = NOWHERE;
        let members = &mut group.slots[usize::from(place)];
        let Members { first, last } = *members;
        if first != last {
            if first == entity {
                members.first = next;
            } else {
                self.entities[previous as usize].next = next;
            }
            if last == entity {
                members.last = previous;
            } else {
                self.entities[next as usize].previous = previous;
            }
            return;
        }
        members.last = NONE;
        group.full &= !(1 << slot);
        if group.full != 0 {
            let empty = group.full.trailing_zeros();
            group.full >>= empty;
            group.front = (group.front + empty) % SLOTS;
            group.start += u128::from(empty) << shift;
        }
    }

    /// Puts a group of which S has changed into its set.
    #[inline]
    fn sort_in(&mut self, group: usize) {
        let bit = 1 << group;
        self.upcoming = NONE;
        [&mut self.ready, &mut self.early, &mut self.blocked].into_iter().for_each(|set| *set &= !bit);
        if self.groups[group].full == 0 {
            return;
        }
        let above = self.ready & (Set::MAX << group);
        let is_blocked = above != 0 && self.finish(above.trailing_zeros() as usize) < self.finish(group);
        let is_early = self.groups[group].start > self.now;
        self.early |= u64::from(is_early) << group;
        self.blocked |= u64::from(is_blocked) << group;
        self.ready |= u64::from(!is_early && !is_blocked) << group;
    }

    /// Puts every group into its set, from the definition of the sets.
    pub(crate) fn sort_sets(&mut self) {
        self.catch_up();
        let mut rest = self.in_use();
        for (index, group) in self.groups.iter().enumerate() {
            rest |= u64::from(group.full != 0) << index;
        }
        (self.ready, self.early, self.blocked, self.upcoming) = (0, 0, 0, NONE);
        while let Some(group) = rest.checked_ilog2() {
            rest &= !(1 << group);
            self.sort_in(group as usize);
        }
        self.look_out();
    }

    /// The first of the ready groups, with `finish`, was served: those that it blocked are blocked
    /// no more, unless another has the same F.
    #[inline]
    fn unblock(&mut self, group: usize, finish: u128) {
        let above = self.ready & (Set::MAX << group << 1);
        if above != 0 && self.finish(above.trailing_zeros() as usize) <= finish {
            return;
        }
        let freed = self.blocked & ((1 << group) - 1);
        self.blocked &= !freed;
        self.ready |= freed & !self.early;
        self.upcoming = NONE;
    }

    /// V was `before`: the groups whose start it has reached since are eligible.
    #[inline]
    fn reach(&mut self, before: u128) {
        let changed = (before ^ self.now) >> LEAST_SHIFT;
        if changed != 0 {
            let reached = self.early & (Set::MAX >> (Set::BITS - 1 - changed.ilog2().min(Set::BITS - 1)));
            self.early &= !reached;
            self.ready |= reached & !self.blocked;
            self.upcoming = NONE;
        }
        self.look_out();
    }

    /// Notes how far V may grow before it must be computed: to the least start of the early groups,
    /// that of the first. Call it when these, or W, have changed. A distance that a word does not
    /// hold is cut short.
    #[inline]
    fn look_out(&mut self) {
        let Some(least) = self.groups.get(self.early.trailing_zeros() as usize) else {
            self.until = u64::MAX;
            return;
        };
        let distance = u64::try_from(least.start.saturating_sub(self.now)).unwrap_or(u64::MAX);
        self.until = if self.inverse_total > 0 { distance.div_ceil(self.inverse_total) } else { 0 };
    }
}

#[cfg(test)]
mod tests;
