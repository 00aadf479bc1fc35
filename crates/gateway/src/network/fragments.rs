//! Later fragments of a datagram have no ports: they are of the flow of the first.

use crate::packet::Fragment;
use fairq_sched::packet::Header;

/// Datagrams whose fragments are waited for at most.
const DATAGRAMS_MAX: usize = 256;

/// Ports of datagrams in pieces, of those whose first piece came last.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    known: Vec<(Header, u32)>,
    /// The place of the next one.
    next: usize,
}

impl Fragments {
    /// The header of a packet, with the ports of the first fragment of its datagram if it is a
    /// later one. One that comes before the first stays without ports.
    pub(super) fn whole(&mut self, header: &Header, fragment: Option<Fragment>) -> Header {
        let Some(Fragment { id, is_first }) = fragment else { return *header };
        if is_first {
            let known = (*header, id);
            match self.known.get_mut(self.next) {
                Some(place) => *place = known,
                None => self.known.push(known),
            }
            self.next = (self.next + 1) % DATAGRAMS_MAX;
            return *header;
        }
        let of = |known: &&(Header, u32)| {
            let ends = |header: &Header| (header.source, header.destination, header.protocol);
            known.1 == id && ends(&known.0) == ends(header)
        };
        // The newest first: identifications come again.
        let (older, newer) =
            (&self.known[..self.next.min(self.known.len())], &self.known[self.next.min(self.known.len())..]);
        let first = older.iter().rev().chain(newer.iter().rev()).find(of);
        first.map_or(*header, |(first, _)| Header {
            source_port: first.source_port,
            destination_port: first.destination_port,
            ..*header
        })
    }
}
