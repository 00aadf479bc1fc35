//! PIE: refuses arriving packets with a probability that a controller steers by the queueing delay.
//!
//! Use when: the queueing delay should stay near a target and the decision fall on arrival. `codel`
//! decides on departure; for fair sharing use `fq_pie`, for L4S `dualpi2`.
//! Source: Pan, Natarajan, Baker and White, "Proportional Integral Controller Enhanced (PIE)", RFC
//! 8033 (2017), sections 4 and 5; by default in the form of Linux 6.1 (sch_pie.c), with `rfc` in
//! the RFC's.
//! Rules: Linux's form: whether the delay is short is judged by the last packet sent, not by the
//! last step (`pie_drop_early`); the burst allowance falls by the time between departures, not by
//! periods (`pie_process_dequeue`); a step that leaves no probability and finds short delays resets
//! the controller, but not before its first departure rate; a probability may exceed 1; a period
//! without delay multiplies it by 63/64 if the queue is empty (`pie_calculate_probability`); the
//! departure rate is a whole number of units of 1/256 B in 64 ns, 488 kbit/s, each eighth of an
//! average is rounded down, and the packet with which a measurement begins counts
//! (`pie_process_dequeue`); the first period ends half a second after the qdisc is made
//! (`pie_init`), here after time zero.
//! Departs: each queue has a controller of its own, which is always active (the RFC may turn it off
//! while the buffer is less than a third full); the probability is scaled by packet length only
//! with `byte_mode` (`pie_drop_early`: `bytemode`); a packet that finds the buffer full leaves the
//! sum of `derandomised` as it is; an idle queue without a departure rate has its whole burst
//! allowance again; 16 MiB that wait do not wrap to 0.
//! Chosen: periods follow one another from `first` on, with `rfc` from `update` on, and those that
//! have passed are made up when the queue is next touched: between touches nothing changes that the
//! controller sees. With `timestamps` the delay is that of the last packet sent, and 0 when nothing
//! waits. A measurement of the departure rate ends without a result if the queue empties first,
//! which takes push-outs. An idle queue's probability below 10⁻⁹ counts as none. By what a step is
//! divided at a small probability, the largest step, the extra one at a long delay, how fast an
//! idle queue forgets, the probability of a short queue, the bounds of `derandomised` and the size
//! of a measurement of the departure rate are the RFC's from memory and therefore settings.
//! Cost: O(1) a packet, and a step for each period that passed until the steps change nothing.
//! Bound: the probability is that of the plain reading of the RFC (delay_laws.rs:
//! pie_steps_as_the_plain_reading_does); nothing is refused in the burst allowance (delay_laws.rs:
//! pie_lets_a_burst_pass).
//! Changes: a rate means nothing to it: it goes by delays, or by the departures that it measures.
//! Probabilities stand.

use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, HeldPacket, Line, Slot, Verdict, traits};
use crate::control::pi::{Gains, Pi, is_gain, is_probability};
use crate::facts::{Facts, Overflow};
use crate::packet::{Packet, Reason};
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::random::Random;
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::{Bytes, Time};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// How the queueing delay is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum DelayBy {
    /// How long the last packet that was sent had waited.
    #[default]
    Timestamps,
    /// What waits, over the rate at which a busy queue is emptied (RFC 8033, section 5.2). Nothing
    /// is refused before a queue has held `measurement` bytes and sent them. Without `rfc` a rate
    /// is a multiple of 488 kbit/s, and a queue whose rate was measured as less is not kept short.
    DepartureRate,
}

