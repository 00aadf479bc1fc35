//! A count for each flow of what happens to few of them: it takes no room before it has happened to one.

/// Counts by flow.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Empty until something is counted.
    counts: Vec<u64>,
    flows: usize,
}

impl Tally {
    /// Nothing was counted of any of `flows`.
    #[must_use]
    pub const fn new(flows: usize) -> Self {
        Self { counts: Vec::new(), flows }
    }

    /// Counts one of `flow`.
    pub fn count(&mut self, flow: u32) {
        if self.counts.is_empty() {
            self.counts = vec![0; self.flows];
        }
        self.counts[flow as usize] += 1;
    }

    /// What was counted of flow number `flow`.
    #[must_use]
    pub fn of(&self, flow: usize) -> u64 {
        self.counts.get(flow).copied().unwrap_or(0)
    }

    /// Adds what `other` counted, of as many flows.
    pub fn add(&mut self, other: &Self) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
        } else {
            self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }
}
