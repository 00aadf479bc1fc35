//! RLM: a layer more from time to time, as an experiment; if it loses packets it is dropped and
//! tried less often.
//!
//! Use when: you study the first receiver-driven scheme: joining as an experiment, with shared
//! learning. Its experiments cause losses; behind fair queueing use `plm`.
//! Source: McCanne, Jacobson and Vetterli, "Receiver-driven Layered Multicast", SIGCOMM 1996, for
//! the experiment, its timer's doubling and shared learning; the paper was not at hand. The four
//! states, how long each lasts, when an experiment has failed, the randomness of the timer and all
//! constants are those of ns-2's code (the paper lets a timer grow to 600 s).
//! Chosen: from memory or our own, because that code leaves it to its timers: the join timer is
//! half its mean plus an exponential time, sampled again while above four means. An event outside
//! of the steady state leaves the timer running. If it ends there, or while an experiment of a
//! lower layer is under way, it is sampled again. An experiment on the highest layer is checked
//! first. The lowest layer is never dropped.
//! Cost: O(layers) a loss, O(1) a packet.
//! Bound: the timers of a layer whose experiments fail are 5, 10, 20, 40, 60, 60 s, and one of 40 s
//! relaxes to 30, 22.5 and in the end 5 s (rlm.rs: a_failed_experiment_doubles_the_timer,
//! rlm.rs: time_without_loss_relaxes_the_timer).

use super::{Beginning, Control, Received, ReceiverSettings, source};
use crate::settings::outside;
use fairq_link::random::Stream;
use fairq_sched::units::Time;

settings! {
    /// Timers and their steps.
    pub struct Settings {
        /// A layer's timer grows by this factor when an experiment with it fails.
        pub alpha: f64 = 2.0,
        /// The timer of the top layer shrinks by this factor in a detection time without loss.
        pub beta: f64 = 0.75,
        /// The first and least mean timer of a layer.
        pub join_timer: Time = Time::from_s(5),
        /// The greatest mean timer of a layer.
        pub join_timer_max: Time = Time::from_s(60),
        /// The detection time of a loss before it has been measured.
        pub detection: Time = Time::from_s(5),
        /// The deviation of the detection time before it has been measured.
        pub deviation: Time = Time::from_s(2),
        /// How much of an observed time enters both.
        pub gain: f64 = 0.25,
        /// The part of lost packets above which a layer is dropped.
        pub loss_threshold: f64 = 0.25,
        /// The least number of packets over which that part is measured.
        pub loss_packets: u64 = 10,
    }
}

impl ReceiverSettings for Settings {
    fn control(&self, beginning: Beginning) -> Box<dyn Control> {
        Box::new(Rlm::new(self, beginning))
    }

    fn fault(&self, _source: &source::Settings) -> Option<String> {
        let times = [("join_timer", self.join_timer), ("detection", self.detection)];
        if let Some((name, _)) = times.into_iter().find(|(_, time)| *time == Time::ZERO) {
            return Some(format!("{name} is 0 s; it is above zero, like \"5 s\""));
        }
        if self.join_timer_max < self.join_timer {
            return Some(format!("join_timer_max is {}, below join_timer", self.join_timer_max));
        }
        if !(self.alpha >= 1.0 && self.alpha <= 1e6) {
            return Some(format!("alpha is {}; it is from 1 to 1000000", self.alpha));
        }
        outside(&[
            ("beta", self.beta, 0.0, 1.0),
            ("gain", self.gain, 0.0, 1.0),
            ("loss_threshold", self.loss_threshold, 0.0, 1.0),
        ])
    }
}

/// The state of loss handling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The receiver waits for the join timer; a loss counts as new.
    Steady,
    /// A loss was seen: losses that follow belong to it.
    Hysteresis,
    /// The receiver measures the part of lost packets.
    Measuring,
    /// The receiver has dropped a layer, and waits for the losses to end.
    Dropping,
}

/// The receiver.
pub struct Rlm {
    settings: Settings,
    layers: usize,
    level: usize,
    /// The mean join timer of each layer, in seconds.
    timers: Vec<f64>,
    /// The detection time of a loss and its deviation, in seconds.
    detection: f64,
    deviation: f64,
    state: State,
    state_ends: Time,
    joins: Time,
    relaxes: Time,
    /// By layer, when an experiment began, if one is under way.
    experiments: Vec<Option<Time>>,
    /// When the top layer was joined, and whether packets of it arrived.
    added: Time,
    delivers: bool,
    received: u64,
    lost: u64,
    announced: Option<usize>,
    stream: Stream,
}

