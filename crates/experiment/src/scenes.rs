//! Scenes: a congestion control alone, round by round, without a network, so that a person can
//! judge what it does.
//!
//! In each round the packets that window and pace allow are acknowledged one by one, evenly over a
//! round trip. That is the base round trip plus, where the scene has a line, the wait in the
//! congestion control's own queue. Losses hit the first packets of a round: they are found before
//! its first acknowledgement and repaired with its last. A mark is reported where it occurs. After
//! a timeout no packet of the round has arrived. A change of the pace within a round counts from
//! the next.
//!
//! Transports with rules of their own have a stage of their own (`whole`), on which the same events
//! happen to their packets.

pub mod whole;

use self::whole::Whole;
use fairq_sched::packet::Marks;
use fairq_sched::units::Time;
use fairq_sim::transport::congestion::{Acked, Beginning, Congested, Congestion, LostPacket, Pair, RateSample};
use fairq_sim::transport::ecn::Ecn;
use fairq_sim::transport::registry::TransportSettings;
use std::fmt;

/// The path of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The round trip of a packet that does not wait.
    pub round_trip: Time,
    /// The line, if the congestion control is to have a queue of its own.
    pub line: Option<Line>,
}

/// A line of one congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Packets a second.
    pub packets_per_s: f64,
    /// Packets that may wait; more are lost.
    pub buffer: u64,
}

/// The event of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Event {
    /// All packets arrive.
    #[default]
    Nothing,
    /// This many packets are lost, besides those for which the buffer has no room.
    Loss(u64),
    /// This many packets of a hundred are marked.
    Marks(u64),
    /// No packet arrives, and the timer of a second expires. The second of two timeouts is that of
    /// the same packet.
    Timeout {
        /// Whether it is the second timeout.
        is_repeated: bool,
    },
    /// The application offers only this many packets.
    Offers(u64),
    /// The round follows an idle time of this many seconds.
    Rest(u64),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Loss(packets) => write!(f, "{packets} lost"),
            Self::Marks(percent) => write!(f, "{percent} % marked"),
            Self::Timeout { is_repeated: false } => f.write_str("timeout"),
            Self::Timeout { is_repeated: true } => f.write_str("timeout again"),
            Self::Offers(packets) => write!(f, "{packets} offered"),
            Self::Rest(seconds) => write!(f, "after {seconds} s of rest"),
        }
    }
}

/// A named sequence of rounds.
pub struct Scene {
    /// Its name.
    pub name: &'static str,
    /// A sentence about it.
    pub shows: &'static str,
    /// How many rounds it has.
    pub rounds: u32,
    /// Its path.
    pub path: Path,
    /// The event of a round, by its number.
    pub event: fn(u32) -> Event,
}

const EMPTY: Path = Path { round_trip: Time::from_ms(100), line: None };
/// 100 packets fill the path, 200 more wait.
const LONG_QUEUE: Path =
    Path { round_trip: Time::from_ms(100), line: Some(Line { packets_per_s: 1000.0, buffer: 200 }) };
/// 40 packets fill the path, 10 more wait.
const SHORT_QUEUE: Path =
    Path { round_trip: Time::from_ms(100), line: Some(Line { packets_per_s: 400.0, buffer: 10 }) };

