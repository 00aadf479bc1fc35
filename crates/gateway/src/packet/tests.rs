//! Cutting and joining, by worked examples and as each other's reverse; and bytes that no host
//! sends.

use super::checksum::{complete, sum, write_ipv4};
use super::cut::Cut;
use super::join::Join;
use super::made::Made;
use super::*;
use crate::device::{Offload, Segments};
use fairq_testkit::mutate::Mutator;

const ENDS: [(&str, &str); 2] = [("10.77.0.1", "10.77.1.1"), ("fd77::1", "fd77::2")];

fn super_packet(made: &Made, segments: Segments, segment: u16) -> (Vec<u8>, Offload) {
    let bytes = made.bytes(false);
    let shape = Shape::of(&bytes).unwrap();
    let field = if made.protocol == TCP { 16 } else { 6 };
    let offload = Offload { segments, segment, checksum: Some((shape.transport as u16, field)) };
    (bytes, offload)
}

fn cut(bytes: &[u8], offload: &Offload) -> Vec<(Vec<u8>, Offload)> {
    let shape = Shape::of(bytes).unwrap();
    let mut cut = Cut::new(bytes, &shape, offload).unwrap();
    let (mut all, mut out) = (Vec::new(), Vec::new());
    while let Some(offload) = cut.next_into(&mut out) {
        all.push((out.clone(), offload));
    }
    all
}

#[test]
fn tcp_is_cut_into_the_packets_that_a_host_without_offload_sends() {
    for (source, destination) in ENDS {
        let whole = Made { flags: ACK | PSH | FIN | CWR, ..Made::tcp(source, destination, 2500) };
        let (bytes, offload) = super_packet(&whole, Segments::Tcp, 1000);
        let segments = cut(&bytes, &offload);
        assert_eq!(segments.len(), 3);
        // By hand: 1000, 1000 and 500 bytes, each packet as if it had been made alone.
        let expected = [(0, 1000, ACK | CWR), (1000, 1000, ACK), (2000, 500, ACK | PSH | FIN)];
        for (at, ((from, length, flags), (found, offload))) in expected.into_iter().zip(&segments).enumerate() {
            let alone = Made {
                sequence: 1000 + from as u32,
                id: 1 + at as u16,
                flags,
                data: whole.data[from..from + length].to_vec(),
                ..whole.clone()
            };
            assert_eq!(*found, alone.bytes(false), "{source}, segment {at}");
            let mut completed = found.clone();
            complete(&mut completed, offload.checksum.unwrap());
            assert_eq!(completed, alone.bytes(true));
        }
    }
}

#[test]
fn udp_is_cut_into_datagrams_of_one_length() {
    for (source, destination) in ENDS {
        let whole = Made::udp(source, destination, 250);
        let (bytes, offload) = super_packet(&whole, Segments::Udp, 100);
        let lengths: Vec<u32> = cut(&bytes, &offload).iter().map(|(p, _)| Shape::of(p).unwrap().data()).collect();
        assert_eq!(lengths, [100, 100, 50]);
        for (at, (mut found, offload)) in cut(&bytes, &offload).into_iter().enumerate() {
            let data = whole.data[at * 100..whole.data.len().min(at * 100 + 100)].to_vec();
            let alone = Made { id: 1 + at as u16, data, ..whole.clone() };
            complete(&mut found, offload.checksum.unwrap());
            assert_eq!(found, alone.bytes(true));
        }
    }
}

#[test]
fn a_complete_checksum_sums_to_all_ones_with_its_pseudo_header() {
    for (source, destination) in ENDS {
        for made in [Made::tcp(source, destination, 333), Made::udp(source, destination, 334)] {
            let bytes = made.bytes(true);
            let shape = Shape::of(&bytes).unwrap();
            let covered = &bytes[shape.transport..];
            let total = u32::from(sum(covered)) + u32::from(checksum::pseudo(&bytes, &shape, covered.len()));
            assert_eq!((total & 0xffff) + (total >> 16), 0xffff);
        }
    }
}

#[test]
fn what_would_be_a_flood_of_segments_is_refused() {
    for (segment, is_cut) in [(0, false), (1, false), (31, false), (32, true), (65_535, true)] {
        let (bytes, offload) = super_packet(&Made::tcp(ENDS[0].0, ENDS[0].1, 65_000), Segments::Tcp, segment);
        assert_eq!(Cut::new(&bytes, &Shape::of(&bytes).unwrap(), &offload).is_some(), is_cut, "{segment}");
    }
}

/// Joins what follows one another as far as it goes.
fn joined(packets: &[(Vec<u8>, Offload)]) -> Vec<(Vec<u8>, Offload)> {
    let (mut join, mut all) = (Join::default(), Vec::new());
    for (at, (packet, offload)) in packets.iter().enumerate() {
        if at == 0 || !join.append(packet, offload) {
            if at > 0 {
                let (bytes, offload) = join.finish();
                all.push((bytes.to_vec(), offload));
            }
            join.begin(packet, offload);
        }
    }
    let (bytes, offload) = join.finish();
    all.push((bytes.to_vec(), offload));
    all
}

