//! How far a long run has come, told to Python; and Ctrl-C, told to the run.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::own::raised;
use pyo3::prelude::*;

/// What `work` gives, done on a thread of its own so that signals are heard meanwhile: a network is
/// built without a look at them.
///
/// # Errors
/// What a handler of a signal raised, when the thread is left alone and ends by itself; or an own
/// part.
pub(crate) fn heard<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    heard_or(py, work, |raised, _| raised)
}

/// As [`heard`]; when a handler raised something, `so_far` is given that and a way to wait for a
/// moment for what the work gives, and says what is raised.
pub(crate) fn heard_or<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    so_far: impl FnOnce(PyErr, &mut dyn FnMut() -> Option<T>) -> PyErr,
) -> PyResult<T> {
    let (send, receive) = channel();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || drop(send.send(work())))?;
    let mut receive = Some(receive);
    let mut wait = |gap| {
        let mine = receive.take()?;
        let (mine, given) = py.detach(move || {
            let given = mine.recv_timeout(gap);
            (mine, given)
        });
        receive = Some(mine);
        Some(given)
    };
    loop {
        match wait(Progress::GAP) {
            Some(Ok(given)) => return Ok(given),
            Some(Err(RecvTimeoutError::Timeout)) => {
                if let Err(raised) = py.check_signals() {
                    return Err(so_far(raised, &mut || wait(MOMENT)?.ok()));
                }
            }
            Some(Err(RecvTimeoutError::Disconnected)) | None => match thread.join() {
                Err(panic) => return Err(raised(panic)),
                Ok(()) => unreachable!("the thread sends before it ends"),
            },
        }
    }
}

/// How long a run that was told to stop is waited for: Ctrl-C is answered within a second.
const MOMENT: Duration = Duration::from_millis(700);

/// Bytes of the thread's stack, as many as the main thread has: tables of a text may be deeply
/// nested.
const STACK: usize = 8 << 20;

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
