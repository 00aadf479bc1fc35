//! DCTCP: the window goes down by half of the share of packets that were marked.
//!
//! Use when: all senders of a data centre use it and its switches mark by `step`. It does not share
//! a queue with senders that hear of losses only: for that use `prague` with `dualpi2`.
//! Source: Bensley, Thaler, Balasubramanian, Eggert and Judd, RFC 8257 (2017), section 3.
//! Chosen: an acknowledgement that reports marks does not increase the window; a window of data
//! ends with the round trip; after a decrease, marks of packets that were in flight then decrease
//! nothing. Slow start ends at the first mark. A loss halves regardless of earlier marks, as in
//! Linux; the RFC reduces once a window across losses only. All data packets and the opening one
//! are ECT(0); `ecn = "ect1"` makes them ECT(1).
//! Cost: O(1) a packet.
//! Bound: alone on a line that marks above K packets the queue is at most K + 1 packets, alpha and
//! the fall of the queue as the analysis of Alizadeh and others says
//! (dctcp.rs: alone_the_queue_swings_as_analysed,
//! congestion_controls.rs: dctcp_holds_the_queue_at_the_marks); with N flows in step at most K +
//! N, and it falls by N whole packets of each one's fall
//! (congestion_controls.rs: the_swing_of_dctcps_queue_is_the_sum_of_what_its_flows_take).
//! Range: needs a line that marks by its present queue, above C·RTT/7 packets; in one queue with
//! sources that react to losses only, one of the two starves.

use super::loss_based::{LossBased, Signal, keeps_a_window};
use super::mark_share::MarkShare;
use super::slow_start::{SlowStart, Window};
use super::whole::{self, Increase};
use super::{Acked, Beginning, Congested, LawSettings};
use crate::settings::{no_part, outside};
use crate::transport::ecn::{CodePoint, Ecn};

settings! {
    /// The gain of the average, and the factor after a loss.
    pub struct Settings {
        /// The weight of the newest window of data in alpha; 1/16 in the source.
        pub gain: f64 = 1.0 / 16.0,
        /// Alpha at the start: with 1 the first mark halves.
        pub first_alpha: f64 = 1.0,
        /// The ECN field of its packets: `ect0`, or `ect1` as in the experiments with L4S, for
        /// which DCTCP was the first congestion control.
        pub ecn: CodePoint = CodePoint::Ect0,
        /// The factor that is left after a loss, of the window or as the connection's `reduces`
        /// says.
        pub decrease: f64 = 0.5,
        /// Whether alpha is a whole number of 1024ths, of which each round trip takes a sixteenth
        /// rounded down, all of it below 16, and adds 64 times the share of marks rounded down. As
        /// in Linux, where few marks reduce nothing. The gain is then 1/16.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub in_1024ths: bool = false,
        /// Whether the window and ssthresh are whole numbers of packets: the window grows by one
        /// when as many packets were acknowledged as it has. All packets of an acknowledgement
        /// count, in slow start too. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub whole_packets: bool = false,
    }
}

impl LawSettings for Settings {
    fn names_code_point(&self) -> bool {
        true
    }

    fn fault(&self) -> Option<String> {
        if self.ecn == CodePoint::None {
            return Some("ecn is none, but dctcp lives on marks; write ect0 or ect1".to_string());
        }
        // Linux's dctcp_alpha_on_init may be 0: alpha then starts with the first measurement.
        if !(0.0..=1.0).contains(&self.first_alpha) {
            return Some(format!("first_alpha is {}; it is at least 0 and at most 1", self.first_alpha));
        }
        no_part(&[("decrease", self.decrease)]).or_else(|| outside(&[("gain", self.gain, 0.0, 1.0)]))
    }
}

/// cwnd, ssthresh, alpha, and the count of this window of data.
pub struct Dctcp {
    settings: Settings,
    window: Window,
    alpha: f64,
    marks: MarkShare,
    /// Packets that were in flight at the last decrease and are not acknowledged yet.
    outstanding: u64,
    /// Whether slow start counts all packets of an acknowledgement.
    counts_all: bool,
    /// Whether the connection says when to decrease.
    is_told: bool,
    /// Reno's growth in whole packets; `None` if windows have fractions.
    increase: Option<Increase>,
}

