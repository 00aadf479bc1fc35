//! The functions as C calls them: answers, refusals, and what may be NULL.
#![expect(unsafe_code, reason = "the functions are called as C calls them")]

use fairq::codes::*;
use fairq::records::{FairqAddress, FairqFate, FairqHeader, FairqLine, FairqPacket, FairqWeight};
use fairq::*;
use fairq_sched::registry::SCHEDULERS;
use fairq_testkit::draw::{Draw, Replay};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{null, null_mut};

fn line(bit_per_s: u64) -> FairqLine {
    FairqLine { bit_per_s, seed: 1, weights: null(), weights_count: 0 }
}

/// The discipline, or why there is none.
fn build(text: &str, line: &FairqLine) -> Result<*mut Fairq, (c_int, String)> {
    let (text, mut queue) = (CString::new(text).expect("no zero inside"), null_mut());
    let mut message: [c_char; 120] = [1; 120];
    // SAFETY: the text ends with a zero, the others are places of ours.
    let code = unsafe { fairq_new(text.as_ptr(), line, &mut queue, message.as_mut_ptr(), message.len()) };
    if code == FAIRQ_OK {
        return Ok(queue);
    }
    assert!(queue.is_null());
    // SAFETY: fairq_new wrote a zero.
    Err((code, unsafe { CStr::from_ptr(message.as_ptr()) }.to_str().expect("UTF-8").to_owned()))
}

fn host(number: u8) -> FairqHeader {
    FairqHeader { source: FairqAddress { kind: FAIRQ_NODE, bytes: [number; 16] }, ..FairqHeader::default() }
}

fn packet(token: u64, length: u32) -> FairqPacket {
    FairqPacket { token, length, ..FairqPacket::default() }
}

/// The tokens that leave until the discipline is empty.
unsafe fn drain(queue: *mut Fairq, now: u64) -> Vec<u64> {
    let (mut sent, mut not_before, mut tokens) = (FairqPacket::default(), 0, Vec::new());
    // SAFETY: the caller's queue, places of ours.
    while unsafe { fairq_dequeue(queue, now, &mut sent, &mut not_before) } == FAIRQ_SEND {
        tokens.push(sent.token);
    }
    tokens
}

#[test]
fn a_packet_comes_out_as_it_went_in_and_a_removed_one_does_not() {
    let queue = build("fq + 4 packets", &line(1_000_000)).expect("a discipline");
    let (mut handle, mut old, mut packets, mut bytes) = (0, 0, 0, 0);
    let mut out = FairqPacket::default();
    // SAFETY: the queue is ours until it is freed, and so are all places.
    unsafe {
        let first = FairqPacket { deadline_ps: 77, remaining: 5, marks: 1, accepts: 6, tos: 9, ..packet(1, 1000) };
        assert_eq!(fairq_enqueue(queue, 10, &first, &host(1), &mut old), FAIRQ_OK);
        assert_eq!(fairq_enqueue(queue, 20, &packet(2, 500), &host(1), &mut handle), FAIRQ_OK);
        assert_eq!(fairq_held(queue, &mut packets, &mut bytes), FAIRQ_OK);
        assert_eq!((packets, bytes), (2, 1500));
        assert_eq!(fairq_remove(queue, 20, handle, &mut out), FAIRQ_OK);
        assert_eq!((out.token, out.length, out.arrival_ps, out.deadline_ps), (2, 500, 20, 0));
        assert_eq!(fairq_remove(queue, 20, handle, &mut out), FAIRQ_NONE);
        let mut not_before = 0;
        assert_eq!(fairq_dequeue(queue, 30, &mut out, &mut not_before), FAIRQ_SEND);
        assert_eq!((out.token, out.arrival_ps, out.deadline_ps, out.remaining), (1, 10, 77, 5));
        assert_eq!((out.length, out.marks, out.accepts, out.tos), (1000, 1, 6, 9));
        assert_eq!(fairq_dequeue(queue, 30, &mut out, &mut not_before), FAIRQ_EMPTY);
        assert_eq!(fairq_remove(queue, 30, old, &mut out), FAIRQ_NONE);
        assert_eq!(fairq_next_update(queue, &mut packets), FAIRQ_NONE);
        assert_eq!(fairq_update(queue, 30), FAIRQ_OK);
        fairq_free(queue);
    }
}

