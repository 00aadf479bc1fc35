//! The path of a flow's packets, and the header that gateways see. The network keeps the lines of
//! all paths one behind the other, so that a single number says where a packet goes on.

use crate::segment::{Direction, Segment};
use fairq_sched::packet::{Address, Header};
use fairq_sched::prefetch;
use std::sync::Arc;

/// Where a flow's packets go, and the header that gateways see: 32 bytes. Flows on the same path
/// share its lines.
#[derive(Clone, Debug)]
pub struct Path {
    /// The lines of the data packets, then those of the acknowledgements.
    lines: Arc<[u32]>,
    /// The number of lines of the data packets.
    forward: u16,
    ends: Ends,
}

/// The headers of a flow's packets.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// The number of the node that sends data.
    pub from: u32,
    /// The number of the node that acknowledges it.
    pub to: u32,
    /// The port of both.
    pub port: u16,
    /// The type-of-service byte.
    pub tos: u8,
}

impl Path {
    /// Over the lines `forward`, at most 65535, and `backward`.
    #[must_use]
    pub fn new(forward: &[u32], backward: &[u32], ends: Ends) -> Self {
        Self { lines: [forward, backward].concat().into(), forward: forward.len() as u16, ends }
    }

    /// The same path, for a flow with other ends.
    #[must_use]
    pub fn between(&self, ends: Ends) -> Self {
        Self { lines: Arc::clone(&self.lines), ends, ..*self }
    }

    /// The lines of the data packets.
    #[must_use]
    #[inline]
    pub fn forward(&self) -> &[u32] {
        &self.lines[..usize::from(self.forward)]
    }

    /// The lines of the acknowledgements.
    #[must_use]
    #[inline]
    pub fn backward(&self) -> &[u32] {
        &self.lines[usize::from(self.forward)..]
    }

    /// The header of packets in one direction.
    #[must_use]
    pub const fn header(&self, direction: Direction) -> Header {
        self.ends.header(direction)
    }
}

impl Ends {
    /// The header of packets in one direction.
    #[must_use]
    #[inline]
    pub const fn header(&self, direction: Direction) -> Header {
        let Self { from, to, port, tos } = *self;
        // An index instead of a branch: data and acknowledgements mix unpredictably (branch
        // misprediction).
        let (ends, way) = ([from, to], direction as usize);
        Header {
            source: Address::Node(ends[way]),
            destination: Address::Node(ends[1 - way]),
            protocol: 0,
            source_port: port,
            destination_port: port,
            tos,
        }
    }
}

/// Marks the end of each path in `Paths::lines`.
const END: u32 = u32::MAX;

/// Numbers from here on are no lines: they stand for a packet's host, with the number of its flow
/// added.
pub const HOST: u32 = 1 << 31;

/// The paths of all flows.
pub struct Paths {
    /// The lines of each path, then [`END`]. Consecutive flows with the same path share them.
    lines: Vec<u32>,
    flows: Vec<Way>,
}

/// A flow's path and headers.
struct Way {
    /// The place of the first line, by direction.
    first: [u32; 2],
    ends: Ends,
}

/// Where the packets of a line come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeders {
    None,
    Line(u32),
    /// A host, or several lines.
    Others,
}

impl Paths {
    /// The paths of `flows`, in their order.
    #[must_use]
    pub fn new(flows: &[Path]) -> Self {
        assert!(flows.len() <= HOST as usize, "a flow's number takes 31 bits");
        let mut lines = Vec::new();
        let mut keep = |path: &[u32]| {
            let first = lines.len() as u32;
            lines.extend_from_slice(path);
            lines.push(END);
            first
        };
        let mut ways: Vec<Way> = Vec::with_capacity(flows.len());
        for (number, path) in flows.iter().enumerate() {
            let is_same = number > 0 && Arc::ptr_eq(&path.lines, &flows[number - 1].lines);
            let first = if is_same { ways[number - 1].first } else { [keep(path.forward()), keep(path.backward())] };
            ways.push(Way { first, ends: path.ends });
        }
        Self { lines, flows: ways }
    }

    /// The place in `Paths::lines` of the first line of a path.
    #[must_use]
    #[inline]
    pub fn first(&self, flow: u32, direction: Direction) -> u32 {
        self.flows[flow as usize].first[direction as usize]
    }