/// Alpha of 1 in the integers of Linux, and what its gain of 1/16 leaves of a share of 1.
const ONE: f64 = 1024.0;
const SHARE: u64 = 64;

/// Linux's `dctcp_update_alpha`: alpha in 1024ths after a window of data with these `marks`.
fn updated(alpha: u64, marks: MarkShare) -> u64 {
    let less = if alpha < 16 { alpha } else { alpha / 16 };
    (alpha - less + marks.marked * SHARE / marks.delivered.max(1)).min(ONE as u64)
}

impl Dctcp {
    /// Slow start from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            window: Window::new(SlowStart::Standard, None, beginning),
            alpha: settings.first_alpha,
            marks: MarkShare::default(),
            outstanding: 0,
            counts_all: beginning.counts_all,
            is_told: beginning.spreads_marks,
            increase: settings.whole_packets.then(Increase::default),
        }
    }

    fn end_window(&mut self) {
        if self.settings.in_1024ths {
            self.alpha = updated((self.alpha * ONE) as u64, self.marks) as f64 / ONE;
        } else {
            self.alpha = self.marks.averaged(self.alpha, self.settings.gain);
        }
        self.marks = MarkShare::default();
    }

    /// Increases the window by an acknowledgement of `newly` packets.
    fn increase(&mut self, newly: u64) {
        if let Some(increase) = &mut self.increase {
            return increase.reno(&mut self.window.cwnd(), newly);
        }
        let (window, newly) = (self.window.packets, newly as f64);
        self.window.packets = match self.window.is_starting() {
            true if self.counts_all => (window + newly).min(self.window.threshold),
            true => window + 1.0,
            false => window + newly / window,
        };
    }

    /// What marks leave of the window, with `outstanding` packets in flight.
    fn left_by_marks(&mut self, outstanding: u64) -> f64 {
        self.outstanding = outstanding;
        self.increase.iter_mut().for_each(Increase::reset);
        // cwnd = cwnd (1 − alpha/2)
        let window = self.window.packets;
        match self.settings.in_1024ths {
            true => window.floor() - (window.floor() * self.alpha / 2.0).floor(),
            false => window * (1.0 - self.alpha / 2.0),
        }
    }
}

impl LossBased for Dctcp {
    keeps_a_window!();

    fn hears(&self) -> Ecn {
        Ecn::Dctcp
    }

    fn field(&self) -> CodePoint {
        self.settings.ecn
    }

    fn grow(&mut self, acked: &Acked) {
        // Linux's round ends before the acknowledgement that ends it counts (`tcp_in_ack_event`).
        if acked.begins_round && self.settings.in_1024ths {
            self.end_window();
        }
        self.marks.count(acked);
        if acked.begins_round && !self.settings.in_1024ths {
            self.end_window();
        }
        let was_sent_after = self.outstanding == 0;
        self.outstanding = self.outstanding.saturating_sub(acked.delivered);
        if acked.marked > 0 {
            if was_sent_after && !acked.is_recovering && !self.is_told {
                let left = self.left_by_marks(acked.flight.saturating_sub(acked.delivered));
                self.window.reduce(left);
            }
        } else if acked.lets_grow() {
            self.increase(acked.newly);
        }
    }

    fn find_lost(&mut self, packets: u64) {
        self.outstanding = self.outstanding.saturating_sub(packets);
    }

    /// Of a mark it is told where the connection says when; otherwise marks reduce where they are
    /// counted. After a loss ssthresh is as in Linux (`dctcp_react_to_loss`).
    fn left(&mut self, signal: Signal, congested: &Congested) -> f64 {
        match signal {
            Signal::Mark => return self.left_by_marks(0),
            Signal::Timeout => self.outstanding = 0,
            Signal::Loss => {}
        }
        whole::left_of(self.increase.as_mut(), congested.flight, self.settings.decrease)
    }

