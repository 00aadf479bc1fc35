//! Pairs of captures made packet by packet.

use super::*;
use crate::capture::{Frame, LinkType, Writer};

/// Microseconds and the bytes of an IP packet.
type Packet = (u64, Vec<u8>);

/// A UDP datagram: IP ID, bytes of payload.
fn udp(id: u16, payload: &[u8]) -> Vec<u8> {
    let [l, m] = (28 + payload.len() as u16).to_be_bytes();
    let [high, low] = id.to_be_bytes();
    let ip = [0x45, 0, l, m, high, low, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&ip[..], &[3, 0xe8, 7, 0xd0, l, m, 0, 0], payload].concat()
}

/// A capture of packets at times in microseconds after `zero_s`, with at most `kept` bytes of each.
fn capture(zero_s: i64, packets: &[Packet], kept: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    for (time, data) in packets {
        let stamp = Stamp::from_ns(zero_s * 1_000_000_000 + *time as i64 * 1000);
        let length = data.len() as u32;
        let data = &data[..kept.min(data.len())];
        writer.write(&Frame { stamp, length, link_type: LinkType::RAW, data }).unwrap();
    }
    writer.finish().unwrap()
}

fn paired(first: &[u8], second: &[u8]) -> Pairing {
    let reader = |bytes| Reader::new(bytes, "it").unwrap();
    pair(reader(first), reader(second), &mut || true).unwrap()
}

/// Microseconds at both ends, and what became of the packet.
fn rows(found: &Pairing) -> Vec<(Option<u32>, Option<u32>, Kind)> {
    let us = |s: f64| (!s.is_nan()).then(|| (s * 1e6).round() as u32);
    found.rows.iter().map(|row| (us(row.first_s), us(row.second_s), row.kind)).collect()
}

#[test]
fn packets_are_found_whatever_the_clocks_say_and_the_lost_are_not() {
    let sent: Vec<Packet> = (0..3).map(|k| (u64::from(k) * 10, udp(k, &[k as u8; 40]))).collect();
    let mut received = vec![sent[0].clone(), (70, sent[2].1.clone()), (90, udp(9, &[9; 40]))];
    received.iter_mut().for_each(|(_, data)| data[8] = 60);
    let found = paired(&capture(1_700_000_000, &sent, 99), &capture(5, &received, 99));
    let expected = [
        (Some(0), Some(0), Kind::Plain),
        (Some(10), None, Kind::Plain),
        (Some(20), Some(70), Kind::Plain),
        (None, Some(90), Kind::Plain),
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!((found.offset_s, found.rows[0].hops), (5.0 - 1_700_000_000.0, 4));
    assert_eq!(found.flows, ["10.0.0.1 1000 > 10.0.0.2 2000 udp"]);
}

#[test]
fn times_lose_no_digit_in_the_years_since_1970() {
    let at = |ns: i64| {
        let mut writer = Writer::new(Vec::new()).unwrap();
        for (k, stamp) in [1_700_000_000_000_000_000, 1_700_000_000_000_000_000 + ns].into_iter().enumerate() {
            let data = &udp(k as u16, &[0; 40]);
            let (stamp, link_type) = (Stamp::from_ns(stamp), LinkType::RAW);
            writer.write(&Frame { stamp, length: data.len() as u32, link_type, data }).unwrap();
        }
        writer.finish().unwrap()
    };
    let found = paired(&at(1), &at(3));
    assert_eq!((found.rows[1].first_s, found.rows[1].second_s), (1e-9, 3e-9));
}

#[test]
fn packets_that_are_alike_are_paired_in_their_order_unless_one_is_lost() {
    let alike = |times: &[u64]| capture(0, &times.iter().map(|time| (*time, udp(0, &[7; 40]))).collect::<Vec<_>>(), 99);
    let found = paired(&alike(&[0, 1, 2]), &alike(&[0, 8, 9]));
    let expected = [(Some(0), Some(0), Kind::Plain), (Some(1), Some(8), Kind::Plain), (Some(2), Some(9), Kind::Plain)];
    assert_eq!(rows(&found), expected);
    let found = paired(&alike(&[0, 1, 2]), &alike(&[0, 9]));
    assert!(rows(&found).iter().all(|(one, other, kind)| *kind == Kind::Alike && one.is_some() != other.is_some()));
    assert_eq!(found.rows.len(), 5);
    let found = paired(&alike(&[0]), &alike(&[0, 9]));
    assert_eq!(rows(&found), [(Some(0), Some(0), Kind::Repeated), (None, Some(9), Kind::Repeated)]);
    let found = paired(&alike(&[0, 9]), &alike(&[0]));
    assert_eq!(rows(&found), [(Some(0), Some(0), Kind::RepeatedFirst), (Some(9), None, Kind::RepeatedFirst)]);
}

#[test]
fn captures_are_compared_as_far_as_both_kept() {
    let packets: Vec<Packet> = (0..20).map(|k| (u64::from(k), udp(k, &[k as u8; 400]))).collect();
    for kept in [20, 24, 28, 40, 64, 96, 200, 428] {
        for (one, other) in [(kept, 999), (999, kept), (kept, 28)] {
            let found = paired(&capture(0, &packets, one), &capture(0, &packets, other));
            assert!(rows(&found).iter().all(|row| row.0 == row.1 && row.2 == Kind::Plain), "{one} {other}");
        }
    }
    // A difference in what only one kept is none; in what both kept it is.
    let mut other = packets.clone();
    other[3].1[300] = 77;
    assert_eq!(paired(&capture(0, &packets, 999), &capture(0, &other, 299)).rows.len(), 20);
    assert_eq!(paired(&capture(0, &packets, 999), &capture(0, &other, 999)).rows.len(), 21);
}

#[test]
fn a_packet_that_came_in_segments_is_said_to_have() {
    let segment = |id: u16, length: usize| udp(id, &vec![5; length]);
    let found = paired(
        &capture(0, &[(0, segment(1, 3000)), (9, segment(7, 50))], 9999),
        &capture(0, &[(0, segment(1, 1000)), (1, segment(2, 1000)), (2, segment(3, 1000))], 9999),
    );
    let kinds: Vec<Kind> = found.rows.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [Kind::OtherLength, Kind::Plain, Kind::OtherLength, Kind::Plain, Kind::Plain]);
}

