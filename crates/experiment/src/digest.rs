//! The name of what a run gives, and of the contents of files.

use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// The version of what runs give: it rises when the values of the fixed runs move
/// (`tests/values.txt`), so that results of before and after are never taken for the same.
pub const RESULTS_VERSION: u32 = 3;

/// The name of what a run gives: 32 hexadecimal digits over the resolved scenario at its point, the
/// contents of the files it names, its seed and [`RESULTS_VERSION`]. Title, description, axes, the
/// number of replications and what is kept beside the counts change no value and are left out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(u128);

impl Digest {
    /// The first 128 bits of SHA-256.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let hash = Sha256::digest(bytes);
        Self(hash.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let number = u128::from_str_radix(text, 16).ok().filter(|_| is_hex);
        number.map(Self).ok_or_else(|| format!("{text}: a digest has 32 hexadecimal digits, in small letters"))
    }
}
