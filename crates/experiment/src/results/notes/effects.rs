//! What a flow says and no queue on its path goes by: a class, a weight, that it may be marked.

use super::{Finder, Found};
use fairq_sched::queue::Queue;
use fairq_sched::units::Weight;
use fairq_sim::plan::FlowPlan;
use fairq_sim::transport::ecn::CodePoint;

impl Finder<'_> {
    pub(super) fn without_effect(&self, flow: &FlowPlan) -> impl Iterator<Item = Found> {
        let place = self.place(flow);
        let found = [("class", self.class(flow)), ("weight", self.weight(flow)), ("ecn", self.ecn(flow))];
        found.into_iter().filter_map(move |(code, text)| Some((code, place.clone(), text?)))
    }

    fn some_queue(&self, flow: &FlowPlan, is_it: impl Fn(&Queue) -> bool) -> bool {
        flow.path.forward().iter().any(|line| is_it(&self.plan.lines[*line as usize].queue))
    }

    fn class(&self, flow: &FlowPlan) -> Option<String> {
        let class = flow.entry.class.as_ref()?;
        let text =
            format!("its class {class} means nothing: no queue on its path knows classes; htb, hfsc and hpfq do");
        (!self.some_queue(flow, |queue| queue.classes().is_some())).then_some(text)
    }

    fn weight(&self, flow: &FlowPlan) -> Option<String> {
        let weight = f64::from(flow.entry.weight.thousandths()) / 1000.0;
        let text = format!(
            "its weight {weight} means nothing: no queue on its path goes by weights; fq, drr and wf2q_plus do"
        );
        (flow.entry.weight != Weight::ONE && !self.some_queue(flow, Queue::goes_by_weights)).then_some(text)
    }

    fn ecn(&self, flow: &FlowPlan) -> Option<String> {
        let code_point = flow.entry.transport.code_point();
        let text = format!(
            "its packets may be marked, for they are {}, and no queue on its path marks: {} hears of losses only; write for \
             example queue = \"fq_codel\", or ecn = true in the queue",
            code_point.field().name(),
            flow.entry.transport.name()
        );
        (code_point != CodePoint::None && !self.some_queue(flow, Queue::marks_congestion)).then_some(text)
    }
}
