//! Packets for the hosts: one write each, or consecutive segments of a flow as one.

use super::clock::Clock;
use super::meter::Meter;
use crate::device::{Device, Written};
use crate::flows::FlowId;
use crate::network::{Delivery, Network};
use crate::packet::join::Join;
use crate::stamp::{FAST_SPAN_US, Mode};
use fairq_sched::units::{PS_PER_S, Time};
use std::io;

/// The side of the loop that writes.
pub(super) struct Output {
    mode: Mode,
    /// By host, segments that are written as one.
    joins: Vec<Joined>,
}

/// Segments for a host.
#[derive(Default)]
struct Joined {
    join: Join,
    flow: Option<FlowId>,
    /// The intended times of its segments.
    times: Vec<Time>,
}

impl Output {
    pub(super) fn new(mode: Mode, hosts: usize) -> Self {
        Self { mode, joins: (0..hosts).map(|_| Joined::default()).collect() }
    }

    /// Writes what is ready, at most about `most` times.
    pub(super) fn write_ready(
        &mut self,
        network: &mut Network,
        devices: &mut [Box<dyn Device>],
        clock: &Clock,
        meter: &mut Meter,
        most: u32,
    ) -> io::Result<()> {
        let before = meter.writes;
        while meter.writes - before < u64::from(most)
            && let Some(delivery) = network.next_delivery()
        {
            let host = delivery.host as usize;
            match self.mode {
                Mode::Exact | Mode::Virtual => {
                    meter.leaves(clock.now(), delivery.at);
                    let written = devices[host].write(&delivery.bytes, &delivery.offload);
                    let written = written.map_err(|error| super::of_host(host, &error))?;
                    meter.writes += 1;
                    meter.full += u64::from(written == Written::Full);
                }
                Mode::Fast => self.joins[host].add(&delivery, &mut devices[host], clock, meter)?,
            }
            network.recycle(delivery.bytes);
        }
        for (joined, device) in self.joins.iter_mut().zip(devices) {
            joined.flush(device, clock, meter)?;
        }
        Ok(())
    }
}

impl Joined {
    /// Appends a packet, or writes those before and begins with it.
    fn add(
        &mut self,
        delivery: &Delivery,
        device: &mut Box<dyn Device>,
        clock: &Clock,
        meter: &mut Meter,
    ) -> io::Result<()> {
        const SPAN: Time = Time(FAST_SPAN_US * (PS_PER_S / 1_000_000));
        let is_near = self.times.first().is_some_and(|first| delivery.at.saturating_sub(*first) <= SPAN);
        let follows = is_near && self.flow == Some(delivery.flow);
        if !follows || !self.join.append(&delivery.bytes, &delivery.offload) {
            self.flush(device, clock, meter)?;
            self.join.begin(&delivery.bytes, &delivery.offload);
            self.flow = Some(delivery.flow);
        }
        self.times.push(delivery.at);
        Ok(())
    }

    fn flush(&mut self, device: &mut Box<dyn Device>, clock: &Clock, meter: &mut Meter) -> io::Result<()> {
        if self.times.is_empty() {
            return Ok(());
        }
        let now = clock.now();
        for at in &self.times {
            meter.leaves(now, *at);
        }
        let (packet, offload) = self.join.finish();
        if device.write(packet, &offload)? == Written::Full {
            meter.full += self.times.len() as u64;
        }
        meter.writes += 1;
        self.times.clear();
        Ok(())
    }
}
