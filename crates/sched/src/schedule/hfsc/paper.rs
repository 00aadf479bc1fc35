//! HFSC with exact curves, as the paper has them.

use super::Settings;
use super::curve::{Curve, Service};
use crate::class_tree::ClassTree;
use crate::contract::{Heads, Line, Next};
use crate::reading::{Reading, Unit};
use crate::schedule::by_class::Rules;
use crate::store::Store;
use crate::units::{PS_PER_S, Time};
use alloc::vec::Vec;

/// A guarantee at work, of a leaf.
struct RealTime {
    service: Service,
    /// What it has been given by deadlines.
    given: u128,
    /// From when on its head may be sent by its deadline; and that.
    eligible: u64,
    deadline: u64,
}

/// A class at work, or the line.
struct State {
    children: Vec<usize>,
    real_time: Option<RealTime>,
    link_share: Service,
    upper_limit: Option<Service>,
    /// All that it has been given.
    total: u128,
    virtual_time: u128,
    /// The greatest virtual time that one of its children reached.
    reached: u128,
    /// From when on it may be given more by sharing: by its own limit, and with those below it.
    own_fit: u64,
    fit: u64,
    is_active: bool,
    /// Bytes of the head packet of a leaf.
    head: Option<u32>,
}

/// Service units in a byte.
const PER_BYTE: u128 = 8 * PS_PER_S as u128;

/// The tree, the line as its last class.
pub(super) struct Hfsc {
    tree: ClassTree,
    states: Vec<State>,
    /// Whether the head that `next` named last goes by its deadline.
    by_deadline: bool,
    now: Time,
}

impl Hfsc {
    /// Nothing has arrived.
    #[must_use]
    pub(super) fn new(tree: ClassTree, settings: &Settings, line: &Line) -> Self {
        let whole = Curve::line(line.rate);
        let state = |(real_time, link_share, upper_limit): (Option<&Curve>, &Curve, Option<&Curve>)| State {
            children: Vec::new(),
            real_time: real_time.map(|curve| RealTime {
                service: Service::new(curve),
                given: 0,
                eligible: 0,
                deadline: 0,
            }),
            link_share: Service::new(link_share),
            upper_limit: upper_limit.map(Service::new),
            total: 0,
            virtual_time: 0,
            reached: 0,
            own_fit: 0,
            fit: 0,
            is_active: false,
            head: None,
        };
        let curves = settings.classes.iter().map(|class| {
            let (real_time, limit) = (class.real_time.as_ref(), class.upper_limit.as_ref());
            (real_time, class.link_share.as_ref().or(real_time).unwrap_or(&whole), limit)
        });
        let mut states: Vec<State> = curves.chain([(None, &whole, None)]).map(state).collect();
        for class in 0..tree.len() {
            states[tree.parent(class).unwrap_or(tree.len())].children.push(class);
        }
        Self { tree, states, by_deadline: false, now: Time::ZERO }
    }

    fn line(&self) -> usize {
        self.tree.len()
    }

    /// The class above, or the line.
    fn above(&self, class: usize) -> usize {
        self.tree.parent(class).unwrap_or(self.line())
    }

