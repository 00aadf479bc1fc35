//! The policies, each in a file of its own; `registry.rs` has the list.

pub mod apf;
pub mod drr;
pub mod fcfs;
pub mod max_in_flight;
pub mod round_robin;
pub mod sfq_d;
pub mod strict_priority;
pub mod vtc;
pub mod wfq;

use super::policy::Line;
use crate::heap::Heap;

/// The first of `heads`, whose keys end with the seats of the first item, if that fits. One that
/// does not fit keeps those after it from starting: else items that take several seats could wait
/// without end.
fn first_that_fits<K: Copy + Ord>(heads: &Heap<(K, u32)>, free: u32) -> Option<Line> {
    let (line, (_, seats)) = heads.peek()?;
    (seats <= free).then_some(line)
}
