//! When a receiver that delays acknowledgements sends them at once: the first ones, while its
//! window grows, and at the first mark.
//!
//! Source: Linux 6.1, `tcp_input.c`: `tcp_event_data_recv` and `tcp_incr_quickack` (the first
//! acknowledgements), `tcp_rcv_space_adjust` (the room in the buffer), `tcp_grow_window` (how much
//! of it is offered, and the acknowledgement at once), `__tcp_ecn_check_ce` and
//! `tcp_ecn_accept_cwr` (marks).
//! Departs: buffers are counted in packets, each of which takes half of its memory. The program
//! reads data as soon as it arrives.

use fairq_sched::units::Time;

/// Acknowledgements that are due at once.
#[derive(Clone, Debug)]
pub struct Quick {
    left: u8,
    window: Option<Window>,
}

/// The window, in packets.
#[derive(Clone, Debug)]
struct Window {
    /// The greatest window.
    most: u64,
    /// The room in the buffer (window_clamp).
    room: u64,
    /// The part of it that is offered (rcv_ssthresh).
    offered: u64,
    /// The most packets read in a round trip (rcvq_space.space).
    space: u64,
    /// The first packet of the round trip being measured, and when it arrived; `None` before the
    /// first packet.
    round: Option<(u64, Time)>,
}

/// 64 KB in segments of 1448 bytes (tcp_rmem, tcp_adv_win_scale), and the initial window of a
/// sender.
const WINDOW_FIRST: u64 = 45;
const SPACE_FIRST: u64 = 10;

impl Quick {
    /// Quick acknowledgements: the first `left`, and all while a window of up to `window_max` packets
    /// grows. `None` if there are neither.
    #[must_use]
    pub fn new(left: u8, window_max: u32) -> Option<Self> {
        let (first, most) = (WINDOW_FIRST, u64::from(window_max));
        let window = || Window { most, room: first, offered: first, space: SPACE_FIRST, round: None };
        (left > 0 || most > 0).then(|| Self { left, window: (most > 0).then(window) })
    }

    /// Whether the acknowledgement is due at once.
    #[must_use]
    pub const fn is_due(&self) -> bool {
        self.left > 0
    }

    /// An acknowledgement was sent.
    pub const fn answered(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// The first mark was received, or (`!is_mark`) the sender has heard of it: its window may be
    /// small. Two acknowledgements are due at once, or one (`tcp_enter_quickack_mode` in
    /// `__tcp_ecn_check_ce`, and `tcp_ecn_accept_cwr`).
    pub fn heard(&mut self, is_mark: bool) {
        self.left = self.left.max(if is_mark { 2 } else { 1 });
    }

    /// A packet was taken at `now`, and with it all before packet `expected`. `round_trip` is the
    /// sender's estimate, zero if it has none.
    pub fn takes(&mut self, now: Time, expected: u64, round_trip: Time) {
        let Some(window) = &mut self.window else { return };
        if window.offered < window.room {
            window.offered = (window.offered + 2).min(window.room);
            self.left |= 1;
        }
        let (first, begun) = *window.round.get_or_insert((expected - 1, now));
        if round_trip > Time::ZERO && now.saturating_sub(begun) >= round_trip {
            window.follow(expected - first);
            window.round = Some((expected, now));
        }
    }
}

impl Window {
    /// `taken` packets were taken in a round trip.
    fn follow(&mut self, taken: u64) {
        if taken > self.space {
            // Twice that, for losses, and more in proportion to its growth.
            let wanted = 2 * taken + 16;
            let wanted = wanted + 2 * wanted * (taken - self.space) / self.space;
            self.room = self.room.max(wanted.min(self.most));
            self.space = taken;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIP: Time = Time::from_ms(60);

    /// By round of this many packets: which of them are acknowledged at once.
    fn answered(quick: &mut Quick, rounds: &[u64]) -> Vec<Vec<bool>> {
        let mut expected = 0;
        let round = |(number, packets): (usize, &u64)| {
            let packet = |at: u64| {
                expected += 1;
                let now = Time(TRIP.0 * (number as u64 + 1)) + Time::from_ms(at);
                quick.takes(now, expected, TRIP);
                let is_due = quick.is_due();
                if is_due {
                    quick.answered();
                }
                is_due
            };
            (0..*packets).map(packet).collect()
        };
        rounds.iter().enumerate().map(round).collect()
    }

    /// As recorded of a Linux 6.1 kernel: 10 and 6 packets are acknowledged at once, then every
    /// second one, and in the third round each one again.
    #[test]
    fn the_first_sixteen_are_answered_at_once_and_those_of_a_round_that_widens_the_window() {
        let mut quick = Quick::new(16, 2112).unwrap();
        let rounds = answered(&mut quick, &[10, 20, 40]);
        assert_eq!(rounds[0], [true; 10]);
        assert_eq!(rounds[1].iter().filter(|is_due| **is_due).count(), 6);
        assert!(rounds[2][1..].iter().all(|is_due| *is_due), "{:?}", rounds[2]);
    }

    #[test]
    fn a_window_that_is_wide_enough_has_nothing_answered_at_once() {
        let mut quick = Quick::new(0, 2112).unwrap();
        let rounds = answered(&mut quick, &[10; 20]);
        assert!(rounds[3..].iter().flatten().all(|is_due| !is_due));
        assert!(Quick::new(0, 0).is_none());
    }

    /// `tcp_enter_quickack_mode(sk, 2)` at a mark, ICSK_ACK_NOW when the sender has heard of it.
    #[test]
    fn a_mark_has_two_packets_answered_at_once() {
        for (is_mark, answers) in [(true, 2), (false, 1)] {
            let mut quick = Quick { left: 0, window: None };
            quick.heard(is_mark);
            (0..answers).for_each(|_| {
                assert!(quick.is_due());
                quick.answered();
            });
            assert!(!quick.is_due());
        }
    }

    #[test]
    fn a_window_is_at_most_what_it_may_be() {
        let mut quick = Quick::new(0, 100).unwrap();
        answered(&mut quick, &[10, 20, 40, 50, 50, 50]);
        let window = quick.window.unwrap();
        assert_eq!((window.room, window.offered), (100, 100));
    }
}
