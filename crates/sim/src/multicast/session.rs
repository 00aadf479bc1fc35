//! A session in a run: its source, its tree, its receivers, and its pending events.

use super::plan::{ReceiverPlan, SessionPlan};
use super::registry::ControlSettings;
use super::source::Layer;
use super::tree::{Message, Tree};
use super::{Beginning, Control, Received};
use crate::engine::events::EventSet;
use crate::net::network::Network;
use crate::observe::Event;
use crate::segment::Segment;
use crate::transport::messages::Flags;
use fairq_link::random::Stream;
use fairq_sched::units::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Counts of a receiver since they were last cleared.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemberCounts {
    /// Packets of its layers that it received, and their bytes.
    pub packets: u64,
    /// See `packets`.
    pub bytes: u64,
    /// Packets of its layers that it missed.
    pub lost: u64,
    /// How often it changed the number of its layers.
    pub changes: u64,
    /// Layers times picoseconds, up to `counted`.
    pub area: u128,
    /// The time up to which `area` is counted.
    pub counted: Time,
}

/// A receiver.
pub struct Member {
    place: usize,
    settings: ControlSettings,
    leave_latency: Time,
    target: Option<usize>,
    start: Time,
    /// `None` before the receiver starts.
    control: Option<Box<dyn Control>>,
    stream: Option<Stream>,
    /// The number of layers that it takes, and the number that its router knows of.
    level: usize,
    known: usize,
    /// By layer, the number of the packet that it expects next.
    expected: Vec<Option<u64>>,
    /// The time of the entry of the agenda that wakes it.
    planned: Time,
    /// How long after its start it first took its target number of layers.
    reached: Option<Time>,
    counts: MemberCounts,
}

impl Member {
    fn new(plan: &ReceiverPlan, layers: usize, stream: Stream) -> Self {
        Self {
            place: plan.place,
            settings: plan.control.clone(),
            leave_latency: plan.leave_latency,
            target: plan.target.map(|target| target as usize),
            start: plan.start,
            control: None,
            stream: Some(stream),
            level: 0,
            known: 0,
            expected: vec![None; layers],
            planned: Time::NEVER,
            reached: None,
            counts: MemberCounts::default(),
        }
    }

    /// The counts of this receiver.
    #[must_use]
    pub const fn counts(&self) -> &MemberCounts {
        &self.counts
    }

    /// The number of layers that it takes.
    #[must_use]
    pub const fn level(&self) -> usize {
        self.level
    }

    /// How long after its start it first took its target number of layers.
    #[must_use]
    pub const fn reached(&self) -> Option<Time> {
        self.reached
    }

    fn count_to(&mut self, now: Time) {
        self.counts.area += self.level as u128 * u128::from((now - self.counts.counted).0);
        self.counts.counted = now;
    }

    /// A packet arrives. A packet of a layer that is being pruned is ignored.
    fn receive(&mut self, now: Time, segment: &Segment) {
        let layer = segment.cumulative as usize;
        let Some(control) = self.control.as_mut().filter(|_| layer < self.level) else { return };
        let expected = self.expected[layer].unwrap_or(segment.sequence);
        let missing = segment.sequence.saturating_sub(expected);
        self.expected[layer] = Some(expected.max(segment.sequence + 1));
        let counts = &mut self.counts;
        counts.packets += 1;
        counts.bytes += u64::from(segment.length);
        counts.lost += missing;
        if segment.sequence < expected {
            // The packet was counted as lost and arrives late.
            counts.lost = counts.lost.saturating_sub(1);
        }
        let (sequence, length, flags) = (segment.sequence, segment.length, Flags(segment.flags));
        control.receive(now, &Received { layer, sequence, length, flags, missing });
    }
}

/// A pending event of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A slot of a layer.
    Slot { layer: usize },
    /// A receiver starts.
    Start { member: usize },
    /// A receiver leaves for good.
    Stop { member: usize },
    /// A receiver's router stops sending the layers above `level` that the receiver has left.
    Leave { member: usize, level: usize },
    /// The node above a branch hears how many layers are requested.
    Asked { branch: usize, level: usize },
    /// A receiver hears that another joins a layer.
    Heard { member: usize, layer: usize },
    /// A receiver's deadline may have come.
    Wake { member: usize },
}

/// Where a session sends packets.
pub struct Outlet<'a> {
    /// The network.
    pub network: &'a mut Network,
    /// Its events.
    pub events: &'a mut EventSet,
    /// Packets that reached the end of their line in the instant of their sending.
    pub delivered: &'a mut VecDeque<u32>,
}

