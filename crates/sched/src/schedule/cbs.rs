//! Credit-based shaper: classes with credit go first, in order; credit grows at the class's reserved rate while it waits and
//! falls while it sends.
//!
//! Source: IEEE 802.1Q-2018, 8.6.8.2 (credit-based shaper, from 802.1Qav).
//! Departs: a flow's class, or else the precedence of the packet's TOS byte, names the class, for packets carry no
//! priority code point. Everything else is best effort, last in strict priority. A packet is charged whole when it begins,
//! and idleSlope goes on: at its end the credit is what sendSlope = idleSlope - C gives, and in between nobody asks.
//! Chosen: the two classes a and b at precedence 3 and 2, and the 3/8 of the line's nominal rate that a class has which
//! names no slope, are from memory and therefore settings.
//! Cost: O(classes) a packet.
//! Bound: a class sends at most idleSlope · t + hiCredit - loCredit in any interval of length t, where
//! loCredit = sendSlope · Lmax/C and for the first class hiCredit = idleSlope · L/C with the longest packet L of the others
//! (shaped.rs: cbs_keeps_a_class_to_its_idle_slope). A line whose shaped classes have no credit is idle though packets
//! wait (shaped.rs: cbs_waits_until_the_credit_is_back_to_zero), and a flow whose packets differ in precedence is reordered
//! (shaped.rs: cbs_breaks_the_order_of_a_flow_of_many_precedences). Classes whose slopes add up to more than the line have
//! strict priority.
//!
//! Range: credit is a rate in bit/s times picoseconds, in 128 bits.

use crate::contract::{Class as Number, Flow, Gone, Line, Next, Scheduler, Slot, Tag};
use crate::packet::Packet;
use crate::part::{Need, Part};
use crate::queue::Queue;
use crate::store::Store;
use crate::units::{PS_PER_S, Rate, Time};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The shaped classes, the first served first.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {
    /// Up to 8 of them; what belongs to none is best effort.
    pub classes: Vec<Class>,
    /// What part of the line's rate a class has that names no slope; above 0 and at most 1.
    pub share: f64,
}

/// A shaped class.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Class {
    /// Its name, by which flows choose it.
    pub name: String,
    /// Packets with this precedence belong to it if their flow names no class; 0 to 7.
    #[cfg_attr(feature = "schema", serde(default))]
    pub precedence: Option<u8>,
    /// The rate that is reserved for it; without one `share` of the line's.
    #[cfg_attr(feature = "schema", serde(default))]
    pub idle_slope: Option<Rate>,
}

impl Default for Settings {
    fn default() -> Self {
        let class =
            |name: &str, precedence| Class { name: name.to_string(), precedence: Some(precedence), idle_slope: None };
        Self { classes: alloc::vec![class("a", 3), class("b", 2)], share: 0.375 }
    }
}

impl Part for Settings {
    fn needs(&self) -> &'static [Need] {
        let is_told = self.classes.len() < 2 || self.classes.iter().any(|class| class.precedence.is_some());
        if is_told { &[] } else { &[Need::Class] }
    }

    fn tells_flows_apart(&self) -> bool {
        false
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !(1..=8).contains(&self.classes.len()) {
            return Some(format!("cbs: {} classes; write 1 to 8", self.classes.len()));
        }
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Some("cbs: share is above 0 and at most 1".to_string());
        }
        for (at, class) in self.classes.iter().enumerate() {
            let others = &self.classes[..at];
            if class.name.is_empty() || others.iter().any(|other| other.name == class.name) {
                return Some(format!("cbs: class `{}`: names are not empty and not taken", class.name));
            }
            if class.precedence.is_some_and(|precedence| precedence > 7) {
                return Some(format!("cbs: class `{}`: precedence is 0 to 7", class.name));
            }
            if class.precedence.is_some() && others.iter().any(|other| other.precedence == class.precedence) {
                return Some(format!("cbs: class `{}`: another class has its precedence", class.name));
            }
        }
        None
    }

    fn variants() -> Vec<Self> {
        let slow = Class { name: "slow".to_string(), precedence: Some(0), idle_slope: Rate::new(40_000) };
        alloc::vec![Self { classes: alloc::vec![slow], ..Self::default() }]
    }

    fn has_queue_per_flow(&self) -> bool {
        false
    }

    fn classes(&self) -> Option<Vec<&str>> {
        Some(self.classes.iter().map(|class| class.name.as_str()).collect())
    }
}