/// The scenes that every transport runs, in the order in which they are shown.
pub const SCENES: &[Scene] = &[
    Scene {
        name: "slow_start",
        shows: "from its start on nothing is in the way",
        rounds: 8,
        path: EMPTY,
        event: |_| Event::Nothing,
    },
    Scene {
        name: "one_loss",
        shows: "a packet is lost in round 5",
        rounds: 20,
        path: EMPTY,
        event: |round| if round == 5 { Event::Loss(1) } else { Event::Nothing },
    },
    Scene {
        name: "burst_of_losses",
        shows: "eight packets of round 5 are lost, four of round 7",
        rounds: 16,
        path: EMPTY,
        event: |round| match round {
            5 => Event::Loss(8),
            7 => Event::Loss(4),
            _ => Event::Nothing,
        },
    },
    Scene {
        name: "timeout",
        shows: "nothing arrives in round 5, and the same packet once more is lost in round 6",
        rounds: 18,
        path: EMPTY,
        event: |round| match round {
            5 => Event::Timeout { is_repeated: false },
            6 => Event::Timeout { is_repeated: true },
            _ => Event::Nothing,
        },
    },
    Scene {
        name: "marks",
        shows: "all packets of round 5 are marked, then a tenth of each round from 10 to 14",
        rounds: 20,
        path: EMPTY,
        event: |round| match round {
            5 => Event::Marks(100),
            10..=14 => Event::Marks(10),
            _ => Event::Nothing,
        },
    },
    Scene {
        name: "long_marks",
        shows: "all packets from round 5 to 10 are marked",
        rounds: 18,
        path: EMPTY,
        event: |round| if (5..11).contains(&round) { Event::Marks(100) } else { Event::Nothing },
    },
    Scene {
        name: "application_limited",
        shows: "from round 3 to 7 there are 20 packets for each round, then enough again",
        rounds: 11,
        path: EMPTY,
        event: |round| if (3..8).contains(&round) { Event::Offers(20) } else { Event::Nothing },
    },
    Scene {
        name: "idle_restart",
        shows: "a loss in round 4, and a rest of 10 seconds before round 9",
        rounds: 18,
        path: EMPTY,
        event: |round| match round {
            4 => Event::Loss(1),
            9 => Event::Rest(10),
            _ => Event::Nothing,
        },
    },
    Scene {
        name: "own_queue",
        shows: "alone on a line that 100 packets fill, where 200 may wait",
        rounds: 24,
        path: LONG_QUEUE,
        event: |_| Event::Nothing,
    },
    Scene {
        name: "small_buffer",
        shows: "alone on a line that 40 packets fill, where 10 may wait",
        rounds: 50,
        path: SHORT_QUEUE,
        event: |_| Event::Nothing,
    },
];

/// The summary of a round, and the state of the congestion control after it.
#[derive(Clone, Debug)]
pub struct Round {
    /// Its number, from 0.
    pub number: u32,
    /// When it ended.
    pub now: Time,
    /// The event of the round.
    pub event: Event,
    /// Packets sent.
    pub sent: u64,
    /// Packets of these that were lost.
    pub lost: u64,
    /// Packets of these that were marked.
    pub marked: u64,
    /// The round trip of its packets.
    pub round_trip: Time,
    /// The window after the round.
    pub window: f64,
    /// The pace after the round, in packets a second.
    pub pace: Option<f64>,
    /// The inner values of the congestion control after the round.
    pub inner: Vec<(String, f64)>,
}

/// A scene run by a transport. `None` for `uncontrolled`, which would send without end in the first
/// instant. Also `None` in a scene about marks, for a congestion control over a connection whose
/// packets are never marked.
#[must_use]
pub fn play(transport: &str, scene: &Scene) -> Option<Vec<Round>> {
    let is_about_marks = (0..scene.rounds).any(|round| matches!((scene.event)(round), Event::Marks(_)));
    let settings = is_about_marks.then(|| with_marks(transport)).flatten().or_else(|| wide(transport));
    let settings = settings.or_else(|| named(transport, &[]))?;
    if settings.sends_at_once() {
        return None;
    }
    if !settings.has_connection() {
        let mut stage = Whole::new(settings, scene.path);
        return Some((0..scene.rounds).map(|round| stage.round((scene.event)(round))).collect());
    }
    let beginning = Beginning { window_max: WINDOW_MAX, ..Beginning::with_window(10.0) };
    let law = settings.law(&beginning)?;
    if is_about_marks && law.ecn() == Ecn::Not {
        return None;
    }
    let mut stage = Stage::new(law, scene.path);
    Some((0..scene.rounds).map(|round| stage.round((scene.event)(round))).collect())
}

/// The settings of a transport with marks enabled, which is a setting of many congestion controls.
fn with_marks(transport: &str) -> Option<TransportSettings> {
    named(transport, &[("ecn", true.into())])
}

/// The settings of a transport of 1990 whose window can grow: its default limit of 5 hides the
/// congestion control.
fn wide(transport: &str) -> Option<TransportSettings> {
    named(transport, &[("window_max", 100.into())])
}

fn named(transport: &str, more: &[(&str, serde_json::Value)]) -> Option<TransportSettings> {
    let mut fields = serde_json::Map::new();
    fields.insert("kind".to_owned(), transport.into());
    fields.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    serde_json::from_value(fields.into()).ok()
}

