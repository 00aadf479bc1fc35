//! What a connection is besides its law of congestion: how losses are found and mended, when is answered, how it begins.

use crate::transport::congestion::{Beginning, Congestion, Ecn};
#[cfg(feature = "schema")]
use crate::transport::estimator::is_zero;
use crate::transport::estimator::{self, LEAST_TIMEOUT};
use crate::transport::receiver::Answers;
use crate::transport::registry::TransportSettings;
use fairq_sched::units::{Bytes, Time};
use std::sync::Arc;

/// How losses are found, and what is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Recovery {
    /// Three duplicates have everything from the oldest packet on sent again, as a timeout does (Jacobson 1988).
    Tahoe,
    /// Three duplicates have the oldest packet sent again; the next new acknowledgement ends recovery (RFC 5681).
    Reno,
    /// The same, and recovery goes on until all that was sent before it is acknowledged (RFC 6582).
    #[cfg_attr(feature = "schema", serde(rename = "newreno"))]
    NewReno,
    /// By selective acknowledgements (RFC 2018, RFC 6675).
    Sack,
    /// By selective acknowledgements and the times of transmissions, with probes of the tail (RFC 8985).
    Rack,
}

impl Recovery {
    /// Whether the receiver says which packets it keeps out of order.
    #[must_use]
    pub const fn is_selective(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }
}

/// Who says how much is sent in recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RateReduction {
    /// Proportional rate reduction (RFC 9937).
    #[default]
    Proportional,
    /// Proportional, and below the threshold never more than was delivered (RFC 6937, conservative bound).
    Conservative,
    /// Proportional, and below the threshold one packet more than was delivered (RFC 6937, slow start bound).
    SlowStart,
    /// The window alone (RFC 6675).
    None,
}

/// Of what a congestion control takes a part at a loss, a mark or a timeout: the base of ssthresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Reduces {
    /// Of the window (cwnd), as Linux and FreeBSD do. A window that is not used does not grow here, as RFC 9438, section 4.6,
    /// asks of a sender that does so; a sender that has little to send keeps the window that it had grown to (RFC 7661).
    #[default]
    Cwnd,
    /// Of the packets in flight (FlightSize, RFC 5681, section 3.1), and of no more than the window: what limited transmit sent
    /// beyond it does not count, nor do several windows that a long recovery leaves unacknowledged.
    Flight,
    /// Of the window in `reno`, `newreno` and `hstcp`, at every timeout, that of the opening packet too, and down to one packet,
    /// as ns-2 does; in others as `flight`.
    Window,
    /// Of the packets that are neither known to have arrived nor to be lost, as ns-3 does with selective acknowledgements.
    Pipe,
}

/// What lets a window grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Grows {
    /// Packets acknowledged (RFC 3465), but not by the acknowledgement that ends a recovery.
    #[default]
    Packets,
    /// All packets of which an acknowledgement of new data tells, that which ends a recovery too, and in slow start without a
    /// limit, as Linux does.
    All,
    /// Each acknowledgement of new data as if it were of one packet, that which ends a recovery too, as ns-2 does.
    Acknowledgements,
    /// The same, except by the acknowledgement that ends what a timeout began and tells of nothing sent since. One of several
    /// packets that brings the window of `reno` and `newreno` to ssthresh lets it grow in slow start and in avoidance. As ns-3 does.
    ExceptTimeout,
}

/// Which packets give a sample of the round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Timed {
    /// Each that was sent once, or each if there are time stamps.
    #[default]
    Each,
    /// One new packet at a time, from its sending until it is acknowledged in order, unless a packet is lost meanwhile: about
    /// one in a round trip, as BSD did without time stamps and ns-2 does.
    One,
    /// The oldest that an acknowledgement acknowledges in order, if it was sent once: none while a packet is missing, nor what
    /// was sent before a timeout. As ns-3 does without time stamps.
    Oldest,
    /// The last that an acknowledgement tells of, if it was sent once, as Linux times what its congestion controls go by. The
    /// time stamp of a delayed acknowledgement is that of the first.
    Latest,
}

/// What ends the backoff of the timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum BackoffEnds {
    /// A sample of the round trip (RFC 6298, section 5).
    #[default]
    Sample,
    /// Any acknowledgement of new data, as ns-3 does.
    Acknowledgement,
}

