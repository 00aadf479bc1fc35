//! All that a discipline or a part can be asked, in an order that its state allows.

use super::spies::{Notes, header};
use fairq_sched::change::Change;
use fairq_sched::contract::{BufferPolicy, Discipline, Flow, Gone, Handle, HeldPacket, Marker, Scheduler};
use fairq_sched::packet::{Fates, Packet};
use fairq_sched::reading::Reading;
use fairq_sched::store::Store;
use fairq_sched::units::{Limit, Rate, Time};

/// A question, its answer, and the calls that it came to.
pub(crate) type Told = (&'static str, String, Vec<(&'static str, String)>);

type Questions<P> = Vec<(&'static str, fn(&mut P) -> String)>;

/// Asks `part` each of `questions`; its spies write `notes`.
fn ask<P: ?Sized>(part: &mut P, notes: &Notes, questions: Questions<P>) -> Vec<Told> {
    notes.take();
    let ask = |(name, question): (_, fn(&mut P) -> String)| (name, question(part), notes.take());
    questions.into_iter().map(ask).collect()
}

fn packet(token: u64) -> Packet {
    Packet::new(token, Time::from_ms(1), 100)
}

fn all(show: impl FnOnce(&mut dyn FnMut(Reading<'_>))) -> String {
    let mut shown = String::new();
    show(&mut |reading| shown += &format!("{reading:?}"));
    shown
}

/// Macro rather than functions: a question is one expression of the part, whatever its answer.
macro_rules! questions {
    ($($name:literal |$part:ident| $answer:expr;)+) => {
        vec![$(($name, |$part| format!("{:?}", $answer))),+]
    };
}

/// Asks a discipline.
pub(crate) fn ask_discipline(discipline: &mut dyn Discipline, notes: &Notes) -> Vec<Told> {
    const NOW: Time = Time::from_ms(2);
    ask(
        discipline,
        notes,
        questions! {
            "enqueue" |d| d.enqueue(NOW, packet(0), &header(1), &mut Fates::new());
            "enqueue" |d| d.enqueue(NOW, packet(1), &header(2), &mut Fates::new());
            "enqueue" |d| d.enqueue(NOW, packet(2), &header(3), &mut Fates::new());
            "held" |d| d.held();
            "dequeue" |d| d.dequeue(NOW, &mut Fates::new());
            "preempts" |d| d.preempts();
            "put_back" |d| d.put_back(NOW, 8);
            "remove" |d| d.remove(NOW, Handle::from_bits(2));
            "waiting" |d| {
                let mut shown = String::new();
                d.waiting(&mut |waiting| shown += &format!("{waiting:?}"));
                shown
            };
            "dequeue" |d| d.dequeue(NOW, &mut Fates::new());
            "decision" |d| d.decision();
            "next_update" |d| d.next_update();
            "update" |d| d.update(NOW);
            "change" |d| d.change(NOW, &Change::Rate(Rate::MAX));
            "may_pass" |d| d.may_pass(NOW);
            "readings" |d| all(|visit| d.readings(NOW, visit));
        },
    )
}

/// Asks a scheduler.
pub(crate) fn ask_scheduler(scheduler: &mut dyn Scheduler, notes: &Notes) -> Vec<Told> {
    const NOW: Time = Time::from_ms(3);
    const FLOW: Flow = Flow::of_slot(7);
    ask(
        scheduler,
        notes,
        questions! {
            "traits" |s| s.traits();
            "bucket" |s| s.bucket(NOW, 6, &empty());
            "classes" |s| s.classes();
            "queue_of" |s| s.queue_of(FLOW, &packet(1), &empty());
            "heads" |s| s.heads(4);
            "asks_empty" |s| s.asks_empty();
            "arrive" |s| s.arrive(NOW, 4, FLOW, &packet(2));
            "backlogged" |s| s.backlogged(4, 8);
            "continued" |s| s.continued(4, 9);
            "refused" |s| s.refused(NOW, 4, FLOW, &packet(3));
            "next" |s| s.next(NOW, &empty());
            "sent" |s| s.sent(NOW, 4, &packet(2), 10, Some(11));
            "removed" |s| {
                let (flow, packet) = (FLOW, &packet(2));
                s.removed(NOW, Gone { queue: 4, flow, packet, tag: 12, head: None, was_head: true, was_tail: true })
            };
            "idle" |s| s.idle(NOW);
            "is_settled_at" |s| s.is_settled_at(NOW);
            "is_clear" |s| s.is_clear(NOW, 7);
            "change" |s| s.change(NOW, &Change::Rate(Rate::MAX));
            "preempts" |s| s.preempts(13);
            "stamps" |s| s.stamps(4, 15, true);
            "decision" |s| s.decision(NOW, 4);
            "readings" |s| all(|visit| s.readings(NOW, visit));
        },
    )
}

/// Asks a buffer policy.
pub(crate) fn ask_policy(policy: &mut dyn BufferPolicy, notes: &Notes) -> Vec<Told> {
    const NOW: Time = Time::from_ms(4);
    fn held(packet: &Packet) -> HeldPacket<'_> {
        HeldPacket { queue: 4, flow: 7, handle: Handle::from_bits(8), packet }
    }
    ask(
        policy,
        notes,
        questions! {
            "traits" |b| b.traits();
            "admit" |b| b.admit(NOW, &empty(), 4, Flow::of_slot(7), &mut packet(1));
            "joined" |b| b.joined(NOW, &empty(), held(&packet(2)));
            "victim" |b| b.victim(NOW, &empty(), 4);
            "depart" |b| b.depart(NOW, &empty(), 4);
            "step" |b| b.step(4);
            "left" |b| b.left(NOW, &empty(), held(&packet(3)), true);
            "idle" |b| b.idle(NOW);
            "next_update" |b| b.next_update();
            "update" |b| b.update(NOW, &empty());
            "change" |b| b.change(NOW, &Change::Rate(Rate::MAX));
            "is_clear" |b| b.is_clear(NOW, 7);
            "readings" |b| all(|visit| b.readings(NOW, visit));
        },
    )
}

/// Asks a marker.
pub(crate) fn ask_marker(marker: &mut dyn Marker, notes: &Notes) -> Vec<Told> {
    const NOW: Time = Time::from_ms(5);
    ask(
        marker,
        notes,
        questions! {
            "traits" |m| m.traits();
            "arrive" |m| m.arrive(NOW, &empty(), 7, &packet(1));
            "before_change" |m| m.before_change(NOW, &empty());
            "depart" |m| m.depart(NOW, &packet(2));
            "change" |m| m.change(NOW, &Change::Rate(Rate::MAX));
            "is_clear" |m| m.is_clear(7);
            "readings" |m| all(|visit| m.readings(NOW, visit));
        },
    )
}

fn empty() -> Store {
    Store::new(Limit::Unlimited)
}