settings! {
    /// The controller and its exceptions.
    pub struct Settings {
        /// The delay that is wanted.
        pub target: Time = Time::from_ms(15),
        /// The controller's period.
        pub update: Time = Time::from_ms(15),
        /// When the first period ends, from time zero on; with `rfc` it is one like all.
        pub first: Time = Time::from_ms(500),
        /// For the distance from the target, in 1/s.
        pub alpha: f64 = 0.125,
        /// For the change of the delay, in 1/s.
        pub beta: f64 = 1.25,
        /// How long packets pass after the queue was uncongested.
        pub burst: Time = Time::from_ms(150),
        /// The usual largest packet: with two of them or less waiting nothing is refused.
        pub mtu: Bytes = Bytes(1514),
        /// How the delay is known.
        pub delay: DelayBy = DelayBy::Timestamps,
        /// Bytes in a measurement of the departure rate.
        pub measurement: Bytes = Bytes(1 << 14),
        /// At small probabilities a step is divided, so that it does not overshoot; by rising
        /// probability (section 4.2).
        pub divisors: Vec<Divisor> =
            [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)]
            .map(|(below, by)| Divisor { below, by })
            .to_vec(),
        /// The largest step from the last probability of `divisors` on.
        pub step_max: f64 = 0.02,
        /// A delay beyond it adds `long_delay_step` to each step.
        pub long_delay: Time = Time::from_ms(250),
        /// What a step grows by at a long delay.
        pub long_delay_step: f64 = 0.02,
        /// What a period without delay leaves of the probability, as a part of it; without it
        /// 63/64, or 0.98 with `rfc`.
        pub idle_decay: Option<f64> = None,
        /// Below this probability nothing is refused while the delay was below half the target
        /// (section 4.1).
        pub short_probability: f64 = 0.2,
        /// Whether drops are spread out (section 5.4).
        pub derandomised: bool = true,
        /// Whether the probability of a packet shorter than `mtu` is in proportion to its length.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub byte_mode: bool = false,
        /// With `derandomised`: none is dropped before the probabilities since the last drop add up
        /// to this.
        pub accumulated_min: f64 = 0.85,
        /// With `derandomised`: one is dropped when they do to this.
        pub accumulated_max: f64 = 8.5,
        /// Whether packets that accept CE are marked in place of being dropped.
        pub ecn: bool = false,
        /// The probability above which such packets are dropped all the same.
        pub ecn_threshold: f64 = 0.1,
        /// The RFC's rules in place of Linux's.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub rfc: bool = false,
    }
}

/// A divisor of the step at small probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Divisor {
    /// At probabilities below it, and not below that of the divisor before.
    pub below: f64,
    /// The step is divided by it.
    pub by: f64,
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts {
            tells_flows_apart: false,
            marks_congestion: self.ecn,
            overflow: Overflow::Leaves,
            looks_at_queues: true,
            ..Facts::PLAIN
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        if self.target == Time::ZERO || self.update < Time(1_000_000) {
            return Some("pie: target is above 0 s, update at least 1 us".to_string());
        }
        if !is_gain(self.alpha) || !is_gain(self.beta) {
            return Some("pie: alpha and beta are numbers from 0".to_string());
        }
        if !is_probability(self.ecn_threshold) {
            return Some("pie: ecn_threshold is from 0 to 1".to_string());
        }
        if self.measurement.0 == 0 {
            return Some("pie: measurement is at least 1 B".to_string());
        }
        self.fault_of_steps().map(|fault| "pie: ".to_string() + fault)
    }

    fn variants() -> Vec<Self> {
        let eager =
            Self { alpha: 1e5, beta: 1e5, target: Time(1000), burst: Time::ZERO, mtu: Bytes(0), ..Self::default() };
        alloc::vec![
            Self { delay: DelayBy::DepartureRate, measurement: Bytes(1000), ..eager.clone() },
            Self { delay: DelayBy::DepartureRate, measurement: Bytes(1000), rfc: true, ..eager.clone() },
            Self { ecn: true, rfc: true, ..eager.clone() },
            Self { byte_mode: true, mtu: Bytes(1000), ..eager.clone() },
            Self {
                derandomised: false,
                ecn: true,
                ecn_threshold: 1.0,
                divisors: Vec::new(),
                long_delay: Time::ZERO,
                ..eager
            },
        ]
    }
}

impl Settings {
    /// Whether the burst allowance and the check for a short delay follow departures (Linux with
    /// timestamps).
    fn goes_by_last_sent(&self) -> bool {
        !self.rfc && self.delay == DelayBy::Timestamps
    }

