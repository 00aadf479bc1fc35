//! Whether a sender uses its window, so that the window may grow (RFC 7661; Linux's
//! `tcp_cwnd_validate` and `tcp_is_cwnd_limited`).
//!
//! A burst that fills the window and a rest after it are one use: what was seen counts until all
//! that was outstanding then is acknowledged. In slow start the window grows to twice the greatest
//! number of packets that were outstanding, so that the next burst, of the same size or larger, is
//! sent in one round trip.

use super::scoreboard::Scoreboard;

/// What was seen of the window's use in this round.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Whether the window limited the sender.
    is_limited: bool,
    /// The most packets outstanding.
    most: u32,
    /// The next new packet when that was noted, modulo 2^32: what was seen counts until those
    /// before it are acknowledged.
    until: u32,
    /// The next new packet at the last look, modulo 2^32.
    seen: u32,
}

impl Usage {
    /// The sender has sent what it may now; `is_limit` says whether the window stopped it.
    #[inline]
    pub fn note(&mut self, is_limit: bool, board: &Scoreboard) {
        let (first, next) = (board.first() as u32, board.next() as u32);
        let has_sent = next != self.seen;
        self.seen = next;
        if !has_sent && !is_limit {
            return;
        }
        let (out, is_over) = (next.wrapping_sub(first), first.wrapping_sub(self.until) as i32 >= 0);
        if is_limit || is_over || !self.is_limited && out > self.most {
            (self.is_limited, self.most, self.until) = (is_limit, out, next);
        }
    }

    /// Whether a window of `window` packets may grow; below `threshold` it is in slow start.
    #[inline]
    pub fn lets_grow(&self, window: f64, threshold: impl FnOnce() -> Option<f64>) -> bool {
        self.is_limited || window < 2.0 * f64::from(self.most) && threshold().is_none_or(|threshold| window < threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::units::Time;

    fn sent(board: &mut Scoreboard, packets: u64) {
        for _ in 0..packets {
            board.send(Time::ZERO, 1000);
        }
    }

    #[test]
    fn a_burst_smaller_than_the_window_lets_it_grow_to_twice_its_size_in_slow_start() {
        let (mut usage, mut board) = (Usage::default(), Scoreboard::default());
        sent(&mut board, 10);
        usage.note(false, &board);
        let grows = |usage: &Usage, window, threshold| usage.lets_grow(window, || threshold);
        assert!(grows(&usage, 10.0, None) && grows(&usage, 19.9, Some(100.0)));
        assert!(!grows(&usage, 20.0, None), "twice the burst");
        assert!(!grows(&usage, 12.0, Some(12.0)), "not in slow start");
    }

    #[test]
    fn a_window_that_was_filled_counts_until_all_of_it_is_acknowledged() {
        let (mut usage, mut board) = (Usage::default(), Scoreboard::default());
        sent(&mut board, 10);
        usage.note(true, &board);
        board.advance(2);
        sent(&mut board, 1);
        usage.note(false, &board);
        assert!(usage.lets_grow(100.0, || Some(1.0)), "the eleventh packet is the last of its burst");
        board.advance(11);
        usage.note(false, &board);
        assert!(usage.lets_grow(100.0, || Some(1.0)), "nothing was sent since");
        sent(&mut board, 3);
        usage.note(false, &board);
        assert!(!usage.lets_grow(100.0, || Some(1.0)));
    }
}
