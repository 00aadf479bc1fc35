//! Times of a log as whole nanoseconds: decimal numbers of seconds, exactly, and dates.

use crate::requests::NS_PER_S;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The nanoseconds of `text` since its zero: seconds, or a date and time of day as RFC 3339 writes
/// it, since 1970.
pub(crate) fn nanoseconds(text: &str) -> Option<i128> {
    decimal(text).or_else(|| date(text)).or_else(|| {
        let seconds: f64 = text.parse().ok()?;
        (seconds.abs() < SECONDS_MAX as f64).then(|| libm::round(seconds * NS_PER_S as f64) as i128)
    })
}

/// Seconds beyond which a number is no time in seconds: as since 1970 they are of the year 33658.
const SECONDS_MAX: i128 = 1_000_000_000_000;

/// Digits with a point, exactly; of the part of a second nine digits count.
fn decimal(text: &str) -> Option<i128> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = digits.strip_prefix('+').filter(|_| !is_negative).unwrap_or(digits);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() > 15 || whole.is_empty() && part.is_empty() {
        return None;
    }
    let mut seconds: i128 = 0;
    for digit in whole.bytes() {
        seconds = seconds * 10 + i128::from(digit.is_ascii_digit().then(|| digit - b'0')?);
    }
    let (mut ns, mut step) = (0, NS_PER_S / 10);
    for digit in part.bytes() {
        ns += i128::from(u64::from(digit.is_ascii_digit().then(|| digit - b'0')?) * step);
        step /= 10;
    }
    let all = seconds * i128::from(NS_PER_S) + ns;
    (seconds < SECONDS_MAX).then_some(if is_negative { -all } else { all })
}

/// `2026-01-31T12:30:00.5Z`, or with a space for the T, or with an offset like +02:00; without one
/// it is taken as UTC.
fn date(text: &str) -> Option<i128> {
    let of_utc = || TimeZone::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok();
    text.parse::<Timestamp>().ok().or_else(of_utc).map(Timestamp::as_nanosecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read_exactly() {
        for (text, ns) in [
            ("0", 0),
            ("1.5", 1_500_000_000),
            (".25", 250_000_000),
            ("+3", 3_000_000_000),
            ("-0.000000001", -1),
            ("1700000000.123456789", 1_700_000_000_123_456_789),
            ("2.5e-3", 2_500_000),
            ("1970-01-01T00:00:00Z", 0),
            ("2000-03-01 00:00", 951_868_800_000_000_000),
            ("2026-11-30T08:58:50.25Z", 1_796_029_130_250_000_000),
            ("2026-11-30T10:58:50.25+02:00", 1_796_029_130_250_000_000),
            ("1970-01-02", 86_400_000_000_000),
        ] {
            assert_eq!(nanoseconds(text), Some(ns), "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            "x",
            "1,5",
            "NaN",
            "inf",
            "1e99",
            "1700000000000000",
            "2026-13-01T00:00",
            "2026-02-30",
            "12:30",
            "2026-01-01T25:00",
        ] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
