//! Changes of a run, and a run that is taken event by event (`live.rs`).

use super::Simulation;
use crate::changes::{Intervention, What};
use crate::net::change::Built;
use fairq_sched::change::Unsupported;
use fairq_sched::units::Time;

/// What an event is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Happened {
    /// A packet arrives at the end of the line of this number.
    Arrival(u32),
    /// The traffic of the flow of this number goes on.
    Emission(u32),
    /// The host of the flow has processed an acknowledgement.
    Host(u32),
    /// A transmission of the line ends, or a time before which its discipline sends nothing.
    End(u32),
    /// A timer of the flow.
    Timer(u32),
    /// A periodic update of the discipline of the line.
    Update(u32),
    /// What is due in the session of this number.
    Session(u32),
    /// A change that the plan has.
    Change,
}

impl Simulation {
    /// Makes the changes up to `until`, each after all events before its instant.
    pub(super) fn run_changes(&mut self, until: Time) {
        while let Some(at) = self.changes.last().map(|(at, _)| *at).filter(|at| *at <= until) {
            if let Some(before) = at.0.checked_sub(1) {
                self.run_events(Time(before));
            }
            self.next_change();
        }
    }

    /// Makes the next change, before which all has happened.
    fn next_change(&mut self) {
        if let Some((at, change)) = self.changes.pop() {
            self.now = at;
            self.change(change).unwrap_or_else(|fault| unreachable!("the plan was checked: {fault}"));
        }
    }

    /// Makes a change now.
    fn change(&mut self, change: Intervention<Built>) -> Result<(), Unsupported> {
        match change.what {
            What::Offer { flow, bytes, count } => return self.offer(change.line, flow, bytes, count),
            What::Hold(id, until) if until > self.now => {
                let back = Intervention { line: change.line, what: What::Release(id) };
                self.network.change(self.now, change, &mut self.events)?;
                let at = self.changes.partition_point(|(at, _)| *at > until);
                self.changes.insert(at, (until, back));
                return Ok(());
            }
            What::Hold(..) => return Err(Unsupported("the time until which it is held is past; give a later one")),
            _ => self.network.change(self.now, change, &mut self.events)?,
        }
        // How long a packet takes alone may be another time.
        for connection in &mut self.connections {
            if let Some(counts) = &mut connection.counts {
                counts.alone_length = 0;
            }
        }
        Ok(())
    }

    /// Packets of `flow` come to the gateway of `line` beside those of its transport.
    fn offer(&mut self, line: u32, flow: u32, bytes: u32, count: u32) -> Result<(), Unsupported> {
        for _ in 0..count {
            let arrived = self.network.offer(self.now, line, (flow, bytes), &mut self.events)?;
            self.connections[flow as usize].counts.get_or_insert_default().sent += 1;
            self.delivered.extend(arrived);
        }
        self.handle_delivered();
        Ok(())
    }

    /// Flows whose weight changes are known to queues by their ports.
    pub(super) fn keep_ports(&mut self) {
        for (_, change) in &self.changes {
            if let What::Weight(flow, _) = change.what {
                self.connections[flow as usize].changes_port = false;
            }
        }
    }

    /// Makes the next change or runs the next event, if it is not after `end`. Returns whether
    /// there was one.
    pub fn step_or_change(&mut self, end: Time) -> bool {
        match self.changes.last() {
            Some((at, _)) if *at <= end => {
                let before = at.0.checked_sub(1).map(Time);
                if !before.is_some_and(|before| self.step(before)) {
                    self.next_change();
                }
                true
            }
            _ => self.step(end),
        }
    }

    /// When the next event or change is due; [`Time::NEVER`] if nothing is.
    #[must_use]
    pub fn next_time(&self) -> Time {
        let change = self.changes.last().map_or(Time::NEVER, |(at, _)| *at);
        self.events.next_time().min(change)
    }

    /// Makes the next change or runs the next event, if it is not after `end`, and says what it was
    /// of.
    pub fn step_and_say(&mut self, end: Time) -> Option<Happened> {
        if self.changes.last().is_some_and(|(at, _)| *at <= end && *at <= self.events.next_time()) {
            self.next_change();
            return Some(Happened::Change);
        }
        let (time, component) = self.events.pop(end)?;
        self.happen(time, component);
        Some(self.happened(component))
    }

    fn happened(&self, component: u32) -> Happened {
        let timers = self.components.updates - self.timers;
        match component {
            it if it < self.emissions => Happened::Arrival(it),
            it if it < self.hosts => Happened::Emission(it - self.emissions),
            it if it < self.components.ends => Happened::Host(it - self.hosts),
            it if it < self.timers => Happened::End(it - self.components.ends),
            it if it - self.timers < timers => Happened::Timer((it - self.timers) >> self.timers_shift),
            it if it < self.sessions_from => Happened::Update(self.network.updated_line(it - self.components.updates)),
            it => Happened::Session(it - self.sessions_from),
        }
    }

    /// Makes a change now, after all that has happened.
    ///
    /// # Errors
    /// If the line or its discipline cannot; nothing has changed then.
    pub fn change_now(&mut self, change: Intervention<Built>) -> Result<(), Unsupported> {
        if let What::Weight(flow, _) = change.what
            && self.connections[flow as usize].changes_port
            && self.connections[flow as usize].group.is_some()
        {
            return Err(Unsupported("its transfers have ports of their own; give it a weight in the scenario"));
        }
        self.change(change)
    }
}
