//! Intervals over replications, by Student's t: what one further run will show, and where the mean lies.

/// The mean of `values` and the 95 % interval in which one further run falls: mean ± t s √(1 + 1/n).
/// One value alone gives an interval of no width; none gives NaN.
pub(crate) fn prediction(values: &[f64]) -> (f64, f64, f64) {
    interval(values, |n| 1.0 + 1.0 / n)
}

/// The mean of `values` and its 95 % confidence interval: mean ± t s / √n.
pub(crate) fn confidence(values: &[f64]) -> (f64, f64, f64) {
    interval(values, |n| 1.0 / n)
}

fn interval(values: &[f64], share_of_variance: impl Fn(f64) -> f64) -> (f64, f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return (mean, mean, mean);
    }
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
    let half = student_t(values.len() - 1) * (variance * share_of_variance(n)).sqrt();
    (mean, mean - half, mean + half)
}

/// The 97.5 % quantile of Student's t: the usual table up to 30 degrees of freedom, then the expansion around the
/// normal quantile (Abramowitz and Stegun, 26.7.5), good to 10⁻⁴ there.
fn student_t(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604,
        2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518,
        2.0484, 2.0452, 2.0423,
    ];
    const Z: f64 = 1.959_964;
    let v = degrees as f64;
    TABLE.get(degrees - 1).copied().unwrap_or_else(|| {
        let (z3, z5) = (Z * Z * Z, Z * Z * Z * Z * Z);
        Z + (z3 + Z) / (4.0 * v) + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * v * v)
    })
}
