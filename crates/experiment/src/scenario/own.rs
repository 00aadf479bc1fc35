//! Own parts of a scenario: parts that are written outside this tree ([`fairq_sched::own`]).
//!
//! Reading passes over a scenario twice for them. In the tree, before the types are read, their
//! tables take the shape of the variant `Own` of a registry; in the types each finds what builds
//! it.

use super::expand::{Form, walk};
use super::{Access, Scenario};
use crate::values::TextForm;
use fairq_sched::card::Card;
use fairq_sched::own::{MakeQueue, OwnPart, Place};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings};
use fairq_sim::own::MakeFlow;
use fairq_sim::traffic::registry::{TRAFFIC, TrafficSettings};
use fairq_sim::transport::registry::{TRANSPORTS, TransportSettings};
use fairq_text::{Fault, Words, lists, shape_queue};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The own parts that a scenario may name.
#[derive(Clone, Default)]
pub struct OwnParts {
    /// Those of queues.
    pub queue: Vec<Arc<dyn OwnPart<dyn MakeQueue>>>,
    /// Those of flows: congestion controls and sources.
    pub flow: Vec<Arc<dyn OwnPart<dyn MakeFlow>>>,
}

impl fmt::Debug for OwnParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.queue.iter().map(|part| part.name()).chain(self.flow.iter().map(|part| part.name()));
        f.debug_list().entries(names).finish()
    }
}

impl OwnParts {
    /// What text needs to know of them.
    ///
    /// # Errors
    /// A name that is none, or that another part has.
    pub(super) fn words(&self) -> Result<Words, String> {
        let taken: Vec<&[Card]> = lists().into_iter().chain([TRANSPORTS, TRAFFIC]).collect();
        let mut words = Words::default();
        words.add(&self.queue, &taken)?;
        words.add(&self.flow, &taken)?;
        Ok(words)
    }

    /// Lets each own part in `scenario` find what builds it.
    ///
    /// # Errors
    /// What a part says of the values of its settings, with its path.
    pub(super) fn find(&self, scenario: &mut Scenario) -> Result<(), Fault> {
        if self.queue.is_empty() && self.flow.is_empty() {
            return Ok(());
        }
        for (path, queue) in queues(scenario) {
            let at_field = |(field, message)| Fault::new(format!("{path}.{field}"), message);
            queue.find_own(&self.queue).map_err(at_field)?;
        }
        for (number, pool) in scenario.pools.iter_mut().enumerate() {
            if let BufferSettings::Own(own) = &mut pool.policy.0 {
                let found = own.find(Place::Buffer, &self.queue);
                found.map_err(|message| Fault::new(format!("pools[{number}].policy"), message))?;
            }
        }
        self.find_transport(scenario.defaults.transport.as_mut(), || "defaults".into())?;
        for (number, flow) in scenario.flows.iter_mut().enumerate() {
            let path = || format!("flows[{number}]");
            self.find_transport(flow.transport.as_mut(), path)?;
            if let TrafficSettings::Own(own) = &mut flow.traffic.0 {
                let found = own.find(Place::Traffic, &self.flow);
                found.map_err(|message| Fault::new(path() + ".traffic", message))?;
            }
        }
        Ok(())
    }

    fn find_transport(
        &self,
        transport: Option<&mut TextForm<TransportSettings>>,
        path: impl Fn() -> String,
    ) -> Result<(), Fault> {
        let Some(TextForm(TransportSettings::Own(own))) = transport else { return Ok(()) };
        own.find(Place::Transport, &self.flow).map_err(|message| Fault::new(path() + ".transport", message))
    }
}

/// Gives the tables of own parts in `scenario` the shape in which the types are read.
///
/// # Errors
/// As [`Words::shape`].
pub(super) fn shape(scenario: &mut Value, own: &Words) -> Result<(), Fault> {
    if own.is_empty() {
        return Ok(());
    }
    walk(scenario, &mut |form, value, path| match (form, &mut *value) {
        (Form::Queue, Value::Object(queue)) => shape_queue(queue, own, path),
        (Form::Part(Some(place)), _) => own.shape(value, place, cards(place), path),
        _ => Ok(()),
    })
}

/// The cards of the registry for `place`, where it is not one of a queue's parts.
const fn cards(place: Place) -> &'static [Card] {
    match place {
        Place::Transport => TRANSPORTS,
        Place::Traffic => TRAFFIC,
        _ => BUFFER_POLICIES,
    }
}

/// All queues of `scenario` that it writes, each with its path.
fn queues(scenario: &mut Scenario) -> Vec<(String, &mut Queue)> {
    let mut found: Vec<(String, Option<&mut TextForm<Queue>>)> = Vec::new();
    let defaults = &mut scenario.defaults;
    found.push(("defaults.queue".into(), defaults.queue.as_mut()));
    found.push(("defaults.access.host_queue".into(), host_queue(&mut defaults.access)));
    found.push(("defaults.sink_access.host_queue".into(), host_queue(&mut defaults.sink_access)));
    let topology = scenario.topology.as_mut().and_then(|TextForm(topology)| topology.queue_mut());
    found.push(("topology.queue".into(), topology));
    for (number, link) in scenario.links.iter_mut().enumerate() {
        found.push((format!("links[{number}].queue"), link.queue.as_mut()));
        found.push((format!("links[{number}].reverse_queue"), link.reverse_queue.as_mut()));
    }
    for (number, flow) in scenario.flows.iter_mut().enumerate() {
        found.push((format!("flows[{number}].access.host_queue"), host_queue(&mut flow.access)));
        found.push((format!("flows[{number}].sink_access.host_queue"), host_queue(&mut flow.sink_access)));
    }
    for (number, change) in scenario.changes.iter_mut().enumerate() {
        found.push((format!("changes[{number}].queue"), change.queue.as_mut()));
    }
    found.into_iter().filter_map(|(path, queue)| Some((path, &mut queue?.0))).collect()
}

fn host_queue(access: &mut Option<Access>) -> Option<&mut TextForm<Queue>> {
    access.as_mut()?.host_queue.as_mut()
}
