//! An observer with independent books of every packet, and the invariants after every event.

use fairq_link::trace::OPPORTUNITY;
use fairq_sched::card::Invariant;
use fairq_sched::contract::{Discipline as _, End, Held};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, DESIGNS, SCHEDULERS, SchedulerSettings};
use fairq_sched::units::{Limit, PS_PER_S, Rate, Time};
use fairq_sim::changes::What;
use fairq_sim::net::line::Sending;
use fairq_sim::net::path::{Path, Paths};
use fairq_sim::net::varying::Course;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::plan::{LinePlan, Plan};
use fairq_sim::run::Simulation;
use fairq_sim::segment::{Direction, Segment};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

/// A packet: flow or branch, whether it is an acknowledgement, number (a branch's: with its layer),
/// and when the copy of its data packet was sent.
type Name = (u32, bool, u64, Time);

/// Numbers of packets in a layer are below this.
const LAYER: u64 = 1 << 40;

/// A branch of a session.
#[derive(Clone, Debug)]
struct Branch {
    session: usize,
    /// The number of the branch above it, among flows and branches; `None` at the source.
    above: Option<u32>,
    layers: u64,
}

/// What a line may be over the whole run, as far as it changes.
#[derive(Clone, Debug)]
struct Range {
    delays: [Time; 2],
    rate: Option<Rate>,
    may_lose: bool,
    jitter: Time,
    reorder_delay: Time,
    may_reorder: bool,
    queues: Vec<Arc<Queue>>,
    limits: Vec<Limit>,
}

impl Range {
    fn of(plan: &Plan, number: usize) -> Self {
        let line = &plan.lines[number];
        let what = &line.impairment;
        let mut range = Self {
            delays: [line.delay; 2],
            rate: line.rate,
            may_lose: what.loss.probability > 0.0,
            jitter: what.jitter,
            reorder_delay: what.reorder_delay,
            may_reorder: what.reorder > 0.0,
            queues: vec![Arc::clone(&line.queue)],
            limits: vec![line.queue.limit.unwrap_or_default()],
        };
        for planned in plan.changes.iter().filter(|planned| planned.change.line as usize == number) {
            match &planned.change.what {
                What::Rate(rate) => range.rate = range.rate.max(*rate),
                What::Delay(delay) => {
                    range.delays = [range.delays[0].min(*delay), range.delays[1].max(*delay)];
                }
                What::Impairment(what) => {
                    range.may_lose |= what.loss.probability > 0.0;
                    range.jitter = range.jitter.max(what.jitter);
                    range.reorder_delay = range.reorder_delay.max(what.reorder_delay);
                    range.may_reorder |= what.reorder > 0.0;
                }
                What::Queue(queue) => {
                    range.queues.push(Arc::clone(queue));
                    range.limits.push(queue.limit.unwrap_or_default());
                }
                What::Limit(limit) => range.limits.push(*limit),
                _ => {}
            }
        }
        range
    }

    /// Whether as much as `held` may wait in one of its queues.
    fn holds(&self, held: Held) -> bool {
        // A short packet that goes before its turn may put back a long one.
        let swaps_lengths = |queue: &Arc<Queue>| matches!(&queue.scheduler, SchedulerSettings::Fq(fq) if fq.preemptive);
        let holds = |limit: &Limit| match *limit {
            Limit::Packets(limit) => held.packets <= limit,
            Limit::Bytes(limit) => held.bytes <= limit,
            Limit::Unlimited => true,
        };
        let is_of_bytes = self.limits.iter().any(|limit| matches!(limit, Limit::Bytes(_)));
        self.limits.iter().any(holds) || (is_of_bytes && self.queues.iter().any(swaps_lengths))
    }
}

/// The test network: the plan, and the paths of flows and then of branches.
struct World {
    plan: Plan,
    paths: Vec<Path>,
    /// The paths as the network has them.
    places: Paths,
    branches: Vec<Branch>,
    /// By line.
    ranges: Vec<Range>,
}

