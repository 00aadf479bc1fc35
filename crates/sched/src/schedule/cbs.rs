//! Credit-based shaper: classes with credit go first, in order; credit grows at the class's
//! reserved rate while it waits and falls while it sends.
//!
//! Use when: audio or video classes need a reserved rate ahead of other traffic, as in 802.1Qav.
//! For a ceiling on one queue use `token_bucket`; for a tree of rates that may borrow, `htb`.
//! Rules: Linux's, by default: credit grows only while it is below zero, from the end of the
//! class's last transmission and up to `hi_credit`, which it reaches only where the class is asked
//! late (`sch_cbs.c` `cbs_dequeue_soft`); of an empty class the watchdog sees to it that a debt is
//! paid back and no more, and a packet that finds it empty takes what is above zero away
//! (`cbs_enqueue_soft`); what a packet costs is its length times sendSlope over the line's rate,
//! down to `lo_credit`. With `paper` those of the standard: credit grows whenever a packet of the
//! class waits, without bound.
//!
//! Source: Linux `net/sched/sch_cbs.c`; with `paper` IEEE 802.1Q-2018, 8.6.8.2 (credit-based
//! shaper, from 802.1Qav).
//! Departs: Linux has a qdisc for each class, on a queue of the device, or of mqprio above it; here
//! the classes of a line stand together, in strict priority. A flow's class, or else the precedence
//! of the packet's TOS byte, names the class, for packets carry no priority code point. What
//! belongs to none is `default`'s, or best effort, last in strict priority. Credit is exact, in
//! Linux a whole number of bytes. With `paper` a packet is charged whole when it begins, and
//! idleSlope goes on: at its end the credit is what sendSlope = idleSlope - C gives, and in between
//! it is not read.
//! Chosen: the two classes a and b at precedence 3 and 2, and the 3/8 of the line's nominal rate
//! that a class has which names no slope, are from memory and therefore settings. hiCredit is what
//! idleSlope gives while 1514 B of others are sent, sendSlope idleSlope - C, loCredit no bound, if
//! they are not given; tc has 0 for each.
//! Cost: O(classes) a packet.
//! Bound: a class sends at most idleSlope · t + hiCredit - loCredit in any interval of length t,
//! where loCredit = sendSlope · Lmax/C, and with `paper` for the first class hiCredit = idleSlope ·
//! L/C with the longest packet L of the others (shaped.rs: cbs_keeps_a_class_to_its_idle_slope). A
//! line whose shaped classes have no credit is idle though packets wait (shaped.rs:
//! cbs_waits_until_the_credit_is_back_to_zero), and a flow whose packets differ in precedence is
//! reordered (shaped.rs: cbs_breaks_the_order_of_a_flow_of_many_precedences). Classes whose slopes
//! add up to more than the line have strict priority.
//! Changes: Credits stand: what they earned until then is earned at the old slopes. A slope or a
//! bound on credit that is not set follows the line's new rate. Weights are refused; a flow's new
//! class holds for the packets that arrive from then on.
//!
//! Range: credit is a rate in bit/s times picoseconds, in 128 bits.

use crate::change::{Change, Unsupported};
use crate::class_tree::Place;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::facts::{Facts, Need, Queues};
use crate::leaf::LeafQueue;
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Bytes, PS_PER_S, Rate, Time};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// The shaped classes, the first served first.
    pub struct Settings {
        /// Up to 8 of them.
        pub classes: Vec<Class> = alloc::vec![named("a", 3), named("b", 2)],
        /// The class of packets that belong to no other; without it they are best effort.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub default: Option<String> = None,
        /// What part of the line's rate a class has that names no slope; above 0 and at most 1.
        pub share: f64 = 0.375,
        /// The rules of the standard in place of Linux's.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub paper: bool = false,
        /// The discipline in which best effort waits; without one, where a class names one, `fifo +
        /// 1000packets`.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub queue: Option<LeafQueue> = None,
    }
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
    /// How fast its credit falls while it sends; without one the line's rate less `idle_slope`. Not
    /// with `paper`, as the next two.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub send_slope: Option<Rate>,
    /// How far its credit grows; without one as far as `idle_slope` brings it while 1514 B of
    /// others are sent.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub hi_credit: Option<Bytes>,
    /// How far below zero its credit falls; without one no bound.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub lo_credit: Option<Bytes>,
    /// The discipline in which its packets wait; without one, where another class names one, `fifo +
    /// 1000packets`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub queue: Option<LeafQueue>,
}

