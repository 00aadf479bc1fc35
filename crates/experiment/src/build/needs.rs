//! What disciplines need of packets, and what a scenario's flows tell: a discipline that would go by what no flow tells is
//! refused, since it would be another one in silence.
//!
//! A discipline is asked where the scenario says it: `defaults.queue` over many lines is fed if one flow over one of them
//! tells what it needs. Lines that no data goes over are not asked. Not refused: a filter of acknowledgements without any; marks
//! that no transport listens to, which papers compare; and a core without an edge before it, which takes all for rate 0.

use fairq_sched::part::Need;
use fairq_sim::multicast::plan::SessionPlan;
use fairq_sim::plan::{FlowPlan, LinePlan};
use fairq_sim::traffic::registry::TrafficSettings;
use fairq_text::{Fault, needs};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a discipline is said, its part, and what that needs.
type Place<'a> = (&'a str, &'static str, Need);

/// The first line and flow of a place, and whether a flow tells what is needed there.
struct Asked {
    line: u32,
    flow: Arc<str>,
    is_told: bool,
}

/// Checks what the disciplines of `lines` need, and has those flows tell what remains whose way leads over a line that goes
/// by it.
pub(super) fn check(lines: &[LinePlan], flows: &mut [FlowPlan], sessions: &[SessionPlan]) -> Result<(), Fault> {
    let needs: Vec<Vec<(&'static str, Need)>> = lines.iter().map(needs_of).collect();
    if needs.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let mut asked: BTreeMap<Place<'_>, Asked> = BTreeMap::new();
    let mut ask = |line: u32, name: &Arc<str>, tells: &dyn Fn(Need) -> bool| {
        for (part, need) in &needs[line as usize] {
            let place = (&*lines[line as usize].queue_said, *part, *need);
            let first = || Asked { line, flow: Arc::clone(name), is_told: false };
            asked.entry(place).or_insert_with(first).is_told |= tells(*need);
        }
    };
    for flow in flows.iter_mut() {
        flow.path.forward().iter().for_each(|line| ask(*line, &flow.name, &|need| tells(flow, need)));
        let goes_by = |line: &u32| needs[*line as usize].iter().any(|(_, need)| *need == Need::Remaining);
        flow.tells_remaining = flow.path.forward().iter().any(goes_by);
    }
    for session in sessions {
        let name = Arc::from(&*session.name);
        for path in session.paths() {
            path.forward().iter().for_each(|line| ask(*line, &name, &|_| false));
        }
    }
    let Some(((said, part, need), Asked { line, flow, .. })) = asked.into_iter().find(|(_, asked)| !asked.is_told)
    else {
        return Ok(());
    };
    let (link, what) = (&lines[line as usize].name, needs::of(need));
    let remedy = match need {
        Need::Remaining => "give it traffic of transfers, as flow_arrivals(...), or write rank = start_time",
        Need::Deadline => "give it a deadline, as deadline = \"10 ms\", or write rank = start_time",
        _ => needs::without(need),
    };
    let message = format!("{part} goes by {what}, which no flow over link {link} tells, {flow} neither; {remedy}");
    Err(Fault::new(said, message))
}

/// What the discipline of `line` needs and is refused without.
fn needs_of(line: &LinePlan) -> Vec<(&'static str, Need)> {
    let is_refused = |need: Need| match need {
        Need::Remaining | Need::Deadline => true,
        Need::Acknowledges | Need::Label | Need::Class | Need::AcceptsDec | Need::AcceptsFq => false,
    };
    // A line without a rate never queues.
    if line.rate.is_none() {
        return Vec::new();
    }
    line.queue.needs().into_iter().filter(|(_, need)| is_refused(*need)).collect()
}

/// Whether the packets of `flow` tell what is needed.
fn tells(flow: &FlowPlan, need: Need) -> bool {
    match need {
        Need::Remaining => match &flow.entry.traffic {
            TrafficSettings::Ftp(ftp) => ftp.packets.is_some(),
            other => other.transfer_packet().is_some(),
        },
        Need::Deadline => flow.entry.deadline.is_some(),
        Need::Acknowledges | Need::Label | Need::Class | Need::AcceptsDec | Need::AcceptsFq => true,
    }
}