/// What a class may send.
struct Credit {
    /// idleSlope in bit/s.
    idle_slope: i128,
    /// In bits × 10⁻¹² (a rate in bit/s times picoseconds).
    level: i128,
    updated: Time,
    is_backlogged: bool,
    /// Whether a packet of the class is on the line.
    is_sending: bool,
}

/// Level units in a byte.
const PER_BYTE: i128 = 8 * PS_PER_S as i128;

impl Credit {
    fn update(&mut self, now: Time) {
        let grown = self.level + self.idle_slope * i128::from((now - self.updated).0);
        self.updated = now;
        // Without packets a debt is paid back, and credit is lost.
        self.level = if self.is_backlogged || self.is_sending { grown } else { grown.min(0) };
    }

    fn end_sending(&mut self, now: Time) {
        self.update(now);
        self.is_sending = false;
        self.update(now);
    }

    /// When the credit is zero again.
    fn zero_at(&self) -> Time {
        let wait = (-self.level).max(0) as u128;
        let wait = wait.div_ceil(self.idle_slope as u128);
        self.updated.saturating_add(Time(u64::try_from(wait).unwrap_or(u64::MAX)))
    }
}

/// Shaped classes, and best effort after them.
pub struct Cbs {
    names: Vec<String>,
    /// The class of each precedence.
    of_precedence: [Slot; 8],
    credits: Vec<Credit>,
    has_best_effort: bool,
}

impl Cbs {
    /// All credits are zero.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let best_effort = settings.classes.len() as Slot;
        let mut of_precedence = [best_effort; 8];
        for (at, class) in settings.classes.iter().enumerate() {
            if let Some(precedence) = class.precedence {
                of_precedence[usize::from(precedence & 7)] = at as Slot;
            }
        }
        let credit = |class: &Class| {
            let usual = (line.rate.bit_per_s() as f64 * settings.share) as u128;
            let idle_slope = class.idle_slope.map_or(usual, |rate| u128::from(rate.bit_per_s())).max(1) as i128;
            Credit { idle_slope, level: 0, updated: Time::ZERO, is_backlogged: false, is_sending: false }
        };
        Self {
            names: settings.classes.iter().map(|class| class.name.clone()).collect(),
            of_precedence,
            credits: settings.classes.iter().map(credit).collect(),
            has_best_effort: false,
        }
    }

    fn set_backlogged(&mut self, queue: Slot, is_backlogged: bool) {
        match self.credits.get_mut(queue as usize) {
            Some(credit) => credit.is_backlogged = is_backlogged,
            None => self.has_best_effort = is_backlogged,
        }
    }
}

impl Scheduler for Cbs {
    fn class_named(&self, name: &str) -> Option<Number> {
        self.names.iter().position(|class| class == name).map(|class| class as Number)
    }

    fn has_queue_per_flow(&self) -> bool {
        false
    }

    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        flow.class().map_or(self.of_precedence[usize::from(packet.tos >> 5)], Slot::from)
    }

    fn arrive(&mut self, now: Time, queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        // What happened while the queue was empty is settled before it is not.
        if let Some(credit) = self.credits.get_mut(queue as usize) {
            credit.update(now);
        }
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.set_backlogged(queue, true);
    }

    fn next(&mut self, now: Time, _store: &Store) -> Next {
        let mut earliest = None;
        self.credits.iter_mut().for_each(|credit| credit.end_sending(now));
        for (queue, credit) in self.credits.iter().enumerate().filter(|(_, credit)| credit.is_backlogged) {
            if credit.level >= 0 {
                return Next::Queue(queue as Slot);
            }
            let at = credit.zero_at();
            earliest = Some(earliest.map_or(at, |other: Time| other.min(at)));
        }
        if self.has_best_effort {
            return Next::Queue(self.credits.len() as Slot);
        }
        earliest.map_or(Next::Empty, Next::NotBefore)
    }

    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, _tag: Tag, head: Option<Tag>) {
        if let Some(credit) = self.credits.get_mut(queue as usize) {
            credit.update(now);
            credit.level -= i128::from(packet.length) * PER_BYTE;
            credit.is_sending = true;
        }
        self.set_backlogged(queue, head.is_some());
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        if let Some(credit) = self.credits.get_mut(gone.queue as usize) {
            credit.update(now);
        }
        self.set_backlogged(gone.queue, gone.head.is_some());
    }

    fn notes_idle(&self) -> bool {
        // With the end of a transmission an empty class loses its credit.
        true
    }

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        for (name, credit) in self.names.iter().zip(&self.credits) {
            visit(&format!("credit_{name}_bytes"), credit.level as f64 / PER_BYTE as f64);
        }
    }
}
