//! Errors of a replay: one line that says where and what to do.

use fairq_link::capture::CaptureError;
use fairq_sched::facts::Need;
use fairq_text::needs;
use std::fmt;

/// Why a replay cannot begin or go on.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// No discipline was given.
    NoDiscipline,
    /// Two lanes have one name.
    NamedTwice {
        /// The name.
        discipline: String,
    },
    /// The parts of a discipline do not fit together.
    Fault {
        /// The discipline.
        discipline: String,
        /// What does not fit, and what to write instead.
        fault: String,
    },
    /// A part needs to know of packets what no capture provides.
    Unfed {
        /// The discipline.
        discipline: String,
        /// The part.
        part: &'static str,
        /// The need.
        need: Need,
    },
    /// The capture cannot be read, or not to its end.
    Capture(CaptureError),
    /// The capture has no packet.
    NoPacket {
        /// The name of the capture, as given to its reader.
        name: String,
    },
    /// No packet of the capture has an end at the user's address.
    NotThere {
        /// The name of the capture.
        name: String,
        /// The user's addresses.
        me: String,
        /// The addresses with most packets.
        hosts: String,
    },
    /// The filter keeps no packet.
    NothingKept {
        /// The name of the capture.
        name: String,
        /// The filter.
        only: String,
        /// The packets that it could have kept.
        packets: u64,
        /// The user's addresses, if they are given.
        me: Option<String>,
        /// The pairs of addresses with most packets.
        others: String,
    },
    /// Transmissions would end beyond the greatest time.
    TooLong {
        /// The discipline.
        discipline: String,
        /// The number of the packet that was next, or that arrived last.
        packet: u64,
    },
    /// A sink failed.
    Sink {
        /// The discipline.
        discipline: String,
        /// The sink's error.
        cause: std::io::Error,
    },
    /// The progress callback stopped the replay.
    Stopped,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDiscipline => f.write_str("disciplines: none is given; name at least one, like fifo"),
            Self::NamedTwice { discipline } => {
                write!(f, "disciplines: `{discipline}` is given twice; name each discipline once")
            }
            Self::Fault { discipline, fault } => write!(f, "disciplines: `{discipline}`: {fault}"),
            Self::Unfed { discipline, part, need } => {
                let what = needs::of(*need);
                write!(f, "disciplines: `{discipline}`: {part} goes by {what}, which no capture tells; ")?;
                f.write_str(needs::without(*need))
            }
            Self::Capture(error) => error.fmt(f),
            Self::NoPacket { name } => write!(f, "{name}: the capture holds no packet; give one that does"),
            Self::NotThere { name, me, hosts } if hosts.is_empty() => {
                write!(
                    f,
                    "me: {name}: no packet goes between {me} and another address, and none is of IP; give another capture"
                )
            }
            Self::NotThere { name, me, hosts } => {
                write!(f, "me: {name}: no packet goes between {me} and another address; most are of {hosts}")
            }
            Self::NothingKept { name, only, packets, me, others } => {
                let of_me = me.as_ref().map_or(String::new(), |me| format!(" to or from {me}"));
                write!(f, "only: {name}: `{only}` keeps none of the {packets} packets{of_me}; most are {others}")
            }
            Self::TooLong { discipline, packet } => write!(
                f,
                "rate: at packet {packet} `{discipline}` would send for more than 106 days; give a higher rate or a \
                 smaller buffer"
            ),
            Self::Sink { discipline, cause } => write!(f, "{discipline}: {cause}"),
            Self::Stopped => f.write_str("the replay was stopped"),
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Capture(error) => Some(error),
            Self::Sink { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

impl From<CaptureError> for ReplayError {
    fn from(error: CaptureError) -> Self {
        Self::Capture(error)
    }
}