#[test]
fn no_fate_is_lost_however_small_the_array() {
    let queue = build("fq + lqd + 2500 B", &line(1_000_000)).expect("a discipline");
    let mut fates = [FairqFate::default(); 2];
    // SAFETY: as above.
    unsafe {
        for token in 0..5 {
            assert_eq!(fairq_enqueue(queue, 0, &packet(token, 500), &host(1), null_mut()), FAIRQ_OK);
        }
        assert_eq!(fairq_fates(queue, fates.as_mut_ptr(), 2), 0);
        // Each takes the place of several of the longer queue.
        assert_eq!(fairq_enqueue(queue, 0, &packet(5, 1200), &host(2), null_mut()), FAIRQ_OK);
        assert_eq!(fairq_enqueue(queue, 0, &packet(6, 9000), &host(2), null_mut()), FAIRQ_DROPPED);
        assert_eq!(fairq_fates(queue, null_mut(), 2), 0);
        assert_eq!(fairq_fates(queue, fates.as_mut_ptr(), 0), 0);
        let mut told = Vec::new();
        loop {
            let taken = fairq_fates(queue, fates.as_mut_ptr(), 2);
            if taken == 0 {
                break;
            }
            for fate in &fates[..taken] {
                assert_eq!(fate.outcome, FAIRQ_FATE_DROPPED);
                let reason = CStr::from_ptr(fate.reason.as_ptr()).to_str().expect("ASCII").to_owned();
                told.push((fate.packet.token, reason));
            }
        }
        let expected = [(4, "longest_queue"), (3, "longest_queue"), (2, "longest_queue"), (6, "too_long")];
        assert_eq!(told, expected.map(|(token, reason)| (token, reason.to_owned())));
        fairq_free(queue);
    }
}

#[test]
fn settings_are_heeded() {
    let queue = build("drr(quantum=3000B)", &line(1_000_000)).expect("a discipline");
    // SAFETY: as above.
    unsafe {
        for token in 0..8 {
            let owner = 1 + (token % 2) as u8;
            assert_eq!(fairq_enqueue(queue, 0, &packet(token, 1000), &host(owner), null_mut()), FAIRQ_OK);
        }
        // Three of each in turn.
        assert_eq!(drain(queue, 0), [0, 2, 4, 1, 3, 5, 6, 7]);
        fairq_free(queue);
    }
}

#[test]
fn weights_and_rate_are_heeded() {
    let weights = [FairqWeight { header: host(2), thousandths: 3000 }];
    let line = FairqLine { weights: weights.as_ptr(), weights_count: 1, ..line(8_000_000) };
    let queue = build("virtual_clock", &line).expect("a discipline");
    // SAFETY: as above.
    unsafe {
        let fill = |now: u64| {
            for token in 0..12 {
                let owner = 1 + (token % 2) as u8;
                assert_eq!(fairq_enqueue(queue, now, &packet(token, 1000), &host(owner), null_mut()), FAIRQ_OK);
            }
        };
        let of_second = |tokens: &[u64]| tokens[..4].iter().filter(|token| *token % 2 == 1).count();
        fill(0);
        assert_eq!(of_second(&drain(queue, 0)), 3);
        assert_eq!(fairq_set_rate(queue, 1_000_000, 16_000_000), FAIRQ_OK);
        assert_eq!(fairq_set_weight(queue, 1_000_000, &host(2), 333), FAIRQ_OK);
        let later = 1_000_000_000_000;
        fill(later);
        assert_eq!(of_second(&drain(queue, later)), 1);
        fairq_free(queue);
    }
}

#[test]
fn a_shaper_says_when() {
    let queue = build("token_bucket", &line(8_000_000)).expect("a discipline");
    let (mut out, mut not_before) = (FairqPacket::default(), 0);
    // SAFETY: as above.
    unsafe {
        for token in 0..100 {
            fairq_enqueue(queue, 0, &packet(token, 1500), &host(1), null_mut());
        }
        let mut now = 0;
        for token in 0..100 {
            let mut answer = fairq_dequeue(queue, now, &mut out, &mut not_before);
            if answer == FAIRQ_NOT_BEFORE {
                assert!(not_before > now);
                now = not_before;
                answer = fairq_dequeue(queue, now, &mut out, &mut not_before);
            }
            assert_eq!((answer, out.token), (FAIRQ_SEND, token));
        }
        assert!(now > 0, "a hundred packets are more than a burst");
        fairq_free(queue);
    }
}

