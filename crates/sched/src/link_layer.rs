//! What a packet weighs at a shaper whose line lies behind another device (`tc`'s `overhead`, `mpu`
//! and `linklayer`).

/// How the line behind cuts packets up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum LinkLayer {
    /// Not at all.
    #[default]
    Ethernet,
    /// Cells of 53 bytes that carry 48.
    Atm,
}

/// Whether a scenario that is written out leaves the number out.
#[cfg(feature = "schema")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Whether a scenario that is written out leaves the layer out.
#[cfg(feature = "schema")]
pub(crate) fn is_plain(layer: &LinkLayer) -> bool {
    *layer == LinkLayer::Ethernet
}

/// What the line behind adds to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Bytes more than the packet's length.
    pub overhead: u32,
    /// Bytes that it takes at least.
    pub mpu: u32,
    /// How it is cut up.
    pub layer: LinkLayer,
}

impl Link {
    /// The bytes of a packet of `length` there (`psched_l2t_ns` of Linux).
    #[must_use]
    pub fn bytes_of(&self, length: u32) -> u64 {
        self.bytes(length.into())
    }

    /// The bytes on the link of any `length`, also one that no packet has, such as a burst.
    #[must_use]
    pub fn bytes(&self, length: u64) -> u64 {
        let bytes = length.saturating_add(self.overhead.into()).max(self.mpu.into());
        match self.layer {
            LinkLayer::Ethernet => bytes,
            LinkLayer::Atm => in_cells(bytes),
        }
    }
}

/// What `bytes` take in cells of ATM: 53 bytes for each 48.
#[must_use]
pub const fn in_cells(bytes: u64) -> u64 {
    bytes.div_ceil(48) * 53
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_whole_cells_of_atm() {
        let link = Link { overhead: 10, mpu: 0, layer: LinkLayer::Atm };
        assert_eq!([38, 39, 1490].map(|length| link.bytes_of(length)), [53, 106, 32 * 53]);
        let short = Link { overhead: 4, mpu: 64, layer: LinkLayer::Ethernet };
        assert_eq!([40, 60, 1500].map(|length| short.bytes_of(length)), [64, 64, 1504]);
    }
}
