//! TCP's throughput as a function of the loss event rate, and its inverse.
//!
//! Source: RFC 5348, section 3.1 (with b = 1); RFC 5348, section 6.3.1, for the inverse.

/// The bytes a second that TCP would send: packets of `size` bytes, a round trip and a
/// retransmission timeout in seconds, a loss event rate `loss` above zero.
#[must_use]
pub fn throughput(size: f64, round_trip: f64, timeout: f64, loss: f64) -> f64 {
    let p = loss;
    let root = (2.0 * p / 3.0).sqrt();
    let waits = 3.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    size / (round_trip * root + timeout * waits)
}

/// The loss event rate at which [`throughput`] is `rate`; at most 1.
#[must_use]
pub fn loss_for(rate: f64, size: f64, round_trip: f64, timeout: f64) -> f64 {
    // The throughput falls with the loss. Bisection on a logarithmic scale reaches the last bits in
    // 64 steps.
    let (mut low, mut high) = (1e-12, 1.0);
    for _ in 0..64 {
        let middle = f64::sqrt(low * high);
        if throughput(size, round_trip, timeout, middle) > rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the equation, computed independently of this program.
    #[test]
    fn the_equation_gives_the_known_rates() {
        for (loss, rate) in [(1e-4, 1_223_644), (1e-3, 383_844), (0.01, 112_332), (0.05, 36_859), (0.1, 17_701)] {
            assert_eq!(throughput(1000.0, 0.1, 0.4, loss).round() as u64, rate);
            let back = loss_for(throughput(1000.0, 0.1, 0.4, loss), 1000.0, 0.1, 0.4);
            assert!((back / loss - 1.0).abs() < 1e-9, "{back} is not {loss}");
        }
        assert_eq!(loss_for(0.0, 1000.0, 0.1, 0.4), 1.0);
    }
}
