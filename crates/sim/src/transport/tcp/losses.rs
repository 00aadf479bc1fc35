//! How TCP finds losses, reacts to them and repairs them.
//!
//! Source: RFC 5681, sections 3 and 4.3; RFC 6582; RFC 6675, section 5; RFC 8985.
//! Chosen: RACK detects that a retransmission was lost, so a recovery with it may last many round
//! trips. A lost packet that was sent after the last reduction is a second sign of congestion: the
//! window is reduced again (RFC 5681, section 4.3, "MUST be lowered twice"; RFC 9002, section
//! 7.3.2, has the same rule). That is at most once in a round trip. A timeout in a recovery takes
//! its part of the window as the recovery left it: its cause is a retransmission that was lost.
//! With `reduces_once` both are as in Linux, which lowers again when the recovery has ended.

use super::quirks::Quirk;
use super::scoreboard::{Delivery, Packet};
use super::settings::{Recovery, Reduces};
use super::{Budget, Congested, Ecn, Phase, Tcp, rack};
use crate::transport::congestion::Before;
use fairq_sched::units::Time;

/// The memory that Linux allows and that a packet takes, for 1448 B of data (`tcp_sndbuf_expand`:
/// 2048 B and a `sk_buff`; a head, a `sk_buff` and the data), and the most that it allows
/// (`tcp_wmem`).
const ROOM_BYTES: u64 = 2304;
const PACKET_BYTES: u64 = 2280;
const ROOM_MAX: u64 = (4 << 20) / PACKET_BYTES;

/// Packets found lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// The number of packets.
    pub packets: u64,
    /// The transmission number of the newest of them; 0 if it is not known.
    pub newest: u64,
    /// Whether one of them had been sent again (Linux: FLAG_LOST_RETRANS).
    pub has_resent: bool,
}

impl Found {
    const fn of(packets: u64) -> Self {
        Self { packets, newest: 0, has_resent: false }
    }
}

impl Tcp {
    /// The sign of congestion as the congestion control is told of it: `packets` were lost or
    /// marked; `flight` is what the connection counts as in flight.
    pub(super) fn congested(&self, now: Time, packets: u64, flight: u64) -> Congested {
        let window = self.window();
        // In a long recovery the flight may be of several windows, because it includes what arrived
        // out of order. Limited transmit sends two packets beyond the window (RFC 5681, section
        // 3.2, step 2).
        let flight = match self.connection.reduces {
            Reduces::Cwnd => window,
            Reduces::Flight | Reduces::Window => flight.min(window),
            Reduces::Pipe => flight,
        };
        Congested {
            now,
            packets,
            flight,
            window: self.has_quirk(Quirk::ReducesWindow).then(|| self.control.window()),
            in_flight: self.flight(),
            delivered: 0,
            smoothed: self.smoothed(),
            least: self.least,
            is_repeated: false,
            restart: 1.0,
        }
    }

    /// A copy of the lowest lost packet, if one is lost.
    pub(super) fn resend_lost(&mut self, now: Time) -> Option<super::Transmission> {
        let sequence = self.board.first_lost()?;
        self.tried = self.tried.max(sequence + 1);
        Some(self.resend(now, sequence))
    }

    /// A packet to be sent again though it is not known to be lost: rules 3 and 4 of RFC 6675's
    /// NextSeg. Rule 4 applies only to the very last packet, and only until its acknowledgement:
    /// all below it was sent again in this recovery.
    pub(super) fn next_hole(&mut self) -> Option<u64> {
        if self.recovery != Recovery::Sack || !self.is_recovering() {
            return None;
        }
        if let Some(hole) = self.board.first_hole(self.tried) {
            self.tried = hole + 1;
            return Some(hole);
        }
        let last = self.board.next().checked_sub(1)?;
        let is_under_way = self.board.packet(last).is_some_and(Packet::is_in_flight);
        (is_under_way && !core::mem::replace(&mut self.has_rescued, true)).then_some(last)
    }

