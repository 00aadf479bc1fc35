//! Parts that are written outside this tree: a scheduler, a buffer policy or a whole design by a
//! name of its own, with settings that a scenario writes as those of any other part.
//!
//! [`OwnPart`] is the part before it is built: its name, its settings, its version. What it makes
//! of the values of the settings is an [`Arc`] of [`MakeQueue`], which builds once a line. The list
//! of such parts is an argument wherever text is read: there is no global list.

use crate::card;
use crate::contract::{BufferPolicy, Discipline, Line, Scheduler};
use crate::facts::Facts;
use crate::invariant::Told;
use crate::part::Part;
use crate::queue::Queue;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// The `kind` of an own part in a table: `{kind = "own", name = "mine", settings = {k = 3}}`.
pub const KIND: &str = "own";

/// Which question an own part answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Which queue sends next?
    Scheduler,
    /// Which packet is dropped when space is short?
    Buffer,
    /// All questions of a queue.
    Design,
    /// How much may be in flight?
    Transport,
    /// What is sent, and when?
    Traffic,
}

impl Place {
    /// The word for it, as on the cards of the registry.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scheduler => "scheduler",
            Self::Buffer => "buffer",
            Self::Design => "design",
            Self::Transport => "transport",
            Self::Traffic => "traffic",
        }
    }
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize), serde(untagged))]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// Any number.
    Number(f64),
    /// `true` or `false`.
    Truth(bool),
    /// Text, a quantity with a unit too.
    Text(String),
}

impl Value {
    /// This value for a setting whose default is `default`: of the same type, a whole number where
    /// any number may stand too.
    ///
    /// # Errors
    /// What to write instead.
    pub fn like(self, default: &Self) -> Result<Self, &'static str> {
        match (self, default) {
            (Self::Whole(number), Self::Number(_)) => Ok(Self::Number(number as f64)),
            (value, default) if core::mem::discriminant(&value) == core::mem::discriminant(default) => Ok(value),
            (_, default) => Err(default.wanted()),
        }
    }

    /// What to write for a setting with this default.
    #[must_use]
    pub const fn wanted(&self) -> &'static str {
        match self {
            Self::Whole(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::Truth(_) => "true or false",
            Self::Text(_) => "text in quotes",
        }
    }
}

/// A setting of an own part.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its default, which says its type too.
    pub default: Value,
    /// A sentence about it.
    pub about: String,
}

/// A part that is written outside this tree, before it has the values of its settings.
pub trait OwnPart<M: ?Sized>: Send + Sync {
    /// Its name: small letters, digits and `_`; not that of another part.
    fn name(&self) -> &'static str;

    /// Which question it answers.
    fn place(&self) -> Place;

    /// Its settings, in the order in which [`OwnPart::make`] takes their values.
    fn settings(&self) -> Vec<Setting> {
        Vec::new()
    }

    /// Its version. It stands in the digest of a run, so that a part that has changed is run again.
    fn version(&self) -> String;

    /// What builds it with these values: one for each of its settings, of the type of its default.
    ///
    /// # Errors
    /// Why the values make no sense, and what to write instead.
    fn make(&self, values: &[Value]) -> Result<Arc<M>, String>;
}

/// What builds an own part of a queue, once a line. A part builds what its [`Place`] says.
pub trait MakeQueue: Send + Sync {
    /// What is to be known of it before it is built.
    fn facts(&self) -> Facts {
        Facts::PLAIN
    }

    /// The invariants that it does not keep, as one that paces does not keep work conservation.
    fn breaks(&self) -> &'static [card::Invariant] {
        &[]
    }

    /// The scheduler.
    fn scheduler(&self, _line: &Line) -> Option<Box<dyn Scheduler>> {
        None
    }

    /// The buffer policy.
    fn policy(&self, _line: &Line) -> Option<Box<dyn BufferPolicy>> {
        None
    }

    /// The whole discipline; `queue` holds the limit and the classifier, where given.
    fn discipline(&self, _queue: &Queue, _line: &Line) -> Option<Box<dyn Discipline>> {
        None
    }

    /// Whether each call on a queue with it is checked: what breaks an invariant is told.
    fn is_checked(&self) -> bool {
        false
    }

    /// It broke an invariant: `message` says which, at which call, and how. Must not return.
    fn broke(&self, message: &str) -> ! {
        panic!("{message}")
    }
}

impl Told for Arc<dyn MakeQueue> {
    fn broke(&self, message: &str) -> ! {
        MakeQueue::broke(&**self, message)
    }
}

