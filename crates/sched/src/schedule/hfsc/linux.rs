//! HFSC in the arithmetic and order of Linux 6.1 (sch_hfsc.c).
//!
//! Times are ticks of 64 ns (`psched_get_time`), slopes bytes a tick in parts of 2^24 and ticks a
//! byte in parts of 2^14, rounded up (`m2sm`, `m2ism`). Of classes with one virtual time that goes
//! first which took its place first (`vttree_insert`).

use super::curve::Curve;
use super::{Class, Settings};
use crate::class_tree::ClassTree;
use crate::contract::{Heads, Next};
use crate::reading::{Reading, Unit};
use crate::schedule::by_class::Rules;
use crate::store::Store;
use crate::units::{PS_PER_S, Time};
use alloc::vec::Vec;

/// Picoseconds in a tick.
const TICK: u64 = 64_000;
const TICKS_PER_S: u64 = PS_PER_S / TICK;
const SM_SHIFT: u32 = 24;
const ISM_SHIFT: u32 = 14;

/// A curve of two pieces.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    sm1: u64,
    /// `None`: never.
    ism1: Option<u64>,
    dx: u64,
    dy: u64,
    sm2: u64,
    ism2: Option<u64>,
}

/// The curve from a point on.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    x: u64,
    y: u64,
    shape: Shape,
}

const fn x_to_y(x: u64, sm: u64) -> u64 {
    ((x as u128 * sm as u128) >> SM_SHIFT) as u64
}

fn y_to_x(y: u64, ism: Option<u64>) -> u64 {
    match ism {
        _ if y == 0 => 0,
        None => u64::MAX,
        Some(ism) => ((u128::from(y) * u128::from(ism)) >> ISM_SHIFT) as u64,
    }
}

impl Shape {
    fn new(curve: &Curve) -> Self {
        let bytes_per_s = |rate: u64| (rate / 8).min(u64::from(u32::MAX));
        let sm = |m: u64| (m << SM_SHIFT).div_ceil(TICKS_PER_S);
        let ism = |m: u64| (m > 0).then(|| (TICKS_PER_S << ISM_SHIFT).div_ceil(m));
        let (m1, m2) = (bytes_per_s(curve.m1.map_or(0, |m1| m1.bit_per_s())), bytes_per_s(curve.m2.bit_per_s()));
        let dx = (curve.d.0 / 1_000_000).saturating_mul(TICKS_PER_S).div_ceil(1_000_000);
        Self { sm1: sm(m1), ism1: ism(m1), dx, dy: x_to_y(dx, sm(m1)), sm2: sm(m2), ism2: ism(m2) }
    }

    const fn is_convex(&self) -> bool {
        self.sm1 <= self.sm2
    }
}

impl Begun {
    fn time_of(&self, y: u64) -> u64 {
        let Shape { ism1, dx, dy, ism2, .. } = self.shape;
        match () {
            () if y < self.y => self.x,
            () if y <= self.y + dy && dy == 0 => self.x + dx,
            () if y <= self.y + dy => self.x.saturating_add(y_to_x(y - self.y, ism1)),
            () => (self.x + dx).saturating_add(y_to_x(y - self.y - dy, ism2)),
        }
    }

    fn service_at(&self, x: u64) -> u64 {
        let Shape { sm1, dx, dy, sm2, .. } = self.shape;
        match () {
            () if x <= self.x => self.y,
            () if x <= self.x + dx => self.y + x_to_y(x - self.x, sm1),
            () => self.y + dy + x_to_y(x - self.x - dx, sm2),
        }
    }

