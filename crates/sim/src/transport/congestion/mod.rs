//! Congestion controls: how many packets may be in flight, and how fast they follow each other. One law, one file.
//!
//! A law is told what happened, each time with one record, and asked for its window and its pace. What was lost and what
//! is sent again is not its business (`tcp`, `go_back_n`). Windows are real numbers of packets: growth by parts of a
//! packet must not die of rounding.

pub mod bbr;
pub mod bbr3;
pub mod copa;
pub mod cubic;
pub mod dctcp;
pub mod decbit;
pub mod fast;
pub mod fixed_window;
pub mod hstcp;
pub mod htcp;
pub mod hybla;
pub mod jk;
pub mod ledbat;
pub mod newreno;
pub mod pace;
pub mod packet_pair;
pub mod prague;
pub mod reno;
pub mod rounds;
pub mod scalable;
pub mod slow_start;
pub mod tahoe;
pub mod vegas;
pub mod westwood_plus;
pub mod windowed;

#[cfg(test)]
mod bottleneck;

use super::ecn::CodePoint;
use fairq_sched::packet::Marks;
use fairq_sched::units::{Rate, Time};

/// What an acknowledgement says to a law.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When it came.
    pub now: Time,
    /// Packets that it acknowledges in order for the first time; none if it is a duplicate.
    pub newly: u64,
    /// Whether there are more than `newly` says, so that avoidance takes one too if slow start ends with it.
    pub goes_on: bool,
    /// Packets of which the sender learns with it that they arrived, in order or not.
    pub delivered: u64,
    /// Packets that it reports as marked.
    pub marked: u64,
    /// The marks that it carries.
    pub marks: Marks,
    /// Bytes of a packet.
    pub length: u32,
    /// The round trip it gives a sample of.
    pub round_trip: Option<Time>,
    /// How long the packet that caused it was on its way.
    pub one_way: Option<Time>,
    /// The smoothed round trip; zero before the first sample.
    pub smoothed: Time,
    /// The least round trip so far; [`Time::NEVER`] before the first sample.
    pub least: Time,
    /// Packets that were in flight before it came.
    pub flight: u64,
    /// Packets that are in flight now: of these without those that arrived or are found lost.
    pub in_flight: u64,
    /// Whether the window kept the sender from sending more. A window that is not used must not grow.
    pub is_limited: bool,
    /// Whether lost packets are being sent again: the window must not grow.
    pub is_recovering: bool,
    /// Whether a round trip has passed: it is the first that acknowledges a packet sent after the last round began.
    pub begins_round: bool,
    /// How fast packets were delivered; for laws that ask for it.
    pub rate: Option<RateSample>,
    /// What a pair of packets sent back to back tells; for laws that ask for it.
    pub pair: Option<Pair>,
}

impl Acked {
    /// An acknowledgement at `now` of `newly` packets of 1000 bytes by a sender that uses its window and learned nothing
    /// else. Its fields can be changed; records of a law's tests begin from it.
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

    /// Whether a window that grows with acknowledgements may grow by it.
    #[must_use]
    pub const fn lets_grow(&self) -> bool {
        self.newly > 0 && self.is_limited && !self.is_recovering
    }
}

/// How fast packets were delivered between the sending of one and its acknowledgement.
///
/// Source: draft-cheng-iccrg-delivery-rate-estimation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Packets delivered in a second.
    pub packets_per_s: f64,
    /// Packets that had been delivered when the packet was sent, and that are now.
    pub delivered_before: u64,
    /// See `delivered_before`.
    pub delivered: u64,
    /// The time over which they were delivered.
    pub interval: Time,
    /// Whether the sender had nothing to send at some time: the path may be faster.
    pub is_application_limited: bool,
    /// Packets in flight when the packet was sent, this one too.
    pub flight_at_send: u64,
    /// Packets found lost since the packet was sent.
    pub lost: u64,
}

/// A packet that was found lost, for laws that watch the delivery rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostPacket {
    /// Packets that had been delivered when it was sent.
    pub delivered_before: u64,
    /// Packets in flight when it was sent, this one too.
    pub flight_at_send: u64,
    /// Packets found lost since it was sent, this one too.
    pub lost: u64,
    /// Whether the sender had nothing to send at some time before.
    pub is_application_limited: bool,
}

/// Two packets that were sent back to back, and how far apart they are now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// From the first to the second; above zero.
    pub gap: Time,
    /// Bytes of the second.
    pub length: u32,
}

impl Pair {
    /// Bits in a second.
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
    /// Between the acknowledgements as they come: what delays these enters it.
    #[default]
    Sender,
    /// Between the packets as they come, of which the acknowledgements carry the times.
    Receiver,
}

/// What a loss, a mark or a timeout says to a law.
#[derive(Clone, Copy, Debug)]
pub struct Congested {
    /// When it was noticed.
    pub now: Time,
    /// Packets found lost, or reported as marked, just now.
    pub packets: u64,
    /// Packets that a part is taken of, as the connection's `reduces` says: the window, or what of it was in flight.
    pub flight: u64,
    /// Packets in flight now, without those that arrived or are found lost.
    pub in_flight: u64,
    /// Packets that arrived, as the acknowledgement told that let the sender find the loss.
    pub delivered: u64,
    /// The window, if the law is to take its part of that, as ns-2 does (`reduces = "window"`).
    pub window: Option<f64>,
    /// The smoothed round trip; zero before the first sample.
    pub smoothed: Time,
    /// The least round trip so far; [`Time::NEVER`] before the first sample.
    pub least: Time,
    /// Whether the oldest packet was sent again before: a second timeout of one packet, which does not halve again.
    pub is_repeated: bool,
}

