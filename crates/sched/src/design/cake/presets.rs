//! Names for what CAKE is told of a line: overheads and round-trip times, as `tc-cake` has them.

use super::shaper::Framing;
use crate::units::Time;

/// A kind of line behind the shaper: what it adds to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Preset {
    /// Nothing: the length as the device counts it.
    Raw,
    /// 48 B in ATM cells: the most of any line.
    Conservative,
    /// ADSL: IP over ATM, VC-mux.
    IpoaVcmux,
    /// ADSL: IP over ATM, LLC.
    IpoaLlcsnap,
    /// ADSL: Ethernet over ATM, VC-mux.
    BridgedVcmux,
    /// ADSL: Ethernet over ATM, LLC.
    BridgedLlcsnap,
    /// ADSL: PPP over ATM, VC-mux.
    PppoaVcmux,
    /// ADSL: PPP over ATM, LLC.
    PppoaLlc,
    /// ADSL: PPP over Ethernet over ATM, VC-mux.
    PppoeVcmux,
    /// ADSL: PPP over Ethernet over ATM, LLC.
    PppoeLlcsnap,
    /// VDSL2: PPP over Ethernet over PTM.
    PppoePtm,
    /// VDSL2: Ethernet over PTM.
    BridgedPtm,
    /// DOCSIS cable modems.
    Docsis,
    /// Ethernet with preamble, check and gap.
    Ethernet,
}

/// What a packet has more there, what it takes at least, and how it is cut up. `None`: the length
/// counts as it is.
pub(super) type Overheads = (Option<i32>, u32, Framing);

impl Preset {
    /// The keyword's numbers (iproute2, tc/q_cake.c).
    pub(super) const fn line(self) -> Overheads {
        match self {
            Self::Raw => (None, 0, Framing::None),
            Self::Conservative => (Some(48), 0, Framing::Atm),
            Self::IpoaVcmux => (Some(8), 0, Framing::Atm),
            Self::IpoaLlcsnap => (Some(16), 0, Framing::Atm),
            Self::BridgedVcmux => (Some(24), 0, Framing::Atm),
            Self::BridgedLlcsnap => (Some(32), 0, Framing::Atm),
            Self::PppoaVcmux => (Some(10), 0, Framing::Atm),
            Self::PppoaLlc => (Some(14), 0, Framing::Atm),
            Self::PppoeVcmux => (Some(32), 0, Framing::Atm),
            Self::PppoeLlcsnap => (Some(40), 0, Framing::Atm),
            Self::PppoePtm => (Some(30), 0, Framing::Ptm),
            Self::BridgedPtm => (Some(22), 0, Framing::Ptm),
            Self::Docsis => (Some(18), 64, Framing::None),
            Self::Ethernet => (Some(38), 84, Framing::None),
        }
    }
}

/// The usual round trip of the traffic: CoDel's interval, and a twentieth of it as its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Rtt {
    /// 100 us.
    Datacentre,
    /// 1 ms.
    Lan,
    /// 10 ms.
    Metro,
    /// 30 ms.
    Regional,
    /// 100 ms.
    Internet,
    /// 300 ms.
    Oceanic,
    /// 1 s.
    Satellite,
    /// 1000 s, as tc has it; its manual says an hour.
    Interplanetary,
    /// This time.
    #[cfg_attr(feature = "schema", serde(untagged))]
    Of(Time),
}

impl Rtt {
    /// CoDel's target and interval.
    pub(super) fn times(self) -> (Time, Time) {
        let interval = match self {
            Self::Datacentre => Time(100_000_000),
            Self::Lan => Time::from_ms(1),
            Self::Metro => Time::from_ms(10),
            Self::Regional => Time::from_ms(30),
            Self::Internet => Time::from_ms(100),
            Self::Oceanic => Time::from_ms(300),
            Self::Satellite => Time::from_s(1),
            Self::Interplanetary => Time::from_s(1000),
            Self::Of(time) => time,
        };
        (Time((interval.0 / 20).max(1)), interval)
    }
}
