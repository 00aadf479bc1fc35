//! What `fairq_readings` gives is what the discipline shows in Rust: numbers, names and units.
#![expect(unsafe_code, reason = "the function is called as C calls it")]

use fairq::codes::*;
use fairq::records::{FairqAddress, FairqHeader, FairqLine, FairqPacket, FairqReading};
use fairq::*;
use fairq_sched::contract::{Discipline, Line};
use fairq_sched::packet::{Address, Fates, Header, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::reading::Value;
use fairq_sched::registry::{BUFFER_POLICIES, DESIGNS, MARKERS, POLICERS, SCHEDULERS, SchedulerSettings};
use fairq_sched::units::{Rate, Time};
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

const BIT_PER_S: u64 = 1_000_000;
const EMPTY: FairqReading =
    FairqReading { name: [1; 32], subqueue: [1; 64], real: 0.0, count: 0, flow: 0, has_flow: 9, unit: 9, kind: 9 };

/// Every scheduler with the settings that take another path, and every other part by its name.
fn texts() -> Vec<String> {
    let schedulers = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    let schedulers = schedulers.map(|settings| fairq_text::written(&Queue::new(settings, None)));
    let parts = BUFFER_POLICIES.iter().chain(MARKERS).chain(POLICERS);
    let parts = parts.map(|card| format!("fq + {} + 20 packets", card.name));
    let designs = DESIGNS.iter().map(|card| card.name.to_owned());
    let texts = schedulers.chain(parts).chain(designs);
    texts.filter(|text| fairq_text::queue(text).is_ok_and(|queue| queue.fault().is_none())).collect()
}

fn build(text: &str) -> *mut Fairq {
    let line = FairqLine { bit_per_s: BIT_PER_S, seed: 1, weights: null(), weights_count: 0 };
    let (c_text, mut queue) = (CString::new(text).expect("no zero inside"), null_mut());
    // SAFETY: the text ends with a zero, the others are places of ours or NULL.
    let code = unsafe { fairq_new(c_text.as_ptr(), &line, &mut queue, null_mut(), 0) };
    assert_eq!(code, FAIRQ_OK, "{text}");
    queue
}

/// Offers packets of three hosts to a discipline and to the same one behind the C interface, and
/// asks both for less than they hold. The time at the end.
fn fill(queue: *mut Fairq, discipline: &mut dyn Discipline) -> Time {
    let (mut fates, mut out, mut not_before) = (Fates::new(), FairqPacket::default(), 0);
    let mut now = Time::ZERO;
    for token in 0..90 {
        now = Time::from_ms(token);
        let (host, length) = (1 + (token % 3) as u8, 100 + 10 * token as u32);
        let header = Header {
            source: Address::Node(u32::from_be_bytes([host; 4])),
            destination: Address::Node(0),
            protocol: 0,
            source_port: 0,
            destination_port: 0,
            tos: 0,
        };
        let c_packet = FairqPacket { token, length, ..FairqPacket::default() };
        let source = FairqAddress { kind: FAIRQ_NODE, bytes: [host; 16] };
        let c_header = FairqHeader { source, ..FairqHeader::default() };
        discipline.update(now);
        discipline.enqueue(now, Packet::new(token, now, length), &header, &mut fates);
        // SAFETY: the queue is the caller's, all else is ours.
        unsafe {
            assert_eq!(fairq_update(queue, now.0), FAIRQ_OK);
            assert!(fairq_enqueue(queue, now.0, &c_packet, &c_header, null_mut()) >= FAIRQ_OK);
        }
        if token % 4 == 0 {
            discipline.dequeue(now, &mut fates);
            // SAFETY: as above.
            assert!(unsafe { fairq_dequeue(queue, now.0, &mut out, &mut not_before) } >= FAIRQ_OK);
        }
    }
    now
}

fn text(chars: &[c_char]) -> &str {
    // SAFETY: the places are chars of ours, and the slice outlives the text.
    let bytes = unsafe { std::slice::from_raw_parts(chars.as_ptr().cast(), chars.len()) };
    CStr::from_bytes_until_nul(bytes).expect("a zero").to_str().expect("UTF-8")
}

#[test]
fn c_gets_the_readings_that_rust_gets_of_every_part() {
    const UNITS: [(u8, &str); 5] = [
        (FAIRQ_UNIT_NONE, ""),
        (FAIRQ_UNIT_PACKETS, "packets"),
        (FAIRQ_UNIT_BYTES, "bytes"),
        (FAIRQ_UNIT_SECONDS, "s"),
        (FAIRQ_UNIT_BIT_PER_S, "bit/s"),
    ];
    let mut all = 0;
    for of in texts() {
        let queue = build(&of);
        let mut line = Line::new(Rate::new(BIT_PER_S).expect("above zero"));
        line.seed = 1;
        let mut discipline = fairq_text::queue(&of).expect("it was read before").build(&line);
        let now = fill(queue, &mut *discipline);
        // SAFETY: the queue is ours, and there is room for as many as there are.
        let found = unsafe {
            let mut found = vec![EMPTY; fairq_readings(queue, now.0, null_mut(), 0)];
            assert_eq!(fairq_readings(queue, now.0, found.as_mut_ptr(), found.len()), found.len());
            found
        };
        let mut at = 0;
        discipline.readings(now, &mut |reading| {
            let c = &found[at];
            assert_eq!(text(&c.name), reading.name, "{of}");
            assert_eq!(text(&c.subqueue), reading.queue.unwrap_or_default(), "{of}");
            assert!(UNITS.contains(&(c.unit, reading.unit.name())), "{of}: {}", reading.name);
            assert_eq!((c.has_flow == 1).then_some(c.flow), reading.flow, "{of}");
            assert_eq!(c.real.to_bits(), reading.value.real().to_bits(), "{of}: {}", reading.name);
            match reading.value {
                Value::Count(count) => assert_eq!((c.kind, u128::from(c.count)), (FAIRQ_VALUE_COUNT, count), "{of}"),
                Value::Real(_) => assert_eq!((c.kind, c.count), (FAIRQ_VALUE_REAL, 0), "{of}"),
            }
            at += 1;
        });
        assert_eq!(found.len(), at, "{of}");
        all += at;
        // SAFETY: it is used no more.
        unsafe { fairq_free(queue) };
    }
    assert!(all > 200, "{all}");
}

#[test]
fn a_small_array_gets_the_first_ones_and_what_is_refused_gives_none() {
    let queue = build("cake");
    let mut found = [EMPTY; 3];
    // SAFETY: the queue is ours until it is freed, and there is room for what is said.
    unsafe {
        let count = fairq_readings(queue, 5, null_mut(), 3);
        assert!(count > 10, "{count}");
        assert_eq!(fairq_readings(queue, 5, found.as_mut_ptr(), 2), count);
        assert!(found[1].kind != EMPTY.kind && found[2].kind == EMPTY.kind);
        assert_eq!(fairq_readings(queue, 5, found.as_mut_ptr(), 0), count);
        assert_eq!(fairq_readings(queue, 4, found.as_mut_ptr(), 2), 0, "time does not go back");
        assert_eq!(fairq_readings(null_mut(), 5, found.as_mut_ptr(), 2), 0);
        fairq_free(queue);
    }
}
