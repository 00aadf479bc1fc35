//! An arena in which a scheduler plays against arrivals that see what it sends, with a second one
//! to compare, and what is measured of its departures.

pub(crate) mod plain;

use fairq_sched::contract::{Dequeue, Discipline, Handle, Line};
use fairq_sched::packet::{Fates, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::units::{Rate, Time, Weight};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::header;

/// A slow and obvious scheduler.
pub(crate) trait Oracle {
    /// A packet of `flow` joins.
    fn arrive(&mut self, token: u64, flow: usize, length: u64);
    /// The packet to send now; `None` if none waits: the line is idle.
    fn send(&mut self) -> Option<u64>;
    /// A waiting packet is taken out.
    fn remove(&mut self, token: u64);
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Arrived(usize),
    Sent(usize, u64),
    Removed(usize),
    Idle,
}

/// A scheduler, what waits before it, and all that happened.
pub(crate) struct Arena {
    subject: Checked,
    oracle: Option<Box<dyn Oracle>>,
    pub(crate) waiting: Vec<u32>,
    packets: Vec<(usize, u64, Option<Handle>)>,
    pub(crate) events: Vec<Event>,
}

pub(crate) fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight of the test")
}

/// A line on which flow i has the i-th of these weights, in thousandths.
pub(crate) fn line(weights: &[u32]) -> Line {
    let mut line = Line::new(Rate::new(8_000_000).expect("a byte a microsecond"));
    line.weights = (0..).zip(weights).map(|(flow, of)| (header(flow), weight(*of))).collect();
    line
}

impl Arena {
    pub(crate) fn new(scheduler: &SchedulerSettings, weights: &[u32], oracle: Option<Box<dyn Oracle>>) -> Self {
        let queue = Queue::new(scheduler.clone(), None);
        let subject = Checked::new(Rules::of(&queue), || queue.build(&line(weights)));
        Self { subject, oracle, waiting: vec![0; weights.len()], packets: Vec::new(), events: Vec::new() }
    }

    pub(crate) fn arrive(&mut self, flow: usize, length: u64) {
        let token = self.packets.len() as u64;
        let packet = Packet::new(token, Time(token), length as u32);
        let handle = self.subject.enqueue(self.now(), packet, &header(flow as u32), &mut Fates::new());
        self.packets.push((flow, length, handle));
        self.waiting[flow] += 1;
        self.events.push(Event::Arrived(flow));
        if let Some(oracle) = &mut self.oracle {
            oracle.arrive(token, flow, length);
        }
    }

    fn now(&self) -> Time {
        Time(self.events.len() as u64 * 1000)
    }

    pub(crate) fn send(&mut self) -> Option<usize> {
        let answer = self.subject.dequeue(self.now(), &mut Fates::new());
        let sent = match answer {
            Dequeue::Send(packet) => Some(packet.token),
            _ => None,
        };
        if let Some(oracle) = &mut self.oracle {
            assert_eq!(sent, oracle.send(), "after {} events", self.events.len());
        }
        let Some(token) = sent else {
            self.events.push(Event::Idle);
            return None;
        };
        let (flow, length, _) = self.packets[token as usize];
        self.waiting[flow] -= 1;
        self.events.push(Event::Sent(flow, length));
        Some(flow)
    }

    /// Takes out the packet that came `back` packets ago, if it waits.
    pub(crate) fn remove(&mut self, back: u64) {
        let Some(token) = (self.packets.len() as u64).checked_sub(back + 1) else { return };
        let (flow, _, handle) = self.packets[token as usize];
        if handle.and_then(|handle| self.subject.remove(self.now(), handle)).is_some() {
            self.waiting[flow] -= 1;
            self.events.push(Event::Removed(flow));
            if let Some(oracle) = &mut self.oracle {
                oracle.remove(token);
            }
        }
    }

    /// The flows of the packets sent, in order.
    pub(crate) fn order(&self) -> Vec<usize> {
        let sent = |event: &Event| if let Event::Sent(flow, _) = event { Some(*flow) } else { None };
        self.events.iter().filter_map(sent).collect()
    }
}

/// How arrivals answer to what is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Play {
    /// As it happens.
    Drawn,
    /// All flows become busy at once, then all is sent, or most of it.
    AtOnce,
    /// All wait always, but flow 0: it has one packet and gets the next the moment that one is
    /// sent.
    Refilled,
    /// All wait always, but flow 0: it gets a packet at odd times.
    Sparse,
    /// Flow 0 sends the shortest packets, flow 1 the longest, all wait always.
    TinyAgainstLarge,
    /// Flows wait for a while, then not.
    OnAndOff,
    /// Flow 0 waits always; one sender splits its packets over all other flows in turn.
    Split,
}

pub(crate) const PLAYS: [Play; 7] =
    [Play::Drawn, Play::AtOnce, Play::Refilled, Play::Sparse, Play::TinyAgainstLarge, Play::OnAndOff, Play::Split];

/// Plays `steps` steps, with removals now and then if `removes`.
pub(crate) fn play(arena: &mut Arena, draw: &mut Draw, play: Play, lengths: &[u64], steps: u64, removes: bool) {
    let flows = arena.waiting.len();
    let mut on = vec![true; flows];
    let mut last = None;
    for step in 0..steps {
        let keep = |arena: &mut Arena, draw: &mut Draw, from: usize| {
            for flow in from..flows {
                while arena.waiting[flow] < 4 {
                    let length = match (play, flow) {
                        (Play::TinyAgainstLarge, 0) => lengths[0],
                        (Play::TinyAgainstLarge, 1) => lengths[lengths.len() - 1],
                        _ => draw.pick(lengths),
                    };
                    arena.arrive(flow, length);
                }
            }
        };
        match play {
            Play::Drawn => {
                for _ in 0..draw.below(3) {
                    arena.arrive(draw.below(flows as u64) as usize, draw.pick(lengths));
                }
            }
            Play::AtOnce if step % 150 == 0 => {
                let count = 1 + draw.below(20);
                (0..count).for_each(|_| (0..flows).for_each(|flow| arena.arrive(flow, draw.pick(lengths))));
            }
            Play::AtOnce => {}
            Play::Refilled => {
                keep(arena, draw, 1);
                if step == 0 || last == Some(0) {
                    arena.arrive(0, draw.pick(lengths));
                }
            }
            Play::Sparse => {
                keep(arena, draw, 1);
                if draw.once_in(9) && arena.waiting[0] == 0 {
                    arena.arrive(0, draw.pick(lengths));
                }
            }
            Play::TinyAgainstLarge => keep(arena, draw, 0),
            Play::OnAndOff => {
                for (flow, on) in on.iter_mut().enumerate() {
                    *on ^= draw.once_in(60);
                    if *on && arena.waiting[flow] < 2 {
                        arena.arrive(flow, draw.pick(lengths));
                    }
                }
            }
            Play::Split => {
                while arena.waiting[0] < 4 {
                    arena.arrive(0, draw.pick(lengths));
                }
                if flows > 1 {
                    arena.arrive(1 + step as usize % (flows - 1), draw.pick(lengths));
                }
            }
        }
        if removes && draw.once_in(6) {
            arena.remove(draw.below(12));
        }
        last = arena.send();
    }
    while arena.send().is_some() {}
}
