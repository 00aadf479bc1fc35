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
use fairq_sched::contract::{Discipline, Handle, Line};
use fairq_sched::facts::Need;
use fairq_sched::packet::{Marks, Packet, Reason};
use fairq_sched::port::{Port, Sink as PortSink};
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
    port: Port<Box<dyn Discipline>, Sending>,
    told: Told,
    /// The number of the packet that arrived last.
    latest: u64,
}

/// What is known of the packets of a lane.
struct Told {
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
    /// Why the sink failed.
    failure: Option<std::io::Error>,
}

/// Tells a lane's records of its packets, whose flows have names.
struct Teller<'a> {
    told: &'a mut Told,
    flows: &'a Flows,
}

/// The transmitter of a lane.
struct Sending {
    transmitter: Transmitter,
    /// How long before its end the line asks for the next packet.
    ahead: Time,
    /// When the present transmission begins.
    from: Time,
    /// Whether a transmission would end later than a time can hold.
    is_too_long: bool,
}

impl Service for Sending {
    fn begin(&mut self, now: Time) {
        self.from = now;
        self.transmitter.begin(now);
    }

    fn send(&mut self, bits: u64) -> Time {
        let longest = u128::from(u64::MAX / 4) * u128::from(self.transmitter.rate().bit_per_s());
        if u128::from(bits) * u128::from(PS_PER_S) > longest || self.from > LATEST {
            self.is_too_long = true;
            return Time::NEVER;
        }
        let end = self.transmitter.send(bits);
        self.from = Time(end.0.saturating_sub(self.ahead.0).max(self.from.0));
        self.from
    }

    fn interrupt(&mut self, now: Time, end: Time) -> u32 {
        self.transmitter.interrupt(now, end)
    }
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

impl PortSink for Teller<'_> {
    fn begins(&mut self, packet: &Packet, _: Time, _: Time) {
        if packet.marks.intersects(Marks::CE) {
            self.told.entries.mark(packet.token as u32);
        }
    }

    fn joined(&mut self, packet: &Packet, at: Time, _: Handle) {
        let Told { ideal, entries, .. } = &mut *self.told;
        if let Some(ideal) = ideal {
            ideal.admitted(at, packet.token as u32, entries);
        }
    }

    fn ended(&mut self, packet: &Packet, at: Time) {
        self.told.leave(packet.token as u32, at, self.flows);
    }

    fn dropped(&mut self, packet: &Packet, at: Time, why: Reason) {
        self.told.drop(packet.token as u32, at, why, self.flows);
    }

    fn marked(&mut self, packet: &Packet, _: Time, _: Marks) {
        self.told.entries.get_mut(packet.token as u32).is_marked = true;
    }
}

impl Told {
    /// The transmission of the packet at `place` has ended.
    fn leave(&mut self, place: u32, now: Time, flows: &Flows) {
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
        self.tell(&entry, Outcome::Sent(now), captured, flows);
        if self.ideal.as_mut().is_none_or(|ideal| ideal.departed(place, &mut self.entries)) {
            self.entries.free(place);
        }
    }

    /// The discipline dropped the packet at `place`.
    fn drop(&mut self, place: u32, now: Time, reason: Reason, flows: &Flows) {
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
        self.tell(&entry, Outcome::Dropped(reason), captured, flows);
    }

    /// Tells the sink, unless it has failed.
    fn tell(&mut self, entry: &Entry, outcome: Outcome, captured: Option<Arc<CapturedBytes>>, flows: &Flows) {
        let Some(sink) = self.sink.as_mut().filter(|_| self.failure.is_none()) else { return };
        let Entry { packet, flow, length, arrival, is_marked, .. } = *entry;
        let (flow_name, captured) = (flows.name(flow), captured.as_deref());
        let fate = PacketFate { packet, flow, flow_name, length, arrival, outcome, is_marked, captured };
        self.failure = sink.fate(&fate).err();
    }

