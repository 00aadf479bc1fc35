//! The numbers of the header. `tests/header.rs` compares each with the header's.

use std::ffi::{CStr, c_int};

/// Done; of an enqueue: the packet is held.
pub const FAIRQ_OK: c_int = 0;
/// The packet is not held.
pub const FAIRQ_DROPPED: c_int = 1;
/// Send this packet now.
pub const FAIRQ_SEND: c_int = 2;
/// Nothing may leave before a time.
pub const FAIRQ_NOT_BEFORE: c_int = 3;
/// Nothing is held.
pub const FAIRQ_EMPTY: c_int = 4;
/// No such packet, no update.
pub const FAIRQ_NONE: c_int = 5;

/// The item asks for more seats than may be taken.
pub const FAIRQ_REFUSED_TOO_WIDE: c_int = 6;
/// Too many items wait.
pub const FAIRQ_REFUSED_FULL: c_int = 7;
/// Too many items of the tenant wait.
pub const FAIRQ_REFUSED_TENANT_FULL: c_int = 8;
/// Too many tenants have items here.
pub const FAIRQ_REFUSED_TOO_MANY_TENANTS: c_int = 9;
/// The dispatcher was closed.
pub const FAIRQ_REFUSED_CLOSED: c_int = 10;

/// The cost of an item is not known.
pub const FAIRQ_COST_UNKNOWN: u64 = u64::MAX;

/// A pointer that is needed is NULL.
pub const FAIRQ_ERROR_NULL: c_int = -1;
/// The text is no discipline, or no policy.
pub const FAIRQ_ERROR_TEXT: c_int = -2;
/// The rate is out of range.
pub const FAIRQ_ERROR_RATE: c_int = -3;
/// The weight is out of range.
pub const FAIRQ_ERROR_WEIGHT: c_int = -4;
/// The kind of an address is not known.
pub const FAIRQ_ERROR_ADDRESS: c_int = -5;
/// The time is before that of an earlier call, or too late.
pub const FAIRQ_ERROR_TIME: c_int = -6;
/// An earlier call found a fault in fairq.
pub const FAIRQ_ERROR_BROKEN: c_int = -7;
/// The discipline cannot change so.
pub const FAIRQ_ERROR_CHANGE: c_int = -8;

/// A node of a network, by number.
pub const FAIRQ_NODE: u8 = 0;
/// IPv4.
pub const FAIRQ_IPV4: u8 = 1;
/// IPv6.
pub const FAIRQ_IPV6: u8 = 2;
/// Ethernet.
pub const FAIRQ_MAC: u8 = 3;

/// DECbit's mark.
pub const FAIRQ_MARK_DEC: u8 = fairq_sched::packet::Marks::DEC.0;
/// The mark of the fair queueing gateway of 1990.
pub const FAIRQ_MARK_FQ: u8 = fairq_sched::packet::Marks::FQ.0;
/// ECN's mark.
pub const FAIRQ_MARK_CE: u8 = fairq_sched::packet::Marks::CE.0;

/// The packet is no longer held.
pub const FAIRQ_FATE_DROPPED: u8 = 1;
/// The packet was marked and is held.
pub const FAIRQ_FATE_MARKED: u8 = 2;

/// A number of things that the name says, or a ratio.
pub const FAIRQ_UNIT_NONE: u8 = 0;
/// Packets.
pub const FAIRQ_UNIT_PACKETS: u8 = 1;
/// Bytes.
pub const FAIRQ_UNIT_BYTES: u8 = 2;
/// Seconds.
pub const FAIRQ_UNIT_SECONDS: u8 = 3;
/// Bit/s.
pub const FAIRQ_UNIT_BIT_PER_S: u8 = 4;

/// A whole number, exact.
pub const FAIRQ_VALUE_COUNT: u8 = 1;
/// Any other number.
pub const FAIRQ_VALUE_REAL: u8 = 2;

/// The latest time; beyond it sums of times might not fit.
pub const FAIRQ_TIME_MAX: u64 = u64::MAX / 4;

/// What a code means.
pub(crate) const fn message(code: c_int) -> &'static CStr {
    match code {
        FAIRQ_OK => c"done",
        FAIRQ_DROPPED => c"the packet was dropped",
        FAIRQ_SEND => c"send the packet now",
        FAIRQ_NOT_BEFORE => c"packets are held, but none may leave yet",
        FAIRQ_EMPTY => c"nothing is held",
        FAIRQ_NONE => c"there is none",
        FAIRQ_REFUSED_TOO_WIDE => c"the item asks for more seats than may be taken",
        FAIRQ_REFUSED_FULL => c"too many items wait",
        FAIRQ_REFUSED_TENANT_FULL => c"too many items of this tenant wait",
        FAIRQ_REFUSED_TOO_MANY_TENANTS => c"too many tenants have items here",
        FAIRQ_REFUSED_CLOSED => c"the server takes no more items",
        FAIRQ_ERROR_NULL => c"a pointer that is needed is NULL",
        FAIRQ_ERROR_TEXT => c"the text is no discipline, or no policy",
        FAIRQ_ERROR_RATE => c"a rate is above zero and at most 10 Tbit/s",
        FAIRQ_ERROR_WEIGHT => c"a weight is from 1 to 1000000000 thousandths",
        FAIRQ_ERROR_ADDRESS => c"the kind of an address is FAIRQ_NODE, FAIRQ_IPV4, FAIRQ_IPV6 or FAIRQ_MAC",
        FAIRQ_ERROR_TIME => c"a time is not before that of an earlier call, and at most FAIRQ_TIME_MAX",
        FAIRQ_ERROR_BROKEN => c"a fault in fairq was met; free what it was in and report what was done",
        FAIRQ_ERROR_CHANGE => c"the discipline knows no weights, or not this change; nothing has changed",
        _ => c"there is no such code",
    }
}
