//! Prints the conversations of a capture, and writes it again as pcapng if a second path is given:
//!
//! ```text
//! cargo run -p fairq-link --example conversations -- capture.pcap [copy.pcapng]
//! ```

use fairq_link::capture::{Clock, Reader, Writer};
use fairq_sched::packet::Address;
use fairq_sched::units::Time;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1);
    let path = paths.next().ok_or("give the path of a capture")?;
    let mut writer = match paths.next() {
        Some(copy) => Some(Writer::new(BufWriter::new(File::create(copy)?))?),
        None => None,
    };
    let mut reader = Reader::new(File::open(&path)?, &path)?;
    let mut clock = Clock::new(Time::from_s(60));
    let mut conversations: BTreeMap<(Address, Address), (u64, u64)> = BTreeMap::new();
    let mut last = Time::ZERO;
    while let Some(record) = reader.next() {
        let record = record?;
        last = clock.arrival(record.stamp);
        let entry = conversations.entry((record.header.source, record.header.destination)).or_default();
        entry.0 += 1;
        entry.1 += u64::from(record.length);
        if let Some(writer) = &mut writer {
            writer.write(&record.frame())?;
        }
    }
    if let Some(writer) = writer {
        writer.finish()?;
    }
    for ((source, destination), (packets, bytes)) in &conversations {
        println!("{}\t{}\t{packets}\t{bytes}", text(source), text(destination));
    }
    eprintln!("{} packets, {} conversations, {last} long; {}", reader.packets(), conversations.len(), clock.report());
    Ok(())
}

fn text(address: &Address) -> String {
    match address {
        Address::Node(number) => number.to_string(),
        Address::V4(bytes) => std::net::Ipv4Addr::from(*bytes).to_string(),
        Address::V6(bytes) => std::net::Ipv6Addr::from(*bytes).to_string(),
        Address::Mac(bytes) => bytes.map(|byte| format!("{byte:02x}")).join(":"),
    }
}
