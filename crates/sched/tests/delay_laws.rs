//! CoDel, PIE and COBALT against plain readings of their sources.

use fairq_sched::buffer::{codel, pie};
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::packet::{Fates, Marks, Outcome, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SchedulerSettings};
use fairq_sched::units::{Bytes, PS_PER_S, Rate, Time};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Driver, End, header};
use fairq_testkit::shown::number;
use std::collections::VecDeque;

const MS: u64 = PS_PER_S / 1000;

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

fn fifo(buffer: BufferSettings) -> Queue {
    let fifo = SchedulerSettings::by_name("fifo").expect("fifo");
    Queue { buffer: Some(buffer), ..Queue::new(fifo, None) }
}

/// The greatest whole number that is at most interval/√count, found by halving.
fn spacing(interval: u64, count: u64) -> u64 {
    let (mut low, mut high) = (0_u64, interval + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let fits = u128::from(middle) * u128::from(middle) * u128::from(count) <= u128::from(interval).pow(2);
        if fits { low = middle } else { high = middle }
    }
    low
}

/// RFC 8289's deque, word by word, on one queue of (token, arrival, length, whether it can be
/// marked).
struct PlainCodel {
    target: u64,
    interval: u64,
    mtu: u64,
    queue: VecDeque<(u64, u64, u64, bool)>,
    first_above: u64,
    dropping: bool,
    drop_next: u64,
    count: u64,
    last_count: u64,
}

type Item = (u64, u64, u64, bool);

impl PlainCodel {
    fn take(&mut self, now: u64) -> (Option<Item>, bool) {
        let Some(packet) = self.queue.pop_front() else {
            self.first_above = 0;
            return (None, false);
        };
        let bytes: u64 = self.queue.iter().map(|packet| packet.2).sum();
        let mut ok_to_drop = false;
        if now - packet.1 < self.target || bytes <= self.mtu {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + self.interval;
        } else if now >= self.first_above {
            ok_to_drop = true;
        }
        (Some(packet), ok_to_drop)
    }

