//! The policies: the only list. From a line here follow the name in a text, the settings' schema
//! and the tests over all policies.
//!
//! A line: `module => Type = "name" ["alias", …]`.

use super::amount::Unit;
use super::policy::Policy;
use crate::card::Card;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Implemented by the settings of every policy; most need nothing of it.
pub trait PolicyPart {
    /// Why these settings make no sense: one line that names the setting and says what to write
    /// instead.
    fn fault(&self) -> Option<String> {
        None
    }

    /// The same settings in whole steps of cost.
    #[must_use]
    fn in_steps(&self, _unit: Unit) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }

    /// Settings beside the default that take other paths: the tests over all policies run over them
    /// too.
    fn variants() -> Vec<Self>
    where
        Self: Sized,
    {
        Vec::new()
    }
}

/// Expands the list.
macro_rules! policies {
    ($($module:ident => $type:ident = $name:literal [$($alias:literal),*]),+ $(,)?) => {
        /// In which order do the items of tenants start?
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(tag = "kind"))]
        pub enum PolicySettings {
            $(
                #[doc = concat!("See the card of `", $name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $name $(, alias = $alias)*))]
                $type(super::policies::$module::Settings),
            )+
        }

        impl PolicySettings {
            /// The name in the list.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => $name,)+ }
            }

            /// The policy of `name` (or alias) with its default settings.
            #[must_use]
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($name $(| $alias)* => Some(Self::$type(Default::default())),)+
                    _ => None,
                }
            }

            /// The policy of `name` with its default settings, and with each of the settings that
            /// take another path.
            #[must_use]
            pub fn variants(name: &str) -> Vec<Self> {
                match name {
                    $($name $(| $alias)* => core::iter::once(Default::default())
                        .chain(<super::policies::$module::Settings as PolicyPart>::variants())
                        .map(Self::$type)
                        .collect(),)+
                    _ => Vec::new(),
                }
            }

            /// Why the settings make no sense; `None` if they do.
            #[must_use]
            pub fn fault(&self) -> Option<String> {
                match self { $(Self::$type(settings) => settings.fault(),)+ }
            }

            /// The same settings for a dispatcher whose costs are counted in the steps of `unit`.
            #[must_use]
            pub fn in_steps(&self, unit: Unit) -> Self {
                match self { $(Self::$type(settings) => Self::$type(settings.in_steps(unit)),)+ }
            }

            /// The policy, for [`Dispatcher::with_policy`](super::Dispatcher::with_policy).
            #[must_use]
            pub fn build(&self) -> Box<dyn Policy> {
                match self { $(Self::$type(settings) => Box::new(super::policies::$module::$type::new(settings)),)+ }
            }
        }

        /// The cards of the policies, sorted by name.
        pub const POLICIES: &[Card] = &[$(
            Card {
                name: $name,
                aliases: &[$($alias),*],
                part: "policy",
                breaks: &[],
                comment: crate::opening!(include_str!(concat!("policies/", stringify!($module), ".rs"))),
            }
        ),+];
    };
}

policies! {
    apf => Apf = "apf" ["priority_and_fairness"],
    drr => Drr = "drr" ["deficit_round_robin"],
    fcfs => Fcfs = "fcfs" ["fifo"],
    max_in_flight => MaxInFlight = "max_in_flight" [],
    round_robin => RoundRobin = "round_robin" ["rr"],
    sfq_d => SfqD = "sfq_d" ["sfq", "start_time_fq"],
    strict_priority => StrictPriority = "strict_priority" ["priority"],
    vtc => Vtc = "vtc" ["virtual_token_counter"],
    wfq => Wfq = "wfq" ["scfq"],
}
