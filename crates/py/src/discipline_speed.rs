//! The speed and the memory of the registry's disciplines beside their floors. Times are CPU times
//! of the calling thread, from Python's clock; memory is what the extension's allocator has given
//! out.

use fairq_bench::{Bench, Measured, Mix, subjects};
use pyo3::prelude::*;

use crate::allocator::ALLOCATOR;
use crate::errors::{FairqError, UsageError};
use crate::progress::Progress;
use crate::speed::cpu_s;

/// What is measured.
#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(crate) struct Options {
    /// Which disciplines; none means all.
    names: Vec<String>,
    /// Mixed weights and sizes in place of equal ones.
    mixed: bool,
    /// Few flows and short runs.
    quick: bool,
}

/// Measures what `options` name.
pub(crate) fn run(options: &Options, told: &mut Progress) -> PyResult<Measured> {
    let found = subjects(&options.names).map_err(UsageError::new_err)?;
    let (flows, exchanges, turns): (&[u32], u64, usize) =
        if options.quick { (&[16, 256], 2_000, 3) } else { (&[16, 256, 4096, 32_768], 200_000, 9) };
    let mut raised = None;
    let mut clock_raised = None;
    let document = Bench {
        flows,
        mix: if options.mixed { Mix::Mixed } else { Mix::Equal },
        exchanges,
        turns,
        clock: &mut || {
            cpu_s().unwrap_or_else(|error| {
                clock_raised = Some(error);
                f64::NAN
            })
        },
        held: &|| Some(ALLOCATOR.allocated()),
        told: &mut |fraction| {
            raised = told.tell(fraction, 0.0, 0).err();
            raised.is_none()
        },
    }
    .run(&found);
    if let Some(error) = raised.or(clock_raised) {
        return Err(error);
    }
    document.ok_or_else(|| FairqError::new_err("the measurement was stopped"))
}
