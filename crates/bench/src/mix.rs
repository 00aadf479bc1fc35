//! The flows and packets that keep a discipline busy.

use super::header;
use fairq_sched::packet::Header;
use fairq_sched::units::Weight;

/// The greatest packet.
pub(super) const LENGTH_MAX: u32 = 1500;

/// The flows' weights and packet lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// All flows have weight 1, all packets 1500 bytes.
    Equal,
    /// Weights from 1 to 4, packets from 64 to 1500 bytes.
    Mixed,
}

impl Mix {
    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Mixed => "mixed",
        }
    }

    /// The weight of the flow in `slot`.
    pub(super) const fn weight(self, slot: u32) -> u32 {
        match self {
            Self::Equal => 1,
            Self::Mixed => 1 + slot % 4,
        }
    }

    /// The weights that differ from 1, each with a header of its flow.
    pub(super) fn weights(self, flows: u32) -> Vec<(Header, Weight)> {
        let weight = |flow: u32| Weight::from_thousandths(1000 * self.weight(flow)).unwrap_or(Weight::ONE);
        let all = (0..flows).map(|flow| (header(flow), weight(flow)));
        all.filter(|(_, weight)| *weight != Weight::ONE).collect()
    }

    /// The length of the packet with this number.
    pub(super) const fn length(self, number: u64) -> u32 {
        const LENGTHS: [u32; 4] = [64, 576, 1000, LENGTH_MAX];
        match self {
            Self::Equal => LENGTH_MAX,
            // Steps of the golden ratio: every flow gets every length, whatever the period at which
            // its turn returns.
            Self::Mixed => LENGTHS[(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62) as usize],
        }
    }
}

/// The cost of a packet of `length` bytes for a flow of weight 1 to 4, a whole number for each of
/// them.
pub(super) const fn weighted_cost(length: u32, weight: u32) -> u64 {
    // 12 is a multiple of each of these weights. A table, because a division takes as long as all
    // the rest.
    const PER_BYTE: [u64; 5] = [0, 12, 6, 4, 3];
    length as u64 * PER_BYTE[weight as usize]
}
