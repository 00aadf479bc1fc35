//! A source of packets of a user's class.

use super::object::{Method, Object};
use fairq_sched::units::Time;
use fairq_sim::traffic::{Emission, Source as Emitting};
use pyo3::prelude::*;

/// Packets at one time: a source that gives more never lets time pass.
const AT_ONCE_MAX: u32 = 1_000_000;

/// The part, and when its last packet was offered.
pub(super) struct Source {
    part: Object,
    next: Method,
    last: Time,
    at_once: u32,
    /// The longest packet, as the class says.
    longest: u32,
}

impl Source {
    pub(super) fn new(py: Python<'_>, part: Object, start: Time, longest: u32) -> Self {
        let next = part.method(py, "next");
        Self { part, next, last: start, at_once: 0, longest }
    }

    /// When the next packet is offered, and its bytes.
    fn read(&mut self, given: &Bound<'_, PyAny>) -> Emission {
        let wanted = "(seconds after the last packet, its bytes) or None";
        let Ok((gap, length)) = given.extract::<(f64, u32)>() else {
            self.part.refuse_answer("next", given, wanted);
        };
        if !gap.is_finite() || gap < 0.0 {
            self.part.refuse(format_args!("next gave a packet {gap} s after the last; a time is from 0 s up"));
        }
        if length == 0 || length > self.longest {
            self.part.refuse(format_args!(
                "next gave a packet of {length} B; write from 1 B to the class's packet, which is {} B",
                self.longest
            ));
        }
        let gap = Time::from_s_f64(gap);
        self.at_once = if gap == Time::ZERO { self.at_once + 1 } else { 0 };
        if self.at_once > AT_ONCE_MAX {
            self.part.refuse(format_args!(
                "next gave {AT_ONCE_MAX} packets at {} s, and time never passes; let some of them be later",
                self.last.as_s()
            ));
        }
        self.last = self.last.saturating_add(gap);
        Emission { time: self.last, length }
    }
}

impl Emitting for Source {
    fn next(&mut self) -> Option<Emission> {
        Python::attach(|py| {
            let given = self.part.call(py, &self.next, (), || format!(" after {} s", self.last.as_s()));
            (!given.is_none()).then(|| self.read(&given))
        })
    }
}
