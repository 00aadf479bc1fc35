//! A path: what it loses, delays and reorders, and what a change of it keeps.

use fairq_link::impairment::{Impairment, Loss};
use fairq_link::path::{Path, PathChange, PathSettings, Poll, Watch};
use fairq_sched::buffer::codel;
use fairq_sched::change::Change;
use fairq_sched::contract::{Discipline, Line};
use fairq_sched::packet::{Header, Marks, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SchedulerSettings};
use fairq_sched::schedule::token_bucket;
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver;

const POSSIBLE: &str = "the change is possible";

/// Payload, time, and why it was dropped.
type Told = (u64, Time, Option<Reason>);

fn rate() -> Rate {
    Rate::new(8_000_000).expect("a rate of the test")
}

fn built(scheduler: SchedulerSettings, buffer: Option<BufferSettings>) -> Box<dyn Discipline> {
    Queue { buffer, ..Queue::new(scheduler, Some(Limit::Packets(10))) }.build(&Line::new(rate()))
}

fn queue(scheduler: &str) -> Box<dyn Discipline> {
    built(SchedulerSettings::by_name(scheduler).expect("it is in the registry"), None)
}

fn path(discipline: Box<dyn Discipline>, impairment: Impairment) -> Path<Box<dyn Discipline>, u64> {
    Path::new(PathSettings { impairment, ..PathSettings::new(rate(), ms(10)) }, discipline, 7)
}

fn ms(ms: u64) -> Time {
    Time::from_ms(ms)
}

fn header(flow: u32) -> Header {
    Header { tos: 0, ..driver::header(flow) }
}

/// All that has happened by `now`.
fn poll<D: Discipline>(path: &mut Path<D, u64>, now: Time) -> (Vec<Told>, Option<Time>) {
    let mut told = Vec::new();
    loop {
        match path.poll(now) {
            Poll::Delivered { at, payload, .. } => told.push((payload, at, None)),
            Poll::Dropped { at, payload, why } => told.push((payload, at, Some(why))),
            Poll::NotBefore(time) => return (told, Some(time)),
            Poll::Empty => return (told, None),
        }
    }
}

#[test]
fn a_late_poll_tells_what_timely_polls_tell() {
    let loss = Loss { probability: 0.1, burst: Some(2.0) };
    let impairment = Impairment { loss, jitter: ms(3), reorder: 0.1, reorder_delay: ms(20) };
    for seed in 0..30 {
        let mut draw = Draw::new(seed);
        let (mut timely, mut late) = (path(queue("fq"), impairment), path(queue("fq"), impairment));
        let (mut told, mut others, mut now) = (Vec::new(), Vec::new(), Time(1));
        for payload in 0..500 {
            now = now + Time(draw.below(1_400_000_000));
            loop {
                let (more, next) = poll(&mut timely, Time(now.0 - 1));
                told.extend(more);
                let Some(time) = next.filter(|time| *time < now) else { break };
                // It named the very time of the next thing.
                let (more, _) = poll(&mut timely, time);
                assert!(more.iter().all(|(_, at, _)| *at == time));
                told.extend(more);
            }
            let (flow, bytes) = (draw.below(3) as u32, draw.pick(&[40, 1000, 1500]));
            timely.push(now, bytes, &header(flow), payload);
            late.push(now, bytes, &header(flow), payload);
            if draw.once_in(50) {
                others.extend(poll(&mut late, now).0);
            }
        }
        let end = now + Time::from_s(1);
        told.extend(poll(&mut timely, end).0);
        others.extend(poll(&mut late, end).0);
        assert_eq!((told.len(), timely.packets(), late.packets()), (500, 0, 0));
        assert!(told.iter().any(|(.., why)| *why == Some(Reason::Lost)), "seed {seed}");
        assert!(told.iter().any(|(.., why)| why.is_some_and(|why| why != Reason::Lost)), "seed {seed}");
        assert!(told.is_sorted_by_key(|(_, at, _)| *at));
        assert_eq!(told, others, "seed {seed}");
    }
}

#[test]
fn marks_of_the_sender_and_of_the_queue_arrive() {
    let (target, interval) = (Time(1), Time(2));
    let codel = codel::Settings { target, interval, mtu: Bytes(0), ecn: true, ..Default::default() };
    let fifo = SchedulerSettings::by_name("fifo").expect("it is in the registry");
    let mut path = path(built(fifo, Some(BufferSettings::Codel(codel))), Impairment::default());
    // CE, ECT(0), and not ECT.
    for (payload, tos) in [(0, 3), (1, 2), (2, 2), (3, 0)] {
        path.push(ms(0), 1000, &Header { tos, ..header(0) }, payload);
    }
    let mut marks = Vec::new();
    loop {
        match path.poll(ms(100)) {
            Poll::Delivered { marks: carried, payload, .. } => marks.push((payload, Some(carried))),
            Poll::Dropped { payload, .. } => marks.push((payload, None)),
            Poll::NotBefore(_) | Poll::Empty => break,
        }
    }
    assert_eq!(marks[0], (0, Some(Marks::CE)));
    assert!(marks.contains(&(2, Some(Marks::CE))), "{marks:?}");
    assert!(marks[1..].iter().any(|(_, marks)| *marks != Some(Marks::CE)), "{marks:?}");
    assert_eq!(marks.len(), 4);
}

