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
