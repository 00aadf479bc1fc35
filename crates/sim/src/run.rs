//! One run: the network, the ends of every flow, and the loop that takes the next event.
//!
//! The components of the event set, in the order in which equal times go: arrivals by line,
//! emissions by flow, hosts that have processed an acknowledgement by flow (none if processing
//! takes no time), ends of transmission (or of a discipline's waiting) by line, timers by flow,
//! periodic updates by line, sessions. A periodic update therefore sees all that happens to flows
//! in its instant. Only lines whose discipline has a periodic update have a component for it, so
//! other components keep their numbers. A line of zero delay delivers in the instant in which its
//! transmission ends: that arrival precedes the ends of the same instant that are still to come.

mod begin;
pub mod changes;
mod heard;
pub mod part;
mod prefetch;
mod regions;
mod urgency;

use self::begin::{groups, paths_and_sessions, urgencies};
use self::heard::Heard;
use self::prefetch::Prefetcher;
use self::regions::Regions;
use self::urgency::{Stamp, Urgency};
use crate::changes::Intervention;
use crate::engine::events::EventSet;
use crate::multicast::session::{Outlet, Session};
use crate::net::change::Built;
use crate::net::network::{Components, Network};
use crate::observe::{Event, Observer};
use crate::partition::Partition;
use crate::plan::{Files, Plan};
use crate::processing::Processing;
use crate::segment::{Direction, Marking, Segment};
use crate::traffic::{Emission, Source};
use crate::transfers::Group;
use crate::transport::Sender;
use crate::transport::ecn::Accepts;
use crate::transport::held::HeldTimes;
use crate::transport::messages::{Acknowledgement, Arrival, Blocks, Flags};
use crate::transport::receiver::Receiver;
use crate::transport::reports::{Report, Reports};
use fairq_link::sketch::Coarse;
use fairq_sched::fast_path::{FastPath, take};
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// Counts of a flow since they were last cleared.
#[derive(Clone, Debug)]
pub struct FlowCounts {
    /// Data packets sent, each transmission counted.
    pub sent: u64,
    /// Packets of `sent` that were sent before.
    pub retransmitted: u64,
    /// Data packets that reached the sink.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets of `delivered` that arrived for the first time.
    pub unique: u64,
    /// Of these, packets that arrived by their deadline.
    pub in_time: u64,
    /// The number of round-trip samples that the source's estimator took.
    pub samples: u64,
    /// The sum of these samples in picoseconds.
    pub samples_sum: u128,
    /// For how long the source was held by something else than its congestion control.
    pub held: HeldTimes,
    /// The delay from the sending of each copy to its arrival, in picoseconds.
    pub delay: Coarse,
    /// The part of that delay that is neither propagation nor the copy's own transmission.
    pub queueing: Coarse,
    /// Propagation and transmission of a packet of `alone_length` bytes: most of a flow are equally
    /// long.
    alone: Time,
    alone_length: u32,
}

impl Default for FlowCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl FlowCounts {
    const fn new() -> Self {
        Self {
            sent: 0,
            retransmitted: 0,
            delivered: 0,
            delivered_bytes: 0,
            unique: 0,
            in_time: 0,
            samples: 0,
            samples_sum: 0,
            held: HeldTimes { receiver: Time::ZERO, buffer: Time::ZERO, application: Time::ZERO },
            delay: Coarse::new(),
            queueing: Coarse::new(),
            alone: Time::ZERO,
            alone_length: 0,
        }
    }
}

/// Counts of a flow that has sent nothing.
static NO_COUNTS: FlowCounts = FlowCounts::new();

/// Both ends of a flow.
struct Connection {
    /// What its traffic does next; `None` if it has finished.
    upcoming: Option<Box<Upcoming>>,
    sender: Box<dyn Sender>,
    receiver: Box<dyn Receiver>,
    accepts: Accepts,
    acknowledgement: u32,
    processing: Processing,
    /// The number of its group of transfers, if its traffic is transfers.
    group: Option<u32>,
    /// The sender's connections before this one; stays 0 if its port is to stay.
    incarnation: u8,
    /// The connection of the last packet that the receiver has seen.
    heard: u8,
    /// Whether each connection has a port of its own. Not if queues know the flow by its ports.
    changes_port: bool,
    /// `None` until the flow has sent.
    counts: Option<Box<FlowCounts>>,
}

