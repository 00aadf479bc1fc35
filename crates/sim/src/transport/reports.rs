//! Reports of acknowledgements under way, beyond their numbers. Few acknowledgements have one, so
//! reports are kept apart from the packets.

use super::messages::{Acknowledgement, Blocks, Feedback};

/// The report of one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// Runs of packets.
    Blocks(Blocks),
    /// The report on a round trip.
    Feedback(Feedback),
}

impl Report {
    /// The report of `ack`, if it has one.
    #[must_use]
    #[inline]
    pub fn of(ack: &Acknowledgement) -> Option<Self> {
        match ack.feedback {
            Some(feedback) => Some(Self::Feedback(feedback)),
            None if ack.blocks.is_empty() => None,
            None => Some(Self::Blocks(ack.blocks)),
        }
    }

    /// The runs and the feedback; one of the two is empty.
    #[must_use]
    pub fn parts(self) -> (Blocks, Option<Feedback>) {
        match self {
            Self::Blocks(blocks) => (blocks, None),
            Self::Feedback(feedback) => (Blocks::default(), Some(feedback)),
        }
    }
}

/// Reports by number; the number 0 stands for none.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    kept: Vec<Report>,
    free: Vec<u32>,
}

impl Reports {
    /// Keeps a report and returns its number.
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

    /// Returns the report with number `name`, which is not 0, and frees the number.
    pub fn take(&mut self, name: u32) -> Report {
        self.free.push(name);
        self.kept[name as usize - 1]
    }
}
