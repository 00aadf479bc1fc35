//! A policer whose burst holds no packet of a flow drops all of that flow: it is refused at
//! the place that names it.

use fairq_sched::units::Bytes;
use fairq_sim::multicast::plan::SessionPlan;
use fairq_sim::plan::{FlowPlan, LinePlan};
use fairq_text::Fault;
use std::sync::Arc;

/// Checks the policers of `lines` against the packets that come to each.
pub(super) fn check(lines: &[LinePlan], flows: &[FlowPlan], sessions: &[SessionPlan]) -> Result<(), Fault> {
    if lines.iter().all(|line| line.queue.policer.is_none()) {
        return Ok(());
    }
    for flow in flows {
        // The lengths in a file are known only when it is read.
        let Some(packet) = flow.entry.traffic.packet() else { continue };
        flow.path.forward().iter().try_for_each(|at| check_line(&lines[*at as usize], packet, &flow.name))?;
        let acknowledgement = Bytes(flow.entry.acknowledgement.into());
        flow.path.backward().iter().try_for_each(|at| check_line(&lines[*at as usize], acknowledgement, &flow.name))?;
    }
    for session in sessions {
        let name = Arc::from(&*session.name);
        for path in session.paths() {
            path.forward().iter().try_for_each(|at| check_line(&lines[*at as usize], session.packet, &name))?;
        }
    }
    Ok(())
}

/// Whether a packet of `packet` bytes of the flow `name` may ever pass the policer of `line`.
fn check_line(line: &LinePlan, packet: Bytes, name: &Arc<str>) -> Result<(), Fault> {
    let length = packet.0 + u64::from(line.link_header);
    let longest = line.rate.and_then(|rate| line.queue.longest_passed(rate));
    let Some(longest) = longest.filter(|longest| longest.0 < length) else { return Ok(()) };
    let message = format!(
        "police lets no packet above {longest} pass, and those of {name} over link {} have {length} B: all would be dropped; \
         write a burst, and an mtu if there is one, of {} or more",
        line.name,
        Bytes(10 * length)
    );
    Err(Fault::new(&*line.queue_said, message))
}
