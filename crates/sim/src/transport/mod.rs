//! Transports: how a source sends its data, and how the receiver acknowledges it.
//!
//! A sender is a function of its inputs: it is offered data, told of acknowledgements and of its
//! timer, and asked what to send and when to wake it. Loss recovery (`tcp`, `go_back_n`, `generic`)
//! is separate from congestion control (`congestion`), so that each congestion control is one file.
//! When and what to acknowledge is up to the receiver (`receiver`). Senders that keep a rate and
//! retransmit nothing (`fixed_rate`, `rap`, `tfrc`) are complete in themselves.

/// What a transport with rules of its own answers as a [`Transport`]: its delivery, its window and
/// the ECN field of its packets.
macro_rules! answers {
    ($self:ident: $delivery:ident, window $window:expr, code_point $code_point:expr) => {
        fn delivery(&$self) -> $crate::transport::Delivery {
            $crate::transport::Delivery::$delivery
        }

        fn window(&$self) -> Option<u32> {
            $window
        }

        fn code_point(&$self) -> CodePoint {
            $code_point
        }
    };
}

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

use ecn::{Accepts, CodePoint};
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use ranges::Run;
use receiver::Arrival;
use supply::Supply;
use tcp::Setup;
use tcp::held::HeldTimes;

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

/// The sending side of a connection.
pub trait Sender: Send {
    /// The data that it has still to send.
    fn supply(&mut self) -> &mut Supply;

    /// Prefetches the state for an acknowledgement that the sender keeps elsewhere.
    fn fetch(&self) {}

    /// The traffic offers another packet of `length` bytes.
    fn offer(&mut self, length: u32) {
        self.supply().offer(length);
    }

    /// A new connection begins at `now` in place of the one before it, which is complete. It has
    /// `bytes` to send, in packets of `length` and a shorter last one. Packet numbers continue.
    fn begin(&mut self, _now: Time, bytes: u64, length: u32) {
        *self.supply() = Supply::Transfer { length, left: bytes };
    }

    /// Whether all its data was acknowledged; for a sender that waits for no acknowledgement,
    /// whether it was sent.
    fn is_complete(&mut self) -> bool {
        self.supply().is_empty()
    }

    /// What to send now; `None` if nothing. Called until it returns `None`, after each of the other
    /// calls.
    fn poll(&mut self, now: Time) -> Option<Transmission>;

    /// An acknowledgement arrives. Returns the round-trip sample that the source's estimator takes
    /// from it, if it takes one.
    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time>;

    /// When the source wants to be woken; [`Time::NEVER`] if never. May change with every other
    /// call.
    fn deadline(&self) -> Time;

    /// The deadline has come.
    fn wake(&mut self, now: Time);

    /// Whether it sends what acknowledgements release when they arrive, and not at a pace. Asked
    /// only of TCP connections.
    fn is_clocked(&self) -> bool {
        true
    }

    /// For how long it was held though its congestion control would have let it send, up to `now`
    /// and since that was last cleared. Only a TCP connection knows.
    fn held(&self, _now: Time) -> HeldTimes {
        HeldTimes::default()
    }

    /// Counts these times from `now` on.
    fn clear_held(&mut self, _now: Time) {}

    /// The marks that its packets may be given.
    fn accepts(&self) -> Accepts {
        Accepts::default()
    }

    /// The phase of its congestion control, in the words of the source; `None` without congestion
    /// control. Asked only where a run is sampled.
    fn phase(&self) -> Option<&'static str>;

    /// Passes its named inner values to `visit`.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// Both sides of a connection.
pub struct Ends {
    /// The sending side.
    pub sender: Box<dyn Sender>,
    /// The receiving side.
    pub receiver: Box<dyn receiver::Receiver>,
}

/// How a transport delivers the data that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Sends all of it in the same instant, once, and heeds no answer.
    AtOnce,
    /// Sends it once at a rate that no answer changes.
    AtFixedRate,
    /// Sends it once at a rate that follows from the answers.
    AtControlledRate,
    /// Keeps packets until they are acknowledged, and sends lost ones again.
    Reliable,
}

/// Implemented by the settings of a transport with rules of its own. No method has a default where
/// forgetting would be a wrong number in a result, and no message. Those of a congestion control
/// over a TCP connection implement [`LawSettings`](congestion::LawSettings) instead.
pub trait Transport {
    /// Both ends of a connection, with what it has to send.
    fn build(&self, setup: Setup) -> Ends;

    /// How it delivers the data that it is given.
    fn delivery(&self) -> Delivery;

    /// The most packets that may be unacknowledged; `None` if it sets no such limit. That it is
    /// from 1 to 1000000 is checked for all.
    fn window(&self) -> Option<u32>;

    /// The ECN field of the packets that it sends, new data at least.
    fn code_point(&self) -> CodePoint;

    /// Whether its setting `ecn` names the ECN field, as `ect0` or `ect1`: a message then says so.
    fn names_code_point(&self) -> bool {
        false
    }

    /// Why the settings make no sense, if they do not. What no time and no count may be is checked
    /// for all (`sense.rs`).
    fn fault(&self) -> Option<String>;
}
