//! Service curves of two pieces, and the least of those that began when a class woke.
//!
//! A curve that begins at time x with service y promises y + S(t - x). A class that wakes several
//! times is promised the minimum of them all. To reach service v takes until the greatest of the
//! times at which the single curves reach it, so that only the beginnings are kept. A beginning is
//! let go when another's curve is below its own everywhere, or from the service reached on: of a
//! concave curve two are left (one for the first slope and one for the second), of a convex curve
//! whose first slope is zero one.

use crate::units::{Rate, Time};
use alloc::vec::Vec;

/// A slope for some time, then another.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(try_from = "written::Curve"))]
pub struct Curve {
    /// The slope in the beginning; without one nothing is promised for `d`.
    pub m1: Option<Rate>,
    /// For how long; without it `m2` is the slope from the beginning.
    pub d: Time,
    /// The slope from then on.
    pub m2: Rate,
}

#[cfg(feature = "schema")]
mod written {
    //! The two ways to write a curve.

    use crate::units::{Bytes, PS_PER_S, Rate, Time};
    use alloc::string::{String, ToString};

    /// Slopes, or as `tc` takes it what is to be sent by when.
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Curve {
        /// The slope in the beginning; without one nothing is promised for `d`.
        m1: Option<Rate>,
        /// For how long; without it `m2` is the slope from the beginning.
        #[serde(default)]
        d: Time,
        /// The slope from then on.
        m2: Option<Rate>,
        /// In place of the slopes: this much is to be sent
        umax: Option<Bytes>,
        /// within this time,
        dmax: Option<Time>,
        /// and then at this rate.
        rate: Option<Rate>,
    }

    /// As iproute2 has it (`hfsc_get_sc2`, q_hfsc.c).
    impl TryFrom<Curve> for super::Curve {
        type Error = String;

        fn try_from(written: Curve) -> Result<Self, String> {
            let Curve { m1, d, m2, umax, dmax, rate } = written;
            let has_slopes = m1.is_some() || d > Time::ZERO || m2.is_some();
            if has_slopes && (umax.is_some() || dmax.is_some() || rate.is_some()) {
                return Err("a curve is m1, d and m2, or umax, dmax and rate".to_string());
            }
            if has_slopes || rate.is_none() && umax.is_none() && dmax.is_none() {
                return Ok(Self { m1, d, m2: m2.ok_or("missing field `m2`")? });
            }
            let m2 = rate.ok_or("a curve with umax or dmax ends in a rate; write rate = \"1 Mbit/s\"")?;
            let (umax, dmax) = match (umax, dmax) {
                (None, None) => return Ok(Self::line(m2)),
                (Some(_), None) => {
                    return Err("a curve with umax has a dmax; write dmax = \"10 ms\"".to_string());
                }
                (umax, Some(dmax)) => (umax.unwrap_or_default(), dmax),
            };
            let bits = u128::from(umax.0) * 8 * u128::from(PS_PER_S);
            let first = bits.checked_div(dmax.0.into()).unwrap_or(0);
            if first > m2.bit_per_s().into() {
                let first = bits.div_ceil(dmax.0.into());
                let m1 = u64::try_from(first).ok().and_then(Rate::new).ok_or("umax over dmax is too large a rate")?;
                return Ok(Self { m1: Some(m1), d: dmax, m2 });
            }
            let within = u64::try_from(bits / u128::from(m2.bit_per_s())).unwrap_or(u64::MAX);
            Ok(Self { m1: None, d: Time(dmax.0.saturating_sub(within)), m2 })
        }
    }
}

impl Curve {
    /// One slope.
    #[must_use]
    pub const fn line(m2: Rate) -> Self {
        Self { m1: None, d: Time::ZERO, m2 }
    }
}

/// The point at which a curve begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    time: u128,
    /// In bits × 10⁻¹²: a rate in bit/s times picoseconds.
    service: u128,
}

/// Beginnings that are kept at most; two more would be more exact, but a wake-up costs a look at
/// each.
const STARTS_MAX: usize = 8;

/// A curve and its beginnings.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    m1: u128,
    m2: u128,
    d: u128,
    starts: Vec<Start>,
}

impl Service {
    /// A curve that has not begun.
    pub(crate) fn new(curve: &Curve) -> Self {
        let m1 = curve.m1.map_or(0, Rate::bit_per_s).into();
        Self { m1, m2: curve.m2.bit_per_s().into(), d: curve.d.0.into(), starts: Vec::with_capacity(STARTS_MAX + 1) }
    }

    /// The class wakes at `time`, having been given `service`.
    pub(crate) fn wake(&mut self, time: u128, service: u128) {
        let (m1, m2, is_concave) = (self.m1, self.m2, self.is_concave());
        let first = m1 * self.d;
        // Past the first piece only the second counts, of a convex curve.
        let is_past = |start: &Start| !is_concave && start.service.saturating_add(first) <= service;
        let no_higher = |one: &Start, other: &Start| {
            is_below(one, other, m2) && (is_past(one) && is_past(other) || is_below(one, other, m1))
        };
        self.starts.push(Start { time, service });
        let mut at = 0;
        while at < self.starts.len() {
            let is_needless =
                (0..self.starts.len()).any(|by| by != at && no_higher(&self.starts[by], &self.starts[at]));
            if is_needless {
                self.starts.remove(at);
            } else {
                at += 1;
            }
        }
        if is_concave {
            self.keep_lowest();
        } else if self.starts.len() > STARTS_MAX {
            self.merge_oldest();
        }
    }

