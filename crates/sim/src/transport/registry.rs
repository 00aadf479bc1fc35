//! Which transports there are: the only list. From a line here follow the name in scenarios and on the command line,
//! the settings' schema and the reference page.

use super::Ends;
use super::congestion::{
    Beginning, Congestion, LawSettings, bbr, bbr3, copa, cubic, dctcp, decbit, fast, fixed_window, hstcp, htcp, hybla,
    jk, ledbat, newreno, no_part, outside, packet_pair, prague, reno, scalable, tahoe, vegas, westwood_plus,
};
use super::ecn::{self, CodePoint};
use super::estimator::{self, LEAST_TIMEOUT};
use super::fixed_rate::{self, FixedRate};
use super::generic::{self, Generic};
use super::go_back_n::GoBackN;
use super::rap::{self, Rap};
use super::receiver::{Answers, Echo, Sink};
use super::tcp::settings::Recovery;
use super::tcp::{self, Setup};
use super::tfrc::{self, Tfrc};
use super::uncontrolled::{self, Uncontrolled};
use fairq_sched::card::Card;

macro_rules! transports {
    (
        own { $($type:ident $settings:path = $name:literal [$($alias:literal),*] $file:literal $build:expr;)+ }
        laws { $($law:ident $module:ident::$make:ident = $law_name:literal [$($law_alias:literal),*] $law_file:literal $recovery:ident;)+ }
    ) => {
        /// What a source does with what it is given to send.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(tag = "kind"))]
        pub enum TransportSettings {
            $(
                #[doc = concat!("See the card of `", $name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $name $(, alias = $alias)*))]
                $type($settings),
            )+
            $(
                #[doc = concat!("See the card of `", $law_name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $law_name $(, alias = $law_alias)*))]
                $law($module::Settings),
            )+
        }

        impl TransportSettings {
            /// The name in the registry.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => $name,)+ $(Self::$law(_) => $law_name,)+ }
            }

            /// Both ends of a connection, with what it has to send.
            #[must_use]
            pub fn build(&self, setup: Setup) -> Ends {
                match self {
                    $(Self::$type(settings) => {
                        let build: fn(&$settings, Setup) -> Ends = $build;
                        build(settings, setup)
                    })+
                    $(Self::$law(_) => tcp::ends(setup),)+
                }
            }

            /// How its connection finds and mends losses if a scenario does not say; none if it has rules of its own.
            #[must_use]
            pub const fn recovery(&self) -> Option<Recovery> {
                match self { $(Self::$type(_) => None,)+ $(Self::$law(_) => Some(Recovery::$recovery),)+ }
            }

            /// The congestion control alone, without its connection.
            #[must_use]
            pub fn law(&self, beginning: &Beginning) -> Option<Box<dyn Congestion>> {
                match self {
                    $(Self::$law(settings) => Some(Box::new($module::$make::new(settings, beginning))),)+
                    _ => None,
                }
            }

            /// Why the settings of a congestion control make no sense, if they do not.
            fn law_fault(&self) -> Option<String> {
                match self { $(Self::$law(settings) => LawSettings::fault(settings),)+ _ => None }
            }

            /// Whether it is a congestion control over a connection, which has settings of its own.
            #[must_use]
            pub const fn has_connection(&self) -> bool {
                match self { $(Self::$type(_) => false,)+ $(Self::$law(_) => true,)+ }
            }
        }

        /// The cards of the transports: those with rules of their own, then the congestion
        /// controls, each sorted by name.
        pub const TRANSPORTS: &[Card] = &[
            $(Card { name: $name, aliases: &[$($alias),*], part: "transport", breaks: &[], source_text: include_str!($file) },)+
            $(Card { name: $law_name, aliases: &[$($law_alias),*], part: "transport", breaks: &[], source_text: include_str!($law_file) },)+
        ];
    };
}

