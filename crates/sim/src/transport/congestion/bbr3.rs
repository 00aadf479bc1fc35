//! BBR, version 3: BBR with bounds from losses, for the short term and for the long.
//!
//! Use when: you study the BBR of the IETF draft, which heeds losses above two percent. Linux's
//! module is `bbr`; where queues signal by marks use `dctcp` or `prague`.
//! Source: Cardwell, Swett and Beshay, "BBR Congestion Control", draft-ietf-ccwg-bbr, as of August
//! 2026; earlier texts and the public code of 2023 use other gains (Drain 0.35) and other names
//! (inflight_hi, bw_lo).
//! Departs: no reaction is undone when a loss turns out to be spurious; the first window is not
//! paced, as no packet length is known yet.
//! Chosen: losses found together count as one range of sequence numbers; the window limits the
//! sender if the flight is less than one packet below it; the greatest bandwidth is kept for this
//! cycle and the last, exactly.
//! Cost: O(1) a packet.
//! Bound: measuring the least round trip costs half of the bandwidth for 0.2 s in 5 s, two percent;
//! the margin of the pace costs one more (bbr3/tests.rs: alone_it_uses_the_line_but_two_percent,
//! congestion_controls.rs: bbr3_uses_a_line_but_three_percent).
//! Range: the long-term bound is set only where losses exceed two percent; marks are no signal. A
//! rate that falls is forgotten after two cycles of probing, and a probe for the least round trip,
//! each 5 s, restarts the cycle. Where the lower rate has made round trips so long that no cycle
//! ends between two of them, the draft never forgets the old bandwidth: from 12 to 3 Mbit/s at 40
//! ms the queue is gone after 8 s, from 12 to 1.2 Mbit/s it grows until packets are lost
//! (limits.rs: bbr3_forgets_a_rate_that_fell_if_a_cycle_fits_between_two_probes).

mod probe;
mod round_trip;
#[cfg(test)]
mod tests;

use super::path_model::{Bunch, Growth, next_pace, next_window, paces_by_a_model};
use super::rounds::{Quiet, Rounds};
use super::windowed::Windowed;
use super::{Acked, Beginning, Congested, Congestion, LawSettings, LostPacket, RateSample, pace};
use crate::settings::{no_part, outside};
use fairq_sched::random::Random;
use fairq_sched::units::{Rate, Time};

