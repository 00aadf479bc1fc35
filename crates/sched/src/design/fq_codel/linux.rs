//! FQ-CoDel as Linux 6.1 has it (sch_fq_codel.c).

use super::{SENDS, Settings};
use crate::buffer::longest_queue_drop::LongestQueueDrop;
use crate::change::{Change, Unsupported};
use crate::contract::{
    BufferPolicy, Classifier, Dequeue, Discipline, End, Handle, Held, HeldPacket, Line, Marker, Slot, traits,
};
use crate::control::codel::{Control, Head, Parameters, Rules};
use crate::hash::{Hash, bucket_of};
use crate::mark::step::Step;
use crate::packet::{Fate, Fates, Header, Marks, Outcome, Packet, Reason};
use crate::queue::Queue;
use crate::reading::{Reading, Unit};
use crate::slots::entry;
use crate::store::Store;
use crate::truesize::truesize;
use crate::turns::{Emptied, Turns, View};
use crate::units::Time;
use crate::waiting::{Decision, Waiting};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Queues, their turns and their controls.
pub(super) struct FqCodel {
    classifier: Box<dyn Classifier>,
    hash: Hash,
    queues: u32,
    quantum: i64,
    /// Packets that an overflow takes at most.
    batch: u32,
    parameters: Parameters,
    ecn: bool,
    early: Step,
    store: Store,
    /// What may wait of the kernel's memory, and what does (`memory_usage`).
    memory: u64,
    used: u64,
    full: LongestQueueDrop,
    turns: Turns,
    controls: Vec<Control>,
    /// Packets marked or dropped by CoDel so far.
    signals: u64,
    explains: bool,
    /// Why the packet sent last was chosen.
    decision: Option<Decision>,
}

/// View of the queues for the turns.
struct Queues<'a> {
    store: &'a Store,
    controls: &'a mut [Control],
    quantum: i64,
}

impl View for Queues<'_> {
    fn waits(&self, queue: Slot) -> bool {
        self.store.queue_packets(queue) > 0
    }

    fn quantum(&self, _queue: Slot) -> i64 {
        self.quantum
    }

    fn found_empty(&mut self, queue: Slot) {
        self.controls[queue as usize].found_empty();
    }
}

impl FqCodel {
    pub(super) fn new(settings: &Settings, queue: &Queue, line: &Line) -> Self {
        let Settings { queues, quantum, memory, target, interval, mtu, ecn, drop_batch, .. } = *settings;
        let Settings { ce_threshold, ce_threshold_mask, ce_threshold_selector, .. } = *settings;
        let early = Step::beyond(ce_threshold, ce_threshold_mask, ce_threshold_selector, Rules::Linux.unit());
        Self {
            classifier: queue.classifier().boxed(line),
            hash: Hash::new(line.seed),
            queues,
            quantum: quantum.0 as i64,
            batch: drop_batch,
            parameters: Parameters { rules: Rules::Linux, target, interval, mtu: mtu.0 },
            ecn,
            early,
            store: Store::new(queue.capacity()),
            memory: memory.0,
            used: 0,
            full: LongestQueueDrop::of_fattest(memory).with_lowest_losing(true),
            turns: Turns::with(Emptied::PassesIfOthers),
            controls: Vec::new(),
            signals: 0,
            explains: line.explains,
            decision: None,
        }
    }

    fn queue_of(&self, header: &Header) -> Slot {
        let hash = self.hash.of_fields(&[self.classifier.key(header, self.hash)]);
        bucket_of(hash, self.queues.into()) as Slot
    }

    fn drop_head(&mut self, queue: Slot, reason: Reason, fates: &mut Fates) -> u64 {
        let Some(gone) = self.store.pop(queue, End::Front) else { return 0 };
        fates.push(Fate { packet: gone.packet, outcome: Outcome::Dropped(reason) });
        self.used -= truesize(gone.packet.length);
        u64::from(gone.packet.length)
    }

