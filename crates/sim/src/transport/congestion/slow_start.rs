//! Slow starts, and the window with its ssthresh, for congestion controls that react to losses.
//!
//! Source: RFC 5681, sections 3.1 and 4.1; RFC 3742 (Limited Slow-Start), section 2; RFC 9406
//! (HyStart++), section 4.
//! Chosen: the standard start adds at most one packet an acknowledgement, HyStart++ at most 8, or
//! without a limit if the connection paces its packets (its L); after the first slow start
//! HyStart++ is the standard one; a window may pass ssthresh by what one acknowledgement adds.
//! Cost: O(1) an acknowledgement.

use super::{AVOIDANCE, Acked, Beginning, Congested, Cwnd, SLOW_START};
use fairq_sched::units::{PS_PER_S, Time};

/// How the window grows before it reaches a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "lowercase"))]
pub enum SlowStart {
    /// One packet for each acknowledgement (RFC 5681).
    #[default]
    Standard,
    /// Above 100 packets at most 50 a round trip (RFC 3742).
    Limited,
    /// Ends when the round trip grows, after five rounds of a quarter of the growth (RFC 9406).
    Hystart,
    /// Linux's HyStart: ends when acknowledgements have arrived in a train for half of the least
    /// round trip, or when the round trip has grown (Ha and Rhee, 2011; `hystart_update` of
    /// `tcp_cubic.c`).
    Linux,
}

/// RFC 3742, section 2: the recommended max_ssthresh, in packets.
const LIMITED_FROM: f64 = 100.0;
/// RFC 9406, section 4.3: the recommended constants.
const SAMPLES: u32 = 8;
const RISE_MIN: Time = Time::from_ms(4);
const RISE_MAX: Time = Time::from_ms(16);
const RISE_DIVISOR: u64 = 8;
const CONSERVATIVE_DIVISOR: f64 = 4.0;
const CONSERVATIVE_ROUNDS: u32 = 5;
/// L of a sender that does not pace.
const BURST: u64 = 8;

/// cwnd, ssthresh, and the slow start between them.
#[derive(Clone, Debug)]
pub struct Window {
    pub(super) packets: f64,
    pub(super) threshold: f64,
    first: f64,
    slow_start: SlowStart,
    /// The criterion that ends slow start before a packet is lost.
    watch: Option<Box<Watch>>,
    /// Whether an acknowledgement may add any number of packets in HyStart++.
    is_paced: bool,
    /// Whether slow start counts all packets that an acknowledgement reports.
    counts_all: bool,
}

impl Window {
    /// The initial window; the first slow start ends at `first_threshold`, or where a packet is
    /// lost.
    #[must_use]
    pub fn new(slow_start: SlowStart, first_threshold: Option<u32>, beginning: &Beginning) -> Self {
        Self {
            packets: beginning.window,
            threshold: first_threshold.map_or(f64::INFINITY, f64::from),
            first: beginning.window,
            slow_start,
            watch: Watch::of(slow_start).map(Box::new),
            is_paced: beginning.is_paced,
            counts_all: beginning.counts_all,
        }
    }

    /// cwnd.
    #[must_use]
    pub const fn packets(&self) -> f64 {
        self.packets
    }

    /// ssthresh; infinite in the first slow start.
    #[must_use]
    pub const fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Whether the window is below ssthresh.
    #[must_use]
    pub fn is_starting(&self) -> bool {
        self.packets < self.threshold
    }

    /// Takes an acknowledgement if the window is in slow start. Returns whether it was.
    pub fn starts(&mut self, acked: &Acked) -> bool {
        if let Some(Watch::Rises(hystart)) = self.watch.as_deref_mut()
            && acked.begins_round
            && hystart.begin_round()
        {
            // After the rounds of conservative slow start: ssthresh = cwnd
            self.leave();
        }
        if !self.is_starting() {
            return false;
        }
        if let Some(Watch::Trains(trains)) = self.watch.as_deref_mut()
            && trains.end(acked, self.packets, self.is_paced)
        {
            self.threshold = self.packets;
            return false;
        }
        if acked.lets_grow() {
            let grown = self.packets + self.growth(acked.newly);
            self.packets = if self.counts_all { grown.min(self.threshold) } else { grown };
        }
        if let (Some(Watch::Rises(hystart)), Some(sample)) = (self.watch.as_deref_mut(), acked.round_trip) {
            hystart.sample(sample);
        }
        true
    }

