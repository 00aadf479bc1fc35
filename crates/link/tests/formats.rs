//! Every format that is read, from captures made byte by byte; and every way in which a capture can
//! be broken.

mod tiny;

use fairq_link::capture::{CaptureError, Frame, LENGTH_MAX, LinkType, Reader, Stamp, Writer};
use fairq_sched::packet::Address;
use tiny::Order::{Big, Little};
use tiny::{PORTS, block, enhanced, ethernet, interface, ipv4, ipv6, obsolete, pcap, pcap_record, section, simple};

/// What is compared of a record: stamp, length, link type, captured bytes.
type Told = (Stamp, u32, u32, usize);

/// All records of a capture, and the error that ends it, if one does.
fn read(file: &[u8]) -> (Vec<Told>, Option<CaptureError>) {
    let mut reader = match Reader::new(file, "tiny") {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut told = Vec::new();
    let mut end = None;
    while let Some(record) = reader.next() {
        assert!(end.is_none(), "there is something after an error");
        match record {
            Ok(record) => told.push((record.stamp, record.length, record.link_type.0, record.data.len())),
            Err(error) => end = Some(error),
        }
    }
    assert!(reader.next().is_none() && reader.packets() == told.len() as u64);
    let end = end.or_else(|| reader.take_cut());
    (told, end)
}

/// All records of a capture that is whole.
fn read_whole(file: &[u8]) -> Vec<Told> {
    let (told, error) = read(file);
    assert!(error.is_none(), "{}", error.unwrap());
    told
}

/// The one line in which a broken capture is told.
fn complaint(file: &[u8]) -> String {
    read(file).1.expect("the capture is broken").to_string()
}

fn udp() -> Vec<u8> {
    ethernet(0x0800, &ipv4(17, 0, &PORTS))
}

fn small_pcap() -> Vec<u8> {
    [pcap(Little, 0xa1b2_c3d4, 1), pcap_record(Little, [1, 2], 60, &udp()), pcap_record(Little, [3, 4], 60, &udp())]
        .concat()
}

#[test]
fn pcap_is_read_in_both_byte_orders_and_both_resolutions() {
    for order in [Little, Big] {
        for (magic, unit_ps) in [(0xa1b2_c3d4, 1_000_000), (0xa1b2_3c4d, 1_000)] {
            let records = [
                pcap_record(order, [1_500_000_000, 999_999], 1514, &udp()),
                pcap_record(order, [1_400_000_000, 0], 42, &udp()),
                pcap_record(order, [u32::MAX, 1], 42, &[]),
            ];
            let file = [pcap(order, magic, 1), records.concat()].concat();
            let expected = [
                (Stamp::from_s_and_ps(1_500_000_000, 999_999 * unit_ps), 1514, 1, 42),
                (Stamp::from_s_and_ps(1_400_000_000, 0), 42, 1, 42),
                (Stamp::from_s_and_ps(u32::MAX.into(), unit_ps), 42, 1, 0),
            ];
            assert_eq!(read_whole(&file), expected, "{order:?} {magic:#x}");
        }
    }
}

#[test]
fn sections_have_their_own_byte_order_and_interfaces() {
    for (one, other) in [(Little, Big), (Big, Little), (Little, Little)] {
        let offset = if one == Big { (-3_i64).to_be_bytes() } else { (-3_i64).to_le_bytes() };
        let file = [
            section(one),
            interface(one, 1, 0, &[(2, b"eth0"), (9, &[9]), (14, &offset)]),
            block(one, 0xbad, &[0; 100]),
            enhanced(one, 0, 5_000_000_001, 1400, &udp()),
            interface(one, 101, 0, &[(9, &[0x80 | 10])]),
            enhanced(one, 1, 1025, 36, &ipv6(58, &[])),
            enhanced(one, 0, 6_000_000_000, 1400, &udp()),
            section(other),
            block(other, 4, &[]),
            interface(other, 276, 0, &[]),
            obsolete(other, 0, 2_000_001, 600, &[0; 21]),
        ];
        let expected = [
            (Stamp::from_s_and_ps(2, 1_000), 1400, 1, 42),
            (Stamp::from_s_and_ps(1, 976_562_500), 40, 101, 40),
            (Stamp::from_s_and_ps(3, 0), 1400, 1, 42),
            (Stamp::from_s_and_ps(2, 1_000_000), 600, 276, 21),
        ];
        assert_eq!(read_whole(&file.concat()), expected, "{one:?} {other:?}");
    }
}

#[test]
fn a_simple_packet_has_the_stamp_of_its_predecessor_and_the_length_that_the_interface_allows() {
    for order in [Little, Big] {
        let file = [
            section(order),
            interface(order, 101, 21, &[]),
            simple(order, 1000, &ipv4(17, 0, &PORTS)[..21]),
            enhanced(order, 0, 7_000_000, 28, &ipv4(17, 0, &PORTS)),
            simple(order, 20, &ipv4(1, 0, &[])),
        ];
        let seven = Stamp::from_s_and_ps(7, 0);
        let expected = [(Stamp(0), 1000, 101, 21), (seven, 28, 101, 28), (seven, 20, 101, 20)];
        assert_eq!(read_whole(&file.concat()), expected);
    }
}

#[test]
fn a_length_that_cannot_be_believed_is_mended_and_counted() {
    let lengths = [0, 1, 42, 1514, LENGTH_MAX, LENGTH_MAX + 1, u32::MAX];
    let records = lengths.map(|original| pcap_record(Little, [1, 1], original, &udp())).concat();
    let nothing = pcap_record(Little, [1, 1], 0, &[]);
    let file = [pcap(Little, 0xa1b2_c3d4, 1), records, nothing].concat();
    let told: Vec<u32> = read_whole(&file).iter().map(|record| record.1).collect();
    assert_eq!(told, [42, 42, 42, 1514, LENGTH_MAX, 42, 42, 1]);
    let mut reader = Reader::new(&file[..], "lengths").unwrap();
    while reader.next().is_some() {}
    assert_eq!((reader.mended(), reader.bytes_read()), (5, file.len() as u64));
}

#[test]
fn a_record_tells_its_conversation() {
    let file = small_pcap();
    let mut reader = Reader::new(&file[..], "tiny").unwrap();
    let header = reader.next().unwrap().unwrap().header;
    assert_eq!((header.source, header.destination), (Address::V4([10, 0, 0, 1]), Address::V4([10, 0, 0, 2])));
    assert_eq!((header.protocol, header.source_port, header.destination_port, header.tos), (17, 1000, 53, 0xb9));
}

#[test]
fn a_cut_capture_gives_what_is_before_the_cut_and_tells_where_it_is() {
    let pcapng = [section(Big), interface(Big, 1, 0, &[]), enhanced(Big, 0, 1, 60, &udp())].concat();
    for (file, records) in [(small_pcap(), vec![82, 140]), (pcapng, vec![132])] {
        for length in 4..file.len() {
            let (told, error) = read(&file[..length]);
            assert_eq!(told.len(), records.iter().filter(|end| **end <= length).count(), "{length}");
            match error {
                Some(CaptureError::Cut { packets, byte, .. }) => {
                    assert_eq!((packets, byte), (told.len() as u64, length as u64));
                }
                // A file cut between two records looks complete.
                other => assert!(other.is_none() && [24, 28, 48, 82].contains(&length), "{length}: {other:?}"),
            }
        }
    }
    assert_eq!(
        complaint(&small_pcap()[..100]),
        "tiny: cut in the middle of a record after 1 packets, at byte 100; copy it again, or keep the whole records with editcap"
    );
}

#[test]
fn what_is_no_capture_is_named() {
    assert_eq!(complaint(b""), "tiny: the file is empty");
    assert_eq!(complaint(b"\xa1\xb2"), "tiny: not a pcap or pcapng file");
    assert_eq!(complaint(b"frames of a film"), "tiny: not a pcap or pcapng file");
    assert_eq!(complaint(b"\x1f\x8b\x08\0"), "tiny: not a pcap or pcapng file, but gzip; decompress it first");
    // The type of a section header without the byte order that must follow.
    assert_eq!(complaint(b"\x0a\x0d\x0d\x0a text with odd ends of line"), "tiny: not a pcap or pcapng file");
}

#[test]
fn a_link_type_that_is_not_supported_is_named() {
    let supported = "supported are 0, 1, 12, 14, 101, 108, 113, 228, 229, 276";
    let expected = format!("tiny: link type 105 is not supported; {supported}");
    assert_eq!(complaint(&pcap(Little, 0xa1b2_c3d4, 105)), expected);
    // An interface without packets does no harm.
    let mut file = [section(Little), interface(Little, 105, 0, &[]), interface(Little, 1, 0, &[])].concat();
    file.extend(enhanced(Little, 1, 0, 60, &udp()));
    assert_eq!(read_whole(&file).len(), 1);
    file.extend(enhanced(Little, 0, 0, 60, &udp()));
    assert_eq!(complaint(&file), expected);
}

#[test]
fn a_length_that_is_impossible_is_told_with_its_place() {
    let mut file = small_pcap();
    file[90..94].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    let expected = "tiny: the record at byte 82 claims a length of 2147483647, more than any packet has";
    assert_eq!(complaint(&file), expected);

    let start = [section(Little), interface(Little, 1, 0, &[])].concat();
    let with = |block: &[u8]| complaint(&[&start, block].concat());
    assert!(with(&[5, 0, 0, 0, 11, 0, 0, 0, 11, 0, 0, 0]).contains("at byte 48 claims a length of 11, less than"));
    assert!(with(&[6, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0]).contains("more than any packet has"));
    let mut ends_differ = block(Little, 5, &[0; 8]);
    ends_differ[16] = 24;
    assert!(with(&ends_differ).contains("at byte 48 claims a length of 20, but its end says otherwise"));
    let mut captured = enhanced(Little, 0, 0, 60, &udp());
    captured[20] = 200;
    assert_eq!(with(&captured), "tiny: in the block at byte 48, the packet does not fit its block");
    assert!(with(&enhanced(Little, 1, 0, 60, &udp())).contains("an interface that was not described"));
    // A block of no interest may be of any length that is there, and one that is not there is a
    // cut.
    assert!(with(&[0xad, 0x0b, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]).contains("after 0 packets, at byte 60"));
}

#[test]
fn a_failing_source_is_told_with_its_cause() {
    struct Failing;
    impl std::io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let error = Reader::new(Failing, "tiny").err().expect("the source fails");
    assert_eq!(error.to_string(), "tiny: cannot read on at byte 0: the disk is gone");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn what_is_written_reads_back_the_same() {
    let data: Vec<u8> = (0..=255).collect();
    let frames: Vec<Frame<'_>> = (0..20)
        .map(|i| Frame {
            stamp: Stamp::from_ns(1_500_000_000_123_456_789 - i64::from(i % 3)),
            length: 1000 + i,
            link_type: [LinkType::ETHERNET, LinkType::RAW, LinkType::LINUX_SLL2][i as usize % 3],
            data: &data[..i as usize],
        })
        .collect();
    let mut writer = Writer::new(Vec::new()).unwrap();
    frames.iter().for_each(|frame| writer.write(frame).unwrap());
    let file = writer.finish().unwrap();
    let mut reader = Reader::new(&file[..], "written").unwrap();
    for frame in &frames {
        assert_eq!(reader.next().unwrap().unwrap().frame(), *frame);
    }
    assert!(reader.next().is_none());
}

#[test]
fn what_the_format_cannot_hold_is_refused() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    let frame = Frame { stamp: Stamp(-1), length: 60, link_type: LinkType::ETHERNET, data: &[] };
    assert!(writer.write(&frame).unwrap_err().to_string().contains("stamp of -1 ps"));
    let frame = Frame { stamp: Stamp(0), link_type: LinkType(1 << 16), ..frame };
    assert!(writer.write(&frame).unwrap_err().to_string().contains("link type 65536"));
}