#[test]
fn what_cannot_be_done_is_refused_and_nothing_has_changed() {
    for (text, rate, code, said) in [
        ("fifoo", 1, FAIRQ_ERROR_TEXT, "`fifoo` is no part of a queue; did you mean fifo?"),
        ("drr(quantm=3000B)", 1, FAIRQ_ERROR_TEXT, "scheduler.quantm: no such field of drr; did you mean quantum?"),
        ("drr(quantum=0B)", 1, FAIRQ_ERROR_TEXT, "drr: a quantum is from 1 B to 1 GiB"),
        ("fq + 0 packets", 1, FAIRQ_ERROR_TEXT, "`0 packets`: a limit is at least 1 packet"),
        ("fq", 0, FAIRQ_ERROR_RATE, "a rate is above zero and at most 10 Tbit/s"),
        ("fq", u64::MAX, FAIRQ_ERROR_RATE, "a rate is above zero and at most 10 Tbit/s"),
    ] {
        let (found, message) = build(text, &line(rate)).expect_err(text);
        assert!(found == code && message.starts_with(said), "{text}: {found} {message}");
        assert!(message.len() < 120, "it was cut to the room there is");
    }
    let weights = [FairqWeight { header: host(1), thousandths: 0 }];
    let weighted = FairqLine { weights: weights.as_ptr(), weights_count: 1, ..line(1) };
    assert_eq!(build("fq", &weighted).expect_err("no weight").0, FAIRQ_ERROR_WEIGHT);
    let weighted = FairqLine { weights: null(), weights_count: 1, ..line(1) };
    assert_eq!(build("fq", &weighted).expect_err("no weights").0, FAIRQ_ERROR_NULL);

    let fifo = build("fifo", &line(1000)).expect("a discipline");
    // SAFETY: as above.
    unsafe {
        assert_eq!(fairq_set_weight(fifo, 0, &host(1), 2000), FAIRQ_ERROR_CHANGE);
        fairq_free(fifo);
    }

    let queue = build("fq", &line(1000)).expect("a discipline");
    let (mut out, mut when) = (FairqPacket::default(), 0);
    let nowhere = FairqHeader { source: FairqAddress { kind: 9, bytes: [0; 16] }, ..host(1) };
    // SAFETY: as above.
    unsafe {
        let (one, to) = (packet(1, 100), host(1));
        assert_eq!(fairq_enqueue(queue, 5, &one, &nowhere, null_mut()), FAIRQ_ERROR_ADDRESS);
        assert_eq!(fairq_enqueue(queue, 100, &one, &to, null_mut()), FAIRQ_OK);
        assert_eq!(fairq_enqueue(queue, 99, &one, &to, null_mut()), FAIRQ_ERROR_TIME);
        assert_eq!(fairq_dequeue(queue, FAIRQ_TIME_MAX + 1, &mut out, &mut when), FAIRQ_ERROR_TIME);
        assert_eq!(fairq_set_rate(queue, 100, 0), FAIRQ_ERROR_RATE);
        assert_eq!(fairq_set_weight(queue, 100, &to, 0), FAIRQ_ERROR_WEIGHT);
        assert_eq!(fairq_set_weight(queue, 100, &nowhere, 1), FAIRQ_ERROR_ADDRESS);
        assert_eq!(drain(queue, 100), [1]);
        fairq_free(queue);
    }
}

/// Calls of all kinds with values at which things go wrong; every packet must come back, none may
/// break the discipline.
unsafe fn torment(queue: *mut Fairq, draw: &mut Draw) {
    let (mut now, mut handles, mut offered, mut back) = (0, Vec::new(), 0_u64, 0_u64);
    let (mut out, mut when, mut bytes, mut handle) = (FairqPacket::default(), 0, 0, 0);
    let mut fates = [FairqFate::default(); 3];
    for token in 0..400 {
        now += draw.pick(&[0, 0, 1, 1_000_000, 1_000_000_000_000, FAIRQ_TIME_MAX / 300]);
        let header = host(draw.below(4) as u8);
        // SAFETY: as above.
        let answer = unsafe {
            match draw.below(10) {
                0..4 => {
                    let length = draw.pick(&[0, 1, 40, 1500, 1 << 20, u32::MAX]);
                    let remaining = draw.pick(&[0, u32::MAX]);
                    let packet =
                        FairqPacket { remaining, accepts: 0xff, tos: draw.bits() as u8, ..packet(token, length) };
                    let answer = fairq_enqueue(queue, now, &packet, &header, &mut handle);
                    offered += u64::from(answer >= 0);
                    if answer == FAIRQ_OK {
                        handles.push(handle);
                    }
                    answer
                }
                4..7 => {
                    let answer = fairq_dequeue(queue, now, &mut out, &mut when);
                    back += u64::from(answer == FAIRQ_SEND);
                    answer
                }
                7 => {
                    let Some(handle) = (!handles.is_empty()).then(|| draw.pick(&handles)) else { continue };
                    let answer = fairq_remove(queue, now, handle, &mut out);
                    back += u64::from(answer == FAIRQ_OK);
                    answer
                }
                8 => fairq_set_rate(queue, now, draw.pick(&[1, 56_000, 10_000_000_000_000])),
                _ => fairq_set_weight(queue, now, &header, draw.pick(&[1, 1000, 1_000_000_000])),
            }
        };
        // A scheduler that does not go by weights refuses one.
        let is_refused = answer == FAIRQ_ERROR_CHANGE || answer == FAIRQ_ERROR_TIME && now > FAIRQ_TIME_MAX;
        assert!(answer >= 0 || is_refused, "call {token}: {answer}");
        // SAFETY: as above.
        back += unsafe { fairq_fates(queue, fates.as_mut_ptr(), 3) } as u64;
    }
    let mut waiting = 0;
    // SAFETY: as above.
    unsafe {
        loop {
            let taken = fairq_fates(queue, fates.as_mut_ptr(), 3);
            if taken == 0 {
                break;
            }
            back += taken as u64;
        }
        assert_eq!(fairq_held(queue, &mut waiting, &mut bytes), FAIRQ_OK);
    }
    assert_eq!(offered, back + waiting);
}

