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

/// A TCP segment that acknowledges up to `number`, with these flags and options.
fn tcp(number: u32, flags: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let offset = ((20 + options.len()) / 4) as u16;
    let [a, b, c, d] = number.to_be_bytes();
    let [high, low] = (offset << 12 | flags).to_be_bytes();
    let header = [0x03, 0xe8, 0, 53, 0, 0, 0, 1, a, b, c, d, high, low, 0xff, 0xff, 0, 0, 0, 0];
    [&header[..], options, payload].concat()
}

/// Time stamps behind two no-operations, as most systems write them.
const STAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
/// An option of SACK with one block.
const SACK: [u8; 12] = [1, 1, 5, 10, 0, 0, 0, 9, 0, 0, 0, 10];

#[test]
fn an_acknowledgement_that_carries_nothing_else_tells_its_number() {
    let number = NonZeroU32::new(0x8001_0203);
    let data = [7; 4];
    let segment = |flags, options: &[u8], payload: &[u8]| tcp(0x8001_0203, flags, options, payload);
    for (name, segment, expected) in [
        ("plain", segment(0x10, &[], &[]), number),
        ("with time stamps", segment(0x10, &STAMPS, &[]), number),
        ("with options that end early", segment(0x10, &[1, 0, 9, 9], &[]), number),
        ("with data", segment(0x10, &[], &data), None),
        ("SYN", segment(0x12, &[], &[]), None),
        ("FIN", segment(0x11, &[], &[]), None),
        ("RST", segment(0x14, &[], &[]), None),
        ("PSH", segment(0x18, &[], &[]), None),
        ("URG", segment(0x30, &[], &[]), None),
        ("ECE", segment(0x50, &[], &[]), None),
        ("CWR", segment(0x90, &[], &[]), None),
        ("AE", segment(0x110, &[], &[]), None),
        ("no ACK", segment(0, &[], &[]), None),
        ("SACK", segment(0x10, &SACK, &[]), None),
        ("an option cut by the header's end", segment(0x10, &[1, 1, 8, 10], &[]), None),
    ] {
        for (link, packet) in [(14, v4(6, 0x4000, &segment)), (14, v6(6, &segment))] {
            let ether_type = if packet[0] >> 4 == 4 { 0x0800 } else { 0x86dd };
            let frame = ethernet_of(ether_type, &packet);
            let told = layers_of(LinkType::ETHERNET, &frame, frame.len() as u32);
            assert_eq!((told.acknowledges, told.link_header), (expected, link), "{name}");
            assert_eq!(layers_of(LinkType::RAW, &packet, packet.len() as u32).acknowledges, expected, "{name}");
        }
    }
}

#[test]
fn of_what_is_no_whole_tcp_segment_no_number_is_told() {
    let ack = tcp(7, 0x10, &[], &[]);
    let told = |packet: &[u8]| layers_of(LinkType::RAW, packet, packet.len() as u32).acknowledges;
    assert_eq!(told(&v4(6, 0, &ack)), NonZeroU32::new(7));
    assert_eq!(told(&v4(17, 0, &ack)), None, "UDP");
    assert_eq!((told(&v4(6, 0x2000, &ack)), told(&v4(6, 1, &ack))), (None, None), "fragments");
    let behind = [&[6, 0, 1, 4, 0, 0, 0, 0], &ack[..]].concat();
    assert_eq!(told(&v6(60, &behind)), NonZeroU32::new(7), "behind an extension header of IPv6");
    let fragment = [&[6, 0, 0, 1, 0, 0, 0, 1], &ack[..]].concat();
    assert_eq!(told(&v6(44, &fragment)), None, "the first fragment of IPv6");
    // A length that the network card was to fill in, and a header that was cut.
    let mut unknown = v4(6, 0, &ack);
    (unknown[2], unknown[3]) = (0, 0);
    assert_eq!(told(&unknown), None);
    let stamped = v4(6, 0, &tcp(7, 0x10, &STAMPS, &[]));
    for length in 0..stamped.len() {
        assert_eq!(told(&stamped[..length]), None, "{length} bytes captured");
    }
    assert_eq!(told(&stamped), NonZeroU32::new(7));
}