impl World {
    fn of(plan: &Plan) -> Self {
        let mut paths: Vec<Path> = plan.flows.iter().map(|flow| flow.path.clone()).collect();
        let mut branches = Vec::new();
        for (session, of) in plan.sessions.iter().enumerate() {
            let first = paths.len() as u32;
            paths.extend(of.paths());
            let layers = of.rates.len() as u64;
            // The branch to place p has number p − 1.
            let above = |from: usize| from.checked_sub(1).map(|branch| first + branch as u32);
            let shape = of.shape.branches.iter();
            branches.extend(shape.map(|branch| Branch { session, above: above(branch.from), layers }));
        }
        let ranges = (0..plan.lines.len()).map(|line| Range::of(plan, line)).collect();
        Self { plan: plan.clone(), places: Paths::new(&paths), paths, branches, ranges }
    }

    fn branch(&self, flow: u32) -> Option<&Branch> {
        self.branches.get((flow as usize).checked_sub(self.plan.flows.len())?)
    }

    fn path(&self, segment: &Segment) -> &[u32] {
        let path = &self.paths[segment.flow as usize];
        if segment.direction == Direction::Forward { path.forward() } else { path.backward() }
    }

    /// How many lines a packet has entered.
    fn hops(&self, segment: &Segment) -> usize {
        (segment.place - self.places.first(segment.flow, segment.direction)) as usize
    }

    fn name(&self, segment: &Segment) -> Name {
        let layer = if self.branch(segment.flow).is_some() { segment.cumulative } else { 0 };
        let sequence = layer * LAYER + segment.sequence;
        (segment.flow, segment.direction == Direction::Backward, sequence, segment.sent)
    }
}

/// The place of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the gateway of a line, waiting or being sent.
    Gateway(u32),
    /// On a line, until it arrives; with the number of lines of its path behind it.
    Flight(u32, Time, usize),
}

/// The counts of a line.
#[derive(Clone, Debug, Default)]
struct LineBook {
    arrived: u64,
    dropped: u64,
    sent: u64,
    sent_bits: u128,
    /// By flow and direction: the packets in the gateway, in order of arrival.
    inside: BTreeMap<(u32, bool), VecDeque<Name>>,
    /// Packets in flight.
    flights: VecDeque<Name>,
    /// The packet whose transmission began last.
    sending: Option<Name>,
}

/// The counts of a flow.
#[derive(Clone, Debug, Default)]
struct FlowBook {
    entered: u64,
    delivered: u64,
    dropped: u64,
    lost: u64,
    /// The lowest number of a data packet that has not been seen at the first line.
    unseen: u64,
    acknowledged: u64,
    has_begun: bool,
    window: Option<f64>,
    sent_again: u64,
    /// The counts when the simulation's counts were cleared.
    cleared: [u64; 5],
}

/// The books.
#[derive(Debug, Default)]
struct Books {
    now: Time,
    /// Two copies of a packet may be sent in one instant, by an emission and a timer.
    places: BTreeMap<Name, Vec<Place>>,
    lines: Vec<LineBook>,
    flows: Vec<FlowBook>,
    events: u64,
    /// The packet that last reached the end of its path.
    landed: Option<Name>,
    /// By layer of a branch at a source, the number of its last packet.
    last: BTreeMap<(u32, u64), u64>,
}

/// The observer, and the checks after each event.
pub(crate) struct Watch {
    books: Arc<Mutex<Books>>,
    world: Arc<World>,
}

struct Hook {
    books: Arc<Mutex<Books>>,
    world: Arc<World>,
}

impl Watch {
    /// Watches `simulation` of `plan`.
    pub(crate) fn of(simulation: &mut Simulation, plan: &Plan) -> Self {
        let world = Arc::new(World::of(plan));
        let books = Books {
            lines: vec![LineBook::default(); plan.lines.len()],
            flows: vec![FlowBook::default(); world.paths.len()],
            ..Books::default()
        };
        let books = Arc::new(Mutex::new(books));
        simulation.observe(Box::new(Hook { books: Arc::clone(&books), world: Arc::clone(&world) }));
        Self { books, world }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("an observer that failed ends the test")
    }

    /// The number of events.
    pub(crate) fn events(&self) -> u64 {
        self.books().events
    }

    /// The simulation's counts were cleared.
    pub(crate) fn cleared(&self) {
        for flow in &mut self.books().flows {
            flow.cleared = [flow.entered, flow.delivered, flow.dropped, flow.lost, flow.sent_again];
        }
    }