    /// The lesser of this one and `shape` from (x, y) on (`rtsc_min`).
    fn wake(&mut self, shape: &Shape, x: u64, y: u64) {
        let here = self.service_at(x);
        if shape.is_convex() {
            if here >= y {
                (self.x, self.y) = (x, y);
            }
            return;
        }
        if here <= y {
            return;
        }
        if self.service_at(x + shape.dx) >= y + shape.dy {
            (self.x, self.y) = (x, y);
            (self.shape.dx, self.shape.dy) = (shape.dx, shape.dy);
            return;
        }
        let mut dx = ((here - y) << SM_SHIFT) / (shape.sm1 - shape.sm2);
        if self.x + self.shape.dx > x {
            dx += self.x + self.shape.dx - x;
        }
        (self.x, self.y) = (x, y);
        (self.shape.dx, self.shape.dy) = (dx, x_to_y(dx, shape.sm1));
    }
}

/// A curve and where it has begun.
#[derive(Clone, Copy, Debug)]
struct Service {
    shape: Shape,
    begun: Begun,
}

impl Service {
    fn new(curve: &Curve) -> Self {
        let shape = Shape::new(curve);
        Self { shape, begun: Begun { x: 0, y: 0, shape } }
    }

    fn wake(&mut self, x: u64, y: u64) {
        self.begun.wake(&self.shape, x, y);
    }
}

/// A guarantee at work, of a leaf.
struct RealTime {
    deadline_curve: Service,
    eligible_curve: Begun,
    given: u64,
    eligible: u64,
    deadline: u64,
    /// When its place among equal eligible times was taken; `None` if nothing waits.
    place: Option<u64>,
}

/// A class at work, or the line.
#[derive(Default)]
struct State {
    children: Vec<usize>,
    real_time: Option<RealTime>,
    link_share: Option<Service>,
    upper_limit: Option<Service>,
    total: u64,
    virtual_time: u64,
    adjusted: u64,
    /// The greatest virtual time of a child that went to sleep, and the least of those that fitted
    /// last.
    reached: u64,
    served: u64,
    own_fit: u64,
    fit: u64,
    children_fit: u64,
    period: u32,
    period_above: u32,
    /// Active children; of a leaf 1 while something waits.
    active: u32,
    /// When its place among equal virtual times was taken; `None` if it has none.
    place: Option<u64>,
    /// Bytes of a leaf's head.
    head: Option<u32>,
}

/// The tree, the line as its last class.
pub(super) struct Hfsc {
    tree: ClassTree,
    states: Vec<State>,
    by_deadline: bool,
    now: u64,
    places: u64,
}

impl Hfsc {
    pub(super) fn new(tree: ClassTree, settings: &Settings) -> Self {
        let state = |class: &Class| State {
            real_time: class.real_time.as_ref().map(|curve| {
                let deadline_curve = Service::new(curve);
                let eligible_curve = deadline_curve.begun;
                RealTime { deadline_curve, eligible_curve, given: 0, eligible: 0, deadline: 0, place: None }
            }),
            link_share: class.link_share.as_ref().map(Service::new),
            upper_limit: class.upper_limit.as_ref().map(Service::new),
            ..State::default()
        };
        let mut states: Vec<State> = settings.classes.iter().map(state).collect();
        states.push(State::default());
        for class in 0..tree.len() {
            states[tree.parent(class).unwrap_or(tree.len())].children.push(class);
        }
        Self { tree, states, by_deadline: false, now: 0, places: 0 }
    }

    fn line(&self) -> usize {
        self.tree.len()
    }

    fn above(&self, class: usize) -> usize {
        self.tree.parent(class).unwrap_or(self.line())
    }

    fn new_place(&mut self) -> Option<u64> {
        self.places += 1;
        Some(self.places)
    }

