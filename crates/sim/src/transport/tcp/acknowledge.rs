//! What a sender does with any acknowledgement, in order: it takes a sample of the round trip,
//! notes what was delivered, repairs losses, and tells its congestion control. The fast path does a
//! subset of it.

use super::quirks::Quirk;
use super::scoreboard::Delivery;
use super::settings::{Grows, Recovery, Timed};
use super::{Phase, Tcp};
use crate::transport::congestion::{Acked, Pair, RateSample};
use crate::transport::ecn::Ecn;
use crate::transport::messages::{Acknowledgement, Flags};
use fairq_sched::units::Time;

/// An acknowledgement, what it delivered, and the sender as it was before.
struct Heard<'a> {
    now: Time,
    ack: &'a Acknowledgement,
    delivery: Delivery,
    /// Whether it acknowledges no new data while data is outstanding.
    is_duplicate: bool,
    /// Packets that were in flight.
    flight: u64,
    /// The oldest packet.
    first: u64,
    phase: Phase,
    was_opening: bool,
}

impl Tcp {
    /// Takes any acknowledgement. Returns the sample of the round trip that it gives.
    pub(super) fn acknowledge_any(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        let (flight, first, phase, was_opening) = (self.flight(), self.board.first(), self.phase, self.is_opening);
        let sample = self.sample_before(now, ack);
        let pair = self.trackers.pairs().and_then(|pairs| pairs.answered(now, ack, &self.board));
        let soonest = if self.least == Time::NEVER { Time::ZERO } else { self.least };
        let (runs, holds_resent) = (ack.blocks.iter(ack.cumulative), self.has_quirk(Quirk::HoldsResent));
        let delivery = self.board.acknowledge(now, ack.cumulative, runs, soonest, holds_resent);
        let sample = self.sample_of_latest(now, was_opening, &delivery).or(sample);
        self.judge_reduction(now, ack, &delivery);
        let is_duplicate = delivery.newly == 0 && ack.cumulative == first && self.board.outstanding() > 0;
        let heard = Heard { now, ack, delivery, is_duplicate, flight, first, phase, was_opening };
        if delivery.newly > 0 {
            self.advance(&heard);
        } else if self.connection.rearms_by_blocks && self.tells_of_before_oldest(&delivery) {
            self.start_timer(now);
        }
        if is_duplicate && (delivery.delivered > 0 || !self.recovery.is_selective()) {
            self.duplicates += 1;
            if self.is_recovering() && !self.recovery.is_selective() {
                self.departed += 1;
            }
        }
        self.tell_rack(&heard);
        let marked = self.hear_marks(now, ack, delivery.delivered, flight, ack.cumulative < first);
        let has_lost = self.repair(&heard);
        self.tell_control(&heard, marked, sample, pair);
        if marked > 0 && self.connection.spreads_marks {
            self.spread_reduction(now, flight);
        }
        if let Some(budget) = &mut self.budget {
            budget.acknowledged(delivery.delivered, self.board.pipe(), delivery.newly > 0 && !has_lost);
        }
        if delivery.newly > 0 {
            self.plan_probe(now);
        }
        sample
    }

    /// Takes the sample of the round trip that is read before the scoreboard knows of the
    /// acknowledgement.
    fn sample_before(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        let sample = match self.connection.timed {
            _ if self.times_opening() => self.sample_of_one(now, ack),
            Timed::Latest if self.is_opening => self.sample_of(now, ack),
            Timed::Latest => None,
            Timed::Each => self.sample_of(now, ack),
            Timed::One => self.sample_of_one(now, ack),
            Timed::Oldest => self.sample_of_oldest(now, ack),
        };
        if let Some(sample) = sample {
            self.note_sample(now, sample);
        }
        sample
    }

    /// The round trip of the packet that is acknowledged. Karn: without time stamps a packet that
    /// was sent twice gives no sample.
    fn sample_of(&self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        if ack.cumulative <= self.board.first() && ack.blocks.is_empty() {
            return None;
        }
        let gives =
            self.connection.timestamps || self.board.packet(ack.sequence).is_some_and(|packet| !packet.is_repeated);
        gives.then(|| now - ack.sent)
    }

