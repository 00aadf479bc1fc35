//! Parts that are classes of a user's Python: what they are called, their settings, and what builds
//! their objects. The classes they derive from are those of `fairq.core.parts`.
//!
//! A part runs with the interpreter's lock held, on one thread. What it raises unwinds through the
//! simulator, which knows of no exceptions, and is the exception of the whole call (object.rs).

mod control;
mod discipline;
mod object;
mod policy;
mod rank;
mod scheduler;
pub(crate) mod shown;
mod source;

use crate::errors::UsageError;
use fairq_experiment::scenario::own::OwnParts;
use fairq_sched::card::Invariant;
use fairq_sched::contract::{BufferPolicy, Discipline as Queueing, Line, Scheduler as Scheduling};
use fairq_sched::facts::{Facts, Overflow};
use fairq_sched::own::{MakeQueue, OwnPart, Place, Setting, Value};
use fairq_sched::queue::Queue;
use fairq_sched::units::Bytes;
use fairq_sim::own::MakeFlow;
use fairq_sim::traffic::Source as Emitting;
use fairq_sim::traffic::registry::Context;
use fairq_sim::transport::congestion::{Beginning, Congestion};
use object::{Object, raise};
pub(crate) use object::{guarded, raised};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The own parts of an experiment.
#[derive(Default)]
pub(crate) struct Own {
    /// As `fairq.core.own.Own` has them: it can be pickled.
    given: Option<Py<PyAny>>,
    pub(crate) parts: OwnParts,
}

impl Own {
    /// Those of an `Own` of Python; none of None.
    pub(crate) fn of(py: Python<'_>, given: Option<Py<PyAny>>) -> PyResult<Arc<Self>> {
        Self::read(py, given, true)
    }

    /// The same for an audit, which checks them itself.
    pub(crate) fn audited(py: Python<'_>, given: Option<Py<PyAny>>) -> PyResult<Arc<Self>> {
        Self::read(py, given, false)
    }

    fn read(py: Python<'_>, given: Option<Py<PyAny>>, is_checked: bool) -> PyResult<Arc<Self>> {
        let mut parts = OwnParts::default();
        if let Some(own) = &given {
            let described: Vec<Described> = own.bind(py).getattr("described")?.extract()?;
            for each in described {
                let part = Arc::new(Part::of(py, each, is_checked)?);
                match part.kind {
                    Kind::Control | Kind::Source => parts.flow.push(part),
                    _ => parts.queue.push(part),
                }
            }
        }
        Ok(Arc::new(Self { given, parts }))
    }

    /// The `Own` of Python.
    pub(crate) fn given(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.given.as_ref().map(|given| given.clone_ref(py))
    }

    /// Whether there are none. If there are, one thread runs everything, with the interpreter's
    /// lock held.
    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_none()
    }
}

/// A class, as Python describes it: its name, the class, the class of fairq that it derives from,
/// its settings (name, default, a sentence) and its version.
type Described = (String, Py<PyAny>, String, Vec<(String, Py<PyAny>, String)>, String);

/// Which class of fairq's a part derives from.
#[derive(Clone, Copy)]
enum Kind {
    Rank,
    Scheduler,
    Policy,
    Discipline,
    Control,
    Source,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "Rank" => Self::Rank,
            "Scheduler" => Self::Scheduler,
            "Policy" => Self::Policy,
            "Discipline" => Self::Discipline,
            "Control" => Self::Control,
            "Source" => Self::Source,
            _ => return None,
        })
    }

    const fn place(self) -> Place {
        match self {
            Self::Rank | Self::Scheduler => Place::Scheduler,
            Self::Policy => Place::Buffer,
            Self::Discipline => Place::Design,
            Self::Control => Place::Transport,
            Self::Source => Place::Traffic,
        }
    }
}

/// A class before it has the values of its settings.
struct Part {
    name: &'static str,
    kind: Kind,
    class: Py<PyAny>,
    settings: Vec<Setting>,
    version: String,
    is_checked: bool,
}

impl Part {
    fn of(py: Python<'_>, (name, class, kind, settings, version): Described, is_checked: bool) -> PyResult<Self> {
        let kind = Kind::of(&kind).ok_or_else(|| UsageError::new_err(format!("parts: {kind} is no kind of part")))?;
        let setting = |(name, default, about): (String, Py<PyAny>, String)| {
            PyResult::Ok(Setting { name, default: value(default.bind(py))?, about })
        };
        let settings = settings.into_iter().map(setting).collect::<PyResult<_>>()?;
        Ok(Self { name: kept(name), kind, class, settings, version, is_checked })
    }

    /// What builds objects with these values. One is made and dropped: `__init__` refuses values
    /// before anything runs.
    fn make_of(&self, values: &[Value]) -> Result<Arc<Make>, String> {
        Python::attach(|py| {
            let of = |said: PyResult<Arc<Make>>| said.map_err(|error| error.value(py).to_string());
            of((|| {
                let named = PyDict::new(py);
                for (setting, value) in self.settings.iter().zip(values) {
                    match value {
                        Value::Whole(number) => named.set_item(&setting.name, number)?,
                        Value::Number(number) => named.set_item(&setting.name, number)?,
                        Value::Truth(truth) => named.set_item(&setting.name, truth)?,
                        Value::Text(text) => named.set_item(&setting.name, text)?,
                    }
                }
                self.class.bind(py).call((), Some(&named))?;
                let (name, kind, class) = (self.name, self.kind, self.class.clone_ref(py));
                let reorders = attribute(py, &class, "reorders")?.unwrap_or_default();
                let packet = attribute(py, &class, "packet")?;
                let demand = attribute(py, &class, "demand")?;
                let (values, is_checked) = (named.unbind(), self.is_checked);
                Ok(Arc::new(Make { name, kind, class, values, is_checked, reorders, packet, demand }))
            })())
        })
    }
}

