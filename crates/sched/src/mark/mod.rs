//! Markers: which packets are marked to signal congestion?

mod cycle;
pub mod decbit;
pub mod fq_bit;
pub mod none;
pub mod selective_decbit;
pub mod step;

#[cfg(test)]
mod tests {
    use crate::packet::Packet;
    use crate::store::Store;
    use crate::units::{Limit, Time};

    /// A store in which `packets` packets of 100 bytes wait in queue 1.
    pub(super) fn store_with(packets: u32) -> Store {
        let mut store = Store::new(Limit::Unlimited);
        for _ in 0..packets {
            store.push(&Packet::new(0, Time::ZERO, 100), 0, 1, 1);
        }
        store
    }
}