    /// The probability of a packet of `length`, where that of the queue is `p` (`pie_drop_early`).
    fn of_length(&self, p: f64, length: u32) -> f64 {
        let Bytes(mtu) = self.mtu;
        if self.byte_mode && u64::from(length) <= mtu { p * f64::from(length) / mtu.max(1) as f64 } else { p }
    }

    fn decay(&self) -> f64 {
        self.idle_decay.unwrap_or(if self.rfc { 0.98 } else { 63.0 / 64.0 })
    }

    fn fault_of_steps(&self) -> Option<&'static str> {
        let rises = self.divisors.is_sorted_by(|before, after| before.below < after.below);
        let is_sound = |divisor: &Divisor| is_probability(divisor.below) && is_gain(divisor.by) && divisor.by >= 1.0;
        if !rises || !self.divisors.iter().all(is_sound) {
            return Some("divisors have `below` from 0 to 1, each above the one before, and `by` from 1");
        }
        let probabilities = [self.step_max, self.long_delay_step, self.decay(), self.short_probability];
        if !probabilities.into_iter().all(is_probability) {
            return Some("step_max, long_delay_step, idle_decay and short_probability are from 0 to 1");
        }
        let is_spread = is_gain(self.accumulated_max) && (0.0..=self.accumulated_max).contains(&self.accumulated_min);
        (!is_spread).then_some("accumulated_min is from 0, accumulated_max a number from accumulated_min")
    }
}

/// A controller for each queue.
pub struct Pie {
    settings: Settings,
    gains: Gains,
    controls: Vec<Control>,
    /// The probability of the queue that a packet arrived for last.
    touched: f64,
    random: Random,
}

/// The controller of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Control {
    pi: Pi,
    /// How long the last packet sent had waited.
    delay: Time,
    burst_left: Time,
    /// When a packet was last sent, in Linux's form.
    last_sent: Option<Time>,
    /// The probabilities since the last drop, added up.
    accumulated: f64,
    /// Whole periods that were gone through, from time zero on.
    periods: u64,
    measured: Measured,
}

/// The departure rate of a queue, while enough waits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Measured {
    /// When the measurement that goes on began, and the bytes sent since.
    current: Option<(Time, u64)>,
    /// In the RFC's form the average time that a measurement takes, in seconds; 0 before the first.
    average: f64,
    /// In Linux's form the average rate, in bytes/[`SCALE`] a [`TICK`]; 0 before the first.
    rate: u64,
}

impl Settings {
    /// How many periods have ended.
    fn periods(&self, now: Time) -> u64 {
        let first = if self.rfc { self.update } else { self.first };
        now.0.checked_sub(first.0).map_or(0, |since| since / self.update.0 + 1)
    }
}

impl Pie {
    /// No queue was seen.
    #[must_use]
    pub fn new(settings: &Settings, line: &Line) -> Self {
        let gains = Gains { target: settings.target.as_s(), alpha: settings.alpha, beta: settings.beta };
        Self {
            settings: settings.clone(),
            gains,
            controls: Vec::new(),
            touched: 0.0,
            random: Random::new(line.seed, "pie"),
        }
    }

    /// The controller of `queue`, brought up to `now` with `waiting` bytes in the queue since it
    /// was last touched.
    fn control(&mut self, now: Time, queue: Slot, waiting: u64) -> (&mut Control, &Settings) {
        let periods = self.settings.periods(now);
        if self.controls.len() <= queue as usize {
            let new = Control { burst_left: self.settings.burst, periods, ..Control::default() };
            self.controls.resize(queue as usize + 1, new);
        }
        let control = &mut self.controls[queue as usize];
        let mut left = periods - control.periods;
        control.periods = periods;
        while left > 0 {
            let before = control.pi;
            let is_same = control.step(waiting, &self.settings, &self.gains);
            left -= 1;
            if is_same {
                break;
            }
            let is_steady = before.previous == control.pi.previous && !control.decays(waiting, before.previous);
            if is_steady && before.probability >= 1.0 && control.pi.probability >= 1.0 {
                left = control.leap(control.pi.probability - before.probability, left);
            }
        }
        (control, &self.settings)
    }