    /// Half of the fattest queue goes, from its head and at most a batch of packets
    /// (`fq_codel_drop`), once for each packet that finds no room, though memory may still lack.
    fn make_room(&mut self, arriving: Slot, fates: &mut Fates) {
        if !self.store.is_over_limit() && self.used <= self.memory {
            return;
        }
        let Some((queue, longest)) = self.full.fattest(&self.store, arriving) else { return };
        // Where memory lacks, the limit has room left.
        let reason = if self.store.is_over_limit() { longest } else { Reason::OverShare };
        let half = self.store.queue_bytes(queue) / 2;
        let (mut bytes, mut packets) = (0, 0);
        while packets == 0 || (packets < self.batch && bytes < half) {
            // One makes room, the others are signals.
            let reason = if packets == 0 { reason } else { Reason::Early };
            bytes += self.drop_head(queue, reason, fates);
            packets += 1;
        }
        self.controls[queue as usize].overflowed(u64::from(packets));
    }
}

impl Discipline for FqCodel {
    traits!(hears_idle = true);

    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        let needs = truesize(packet.length);
        let is_too_long = self.store.is_too_short_for(packet.length);
        if is_too_long || needs > self.memory {
            let reason = if is_too_long { Reason::TooLong } else { Reason::OverShare };
            fates.push(Fate { packet, outcome: Outcome::Dropped(reason) });
            return None;
        }
        let queue = self.queue_of(header);
        entry(&mut self.controls, queue, Control::default());
        let (handle, _) = self.store.push(&packet, 0, queue, queue);
        self.used += needs;
        self.turns.begin(queue, self.quantum);
        self.full.joined(now, &self.store, HeldPacket { queue, flow: queue, handle, packet: &packet });
        self.make_room(queue, fates);
        self.store.waiting(handle).is_some().then_some(handle)
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.store.end_serving();
        loop {
            let mut view = Queues { store: &self.store, controls: &mut self.controls, quantum: self.quantum };
            if self.store.packets() == 0 {
                self.turns.clear(&mut view);
                return Dequeue::Empty;
            }
            let Some(queue) = self.turns.next(&mut view) else { return Dequeue::Empty };
            let Some(packet) = self.store.head(queue).map(|(head, _)| *head) else { return Dequeue::Empty };
            let can_mark = packet.accepts.intersects(Marks::CE);
            let is_early = can_mark && self.early.depart(now, &packet) != Marks::NONE;
            let head = Head {
                arrival: packet.arrival,
                behind: self.store.bytes() - u64::from(packet.length),
                is_marked: self.ecn && can_mark,
            };
            let is_signal = self.controls[queue as usize].judge(now, head, &self.parameters);
            self.signals += u64::from(is_signal);
            if is_signal && !head.is_marked {
                self.drop_head(queue, Reason::Early, fates);
                if self.store.queue_packets(queue) == 0 {
                    self.controls[queue as usize].emptied();
                }
                continue;
            }
            if is_signal || is_early {
                let marked = self.store.mark_head(queue, Marks::CE).copied();
                fates.extend(marked.map(|packet| Fate { packet, outcome: Outcome::Marked(Marks::CE) }));
            }
            if self.explains {
                self.decision = Some(self.turns.decision(queue, 1, Some(SENDS)));
            }
            self.turns.charge(queue, i64::from(packet.length));
            self.store.serve(queue);
            self.used -= truesize(packet.length);
            return self.store.serving().map_or(Dequeue::Empty, |entry| Dequeue::Send(*entry.packet));
        }
    }

    fn held(&self) -> Held {
        self.store.held()
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        self.store.change(change)
    }

    fn remove(&mut self, _now: Time, handle: Handle) -> Option<Packet> {
        let gone = self.store.remove(handle)?;
        self.used -= truesize(gone.packet.length);
        Some(gone.packet)
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::count("codel_signals", Unit::None, self.signals));
        visit(Reading::count("backlogged_queues", Unit::None, self.store.backlogged_queues()));
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.store.show(visit);
    }

    fn decision(&self) -> Option<Decision> {
        self.decision
    }
}
