//! In steady state no packet costs an allocation, and a flow that was seen once costs little.

use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::flows::FLOWS_MAX;
use fairq_sched::packet::{Fates, Marks, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings, SCHEDULERS, SchedulerSettings,
};
use fairq_sched::units::{Limit, Rate, Time};
use fairq_sched::work::{Ask, Dispatcher, Settings};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::header;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// How often this thread asked for memory.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// What it holds, in bytes.
    static HELD: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counting by thread, so that tests beside each other do not disturb each other.
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

/// Every scheduler with its usual policy, every policy with one queue and with many, every marker, every whole design.
fn queues() -> Vec<Queue> {
    let limit = Some(Limit::Packets(40));
    let of = |name: &str| Queue::new(SchedulerSettings::by_name(name).expect("a name of the registry"), limit);
    let mut queues: Vec<Queue> = SCHEDULERS.iter().map(|card| of(card.name)).collect();
    for base in ["fifo", "fq"].map(of) {
        for card in BUFFER_POLICIES {
            queues.push(Queue { buffer: BufferSettings::by_name(card.name), ..base.clone() });
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
    let mut dispatcher = Dispatcher::new(Settings { seats: 8, lead: 100, ..Settings::default() });
    let mut draw = Draw::new(1);
    let mut serve = |rounds: u32| {
        for round in 0..rounds {
            let seats = 1 + draw.below(4) as u32;
            // Every tenant asks for the same in seven items, and has a few waiting: none is ever forgotten.
            let cost = u64::from(1 + round % 7);
            dispatcher.push(&(round % 50), Ask { seats, guess: None }, cost).expect("there is room");
            while dispatcher.waiting() > 300 {
                let started = dispatcher.start().expect("nothing runs");
                assert!(dispatcher.complete(started.ticket, started.item));
            }
        }
    };
    serve(20_000);
    let before = ALLOCATIONS.get();
    serve(20_000);
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

#[test]
fn flows_that_come_and_go_cost_no_allocation_once_their_slots_are_reused() {
    let queue = Queue::new(SchedulerSettings::by_name("fq").expect("fq"), Some(Limit::Packets(40)));
    let mut discipline = queue.build(&Line::new(Rate::new(1_000_000_000).expect("a rate")));
    let mut draw = Draw::new(1);
    // Hundreds of thousands of headers, less than the line carries: slots of conversations that have left the emulation serve the next
    // ones. (Above that the emulation falls ever further behind what it is charged for, and needs ever more slots.)
    let load = Load { flows: 1 << 30, packets: 200_000, gap: 20_000_000 };
    let now = run(&mut discipline, &mut draw, &load, Time::ZERO);
    let before = ALLOCATIONS.get();
    run(&mut discipline, &mut draw, &load, now);
    assert_eq!(ALLOCATIONS.get() - before, 1, "the list of fates is one");
    let mut flows = 0.0;
    discipline.inspect(&mut |name, value| flows = if name == "flows" { value } else { flows });
    assert!(flows < 300.0, "{flows} slots");
}

#[test]
fn a_million_flows_that_never_leave_cost_bounded_memory_and_then_share_a_slot() {
    // One packet of each of many flows, none of which is ever sent: no slot becomes clear. The first 2^20 - 1 get one,
    // all others share slot 0.
    let flows = FLOWS_MAX + 100_000;
    let started = HELD.get();
    let queue = Queue::new(SchedulerSettings::by_name("fq").expect("fq"), None);
    let mut discipline = queue.build(&Line::new(Rate::new(1_000_000).expect("a rate")));
    let mut fates = Fates::new();
    for flow in 0..flows {
        discipline.enqueue(Time::ZERO, Packet::new(flow.into(), Time::ZERO, 1000), &header(flow), &mut fates);
    }
    let mut inner = Vec::new();
    discipline.inspect(&mut |name, value| inner.push((name.to_owned(), value)));
    let inner = |name: &str| inner.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
    assert_eq!(inner("flows"), Some(f64::from(FLOWS_MAX - 1)));
    assert_eq!(inner("backlogged_queues"), Some(f64::from(FLOWS_MAX)));
    // A packet with its place in a list, its flow's slot, key, clock, heap places; vectors may be twice as long.
    let each = (HELD.get() - started) / i64::from(flows);
    assert!(each < 2 * 400, "{each} B a flow");
    // Equal bids leave in order of arrival, those in the shared slot one after another: each is charged for all before.
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
