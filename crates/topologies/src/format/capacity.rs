//! The rate in a label of a link: "10 Gbps", "OC-192c", "2 x 155 Mbit/s", "GigE".

use super::figures::{self, Figure};
use super::rate_of;
use fairq_sched::units::Rate;

/// Carriers of the telephone network and of local networks: name, bits per second for one or for
/// each unit of the number after it, and whether a number counts them.
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

/// What may follow k, M, G or T after a number; labels write B for bits too.
const UNITS: &[&str] = &[
    "", "b", "bps", "b/s", "b/sec", "bit", "bits", "bit/s", "bits/s", "bit/sec", "bits/sec", "ig", "be", "ige", "e",
    "base",
];

/// The rate in `field`, which should be one, by the rules of labels: "OC-48", "10 Gbps". `None`
/// where those rules would lose a sign, a decimal comma, bytes, or words before it.
pub(super) fn of_field(field: &str) -> Option<Rate> {
    let is_strange = field.starts_with('-') || [",", "B/s", "Bps"].iter().any(|part| field.contains(part));
    let is_rate_first = field.starts_with(|first: char| first.is_ascii_digit()) || !field.trim().contains(' ');
    of_labels(&[field]).map(|(rate, _)| rate).filter(|_| is_rate_first && !is_strange)
}

/// The rate in the labels of a link, and the label that has it: the first number with a unit in any
/// of them, or else the first carrier.
pub(super) fn of_labels<'l>(labels: &[&'l str]) -> Option<(Rate, &'l str)> {
    let by = |of: fn(&[Word<'_>]) -> Option<Rate>| {
        labels.iter().find_map(|label| Some((of(&words(&label.to_lowercase()))?, *label)))
    };
    by(of_number).or_else(|| by(of_carrier))
}

/// The first number with a unit: "10 gigabit ethernet" is not one of the carriers that it names.
fn of_number(words: &[Word<'_>]) -> Option<Rate> {
    let mut times = 1.0;
    for (at, word) in words.iter().enumerate() {
        let Some(number) = word.number else { continue };
        let next = words.get(at + 1).map_or("", |next| next.text);
        let before = at.checked_sub(1).map_or("", |before| words[before].text);
        if is_times(next) {
            times = number;
            continue;
        }
        // The 3 of OC-3 and of E3 is not a factor of what follows it.
        if CARRIERS.iter().any(|(name, _, many)| *many && *name == before) || plain_carrier(before, word.text).is_some()
        {
            continue;
        }
        // 100BASE-TX; any other number before "base" is not a rate.
        let base = (next == "base" && [10.0, 100.0, 1000.0].contains(&number)).then_some(1e6);
        if let Some(size) = unit(next).or(base) {
            return rate_of(number * size * times);
        }
    }
    None
}

/// The first carrier.
fn of_carrier(words: &[Word<'_>]) -> Option<Rate> {
    let mut times = 1.0;
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1);
        let text = next.map_or("", |next| next.text);
        if let Some(number) = word.number {
            times = if is_times(text) { number } else { times };
            continue;
        }
        let counted = CARRIERS.iter().find(|(name, _, many)| *many && *name == word.text);
        if let Some((each, number)) = counted.map(|(_, each, _)| each).zip(next.and_then(|next| next.number)) {
            return rate_of(number * each * times);
        }
        // T1 is a word and a number, FastEthernet may be two words.
        if let Some(bits) = plain_carrier(word.text, "").or_else(|| plain_carrier(word.text, text)) {
            return rate_of(bits * times);
        }
    }
    None
}

/// The carrier named by two words, if it is one without a number.
fn plain_carrier(first: &str, second: &str) -> Option<f64> {
    let is_it = |name: &str| name.strip_prefix(first) == Some(second);
    CARRIERS.iter().find(|(name, _, many)| !many && is_it(name)).map(|(_, bits, _)| *bits)
}

fn is_times(word: &str) -> bool {
    matches!(word, "x" | "*" | "×")
}

/// Bits per second of `unit`, with its k, M, G or T.
pub(super) fn unit(unit: &str) -> Option<f64> {
    let unit = unit.to_lowercase();
    if matches!(unit.as_str(), "bps" | "bit/s" | "b/s" | "bits/s" | "bit/sec" | "bits/sec") {
        return Some(1.0);
    }
    let sizes = [("kilo", 1e3), ("mega", 1e6), ("giga", 1e9), ("tera", 1e12)];
    if let Some((rest, size)) = sizes.iter().find_map(|(name, size)| Some((unit.strip_prefix(name)?, *size))) {
        return matches!(rest, "bit" | "bits" | "bit/s" | "bits/s" | "bit/sec" | "bits/sec").then_some(size);
    }
    let mut letters = unit.chars();
    let first = letters.next()?;
    let (_, size) = sizes.iter().find(|(name, _)| name.starts_with(first))?;
    UNITS.contains(&letters.as_str()).then_some(*size)
}

/// A number, or a run of letters.
struct Word<'a> {
    text: &'a str,
    number: Option<f64>,
}