#[test]
fn what_of_a_length_is_the_links_is_told_for_every_link() {
    let udp = v4(17, 0, &[0; 100]);
    let six = v6(17, &[0; 100]);
    let of = |link_type, frame: &[u8]| layers_of(link_type, frame, frame.len() as u32).link_header;
    for (ether_type, packet) in [(0x0800_u16, &udp), (0x86dd, &six)] {
        let with = |prefix: &[u8]| [prefix, packet].concat();
        let [high, low] = ether_type.to_be_bytes();
        assert_eq!(of(LinkType::RAW, packet), 0);
        assert_eq!(of(LinkType::ETHERNET, &ethernet_of(ether_type, packet)), 14);
        assert_eq!(of(LinkType::ETHERNET, &ethernet_of(0x8100, &with(&[0x20, 1, high, low]))), 18);
        assert_eq!(of(LinkType::ETHERNET, &ethernet_of(0x88a8, &with(&[0, 1, 0x81, 0, 0, 2, high, low]))), 22);
        assert_eq!(of(LinkType::ETHERNET, &ethernet_of(136, &with(&[0xaa, 0xaa, 3, 0, 0, 0, high, low]))), 22);
        assert_eq!(of(LinkType::LINUX_SLL, &with(&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, high, low])), 16);
        assert_eq!(
            of(LinkType::LINUX_SLL2, &with(&[high, low, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0])),
            20
        );
        assert_eq!(of(LinkType::NULL, &with(&[2, 0, 0, 0])), 4);
    }
    // ARP, and a frame of which nothing was captured.
    assert_eq!(of(LinkType::ETHERNET, &ethernet_of(0x0806, &[0; 28])), 14);
    assert_eq!(layers_of(LinkType::ETHERNET, &[], 1514).link_header, 14);
    assert_eq!(layers_of(LinkType::ETHERNET, &[], 9).link_header, 9, "never more than the frame has");
}

#[test]
fn what_pads_a_short_frame_is_the_links_and_what_a_card_is_to_cut_up_is_not() {
    let short = ethernet_of(0x0800, &v4(6, 0, &tcp(7, 0x10, &[], &[])));
    let padded = [short.clone(), vec![0; 6]].concat();
    let told = |frame: &[u8], length: u32| {
        let Layers { link_header, acknowledges, .. } = layers_of(LinkType::ETHERNET, frame, length);
        (link_header, acknowledges)
    };
    assert_eq!(told(&padded, 60), (20, NonZeroU32::new(7)));
    assert_eq!(told(&padded, 64), (24, NonZeroU32::new(7)), "with a frame check sequence");
    // Of a super-packet the header may tell the length of its first segment, or none.
    assert_eq!(told(&short, 14 + 65_000).0, 14);
    let mut unknown = short;
    (unknown[16], unknown[17]) = (0, 0);
    assert_eq!(told(&unknown, 60), (14, None));
}

/// The checksum of a header that has zeros in its place.
fn checksum_of(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// The ones' complement sum of a header with its checksum is all ones.
fn checksum_is_right(header: &[u8]) -> bool {
    checksum_of(header) == 0
}

#[test]
fn a_mark_sets_ce_and_keeps_the_checksum_right_over_every_link() {
    for (tos, identification) in [(0xb9, 7), (0xba, 0xffff), (0xb8, 0x0102), (0xbb, 9), (0, 0), (2, 0xfffe)] {
        let mut udp = v4(17, 0, &PORTS);
        udp[1] = tos;
        udp[4..6].copy_from_slice(&u16::to_be_bytes(identification));
        let checksum = checksum_of(&udp[..20]);
        udp[10..12].copy_from_slice(&checksum.to_be_bytes());
        assert!(checksum_is_right(&udp[..20]));
        let mut inner = v6(17, &PORTS);
        inner[1] = inner[1] & 0xcf | (tos & 3) << 4;
        let tagged = |ether_type: [u8; 2], packet: &[u8]| [&[0x20, 1, ether_type[0], ether_type[1]], packet].concat();
        let cooked = [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], &udp[..]].concat();
        let cooked2 = [&[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0], &udp[..]].concat();
        for (link_type, frame, is_v4) in [
            (LinkType::RAW, udp.clone(), true),
            (LinkType::ETHERNET, ethernet_of(0x0800, &udp), true),
            (LinkType::ETHERNET, ethernet_of(0x8100, &tagged([8, 0], &udp)), true),
            (LinkType::LINUX_SLL, cooked, true),
            (LinkType::LINUX_SLL2, cooked2, true),
            (LinkType::NULL, [&[2, 0, 0, 0], &udp[..]].concat(), true),
            (LinkType::RAW, inner.clone(), false),
            (LinkType::ETHERNET, ethernet_of(0x86dd, &inner), false),
        ] {
            let before = header_of(link_type, &frame);
            let mut marked = frame.clone();
            mark_ce(link_type, &mut marked);
            let after = header_of(link_type, &marked);
            assert_eq!(after, Header { tos: before.tos | 3, ..before }, "{link_type:?}");
            let start = marked.len() - if is_v4 { udp.len() } else { inner.len() };
            assert!(!is_v4 || checksum_is_right(&marked[start..start + 20]), "{link_type:?}");
            let changed = frame.iter().zip(&marked).filter(|(one, other)| one != other).count();
            assert!(changed <= 3, "{link_type:?}: {changed} bytes");
        }
    }
    // A checksum that the card was to fill in (checksum offload) is right then. That of a header
    // that is cut short, or whose length makes no sense, is changed by what was changed.
    let unfilled = [0x46, 2, 0, 24, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 1, 0];
    let mut filled = unfilled;
    mark_ce(LinkType::RAW, &mut filled);
    assert!(filled[1] == 3 && checksum_is_right(&filled), "{filled:?}");
    for kept in 20..24 {
        let mut cut = unfilled[..kept].to_vec();
        cut[10..12].copy_from_slice(&checksum_of(&unfilled).to_be_bytes());
        mark_ce(LinkType::RAW, &mut cut);
        assert_eq!(cut, filled[..kept], "{kept} bytes captured");
    }
    // What is no IP, and what is too short, stays as it is.
    for (link_type, frame) in [
        (LinkType::ETHERNET, ethernet_of(0x0806, &[1; 28])),
        (LinkType::ETHERNET, ethernet_of(0x0800, &[0x45, 0, 0, 20])),
        (LinkType::RAW, vec![]),
        (LinkType::NULL, vec![2]),
    ] {
        let mut marked = frame.clone();
        mark_ce(link_type, &mut marked);
        assert_eq!(marked, frame);
    }
}

