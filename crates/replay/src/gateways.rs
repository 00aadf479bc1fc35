//! The gateways of a replay: one before a line, or one before each direction of a user's line.

use super::answer::Answer;
use super::direction::{Direction, Me};
use super::report::Traffic;
use super::{Arrival, Replay, ReplayError, Report};
use fairq_link::capture::Stamp;
use fairq_sched::packet::Header;
use fairq_sched::units::Time;

/// A replay for each line. Their clock is one.
pub struct Gateways {
    me: Option<Me>,
    each: Vec<Replay>,
}

impl From<Replay> for Gateways {
    /// One gateway, which all packets pass.
    fn from(replay: Replay) -> Self {
        Self::new(None, vec![replay])
    }
}

impl Gateways {
    /// One gateway, which all packets pass; with `me` one for the packets to there and one for those
    /// from there, and other packets pass neither.
    ///
    /// # Panics
    /// If there are more or fewer.
    #[must_use]
    pub fn new(me: Option<Me>, each: Vec<Replay>) -> Self {
        assert_eq!(each.len(), 1 + usize::from(me.is_some()), "a gateway for each direction");
        Self { me, each }
    }

    pub(super) const fn me(&self) -> Option<&Me> {
        self.me.as_ref()
    }

    /// The direction of a packet, and the gateway that it passes, if it passes one.
    pub(super) fn way(&self, header: &Header) -> (Option<Direction>, Option<usize>) {
        let Some(me) = &self.me else { return (None, Some(0)) };
        let direction = me.direction(header);
        (direction, direction.map(|direction| usize::from(direction == Direction::Up)))
    }

    pub(super) fn begin(&mut self, zero: Stamp) {
        self.each.iter_mut().for_each(|replay| replay.begin(zero));
    }

    pub(super) fn offer(&mut self, gateway: usize, arrival: &Arrival<'_>) -> Result<(), ReplayError> {
        self.each[gateway].offer(arrival)
    }

    /// The time of the last arrival at any gateway.
    pub(super) fn now(&self) -> Time {
        self.each.iter().map(|replay| replay.now).max().unwrap_or(Time::ZERO)
    }

    pub(super) fn drain(&mut self, steps: u64) -> Result<bool, ReplayError> {
        self.each.iter_mut().try_fold(false, |is_busy, replay| Ok(replay.drain(steps)? || is_busy))
    }

    /// The report of all, those of down before those of up.
    pub(super) fn finish(mut self) -> Result<Report, ReplayError> {
        // Bins of one width in both directions.
        let now = self.now();
        self.each.iter_mut().for_each(|replay| replay.pass(now));
        let reports = self.each.into_iter().map(Replay::finish).collect::<Result<Vec<_>, _>>()?;
        let joined = reports.into_iter().reduce(|one, other| Report {
            capture: one.capture.with(other.capture),
            directions: [one.directions, other.directions].concat(),
            disciplines: [one.disciplines, other.disciplines].concat(),
            series: [one.series, other.series].concat(),
            answer: None,
        });
        let report = joined.ok_or(ReplayError::NoDiscipline)?;
        Ok(Report { answer: Answer::of(&report.disciplines), ..report })
    }
}

impl Traffic {
    /// The traffic of two lines.
    fn with(self, other: Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
            flows: self.flows.zip(other.flows).map(|(one, other)| one + other),
            duration_s: self.duration_s.max(other.duration_s),
            rate_bit_per_s: None,
            classifier: self.classifier.filter(|classifier| other.classifier.as_ref() == Some(classifier)),
            note: self.note.or(other.note),
            ..other
        }
    }
}
