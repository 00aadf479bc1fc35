//! Replay: hand-made streams with known results, invariants for any stream, and real captures.

use fairq_link::capture::{Frame, LinkType, Reader, Stamp, Writer, header_of};
use fairq_replay::{
    Arrival, DisciplineReport, FLOWS_NAMED_MAX, LaneSettings, OTHERS, Outcome, PacketFate, Replay, ReplayError, Report,
    Settings, Sink, Stream, Under, replay_capture,
};
use fairq_sched::buffer::{afd, codel, longest_queue_drop};
use fairq_sched::contract::End;
use fairq_sched::hash::splitmix;
use fairq_sched::packet::{Address, Header, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, ClassifierSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::schedule::{fq, token_bucket};
use fairq_sched::units::{Bytes, Limit, Rate, Time};
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A byte a millisecond.
const SLOW: u64 = 8000;

fn header(flow: u32) -> Header {
    Header {
        source: Address::V4(flow.to_be_bytes()),
        destination: Address::V4([10, 0, 0, 1]),
        protocol: 6,
        source_port: 0,
        destination_port: 80,
        tos: 0,
    }
}

fn queue(scheduler: &str, limit: Limit) -> Queue {
    Queue::new(SchedulerSettings::by_name(scheduler).expect("a scheduler"), Some(limit))
}

fn lane(name: &str, queue: Queue) -> LaneSettings {
    LaneSettings { name: name.to_owned(), queue, sink: None }
}

fn settings(rate: u64, lanes: Vec<LaneSettings>) -> Settings {
    let classifier = ClassifierSettings::by_name("pair");
    Settings {
        rate: Rate::new(rate).expect("a rate"),
        direction: None,
        classifier,
        seed: 1,
        with_fluid: true,
        under: Under::Device,
        class_burst: Time::ZERO,
        lanes,
    }
}

/// All of the capture of this name.
fn stream(name: &str) -> Stream<'_> {
    Stream { name, gap_max: Time::from_s(10), only: None }
}

/// The outcome of each packet, in the order in which it was known.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(u64, Outcome)>>>);

impl Sink for Log {
    fn fate(&mut self, fate: &PacketFate<'_>) -> std::io::Result<()> {
        self.0.lock().expect("no test panics with it").push((fate.packet, fate.outcome));
        Ok(())
    }
}

/// A packet's number, and the time in ms at which it left or the reason of its drop.
type Fate = (u64, Result<u64, Reason>);

/// Replays packets (ms, flow, bytes) through one queue on the slow line. Returns the outcomes, with
/// times in ms, and the report.
fn run(queue: Queue, packets: &[(u64, u32, u32)]) -> (Vec<Fate>, DisciplineReport) {
    run_under(Under::Device, queue, packets)
}

fn run_under(under: Under, queue: Queue, packets: &[(u64, u32, u32)]) -> (Vec<Fate>, DisciplineReport) {
    let log = Log::default();
    let lane = LaneSettings { name: "it".to_owned(), queue, sink: Some(Box::new(log.clone())) };
    let mut replay = Replay::new(Settings { under, ..settings(SLOW, vec![lane]) }).expect("a replay");
    for (at, flow, length) in packets {
        let (time, header) = (Time::from_ms(*at), header(*flow));
        replay.offer(&Arrival::new(time, *length, header)).expect("nothing fails");
    }
    let report = replay.finish().expect("nothing fails").disciplines.remove(0);
    let fates = log.0.lock().expect("no test panics with it");
    let in_ms = |outcome: Outcome| match outcome {
        Outcome::Sent(time) => Ok(time.0 / 1_000_000_000),
        Outcome::Dropped(reason) => Err(reason),
    };
    (fates.iter().map(|(packet, outcome)| (*packet, in_ms(*outcome))).collect(), report)
}

fn assert_near(found: Option<f64>, expected: f64, relative: f64) {
    let found = found.expect("a number");
    assert!((found - expected).abs() <= relative * expected.abs() + 1e-12, "{found}, not {expected}");
}

/// Three long packets of one flow, and a short one of another while the first is sent.
const LONG_AND_SHORT: [(u64, u32, u32); 4] = [(0, 1, 1000), (0, 1, 1000), (0, 1, 1000), (500, 2, 100)];

