//! What disciplines need to know of packets, and what a scenario's flows provide. A discipline
//! whose input no flow provides is refused, because it would silently be another one.
//!
//! A discipline is checked at the place that names it: `defaults.queue` over many lines is
//! satisfied if one flow over one of them provides what it needs. Lines without data are not
//! checked. Not refused: a filter of acknowledgements without any acknowledgement; marks that no
//! transport reacts to, which papers compare; and a core without an edge before it, which takes all
//! rates as 0.

use fairq_sched::facts::Need;
use fairq_sim::multicast::plan::SessionPlan;
use fairq_sim::plan::{FlowPlan, LinePlan};
use fairq_sim::traffic::Release;
use fairq_text::{Fault, needs};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The place that names a discipline, its part, and the part's need.
type Place<'a> = (&'a str, &'static str, Need);

/// The first line and flow of a place, and whether any flow provides what is needed there.
struct Asked {
    line: u32,
    flow: Arc<str>,
    is_told: bool,
}

/// Checks the needs of the disciplines of `lines`. Makes a flow's packets carry the rest of their
/// transfer if a line on its path uses that.
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

/// The needs without which the discipline of `line` is refused.
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

/// Whether the packets of `flow` provide what is needed.
fn tells(flow: &FlowPlan, need: Need) -> bool {
    match need {
        Need::Remaining => match flow.entry.traffic.release() {
            Release::AtStart(packets) => packets.is_some(),
            Release::Transfers => true,
            Release::Session | Release::Stream => false,
        },
        Need::Deadline => flow.entry.deadline.is_some(),
        Need::Acknowledges | Need::Label | Need::Class | Need::AcceptsDec | Need::AcceptsFq => true,
    }
}
