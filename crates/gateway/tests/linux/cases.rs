//! What is done inside: each case is a process.

use super::forward::Forwarder;
use super::{NO_NAMESPACES, NO_TUN};
use fairq_gateway::command;
use fairq_gateway::plan::{FlowPlan, HostPlan, Plan, Work};
use fairq_gateway::setup::{self, BackEnd, Machine, Options};
use fairq_sched::units::{Time, Weight};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;

/// Runs a case; its exit status.
pub(crate) fn run(words: &[String]) -> i32 {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["connect", back_end, control] => connect(back_end, control),
        ["command", background, ..] => command(background, &words[2..]),
        ["work", back_end] => work(back_end),
        ["beside", back_end] => beside(back_end),
        ["reach", to] => reach(to),
        ["outside"] => outside(),
        _ => panic!("no such case: {words:?}"),
    }
}

/// Hosts `left` and `right`, with addresses of both families.
fn plan(control: &str) -> Plan {
    let host = |name: &str, number: u8| HostPlan {
        name: name.into(),
        addresses: vec![IpAddr::from([10, 77, number, 1]), IpAddr::from([0xfd77, 0, 0, 0, 0, 0, u16::from(number), 1])],
        control: control.into(),
        ecn: false,
        commands: Vec::new(),
    };
    let hosts = vec![host("left", 0), host("right", 1)];
    Plan { hosts, lines: Vec::new(), nodes: 2, next: Vec::new(), flows: Vec::new(), seed: 0 }
}

fn back_end_of(word: &str) -> BackEnd {
    match word {
        "tun" => BackEnd::Tun,
        "packet" => BackEnd::Packet,
        _ => BackEnd::Auto,
    }
}

/// The hosts of a plan; the process ends with a sign that there are none to be had.
fn made(plan: &Plan, back_end: &str) -> Machine {
    let options = Options { back_end: back_end_of(back_end), outer: None };
    setup::hosts(plan, &options).unwrap_or_else(|fault| {
        eprintln!("{fault}");
        std::process::exit(match fault.message {
            message if message.contains("refuses namespaces") => NO_NAMESPACES,
            message if message.contains("/dev/net/tun") => NO_TUN,
            _ => 1,
        })
    })
}

/// Runs a command in `left`, and another in `right`, unless that is empty.
fn command(background: &str, foreground: &[&str]) -> i32 {
    let mut plan = plan("reno");
    if !background.is_empty() {
        plan.hosts[1].commands.push(["sh", "-c", background].map(str::to_owned).into());
    }
    let mut machine = made(&plan, "auto");
    let forwarder = Forwarder::new(std::mem::take(&mut machine.devices));
    let foreground = foreground.iter().map(|&word| word.to_owned()).collect();
    let commands = match command::start(&machine.hosts, &plan.hosts, Some((0, foreground))) {
        Ok(commands) => commands,
        Err(fault) => {
            eprintln!("{fault}");
            return 1;
        }
    };
    let mut waiting = [PollFd::from_borrowed_fd(commands.descriptor(), PollFlags::IN)];
    poll(&mut waiting, None).expect("the end can be waited for");
    let ended = commands.finish();
    drop(forwarder.stop());
    for line in &ended.failed {
        println!("failed: {line}");
    }
    ended.status
}

