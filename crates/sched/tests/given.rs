//! What a part goes by of what a packet's descriptor may say, and may not: each part of the
//! registry declares it ([`Facts::needs`](fairq_sched::facts::Facts::needs)), and here it is seen
//! by taking the one thing away. A part that goes by something undeclared would be another part, in
//! silence, where a driver does not tell that.

use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Dequeue, Discipline, Handle, Held, Line, Role};
use fairq_sched::facts::Need;
use fairq_sched::packet::{Fates, Header, Marks, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::reading::Reading;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, ClassifierSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings, POLICERS,
    PolicerSettings, SCHEDULERS, SchedulerSettings,
};
use fairq_sched::traits::Traits;
use fairq_sched::units::{Limit, Rate, Time, Weight};
use fairq_sched::waiting::Waiting;
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Driver, Journey, header};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// One of every part, with all its settings: alone over first in, first out, where that is no
/// scheduler.
fn queues() -> Vec<Queue> {
    let limit = Some(Limit::Packets(12));
    let fifo = || Queue { limit, ..Queue::unlimited_fifo() };
    let schedulers = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    let buffers = BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name));
    let markers = MARKERS.iter().flat_map(|card| MarkerSettings::variants(card.name));
    let designs = DESIGNS.iter().flat_map(|card| DesignSettings::variants(card.name));
    let mut queues: Vec<Queue> = schedulers.map(|scheduler| Queue { scheduler, ..fifo() }).collect();
    queues.extend(buffers.map(|buffer| Queue { buffer: Some(buffer), ..fifo() }));
    let policers = POLICERS.iter().flat_map(|card| PolicerSettings::variants(card.name));
    queues.extend(policers.map(|policer| Queue { policer: Some(policer), ..fifo() }));
    queues.extend(markers.clone().map(|marker| Queue { marker: Some(marker), ..fifo() }));
    let fq = SchedulerSettings::by_name("fq").expect("a scheduler");
    queues.extend(markers.map(|marker| Queue { marker: Some(marker), scheduler: fq.clone(), ..fifo() }));
    queues.extend(designs.map(|design| Queue::of_design(design, limit)));
    queues.retain(|queue| queue.fault().is_none());
    // Every flow of the test has a five-tuple of its own.
    queues.iter_mut().for_each(|queue| queue.classifier = ClassifierSettings::by_name("port_pair"));
    queues
}

/// What is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Nothing,
    Told(Need),
    /// All packets are of one flow.
    Flows,
    /// All flows are of one weight.
    Weights,
    Services,
}

/// A discipline from whose packets something is taken away.
struct Without(Box<dyn Discipline>, Taken);

impl Discipline for Without {
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, bypass: 0, replays: false, fifo: None, ..self.0.traits() }
    }
    fn enqueue(&mut self, now: Time, mut packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        let mut header = *header;
        match self.1 {
            Taken::Nothing | Taken::Weights | Taken::Told(Need::Class) => {}
            Taken::Told(Need::Remaining) => packet.remaining = 0,
            Taken::Told(Need::Deadline) => packet.deadline = Time::NEVER,
            Taken::Told(Need::Acknowledges) => packet.acknowledges = None,
            Taken::Told(Need::Label) => packet.label = 0,
            Taken::Told(Need::AcceptsDec) => packet.accepts = Marks(packet.accepts.0 & !Marks::DEC.0),
            Taken::Told(Need::AcceptsFq) => packet.accepts = Marks(packet.accepts.0 & !Marks::FQ.0),
            Taken::Flows => header = Header { tos: header.tos, ..self::header(0) },
            Taken::Services => (packet.tos, header.tos) = (0, 0),
        }
        self.0.enqueue(now, packet, &header, fates)
    }
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.0.dequeue(now, fates)
    }
    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.0.change(now, change)
    }

    fn held(&self) -> Held {
        self.0.held()
    }
    fn next_update(&self) -> Option<Time> {
        self.0.next_update()
    }
    fn update(&mut self, now: Time) {
        self.0.update(now);
    }

    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.0.readings(now, visit);
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.0.waiting(visit);
    }
}

/// Packets of a run, and what may wait at most.
const SHORT: (u64, u64) = (400, 12);

/// The same, for parts that act on averages and long queues only.
const LONG: (u64, u64) = (6000, 60);

/// What becomes of packets that come in bursts, without what is `taken`.
fn journeys(queue: &Queue, (packets, waiting): (u64, u64), seed: u64, taken: Taken) -> Vec<Journey> {
    let queue = &Queue { limit: Some(Limit::Packets(waiting)), ..queue.clone() };
    let mut draw = Draw::new(seed);
    let mut line = Line::new(Rate::new(1_000_000).expect("a rate"));
    if taken != Taken::Weights {
        line.weights = vec![(header(1), Weight::from_thousandths(3000).expect("a weight"))];
    }
    if taken == Taken::Told(Need::Label) || seed.is_multiple_of(2) {
        line.role = Role::Core;
    }
    let mut driver = Driver::new(Without(queue.build(&line), taken), line.rate);
    let mut numbers = [1000; 6];
    let mut time = Time::ZERO;
    for token in 0..packets {
        time = time + Time(if draw.once_in(12) { draw.below(200_000_000_000) } else { draw.below(4_000_000_000) });
        let flow = draw.below(6) as u32;
        let number = &mut numbers[flow as usize];
        *number += draw.below(2000) as u32;
        let length = draw.pick(&[40, 576, 1000]);
        let later = time + Time(draw.below(1 << 38));
        driver.offer_packet(
            flow,
            Packet {
                remaining: 1 + draw.below(100_000) as u32,
                deadline: draw.pick(&[later, Time::NEVER]),
                label: 1 + draw.below(1 << 20) as u32,
                acknowledges: NonZeroU32::new(*number),
                accepts: draw.pick(&[Marks::NONE, Marks(7)]),
                tos: (draw.bits() as u8) & 0xfc,
                ..Packet::new(token, time, length)
            },
        );
    }
    driver.finish();
    driver.journeys.iter().map(|journey| Journey { handle: None, ..*journey }).collect()
}

