//! The priority that a Linux router gives a packet by its type of service, and the bands of
//! priorities.
//!
//! Source: Linux 6.1, `ip_forward` (`rt_tos2priority`, the table `ip_tos2prio` of route.c), which
//! looks at two bits of the byte, and `prio2band` of sch_generic.c.

/// How many priorities there are (`TC_PRIO_MAX` + 1).
pub(crate) const PRIORITIES: usize = 16;

/// Best effort, bulk, interactive, interactive bulk: by the two bits that ask for little delay and
/// for much throughput.
const BY_BITS: [u8; 4] = [0, 2, 6, 4];

/// The band of each priority where nothing is said, of `pfifo_fast`, `prio` and `fq`.
pub(crate) const PRIOMAP: [u8; PRIORITIES] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

/// The priority of a packet of this type of service.
pub(crate) const fn priority(tos: u8) -> u8 {
    BY_BITS[(tos >> 3 & 3) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_priority_is_that_of_the_table_of_linux() {
        // `ip_tos2prio` has 16 entries, by the four bits of 0x1e; the lowest of them is ECN's.
        let table = [0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4];
        for tos in 0..=u8::MAX {
            assert_eq!(priority(tos), table[usize::from((tos & 0x1e) >> 1)], "{tos:#04x}");
        }
        // Expedited forwarding, little delay, much throughput, ECT(0).
        assert_eq!([0xb8, 0x10, 0x08, 0x02].map(priority), [4, 6, 2, 0]);
    }
}
