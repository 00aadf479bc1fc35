//! Hosts as kernels in virtual time: two runs are the same, packet by packet. A kernel is brought
//! by the environment variable `FAIRQ_HOST_KERNEL` (docs/guide/host-kernel.md).
#![cfg(target_os = "linux")]

use fairq_gateway::kernel::{self, launch::Settings, run::Ran};
use fairq_gateway::network::Network;
use fairq_gateway::plan::{HostPlan, LinePlan, Plan, Speed};
use fairq_link::impairment::Impairment;
use fairq_sched::queue::Queue;
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::units::{Limit, Rate, Time};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sender and a receiver of TCP that every machine with fairq has.
const RECEIVER: &str = "import socket;l=socket.create_server(('',5000));c=l.accept()[0]\nwhile c.recv(65536):pass";
const SENDER: &str =
    "import socket;s=socket.create_connection(('right',5000));s.sendall(bytes(100000));s.shutdown(1);s.recv(1)";

fn python(program: &str) -> Vec<String> {
    ["/usr/bin/env", "python3", "-c", program].map(str::to_owned).into()
}

/// `left` and `right` at a line of 10 Mbit/s with 20 ms and room for 20 packets.
fn plan() -> Plan {
    let scheduler = SchedulerSettings::by_name("fq").expect("it is called so");
    let queue = Arc::new(Queue::new(scheduler, Some(Limit::Packets(20))));
    let line = |is_reverse: bool| LinePlan {
        name: "line".into(),
        is_reverse,
        is_access: false,
        from: u32::from(is_reverse),
        to: u32::from(!is_reverse),
        speed: Speed::Rate(Rate::new(10_000_000).expect("a rate")),
        delay: Time::from_ms(20),
        impairment: Impairment::default(),
        queue: Arc::clone(&queue),
        link_header: 0,
    };
    let host = |number: usize, name: &str| HostPlan {
        name: name.into(),
        addresses: vec![format!("10.77.{number}.1").parse().expect("an address")],
        control: "cubic".into(),
        ecn: false,
        commands: if number == 1 { vec![python(RECEIVER)] } else { Vec::new() },
    };
    Plan {
        hosts: vec![host(0, "left"), host(1, "right")],
        lines: vec![line(false), line(true)],
        nodes: 2,
        next: vec![vec![None, Some(0)], vec![Some(1), None]],
        flows: Vec::new(),
        seed: 1,
    }
}

fn run(kernel: &Path) -> (Ran, serde_json::Value) {
    let (plan, temporary) = (plan(), std::env::temp_dir());
    let settings = Settings { kernel, temporary: &temporary, memory: 96, front: Some((0, python(SENDER))) };
    let mut network = Network::new(&plan);
    let ran = kernel::emulate(&plan, &settings, &mut network, Time::from_s(60)).expect("the kernels run");
    (ran, serde_json::to_value(network.report(ran.elapsed)).expect("a report is JSON"))
}

#[expect(clippy::disallowed_methods, reason = "the kernel is brought from outside")]
fn brought() -> Option<PathBuf> {
    std::env::var("FAIRQ_HOST_KERNEL").ok().map(PathBuf::from)
}

#[test]
fn linux_sends_the_same_packets_twice() {
    let Some(kernel) = brought() else {
        return fairq_testkit::skip::skip("FAIRQ_HOST_KERNEL names no user-mode Linux");
    };
    let (ran, report) = run(&kernel);
    assert_eq!((ran.status, ran.lost), (Some(0), 0));
    let data = report["flows"].as_array().expect("rows").iter().find(|row| row["is_answer"] == false);
    let data = data.expect("a flow with data");
    assert_eq!(data["goodput_bytes"], 100_000, "all of it came to the other kernel");
    let rtt = data["rtt_s_mean"].as_f64().expect("a round trip");
    assert!(rtt > 0.04, "{rtt}: the delay of the line both ways, and its queue");
    assert_eq!((ran, report), run(&kernel));
}

#[test]
fn a_program_that_is_no_such_kernel_is_said_to_be_none() {
    let plan = plan();
    let temporary = std::env::temp_dir();
    let mut network = Network::new(&plan);
    for (kernel, says) in [("/bin/true", "ended at once"), ("/nothing/here", "No such file")] {
        let settings = Settings { kernel: kernel.as_ref(), temporary: &temporary, memory: 96, front: None };
        let refused = kernel::emulate(&plan, &settings, &mut network, Time::from_s(1)).unwrap_err();
        assert!(refused.message.contains(says), "{refused}");
    }
}
