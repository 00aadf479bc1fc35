//! What a device holds between a discipline and its line: packets that have left the discipline and wait to be sent, in their
//! order. Who comes behind them cannot pass them any more, whatever the discipline is.
//!
//! Chosen: the device takes packets as soon as there is a place, but never the first one of an idle line, which is sent at once.

use std::collections::VecDeque;

/// Packets by their names; by default there is no place for any, and nothing is kept.
#[derive(Default)]
pub struct Ring(Option<Box<Places>>);

struct Places {
    packets: VecDeque<u32>,
    most: usize,
}

impl Ring {
    /// An empty ring of so many places.
    #[must_use]
    pub fn new(places: u32) -> Self {
        Self((places > 0).then(|| Box::new(Places { packets: VecDeque::new(), most: places as usize })))
    }

    /// How many packets are in it.
    #[must_use]
    #[inline]
    pub fn held(&self) -> u64 {
        self.0.as_ref().map_or(0, |places| places.packets.len() as u64)
    }

    /// Whether there is no place.
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

    /// Takes out the first.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        self.0.as_mut()?.packets.pop_front()
    }
}