    /// The lines of the data packets of `flow`.
    pub fn data_lines(&self, flow: u32) -> impl Iterator<Item = u32> {
        let first = self.first(flow, Direction::Forward) as usize;
        self.lines[first..].iter().copied().take_while(|line| *line != END)
    }

    /// Prefetches the path of `flow`.
    #[inline]
    pub fn fetch(&self, flow: u32) {
        prefetch::fetch(&self.flows, flow);
    }

    /// Where packets of `flow` that come to `place` go: the number of a line, or [`HOST`] plus the
    /// number of the flow.
    #[must_use]
    #[inline]
    pub fn next(&self, place: u32, flow: u32) -> u32 {
        match self.line(place) {
            END => HOST | flow,
            line => line,
        }
    }

    /// The line at `place`; `END` behind the last line of a path.
    #[must_use]
    #[inline]
    pub fn line(&self, place: u32) -> u32 {
        self.lines[place as usize]
    }

    /// `segment` is on its next line or waits for it: it goes on to the line after that one.
    #[inline]
    pub fn step(&self, segment: &mut Segment) {
        segment.place += 1;
        segment.next = self.next(segment.place, segment.flow);
    }

    /// The header of packets of `flow` in one direction, as long as its port stays.
    #[must_use]
    pub fn header_of(&self, flow: u32, direction: Direction) -> Header {
        self.flows[flow as usize].ends.header(direction)
    }

    /// The header that gateways see on `segment`. The sender's port is that of the flow's first
    /// connection plus the number of its connections since.
    #[must_use]
    #[inline]
    pub fn header(&self, segment: &Segment) -> Header {
        let (ends, way) = (&self.flows[segment.flow as usize].ends, segment.direction as usize);
        let ports = [ends.port.wrapping_add(segment.incarnation.into()), ends.port];
        Header { source_port: ports[way], destination_port: ports[1 - way], ..ends.header(segment.direction) }
    }

    /// By line, the one other line from which all its packets come; `None` if there is no such
    /// line.
    #[must_use]
    pub fn feeders(&self, lines: usize) -> Vec<Option<u32>> {
        let mut feeders = vec![Feeders::None; lines];
        let mut before = Feeders::Others;
        for line in &self.lines {
            if *line == END {
                before = Feeders::Others;
                continue;
            }
            let known = &mut feeders[*line as usize];
            *known = if *known == Feeders::None || *known == before { before } else { Feeders::Others };
            before = Feeders::Line(*line);
        }
        let one = |feeders| if let Feeders::Line(line) = feeders { Some(line) } else { None };
        feeders.into_iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_of_a_flow_has_a_port_of_its_own_in_both_directions() {
        let ends = |port| Ends { from: 0, to: 1, port, tos: 0 };
        let paths = Paths::new(&[Path::new(&[0], &[1], ends(0xffff)), Path::new(&[0], &[1], ends(1))]);
        let header = |flow, direction, incarnation| {
            paths.header(&Segment { flow, direction, incarnation, ..Segment::default() })
        };
        let ports = |header: Header| (header.source_port, header.destination_port);
        assert_eq!(ports(header(0, Direction::Forward, 0)), (0xffff, 0xffff));
        assert_eq!(ports(header(0, Direction::Forward, 2)), (1, 0xffff));
        assert_eq!(ports(header(0, Direction::Backward, 2)), (0xffff, 1));
        assert_eq!(ports(header(1, Direction::Forward, 0)), (1, 1), "not those of another flow");
    }

    #[test]
    fn a_line_behind_one_other_is_told_from_one_that_has_several_before_it() {
        let ends = Ends { from: 0, to: 1, port: 0, tos: 0 };
        let path = |forward: &[u32], backward: &[u32]| Path::new(forward, backward, ends);
        // Two flows over lines 0 and 1 to line 2. Line 3 is always behind line 4. Line 4 begins one
        // path and is in the middle of another.
        let paths = Paths::new(&[path(&[0, 2, 5], &[4, 3]), path(&[1, 2, 6], &[5, 4, 3])]);
        assert_eq!(paths.feeders(8), [None, None, None, Some(4), None, None, Some(2), None]);
        let first = paths.first(1, Direction::Backward);
        assert_eq!([first, first + 1, first + 2, first + 3].map(|place| paths.line(place)), [5, 4, 3, END]);
    }
}
