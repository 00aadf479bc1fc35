//! A buffer that several lines share: it names line and handle, its driver evicts, then enqueues.
//!
//! The driver asks [`Pool::ask`] before it offers a packet to a line of the pool. As long as the
//! answer is [`Answer::Evict`] it removes that packet from its line and asks again. A packet that
//! then waits at its line is told with [`Pool::joined`], and whatever leaves a line (sent, dropped
//! there, removed) with [`Pool::left`]. A packet that is being sent has left: it is never evicted.
//! No discipline knows of the pool, and the pool knows no discipline.

use crate::contract::{Handle, Held};
use crate::packet::Reason;
use crate::units::Limit;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A packet in the books of a shared buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The line it waits for, by its number among those that share.
    pub line: u32,
    /// The host on whose account it is, by a dense number that the driver gives.
    pub host: u32,
    /// Its bytes.
    pub length: u32,
    /// Its precedence, from 0 to 7: the greater the more it matters.
    pub precedence: u8,
}

/// The precedence in a type-of-service byte: its three upper bits (RFC 791).
#[must_use]
pub const fn precedence(tos: u8) -> u8 {
    tos >> 5
}

/// The name of a held record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub u32);

/// What waits, and how much may.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The size of the buffer.
    pub limit: Limit,
    /// The packets and bytes that it holds.
    pub held: Held,
}

impl Room {
    /// Whether a packet of `length` bytes fits beside what is held.
    #[must_use]
    pub const fn has_space_for(&self, length: u32) -> bool {
        !self.limit.is_exceeded_by(self.held.packets + 1, self.held.bytes + length as u64)
    }
}

/// What a policy decides of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may join.
    Join,
    /// It may not.
    Refuse(Reason),
    /// This one must make room first.
    Evict(Ticket),
}

/// How much of a buffer may each of the lines that share it have?
pub trait Sharing: Send {
    /// What becomes of `arriving`, which is not in the books.
    fn decide(&mut self, room: Room, arriving: &Record) -> Decision;

    /// `record` is held under `ticket`.
    fn joined(&mut self, ticket: Ticket, record: &Record);

    /// `record` is no longer held; its ticket may name another one later.
    fn left(&mut self, ticket: Ticket, record: &Record);
}

/// What a driver is to do with an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Offer it to its line.
    Join,
    /// Drop it for this reason.
    Refuse(Reason),
    /// Remove this packet from its line, drop it as [`Reason::Preempted`], and ask again. It has
    /// left the pool.
    Evict {
        /// The line.
        line: u32,
        /// The packet there.
        handle: Handle,
    },
}

#[derive(Clone, Copy)]
struct Entry {
    record: Record,
    handle: Handle,
}

/// The books of one shared buffer.
pub struct Pool {
    room: Room,
    entries: Vec<Entry>,
    free: Vec<Ticket>,
    sharing: Box<dyn Sharing>,
}

impl Pool {
    /// An empty buffer of size `limit`, shared by the rule of `sharing`.
    #[must_use]
    pub fn new(limit: Limit, sharing: Box<dyn Sharing>) -> Self {
        let held = Held { packets: 0, bytes: 0 };
        Self { room: Room { limit, held }, entries: Vec::new(), free: Vec::new(), sharing }
    }

    /// What is held.
    #[must_use]
    pub const fn held(&self) -> Held {
        self.room.held
    }

    /// Whether more is held than there is room for.
    #[must_use]
    pub const fn is_over_limit(&self) -> bool {
        self.room.limit.is_exceeded_by(self.room.held.packets, self.room.held.bytes)
    }

    /// What to do with an arriving packet. After [`Answer::Evict`] call it again; it ends, for
    /// every such answer takes a packet out.
    pub fn ask(&mut self, arriving: &Record) -> Answer {
        if let Limit::Bytes(bytes) = self.room.limit
            && u64::from(arriving.length) > bytes
        {
            return Answer::Refuse(Reason::TooLong);
        }
        match self.sharing.decide(self.room, arriving) {
            Decision::Join => Answer::Join,
            Decision::Refuse(reason) => Answer::Refuse(reason),
            Decision::Evict(ticket) => {
                let Entry { record, handle } = self.entries[ticket.0 as usize];
                self.left(ticket);
                Answer::Evict { line: record.line, handle }
            }
        }
    }

    /// A packet waits at its line, where `handle` names it; the driver gives the ticket back when
    /// it leaves.
    pub fn joined(&mut self, record: Record, handle: Handle) -> Ticket {
        let entry = Entry { record, handle };
        let ticket = match self.free.pop() {
            Some(ticket) => {
                self.entries[ticket.0 as usize] = entry;
                ticket
            }
            None => {
                self.entries.push(entry);
                Ticket(self.entries.len() as u32 - 1)
            }
        };
        self.room.held.packets += 1;
        self.room.held.bytes += u64::from(record.length);
        self.sharing.joined(ticket, &record);
        ticket
    }

    /// The packet of `ticket` does not wait any more.
    pub fn left(&mut self, ticket: Ticket) {
        let record = self.entries[ticket.0 as usize].record;
        self.room.held.packets -= 1;
        self.room.held.bytes -= u64::from(record.length);
        self.sharing.left(ticket, &record);
        self.free.push(ticket);
    }
}
