//! What some recoveries and congestion controls track of packets. Most connections track nothing,
//! and keep no room for it.

use super::pairs::Pairs;
use super::rack::Rack;
use super::rate::RateMeter;
use super::settings::Recovery;
use crate::transport::congestion::Congestion;
use fairq_sched::units::Time;

/// The trackers of a connection's packets, if it has any.
#[derive(Clone, Debug, Default)]
pub struct Trackers(Option<Box<Kept>>);

#[derive(Clone, Debug)]
struct Kept {
    rack: Option<Rack>,
    rate: Option<RateMeter>,
    pairs: Option<Pairs>,
    /// For connections that time one packet at a time: the packet that is timed, and when it was
    /// sent.
    one: Option<Option<(u64, Time)>>,
}

impl Trackers {
    /// The trackers for `recovery` and the congestion control `control` of a connection that begins
    /// at `now` with packet `first`. `one` says that one packet is timed at a time.
    #[must_use]
    pub fn new(recovery: Recovery, control: &dyn Congestion, one: bool, now: Time, first: u64) -> Self {
        let rack = (recovery == Recovery::Rack).then(Rack::new);
        let rate = control.wants_rate().then(|| RateMeter::new(now, first));
        let pairs = control.wants_pairs().map(Pairs::new);
        let one = one.then_some(None);
        let has_any = rack.is_some() || rate.is_some() || pairs.is_some() || one.is_some();
        Self(has_any.then(|| Box::new(Kept { rack, rate, pairs, one })))
    }

    /// Whether there are none.
    #[must_use]
    #[inline]
    pub const fn are_none(&self) -> bool {
        self.0.is_none()
    }

    /// Times packet `sequence`, sent now, if one packet is timed at a time and none is timed yet.
    #[inline]
    pub fn time(&mut self, now: Time, sequence: u64) {
        if let Some(one) = self.0.as_mut().and_then(|kept| kept.one.as_mut()) {
            one.get_or_insert((sequence, now));
        }
    }

    /// Stops timing the packet.
    pub fn time_none(&mut self) {
        if let Some(one) = self.0.as_mut().and_then(|kept| kept.one.as_mut()) {
            *one = None;
        }
    }

    /// When the timed packet was sent, if it is below `cumulative`; timing then ends.
    pub fn timed_below(&mut self, cumulative: u64) -> Option<Time> {
        let one = self.0.as_mut()?.one.as_mut()?;
        one.take_if(|(sequence, _)| *sequence < cumulative).map(|(_, sent)| sent)
    }

    /// RACK's transmissions, and the probe.
    #[inline]
    pub fn rack(&mut self) -> Option<&mut Rack> {
        self.0.as_mut()?.rack.as_mut()
    }

    /// When RACK wants to be woken.
    #[must_use]
    #[inline]
    pub fn rack_deadline(&self) -> Time {
        self.0.as_ref().and_then(|kept| kept.rack.as_ref()).map_or(Time::NEVER, Rack::deadline)
    }

    /// The meter of the delivery rate.
    #[inline]
    pub fn rate(&mut self) -> Option<&mut RateMeter> {
        self.0.as_mut()?.rate.as_mut()
    }

    /// The pairs.
    #[inline]
    pub fn pairs(&mut self) -> Option<&mut Pairs> {
        self.0.as_mut()?.pairs.as_mut()
    }
}
