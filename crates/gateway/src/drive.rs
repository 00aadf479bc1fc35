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
    /// How long packets are carried after the end.
    pub tail: Time,
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

/// How long packets of `plan` are carried after the end: for a server to hear that its client has
/// closed the connection, a few ways over the slowest line, and some time for both programs.
#[must_use]
pub fn tail(plan: &crate::plan::Plan) -> Time {
    let longest = plan.lines.iter().map(|line| line.delay.0).max().unwrap_or(0);
    Time(longest.saturating_mul(4)).saturating_add(TAIL).min(TAIL_MAX)
}

const TAIL: Time = Time::from_ms(100);
const TAIL_MAX: Time = Time::from_s(2);

/// Packets that are taken from a device before the others have their turn, counted as they were
/// before hosts put them together.
const TURN: u64 = 64;

/// Writes for each device before the devices are asked again: more than the packets of its turn, of
/// which the last may be several, so that what is ready does not grow while all devices send.
const WRITES: u32 = 2 * TURN as u32;

/// The longest packet that a device gives.
const LENGTH_MAX: usize = 65_536 + 64;

/// How long before a departure a spinning loop begins to spin.
const SPIN: Time = Time(100_000_000);

/// A departure that is nearer is not slept for: on a virtual machine a timer and a wake-up take as
/// long.
const NEAR: Time = Time(20_000_000);

/// What looks at a run while it goes on: called with the network at the end of each interval.
pub struct Look<'a> {
    /// How often.
    pub interval: Time,
    /// What is called, with the time of the run.
    pub look: &'a mut (dyn FnMut(Time, &Network) + Send),
}

/// Carries packets between the hosts' `devices` through `network` until `stop` becomes readable,
/// or `options` say so. Packets are carried for [`Options::tail`] longer, for connections to close:
/// that is in no table.
///
/// # Errors
/// If a device is gone, or the system refuses to wait.
pub fn run(
    network: Network,
    devices: &mut [Box<dyn Device>],
    options: &Options,
    stop: BorrowedFd<'_>,
    mut look: Option<Look<'_>>,
) -> io::Result<Report> {
    // A host's smallest timer is 50 us late by default; it is ours alone to want less.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    let mut carrier = Carrier::new(network, devices, options, stop)?;
    let mut next_look = look.as_ref().map_or(Time::NEVER, |look| look.interval);
    let end = options.end.unwrap_or(Time::NEVER);
    let mut is_stopped = false;
    while !is_stopped && carrier.clock.now() < end {
        let now = carrier.clock.now();
        if now >= next_look
            && let Some(Look { interval, look }) = &mut look
        {
            look(now, &carrier.network);
            next_look = now.saturating_add((*interval).max(Time(1)));
        }
        is_stopped = carrier.turn(end.min(next_look))?;
    }
    let elapsed = carrier.clock.now().min(end);
    let report = carrier.report(elapsed)?;
    epoll::delete(&carrier.epoll, stop)?;
    let until = carrier.clock.now().saturating_add(options.tail);
    while carrier.clock.now() < until {
        carrier.turn(until)?;
    }
    Ok(report)
}

/// What the loop works with.
struct Carrier<'a> {
    network: Network,
    devices: &'a mut [Box<dyn Device>],
    options: &'a Options,
    epoll: std::os::fd::OwnedFd,
    clock: Clock,
    events: Vec<epoll::Event>,
    buffer: Vec<u8>,
    output: Output,
    meter: Meter,
    /// How long a packet waits for others that are written with it.
    span: Time,
}

impl<'a> Carrier<'a> {
    fn new(
        mut network: Network,
        devices: &'a mut [Box<dyn Device>],
        options: &'a Options,
        stop: BorrowedFd<'_>,
    ) -> io::Result<Self> {
        let epoll = waiting_for(devices, stop)?;
        let clock = Clock::start();
        network.begin(clock.zero());
        let events = Vec::with_capacity(devices.len() + 1);
        let output = Output::new(options.mode, devices.len());
        let meter = Meter::new(options.packet_time, devices);
        let span = match options.mode {
            Mode::Exact | Mode::Virtual => Time::ZERO,
            Mode::Fast => Time(FAST_SPAN_US * (PS_PER_S / 1_000_000)),
        };
        let buffer = vec![0; LENGTH_MAX];
        Ok(Self { network, devices, options, epoll, clock, events, buffer, output, meter, span })
    }

    /// When the next departure is to be written.
    fn due(&mut self) -> Time {
        let due = self.network.first_ready().into_iter().chain(self.network.next_time()).min();
        due.unwrap_or(Time::NEVER).saturating_add(self.span)
    }

    /// Writes what is due, waits until something happens or until `until`, reads; whether the run
    /// is to end.
    fn turn(&mut self, until: Time) -> io::Result<bool> {
        let now = self.clock.now();
        if self.due() <= now {
            let writes = WRITES.saturating_mul(self.devices.len() as u32);
            self.network.advance(now);
            self.output.write_ready(&mut self.network, self.devices, &self.clock, &mut self.meter, writes)?;
        }
        let due = self.due();
        wait(&self.epoll, &mut self.events, &self.clock, due.min(until), self.options.spin)?;
        self.meter.woke(self.clock.now(), due);
        let mut is_stopped = false;
        for event in &self.events {
            let (number, flags) = (event.data.u64() as usize, event.flags);
            if number == self.devices.len() {
                is_stopped = true;
            } else if !read(&mut self.network, number, self.devices, &self.clock, &mut self.meter, &mut self.buffer)?
                && flags.intersects(epoll::EventFlags::HUP)
            {
                // Its other end is closed, and would be told of for ever.
                epoll::delete(&self.epoll, self.devices[number].descriptor())?;
            }
        }
        Ok(is_stopped)
    }

    /// What the run gave.
    fn report(&mut self, elapsed: Time) -> io::Result<Report> {
        let mut report = self.network.report(elapsed);
        self.network.finish(elapsed)?;
        report.lateness = lateness(&self.meter);
        report.gateway = self.meter.effort(elapsed, self.devices);
        report.stamp = judge(self.options.mode, &report.lateness, &report.gateway, &report.refused);
        Ok(report)
    }
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
    let left = until.saturating_sub(now);
    let left = if left <= if spins { SPIN } else { NEAR } { Time::ZERO } else { left };
    let timeout = (until != Time::NEVER).then(|| clock::timespec(left));
    events.clear();
    match epoll::wait(epoll, rustix::buffer::spare_capacity(events), timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Takes the packets of a device, as many as its turn allows; whether there were any.
fn read(
    network: &mut Network,
    number: usize,
    devices: &mut [Box<dyn Device>],
    clock: &Clock,
    meter: &mut Meter,
    buffer: &mut [u8],
) -> io::Result<bool> {
    let mut taken = 0;
    while taken < TURN {
        let read = devices[number].read(buffer).map_err(|error| of_host(number, &error))?;
        let Some((length, offload)) = read else { break };
        meter.reads += 1;
        taken += 1 + (length as u64).checked_div(offload.segment.into()).unwrap_or(0);
        let packet = buffer.get(..length).unwrap_or_default();
        network.arrive(clock.now(), number as u32, packet, &offload);
    }
    Ok(taken > 0)
}

/// An error of a host's device, with the host's number.
fn of_host(number: usize, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the device of host {number}: {error}"))
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
