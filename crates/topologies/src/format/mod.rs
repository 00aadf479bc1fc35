//! Files of topologies: detection of the format, and the part common to all formats.
//!
//! A reader of a format gives the nodes and edges as they are in the file (`Found`). Their meaning
//! — identity, rates, delays, missing values — is decided here and in `places.rs`, once for all
//! formats.

mod attributes;
mod brite;
mod capacity;
mod doctype;
mod edge_list;
mod encoding;
mod figures;
mod gml;
mod graphml;
mod places;
mod tiers_output;

use fairq_experiment::topology::file::Options;
use fairq_experiment::topology::{Edge, Graph, Node, Place};
use fairq_experiment::values::LineRate;
use fairq_sched::units::{Rate, Time, Weight};
use std::collections::{BTreeMap, BTreeSet};

/// A fault of a file, and its line.
struct Broken {
    line: Option<usize>,
    message: String,
}

impl Broken {
    fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into() }
    }

    fn whole(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }
}

/// A node as it is in a file.
#[derive(Debug, Default)]
struct FoundNode {
    line: usize,
    id: String,
    label: String,
    place: Option<Place>,
}

impl FoundNode {
    /// The node of a line of words that begin with its id and its place in a plane.
    fn of_words(line: usize, words: &[&str]) -> Result<Self, Broken> {
        let [id, x, y, ..] = words else { return Err(Broken::at(line, "a node has at least id, x and y")) };
        let coordinate =
            |word: &str| number(word).ok_or_else(|| Broken::at(line, format!("{} is no coordinate", shown(word))));
        let place = Some(Place::Plane { x: coordinate(x)?, y: coordinate(y)? });
        Ok(Self { line, id: (*id).to_string(), label: String::new(), place })
    }
}

/// An edge as it is in a file.
#[derive(Debug, Default)]
struct FoundEdge {
    line: usize,
    from: String,
    to: String,
    name: Option<String>,
    rate: Option<Rate>,
    /// Why the value that is written for a rate is none.
    rate_fault: Option<String>,
    /// The free text from which the rate was guessed.
    guessed_from: Option<String>,
    delay: Option<Time>,
    weight: Option<Weight>,
    is_directed: bool,
}

impl FoundEdge {
    /// Takes the value that is written for a rate, or notes its fault.
    fn set_rate(&mut self, rate: Result<Option<Rate>, String>) {
        match rate {
            Ok(rate) => self.rate = rate,
            Err(fault) => self.rate_fault = Some(fault),
        }
    }
}

/// The contents of a file.
#[derive(Debug, Default)]
struct Found {
    /// Empty if the format has no list of nodes: the nodes are then those of the edges.
    nodes: Vec<FoundNode>,
    edges: Vec<FoundEdge>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// A format.
struct Format {
    name: &'static str,
    /// Endings of file names.
    endings: &'static [&'static str],
    /// Whether a text is in this format.
    is_it: fn(&str) -> bool,
    parse: fn(&str) -> Result<Found, Broken>,
}

/// The formats. A text that looks like a format is read as such; otherwise the ending of the name
/// decides.
const FORMATS: &[Format] = &[
    Format { name: "GraphML", endings: &["graphml", "xml"], is_it: graphml::is_it, parse: graphml::parse },
    Format { name: "BRITE", endings: &["brite"], is_it: brite::is_it, parse: brite::parse },
    Format { name: "tiers", endings: &["tiers"], is_it: tiers_output::is_it, parse: tiers_output::parse },
    Format { name: "GML", endings: &["gml"], is_it: gml::is_it, parse: gml::parse },
    Format { name: "CSV", endings: &["csv", "tsv", "edges"], is_it: edge_list::is_it, parse: edge_list::parse },
];

/// The names of the formats.
pub fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name)
}

/// Reads the topology in `bytes`; `file` is its name, for its ending and for messages. Returns the
/// name of its format and the graph.
///
/// # Errors
/// One line that begins with the file's name: the fault, and its line.
pub fn read(bytes: &[u8], file: &str, options: &Options) -> Result<(&'static str, Graph), String> {
    let told = |broken: Broken| {
        let place = broken.line.map_or(String::new(), |line| format!(":{line}"));
        // The message is one line, whatever the file contains.
        let message = broken.message.split(char::is_whitespace).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        format!("{file}{place}: {}", message.join(" "))
    };
    let (text, warning) = encoding::text(bytes).map_err(told)?;
    let text = text.as_str();
    let ending = file.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
    let by_text = FORMATS.iter().find(|format| (format.is_it)(text));
    let format = by_text.or_else(|| FORMATS.iter().find(|format| format.endings.contains(&ending.as_str())));
    let Some(Format { name, parse, .. }) = format else {
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(told(Broken::whole(format!("a topology in an unknown format; there are {known}"))));
    };
    let read = |mut found: Found| {
        found.warnings.splice(0..0, warning);
        finish(found, options)
    };
    let graph = parse(text).and_then(read).map_err(told)?;
    Ok((name, graph))
}