/// An attribute of a class, if it has one that is not None.
fn attribute<'py, T: FromPyObjectOwned<'py>>(py: Python<'py>, class: &Py<PyAny>, name: &str) -> PyResult<Option<T>> {
    let Some(value) = class.bind(py).getattr_opt(name)? else { return Ok(None) };
    value.extract::<Option<T>>().map_err(Into::into)
}

/// The default of a setting.
fn value(default: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(if default.is_instance_of::<PyBool>() {
        Value::Truth(default.extract()?)
    } else if default.is_instance_of::<pyo3::types::PyInt>() {
        Value::Whole(default.extract()?)
    } else if default.is_instance_of::<pyo3::types::PyFloat>() {
        Value::Number(default.extract()?)
    } else {
        Value::Text(default.extract()?)
    })
}

/// A name for the rest of the process: each is kept once.
fn kept(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name: &'static str = Box::leak(name.into_boxed_str());
    names.insert(name);
    name
}

macro_rules! own_part {
    ($make:ty) => {
        impl OwnPart<$make> for Part {
            fn name(&self) -> &'static str {
                self.name
            }

            fn place(&self) -> Place {
                self.kind.place()
            }

            fn settings(&self) -> Vec<Setting> {
                self.settings.clone()
            }

            fn version(&self) -> String {
                self.version.clone()
            }

            fn make(&self, values: &[Value]) -> Result<Arc<$make>, String> {
                self.make_of(values).map(|make| make as _)
            }
        }
    };
}

own_part!(dyn MakeQueue);
own_part!(dyn MakeFlow);

/// A class with the values of its settings. Each line, connection and source gets an object of its
/// own, in each run.
struct Make {
    name: &'static str,
    kind: Kind,
    class: Py<PyAny>,
    values: Py<PyDict>,
    is_checked: bool,
    reorders: bool,
    packet: Option<u32>,
    demand: Option<f64>,
}

impl Make {
    fn object<'py>(&self, py: Python<'py>, begin: impl IntoPyObject<'py>) -> Object {
        Object::new(py, self.name, &self.class, self.values.bind(py), begin)
    }
}

impl MakeQueue for Make {
    fn facts(&self) -> Facts {
        let is_policy = matches!(self.kind, Kind::Policy);
        let overflow = if is_policy { Overflow::Leaves } else { Overflow::Both };
        Facts { goes_by_weights: !is_policy, marks_congestion: is_policy, overflow, ..Facts::PLAIN }
    }

    // Both may answer that no packet leaves yet; that none leaves though they have no reason is
    // told where they answer.
    fn breaks(&self) -> &'static [Invariant] {
        match self.kind {
            Kind::Scheduler => &[Invariant::WorkConservation],
            Kind::Discipline if self.reorders => &[Invariant::WorkConservation, Invariant::FlowOrder],
            Kind::Discipline => &[Invariant::WorkConservation],
            _ => &[],
        }
    }

    fn scheduler(&self, line: &Line) -> Option<Box<dyn Scheduling>> {
        Python::attach(|py| {
            let object = || self.object(py, shown::Line::of(line));
            Some(match self.kind {
                Kind::Rank => Box::new(rank::Rank::new(py, object())) as Box<dyn Scheduling>,
                Kind::Scheduler => Box::new(scheduler::Scheduler::new(py, object())),
                _ => return None,
            })
        })
    }

    fn policy(&self, line: &Line) -> Option<Box<dyn BufferPolicy>> {
        let build = |py: Python<'_>| policy::Policy::new(py, self.object(py, shown::Line::of(line)));
        Python::attach(|py| Some(Box::new(build(py)) as _))
    }

    fn discipline(&self, queue: &Queue, line: &Line) -> Option<Box<dyn Queueing>> {
        Python::attach(|py| {
            let object = self.object(py, shown::Line::of(line));
            Some(Box::new(discipline::Discipline::new(py, object, queue.capacity())) as _)
        })
    }

    fn is_checked(&self) -> bool {
        self.is_checked
    }

    fn broke(&self, message: &str) -> ! {
        raise(object::fault(self.name, message.to_owned()))
    }
}

impl MakeFlow for Make {
    fn control(&self, beginning: &Beginning) -> Option<Box<dyn Congestion>> {
        Python::attach(|py| {
            let object = self.object(py, shown::Beginning::of(beginning));
            Some(Box::new(control::Control::new(py, object)) as _)
        })
    }

    fn source(&self, context: Context<'_>) -> Option<Box<dyn Emitting>> {
        let Context { start, mut stream, .. } = context;
        let longest = MakeFlow::packet(self).0 as u32;
        Python::attach(|py| {
            let begin = shown::SourceBeginning::new(start, stream.bits());
            Some(Box::new(source::Source::new(py, self.object(py, begin), start, longest)) as _)
        })
    }

    fn packet(&self) -> Bytes {
        self.packet.map_or(fairq_sim::traffic::PACKET, |packet| Bytes(packet.into()))
    }

    fn demand(&self) -> Option<f64> {
        self.demand
    }
}
