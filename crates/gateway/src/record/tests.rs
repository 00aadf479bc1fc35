//! What is recorded, read again by other readers.

use super::captures::Captures;
use super::event_log::EventLog;
use super::packet_log::PacketLog;
use crate::made::{mbit, queue, two};
use crate::network::Network;
use crate::packet::Shape;
use crate::packet::checksum::{pseudo, sum};
use crate::packet::made::Made;
use crate::plan::{Plan, Speed};
use fairq_link::capture::{LinkType, Reader, Stamp};
use fairq_link::trace::DeliveryTrace;
use fairq_sched::units::Time;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// A sink that the test can read.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

const LEFT: &str = "10.77.0.1";
const RIGHT: &str = "10.77.1.1";

/// Packets of 1500 bytes with partial checksums, all at once, ECN-capable.
fn fill(network: &mut Network, count: u16) {
    let offload = crate::device::Offload { checksum: Some((20, 6)), ..Default::default() };
    for id in 0..count {
        let packet = Made { id, tos: 2, ports: [id % 3 + 1, 9], ..Made::udp(LEFT, RIGHT, 1472) }.bytes(false);
        network.arrive(Time::ZERO, 0, &packet, &offload);
    }
}

/// Of each packet of a capture its stamp in microseconds and its identification; checksums and
/// marks are checked.
fn read(bytes: &[u8], marked: &mut u32) -> Vec<(i128, u16)> {
    let mut reader = Reader::new(bytes, "capture").unwrap();
    let mut all = Vec::new();
    while let Some(record) = reader.next() {
        let record = record.unwrap();
        assert_eq!((record.link_type, record.length as usize), (LinkType::RAW, record.data.len()));
        let shape = Shape::of(record.data).unwrap();
        let covered = &record.data[shape.transport..];
        let total = u32::from(sum(covered)) + u32::from(pseudo(record.data, &shape, covered.len()));
        assert_eq!((sum(&record.data[..20]), (total & 0xffff) + (total >> 16)), (0xffff, 0xffff));
        *marked += u32::from(record.data[1] & 3 == 3);
        all.push((record.stamp.0 / 1_000_000, u16::from_be_bytes([record.data[4], record.data[5]])));
    }
    all
}

#[test]
fn captures_hold_what_came_and_what_left_at_its_intended_time_with_marks() {
    let mut network = Network::new(&two(&mbit(1), Time::from_ms(5), queue("fq_codel", 1000)));
    let (arrivals, departures) = (Shared::default(), Shared::default());
    let base = Stamp::from_ns(1_700_000_000_000_000_000);
    network.observe(Box::new(Captures::new(0, arrivals.clone(), departures.clone()).unwrap()));
    network.begin(base);
    fill(&mut network, 60);
    network.advance(Time::from_s(2));
    network.finish(Time::from_s(2)).unwrap();
    let (mut before, mut behind) = (0, 0);
    let came = read(&arrivals.bytes(), &mut before);
    let left = read(&departures.bytes(), &mut behind);
    let zero = base.0 / 1_000_000;
    assert_eq!(came, (0..60).map(|id| (zero, id)).collect::<Vec<_>>());
    // A packet takes 12 ms, and the delay of the line is behind the capture.
    assert_eq!(
        left.iter().map(|(at, _)| at - zero).collect::<Vec<_>>(),
        (1..=60).map(|n| n * 12_000).collect::<Vec<_>>()
    );
    assert_eq!(u64::from(behind), network.report(Time::from_s(2)).queues[0].marked);
    assert!(before == 0 && behind > 0);
}

/// A line of a trace with two opportunities, at 5 and 10 ms, and again.
fn traced() -> (Plan, Arc<DeliveryTrace>) {
    let trace = Arc::new(DeliveryTrace::parse(b"5\n10\n").unwrap());
    (two(&Speed::Trace(Arc::clone(&trace)), Time::from_ms(3), queue("fifo", 1)), trace)
}

#[test]
fn the_event_log_is_that_of_mahimahi() {
    let (plan, trace) = traced();
    let mut network = Network::new(&plan);
    let sink = Shared::default();
    network.observe(Box::new(EventLog::new(0, Some(trace), 4, sink.clone())));
    network.arrive(Time::from_ms(1), 0, &Made::udp(LEFT, RIGHT, 1472).bytes(true), &Default::default());
    network.arrive(Time::from_ms(2), 0, &Made::udp(LEFT, RIGHT, 1472).bytes(true), &Default::default());
    network.arrive(Time::from_ms(3), 0, &Made::udp(LEFT, RIGHT, 72).bytes(true), &Default::default());
    network.advance(Time::from_ms(16));
    network.finish(Time::from_ms(16)).unwrap();
    let log = String::from_utf8(sink.bytes()).unwrap();
    let expected = [
        "1 + 1504",
        "2 + 1504",
        "3 + 104",
        "3 d 1 104",
        "5 # 1504",
        "5 - 1504 4",
        "10 # 1504",
        "10 - 1504 8",
        "15 # 1504",
    ];
    assert_eq!(log.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn the_packets_of_a_flow_are_rows_in_the_order_of_sending() {
    let mut network = Network::new(&two(&mbit(12), Time::from_ms(5), queue("fifo", 1)));
    let rows = Arc::default();
    network.observe(Box::new(PacketLog::new("left:1 >".to_owned(), Arc::clone(&rows))));
    fill(&mut network, 4);
    network.advance(Time::from_s(1));
    network.finish(Time::from_s(1)).unwrap();
    // Of ports 1, 2, 3 and 1 one is sent and one waits; the last is dropped.
    let found: Vec<_> = rows.lock().unwrap().iter().map(|row| (row.sent_s, row.received_s, row.bytes)).collect();
    assert_eq!(found.len(), 2);
    assert!(found.contains(&(0.0, None, 1500)) && found.contains(&(0.0, Some(0.006), 1500)), "{found:?}");
}