#[test]
fn what_was_cut_is_joined_to_what_it_was() {
    let mut random = Mutator::new(7);
    for (source, destination) in ENDS {
        for _ in 0..500 {
            let flags = ACK | [0, PSH, FIN, CWR, PSH | CWR, 0x40][random.below(6)];
            let (segment, length) = (10 + random.below(1438), 1 + random.below(20_000));
            let id = random.bits() as u16;
            let made = Made { flags, id, sequence: random.bits() as u32, ..Made::tcp(source, destination, length) };
            let (bytes, offload) = super_packet(&made, Segments::Tcp, segment as u16);
            let segments = cut(&bytes, &offload);
            assert_eq!(segments.len(), length.div_ceil(segment));
            let whole = joined(&segments);
            assert_eq!((whole.len(), &whole[0].0), (1, &bytes));
            if segments.len() > 1 {
                assert_eq!(whole[0].1, offload);
                assert_eq!(cut(&whole[0].0, &whole[0].1), segments);
            }
        }
    }
}

#[test]
fn only_what_follows_is_joined() {
    for (source, destination) in ENDS {
        let (bytes, offload) = super_packet(&Made::tcp(source, destination, 3000), Segments::Tcp, 1000);
        let segments = cut(&bytes, &offload);
        let (at, is_v6) = (Shape::of(&bytes).unwrap().transport, source.contains(':'));
        let differs = |byte: usize, to: u8| {
            let mut other = segments.clone();
            other[1].0[byte] ^= to;
            other
        };
        // A gap, a port, an acknowledgement, a window, an option, a flag, the type of service.
        for (byte, bit) in [(at + 7, 1), (at, 1), (at + 8, 1), (at + 15, 1), (at + 27, 1), (at + 13, SYN), (1, 0x10)] {
            assert!(joined(&differs(byte, bit)).len() > 1, "{source}: byte {byte}");
        }
        assert!(is_v6 || joined(&differs(5, 4)).len() > 1, "an identification of its own");
        // A short one in the middle is the last of its packet; so is one with PSH.
        assert_eq!(joined(&[segments[0].clone(), segments[2].clone()]).len(), 2);
        let lengths: Vec<usize> =
            joined(&differs(at + 13, PSH)).iter().map(|(bytes, _)| bytes.len() - at - 32).collect();
        assert_eq!(lengths, [2000, 1000]);
        // A checksum that its sender computed is kept.
        let mut own = segments.clone();
        own[1].1.checksum = None;
        assert_eq!(joined(&own).len(), 3);
    }
}

#[test]
fn fragments_are_told_by_their_identity() {
    let mut bytes = Made::udp("10.0.0.1", "10.0.0.2", 100).bytes(true);
    put_u16(&mut bytes, 6, 0x2000);
    assert_eq!(Shape::of(&bytes).unwrap().fragment, Some(Fragment { id: 1, is_first: true }));
    put_u16(&mut bytes, 6, 0x0010);
    write_ipv4(&mut bytes);
    let later = Shape::of(&bytes).unwrap();
    assert_eq!((later.fragment, later.payload), (Some(Fragment { id: 1, is_first: false }), 20));
    // IPv6: a fragment header before UDP.
    let mut bytes = Made::udp("fd77::1", "fd77::2", 100).bytes(true);
    bytes.splice(40..40, [UDP, 0, 0x00, 0x09, 0, 0, 0x12, 0x34]);
    bytes[6] = 44;
    put_u16(&mut bytes, 4, 116);
    assert_eq!(Shape::of(&bytes).unwrap().fragment, Some(Fragment { id: 0x1234, is_first: false }));
    put_u16(&mut bytes, 42, 1);
    let first = Shape::of(&bytes).unwrap();
    assert_eq!((first.fragment, first.payload), (Some(Fragment { id: 0x1234, is_first: true }), 56));
}

#[test]
fn bytes_that_no_host_sends_are_refused_or_cut_without_a_panic() {
    let seeds: Vec<Vec<u8>> = ENDS
        .iter()
        .flat_map(|(source, destination)| [Made::tcp(source, destination, 3000), Made::udp(source, destination, 300)])
        .map(|made| made.bytes(false))
        .collect();
    let mut random = Mutator::new(3);
    let (mut out, mut join, mut cuts) = (Vec::new(), Join::default(), 0);
    for _ in 0..20_000 {
        let bytes = random.mutant(&seeds, &[&[0x45, 0], &[0x60, 0], &[44, 0]]);
        let segments = [Segments::Tcp, Segments::Udp, Segments::One][random.below(3)];
        let segment = (random.bits() as u16) >> random.below(16);
        let offload = Offload { segments, segment, checksum: Some((random.bits() as u16, random.bits() as u16 & 63)) };
        let mut copy = bytes.clone();
        complete(&mut copy, offload.checksum.unwrap());
        write_ipv4(&mut copy);
        let Some(shape) = Shape::of(&bytes) else { continue };
        assert!(shape.transport <= shape.payload && shape.payload <= shape.end && shape.end <= bytes.len());
        let Some(mut cut) = Cut::new(&bytes, &shape, &offload) else { continue };
        cuts += 1;
        while let Some(offload) = cut.next_into(&mut out) {
            if !join.append(&out, &offload) {
                join.finish();
                join.begin(&out, &offload);
            }
        }
    }
    assert!(cuts > 1000, "{cuts} were cut");
}
