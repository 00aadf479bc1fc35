//! A replay of both directions of a user's line, and of a part of a capture: by the filter's own
//! meaning, packet by packet, on generated streams and on real captures.

use fairq_link::capture::{Frame, LinkType, Reader, Stamp, Writer};
use fairq_replay::{
    Direction, DisciplineReport, Filter, Gateways, Me, Options, Outcome, PacketFate, Replay, Report, Sink, Stream,
    replay_capture,
};
use fairq_sched::hash::splitmix;
use fairq_sched::units::Time;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A packet of a capture: nanoseconds, and its bytes from the network layer on.
type Stamped = (i64, Vec<u8>);

fn udp(source: [u8; 4], destination: [u8; 4], ports: [u16; 2], length: usize) -> Vec<u8> {
    let [high, low] = (length as u16).to_be_bytes();
    let header = [0x45, 0, high, low, 0, 7, 0, 0, 64, 17, 0, 0];
    let ports = ports.map(u16::to_be_bytes).concat();
    let mut packet = [&header[..], &source, &destination, &ports].concat();
    packet.resize(length, 0);
    packet
}

fn udp6(source: u8, destination: u8, length: usize) -> Vec<u8> {
    let [high, low] = (length as u16 - 40).to_be_bytes();
    let end = |last| [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    let mut packet = [&[0x60, 0, 0, 0, high, low, 17, 64][..], &end(source), &end(destination)].concat();
    packet.resize(length, 0);
    packet
}

fn capture(packets: &[Stamped]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).expect("memory");
    for (at, data) in packets {
        let (stamp, length) = (Stamp::from_ns(*at), data.len() as u32);
        writer.write(&Frame { stamp, length, link_type: LinkType::RAW, data }).expect("memory");
    }
    writer.finish().expect("memory")
}

const ME: [u8; 4] = [192, 168, 1, 7];
const SERVER: [u8; 4] = [203, 0, 113, 5];

/// The outcome of each packet: where it went, its number, when it arrived, what became of it.
type Log = Arc<Mutex<Vec<(String, u64, Time, Outcome)>>>;

/// By lane: the number of each packet, when it arrived, what became of it.
type Outcomes = BTreeMap<String, Vec<(u64, Time, Outcome)>>;

struct Told(String, Log);

impl Sink for Told {
    fn fate(&mut self, fate: &PacketFate<'_>) -> std::io::Result<()> {
        self.1.lock().expect("no test panics with it").push((self.0.clone(), fate.packet, fate.arrival, fate.outcome));
        Ok(())
    }
}

/// Replays `file` as `options` say (JSON without the outer braces and without what is the same for
/// all). Returns the outcomes by lane, in the order of the packets, and the report.
fn replay(file: &[u8], options: &str) -> Result<(Outcomes, Report), String> {
    let options = Options::read(&format!("{{{options}}}")).map_err(|fault| fault.message)?;
    let log = Log::default();
    let replays = options.settings().map_err(|fault| fault.message)?.into_iter().map(|mut settings| {
        for lane in &mut settings.lanes {
            let name = format!("{} {}", lane.name, settings.direction.map_or("", Direction::name));
            lane.sink = Some(Box::new(Told(name, Arc::clone(&log))));
        }
        Replay::new(settings).expect("lanes")
    });
    let gateways = Gateways::new(options.me().map_err(|fault| fault.message)?, replays.collect());
    let only = options.filter().map_err(|fault| fault.message)?;
    let mut reader = Reader::new(file, "made.pcapng").expect("a capture");
    let stream = Stream { name: "made.pcapng", gap_max: options.gap_max, only: only.as_ref() };
    let report = replay_capture(&mut reader, &stream, gateways, &mut |_| true).map_err(|error| error.to_string())?;
    let mut outcomes = Outcomes::new();
    for (lane, packet, arrival, outcome) in log.lock().expect("no test panics with it").drain(..) {
        outcomes.entry(lane).or_default().push((packet, arrival, outcome));
    }
    outcomes.values_mut().for_each(|fates| fates.sort_by_key(|(packet, ..)| *packet));
    Ok((outcomes, report))
}

const LINES: &str = r#""me": "192.168.1.7", "down": "8Mbit/s", "up": "800kbit/s", "buffer": "20packets""#;

