use super::*;

#[test]
fn the_order_is_the_same_wherever_the_time_stamps_are() {
    // Three flows that wait always, from V = 0, across 2⁶⁴ and at the end of the range.
    let order = |start: u128| {
        let mut groups = Groups::new();
        (groups.now, groups.latest) = (start, start);
        groups.set_total(3500);
        for (flow, thousandths) in [(0, 1000), (1, 2000), (2, 500)] {
            groups.resize(flow, Weight::from_thousandths(thousandths).unwrap_or_default(), 1514);
            groups.activate(flow);
        }
        let mut order = Vec::new();
        while groups.now() < start + (1 << 65) {
            let Some(flow) = groups.next() else { break };
            let length = 1 + (order.len() as u64 * 7919) % 1514;
            groups.advance(length);
            let cost = groups.cost(flow, length, 1);
            groups.served(flow, cost, true);
            order.push(flow);
        }
        order
    };
    let first = order(0);
    assert!(first.len() > 100);
    // All multiples of the widest slot, 2⁶² of the last bit.
    assert_eq!(order((1 << 64) - (1 << 62)), first);
    assert_eq!(order((1 << 113) - (1 << 64)), first);
}

#[test]
fn who_is_far_behind_the_group_that_its_new_weight_puts_it_in_is_served_until_it_has_caught_up() {
    let mut groups = Groups::new();
    let known = |weight| Weight::from_thousandths(weight).unwrap_or_default();
    groups.set_total(1000);
    for (entity, weight) in [(0, 1), (1, 1), (2, 1000)] {
        groups.resize(entity, known(weight), 1);
    }
    groups.activate(0);
    groups.activate(1);
    groups.advance(100);
    groups.activate(2);
    for entity in 0..2 {
        groups.resize(entity, known(1000), 1);
    }
    for turn in 0..200 {
        assert_eq!(groups.next(), Some(turn % 2));
        let cost = groups.cost(turn % 2, 1, 1);
        groups.served(turn % 2, cost, true);
    }
    assert_eq!(groups.entities[0].start, groups.now());
    assert_eq!(groups.next(), Some(2));
}

#[test]
fn a_group_holds_a_packet_within_a_slot() {
    let mut groups = Groups::new();
    for (weight, longest) in [(1, u32::MAX), (1, 1), (1_000_000_000, 1), (1_000_000_000, u32::MAX), (1000, 1024)] {
        groups.resize(0, Weight::from_thousandths(weight).unwrap_or_default(), longest);
        let width = 1_u128 << (LEAST_SHIFT + u32::from(groups.entities[0].group));
        let cost = groups.cost(0, longest.into(), 1);
        assert!(cost <= width && (cost > width / 2 || width == 1 << LEAST_SHIFT), "{weight} {longest}");
    }
}

#[test]
fn the_sets_are_those_of_their_definition_and_starts_are_sums_of_costs() {
    for seed in 0..20_u64 {
        let mut groups = Groups::new();
        let mut drawn = seed;
        let mut draw = |below: u64| {
            drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (drawn >> 33) % below
        };
        let weights: Vec<u32> = (0..12).map(|_| 1 << draw([3, 20, 30][seed as usize % 3])).collect();
        groups.set_total(weights.iter().map(|weight| u64::from(*weight)).sum());
        let mut starts = [0; 12];
        for (entity, weight) in weights.iter().enumerate() {
            groups.resize(entity as Slot, Weight::from_thousandths(*weight).unwrap_or_default(), 1514);
        }
        for _ in 0..3000 {
            let idle = draw(12) as Slot;
            if groups.entities[idle as usize].place == NOWHERE {
                groups.activate(idle);
                starts[idle as usize] = groups.entities[idle as usize].start;
            }
            let Some(entity) = groups.next() else { continue };
            let (length, waits) = (1 + draw(1514) as u32, draw(4) > 0);
            groups.sent(entity, length, waits);
            starts[entity as usize] += groups.cost(entity, length.into(), 1);
            groups.catch_up();
            let sets = (groups.ready, groups.early, groups.blocked);
            groups.sort_sets();
            assert_eq!((groups.ready, groups.early, groups.blocked), sets, "seed {seed}");
        }
        for (entity, start) in starts.into_iter().enumerate() {
            if groups.entities[entity].place != NOWHERE {
                groups.unlink(entity as Slot);
            }
            assert_eq!(groups.entities[entity].start, start, "seed {seed}");
        }
    }
}
