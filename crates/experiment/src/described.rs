//! What follows from the table of columns: the JSON Schema of results, the reference page, and the
//! types of rows in Python.

use crate::columns::{
    Averaged, Column, ENDS, Kind, OF_HELD_RUNS, RESULT_SCHEMA_VERSION, SEED, SHARES, TABLES, TableOf,
};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Tables that a document of a run always has.
fn of_documents() -> impl Iterator<Item = &'static TableOf> {
    TABLES.into_iter().filter(|table| !OF_HELD_RUNS.into_iter().chain(["theory", "shares"]).any(|it| it == table.name))
}

/// The JSON Schema of what `fairq run --json` prints and `result.json` holds.
#[must_use]
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for table in TABLES.into_iter().filter(|table| !OF_HELD_RUNS.contains(&table.name)) {
        let name = |of: &str| format!("{}{of}", table.class);
        if table.is_averaged() {
            definitions.insert(name("Mean"), row(table, true));
        }
        definitions.insert(name("Row"), row(table, false));
    }
    let rows = |name: String| json!({ "type": "array", "items": { "$ref": format!("#/$defs/{name}") } });
    let summary = |table: &TableOf| {
        let of = if table.is_averaged() { "Mean" } else { "Row" };
        let mut rows = rows(format!("{}{of}", table.class));
        rows["description"] = format!("A row is {}.", table.row).into();
        rows
    };
    let mut point: Map<String, Value> = Map::new();
    let mut seed: Map<String, Value> = Map::new();
    for table in of_documents().filter(|table| table.is_averaged()) {
        point.insert(table.name.into(), rows(format!("{}Mean", table.class)));
        seed.insert(table.name.into(), rows(format!("{}Row", table.class)));
    }
    seed.insert("seed".into(), json!({ "type": "integer", "minimum": 0 }));
    point.insert("axes".into(), json!({ "type": "object", "description": "The value of each axis." }));
    point.insert("seeds".into(), json!({ "type": "array", "minItems": 1, "items": object(seed, &[]) }));
    let note: Map<String, Value> =
        ["code", "where", "text"].into_iter().map(|name| (name.into(), json!({ "type": "string" }))).collect();
    let mut members = Map::new();
    members.insert("schema_version".into(), json!({ "const": RESULT_SCHEMA_VERSION }));
    members.insert(
        "scenario".into(),
        json!({ "type": "object", "description": "The scenario with all its fields; scenario.schema.json." }),
    );
    members.insert("points".into(), json!({ "type": "array", "items": object(point, &[]) }));
    members.insert("notes".into(), json!({ "type": "array", "items": object(note, &[]) }));
    members.insert("run_info".into(), json!({ "type": "object", "description": "What differs between machines." }));
    for table in
        TABLES.into_iter().filter(|table| !OF_HELD_RUNS.into_iter().chain(["shares"]).any(|it| it == table.name))
    {
        members.insert(table.name.into(), summary(table));
    }
    let emulation = "Of `fairq emulate`: how the run was made, and how well the machine kept its times.";
    members.insert("emulation".into(), json!({ "type": "object", "description": emulation }));
    let mut schema = object(members, &["theory", "emulation"]);
    schema["$schema"] = DIALECT.into();
    schema["title"] = "Result of fairq run".into();
    schema["$defs"] = definitions.into();
    schema
}

/// The JSON Schema of what `fairq theory max-min --json` prints.
#[must_use]
pub fn shares() -> Value {
    json!({ "$schema": DIALECT, "title": "Shares", "type": "array", "items": row(&SHARES, false) })
}

/// The JSON Schema that the schemas here are written in.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// An object that has all of these members but the `optional` ones, and no others.
fn object(members: Map<String, Value>, optional: &[&str]) -> Value {
    let required: Vec<&String> = members.keys().filter(|name| !optional.contains(&name.as_str())).collect();
    json!({ "type": "object", "required": required, "properties": members, "additionalProperties": false })
}

/// A row of a table: of one run, or of means over several.
fn row(table: &TableOf, is_mean: bool) -> Value {
    let mut members = Map::new();
    let mut required = Vec::new();
    for column in table.columns {
        required.push(column.name);
        members.insert(column.name.into(), cell(column, is_mean));
        if is_mean && column.averaged == Averaged::Mean {
            for end in ENDS {
                let mut bound = json!({ "type": ["number", "null"] });
                bound["description"] = format!("End of the 95 % confidence interval of {}.", column.name).into();
                members.insert(format!("{}{end}", column.name), bound);
            }
        }
    }
    // The values of axes, and the seed where the rows of all seeds stand together.
    let other = json!({ "type": ["string", "number", "boolean"] });
    json!({ "type": "object", "required": required, "properties": members, "additionalProperties": other })
}

fn cell(column: &Column, is_mean: bool) -> Value {
    let kind = match column.kind {
        Kind::Text => "string",
        Kind::Whole if !(is_mean && column.averaged == Averaged::Mean) => "integer",
        Kind::Whole | Kind::Real => "number",
    };
    let kind = if column.missing.is_some() { json!([kind, "null"]) } else { json!(kind) };
    json!({ "type": kind, "description": said(column) })
}

