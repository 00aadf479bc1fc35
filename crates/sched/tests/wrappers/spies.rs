//! Spies: parts and a discipline that note what they are asked and answer as no default does.

use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{
    BufferPolicy, Classifier, Dequeue, Discipline, Flow, Gone, Handle, Heads, Held, HeldPacket, Marker, Next, Policer,
    Scheduler, Slot, Tag, Verdict, Victim,
};
use fairq_sched::hash::Hash;
use fairq_sched::packet::{Address, Fates, Header, Marks, Packet, Reason};
use fairq_sched::reading::{Reading, Unit};
use fairq_sched::store::Store;
use fairq_sched::traits::Traits;
use fairq_sched::units::Time;
use fairq_sched::waiting::{Decision, Stamps, Waiting};
use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

/// The calls that spies were given, in their order: the method, and what it was told.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<(&'static str, String)>>>);

impl Notes {
    fn note(&self, method: &'static str, told: impl Debug) {
        self.0.lock().unwrap().push((method, format!("{told:?}")));
    }

    /// The calls since this was asked last.
    pub(crate) fn take(&self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// Their methods, between spaces.
    pub(crate) fn methods(&self) -> String {
        let methods: Vec<&str> = self.take().iter().map(|(method, _)| *method).collect();
        methods.join(" ")
    }
}

/// The header of the flow of a number.
pub(crate) fn header(flow: u32) -> Header {
    let [source, destination] = [flow, 9].map(Address::Node);
    Header { source, destination, protocol: 0, source_port: 0, destination_port: 0, tos: 0 }
}

/// A FIFO that notes every call but `held`, which wrappers ask for checks of their own.
#[derive(Default)]
pub(crate) struct SpyDiscipline {
    pub(crate) notes: Notes,
    waiting: VecDeque<(Handle, Packet)>,
    sending: Option<Packet>,
    given: u64,
}

impl SpyDiscipline {
    pub(crate) fn new(notes: &Notes) -> Self {
        Self { notes: notes.clone(), ..Self::default() }
    }
}

impl Discipline for SpyDiscipline {
    fn traits(&self) -> Traits {
        Traits { hears_idle: true, bypass: 99, replays: true, late_timer: true, preempts: true, ..Traits::PLAIN }
    }
    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, _: &mut Fates) -> Option<Handle> {
        self.notes.note("enqueue", (now, packet.token, header.source));
        self.given += 1;
        self.waiting.push_back((Handle::from_bits(self.given), packet));
        Some(Handle::from_bits(self.given))
    }
    fn dequeue(&mut self, now: Time, _: &mut Fates) -> Dequeue {
        self.notes.note("dequeue", now);
        self.sending = self.waiting.pop_front().map(|(_, packet)| packet);
        self.sending.map_or(Dequeue::Empty, Dequeue::Send)
    }
    fn held(&self) -> Held {
        let bytes = self.waiting.iter().map(|(_, packet)| u64::from(packet.length)).sum();
        Held { packets: self.waiting.len() as u64, bytes }
    }
    fn next_update(&self) -> Option<Time> {
        self.notes.note("next_update", ());
        Some(Time::from_ms(70))
    }
    fn update(&mut self, now: Time) {
        self.notes.note("update", now);
    }
    fn remove(&mut self, now: Time, handle: Handle) -> Option<Packet> {
        self.notes.note("remove", (now, handle));
        let at = self.waiting.iter().position(|(held, _)| *held == handle)?;
        self.waiting.remove(at).map(|(_, packet)| packet)
    }
    fn change(&mut self, now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.notes.note("change", (now, change));
        Err(Unsupported("a spy changes nothing"))
    }
    fn may_pass(&self, time: Time) -> bool {
        self.notes.note("may_pass", time);
        false
    }
    fn preempts(&self) -> bool {
        self.notes.note("preempts", ());
        true
    }
    fn put_back(&mut self, now: Time, unsent_bits: u32) {
        self.notes.note("put_back", (now, unsent_bits));
        let packet = self.sending.take().expect("a packet is being sent");
        self.waiting.push_front((Handle::from_bits(0), Packet { unsent_bits, ..packet }));
    }
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.notes.note("readings", now);
        visit(Reading::real("seen", Unit::Seconds, 0.5));
    }
    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.notes.note("waiting", ());
        self.waiting.iter().for_each(|(_, packet)| visit(Waiting { packet, queue: 3, stamps: Stamps::rank(0.25) }));
    }
    fn decision(&self) -> Option<Decision> {
        self.notes.note("decision", ());
        Some(Decision::by("spy", 3))
    }
}