    /// Whether the arriving packet is to be a signal; `waiting` bytes wait before it.
    fn is_signal(&mut self, now: Time, queue: Slot, waiting: u64, length: u32) -> bool {
        let (mtu, short_probability) = (self.settings.mtu.0, self.settings.short_probability);
        let half = self.gains.target / 2.0;
        let (rfc, by_last_sent) = (self.settings.rfc, self.settings.goes_by_last_sent());
        let (control, _) = self.control(now, queue, waiting);
        let p = control.pi.probability;
        let delay = if by_last_sent { control.delay.as_s() } else { control.pi.previous };
        let is_short = delay < half && p < short_probability;
        let is_little = if rfc { waiting <= 2 * mtu } else { waiting < 2 * mtu };
        if control.burst_left > Time::ZERO || is_short || is_little {
            self.touched = p;
            return false;
        }
        self.touched = p;
        let own = self.settings.of_length(p, length);
        let control = &mut self.controls[queue as usize];
        control.accumulated = if own == 0.0 { 0.0 } else { control.accumulated + own };
        let accumulated = control.accumulated;
        let is_signal = match self.settings.derandomised {
            true if accumulated < self.settings.accumulated_min => false,
            true if accumulated >= self.settings.accumulated_max => true,
            _ => self.random.unit() < own,
        };
        if is_signal {
            self.controls[queue as usize].accumulated = 0.0;
        }
        is_signal
    }
}

impl Control {
    /// Ends a period. Returns whether nothing changed.
    fn step(&mut self, waiting: u64, settings: &Settings, gains: &Gains) -> bool {
        let before = *self;
        self.move_on(waiting, settings, gains);
        *self == before
    }

    /// Whether a step of Linux's form multiplies the probability: nothing waits, and there was no
    /// delay in it nor in the step before, which found `previous`.
    fn decays(&self, waiting: u64, previous: f64) -> bool {
        waiting == 0 && previous == 0.0 && self.pi.previous == 0.0
    }

    /// Linux's probability beyond 1 moves by the same `step` as long as the delay stays: what it is
    /// `left` periods later, or when it comes back to 1. How many periods are left then.
    fn leap(&mut self, step: f64, left: u64) -> u64 {
        let p = &mut self.pi.probability;
        if step < 0.0 {
            let taken = (((*p - 1.0) / -step) as u64).min(left);
            *p += taken as f64 * step;
            return left - taken;
        }
        let until_overflow = |p: f64| {
            let steps = (OVERFLOW - p) / step;
            (steps as u64).saturating_add(u64::from(steps > (steps as u64) as f64)).max(1)
        };
        let rest = match left.checked_sub(until_overflow(*p)) {
            Some(beyond) => {
                *p = 1.0;
                beyond % until_overflow(1.0)
            }
            None => left,
        };
        *p += rest as f64 * step;
        0
    }

    fn move_on(&mut self, waiting: u64, settings: &Settings, gains: &Gains) {
        let delay = match settings.delay {
            DelayBy::Timestamps => self.delay.as_s(),
            DelayBy::DepartureRate => self.measured.delay(waiting, settings),
        };
        let (previous, p) = (self.pi.previous, self.pi.probability);
        let change = self.pi.change(delay, gains);
        let change = match settings.divisors.iter().find(|divisor| p < divisor.below) {
            Some(divisor) => change / divisor.by,
            None => change.min(settings.step_max),
        };
        let is_long = delay > settings.long_delay.as_s();
        let change = if is_long { change + settings.long_delay_step } else { change };
        let half = gains.target / 2.0;
        let is_calm = |p: f64| p == 0.0 && delay < half && previous < half;
        if !settings.rfc {
            // As the whole numbers of Linux are: of 64 bits, of which 56 are below 1.
            let moved = (p + change).max(0.0);
            self.pi.probability = if moved < OVERFLOW { moved } else { 1.0 };
            if self.decays(waiting, previous) {
                self.pi.probability *= settings.decay();
            }
            // While a queue is measured for the first time its delay is unknown, not 0.
            let is_known = settings.delay == DelayBy::Timestamps || self.measured.rate > 0 || waiting == 0;
            if is_calm(self.pi.probability) && is_known {
                let periods = self.periods;
                *self = Self { pi: self.pi, delay: self.delay, burst_left: settings.burst, periods, ..Self::default() };
            }
            return;
        }
        self.pi.add(change);
        if delay == 0.0 && previous == 0.0 {
            self.pi.probability *= settings.decay();
            if self.pi.probability < NOTHING {
                // Nothing is left of the congestion there was.
                (self.pi.probability, self.accumulated) = (0.0, 0.0);
                if waiting == 0 {
                    self.measured = Measured::default();
                }
            }
        }
        self.burst_left = self.burst_left.saturating_sub(settings.update);
        if is_calm(self.pi.probability) {
            self.burst_left = settings.burst;
        }
    }

