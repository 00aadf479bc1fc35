use super::{Direction, Filter};
use fairq_sched::hash::splitmix;
use fairq_sched::packet::{Address, Header};

fn v4(source: u8, destination: u8, protocol: u16, ports: [u16; 2]) -> Header {
    Header {
        source: Address::V4([10, 0, 0, source]),
        destination: Address::V4([10, 0, 1, destination]),
        protocol,
        source_port: ports[0],
        destination_port: ports[1],
        tos: 0,
    }
}

fn v6(protocol: u16, ports: [u16; 2]) -> Header {
    let end = |last| Address::V6([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    Header { source: end(1), destination: end(2), ..v4(0, 0, protocol, ports) }
}

fn arp() -> Header {
    let mac = Address::Mac([1; 6]);
    Header { source: mac, destination: mac, ..v4(0, 0, 0x0806, [0, 0]) }
}

/// Web up, its answer down, DNS up, ping up, ping of IPv6 down, web of IPv6 up, ARP, in no
/// direction.
fn packets() -> [(Header, Option<Direction>); 7] {
    let (down, up) = (Some(Direction::Down), Some(Direction::Up));
    let answer = Header {
        source: Address::V4([10, 0, 1, 2]),
        destination: Address::V4([10, 0, 0, 1]),
        ..v4(0, 0, 6, [443, 5000])
    };
    [
        (v4(1, 2, 6, [5000, 443]), up),
        (answer, down),
        (v4(1, 3, 17, [5001, 53]), up),
        (v4(1, 2, 1, [0, 0]), up),
        (v6(58, [0, 0]), down),
        (v6(6, [5000, 443]), up),
        (arp(), None),
    ]
}

#[test]
fn a_filter_keeps_what_tcpdump_keeps() {
    for (text, kept) in [
        ("tcp", "1100010"),
        ("udp", "0010000"),
        ("icmp", "0001000"),
        ("icmp6", "0000100"),
        ("ip", "1111000"),
        ("ip6", "0000110"),
        ("up", "1011010"),
        ("down", "0100100"),
        ("not tcp", "0011101"),
        ("!tcp", "0011101"),
        ("host 10.0.1.2", "1101000"),
        ("10.0.1.2", "1101000"),
        ("src host 10.0.1.2", "0100000"),
        ("src 10.0.1.2", "0100000"),
        ("dst 10.0.1.2", "1001000"),
        ("host 2001:db8::1", "0000110"),
        ("2001:db8::1 or 10.0.1.3", "0010110"),
        ("net 10.0.1.0/24", "1111000"),
        ("dst net 10.0.1", "1011000"),
        ("net 11", "0000000"),
        ("src net 2001:db8::/32", "0000110"),
        ("port 443", "1100010"),
        ("src port 443", "0100000"),
        ("dst port 443", "1000010"),
        ("tcp port 53", "0000000"),
        ("udp port 53", "0010000"),
        ("tcp dst port 443", "1000010"),
        ("port 53 or 443", "1110010"),
        ("tcp dst port 53 or 443", "1000010"),
        ("ip host 10.0.1.2", "1101000"),
        ("udp and not port 53", "0000000"),
        ("up && (tcp || udp)", "1010010"),
        ("not (up or down)", "0000001"),
        ("not not tcp", "1100010"),
        // Left to right: (udp or tcp) and down. With `and` first it were udp or (tcp and down).
        ("udp or tcp and down", "0100000"),
        ("udp or (tcp and down)", "0110000"),
        // No ports: icmp and ARP have none, and 0 in their place.
        ("port 0", "0000000"),
    ] {
        let filter = Filter::read(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        let found: String =
            packets().map(|(header, way)| if filter.keeps(&header, way) { '1' } else { '0' }).iter().collect();
        assert_eq!(found, kept, "{text}");
        assert_eq!(filter.asks_direction(), text.contains("up") || text.contains("down"), "{text}");
        assert_eq!(filter.to_string(), text);
    }
}

#[test]
fn a_broken_filter_is_said_with_the_place_and_what_to_write() {
    for (text, said) in [
        ("", "is empty; write a filter as"),
        ("tpc", "at letter 1, `tpc` is not understood; did you mean tcp?"),
        ("udp and prot 53", "at letter 9, `prot` is not understood; did you mean port?"),
        ("udp adn port 53", "at letter 5, `adn` is not understood; did you mean and?"),
        ("port 53 adn tcp", "at letter 9, `adn` is not understood; did you mean and?"),
        ("host example.org", "at letter 6, `example.org` is no address; write its number, as `host 192.168.1.7`"),
        ("host 10.0.0.0/8", "at letter 6, `10.0.0.0/8` is a network; write `net 10.0.0.0/8`"),
        ("443", "at letter 1, `443` is a number; write `port 443`"),
        ("tcp 443", "at letter 5, `443` is a number; write `port 443`"),
        ("port https", "at letter 6, `https` is no port; write its number, as `port 443`"),
        ("port 70000", "at letter 6, `70000` is no port"),
        ("port 53 or 10.0.0.1", "at letter 12, `10.0.0.1` is an address; write `host 10.0.0.1`"),
        (
            "net 10.0.0.7/8",
            "at letter 5, `10.0.0.7/8` is no network: `10.0.0.7/8` is an address in a network; write 10.0.0.0/8",
        ),
        ("udp and", "behind `and` at letter 5 more is needed"),
        ("port", "behind `port` at letter 1 more is needed"),
        ("not", "behind `not` at letter 1 more is needed"),
        ("and tcp", "at letter 1, `and` is not understood"),
        ("tcp udp", "at letter 5, `udp` is not understood; there are and, or, src"),
        ("(tcp or udp", "at letter 1, `(` is not closed; write )"),
        ("(tcp udp)", "at letter 6, `udp` is not understood; there are and, or, src"),
        ("tcp)", "at letter 4, `)` is not understood; there are and, or"),
        ("()", "at letter 2, `)` is not understood"),
        ("host 10.0.0.1 port 53", "at letter 15, `port` is not understood; there are and, or"),
        ("tcp und ü", "at letter 5, `und` is not understood; did you mean and?"),
        ("ü(tcp", "at letter 1, `ü` is not understood"),
    ] {
        let fault = Filter::read(text).expect_err(text);
        assert!(fault.contains(said), "{text}: {fault}");
        assert_eq!(fault.lines().count(), 1, "{fault}");
    }
    let deep = |n: usize| format!("{}tcp{}", "(".repeat(n), ")".repeat(n));
    assert!(Filter::read(&deep(50)).is_ok() && Filter::read(&deep(51)).unwrap_err().contains("write fewer"));
    assert!(Filter::read(&"not ".repeat(100_000)).unwrap_err().contains("write fewer"));
    assert!(Filter::read(&vec!["tcp"; 100_000].join(" or ")).is_ok());
}

#[test]
fn no_text_ends_the_reading_in_a_panic() {
    let words = [
        "tcp",
        "udp",
        "not",
        "!",
        "(",
        ")",
        "and",
        "or",
        "&&",
        "src",
        "dst",
        "host",
        "net",
        "port",
        "up",
        "10.0.0.1",
        "10",
        "::1",
        "53",
        "ü",
        "/",
        "10.0.0.0/33",
    ];
    for seed in 0..20_000u64 {
        let text: String = (0..1 + seed % 9)
            .map(|n| {
                let draw = splitmix(seed * 16 + n);
                let space = if draw.is_multiple_of(4) { "" } else { " " };
                format!("{}{space}", words[(draw >> 8) as usize % words.len()])
            })
            .collect();
        if let Ok(filter) = Filter::read(&text) {
            let _ = packets().map(|(header, way)| filter.keeps(&header, way));
        }
    }
}
