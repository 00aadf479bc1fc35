//! In steady state no packet costs an allocation, a flow that was seen once costs little, and a
//! flood of flows no more than a few of them, whatever their headers.

use fairq_sched::classify::pair::Pair;
use fairq_sched::contract::{Classifier, Dequeue, Discipline, Line};
use fairq_sched::design::cake;
use fairq_sched::flows::FLOWS_MAX;
use fairq_sched::hash::Hash;
use fairq_sched::packet::{Address, Fates, Header, Marks, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, ClassifierSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings, POLICERS,
    PolicerSettings, SCHEDULERS, SchedulerSettings,
};
use fairq_sched::schedule::stochastic_fq;
use fairq_sched::units::{Limit, Rate, Time};
use fairq_sched::work::registry::{POLICIES, PolicySettings};
use fairq_sched::work::{Ask, Dispatcher, Settings};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::header;
use fairq_testkit::shown::{find, number};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// How often this thread asked for memory.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// What it holds, in bytes.
    static HELD: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counting by thread, so that tests beside each other do not disturb each
/// other.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is an unsafe trait; this one only counts and hands over to the system's")]
// SAFETY: every call is handed over unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no counters any more and need not count.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        let _ = HELD.try_with(|held| held.set(held.get() + layout.size() as i64));
        // SAFETY: the caller's promise is the one that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = HELD.try_with(|held| held.set(held.get() - layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What arrives: packets of 1000 bytes, which take 8 µs each.
struct Load {
    flows: u64,
    packets: u64,
    /// The time between two arrivals, at most, in picoseconds; half of it on average.
    gap: u64,
}

/// Offers the load from `now` on; the time after it.
fn run(discipline: &mut dyn Discipline, draw: &mut Draw, load: &Load, mut now: Time) -> Time {
    let mut fates = Fates::with_capacity(64);
    let mut free = now;
    for token in 0..load.packets {
        now = now + Time(draw.below(load.gap));
        while free <= now {
            free = match discipline.dequeue(free, &mut fates) {
                Dequeue::Send(_) => free + Time(8_000_000),
                Dequeue::NotBefore(time) => time,
                Dequeue::Empty => now + Time(1),
            };
        }
        let mut packet = Packet::new(token, now, 1000);
        packet.accepts = Marks(7);
        discipline.enqueue(now, packet, &header(draw.below(load.flows) as u32), &mut fates);
        fates.clear();
    }
    now
}

/// Every scheduler with its usual policy, every policy with one queue and with many, every marker,
/// every whole design.
fn queues() -> Vec<Queue> {
    let limit = Some(Limit::Packets(40));
    let of = |name: &str| Queue::new(SchedulerSettings::by_name(name).expect("a name of the registry"), limit);
    let mut queues: Vec<Queue> = SCHEDULERS.iter().map(|card| of(card.name)).collect();
    for base in ["fifo", "fq"].map(of) {
        for card in BUFFER_POLICIES {
            queues.push(Queue { buffer: BufferSettings::by_name(card.name), ..base.clone() });
        }
        for card in POLICERS {
            queues.push(Queue { policer: PolicerSettings::by_name(card.name), ..base.clone() });
        }
        for card in MARKERS {
            queues.push(Queue { marker: MarkerSettings::by_name(card.name), ..base.clone() });
        }
    }
    queues.extend(DESIGNS.iter().filter_map(|card| Some(Queue::of_design(DesignSettings::by_name(card.name)?, limit))));
    queues.retain(|queue| queue.fault().is_none());
    queues
}

#[test]
fn no_packet_costs_an_allocation_in_steady_state() {
    for queue in queues() {
        let mut discipline = queue.build(&Line::new(Rate::new(1_000_000_000).expect("a rate")));
        let mut draw = Draw::new(1);
        // A little more than the line carries, so that packets are dropped.
        let load = Load { flows: 50, packets: 20_000, gap: 15_000_000 };
        // Long enough that as many flows have been active together as ever are.
        let warm_up = Load { packets: 80_000, ..load };
        let now = run(&mut discipline, &mut draw, &warm_up, Time::ZERO);
        let before = ALLOCATIONS.get();
        run(&mut discipline, &mut draw, &load, now);
        // One is the list of fates in `run`.
        assert_eq!(ALLOCATIONS.get() - before, 1, "{}", queue.name());
    }
}

