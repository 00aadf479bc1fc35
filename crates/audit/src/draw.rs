//! Seeded draws, and a note that names the seed when a test fails under it.

use fairq_sched::hash::splitmix;

/// A stream of numbers that its seed fixes: splitmix64.
#[derive(Clone, Debug)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// The stream of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: splitmix(seed) }
    }

    /// Any 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        splitmix(self.state)
    }

    /// A number below `bound`, which is above 0.
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.bits() as u128 * bound as u128) >> 64) as u64
    }

    /// True once in `count` times.
    pub const fn once_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// One of `choices`.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Says what was going on if the test fails while it lives: enough to run the same again.
#[derive(Debug)]
pub struct Replay(pub String);

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with: {}", self.0);
        }
    }
}
