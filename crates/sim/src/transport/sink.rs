//! The receiving side: which packet is expected next.

use std::collections::VecDeque;

/// Keeps packets that arrive out of order, and knows the first that is missing.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    expected: u64,
    /// Whether each packet from `expected` on is here; the first is not, and the last is.
    kept: VecDeque<bool>,
}

impl Sink {
    /// Packet `sequence` arrives; whether it came for the first time.
    pub fn receive(&mut self, sequence: u64) -> bool {
        let Some(ahead) = sequence.checked_sub(self.expected) else { return false };
        if ahead == 0 && self.kept.is_empty() {
            self.expected += 1;
            return true;
        }
        let ahead = ahead as usize;
        if self.kept.len() <= ahead {
            self.kept.resize(ahead + 1, false);
        }
        let is_new = !self.kept[ahead];
        self.kept[ahead] = true;
        while self.kept.front() == Some(&true) {
            self.kept.pop_front();
            self.expected += 1;
        }
        is_new
    }

    /// The number of the first packet that is missing.
    #[must_use]
    pub const fn expected(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_out_of_order_are_kept() {
        let mut sink = Sink::default();
        assert!(sink.receive(0));
        assert!(sink.receive(2));
        assert!(!sink.receive(2));
        assert_eq!(sink.expected(), 1);
        assert!(sink.receive(1));
        assert_eq!(sink.expected(), 3);
        assert!(!sink.receive(0));
    }
}
