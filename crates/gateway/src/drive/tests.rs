//! The loop over pairs of sockets: a test is the host. Packets and order are asserted, never times.

use super::*;
use crate::made::{mbit, queue, two};
use crate::packet::made::Made;
use crate::pair::Pair;
use crate::plan::{Plan, Speed};
use crate::report::Report;
use fairq_testkit::mutate::Mutator;
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::{AsFd, OwnedFd};
use std::thread::JoinHandle;

/// A gateway in a thread of its own, with the ends of its hosts.
struct Running {
    hosts: [Pair; 2],
    stop: OwnedFd,
    loop_: JoinHandle<io::Result<Report>>,
}

impl Running {
    fn new(plan: &Plan, mode: Mode) -> Self {
        let [left, left_inside] = Pair::new().unwrap();
        let [right, right_inside] = Pair::new().unwrap();
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
        let inner = stop.try_clone().unwrap();
        let (network, packet_time) = (Network::new(plan), packet_time(plan));
        let loop_ = std::thread::spawn(move || {
            let mut devices: Vec<Box<dyn Device>> = vec![Box::new(left_inside), Box::new(right_inside)];
            let options = Options { mode, spin: false, end: Some(Time::from_s(60)), tail: Time::ZERO, packet_time };
            run(network, &mut devices, &options, inner.as_fd(), None)
        });
        Self { hosts: [left, right], stop, loop_ }
    }

