//! The round number R(t) of bit-by-bit round robin, with weights: the virtual time of generalised
//! processor sharing.
//!
//! Source: Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm",
//! 1990, section "Fair queueing"; the deletions in turn are those of Parekh and Gallager's virtual
//! time, 1993, section II.
//! Cost: O(log N) a packet, amortised; an advance past no deletion is one comparison, a packet of a
//! flow that is active touches only that flow's record. No allocation once the largest number of
//! flows has been seen.
//! Bound: F is exact but for a rounding each time a flow becomes active, less than ε downwards (and
//! less than ε either way if the weight does not divide a byte's work), and work is conserved, so
//! that after n such times R is between n·ε below and, for weights that divide, nothing above the
//! exact one (`tests/fluid.rs`; see below why).
//!
//! The clock is *work*: rate times time. Its unit is 1/2^16 of a bit/s·ps, so that a byte is
//! 8·10^12·2^16 units. A round number counts ε, 1/(8·10^9·2^16) byte at weight one (2^-48.9 byte).
//! With weights in thousandths
//!
//! ```text
//! dR = dwork / W        W the sum of the active weights, in thousandths
//! P  = L·8·10^12·2^16 / w
//! ```
//!
//! hold without any factor. Between changes of the active set R is kept as `r` whole ε at the work
//! `anchor`, and the work `spare` < W that had been done then and is not worth a whole ε:
//! R(x) = r + (x − anchor + spare) / W.
//!
//! - *A flow leaves* where R reaches its last F, an integer: r = F, spare = 0, the work needed is
//!   an exact product.
//! - *A flow enters* at S = r, the fraction spare/W < 1 forgotten in S, but `spare` is kept: the
//!   sum over the flows of w·(F − R), the work left, grows by exactly w·P. The fraction is shared
//!   out again, nothing is gained or lost.
//! - *The lengths of a flow's packets* are divided by its weight with the remainder carried to its
//!   next packet, so that the sum of its P is ΣL/w rounded down however many packets there are.
//! - *A weight changes, or a flow leaves by a refund*: R is kept, `spare` is scaled, which loses
//!   less than one unit.
//!
//! Why errors do not feed on themselves: the work left is the falling function G(R) = Σ
//! w·max(F − R, 0) of R. Here and in the exact system it is the same number, so if no F is more
//! than nε below its exact value and none above, G is not above the exact G and its argument is
//! between nε below and nothing above; the next S adds at most one ε to n.
//!
//! **Nothing overflows.** Work: 10^13 bit/s (2^43.2) · 2^64 ps · 2^16 < 2^124. W: 2^32 flows of
//! 10^9 thousandths (2^29.9) < 2^62, so spare < 2^62 and its scaling is below 2^124. R: at most all
//! work over W ≥ 1, below 2^124; it reaches an F only by work done. P: 2^32 B · 2^58.9 < 2^91 at
//! the least weight. F may run ahead of R without limit when dropped packets are charged: the sum
//! saturates (2^37 packets of 4 GiB at weight 0.001), such a flow stays active. The tournament may
//! hold a saturated F as one less; R, below 2^124, reaches neither. Products (F − R)·W are checked:
//! one that does not fit in 2^128 lies beyond all work there is, and is "never".

use crate::tournament::Tournament;
use crate::units::{Rate, Time, Weight};
use alloc::vec::Vec;

/// A round number, in ε = 1/(8·10^9·2^16) byte at weight one.
pub type Tag = u128;

/// A byte as a difference of round numbers, for a flow of weight one.
pub const BYTE: Tag = 8_000_000_000 << 16;

/// A byte as work.
pub const BYTE_WORK: u128 = 8_000_000_000_000 << 16;

/// Later than all work.
const NEVER: u128 = u128::MAX;

/// The work that a line of `rate` can have done by `now`.
#[must_use]
#[inline]
pub const fn work(rate: Rate, now: Time) -> u128 {
    (rate.bit_per_s() as u128 * now.0 as u128) << 16
}

