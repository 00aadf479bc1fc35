//! Every field of a scenario, read from its schema: the reference page, and its test.
//!
//! The tables of a scenario are followed from field to field. Where the `kind` of a table is an entry of a
//! registry, the field names the page of that registry, which has the settings of each kind.

use serde_json::Value;
use std::fmt::Write as _;

/// A field of a table, as the page has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the table.
    pub name: String,
    /// The values that it takes, in Markdown.
    pub kind: String,
    /// The units of a quantity or of a number; empty for what is neither.
    pub unit: String,
    /// Its value where a scenario does not write it, in Markdown.
    pub default: String,
    /// A value as TOML writes it; empty for a table that has a section of its own.
    pub example: String,
    /// What it means.
    pub meaning: String,
}

/// A table of a scenario, or a kind of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// `[measure]`, `[[links]]`, or the name of the field that holds it.
    pub title: String,
    /// What it is.
    pub about: String,
    /// The fields that hold it, if it is not a table of the scenario itself.
    pub places: Vec<String>,
    /// Its fields; none are those of `kinds`.
    pub fields: Vec<Field>,
    /// Name, meaning and fields of each kind.
    pub kinds: Vec<(String, String, Vec<Field>)>,
}

/// The definitions whose kinds are entries of a registry, each with the page that has them.
const PAGES: [(&str, &str); 10] = [
    ("BufferSettings", "disciplines.md"),
    ("ClassifierSettings", "disciplines.md"),
    ("ControlSettings", "receivers.md"),
    ("DesignSettings", "disciplines.md"),
    ("MarkerSettings", "disciplines.md"),
    ("PolicerSettings", "disciplines.md"),
    ("SchedulerSettings", "disciplines.md"),
    ("TopologySettings", "topologies.md"),
    ("TrafficSettings", "traffic.md"),
    ("TransportSettings", "transports.md"),
];

/// The name of the section with the fields of the scenario itself.
const TOP: &str = "The scenario";

/// All tables of a scenario, in the order in which its fields hold them.
#[must_use]
pub fn sections() -> Vec<Section> {
    Reader::new(&super::schema()).sections()
}

/// A definition of the schema that has a section.
struct Table<'a> {
    definition: &'a str,
    title: String,
    places: Vec<String>,
}

/// What follows the definitions of a schema.
struct Reader<'a> {
    schema: &'a Value,
    tables: Vec<Table<'a>>,
}

impl<'a> Reader<'a> {
    fn new(schema: &'a Value) -> Self {
        let mut reader = Self { schema, tables: Vec::new() };
        reader.follow(schema, "");
        let mut next = 0;
        while let Some(table) = reader.tables.get(next) {
            let prefix = match table.title.trim_matches(['[', ']']) {
                // Fields of a list are those of each table in it.
                name if table.title.starts_with("[[") => format!("{name}[]."),
                name => format!("{name}."),
            };
            reader.follow(&schema["$defs"][table.definition], &prefix);
            next += 1;
        }
        // Settings on the registries' pages take distributions; no page has their fields.
        for definition in schema["$defs"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()) {
            if definition.starts_with("DistributionOf") {
                let title = format!("Distribution of a {}", if definition.ends_with("Time") { "time" } else { "size" });
                reader.tables.push(Table { definition, title, places: Vec::new() });
            }
        }
        reader
    }

    /// Notes the tables that the fields of `node`, whose path begins with `prefix`, hold.
    fn follow(&mut self, node: &'a Value, prefix: &str) {
        for (name, property) in node["properties"].as_object().into_iter().flatten() {
            for (definition, is_list) in definitions(property) {
                if !self.has_section(definition) {
                    continue;
                }
                let place = format!("{prefix}{name}");
                if let Some(table) = self.tables.iter_mut().find(|table| table.definition == definition) {
                    table.places.push(place);
                    continue;
                }
                let title = match (prefix, is_list) {
                    ("", false) => format!("[{name}]"),
                    (_, true) => format!("[[{}]]", place.replace("[]", "")),
                    _ => name.clone(),
                };
                let places = if prefix.is_empty() { Vec::new() } else { vec![place] };
                self.tables.push(Table { definition, title, places });
            }
        }
    }

    /// Whether a definition is of a table of fields that no other page has.
    fn has_section(&self, definition: &str) -> bool {
        let node = &self.schema["$defs"][definition];
        let has_page = PAGES.iter().any(|(known, _)| *known == definition);
        !has_page && (node["properties"].is_object() || kinds(node).next().is_some())
    }

