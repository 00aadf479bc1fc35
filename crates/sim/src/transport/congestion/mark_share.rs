//! The share of marked packets in a window of data, and its average alpha.
//!
//! Source: RFC 8257 (DCTCP), section 3.3; Prague has the same average.

use super::Acked;

/// Packets delivered since a window of data began, and those of them that were marked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkShare {
    pub(super) delivered: u64,
    pub(super) marked: u64,
}

impl MarkShare {
    /// Counts what an acknowledgement reports.
    pub(super) fn count(&mut self, acked: &Acked) {
        self.delivered += acked.delivered;
        self.marked += acked.marked;
    }

    /// Alpha after this window of data, in which the newest share has the weight `gain`. A
    /// duplicate may report a mark and deliver nothing.
    pub(super) fn averaged(&self, alpha: f64, gain: f64) -> f64 {
        if self.delivered == 0 {
            return alpha;
        }
        // alpha = (1 − g) alpha + g M
        let share = (self.marked as f64 / self.delivered as f64).min(1.0);
        (1.0 - gain) * alpha + gain * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::units::Time;

    #[test]
    fn a_quarter_of_marks_moves_alpha_by_the_gain() {
        let mut share = MarkShare::default();
        assert_eq!(share.averaged(0.5, 0.25), 0.5, "nothing was delivered");
        share.count(&Acked { marked: 1, ..Acked::of(Time::ZERO, 4) });
        assert_eq!(share.averaged(1.0, 0.25), 0.75 + 0.25 * 0.25);
        share.count(&Acked { marked: 9, ..Acked::of(Time::ZERO, 0) });
        assert_eq!(share.averaged(0.0, 0.5), 0.5, "at most all");
    }
}