/// A session.
pub struct Session {
    /// The number of the first branch as a flow of the network.
    first: u32,
    /// The number of its first receiver among those of all sessions.
    first_member: u32,
    packet: u32,
    /// The source sends before this time.
    stop: Time,
    cumulative: Vec<u64>,
    layers: Vec<Layer>,
    tree: Tree,
    members: Vec<Member>,
    /// By place, the receivers at that node.
    at: Vec<Vec<usize>>,
    agenda: BinaryHeap<Reverse<(Time, u64, Happening)>>,
    counter: u64,
}

impl Session {
    /// The session of `plan`. Its branches are the paths of the network from number `first` on, its
    /// receivers those of all sessions from `first_member` on.
    #[must_use]
    pub fn new(plan: &SessionPlan, first: u32, first_member: u32, seed: u64) -> Self {
        let mut phases = Stream::new(seed, &format!("{}/phases", plan.name));
        let layer = |layer| Layer::new(&plan.source, &plan.rates, layer, plan.packet, plan.start, phases.uniform());
        let layers: Vec<Layer> = (0..plan.rates.len()).map(layer).collect();
        let stream = |receiver: &ReceiverPlan| Stream::new(seed, &format!("{}/{}", plan.name, receiver.name));
        let members: Vec<Member> =
            plan.receivers.iter().map(|receiver| Member::new(receiver, layers.len(), stream(receiver))).collect();
        let mut at = vec![Vec::new(); plan.shape.nodes.len()];
        for (number, member) in members.iter().enumerate() {
            at[member.place].push(number);
        }
        let sum = |sum: &mut u64, rate: &fairq_sched::units::Rate| {
            *sum += rate.bit_per_s();
            Some(*sum)
        };
        let mut this = Self {
            first,
            first_member,
            packet: plan.packet.0 as u32,
            stop: plan.stop.unwrap_or(Time::NEVER),
            cumulative: plan.rates.iter().scan(0, sum).collect(),
            layers,
            tree: Tree::new(plan.shape.clone()),
            members,
            at,
            agenda: BinaryHeap::new(),
            counter: 0,
        };
        for layer in 0..this.layers.len() {
            this.plan_slot(layer);
        }
        for member in 0..this.members.len() {
            this.plan(this.members[member].start, Happening::Start { member });
        }
        for (member, receiver) in plan.receivers.iter().enumerate() {
            receiver.stop.into_iter().for_each(|stop| this.plan(stop, Happening::Stop { member }));
        }
        this
    }

    /// Its receivers.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// When the next event is due.
    #[must_use]
    pub fn next_time(&self) -> Time {
        self.agenda.peek().map_or(Time::NEVER, |Reverse((time, _, _))| *time)
    }

    /// Brings the counts up to `now`.
    pub fn settle(&mut self, now: Time) {
        self.members.iter_mut().for_each(|member| member.count_to(now));
    }

    /// Restarts the counts.
    pub fn clear_counts(&mut self, now: Time) {
        for member in &mut self.members {
            member.counts = MemberCounts { counted: now, ..MemberCounts::default() };
        }
    }

    /// Runs what is due at `now`.
    pub fn run(&mut self, now: Time, outlet: &mut Outlet<'_>) {
        while let Some(Reverse((_, _, happening))) = self.agenda.peek().filter(|next| next.0.0 <= now).copied() {
            self.agenda.pop();
            self.happen(now, happening, outlet);
        }
    }

    /// A packet has reached the end of `branch`.
    pub fn arrived(&mut self, now: Time, branch: usize, segment: &Segment, outlet: &mut Outlet<'_>) {
        let place = self.tree.branch(branch).to;
        self.copy(now, place, segment, outlet);
        for at in 0..self.at[place].len() {
            let member = self.at[place][at];
            self.members[member].receive(now, segment);
            self.settle_member(now, member, outlet.network);
        }
    }

    fn plan(&mut self, time: Time, happening: Happening) {
        self.counter += 1;
        self.agenda.push(Reverse((time, self.counter, happening)));
    }

    fn happen(&mut self, now: Time, happening: Happening, outlet: &mut Outlet<'_>) {
        match happening {
            Happening::Slot { layer } => self.send(now, layer, outlet),
            Happening::Start { member } => self.start(now, member, outlet),
            Happening::Stop { member } => self.stop(now, member, outlet.network),
            Happening::Leave { member, level } => {
                let member_now = &self.members[member];
                let level = member_now.level.max(level);
                if level < member_now.known {
                    self.tell_router(now, member, level);
                }
            }
            Happening::Asked { branch, level } => {
                let message = self.tree.heard(branch, level);
                self.post(now, message);
            }
            Happening::Heard { member, layer } => {
                if let Some(control) = &mut self.members[member].control {
                    control.heard(now, layer);
                }
                self.settle_member(now, member, outlet.network);
            }
            Happening::Wake { member } => {
                self.members[member].planned = Time::NEVER;
                if let Some(control) = self.members[member].control.as_mut().filter(|c| c.deadline() <= now) {
                    control.wake(now);
                }
                self.settle_member(now, member, outlet.network);
            }
        }
    }