    /// The growth in slow start by an acknowledgement of `newly` packets.
    fn growth(&self, newly: u64) -> f64 {
        if let Some(Watch::Rises(hystart)) = self.watch.as_deref() {
            let packets = if self.is_paced { newly } else { newly.min(BURST) } as f64;
            return if hystart.baseline.is_some() { packets / CONSERVATIVE_DIVISOR } else { packets };
        }
        let packets = if self.counts_all { newly as f64 } else { 1.0 };
        if self.slow_start == SlowStart::Limited && self.packets > LIMITED_FROM {
            // K = int(cwnd / (0.5 max_ssthresh)); cwnd += 1 / K
            return packets / (self.packets / (0.5 * LIMITED_FROM)).floor();
        }
        packets
    }

    /// Ends slow start at the present window.
    pub fn leave(&mut self) {
        self.threshold = self.packets;
        self.forget_rises();
    }

    /// Grows the window in avoidance.
    pub fn grow(&mut self, packets: f64) {
        self.packets += packets;
    }

    /// After a loss or a mark: sets cwnd and ssthresh to `packets`, and at least to 2.
    pub fn reduce(&mut self, packets: f64) {
        self.packets = packets.max(2.0);
        self.leave();
    }

    /// Sets cwnd and ssthresh, for a congestion control that computes them separately.
    pub fn set(&mut self, packets: f64, threshold: f64) {
        self.leave();
        (self.packets, self.threshold) = (packets, threshold);
    }

    /// After a timeout: slow start from a packet to a threshold, which a second timeout of a
    /// packet does not change.
    pub fn restart(&mut self, threshold: f64, congested: &Congested) {
        if !congested.is_repeated {
            self.reduce(threshold);
        }
        self.forget_rises();
        if let Some(Watch::Trains(trains)) = self.watch.as_deref_mut() {
            trains.has_ended = false;
        }
        self.packets = congested.restart;
    }

    /// HyStart++ applies to the first slow start only.
    fn forget_rises(&mut self) {
        if matches!(self.watch.as_deref(), Some(Watch::Rises(_))) {
            self.watch = None;
        }
    }

    /// Both, for the connection.
    pub const fn cwnd(&mut self) -> Cwnd<'_> {
        Cwnd { window: &mut self.packets, threshold: &mut self.threshold }
    }

    /// After an idle time: at most the initial window.
    pub fn rest(&mut self) {
        self.packets = self.packets.min(self.first);
    }

    /// Slow start, its conservative kind (RFC 9406, section 4.2), or avoidance.
    #[must_use]
    pub fn phase(&self) -> &'static str {
        match (self.is_starting(), self.watch.as_deref()) {
            (true, Some(Watch::Rises(Hystart { baseline: Some(_), .. }))) => "conservative slow start",
            (true, _) => SLOW_START,
            (false, _) => AVOIDANCE,
        }
    }

    /// Passes cwnd and ssthresh to `visit`.
    pub fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", self.packets);
        visit("threshold_packets", self.threshold);
    }
}

/// The ssthresh of ns-2's slowdown(): a whole number and at least 2, unlike cwnd.
pub(super) fn threshold_of_ns2(packets: f64) -> f64 {
    libm::floor(packets).max(2.0)
}

/// What ends a slow start before a packet is lost.
#[derive(Clone, Debug)]
enum Watch {
    /// HyStart++.
    Rises(Hystart),
    /// Linux's HyStart.
    Trains(Trains),
}

impl Watch {
    fn of(slow_start: SlowStart) -> Option<Self> {
        match slow_start {
            SlowStart::Standard | SlowStart::Limited => None,
            SlowStart::Hystart => Some(Self::Rises(Hystart::default())),
            SlowStart::Linux => Some(Self::Trains(Trains::default())),
        }
    }
}

/// The state of HyStart++ about the last round and this one.
#[derive(Clone, Debug)]
struct Hystart {
    last_least: Time,
    least: Time,
    samples: u32,
    /// cssBaselineMinRtt and the number of rounds that began since it was set, in conservative slow
    /// start.
    baseline: Option<(Time, u32)>,
}