/// A class called `name` of the packets with `precedence`.
fn named(name: &str, precedence: u8) -> Class {
    let precedence = Some(precedence);
    Class {
        name: name.to_string(),
        precedence,
        idle_slope: None,
        send_slope: None,
        hi_credit: None,
        lo_credit: None,
        queue: None,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        let is_told = self.classes.len() < 2
            || self.default.is_some()
            || self.classes.iter().any(|class| class.precedence.is_some());
        let needs: &[Need] = if is_told { &[] } else { &[Need::Class] };
        let needs_rate = self.classes.iter().any(|class| class.idle_slope.is_none());
        Facts { needs, needs_rate, tells_flows_apart: false, queues: Queues::Own, ..Facts::PLAIN }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if !(1..=8).contains(&self.classes.len()) {
            return Some(format!("cbs: {} classes; write 1 to 8", self.classes.len()));
        }
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Some("cbs: share is above 0 and at most 1".to_string());
        }
        if let Some(name) = self.default.as_ref().filter(|name| !self.classes.iter().any(|class| class.name == **name))
        {
            return Some(format!("cbs: default: there is no class `{name}`"));
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
            let has_bounds = class.send_slope.is_some() || class.hi_credit.is_some() || class.lo_credit.is_some();
            if self.paper && has_bounds {
                return Some(format!(
                    "cbs: class `{}`: send_slope, hi_credit and lo_credit are Linux's; leave paper or them out",
                    class.name
                ));
            }
        }
        None
    }

    fn variants() -> Vec<Self> {
        let slow = Class { idle_slope: Rate::new(40_000), ..named("slow", 0) };
        let classes = alloc::vec![slow];
        alloc::vec![
            Self { classes: classes.clone(), ..Self::default() },
            Self { classes, paper: true, ..Self::default() },
        ]
    }

    fn oversubscribed(&self, line: Rate) -> Option<String> {
        let sum = self.classes.iter().filter_map(|class| class.idle_slope).map(Rate::bit_per_s).sum::<u64>();
        let sum = Rate::new(sum).filter(|sum| *sum > line)?;
        Some(format!(
            "cbs: the idle slopes are {sum} together, and the line has {line}: the first classes can keep the others from it"
        ))
    }

    fn places(&self) -> Vec<Place<'_>> {
        self.classes.iter().map(|class| Place::new(&class.name, None, &[]).with(class.queue.as_ref())).collect()
    }

    fn leaves(&self) -> Vec<Place<'_>> {
        let others = Place::new(BEST_EFFORT, None, &[]).with(self.queue.as_ref());
        self.places().into_iter().chain([others]).collect()
    }

    fn leaf_queues(&mut self) -> Vec<&mut LeafQueue> {
        self.classes.iter_mut().filter_map(|class| class.queue.as_mut()).chain(self.queue.as_mut()).collect()
    }
}

/// The name of what belongs to no class, beside queues of classes.
const BEST_EFFORT: &str = "best_effort";

/// What a class may send.
struct Credit {
    /// idleSlope in bit/s.
    idle_slope: i128,
    /// In bits × 10⁻¹² (a rate in bit/s times picoseconds).
    level: i128,
    /// Up to when it has grown.
    updated: Time,
    is_backlogged: bool,
    rule: Rule,
}

/// The rules by which it grows.
enum Rule {
    /// `sch_cbs.c`.
    Linux {
        /// -sendSlope in bit/s.
        send_slope: i128,
        /// The line's rate in bit/s.
        line: i128,
        /// The greatest level, and the least if there is one.
        bounds: (i128, Option<i128>),
    },
    /// IEEE 802.1Q.
    Standard {
        /// Whether a packet of the class is on the line.
        is_sending: bool,
    },
}

/// Level units in a byte.
const PER_BYTE: i128 = 8 * PS_PER_S as i128;

/// The packet of other classes from which hiCredit is computed: the longest of Ethernet.
const LONGEST: i128 = 1514;

impl Credit {
    fn new(class: &Class, settings: &Settings, line: Rate) -> Self {
        let line = i128::from(line.bit_per_s());
        let usual = (line as f64 * settings.share) as i128;
        let idle_slope = class.idle_slope.map_or(usual, |rate| rate.bit_per_s().into()).max(1);
        let level = |bytes: Bytes| i128::from(bytes.0) * PER_BYTE;
        let rule = if settings.paper {
            Rule::Standard { is_sending: false }
        } else {
            Rule::Linux {
                send_slope: class.send_slope.map_or((line - idle_slope).max(0), |rate| rate.bit_per_s().into()),
                line,
                bounds: (
                    class.hi_credit.map_or(LONGEST * PER_BYTE * idle_slope / line, level),
                    class.lo_credit.map(|bytes| -level(bytes)),
                ),
            }
        };
        Self { idle_slope, level: 0, updated: Time::ZERO, is_backlogged: false, rule }
    }

    /// Adds what idleSlope has given since the last update.
    fn grow(&mut self, now: Time) {
        self.level += self.idle_slope * i128::from(now.0.saturating_sub(self.updated.0));
        self.updated = now;
    }

    /// Whether the class may send.
    fn is_ready(&mut self, now: Time) -> bool {
        match &mut self.rule {
            // Credit is updated at the class's next dequeue only: a class that waits behind others
            // gains nothing.
            Rule::Linux { bounds: (most, _), .. } => {
                let most = *most;
                if self.is_backlogged && self.level < 0 {
                    self.grow(now);
                    self.level = self.level.min(most);
                }
            }
            Rule::Standard { .. } => self.end_sending(now),
        }
        self.is_backlogged && self.level >= 0
    }

