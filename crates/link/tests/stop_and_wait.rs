//! How to test a protocol on a path: a protocol without I/O that sends a packet again until it is
//! acknowledged, over `fq` with loss and jitter both ways. Time is an argument of the protocol, so
//! that a test of minutes takes milliseconds and gives the same each time.

use fairq_link::impairment::{Impairment, Loss};
use fairq_link::path::{Path, PathSettings, Poll};
use fairq_sched::contract::{Discipline, Line};
use fairq_sched::packet::{Address, Header};
use fairq_sched::queue::Queue;
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::units::{Limit, Rate, Time};

/// Sends `last` packets, each until it is acknowledged.
struct Sender {
    next: u32,
    last: u32,
    patience: Time,
    /// When the packet on its way is sent again; `None` if it is to be sent now.
    timer: Option<Time>,
    /// Packets sent, with those that were sent again.
    sent: u32,
}

impl Sender {
    fn new(last: u32, patience: Time) -> Self {
        Self { next: 0, last, patience, timer: None, sent: 0 }
    }

    /// The packet to send now, if there is one.
    fn transmit(&mut self, now: Time) -> Option<u32> {
        if self.next == self.last || self.timer.is_some_and(|timer| now < timer) {
            return None;
        }
        self.timer = Some(now + self.patience);
        self.sent += 1;
        Some(self.next)
    }

    fn acknowledged(&mut self, number: u32) {
        if number == self.next {
            (self.next, self.timer) = (number + 1, None);
        }
    }
}

/// Keeps each packet once, and acknowledges all it gets.
#[derive(Default)]
struct Receiver(Vec<u32>);

impl Receiver {
    fn receive(&mut self, number: u32) -> u32 {
        if number as usize == self.0.len() {
            self.0.push(number);
        }
        number
    }
}

fn header(port: u16) -> Header {
    Header {
        source: Address::Node(0),
        destination: Address::Node(1),
        protocol: 17,
        source_port: port,
        destination_port: port,
        tos: 0,
    }
}

fn path(seed: u64, impairment: Impairment) -> Path<Box<dyn Discipline>, u32> {
    let rate = Rate::new(1_000_000).expect("a rate of the test");
    let fq = SchedulerSettings::by_name("fq").expect("it is in the registry");
    let queue = Queue::new(fq, Some(Limit::Packets(20))).build(&Line::new(rate));
    Path::new(PathSettings { impairment, ..PathSettings::new(rate, Time::from_ms(10)) }, queue, seed)
}

/// Sends 200 packets. Returns what the receiver got, the packets sent, and when the last was
/// acknowledged.
fn run(seed: u64, impairment: Impairment) -> (Vec<u32>, u32, Time) {
    let (mut there, mut back) = (path(seed, impairment), path(seed + 1, impairment));
    let (mut sender, mut receiver) = (Sender::new(200, Time::from_ms(100)), Receiver::default());
    let mut now = Time::ZERO;
    while sender.next < sender.last {
        if let Some(number) = sender.transmit(now) {
            there.push(now, 1250, &header(1), number);
        }
        let mut wakes = sender.timer;
        loop {
            match there.poll(now) {
                Poll::Delivered { at, payload, .. } => back.push(at, 125, &header(2), receiver.receive(payload)),
                Poll::Dropped { .. } => {}
                Poll::NotBefore(time) => break wakes = wakes.into_iter().chain([time]).min(),
                Poll::Empty => break,
            }
        }
        let next = sender.next;
        loop {
            match back.poll(now) {
                Poll::Delivered { payload, .. } => sender.acknowledged(payload),
                Poll::Dropped { .. } => {}
                Poll::NotBefore(time) => break wakes = wakes.into_iter().chain([time]).min(),
                Poll::Empty => break,
            }
        }
        if sender.next == next {
            now = wakes.expect("something happens until all is acknowledged");
        }
    }
    (receiver.0, sender.sent, now)
}

#[test]
fn every_packet_arrives_once_and_in_order_whatever_is_lost() {
    let loss = Loss { probability: 0.1, burst: None };
    let impairment = Impairment { loss, jitter: Time::from_ms(5), reorder: 0.05, reorder_delay: Time::from_ms(30) };
    for seed in 0..20 {
        let (received, sent, took) = run(seed, impairment);
        assert_eq!(received, (0..200).collect::<Vec<_>>(), "seed {seed}");
        // One in 1 / 0.81 is sent again, after a tenth of a second each.
        assert!((215..290).contains(&sent), "seed {seed}: {sent} were sent");
        assert!(took > Time::from_ms(200 * 31) + Time::from_ms(u64::from(sent - 200) * 50), "seed {seed}: {took:?}");
        assert_eq!(run(seed, impairment), (received, sent, took), "the same again");
    }
}

#[test]
fn where_nothing_goes_wrong_a_packet_takes_a_round_trip() {
    let (received, sent, took) = run(0, Impairment::default());
    // 10 ms and 1 ms of transmission, 10 ms of delay each way.
    assert_eq!((received.len(), sent, took), (200, 200, Time::from_ms(200 * 31)));
}
