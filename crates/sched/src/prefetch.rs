//! A hint to the processor that some memory will be read soon: with many flows the next packet's
//! state is in no cache, and the miss costs more than all the work on the packet.
//!
//! This is the only unsafe code of the crate. A hint reads nothing and changes nothing but the
//! caches, whatever the address: no result can depend on it. It is left out where the processor has
//! none.

/// Fetches the cache line in which `items[index]` begins. Does nothing if there is no such item.
#[inline(always)]
pub fn fetch<T>(items: &[T], index: u32) {
    fetch_address(items.as_ptr().wrapping_add(index as usize).cast());
}

/// Fetches the first `lines` cache lines of `item`, 64 bytes each.
#[inline(always)]
pub fn fetch_all<T: ?Sized>(item: &T, lines: usize) {
    let begin: *const u8 = core::ptr::from_ref(item).cast();
    (0..lines).for_each(|line| fetch_address(begin.wrapping_add(64 * line)));
}

#[inline(always)]
fn fetch_address(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is no access: it faults at no address, and every processor of the
    // architecture knows it.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
