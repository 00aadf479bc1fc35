//! Headers of frames made byte by byte.

use super::*;

/// The first bytes of a UDP or TCP header from port 1000 to port 53.
const PORTS: [u8; 8] = [0x03, 0xe8, 0, 53, 0, 8, 0, 0];
const MACS: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
const ONE: Address = Address::Mac([2, 0, 0, 0, 0, 1]);
const TWO: Address = Address::Mac([2, 0, 0, 0, 0, 2]);

fn v4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let length = 20 + payload.len() as u8;
    let [high, low] = fragment.to_be_bytes();
    let header = [0x45, 0xb9, 0, length, 0, 7, high, low, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&header[..], payload].concat()
}

fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let start = [0x6b, 0x90, 0, 0, 0, payload.len() as u8, next, 64];
    [&start[..], &[1; 16], &[2; 16], payload].concat()
}

fn ethernet_of(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&MACS[..], &ether_type.to_be_bytes(), payload].concat()
}

fn v4_header(protocol: u16, ports: (u16, u16)) -> Header {
    let (source, destination) = (Address::V4([10, 0, 0, 1]), Address::V4([10, 0, 0, 2]));
    Header { source, destination, protocol, source_port: ports.0, destination_port: ports.1, tos: 0xb9 }
}

fn v6_header(protocol: u16, ports: (u16, u16)) -> Header {
    let (source, destination) = (Address::V6([1; 16]), Address::V6([2; 16]));
    Header { source, destination, protocol, source_port: ports.0, destination_port: ports.1, tos: 0xb9 }
}

#[test]
fn a_header_is_the_same_whatever_link_it_came_over() {
    let udp = v4(17, 0, &PORTS);
    let expected = v4_header(17, (1000, 53));
    let with = |prefix: &[u8]| [prefix, &udp].concat();
    assert_eq!(header_of(LinkType::ETHERNET, &ethernet_of(0x0800, &udp)), expected);
    for raw in [12, 14, 101, 228] {
        assert_eq!(header_of(LinkType(raw), &udp), expected);
    }
    assert_eq!(header_of(LinkType::NULL, &with(&[2, 0, 0, 0])), expected);
    assert_eq!(header_of(LinkType::LOOP, &with(&[0, 0, 0, 2])), expected);
    let cooked = [0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0];
    assert_eq!(header_of(LinkType::LINUX_SLL, &with(&cooked)), expected);
    let cooked2 = [8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
    assert_eq!(header_of(LinkType::LINUX_SLL2, &with(&cooked2)), expected);
    // 802.2 with SNAP: a length, then an EtherType after all.
    let snap = [&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &udp[..]].concat();
    assert_eq!(header_of(LinkType::ETHERNET, &ethernet_of(36, &snap)), expected);
}

#[test]
fn tags_are_passed_over() {
    let udp = v6(17, &PORTS);
    let one = [&[0x20, 1, 0x86, 0xdd], &udp[..]].concat();
    let two = [&[0x20, 1, 0x81, 0, 0, 2, 0x86, 0xdd], &udp[..]].concat();
    assert_eq!(header_of(LinkType::ETHERNET, &ethernet_of(0x8100, &one)), v6_header(17, (1000, 53)));
    assert_eq!(header_of(LinkType::ETHERNET, &ethernet_of(0x88a8, &two)), v6_header(17, (1000, 53)));
}

#[test]
fn later_fragments_are_of_the_same_pair_and_have_no_ports() {
    for (fragment, ports) in [(0x2000, (1000, 53)), (0x4000, (1000, 53)), (0x2001, (0, 0)), (0x0001, (0, 0))] {
        assert_eq!(header_of(LinkType::RAW, &v4(17, fragment, &PORTS)), v4_header(17, ports), "{fragment:#x}");
    }
    for (offset, ports) in [([0, 1], (1000, 53)), ([0, 9], (0, 0)), ([1, 0], (0, 0))] {
        let fragment = [&[17, 0, offset[0], offset[1], 0, 0, 0, 1], &PORTS[..]].concat();
        assert_eq!(header_of(LinkType::RAW, &v6(44, &fragment)), v6_header(17, ports), "{offset:?}");
    }
}

#[test]
fn extension_headers_are_passed_over() {
    let options = [0, 1, 4, 0, 0, 0, 0];
    let authentication = [17, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let chain = [&[43], &options[..], &[60], &options, &[51], &options, &authentication, &PORTS].concat();
    assert_eq!(header_of(LinkType::RAW, &v6(0, &chain)), v6_header(17, (1000, 53)));
    let authenticated = [&authentication[..], &PORTS].concat();
    assert_eq!(header_of(LinkType::RAW, &v4(51, 0, &authenticated)), v4_header(17, (1000, 53)));
    // One that claims more than was captured hides what is behind it, and nothing more.
    let too_long = [&[17, 255], &options[..6], &PORTS].concat();
    assert_eq!(header_of(LinkType::RAW, &v6(60, &too_long)), v6_header(60, (0, 0)));
}

#[test]
fn of_a_cut_packet_all_that_is_there_is_told() {
    let whole = ethernet_of(0x0800, &v4(6, 0, &PORTS));
    let told = |length: usize| header_of(LinkType::ETHERNET, &whole[..length]);
    for length in 0..=whole.len() {
        let expected = match length {
            0..12 => UNREADABLE,
            12..14 => Header { source: ONE, destination: TWO, ..UNREADABLE },
            14..34 => Header { source: ONE, destination: TWO, protocol: 0x0800, ..UNREADABLE },
            34..38 => v4_header(6, (0, 0)),
            _ => v4_header(6, (1000, 53)),
        };
        assert_eq!(told(length), expected, "{length}");
    }
    let mut options_cut = v4(17, 0, &PORTS);
    options_cut[0] = 0x4f;
    assert_eq!(header_of(LinkType::RAW, &options_cut), v4_header(17, (0, 0)));
}

#[test]
fn padding_is_not_taken_for_ports() {
    let padded = [v4(17, 0, &[]), vec![9; 26]].concat();
    assert_eq!(header_of(LinkType::ETHERNET, &ethernet_of(0x0800, &padded)), v4_header(17, (0, 0)));
}

#[test]
fn protocols_without_ports_have_none() {
    assert_eq!(header_of(LinkType::RAW, &v4(1, 0, &PORTS)), v4_header(1, (0, 0)));
    assert_eq!(header_of(LinkType::RAW, &v6(58, &PORTS)), v6_header(58, (0, 0)));
}

#[test]
fn a_frame_without_ip_has_the_addresses_of_its_link() {
    let of = |ether_type| Header { source: ONE, destination: TWO, protocol: ether_type, ..UNREADABLE };
    assert_eq!(header_of(LinkType::ETHERNET, &ethernet_of(0x0806, &[0; 28])), of(0x0806));
    assert_eq!(header_of(LinkType::ETHERNET, &ethernet_of(38, &[0x42; 38])), of(LLC));
    let cooked = [0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 6];
    let nobody = Address::Mac([0; 6]);
    assert_eq!(header_of(LinkType::LINUX_SLL, &cooked), Header { destination: nobody, ..of(0x0806) });
    assert_eq!(header_of(LinkType::NULL, &[7, 0, 0, 0, 1]), UNREADABLE);
}
