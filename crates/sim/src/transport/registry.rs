//! Which transports there are: the only list. From a line here follow the name in scenarios and on the command line,
//! the settings' schema and the reference page.
//!
//! A line: `module => Type = "name" ["alias", …]`. What a transport is, its settings say: they
//! implement [`Transport`], or [`LawSettings`] if it is a congestion control over a TCP connection.
//! The line of a congestion control says too how its connection recovers from losses if a scenario
//! does not: as Linux does, `Rack`, unless it is older. In edition 1 of a scenario `Rack` is
//! `Sack`.

use super::congestion::{Beginning, Congestion, LawSettings};
use super::ecn::CodePoint;
use super::tcp::settings::Recovery;
use super::tcp::{self, Setup};
use super::{Delivery, Ends, Transport};
use fairq_link::ecn::Field;
use fairq_sched::card::Card;
use fairq_sched::own::Place;

macro_rules! transports {
    (
        own { $($module:ident => $type:ident = $name:literal [$($alias:literal),*],)+ }
        laws { $($law_module:ident => $law:ident = $law_name:literal [$($law_alias:literal),*] recovers $recovery:ident,)+ }
    ) => {
        /// What a source does with what it is given to send.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(tag = "kind"))]
        pub enum TransportSettings {
            $(
                #[doc = concat!("See the card of `", $name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $name $(, alias = $alias)*))]
                $type(super::$module::Settings),
            )+
            $(
                #[doc = concat!("See the card of `", $law_name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $law_name $(, alias = $law_alias)*))]
                $law(super::congestion::$law_module::Settings),
            )+
            /// One that is written outside this tree.
            #[cfg_attr(feature = "schema", serde(rename = "own"))]
            #[cfg_attr(feature = "schema", schemars(skip))]
            Own(fairq_sched::own::Own<dyn crate::own::MakeFlow>),
        }

        impl TransportSettings {
            /// The name in the registry.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$type(_) => $name,)+
                    $(Self::$law(_) => $law_name,)+
                    Self::Own(own) => own.name(),
                }
            }

            /// How its connection finds and mends losses if a scenario does not say; `None` if it
            /// has rules of its own.
            #[must_use]
            pub const fn recovery(&self) -> Option<Recovery> {
                match self {
                    $(Self::$type(_))|+ => None,
                    $(Self::$law(_) => Some(Recovery::$recovery),)+
                    Self::Own(_) => Some(Recovery::Rack),
                }
            }

            /// The facts that its settings give.
            fn part(&self) -> Part<'_> {
                match self {
                    $(Self::$type(settings) => Part::Own(settings),)+
                    $(Self::$law(settings) => Part::Law(settings),)+
                    Self::Own(own) => Part::Law(own),
                }
            }

            /// The congestion control alone, without its connection; `None` for a transport with
            /// rules of its own.
            #[must_use]
            pub fn law(&self, beginning: &Beginning) -> Option<Box<dyn Congestion>> {
                Some(match self {
                    $(Self::$type(_))|+ => return None,
                    $(Self::$law(settings) => {
                        Box::new(super::congestion::$law_module::$law::new(settings, beginning))
                    })+
                    Self::Own(own) => own.built(Place::Transport, |make| make.control(beginning)),
                })
            }
        }

        /// The cards of the transports: those with rules of their own, then the congestion
        /// controls, each sorted by name.
        pub const TRANSPORTS: &[Card] = &[
            $(card!($name [$($alias),*] concat!(stringify!($module), ".rs")),)+
            $(card!($law_name [$($law_alias),*] concat!("congestion/", stringify!($law_module), ".rs")),)+
        ];
    };
}

