//! Where the acknowledgements of several hosts come together.
//!
//! A line that takes packets from one other only follows that ([`Line::follows`]): what becomes of a packet there is known when it
//! leaves the one before. A line to which several hosts send acknowledgements, each over a line of its own, may follow all of them if
//! they are equally far: whoever sends later arrives later. The path of an acknowledgement over a dumbbell is one event then.
//!
//! That holds for a packet that arrives as soon as one sent now can, if nobody is on the way of whom it is not known, and if
//! nothing else happens in this instant, for equal times go by line and not by who was handled first.

use super::line::{Entry, Line};
use super::network::Network;
use super::path::Path;
use fairq_sched::units::Time;

/// What is known of a line by the paths that lead over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sources {
    /// Nobody comes.
    None,
    /// Acknowledgements, each over a first line of its path of which they arrive so long after they are sent.
    Hosts(Time),
    /// Others, or from different distances.
    Others,
}

impl Line {
    /// How long after it is sent a packet of `length` bytes arrives at the end of this line if it finds it idle, where it is known
    /// as soon as it is sent when that is.
    fn distance(&self, length: u32) -> Option<Time> {
        let transmission = match (self.entry, &self.gateway) {
            (Entry::Reckoned, Some(gateway)) => gateway.time_alone(length + self.header),
            (Entry::Asked, _) => return None,
            _ => Time::ZERO,
        };
        self.is_orderly().then(|| transmission.saturating_add(self.delay))
    }
}

impl Network {
    /// Has lines follow the hosts that send acknowledgements to them over `paths`, each with the bytes of an acknowledgement. To
    /// be called before the run begins, of a network that is whole.
    pub fn merge<'a>(&mut self, paths: impl Iterator<Item = (&'a Path, u32)> + Clone) {
        let mut sources = vec![Sources::None; self.lines.len()];
        for (path, acknowledgement) in paths.clone() {
            // Data that takes no time would be answered in the instant in which it is sent, maybe with others.
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
