//! A fixed window that reacts to nothing; lost packets are sent again on a timeout.
//!
//! Use when: you need a reference without congestion control: a window over a round trip. For the
//! 1990 paper's source use `generic`; for TCP, `reno` or `cubic`.
//! Source: the sliding window of RFC 793 without congestion control.
//! Cost: O(1) a packet.
//! Bound: throughput is at most window over round trip.

use super::congestion::{Acked, Congested, Congestion};
use super::ecn::CodePoint;
use super::supply::Supply;
use super::{Ends, Transport, estimator, go_back_n};

settings! {
    /// The window, and the timeout.
    pub struct Settings {
        /// Packets that may be unacknowledged.
        // The limit of the 1990 paper's sources.
        pub window: u32 = 5,
        /// The timeout.
        pub timeout: estimator::Settings = estimator::Settings::default(),
    }
}

impl Transport for Settings {
    fn build(&self, supply: Supply) -> Ends {
        go_back_n::ends(FixedWindow::new(self), &self.timeout, 0, supply)
    }

    answers!(self: Reliable, window Some(self.window), code_point CodePoint::None);

    fn fault(&self) -> Option<String> {
        self.timeout.fault()
    }
}

/// A constant window.
pub struct FixedWindow {
    window: u32,
}

impl FixedWindow {
    /// A window that never changes.
    #[must_use]
    pub const fn new(settings: &Settings) -> Self {
        Self { window: settings.window }
    }
}

impl Congestion for FixedWindow {
    fn window(&self) -> f64 {
        f64::from(self.window)
    }

    fn acknowledged(&mut self, _acked: &Acked) {}

    fn lost(&mut self, _congested: &Congested) {}

    fn timed_out(&mut self, _congested: &Congested) {}

    fn phase(&self) -> &'static str {
        "fixed window"
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", f64::from(self.window));
    }
}
