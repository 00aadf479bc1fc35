//! What a packet takes of the kernel's memory, its buffer and what describes it: the `truesize` by
//! which Linux's limits on memory count.
//!
//! Source: Linux 6.1 on 64 bits, `__alloc_skb` (skbuff.c) of a frame that a socket sends
//! (`packet_snd`): the room for a link header, the frame and `skb_shared_info` are one block of
//! `kmalloc`, which has a power of two bytes. A driver that receives into pages of its own may take
//! more or less.

/// Room before a frame of Ethernet (`LL_RESERVED_SPACE`).
const HEADROOM: u64 = 16;
/// To how many bytes the parts of a buffer are rounded up (`SKB_DATA_ALIGN`).
const CACHE_LINE: u64 = 64;
/// `skb_shared_info`, rounded up.
const SHARED_INFO: u64 = 320;
/// `sk_buff`, rounded up.
const DESCRIPTION: u64 = 256;

/// The bytes that a packet of `length` takes.
#[must_use]
pub(crate) fn truesize(length: u32) -> u64 {
    let data = (u64::from(length) + HEADROOM).next_multiple_of(CACHE_LINE);
    (data + SHARED_INFO).next_power_of_two() + DESCRIPTION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_a_power_of_two_and_its_description() {
        // 60 + 16 are 128 in cache lines, with 320 more 448; 1514 + 16 are 1536, and 1856.
        assert_eq!([60, 112, 176, 177, 700, 1514].map(truesize), [768, 768, 768, 1280, 2304, 2304]);
        // The last length for each power.
        assert_eq!([1712, 1713].map(truesize), [2304, 4352]);
    }
}