#[test]
fn no_scheduler_breaks_under_extreme_values() {
    for scheduler in SCHEDULERS {
        for seed in 0..60 {
            let _replay = Replay(format!("{} under seed {seed}", scheduler.name));
            let mut draw = Draw::new(seed);
            let limit = draw.pick(&["unlimited", "5 packets", "4000 B"]);
            let rate = draw.pick(&[1, 56_000, 10_000_000_000_000]);
            let queue = build(&format!("{} + {limit}", scheduler.name), &line(rate)).expect("a discipline");
            // SAFETY: the queue is ours until it is freed.
            unsafe {
                torment(queue, &mut draw);
                fairq_free(queue);
            }
        }
    }
}

#[test]
fn null_is_refused_everywhere() {
    let queue = build("fq", &line(1000)).expect("a discipline");
    let (one, to, text, line) = (packet(1, 100), host(1), c"fq".as_ptr(), line(1));
    let (mut out, mut when, mut made) = (FairqPacket::default(), 0, null_mut());
    // SAFETY: NULL is what is tested; all else is ours.
    unsafe {
        let refused = [
            fairq_new(null(), &line, &mut made, null_mut(), 0),
            fairq_new(text, null(), &mut made, null_mut(), 0),
            fairq_new(text, &line, null_mut(), null_mut(), 0),
            fairq_enqueue(null_mut(), 0, &one, &to, null_mut()),
            fairq_enqueue(queue, 0, null(), &to, null_mut()),
            fairq_enqueue(queue, 0, &one, null(), null_mut()),
            fairq_dequeue(null_mut(), 0, &mut out, &mut when),
            fairq_dequeue(queue, 0, null_mut(), &mut when),
            fairq_dequeue(queue, 0, &mut out, null_mut()),
            fairq_next_update(null_mut(), &mut when),
            fairq_next_update(queue, null_mut()),
            fairq_update(null_mut(), 0),
            fairq_held(null_mut(), &mut when, &mut when),
            fairq_held(queue, null_mut(), &mut when),
            fairq_held(queue, &mut when, null_mut()),
            fairq_remove(null_mut(), 0, 0, &mut out),
            fairq_remove(queue, 0, 0, null_mut()),
            fairq_set_rate(null_mut(), 0, 1),
            fairq_set_weight(null_mut(), 0, &to, 1),
            fairq_set_weight(queue, 0, null(), 1),
        ];
        assert!(refused.iter().all(|code| *code == FAIRQ_ERROR_NULL), "{refused:?}");
        assert_eq!(fairq_fates(null_mut(), null_mut(), 1), 0);
        assert_eq!(fairq_new(c"nothing".as_ptr(), &line, &mut made, null_mut(), 9), FAIRQ_ERROR_TEXT);
        fairq_free(null_mut());
        fairq_free(queue);
    }
}

#[test]
fn every_code_has_words_of_its_own() {
    let words = |code| {
        // SAFETY: a message is a constant that ends with a zero.
        unsafe { CStr::from_ptr(fairq_message(code)) }.to_str().expect("UTF-8")
    };
    let mut all: Vec<_> = (FAIRQ_ERROR_CHANGE..=FAIRQ_REFUSED_CLOSED).map(words).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 19);
    assert!([c_int::MIN, -9, 11, c_int::MAX].map(words).iter().all(|words| words.contains("no such code")));
}
