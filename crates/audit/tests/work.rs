//! The work of a packet does not grow with the flows by more than the card says. What is counted is instructions, by
//! cachegrind of valgrind, so no clock has a say; run by name:
//! `cargo test --release -p fairq-audit --test work -- --ignored`.

use fairq_audit::driver::header;
use fairq_sched::card::Card;
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::packet::{Fates, Marks, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings, SCHEDULERS, SchedulerSettings,
};
use fairq_sched::units::{Limit, Rate, Time};
use std::process::Command;

/// Flows, few and many; log2 doubles between them.
const FEW: u32 = 64;
const MANY: u32 = 4096;

/// Packets in the shorter and the longer run: what they differ by has no start in it.
const PACKETS: [u32; 2] = [10_000, 20_000];

/// Bytes of every packet, which take 8 µs.
const LENGTH: u32 = 1000;

/// Where a process that is counted is told what to run: entry, flows, packets.
const TOLD: &str = "FAIRQ_COUNTED_WORK";

/// Instructions of a run.
fn instructions(entry: usize, flows: u32, packets: u32) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(std::env::current_exe().expect("a test has a path")).args(["--exact", "what_is_counted", "--ignored"]);
    command.env(TOLD, format!("{entry} {flows} {packets}"));
    let output = command.output().expect("valgrind is installed");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let line = text.lines().find_map(|line| line.split_once("refs:")).expect("cachegrind counts");
    line.1.trim().replace(',', "").parse().expect("a number")
}

/// Instructions for each packet that is sent, with two that come.
fn each(entry: usize, flows: u32) -> u64 {
    let [short, long] = PACKETS.map(|packets| instructions(entry, flows, packets));
    (long - short) / u64::from(PACKETS[1] - PACKETS[0])
}

#[test]
#[ignore = "minutes, and valgrind; run by name"]
fn the_work_of_a_packet_grows_with_the_flows_as_the_card_says() {
    let mut broken = Vec::new();
    for (entry, (card, queue)) in entries().iter().enumerate() {
        let (name, cost) = (queue.name(), card.field("Cost"));
        let (few, many) = (each(entry, FEW), each(entry, MANY));
        // What is in classes, bands, bins or ways stays as it is while flows grow.
        let may_grow = if cost.contains("O(log") { 2 } else { 1 };
        println!("{name:32} {few:6} {many:6}  {cost}");
        // A card that claims less is printed only.
        if !cost.contains("O(N log N)") && many > may_grow * few + few / 2 {
            broken.push(format!("{name}: {few} instructions a packet with {FEW} flows, {many} with {MANY}: {cost}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
#[ignore = "the other test runs it in a process of its own"]
#[expect(clippy::disallowed_methods, reason = "a test binary is told what to run by its environment")]
fn what_is_counted() {
    let Ok(told) = std::env::var(TOLD) else { return };
    let [entry, flows, packets] = told.split(' ').filter_map(|text| text.parse().ok()).collect::<Vec<u32>>()[..] else {
        panic!("{TOLD}={told}")
    };
    run(&entries()[entry as usize].1, flows, packets.into());
}

/// Every scheduler, buffer policy, marker and whole design of the registry.
fn entries() -> Vec<(&'static Card, Queue)> {
    let of = |name: &str| {
        Queue::new(SchedulerSettings::by_name(name).expect("a name of the registry"), Some(Limit::Packets(1)))
    };
    let scheduler = |card: &'static Card| (card, of(card.name));
    let buffer = |card: &'static Card| {
        let with = |name| Queue { buffer: BufferSettings::by_name(card.name), ..of(name) };
        // Some want one queue, some many.
        let queue = ["round_robin", "fifo", "fq", "pifo"].map(with).into_iter().find(|queue| queue.fault().is_none());
        (card, queue.expect("it goes with one of them"))
    };
    let marker =
        |card: &'static Card| (card, Queue { marker: MarkerSettings::by_name(card.name), ..of("round_robin") });
    let design = |card: &'static Card| {
        let settings = DesignSettings::by_name(card.name).expect("a name of the registry");
        (card, Queue::of_design(settings, None))
    };
    let cards = [SCHEDULERS.iter().map(scheduler).collect(), BUFFER_POLICIES.iter().map(buffer).collect::<Vec<_>>()];
    let more = [MARKERS.iter().map(marker).collect(), DESIGNS.iter().map(design).collect::<Vec<_>>()];
    cards.into_iter().chain(more).flatten().collect()
}

/// Two packets of each flow; then one leaves and two come, of one flow after the other, so that half are dropped where
/// there is no room. A flow that leaves a gap comes back in its turn: some wait, some come and go.
fn run(queue: &Queue, flows: u32, packets: u64) {
    let limit = Limit::Packets(2 * u64::from(flows));
    let queue = Queue { limit: Some(limit), ..queue.clone() };
    let mut discipline = queue.build(&Line::new(Rate::new(1_000_000_000).expect("above 0")));
    let (mut fates, mut now, mut next) = (Fates::new(), Time::ZERO, 0);
    let mut offer = |discipline: &mut dyn Discipline, now, times| {
        for _ in 0..times {
            let mut packet = Packet::new(next, now, LENGTH);
            packet.accepts = Marks(7);
            // Neighbours in number are not neighbours in time.
            let flow = (next * 13 % u64::from(flows)) as u32;
            discipline.enqueue(now, packet, &header(flow), &mut fates);
            fates.clear();
            next += 1;
        }
    };
    offer(&mut *discipline, now, 2 * flows);
    let mut fates = Fates::new();
    for _ in 0..packets {
        while let Dequeue::NotBefore(time) = discipline.dequeue(now, &mut fates) {
            now = time;
        }
        fates.clear();
        now = now + Time(8_000_000);
        offer(&mut *discipline, now, 2);
        if discipline.next_update().is_some_and(|due| due <= now) {
            discipline.update(now);
        }
    }
}