    /// Packets were found lost by an acknowledgement that reported `delivered` others. A recovery
    /// begins unless one is under way.
    pub(super) fn lose(&mut self, now: Time, found: Found, delivered: u64) {
        let flight = if self.has_quirk(Quirk::ReducesPipe) { self.flight() } else { self.board.outstanding() };
        let congested = Congested { delivered, ..self.congested(now, found.packets, flight) };
        // Linux counts for them what an acknowledgement finds (`rs->losses` of `tcp_rate_gen`).
        if found.packets > 0 && !(self.ends_late() && delivered == 0) {
            self.control.found_lost(&congested);
        }
        self.tell_lost(now);
        let was_open = self.is_open();
        // A congestion control with a recovery of its own does not treat losses as a sign; its
        // recovery continues.
        let is_later = found.newest > self.reduced_at && !self.has_own_recovery;
        let is_again = match self.connection.reduces_once {
            true => matches!(self.phase, Phase::TimedOut { .. }) && found.has_resent,
            false => !was_open && is_later,
        };
        // RFC 5681, section 3.2, step 3; RFC 6582, section 3.2, step 3; RFC 6675, section 5, step
        // 4.3.
        let is_told = was_open || is_again || self.recovery == Recovery::NewReno;
        self.resends_now = is_told && !self.ends_late();
        if !was_open && !is_again {
            return;
        }
        self.make_room();
        let reducing = if let Phase::Reducing { until } = self.phase { Some(until) } else { None };
        let before = if reducing.is_some() { Before::default() } else { self.before_reduction() };
        self.may_undo(before, None);
        if self.ends_late() {
            self.owes_loss = true;
        } else if reducing.is_some() && self.control.ecn() == Ecn::Classic {
            // The reduction under way serves for the loss, too (Linux: `tcp_enter_recovery` asks
            // for `tcp_in_cwnd_reduction`). Only DCTCP reacts (`dctcp_state`).
        } else if is_later {
            self.control.lost(&congested);
            self.note_reduction(false);
        } else {
            self.reduce(&congested);
        }
        self.begin_recovery(now, reducing, delivered);
    }

    /// A recovery begins, by an acknowledgement that reported `delivered` packets. `reducing` is
    /// where the reduction for a mark was to end, if one is under way.
    fn begin_recovery(&mut self, now: Time, reducing: Option<u64>, delivered: u64) {
        self.has_lost = true;
        let until = reducing.unwrap_or_else(|| self.board.next());
        if self.recovery != Recovery::Reno || self.has_quirk(Quirk::AnswersOnce) {
            self.recover = until;
        }
        self.phase = Phase::Recovering { until };
        self.trackers.time_none();
        (self.tried, self.has_rescued, self.had_partial) = (0, false, false);
        if let Some(rack) = self.trackers.rack() {
            rack.recovers();
        }
        if !self.is_impatient_sack() {
            self.start_timer(now);
        }
        if self.recovery.is_selective() && !self.has_own_recovery {
            let (in_flight, window) = (self.board.outstanding().saturating_sub(self.board.arrived()), self.window());
            match &mut self.budget {
                Some(budget) if reducing.is_some() => budget.aim(window),
                budget => {
                    let begun = Budget::new(self.connection.rate_reduction, in_flight + delivered, window);
                    *budget = Some(Box::new(begun));
                }
            }
        }
    }

    /// Whether the recovery that has just ended goes on in another: a lost packet, sent again or
    /// not, has not arrived (Linux: `tcp_time_to_recover` asks for lost_out).
    pub(super) fn goes_on_if_missing(&self) -> bool {
        self.connection.reduces_once && self.board.is_missing()
    }

    /// Whether the congestion control has a recovery of its own and is told only of the state that
    /// an acknowledgement leaves: not of a recovery that a timer begins before the next one, nor of
    /// the end of one that goes on at once (Linux: `tcp_cong_control` follows
    /// `tcp_fastretrans_alert`).
    pub(super) fn ends_late(&self) -> bool {
        self.connection.reduces_once && self.has_own_recovery
    }

    /// Tells a congestion control that [hears late](Self::ends_late) of the state that an
    /// acknowledgement of `delivered` packets leaves.
    pub(super) fn tell_state(&mut self, now: Time, has_ended: bool, delivered: u64) {
        if self.owes_loss && delivered > 0 {
            self.owes_loss = false;
            let congested = self.congested(now, 0, self.flight());
            self.reduce(&Congested { delivered, ..congested });
        } else if has_ended && self.phase == Phase::Open {
            self.control.recovered(now);
        }
    }

    /// The host's send buffer follows the window, which is about to be reduced.
    fn make_room(&mut self) {
        let windows = 2 * self.window().min(ROOM_MAX);
        self.room = self.room.max((windows * ROOM_BYTES).div_ceil(PACKET_BYTES).min(ROOM_MAX) as u32);
    }

    /// Tells the congestion control of each packet that was found lost, if it tracks the delivery
    /// rate.
    pub(super) fn tell_lost(&mut self, now: Time) {
        let Some(found) = self.board.found() else { return };
        if let Some(rate) = self.trackers.rate() {
            for lost in found.iter().filter_map(|sequence| rate.lost(*sequence)) {
                self.control.lost_packet(now, &lost);
            }
        }
        found.clear();
    }

    /// The inputs of RACK's reordering window.
    fn rack_rules(&self) -> rack::Rules {
        rack::Rules { duplicates: self.connection.duplicates, least: self.least, smoothed: self.smoothed() }
    }

