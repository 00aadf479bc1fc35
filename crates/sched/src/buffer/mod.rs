//! Buffer policies: who loses when space is short?

pub mod codel;
pub mod csfq;
pub mod dynamic_threshold;
pub mod fuzzball;
pub mod longest_queue_drop;
pub mod pie;
pub mod rainbow_fq;
pub mod rate_estimate;
pub mod tail_drop;
pub(crate) mod usual;
pub mod vwfq;
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
