//! One discipline before one line, and the outcomes of its packets.

use super::delays::Delays;
use super::direction::Direction;
use super::entries::{Entries, Entry};
use super::flows::Flows;
use super::ideal::{Ideal, Lateness};
use super::report::{Bin, Delay, DisciplineReport, FlowReport, Shown, seconds};
use super::series::{Point, Series};
use super::{Arrival, CapturedBytes, LaneSettings, Outcome, PacketFate, ReplayError, Sink, Under};
use fairq_link::capture::Stamp;
use fairq_link::ecn::Field;
use fairq_link::sketch::Fine;
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::facts::Need;
use fairq_sched::ledger::Ledger;
use fairq_sched::packet::{self, Fates, Marks, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::schedule::fq::OnDrop;
use fairq_sched::service::{Service, Transmitter};
use fairq_sched::units::{PS_PER_S, Rate, Time};
use std::sync::Arc;

/// The gateway of one discipline.
pub(super) struct Lane {
    name: String,
    /// The number of the table that its rows are in.
    table: usize,
    /// The name of its discipline's classifier, if it has one.
    classifier: Option<&'static str>,
    /// Whether its discipline charges flows for packets that it drops.
    charges_drops: bool,
    /// Whether its discipline has classes but a capture has none.
    is_classless: bool,
    /// The message if the discipline guarantees more than the line's rate.
    oversubscribed: Option<String>,
    queue: Ledger<Box<dyn Discipline>>,
    transmitter: Transmitter,
    under: Under,
    /// How long before its end the line asks for the next packet.
    ahead: Time,
    state: State,
    fates: Fates,
    entries: Entries,
    ideal: Option<Ideal>,
    sink: Option<Box<dyn Sink>>,
    wants_bytes: bool,
    /// A tally for each flow, by its number.
    tallies: Vec<Tally>,
    delays: Fine,
    series: Series,
    overtakes: u64,
    /// When the last packet left.
    last: Time,
    /// The number of the packet that arrived last.
    latest: u64,
}

/// The state of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No packet waits.
    Idle,
    /// Packets wait but none may leave before this time.
    Waiting(Time),
    /// The packet at `place` is sent until `end`.
    Sending { place: u32, end: Time },
}

/// Counts of a flow.
#[derive(Default)]
struct Tally {
    packets: u64,
    bytes: u64,
    dropped: u64,
    bytes_dropped: u64,
    delays: Delays,
    series: Series,
}

/// A packet that arrives.
pub(super) struct Arriving<'a> {
    pub(super) packet: u64,
    pub(super) flow: u32,
    pub(super) arrival: &'a Arrival<'a>,
    pub(super) captured: Option<&'a Arc<CapturedBytes>>,
}

/// The latest begin of a transmission: half of what a time can hold, so that its end fits too.
const LATEST: Time = Time(u64::MAX / 2);

impl Lane {
    pub(super) fn new(settings: LaneSettings, table: usize, rate: Rate, seed: u64, with_fluid: bool) -> Self {
        let LaneSettings { name, queue, sink } = settings;
        Self {
            name,
            table,
            classifier: queue.tells_flows_apart().then(|| queue.classifier().name()),
            charges_drops: charges_drops(&queue),
            oversubscribed: queue.oversubscribed(rate),
            is_classless: queue.needs().iter().any(|(_, need)| *need == Need::Class),
            queue: Ledger::new(queue.build(&Line { seed, ..Line::new(rate) })),
            transmitter: Transmitter::new(rate),
            under: Under::Device,
            ahead: Time::ZERO,
            state: State::Idle,
            fates: Fates::new(),
            entries: Entries::default(),
            ideal: with_fluid.then(|| Ideal::new(rate)),
            wants_bytes: sink.as_ref().is_some_and(|sink| sink.wants_bytes()),
            sink,
            tallies: Vec::new(),
            delays: Fine::default(),
            series: Series::default(),
            overtakes: 0,
            last: Time::ZERO,
            latest: 0,
        }
    }

