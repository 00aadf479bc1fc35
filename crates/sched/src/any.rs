//! A part chosen at run time: for each kind of part an enum that implements the part's trait, so
//! that a free combination is the same composition as a named one. Generated from the registry's
//! lines.

/// Expands the registry.
macro_rules! parts {
    ($(
        $(#[$doc:meta])*
        $trait:ident $part:literal $settings:ident $list:ident $folder:ident $(or $own:ident at $own_place:ident by $make:ident)? {
            $($module:ident => $type:ident = $name:literal [$($alias:literal),*] $(breaks [$($invariant:ident),+])?),+ $(,)?
        }
    )+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq)]
            #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
            #[cfg_attr(feature = "schema", serde(tag = "kind"))]
            pub enum $settings {
                $(
                    #[doc = concat!("See the card of `", $name, "`.")]
                    #[cfg_attr(feature = "schema", serde(rename = $name $(, alias = $alias)*))]
                    $type(crate::$folder::$module::Settings),
                )+
                $(
                    /// One that is written outside this tree.
                    #[cfg_attr(feature = "schema", serde(rename = "own"))]
                    #[cfg_attr(feature = "schema", schemars(skip))]
                    $own(crate::own::Own<dyn crate::own::MakeQueue>),
                )?
            }

            impl $settings {
                /// The name in the registry.
                #[must_use]
                pub const fn name(&self) -> &'static str {
                    match self { $(Self::$type(_) => $name,)+ $(Self::$own(own) => own.name(),)? }
                }

                /// The part of `name` (or alias) with its default settings.
                #[must_use]
                pub fn by_name(name: &str) -> Option<Self> {
                    match name {
                        $($name $(| $alias)* => Some(Self::$type(Default::default())),)+
                        _ => Option::None,
                    }
                }

                /// The part of `name` with its default settings, and with each of the settings that
                /// take another path.
                #[must_use]
                pub fn variants(name: &str) -> alloc::vec::Vec<Self> {
                    match name {
                        $($name $(| $alias)* => core::iter::once(Default::default())
                            .chain(<crate::$folder::$module::Settings as crate::part::Part>::variants())
                            .map(Self::$type)
                            .collect(),)+
                        _ => alloc::vec::Vec::new(),
                    }
                }

                /// The facts that its settings give.
                #[must_use]
                pub fn part(&self) -> &dyn crate::part::Part {
                    match self { $(Self::$type(settings) => settings,)+ $(Self::$own(own) => own,)? }
                }

                /// Builds the part by itself, for another composition.
                #[must_use]
                pub fn boxed(&self, line: &crate::contract::Line) -> alloc::boxed::Box<dyn crate::contract::$trait> {
                    alloc::boxed::Box::new(self.build(line))
                }

                /// Builds the part for `line`.
                #[must_use]
                pub(crate) fn build(&self, line: &crate::contract::Line) -> $folder::Any {
                    match self {
                        $(Self::$type(settings) =>
                            $folder::Any::$type(crate::$folder::$module::$type::new(settings, line)),)+
                        $(Self::$own(own) =>
                            $folder::Any::$own(own.built(crate::own::Place::$own_place, |make| make.$make(line))),)?
                    }
                }
            }

            pub(crate) mod $folder {
                /// One of the parts, chosen at run time.
                pub(crate) enum Any {
                    $($type(crate::$folder::$module::$type),)+
                    $($own(alloc::boxed::Box<dyn crate::contract::$trait>),)?
                }

                crate::any::forward!($trait for Any [$($type)+ $($own)?]);
            }

            crate::any::spell_out!($trait $settings $folder [$($module $type)+]);

            /// The cards of these parts, sorted by name.
            pub const $list: &[crate::card::Card] = &[$(
                crate::card::Card {
                    name: $name,
                    aliases: &[$($alias),*],
                    part: $part,
                    breaks: &[$($(crate::card::Invariant::$invariant),+)?],
                    comment: crate::opening!(include_str!(concat!(stringify!($folder), "/", stringify!($module), ".rs"))),
                }
            ),+];
        )+
    };
}
pub(crate) use parts;