#[test]
fn a_change_of_delay_is_for_packets_sent_from_then_on_and_reorders_none() {
    let mut path = path(queue("fifo"), Impairment::default());
    (0..4).for_each(|payload| path.push(ms(0), 1000, &header(0), payload));
    path.change(Time(1_500_000_000), PathChange::Delay(ms(2))).expect(POSSIBLE);
    // Packet 0 was on its way; packets 1 and 2 may not overtake it.
    let expected = [(0, ms(11), None), (1, ms(11), None), (2, ms(11), None), (3, ms(11), None)];
    assert_eq!(poll(&mut path, ms(50)).0, expected);
    path.push(ms(60), 1000, &header(0), 4);
    assert_eq!(poll(&mut path, ms(60)), (vec![], Some(ms(61))));
    assert_eq!(poll(&mut path, ms(61)), (vec![], Some(ms(63))));
    assert_eq!(poll(&mut path, ms(63)), (vec![(4, ms(63), None)], None));
}

#[test]
fn a_change_of_the_rate_moves_the_end_of_the_transmission() {
    let mut path = path(queue("fifo"), Impairment::default());
    path.push(ms(0), 1000, &header(0), 0);
    let slow = Change::Rate(Rate::new(1_000_000).expect("a rate of the test"));
    path.change(Time(250_000_000), PathChange::Port(slow)).expect(POSSIBLE);
    assert_eq!(poll(&mut path, ms(20)), (vec![(0, Time(16_250_000_000), None)], None));
    let weight = Change::Weight(header(0), Weight::ONE);
    assert!(path.change(ms(30), PathChange::Port(weight)).is_err(), "a FIFO has no weights");
}

#[test]
fn a_path_that_is_down_delivers_what_is_in_flight() {
    let mut path = path(queue("fifo"), Impairment::default());
    (0..3).for_each(|payload| path.push(ms(0), 1000, &header(0), payload));
    path.change(Time(1_500_000_000), PathChange::Up(false)).expect(POSSIBLE);
    let down = (1, Time(1_500_000_000), Some(Reason::Down));
    assert_eq!(poll(&mut path, ms(50)), (vec![down, (0, ms(11), None)], None));
    assert_eq!((path.held().packets, path.packets()), (1, 1));
    path.change(ms(60), PathChange::Up(true)).expect(POSSIBLE);
    assert_eq!(poll(&mut path, ms(80)), (vec![(2, ms(71), None)], None));
    assert_eq!((path.counts().arrived.packets, path.counts().sent.packets), (3, 2));
}

#[test]
fn packets_that_wait_move_to_another_queue() {
    // Flow 0 has five packets and flow 1 two; the bucket holds them back until 100 ms and more.
    let settings = token_bucket::Settings { rate: Rate::new(80_000), burst: Bytes(1000), ..Default::default() };
    let mut path = path(built(SchedulerSettings::TokenBucket(settings), None), Impairment::default());
    for payload in 0..7 {
        path.push(ms(0), 1000, &header(u32::from(payload > 4)), payload);
    }
    path.change(ms(5), PathChange::Queue(queue("fq"))).expect(POSSIBLE);
    let order = poll(&mut path, ms(200)).0;
    let times = [11, 16, 17, 18, 19, 20, 21].map(ms);
    assert_eq!(order.iter().map(|(_, at, _)| *at).collect::<Vec<_>>(), times);
    let payloads: Vec<u64> = order.iter().map(|(payload, ..)| *payload).collect();
    // The first of the rest begins at once, and then the flows take turns.
    assert_eq!(payloads, [0, 1, 5, 2, 6, 3, 4]);
    assert_eq!(path.discipline().held().packets, 0);
}

#[test]
fn other_impairments_hold_from_the_change_on() {
    let mut path = path(queue("fifo"), Impairment::default());
    let mut lost = 0;
    for at in 0..200 {
        if at == 100 {
            let loss = Loss { probability: 0.5, burst: None };
            path.change(ms(10 * at), PathChange::Impairment(Impairment { loss, ..Impairment::default() }))
                .expect(POSSIBLE);
        }
        path.push(ms(10 * at), 1000, &header(0), at);
        let dropped = poll(&mut path, ms(10 * at + 1)).0.iter().filter(|(.., why)| why.is_some()).count();
        assert!(at >= 100 || dropped == 0);
        lost += dropped;
    }
    assert!((30..70).contains(&lost), "{lost} were lost");
}

/// Notes what it hears: payload, what, when.
#[derive(Default)]
struct Notes(Vec<(u64, &'static str, Time)>);

impl Watch<u64> for Notes {
    fn begins(&mut self, _: &Packet, payload: &u64, at: Time) {
        self.0.push((*payload, "begins", at));
    }
    fn ended(&mut self, packet: &Packet, payload: &u64, at: Time) {
        assert_eq!((packet.length, packet.link_header), (1000, 14));
        self.0.push((*payload, "ended", at));
    }
    fn dropped(&mut self, _: &Packet, payload: &u64, at: Time, why: Reason) {
        assert_eq!(why, Reason::BufferFull);
        self.0.push((*payload, "dropped", at));
    }
}

#[test]
fn a_watch_hears_of_the_line_at_the_times_of_timely_calls() {
    let limited = Queue::new(SchedulerSettings::by_name("fifo").expect("it is there"), Some(Limit::Packets(1)));
    let mut path = path(limited.build(&Line::new(rate())), Impairment::default());
    let mut notes = Notes::default();
    for payload in 0..3 {
        let packet = Packet { link_header: 14, ..Packet::new(99, ms(99), 1000) };
        path.push_watched(ms(1), packet, &header(1), payload, &mut notes);
    }
    assert_eq!(path.next_time(), Some(ms(1)), "the drop is to be told of");
    while !matches!(path.poll_watched(ms(500), &mut notes), Poll::Empty) {}
    let expected = [(0, "begins", 1), (2, "dropped", 1), (0, "ended", 2), (1, "begins", 2), (1, "ended", 3)];
    assert_eq!(notes.0, expected.map(|(payload, what, at)| (payload, what, ms(at))));
}