impl Default for Hystart {
    fn default() -> Self {
        Self { last_least: Time::NEVER, least: Time::NEVER, samples: 0, baseline: None }
    }
}

impl Hystart {
    /// Begins another round. Returns whether it is the one after conservative slow start. The part
    /// of a round in which that began counts as a round.
    fn begin_round(&mut self) -> bool {
        (self.last_least, self.least, self.samples) = (self.least, Time::NEVER, 0);
        self.baseline.as_mut().is_some_and(|(_, rounds)| {
            *rounds += 1;
            *rounds >= CONSERVATIVE_ROUNDS
        })
    }

    fn sample(&mut self, sample: Time) {
        self.least = self.least.min(sample);
        self.samples += 1;
        if self.samples < SAMPLES {
            return;
        }
        match self.baseline {
            // Without a last round the sum is NEVER.
            None if self.least >= self.last_least.saturating_add(rise(self.last_least)) => {
                self.baseline = Some((self.least, 0));
            }
            // The rise was not a queue: resume.
            Some((baseline, _)) if self.least < baseline => self.baseline = None,
            _ => {}
        }
    }
}

/// The state of Linux's HyStart about a round, and about all rounds.
#[derive(Clone, Debug)]
struct Trains {
    /// delay_min
    least: Time,
    /// round_start
    begun: Time,
    /// last_ack
    latest: Time,
    /// curr_rtt
    round_least: Time,
    /// sample_cnt
    samples: u32,
    /// found
    has_ended: bool,
}

impl Default for Trains {
    fn default() -> Self {
        let (least, never) = (Time::NEVER, Time::ZERO);
        Self { least, begun: never, latest: never, round_least: least, samples: 0, has_ended: false }
    }
}

impl Trains {
    /// Takes an acknowledgement in slow start with this `window`. Returns whether slow start ends
    /// with it.
    fn end(&mut self, acked: &Acked, window: f64, is_paced: bool) -> bool {
        let Some(sample) = acked.round_trip else { return false };
        self.least = self.least.min(sample);
        if self.has_ended {
            return false;
        }
        if acked.begins_round {
            (self.begun, self.latest) = (acked.now, acked.now);
            (self.round_least, self.samples) = (Time::NEVER, 0);
        }
        if window < WINDOW_LOW {
            return false;
        }
        if acked.now.saturating_sub(self.latest) <= TRAIN_GAP {
            self.latest = acked.now;
            let rate = 2.0 * window * f64::from(acked.length) / acked.smoothed.as_s().max(1e-6);
            let device = Time(((4.0 * TSO_BYTES / rate).min(TRAIN_SLACK.as_s()) * PS_PER_S as f64) as u64);
            let length = self.least + device;
            let length = if is_paced { length } else { Time(length.0 / 2) };
            self.has_ended = acked.now.saturating_sub(self.begun) > length;
        }
        self.round_least = self.round_least.min(sample);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.round_least > self.least.saturating_add(rise(self.least)) {
            self.has_ended = true;
        }
        self.has_ended
    }
}

/// hystart_low_window: below it slow start continues.
const WINDOW_LOW: f64 = 16.0;
/// hystart_ack_delta_us: acknowledgements further apart are no train.
const TRAIN_GAP: Time = Time::from_ms(2);
/// hystart_ack_delay: the time of the largest segments of the device at the pacing rate, at most a
/// millisecond.
const TSO_BYTES: f64 = 65_536.0;
const TRAIN_SLACK: Time = Time::from_ms(1);