    /// The lane below `under`; a class saves `burst` of its rate.
    pub(super) fn under(self, under: Under, burst: Time) -> Self {
        let ahead = if under == Under::Class { burst } else { Time::ZERO };
        Self { under, ahead, ..self }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The number of the table that its rows are in.
    pub(super) const fn table(&self) -> usize {
        self.table
    }

    pub(super) const fn wants_bytes(&self) -> bool {
        self.wants_bytes
    }

    pub(super) const fn kept_max(&self) -> usize {
        self.entries.most()
    }

    pub(super) fn begin(&mut self, zero: Stamp) {
        if let Some(sink) = &mut self.sink {
            sink.begin(zero);
        }
    }

    /// Runs all that is due before `time`; events at `time` come after arrivals at it.
    pub(super) fn advance_before(&mut self, time: Time, flows: &Flows) -> Result<(), ReplayError> {
        while let Some(due) = self.due().filter(|due| *due < time) {
            self.step(due, flows)?;
        }
        // While the line is idle a periodic update runs once for all missed periods; an update at
        // `time` comes after the arrivals of that instant.
        if self.queue.next_update().is_some_and(|due| due < time) {
            self.queue.update(Time(time.0 - 1));
        }
        Ok(())
    }

    /// A packet arrives. All that is due before it has been run.
    pub(super) fn arrive(&mut self, now: Time, arriving: &Arriving<'_>, flows: &Flows) -> Result<(), ReplayError> {
        let Arriving { packet, flow, arrival, captured } = *arriving;
        let Arrival { length, ref header, link_header, acknowledges, .. } = *arrival;
        self.latest = packet;
        let tally = self.tally(flow);
        tally.packets += 1;
        tally.bytes += u64::from(length);

        let captured = captured.filter(|_| self.wants_bytes);
        let place = self.entries.insert(Entry::new(packet, now, flow, length), captured);
        let (tos, field) = (header.tos, Field::of(header.tos));
        let plain = Packet::new(u64::from(place), now, length);
        let (marks, accepts) = (field.marks(), field.accepts());
        let descriptor = Packet { tos, marks, accepts, link_header, acknowledges, ..plain };
        let is_held = self.queue.enqueue(now, descriptor, header, &mut self.fates).is_some();
        self.settle_fates(now, flows)?;
        if let Some(ideal) = self.ideal.as_mut().filter(|_| is_held) {
            ideal.admitted(now, place, &mut self.entries);
        }
        match self.state {
            State::Idle | State::Waiting(_) => self.ask(now, flows),
            // A transmission that ends now is not interrupted.
            State::Sending { end, .. } if end > now && self.queue.preempts() => {
                let unsent = self.transmitter.interrupt(now, end);
                self.queue.put_back(now, unsent);
                self.state = State::Idle;
                self.ask(now, flows)
            }
            State::Sending { .. } => Ok(()),
        }
    }

    /// No more packets arrive: runs the next `steps` events. Returns whether more may be left.
    pub(super) fn drain(&mut self, steps: u64, flows: &Flows) -> Result<bool, ReplayError> {
        for _ in 0..steps {
            let Some(due) = self.due() else { return Ok(false) };
            self.step(due, flows)?;
        }
        Ok(true)
    }

    /// No more packets arrive: all packets leave.
    pub(super) fn finish(&mut self, flows: &Flows) -> Result<(), ReplayError> {
        while self.drain(u64::MAX, flows)? {}
        if let Some(ideal) = &mut self.ideal {
            ideal.finish(&mut self.entries);
        }
        self.sink.as_mut().map_or(Ok(()), |sink| sink.finish()).map_err(|cause| self.sink_failed(cause))
    }

    /// The time of the next event if no packet arrives; `None` while the line is idle.
    fn due(&self) -> Option<Time> {
        let line = match self.state {
            State::Idle => return None,
            State::Waiting(until) => until,
            State::Sending { end, .. } => end,
        };
        Some(self.queue.next_update().map_or(line, |update| update.min(line)))
    }

    /// Runs what is due at `now`: an end of transmission before a periodic update.
    fn step(&mut self, now: Time, flows: &Flows) -> Result<(), ReplayError> {
        match self.state {
            State::Sending { place, end } if end <= now => {
                self.leave(place, end, flows)?;
                if self.under == Under::Class && self.queue.held().packets == 0 {
                    self.state = State::Idle;
                    return Ok(());
                }
                self.ask(end, flows)
            }
            State::Waiting(until) if until <= now => self.ask(now, flows),
            state => {
                self.queue.update(now);
                // The update may have released a packet.
                if matches!(state, State::Waiting(_)) { self.ask(now, flows) } else { Ok(()) }
            }
        }
    }

    /// The line is free: asks for the next packet and begins to send it.
    fn ask(&mut self, now: Time, flows: &Flows) -> Result<(), ReplayError> {
        let answer = self.queue.dequeue(now, &mut self.fates);
        self.settle_fates(now, flows)?;
        let was_busy = matches!(self.state, State::Sending { .. });
        self.state = match answer {
            Dequeue::Empty => State::Idle,
            // A time in the past would cause an endless loop of calls.
            Dequeue::NotBefore(until) => State::Waiting(self.in_time(until.max(Time(now.0.saturating_add(1))))?),
            Dequeue::Send(packet) => {
                let bits = packet.bits_to_send();
                let longest = u128::from(u64::MAX / 4) * u128::from(self.transmitter.rate().bit_per_s());
                if u128::from(bits) * u128::from(PS_PER_S) > longest {
                    return Err(self.too_long());
                }
                self.in_time(now)?;
                if !was_busy {
                    self.transmitter.begin(now);
                }
                if packet.marks.intersects(Marks::CE) {
                    self.entries.mark(packet.token as u32);
                }
                let end = self.transmitter.send(bits);
                State::Sending { place: packet.token as u32, end: Time(end.0.saturating_sub(self.ahead.0).max(now.0)) }
            }
        };
        Ok(())
    }

    /// The transmission of the packet at `place` has ended.
    fn leave(&mut self, place: u32, now: Time, flows: &Flows) -> Result<(), ReplayError> {
        let (was_first, captured) = self.entries.leave(place);
        let entry = self.entries.get_mut(place);
        entry.departure = Some(now);
        let entry = *entry;
        let delay = (now - entry.arrival).0;
        self.overtakes += u64::from(!was_first);
        self.delays.add(delay);
        self.series.sent(entry.arrival, delay);
        let tally = self.tally(entry.flow);
        tally.delays.add(delay);
        tally.series.sent(entry.arrival, delay);
        self.last = now;
        self.tell(&entry, Outcome::Sent(now), captured, flows)?;
        if self.ideal.as_mut().is_none_or(|ideal| ideal.departed(place, &mut self.entries)) {
            self.entries.free(place);
        }
        Ok(())
    }

    /// Counts the packets that the discipline dropped or marked.
    fn settle_fates(&mut self, now: Time, flows: &Flows) -> Result<(), ReplayError> {
        if self.fates.is_empty() {
            return Ok(());
        }
        let mut fates = std::mem::take(&mut self.fates);
        for fate in fates.drain(..) {
            let place = fate.packet.token as u32;
            let packet::Outcome::Dropped(reason) = fate.outcome else {
                self.entries.get_mut(place).is_marked = true;
                continue;
            };
            let (_, captured) = self.entries.leave(place);
            if let Some(ideal) = &mut self.ideal {
                ideal.dropped(now, place, &mut self.entries);
            }
            let entry = *self.entries.get(place);
            self.entries.free(place);
            self.series.dropped(entry.arrival);
            let tally = self.tally(entry.flow);
            tally.series.dropped(entry.arrival);
            tally.dropped += 1;
            tally.bytes_dropped += u64::from(entry.length);
            self.tell(&entry, Outcome::Dropped(reason), captured, flows)?;
        }
        self.fates = fates;
        Ok(())
    }

    fn tell(
        &mut self,
        entry: &Entry,
        outcome: Outcome,
        captured: Option<Arc<CapturedBytes>>,
        flows: &Flows,
    ) -> Result<(), ReplayError> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let Entry { packet, flow, length, arrival, is_marked, .. } = *entry;
        let (flow_name, captured) = (flows.name(flow), captured.as_deref());
        let fate = PacketFate { packet, flow, flow_name, length, arrival, outcome, is_marked, captured };
        sink.fate(&fate).map_err(|cause| self.sink_failed(cause))
    }