settings! {
    /// Gains, bounds and times; all have the draft's values by default.
    pub struct Settings {
        /// Gain of the pace in Startup.
        pub startup_gain: f64 = 2.77,
        /// Gain of the pace in Drain.
        pub drain_gain: f64 = 0.5,
        /// Gain of the pace in the phase that probes for less.
        pub down_gain: f64 = 0.9,
        /// Gain of the pace in the phase that probes for more.
        pub up_gain: f64 = 1.25,
        /// Gain of the window; 0.25 more in the phase that probes for more.
        pub window_gain: f64 = 2.0,
        /// The part of the packets in flight that may be lost.
        pub loss_threshold: f64 = 0.02,
        /// The least factor of a bound after a loss.
        pub beta: f64 = 0.7,
        /// The part of the long-term bound that is left to other flows.
        pub headroom: f64 = 0.15,
        /// The least window, in packets.
        pub window_min: f64 = 4.0,
        /// How long a least round trip is valid.
        pub least_window: Time = Time::from_s(10),
        /// How often the window is held down to measure it again.
        pub probe_interval: Time = Time::from_s(5),
        /// How long the window is held down.
        pub probe_duration: Time = Time::from_ms(200),
        /// Gain of the window while it is held down.
        pub probe_gain: f64 = 0.5,
        /// The most round trips before it probes for more.
        pub probe_rounds: u32 = 63,
        /// The part by which the pace is below the bandwidth.
        pub pacing_margin: f64 = 0.01,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        let fault = outside(&[
            ("startup_gain", self.startup_gain, 1.0, 10.0),
            ("up_gain", self.up_gain, 1.0, 10.0),
            ("window_gain", self.window_gain, 0.0, 10.0),
            ("loss_threshold", self.loss_threshold, 0.0, 1.0),
            ("window_min", self.window_min, 0.0, 1e6),
            ("probe_gain", self.probe_gain, 0.0, 1.0),
            ("probe_rounds", f64::from(self.probe_rounds), 0.0, 1e6),
        ]);
        let parts = [
            ("drain_gain", self.drain_gain),
            ("down_gain", self.down_gain),
            ("beta", self.beta),
            ("headroom", self.headroom),
        ];
        fault.or_else(|| no_part(&parts)).or_else(|| pace::margin_fault(self.pacing_margin))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRoundTrip,
}

impl State {
    /// Whether the state is one of the four of ProbeBW.
    const fn is_cycle(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Whether the state probes for more bandwidth, so that losses are expected.
    const fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// What arriving acknowledgements say about a probe for bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feedback {
    Initial,
    Refilling,
    Starting,
    Probing,
    Stopping,
}

/// The model of the path, the state, and cwnd.
pub struct Bbr3 {
    settings: Settings,
    random: Random,
    first_window: f64,
    window: f64,
    /// Packets a second; `None` before the first round trip is known.
    pace: Option<f64>,
    length: u32,
    state: State,
    rounds: Rounds,
    ends_round: bool,
    quiet: Quiet,
    delivered: u64,
    /// The greatest delivery rates of this cycle and of the last, in packets a second.
    greatest: [f64; 2],
    /// Bounds; infinite if there is none.
    short_rate: f64,
    short_flight: f64,
    long_flight: f64,
    /// The greatest values of this round: delivery rate, and packets delivered in a round trip.
    latest_rate: f64,
    latest_delivered: f64,
    loss_round_ends: u64,
    loss_round_began: bool,
    has_lost: bool,
    loss_ranges: u32,
    /// The round in which recovery began; `None` outside of recovery.
    recovering_since: Option<u64>,
    saved_window: f64,
    /// min_rtt, and the least since the last probe of the round trip.
    least: (Time, Time),
    probe_least: (Time, Time),
    is_probe_due: bool,
    probe_done_at: Option<Time>,
    probe_has_passed_round: bool,
    growth: Growth,
    is_full_now: bool,
    is_full: bool,
    drain_began: u64,
    cycle: probe::Cycle,
    extra: Windowed,
    bunch: Bunch,
    has_restarted: bool,
}

impl Bbr3 {
    /// Startup from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        let now = beginning.now;
        Self {
            settings: settings.clone(),
            random: Random::new(beginning.seed, "bbr3"),
            first_window: beginning.window,
            window: beginning.window,
            pace: None,
            length: 0,
            state: State::Startup,
            rounds: Rounds::default(),
            ends_round: false,
            quiet: Quiet::default(),
            delivered: 0,
            greatest: [0.0; 2],
            short_rate: f64::INFINITY,
            short_flight: f64::INFINITY,
            long_flight: f64::INFINITY,
            latest_rate: 0.0,
            latest_delivered: 0.0,
            loss_round_ends: 0,
            loss_round_began: false,
            has_lost: false,
            loss_ranges: 0,
            recovering_since: None,
            saved_window: 0.0,
            least: (Time::NEVER, now),
            probe_least: (Time::NEVER, now),
            is_probe_due: false,
            probe_done_at: None,
            probe_has_passed_round: false,
            growth: Growth::default(),
            is_full_now: false,
            is_full: false,
            drain_began: 0,
            cycle: probe::Cycle::new(now),
            extra: Windowed::greatest(),
            bunch: Bunch::new(now),
            has_restarted: false,
        }
    }

    fn pace_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.settings.startup_gain,
            State::Drain => self.settings.drain_gain,
            State::Down => self.settings.down_gain,
            State::Up => self.settings.up_gain,
            State::Cruise | State::Refill | State::ProbeRoundTrip => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            State::Up => self.settings.window_gain + 0.25,
            State::ProbeRoundTrip => self.settings.probe_gain,
            _ => self.settings.window_gain,
        }
    }

    /// max_bw.
    fn greatest(&self) -> f64 {
        self.greatest[0].max(self.greatest[1])
    }

    /// bw: max_bw limited by the short-term bound.
    fn bandwidth(&self) -> f64 {
        self.greatest().min(self.short_rate)
    }

    /// A multiple of the bandwidth-delay product.
    fn product(&self, gain: f64) -> f64 {
        if self.least.0 == Time::NEVER {
            return self.first_window;
        }
        gain * self.bandwidth() * self.least.0.as_s()
    }

    fn with_quanta(&self, window: f64) -> f64 {
        let least = (3.0 * f64::from(self.burst())).max(self.settings.window_min);
        window.max(least) + if self.state == State::Up { 2.0 } else { 0.0 }
    }

    fn inflight(&self, gain: f64) -> f64 {
        self.with_quanta(self.product(gain))
    }

    /// The long-term bound less the headroom.
    fn long_flight_with_headroom(&self) -> f64 {
        let headroom = (self.settings.headroom * self.long_flight).max(1.0);
        if self.long_flight.is_infinite() {
            f64::INFINITY
        } else {
            (self.long_flight - headroom).max(self.settings.window_min)
        }
    }

    fn is_limited(&self, rate: &RateSample) -> bool {
        rate.is_application_limited || self.quiet.covers(rate)
    }

    /// Updates the model with a sample of the delivery rate, in the draft's order.
    fn update_model(&mut self, acked: &Acked, rate: &RateSample, in_flight: u64) {
        self.delivered = rate.delivered;
        self.update_latest(rate);
        self.update_bandwidth(rate);
        self.adapt_short_term();
        self.update_aggregation(acked);
        self.check_full(rate);
        self.check_startup(rate);
        self.check_drain(acked.now, in_flight);
        self.advance_cycle(acked, rate, in_flight);
        if self.loss_round_began {
            (self.has_lost, self.loss_ranges) = (false, 0);
            self.latest_rate = rate.packets_per_s;
            self.latest_delivered = (rate.delivered - rate.delivered_before) as f64;
        }
    }

    fn update_latest(&mut self, rate: &RateSample) {
        self.latest_rate = self.latest_rate.max(rate.packets_per_s);
        self.latest_delivered = self.latest_delivered.max((rate.delivered - rate.delivered_before) as f64);
        self.loss_round_began = rate.delivered_before >= self.loss_round_ends;
        if self.loss_round_began {
            self.loss_round_ends = rate.delivered;
        }
    }

    fn update_bandwidth(&mut self, rate: &RateSample) {
        self.ends_round = self.rounds.ends_with(rate);
        self.cycle.rounds += u64::from(self.ends_round);
        if rate.packets_per_s >= self.greatest() || !self.is_limited(rate) {
            self.greatest[0] = self.greatest[0].max(rate.packets_per_s);
        }
    }

    /// Once in a round with losses, outside of probing, the short-term bounds follow the delivered
    /// packets.
    fn adapt_short_term(&mut self) {
        if !self.loss_round_began || self.state.is_probing() || !self.has_lost {
            return;
        }
        let (rate, flight) = (self.short_rate.min(self.greatest()), self.short_flight.min(self.window));
        self.short_rate = self.latest_rate.max(self.settings.beta * rate);
        self.short_flight = self.latest_delivered.max(self.settings.beta * flight);
    }

    fn reset_short_term(&mut self) {
        (self.short_rate, self.short_flight) = (f64::INFINITY, f64::INFINITY);
    }

    fn update_aggregation(&mut self, acked: &Acked) {
        let extra = self.bunch.excess(acked, self.bandwidth(), self.window);
        let rounds = if self.is_full { EXTRA_ROUNDS } else { 1 };
        self.extra.update(rounds, self.rounds.count, extra);
    }

    fn reset_full(&mut self, rate: f64) {
        (self.growth, self.is_full_now) = (Growth::from(rate), false);
    }

    fn check_full(&mut self, rate: &RateSample) {
        if self.is_full_now || !self.ends_round || self.is_limited(rate) {
            return;
        }
        self.is_full_now = self.growth.ends_with(rate.packets_per_s);
        self.is_full |= self.is_full_now;
    }

    fn check_startup(&mut self, rate: &RateSample) {
        if self.state != State::Startup {
            return;
        }
        let has_recovered_for_a_round = self.recovering_since.is_some_and(|since| self.rounds.count > since);
        if self.loss_round_began
            && has_recovered_for_a_round
            && self.loss_ranges >= STARTUP_LOSS_RANGES
            && self.is_flight_too_high(rate.lost, rate.flight_at_send)
        {
            self.is_full = true;
            self.long_flight = self.product(1.0).max(self.latest_delivered);
        }
        if self.is_full {
            self.state = State::Drain;
            self.drain_began = self.rounds.count;
        }
    }

    fn check_drain(&mut self, now: Time, in_flight: u64) {
        if self.state == State::Drain
            && (in_flight as f64 <= self.inflight(1.0) || self.rounds.count > self.drain_began + DRAIN_ROUNDS)
        {
            self.start_down(now);
        }
    }

    fn save_window(&mut self) {
        let is_lowered = self.recovering_since.is_some() || self.state == State::ProbeRoundTrip;
        self.saved_window = if is_lowered { self.saved_window.max(self.window) } else { self.window };
    }

    fn set_pace(&mut self, gain: f64, smoothed: Time) {
        if self.pace.is_none() && smoothed > Time::ZERO {
            self.pace = Some(self.settings.startup_gain * self.first_window / smoothed.as_s());
        }
        let pace = gain * self.bandwidth() * (1.0 - self.settings.pacing_margin);
        self.pace = next_pace(self.pace, pace, self.is_full);
    }

    fn set_window(&mut self, delivered: u64) {
        let greatest = self.with_quanta(self.product(self.window_gain()) + self.extra.value());
        let is_first = (self.delivered as f64) < self.first_window;
        self.window = next_window(self.window, delivered as f64, greatest, self.is_full, is_first);
        self.window = self.window.max(self.settings.window_min);
        if self.state == State::ProbeRoundTrip {
            self.window = self.window.min(self.probe_window());
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.long_flight,
            State::Cruise | State::ProbeRoundTrip => self.long_flight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.window = self.window.min(cap.min(self.short_flight).max(self.settings.window_min));
    }
}

