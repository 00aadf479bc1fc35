//! TCP's sender: a window given by a congestion control, and the recovery of losses.
//!
//! A connection has one of five ways to find losses (`settings::Recovery`). They share everything
//! else: the scoreboard (`scoreboard`), the timer (RFC 6298), the pace, the handling of marks.
//! Sequence numbers count packets.
//!
//! Source: RFC 5681, RFC 6582, RFC 6675, RFC 8985, RFC 9937, RFC 3042, RFC 6298, RFC 3168.
//! Chosen: without selective acknowledgements a duplicate stands for one packet that left the
//! network. This is equivalent to the inflation of the window in RFC 5681 and its deflation in
//! RFC 6582. What arrived out of order stays known over a timeout (RFC 6675, section 5.1, allows
//! it).

mod acknowledge;
mod fast_path;
pub mod losses;
mod marks;
pub mod pairs;
pub mod prr;
mod quirks;
pub mod rack;
pub mod rate;
pub mod scoreboard;
pub mod settings;
pub mod trackers;
pub mod undo;
pub mod usage;

use super::congestion::{Congested, Congestion, RECOVERY};
use super::ecn::{Accepts, Ecn};
use super::estimator::Estimator;
use super::held::{Held, HeldTimes, Holder};
use super::messages::{Acknowledgement, Flags, Transmission};
use super::receiver::Sink;
use super::supply::Supply;
use super::{Ends, Sender};
use fairq_sched::packet::Marks;
use fairq_sched::prefetch;
use fairq_sched::units::{PS_PER_S, Time};
use prr::Budget;
use quirks::Quirk;
use scoreboard::Scoreboard;
use settings::{Grows, Recovery, Terms};
use std::num::NonZeroU64;
use std::sync::Arc;
use trackers::Trackers;
use undo::Undo;
use usage::Usage;

/// The parts of a connection.
pub struct Setup {
    /// The data that it has at the start.
    pub supply: Supply,
    /// The settings of the connection.
    pub connection: Arc<Terms>,
    /// A random number of its own, derived from the seed.
    pub seed: u64,
}

/// The two ends of a connection under a congestion control.
#[must_use]
pub fn ends(setup: Setup) -> Ends {
    let sender = Tcp::new(setup);
    let receiver = Sink::new(sender.connection.answers(sender.recovery, sender.control.ecn()));
    Ends { sender: Box::new(sender), receiver: Box::new(receiver) }
}

/// The state of recovery of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No packet is known to be lost.
    Open,
    /// The window is being reduced for a mark, until a packet from `until` on is acknowledged.
    Reducing { until: u64 },
    /// Losses are being repaired, until all below `until` is acknowledged.
    Recovering { until: u64 },
    /// After a timeout, until all below `until` is acknowledged.
    TimedOut { until: u64 },
}

