//! Two hosts that are user-mode Linux in virtual time, at the ends of one line with 20 ms of delay:
//!
//! ```sh
//! cargo run --release -p fairq-gateway --example host_kernel -- \
//!     ./linux fq_codel 20 'iperf3 -s -1' 'iperf3 -c right -n 3M'
//! ```
//!
//! The kernel, the queue, the line's rate in Mbit/s, the command in `right` and the one in `left`,
//! whose end is the end. Flows and queues are printed as JSON. docs/guide/host-kernel.md says how
//! the kernel is built.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("user-mode Linux runs on Linux");
}

#[cfg(target_os = "linux")]
mod linux {
    use fairq_gateway::kernel::{self, launch::Settings};
    use fairq_gateway::network::Network;
    use fairq_gateway::plan::{HostPlan, LinePlan, Plan, Speed};
    use fairq_link::impairment::Impairment;
    use fairq_sched::queue::Queue;
    use fairq_sched::registry::{DesignSettings, SchedulerSettings};
    use fairq_sched::units::{Limit, Rate, Time};
    use std::error::Error;
    use std::sync::Arc;

    pub(crate) fn main() -> Result<(), Box<dyn Error>> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [kernel, queue, rate, right, left] = words.as_slice() else {
            return Err("write KERNEL QUEUE MBIT_PER_S RIGHT_COMMAND LEFT_COMMAND".into());
        };
        let plan = plan(queue, rate.parse()?, right)?;
        let temporary = std::env::temp_dir();
        let front = Some((0, shell(left)));
        let settings = Settings { kernel: kernel.as_ref(), temporary: &temporary, memory: 96, front };
        let mut network = Network::new(&plan);
        let ran = kernel::emulate(&plan, &settings, &mut network, Time::from_s(1000))?;
        let report = network.report(ran.elapsed);
        println!("{}", serde_json::to_string_pretty(&report.flows)?);
        println!("{}", serde_json::to_string_pretty(&report.queues)?);
        eprintln!("{ran:?}");
        Ok(())
    }

    fn shell(command: &str) -> Vec<String> {
        ["/bin/sh", "-c", command].map(str::to_owned).into()
    }

    fn plan(queue: &str, mbit: u64, right: &str) -> Result<Plan, Box<dyn Error>> {
        let limit = Some(Limit::Packets(1000));
        let queue = match (SchedulerSettings::by_name(queue), DesignSettings::by_name(queue)) {
            (Some(scheduler), _) => Queue::new(scheduler, limit),
            (None, Some(design)) => Queue::of_design(design, limit),
            (None, None) => return Err(format!("no queue is called {queue}").into()),
        };
        let queue = Arc::new(queue);
        let rate = Rate::new(mbit * 1_000_000).ok_or("a rate is above zero")?;
        let line = |is_reverse: bool| LinePlan {
            name: "line".into(),
            is_reverse,
            is_access: false,
            from: u32::from(is_reverse),
            to: u32::from(!is_reverse),
            speed: Speed::Rate(rate),
            delay: Time::from_ms(20),
            impairment: Impairment::default(),
            queue: Arc::clone(&queue),
            link_header: 0,
        };
        let host = |(number, name): (usize, &str)| {
            let address = format!("10.77.{number}.1").parse()?;
            let commands = if name == "right" { vec![shell(right)] } else { Vec::new() };
            Ok(HostPlan { name: name.into(), addresses: vec![address], control: "cubic".into(), ecn: false, commands })
        };
        Ok(Plan {
            hosts: ["left", "right"].into_iter().enumerate().map(host).collect::<Result<_, Box<dyn Error>>>()?,
            lines: vec![line(false), line(true)],
            nodes: 2,
            next: vec![vec![None, Some(0)], vec![Some(1), None]],
            flows: Vec::new(),
            seed: 1,
        })
    }
}