    /// Looks for losses after an acknowledgement.
    pub(super) fn detect(&mut self, now: Time, is_duplicate: bool, delivery: &Delivery) -> Found {
        let limit = self.connection.duplicates;
        let is_open = self.is_open();
        match self.recovery {
            Recovery::Rack => {
                let rules = self.rack_rules();
                let Some(rack) = self.trackers.rack() else { unreachable!("made with the sender") };
                rack.detect(now, &mut self.board, rules, !is_open)
            }
            Recovery::Sack => {
                let mut lost = self.board.lose_overtaken(limit, self.has_quirk(Quirk::ResendsOnce));
                if lost == 0 && is_open && self.duplicates >= limit {
                    lost = u64::from(self.board.lose(self.board.first()));
                }
                Found::of(lost)
            }
            Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => {
                if self.is_recovering() && self.recovery == Recovery::NewReno && delivery.newly > 0 {
                    // A partial acknowledgement: the next packet is lost too.
                    return Found::of(u64::from(self.board.lose(self.board.first())));
                }
                // RFC 6582, section 3.2, step 2: duplicates that may be caused by packets sent
                // before say nothing.
                let lets = is_open && (self.recover == 0 || self.board.first() > self.recover);
                if !is_duplicate || self.duplicates != limit || !lets {
                    return Found::default();
                }
                Found::of(match self.recovery {
                    Recovery::Tahoe => 1,
                    _ => u64::from(self.board.lose(self.board.first())),
                })
            }
        }
    }

    /// The effect of new acknowledgements on a recovery.
    pub(super) fn progress(&mut self, now: Time, delivery: &Delivery) {
        let first = self.board.first();
        let ends = match self.phase {
            Phase::Open => false,
            Phase::Reducing { until } => first > until,
            Phase::Recovering { until } => first >= until || self.recovery == Recovery::Reno,
            Phase::TimedOut { until } => first >= until,
        };
        if ends {
            let was_reducing = matches!(self.phase, Phase::Reducing { .. });
            if self.is_recovering() {
                self.departed = 0;
            }
            self.phase = Phase::Open;
            self.budget = None;
            if !self.ends_late() {
                self.control.recovered(now);
            }
            if let Some(rack) = self.trackers.rack().filter(|_| !was_reducing) {
                rack.recovered();
            }
        } else if self.is_recovering() && self.recovery == Recovery::NewReno {
            // The window is deflated by what was acknowledged, less the packet that is sent again.
            let newly = u32::try_from(delivery.newly - 1).unwrap_or(u32::MAX);
            self.departed = self.departed.saturating_sub(newly);
        }
    }

    /// Whether a timeout now reduces nothing: the oldest packet timed out before; in Linux also if
    /// it was sent before the reduction under way (`tcp_enter_loss`: high_seq after snd_una, and
    /// progress since the last timeout does not forgive it).
    fn is_timed_out_again(&self) -> bool {
        match self.phase {
            Phase::Reducing { until } | Phase::Recovering { until } if self.connection.reduces_once => {
                until > self.board.first()
            }
            _ => self.has_timed_out,
        }
    }

    /// A timeout: what did not arrive is lost, and is sent again as the window opens.
    pub(super) fn time_out(&mut self, now: Time) {
        self.timer = Time::NEVER;
        let flight = self.flight();
        self.estimator.back_off(&self.connection.estimator);
        // For the timer, a packet that duplicates caused to be sent again is lost for the first
        // time (RFC 5681, section 3.1).
        let is_repeated =
            (self.is_timed_out_again() || self.has_answered_mark()) && !self.has_quirk(Quirk::AlwaysReduces);
        let is_first = self.is_open() || self.has_timed_out;
        self.has_timed_out = true;
        self.make_room();
        let (congested, before) = (self.congested(now, 0, flight), self.before_reduction());
        let congested = Congested { is_repeated, ..congested };
        let rules = self.rack_rules();
        let probed = self.trackers.rack().and_then(|rack| rack.resent_by_probe());
        let probed = probed.and_then(|sequence| self.board.packet(sequence)).map(|packet| packet.sent);
        let lost = match self.trackers.rack() {
            Some(rack) => rack.time_out(now, &mut self.board, rules),
            None => self.board.lose_all(),
        };
        if !self.is_opening {
            self.control.found_lost(&Congested { packets: lost, ..congested });
        }
        self.tell_lost(now);
        let restart = if self.connection.reduces_once { self.flight() as f64 + 1.0 } else { 1.0 };
        let congested = Congested { restart, ..congested };
        if !self.is_opening {
            if !is_repeated {
                self.may_undo(before, probed);
            }
            self.begin_frto(is_first);
            self.control.timed_out(&congested);
            self.note_reduction(false);
        } else if self.has_quirk(Quirk::ReducesWindow) {
            // ns-2's slowdown() treats the opening packet like others.
            self.control.timed_out(&congested);
        } else if self.connection.counts_lost_opening {
            self.lose_opening(now, &congested);
        } else if !self.has_quirk(Quirk::ForgivesLostOpening) {
            // RFC 5681, section 3.1: a window of one packet; it does not mention ssthresh.
            self.control = self.connection.begin_with(1, now, self.seed);
        }
        // Linux's `tcp_ecn_clear_syn`: what opens the connection may be lost for its ECN.
        self.has_no_ecn |= self.is_opening && self.connection.ecn_fallback;
        self.begin_again();
        // The oldest packet is sent though others may still be in flight.
        self.resends_now = self.recovery == Recovery::Rack;
    }

