//! Editions: what a scenario has where it says nothing. All defaults that differ by edition stand here, and nowhere else.
//!
//! A default that is changed in place would change the numbers of scenarios that exist. A new one comes with a new
//! edition instead; a scenario that names its edition keeps the defaults of that. Why: `docs/design/editions.md`.

use super::Scenario;
use crate::traffic::registry::TrafficSettings;
use crate::transport::congestion::reno;
use crate::transport::generic;
use crate::transport::registry::TransportSettings;
use crate::transport::uncontrolled;
use fairq_sched::units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// A set of defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edition {
    /// Those of the paper of 1990.
    One,
    /// Those that a reader of today expects.
    Two,
}

impl Edition {
    /// That of a scenario without the field.
    pub const LATEST: Self = Self::Two;

    /// All, the oldest first.
    pub const ALL: [Self; 2] = [Self::One, Self::Two];

    /// As a scenario writes it.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// Bytes of a packet of IP, for traffic and sessions that do not say.
    #[must_use]
    pub const fn packet(self) -> Bytes {
        match self {
            Self::One | Self::Two => Bytes(1000),
        }
    }

    /// Bytes of an acknowledgement without `defaults.acknowledgement`.
    #[must_use]
    pub const fn acknowledgement(self) -> Bytes {
        match self {
            // A TCP/IP header, as in the paper of 1990.
            Self::One | Self::Two => Bytes(40),
        }
    }

    /// The transport of a flow for which neither the flow nor `defaults` name one.
    #[must_use]
    pub fn transport(self, traffic: &TrafficSettings) -> TransportSettings {
        match traffic {
            TrafficSettings::Capture(_)
            | TrafficSettings::ConstantRate(_)
            | TrafficSettings::Csv(_)
            | TrafficSettings::OnOff(_)
            | TrafficSettings::Poisson(_)
            | TrafficSettings::SelfSimilar(_) => TransportSettings::Uncontrolled(uncontrolled::Settings::default()),
            TrafficSettings::Ftp(_) | TrafficSettings::Telnet(_) => match self {
                Self::One | Self::Two => TransportSettings::Generic(generic::Settings::default()),
            },
            TrafficSettings::FlowArrivals(_)
            | TrafficSettings::Incast(_)
            | TrafficSettings::RequestResponse(_)
            | TrafficSettings::Web(_) => match self {
                Self::One | Self::Two => TransportSettings::Reno(reno::Settings::default()),
            },
        }
    }
}

impl Scenario {
    /// The edition whose defaults it has.
    #[must_use]
    pub fn edition(&self) -> Edition {
        self.edition.unwrap_or(Edition::LATEST)
    }

    /// Names the edition, and what that gives where the scenario says nothing and one value stands for all.
    pub(super) fn resolve(&mut self) {
        let edition = *self.edition.get_or_insert(Edition::LATEST);
        self.defaults.acknowledgement.get_or_insert(edition.acknowledgement());
        for packet in self.flows.iter_mut().filter_map(|flow| flow.traffic.0.packet_mut()) {
            packet.get_or_insert(edition.packet());
        }
        for session in &mut self.sessions {
            session.packet.get_or_insert(edition.packet());
        }
    }
}

impl Serialize for Edition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

impl<'de> Deserialize<'de> for Edition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|edition| given == u64::from(edition.number()));
        found.ok_or_else(|| {
            D::Error::custom(match given.as_str().map(str::trim) {
                Some(number @ ("1" | "2")) => {
                    format!("an edition is a number; write edition = {number}, not `{given}`")
                }
                _ => format!("an edition is 1 or 2; write edition = 2, or 1 for the defaults of 1990, not `{given}`"),
            })
        })
    }
}

impl JsonSchema for Edition {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Edition")
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "enum": [1, 2] })
    }
}
