//! The registries' cards as lists, cards and a page. No code here names a single entry.

use crate::scenario::{edition, profile};
use crate::scenes::{Round, SCENES, Scene, play};
use crate::topology::registry::TOPOLOGIES;
use fairq_sched::card::Card;
use fairq_sched::registry::{BUFFER_POLICIES, CLASSIFIERS, DESIGNS, MARKERS, SCHEDULERS};
use fairq_sim::multicast::RECEIVERS;
use fairq_sim::traffic::registry::TRAFFIC;
use fairq_sim::transport::registry::TRANSPORTS;
use fairq_sim::transport::tcp::settings::Profile;
use fairq_text::near_miss;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The kinds that can be listed.
pub const KINDS: [&str; 5] = ["disciplines", "transports", "traffic", "receivers", "topologies"];

fn cards(kind: &str) -> Option<Vec<&'static Card>> {
    match kind {
        "disciplines" => {
            Some([SCHEDULERS, BUFFER_POLICIES, MARKERS, CLASSIFIERS, DESIGNS].into_iter().flatten().collect())
        }
        "transports" => Some(TRANSPORTS.iter().collect()),
        "traffic" => Some(TRAFFIC.iter().collect()),
        "receivers" => Some(RECEIVERS.iter().collect()),
        "topologies" => Some(TOPOLOGIES.iter().collect()),
        _ => None,
    }
}

/// The entries of a kind: `{name, aliases, part, summary, source, cost, bound}` each.
///
/// # Errors
/// An unknown kind, with the near miss.
pub fn listing(kind: &str) -> Result<Value, String> {
    let cards = cards(kind).ok_or_else(|| format!("{kind}: nothing of that name to list{}", near_miss(kind, KINDS)))?;
    let entry = |card: &Card| {
        json!({
            "name": card.name,
            "aliases": card.aliases,
            "part": card.part,
            "summary": card.summary(),
            "source": card.field("Source"),
            "cost": card.field("Cost"),
            "bound": card.field("Bound"),
        })
    };
    Ok(cards.into_iter().map(entry).collect())
}

/// The scenes of a transport, run alone: `{scene, shows, rounds}` each. A round has the packets
/// sent and the transport's numbers after it; a number that does not exist, or not yet, is null.
///
/// # Errors
/// An unknown name, or one of a transport without scenes, with the near miss.
pub fn scenes(name: &str) -> Result<Value, String> {
    let players = || TRANSPORTS.iter().filter(|card| play(card.name, &SCENES[0]).is_some());
    let Some(player) = players().find(|card| card.is_called(name)) else {
        let near = near_miss(name, players().map(|card| card.name));
        return Err(format!("{name} is not a transport with scenes{near}"));
    };
    let scene = |scene: &Scene| {
        let rounds = play(player.name, scene)?;
        Some(json!({
            "scene": scene.name,
            "shows": scene.shows,
            "rounds": rounds.iter().map(round).collect::<Vec<_>>(),
        }))
    };
    Ok(SCENES.iter().filter_map(scene).collect())
}

fn round(round: &Round) -> Value {
    let mut row = json!({
        "round": round.number,
        "time_s": round.now.as_s(),
        "sent": round.sent,
        "lost": round.lost,
        "marked": round.marked,
        "rtt_s": round.round_trip.as_s(),
        "window_packets": round.window,
        "pace_packets_per_s": round.pace,
        "event": round.event.to_string(),
    });
    for (name, value) in &round.inner {
        row[name] = json!(value);
    }
    row
}

