//! Which packets of a capture are replayed: a filter in a part of tcpdump's words.
//!
//! Source: pcap-filter(7), libpcap 1.10. What is read here means the same there, but for `up` and
//! `down`.
//!
//! ```text
//! filter   = term { ("and" | "or") term }
//! term     = "not" term | "(" filter ")" | "up" | "down" | protocol | [protocol] value
//! protocol = "ip" | "ip6" | "tcp" | "udp" | "icmp" | "icmp6"
//! value    = ["src" | "dst"] ["host"] ADDRESS | ["src" | "dst"] "net" NETWORK
//!          | ["src" | "dst"] "port" NUMBER
//! ```
//!
//! `and` and `or` have equal precedence and are taken from left to right; `not` comes first. `&&`,
//! `||` and `!` are the same words. A value by itself has the words of the value before it:
//! `tcp port 80 or 443`.
//!
//! Departs: addresses and ports are numbers, no name is looked up; tags of VLAN, PPPoE and MPLS are
//! looked behind without a word; a protocol may stand before `host` and `net` too. The fragments
//! after a first have no ports, as with tcpdump, and only `port 0` keeps them.

mod read;

use super::direction::Direction;
use super::network::Network;
use fairq_sched::packet::{Address, Header};
use std::fmt;

/// A filter that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    text: String,
    term: Term,
    asks_direction: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Not(Box<Term>),
    /// Terms from left to right, each but the first with the word before it.
    Joined(Box<Term>, Vec<(Joint, Term)>),
    Way(Direction),
    Protocol(Protocol),
    Value(Option<End>, Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Ip,
    Ip6,
    Tcp,
    Udp,
    Icmp,
    Icmp6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Source,
    Destination,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Network(Network),
    Port(u16),
}

impl Filter {
    /// Whether it keeps a packet with this header that goes in this direction.
    #[must_use]
    pub fn keeps(&self, header: &Header, direction: Option<Direction>) -> bool {
        self.term.keeps(header, direction)
    }

    /// Whether a word of it is `up` or `down`.
    #[must_use]
    pub const fn asks_direction(&self) -> bool {
        self.asks_direction
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Term {
    fn keeps(&self, header: &Header, direction: Option<Direction>) -> bool {
        match self {
            Self::Not(term) => !term.keeps(header, direction),
            Self::Joined(first, others) => {
                others.iter().fold(first.keeps(header, direction), |kept, (joint, term)| match joint {
                    Joint::And => kept && term.keeps(header, direction),
                    Joint::Or => kept || term.keeps(header, direction),
                })
            }
            Self::Way(way) => direction == Some(*way),
            Self::Protocol(protocol) => protocol.is_of(header),
            Self::Value(end, value) => {
                let is_at = |address, port| match value {
                    Value::Network(network) => network.contains(address),
                    Value::Port(number) => has_ports(header) && *number == port,
                };
                (*end != Some(End::Destination) && is_at(&header.source, header.source_port))
                    || (*end != Some(End::Source) && is_at(&header.destination, header.destination_port))
            }
        }
    }
}

impl Protocol {
    const fn is_of(self, header: &Header) -> bool {
        let is_ip = matches!(header.source, Address::V4(_) | Address::V6(_));
        match self {
            Self::Ip => matches!(header.source, Address::V4(_)),
            Self::Ip6 => matches!(header.source, Address::V6(_)),
            Self::Tcp => is_ip && header.protocol == 6,
            Self::Udp => is_ip && header.protocol == 17,
            Self::Icmp => Self::Ip.is_of(header) && header.protocol == 1,
            Self::Icmp6 => Self::Ip6.is_of(header) && header.protocol == 58,
        }
    }
}

/// Whether its protocol has ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
const fn has_ports(header: &Header) -> bool {
    matches!((header.source, header.protocol), (Address::V4(_) | Address::V6(_), 6 | 17 | 33 | 132 | 136))
}

#[cfg(test)]
mod tests;
