//! The inputs of a discipline in a replay: flows by its own classifier, the numbers of
//! acknowledgements, the link's bytes of a length; and the needs for which it is refused, because
//! no capture provides them.

use fairq_link::capture::{Frame, LinkType, Reader, Stamp, Writer};
use fairq_replay::{DisciplineReport, Options, PacketFate, Replay, Report, Settings, Sink, Stream, replay_capture};
use fairq_sched::facts::Need;
use fairq_sched::hash::splitmix;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings, SCHEDULERS, SchedulerSettings,
};
use fairq_sched::units::{Limit, Time};
use std::sync::{Arc, Mutex};

/// A packet of a capture: nanoseconds, and an IP packet.
type Stamped = (i64, Vec<u8>);

fn v4(source: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let header = [0x45, 0, high, low, 0, 7, 0, 0, 64, protocol, 0, 0, 10, 0, 0, source, 10, 0, 1, 1];
    [&header[..], payload].concat()
}

fn v6(source: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (payload.len() as u16).to_be_bytes();
    [&[0x60, 0, 0, 0, high, low, protocol, 64][..], &[source; 16], &[9; 16], payload].concat()
}

/// A UDP datagram of host `source` whose IP packet has `length` bytes.
fn udp(source: u8, port: u16, length: usize) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    v4(source, 17, &[&[high, low, 0, 53, 0, 0, 0, 0][..], &vec![0; length - 28]].concat())
}

fn tcp(number: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, d] = number.to_be_bytes();
    let header = [0x03, 0xe8, 0, 53, 0, 0, 0, 1, a, b, c, d, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0];
    [&header[..], payload].concat()
}

/// `packets` as frames of a link that puts `prefix` before each.
fn capture(link_type: LinkType, packets: &[Stamped], prefix: &dyn Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).expect("memory");
    for (at, packet) in packets {
        let data = [prefix(packet), packet.clone()].concat();
        let frame = Frame { stamp: Stamp::from_ns(*at), length: data.len() as u32, link_type, data: &data };
        writer.write(&frame).expect("memory");
    }
    writer.finish().expect("memory")
}

fn raw(packets: &[Stamped]) -> Vec<u8> {
    capture(LinkType::RAW, packets, &|_| Vec::new())
}

/// The two bytes of an EtherType.
fn ether_type(packet: &[u8]) -> [u8; 2] {
    if packet[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] }
}

fn ethernet(packet: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &ether_type(packet)].concat()
}

const ALL_OF_IT: Stream<'_> = Stream { name: "made.pcapng", gap_max: Time::from_s(10), only: None };

/// The settings of one line by `options` (JSON without the outer braces).
fn settings(options: &str) -> Settings {
    Options::read(&format!("{{{options}}}")).expect("options").settings().expect("settings").remove(0)
}

/// Reads `options` (JSON without the outer braces) and replays `file`.
fn replay(file: &[u8], options: &str) -> Result<Report, String> {
    let options = Options::read(&format!("{{{options}}}")).map_err(|fault| fault.message)?;
    let settings = options.settings().map_err(|fault| fault.message)?.remove(0);
    let mut reader = Reader::new(file, "made.pcapng").expect("a capture");
    let replay = Replay::new(settings).map_err(|error| error.to_string())?;
    replay_capture(&mut reader, &ALL_OF_IT, replay, &mut |_| true).map_err(|error| error.to_string())
}