transports! {
    // Transports with rules of their own.
    own {
        Decbit decbit::Settings = "decbit" [] "congestion/decbit.rs" |s, setup|
            go_back_n(decbit::Decbit::new(s), &s.timeout, 0, setup);
        FixedRate fixed_rate::Settings = "fixed_rate" [] "fixed_rate.rs" |s, setup|
            Ends { sender: Box::new(FixedRate::new(s, setup.supply)), receiver: Box::new(Echo) };
        FixedWindow fixed_window::Settings = "fixed_window" [] "congestion/fixed_window.rs" |s, setup|
            go_back_n(fixed_window::FixedWindow::new(s), &s.timeout, 0, setup);
        Generic generic::Settings = "generic" [] "generic.rs" |s, setup|
            Ends { sender: Box::new(Generic::new(s.clone(), setup.supply)), receiver: Box::new(Sink::new(Answers::to_each())) };
        Jk jk::Settings = "jk" [] "congestion/jk.rs" |s, setup| go_back_n(jk::Jk::new(s), &s.timeout, s.duplicates, setup);
        Rap rap::Settings = "rap" [] "rap.rs" |s, setup|
            Ends { sender: Box::new(Rap::new(s.clone(), setup.supply)), receiver: Box::new(rap::Answerer::default()) };
        Tfrc tfrc::Settings = "tfrc" [] "tfrc/mod.rs" |s, setup|
            Ends { sender: Box::new(Tfrc::new(s.clone(), setup.supply)), receiver: Box::new(tfrc::receiver::Reporter::new(s)) };
        Uncontrolled uncontrolled::Settings = "uncontrolled" ["none"] "uncontrolled.rs" |s, setup|
            Ends { sender: Box::new(Uncontrolled::new(s, setup.supply)), receiver: Box::new(Echo) };
    }
    // Congestion controls over a TCP connection, each with its default recovery: that of Linux,
    // `Rack`, but for the three that name their own. In edition 1 of a scenario `Rack` is `Sack`.
    laws {
        Bbr bbr::Bbr = "bbr" [] "congestion/bbr.rs" Rack;
        Bbr3 bbr3::Bbr3 = "bbr3" [] "congestion/bbr3.rs" Rack;
        Copa copa::Copa = "copa" [] "congestion/copa.rs" Rack;
        Cubic cubic::Cubic = "cubic" [] "congestion/cubic.rs" Rack;
        Dctcp dctcp::Dctcp = "dctcp" [] "congestion/dctcp.rs" Rack;
        Fast fast::Fast = "fast" [] "congestion/fast.rs" Rack;
        Hstcp hstcp::Hstcp = "hstcp" [] "congestion/hstcp.rs" Rack;
        Htcp htcp::Htcp = "htcp" [] "congestion/htcp.rs" Rack;
        Hybla hybla::Hybla = "hybla" [] "congestion/hybla.rs" Rack;
        Ledbat ledbat::Ledbat = "ledbat" [] "congestion/ledbat.rs" Rack;
        NewReno newreno::NewReno = "newreno" [] "congestion/newreno.rs" NewReno;
        PacketPair packet_pair::PacketPair = "packet_pair" [] "congestion/packet_pair.rs" Rack;
        Prague prague::Prague = "prague" [] "congestion/prague.rs" Rack;
        Reno reno::Reno = "reno" [] "congestion/reno.rs" Reno;
        Scalable scalable::Scalable = "scalable" [] "congestion/scalable.rs" Rack;
        Tahoe tahoe::Tahoe = "tahoe" [] "congestion/tahoe.rs" Tahoe;
        Vegas vegas::Vegas = "vegas" [] "congestion/vegas.rs" Rack;
        WestwoodPlus westwood_plus::WestwoodPlus = "westwood_plus" [] "congestion/westwood_plus.rs" Rack;
    }
}

/// The ends of a connection of 1990: one timer, and an answer to each packet.
fn go_back_n(
    control: impl Congestion + 'static,
    timeout: &super::estimator::Settings,
    duplicates: u32,
    setup: Setup,
) -> Ends {
    let sender = GoBackN::new(control, timeout.clone().into(), setup.supply, duplicates);
    Ends { sender: Box::new(sender), receiver: Box::new(Sink::new(Answers::to_each())) }
}

impl TransportSettings {
    /// The ECN field of the packets that it sends, new data at least.
    #[must_use]
    pub fn code_point(&self) -> CodePoint {
        match self {
            Self::FixedRate(settings) => settings.ecn,
            Self::Tfrc(settings) => settings.code_point(),
            Self::Uncontrolled(settings) => settings.ecn,
            _ => self.law(&Beginning::with_window(1.0)).map_or(CodePoint::None, |law| law.code_point()),
        }
    }