    fn tally(&mut self, flow: u32) -> &mut Tally {
        let flow = flow as usize;
        if flow >= self.tallies.len() {
            self.tallies.resize_with(flow + 1, Tally::default);
        }
        &mut self.tallies[flow]
    }

    fn in_time(&self, time: Time) -> Result<Time, ReplayError> {
        if time > LATEST { Err(self.too_long()) } else { Ok(time) }
    }

    fn too_long(&self) -> ReplayError {
        ReplayError::TooLong { discipline: self.name.clone(), packet: self.latest }
    }

    fn sink_failed(&self, cause: std::io::Error) -> ReplayError {
        ReplayError::Sink { discipline: self.name.clone(), cause }
    }

    /// Notes to read before its rows are trusted.
    fn note(&self, jain_index: Option<f64>) -> Option<String> {
        if self.is_classless {
            let note = "a capture names no class and no class has a dscp or precedence: all packets were in one class";
            return Some(note.to_owned());
        }
        let is_uneven = jain_index.is_some_and(|index| index < UNEVEN) && self.queue.dropped().packets > 0;
        if self.oversubscribed.is_some() {
            return self.oversubscribed.clone();
        }
        (self.charges_drops && is_uneven).then(|| {
            "fq charges a flow for packets that were dropped (the rule of 1990), and traffic that does not slow down stays \
             shut out; fq(on_drop=refund) or wfq do not"
                .to_owned()
        })
    }

