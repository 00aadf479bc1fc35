//! PLM: as many layers as the smallest of some packet pairs lets through.
//!
//! Use when: every line has fair queueing, so that a pair tells the rate without causing losses.
//! Behind a FIFO pairs mislead: use `rlm` or `rlc` there.
//! Source: Legout and Biersack, "PLM: Fast Convergence for Cumulative Layered Multicast
//! Transmission Schemes", SIGMETRICS 2000, which was not at hand, as told in "Beyond
//! TCP-friendliness: a new paradigm for end-to-end congestion control", section 3.3 (pairs, the
//! least of the estimates of a check, leaving at once, layers as one flow), and in the manual of
//! the authors' code for ns-2 (the check's length).
//! Departs: pairs only, no longer bursts.
//! Chosen: from that code (tcl/plm): a rate is taken only if the estimate is above it, three
//! estimates a check at least, 10 % of loss over at least ten packets within 5 s, then 0.5 s of
//! blindness, 30 s before joining again; the numbers are settings.
//! Cost: O(layers) a pair.
//! Bound: alone on 256 kbit/s it takes five layers of 50 kbit/s after one check, beside one
//! backlogged flow under fair queueing two (multicast.rs: plm_takes_what_a_pair_tells); a rate is
//! taken only if the pair tells more (plm.rs: a_rate_must_be_exceeded).

use super::{Beginning, Control, Received, ReceiverSettings, source};
use crate::settings::outside;
use crate::transport::messages::Flags;
use fairq_sched::units::{PS_PER_S, Time};

settings! {
    /// When it decides, and when it believes losses instead of pairs.
    pub struct Settings {
        /// C: it joins layers at most this often.
        pub check: Time = Time::from_s(1),
        /// Pairs that a check needs.
        pub estimates: u32 = 3,
        /// The part of lost packets above which it drops a layer.
        pub loss_threshold: f64 = 0.1,
        /// Packets that must have arrived before losses are believed.
        pub loss_packets: u64 = 10,
        /// The time over which losses are counted together.
        pub loss_window: Time = Time::from_s(5),
        /// For this time after a layer was dropped for losses, losses are ignored.
        pub blind: Time = Time::from_ms(500),
        /// After it has dropped all layers, it joins the lowest again after this time.
        pub rejoin: Time = Time::from_s(30),
    }
}

impl ReceiverSettings for Settings {
    fn control(&self, beginning: Beginning) -> Box<dyn Control> {
        Box::new(Plm::new(self, beginning))
    }

    fn fault(&self, source: &source::Settings) -> Option<String> {
        if !matches!(source, source::Settings::Pairs(_)) {
            return Some("plm measures pairs; write source = \"pairs\"".to_string());
        }
        if self.rejoin == Time::ZERO {
            return Some("rejoin is 0 s; it is above zero, like \"30 s\"".to_string());
        }
        outside(&[("loss_threshold", self.loss_threshold, 0.0, 1.0)])
    }
}

/// The estimate of a pair: `bits` arrived in `gap`.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    bits: u64,
    gap: Time,
}

impl Estimate {
    /// Whether the estimate is more than `rate` bits a second.
    fn exceeds(self, rate: u64) -> bool {
        u128::from(rate) * u128::from(self.gap.0) < u128::from(self.bits) * u128::from(PS_PER_S)
    }

    fn is_below(self, other: Self) -> bool {
        u128::from(self.bits) * u128::from(other.gap.0) < u128::from(other.bits) * u128::from(self.gap.0)
    }
}

/// The receiver.
pub struct Plm {
    settings: Settings,
    cumulative: Vec<u64>,
    level: usize,
    /// By layer, the first packet of the last pair.
    first: Vec<Option<(u64, Time)>>,
    /// Pairs since the last check, and the least of their estimates.
    estimates: u32,
    least: Option<Estimate>,
    check: Option<Time>,
    /// When the count of losses began, and its values.
    window: Option<Time>,
    received: u64,
    lost: u64,
    blind_until: Time,
    rejoin: Time,
}

impl Plm {
    /// A receiver that takes the lowest layer.
    #[must_use]
    pub fn new(settings: &Settings, beginning: Beginning) -> Self {
        Self {
            settings: settings.clone(),
            level: 1,
            first: vec![None; beginning.cumulative.len()],
            cumulative: beginning.cumulative,
            estimates: 0,
            least: None,
            check: None,
            window: None,
            received: 0,
            lost: 0,
            blind_until: Time::ZERO,
            rejoin: Time::NEVER,
        }
    }

    /// The number of layers that fit into `estimate`.
    fn target(&self, estimate: Estimate) -> usize {
        self.cumulative.iter().take_while(|rate| estimate.exceeds(**rate)).count()
    }

    fn take(&mut self, now: Time, level: usize) {
        for first in self.first.iter_mut().skip(level) {
            *first = None;
        }
        self.level = level;
        self.rejoin = if level == 0 { now.saturating_add(self.settings.rejoin) } else { Time::NEVER };
    }

    fn begin_check(&mut self, now: Time) {
        (self.estimates, self.least) = (0, None);
        self.check = Some(now.saturating_add(self.settings.check));
    }

    fn estimate(&mut self, now: Time, estimate: Estimate) {
        self.estimates += 1;
        if self.least.is_none_or(|least| estimate.is_below(least)) {
            self.least = Some(estimate);
        }
        let check = *self.check.get_or_insert(now.saturating_add(self.settings.check));
        let target = self.target(estimate);
        if target < self.level {
            // Dropping a layer does not wait for the check.
            self.take(now, target);
            self.begin_check(now);
        } else if let Some(least) = self.least
            && now >= check
            && self.estimates >= self.settings.estimates
        {
            self.take(now, self.target(least));
            self.begin_check(now);
            self.window = None;
        }
    }

