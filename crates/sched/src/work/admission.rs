//! What is asked for an item at the door, and why it may be turned away.

use core::fmt;

/// What an item asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// How many seats it takes; 0 counts as 1.
    pub seats: u32,
    /// What it is thought to cost, in the unit of costs. Without it the mean of its tenant's last
    /// items stands for it, else the mean of the last items of all, else
    /// [`Settings::guess`](super::Settings::guess).
    pub guess: Option<u64>,
}

impl Default for Ask {
    fn default() -> Self {
        Self { seats: 1, guess: None }
    }
}

/// Why an item is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It asks for more seats than may be taken: all, or the depth of its policy.
    TooWide,
    /// As many items wait as may.
    Full,
    /// As many items of its tenant wait as may.
    TenantFull,
    /// As many tenants have items here, waiting or running, as may be known.
    TooManyTenants,
    /// The dispatcher was closed.
    Closed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooWide => "the item asks for more seats than may be taken",
            Self::Full => "too many items wait",
            Self::TenantFull => "too many items of this tenant wait",
            Self::TooManyTenants => "too many tenants have items here",
            Self::Closed => "the server takes no more items",
        })
    }
}

impl core::error::Error for Refusal {}

/// An item that was not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused<I> {
    /// The item, handed back.
    pub item: I,
    /// Why.
    pub why: Refusal,
}

impl<I> fmt::Display for Refused<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl<I: fmt::Debug> core::error::Error for Refused<I> {}
