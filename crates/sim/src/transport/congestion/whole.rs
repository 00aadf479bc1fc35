//! Growth in whole packets: a part of a packet is not in the window, but counted beside it.
//!
//! Source: Linux 6.1, tcp_cong.c (`tcp_reno_cong_avoid`, `tcp_slow_start`, `tcp_cong_avoid_ai`,
//! `tcp_reno_ssthresh`).

use super::slow_start::Window;
use super::{Acked, Cwnd};

/// snd_cwnd_cnt: the packets acknowledged since the window last grew.
#[derive(Clone, Copy, Debug, Default)]
pub struct Increase {
    counted: u64,
}

impl Increase {
    /// `tcp_cong_avoid_ai`: by how much a window grows with `acked` packets if it grows by one for
    /// each `step` packets.
    pub fn add(&mut self, step: u64, acked: u64) -> u64 {
        let mut grown = 0;
        if self.counted >= step {
            (self.counted, grown) = (0, 1);
        }
        self.counted += acked;
        grown += self.counted / step;
        self.counted %= step;
        grown
    }

    /// A reduction or a timeout begins (`tcp_init_cwnd_reduction`, `tcp_enter_loss`).
    pub fn reset(&mut self) {
        self.counted = 0;
    }

    /// `tcp_reno_cong_avoid`: slow start up to ssthresh; each packet that is left counts in
    /// avoidance.
    pub fn reno(&mut self, cwnd: &mut Cwnd<'_>, acked: u64) {
        let grown = (*cwnd.window + acked as f64).min(cwnd.threshold.max(*cwnd.window));
        let left = acked.saturating_sub((grown - *cwnd.window) as u64);
        *cwnd.window = grown;
        if left > 0 {
            *cwnd.window += self.add(grown as u64, left) as f64;
        }
    }

    /// Reno's growth where `window` has its own slow start.
    pub fn reno_of(&mut self, window: &mut Window, acked: &Acked) {
        let before = window.packets();
        window.starts(acked);
        if acked.lets_grow() && !window.is_starting() {
            let left = acked.newly.saturating_sub((window.packets() - before) as u64);
            if left > 0 {
                window.grow(self.add(window.packets() as u64, left) as f64);
            }
        }
    }
}

/// `tcp_reno_ssthresh`: a part of the window is a whole number, and at least 2.
#[must_use]
pub fn part_of(packets: u64, part: f64) -> f64 {
    libm::floor(packets as f64 * part).max(2.0)
}

/// The part that a loss leaves of `packets`: a whole number where windows are (`increase` then
/// begins anew), and a real number elsewhere.
pub fn left_of(increase: Option<&mut Increase>, packets: u64, part: f64) -> f64 {
    let Some(increase) = increase else { return packets as f64 * part };
    increase.reset();
    part_of(packets, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grow(increase: &mut Increase, window: &mut f64, threshold: f64, acked: u64) -> f64 {
        let mut threshold = threshold;
        increase.reno(&mut Cwnd { window, threshold: &mut threshold }, acked);
        *window
    }

    /// 8, 9 and 10 packets, two an acknowledgement: one more after 4, 5 and 5 acknowledgements; the
    /// packet that 9 leave is counted for 10.
    #[test]
    fn a_window_grows_by_one_when_as_many_packets_were_acknowledged() {
        let (mut increase, mut window) = (Increase::default(), 8.0);
        let windows = [(); 14].map(|()| grow(&mut increase, &mut window, 2.0, 2) as u64);
        assert_eq!(windows, [8, 8, 8, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 11]);
    }

    /// A window of 20 halves to 10: what 20 had counted gives one packet, gently.
    #[test]
    fn what_a_greater_window_had_counted_gives_one_packet() {
        let mut increase = Increase { counted: 19 };
        assert_eq!((increase.add(10, 1), increase.counted), (1, 1));
    }

    #[test]
    fn an_acknowledgement_that_ends_slow_start_counts_in_avoidance_too() {
        let (mut increase, mut window) = (Increase::default(), 9.0);
        assert_eq!((grow(&mut increase, &mut window, 10.0, 8), increase.counted), (10.0, 7));
        assert_eq!((grow(&mut increase, &mut window, 10.0, 4), increase.counted), (11.0, 1));
    }

    #[test]
    fn the_part_of_a_window_is_whole_and_at_least_2() {
        assert_eq!([43, 42, 3].map(|window| part_of(window, 0.5)), [21.0, 21.0, 2.0]);
    }
}
