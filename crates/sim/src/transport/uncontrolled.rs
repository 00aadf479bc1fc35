//! No flow control: each packet that the traffic offers is sent at once, once. The ill-behaved
//! source of the paper.
//!
//! Use when: packets should go as the traffic has them: calls, captures, the ill-behaved source of
//! 1990. For a ceiling on the rate use `fixed_rate`; for retransmissions use `reno` or `cubic`.
//! Source: Demers, Keshav and Shenker 1990 (Simulations, scenario 3).
//! Chosen: packets are Not-ECT; `ecn = "ect0"` or `"ect1"` lets queues mark them, which changes
//! nothing of what is sent.
//! Cost: O(1) a packet.
//! Bound: none; it sends as fast as its traffic.

use super::ecn::{Accepts, CodePoint};
use super::messages::{Acknowledgement, Transmission};
use super::receiver::Echo;
use super::supply::Supply;
use super::{Ends, Sender, Transport};
use fairq_sched::units::Time;

/// The ECN field of its packets.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// The ECN field of its packets: `none`, `ect0` or `ect1`. Marked packets change nothing of
    /// what it sends.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "CodePoint::is_none"))]
    pub ecn: CodePoint,
}

impl Transport for Settings {
    fn build(&self, supply: Supply) -> Ends {
        Ends { sender: Box::new(Uncontrolled::new(self, supply)), receiver: Box::new(Echo) }
    }

    answers!(self: AtOnce, window None, code_point self.ecn);

    fn names_code_point(&self) -> bool {
        true
    }

    fn fault(&self) -> Option<String> {
        None
    }
}

/// Sends each packet as it is offered.
pub struct Uncontrolled {
    ecn: CodePoint,
    supply: Supply,
    next: u64,
}

impl Uncontrolled {
    /// A sender that has sent nothing yet.
    #[must_use]
    pub const fn new(settings: &Settings, supply: Supply) -> Self {
        Self { ecn: settings.ecn, supply, next: 0 }
    }
}

impl Sender for Uncontrolled {
    fn supply(&mut self) -> &mut Supply {
        &mut self.supply
    }

    fn poll(&mut self, _now: Time) -> Option<Transmission> {
        let length = self.supply.take()?;
        let sequence = self.next;
        self.next += 1;
        Some(Transmission::new(sequence, length))
    }

    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        Some(now - ack.sent)
    }

    fn deadline(&self) -> Time {
        Time::NEVER
    }

    fn wake(&mut self, _now: Time) -> bool {
        false
    }

    fn accepts(&self) -> Accepts {
        Accepts::all(self.ecn.field().accepts())
    }

    fn phase(&self) -> Option<&'static str> {
        None
    }
}
