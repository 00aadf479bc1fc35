//! One workload of the benchmarks alone, for a profiler: `workload dumbbell fq 100`,
//! `workload run scenario.toml`, `workload busy fq 4096 1000000`, or
//! `workload backlog fq 4096 1000000`, which is what `fairq bench disciplines` times.
//! `workload floors drr qfq` prints the measurement, alternating with the floors: nanoseconds and
//! ratio for each number of flows. `workload window TRANSPORT CONNECTION 5000` is a connection with
//! 5000 packets in flight, of which a burst is lost.

use fairq_bench::{Bench, Busy, Mix, subjects};
use fairq_experiment::experiment::{Experiment, Options};
use fairq_sched::units::Time;
use fairq_sim::transport::Ends;
use fairq_sim::transport::messages::{Acknowledgement, Arrival};
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::supply::Supply;
use fairq_sim::transport::tcp::Setup;
use fairq_sim::transport::tcp::settings::Terms;
use fairq_testkit::scenarios::dumbbell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// Numbers of flows for the comparison with the floors.
const FLOWS: [u32; 4] = [16, 256, 4096, 32_768];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|a| a.parse().ok()).expect("a number");
    match arguments.first().map(String::as_str) {
        Some("dumbbell") => {
            let experiment =
                Experiment::read(&dumbbell(&arguments[1], number(2)), "dumbbell", &[]).expect("a scenario");
            let files = |name: &str| Err(name.to_string());
            let options = Options { workers: 1, files: &files, progress: &mut |_| true };
            let Ok(result) = experiment.run(options) else { panic!("stopped") };
            println!("{} packet-hops", result["run_info"]["packet_hops"]);
        }
        Some("run") => {
            let text = std::fs::read_to_string(&arguments[1]).expect("a file");
            let split = |set: &String| set.split_once('=').map(|(path, value)| (path.to_owned(), value.to_owned()));
            let sets: Option<Vec<_>> = arguments[2..].iter().map(split).collect();
            let experiment = Experiment::read(&text, &arguments[1], &sets.expect("PATH=VALUE")).expect("a scenario");
            let files = |name: &str| Err(name.to_string());
            let options = Options { workers: 1, files: &files, progress: &mut |_| true };
            let Ok(outcome) = experiment.outcome(options) else { panic!("stopped") };
            println!("{} packet-hops", outcome.run_info["packet_hops"]);
            let flows = &outcome.points[0].mean().flows;
            let columns = ["flow", "goodput_packets", "retransmitted", "dropped"].map(|name| flows.column(name));
            for at in 0..flows.rows().min(20) {
                println!("{:?}", columns.map(|column| column.map(|cells| cells.at(at))));
            }
            // The result is written whole, into a sink, in the form of `fairq run`.
            serde_json::to_writer(std::io::sink(), &outcome).expect("a result");
        }
        Some("busy") => {
            let mut busy = Busy::new(&fairq_text::queue(&arguments[1]).expect("a queue"), number(2) as u32);
            println!("{} bytes", busy.exchange(number(3)));
        }
        Some("backlog") => {
            let subject = subjects(&arguments[1..2]).expect("a discipline");
            let mix = if arguments.iter().any(|a| a == "mixed") { Mix::Mixed } else { Mix::Equal };
            let mut backlog = subject[0].backlog(number(2) as u32, mix).expect("a discipline that stands alone");
            backlog.fill();
            println!("{} packets", backlog.exchange(number(3)));
        }
        Some("floors") => {
            let is_mixed = arguments.iter().any(|a| a == "mixed");
            let names: Vec<String> = arguments[1..].iter().filter(|a| *a != "mixed").cloned().collect();
            floors(&names, if is_mixed { Mix::Mixed } else { Mix::Equal });
        }
        Some("window") => {
            let (sent, flight) = window(&arguments[1], &arguments[2], number(3));
            println!("{sent} packets\n{flight} in flight");
        }
        _ => println!(
            "workload dumbbell QUEUE SECONDS | workload run FILE [PATH=VALUE …] | workload busy QUEUE FLOWS PACKETS | workload backlog NAME FLOWS PACKETS [mixed] | workload floors NAME... [mixed] | workload window TRANSPORT CONNECTION PACKETS"
        ),
    }
}

