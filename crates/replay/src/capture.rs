//! A capture as the stream of a replay.

use super::report::Selected;
use super::strangers::Strangers;
use super::{Arrival, Filter, Gateways, ReplayError, Report, Stamps};
use fairq_link::capture::{Clock, Doubles, Reader, Record, identify};
use fairq_sched::units::{PS_PER_S, Time};
use std::collections::BTreeMap;
use std::io::Read;

/// The progress of a replay.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Bytes of the capture that were read.
    pub bytes_read: u64,
    /// Packets that have arrived.
    pub packets: u64,
    /// The time of the last arrival.
    pub now: Time,
}

/// Packets between two reports of progress.
const PACKETS_A_REPORT: u64 = 4096;

/// How a capture becomes a stream.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    /// The name of the capture, for errors.
    pub name: &'a str,
    /// Gaps above this are shortened to it.
    pub gap_max: Time,
    /// The filter of its packets; `None` keeps all.
    pub only: Option<&'a Filter>,
}

/// Replays a capture: each packet arrives at its stamp less that of the first, never before its
/// predecessor. Packets that the filter does not keep, or that pass no gateway, are left out: the
/// replay is that of a capture without them. `progress` returns `false` to stop.
///
/// # Errors
/// If no packet is replayed, the capture cannot be read to its end, or as
/// [`Replay::offer`](super::Replay::offer).
pub fn replay_capture<R: Read>(
    reader: &mut Reader<R>,
    stream: &Stream<'_>,
    gateways: impl Into<Gateways>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, ReplayError> {
    let mut passage = Passage::new(*stream, gateways.into());
    while let Some(record) = reader.next() {
        passage.take(&record?)?;
        if passage.packets.is_multiple_of(PACKETS_A_REPORT) && !progress(&passage.progress(reader.bytes_read())) {
            return Err(ReplayError::Stopped);
        }
    }
    passage.check()?;
    // Behind a slow line with a large buffer most of the work is left at this point.
    while passage.gateways.drain(PACKETS_A_REPORT)? {
        if !progress(&passage.progress(reader.bytes_read())) {
            return Err(ReplayError::Stopped);
        }
    }
    passage.report(reader)
}

/// A capture on its way through the gateways.
struct Passage<'a> {
    stream: Stream<'a>,
    gateways: Gateways,
    clock: Clock,
    /// Packets that were read.
    packets: u64,
    /// Those of them that a gateway is for.
    mine: u64,
    /// Those of them that were offered to it.
    replayed: u64,
    filtered: Strangers,
    elsewhere: Strangers,
    /// Packets that carry others, by the name of the tunnel.
    tunnels: BTreeMap<&'static str, u64>,
    doubles: Doubles,
    /// The head of the packet's identity.
    head: Vec<u8>,
}

impl<'a> Passage<'a> {
    fn new(stream: Stream<'a>, gateways: Gateways) -> Self {
        Self {
            stream,
            gateways,
            clock: Clock::new(stream.gap_max),
            packets: 0,
            mine: 0,
            replayed: 0,
            filtered: Strangers::default(),
            elsewhere: Strangers::default(),
            tunnels: BTreeMap::new(),
            doubles: Doubles::default(),
            head: Vec::new(),
        }
    }

    /// The next packet of the capture: offers it to its gateway, or counts why not.
    fn take(&mut self, record: &Record<'_>) -> Result<(), ReplayError> {
        let Record { stamp, length, header, link_header, acknowledges, tunnel, data, link_type } = *record;
        let number = Some(self.packets);
        self.packets += 1;
        let (direction, gateway) = self.gateways.way(&header);
        self.mine += u64::from(gateway.is_some());
        if self.stream.only.is_some_and(|only| !only.keeps(&header, direction)) {
            self.filtered.count(&header);
            return Ok(());
        }
        let Some(gateway) = gateway else {
            self.elsewhere.count(&header);
            return Ok(());
        };
        if self.replayed == 0 {
            self.gateways.begin(stamp);
        }
        self.replayed += 1;
        if let Some(tunnel) = tunnel {
            *self.tunnels.entry(tunnel).or_default() += 1;
        }
        self.head.clear();
        if let Some(found) = identify(link_type, data, length, &mut self.head) {
            self.doubles.take(stamp, &found, &self.head);
        }
        let (time, frame) = (self.clock.arrival(stamp), Some((link_type, data)));
        self.gateways.offer(gateway, &Arrival { number, time, length, header, link_header, acknowledges, frame })
    }