    /// A packet was sent; `waiting` bytes are left.
    fn sent(&mut self, now: Time, packet: &Packet, waiting: u64, settings: &Settings) {
        self.delay = now - packet.arrival;
        let took = if settings.goes_by_last_sent() {
            self.last_sent.replace(now).map_or(Time::ZERO, |last| now - last)
        } else {
            self.measured.sent(now, packet.length.into(), waiting, settings)
        };
        if !settings.rfc {
            self.burst_left = self.burst_left.saturating_sub(took);
        }
    }
}

impl Measured {
    /// How long `waiting` bytes take, in seconds: what waits over the rate (Little's law). 0 before
    /// the first measurement has ended.
    fn delay(&self, waiting: u64, settings: &Settings) -> f64 {
        if settings.rfc {
            return waiting as f64 * self.average / settings.measurement.0 as f64;
        }
        // qdelay = (backlog << PIE_SCALE) / avg_dq_rate
        let ticks = (waiting * SCALE).checked_div(self.rate).unwrap_or(0);
        ticks as f64 * TICK.as_s()
    }

    /// `length` bytes were sent and `waiting` are left. Returns how long a measurement took that
    /// ended by it.
    fn sent(&mut self, now: Time, length: u64, waiting: u64, settings: &Settings) -> Time {
        let measurement = settings.measurement.0;
        let (start, sent) = match self.current {
            Some((start, sent)) => (start, sent + length),
            // Linux counts the packet with which a measurement begins.
            None if waiting >= measurement => (now, if settings.rfc { 0 } else { length }),
            None => return Time::ZERO,
        };
        self.current = Some((start, sent));
        let ticks = now.0 / TICK.0 - start.0 / TICK.0;
        if sent < measurement || (ticks == 0 && !settings.rfc) {
            return Time::ZERO;
        }
        self.current = (waiting >= measurement).then_some((now, 0));
        if settings.rfc {
            let time = (now - start).as_s();
            // The RFC's DQ_WEIGHT (appendix B).
            let weight = (measurement as f64 / 65536.0).min(1.0);
            self.average = if self.average == 0.0 { time } else { self.average + (time - self.average) * weight };
            return now - start;
        }
        let rate = sent * SCALE / ticks;
        self.rate = if self.rate == 0 { rate } else { self.rate - self.rate / 8 + rate / 8 };
        Time(ticks * TICK.0)
    }
}

impl BufferPolicy for Pie {
    traits!();

    no_changes!();

    fn admit(&mut self, now: Time, store: &Store, queue: Slot, _flow: Flow, packet: &mut Packet) -> Verdict {
        if !self.is_signal(now, queue, store.queue_bytes(queue), packet.length) {
            return Verdict::Pass;
        }
        let p = self.controls[queue as usize].pi.probability;
        if self.settings.ecn && p <= self.settings.ecn_threshold {
            Verdict::Notify(Reason::Early)
        } else {
            Verdict::Drop(Reason::Early)
        }
    }