/// Decides the meaning of the nodes and edges of a file.
fn finish(mut found: Found, options: &Options) -> Result<Graph, Broken> {
    let (warnings, notes) = (std::mem::take(&mut found.warnings), std::mem::take(&mut found.notes));
    let mut graph = Graph { warnings, notes, ..Graph::default() };
    let numbers = nodes(&mut found, &mut graph)?;
    let mut delays = Vec::new();
    let mut names = LinkNames::default();
    // Directed edges still without their reverse, keyed by (from, to).
    let mut one_way: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    let (mut loops, mut merged, mut without_rate) = (Vec::new(), 0, Vec::new());
    let mut rate_faults: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    let mut guesses = Vec::new();
    for edge in &found.edges {
        let end = |id: &String| {
            let strange = || Broken::at(edge.line, format!("an edge leads to {}, and no node has this id", shown(id)));
            numbers.get(id).copied().ok_or_else(strange)
        };
        let (from, to) = (end(&edge.from)?, end(&edge.to)?);
        if from == to {
            loops.push(shown(&edge.from));
            continue;
        }
        // Of the two edges of a directed pair the first represents both; each has one partner.
        if edge.is_directed {
            if one_way.get_mut(&(to, from)).and_then(Vec::pop).is_some() {
                merged += 1;
                continue;
            }
            one_way.entry((from, to)).or_default().push(graph.links.len());
        }
        let rate = edge.rate.map(|rate| LineRate(Some(rate)));
        graph.rates_by_default += usize::from(rate.is_none());
        let name = names.take(edge)?;
        if let Some(fault) = &edge.rate_fault {
            rate_faults.entry(fault).or_default().push(format!("{} in line {}", shown(&name), edge.line));
        } else if rate.is_none() {
            without_rate.push(shown(&name));
        }
        if let (Some(label), Some(rate)) = (&edge.guessed_from, edge.rate) {
            let guess = format!("{} as {rate}", shown(label));
            if guesses.len() <= SHOWN && !guesses.contains(&guess) {
                guesses.push(guess);
            }
            graph.rates_guessed += 1;
        }
        delays.push(edge.delay);
        let (rate, delay) = (rate.unwrap_or(options.rate), options.delay);
        graph.links.push(Edge { name, from, to, rate, delay, weight: edge.weight });
    }
    if graph.nodes.is_empty() {
        return Err(Broken::whole("there is no node in it"));
    }
    let default = options.rate.0.map_or("no limit".to_string(), |rate| rate.to_string());
    if !without_rate.is_empty() {
        let links = count(without_rate.len(), "link");
        graph.notes.push(format!("{links} without a rate given {default}: {}", some(&without_rate)));
    }
    for (fault, links) in rate_faults {
        let links = (count(links.len(), "link"), some(&links));
        graph.warnings.push(format!("{} given {default}, for {fault}: {}", links.0, links.1));
    }
    if !loops.is_empty() {
        graph.warnings.push(format!("{} from a node to itself left out: {}", count(loops.len(), "edge"), some(&loops)));
    }
    if merged > 0 {
        let pairs = if merged == 1 { "is one link" } else { "are one link each" };
        graph.warnings.push(format!("{} of directed edges there and back {pairs}", count(merged, "pair")));
    }
    let mut one_way: Vec<usize> = one_way.into_values().flatten().collect();
    if !one_way.is_empty() {
        one_way.sort_unstable();
        let names: Vec<String> = one_way.iter().map(|link| shown(&graph.links[*link].name)).collect();
        let edges = count(names.len(), "directed edge");
        let go = if names.len() == 1 { "goes" } else { "go" };
        graph.warnings.push(format!("{edges} without one back {go} both ways here: {}", some(&names)));
    }
    if graph.rates_guessed > 0 {
        let links = count(graph.rates_guessed, "link");
        graph.notes.push(format!("the rate of {links} is guessed from labels: {}", some(&guesses)));
    }
    places::set_delays(&mut graph, &delays, options.delay);
    tidy(&mut graph.warnings);
    tidy(&mut graph.notes);
    match graph.warnings.first() {
        Some(warning) if options.is_strict => Err(Broken::whole(format!("{warning} (an error because of strict)"))),
        _ => Ok(graph),
    }
}