#[test]
fn no_item_of_a_known_tenant_costs_a_dispatcher_an_allocation() {
    for policy in POLICIES.iter().flat_map(|card| PolicySettings::variants(card.name)) {
        let settings = Settings { seats: 8, lead: 100, ..Settings::default() };
        let name = format!("{policy:?}");
        no_item_costs_an_allocation(Dispatcher::with_policy(settings, policy.build()), &name);
    }
}

fn no_item_costs_an_allocation(mut dispatcher: Dispatcher<u32, u64>, policy: &str) {
    let mut draw = Draw::new(1);
    let seats_max = u64::from(dispatcher.seats()).min(4);
    let mut serve = |rounds: u32| {
        for round in 0..rounds {
            let seats = 1 + draw.below(seats_max) as u32;
            // Every tenant asks for the same in seven items, and has a few waiting: none is ever
            // forgotten.
            let cost = u64::from(1 + round % 7);
            dispatcher.push(&(round % 50), Ask { seats, guess: None }, cost).expect("there is room");
            while dispatcher.waiting() > 1500 {
                let started = dispatcher.start().expect("nothing runs");
                assert!(dispatcher.complete(started.ticket, started.item));
            }
        }
    };
    serve(20_000);
    let before = ALLOCATIONS.get();
    serve(20_000);
    assert_eq!(ALLOCATIONS.get() - before, 0, "{policy}");
}

#[test]
fn flows_that_come_and_go_cost_no_allocation_once_their_slots_are_reused() {
    let queue = Queue::new(SchedulerSettings::by_name("fq").expect("fq"), Some(Limit::Packets(40)));
    let mut discipline = queue.build(&Line::new(Rate::new(1_000_000_000).expect("a rate")));
    let mut draw = Draw::new(1);
    // Hundreds of thousands of headers, less than the line carries: slots of conversations that
    // have left the emulation serve the next ones. (Above that the emulation falls ever further
    // behind what it is charged for, and needs ever more slots.)
    let load = Load { flows: 1 << 30, packets: 200_000, gap: 20_000_000 };
    let now = run(&mut discipline, &mut draw, &load, Time::ZERO);
    let before = ALLOCATIONS.get();
    run(&mut discipline, &mut draw, &load, now);
    assert_eq!(ALLOCATIONS.get() - before, 1, "the list of fates is one");
    let flows = number(&discipline, "flows");
    assert!(flows < 300.0, "{flows} slots");
}

#[test]
fn a_million_flows_that_never_leave_cost_bounded_memory_and_then_share_a_slot() {
    // One packet of each of many flows, none of which is ever sent: no slot becomes clear. The
    // first 2^20 - 1 get one, all others share slot 0.
    let flows = FLOWS_MAX + 100_000;
    let started = HELD.get();
    let queue = Queue::new(SchedulerSettings::by_name("fq").expect("fq"), None);
    let mut discipline = queue.build(&Line::new(Rate::new(1_000_000).expect("a rate")));
    let mut fates = Fates::new();
    for flow in 0..flows {
        discipline.enqueue(Time::ZERO, Packet::new(flow.into(), Time::ZERO, 1000), &header(flow), &mut fates);
    }
    assert_eq!(number(&*discipline, "flows"), f64::from(FLOWS_MAX - 1));
    assert_eq!(number(&*discipline, "backlogged_queues"), f64::from(FLOWS_MAX));
    // A packet with its place in a list, its flow's slot, key, clock, heap places; vectors may be
    // twice as long.
    let each = (HELD.get() - started) / i64::from(flows);
    assert!(each < 2 * 400, "{each} B a flow");
    // Equal bids leave in order of arrival, those in the shared slot one after another: each is
    // charged for all before.
    for token in 0..FLOWS_MAX {
        let Dequeue::Send(packet) = discipline.dequeue(Time::ZERO, &mut fates) else { panic!("packets are held") };
        assert_eq!(packet.token, u64::from(token));
    }
    let rest: Vec<u64> = std::iter::from_fn(|| match discipline.dequeue(Time::ZERO, &mut fates) {
        Dequeue::Send(packet) => Some(packet.token),
        _ => None,
    })
    .collect();
    assert!(rest.iter().copied().eq(u64::from(FLOWS_MAX)..u64::from(flows)));
}

