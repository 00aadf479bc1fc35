//! Reno: slow start, one packet more a round trip, half on a loss.
//!
//! Use when: you need the yardstick of theory: one packet more a round trip, half on a loss.
//! Several losses in a window halve it repeatedly (`newreno`: once); for what hosts run today use
//! `cubic`.
//! Source: RFC 5681 (TCP Congestion Control), sections 3.1 and 3.2; RFC 3168 for marks; RFC 8511
//! for `mark_decrease`.
//! Chosen: the window grows by one over itself for each packet acknowledged (appropriate byte
//! counting, RFC 3465, with a limit of one packet an acknowledgement in slow start); ssthresh is
//! half of the window (the connection's `reduces`) and at least 2. Loss recovery belongs to the
//! connection: with `recovery = "reno"`, the default with this name, several losses in a window
//! halve it several times. A mark leaves 2 packets at least, as in Linux; RFC 3168, section 6.1.2,
//! goes down to 1, then waits for the timer.
//! Cost: O(1) a packet.
//! Bound: with periodic losses of one in 1/p packets the mean window is sqrt(3/(2p)); a line
//! without buffer is used to 75 % (recovery.rs: a_bufferless_line_is_used_as_published).
//! Range: windows up to 2⁵³ packets.

use super::loss_based::{LossBased, Signal, keeps_a_window};
use super::slow_start::{SlowStart, Window};
use super::whole::{self, Increase};
use super::{Acked, Beginning, Congested, LawSettings};
use crate::settings::{no_part, outside};

settings! {
    /// The factors after a loss and a mark, and whether packets may be marked.
    pub struct Settings {
        /// The factor that is left after a loss, of the window or as the connection's `reduces`
        /// says.
        pub decrease: f64 = 0.5,
        /// The same after a mark; 0.8 in RFC 8511.
        pub mark_decrease: f64 = 0.5,
        /// Whether packets may be marked instead of dropped (RFC 3168).
        pub ecn: bool = false,
        /// Where the first slow start ends, in packets; by default where a packet is lost.
        pub first_threshold: Option<u32> = None,
        /// Bytes of data in a packet, if the window is to grow by whole bytes only, and by at least
        /// one. In windows of more than half as many packets, rounding takes up to half of the
        /// growth. As in ns-3.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub whole_bytes_of: Option<u16> = None,
        /// Whether the window and ssthresh are whole numbers of packets: the window grows by one
        /// when as many packets were acknowledged as it has. All packets of an acknowledgement
        /// count, in slow start too. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub whole_packets: bool = false,
    }
}

impl LawSettings for Settings {
    fn keeps_to_tcp_formulas(&self) -> bool {
        self.decrease == 0.5
    }

    fn fault(&self) -> Option<String> {
        let bytes = self.whole_bytes_of.map_or(1.0, f64::from);
        no_part(&[("decrease", self.decrease), ("mark_decrease", self.mark_decrease)])
            .or_else(|| outside(&[("whole_bytes_of", bytes, 0.0, 65_535.0)]))
    }
}

/// cwnd and ssthresh.
pub struct Reno {
    decrease: f64,
    mark_decrease: f64,
    ecn: bool,
    whole_bytes_of: Option<u16>,
    /// The growth in whole packets; `None` if windows have fractions.
    increase: Option<Increase>,
    window: Window,
}

impl Reno {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        let window = Window::new(SlowStart::Standard, settings.first_threshold, beginning);
        let Settings { decrease, mark_decrease, ecn, whole_bytes_of, .. } = *settings;
        let increase = settings.whole_packets.then(Increase::default);
        Self { decrease, mark_decrease, ecn, whole_bytes_of, increase, window }
    }

    /// The factor that is left.
    const fn part(&self, signal: Signal) -> f64 {
        match signal {
            Signal::Loss => self.decrease,
            Signal::Mark => self.mark_decrease,
            Signal::Timeout => 0.5,
        }
    }
}

impl LossBased for Reno {
    keeps_a_window!(ecn);

    fn grow(&mut self, acked: &Acked) {
        if let Some(increase) = &mut self.increase {
            return increase.reno_of(&mut self.window, acked);
        }
        // Avoidance: 1/cwnd a packet, and no more than one an acknowledgement.
        let is_left = |window: &Window| acked.goes_on && !window.is_starting();
        if (!self.window.starts(acked) || is_left(&self.window)) && acked.lets_grow() {
            let window = self.window.packets();
            let growth = (acked.newly as f64 / window).min(1.0);
            self.window.grow(match self.whole_bytes_of.map(f64::from) {
                // The sum is rounded to whole bytes too, so that it cannot be slightly below a
                // whole packet.
                Some(bytes) => ((window * bytes).round() + (growth * bytes).floor().max(1.0)) / bytes - window,
                None => growth,
            });
        }
    }

    fn left(&mut self, signal: Signal, congested: &Congested) -> f64 {
        // ssthresh = max(FlightSize / 2, 2)
        let part = self.part(signal);
        whole::left_of(self.increase.as_mut(), congested.flight, part)
    }

