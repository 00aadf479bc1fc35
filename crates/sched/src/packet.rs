//! What a discipline sees of a packet: the header, read once; the descriptor, kept; the fate, given
//! back.

use crate::units::Time;
use core::num::NonZeroU32;
use core::sync::atomic::{Ordering, compiler_fence};

/// An end point of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// A node of a simulated network, by its number.
    Node(u32),
    /// IPv4.
    V4([u8; 4]),
    /// IPv6.
    V6([u8; 16]),
    /// Ethernet, for frames that carry no IP.
    Mac([u8; 6]),
}

/// The fields by which packets are told apart. Handed over by reference and read by the classifier
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// The sender.
    pub source: Address,
    /// The receiver.
    pub destination: Address,
    /// The IP protocol number; for a frame without IP its EtherType; 0 in the simulator.
    pub protocol: u16,
    /// The sender's port, 0 if there is none (fragments after the first have none).
    pub source_port: u16,
    /// The receiver's port, 0 if there is none.
    pub destination_port: u16,
    /// The whole type-of-service byte (DSCP and ECN field).
    pub tos: u8,
}

/// A set of congestion marks. The three are different signals with different meanings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks(pub u8);

impl Marks {
    /// None.
    pub const NONE: Self = Self(0);
    /// The congestion bit of DECbit, as DECbit gateways set it (plain and selective).
    pub const DEC: Self = Self(1);
    /// The congestion bit as the bit-setting fair queueing gateway of 1990 sets it.
    pub const FQ: Self = Self(2);
    /// ECN's congestion experienced (RFC 3168).
    pub const CE: Self = Self(4);

    /// Whether one of `others` is among these marks.
    #[must_use]
    pub const fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// The union of these marks and `others`.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// The intersection of these marks and `others`.
    #[must_use]
    pub const fn within(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }
}

/// What is kept of a packet while it is held: 48 bytes. Its bytes stay with its owner. The fields
/// stand in this order: what [`Packet::new`] sets to zero fills the last 16 bytes without a gap, so
/// that it is one store and no field is written in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Packet {
    /// The owner's name for the packet.
    pub token: u64,
    /// When it arrived here.
    pub arrival: Time,
    /// When it should have left the network; [`Time::NEVER`] if it does not matter.
    pub deadline: Time,
    /// Bytes on the line.
    pub length: u32,
    /// What remains of its transfer when it is sent, in bytes: itself and all that was not sent
    /// before; 0 if that is not known.
    pub remaining: u32,
    /// Bits that a preempted transmission has left to send; 0 for a packet that is sent whole.
    pub unsent_bits: u32,
    /// A label that travels with the packet and that a gateway may change, but not take away; 0 is
    /// none.
    pub label: u32,
    /// The marks it carries.
    pub marks: Marks,
    /// The marks it may be given.
    pub accepts: Marks,
    /// The type-of-service byte.
    pub tos: u8,
    /// Of `length`, the bytes of the link layer's header, before the network's: 14 in an Ethernet
    /// frame, 0 where `length` counts from the network header on.
    pub link_header: u8,
    /// For a pure acknowledgement: the low bits of the number up to which it acknowledges. A filter
    /// of acknowledgements needs it to find the redundant ones. `None` for all other packets.
    pub acknowledges: Option<NonZeroU32>,
}

impl Packet {
    /// A packet of `length` bytes that arrives at `arrival` and accepts no mark.
    #[must_use]
    pub const fn new(token: u64, arrival: Time, length: u32) -> Self {
        Self {
            token,
            arrival,
            deadline: Time::NEVER,
            length,
            remaining: 0,
            unsent_bits: 0,
            label: 0,
            marks: Marks::NONE,
            accepts: Marks::NONE,
            tos: 0,
            link_header: 0,
            acknowledges: None,
        }
    }

    /// Becomes a copy of `other`, whose fields were probably written just before, the first five
    /// one by one and the others at once. A load wider than the preceding stores cannot be
    /// forwarded and would stall. The fences emit no instruction; they keep the compiler from
    /// widening the loads.
    #[inline(always)]
    pub(crate) fn copy_by_fields(&mut self, other: &Self) {
        let apart = || compiler_fence(Ordering::SeqCst);
        self.token = other.token;
        apart();
        self.arrival = other.arrival;
        apart();
        self.deadline = other.deadline;
        apart();
        self.length = other.length;
        apart();
        self.remaining = other.remaining;
        apart();
        self.unsent_bits = other.unsent_bits;
        self.label = other.label;
        apart();
        self.marks = other.marks;
        self.accepts = other.accepts;
        self.tos = other.tos;
        self.link_header = other.link_header;
        self.acknowledges = other.acknowledges;
    }

    /// Bits that a transmission of it takes now.
    #[must_use]
    pub const fn bits_to_send(&self) -> u64 {
        if self.unsent_bits > 0 { self.unsent_bits as u64 } else { self.length as u64 * 8 }
    }
}

const _: () = assert!(size_of::<Packet>() <= 48);

/// What became of a packet other than being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The packet; it need not be the one that was just offered.
    pub packet: Packet,
    /// What happened to it.
    pub outcome: Outcome,
}

/// Dropped, or marked and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is no longer held.
    Dropped(Reason),
    /// It was given these marks and is held.
    Marked(Marks),
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The buffer was full and the arriving packet was refused.
    BufferFull,
    /// It was the victim in the longest queue.
    LongestQueue,
    /// The packet is longer than the whole buffer.
    TooLong,
    /// Its owner took it out by its handle.
    Removed,
    /// It was the oldest when the buffer was full.
    Oldest,
    /// It was picked at random among the packets held.
    Drawn,
    /// An early signal of congestion, computed from queue length or delay.
    Early,
    /// Its flow sends more than its share.
    OverShare,
    /// It took a place in a shared buffer that another packet had more right to.
    Preempted,
    /// Its rank is too great for the space that is left.
    Rank,
    /// It would have had to wait too long.
    Horizon,
    /// An acknowledgement that a later one makes unnecessary.
    Redundant,
    /// It came above the rate of a policer.
    Policed,
    /// It was being sent when the line went down.
    Down,
    /// It was lost on the way.
    Lost,
}

impl Reason {
    /// The reason as tables and files write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BufferFull => "buffer_full",
            Self::LongestQueue => "longest_queue",
            Self::TooLong => "too_long",
            Self::Removed => "removed",
            Self::Oldest => "oldest",
            Self::Drawn => "drawn",
            Self::Early => "early",
            Self::OverShare => "over_share",
            Self::Preempted => "preempted",
            Self::Rank => "rank",
            Self::Horizon => "horizon",
            Self::Redundant => "redundant",
            Self::Policed => "policed",
            Self::Down => "down",
            Self::Lost => "lost",
        }
    }
}

/// Where a discipline reports fates. The driver empties it after each call.
pub type Fates = alloc::vec::Vec<Fate>;
