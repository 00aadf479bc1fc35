//! Congestion controls: how many packets may be in flight, and how fast they follow each other. One
//! congestion control, one file.
//!
//! A congestion control is told of each event with one record, and asked for its window and its
//! pace. Which packets were lost and what is sent again is not its business (`tcp`, `go_back_n`).
//! Windows are real numbers of packets, so that growth by parts of a packet is not lost by
//! rounding.

pub mod bbr;
pub mod bbr3;
pub mod copa;
pub mod cubic;
pub mod dctcp;
pub mod fast;
pub mod hstcp;
pub mod htcp;
pub mod hybla;
pub mod ledbat;
pub mod loss_based;
mod mark_share;
pub mod newreno;
pub mod pace;
pub mod packet_pair;
mod path_model;
pub mod prague;
pub mod reno;
pub mod rounds;
pub mod scalable;
pub mod slow_start;
pub mod tahoe;
pub mod vegas;
pub mod westwood_plus;
pub mod whole;
pub mod windowed;

#[cfg(test)]
mod bottleneck;

use super::ecn::{CodePoint, Ecn};
use fairq_sched::packet::Marks;
use fairq_sched::units::{Rate, Time};

/// An acknowledgement, as a congestion control is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When it arrived.
    pub now: Time,
    /// Packets that it acknowledges in order for the first time; zero if it is a duplicate.
    pub newly: u64,
    /// Whether it covers more packets than `newly` counts, so that avoidance takes one too if slow
    /// start ends with it.
    pub goes_on: bool,
    /// Packets newly known to have arrived by it, in order or not.
    pub delivered: u64,
    /// Packets that it reports as marked.
    pub marked: u64,
    /// The marks that it carries.
    pub marks: Marks,
    /// Bytes of a packet.
    pub length: u32,
    /// The round-trip sample that it gives.
    pub round_trip: Option<Time>,
    /// The one-way delay of the packet that caused it.
    pub one_way: Option<Time>,
    /// The smoothed round trip; zero before the first sample.
    pub smoothed: Time,
    /// The least round trip so far; [`Time::NEVER`] before the first sample.
    pub least: Time,
    /// Packets that were in flight before it arrived.
    pub flight: u64,
    /// Packets that are in flight now: `flight` without those that arrived or were found lost.
    pub in_flight: u64,
    /// Whether the window limited the sender. A window that is not used must not grow.
    pub is_limited: bool,
    /// Whether losses are being repaired: the window must not grow.
    pub is_recovering: bool,
    /// Whether a round trip has passed: this is the first acknowledgement of a packet sent after
    /// the last round began.
    pub begins_round: bool,
    /// The delivery rate; for congestion controls that ask for it.
    pub rate: Option<RateSample>,
    /// The estimate of a pair of packets sent back to back; for congestion controls that ask for
    /// it.
    pub pair: Option<Pair>,
}

impl Acked {
    /// An acknowledgement at `now` of `newly` packets of 1000 bytes by a sender that uses its
    /// window; all else is empty. Tests of congestion controls start from it and set further
    /// fields.
    #[must_use]
    pub const fn of(now: Time, newly: u64) -> Self {
        Self {
            now,
            newly,
            goes_on: false,
            delivered: newly,
            marked: 0,
            marks: Marks::NONE,
            length: 1000,
            round_trip: None,
            one_way: None,
            smoothed: Time::ZERO,
            least: Time::NEVER,
            flight: newly,
            in_flight: 0,
            is_limited: true,
            is_recovering: false,
            begins_round: false,
            rate: None,
            pair: None,
        }
    }

    /// Whether a window that grows with acknowledgements may grow by this one.
    #[must_use]
    pub const fn lets_grow(&self) -> bool {
        self.newly > 0 && self.is_limited && !self.is_recovering
    }
}

/// The rate at which packets were delivered between the sending of one and its acknowledgement.
///
/// Source: draft-cheng-iccrg-delivery-rate-estimation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Packets delivered in a second.
    pub packets_per_s: f64,
    /// Packets that had been delivered when the packet was sent.
    pub delivered_before: u64,
    /// Packets that are delivered now.
    pub delivered: u64,
    /// The time over which they were delivered.
    pub interval: Time,
    /// Whether the sender had no data to send at some time: the path may be faster.
    pub is_application_limited: bool,
    /// Packets in flight when the packet was sent, including it.
    pub flight_at_send: u64,
    /// Packets found lost since the packet was sent.
    pub lost: u64,
    /// How long the pace holds the next packet back, if that is to count.
    pub ahead: Option<Time>,
}

/// A packet that was found lost, for congestion controls that use the delivery rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostPacket {
    /// Packets that had been delivered when it was sent.
    pub delivered_before: u64,
    /// Packets in flight when it was sent, including it.
    pub flight_at_send: u64,
    /// Packets found lost since it was sent, including it.
    pub lost: u64,
    /// Whether the sender had no data to send at some time before.
    pub is_application_limited: bool,
}