/// The first whole picosecond at which a line of `rate` can have done `work`; [`Time::NEVER`] if
/// there is none.
#[must_use]
pub fn time_of_work(rate: Rate, work: u128) -> Time {
    let ps = work.div_ceil(u128::from(rate.bit_per_s()) << 16);
    u64::try_from(ps).map_or(Time::NEVER, Time)
}

/// The round numbers at which bit-by-bit round robin starts and finishes a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// S, the greater of the flow's last F and R at the arrival.
    pub start: Tag,
    /// F = S + P; P is L/w rounded, by less than ε either way, so that the P of a flow sum up to
    /// its ΣL/w.
    pub finish: Tag,
}

/// R(t) and the last F of every flow.
#[derive(Clone, Debug)]
pub struct Round {
    /// R at `anchor`, rounded down.
    r: Tag,
    /// Work done at `anchor` that is not in `r`; less than `weight` while a flow is active.
    spare: u128,
    /// The work at which `r` was the round number.
    anchor: u128,
    /// W: the weights of the active flows, in thousandths.
    weight: u64,
    /// The work of the last advance.
    now: u128,
    /// The work at which R reaches the least key in `active`: nothing changes before.
    due: u128,
    /// The work by which no flow will be active any more, if nothing comes before; [`NEVER`] if
    /// that is not known.
    empty: u128,
    /// The active flows, each by a round number that its last F is not below. A packet of an active
    /// flow leaves the key as it is; when the flow wins with a key below its F, it is given its F
    /// as key.
    active: Tournament,
    flows: Vec<Flow>,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    /// F of its last packet.
    finish: Tag,
    /// What a byte adds to F: this many ε …
    per_byte: u64,
    /// … and this many parts of `weight` of one.
    per_byte_rest: u32,
    /// The weight in thousandths.
    weight: u32,
    /// Parts of `weight` of an ε by which the flow's P so far were rounded down.
    carry: u32,
    is_active: bool,
}

impl Flow {
    fn of_weight(weight: Weight) -> Self {
        let mut flow = Self { finish: 0, per_byte: 0, per_byte_rest: 0, weight: 0, carry: 0, is_active: false };
        flow.set_weight(weight);
        flow
    }

    fn set_weight(&mut self, weight: Weight) {
        self.weight = weight.thousandths();
        // A byte at weight 0.001 is 8·10^12·2^16 < 2^59; a remainder is below the weight.
        self.per_byte = (BYTE_WORK / u128::from(self.weight)) as u64;
        self.per_byte_rest = (BYTE_WORK % u128::from(self.weight)) as u32;
        self.carry = 0;
    }

    /// P of a packet of `length` bytes.
    #[inline]
    fn size(&mut self, length: u32) -> Tag {
        let whole = u128::from(length) * u128::from(self.per_byte);
        if self.per_byte_rest == 0 {
            return whole;
        }
        // 2^32 · 2^30 + 2^30 < 2^63.
        let parts = u64::from(length) * u64::from(self.per_byte_rest) + u64::from(self.carry);
        let weight = u64::from(self.weight);
        self.carry = (parts % weight) as u32;
        whole + u128::from(parts / weight)
    }
}

impl Default for Round {
    fn default() -> Self {
        Self::new()
    }
}

impl Round {
    /// R = 0 and no flow is active.
    #[must_use]
    pub fn new() -> Self {
        Self {
            r: 0,
            spare: 0,
            anchor: 0,
            weight: 0,
            now: 0,
            due: NEVER,
            empty: 0,
            active: Tournament::new(),
            flows: Vec::new(),
        }
    }

    /// Moves on to the absolute `work` (see [`work`]); flows whose last F is passed become
    /// inactive. Work never goes back: less than before counts as no advance. Must be called before
    /// a flow is charged or asked about at a new instant; calling it too often does no harm.
    #[inline(always)]
    pub fn advance(&mut self, work: u128) {
        if work > self.now {
            self.now = work;
            if self.due <= work {
                self.pass_finishes();
            }
        }
    }