#[test]
fn fifo_keeps_the_order_and_the_short_packet_waits_for_all() {
    let (fates, report) = run(queue("fifo", Limit::Unlimited), &LONG_AND_SHORT);
    assert_eq!(fates, [(0, Ok(1000)), (1, Ok(2000)), (2, Ok(3000)), (3, Ok(3100))]);
    assert_eq!((report.overtakes, report.dropped, report.packets, report.bytes), (0, 0, 4, 3100));
    let [long, short] = &report.flows[..] else { panic!("{report:?}") };
    assert_eq!((long.flow.as_str(), short.flow.as_str()), ("0.0.0.1 > 10.0.0.1", "0.0.0.2 > 10.0.0.1"));
    assert_near(long.delay.mean_s, 2.0, 0.0);
    assert_eq!((long.delay.p50_s, long.delay.p99_s, long.delay.max_s), (Some(2.0), Some(3.0), Some(3.0)));
    assert_near(short.delay.max_s, 2.6, 1e-12);
    assert_near(Some(long.throughput_bit_per_s), 24_000.0 / 3.1, 1e-12);
    assert_near(report.jain_index, 3100.0 * 3100.0 / (2.0 * 9_010_000.0), 1e-12);
    // In the fluid the short packet leaves at 0.7 s, the long ones at 1.1, 2.1 and 3.1.
    assert_near(report.late_s_max, 2.4, 1e-9);
    assert_near(report.late_s_mean, 0.6, 1e-9);
    assert_eq!((report.late_bound_s, report.later_than_bound, report.late_packets), (Some(1.0), Some(1), Some(4)));
}

#[test]
fn fq_sends_the_short_packet_next_and_that_is_one_overtaking() {
    let (fates, report) = run(queue("fq", Limit::Unlimited), &LONG_AND_SHORT);
    assert_eq!(fates, [(0, Ok(1000)), (3, Ok(1100)), (1, Ok(2100)), (2, Ok(3100))]);
    assert_eq!(report.overtakes, 1);
    assert_near(report.flows[1].delay.max_s, 0.6, 1e-12);
    assert_near(report.late_s_max, 0.4, 1e-9);
    assert_eq!(report.later_than_bound, Some(0));
}

#[test]
fn preemption_sends_the_short_packet_at_once_and_the_long_one_after_it() {
    let preemptive = SchedulerSettings::Fq(fq::Settings { preemptive: true, ..fq::Settings::default() });
    let (fates, report) = run(Queue::new(preemptive, Some(Limit::Unlimited)), &LONG_AND_SHORT);
    assert_eq!(fates, [(3, Ok(600)), (0, Ok(1100)), (1, Ok(2100)), (2, Ok(3100))]);
    assert_eq!((report.overtakes, report.later_than_bound), (1, Some(0)));
}

#[test]
fn each_packet_that_leaves_before_an_earlier_one_overtakes_once() {
    // The packets of flows 2 and 3 overtake the two waiting packets of flow 1; the second packet of
    // flow 1 overtakes none.
    let packets = [(0, 1, 1000), (0, 1, 1000), (0, 1, 1000), (1, 2, 100), (2, 3, 100)];
    let (fates, report) = run(queue("fq", Limit::Unlimited), &packets);
    assert_eq!(fates.iter().map(|(packet, _)| *packet).collect::<Vec<_>>(), [0, 3, 4, 1, 2]);
    assert_eq!(report.overtakes, 2);
}

#[test]
fn a_packet_that_arrives_when_a_transmission_ends_is_there_when_the_next_is_chosen() {
    let (fates, _) = run(queue("fq", Limit::Unlimited), &[(0, 1, 1000), (0, 1, 1000), (1000, 2, 100)]);
    assert_eq!(fates, [(0, Ok(1000)), (2, Ok(1100)), (1, Ok(2100))]);
}

#[test]
fn below_a_class_a_discipline_does_not_learn_that_the_line_is_idle() {
    // Flow 1 is new and its queue empties. A device asks once more, and the queue leaves the lists:
    // two packets of flow 1 precede that of flow 2 later. A class does not ask, and the queue keeps
    // the rest of its first quantum.
    let packets = [(0, 1, 1000), (2000, 1, 1000), (2000, 1, 1000), (2000, 2, 1000)];
    let order = |under| {
        let (fates, _) = run_under(under, queue("drr_plus_plus", Limit::Unlimited), &packets);
        fates.into_iter().map(|(packet, _)| packet).collect::<Vec<_>>()
    };
    assert_eq!(order(Under::Device), [0, 1, 2, 3]);
    assert_eq!(order(Under::Class), [0, 1, 3, 2]);
}