    /// The invariants between any two events.
    pub(crate) fn check(&self, simulation: &Simulation) {
        let books = self.books();
        assert!(books.now <= simulation.now(), "an event lies ahead of the clock");
        assert!(simulation.conserves_packets(), "packets in lines are not the packets under way");
        let network = &simulation.network;
        assert_eq!(books.places.values().map(Vec::len).sum::<usize>(), network.arena.len(), "packets under way");
        let mut under_way = vec![0; books.flows.len()];
        for ((flow, is_answer, _, _), copies) in &books.places {
            under_way[*flow as usize] += if *is_answer { 0 } else { copies.len() as u64 };
        }
        for (number, flow) in books.flows.iter().enumerate() {
            let [_, _, dropped, lost, _] = flow.cleared;
            let gone = flow.delivered + flow.dropped + flow.lost;
            assert_eq!(flow.entered, gone + under_way[number], "flow {number}");
            assert_eq!(network.lost.of(number), flow.lost - lost, "flow {number}: lost");
            assert_eq!(network.dropped.of(number), flow.dropped - dropped, "flow {number}: dropped");
        }
        for (number, (flow, counts)) in books.flows.iter().zip(simulation.flow_counts()).enumerate() {
            let [entered, delivered, _, _, sent_again] = flow.cleared;
            assert_eq!(counts.sent, flow.entered - entered, "flow {number}: sent");
            assert_eq!(counts.delivered, flow.delivered - delivered, "flow {number}: delivered");
            assert_eq!(counts.retransmitted, flow.sent_again - sent_again, "flow {number}: sent again");
            assert!(counts.unique <= counts.delivered && counts.retransmitted <= counts.sent, "flow {number}");
        }
        self.check_sessions(&books, simulation);
        for (pool, lines) in network.pools.books() {
            let held = lines
                .filter_map(|line| network.lines[line].gateway.as_ref())
                .map(|gateway| gateway.port.discipline().held());
            let (packets, bytes) = held.fold((0, 0), |(p, b), held| (p + held.packets, b + held.bytes));
            assert_eq!((pool.held().packets, pool.held().bytes), (packets, bytes), "a pool's books and its lines");
            assert!(!pool.is_over_limit(), "{packets} packets, {bytes} B wait in a pool");
        }
        for (number, ((line, book), plan)) in
            network.lines.iter().zip(&books.lines).zip(&self.world.plan.lines).enumerate()
        {
            assert_eq!(line.in_flight(), book.flights.len(), "line {number}: in flight");
            let range = &self.world.ranges[number];
            assert!(line.flights.iter().is_sorted_by_key(|flight| flight.arrival), "line {number}: order of arrival");
            let Some(gateway) = &line.gateway else { continue };
            let (port, serving) = (&gateway.port, u64::from(line.sending != Sending::Nothing));
            let (held, counts) = (port.discipline().held().packets, port.counts());
            let ring = gateway.waiting() - held;
            let inside = book.inside.values().map(|flow| flow.len() as u64).sum::<u64>();
            // Packets that moved to another queue left one, and arrived once more.
            let moved = counts.arrived.packets - book.arrived;
            assert!(moved == 0 || range.queues.len() > 1, "line {number}: arrived");
            assert_eq!(counts.dropped.packets, book.dropped + moved, "line {number}: dropped");
            assert_eq!(counts.sent.packets, book.sent + serving, "line {number}: sent");
            assert_eq!(held + serving + ring, inside, "line {number}: inside");
            assert!(line.counts.waiting_max >= held, "line {number}: the most that waited");
            let changes = self.world.plan.changes.iter().any(|planned| planned.change.line as usize == number);
            let is_shaper = range.queues.iter().any(|queue| match queue.scheduler {
                SchedulerSettings::TokenBucket(_) => true,
                // A class has the line's nominal rate, which one that changes may exceed.
                SchedulerSettings::Htb(_) => plan.course.is_some() || changes,
                _ => false,
            });
            let is_stopped = !port.is_up() || port.stalled().is_some();
            assert!(serving == 1 || ring == 0 || is_stopped, "line {number} is idle while its ring is not empty");
            let has_work = held > 0;
            assert!(
                is_shaper || serving == 1 || !has_work || is_stopped,
                "line {number} is idle while packets wait: {:?}",
                plan.queue
            );
            let held = port.discipline().held();
            assert!(range.holds(held), "line {number}: {held:?} wait");
        }
    }

