//! What a policer promises, before any queue: its verdicts by the kernel's rule, its burst and rate
//! over every span of time, and that what passes is not delayed.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::packet::{Fates, Outcome, Packet, Reason};
use fairq_sched::policer::police;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{DesignSettings, PolicerSettings, SchedulerSettings};
use fairq_sched::units::{Bytes, Limit, Rate, Time};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Arrival, Driver, End, header};

const US: u64 = 1_000_000;

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

fn policed(settings: police::Settings, queue: Queue) -> Queue {
    let queue = Queue { policer: Some(PolicerSettings::Police(settings)), ..queue };
    assert_eq!(queue.fault(), None);
    queue
}

fn fifo() -> Queue {
    Queue::new(SchedulerSettings::by_name("fifo").expect("fifo"), Some(Limit::Packets(1000)))
}

/// Random gaps and lengths, around the rate of `byte_us` microseconds a byte.
fn arrivals(draw: &mut Draw, byte_us: u64, packets: u64) -> Vec<Arrival> {
    let mut now = 0;
    let mut next = |_| {
        let length = draw.pick(&[40, 576, 1000, 1500]);
        if !draw.once_in(3) {
            now += draw.below(2000 * byte_us * US);
        }
        Arrival { time: Time(now), flow: draw.below(3) as u32, length }
    };
    (0..packets).map(&mut next).collect()
}

/// The rule of `tcf_police_act` told once more, for rates whose byte takes whole nanoseconds.
struct Kernel {
    ns_per_byte: i64,
    burst: i64,
    tokens: i64,
    /// Of the peak rate: nanoseconds a byte, what the bucket holds, and has.
    peak: Option<(i64, i64, i64)>,
    mtu: i64,
    taken: i64,
}

impl Kernel {
    fn conforms(&mut self, now: i64, length: i64) -> bool {
        if length > self.mtu {
            return false;
        }
        let mut tokens = (now - self.taken).min(self.burst);
        let mut of_peak = 0;
        if let Some((ns, most, has)) = self.peak {
            of_peak = (tokens + has).min(most) - ns * length;
        }
        tokens = (tokens + self.tokens).min(self.burst) - self.ns_per_byte * length;
        let conforms = tokens >= 0 && of_peak >= 0;
        if conforms {
            (self.taken, self.tokens) = (now, tokens);
            if let Some((.., has)) = &mut self.peak {
                *has = of_peak;
            }
        }
        conforms
    }
}

#[test]
fn the_verdicts_are_those_of_the_rule_of_the_kernel() {
    for seed in 0..60 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        // 8 Mbit/s are 1000 ns a byte; a burst of a multiple of 8 B is whole ticks of 64 ns.
        let burst = 1504 + 8 * draw.below(2000);
        let has_peak = draw.once_in(2);
        let mtu = if has_peak || draw.once_in(2) { Some(576 + draw.below(2000)) } else { None };
        let settings = police::Settings {
            rate: Some(rate(8_000_000)),
            burst: Bytes(burst),
            peak_rate: has_peak.then(|| rate(16_000_000)),
            mtu: mtu.map(Bytes),
        };
        let most = mtu.unwrap_or(u64::from(u32::MAX)) as i64;
        let mut kernel = Kernel {
            ns_per_byte: 1000,
            burst: 1000 * burst as i64,
            tokens: 1000 * burst as i64,
            peak: has_peak.then_some((500, 500 * most, 500 * most)),
            mtu: most,
            taken: 0,
        };
        let line = Line::new(rate(1_000_000_000));
        let mut discipline = policed(settings, fifo()).build(&line);
        let (mut fates, mut passed) = (Fates::new(), 0);
        let all = arrivals(&mut draw, 1, 2000);
        for (token, arrival) in all.iter().enumerate() {
            let packet = Packet::new(token as u64, arrival.time, arrival.length);
            let handle = discipline.enqueue(arrival.time, packet, &header(arrival.flow), &mut fates);
            let expected = kernel.conforms((arrival.time.0 / 1000) as i64, arrival.length.into());
            assert_eq!(handle.is_some(), expected, "packet {token} at {}", arrival.time);
            assert_eq!(fates.pop().map(|fate| fate.outcome), (!expected).then_some(Outcome::Dropped(Reason::Policed)));
            passed += u64::from(expected);
            assert!(!expected || matches!(discipline.dequeue(arrival.time, &mut fates), Dequeue::Send(_)));
        }
        assert!((200..2000).contains(&passed), "{passed} of 2000 passed");
    }
}

