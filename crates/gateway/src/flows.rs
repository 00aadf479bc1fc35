//! Which flow a packet is of, and what became of each flow's packets.
//!
//! A flow is one direction of a conversation: the packets of one five-tuple. The flows of the plan
//! are known by their addresses and ports; others are told apart as they come. A bounded number is
//! kept: beyond it the flow that was seen least recently becomes a part of the row of the others,
//! so that a flood of flows takes memory of a fixed size.

mod counts;
mod unique;

pub(crate) use counts::{Counted, Counts, Tcp};

use crate::report::Name;
use fairq_sched::hash::Hash;
use fairq_sched::packet::{Address, Header};
use fairq_sched::units::{Time, Weight};
use hashbrown::HashTable;

/// Flows that are told apart at most.
pub const FLOWS_MAX: usize = 65_536;

/// A flow's place, and which of the flows that had this place it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowId {
    index: u32,
    generation: u32,
}

/// Which lines a flow's packets take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Those of the plan's flow of this number, of its data (0) or its answers (1).
    Planned(u32, u8),
    /// From node to node towards this host.
    Towards(u32),
}

/// A flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) header: Header,
    /// The host that its packets come from.
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) way: Way,
    pub(crate) weight: Weight,
    pub(crate) name: Name,
    /// The name of the plan's flow, if it is one.
    pub(crate) plan: Option<Name>,
    /// The flow of its answers, if there were any when it was asked for.
    pub(crate) reverse: Option<FlowId>,
    pub(crate) counts: Counts,
    /// The order of first packets.
    pub(crate) number: u64,
}

struct Slot {
    flow: Flow,
    generation: u32,
    /// Neighbours in the order in which flows were seen last.
    newer: u32,
    older: u32,
}

const END: u32 = u32::MAX;

/// All flows.
pub(crate) struct Flows {
    slots: Vec<Slot>,
    by_header: HashTable<u32>,
    hash: Hash,
    newest: u32,
    oldest: u32,
    most: usize,
    seen: u64,
    /// What became of the packets of flows that are told apart no more.
    others: Counts,
    others_name: Name,
}

impl Flows {
    pub(crate) fn new(seed: u64, most: usize) -> Self {
        Self {
            slots: Vec::new(),
            by_header: HashTable::new(),
            hash: Hash::new(seed),
            newest: END,
            oldest: END,
            most,
            seen: 0,
            others: Counts::default(),
            others_name: Name("others".into()),
        }
    }

    /// The flow of packets with this header, which is seen now; `None` if it is new.
    pub(crate) fn find(&mut self, header: &Header) -> Option<FlowId> {
        let key = key_of(header);
        // The flow of the last packet is likely that of the next.
        let index = match self.slots.get(self.newest as usize) {
            Some(slot) if slot.flow.header == key => self.newest,
            _ => {
                let of = |index: &u32| self.slots[*index as usize].flow.header == key;
                *self.by_header.find(hash_of(self.hash, &key), of)?
            }
        };
        self.renew(index);
        Some(FlowId { index, generation: self.slots[index as usize].generation })
    }

    /// Takes in a flow that [`Flows::find`] did not find.
    pub(crate) fn add(&mut self, flow: Flow) -> FlowId {
        let mut flow = Flow { header: key_of(&flow.header), number: self.seen, ..flow };
        self.seen += 1;
        let index = if self.slots.len() < self.most { self.slots.len() as u32 } else { self.forget_oldest() };
        flow.reverse = self.id_of(&reversed(&flow.header));
        let hash = self.hash;
        let key = flow.header;
        let reverse = flow.reverse;
        match self.slots.get_mut(index as usize) {
            Some(slot) => slot.flow = flow,
            None => self.slots.push(Slot { flow, generation: 0, newer: END, older: END }),
        }
        let slots = &self.slots;
        self.by_header
            .insert_unique(hash_of(hash, &key), index, |other| hash_of(hash, &slots[*other as usize].flow.header));
        self.link(index);
        let id = FlowId { index, generation: self.slots[index as usize].generation };
        if let Some(reverse) = reverse.and_then(|reverse| self.get_mut(reverse)) {
            reverse.reverse = Some(id);
        }
        id
    }