/// What a source does next.
enum Upcoming {
    /// The source gives a packet to the sender.
    Packet { source: Box<dyn Source>, emission: Emission },
    /// The sender has all data from the start. At this time, after the arrivals of that instant,
    /// what it has not sent is taken from it.
    Stop(Time),
}

/// A run in progress.
pub struct Simulation {
    now: Time,
    events: EventSet,
    /// The network.
    pub network: Network,
    connections: Vec<Connection>,
    /// By flow: the urgency that its packets carry; empty if no flow's packets do.
    urgencies: Vec<Option<Urgency>>,
    /// The reports of acknowledgements under way, beyond their numbers.
    reports: Reports,
    groups: Vec<Group>,
    sessions: Vec<Session>,
    /// Branches of sessions have the path numbers after those of flows. By branch: its session, and
    /// its number there.
    branches: Vec<(usize, usize)>,
    /// The first component of the sessions.
    sessions_from: u32,
    components: Components,
    emissions: u32,
    /// The first component of the hosts.
    hosts: u32,
    timers: u32,
    /// The base-2 logarithm of the number of timers of a flow. In a network of several regions each
    /// end of a flow has its own timer.
    timers_shift: u32,
    /// What changes, the next change last.
    changes: Vec<(Time, Intervention<Built>)>,
    /// The regions; `None` if the run takes all events in one order.
    regions: Option<Regions>,
    /// Packets at the end of their path, to be handled in order of arrival.
    delivered: VecDeque<u32>,
    /// The events found ahead whose state is being prefetched.
    prefetcher: Prefetcher,
    /// By flow, what an observer has heard of it; empty without one.
    heard: Vec<Heard>,
}

impl Simulation {
    /// A run of `plan` with `seed`, at time zero.
    ///
    /// # Errors
    /// What is wrong with a file that a flow reads, and the flow's number.
    pub fn new(plan: &Plan, seed: u64, files: Files<'_>) -> Result<Self, (usize, String)> {
        Self::in_regions(plan, seed, files, None)
    }

    /// A run in the regions of `partition`, with the results of [`Self::new`]. The order of events
    /// keeps the state of a region in the caches (`regions`).
    pub fn in_regions(
        plan: &Plan,
        seed: u64,
        files: Files<'_>,
        partition: Option<&Partition>,
    ) -> Result<Self, (usize, String)> {
        let (lines, flows) = (plan.lines.len() as u32, plan.flows.len() as u32);
        let emissions = lines;
        let hosts = emissions + flows;
        let take_time = plan.flows.iter().any(|flow| flow.processing > Time::ZERO);
        let ends = hosts + if take_time { flows } else { 0 };
        let timers = ends + lines;
        let timers_shift = u32::from(partition.is_some());
        let components = Components { arrivals: 0, ends, updates: timers + (flows << timers_shift) };
        let (paths, sessions, branches) = paths_and_sessions(plan, seed);
        let network = Network::new(plan.lines(seed), plan.pools(), &paths, components);
        let sessions_from = components.updates + network.updates();
        let mut events = EventSet::new(sessions_from as usize + sessions.len());
        for (number, session) in sessions.iter().enumerate() {
            events.set(sessions_from + number as u32, session.next_time());
        }
        network.begin(&mut events);
        let mut connections = Vec::with_capacity(plan.flows.len());
        for (number, flow) in plan.flows.iter().enumerate() {
            let (connection, first) = Connection::new(flow, seed, files).map_err(|fault| (number, fault))?;
            events.set(emissions + number as u32, first);
            connections.push(connection);
        }
        let urgencies = urgencies(plan, seed);
        let groups = groups(plan, seed, &mut connections);
        for group in &groups {
            events.set(emissions + group.first, group.next_time());
        }
        let mut this = Self {
            now: Time::ZERO,
            events,
            network,
            connections,
            urgencies,
            reports: Reports::default(),
            groups,
            sessions,
            branches,
            sessions_from,
            components,
            emissions,
            hosts,
            timers,
            timers_shift,
            changes: plan.interventions(seed),
            regions: None,
            delivered: VecDeque::new(),
            prefetcher: Prefetcher::default(),
            heard: Vec::new(),
        };
        this.changes.reverse();
        this.keep_ports();
        this.shape_network(plan, partition);
        Ok(this)
    }

