//! What the extension allocates with.

use cap::Cap;
use mimalloc::MiMalloc;

/// Counts, and limits nothing: a scenario allocates nothing per packet, so that a count costs it
/// nothing. Below the count is mimalloc, for its huge pages.
#[global_allocator]
pub(crate) static ALLOCATOR: Cap<MiMalloc> = Cap::new(MiMalloc, usize::MAX);