    fn readings(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bottleneck::Bottleneck;
    use super::*;
    use crate::transport::congestion::Congestion;
    use fairq_sched::units::Time;

    fn law() -> Dctcp {
        Dctcp::new(&Settings::default(), &Beginning::with_window(10.0))
    }

    /// (15/16)^n = 0.1 at n = 35.7.
    #[test]
    fn without_marks_alpha_falls_to_a_tenth_in_36_windows() {
        let mut law = law();
        let mut windows = 0;
        while law.alpha > 0.1 {
            law.acknowledged(&Acked { begins_round: true, ..Acked::of(Time::ZERO, 1) });
            windows += 1;
        }
        assert_eq!(windows, 36);
        assert!((law.alpha - 0.097_95).abs() < 1e-5, "{}", law.alpha);
    }

    #[test]
    fn the_first_mark_halves_and_a_window_of_data_decreases_once() {
        let mut law = law();
        law.window.packets = 40.0;
        let marked = Acked { marked: 1, flight: 40, ..Acked::of(Time::ZERO, 1) };
        law.acknowledged(&marked);
        assert_eq!(law.window(), 20.0);
        for _ in 0..39 {
            law.acknowledged(&marked);
        }
        assert_eq!(law.window(), 20.0);
        law.acknowledged(&marked);
        assert_eq!(law.window(), 10.0);
    }

    /// 1024, then 960 and so on without marks; below 16 all of it goes. One mark of 65 packets adds
    /// nothing, one of 64 a 1024th.
    #[test]
    fn alpha_in_1024ths_is_rounded_down() {
        let updated = |alpha, marked, delivered| updated(alpha, MarkShare { delivered, marked });
        assert_eq!([1024, 960, 16, 15, 1].map(|alpha| updated(alpha, 0, 10)), [960, 900, 15, 0, 0]);
        assert_eq!([(1, 65), (1, 64), (1, 32), (64, 64)].map(|(m, n)| updated(0, m, n)), [0, 1, 2, 64]);
        assert_eq!(updated(1024, 64, 64), 1024);
    }

    /// A window of 40 and alpha 15/1024: 40 − ⌊40 · 15 / 2048⌋ = 40.
    #[test]
    fn few_marks_take_no_packet_where_alpha_is_in_1024ths() {
        let settings = Settings { in_1024ths: true, ..Settings::default() };
        let mut law = Dctcp::new(&settings, &Beginning { spreads_marks: true, ..Beginning::with_window(40.0) });
        for (alpha, left) in [(15.0, 40.0), (52.0, 39.0), (1024.0, 20.0)] {
            (law.window.packets, law.alpha) = (40.0, alpha / 1024.0);
            law.acknowledged(&Acked { marked: 1, flight: 40, ..Acked::of(Time::ZERO, 1) });
            assert_eq!(law.window(), 40.0, "the connection says when");
            law.marked(&Congested::of(Time::ZERO, 40));
            assert_eq!((law.window(), law.window.threshold), (left, left), "alpha {alpha}/1024");
        }
    }

    /// `tcp_reno_cong_avoid`, and `dctcp_react_to_loss`: 5 packets become 6 when 5 were
    /// acknowledged.
    #[test]
    fn in_whole_packets_the_window_has_no_fraction() {
        let settings = Settings { whole_packets: true, ..Settings::default() };
        let mut law = Dctcp::new(&settings, &Beginning::with_window(11.0));
        law.lost(&Congested::of(Time::ZERO, 11));
        let windows = [(); 5].map(|()| {
            law.acknowledged(&Acked::of(Time::ZERO, 1));
            law.window()
        });
        assert_eq!((windows, law.window.threshold), ([5.0, 5.0, 5.0, 5.0, 6.0], 5.0));
    }

    /// `tcp_slow_start`: all packets of an acknowledgement count.
    #[test]
    fn slow_start_doubles_where_all_packets_count() {
        let mut law = Dctcp::new(&Settings::default(), &Beginning { counts_all: true, ..Beginning::with_window(10.0) });
        (0..5).for_each(|_| law.acknowledged(&Acked::of(Time::ZERO, 2)));
        assert_eq!(law.window(), 20.0);
    }

    /// Also in the window of a decrease by marks: Linux's dctcp_react_to_loss() does not check for
    /// it.
    #[test]
    fn a_loss_halves_like_reno() {
        let mut law = law();
        law.lost(&Congested::of(Time::ZERO, 40));
        assert_eq!((law.window(), law.window.threshold), (20.0, 20.0));
        law.acknowledged(&Acked { marked: 1, flight: 20, ..Acked::of(Time::ZERO, 1) });
        assert_eq!(law.window(), 10.0);
        law.lost(&Congested::of(Time::ZERO, 19));
        assert_eq!(law.window(), 9.5);
    }

    /// α² (1 − α/4) = (2 W* + 1)/(W* + 1)², solved by bisection.
    fn analysed(w: f64) -> f64 {
        let goal = (2.0 * w + 1.0) / ((w + 1.0) * (w + 1.0));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle: f64 = (low + high) / 2.0;
            if middle * middle * (1.0 - middle / 4.0) < goal { low = middle } else { high = middle }
        }
        low
    }