/// What implements the facts of settings.
enum Part<'a> {
    /// A transport with rules of its own.
    Own(&'a dyn Transport),
    /// A congestion control over a TCP connection.
    Law(&'a dyn LawSettings),
}

macro_rules! card {
    ($name:literal [$($alias:literal),*] $file:expr) => {
        Card { name: $name, aliases: &[$($alias),*], part: "transport", breaks: &[], comment: fairq_sched::opening!(include_str!($file)) }
    };
}

transports! {
    // Transports with rules of their own.
    own {
        decbit => Decbit = "decbit" [],
        fixed_rate => FixedRate = "fixed_rate" [],
        fixed_window => FixedWindow = "fixed_window" [],
        generic => Generic = "generic" [],
        jk => Jk = "jk" [],
        rap => Rap = "rap" [],
        tfrc => Tfrc = "tfrc" [],
        uncontrolled => Uncontrolled = "uncontrolled" ["none"],
    }
    // Congestion controls over a TCP connection.
    laws {
        bbr => Bbr = "bbr" [] recovers Rack,
        bbr3 => Bbr3 = "bbr3" [] recovers Rack,
        copa => Copa = "copa" [] recovers Rack,
        cubic => Cubic = "cubic" [] recovers Rack,
        dctcp => Dctcp = "dctcp" [] recovers Rack,
        fast => Fast = "fast" [] recovers Rack,
        hstcp => Hstcp = "hstcp" [] recovers Rack,
        htcp => Htcp = "htcp" [] recovers Rack,
        hybla => Hybla = "hybla" [] recovers Rack,
        ledbat => Ledbat = "ledbat" [] recovers Rack,
        newreno => NewReno = "newreno" [] recovers NewReno,
        packet_pair => PacketPair = "packet_pair" [] recovers Rack,
        prague => Prague = "prague" [] recovers Rack,
        reno => Reno = "reno" [] recovers Reno,
        scalable => Scalable = "scalable" [] recovers Rack,
        tahoe => Tahoe = "tahoe" [] recovers Tahoe,
        vegas => Vegas = "vegas" [] recovers Rack,
        westwood_plus => WestwoodPlus = "westwood_plus" [] recovers Rack,
    }
}

impl TransportSettings {
    /// Both ends of a connection, with what it has to send.
    #[must_use]
    pub fn build(&self, setup: Setup) -> Ends {
        match self.part() {
            Part::Own(part) => part.build(setup.supply),
            Part::Law(_) => tcp::ends(setup),
        }
    }

    /// Whether it is a congestion control over a connection, which has settings of its own.
    #[must_use]
    pub fn has_connection(&self) -> bool {
        matches!(self.part(), Part::Law(_))
    }

    /// Whether the formulas of Mathis and of Padhye describe its rate.
    #[must_use]
    pub fn keeps_to_tcp_formulas(&self) -> bool {
        matches!(self.part(), Part::Law(part) if part.keeps_to_tcp_formulas())
    }

    /// How it delivers the data that it is given.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        match self.part() {
            Part::Own(part) => part.delivery(),
            Part::Law(_) => Delivery::Reliable,
        }
    }

    /// Whether it keeps packets until they are acknowledged, and so waits for answers.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.delivery() == Delivery::Reliable
    }

    /// Whether it sends all that it is given in the same instant.
    #[must_use]
    pub fn sends_at_once(&self) -> bool {
        self.delivery() == Delivery::AtOnce
    }

    /// Whether an answer changes what it sends.
    #[must_use]
    pub fn heeds_answers(&self) -> bool {
        !matches!(self.delivery(), Delivery::AtOnce | Delivery::AtFixedRate)
    }

    /// Whether the receiver must answer each packet: a congestion control that goes by pairs
    /// measures the gaps of their answers.
    #[must_use]
    pub fn needs_each_answer(&self) -> bool {
        self.law(&Beginning::with_window(1.0)).is_some_and(|law| law.wants_pairs().is_some())
    }

    /// The most packets that may be unacknowledged; `None` without flow control of its own.
    #[must_use]
    pub fn window(&self) -> Option<u32> {
        match self.part() {
            Part::Own(part) => part.window(),
            Part::Law(_) => None,
        }
    }

    /// The ECN field of the packets that it sends, new data at least.
    #[must_use]
    pub fn code_point(&self) -> CodePoint {
        match self.part() {
            Part::Own(part) => part.code_point(),
            Part::Law(_) => self.law(&Beginning::with_window(1.0)).map_or(CodePoint::None, |law| law.code_point()),
        }
    }

    /// Why packets under this transport cannot have the type-of-service byte `tos`, if they cannot.
    #[must_use]
    pub fn tos_fault(&self, tos: u8) -> Option<String> {
        let (given, own) = (Field::of(tos), self.code_point().field());
        if given == Field::NotEct || given == own {
            return None;
        }
        let (name, said, sent) = (self.name(), given.name(), own.name());
        let names_code_point = match self.part() {
            Part::Own(part) => part.names_code_point(),
            Part::Law(part) => part.names_code_point(),
        };
        let other = match given {
            Field::Ect1 if names_code_point => format!(" and {name}(ecn=ect1)"),
            Field::Ect0 if names_code_point => format!(" and {name}(ecn=ect0)"),
            _ => String::new(),
        };
        let plain = tos - given.bits();
        Some(format!(
            "{tos} says {said} in its two low bits, but {name} sends {sent}: these bits are the transport's; write \
             {plain}{other}"
        ))
    }

    /// Why the settings make no sense, if they do not.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        match self.window() {
            Some(window) if !(1..=1_000_000).contains(&window) => {
                Some(format!("a window of {window}; it is from 1 to 1000000 packets"))
            }
            _ => match self.part() {
                Part::Own(part) => part.fault(),
                Part::Law(part) => part.fault(),
            },
        }
    }
}