    fn left(&mut self, now: Time, store: &Store, held: HeldPacket<'_>, is_sent: bool) {
        let waiting = store.queue_bytes(held.queue);
        let (control, settings) = self.control(now, held.queue, waiting + u64::from(held.packet.length));
        if is_sent {
            control.sent(now, held.packet, waiting, settings);
        }
        if waiting == 0 {
            control.delay = Time::ZERO;
            // What others pushed out would count as time in which nothing was sent.
            control.measured.current = None;
        }
    }

    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        if self.controls.len() <= flow as usize {
            return true;
        }
        let (control, settings) = self.control(now, flow, 0);
        let new = Control { burst_left: settings.burst, periods: control.periods, ..Control::default() };
        *control == new
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("drop_probability", Unit::None, self.touched.min(1.0)));
    }
}

/// Where a probability of Linux begins anew at 1.
const OVERFLOW: f64 = 256.0;
/// Linux's unit of time in schedulers (`PSCHED_SHIFT`).
const TICK: Time = Time(64_000);
/// What Linux multiplies bytes by, so that a rate in bytes a tick is a whole number (`PIE_SCALE`).
const SCALE: u64 = 1 << 8;
/// An idle queue's probability below this is none.
const NOTHING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates after each of `count` measurements of packets of 1500 B at `kbit_per_s`.
    fn rates(kbit_per_s: u64, count: usize) -> Vec<u64> {
        let (settings, mut measured) = (Settings::default(), Measured::default());
        let sends = (1..).map(|n| Time(n * 12_000_000_000_000 / kbit_per_s));
        let ends = sends.filter_map(|now| {
            let took = measured.sent(now, 1500, 30_000, &settings);
            (took > Time::ZERO).then_some(measured.rate)
        });
        ends.take(count).collect()
    }

    #[test]
    fn the_departure_rate_has_the_whole_numbers_of_linux() {
        // Eleven packets are 16 500 B. The first measurement has them in the time of ten: 5 Mbit/s
        // are 10.24, found as 11.26 at first, and 11 - 1 + 1 stays.
        assert_eq!(rates(5000, 4), [11, 11, 11, 11]);
        // 20 Mbit/s are 40.96: 45.06, then 45 - 5 + 5.
        assert_eq!(rates(20_000, 3), [45, 45, 45]);
        // 100 Mbit/s are 204.8: 225.28, then 225 - 28 + 25 and so on.
        assert_eq!(rates(100_000, 5), [225, 222, 220, 218, 216]);
        // Below 488 kbit/s there is none; the first measurement may still find one.
        assert_eq!(rates(480, 3), [1, 1, 1]);
        assert_eq!(rates(440, 3), [0, 0, 0]);
        // 20 kB at 11 take 465 454 ticks, 29.8 ms, and not 32.
        let measured = Measured { rate: 11, ..Measured::default() };
        assert_eq!(measured.delay(20_000, &Settings::default()), 465_454.0 * 64e-9);
    }

    #[test]
    fn by_bytes_a_short_packet_has_a_part_of_the_probability() {
        // `pie_drop_early`: packet_size · (prob / mtu) up to the MTU.
        let settings = Settings { byte_mode: true, ..Settings::default() };
        assert_eq!([757, 1514, 9000].map(|length| settings.of_length(0.5, length)), [0.25, 0.5, 0.5]);
        assert_eq!(Settings::default().of_length(0.5, 60), 0.5);
        // The probabilities of short packets add up more slowly, so that fewer are dropped.
        let drops = |byte_mode: bool| {
            let settings = Settings { byte_mode, burst: Time::ZERO, mtu: Bytes(1000), ..Settings::default() };
            let mut pie = Pie::new(&settings, &Line::new(crate::units::Rate::MAX));
            let periods = settings.periods(Time::ZERO);
            let control = Control { delay: Time::from_s(1), periods, ..Control::default() };
            pie.controls.push(Control { pi: Pi { probability: 0.5, previous: 1.0 }, ..control });
            (0..1000).filter(|_| pie.is_signal(Time::ZERO, 0, 100_000, 100)).count()
        };
        let (whole, part) = (drops(false), drops(true));
        assert!((9..11).contains(&(whole / part)) || whole > 8 * part, "{whole} {part}");
    }
}
