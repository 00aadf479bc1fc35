//! The packets of a capture that are not replayed, by their addresses: a report names those with
//! most packets.

use super::flows::{address, protocol};
use fairq_sched::packet::{Address, Header};
use std::collections::BTreeMap;

/// The most pairs of addresses that are counted; later ones are not, so that memory is bounded.
const PAIRS_MAX: usize = 65_536;

/// Named in a message.
const NAMED: usize = 3;

/// Counts by the two addresses, the lesser first, and the protocol.
#[derive(Default)]
pub(super) struct Strangers {
    pairs: BTreeMap<(Address, Address, u16), u64>,
    pub(super) packets: u64,
}

impl Strangers {
    pub(super) fn count(&mut self, header: &Header) {
        self.packets += 1;
        let (source, destination) = (header.source, header.destination);
        let key = (source.min(destination), source.max(destination), header.protocol);
        if let Some(count) = self.pairs.get_mut(&key) {
            *count += 1;
        } else if self.pairs.len() < PAIRS_MAX {
            self.pairs.insert(key, 1);
        }
    }

    /// `udp between 10.0.0.1 and 10.0.0.2 (12 packets), …`: those with most packets.
    pub(super) fn named(&self) -> String {
        let most = most(self.pairs.iter().map(|(key, count)| (*key, *count)));
        let names = most.into_iter().map(|((one, other, number), count)| {
            let (name, one, other) = (protocol(&one, number), address(&one), address(&other));
            format!("{name} between {one} and {other} ({})", packets(count))
        });
        names.collect::<Vec<_>>().join(", ")
    }

    /// `10.0.0.1 (12 packets), …`: the addresses of hosts with most packets, here and in `other`.
    pub(super) fn hosts(&self, other: &Self) -> String {
        let mut counts: BTreeMap<Address, u64> = BTreeMap::new();
        for ((one, two, _), count) in self.pairs.iter().chain(&other.pairs) {
            for end in [one, two] {
                if is_host(end) {
                    *counts.entry(*end).or_default() += count;
                }
            }
        }
        let names = most(counts.into_iter());
        names
            .into_iter()
            .map(|(host, count)| format!("{} ({})", address(&host), packets(count)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Those with the greatest counts, in the order of their counts and then of their keys.
fn most<K: Ord>(counted: impl Iterator<Item = (K, u64)>) -> Vec<(K, u64)> {
    let mut counted: Vec<_> = counted.collect();
    counted.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    counted.truncate(NAMED);
    counted
}

fn packets(count: u64) -> String {
    if count == 1 { "1 packet".to_owned() } else { format!("{count} packets") }
}

/// Whether it is the IP address of one interface: not of a group, of all, or of none.
fn is_host(of: &Address) -> bool {
    match of {
        Address::V4(bytes) => (1..224).contains(&bytes[0]),
        Address::V6(bytes) => bytes[0] != 0xff && *bytes != [0; 16],
        Address::Mac(_) | Address::Node(_) => false,
    }
}
