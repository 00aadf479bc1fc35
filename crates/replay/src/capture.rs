//! A capture as the stream of a replay.

use super::report::Selected;
use super::strangers::Strangers;
use super::{Arrival, Filter, Gateways, ReplayError, Report, Stamps};
use fairq_link::capture::{Clock, Reader, Record};
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
    let Stream { name, gap_max, only } = *stream;
    let mut gateways = gateways.into();
    let mut clock = Clock::new(gap_max);
    let (mut packets, mut mine, mut replayed) = (0, 0, 0);
    let (mut filtered, mut elsewhere) = (Strangers::default(), Strangers::default());
    let mut tunnels: BTreeMap<&str, u64> = BTreeMap::new();
    while let Some(record) = reader.next() {
        let record = record?;
        packets += 1;
        let frame = Some((record.link_type, record.data));
        let Record { stamp, length, header, link_header, acknowledges, tunnel, .. } = record;
        let (direction, gateway) = gateways.way(&header);
        mine += u64::from(gateway.is_some());
        if only.is_some_and(|only| !only.keeps(&header, direction)) {
            filtered.count(&header);
        } else if let Some(gateway) = gateway {
            let time = clock.arrival(stamp);
            if replayed == 0 {
                gateways.begin(stamp);
            }
            replayed += 1;
            if let Some(tunnel) = tunnel {
                *tunnels.entry(tunnel).or_default() += 1;
            }
            let number = Some(packets - 1);
            gateways.offer(gateway, &Arrival { number, time, length, header, link_header, acknowledges, frame })?;
        } else {
            elsewhere.count(&header);
        }
        if packets % PACKETS_A_REPORT == 0 {
            let bytes_read = reader.bytes_read();
            if !progress(&Progress { bytes_read, packets, now: gateways.now() }) {
                return Err(ReplayError::Stopped);
            }
        }
    }
    let name = name.to_owned();
    if packets == 0 {
        return Err(ReplayError::NoPacket { name });
    }
    if let Some(me) = gateways.me().filter(|_| mine == 0) {
        return Err(ReplayError::NotThere { name, me: me.to_string(), hosts: elsewhere.hosts(&filtered) });
    }
    if let Some(only) = only.filter(|_| replayed == 0) {
        let me = gateways.me().map(ToString::to_string);
        return Err(ReplayError::NothingKept {
            name,
            only: only.to_string(),
            packets: mine,
            me,
            others: filtered.named(),
        });
    }
    // Behind a slow line with a large buffer most of the work is left at this point.
    while gateways.drain(PACKETS_A_REPORT)? {
        if !progress(&Progress { bytes_read: reader.bytes_read(), packets, now: gateways.now() }) {
            return Err(ReplayError::Stopped);
        }
    }
    let me = gateways.me().map(ToString::to_string);
    let mut report = gateways.finish()?;
    let cut = clock.report();
    report.capture.file = Some(name);
    report.capture.stamps = Some(Stamps {
        gap_max_s: gap_max.as_s(),
        gaps_cut: cut.cut_gaps,
        time_cut_s: whole_and_part(cut.time_cut_ps),
        backward_steps: cut.backward_steps,
        restarts: cut.restarts,
        beyond_latest: cut.beyond_latest,
        mended_lengths: reader.mended(),
    });
    let notes = [
        report.capture.note.take(),
        me.as_deref().and_then(|me| not_mine(me, &elsewhere, packets)),
        report
            .directions
            .iter()
            .find(|way| way.packets == 0)
            .map(|way| format!("no packet goes {}", way.direction.name())),
        not_looked_into(&tunnels, replayed),
    ];
    report.capture.selected = Some(Selected {
        me,
        only: only.map(ToString::to_string),
        packets_read: packets,
        packets_filtered: filtered.packets,
        packets_elsewhere: elsewhere.packets,
    });
    report.capture.note = notes.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
    Ok(report)
}

/// The note that packets go neither to `me` nor from there.
fn not_mine(me: &str, elsewhere: &Strangers, packets: u64) -> Option<String> {
    let Strangers { packets: others, .. } = *elsewhere;
    (others > 0).then(|| {
        format!("{others} of {packets} packets go neither to nor from {me} and are left out: {}", elsewhere.named())
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

/// The seconds in `ps`. Joined captures may be years apart; the fraction keeps its precision.
fn whole_and_part(ps: u128) -> f64 {
    let second = u128::from(PS_PER_S);
    (ps / second) as f64 + (ps % second) as f64 / PS_PER_S as f64
}