    /// The next packet for a host.
    fn next(&mut self, host: usize) -> (Vec<u8>, crate::device::Offload) {
        let mut buffer = vec![0; LENGTH_MAX];
        for _ in 0..200_000 {
            if let Some((length, offload)) = self.hosts[host].read(&mut buffer).unwrap() {
                return (buffer[..length].to_vec(), offload);
            }
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        panic!("no packet came for host {host}");
    }

    fn send(&mut self, host: usize, packet: &[u8], offload: &crate::device::Offload) {
        while self.hosts[host].write(packet, offload).unwrap() == crate::device::Written::Full {
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
    }

    fn end(self) -> Report {
        rustix::io::write(&self.stop, &1u64.to_ne_bytes()).unwrap();
        self.loop_.join().unwrap().unwrap()
    }
}

const LEFT: &str = "10.77.0.1";
const RIGHT: &str = "10.77.1.1";

#[test]
fn packets_cross_both_ways_and_the_report_counts_them() {
    let mut running = Running::new(&two(&mbit(100), Time::from_ms(2), queue("fq", 100)), Mode::Exact);
    for id in 0..50 {
        let packet = Made { id, ..Made::udp(LEFT, RIGHT, 1000) }.bytes(true);
        running.send(0, &packet, &Default::default());
        assert_eq!(running.next(1).0, packet);
        let answer = Made { id, ports: [5000, 4000], ..Made::udp(RIGHT, LEFT, 100) }.bytes(true);
        running.send(1, &answer, &Default::default());
        assert_eq!(running.next(0).0, answer);
    }
    let report = running.end();
    let flows: Vec<(bool, u64, u64)> =
        report.flows.iter().map(|row| (row.is_answer, row.sent, row.throughput_packets)).collect();
    assert_eq!(flows, [(false, 50, 50), (true, 50, 50)]);
    assert_eq!((report.lateness.count, report.gateway.packets, report.gateway.reads), (100, 100, 100));
    assert_eq!(report.lateness.histogram.iter().map(|(_, count)| count).sum::<u64>(), 100);
    assert_eq!(report.stamp.is_valid, report.stamp.reasons.is_empty());
    // A packet time is that of the line: 1500 bytes at 100 Mbit/s.
    assert!((report.gateway.packet_time_s - 0.000_12).abs() < 1e-12);
}

#[test]
fn in_fast_mode_segments_come_together_and_with_the_same_bytes() {
    let offload =
        crate::device::Offload { segments: crate::device::Segments::Tcp, segment: 1000, checksum: Some((20, 16)) };
    let made = Made::tcp(LEFT, RIGHT, 30_000);
    for mode in [Mode::Exact, Mode::Fast] {
        let mut running = Running::new(&two(&Speed::Unlimited, Time::ZERO, queue("fifo", 100)), mode);
        running.send(0, &made.bytes(false), &offload);
        let (mut data, mut writes) = (Vec::new(), 0);
        while data.len() < made.data.len() {
            let (packet, offload) = running.next(1);
            let shape = crate::packet::Shape::of(&packet).unwrap();
            assert_eq!(offload.checksum, Some((20, 16)));
            data.extend_from_slice(&packet[shape.payload..]);
            writes += 1;
        }
        assert_eq!(data, made.data);
        assert_eq!(writes, if mode == Mode::Exact { 30 } else { 1 });
        let report = running.end();
        assert_eq!((report.gateway.packets, report.gateway.writes, report.stamp.mode), (30, writes, mode));
    }
}

#[test]
fn what_was_asked_for_is_not_delivered_faster() {
    // 40 packets of 1500 bytes at 12 Mbit/s are 40 ms: earlier none may come.
    let mut running = Running::new(&two(&mbit(12), Time::ZERO, queue("fifo", 100)), Mode::Exact);
    for id in 0..40 {
        running.send(0, &Made { id, ..Made::udp(LEFT, RIGHT, 1472) }.bytes(true), &Default::default());
    }
    for id in 0..40 {
        assert_eq!(crate::packet::u16_at(&running.next(1).0, 4), Some(id));
    }
    let report = running.end();
    assert!(report.elapsed_s >= 0.040, "{}", report.elapsed_s);
    assert!(report.flows[0].delay_s_max.unwrap() <= 0.0401);
}

#[test]
fn a_host_that_is_gone_is_not_asked_again_and_again() {
    let mut running = Running::new(&two(&mbit(100), Time::ZERO, queue("fifo", 100)), Mode::Exact);
    let packet = Made::udp(LEFT, RIGHT, 100).bytes(true);
    running.send(0, &packet, &Default::default());
    assert_eq!(running.next(1).0, packet);
    let [other, _] = Pair::new().unwrap();
    drop(std::mem::replace(&mut running.hosts[0], other));
    std::thread::sleep(std::time::Duration::from_millis(100));
    let report = running.end();
    assert!(report.gateway.wakeups < 50, "{:?}", report.gateway);
    assert_eq!(report.flows[0].throughput_packets, 1);
}

/// Damaged packets, with headers of offloads that are damaged too.
fn fuzz(count: u64, seed: u64) {
    let mut running = Running::new(&two(&mbit(10_000), Time(1000), queue("fq_codel", 100)), Mode::Fast);
    let mut random = Mutator::new(seed);
    let v6 = ["fd77:0::1", "fd77:1::1"];
    let seeds: Vec<Vec<u8>> = [(LEFT, RIGHT), (v6[0], v6[1])]
        .iter()
        .flat_map(|(from, to)| [Made::tcp(from, to, 3000).bytes(false), Made::udp(from, to, 200).bytes(true)])
        .map(|packet| {
            let offload = crate::device::Offload {
                segments: crate::device::Segments::Tcp,
                segment: 1000,
                checksum: Some((20, 16)),
            };
            [&crate::packet::virtio::written(&packet, &offload)[..], &packet].concat()
        })
        .collect();
    let mut buffer = vec![0; LENGTH_MAX];
    for _ in 0..count {
        let message = random.mutant(&seeds, &[&[0x45, 0], &[0x60, 0, 0, 0], &[44, 0], &[1, 1, 0, 0]]);
        let message = &message[..message.len().min(65_000)];
        // Empty messages say that the other end is closed.
        while !message.is_empty() && rustix::io::write(running.hosts[0].descriptor(), message).is_err() {
            while running.hosts[1].read(&mut buffer).unwrap().is_some() {}
            std::thread::yield_now();
        }
    }
    // It still carries what a host sends.
    let packet = Made { id: 0xabcd, ports: [1, 2], ..Made::udp(LEFT, RIGHT, 999) }.bytes(true);
    running.send(0, &packet, &Default::default());
    while running.next(1).0 != packet {}
    let report = running.end();
    assert!(report.refused.not_ip > 0 && report.gateway.reads >= count * 9 / 10, "{:?}", report.gateway);
}

#[test]
fn a_hundred_thousand_damaged_packets_do_no_harm() {
    fuzz(100_000, 11);
}

#[test]
#[ignore = "a minute or more; run nightly"]
fn ten_million_damaged_packets_do_no_harm() {
    for part in 0..10 {
        fuzz(1_000_000, 1000 + part);
    }
}