#[test]
fn later_fragments_are_of_the_flow_of_the_first_in_either_order() {
    let fragment = |id: u16, place: u16| {
        let mut packet = udp(id, &[u8::try_from(id).unwrap(); 40]);
        packet[6..8].copy_from_slice(&place.to_be_bytes());
        packet
    };
    let packets: Vec<Packet> = [(1, 0x2000), (1, 0x0006), (2, 0x0006), (2, 0x2000), (3, 0x0006)]
        .into_iter()
        .enumerate()
        .map(|(at, (id, place))| (at as u64, fragment(id, place)))
        .collect();
    let found = paired(&capture(0, &packets, 999), &capture(0, &packets, 999));
    assert_eq!(found.flows, ["10.0.0.1 1000 > 10.0.0.2 2000 udp"]);
    assert_eq!((found.rows.len(), found.counts[0].fragments, found.counts[0].paired), (4, 1, 4));
    assert_eq!(found.rows.iter().map(|row| row.datagrams).collect::<Vec<_>>(), [[1, 1], [1, 1], [2, 2], [2, 2]]);
    // Half a minute later the number is another datagram's.
    let later = [(0, fragment(1, 0x2000)), (40_000_000, fragment(1, 0x0006)), (40_000_001, fragment(1, 0x2000))];
    let found = paired(&capture(0, &later, 999), &capture(0, &later, 999));
    assert_eq!(found.rows.iter().map(|row| row.datagrams[0]).collect::<Vec<_>>(), [1, 2, 2]);
}

#[test]
fn a_flow_knows_the_one_that_answers() {
    let mut answer = udp(5, &[1; 20]);
    let [source, destination]: [[u8; 4]; 2] = [[10, 0, 0, 2], [10, 0, 0, 1]];
    answer[12..16].copy_from_slice(&source);
    answer[16..20].copy_from_slice(&destination);
    answer[20..24].copy_from_slice(&[7, 0xd0, 3, 0xe8]);
    let both = capture(0, &[(0, udp(1, &[2; 20])), (1, answer)], 99);
    let found = paired(&both, &both);
    assert_eq!(found.flows, ["10.0.0.1 1000 > 10.0.0.2 2000 udp", "10.0.0.2 2000 > 10.0.0.1 1000 udp"]);
    assert_eq!(found.reverse, [Some(1), Some(0)]);
}

#[test]
fn a_caller_that_wants_no_more_is_heard() {
    let packets: Vec<Packet> = (0..5000).map(|k| (k, udp(k as u16, &[0; 4]))).collect();
    let file = capture(0, &packets, 99);
    let reader = || Reader::new(&file[..], "it").unwrap();
    assert!(matches!(pair(reader(), reader(), &mut || false), Err(PairingError::Stopped)));
}