#[cfg(feature = "schema")]
impl BackoffEnds {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The retransmission timeout (RFC 6298).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Timeout {
    /// The least. The RFC says 1 s; most systems and ns-2 take 200 ms.
    pub floor: Time,
    /// Before the first sample of the round trip.
    pub first: Time,
    /// The greatest, backed off.
    pub ceiling: Time,
    /// What is added at least for the variation: the granularity of the clock.
    pub granularity: Time,
    /// How long a tick of the host's clock is: round trips and timeouts are whole ticks then, as in ns-2. If it is zero they are
    /// exact.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "is_zero"))]
    pub tick: Time,
    /// What ends a backoff.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "BackoffEnds::is_default"))]
    pub backoff_ends: BackoffEnds,
    /// Whether a timeout takes its part of what is in flight even if the oldest packet timed out before. As
    /// ns-3 does.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub always_reduces: bool,
}

impl Default for Timeout {
    fn default() -> Self {
        // RFC 6298, rules (2.1), (2.4), (2.5); its clock granularity, as a modern clock has it.
        Self {
            floor: Time::from_s(1),
            first: Time::from_s(1),
            ceiling: Time::from_s(60),
            granularity: Time::from_ms(1),
            tick: Time::ZERO,
            backoff_ends: BackoffEnds::default(),
            always_reduces: false,
        }
    }
}

impl Timeout {
    fn estimator(&self) -> estimator::Settings {
        estimator::Settings {
            deviation_floor: self.granularity,
            floor: self.floor,
            first: self.first,
            ceiling: Some(self.ceiling),
            tick: self.tick,
            backoff_limit: 0,
            ..estimator::Settings::default()
        }
    }
}

/// Whose hosts a connection is between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum Profile {
    /// Linux's, by a kernel of the 6.1 series.
    #[cfg_attr(feature = "schema", serde(rename = "linux"))]
    Linux,
    /// Those of the RFCs to the letter.
    #[cfg_attr(feature = "schema", serde(rename = "rfc"))]
    Rfc,
    /// Those of ns-2's one-way agents of the Reno family.
    #[cfg_attr(feature = "schema", serde(rename = "ns-2"))]
    Ns2,
    /// Those of ns-3's sockets.
    #[cfg_attr(feature = "schema", serde(rename = "ns-3"))]
    Ns3,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Linux, Self::Rfc, Self::Ns2, Self::Ns3];

    /// What a scenario calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Rfc => "rfc",
            Self::Ns2 => "ns-2",
            Self::Ns3 => "ns-3",
        }
    }

    /// That of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// What a connection is besides its law of congestion. The flow controls of 1990 (`generic`, `jk`, `decbit`,
