//! What numbers of settings may be.

/// The first of some numbers that is not above its low end and at most its high end, as a line for
/// the user. Each number has its name, value, low and high end.
pub(crate) fn outside(numbers: &[(&str, f64, f64, f64)]) -> Option<String> {
    let wrong = numbers.iter().find(|(_, value, low, high)| !(*value > *low && *value <= *high));
    wrong.map(|(name, value, low, high)| format!("{name} is {value}; it must be above {low} and at most {high}"))
}

/// The first of some numbers, each with its name, that is not above 0 and below 1, as a line for
/// the user. A factor or part must be neither nothing nor all: a decrease that leaves everything
/// would be none.
pub(crate) fn no_part(numbers: &[(&str, f64)]) -> Option<String> {
    let wrong = numbers.iter().find(|(_, value)| !(*value > 0.0 && *value < 1.0));
    wrong.map(|(name, value)| format!("{name} is {value}; it must be above 0 and below 1"))
}