#[test]
fn a_shaper_is_asked_again_at_the_time_it_named() {
    let bucket = token_bucket::Settings { rate: Rate::new(SLOW / 2), burst: Bytes(1000), ..Default::default() };
    let queue = Queue::new(SchedulerSettings::TokenBucket(bucket), Some(Limit::Unlimited));
    let (fates, report) = run(queue, &[(0, 1, 1000), (0, 1, 1000), (100, 1, 1000)]);
    assert_eq!(fates, [(0, Ok(1000)), (1, Ok(3000)), (2, Ok(5000))]);
    assert_eq!(report.overtakes, 0);
}

#[test]
fn a_periodic_law_runs_on_time_and_no_longer_than_packets_wait() {
    // Twice the line: one packet in three of flow 1, two of flow 2. The first loses less, and the
    // replay ends.
    let packets: Vec<_> = (0..60_000).map(|at| (at * 500, 1 + u32::from(at % 3 > 0), 1000)).collect();
    // Six packets leave in an interval, as on a line of 10 Mbit/s with the default one.
    let afd = afd::Settings { interval: Some(Time::from_s(6)), ..afd::Settings::default() };
    let [tail_drop, adaptive_red] =
        ["tail_drop", "adaptive_red"].map(|name| BufferSettings::by_name(name).expect(name));
    for (buffer, even) in [(tail_drop, false), (BufferSettings::Afd(afd), true), (adaptive_red, false)] {
        let name = buffer.name();
        let (_, report) = run(Queue { buffer: Some(buffer), ..queue("fifo", Limit::Packets(100)) }, &packets);
        let [one, two] = [0, 1].map(|at: usize| (report.flows[at].packets - report.flows[at].dropped) as f64);
        assert_eq!((two / one - 1.0).abs() < 0.05, even, "{name}: {one}, {two}");
        assert!(one + two > 29_000.0, "{name}: the line is full");
    }
}

/// CoDel that marks where it may; by default it drops, as Linux's does.
fn marking_codel() -> Queue {
    let codel = codel::Settings { ecn: true, ..codel::Settings::default() };
    Queue { buffer: Some(BufferSettings::Codel(codel)), ..queue("fifo", Limit::Packets(100)) }
}

#[test]
fn a_packet_whose_ecn_field_says_that_its_sender_listens_is_marked_in_place_of_being_dropped() {
    // Twice the line's rate: CoDel's target is exceeded from the second packet on.
    let report_of = |tos: u8| {
        let mut replay = Replay::new(settings(SLOW, vec![lane("codel", marking_codel())])).expect("a replay");
        for at in 0..60 {
            let (time, header) = (Time::from_ms(at * 500), Header { tos, ..header(1) });
            replay.offer(&Arrival::new(time, 1000, header)).expect("nothing fails");
        }
        replay.finish().expect("nothing fails").disciplines.remove(0)
    };
    for (tos, listens) in [(0, false), (1, true), (2, true), (3, true), (0xb8, false), (0xba, true)] {
        let report = report_of(tos);
        assert_eq!((report.dropped == 0, report.marked > 0), (listens, listens), "{tos}: {report:?}");
    }
}

#[test]
fn a_full_buffer_refuses_the_packet_that_arrives() {
    let (fates, report) = run(queue("fifo", Limit::Packets(1)), &[(0, 1, 1000), (1, 1, 1000), (2, 2, 1000)]);
    assert_eq!(fates, [(2, Err(Reason::BufferFull)), (0, Ok(1000)), (1, Ok(2000))]);
    assert_eq!((report.dropped, report.bytes_dropped, report.overtakes), (1, 1000, 0));
    assert_eq!((report.flows[1].packets, report.flows[1].dropped), (1, 1));
    assert_eq!((report.flows[1].delay.mean_s, report.flows[1].throughput_bit_per_s), (None, 0.0));
    // The third packet was not offered to the fluid.
    assert_eq!((report.late_packets, report.late_s_max), (Some(2), Some(0.0)));
}