/// The receiver's window in packets: it keeps a scene readable and fast.
const WINDOW_MAX: f64 = 20_000.0;
/// The retransmission timeout.
const TIMEOUT: Time = Time::from_s(1);
/// Bytes of a packet.
const LENGTH: u32 = 1000;

/// A congestion control, and the state of its connection.
pub struct Stage {
    law: Box<dyn Congestion>,
    path: Path,
    now: Time,
    number: u32,
    smoothed: Option<Time>,
    least: Time,
    delivered: u64,
    /// Whether no packet is in flight.
    is_empty: bool,
    /// Whether the window is the limit of the sender, as the congestion control was last told.
    is_limited: bool,
}

impl Stage {
    /// The stage before the first round.
    #[must_use]
    pub fn new(law: Box<dyn Congestion>, path: Path) -> Self {
        Self {
            law,
            path,
            now: Time::ZERO,
            number: 0,
            smoothed: None,
            least: Time::NEVER,
            delivered: 0,
            is_empty: true,
            is_limited: false,
        }
    }

    /// Runs another round.
    pub fn round(&mut self, event: Event) -> Round {
        if let Event::Rest(seconds) = event {
            self.tell_limit(false);
            self.now = self.now.saturating_add(Time::from_s(seconds));
            self.is_empty = true;
            self.law.rested(self.now);
        }
        let (sent, is_limited) = self.allowed(event);
        self.tell_limit(is_limited);
        self.tell_of_sending(sent);
        if let Event::Timeout { is_repeated } = event {
            return self.time_out(event, sent, is_repeated);
        }
        let (round_trip, overflow) = self.path.carry(sent);
        let lost = (overflow + if let Event::Loss(packets) = event { packets } else { 0 }).min(sent - 1);
        let percent = if let Event::Marks(percent) = event { percent } else { 0 };
        let (began, arrived) = (self.now, sent - lost);
        let mut marked = 0;
        for packet in 1..=arrived {
            self.now = began.saturating_add(Time(round_trip.0 / arrived * packet));
            let is_marked = packet * percent / 100 > (packet - 1) * percent / 100;
            marked += u64::from(is_marked);
            if packet == 1 && lost > 0 {
                let congested = self.congested(lost, sent);
                self.find_lost(&congested, lost, sent);
                self.law.lost(&congested);
            }
            if is_marked && marked == 1 && self.law.ecn() == Ecn::Classic {
                self.law.marked(&self.congested(1, sent));
            }
            if packet == arrived && lost > 0 {
                self.law.recovered(self.now);
            }
            let is_recovering = lost > 0 && packet < arrived;
            self.acknowledge(&Packet {
                number: packet,
                of: sent,
                is_marked,
                round_trip,
                is_limited,
                is_recovering,
                lost,
            });
        }
        self.is_empty = false;
        self.ended(Round { event, sent, lost, marked, round_trip, ..Round::of(self.number) })
    }

    /// Tells the congestion control whether the window is the limit, if that changed.
    fn tell_limit(&mut self, is_limited: bool) {
        if self.is_limited != is_limited {
            self.is_limited = is_limited;
            self.law.limits(self.now, is_limited);
        }
    }

    /// The number of packets that may be sent, and whether the window is what limits it.
    fn allowed(&self, event: Event) -> (u64, bool) {
        let window = (self.law.window().min(WINDOW_MAX) as u64).max(1);
        let trip = self.smoothed.unwrap_or(self.path.round_trip);
        let paced = self.pace().map_or(u64::MAX, |pace| (pace * trip.as_s()).ceil() as u64);
        let offered = if let Event::Offers(packets) = event { packets } else { u64::MAX };
        let sent = window.min(paced.max(1)).min(offered);
        (sent, sent == window && self.law.window() <= WINDOW_MAX)
    }

    fn pace(&self) -> Option<f64> {
        self.law.pace().map(|rate| rate.bit_per_s() as f64 / f64::from(8 * LENGTH))
    }

    fn tell_of_sending(&mut self, sent: u64) {
        if self.law.watches_sending() {
            for before in 0..sent {
                self.law.sent(self.now, if self.is_empty { before } else { sent - 1 });
            }
        }
    }

    fn congested(&self, packets: u64, flight: u64) -> Congested {
        let (smoothed, least) = (self.smoothed.unwrap_or(Time::ZERO), self.least);
        let in_flight = flight.saturating_sub(packets);
        Congested { packets, in_flight, smoothed, least, ..Congested::of(self.now, flight) }
    }

