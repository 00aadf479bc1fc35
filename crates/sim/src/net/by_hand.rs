//! What is done to single packets by hand, in a run that is held (`live.rs`): its lines have events
//! for all that happens on them, and their disciplines can name every packet that waits.

use super::network::Network;
use crate::engine::events::EventSet;
use crate::observe::{Event, PacketId};
use crate::segment::{Arena, Direction, Marking, Segment};
use fairq_sched::change::Unsupported;
use fairq_sched::contract::Handle;
use fairq_sched::packet::{Fate, Marks, Outcome, Packet, Reason};
use fairq_sched::units::Time;
use fairq_sched::waiting::Decision;

/// Why a packet cannot be had.
const NOT_WAITING: Unsupported = Unsupported("no packet of this number waits there; only one that waits can be had");

/// What a run that is held keeps of packets.
#[derive(Debug, Default)]
pub(super) struct ByHand {
    /// Whether the run is held.
    pub is_held: bool,
    /// By packet, how its discipline names it, or last did.
    handles: Vec<Option<Handle>>,
    /// Marks that packets get when they are sent. A discipline has a copy of the packet, so that
    /// they can't be put on it while it waits.
    marks: Vec<(PacketId, Marks)>,
    /// Packets that are withheld: they are on no line.
    pub withheld: u64,
    /// Why the packet was chosen whose transmission begins.
    pub decision: Option<Decision>,
}

impl ByHand {
    /// The packet `id` waits under the name `handle`.
    pub(super) fn joined(&mut self, id: PacketId, handle: Handle) {
        if self.is_held {
            let needed = id as usize + 1;
            self.handles.resize(self.handles.len().max(needed), None);
            self.handles[id as usize] = Some(handle);
        }
    }

    fn handle(&self, id: PacketId) -> Result<Handle, Unsupported> {
        self.handles.get(id as usize).copied().flatten().ok_or(NOT_WAITING)
    }

    /// The packet `id` is no more: a later one of that name has none of its marks.
    pub(super) fn forget(&mut self, id: PacketId) {
        self.marks.retain(|(of, _)| *of != id);
    }

    /// Puts the marks on the packet `id` that it was given by hand, now that it is sent.
    pub(super) fn mark(&mut self, id: PacketId, arena: &mut Arena) {
        if let Some(at) = self.marks.iter().position(|(of, _)| *of == id) {
            let (_, marks) = self.marks.swap_remove(at);
            let segment = &mut arena[id];
            segment.marking = Marking::new(segment.marking.accepts(), segment.marking.marks().with(marks));
        }
    }
}

impl Network {
    /// The run is held: packets can be taken by hand.
    pub fn hold(&mut self) {
        self.by_hand.is_held = true;
    }

    /// Tells the observer that the transmission of the packet `id` begins.
    #[cold]
    pub(super) fn tell_beginning(&mut self, now: Time, line: u32, id: PacketId, end: Time) {
        let decision = self.by_hand.decision.take();
        if let Some(observer) = &mut self.observer {
            let (segment, decision) = (&self.arena[id], decision.as_ref());
            observer.event(now, &Event::Began { line, id, segment, end, decision });
        }
    }

    /// The line before which the packet `id` waits or on which it is; `None` before its first one.
    #[must_use]
    pub fn line_of(&self, id: PacketId) -> Option<u32> {
        let segment = self.arena.get(id)?;
        let first = self.paths.first(segment.flow, segment.direction);
        let place = segment.place.checked_sub(1).filter(|place| *place >= first)?;
        Some(self.paths.line(place))
    }

    /// A data packet of `flow` with `bytes` comes to the gateway of `line`, beside what its
    /// transport sends, which never hears of it.
    ///
    /// # Errors
    /// If the line is not on the flow's path.
    pub fn offer(
        &mut self,
        now: Time,
        line: u32,
        (flow, bytes): (u32, u32),
        events: &mut EventSet,
    ) -> Result<Option<u32>, Unsupported> {
        let at = self.paths.data_lines(flow).position(|of_path| of_path == line);
        let Some(at) = at else { return Err(Unsupported("the flow's data packets do not pass it")) };
        let place = self.paths.first(flow, Direction::Forward) + at as u32;
        let next = self.paths.next(place, flow);
        let (sequence, direction) = (Segment::OFFERED, Direction::Forward);
        let segment =
            Segment { flow, place, next, direction, length: bytes, sequence, sent: now, ..Segment::default() };
        let id = self.arena.keep(segment);
        Ok(self.forward(now, id, events))
    }

    /// The packet `id`, which waits before `line`, is dropped.
    ///
    /// # Errors
    /// If it does not wait there.
    pub fn drop_by_hand(
        &mut self,
        now: Time,
        line: u32,
        id: PacketId,
        events: &mut EventSet,
    ) -> Result<(), Unsupported> {
        let packet = self.take_out(now, line, id, events)?;
        self.fates.push(Fate { packet, outcome: Outcome::Dropped(Reason::Removed) });
        self.settle_fates(now, line);
        Ok(())
    }

    /// The packet `id`, which waits before `line`, gets `marks` when it is sent.
    ///
    /// # Errors
    /// If it does not wait there, or does not accept the marks.
    pub fn mark_by_hand(&mut self, now: Time, line: u32, id: PacketId, marks: Marks) -> Result<(), Unsupported> {
        if !self.waits(line, id) {
            return Err(NOT_WAITING);
        }
        let segment = &self.arena[id];
        if marks.within(segment.marking.accepts()) != marks {
            return Err(Unsupported("its sender does not accept that mark; let the flow's transport use ECN"));
        }
        self.by_hand.marks.push((id, marks));
        self.lines[line as usize].counts.marked += 1;
        if segment.direction == Direction::Forward {
            self.marked.count(segment.flow);
        }
        if let Some(observer) = &mut self.observer {
            observer.event(now, &Event::Marked { line, id, segment, marks });
        }
        Ok(())
    }

    /// The packet `id`, which waits before `line`, is on no line until [`Network::give_back`].
    ///
    /// # Errors
    /// If it does not wait there.
    pub fn withhold(&mut self, now: Time, line: u32, id: PacketId, events: &mut EventSet) -> Result<(), Unsupported> {
        self.take_out(now, line, id, events)?;
        self.pools.left(id);
        self.by_hand.withheld += 1;
        Ok(())
    }

    /// The packet `id` that was withheld comes to the gateway of `line` again.
    pub fn give_back(&mut self, now: Time, line: u32, id: PacketId, events: &mut EventSet) {
        self.by_hand.withheld -= 1;
        self.lines[line as usize].count_waiting(now);
        self.enqueue(now, line, id, events);
        self.plan(line, events);
    }

    /// Whether the packet `id` waits before `line`.
    fn waits(&self, line: u32, id: PacketId) -> bool {
        let mut waits = false;
        if let Some(gateway) = &self.lines[line as usize].gateway {
            gateway.port.discipline().waiting(&mut |waiting| waits |= waiting.packet.token as u32 == id);
        }
        waits
    }

    fn take_out(&mut self, now: Time, line: u32, id: PacketId, events: &mut EventSet) -> Result<Packet, Unsupported> {
        if !self.waits(line, id) {
            return Err(NOT_WAITING);
        }
        let handle = self.by_hand.handle(id)?;
        self.lines[line as usize].count_waiting(now);
        let (packet, begun) = self.call(line, |port, notes| port.remove(now, handle, notes));
        self.go_on(now, line, begun, events);
        self.plan(line, events);
        packet.ok_or(NOT_WAITING)
    }
}
