//! Real captures against known answers.
//!
//! The answers were read with tshark 4.0.17. Packets and bytes:
//! `tshark -n -r FILE -T fields -e frame.len`, counted and summed. Conversations: `-E occurrence=f
//! -e ip.src -e ip.dst -e ipv6.src -e ipv6.dst -e eth.src -e eth.dst`, the outermost IP pair, or
//! the Ethernet pair of a frame without IP; the whole tables were compared, packets and bytes of
//! each pair, and agreed; the busiest stands for them here. Gaps: differences of
//! `-e frame.time_epoch`.

use fairq_link::capture::{Clock, ClockReport, Reader, Writer};
use fairq_sched::packet::Address;
use fairq_sched::units::Time;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

/// A file; its packets, bytes and conversations, which are pairs of source and destination, in
/// their direction; packets of the busiest pair; gaps above a minute, and whole seconds cut from
/// them; the busiest pair.
type Known = (&'static str, [u64; 6], [&'static str; 2]);

const KNOWN: [Known; 5] = [
    // Two captures joined: nearly six years lie between two packets.
    ("1kxun.pcap", [1723, 2_527_774, 155, 222, 1, 184_280_625], ["106.187.35.246", "192.168.115.8"]),
    ("netflix.pcap", [1793, 1_006_416, 38, 317, 0, 0], ["192.168.1.7", "23.246.11.141"]),
    // Joined from several: gaps of 355 days, 14 days and 4 hours.
    ("quic.pcap", [518, 348_566, 19, 252, 3, 31_920_194], ["216.58.212.101", "192.168.1.109"]),
    ("teams.pcap", [1540, 679_515, 70, 247, 0, 0], ["192.168.1.6", "52.114.77.33"]),
    ("zoom_p2p.pcapng", [763, 271_804, 9, 284, 0, 0], ["192.168.12.156", "10.78.14.178"]),
];

#[test]
fn real_captures_give_what_tshark_gives() {
    let Some(folder) = captures() else { return };
    for (file, known, [source, destination]) in KNOWN {
        let path = folder.join(file);
        let mut reader = Reader::new(File::open(&path).expect("the capture is there"), file).expect("a capture");
        let mut clock = Clock::new(Time::from_s(60));
        let mut pairs: BTreeMap<(Address, Address), u64> = BTreeMap::new();
        let (mut bytes, mut last) = (0, Time::ZERO);
        while let Some(record) = reader.next() {
            let record = record.unwrap_or_else(|error| panic!("{error}"));
            bytes += u64::from(record.length);
            *pairs.entry((record.header.source, record.header.destination)).or_default() += 1;
            let arrival = clock.arrival(record.stamp);
            assert!(arrival >= last);
            last = arrival;
        }
        assert_eq!(reader.bytes_read(), path.metadata().expect("the capture is there").len(), "{file}");
        assert_eq!(reader.mended(), 0, "{file}");
        let busiest = pairs[&(v4(source), v4(destination))];
        assert_eq!(pairs.values().max(), Some(&busiest), "{file}");
        // None of these has a stamp before its predecessor's.
        let ClockReport { cut_gaps, time_cut_ps, backward_steps, .. } = clock.report();
        assert_eq!(backward_steps, 0, "{file}");
        let cut_s = (time_cut_ps / 1_000_000_000_000) as u64;
        assert_eq!([reader.packets(), bytes, pairs.len() as u64, busiest, cut_gaps, cut_s], known, "{file}");
    }
}

#[test]
fn every_real_capture_is_written_and_read_back_the_same() {
    let Some(folder) = captures() else { return };
    for entry in folder.read_dir().expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        let name = path.display().to_string();
        let original = std::fs::read(&path).expect("the capture can be read");
        let mut writer = Writer::new(Vec::new()).expect("memory takes all that is written");
        let mut reader = Reader::new(&original[..], &name).unwrap_or_else(|error| panic!("{error}"));
        while let Some(record) = reader.next() {
            writer.write(&record.unwrap_or_else(|error| panic!("{error}")).frame()).expect("a real stamp fits");
        }
        let copy = writer.finish().expect("memory takes all that is written");
        let mut reader = Reader::new(&original[..], &name).expect("it was read before");
        let mut again = Reader::new(&copy[..], "copy").expect("what was written is a capture");
        while let (Some(record), Some(same)) = (reader.next(), again.next()) {
            assert_eq!(record.expect("it was read before"), same.expect("what was written can be read"), "{name}");
        }
        assert!(reader.next().is_none() && again.next().is_none() && reader.packets() == again.packets(), "{name}");
    }
}

fn v4(text: &str) -> Address {
    Address::V4(text.parse::<std::net::Ipv4Addr>().expect("an address").octets())
}

/// The folder of real captures, if there is one.
fn captures() -> Option<PathBuf> {
    fairq_testkit::real::folder("captures", "no real capture was read")
}
