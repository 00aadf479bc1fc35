//! The buffers that lines share, and which packets are in them.

use fairq_sched::contract::Handle;
use fairq_sched::packet::{Address, Header};
use fairq_sched::pool::{Answer, Pool, Record, Ticket, precedence};

/// The pools of a network. Packets are named by their id in the arena.
#[derive(Default)]
pub struct Pools {
    pools: Vec<Pool>,
    /// By line: its pool.
    of_line: Vec<Option<u32>>,
    /// By packet: its line and its ticket, while it waits at a line that shares a pool.
    tickets: Vec<Option<(u32, Ticket)>>,
}

impl Pools {
    /// Empty `pools`; `of_line` gives the pool of each line.
    #[must_use]
    pub const fn new(pools: Vec<Pool>, of_line: Vec<Option<u32>>) -> Self {
        Self { pools, of_line, tickets: Vec::new() }
    }

    /// Whether `line` shares a pool.
    #[must_use]
    #[inline]
    pub fn has(&self, line: u32) -> bool {
        !self.pools.is_empty() && self.of_line[line as usize].is_some()
    }

    /// What to do with a packet of `length` bytes that arrives for `line`. A packet that is to be
    /// evicted has left the pool; its queue finds it by its handle.
    pub fn ask(&mut self, line: u32, header: &Header, length: u32) -> Answer {
        match self.pool(line) {
            Some(pool) => pool.ask(&record(line, header, length)),
            None => Answer::Join,
        }
    }

    /// The packet `id` waits at `line`, which shares a pool, and is called `handle` there.
    pub fn joined(&mut self, id: u32, line: u32, header: &Header, length: u32, handle: Handle) {
        let Some(pool) = self.pool(line) else { return };
        let ticket = pool.joined(record(line, header, length), handle);
        if self.tickets.len() <= id as usize {
            self.tickets.resize(id as usize + 1, None);
        }
        self.tickets[id as usize] = Some((line, ticket));
    }

    /// The packet `id` was evicted; its pool knows that already.
    pub fn evicted(&mut self, id: u32) {
        self.tickets[id as usize] = None;
    }

    /// The packet `id` no longer waits; it need not have waited at a line with a pool.
    #[inline]
    pub fn left(&mut self, id: u32) {
        if let Some(place) = self.tickets.get_mut(id as usize)
            && let Some((line, ticket)) = place.take()
            && let Some(pool) = self.pool(line)
        {
            pool.left(ticket);
        }
    }

    /// Each pool, for its occupancy and limits, with the lines that share it.
    pub fn books(&self) -> impl Iterator<Item = (&Pool, impl Iterator<Item = usize>)> {
        self.pools.iter().enumerate().map(|(at, pool)| {
            let lines = self.of_line.iter().enumerate();
            (pool, lines.filter(move |(_, of)| **of == Some(at as u32)).map(|(line, _)| line))
        })
    }

    fn pool(&mut self, line: u32) -> Option<&mut Pool> {
        let number = self.of_line[line as usize]?;
        self.pools.get_mut(number as usize)
    }
}

/// A packet as its pool sees it. Its host is the one that sent it.
fn record(line: u32, header: &Header, length: u32) -> Record {
    let Address::Node(host) = header.source else { unreachable!("addresses of the simulator are nodes") };
    Record { line, host, length, precedence: precedence(header.tos) }
}
