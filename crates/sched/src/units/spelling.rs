//! What a unit of another tool or another spelling most likely means, for the message that refuses
//! it.

use super::{BYTE_UNITS, decimal};
use alloc::format;
use alloc::string::{String, ToString};

/// What to write for `number` and the unknown `unit` of a quantity whose first unit is `first`;
/// `None` if that is not plain.
pub(super) fn remedy(number: &str, unit: &str, first: &str) -> Option<String> {
    decimal(number)?;
    match first {
        "bit/s" => rate(number, unit),
        "B" => size(number, unit),
        "packets" => packets(number, unit),
        "s" => time(number, unit),
        _ => None,
    }
}

/// The prefix of a thousand at the beginning of `unit`, as fairq writes it, and what follows.
fn prefixed(unit: &str) -> (&'static str, &str) {
    let known = [('k', "k"), ('m', "M"), ('g', "G"), ('t', "T")];
    let letter = unit.chars().next().map(|letter| letter.to_ascii_lowercase());
    let prefix = known.into_iter().find(|(known, _)| letter == Some(*known));
    prefix.map_or(("", unit), |(_, prefix)| (prefix, &unit[1..]))
}

fn rate(number: &str, unit: &str) -> Option<String> {
    let (prefix, rest) = prefixed(unit);
    let bits = format!("\"{number} {prefix}bit/s\"");
    let bytes = || Some(format!("\"{} {prefix}bit/s\"", times_eight(number)?));
    let lower = rest.to_ascii_lowercase();
    match (rest, lower.as_str()) {
        ("Bps" | "B/s" | "B/S" | "B", _) | (_, "byte/s" | "bytes/s" | "byte" | "bytes") => {
            Some(format!("bytes a second are not known here; write {}", bytes()?))
        }
        // tc(8): "bps: bytes per second", whatever the case of the letters.
        (_, "bps") => Some(format!("write {bits}, or {} if {unit} is bytes a second, as for tc", bytes()?)),
        (_, "bit" | "bits" | "bit/s" | "bits/s" | "bit/sec" | "bits/sec" | "b/s" | "b") => {
            Some(format!("write {bits}"))
        }
        (_, "") if !prefix.is_empty() => Some(format!("write {bits}")),
        _ => None,
    }
}

fn size(number: &str, unit: &str) -> Option<String> {
    let lower = unit.to_ascii_lowercase();
    if matches!(lower.as_str(), "packet" | "packets" | "pkt" | "pkts" | "p") {
        return packets(number, unit);
    }
    if matches!(lower.as_str(), "b" | "byte" | "bytes" | "octets") {
        return Some(format!("write \"{number} B\""));
    }
    let (_, rest) = prefixed(&lower);
    let is_thousand = matches!(rest, "b" | "byte" | "bytes" | "") && rest.len() < lower.len();
    let is_binary = matches!(rest, "ib" | "ibyte" | "ibytes" | "i");
    // kB and KiB, MB and MiB, GB and GiB: each of 1000 stands three places before that of 1024.
    let is_of = |(name, _): &(&str, u128)| lower.starts_with(name[..1].to_ascii_lowercase().as_str());
    let at = BYTE_UNITS[1..4].iter().position(is_of)? + 1;
    let ((thousand, _), (binary, bytes)) = (BYTE_UNITS[at], BYTE_UNITS[at + 3]);
    match (is_thousand, is_binary) {
        (true, _) => Some(format!("write \"{number} {thousand}\", or \"{number} {binary}\" for {bytes} bytes each")),
        (_, true) => Some(format!("write \"{number} {binary}\"")),
        _ => None,
    }
}

fn packets(number: &str, unit: &str) -> Option<String> {
    let is_packets = matches!(unit.to_ascii_lowercase().as_str(), "packet" | "packets" | "pkt" | "pkts" | "p");
    is_packets.then(|| format!("write \"{number} packets\""))
}

fn time(number: &str, unit: &str) -> Option<String> {
    let meant = match unit.to_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => "ms",
        // The Greek letter; the micro sign is known.
        "μs" | "us" | "usec" | "usecs" | "microsecond" | "microseconds" => "us",
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => "ns",
        "m" | "mins" | "min" | "minute" | "minutes" => "min",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        _ => return None,
    };
    Some(format!("write \"{number} {meant}\""))
}

/// Eight times a decimal number, as text.
fn times_eight(number: &str) -> Option<String> {
    let (digits, power) = decimal(number)?;
    let mut digits = digits.checked_mul(8)?.to_string();
    if power > 0 {
        digits.push_str(&"0".repeat(usize::try_from(power).ok()?));
    }
    let places = usize::try_from(power.min(0).unsigned_abs()).ok()?;
    let whole = digits.len().saturating_sub(places);
    let (whole, fraction) = if whole > 0 {
        (digits[..whole].to_string(), digits[whole..].to_string())
    } else {
        ("0".to_string(), format!("{}{digits}", "0".repeat(places - digits.len())))
    };
    let fraction = fraction.trim_end_matches('0');
    Some(if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") })
}