impl Congested {
    /// One packet of `flight`, at `now`, the first time. Records of a law's tests begin from it.
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
        }
    }
}

/// What a law begins with.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// When.
    pub now: Time,
    /// The initial window, in packets.
    pub window: f64,
    /// What the receiver will take, in packets: a greater window is of no use.
    pub window_max: f64,
    /// Whether the connection spreads its packets over the round trip, so that growth by many
    /// packets at once makes no burst.
    pub is_paced: bool,
    /// Whether slow start counts all packets that an acknowledgement tells of, and not one.
    pub counts_all: bool,
    /// A number of the connection's own, drawn from the seed, for laws that draw.
    pub seed: u64,
}

impl Beginning {
    /// At time zero, with an initial window and no limit. Tests of a law begin from it.
    #[must_use]
    pub const fn with_window(window: f64) -> Self {
        Self { now: Time::ZERO, window, window_max: 1e9, is_paced: false, counts_all: false, seed: 1 }
    }
}

/// How a law is told of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Packets accept no CE mark.
    #[default]
    Not,
    /// The receiver repeats a mark until it hears of the answer; one answer to a window of data (RFC 3168).
    Classic,
    /// The receiver tells of each packet whether it was marked (RFC 8257).
    Dctcp,
    /// The receiver counts marked packets and tells the count (RFC 9768); the packets are ECT(1).
    Accurate,
}

/// Settings of a law.
pub trait LawSettings {
    /// Why they make no sense, if they do not.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// The first of some numbers that is not above its low end and at most its high end, as a line for the user. Each is
/// given with its name, value, low and high end.
#[must_use]
pub fn outside(numbers: &[(&str, f64, f64, f64)]) -> Option<String> {
    let wrong = numbers.iter().find(|(_, value, low, high)| !(*value > *low && *value <= *high));
    wrong.map(|(name, value, low, high)| format!("{name} is {value}; it must be above {low} and at most {high}"))
}

/// The first of some numbers, each with its name, that is not above 0 and below 1, as a line for the user: a part that is
/// taken, or left, is neither nothing nor all. A decrease that leaves everything would be none.
#[must_use]
pub fn no_part(numbers: &[(&str, f64)]) -> Option<String> {
    let wrong = numbers.iter().find(|(_, value)| !(*value > 0.0 && *value < 1.0));
    wrong.map(|(name, value)| format!("{name} is {value}; it must be above 0 and below 1"))
}

/// A law of the window.
pub trait Congestion: Send {
    /// Packets that may be in flight. The sender uses the integer part, and at least one.
    fn window(&self) -> f64;

    /// The pace of packets, if they are not to follow at once.
    fn pace(&self) -> Option<Rate> {
        None
    }

    /// How many packets may follow at once where they are paced.
    fn burst(&self) -> u32 {
        1
    }

    /// A packet was sent; `flight` were in flight before. Called for laws with [`Congestion::watches_sending`] only.
    fn sent(&mut self, _now: Time, _flight: u64) {}

    /// Whether [`Congestion::sent`] is to be called.
    fn watches_sending(&self) -> bool {
        false
    }

    /// An acknowledgement came, a duplicate too.
    fn acknowledged(&mut self, acked: &Acked);

    /// A packet was lost. Told once for a window of data.
    fn lost(&mut self, congested: &Congested);

    /// Packets were found lost, each time that some are; called before `lost`.
    fn found_lost(&mut self, _congested: &Congested) {}

    /// Each packet that was found lost, after [`Congestion::found_lost`]; for laws that [want the rate](Self::wants_rate).
    fn lost_packet(&mut self, _now: Time, _lost: &LostPacket) {}

    /// Marks were reported. Told once for a window of data; for laws whose [`Congestion::ecn`] is [`Ecn::Classic`].
    fn marked(&mut self, congested: &Congested) {
        self.lost(congested);
    }

    /// The retransmission timer expired.
    fn timed_out(&mut self, congested: &Congested);

    /// What was lost has been sent again and acknowledged.
    fn recovered(&mut self, _now: Time) {}

    /// From now on the window is, or is not, what keeps the sender from sending. It is not where
    /// there is nothing to send and where the receiver takes no more. Called when that changes; at
    /// first it is not.
    fn limits(&mut self, _now: Time, _is_limit: bool) {}

    /// Nothing was in flight for longer than a timeout. RFC 5681, section 4.1: the window is at most the initial one.
    fn rested(&mut self, _now: Time) {}

    /// Whether the law keeps the send budget in recovery to itself; otherwise proportional rate reduction has it.
    fn has_own_recovery(&self) -> bool {
        false
    }

    /// Whether the law wants samples of the delivery rate.
    fn wants_rate(&self) -> bool {
        false
    }

    /// Whether the law wants to be told of pairs of packets, and measured where.
    fn wants_pairs(&self) -> Option<PairsAt> {
        None
    }

    /// How it is told of CE marks.
    fn ecn(&self) -> Ecn {
        Ecn::Not
    }

    /// The ECN field of its packets.
    fn code_point(&self) -> CodePoint {
        match self.ecn() {
            Ecn::Not => CodePoint::None,
            Ecn::Classic | Ecn::Dctcp => CodePoint::Ect0,
            Ecn::Accurate => CodePoint::Ect1,
        }
    }

    /// ssthresh in packets, as it is shown; none for laws that show none.
    fn threshold(&self) -> Option<f64> {
        let mut threshold = None;
        self.inspect(&mut |name, value| threshold = if name == "threshold_packets" { Some(value) } else { threshold });
        threshold
    }

    /// The marks that its packets may be given.
    fn accepts(&self) -> Marks {
        self.code_point().accepts()
    }

    /// Names inner values to one who asks.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
