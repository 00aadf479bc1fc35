//! What changes an identity, and what does not.

use super::*;

fn v4(protocol: u8, place: u16, payload: &[u8]) -> Vec<u8> {
    let [high, low] = place.to_be_bytes();
    let [l, m] = (20 + payload.len() as u16).to_be_bytes();
    let header = [0x45, 0, l, m, 1, 7, high, low, 64, protocol, 9, 9, 10, 0, 0, 1, 10, 0, 0, 2];
    [&header[..], payload].concat()
}

fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let [l, m] = (payload.len() as u16).to_be_bytes();
    [&[0x60, 0, 0, 0, l, m, next, 64], &[1; 16][..], &[2; 16], payload].concat()
}

fn tcp(options: &[u8], data: &[u8]) -> Vec<u8> {
    let length = 0x50 + 4 * options.len() as u8;
    let header = [0, 80, 1, 1, 0, 0, 0, 1, 0, 0, 0, 2, length, 0x10, 1, 0, 7, 7, 0, 0];
    [&header[..], options, data].concat()
}

/// Head and the rest of an identity.
fn of(packet: &[u8]) -> (Vec<u8>, Identified) {
    let mut head = vec![7];
    let found = identify(LinkType::RAW, packet, packet.len() as u32, &mut head).expect("it is IP");
    (head[1..].to_vec(), Identified { hops: 0, ..found })
}

/// The packet with other bytes at these places.
fn with(packet: &[u8], places: &[usize]) -> Vec<u8> {
    let mut other = packet.to_vec();
    places.iter().for_each(|at| other[*at] ^= 0xff);
    other
}

#[test]
fn what_the_path_and_the_card_change_does_not_change_the_identity_of_a_packet() {
    let data = [3; 200];
    let udp = v4(17, 0x4000, &[&[0, 80, 1, 1, 0, 208, 5, 5], &data[..]].concat());
    // Type of service, time to live, header checksum, checksum of UDP.
    assert_eq!(of(&udp), of(&with(&udp, &[8, 10, 11, 26, 27])));
    let mut marked = udp.clone();
    marked[1] = 3;
    assert_eq!(of(&udp).0, of(&marked).0);
    let mut clamped = tcp(&[2, 4, 5, 0xb4, 1, 1, 1, 0], &data);
    let plain = v4(6, 0, &clamped);
    clamped[22..24].copy_from_slice(&[5, 0x8c]);
    clamped[16..18].copy_from_slice(&[1, 1]);
    assert_eq!(of(&plain), of(&v4(6, 0, &clamped)));
    let six = v6(17, &[&[0, 80, 1, 1, 0, 208, 5, 5], &data[..]].concat());
    // Flow label, hop limit, checksum.
    assert_eq!(of(&six), of(&with(&six, &[2, 3, 7, 46, 47])));
    let sctp = v4(132, 0, &data);
    assert_eq!(of(&sctp), of(&with(&sctp, &[28, 29, 30, 31])));
}

#[test]
fn every_other_byte_tells_packets_apart() {
    let data: Vec<u8> = (0..300).map(|k| k as u8).collect();
    let udp = v4(17, 0, &[&[0, 80, 1, 1, 1, 52, 5, 5], &data[..]].concat());
    for at in (12..udp.len()).chain([4, 5, 9]).filter(|at| !(24..28).contains(at)) {
        assert_ne!(of(&udp), of(&with(&udp, &[at])), "byte {at}");
    }
    let six = v6(6, &tcp(&[1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6], &data));
    for at in (8..six.len()).filter(|at| ![52, 53, 56, 57, 60].contains(at)) {
        // The kind and length of an option are not looked at for what they mean, but where the next
        // one is.
        assert_ne!(of(&six), of(&with(&six, &[at])), "byte {at}");
    }
}

#[test]
fn padding_is_not_of_the_packet_and_a_length_of_none_is_filled_in() {
    let udp = v4(17, 0, &[0, 80, 1, 1, 0, 12, 5, 5, 1, 2, 3, 4]);
    let padded = [&udp[..], &[0; 14]].concat();
    assert_eq!(of(&udp), of(&padded));
    assert_eq!(of(&padded).1.length, 32);
    let mut unfilled = udp.clone();
    unfilled[2..4].copy_from_slice(&[0, 0]);
    assert_eq!(of(&unfilled).1.length, 32);
}

#[test]
fn a_head_that_was_cut_is_the_beginning_of_the_whole_one() {
    let whole = v4(6, 0, &tcp(&[8, 10, 0, 0, 0, 5, 0, 0, 0, 6, 1, 1], &[9; 300]));
    let (head, found) = of(&whole);
    assert!(!found.is_cut && head.len() == HEAD_MAX);
    for kept in 20..whole.len() {
        let mut cut = Vec::new();
        let found = identify(LinkType::RAW, &whole[..kept], whole.len() as u32, &mut cut).expect("it is IP");
        assert!(found.is_cut && head.starts_with(&cut), "{kept}");
    }
    assert!(identify(LinkType::RAW, &whole[..19], 300, &mut Vec::new()).is_none());
}

#[test]
fn fragments_tell_their_datagram_and_whether_they_are_its_first() {
    let place = |packet: &[u8]| of(packet).1.fragment.map(|fragment| (fragment.id, fragment.is_first));
    assert_eq!(place(&v4(17, 0x4000, &[0; 16])), None);
    assert_eq!(place(&v4(17, 0x2000, &[0; 16])), Some((0x0107, true)));
    assert_eq!(place(&v4(17, 0x2010, &[0; 16])), Some((0x0107, false)));
    assert_eq!(place(&v4(17, 0x0010, &[0; 16])), Some((0x0107, false)));
    let fragment = |high, low| v6(44, &[&[17, 0, high, low, 0, 0, 1, 9], &[5; 16][..]].concat());
    assert_eq!(place(&fragment(0, 1)), Some((0x0109, true)));
    assert_eq!(place(&fragment(0, 9)), Some((0x0109, false)));
    assert_ne!(of(&fragment(0, 9)).0, of(&fragment(0, 17)).0);
}
