//! RLC: a layer more at a synchronisation point if the burst before it lost nothing, a layer less
//! on a loss.
//!
//! Use when: receivers behind one bottleneck should act together without messages, at rates that
//! double by layer. A buffer that holds a burst hides its tests; for layers of any rate use `rlm`.
//! Source: Vicisano, Rizzo and Crowcroft, "TCP-like Congestion Control for Layered Multicast Data
//! Transfer", INFOCOM 1998 (from memory; the paper was not at hand). From there: points whose
//! distance doubles with each layer, bursts at twice the rate before them, the rule of joining, a
//! deaf time after leaving. No constant of the paper is known: those of the source and `deaf` are
//! our own.
//! Chosen: a loss in a burst keeps the receiver from joining and drops no layer, unless
//! `drops_in_bursts` is set. The lowest layer is never dropped. After a layer was dropped losses
//! are ignored for the time `deaf`, which is to be longer than the pruning and the draining of the
//! queue take; a loss in that time still keeps the receiver from joining.
//! Cost: O(1) a packet.
//! Bound: joining doubles and leaving halves the rate
//! (multicast.rs: rlc_doubles_up_to_what_the_line_carries).
//! Range: a buffer that holds a burst hides that the next layer does not fit.

use super::{Beginning, Control, Received, ReceiverSettings, source};
use crate::transport::messages::Flags;
use fairq_sched::units::Time;

settings! {
    /// The deaf time, and losses in bursts.
    pub struct Settings {
        /// For this time after a layer was dropped losses drop no other layer.
        pub deaf: Time = Time::from_s(1),
        /// Whether a loss in a burst drops a layer, as any other loss does.
        pub drops_in_bursts: bool = false,
    }
}

impl ReceiverSettings for Settings {
    fn control(&self, beginning: Beginning) -> Box<dyn Control> {
        Box::new(Rlc::new(self, &beginning))
    }

    fn fault(&self, source: &source::Settings) -> Option<String> {
        let message = || "rlc joins at synchronisation points; write source = \"bursts\"".to_string();
        (!matches!(source, source::Settings::Bursts(_))).then(message)
    }
}

/// The receiver.
pub struct Rlc {
    settings: Settings,
    layers: usize,
    level: usize,
    deaf_until: Time,
    /// Whether the burst of the top layer has begun, and whether a packet was lost since.
    is_bursting: bool,
    has_lost: bool,
    /// By layer, whether the last packet was part of a burst: packets missing after it belong to
    /// that burst.
    was_burst: Vec<bool>,
}

impl Rlc {
    /// A receiver that takes the lowest layer.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            layers: beginning.cumulative.len(),
            level: 1,
            deaf_until: Time::ZERO,
            is_bursting: false,
            has_lost: false,
            was_burst: vec![false; beginning.cumulative.len()],
        }
    }
}

impl Control for Rlc {
    fn level(&self) -> usize {
        self.level
    }

    fn receive(&mut self, now: Time, packet: &Received) {
        let is_top = packet.layer + 1 == self.level;
        let is_burst = packet.flags.has(Flags::BURST);
        let was_burst = std::mem::replace(&mut self.was_burst[packet.layer], is_burst);
        if is_top && is_burst && !self.is_bursting {
            (self.is_bursting, self.has_lost) = (true, false);
        }
        if packet.missing > 0 {
            self.has_lost = true;
            let counts = self.settings.drops_in_bursts || !(is_burst || was_burst);
            if counts && now >= self.deaf_until && self.level > 1 {
                self.level -= 1;
                self.is_bursting = false;
                self.deaf_until = now.saturating_add(self.settings.deaf);
                return;
            }
        }
        if is_top && packet.flags.has(Flags::SYNCHRONISES) {
            let joins = self.is_bursting && !self.has_lost && now >= self.deaf_until && self.level < self.layers;
            self.level += usize::from(joins);
            self.is_bursting = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_link::random::Stream;

    fn rlc() -> Rlc {
        let beginning = Beginning { now: Time::ZERO, cumulative: vec![32, 64, 128], stream: Stream::new(1, "x") };
        Rlc::new(&Settings::default(), &beginning)
    }

    fn packet(layer: usize, flags: Flags, missing: u64) -> Received {
        Received { layer, sequence: 0, length: 1000, flags, missing }
    }

    #[test]
    fn it_joins_after_a_burst_without_loss_at_a_point_of_its_top_layer() {
        let mut rlc = rlc();
        let now = Time::from_s(5);
        let last = Flags::BURST.with(Flags::SYNCHRONISES);
        rlc.receive(now, &packet(0, last, 0));
        assert_eq!(rlc.level, 2);
        rlc.receive(now, &packet(0, last, 0));
        assert_eq!(rlc.level, 2, "a point of a lower layer");
        rlc.receive(now, &packet(1, Flags::SYNCHRONISES, 0));
        assert_eq!(rlc.level, 2, "its burst was not seen");
        rlc.receive(now, &packet(1, Flags::BURST, 0));
        rlc.receive(now, &packet(1, last, 0));
        assert_eq!(rlc.level, 3);
        rlc.receive(now, &packet(2, last, 0));
        assert_eq!(rlc.level, 3, "there is no more");
    }

    #[test]
    fn a_loss_drops_a_layer_and_then_it_is_deaf() {
        let mut rlc = rlc();
        rlc.level = 3;
        rlc.receive(Time::from_s(5), &packet(0, Flags::NONE, 1));
        assert_eq!(rlc.level, 2);
        rlc.receive(Time::from_ms(5999), &packet(0, Flags::NONE, 4));
        assert_eq!(rlc.level, 2);
        rlc.receive(Time::from_s(6), &packet(0, Flags::NONE, 1));
        rlc.receive(Time::from_s(9), &packet(0, Flags::NONE, 1));
        assert_eq!(rlc.level, 1, "and no less");
    }

    #[test]
    fn a_loss_in_a_burst_drops_a_layer_only_if_told_so() {
        for (drops_in_bursts, level) in [(false, 2), (true, 1)] {
            let mut rlc = rlc();
            (rlc.level, rlc.settings.drops_in_bursts) = (2, drops_in_bursts);
            rlc.receive(Time::from_s(5), &packet(0, Flags::BURST, 1));
            // The end of the burst is missing.
            rlc.receive(Time::from_s(6), &packet(0, Flags::NONE, 1));
            assert_eq!(rlc.level, level);
        }
    }

    #[test]
    fn a_loss_in_the_burst_keeps_it_from_joining_even_when_deaf() {
        let mut rlc = rlc();
        rlc.deaf_until = Time::from_s(6);
        rlc.receive(Time::from_s(5), &packet(0, Flags::BURST, 0));
        rlc.receive(Time::from_s(5), &packet(0, Flags::BURST, 1));
        rlc.receive(Time::from_s(7), &packet(0, Flags::BURST.with(Flags::SYNCHRONISES), 0));
        assert_eq!(rlc.level, 1);
    }
}
