//! A discipline that is offered packets with their flows' slots answers as one that is offered
//! headers, for every scheduler of the registry.

use fairq_sched::contract::{Dequeue, Discipline, Flow, Line, Offer};
use fairq_sched::packet::{Fates, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::store::Store;
use fairq_sched::units::{Limit, Rate, Time, Weight};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::header;

const FLOWS: u32 = 12;

fn weight(flow: u32) -> Weight {
    Weight::from_thousandths(500 * (1 + flow % 5)).expect("a weight")
}

/// Runs the same draws through both.
fn compare(queue: &Queue, line: &Line, seed: u64) {
    let Some(mut by_slot) = queue.build_for_slots(line) else { return };
    let mut by_header = queue.build(line);
    let mut draw = Draw::new(seed);
    let (mut fates, mut others) = (Fates::new(), Fates::new());
    let (mut slots, mut handles) = (Vec::new(), Vec::new());
    let mut now = Time::ZERO;
    for token in 0..4000 {
        // Now busy, now idle; the line of 1 Gbit/s sends 1000 bytes in 8 µs.
        now = now + Time(draw.below(if token % 1000 < 700 { 8_000_000 } else { 20_000_000 }));
        let answer = match draw.below(8) {
            0..4 => {
                let flow = draw.below(u64::from(FLOWS)) as u32;
                // A caller that looks flows up gives them slots from 1 on, in the order in which
                // they come.
                let slot = slots.iter().position(|known| *known == flow).unwrap_or_else(|| {
                    slots.push(flow);
                    slots.len() - 1
                });
                let packet = Packet::new(token, now, 40 + draw.below(1460) as u32);
                let offered = by_slot.offer(now, packet, Flow::weighted(slot as u32 + 1, weight(flow)), &mut fates);
                let enqueued = by_header.enqueue(now, packet, &header(flow), &mut others);
                assert_eq!(offered, enqueued, "{}", queue.name());
                handles.extend(offered);
                None
            }
            4..7 => Some((by_slot.dequeue(now, &mut fates), by_header.dequeue(now, &mut others))),
            _ => {
                let old = handles.len().saturating_sub(1 + draw.below(10) as usize);
                let taken = handles.get(old).map(|h| (by_slot.remove(now, *h), by_header.remove(now, *h)));
                if let Some((mine, theirs)) = taken {
                    assert_eq!(mine, theirs, "{}", queue.name());
                }
                None
            }
        };
        if let Some((mine, theirs)) = answer {
            assert_eq!(mine, theirs, "{}", queue.name());
            if let Dequeue::NotBefore(time) = mine {
                now = time;
            }
        }
        assert_eq!(by_slot.held(), by_header.held(), "{}", queue.name());
        assert_eq!(fates, others, "{}", queue.name());
        (fates, others) = (Fates::new(), Fates::new());
    }
}

#[test]
fn offered_by_slots_every_scheduler_answers_as_by_headers() {
    let rate = Rate::new(1_000_000_000).expect("a rate");
    let weights = (0..FLOWS).map(|flow| (header(flow), weight(flow))).collect();
    let line = Line { weights, ..Line::new(rate) };
    let mut compared = 0;
    for card in SCHEDULERS {
        for settings in SchedulerSettings::variants(card.name) {
            // A scheduler that hashes flows into its own buckets hashes slots in place of headers:
            // other buckets.
            let hashes = settings.boxed(&line).bucket(Time::ZERO, 1, &Store::new(Limit::Unlimited)).is_some();
            for buffer in
                [BufferSettings::TailDrop(Default::default()), BufferSettings::LongestQueueDrop(Default::default())]
            {
                for limit in [None, Some(Limit::Packets(9)), Some(Limit::Bytes(7000))] {
                    let queue = Queue { buffer: Some(buffer.clone()), ..Queue::new(settings.clone(), limit) };
                    if !hashes && queue.fault().is_none() {
                        compare(&queue, &line, 1 + compared);
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared as usize > 3 * SCHEDULERS.len());
}
