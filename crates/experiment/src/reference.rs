//! The registries' cards as lists, cards and a page. No code here names a single entry.

use crate::layout::{item, paragraph, row};
use crate::scenario::{edition, profile};
use crate::scenes::{Round, SCENES, Scene, play};
use crate::topology::registry::TOPOLOGIES;
use fairq_sched::card::{Card, LABELS, STEPS};
use fairq_sched::registry::{BUFFER_POLICIES, CLASSIFIERS, DESIGNS, MARKERS, POLICERS, SCHEDULERS};
use fairq_sched::units::{Bytes, Limit, Rate, Time};
use fairq_sched::work::registry::{POLICIES, PolicySettings};
use fairq_sim::multicast::registry::RECEIVERS;
use fairq_sim::traffic::registry::TRAFFIC;
use fairq_sim::transport::registry::TRANSPORTS;
use fairq_sim::transport::tcp::settings::Profile;
use fairq_text::near_miss;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The column of a card at which the meaning of a setting stands beside its value.
const BESIDE: usize = 31;

/// The kinds that can be listed.
pub const KINDS: [&str; 6] = ["disciplines", "transports", "traffic", "receivers", "topologies", "policies"];

fn cards(kind: &str) -> Option<Vec<&'static Card>> {
    match kind {
        "disciplines" => {
            Some([SCHEDULERS, BUFFER_POLICIES, MARKERS, CLASSIFIERS, DESIGNS, POLICERS].into_iter().flatten().collect())
        }
        "transports" => Some(TRANSPORTS.iter().collect()),
        "traffic" => Some(TRAFFIC.iter().collect()),
        "receivers" => Some(RECEIVERS.iter().collect()),
        "topologies" => Some(TOPOLOGIES.iter().collect()),
        // Of a dispatcher, and in no scenario.
        "policies" => Some(POLICIES.iter().collect()),
        _ => None,
    }
}

/// An entry of a registry: `fairq list --json` prints an array of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// The part of the registry that holds it.
    pub part: &'static str,
    /// The first paragraph of its card.
    pub summary: String,
    /// When to use it.
    pub use_when: String,
    /// Where the algorithm was published.
    pub source: String,
    /// What a packet costs.
    pub cost: String,
    /// What it promises.
    pub bound: String,
}

/// The entries of a kind.
///
/// # Errors
/// An unknown kind, with the near miss.
pub fn listing(kind: &str) -> Result<Vec<Entry>, String> {
    let cards = cards(kind).ok_or_else(|| format!("{kind}: nothing of that name to list{}", near_miss(kind, KINDS)))?;
    let entry = |card: &Card| Entry {
        name: card.name,
        aliases: card.aliases,
        part: card.part,
        summary: card.summary(),
        use_when: card.field("Use when"),
        source: card.field("Source"),
        cost: card.field("Cost"),
        bound: card.field("Bound"),
    };
    Ok(cards.into_iter().map(entry).collect())
}

/// A scene that a transport ran alone: `fairq explain --scenes --json` prints an array of them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Played {
    /// Its name.
    pub scene: &'static str,
    /// A sentence about it.
    pub shows: &'static str,
    /// A row for each round.
    pub rounds: Vec<RoundRow>,
}

/// A round of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RoundRow {
    /// Its number, from 0.
    pub round: u32,
    /// When it ended, in seconds.
    pub time_s: f64,
    /// Packets sent.
    pub sent: u64,
    /// Of these, packets that were lost.
    pub lost: u64,
    /// Of these, packets that were marked.
    pub marked: u64,
    /// The round trip of its packets in seconds.
    pub rtt_s: f64,
    /// The window after the round, in packets; null if there is none.
    pub window_packets: Option<f64>,
    /// The pace after the round, in packets a second; null without pacing.
    pub pace_packets_per_s: Option<f64>,
    /// The event of the round; empty if all packets arrived.
    pub event: String,
    /// The transport's own numbers after the round, by their names; null if there is none yet.
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<String, Option<f64>>")]
    pub inner: serde_json::Map<String, Value>,
}

/// The scenes of a transport, run alone.
///
/// # Errors
/// An unknown name, or one of a transport without scenes, with the near miss.
pub fn scenes(name: &str) -> Result<Vec<Played>, String> {
    let players = || TRANSPORTS.iter().filter(|card| play(card.name, &SCENES[0]).is_some());
    let Some(player) = players().find(|card| card.is_called(name)) else {
        let near = near_miss(name, players().map(|card| card.name));
        return Err(format!("{name} is not a transport with scenes{near}"));
    };
    let scene = |scene: &Scene| {
        let rounds = play(player.name, scene)?;
        Some(Played { scene: scene.name, shows: scene.shows, rounds: rounds.iter().map(round).collect() })
    };
    Ok(SCENES.iter().filter_map(scene).collect())
}

