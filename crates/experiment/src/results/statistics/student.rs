//! Student's t at 97.5 %: the exact quantile, from the incomplete beta function by its continued
//! fraction (Numerical Recipes 6.4) and bisection; only `+ - * /`, `sqrt` and pinned functions are
//! used, so that the intervals are the same bytes on every machine.

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom.
#[must_use]
pub fn student_t_975(freedom: u32) -> f64 {
    let freedom = f64::from(freedom);
    if freedom > SERIES_ABOVE {
        return by_series(freedom);
    }
    // P(|T| > t) = I_{v/(v+t²)}(v/2, 1/2), decreasing in t.
    let tail = |t: f64| incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    let (mut low, mut high) = (1.0, 20.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if tail(middle) > 0.05 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The quantile around that of the normal distribution, to 1/v² (Abramowitz and Stegun 26.7.5).
fn by_series(freedom: f64) -> f64 {
    let z = NORMAL_975;
    let first = (z * z * z + z) / 4.0;
    let second = (5.0 * z * z * z * z * z + 16.0 * z * z * z + 3.0 * z) / 96.0;
    z + first / freedom + second / (freedom * freedom)
}

/// The 97.5 % quantile of the standard normal distribution.
pub(super) const NORMAL_975: f64 = 1.959_963_984_540_054;
/// Above this the series is exact to 10⁻¹⁴, and the continued fraction takes long.
const SERIES_ABOVE: f64 = 100_000.0;

/// The regularised incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    let front =
        libm::exp(libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x));
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(a, b, x) / a
    } else {
        1.0 - front * continued_fraction(b, a, 1.0 - x) / b
    }
}

/// Lentz's evaluation of the continued fraction of the incomplete beta function.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..500 {
        let m = f64::from(m);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            h *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_has_its_printed_values() {
        for (freedom, printed) in
            [(1, 12.7062), (2, 4.30265), (4, 2.77645), (9, 2.26216), (19, 2.09302), (120, 1.97993)]
        {
            assert!((student_t_975(freedom) - printed).abs() < 1e-4, "{freedom}: {}", student_t_975(freedom));
        }
    }

    #[test]
    fn the_series_continues_the_fraction() {
        let (before, after) = (student_t_975(100_000), student_t_975(100_001));
        assert!(before > after && before - after < 1e-9, "{before} {after}");
        assert!((student_t_975(1_000_000_000) - NORMAL_975).abs() < 1e-8);
    }
}