    /// The opening packet timed out, for the first time unless `congested` says otherwise (Linux:
    /// `tcp_enter_loss` reduces the first window's ssthresh, and `tcp_init_transfer` then sets the
    /// window and initialises the congestion control).
    fn lose_opening(&mut self, now: Time, congested: &Congested) {
        let first = if congested.is_repeated { 1 } else { self.connection.initial_window };
        let threshold = match self.control.cwnd() {
            Some(cwnd) if congested.is_repeated => Some(*cwnd.threshold),
            Some(_) => {
                self.control.timed_out(congested);
                self.control.cwnd().map(|cwnd| *cwnd.threshold)
            }
            None => None,
        };
        self.control = self.connection.begin_with(first, now, self.seed);
        if let (Some(cwnd), Some(threshold)) = (self.control.cwnd(), threshold) {
            *cwnd.threshold = threshold;
        }
    }

    /// Starts to send all lost packets again, in order.
    pub(super) fn begin_again(&mut self) {
        self.has_lost = true;
        self.recover = self.board.next();
        self.phase = Phase::TimedOut { until: self.recover };
        (self.duplicates, self.departed, self.budget) = (0, 0, None);
        (self.resends_now, self.owes_loss) = (false, false);
        if !self.times_opening() {
            self.trackers.time_none();
        }
    }

    /// RACK's timer: looks for losses, and sends the tail loss probe.
    pub(super) fn wake_rack(&mut self, now: Time) {
        let Some(rack) = self.trackers.rack() else { return };
        let (is_due, probes) = (rack.is_due(now), rack.probes(now));
        if is_due {
            let found = self.detect(now, false, &Delivery::default());
            if found.packets > 0 {
                // The timer asks for no retransmission (Linux: `tcp_rack_reo_timeout`).
                self.lose(now, Found { has_resent: true, ..found }, 0);
            }
        }
        if probes && self.is_open() && self.board.outstanding() > 0 {
            let is_new = !self.supply.is_empty() && self.takes_another();
            let next = self.board.next();
            if let Some(rack) = self.trackers.rack() {
                rack.probed(if is_new { next + 1 } else { next }, !is_new);
            }
            // The probe is sent whatever the window allows; it restarts the timer.
            self.timer = Time::NEVER;
            self.probe = Some(is_new);
        } else if probes && let Some(rack) = self.trackers.rack() {
            rack.forget_probe();
        }
    }

    /// What a probe waits beyond two round trips, with `flight` packets in flight: if it is only
    /// one, for the acknowledgement that the receiver may delay. In Linux by its least timeout
    /// (`tcp_schedule_loss_probe`: `tcp_rto_min`), else by TCP_TIMEOUT_MIN, two ticks.
    fn probe_delay(&self, flight: u64) -> Time {
        let connection = &self.connection;
        match connection.probes_by_floor {
            true if self.board.outstanding() == 1 => connection.timeout.floor,
            true => Time::from_ms(2),
            false if flight == 1 && connection.acknowledge_every > 1 => connection.acknowledgement_delay,
            false => Time::ZERO,
        }
    }

    /// Sets the time of a probe, if one may be sent (RFC 8985, section 7.2): not for the opening
    /// packet, not in a recovery, and not while a packet is known to have arrived out of order.
    pub(super) fn plan_probe(&mut self, now: Time) {
        if self.trackers.rack().is_none() {
            return;
        }
        let (smoothed, flight, timer) = (self.smoothed(), self.flight(), self.timer);
        let delay = self.probe_delay(flight);
        let may = self.is_open() && !self.is_opening && self.board.arrived() == 0;
        if let Some(rack) = self.trackers.rack() {
            match may {
                true => rack.plan_probe(now, smoothed, flight, delay, timer),
                false => rack.forget_probe(),
            }
        }
    }
}
