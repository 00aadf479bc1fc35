//! Kernels and the network between them in one virtual time: what comes first happens first,
//! and nothing happens while another thing is under way.

use super::card::{Card, ETHERNET, VIRTIO};
use super::clock;
use super::machine::{Machine, World};
use crate::device::{Offload, Segments};
use crate::network::Network;
use fairq_link::capture::Stamp;
use fairq_sched::units::Time;
use std::io;

/// When the network's time begins, on the clock of the kernels, which have all started by then.
/// What they send before reaches no host: they ask for routers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zero(u64);

impl Zero {
    /// That of this number of hosts: when one more would start.
    pub(crate) fn of(hosts: usize) -> Self {
        Self(starts(hosts))
    }

    /// The clock of the day at that time, as the kernels have it.
    pub(crate) fn stamp(self) -> Stamp {
        Stamp((i128::from(clock::DATE) + i128::from(self.0)) * 1000)
    }

    /// Nanoseconds, the unit of a kernel's time, that are not before `time`.
    fn not_before(self, time: Time) -> u64 {
        time.0.div_ceil(1000).saturating_add(self.0)
    }

    /// When something happens in the network: a packet that is ready is to be given at once.
    fn next_of(self, network: &mut Network) -> u64 {
        let ready = network.first_ready();
        ready.or_else(|| network.next_time()).map_or(u64::MAX, |time| self.not_before(time))
    }

    fn exact(self, now: u64) -> Time {
        Time(now.saturating_sub(self.0).saturating_mul(1000))
    }
}

/// A packet of a running kernel goes here.
struct Around<'a> {
    network: &'a mut Network,
    zero: Zero,
    host: usize,
    /// When another kernel wants to run.
    others: u64,
    next: u64,
}

impl<'a> Around<'a> {
    fn new(network: &'a mut Network, zero: Zero, host: usize, others: u64) -> Self {
        let mut around = Self { network, zero, host, others, next: 0 };
        around.look();
        around
    }

    fn look(&mut self) {
        let next = self.zero.next_of(self.network);
        self.next = next.min(self.others);
    }
}

impl World for Around<'_> {
    fn frame(&mut self, now: u64, frame: &[u8]) {
        let (packet, offload) = opened(frame).unwrap_or_default();
        self.network.arrive(self.zero.exact(now), self.host as u32, packet, &offload);
        self.look();
    }

    fn next(&self) -> u64 {
        self.next
    }
}

/// The IP packet in a frame with virtio's header; `None` if there is none.
fn opened(frame: &[u8]) -> Option<(&[u8], Offload)> {
    let header: [u8; VIRTIO] = *frame.first_chunk()?;
    let packet = frame.get(VIRTIO + ETHERNET..)?;
    let [.., kind_high, kind_low] = *frame.first_chunk::<{ VIRTIO + ETHERNET }>()?;
    let is_ip = matches!(u16::from_be_bytes([kind_high, kind_low]), 0x0800 | 0x86DD);
    let word = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let segments = match header[1] & 0x7F {
        0 => Segments::One,
        1 | 4 => Segments::Tcp,
        _ => return None,
    };
    let starts = word(6).checked_sub(ETHERNET as u16);
    let checksum = if header[0] & 1 != 0 { Some((starts?, word(8))) } else { None };
    is_ip.then_some((packet, Offload { segments, segment: word(4), checksum }))
}

/// A frame for the host with this address of its card.
fn closed(packet: &[u8], offload: &Offload, address: [u8; 6], frame: &mut Vec<u8>) {
    frame.clear();
    let mut header = [0; VIRTIO];
    match offload.checksum {
        Some((starts, field)) => {
            header[0] = 1;
            header[6..8].copy_from_slice(&(starts + ETHERNET as u16).to_le_bytes());
            header[8..10].copy_from_slice(&field.to_le_bytes());
        }
        None => header[0] = 0,
    }
    // One buffer.
    header[10] = 1;
    frame.extend(header);
    frame.extend(address);
    frame.extend([2, 0, 0, 0, 0, 0]);
    let is_six = packet.first().is_some_and(|first| first >> 4 == 6);
    frame.extend(if is_six { [0x86, 0xDD] } else { [0x08, 0x00] });
    frame.extend(packet);
}

/// When the kernel of a host starts: two seconds after the one before, which then stands still.
/// While two look at their clocks in turn, as at their start for want of random numbers, neither
/// comes far.
pub(crate) fn starts(host: usize) -> u64 {
    host as u64 * 2_000_000_000
}

/// The address of the card of a host.
pub(crate) fn address_of(host: usize) -> [u8; 6] {
    let [.., a, b] = (host as u16 + 1).to_be_bytes();
    [2, 0, 0, 0, a, b]
}

/// What became of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Virtual time at its end, from when all kernels have started.
    pub elapsed: Time,
    /// How often a kernel was told to run.
    pub turns: u64,
    /// Packets for which a host had no buffer.
    pub lost: u64,
    /// Packets that were given to hosts.
    pub given: u64,
    /// The exit status of the command whose end was the end; `None` if a kernel failed or time ran
    /// out.
    pub status: Option<u8>,
}

/// Runs kernels until one of them ends, or until `end`.
///
/// # Errors
/// If a kernel breaks the rules of its clock or of its card.
pub(crate) fn run(kernels: &mut [Machine], network: &mut Network, end: Time) -> io::Result<Ran> {
    let zero = Zero::of(kernels.len());
    let (mut now, mut given) = (0, 0);
    let end = zero.not_before(end);
    let mut frame = Vec::new();
    while !kernels.iter().any(|kernel| kernel.is_gone || kernel.status.is_some()) {
        let first = kernels.iter().map(Machine::next).min().unwrap_or(u64::MAX);
        let next = zero.next_of(network).min(first);
        if next >= end {
            now = end;
            break;
        }
        now = now.max(next);
        network.advance(zero.exact(now));
        while let Some(delivery) = network.next_delivery() {
            let host = delivery.host as usize;
            closed(&delivery.bytes, &delivery.offload, address_of(host), &mut frame);
            network.recycle(delivery.bytes);
            kernels[host].deliver(&frame)?;
            given += 1;
        }
        turn(kernels, network, zero, &mut now)?;
    }
    let turns = kernels.iter().map(|kernel| kernel.turns).sum();
    let lost = kernels.iter().map(|kernel| kernel.card.lost).sum();
    let status = kernels.iter().find_map(|kernel| kernel.status).map(|status| status as u8);
    Ok(Ran { elapsed: zero.exact(now), turns, lost, given, status })
}

/// Tells kernels their news, and lets the first run that is due.
fn turn(kernels: &mut [Machine], network: &mut Network, zero: Zero, now: &mut u64) -> io::Result<()> {
    for (host, kernel) in kernels.iter_mut().enumerate().filter(|(_, kernel)| kernel.has_news()) {
        kernel.call(now, &mut Around::new(network, zero, host, *now))?;
    }
    let due = kernels.iter().enumerate().map(|(host, kernel)| (kernel.next(), host)).min();
    let Some((_, host)) = due.filter(|&(next, _)| next <= *now) else { return Ok(()) };
    let others = kernels.iter().enumerate().filter(|&(other, _)| other != host);
    let others = others.map(|(_, kernel)| kernel.next()).min().unwrap_or(u64::MAX);
    kernels[host].run(now, &mut Around::new(network, zero, host, others))
}

/// A card at its listening socket, for a host.
pub(crate) fn card(host: usize, listener: std::os::unix::net::UnixListener) -> Card {
    Card::new(listener, address_of(host))
}
