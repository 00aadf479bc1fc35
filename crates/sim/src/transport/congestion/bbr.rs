//! BBR, version 1: paces at the greatest recent delivery rate, and measures the least round trip
//! every 10 s.
//!
//! Use when: you model hosts with Linux's BBR. It ignores losses and marks, and at short buffers
//! takes what others leave; `bbr3` bounds its flight where losses exceed two percent.
//! Source: Cardwell, Cheng, Gunn, Hassas Yeganeh and Jacobson, "BBR: Congestion-Based Congestion
//! Control", ACM Queue 14(5), 2016; choices that it leaves open, and the constants, as in Linux
//! (tcp_bbr.c).
//! Departs: policers ("long-term" bandwidth) are detected only if `detects_policers` says so, as it
//! does in the profile `linux`; gains are real numbers, not 256ths; the first window is paced only
//! if `counts_opening` says so, as there.
//! Chosen: the bandwidth is the greatest of 10 rounds by the kernel's filter of three samples; the
//! pacing margin of one percent applies to the first pace too, as in Linux; bursts are the kernel's
//! send quantum of a millisecond.
//! Cost: O(1) a packet.
//! Bound: measuring the least round trip costs 0.2 s in 10.2 s, two percent
//! (bbr/tests.rs: alone_it_uses_the_line_but_two_percent,
//! congestion_controls.rs: bbr_uses_a_line_but_two_percent); at most twice the bandwidth-delay
//! product is in flight (bbr/tests.rs: flows_in_a_deep_queue_hold_one_product_in_it).
//! Range: loss and marks are no signals: with a short buffer it loses many packets and takes the
//! share of others.

mod policer;

use super::path_model::{Bunch, Growth, next_pace, next_window, paces_by_a_model};
use super::rounds::{Quiet, Rounds};
use super::windowed::Windowed;
use super::{Acked, Beginning, Congested, Congestion, LawSettings, LostPacket, RateSample, pace};
use crate::settings::outside;
use fairq_sched::random::Random;
use fairq_sched::units::{Rate, Time};
use policer::{Policer, Seen};

settings! {
    /// Gains and times.
    pub struct Settings {
        /// Gain of pace and window in Startup; 2/ln 2 doubles the rate in a round. Drain paces with
        /// its inverse.
        pub startup_gain: f64 = 2.0 / core::f64::consts::LN_2,
        /// Gain of the window after Drain.
        pub window_gain: f64 = 2.0,
        /// Gain of the pace in the phase that probes for more bandwidth; the phase after it is
        /// below 1 by the same amount.
        pub probe_gain: f64 = 1.25,
        /// Rounds whose greatest delivery rate is the bandwidth.
        pub bandwidth_rounds: u64 = 10,
        /// How long a least round trip is valid.
        pub least_window: Time = Time::from_s(10),
        /// How long the window is held down to measure it again.
        pub probe_duration: Time = Time::from_ms(200),
        /// The least window, in packets; it is the window during that probe.
        pub window_min: f64 = 4.0,
        /// The part by which the pace is below the bandwidth.
        pub pacing_margin: f64 = 0.01,
        /// Whether the rate of a policer takes the place of the bandwidth: the mean of two
        /// intervals of at least 4 rounds, each with a fifth of losses and both about as fast, for
        /// 48 rounds. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub detects_policers: bool = false,
        /// Whether the round trip of the opening packet counts: it is the first least round trip,
        /// and spaces the first window. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub counts_opening: bool = false,
    }
}

