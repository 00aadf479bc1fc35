//! When a transmission ends. A [`Transmitter`] of a fixed rate computes it from the bits sent since
//! the line became busy, so that rounding does not add up.
//!
//! The end is `busy since + bits · 10¹² / rate` picoseconds, to the nearest. A quotient and a
//! remainder carry it from packet to packet. Those of the last two lengths are kept, so that a
//! packet of a common length needs no division.

use crate::change::Unsupported;
use crate::units::{PS_PER_S, Rate, Time};
use alloc::boxed::Box;

/// What sends the packets of a [`Port`](crate::port::Port), one after another: a rate, a trace of
/// deliveries, a rate that varies.
pub trait Service: Send {
    /// The line, idle until now, becomes busy: [`Service::send`] follows.
    fn begin(&mut self, now: Time);

    /// Sends `bits` right after what was sent before. Returns when that ends.
    fn send(&mut self, bits: u64) -> Time;

    /// Stops the present transmission, whose end was given as `end`. Returns the bits that are left
    /// to send, at least one. The line is idle after it.
    fn interrupt(&mut self, now: Time, end: Time) -> u32;

    /// Has the rate `rate` from now on. Returns when the present transmission ends then: what was
    /// sent of it was sent at the rate before. On an idle line the answer means nothing.
    ///
    /// # Errors
    ///
    /// If its rate is not for others to change; nothing has changed then.
    fn change(&mut self, _now: Time, _rate: Rate) -> Result<Time, Unsupported> {
        Err(Unsupported("the rate of this line follows a course of its own"))
    }
}

impl<S: Service + ?Sized> Service for Box<S> {
    fn begin(&mut self, now: Time) {
        (**self).begin(now);
    }
    fn send(&mut self, bits: u64) -> Time {
        (**self).send(bits)
    }
    fn interrupt(&mut self, now: Time, end: Time) -> u32 {
        (**self).interrupt(now, end)
    }
    fn change(&mut self, now: Time, rate: Rate) -> Result<Time, Unsupported> {
        (**self).change(now, rate)
    }
}

/// How long a number of bits takes: whole picoseconds, and parts of one in units of one over the
/// rate.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    bits: u64,
    whole: u64,
    part: u64,
}

/// The transmitter of a line.
#[derive(Clone, Debug)]
pub struct Transmitter {
    rate: Rate,
    /// The end of the present transmission, rounded down, and the part that is missing.
    end: Time,
    part: u64,
    /// The bits of the present transmission.
    sending: u64,
    known: [Span; 2],
}

impl Transmitter {
    /// An idle transmitter of `rate`.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self { rate, end: Time::ZERO, part: 0, sending: 0, known: [Span::default(); 2] }
    }

    /// The rate.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// How long `bits` take on a line that was idle before, to the nearest picosecond.
    #[must_use]
    pub fn time_alone(&self, bits: u64) -> Time {
        let mut alone = self.clone();
        alone.begin(Time::ZERO);
        alone.send(bits)
    }

    /// The end to the nearest picosecond.
    #[inline]
    const fn rounded_end(&self) -> Time {
        Time(self.end.0.saturating_add((self.part * 2 >= self.rate.bit_per_s()) as u64))
    }

    #[inline]
    fn span(&mut self, bits: u64) -> Span {
        // The index is selected without a branch: data and acknowledgements come in no order, so
        // that a branch would be mispredicted.
        let at = usize::from(self.known[0].bits != bits);
        if self.known[at].bits != bits {
            self.divide(bits);
        }
        self.known[at]
    }

    /// Computes the span of `bits`; it replaces the older of the two kept spans.
    #[cold]
    #[inline(never)]
    fn divide(&mut self, bits: u64) {
        let dividend = u128::from(bits) * u128::from(PS_PER_S);
        let rate = u128::from(self.rate.bit_per_s());
        // A packet has at most 2³⁵ bits and a rate is at least 1 bit/s: the quotient fits for any
        // packet that takes less than 213 days; saturation keeps an absurd one from wrapping.
        let whole = u64::try_from(dividend / rate).unwrap_or(u64::MAX / 2);
        let span = Span { bits, whole, part: (dividend % rate) as u64 };
        self.known = [self.known[1], span];
    }
}

impl Service for Transmitter {
    #[inline]
    fn begin(&mut self, now: Time) {
        self.end = now;
        self.part = 0;
    }

    /// To the nearest picosecond.
    #[inline]
    fn send(&mut self, bits: u64) -> Time {
        let span = self.span(bits);
        let rate = self.rate.bit_per_s();
        let mut part = self.part + span.part;
        let carry = part >= rate;
        if carry {
            part -= rate;
        }
        self.part = part;
        self.sending = bits;
        self.end = Time(self.end.0.saturating_add(span.whole + u64::from(carry)));
        self.rounded_end()
    }