fn round(round: &Round) -> RoundRow {
    RoundRow {
        round: round.number,
        time_s: round.now.as_s(),
        sent: round.sent,
        lost: round.lost,
        marked: round.marked,
        rtt_s: round.round_trip.as_s(),
        window_packets: Some(round.window),
        pace_packets_per_s: round.pace,
        event: round.event.to_string(),
        inner: round.inner.iter().map(|(name, value)| (name.clone(), (*value).into())).collect(),
    }
}

/// The card of an entry by name or alias, with its settings and their defaults, in lines of at most
/// `width` columns where words allow it.
///
/// # Errors
/// An unknown name, with the near miss.
pub fn explain(name: &str, width: usize) -> Result<String, String> {
    if matches!(name, "edition" | "editions") {
        return Ok(editions());
    }
    if let Some(profile) = Profile::by_name(name) {
        return Ok(profile::explain(profile, width));
    }
    let schema = crate::scenario::schema();
    // A name may belong to two entries, as drr to a scheduler and to a policy of a dispatcher.
    let texts: Vec<String> = called(name)?.into_iter().map(|card| card_text(&schema, card, width)).collect();
    Ok(texts.join("\n"))
}

fn card_text(schema: &Value, card: &Card, width: usize) -> String {
    let mut text = format!("{} ({})", card.name, card.part);
    if !card.aliases.is_empty() {
        let _ = write!(text, ", also called {}", card.aliases.join(", "));
    }
    text.push_str("\n\n");
    paragraph(&mut text, "", &card.summary(), width);
    text.push('\n');
    for (label, field) in labelled(card) {
        if label == STEPS {
            text.push_str("Steps:\n");
            for (number, step) in (1..).zip(card.steps()) {
                item(&mut text, number, &step, width);
            }
        } else {
            paragraph(&mut text, "  ", &format!("{label}: {field}"), width);
        }
    }
    let settings = settings(schema, card);
    if !settings.is_empty() {
        text.push_str("\nSettings\n");
        for setting in &settings {
            row(&mut text, &format!("{} = {}", setting.name, setting.default), &setting.text, BESIDE, width);
        }
    }
    text
}

/// The labelled paragraphs that a card has.
fn labelled(card: &Card) -> impl Iterator<Item = (&'static str, String)> {
    LABELS.into_iter().map(|label| (label, card.field(label))).filter(|(_, field)| !field.is_empty())
}

/// The cards that are called `name`.
fn called(name: &str) -> Result<Vec<&'static Card>, String> {
    let all: Vec<&Card> = KINDS.iter().filter_map(|kind| cards(kind)).flatten().collect();
    let found: Vec<&Card> = all.iter().copied().filter(|card| card.is_called(name)).collect();
    if found.is_empty() {
        let cards = all.iter().flat_map(|card| std::iter::once(card.name).chain(card.aliases.iter().copied()));
        let known = cards.chain(Profile::ALL.map(Profile::name));
        return Err(format!(
            "{name}: no such discipline, transport, traffic, receiver, topology, policy or profile{}",
            near_miss(name, known)
        ));
    }
    Ok(found)
}

/// A name with its cards: what `fairq explain --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Explained {
    /// The name as it was given.
    pub name: String,
    /// The cards that are called so: mostly one. An edition or a profile has none.
    pub cards: Vec<CardFields>,
    /// The same as text, in lines of 100 columns.
    pub card: String,
}

/// A card as fields; a field is empty if the card does not have it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CardFields {
    /// Its name.
    pub name: &'static str,
    /// The part of the registry that holds it.
    pub part: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// The first paragraph: what it is.
    pub what: String,
    /// When to use it.
    pub use_when: String,
    /// Where the algorithm was published.
    pub source: String,
    /// The algorithm as pseudo-code, step by step.
    pub steps: Vec<String>,
    /// Its rules.
    pub rules: String,
    /// Where it departs from the source.
    pub departs: String,
    /// What was chosen where the source is silent.
    pub chosen: String,
    /// What a packet costs.
    pub cost: String,
    /// What it promises.
    pub bound: String,
    /// What a change while packets wait keeps and what it resets.
    pub changes: String,
    /// The range for which that holds.
    pub range: String,
    /// Its settings.
    pub settings: Vec<SettingFields>,
}

