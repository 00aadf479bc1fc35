//! An object of a user's class: its methods, bound once, and what becomes of what they raise.

use crate::errors::PartError;
use fairq_sched::packet::Packet;
use fairq_sched::reading::{Reading, Unit};
use fairq_sched::units::Time;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::any::Any;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};

/// What a part raised, on its way through the simulator, which knows of no exceptions.
struct Raised(PyErr);

/// Ends the run with `error`: it unwinds to [`guarded`]. No panic hook is called.
pub(super) fn raise(error: PyErr) -> ! {
    panic::resume_unwind(Box::new(Raised(error)))
}

/// The exception that ended what unwound; any other panic goes on.
pub(crate) fn raised(payload: Box<dyn Any + Send>) -> PyErr {
    match payload.downcast::<Raised>() {
        Ok(raised) => raised.0,
        Err(payload) => panic::resume_unwind(payload),
    }
}

/// What `work` gives, or what an own part raised in it.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // What the work had changed is dropped with it.
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(raised(payload)))
}

/// An object of a user's class, which answers for one queue, connection or source.
pub(super) struct Object {
    name: &'static str,
    object: Py<PyAny>,
    readings: Option<Method>,
}

/// A method of it, bound.
pub(super) struct Method {
    bound: Py<PyAny>,
    name: &'static str,
}

impl Object {
    /// An object of `class`, told where it stands.
    pub(super) fn new<'py>(
        py: Python<'py>,
        name: &'static str,
        class: &Py<PyAny>,
        values: &Bound<'py, PyDict>,
        begin: impl IntoPyObject<'py>,
    ) -> Self {
        let made = class.bind(py).call((), Some(values));
        let mut part = Self { name, object: py.None(), readings: None };
        part.object = made.unwrap_or_else(|error| part.fail(py, "__init__", error, &"")).unbind();
        let told = part.object.bind(py).call_method1("begin", (begin,));
        told.unwrap_or_else(|error| part.fail(py, "begin", error, &""));
        part.readings = part.own(py, "readings");
        part
    }

    /// Its method `name`.
    pub(super) fn method(&self, py: Python<'_>, name: &'static str) -> Method {
        let bound = self.object.bind(py).getattr(name);
        Method { bound: bound.unwrap_or_else(|error| self.fail(py, name, error, &"")).unbind(), name }
    }

    /// Its method `name`, if the class has one of its own: those of fairq's classes do nothing.
    pub(super) fn own(&self, py: Python<'_>, name: &'static str) -> Option<Method> {
        let own = self.object.bind(py).call_method1("_has_own", (name,)).and_then(|own| own.is_truthy());
        own.unwrap_or_else(|error| self.fail(py, name, error, &"")).then(|| self.method(py, name))
    }

    pub(super) fn get<'py>(&self, py: Python<'py>, name: &Bound<'py, PyString>) -> Bound<'py, PyAny> {
        let found = self.object.bind(py).getattr(name);
        found.unwrap_or_else(|error| self.fail(py, &name.to_string(), error, &""))
    }

    /// What `method` gives; `about` says what it was given if it raises.
    pub(super) fn call<'py, D: Display>(
        &self,
        py: Python<'py>,
        method: &Method,
        arguments: impl pyo3::call::PyCallArgs<'py>,
        about: impl FnOnce() -> D,
    ) -> Bound<'py, PyAny> {
        match method.bound.bind(py).call1(arguments) {
            Ok(given) => given,
            Err(error) => self.fail(py, method.name, error, &about()),
        }
    }

    /// Ends the run: the part raised `error`. A signal, as Ctrl-C, is no fault of the part.
    #[cold]
    fn fail(&self, py: Python<'_>, method: &str, error: PyErr, about: &dyn Display) -> ! {
        if !error.is_instance_of::<PyException>(py) {
            raise(error);
        }
        let kind = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
        let said = error.value(py).to_string();
        let said = said.lines().next().map_or(String::new(), |line| format!(": {line}"));
        let part = self.error(format!("{method} raised {kind}{said}{about}"));
        part.set_cause(py, Some(error));
        raise(part)
    }

    /// Ends the run: the part did what it may not.
    #[cold]
    pub(super) fn refuse(&self, what: impl Display) -> ! {
        raise(self.error(what.to_string()))
    }

    fn error(&self, what: String) -> PyErr {
        fault(self.name, what)
    }

    /// Ends the run: `method` gave a thing of a wrong kind.
    #[cold]
    pub(super) fn refuse_answer(&self, method: &str, given: &Bound<'_, PyAny>, remedy: &str) -> ! {
        let kind = given.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
        let shown = given.repr().map_or_else(|_| "a thing".to_owned(), |repr| repr.to_string());
        let shown: String = shown.chars().take(40).collect();
        let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let of = if given.is_none() { String::new() } else { format!(", {article} {kind}") };
        self.refuse(format_args!("{method} gave {shown}{of}; return {remedy}"))
    }

    /// Shows the numbers that its `readings` gives, if it has that.
    pub(super) fn show_readings(&self, visit: &mut dyn FnMut(Reading<'_>)) {
        let Some(method) = &self.readings else { return };
        Python::attach(|py| {
            for (name, value) in self.readings(py, method) {
                visit(Reading::real(&name, Unit::None, value));
            }
        });
    }

    fn readings(&self, py: Python<'_>, method: &Method) -> Vec<(String, f64)> {
        let given = self.call(py, method, (), || "");
        let read = || given.cast::<PyDict>().ok()?.iter().map(|pair| pair_of(&pair)).collect::<Option<Vec<_>>>();
        read().unwrap_or_else(|| self.refuse_answer("readings", &given, "a dict of numbers by their names"))
    }

    /// The same for a congestion control.
    pub(super) fn visit_readings(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.show_readings(&mut |reading| visit(reading.name, reading.value.real()));
    }
}

fn pair_of((name, value): &(Bound<'_, PyAny>, Bound<'_, PyAny>)) -> Option<(String, f64)> {
    Some((name.extract().ok()?, value.extract().ok()?))
}

/// The exception for a fault of the part called `name`.
pub(super) fn fault(name: &str, what: String) -> PyErr {
    PartError::new_err((what, name.to_owned(), "", ""))
}

/// The packet that a part was given, for messages.
pub(super) fn given(now: Time, packet: &Packet, flow: impl Display) -> String {
    format!(", given a packet of {} B of flow {flow} at {} s", packet.length, now.as_s())
}