#[test]
fn a_packet_pushed_out_is_withdrawn_from_the_fluid() {
    let drop_from = |from| Queue {
        buffer: Some(BufferSettings::LongestQueueDrop(longest_queue_drop::Settings { from })),
        ..queue("fq", Limit::Packets(2))
    };
    let packets = [(0, 1, 1000), (0, 1, 500), (0, 1, 1000), (500, 2, 100)];
    // Without the last packet of flow 1 the others leave the fluid at 1.1, 1.6 and 0.7 s.
    let (fates, report) = run(drop_from(End::Tail), &packets);
    assert_eq!(fates, [(2, Err(Reason::LongestQueue)), (0, Ok(1000)), (3, Ok(1100)), (1, Ok(1600))]);
    assert_eq!((report.late_packets, report.overtakes), (Some(3), 1));
    assert_near(report.late_s_max, 0.4, 1e-9);
    assert_near(report.late_s_mean, 0.4 / 3.0, 1e-9);
    // Without the second packet, the third follows the first in the fluid: 1.1, 2.1 and 0.7 s. The
    // charge for the second remains, but no other packet could go first.
    let (fates, report) = run(drop_from(End::Front), &packets);
    assert_eq!(fates, [(1, Err(Reason::LongestQueue)), (0, Ok(1000)), (3, Ok(1100)), (2, Ok(2100))]);
    assert_eq!((report.late_packets, report.overtakes), (Some(3), 1));
    assert_near(report.late_s_mean, 0.4 / 3.0, 1e-9);
}

#[test]
fn a_capture_begins_at_zero_and_its_long_gaps_are_cut() {
    let mut writer = Writer::new(Vec::new()).expect("memory");
    for second in [1_000, 1_001, 40_000_000, 40_000_000] {
        let stamp = Stamp::from_s_and_ps(second, 0);
        writer.write(&Frame { stamp, length: 1000, link_type: LinkType::ETHERNET, data: &[1; 60] }).expect("memory");
    }
    let file = writer.finish().expect("memory");
    let mut reader = Reader::new(&file[..], "made").expect("a capture");
    let replay = Replay::new(settings(8_000_000, vec![lane("fifo", queue("fifo", Limit::Unlimited))])).expect("a lane");
    let report = replay_capture(&mut reader, &stream("made"), replay, &mut |_| true).expect("nothing fails");
    let stamps = report.capture.stamps.expect("of a capture");
    assert_eq!((stamps.gaps_cut, stamps.time_cut_s, stamps.backward_steps), (1, 39_998_989.0, 0));
    assert_eq!((report.capture.packets, report.capture.duration_s), (4, 11.0));
    assert_near(Some(report.disciplines[0].last_departure_s), 11.002, 1e-12);
}

/// All packets arrive at once at a slow line: nearly all of the work is left when the capture has
/// been read.
#[test]
fn a_replay_can_be_stopped_while_the_last_packets_leave() {
    const PACKETS: u64 = 30_000;
    let mut writer = Writer::new(Vec::new()).expect("memory");
    for _ in 0..PACKETS {
        let frame = Frame { stamp: Stamp::from_ns(0), length: 100, link_type: LinkType::ETHERNET, data: &[0; 14] };
        writer.write(&frame).expect("memory");
    }
    let file = writer.finish().expect("memory");
    let stopped_at = |at: usize| {
        let mut reader = Reader::new(&file[..], "made").expect("a capture");
        let replay = Replay::new(settings(SLOW, vec![lane("fifo", queue("fifo", Limit::Unlimited))])).expect("a lane");
        let mut told = Vec::new();
        let outcome = replay_capture(&mut reader, &stream("made"), replay, &mut |progress| {
            told.push(progress.packets);
            told.len() < at
        });
        (told, outcome)
    };
    let (told, outcome) = stopped_at(usize::MAX);
    let behind = told.iter().filter(|packets| **packets == PACKETS).count();
    assert!(behind > 5, "{told:?}");
    assert_eq!(outcome.expect("nothing fails").disciplines[0].packets, PACKETS);
    let (told, outcome) = stopped_at(told.len() - behind + 3);
    assert!(matches!(outcome, Err(ReplayError::Stopped)) && told.last() == Some(&PACKETS), "{told:?}");
}

