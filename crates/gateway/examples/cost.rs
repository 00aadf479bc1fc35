//! What a packet costs in the network without devices: classified, queued, sent, delivered, its
//! bytes copied once. Nanoseconds of processor time a packet, for single packets and for those cut
//! from 64 kB: `cargo run --release -p fairq-gateway --example cost [PACKETS]`.

use fairq_gateway::device::{Offload, Segments};
use fairq_gateway::network::Network;
use fairq_gateway::plan::{HostPlan, LinePlan, Plan, Speed};
use fairq_link::impairment::Impairment;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{DesignSettings, SchedulerSettings};
use fairq_sched::units::{Limit, Rate, Time};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;

fn main() {
    let packets = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2_000_000);
    println!("{:<10} {:>12} {:>12} {:>12}", "queue", "1500 B", "from 64 kB", "backlogged");
    for name in ["fifo", "fq", "drr", "fq_codel", "cake"] {
        let [single, cut, backlogged] =
            [(1, 1), (44, 44), (1, 2)].map(|(segments, each)| cost(name, packets, segments, each));
        println!("{name:<10} {single:>9.0} ns {cut:>9.0} ns {backlogged:>9.0} ns");
    }
}

/// Nanoseconds a packet, of `segments` that arrive at once; a turn has `each` times the time that
/// the line takes for a packet, less a little if that is more than `segments`.
fn cost(name: &str, packets: u64, segments: u64, each: u64) -> f64 {
    let mut network = Network::new(&plan(name));
    let (frame, offload) = frame(segments);
    let turns = packets / segments;
    // 1500 bytes at 12 Gbit/s.
    let step = if each > segments { 990_000 } else { 1_010_000 * each };
    let before = clock_gettime(ClockId::ThreadCPUTime);
    for turn in 0..turns {
        network.arrive(Time(turn * step), 0, &frame, &offload);
        while let Some(delivery) = network.next_delivery() {
            network.recycle(delivery.bytes);
        }
    }
    let after = clock_gettime(ClockId::ThreadCPUTime);
    let ns = (after.tv_sec - before.tv_sec) as f64 * 1e9 + (after.tv_nsec - before.tv_nsec) as f64;
    ns / (turns * segments) as f64
}

fn plan(name: &str) -> Plan {
    let limit = Some(Limit::Packets(1000));
    let scheduler = SchedulerSettings::by_name(name).map(|scheduler| Queue::new(scheduler, limit));
    let design = || DesignSettings::by_name(name).map(|design| Queue::of_design(design, None));
    let queue = Arc::new(scheduler.or_else(design).expect("a discipline"));
    let line = |from, to| LinePlan {
        name: "line".into(),
        is_reverse: from > to,
        is_access: false,
        from,
        to,
        speed: Speed::Rate(Rate::new(12_000_000_000).expect("a rate")),
        delay: Time(50_000_000),
        impairment: Impairment::default(),
        queue: Arc::clone(&queue),
        link_header: 0,
    };
    let host = |number: u8| HostPlan {
        name: format!("host{number}").into(),
        addresses: vec![[10, 77, number, 1].into()],
        control: "reno".into(),
        ecn: false,
        commands: Vec::new(),
    };
    Plan {
        hosts: vec![host(0), host(1)],
        lines: vec![line(0, 1), line(1, 0)],
        nodes: 2,
        next: vec![vec![None, Some(0)], vec![Some(1), None]],
        flows: Vec::new(),
        seed: 1,
    }
}

/// A TCP packet of `segments` times 1460 bytes, as a host with offload gives it.
fn frame(segments: u64) -> (Vec<u8>, Offload) {
    let length = 40 + 1460 * segments as usize;
    let mut frame = vec![0; length];
    frame[0] = 0x45;
    frame[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    frame[8..10].copy_from_slice(&[64, 6]);
    frame[12..20].copy_from_slice(&[10, 77, 0, 1, 10, 77, 1, 1]);
    frame[20..24].copy_from_slice(&[0x10, 0, 0x14, 0x51]);
    frame[32..34].copy_from_slice(&[0x50, 0x10]);
    let one = Offload { segments: Segments::One, segment: 0, checksum: Some((20, 16)) };
    let several = Offload { segments: Segments::Tcp, segment: 1460, ..one };
    (frame, if segments == 1 { one } else { several })
}
