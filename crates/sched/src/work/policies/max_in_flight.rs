//! A limit of items in flight by share: a tenant with more than its share of the items that run is
//! noisy, and items of the others start first.
//!
//! Use when: you want the rule of a cloud queue: what it keeps away, and what it does not. It acts
//! only when many items run at once.
//! Source: Amazon SQS, Developer Guide, "How Amazon SQS fair queues work" (as of 2025): a tenant is
//! noisy that has more than 10% of the messages in flight and at least 30 of its own.
//! Rules: the item that was admitted first starts next, of those whose tenant is not noisy; if all
//! that wait are noisy, that of the noisy tenant with the fewest items that run.
//! Departs: the guide also calls a tenant noisy whose recent share of the processing time is above
//! 10%, without saying how recent; that is left out. In the queue a tenant stays noisy until its
//! backlog is gone or it has sent nothing for five minutes; here as long as the rule holds.
//! Chosen: noisy tenants with equally many items that run start in the order of admission. An item
//! for which too few seats are free keeps all others waiting until it fits.
//! Cost: O((1 + k) log N) for a start, N tenants, k the noisy ones that wait: fewer than 1/share
//! and at most D/least. O(log N) for every other call.
//! Bound: none for service. No item of a noisy tenant starts while one of a tenant waits that is
//! not (policies/order.rs: no_noisy_tenant_starts_an_item_while_another_one_waits).

use crate::contract::Slot;
use crate::heap::Heap;
use crate::part::settings;
use crate::slots::entry;
use crate::units::Weight;
use crate::work::amount::Part;
use crate::work::policy::{Charge, Head, Line, Policy};
use crate::work::registry::PolicyPart;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Which tenants are noisy.
    pub struct Settings {
        /// The share of the items that run which a tenant may have.
        pub share: Part = TENTH,
        /// How many items a tenant that is noisy runs at least.
        pub least: u32 = 30,
    }
}

// The share of the guide.
const TENTH: Part = match Part::from_thousandths(100) {
    Some(part) => part,
    None => panic!("a tenth is a part"),
};

impl PolicyPart for Settings {
    fn variants() -> Vec<Self> {
        let half = Part::from_thousandths(500).unwrap_or(TENTH);
        vec![Self { share: TENTH, least: 1 }, Self { share: half, least: 2 }]
    }
}

/// Of a line that waits: its line, the place of its first item in the order of admission, the seats
/// of that.
type Waiting = (Line, (u64, u32));

/// The policy.
#[derive(Clone, Debug)]
pub struct MaxInFlight {
    settings: Settings,
    heads: Heap<(u64, u32)>,
    /// The items of each line that run.
    running: Vec<u32>,
    /// All of them.
    total: u32,
    /// Noisy lines that were looked at, to be put back: kept for its memory.
    aside: Vec<Waiting>,
}

impl MaxInFlight {
    /// The policy of these settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), heads: Heap::new(), running: Vec::new(), total: 0, aside: Vec::new() }
    }

    fn running(&self, line: Line) -> u32 {
        self.running.get(line as usize).copied().unwrap_or(0)
    }

    fn is_noisy(&self, line: Line) -> bool {
        let running = self.running(line);
        let (own, share) = (u64::from(running) * u64::from(Weight::ONE.thousandths()), self.settings.share);
        running >= self.settings.least && own > u64::from(share.thousandths()) * u64::from(self.total)
    }

    /// The line whose turn it is, whether its first item fits or not.
    fn first(&mut self) -> Option<Waiting> {
        while let Some((line, key)) = self.heads.peek().filter(|(line, _)| self.is_noisy(*line)) {
            self.heads.pop();
            self.aside.push((line, key));
        }
        let quiet = self.heads.peek();
        let fewest = self.aside.iter().copied().min_by_key(|(line, key)| (self.running(*line), *key));
        while let Some((line, key)) = self.aside.pop() {
            self.heads.push(line, key);
        }
        quiet.or(fewest)
    }
}

impl Policy for MaxInFlight {
    fn head(&mut self, line: Line, head: Option<&Head>) {
        self.heads.set(line, head.map(|head| (head.serial, head.seats)));
    }

    fn next(&mut self, free: u32) -> Option<Line> {
        let (line, (_, seats)) = self.first()?;
        (seats <= free).then_some(line)
    }

    fn started(&mut self, line: Line, head: &Head) -> Charge {
        *entry(&mut self.running, line, 0) += 1;
        self.total += 1;
        Charge::new(head, head.guess)
    }

    fn ended(&mut self, line: Line, _: &Charge, _: Weight) {
        *entry(&mut self.running, line, 0) -= 1;
        self.total -= 1;
    }

    fn forget(&mut self, tenant: Slot) {
        *entry(&mut self.running, tenant, 0) = 0;
    }
}