    /// A receiver took no packet that did not come to its node, and no more layers than there are.
    fn check_sessions(&self, books: &Books, simulation: &Simulation) {
        let mut first = self.world.plan.flows.len();
        for (session, plan) in simulation.sessions().zip(&self.world.plan.sessions) {
            for (member, receiver) in session.members().iter().zip(&plan.receivers) {
                let branch = &books.flows[first + receiver.place - 1];
                let came = branch.delivered - branch.cleared[1];
                let (name, counts) = (&receiver.name, member.counts());
                assert!(counts.packets <= came, "{name}: {} packets, and {came} came", counts.packets);
                assert!(member.level() <= plan.rates.len(), "{name}: {} layers", member.level());
            }
            first += plan.shape.branches.len();
        }
    }
}

impl Observer for Hook {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        let mut books = self.books.lock().expect("an observer that failed ends the test");
        assert!(now >= books.now, "time goes back from {} to {now}", books.now);
        books.now = now;
        books.events += 1;
        match event {
            Event::Arrived { line, segment, .. } => {
                books.leave_flight(&self.world, now, segment, *line);
                let name = self.world.name(segment);
                let book = &mut books.lines[*line as usize];
                book.arrived += 1;
                book.inside.entry((name.0, name.1)).or_default().push_back(name);
                books.put(name, Place::Gateway(*line));
            }
            Event::Marked { line, segment, .. } => {
                let copies = books.places.get(&self.world.name(segment));
                assert!(copies.is_some_and(|copies| copies.contains(&Place::Gateway(*line))), "marked elsewhere");
                assert_eq!(segment.direction, Direction::Forward, "an acknowledgement accepts no mark");
            }
            Event::Dropped { line, segment, .. } => {
                let name = self.world.name(segment);
                books.take(&name, |place| *place == Place::Gateway(*line));
                let book = &mut books.lines[*line as usize];
                book.dropped += 1;
                let flow = book.inside.get_mut(&(name.0, name.1)).expect("a flow that came");
                // Of two identical copies the one at the end where the policy drops is removed.
                let drops_at_the_front = self.world.ranges[*line as usize].queues.iter().any(
                    |queue| matches!(queue.buffer(), BufferSettings::LongestQueueDrop(lqd) if lqd.from == End::Front),
                );
                let is_it = |other: &Name| *other == name;
                let at = if drops_at_the_front { flow.iter().position(is_it) } else { flow.iter().rposition(is_it) };
                let at = at.expect("a packet that came");
                flow.remove(at);
                books.flows[segment.flow as usize].dropped += u64::from(!name.1);
            }
            Event::Lost { line, segment, .. } => {
                let name = self.world.name(segment);
                assert!(self.world.ranges[*line as usize].may_lose, "line {line} loses nothing");
                books.take(&name, |place| matches!(place, Place::Flight(of, ..) if of == line));
                let flights = &mut books.lines[*line as usize].flights;
                let place = flights.iter().rposition(|other| *other == name).expect("a packet that was sent");
                flights.remove(place);
                books.flows[segment.flow as usize].lost += u64::from(!name.1);
            }
            Event::Sent { line, segment, .. } => self.sent(&mut books, now, *line, segment),
            Event::Delivered { segment, .. } => self.delivered(&mut books, now, segment),
            Event::Began { line, segment, end, .. } => {
                assert!(*end >= now, "a transmission ends before it begins");
                let name = self.world.name(segment);
                books.lines[*line as usize].sending = Some(name);
            }
            Event::FlowBegan { flow } => books.flows[*flow as usize].has_begun = true,
            Event::FlowEnded { flow } => {
                let has_begun = std::mem::replace(&mut books.flows[*flow as usize].has_begun, false);
                assert!(has_begun, "flow {flow} ends and has not begun");
            }
            Event::Window { flow, packets } => {
                let before = books.flows[*flow as usize].window.replace(*packets);
                assert!(before != Some(*packets), "flow {flow}: the window is what it was");
            }
            Event::Retransmitted { flow, .. } => books.flows[*flow as usize].sent_again += 1,
            Event::TimedOut { flow } => assert!(books.flows[*flow as usize].has_begun, "flow {flow} has not begun"),
            Event::Level { .. } => {}
        }
    }
}

