//! The pace of a congestion control that counts in packets, in bits on the line.

use fairq_sched::units::Rate;

/// `packets_per_s` packets of `length` bytes a second, rounded to whole bits and limited to the
/// range of rates.
#[must_use]
pub fn of(packets_per_s: f64, length: u32) -> Rate {
    // A float-to-integer cast saturates and turns NaN into zero.
    let bits = (packets_per_s * f64::from(length) * 8.0 + 0.5) as u64;
    Rate::new(bits.max(1)).unwrap_or(Rate::MAX)
}

/// Why a margin by which the pace is lowered makes no sense; `None` if it does.
#[must_use]
pub fn margin_fault(margin: f64) -> Option<String> {
    (!(0.0..1.0).contains(&margin)).then(|| format!("pacing_margin is {margin}; it is at least 0 and below 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_packets_of_a_thousand_bytes_are_eight_hundred_kilobits() {
        assert_eq!(of(100.0, 1000).bit_per_s(), 800_000);
        assert_eq!(of(0.0, 1000).bit_per_s(), 1);
        assert_eq!(of(f64::NAN, 1000).bit_per_s(), 1);
        assert_eq!(of(f64::INFINITY, 1000), Rate::MAX);
    }
}