/// A thousand packets at random times to me, from me, of IPv6, and between others.
fn drawn(seed: u64) -> Vec<Stamped> {
    let mut now = 0;
    (0..1000u64)
        .map(|n| {
            let draw = splitmix(seed << 32 | n);
            now += (draw % 2_000_000) as i64;
            let (port, length) = (5000 + (draw >> 32) as u16 % 4, 60 + (draw >> 40) as usize % 1400);
            let packet = match (draw >> 60) % 8 {
                0..=3 => udp(SERVER, ME, [443, port], length),
                4 | 5 => udp(ME, SERVER, [port, 443], length),
                6 => udp6((draw >> 50) as u8 % 3, 7, length),
                _ => udp(SERVER, [192, 168, 1, 8], [443, port], length),
            };
            (now, packet)
        })
        .collect()
}

/// Of each lane: arrived = sent + dropped, in packets, in the bins of time, and by flow.
fn assert_conserved(report: &Report) {
    let selected = report.capture.selected.as_ref().expect("of a capture");
    let replayed = report.capture.packets;
    assert_eq!(selected.packets_read, replayed + selected.packets_filtered + selected.packets_elsewhere);
    if !report.directions.is_empty() {
        assert_eq!(report.directions.iter().map(|way| way.packets).sum::<u64>(), replayed);
        assert_eq!(report.directions.iter().map(|way| way.bytes).sum::<u64>(), report.capture.bytes);
    }
    for lane in &report.disciplines {
        let name = format!("{} {:?}", lane.name, lane.direction);
        let way = report.directions.iter().find(|way| Some(way.direction) == lane.direction);
        let arrived = way.map_or((replayed, report.capture.bytes), |way| (way.packets, way.bytes));
        assert_eq!((lane.packets, lane.bytes), arrived, "{name}");
        assert_eq!(lane.sent + lane.dropped, lane.packets, "{name}");
        let bins =
            || report.series.iter().filter(|bin| (&bin.discipline, bin.direction) == (&lane.name, lane.direction));
        let all = || bins().filter(|bin| bin.flow.is_none());
        let sum = |of: fn(&fairq_replay::Bin) -> u64| all().map(of).sum::<u64>();
        assert_eq!((sum(|bin| bin.sent), sum(|bin| bin.dropped)), (lane.sent, lane.dropped), "{name}");
        assert!(all().all(|bin| bin.delay_s_max <= lane.delay.max_s), "{name}");
        for flow in &lane.flows {
            let mine: Vec<_> = bins().filter(|bin| bin.flow.as_ref() == Some(&flow.flow)).collect();
            if mine.is_empty() {
                assert!(lane.flows.len() > 12, "{name}: {}", flow.flow);
                continue;
            }
            let sent: u64 = mine.iter().map(|bin| bin.sent).sum();
            let dropped: u64 = mine.iter().map(|bin| bin.dropped).sum();
            assert_eq!((sent + dropped, dropped), (flow.packets, flow.dropped), "{name}: {}", flow.flow);
        }
    }
}