/// The words of a text in lower case; all other characters separate them.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (number, end) = if first.is_ascii_digit() {
            let (figure, end) = figures::leading(rest, words.is_empty());
            let number = match figure {
                // In a label a comma before three digits separates thousands, as in English.
                Figure::Number(number) | Figure::Either(number) => number.parse().ok(),
                Figure::None => None,
            };
            (number, end)
        } else {
            let is_part: fn(char) -> bool = match first {
                _ if first.is_alphabetic() => |c| c.is_alphabetic() || c == '/',
                '*' | '×' => |c| c == '*' || c == '×',
                _ => {
                    rest = &rest[first.len_utf8()..];
                    continue;
                }
            };
            (None, rest.find(|c| !is_part(c)).unwrap_or(rest.len()))
        };
        words.push(Word { text: &rest[..end], number });
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
            // A number with a unit wins over the word of a carrier.
            ("10 Gigabit Ethernet", 10_000_000_000),
            ("Ethernet 100G", 100_000_000_000),
            ("100 Gigabit", 100_000_000_000),
            ("Fast Ethernet 1 Gbit/s", 1_000_000_000),
            ("Gigabit Ethernet (10 Mbit/s used)", 10_000_000),
            ("2 x 10 Gigabit Ethernet", 20_000_000_000),
            ("OC-48 (2.5 Gbps)", 2_500_000_000),
            ("40 gigabits per second", 40_000_000_000),
            ("5 Megabit/s", 5_000_000),
            ("10GBASE-LR", 10_000_000_000),
            ("100BASE-TX Ethernet", 100_000_000),
            ("Fast Ethernet", 100_000_000),
            ("OC-3 GigE", 155_520_000),
            ("E3 and Gigabit", 34_368_000),
            // A number is not cut at its thousands separator.
            ("1,000 Mbit/s", 1_000_000_000),
            ("Ethernet, 10,000 Mbps", 10_000_000_000),
            ("1 000 Mbit/s", 1_000_000_000),
            ("2 500 Mbit/s", 2_500_000_000),
            ("Link 2 155 Mbit/s", 155_000_000),
            ("1'000 Mbit/s", 1_000_000_000),
            ("1\u{a0}000 Mbit/s", 1_000_000_000),
            ("1.000,5 Mbit/s", 1_000_500_000),
            ("2,5 Gbit/s", 2_500_000_000),
        ] {
            assert_eq!(of_labels(&[label]).map(|(found, _)| found.bit_per_s()), Some(rate), "{label}");
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
            "version 1.2.3 Mbit/s",
            "data base 100",
            "64 base",
            "10 megaphones",
            "99999999 Tbps",
        ] {
            assert_eq!(of_labels(&[label]), None, "{label}");
        }
    }
}
