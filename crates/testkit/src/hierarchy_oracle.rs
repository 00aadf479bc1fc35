//! A line shared along a tree of classes, slowly and in exact fractions: the fluid itself, and
//! H-WF2Q+ as its source writes it down.
//!
//! Source: Bennett and Zhang, "Hierarchical Packet Fair Queueing Algorithms", SIGCOMM 1996, ToN
//! 1997 (H-GPS; the procedures ARRIVE, RESTART-NODE and RESET-PATH).
//! Chosen: where the source's clock of a class is T = W/r, it is the bytes here that the class was
//! given, and a tag counts bytes of the class above. A class forgets its tags when its last packet
//! has been sent. Equal finish numbers go in the order of the list.

use num_rational::Ratio;
use std::collections::VecDeque;

/// A fraction; small trees and lengths need no more.
pub type Exact = Ratio<i128>;

/// A class: what stands above it, none at the line, and its share of that.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Its place in the list is lower.
    pub parent: Option<usize>,
    /// Shares of siblings add up to 1.
    pub share: Exact,
}

/// A packet: when it comes, in bytes that the line can have sent by then; the class it belongs to,
/// a leaf; its bytes.
pub type Arrival = (Exact, usize, u32);

fn whole(number: u32) -> Exact {
    Exact::from_integer(number.into())
}

/// When each packet has left the fluid in which every class that has bytes shares what is above it
/// with its siblings that have some, by their shares. Nothing is rounded.
#[must_use]
pub fn fluid(classes: &[Class], arrivals: &[Arrival]) -> Vec<Exact> {
    let mut departures = vec![Exact::default(); arrivals.len()];
    let mut queues: Vec<VecDeque<(usize, Exact)>> = vec![VecDeque::new(); classes.len()];
    let (mut now, mut next) = (Exact::default(), 0);
    loop {
        let mut has_some: Vec<bool> = queues.iter().map(|queue| !queue.is_empty()).collect();
        for class in (0..classes.len()).rev().filter(|class| !queues[*class].is_empty()) {
            path(classes, class).for_each(|above| has_some[above] = true);
        }
        // Of what is above, by all that have some there.
        let part = |class: usize| {
            let beside = |other: &usize| classes[*other].parent == classes[class].parent && has_some[*other];
            classes[class].share / (0..classes.len()).filter(beside).map(|other| classes[other].share).sum::<Exact>()
        };
        let speed = |class: usize| path(classes, class).map(part).product::<Exact>();
        let busy: Vec<usize> = (0..classes.len()).filter(|class| !queues[*class].is_empty()).collect();
        let ends = busy.iter().map(|class| now + queues[*class][0].1 / speed(*class)).min();
        let comes = arrivals.get(next).map(|arrival| arrival.0);
        let Some(event) = [ends, comes].into_iter().flatten().min() else { return departures };
        for class in busy {
            queues[class][0].1 -= speed(class) * (event - now);
        }
        now = event;
        for queue in &mut queues {
            if let Some((packet, left)) = queue.front()
                && *left == Exact::default()
            {
                departures[*packet] = now;
                queue.pop_front();
            }
        }
        while let Some((_, class, length)) = arrivals.get(next).filter(|arrival| arrival.0 == now) {
            queues[*class].push_back((next, whole(*length)));
            next += 1;
        }
    }
}

/// `class` and those above it, the highest last.
fn path(classes: &[Class], class: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(class), |class| classes[*class].parent)
}

/// When the clock of a class counts a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// When the class offers it upwards: the source.
    Offered,
    /// While its bytes leave.
    Sent,
}

/// A class, or the line.
#[derive(Clone, Debug, Default)]
struct Node {
    parent: usize,
    share: Exact,
    children: Vec<usize>,
    /// A leaf's packets.
    queue: VecDeque<usize>,
    /// The packet of the logical queue.
    head: Option<usize>,
    start: Exact,
    finish: Exact,
    is_busy: bool,
    active_child: Option<usize>,
    virtual_time: Exact,
}

/// H-WF2Q+.
struct Tree<'a> {
    nodes: Vec<Node>,
    arrivals: &'a [Arrival],
    charge: Charge,
    /// When the packet on the line began.
    since: Exact,
}

/// The line's node comes first, classes after it.
const ROOT: usize = 0;

/// When each packet has been sent by H-WF2Q+.
#[must_use]
pub fn packets(classes: &[Class], arrivals: &[Arrival], charge: Charge) -> Vec<Exact> {
    let node = |class: &Class| Node {
        parent: class.parent.map_or(ROOT, |parent| parent + 1),
        share: class.share,
        ..Node::default()
    };
    let mut nodes = vec![Node::default()];
    nodes.extend(classes.iter().map(node));
    for child in 1..nodes.len() {
        let parent = nodes[child].parent;
        nodes[parent].children.push(child);
    }
    let mut tree = Tree { nodes, arrivals, charge, since: Exact::default() };
    let (mut departures, mut next) = (vec![Exact::default(); arrivals.len()], 0);
    let mut free = Exact::default();
    loop {
        // Before a transmission is over, all that comes by then.
        let is_sending = tree.nodes[ROOT].head.is_some();
        while let Some((at, class, _)) = arrivals.get(next).filter(|arrival| !is_sending || arrival.0 <= free) {
            tree.arrive(class + 1, next, *at);
            next += 1;
            let more = arrivals.get(next).is_some_and(|other| other.0 == *at);
            if !is_sending && !more {
                tree.since = *at;
                break;
            }
        }
        if is_sending {
            tree.since = free;
            tree.reset_path(ROOT, free);
        } else if tree.nodes[ROOT].children.iter().any(|child| tree.nodes[*child].head.is_some()) {
            tree.restart(ROOT, tree.since);
        }
        match tree.nodes[ROOT].head {
            Some(packet) => {
                free = tree.since + whole(arrivals[packet].2);
                departures[packet] = free;
            }
            None if next == arrivals.len() => return departures,
            None => {}
        }
    }
}

