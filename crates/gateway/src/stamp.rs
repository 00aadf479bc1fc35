//! Whether a run may be believed, in words and in values.
//!
//! Every limit that was crossed is a reason; a run without one is *valid*. The verdict is a
//! function of what was measured: a machine that is too slow, a clock that wakes late and a buffer
//! that overflowed before the gateway all show here, and nothing is repaired.

use crate::measured::{Effort, Lateness, Refused};
use serde::Serialize;

/// How departures are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Each packet is a write of its own.
    #[default]
    Exact,
    /// Consecutive segments of a flow that leave within [`FAST_SPAN_US`] are written as one.
    Fast,
    /// Packets are given to hosts that are kernels in virtual time, which stands still meanwhile:
    /// none is late.
    Virtual,
}

/// How far apart the first and the last segment of one write leave in [`Mode::Fast`], in
/// microseconds.
pub const FAST_SPAN_US: u64 = 100;

/// The verdict of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stamp {
    /// Whether it has no reason to be doubted.
    pub is_valid: bool,
    /// How departures were written.
    pub mode: Mode,
    /// In words: `valid`, `valid in virtual time`, or `doubtful: ` and the reasons.
    pub verdict: String,
    /// Every reason.
    pub reasons: Vec<Reason>,
}

/// Why a run is doubtful.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// Which limit was crossed.
    pub of: Limit,
    /// In words.
    pub text: String,
    /// What was measured.
    pub value: f64,
    /// What it may be at most.
    pub limit: f64,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The 99.9th percentile of lateness.
    Lateness,
    /// Packets that were lost before the gateway read them.
    LostBefore,
    /// Packets that a host did not take.
    LostBehind,
    /// Packets that found no memory.
    NoRoom,
    /// The time in which departures were overdue.
    Behind,
}

/// The part of a run in which departures may be overdue by more than a packet time.
const BEHIND_MAX: f64 = 0.01;

/// The verdict on what was measured.
#[must_use]
pub fn judge(mode: Mode, lateness: &Lateness, effort: &Effort, refused: &Refused) -> Stamp {
    let mut reasons = Vec::new();
    let mut doubt = |of, value: f64, limit: f64, text: String| {
        if value > limit {
            reasons.push(Reason { of, text, value, limit });
        }
    };
    let (packet_time, span) = match mode {
        Mode::Exact | Mode::Virtual => (effort.packet_time_s, ""),
        // A segment may wait that long for those that are written with it.
        Mode::Fast => (effort.packet_time_s + FAST_SPAN_US as f64 * 1e-6, " and the span of a write"),
    };
    let late = lateness.p99_9_s.unwrap_or(0.0);
    let text =
        format!("99.9th percentile of lateness above one packet time{span} ({} > {})", in_us(late), in_us(packet_time));
    doubt(Limit::Lateness, late, packet_time, text);
    let lost = effort.lost_before;
    let text = format!("{} of hosts lost before the gateway read them", packets(lost));
    doubt(Limit::LostBefore, lost as f64, 0.0, text);
    let lost = effort.lost_behind;
    doubt(Limit::LostBehind, lost as f64, 0.0, format!("{} that a host had no room for", packets(lost)));
    let lost = refused.no_room;
    doubt(Limit::NoRoom, lost as f64, 0.0, format!("{} dropped for want of memory", packets(lost)));
    let behind = effort.behind_share;
    let text = format!("capacity: departures were overdue in {:.1} % of the run", behind * 100.0);
    doubt(Limit::Behind, behind, BEHIND_MAX, text);
    let words: Vec<&str> = reasons.iter().map(|reason| reason.text.as_str()).collect();
    let valid = if mode == Mode::Virtual { "valid in virtual time" } else { "valid" };
    let verdict = if words.is_empty() { valid.to_owned() } else { format!("doubtful: {}", words.join("; ")) };
    Stamp { is_valid: reasons.is_empty(), mode, verdict, reasons }
}

fn packets(count: u64) -> String {
    if count == 1 { "1 packet".to_owned() } else { format!("{count} packets") }
}

