//! The window of a relayed stream: Reno, counted in segments.
//!
//! Source: RFC 5681, section 3.1 (slow start, congestion avoidance, equation 4).
//! Departs: the relay sees each drop, so that no duplicate acknowledgement is counted. A drop
//! halves the window once for all segments that were sent before; a segment that is dropped again
//! sets the window to one segment, as a timeout does.

/// Segments that may be on the way at the start (RFC 6928, section 2).
const INITIAL: f64 = 10.0;

/// How many segments may be on the way.
#[derive(Debug)]
pub(super) struct Window {
    size: f64,
    /// Below it the window doubles in a round trip.
    threshold: f64,
    /// Segments from this number on halve the window if they are dropped.
    recover: u64,
}

impl Window {
    pub(super) const fn new() -> Self {
        Self { size: INITIAL, threshold: f64::INFINITY, recover: 0 }
    }

    pub(super) fn has_room(&self, flight: usize) -> bool {
        (flight as f64) < self.size.max(1.0).floor()
    }

    /// A segment has arrived, with this many on the way before. A window that is not used stays.
    pub(super) fn acknowledged(&mut self, flight: usize) {
        if (flight as f64) * 2.0 >= self.size {
            self.size += if self.size < self.threshold { 1.0 } else { 1.0 / self.size };
        }
    }

    /// Segment `number` was dropped, for the first time or again; `next` is to be sent next.
    pub(super) fn dropped(&mut self, number: u64, next: u64, flight: usize, again: bool) {
        if again {
            self.size = 1.0;
        } else if number >= self.recover {
            self.threshold = (flight as f64 / 2.0).max(2.0);
            self.size = self.threshold;
            self.recover = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_doubles_in_a_round_trip_and_then_grows_by_a_segment() {
        let mut window = Window::new();
        (0..10).for_each(|_| window.acknowledged(10));
        assert!(window.has_room(19) && !window.has_room(20));
        window.dropped(15, 20, 20, false);
        // The other drops of that window are the same event.
        window.dropped(16, 20, 20, false);
        assert!(window.has_room(9) && !window.has_room(10));
        (0..11).for_each(|_| window.acknowledged(10));
        assert!(window.has_room(10) && !window.has_room(11));
        window.dropped(16, 25, 10, true);
        assert!(window.has_room(0) && !window.has_room(1));
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut window = Window::new();
        (0..100).for_each(|_| window.acknowledged(1));
        assert!(!window.has_room(10));
    }
}
