//! Lines on which the acknowledgements of several hosts come together.
//!
//! A line that takes packets from one other line only follows it ([`Line::follows`]): the fate of a
//! packet there is known when it leaves the line before. A line to which several hosts send
//! acknowledgements, each over a line of its own, may follow all of them if they are at the same
//! distance: what is sent later arrives later. The path of an acknowledgement over a dumbbell is
//! one event then.
//!
//! Two conditions hold at run time. No packet of unknown fate is on its way to the line. Nothing
//! else happens in the instant of the arrival, because equal times go by line and not by the order
//! of handling.

use super::line::{Entry, Line};
use super::network::Network;
use super::path::Path;
use fairq_sched::units::Time;

/// The sources of the packets that come to a line, by the paths over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sources {
    /// No packet comes.
    None,
    /// Acknowledgements, each over the first line of its path, which arrive this long after they
    /// are sent.
    Hosts(Time),
    /// Other packets, or from different distances.
    Others,
}

impl Line {
    /// How long after its sending a packet of `length` bytes arrives at the end of this line if it
    /// finds it idle. `None` if that is not known at the time of sending.
    fn distance(&self, length: u32) -> Option<Time> {
        let transmission = match (self.entry, &self.gateway) {
            (Entry::Computed, Some(gateway)) => gateway.time_alone(length + self.header),
            (Entry::Asked, _) => return None,
            _ => Time::ZERO,
        };
        self.is_orderly().then(|| transmission.saturating_add(self.delay))
    }
}

impl Network {
    /// Makes lines follow the hosts that send acknowledgements to them over `paths`; each path
    /// comes with the bytes of an acknowledgement. To be called before the run begins, on an
    /// undivided network.
    pub fn merge<'a>(&mut self, paths: impl Iterator<Item = (&'a Path, u32)> + Clone) {
        let mut sources = vec![Sources::None; self.lines.len()];
        for (path, acknowledgement) in paths.clone() {
            // Data that takes no time would be acknowledged in the instant in which it is sent,
            // perhaps together with other data.
            let takes_time = path.forward().iter().any(|line| self.lines[*line as usize].is_orderly());
            path.forward().iter().for_each(|line| sources[*line as usize] = Sources::Others);
            for (at, line) in path.backward().iter().enumerate() {
                let known = &mut sources[*line as usize];
                let before = match at {
                    1 if takes_time => self.lines[path.backward()[0] as usize].distance(acknowledgement),
                    _ => None,
                };
                *known = match (*known, before.map_or(Sources::Others, Sources::Hosts)) {
                    (Sources::None, found) => found,
                    (known, found) if known == found => known,
                    _ => Sources::Others,
                };
            }
        }
        let merges = |line: u32| match sources[line as usize] {
            Sources::Hosts(distance) => Some(distance),
            _ => None,
        };
        for (line, at) in self.lines.iter_mut().enumerate() {
            if let Some(distance) = merges(line as u32).filter(|_| at.passes > 0 && !at.follows) {
                at.show_all();
                (at.follows, at.merges) = (true, distance);
            }
        }
        for (path, _) in paths {
            if let [first, second, ..] = path.backward()
                && self.lines[*second as usize].merges < Time::NEVER
            {
                self.lines[*first as usize].leads = true;
            }
        }
    }
}