/// Three windows of packets through a pipe of 100 ms, which carries four windows in that time. Of
/// the first window each twentieth packet from 0.4 to 0.8 is lost, and a fiftieth in a row from 0.5
/// on. Returns the number of packets sent, and the most in flight.
fn window(transport: &str, connection: &str, window: u64) -> (u64, u64) {
    let settings: Arc<TransportSettings> = Arc::new(serde_json::from_str(transport).expect("a transport"));
    let connection =
        Arc::new(Terms::new(serde_json::from_str(connection).expect("a connection"), Arc::clone(&settings)));
    let supply = Supply::Ready { length: 1000, left: 3 * window };
    let Ends { mut sender, mut receiver } = settings.build(Setup { supply, connection, seed: 1 });
    let (there, gap) = (Time::from_ms(50), Time(Time::from_ms(25).0 / window));
    let mut packets: VecDeque<(Time, Arrival)> = VecDeque::new();
    let mut answers: VecDeque<(Time, Acknowledgement)> = VecDeque::new();
    let (mut now, mut arrives, mut sent, mut flight) = (Time::ZERO, Time::ZERO, 0, 0);
    loop {
        while let Some(packet) = sender.poll(now) {
            sent += 1;
            arrives = (arrives + gap).max(now + there);
            let fiftieth = 50 * packet.sequence / window;
            let is_lost = (20..40).contains(&fiftieth) && packet.sequence.is_multiple_of(20) || fiftieth == 25;
            if is_lost && !packet.is_retransmission {
                continue;
            }
            let arrival = Arrival {
                flags: packet.flags,
                round_trip: packet.round_trip,
                ..Arrival::of(packet.sequence, packet.length, now)
            };
            packets.push_back((arrives, arrival));
        }
        flight = flight.max((packets.len() + answers.len()) as u64);
        if packets.is_empty() && answers.is_empty() && sender.is_complete() {
            return (sent, flight);
        }
        let first = |time: Option<&Time>| time.copied().unwrap_or(Time::NEVER);
        let (packet, answer) = (first(packets.front().map(|p| &p.0)), first(answers.front().map(|a| &a.0)));
        now = packet.min(answer).min(sender.deadline()).min(receiver.deadline()).max(now);
        assert!(now < Time::NEVER, "stuck after {sent} packets");
        if packet <= now {
            let (_, arrival) = packets.pop_front().expect("it is there");
            answers.extend(receiver.receive(now, &arrival).1.map(|answer| (now + there, answer)));
        } else if answer <= now {
            let (_, answer) = answers.pop_front().expect("it is there");
            sender.acknowledge(now, &answer);
        } else if receiver.deadline() <= now {
            answers.extend(receiver.wake(now).map(|answer| (now + there, answer)));
        } else {
            sender.wake(now);
        }
    }
}

/// Prints a line for each of `names`: for each number of flows the nanoseconds and the ratio to its
/// floor.
#[expect(clippy::disallowed_methods, reason = "what is measured here is time")]
fn floors(names: &[String], mix: Mix) {
    let start = Instant::now();
    let mut bench = Bench {
        flows: &FLOWS,
        mix,
        // Short slices: most of them end before the system gives the processor to another process.
        exchanges: 10_000,
        turns: 101,
        clock: &mut || start.elapsed().as_secs_f64(),
        held: &|| None,
        told: &mut |_| true,
    };
    let document = bench.run(&subjects(names).expect("disciplines")).expect("never stopped");
    for row in &document.floors {
        println!("{} {}: {:.1} ns", row.floor, row.flows, row.ns_per_packet);
    }
    for of_name in document.rows.chunks(FLOWS.len()) {
        let number = |number: Option<f64>| number.unwrap_or(f64::NAN);
        let cells = of_name.iter().map(|row| format!("{:6.1} ({:.2})", number(row.ns_per_packet), number(row.ratio)));
        let cells: Vec<String> = cells.collect();
        println!("{:12} {} {}", of_name[0].discipline, of_name[0].floor.unwrap_or_default(), cells.join(" "));
    }
}
