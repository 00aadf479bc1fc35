//! The settings of a connection besides its congestion control: how losses are found and repaired,
//! when the receiver acknowledges, how a connection begins.

use super::quirks::Quirks;
use crate::transport::congestion::{Beginning, Congestion};
use crate::transport::ecn::Ecn;
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
    /// On three duplicates everything from the oldest packet on is sent again, as after a timeout
    /// (Jacobson 1988).
    Tahoe,
    /// On three duplicates the oldest packet is sent again; the next new acknowledgement ends
    /// recovery (RFC 5681).
    Reno,
    /// As `reno`, but recovery lasts until all that was sent before it is acknowledged (RFC 6582).
    #[cfg_attr(feature = "schema", serde(rename = "newreno"))]
    NewReno,
    /// By selective acknowledgements (RFC 2018, RFC 6675).
    Sack,
    /// By selective acknowledgements and the times of transmissions, with probes of the tail (RFC
    /// 8985).
    Rack,
}

impl Recovery {
    /// Whether the receiver reports the packets that it holds out of order.
    #[must_use]
    pub const fn is_selective(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }
}

/// What limits the packets sent in recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RateReduction {
    /// Proportional rate reduction (RFC 9937).
    #[default]
    Proportional,
    /// Proportional, and below the threshold never more than was delivered (RFC 6937, conservative
    /// bound).
    Conservative,
    /// Proportional, and below the threshold one packet more than was delivered (RFC 6937, slow
    /// start bound).
    SlowStart,
    /// The window alone (RFC 6675).
    None,
}

/// What a congestion control reduces at a loss, a mark or a timeout: the base of ssthresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Reduces {
    /// The window (cwnd), as in Linux and FreeBSD. A window that is not used does not grow here,
    /// which RFC 9438, section 4.6, requires of such a sender. A sender that has little to send
    /// keeps the window that it had grown to (RFC 7661).
    #[default]
    Cwnd,
    /// The packets in flight (FlightSize, RFC 5681, section 3.1), but at most the window. Packets
    /// that limited transmit sent beyond the window do not count, nor do several windows that a
    /// long recovery leaves unacknowledged.
    Flight,
    /// The window in `reno`, `newreno` and `hstcp`, at every timeout, also that of the opening
    /// packet, and down to one packet, as in ns-2; in others as `flight`.
    Window,
    /// The packets that are known neither to have arrived nor to be lost, as in ns-3 with selective
    /// acknowledgements.
    Pipe,
}

/// What makes a window grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Grows {
    /// Packets acknowledged (RFC 3465), but not by the acknowledgement that ends a recovery.
    #[default]
    Packets,
    /// All packets that an acknowledgement of new data reports, also the one that ends a recovery,
    /// and in slow start without a limit, as in Linux.
    All,
    /// Each acknowledgement of new data as if it were of one packet, also the one that ends a
    /// recovery, as in ns-2.
    Acknowledgements,
    /// As `acknowledgements`, except the acknowledgement that ends the recovery of a timeout and
    /// reports nothing sent since. An acknowledgement of several packets that brings the window of
    /// `reno` and `newreno` to ssthresh makes it grow both in slow start and in avoidance. As in
    /// ns-3.
    ExceptTimeout,
}

/// Which packets give a round-trip sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Timed {
    /// Each that was sent once; with time stamps each.
    #[default]
    Each,
    /// One new packet at a time, from its sending until it is acknowledged in order, unless a
    /// packet is lost meanwhile: about one in a round trip, as in BSD without time stamps and in
    /// ns-2.
    One,
    /// The oldest packet that an acknowledgement acknowledges in order, if it was sent once. None
    /// while a packet is missing, and none that was sent before a timeout. As in ns-3 without time
    /// stamps.
    Oldest,
    /// The last packet that an acknowledgement reports, if it was sent once. This is how Linux
    /// samples for its congestion controls. The time stamp of a delayed acknowledgement is that of
    /// the first packet.
    Latest,
}

/// What ends the backoff of the timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum BackoffEnds {
    /// A round-trip sample (RFC 6298, section 5).
    #[default]
    Sample,
    /// Any acknowledgement of new data, as in ns-3.
    Acknowledgement,
}