fn in_us(seconds: f64) -> String {
    format!("{:.0} us", seconds * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was measured on a quiet machine behind a line of 12 Mbit/s.
    fn quiet() -> (Lateness, Effort, Refused) {
        let lateness = Lateness { count: 1000, p99_9_s: Some(0.0004), ..Lateness::default() };
        let effort = Effort { packet_time_s: 0.001, behind_share: 0.001, ..Effort::default() };
        (lateness, effort, Refused { no_route: 12, not_ip: 3, no_room: 0 })
    }

    #[test]
    fn a_run_within_all_limits_is_valid() {
        let (lateness, effort, refused) = quiet();
        let stamp = judge(Mode::Exact, &lateness, &effort, &refused);
        assert_eq!((stamp.is_valid, stamp.verdict.as_str(), stamp.reasons.len()), (true, "valid", 0));
        let stamp = judge(Mode::Exact, &Lateness::default(), &effort, &refused);
        assert!(stamp.is_valid, "a run without a packet has nothing to doubt");
    }

    #[test]
    fn each_limit_is_a_reason_of_its_own() {
        type Change = fn(&mut Lateness, &mut Effort, &mut Refused);
        let cases: [(Limit, Change, &str); 5] = [
            (
                Limit::Lateness,
                |lateness, _, _| lateness.p99_9_s = Some(0.0011),
                "99.9th percentile of lateness above one packet time (1100 us > 1000 us)",
            ),
            (
                Limit::LostBefore,
                |_, effort, _| effort.lost_before = 7,
                "7 packets of hosts lost before the gateway read them",
            ),
            (Limit::LostBehind, |_, effort, _| effort.lost_behind = 1, "1 packet that a host had no room for"),
            (Limit::NoRoom, |_, _, refused| refused.no_room = 2, "2 packets dropped for want of memory"),
            (
                Limit::Behind,
                |_, effort, _| effort.behind_share = 0.034,
                "capacity: departures were overdue in 3.4 % of the run",
            ),
        ];
        for (limit, change, words) in cases {
            let (mut lateness, mut effort, mut refused) = quiet();
            change(&mut lateness, &mut effort, &mut refused);
            let stamp = judge(Mode::Exact, &lateness, &effort, &refused);
            let found: Vec<(Limit, &str)> = stamp.reasons.iter().map(|r| (r.of, r.text.as_str())).collect();
            assert_eq!((stamp.is_valid, found), (false, vec![(limit, words)]));
            assert_eq!(stamp.verdict, format!("doubtful: {words}"));
        }
    }

    #[test]
    fn all_reasons_are_told() {
        let (lateness, mut effort, mut refused) = quiet();
        (effort.lost_before, refused.no_room) = (7, 2);
        let verdict = judge(Mode::Exact, &lateness, &effort, &refused).verdict;
        let expected =
            "doubtful: 7 packets of hosts lost before the gateway read them; 2 packets dropped for want of memory";
        assert_eq!(verdict, expected);
    }

    #[test]
    fn in_virtual_time_only_what_was_lost_is_doubtful() {
        let (_, mut effort, refused) = quiet();
        let stamp = judge(Mode::Virtual, &Lateness::default(), &effort, &refused);
        assert_eq!((stamp.is_valid, stamp.verdict.as_str()), (true, "valid in virtual time"));
        effort.lost_behind = 2;
        let verdict = judge(Mode::Virtual, &Lateness::default(), &effort, &refused).verdict;
        assert_eq!(verdict, "doubtful: 2 packets that a host had no room for");
    }

    #[test]
    fn in_fast_mode_a_segment_may_wait_for_those_of_its_write() {
        let (mut lateness, effort, refused) = quiet();
        for (late, is_valid) in [(0.00109, true), (0.00111, false)] {
            lateness.p99_9_s = Some(late);
            assert_eq!(judge(Mode::Fast, &lateness, &effort, &refused).is_valid, is_valid);
            assert!(!judge(Mode::Exact, &lateness, &effort, &refused).is_valid);
        }
    }
}