/// Lets every packet pass.
pub(crate) struct SpyPolicer(pub(crate) Notes);

impl Policer for SpyPolicer {
    fn conforms(&mut self, now: Time, packet: &Packet) -> bool {
        self.0.note("conforms", (now, packet.token));
        true
    }
    fn readings(&self, now: Time, _: &mut dyn FnMut(Reading<'_>)) {
        self.0.note("readings", now);
    }
}

/// A flow to each sender.
pub(crate) struct BySource;

impl Classifier for BySource {
    fn key(&self, header: &Header, _: Hash) -> u64 {
        let Address::Node(number) = header.source else { panic!("{header:?}") };
        u64::from(number)
    }
}

/// Names the first of eight queues in which packets wait.
pub(crate) struct SpyScheduler {
    pub(crate) notes: Notes,
    pub(crate) traits: Traits,
    pub(crate) bucket: Option<Slot>,
    /// What decides, as it says.
    pub(crate) by: &'static str,
}

impl SpyScheduler {
    /// One whose flows all wait in queue 5, and which is told all that a scheduler may be told.
    pub(crate) fn new(notes: &Notes) -> Self {
        let traits = Traits { queue_per_flow: false, hears_idle: true, replays: true, preempts: true, ..Traits::PLAIN };
        Self { notes: notes.clone(), traits, bucket: None, by: "spy" }
    }
}

impl Scheduler for SpyScheduler {
    fn traits(&self) -> Traits {
        self.traits
    }
    fn bucket(&mut self, now: Time, key: u64, store: &Store) -> Option<Slot> {
        self.notes.note("scheduler.bucket", (now, key, store.packets()));
        self.bucket
    }
    fn classes(&self) -> Vec<&str> {
        self.notes.note("scheduler.classes", ());
        vec!["tin", "gold"]
    }
    fn queue_of(&self, flow: Flow, packet: &Packet, store: &Store) -> Slot {
        self.notes.note("scheduler.queue_of", (flow, packet.token, store.packets()));
        5
    }
    fn heads(&self, queue: Slot) -> Heads {
        self.notes.note("scheduler.heads", queue);
        Heads::AtOnce
    }
    fn asks_empty(&self) -> Slot {
        self.notes.note("scheduler.asks_empty", ());
        3
    }
    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        self.notes.note("scheduler.arrive", (now, queue, flow, packet.token));
        1000 + Tag::from(packet.token)
    }
    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        self.notes.note("scheduler.backlogged", (queue, tag));
    }
    fn continued(&mut self, queue: Slot, tag: Tag) {
        self.notes.note("scheduler.continued", (queue, tag));
    }
    fn refused(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) {
        self.notes.note("scheduler.refused", (now, queue, flow, packet.token));
    }
    fn next(&mut self, now: Time, store: &Store) -> Next {
        self.notes.note("scheduler.next", now);
        (0..8).find(|queue| store.queue_packets(*queue) > 0).map_or(Next::Empty, Next::Queue)
    }
    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, tag: Tag, head: Option<Tag>) {
        self.notes.note("scheduler.sent", (now, queue, packet.token, tag, head));
    }
    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        self.notes.note("scheduler.removed", (now, gone.queue, gone.packet.token, gone.tag));
    }
    fn idle(&mut self, now: Time) {
        self.notes.note("scheduler.idle", now);
    }
    fn is_settled_at(&self, time: Time) -> bool {
        self.notes.note("scheduler.is_settled_at", time);
        false
    }
    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        self.notes.note("scheduler.is_clear", (now, flow));
        false
    }
    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        self.notes.note("scheduler.change", (now, change));
        Ok(())
    }
    fn preempts(&self, serving: Tag) -> bool {
        self.notes.note("scheduler.preempts", serving);
        true
    }
    fn stamps(&self, queue: Slot, tag: Tag, is_head: bool) -> Stamps {
        self.notes.note("scheduler.stamps", (queue, tag, is_head));
        Stamps::rank(tag as f64)
    }
    fn decision(&mut self, now: Time, queue: Slot) -> Option<Decision> {
        self.notes.note("scheduler.decision", (now, queue));
        Some(Decision::by(self.by, queue).in_step(3))
    }
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.notes.note("scheduler.readings", now);
        visit(Reading::real("scheduler", Unit::Seconds, 0.5));
    }
}