    /// Why packets under this transport cannot have the type-of-service byte `tos`, if they cannot.
    #[must_use]
    pub fn tos_fault(&self, tos: u8) -> Option<String> {
        let (given, own) = (tos & 3, self.code_point());
        if given == 0 || given == own.bits() {
            return None;
        }
        let (name, said, sent) = (self.name(), ecn::name(given), ecn::name(own.bits()));
        let other = match (self, given) {
            (Self::FixedRate(_) | Self::Uncontrolled(_) | Self::Dctcp(_), 1) => format!(" and {name}(ecn=ect1)"),
            (Self::FixedRate(_) | Self::Uncontrolled(_) | Self::Dctcp(_), 2) => format!(" and {name}(ecn=ect0)"),
            _ => String::new(),
        };
        let plain = tos - given;
        Some(format!(
            "{tos} says {said} in its two low bits, but {name} sends {sent}: these bits are the transport's; write \
             {plain}{other}"
        ))
    }

    /// Whether it keeps packets until they are acknowledged, and so waits for answers.
    #[must_use]
    pub const fn is_reliable(&self) -> bool {
        !matches!(self, Self::FixedRate(_) | Self::Rap(_) | Self::Tfrc(_) | Self::Uncontrolled(_))
    }

    /// Whether it sends all that it is given in the same instant.
    #[must_use]
    pub const fn sends_at_once(&self) -> bool {
        matches!(self, Self::Uncontrolled(_))
    }

    /// Whether the receiver must answer each packet.
    #[must_use]
    pub const fn needs_each_answer(&self) -> bool {
        matches!(self, Self::PacketPair(_))
    }

    /// The most packets that may be unacknowledged; nothing without flow control.
    #[must_use]
    pub const fn window(&self) -> Option<u32> {
        match self {
            Self::Generic(s) => Some(s.window),
            Self::Jk(s) => Some(s.window_max),
            Self::Decbit(s) => Some(s.window_max),
            Self::FixedWindow(s) => Some(s.window),
            _ => None,
        }
    }

    /// Why the settings make no sense, if they do not.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if let Some(window) = self.window()
            && !(1..=1_000_000).contains(&window)
        {
            return Some(format!("a window of {window}; it is from 1 to 1000000 packets"));
        }
        match self {
            Self::FixedRate(s) => return s.fault(),
            Self::Rap(s) => return s.fault(),
            Self::Tfrc(s) => return s.fault(),
            _ => {}
        }
        let numbers = match self {
            Self::Generic(s) => vec![("beta", s.beta, 0.01, 1e6), ("gain", s.gain, 0.0, 1.0)],
            Self::Decbit(s) => vec![("increase", s.increase, 0.0, 1e6), ("marked_share", s.marked_share, 0.0, 1.0)],
            _ => Vec::new(),
        };
        let timeout = match self {
            Self::Jk(s) => Some(&s.timeout),
            Self::Decbit(s) => Some(&s.timeout),
            Self::FixedWindow(s) => Some(&s.timeout),
            _ => None,
        };
        let first = match self {
            Self::Generic(s) => Some(("first_timeout", s.first_timeout)),
            _ => timeout.map(|t| ("timeout.first", t.first)),
        };
        if let Some((name, first)) = first.filter(|(_, first)| *first < LEAST_TIMEOUT) {
            return Some(format!("{name} is {first}; the first timeout is at least {LEAST_TIMEOUT}, like \"3 s\""));
        }
        if let Some(fault) = timeout.and_then(estimator::Settings::fault) {
            return Some(fault);
        }
        let timeout = timeout.into_iter().flat_map(|t| {
            [
                ("timeout.gain", t.gain, 0.0, 1.0),
                ("timeout.deviation_gain", t.deviation_gain, 0.0, 1.0),
                ("timeout.deviations", t.deviations, 0.0, 1e6),
            ]
        });
        let part = if let Self::Decbit(s) = self { no_part(&[("decrease", s.decrease)]) } else { None };
        part.or_else(|| outside(&numbers.into_iter().chain(timeout).collect::<Vec<_>>())).or_else(|| self.law_fault())
    }
}
