//! The ECN field of packets, which the transport sets: which code point its packets have, and which
//! of them may be marked.
//!
//! Source: RFC 3168, sections 5 and 6.1 (ECT(0), and which packets of TCP have it); RFC 8257,
//! section 3 (DCTCP); RFC 9331, section 4.1 (ECT(1), the L4S identifier).
//! Chosen: acknowledgements that carry no data are Not-ECT under every transport, as RFC 3168,
//! section 6.1.4, requires.

use super::messages::{Flags, Transmission};
use fairq_link::ecn::Field;
use fairq_sched::packet::Marks;

/// The ECN field of a transport's packets before a queue marks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum CodePoint {
    /// Not-ECT: queues drop where they would mark.
    #[default]
    None,
    /// ECT(0): queues mark in place of a drop (RFC 3168).
    Ect0,
    /// ECT(1): the packet asks for the low-latency service of L4S (RFC 9331).
    Ect1,
}

impl CodePoint {
    /// The field as packets carry it.
    #[must_use]
    pub const fn field(self) -> Field {
        match self {
            Self::None => Field::NotEct,
            Self::Ect0 => Field::Ect0,
            Self::Ect1 => Field::Ect1,
        }
    }

    /// Whether packets are Not-ECT; a file then leaves the field out.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// The marks that a sender's packets may be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepts {
    /// New data.
    pub new: Marks,
    /// Retransmissions, and packets that open a connection.
    pub others: Marks,
}

impl Accepts {
    /// All packets may be given `marks`.
    #[must_use]
    pub const fn all(marks: Marks) -> Self {
        Self { new: marks, others: marks }
    }

    /// The marks that `transmission` may be given.
    #[must_use]
    #[inline]
    pub const fn of(self, transmission: &Transmission) -> Marks {
        let is_new = !transmission.is_retransmission && !transmission.flags.has(Flags::CONTROL);
        if is_new { self.new } else { self.others }
    }
}

/// How a congestion control learns of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Packets accept no CE mark.
    #[default]
    Not,
    /// The receiver repeats a mark until it learns of the reaction; one reaction to a window of
    /// data (RFC 3168).
    Classic,
    /// The receiver reports of each packet whether it was marked (RFC 8257).
    Dctcp,
    /// The receiver counts marked packets and reports the count (RFC 9768); the packets are ECT(1).
    Accurate,
}

impl Ecn {
    /// The ECN field of packets that are to be marked so.
    #[must_use]
    pub const fn code_point(self) -> CodePoint {
        match self {
            Self::Not => CodePoint::None,
            Self::Classic | Self::Dctcp => CodePoint::Ect0,
            Self::Accurate => CodePoint::Ect1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168, figure 1, and RFC 9331, section 4.1.
    #[test]
    fn code_points_have_the_bits_of_the_rfc() {
        let code_points = [CodePoint::None, CodePoint::Ect0, CodePoint::Ect1];
        assert_eq!(code_points.map(|code_point| code_point.field().bits()), [0b00, 0b10, 0b01]);
    }
}
