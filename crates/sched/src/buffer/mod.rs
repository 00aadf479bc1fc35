//! Buffer policies: which packet is dropped when space is short?

pub mod adaptive_red;
pub mod afd;
pub mod aifo;
pub mod blue;
pub mod choke;
pub mod cobalt;
pub mod codel;
pub mod csfq;
pub(crate) mod default;
pub mod dynamic_threshold;
pub mod fred;
pub mod fuzzball;
pub mod greatest_rank_drop;
pub mod head_drop;
pub mod longest_queue_drop;
pub mod pie;
pub mod rainbow_fq;
pub mod random_drop;
pub mod rate_estimate;
pub mod red;
pub mod sfb;
pub mod tail_drop;
pub mod vwfq;
pub mod with_overflow;
pub mod wred;

use crate::contract::Verdict;
use crate::packet::{Packet, Reason};
use crate::store::Store;
use crate::units::Limit;

/// Refuses a packet that is longer than the whole buffer.
#[inline]
pub(crate) fn refuse_too_long(store: &Store, packet: &Packet) -> Verdict {
    if store.is_too_short_for(packet.length) { Verdict::Drop(Reason::TooLong) } else { Verdict::Pass }
}

/// Tells a packet's sender early: with a mark if there may be marks and the packet accepts one,
/// else by a drop.
const fn early(ecn: bool) -> Verdict {
    if ecn { Verdict::Notify(Reason::Early) } else { Verdict::Drop(Reason::Early) }
}

/// What waits, in the unit of `threshold`.
fn measure(store: &Store, threshold: Limit) -> f64 {
    match threshold {
        Limit::Bytes(_) => store.bytes() as f64,
        Limit::Packets(_) | Limit::Unlimited => store.packets() as f64,
    }
}

/// The number in `threshold`.
const fn number(threshold: Limit) -> f64 {
    match threshold {
        Limit::Packets(number) | Limit::Bytes(number) => number as f64,
        Limit::Unlimited => f64::INFINITY,
    }
}