/// Meaning, unit and when there is no value.
fn said(column: &Column) -> String {
    let mut said = column.doc.to_owned();
    if let Some(missing) = column.missing {
        write!(said, " None if {missing}.").expect("text");
    }
    said
}

/// The reference page of results.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# What is in a result?\n\
         \n\
         `fairq run --json` prints one document, `--out DIR` writes it as `result.json` and each table as\n\
         CSV and Parquet; in Python `result.flows` and the others are tables of typed rows. A table has the\n\
         same columns whatever its values are. The values of axes are columns before the others.\n\
         \n\
         With several seeds a number that is *averaged* is the mean over them, and `<column>_low` and\n\
         `<column>_high` are the ends of its 95 % confidence interval: Student's t, on the logarithm of\n\
         numbers that are never negative and on the logit of those in 0 to 1, so that no end is\n\
         impossible. A throughput in proportion to its share has the interval of that share. Of one value,\n\
         as of a delay where one seed alone has a packet, there is no interval. The rows of each seed are in\n\
         `points[].seeds[]`, and in Python in `result.by_seed(\"flows\")`. The JSON Schema is\n\
         [`schema/result.schema.json`](../../schema/result.schema.json); `fairq schema result` prints it.\n",
    );
    for table in TABLES {
        write!(page, "\n## {}\n\nA row is {}.\n\n", table.name, table.row).expect("text");
        page.push_str("| column | unit | kind | averaged | meaning |\n|---|---|---|---|---|\n");
        for column in table.columns {
            let kind = match column.kind {
                Kind::Text => "text",
                Kind::Whole => "whole number",
                Kind::Real => "number",
            };
            let averaged = if column.averaged == Averaged::Mean { "yes" } else { "" };
            let (name, unit) = (column.name, column.unit);
            writeln!(page, "| `{name}` | {unit} | {kind} | {averaged} | {} |", said(column)).expect("text");
        }
    }
    page
}

/// Words that Python keeps for itself; a column of such a name has an underscore at its end.
const KEYWORDS: [&str; 2] = ["from", "class"];

/// `python/fairq/core/_types.py`: the types of rows.
#[must_use]
pub fn python() -> String {
    let mut text = String::from(
        "\"\"\"Types of rows, from the table of columns (crates/experiment/src/columns.rs).\n\
         \n\
         Generated: cargo xtask generate.\n\
         \n\
         A column that a mean has beside it, `<column>_low` and `<column>_high`, is there with several\n\
         seeds only; so are the columns of axes, by their names.\n\
         \"\"\"\n\n\
         from __future__ import annotations\n\n\
         from fairq.core.results import Row\n",
    );
    for table in TABLES {
        write!(
            text,
            "\n\nclass {}(Row):\n    \"\"\"A row of `{}`.\n\n    What has a row: {}.\n    \"\"\"\n\n",
            table.class, table.name, table.row
        )
        .expect("text");
        text.push_str("    __slots__ = ()\n");
        for column in table.columns {
            let kind = match column.kind {
                Kind::Text => "str",
                // Of several seeds the mean.
                Kind::Whole if column.averaged != Averaged::Mean => "int",
                Kind::Whole | Kind::Real => "float",
            };
            let none = if column.missing.is_some() { " | None" } else { "" };
            let keyword = if KEYWORDS.contains(&column.name) { "_" } else { "" };
            write!(text, "\n    {}{keyword}: {kind}{none}\n", column.name).expect("text");
            text.push_str(&docstring(&said(column)));
            if column.averaged == Averaged::Mean {
                for end in ENDS {
                    writeln!(text, "    {}{end}: float | None", column.name).expect("text");
                }
            }
        }
    }
    let seed =
        format!("\n\nSEED = \"{}\"\n\"\"\"The column of the seed, where rows are of one run.\"\"\"\n", SEED.name);
    text + &seed
}

/// A docstring of a member, wrapped at the width of Python's files.
fn docstring(text: &str) -> String {
    const WIDTH: usize = 100;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        // Quotation marks at both ends stand on lines of their own width at worst.
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > WIDTH - 12 {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    if lines.len() == 1 {
        return format!("    \"\"\"{}\"\"\"\n", lines[0]);
    }
    format!("    \"\"\"{}\n    \"\"\"\n", lines.join("\n    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_on_the_page_in_the_schema_and_in_python() {
        let (page, schema, python) = (page(), schema(), python());
        for table in TABLES {
            let class = python.split(&format!("class {}(Row)", table.class)).nth(1).expect("a class");
            let members = &schema["$defs"][format!("{}Row", table.class)]["properties"];
            for column in table.columns {
                assert!(page.contains(&format!("| `{}` |", column.name)), "{}", column.name);
                // No document has the course of a run or what waits in it.
                assert!(OF_HELD_RUNS.contains(&table.name) || members.get(column.name).is_some(), "{}", column.name);
                let name = format!("\n    {}", column.name);
                assert!(class.contains(&format!("{name}: ")) || class.contains(&format!("{name}_: ")), "{name}");
            }
        }
    }
}
