//! The data that a source has still to send.

use std::collections::VecDeque;

/// Packets not yet sent for the first time.
#[derive(Clone, Debug)]
pub enum Supply {
    /// `left` packets of one length.
    Ready {
        /// Bytes of each.
        length: u32,
        /// How many are left; `u64::MAX` means without end.
        left: u64,
    },
    /// `left` bytes, in packets of one length and a shorter last one.
    Transfer {
        /// Bytes of each but the last.
        length: u32,
        /// Bytes that are left.
        left: u64,
    },
    /// Packets of these lengths, in this order.
    Waiting(Box<VecDeque<u32>>),
}

impl Supply {
    /// Empty until a packet is offered.
    #[must_use]
    pub fn empty() -> Self {
        Self::Waiting(Box::default())
    }

    /// Adds a packet of `length`. A supply that is `Ready` has all its packets already.
    pub fn offer(&mut self, length: u32) {
        if let Self::Waiting(lengths) = self {
            lengths.push_back(length);
        }
    }

    /// Takes the next packet and returns its length.
    #[inline]
    pub fn take(&mut self) -> Option<u32> {
        match self {
            Self::Ready { left: 0, .. } | Self::Transfer { left: 0, .. } => None,
            Self::Ready { length, left } => {
                *left -= u64::from(*left < u64::MAX);
                Some(*length)
            }
            Self::Transfer { length, left } => {
                let taken = u64::from(*length).min(*left);
                *left -= taken;
                Some(taken as u32)
            }
            Self::Waiting(lengths) => lengths.pop_front(),
        }
    }

    /// The length of the next packet.
    #[must_use]
    pub fn next_length(&self) -> Option<u32> {
        match self {
            _ if self.is_empty() => None,
            Self::Ready { length, .. } => Some(*length),
            Self::Transfer { length, left } => Some(u64::from(*length).min(*left) as u32),
            Self::Waiting(lengths) => lengths.front().copied(),
        }
    }

    /// Ends a `Ready` supply. Packets that wait were offered before and are still to be sent.
    pub fn stop(&mut self) {
        if let Self::Ready { left, .. } = self {
            *left = 0;
        }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Ready { left, .. } | Self::Transfer { left, .. } => *left == 0,
            Self::Waiting(lengths) => lengths.is_empty(),
        }
    }
}
