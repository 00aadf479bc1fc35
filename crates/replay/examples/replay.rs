//! Replays a capture and prints the report as JSON, or measures the replay on a generated stream:
//!
//! ```text
//! cargo run --release -p fairq-replay --example replay -- capture.pcap 300kbit/s 40packets fifo,fq
//! cargo run --release -p fairq-replay --example replay -- speed 10000000 fifo [fluid]
//! ```

use fairq_link::capture::Reader;
use fairq_replay::{Arrival, LaneSettings, Replay, Settings, Stream, Under, replay_capture};
use fairq_sched::hash::splitmix;
use fairq_sched::packet::{Address, Header};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{ClassifierSettings, SchedulerSettings};
use fairq_sched::units::{Limit, Rate, Time};
use std::error::Error;
use std::fs::File;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match text[..] {
        ["speed", packets, disciplines] => speed(packets.parse()?, disciplines, false),
        ["speed", packets, disciplines, "fluid"] => speed(packets.parse()?, disciplines, true),
        [path, rate, buffer, disciplines] => {
            let replay = replay_of(rate.parse()?, buffer.parse()?, disciplines, true)?;
            let stream = Stream { name: path, gap_max: Time::from_s(10), only: None };
            let mut reader = Reader::new(File::open(path)?, path)?;
            let report = replay_capture(&mut reader, &stream, replay, &mut |_| true)?;
            println!("{}", serde_json::to_string_pretty(&report)?);
            Ok(())
        }
        _ => Err("give a capture, a rate, a buffer and disciplines".into()),
    }
}

fn replay_of(rate: Rate, limit: Limit, disciplines: &str, with_fluid: bool) -> Result<Replay, Box<dyn Error>> {
    let mut lanes = Vec::new();
    for name in disciplines.split(',') {
        let scheduler = SchedulerSettings::by_name(name).ok_or_else(|| format!("{name}: no such discipline"))?;
        lanes.push(LaneSettings { name: name.to_owned(), queue: Queue::new(scheduler, Some(limit)), sink: None });
    }
    let classifier = Some(ClassifierSettings::Pair(Default::default()));
    Ok(Replay::new(Settings {
        rate,
        direction: None,
        classifier,
        seed: 0,
        with_fluid,
        under: Under::Device,
        class_burst: Time::ZERO,
        lanes,
    })?)
}

/// A line at 95 % load, 64 flows, packets of 40 to 1500 bytes.
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn speed(packets: u64, disciplines: &str, with_fluid: bool) -> Result<(), Box<dyn Error>> {
    let mut replay = replay_of("1 Gbit/s".parse()?, Limit::Packets(1000), disciplines, with_fluid)?;
    let begun = std::time::Instant::now();
    let mut time = Time::ZERO;
    for n in 0..packets {
        let draw = splitmix(n);
        time = time + Time(draw % 12_968_421);
        let header = Header {
            source: Address::Node((draw >> 32) as u32 % 64),
            destination: Address::Node(0),
            protocol: 0,
            source_port: 0,
            destination_port: 0,
            tos: 0,
        };
        replay.offer(&Arrival::new(time, 40 + (draw >> 40) as u32 % 1461, header))?;
    }
    let kept_max = replay.kept_max();
    let report = replay.finish()?;
    let seconds = begun.elapsed().as_secs_f64();
    let dropped: u64 = report.disciplines.iter().map(|discipline| discipline.dropped).sum();
    println!("{:.2} million packets/s; {dropped} dropped, at most {kept_max} kept", packets as f64 / seconds / 1e6);
    Ok(())
}