/// A setting of a card.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SettingFields {
    /// Its path in the settings.
    pub name: String,
    /// The type of its value: `time`, `size`, `rate`, `buffer` (texts with a unit), `text`,
    /// `integer`, `number`, `boolean`, `choice` (one of the words that `doc` lists), `table` or
    /// `list`.
    pub r#type: &'static str,
    /// Whether it must be given.
    pub required: bool,
    /// Its default; null if it has none.
    pub default: Value,
    /// Its meaning.
    pub doc: String,
}

/// The cards that are called `name`, as fields and as text.
///
/// # Errors
/// An unknown name, with the near miss.
pub fn explained(name: &str) -> Result<Explained, String> {
    Ok(Explained { name: name.to_owned(), cards: fields_of(name)?, card: explain(name, CARD_WIDTH)? })
}

/// Columns of a card in a document.
const CARD_WIDTH: usize = 100;

/// The cards that are called `name`, as fields. An edition or a profile has no card: the list is
/// empty.
///
/// # Errors
/// An unknown name, with the near miss.
pub fn fields_of(name: &str) -> Result<Vec<CardFields>, String> {
    if matches!(name, "edition" | "editions") || Profile::by_name(name).is_some() {
        return Ok(Vec::new());
    }
    let schema = crate::scenario::schema();
    let setting = |setting: Setting| SettingFields {
        name: setting.name,
        r#type: setting.kind,
        required: setting.is_required,
        default: setting.value,
        doc: setting.text,
    };
    let entry = |card: &Card| CardFields {
        name: card.name,
        part: card.part,
        aliases: card.aliases,
        what: card.summary(),
        use_when: card.field("Use when"),
        source: card.field("Source"),
        steps: card.steps(),
        rules: card.field("Rules"),
        departs: card.field("Departs"),
        chosen: card.field("Chosen"),
        cost: card.field("Cost"),
        bound: card.field("Bound"),
        changes: card.field("Changes"),
        range: card.field("Range"),
        settings: settings(&schema, card).into_iter().map(setting).collect(),
    };
    Ok(called(name)?.into_iter().map(entry).collect())
}

/// The defaults that differ by edition, as text.
fn editions() -> String {
    let mut text =
        "edition (field of a scenario)\n\nWhich defaults a scenario has where it says nothing; without it the \
                    latest, 2.\n\n"
            .to_string();
    let rows = edition::table();
    let width = rows.iter().map(|[what, ..]| what.chars().count()).max().unwrap_or_default();
    let _ = writeln!(text, "  {:width$}  {:12}  edition = 2", "default", "edition = 1");
    for [what, one, two] in rows {
        let _ = writeln!(text, "  {what:width$}  {one:12}  {two}");
    }
    text
}

/// A field of an entry's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its path in the settings.
    pub name: String,
    /// Its default as shown on the pages.
    pub default: String,
    /// Its default as a value; null if it has none.
    pub value: Value,
    /// Whether it must be given.
    pub is_required: bool,
    /// The type of its value: `time`, `size`, `rate`, `buffer` (texts with a unit), `text`,
    /// `integer`, `number`, `boolean`, `choice` (one of the words that `text` lists), `table`, `list`.
    pub kind: &'static str,
    /// Its meaning.
    pub text: String,
}

impl Setting {
    /// Whether its default is a value of its own, and not that of an alias or of a table of other
    /// fields.
    #[must_use]
    pub fn has_value(&self) -> bool {
        let none = ["(as follows)", "(not set)", "(must be given)"];
        !none.contains(&self.default.as_str()) && !self.text.starts_with("Another name of")
    }
}

/// The settings of all disciplines, transports and receivers, and of a connection, each with its
/// default: the name of the part (with its kind where two parts share the name), and its settings.
#[must_use]
pub fn defaults() -> Vec<(String, Vec<Setting>)> {
    let schema = crate::scenario::schema();
    let all: Vec<&Card> = ["disciplines", "transports", "receivers"].into_iter().filter_map(cards).flatten().collect();
    let name = |card: &Card| match all.iter().filter(|other| other.name == card.name).count() {
        1 => card.name.to_string(),
        _ => format!("{} ({})", card.name, card.part),
    };
    let mut found: Vec<_> = all.iter().map(|card| (name(card), settings(&schema, card))).collect();
    let mut connection = Vec::new();
    fields(&schema, &schema["$defs"]["Connection"], "", &mut connection);
    found.push(("connection".to_string(), connection));
    found
}