#[cfg(feature = "schema")]
impl BackoffEnds {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

settings! {
    /// The retransmission timeout (RFC 6298).
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [{ "floor": "200 ms" }])))]
    pub struct Timeout {
        /// The least timeout. The RFC says 1 s; most systems and ns-2 take 200 ms.
        // RFC 6298, rules (2.1), (2.4), (2.5); the granularity is that of a modern clock.
        pub floor: Time = Time::from_s(1),
        /// The timeout before the first round-trip sample.
        pub first: Time = Time::from_s(1),
        /// The greatest timeout, backed off.
        pub ceiling: Time = Time::from_s(60),
        /// The least time that is added for the variation: the granularity of the clock.
        pub granularity: Time = Time::from_ms(1),
        /// The length of a tick of the host's clock: round trips and timeouts are then whole ticks,
        /// as in ns-2. If it is zero they are exact.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "is_zero"))]
        pub tick: Time = Time::ZERO,
        /// What ends a backoff.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "BackoffEnds::is_default"))]
        pub backoff_ends: BackoffEnds = BackoffEnds::default(),
        /// Whether a timeout reduces by the packets in flight even if the oldest packet timed out
        /// before. As in ns-3.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub always_reduces: bool = false,
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

/// The system of a connection's hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum Profile {
    /// Linux, a kernel of the 6.1 series.
    #[cfg_attr(feature = "schema", serde(rename = "linux"))]
    Linux,
    /// The RFCs to the letter.
    #[cfg_attr(feature = "schema", serde(rename = "rfc"))]
    Rfc,
    /// ns-2's one-way agents of the Reno family.
    #[cfg_attr(feature = "schema", serde(rename = "ns-2"))]
    Ns2,
    /// ns-3's sockets.
    #[cfg_attr(feature = "schema", serde(rename = "ns-3"))]
    Ns3,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 4] = [Self::Linux, Self::Rfc, Self::Ns2, Self::Ns3];

    /// Its name in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Rfc => "rfc",
            Self::Ns2 => "ns-2",
            Self::Ns3 => "ns-3",
        }
    }

    /// The profile called `name`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