impl LawSettings for Settings {
    fn fault(&self) -> Option<String> {
        let fault = outside(&[
            ("startup_gain", self.startup_gain, 1.0, 10.0),
            ("window_gain", self.window_gain, 0.0, 10.0),
            ("probe_gain", self.probe_gain, 1.0, 1.9),
            ("bandwidth_rounds", self.bandwidth_rounds as f64, 0.0, 1e6),
            ("window_min", self.window_min, 0.0, 1e6),
        ]);
        fault.or_else(|| pace::margin_fault(self.pacing_margin))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    /// Probing for bandwidth, in one of eight phases.
    ProbeBandwidth {
        phase: u64,
    },
    ProbeRoundTrip {
        /// When the probe has lasted long enough; `None` before the flight is down.
        done_at: Option<Time>,
        has_passed_round: bool,
    },
}

/// The model of the path, the state, and cwnd.
pub struct Bbr {
    settings: Settings,
    random: Random,
    first_window: f64,
    window: f64,
    /// Packets a second; `None` before the first round trip is known.
    pace: Option<f64>,
    length: u32,
    state: State,
    rounds: Rounds,
    quiet: Quiet,
    delivered: u64,
    /// BtlBw, in packets a second.
    bandwidth: Windowed,
    /// RTprop and when it was seen.
    least: Time,
    least_at: Time,
    growth: Growth,
    is_full: bool,
    phase_began: Time,
    aggregation: Aggregation,
    has_restarted: bool,
    /// Lost packets by which the window has not been reduced yet.
    losses: u64,
    has_lost: bool,
    /// Packets found lost so far.
    lost: u64,
    ahead: Option<Time>,
    policer: Policer,
    is_recovering: bool,
    /// Whether that is the recovery of a timeout.
    has_timed_out: bool,
    /// The first round of recovery: one packet is sent for each that is delivered.
    conserves: bool,
    /// The window before recovery or a probe of the round trip.
    saved_window: f64,
}

impl Bbr {
    /// Startup from the initial window.
    #[must_use]
    pub fn new(settings: &Settings, beginning: &Beginning) -> Self {
        Self {
            settings: settings.clone(),
            random: Random::new(beginning.seed, "bbr"),
            first_window: beginning.window,
            window: beginning.window,
            pace: None,
            length: 0,
            state: State::Startup,
            rounds: Rounds::default(),
            quiet: Quiet::default(),
            delivered: 0,
            bandwidth: Windowed::greatest(),
            least: Time::NEVER,
            least_at: beginning.now,
            growth: Growth::default(),
            is_full: false,
            phase_began: beginning.now,
            aggregation: Aggregation { bunch: Bunch::new(beginning.now), most: [0.0; 2], rounds: 0 },
            has_restarted: false,
            losses: 0,
            has_lost: false,
            lost: 0,
            ahead: None,
            policer: Policer::default(),
            is_recovering: false,
            has_timed_out: false,
            conserves: false,
            saved_window: 0.0,
        }
    }