/// Reads an entry's settings from the schema, in which `kind` identifies the entry.
fn settings(schema: &Value, card: &Card) -> Vec<Setting> {
    if card.part == "policy" {
        let schema = schemars::schema_for!(PolicySettings).to_value();
        return settings_of(&schema, &schema, card);
    }
    let definition = match card.part {
        "scheduler" => "SchedulerSettings",
        "buffer" => "BufferSettings",
        "classifier" => "ClassifierSettings",
        "marker" => "MarkerSettings",
        "policer" => "PolicerSettings",
        "design" => "DesignSettings",
        "transport" => "TransportSettings",
        "receiver" => "ControlSettings",
        "topology" => "TopologySettings",
        _ => "TrafficSettings",
    };
    settings_of(schema, &schema["$defs"][definition], card)
}

/// The settings of an entry, one of the variants of `definition`.
fn settings_of(schema: &Value, definition: &Value, card: &Card) -> Vec<Setting> {
    let variants = definition["oneOf"].as_array();
    let own = variants.into_iter().flatten().find(|v| v["properties"]["kind"]["const"] == card.name);
    let mut settings = Vec::new();
    if let Some(own) = own {
        fields(schema, own, "", &mut settings);
    }
    settings
}

/// The fields of `table`, each followed by those of the tables that it contains.
fn fields(schema: &Value, table: &Value, prefix: &str, settings: &mut Vec<Setting>) {
    let required: Vec<&str> = table["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in table["properties"].as_object().into_iter().flatten().filter(|(name, _)| *name != "kind") {
        let (definition, is_list) = definition_of(schema, property);
        let holds_tables = definition["properties"].is_object();
        let mut text = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        for (choice, means) in choices(definition) {
            let _ = write!(text, " `{choice}`: {}", means.replace('\n', " "));
        }
        let is_required = required.contains(&name.as_str());
        settings.push(Setting {
            name: format!("{prefix}{name}"),
            value: without_nothing(&property["default"]),
            is_required,
            kind: kind_of(property, definition, is_list),
            default: match &property["default"] {
                _ if is_required => "(must be given)".to_string(),
                Value::Null => "(not set)".to_string(),
                _ if holds_tables && !is_list => "(as follows)".to_string(),
                value => without_nothing(value).to_string(),
            },
            text,
        });
        if holds_tables {
            let within = if is_list { "[]." } else { "." };
            fields(schema, definition, &format!("{prefix}{name}{within}"), settings);
        }
    }
}

/// The definition of `property`, if it has one of its own, and whether it is a list of that.
fn definition_of<'a>(schema: &'a Value, property: &'a Value) -> (&'a Value, bool) {
    let items = &property["items"]["$ref"];
    let optional = property["anyOf"].as_array().into_iter().flatten().find_map(|either| either.get("$ref"));
    let name = property.get("$ref").or(optional).unwrap_or(items).as_str().unwrap_or_default();
    (&schema["$defs"][name.trim_start_matches("#/$defs/")], !items.is_null())
}

/// The type of `property`, which is made of `definition`; see [`Setting::kind`].
fn kind_of(property: &Value, definition: &Value, is_list: bool) -> &'static str {
    let example = || property["examples"][0].as_str().unwrap_or_default();
    let is_type = |name: &str| {
        let kind = if definition.is_object() { &definition["type"] } else { &property["type"] };
        kind == name || kind.as_array().is_some_and(|kinds| kinds.contains(&name.into()))
    };
    match () {
        () if is_list || is_type("array") => "list",
        () if !choices(definition).is_empty() => "choice",
        () if example().parse::<Time>().is_ok() => "time",
        () if example().parse::<Bytes>().is_ok() => "size",
        () if example().parse::<Rate>().is_ok() => "rate",
        () if example().parse::<Limit>().is_ok() => "buffer",
        () => ["integer", "number", "boolean", "string", "object"].into_iter().find(|name| is_type(name)).map_or(
            "table",
            |name| match name {
                "string" => "text",
                "object" => "table",
                other => other,
            },
        ),
    }
}

/// The words that a definition allows, with their meanings; empty if it allows more than words.
fn choices(definition: &Value) -> Vec<(&str, &str)> {
    let variants = definition["oneOf"].as_array().into_iter().flatten();
    variants.filter_map(|v| Some((v["const"].as_str()?, v["description"].as_str()?))).collect()
}

