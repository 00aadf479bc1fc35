//! Two hosts, one line, a command in each, and what that cost the gateway: as `fairq emulate`
//! without Python, for measuring.
//!
//! `carry RATE_MBIT QUEUE exact|fast tun|packet SECONDS 'iperf3 -s -1' 'iperf3 -c right -t 5'`

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("hosts are Linux' namespaces");
}
