//! What holds a sender whose congestion control would let it send, and for how long.
//!
//! Noted when a sender that was asked has nothing to send: only a change of what holds it costs
//! more than a comparison.

use fairq_sched::units::Time;

/// What keeps a sender from sending though window and pace allow a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The receiver's window.
    Receiver,
    /// The host's room for packets that are not acknowledged.
    Buffer,
    /// The traffic: there are no data.
    Application,
}

/// For how long a sender was held by each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldTimes {
    /// By the receiver's window.
    pub receiver: Time,
    /// By the host's room.
    pub buffer: Time,
    /// Time held because the application had no data.
    pub application: Time,
}

impl HeldTimes {
    /// The sum of the times of two parts of a run.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            receiver: self.receiver + other.receiver,
            buffer: self.buffer + other.buffer,
            application: self.application + other.application,
        }
    }

    const fn of(&mut self, holder: Holder) -> &mut Time {
        match holder {
            Holder::Receiver => &mut self.receiver,
            Holder::Buffer => &mut self.buffer,
            Holder::Application => &mut self.application,
        }
    }
}

/// The times since they were last cleared, and when what holds the sender last changed. Most
/// senders of a large network were never held: theirs take no memory.
#[derive(Debug, Default)]
pub struct Held(Option<Box<(Time, HeldTimes)>>);

impl Held {
    /// Up to `now` it was held by `by`, if by anything; now by something else, or by nothing.
    #[inline(never)]
    pub fn change(&mut self, now: Time, by: Option<Holder>) {
        let times = self.until(now, by);
        **self.0.get_or_insert_default() = (now, times);
    }

    /// The times up to `now`, while it is held by `by`.
    #[must_use]
    pub fn until(&self, now: Time, by: Option<Holder>) -> HeldTimes {
        let (since, mut times) = self.0.as_deref().copied().unwrap_or_default();
        if let Some(holder) = by {
            let time = times.of(holder);
            *time = *time + (now - since);
        }
        times
    }

    /// Counts from `now` on.
    pub fn clear(&mut self, now: Time) {
        if let Some(times) = &mut self.0 {
            **times = (now, HeldTimes::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_holder_has_the_times_between_its_changes() {
        let mut held = Held::default();
        assert_eq!(held.until(Time::from_s(1), None), HeldTimes::default());
        held.change(Time::from_s(1), None);
        held.change(Time::from_s(4), Some(Holder::Receiver));
        held.change(Time::from_s(5), None);
        let [receiver, application] = [3, 2].map(Time::from_s);
        let found = held.until(Time::from_s(7), Some(Holder::Application));
        assert_eq!(found, HeldTimes { receiver, application, buffer: Time::ZERO });
        held.clear(Time::from_s(8));
        held.change(Time::from_s(9), Some(Holder::Application));
        let [buffer, application] = [3, 1].map(Time::from_s);
        let found = held.until(Time::from_s(12), Some(Holder::Buffer));
        assert_eq!(found, HeldTimes { buffer, application, receiver: Time::ZERO });
    }
}
