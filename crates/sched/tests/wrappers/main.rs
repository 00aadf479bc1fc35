//! Goal: a wrapper of a discipline, a scheduler, a buffer policy or a marker forwards every method.
//!
//! A method with a default is easily forgotten: the wrapper compiles and answers for the part. Each
//! wrapper is put around spies, which note every call and answer as no default does. Whatever is
//! asked of the wrapper must reach the spy as if the spy had been asked itself, and its answer must
//! come back. `cargo xtask mutants` takes the methods out one by one and expects that a test here
//! fails.

mod composition;
mod disciplines;
mod overflow;
mod parts;
mod questions;
mod spies;

extern crate alloc;

// `forward!` of the crate's own source, expanded here for enums of spies; its paths are these.
use fairq_sched::{change, contract, packet, reading, store, traits, units, waiting};
#[path = "../../src/any.rs"]
#[allow(dead_code, unused_imports, unused_macros)]
mod any;