settings! {
    /// The settings of a connection besides its congestion control. The flow controls of 1990
    /// (`generic`, `jk`, `decbit`, `fixed_window`) have their own rules and use none of these.
    #[cfg_attr(feature = "schema", schemars(extend("examples" = [{ "profile": "linux", "initial_window": 2 }])))]
    pub struct Connection {
        /// The system of its hosts: the profile's settings apply where nothing else is written.
        /// `connection = "linux"` is this field alone.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub profile: Option<Profile> = None,
        /// How losses are found and repaired. Default: `tahoe`, `reno` and `newreno` for the
        /// congestion controls of these names and `rack` for all others (`sack` in edition 1).
        pub recovery: Option<Recovery> = None,
        /// What limits the packets sent in recovery by selective acknowledgements.
        pub rate_reduction: RateReduction = RateReduction::default(),
        /// The number of duplicate acknowledgements that indicates a loss.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "acknowledgements")))]
        // RFC 5681, section 3.2.
        pub duplicates: u32 = 3,
        /// Whether the first two duplicates each allow a new packet (RFC 3042).
        pub limited_transmit: bool = true,
        /// Whether duplicates allow a packet after a timeout as well: a retransmission, where the
        /// RFC says a new one. As in ns-2.
        pub transmits_after_timeout: bool = false,
        /// Whether `reno` reacts to duplicates at most once for the data that was sent by then, as
        /// in ns-2; a second loss in it waits for the timer.
        pub answers_once: bool = false,
        /// Whether in a recovery by selective acknowledgements, too, only the first partial
        /// acknowledgement restarts the timer (RFC 6582's impatient variant, which `newreno` always
        /// is), and the beginning of the recovery does not. As in ns-3.
        pub impatient: bool = false,
        /// Whether losses of packets sent in a recovery by selective acknowledgements reduce the
        /// window no further before it ends, as in Linux. Otherwise they are a loss of another
        /// round trip. Another recovery follows at once if a lost packet has not arrived by then,
        /// sent again or not; a timeout in a recovery reduces no further either, and slow start
        /// begins from one packet more than are in flight. After a timeout, a packet that was sent
        /// again and is lost again begins a recovery, and a new packet that is lost does not.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub reduces_once: bool = false,
        /// Whether the reduction for a mark, too, is spread over a round trip as `rate_reduction`
        /// says, instead of taking effect at once; with `dctcp` it then begins where a loss's
        /// would. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub spreads_marks: bool = false,
        /// Whether a rest halves the window once for each timeout that it lasts, down to the
        /// initial window, and ssthresh is then at least three quarters of what the window was (RFC
        /// 2861). Otherwise it is the initial window at once (RFC 5681, section 4.1). As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub rests_by_halves: bool = false,
        /// Whether a timeout or a recovery that proves needless, because its packets were late and
        /// not lost, gives back what it took from the window and ssthresh; after a timeout the
        /// first acknowledgement lets new packets go, whose acknowledgements tell (RFC 5682). As in
        /// Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub undoes: bool = false,
        /// Whether a connection whose opening packet was lost goes on without ECN. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub ecn_fallback: bool = false,
        /// Whether a probe of the tail waits 2 ms beyond two round trips, and that of a lone packet
        /// `timeout.floor`, as in Linux, where RFC 8985 has the receiver's delay for a lone packet
        /// only.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub probes_by_floor: bool = false,
        /// Whether a selective acknowledgement of packets sent before the last transmission of the
        /// oldest packet restarts the timer: that transmission may still be in flight. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub rearms_by_blocks: bool = false,
        /// Whether a packet that was sent again counts as in flight until it is acknowledged in
        /// order, even if a selective acknowledgement has reported it. As in ns-3.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub holds_resent: bool = false,
        /// Whether a packet that was sent again is not found lost again before the next timeout,
        /// however many packets overtake it. As in ns-3; otherwise this holds in a recovery only.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub resends_once: bool = false,
        /// Whether a partial acknowledgement in a recovery by selective acknowledgements allows a
        /// packet whatever the window, unless the oldest was sent again: a lost packet, else a new
        /// one. As in ns-3.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub partial_lets_go: bool = false,
        /// Whether selective blocks make an acknowledgement longer: 2 bytes and 8 for each block,
        /// rounded up to a multiple of 4 (RFC 2018, section 3). As in ns-3 and all real hosts.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub counts_blocks: bool = false,
        /// What a loss reduces. Default: `cwnd` (`flight` in edition 1).
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub reduces: Option<Reduces> = None,
        /// What makes the window grow.
        pub grows: Grows = Grows::default(),
        /// The initial window, in packets (RFC 6928).
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "packets")))]
        pub initial_window: u32 = 10,
        /// The receiver's window, in packets.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "packets")))]
        pub receive_window: u32 = 1_000_000,
        /// Whether a packet of 40 bytes opens the connection, and data waits for its
        /// acknowledgement.
        pub handshake: bool = false,
        /// Whether a packet that was sent twice gives a round-trip sample, its copies being told
        /// apart by time stamps (RFC 7323). Time stamps leave room for three selective blocks in an
        /// acknowledgement instead of four.
        pub timestamps: bool = true,
        /// Which packets give a round-trip sample.
        pub timed: Timed = Timed::default(),
        /// Whether the opening packet gives a sample even if it was sent again, from its first
        /// transmission on. As in ns-3: its timer is then three times as long as the opening took.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub times_lost_opening: bool = false,
        /// Whether the window and ssthresh stay as they were if the opening packet is lost, where
        /// RFC 5681, section 3.1, begins with one packet. As in ns-3.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub forgives_lost_opening: bool = false,
        /// Whether the loss of the opening packet lowers ssthresh as another loss of the first
        /// window would, and only a second one begins with one packet. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub counts_lost_opening: bool = false,
        /// The receiver acknowledges once for this many packets.
        #[cfg_attr(feature = "schema", schemars(extend("examples" = [2], "x-unit" = "packets")))]
        // One acknowledgement for each packet: what the papers and ns-2 simulate.
        pub acknowledge_every: u32 = 1,
        /// The receiver acknowledges a packet at the latest after this time, which is below 500 ms
        /// (RFC 5681, section 4.2).
        #[cfg_attr(feature = "schema", schemars(extend("examples" = ["100 ms"])))]
        // RFC 5681, section 4.2: below 500 ms; Linux waits 40 ms and more.
        pub acknowledgement_delay: Time = Time::from_ms(40),
        /// This many acknowledgements at the beginning are sent at once, each for one packet; also
        /// the next two after the first mark of classic ECN.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "is_nothing"))]
        #[cfg_attr(feature = "schema", schemars(extend("examples" = [16], "x-unit" = "acknowledgements")))]
        pub quick_acknowledgements: u8 = 0,
        /// Whether the receiver, once it has sent three acknowledgements at once for packets beyond
        /// a missing one, sends those of a millisecond together, or of a twentieth of the round
        /// trip if that is less, but of at most 44 packets. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub compresses_acknowledgements: bool = false,
        /// Whether the receiver's window follows the packets that it takes in a round trip, from 64
        /// KB to `receive_window`; each packet is acknowledged at once while the window grows. Only
        /// `receive_window` limits the sender: the window grows faster than any slow start.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub tunes_window: bool = false,
        /// Whether the sender's host has a buffer that follows the window. While losses are
        /// repaired, at most twice the largest window at the start of a repair may be
        /// unacknowledged, including what the receiver holds behind a hole. Congestion controls
        /// with a recovery of their own, such as BBR, are not limited by it: they have room for
        /// more than they send. As in Linux (`tcp_sndbuf_expand`): it allows 2304 B a packet, of
        /// which one of 1448 B of data takes 2280, and at most 4 MB.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub tunes_buffer: bool = false,
        /// Whether packets of a congestion control without a pace of its own are spread over the
        /// round trip: at 2 windows a round trip below half of ssthresh and at 1.2 above, as in
        /// Linux.
        pub pacing: bool = false,
        /// Whether the pace is kept by departure times: a packet that was sent after its time
        /// shortens the gap behind it, by as much but by half of it at most, and `bbr` counts the
        /// packets in flight as they will be when the next may leave. As in Linux.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub departure_times: bool = false,
        /// The greatest time that the source's host takes to process an acknowledgement before it
        /// sends packets: a random time each, uniform from zero to this. Default: the time of a
        /// packet on the slowest line of the path, which ends phase effects, or zero if a file
        /// gives the lengths of packets; `0 s` switches it off. Packets that a pace spaces are not
        /// delayed.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        #[cfg_attr(feature = "schema", schemars(extend("examples" = ["100 us"])))]
        pub processing: Option<Time> = None,
        /// The retransmission timeout.
        pub timeout: Timeout = Timeout::default(),
    }
}