/// Offers a packet of each of a million flows, two while one leaves, with room for forty; the
/// discipline, what it held before the first and after half of them, and the most fates of a call.
fn flooded(queue: &Queue) -> (Box<dyn Discipline>, [i64; 2], usize) {
    let (mut fates, started) = (Fates::with_capacity(64), HELD.get());
    let (mut most, mut held) = (0, [started; 2]);
    let mut discipline = queue.build(&Line::new(Rate::new(1_000_000_000).expect("a rate")));
    for flow in 0..1_000_000_u32 {
        let now = Time(u64::from(flow) * 4_000_000);
        let mut packet = Packet::new(flow.into(), now, 1000);
        packet.accepts = Marks(7);
        discipline.enqueue(now, packet, &header(flow), &mut fates);
        if flow % 2 == 0 {
            discipline.dequeue(now, &mut fates);
        }
        most = most.max(fates.len());
        fates.clear();
        if flow == 500_000 {
            held[1] = HELD.get();
        }
    }
    (discipline, held, most)
}

/// Whether no flow has a slot of its own, though one waits: the scheduler hashes flows into
/// buckets.
fn gives_no_slots(queue: &Queue) -> bool {
    let mut discipline = queue.build(&Line::new(Rate::new(1_000_000_000).expect("a rate")));
    discipline.enqueue(Time::ZERO, Packet::new(0, Time::ZERO, 1000), &header(0), &mut Fates::new());
    find(&*discipline, "flows") == Some(0.0)
}

#[test]
fn where_flows_are_hashed_a_million_take_no_more_memory_than_half_of_them() {
    let limit = Some(Limit::Packets(40));
    let schedulers = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    let hashing: Vec<Queue> = schedulers.map(|it| Queue::new(it, limit)).filter(gives_no_slots).collect();
    for name in ["stochastic_fq", "drr_plus_plus"] {
        assert!(hashing.iter().any(|queue| queue.name() == name), "{name} hashes flows");
    }
    // That of sockets has slots for flows.
    let names = DESIGNS.iter().map(|card| card.name).filter(|name| *name != "linux_fq");
    let designs = names.filter_map(|name| Some(Queue::of_design(DesignSettings::by_name(name)?, limit)));
    for queue in hashing.into_iter().chain(designs) {
        let (_discipline, [_, before], most) = flooded(&queue);
        assert!(HELD.get() <= before, "{}: {} B more", queue.name(), HELD.get() - before);
        assert!(most <= 41, "{}: {most} fates of a call", queue.name());
    }
}

#[test]
fn where_flows_have_slots_a_million_take_some_bytes_each_at_most() {
    let of = |name: &str| SchedulerSettings::by_name(name).expect("a name of the registry");
    let base = Queue::new(of("round_robin"), Some(Limit::Packets(40)));
    let policies =
        BUFFER_POLICIES.iter().map(|card| Queue { buffer: BufferSettings::by_name(card.name), ..base.clone() });
    // Selective DECbit looks at all flows of two cycles for each packet, as its card says: a
    // million squared.
    let markers = MARKERS.iter().filter(|card| card.name != "selective_decbit");
    let markers = markers.map(|card| Queue { marker: MarkerSettings::by_name(card.name), ..base.clone() });
    for queue in policies.chain(markers).filter(|queue| queue.fault().is_none()) {
        let (discipline, [started, _], most) = flooded(&queue);
        let slots = number(&*discipline, "flows");
        assert!(slots < f64::from(FLOWS_MAX), "{}: {slots} slots", queue.name());
        // A key, a weight, a place in a table, a few words of each part; vectors may be twice as
        // long. And what is there without flows: samples, tables of bins.
        let each = (HELD.get() - started) as f64 / (slots + 10_000.0);
        assert!(each < 400.0, "{}: {each} B a slot, {slots} slots", queue.name());
        assert!(most <= 41, "{}: {most} fates of a call", queue.name());
    }
}

