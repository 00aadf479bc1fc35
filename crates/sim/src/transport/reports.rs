//! What acknowledgements under way say beyond their numbers: few say anything, so it is kept apart from the packets.

use super::{Acknowledgement, Blocks, Feedback};

/// What one says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// Runs of packets.
    Blocks(Blocks),
    /// The answer to a round trip.
    Feedback(Feedback),
}

impl Report {
    /// What `ack` says, if anything.
    #[must_use]
    #[inline]
    pub fn of(ack: &Acknowledgement) -> Option<Self> {
        match ack.feedback {
            Some(feedback) => Some(Self::Feedback(feedback)),
            None if ack.blocks.is_empty() => None,
            None => Some(Self::Blocks(ack.blocks)),
        }
    }

    /// The runs, and the feedback, of which one is nothing.
    #[must_use]
    pub fn parts(self) -> (Blocks, Option<Feedback>) {
        match self {
            Self::Blocks(blocks) => (blocks, None),
            Self::Feedback(feedback) => (Blocks::default(), Some(feedback)),
        }
    }
}

/// Reports, by name. The name 0 stands for none.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    kept: Vec<Report>,
    free: Vec<u32>,
}

impl Reports {
    /// Keeps a report; its name.
    #[inline]
    pub fn keep(&mut self, report: Option<Report>) -> u32 {
        let Some(report) = report else { return 0 };
        if let Some(name) = self.free.pop() {
            self.kept[name as usize - 1] = report;
            return name;
        }
        self.kept.push(report);
        self.kept.len() as u32
    }

    /// Gives back what `name`, which is not 0, stands for, and the name.
    pub fn take(&mut self, name: u32) -> Report {
        self.free.push(name);
        self.kept[name as usize - 1]
    }
}
