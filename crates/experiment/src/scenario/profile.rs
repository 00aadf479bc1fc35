//! Profiles of connections: the behaviour of a system's hosts, under one name in place of many
//! settings. A setting that is written in the scenario wins.
//!
//! A profile is rows of settings, of the connection and of congestion controls.

use crate::layout::{paragraph, row};
use fairq_sim::transport::tcp::settings::Profile;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Adds to `table`, the settings of `part`, those settings of the profile that the table does
/// not have.
pub(super) fn complete(profile: Profile, part: &str, table: &mut Map<String, Value>) {
    for row in rows(profile).iter().filter(|row| row.part == part) {
        insert(table, row.setting, row.value);
    }
}

/// The settings that the profile has for `part`: `connection`, or a congestion control.
#[must_use]
pub fn settings(profile: Profile, part: &str) -> Map<String, Value> {
    let mut table = Map::new();
    complete(profile, part, &mut table);
    table
}

/// A setting of a profile.
struct Row {
    /// `connection`, or a congestion control.
    part: &'static str,
    /// The path of the setting in its part.
    setting: &'static str,
    /// As JSON.
    value: &'static str,
    /// Where the value is from.
    source: &'static str,
}

fn rows(profile: Profile) -> &'static [Row] {
    static ROWS: LazyLock<[Vec<Row>; 4]> = LazyLock::new(|| TEXTS.map(read));
    &ROWS[profile as usize]
}

/// The profiles, in the order of [`Profile`]: the tables of the parts with their settings, each
/// with its source as a comment.
const TEXTS: [&str; 4] = [
    include_str!("profile/linux.toml"),
    include_str!("profile/rfc.toml"),
    include_str!("profile/ns2.toml"),
    include_str!("profile/ns3.toml"),
];

fn read(text: &'static str) -> Vec<Row> {
    let mut part = "";
    let row = |line: &'static str| {
        if let Some(name) = line.strip_prefix('[') {
            part = name.trim_end_matches(']');
        }
        let (setting, rest) = line.split_once(" = ")?;
        let (value, source) = rest.split_once("  # ")?;
        Some(Row { part, setting, value, source })
    };
    text.lines().filter_map(row).collect()
}

/// Adds the setting of this path to `table`, unless it is there.
fn insert(table: &mut Map<String, Value>, path: &str, value: &str) {
    match path.split_once('.') {
        None => {
            table.entry(path).or_insert_with(|| value.parse().unwrap_or_default());
        }
        Some((inner, rest)) => {
            if let Value::Object(inner) = table.entry(inner).or_insert_with(|| Value::Object(Map::new())) {
                insert(inner, rest, value);
            }
        }
    }
}

/// The text that explains a profile, in lines of at most `width` columns where words allow it.
#[must_use]
pub fn explain(profile: Profile, width: usize) -> String {
    let name = profile.name();
    let mut text = format!("{name} (profile of a connection)\n\n");
    let use_of = format!(
        "Write connection = \"{name}\" in a flow or in defaults; what is written beside it wins, as in connection = {{ profile = \
         \"{name}\", initial_window = 4 }}."
    );
    paragraph(&mut text, "", &use_of, width);
    text.push('\n');
    let given = |row: &Row| format!("{}.{} = {}", row.part, row.setting, row.value);
    let longest = rows(profile).iter().map(|row| given(row).len()).max().unwrap_or_default();
    for one in rows(profile) {
        row(&mut text, &given(one), one.source, (longest + 4).min(width / 2), width);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sim::transport::registry::TransportSettings;
    use fairq_sim::transport::tcp::settings::Connection;

    #[test]
    fn every_row_is_a_setting_of_its_part() {
        for profile in Profile::ALL {
            let mut parts: std::collections::BTreeMap<&str, Map<String, Value>> = std::collections::BTreeMap::new();
            let settings = |line: &&str| !line.is_empty() && !line.starts_with('[');
            assert_eq!(rows(profile).len(), TEXTS[profile as usize].lines().filter(settings).count());
            for Row { part, setting, value, source } in rows(profile) {
                assert!(!source.is_empty());
                assert!(value.parse::<Value>().is_ok(), "{setting} = {value}");
                insert(parts.entry(part).or_default(), setting, value);
            }
            for (part, mut table) in parts {
                if part == "connection" {
                    let connection: Connection = serde_json::from_value(table.into()).unwrap();
                    assert_eq!(connection.fault(), None, "{}", profile.name());
                } else {
                    table.insert("kind".into(), part.into());
                    serde_json::from_value::<TransportSettings>(table.into()).unwrap();
                }
            }
        }
    }
}