#[test]
fn each_direction_has_a_line_of_its_own() {
    // Ten packets of 1000 bytes each way at once: 1 ms each down, 10 ms each up.
    let packets: Vec<Stamped> = (0..20)
        .map(|n| (0, if n % 2 == 0 { udp(SERVER, ME, [1, 2], 1000) } else { udp(ME, SERVER, [2, 1], 1000) }))
        .collect();
    let (outcomes, report) =
        replay(&capture(&packets), &format!(r#"{LINES}, "disciplines": ["fifo"]"#)).expect("a replay");
    for (lane, step, first) in [("fifo down", 1, 0), ("fifo up", 10, 1)] {
        let expected: Vec<_> =
            (0..10).map(|n| (2 * n + first, Time::ZERO, Outcome::Sent(Time::from_ms((n + 1) * step)))).collect();
        assert_eq!(outcomes[lane], expected, "{lane}");
    }
    let lanes: Vec<_> = report.disciplines.iter().map(|lane| (lane.direction, lane.delay.max_s)).collect();
    assert_eq!(lanes, [(Some(Direction::Down), Some(0.01)), (Some(Direction::Up), Some(0.1))]);
    let rates: Vec<_> = report.directions.iter().map(|way| (way.direction, way.rate_bit_per_s, way.packets)).collect();
    assert_eq!(rates, [(Direction::Down, 8_000_000, 10), (Direction::Up, 800_000, 10)]);
    assert_eq!((report.capture.rate_bit_per_s, report.capture.flows, report.capture.packets), (None, Some(2), 20));
    assert_conserved(&report);
}

#[test]
fn a_direction_is_as_a_capture_that_holds_only_its_packets() {
    for seed in 0..20 {
        let packets = drawn(seed);
        let both = format!(r#"{LINES}, "disciplines": ["fifo", "fq", "fq_codel"], "seed": {seed}"#);
        let (outcomes, report) = replay(&capture(&packets), &both).expect("a replay");
        assert_conserved(&report);
        let zero = packets.iter().find(|(_, packet)| is_mine(packet)).expect("some are").0;
        for (direction, rate) in [(Direction::Down, "8Mbit/s"), (Direction::Up, "800kbit/s")] {
            let is_of = |packet: &[u8]| is_mine(packet) && (packet[12..16] == ME) == (direction == Direction::Up);
            let (numbers, mine): (Vec<u64>, Vec<Stamped>) = (0..)
                .zip(&packets)
                .filter(|(_, (_, packet))| is_of(packet))
                .map(|(n, packet)| (n, packet.clone()))
                .unzip();
            // A lone capture begins with its own first packet.
            let shift = Time((mine[0].0 - zero) as u64 * 1000);
            let one = both.replace(
                r#""me": "192.168.1.7", "down": "8Mbit/s", "up": "800kbit/s""#,
                &format!(r#""rate": "{rate}""#),
            );
            let (alone, told) = replay(&capture(&mine), &one).expect("a replay");
            for (lane, fates) in alone {
                let shifted = |outcome| match outcome {
                    Outcome::Sent(time) => Outcome::Sent(time + shift),
                    dropped => dropped,
                };
                let expected: Vec<_> = fates
                    .into_iter()
                    .map(|(packet, arrival, outcome)| (numbers[packet as usize], arrival + shift, shifted(outcome)))
                    .collect();
                assert_eq!(outcomes[&format!("{lane}{}", direction.name())], expected, "{seed}: {lane}");
            }
            let lanes = report.disciplines.iter().filter(|lane| lane.direction == Some(direction));
            for (lane, alone) in lanes.zip(&told.disciplines) {
                let seen =
                    |lane: &DisciplineReport| (lane.name.clone(), lane.packets, lane.sent, lane.dropped, lane.delay);
                assert_eq!(seen(lane), seen(alone));
            }
        }
        let strangers = packets.iter().filter(|(_, packet)| !is_mine(packet)).count() as u64;
        assert_eq!(report.capture.selected.as_ref().map(|part| part.packets_elsewhere), Some(strangers));
        let note = report.capture.note.expect("some are left out");
        assert!(
            note.starts_with(&format!("{strangers} of 1000 packets do not go between 192.168.1.7 and another address")),
            "{note}"
        );
        assert!(note.contains("udp between 192.168.1.8 and 203.0.113.5 ("), "{note}");
    }
}

/// Whether it is of IPv4 and from or to me.
fn is_mine(packet: &[u8]) -> bool {
    packet[0] >> 4 == 4 && (packet[12..16] == ME) != (packet[16..20] == ME)
}

#[test]
fn a_filter_makes_the_capture_that_would_hold_only_what_it_keeps() {
    for (filter, keeps) in [
        (
            "port 5001 or 5002",
            (|packet| packet[0] >> 4 == 4 && [packet[21], packet[23]].iter().any(|port| [0x89, 0x8a].contains(port)))
                as fn(&[u8]) -> bool,
        ),
        ("ip6", |packet| packet[0] >> 4 == 6),
        ("not ip6 and dst host 192.168.1.8", |packet| packet[0] >> 4 == 4 && packet[19] == 8),
    ] {
        let packets = drawn(7);
        let kept: Vec<Stamped> = packets.iter().filter(|(_, packet)| keeps(packet)).cloned().collect();
        let options = r#""rate": "1Mbit/s", "buffer": "9packets", "gap_max": "1 ms", "disciplines": ["fifo", "fq"]"#;
        let (_, filtered) = replay(&capture(&packets), &format!(r#"{options}, "only": "{filter}""#)).expect("a replay");
        let (_, alone) = replay(&capture(&kept), options).expect("a replay");
        assert_eq!((&filtered.disciplines, &filtered.series), (&alone.disciplines, &alone.series), "{filter}");
        assert_eq!(filtered.capture.stamps, alone.capture.stamps, "{filter}");
        assert!(filtered.capture.stamps.is_some_and(|stamps| stamps.gaps_cut > 0), "{filter}");
        let part = filtered.capture.selected.expect("of a capture");
        assert_eq!((part.packets_read, part.packets_filtered), (1000, 1000 - kept.len() as u64), "{filter}");
    }
}

#[test]
fn a_filter_goes_before_the_directions() {
    let file = capture(&drawn(3));
    let (_, all) = replay(&file, &format!(r#"{LINES}, "disciplines": ["fq"]"#)).expect("a replay");
    let (_, up) = replay(&file, &format!(r#"{LINES}, "disciplines": ["fq"], "only": "up""#)).expect("a replay");
    assert_conserved(&up);
    assert_eq!(up.directions.iter().map(|way| way.packets).collect::<Vec<_>>(), [0, all.directions[1].packets]);
    assert!(up.capture.note.is_some_and(|note| note == "no packet goes down"));
    assert_eq!(up.disciplines[1].delay, all.disciplines[1].delay);
}

#[test]
fn the_bins_of_both_directions_have_one_width() {
    // Down for an hour, up for the first second.
    let mut packets: Vec<Stamped> = (0..3600).map(|s| (s * 1_000_000_000, udp(SERVER, ME, [1, 2], 100))).collect();
    packets.extend((0..10).map(|n| (n * 100_000_000, udp(ME, SERVER, [2, 1], 100))));
    packets.sort();
    let (_, report) = replay(&capture(&packets), &format!(r#"{LINES}, "disciplines": ["fifo"]"#)).expect("a replay");
    let widths: Vec<f64> = report.series.iter().map(|bin| bin.bin_s).collect();
    assert!(widths.iter().all(|width| *width == widths[0]) && widths[0] > 28.0, "{}", widths[0]);
    let of =
        |direction| report.series.iter().filter(|bin| bin.direction == Some(direction) && bin.flow.is_none()).count();
    assert_eq!((of(Direction::Down) > 64, of(Direction::Up)), (true, 1));
    assert_conserved(&report);
}

#[test]
fn tags_ipv6_icmp_and_heads_of_packets_go_their_way() {
    // Ethernet with a VLAN tag, and of each packet 62 bytes: of IPv6 not even the whole UDP header.
    let mut writer = Writer::new(Vec::new()).expect("memory");
    let icmp = |source: [u8; 4], destination| {
        let mut packet = udp(source, destination, [0x0800, 0], 84);
        packet[9] = 1;
        packet
    };
    let packets = [
        udp6(5, 7, 1000),
        udp6(7, 5, 1000),
        icmp(ME, SERVER),
        icmp(SERVER, ME),
        udp(SERVER, ME, [53, 5000], 500),
        udp6(5, 6, 1000),
    ];
    for (at, packet) in (0..).zip(&packets) {
        let ether_type = if packet[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] };
        let frame = [&[2; 12][..], &[0x81, 0, 0, 7], &ether_type, packet].concat();
        let (stamp, length, data) = (Stamp::from_ns(at), frame.len() as u32, &frame[..62]);
        writer.write(&Frame { stamp, length, link_type: LinkType::ETHERNET, data }).expect("memory");
    }
    let file = writer.finish().expect("memory");
    let line = r#""down": "8Mbit/s", "up": "800kbit/s", "buffer": "20packets", "disciplines": ["fifo"]"#;
    let counts = |me: &str, only: &str| {
        let options = format!(r#""me": "{me}", {line}{only}"#);
        let (_, report) = replay(&file, &options).unwrap_or_else(|error| panic!("{me}: {only}: {error}"));
        assert_conserved(&report);
        let part = report.capture.selected.expect("of a capture");
        (report.directions[0].packets, report.directions[1].packets, part.packets_elsewhere)
    };
    assert_eq!(counts("192.168.1.7", ""), (2, 1, 3));
    assert_eq!(counts("2001:db8::7", ""), (1, 1, 4));
    assert_eq!(counts("192.168.1.7,2001:db8::7", ""), (3, 2, 1));
    assert_eq!(counts("192.168.1.0/24, 2001:db8::6/127", ""), (4, 2, 0));
    let both = "192.168.1.7,2001:db8::7";
    assert_eq!(counts(both, r#", "only": "icmp""#), (1, 1, 0));
    assert_eq!(counts(both, r#", "only": "ip6 and udp""#), (1, 1, 1));
    assert_eq!(counts(both, r#", "only": "src port 53""#), (1, 0, 0));
    // The bytes on the line are those of the whole frame.
    let (_, report) = replay(&file, &format!(r#""me": "2001:db8::7", {line}"#)).expect("a replay");
    assert_eq!(report.directions.iter().map(|way| way.bytes).collect::<Vec<_>>(), [1018, 1018]);
}

#[test]
fn what_makes_no_sense_is_said_in_one_line_with_what_would() {
    let file = capture(&drawn(1));
    let both = |me: &str, rest: &str| {
        let options = format!(
            r#""me": "{me}", "down": "8Mbit/s", "up": "1Mbit/s", "buffer": "9packets", "disciplines": ["fifo"]{rest}"#
        );
        replay(&file, &options).map(drop).expect_err("a refusal")
    };
    let one = |rest: &str| {
        let options = format!(r#""rate": "1Mbit/s", "buffer": "9packets", "disciplines": ["fifo"]{rest}"#);
        replay(&file, &options).map(drop).expect_err("a refusal")
    };
    for (error, said) in [
        (
            both("192.168.1.77", ""),
            "no packet goes between 192.168.1.77 and another address; most are of 203.0.113.5 (",
        ),
        (both("192.168.1.77", ""), "packets), 192.168.1.7 ("),
        (both("0.0.0.0/0", ""), "no packet goes between 0.0.0.0/0 and another address"),
        (both("192.168.1.7", r#", "only": "port 99""#), "`port 99` keeps none of the"),
        (both("192.168.1.7", r#", "only": "port 99""#), "packets to or from 192.168.1.7; most are udp between"),
        (
            one(r#", "only": "tcp""#),
            "`tcp` keeps none of the 1000 packets; most are udp between 192.168.1.7 and 203.0.113.5 (",
        ),
    ] {
        assert!(error.contains(said), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let frames = (0..3).map(|n| (n, vec![0; 20])).collect::<Vec<_>>();
    let error =
        replay(&capture(&frames), &format!(r#"{LINES}, "disciplines": ["fifo"]"#)).map(drop).expect_err("no IP");
    assert!(error.contains("none is of IP"), "{error}");
}

#[test]
fn real_captures_are_split_and_nothing_is_lost() {
    for path in fairq_testkit::real::files("captures", "no real capture was split") {
        let file = std::fs::read(&path).expect("the capture is there");
        let name = path.display();
        // The address with most packets, as the refusal names it.
        let options = |me: &str, only: &str| {
            format!(
                r#""me": "{me}", "down": "2Mbit/s", "up": "500kbit/s", "buffer": "40packets", "disciplines": ["fifo", "fq_codel"]{only}"#
            )
        };
        let refusal = replay(&file, &options("192.0.2.1", "")).map(drop).expect_err("nobody's address");
        let me = refusal.split("most are of ").nth(1).and_then(|rest| rest.split(' ').next()).expect("an address");
        let (outcomes, report) = replay(&file, &options(me, "")).unwrap_or_else(|error| panic!("{error}"));
        assert_conserved(&report);
        let again = replay(&file, &options(me, "")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&again.0, &again.1), (&outcomes, &report), "{name}: twice the same");
        // Each packet by the filter's own word, and all else by its opposite.
        let host = me.parse::<std::net::IpAddr>().expect("an address");
        let (_, mine) = replay(&file, &options(me, &format!(r#", "only": "host {host}""#)))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(mine.disciplines, report.disciplines, "{name}");
        let filter = Filter::read(&format!("src host {host} and not dst host {host}")).expect("a filter");
        let mut reader = Reader::new(&file[..], "it").expect("a capture");
        let (mut up, mut all, me) = (0, 0, Me::read(me).expect("an address"));
        while let Some(record) = reader.next() {
            let header = record.expect("a record").header;
            assert_eq!(filter.keeps(&header, None), me.direction(&header) == Some(Direction::Up), "{name}");
            (up, all) = (up + u64::from(filter.keeps(&header, None)), all + 1);
        }
        assert_eq!(
            (report.directions[1].packets, report.capture.selected.map(|part| part.packets_read)),
            (up, Some(all)),
            "{name}"
        );
        assert!(report.directions[0].packets > 0 && up > 0, "{name}: {:?}", report.directions);
    }
}
