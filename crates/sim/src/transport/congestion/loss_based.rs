//! The skeleton of congestion controls that react to losses: slow start, growth by a rule of their
//! own, and a part of the window that a loss, a mark or a timeout leaves.
//!
//! Source: RFC 5681, sections 3.1 and 4.1; RFC 3168, section 6.1.2, for marks; ns-2, tcp.cc
//! `slowdown`, where the connection reduces as that does.

use super::slow_start::{Window, threshold_of_ns2};
use super::{Acked, Congested, Congestion, Cwnd};
use crate::transport::ecn::{CodePoint, Ecn};
use fairq_sched::units::Time;

/// A sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A packet was lost.
    Loss,
    /// A packet was marked.
    Mark,
    /// The retransmission timer expired.
    Timeout,
}

/// A congestion control that reacts to losses; [`Congestion`] follows.
pub trait LossBased: Send {
    /// cwnd and ssthresh, with the slow start between them.
    fn state(&self) -> &Window;

    /// cwnd and ssthresh, to change them.
    fn state_mut(&mut self) -> &mut Window;

    /// How it learns of marks.
    fn hears(&self) -> Ecn {
        Ecn::Not
    }

    /// The ECN field of its packets.
    fn field(&self) -> CodePoint {
        self.hears().code_point()
    }

    /// Grows the window by an acknowledgement, in slow start and after it.
    fn grow(&mut self, acked: &Acked);

    /// The packets that are left: cwnd after a loss or a mark, and ssthresh after all signals.
    fn left(&mut self, signal: Signal, congested: &Congested) -> f64;

    /// The packets that are left of a `window` that is reduced as in ns-2; `None` if
    /// [`LossBased::left`] says it.
    fn left_in_ns2(&mut self, _signal: Signal, _window: f64) -> Option<f64> {
        None
    }

    /// The opening packet was acknowledged.
    fn open(&mut self, _now: Time, _smoothed: Time) {}

    /// `packets` were found lost, before the loss is told.
    fn find_lost(&mut self, _packets: u64) {}

    /// All losses have been repaired.
    fn end_recovery(&mut self) {}

    /// The window becomes the limit of the sender, or stops being it.
    fn pause(&mut self, _now: Time, _is_limit: bool) {}

    /// Nothing was in flight for longer than a timeout.
    fn rest(&mut self, _now: Time) {}

    /// Passes the inner values besides cwnd and ssthresh to `visit`.
    fn readings(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// Reduces the window of `law`.
fn reduce(law: &mut impl LossBased, signal: Signal, congested: &Congested) {
    if let Some(window) = congested.window
        && let Some(left) = law.left_in_ns2(signal, window)
    {
        let packets = if signal == Signal::Timeout { 1.0 } else { left.max(1.0) };
        return law.state_mut().set(packets, threshold_of_ns2(left));
    }
    let left = law.left(signal, congested);
    match signal {
        Signal::Loss | Signal::Mark => law.state_mut().reduce(left),
        Signal::Timeout => law.state_mut().restart(left, congested),
    }
}

impl<L: LossBased> Congestion for L {
    fn window(&self) -> f64 {
        self.state().packets()
    }

    fn opened(&mut self, now: Time, _round_trip: Option<Time>, smoothed: Time, _length: u32) {
        self.open(now, smoothed);
    }

    fn acknowledged(&mut self, acked: &Acked) {
        self.grow(acked);
    }

    fn found_lost(&mut self, congested: &Congested) {
        self.find_lost(congested.packets);
    }

    fn lost(&mut self, congested: &Congested) {
        reduce(self, Signal::Loss, congested);
    }

    fn marked(&mut self, congested: &Congested) {
        reduce(self, Signal::Mark, congested);
    }

    fn timed_out(&mut self, congested: &Congested) {
        reduce(self, Signal::Timeout, congested);
    }

    fn recovered(&mut self, _now: Time) {
        self.end_recovery();
    }

    fn limits(&mut self, now: Time, is_limit: bool) {
        self.pause(now, is_limit);
    }

    fn rested(&mut self, now: Time) {
        self.rest(now);
        self.state_mut().rest();
    }

    fn cwnd(&mut self) -> Option<Cwnd<'_>> {
        Some(self.state_mut().cwnd())
    }

    fn ecn(&self) -> Ecn {
        self.hears()
    }

    fn code_point(&self) -> CodePoint {
        self.field()
    }

    fn phase(&self) -> &'static str {
        self.state().phase()
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.state().inspect(visit);
        self.readings(visit);
    }
}

/// The window of a congestion control, and whether packets may be marked instead of dropped (RFC
/// 3168), by the names that their fields have in all.
macro_rules! keeps_a_window {
    () => {
        fn state(&self) -> &Window {
            &self.window
        }

        fn state_mut(&mut self) -> &mut Window {
            &mut self.window
        }
    };
    ($($ecn:ident).+) => {
        keeps_a_window!();

        fn hears(&self) -> crate::transport::ecn::Ecn {
            if self.$($ecn).+ { crate::transport::ecn::Ecn::Classic } else { crate::transport::ecn::Ecn::Not }
        }
    };
}
pub(super) use keeps_a_window;