/// Expands the registry of whole designs: disciplines that are built as one piece.
macro_rules! designs {
    ($($module:ident => $type:ident = $name:literal [$($alias:literal),*] $(breaks [$($invariant:ident),+])?),* $(,)?) => {
        /// A discipline that decides all four questions itself.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(tag = "kind"))]
        pub enum DesignSettings {
            $(
                #[doc = concat!("See the card of `", $name, "`.")]
                #[cfg_attr(feature = "schema", serde(rename = $name $(, alias = $alias)*))]
                $type(crate::design::$module::Settings),
            )*
            /// One that is written outside this tree.
            #[cfg_attr(feature = "schema", serde(rename = "own"))]
            #[cfg_attr(feature = "schema", schemars(skip))]
            Own(crate::own::Own<dyn crate::own::MakeQueue>),
        }

        impl DesignSettings {
            /// The name in the registry.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$type(_) => $name,)* Self::Own(own) => own.name() }
            }

            /// The design of `name` (or alias) with its default settings.
            #[must_use]
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($name $(| $alias)* => Some(Self::$type(Default::default())),)*
                    _ => Option::None,
                }
            }

            /// The design of `name` with its default settings, and with each of the settings that
            /// take another path.
            #[must_use]
            pub fn variants(name: &str) -> alloc::vec::Vec<Self> {
                match name {
                    $($name $(| $alias)* => core::iter::once(Default::default())
                        .chain(<crate::design::$module::Settings as crate::part::Part>::variants())
                        .map(Self::$type)
                        .collect(),)*
                    _ => alloc::vec::Vec::new(),
                }
            }

            /// The facts that its settings give.
            #[must_use]
            pub fn part(&self) -> &dyn crate::part::Part {
                match self { $(Self::$type(settings) => settings,)* Self::Own(own) => own }
            }

            /// Builds the discipline for `line`; `queue` holds the limit and the classifier, where
            /// given.
            #[must_use]
            pub(crate) fn build(
                &self,
                queue: &crate::queue::Queue,
                line: &crate::contract::Line,
            ) -> alloc::boxed::Box<dyn crate::contract::Discipline> {
                match self {
                    $(Self::$type(settings) => crate::design::$module::build(settings, queue, line),)*
                    Self::Own(own) => own.built(crate::own::Place::Design, |make| make.discipline(queue, line)),
                }
            }
        }

        /// The cards of whole designs, sorted by name.
        pub const DESIGNS: &[crate::card::Card] = &[$(
            crate::card::Card {
                name: $name,
                aliases: &[$($alias),*],
                part: "design",
                breaks: &[$($(crate::card::Invariant::$invariant),+)?],
                comment: crate::opening!(include_str!(concat!("design/", stringify!($module), ".rs"))),
            }
        ),*];
    };
}
pub(crate) use designs;

/// Spells out a scheduler's composition with the most common other parts as a type of its own, so
/// that the scheduler is not selected again for each packet.
macro_rules! spell_out {
    (Scheduler $settings:ident $folder:ident [$($module:ident $type:ident)+]) => {
        impl $settings {
            /// The settings, to be changed.
            pub(crate) fn part_mut(&mut self) -> &mut dyn crate::part::Part {
                match self { $(Self::$type(settings) => settings,)+ Self::Own(own) => own }
            }

            /// The composition with these parts around this scheduler.
            pub(crate) fn composed(
                &self,
                classifier: crate::classify::default::DefaultClassifier,
                buffer: crate::buffer::default::DefaultBuffer,
                limit: crate::units::Limit,
                line: &crate::contract::Line,
            ) -> alloc::boxed::Box<dyn crate::contract::Discipline> {
                match self {
                    $(Self::$type(settings) => alloc::boxed::Box::new(crate::compose::Composition::new(
                        classifier,
                        crate::$folder::$module::$type::new(settings, line),
                        buffer,
                        crate::mark::none::None,
                        limit,
                        line,
                    )),)+
                    Self::Own(_) => alloc::boxed::Box::new(crate::compose::Composition::new(
                        classifier,
                        self.build(line),
                        buffer,
                        crate::mark::none::None,
                        limit,
                        line,
                    )),
                }
            }
        }
    };
    ($trait:ident $settings:ident $folder:ident [$($module:ident $type:ident)+]) => {};
}
pub(crate) use spell_out;

