//! What is measured of the gateway itself, as the report shows it and the stamp judges it.

use serde::Serialize;

/// Packets of hosts that no line took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Frames without IP, and packets whose headers cannot be read or contradict their offload.
    pub not_ip: u64,
    /// For no host of the network: multicast, addresses of the outside; and from an address that
    /// its host was not given.
    pub no_route: u64,
    /// While so much was on the way that memory would have run out.
    pub no_room: u64,
}

/// How late packets were given to their hosts: the clock just before, less the intended time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lateness {
    /// Packets.
    pub count: u64,
    /// The median, within 0.1 % as all of these.
    pub p50_s: Option<f64>,
    /// 90th percentile.
    pub p90_s: Option<f64>,
    /// 99th percentile.
    pub p99_s: Option<f64>,
    /// 99.9th percentile.
    pub p99_9_s: Option<f64>,
    /// The greatest.
    pub max_s: Option<f64>,
    /// Upper end in seconds, and packets at most as late and later than the end before: powers of
    /// two of a microsecond.
    pub histogram: Vec<(f64, u64)>,
}

/// What the gateway itself did and used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Effort {
    /// Processor time of its thread.
    pub cpu_s: f64,
    /// That over the run's time.
    pub cpu_share: f64,
    /// That over the packets that it gave to hosts, in microseconds.
    pub cpu_us_per_packet: f64,
    /// Reads of a packet, or of one that was put together from several.
    pub reads: u64,
    /// Writes of the same.
    pub writes: u64,
    /// Packets that were given to hosts.
    pub packets: u64,
    /// Times that the loop woke.
    pub wakeups: u64,
    /// Wake-ups that came more than one packet time after they were due.
    pub late_wakeups: u64,
    /// Packets of hosts that the kernel dropped before the gateway read them.
    pub lost_before: u64,
    /// Packets for hosts for which the kernel had no room.
    pub lost_behind: u64,
    /// The part of the run in which a departure was overdue by more than one packet time.
    pub behind_share: f64,
    /// The time of a packet of 1500 bytes on the slowest line of a constant rate; a millisecond if
    /// there is none.
    pub packet_time_s: f64,
}