    fn sections(&self) -> Vec<Section> {
        let top = Section {
            title: TOP.into(),
            about: text(self.schema),
            places: Vec::new(),
            fields: self.fields(self.schema),
            kinds: Vec::new(),
        };
        let of_table = |table: &Table<'a>| {
            let node = &self.schema["$defs"][table.definition];
            let kind = |(name, node): (&str, &'a Value)| (name.to_string(), text(node), self.fields(node));
            Section {
                title: table.title.clone(),
                about: text(node),
                places: table.places.clone(),
                fields: self.fields(node),
                kinds: kinds(node).map(kind).collect(),
            }
        };
        std::iter::once(top).chain(self.tables.iter().map(of_table)).collect()
    }

    fn fields(&self, node: &Value) -> Vec<Field> {
        let must: Vec<&str> = node["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = node["properties"].as_object().into_iter().flatten().filter(|(name, _)| *name != "kind");
        properties.map(|(name, property)| self.field(name, property, must.contains(&name.as_str()))).collect()
    }

    fn field(&self, name: &str, property: &Value, must: bool) -> Field {
        let ways = ways(property);
        let words: Vec<(&str, String)> = definitions(property)
            .into_iter()
            .flat_map(|(definition, _)| choices(&self.schema["$defs"][definition]))
            .collect();
        let mut meaning = text(property);
        for (word, means) in &words {
            let _ = write!(meaning, " `{word}`: {means}");
        }
        Field {
            name: name.into(),
            kind: self.kind(&ways, &words),
            unit: first(property, &ways, "x-unit").and_then(Value::as_str).unwrap_or_default().to_string(),
            default: default(property, &ways, &words, must),
            example: self.example(property, &ways, &words),
            meaning,
        }
    }

    /// What a field takes that may be given in these ways, or is one of these words.
    fn kind(&self, ways: &[&Value], words: &[(&str, String)]) -> String {
        if !words.is_empty() {
            return words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        }
        let is_entry = |way: &&Value| PAGES.iter().any(|(known, _)| Some(*known) == definition(way));
        let is_form = |way: &&Value| way["description"].is_string() && way["type"] == "string";
        let has_text = ways.iter().any(|way| is_form(way) || is_entry(way));
        let tables = ways.iter().filter_map(|way| definition(way));
        let named: Vec<String> = tables.map(|definition| self.link(definition)).collect();
        match (named.is_empty(), has_text) {
            (false, true) => return format!("text form or table: {}", named.join(", ")),
            (false, false) => return format!("table: {}", named.join(", ")),
            _ => {}
        }
        let plain = |way: &&Value| {
            if let Some(title) = way["title"].as_str() {
                let has_units = way["x-unit"].is_string() && types(way).any(|kind| kind == "string");
                return Some(if has_units { format!("[{title}](#quantities)") } else { title.to_string() });
            }
            let listed = way["enum"].as_array().into_iter().flatten().filter(|value| !value.is_null());
            let listed: Vec<String> = listed.map(|value| format!("`{value}`")).collect();
            let is = |kind: &str| types(way).any(|known| known == kind);
            Some(match () {
                () if !listed.is_empty() => listed.join(", "),
                () if is("boolean") => "`true`, `false`".into(),
                () if is("integer") => "whole number".into(),
                () if is("number") => "number".into(),
                () if is("string") => "text".into(),
                () if is("array") => match definition(&way["items"]) {
                    Some(definition) => format!("tables: {}", self.link(definition)),
                    None if way["prefixItems"].is_array() || way["items"]["prefixItems"].is_array() => {
                        "list of pairs".into()
                    }
                    None if way["items"].is_object() => format!("list: {}", self.kind(&[&way["items"]], &[])),
                    None => "list".into(),
                },
                () => return None,
            })
        };
        ways.iter().filter_map(plain).collect::<Vec<_>>().join(", ")
    }

    /// A link to the section or page of a definition.
    fn link(&self, definition: &str) -> String {
        if let Some((_, page)) = PAGES.iter().find(|(known, _)| *known == definition) {
            let name = definition.trim_end_matches("Settings").to_lowercase();
            return format!("[{}]({page})", if name == "control" { "receiver" } else { &name });
        }
        let table = self.tables.iter().find(|table| table.definition == definition);
        table.map_or_else(String::new, |table| format!("[`{}`](#{})", table.title, anchor(&table.title)))
    }

    /// A value for a field, in TOML: that of its schema or of its type, one of its choices, or its
    /// default.
    fn example(&self, property: &Value, ways: &[&Value], words: &[(&str, String)]) -> String {
        let of_type = ways.iter().filter_map(|way| definition(way)).map(|name| &self.schema["$defs"][name]);
        if let Some(value) = std::iter::once(property).chain(of_type).find_map(given) {
            return toml(value);
        }
        if let Some((word, _)) = words.last() {
            return format!("\"{word}\"");
        }
        if ways.iter().any(|way| types(way).any(|kind| kind == "boolean")) {
            return (property["default"] != true).to_string();
        }
        if let Some(pair) = ways.iter().find_map(|way| way["items"]["prefixItems"].as_array()) {
            let of_item = |item| given(item).map_or_else(|| "1.0".to_string(), toml);
            return format!("[[{}]]", pair.iter().map(of_item).collect::<Vec<_>>().join(", "));
        }
        match &property["default"] {
            Value::Number(number) => number.to_string(),
            Value::String(text) if !text.is_empty() => toml(&property["default"]),
            _ => String::new(),
        }
    }
}

/// The ways in which a field may be given: the alternatives of its schema, none of them `null`.
fn ways(property: &Value) -> Vec<&Value> {
    match property["anyOf"].as_array() {
        Some(either) => either.iter().flat_map(ways).collect(),
        None if property["type"] == "null" => Vec::new(),
        None => vec![property],
    }
}

/// The first example of a node, or of one of its alternatives.
fn given(node: &Value) -> Option<&Value> {
    let of_either = || node["anyOf"].as_array()?.iter().find_map(given);
    node["examples"].get(0).or_else(of_either)
}

/// The definition that `node` is a reference to.
fn definition(node: &Value) -> Option<&str> {
    node["$ref"].as_str().map(|path| path.trim_start_matches("#/$defs/"))
}

/// The definitions that a field holds, and whether it holds a list of each.
fn definitions(property: &Value) -> Vec<(&str, bool)> {
    let each = ways(property).into_iter().filter_map(|way| {
        definition(way).map(|name| (name, false)).or_else(|| definition(&way["items"]).map(|name| (name, true)))
    });
    each.collect()
}

/// The kinds of a table that has a `kind`.
fn kinds(node: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let variants = node["oneOf"].as_array().into_iter().flatten();
    variants.filter_map(|variant| Some((variant["properties"]["kind"]["const"].as_str()?, variant)))
}

/// The words that a definition allows, with what each means.
fn choices(node: &Value) -> Vec<(&str, String)> {
    let variants = node["oneOf"].as_array().into_iter().flatten();
    variants.filter_map(|variant| Some((variant["const"].as_str()?, text(variant)))).collect()
}

/// The types of a value.
fn types(node: &Value) -> impl Iterator<Item = &str> {
    let several = node["type"].as_array().into_iter().flatten();
    std::iter::once(&node["type"]).chain(several).filter_map(Value::as_str)
}

/// `key` of a field, or of the first way to give it that has it.
fn first<'a>(property: &'a Value, ways: &[&'a Value], key: &str) -> Option<&'a Value> {
    let of_items = ways.iter().map(|way| &way["items"]);
    std::iter::once(property).chain(ways.iter().copied()).chain(of_items).find_map(|node| node.get(key))
}

/// The value of a field that is not written.
fn default(property: &Value, ways: &[&Value], words: &[(&str, String)], must: bool) -> String {
    let is_open = types(property).any(|kind| kind == "null") || property["anyOf"].is_array();
    let has_type = |kind: &str| ways.iter().any(|way| types(way).any(|known| known == kind));
    match &property["default"] {
        _ if must => "must be given".into(),
        Value::Object(table) if !table.contains_key("kind") => "that of its fields".into(),
        Value::Array(list) if list.is_empty() => "none".into(),
        Value::String(text) if text.is_empty() => "none".into(),
        // The schema leaves out a default that a result leaves out.
        Value::Null if !is_open => match words.first() {
            _ if text(property).starts_with("Another name of") => "not set".into(),
            // By convention the default stands first.
            Some((word, _)) => format!("`\"{word}\"`"),
            None if has_type("boolean") => "`false`".into(),
            None if has_type("integer") => "`0`".into(),
            None if first(property, ways, "title").is_some_and(|title| title == "time") => "`\"0 s\"`".into(),
            None => "none".into(),
        },
        Value::Null => "not set".into(),
        value => format!("`{}`", toml(value)),
    }
}

/// The text of a node, on one line.
fn text(node: &Value) -> String {
    node["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value as TOML writes it, on one line.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let fields = table.iter().map(|(name, value)| format!("{name} = {}", toml(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The anchor that a heading has in Markdown.
fn anchor(title: &str) -> String {
    let kept = title.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// What stands above the tables of the page.
const INTRODUCTION: &str = "# Scenario

Every field of a scenario file, generated from the types that read it. `fairq schema scenario` prints
the same as a JSON Schema, for editors.

A scenario is TOML, or JSON if it begins with a brace. `--set PATH=VALUE` writes a field by its path,
as `--set links.bottleneck.rate=10Mbit/s`. A table of a list is found by its `name`, or by its number
from 0, as in `links[0]`. `[name]` is a table, `[[name]]` one of a list of tables. A field whose
default is *not set* may be left out; its meaning says what holds then.

## Text forms

A table with a `kind` may be written as text, `kind(setting=value, …)`: `\"drr(quantum=300 B)\"` is
`{ kind = \"drr\", quantum = \"300 B\" }`. A setting may be a list, `[1, 2]`, a table,
`(name=a, weight=2)`, or a text form.

| text form of | example | table that it stands for |
|---|---|---|
| a queue: parts joined by `+`, in any order, and a limit | `\"fq + longest_queue_drop + 40 packets\"` | \
`{ scheduler = { kind = \"fq\" }, buffer = { kind = \"longest_queue_drop\" }, limit = \"40 packets\" }` |
| a part, a transport, traffic, a topology | `\"cubic(beta=0.8)\"` | `{ kind = \"cubic\", beta = 0.8 }` |
| a distribution | `\"exponential(mean=1 s)\"` | `{ kind = \"exponential\", mean = \"1 s\" }` |
| a constant in place of a distribution | `\"10 kB\"` | `{ kind = \"constant\", value = \"10 kB\" }` |
| a connection by its profile | `\"linux\"` | `{ profile = \"linux\" }` |

## Quantities

A quantity is text: a number and a unit, with or without a space between them.

| quantity | units | examples |
|---|---|---|
";

/// The reference page, in Markdown.
#[must_use]
pub fn page() -> String {
    let schema = super::schema();
    let mut page = INTRODUCTION.to_string();
    for (title, units, examples) in quantities(&schema) {
        let _ = writeln!(page, "| {title} | {units} | {examples} |");
    }
    for section in sections() {
        let is_code = section.title.starts_with('[') || !section.title.contains(' ');
        let tick = if is_code { "`" } else { "" };
        let _ = write!(page, "\n## {tick}{}{tick}\n\n{}\n", section.title, section.about);
        if !section.places.is_empty() {
            let places: Vec<String> = section.places.iter().map(|place| format!("`{place}`")).collect();
            let _ = write!(page, "\nStands in {}.\n", places.join(", "));
        }
        table(&mut page, &section.fields);
        for (kind, about, fields) in &section.kinds {
            let _ = write!(page, "\n### `kind = \"{kind}\"`\n\n{about}\n");
            table(&mut page, fields);
        }
    }
    page
}

/// Title, units and examples of each quantity, in the order of their titles.
fn quantities(schema: &Value) -> Vec<(String, String, String)> {
    fn within(node: &Value, found: &mut Vec<(String, String, String)>) {
        if let (Some(title), Some(units), Some(examples)) =
            (node["title"].as_str(), node["x-unit"].as_str(), node["examples"].as_array())
            && types(node).any(|kind| kind == "string")
            && !found.iter().any(|(known, ..)| known == title)
        {
            let examples: Vec<String> = examples.iter().map(|example| format!("`{}`", toml(example))).collect();
            found.push((title.into(), units.into(), examples.join(", ")));
        }
        match node {
            Value::Array(items) => items.iter().for_each(|item| within(item, found)),
            Value::Object(table) => table.values().for_each(|value| within(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    within(schema, &mut found);
    found.sort();
    found
}

/// Adds the table of `fields` to the page.
fn table(page: &mut String, fields: &[Field]) {
    if fields.is_empty() {
        return;
    }
    page.push_str("\n| field | type | unit | default | example | meaning |\n|---|---|---|---|---|---|\n");
    for field in fields {
        let example = if field.example.is_empty() { String::new() } else { format!("`{}`", field.example) };
        let row = [&field.kind, &short(&field.unit), &field.default, &example, &field.meaning];
        let row: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(page, "| `{}` | {} |", field.name, row.join(" | "));
    }
}

/// The units of a field in a cell: the first few of a quantity, of which all stand above.
fn short(units: &str) -> String {
    let each: Vec<&str> = units.split(", ").collect();
    if each.len() > 3 { format!("{}, …", each[..3].join(", ")) } else { units.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Routing;
    use fairq_sim::transport::tcp::settings::BackoffEnds;

    fn all() -> Vec<(String, Field)> {
        let of = |section: Section| {
            let title = section.title;
            let own = section.fields.into_iter().map(|field| (title.clone(), field)).collect::<Vec<_>>();
            let kinds = section.kinds.into_iter().flat_map(|(kind, _, fields)| {
                let title = format!("{title} {kind}");
                fields.into_iter().map(move |field| (title.clone(), field)).collect::<Vec<_>>()
            });
            own.into_iter().chain(kinds.collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        sections().into_iter().flat_map(of).collect()
    }

    /// A number or a quantity has a unit. All but tables, which have sections, have an example.
    #[test]
    fn every_field_has_a_meaning_a_type_a_unit_and_an_example() {
        let mut wanting = Vec::new();
        for (table, field) in all() {
            let is_number = ["number", "whole number", "weight", "list of pairs"].contains(&field.kind.as_str());
            let is_quantity = field.kind.contains("(#quantities)");
            let is_table = ["table: [`", "tables: ["].iter().any(|start| field.kind.starts_with(start));
            for (what, is_there) in [
                ("meaning", !field.meaning.is_empty()),
                ("type", !field.kind.is_empty()),
                ("unit", !(is_number || is_quantity) || !field.unit.is_empty()),
                ("default", !field.default.is_empty()),
                ("example", is_table || !field.example.is_empty()),
            ] {
                if !is_there {
                    wanting.push(format!("{table} {}: no {what}", field.name));
                }
            }
        }
        assert!(wanting.is_empty(), "{}", wanting.join("\n"));
    }

    #[test]
    fn every_setting_of_every_kind_has_a_meaning() {
        fn within(node: &Value, path: &str, wanting: &mut Vec<String>) {
            for (name, property) in node["properties"].as_object().into_iter().flatten() {
                if name != "kind" && text(property).is_empty() {
                    wanting.push(format!("{path} {name}"));
                }
            }
            match node {
                Value::Array(items) => items.iter().for_each(|item| within(item, path, wanting)),
                Value::Object(table) => table.iter().for_each(|(name, node)| within(node, name, wanting)),
                _ => {}
            }
        }
        let mut wanting = Vec::new();
        within(&crate::scenario::schema(), "", &mut wanting);
        assert_eq!(wanting, [""; 0]);
    }

    #[test]
    fn the_tables_of_a_scenario_are_there_once_each() {
        let titles: Vec<String> = sections().into_iter().map(|section| section.title).collect();
        for title in ["The scenario", "[measure]", "[defaults]", "[[links]]", "[[nodes]]", "[[pools]]", "[[flows]]"] {
            assert_eq!(titles.iter().filter(|known| *known == title).count(), 1, "{titles:?}");
        }
        for title in ["[[sessions]]", "[[sessions.receivers]]", "[[axes]]", "queue", "access", "connection", "timeout"]
        {
            assert_eq!(titles.iter().filter(|known| *known == title).count(), 1, "{titles:?}");
        }
    }

    #[test]
    fn every_link_of_the_page_leads_to_a_heading_of_it_or_to_a_page() {
        let page = page();
        let anchors: Vec<String> = page.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor).collect();
        for link in page.split("](").skip(1).map(|rest| rest.split(')').next().unwrap_or_default()) {
            let is_known = link.strip_prefix('#').map_or_else(
                || PAGES.iter().any(|(_, page)| *page == link),
                |heading| anchors.iter().any(|known| known == heading),
            );
            assert!(is_known, "{link}");
        }
    }

    /// The schema leaves these defaults out, and the page takes the first word.
    #[test]
    fn the_default_of_a_word_stands_first() {
        for (default, first) in [
            (serde_json::to_value(Routing::default()), serde_json::to_value(Routing::Hops)),
            (serde_json::to_value(BackoffEnds::default()), serde_json::to_value(BackoffEnds::Sample)),
        ] {
            assert_eq!(default.unwrap(), first.unwrap());
        }
        let routing = all().into_iter().find(|(_, field)| field.name == "routing").unwrap().1;
        assert_eq!((routing.default.as_str(), routing.kind.as_str()), ("`\"hops\"`", "`hops`, `delay`, `weight`"));
    }
}
