//! The pace of a law that counts in packets, in bits on the line.

use fairq_sched::units::Rate;

/// So many packets of `length` bytes in a second, rounded to whole bits and kept among the rates that there are.
#[must_use]
pub fn of(packets_per_s: f64, length: u32) -> Rate {
    // A float-to-integer cast saturates and takes NaN to zero.
    let bits = (packets_per_s * f64::from(length) * 8.0 + 0.5) as u64;
    Rate::new(bits.max(1)).unwrap_or(Rate::MAX)
}

/// Why a part by which the pace is to be lower makes no sense, if it does not.
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