impl Congestion for Bbr3 {
    paces_by_a_model!();

    /// The send quantum: what is sent in a millisecond at the pace, from 2 packets to 64 KiB.
    fn burst(&self) -> u32 {
        let bits = self.pace().map_or(0, |pace| pace.bits_in(Time::from_ms(1)).min(65_536 * 8));
        (bits / (8 * u64::from(self.length.max(1)))).max(2) as u32
    }

    fn sent(&mut self, now: Time, flight: u64) {
        if flight > 0 || self.rounds.count == 0 || self.recovering_since.is_some() {
            return;
        }
        self.has_restarted = true;
        self.bunch.began = now;
        if self.state.is_cycle() {
            self.set_pace(1.0, Time::ZERO);
        } else if self.state == State::ProbeRoundTrip {
            self.leave_probe(now);
        }
    }

    fn acknowledged(&mut self, acked: &Acked) {
        self.length = acked.length;
        self.delivered += acked.delivered;
        let in_flight = acked.in_flight;
        self.ends_round = false;
        if let Some(rate) = acked.rate {
            self.update_model(acked, &rate, in_flight);
        }
        self.update_least(acked);
        self.check_probe_round_trip(acked, in_flight);
        self.set_pace(self.pace_gain(), acked.smoothed);
        self.set_window(acked.delivered);
    }