    /// Tells the network of what depends on flows and regions.
    fn shape_network(&mut self, plan: &Plan, partition: Option<&Partition>) {
        if !self.urgencies.is_empty() {
            self.network.urgent = plan.flows.len() as u32;
        }
        self.network.prefetches = Self::is_wide(plan.lines.len());
        if let Some(partition) = partition {
            self.divide(partition);
        }
    }

    /// Passes every event to `observer`. To be called before the run begins.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observe_on(&vec![true; self.network.lines.len()], observer);
    }

    /// Passes to `observer` every event of the lines that `is_watched` names, and of all lines and
    /// flows those of packets that are dropped, lost or delivered. Others come as it suits: those
    /// lines keep their shortcuts. To be called before the run begins.
    pub fn observe_on(&mut self, is_watched: &[bool], observer: Box<dyn Observer>) {
        self.heard = vec![Heard::default(); self.connections.len()];
        self.network.watch(is_watched, observer);
    }

    /// The time of the last event, or the end of the last run.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The counts of each flow since they were last cleared.
    pub fn flow_counts(&self) -> impl ExactSizeIterator<Item = &FlowCounts> {
        self.connections.iter().map(|connection| connection.counts.as_deref().unwrap_or(&NO_COUNTS))
    }

    /// Names inner values of the sender of flow number `flow`.
    pub fn inspect(&self, flow: usize, visit: &mut dyn FnMut(&str, f64)) {
        self.connections[flow].sender.inspect(visit);
    }

    /// The phase of the congestion control of flow number `flow`; `None` without one.
    #[must_use]
    pub fn phase(&self, flow: usize) -> Option<&'static str> {
        self.connections[flow].sender.phase()
    }

    /// The groups of transfers with their counts, in the order of `Plan::transfers`.
    pub fn transfers(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter()
    }

    /// The sessions, in the order of the scenario.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.iter()
    }

    /// Runs every event up to `end`, those at `end` included.
    pub fn run_until(&mut self, end: Time) {
        self.run_towards(end, end);
    }

    /// Runs to `until`, including events at `until`. With regions it may overshoot, because a turn
    /// ends only at its lookahead or at `end`. Returns whether `end` is still ahead.
    pub fn run_towards(&mut self, until: Time, end: Time) -> bool {
        if self.regions.is_none() {
            self.run_changes(until);
            self.run_events(until);
            self.pass(until);
            return until < end;
        }
        while self.run_turn(end) {
            if self.now >= until {
                return true;
            }
        }
        self.pass(end);
        false
    }

    /// Runs every event of the current queue up to `end`. In one function, so that all of `step` is
    /// inlined in one place.
    #[inline(never)]
    fn run_events(&mut self, end: Time) {
        while self.step(end) {}
    }

    /// Brings the counts of lines, flows, transfers and sessions up to now. To be called before
    /// they are read.
    pub fn settle(&mut self) {
        self.network.settle(self.now, &self.events);
        for line in &mut self.network.lines {
            line.count_waiting(self.now);
        }
        for connection in &mut self.connections {
            let held = connection.sender.held(self.now);
            if held != HeldTimes::default() {
                connection.counts.get_or_insert_default().held = held;
            }
        }
        for group in &mut self.groups {
            group.counts.count_to(self.now);
        }
        for session in &mut self.sessions {
            session.settle(self.now);
        }
    }

    /// By line, the packets in its queue now, that in transmission included.
    #[must_use]
    pub fn held(&self) -> Vec<u64> {
        self.network.held(self.now, &self.events)
    }

    /// Restarts all counts.
    pub fn clear_counts(&mut self) {
        self.network.clear_counts(self.now, &self.events);
        for connection in &mut self.connections {
            connection.counts = None;
            connection.sender.clear_held(self.now);
        }
        for group in &mut self.groups {
            group.counts.clear(self.now);
        }
        for session in &mut self.sessions {
            session.clear_counts(self.now);
        }
    }

    /// Runs the next event if it is not after `end`. Returns whether there was one.
    #[inline(always)]
    pub fn step(&mut self, end: Time) -> bool {
        let Some((time, component)) = self.events.pop(end) else { return false };
        self.happen(time, component);
        true
    }

    /// What happens to `component` at `time`.
    #[inline(always)]
    fn happen(&mut self, time: Time, component: u32) {
        debug_assert!(time >= self.now, "an event in the past: {time} before {}", self.now);
        self.now = time;
        if self.network.prefetches {
            self.prefetch_soon();
        }
        if component < self.emissions {
            if let Some(id) = self.network.arrival(time, component, &mut self.events) {
                self.deliver(id);
                self.handle_delivered();
            }
        } else if component < self.hosts {
            self.emit((component - self.emissions) as usize);
        } else if component < self.components.ends {
            self.send_all((component - self.hosts) as usize);
            self.handle_delivered();
        } else if component < self.timers {
            if let Some(id) = self.network.end(time, component - self.components.ends, &mut self.events) {
                self.deliver(id);
                self.handle_delivered();
            }
        } else if component < self.components.updates {
            self.wake(component - self.timers);
        } else if component < self.sessions_from {
            self.network.update(time, component - self.components.updates, &mut self.events);
        } else {
            self.run_session((component - self.sessions_from) as usize, None);
            self.handle_delivered();
        }
    }

    /// Runs what is due in a session; or handles a packet that has reached the end of a branch.
    #[cold]
    fn run_session(&mut self, number: usize, arrived: Option<(usize, &Segment)>) {
        let (network, events, delivered) = (&mut self.network, &mut self.events, &mut self.delivered);
        let session = &mut self.sessions[number];
        let mut outlet = Outlet { network, events, delivered };
        match arrived {
            Some((branch, segment)) => session.arrived(self.now, branch, segment, &mut outlet),
            None => session.run(self.now, &mut outlet),
        }
        self.events.set(self.sessions_from + number as u32, session.next_time());
    }

    /// The traffic of `flow` gives a packet to its transport.
    fn emit(&mut self, flow: usize) {
        let connection = &mut self.connections[flow];
        if let Some(group) = connection.group {
            return self.begin_transfers(group as usize);
        }
        if !self.heard.is_empty() {
            self.hear_begin(flow, false);
        }
        let connection = &mut self.connections[flow];
        let mut next = Time::NEVER;
        match connection.upcoming.as_deref_mut() {
            Some(Upcoming::Packet { source, emission: upcoming }) => {
                connection.sender.offer(upcoming.length);
                if let Some(Some(urgency)) = self.urgencies.get_mut(flow) {
                    urgency.release(self.now);
                }
                match source.next() {
                    Some(emission) => (*upcoming, next) = (emission, emission.time.max(self.now)),
                    None => connection.upcoming = None,
                }
            }
            Some(Upcoming::Stop(stop)) if *stop > self.now => next = *stop,
            Some(Upcoming::Stop(_)) => connection.sender.supply().stop(),
            None => {}
        }
        self.events.set(self.emissions + flow as u32, next);
        self.send_all(flow);
        self.handle_delivered();
    }

    /// Begins the transfers of `group` that are due.
    fn begin_transfers(&mut self, group: usize) {
        while let Some((flow, bytes)) = self.groups[group].begin(self.now) {
            let packet = self.groups[group].packet;
            let connection = &mut self.connections[flow as usize];
            connection.begin(self.now, bytes, packet);
            if !self.heard.is_empty() {
                self.hear_begin(flow as usize, true);
            }
            if let Some(Some(urgency)) = self.urgencies.get_mut(flow as usize) {
                urgency.release(self.now);
            }
            self.send_all(flow as usize);
        }
        self.plan_transfers(group);
        self.handle_delivered();
    }

    fn plan_transfers(&mut self, group: usize) {
        let group = &self.groups[group];
        self.events.set(self.emissions + group.first, group.next_time().max(self.now));
    }

    /// The entry of a timer is due. Entries are lazy: the deadline may have moved to a later time
    /// since. A sender whose deadline is not due is not polled, because its host may still be
    /// processing.
    fn wake(&mut self, timer: u32) {
        let flow = (timer >> self.timers_shift) as usize;
        let connection = &mut self.connections[flow];
        let [is_sender, is_receiver] =
            if self.timers_shift == 0 { [true; 2] } else { [timer & 1 == 0, timer & 1 == 1] };
        let is_due = is_sender && connection.sender.deadline() <= self.now;
        if is_due && connection.sender.wake(self.now) && !self.heard.is_empty() {
            self.hear(&Event::TimedOut { flow: flow as u32 });
        }
        let connection = &mut self.connections[flow];
        if is_receiver
            && connection.receiver.deadline() <= self.now
            && let Some(ack) = connection.receiver.wake(self.now)
        {
            self.answer(flow, &ack);
        }
        let connection = &self.connections[flow];
        let sender = connection.sender.deadline();
        let receiver = if is_receiver { connection.receiver.deadline() } else { Time::NEVER };
        self.events.set(self.timers + timer, receiver);
        if is_due {
            // The sender's next deadline is known only after it has sent: its pacing time may be
            // due since before a timeout.
            self.send_all(flow);
        } else if is_sender {
            self.plan_wake(self.sender_timer(flow), sender);
        }
        self.handle_delivered();
    }

    /// Sends what the transport of `flow` releases, and sets its timer.
    fn send_all(&mut self, flow: usize) {
        let now = self.now;
        let connection = &mut self.connections[flow];
        while let Some(transmission) = connection.sender.poll(now) {
            if transmission.flags.has(Flags::CONTROL) {
                // An opening packet that is sent again may ask for no ECN.
                connection.accepts = connection.sender.accepts();
            }
            let counts = connection.counts.get_or_insert_default();
            counts.sent += 1;
            counts.retransmitted += u64::from(transmission.is_retransmission);
            if transmission.is_retransmission
                && let Some(observer) = &mut self.network.observer
            {
                let sequence = transmission.sequence;
                observer.event(now, &Event::Retransmitted { flow: flow as u32, sequence });
            }
            let stamp = match self.urgencies.get_mut(flow) {
                Some(Some(urgency)) => {
                    let is_control = transmission.flags.has(Flags::CONTROL);
                    urgency.stamp(&transmission, is_control, connection.sender.supply())
                }
                _ => Stamp::default(),
            };
            let segment = Segment {
                flow: flow as u32,
                incarnation: connection.incarnation,
                marking: Marking::new(connection.accepts.of(&transmission), Marks::NONE),
                length: transmission.length,
                sequence: transmission.sequence,
                sent: now,
                flags: transmission.flags.0,
                received: transmission.round_trip,
                cumulative: stamp.due,
                marked: stamp.remaining,
                ..Segment::default()
            };
            if let Some(id) = self.network.send(now, segment, &mut self.events) {
                self.delivered.push_back(id);
            }
        }
        let deadline = connection.sender.deadline();
        self.plan_wake(self.sender_timer(flow), deadline);
        if !self.heard.is_empty() {
            self.hear_sender(flow);
        }
    }

    /// The timer of the sender of `flow`.
    #[inline]
    const fn sender_timer(&self, flow: usize) -> u32 {
        self.timers + ((flow as u32) << self.timers_shift)
    }

    /// The timer of the receiver of `flow`, which may be the same.
    #[inline]
    const fn receiver_timer(&self, flow: usize) -> u32 {
        self.sender_timer(flow) + self.timers_shift
    }

    /// Makes `timer` fire at `deadline` or before.
    #[inline]
    fn plan_wake(&mut self, timer: u32, deadline: Time) {
        if deadline < self.events.time_of(timer) {
            self.events.set(timer, deadline);
        }
    }

    /// Delivers packets that reached the end of their path while others were handled.
    fn handle_delivered(&mut self) {
        while let Some(id) = self.delivered.pop_front() {
            self.deliver(id);
        }
    }

    /// Hands the packet `id` at the end of its path to its sink or source.
    fn deliver(&mut self, id: u32) {
        let segment = &self.network.arena.release(id);
        if let Some(observer) = &mut self.network.observer {
            observer.event(self.now, &Event::Delivered { id, segment });
        }
        if segment.sequence == Segment::OFFERED {
            return self.count_delivery(segment);
        }
        if let Some(branch) = (segment.flow as usize).checked_sub(self.connections.len()) {
            let (session, branch) = self.branches[branch];
            return self.run_session(session, Some((branch, segment)));
        }
        match segment.direction {
            Direction::Forward => self.acknowledge(segment),
            Direction::Backward => self.acknowledged(segment),
        }
    }

    /// A data packet reaches its sink, which acknowledges it.
    fn acknowledge(&mut self, segment: &Segment) {
        self.count_delivery(segment);
        let connection = &mut self.connections[segment.flow as usize];
        let counts = connection.counts.get_or_insert_default();
        let (marks, flags) = (segment.marking.marks(), Flags(segment.flags));
        if let (Some(cumulative), marked) = connection.receiver.receive_next(segment.sequence, marks, flags) {
            take(FastPath::NextPacket);
            let is_data = !flags.has(Flags::CONTROL);
            counts.unique += u64::from(is_data);
            if segment.flow < self.network.urgent {
                counts.in_time += u64::from(is_data && self.now <= segment.due());
            }
            let answer = Segment {
                flow: segment.flow,
                direction: Direction::Backward,
                length: connection.acknowledgement,
                sequence: segment.sequence,
                cumulative: cumulative.get(),
                incarnation: segment.incarnation,
                marking: Marking::new(Marks::NONE, marks),
                sent: segment.sent,
                received: self.now,
                marked,
                ..Segment::default()
            };
            return self.send_back(answer);
        }
        self.acknowledge_any(segment);
    }

    /// A data packet has reached the end of its path.
    #[inline(always)]
    fn count_delivery(&mut self, segment: &Segment) {
        let counts = self.connections[segment.flow as usize].counts.get_or_insert_default();
        counts.delivered += 1;
        counts.delivered_bytes += u64::from(segment.length);
        if segment.length != counts.alone_length {
            counts.alone_length = segment.length;
            counts.alone = self.network.time_alone(segment.flow, segment.length);
        }
        let delay = self.now - segment.sent;
        counts.delay.add(delay.0);
        counts.queueing.add(delay.saturating_sub(counts.alone).0);
    }

    /// As `acknowledge`, for a packet that is not the expected one, or whose acknowledgement
    /// carries more.
    #[inline(never)]
    fn acknowledge_any(&mut self, segment: &Segment) {
        let connection = &mut self.connections[segment.flow as usize];
        connection.heard = segment.incarnation;
        let arrival = Arrival {
            sequence: segment.sequence,
            length: segment.length,
            sent: segment.sent,
            marks: segment.marking.marks(),
            flags: Flags(segment.flags),
            round_trip: segment.received,
        };
        // Not destructured: a move would copy the whole answer, which waits for the stores of its
        // fields (store forwarding).
        let received = connection.receiver.receive(self.now, &arrival);
        let counts = connection.counts.get_or_insert_default();
        let is_new = received.0 && !arrival.flags.has(Flags::CONTROL);
        counts.unique += u64::from(is_new);
        if segment.flow < self.network.urgent {
            counts.in_time += u64::from(is_new && self.now <= segment.due());
        }
        let flow = segment.flow as usize;
        if let Some(ack) = &received.1 {
            self.answer(flow, ack);
        }
        // After an acknowledgement another packet may still wait for its own, so a second one may
        // be due at once.
        let receiver = &mut self.connections[flow].receiver;
        if receiver.deadline() <= self.now
            && let Some(ack) = receiver.wake(self.now)
        {
            self.answer(flow, &ack);
        }
        let deadline = self.connections[flow].receiver.deadline();
        self.plan_wake(self.receiver_timer(flow), deadline);
    }

    /// The receiver of `flow` sends an acknowledgement.
    fn answer(&mut self, flow: usize, ack: &Acknowledgement) {
        while let Some(name) = self.network.dropped_reports.pop() {
            self.reports.take(name);
        }
        let segment = Segment {
            flow: flow as u32,
            direction: Direction::Backward,
            length: self.connections[flow].acknowledgement + ack.options,
            sequence: ack.sequence,
            cumulative: ack.cumulative,
            incarnation: self.connections[flow].heard,
            marking: Marking::new(Marks::NONE, ack.marks),
            sent: ack.sent,
            received: ack.received,
            marked: ack.marked,
            flags: ack.flags.0,
            report: self.reports.keep(Report::of(ack)),
            ..Segment::default()
        };
        self.send_back(segment);
    }

    /// A receiver sends `segment`.
    #[inline(always)]
    fn send_back(&mut self, segment: Segment) {
        if let Some(id) = self.network.send(self.now, segment, &mut self.events) {
            self.delivered.push_back(id);
        }
    }

    /// An acknowledgement reaches its source.
    fn acknowledged(&mut self, segment: &Segment) {
        let flow = segment.flow as usize;
        let connection = &mut self.connections[flow];
        // Most acknowledgements have no report.
        let (blocks, feedback) = match segment.report {
            0 => (Blocks::default(), None),
            name => self.reports.take(name).parts(),
        };
        let ack = Acknowledgement {
            sequence: segment.sequence,
            cumulative: segment.cumulative,
            sent: segment.sent,
            received: segment.received,
            marks: segment.marking.marks(),
            flags: Flags(segment.flags),
            marked: segment.marked,
            blocks,
            feedback,
            options: segment.length - connection.acknowledgement,
        };
        if let Some(Some(urgency)) = self.urgencies.get_mut(flow) {
            urgency.acknowledged(ack.cumulative);
        }
        if let Some(sample) = connection.sender.acknowledge(self.now, &ack) {
            let counts = connection.counts.get_or_insert_default();
            counts.samples += 1;
            counts.samples_sum += u128::from(sample.0);
        }
        if let Some(group) = connection.group
            && connection.sender.is_complete()
            && self.groups[group as usize].complete(self.now, flow as u32)
        {
            if !self.heard.is_empty() {
                self.hear_end(flow);
            }
            self.plan_transfers(group as usize);
        }
        if self.connections[flow].processing.takes_time() && self.connections[flow].sender.is_clocked() {
            self.process(flow);
        } else {
            self.send_all(flow);
        }
    }

    /// The host of `flow` processes an acknowledgement before it releases packets. Processing that
    /// is under way is not restarted: packets released by several acknowledgements leave at its
    /// end.
    fn process(&mut self, flow: usize) {
        let connection = &mut self.connections[flow];
        let host = self.hosts + flow as u32;
        if self.events.time_of(host) == Time::NEVER {
            self.events.set(host, self.now.saturating_add(connection.processing.draw()));
        }
        let deadline = connection.sender.deadline();
        self.plan_wake(self.sender_timer(flow), deadline);
    }

    /// Whether every packet under way is on exactly one line.
    #[must_use]
    pub fn conserves_packets(&self) -> bool {
        self.network.conserves_packets()
    }
}
