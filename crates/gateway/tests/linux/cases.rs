//! What is done inside: each case is a process.

use super::forward::Forwarder;
use super::{NO_NAMESPACES, NO_TUN};
use fairq_gateway::plan::{HostPlan, Plan};
use fairq_gateway::setup::{self, BackEnd, Machine, Options};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;

/// Runs a case; its exit status.
pub(crate) fn run(words: &[String]) -> i32 {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["connect", back_end, control] => connect(back_end, control),
        _ => panic!("no such case: {words:?}"),
    }
}

/// Hosts `left` and `right`, with addresses of both families.
fn plan(control: &str) -> Plan {
    let host = |name: &str, number: u8| HostPlan {
        name: name.into(),
        addresses: vec![IpAddr::from([10, 77, number, 1]), IpAddr::from([0xfd77, 0, 0, 0, 0, 0, u16::from(number), 1])],
        control: control.into(),
        commands: Vec::new(),
    };
    let hosts = vec![host("left", 0), host("right", 1)];
    Plan { hosts, lines: Vec::new(), nodes: 2, next: Vec::new(), flows: Vec::new(), seed: 0 }
}

/// The hosts of a plan; the process ends with a sign that there are none to be had.
fn made(plan: &Plan, back_end: &str) -> Machine {
    let back_end = match back_end {
        "tun" => BackEnd::Tun,
        "packet" => BackEnd::Packet,
        _ => BackEnd::Auto,
    };
    setup::hosts(plan, &Options { back_end, ..Options::default() }).unwrap_or_else(|fault| {
        eprintln!("{fault}");
        std::process::exit(match fault.message {
            message if message.contains("refuses namespaces") => NO_NAMESPACES,
            message if message.contains("/dev/net/tun") => NO_TUN,
            _ => 1,
        })
    })
}

fn connect(back_end: &str, control: &str) -> i32 {
    let plan = plan(control);
    let mut machine = made(&plan, back_end);
    assert_eq!(machine.facts.back_end, back_end);
    let forwarder = Forwarder::new(std::mem::take(&mut machine.devices));
    for (from, to) in [(0, 1), (1, 0)] {
        for family in 0..2 {
            let to_address = SocketAddr::new(plan.hosts[to].addresses[family], 7);
            let server = machine.hosts[to].run(move || TcpListener::bind(to_address)).unwrap().expect("a port");
            let server = machine.hosts[to].spawn(move || echo(&server)).unwrap();
            let client = machine.hosts[from].spawn(move || transfer(to_address)).unwrap();
            let (of_client, peer) = client.join().expect("the client ends");
            let of_server = server.join().expect("the server ends");
            assert_eq!((of_client.as_str(), of_server.as_str()), (control, control), "congestion controls");
            assert_eq!(peer, plan.hosts[from].addresses[family]);
        }
    }
    assert!(forwarder.packets.load(Ordering::Relaxed) > 20);
    drop(forwarder.stop());
    println!("{}", serde_json::to_string(&machine.facts).expect("facts are plain"));
    0
}

const LENGTH: usize = 3_000_000;

/// Takes one connection and sends back what comes; its congestion control.
fn echo(server: &TcpListener) -> String {
    let (mut connection, _) = server.accept().expect("a connection comes");
    let control = rustix::net::sockopt::tcp_congestion(&connection).expect("TCP_CONGESTION");
    let mut got = Vec::new();
    connection.read_to_end(&mut got).expect("bytes come");
    assert_eq!(got.len(), LENGTH);
    connection.write_all(&got).expect("bytes go");
    control
}

/// Sends bytes and gets them back; the congestion control, and our own address.
fn transfer(to: SocketAddr) -> (String, IpAddr) {
    let mut connection = TcpStream::connect(to).expect("a connection");
    let control = rustix::net::sockopt::tcp_congestion(&connection).expect("TCP_CONGESTION");
    let bytes: Vec<u8> = (0..LENGTH).map(|number| (number % 251) as u8).collect();
    connection.write_all(&bytes).expect("bytes go");
    connection.shutdown(std::net::Shutdown::Write).expect("an end");
    let mut back = Vec::new();
    connection.read_to_end(&mut back).expect("bytes come");
    assert!(back == bytes, "{} bytes came back", back.len());
    (control, connection.local_addr().expect("an address").ip())
}