/// The card of an entry by name or alias, with its settings and their defaults.
///
/// # Errors
/// An unknown name, with the near miss.
pub fn explain(name: &str) -> Result<String, String> {
    if matches!(name, "edition" | "editions") {
        return Ok(editions());
    }
    if let Some(profile) = Profile::by_name(name) {
        return Ok(profile::explain(profile));
    }
    let all: Vec<&Card> = KINDS.iter().filter_map(|kind| cards(kind)).flatten().collect();
    let found: Vec<&&Card> = all.iter().filter(|card| card.is_called(name)).collect();
    if found.is_empty() {
        let cards = all.iter().flat_map(|card| std::iter::once(card.name).chain(card.aliases.iter().copied()));
        let known = cards.chain(Profile::ALL.map(Profile::name));
        return Err(format!(
            "{name}: no such discipline, transport, traffic, receiver, topology or profile{}",
            near_miss(name, known)
        ));
    }
    let schema = crate::scenario::schema();
    // A name may belong to two entries, as decbit to a marker and to a source.
    let texts = found.iter().map(|card| {
        let mut text = format!("{} ({})", card.name, card.part);
        if !card.aliases.is_empty() {
            let _ = write!(text, ", also called {}", card.aliases.join(", "));
        }
        let _ = write!(text, "\n\n{}", card.text());
        let settings = settings(&schema, card);
        if !settings.is_empty() {
            text.push_str("\nSettings\n");
            for setting in &settings {
                let given = format!("{} = {}", setting.name, setting.default);
                // A text without room beside its value is put below it.
                let gap = if given.chars().count() > 28 { format!("\n{:31}", "") } else { " ".to_string() };
                let _ = writeln!(text, "  {given:28}{gap}{}", setting.text);
            }
        }
        text
    });
    Ok(texts.collect::<Vec<_>>().join("\n"))
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
    let definition = match card.part {
        "scheduler" => "SchedulerSettings",
        "buffer" => "BufferSettings",
        "classifier" => "ClassifierSettings",
        "marker" => "MarkerSettings",
        "design" => "DesignSettings",
        "transport" => "TransportSettings",
        "receiver" => "ControlSettings",
        "topology" => "TopologySettings",
        _ => "TrafficSettings",
    };
    let variants = schema["$defs"][definition]["oneOf"].as_array();
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
        settings.push(Setting {
            name: format!("{prefix}{name}"),
            default: match &property["default"] {
                _ if required.contains(&name.as_str()) => "(must be given)".to_string(),
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

/// The page of all cards of `kind`, in Markdown.
#[must_use]
pub fn page(kind: &str) -> String {
    let schema = crate::scenario::schema();
    let cards = cards(kind).unwrap_or_default();
    let mut title = kind.to_string();
    title[..1].make_ascii_uppercase();
    let mut page = format!("# {title}\n\nGenerated from the cards that the files of the algorithms open with.\n\n");
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
        for label in fairq_sched::card::LABELS {
            let field = card.field(label);
            if !field.is_empty() {
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

    #[test]
    fn every_card_says_what_it_is_where_it_is_from_what_it_costs_and_what_it_promises() {
        for kind in KINDS {
            let entries = listing(kind).unwrap();
            let entries = entries.as_array().unwrap().clone();
            assert!(!entries.is_empty());
            for entry in entries {
                for field in ["summary", "source", "cost", "bound"] {
                    assert!(!entry[field].as_str().unwrap().is_empty(), "{}: {field}", entry["name"]);
                }
            }
        }
    }

    #[test]
    fn a_name_is_explained_with_its_settings() {
        let text = explain("fq").unwrap();
        assert!(text.contains("delta = \"0 B\"") && text.contains("Bound:"), "{text}");
        let text = explain("htb").unwrap();
        assert!(text.contains("classes[].ceil = (not set)") && !text.contains("null"), "{text}");
        assert!(explain("cake").unwrap().contains("`diffserv4`: Best effort, bulk, video, voice."));
        assert!(explain("fcfs").unwrap().starts_with("fifo (scheduler), also called fcfs"));
        assert!(explain("decbit").unwrap().contains("decbit (transport)"));
        assert!(explain("rlm").unwrap().contains("join_timer_max = \"60 s\""));
        assert!(explain("edition").unwrap().contains("1 kB          1500 B"), "{}", explain("edition").unwrap());
        assert!(explain("linux").unwrap().contains("cubic.slow_start = \"linux\""));
        assert!(explain("fqq").unwrap_err().contains("did you mean fq?"));
        assert!(listing("discipline").unwrap_err().contains("did you mean disciplines?"));
        assert!(scenes("fq").unwrap_err().starts_with("fq is not a transport with scenes; there are "));
        assert!(scenes("cubik").unwrap_err().contains("did you mean cubic?"));
    }
}