/// `fixed_window`) have their own rules and take nothing from here.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Connection {
    /// Whose hosts it is between: what the profile says holds where nothing else is written. `connection = "linux"` is this field
    /// alone.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub profile: Option<Profile>,
    /// How losses are found and mended; if nothing is said `tahoe`, `reno` and `newreno` for the congestion controls of these
    /// names and `rack` for all others (`sack` in edition 1).
    pub recovery: Option<Recovery>,
    /// Who says how much is sent in recovery by selective acknowledgements.
    pub rate_reduction: RateReduction,
    /// Duplicate acknowledgements that tell of a loss.
    pub duplicates: u32,
    /// Whether the first two duplicates each let a new packet go (RFC 3042).
    pub limited_transmit: bool,
    /// Whether after a timeout, too, they let a packet go: one that is sent again, where the RFC says a new one. As ns-2 does.
    pub transmits_after_timeout: bool,
    /// Whether `reno` answers duplicates at most once to the data that was sent by then, as ns-2 does; a second loss in it
    /// waits for the timer.
    pub answers_once: bool,
    /// Whether in a recovery by selective acknowledgements, too, only the first partial acknowledgement begins the timer anew
    /// (RFC 6582's impatient variant, which `newreno` always is), and the recovery's beginning does not. As ns-3 does.
    pub impatient: bool,
    /// Whether losses of what was sent in a recovery by selective acknowledgements, or again, take nothing more from the window
    /// before it ends, as in Linux, where else they are a loss of another round trip.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub reduces_once: bool,
    /// Whether a selective acknowledgement of what was sent before the oldest packet was sent last begins the timer anew: that
    /// packet may still be on its way. As Linux does.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub rearms_by_blocks: bool,
    /// Whether a packet that was sent again counts as in flight until it is acknowledged in order, even if a selective
    /// acknowledgement has told that it arrived. As ns-3 does.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub holds_resent: bool,
    /// Whether a packet that was sent again is not found lost anew before the next timeout, however many overtake it. As ns-3
    /// does; else that is so in a recovery only.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub resends_once: bool,
    /// Whether a partial acknowledgement in a recovery by selective acknowledgements lets a packet go whatever the window says,
    /// unless the oldest was sent again: one that is lost, else a new one. As ns-3 does.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub partial_lets_go: bool,
    /// Whether an acknowledgement is longer by the selective blocks that it tells: 2 bytes and 8 for each, filled up to a
    /// multiple of 4 (RFC 2018, section 3). As ns-3 does, and all real hosts.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub counts_blocks: bool,
    /// Of what a loss takes a part; if nothing is said `cwnd` (`flight` in edition 1).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub reduces: Option<Reduces>,
    /// What lets the window grow.
    pub grows: Grows,
    /// The initial window, in packets (RFC 6928).
    pub initial_window: u32,
    /// What the receiver takes, in packets.
    pub receive_window: u32,
    /// Whether a packet of 40 bytes opens the connection and is waited for.
    pub handshake: bool,
    /// Whether a packet that was sent twice gives a sample of the round trip, told apart by time stamps (RFC 7323). They leave
    /// room for three selective blocks in an acknowledgement in place of four.
    pub timestamps: bool,
    /// Which packets give a sample of the round trip.
    pub timed: Timed,
    /// Whether the opening packet gives a sample even if it was sent again, from when it was sent first. As ns-3 does: its timer
    /// then takes three times as long as the opening took.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub times_lost_opening: bool,
    /// Whether the window and ssthresh stay as they were if the opening packet is lost, where RFC 5681, section 3.1, begins with
    /// one packet. As ns-3 does.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub forgives_lost_opening: bool,
    /// The receiver answers each so many packets.
    pub acknowledge_every: u32,
    /// It answers a packet at the latest after this time, which is below 500 ms (RFC 5681, section 4.2).
    pub acknowledgement_delay: Time,
    /// So many acknowledgements at the beginning are sent at once, each for one packet.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "is_nothing"))]
    pub quick_acknowledgements: u8,
    /// Whether the receiver's window follows what it takes in a round trip, from 64 KB to `receive_window`, and each packet is
    /// acknowledged at once while it grows. What the sender may send is bounded by `receive_window` alone: the window grows
    /// faster than any slow start.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub tunes_window: bool,
    /// Whether the sender's host has a buffer of its own that follows the window: while losses are mended, at most twice the
    /// largest window with which that began may be without acknowledgement, what the receiver holds behind a hole included; not
    /// of laws with a recovery of their own, as BBR, which have room for more than they send. As Linux does
    /// (`tcp_sndbuf_expand`): it makes room for 2304 B a packet, of which one of 1448 B of data takes 2280, and keeps 4 MB.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub tunes_buffer: bool,
    /// Whether packets of a law without a pace of its own are spread over the round trip: at 2 windows a round trip below half of
    /// ssthresh and at 1.2 above, as Linux does.
    pub pacing: bool,
    /// The greatest time that the source's host takes before an acknowledgement lets packets go: each time another, drawn
    /// evenly from zero to this. If nothing is said it is a packet's time on the slowest line of the path, which ends phase
    /// effects, or nothing if a file says the lengths of packets; `0 s` switches it off. Packets that a pace spaces are not
    /// delayed.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub processing: Option<Time>,
    /// The retransmission timeout.
    pub timeout: Timeout,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            profile: None,
            recovery: None,
            rate_reduction: RateReduction::default(),
            // RFC 5681, section 3.2.
            duplicates: 3,
            limited_transmit: true,
            transmits_after_timeout: false,
            answers_once: false,
            impatient: false,
            reduces_once: false,
            rearms_by_blocks: false,
            holds_resent: false,
            resends_once: false,
            partial_lets_go: false,
            counts_blocks: false,
            reduces: None,
            grows: Grows::default(),
            initial_window: 10,
            receive_window: 1_000_000,
            handshake: false,
            timestamps: true,
            timed: Timed::default(),
            times_lost_opening: false,
            forgives_lost_opening: false,
            // One answer to a packet: what the papers and ns-2 simulate.
            acknowledge_every: 1,
            // RFC 5681, section 4.2: below 500 ms; Linux waits 40 ms and more.
            acknowledgement_delay: Time::from_ms(40),
            quick_acknowledgements: 0,
            tunes_window: false,
            tunes_buffer: false,
            pacing: false,
            processing: None,
            timeout: Timeout::default(),
        }
    }
}

