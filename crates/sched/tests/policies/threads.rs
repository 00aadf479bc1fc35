//! Every policy between threads, some of whose jobs panic.

use super::unlimited;
use fairq_sched::work::registry::{POLICIES, PolicySettings};
use fairq_sched::work::{Ask, Shared};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

const THREADS: u32 = 4;
const ITEMS: u32 = 600;

#[test]
fn with_every_policy_seats_add_up_under_jobs_that_panic() {
    for policy in POLICIES.iter().flat_map(|card| PolicySettings::variants(card.name)) {
        let server = Shared::with_policy(unlimited(THREADS), policy.build(), || 0);
        let (busy, done) = (AtomicU32::new(0), AtomicU32::new(0));
        for item in 0..ITEMS {
            server.push(&(item % 7), Ask::default(), item).expect("no limit");
        }
        server.close();
        let work = || {
            while let Some((seat, item)) = server.next() {
                assert!(busy.fetch_add(1, Ordering::SeqCst) < THREADS, "{policy:?}: more items than seats");
                let job = catch_unwind(AssertUnwindSafe(|| {
                    seat.progress(1);
                    if item % 3 == 0 {
                        // As a panic, without the message of one.
                        resume_unwind(Box::new(()));
                    }
                }));
                busy.fetch_sub(1, Ordering::SeqCst);
                done.fetch_add(1, Ordering::SeqCst);
                match job {
                    Ok(()) => seat.complete(u64::from(item % 5)),
                    Err(_) => drop(seat),
                }
            }
        };
        std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
        assert_eq!(done.into_inner(), ITEMS, "{policy:?}");
        let left = server.with(|dispatcher| (dispatcher.seats_taken(), dispatcher.waiting(), dispatcher.running()));
        assert_eq!(left, (0, 0, 0), "{policy:?}");
    }
}
