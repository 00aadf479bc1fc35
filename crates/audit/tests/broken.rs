//! A discipline that breaks an invariant, or a bound that it claims, is caught: one case for each
//! invariant and for each kind of bound.

use fairq_audit::checked::Rules;
use fairq_audit::driver::{Arrival, Driver};
use fairq_audit::invariant::Invariant;
use fairq_audit::report::{Report, Yardstick};
use fairq_audit::subject::Subject;
use fairq_audit::{Stopped, audit, replay};
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Dequeue, Discipline, Handle, Held, Line};
use fairq_sched::packet::{Fate, Fates, Header, Outcome, Packet, Reason};
use fairq_sched::promise::{Load, Measure};
use fairq_sched::queue::Queue;
use fairq_sched::reading::Reading;
use fairq_sched::traits::Traits;
use fairq_sched::units::{Limit, Rate, Time};
use fairq_sched::waiting::{Stamps, Waiting};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is wrong with a first-in-first-out queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// A packet in fifty vanishes.
    Loses,
    /// One packet more than may waits.
    HoldsTooMuch,
    /// The last of three goes first.
    Overtakes,
    /// It rests a while.
    Rests,
    /// A packet comes out longer.
    Stretches,
    /// A handle is given for nothing.
    NamesNothing,
    /// The second that is built answers otherwise.
    Forgets,
    /// A repeated call gives another answer.
    ChangesItsMind,
    /// The last packet stays until another comes.
    KeepsOne,
    /// The hundredth packet ends it.
    Panics,
    /// None: it is just not fair.
    Unfair,
}

/// First in, first out, with a flaw.
struct Fake {
    flaw: Flaw,
    limit: Limit,
    is_second: bool,
    waiting: VecDeque<Packet>,
    bytes: u64,
    arrived: u64,
    asked: u64,
    resting: Option<Time>,
}

impl Fake {
    fn take(&mut self) -> Option<Packet> {
        let at = if self.flaw == Flaw::Overtakes && self.waiting.len() > 2 { self.waiting.len() - 1 } else { 0 };
        let packet = self.waiting.remove(at)?;
        self.bytes -= u64::from(packet.length);
        Some(packet)
    }
}

impl Discipline for Fake {
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, ..Traits::PLAIN }
    }
    fn enqueue(&mut self, _now: Time, packet: Packet, _header: &Header, fates: &mut Fates) -> Option<Handle> {
        self.arrived += 1;
        assert!(self.flaw != Flaw::Panics || self.arrived < 100, "the hundredth packet");
        let more = u64::from(self.flaw == Flaw::HoldsTooMuch);
        let (packets, bytes) = (self.waiting.len() as u64 + 1 - more, self.bytes + u64::from(packet.length));
        if self.limit.is_exceeded_by(packets, if more > 0 { 0 } else { bytes }) {
            fates.push(Fate { packet, outcome: Outcome::Dropped(Reason::BufferFull) });
            return None;
        }
        if self.flaw != Flaw::Loses || !self.arrived.is_multiple_of(50) {
            self.waiting.push_back(packet);
            self.bytes = bytes;
        }
        None
    }

    fn dequeue(&mut self, now: Time, _fates: &mut Fates) -> Dequeue {
        self.asked += 1;
        if self.waiting.is_empty() {
            return Dequeue::Empty;
        }
        match self.flaw {
            Flaw::Rests if self.asked.is_multiple_of(7) || self.resting.is_some_and(|until| now < until) => {
                let until = *self.resting.get_or_insert(Time(now.0 + 1000)).max(&mut Time(now.0 + 1));
                return Dequeue::NotBefore(until);
            }
            Flaw::KeepsOne if self.waiting.len() == 1 => return Dequeue::Empty,
            Flaw::ChangesItsMind if self.asked.is_multiple_of(5) => {
                return Dequeue::NotBefore(Time(now.0 + self.asked));
            }
            Flaw::Forgets if self.is_second && self.asked > 20 => return Dequeue::Empty,
            _ => self.resting = None,
        }
        let Some(mut packet) = self.take() else { return Dequeue::Empty };
        packet.length += u32::from(self.flaw == Flaw::Stretches);
        Dequeue::Send(packet)
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        change.not_used()
    }

    fn held(&self) -> Held {
        Held { packets: self.waiting.len() as u64, bytes: self.bytes }
    }

    fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.waiting.iter().for_each(|packet| visit(Waiting { packet, queue: 0, stamps: Stamps::NONE }));
    }
}

/// A fake as it is audited.
struct Audited {
    flaw: Flaw,
    built: AtomicU64,
}

/// Gives each held packet of a fake the handle that a real queue gave.
struct WithHandles {
    fake: Fake,
    real: Box<dyn Discipline>,
}

impl Discipline for WithHandles {
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, ..Traits::PLAIN }
    }
    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        let before = fates.len();
        self.fake.enqueue(now, packet, header, fates);
        let handle = self.real.enqueue(now, packet, header, &mut Fates::new());
        let is_held = fates.len() == before;
        handle.filter(|_| is_held || self.fake.flaw == Flaw::NamesNothing)
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.fake.dequeue(now, fates)
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        change.not_used()
    }

    fn held(&self) -> Held {
        self.fake.held()
    }

    fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.fake.waiting(visit);
    }
}

