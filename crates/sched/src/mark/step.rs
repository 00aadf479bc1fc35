//! Step: every packet is marked that finds `at` or more before it, or has waited as long when it
//! leaves; none is dropped.
//!
//! Use when: senders such as `dctcp` expect marks at a fixed queue or delay. Senders that halve on
//! a mark lose throughput: for them use `codel` or `pie` with `ecn`; for both kinds `dualpi2`.
//! Source: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1 (K, by the
//! instantaneous queue); the threshold by the time waited is `ce_threshold` of Linux's codel and
//! fq_codel.
//! Chosen: with packets or bytes a packet is marked on arrival if `at` or more wait in all queues
//! together, the arriving packet and the one being sent not counted. With a time it is marked when
//! it leaves, if it has waited so long or longer. The mark is CE, for packets that accept it; what
//! becomes of the others is the buffer policy's to say. With a `mask` only those are marked of
//! which the TOS byte has the bits of `selector` there: `mask = 3, selector = 1` is ECT(1).
//! Cost: O(1) a packet.
//! Bound: none; with windows that obey, the queue stays near `at` and a few packets for each flow.
//! Changes: a rate means nothing to it: `at` is a setting.

use crate::change::no_changes;
use crate::contract::{Line, Marker, Slot};
use crate::packet::{Marks, Packet};
use crate::part::{Part, facts, settings};
use crate::queue::Queue;
use crate::reading::no_readings;
use crate::store::Store;
use crate::traits::Traits;
use crate::units::{Threshold, Time};
use alloc::string::{String, ToString};

settings! {
    /// The threshold, and the packets that it counts for.
    pub struct Settings {
        /// K: the queue, in packets or bytes, or the time waited from which on packets are marked.
        // DCTCP's K at 1 Gbit/s (section 3.4).
        pub at: Threshold = Threshold::Packets(20),
        /// Which bits of the type-of-service byte are looked at; 0: all packets are marked.
        pub mask: u8 = 0,
        /// What those bits are in the packets that are marked.
        pub selector: u8 = 0,
    }
}

impl Part for Settings {
    facts!(tells_flows_apart = false, marks_congestion = true);

    fn fault(&self, _queue: &Queue) -> Option<String> {
        selector_fault("step", self.mask, self.selector)
    }

    fn variants() -> alloc::vec::Vec<Self> {
        let of = |at| Self { at, ..Self::default() };
        let waited = Self { mask: 3, selector: 1, ..of(Threshold::Time(Time::from_ms(1))) };
        alloc::vec![of(Threshold::Packets(2)), of(Threshold::Bytes(1500)), waited]
    }
}

/// What is wrong with the bits that the part called `name` selects.
pub(crate) fn selector_fault(name: &str, mask: u8, selector: u8) -> Option<String> {
    (selector & !mask != 0).then(|| name.to_string() + ": the selector has bits that its mask has not")
}

/// Whether a packet of this type-of-service byte is selected.
pub(crate) const fn is_selected(tos: u8, mask: u8, selector: u8) -> bool {
    tos & mask == selector
}

/// Marks by the queue at the moment, or by the time that a packet has waited.
#[derive(Clone, Debug)]
pub struct Step {
    /// `None` marks nothing.
    at: Option<Threshold>,
    /// In what times are counted, the rest cut off.
    unit: Time,
    mask: u8,
    selector: u8,
}

impl Step {
    /// The marker; it keeps nothing.
    #[must_use]
    pub const fn new(settings: &Settings, _: &Line) -> Self {
        Self { at: Some(settings.at), unit: Time(1), mask: settings.mask, selector: settings.selector }
    }

    /// Marks what has waited longer than `time`, if there is such a time, by a clock of this unit.
    #[must_use]
    pub(crate) fn beyond(time: Option<Time>, mask: u8, selector: u8, unit: Time) -> Self {
        let at = time.map(|time| Threshold::Time(Time(time.0 - time.0 % unit.0).saturating_add(unit)));
        Self { at, unit, mask, selector }
    }

    const fn marks(&self, is_reached: bool, packet: &Packet) -> Marks {
        if is_reached && is_selected(packet.tos, self.mask, self.selector) { Marks::CE } else { Marks::NONE }
    }
}

impl Marker for Step {
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits {
            bypass: if self.at.is_none() { u32::MAX } else { 0 },
            judges_departures: matches!(self.at, Some(Threshold::Time(_))),
            marks: self.at.is_some(),
            ..Traits::PLAIN
        }
    }

    no_changes!();

    fn arrive(&mut self, _now: Time, store: &Store, _flow: Slot, packet: &Packet) -> Marks {
        let is_reached = match self.at {
            Some(Threshold::Packets(packets)) => store.packets() >= packets,
            Some(Threshold::Bytes(bytes)) => store.bytes() >= bytes,
            Some(Threshold::Time(_)) | None => false,
        };
        self.marks(is_reached, packet)
    }

    fn depart(&mut self, now: Time, packet: &Packet) -> Marks {
        let Some(Threshold::Time(time)) = self.at else { return Marks::NONE };
        let on_clock = |at: Time| Time(at.0 - at.0 % self.unit.0);
        self.marks(on_clock(now).saturating_sub(on_clock(packet.arrival)) >= time, packet)
    }

    no_readings!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::tests::store_with;

    fn step(at: Threshold, mask: u8, selector: u8) -> Step {
        Step::new(&Settings { at, mask, selector }, &Line::new(crate::units::Rate::MAX))
    }

    #[test]
    fn a_packet_that_finds_k_is_marked() {
        let packet = Packet::new(0, Time::ZERO, 1500);
        for (at, least) in [(Threshold::Packets(3), 3), (Threshold::Bytes(250), 3), (Threshold::Bytes(300), 3)] {
            let mark = |waiting| step(at, 0, 0).arrive(Time::ZERO, &store_with(waiting), 1, &packet);
            for waiting in 0..6 {
                assert_eq!(mark(waiting), if waiting >= least { Marks::CE } else { Marks::NONE }, "{at:?} {waiting}");
            }
            assert!(!step(at, 0, 0).traits().judges_departures);
        }
    }

    #[test]
    fn a_packet_that_has_waited_so_long_is_marked_if_its_bits_are_selected() {
        let mark = |waited: u64, tos, mask, selector| {
            let packet = Packet { tos, ..Packet::new(0, Time::from_ms(7), 1500) };
            let mut step = step(Threshold::Time(Time::from_ms(2)), mask, selector);
            assert_eq!(step.arrive(Time::from_ms(7), &store_with(99), 1, &packet), Marks::NONE);
            step.depart(Time(Time::from_ms(7).0 + waited), &packet) == Marks::CE
        };
        let ms = Time::from_ms(1).0;
        assert_eq!([2 * ms - 1, 2 * ms, 9 * ms].map(|waited| mark(waited, 0, 0, 0)), [false, true, true]);
        // ECT(1) alone: of a byte with a DSCP the two low bits are looked at.
        assert_eq!(
            [0x00, 0x02, 0xb8, 0xb9, 0x01, 0x03].map(|tos| mark(2 * ms, tos, 3, 1)),
            [false, false, false, true, true, false]
        );
    }
}