    fn pace_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.settings.startup_gain,
            State::Drain => 1.0 / self.settings.startup_gain,
            State::ProbeBandwidth { .. } if self.policer.bandwidth().is_some() => 1.0,
            State::ProbeBandwidth { phase: 0 } => self.settings.probe_gain,
            State::ProbeBandwidth { phase: 1 } => 2.0 - self.settings.probe_gain,
            State::ProbeBandwidth { .. } | State::ProbeRoundTrip { .. } => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.settings.startup_gain,
            State::ProbeBandwidth { .. } => self.settings.window_gain,
            State::ProbeRoundTrip { .. } => 1.0,
        }
    }

    /// The bandwidth that is used: a policer's, if there is one.
    fn used_bandwidth(&self) -> f64 {
        self.policer.bandwidth().unwrap_or_else(|| self.bandwidth.value())
    }

    /// A multiple of the bandwidth-delay product.
    fn product(&self, gain: f64, bandwidth: f64) -> f64 {
        if self.least == Time::NEVER {
            return self.first_window;
        }
        libm::ceil(gain * bandwidth * self.least.as_s())
    }

    /// The window to set so that `window` packets can be in flight: three send quanta more, rounded
    /// to an even number, two more when probing.
    fn with_quanta(&self, window: f64) -> f64 {
        let even = 2.0 * libm::ceil((window + 3.0 * f64::from(self.burst())) / 2.0);
        if self.state == (State::ProbeBandwidth { phase: 0 }) { even + 2.0 } else { even }
    }

    fn inflight(&self, gain: f64) -> f64 {
        self.with_quanta(self.product(gain, self.bandwidth.value()))
    }

    /// Updates the bandwidth with the sample of an acknowledgement.
    fn sample_bandwidth(&mut self, rate: &RateSample) {
        let is_limited = rate.is_application_limited || self.quiet.covers(rate);
        if rate.packets_per_s >= self.bandwidth.value() || !is_limited {
            self.bandwidth.update(self.settings.bandwidth_rounds, self.rounds.count, rate.packets_per_s);
        }
    }

    /// The packets that will be in flight when the next one may leave (Linux:
    /// `bbr_packets_in_net_at_edt`), if that counts.
    fn at_departure(&self, flight: f64) -> f64 {
        let Some(ahead) = self.ahead else { return flight };
        let flight = if self.pace_gain() > 1.0 { flight + f64::from(self.burst()) } else { flight };
        (flight - libm::floor(self.used_bandwidth() * ahead.as_s())).max(0.0)
    }

    fn watch_policer(&mut self, acked: &Acked, rate: &RateSample, ends_round: bool) {
        let seen = Seen {
            now: acked.now,
            delivered: self.delivered,
            lost: self.lost,
            length: self.length,
            has_lost: self.has_lost,
            ends_round,
            is_limited: rate.is_application_limited || self.quiet.covers(rate),
            is_probing: matches!(self.state, State::ProbeBandwidth { .. }),
        };
        if self.policer.sample(&seen) {
            self.begin_cycle(acked.now);
        }
    }

    fn cycle(&mut self, acked: &Acked) {
        let State::ProbeBandwidth { phase } = self.state else {
            return;
        };
        let flight = self.at_departure(acked.flight as f64);
        let is_full_length = acked.now.saturating_sub(self.phase_began) > self.least;
        let is_over = match phase {
            0 => is_full_length && (self.has_lost || flight >= self.inflight(self.settings.probe_gain)),
            1 => is_full_length || flight <= self.inflight(1.0),
            _ => is_full_length,
        };
        if is_over {
            self.enter_phase((phase + 1) % PHASES, acked.now);
        }
    }

    fn enter_phase(&mut self, phase: u64, now: Time) {
        self.state = State::ProbeBandwidth { phase };
        self.phase_began = now;
    }

    /// Enters a random phase, except the one that drains what the first phase has put into the
    /// queue.
    fn begin_cycle(&mut self, now: Time) {
        let drawn = self.random.below(PHASES - 1);
        self.enter_phase((PHASES - drawn) % PHASES, now);
    }

    fn check_full(&mut self, ends_round: bool, rate: &RateSample) {
        if self.is_full || !ends_round || rate.is_application_limited || self.quiet.covers(rate) {
            return;
        }
        self.is_full = self.growth.ends_with(self.bandwidth.value());
    }

    fn check_drain(&mut self, now: Time, in_flight: u64) {
        if self.state == State::Startup && self.is_full {
            self.state = State::Drain;
        }
        if self.state == State::Drain && self.at_departure(in_flight as f64) <= self.inflight(1.0) {
            self.begin_cycle(now);
        }
    }

    fn update_least(&mut self, acked: &Acked, in_flight: u64, ends_round: bool) {
        let is_expired = acked.now > self.least_at.saturating_add(self.settings.least_window);
        if let Some(sample) = acked.round_trip
            && (sample < self.least || is_expired)
        {
            (self.least, self.least_at) = (sample, acked.now);
        }
        if is_expired && !self.has_restarted && !matches!(self.state, State::ProbeRoundTrip { .. }) {
            self.save_window();
            self.state = State::ProbeRoundTrip { done_at: None, has_passed_round: false };
        }
        self.probe_round_trip(acked.now, in_flight, ends_round);
        if acked.delivered > 0 {
            self.has_restarted = false;
        }
    }

    fn probe_round_trip(&mut self, now: Time, in_flight: u64, ends_round: bool) {
        let State::ProbeRoundTrip { done_at, has_passed_round } = self.state else {
            return;
        };
        self.quiet.mark(self.delivered, in_flight);
        match done_at {
            None if in_flight as f64 <= self.settings.window_min => {
                let done_at = Some(now.saturating_add(self.settings.probe_duration));
                self.state = State::ProbeRoundTrip { done_at, has_passed_round: false };
                self.rounds.begin(self.delivered);
            }
            None => {}
            Some(_) => {
                let has_passed_round = has_passed_round || ends_round;
                self.state = State::ProbeRoundTrip { done_at, has_passed_round };
                if has_passed_round {
                    self.leave_probe(now);
                }
            }
        }
    }

    /// Leaves the probe of the round trip if it has lasted long enough.
    fn leave_probe(&mut self, now: Time) {
        let State::ProbeRoundTrip { done_at: Some(done_at), .. } = self.state else {
            return;
        };
        if now <= done_at {
            return;
        }
        self.least_at = now;
        self.window = self.window.max(self.saved_window);
        if self.is_full { self.begin_cycle(now) } else { self.state = State::Startup }
    }

    fn save_window(&mut self) {
        let is_lowered = self.is_recovering || matches!(self.state, State::ProbeRoundTrip { .. });
        self.saved_window = if is_lowered { self.saved_window.max(self.window) } else { self.window };
    }

    fn set_pace(&mut self, smoothed: Time) {
        let part = 1.0 - self.settings.pacing_margin;
        if self.pace.is_none() && smoothed > Time::ZERO {
            self.pace = Some(part * self.settings.startup_gain * self.window / smoothed.as_s());
        }
        let pace = part * self.pace_gain() * self.used_bandwidth();
        self.pace = next_pace(self.pace, pace, self.is_full);
    }

    fn set_window(&mut self, acked: &Acked, in_flight: u64) {
        let delivered = acked.delivered as f64;
        if acked.delivered > 0 {
            self.window = (self.window - self.losses as f64).max(1.0);
            self.losses = 0;
            if self.conserves {
                self.window = self.window.max(in_flight as f64 + delivered);
            } else {
                let bandwidth = self.used_bandwidth();
                let aggregated = if self.is_full { self.aggregation.extra(bandwidth) } else { 0.0 };
                let target = self.with_quanta(self.product(self.window_gain(), bandwidth) + aggregated);
                let is_first = (self.delivered as f64) < self.first_window;
                self.window = next_window(self.window, delivered, target, self.is_full, is_first);
                self.window = self.window.max(self.settings.window_min);
            }
        }
        if matches!(self.state, State::ProbeRoundTrip { .. }) {
            self.window = self.window.min(self.settings.window_min);
        }
    }
}

