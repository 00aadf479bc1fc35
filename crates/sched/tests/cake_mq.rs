//! CAKE on a device of several queues: how the busy ones share the rate, and when they count.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::design::{cake, cake_mq};
use fairq_sched::packet::{Address, Fates, Header, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::DesignSettings;
use fairq_sched::units::{Limit, PS_PER_S, Rate, Time};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::{Arrival, Driver};
use fairq_testkit::shown::number;

const US: u64 = PS_PER_S / 1_000_000;
const LENGTH: u32 = 1000;
/// Of the shaper: 100 us a packet.
const RATE: u64 = 80_000_000;

fn rate(bit_per_s: u64) -> Rate {
    Rate::new(bit_per_s).expect("a rate of the test")
}

fn queue(queues: u32) -> Queue {
    let tins = cake::Tins::BestEffort;
    let settings = cake_mq::Settings {
        queues,
        rate: Some(rate(RATE)),
        cake: cake::Settings { tins, isolation: cake::Isolation::Flows, ..Default::default() },
        ..Default::default()
    };
    let queue = Queue::of_design(DesignSettings::CakeMq(settings), None);
    assert_eq!(queue.fault(), None);
    queue
}

fn of_port(port: u16) -> Header {
    let (source, destination) = (Address::Node(1), Address::Node(2));
    Header { source, destination, protocol: 6, source_port: port, destination_port: 80, tos: 0 }
}

/// A device with a line of 1 Gbit/s, whose flows always have two packets waiting.
struct Device {
    discipline: Box<dyn Discipline>,
    now: u64,
    fates: Fates,
    /// Bytes sent, by port.
    sent: Vec<u64>,
}

impl Device {
    fn new(queues: u32) -> Self {
        let discipline = queue(queues).build(&Line::new(rate(1_000_000_000)));
        Self { discipline, now: 0, fates: Fates::new(), sent: vec![0; 1000] }
    }

    fn offer(&mut self, port: u16) {
        let packet = Packet::new(port.into(), Time(self.now), LENGTH);
        assert!(self.discipline.enqueue(Time(self.now), packet, &of_port(port), &mut self.fates).is_some());
    }

    /// Ports whose flows go to queue `at`.
    fn ports_of(at: u32, queues: u32, count: usize) -> Vec<u16> {
        let goes_there = |port: &u16| {
            let mut device = Self::new(queues);
            device.offer(*port);
            number(&*device.discipline, &format!("{at}/packets")) == 1.0
        };
        (0..500).filter(goes_there).take(count).collect()
    }

    /// Sends for `us`; a packet that goes is followed by another of its flow if `refills`.
    fn run(&mut self, us: u64, refills: bool) {
        let end = self.now + us * US;
        while self.now < end {
            match self.discipline.dequeue(Time(self.now), &mut self.fates) {
                Dequeue::Send(packet) => {
                    self.sent[packet.token as usize] += u64::from(packet.length);
                    if refills {
                        self.offer(packet.token as u16);
                    }
                    self.now += 8 * u64::from(LENGTH) * PS_PER_S / 1_000_000_000;
                }
                Dequeue::NotBefore(time) => self.now = time.0.min(end),
                Dequeue::Empty => self.now = end,
            }
        }
    }

    fn of(&self, ports: &[u16]) -> u64 {
        ports.iter().map(|port| self.sent[usize::from(*port)]).sum()
    }

    fn active(&self, at: u32) -> f64 {
        number(&*self.discipline, &format!("{at}/active_queues"))
    }
}

#[test]
fn busy_queues_share_the_rate_evenly_whatever_their_flows() {
    let (few, many) = (Device::ports_of(0, 2, 1), Device::ports_of(1, 2, 9));
    let mut device = Device::new(2);
    few.iter().chain(&many).chain(&few).chain(&many).for_each(|port| device.offer(*port));
    device.run(1_000_000, true);
    // Half of 10 MB/s each, though one has a flow and the other nine.
    for ports in [&few, &many] {
        let sent = device.of(ports);
        assert!(sent.abs_diff(5_000_000) < 10_000, "{sent} B");
    }
    assert_eq!([device.active(0), device.active(1)], [2.0, 2.0]);
}

#[test]
fn a_queue_alone_has_the_whole_rate() {
    let ports = Device::ports_of(2, 8, 3);
    let mut device = Device::new(8);
    ports.iter().chain(&ports).for_each(|port| device.offer(*port));
    device.run(1_000_000, true);
    assert!(device.of(&ports).abs_diff(10_000_000) < 3000, "{} B", device.of(&ports));
    assert_eq!(device.active(2), 1.0);
}

#[test]
fn the_part_is_counted_anew_when_the_sync_time_has_passed() {
    let (first, second) = (Device::ports_of(0, 2, 1), Device::ports_of(1, 2, 1));
    let mut device = Device::new(2);
    (0..100).for_each(|_| device.offer(first[0]));
    device.run(5_050, true);
    assert_eq!(device.active(0), 1.0);
    let before = device.of(&first);
    // One that wakes counts at once; the other keeps the whole rate until it counts.
    device.offer(second[0]);
    device.offer(second[0]);
    device.run(20, false);
    assert_eq!([device.active(0), device.active(1)], [1.0, 2.0]);
    device.run(400, false);
    assert_eq!([device.active(0), device.active(1)], [2.0, 2.0]);
    assert!(device.of(&first) > before);
    // The second has nothing left to send, and is no longer counted.
    device.run(2_000, false);
    assert_eq!(device.of(&second), 2000);
    assert_eq!(device.active(0), 1.0);
}

#[test]
fn one_queue_is_cake_to_the_packet() {
    let line = Line { seed: 3, ..Line::new(rate(100_000_000)) };
    let settings = cake::Settings { rate: Some(rate(30_000_000)), ..Default::default() };
    let cake = Queue::of_design(DesignSettings::Cake(settings), Some(Limit::Packets(60)));
    let settings = cake_mq::Settings { queues: 1, rate: Some(rate(30_000_000)), ..Default::default() };
    let multi = Queue::of_design(DesignSettings::CakeMq(settings), Some(Limit::Packets(60)));
    let (mut draw, mut now) = (Draw::new(8), 0);
    let mut next = |_| {
        now += draw.below(500 * US);
        Arrival { time: Time(now), flow: draw.below(9) as u32, length: draw.pick(&[60, 700, 1500]) }
    };
    let arrivals: Vec<Arrival> = (0..5000).map(&mut next).collect();
    let run = |queue: &Queue| {
        let journeys = Driver::new(Checked::new(Rules::of(queue), || queue.build(&line)), line.rate).run(&arrivals);
        journeys.iter().map(|journey| journey.end).collect::<Vec<_>>()
    };
    assert_eq!(run(&cake), run(&multi));
}

#[test]
fn a_rate_of_one_queue_or_no_queue_is_refused_in_a_line() {
    let cake = cake::Settings { rate: Some(rate(RATE)), ..Default::default() };
    for (settings, said) in [
        (cake_mq::Settings { queues: 0, ..Default::default() }, "cake_mq: queues is 0; write 1 to 256"),
        (cake_mq::Settings { queues: 257, ..Default::default() }, "cake_mq: queues is 257; write 1 to 256"),
        (
            cake_mq::Settings { cake, ..Default::default() },
            "cake_mq: the rate is of all queues together; write rate beside queues",
        ),
    ] {
        assert_eq!(Queue::of_design(DesignSettings::CakeMq(settings), None).fault().as_deref(), Some(said));
    }
}
