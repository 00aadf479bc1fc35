//! Traffic: the data that a transport is given to send, and when. It is packets, or transfers of a
//! number of bytes each.

/// The answers of [`Traffic`] for packets of the fields `rate` and `packet`.
macro_rules! packets_at_a_rate {
    () => {
        fn release(&self) -> Release {
            Release::Stream
        }

        fn lengths(&self) -> Lengths<'_> {
            Lengths::All(packet(self.packet))
        }

        fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
            Some(&mut self.packet)
        }

        fn demand(&self) -> Option<f64> {
            Some(self.rate.bit_per_s() as f64)
        }
    };
}

/// The answers of [`Traffic`] for packets of the field `file`.
macro_rules! packets_of_a_file {
    () => {
        fn release(&self) -> Release {
            Release::Stream
        }

        fn lengths(&self) -> Lengths<'_> {
            Lengths::InFile(&self.file)
        }

        fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
            None
        }

        fn demand(&self) -> Option<f64> {
            None
        }

        fn fault(&self) -> Option<&'static str> {
            None
        }
    };
}

/// The answers of [`TransferSettings`] about the field `packet`.
macro_rules! transfers_in_packets {
    () => {
        fn packet(&self) -> Option<Bytes> {
            self.packet
        }

        fn packet_mut(&mut self) -> &mut Option<Bytes> {
            &mut self.packet
        }
    };
}

pub mod capture;
pub mod constant_rate;
pub mod csv;
pub mod distribution;
pub mod flow_arrivals;
pub mod ftp;
pub mod incast;
pub mod on_off;
pub mod poisson;
pub mod registry;
pub mod request_response;
pub mod rows;
pub mod self_similar;
pub mod telnet;
pub mod until;
pub mod web;

use fairq_sched::units::{Bytes, Time};
use registry::{Context, Entry};

/// A packet that the traffic offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When it is offered; never before the previous one.
    pub time: Time,
    /// Bytes on the line.
    pub length: u32,
}

/// A source of packets.
pub trait Source: Send {
    /// The next packet; `None` means that the source has finished.
    fn next(&mut self) -> Option<Emission>;
}

/// A transfer that the traffic begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes on the line.
    pub bytes: u64,
    /// The flow's copy that carries it; by default the copy that has been idle longest.
    pub copy: Option<u32>,
    /// A number that is passed back at the end of the transfer.
    pub tag: u32,
}

/// A source of transfers, for all copies of a flow together.
pub trait Transfers: Send {
    /// When the next transfer begins; [`Time::NEVER`] if it waits for the end of another, or if the
    /// source has finished. May change with every other call.
    fn next_time(&self) -> Time;

    /// The transfer that begins now. Called as long as `next_time` is not after `now`.
    fn begin(&mut self, now: Time) -> Option<Transfer>;

    /// A transfer has ended, or was refused because no copy was idle.
    fn ended(&mut self, now: Time, tag: u32);
}

/// How a kind of traffic releases data to its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// All of it at the start: this many packets, or packets without end.
    AtStart(Option<u64>),
    /// Packets at times of its own; without a named transport they wait for acknowledgements, as a
    /// terminal session does.
    Session,
    /// Packets at times of its own; without a named transport they are sent as they come.
    Stream,
    /// Transfers, each of which is complete when all of it is acknowledged.
    Transfers,
}

/// What says how long the packets of a kind of traffic are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths<'a> {
    /// All packets have this length.
    All(Bytes),
    /// The file of this name gives the length of each packet.
    InFile(&'a str),
}

/// Implemented by the settings of every kind of traffic. No method has a default: a forgotten one
/// would be a wrong number in a result, and no message.
pub trait Traffic {
    /// How it releases data.
    fn release(&self) -> Release;

    /// How long its packets are, or the file that says it.
    fn lengths(&self) -> Lengths<'_>;

    /// The field for the bytes of a packet that the edition of a scenario fills in; `None` for
    /// settings without one.
    fn packet_mut(&mut self) -> Option<&mut Option<Bytes>>;

    /// What it asks for on average, in bit/s; `None` if it takes all that it gets.
    fn demand(&self) -> Option<f64>;

    /// Why the settings make no sense, if they do not. That a packet is from 1 B to 1 MiB is
    /// checked for all kinds.
    fn fault(&self) -> Option<&'static str>;

    /// Settings with each field given, of some hundred kbit/s: the tests of all kinds run them.
    fn example() -> Self
    where
        Self: Sized;

    /// The source of packets of a flow; an empty one for transfers.
    ///
    /// # Errors
    /// What is wrong with the file it reads.
    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String>;
}

/// Implemented by the settings of a kind of traffic that releases transfers; [`Traffic`] follows.
pub trait TransferSettings {
    /// The field for the bytes of a packet; its edition fills it in.
    fn packet(&self) -> Option<Bytes>;

    /// The field for the bytes of a packet, to be filled in.
    fn packet_mut(&mut self) -> &mut Option<Bytes>;

    /// Why the settings make no sense, if they do not.
    fn fault(&self) -> Option<&'static str>;

    /// Settings with each field given, of some hundred kbit/s.
    fn example() -> Self
    where
        Self: Sized;

    /// The source of the transfers of all copies of a flow.
    fn transfers(&self, entry: Entry) -> Box<dyn Transfers>;
}

impl<T: TransferSettings> Traffic for T {
    fn release(&self) -> Release {
        Release::Transfers
    }

    fn lengths(&self) -> Lengths<'_> {
        Lengths::All(packet(TransferSettings::packet(self)))
    }

    fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
        Some(TransferSettings::packet_mut(self))
    }

    fn demand(&self) -> Option<f64> {
        None
    }

    fn fault(&self) -> Option<&'static str> {
        TransferSettings::fault(self)
    }

    fn example() -> Self {
        TransferSettings::example()
    }

    fn source(&self, _context: Context<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Nothing))
    }
}

/// The packet source of a flow whose traffic is transfers: no packets.
pub struct Nothing;

impl Source for Nothing {
    fn next(&mut self) -> Option<Emission> {
        None
    }
}

/// The bytes of a packet of IP where neither the settings nor a scenario name them: the payload of an
/// Ethernet frame.
pub const PACKET: Bytes = Bytes(1500);

/// The bytes of a packet, `given` by the settings. The edition of a scenario fills them in; settings
/// without a scenario have [`PACKET`].
const fn packet(given: Option<Bytes>) -> Bytes {
    match given {
        Some(packet) => packet,
        None => PACKET,
    }
}