/// An own part with its settings, where a registry has the settings of one of its own.
pub struct Own<M: ?Sized> {
    name: String,
    /// The values that a scenario says; once the part is known, those that differ from the
    /// defaults.
    said: BTreeMap<String, Value>,
    known: Option<Known<M>>,
}

/// What is known of an own part that was found by its name.
struct Known<M: ?Sized> {
    name: &'static str,
    version: String,
    make: Arc<M>,
}

impl<M: ?Sized> Own<M> {
    /// The part called `name` with these values, which is not known before [`Own::find`].
    #[must_use]
    pub fn new(name: impl Into<String>, said: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self { name: name.into(), said: said.into_iter().collect(), known: None }
    }

    /// Its name; `own` as long as the part is not known.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match &self.known {
            Some(known) => known.name,
            None => KIND,
        }
    }

    /// Its version; `None` as long as the part is not known.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.known.as_ref().map(|known| known.version.as_str())
    }

    /// What builds it; `None` as long as the part is not known.
    #[must_use]
    pub fn make(&self) -> Option<&Arc<M>> {
        self.known.as_ref().map(|known| &known.make)
    }

    /// Why it cannot be built, if it cannot: it is not known.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.known.is_none().then(|| format!("`{}` is a part that is not known here", self.name))
    }

    /// Finds the part of its name for `place` among `parts`, and gives it the values of its
    /// settings.
    ///
    /// # Errors
    /// If there is no such part, if a setting is not known or of another type, or what the part
    /// says of the values.
    pub fn find(&mut self, place: Place, parts: &[Arc<dyn OwnPart<M>>]) -> Result<(), String> {
        let fits = |part: &&Arc<dyn OwnPart<M>>| part.name() == self.name && part.place() == place;
        let Some(part) = parts.iter().find(fits) else { return self.fault().map_or(Ok(()), Err) };
        let settings = part.settings();
        if let Some(other) = self.said.keys().find(|name| settings.iter().all(|setting| setting.name != **name)) {
            return Err(format!("{}: no such field of {}", other, self.name));
        }
        let value = |setting: &Setting| match self.said.get(&setting.name) {
            None => Ok(setting.default.clone()),
            Some(said) => {
                said.clone().like(&setting.default).map_err(|wanted| format!("{}: write {wanted}", setting.name))
            }
        };
        let values = settings.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        let make = part.make(&values)?;
        let differ = settings.into_iter().zip(values).filter(|(setting, value)| setting.default != *value);
        self.said = differ.map(|(setting, value)| (setting.name, value)).collect();
        self.known = Some(Known { name: part.name(), version: part.version(), make });
        Ok(())
    }

    /// What `of` builds, which is for `place`.
    ///
    /// # Panics
    /// If [`Own::fault`] is not `None`, or if the part builds nothing for the place that it names.
    pub fn built<T>(&self, place: Place, of: impl FnOnce(&M) -> Option<T>) -> T {
        let built = self.make().and_then(|make| of(&**make));
        built.unwrap_or_else(|| panic!("{}: says that it is a {} and builds none", self.name, place.name()))
    }
}

impl Part for Own<dyn MakeQueue> {
    fn fault(&self, _queue: &Queue) -> Option<String> {
        Self::fault(self)
    }

    fn facts(&self) -> Facts {
        self.make().map_or(Facts::PLAIN, |make| make.facts())
    }
}

impl<M: ?Sized> Clone for Own<M> {
    fn clone(&self) -> Self {
        let known = self.known.as_ref();
        let known =
            known.map(|Known { name, version, make }| Known { name, version: version.clone(), make: Arc::clone(make) });
        Self { name: self.name.clone(), said: self.said.clone(), known }
    }
}

/// What builds it follows from name, values and version.
impl<M: ?Sized> PartialEq for Own<M> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.said == other.said && self.version() == other.version()
    }
}

impl<M: ?Sized> fmt::Debug for Own<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct(&self.name);
        for (name, value) in &self.said {
            shown.field(name, value);
        }
        shown.finish()
    }
}

/// An own part as its table says it. The version is for digests: what is read has that of the part
/// that is found.
#[cfg(feature = "schema")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    #[serde(default)]
    settings: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

#[cfg(feature = "schema")]
impl<M: ?Sized> serde::Serialize for Own<M> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let version = self.version().map(String::from);
        Table { name: self.name.clone(), settings: self.said.clone(), version }.serialize(to)
    }
}

#[cfg(feature = "schema")]
impl<'de, M: ?Sized> serde::Deserialize<'de> for Own<M> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Table::deserialize(from).map(|table| Self::new(table.name, table.settings))
    }
}
