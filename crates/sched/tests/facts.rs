//! The facts of each part, over all settings of the registry.

use fairq_sched::facts::{Facts, Overflow, Queues};
use fairq_sched::part::Part;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, CLASSIFIERS, ClassifierSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings,
    POLICERS, PolicerSettings, SCHEDULERS, SchedulerSettings,
};

/// What the questions say, one by one.
fn asked(part: &dyn Part) -> Facts {
    let mut facts = Facts::PLAIN;
    facts.needs = part.needs();
    facts.tells_flows_apart = part.tells_flows_apart();
    facts.goes_by_weights = part.goes_by_weights();
    facts.marks_congestion = part.marks_congestion();
    facts.queues = match (part.has_queue_per_flow(), part.has_queue_per_packet()) {
        (true, false) => Queues::PerFlow,
        (false, true) => Queues::PerPacket,
        (false, false) => Queues::Own,
        (true, true) => panic!("a queue for each flow and for each packet"),
    };
    facts.ranks_packets = part.ranks_packets();
    facts.fits_inner_nodes = part.fits_inner_nodes();
    facts.paces = part.paces();
    facts.overflow = match (part.leaves_overflow(), part.deals_with_overflow()) {
        (true, false) => Overflow::Leaves,
        (false, true) => Overflow::Deals,
        (false, false) => Overflow::Both,
        (true, true) => panic!("leaves a full buffer and deals with it"),
    };
    facts.looks_at_queues = part.looks_at_queues();
    facts.keeps_conversations_apart = part.keeps_conversations_apart();
    facts.own_limit = part.own_limit();
    facts.parts_with_limit = part.parts_with_limit();
    facts.memory = part.memory();
    facts
}

macro_rules! compare {
    ($($list:ident $settings:ident),+) => {
        $(for card in $list {
            let all = $settings::variants(card.name);
            assert!(!all.is_empty(), "{}", card.name);
            for settings in all {
                assert_eq!(settings.part().facts(), asked(settings.part()), "{settings:?}");
            }
        })+
    };
}

#[test]
fn facts_are_what_the_questions_say() {
    compare!(
        BUFFER_POLICIES BufferSettings, CLASSIFIERS ClassifierSettings, DESIGNS DesignSettings, MARKERS MarkerSettings,
        POLICERS PolicerSettings, SCHEDULERS SchedulerSettings
    );
}
