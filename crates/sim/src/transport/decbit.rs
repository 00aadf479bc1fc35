//! DECbit source: every two windows, one packet more or an eighth less, by the share of marked
//! acknowledgements.
//!
//! Use when: you reproduce the scheme of 1988 or the 1990 paper, with a marker such as `decbit` or
//! `fq_bit`. It is historic; for marks in new work use `dctcp`.
//! Source: Ramakrishnan and Jain, SIGCOMM 1988 (sections 5 and 6); Chiu and Jain 1989; window limit
//! 5: Demers, Keshav and Shenker 1990.
//! Chosen: the window used is the real one rounded to the nearest integer. After a decision the
//! acknowledgements of one previous window are skipped and those of one present window are counted;
//! duplicates count. On a timeout the window is 1 and the count restarts.
//! Cost: O(1) a packet.
//! Bound: the window is at least 1 and at most its limit; equal sources that see the same marks
//! converge to equal windows (Chiu and Jain).

use super::congestion::{AVOIDANCE, Acked, Congested, Congestion};
use super::ecn::CodePoint;
use super::supply::Supply;
use super::{Ends, Transport, estimator, go_back_n};
use crate::settings::{no_part, outside};
use fairq_sched::packet::Marks;

settings! {
    /// Limit of the window, increase and decrease, timeout.
    pub struct Settings {
        /// The greatest window, in packets.
        pub window_max: u32 = 5,
        /// The increase when few acknowledgements are marked, in packets.
        // Section 6.3: 1 and 0.875, half or more.
        pub increase: f64 = 1.0,
        /// The factor of the window when many acknowledgements are marked.
        pub decrease: f64 = 0.875,
        /// The share of marked acknowledgements from which on they count as many.
        pub marked_share: f64 = 0.5,
        /// The timeout.
        pub timeout: estimator::Settings = estimator::Settings { backoff_limit: 0, ..estimator::Settings::default() },
    }
}

impl Transport for Settings {
    fn build(&self, supply: Supply) -> Ends {
        go_back_n::ends(Decbit::new(self), &self.timeout, 0, supply)
    }

    answers!(self: Reliable, window Some(self.window_max), code_point CodePoint::None);

    fn fault(&self) -> Option<String> {
        let numbers = [("increase", self.increase, 0.0, 1e6), ("marked_share", self.marked_share, 0.0, 1.0)];
        let fault = self.timeout.fault().or_else(|| no_part(&[("decrease", self.decrease)]));
        fault.or_else(|| outside(&numbers))
    }
}

/// The window, and the count toward the next decision.
pub struct Decbit {
    settings: Settings,
    window: f64,
    /// Acknowledgements still to be skipped.
    passing: u32,
    counted: u32,
    marked: u32,
}

impl Decbit {
    /// A window of one packet.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), window: 1.0, passing: 1, counted: 0, marked: 0 }
    }

    /// The window in whole packets.
    fn used(&self) -> u32 {
        ((self.window + 0.5) as u32).clamp(1, self.settings.window_max)
    }
}

impl Congestion for Decbit {
    fn window(&self) -> f64 {
        f64::from(self.used())
    }

    fn acknowledged(&mut self, acked: &Acked) {
        if self.passing > 0 {
            self.passing -= 1;
            return;
        }
        self.counted += 1;
        self.marked += u32::from(acked.marks.intersects(self.accepts()));
        let used = self.used();
        if self.counted < used {
            return;
        }
        let is_congested = f64::from(self.marked) >= self.settings.marked_share * f64::from(self.counted);
        let window =
            if is_congested { self.window * self.settings.decrease } else { self.window + self.settings.increase };
        self.window = window.clamp(1.0, f64::from(self.settings.window_max));
        (self.passing, self.counted, self.marked) = (used, 0, 0);
    }

    /// Lost packets are sent again on a timeout; the source defines no other reaction.
    fn lost(&mut self, _congested: &Congested) {}

    fn timed_out(&mut self, _congested: &Congested) {
        self.window = 1.0;
        (self.passing, self.counted, self.marked) = (1, 0, 0);
    }

    fn accepts(&self) -> Marks {
        Marks::DEC.with(Marks::FQ)
    }

    /// The source's name for all that it does.
    fn phase(&self) -> &'static str {
        AVOIDANCE
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", self.window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::units::Time;

    fn decide(law: &mut Decbit, marks: Marks) {
        let before = law.window;
        while law.window == before || law.counted > 0 {
            law.acknowledged(&Acked { marks, ..Acked::of(Time::ZERO, 1) });
            if law.counted == 0 && law.passing == law.used() {
                break;
            }
        }
    }

    #[test]
    fn ten_becomes_eight_and_three_quarters_or_eleven() {
        for (marks, window) in [(Marks::DEC, 8.75), (Marks::FQ, 8.75), (Marks::NONE, 11.0), (Marks::CE, 11.0)] {
            let mut law = Decbit::new(&Settings { window_max: 100, ..Settings::default() });
            law.window = 10.0;
            law.passing = 10;
            for _ in 0..20 {
                law.acknowledged(&Acked { marks, ..Acked::of(Time::ZERO, 1) });
            }
            assert_eq!(law.window, window);
            assert_eq!(law.passing, 10, "the previous window is passed over");
        }
    }

    /// Two sources that see the same bit, from 9 and 1 under a total of 10: Jain's index after 40
    /// decisions, 0.9987.
    #[test]
    fn equal_sources_converge_to_equal_windows() {
        let mut sources = [9.0, 1.0].map(|window| {
            let mut law = Decbit::new(&Settings { window_max: 100, ..Settings::default() });
            (law.window, law.passing) = (window, 0);
            law
        });
        for _ in 0..40 {
            let marks = if sources.iter().map(|law| law.window).sum::<f64>() > 10.0 { Marks::DEC } else { Marks::NONE };
            for law in &mut sources {
                law.passing = 0;
                decide(law, marks);
            }
        }
        let [a, b] = sources.map(|law| law.window);
        let jain = (a + b) * (a + b) / (2.0 * (a * a + b * b));
        assert!(jain > 0.995, "{jain}: {a} {b}");
    }
}