    fn id_of(&self, header: &Header) -> Option<FlowId> {
        let of = |index: &u32| self.slots[*index as usize].flow.header == *header;
        let index = *self.by_header.find(hash_of(self.hash, header), of)?;
        Some(FlowId { index, generation: self.slots[index as usize].generation })
    }

    /// The flow, while it is told apart.
    pub(crate) fn get(&self, id: FlowId) -> Option<&Flow> {
        self.slots.get(id.index as usize).filter(|slot| slot.generation == id.generation).map(|slot| &slot.flow)
    }

    pub(crate) fn get_mut(&mut self, id: FlowId) -> Option<&mut Flow> {
        let slot = self.slots.get_mut(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        Some(&mut slot.flow)
    }

    /// The counts of the flow, or those of the others.
    pub(crate) fn counts(&mut self, id: FlowId) -> &mut Counts {
        match self.slots.get_mut(id.index as usize).filter(|slot| slot.generation == id.generation) {
            Some(slot) => &mut slot.flow.counts,
            None => &mut self.others,
        }
    }

    pub(crate) fn name(&self, id: FlowId) -> &Name {
        self.get(id).map_or(&self.others_name, |flow| &flow.name)
    }

    /// The flow and its answers.
    pub(crate) fn reverse_of(&self, id: FlowId) -> Option<FlowId> {
        self.get(id)?.reverse
    }

    /// All flows that are told apart, in no order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Flow> {
        self.slots.iter().map(|slot| &slot.flow)
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Flow> {
        self.slots.iter_mut().map(|slot| &mut slot.flow)
    }

    pub(crate) const fn others(&self) -> &Counts {
        &self.others
    }

    fn renew(&mut self, index: u32) {
        if self.newest != index {
            self.unlink(index);
            self.link(index);
        }
    }

    fn link(&mut self, index: u32) {
        let before = self.newest;
        let slot = &mut self.slots[index as usize];
        (slot.older, slot.newer) = (before, END);
        match self.slots.get_mut(before as usize) {
            Some(slot) => slot.newer = index,
            None => self.oldest = index,
        }
        self.newest = index;
    }

    fn unlink(&mut self, index: u32) {
        let Slot { newer, older, .. } = self.slots[index as usize];
        match self.slots.get_mut(newer as usize) {
            Some(slot) => slot.older = older,
            None => self.newest = older,
        }
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
    }

    /// Frees the place of the flow that was seen least recently.
    fn forget_oldest(&mut self) -> u32 {
        let index = self.oldest;
        self.unlink(index);
        let slot = &mut self.slots[index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        let counts = std::mem::take(&mut slot.flow.counts);
        self.others.merge(&counts);
        let hash = hash_of(self.hash, &slot.flow.header);
        if let Ok(entry) = self.by_header.find_entry(hash, |other| *other == index) {
            entry.remove();
        }
        index
    }
}

/// What tells flows apart: all but the type of service.
const fn key_of(header: &Header) -> Header {
    Header { tos: 0, ..*header }
}

/// The header of answers.
pub(crate) const fn reversed(header: &Header) -> Header {
    Header {
        source: header.destination,
        destination: header.source,
        protocol: header.protocol,
        source_port: header.destination_port,
        destination_port: header.source_port,
        tos: 0,
    }
}

fn hash_of(hash: Hash, header: &Header) -> u64 {
    let mut words = [0; 5];
    for (at, address) in [header.source, header.destination].into_iter().enumerate() {
        let halves = match address {
            Address::V4(bytes) => [u32::from_be_bytes(bytes).into(), 0],
            Address::V6(bytes) => {
                let whole = u128::from_be_bytes(bytes);
                [(whole >> 64) as u64, whole as u64]
            }
            Address::Node(node) => [node.into(), 1],
            Address::Mac([a, b, c, d, e, f]) => [u64::from_be_bytes([0, 1, a, b, c, d, e, f]), 0],
        };
        words[2 * at..2 * at + 2].copy_from_slice(&halves);
    }
    let ports = u64::from(header.source_port) << 16 | u64::from(header.destination_port);
    words[4] = u64::from(header.protocol) << 32 | ports;
    hash.of_fields(&words)
}

/// When packets of a flow were seen.
pub(crate) fn span(counts: &Counts) -> (Time, Time) {
    (counts.first.unwrap_or(Time::ZERO), counts.last)
}
