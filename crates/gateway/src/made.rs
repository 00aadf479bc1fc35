//! Plans for tests.

use crate::plan::{HostPlan, LinePlan, Plan, Speed};
use fairq_link::impairment::Impairment;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{DesignSettings, SchedulerSettings};
use fairq_sched::units::{Limit, Rate, Time};
use std::sync::Arc;

/// The queue called `name`, with room for `packets`.
pub(crate) fn queue(name: &str, packets: u64) -> Queue {
    let limit = Some(Limit::Packets(packets));
    match SchedulerSettings::by_name(name) {
        Some(scheduler) => Queue::new(scheduler, limit),
        None => Queue::of_design(DesignSettings::by_name(name).expect("a discipline is called so"), limit),
    }
}

pub(crate) fn mbit(rate: u64) -> Speed {
    Speed::Rate(Rate::new(rate * 1_000_000).expect("a rate above zero"))
}

/// Hosts on one node each, with the addresses 10.77.NUMBER.1 and fd77:NUMBER::1.
pub(crate) fn hosts(names: &[&str]) -> Vec<HostPlan> {
    let host = |(number, name): (usize, &&str)| HostPlan {
        name: Arc::from(*name),
        addresses: vec![
            format!("10.77.{number}.1").parse().expect("an address"),
            format!("fd77:{number}::1").parse().expect("an address"),
        ],
        control: "reno".into(),
        ecn: false,
        commands: Vec::new(),
    };
    names.iter().enumerate().map(host).collect()
}

/// Both directions of a link between two nodes.
pub(crate) fn link(name: &str, [from, to]: [u32; 2], speed: &Speed, delay: Time, queue: Queue) -> [LinePlan; 2] {
    let queue = Arc::new(queue);
    let line = |is_reverse: bool| {
        let [from, to] = if is_reverse { [to, from] } else { [from, to] };
        LinePlan {
            name: name.into(),
            is_reverse,
            is_access: false,
            from,
            to,
            speed: speed.clone(),
            delay,
            impairment: Impairment::default(),
            queue: Arc::clone(&queue),
            link_header: 0,
        }
    };
    [line(false), line(true)]
}

/// `left` and `right` at the ends of one link.
pub(crate) fn two(speed: &Speed, delay: Time, queue: Queue) -> Plan {
    Plan {
        hosts: hosts(&["left", "right"]),
        lines: link("line", [0, 1], speed, delay, queue).into(),
        nodes: 2,
        next: vec![vec![None, Some(0)], vec![Some(1), None]],
        flows: Vec::new(),
        seed: 1,
    }
}
