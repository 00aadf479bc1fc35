//! Random test networks: a line, weights, arrivals and all that may happen to a gateway, from one
//! seed.

use crate::draw::Draw;
use crate::driver::{Arrival, Driver, header};
use fairq_sched::change::Change;
use fairq_sched::contract::{Discipline, Line};
use fairq_sched::packet::{Marks, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::units::{Limit, Rate, Time, Weight};

/// What happens in a random test network. Each feature is off in some of them, so that rare states
/// come up.
#[derive(Clone, Debug)]
pub struct World {
    /// The line, with the weights of some flows.
    pub line: Line,
    /// Flows that may come.
    pub flows: u64,
    /// Lengths that packets have.
    pub lengths: Vec<u32>,
    /// Packets that come.
    pub packets: u64,
    /// On average, arrivals come at this many thousandths of what the line can carry.
    pub load: u64,
    /// Whether many come at once and then none.
    pub bursts: bool,
    /// Whether owners take packets out.
    pub removals: bool,
    /// Whether weights change.
    pub weight_changes: bool,
    /// Whether the line's rate changes.
    pub rate_changes: bool,
    /// Whether the limit changes.
    pub limit_changes: bool,
    /// Whether the line interrupts a transmission when the discipline says so.
    pub interrupts: bool,
    /// Whether packets ask for services, have deadlines and belong to something of known size, and
    /// transports ask for pacing.
    pub services: bool,
    /// The classes that the discipline knows, between which flows move if they ask for services.
    pub classes: Vec<String>,
}

impl World {
    /// A test network with `packets` packets.
    pub fn new(draw: &mut Draw, packets: u64) -> Self {
        let rates = [56_000, 1_000_000, 999_999_937, 10_000_000_000, Rate::MAX.bit_per_s()];
        let mut line = Line::new(rate(draw.pick(&rates)));
        line.seed = draw.bits();
        let flows = draw.pick(&[1, 2, 3, 8, 60, 200]);
        for flow in 0..flows {
            if draw.once_in(3) {
                line.weights.push((header(flow as u32), weight(draw.pick(&[1, 333, 500, 2000, 7001, 1_000_000_000]))));
            }
        }
        let lengths = [vec![1000], vec![40, 1500], vec![1, 40, 577, 1500, 9000], vec![1, 2, 3], vec![64, 1 << 20]];
        Self {
            line,
            flows,
            lengths: lengths[draw.below(5) as usize].clone(),
            packets,
            load: draw.pick(&[300, 900, 1000, 1100, 3000]),
            bursts: draw.once_in(2),
            removals: draw.once_in(2),
            weight_changes: draw.once_in(3),
            rate_changes: draw.once_in(3),
            limit_changes: draw.once_in(3),
            interrupts: draw.once_in(2),
            services: draw.once_in(2),
            classes: Vec::new(),
        }
    }

    /// Some flows name a class, if `queue` knows any.
    pub fn choose_classes(&mut self, draw: &mut Draw, queue: &Queue) {
        let classes = queue.classes().unwrap_or_default();
        for flow in (0..self.flows).filter(|_| !classes.is_empty()) {
            if draw.once_in(3) {
                self.line
                    .classes
                    .push((header(flow as u32), classes[draw.below(classes.len() as u64) as usize].clone()));
            }
        }
        self.classes = classes;
    }

    /// The length of a packet.
    pub fn length(&self, draw: &mut Draw) -> u32 {
        draw.pick(&self.lengths)
    }

    /// A flow: few of many send most, so that some wait while others come and go.
    fn flow(&self, draw: &mut Draw) -> u32 {
        let most = if self.flows > 100 { 1 + draw.below(self.flows) } else { self.flows };
        draw.below(most) as u32
    }

    /// The time until the next packet after one of `length`.
    fn gap(&self, draw: &mut Draw, length: u32) -> Time {
        let mean = self.line.rate.time_of_bits(u64::from(length) * 8).0 * 1000 / self.load;
        match draw.below(8) {
            // Idle periods in some places, bursts in others.
            0 if self.bursts => Time(draw.below(mean * 10 + 2)),
            1..6 if self.bursts => Time::ZERO,
            _ => Time(draw.below(mean * 2 + 2)),
        }
    }

    /// Runs it before `discipline`.
    pub fn run<D: Discipline>(&self, draw: &mut Draw, discipline: D) -> Driver<D> {
        let mut driver = Driver::new(discipline, self.line.rate);
        self.drive(draw, &mut driver);
        driver
    }

    /// Runs it through a driver of its line.
    pub fn drive<D: Discipline>(&self, draw: &mut Draw, driver: &mut Driver<D>) {
        driver.interrupt(self.interrupts);
        for token in 0..self.packets {
            let length = self.length(draw);
            let mut packet = Packet::new(token, driver.now() + self.gap(draw, length), length);
            packet.accepts = draw.pick(&[Marks::NONE, Marks::DEC, Marks::FQ, Marks(7)]);
            if self.services {
                packet.tos = draw.bits() as u8;
                packet.remaining = draw.below(100_000) as u32;
                let later = packet.arrival + Time(draw.below(1 << 40));
                packet.deadline = draw.pick(&[Time::ZERO, later, Time::NEVER]);
            }
            driver.offer_packet(self.flow(draw), packet);
            let now = driver.now();
            if self.removals && draw.once_in(8) {
                let back = draw.below(30).min(token);
                driver.remove(token - back);
            }
            if let Some(change) = self.change(draw) {
                // Refused or not, all invariants hold.
                let _ = driver.discipline_mut().change(now, &change);
                driver.ask_again();
            }
        }
        driver.finish();
    }

    /// A change of something, or mostly of nothing.
    fn change(&self, draw: &mut Draw) -> Option<Change<'_>> {
        if !draw.once_in(10) {
            return None;
        }
        let flow = header(draw.below(self.flows) as u32);
        match draw.below(5) {
            0 if self.weight_changes => Some(Change::Weight(flow, weight(draw.pick(&[1, 500, 1000, 3000])))),
            1 if self.services => Some(Change::Pacing(flow, draw.pick(&[None, Rate::new(100_000), Some(Rate::MAX)]))),
            2 if self.services && !self.classes.is_empty() => {
                Some(Change::Class(flow, &self.classes[draw.below(self.classes.len() as u64) as usize]))
            }
            3 if self.rate_changes => Some(Change::Rate(rate(draw.pick(&[1000, 1_000_000, 1_000_000_000])))),
            4 if self.limit_changes => {
                let limits = [Limit::Packets(1), Limit::Packets(30), Limit::Bytes(9000), Limit::Bytes(100_000)];
                Some(Change::Limit(draw.pick(&limits)))
            }
            _ => None,
        }
    }
}

/// The arrivals of a test network without its other events.
#[must_use]
pub fn arrivals(draw: &mut Draw, world: &World) -> Vec<Arrival> {
    let mut time = Time::ZERO;
    let mut next = || {
        let length = world.length(draw);
        time = time + world.gap(draw, length);
        Arrival { time, flow: world.flow(draw), length }
    };
    (0..world.packets).map(|_| next()).collect()
}

fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight of the test")
}

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}
