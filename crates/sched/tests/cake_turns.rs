//! CAKE on random loads sends what it sent when it walked its turns one by one.
//!
//! The numbers were recorded from that walk, before empty rounds were given at once. They stand for
//! every departure and every drop with its time, so that one that moves changes its number. A
//! change of a rule of CAKE moves them: then record anew, and say so in the changelog.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::design::cake::{AckFilter, Isolation, Settings, Tins};
use fairq_sched::hash::Hash;
use fairq_sched::packet::{Address, Fates, Header, Marks, Outcome, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::random::Random;
use fairq_sched::registry::DesignSettings;
use fairq_sched::units::{Bytes, PS_PER_S, Rate, Time};

const US: u64 = PS_PER_S / 1_000_000;

/// Which flows send, and what.
struct Load {
    sources: u64,
    destinations: u64,
    ports: u64,
    longest: u64,
    /// Packets that arrive for each one that leaves, in hundredths.
    pressure: u64,
}

const LOADS: [Load; 5] = [
    // Two hosts of many flows to one server, which lose many packets.
    Load { sources: 2, destinations: 1, ports: 150, longest: 1500, pressure: 130 },
    // A source for each flow.
    Load { sources: 200, destinations: 1, ports: 1, longest: 1500, pressure: 100 },
    // Hosts of all kinds, of which many share a queue.
    Load { sources: 30, destinations: 20, ports: 3, longest: 9000, pressure: 105 },
    // Queues that often run empty.
    Load { sources: 3, destinations: 3, ports: 20, longest: 700, pressure: 97 },
    // Few flows of great packets: many empty rounds.
    Load { sources: 2, destinations: 2, ports: 3, longest: 60_000, pressure: 100 },
];

fn settings(isolation: Isolation, at: u64) -> Settings {
    let usual = Settings { isolation, ..Settings::default() };
    match at {
        0 => usual,
        1 => Settings { tins: Tins::BestEffort, quantum: Some(Bytes(40)), ecn: false, ..usual },
        2 => Settings { rate: Rate::new(300_000_000), tins: Tins::Diffserv4, ingress: true, ..usual },
        3 => Settings { queues: 64, tins: Tins::BestEffort, ack_filter: AckFilter::Aggressive, ..usual },
        _ => Settings { queues: 256, memory: Some(Bytes(300_000)), target: Some(Time(50 * US)), ..usual },
    }
}

/// A number for all that leaves, is dropped and is marked, and when.
fn digest(discipline: &mut dyn Discipline, load: &Load, seed: u64) -> u64 {
    let (mut random, mut fates) = (Random::new(seed, "load"), Fates::new());
    let (hash, mut digest, mut now) = (Hash::new(1), 0, 0);
    let mut token = 0;
    for step in 0..12_000 {
        now += US * random.below(40);
        // A third of the time few flows send.
        let few = if step / 2000 % 3 == 0 { 8 } else { 1 };
        let arrivals = if step < 400 { 2 } else { u64::from(random.below(100) < load.pressure.min(100)) };
        let more = u64::from(random.below(100) + 100 < load.pressure);
        for _ in 0..arrivals + more {
            let source = random.below(load.sources.div_ceil(few)) as u32;
            let destination = 1000 + random.below(load.destinations.div_ceil(few)) as u32;
            let port = random.below(load.ports.div_ceil(few)) as u16;
            let tos = [0, 0, 0, 32, 0xb8][random.below(5) as usize];
            let header = Header {
                source: Address::Node(source),
                destination: Address::Node(destination),
                protocol: 6,
                source_port: port,
                destination_port: 80,
                tos,
            };
            let accepts = if random.below(2) == 0 { Marks::CE } else { Marks::NONE };
            let acknowledges = core::num::NonZeroU32::new(token as u32).filter(|_| port == 0);
            let length = 40 + random.below(load.longest - 39) as u32;
            let packet = Packet { tos, accepts, acknowledges, ..Packet::new(token, Time(now), length) };
            discipline.enqueue(Time(now), packet, &header, &mut fates);
            token += 1;
        }
        let sent = match discipline.dequeue(Time(now), &mut fates) {
            Dequeue::Send(packet) => packet.token + 1,
            Dequeue::NotBefore(time) => u64::MAX - time.0,
            Dequeue::Empty => 0,
        };
        digest = hash.of(&[digest, sent]);
        for fate in fates.drain(..) {
            let kind = if matches!(fate.outcome, Outcome::Dropped(_)) { 1 } else { 2 };
            digest = hash.of(&[digest, fate.packet.token, kind]);
        }
    }
    digest
}

#[test]
fn cake_sends_what_it_sends_turn_by_turn() {
    use Isolation::{DualDestination, DualSource, Flows, Hosts, Triple};
    let mut found = Vec::new();
    for isolation in [Flows, Hosts, DualSource, DualDestination, Triple] {
        for (load_at, load) in LOADS.iter().enumerate() {
            let one = |at: u64| {
                let queue = Queue::of_design(DesignSettings::Cake(settings(isolation, at)), None);
                assert_eq!(queue.fault(), None);
                let line = Line::new(Rate::new(100_000_000).expect("a rate"));
                digest(&mut *queue.build(&line), load, at + 10 * load_at as u64)
            };
            found.push(Hash::new(2).of(&[0, 1, 2, 3, 4].map(one)));
        }
    }
    assert_eq!(found, RECORDED.as_flattened());
}

/// Each isolation with each load.
const RECORDED: [[u64; 5]; 5] = [
    [0x3335_d3e4_4ab6_6b07, 0x2ece_8d3e_9b2e_a740, 0x0038_ea45_2308_a14e, 0x2218_3467_5b1d_3060, 0x264f_23e7_e0df_e113],
    [0xab3f_cf54_911b_0d72, 0x137a_03ec_7555_934c, 0xbf10_dbbd_98a8_54de, 0x5080_25ea_b1d7_3e92, 0x93a3_1c41_d28a_421b],
    [0xdf45_a978_5a78_4bba, 0x3bdb_30f0_5409_2b8b, 0x52eb_bafa_145c_be71, 0xc71a_c9c9_747d_cc3b, 0xb057_0fd9_3fa1_f935],
    [0xf8ab_a1a0_8a19_d21a, 0xa8b7_0f3a_99a0_136a, 0x20a7_505a_c867_752c, 0x751f_33ab_a15a_1a6b, 0x22cd_fdf3_e737_84cf],
    [0xf8ab_a1a0_8a19_d21a, 0xa8b7_0f3a_99a0_136a, 0xc3f4_635b_fa5c_769f, 0x9556_849b_1d5e_1085, 0x83cd_a7d1_4731_8877],
];