/// Headers by number from an attacker that knows the hash but not its seed: fields that differ in
/// high bits, in low bits, or by multiples of the hash's own constant, that are alike, and whose
/// sum or whose exclusive or is.
fn aimed() -> [fn(u64) -> Header; 8] {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    fn of(source: u64, destination: u64) -> Header {
        let v6 = |value: u64| Address::V6((u128::from(value) << 64 | u128::from(value)).to_be_bytes());
        Header { source: v6(source), destination: v6(destination), ..header(0) }
    }
    fn low(source: u64, destination: u64) -> Header {
        let v6 = |value: u64| Address::V6(u128::from(value).to_be_bytes());
        Header { source: v6(source), destination: v6(destination), ..header(0) }
    }
    [
        |at| low(at, 0),
        |at| low(0, at << 52),
        |at| of(at, at),
        |at| of(at, at.wrapping_neg()),
        |at| of(at, !at),
        |at| low(at.wrapping_mul(STEP), at),
        |at| low(STEP ^ at, STEP ^ at << 32),
        |at| Header { source: Address::V4((at as u32).swap_bytes().to_be_bytes()), ..header(0) },
    ]
}

#[test]
fn who_does_not_know_the_seed_cannot_aim_at_a_queue() {
    // 4096 flows in 1024 queues leave 1024 (1 - 1/1024)^4096 = 18.7 of them empty, standard
    // deviation 4.
    let settings = stochastic_fq::Settings { buckets: 1024, ..Default::default() };
    let sfq = Queue::new(SchedulerSettings::StochasticFq(settings), None);
    let fq_codel = Queue::of_design(DesignSettings::by_name("fq_codel").expect("a design"), None);
    for (seed, queue) in (0..6).flat_map(|seed| [(seed, &sfq), (seed, &fq_codel)]) {
        for (kind, header) in aimed().iter().enumerate() {
            let mut discipline = queue.build(&Line { seed, ..Line::new(Rate::MAX) });
            for at in 0..4096 {
                discipline.enqueue(Time::ZERO, Packet::new(at, Time::ZERO, 100), &header(at), &mut Fates::new());
            }
            let empty = 1024.0 - number(&*discipline, "backlogged_queues");
            assert!(empty < 18.7 + 6.0 * 4.0, "{}, kind {kind}, seed {seed}: {empty} are empty", queue.name());
        }
    }
}

#[test]
fn who_knows_the_seed_and_fills_a_set_takes_no_more_than_its_places() {
    // 3000 flows in one of the 128 sets of CAKE, whose hash is the key's; and in one of the 1024
    // queues of FQ-CoDel.
    let cake = cake::Settings { isolation: cake::Isolation::Flows, ..Default::default() };
    for (queue, sets, places) in [
        (Queue::of_design(DesignSettings::Cake(cake), None), 128_u128, 8),
        (Queue::of_design(DesignSettings::by_name("fq_codel").expect("a design"), None), 1024, 1),
    ] {
        let queue = Queue { classifier: Some(ClassifierSettings::Pair(Default::default())), ..queue };
        let (line, hash) = (Line { seed: 5, ..Line::new(Rate::new(1_000_000_000).expect("a rate")) }, Hash::new(5));
        let set = |header: &Header| {
            let key = Pair.key(header, hash);
            (u128::from(hash.of_fields(&[key])) * sets) >> 64
        };
        let mut others = (0..).map(header).filter(|header| set(header) == 0);
        let flood: Vec<Header> = others.by_ref().take(3000).collect();
        let victim = (0..).map(header).find(|header| set(header) == 1).expect("it is endless");
        let mut discipline = queue.build(&line);
        let (mut fates, mut served, mut held) = (Fates::with_capacity(256), [0_u32; 2], 0);
        for token in 0..100_000_u64 {
            let now = Time(token * 8_000_000);
            for (is_victim, header) in [(1, &victim), (0, &flood[token as usize % flood.len()])] {
                discipline.enqueue(now, Packet::new(token << 1 | is_victim, now, 1000), header, &mut fates);
            }
            if let Dequeue::Send(packet) = discipline.dequeue(now, &mut fates) {
                served[(packet.token & 1) as usize] += 1;
            }
            fates.clear();
            if token == 20_000 {
                held = HELD.get();
            }
        }
        let queues = number(&*discipline, "backlogged_queues");
        assert!(queues <= f64::from(places + 1), "{}: {queues} queues", queue.name());
        assert!(HELD.get() <= held, "{}: {} B more", queue.name(), HELD.get() - held);
        // Its queue takes turns with those of the set; COBALT and CoDel may leave it without a
        // packet now and then.
        let share = f64::from(served[1]) / f64::from(served[0] + served[1]);
        assert!(share > 0.5 / f64::from(places + 1), "{}: {share} of the line", queue.name());
    }
}