    fn found_lost(&mut self, _congested: &Congested) {
        if !self.has_lost {
            self.loss_round_ends = self.delivered;
        }
        self.has_lost = true;
        self.loss_ranges += 1;
    }

    fn lost_packet(&mut self, now: Time, packet: &LostPacket) {
        self.judge_loss(packet, now);
    }

    fn lost(&mut self, _congested: &Congested) {
        self.save_window();
        self.recovering_since = Some(self.rounds.count);
    }

    fn timed_out(&mut self, _congested: &Congested) {
        self.save_window();
        self.recovering_since = Some(self.rounds.count);
        self.window = 1.0;
    }

    fn recovered(&mut self, _now: Time) {
        self.recovering_since = None;
        self.window = self.window.max(self.saved_window);
    }

    fn phase(&self) -> &'static str {
        match self.state {
            State::Startup => "Startup",
            State::Drain => "Drain",
            State::Down => "ProbeBW_DOWN",
            State::Cruise => "ProbeBW_CRUISE",
            State::Refill => "ProbeBW_REFILL",
            State::Up => "ProbeBW_UP",
            State::ProbeRoundTrip => "ProbeRTT",
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", self.window);
        visit("bandwidth_packets_per_s", self.bandwidth());
        visit("least_s", if self.least.0 == Time::NEVER { 0.0 } else { self.least.0.as_s() });
        visit("pace_gain", self.pace_gain());
        visit("inflight_longterm_packets", self.long_flight);
        visit("inflight_shortterm_packets", self.short_flight);
    }
}

/// Ranges lost in a round that end Startup.
const STARTUP_LOSS_RANGES: u32 = 6;
/// The most rounds of Drain.
const DRAIN_ROUNDS: u64 = 3;
/// The number of rounds whose greatest aggregation of acknowledgements is added to the window; 1 in
/// Startup.
const EXTRA_ROUNDS: u64 = 10;