/// The settings in the form that a sender uses, with those of its congestion control. The
/// connections of a flow's copies share them.
#[derive(Clone, Debug)]
pub struct Terms {
    connection: Connection,
    transport: Arc<TransportSettings>,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// What a loss reduces.
    pub reduces: Reduces,
    /// The rules of the estimator, derived from the timeout's settings.
    pub estimator: estimator::Rules,
    /// What is as in a simulator and in no host.
    pub(super) quirks: Quirks,
    /// Whether an acknowledgement may take the fast path, as far as settings are concerned.
    pub(super) has_fast_path: bool,
}

impl Terms {
    /// The terms of a connection under `transport`.
    #[must_use]
    pub fn new(connection: Connection, transport: Arc<TransportSettings>) -> Self {
        // A transport with rules of its own has no recovery; its terms are not used.
        let recovery = connection.recovery.or(transport.recovery()).unwrap_or(Recovery::Rack);
        let reduces = connection.reduces.unwrap_or_default();
        let quirks = Quirks::of(&connection);
        let has_fast_path = quirks.are_none() && connection.timestamps && connection.timed == Timed::Each;
        let estimator = connection.timeout.estimator().into();
        Self { connection, transport, recovery, reduces, estimator, quirks, has_fast_path }
    }

    /// The congestion control of a connection that begins at `now`; `seed` is the connection's own
    /// number.
    #[must_use]
    pub fn begin(&self, now: Time, seed: u64) -> Box<dyn Congestion> {
        self.begin_with(self.initial_window, now, seed)
    }

    /// The congestion control of such a connection with another initial window, in packets.
    #[must_use]
    pub fn begin_with(&self, initial_window: u32, now: Time, seed: u64) -> Box<dyn Congestion> {
        let (window, window_max) = (initial_window.into(), self.receive_window.into());
        match self.transport.law(&Beginning {
            now,
            window,
            window_max,
            is_paced: self.pacing,
            counts_all: self.grows == Grows::All,
            spreads_marks: self.spreads_marks,
            seed,
        }) {
            Some(law) => law,
            None => unreachable!("only a congestion control has a connection"),
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
pub const OPENING: Bytes = Bytes(40);

impl Connection {
    /// When the receiver acknowledges, and how it echoes marks.
    #[must_use]
    pub const fn answers(&self, recovery: Recovery, ecn: Ecn) -> Answers {
        Answers {
            every: self.acknowledge_every,
            delay: self.acknowledgement_delay,
            quick: self.quick_acknowledgements,
            window_max: if self.tunes_window { self.receive_window } else { 0 },
            are_selective: recovery.is_selective(),
            // RFC 2018, section 3: 40 bytes of options hold four blocks, or three beside a time
            // stamp.
            blocks_max: if self.timestamps { 3 } else { 4 },
            count_blocks: self.counts_blocks,
            compresses: self.compresses_acknowledgements,
            ecn,
        }
    }

    /// Why the settings make no sense; `None` if they do.
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
