//! Two captures of one path: which packet of one is which of the other.
//!
//! Packets are the same if their identities are ([`identify`]), as far as both captures kept them.
//! Where packets are alike, their order tells which is which, unless one end has more of them than
//! the other: any of them may be the one that was lost, so that none is paired. Which capture is of
//! the sender is not decided here.
//!
//! Chosen: sorted and merged rather than hashed, as identities may be cut where the other capture
//! was.

use super::doubles::Doubles;
use super::identity::{Fragment, HEAD_MAX, Identified, identify};
use super::{CaptureError, Reader, Record, Stamp};
use fairq_sched::packet::{Address, Header};
use fairq_sched::units::PS_PER_S;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Why there is no pairing.
#[derive(Debug)]
pub enum PairingError {
    /// A capture cannot be read to its end.
    Capture(CaptureError),
    /// The caller wanted no more.
    Stopped,
}

impl From<CaptureError> for PairingError {
    fn from(error: CaptureError) -> Self {
        Self::Capture(error)
    }
}

/// What became of a packet at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// It was found there, or is not there at all.
    Plain = 0,
    /// It is not told apart from others, of which the other end has more or fewer; not paired.
    Alike = 1,
    /// The second capture has it more often than the first, which has it once; paired with the
    /// first of them.
    Repeated = 2,
    /// The first capture has it more often than the second, which has it once; paired with the
    /// first of them.
    RepeatedFirst = 3,
    /// It is there with another length: cut into segments or fragments, or merged from them; not
    /// paired.
    OtherLength = 4,
}

/// A packet that one or both captures have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Its flow, a place in [`Pairing::flows`].
    pub flow: u32,
    /// When the first capture has it, in seconds after the first packet of that capture; NaN if it
    /// has it not.
    pub first_s: f64,
    /// The time in the second capture, in seconds after its first packet; NaN if the packet is not
    /// there.
    pub second_s: f64,
    /// Its length on the wire.
    pub length: u32,
    /// By how much more it may still be forwarded at the first end.
    pub hops: i16,
    /// What became of it.
    pub kind: Kind,
    /// The number of the datagram of which it is a fragment, in the first capture and in the
    /// second; 0 if it is none.
    pub datagrams: [u32; 2],
}

/// What one capture holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets in all.
    pub packets: u64,
    /// Packets of IP, but for fragments whose datagram's beginning is not there.
    pub paired: u64,
    /// Those fragments, which are of no flow.
    pub fragments: u64,
    /// Packets whose length on the wire could not be believed.
    pub mended: u64,
    /// Packets that it holds twice.
    pub doubles: u64,
    /// Where it is cut, if it is.
    pub cut: Option<String>,
    /// What encloses packets that were not looked into, and how many do.
    pub tunnels: BTreeMap<&'static str, u64>,
}

/// The packets of two captures of one path.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// Names of the flows.
    pub flows: Vec<String>,
    /// For each flow the one that goes the other way, if it was seen.
    pub reverse: Vec<Option<u32>>,
    /// By how much the first packet of the second capture is stamped later than that of the first,
    /// in seconds.
    pub offset_s: f64,
    /// What the captures hold.
    pub counts: [Counts; 2],
    /// The packets of the first capture in its order, then those that only the second has, in its
    /// order.
    pub rows: Vec<Row>,
}

