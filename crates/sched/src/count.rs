//! Packets and bytes, counted together.

use crate::contract::Held;
use crate::packet::Packet;

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(16))]
pub struct Count {
    /// How many.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Count {
    #[inline]
    pub(crate) fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.length);
    }

    /// Takes back an [`Count::add`].
    #[inline]
    pub(crate) fn take_back(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.length);
    }

    pub(crate) fn add_held(&mut self, held: Held) {
        self.packets += held.packets;
        self.bytes += held.bytes;
    }
}
