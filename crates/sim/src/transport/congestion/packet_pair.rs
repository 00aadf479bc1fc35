//! Packet pair: packets are sent in pairs; the gap that fair queueing puts between the two of a
//! pair shows the rate of the flow.
//!
//! Use when: every line of the path has fair queueing packet by packet, which a pair measures.
//! Behind `fifo`, large quanta or `fq_codel` it measures wrongly: use `bbr` or `cubic` there.
//! Source: Keshav, "A Control-Theoretic Approach to Flow Control", SIGCOMM 1991; Keshav,
//! "Packet-Pair Flow Control", 1995.
//! Departs: the rate is smoothed by an exponential mean, not by fuzzy rules, and the set point is
//! fixed.
//! Chosen: the gap is that between the two acknowledgements unless `measure` says otherwise, and
//! the size that of the second packet. Before the first pair is acknowledged two packets are sent;
//! later at least a pair a round trip. Losses are repaired by the connection and change no rate.
//! The receiver must acknowledge each packet.
//! Cost: O(1) a packet.
//! Bound: behind fair queueing, with N−1 other flows that always have packets of the same size
//! waiting, every pair gives exactly C/N
//! (closed_form_paced.rs: a_pair_gives_the_share_of_the_line); behind round robin with a quantum
//! of two packets and more it gives C
//! (closed_form_paced.rs: a_great_quantum_sends_both_packets_of_a_pair).
//! Range: flows whose neighbours are sometimes idle measure more than they can keep, up to C.

use super::{Acked, Beginning, Congested, Congestion, LawSettings, PairsAt};
use crate::settings::outside;
use fairq_sched::units::Rate;

settings! {
    /// The set point, and the measurement.
    pub struct Settings {
        /// Packets that are to wait at the bottleneck; about half of the room there.
        pub set_point: f64 = 5.0,
        /// How much of a pair's difference enters the estimate of the rate.
        pub gain: f64 = 0.25,
        /// Where the gap is measured: at the `sender` between acknowledgements, or at the
        /// `receiver`.
        pub measure: PairsAt = PairsAt::Sender,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        outside(&[("set_point", self.set_point, 0.0, 1e6), ("gain", self.gain, 0.0, 1.0)])
    }
}

/// The estimate and the resulting rate.
pub struct PacketPair {
    settings: Settings,
    window_max: f64,
    /// The rate by the last pair, in bits a second.
    last: f64,
    /// The smoothed service rate, in bits a second.
    service: Option<f64>,
    /// The rate at which packets are sent, in bits a second.
    rate: f64,
}

impl PacketPair {
    /// Two packets, to measure with.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        let settings = settings.clone();
        Self { settings, window_max: beginning.window_max, last: f64::NAN, service: None, rate: 0.0 }
    }
}

impl Congestion for PacketPair {
    fn window(&self) -> f64 {
        if self.service.is_some() { self.window_max } else { 2.0 }
    }

    fn pace(&self) -> Option<Rate> {
        self.service.and_then(|_| Rate::new((self.rate as u64).clamp(1, Rate::MAX.bit_per_s())))
    }

    fn burst(&self) -> u32 {
        2
    }

    fn acknowledged(&mut self, acked: &Acked) {
        if let Some(pair) = &acked.pair {
            self.last = pair.rate();
            let before = self.service.unwrap_or(self.last);
            self.service = Some(before + self.settings.gain * (self.last - before));
        }
        let Some(service) = self.service else { return };
        let (round_trip, least) = (acked.smoothed.as_s(), acked.least.as_s());
        if round_trip <= 0.0 {
            return;
        }
        let bits = f64::from(acked.length.max(1)) * 8.0;
        // Packets that are not in flight wait: n = outstanding − mu · R_prop.
        let outstanding = acked.flight.saturating_sub(acked.delivered) as f64;
        let waiting = (outstanding - service / bits * least).max(0.0);
        // lambda = mu + (B − n) / R
        let packets = service / bits + (self.settings.set_point - waiting) / round_trip;
        self.rate = packets.max(2.0 / round_trip) * bits;
    }

    fn lost(&mut self, _congested: &Congested) {}

    fn timed_out(&mut self, _congested: &Congested) {}

    fn has_own_recovery(&self) -> bool {
        true
    }

    fn wants_pairs(&self) -> Option<PairsAt> {
        Some(self.settings.measure)
    }

    fn phase(&self) -> &'static str {
        if self.service.is_some() { "rate control" } else { "first pair" }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("pair_bit_per_s", self.last);
        visit("service_bit_per_s", self.service.unwrap_or(f64::NAN));
        visit("rate_bit_per_s", self.rate);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pair;
    use super::*;
    use fairq_sched::units::Time;

    #[test]
    fn the_rate_is_that_of_service_and_what_is_short_of_the_set_point() {
        let settings = Settings { set_point: 6.0, gain: 1.0, ..Settings::default() };
        let mut law = PacketPair::new(&settings, &Beginning::with_window(10.0));
        assert_eq!((law.window(), law.pace()), (2.0, None));
        let pair = Some(Pair { gap: Time::from_ms(10), length: 1000 });
        let (smoothed, least) = (Time::from_ms(200), Time::from_ms(100));
        let acked = Acked { pair, smoothed, least, ..Acked::of(Time::ZERO, 1) };
        // 100 packets a second, 10 of them in flight. None waits: 100 + 6 / 0.2 packets a second.
        law.acknowledged(&Acked { flight: 11, ..acked });
        assert_eq!(law.pace().map(Rate::bit_per_s), Some(1_040_000));
        // 8 wait, two more than the set point: 100 − 2 / 0.2.
        law.acknowledged(&Acked { flight: 19, ..acked });
        assert_eq!(law.pace().map(Rate::bit_per_s), Some(720_000));
        // Far too many: a pair a round trip.
        law.acknowledged(&Acked { flight: 1000, ..acked });
        assert_eq!(law.pace().map(Rate::bit_per_s), Some(80_000));
    }
}
