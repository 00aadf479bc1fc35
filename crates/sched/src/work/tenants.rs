//! The tenants that are known: which may enter, and which are forgotten.

use super::account::Mean;
use super::records::Place;
use super::{Dispatcher, Refusal};
use crate::contract::Slot;
use crate::units::Weight;

/// A tenant that is known.
pub(super) struct Tenant<T> {
    pub(super) key: T,
    /// Its number among all that ever came.
    pub(super) number: u64,
    pub(super) weight: Weight,
    pub(super) priority: u32,
    pub(super) waiting: u32,
    pub(super) running: u32,
    pub(super) mean: Mean,
    pub(super) record: Option<Place>,
}

impl<T: Ord + Clone, I> Dispatcher<T, I> {
    /// The slot of a tenant that may have one more item waiting.
    pub(super) fn admit(&mut self, tenant: &T, seats: u32) -> Result<Slot, Refusal> {
        if self.is_closed {
            return Err(Refusal::Closed);
        }
        let known = self.slots.get(tenant).copied();
        let line = known.map_or(0, |slot| self.tenants[slot as usize].waiting);
        if seats > self.settings.seats {
            return Err(Refusal::TooWide);
        }
        if line >= self.settings.items_per_tenant_max {
            return Err(Refusal::TenantFull);
        }
        if self.waiting >= self.settings.items_max {
            return Err(Refusal::Full);
        }
        if let Some(slot) = known {
            return Ok(slot);
        }
        if self.slots.len() >= self.settings.tenants_max as usize {
            let (slot, _) = self.idle.pop().ok_or(Refusal::TooManyTenants)?;
            self.release(slot);
        }
        let weight = self.weights.get(tenant).copied().unwrap_or_default();
        let (mean, record) = self.records.recall(tenant);
        let priority = self.priorities.get(tenant).copied().unwrap_or_default();
        let (key, number) = (tenant.clone(), self.came);
        self.came += 1;
        let new = Tenant { key, number, weight, priority, waiting: 0, running: 0, mean, record };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.tenants[slot as usize] = new;
                slot
            }
            None => {
                self.tenants.push(new);
                (self.tenants.len() - 1) as Slot
            }
        };
        self.slots.insert(tenant.clone(), slot);
        Ok(slot)
    }

    /// After an item of a tenant left: whether that has no more here, and whether a busy period has
    /// ended.
    pub(super) fn note_idle(&mut self, slot: Slot) {
        let tenant = &self.tenants[slot as usize];
        let is_idle = tenant.waiting == 0 && tenant.running == 0;
        self.idle.set(slot, is_idle.then(|| self.policy.debt(slot)));
        if self.waiting == 0 && self.running == 0 {
            self.policy.idle();
        }
    }

    /// Forgets a few tenants that have nothing here and owe nothing. A call makes at most one
    /// tenant idle, `drain` aside, so that two a call keep up.
    pub(super) fn forget(&mut self) {
        for _ in 0..2 {
            let Some((slot, finish)) = self.idle.peek() else { break };
            if finish > self.policy.virtual_time() {
                break;
            }
            self.idle.pop();
            self.release(slot);
        }
        if self.slots.is_empty() {
            self.policy.reset();
        }
    }

    /// Gives away the slot of a tenant that has nothing here.
    pub(super) fn release(&mut self, slot: Slot) {
        let tenant = &self.tenants[slot as usize];
        self.slots.remove(&tenant.key);
        self.records.keep(tenant.record, tenant.mean);
        self.policy.forget(slot);
        self.free.push(slot);
    }
}
