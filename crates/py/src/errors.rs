//! The one place where an error of the core becomes an exception of Python.
//!
//! Every exception carries one line that names the file, the place in it and what to write instead;
//! the command line prints it as it is.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(fairq._native, FairqError, PyException, "Anything fairq refuses; the message is one clear line.");
create_exception!(fairq._native, UsageError, FairqError, "An argument or a name that is not known.");
create_exception!(fairq._native, ScenarioError, FairqError, "A scenario that cannot be read or run.");
create_exception!(fairq._native, CaptureError, FairqError, "A file that is not a capture, or a broken one.");
create_exception!(fairq._native, TopologyError, FairqError, "A file that is not a topology, or a broken one.");
create_exception!(fairq._native, OutputError, FairqError, "A file or folder that cannot be written.");

/// Adds the exception types to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("FairqError", py.get_type::<FairqError>())?;
    module.add("UsageError", py.get_type::<UsageError>())?;
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("CaptureError", py.get_type::<CaptureError>())?;
    module.add("TopologyError", py.get_type::<TopologyError>())?;
    module.add("OutputError", py.get_type::<OutputError>())
}
