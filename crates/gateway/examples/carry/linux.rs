//! The measurement.

use fairq_gateway::command;
use fairq_gateway::drive::{self, Options};
use fairq_gateway::network::Network;
use fairq_gateway::plan::{HostPlan, LinePlan, Plan, Speed};
use fairq_gateway::setup::{self, BackEnd};
use fairq_gateway::stamp::Mode;
use fairq_link::impairment::Impairment;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{DesignSettings, SchedulerSettings};
use fairq_sched::units::{Limit, Rate, Time};
use std::sync::Arc;

pub(crate) fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rate, queue, mode, back_end, seconds, right, left] = &arguments[..] else {
        return eprintln!("carry RATE_MBIT QUEUE exact|fast tun|packet SECONDS RIGHT LEFT");
    };
    let words = |text: &String| vec!["sh".to_owned(), "-c".to_owned(), text.clone()];
    let plan = plan(rate.parse().expect("a rate"), queue, words(right));
    let back_end = if back_end == "tun" { BackEnd::Tun } else { BackEnd::Packet };
    let options = setup::Options { back_end, ..setup::Options::default() };
    let mut machine = setup::hosts(&plan, &options).unwrap_or_else(|fault| panic!("{fault}"));
    let commands = command::start(&machine.hosts, &plan.hosts, Some((0, words(left))));
    let commands = commands.unwrap_or_else(|fault| panic!("{fault}"));
    let options = Options {
        mode: if mode == "fast" { Mode::Fast } else { Mode::Exact },
        spin: false,
        end: Some(Time::from_s(seconds.parse().expect("seconds"))),
        tail: Time::ZERO,
        packet_time: drive::packet_time(&plan),
    };
    let stop = commands.descriptor();
    let report = drive::run(Network::new(&plan), &mut machine.devices, &options, stop, None).expect("it runs");
    commands.finish();
    println!("{}", serde_json::to_string(&report.flows).expect("rows"));
    println!("{:?}\n{:?}\n{}", report.gateway, report.lateness, report.stamp.verdict);
    let lines: Vec<_> = report.queues.iter().map(|row| (row.dropped, row.utilisation)).collect();
    println!("{:?} {lines:?}", report.refused);
}

fn plan(mbit: u64, queue: &str, right: Vec<String>) -> Plan {
    let limit = Some(Limit::Packets(1000));
    let scheduler = SchedulerSettings::by_name(queue).map(|scheduler| Queue::new(scheduler, limit));
    let design = || DesignSettings::by_name(queue).map(|design| Queue::of_design(design, None));
    let queue = Arc::new(scheduler.or_else(design).expect("a discipline"));
    let line = |from: u32| LinePlan {
        name: "line".into(),
        is_reverse: from == 1,
        is_access: false,
        from,
        to: 1 - from,
        speed: Speed::Rate(Rate::new(mbit * 1_000_000).expect("a rate")),
        delay: Time::from_ms(1),
        impairment: Impairment::default(),
        queue: Arc::clone(&queue),
        link_header: 0,
    };
    let host = |name: &str, number: u8, commands| HostPlan {
        name: name.into(),
        addresses: vec![[10, 77, number, 1].into()],
        control: "reno".into(),
        ecn: false,
        commands,
    };
    Plan {
        hosts: vec![host("left", 0, Vec::new()), host("right", 1, vec![right])],
        lines: vec![line(0), line(1)],
        nodes: 2,
        next: vec![vec![None, Some(0)], vec![Some(1), None]],
        flows: Vec::new(),
        seed: 1,
    }
}
