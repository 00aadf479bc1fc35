//! Which ways there are to choose layers: the only list. From a line here follow the name in
//! scenarios and on the command line, the settings' schema and the reference page.
//!
//! A line: `module => Type = "name" ["alias", …]`. What a receiver is, its settings say: they
//! implement [`ReceiverSettings`].

use super::{Beginning, Control, ReceiverSettings, source};
use fairq_sched::card::Card;

macro_rules! receivers {
    ($($module:ident => $type:ident = $name:literal [$($alias:literal),*],)+) => {
        /// Which receiver.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(tag = "kind"))]
        pub enum ControlSettings {
            $(
                #[doc = concat!("See the card of `", $name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $name $(, alias = $alias)*))]
                $type(super::$module::Settings),
            )+
        }

        impl ControlSettings {
            /// The name in the registry.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => $name,)+ }
            }

            /// The facts that its settings give.
            fn part(&self) -> &dyn ReceiverSettings {
                match self { $(Self::$type(settings) => settings,)+ }
            }
        }

        /// The cards of the receivers, sorted by name.
        pub const RECEIVERS: &[Card] = &[$(
            Card {
                name: $name,
                aliases: &[$($alias),*],
                part: "receiver",
                breaks: &[],
                comment: fairq_sched::opening!(include_str!(concat!(stringify!($module), ".rs"))),
            },
        )+];
    };
}

receivers! {
    plm => Plm = "plm" [],
    rlc => Rlc = "rlc" [],
    rlm => Rlm = "rlm" [],
}

impl ControlSettings {
    /// A receiver that has just joined the lowest layer.
    #[must_use]
    pub fn build(&self, beginning: Beginning) -> Box<dyn Control> {
        self.part().control(beginning)
    }

    /// Why the settings make no sense with a source that sends as `source` says, if they do not.
    #[must_use]
    pub fn fault(&self, source: &source::Settings) -> Option<String> {
        self.part().fault(source)
    }
}
