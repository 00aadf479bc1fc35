//! Classifiers: whose packet is this?

pub(crate) mod default;
pub mod destination;
pub mod pair;
pub mod port_pair;
pub mod source;
pub mod tos;

use crate::packet::Address;

/// An address as words for the hash; the first says which kind it is.
pub(crate) const fn words(address: &Address) -> [u64; 3] {
    match *address {
        Address::Node(node) => [0, node as u64, 0],
        Address::V4(bytes) => [4, u32::from_be_bytes(bytes) as u64, 0],
        Address::V6(bytes) => {
            let value = u128::from_be_bytes(bytes);
            [6, (value >> 64) as u64, value as u64]
        }
        Address::Mac([a, b, c, d, e, f]) => [48, u64::from_be_bytes([0, 0, a, b, c, d, e, f]), 0],
    }
}
