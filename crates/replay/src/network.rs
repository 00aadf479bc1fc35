//! An IP address, or a network of them, as a user writes it.

use fairq_sched::packet::Address;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses that begin with the first `prefix` bits of `address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// The network of one address.
    pub(super) const fn one(address: IpAddr) -> Self {
        Self { address, prefix: bits_of(address) }
    }

    /// Reads `192.168.1.7`, `192.168.1.0/24`, `2001:db8::/32`.
    ///
    /// # Errors
    /// What is wrong, and what to write instead.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let address: IpAddr =
            address.parse().map_err(|_| format!("`{text}` is no address; write one as 192.168.1.7 or 2001:db8::7"))?;
        let Some(prefix) = prefix else { return Ok(Self::one(address)) };
        let most = bits_of(address);
        let prefix = prefix.parse().ok().filter(|prefix| *prefix <= most).ok_or_else(|| {
            format!("`{text}`: behind the slash stands how many of {most} bits are the network's, as {address}/{most}")
        })?;
        let network = Self { address, prefix }.first();
        if network.address == address {
            return Ok(network);
        }
        Err(format!(
            "`{text}` is an address in a network; write {network} for the network or {address} for the address"
        ))
    }

    /// Whether `address` is in it. No network holds a link's address or a node's number.
    pub(super) fn contains(self, address: &Address) -> bool {
        match (self.address, address) {
            (IpAddr::V4(mine), Address::V4(other)) => same_until(&mine.octets(), other, self.prefix),
            (IpAddr::V6(mine), Address::V6(other)) => same_until(&mine.octets(), other, self.prefix),
            _ => false,
        }
    }

    /// The same network, written with its first address.
    fn first(self) -> Self {
        let shift = u32::from(bits_of(self.address) - self.prefix);
        let address = match self.address {
            IpAddr::V4(address) => {
                let kept = u32::MAX.checked_shl(shift).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & kept))
            }
            IpAddr::V6(address) => {
                let kept = u128::MAX.checked_shl(shift).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & kept))
            }
        };
        Self { address, ..self }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.prefix == bits_of(self.address) {
            self.address.fmt(f)
        } else {
            write!(f, "{}/{}", self.address, self.prefix)
        }
    }
}

const fn bits_of(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Whether the first `bits` bits are the same.
fn same_until(one: &[u8], other: &[u8], bits: u8) -> bool {
    let (whole, rest) = (usize::from(bits / 8), bits % 8);
    let differing = |at: usize| one[at] ^ other[at];
    one[..whole] == other[..whole] && (rest == 0 || differing(whole) >> (8 - rest) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(last: u8) -> Address {
        Address::V4([192, 168, 1, last])
    }

    #[test]
    fn a_network_holds_the_addresses_with_its_first_bits() {
        for (text, inside, outside) in [
            ("192.168.1.7", v4(7), v4(6)),
            ("192.168.1.0/24", v4(255), Address::V4([192, 168, 0, 1])),
            ("192.168.1.64/26", v4(127), v4(128)),
            ("0.0.0.0/0", v4(9), Address::V6([0; 16])),
            ("2001:db8::/33", Address::V6([0x20, 1, 0xd, 0xb8, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), v4(1)),
            ("::/0", Address::V6([255; 16]), Address::Mac([0; 6])),
        ] {
            let network = Network::read(text).unwrap();
            assert!(network.contains(&inside) && !network.contains(&outside), "{text}");
            assert_eq!(network.to_string(), text);
        }
        let upper = [0x20, 1, 0xd, 0xb8, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        assert!(!Network::read("2001:db8::/33").unwrap().contains(&Address::V6(upper)));
    }

    #[test]
    fn what_is_no_network_is_said_with_what_to_write() {
        for (text, said) in [
            ("router", "write one as 192.168.1.7"),
            ("192.168.1", "write one as 192.168.1.7"),
            ("192.168.1.7/33", "how many of 32 bits are the network's, as 192.168.1.7/32"),
            ("::1/x", "how many of 128 bits"),
            ("192.168.1.7/24", "write 192.168.1.0/24 for the network or 192.168.1.7 for the address"),
            ("::1/64", "write ::/64"),
        ] {
            let fault = Network::read(text).unwrap_err();
            assert!(fault.contains(said), "{fault}");
        }
    }
}
