//! Which transports there are: the only list. From a line here follow the name in scenarios and on the command line,
//! the settings' schema and the reference page.

use super::Sender;
use super::congestion::{decbit, fixed_window, jk};
use super::estimator::Estimator;
use super::generic::{self, Generic};
use super::go_back_n::GoBackN;
use super::supply::Supply;
use super::uncontrolled::{self, Uncontrolled};
use fairq_sched::card::Card;
use fairq_sched::units::Time;

macro_rules! transports {
    ($($type:ident $settings:path = $name:literal [$($alias:literal),*] $file:literal
        $build:expr;)+) => {
        /// What a source does with what it is given to send.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "kind")]
        pub enum TransportSettings {
            $(
                #[doc = concat!("See the card of `", $name, "`.")]
                #[serde(rename = $name $(, alias = $alias)*)]
                $type($settings),
            )+
        }

        impl TransportSettings {
            /// The name in the registry.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => $name),+ }
            }

            /// The sender, with what it has to send.
            #[must_use]
            pub fn build(&self, supply: Supply) -> Box<dyn Sender> {
                match self {
                    $(Self::$type(settings) => {
                        let build: fn(&$settings, Supply) -> Box<dyn Sender> = $build;
                        build(settings, supply)
                    })+
                }
            }
        }

        /// The cards of the transports, sorted by name.
        pub const TRANSPORTS: &[Card] = &[$(
            Card { name: $name, aliases: &[$($alias),*], part: "transport", breaks: &[], source_text: include_str!($file) }
        ),+];
    };
}

transports! {
    Decbit decbit::Settings = "decbit" [] "congestion/decbit.rs" |s, supply|
        Box::new(GoBackN::new(decbit::Decbit::new(s), Estimator::new(s.timeout.clone()), supply, 0));
    FixedWindow fixed_window::Settings = "fixed_window" [] "congestion/fixed_window.rs" |s, supply|
        Box::new(GoBackN::new(fixed_window::FixedWindow::new(s), Estimator::new(s.timeout.clone()), supply, 0));
    Generic generic::Settings = "generic" [] "generic.rs" |s, supply| Box::new(Generic::new(s.clone(), supply));
    Jk jk::Settings = "jk" [] "congestion/jk.rs" |s, supply|
        Box::new(GoBackN::new(jk::Jk::new(s), Estimator::new(s.timeout.clone()), supply, s.duplicates));
    Uncontrolled uncontrolled::Settings = "uncontrolled" ["none"] "uncontrolled.rs" |_s, supply|
        Box::new(Uncontrolled::new(supply));
}

impl TransportSettings {
    /// Whether its sink keeps packets in order. One that sends nothing twice has no use for that, and packets that are
    /// lost for good would be waited for for ever.
    #[must_use]
    pub const fn is_reliable(&self) -> bool {
        !matches!(self, Self::Uncontrolled(_))
    }

    /// The most packets that may be unacknowledged; nothing without flow control.
    #[must_use]
    pub const fn window(&self) -> Option<u32> {
        match self {
            Self::Generic(s) => Some(s.window),
            Self::Jk(s) => Some(s.window_max),
            Self::Decbit(s) => Some(s.window_max),
            Self::FixedWindow(s) => Some(s.window),
            Self::Uncontrolled(_) => None,
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
        let numbers = match self {
            Self::Generic(s) => vec![("beta", s.beta, 0.0, 1e6), ("gain", s.gain, 0.0, 1.0)],
            Self::Decbit(s) => vec![
                ("increase", s.increase, 0.0, 1e6),
                ("decrease", s.decrease, 0.0, 1.0),
                ("marked_share", s.marked_share, 0.0, 1.0),
            ],
            _ => Vec::new(),
        };
        let timeout = match self {
            Self::Jk(s) => Some(&s.timeout),
            Self::Decbit(s) => Some(&s.timeout),
            Self::FixedWindow(s) => Some(&s.timeout),
            Self::Generic(_) | Self::Uncontrolled(_) => None,
        };
        let first = match self {
            Self::Generic(s) => Some(("first_timeout", s.first_timeout)),
            _ => timeout.map(|t| ("timeout.first", t.first)),
        };
        if let Some((name, Time::ZERO)) = first {
            return Some(format!("{name} is 0 s; the first timeout is above zero, like \"3 s\""));
        }
        let timeout = timeout.into_iter().flat_map(|t| {
            [
                ("timeout.gain", t.gain, 0.0, 1.0),
                ("timeout.deviation_gain", t.deviation_gain, 0.0, 1.0),
                ("timeout.deviations", t.deviations, 0.0, 1e6),
            ]
        });
        numbers
            .into_iter()
            .chain(timeout)
            .find(|(_, value, low, high)| !(*value > *low && *value <= *high))
            .map(|(name, value, low, high)| format!("{name} is {value}; it must be above {low} and at most {high}"))
    }
}
