//! A constant pace: each packet that the traffic offers is sent once, no faster than at a fixed
//! rate.
//!
//! Use when: a source must not react to the network: a flood, a call, a yardstick. For the
//! traffic's own times use `uncontrolled`; for a stream that makes room for TCP, `tfrc`.
//! Source: none needed; a source that reacts to nothing is the reference for all that do.
//! Chosen: a packet that finds the pace free is sent at once. From then on each packet is sent when
//! the one before it would have left a line of that rate. The time is computed from the bits since
//! then, so that rounding does not add up. Nothing is sent again. Packets are Not-ECT;
//! `ecn = "ect0"` or `"ect1"` lets queues mark them, which changes nothing of what is sent.
//! Cost: O(1) a packet.
//! Bound: in any time t it sends at most rate · t and one packet
//! (closed_form_paced.rs: a_fixed_rate_is_kept_to_the_picosecond).

use super::ecn::{Accepts, CodePoint};
use super::messages::{Acknowledgement, Transmission};
use super::receiver::Echo;
use super::supply::Supply;
use super::{Ends, Sender, Transport};
use fairq_sched::service::{Service, Transmitter};
use fairq_sched::units::{Rate, Time};

settings! {
    /// The pace.
    pub struct Settings {
        /// Bits a second.
        pub rate: Rate = ONE_MEGABIT,
        /// The ECN field of its packets: `none`, `ect0` or `ect1`. Marked packets change nothing of
        /// what it sends.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "CodePoint::is_none"))]
        pub ecn: CodePoint = CodePoint::None,
    }
}

impl Transport for Settings {
    fn build(&self, supply: Supply) -> Ends {
        Ends { sender: Box::new(FixedRate::new(self, supply)), receiver: Box::new(Echo) }
    }

    answers!(self: AtFixedRate, window None, code_point self.ecn);

    fn names_code_point(&self) -> bool {
        true
    }

    fn fault(&self) -> Option<String> {
        None
    }
}

/// Sends at its pace.
pub struct FixedRate {
    ecn: CodePoint,
    supply: Supply,
    next: u64,
    pace: Transmitter,
    /// The earliest time of the next packet.
    not_before: Time,
}

impl FixedRate {
    /// A sender that has sent nothing yet.
    #[must_use]
    pub fn new(settings: &Settings, supply: Supply) -> Self {
        Self { ecn: settings.ecn, supply, next: 0, pace: Transmitter::new(settings.rate), not_before: Time::ZERO }
    }
}

impl Sender for FixedRate {
    fn supply(&mut self) -> &mut Supply {
        &mut self.supply
    }

    fn poll(&mut self, now: Time) -> Option<Transmission> {
        if now < self.not_before {
            return None;
        }
        let length = self.supply.take()?;
        if now > self.not_before || self.next == 0 {
            self.pace.begin(now);
        }
        self.not_before = self.pace.send(u64::from(length) * 8);
        self.next += 1;
        Some(Transmission::new(self.next - 1, length))
    }

    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        Some(now - ack.sent)
    }

    fn deadline(&self) -> Time {
        if self.supply.is_empty() { Time::NEVER } else { self.not_before }
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

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("rate_bit_per_s", self.pace.rate().bit_per_s() as f64);
    }
}

/// A round number.
const ONE_MEGABIT: Rate = match Rate::new(1_000_000) {
    Some(rate) => rate,
    None => Rate::MAX,
};