    /// The children with a place, each by its virtual time and place.
    fn placed(&self, class: usize) -> impl Iterator<Item = (u64, u64, usize)> + '_ {
        let of =
            |child: &usize| self.states[*child].place.map(|place| (self.states[*child].virtual_time, place, *child));
        self.states[class].children.iter().filter_map(of)
    }

    fn renew_children_fit(&mut self, class: usize) {
        let least = self.placed(class).map(|(_, _, child)| self.states[child].fit).min();
        self.states[class].children_fit = least.unwrap_or(0);
    }

    /// The head's times, after the leaf woke or was sent from (`init_ed`, `update_ed`, `update_d`).
    fn renew_deadline(&mut self, leaf: usize, wakes: bool, by_deadline: bool) {
        let (now, place) = (self.now, self.new_place());
        let State { real_time: Some(real_time), head: Some(length), .. } = &mut self.states[leaf] else { return };
        if wakes {
            real_time.deadline_curve.wake(now, real_time.given);
            real_time.eligible_curve = real_time.deadline_curve.begun;
            if real_time.deadline_curve.shape.is_convex() {
                (real_time.eligible_curve.shape.dx, real_time.eligible_curve.shape.dy) = (0, 0);
            }
        }
        if wakes || by_deadline {
            real_time.eligible = real_time.eligible_curve.time_of(real_time.given);
            real_time.place = place;
        }
        real_time.deadline = real_time.deadline_curve.begun.time_of(real_time.given + u64::from(*length));
    }

    /// The leaf and the classes above it that had nothing to send take their places (`init_vf`).
    fn wake(&mut self, leaf: usize) {
        let (mut class, mut goes_active) = (leaf, true);
        while class != self.line() {
            let above = self.above(class);
            if goes_active {
                self.states[class].active += 1;
                goes_active = self.states[class].active == 1;
            }
            if goes_active {
                let last = self.placed(above).max().map(|(time, ..)| time);
                let place = self.new_place();
                let (served, reached) = (self.states[above].served, self.states[above].reached);
                let (period, is_empty) = (self.states[above].period, self.states[above].active == 0);
                let state = &mut self.states[class];
                match last {
                    Some(last) => {
                        let start = if served == 0 { last } else { served.midpoint(last) };
                        if period != state.period_above || start > state.virtual_time {
                            state.virtual_time = start;
                        }
                    }
                    None => {
                        state.virtual_time = reached;
                        self.states[above].served = 0;
                    }
                }
                let state = &mut self.states[class];
                if let Some(share) = &mut state.link_share {
                    share.wake(state.virtual_time, state.total);
                }
                state.adjusted = 0;
                state.period = state.period.wrapping_add(1);
                state.period_above = period.wrapping_add(u32::from(is_empty));
                (state.fit, state.place) = (0, place);
                if let Some(limit) = &mut state.upper_limit {
                    limit.wake(self.now, state.total);
                    state.own_fit = limit.begun.time_of(state.total);
                }
            }
            let state = &mut self.states[class];
            state.fit = state.own_fit.max(state.children_fit);
            self.renew_children_fit(above);
            class = above;
        }
    }

    /// The leaf was given `bytes`, and has a head left or not (`update_vf`).
    fn charge(&mut self, leaf: usize, bytes: u64) {
        let mut goes_passive = self.states[leaf].head.is_none() && self.states[leaf].link_share.is_some();
        let mut class = leaf;
        while class != self.line() {
            let above = self.above(class);
            let place = self.new_place();
            let (served, state) = (self.states[above].served, &mut self.states[class]);
            state.total += bytes;
            let Some(share) = state.link_share.filter(|_| state.active > 0) else {
                class = above;
                continue;
            };
            if goes_passive {
                state.active -= 1;
                goes_passive = state.active == 0;
            }
            state.virtual_time = share.begun.time_of(state.total).saturating_add(state.adjusted);
            if state.virtual_time < served {
                state.adjusted += served - state.virtual_time;
                state.virtual_time = served;
            }
            if goes_passive {
                state.place = None;
                let reached = state.virtual_time;
                self.states[above].reached = self.states[above].reached.max(reached);
                self.renew_children_fit(above);
                class = above;
                continue;
            }
            state.place = place;
            if let Some(limit) = &state.upper_limit {
                state.own_fit = limit.begun.time_of(state.total);
            }
            let fit = state.own_fit.max(state.children_fit);
            if fit != state.fit {
                state.fit = fit;
                self.renew_children_fit(above);
            }
            class = above;
        }
    }

    /// The leaf of least deadline of those that may go by it (`eltree_get_mindl`), or when the
    /// first may.
    fn by_deadline(&self, now: u64) -> Result<usize, Option<u64>> {
        let waiting = self.tree.leaves().iter().filter_map(|leaf| {
            let real_time = self.states[*leaf].real_time.as_ref()?;
            Some((real_time.eligible, real_time.place?, real_time.deadline, *leaf))
        });
        let mut best: Option<(u64, u64, u64, usize)> = None;
        let mut first: Option<u64> = None;
        for (eligible, place, deadline, leaf) in waiting {
            first = Some(first.map_or(eligible, |first| first.min(eligible)));
            let key = (deadline, eligible, place, leaf);
            if eligible <= now && best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        }
        best.map(|(.., leaf)| leaf).ok_or(first)
    }

    /// The leaf to which least virtual times lead through classes that fit (`vttree_get_minvt`).
    fn by_share(&mut self, now: u64) -> Option<usize> {
        let mut class = self.line();
        if self.states[class].children_fit > now {
            return None;
        }
        while class == self.line() || !self.states[class].children.is_empty() {
            let (time, _, child) = self.placed(class).filter(|(_, _, child)| self.states[*child].fit <= now).min()?;
            self.states[class].served = self.states[class].served.max(time);
            class = child;
        }
        Some(class)
    }
}

