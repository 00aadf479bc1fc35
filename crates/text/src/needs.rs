//! What parts of disciplines need to know of packets, in words for messages.

use fairq_sched::facts::Need;

/// The need in words.
#[must_use]
pub const fn of(need: Need) -> &'static str {
    match need {
        Need::Remaining => "what remains of a transfer",
        Need::Deadline => "packets' deadlines",
        Need::Acknowledges => "the numbers of acknowledgements",
        Need::Label => "the labels that an edge writes",
        Need::Class => "the classes of flows",
        Need::AcceptsDec => "the bit of DECbit's transport",
        Need::AcceptsFq => "the congestion bit of 1990",
    }
}

/// What to write where the need cannot be met.
#[must_use]
pub const fn without(need: Need) -> &'static str {
    match need {
        Need::Remaining | Need::Deadline => "write rank = start_time or least_attained, or another discipline",
        Need::Acknowledges => "leave ack_filter out",
        Need::Label => "write role = \"edge\" for the node",
        Need::Class => "give classes a dscp or precedence",
        Need::AcceptsDec | Need::AcceptsFq => "leave the marker out, or write one that sets CE",
    }
}