impl Rlm {
    /// A receiver that takes the lowest layer.
    #[must_use]
    pub fn new(settings: &Settings, beginning: Beginning) -> Self {
        let layers = beginning.cumulative.len();
        let mut this = Self {
            layers,
            level: 1,
            timers: vec![settings.join_timer.as_s(); layers],
            detection: settings.detection.as_s(),
            deviation: settings.deviation.as_s(),
            settings: settings.clone(),
            state: State::Steady,
            state_ends: Time::NEVER,
            joins: Time::NEVER,
            relaxes: Time::NEVER,
            experiments: vec![None; layers],
            added: beginning.now,
            delivers: false,
            received: 0,
            lost: 0,
            announced: None,
            stream: beginning.stream,
        };
        this.draw_join(beginning.now);
        this.restart_relaxing(beginning.now);
        this
    }

    /// The time `now` plus the detection time and `deviations` deviations.
    fn after(&self, now: Time, deviations: f64) -> Time {
        now.saturating_add(Time::from_s_f64(self.detection + deviations * self.deviation))
    }

    fn draw_join(&mut self, now: Time) {
        let Some(mean) = self.timers.get(self.level).copied() else {
            self.joins = Time::NEVER;
            return;
        };
        let mut drawn = self.stream.exponential(mean);
        while drawn >= 4.0 * mean {
            drawn = self.stream.exponential(mean);
        }
        self.joins = now.saturating_add(Time::from_s_f64(mean / 2.0 + drawn));
    }

    fn restart_relaxing(&mut self, now: Time) {
        self.relaxes = self.after(now, 0.0);
    }

    /// The highest layer with an experiment under way, and since when.
    fn experiment(&self, now: Time) -> Option<(usize, Time)> {
        let is_open = |began: Time| now <= self.after(began, 2.0);
        let began = self.experiments.iter().enumerate().rev();
        began.filter_map(|(layer, began)| Some((layer, (*began)?))).find(|(_, began)| is_open(*began))
    }

    /// An experiment with `layer` has failed.
    fn back_off(&mut self, layer: usize) {
        let longer = (self.timers[layer] * self.settings.alpha).min(self.settings.join_timer_max.as_s());
        self.timers[layer] = longer;
        for higher in &mut self.timers[layer + 1..] {
            *higher = higher.max(longer);
        }
        self.experiments[layer] = None;
    }

    /// It took `seconds` from joining a layer to the first loss.
    fn learn(&mut self, seconds: f64) {
        let error = seconds - self.detection;
        self.deviation += self.settings.gain * (error.abs() - self.deviation);
        self.detection += self.settings.gain * error;
    }

    fn drop_layer(&mut self, now: Time) {
        self.level -= 1;
        self.delivers = true;
        self.enter(State::Dropping, self.after(now, 1.5));
        self.draw_join(now);
    }

    fn enter(&mut self, state: State, ends: Time) {
        (self.state, self.state_ends) = (state, ends);
        (self.received, self.lost) = (0, 0);
    }

    fn measure(&mut self, now: Time) {
        let ends = self.after(now, self.level as f64 / 2.0 + 1.5);
        self.enter(State::Measuring, ends);
    }

    /// Packets were lost in the steady state.
    fn lose(&mut self, now: Time) {
        if let Some((layer, began)) = self.experiment(now) {
            self.back_off(layer);
            if layer + 1 == self.level && self.level > 1 {
                self.learn(now.saturating_sub(began).as_s());
                return self.drop_layer(now);
            }
            if layer == self.level {
                // The other receiver's experiment has shown what our own would.
                self.draw_join(now);
            }
        }
        if self.added > Time::ZERO && now <= self.after(self.added, 2.0) {
            self.measure(now);
        } else {
            self.enter(State::Hysteresis, self.after(now, 1.5));
        }
    }

    fn join(&mut self, now: Time) {
        let is_free = self.experiment(now).is_none_or(|(layer, _)| layer > self.level);
        if self.state == State::Steady && is_free && self.delivers && self.level < self.layers {
            self.experiments[self.level] = Some(now);
            self.announced = Some(self.level);
            self.level += 1;
            (self.added, self.delivers) = (now, false);
            self.restart_relaxing(now);
        }
        self.draw_join(now);
    }
}

impl Control for Rlm {
    fn level(&self) -> usize {
        self.level
    }

    fn receive(&mut self, now: Time, packet: &Received) {
        self.delivers |= packet.layer + 1 == self.level;
        match self.state {
            State::Steady if packet.missing > 0 => self.lose(now),
            State::Measuring => {
                self.received += 1;
                self.lost += packet.missing;
                let all = self.received + self.lost;
                let is_much = self.lost as f64 > self.settings.loss_threshold * all as f64;
                if all >= self.settings.loss_packets && is_much && self.level > 1 {
                    self.drop_layer(now);
                }
            }
            _ => {}
        }
    }

    fn deadline(&self) -> Time {
        self.joins.min(self.relaxes).min(self.state_ends)
    }

    fn wake(&mut self, now: Time) {
        if self.state_ends <= now {
            if self.state == State::Hysteresis {
                self.measure(now);
            } else {
                self.enter(State::Steady, Time::NEVER);
                self.restart_relaxing(now);
            }
        }
        if self.relaxes <= now {
            if self.state == State::Steady {
                let timer = &mut self.timers[self.level - 1];
                *timer = (*timer * self.settings.beta).max(self.settings.join_timer.as_s());
            }
            self.restart_relaxing(now);
        }
        if self.joins <= now {
            self.join(now);
        }
    }