    /// No more bits than there were: the end is rounded, and on a fast line half a picosecond is
    /// several bits.
    fn interrupt(&mut self, now: Time, end: Time) -> u32 {
        let left = u128::from((end - now).0) * u128::from(self.rate.bit_per_s());
        let bits = left.div_ceil(u128::from(PS_PER_S)).min(u128::from(self.sending)).max(1);
        u32::try_from(bits).unwrap_or(u32::MAX)
    }

    /// Exact: the parts of a bit that were sent count.
    fn change(&mut self, now: Time, rate: Rate) -> Result<Time, Unsupported> {
        // Bits times 10¹², whole: of `part` one unit is one over the rate.
        let left = match self.end.0.checked_sub(now.0) {
            Some(whole) => u128::from(whole) * u128::from(self.rate.bit_per_s()) + u128::from(self.part),
            None => 0,
        };
        let new = u128::from(rate.bit_per_s());
        let whole = u64::try_from(left / new).unwrap_or(u64::MAX / 2);
        (self.end, self.part) = (now.saturating_add(Time(whole)), (left % new) as u64);
        (self.rate, self.known) = (rate, [Span::default(); 2]);
        Ok(self.rounded_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_does_not_add_up() {
        // 3 bit/s: a bit takes a third of a second, which no picosecond holds.
        let mut line = Transmitter::new(Rate::new(3).unwrap());
        line.begin(Time(7));
        let lengths = [1u64, 5, 2, 1, 9];
        let mut bits = 0u128;
        for at in 0..100_000usize {
            let length = lengths[at % lengths.len()];
            bits += u128::from(length);
            let exact = (bits * 2 * u128::from(PS_PER_S) + 3) / 6 + 7;
            assert_eq!(u128::from(line.send(length).0), exact, "packet {at}");
        }
    }

    #[test]
    fn a_change_of_the_rate_counts_what_was_sent_before_it() {
        let rate = |bit_per_s| Rate::new(bit_per_s).unwrap();
        let mut line = Transmitter::new(rate(8_000_000));
        line.begin(Time::ZERO);
        assert_eq!(line.send(8000), Time::from_ms(1));
        // A quarter was sent; the rest takes six milliseconds, at twice that three.
        assert_eq!(line.change(Time(250_000_000), rate(1_000_000)), Ok(Time(6_250_000_000)));
        assert_eq!(line.change(Time(3_250_000_000), rate(2_000_000)), Ok(Time(4_750_000_000)));
        assert_eq!(line.send(2000), Time(5_750_000_000));
        // On an idle line only what is sent later takes another time.
        assert!(line.change(Time::from_ms(9), rate(8_000_000)).is_ok());
        line.begin(Time::from_ms(10));
        assert_eq!(line.send(8000), Time::from_ms(11));
    }

    #[test]
    fn changes_of_the_rate_lose_no_part_of_a_bit() {
        let rates = [1_003, 7_919, 1_000_003, 999_999_937, 56_000].map(|bit_per_s| Rate::new(bit_per_s).unwrap());
        let mut line = Transmitter::new(rates[0]);
        line.begin(Time(5));
        let bits = 1_000_000_000;
        line.send(bits);
        // Bits times 10¹² that were sent.
        let (mut sent, mut since, mut rate) = (0, Time(5), rates[0]);
        for at in 1..1000_u64 {
            let now = Time(at * 1_234_567_891);
            sent += u128::from((now - since).0) * u128::from(rate.bit_per_s());
            (since, rate) = (now, rates[at as usize % rates.len()]);
            let end = line.change(now, rate).unwrap();
            let left = u128::from(bits) * u128::from(PS_PER_S) - sent;
            let exact = (2 * left + u128::from(rate.bit_per_s())) / (2 * u128::from(rate.bit_per_s()));
            assert_eq!(u128::from((end - now).0), exact, "change {at}");
        }
    }

    #[test]
    fn an_interrupted_transmission_keeps_its_unsent_bits() {
        let mut line = Transmitter::new(Rate::new(1_000_000).unwrap());
        line.begin(Time::ZERO);
        let end = line.send(8000);
        assert_eq!(end, Time::from_ms(8));
        assert_eq!(line.interrupt(Time::from_ms(2), end), 6000);
        line.begin(Time::from_ms(3));
        assert_eq!(line.send(6000), Time::from_ms(9));
    }

    #[test]
    fn an_interruption_adds_no_bits() {
        // 2 bits at 3 bit/s end a third of a picosecond later than exact; at 10 Tbit/s a picosecond
        // is 10 bits.
        for (rate, bits) in [(3, 2), (7, 5), (10_000_000_000_000, 8), (9_999_999_999_999, 12_000)] {
            let mut line = Transmitter::new(Rate::new(rate).unwrap());
            line.begin(Time(100));
            let end = line.send(bits);
            assert_eq!(u64::from(line.interrupt(Time(100), end)), bits, "{rate} bit/s");
        }
    }
}
