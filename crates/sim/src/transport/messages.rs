//! What the two ends of a connection send each other: packets with their flags, acknowledgements,
//! and what those report.

use super::ranges::Run;
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;

/// Flags of a packet's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The packet opens a connection and carries no data.
    pub const CONTROL: Self = Self(1);
    /// The sender has learnt of a mark (CWR of RFC 3168).
    pub const HEARD: Self = Self(2);
    /// Of an acknowledgement: the packet that caused it had arrived before (RFC 2883).
    pub const DUPLICATE: Self = Self(4);
    /// The first of several packets that were sent back to back.
    pub const PAIR: Self = Self(8);
    /// Of a layer: sent in the burst before a synchronisation point.
    pub const BURST: Self = Self(16);
    /// Of a layer: receivers may join the next one at it.
    pub const SYNCHRONISES: Self = Self(32);
    /// Set on the packets of every second of consecutive connections between the same ends. The
    /// first packet of the next connection thus differs from all before it, as it would in its
    /// ports.
    pub const ODD: Self = Self(64);

    /// Whether all of `others` are set.
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// These flags and `others`.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

/// A data packet to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Its number.
    pub sequence: u64,
    /// Bytes on the line.
    pub length: u32,
    /// Whether the packet was sent before.
    pub is_retransmission: bool,
    /// Flags of its header.
    pub flags: Flags,
    /// The sender's estimate of the round trip, for a receiver that acknowledges once per round
    /// trip; zero if there is none.
    pub round_trip: Time,
}

impl Transmission {
    /// Packet `sequence` of `length` bytes, sent for the first time, without flags or estimate.
    #[must_use]
    pub const fn new(sequence: u64, length: u32) -> Self {
        Self { sequence, length, is_retransmission: false, flags: Flags::NONE, round_trip: Time::ZERO }
    }
}

/// A data packet that reached the end of its path.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its number.
    pub sequence: u64,
    /// Bytes on the line.
    pub length: u32,
    /// When this copy of the packet was sent.
    pub sent: Time,
    /// The marks that it was given.
    pub marks: Marks,
    /// Flags of its header.
    pub flags: Flags,
    /// The sender's estimate of the round trip; zero if it has none.
    pub round_trip: Time,
}

impl Arrival {
    /// Packet `sequence` of `length` bytes, sent at `sent`, without marks. For tests of receivers.
    #[must_use]
    pub const fn of(sequence: u64, length: u32, sent: Time) -> Self {
        Self { sequence, length, sent, marks: Marks::NONE, flags: Flags::NONE, round_trip: Time::ZERO }
    }
}

/// What a receiver that does not acknowledge each packet reports of all that arrived since its last
/// report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// Bytes a second that arrived in the last round trip.
    pub rate: f64,
    /// The loss event rate: loss events per packet.
    pub loss: f64,
    /// The time from the arrival of the acknowledged packet to the report.
    pub delay: Time,
}

/// The runs of packets beyond the cumulative number that an acknowledgement reports, at most four
/// (RFC 2018). They are kept relative to that number: 36 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    count: u32,
    /// The begin and end of each run, relative to the cumulative number.
    runs: [(u32, u32); 4],
}

impl Blocks {
    /// Adds a run. Returns whether there was room and the run lies within 2³² packets.
    pub fn push(&mut self, cumulative: u64, run: Run) -> bool {
        let place = |sequence: u64| sequence.checked_sub(cumulative).and_then(|ahead| u32::try_from(ahead).ok());
        let (Some(start), Some(end), true) = (place(run.start), place(run.end), self.len() < self.runs.len()) else {
            return false;
        };
        self.runs[self.len()] = (start, end);
        self.count += 1;
        true
    }

    /// The runs, given the cumulative number of their acknowledgement.
    pub fn iter(&self, cumulative: u64) -> impl Iterator<Item = Run> + '_ {
        let run = move |(start, end): &(u32, u32)| Run {
            start: cumulative + u64::from(*start),
            end: cumulative + u64::from(*end),
        };
        self.runs[..self.len()].iter().map(run)
    }

    /// The number of runs.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no run.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acknowledgement {
    /// The number of the packet that caused it.
    pub sequence: u64,
    /// The number of the packet that the receiver expects next.
    pub cumulative: u64,
    /// When the copy that caused it was sent.
    pub sent: Time,
    /// When that copy arrived.
    pub received: Time,
    /// The marks of the packet that caused it, or the receiver's echo of marks.
    pub marks: Marks,
    /// Flags of its header.
    pub flags: Flags,
    /// Packets with a CE mark that the receiver has seen.
    pub marked: u32,
    /// The runs that the receiver holds beyond `cumulative`.
    pub blocks: Blocks,
    /// The report in place of runs, if the receiver sends one per round trip.
    pub feedback: Option<Feedback>,
    /// By how many bytes it is longer than others because of its blocks.
    pub options: u32,
}

impl Acknowledgement {
    /// The acknowledgement of `arrival` at `now`; the caller fills in the cumulative number.
    #[must_use]
    pub fn of(now: Time, arrival: &Arrival) -> Self {
        Self {
            sequence: arrival.sequence,
            cumulative: 0,
            sent: arrival.sent,
            received: now,
            marks: arrival.marks,
            flags: Flags::NONE,
            marked: 0,
            blocks: Blocks::default(),
            feedback: None,
            options: 0,
        }
    }
}