    fn announce(&mut self) -> Option<usize> {
        self.announced.take()
    }

    fn heard(&mut self, now: Time, layer: usize) {
        self.experiments[layer] = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::messages::Flags;

    fn rlm(layers: usize) -> Rlm {
        let beginning = Beginning { now: Time::ZERO, cumulative: vec![1; layers], stream: Stream::new(1, "x") };
        Rlm::new(&Settings::default(), beginning)
    }

    fn packet(layer: usize, missing: u64) -> Received {
        Received { layer, sequence: 0, length: 1000, flags: Flags::NONE, missing }
    }

    /// Lets time pass until `until`, with a packet of every layer each tenth of a second.
    fn pass(rlm: &mut Rlm, from: Time, until: impl Fn(&Rlm) -> bool) -> Time {
        let mut now = from;
        for _ in 0..100_000 {
            while rlm.deadline() <= now {
                rlm.wake(rlm.deadline());
                if until(rlm) {
                    return now;
                }
            }
            for layer in 0..rlm.level {
                rlm.receive(now, &packet(layer, 0));
            }
            if until(rlm) {
                return now;
            }
            now = now + Time::from_ms(100);
        }
        panic!("it never came to that");
    }

    #[test]
    fn a_failed_experiment_doubles_the_timer() {
        let mut rlm = rlm(2);
        let (mut now, mut timers) = (Time::ZERO, Vec::new());
        for _ in 0..6 {
            timers.push(rlm.timers[1]);
            now = pass(&mut rlm, now, |rlm| rlm.level == 2);
            // The second layer loses a packet at once.
            rlm.receive(now, &packet(0, 1));
            assert_eq!((rlm.level, rlm.state), (1, State::Dropping));
        }
        assert_eq!(timers, [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]);
    }

    #[test]
    fn time_without_loss_relaxes_the_timer() {
        let mut rlm = rlm(2);
        let now = pass(&mut rlm, Time::ZERO, |rlm| rlm.level == 2);
        rlm.timers[1] = 40.0;
        let mut timers = vec![40.0];
        pass(&mut rlm, now, |rlm| rlm.timers[1] != 40.0);
        for _ in 0..9 {
            timers.push(rlm.timers[1]);
            rlm.wake(rlm.relaxes);
        }
        let expected = [40.0, 30.0, 22.5, 16.875, 12.656_25, 9.492_187_5, 7.119_140_625, 5.339_355_468_75, 5.0, 5.0];
        assert_eq!(timers, expected);
    }

    #[test]
    fn a_join_timer_is_from_half_its_mean_to_four_and_a_half() {
        let mut rlm = rlm(2);
        let mut sum = 0.0;
        for _ in 0..10_000 {
            rlm.draw_join(Time::ZERO);
            let drawn = rlm.joins.as_s();
            assert!((2.5..22.5).contains(&drawn), "{drawn}");
            sum += drawn;
        }
        // An exponential time of mean 5 cut at 20: 5 · (1 − 4e⁻⁴/(1 − e⁻⁴)), standard error 0.044.
        let mean = 2.5 + 5.0 * (1.0 - 4.0 * 0.018_315_6 / (1.0 - 0.018_315_6));
        assert!((sum / 1e4 - mean).abs() < 0.18, "{} is not {mean}", sum / 1e4);
    }

    #[test]
    fn what_another_learned_is_learned() {
        let mut rlm = rlm(3);
        let joins = rlm.joins;
        rlm.heard(Time::from_s(1), 1);
        rlm.receive(Time::from_s(2), &packet(0, 1));
        assert_eq!((rlm.timers[1], rlm.timers[2], rlm.level), (10.0, 10.0, 1));
        assert_ne!(rlm.joins, joins, "sampled again");
        assert_eq!(rlm.state, State::Hysteresis);
    }

    #[test]
    fn losses_without_an_experiment_are_measured_before_a_layer_is_dropped() {
        let mut rlm = rlm(3);
        (rlm.level, rlm.joins) = (2, Time::NEVER);
        rlm.receive(Time::from_s(1), &packet(0, 1));
        assert_eq!((rlm.state, rlm.deadline()), (State::Hysteresis, Time::from_s(5)));
        rlm.wake(Time::from_s(5));
        rlm.wake(Time::from_s(9));
        assert_eq!(rlm.state, State::Measuring);
        // Two of each eight are lost: no more than a quarter. Then one more.
        for at in 0..18 {
            rlm.receive(Time::from_s(10), &packet(0, u64::from(at % 3 == 2)));
        }
        assert_eq!((rlm.level, rlm.state), (2, State::Measuring));
        rlm.receive(Time::from_s(10), &packet(0, 1));
        assert_eq!((rlm.level, rlm.state), (1, State::Dropping));
    }
}
