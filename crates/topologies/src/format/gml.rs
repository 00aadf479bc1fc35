//! GML, the Graph Modelling Language (Himsolt, 1997):
//! `graph [ node [ id 0 label "a" ] edge [ source 0 target 1 ] ]`.
//!
//! Keys and values in nested lists. There is no maintained crate for it; the whole grammar is the
//! tokens below.

use super::attributes::Attributes;
use super::{Broken, Found, FoundEdge, FoundNode, one_graph};
use std::borrow::Cow;

/// The greatest depth of nested lists; the format's own never go deeper than four.
const DEPTH_MAX: usize = 64;

pub(super) fn is_it(text: &str) -> bool {
    // What may precede the graph: comments, and pairs like `Creator "…"`. An edge list has no
    // bracket.
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix('#') {
            rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        if let Some(mut after) = rest.strip_prefix("graph") {
            while let Some(comment) = after.trim_start().strip_prefix('#') {
                after = comment.split_once('\n').map_or("", |(_, rest)| rest);
            }
            return after.trim_start().starts_with('[');
        }
        // Skip one `Key value` line of a head.
        let Some((line, after)) = rest.split_once('\n') else { return false };
        let mut words = line.split_whitespace();
        let is_key = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !words.next().is_some_and(is_key) || words.next().is_none() {
            return false;
        }
        rest = after;
    }
}

/// A value with its line.
enum Value<'a> {
    Text(Cow<'a, str>),
    List(Vec<Pair<'a>>),
}

struct Pair<'a> {
    line: usize,
    key: &'a str,
    value: Value<'a>,
}

