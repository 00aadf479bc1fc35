//! How a run is observed: events for observers, counts of transfers.

pub mod transfers;

use crate::segment::Segment;
use fairq_sched::packet::{Marks, Reason};
use fairq_sched::units::Time;
use fairq_sched::waiting::Decision;

/// The name of a packet while it is under way: its id in the arena, the same in every run of a plan
/// with one seed. A later packet may have it after that.
pub type PacketId = u32;

/// An event of a packet or of a flow. An observer reads it and can change nothing.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A packet reached the gateway of a line.
    Arrived {
        /// The line.
        line: u32,
        /// The packet's name.
        id: PacketId,
        /// The packet.
        segment: &'a Segment,
    },
    /// The transmission of a packet on a line with a queue began, or goes on after it was
    /// interrupted. Told of lines that are watched.
    Began {
        /// The line.
        line: u32,
        /// The packet's name.
        id: PacketId,
        /// The packet.
        segment: &'a Segment,
        /// When it ends, if nothing changes that.
        end: Time,
        /// Why it was chosen; `None` where it found the line idle, where the discipline gives no
        /// reasons, and in a run that is not held.
        decision: Option<&'a Decision>,
    },
    /// A packet was given marks in the gateway of a line.
    Marked {
        /// The line.
        line: u32,
        /// The packet's name.
        id: PacketId,
        /// The packet.
        segment: &'a Segment,
        /// The marks.
        marks: Marks,
    },
    /// A packet was dropped in the gateway of a line.
    Dropped {
        /// The line.
        line: u32,
        /// The packet's name.
        id: PacketId,
        /// The packet.
        segment: &'a Segment,
        /// The reason.
        reason: Reason,
    },
    /// The transmission of a packet on a line ended.
    Sent {
        /// The line.
        line: u32,
        /// The packet's name.
        id: PacketId,
        /// The packet.
        segment: &'a Segment,
    },
    /// A packet was lost on a line, after its transmission.
    Lost {
        /// The line.
        line: u32,
        /// The packet's name.
        id: PacketId,
        /// The packet.
        segment: &'a Segment,
    },
    /// A receiver of a session changed the number of layers that it takes.
    Level {
        /// The receiver, counted over all sessions.
        receiver: u32,
        /// The number of layers that it takes now.
        level: u32,
    },
    /// A packet reached the host at the end of its path; a copy of a session's packet, the node at
    /// the end of its branch.
    Delivered {
        /// The packet's name, which is free now.
        id: PacketId,
        /// The packet.
        segment: &'a Segment,
    },
    /// A flow sends for the first time, or begins a transfer.
    FlowBegan {
        /// The flow.
        flow: u32,
    },
    /// All that a flow or its transfer had to send has arrived, as far as its transport knows.
    FlowEnded {
        /// The flow.
        flow: u32,
    },
    /// The window of a flow's congestion control is another one.
    Window {
        /// The flow.
        flow: u32,
        /// The window in packets.
        packets: f64,
    },
    /// A flow sends a packet that it sent before.
    Retransmitted {
        /// The flow.
        flow: u32,
        /// The packet's number.
        sequence: u64,
    },
    /// The retransmission timer of a flow expired.
    TimedOut {
        /// The flow.
        flow: u32,
    },
}

impl Event<'_> {
    /// The line and the flow that it is of, if it is of one.
    #[must_use]
    pub const fn of(&self) -> (Option<u32>, Option<u32>) {
        match self {
            Self::Arrived { line, segment, .. }
            | Self::Began { line, segment, .. }
            | Self::Marked { line, segment, .. }
            | Self::Dropped { line, segment, .. }
            | Self::Sent { line, segment, .. }
            | Self::Lost { line, segment, .. } => (Some(*line), Some(segment.flow)),
            Self::Delivered { segment, .. } => (None, Some(segment.flow)),
            Self::FlowBegan { flow }
            | Self::FlowEnded { flow }
            | Self::Window { flow, .. }
            | Self::Retransmitted { flow, .. }
            | Self::TimedOut { flow } => (None, Some(*flow)),
            Self::Level { .. } => (None, None),
        }
    }
}

/// An observer of a run. A run without one pays nothing.
pub trait Observer: Send {
    /// Something happens at `now`.
    fn event(&mut self, now: Time, event: &Event<'_>);

    /// The run ends at `now`.
    fn end(&mut self, _now: Time) {}
}

/// Passes each event to all of them, in order.
impl Observer for Vec<Box<dyn Observer>> {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        self.iter_mut().for_each(|observer| observer.event(now, event));
    }

    fn end(&mut self, now: Time) {
        self.iter_mut().for_each(|observer| observer.end(now));
    }
}