#[test]
fn a_policer_passes_its_burst_and_its_rate_and_delays_no_packet() {
    let line = Line::new(rate(20_000_000));
    for seed in 0..30 {
        let _replay = Replay(format!("seed {seed}"));
        let mut draw = Draw::new(seed);
        let (bit_per_s, burst) = (7_000_003, 1500 + draw.below(20_000));
        let settings =
            police::Settings { rate: Some(rate(bit_per_s)), burst: Bytes(burst), ..police::Settings::default() };
        let design = DesignSettings::by_name("fq_codel").expect("a design");
        let inner = draw.pick(&[0, 1]);
        let inner = if inner == 0 { fifo() } else { Queue::of_design(design, None) };
        let queue = policed(settings, inner.clone());
        let all = arrivals(&mut draw, 1, 600);
        let run = |queue: &Queue, arrivals: &[Arrival]| {
            Driver::new(Checked::new(Rules::of(queue), || queue.build(&line)), line.rate).run(arrivals)
        };
        let journeys = run(&queue, &all);
        let is_policed = |end: &End| matches!(end, End::Dropped(_, Reason::Policed));
        let passed: Vec<_> = journeys.iter().filter(|journey| !is_policed(&journey.end)).collect();
        assert!(passed.len() < all.len(), "none was dropped");
        // A byte's time may be rounded down by the multiplier of 32 bits, and a packet's to a
        // nanosecond: a few bytes over the whole run.
        for (first, one) in passed.iter().enumerate() {
            let mut bytes = 0;
            for other in &passed[first..] {
                bytes += u64::from(other.arrival.length);
                let span = (other.arrival.time - one.arrival.time).0;
                let most = burst as f64 + bit_per_s as f64 / 8.0 * span as f64 / 1e12;
                assert!(bytes as f64 <= most + 5.0, "{bytes} B in {span} ps, not {most}");
            }
        }
        // The queue behind does with what passes what it would do without a policer.
        let alone: Vec<Arrival> = passed.iter().map(|journey| journey.arrival).collect();
        let ends: Vec<End> = run(&inner, &alone).iter().map(|journey| journey.end).collect();
        assert_eq!(passed.iter().map(|journey| journey.end).collect::<Vec<_>>(), ends);
    }
}

#[test]
fn settings_that_make_no_policer_are_refused_in_a_line() {
    let default = police::Settings::default;
    let (slow, fast) = (Some(rate(1000)), Some(rate(2000)));
    let mtu = Some(Bytes(1500));
    for (settings, said) in [
        (police::Settings { burst: Bytes(0), ..default() }, "police: burst and mtu are at least 1 B"),
        (police::Settings { mtu: Some(Bytes(0)), ..default() }, "police: burst and mtu are at least 1 B"),
        (
            police::Settings { rate: slow, peak_rate: fast, ..default() },
            "police: a peak_rate without mtu; write mtu=1514B beside it",
        ),
        (
            police::Settings { peak_rate: fast, mtu, ..default() },
            "police: a peak_rate without a rate; write rate beside it",
        ),
        (
            police::Settings { rate: fast, peak_rate: slow, mtu, ..default() },
            "police: peak_rate is 1 kbit/s, not above the rate of 2 kbit/s",
        ),
    ] {
        let queue = Queue { policer: Some(PolicerSettings::Police(settings)), ..fifo() };
        assert_eq!(queue.fault().as_deref(), Some(said));
    }
    assert_eq!(policed(default(), fifo()).name(), "police + fifo");
}
