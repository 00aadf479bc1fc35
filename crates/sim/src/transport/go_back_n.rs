//! Recovery with one timer: on expiry everything from the oldest unacknowledged packet on is sent
//! again as the window opens. Some congestion controls also ask for a packet on duplicate
//! acknowledgements.
//!
//! Source: the TCP of 4.3BSD (Jacobson 1988), as `jk` and `decbit` of Demers, Keshav and Shenker
//! 1990 use it.

use super::congestion::{Acked, Congested, Congestion};
use super::ecn::Accepts;
use super::estimator::{self, Estimator};
use super::messages::{Acknowledgement, Transmission};
use super::receiver::{Answers, Sink};
use super::supply::Supply;
use super::{Ends, Sender};
use fairq_sched::units::Time;
use std::collections::VecDeque;

/// The ends of a connection of 1990 under `control`: one timer, and an answer to each packet. After
/// this number of `duplicates` a packet is sent again; with 0 only on the timer.
#[must_use]
pub fn ends(
    control: impl Congestion + 'static,
    timeout: &estimator::Settings,
    duplicates: u32,
    supply: Supply,
) -> Ends {
    let sender = GoBackN::new(control, timeout.clone().into(), supply, duplicates);
    Ends { sender: Box::new(sender), receiver: Box::new(Sink::new(Answers::to_each())) }
}

struct Outstanding {
    length: u32,
    first_sent: Time,
    transmissions: u32,
}

/// One timer and a congestion control.
pub struct GoBackN<C> {
    control: C,
    estimator: Estimator,
    timeout: estimator::Rules,
    supply: Supply,
    /// The number of duplicate acknowledgements after which a packet is sent again; never if 0.
    duplicates_limit: u32,
    /// The lowest number that is not acknowledged, and the packets ever sent from it on.
    unacknowledged: u64,
    outstanding: VecDeque<Outstanding>,
    /// The number that is sent next.
    next: u64,
    duplicates: u32,
    /// No packet below it is sent again on duplicates: one reaction to a window of data.
    recover: u64,
    /// Whether the oldest packet is to be sent again at once.
    resends_oldest: bool,
    timer: Time,
}

impl<C: Congestion> GoBackN<C> {
    /// A sender that has sent nothing yet.
    pub const fn new(control: C, timeout: estimator::Rules, supply: Supply, duplicates_limit: u32) -> Self {
        Self {
            control,
            estimator: Estimator::new(),
            timeout,
            supply,
            duplicates_limit,
            unacknowledged: 0,
            outstanding: VecDeque::new(),
            next: 0,
            duplicates: 0,
            recover: 0,
            resends_oldest: false,
            timer: Time::NEVER,
        }
    }

    /// One above the highest number ever sent.
    fn highest(&self) -> u64 {
        self.unacknowledged + self.outstanding.len() as u64
    }

    /// Packets that may be unacknowledged.
    fn window(&self) -> u64 {
        (self.control.window() as u64).max(1)
    }

    fn congested(&self, now: Time) -> Congested {
        Congested::of(now, self.next - self.unacknowledged)
    }

    fn start_timer(&mut self, now: Time) {
        self.timer = now.saturating_add(self.estimator.timeout(&self.timeout));
    }

    /// Sends packet `sequence`, which was sent before.
    fn resend(&mut self, now: Time, sequence: u64) -> Transmission {
        let packet = &mut self.outstanding[(sequence - self.unacknowledged) as usize];
        packet.transmissions += 1;
        let length = packet.length;
        if self.timer == Time::NEVER {
            self.start_timer(now);
        }
        Transmission { is_retransmission: true, ..Transmission::new(sequence, length) }
    }
}

impl<C: Congestion> Sender for GoBackN<C> {
    fn supply(&mut self) -> &mut Supply {
        &mut self.supply
    }

    /// Congestion control and estimator keep their state: the transfers are connections over one
    /// that stays open.
    fn is_complete(&mut self) -> bool {
        self.outstanding.is_empty() && self.supply.is_empty()
    }

    fn poll(&mut self, now: Time) -> Option<Transmission> {
        if self.resends_oldest {
            self.resends_oldest = false;
            if !self.outstanding.is_empty() {
                return Some(self.resend(now, self.unacknowledged));
            }
        }
        if self.next >= self.unacknowledged + self.window() {
            return None;
        }
        let sequence = self.next;
        if sequence < self.highest() {
            self.next += 1;
            return Some(self.resend(now, sequence));
        }
        let length = self.supply.take()?;
        self.next += 1;
        self.outstanding.push_back(Outstanding { length, first_sent: now, transmissions: 1 });
        if self.timer == Time::NEVER {
            self.start_timer(now);
        }
        Some(Transmission::new(sequence, length))
    }

    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time> {
        let own = ack.sequence.checked_sub(self.unacknowledged).and_then(|at| self.outstanding.get(at as usize));
        // Karn: a packet that was sent twice gives no sample.
        let sample = own.filter(|packet| packet.transmissions == 1).map(|packet| now - packet.first_sent);
        if let Some(sample) = sample {
            self.estimator.sample(&self.timeout, now, sample);
        }
        let newly = ack.cumulative.saturating_sub(self.unacknowledged).min(self.outstanding.len() as u64);
        self.outstanding.drain(..newly as usize);
        self.unacknowledged += newly;
        self.next = self.next.max(self.unacknowledged);
        self.control.acknowledged(&Acked { marks: ack.marks, round_trip: sample, ..Acked::of(now, newly) });
        if newly > 0 {
            self.duplicates = 0;
            self.timer = Time::NEVER;
            if self.unacknowledged < self.next {
                self.start_timer(now);
            }
        } else if self.duplicates_limit > 0 && ack.cumulative == self.unacknowledged && !self.outstanding.is_empty() {
            self.duplicates += 1;
            if self.duplicates == self.duplicates_limit && self.unacknowledged >= self.recover {
                self.recover = self.highest();
                self.control.lost(&self.congested(now));
                self.resends_oldest = true;
                self.start_timer(now);
            }
        }
        sample
    }

    fn deadline(&self) -> Time {
        self.timer
    }

    fn wake(&mut self, now: Time) -> bool {
        self.timer = Time::NEVER;
        self.estimator.back_off(&self.timeout);
        self.control.timed_out(&self.congested(now));
        self.recover = self.highest();
        self.next = self.unacknowledged;
        true
    }

    fn accepts(&self) -> Accepts {
        Accepts::all(self.control.accepts())
    }

    fn phase(&self) -> Option<&'static str> {
        Some(self.control.phase())
    }

    fn inspect(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.control.inspect(visit);
        visit("rtt_s_smoothed", self.estimator.smoothed().unwrap_or(f64::NAN));
        visit("timeout_s", self.estimator.timeout(&self.timeout).as_s());
    }
}
