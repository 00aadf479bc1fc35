//! A congestion control of a user's class, over a connection that repairs losses itself.

use super::object::{Method, Object};
use super::shown::{Acked, Congested};
use fairq_sched::units::{Rate, Time};
use fairq_sim::transport::congestion::{
    AVOIDANCE, Acked as SimAcked, Congested as SimCongested, Congestion, SLOW_START,
};
use fairq_sim::transport::ecn::Ecn;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The part, and what it said last of its window and its pace.
pub(super) struct Control {
    part: Object,
    acknowledged: Method,
    lost: Method,
    marked: Method,
    timed_out: Method,
    recovered: Option<Method>,
    rested: Method,
    sent: Option<Method>,
    window: f64,
    threshold: Option<f64>,
    pace: Option<Rate>,
    takes_marks: bool,
    measures_rate: bool,
}

impl Control {
    pub(super) fn new(py: Python<'_>, part: Object) -> Self {
        let [acknowledged, lost, marked, timed_out, rested] =
            ["acknowledged", "lost", "marked", "timed_out", "rested"].map(|name| part.method(py, name));
        let [recovered, sent] = ["recovered", "sent"].map(|name| part.own(py, name));
        let truth = |name: &str| part.get(py, &PyString::new(py, name)).is_truthy().unwrap_or_default();
        let (takes_marks, measures_rate) = (truth("takes_marks"), truth("measures_rate"));
        let (window, threshold, pace) = (1.0, None, None);
        let mut made = Self {
            part,
            acknowledged,
            lost,
            marked,
            timed_out,
            recovered,
            rested,
            sent,
            window,
            threshold,
            pace,
            takes_marks,
            measures_rate,
        };
        made.read(py, &format_args!("begin"));
        made
    }

    /// What the part says after it was told of something by `method`.
    fn read(&mut self, py: Python<'_>, method: &dyn std::fmt::Display) {
        let window = self.part.get(py, pyo3::intern!(py, "window"));
        self.window = match window.extract::<f64>() {
            Ok(packets) if packets.is_finite() && packets > 0.0 => packets,
            _ => self.refuse("window", method, &window, "a number of packets above 0"),
        };
        let pace = self.part.get(py, pyo3::intern!(py, "pace"));
        self.pace = if pace.is_none() {
            None
        } else {
            let rate = pace.extract::<f64>().ok().and_then(|bits| Rate::new(bits.round() as u64));
            Some(rate.unwrap_or_else(|| self.refuse("pace", method, &pace, "a rate above 0 in bit/s, or None")))
        };
        let threshold = self.part.get(py, pyo3::intern!(py, "threshold"));
        self.threshold = threshold
            .extract()
            .unwrap_or_else(|_| self.refuse("threshold", method, &threshold, "a number of packets, or None"));
    }

    fn refuse(&self, field: &str, method: &dyn std::fmt::Display, value: &Bound<'_, PyAny>, write: &str) -> ! {
        let shown = value.repr().map_or_else(|_| "a thing".to_owned(), |repr| repr.to_string());
        self.part.refuse(format_args!("{field} is {shown} after {method}; set it to {write}"))
    }

    fn tell_congested(&mut self, of: impl Fn(&Self) -> &Method, congested: &SimCongested, name: &str) {
        Python::attach(|py| {
            let about = || format!(", given {}", Congested(*congested).__repr__());
            self.part.call(py, of(self), (Congested(*congested),), about);
            self.read(py, &name);
        });
    }

    fn tell_time(&mut self, of: impl Fn(&Self) -> Option<&Method>, now: Time, name: &str) {
        if of(self).is_none() {
            return;
        }
        Python::attach(|py| {
            if let Some(method) = of(self) {
                self.part.call(py, method, (now.as_s(),), || format!(" at {} s", now.as_s()));
            }
            self.read(py, &name);
        });
    }
}

impl Congestion for Control {
    fn window(&self) -> f64 {
        self.window
    }

    fn pace(&self) -> Option<Rate> {
        self.pace
    }

    fn sent(&mut self, now: Time, flight: u64) {
        Python::attach(|py| {
            if let Some(sent) = &self.sent {
                self.part.call(py, sent, (now.as_s(), flight), || format!(" at {} s", now.as_s()));
                self.read(py, &"sent");
            }
        });
    }

    fn watches_sending(&self) -> bool {
        self.sent.is_some()
    }

    fn acknowledged(&mut self, acked: &SimAcked) {
        Python::attach(|py| {
            let about = || format!(", given {}", Acked(*acked).__repr__());
            self.part.call(py, &self.acknowledged, (Acked(*acked),), about);
            self.read(py, &"acknowledged");
        });
    }

    fn lost(&mut self, congested: &SimCongested) {
        self.tell_congested(|own| &own.lost, congested, "lost");
    }

    fn marked(&mut self, congested: &SimCongested) {
        self.tell_congested(|own| &own.marked, congested, "marked");
    }

    fn timed_out(&mut self, congested: &SimCongested) {
        self.tell_congested(|own| &own.timed_out, congested, "timed_out");
    }

    fn recovered(&mut self, now: Time) {
        self.tell_time(|own| own.recovered.as_ref(), now, "recovered");
    }

    fn rested(&mut self, now: Time) {
        self.tell_time(|own| Some(&own.rested), now, "rested");
    }

    fn wants_rate(&self) -> bool {
        self.measures_rate
    }

    fn ecn(&self) -> Ecn {
        if self.takes_marks { Ecn::Classic } else { Ecn::Not }
    }

    fn phase(&self) -> &'static str {
        if self.threshold.is_some_and(|threshold| self.window < threshold) { SLOW_START } else { AVOIDANCE }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_packets", self.window);
        if let Some(threshold) = self.threshold {
            visit("threshold_packets", threshold);
        }
        self.part.visit_readings(visit);
    }
}
