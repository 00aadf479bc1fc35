//! The lines that packets take, one path behind the other, so that a packet knows by one number where it goes on.

use super::segment::Direction;
use fairq_sched::packet::Header;

/// Where a flow's packets go, and what gateways see of them.
#[derive(Clone, Debug)]
pub struct Path {
    /// The lines of the data packets.
    pub forward: Vec<u32>,
    /// The lines of the acknowledgements.
    pub backward: Vec<u32>,
    /// The header of the data packets, and that of the acknowledgements.
    pub headers: [Header; 2],
}

/// Stands behind the last line of each path.
const END: u32 = u32::MAX;

/// The paths of all flows.
pub struct Paths {
    /// The lines of each path, then [`END`].
    lines: Vec<u32>,
    flows: Vec<Ways>,
}

/// A flow's paths and headers, by direction.
struct Ways {
    first: [u32; 2],
    headers: [Header; 2],
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
        let mut lines = Vec::with_capacity(flows.iter().map(|path| path.forward.len() + path.backward.len() + 2).sum());
        let mut keep = |path: &[u32]| {
            let first = lines.len() as u32;
            lines.extend_from_slice(path);
            lines.push(END);
            first
        };
        let flows =
            flows.iter().map(|path| Ways { first: [keep(&path.forward), keep(&path.backward)], headers: path.headers });
        let flows = flows.collect();
        Self { lines, flows }
    }

    /// How many flows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// The place of the first line of a path.
    #[must_use]
    #[inline]
    pub fn first(&self, flow: u32, direction: Direction) -> u32 {
        self.flows[flow as usize].first[direction as usize]
    }

    /// The line at `place`; none behind the last line of a path.
    #[must_use]
    #[inline]
    pub fn line(&self, place: u32) -> Option<u32> {
        Some(self.lines[place as usize]).filter(|line| *line != END)
    }

    /// What gateways see of a flow's packets.
    #[must_use]
    #[inline]
    pub fn header(&self, flow: u32, direction: Direction) -> &Header {
        &self.flows[flow as usize].headers[direction as usize]
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
    use fairq_sched::packet::Address;

    #[test]
    fn a_line_behind_one_other_is_told_from_one_that_has_several_before_it() {
        let address = Address::Node(0);
        let header =
            Header { source: address, destination: address, protocol: 0, source_port: 0, destination_port: 0, tos: 0 };
        let path = |forward: &[u32], backward: &[u32]| Path {
            forward: forward.to_vec(),
            backward: backward.to_vec(),
            headers: [header, header],
        };
        // Two flows over lines 0 and 1 to 2; 3 has its own way in and out; 4 begins one path and goes on in another.
        let paths = Paths::new(&[path(&[0, 2, 5], &[4, 3]), path(&[1, 2, 6], &[5, 4, 3])]);
        assert_eq!(paths.feeders(8), [None, None, None, Some(4), None, None, Some(2), None]);
        let first = paths.first(1, Direction::Backward);
        assert_eq!(
            [first, first + 1, first + 2, first + 3].map(|place| paths.line(place)),
            [Some(5), Some(4), Some(3), None]
        );
    }
}
