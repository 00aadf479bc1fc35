//! Which way a packet goes over a user's own line.

use super::network::Network;
use fairq_sched::packet::Header;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// A direction of the user's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// To the user.
    Down,
    /// From the user.
    Up,
}

impl Direction {
    /// Its name, as in a report and in a filter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }
}

/// The addresses at the user's end of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Me(Vec<Network>);

impl Me {
    /// Reads addresses and networks with commas between: `192.168.1.7, 2001:db8::/64`.
    ///
    /// # Errors
    /// What is no address, and what to write instead.
    pub fn read(text: &str) -> Result<Self, String> {
        text.split(',').map(|one| Network::read(one.trim())).collect::<Result<_, _>>().map(Self)
    }

    /// The direction of a packet; `None` if both its ends are the user's or none is.
    #[must_use]
    pub fn direction(&self, header: &Header) -> Option<Direction> {
        let [from_me, to_me] =
            [&header.source, &header.destination].map(|end| self.0.iter().any(|mine| mine.contains(end)));
        match (from_me, to_me) {
            (false, true) => Some(Direction::Down),
            (true, false) => Some(Direction::Up),
            _ => None,
        }
    }
}

impl fmt::Display for Me {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, network) in self.0.iter().enumerate() {
            write!(f, "{}{network}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::packet::Address;

    #[test]
    fn a_packet_goes_down_to_me_up_from_me_and_neither_way_between_two_ends_of_one_side() {
        let me = Me::read("10.0.0.1, 10.0.2.0/24,fe80::1").unwrap();
        assert_eq!(me.to_string(), "10.0.0.1,10.0.2.0/24,fe80::1");
        let v4 = |net, host| Address::V4([10, 0, net, host]);
        let going = |source, destination| {
            me.direction(&Header { source, destination, protocol: 6, source_port: 1, destination_port: 2, tos: 0 })
        };
        assert_eq!(going(v4(9, 9), v4(0, 1)), Some(Direction::Down));
        assert_eq!(going(v4(0, 1), v4(9, 9)), Some(Direction::Up));
        assert_eq!(going(v4(2, 77), v4(9, 9)), Some(Direction::Up));
        assert_eq!((going(v4(0, 1), v4(2, 1)), going(v4(9, 1), v4(9, 2))), (None, None));
        assert!(Me::read("").unwrap_err().contains("is no address"));
        assert!(Me::read("10.0.0.1,").unwrap_err().contains("is no address"));
    }
}
