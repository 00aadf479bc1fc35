//! The way of a flow's packets, and what gateways see of them. The network has the lines of all ways one behind the other, so
//! that a packet knows by one number where it goes on.

use crate::segment::{Direction, Segment};
use fairq_sched::packet::{Address, Header};
use fairq_sched::prefetch;
use std::sync::Arc;

/// Where a flow's packets go, and what gateways see of them: 32 bytes, and lines that flows on the same way share.
#[derive(Clone, Debug)]
pub struct Path {
    /// The lines of the data packets, then those of the acknowledgements.
    lines: Arc<[u32]>,
    /// How many are the data packets'.
    forward: u16,
    ends: Ends,
}

/// What the headers of a flow's packets say.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// The number of the node that sends data.
    pub from: u32,
    /// That of the node that acknowledges it.
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

    /// The same way, for a flow with other ends.
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

    /// The header of packets that go one way.
    #[must_use]
    pub const fn header(&self, direction: Direction) -> Header {
        self.ends.header(direction)
    }
}

impl Ends {
    /// The header of packets that go one way.
    #[must_use]
    #[inline]
    pub const fn header(&self, direction: Direction) -> Header {
        let Self { from, to, port, tos } = *self;
        // By index and not by a branch: data and acknowledgements come in no order.
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

/// Stands behind the last line of each path.
const END: u32 = u32::MAX;

/// From here on stands, in place of the line to which a packet goes on, the flow to whose host it has come.
pub const HOST: u32 = 1 << 31;

/// The paths of all flows.
pub struct Paths {
    /// The lines of each path, then [`END`]. Flows on the same way that follow each other share them.
    lines: Vec<u32>,
    flows: Vec<Way>,
}

/// A flow's way.
struct Way {
    /// The place of the first line, by direction.
    first: [u32; 2],
    ends: Ends,
}

/// Where the packets of a line come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeders {
    Nobody,
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

    /// The place of the first line of a path.
    #[must_use]
    #[inline]
    pub fn first(&self, flow: u32, direction: Direction) -> u32 {
        self.flows[flow as usize].first[direction as usize]
    }

    /// Has the way of `flow` fetched into the caches.
    #[inline]
    pub fn fetch(&self, flow: u32) {
        prefetch::fetch(&self.flows, flow);
    }

    /// Where packets of `flow` go that come to `place`: the number of a line, or [`HOST`] and that of the flow.
    #[must_use]
    #[inline]
    pub fn next(&self, place: u32, flow: u32) -> u32 {
        match self.line(place) {
            END => HOST | flow,
            line => line,
        }
    }

    /// The line at `place`; no line has the number behind the last one of a path.
    #[must_use]
    #[inline]
    pub fn line(&self, place: u32) -> u32 {
        self.lines[place as usize]
    }

    /// `segment` is on its next line, or waits for it: it goes on behind that.
    #[inline]
    pub fn step(&self, segment: &mut Segment) {
        segment.place += 1;
        segment.next = self.next(segment.place, segment.flow);
    }

    /// What gateways see of a flow's packets.
    #[must_use]
    #[inline]
    pub fn header(&self, flow: u32, direction: Direction) -> Header {
        self.flows[flow as usize].ends.header(direction)
    }

    /// By line, the one other line that all its packets come from; nothing if there is not just one.
    #[must_use]
    pub fn feeders(&self, lines: usize) -> Vec<Option<u32>> {
        let mut feeders = vec![Feeders::Nobody; lines];
        let mut before = Feeders::Others;
        for line in &self.lines {
            if *line == END {
                before = Feeders::Others;
                continue;
            }
            let known = &mut feeders[*line as usize];
            *known = if *known == Feeders::Nobody || *known == before { before } else { Feeders::Others };
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
    fn a_line_behind_one_other_is_told_from_one_that_has_several_before_it() {
        let ends = Ends { from: 0, to: 1, port: 0, tos: 0 };
        let path = |forward: &[u32], backward: &[u32]| Path::new(forward, backward, ends);
        // Two flows over lines 0 and 1 to 2; 3 has its own way in and out; 4 begins one path and goes on in another.
        let paths = Paths::new(&[path(&[0, 2, 5], &[4, 3]), path(&[1, 2, 6], &[5, 4, 3])]);
        assert_eq!(paths.feeders(8), [None, None, None, Some(4), None, None, Some(2), None]);
        let first = paths.first(1, Direction::Backward);
        assert_eq!([first, first + 1, first + 2, first + 3].map(|place| paths.line(place)), [5, 4, 3, END]);
    }
}