/// Two packets that were sent back to back, and the gap between them now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The time from the first packet to the second; above zero.
    pub gap: Time,
    /// Bytes of the second.
    pub length: u32,
}

impl Pair {
    /// Bits a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        f64::from(self.length) * 8.0 / self.gap.as_s()
    }
}

/// Where the gap of a pair is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum PairsAt {
    /// Between the arrivals of the acknowledgements: their delays enter the gap.
    #[default]
    Sender,
    /// Between the arrivals of the packets, whose times the acknowledgements carry.
    Receiver,
}

/// A loss, a mark or a timeout, as a congestion control is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Congested {
    /// When it was noticed.
    pub now: Time,
    /// Packets found lost, or reported as marked, just now.
    pub packets: u64,
    /// The packets to reduce from, as the connection's `reduces` says: the window, or the part of
    /// it that was in flight.
    pub flight: u64,
    /// Packets in flight now, without those that arrived or were found lost.
    pub in_flight: u64,
    /// Packets that arrived according to the acknowledgement by which the loss was found.
    pub delivered: u64,
    /// The window, if the congestion control is to reduce from it, as in ns-2
    /// (`reduces = "window"`).
    pub window: Option<f64>,
    /// The smoothed round trip; zero before the first sample.
    pub smoothed: Time,
    /// The least round trip so far; [`Time::NEVER`] before the first sample.
    pub least: Time,
    /// Whether the oldest packet was sent again before: a second timeout of one packet, which does
    /// not halve again.
    pub is_repeated: bool,
    /// The window after a timeout, in packets.
    pub restart: f64,
}

impl Congested {
    /// One packet of `flight`, at `now`, for the first time. Tests of congestion controls start
    /// from it.
    #[must_use]
    pub const fn of(now: Time, flight: u64) -> Self {
        Self {
            now,
            packets: 1,
            flight,
            in_flight: flight.saturating_sub(1),
            delivered: 0,
            window: None,
            smoothed: Time::ZERO,
            least: Time::NEVER,
            is_repeated: false,
            restart: 1.0,
        }
    }
}

/// cwnd and ssthresh of a congestion control.
#[derive(Debug)]
pub struct Cwnd<'a> {
    /// cwnd, in packets.
    pub window: &'a mut f64,
    /// ssthresh; infinite in the first slow start.
    pub threshold: &'a mut f64,
}

/// cwnd and ssthresh before a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Before {
    /// cwnd, in packets.
    pub window: f64,
    /// ssthresh, and at least three quarters of cwnd (Linux: `tcp_current_ssthresh`).
    pub threshold: f64,
}

impl Cwnd<'_> {
    /// As they are now.
    #[must_use]
    pub fn before(&self) -> Before {
        let part = |of: f64| libm::floor(*self.window / of);
        Before { window: *self.window, threshold: self.threshold.max(part(2.0) + part(4.0)) }
    }

    /// A rest was longer than `halves` timeouts, one at least: the window is halved for each, down
    /// to the initial one (RFC 2861, section 3.1; Linux: `tcp_cwnd_restart`).
    pub fn rest(&mut self, halves: u64, first: f64) {
        let Before { window, threshold } = self.before();
        let least = window.min(first);
        let halved = libm::floor(libm::ldexp(window, -(halves.min(64) as i32)));
        (*self.window, *self.threshold) = (halved.max(least), threshold);
    }
}

/// The initial state of a congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// The time at which it begins.
    pub now: Time,
    /// The initial window, in packets.
    pub window: f64,
    /// The receiver's window, in packets: a greater window is of no use.
    pub window_max: f64,
    /// Whether the connection spreads its packets over the round trip, so that growth by many
    /// packets at once makes no burst.
    pub is_paced: bool,
    /// Whether slow start counts all packets that an acknowledgement reports, and not only one.
    pub counts_all: bool,
    /// Whether the connection spreads the reduction for a mark over a round trip, and tells of it
    /// with [`Congestion::marked`] where marks are reported by packet, too.
    pub spreads_marks: bool,
    /// A random number of the connection's own, derived from the seed, for congestion controls that
    /// use random numbers.
    pub seed: u64,
}

impl Beginning {
    /// At time zero, with an initial window and no limit. For tests.
    #[must_use]
    pub const fn with_window(window: f64) -> Self {
        Self {
            now: Time::ZERO,
            window,
            window_max: 1e9,
            is_paced: false,
            counts_all: false,
            spreads_marks: false,
            seed: 1,
        }
    }
}

/// Implemented by the settings of a congestion control over a TCP connection. The control itself is
/// made by its `new(&Settings, &Beginning)`, which the line of the registry names.
pub trait LawSettings {
    /// Whether the formulas of Mathis and of Padhye describe its rate: a packet more a round trip,
    /// half of the window after a loss. They are compared only with a control that says so.
    fn keeps_to_tcp_formulas(&self) -> bool {
        false
    }

