//! Congestion controls: how many packets may be unacknowledged. One law, one file.

pub mod decbit;
pub mod fixed_window;
pub mod jk;

use fairq_sched::packet::Marks;

/// What an acknowledgement says to a law.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Packets that it acknowledges for the first time; none if it is a duplicate.
    pub newly: u64,
    /// The marks it carries.
    pub marks: Marks,
}

/// A law of the window. Losses it is told once for a window of data.
pub trait Congestion: Send {
    /// Packets that may be unacknowledged, at least one.
    fn window(&self) -> u32;

    /// An acknowledgement arrived.
    fn acknowledged(&mut self, acked: &Acked);

    /// A packet was lost, as duplicate acknowledgements tell.
    fn lost(&mut self) {}

    /// The timer expired.
    fn timed_out(&mut self) {}

    /// The marks that its packets may be given.
    fn accepts(&self) -> Marks {
        Marks::NONE
    }

    /// Names inner values to one who asks.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
