//! The packets of chosen flows: when each came from its sender and when it was given to its
//! receiver.

use super::{Event, Observer, What};
use crate::report::PacketRow;
use fairq_sched::units::Time;
use std::sync::{Arc, Mutex};

/// The rows so far, shared with the caller.
pub type Rows = Arc<Mutex<Vec<PacketRow>>>;

/// The most rows. Later packets are left out.
const ROWS_MAX: usize = 5_000_000;

/// Records the packets of a flow.
pub struct PacketLog {
    /// The flow's name, or a part of it.
    name: String,
    rows: Rows,
}

impl PacketLog {
    /// Records the packets of the flows that are called `name` or have it in their name: a host and
    /// a port, `tcp`.
    #[must_use]
    pub const fn new(name: String, rows: Rows) -> Self {
        Self { name, rows }
    }
}

impl Observer for PacketLog {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        let received = match event.what {
            What::Delivered => Some(now),
            What::Dropped(_) | What::Lost => None,
            What::Arrived | What::Sent => return,
        };
        if event.packet.flow.0.contains(&self.name)
            && let Ok(mut rows) = self.rows.lock()
            && rows.len() < ROWS_MAX
        {
            rows.push(PacketRow {
                flow: event.packet.flow.clone(),
                sent_s: event.packet.entered.as_s(),
                received_s: received.map(Time::as_s),
                bytes: event.packet.bytes.len() as u32,
            });
        }
    }

    fn finish(&mut self, _: Time) -> std::io::Result<()> {
        if let Ok(mut rows) = self.rows.lock() {
            rows.sort_by(|one, other| one.sent_s.total_cmp(&other.sent_s));
        }
        Ok(())
    }
}
