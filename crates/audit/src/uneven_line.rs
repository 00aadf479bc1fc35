//! A line of varying rate in front of any discipline: each transmission lasts a random time.
//!
//! The discipline is not told the rate. Arrivals of the instant of an end come before it.

use crate::draw::Draw;
use crate::driver::{Arrival, End, Journey, Noted, header};
use fairq_sched::contract::Discipline;
use fairq_sched::packet::{Marks, Packet};
use fairq_sched::port::Port;
use fairq_sched::service::Service;
use fairq_sched::units::Time;

/// A transmission takes from nothing to four times `usual`, and now and then fifty times.
struct Uneven<'a> {
    usual: Time,
    draw: &'a mut Draw,
    end: Time,
}

impl Service for Uneven<'_> {
    fn begin(&mut self, now: Time) {
        self.end = now;
    }

    fn send(&mut self, _bits: u64) -> Time {
        let factor = if self.draw.once_in(20) { 50_000 } else { self.draw.below(4000) };
        self.end = Time(self.end.0 + self.usual.0 * factor / 1000);
        self.end
    }

    fn interrupt(&mut self, _now: Time, _end: Time) -> u32 {
        unreachable!("this line interrupts nothing")
    }
}

/// Sends `arrivals`, which are in order of time, through `discipline`, and gives what became of
/// each.
///
/// # Panics
/// If the discipline holds packets back.
pub fn run(discipline: impl Discipline, arrivals: &[Arrival], usual: Time, draw: &mut Draw) -> Vec<Journey> {
    let (mut journeys, mut order): (Vec<Journey>, Vec<u64>) = (Vec::new(), Vec::new());
    let mut port = Port::new(discipline, Uneven { usual, draw, end: Time::ZERO }).gathering();
    let mut rest = arrivals.iter().copied().peekable();
    loop {
        let due = rest.peek().map(|arrival| arrival.time);
        let Some(now) = port.next_end().into_iter().chain(due).min() else { return journeys };
        while let Some(arrival) = rest.next_if(|arrival| arrival.time == now) {
            let packet = Packet::new(journeys.len() as u64, now, arrival.length);
            journeys.push(Journey { arrival, end: End::Inside, marks: Marks::NONE, handle: None, interruptions: 0 });
            port.arrive(now, packet, &header(arrival.flow), &mut Noted { journeys: &mut journeys, order: &mut order });
        }
        port.end(now, &mut Noted { journeys: &mut journeys, order: &mut order });
        assert!(port.sending().is_some() || port.held().packets == 0, "packets are held back at {now:?}");
    }
}