/// Makes each warning one line, removes duplicates, and limits their number.
fn tidy(warnings: &mut Vec<String>) {
    const READ: usize = 20;
    let mut seen = BTreeSet::new();
    for warning in warnings.iter_mut() {
        *warning = warning.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    warnings.retain(|warning| seen.insert(warning.clone()));
    let more = warnings.len().saturating_sub(READ);
    if more > 0 {
        warnings.truncate(READ);
        warnings.push(format!("and {more} more"));
    }
}

/// Moves the nodes over; returns their numbers by id.
fn nodes(found: &mut Found, graph: &mut Graph) -> Result<BTreeMap<String, usize>, Broken> {
    let mut numbers = BTreeMap::new();
    let mut lines: Vec<usize> = Vec::new();
    for node in found.nodes.drain(..) {
        let number = graph.nodes.len();
        if node.id.is_empty() {
            return Err(Broken::at(node.line, "a node has no id"));
        }
        if let Some(other) = numbers.insert(node.id.clone(), number) {
            let place =
                if lines[other] == node.line { String::new() } else { format!(" by that of line {}", lines[other]) };
            return Err(Broken::at(
                node.line,
                format!("the id {} of a node is taken{place}; ids are unique", shown(&node.id)),
            ));
        }
        lines.push(node.line);
        let place = node.place.filter(places::is_sound);
        if node.place.is_some() && place.is_none() {
            graph
                .warnings
                .push(format!("the coordinates of {} are none on the globe and are left out", shown(&node.id)));
        }
        graph.nodes.push(Node { name: node.id, label: node.label, place });
    }
    if numbers.is_empty() {
        for id in found.edges.iter().flat_map(|edge| [&edge.from, &edge.to]) {
            if !numbers.contains_key(id) {
                numbers.insert(id.clone(), graph.node(id.clone()));
            }
        }
    }
    Ok(numbers)
}

/// The names of links.
#[derive(Default)]
struct LinkNames {
    taken: BTreeSet<String>,
    /// Number of the next link between two nodes, keyed by `FROM-TO`; lower numbers are taken.
    next: BTreeMap<String, usize>,
}

impl LinkNames {
    /// The file's own name of an edge, or the names of its ends; parallel links are numbered.
    fn take(&mut self, edge: &FoundEdge) -> Result<String, Broken> {
        if let Some(name) = &edge.name {
            if !self.taken.insert(name.clone()) {
                return Err(Broken::at(
                    edge.line,
                    format!("the name {} of a link is taken; names are unique", shown(name)),
                ));
            }
            return Ok(name.clone());
        }
        let mut plain = format!("{}-{}", edge.from, edge.to);
        // In a route a leading - takes a link backwards.
        if plain.starts_with('-') {
            plain = format!("({plain})");
        }
        let mut name = plain.clone();
        let number = self.next.entry(plain.clone()).or_insert(2);
        while !self.taken.insert(name.clone()) {
            name = format!("{plain}.{number}");
            *number += 1;
        }
        Ok(name)
    }
}

/// Refuses a file of several graphs, each with its name and its line: it does not say which one to
/// use.
fn one_graph<'a>(graphs: impl ExactSizeIterator<Item = (&'a str, usize)>) -> Result<(), Broken> {
    let number = graphs.len();
    if number < 2 {
        return Ok(());
    }
    let shown = |(name, line): (&str, usize)| match name {
        "" => format!("one in line {line}"),
        name => format!("{} in line {line}", shown(name)),
    };
    let graphs: Vec<String> = graphs.map(shown).collect();
    Err(Broken::whole(format!("there are {number} graphs in it; leave one of them: {}", some(&graphs))))
}

/// A word of a file, short enough for a message.
fn short(word: &str) -> String {
    let short: String = word.chars().take(40).collect();
    if short.len() < word.len() { short + "…" } else { short }
}

/// A word of a file in quotes.
fn shown(word: &str) -> String {
    format!("`{}`", short(word))
}

/// The number of entries of a list that a message shows.
const SHOWN: usize = 5;

/// The first few of a list, for a message.
fn some(of: &[String]) -> String {
    let few = of.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if of.len() > SHOWN { few + ", …" } else { few }
}

/// "1 edge", "2 edges".
fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// The number in a field of a table of numbers.
fn number(text: &str) -> Option<f64> {
    figures::plain(text).ok()?.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// A rate from a number of bits per second, rounded; `None` if it is out of range.
fn rate_of(bit_per_s: f64) -> Option<Rate> {
    // A float-to-integer cast saturates and turns NaN into zero.
    Rate::new((bit_per_s + 0.5) as u64).filter(|_| bit_per_s > 0.0)
}

/// A rate from a number of bits per second that is written as `said`; an error if it is out of
/// range.
fn rate_said(bit_per_s: f64, said: &str) -> Result<Option<Rate>, String> {
    let fault = || format!("a rate is above zero and at most {}, unlike {}", Rate::MAX, shown(said));
    rate_of(bit_per_s).map(Some).ok_or_else(fault)
}

/// A delay from a number of seconds; `None` if it is negative or longer than a scenario may have.
fn delay_of(seconds: f64) -> Option<Time> {
    let time = Time::from_s_f64(seconds);
    (seconds >= 0.0 && time.0 <= u64::MAX / 4).then_some(time)
}
