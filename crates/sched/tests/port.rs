//! The port: a line with its queue. Its rules one by one, and over the registry: late calls give
//! what timely calls give, and a plain loop without a port gives the same.

use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Dequeue, Discipline, Handle, Held, Line};
use fairq_sched::packet::{Fate, Fates, Header, Marks, Outcome, Packet, Reason};
use fairq_sched::port::{Port, PortCounts, Sink};
use fairq_sched::queue::Queue;
use fairq_sched::reading::Reading;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::schedule::{fq, token_bucket};
use fairq_sched::service::Transmitter;
use fairq_sched::traits::Traits;
use fairq_sched::units::{Bytes, Limit, Rate, Time, Weight};
use fairq_sched::waiting::{Decision, Waiting};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::header;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// What a sink was told: of which packet, and when, in milliseconds of the tests or in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Begins(u64, Time, Time),
    Ended(u64, Time),
    Dropped(u64, Time, Reason),
    Marked(u64, Time, Marks),
    Interrupted(u64, Time, u32),
    Taken(u64, Time),
}
use Deed::{Begins, Dropped, Ended, Interrupted, Taken};

#[derive(Default)]
pub(crate) struct Deeds(pub(crate) Vec<Deed>);

impl Deeds {
    fn take(&mut self) -> Vec<Deed> {
        std::mem::take(&mut self.0)
    }
}

impl Sink for Deeds {
    fn begins(&mut self, packet: &Packet, at: Time, end: Time) {
        self.0.push(Begins(packet.token, at, end));
    }
    fn dropped(&mut self, packet: &Packet, at: Time, why: Reason) {
        self.0.push(Dropped(packet.token, at, why));
    }
    fn ended(&mut self, packet: &Packet, at: Time) {
        self.0.push(Ended(packet.token, at));
    }
    fn marked(&mut self, packet: &Packet, at: Time, marks: Marks) {
        self.0.push(Deed::Marked(packet.token, at, marks));
    }
    fn interrupted(&mut self, packet: &Packet, at: Time) {
        self.0.push(Interrupted(packet.token, at, packet.unsent_bits));
    }
    fn taken(&mut self, packet: &Packet, at: Time) {
        self.0.push(Taken(packet.token, at));
    }
}

/// A call that a discipline got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Enqueue(u64, Time),
    Dequeue(Time),
    Update(Time),
}

/// A FIFO of four packets that notes its calls: what a test says of it is so.
struct Noting {
    traits: Traits,
    calls: Arc<Mutex<Vec<Call>>>,
    packets: VecDeque<Packet>,
    /// No packet leaves before this time.
    not_before: Time,
    /// The next update and the time between two.
    updates: Option<(Time, Time)>,
}

impl Noting {
    fn new(traits: Traits) -> (Self, Arc<Mutex<Vec<Call>>>) {
        let calls = Arc::default();
        let (packets, not_before) = (VecDeque::new(), Time::ZERO);
        (Self { traits, calls: Arc::clone(&calls), packets, not_before, updates: None }, calls)
    }

    fn note(&self, call: Call) {
        self.calls.lock().expect("one thread").push(call);
    }
}

