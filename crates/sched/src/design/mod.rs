//! Whole designs: disciplines that decide all four questions at once.

pub mod cake;
pub mod cake_mq;
pub mod dualpi2;
pub mod fq_codel;
pub mod fq_pie;
pub mod hhf;
pub mod linux_fq;
pub mod linux_sfq;
pub mod pfifo_fast;
pub mod skbprio;
pub mod tos_priority;

use crate::schedule::drr_plus_plus::{self, BUCKETS_MAX};
use crate::units::{Bytes, Limit};
use alloc::string::{String, ToString};

/// How much may wait in a design of hashed queues unless the scenario says otherwise (RFC 8290,
/// section 5.2.1).
const OWN_LIMIT: Limit = Limit::Packets(10_240);

/// The classifier of a design that isolates flows: the five-tuple (RFC 8290, section 4.1).
pub(crate) const FIVE_TUPLE: &str = "port_pair";

/// What is wrong with the queues of the design called `name`.
fn fault_of_queues(name: &str, queues: u32, quantum: Bytes, memory: Bytes) -> Option<String> {
    let fault = |text| Some(name.to_string() + text);
    if !(1..=BUCKETS_MAX).contains(&queues) {
        return fault(": queues is from 1 to 1048576");
    }
    if memory.0 == 0 {
        return fault(": memory is at least 1 B");
    }
    drr_plus_plus::fault_of(name, quantum)
}
