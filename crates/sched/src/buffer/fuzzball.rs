//! Fuzzball selective preemption: buffers are shared fairly among source hosts, over all lines of a
//! gateway.
//!
//! Use when: you study the NSFNET gateways of 1988, which share buffers among source hosts. It is
//! historic; for new work use `longest_queue_drop` for flows, `dynamic_threshold` for lines.
//! Source: Mills and Braun, "The NSFNET Backbone Network", SIGCOMM 1987; Mills, "The Fuzzball",
//! SIGCOMM 1988. Of both we know the rule, as Demers, Keshav and Shenker 1990 and others tell it,
//! and not the mechanics.
//! Departs: as the buffer policy of a single line it shares that line's buffer alone; as a
//! scenario's pool it shares one buffer among all lines of a node.
//! Chosen: when space is short, the packets of the lowest precedence (the upper three bits of the
//! type-of-service byte) are at stake; of the hosts that have one, the host with the most bytes of
//! whatever precedence loses its latest. The arriving packet counts, and its host loses ties; else
//! the host with the lowest number. Hosts are what the classifier tells apart: `source` if nothing
//! else is said.
//! Cost: O(log hosts) a packet for each precedence that its host has waiting, mostly one.
//! Bound: a host that holds at most limit / hosts, the arriving packet counted, never loses a
//! packet to another of its precedence (shared_buffers.rs:
//! fuzzball_spares_a_host_within_its_share); a packet is lost only when none of lower precedence
//! waits (shared_buffers.rs: fuzzball_loses_the_lowest_precedence_first).
//! Changes: a rate means nothing to it; packets beyond a lower limit go at the next arrival, by its
//! rule.

use crate::change::no_changes;
use crate::contract::{BufferPolicy, Flow, Handle, HeldPacket, Line, Slot, Verdict, Victim, traits};
use crate::facts::Overflow;
use crate::heap::Heap;
use crate::packet::{Packet, Reason};
use crate::part::{Part, facts, no_settings};
use crate::pool::{Decision, Record, Room, Sharing, Ticket, precedence};
use crate::reading::no_readings;
use crate::slots::entry;
use crate::store::Store;
use crate::units::Time;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Reverse;

no_settings!("Nothing can be set; the limit is the queue's, or the size of the pool.");

impl Part for Settings {
    facts!(classifier = Some("source"), overflow = Overflow::Deals);

    fn sharing(&self) -> Option<Box<dyn Sharing>> {
        Some(Box::new(Accounts::default()))
    }
}

const PRECEDENCES: usize = 8;
const NONE: u32 = u32::MAX;

/// What a host holds.
#[derive(Clone, Copy)]
struct Host {
    bytes: u64,
    /// Its latest packet of each precedence.
    latest: [u32; PRECEDENCES],
}

const NO_HOST: Host = Host { bytes: 0, latest: [NONE; PRECEDENCES] };

/// The neighbours of a packet among those of its host and precedence.
#[derive(Clone, Copy)]
struct Link {
    earlier: u32,
    later: u32,
}

/// Which packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loser {
    Arriving,
    Held(Ticket),
}

/// The accounts of all hosts.
#[derive(Default)]
pub struct Accounts {
    hosts: Vec<Host>,
    /// Links of the packets' lists, by ticket.
    links: Vec<Link>,
    /// For each precedence the hosts that have a packet of it, the one with the most bytes first.
    at_stake: [Heap<(Reverse<u64>, u32)>; PRECEDENCES],
}

impl Accounts {
    fn host(&self, host: u32) -> &Host {
        self.hosts.get(host as usize).unwrap_or(&NO_HOST)
    }

    /// The packet to drop, if `host` has `arriving` of that many bytes and that precedence beside
    /// what it holds, or has got its latest packet just now.
    fn loser(&self, host: u32, arriving: Option<(u32, u8)>) -> Option<Loser> {
        let waiting = self.at_stake.iter().position(|hosts| !hosts.is_empty());
        let lowest = waiting.into_iter().chain(arriving.map(|(_, precedence)| usize::from(precedence))).min()?;
        let is_arriving = arriving.is_some_and(|(_, precedence)| usize::from(precedence) == lowest);
        let (bytes, latest) = (self.host(host).bytes, self.host(host).latest[lowest]);
        let bytes = bytes + u64::from(arriving.map_or(0, |(length, _)| length));
        let most = self.at_stake[lowest].peek();
        let others = most.map_or(0, |(_, (Reverse(bytes), _))| bytes);
        if bytes >= others && (is_arriving || latest != NONE) {
            return Some(if is_arriving { Loser::Arriving } else { Loser::Held(Ticket(latest)) });
        }
        let (other, _) = most?;
        Some(Loser::Held(Ticket(self.host(other).latest[lowest])))
    }