/// `value` without the fields that are `null`.
fn without_nothing(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_nothing).collect(),
        Value::Object(table) => {
            let set = table.iter().filter(|(_, v)| !v.is_null() && v.as_array().is_none_or(|list| !list.is_empty()));
            Value::Object(set.map(|(name, v)| (name.clone(), without_nothing(v))).collect())
        }
        other => other.clone(),
    }
}

/// What is so of a change for every discipline.
const ABOUT_CHANGES: &str = "**Changes** says what a change while packets wait keeps and what it resets: of the line's \
rate, a flow's weight, pacing rate or class, or the limit. No change drops what waits or moves it to another queue. Unless a card says \
otherwise, a new limit counts from the next arrival on.\n\n";

/// The page of all cards of `kind`, in Markdown.
#[must_use]
pub fn page(kind: &str) -> String {
    let schema = crate::scenario::schema();
    let cards = cards(kind).unwrap_or_default();
    let mut title = kind.to_string();
    title[..1].make_ascii_uppercase();
    let mut page = format!("# {title}\n\nGenerated from the cards that the files of the algorithms open with.\n\n");
    if kind == "disciplines" {
        page.push_str(ABOUT_CHANGES);
    }
    page.push_str("| name | part | what it is |\n|---|---|---|\n");
    for card in &cards {
        let _ = writeln!(
            page,
            "| [`{0}`](#{0}-{1}) | {1} | {2} |",
            card.name,
            card.part,
            card.summary().replace('|', "\\|")
        );
    }
    for card in cards {
        let _ = write!(page, "\n## {} ({})\n\n{}\n", card.name, card.part, card.summary());
        if !card.aliases.is_empty() {
            let _ = writeln!(page, "\n- **Also called** {}", card.aliases.join(", "));
        } else {
            page.push('\n');
        }
        for (label, field) in labelled(card) {
            if label == STEPS {
                page.push_str("- **Steps**\n");
                for (number, step) in (1..).zip(card.steps()) {
                    let _ = writeln!(page, "  {number}. {step}");
                }
            } else {
                let _ = writeln!(page, "- **{label}** {field}");
            }
        }
        let settings = settings(&schema, card);
        if !settings.is_empty() {
            page.push_str("\n| setting | default | meaning |\n|---|---|---|\n");
            for setting in settings {
                let _ = writeln!(
                    page,
                    "| `{}` | {} | {} |",
                    setting.name,
                    setting.default,
                    setting.text.replace('|', "\\|")
                );
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The cards called `name` as a document has them.
    fn document(name: &str) -> Value {
        serde_json::to_value(fields_of(name).unwrap()).unwrap()
    }

    #[test]
    fn a_document_has_every_label_of_a_card() {
        let fields = document("drr");
        for label in LABELS {
            let field = &fields[0][label.to_lowercase().replace(' ', "_")];
            assert!(if label == STEPS { field.is_array() } else { field.is_string() }, "{label}");
        }
    }

    #[test]
    fn nothing_that_a_user_reads_of_a_card_names_code() {
        for kind in KINDS {
            assert!(!cards(kind).unwrap().is_empty());
            assert!(!page(kind).contains(".rs"), "{kind}");
            for card in cards(kind).unwrap() {
                let text = explain(card.name, 80).unwrap() + &document(card.name).to_string();
                let line = text.lines().find(|line| line.contains(".rs"));
                assert_eq!(line, None, "{}", card.name);
            }
        }
    }

    #[test]
    fn what_it_is_and_when_to_use_it_come_first() {
        let text = explain("drr", 80).unwrap();
        let starts: Vec<&str> = text.split("\n\n").nth(2).unwrap_or_default().split(": ").take(1).collect();
        assert_eq!(starts, ["Use when"], "{text}");
        let page = page("disciplines");
        let drr = &page[page.find("\n## drr (").unwrap()..];
        // After its other names.
        assert!(drr.split("\n- **").nth(2).unwrap().starts_with("Use when** flows"), "{}", &drr[..400]);
    }

    #[test]
    fn steps_keep_their_lines_and_their_numbers() {
        let fields = document("round_robin");
        let steps = fields[0]["steps"].as_array().unwrap();
        let second = steps[1].as_str().unwrap();
        assert!(second.starts_with("The line is free: "), "{second}");
        let text = explain("round_robin", 1000).unwrap();
        assert!(text.contains(&format!("\nSteps:\n  1. {}\n  2. {second}\n", steps[0].as_str().unwrap())), "{text}");
        assert!(page("disciplines").contains(&format!("\n  2. {second}\n  3. ")));
        // Narrow: what a line has no room for stands under its first word.
        let narrow = explain("round_robin", 40).unwrap();
        let folded =
            "\n  2. The line is free: the flow that has\n     the turn sends the head of its\n     queue.\n  3. ";
        assert!(narrow.contains(folded), "{narrow}");
        assert_eq!(document("tail_drop")[0]["steps"], json!([]));
        assert!(!explain("tail_drop", 80).unwrap().contains("Steps"));
    }

    #[test]
    fn lines_are_as_wide_as_they_may_be_and_no_wider() {
        for (width, names) in [(80, ["cake", "file", "linux"]), (120, ["cake", "copa", "rfc"])] {
            for name in names {
                let text = explain(name, width).unwrap();
                let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
                assert!(widest <= width && widest + 15 > width, "{name}: {widest} of {width}\n{text}");
            }
        }
    }

    #[test]
    fn a_card_can_be_read_by_a_program() {
        let fields = document("cbr");
        assert_eq!((&fields[0]["name"], &fields[0]["part"]), (&json!("constant_rate"), &json!("traffic")));
        assert_eq!(fields[0]["rules"], "");
        let setting = |card: &str, at: usize, name: &str| {
            let fields = document(card);
            let settings = fields[at]["settings"].as_array().unwrap().clone();
            settings.into_iter().find(|s| s["name"] == name).unwrap_or_else(|| panic!("{card}: {name}"))
        };
        let quantum = setting("drr", 0, "quantum");
        let doc = "What a flow of weight one may send in a turn, from 1 B to 1 GiB.";
        let told = json!({"name": "quantum", "type": "size", "required": false, "default": "1514 B", "doc": doc});
        assert_eq!(quantum, told);
        for (card, name, kind) in [
            ("codel", "target", "time"),
            ("token_bucket", "peak_rate", "rate"),
            ("file", "buffer", "buffer"),
            ("file", "file", "text"),
            ("cake", "isolation", "choice"),
            ("cake", "queues", "integer"),
            ("copa", "delta", "number"),
            ("copa", "competes", "boolean"),
            ("htb", "classes", "list"),
            ("generic", "gain", "number"),
            ("jk", "timeout", "table"),
        ] {
            assert_eq!(setting(card, 0, name)["type"], kind, "{card}: {name}");
        }
        assert_eq!(setting("file", 0, "file")["required"], true);
        assert_eq!(setting("cake", 0, "rate")["default"], Value::Null);
        assert_eq!(fields_of("decbit").unwrap().len(), 2);
        assert_eq!(fields_of("linux").unwrap(), []);
        assert!(fields_of("fqq").unwrap_err().contains("did you mean fq?"));
    }

    #[test]
    fn every_card_says_what_it_is_where_it_is_from_what_it_costs_and_what_it_promises() {
        for kind in KINDS {
            let entries = listing(kind).unwrap();
            assert!(!entries.is_empty());
            for entry in entries {
                for field in [entry.summary, entry.source, entry.cost, entry.bound] {
                    assert!(!field.is_empty(), "{}", entry.name);
                }
            }
        }
    }

    #[test]
    fn a_name_is_explained_with_its_settings() {
        let in_full = |name: &str| explain(name, 1000).unwrap();
        let text = in_full("fq");
        assert!(text.contains("delta = \"0 B\"") && text.contains("Bound:"), "{text}");
        let text = in_full("htb");
        assert!(text.contains("classes[].ceil = (not set)") && !text.contains("null"), "{text}");
        assert!(in_full("cake").contains("`diffserv4`: Best effort, bulk, video, voice."));
        assert!(in_full("fcfs").starts_with("fifo (scheduler), also called fcfs"));
        assert!(in_full("decbit").contains("decbit (transport)"));
        assert!(in_full("rlm").contains("join_timer_max = \"60 s\""));
        assert!(in_full("edition").contains("1 kB          1500 B"), "{}", in_full("edition"));
        assert!(in_full("linux").contains("cubic.slow_start = \"linux\""));
        assert!(explain("fqq", 80).unwrap_err().contains("did you mean fq?"));
        assert!(listing("discipline").unwrap_err().contains("did you mean disciplines?"));
        assert!(scenes("fq").unwrap_err().starts_with("fq is not a transport with scenes; there are "));
        assert!(scenes("cubik").unwrap_err().contains("did you mean cubic?"));
    }
}