/// RttThresh: by how much the least round trip of a round must exceed that of the last.
fn rise(least: Time) -> Time {
    Time(least.0 / RISE_DIVISOR).clamp(RISE_MIN, RISE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round in which every packet is acknowledged separately, all with one round trip.
    fn round(window: &mut Window, trip: Time) -> bool {
        let mut was_starting = true;
        for packet in 0..window.packets() as u64 {
            let acked = Acked { begins_round: packet == 0, round_trip: Some(trip), ..Acked::of(Time::ZERO, 1) };
            was_starting = window.starts(&acked);
        }
        was_starting
    }

    #[test]
    fn limited_slow_start_takes_198_round_trips_from_100_to_10_000() {
        let mut window = Window::new(SlowStart::Limited, None, &Beginning::with_window(100.0));
        let mut rounds = 0;
        while window.packets() < 9_999.5 {
            round(&mut window, Time::from_ms(100));
            rounds += 1;
        }
        assert_eq!(rounds, 198);
        let mut window = Window::new(SlowStart::Limited, None, &Beginning::with_window(10.0));
        let windows: Vec<u64> = (0..5)
            .map(|_| {
                round(&mut window, Time::from_ms(100));
                window.packets() as u64
            })
            .collect();
        assert_eq!(windows[..3], [20, 40, 80], "below 100 it is the standard one");
    }

    #[test]
    fn hystart_asks_for_a_rise_of_an_eighth_between_4_and_16_ms() {
        for (trip, rise_ms) in [(10, 4), (40, 5), (200, 16)] {
            let (trip, threshold) = (Time::from_ms(trip), Time::from_ms(rise_ms));
            assert_eq!(rise(trip), threshold);
            // Eight samples at full growth, then a quarter of it.
            for (rise, grown) in [(threshold, 20.0 + 8.0 + 12.0 / 4.0), (Time(threshold.0 - 1), 40.0)] {
                let mut window = Window::new(SlowStart::Hystart, None, &Beginning::with_window(10.0));
                round(&mut window, trip);
                assert_eq!(window.packets(), 20.0);
                round(&mut window, trip + rise);
                assert_eq!(window.packets(), grown);
            }
        }
    }

    #[test]
    fn conservative_slow_start_lasts_five_rounds_and_the_first_counts() {
        let mut window = Window::new(SlowStart::Hystart, None, &Beginning::with_window(16.0));
        round(&mut window, Time::from_ms(100));
        for _ in 0..5 {
            assert!(round(&mut window, Time::from_ms(120)));
        }
        let left_at = window.packets();
        assert!(!round(&mut window, Time::from_ms(120)));
        assert_eq!((window.packets(), window.threshold()), (left_at, left_at));
    }

    /// RFC 9406, section 4.3: L is 8 without pacing, and infinite with it.
    #[test]
    fn an_acknowledgement_of_many_packets_adds_them_all_to_a_paced_hystart_and_8_to_another() {
        for (is_paced, first, later) in [(false, 18.0, 20.0), (true, 50.0, 60.0)] {
            let beginning = Beginning { is_paced, ..Beginning::with_window(10.0) };
            let mut window = Window::new(SlowStart::Hystart, None, &beginning);
            window.starts(&Acked::of(Time::ZERO, 40));
            assert_eq!(window.packets(), first);
            // In conservative slow start a quarter of that.
            let Some(Watch::Rises(hystart)) = window.watch.as_deref_mut() else { panic!("the first slow start") };
            hystart.baseline = Some((Time::ZERO, 0));
            window.starts(&Acked::of(Time::ZERO, 40));
            assert_eq!(window.packets(), later);
        }
    }

    #[test]
    fn hystart_resumes_when_the_rise_was_no_queue() {
        let mut window = Window::new(SlowStart::Hystart, None, &Beginning::with_window(16.0));
        round(&mut window, Time::from_ms(100));
        round(&mut window, Time::from_ms(120));
        assert_eq!(window.packets(), 32.0 + 8.0 + 24.0 / 4.0);
        round(&mut window, Time::from_ms(110));
        // Eight packets at a quarter until the samples suffice, then one for each.
        assert_eq!(window.packets(), 46.0 + 8.0 / 4.0 + 38.0);
    }

    #[test]
    fn hystart_is_for_the_first_slow_start_only() {
        let mut window = Window::new(SlowStart::Hystart, None, &Beginning::with_window(16.0));
        round(&mut window, Time::from_ms(100));
        window.restart(64.0, &Congested::of(Time::ZERO, 128));
        assert_eq!((window.packets(), window.threshold()), (1.0, 64.0));
        for trip in [100, 200, 300, 400, 500, 600] {
            round(&mut window, Time::from_ms(trip));
        }
        assert_eq!(window.packets(), 64.0);
        window.restart(32.0, &Congested { is_repeated: true, ..Congested::of(Time::ZERO, 1) });
        assert_eq!((window.packets(), window.threshold()), (1.0, 64.0));
    }
}