    /// R at the last advance, rounded down to a whole ε. Never decreases.
    #[inline]
    pub fn now(&mut self) -> Tag {
        let elapsed = self.now - self.anchor;
        self.anchor = self.now;
        if self.weight > 0 {
            // dR = dwork / W
            let done = elapsed + self.spare;
            let weight = u128::from(self.weight);
            self.r += done / weight;
            self.spare = done % weight;
        }
        self.r
    }

    /// What [`now`](Self::now) answers, of a round that is only looked at.
    #[must_use]
    pub const fn seen(&self) -> Tag {
        if self.weight == 0 {
            return self.r;
        }
        self.r + (self.now - self.anchor + self.spare) / self.weight as u128
    }

    /// Whether bit-by-bit round robin has bits of `flow` at the last advance. The answer changes by
    /// [`charge`](Self::charge), [`advance`](Self::advance) and [`refund`](Self::refund).
    #[must_use]
    #[inline]
    pub fn is_active(&self, flow: u32) -> bool {
        self.flows.get(flow as usize).is_some_and(|flow| flow.is_active)
    }

    /// F of the last packet of `flow`; 0 if it never had one.
    #[must_use]
    #[inline]
    pub fn last_finish(&self, flow: u32) -> Tag {
        self.flows.get(flow as usize).map_or(0, |flow| flow.finish)
    }

    /// Whether no flow will be active any more once `work` is done, if nothing comes before.
    #[must_use]
    #[inline]
    pub const fn is_empty_at(&self, work: u128) -> bool {
        self.empty <= work
    }

    /// W: the sum of the active flows' weights, in thousandths.
    #[must_use]
    pub const fn active_weight(&self) -> u64 {
        self.weight
    }

    /// A packet of `length` bytes arrives at `flow` at the last advance. A weight other than the
    /// flow's present one is set first, as by [`set_weight`](Self::set_weight). A packet of no
    /// bytes makes no flow active.
    #[inline(always)]
    pub fn charge(&mut self, flow: u32, weight: Weight, length: u32) -> Stamp {
        let index = flow as usize;
        if self.flows.get(index).is_none_or(|flow| flow.weight != weight.thousandths()) {
            self.set_weight(flow, weight);
        }
        // Whatever the weights are, what came is done one after the other.
        self.empty = self.empty.max(self.now).saturating_add(u128::from(length) * BYTE_WORK);
        if !self.flows[index].is_active {
            return self.charge_inactive(flow, length);
        }
        let flow = &mut self.flows[index];
        // S = max(F, R) = F, for an active flow has R < F.
        let start = flow.finish;
        flow.finish = start.saturating_add(flow.size(length));
        Stamp { start, finish: flow.finish }
    }

    /// The weight of `flow` from now on. If it is active, tags already given stand, and R grows
    /// with the new W.
    #[inline(never)]
    pub fn set_weight(&mut self, flow: u32, weight: Weight) {
        let index = flow as usize;
        if index >= self.flows.len() {
            self.flows.resize(index + 1, Flow::of_weight(Weight::ONE));
        }
        let old = self.flows[index].weight;
        if old == weight.thousandths() {
            return;
        }
        if self.flows[index].is_active {
            self.now();
            // What is left of the flow is other work now.
            self.empty = NEVER;
            self.scale(self.weight - u64::from(old) + u64::from(weight.thousandths()));
        }
        self.flows[index].set_weight(weight);
        self.due = self.next_due();
    }