fn replayed(file: &[u8], options: &str) -> Report {
    replay(file, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The throughput of the flows whose name begins with `start`, in Mbit/s.
fn rate_of(discipline: &DisciplineReport, start: &str) -> f64 {
    let flows = discipline.flows.iter().filter(|flow| flow.flow.starts_with(start));
    flows.map(|flow| flow.throughput_bit_per_s).sum::<f64>() / 1e6
}

/// Three flows of host 1 and one of host 2, each of 10 Mbit/s for four seconds.
fn three_and_one() -> Vec<u8> {
    let flows = [(1, 1001), (1, 1002), (1, 1003), (2, 1001)];
    let packets = (0..5000).flat_map(|n| {
        (0..).zip(flows).map(move |(at, (host, port))| (n * 800_000 + at * 137_000, udp(host, port, 1000)))
    });
    raw(&packets.collect::<Vec<_>>())
}

const LINE: &str = r#""rate": "10Mbit/s", "buffer": "200packets", "fluid": false"#;

#[test]
fn a_design_tells_flows_apart_by_its_own_classifier_unless_one_is_given() {
    let file = three_and_one();
    // A full fq_pie refuses every arriving packet, so that a flood shares by its phases.
    let long = LINE.replace("200packets", "20000packets");
    for (design, line) in [("cake(isolation=flows)", LINE), ("fq_codel", LINE), ("fq_pie", &long)] {
        let report = replayed(&file, &format!(r#"{line}, "disciplines": ["{design}"]"#));
        let [found] = &report.disciplines[..] else { panic!("one lane") };
        let shares = [rate_of(found, "10.0.0.1:"), rate_of(found, "10.0.0.2:")];
        assert!((shares[0] - 7.5).abs() < 0.2 && (shares[1] - 2.5).abs() < 0.1, "{design}: {shares:?}");
        assert_eq!((found.classifier, found.rows_by, found.flows.len()), (Some("port_pair"), "port_pair", 4));
        assert!(found.jain_index > Some(0.99), "{design}: by its own flows it is fair: {:?}", found.jain_index);
        assert_eq!((report.capture.classifier.as_deref(), report.capture.flows), (Some("port_pair"), Some(4)));

        let report = replayed(&file, &format!(r#"{line}, "disciplines": ["{design}"], "classifier": "pair""#));
        let [found] = &report.disciplines[..] else { panic!("one lane") };
        let shares = [rate_of(found, "10.0.0.1 "), rate_of(found, "10.0.0.2 ")];
        assert!(shares.iter().all(|share| (share - 5.0).abs() < 0.3), "{design}: {shares:?}");
        assert_eq!((found.classifier, found.rows_by, found.flows.len()), (Some("pair"), "pair", 2));
    }
}

#[test]
fn rows_are_the_flows_of_each_discipline_and_one_without_flows_has_those_of_the_first_that_has() {
    let file = three_and_one();
    let told = |options: &str| {
        let report = replayed(&file, &format!("{LINE}, {options}"));
        let of = |found: &DisciplineReport| (found.classifier, found.rows_by, found.flows.len());
        (report.disciplines.iter().map(of).collect::<Vec<_>>(), report.capture.classifier, report.capture.flows)
    };
    let (pair, ports, source) = (Some("pair"), Some("port_pair"), Some("source"));
    assert_eq!(
        told(r#""disciplines": ["fifo", "fq"]"#),
        (vec![(None, "pair", 2), (pair, "pair", 2)], Some("pair".into()), Some(2))
    );
    assert_eq!(told(r#""disciplines": ["fifo", "fifo + codel"]"#).0, [(None, "pair", 2); 2]);
    assert_eq!(told(r#""disciplines": ["fifo", "cake"]"#).0, [(None, "port_pair", 4), (ports, "port_pair", 4)]);
    assert_eq!(
        told(r#""disciplines": ["fifo", "cake(isolation=source)"]"#).0,
        [(None, "source", 2), (source, "source", 2)]
    );
    // Two classifiers that differ: no number of flows is valid for all.
    assert_eq!(
        told(r#""disciplines": ["fifo", "fq", "fq + source", "cake"]"#),
        (vec![(None, "pair", 2), (pair, "pair", 2), (source, "source", 2), (ports, "port_pair", 4)], None, None)
    );
    // A given classifier is used for all rows; a discipline that names its own keeps it, and so
    // does one without flows.
    assert_eq!(
        told(r#""disciplines": ["fifo", "cake(isolation=source)"], "classifier": "pair""#).0,
        [(None, "pair", 2), (source, "pair", 2)]
    );
    assert_eq!(
        told(r#""disciplines": ["fifo", "fq + source", "cake"], "classifier": "port_pair""#),
        (
            vec![(None, "port_pair", 4), (source, "port_pair", 4), (ports, "port_pair", 4)],
            Some("port_pair".into()),
            Some(4)
        )
    );
}

#[test]
fn the_fluid_has_the_flows_of_its_discipline() {
    // Every flow waits for the others of its host under fq by pairs, for all others by five-tuples.
    let file = three_and_one();
    for name in ["fq", "fq + port_pair"] {
        let options = format!(r#""rate": "50Mbit/s", "buffer": "unlimited", "disciplines": ["{name}"]"#);
        let report = replayed(&file, &options);
        assert_eq!((report.disciplines[0].later_than_bound, report.disciplines[0].dropped), (Some(0), 0), "{name}");
    }
}

/// 500 acknowledgements, one each 0.1 ms, into a line that takes more than 4 ms for each.
fn acknowledgements(of: &dyn Fn(&[u8]) -> Vec<u8>, segment: &dyn Fn(u32) -> Vec<u8>) -> Vec<Stamped> {
    (0..500).map(|n| (i64::from(n) * 100_000, of(&segment(1000 + n * 2896)))).collect()
}

#[test]
fn a_filter_of_acknowledgements_takes_out_those_that_a_later_one_makes_unnecessary() {
    let filtered = |packets: &[Stamped], filter: &str| {
        let options = format!(
            r#""rate": "100kbit/s", "buffer": "1000packets", "disciplines": ["cake(ack_filter={filter}, interval=100s)"]"#
        );
        let redundant = Arc::new(Mutex::new(0));
        struct Count(Arc<Mutex<u32>>);
        impl Sink for Count {
            fn fate(&mut self, fate: &PacketFate<'_>) -> std::io::Result<()> {
                let is_redundant =
                    matches!(fate.outcome, fairq_replay::Outcome::Dropped(reason) if reason.name() == "redundant");
                *self.0.lock().expect("no test panics with it") += u32::from(is_redundant);
                Ok(())
            }
        }
        let mut settings = settings(&options);
        settings.lanes[0].sink = Some(Box::new(Count(Arc::clone(&redundant))));
        let file = capture(LinkType::ETHERNET, packets, &ethernet);
        let mut reader = Reader::new(&file[..], "acks.pcapng").expect("a capture");
        let replay = Replay::new(settings).expect("a lane");
        replay_capture(&mut reader, &ALL_OF_IT, replay, &mut |_| true).expect("a replay");
        *redundant.lock().expect("no test panics with it")
    };
    let pure = |number| tcp(number, 0x10, &[]);
    let (four, six) = (|segment: &[u8]| v4(1, 6, segment), |segment: &[u8]| v6(1, 6, segment));
    for (name, packets) in [("IPv4", acknowledgements(&four, &pure)), ("IPv6", acknowledgements(&six, &pure))] {
        for filter in ["conservative", "aggressive"] {
            assert!(filtered(&packets, filter) > 400, "{name}: {filter}: {}", filtered(&packets, filter));
        }
        assert_eq!(filtered(&packets, "none"), 0, "{name}");
    }
    // Packets with data, or with SYN, FIN or RST, are kept.
    for flags in [0x12, 0x11, 0x14, 0x18, 0x50] {
        assert_eq!(
            filtered(&acknowledgements(&four, &|number| tcp(number, flags, &[])), "aggressive"),
            0,
            "{flags:#x}"
        );
    }
    assert_eq!(filtered(&acknowledgements(&four, &|number| tcp(number, 0x10, &[7; 100])), "aggressive"), 0, "data");
}

#[test]
fn an_overhead_counts_from_the_network_layer_whatever_link_was_captured() {
    // Of 1484 B of IP and 44 B of overhead ATM makes 32 cells, 1696 B: at 1 Mbit/s 13.568 ms.
    let packets = |of: &dyn Fn(usize) -> Vec<u8>| (0..3).map(|n| (n, of(1484))).collect::<Vec<_>>();
    let (four, six) = (packets(&|length| udp(1, 1, length)), packets(&|length| v6(1, 17, &vec![0; length - 40])));
    type Prefix<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;
    let tagged = |packet: &[u8]| [&[2; 12][..], &[0x81, 0, 0, 7], &ether_type(packet)].concat();
    let cooked = |packet: &[u8]| [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0][..], &ether_type(packet)].concat();
    let cooked2 =
        |packet: &[u8]| [&ether_type(packet)[..], &[0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]].concat();
    let family = |packet: &[u8]| vec![if packet[0] >> 4 == 4 { 2 } else { 30 }, 0, 0, 0];
    let links: [(&str, LinkType, Prefix<'_>, u64); 6] = [
        ("raw IP", LinkType::RAW, &|_| Vec::new(), 0),
        ("Ethernet", LinkType::ETHERNET, &ethernet, 14),
        ("VLAN", LinkType::ETHERNET, &tagged, 18),
        ("cooked", LinkType::LINUX_SLL, &cooked, 16),
        ("cooked 2", LinkType::LINUX_SLL2, &cooked2, 20),
        ("loopback", LinkType::NULL, &family, 4),
    ];
    for packets in [four, six] {
        for (name, link_type, prefix, header) in links {
            let file = capture(link_type, &packets, prefix);
            // The third packet begins when the shaper has sent two, and the fast line takes it at
            // once.
            let charged = |cake: &str| {
                let options = format!(r#""rate": "100Gbit/s", "buffer": "10packets", "disciplines": ["{cake}"]"#);
                (replayed(&file, &options).disciplines[0].last_departure_s * 1e6 / 16.0).round() as u64
            };
            assert_eq!(charged("cake(rate=1Mbit/s, overhead=44, framing=atm)"), 1696, "{name}");
            assert_eq!(charged("cake(rate=1Mbit/s, overhead=0)"), 1484, "{name}");
            assert_eq!(charged("cake(rate=1Mbit/s)"), 1484 + header, "{name}: as it is on the line");
        }
    }
}

#[test]
fn what_no_capture_tells_is_refused_in_one_line() {
    let file = three_and_one();
    for (discipline, said) in [
        (
            "pifo(rank=shortest_remaining)",
            "pifo goes by what remains of a transfer, which no capture tells; write rank",
        ),
        ("pifo(rank=deadline)", "pifo goes by packets' deadlines, which no capture tells; write rank = start_time"),
        ("sp_pifo(rank=shortest_remaining)", "sp_pifo goes by what remains"),
        ("sp_pifo(rank=deadline)", "sp_pifo goes by packets' deadlines"),
        ("fifo + aifo(rank=shortest_remaining)", "aifo goes by what remains"),
        ("fifo + aifo(rank=deadline)", "aifo goes by packets' deadlines"),
        ("fq + fq_bit", "fq_bit goes by the congestion bit of 1990, which no capture tells; leave the marker out"),
        ("fifo + decbit", "decbit goes by the bit of DECbit's transport"),
    ] {
        let error =
            replay(&file, &format!(r#"{LINE}, "disciplines": ["fifo", "{discipline}"]"#)).expect_err(discipline);
        assert!(error.contains(said) && error.contains(&format!("`{discipline}`")), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    for discipline in ["pifo", "pifo(rank=least_attained)", "edf", "fifo + csfq", "cake(ack_filter=aggressive)"] {
        replayed(&file, &format!(r#"{LINE}, "disciplines": ["{discipline}"]"#));
    }
}

#[test]
fn every_part_that_needs_what_a_capture_does_not_tell_is_refused_or_noted() {
    let file = raw(&[(0, udp(1, 1, 100))]);
    let schedulers = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    let mut queues: Vec<Queue> = schedulers.map(|scheduler| Queue::new(scheduler, None)).collect();
    let fifo = || Queue::unlimited_fifo();
    let buffers = BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name));
    queues.extend(buffers.map(|buffer| Queue { buffer: Some(buffer), ..fifo() }));
    let markers = MARKERS.iter().flat_map(|card| MarkerSettings::variants(card.name));
    let fq = SchedulerSettings::by_name("fq").expect("a scheduler");
    queues.extend(
        markers.map(|marker| Queue { marker: Some(marker), ..Queue::new(fq.clone(), Some(Limit::Packets(9))) }),
    );
    queues
        .extend(DESIGNS.iter().flat_map(|card| DesignSettings::variants(card.name)).map(|d| Queue::of_design(d, None)));
    let mut met = Vec::new();
    for queue in queues.into_iter().filter(|queue| queue.fault().is_none()) {
        let needs: Vec<Need> = queue.needs().into_iter().map(|(_, need)| need).collect();
        met.extend(needs.clone());
        let name = format!("{queue:?}");
        let mut settings = settings(&format!(r#"{LINE}, "disciplines": ["fifo"]"#));
        settings.lanes[0].queue = queue;
        let outcome = Replay::new(settings);
        let is_told = |need: &Need| matches!(need, Need::Acknowledges | Need::Label | Need::Class);
        assert_eq!(outcome.is_ok(), needs.iter().all(is_told), "{name}");
        let Ok(replay) = outcome else { continue };
        let mut reader = Reader::new(&file[..], "one.pcapng").expect("a capture");
        let report = replay_capture(&mut reader, &ALL_OF_IT, replay, &mut |_| true).expect("a replay");
        assert_eq!(report.disciplines[0].note.is_some(), needs.contains(&Need::Class), "{name}");
    }
    assert!(Need::ALL.iter().filter(|need| **need != Need::Class).all(|need| met.contains(need)), "{met:?}");
}

/// Ten Poisson flows of 1 to 10 Mbit/s, in packets of 1000 B, for six seconds.
fn ten_poisson_flows() -> Vec<u8> {
    let mut packets = Vec::new();
    for flow in 1..=10u8 {
        let mut at = 0.0;
        for n in 0u64.. {
            let uniform = ((splitmix(n * 16 + u64::from(flow)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            at -= libm::log(uniform) * 8000.0 / (f64::from(flow) * 1e6);
            if at > 6.0 {
                break;
            }
            packets.push(((at * 1e9) as i64, udp(flow, 7, 1000)));
        }
    }
    packets.sort();
    raw(&packets)
}

#[test]
fn fq_that_charges_dropped_packets_says_so_where_it_is_unfair_and_one_that_refunds_them_is_fair() {
    let options =
        r#""rate": "10Mbit/s", "buffer": "64packets", "disciplines": ["fifo", "fq", "fq(on_drop=refund)", "wfq"]"#;
    let report = replayed(&ten_poisson_flows(), options);
    let [fifo, charging, refunding, wfq] = &report.disciplines[..] else { panic!("four lanes") };
    assert!(charging.jain_index < Some(0.9) && fifo.jain_index < Some(0.9), "{:?}", charging.jain_index);
    assert!(charging.note.as_ref().is_some_and(|note| note.contains("fq(on_drop=refund)")), "{:?}", charging.note);
    for fair in [refunding, wfq] {
        assert!(fair.jain_index > Some(0.98), "{}: {:?}", fair.name, fair.jain_index);
        assert_eq!(fair.note, None);
    }
    assert_eq!(fifo.note, None);
}