/// Implements the trait of a part for an enum of such parts.
macro_rules! forward {
    (Scheduler for $any:ident [$($type:ident)+]) => {
        const _: () = {
            use crate::change::{Change, Unsupported};
            use crate::contract::{Flow, Gone, Heads, Next, Scheduler, Slot, Tag};
            use crate::packet::Packet;
            use crate::store::Store;
            use crate::units::Time;

            impl Scheduler for $any {
                #[inline(always)]
                fn traits(&self) -> crate::traits::Traits {
                    match self { $(Self::$type(p) => p.traits()),+ }
                }
                fn bucket(&mut self, now: Time, key: u64, store: &Store) -> Option<Slot> {
                    match self { $(Self::$type(p) => p.bucket(now, key, store)),+ }
                }
                fn classes(&self) -> alloc::vec::Vec<&str> {
                    match self { $(Self::$type(p) => p.classes()),+ }
                }
                fn queue_of(&self, flow: Flow, packet: &Packet, store: &Store) -> Slot {
                    match self { $(Self::$type(p) => p.queue_of(flow, packet, store)),+ }
                }
                fn heads(&self, queue: Slot) -> Heads {
                    match self { $(Self::$type(p) => p.heads(queue)),+ }
                }
                fn asks_empty(&self) -> Slot {
                    match self { $(Self::$type(p) => p.asks_empty()),+ }
                }
                fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
                    match self { $(Self::$type(p) => p.arrive(now, queue, flow, packet)),+ }
                }
                fn backlogged(&mut self, queue: Slot, tag: Tag) {
                    match self { $(Self::$type(p) => p.backlogged(queue, tag)),+ }
                }
                fn continued(&mut self, queue: Slot, tag: Tag) {
                    match self { $(Self::$type(p) => p.continued(queue, tag)),+ }
                }
                fn refused(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) {
                    match self { $(Self::$type(p) => p.refused(now, queue, flow, packet)),+ }
                }
                fn next(&mut self, now: Time, store: &Store) -> Next {
                    match self { $(Self::$type(p) => p.next(now, store)),+ }
                }
                fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, tag: Tag, head: Option<Tag>) {
                    match self { $(Self::$type(p) => p.sent(now, queue, packet, tag, head)),+ }
                }
                fn removed(&mut self, now: Time, gone: Gone<'_>) {
                    match self { $(Self::$type(p) => p.removed(now, gone)),+ }
                }
                fn idle(&mut self, now: Time) {
                    match self { $(Self::$type(p) => p.idle(now)),+ }
                }
                fn is_settled_at(&self, time: Time) -> bool {
                    match self { $(Self::$type(p) => p.is_settled_at(time)),+ }
                }
                fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
                    match self { $(Self::$type(p) => p.is_clear(now, flow)),+ }
                }
                fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
                    match self { $(Self::$type(p) => p.change(now, change)),+ }
                }
                fn preempts(&self, serving: Tag) -> bool {
                    match self { $(Self::$type(p) => p.preempts(serving)),+ }
                }
                fn stamps(&self, queue: Slot, tag: Tag, is_head: bool) -> crate::waiting::Stamps {
                    match self { $(Self::$type(p) => p.stamps(queue, tag, is_head)),+ }
                }
                fn decision(&mut self, now: Time, queue: Slot) -> Option<crate::waiting::Decision> {
                    match self { $(Self::$type(p) => p.decision(now, queue)),+ }
                }
                fn readings(&self, now: Time, visit: &mut dyn FnMut(crate::reading::Reading<'_>)) {
                    match self { $(Self::$type(p) => p.readings(now, visit)),+ }
                }
            }
        };
    };
    (BufferPolicy for $any:ident [$($type:ident)+]) => {
        const _: () = {
            use crate::change::{Change, Unsupported};
            use crate::contract::{BufferPolicy, Flow, Slot, HeldPacket, Verdict, Victim};
            use crate::packet::{Packet, Reason};
            use crate::store::Store;
            use crate::units::Time;

            impl BufferPolicy for $any {
                #[inline(always)]
                fn traits(&self) -> crate::traits::Traits {
                    match self { $(Self::$type(p) => p.traits()),+ }
                }
                fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
                    match self { $(Self::$type(p) => p.admit(now, store, queue, flow, packet)),+ }
                }
                fn joined(&mut self, now: Time, store: &Store, held: HeldPacket<'_>) {
                    match self { $(Self::$type(p) => p.joined(now, store, held)),+ }
                }
                fn victim(&mut self, now: Time, store: &Store, arriving: Slot) -> Option<(Victim, Reason)> {
                    match self { $(Self::$type(p) => p.victim(now, store, arriving)),+ }
                }
                fn depart(&mut self, now: Time, store: &Store, queue: Slot) -> Verdict {
                    match self { $(Self::$type(p) => p.depart(now, store, queue)),+ }
                }
                fn step(&self, queue: Slot) -> Option<u8> {
                    match self { $(Self::$type(p) => p.step(queue)),+ }
                }
                fn left(&mut self, now: Time, store: &Store, held: HeldPacket<'_>, is_sent: bool) {
                    match self { $(Self::$type(p) => p.left(now, store, held, is_sent)),+ }
                }
                fn idle(&mut self, now: Time) {
                    match self { $(Self::$type(p) => p.idle(now)),+ }
                }
                fn next_update(&self) -> Option<Time> {
                    match self { $(Self::$type(p) => p.next_update()),+ }
                }
                fn update(&mut self, now: Time, store: &Store) {
                    match self { $(Self::$type(p) => p.update(now, store)),+ }
                }
                fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
                    match self { $(Self::$type(p) => p.change(now, change)),+ }
                }
                fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
                    match self { $(Self::$type(p) => p.is_clear(now, flow)),+ }
                }
                fn readings(&self, now: Time, visit: &mut dyn FnMut(crate::reading::Reading<'_>)) {
                    match self { $(Self::$type(p) => p.readings(now, visit)),+ }
                }
            }
        };
    };
    (Classifier for $any:ident [$($type:ident)+]) => {
        const _: () = {
            use crate::contract::Classifier;
            use crate::hash::Hash;
            use crate::packet::Header;

            impl Classifier for $any {
                fn key(&self, header: &Header, hash: Hash) -> u64 {
                    match self { $(Self::$type(p) => p.key(header, hash)),+ }
                }
            }
        };
    };
    (Policer for $any:ident [$($type:ident)+]) => {
        const _: () = {
            use crate::contract::Policer;
            use crate::packet::Packet;
            use crate::units::Time;

            impl Policer for $any {
                fn conforms(&mut self, now: Time, packet: &Packet) -> bool {
                    match self { $(Self::$type(p) => p.conforms(now, packet)),+ }
                }
                fn readings(&self, now: Time, visit: &mut dyn FnMut(crate::reading::Reading<'_>)) {
                    match self { $(Self::$type(p) => p.readings(now, visit)),+ }
                }
            }
        };
    };
    (Marker for $any:ident [$($type:ident)+]) => {
        const _: () = {
            use crate::change::{Change, Unsupported};
            use crate::contract::{Marker, Slot};
            use crate::packet::{Marks, Packet};
            use crate::store::Store;
            use crate::units::Time;

            impl Marker for $any {
                #[inline(always)]
                fn traits(&self) -> crate::traits::Traits {
                    match self { $(Self::$type(p) => p.traits()),+ }
                }
                fn arrive(&mut self, now: Time, store: &Store, flow: Slot, packet: &Packet) -> Marks {
                    match self { $(Self::$type(p) => p.arrive(now, store, flow, packet)),+ }
                }
                fn before_change(&mut self, now: Time, store: &Store) {
                    match self { $(Self::$type(p) => p.before_change(now, store)),+ }
                }
                fn depart(&mut self, now: Time, packet: &Packet) -> Marks {
                    match self { $(Self::$type(p) => p.depart(now, packet)),+ }
                }
                fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
                    match self { $(Self::$type(p) => p.change(now, change)),+ }
                }
                fn is_clear(&mut self, flow: Slot) -> bool {
                    match self { $(Self::$type(p) => p.is_clear(flow)),+ }
                }
                fn readings(&self, now: Time, visit: &mut dyn FnMut(crate::reading::Reading<'_>)) {
                    match self { $(Self::$type(p) => p.readings(now, visit)),+ }
                }
            }
        };
    };
}
pub(crate) use forward;
