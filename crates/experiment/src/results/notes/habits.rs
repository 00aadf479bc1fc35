//! What is otherwise than its source says: packets of another size than ns-2's, and Copa flows that
//! compete with each other.

use super::{Finder, Found};
use fairq_sched::units::Bytes;
use fairq_sim::plan::FlowPlan;
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::tcp::settings::Profile;

/// What ns-2's agents send: `Agent/TCP set packetSize_ 1000`, `Agent/TCPSink set packetSize_ 40`
/// (tcl/lib/ns-default.tcl).
const NS2_PACKET: Bytes = Bytes(1000);
const NS2_ACKNOWLEDGEMENT: u32 = 40;

/// From this many on, Copa flows that compete take each other for flows that fill the buffer
/// (`fairq explain copa`).
const CROWD: usize = 3;

impl Finder<'_> {
    /// That a profile `ns-2` has packets of other sizes than ns-2.
    pub(super) fn sizes(&self, flow: &FlowPlan) -> Option<Found> {
        let packet = flow.entry.traffic.packet()?;
        let acknowledgement = flow.entry.acknowledgement;
        let is_ns2 = flow.entry.connection.profile == Some(Profile::Ns2) && flow.entry.transport.has_connection();
        let is_same = packet == NS2_PACKET && acknowledgement == NS2_ACKNOWLEDGEMENT;
        let text = format!(
            "its profile is ns-2, whose packets have {NS2_PACKET} and acknowledgements {NS2_ACKNOWLEDGEMENT} B: these have \
             {packet} and {acknowledgement} B, so that windows and rates are others; write packet = \"1000 B\" in its traffic and \
             acknowledgement = \"40 B\" in the defaults"
        );
        (is_ns2 && !is_same).then(|| ("packet", self.place(flow), text))
    }

    /// That several Copa flows and no others share a queue, and compete.
    pub(super) fn crowds(&self) -> impl Iterator<Item = Found> {
        self.shown_lines().filter_map(|(_, at, line)| {
            let here: Vec<&FlowPlan> =
                self.plan.flows.iter().filter(|flow| flow.path.forward().contains(&at)).collect();
            let is_crowd = here.len() >= CROWD && here.iter().all(|flow| competes(flow)) && !line.queue.tells_flows_apart();
            let text = format!(
                "{}, only Copa flows share it, {} of them, and each takes the others for flows that fill the buffer: more packets \
                 wait than its bound says; write copa(competes=false) where no other control is",
                line.direction(),
                here.len()
            );
            is_crowd.then(|| ("copa", format!("links.{}", line.name), text))
        })
    }
}

fn competes(flow: &FlowPlan) -> bool {
    matches!(&*flow.entry.transport, TransportSettings::Copa(copa) if copa.competes)
}