/// Whether the registry allows packets of a flow to overtake each other here.
fn breaks_flow_order(queue: &Queue) -> bool {
    let name = queue.design.as_ref().map_or_else(|| queue.scheduler.name(), |design| design.name());
    let card = SCHEDULERS.iter().chain(DESIGNS).find(|card| card.name == name);
    card.is_some_and(|card| card.breaks.contains(&Invariant::FlowOrder))
}

impl Hook {
    fn sent(&self, books: &mut Books, now: Time, line: u32, segment: &Segment) {
        let plan = &self.world.plan.lines[line as usize];
        let name = self.world.name(segment);
        if plan.rate.is_none() {
            books.leave_flight(&self.world, now, segment, line);
        } else {
            books.take(&name, |place| *place == Place::Gateway(line));
            assert_eq!(books.lines[line as usize].sending, Some(name), "line {line} sends what it has not begun");
            let inside = books.lines[line as usize].inside.get_mut(&(name.0, name.1));
            let place = inside.as_ref().and_then(|inside| inside.iter().position(|other| *other == name));
            let queues = &self.world.ranges[line as usize].queues;
            let may_overtake = queues.iter().any(|queue| breaks_flow_order(queue)) && place.is_some();
            assert!(place == Some(0) || may_overtake, "line {line}: a flow's packets leave in another order");
            if let (Some(inside), Some(place)) = (inside, place) {
                inside.remove(place);
            }
        }
        let hop = self.world.hops(segment);
        assert_eq!(self.world.path(segment).get(hop - 1), Some(&line), "a packet leaves its path");
        let range = &self.world.ranges[line as usize];
        books.put(name, Place::Flight(line, now + range.delays[0], hop));
        let book = &mut books.lines[line as usize];
        book.sent += 1;
        book.sent_bits += u128::from(segment.length) * 8;
        // A packet on an unlimited line without delay is on its next line in the same event.
        book.flights.push_back(name);
        if let Some(Course::Trace(trace)) = &plan.course {
            let most = u128::from(trace.up_to(now)) * u128::from(OPPORTUNITY) * 8;
            assert!(book.sent_bits <= most, "line {line} sends more than its trace lets it");
        } else if let Some(Course::Walk(range)) = &plan.course {
            let most = u128::from(now.0) * u128::from(range.most().bit_per_s());
            assert!(book.sent_bits * u128::from(PS_PER_S) <= most, "line {line} is faster than its upper end");
        } else if let Some(rate) = range.rate {
            // No more than the rate since the start; an end is rounded by at most half a
            // picosecond.
            let most = u128::from(now.0 + 1) * u128::from(rate.bit_per_s());
            assert!(book.sent_bits * u128::from(PS_PER_S) <= most, "line {line} is faster than its rate");
        }
    }

    fn delivered(&self, books: &mut Books, now: Time, segment: &Segment) {
        let path = self.world.path(segment);
        let name = self.world.name(segment);
        if path.is_empty() {
            books.enter(&self.world, segment);
        } else {
            books.land(&self.world, now, &name, path.len());
            // No packet is faster than its path: a picosecond for the rounding at each line.
            let lines =
                path.iter().map(|line| (&self.world.plan.lines[*line as usize], &self.world.ranges[*line as usize]));
            let bits = u64::from(segment.length) * 8;
            let sending = |line: &LinePlan, range: &Range| match (range.rate, &line.course) {
                (_, Some(Course::Walk(range))) => range.most().time_of_bits(bits).0,
                (Some(rate), None) => rate.time_of_bits(bits).0,
                _ => 0,
            };
            let least: u64 = lines.map(|(line, range)| range.delays[0].0 + sending(line, range)).sum();
            let since = if name.1 { Time::ZERO } else { segment.sent };
            assert!((now - since).0 + path.len() as u64 >= least, "a packet is faster than its path");
        }
        let flow = &mut books.flows[segment.flow as usize];
        if name.1 {
            flow.acknowledged = flow.acknowledged.max(segment.cumulative);
            assert!(flow.acknowledged <= flow.unseen, "what was never sent is acknowledged");
        } else {
            flow.delivered += 1;
        }
        books.landed = Some(name);
    }
}

