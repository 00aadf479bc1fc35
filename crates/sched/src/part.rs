//! What the settings of a part say of it before it is built.

use crate::class_tree::{self, Place};
use crate::facts::Facts;
use crate::leaf::LeafQueue;
use crate::pool::Sharing;
use crate::promise::{Load, Measure};
use crate::queue::Queue;
use crate::units::Rate;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Implemented by the settings of every part; most need nothing of it.
pub trait Part {
    /// Why these settings make no sense, or do not fit into `queue`: one line that names the
    /// setting and says what to write instead.
    fn fault(&self, _queue: &Queue) -> Option<String> {
        None
    }

    /// Settings beside the default that take other paths: the tests of the registry and the audit
    /// run over them too.
    fn variants() -> Vec<Self>
    where
        Self: Sized,
    {
        Vec::new()
    }

    /// Of a scheduler or a whole design: the bound that its card claims for `measure` under `load`,
    /// if it claims one.
    fn promise(&self, _measure: Measure, _load: &Load<'_>) -> Option<f64> {
        None
    }

    /// What is to be known of it before it is built.
    fn facts(&self) -> Facts {
        Facts::of_tree(&self.places())
    }

    /// Of a scheduler that knows classes: those, of which flows choose a leaf by its name.
    fn places(&self) -> Vec<Place<'_>> {
        Vec::new()
    }

    /// Of a scheduler that knows classes: the leaves, in the order of its queues.
    fn leaves(&self) -> Vec<Place<'_>> {
        class_tree::leaves(&self.places())
    }

    /// The queues that its leaves name.
    fn leaf_queues(&mut self) -> Vec<&mut LeafQueue> {
        Vec::new()
    }

    /// Of a scheduler that guarantees rates: which of them exceed together what a line of `_line`
    /// has for them, and what follows.
    fn oversubscribed(&self, _line: Rate) -> Option<String> {
        None
    }

    /// Of a buffer policy that can rule a buffer which several lines share: that rule.
    fn sharing(&self) -> Option<Box<dyn Sharing>> {
        None
    }
}

/// The facts of a part that hold whatever its settings, those that are not plain.
macro_rules! facts {
    ($($fact:ident = $value:expr),+ $(,)?) => {
        fn facts(&self) -> crate::facts::Facts {
            crate::facts::Facts { $($fact: $value,)+ ..crate::facts::Facts::PLAIN }
        }
    };
}
pub(crate) use facts;

/// The queues that the classes in the setting `classes` name.
macro_rules! queues_of_classes {
    () => {
        fn leaf_queues(&mut self) -> alloc::vec::Vec<&mut crate::leaf::LeafQueue> {
            self.classes.iter_mut().filter_map(|class| class.queue.as_mut()).collect()
        }
    };
}
pub(crate) use queues_of_classes;

/// The `Settings` of a part in which nothing can be set, with what documentation and schema say.
macro_rules! no_settings {
    ($text:literal) => {
        #[doc = $text]
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
        pub struct Settings {}
    };
}
pub(crate) use no_settings;

/// A struct of settings, of which each may be left out: a field has its doc, its type and its
/// default in one place.
#[macro_export]
macro_rules! settings {
    (
        $(#[$of_all:meta])*
        pub struct $of:ident {
            $($(#[$of_one:meta])* pub $name:ident: $type:ty = $default:expr,)+
        }
    ) => {
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
        $(#[$of_all])*
        pub struct $of {
            $($(#[$of_one])* pub $name: $type,)+
        }

        impl Default for $of {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }
    };
}
pub(crate) use settings;
