//! What a relay's line is made of, from text.

use crate::plan::by_ports;
use fairq_link::impairment::{Impairment, Loss};
use fairq_link::path::{Path, PathChange, PathSettings};
use fairq_sched::change::Change;
use fairq_sched::contract::{Discipline, Line};
use fairq_sched::queue::Queue;
use fairq_sched::service::Transmitter;
use fairq_sched::units::{Limit, Rate, Time, UnitError};
use serde::Deserialize;
use std::str::FromStr;

/// A line with a direction to the target and one back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelaySettings {
    /// From the clients to the target, and back.
    pub ways: [WaySettings; 2],
    /// The seed of losses, jitter and reordering.
    #[serde(default)]
    pub seed: u64,
}

/// One direction of the line; what is not said is not there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaySettings {
    /// Its rate, as "10Mbit/s"; none: a packet takes next to no time.
    pub rate: Option<String>,
    /// Its delay, as "20ms".
    pub delay: Option<String>,
    /// Its queue, as "fq + codel".
    pub queue: Option<String>,
    /// The limit of a queue that names none, as "100packets" or "60kB".
    pub buffer: Option<String>,
    /// The part of the packets that is lost, from 0 to below 1.
    pub loss: Option<f64>,
    /// The mean number of packets lost in a row; none: each is lost on its own.
    pub burst: Option<f64>,
    /// The greatest random extra delay; packets keep their order.
    pub jitter: Option<String>,
}

/// A change of one direction; what is not said stays as it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WayChange {
    /// As [`WaySettings::rate`].
    pub rate: Option<String>,
    /// As [`WaySettings::delay`].
    pub delay: Option<String>,
    /// As [`WaySettings::loss`].
    pub loss: Option<f64>,
    /// As [`WaySettings::burst`], if there is a loss.
    pub burst: Option<f64>,
    /// As [`WaySettings::jitter`].
    pub jitter: Option<String>,
    /// Whether the line is up.
    pub up: Option<bool>,
}

/// What is known of one direction now.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) rate: Rate,
    pub(super) delay: Time,
    pub(super) queue: Queue,
    pub(super) impairment: Impairment,
}

impl Way {
    pub(super) fn of(settings: &WaySettings) -> Result<Self, String> {
        let limit = said::<Limit>("buffer", settings.buffer.as_ref())?;
        let text = settings.queue.as_deref().unwrap_or("fifo");
        let queue = by_ports(fairq_text::queue_within(text, limit).map_err(|fault| format!("queue: {fault}"))?);
        let way = Self { rate: Rate::MAX, delay: Time::ZERO, queue, impairment: Impairment::default() };
        let &WaySettings { loss, burst, .. } = settings;
        let (rate, delay, jitter) = (settings.rate.clone(), settings.delay.clone(), settings.jitter.clone());
        way.changed(&WayChange { rate, delay, loss, burst, jitter, up: None })
    }

    /// With the values of a change.
    pub(super) fn changed(&self, change: &WayChange) -> Result<Self, String> {
        let mut next = self.clone();
        if let Some(rate) = change.rate.as_ref().filter(|rate| rate.starts_with("trace:")) {
            return Err(format!("rate: {rate}: a relay sends at a constant rate; write one, as \"10Mbit/s\""));
        }
        next.rate = said("rate", change.rate.as_ref())?.unwrap_or(self.rate);
        next.delay = said("delay", change.delay.as_ref())?.unwrap_or(self.delay);
        next.impairment.jitter = said("jitter", change.jitter.as_ref())?.unwrap_or(self.impairment.jitter);
        if let Some(probability) = change.loss {
            next.impairment.loss = Loss { probability, burst: change.burst };
        }
        next.impairment.loss.fault().map_or(Ok(next), |fault| Err(format!("loss: {fault}")))
    }

    pub(super) fn path<T>(&self, seed: u64) -> Path<Box<dyn Discipline>, T> {
        let service = Box::new(Transmitter::new(self.rate));
        let settings = PathSettings { service, delay: self.delay, impairment: self.impairment };
        Path::new(settings, self.queue.build(&Line::new(self.rate)), seed)
    }

    /// Makes a change of the path too, or nothing.
    pub(super) fn change_path<T>(
        &mut self,
        now: Time,
        change: &WayChange,
        path: &mut Path<Box<dyn Discipline>, T>,
    ) -> Result<(), String> {
        let next = self.changed(change)?;
        let changes = [
            change.rate.as_ref().map(|_| PathChange::Port(Change::Rate(next.rate))),
            Some(PathChange::Delay(next.delay)),
            Some(PathChange::Impairment(next.impairment)),
            change.up.map(PathChange::Up),
        ];
        for made in changes.into_iter().flatten() {
            path.change(now, made).map_err(|refused| format!("rate: {refused}"))?;
        }
        *self = next;
        Ok(())
    }
}

/// A quantity that a field says.
fn said<T: FromStr<Err = UnitError>>(field: &str, text: Option<&String>) -> Result<Option<T>, String> {
    text.map(|text| text.parse().map_err(|error| format!("{field}: {error}"))).transpose()
}