impl Books {
    fn put(&mut self, name: Name, place: Place) {
        self.places.entry(name).or_default().push(place);
    }

    /// Removes a packet from the place that `is_meant` selects.
    fn take(&mut self, name: &Name, is_meant: impl Fn(&Place) -> bool) -> Place {
        let copies = self.places.entry(*name).or_default();
        let Some(at) = copies.iter().position(is_meant) else { panic!("{name:?} is at {copies:?} and not there") };
        let place = copies.remove(at);
        if copies.is_empty() {
            self.places.remove(name);
        }
        place
    }

    /// A host sends a packet.
    fn enter(&mut self, world: &World, segment: &Segment) {
        if segment.direction == Direction::Backward {
            return;
        }
        if let Some(branch) = world.branch(segment.flow) {
            return self.enter_branch(branch, world.name(segment), segment);
        }
        let number = segment.flow as usize;
        let flow = &mut self.flows[number];
        flow.entered += 1;
        assert!(
            segment.sequence <= flow.unseen,
            "flow {number}: packet {} goes before {}",
            segment.sequence,
            flow.unseen
        );
        if segment.sequence == flow.unseen {
            flow.unseen += 1;
            let Some(window) = world.plan.flows[number].entry.transport.window() else { return };
            let open = flow.unseen - flow.acknowledged;
            assert!(open <= u64::from(window), "flow {number}: {open} packets are unacknowledged");
        }
    }

    /// A node sends a copy of a packet of `branch`'s session: the source in the order of the layer,
    /// another node the packet that has just arrived.
    fn enter_branch(&mut self, branch: &Branch, name: Name, segment: &Segment) {
        let (flow, layer) = (segment.flow, segment.cumulative);
        assert!(layer < branch.layers, "session {}: there is no layer {layer}", branch.session);
        assert!(!self.places.contains_key(&name), "branch {flow}: a packet is copied twice");
        match branch.above {
            Some(above) => {
                let original = (above, name.1, name.2, name.3);
                assert_eq!(self.landed, Some(original), "branch {flow}: a copy of what did not come");
            }
            None => {
                let last = self.last.insert((flow, layer), segment.sequence);
                assert!(last.is_none_or(|last| last < segment.sequence), "branch {flow}: layer {layer} goes back");
            }
        }
        self.flows[flow as usize].entered += 1;
    }

    /// A packet arrives at `line`: from its host, or from the line before it.
    fn leave_flight(&mut self, world: &World, now: Time, segment: &Segment, line: u32) {
        let hop = world.hops(segment);
        assert_eq!(world.path(segment).get(hop - 1), Some(&line), "a packet leaves its path");
        if hop == 1 {
            self.enter(world, segment);
        } else {
            self.land(world, now, &world.name(segment), hop - 1);
        }
    }

    /// The first packet in flight on its line arrives, after `hops` lines; another one only where
    /// packets are reordered.
    fn land(&mut self, world: &World, now: Time, name: &Name, hops: usize) {
        let is_it = |place: &Place| {
            let Place::Flight(line, arrival, passed) = place else { return false };
            let range = &world.ranges[*line as usize];
            // A packet that is sent when the line became shorter arrives behind those before it.
            let longer = range.delays[1] - range.delays[0];
            let latest =
                arrival.saturating_add(longer).saturating_add(range.jitter).saturating_add(range.reorder_delay);
            *passed == hops && (*arrival..=latest).contains(&now)
        };
        let Place::Flight(line, ..) = self.take(name, is_it) else { unreachable!("it is a flight") };
        let flights = &mut self.lines[line as usize].flights;
        let place = flights.iter().position(|other| other == name);
        let ahead: Vec<Name> = flights.iter().take(place.unwrap_or(usize::MAX)).copied().collect();
        if let Some(place) = place {
            flights.remove(place);
        }
        // A path may use a line without delay twice; a packet at the end of it waits to be
        // delivered.
        let is_over =
            |place: &Place| matches!(place, Place::Flight(_, arrival, passed) if *arrival == now && *passed > hops);
        let is_handed_over = |flight: &Name| self.places.get(flight).is_some_and(|places| places.iter().any(is_over));
        let may_pass = world.ranges[line as usize].may_reorder || ahead.iter().all(is_handed_over);
        assert!(place.is_some() && may_pass, "line {line} delivers in another order");
    }
}
