//! The policies of a dispatcher: each beside a slow one of its own, its bound, and what holds for
//! all of them.

mod all;
mod bounds;
mod hands;
mod order;
mod slow;
mod slow_fair;
#[cfg(feature = "std")]
mod threads;
mod vtc;

use fairq_sched::units::Weight;
use fairq_sched::work::Settings;

/// No limit but the seats.
fn unlimited(seats: u32) -> Settings {
    let all = u32::MAX;
    Settings { seats, items_max: all, items_per_tenant_max: all, tenants_max: all, ..Settings::default() }
}

fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight")
}