/// Pairs the packets of two captures. `go_on` is called now and then; return `false` to stop.
///
/// # Errors
/// If one cannot be read to its end, or the caller wants no more.
pub fn pair<A: Read, B: Read>(
    first: Reader<A>,
    second: Reader<B>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Pairing, PairingError> {
    let mut flows = Flows::default();
    let first = End::read(first, &mut flows, go_on)?;
    let second = End::read(second, &mut flows, go_on)?;
    let compared = Compared {
        head: first.head_min.min(second.head_min),
        // What follows the head is compared if both captures have it of every packet.
        with_rest: !first.is_cut && !second.is_cut,
    };
    let offset_s = seconds(second.zero.0.saturating_sub(first.zero.0));
    let (partner, mut kinds) = match_up(&first, &second, compared);
    mark_other_lengths(&first, &second, compared, &partner, &mut kinds);

    let mut rows: Vec<Row> = Vec::with_capacity(first.seen.len());
    for (at, seen) in first.seen.iter().enumerate() {
        let (second_s, hops, there) = match partner[at] {
            Some(other) => {
                let other = &second.seen[other as usize];
                (other.time_s, i16::from(seen.hops) - i16::from(other.hops), other.datagram)
            }
            None => (f64::NAN, 0, 0),
        };
        let Seen { flow, length, time_s, datagram, .. } = *seen;
        rows.push(Row {
            flow,
            first_s: time_s,
            second_s,
            length,
            hops,
            kind: kinds[0][at],
            datagrams: [datagram, there],
        });
    }
    let found: BTreeSet<u32> = partner.iter().flatten().copied().collect();
    for (at, seen) in second.seen.iter().enumerate() {
        if !found.contains(&(at as u32)) {
            let Seen { flow, length, time_s: second_s, datagram, .. } = *seen;
            let (first_s, datagrams, kind) = (f64::NAN, [0, datagram], kinds[1][at]);
            rows.push(Row { flow, first_s, second_s, length, hops: 0, kind, datagrams });
        }
    }
    Ok(Pairing { reverse: flows.reverse(), flows: flows.names, offset_s, counts: [first.counts, second.counts], rows })
}

/// Which fields of identities are compared.
#[derive(Clone, Copy)]
struct Compared {
    head: usize,
    with_rest: bool,
}

/// A packet of one capture.
struct Seen {
    time_s: f64,
    rest: u64,
    /// Where its head is.
    begin: usize,
    flow: u32,
    datagram: u32,
    length: u32,
    ip_length: u32,
    head_length: u8,
    hops: u8,
}

/// One capture.
struct End {
    seen: Vec<Seen>,
    heads: Vec<u8>,
    /// The length of the shortest head that lacks bytes.
    head_min: usize,
    is_cut: bool,
    zero: Stamp,
    counts: Counts,
}

/// Records between two questions whether to go on.
const RECORDS_A_QUESTION: u64 = 4096;

/// Marks a fragment whose flow is not known yet.
const UNKNOWN: u32 = u32::MAX;

impl End {
    fn read<R: Read>(
        mut reader: Reader<R>,
        flows: &mut Flows,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Self, PairingError> {
        let mut end = Self {
            seen: Vec::new(),
            heads: Vec::new(),
            head_min: HEAD_MAX,
            is_cut: false,
            zero: Stamp::default(),
            counts: Counts::default(),
        };
        let mut datagrams = Datagrams::default();
        let mut doubles = Doubles::default();
        while let Some(record) = reader.next() {
            let record = record?;
            if end.counts.packets == 0 {
                end.zero = record.stamp;
            }
            end.counts.packets += 1;
            if end.counts.packets.is_multiple_of(RECORDS_A_QUESTION) && !go_on() {
                return Err(PairingError::Stopped);
            }
            if let Some(tunnel) = record.tunnel {
                *end.counts.tunnels.entry(tunnel).or_default() += 1;
            }
            end.take(&record, flows, &mut datagrams, &mut doubles);
        }
        end.counts.doubles = doubles.count();
        let before = end.seen.len();
        end.seen.retain(|seen| seen.flow != UNKNOWN);
        end.counts.fragments = (before - end.seen.len()) as u64;
        end.counts.paired = end.seen.len() as u64;
        end.counts.mended = reader.mended();
        end.counts.cut = reader.take_cut().map(|cut| cut.to_string());
        Ok(end)
    }

    /// Takes the packet of a record, if it has one.
    fn take(&mut self, record: &Record<'_>, flows: &mut Flows, datagrams: &mut Datagrams, doubles: &mut Doubles) {
        let begin = self.heads.len();
        let Some(found) = identify(record.link_type, record.data, record.length, &mut self.heads) else {
            return self.heads.truncate(begin);
        };
        let head_length = self.heads.len() - begin;
        doubles.take(record.stamp, &found, &self.heads[begin..]);
        if found.is_cut {
            self.is_cut = true;
            self.head_min = self.head_min.min(head_length);
        }
        let Identified { header, length: ip_length, hops, rest, fragment, .. } = found;
        // A whole number of picoseconds until here, so that no digit is lost in the years since
        // 1970.
        let time_s = seconds(record.stamp.0.saturating_sub(self.zero.0));
        let (flow, datagram) = match fragment {
            None => (flows.of(&header), 0),
            Some(Fragment { id, is_first: true }) => {
                let flow = flows.of(&header);
                let (number, early) = datagrams.begin(Datagram::of(&header, id), flow, time_s);
                for place in early {
                    (self.seen[place].flow, self.seen[place].datagram) = (flow, number);
                }
                (flow, number)
            }
            Some(Fragment { id, is_first: false }) => {
                let datagram = Datagram::of(&header, id);
                datagrams.of_later(datagram, time_s, self.seen.len()).unwrap_or((UNKNOWN, 0))
            }
        };
        let (length, head_length) = (record.length, head_length as u8);
        self.seen.push(Seen { time_s, rest, begin, flow, datagram, length, ip_length, head_length, hops });
    }

    fn head(&self, at: u32, compared: Compared) -> &[u8] {
        let Seen { begin, head_length, .. } = self.seen[at as usize];
        &self.heads[begin..begin + usize::from(head_length).min(compared.head)]
    }

    /// All that tells a packet from others.
    fn key(&self, at: u32, compared: Compared) -> (&[u8], u32, u64) {
        let Seen { ip_length, rest, .. } = self.seen[at as usize];
        (self.head(at, compared), ip_length, if compared.with_rest { rest } else { 0 })
    }

    /// Those of the packets that `is_wanted`, in the order of `key`; packets with the same key in
    /// the order of time.
    fn sorted<'a, K: Ord>(&'a self, is_wanted: impl Fn(usize) -> bool, key: impl Fn(&'a Self, u32) -> K) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.seen.len()).filter(|at| is_wanted(*at)).map(|at| at as u32).collect();
        let time = |at: u32| self.seen[at as usize].time_s;
        order.sort_by(|a, b| key(self, *a).cmp(&key(self, *b)).then(time(*a).total_cmp(&time(*b))));
        order
    }
}

/// Seconds of whole picoseconds.
fn seconds(ps: i128) -> f64 {
    ps as f64 / PS_PER_S as f64
}

/// The runs of two sorted lists that have the same key, which at least one of them has.
fn runs<'a, K: Ord>(
    first: &'a [u32],
    second: &'a [u32],
    key_first: impl Fn(u32) -> K,
    key_second: impl Fn(u32) -> K,
    mut each: impl FnMut(&'a [u32], &'a [u32]),
) {
    let (mut a, mut b) = (0, 0);
    while a < first.len() || b < second.len() {
        let key = match (first.get(a), second.get(b)) {
            (Some(one), Some(other)) => key_first(*one).min(key_second(*other)),
            (Some(one), None) => key_first(*one),
            (None, Some(other)) => key_second(*other),
            (None, None) => return,
        };
        let ends = |list: &[u32], from: usize, key_of: &dyn Fn(u32) -> K| {
            from + list[from..].iter().take_while(|at| key_of(**at) == key).count()
        };
        let (next_a, next_b) = (ends(first, a, &key_first), ends(second, b, &key_second));
        each(&first[a..next_a], &second[b..next_b]);
        (a, b) = (next_a, next_b);
    }
}

/// For each packet of the first capture the one of the second that it is, and what became of all.
fn match_up(first: &End, second: &End, compared: Compared) -> (Vec<Option<u32>>, [Vec<Kind>; 2]) {
    let mut partner = vec![None; first.seen.len()];
    let mut kinds = [vec![Kind::Plain; first.seen.len()], vec![Kind::Plain; second.seen.len()]];
    let orders = [first, second].map(|end| end.sorted(|_| true, |end, at| end.key(at, compared)));
    runs(
        &orders[0],
        &orders[1],
        |at| first.key(at, compared),
        |at| second.key(at, compared),
        |a, b| {
            let kind = match (a.len(), b.len()) {
                // Of packets that are alike none came: they are as lost as others.
                (0, _) | (_, 0) => return,
                (a, b) if a == b => Kind::Plain,
                (1, _) => Kind::Repeated,
                (_, 1) => Kind::RepeatedFirst,
                _ => Kind::Alike,
            };
            if kind != Kind::Alike {
                for (one, other) in a.iter().zip(b) {
                    partner[*one as usize] = Some(*other);
                }
            }
            a.iter().for_each(|at| kinds[0][*at as usize] = kind);
            b.iter().for_each(|at| kinds[1][*at as usize] = kind);
        },
    );
    (partner, kinds)
}

/// Marks packets that only one end has, where the other alone has one that differs in its length,
/// or in what follows the head.
fn mark_other_lengths(
    first: &End,
    second: &End,
    compared: Compared,
    partner: &[Option<u32>],
    kinds: &mut [Vec<Kind>; 2],
) {
    let mut is_found = vec![false; second.seen.len()];
    partner.iter().flatten().for_each(|at| is_found[*at as usize] = true);
    let alone = [
        first.sorted(|at| partner[at].is_none() && kinds[0][at] == Kind::Plain, |end, at| end.head(at, compared)),
        second.sorted(|at| !is_found[at] && kinds[1][at] == Kind::Plain, |end, at| end.head(at, compared)),
    ];
    let mut marked: Vec<(usize, u32)> = Vec::new();
    runs(
        &alone[0],
        &alone[1],
        |at| first.head(at, compared),
        |at| second.head(at, compared),
        |a, b| {
            if !a.is_empty() && !b.is_empty() {
                marked.extend(a.iter().map(|at| (0, *at)).chain(b.iter().map(|at| (1, *at))));
            }
        },
    );
    for (end, at) in marked {
        kinds[end][at as usize] = Kind::OtherLength;
    }
}

/// The key that all fragments of a datagram share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Datagram {
    source: Address,
    destination: Address,
    protocol: u16,
    id: u32,
}

