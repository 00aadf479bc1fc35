use super::*;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream, UdpSocket};

/// Longer than any of these tests takes.
const PATIENCE: Duration = Duration::from_secs(20);

fn relay(rate: &str, delay: &str) -> Relay {
    let way = WaySettings { rate: Some(rate.into()), delay: Some(delay.into()), ..WaySettings::default() };
    Relay::new(&RelaySettings { ways: [way.clone(), way], seed: 1 }).unwrap()
}

#[test]
fn bytes_of_a_connection_come_back_from_the_target_as_they_were() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let echo = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        std::io::copy(&mut &stream, &mut &stream).unwrap()
    });
    let relay = relay("50Mbit/s", "5ms");
    let stream = TcpStream::connect(relay.open(Protocol::Tcp, target).unwrap()).unwrap();
    let sent: Vec<u8> = (0..300_000_u32).map(|at| (at * 7 % 251) as u8).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (&stream).write_all(&sent).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut got = Vec::new();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        (&stream).read_to_end(&mut got).unwrap();
        assert!(got == sent);
    });
    assert_eq!(echo.join().unwrap(), 300_000);
    let stats = relay.stats().unwrap();
    let [up, down] = [&stats["flows"][0], &stats["flows"][1]];
    for flow in [up, down] {
        // 208 segments and the end, with 52 bytes of headers each.
        assert!(flow["delivered_bytes"].as_u64().unwrap() >= 300_000 + 209 * 52, "{flow}");
        assert!(flow["delay_s_min"].as_f64().unwrap() >= 0.005, "{flow}");
    }
    assert_eq!(
        (&up["direction"], &down["direction"], &up["source"]),
        (&"up".into(), &"down".into(), &down["destination"])
    );
}

#[test]
fn datagrams_leave_at_the_rate_of_the_line_whatever_the_machine_does() {
    let target = UdpSocket::bind("127.0.0.1:0").unwrap();
    let way =
        |queue: &str| WaySettings { rate: Some("8Mbit/s".into()), queue: Some(queue.into()), ..WaySettings::default() };
    let relay = Relay::new(&RelaySettings { ways: [way("fifo + 1000packets"), way("fifo")], seed: 1 }).unwrap();
    let way_in = relay.open(Protocol::Udp, target.local_addr().unwrap()).unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..100 {
        client.send_to(&[0; 972], way_in).unwrap();
    }
    target.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut from = None;
    for _ in 0..100 {
        let (length, peer) = target.recv_from(&mut [0; 2000]).unwrap();
        assert_eq!(length, 972);
        from = Some(peer);
    }
    target.send_to(b"answer", from.unwrap()).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut buffer = [0; 100];
    assert_eq!(client.recv_from(&mut buffer).unwrap(), (6, way_in));
    let stats = relay.stats().unwrap();
    let flow = &stats["flows"][0];
    assert_eq!((flow["delivered_packets"].as_u64(), flow["delivered_bytes"].as_u64()), (Some(100), Some(100_000)));
    // The packets wait in the queue, one behind the other, unless the test was stopped for long.
    let rate = flow["throughput_bit_per_s"].as_f64().unwrap();
    assert!((2e6..8.000_001e6).contains(&rate), "{rate}");
    assert_eq!(stats["queues"][0]["sent_bytes"], 100_000);
}

#[test]
fn a_target_that_does_not_listen_closes_the_connection_and_is_counted() {
    // A port that was free a moment ago.
    let target = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let relay = relay("50Mbit/s", "1ms");
    let mut stream = TcpStream::connect(relay.open(Protocol::Tcp, target).unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let ended = stream.read(&mut [0; 1]);
    assert!(matches!(&ended, Ok(0)) || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
    assert_eq!(relay.stats().unwrap()["unanswered"], 1);
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let said = |way: WaySettings| {
        Relay::new(&RelaySettings { ways: [way, WaySettings::default()], seed: 1 }).err().expect("it is refused")
    };
    let text = |text: &str| Some(text.to_owned());
    let faults = [
        said(WaySettings { rate: text("10"), ..WaySettings::default() }),
        said(WaySettings { queue: text("fqq"), ..WaySettings::default() }),
        said(WaySettings { buffer: text("0packets"), ..WaySettings::default() }),
        said(WaySettings { loss: Some(1.0), ..WaySettings::default() }),
        relay("1Mbit/s", "1ms").open(Protocol::Tcp, "192.0.2.1:80".parse().unwrap()).unwrap_err(),
    ];
    for (fault, begin) in faults.iter().zip(["rate: ", "queue: `fqq`", "buffer: ", "loss: ", "192.0.2.1:80: a relay"]) {
        assert!(fault.starts_with(begin) && !fault.contains('\n'), "{fault}");
    }
}

#[test]
fn clients_beyond_the_most_take_the_place_of_the_oldest() {
    let target = UdpSocket::bind("127.0.0.1:0").unwrap();
    target.set_read_timeout(Some(PATIENCE)).unwrap();
    let relay = relay("1Gbit/s", "0ms");
    let way_in = relay.open(Protocol::Udp, target.local_addr().unwrap()).unwrap();
    let mut clients = Vec::new();
    for number in 0..50_u16 {
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        client.send_to(&number.to_be_bytes(), way_in).unwrap();
        let mut got = [0; 2];
        assert_eq!(target.recv(&mut got).unwrap(), 2);
        assert_eq!(u16::from_be_bytes(got), number);
        // Another client would be given its port.
        clients.push(client);
    }
    let stats = relay.stats().unwrap();
    assert_eq!((stats["flows"].as_array().unwrap().len(), &stats["refused"]), (100, &0.into()));
}

#[test]
fn connections_beyond_the_most_are_closed_and_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let relay = relay("1Gbit/s", "0ms");
    let way_in = relay.open(Protocol::Tcp, listener.local_addr().unwrap()).unwrap();
    let mut clients: Vec<TcpStream> = Vec::new();
    let mut taken = Vec::new();
    for _ in 0..sockets::OPEN_MAX {
        clients.push(TcpStream::connect(way_in).unwrap());
        taken.push(listener.accept().unwrap());
    }
    let mut more = TcpStream::connect(way_in).unwrap();
    more.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(more.read(&mut [0; 1]).unwrap(), 0);
    let stats = relay.stats().unwrap();
    assert_eq!(stats["refused"], 1);
    assert!(stats["stamp"].as_str().unwrap().starts_with("doubtful: "));
}