/// In a host of an emulation: another emulation, of which that host is the left one. A program in
/// the right one is reached from here.
fn beside(back_end: &str) -> i32 {
    let mut plan = plan("reno");
    for (host, number) in plan.hosts.iter_mut().zip(0..) {
        host.addresses = vec![IpAddr::from([10, setup::prefix(), number, 1])];
    }
    let to = SocketAddr::new(plan.hosts[1].addresses[0], 7);
    // It stays in the present namespace.
    let client = std::process::Command::new(std::env::current_exe().expect("our own path"))
        .args(["case", "reach", &to.to_string()])
        .spawn()
        .expect("this program starts");
    let options = Options { back_end: back_end_of(back_end), outer: Some(0) };
    let mut machine = setup::hosts(&plan, &options).unwrap_or_else(|fault| panic!("{fault}"));
    let forwarder = Forwarder::new(std::mem::take(&mut machine.devices));
    let server = machine.hosts[1].run(move || TcpListener::bind(to)).unwrap().expect("a port");
    let server = machine.hosts[1].spawn(move || echo(&server)).unwrap();
    server.join().expect("the server ends");
    // What is on the way comes yet; then the device goes.
    std::thread::sleep(std::time::Duration::from_millis(500));
    drop(forwarder.stop());
    drop(client);
    0
}

/// Asks for the machine's own namespace as a host.
fn outside() -> i32 {
    let options = Options { back_end: BackEnd::Packet, outer: Some(0) };
    let fault = setup::hosts(&plan("reno"), &options).err().expect("it is refused");
    eprintln!("{fault}");
    0
}

/// Connects when that is possible.
fn reach(to: &str) -> i32 {
    let to: SocketAddr = to.parse().expect("an address");
    for _ in 0..500 {
        if let Ok(probe) = TcpStream::connect_timeout(&to, std::time::Duration::from_millis(20)) {
            let (_, from) = transfer_on(probe);
            println!("reached from {from}");
            return 0;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    1
}

/// A transfer over IPv6, a transfer the other way, and datagrams.
fn work(back_end: &str) -> i32 {
    let mut plan = plan("reno");
    let flow = |name: &str, ends: [u32; 2], family: usize, work: Work| FlowPlan {
        name: name.into(),
        ends,
        addresses: ends.map(|end| plan.hosts[end as usize].addresses[family]),
        lines: [Vec::new(), Vec::new()],
        work,
        during: [Time::from_ms(50), Time::from_s(30)],
        weight: Weight::from_thousandths(1000).expect("a weight"),
        tos: 0x20,
    };
    let bulk = |bytes| Work::Bulk { control: "cubic".into(), bytes: Some(bytes) };
    plan.flows = vec![
        flow("a", [0, 1], 1, bulk(2_000_000)),
        flow("b", [1, 0], 0, bulk(1_000_000)),
        flow("c", [0, 1], 0, Work::Datagrams { packet: 500, gap: Time::from_ms(1) }),
    ];
    let mut machine = made(&plan, back_end);
    let forwarder = Forwarder::new(std::mem::take(&mut machine.devices));
    let workload = fairq_gateway::work::start(&plan, &machine.hosts).expect("the flows start");
    for _ in 0..3000 {
        if workload.is_complete() && workload.done()[2].received >= 472 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let done = workload.done();
    assert!(done.iter().all(|flow| flow.fault.is_none()), "{done:?}");
    assert_eq!((done[0].received, done[1].received), (2_000_000, 1_000_000));
    assert!(done[2].received >= 472 && done[2].received.is_multiple_of(472), "{done:?}");
    drop(forwarder.stop());
    0
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
    let lost: Vec<u64> = forwarder.stop().iter_mut().map(|device| device.lost()).collect();
    println!("lost {lost:?}");
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
    transfer_on(TcpStream::connect(to).expect("a connection"))
}

fn transfer_on(mut connection: TcpStream) -> (String, IpAddr) {
    let control = rustix::net::sockopt::tcp_congestion(&connection).expect("TCP_CONGESTION");
    let bytes: Vec<u8> = (0..LENGTH).map(|number| (number % 251) as u8).collect();
    connection.write_all(&bytes).expect("bytes go");
    connection.shutdown(std::net::Shutdown::Write).expect("an end");
    let mut back = Vec::new();
    connection.read_to_end(&mut back).expect("bytes come");
    assert!(back == bytes, "{} bytes came back", back.len());
    (control, connection.local_addr().expect("an address").ip())
}
