//! The loop: packets of the hosts into the network, packets for the hosts out of it, at the times
//! of the machine's clock.
//!
//! It waits until a device has a packet or the next departure is due, and measures itself: how late
//! each packet is given to its host, what processor time that takes, what was lost before it could
//! be read. What is late is late for the host only; the lines go by intended times.

mod clock;
mod meter;
mod output;

use crate::device::Device;
use crate::measured::Lateness;
use crate::network::Network;
use crate::report::Report;
use crate::stamp::{FAST_SPAN_US, Mode, judge};
use clock::Clock;
use fairq_sched::units::{PS_PER_S, Time};
use meter::Meter;
use output::Output;
use rustix::event::epoll;
use rustix::io::Errno;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;

/// How the loop runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// How departures are written.
    pub mode: Mode,
    /// Whether it asks again and again, and never sleeps, while packets are on the way.
    pub spin: bool,
    /// When the run ends, if it is not stopped before.
    pub end: Option<Time>,
    /// The time of a packet of 1500 bytes, by which lateness is judged: [`packet_time`].
    pub packet_time: Time,
}

/// The time of a packet of 1500 bytes on the slowest line of a constant rate of `plan`; a
/// millisecond if it has none.
#[must_use]
pub fn packet_time(plan: &crate::plan::Plan) -> Time {
    let rate = |line: &crate::plan::LinePlan| match line.speed {
        crate::plan::Speed::Rate(rate) => Some(rate.time_of_bits(1500 * 8)),
        crate::plan::Speed::Unlimited | crate::plan::Speed::Trace(_) => None,
    };
    plan.lines.iter().filter_map(rate).max().unwrap_or(Time::from_ms(1))
}

/// Packets that are taken from a device before the others have their turn, counted as they were
/// before hosts put them together.
const TURN: u64 = 64;

/// Writes before the devices are asked again.
const WRITES: u32 = 64;

/// The longest packet that a device gives.
const LENGTH_MAX: usize = 65_536 + 64;

/// How long before a departure a spinning loop begins to spin.
const SPIN: Time = Time(100_000_000);

/// What looks at a run while it goes on: called with the network at the end of each interval.
pub struct Look<'a> {
    /// How often.
    pub interval: Time,
    /// What is called, with the time of the run.
    pub look: &'a mut (dyn FnMut(Time, &Network) + Send),
}

/// Carries packets between the hosts' `devices` through `network` until `stop` becomes readable,
/// or `options` say so.
///
/// # Errors
/// If a device is gone, or the system refuses to wait.
pub fn run(
    mut network: Network,
    devices: &mut [Box<dyn Device>],
    options: &Options,
    stop: BorrowedFd<'_>,
    mut look: Option<Look<'_>>,
) -> io::Result<Report> {
    // A host's smallest timer is 50 us late by default; it is ours alone to want less.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    let epoll = waiting_for(devices, stop)?;
    let clock = Clock::start();
    network.begin(clock.zero());
    let mut events = Vec::with_capacity(devices.len() + 1);
    let mut buffer = vec![0; LENGTH_MAX];
    let mut output = Output::new(options.mode, devices.len());
    let mut meter = Meter::new(options.packet_time, devices);
    let span = match options.mode {
        Mode::Exact => Time::ZERO,
        Mode::Fast => Time(FAST_SPAN_US * (PS_PER_S / 1_000_000)),
    };
    let mut next_look = look.as_ref().map_or(Time::NEVER, |look| look.interval);
    let end = options.end.unwrap_or(Time::NEVER);
    let mut is_stopped = false;
    while !is_stopped {
        let now = clock.now();
        if now >= end {
            break;
        }
        let due = network.first_ready().into_iter().chain(network.next_time()).min();
        if due.is_some_and(|due| due.saturating_add(span) <= now) {
            network.advance(now);
            output.write_ready(&mut network, devices, &clock, &mut meter, WRITES)?;
        }
        if now >= next_look
            && let Some(Look { interval, look }) = &mut look
        {
            look(now, &network);
            next_look = now.saturating_add((*interval).max(Time(1)));
        }
        let due = network.first_ready().into_iter().chain(network.next_time()).min();
        let due = due.unwrap_or(Time::NEVER).saturating_add(span);
        wait(&epoll, &mut events, &clock, due.min(end).min(next_look), options.spin)?;
        meter.woke(clock.now(), due);
        for event in &events {
            let number = event.data.u64() as usize;
            if number == devices.len() {
                is_stopped = true;
            } else {
                read(&mut network, number, devices, &clock, &mut meter, &mut buffer)?;
            }
        }
    }
    let elapsed = clock.now().min(end);
    finish(network, devices, options, &meter, elapsed)
}

/// What becomes readable when there is work.
fn waiting_for(devices: &[Box<dyn Device>], stop: BorrowedFd<'_>) -> io::Result<std::os::fd::OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let descriptors = devices.iter().map(|device| device.descriptor()).chain([stop]);
    for (descriptor, number) in descriptors.zip(0..) {
        epoll::add(&epoll, descriptor, epoll::EventData::new_u64(number), epoll::EventFlags::IN)?;
    }
    Ok(epoll)
}

/// Waits until a descriptor is readable or `until`.
fn wait(
    epoll: &std::os::fd::OwnedFd,
    events: &mut Vec<epoll::Event>,
    clock: &Clock,
    until: Time,
    spins: bool,
) -> io::Result<()> {
    let now = clock.now();
    let is_near = spins && until.saturating_sub(now) <= SPIN;
    let left = if is_near { Time::ZERO } else { until.saturating_sub(now) };
    let timeout = (until != Time::NEVER).then(|| clock::timespec(left));
    events.clear();
    match epoll::wait(epoll, rustix::buffer::spare_capacity(events), timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Takes the packets of a device, as many as its turn allows.
fn read(
    network: &mut Network,
    number: usize,
    devices: &mut [Box<dyn Device>],
    clock: &Clock,
    meter: &mut Meter,
    buffer: &mut [u8],
) -> io::Result<()> {
    let mut taken = 0;
    while taken < TURN {
        let Some((length, offload)) = devices[number].read(buffer)? else { break };
        meter.reads += 1;
        taken += 1 + (length as u64).checked_div(offload.segment.into()).unwrap_or(0);
        let packet = buffer.get(..length).unwrap_or_default();
        network.arrive(clock.now(), number as u32, packet, &offload);
    }
    Ok(())
}

/// What the run gave.
fn finish(
    mut network: Network,
    devices: &mut [Box<dyn Device>],
    options: &Options,
    meter: &Meter,
    elapsed: Time,
) -> io::Result<Report> {
    let mut report = network.report(elapsed);
    network.finish(elapsed)?;
    report.lateness = lateness(meter);
    report.gateway = meter.effort(elapsed, devices);
    report.stamp = judge(options.mode, &report.lateness, &report.gateway, &report.refused);
    Ok(report)
}

fn lateness(meter: &Meter) -> Lateness {
    let at = |p: f64| meter.lateness.quantile(p).map(|ps| Time(ps).as_s());
    Lateness {
        count: meter.lateness.count(),
        p50_s: at(0.5),
        p90_s: at(0.9),
        p99_s: at(0.99),
        p99_9_s: at(0.999),
        max_s: meter.lateness.greatest().map(|ps| Time(ps).as_s()),
        histogram: meter.histogram(),
    }
}

#[cfg(test)]
mod tests;
