//! Four own parts, each a file, and the list of them.

pub mod aimd;
pub mod metronome;
pub mod plain_drop;
pub mod shortest_queue;

use fairq_experiment::scenario::own::OwnParts;
use std::sync::Arc;

/// All parts of this crate.
#[must_use]
pub fn parts() -> OwnParts {
    OwnParts {
        queue: vec![Arc::new(shortest_queue::Part), Arc::new(plain_drop::Part)],
        flow: vec![Arc::new(aimd::Part), Arc::new(metronome::Part)],
    }
}