#[test]
fn a_sink_is_given_the_bytes_of_each_packet_in_the_order_of_departure() {
    #[derive(Default)]
    struct Told {
        zero: Stamp,
        packets: Vec<(u64, u8)>,
    }
    #[derive(Clone, Default)]
    struct FirstBytes(Arc<Mutex<Told>>);
    impl Sink for FirstBytes {
        fn wants_bytes(&self) -> bool {
            true
        }
        fn begin(&mut self, zero: Stamp) {
            self.0.lock().expect("no test panics with it").zero = zero;
        }
        fn fate(&mut self, fate: &PacketFate<'_>) -> std::io::Result<()> {
            let first = fate.captured.expect("the capture has bytes").data[0];
            self.0.lock().expect("no test panics with it").packets.push((fate.packet, first));
            Ok(())
        }
    }
    let (bytes, zero) = (FirstBytes::default(), Stamp::from_s_and_ps(1_700_000_000, 5000));
    let telling = LaneSettings { sink: Some(Box::new(bytes.clone())), ..lane("fq", queue("fq", Limit::Unlimited)) };
    // The first lane has no sink, and keeps no bytes.
    let lanes = vec![lane("fifo", queue("fifo", Limit::Packets(1))), telling];
    let mut replay = Replay::new(settings(SLOW, lanes)).expect("lanes");
    replay.begin(zero);
    for (n, (at, flow, length)) in LONG_AND_SHORT.into_iter().enumerate() {
        let (time, data) = (Time::from_ms(at), [n as u8 + 7; 20]);
        let frame = Some((LinkType::RAW, &data[..]));
        replay.offer(&Arrival { frame, ..Arrival::new(time, length, header(flow)) }).expect("nothing fails");
    }
    replay.finish().expect("nothing fails");
    let told = bytes.0.lock().expect("no test panics with it");
    assert_eq!((told.zero, &told.packets[..]), (zero, &[(0, 7), (3, 10), (1, 8), (2, 9)][..]));
}

/// A capture written by a discipline shows its marks; another discipline over the same packets
/// writes its own.
#[test]
fn the_bytes_of_a_marked_packet_have_ce_and_those_of_others_stay() {
    #[derive(Clone, Default)]
    struct Fields(Arc<Mutex<Vec<u8>>>);
    impl Sink for Fields {
        fn wants_bytes(&self) -> bool {
            true
        }
        fn fate(&mut self, fate: &PacketFate<'_>) -> std::io::Result<()> {
            if let Outcome::Sent(_) = fate.outcome {
                let header = header_of(LinkType::RAW, &fate.captured.expect("the capture has bytes").data);
                assert_eq!(fate.is_marked, header.tos & 3 == 3);
                self.0.lock().expect("no test panics with it").push(header.tos);
            }
            Ok(())
        }
    }
    let (marks, passes) = (Fields::default(), Fields::default());
    let telling = |name: &str, queue: Queue, sink: &Fields| LaneSettings {
        sink: Some(Box::new(sink.clone())),
        ..lane(name, queue)
    };
    let lanes =
        vec![telling("codel", marking_codel(), &marks), telling("fifo", queue("fifo", Limit::Unlimited), &passes)];
    let mut replay = Replay::new(settings(SLOW, lanes)).expect("a replay");
    for at in 0..60 {
        let mut data = [0; 20];
        (data[0], data[1], data[9]) = (0x45, 0xba, 6);
        data[2..4].copy_from_slice(&1000_u16.to_be_bytes());
        let frame = Some((LinkType::RAW, &data[..]));
        let header = Header { tos: 0xba, ..header(1) };
        replay.offer(&Arrival { frame, ..Arrival::new(Time::from_ms(at * 500), 1000, header) }).expect("nothing fails");
    }
    let report = replay.finish().expect("nothing fails");
    let count = |fields: &Fields, tos: u8| {
        fields.0.lock().expect("no test panics with it").iter().filter(|seen| **seen == tos).count() as u64
    };
    let marked = report.disciplines[0].marked;
    assert!(marked > 3, "{report:?}");
    assert_eq!([count(&marks, 0xbb), count(&marks, 0xba)], [marked, 60 - marked]);
    assert_eq!([count(&passes, 0xbb), count(&passes, 0xba)], [0, 60]);
}