    fn active_children(&self, class: usize) -> impl Iterator<Item = usize> + '_ {
        self.states[class].children.iter().copied().filter(|child| self.states[*child].is_active)
    }

    /// The leaf whose packet has the least deadline of those that may go by it, or when the first
    /// may.
    fn by_deadline(&self, now: Time) -> Result<usize, u64> {
        let (mut best, mut first): (Option<(u64, usize)>, u64) = (None, u64::MAX);
        for leaf in self.tree.leaves() {
            let State { real_time: Some(real_time), head: Some(_), .. } = &self.states[*leaf] else { continue };
            let key = (real_time.deadline, *leaf);
            if real_time.eligible <= now.0 && best.is_none_or(|other| key < other) {
                best = Some(key);
            }
            first = first.min(real_time.eligible);
        }
        best.map(|(_, leaf)| leaf).ok_or(first)
    }

    /// The leaf to which least virtual times lead through classes that fit.
    fn by_share(&self, now: Time) -> Option<usize> {
        let mut class = self.line();
        while class == self.line() || !self.states[class].children.is_empty() {
            let fits = self.active_children(class).filter(|child| self.states[*child].fit <= now.0);
            class = fits.min_by_key(|child| (self.states[*child].virtual_time, *child))?;
        }
        Some(class)
    }

    /// `leaf`, and classes above it that had nothing to send, take their places among their
    /// siblings.
    fn wake(&mut self, leaf: usize) {
        let now = u128::from(self.now.0);
        if let Some(RealTime { service, given, .. }) = &mut self.states[leaf].real_time {
            service.wake(now, *given);
        }
        let mut class = leaf;
        while class != self.line() && !self.states[class].is_active {
            let above = self.above(class);
            let times = self.active_children(above).map(|child| self.states[child].virtual_time);
            let (least, greatest) =
                times.fold((u128::MAX, 0), |(least, greatest), time| (time.min(least), time.max(greatest)));
            let start = if least == u128::MAX { self.states[above].reached } else { least + (greatest - least) / 2 };
            let State { link_share, upper_limit, total, virtual_time, own_fit, is_active, .. } =
                &mut self.states[class];
            *is_active = true;
            link_share.wake(start, *total);
            *virtual_time = link_share.time_of(*total);
            if let Some(limit) = upper_limit {
                limit.wake(now, *total);
                *own_fit = time(limit.time_of(*total));
            }
            class = above;
        }
    }

    /// `leaf` has nothing to send, and perhaps classes above it.
    fn sleep(&mut self, leaf: usize) {
        let mut class = leaf;
        while class != self.line() && self.active_children(class).next().is_none() {
            self.states[class].is_active = false;
            class = self.above(class);
        }
    }

    /// Eligible time and deadline of the head of `leaf`, and from when on it and the classes above
    /// it fit.
    fn renew(&mut self, leaf: usize) {
        let State { real_time, head, .. } = &mut self.states[leaf];
        if let (Some(RealTime { service, given, eligible, deadline }), Some(length)) = (real_time, *head) {
            *eligible = time(service.eligible_time_of(*given));
            *deadline = time(service.time_of(*given + u128::from(length) * PER_BYTE));
        }
        let mut class = leaf;
        while class != self.line() {
            let below = self.active_children(class).map(|child| self.states[child].fit).min().unwrap_or(0);
            self.states[class].fit = self.states[class].own_fit.max(below);
            class = self.above(class);
        }
    }

    /// The head of `leaf` has changed.
    fn set_head(&mut self, leaf: usize, head: Option<u32>) {
        self.states[leaf].head = head;
        if head.is_none() {
            self.sleep(leaf);
        }
        self.renew(leaf);
    }

    /// Counts `bits` that `leaf` is given.
    fn charge(&mut self, leaf: usize, bits: u128) {
        if self.by_deadline
            && let Some(real_time) = &mut self.states[leaf].real_time
        {
            real_time.given += bits;
        }
        let (mut class, now) = (leaf, u128::from(self.now.0));
        while class != self.line() {
            let above = self.above(class);
            let State { link_share, upper_limit, total, virtual_time, own_fit, .. } = &mut self.states[class];
            if let Some(limit) = upper_limit {
                // What it might have had until now is not saved.
                limit.wake(now, *total);
            }
            *total += bits;
            *virtual_time = link_share.time_of(*total);
            if let Some(limit) = upper_limit {
                *own_fit = time(limit.time_of(*total));
            }
            let reached = *virtual_time;
            self.states[above].reached = self.states[above].reached.max(reached);
            class = above;
        }
    }
}

/// A time of a curve as one of the clock.
fn time(time: u128) -> u64 {
    u64::try_from(time).unwrap_or(u64::MAX)
}

impl Rules for Hfsc {
    fn tree(&self) -> &ClassTree {
        &self.tree
    }

    fn arrive(&mut self, now: Time) {
        self.now = now;
    }

    fn heads(&self, _leaf: usize) -> Heads {
        Heads::AtOnce
    }

    fn backlogged(&mut self, leaf: usize, head: u32) {
        self.wake(leaf);
        self.set_head(leaf, Some(head));
    }

    fn next(&mut self, now: Time, _store: &Store) -> Next {
        let by_deadline = self.by_deadline(now);
        self.by_deadline = by_deadline.is_ok();
        let leaf = by_deadline.ok().or_else(|| self.by_share(now));
        if let Some(slot) = leaf.and_then(|leaf| self.tree.slot(leaf)) {
            return Next::Queue(slot);
        }
        let fits = self.active_children(self.line()).map(|class| self.states[class].fit).min();
        fits.map_or(Next::Empty, |fit| Next::NotBefore(Time(by_deadline.err().unwrap_or(u64::MAX).min(fit))))
    }

    fn sent(&mut self, now: Time, leaf: usize, length: u32, head: Option<u32>) {
        self.now = now;
        self.charge(leaf, u128::from(length) * PER_BYTE);
        self.set_head(leaf, head);
    }

    fn removed(&mut self, now: Time, leaf: usize, head: Option<u32>) {
        self.now = now;
        self.set_head(leaf, head);
    }

    fn reading(&self, class: usize) -> Reading<'_> {
        Reading::real("virtual_time_s", Unit::Seconds, self.states[class].virtual_time as f64 / PS_PER_S as f64)
    }
}