    fn tally(&mut self, flow: u32) -> &mut Tally {
        let flow = flow as usize;
        if flow >= self.tallies.len() {
            self.tallies.resize_with(flow + 1, Tally::default);
        }
        &mut self.tallies[flow]
    }
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
        let transmitter = Transmitter::new(rate);
        let sending = Sending { transmitter, ahead: Time::ZERO, from: Time::ZERO, is_too_long: false };
        Self {
            name,
            table,
            classifier: queue.tells_flows_apart().then(|| queue.classifier().name()),
            charges_drops: charges_drops(&queue),
            oversubscribed: queue.oversubscribed(rate),
            is_classless: queue.needs().iter().any(|(_, need)| *need == Need::Class),
            port: Port::new(queue.build(&Line { seed, ..Line::new(rate) }), sending).interrupting(),
            latest: 0,
            told: Told {
                entries: Entries::default(),
                ideal: with_fluid.then(|| Ideal::new(rate)),
                wants_bytes: sink.as_ref().is_some_and(|sink| sink.wants_bytes()),
                sink,
                tallies: Vec::new(),
                delays: Fine::default(),
                series: Series::default(),
                overtakes: 0,
                last: Time::ZERO,
                failure: None,
            },
        }
    }

    /// The lane below `under`; a class saves `burst` of its rate, and asks only for packets.
    pub(super) fn under(mut self, under: Under, burst: Time) -> Self {
        let is_class = under == Under::Class;
        self.port = self.port.telling_idle(!is_class);
        if is_class {
            self.port.service_mut().ahead = burst;
        }
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The number of the table that its rows are in.
    pub(super) const fn table(&self) -> usize {
        self.table
    }

    pub(super) const fn wants_bytes(&self) -> bool {
        self.told.wants_bytes
    }

    pub(super) const fn kept_max(&self) -> usize {
        self.told.entries.most()
    }

    pub(super) fn begin(&mut self, zero: Stamp) {
        if let Some(sink) = &mut self.told.sink {
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
        if self.port.next_update().is_some_and(|due| due < time) {
            self.port.discipline_mut().update(Time(time.0 - 1));
        }
        Ok(())
    }

    /// A packet arrives. All that is due before it has been run.
    pub(super) fn arrive(&mut self, now: Time, arriving: &Arriving<'_>, flows: &Flows) -> Result<(), ReplayError> {
        let Arriving { packet, flow, arrival, captured } = *arriving;
        let Arrival { length, ref header, link_header, acknowledges, .. } = *arrival;
        self.latest = packet;
        let tally = self.told.tally(flow);
        tally.packets += 1;
        tally.bytes += u64::from(length);

        let captured = captured.filter(|_| self.told.wants_bytes);
        let place = self.told.entries.insert(Entry::new(packet, now, flow, length), captured);
        let (tos, field) = (header.tos, Field::of(header.tos));
        let plain = Packet::new(u64::from(place), now, length);
        let (marks, accepts) = (field.marks(), field.accepts());
        let descriptor = Packet { tos, marks, accepts, link_header, acknowledges, ..plain };
        self.port.arrive(now, descriptor, header, &mut Teller { told: &mut self.told, flows });
        self.check()
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
        if let Some(ideal) = &mut self.told.ideal {
            ideal.finish(&mut self.told.entries);
        }
        self.told.sink.as_mut().map_or(Ok(()), |sink| sink.finish()).map_err(|cause| self.sink_failed(cause))
    }

    /// The time of the next event if no packet arrives; `None` while the line is idle.
    fn due(&self) -> Option<Time> {
        let line = self.port.next_end()?;
        Some(self.port.next_update().map_or(line, |update| update.min(line)))
    }

    /// Runs what is due at `now`: an end of transmission before a periodic update.
    fn step(&mut self, now: Time, flows: &Flows) -> Result<(), ReplayError> {
        let is_end = self.port.next_end() == Some(now);
        let mut teller = Teller { told: &mut self.told, flows };
        if is_end {
            self.port.end(now, &mut teller);
        } else {
            self.port.update(now, &mut teller);
        }
        self.check()
    }

    /// Whether the sink took all that it was told, and times are within reason.
    fn check(&mut self) -> Result<(), ReplayError> {
        if let Some(cause) = self.told.failure.take() {
            return Err(self.sink_failed(cause));
        }
        let waits_long = self.port.sending().is_none() && self.port.next_end().is_some_and(|until| until > LATEST);
        if self.port.service().is_too_long || waits_long { Err(self.too_long()) } else { Ok(()) }
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
        let is_uneven = jain_index.is_some_and(|index| index < UNEVEN) && self.port.counts().dropped.packets > 0;
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
        let mut most: Vec<usize> = (1..self.told.tallies.len()).collect();
        most.sort_by_key(|flow| std::cmp::Reverse(self.told.tallies[*flow].packets));
        most.truncate(SERIES_FLOWS_MAX);
        let flows = most.into_iter().map(|flow| (Some(names.name(flow as u32)), &self.told.tallies[flow].series));
        let each = std::iter::once((None, &self.told.series)).chain(flows);
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
        let throughput =
            |bytes: u64| if self.told.last == Time::ZERO { 0.0 } else { bytes as f64 * 8.0 / self.told.last.as_s() };
        // The shared row comes last, if it has any packets.
        let (shared, named) = self.told.tallies.split_at(self.told.tallies.len().min(1));
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
        let jain_index =
            jain(self.told.tallies.iter().skip(1).map(|tally| throughput(tally.bytes - tally.bytes_dropped)));
        let counts = self.port.counts();
        let (arrived, dropped) = (counts.arrived, counts.dropped);
        let lateness = self.told.ideal.as_ref().map(Ideal::lateness);
        let late = |of: fn(&Lateness) -> Option<u64>| seconds(lateness.as_ref().and_then(of));
        let mut states = Vec::new();
        self.port.discipline().readings(self.told.last, &mut |reading| {
            let subqueue = reading.part().into_owned();
            let (quantity, unit) = (reading.name.to_owned(), reading.unit.name());
            states.push(Shown { quantity, subqueue, unit, value: reading.value.real() });
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
            sent: counts.sent.packets,
            dropped: dropped.packets,
            bytes_dropped: dropped.bytes,
            marked: counts.marked.packets,
            last_departure_s: self.told.last.as_s(),
            throughput_bit_per_s: throughput(counts.sent.bytes),
            delay: Delay::of_ps(
                self.told.delays.mean(),
                QUANTILES.map(|part| self.told.delays.quantile(part)),
                self.told.delays.greatest(),
            ),
            jain_index,
            overtakes: self.told.overtakes,
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