/// Whether what becomes of packets changes without what is `taken`, in one of some runs.
fn goes_by(queue: &Queue, size: (u64, u64), taken: Taken, runs: impl IntoIterator<Item = u64>) -> bool {
    runs.into_iter().any(|seed| {
        let _replay = Replay(format!("seed {seed}, without {taken:?}, {queue:?}"));
        let whole = match taken {
            // The same gateway: in the core of an island, or not.
            Taken::Told(Need::Label) => journeys(queue, size, seed & !1, Taken::Nothing),
            _ => journeys(queue, size, seed, Taken::Nothing),
        };
        whole != journeys(queue, size, if taken == Taken::Told(Need::Label) { seed & !1 } else { seed }, taken)
    })
}

#[test]
fn every_part_declares_what_it_goes_by() {
    for queue in queues() {
        let needs: Vec<Need> = queue.needs().into_iter().map(|(_, need)| need).collect();
        for need in Need::ALL.into_iter().filter(|need| *need != Need::Class) {
            let is_declared = needs.contains(&need);
            // A deadline is what EDF goes by where there is one, and it has its bound where there
            // is none.
            let has_other = need == Need::Deadline && matches!(queue.scheduler, SchedulerSettings::Edf(_));
            assert_eq!(
                goes_by(&queue, SHORT, Taken::Told(need), 0..12),
                is_declared || has_other,
                "{need:?}: {queue:?}"
            );
        }
    }
}

#[test]
fn every_part_declares_whether_flows_matter_to_it() {
    let goes_by_flows =
        |queue: &Queue| goes_by(queue, SHORT, Taken::Flows, 0..12) || goes_by(queue, LONG, Taken::Flows, 0..4);
    // Layers far above all rates: every packet has the lowest colour, which no threshold drops.
    let has_one_colour = |queue: &Queue| matches!(&queue.buffer, Some(BufferSettings::RainbowFq(settings)) if settings.rate_max == Some(Rate::MAX));
    // No flow of the test sends so much that it is a heavy hitter.
    let hits_nothing = |queue: &Queue| matches!(&queue.design, Some(DesignSettings::Hhf(settings)) if settings.admit_bytes.0 > 100_000);
    let is_wrong = |queue: &Queue| {
        !has_one_colour(queue) && !hits_nothing(queue) && goes_by_flows(queue) != queue.tells_flows_apart()
    };
    let wrong: Vec<Queue> = queues().into_iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is seen of a queue is declared; and what is declared is seen of some settings of its parts,
/// or another test shows it.
fn is_declared_where_seen(declares: fn(&Queue) -> bool, is_seen: impl Fn(&Queue) -> bool, shown_elsewhere: &[&str]) {
    let queues = queues();
    let mut missing: BTreeSet<String> = queues.iter().filter(|queue| declares(queue)).map(Queue::name).collect();
    for queue in queues.iter().filter(|queue| is_seen(queue)) {
        assert!(declares(queue), "{queue:?}");
        missing.remove(&queue.name());
    }
    assert!(missing.iter().all(|name| shown_elsewhere.iter().any(|shown| name.contains(shown))), "{missing:?}");
}

#[test]
fn every_part_declares_whether_weights_matter_to_it() {
    let is_seen =
        |queue: &Queue| goes_by(queue, SHORT, Taken::Weights, 0..12) || goes_by(queue, LONG, Taken::Weights, 0..4);
    // Shares by weight of measured rates: edge_and_core.rs.
    is_declared_where_seen(Queue::goes_by_weights, is_seen, &["rainbow_fq", "vwfq"]);
}

#[test]
fn every_part_declares_whether_it_marks_congestion() {
    let marks = |queue: &Queue, size, seed| {
        journeys(queue, size, seed, Taken::Nothing).iter().any(|journey| journey.marks.intersects(Marks::CE))
    };
    let is_seen =
        |queue: &Queue| (0..12).any(|seed| marks(queue, SHORT, seed)) || (0..4).any(|seed| marks(queue, LONG, seed));
    // Its bins are longer than these queues: sfb.rs.
    is_declared_where_seen(Queue::marks_congestion, is_seen, &["sfb"]);
}

#[test]
fn classes_that_only_flows_can_name_are_declared() {
    for queue in queues() {
        let has_classes = queue.classes().is_some_and(|classes| classes.len() > 1);
        let is_declared = queue.needs().iter().any(|(_, need)| *need == Need::Class);
        let is_told_by_services = goes_by(&queue, SHORT, Taken::Services, 0..12);
        assert_eq!(is_declared, has_classes && !is_told_by_services, "{queue:?}");
    }
}