pub(super) fn parse(text: &str) -> Result<Found, Broken> {
    let pairs = tree(text)?;
    let graphs: Vec<(usize, &Vec<Pair<'_>>)> =
        pairs.iter().filter_map(|pair| Some((pair.line, list(pair, "graph")?))).collect();
    let name = |fields| ["label", "name", "id"].iter().find_map(|name| field(fields, name)).unwrap_or_default();
    one_graph(graphs.iter().map(|(line, fields)| (name(fields), *line)))?;
    let Some((_, graph)) = graphs.first() else { return Err(Broken::whole("not GML: there is no graph [ … ]")) };
    let mut found = Found::default();
    let mut is_directed = false;
    for pair in *graph {
        let warnings = &mut found.warnings;
        match (&pair.value, pair.key.to_ascii_lowercase().as_str()) {
            (Value::Text(text), "directed") => is_directed = text == "1",
            (Value::List(fields), "node") => found.nodes.push(node(pair.line, fields, warnings)?),
            (Value::List(fields), "edge") => found.edges.push(edge(pair.line, fields, warnings)?),
            _ => {}
        }
    }
    // The key `directed` may come after the edges.
    for edge in &mut found.edges {
        edge.is_directed = is_directed;
    }
    Ok(found)
}

fn list<'t, 'a>(pair: &'t Pair<'a>, key: &str) -> Option<&'t Vec<Pair<'a>>> {
    match &pair.value {
        Value::List(list) if pair.key.eq_ignore_ascii_case(key) => Some(list),
        _ => None,
    }
}

fn node(line: usize, fields: &[Pair<'_>], warnings: &mut Vec<String>) -> Result<FoundNode, Broken> {
    let id = field(fields, "id").ok_or_else(|| Broken::at(line, "a node has no id"))?.to_string();
    let mut node = FoundNode { line, id, ..FoundNode::default() };
    let mut attributes = texts(fields);
    // The position in a drawing: graphics [ x 1.0 y 2.0 ].
    attributes.own.extend(fields.iter().filter_map(|pair| list(pair, "graphics")).flat_map(|inner| texts(inner).own));
    attributes.describe_node(&mut node, warnings);
    Ok(node)
}

fn edge(line: usize, fields: &[Pair<'_>], warnings: &mut Vec<String>) -> Result<FoundEdge, Broken> {
    let end = |key: &str| {
        let missing = || Broken::at(line, format!("an edge has no {key}"));
        field(fields, key).map(str::to_string).ok_or_else(missing)
    };
    let mut edge = FoundEdge { line, from: end("source")?, to: end("target")?, ..FoundEdge::default() };
    texts(fields).describe_edge(&mut edge, warnings);
    Ok(edge)
}

fn field<'t>(fields: &'t [Pair<'_>], key: &str) -> Option<&'t str> {
    fields.iter().find_map(|pair| match &pair.value {
        Value::Text(text) if pair.key.eq_ignore_ascii_case(key) => Some(text.trim()),
        _ => None,
    })
}

fn texts<'t>(fields: &'t [Pair<'_>]) -> Attributes<'t> {
    let text = |pair: &'t Pair<'_>| match &pair.value {
        Value::Text(text) => Some((pair.key, Cow::Borrowed(text.as_ref()))),
        Value::List(_) => None,
    };
    Attributes::own(fields.iter().filter_map(text).collect())
}

/// The pairs of the whole file.
fn tree(text: &str) -> Result<Vec<Pair<'_>>, Broken> {
    let mut scanner = Scanner { rest: text, line: 1 };
    // The open lists, each with its line and its key in the enclosing list.
    let mut open: Vec<(usize, &str, Vec<Pair<'_>>)> = vec![(0, "", Vec::new())];
    while let Some((line, token)) = scanner.next()? {
        let depth = open.len();
        let Some((began, _, pairs)) = open.last_mut() else { break };
        match token {
            Token::Close if depth == 1 => return Err(Broken::at(line, "not GML: a ] without its [")),
            Token::Close => {
                if let Some((line, key, pairs)) = open.pop()
                    && let Some((.., around)) = open.last_mut()
                {
                    around.push(Pair { line, key, value: Value::List(pairs) });
                }
            }
            Token::Word(key) if key.starts_with(|c: char| c.is_ascii_alphabetic()) => match scanner.next()? {
                Some((_, Token::Word(value))) => pairs.push(Pair { line, key, value: Value::Text(value.into()) }),
                Some((_, Token::Text(value))) => pairs.push(Pair { line, key, value: Value::Text(value) }),
                Some((_, Token::Open)) if depth > DEPTH_MAX => return Err(Broken::at(line, "lists nest too deeply")),
                Some((line, Token::Open)) => open.push((line, key, Vec::new())),
                Some((line, Token::Close)) => return Err(Broken::at(line, format!("not GML: {key} has no value"))),
                None => {
                    let place =
                        if depth > 1 { format!("; the list of line {began} is not closed") } else { String::new() };
                    return Err(Broken::at(line, format!("not GML: {key} has no value{place}")));
                }
            },
            Token::Word(_) | Token::Text(_) | Token::Open => {
                return Err(Broken::at(line, "not GML: a key is a word of letters before its value"));
            }
        }
    }
    match open.len() {
        1 => Ok(open.pop().map(|(.., pairs)| pairs).unwrap_or_default()),
        _ => {
            let line = open.last().map_or(0, |(line, ..)| *line);
            Err(Broken::at(line, "not GML: this list is not closed; the file is cut off"))
        }
    }
}

enum Token<'a> {
    Open,
    Close,
    /// A key or a number.
    Word(&'a str),
    /// Text in quotes.
    Text(Cow<'a, str>),
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
        taken
    }

    /// The next token and its line.
    fn next(&mut self) -> Result<Option<(usize, Token<'a>)>, Broken> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.take(blank);
            if !self.rest.starts_with('#') {
                break;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end);
        }
        let line = self.line;
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let token = match first {
            '[' => {
                self.take(1);
                Token::Open
            }
            ']' => {
                self.take(1);
                Token::Close
            }
            '"' => {
                self.take(1);
                let Some(end) = self.rest.find('"') else {
                    return Err(Broken::at(line, "not GML: a text is not closed by a quote"));
                };
                let text = self.take(end);
                self.take(1);
                Token::Text(unescaped(text))
            }
            _ => {
                let is_end = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"');
                let end = self.rest.find(is_end).unwrap_or(self.rest.len());
                Token::Word(self.take(end))
            }
        };
        Ok(Some((line, token)))
    }
}

/// Text with GML's entities for letters beyond ASCII replaced.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let entity = after.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest)));
        match entity {
            Some((letter, after)) => {
                plain.push(letter);
                rest = after;
            }
            None => {
                plain.push('&');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "quot" => Some('"'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "apos" => Some('\''),
        _ => match name.strip_prefix('#') {
            Some(number) => number.parse::<u32>().ok().and_then(char::from_u32),
            None => LATIN
                .split_whitespace()
                .position(|letter| letter == name)
                .and_then(|at| char::from_u32(160 + at as u32)),
        },
    }
}

/// The names of the letters of ISO 8859-1 from 160 on (ISO 8879, Added Latin 1 and numeric), which
/// GML takes from HTML.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig \
    Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave \
    Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave \
    iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_values_and_lists_are_read() {
        let text = "# a map\nCreator \"me\"\ngraph [\n directed 0\n node [ id 3 label \"M&#252;nchen &amp; Z&uuml;rich &nbsp;&yuml; &none;\" graphics [ x 1 y 2.5 ] ]\n\
                    node [\n id -1\n label \"two\nlines\" ]\n edge [ source 3 target -1 LinkLabel \"10 Gbps\" ]\n]\n";
        assert!(is_it(text));
        let Ok(found) = parse(text) else { panic!("it is GML") };
        assert_eq!((found.nodes.len(), found.edges.len(), found.warnings.len()), (2, 1, 0));
        assert_eq!(
            (found.nodes[0].id.as_str(), found.nodes[0].label.as_str()),
            ("3", "München & Zürich \u{a0}ÿ &none;")
        );
        assert_eq!(found.nodes[0].place, Some(fairq_experiment::topology::Place::Plane { x: 1.0, y: 2.5 }));
        assert_eq!((found.nodes[1].line, found.edges[0].line), (6, 10));
        assert_eq!(found.edges[0].rate.map(|rate| rate.bit_per_s()), Some(10_000_000_000));
    }

    #[test]
    fn what_is_not_gml_is_said_with_its_line() {
        for (text, line, said) in [
            ("graph [ node [ id 0 ]", Some(1), "not closed"),
            ("graph [\n]\n]", Some(3), "without its ["),
            ("graph [ label \"a", Some(1), "quote"),
            ("graph [\n 3 4 ]", Some(2), "a key is a word"),
            ("graph [ node ]", Some(1), "no value"),
            ("graph", Some(1), "no value"),
            ("graph 3", None, "no graph"),
            ("graph [ node [ label \"a\" ] ]", Some(1), "no id"),
            ("graph [ node [ id 1 ]\n edge [ source 1 ] ]", Some(2), "no target"),
        ] {
            let Err(broken) = parse(text) else { panic!("{text} is no GML") };
            assert!(
                broken.line == line && broken.message.contains(said),
                "{text}: {:?} {}",
                broken.line,
                broken.message
            );
        }
        assert!(parse(&"a [ ".repeat(100_000)).is_err());
    }
}
