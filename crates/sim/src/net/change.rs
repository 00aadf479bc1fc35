//! A line changes while packets are under way. Its hop has no shortcut (`Site::changes`): each end
//! of a transmission is an event, and every packet is shown to the discipline.

use super::gateway::{LineService, Notes};
use super::network::Network;
use crate::changes::{Intervention, What};
use crate::engine::events::EventSet;
use crate::segment::Direction;
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::Discipline;
use fairq_sched::packet::{Header, Packet};
use fairq_sched::port::Port;
use fairq_sched::units::{Rate, Time};

/// What makes a discipline that is put in the place of another: here it is built.
pub type Built = Box<dyn Discipline>;

/// A port with what it notes during one call.
type Call<'a, 'b> = (&'a mut Port<Built, LineService>, &'a mut Notes<'b>);

impl Network {
    /// Changes a line from `now` on, before all else that happens at this instant.
    ///
    /// # Errors
    /// If the line or its discipline cannot; nothing has changed then.
    pub fn change(&mut self, now: Time, change: Intervention<Built>, events: &mut EventSet) -> Result<(), Unsupported> {
        let line = change.line;
        match change.what {
            What::Delay(delay) => self.lines[line as usize].delay = delay,
            What::Impairment(what) => match &mut self.lines[line as usize].impaired {
                Some(impaired) => impaired.change(what),
                None => return Err(Unsupported("its impairments are none from the start")),
            },
            What::Rate(Some(rate)) => {
                self.at_port(now, line, events, |(port, notes)| port.change(now, &Change::Rate(rate), notes))?;
                self.has_rate(now, line, Some(rate));
            }
            What::Rate(None) => {
                self.at_port(now, line, events, |(port, notes)| {
                    port.stall(now, notes);
                    Ok(())
                })?;
                self.has_rate(now, line, None);
            }
            What::Up(up) => self.at_port(now, line, events, |(port, notes)| {
                port.up(now, up, notes);
                Ok(())
            })?,
            What::Limit(limit) => {
                self.at_port(now, line, events, |(port, notes)| port.change(now, &Change::Limit(limit), notes))?;
            }
            What::Weight(flow, weight) => {
                let header = self.paths.header_of(flow, Direction::Forward);
                let change = Change::Weight(header, weight);
                self.at_port(now, line, events, |(port, notes)| port.change(now, &change, notes))?;
            }
            What::Queue(queue) => self.exchange(now, line, queue, events)?,
            What::Drop(id) => self.drop_by_hand(now, line, id, events)?,
            What::Mark(id, marks) => self.mark_by_hand(now, line, id, marks)?,
            What::Hold(id, _) => self.withhold(now, line, id, events)?,
            What::Release(id) => self.give_back(now, line, id, events),
            What::Offer { .. } => unreachable!("what comes to a host is its owner's (`run/changes.rs`)"),
        }
        Ok(())
    }

    /// Calls the port of `line` and takes over what that has changed.
    fn at_port<R>(
        &mut self,
        now: Time,
        line: u32,
        events: &mut EventSet,
        call: impl FnOnce(Call<'_, '_>) -> Result<R, Unsupported>,
    ) -> Result<R, Unsupported> {
        let at = &mut self.lines[line as usize];
        at.count_waiting(now);
        let Some(gateway) = &at.gateway else { return Err(Unsupported("its rate is unlimited: nothing waits there")) };
        let served = gateway.serving();
        let mut has_ended = false;
        let (answer, begun) = self.call(line, |port, notes| {
            let answer = call((port, notes));
            has_ended = notes.ended;
            answer
        });
        if has_ended {
            self.sent(now, line, served, events);
        }
        self.go_on(now, line, begun, events);
        let at = &mut self.lines[line as usize];
        if let Some(gateway) = &at.gateway {
            at.end = gateway.port.next_end().unwrap_or(Time::NEVER);
        }
        self.plan(line, events);
        answer
    }

    /// Puts `queue` in the place of the discipline of `line`.
    fn exchange(&mut self, now: Time, line: u32, mut queue: Built, events: &mut EventSet) -> Result<(), Unsupported> {
        if self.pools.has(line) {
            return Err(Unsupported("its queue shares a pool"));
        }
        // It was built for the rate of the start.
        if let Some(gateway) = self.lines[line as usize].gateway.as_ref().filter(|gateway| gateway.has_changed_rate()) {
            queue.change(now, &Change::Rate(gateway.rate()))?;
        }
        let old = self.at_port(now, line, events, |(port, notes)| Ok(port.exchange(now, queue, notes)))?;
        for (packet, header) in self.waiting(&*old) {
            self.at_port(now, line, events, |(port, notes)| {
                port.arrive(now, packet, &header, notes);
                Ok(())
            })?;
        }
        self.lines[line as usize].note_most();
        Ok(())
    }

    /// The packets that wait in `old`, in the order of their arrival.
    fn waiting(&self, old: &dyn Discipline) -> Vec<(Packet, Header)> {
        let mut packets = Vec::new();
        old.waiting(&mut |waiting| packets.push(*waiting.packet));
        packets.sort_by_key(|packet| packet.arrival);
        let header = |packet: &Packet| {
            let segment = &self.arena[packet.token as u32];
            let mut header = self.paths.header(segment);
            header.tos = segment.tos(header.tos);
            header
        };
        packets.into_iter().map(|packet| (packet, header(&packet))).collect()
    }

    /// Notes that `line` has the rate `rate` from `now` on; `None` is a rate of 0.
    fn has_rate(&mut self, now: Time, line: u32, rate: Option<Rate>) {
        if let Some(gateway) = &mut self.lines[line as usize].gateway {
            gateway.has_rate(now, rate);
        }
    }
}