    fn count_loss(&mut self, now: Time, missing: u64) {
        let settings = &self.settings;
        let is_blind = now < self.blind_until;
        let is_over = self.window.is_none_or(|began| now.saturating_sub(began) > settings.loss_window);
        if missing > 0 && (is_over || is_blind) {
            (self.window, self.received, self.lost) = (Some(now), 0, 0);
        }
        if self.window.is_none() {
            return;
        }
        self.received += 1;
        self.lost += missing;
        let is_much = self.lost as f64 > settings.loss_threshold * (self.lost + self.received) as f64;
        if missing > 0 && !is_blind && self.received >= settings.loss_packets && is_much {
            self.blind_until = now.saturating_add(settings.blind);
            self.take(now, self.level - 1);
        }
    }
}

impl Control for Plm {
    fn level(&self) -> usize {
        self.level
    }

    fn receive(&mut self, now: Time, packet: &Received) {
        self.count_loss(now, packet.missing);
        if packet.layer >= self.level {
            return;
        }
        if packet.flags.has(Flags::PAIR) {
            self.first[packet.layer] = Some((packet.sequence, now));
        } else if let Some((sequence, came)) = self.first[packet.layer].take()
            && sequence + 1 == packet.sequence
        {
            self.estimate(now, Estimate { bits: u64::from(packet.length) * 8, gap: now - came });
        }
    }

    fn deadline(&self) -> Time {
        self.rejoin
    }

    fn wake(&mut self, now: Time) {
        if self.rejoin <= now {
            self.take(now, 1);
            self.begin_check(now);
            self.window = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_link::random::Stream;

    fn plm() -> Plm {
        let cumulative = vec![50_000, 100_000, 150_000, 200_000, 250_000];
        Plm::new(&Settings::default(), Beginning { now: Time::ZERO, cumulative, stream: Stream::new(1, "x") })
    }

    /// A pair of the lowest layer that ends at `now` with this gap.
    fn pair(plm: &mut Plm, now: Time, gap: Time, number: u64) {
        for (time, sequence, flags) in [(now - gap, 2 * number, Flags::PAIR), (now, 2 * number + 1, Flags::NONE)] {
            plm.receive(time, &Received { layer: 0, sequence, length: 1000, flags, missing: 0 });
        }
    }

    #[test]
    fn a_rate_must_be_exceeded() {
        let gap_of = |rate: u64| Time(8000 * PS_PER_S / rate);
        for (rate, level) in [(100_000, 1), (100_001, 2), (256_000, 5), (128_000, 2), (50_000, 0), (1_000_000, 5)] {
            let target = plm().target(Estimate { bits: 8000, gap: gap_of(rate) });
            assert_eq!(target, level, "{rate}");
        }
    }

    #[test]
    fn it_joins_several_layers_at_a_check_by_the_least_of_its_pairs() {
        let mut plm = plm();
        pair(&mut plm, Time::from_ms(100), Time::from_ms(30), 0);
        pair(&mut plm, Time::from_ms(420), Time::from_ms(45), 1);
        pair(&mut plm, Time::from_ms(1000), Time::from_ms(30), 2);
        assert_eq!(plm.level, 1, "a check is a second after the first pair");
        pair(&mut plm, Time::from_ms(1100), Time::from_ms(30), 3);
        // 8000 bits in 45 ms are 177 777 bits a second.
        assert_eq!(plm.level, 3);
    }

    #[test]
    fn it_drops_at_once_and_comes_back_after_half_a_minute() {
        let mut plm = plm();
        plm.level = 4;
        pair(&mut plm, Time::from_ms(100), Time::from_ms(75), 0);
        assert_eq!(plm.level, 2);
        pair(&mut plm, Time::from_ms(200), Time::from_ms(160), 1);
        assert_eq!((plm.level, plm.deadline()), (0, Time::from_ms(30_200)));
        plm.wake(plm.deadline());
        assert_eq!((plm.level, plm.deadline()), (1, Time::NEVER));
    }

    #[test]
    fn many_losses_drop_one_layer_and_then_it_is_blind() {
        let mut plm = plm();
        plm.level = 3;
        let mut levels = Vec::new();
        for at in 0..80 {
            // One packet is missing before every fourth.
            let missing = u64::from(at % 4 == 0);
            plm.receive(
                Time::from_ms(10 * at),
                &Received { layer: 0, sequence: at, length: 1000, flags: Flags::NONE, missing },
            );
            levels.push(plm.level);
        }
        // The tenth packet after the count began. 0.5 s later the count restarts, which takes ten
        // packets again.
        assert_eq!(levels.iter().position(|level| *level == 2), Some(12));
        assert_eq!(levels.iter().position(|level| *level == 1), Some(72));
    }

    #[test]
    fn a_pair_that_lost_a_packet_tells_nothing() {
        let mut plm = plm();
        plm.receive(Time::ZERO, &Received { layer: 0, sequence: 0, length: 1000, flags: Flags::PAIR, missing: 0 });
        let late = Received { layer: 0, sequence: 3, length: 1000, flags: Flags::NONE, missing: 2 };
        plm.receive(Time::from_s(1), &late);
        assert_eq!((plm.level, plm.estimates), (1, 0));
    }
}