#[test]
fn what_cannot_be_replayed_is_refused_in_one_line() {
    let refused = |lanes| Replay::new(settings(SLOW, lanes)).err().expect("a refusal").to_string();
    let fifo = || lane("fifo", queue("fifo", Limit::Unlimited));
    assert!(refused(vec![]).contains("name at least one"));
    assert!(refused(vec![fifo(), fifo()]).contains("`fifo` is given twice"));
    let bucket = token_bucket::Settings { burst: Bytes(0), ..Default::default() };
    let fault = lane("empty", Queue::new(SchedulerSettings::TokenBucket(bucket), Some(Limit::Unlimited)));
    assert!(refused(vec![fault]).contains("`empty`: token_bucket: burst and mtu are at least 1 B"));

    let file = Writer::new(Vec::new()).expect("memory").finish().expect("memory");
    let mut reader = Reader::new(&file[..], "none.pcapng").expect("a capture");
    let replay = Replay::new(settings(SLOW, vec![fifo()])).expect("a lane");
    let error = replay_capture(&mut reader, &stream("none.pcapng"), replay, &mut |_| true).expect_err("no packet");
    assert!(error.to_string().starts_with("none.pcapng: the capture holds no packet"), "{error}");
}

#[test]
fn a_line_so_slow_that_time_ends_is_an_error_and_not_a_panic() {
    for (scheduler, at) in SCHEDULERS.iter().flat_map(|card| [(card.name, Time::ZERO), (card.name, Time(u64::MAX))]) {
        let lanes = vec![lane(scheduler, queue(scheduler, Limit::Unlimited))];
        let mut replay = Replay::new(settings(1, lanes)).expect("a lane");
        let mut offer = |flow| replay.offer(&Arrival::new(at, 1 << 24, header(flow)));
        let outcome = (0..10).try_for_each(&mut offer).and_then(|()| replay.finish().map(drop));
        assert!(matches!(outcome, Err(ReplayError::TooLong { .. })), "{scheduler} at {at}: {outcome:?}");
    }
}

#[test]
fn a_sink_that_fails_ends_the_replay() {
    struct Full;
    impl Sink for Full {
        fn fate(&mut self, _: &PacketFate<'_>) -> std::io::Result<()> {
            Err(std::io::Error::other("no space left"))
        }
    }
    let full = LaneSettings { sink: Some(Box::new(Full)), ..lane("fq", queue("fq", Limit::Unlimited)) };
    let mut replay = Replay::new(settings(SLOW, vec![full])).expect("a lane");
    replay.offer(&Arrival::new(Time::ZERO, 9, header(1))).expect("it waits");
    assert_eq!(replay.finish().expect_err("full").to_string(), "fq: no space left");
}

/// A random stream with bursts and pauses, as (time, flow, length); about as much as the line can
/// carry.
fn drawn(packets: u64, flows: u64) -> impl Iterator<Item = (Time, u32, u32)> {
    let mut now = 0;
    (0..packets).map(move |n| {
        let draw = splitmix(n);
        if draw.is_multiple_of(16) {
            now += (draw >> 8) % 200_000_000_000;
        }
        // A few flows have most of the packets.
        let flow = if draw.is_multiple_of(3) { (draw >> 40) % flows } else { (draw >> 40) % 5 };
        (Time(now), flow as u32, 40 + (draw >> 20) as u32 % 1461)
    })
}

fn replay_drawn(packets: u64, flows: u64, names: &[&str], limit: Limit) -> (usize, Report) {
    let lanes = names.iter().map(|name| lane(name, queue(name, limit))).collect();
    let mut replay = Replay::new(settings(1_000_000, lanes)).expect("lanes");
    for (time, flow, length) in drawn(packets, flows) {
        replay.offer(&Arrival::new(time, length, header(flow))).expect("nothing fails");
    }
    (replay.kept_max(), replay.finish().expect("nothing fails"))
}