    fn settle(&mut self, host: u32) {
        let Host { bytes, latest } = self.hosts[host as usize];
        for (hosts, latest) in self.at_stake.iter_mut().zip(latest) {
            hosts.set(host, (latest != NONE).then_some((Reverse(bytes), host)));
        }
    }
}

impl Sharing for Accounts {
    fn decide(&mut self, room: Room, arriving: &Record) -> Decision {
        if room.has_space_for(arriving.length) {
            return Decision::Join;
        }
        match self.loser(arriving.host, Some((arriving.length, arriving.precedence))) {
            Some(Loser::Held(ticket)) => Decision::Evict(ticket),
            Some(Loser::Arriving) | None => Decision::Refuse(Reason::Preempted),
        }
    }

    fn joined(&mut self, ticket: Ticket, record: &Record) {
        let (host, at) = (record.host as usize, ticket.0 as usize);
        if self.hosts.len() <= host {
            self.hosts.resize(host + 1, NO_HOST);
        }
        if self.links.len() <= at {
            self.links.resize(at + 1, Link { earlier: NONE, later: NONE });
        }
        let account = &mut self.hosts[host];
        account.bytes += u64::from(record.length);
        let latest = core::mem::replace(&mut account.latest[usize::from(record.precedence)], ticket.0);
        self.links[at] = Link { earlier: latest, later: NONE };
        if let Some(link) = self.links.get_mut(latest as usize) {
            link.later = ticket.0;
        }
        self.settle(record.host);
    }

    fn left(&mut self, ticket: Ticket, record: &Record) {
        let Link { earlier, later } = self.links[ticket.0 as usize];
        if let Some(link) = self.links.get_mut(earlier as usize) {
            link.later = later;
        }
        let account = &mut self.hosts[record.host as usize];
        match self.links.get_mut(later as usize) {
            Some(link) => link.earlier = earlier,
            None => account.latest[usize::from(record.precedence)] = earlier,
        }
        account.bytes -= u64::from(record.length);
        self.settle(record.host);
    }
}

/// The policy of one line: the tickets are the places of its packets.
pub struct Fuzzball {
    accounts: Box<Accounts>,
    /// The handle of each packet, by ticket.
    handles: Vec<Handle>,
    /// The host of the packet that joined last.
    latest: Slot,
}

impl Fuzzball {
    /// No host holds anything.
    #[must_use]
    pub fn new(_: &Settings, _: &Line) -> Self {
        Self { accounts: Box::default(), handles: Vec::new(), latest: 0 }
    }
}

fn record(held: &HeldPacket<'_>) -> (Ticket, Record) {
    let Packet { length, tos, .. } = *held.packet;
    (Ticket(held.handle.index()), Record { line: 0, host: held.flow, length, precedence: precedence(tos) })
}

impl BufferPolicy for Fuzzball {
    traits!(hears_joins = true);

    no_changes!();

    fn admit(&mut self, _now: Time, store: &Store, _queue: Slot, flow: Flow, packet: &mut Packet) -> Verdict {
        let room = Room { limit: store.limit(), held: store.held() };
        match super::refuse_too_long(store, packet) {
            Verdict::Pass if room.has_space_for(packet.length) => Verdict::Pass,
            Verdict::Pass => match self.accounts.loser(flow.slot, Some((packet.length, precedence(packet.tos)))) {
                Some(Loser::Held(_)) => Verdict::Pass,
                Some(Loser::Arriving) | None => Verdict::Drop(Reason::Preempted),
            },
            verdict => verdict,
        }
    }

    fn joined(&mut self, _now: Time, _store: &Store, held: HeldPacket<'_>) {
        let (ticket, record) = record(&held);
        *entry(&mut self.handles, ticket.0, held.handle) = held.handle;
        self.latest = held.flow;
        self.accounts.joined(ticket, &record);
    }

    fn victim(&mut self, _now: Time, store: &Store, _arriving: Slot) -> Option<(Victim, Reason)> {
        if !store.is_over_limit() {
            return None;
        }
        match self.accounts.loser(self.latest, None)? {
            Loser::Held(ticket) => Some((Victim::Packet(self.handles[ticket.0 as usize]), Reason::Preempted)),
            Loser::Arriving => None,
        }
    }

    fn left(&mut self, _now: Time, _store: &Store, held: HeldPacket<'_>, _is_sent: bool) {
        let (ticket, record) = record(&held);
        self.accounts.left(ticket, &record);
    }

    no_readings!();
}
