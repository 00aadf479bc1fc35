//! Which kinds of traffic there are: the only list. From a line here follow the name in scenarios and on the command
//! line, the settings' schema and the reference page.
//!
//! A line: `module => Type = "name" ["alias", …]`. What a kind is, its settings say: they implement
//! [`Traffic`], or [`TransferSettings`] if it releases transfers.

use super::{Lengths, Release, Source, Traffic, TransferSettings, Transfers};
use crate::transport::supply::Supply;
use fairq_link::random::Stream;
use fairq_sched::card::Card;
use fairq_sched::units::{Bytes, Time};

/// What a source is built from beside its settings.
pub struct Context<'a> {
    /// When it starts.
    pub start: Time,
    /// Its random stream.
    pub stream: Stream,
    /// The bytes of the file it names, if it names one.
    pub file: Option<&'a [u8]>,
}

/// What a source of transfers is built from beside its settings.
pub struct Entry {
    /// When each copy of the flow starts.
    pub starts: Vec<Time>,
    /// The random stream of each copy.
    pub streams: Vec<Stream>,
    /// The random stream of all together.
    pub stream: Stream,
}

impl Entry {
    /// When the first copy starts.
    #[must_use]
    pub fn start(&self) -> Time {
        self.starts.first().copied().unwrap_or(Time::NEVER)
    }
}

macro_rules! traffic {
    (
        packets { $($module:ident => $type:ident = $name:literal [$($alias:literal),*],)+ }
        transfers { $($t_module:ident => $t_type:ident = $t_name:literal [$($t_alias:literal),*],)+ }
    ) => {
        /// What is given to a transport to send, and when.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(tag = "kind"))]
        pub enum TrafficSettings {
            $(
                #[doc = concat!("See the card of `", $name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $name $(, alias = $alias)*))]
                $type(super::$module::Settings),
            )+
            $(
                #[doc = concat!("See the card of `", $t_name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $t_name $(, alias = $t_alias)*))]
                $t_type(super::$t_module::Settings),
            )+
            /// One that is written outside this tree.
            #[cfg_attr(feature = "schema", serde(rename = "own"))]
            #[cfg_attr(feature = "schema", schemars(skip))]
            Own(fairq_sched::own::Own<dyn crate::own::MakeFlow>),
        }

        impl TrafficSettings {
            /// The name in the registry.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$type(_) => $name,)+
                    $(Self::$t_type(_) => $t_name,)+
                    Self::Own(own) => own.name(),
                }
            }

            /// The example of each kind, in the order of [`TRAFFIC`].
            #[must_use]
            pub fn examples() -> Vec<Self> {
                vec![$(Self::$type(Traffic::example()),)+ $(Self::$t_type(Traffic::example()),)+]
            }

            /// The source of transfers of all copies of a flow; `None` for packets.
            #[must_use]
            pub fn build_transfers(&self, entry: Entry) -> Option<Box<dyn Transfers>> {
                match self {
                    $(Self::$type(_))|+ | Self::Own(_) => None,
                    $(Self::$t_type(settings) => Some(settings.transfers(entry)),)+
                }
            }

            /// The facts that its settings give.
            fn part(&self) -> &dyn Traffic {
                match self {
                    $(Self::$type(settings) => settings,)+
                    $(Self::$t_type(settings) => settings,)+
                    Self::Own(own) => own,
                }
            }

            fn part_mut(&mut self) -> &mut dyn Traffic {
                match self {
                    $(Self::$type(settings) => settings,)+
                    $(Self::$t_type(settings) => settings,)+
                    Self::Own(own) => own,
                }
            }
        }

        /// The cards of the kinds of traffic: those of packets, then those of transfers, each
        /// sorted by name.
        pub const TRAFFIC: &[Card] = &[
            $(card!($module $name [$($alias),*]),)+
            $(card!($t_module $t_name [$($t_alias),*]),)+
        ];
    };
}

macro_rules! card {
    ($module:ident $name:literal [$($alias:literal),*]) => {
        Card {
            name: $name,
            aliases: &[$($alias),*],
            part: "traffic",
            breaks: &[],
            comment: fairq_sched::opening!(include_str!(concat!(stringify!($module), ".rs"))),
        }
    };
}

traffic! {
    packets {
        capture => Capture = "capture" [],
        constant_rate => ConstantRate = "constant_rate" ["ill_behaved", "cbr"],
        csv => Csv = "csv" [],
        ftp => Ftp = "ftp" [],
        on_off => OnOff = "on_off" [],
        poisson => Poisson = "poisson" [],
        self_similar => SelfSimilar = "self_similar" [],
        telnet => Telnet = "telnet" [],
    }
    transfers {
        flow_arrivals => FlowArrivals = "flow_arrivals" [],
        incast => Incast = "incast" [],
        request_response => RequestResponse = "request_response" [],
        web => Web = "web" [],
    }
}

impl TrafficSettings {
    /// How it releases data to its transport.
    #[must_use]
    pub fn release(&self) -> Release {
        self.part().release()
    }

    /// What the transport has at the start.
    #[must_use]
    pub fn supply(&self) -> Supply {
        match (self.release(), self.packet()) {
            (Release::AtStart(packets), Some(length)) => {
                Supply::Ready { length: length.0 as u32, left: packets.unwrap_or(u64::MAX) }
            }
            _ => Supply::empty(),
        }
    }

    /// Whether its transport has all of it at the start, and that has no end.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        self.release() == Release::AtStart(None)
    }

    /// Whether it gives its transport packets or transfers as time goes on: not if that has all at
    /// the start.
    #[must_use]
    pub fn offers_packets(&self) -> bool {
        !matches!(self.release(), Release::AtStart(_))
    }

    /// What it asks for on average, in bit/s; `None` if it takes all that it gets.
    #[must_use]
    pub fn demand(&self) -> Option<f64> {
        self.part().demand()
    }

    /// The file it reads, if it reads one.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self.part().lengths() {
            Lengths::InFile(file) => Some(file),
            Lengths::All(_) => None,
        }
    }

    /// Bytes of a packet; `None` if a file gives the length of each.
    #[must_use]
    pub fn packet(&self) -> Option<Bytes> {
        match self.part().lengths() {
            Lengths::All(packet) => Some(packet),
            Lengths::InFile(_) => None,
        }
    }

    /// Bytes of a packet of its transfers; `None` for packets.
    #[must_use]
    pub fn transfer_packet(&self) -> Option<Bytes> {
        self.packet().filter(|_| self.release() == Release::Transfers)
    }

    /// The field for the bytes of a packet that an edition fills in; `None` for settings with a
    /// default of their own, or of a file.
    pub fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
        self.part_mut().packet_mut()
    }

    /// Why the settings make no sense, if they do not.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        let is_sound = self.packet().is_none_or(|packet| (1..=1 << 20).contains(&packet.0));
        if is_sound { self.part().fault() } else { Some("packet is at least 1 B and at most 1 MiB") }
    }

    /// The source of packets of a flow; an empty one for transfers.
    ///
    /// # Errors
    /// What is wrong with the file it reads.
    pub fn build(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        self.part().source(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edition_fills_in_the_packet_that_the_settings_give() {
        for mut traffic in TrafficSettings::examples() {
            let (name, packet) = (traffic.name(), traffic.packet());
            assert_eq!(traffic.file().is_some(), packet.is_none(), "{name}");
            let Some(given) = traffic.packet_mut() else { continue };
            assert_eq!(*given, packet, "{name}: its example gives it");
            *given = Some(Bytes(77));
            assert_eq!(traffic.packet(), Some(Bytes(77)), "{name}");
        }
    }
}
