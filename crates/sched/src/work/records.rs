//! What is kept of tenants beyond their stay: how long their items waited, and what they cost on
//! average. Of more tenants than may be kept those go whose last start is the longest ago, so that
//! a flood of new names takes a bounded room.

use super::account::Mean;
use crate::heap::Heap;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// How long items waited from their admission to their start, in the unit of
/// [`tell_time`](super::Dispatcher::tell_time). Items that were taken out before they started are
/// not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// How many items have started.
    pub started: u64,
    /// How long they waited, all together; with `started` this gives the mean.
    pub sum: u128,
    /// The longest that one of them waited.
    pub max: u64,
}

impl Waited {
    fn note(&mut self, waited: u64) {
        self.started += 1;
        self.sum = self.sum.saturating_add(u128::from(waited));
        self.max = self.max.max(waited);
    }
}

/// Where the record of a tenant was; it may be another's by now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    index: u32,
    /// The number of the record among all records ever begun.
    serial: u64,
}

struct Record<T> {
    serial: u64,
    tenant: T,
    waited: Waited,
    mean: Mean,
}

/// The records of the tenants that started an item last.
pub(super) struct Records<T> {
    max: usize,
    places: BTreeMap<T, u32>,
    records: Vec<Record<T>>,
    /// The records by the number of the last start.
    oldest: Heap<u64>,
    begun: u64,
    /// The waits of all tenants, kept or not.
    pub(super) all: Waited,
}

impl<T: Ord + Clone> Records<T> {
    pub(super) fn new(max: u32) -> Self {
        Self {
            max: max as usize,
            places: BTreeMap::new(),
            records: Vec::new(),
            oldest: Heap::new(),
            begun: 0,
            all: Waited::default(),
        }
    }

    /// The mean cost of the items of a tenant that comes back, and where its record is.
    pub(super) fn recall(&self, tenant: &T) -> (Mean, Option<Place>) {
        let Some(&index) = self.places.get(tenant) else { return (Mean::default(), None) };
        let record = &self.records[index as usize];
        (record.mean, Some(Place { index, serial: record.serial }))
    }

    /// The mean cost of the items of a tenant that leaves.
    pub(super) fn keep(&mut self, place: Option<Place>, mean: Mean) {
        if let Some(index) = self.index(place) {
            self.records[index as usize].mean = mean;
        }
    }

    /// An item of `tenant`, whose record was at `place`, starts after so long; where its record is.
    pub(super) fn start(&mut self, tenant: &T, place: Option<Place>, waited: u64) -> Option<Place> {
        self.all.note(waited);
        let index = match self.index(place) {
            Some(index) => index,
            None => self.begin(tenant)?,
        };
        let record = &mut self.records[index as usize];
        record.waited.note(waited);
        self.oldest.push(index, self.all.started);
        Some(Place { index, serial: record.serial })
    }

    pub(super) fn get(&self, tenant: &T) -> Option<Waited> {
        self.places.get(tenant).map(|index| self.records[*index as usize].waited)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&T, Waited)> {
        self.places.iter().map(|(tenant, index)| (tenant, self.records[*index as usize].waited))
    }

    fn index(&self, place: Option<Place>) -> Option<u32> {
        let Place { index, serial } = place?;
        (self.records[index as usize].serial == serial).then_some(index)
    }

    /// A record for a tenant that has none, if any are kept.
    fn begin(&mut self, tenant: &T) -> Option<u32> {
        self.begun += 1;
        let new =
            Record { serial: self.begun, tenant: tenant.clone(), waited: Waited::default(), mean: Mean::default() };
        let index = if self.records.len() < self.max {
            self.records.push(new);
            (self.records.len() - 1) as u32
        } else {
            let (index, _) = self.oldest.pop()?;
            let old = core::mem::replace(&mut self.records[index as usize], new);
            self.places.remove(&old.tenant);
            index
        };
        self.places.insert(tenant.clone(), index);
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tenants_that_started_last_are_kept_and_the_others_only_in_the_sum() {
        let mut records = Records::new(2);
        let first = records.start(&'a', None, 5);
        records.start(&'b', None, 1);
        records.start(&'a', first, 9);
        records.start(&'c', None, 0);
        let kept: Vec<_> = records.iter().map(|(tenant, waited)| (*tenant, waited)).collect();
        assert_eq!(kept, [('a', Waited { started: 2, sum: 14, max: 9 }), ('c', Waited { started: 1, sum: 0, max: 0 })]);
        assert_eq!((records.get(&'b'), records.all), (None, Waited { started: 4, sum: 15, max: 9 }));
    }

    #[test]
    fn a_record_that_went_to_another_is_neither_read_nor_written() {
        let mut records = Records::new(1);
        let mut mean = Mean::default();
        mean.note(7);
        let gone = records.start(&'a', None, 5);
        let place = records.start(&'b', None, 2);
        records.keep(gone, mean);
        assert_eq!(records.recall(&'b').0, Mean::default());
        records.keep(place, mean);
        assert_eq!(records.recall(&'b').0, mean);
        records.start(&'a', gone, 1);
        assert_eq!((records.get(&'a').map(|waited| waited.sum), records.get(&'b')), (Some(1), None));
    }

    #[test]
    fn with_no_room_only_the_sum_is_kept() {
        let mut records = Records::new(0);
        assert!(records.start(&'a', None, 5).is_none());
        assert_eq!((records.all.sum, records.iter().count()), (5, 0));
    }
}