    /// Whether its setting `ecn` names the ECN field, as `ect0` or `ect1`: a message then says so.
    fn names_code_point(&self) -> bool {
        false
    }

    /// Why the settings make no sense, if they do not.
    fn fault(&self) -> Option<String>;
}

/// A congestion control.
pub trait Congestion: Send {
    /// Packets that may be in flight. The sender uses the integer part, and at least one.
    fn window(&self) -> f64;

    /// The pace of packets; `None` if they may follow at once.
    fn pace(&self) -> Option<Rate> {
        None
    }

    /// The number of packets that may follow at once where they are paced.
    fn burst(&self) -> u32 {
        1
    }

    /// A packet was sent; `flight` were in flight before. Called only with
    /// [`Congestion::watches_sending`].
    fn sent(&mut self, _now: Time, _flight: u64) {}

    /// Whether [`Congestion::sent`] is to be called.
    fn watches_sending(&self) -> bool {
        false
    }

    /// The opening packet was acknowledged: its round trip if it gave a sample, the smoothed one,
    /// and the bytes of the first packet with data.
    fn opened(&mut self, _now: Time, _round_trip: Option<Time>, _smoothed: Time, _length: u32) {}

    /// An acknowledgement arrived; also called for duplicates.
    fn acknowledged(&mut self, acked: &Acked);

    /// A packet was lost. Called once for a window of data.
    fn lost(&mut self, congested: &Congested);

    /// Packets were found lost. Called each time that some are, and before `lost`.
    fn found_lost(&mut self, _congested: &Congested) {}

    /// Called for each packet that was found lost, after [`Congestion::found_lost`], if it [wants
    /// the rate](Self::wants_rate).
    fn lost_packet(&mut self, _now: Time, _lost: &LostPacket) {}

    /// Marks were reported. Called once for a window of data, if [`Congestion::ecn`] is
    /// [`Ecn::Classic`], or [`Ecn::Dctcp`] where the connection spreads reductions.
    fn marked(&mut self, congested: &Congested) {
        self.lost(congested);
    }

    /// The retransmission timer expired.
    fn timed_out(&mut self, congested: &Congested);

    /// All losses have been repaired and acknowledged.
    fn recovered(&mut self, _now: Time) {}

    /// The window becomes the limit of the sender (`is_limit`), or stops being it. It is not the
    /// limit where there is no data to send and where the receiver takes no more. Called when that
    /// changes; at first it is not the limit.
    fn limits(&mut self, _now: Time, _is_limit: bool) {}

    /// Nothing was in flight for longer than a timeout. RFC 5681, section 4.1: the window is at
    /// most the initial one.
    fn rested(&mut self, _now: Time) {}

    /// cwnd and ssthresh, for what a connection does to them itself (Linux); `None` if it leaves
    /// them to the congestion control.
    fn cwnd(&mut self) -> Option<Cwnd<'_>> {
        None
    }

    /// A loss or a timeout was none: what it took from cwnd and ssthresh, which were as in
    /// `before`, is given back.
    fn undo(&mut self, before: Before) {
        if let Some(cwnd) = self.cwnd() {
            *cwnd.window = cwnd.window.max(before.window);
            *cwnd.threshold = cwnd.threshold.max(before.threshold);
        }
    }

    /// Whether the congestion control limits sending in recovery itself; otherwise proportional
    /// rate reduction does.
    fn has_own_recovery(&self) -> bool {
        false
    }

    /// Whether it wants samples of the delivery rate.
    fn wants_rate(&self) -> bool {
        false
    }

    /// Whether it wants to be told of pairs of packets, and where they are measured.
    fn wants_pairs(&self) -> Option<PairsAt> {
        None
    }

    /// How it learns of CE marks.
    fn ecn(&self) -> Ecn {
        Ecn::Not
    }

    /// The ECN field of its packets.
    fn code_point(&self) -> CodePoint {
        self.ecn().code_point()
    }

    /// ssthresh in packets, as `inspect` names it; `None` if it names none.
    fn threshold(&self) -> Option<f64> {
        let mut threshold = None;
        self.inspect(&mut |name, value| threshold = if name == "threshold_packets" { Some(value) } else { threshold });
        threshold
    }

    /// The marks that its packets may be given.
    fn accepts(&self) -> Marks {
        self.code_point().field().accepts()
    }

    /// Its phase, in the words of its source. A connection that repairs losses says [`RECOVERY`]
    /// instead, unless the congestion control [has its own](Self::has_own_recovery). Asked only
    /// where a run is sampled.
    fn phase(&self) -> &'static str;

    /// Passes its named inner values to `visit`.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// The phase in which the window grows by a packet for each that is acknowledged (RFC 5681, section
/// 3.1).
pub const SLOW_START: &str = "slow start";
/// The phase after it (RFC 5681, section 3.1).
pub const AVOIDANCE: &str = "congestion avoidance";
/// The phase in which losses are repaired (RFC 5681, section 3.2; RFC 6675).
pub const RECOVERY: &str = "recovery";