    /// The source sends the packets of `layer` that are due.
    fn send(&mut self, now: Time, layer: usize, outlet: &mut Outlet<'_>) {
        for packet in self.layers[layer].send().into_iter().flatten() {
            let segment = Segment {
                length: self.packet,
                sequence: packet.sequence,
                sent: now,
                flags: packet.flags.0,
                cumulative: layer as u64,
                ..Segment::default()
            };
            self.copy(now, 0, &segment, outlet);
        }
        self.plan_slot(layer);
    }

    /// Plans the next slot of `layer`, if the source still sends then.
    fn plan_slot(&mut self, layer: usize) {
        let next = self.layers[layer].next_time();
        if next < self.stop {
            self.plan(next, Happening::Slot { layer });
        }
    }

    /// The node at `place` sends a copy of `segment` over every branch that leads to a receiver of
    /// its layer.
    fn copy(&mut self, now: Time, place: usize, segment: &Segment, outlet: &mut Outlet<'_>) {
        for branch in self.tree.down(place) {
            if segment.cumulative < self.tree.sent(*branch) as u64 {
                let copy = Segment { flow: self.first + *branch as u32, ..*segment };
                if let Some(arrived) = outlet.network.send(now, copy, outlet.events) {
                    outlet.delivered.push_back(arrived);
                }
            }
        }
    }

    fn start(&mut self, now: Time, member: usize, outlet: &mut Outlet<'_>) {
        let cumulative = self.cumulative.clone();
        let this = &mut self.members[member];
        let Some(stream) = this.stream.take() else { return };
        this.control = Some(this.settings.build(Beginning { now, cumulative, stream }));
        self.settle_member(now, member, outlet.network);
        // Its first join does not count as a change.
        self.members[member].counts.changes = 0;
    }

    /// Acts on the decisions of a receiver.
    fn settle_member(&mut self, now: Time, member: usize, network: &mut Network) {
        let this = &mut self.members[member];
        let Some(control) = &mut this.control else { return };
        let (level, deadline, announced) = (control.level(), control.deadline(), control.announce());
        if deadline < this.planned {
            this.planned = deadline;
            self.plan(deadline.max(now), Happening::Wake { member });
        }
        if let Some(layer) = announced {
            self.announce(now, member, layer);
        }
        self.change(now, member, level, network);
    }

    /// A receiver leaves all layers. Like its first join, this does not count as a change.
    fn stop(&mut self, now: Time, member: usize, network: &mut Network) {
        self.members[member].control = None;
        let changes = self.members[member].counts.changes;
        self.change(now, member, 0, network);
        self.members[member].counts.changes = changes;
    }

    /// A receiver joins or leaves layers, if `level` differs from its present level.
    fn change(&mut self, now: Time, member: usize, level: usize, network: &mut Network) {
        if level == self.members[member].level {
            return;
        }
        if let Some(observer) = &mut network.observer {
            let receiver = self.first_member + member as u32;
            observer.event(now, &Event::Level { receiver, level: level as u32 });
        }
        let this = &mut self.members[member];
        this.count_to(now);
        this.counts.changes += 1;
        this.level = level;
        // No packet is expected of layers that were left.
        this.expected[level..].fill(None);
        if this.target == Some(level) && this.reached.is_none() {
            this.reached = Some(now - this.start);
        }
        if level > this.known || this.leave_latency == Time::ZERO {
            self.tell_router(now, member, level);
        } else {
            let time = now.saturating_add(this.leave_latency);
            self.plan(time, Happening::Leave { member, level });
        }
    }

    fn tell_router(&mut self, now: Time, member: usize, level: usize) {
        let this = &mut self.members[member];
        this.known = level;
        let message = self.tree.take(this.place, member, level);
        self.post(now, message);
    }

    fn post(&mut self, now: Time, message: Option<Message>) {
        if let Some(Message { branch, level, delay }) = message {
            self.plan(now.saturating_add(delay), Happening::Asked { branch, level });
        }
    }

    /// Every other receiver hears that `member` joins `layer`.
    fn announce(&mut self, now: Time, member: usize, layer: usize) {
        let from = self.members[member].place;
        for other in (0..self.members.len()).filter(|other| *other != member) {
            let delay = self.tree.delay_between(from, self.members[other].place);
            self.plan(now.saturating_add(delay), Happening::Heard { member: other, layer });
        }
    }
}
