//! Which kinds of traffic there are: the only list. From a line here follow the name in scenarios and on the command
//! line, the settings' schema and the reference page.

use super::constant_rate::ConstantRate;
use super::flow_arrivals::FlowArrivals;
use super::ftp::Ftp;
use super::incast::Incast;
use super::on_off::OnOff;
use super::request_response::RequestResponse;
use super::self_similar::SelfSimilar;
use super::telnet::Telnet;
use super::web::Web;
use super::{Nothing, Source, Transfers, packet};
use super::{capture, constant_rate, csv, flow_arrivals, ftp, incast, on_off, poisson};
use super::{request_response, self_similar, telnet, web};
use crate::engine::random::Stream;
use crate::transport::supply::Supply;
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
    fn start(&self) -> Time {
        self.starts.first().copied().unwrap_or(Time::NEVER)
    }
}

macro_rules! traffic {
    (
        packets { $($type:ident $settings:path = $name:literal [$($alias:literal),*] $file:literal $build:expr;)+ }
        transfers { $($t_type:ident $t_settings:path = $t_name:literal $t_file:literal $t_build:expr;)+ }
    ) => {
        /// What is given to a transport to send, and when.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(tag = "kind"))]
        pub enum TrafficSettings {
            $(
                #[doc = concat!("See the card of `", $name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $name $(, alias = $alias)*))]
                $type($settings),
            )+
            $(
                #[doc = concat!("See the card of `", $t_name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $t_name))]
                $t_type($t_settings),
            )+
        }

        impl TrafficSettings {
            /// The name in the registry.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => $name,)+ $(Self::$t_type(_) => $t_name,)+ }
            }

            /// The source of packets of a flow; empty for transfers.
            ///
            /// # Errors
            /// What is wrong with the file it reads.
            pub fn build(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
                match self {
                    $(Self::$type(settings) => {
                        let build: fn(&$settings, Context<'_>) -> Result<Box<dyn Source>, String> = $build;
                        build(settings, context)
                    })+
                    $(Self::$t_type(_))|+ => Ok(Box::new(Nothing)),
                }
            }

            /// The source of transfers of all copies of a flow; none for packets.
            #[must_use]
            pub fn build_transfers(&self, entry: Entry) -> Option<Box<dyn Transfers>> {
                match self {
                    $(Self::$type(_))|+ => None,
                    $(Self::$t_type(settings) => {
                        let build: fn(&$t_settings, Entry) -> Box<dyn Transfers> = $t_build;
                        Some(build(settings, entry))
                    })+
                }
            }

            /// Bytes of a packet of its transfers; none for packets.
            #[must_use]
            pub const fn transfer_packet(&self) -> Option<Bytes> {
                match self {
                    $(Self::$type(_))|+ => None,
                    $(Self::$t_type(settings) => Some(packet(settings.packet)),)+
                }
            }
        }

        /// The cards of the kinds of traffic: those of packets, then those of transfers.
        pub const TRAFFIC: &[Card] = &[
            $(Card { name: $name, aliases: &[$($alias),*], part: "traffic", breaks: &[], source_text: include_str!($file) },)+
            $(Card { name: $t_name, aliases: &[], part: "traffic", breaks: &[], source_text: include_str!($t_file) },)+
        ];
    };
}

