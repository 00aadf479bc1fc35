//! Sessions: from the scenario to layers, a tree, and receivers with their places.

use super::{Builder, LONGEST};
use crate::scenario::{Receiver, Session};
use crate::values::Start;
use fairq_link::ecn::Field;
use fairq_sched::units::{Rate, Time};
use fairq_sim::multicast::plan::{ReceiverPlan, SessionPlan};
use fairq_sim::multicast::source;
use fairq_sim::multicast::tree::Shape;
use fairq_sim::net::path::Ends;
use fairq_sim::net::route::Routes;
use fairq_text::Fault;
use std::collections::BTreeSet;

impl Builder<'_> {
    /// The sessions of the scenario.
    pub(super) fn sessions(&mut self, routes: &mut Routes) -> Result<Vec<SessionPlan>, Fault> {
        let mut plans: Vec<SessionPlan> = Vec::new();
        for (at, session) in self.scenario.sessions.iter().enumerate() {
            let path = format!("sessions[{at}]");
            if session.name.is_empty() || plans.iter().any(|other| other.name == session.name) {
                let message = format!("`{}` is empty or taken; names are unique", session.name);
                return Err(Fault::new(format!("{path}.name"), message));
            }
            plans.push(self.session(session, &path, routes)?);
        }
        Ok(plans)
    }

    fn session(&mut self, session: &Session, path: &str, routes: &mut Routes) -> Result<SessionPlan, Fault> {
        let fault = |field: &str, message: String| Err(Fault::new(format!("{path}.{field}"), message));
        let from = self.known_node(&session.from, &format!("{path}.from"))?;
        let packet = session.packet.unwrap_or(self.scenario.edition().packet());
        if !(1..=LONGEST).contains(&packet.0) {
            return fault("packet", "a packet has from 1 B to 1 MiB".to_string());
        }
        let rates = rates(session, path)?;
        let source = session.source.as_ref().map_or_else(source::Settings::default, |form| form.0.clone());
        if let Some(message) = source.fault(&rates) {
            return fault("source", message);
        }
        if let Some(message) = Start::At(session.start).fault_of(session.stop) {
            return fault("stop", message);
        }
        if session.receivers.is_empty() {
            return fault("receivers", "a session needs at least one receiver".to_string());
        }
        let mut shape = Shape::new(from);
        let (mut receivers, mut names) = (Vec::new(), BTreeSet::new());
        for (at, receiver) in session.receivers.iter().enumerate() {
            let path = format!("{path}.receivers[{at}]");
            let plan = self.receiver(session, receiver, &path, routes, &mut shape)?;
            if plan.name.is_empty() || !names.insert(plan.name.clone()) {
                let message = format!("`{}` is empty or taken; receivers at one node need names", plan.name);
                return Err(Fault::new(format!("{path}.name"), message));
            }
            if let Some(message) = plan.control.fault(&source) {
                return Err(Fault::new(format!("{path}.control"), message));
            }
            if plan.target.is_some_and(|target| target as usize > rates.len()) {
                let message = format!("there are {} layers", rates.len());
                return Err(Fault::new(format!("{path}.target"), message));
            }
            receivers.push(plan);
        }
        if Field::of(session.tos) != Field::NotEct {
            let message = format!(
                "{} says {} in its two low bits, but a session's receivers hear of losses only, so that its packets are \
                 Not-ECT; write {}",
                session.tos,
                Field::of(session.tos).name(),
                session.tos & !3,
            );
            return Err(Fault::new(format!("{path}.tos"), message));
        }
        // A group has an address of its own.
        let group = self.hosts;
        self.hosts += 1;
        let ends = Ends { from, to: group, port: 0, tos: session.tos };
        let name = session.name.clone();
        let (start, stop) = (session.start, session.stop);
        Ok(SessionPlan { name, rates, packet, source, start, stop, shape, receivers, ends })
    }

    fn receiver(
        &self,
        session: &Session,
        receiver: &Receiver,
        path: &str,
        routes: &mut Routes,
        shape: &mut Shape,
    ) -> Result<ReceiverPlan, Fault> {
        let node = self.known_node(&receiver.at, &format!("{path}.at"))?;
        let from = shape.nodes[0];
        if node == from {
            return Err(Fault::new(format!("{path}.at"), "a receiver stands at another node than the source"));
        }
        let Some(control) = receiver.control.as_ref().or(session.control.as_ref()) else {
            let message = "nothing says how it chooses layers; write for example control = \"plm\"";
            return Err(Fault::new(format!("{path}.control"), message));
        };
        let Some(way) = routes.path(from, node, None) else {
            let (from, to) = (&session.from, &receiver.at);
            return Err(Fault::new(format!("{path}.at"), format!("there is no way from {from} to {to}")));
        };
        let start = receiver.start.max(session.start);
        let stop = receiver.stop.into_iter().chain(session.stop).min();
        if let Some(message) = Start::At(start).fault_of(stop) {
            return Err(Fault::new(format!("{path}.stop"), message));
        }
        let step = |line: u32| {
            // Both directions of a link have numbers next to each other.
            let back = &self.lines[(line ^ 1) as usize];
            let sending = back.rate.map_or(Time::ZERO, |rate| rate.time_of_bits(MESSAGE_BITS));
            (line, self.lines[line as usize].ends.to, back.delay.saturating_add(sending))
        };
        Ok(ReceiverPlan {
            name: receiver.name.clone().unwrap_or_else(|| receiver.at.clone()),
            node: receiver.at.clone(),
            place: shape.add(way.into_iter().map(step)),
            control: control.0.clone(),
            start,
            stop,
            leave_latency: receiver.leave_latency.unwrap_or(session.leave_latency),
            target: receiver.target,
        })
    }
}

/// The rates of the layers, from either way of giving them.
fn rates(session: &Session, path: &str) -> Result<Vec<Rate>, Fault> {
    let rates = match (&session.rates, &session.layers) {
        (Some(_), Some(_)) => {
            return Err(Fault::new(format!("{path}.layers"), "write rates or layers, not both"));
        }
        (Some(rates), None) => rates.clone(),
        (None, None) => Vec::new(),
        (None, Some(layers)) => {
            let path = format!("{path}.layers");
            let (mut rates, mut below) = (Vec::new(), 0);
            if !(layers.factor > 1.0 && layers.factor <= 1000.0) {
                let message = "factor is above 1 and at most 1000: each layer adds to the rate of those below";
                return Err(Fault::new(format!("{path}.factor"), message));
            }
            let mut cumulative = layers.rate.bit_per_s() as f64;
            for number in 0..layers.count.min(LAYERS_MAX + 1) {
                let sum = if cumulative < 1e18 { cumulative.round() as u64 } else { 0 };
                let Some(rate) = sum.checked_sub(below).and_then(Rate::new) else {
                    let message = format!("layer {} adds no whole number of bits a second", number + 1);
                    return Err(Fault::new(path, message));
                };
                rates.push(rate);
                below = sum;
                cumulative *= layers.factor;
            }
            rates
        }
    };
    match rates.len() {
        0 => Err(Fault::new(
            format!("{path}.rates"),
            "a session needs layers; write for example rates = [\"50 kbit/s\", \"50 kbit/s\"]",
        )),
        1..=64 => Ok(rates),
        _ => Err(Fault::new(format!("{path}.rates"), "a session has at most 64 layers")),
    }
}

/// The most layers of a session.
const LAYERS_MAX: u32 = 64;

/// Bits of a message that joins or prunes.
const MESSAGE_BITS: u64 = 40 * 8;