/// The header and the tunnel of a frame of Ethernet.
fn seen(ether_type: u16, parts: &[&[u8]]) -> (Header, Option<&'static str>) {
    let Layers { header, tunnel, .. } = layers_of(LinkType::ETHERNET, &ethernet_of(ether_type, &parts.concat()), 1500);
    (header, tunnel)
}

#[test]
fn ip_in_pppoe_and_behind_labels_is_looked_into() {
    let (udp, udp6) = (v4(17, 0, &PORTS), v6(17, &PORTS));
    let (v4_header, v6_header) = (v4_header(17, (1000, 53)), v6_header(17, (1000, 53)));
    let session = [0x11, 0, 0, 7, 0, 30];
    assert_eq!(seen(0x8864, &[&session, &[0, 0x21], &udp]), (v4_header, None));
    assert_eq!(seen(0x8864, &[&session, &[0, 0x57], &udp6]), (v6_header, None));
    // The protocol in one byte, and a tag of a VLAN before.
    assert_eq!(seen(0x8864, &[&session, &[0x21], &udp]), (v4_header, None));
    assert_eq!(seen(0x8100, &[&[0, 5, 0x88, 0x64], &session, &[0, 0x57], &udp6]), (v6_header, None));
    for ether_type in [0x8847, 0x8848] {
        assert_eq!(seen(ether_type, &[&[0, 1, 1, 64], &udp]), (v4_header, None));
        assert_eq!(seen(ether_type, &[&[0, 1, 0, 64, 0, 2, 0, 64, 0, 3, 1, 64], &udp6]), (v6_header, None));
    }
    assert_eq!(seen(0x8864, &[&session, &[2, 0x81], &[0, 1, 1, 64], &udp]), (v4_header, None));
    // On a cooked link too; and of the frame's length what is not IP's is the link's.
    let cooked = [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x88, 0x64], &session[..], &[0, 0x21], &udp].concat();
    let layers = layers_of(LinkType::LINUX_SLL, &cooked, cooked.len() as u32);
    assert_eq!((layers.header, layers.link_header), (v4_header, 24));
}

#[test]
fn what_carries_packets_that_are_not_looked_into_is_named() {
    let (udp, frame) = (v4(17, 0, &PORTS), ethernet_of(0x0800, &v4(17, 0, &PORTS)));
    let link = |ether_type| link_header([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], ether_type);
    // A pseudowire, with its control word and without; a label stack that does not end.
    assert_eq!(seen(0x8847, &[&[0, 1, 1, 64], &[0; 4], &frame]), (link(0x8847), Some("MPLS")));
    assert_eq!(seen(0x8847, &[&[0, 1, 1, 64], &frame]), (link(0x8847), Some("MPLS")));
    assert_eq!(seen(0x8847, &[&[0, 1, 0, 64]]), (link(0x8847), Some("MPLS")));
    // A version of 4 with a header too short to be one.
    assert_eq!(seen(0x8847, &[&[0, 1, 1, 64], &[0x42; 40]]), (link(0x8847), Some("MPLS")));
    let session = [0x11, 0, 0, 7, 0, 30];
    assert_eq!(seen(0x8864, &[&session, &[0, 0xfd], &udp]), (link(0x8864), Some("PPPoE")));
    // What PPP says to itself carries none.
    assert_eq!(seen(0x8864, &[&session, &[0xc0, 0x21], &[1; 20]]), (link(0x8864), None));
    assert_eq!(seen(0x8863, &[&session, &[0, 0x21], &udp]), (link(0x8863), None));
    for (protocol, name) in [(4, "IP in IP"), (41, "IP in IP"), (47, "GRE"), (137, "MPLS in IP")] {
        assert_eq!(seen(0x0800, &[&v4(protocol, 0, &udp)]).1, Some(name));
        assert_eq!(seen(0x86dd, &[&v6(protocol, &udp)]).1, Some(name));
    }
    let vxlan = [&[0x30, 0, 0x12, 0xb5, 0, 50, 0, 0], &frame[..]].concat();
    assert_eq!(seen(0x0800, &[&v4(17, 0, &vxlan)]).1, Some("VXLAN"));
    assert_eq!(seen(0x0800, &[&udp]).1, None);
}