/// The settings as a sender uses them, and its law's. The connections of a flow's copies share them.
#[derive(Clone, Debug)]
pub struct Terms {
    connection: Connection,
    transport: Arc<TransportSettings>,
    /// How losses are found and mended.
    pub recovery: Recovery,
    /// Of what a loss takes a part.
    pub reduces: Reduces,
    /// The rules of the estimator that follow from the timeout's.
    pub estimator: estimator::Rules,
}

impl Terms {
    /// Those of a connection under `transport`.
    #[must_use]
    pub fn new(connection: Connection, transport: Arc<TransportSettings>) -> Self {
        // A transport with rules of its own has no recovery; its terms are not used.
        let recovery = connection.recovery.or(transport.recovery()).unwrap_or(Recovery::Rack);
        let reduces = connection.reduces.unwrap_or_default();
        Self { estimator: connection.timeout.estimator().into(), connection, transport, recovery, reduces }
    }

    /// The congestion control of a connection that begins at `now`, whose own number is `seed`.
    #[must_use]
    pub fn begin(&self, now: Time, seed: u64) -> Box<dyn Congestion> {
        self.begin_with(self.initial_window, now, seed)
    }

    /// The same with another initial window, in packets.
    #[must_use]
    pub fn begin_with(&self, initial_window: u32, now: Time, seed: u64) -> Box<dyn Congestion> {
        let (window, window_max) = (initial_window.into(), self.receive_window.into());
        match self.transport.law(&Beginning {
            now,
            window,
            window_max,
            is_paced: self.pacing,
            counts_all: self.grows == Grows::All,
            seed,
        }) {
            Some(law) => law,
            None => unreachable!("only a law of congestion has a connection"),
        }
    }
}

impl std::ops::Deref for Terms {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
#[cfg(feature = "schema")]
const fn is_nothing(count: &u8) -> bool {
    *count == 0
}

/// An acknowledgement is delayed by less than this (RFC 5681, section 4.2).
const DELAY_LIMIT: Time = Time::from_ms(500);

/// Bytes of the packet that opens a connection.
pub(super) const OPENING: Bytes = Bytes(40);

impl Connection {
    /// When the receiver answers, with what it says of marks.
    #[must_use]
    pub const fn answers(&self, recovery: Recovery, ecn: Ecn) -> Answers {
        Answers {
            every: self.acknowledge_every,
            delay: self.acknowledgement_delay,
            quick: self.quick_acknowledgements,
            window_max: if self.tunes_window { self.receive_window } else { 0 },
            are_selective: recovery.is_selective(),
            // RFC 2018, section 3: 40 bytes of options hold four blocks, or three beside a time stamp.
            blocks_max: if self.timestamps { 3 } else { 4 },
            count_blocks: self.counts_blocks,
            ecn,
        }
    }

    /// Why the settings make no sense, if they do not.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let counts = [
            ("duplicates", self.duplicates, 1, 1000),
            ("initial_window", self.initial_window, 1, 1_000_000),
            ("receive_window", self.receive_window, 1, 1_000_000_000),
            ("acknowledge_every", self.acknowledge_every, 1, 1000),
        ];
        if let Some((name, value, low, high)) =
            counts.into_iter().find(|(_, value, low, high)| value < low || value > high)
        {
            return Some(format!("{name} is {value}; it is from {low} to {high}"));
        }
        let timeout = &self.timeout;
        let wrong = [("timeout.first", timeout.first, "\"1 s\""), ("timeout.floor", timeout.floor, "\"200 ms\"")];
        if let Some((name, _, usual)) = wrong.into_iter().find(|(_, time, _)| *time < LEAST_TIMEOUT) {
            return Some(format!("{name} is less than {LEAST_TIMEOUT}; write for example {usual}"));
        }
        if let Some(fault) = timeout.estimator().ceiling_fault() {
            return Some(fault);
        }
        let by_clock = [(Timed::One, "one"), (Timed::Oldest, "oldest")];
        if let Some((_, name)) = by_clock.into_iter().find(|(timed, _)| self.timestamps && self.timed == *timed) {
            return Some(format!(
                "timed is \"{name}\", but with time stamps each packet is timed; write timestamps = false"
            ));
        }
        if self.acknowledgement_delay >= DELAY_LIMIT {
            let delay = self.acknowledgement_delay;
            return Some(format!(
                "acknowledgement_delay is {delay}; RFC 5681, section 4.2, has it below {DELAY_LIMIT}, write for example \
                 \"40 ms\""
            ));
        }
        if self.acknowledge_every > 1 && self.acknowledgement_delay == Time::ZERO {
            return Some(
                "acknowledgement_delay is 0 s, so that nothing is delayed; write for example \"40 ms\"".to_string(),
            );
        }
        None
    }
}