    /// And the swing of the queue, of which each flow contributes (W* + 1) alpha/2.
    #[test]
    fn the_analysis_gives_the_known_alphas() {
        let bdp = 10e9 / 12_000.0 * 100e-6;
        for (flows, alpha, swing) in [(1.0, 0.1406, 7.34), (2.0, 0.1990, 10.48), (10.0, 0.4351, 24.65)] {
            let w = (bdp + 20.0) / flows;
            assert!((analysed(w) - alpha).abs() < 1e-3, "{flows}: {}", analysed(w));
            let found = flows * (w + 1.0) * analysed(w) / 2.0;
            assert!((found - swing).abs() < 0.006, "{flows}: {found}");
        }
    }

    /// 10 Gbit/s, 100 µs, 1500 bytes, K = 20: alpha 0.1406, the queue from 21 to 13.66.
    #[test]
    fn alone_the_queue_swings_as_analysed() {
        let rate = 10e9 / 12_000.0;
        let mut line = Bottleneck::new(rate, Time::from_s_f64(100e-6));
        line.mark_above = Some(20);
        let mut law = law();
        let (mut alphas, mut rounds) = (0.0, 0.0);
        let (from, end) = (Time::from_ms(50), Time::from_ms(250));
        let seen = line.watched(&mut [&mut law], from, end, &mut |acked, law| {
            if acked.begins_round && acked.now >= from {
                law.inspect(&mut |name, value| alphas += if name == "alpha" { value } else { 0.0 });
                rounds += 1.0;
            }
        });
        let alpha = alphas / rounds;
        assert!((alpha - analysed(rate * 100e-6 + 20.0)).abs() < 0.002, "{alpha}");
        assert!((20.0..=22.0).contains(&seen.queue_most), "{}", seen.queue_most);
        assert!((seen.queue_least - 13.66).abs() < 1.5, "{}", seen.queue_least);
    }

    /// The greatest queue is K + N packets; two flows in step swing by 10.48 packets. Ten do not
    /// stay in step.
    #[test]
    fn the_greatest_queue_is_the_marks_and_a_packet_of_each_flow() {
        for flows in [2, 10] {
            let mut line = Bottleneck::new(10e9 / 12_000.0, Time::from_s_f64(100e-6));
            line.mark_above = Some(20);
            let mut laws: Vec<Dctcp> = (0..flows).map(|_| law()).collect();
            let mut all: Vec<&mut dyn Congestion> = laws.iter_mut().map(|law| law as _).collect();
            let seen = line.run(&mut all, Time::from_ms(100), Time::from_ms(300));
            assert!((seen.queue_most - f64::from(20 + flows)).abs() < 1.0, "{flows}: {}", seen.queue_most);
            if flows == 2 {
                let swing = seen.queue_most - seen.queue_least;
                assert!((swing - 10.48).abs() < 2.0, "{swing}");
            }
        }
    }
}
