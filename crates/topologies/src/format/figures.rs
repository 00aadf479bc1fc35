//! Numbers in human notation: with thousands separators, or with a comma before the decimals.

use std::borrow::Cow;

/// The figure at the beginning of a text.
#[derive(Debug, PartialEq)]
pub(super) enum Figure {
    /// A number in plain form: digits, and a point before the decimals.
    Number(String),
    /// A number whose comma may separate thousands or decimals, like 1,000; in plain form, as if it
    /// separated thousands.
    Either(String),
    /// Digits and separators that are no single number, like 1.2.3.
    None,
}

/// The figure at the beginning of `text`, which is a digit, and its length in bytes.
///
/// A space separates thousands only where it cannot be followed by a separate number: the figure
/// `is_first`, or zeros follow.
pub(super) fn leading(text: &str, is_first: bool) -> (Figure, usize) {
    let digits = |from: usize| text[from..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |end| from + end);
    let mut end = digits(0);
    let mut whole = text[..end].to_string();
    // Each separator, and the digits after it.
    let mut parts: Vec<(char, &str)> = Vec::new();
    while let Some(mark) = text[end..].chars().next() {
        let start = end + mark.len_utf8();
        let part = &text[start..digits(start)];
        let is_mark = match mark {
            '.' | ',' => !part.is_empty(),
            '\'' | '’' | '\u{a0}' | '\u{2009}' | '\u{202f}' => whole.len() <= 3 && part.len() == 3,
            ' ' => whole.len() <= 3 && part.len() == 3 && (is_first || part.starts_with('0')),
            _ => false,
        };
        if !is_mark {
            break;
        }
        parts.push((mark, part));
        end = start + part.len();
    }
    let is_grouped = |parts: &[(char, &str)]| {
        let first = parts.first().map(|(mark, _)| *mark);
        (1..=3).contains(&whole.len()) && parts.iter().all(|(mark, part)| Some(*mark) == first && part.len() == 3)
    };
    let joined = |parts: &[(char, &str)]| parts.iter().map(|(_, part)| *part).collect::<String>();
    let figure = match parts.as_slice() {
        [] => Figure::Number(whole),
        [('.', decimals)] => Figure::Number(format!("{whole}.{decimals}")),
        // A group of thousands never starts with a zero.
        [(',', decimals)] if decimals.len() != 3 || whole.len() > 3 || whole.starts_with('0') => {
            Figure::Number(format!("{whole}.{decimals}"))
        }
        [(',', thousands)] => Figure::Either(whole + thousands),
        all if is_grouped(all) => {
            whole += &joined(all);
            Figure::Number(whole)
        }
        [before @ .., (mark @ ('.' | ','), decimals)]
            if is_grouped(before) && before.iter().all(|(other, _)| other != mark) =>
        {
            whole += &joined(before);
            Figure::Number(format!("{whole}.{decimals}"))
        }
        _ => Figure::None,
    };
    (figure, end)
}

/// A field that begins with a number, with the number in plain form: `2,5 ms` is `2.5 ms`. Any
/// other field unchanged.
///
/// # Errors
/// Why the number may be either of two.
pub(super) fn plain(field: &str) -> Result<Cow<'_, str>, String> {
    let sign = field.len() - field.trim_start_matches(['+', '-']).len();
    let (before, text) = field.split_at(sign);
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return Ok(Cow::Borrowed(field));
    }
    match leading(text, true) {
        (Figure::Number(number), length) => Ok(Cow::Owned(format!("{before}{number}{}", &text[length..]))),
        (Figure::Either(number), _) => {
            let decimal = text.replacen(',', ".", 1);
            let decimal = decimal.split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap_or_default();
            Err(format!("`{}` may be {number} or {decimal}; write it without a comma", &text[..number.len() + 1]))
        }
        (Figure::None, _) => Ok(Cow::Borrowed(field)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_part_thousands_or_decimals() {
        for (text, number) in [
            ("10", "10"),
            ("2.5 ms", "2.5"),
            ("2,5 ms", "2.5"),
            ("1.000 ms", "1.000"),
            ("0,125", "0.125"),
            ("1234,567", "1234.567"),
            ("1,000,000", "1000000"),
            ("1.000.000", "1000000"),
            ("1,000.5", "1000.5"),
            ("1.000,5", "1000.5"),
            ("1'000'000.25", "1000000.25"),
            ("1\u{a0}000,5", "1000.5"),
            ("1\u{202f}000", "1000"),
            ("10 000 Mbit/s", "10000"),
            ("2 500 Mbit/s", "2500"),
            ("12 34", "12"),
            ("2010 155 Mbit/s", "2010"),
            ("2010, 34", "2010"),
            ("1e9", "1"),
            ("5.", "5"),
        ] {
            assert_eq!(leading(text, true).0, Figure::Number(number.to_string()), "{text}");
        }
        assert_eq!(leading("2 155 Mbit/s", false), (Figure::Number("2".to_string()), 1));
        assert_eq!(leading("2 048 Mbit/s", false), (Figure::Number("2048".to_string()), 5));
        assert_eq!(leading("1,544 Mbit/s", true), (Figure::Either("1544".to_string()), 5));
        for text in ["1.2.3", "1,2,10", "1,000,00", "1.000,000,5", "1,0001,000"] {
            assert_eq!(leading(text, true), (Figure::None, text.len()), "{text}");
        }
    }

    #[test]
    fn a_field_is_plain_or_told_to_be_either() {
        for (field, said) in [
            ("-2,5 ms", "-2.5 ms"),
            ("1 000 Mbit/s", "1000 Mbit/s"),
            ("1.5e9", "1.5e9"),
            ("fast", "fast"),
            ("", ""),
            ("1.2.3 ms", "1.2.3 ms"),
        ] {
            assert_eq!(plain(field).as_deref(), Ok(said));
        }
        let either = Err("`1,000` may be 1000 or 1.000; write it without a comma".to_string());
        assert_eq!(plain("1,000 Mbit/s").map(Cow::into_owned), either);
        assert_eq!(plain("-1,000").map(Cow::into_owned), either);
    }
}