/// The sending side of a TCP connection.
pub struct Tcp {
    connection: Arc<Terms>,
    recovery: Recovery,
    seed: u64,
    /// The first packet of this connection, and whether the connection is every second one between
    /// its ends.
    begun: u64,
    is_odd: bool,
    control: Box<dyn Congestion>,
    supply: Supply,
    estimator: Estimator,
    least: Time,
    board: Scoreboard,
    phase: Phase,
    /// Whether the opening packet is not acknowledged yet.
    is_opening: bool,
    /// Duplicates since the last acknowledgement of new data.
    duplicates: u32,
    /// Packets that have left the network according to duplicates, where acknowledgements are not
    /// selective.
    departed: u32,
    /// One above the highest packet sent at the last reaction to losses (RFC 6582's recover); 0
    /// before.
    recover: u64,
    /// Whether a packet was lost.
    has_lost: bool,
    /// Whether the oldest packet timed out.
    has_timed_out: bool,
    budget: Option<Box<Budget>>,
    /// Whether the congestion control does without the budget of recovery.
    has_own_recovery: bool,
    /// Whether the congestion control is still to be told of a recovery that has begun.
    owes_loss: bool,
    /// The connection's transmission number at the last reduction of the window. A lost packet with
    /// a later number is another sign of congestion.
    reduced_at: u64,
    /// In this recovery: one above the highest packet that was sent again (HighRxt), except the
    /// last packet of all; and whether that one was sent again (NextSeg, rules 3 and 4).
    tried: u64,
    has_rescued: bool,
    /// Whether this recovery had a partial acknowledgement.
    had_partial: bool,
    /// The last reduction, where one may be undone.
    undo: Option<Box<Undo>>,
    /// Whether the first lost packet is to be sent again whatever the window allows.
    resends_now: bool,
    /// Whether a packet is to be sent whatever the window allows: the first lost one, or a new one.
    sends_now: bool,
    /// A tail loss probe that is to be sent: a new packet (`true`), or the last one again.
    probe: Option<bool>,
    trackers: Trackers,
    /// The round trip in progress ends when all below this number is acknowledged.
    round_end: u64,
    /// The next new packet at the last reduction of the window (`None`: it was never reduced),
    /// whether that reduction was for a mark, and whether the receiver is still to be told (CWR).
    reduced_before: Option<NonZeroU64>,
    is_reduced_by_mark: bool,
    /// Whether the connection does without ECN.
    has_no_ecn: bool,
    tells_reduction: bool,
    /// Marked packets that the receiver has reported.
    marked: u32,
    /// The number of packets for which the host has room while losses are repaired; any number, if
    /// it does not matter.
    room: u32,
    /// Whether the window is what limits the sender, now and in this round.
    is_limited: bool,
    usage: Usage,
    /// What else limits it now, and for how long each did.
    holder: Option<Holder>,
    held: Held,
    /// Bytes of the last new packet.
    length: u32,
    timer: Time,
    /// No packet is sent before this time, once `burst` packets have been sent.
    next_send: Time,
    /// How much later than that the last burst was sent.
    late: Time,
    burst: u32,
    last_sent: Time,
}