fn assert_sums(report: &Report) {
    for discipline in &report.disciplines {
        let sum = |of: fn(&fairq_replay::FlowReport) -> u64| discipline.flows.iter().map(of).sum::<u64>();
        let found = (sum(|flow| flow.packets), sum(|flow| flow.bytes), sum(|flow| flow.dropped));
        let expected = (report.capture.packets, report.capture.bytes, discipline.dropped);
        assert_eq!(found, expected, "{}", discipline.name);
        assert_eq!((discipline.packets, discipline.bytes), (expected.0, expected.1), "{}", discipline.name);
        let compared = discipline.late_packets.expect("with the fluid");
        assert_eq!(compared + discipline.dropped, discipline.packets, "{}", discipline.name);
    }
}

const ALL: [&str; 5] = ["fifo", "fq", "round_robin", "virtual_clock", "token_bucket"];

#[test]
fn nothing_is_lost_and_a_lane_does_not_notice_the_others() {
    let (_, report) = replay_drawn(20_000, 300, &ALL, Limit::Packets(20));
    assert_sums(&report);
    for (name, together) in ALL.iter().zip(&report.disciplines) {
        let (_, alone) = replay_drawn(20_000, 300, &[name], Limit::Packets(20));
        assert_eq!(&alone.disciplines[0], together);
        assert!(together.dropped > 0, "{name} was not under load");
    }
    assert_eq!((report.disciplines[0].overtakes, report.disciplines[4].overtakes), (0, 0));
    assert!(report.disciplines[1].overtakes > 0);
}

#[test]
fn fq_is_never_later_than_the_fluid_by_more_than_its_bound() {
    let (_, report) = replay_drawn(50_000, 300, &["fq", "fifo"], Limit::Unlimited);
    let [fq, fifo] = &report.disciplines[..] else { panic!("two lanes") };
    assert_eq!((fq.dropped, fq.later_than_bound, fq.late_packets), (0, Some(0), Some(50_000)));
    assert!(fifo.later_than_bound > Some(0), "the stream is too light to tell");
}

#[test]
fn memory_is_that_of_what_waits_however_long_the_stream() {
    let (kept_short, _) = replay_drawn(100_000, 100_000, &["fifo", "fq"], Limit::Packets(40));
    let (kept_long, report) = replay_drawn(1_000_000, 1_000_000, &["fifo", "fq"], Limit::Packets(40));
    assert_sums(&report);
    // 40 packets wait and one is sent; the fluid of a lane may hold packets that the lane has sent
    // ahead.
    assert!(kept_short <= 1000 && kept_long <= 1000, "{kept_short}, {kept_long}");
    assert_eq!(report.capture.flows, Some(FLOWS_NAMED_MAX as u64));
    assert!(report.capture.note.is_some());
    for discipline in &report.disciplines {
        assert_eq!(discipline.flows.len(), FLOWS_NAMED_MAX + 1);
        assert_eq!(discipline.flows.last().map(|flow| flow.flow.as_str()), Some(OTHERS));
    }
}

fn replay_file(path: &PathBuf, names: &[&str], rate: u64, limit: Limit) -> Report {
    let name = path.display().to_string();
    let mut reader = Reader::new(File::open(path).expect("the capture is there"), &name).expect("a capture");
    let lanes = names.iter().map(|name| lane(name, queue(name, limit))).collect();
    let replay = Replay::new(settings(rate, lanes)).expect("lanes");
    replay_capture(&mut reader, &stream(&name), replay, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn real_captures_are_replayed_by_every_discipline_and_nothing_is_lost() {
    for path in fairq_testkit::real::files("captures", "no real capture was replayed") {
        let report = replay_file(&path, &ALL, 300_000, Limit::Packets(40));
        assert_sums(&report);
        assert_eq!(report.disciplines.len(), ALL.len());
        let overtakes: Vec<u64> = report.disciplines.iter().map(|discipline| discipline.overtakes).collect();
        assert!(overtakes[0] == 0 && overtakes[1] > 0 && overtakes[4] == 0, "{}: {overtakes:?}", path.display());
    }
}

#[test]
fn fq_is_in_time_on_real_captures_when_nothing_is_dropped() {
    for path in fairq_testkit::real::files("captures", "no real capture was replayed") {
        for rate in [100_000, 300_000, 3_000_000] {
            let report = replay_file(&path, &["fq"], rate, Limit::Unlimited);
            let fq = &report.disciplines[0];
            assert_eq!((fq.dropped, fq.later_than_bound), (0, Some(0)), "{} at {rate}", path.display());
            assert_eq!(fq.late_packets, Some(report.capture.packets));
        }
    }
}