/// A buffer policy whose answers a test sets; those of the start are no default's.
#[derive(Clone)]
pub(crate) struct SpyPolicy {
    pub(crate) notes: Notes,
    pub(crate) admits: Verdict,
    /// Its answers to `victim`, the last first; then none.
    pub(crate) victims: Vec<Option<(Victim, Reason)>>,
    pub(crate) departs: Verdict,
    pub(crate) step: Option<u8>,
    pub(crate) next_update: Option<Time>,
    pub(crate) is_clear: bool,
}

impl SpyPolicy {
    pub(crate) fn new(notes: &Notes) -> Self {
        Self {
            notes: notes.clone(),
            admits: Verdict::Pass,
            victims: Vec::new(),
            departs: Verdict::Notify(Reason::Early),
            step: Some(9),
            next_update: Some(Time::from_ms(70)),
            is_clear: false,
        }
    }

    fn told(held: &HeldPacket<'_>) -> impl Debug {
        (held.queue, held.flow, held.handle, held.packet.token)
    }
}

impl BufferPolicy for SpyPolicy {
    fn traits(&self) -> Traits {
        Traits { hears_joins: true, hears_idle: true, judges_departures: true, draws_packets: true, ..Traits::PLAIN }
    }
    fn admit(&mut self, now: Time, store: &Store, queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        self.notes.note("buffer.admit", (now, store.packets(), queue, flow, packet.token));
        self.admits
    }
    fn joined(&mut self, now: Time, store: &Store, held: HeldPacket<'_>) {
        self.notes.note("buffer.joined", (now, store.packets(), Self::told(&held)));
    }
    fn victim(&mut self, now: Time, store: &Store, arriving: Slot) -> Option<(Victim, Reason)> {
        self.notes.note("buffer.victim", (now, store.packets(), arriving));
        self.victims.pop().flatten()
    }
    fn depart(&mut self, now: Time, store: &Store, queue: Slot) -> Verdict {
        self.notes.note("buffer.depart", (now, store.packets(), queue));
        self.departs
    }
    fn step(&self, queue: Slot) -> Option<u8> {
        self.notes.note("buffer.step", queue);
        self.step
    }
    fn left(&mut self, now: Time, store: &Store, held: HeldPacket<'_>, is_sent: bool) {
        self.notes.note("buffer.left", (now, store.packets(), Self::told(&held), is_sent));
    }
    fn idle(&mut self, now: Time) {
        self.notes.note("buffer.idle", now);
    }
    fn next_update(&self) -> Option<Time> {
        self.notes.note("buffer.next_update", ());
        self.next_update
    }
    fn update(&mut self, now: Time, store: &Store) {
        self.notes.note("buffer.update", (now, store.packets()));
    }
    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        self.notes.note("buffer.change", (now, change));
        Ok(())
    }
    fn is_clear(&mut self, now: Time, flow: Slot) -> bool {
        self.notes.note("buffer.is_clear", (now, flow));
        self.is_clear
    }
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.notes.note("buffer.readings", now);
        visit(Reading::real("buffer", Unit::Seconds, 0.5));
    }
}

/// Marks the packets that depart.
pub(crate) struct SpyMarker {
    pub(crate) notes: Notes,
    pub(crate) is_clear: bool,
}

impl SpyMarker {
    pub(crate) fn new(notes: &Notes) -> Self {
        Self { notes: notes.clone(), is_clear: false }
    }
}

impl Marker for SpyMarker {
    fn traits(&self) -> Traits {
        Traits { judges_departures: true, marks: true, ..Traits::PLAIN }
    }
    fn arrive(&mut self, now: Time, store: &Store, flow: Slot, packet: &Packet) -> Marks {
        self.notes.note("marker.arrive", (now, store.packets(), flow, packet.token));
        Marks::NONE
    }
    fn depart(&mut self, now: Time, packet: &Packet) -> Marks {
        self.notes.note("marker.depart", (now, packet.token));
        Marks::DEC
    }
    fn before_change(&mut self, now: Time, store: &Store) {
        self.notes.note("marker.before_change", (now, store.packets()));
    }
    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        self.notes.note("marker.change", (now, change));
        Ok(())
    }
    fn is_clear(&mut self, flow: Slot) -> bool {
        self.notes.note("marker.is_clear", flow);
        self.is_clear
    }
    fn readings(&self, now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.notes.note("marker.readings", now);
        visit(Reading::real("marker", Unit::Seconds, 0.5));
    }
}