impl Tcp {
    /// A sender that has sent nothing yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self::beginning(Time::ZERO, setup, Scoreboard::default(), false)
    }

    /// A connection that begins at `now` with the next packet of `board`. It keeps no state of the
    /// connections before it.
    fn beginning(now: Time, setup: Setup, board: Scoreboard, is_odd: bool) -> Self {
        let Setup { supply, connection, seed } = setup;
        let begun = board.next();
        let recovery = connection.recovery;
        let control = connection.begin(now, seed);
        let burst = control.burst();
        Self {
            recovery,
            begun,
            is_odd,
            estimator: Estimator::new(),
            least: Time::NEVER,
            board,
            phase: Phase::Open,
            is_opening: connection.handshake,
            duplicates: 0,
            departed: 0,
            recover: 0,
            has_lost: false,
            has_timed_out: false,
            budget: None,
            has_own_recovery: control.has_own_recovery(),
            owes_loss: false,
            reduced_at: 0,
            tried: 0,
            has_rescued: false,
            had_partial: false,
            undo: None,
            resends_now: false,
            sends_now: false,
            probe: None,
            trackers: Trackers::new(recovery, &*control, connection.quirks.time_one(), now, begun),
            round_end: begun,
            reduced_before: None,
            is_reduced_by_mark: false,
            has_no_ecn: false,
            tells_reduction: false,
            marked: 0,
            room: if connection.tunes_buffer && !control.has_own_recovery() { 0 } else { u32::MAX },
            is_limited: false,
            usage: Usage::default(),
            holder: None,
            held: Held::default(),
            length: 0,
            timer: Time::NEVER,
            next_send: now,
            late: Time::ZERO,
            burst,
            last_sent: now,
            connection,
            seed,
            control,
            supply,
        }
    }

    /// `flags`, plus the flag of a connection of an odd number.
    const fn flags(&self, flags: Flags) -> Flags {
        if self.is_odd { flags.with(Flags::ODD) } else { flags }
    }

    /// Packets in flight, as far as is known.
    fn flight(&self) -> u64 {
        self.board.pipe().saturating_sub(u64::from(self.departed))
    }

    /// The window in whole packets.
    fn window(&self) -> u64 {
        (self.control.window() as u64).max(1)
    }

    fn smoothed(&self) -> Time {
        self.estimator.smoothed().map_or(Time::ZERO, Time::from_s_f64)
    }

    fn start_timer(&mut self, now: Time) {
        self.timer = now.saturating_add(self.estimator.timeout(&self.connection.estimator));
    }

    /// Notes whether the window is what limits the sender, and tells the congestion control if that
    /// changed.
    fn note_limit(&mut self, now: Time, is_limit: bool) {
        self.usage.note(is_limit, &self.board);
        if self.is_limited != is_limit {
            self.is_limited = is_limit;
            self.control.limits(now, is_limit);
        }
    }

    /// Whether the window may grow, for it is used.
    #[inline]
    fn uses_window(&self) -> bool {
        match self.connection.grows {
            Grows::All => self.usage.lets_grow(self.control.window(), || self.control.threshold()),
            _ => self.is_limited,
        }
    }

    /// Data follows a rest that was longer than a timeout.
    fn end_rest(&mut self, now: Time) {
        let (rest, timeout) = (now - self.last_sent, self.estimator.timeout(&self.connection.estimator));
        let halves = rest.0.div_ceil(timeout.0.max(1)) - 1;
        match self.control.cwnd().filter(|_| self.connection.rests_by_halves) {
            Some(mut cwnd) => cwnd.rest(halves, self.connection.initial_window.into()),
            None => self.control.rested(now),
        }
        self.last_sent = now;
    }

    /// Notes what holds it from now on, if it is not the window or the pace.
    fn note_holder(&mut self, now: Time, holder: Option<Holder>) {
        if self.holder != holder {
            self.held.change(now, self.holder);
            self.holder = holder;
        }
    }

    const fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Recovering { .. })
    }

    /// Whether no packet is known to be lost.
    const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Reducing { .. })
    }

    /// Whether the receiver's window allows another packet.
    fn is_within_receive_window(&self) -> bool {
        self.board.outstanding() < u64::from(self.connection.receive_window)
    }

    /// Whether the receiver's window and the host's buffer allow another packet.
    fn takes_another(&self) -> bool {
        self.is_within_receive_window() && (self.is_open() || self.board.outstanding() < u64::from(self.room))
    }

    /// The reason why a sender that may send does not.
    fn what_holds(&self) -> Holder {
        match () {
            () if self.supply.is_empty() => Holder::Application,
            () if !self.is_within_receive_window() => Holder::Receiver,
            () => Holder::Buffer,
        }
    }

    /// The number of packets that may be sent now, retransmissions and new ones.
    fn allowance(&self) -> u64 {
        if self.is_opening {
            return u64::from(self.board.pipe() == 0);
        }
        if let (Phase::Recovering { .. } | Phase::Reducing { .. }, Some(left)) =
            (self.phase, self.budget.as_ref().and_then(|budget| budget.left()))
        {
            return left;
        }
        let window = self.window();
        let flight = match (self.phase, self.recovery) {
            // RFC 5681 counts outstanding packets; RFC 3042 allows a new packet for each of the
            // first two duplicates.
            (Phase::Open, recovery) if recovery != Recovery::Rack => {
                self.board.outstanding().saturating_sub(self.let_go())
            }
            (Phase::TimedOut { .. }, _) if self.has_quirk(Quirk::TransmitsAfterTimeout) => {
                self.flight().saturating_sub(self.let_go())
            }
            _ => self.flight(),
        };
        window.saturating_sub(flight)
    }

    /// The number of packets that duplicates allow beyond the window.
    fn let_go(&self) -> u64 {
        if self.connection.limited_transmit { u64::from(self.duplicates.min(2)) } else { 0 }
    }

    /// A copy of packet `sequence`, which was sent before.
    fn resend(&mut self, now: Time, sequence: u64) -> Transmission {
        let length = self.board.send_again(now, sequence);
        self.note_resent(now);
        self.account(now, sequence, length);
        let flags = self.flags(if self.is_opening { Flags::CONTROL } else { Flags::NONE });
        Transmission { is_retransmission: true, flags, ..Transmission::new(sequence, length) }
    }

    /// A packet that was never sent, if there is one and the receiver takes it.
    fn send_new(&mut self, now: Time) -> Option<Transmission> {
        let sequence = self.board.next();
        if !self.takes_another() {
            return None;
        }
        let (length, flags) = if self.is_opening {
            if self.supply.is_empty() {
                return None;
            }
            (settings::OPENING.0 as u32, Flags::CONTROL)
        } else {
            let length = self.supply.take()?;
            self.length = length;
            // RFC 3168, section 6.1.2: CWR is set on the first new packet after a reduction,
            // whatever its reason.
            (length, if core::mem::take(&mut self.tells_reduction) { Flags::HEARD } else { Flags::NONE })
        };
        self.board.send(now, length);
        self.account(now, sequence, length);
        self.trackers.time(now, sequence);
        self.plan_probe(now);
        let round_trip = if self.connection.tunes_window { self.smoothed() } else { Time::ZERO };
        Some(Transmission { flags: self.flags(flags), round_trip, ..Transmission::new(sequence, length) })
    }

    /// What follows from every transmission.
    fn account(&mut self, now: Time, sequence: u64, length: u32) {
        let flight = self.flight().saturating_sub(1);
        if let Some(rate) = self.trackers.rate() {
            rate.sent(now, sequence, flight);
        }
        if let Some(rack) = self.trackers.rack() {
            rack.sent(now, self.board.transmissions(), sequence);
        }
        if let Some(budget) = &mut self.budget {
            budget.send();
        }
        if self.control.watches_sending() {
            self.control.sent(now, flight);
        }
        if self.timer == Time::NEVER {
            self.start_timer(now);
        }
        self.last_sent = now;
        self.pace(now, length);
    }

    /// Sets the time at which the next packet may follow this one.
    fn pace(&mut self, now: Time, length: u32) {
        let Some(rate) = self.pace_of(length) else { return };
        let gap = Time((f64::from(length) * 8.0 * PS_PER_S as f64 / rate) as u64);
        self.burst = self.burst.saturating_sub(1);
        if self.next_send < now {
            self.late = now - self.next_send;
            self.next_send = now;
        }
        self.next_send = self.next_send.saturating_add(gap);
        if self.connection.departure_times {
            self.make_up(gap);
        }
    }

    /// A packet that was sent after its time shortens the gap behind it, by half at most (Linux:
    /// the credit of `tcp_update_skb_after_send`).
    fn make_up(&mut self, gap: Time) {
        let gained = self.late.min(Time(gap.0 / 2));
        self.next_send = self.next_send - gained;
        // What the packets of a burst do not take is lost with its end.
        self.late = if self.burst == 0 { Time::ZERO } else { self.late - gained };
    }

    /// The pace in bits a second: the congestion control's own. Otherwise, if the connection
    /// spreads packets, 2 windows a round trip below half of ssthresh and 1.2 above, as Linux does.
    /// Without ssthresh it is 2 until the first loss.
    fn pace_of(&self, length: u32) -> Option<f64> {
        if let Some(rate) = self.control.pace() {
            return Some(rate.bit_per_s() as f64);
        }
        let smoothed = self.estimator.smoothed().filter(|s| self.connection.pacing && *s > 0.0)?;
        let window = self.control.window().max(1.0);
        let is_far_below = self.control.threshold().map_or(!self.has_lost, |threshold| window < threshold / 2.0);
        let gain = if is_far_below { 2.0 } else { 1.2 };
        Some(gain * window * f64::from(length) * 8.0 / smoothed)
    }

    /// Whether the pace allows a packet at `now`; starts the burst that may follow at once.
    fn is_due(&mut self, now: Time) -> bool {
        if now < self.next_send {
            return false;
        }
        self.burst = self.control.burst().max(1);
        true
    }

    fn is_paced(&self) -> bool {
        self.connection.pacing || self.control.pace().is_some()
    }

    /// Takes a round-trip sample.
    #[inline]
    fn note_sample(&mut self, now: Time, sample: Time) {
        // Hosts' clocks do not tick together. Most do not tick at all, and need no division.
        let phase = match self.connection.estimator.tick().0 {
            0 => Time::ZERO,
            tick => Time(self.seed % tick),
        };
        self.estimator.sample(&self.connection.estimator, now + phase, sample);
        self.least = self.least.min(sample);
    }
}

