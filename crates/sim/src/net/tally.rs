//! Counts by flow of a rare event. They take no memory until the event happens for the first time.

/// Counts by flow.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Empty until the first count.
    counts: Vec<u64>,
    flows: usize,
}

impl Tally {
    /// Counts of zero for each of `flows`.
    #[must_use]
    pub const fn new(flows: usize) -> Self {
        Self { counts: Vec::new(), flows }
    }

    /// Adds one to the count of `flow`.
    pub fn count(&mut self, flow: u32) {
        if self.counts.is_empty() {
            self.counts = vec![0; self.flows];
        }
        self.counts[flow as usize] += 1;
    }

    /// The count of flow number `flow`.
    #[must_use]
    pub fn of(&self, flow: usize) -> u64 {
        self.counts.get(flow).copied().unwrap_or(0)
    }

    /// Adds the counts of `other`, which has the same flows.
    pub fn add(&mut self, other: &Self) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
        } else {
            self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// Sets all counts to zero.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }
}
