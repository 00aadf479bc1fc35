//! Transports: what a source does with what it is given to send, and what the receiver answers.
//!
//! A sender is a function of its inputs: it is offered data, told of acknowledgements and of its timer, and asked
//! what to send and when to wake it. Loss recovery (`tcp`, `go_back_n`, `generic`) is apart from congestion control
//! (`congestion`), so that a law is one file; what is answered when is the receiver's (`receiver`). Senders that keep a rate
//! and mend nothing (`fixed_rate`, `rap`, `tfrc`) stand for themselves.

pub mod congestion;
pub mod ecn;
pub mod estimator;
pub mod fixed_rate;
pub mod generic;
pub mod go_back_n;
pub mod quick;
pub mod ranges;
pub mod rap;
pub mod receiver;
pub mod registry;
pub mod reports;
pub mod supply;
pub mod tcp;
pub mod tfrc;
pub mod uncontrolled;

use ecn::Accepts;
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use ranges::Run;
use receiver::Arrival;
use supply::Supply;

/// What the header of a packet says besides numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// It opens a connection and carries no data.
    pub const CONTROL: Self = Self(1);
    /// The sender has heard of a mark (CWR of RFC 3168).
    pub const HEARD: Self = Self(2);
    /// Of an acknowledgement: the packet that caused it had come before (RFC 2883).
    pub const DUPLICATE: Self = Self(4);
    /// The first of packets that were sent back to back.
    pub const PAIR: Self = Self(8);
    /// Of a layer: sent in the burst before a synchronisation point.
    pub const BURST: Self = Self(16);
    /// Of a layer: receivers may join the next one at it.
    pub const SYNCHRONISES: Self = Self(32);
    /// Of a packet of every second connection that follow each other between the same ends: the first of another connection
    /// differs in it from all before, as it would in its ports.
    pub const ODD: Self = Self(64);

    /// Whether all of `others` are among these.
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// These and `others`.
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
    /// What its header says besides.
    pub flags: Flags,
    /// What the sender believes of the round trip, for a receiver that answers once in one; zero says nothing.
    pub round_trip: Time,
}

impl Transmission {
    /// Packet `sequence` of `length` bytes, for the first time; nothing else is said.
    #[must_use]
    pub const fn new(sequence: u64, length: u32) -> Self {
        Self { sequence, length, is_retransmission: false, flags: Flags::NONE, round_trip: Time::ZERO }
    }
}

/// What a receiver that does not answer each packet tells of all that came since its last answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// Bytes in a second that arrived in the last round trip.
    pub rate: f64,
    /// The rate of loss events, for each packet.
    pub loss: f64,
    /// From the arrival of the packet that is answered to the answer.
    pub delay: Time,
}

/// The runs of packets beyond the cumulative number that an acknowledgement tells of, at most four (RFC 2018). They are
/// kept relative to that number: 36 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    count: u32,
    /// How far above the cumulative number each begins and ends.
    runs: [(u32, u32); 4],
}

impl Blocks {
    /// Adds a run; whether there was room, and it lies within 2³² packets.
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

    /// How many.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is none.
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
    /// The number of the packet the receiver expects next.
    pub cumulative: u64,
    /// When the copy that caused it was sent.
    pub sent: Time,
    /// When that arrived.
    pub received: Time,
    /// The marks of the packet that caused it, or what the receiver says of marks.
    pub marks: Marks,
    /// What its header says besides.
    pub flags: Flags,
    /// Packets with a CE mark that the receiver has seen.
    pub marked: u32,
    /// What the receiver keeps beyond `cumulative`.
    pub blocks: Blocks,
    /// What it tells in place of that, if it answers once in a round trip.
    pub feedback: Option<Feedback>,
    /// By how many bytes it is longer than others, for its blocks.
    pub options: u32,
}

impl Acknowledgement {
    /// The answer to `arrival` at `now`; the cumulative number is still to be filled in.
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

/// The sending side of a connection.
pub trait Sender: Send {
    /// What it has still to send.
    fn supply(&mut self) -> &mut Supply;

    /// Has fetched into the caches what it keeps elsewhere and needs for an acknowledgement.
    fn fetch(&self) {}

    /// The traffic has another packet of `length` bytes to send.
    fn offer(&mut self, length: u32) {
        self.supply().offer(length);
    }

    /// A new connection begins at `now` in the place of the one before it, which is complete: it has so many bytes to
    /// send, in packets of `length` and a shorter last one. Packet numbers go on.
    fn begin(&mut self, _now: Time, bytes: u64, length: u32) {
        *self.supply() = Supply::Transfer { length, left: bytes };
    }

    /// Whether all that it had to send was acknowledged; for a sender that waits for nothing, whether it was sent.
    fn is_complete(&mut self) -> bool {
        self.supply().is_empty()
    }

    /// What to send now, if anything. Asked until it answers `None`, after each of the other calls.
    fn poll(&mut self, now: Time) -> Option<Transmission>;

    /// An acknowledgement arrives. The sample of the round trip that the source's estimator takes from it, if it takes
    /// one.
    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time>;

    /// When the source wants to be woken; [`Time::NEVER`] if not at all. May change with every other call.
    fn deadline(&self) -> Time;

    /// The deadline has come.
    fn wake(&mut self, now: Time);

    /// Whether it sends what acknowledgements let go, when they come, and not at a pace. Asked only of TCP connections.
    fn is_clocked(&self) -> bool {
        true
    }

    /// The marks that its packets may be given.
    fn accepts(&self) -> Accepts {
        Accepts::default()
    }

    /// Names inner values to one who asks.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// Both sides of a connection.
pub struct Ends {
    /// The sending side.
    pub sender: Box<dyn Sender>,
    /// The receiving side.
    pub receiver: Box<dyn receiver::Receiver>,
}