impl Tree<'_> {
    fn length(&self, packet: usize) -> Exact {
        whole(self.arrivals[packet].2)
    }

    /// V of `node`; of one whose packet is on the line what has left of it counts.
    fn clock(&self, node: usize, now: Exact) -> Exact {
        let mut active = Some(ROOT);
        while active.is_some_and(|at| at != node) {
            active = active.and_then(|at| self.nodes[at].active_child);
        }
        let is_sent_bit_by_bit = node == ROOT || self.charge == Charge::Sent;
        let sent = if is_sent_bit_by_bit && active.is_some() { now - self.since } else { Exact::default() };
        self.nodes[node].virtual_time + sent
    }

    /// ARRIVE
    fn arrive(&mut self, leaf: usize, packet: usize, now: Exact) {
        self.nodes[leaf].queue.push_back(packet);
        if self.nodes[leaf].head.is_some() {
            return;
        }
        self.offer(leaf, packet, now);
        let parent = self.nodes[leaf].parent;
        if parent != ROOT && !self.nodes[parent].is_busy {
            self.restart(parent, now);
        }
    }

    /// The logical queue of `node` holds `packet`: s and f.
    fn offer(&mut self, node: usize, packet: usize, now: Exact) {
        let clock = self.clock(self.nodes[node].parent, now);
        let length = self.length(packet);
        let node = &mut self.nodes[node];
        node.head = Some(packet);
        node.start = if node.is_busy { node.finish } else { node.finish.max(clock) };
        node.finish = node.start + length / node.share;
        node.is_busy = true;
    }

    /// RESTART-NODE, up to the line, which is asked last.
    fn restart(&mut self, node: usize, now: Exact) {
        match self.select(node) {
            Some(child) => {
                let packet = self.nodes[child].head.expect("a child that was chosen offers a packet");
                self.nodes[node].active_child = Some(child);
                if node == ROOT {
                    self.nodes[node].head = Some(packet);
                } else {
                    self.offer(node, packet, now);
                }
                if node != ROOT && self.charge == Charge::Offered {
                    let length = self.length(packet);
                    self.nodes[node].virtual_time += length;
                }
            }
            None => self.forget(node),
        }
        let parent = self.nodes[node].parent;
        if node != ROOT && self.nodes[parent].head.is_none() && parent != ROOT {
            self.restart(parent, now);
        }
    }

    /// The least f of those with s <= V, after V has been raised to the least s.
    fn select(&mut self, node: usize) -> Option<usize> {
        let children = self.nodes[node].children.iter().copied();
        let waiting: Vec<usize> = children.filter(|child| self.nodes[*child].head.is_some()).collect();
        let least = waiting.iter().map(|child| self.nodes[*child].start).min()?;
        self.nodes[node].virtual_time = self.nodes[node].virtual_time.max(least);
        let may_go = |child: &&usize| self.nodes[**child].start <= self.nodes[node].virtual_time;
        waiting.iter().filter(may_go).min_by_key(|child| self.nodes[**child].finish).copied()
    }

    /// Nothing waits below `node`.
    fn forget(&mut self, node: usize) {
        self.nodes[node].is_busy = false;
        self.nodes[node].active_child = None;
        self.nodes[node].virtual_time = Exact::default();
        for child in self.nodes[node].children.clone() {
            self.nodes[child].finish = Exact::default();
        }
    }

    /// RESET-PATH: the packet on the line has been sent.
    fn reset_path(&mut self, node: usize, now: Exact) {
        let Some(packet) = self.nodes[node].head.take() else { unreachable!("a packet of this class was sent") };
        let length = self.length(packet);
        let Some(child) = self.nodes[node].active_child.take() else {
            self.nodes[node].queue.pop_front();
            match self.nodes[node].queue.front().copied() {
                Some(next) => self.offer(node, next, now),
                None => self.nodes[node].is_busy = false,
            }
            return self.restart_from(self.nodes[node].parent, now);
        };
        if node == ROOT || self.charge == Charge::Sent {
            self.nodes[node].virtual_time += length;
        }
        self.reset_path(child, now);
    }

    /// RESTART-NODE of `node` and of all above it.
    fn restart_from(&mut self, node: usize, now: Exact) {
        self.restart(node, now);
        if node != ROOT {
            // `restart` stops below the line.
            self.restart(ROOT, now);
        }
    }
}
