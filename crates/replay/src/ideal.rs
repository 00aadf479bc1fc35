//! The fluid beside a lane, and the lateness of the lane's packets compared with it.
//!
//! The fluid is generalised processor sharing among the flows of the report, all of weight one, on
//! a line of the same rate. It is offered each packet that the lane holds after its own enqueue. A
//! packet that is pushed out later is withdrawn at that instant: the unserved part is removed, the
//! served part is time lost to both. A packet that leaves the lane before it leaves the fluid is
//! early and has lateness zero.

use super::entries::{Entries, Fluid};
use fairq_link::sketch::Fine;
use fairq_sched::fluid::gps::{Departure, Gps, Offer};
use fairq_sched::units::{Bytes, Rate, Time, Weight};

/// The most packets that the fluid beside a lane holds; further ones are not compared. Only traffic
/// that keeps a lane overloaded for very long reaches it: each packet that is pushed out half
/// served puts the fluid behind by that half.
pub const FLUID_PACKETS_MAX: usize = 1 << 20;

/// The fluid, and lateness so far.
pub(super) struct Ideal {
    fluid: Gps,
    rate: Rate,
    /// Packets that just left the fluid, by place.
    gone: Vec<(u32, Time)>,
    /// Packets that were taken out of the fluid to be offered again.
    again: Vec<u32>,
    /// The greatest length admitted so far.
    length_max: u32,
    /// Lmax/C for `length_max`, plus the rounding of both departures.
    bound: Time,
    late: Fine,
    later_than_bound: u64,
    not_compared: u64,
}

/// Lateness, in picoseconds, for the report.
pub(super) struct Lateness {
    pub(super) compared: u64,
    pub(super) not_compared: u64,
    pub(super) mean: Option<f64>,
    pub(super) p99: Option<u64>,
    pub(super) max: Option<u64>,
    /// Lmax/C.
    pub(super) bound: Time,
    pub(super) later_than_bound: u64,
}

impl Ideal {
    pub(super) fn new(rate: Rate) -> Self {
        Self {
            fluid: Gps::new(rate),
            rate,
            gone: Vec::new(),
            again: Vec::new(),
            length_max: 0,
            bound: Time::ZERO,
            late: Fine::default(),
            later_than_bound: 0,
            not_compared: 0,
        }
    }

    /// The packet at `place` arrived now and is held.
    pub(super) fn admitted(&mut self, now: Time, place: u32, entries: &mut Entries) {
        let length = entries.get(place).length;
        if length > self.length_max {
            self.length_max = length;
            // Departures are rounded to whole picoseconds, and the fluid is exact within the time
            // of 2⁻²⁰ byte.
            let rounding = self.rate.time_of_rounded_up(Bytes(1)).0 >> 20;
            self.bound = self.longest().saturating_add(Time(rounding + 2));
        }
        if self.fluid.held() >= FLUID_PACKETS_MAX {
            self.not_compared += 1;
            self.advance(now, entries);
            return;
        }
        self.offer(now, place, entries);
        self.settle(entries);
    }

    /// The packet at `place`, held until now, is dropped; the caller frees it.
    pub(super) fn dropped(&mut self, now: Time, place: u32, entries: &mut Entries) {
        self.advance(now, entries);
        if entries.get(place).fluid != Fluid::Inside {
            return;
        }
        let flow = entries.get(place).flow;
        // The fluid can only withdraw the last packet of a flow. If another is dropped, at the
        // front, those behind it are withdrawn first and offered again, with the start that the
        // dropped one would have had.
        let gone = &mut self.gone;
        while let Some(last) = self.fluid.withdraw(now, flow, &mut |departure| gone.push(left(departure))) {
            if last as u32 == place {
                break;
            }
            self.again.push(last as u32);
        }
        entries.get_mut(place).fluid = Fluid::Outside;
        while let Some(place) = self.again.pop() {
            self.offer(now, place, entries);
        }
        self.settle(entries);
    }

    /// The packet at `place` has left the lane. Returns whether it was compared and may be freed.
    /// If not, it has yet to leave the fluid, and is freed then.
    pub(super) fn departed(&mut self, place: u32, entries: &mut Entries) -> bool {
        match entries.get(place).fluid {
            Fluid::Inside => return false,
            Fluid::Left(ideal) => self.compare(place, ideal, entries),
            Fluid::Outside => {}
        }
        true
    }

    /// All packets leave the fluid.
    pub(super) fn finish(&mut self, entries: &mut Entries) {
        let gone = &mut self.gone;
        self.fluid.finish(&mut |departure| gone.push(left(departure)));
        self.settle(entries);
    }

    pub(super) fn lateness(&self) -> Lateness {
        Lateness {
            compared: self.late.count(),
            not_compared: self.not_compared,
            mean: self.late.mean(),
            p99: self.late.quantile(0.99),
            max: self.late.greatest(),
            bound: self.longest(),
            later_than_bound: self.later_than_bound,
        }
    }

    fn longest(&self) -> Time {
        self.rate.time_of_rounded_up(Bytes(u64::from(self.length_max)))
    }

    fn advance(&mut self, now: Time, entries: &mut Entries) {
        let gone = &mut self.gone;
        self.fluid.advance(now, &mut |departure| gone.push(left(departure)));
        self.settle(entries);
    }

    fn offer(&mut self, now: Time, place: u32, entries: &mut Entries) {
        let entry = entries.get_mut(place);
        entry.fluid = Fluid::Inside;
        let offer = Offer { flow: entry.flow, weight: Weight::ONE, length: entry.length, token: u64::from(place) };
        let gone = &mut self.gone;
        self.fluid.offer(now, offer, &mut |departure| gone.push(left(departure)));
    }

    /// Compares the packets that have now left both lane and fluid.
    fn settle(&mut self, entries: &mut Entries) {
        while let Some((place, ideal)) = self.gone.pop() {
            entries.get_mut(place).fluid = Fluid::Left(ideal);
            if entries.get(place).departure.is_some() {
                self.compare(place, ideal, entries);
                entries.free(place);
            }
        }
    }

    fn compare(&mut self, place: u32, ideal: Time, entries: &Entries) {
        let departure = entries.get(place).departure.unwrap_or(ideal);
        let late = departure.saturating_sub(ideal);
        self.late.add(late.0);
        self.later_than_bound += u64::from(late > self.bound);
    }
}

/// A departure from the fluid; its token is the place.
const fn left(departure: Departure) -> (u32, Time) {
    (departure.token as u32, departure.time)
}
