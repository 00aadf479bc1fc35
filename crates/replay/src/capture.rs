//! A capture as the stream of a replay.

use super::{Arrival, Replay, ReplayError, Report, Stamps};
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

/// Replays a capture: each packet arrives at its stamp less that of the first, never before its
/// predecessor; gaps above `gap_max` are shortened to it. `name` is the capture's, for errors.
/// `progress` returns `false` to stop.
///
/// # Errors
/// If the capture has no packet or cannot be read to its end, or as [`Replay::offer`].
pub fn replay_capture<R: Read>(
    reader: &mut Reader<R>,
    name: &str,
    gap_max: Time,
    mut replay: Replay,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, ReplayError> {
    let mut clock = Clock::new(gap_max);
    let mut packets = 0;
    let mut tunnels: BTreeMap<&str, u64> = BTreeMap::new();
    while let Some(record) = reader.next() {
        let record = record?;
        let time = clock.arrival(record.stamp);
        if packets == 0 {
            replay.begin(record.stamp);
        }
        packets += 1;
        let frame = Some((record.link_type, record.data));
        let Record { length, header, link_header, acknowledges, tunnel, .. } = record;
        if let Some(tunnel) = tunnel {
            *tunnels.entry(tunnel).or_default() += 1;
        }
        replay.offer(&Arrival { time, length, header, link_header, acknowledges, frame })?;
        if packets % PACKETS_A_REPORT == 0 {
            let bytes_read = reader.bytes_read();
            if !progress(&Progress { bytes_read, packets, now: time }) {
                return Err(ReplayError::Stopped);
            }
        }
    }
    if packets == 0 {
        return Err(ReplayError::NoPacket { name: name.to_owned() });
    }
    // Behind a slow line with a large buffer most of the work is left at this point.
    while replay.drain(PACKETS_A_REPORT)? {
        if !progress(&Progress { bytes_read: reader.bytes_read(), packets, now: replay.now }) {
            return Err(ReplayError::Stopped);
        }
    }
    let mut report = replay.finish()?;
    let cut = clock.report();
    report.capture.file = Some(name.to_owned());
    report.capture.stamps = Some(Stamps {
        gap_max_s: gap_max.as_s(),
        gaps_cut: cut.cut_gaps,
        time_cut_s: whole_and_part(cut.time_cut_ps),
        backward_steps: cut.backward_steps,
        restarts: cut.restarts,
        beyond_latest: cut.beyond_latest,
        mended_lengths: reader.mended(),
    });
    let notes = [report.capture.note.take(), not_looked_into(&tunnels, packets)];
    report.capture.note = notes.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
    Ok(report)
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
