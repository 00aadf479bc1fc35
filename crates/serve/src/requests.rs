//! Requests, and when they were served.

use fairq_sched::units::Weight;
use std::collections::BTreeMap;

/// Nanoseconds of a second.
pub const NS_PER_S: u64 = 1_000_000_000;

/// A request of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it arrives, in nanoseconds.
    pub at: u64,
    /// Its tenant, by its place in [`Requests::tenants`].
    pub tenant: u32,
    /// The seats that it takes, at least 1.
    pub seats: u32,
    /// How long it takes them, in nanoseconds.
    pub cost: u64,
    /// What is known of its service when it arrives and is no part of the cost, in nanoseconds: the
    /// tokens of a prompt, which the policy `vtc` counts.
    pub size: u64,
}

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: Weight,
    /// Its priority, the greatest first.
    pub priority: u32,
}

/// Requests in the order of their arrivals, and whose they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// The tenants, in the order in which they were named.
    pub tenants: Vec<Tenant>,
    /// The requests; times do not decrease.
    pub all: Vec<Request>,
}

/// Gathers requests and the names of their tenants.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    requests: Requests,
    places: BTreeMap<String, u32>,
    /// The tenant of the last request.
    last: usize,
}

impl Gathered {
    /// The place of the tenant called `name`, which is added if it is new.
    pub(crate) fn tenant(&mut self, name: &str) -> u32 {
        let tenants = &mut self.requests.tenants;
        // The next request is often of the same tenant.
        if tenants.get(self.last).is_none_or(|tenant| tenant.name != name) {
            self.last = self.places.get(name).map_or(tenants.len(), |place| *place as usize);
            if self.last == tenants.len() {
                self.places.insert(name.to_owned(), self.last as u32);
                tenants.push(Tenant { name: name.to_owned(), weight: Weight::ONE, priority: 0 });
            }
        }
        self.last as u32
    }

    pub(crate) fn push(&mut self, request: Request) {
        self.requests.all.push(request);
    }

    pub(crate) fn done(self) -> Requests {
        self.requests
    }
}

/// When requests were served: both lists in the order in which it happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Nanoseconds, and the request by its place, of each start.
    pub starts: Vec<(u64, u32)>,
    /// Of each end.
    pub ends: Vec<(u64, u32)>,
}