    fn acknowledge(&mut self, packet: &Packet) {
        let trip = packet.round_trip;
        // srtt = 7/8 srtt + 1/8 m
        self.smoothed = Some(self.smoothed.map_or(trip, |smoothed| Time((7 * smoothed.0 + trip.0) / 8)));
        self.least = self.least.min(trip);
        let before = self.delivered + 1 - packet.number;
        self.delivered += 1;
        let rate = RateSample {
            packets_per_s: packet.of as f64 / trip.as_s(),
            delivered_before: before,
            delivered: self.delivered,
            interval: trip,
            is_application_limited: !packet.is_limited && self.law.pace().is_none(),
            flight_at_send: packet.of,
            lost: packet.lost,
            ahead: None,
        };
        // The packets of a pair leave the line one packet's time apart. Without a line they stay
        // together and give no estimate.
        let is_second = self.law.wants_pairs().is_some() && packet.number.is_multiple_of(2);
        let pair = self
            .path
            .line
            .filter(|_| is_second)
            .map(|line| Pair { gap: Time::from_s_f64(1.0 / line.packets_per_s), length: LENGTH });
        self.law.acknowledged(&Acked {
            pair,
            marked: u64::from(packet.is_marked),
            marks: if packet.is_marked { Marks::CE } else { Marks::NONE },
            length: LENGTH,
            round_trip: Some(trip),
            one_way: Some(trip.saturating_sub(Time(self.path.round_trip.0 / 2))),
            smoothed: self.smoothed.unwrap_or(trip),
            least: self.least,
            flight: packet.of,
            in_flight: packet.of - 1,
            is_limited: packet.is_limited,
            is_recovering: packet.is_recovering,
            begins_round: packet.number == 1,
            rate: self.law.wants_rate().then_some(rate),
            ..Acked::of(self.now, 1)
        });
    }

    /// Tells that `lost` of the `sent` packets of this round are found lost.
    fn find_lost(&mut self, congested: &Congested, lost: u64, sent: u64) {
        self.law.found_lost(congested);
        let (delivered_before, is_application_limited) = (self.delivered, false);
        for lost in 1..=lost {
            let packet = LostPacket { delivered_before, flight_at_send: sent, lost, is_application_limited };
            self.law.lost_packet(self.now, &packet);
        }
    }

    fn time_out(&mut self, event: Event, sent: u64, is_repeated: bool) -> Round {
        self.now = self.now.saturating_add(TIMEOUT);
        let congested = Congested { is_repeated, ..self.congested(sent, sent) };
        self.find_lost(&congested, sent, sent);
        self.law.timed_out(&congested);
        self.is_empty = true;
        self.ended(Round { event, sent, lost: sent, round_trip: TIMEOUT, ..Round::of(self.number) })
    }

    /// Completes the summary with the present state of the congestion control.
    fn ended(&mut self, round: Round) -> Round {
        self.number += 1;
        let mut inner = Vec::new();
        self.law.inspect(&mut |name, value| inner.push((name.to_owned(), value)));
        Round { now: self.now, window: self.law.window(), pace: self.pace(), inner, ..round }
    }
}

impl Round {
    const fn of(number: u32) -> Self {
        Self {
            number,
            now: Time::ZERO,
            event: Event::Nothing,
            sent: 0,
            lost: 0,
            marked: 0,
            round_trip: Time::ZERO,
            window: 0.0,
            pace: None,
            inner: Vec::new(),
        }
    }
}

/// A packet that arrived.
struct Packet {
    /// Its number in the round, from 1.
    number: u64,
    of: u64,
    is_marked: bool,
    round_trip: Time,
    is_limited: bool,
    is_recovering: bool,
    lost: u64,
}

impl Path {
    /// The round trip with `sent` packets in flight, and how many of them have no room.
    fn carry(&self, sent: u64) -> (Time, u64) {
        let Some(line) = self.line else { return (self.round_trip, 0) };
        let fills = (line.packets_per_s * self.round_trip.as_s()) as u64;
        let waiting = sent.saturating_sub(fills);
        let held = waiting.min(line.buffer);
        let wait = Time::from_s_f64(held as f64 / line.packets_per_s);
        (self.round_trip.saturating_add(wait), waiting - held)
    }
}