    /// Takes back a charge: lowers the last F of `flow` to the greater of `to` and R at the last
    /// advance, and never raises it.
    pub fn refund(&mut self, flow: u32, to: Tag) {
        if !self.is_active(flow) {
            // An inactive flow's F is not above R.
            return;
        }
        let r = self.now();
        let state = &mut self.flows[flow as usize];
        let finish = to.max(r);
        if finish >= state.finish {
            return;
        }
        if self.empty != NEVER {
            self.empty -= (state.finish - finish).saturating_mul(u128::from(state.weight)).min(self.empty);
        }
        state.finish = finish;
        state.carry = 0;
        if finish == r {
            state.is_active = false;
            let weight = self.weight - u64::from(state.weight);
            self.active.remove(flow);
            self.scale(weight);
        } else if self.active.key(flow).is_some_and(|key| key > finish) {
            self.active.update(flow, finish);
        }
        self.due = self.next_due();
    }

    /// The absolute work at which R reaches `tag` if no flow comes or leaves before; that of the
    /// last advance if it has. `None` if R stands still or `tag` lies beyond all work.
    #[must_use]
    #[inline]
    pub fn work_at(&self, tag: Tag) -> Option<u128> {
        if tag <= self.r {
            return Some(self.now);
        }
        if self.weight == 0 {
            return None;
        }
        // x = anchor + (F − r)·W − spare
        let needed = tag.saturating_sub(self.r).checked_mul(u128::from(self.weight))?;
        Some(self.anchor.checked_add(needed.saturating_sub(self.spare))?.max(self.now))
    }

    /// The work that a flow of `weight`, active since R was `start`, has been given up to the last
    /// advance, rounded down.
    pub fn work_since(&mut self, start: Tag, weight: Weight) -> u128 {
        let w = u128::from(weight.thousandths());
        let r = self.now();
        if r < start {
            return 0;
        }
        // w·(R − S), with the fraction of R; a packet's w·P is below 2^91.
        let fraction = if self.weight == 0 { 0 } else { w * self.spare / u128::from(self.weight) };
        w.saturating_mul(r - start).saturating_add(fraction)
    }

    /// The first packet of a flow that is not active.
    #[inline(never)]
    fn charge_inactive(&mut self, flow: u32, length: u32) -> Stamp {
        let r = self.now();
        let state = &mut self.flows[flow as usize];
        // S = max(F, R), F = S + P
        let start = state.finish.max(r);
        let finish = start.saturating_add(state.size(length));
        state.finish = finish;
        if finish > start {
            state.is_active = true;
            if self.weight == 0 {
                self.spare = 0;
            }
            // `spare` stays: see the top of the file.
            self.weight += u64::from(state.weight);
            self.active.add(flow, finish);
            self.due = self.next_due();
        }
        Stamp { start, finish }
    }

    /// Deletes in turn the flows whose last F the work done so far has reached.
    #[cold]
    fn pass_finishes(&mut self) {
        while self.due <= self.now {
            // While `due` is not NEVER a flow is active.
            let Some((flow, key)) = self.active.peek() else { break };
            let state = &mut self.flows[flow as usize];
            if state.finish > key {
                self.active.update(flow, state.finish);
            } else {
                state.is_active = false;
                self.weight -= u64::from(state.weight);
                self.active.pop();
                (self.r, self.spare, self.anchor) = (key, 0, self.due);
                if self.weight == 0 {
                    self.empty = self.due;
                }
            }
            self.due = self.next_due();
        }
    }

    /// The work at which R reaches the least key.
    #[inline]
    fn next_due(&self) -> u128 {
        let reached = |(_, key): (u32, Tag)| {
            let needed = key.saturating_sub(self.r).checked_mul(u128::from(self.weight))?;
            self.anchor.checked_add(needed.saturating_sub(self.spare))
        };
        self.active.peek().and_then(reached).unwrap_or(NEVER)
    }

    /// W becomes `weight` and R at the anchor stays: R − r = spare / W.
    fn scale(&mut self, weight: u64) {
        self.spare = self.spare * u128::from(weight) / u128::from(self.weight);
        self.weight = weight;
    }
}