    /// By the standard: a class without packets pays back its debt and loses its credit.
    fn settle(&mut self, now: Time) {
        if let Rule::Standard { is_sending } = self.rule {
            self.grow(now);
            if !self.is_backlogged && !is_sending {
                self.level = self.level.min(0);
            }
        }
    }

    fn end_sending(&mut self, now: Time) {
        self.settle(now);
        if let Rule::Standard { is_sending } = &mut self.rule {
            *is_sending = false;
        }
        self.settle(now);
    }

    /// A packet has come.
    fn arrive(&mut self, now: Time) {
        // What happened while the queue was empty is settled before it is not.
        self.settle(now);
        if matches!(self.rule, Rule::Linux { .. }) && !self.is_backlogged {
            if self.level < 0 && now > self.updated {
                self.grow(now);
            }
            self.level = self.level.min(0);
        }
    }

    /// A packet of `length` bytes begins.
    fn charge(&mut self, now: Time, length: u32) {
        self.settle(now);
        let cost = i128::from(length) * PER_BYTE;
        match &mut self.rule {
            Rule::Linux { send_slope, line, bounds: (_, least) } => {
                self.level -= cost * *send_slope / *line;
                self.level = least.map_or(self.level, |least| self.level.max(least));
                let sending = u64::try_from(cost / *line).unwrap_or(u64::MAX);
                self.updated = now.saturating_add(Time(sending));
            }
            Rule::Standard { is_sending } => {
                self.level -= cost;
                *is_sending = true;
            }
        }
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
    settings: Settings,
    /// The class of each precedence.
    of_precedence: [Slot; 8],
    credits: Vec<Credit>,
    has_best_effort: bool,
}

impl Cbs {
    /// All credits are zero.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let default = settings.classes.iter().position(|class| Some(&class.name) == settings.default.as_ref());
        let others = default.unwrap_or(settings.classes.len()) as Slot;
        let mut of_precedence = [others; 8];
        for (at, class) in settings.classes.iter().enumerate() {
            if let Some(precedence) = class.precedence {
                of_precedence[usize::from(precedence & 7)] = at as Slot;
            }
        }
        Self {
            settings: settings.clone(),
            of_precedence,
            credits: settings.classes.iter().map(|class| Credit::new(class, settings, line.rate)).collect(),
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
    // With the end of a transmission an empty class loses its credit.
    traits!(queue_per_flow = false, hears_idle = true);

    fn classes(&self) -> Vec<&str> {
        self.settings.classes.iter().map(|class| class.name.as_str()).collect()
    }

    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        flow.class().map_or(self.of_precedence[usize::from(packet.tos >> 5)], Slot::from)
    }

    fn asks_empty(&self) -> Slot {
        Slot::MAX
    }

    fn arrive(&mut self, now: Time, queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        if let Some(credit) = self.credits.get_mut(queue as usize) {
            credit.arrive(now);
        }
        0
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.set_backlogged(queue, true);
    }

    fn next(&mut self, now: Time, _store: &Store) -> Next {
        let mut earliest = None;
        let mut ready = None;
        for (queue, credit) in self.credits.iter_mut().enumerate() {
            if credit.is_ready(now) {
                ready = ready.or(Some(queue as Slot));
            } else if credit.is_backlogged {
                let at = credit.zero_at();
                earliest = Some(earliest.map_or(at, |other: Time| other.min(at)));
            }
        }
        if let Some(queue) = ready {
            return Next::Queue(queue);
        }
        if self.has_best_effort {
            return Next::Queue(self.credits.len() as Slot);
        }
        earliest.map_or(Next::Empty, Next::NotBefore)
    }

    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, _tag: Tag, head: Option<Tag>) {
        if let Some(credit) = self.credits.get_mut(queue as usize) {
            credit.charge(now, packet.length);
        }
        self.set_backlogged(queue, head.is_some());
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        if let Some(credit) = self.credits.get_mut(gone.queue as usize) {
            credit.settle(now);
        }
        self.set_backlogged(gone.queue, gone.head.is_some());
    }

    // What the settings say stays; what follows from the rate does so anew, and credits stay.
    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        let Change::Rate(rate) = *change else { return change.not_used() };
        for (credit, class) in self.credits.iter_mut().zip(&self.settings.classes) {
            credit.settle(now);
            let is_sending = matches!(credit.rule, Rule::Standard { is_sending: true });
            let Credit { idle_slope, rule, .. } = Credit::new(class, &self.settings, rate);
            (credit.idle_slope, credit.rule) = (idle_slope, rule);
            if let Rule::Standard { is_sending: now_sending } = &mut credit.rule {
                *now_sending = is_sending;
            }
        }
        Ok(())
    }

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        for (class, credit) in self.settings.classes.iter().zip(&self.credits) {
            let credit = credit.level as f64 / PER_BYTE as f64;
            visit(Reading::real("credit_bytes", Unit::Bytes, credit).of_queue(&class.name));
        }
    }
}
