//! The device's ring between a discipline and its line: packets that have left the discipline and
//! wait to be sent, in order. No later packet can overtake them, whatever the discipline is.
//!
//! Chosen: the device takes packets as soon as it has room. The first packet of an idle line does
//! not enter the ring; it is sent at once.

use std::collections::VecDeque;

/// Packet ids in order. By default the ring has no room and takes no memory.
#[derive(Default)]
pub struct Ring(Option<Box<Places>>);

struct Places {
    packets: VecDeque<u32>,
    most: usize,
}

impl Ring {
    /// An empty ring with room for `places` packets.
    #[must_use]
    pub fn new(places: u32) -> Self {
        Self((places > 0).then(|| Box::new(Places { packets: VecDeque::new(), most: places as usize })))
    }

    /// Whether the ring ever holds a packet.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.0.is_some()
    }

    /// The number of packets in the ring.
    #[must_use]
    #[inline]
    pub fn held(&self) -> u64 {
        self.0.as_ref().map_or(0, |places| places.packets.len() as u64)
    }

    /// Whether the ring has no room left.
    #[must_use]
    #[inline]
    pub fn is_full(&self) -> bool {
        self.0.as_ref().is_none_or(|places| places.packets.len() >= places.most)
    }

    /// Puts the packet `id` behind the others.
    pub fn push(&mut self, id: u32) {
        debug_assert!(!self.is_full());
        if let Some(places) = &mut self.0 {
            places.packets.push_back(id);
        }
    }

    /// Removes the first packet and returns its id.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        self.0.as_mut()?.packets.pop_front()
    }
}