    /// Delay over time in bins of at least this width: of all packets, and of the flows with most.
    pub(super) fn series(&self, names: &Flows, width: Time, direction: Option<Direction>) -> Vec<Bin> {
        let mut most: Vec<usize> = (1..self.tallies.len()).collect();
        most.sort_by_key(|flow| std::cmp::Reverse(self.tallies[*flow].packets));
        most.truncate(SERIES_FLOWS_MAX);
        let flows = most.into_iter().map(|flow| (Some(names.name(flow as u32)), &self.tallies[flow].series));
        let each = std::iter::once((None, &self.series)).chain(flows);
        each.flat_map(|(flow, series)| {
            series.points(width).into_iter().map(move |point| {
                let Point { time, sent, dropped, delay_s_mean, delay_s_max } = point;
                let (discipline, flow) = (self.name.clone(), flow.map(str::to_owned));
                let (time_s, bin_s) = (time.as_s(), width.as_s());
                Bin { discipline, direction, flow, time_s, bin_s, sent, dropped, delay_s_mean, delay_s_max }
            })
        })
        .collect()
    }

    pub(super) fn report(&self, names: &Flows, direction: Option<Direction>) -> DisciplineReport {
        let throughput = |bytes: u64| if self.last == Time::ZERO { 0.0 } else { bytes as f64 * 8.0 / self.last.as_s() };
        // The shared row comes last, if it has any packets.
        let (shared, named) = self.tallies.split_at(self.tallies.len().min(1));
        let shared = shared.iter().filter(|tally| tally.packets > 0).map(|tally| (0, tally));
        let rows = named.iter().enumerate().map(|(at, tally)| (at as u32 + 1, tally)).chain(shared);
        let flows: Vec<FlowReport> = rows
            .map(|(flow, tally)| {
                let delays = &tally.delays;
                FlowReport {
                    flow: names.name(flow).to_owned(),
                    packets: tally.packets,
                    bytes: tally.bytes,
                    dropped: tally.dropped,
                    throughput_bit_per_s: throughput(tally.bytes - tally.bytes_dropped),
                    delay: Delay::of_ps(delays.mean(), delays.quantiles(QUANTILES), delays.greatest()),
                }
            })
            .collect();
        let jain_index = jain(self.tallies.iter().skip(1).map(|tally| throughput(tally.bytes - tally.bytes_dropped)));
        let (arrived, dropped) = (self.queue.arrived(), self.queue.dropped());
        let lateness = self.ideal.as_ref().map(Ideal::lateness);
        let late = |of: fn(&Lateness) -> Option<u64>| seconds(lateness.as_ref().and_then(of));
        let mut states = Vec::new();
        self.queue.readings(self.last, &mut |reading| {
            let queue = reading.queue.unwrap_or_default().to_owned();
            let (quantity, unit) = (reading.name.to_owned(), reading.unit.name());
            states.push(Shown { quantity, queue, unit, value: reading.value.real() });
        });
        DisciplineReport {
            name: self.name.clone(),
            direction,
            note: self.note(jain_index),
            classifier: self.classifier,
            rows_by: names.settings().name(),
            flows,
            packets: arrived.packets,
            bytes: arrived.bytes,
            sent: self.queue.sent().packets,
            dropped: dropped.packets,
            bytes_dropped: dropped.bytes,
            marked: self.queue.marked(),
            last_departure_s: self.last.as_s(),
            throughput_bit_per_s: throughput(self.queue.sent().bytes),
            delay: Delay::of_ps(
                self.delays.mean(),
                QUANTILES.map(|part| self.delays.quantile(part)),
                self.delays.greatest(),
            ),
            jain_index,
            overtakes: self.overtakes,
            late_s_mean: lateness.as_ref().and_then(|late| late.mean).map(|ps| ps / PS_PER_S as f64),
            late_s_p99: late(|late| late.p99),
            late_s_max: late(|late| late.max),
            late_bound_s: late(|late| Some(late.bound.0)),
            later_than_bound: lateness.as_ref().map(|late| late.later_than_bound),
            late_packets: lateness.as_ref().map(|late| late.compared),
            late_not_compared: lateness.as_ref().map(|late| late.not_compared),
            states,
        }
    }
}

/// The flows of a lane whose delay over time is reported.
const SERIES_FLOWS_MAX: usize = 12;

/// The quantiles of a [`Delay`].
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// Below this value of Jain's index the report gives the reason.
const UNEVEN: f64 = 0.9;

fn charges_drops(queue: &Queue) -> bool {
    queue.design.is_none() && matches!(&queue.scheduler, SchedulerSettings::Fq(fq) if fq.on_drop == OnDrop::Charge)
}

/// Jain's index (Σx)² / (n Σx²); `None` without values.
fn jain(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0u64, 0.0, 0.0);
    for x in values {
        n += 1;
        sum += x;
        squares += x * x;
    }
    (squares > 0.0).then(|| sum * sum / (n as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_jain_has_its_known_values() {
        let index = |values: &[f64]| jain(values.iter().copied());
        assert_eq!(index(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!(index(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(index(&[7.0; 5]), Some(1.0));
        assert_eq!((index(&[]), index(&[0.0; 3])), (None, None));
    }
}
