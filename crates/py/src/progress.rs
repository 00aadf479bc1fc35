//! How far a long run has come, told to Python; and Ctrl-C, told to the run.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Calls a Python callable at most ten times a second, and asks for Ctrl-C as often.
pub(crate) struct Progress {
    callable: Option<Py<PyAny>>,
    last: Option<Instant>,
}

impl Progress {
    const GAP: Duration = Duration::from_millis(100);

    pub(crate) fn new(callable: Option<Py<PyAny>>) -> Self {
        Self { callable, last: None }
    }

    /// Tells the fraction done (0 to 1), the simulated seconds and the packet-hops so far.
    ///
    /// # Errors
    ///
    /// What the callable raised, or `KeyboardInterrupt`: the run has to stop and hand it on.
    #[allow(clippy::disallowed_methods, reason = "the edge of the program: no result depends on this clock")]
    pub(crate) fn tell(&mut self, fraction: f64, sim_seconds: f64, packet_hops: u64) -> PyResult<()> {
        let now = Instant::now();
        if self.last.is_some_and(|last| now - last < Self::GAP) {
            return Ok(());
        }
        self.last = Some(now);
        Python::attach(|py| {
            py.check_signals()?;
            match &self.callable {
                Some(callable) => callable.call1(py, (fraction, sim_seconds, packet_hops)).map(drop),
                None => Ok(()),
            }
        })
    }
}