impl Congestion for Bbr {
    paces_by_a_model!();

    /// The send quantum: what is sent in 1/1024 s at the pace, at least 2 packets, or 1 below 1.2
    /// Mbit/s.
    fn burst(&self) -> u32 {
        let Some(pace) = self.pace() else {
            return 2;
        };
        let packets = (pace.bit_per_s() / 1024).min(65_536 * 8) / (8 * u64::from(self.length.max(1)));
        let least = if pace.bit_per_s() < 1_200_000 { 1 } else { 2 };
        packets.clamp(least, 127) as u32
    }

    fn sent(&mut self, now: Time, flight: u64) {
        if flight > 0 || self.rounds.count == 0 || self.is_recovering {
            return;
        }
        self.has_restarted = true;
        self.aggregation.bunch = Bunch::new(now);
        match self.state {
            State::ProbeBandwidth { .. } => {
                self.pace = Some((1.0 - self.settings.pacing_margin) * self.used_bandwidth());
            }
            State::ProbeRoundTrip { .. } => self.leave_probe(now),
            State::Startup | State::Drain => {}
        }
    }

    fn opened(&mut self, now: Time, round_trip: Option<Time>, smoothed: Time, length: u32) {
        if self.settings.counts_opening {
            (self.least, self.least_at) = (round_trip.unwrap_or(Time::NEVER), now);
            self.length = length;
            self.set_pace(smoothed);
        }
    }