    /// What is sent, and what is dropped or marked before.
    fn dequeue(&mut self, now: u64, signals: &mut Vec<(u64, bool)>) -> Option<u64> {
        let (mut packet, mut ok) = self.take(now);
        if self.dropping {
            self.dropping = ok;
            while self.dropping && now >= self.drop_next {
                let (token, _, _, marks) = packet.expect("ok to drop");
                signals.push((token, marks));
                self.count += 1;
                if marks {
                    self.drop_next += spacing(self.interval, self.count);
                    break;
                }
                (packet, ok) = self.take(now);
                if ok {
                    self.drop_next += spacing(self.interval, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok {
            let (token, _, _, marks) = packet.expect("ok to drop");
            signals.push((token, marks));
            if !marks {
                packet = self.take(now).0;
            }
            self.dropping = true;
            let delta = self.count - self.last_count;
            self.count = if delta > 1 && now < self.drop_next + 16 * self.interval { delta } else { 1 };
            self.last_count = self.count;
            self.drop_next = now + spacing(self.interval, self.count);
        }
        packet.map(|packet| packet.0)
    }
}

#[test]
fn codel_is_the_pseudocode_of_its_rfc() {
    for seed in 0..300 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let target = draw.pick(&[1, 5 * MS, 20 * MS]);
        let interval = target.max(draw.pick(&[10 * MS, 100 * MS]));
        let mtu = draw.pick(&[0, 600, 1514]);
        let settings = codel::Settings {
            rfc: true,
            target: Time(target),
            interval: Time(interval),
            mtu: Bytes(mtu),
            ecn: draw.once_in(2),
            ..Default::default()
        };
        let mut discipline = fifo(BufferSettings::Codel(settings.clone())).build(&Line::new(rate(1_000_000)));
        let mut plain = PlainCodel {
            target,
            interval,
            mtu,
            queue: VecDeque::new(),
            first_above: 0,
            dropping: false,
            drop_next: 0,
            count: 0,
            last_count: 0,
        };
        let (mut fates, mut now, mut token, mut signals) = (Fates::new(), 1, 0, 0);
        // Times of overload and times of rest.
        let mut load = 3;
        for _ in 0..4000 {
            now += draw.below(8 * MS);
            if draw.once_in(400) {
                load = 1 + draw.below(6);
            }
            if draw.below(load + 2) < load {
                let mut packet = Packet::new(token, Time(now), draw.pick(&[64, 600, 1500]));
                packet.accepts = draw.pick(&[Marks::NONE, Marks::CE]);
                let marks = settings.ecn && packet.accepts == Marks::CE;
                plain.queue.push_back((token, now, u64::from(packet.length), marks));
                discipline.enqueue(Time(now), packet, &header(0), &mut fates);
                token += 1;
                continue;
            }
            let mut expected = Vec::new();
            let sent = plain.dequeue(now, &mut expected);
            let answer = match discipline.dequeue(Time(now), &mut fates) {
                Dequeue::Send(packet) => Some(packet.token),
                _ => None,
            };
            let found: Vec<(u64, bool)> =
                fates.drain(..).map(|fate| (fate.packet.token, matches!(fate.outcome, Outcome::Marked(_)))).collect();
            assert_eq!((sent, &expected), (answer, &found), "at {now}");
            signals += found.len();
        }
        assert!(target > 20 * MS || signals > 0, "nothing was signalled");
    }
}

#[test]
fn codel_drops_at_the_times_of_the_inverse_square_root_law() {
    // The line sends a packet in a millisecond, two come in each: the first is above target after
    // 10 ms.
    let settings = codel::Settings { rfc: true, ..Default::default() };
    let discipline = fifo(BufferSettings::Codel(settings)).build(&Line::new(rate(8_000_000)));
    let mut driver = Driver::new(discipline, rate(8_000_000));
    for token in 0..8000 {
        driver.offer_packet(0, Packet::new(token, Time(token * MS / 2), 1000));
    }
    let mut drops: Vec<u64> = driver
        .journeys
        .iter()
        .filter_map(|journey| match journey.end {
            End::Dropped(time, Reason::Early) => Some(time.0),
            _ => None,
        })
        .collect();
    assert!(drops.is_sorted() && drops.len() > 50, "{}", drops.len());
    // A drop is made at the first dequeue, once a millisecond, at or after its time.
    let mut due = drops.remove(0);
    for (count, drop) in drops.iter().enumerate() {
        due += spacing(100 * MS, count as u64 + 1);
        assert_eq!(*drop, due.div_ceil(MS) * MS, "drop {}", count + 2);
    }
}

#[test]
fn codel_drops_nothing_that_comes_below_target_once_an_interval() {
    // Bursts of 80 ms of work every 95 ms: most packets wait far above target, the first of each
    // burst does not.
    let discipline = fifo(BufferSettings::Codel(codel::Settings { ecn: true, rfc: true, ..Default::default() }))
        .build(&Line::new(rate(8_000_000)));
    let mut driver = Driver::new(discipline, rate(8_000_000));
    for token in 0..8000 {
        driver.offer_packet(0, Packet::new(token, Time(token / 80 * 95 * MS), 1000));
    }
    driver.finish();
    assert!(driver.journeys.iter().all(|journey| journey.departure().is_some()));
}

#[test]
fn codel_drops_several_packets_in_one_dequeue_and_marks_one() {
    for ecn in [false, true] {
        let settings = codel::Settings { ecn, rfc: true, ..Default::default() };
        let mut discipline = fifo(BufferSettings::Codel(settings)).build(&Line::new(rate(8_000_000)));
        let mut fates = Fates::new();
        for token in 0..100 {
            let mut packet = Packet::new(token, Time(1), 1000);
            packet.accepts = Marks::CE;
            discipline.enqueue(Time(1), packet, &header(0), &mut fates);
        }
        // 10 ms: above target. 110 ms: an interval later, the first signal. Then the line stops for
        // a second, in which n signals come due: the sum of 100/√k ms from 1 to n is at most 1000
        // ms for n = 32.
        let mut ask = |ms: u64| {
            let answer = discipline.dequeue(Time(ms * MS), &mut fates);
            assert!(matches!(answer, Dequeue::Send(_)));
            fates.drain(..).count()
        };
        assert_eq!((ask(10), ask(110)), (0, 1));
        let mut due = (0, 0);
        while due.1 + spacing(100 * MS, due.0 + 1) <= 1000 * MS {
            due = (due.0 + 1, due.1 + spacing(100 * MS, due.0 + 1));
        }
        assert_eq!(due.0, 32);
        // A marked packet is sent, so that there is one a dequeue, and the rest with the next ones.
        assert_eq!(ask(1110), if ecn { 1 } else { 32 });
        assert_eq!(ask(1110), usize::from(ecn));
    }
}

/// The numbers of a step, seconds among them.
#[derive(Clone, Copy)]
struct PlainSteps {
    step_max: f64,
    long_delay: f64,
    long_delay_step: f64,
    idle_decay: f64,
    short_probability: f64,
}

/// Those of the RFC.
const OF_THE_RFC: PlainSteps =
    PlainSteps { step_max: 0.02, long_delay: 0.25, long_delay_step: 0.02, idle_decay: 0.98, short_probability: 0.2 };

/// Settings whose steps are `steps`, divided as the RFC does or not at all.
fn with_steps(settings: pie::Settings, steps: PlainSteps, is_divided: bool) -> pie::Settings {
    pie::Settings {
        divisors: if is_divided { settings.divisors } else { Vec::new() },
        step_max: steps.step_max,
        long_delay: Time((steps.long_delay * 1000.0) as u64 * MS),
        long_delay_step: steps.long_delay_step,
        idle_decay: Some(steps.idle_decay),
        short_probability: steps.short_probability,
        ..settings
    }
}

/// RFC 8033's calculate_drop_prob, run at the end of each period, on the queue as it is then; or
/// `pie_calculate_probability`, `pie_process_dequeue` and `pie_drop_early` of Linux 6.1
/// (sch_pie.c), where its settings do not say `rfc`.
struct PlainPie {
    settings: pie::Settings,
    is: PlainSteps,
    p: f64,
    old: f64,
    current: f64,
    burst: i64,
    /// When a packet was last sent (`dq_tstamp`).
    stamp: Option<u64>,
    waiting: VecDeque<(u64, u64, u64)>,
    /// The measurement of the departure rate: since when, how much, and the average time of one.
    measuring: Option<(u64, u64)>,
    average: f64,
    /// Linux's: bytes in 2^8ths a tick (`avg_dq_rate`), none at 0; bytes of the measurement that
    /// goes on (`dq_count`), none below 0; the tick when it began (`dq_tstamp`).
    avg_dq_rate: u64,
    dq_count: i64,
    dq_tstamp: u64,
}

/// A tick of Linux's schedulers (`PSCHED_SHIFT`), in ps.
const PSCHED: u64 = 64_000;

impl PlainPie {
    fn bytes(&self) -> u64 {
        self.waiting.iter().map(|packet| packet.2).sum()
    }

    /// Ends the periods that are over at `now`, of which `period` have been ended.
    fn end_of_periods(&mut self, now: u64, period: &mut u64) {
        // `pie_init`: half a second after the qdisc is made.
        let first = if self.settings.rfc { self.settings.update.0 } else { self.settings.first.0 };
        while first + *period * self.settings.update.0 <= now {
            self.end_of_period();
            *period += 1;
        }
    }

    fn end_of_period(&mut self) {
        let target = self.settings.target.0 as f64 / 1e12;
        let delay = match self.settings.delay {
            pie::DelayBy::Timestamps => self.current,
            pie::DelayBy::DepartureRate if !self.settings.rfc => match self.avg_dq_rate {
                0 => 0.0,
                rate => ((self.bytes() << 8) / rate * PSCHED) as f64 / 1e12,
            },
            pie::DelayBy::DepartureRate => {
                let bytes = self.settings.measurement.0 as f64;
                if self.average == 0.0 { 0.0 } else { self.bytes() as f64 / (bytes / self.average) }
            }
        };
        let mut step = self.settings.alpha * (delay - target) + self.settings.beta * (delay - self.old);
        let is_divided = !self.settings.divisors.is_empty();
        for (below, by) in [(1e-6, 4.0), (1e-5, 4.0), (1e-4, 4.0), (1e-3, 4.0), (1e-2, 4.0), (1e-1, 2.0)] {
            if is_divided && self.p < below {
                step /= by;
            }
        }
        if (self.p >= 0.1 || !is_divided) && step > self.is.step_max {
            step = self.is.step_max;
        }
        self.p += step;
        if delay > self.is.long_delay {
            self.p += self.is.long_delay_step;
        }
        if !self.settings.rfc {
            self.p = if self.p < 0.0 { 0.0 } else { self.p };
            // 64 bits, of which 56 are below 1.
            self.p = if self.p >= 256.0 { 1.0 } else { self.p };
            let update_prob = delay != 0.0 || self.waiting.is_empty();
            if delay == 0.0 && self.old == 0.0 && update_prob {
                self.p *= self.is.idle_decay;
            }
            let by_rate = self.settings.delay == pie::DelayBy::DepartureRate;
            let is_measured = !by_rate || self.avg_dq_rate > 0;
            if delay < target / 2.0 && self.old < target / 2.0 && self.p == 0.0 && is_measured {
                (self.burst, self.stamp) = (self.settings.burst.0 as i64, None);
                (self.avg_dq_rate, self.dq_count) = (0, -1);
            }
            self.old = delay;
            return;
        }
        self.p = self.p.clamp(0.0, 1.0);
        if delay == 0.0 && self.old == 0.0 {
            self.p *= self.is.idle_decay;
            if self.p < 1e-9 {
                self.p = 0.0;
                if self.waiting.is_empty() {
                    (self.average, self.measuring) = (0.0, None);
                }
            }
        }
        self.burst = (self.burst - self.settings.update.0 as i64).max(0);
        if self.p == 0.0 && delay < target / 2.0 && self.old < target / 2.0 {
            self.burst = self.settings.burst.0 as i64;
        }
        self.old = delay;
    }

    fn sent(&mut self, now: u64) {
        let Some((_, arrival, length)) = self.waiting.pop_front() else { return };
        self.current = if self.waiting.is_empty() { 0.0 } else { (now - arrival) as f64 / 1e12 };
        let threshold = self.settings.measurement.0;
        if !self.settings.rfc && self.settings.delay == pie::DelayBy::Timestamps {
            self.burst = (self.burst - self.stamp.map_or(0, |stamp| now - stamp) as i64).max(0);
            self.stamp = Some(now);
            return;
        }
        if !self.settings.rfc {
            self.process_dequeue(now / PSCHED, length as i64, threshold as i64);
            return;
        }
        match self.measuring {
            None if self.bytes() >= threshold => self.measuring = Some((now, 0)),
            None => {}
            Some((since, so_far)) if so_far + length < threshold => self.measuring = Some((since, so_far + length)),
            Some((since, _)) => {
                let took = (now - since) as f64 / 1e12;
                self.average = if self.average == 0.0 { took } else { 0.75 * self.average + 0.25 * took };
                self.measuring = if self.bytes() >= threshold { Some((now, 0)) } else { None };
            }
        }
    }

    /// Linux's estimator of the departure rate, at tick `now`.
    fn process_dequeue(&mut self, now: u64, length: i64, threshold: i64) {
        let backlog = self.bytes() as i64;
        if backlog >= threshold && self.dq_count < 0 {
            (self.dq_tstamp, self.dq_count) = (now, 0);
        }
        if self.dq_count < 0 {
            return;
        }
        self.dq_count += length;
        let dtime = now - self.dq_tstamp;
        if self.dq_count < threshold || dtime == 0 {
            return;
        }
        let count = ((self.dq_count as u64) << 8) / dtime;
        let average = self.avg_dq_rate;
        self.avg_dq_rate = if average == 0 { count } else { average - (average >> 3) + (count >> 3) };
        (self.dq_tstamp, self.dq_count) = (now, if backlog < threshold { -1 } else { 0 });
        self.burst = (self.burst - (dtime * PSCHED) as i64).max(0);
    }

    /// Whether a packet that arrives now may be refused at all.
    fn may_refuse(&self) -> bool {
        let target = self.settings.target.0 as f64 / 1e12;
        let is_linux = !self.settings.rfc;
        let delay = if is_linux && self.settings.delay == pie::DelayBy::Timestamps { self.current } else { self.old };
        let is_short = delay < target / 2.0 && self.p < self.is.short_probability;
        let two = 2 * self.settings.mtu.0;
        self.burst == 0 && !is_short && if is_linux { self.bytes() >= two } else { self.bytes() > two }
    }
}

#[test]
fn pie_steps_as_the_plain_reading_does() {
    let (mut reached, mut empty_above_1) = ([0.0_f64, 1.0], 0);
    for seed in 0..120 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let settings = pie::Settings {
            target: Time(draw.pick(&[1, 15, 40]) * MS),
            delay: draw.pick(&[pie::DelayBy::Timestamps, pie::DelayBy::DepartureRate]),
            derandomised: draw.once_in(2),
            ecn: draw.once_in(2),
            rfc: draw.once_in(2),
            first: Time(draw.pick(&[500, 15, 7]) * MS),
            ..Default::default()
        };
        // What is not set is the RFC's, or Linux's.
        let (steps, settings) = match seed {
            0..60 if settings.rfc => (OF_THE_RFC, settings),
            0..60 => (PlainSteps { idle_decay: 63.0 / 64.0, ..OF_THE_RFC }, settings),
            _ => {
                let steps = PlainSteps {
                    step_max: draw.pick(&[0.02, 0.3]),
                    long_delay: draw.pick(&[0.25, 0.05]),
                    long_delay_step: draw.pick(&[0.02, 0.001]),
                    idle_decay: draw.pick(&[0.98, 0.5]),
                    short_probability: draw.pick(&[0.2, 0.01]),
                };
                (steps, with_steps(settings, steps, draw.once_in(2)))
            }
        };
        let mut plain = PlainPie {
            settings: settings.clone(),
            is: steps,
            p: 0.0,
            old: 0.0,
            current: 0.0,
            burst: settings.burst.0 as i64,
            stamp: None,
            waiting: VecDeque::new(),
            measuring: None,
            average: 0.0,
            avg_dq_rate: 0,
            dq_count: -1,
            dq_tstamp: 0,
        };
        let mut discipline = fifo(BufferSettings::Pie(settings.clone())).build(&Line::new(rate(1_000_000)));
        let (mut fates, mut now, mut period) = (Fates::new(), 1, 0);
        let mut load = 3;
        for token in 0..20_000_u64 {
            now += draw.below(2 * MS);
            if draw.once_in(1000) {
                // Another load, after a while of rest; before half of them all is sent.
                load = draw.pick(&[1, 3, 4, 9]);
                if draw.once_in(2) {
                    empty_above_1 += usize::from(plain.p > 1.0);
                    while !plain.waiting.is_empty() {
                        now += draw.below(MS / 10);
                        plain.end_of_periods(now, &mut period);
                        discipline.dequeue(Time(now), &mut fates);
                        plain.sent(now);
                    }
                }
                now += draw.below(2000 * MS);
            }
            plain.end_of_periods(now, &mut period);
            if draw.below(6) >= load.min(5) {
                discipline.dequeue(Time(now), &mut fates);
                plain.sent(now);
            }
            let (length, may_refuse) = (draw.pick(&[100, 1000, 1500]), plain.may_refuse());
            let mut packet = Packet::new(token, Time(now), length);
            packet.accepts = Marks::CE;
            let is_held = discipline.enqueue(Time(now), packet, &header(0), &mut fates).is_some();
            let (p, expected) = (number(&discipline, "drop_probability"), plain.p.min(1.0));
            assert!((p - expected).abs() < 1e-9, "{p}, {expected} at {now}");
            if is_held {
                plain.waiting.push_back((token, now, length.into()));
            }
            for fate in fates.drain(..) {
                assert!(may_refuse, "{fate:?} at {now}");
                // The threshold of marks is where ECN gives way to drops.
                let marks = matches!(fate.outcome, Outcome::Marked(_));
                assert_eq!(marks, settings.ecn && plain.p <= 0.1, "{fate:?} at {}", plain.p);
            }
            reached = [reached[0].max(plain.p), if plain.p > 0.0 { reached[1].min(plain.p) } else { reached[1] }];
        }
    }
    assert!(reached[0] > 1.0 && reached[1] < 1e-6, "{reached:?}: a part of the range was not seen");
    assert!(empty_above_1 > 10, "{empty_above_1}");
}

#[test]
fn pie_lets_a_burst_pass() {
    // 100 ms of work at once, and as much as the line carries from then on: after 150 ms the
    // controller may refuse.
    for rfc in [true, false] {
        let pie = pie::Settings { rfc, ..Default::default() };
        let discipline = fifo(BufferSettings::Pie(pie)).build(&Line::new(rate(8_000_000)));
        let mut driver = Driver::new(discipline, rate(8_000_000));
        for token in 0..3000 {
            driver.offer_packet(0, Packet::new(token, Time(token.saturating_sub(100) * MS), 1000));
        }
        let first = driver.journeys.iter().position(|journey| matches!(journey.end, End::Dropped(_, Reason::Early)));
        let first = driver.journeys[first.expect("the delay stays above target")].arrival.time;
        assert!(first >= Time(150 * MS), "{first:?}");
    }
}

/// The packets that a PIE of `settings` drops of an overload, and the least that the probabilities
/// add up to between two.
fn spread(settings: pie::Settings, seed: u64) -> (Vec<u64>, f64) {
    let line = Line { seed, ..Line::new(rate(8_000_000)) };
    // Linux's probability goes beyond 1, and is shown as 1.
    let settings = pie::Settings { rfc: true, ..settings };
    let mut driver = Driver::new(fifo(BufferSettings::Pie(settings)).build(&line), rate(8_000_000));
    let (mut dropped, mut sum, mut shortest) = (Vec::new(), 0.0, f64::MAX);
    for token in 0..20_000 {
        driver.offer_packet(0, Packet::new(token, Time(token * MS * 4 / 5), 1000));
        sum += number(driver.discipline(), "drop_probability");
        if let End::Dropped(..) = driver.journeys[token as usize].end {
            dropped.push(token);
            shortest = f64::min(shortest, sum);
            sum = 0.0;
        }
    }
    (dropped, shortest)
}

#[test]
fn pie_spreads_its_drops() {
    // Between two drops the probabilities add up to 0.85 at least.
    for derandomised in [true, false] {
        let (_, shortest) = spread(pie::Settings { derandomised, ..Default::default() }, 1);
        assert_eq!(shortest >= 0.85, derandomised, "{shortest}");
    }
}

#[test]
fn pie_draws_between_the_sums_that_are_set() {
    // Where the least sum is the greatest nothing is left to chance.
    let set = |accumulated_min, accumulated_max| {
        let settings = pie::Settings { accumulated_min, accumulated_max, ..Default::default() };
        let [(one, shortest), (other, _)] = [1, 2].map(|seed| spread(settings.clone(), seed));
        assert!(shortest >= accumulated_min && one.len() > 100, "{shortest}, {} dropped", one.len());
        one == other
    };
    assert!(set(2.0, 2.0));
    assert!(!set(2.0, 8.5));
}

#[test]
fn pie_refuses_settings_without_sense() {
    let with = |change: &dyn Fn(&mut pie::Settings)| {
        let mut settings = pie::Settings::default();
        change(&mut settings);
        fifo(BufferSettings::Pie(settings)).fault()
    };
    let divisors = |of: &[(f64, f64)]| {
        let divisors: Vec<_> = of.iter().map(|&(below, by)| pie::Divisor { below, by }).collect();
        with(&move |settings| settings.divisors.clone_from(&divisors))
    };
    let steps = "pie: divisors have `below` from 0 to 1, each above the one before, and `by` from 1";
    let sums = "pie: accumulated_min is from 0, accumulated_max a number from accumulated_min";
    let parts = "pie: step_max, long_delay_step, idle_decay and short_probability are from 0 to 1";
    for (fault, allowed) in [
        (divisors(&[(0.1, 2.0), (0.01, 8.0)]), steps),
        (divisors(&[(0.1, 2.0), (0.1, 8.0)]), steps),
        (divisors(&[(0.1, 0.0)]), steps),
        (divisors(&[(f64::NAN, 2.0)]), steps),
        (divisors(&[(0.1, f64::INFINITY)]), steps),
        (with(&|settings| settings.step_max = 1.5), parts),
        (with(&|settings| settings.long_delay_step = -0.1), parts),
        (with(&|settings| settings.idle_decay = Some(f64::NAN)), parts),
        (with(&|settings| settings.short_probability = 2.0), parts),
        (with(&|settings| settings.accumulated_min = 9.0), sums),
        (with(&|settings| settings.accumulated_min = -1.0), sums),
        (with(&|settings| settings.accumulated_max = f64::INFINITY), sums),
    ] {
        assert_eq!(fault.as_deref(), Some(allowed));
    }
    assert_eq!(divisors(&[]), None);
}

#[test]
fn cobalt_holds_a_flood_that_fills_the_queue_under_codel() {
    // Twice what the line carries, from one that does not listen, for 20 s, with room for a
    // second's worth.
    let mean = |name: &str| {
        let buffer = BufferSettings::by_name(name).expect("a policy");
        let queue = Queue { limit: Some(fairq_sched::units::Limit::Packets(1000)), ..fifo(buffer) };
        let mut driver = Driver::new(queue.build(&Line::new(rate(8_000_000))), rate(8_000_000));
        let mut sum = 0;
        for token in 0..40_000 {
            driver.offer_packet(0, Packet::new(token, Time(token * MS / 2), 1000));
            sum += if token >= 30_000 { driver.discipline().held().packets } else { 0 };
        }
        sum / 10_000
    };
    assert!(mean("codel") > 900, "{}", mean("codel"));
    assert!(mean("cobalt") < 300, "{}", mean("cobalt"));
}
