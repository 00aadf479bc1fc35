//! Where each default is from: a table that is written by hand, held against the defaults
//! themselves, and its page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The table, beside its page.
const TABLE: &str = include_str!("../../../docs/reference/constants.csv");

/// What a cell of `read` begins with where nothing is quoted.
const NO_QUOTES: [&str; 2] = ["not found: ", "chosen: "];

/// Words of a quote at most.
#[cfg(test)]
const WORDS_MAX: usize = 12;

/// A row: part, setting, value, source, place, read.
struct Row {
    part: String,
    setting: String,
    value: String,
    source: String,
    place: String,
    read: String,
}

fn rows() -> Vec<Row> {
    let mut table = csv::Reader::from_reader(TABLE.as_bytes());
    let row = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.expect("docs/reference/constants.csv has six fields in every line");
        let field = |at: usize| record.get(at).unwrap_or_default().to_owned();
        Row { part: field(0), setting: field(1), value: field(2), source: field(3), place: field(4), read: field(5) }
    };
    table.records().map(row).collect()
}

/// The page of the table, by part.
pub(crate) fn page() -> String {
    let rows = rows();
    let kind = |row: &Row| NO_QUOTES.iter().position(|start| row.read.starts_with(start)).map_or(0, |at| at + 1);
    let count = |which: usize| rows.iter().filter(|row| kind(row) == which).count();
    let mut page = format!(
        "# Where the defaults are from\n\nGenerated from constants.csv, which is written by hand. A test holds it against every \
         default of every discipline, transport, receiver and connection. Of {} defaults {} were read in the source that \
         is named, of {} the source was not at hand, and {} were chosen here because no source gives one. What was read is \
         quoted.\n",
        rows.len(),
        count(0),
        count(1),
        count(2),
    );
    let mut parts: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| parts.entry(&row.part).or_default().push(row));
    for (part, rows) in parts {
        let _ = write!(
            page,
            "\n## {part}\n\n| setting | default | source | place | what was read |\n|---|---|---|---|---|\n"
        );
        for row in rows {
            let read = if kind(row) == 0 { format!("\u{201c}{}\u{201d}", row.read) } else { row.read.clone() };
            let cells = [&row.value, &row.source, &row.place, &read].map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(page, "| `{}` | {} |", row.setting, cells.join(" | "));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_default_stands_in_the_table_with_its_value_and_nothing_else_does() {
        let mut missing = Vec::new();
        let mut told: BTreeMap<(String, String), String> = BTreeMap::new();
        for row in rows() {
            let key = (row.part, row.setting);
            assert!(!told.contains_key(&key), "{key:?} stands in the table twice");
            told.insert(key, row.value);
        }
        for (part, settings) in fairq_experiment::reference::defaults() {
            for setting in settings.into_iter().filter(fairq_experiment::reference::Setting::has_value) {
                match told.remove(&(part.clone(), setting.name.clone())) {
                    Some(value) if value == setting.default => {}
                    Some(value) => {
                        missing.push(format!("{part}, {}: {} here, {value} in it", setting.name, setting.default))
                    }
                    None => missing.push(format!("{part}, {}: {} is not in it", setting.name, setting.default)),
                }
            }
        }
        missing.extend(told.into_keys().map(|(part, setting)| format!("{part}, {setting}: there is no such default")));
        assert!(missing.is_empty(), "docs/reference/constants.csv:\n{}", missing.join("\n"));
    }

    #[test]
    fn every_row_names_a_source_and_quotes_few_words_or_says_why_none() {
        let keys: Vec<_> = rows().into_iter().map(|row| (row.part, row.setting)).collect();
        assert!(keys.is_sorted(), "the lines are sorted by part and setting");
        let known: BTreeSet<&str> = ["fairq"].into();
        for row in rows() {
            let at = format!("{}, {}", row.part, row.setting);
            assert!(!row.source.is_empty() && !row.place.is_empty() && !row.read.is_empty(), "{at}: an empty field");
            assert_eq!(
                known.contains(&*row.source),
                row.read.starts_with("chosen: "),
                "{at}: chosen is what no source has"
            );
            let said = NO_QUOTES.iter().find_map(|start| row.read.strip_prefix(start));
            assert!(said.is_none_or(|said| said.len() > 3), "{at}: says nothing");
            let words = said.map_or(row.read.split_whitespace().count(), |_| 0);
            assert!(words <= WORDS_MAX, "{at}: {words} words");
        }
    }
}