    /// Takes the round trip of the packet that was sent last of those delivered, if such packets
    /// are timed and it was sent once.
    fn sample_of_latest(&mut self, now: Time, was_opening: bool, delivery: &Delivery) -> Option<Time> {
        if self.connection.timed != Timed::Latest || was_opening {
            return None;
        }
        let sample = now - delivery.latest.filter(|latest| !latest.is_repeated)?.sent;
        self.note_sample(now, sample);
        Some(sample)
    }

    /// What new data acknowledged in order does to the recovery and to the timer.
    fn advance(&mut self, heard: &Heard<'_>) {
        let Heard { now, ack, .. } = *heard;
        let outstanding = self.board.outstanding();
        if heard.was_opening && self.has_timed_out {
            // RFC 6298, rule (5.7), unless the opening's own round trip is known.
            self.estimator.open_late(&self.connection.estimator);
        }
        self.is_opening = false;
        self.has_timed_out &= ack.cumulative == heard.first;
        if self.has_quirk(Quirk::EndsBackoff) {
            self.estimator.end_backoff();
        }
        self.progress(now, &heard.delivery);
        // RFC 6582, section 3.2: only the first partial acknowledgement restarts the timer.
        let is_impatient = self.recovery == Recovery::NewReno || self.is_impatient_sack();
        let is_partial = self.is_recovering();
        self.sends_now = is_partial && self.partial_lets_go();
        if !(is_partial && is_impatient && core::mem::replace(&mut self.had_partial, true)) {
            self.timer = Time::NEVER;
        }
        self.duplicates = 0;
        if outstanding == 0 {
            self.timer = Time::NEVER;
        } else if self.timer == Time::NEVER {
            self.start_timer(now);
        }
    }

    /// Whether what arrived out of order was sent before the last transmission of the oldest
    /// packet, so that the fate of that transmission is still open.
    fn tells_of_before_oldest(&self, delivery: &Delivery) -> bool {
        let oldest = self.board.packet(self.board.first()).map(|packet| packet.sent);
        delivery.latest.zip(oldest).is_some_and(|(latest, oldest)| latest.sent < oldest)
    }

    /// Tells RACK what was delivered. A tail loss probe that repaired a loss is a sign of
    /// congestion.
    fn tell_rack(&mut self, heard: &Heard<'_>) {
        let Heard { now, ack, delivery, flight, .. } = heard;
        let (first, next) = (self.board.first(), self.board.next());
        let Some(rack) = self.trackers.rack() else { return };
        let had_duplicate = ack.flags.has(Flags::DUPLICATE);
        rack.delivered(*now, delivery, had_duplicate, first, next);
        let is_bare = delivery.delivered == 0 && ack.blocks.is_empty();
        if rack.ends_probe(first, ack.sequence, had_duplicate, is_bare) && self.is_open() && !self.ends_late() {
            let congested = self.congested(*now, 1, *flight);
            self.reduce(&congested);
            self.control.recovered(*now);
        }
    }

    /// Looks for losses and begins or continues their recovery; returns whether a packet was found
    /// lost.
    fn repair(&mut self, heard: &Heard<'_>) -> bool {
        let Heard { now, ref delivery, is_duplicate, .. } = *heard;
        let mut found = self.detect(now, is_duplicate, delivery);
        let has_ended = heard.phase != Phase::Open && self.phase == Phase::Open;
        let goes_on = has_ended && self.goes_on_if_missing();
        if goes_on {
            found.newest = u64::MAX;
        }
        if found.packets > 0 || goes_on {
            let was_open = self.is_open();
            self.lose(now, found, delivery.delivered);
            if was_open && !self.recovery.is_selective() {
                self.departed = self.duplicates;
            }
            if was_open && self.recovery == Recovery::Tahoe {
                self.board.lose_all();
                self.tell_lost(now);
                self.begin_again();
            }
        }
        if self.ends_late() {
            self.tell_state(now, has_ended, delivery.delivered);
        }
        found.packets > 0
    }