impl Datagram {
    const fn of(header: &Header, id: u32) -> Self {
        let Header { source, destination, protocol, .. } = *header;
        Self { source, destination, protocol, id }
    }
}

/// The datagrams of a capture that came in fragments.
#[derive(Default)]
struct Datagrams {
    /// The last whose first fragment came: its flow, its number, and when that was.
    begun: BTreeMap<Datagram, (u32, u32, f64)>,
    /// Places of fragments that came before the first.
    early: BTreeMap<Datagram, Vec<usize>>,
    /// How many there were.
    count: u32,
}

impl Datagrams {
    /// The first fragment of a datagram: its number, and the places of those that came before it.
    fn begin(&mut self, datagram: Datagram, flow: u32, time_s: f64) -> (u32, Vec<usize>) {
        self.count += 1;
        self.begun.insert(datagram, (flow, self.count, time_s));
        (self.count, self.early.remove(&datagram).unwrap_or_default())
    }

    /// The flow and number of a later fragment, which will be at `place`; `None` if its first has
    /// not come.
    fn of_later(&mut self, datagram: Datagram, time_s: f64, place: usize) -> Option<(u32, u32)> {
        match self.begun.get(&datagram) {
            Some((flow, number, begun_s)) if time_s - begun_s <= REASSEMBLY_S => Some((*flow, *number)),
            _ => {
                self.early.entry(datagram).or_default().push(place);
                None
            }
        }
    }
}

