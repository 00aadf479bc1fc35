//! What can change about a line and its queue while packets wait.
//!
//! A change never drops or reorders packets that wait: a lower limit, a new weight and another
//! class count from the next arrival on, except where a discipline says that the packets which
//! wait are ranked anew.

use crate::packet::Header;
use crate::units::{Limit, Rate, Weight};
use core::fmt;

/// A change, which holds from the time of the call. A discipline is told of flows by a header of
/// theirs, its parts by the flow's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a, F = Header> {
    /// The line has a new rate.
    Rate(Rate),
    /// The flow has a new weight.
    Weight(F, Weight),
    /// The transport of the flow asks that its packets leave at no more than this rate; `None`: the
    /// request is withdrawn.
    Pacing(F, Option<Rate>),
    /// No more than this may wait in all queues together. Packets beyond a lower limit stay until
    /// they are sent, or until an arrival makes the buffer policy push them out.
    Limit(Limit),
    /// The flow is in the class of this name. Its packets that wait stay in the class in which they
    /// arrived.
    Class(F, &'a str),
}

impl<F> Change<'_, F> {
    /// The answer of a part to which the change means nothing. Rates and limits bind the line and
    /// its queue whatever their parts do; weights, pacing and classes are refused.
    ///
    /// # Errors
    ///
    /// For a weight, a pacing rate or a class.
    pub const fn not_used(&self) -> Result<(), Unsupported> {
        match self {
            Self::Rate(_) | Self::Limit(_) => Ok(()),
            Self::Weight(..) => Err(Unsupported("it does not go by weights")),
            Self::Pacing(..) => Err(Unsupported("it does not pace flows")),
            Self::Class(..) => Err(Unsupported("it has no class of that name")),
        }
    }
}

/// Why a change was refused; nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported(pub &'static str);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for Unsupported {}

/// What each of `parts` may hold of `limit`, which is that of all together.
///
/// # Errors
///
/// If that is no packet.
pub(crate) fn of_each(limit: Limit, parts: u64) -> Result<Limit, Unsupported> {
    match limit {
        Limit::Packets(packets) if packets < parts => Err(Unsupported("each of its queues needs room for a packet")),
        Limit::Packets(packets) => Ok(Limit::Packets(packets / parts)),
        limit => Ok(limit),
    }
}

/// The answer to changes of a part that keeps nothing of a rate, a limit, or a flow's wishes; with
/// `Weight`, of one that takes each packet's weight from its flow when the packet arrives.
macro_rules! no_changes {
    () => {
        fn change(
            &mut self,
            _now: crate::units::Time,
            change: &crate::change::Change<'_, crate::slots::Slot>,
        ) -> Result<(), crate::change::Unsupported> {
            change.not_used()
        }
    };
    (Weight) => {
        fn change(
            &mut self,
            _now: crate::units::Time,
            change: &crate::change::Change<'_, crate::slots::Slot>,
        ) -> Result<(), crate::change::Unsupported> {
            if let crate::change::Change::Weight(..) = change { Ok(()) } else { change.not_used() }
        }
    };
}
pub(crate) use no_changes;