impl Rules for Hfsc {
    fn tree(&self) -> &ClassTree {
        &self.tree
    }

    // `hfsc_enqueue` and `hfsc_dequeue` look at the next packet of a leaf with a guarantee.
    fn heads(&self, leaf: usize) -> Heads {
        if self.states[leaf].real_time.is_some() { Heads::AtOnce } else { Heads::OnTurn }
    }

    fn arrive(&mut self, now: Time) {
        self.now = now.0 / TICK;
    }

    fn backlogged(&mut self, leaf: usize, head: u32) {
        self.states[leaf].head = Some(head);
        self.renew_deadline(leaf, true, false);
        if self.states[leaf].link_share.is_some() {
            self.wake(leaf);
        }
    }

    fn next(&mut self, now: Time, store: &Store) -> Next {
        if store.packets() == 0 {
            return Next::Empty;
        }
        let now = now.0 / TICK;
        let by_deadline = self.by_deadline(now);
        self.by_deadline = by_deadline.is_ok();
        let leaf = by_deadline.ok().or_else(|| self.by_share(now));
        if let Some(slot) = leaf.and_then(|leaf| self.tree.slot(leaf)) {
            return Next::Queue(slot);
        }
        let fit = self.states[self.line()].children_fit;
        let times = [by_deadline.err().flatten(), (fit > 0).then_some(fit)];
        let first = times.into_iter().flatten().min().unwrap_or(u64::MAX);
        Next::NotBefore(Time(first.saturating_mul(TICK)))
    }

    fn sent(&mut self, now: Time, leaf: usize, length: u32, head: Option<u32>) {
        self.now = now.0 / TICK;
        let (length, by_deadline) = (u64::from(length), self.by_deadline);
        self.states[leaf].head = head;
        self.charge(leaf, length);
        if let Some(real_time) = &mut self.states[leaf].real_time {
            if by_deadline {
                real_time.given += length;
            }
            if head.is_none() {
                real_time.place = None;
            }
        }
        self.renew_deadline(leaf, false, by_deadline);
    }

    fn removed(&mut self, now: Time, leaf: usize, head: Option<u32>) {
        self.now = now.0 / TICK;
        self.states[leaf].head = head;
        if head.is_none() {
            self.charge(leaf, 0);
            if let Some(real_time) = &mut self.states[leaf].real_time {
                real_time.place = None;
            }
        }
    }

    fn reading(&self, class: usize) -> Reading<'_> {
        Reading::real("virtual_time_s", Unit::Seconds, self.states[class].virtual_time as f64 / TICKS_PER_S as f64)
    }
}
