//! Buffer policies: who loses when space is short?

pub mod aifo;
pub mod greatest_rank_drop;
pub mod longest_queue_drop;
pub mod tail_drop;
pub mod with_overflow;

use crate::contract::Verdict;
use crate::packet::{Packet, Reason};
use crate::store::Store;
use crate::units::Limit;

/// Refuses a packet that is longer than the whole buffer.
fn refuse_too_long(store: &Store, packet: &Packet) -> Verdict {
    match store.limit() {
        Limit::Bytes(bytes) if u64::from(packet.length) > bytes => Verdict::Drop(Reason::TooLong),
        _ => Verdict::Pass,
    }
}
