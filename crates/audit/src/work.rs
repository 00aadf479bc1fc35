//! What a packet costs each part of the registry, in instructions, with few and with many flows.
//! Counted by the test that [`COUNTED_BY`] runs, which writes the table that is read here.

/// Flows, few and many; log2 doubles between them.
pub const FEW: u32 = 64;
/// See [`FEW`].
pub const MANY: u32 = 4096;

/// The command that counts the instructions of a packet with few and with many flows, and holds
/// them against the cards.
pub const COUNTED_BY: &str = "cargo test --release -p fairq-audit --test work -- --ignored";

/// Instructions of a packet that is sent, with two that come, of which one may be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Mean with few flows.
    pub few: u64,
    /// Mean with many flows.
    pub many: u64,
    /// With few flows: the most expensive eight packets in a row.
    pub dearest_few: u64,
    /// With many flows: the most expensive eight packets in a row.
    pub dearest_many: u64,
}

/// What was counted of the part called `name`, if it was counted.
#[must_use]
pub fn counted(name: &str) -> Option<Counted> {
    let row = include_str!("work.csv").lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(','))?;
    let mut numbers = row.split(',').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Counted { few: next()?, many: next()?, dearest_few: next()?, dearest_many: next()? })
}