    fn left_in_ns2(&mut self, signal: Signal, window: f64) -> Option<f64> {
        self.increase.is_none().then(|| window * self.part(signal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Congestion;
    use fairq_sched::units::Time;

    /// The windows after `rounds` rounds in which every packet is acknowledged separately.
    fn rounds(law: &mut Reno, rounds: u32) -> Vec<u64> {
        let round = |_| {
            for _ in 0..law.window() as u64 {
                law.acknowledged(&Acked::of(Time::ZERO, 1));
            }
            law.window() as u64
        };
        (0..rounds).map(round).collect()
    }

    #[test]
    fn slow_start_doubles_from_ten_and_a_loss_halves() {
        let mut law = Reno::new(&Settings::default(), &Beginning::with_window(10.0));
        assert_eq!(rounds(&mut law, 5), [20, 40, 80, 160, 320]);
        law.lost(&Congested::of(Time::ZERO, 320));
        assert_eq!(law.window(), 160.0);
        // One packet a round trip, less the effect of growth within the round.
        assert_eq!(rounds(&mut law, 3), [160, 161, 162]);
    }

    #[test]
    fn whole_bytes_add_up_to_whole_packets() {
        let settings = Settings { whole_bytes_of: Some(958), first_threshold: Some(7), ..Settings::default() };
        let mut law = Reno::new(&settings, &Beginning::with_window(7.0));
        let mut bytes = 7 * 958;
        for _ in 0..2000 {
            law.acknowledged(&Acked::of(Time::ZERO, 1));
            bytes += (958 * 958 / bytes).max(1);
            assert_eq!(law.window(), f64::from(bytes) / 958.0);
        }
    }

    #[test]
    fn what_is_left_of_an_acknowledgement_that_ends_slow_start_may_count_in_avoidance() {
        let window_after = |goes_on| {
            let settings = Settings { first_threshold: Some(4), ..Settings::default() };
            let mut law = Reno::new(&settings, &Beginning::with_window(2.0));
            (0..2).for_each(|_| law.acknowledged(&Acked { goes_on, ..Acked::of(Time::ZERO, 1) }));
            law.window()
        };
        assert_eq!(window_after(false), 4.0);
        assert_eq!(window_after(true), 4.25);
    }

    /// Linux's `tcp_reno_cong_avoid` and `tcp_reno_ssthresh`: 11 packets halve to 5, which becomes
    /// 6 with 5 acknowledgements and 7 with 6 more.
    #[test]
    fn in_whole_packets_the_window_has_no_fraction() {
        let settings = Settings { whole_packets: true, ..Settings::default() };
        let beginning = Beginning { counts_all: true, ..Beginning::with_window(10.0) };
        let mut law = Reno::new(&settings, &beginning);
        law.acknowledged(&Acked::of(Time::ZERO, 1));
        assert_eq!(law.window(), 11.0);
        law.lost(&Congested::of(Time::ZERO, 11));
        let mut windows = [(); 11].map(|()| {
            law.acknowledged(&Acked::of(Time::ZERO, 1));
            law.window()
        });
        windows.sort_by(f64::total_cmp);
        assert_eq!(windows, [5.0, 5.0, 5.0, 5.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 7.0]);
        law.timed_out(&Congested::of(Time::ZERO, 7));
        assert_eq!((law.window(), law.window.threshold()), (1.0, 3.0));
    }

    #[test]
    fn the_second_timeout_of_a_packet_does_not_halve_again() {
        let mut law = Reno::new(&Settings::default(), &Beginning::with_window(10.0));
        law.timed_out(&Congested::of(Time::ZERO, 40));
        assert_eq!((law.window.packets(), law.window.threshold()), (1.0, 20.0));
        law.timed_out(&Congested { is_repeated: true, ..Congested::of(Time::ZERO, 1) });
        assert_eq!((law.window.packets(), law.window.threshold()), (1.0, 20.0));
    }

    #[test]
    fn as_in_ns_2_the_window_is_halved_at_every_timeout_and_down_to_one() {
        let mut law = Reno::new(&Settings::default(), &Beginning::with_window(10.5));
        let lose = |law: &Reno| Congested { window: Some(law.window()), ..Congested::of(Time::ZERO, 40) };
        law.lost(&lose(&law));
        assert_eq!((law.window.packets(), law.window.threshold()), (5.25, 5.0));
        law.lost(&lose(&law));
        law.lost(&lose(&law));
        assert_eq!((law.window.packets(), law.window.threshold()), (1.3125, 2.0));
        law.window.set(8.0, 2.0);
        law.timed_out(&Congested { is_repeated: true, ..lose(&law) });
        assert_eq!((law.window.packets(), law.window.threshold()), (1.0, 4.0));
    }

    /// 319 packets of 958 bytes gain 3 of 3.003 bytes an acknowledgement, one more packet makes
    /// it 2.
    #[test]
    fn whole_bytes_take_part_of_the_growth() {
        let grown_from = |packets: u32| {
            let settings = Settings { first_threshold: Some(1), whole_bytes_of: Some(958), ..Settings::default() };
            let mut law = Reno::new(&settings, &Beginning::with_window(packets.into()));
            law.acknowledged(&Acked::of(Time::ZERO, 1));
            ((law.window() - f64::from(packets)) * 958.0).round() as u32
        };
        assert_eq!([2, 319, 320, 478, 480, 2000].map(grown_from), [479, 3, 2, 2, 1, 1]);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut law = Reno::new(&Settings::default(), &Beginning::with_window(10.0));
        law.acknowledged(&Acked { is_limited: false, ..Acked::of(Time::ZERO, 1) });
        law.acknowledged(&Acked { is_recovering: true, ..Acked::of(Time::ZERO, 1) });
        assert_eq!(law.window(), 10.0);
    }
}