traffic! {
packets {
    Capture capture::Settings = "capture" [] "capture.rs" |s, context| {
        let bytes = context.file.unwrap_or_default();
        let source = capture::Recorded::new(s, bytes, context.start).map_err(|e| e.to_string())?;
        Ok(Box::new(source))
    };
    ConstantRate constant_rate::Settings = "constant_rate" ["ill_behaved", "cbr"] "constant_rate.rs" |s, context|
        Ok(Box::new(ConstantRate::new(s, context.start, context.stream)));
    Csv csv::Settings = "csv" [] "csv.rs" |s, context|
        Ok(Box::new(csv::Listed::new(s, context.file.unwrap_or_default(), context.start)?));
    Ftp ftp::Settings = "ftp" [] "ftp.rs" |s, context| Ok(Box::new(Ftp::new(s, context.start)));
    OnOff on_off::Settings = "on_off" [] "on_off.rs" |s, context|
        Ok(Box::new(OnOff::new(s, context.start, context.stream)));
    Poisson poisson::Settings = "poisson" [] "poisson.rs" |s, context|
        Ok(Box::new(poisson::source(s, context.start, context.stream)));
    SelfSimilar self_similar::Settings = "self_similar" [] "self_similar.rs" |s, context|
        Ok(Box::new(SelfSimilar::new(s, context.start, context.stream)));
    Telnet telnet::Settings = "telnet" [] "telnet.rs" |s, context|
        Ok(Box::new(Telnet::new(s, context.start, context.stream)));
}
transfers {
    FlowArrivals flow_arrivals::Settings = "flow_arrivals" "flow_arrivals.rs" |s, entry| {
        let start = entry.start();
        Box::new(FlowArrivals::new(s, start, entry.stream))
    };
    Incast incast::Settings = "incast" "incast.rs" |s, entry| {
        let (start, copies) = (entry.start(), entry.starts.len() as u32);
        Box::new(Incast::new(s, copies, start, entry.stream))
    };
    RequestResponse request_response::Settings = "request_response" "request_response.rs" |s, entry|
        Box::new(RequestResponse::new(s, &entry.starts, entry.streams));
    Web web::Settings = "web" "web.rs" |s, entry| {
        let start = entry.start();
        Box::new(Web::new(s, start, entry.stream))
    };
}
}

impl TrafficSettings {
    /// What the transport has at the start.
    #[must_use]
    pub fn supply(&self) -> Supply {
        match self {
            Self::Ftp(s) => Supply::Ready { length: packet(s.packet).0 as u32, left: s.packets.unwrap_or(u64::MAX) },
            _ => Supply::empty(),
        }
    }

    /// Whether it gives its transport packets one by one: not if that has all at the start.
    #[must_use]
    pub const fn offers_packets(&self) -> bool {
        !matches!(self, Self::Ftp(_))
    }

    /// The file it reads, if it reads one.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Capture(s) => Some(&s.file),
            Self::Csv(s) => Some(&s.file),
            _ => None,
        }
    }

    /// Bytes of a packet; none if a file says those of each.
    #[must_use]
    pub const fn packet(&self) -> Option<Bytes> {
        match self {
            Self::Ftp(s) => Some(packet(s.packet)),
            Self::Telnet(s) => Some(s.packet),
            Self::Poisson(s) => Some(packet(s.packet)),
            Self::ConstantRate(s) => Some(packet(s.packet)),
            Self::OnOff(s) => Some(s.packet),
            Self::SelfSimilar(s) => Some(packet(s.packet)),
            Self::Capture(_) | Self::Csv(_) => None,
            _ => self.transfer_packet(),
        }
    }

    /// Where the settings say the bytes of a packet; none if they have a default of their own, or if a file says them.
    pub const fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
        match self {
            Self::Ftp(s) => Some(&mut s.packet),
            Self::Poisson(s) => Some(&mut s.packet),
            Self::ConstantRate(s) => Some(&mut s.packet),
            Self::SelfSimilar(s) => Some(&mut s.packet),
            Self::FlowArrivals(s) => Some(&mut s.packet),
            Self::Incast(s) => Some(&mut s.packet),
            Self::RequestResponse(s) => Some(&mut s.packet),
            Self::Web(s) => Some(&mut s.packet),
            Self::Capture(_) | Self::Csv(_) | Self::OnOff(_) | Self::Telnet(_) => None,
        }
    }

    /// Why the settings make no sense, if they do not.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        match self {
            _ if self.packet().is_some_and(|packet| packet.0 == 0 || packet.0 > 1 << 20) => {
                Some("packet is at least 1 B and at most 1 MiB")
            }
            Self::Telnet(s) if s.mean_gap == Time::ZERO => Some("mean_gap is above zero"),
            Self::ConstantRate(s) if !(0.0..=1.0).contains(&s.jitter) => Some("jitter is from 0 to 1"),
            Self::OnOff(s) => s.fault(),
            Self::SelfSimilar(s) => s.fault(),
            Self::FlowArrivals(s) => s.fault(),
            Self::Incast(s) => s.fault(),
            Self::RequestResponse(s) => s.fault(),
            Self::Web(s) => s.fault(),
            _ => None,
        }
    }
}
