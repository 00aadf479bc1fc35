//! A whole discipline of a user's class: it holds the packets, and the count of them stands here.

use super::object::{Method, Object, given};
use super::policy::{reason, reasons};
use super::scheduler::{paused, what_waits};
use super::shown::{Header, NotBefore, Packet, address};
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{Dequeue, Discipline as Queueing, Handle, Held};
use fairq_sched::packet::{Fate, Fates, Header as SchedHeader, Outcome, Packet as SchedPacket, Reason};
use fairq_sched::reading::Reading;
use fairq_sched::traits::Traits;
use fairq_sched::units::{Limit, Time};
use fairq_sched::waiting::{Stamps, Waiting};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Discipline {
    part: Object,
    enqueue: Method,
    dequeue: Method,
    idle: Option<Method>,
    /// What the part drops, as packets with reasons; emptied after each call.
    dropped: Py<PyList>,
    /// The packets that the part holds, by their numbers in order of arrival.
    packets: BTreeMap<u64, SchedPacket>,
    /// Those that their owner has taken out and that the part still gives: they are passed over.
    removed: BTreeSet<u64>,
    held: Held,
    limit: Limit,
    /// The number of the packet that comes next.
    next: u64,
    waits: u32,
}

impl Discipline {
    pub(super) fn new(py: Python<'_>, part: Object, limit: Limit) -> Self {
        let (enqueue, dequeue, idle) = (part.method(py, "enqueue"), part.method(py, "dequeue"), part.own(py, "idle"));
        let dropped = part.get(py, pyo3::intern!(py, "_dropped")).cast_into::<PyList>();
        let Ok(dropped) = dropped else { part.refuse("_dropped is the list of what is dropped; leave it alone") };
        Self {
            part,
            enqueue,
            dequeue,
            idle,
            dropped: dropped.unbind(),
            packets: BTreeMap::new(),
            removed: BTreeSet::new(),
            held: Held::default(),
            limit,
            next: 0,
            waits: 0,
        }
    }

    fn take(&mut self, number: u64) -> Option<SchedPacket> {
        let packet = self.packets.remove(&number)?;
        self.held.packets -= 1;
        self.held.bytes -= u64::from(packet.length);
        Some(packet)
    }

    /// Reports what the part has dropped in the last call of `method`.
    fn settle(&mut self, py: Python<'_>, method: &str, now: Time, fates: &mut Fates) {
        let dropped = self.dropped.clone_ref(py).into_bound(py);
        if dropped.is_empty() {
            return;
        }
        for each in &dropped {
            let pair = each.extract::<(Bound<'_, PyAny>, String)>().ok();
            let packet = pair.as_ref().and_then(|(packet, _)| packet.cast::<Packet>().ok());
            let (Some(packet), Some((_, why))) = (packet, &pair) else {
                self.part.refuse_answer("drop", &each, "a packet, and why it is dropped")
            };
            let Some(why) = reason(why) else {
                self.part.refuse(format_args!("drop: {why:?} is no reason here; write one of {}", reasons()))
            };
            self.lose(packet.get().number, method, now, Outcome::Dropped(why), fates);
        }
        if let Err(error) = dropped.del_slice(0, dropped.len()) {
            super::object::raise(error);
        }
    }

    fn lose(&mut self, number: u64, method: &str, now: Time, outcome: Outcome, fates: &mut Fates) {
        match self.take(number) {
            Some(packet) => fates.push(Fate { packet, outcome }),
            None if self.removed.remove(&number) => {}
            None => self.refuse_gone(method, number, now, "drops"),
        }
    }

    fn refuse_gone(&self, method: &str, number: u64, now: Time, does: &str) -> ! {
        self.part.refuse(format_args!(
            "conservation: {method} {does} packet {number} at {} s, which does not wait; each packet is sent or \
             dropped once",
            now.as_s()
        ))
    }

    fn has_room_for(&self, length: u32) -> bool {
        !self.limit.is_exceeded_by(self.held.packets + 1, self.held.bytes + u64::from(length))
    }
}

impl Queueing for Discipline {
    fn traits(&self) -> Traits {
        Traits { hears_idle: self.idle.is_some(), ..Traits::PLAIN }
    }

    fn enqueue(&mut self, now: Time, packet: SchedPacket, header: &SchedHeader, fates: &mut Fates) -> Option<Handle> {
        if !self.has_room_for(packet.length) {
            fates.push(Fate { packet, outcome: Outcome::Dropped(Reason::BufferFull) });
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.packets.insert(number, packet);
        self.held.packets += 1;
        self.held.bytes += u64::from(packet.length);
        Python::attach(|py| {
            let arguments = (now.as_s(), Packet { packet, number }, Header::of(header));
            let about = || given(now, &packet, address(header.source));
            let joins = self.part.call(py, &self.enqueue, arguments, about);
            self.settle(py, "enqueue", now, fates);
            let Ok(joins) = joins.extract::<bool>() else {
                self.part.refuse_answer("enqueue", &joins, "True if the packet is held, or False")
            };
            if !joins && self.packets.contains_key(&number) {
                self.lose(number, "enqueue", now, Outcome::Dropped(Reason::Early), fates);
            }
        });
        self.packets.contains_key(&number).then(|| Handle::from_bits(number))
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        Python::attach(|py| {
            let given = loop {
                let given = self.part.call(py, &self.dequeue, (now.as_s(),), || format!(" at {} s", now.as_s()));
                self.settle(py, "dequeue", now, fates);
                let Ok(packet) = given.cast::<Packet>() else { break given };
                self.waits = 0;
                let number = packet.get().number;
                match self.take(number) {
                    Some(packet) => return Dequeue::Send(packet),
                    None if self.removed.remove(&number) => {}
                    None => self.refuse_gone("dequeue", number, now, "gave"),
                }
            };
            if self.held.packets == 0 && !self.removed.is_empty() {
                return Dequeue::Empty;
            }
            if let Ok(pause) = given.cast::<NotBefore>() {
                let (all, waits) = (self.held.packets, &mut self.waits);
                return Dequeue::NotBefore(paused(&self.part, "dequeue", now, pause.get(), all, waits));
            }
            if !given.is_none() {
                self.part.refuse_answer("dequeue", &given, "a packet that it holds, fairq.NotBefore(time) or None");
            }
            if self.held.packets > 0 {
                self.part.refuse(format_args!(
                    "work conservation: dequeue gave None at {} s though {}; return one, or fairq.NotBefore(time)",
                    now.as_s(),
                    what_waits(self.held.packets)
                ));
            }
            if let Some(idle) = &self.idle {
                self.part.call(py, idle, (now.as_s(),), || "");
            }
            Dequeue::Empty
        })
    }

    fn held(&self) -> Held {
        self.held
    }

    fn remove(&mut self, _now: Time, handle: Handle) -> Option<SchedPacket> {
        let packet = self.take(handle.to_bits())?;
        self.removed.insert(handle.to_bits());
        Some(packet)
    }

    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        if let Change::Limit(limit) = *change {
            self.limit = limit;
        }
        change.not_used()
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        self.part.show_readings(visit);
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        for packet in self.packets.values() {
            visit(Waiting { packet, queue: 0, stamps: Stamps::NONE });
        }
    }
}