    fn progress(&self, bytes_read: u64) -> Progress {
        Progress { bytes_read, packets: self.packets, now: self.gateways.now() }
    }

    fn me(&self) -> Option<String> {
        self.gateways.me().map(ToString::to_string)
    }

    fn only(&self) -> Option<String> {
        self.stream.only.map(ToString::to_string)
    }

    /// The error that no packet was replayed.
    fn check(&self) -> Result<(), ReplayError> {
        let name = self.stream.name.to_owned();
        match (self.me(), self.only()) {
            _ if self.packets == 0 => Err(ReplayError::NoPacket { name }),
            (Some(me), _) if self.mine == 0 => {
                Err(ReplayError::NotThere { name, me, hosts: self.elsewhere.hosts(&self.filtered) })
            }
            (me, Some(only)) if self.replayed == 0 => {
                Err(ReplayError::NothingKept { name, only, packets: self.mine, me, others: self.filtered.named() })
            }
            _ => Ok(()),
        }
    }

    fn report<R: Read>(self, reader: &mut Reader<R>) -> Result<Report, ReplayError> {
        let (me, only, cut) = (self.me(), self.only(), self.clock.report());
        let Self { stream, gateways, packets, replayed, filtered, elsewhere, tunnels, doubles, .. } = self;
        let mut report = gateways.finish()?;
        let quiet = report.directions.iter().find(|way| way.packets == 0);
        let notes = [
            report.capture.note.take(),
            me.as_deref().and_then(|me| not_mine(me, &elsewhere, packets)),
            quiet.map(|way| format!("no packet goes {}", way.direction.name())),
            not_looked_into(&tunnels, replayed),
            there_twice(doubles.count(), replayed),
            reader.take_cut().map(|cut| format!("{cut}; the packets before are taken")),
        ];
        report.capture.note = notes.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
        report.capture.file = Some(stream.name.to_owned());
        report.capture.selected = Some(Selected {
            me,
            only,
            packets_read: packets,
            packets_filtered: filtered.packets,
            packets_elsewhere: elsewhere.packets,
        });
        report.capture.stamps = Some(Stamps {
            gap_max_s: stream.gap_max.as_s(),
            gaps_cut: cut.cut_gaps,
            time_cut_s: whole_and_part(cut.time_cut_ps),
            backward_steps: cut.backward_steps,
            restarts: cut.restarts,
            beyond_latest: cut.beyond_latest,
            mended_lengths: reader.mended(),
        });
        Ok(report)
    }
}

/// The note that packets do not go over the line of `me`.
fn not_mine(me: &str, elsewhere: &Strangers, packets: u64) -> Option<String> {
    let (others, named) = (elsewhere.packets, elsewhere.named());
    (others > 0).then(|| {
        format!("{others} of {packets} packets do not go between {me} and another address and are left out: {named}")
    })
}

/// The note that packets were inside others: all packets in one tunnel are one flow.
fn not_looked_into(tunnels: &BTreeMap<&str, u64>, packets: u64) -> Option<String> {
    let carriers: u64 = tunnels.values().sum();
    let names = tunnels.keys().copied().collect::<Vec<_>>().join(", ");
    (carriers > 0).then(|| {
        format!(
            "{carriers} of {packets} packets carry others ({names}), which were not looked into: all that is between the same \
             two ends of a tunnel is one flow; capture inside the tunnel, or behind it"
        )
    })
}

/// The note that packets are there twice, which doubles the load.
fn there_twice(doubles: u64, packets: u64) -> Option<String> {
    (doubles > 0).then(|| {
        format!(
            "{doubles} of {packets} packets are there twice within 1 ms, as a capture of all interfaces, of a bridge or of \
             a mirror records them, and load the line twice: capture on one interface, or take them out by editcap -D 50"
        )
    })
}

/// The seconds in `ps`. Joined captures may be years apart; the fraction keeps its precision.
fn whole_and_part(ps: u128) -> f64 {
    let second = u128::from(PS_PER_S);
    (ps / second) as f64 + (ps % second) as f64 / PS_PER_S as f64
}