impl Sender for Tcp {
    fn supply(&mut self) -> &mut Supply {
        &mut self.supply
    }

    fn fetch(&self) {
        prefetch::fetch_all(&*self.control, 2);
        self.board.fetch_last();
    }

    fn begin(&mut self, now: Time, bytes: u64, length: u32) {
        let setup = Setup {
            supply: Supply::Transfer { length, left: bytes },
            connection: Arc::clone(&self.connection),
            seed: self.seed,
        };
        let is_odd = self.is_odd != (self.board.next() > self.begun);
        let (holder, held) = (self.holder, core::mem::take(&mut self.held));
        *self = Self { holder, held, ..Self::beginning(now, setup, self.board.begin(), is_odd) };
    }

    fn is_complete(&mut self) -> bool {
        self.board.outstanding() == 0 && self.supply.is_empty()
    }

    fn poll(&mut self, now: Time) -> Option<Transmission> {
        if let Some(is_new) = self.probe.take() {
            let sent = if is_new { self.send_new(now) } else { Some(self.resend(now, self.board.next() - 1)) };
            if sent.is_some() {
                return sent;
            }
        }
        // RFC 5681, section 4.1: after an idle time longer than a timeout the window is no longer
        // valid.
        if self.board.outstanding() == 0
            && self.board.next() > 0
            && now - self.last_sent > self.estimator.timeout(&self.connection.estimator)
            && !self.supply.is_empty()
        {
            self.end_rest(now);
        }
        if core::mem::take(&mut self.resends_now)
            && let Some(sent) = self.resend_lost(now)
        {
            return Some(sent);
        }
        if core::mem::take(&mut self.sends_now) {
            return self.resend_lost(now).or_else(|| self.send_new(now));
        }
        if self.allowance() == 0 {
            self.note_limit(now, true);
            self.note_holder(now, None);
            return None;
        }
        // While packets may follow at once the pace is not consulted.
        if self.burst == 0 && self.is_paced() && !self.is_due(now) {
            self.note_holder(now, None);
            return None;
        }
        if let Some(sent) = self.next_packet(now) {
            return Some(sent);
        }
        if let Some(hole) = self.next_hole() {
            return Some(self.resend(now, hole));
        }
        self.note_limit(now, false);
        let holder = self.what_holds();
        self.note_holder(now, Some(holder));
        // Data held back by the receiver's window does not make the sender application-limited:
        // that window is a bottleneck like another (draft-ietf-ccwg-bbr, "Considerations Related to
        // Receiver Flow Control Limits").
        if holder == Holder::Application
            && let Some(rate) = self.trackers.rate()
        {
            rate.ran_dry(self.board.pipe());
        }
        None
    }

    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        if self.takes_fast_path(ack) {
            return Some(self.acknowledge_next(now, ack));
        }
        // An acknowledgement caused by an earlier connection's packet is ignored: its ports would
        // differ. It acknowledges no new data.
        if ack.sequence < self.begun {
            return None;
        }
        self.acknowledge_any(now, ack)
    }

    fn deadline(&self) -> Time {
        let rack = self.trackers.rack_deadline();
        let has_more = || self.allowance() > 0 && (!self.supply.is_empty() || self.board.has_lost());
        let pace = if self.burst == 0 && self.is_paced() && has_more() { self.next_send } else { Time::NEVER };
        self.timer.min(rack).min(pace)
    }

    fn wake(&mut self, now: Time) -> bool {
        // A probe replaces a timeout at the same time, and restarts the timer (RFC 8985, section
        // 7.2).
        if self.trackers.rack_deadline() <= now {
            self.wake_rack(now);
        }
        let has_expired = self.timer <= now;
        if has_expired {
            self.time_out(now);
        }
        has_expired
    }

    fn is_clocked(&self) -> bool {
        !self.is_paced()
    }

    fn held(&self, now: Time) -> HeldTimes {
        self.held.until(now, self.holder)
    }

    fn clear_held(&mut self, now: Time) {
        self.held.clear(now);
    }

    fn accepts(&self) -> Accepts {
        let new = if self.has_no_ecn { Marks::NONE } else { self.control.accepts() };
        match self.control.ecn() {
            // RFC 3168, sections 6.1.1 and 6.1.5.
            Ecn::Classic => Accepts { new, others: Marks::NONE },
            // A congestion control that needs ECN has ECT on all packets: RFC 8257, section 3.5,
            // and as Linux does.
            _ => Accepts::all(new),
        }
    }

    fn phase(&self) -> Option<&'static str> {
        let is_repairing = self.is_recovering() && !self.has_own_recovery;
        Some(if is_repairing { RECOVERY } else { self.control.phase() })
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.control.inspect(visit);
        visit("flight_packets", self.flight() as f64);
        visit("pacing_bit_per_s", self.pace_of(self.length).unwrap_or(f64::NAN));
        visit("rtt_s_smoothed", self.estimator.smoothed().unwrap_or(f64::NAN));
        visit("timeout_s", self.estimator.timeout(&self.connection.estimator).as_s());
    }
}