    const fn is_concave(&self) -> bool {
        self.d > 0 && self.m1 > self.m2
    }

    /// Of a concave curve the lowest first piece and the lowest second piece are all there is.
    fn keep_lowest(&mut self) {
        let lowest = |slope: u128| {
            let mut starts = self.starts.iter().copied();
            let first = starts.next();
            starts.fold(first, |low, start| low.map(|low| if is_below(&start, &low, slope) { start } else { low }))
        };
        let (first, second) = (lowest(self.m1), lowest(self.m2));
        self.starts.retain(|start| Some(*start) == first || Some(*start) == second);
    }

    /// In place of the two oldest, a curve that begins with the later of them and is below both.
    fn merge_oldest(&mut self) {
        let oldest = self.starts.remove(0);
        let next = &mut self.starts[0];
        let on_oldest = oldest.service + self.m1.saturating_mul(next.time - oldest.time);
        next.service = next.service.min(on_oldest);
    }

    /// When the curve reaches `service`, rounded up.
    pub(crate) fn time_of(&self, service: u128) -> u128 {
        self.starts.iter().map(|start| self.reaches(start, service)).max().unwrap_or(0)
    }

    /// When service beyond `service` may begin, so that later demands of the curve can be met: of a
    /// concave curve when it reaches that, of a convex curve when a line of its second slope does.
    pub(crate) fn eligible_time_of(&self, service: u128) -> u128 {
        if self.is_concave() {
            return self.time_of(service);
        }
        let line = |start: &Start| start.time + service.saturating_sub(start.service).div_ceil(self.m2);
        self.starts.iter().map(line).max().unwrap_or(0)
    }

    fn reaches(&self, start: &Start, service: u128) -> u128 {
        let rise = service.saturating_sub(start.service);
        let first = self.m1 * self.d;
        if rise == 0 {
            start.time
        } else if rise <= first {
            start.time + rise.div_ceil(self.m1)
        } else {
            start.time + self.d + (rise - first).div_ceil(self.m2)
        }
    }
}

/// Whether the line of `slope` through `one` is not above that through `other`.
fn is_below(one: &Start, other: &Start, slope: u128) -> bool {
    if one.time >= other.time {
        one.service <= other.service.saturating_add(slope.saturating_mul(one.time - other.time))
    } else {
        one.service.saturating_add(slope.saturating_mul(other.time - one.time)) <= other.service
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(m1: u64, d: u64, m2: u64) -> Service {
        Service::new(&Curve { m1: Rate::new(m1), d: Time(d), m2: Rate::new(m2).unwrap() })
    }

    /// The value at `time` of the least of the curves that began at `starts`.
    fn least((m1, d, m2): (u128, u128, u128), starts: &[(u128, u128)], time: u128) -> u128 {
        let value = |(x, y): &(u128, u128)| y + m1 * (time - x).min(d) + m2 * (time - x).saturating_sub(d);
        starts.iter().map(value).min().unwrap()
    }

    #[test]
    fn a_class_that_wakes_is_promised_the_least_of_its_curves() {
        let mut state = 7_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for _ in 0..3000 {
            let (m1, d, m2) = (below(9), below(30), 1 + below(9));
            let mut service = curve(m1, d, m2);
            let shape = (m1.into(), d.into(), m2.into());
            let (mut time, mut given, mut starts) = (0_u128, 0_u128, Vec::new());
            // Few enough that none is merged.
            for _ in 0..STARTS_MAX {
                starts.push((time, given));
                service.wake(time, given);
                for step in 0..20 {
                    let asked = given + 1 + step * 7;
                    // The first time from which the curve is not below `asked`.
                    let brute = (time..).find(|at| least(shape, &starts, *at) >= asked).unwrap();
                    assert_eq!(service.time_of(asked).max(time), brute, "{shape:?} {starts:?} {asked}");
                }
                assert!(m1 < m2 || service.starts.len() <= 2);
                time += u128::from(below(20));
                given += u128::from(below(60));
            }
        }
    }

    #[test]
    fn what_is_merged_is_never_above() {
        let shape = (3, 1000, 50);
        let mut service = curve(3, 1000, 50);
        let (mut starts, mut most) = (Vec::new(), 0);
        for wake in 0..40_u128 {
            // Ahead of the first slope and behind the second: no beginning makes another one
            // needless.
            starts.push((wake * 10, wake * 60));
            service.wake(wake * 10, wake * 60);
            most = most.max(service.starts.len());
            for asked in (wake * 60..wake * 60 + 4000).step_by(50) {
                let at = service.time_of(asked).max(wake * 10);
                assert!(least(shape, &starts, at) >= asked);
            }
        }
        assert_eq!(most, STARTS_MAX);
    }
}
