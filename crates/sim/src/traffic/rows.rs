//! The rows of a table in text: fields separated by commas, semicolons or tabs (RFC 4180, and what
//! spreadsheets write).
//!
//! Text in quotes may hold separators and doubled quotes, but no line breaks. Empty lines and lines
//! that begin with # are left out.

/// Separators, those first that are rarest in texts and numbers.
const SEPARATORS: [char; 3] = ['\t', ';', ','];

/// The lines that are neither empty nor comments, with their numbers.
pub fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_row = |(_, line): &(usize, &str)| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    // A tab at the end is an empty field.
    text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_matches(' '))).filter(is_row)
}

/// The separator that a line like `sep=;` names.
#[must_use]
pub fn said_separator(row: &str) -> Option<char> {
    let mut said = row.strip_prefix("sep=").or_else(|| row.strip_prefix("SEP="))?.chars();
    said.next().filter(|separator| said.next().is_none() && SEPARATORS.contains(separator))
}

/// The separator with which `row` is a heading.
pub fn headed(row: &str, is_heading: fn(&[String]) -> bool) -> Option<char> {
    SEPARATORS.into_iter().find(|separator| fields(row, *separator).is_ok_and(|fields| is_heading(&fields)))
}

/// The separator that gives every row the same number of fields, two or more, and another that does
/// so too.
///
/// Rows may leave out their last fields. If there is no such separator, it is one that gives every
/// row two fields, or the first row, so that a message can name the wrong row.
#[must_use]
pub fn most_even(rows: &[(usize, &str)]) -> (char, Option<char>) {
    let counts =
        |separator: char| rows.iter().map(move |(_, row)| fields(row, separator).map_or(0, |fields| fields.len()));
    let least = |separator: char| counts(separator).min().unwrap_or(0);
    let is_even = |separator: &char| least(*separator) >= 2 && counts(*separator).max() == Some(least(*separator));
    let even: Vec<char> = SEPARATORS.into_iter().filter(is_even).collect();
    if let [first, others @ ..] = even.as_slice() {
        return (*first, others.first().copied());
    }
    let all = SEPARATORS.into_iter().find(|separator| least(*separator) >= 2);
    let first = || SEPARATORS.into_iter().find(|separator| counts(*separator).next() >= Some(2));
    (all.or_else(first).unwrap_or(','), None)
}

/// The texts of a row.
///
/// # Errors
/// A quote that is not closed, or text behind one.
pub fn fields(row: &str, separator: char) -> Result<Vec<String>, &'static str> {
    let mut fields = Vec::new();
    let mut rest = row;
    loop {
        rest = rest.trim_start_matches(' ');
        let Some(quoted) = rest.strip_prefix('"') else {
            let (field, after) = rest.split_once(separator).map_or((rest, None), |(field, rest)| (field, Some(rest)));
            fields.push(field.trim().to_string());
            match after {
                Some(after) => rest = after,
                None => return Ok(fields),
            }
            continue;
        };
        let mut field = String::new();
        let mut inside = quoted;
        loop {
            let (text, after) = inside.split_once('"').ok_or("a text is not closed by a quote")?;
            field.push_str(text);
            match after.strip_prefix('"') {
                Some(after) => {
                    field.push('"');
                    inside = after;
                }
                None => {
                    inside = after.trim_start_matches(' ');
                    break;
                }
            }
        }
        fields.push(field);
        match inside.strip_prefix(separator) {
            Some(after) => rest = after,
            None if inside.is_empty() => return Ok(fields),
            None => return Err("behind the quote of a text comes the next field"),
        }
    }
}
