//! The ECN field of IP packets, and the marks of queues that it stands for.
//!
//! Source: RFC 3168, section 5 and figure 1; RFC 9331, section 4.1 (ECT(1), the L4S identifier).

use fairq_sched::packet::Marks;

/// The ECN field: the two low bits of the type-of-service byte. Each value of them has a name, so
/// that reading a field cannot fail.
///
/// ```
/// use fairq_link::ecn::Field;
/// use fairq_sched::packet::Marks;
///
/// let field = Field::of(0xb9);
/// assert_eq!((field, field.name()), (Field::Ect1, "ECT(1)"));
/// assert_eq!((field.marks(), field.accepts()), (Marks::NONE, Marks::CE));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Not-ECT: queues drop where they would mark.
    NotEct,
    /// ECT(1): the packet asks for the low-latency service of L4S (RFC 9331).
    Ect1,
    /// ECT(0): queues mark in place of a drop.
    Ect0,
    /// Congestion experienced: a queue has marked the packet.
    Ce,
}

impl Field {
    /// The field in the type-of-service byte `tos`.
    #[must_use]
    pub const fn of(tos: u8) -> Self {
        match tos & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// The two low bits of the type-of-service byte.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// The name in RFC 3168.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotEct => "Not-ECT",
            Self::Ect1 => "ECT(1)",
            Self::Ect0 => "ECT(0)",
            Self::Ce => "CE",
        }
    }

    /// The marks that a packet with this field has.
    #[must_use]
    pub const fn marks(self) -> Marks {
        match self {
            Self::Ce => Marks::CE,
            _ => Marks::NONE,
        }
    }

    /// The marks that a packet with this field may be given.
    #[must_use]
    pub const fn accepts(self) -> Marks {
        match self {
            Self::NotEct => Marks::NONE,
            _ => Marks::CE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168, figure 1, and RFC 9331, section 4.1.
    #[test]
    fn fields_have_the_bits_and_the_names_of_the_rfc() {
        let fields = [0, 1, 2, 3].map(Field::of);
        assert_eq!(fields.map(Field::name), ["Not-ECT", "ECT(1)", "ECT(0)", "CE"]);
        assert_eq!(fields.map(Field::bits), [0b00, 0b01, 0b10, 0b11]);
        assert_eq!(Field::of(0xfe), Field::Ect0);
    }

    #[test]
    fn all_but_not_ect_may_be_marked_and_ce_is() {
        let marks = [0, 1, 2, 3].map(|bits| (Field::of(bits).marks(), Field::of(bits).accepts()));
        let (none, ce) = (Marks::NONE, Marks::CE);
        assert_eq!(marks, [(none, none), (none, ce), (none, ce), (ce, ce)]);
    }
}