    fn acknowledged(&mut self, acked: &Acked) {
        self.length = acked.length;
        self.delivered += acked.delivered;
        let in_flight = acked.in_flight;
        let mut ends_round = false;
        if let Some(rate) = acked.rate {
            self.delivered = rate.delivered;
            self.ahead = rate.ahead;
            ends_round = self.rounds.ends_with(&rate);
            self.conserves &= !ends_round;
            if self.settings.detects_policers {
                self.watch_policer(acked, &rate, ends_round);
            }
            self.sample_bandwidth(&rate);
            self.aggregation.sample(acked, ends_round, self.used_bandwidth(), self.window);
            self.cycle(acked);
            self.check_full(ends_round, &rate);
        }
        self.check_drain(acked.now, in_flight);
        self.update_least(acked, in_flight, ends_round);
        self.set_pace(acked.smoothed);
        self.set_window(acked, in_flight);
        self.has_lost = false;
    }

    fn found_lost(&mut self, congested: &Congested) {
        self.losses += congested.packets;
        self.has_lost = true;
    }

    fn lost_packet(&mut self, _now: Time, _lost: &LostPacket) {
        self.lost += 1;
    }

    fn lost(&mut self, congested: &Congested) {
        self.save_window();
        // A recovery that follows another at once is the same one (Linux: `prev_ca_state` of
        // `bbr_set_cwnd_to_recover_or_restore` is that of the last acknowledgement).
        if self.is_recovering && !core::mem::take(&mut self.has_timed_out) {
            return;
        }
        (self.is_recovering, self.conserves) = (true, true);
        self.rounds.begin(self.delivered);
        // cwnd = packets in flight + packets acknowledged
        self.window = (congested.in_flight + congested.delivered).max(1) as f64;
        self.losses = 0;
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.save_window();
        (self.is_recovering, self.has_timed_out, self.conserves) = (true, true, false);
        (self.window, self.losses, self.growth) = (congested.restart, 0, Growth::default());
        self.rounds.begin(self.delivered);
    }

    fn recovered(&mut self, _now: Time) {
        (self.is_recovering, self.has_timed_out, self.conserves) = (false, false, false);
        self.window = self.window.max(self.saved_window);
    }

    fn phase(&self) -> &'static str {
        match self.state {
            State::Startup => "Startup",
            State::Drain => "Drain",
            State::ProbeBandwidth { .. } => "ProbeBW",
            State::ProbeRoundTrip { .. } => "ProbeRTT",
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", self.window);
        visit("bandwidth_packets_per_s", self.bandwidth.value());
        visit("least_s", if self.least == Time::NEVER { 0.0 } else { self.least.as_s() });
        visit("pace_gain", self.pace_gain());
    }
}

/// Packets acknowledged beyond what the bandwidth explains: aggregation of acknowledgements.
#[derive(Clone, Debug)]
struct Aggregation {
    bunch: Bunch,
    /// The most in each of two spans of rounds.
    most: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    fn sample(&mut self, acked: &Acked, ends_round: bool, bandwidth: f64, window: f64) {
        if acked.delivered == 0 {
            return;
        }
        self.rounds += u32::from(ends_round);
        if self.rounds >= AGGREGATION_ROUNDS {
            self.rounds = 0;
            self.most = [0.0, self.most[0]];
        }
        self.most[0] = self.most[0].max(self.bunch.excess(acked, bandwidth, window));
    }

    /// The extra window for aggregation, at most 100 ms of the bandwidth.
    fn extra(&self, bandwidth: f64) -> f64 {
        self.most[0].max(self.most[1]).min(0.1 * bandwidth)
    }
}

const PHASES: u64 = 8;
/// The spans of [`Aggregation`].
const AGGREGATION_ROUNDS: u32 = 5;

#[cfg(test)]
mod tests;
