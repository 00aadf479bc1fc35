//! The rate that a label of a link says: "10 Gbps", "OC-192c", "2 x 155 Mbit/s", "GigE".

use super::rate_of;
use fairq_sched::units::Rate;

/// Carriers of the telephone network and of local networks: name, bits per second for one or for each unit of the number
/// behind it.
const CARRIERS: &[(&str, f64, bool)] = &[
    ("oc", 51_840_000.0, true),
    ("sts", 51_840_000.0, true),
    ("stm", 155_520_000.0, true),
    ("t1", 1_544_000.0, false),
    ("ds1", 1_544_000.0, false),
    ("t3", 44_736_000.0, false),
    ("ds3", 44_736_000.0, false),
    ("e1", 2_048_000.0, false),
    ("e3", 34_368_000.0, false),
    ("fe", 100_000_000.0, false),
    ("fastethernet", 100_000_000.0, false),
    ("ge", 1_000_000_000.0, false),
    ("gbe", 1_000_000_000.0, false),
    ("gige", 1_000_000_000.0, false),
    ("gigabit", 1_000_000_000.0, false),
    ("ethernet", 10_000_000.0, false),
];

/// What may follow k, M, G or T behind a number; labels write B for bits too.
const UNITS: &[&str] = &["", "b", "bps", "b/s", "bit", "bits", "bit/s", "bits/s", "ig", "be", "ige", "e"];

/// The rate that `field`, which should be one, says as labels do: "OC-48", "10 Gbps". Nothing where a label's free text would
/// lose a sign, a decimal comma, bytes, or words before it.
pub(super) fn of_field(field: &str) -> Option<Rate> {
    let is_strange = field.starts_with('-') || [",", "B/s", "Bps"].iter().any(|part| field.contains(part));
    let is_rate_first = field.starts_with(|first: char| first.is_ascii_digit()) || !field.trim().contains(' ');
    of_label(field).filter(|_| is_rate_first && !is_strange)
}

/// The rate that `label` says, if it says one: the first that stands in it.
pub(super) fn of_label(label: &str) -> Option<Rate> {
    let lower = label.to_lowercase();
    let words = words(&lower);
    let mut times = 1.0;
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        if let Some(number) = super::number(word) {
            if next == "x" || next == "*" || next == "×" {
                times = number;
                continue;
            }
            if let Some(size) = unit(next) {
                return rate_of(number * size * times);
            }
            continue;
        }
        let named = CARRIERS.iter().find(|(name, ..)| name == word);
        match named {
            Some((_, each, true)) => {
                if let Some(number) = super::number(next) {
                    return rate_of(number * each * times);
                }
            }
            // T1 is a word and a number.
            Some((_, bits, false)) => return rate_of(bits * times),
            None => {
                let whole = format!("{word}{next}");
                if let Some((_, bits, _)) = CARRIERS.iter().find(|(name, _, many)| !many && *name == whole) {
                    return rate_of(bits * times);
                }
            }
        }
    }
    None
}

/// How many bits per second `unit` is, with its k, M, G or T.
pub(super) fn unit(unit: &str) -> Option<f64> {
    let size = |letter: char| match letter {
        'k' => Some(1e3),
        'm' => Some(1e6),
        'g' => Some(1e9),
        't' => Some(1e12),
        _ => None,
    };
    let unit = unit.to_lowercase();
    match unit.as_str() {
        "bps" | "bit/s" | "b/s" | "bits/s" => return Some(1.0),
        _ => {}
    }
    let mut letters = unit.chars();
    let size = size(letters.next()?)?;
    UNITS.contains(&letters.as_str()).then_some(size)
}

/// Numbers, and runs of letters; all else parts them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_part: fn(char) -> bool = match first {
            '0'..='9' => |c| c.is_ascii_digit() || c == '.',
            _ if first.is_alphabetic() => |c| c.is_alphabetic() || c == '/',
            '*' | '×' => |c| c == '*' || c == '×',
            _ => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_say_rates() {
        for (label, rate) in [
            ("10 Gbps", 10_000_000_000),
            ("2.5 Gbps", 2_500_000_000),
            ("155 Mbps", 155_000_000),
            ("OC-192c", 9_953_280_000),
            ("OC192", 9_953_280_000),
            ("OC 3", 155_520_000),
            ("STM-16", 2_488_320_000),
            ("T1", 1_544_000),
            ("E3 leased", 34_368_000),
            ("10G", 10_000_000_000),
            ("10 GbE", 10_000_000_000),
            ("GigE", 1_000_000_000),
            ("Gigabit Ethernet", 1_000_000_000),
            ("56kbps", 56_000),
            ("56 kbit/s", 56_000),
            ("< 2.5 Gbit/s", 2_500_000_000),
            ("1-10 Gbps", 10_000_000_000),
            ("2 x 155 Mbit/s", 310_000_000),
            ("Fibre, 2010, 34 Mb/s", 34_000_000),
            ("9600 bit/s", 9600),
        ] {
            assert_eq!(of_label(label).map(Rate::bit_per_s), Some(rate), "{label}");
        }
        for label in [
            "",
            "Lit Fibre",
            "Leased Wavelength/Managed Service",
            "2010",
            "OC",
            "0 Gbps",
            "1e9",
            "x x x",
            "99999999 Tbps",
        ] {
            assert_eq!(of_label(label), None, "{label}");
        }
    }
}