    /// Tells the congestion control of the acknowledgement, which reports `marked` marked packets,
    /// or that the connection is open.
    fn tell_control(&mut self, heard: &Heard<'_>, marked: u64, sample: Option<Time>, pair: Option<Pair>) {
        let Heard { now, ack, ref delivery, flight, .. } = *heard;
        let rate = self.rate_sample(now, delivery);
        if heard.was_opening {
            if delivery.newly > 0 {
                self.round_end = self.board.next();
                if let Some(length) = self.supply.next_length() {
                    self.control.opened(now, sample, self.smoothed(), length);
                }
            }
            return;
        }
        let (goes_on, ends_without) = self.end_of_recovery(heard);
        // The acknowledgement that ends a recovery covers packets sent before it: the window does
        // not grow by it. RFC 3168, section 6.1.2: nor by one that reports a mark.
        let tells_of_mark = marked > 0 && self.control.ecn() == Ecn::Classic;
        let is_reducing = matches!(self.phase, Phase::Recovering { .. } | Phase::Reducing { .. });
        let is_recovering = is_reducing || ends_without || tells_of_mark;
        let (newly, delivered) = (self.counted(heard), delivery.delivered);
        let acked = self.acked(now, ack, sample, flight);
        self.control.acknowledged(&Acked { newly, goes_on, delivered, marked, is_recovering, rate, pair, ..acked });
    }

    /// The state of the sender after `ack`, as the congestion control is told of it; without what
    /// the acknowledgement delivered. `flight` packets were in flight before.
    #[inline]
    pub(super) fn acked(&mut self, now: Time, ack: &Acknowledgement, sample: Option<Time>, flight: u64) -> Acked {
        let begins_round = self.board.first() > self.round_end;
        if begins_round {
            self.round_end = self.board.next();
        }
        Acked {
            now,
            newly: 0,
            goes_on: false,
            delivered: 0,
            marked: 0,
            marks: ack.marks,
            length: self.length,
            round_trip: sample,
            one_way: Some(ack.received - ack.sent),
            smoothed: self.smoothed(),
            least: self.least,
            flight,
            in_flight: self.flight(),
            is_limited: self.uses_window(),
            is_recovering: false,
            begins_round,
            rate: None,
            pair: None,
        }
    }

    /// The sample of the delivery rate, where the congestion control asks for it.
    fn rate_sample(&mut self, now: Time, delivery: &Delivery) -> Option<RateSample> {
        let rate = self.trackers.rate()?;
        let latest = delivery.latest.map(|latest| latest.sequence);
        let sample = rate.acknowledged(now, delivery.delivered, latest, self.board.first(), self.least)?;
        let ahead = self.connection.departure_times.then(|| self.next_send.saturating_sub(now));
        Some(RateSample { ahead, ..sample })
    }

    /// Whether the acknowledgement covers more packets than it counts, and whether it ends a
    /// recovery without growth of the window.
    fn end_of_recovery(&self, heard: &Heard<'_>) -> (bool, bool) {
        if !self.has_quirk(Quirk::CountsAfterTimeout) {
            let is_counted = self.connection.grows != Grows::Packets;
            return (false, !is_counted && matches!(heard.phase, Phase::Recovering { .. }));
        }
        let after_timeout = match heard.phase {
            Phase::TimedOut { until } if self.phase == Phase::Open => Some(self.board.first().saturating_sub(until)),
            _ => None,
        };
        (after_timeout.unwrap_or(heard.delivery.newly) > 1, after_timeout == Some(0))
    }

    /// The number of packets that count for the growth of the window.
    fn counted(&self, heard: &Heard<'_>) -> u64 {
        let delivery = &heard.delivery;
        // After a loss an acknowledgement may cover several windows that had arrived out of order:
        // packets that were known to have arrived do not count again.
        let newly = match heard.phase {
            _ if self.connection.grows == Grows::All && delivery.newly > 0 => delivery.delivered,
            Phase::Recovering { .. } | Phase::TimedOut { .. } if self.recovery.is_selective() => {
                delivery.newly.min(delivery.delivered)
            }
            _ => delivery.newly,
        };
        if self.has_quirk(Quirk::CountsAcknowledgements) { newly.min(1) } else { newly }
    }
}