impl Discipline for Noting {
    fn traits(&self) -> Traits {
        self.traits
    }
    fn enqueue(&mut self, now: Time, packet: Packet, _: &Header, fates: &mut Fates) -> Option<Handle> {
        self.note(Call::Enqueue(packet.token, now));
        if self.packets.len() == 4 {
            fates.push(Fate { packet, outcome: Outcome::Dropped(Reason::BufferFull) });
            return None;
        }
        self.packets.push_back(packet);
        Some(Handle::from_bits(packet.token))
    }
    fn dequeue(&mut self, now: Time, _: &mut Fates) -> Dequeue {
        self.note(Call::Dequeue(now));
        if !self.packets.is_empty() && now < self.not_before {
            return Dequeue::NotBefore(self.not_before);
        }
        self.packets.pop_front().map_or(Dequeue::Empty, Dequeue::Send)
    }
    fn held(&self) -> Held {
        Held {
            packets: self.packets.len() as u64,
            bytes: self.packets.iter().map(|packet| u64::from(packet.length)).sum(),
        }
    }
    fn next_update(&self) -> Option<Time> {
        self.updates.map(|(next, _)| next)
    }
    fn update(&mut self, now: Time) {
        self.note(Call::Update(now));
        let (next, every) = self.updates.expect("it asked for the update");
        self.updates = Some((next + every, every));
    }
    fn change(&mut self, _: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        change.not_used()
    }
    fn readings(&self, _: Time, _: &mut dyn FnMut(Reading<'_>)) {}
    fn waiting(&self, _: &mut dyn FnMut(Waiting<'_>)) {}
    fn remove(&mut self, _: Time, handle: Handle) -> Option<Packet> {
        let at = self.packets.iter().position(|packet| packet.token == handle.to_bits())?;
        self.packets.remove(at)
    }
}

/// A thousand bytes take a millisecond.
fn slow() -> Transmitter {
    Transmitter::new(rate(8_000_000))
}

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

fn ms(ms: u64) -> Time {
    Time::from_ms(ms)
}

fn built(scheduler: SchedulerSettings, limit: u64) -> Box<dyn Discipline> {
    Queue::new(scheduler, Some(Limit::Packets(limit))).build(&Line::new(rate(8_000_000)))
}

fn by_name(scheduler: &str) -> Box<dyn Discipline> {
    built(SchedulerSettings::by_name(scheduler).expect("it is in the registry"), 100)
}

/// Offers a packet of a thousand bytes of flow `flow`.
fn offer<D: Discipline>(port: &mut Port<D, Transmitter>, at: Time, (token, flow): (u64, u32), deeds: &mut Deeds) {
    port.arrive(at, Packet::new(token, at, 1000), &header(flow), deeds);
}

fn drain<D: Discipline>(port: &mut Port<D, Transmitter>, deeds: &mut Deeds) {
    while let Some(time) = port.next_end() {
        port.end(time, deeds);
    }
}

#[test]
fn the_next_transmission_begins_when_the_last_one_ended_and_not_when_the_driver_came() {
    let (mut port, mut deeds) = (Port::new(by_name("fifo"), slow()), Deeds::default());
    (0..3).for_each(|token| offer(&mut port, Time::ZERO, (token, 0), &mut deeds));
    assert_eq!(deeds.take(), [Begins(0, ms(0), ms(1))]);
    port.end(Time(2_500_000_000), &mut deeds);
    assert_eq!(deeds.take(), [Ended(0, ms(1)), Begins(1, ms(1), ms(2)), Ended(1, ms(2)), Begins(2, ms(2), ms(3))]);
    assert_eq!(port.sending().map(|(packet, begun, end)| (packet.token, begun, end)), Some((2, ms(2), ms(3))));
    assert_eq!((port.next_end(), port.next_time(), port.next_update()), (Some(ms(3)), Some(ms(3)), None));
    // The line was idle from 3 ms on: the next packet begins when it comes.
    offer(&mut port, ms(7), (3, 0), &mut deeds);
    assert_eq!(deeds.take(), [Ended(2, ms(3)), Begins(3, ms(7), ms(8))]);
    let PortCounts { arrived, sent, dropped, .. } = *port.counts();
    assert_eq!((arrived.packets, sent.packets, dropped.packets, port.held().packets), (4, 4, 0, 0));
    assert_eq!((arrived.bytes, sent.bytes), (4000, 4000));
}

#[test]
fn an_arrival_comes_before_an_end_of_the_same_instant() {
    let (mut port, mut deeds) = (Port::new(by_name("fq"), slow()), Deeds::default());
    (0..3).for_each(|token| offer(&mut port, Time::ZERO, (token, 0), &mut deeds));
    // A shorter packet, which finishes first in the fluid.
    port.arrive(ms(1), Packet::new(3, ms(1), 500), &header(1), &mut deeds);
    assert_eq!(deeds.take(), [Begins(0, ms(0), ms(1))]);
    port.end(ms(1), &mut deeds);
    assert_eq!(deeds.take(), [Ended(0, ms(1)), Begins(3, ms(1), Time(1_500_000_000))]);
    // What has been done is not done again.
    port.end(ms(1), &mut deeds);
    port.update(ms(1), &mut deeds);
    assert_eq!(deeds.take(), []);
}

#[test]
fn a_discipline_hears_that_the_line_is_idle_if_it_must() {
    for hears_idle in [true, false] {
        let (discipline, calls) = Noting::new(Traits { hears_idle, ..Traits::PLAIN });
        let (mut port, mut deeds) = (Port::new(discipline, slow()), Deeds::default());
        offer(&mut port, ms(5), (0, 0), &mut deeds);
        port.end(ms(9), &mut deeds);
        let idle = if hears_idle { vec![Call::Dequeue(ms(6))] } else { vec![] };
        let expected = [vec![Call::Enqueue(0, ms(5)), Call::Dequeue(ms(5))], idle].concat();
        assert_eq!(*calls.lock().expect("one thread"), expected);
        assert_eq!((port.next_end(), port.sending()), (None, None));
    }
}

#[test]
fn a_line_that_must_wait_asks_again_when_the_time_comes_or_a_packet_does() {
    let settings = token_bucket::Settings { rate: Some(rate(4_000_000)), burst: Bytes(1000), ..Default::default() };
    let queue = built(SchedulerSettings::TokenBucket(settings), 100);
    let (mut port, mut deeds) = (Port::new(queue, slow()), Deeds::default());
    (0..2).for_each(|token| offer(&mut port, Time::ZERO, (token, 0), &mut deeds));
    port.end(ms(1), &mut deeds);
    assert_eq!(deeds.take(), [Begins(0, ms(0), ms(1)), Ended(0, ms(1))]);
    // A thousand bytes are saved in two milliseconds.
    assert_eq!(port.next_end(), Some(ms(2)));
    port.end(ms(10), &mut deeds);
    assert_eq!(deeds.take(), [Begins(1, ms(2), ms(3)), Ended(1, ms(3))]);

    // A discipline that names a time in the past is not asked for ever.
    let (discipline, calls) = Noting::new(Traits::PLAIN);
    let mut port = Port::new(discipline, slow());
    port.discipline_mut().not_before = ms(4);
    offer(&mut port, ms(0), (0, 0), &mut deeds);
    assert_eq!(port.next_end(), Some(ms(4)));
    port.discipline_mut().not_before = ms(3);
    port.ask_again(ms(2), &mut deeds);
    assert_eq!(port.next_end(), Some(ms(3)));
    offer(&mut port, ms(3), (1, 0), &mut deeds);
    assert_eq!(deeds.take(), [Begins(0, ms(3), ms(4))]);
    let asked = calls.lock().expect("one thread").iter().filter(|call| matches!(call, Call::Dequeue(_))).count();
    assert_eq!(asked, 3);
}

#[test]
fn updates_come_last_at_their_instant_and_may_release_a_packet() {
    let (mut discipline, calls) = Noting::new(Traits { hears_idle: true, ..Traits::PLAIN });
    discipline.updates = Some((ms(1), ms(1)));
    let (mut port, mut deeds) = (Port::new(discipline, slow()), Deeds::default());
    offer(&mut port, ms(0), (0, 0), &mut deeds);
    assert_eq!((port.next_update(), port.next_time()), (Some(ms(1)), Some(ms(1))));
    port.end(ms(1), &mut deeds);
    assert_eq!((port.next_update(), port.next_end()), (Some(ms(1)), None));
    port.update(ms(1), &mut deeds);
    // A late arrival: the updates before it come at their times, the one of its instant later.
    offer(&mut port, ms(3), (1, 0), &mut deeds);
    assert_eq!(port.next_time(), Some(ms(3)));
    let expected = [
        vec![Call::Enqueue(0, ms(0)), Call::Dequeue(ms(0)), Call::Dequeue(ms(1)), Call::Update(ms(1))],
        vec![Call::Update(ms(2)), Call::Enqueue(1, ms(3)), Call::Dequeue(ms(3))],
    ];
    assert_eq!(*calls.lock().expect("one thread"), expected.concat());
    // An idle line asks again after an update.
    port.end(ms(4), &mut deeds);
    port.discipline_mut().not_before = ms(9);
    offer(&mut port, ms(5), (2, 0), &mut deeds);
    assert_eq!(port.next_end(), Some(ms(9)));
    port.discipline_mut().not_before = ms(0);
    deeds.take();
    port.update(ms(5), &mut deeds);
    assert_eq!(deeds.take(), [Begins(2, ms(5), ms(6))]);
}

#[test]
fn a_step_ends_one_of_several_transmissions_of_an_instant() {
    // A packet of a byte takes four fifths of a picosecond: the ends are rounded to 1, 2, 2 and 3.
    let (mut port, mut deeds) = (Port::new(by_name("fifo"), Transmitter::new(Rate::MAX)), Deeds::default());
    for token in 0..4 {
        port.arrive(Time::ZERO, Packet::new(token, Time::ZERO, 1), &header(0), &mut deeds);
    }
    assert_eq!(deeds.take(), [Begins(0, Time(0), Time(1))]);
    port.step(Time::ZERO, &mut deeds);
    assert_eq!((deeds.take(), port.is_sending(), port.waiting()), (vec![], true, 3));
    port.step(Time(1), &mut deeds);
    assert_eq!(deeds.take(), [Ended(0, Time(1)), Begins(1, Time(1), Time(2))]);
    port.step(Time(2), &mut deeds);
    assert_eq!(deeds.take(), [Ended(1, Time(2)), Begins(2, Time(2), Time(2))]);
    port.step(Time(2), &mut deeds);
    assert_eq!(deeds.take(), [Ended(2, Time(2)), Begins(3, Time(2), Time(3))]);
}

#[test]
fn a_step_of_an_update_ends_no_transmission() {
    let (mut discipline, calls) = Noting::new(Traits::PLAIN);
    discipline.updates = Some((ms(1), ms(1)));
    let (mut port, mut deeds) = (Port::new(discipline, slow()), Deeds::default());
    offer(&mut port, Time::ZERO, (0, 0), &mut deeds);
    deeds.take();
    calls.lock().expect("one thread").clear();
    port.step_update(Time(999_999_999), &mut deeds);
    port.step_update(ms(1), &mut deeds);
    port.step_update(ms(1), &mut deeds);
    assert_eq!(*calls.lock().expect("one thread"), [Call::Update(ms(1))]);
    assert_eq!((deeds.take(), port.is_sending()), (vec![], true), "its end at the same instant is another step");
}

#[test]
fn a_transmission_is_interrupted_only_by_a_port_that_does() {
    let settings = fq::Settings { preemptive: true, ..Default::default() };
    let queue = || built(SchedulerSettings::Fq(settings.clone()), 100);
    let run = |mut port: Port<Box<dyn Discipline>, Transmitter>| {
        let mut deeds = Deeds::default();
        port.arrive(ms(0), Packet::new(0, ms(0), 10_000), &header(0), &mut deeds);
        port.arrive(ms(2), Packet::new(1, ms(2), 3000), &header(1), &mut deeds);
        drain(&mut port, &mut deeds);
        assert_eq!((port.counts().sent.packets, port.counts().sent.bytes, port.held().packets), (2, 13_000, 0));
        deeds.0
    };
    let whole = [Begins(0, ms(0), ms(10)), Ended(0, ms(10)), Begins(1, ms(10), ms(13)), Ended(1, ms(13))];
    assert_eq!(run(Port::new(queue(), slow())), whole);
    let interrupted = [
        Begins(0, ms(0), ms(10)),
        Interrupted(0, ms(2), 64_000),
        Begins(1, ms(2), ms(5)),
        Ended(1, ms(5)),
        Begins(0, ms(5), ms(13)),
        Ended(0, ms(13)),
    ];
    assert_eq!(run(Port::new(queue(), slow()).interrupting()), interrupted);
    // At the instant of its end a transmission is over.
    let (mut port, mut deeds) = (Port::new(queue(), slow()).interrupting(), Deeds::default());
    port.arrive(ms(0), Packet::new(0, ms(0), 10_000), &header(0), &mut deeds);
    port.arrive(ms(10), Packet::new(1, ms(10), 1000), &header(1), &mut deeds);
    assert_eq!(deeds.take(), [Begins(0, ms(0), ms(10))]);
    // With a ring the discipline does not know which packet is being sent.
    let ringed = run(Port::new(queue(), slow()).interrupting().taking_ahead(1));
    assert_eq!(ringed.iter().filter(|deed| matches!(deed, Interrupted(..))).count(), 0);
}

#[test]
fn packets_in_the_ring_are_overtaken_by_none() {
    let (mut port, mut deeds) = (Port::new(by_name("fq"), slow()).taking_ahead(2), Deeds::default());
    (0..5).for_each(|token| offer(&mut port, Time::ZERO, (token, 0), &mut deeds));
    assert_eq!(deeds.take(), [Begins(0, ms(0), ms(1)), Taken(1, ms(0)), Taken(2, ms(0))]);
    assert_eq!((port.held(), port.discipline().held().packets), (Held { packets: 4, bytes: 4000 }, 2));
    offer(&mut port, ms(1), (5, 1), &mut deeds);
    port.end(ms(1), &mut deeds);
    // Flow 1 goes before flow 0 in the discipline, and behind what the device has.
    assert_eq!(deeds.take(), [Ended(0, ms(1)), Begins(1, ms(1), ms(2)), Taken(5, ms(1))]);
    drain(&mut port, &mut deeds);
    let order = |deed: &Deed| if let Begins(token, ..) = deed { Some(*token) } else { None };
    assert_eq!(deeds.0.iter().filter_map(order).collect::<Vec<_>>(), [2, 5, 3, 4]);
    assert_eq!(port.counts().overtaken, 2);
}

#[test]
fn a_line_that_is_down_loses_what_it_sends_and_keeps_what_waits() {
    let (discipline, _) = Noting::new(Traits::PLAIN);
    let (mut port, mut deeds) = (Port::new(discipline, slow()), Deeds::default());
    (0..2).for_each(|token| offer(&mut port, Time::ZERO, (token, 0), &mut deeds));
    port.up(Time(1_500_000_000), false, &mut deeds);
    let lost = Time(1_500_000_000);
    assert_eq!(
        deeds.take(),
        [Begins(0, ms(0), ms(1)), Ended(0, ms(1)), Begins(1, ms(1), ms(2)), Dropped(1, lost, Reason::Down)]
    );
    assert!(!port.is_up() && port.next_end().is_none() && port.sending().is_none());
    (2..7).for_each(|token| offer(&mut port, ms(3), (token, 0), &mut deeds));
    port.up(ms(3), false, &mut deeds);
    port.end(ms(8), &mut deeds);
    assert_eq!(deeds.take(), [Dropped(6, ms(3), Reason::BufferFull)]);
    port.up(ms(9), true, &mut deeds);
    port.up(ms(9), true, &mut deeds);
    port.end(ms(10), &mut deeds);
    assert_eq!(deeds.take(), [Begins(2, ms(9), ms(10)), Ended(2, ms(10)), Begins(3, ms(10), ms(11))]);
    // Its last bit leaves as the line goes down.
    port.up(ms(11), false, &mut deeds);
    assert_eq!(deeds.take(), [Ended(3, ms(11))]);
    let PortCounts { arrived, sent, dropped, .. } = *port.counts();
    assert_eq!((arrived.packets, sent.packets, dropped.packets, port.held().packets), (7, 3, 2, 2));
}

#[test]
fn a_stalled_line_sends_the_rest_when_it_has_a_rate_again() {
    let (discipline, _) = Noting::new(Traits::PLAIN);
    let (mut port, mut deeds) = (Port::new(discipline, slow()), Deeds::default());
    port.stall(ms(0), &mut deeds);
    (0..2).for_each(|token| offer(&mut port, ms(0), (token, 0), &mut deeds));
    assert_eq!((deeds.take(), port.stalled()), (vec![], Some(0)));
    let mbit = |port: &mut Port<_, _>, at, rate_of: u64, deeds: &mut Deeds| {
        port.change(at, &Change::Rate(rate(1_000_000 * rate_of)), deeds).unwrap();
    };
    mbit(&mut port, ms(1), 8, &mut deeds);
    // A quarter of a packet of 8000 bits was sent.
    port.stall(Time(1_250_000_000), &mut deeds);
    port.stall(ms(2), &mut deeds);
    assert_eq!((port.stalled(), port.next_end(), port.is_sending()), (Some(6000), None, true));
    mbit(&mut port, ms(3), 6, &mut deeds);
    port.end(ms(4), &mut deeds);
    let second = Time(4_000_000_000 + 8000 * 1_000_000 / 6);
    assert_eq!(deeds.take(), [Begins(0, ms(1), ms(2)), Ended(0, ms(4)), Begins(1, ms(4), second)]);
    // A line that goes down loses the packet that had not left.
    port.stall(ms(5), &mut deeds);
    port.up(ms(6), false, &mut deeds);
    assert_eq!((deeds.take(), port.stalled()), (vec![Dropped(1, ms(6), Reason::Down)], Some(0)));
    offer(&mut port, ms(7), (2, 0), &mut deeds);
    port.up(ms(8), true, &mut deeds);
    assert_eq!(deeds.take(), []);
    mbit(&mut port, ms(9), 8, &mut deeds);
    assert_eq!(deeds.take(), [Begins(2, ms(9), ms(10))]);
    // Its last bit leaves as the line stalls.
    port.stall(ms(10), &mut deeds);
    assert_eq!(deeds.take(), [Ended(2, ms(10))]);
}

#[test]
fn an_exchanged_discipline_comes_back_with_what_it_holds() {
    let (mut port, mut deeds) = (Port::new(by_name("fifo"), slow()), Deeds::default());
    (0..3).for_each(|token| offer(&mut port, Time::ZERO, (token, 0), &mut deeds));
    let mut old = port.exchange(ms(0), by_name("fq"), &mut deeds);
    assert_eq!((old.held().packets, port.held().packets, port.counts().dropped.packets), (2, 0, 2));
    assert_eq!(deeds.take(), [Begins(0, ms(0), ms(1))]);
    // The owner offers them again, behind a packet of another flow.
    offer(&mut port, ms(0), (9, 1), &mut deeds);
    while let Dequeue::Send(packet) = old.dequeue(ms(0), &mut Fates::new()) {
        offer(&mut port, ms(0), (packet.token, 0), &mut deeds);
    }
    port.end(ms(1), &mut deeds);
    assert_eq!(deeds.take(), [Ended(0, ms(1)), Begins(9, ms(1), ms(2))]);
    // A discipline that holds packets begins at once on an idle line.
    drain(&mut port, &mut deeds);
    let mut other = by_name("fifo");
    other.enqueue(ms(0), Packet::new(20, ms(0), 1000), &header(0), &mut Fates::new());
    deeds.take();
    port.exchange(ms(9), other, &mut deeds);
    assert_eq!(deeds.take(), [Begins(20, ms(9), ms(10))]);
    assert_eq!((port.counts().arrived.packets, port.counts().sent.packets), (7, 5));
}

#[test]
fn a_change_of_the_rate_moves_the_end_of_the_transmission() {
    let (mut port, mut deeds) = (Port::new(by_name("fifo"), slow()), Deeds::default());
    (0..2).for_each(|token| offer(&mut port, Time::ZERO, (token, 0), &mut deeds));
    // A quarter was sent in the first 250 us.
    port.change(Time(250_000_000), &Change::Rate(rate(1_000_000)), &mut deeds).expect("rates change");
    assert_eq!(port.next_end(), Some(Time(6_250_000_000)));
    // The call is late: packet 1 began at the end of packet 0, and 2 ms of it were sent.
    port.change(Time(8_250_000_000), &Change::Rate(rate(2_000_000)), &mut deeds).expect("rates change");
    let begins = Begins(1, Time(6_250_000_000), Time(14_250_000_000));
    assert_eq!(deeds.take(), [Begins(0, ms(0), ms(1)), Ended(0, Time(6_250_000_000)), begins]);
    assert_eq!(port.next_end(), Some(Time(11_250_000_000)));
    let weight = Change::Weight(header(0), Weight::ONE);
    assert!(port.change(ms(9), &weight, &mut deeds).is_err(), "a FIFO has no weights");
}

/// Hears why each packet was chosen.
#[derive(Default)]
struct Reasons(Vec<(u64, Time, &'static str, Option<f64>)>);

impl Sink for Reasons {
    fn begins(&mut self, _: &Packet, _: Time, _: Time) {}
    fn dropped(&mut self, _: &Packet, _: Time, _: Reason) {}
    fn hears_decisions(&self) -> bool {
        true
    }
    fn decided(&mut self, packet: &Packet, at: Time, decision: &Decision) {
        self.0.push((packet.token, at, decision.by, decision.value));
    }
}

#[test]
fn a_sink_that_wants_them_hears_reasons() {
    let fq = SchedulerSettings::by_name("fq").expect("it is in the registry");
    let line = Line { explains: true, ..Line::new(rate(8_000_000)) };
    let (mut port, mut reasons) = (Port::new(Queue::new(fq, None).build(&line), slow()), Reasons::default());
    for token in 0..2 {
        port.arrive(ms(0), Packet::new(token, ms(0), 1000), &header(0), &mut reasons);
    }
    port.end(ms(5), &mut reasons);
    assert_eq!(reasons.0, [(0, ms(0), "finish", Some(1000.0)), (1, ms(1), "finish", Some(2000.0))]);
}

#[test]
fn a_refused_packet_is_counted_and_never_shown() {
    let (discipline, calls) = Noting::new(Traits::PLAIN);
    let (mut port, mut deeds) = (Port::new(discipline, slow()), Deeds::default());
    port.refuse(ms(1), &Packet::new(0, ms(1), 1000), Reason::Preempted, &mut deeds);
    assert_eq!(deeds.take(), [Dropped(0, ms(1), Reason::Preempted)]);
    assert_eq!((port.counts().arrived, port.held()), (port.counts().dropped, Held::default()));
    assert_eq!((port.counts().arrived.bytes, calls.lock().expect("one thread").len()), (1000, 0));
}

#[test]
fn a_packet_sent_by_an_earlier_discipline_is_not_interrupted() {
    let settings = fq::Settings { preemptive: true, ..Default::default() };
    let queue = || built(SchedulerSettings::Fq(settings.clone()), 100);
    let (mut port, mut deeds) = (Port::new(queue(), slow()).interrupting(), Deeds::default());
    port.arrive(ms(0), Packet::new(0, ms(0), 10_000), &header(0), &mut deeds);
    port.exchange(ms(1), queue(), &mut deeds);
    port.arrive(ms(2), Packet::new(1, ms(2), 1000), &header(1), &mut deeds);
    assert_eq!(deeds.take(), [Begins(0, ms(0), ms(10))]);
}

#[test]
fn a_removed_packet_is_handed_back_and_counts_as_dropped() {
    let (mut port, mut deeds) = (Port::new(by_name("fifo"), slow()), Deeds::default());
    let handles: Vec<_> = (0..3)
        .map(|token| port.arrive(ms(0), Packet::new(token, ms(0), 1000), &header(0), &mut deeds).expect("it is held"))
        .collect();
    assert_eq!(port.remove(ms(0), handles[1], &mut deeds).map(|packet| packet.token), Some(1));
    assert_eq!(port.remove(ms(0), handles[1], &mut deeds), None);
    // The call is late: by then packet 2 is being sent.
    assert_eq!(port.remove(Time(1_000_000_001), handles[2], &mut deeds), None);
    assert_eq!(deeds.take(), [Begins(0, ms(0), ms(1)), Ended(0, ms(1)), Begins(2, ms(1), ms(2))]);
    let PortCounts { arrived, sent, dropped, .. } = *port.counts();
    assert_eq!((arrived.packets, sent.packets, dropped.packets), (3, 2, 1));

    // The time that a discipline named may have been that of the removed packet.
    let (discipline, _) = Noting::new(Traits::PLAIN);
    let mut port = Port::new(discipline, slow());
    port.discipline_mut().not_before = ms(4);
    let handle = port.arrive(ms(0), Packet::new(0, ms(0), 1000), &header(0), &mut deeds).expect("it is held");
    assert_eq!(port.next_end(), Some(ms(4)));
    assert!(port.remove(ms(1), handle, &mut deeds).is_some());
    assert_eq!(port.next_end(), None);
}

#[test]
fn a_gathering_line_asks_when_all_arrivals_of_the_instant_have_come() {
    let order = |mut port: Port<Box<dyn Discipline>, Transmitter>| {
        let mut deeds = Deeds::default();
        port.arrive(ms(1), Packet::new(0, ms(1), 2000), &header(0), &mut deeds);
        port.arrive(ms(1), Packet::new(1, ms(1), 1000), &header(1), &mut deeds);
        drain(&mut port, &mut deeds);
        deeds.0.retain(|deed| matches!(deed, Begins(..)));
        deeds.0
    };
    assert_eq!(order(Port::new(by_name("fq"), slow())), [Begins(0, ms(1), ms(3)), Begins(1, ms(3), ms(4))]);
    let gathering = Port::new(by_name("fq"), slow()).bypassing().gathering();
    assert_eq!(order(gathering), [Begins(1, ms(1), ms(2)), Begins(0, ms(2), ms(4))]);
}

/// Every scheduler, buffer policy and design with all its settings.
fn queues() -> Vec<Queue> {
    let limit = Some(Limit::Packets(12));
    let schedulers = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    let mut queues: Vec<Queue> = schedulers.map(|scheduler| Queue::new(scheduler, limit)).collect();
    let carriers = ["fifo", "drr"].map(|name| SchedulerSettings::by_name(name).expect("it is in the registry"));
    for mut buffer in BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name)) {
        if let BufferSettings::Afd(afd) = &mut buffer {
            afd.interval = afd.interval.or(Some(Time::from_ms(100)));
        }
        let with = |carrier: &SchedulerSettings| Queue::new(carrier.clone(), limit);
        queues.extend(carriers.iter().map(|carrier| Queue { buffer: Some(buffer.clone()), ..with(carrier) }));
    }
    let designs = DESIGNS.iter().flat_map(|card| DesignSettings::variants(card.name));
    queues.extend(designs.map(|design| Queue::of_design(design, limit)));
    queues.retain(|queue| queue.fault().is_none());
    queues
}

const FLOWS: u32 = 5;

/// Random arrivals, a quarter of them in the instant of the one before, with lulls between. At
/// 1 Mbit/s they come between two bits.
fn arrivals(draw: &mut Draw, packets: u64, line: &Line) -> Vec<(Packet, u32)> {
    let usual = line.rate.time_of_bits(6000).0;
    let bit = line.rate.time_of_bits(1).0;
    let mut now = Time(bit);
    let mut next = |token| {
        let longest = usual * draw.pick(&[0, 0, 2, 2, 2, 2, 2, 30]);
        now = now + Time(draw.below(longest + 1) / bit * bit);
        let length = draw.pick(&[40, 577, 1500]);
        let accepts = draw.pick(&[Marks::NONE, Marks::CE]);
        let packet = Packet { accepts, tos: draw.bits() as u8, ..Packet::new(token, now, length) };
        (packet, draw.below(u64::from(FLOWS)) as u32)
    };
    (0..packets).map(&mut next).collect()
}

fn line(bit_per_s: u64) -> Line {
    let weight = |flow: u32| Weight::from_thousandths(500 * (1 + flow % 3)).expect("a weight of the test");
    Line { weights: (0..FLOWS).map(|flow| (header(flow), weight(flow))).collect(), ..Line::new(rate(bit_per_s)) }
}

/// A port as the drivers build it, by number.
fn shaped(queue: &Queue, line: &Line, kind: u64) -> Port<Box<dyn Discipline>, Transmitter> {
    let port = Port::new(queue.build(line), Transmitter::new(line.rate));
    match kind % 4 {
        0 => port.interrupting(),
        1 => port.interrupting().gathering(),
        2 => port.taking_ahead(2),
        _ => port.bypassing(),
    }
}

/// A change of the line or the queue.
fn change(draw: &mut Draw) -> Change<'static> {
    let flow = header(draw.below(u64::from(FLOWS)) as u32);
    match draw.below(5) {
        0 => Change::Rate(rate(draw.pick(&[500_000, 1_000_000, 999_999_937]))),
        1 => Change::Weight(flow, Weight::from_thousandths(draw.pick(&[300, 4000])).expect("a weight of the test")),
        2 => Change::Pacing(flow, draw.pick(&[None, Rate::new(200_000)])),
        3 => Change::Limit(Limit::Packets(draw.pick(&[4, 30]))),
        _ => Change::Class(flow, "a"),
    }
}

#[test]
fn late_calls_give_what_timely_calls_give() {
    for (at, queue) in queues().iter().enumerate() {
        for kind in 0..4 {
            let seed = at as u64 * 4 + kind;
            let _replay = Replay(format!("seed {seed}, kind {kind}, {queue:?}"));
            let mut draw = Draw::new(seed);
            let line = line(draw.pick(&[1_000_000, 999_999_937]));
            let (mut timely, mut late) = (shaped(queue, &line, kind), shaped(queue, &line, kind));
            let (mut deeds, mut others) = (Deeds::default(), Deeds::default());
            let mut handles = Vec::new();
            for (packet, flow) in arrivals(&mut draw, 150, &line) {
                let now = packet.arrival;
                while let Some(time) = timely.next_time().filter(|time| *time < now) {
                    match draw.below(3) {
                        0 if timely.next_end() == Some(time) => timely.end(time, &mut deeds),
                        _ => timely.update(time, &mut deeds),
                    }
                }
                let handle = timely.arrive(now, packet, &header(flow), &mut deeds);
                assert_eq!(late.arrive(now, packet, &header(flow), &mut others), handle);
                handles.extend(handle);
                if draw.once_in(15) {
                    let change = change(&mut draw);
                    assert_eq!(timely.change(now, &change, &mut deeds), late.change(now, &change, &mut others));
                }
                if draw.once_in(9) && !handles.is_empty() {
                    let handle = draw.pick(&handles);
                    assert_eq!(timely.remove(now, handle, &mut deeds), late.remove(now, handle, &mut others));
                }
            }
            drain(&mut timely, &mut deeds);
            drain(&mut late, &mut others);
            assert_eq!(deeds.0, others.0);
            assert_eq!(timely.counts(), late.counts());
            let PortCounts { arrived, sent, dropped, .. } = *timely.counts();
            assert_eq!(arrived.packets, sent.packets + dropped.packets, "all leave in the end");
        }
    }
}

/// The packets in the order of their ends, as a loop gives them that has every arrival before it:
/// an idle line asks when all arrivals of the instant have come, and at every end.
fn plain_loop(mut discipline: Box<dyn Discipline>, all: &[(Packet, u32)], rate: Rate) -> Vec<(u64, Time)> {
    let (mut fates, mut ended, mut waiting) = (Fates::new(), Vec::new(), all.iter().peekable());
    let (mut sending, mut wake) = (None, Some(Time::ZERO));
    loop {
        let end = sending.map(|(_, end)| end).or(wake);
        let line = [end, discipline.next_update()].into_iter().flatten().min();
        if let Some((packet, flow)) = waiting.next_if(|(packet, _)| line.is_none_or(|line| packet.arrival <= line)) {
            discipline.enqueue(packet.arrival, *packet, &header(*flow), &mut fates);
            wake = Some(packet.arrival);
        } else if let Some(now) = end.filter(|end| discipline.next_update().is_none_or(|update| *end <= update)) {
            ended.extend(sending.take());
            (sending, wake) = match discipline.dequeue(now, &mut fates) {
                Dequeue::Send(packet) => (Some((packet.token, now + rate.time_of_bits(packet.bits_to_send()))), None),
                Dequeue::NotBefore(time) => (None, Some(time)),
                Dequeue::Empty => (None, None),
            };
        } else if end.is_some() || waiting.peek().is_some() {
            discipline.update(discipline.next_update().expect("the update is what comes first"));
        } else {
            return ended;
        }
    }
}

#[test]
fn a_plain_loop_without_a_port_gives_the_same() {
    for (at, queue) in queues().iter().enumerate() {
        for round in 0..3 {
            let seed = at as u64 * 3 + round;
            let _replay = Replay(format!("seed {seed}, {queue:?}"));
            // A bit takes whole picoseconds: nothing is rounded.
            let line = line(1_000_000);
            let mut port = Port::new(queue.build(&line), Transmitter::new(line.rate)).gathering();
            let (mut deeds, all) = (Deeds::default(), arrivals(&mut Draw::new(seed), 200, &line));
            for (packet, flow) in &all {
                port.arrive(packet.arrival, *packet, &header(*flow), &mut deeds);
            }
            drain(&mut port, &mut deeds);
            let ended = |deed: &Deed| if let Ended(token, at) = deed { Some((*token, *at)) } else { None };
            let ended: Vec<_> = deeds.0.iter().filter_map(ended).collect();
            let expected = plain_loop(queue.build(&line), &all, line.rate);
            let differs = ended.iter().zip(&expected).find(|(mine, theirs)| mine != theirs);
            assert_eq!((differs, ended.len()), (None, expected.len()));
        }
    }
}

#[test]
fn a_line_that_goes_down_or_stalls_loses_no_packet_unnoticed() {
    let mut lost = 0;
    for (at, queue) in queues().iter().enumerate() {
        for kind in 0..4 {
            let seed = at as u64 * 4 + kind;
            let _replay = Replay(format!("seed {seed}, kind {kind}, {queue:?}"));
            let mut draw = Draw::new(seed);
            let line = line(1_000_000);
            let (mut port, mut deeds) = (shaped(queue, &line, kind), Deeds::default());
            for (packet, flow) in arrivals(&mut draw, 200, &line) {
                port.arrive(packet.arrival, packet, &header(flow), &mut deeds);
                if draw.once_in(12) {
                    port.up(packet.arrival, draw.once_in(2), &mut deeds);
                }
                if draw.once_in(12) {
                    port.stall(packet.arrival, &mut deeds);
                }
                if draw.once_in(12) {
                    port.change(packet.arrival, &Change::Rate(rate(1_000_000)), &mut deeds).unwrap();
                }
                assert!(port.is_up() || port.sending().is_none());
                assert!(port.stalled().is_none() || port.next_end().is_none());
            }
            port.up(Time::from_s(60), true, &mut deeds);
            port.change(Time::from_s(60), &Change::Rate(rate(1_000_000)), &mut deeds).unwrap();
            drain(&mut port, &mut deeds);
            assert_eq!(port.held(), Held::default());
            let count = |what: fn(&Deed) -> bool| deeds.0.iter().filter(|deed| what(deed)).count() as u64;
            assert_eq!(count(|deed| matches!(deed, Ended(..))), port.counts().sent.packets);
            assert_eq!(count(|deed| matches!(deed, Dropped(..))), port.counts().dropped.packets);
            lost += count(|deed| matches!(deed, Dropped(.., Reason::Down)));
        }
    }
    assert!(lost > 1000, "{lost} were lost");
}
