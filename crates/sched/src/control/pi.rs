//! The proportional-integral step that PIE and DualPI2 take: a probability follows how far a delay
//! is from its target, and where it is going.
//!
//! Source: Hollot, Misra, Towsley and Gong, INFOCOM 2001; as RFC 8033 (section 4.2) and RFC 9332
//! (appendix A) use it.

/// What the controller wants, and how strongly.
#[derive(Clone, Copy, Debug)]
pub struct Gains {
    /// The delay that is wanted, in seconds.
    pub target: f64,
    /// The gain for the distance from the target, in 1/s for each step.
    pub alpha: f64,
    /// The gain for the change since the last step, in 1/s for each step.
    pub beta: f64,
}

/// A probability under control.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pi {
    /// The probability, from 0 to 1.
    pub probability: f64,
    /// The delay at the last step, in seconds.
    pub previous: f64,
}

impl Pi {
    /// The change that a step at `delay` (in seconds) asks for; it becomes the delay of the last
    /// step.
    pub fn change(&mut self, delay: f64, gains: &Gains) -> f64 {
        // α (qdelay - target) + β (qdelay - qdelay_old)
        let change = gains.alpha * (delay - gains.target) + gains.beta * (delay - self.previous);
        self.previous = delay;
        change
    }

    /// Changes the probability, which stays between 0 and 1.
    pub fn add(&mut self, change: f64) {
        self.probability = (self.probability + change).clamp(0.0, 1.0);
    }
}

/// Whether `value` may be a gain: finite and not negative.
#[must_use]
pub fn is_gain(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// Whether `value` may be a probability.
#[must_use]
pub fn is_probability(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}