/// How long fragments are waited for, by Linux's `ipfrag_time`; after that the number serves
/// another datagram.
const REASSEMBLY_S: f64 = 30.0;

/// A five-tuple.
type Key = (Address, u16, Address, u16, u16);

/// The flows that were seen.
#[derive(Default)]
struct Flows {
    numbers: BTreeMap<Key, u32>,
    names: Vec<String>,
}

impl Flows {
    fn of(&mut self, header: &Header) -> u32 {
        let Header { source, destination, protocol, source_port, destination_port, .. } = *header;
        let key = (source, source_port, destination, destination_port, protocol);
        *self.numbers.entry(key).or_insert_with(|| {
            self.names.push(Named(header).to_string());
            self.names.len() as u32 - 1
        })
    }

    fn reverse(&self) -> Vec<Option<u32>> {
        let mut found = vec![None; self.names.len()];
        for ((source, source_port, destination, destination_port, protocol), number) in &self.numbers {
            let back = (*destination, *destination_port, *source, *source_port, *protocol);
            found[*number as usize] = self.numbers.get(&back).copied();
        }
        found
    }
}

/// The name of a flow: `10.0.0.1 1000 > 10.0.0.2 2000 udp`.
struct Named<'a>(&'a Header);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { source, destination, protocol, source_port, destination_port, .. } = self.0;
        let has_ports = matches!(protocol, 6 | 17 | 33 | 132 | 136) && (*source_port, *destination_port) != (0, 0);
        for (at, (address, port)) in [(source, source_port), (destination, destination_port)].into_iter().enumerate() {
            match address {
                Address::V4(bytes) => write!(f, "{}", Ipv4Addr::from(*bytes))?,
                Address::V6(bytes) => write!(f, "{}", Ipv6Addr::from(*bytes))?,
                Address::Node(_) | Address::Mac(_) => unreachable!("only packets of IP have a flow here"),
            }
            if has_ports {
                write!(f, " {port}")?;
            }
            f.write_str(if at == 0 { " > " } else { " " })?;
        }
        match protocol {
            1 => f.write_str("icmp"),
            6 => f.write_str("tcp"),
            17 => f.write_str("udp"),
            58 => f.write_str("icmpv6"),
            number => write!(f, "protocol {number}"),
        }
    }
}

#[cfg(test)]
mod tests;