impl Subject for Audited {
    fn rules(&self, limit: Limit) -> Option<Rules> {
        let is_work_conserving = !matches!(self.flaw, Flaw::ChangesItsMind);
        // No fake takes a packet out, so where owners ask for that each breaks handles too.
        Some(Rules {
            limit,
            memory: Limit::Unlimited,
            has_limits_inside: false,
            is_work_conserving,
            keeps_flow_order: true,
        })
    }

    fn build(&self, limit: Limit, line: &Line) -> Box<dyn Discipline> {
        let is_second = self.built.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        let (waiting, bytes, arrived, asked, resting) = (VecDeque::new(), 0, 0, 0, None);
        let fake = Fake { flaw: self.flaw, limit, is_second, waiting, bytes, arrived, asked, resting };
        Box::new(WithHandles { fake, real: Queue::unlimited_fifo().build(line) })
    }

    fn promise(&self, measure: Measure, load: &Load<'_>) -> Option<f64> {
        match measure {
            Measure::RelativeFairness(i, j) => Some(load.a_packet_each(i, j)),
            Measure::WorstCaseIndex(flow) => Some(load.least_index(flow)),
            Measure::Latency { flow, .. } => Some(load.own_packet_and_longest(flow)),
            Measure::Lateness | Measure::Behind(_) => Some(load.longest()),
            Measure::Ahead(flow) => Some(load.longest_of(flow)),
            Measure::FairnessWhileWaiting(i, j) => Some(2.0 * load.a_packet_each(i, j)),
            Measure::PacketFairness(..) | Measure::PacketsOverWeights(..) => Some(2.0),
        }
    }
}

fn audited(flaw: Flaw) -> (Audited, Report) {
    let subject = Audited { flaw, built: AtomicU64::new(0) };
    let report = audit(&subject, &[], 4, &mut |_, _| true).expect("it is not stopped");
    (subject, report)
}

#[test]
fn a_broken_invariant_is_caught_and_told_with_a_run_that_shows_it_again() {
    for (flaw, invariant) in [
        (Flaw::Loses, Invariant::Conservation),
        (Flaw::HoldsTooMuch, Invariant::Limit),
        (Flaw::Overtakes, Invariant::FlowOrder),
        (Flaw::Rests, Invariant::WorkConservation),
        (Flaw::Stretches, Invariant::Packets),
        (Flaw::NamesNothing, Invariant::Handles),
        (Flaw::Forgets, Invariant::SameAnswers),
        (Flaw::ChangesItsMind, Invariant::AskingAgain),
        (Flaw::KeepsOne, Invariant::WorkConservation),
        (Flaw::Panics, Invariant::NoPanic),
    ] {
        let (subject, report) = audited(flaw);
        let found = report.violations.iter().find(|violation| violation.of == invariant.name());
        let violation = found.unwrap_or_else(|| panic!("{flaw:?}: {:?}", report.violations));
        assert!(!violation.example.message.contains('\n'));
        let (again, _) = replay(&subject, &[], &violation.example.run).expect("a run of the report");
        let is_same = |other: &&fairq_audit::report::Violation| other.of == violation.of;
        assert_eq!(again.violations.iter().find(is_same), Some(violation), "{flaw:?}");
    }
}

#[test]
fn a_driver_sees_what_never_leaves_without_being_told() {
    let subject = Audited { flaw: Flaw::KeepsOne, built: AtomicU64::new(0) };
    let line = Line::new(Rate::new(1_000_000).expect("above 0"));
    let mut driver = Driver::new(subject.build(Limit::Unlimited, &line), line.rate);
    driver.offer(Arrival { time: Time::ZERO, flow: 0, length: 100 });
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| driver.finish()));
    assert!(outcome.is_err());
    assert_eq!(driver.tally().fault().map(|fault| fault.invariant), Some(Invariant::Leaving));
}

#[test]
fn a_bound_that_is_not_kept_is_caught() {
    let (_, report) = audited(Flaw::Unfair);
    for yardstick in Yardstick::ALL {
        let is_told = report.violations.iter().any(|violation| violation.of == yardstick.name());
        assert!(is_told, "{yardstick:?}: {:?}", report.violations);
    }
}

#[test]
fn an_invariant_that_may_be_broken_has_its_example() {
    use fairq_sched::registry::SchedulerSettings;
    let queue = Queue::new(SchedulerSettings::by_name("token_bucket").expect("of the registry"), None);
    let report = audit(&queue, &[], 4, &mut |_, _| true).expect("it is not stopped");
    let row = report
        .invariants
        .iter()
        .find(|row| row.invariant == Invariant::WorkConservation)
        .expect("all invariants are there");
    assert!(row.is_exempt && row.example.is_some(), "{row:?}");
    assert_eq!(report.violations, []);
}

#[test]
fn an_audit_can_be_stopped_and_a_run_that_is_none_is_refused() {
    let queue = Queue::unlimited_fifo();
    assert_eq!(audit(&queue, &[], 4, &mut |done, _| done < 3), Err(Stopped::Interrupted));
    for name in ["", "world", "world:", "wrold:1", "world:-1"] {
        assert!(matches!(replay(&queue, &[], name), Err(Stopped::NoRun(_))), "{name}");
    }
}
