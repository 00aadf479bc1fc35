//! A line of varying rate in front of any discipline: each transmission lasts a random time.
//!
//! The discipline is not told the rate; the line calls it when a transmission ends. Arrivals of the
//! same instant come before that call.

use fairq_audit::draw::Draw;
use fairq_audit::driver::{Arrival, End, Journey, header};
use fairq_sched::contract::{Dequeue, Discipline};
use fairq_sched::packet::{Fates, Marks, Outcome, Packet};
use fairq_sched::units::Time;

/// Sends `arrivals`, which are in order of time, through `discipline`, and gives what became of
/// each. A transmission takes from nothing to four times `usual`, and now and then fifty times.
///
/// # Panics
/// If the discipline holds packets back.
pub(crate) fn run(mut discipline: impl Discipline, arrivals: &[Arrival], usual: Time, draw: &mut Draw) -> Vec<Journey> {
    let mut journeys: Vec<Journey> = Vec::new();
    let mut fates = Fates::new();
    // When the transmission that goes on ends.
    let mut free: Option<Time> = None;
    let mut rest = arrivals.iter().copied().peekable();
    loop {
        let due = rest.peek().map(|arrival| arrival.time);
        let Some(now) = free.into_iter().chain(due).min() else { return journeys };
        while let Some(arrival) = rest.next_if(|arrival| arrival.time == now) {
            let packet = Packet::new(journeys.len() as u64, now, arrival.length);
            journeys.push(Journey { arrival, end: End::Inside, marks: Marks::NONE, handle: None, interruptions: 0 });
            discipline.enqueue(now, packet, &header(arrival.flow), &mut fates);
        }
        if free.is_none_or(|free| free == now) {
            free = match discipline.dequeue(now, &mut fates) {
                Dequeue::Send(packet) => {
                    let factor = if draw.once_in(20) { 50_000 } else { draw.below(4000) };
                    let end = Time(now.0 + usual.0 * factor / 1000);
                    journeys[packet.token as usize].end = End::Sent { start: now, end };
                    Some(end)
                }
                Dequeue::Empty => None,
                Dequeue::NotBefore(time) => panic!("nothing before {time:?}"),
            };
        }
        for fate in fates.drain(..) {
            if let Outcome::Dropped(reason) = fate.outcome {
                journeys[fate.packet.token as usize].end = End::Dropped(now, reason);
            }
        }
    }
}
