//! GraphML (Brandes and others, 2002): XML whose `key` elements define the `data` of nodes and
//! edges.
//!
//! The ids of keys differ from file to file; their `attr.name` is what counts. A key may have a
//! default, which holds where there is no data of that key (GraphML primer, 3.1). Nested graphs,
//! ports and hyperedges are beyond a network of links: nodes of nested graphs are taken, hyperedges
//! are left out with a warning. Two graphs side by side are two networks, and refused.

use super::attributes::Attributes;
use super::{Broken, Found, FoundEdge, FoundNode, doctype, one_graph, shown};
use roxmltree::{Document, Error, Node, ParsingOptions};
use std::collections::BTreeMap;

pub(super) fn is_it(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with('<') && (start.contains("<graphml") || start.contains(":graphml"))
}

pub(super) fn parse(text: &str) -> Result<Found, Broken> {
    let mut found = Found::default();
    found.warnings.extend(doctype::check(text)?);
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| not_xml(&error))?;
    let lines = Lines::of(text);
    let root = document.root_element();
    if !root.has_tag_name("graphml") {
        let name = shown(root.tag_name().name());
        return Err(Broken::at(lines.at(root.range().start), format!("not GraphML: the file is one {name} element")));
    }
    let keys = Keys::of(&root);
    let graphs: Vec<Node<'_, '_>> = root.children().filter(|node| node.has_tag_name("graph")).collect();
    one_graph(graphs.iter().map(|graph| (graph.attribute("id").unwrap_or_default(), lines.at(graph.range().start))))?;
    let Some(graph) = graphs.first() else {
        return Err(Broken::whole("not GraphML: there is no graph element"));
    };
    let mut hyperedges = 0;
    // Elements still to be read, last first, each with the direction of edges in its graph. Graphs
    // within `data` are ignored.
    let mut open = vec![(*graph, false)];
    while let Some((node, mut is_directed)) = open.pop() {
        let line = || lines.at(node.range().start);
        match node.tag_name().name() {
            "graph" => is_directed = node.attribute("edgedefault").is_some_and(|said| said.trim() == "directed"),
            "node" => {
                let id = node.attribute("id").unwrap_or_default().trim().to_string();
                let mut new = FoundNode { line: line(), id, ..FoundNode::default() };
                keys.attributes(&node).describe_node(&mut new, &mut found.warnings);
                found.nodes.push(new);
            }
            "edge" => {
                let line = line();
                let end = |name: &str| {
                    let missing = || Broken::at(line, format!("an edge has no {name}"));
                    node.attribute(name).map(|id| id.trim().to_string()).ok_or_else(missing)
                };
                let mut new = FoundEdge { line, from: end("source")?, to: end("target")?, ..FoundEdge::default() };
                new.is_directed = match node.attribute("directed").map(str::trim) {
                    None => is_directed,
                    Some("true" | "1") => true,
                    Some("false" | "0") => false,
                    Some(said) => {
                        let message = format!("directed is true or false, unlike {} in line {line}", shown(said));
                        found.warnings.push(message);
                        is_directed
                    }
                };
                keys.attributes(&node).describe_edge(&mut new, &mut found.warnings);
                found.edges.push(new);
            }
            "hyperedge" => hyperedges += 1,
            _ => continue,
        }
        open.extend(node.children().rev().filter(Node::is_element).map(|child| (child, is_directed)));
    }
    if hyperedges > 0 {
        found.warnings.push(format!("{} left out", super::count(hyperedges, "hyperedge")));
    }
    Ok(found)
}

/// Why a text is no XML, for a person unfamiliar with entities.
fn not_xml(error: &Error) -> Broken {
    let line = error.pos().row as usize;
    match error {
        Error::UnknownEntityReference(name, _) => {
            let message = format!("the file does not say what &{name}; is; write the letter itself");
            Broken::at(line, message)
        }
        Error::EntityReferenceLoop(_) => {
            Broken::at(line, "an entity holds itself, or too many others; write the text itself")
        }
        _ => Broken::at(line, format!("not XML: {error}")),
    }
}

/// The beginnings of the lines of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    /// The number of the line of the byte `at`.
    fn at(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at) + 1
    }
}

/// The keys: the meaning of the data of nodes and edges.
struct Keys {
    /// By id: the name.
    names: BTreeMap<String, String>,
    /// The defaults: for what, the id, and the text.
    defaults: Vec<(String, String, String)>,
}

impl Keys {
    fn of(root: &Node<'_, '_>) -> Self {
        let mut keys = Self { names: BTreeMap::new(), defaults: Vec::new() };
        for key in root.children().filter(|node| node.has_tag_name("key")) {
            let name = key.attribute("attr.name").or_else(|| key.attribute("yfiles.type"));
            let Some((id, name)) = key.attribute("id").zip(name) else { continue };
            keys.names.insert(id.to_string(), name.trim().to_string());
            if let Some(default) = key.children().find(|node| node.has_tag_name("default")) {
                let kind = key.attribute("for").unwrap_or("all").trim().to_string();
                keys.defaults.push((kind, id.to_string(), text(&default)));
            }
        }
        keys
    }

    /// The data of `node`, by the names of the keys, and the defaults of keys without data.
    fn attributes(&self, node: &Node<'_, '_>) -> Attributes<'_> {
        let data = node.children().filter(|child| child.has_tag_name("data"));
        let own: Vec<(&str, String)> = data.filter_map(|data| Some((data.attribute("key")?, text(&data)))).collect();
        let is_for = |kind: &str| kind == "all" || kind == node.tag_name().name();
        let is_missing =
            |(kind, id, _): &&(String, String, String)| is_for(kind) && own.iter().all(|(own, _)| own != id);
        let name = |id: &str| self.names.get(id).map(String::as_str);
        let defaults = self.defaults.iter().filter(is_missing);
        let defaults = defaults.filter_map(|(_, id, text)| Some((name(id)?, text.as_str().into()))).collect();
        let own = own.iter().filter_map(|(id, text)| Some((name(id)?, text.clone().into()))).collect();
        Attributes { own, defaults }
    }
}

/// The text of an element, without comments and processing instructions in it.
fn text(element: &Node<'_, '_>) -> String {
    element.children().filter(Node::is_text).filter_map(|part| part.text()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="Latitude" attr.type="double" for="node" id="d29" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d32" />
  <key attr.name="label" attr.type="string" for="node" id="d33" />
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d41" />
  <graph edgedefault="undirected">
    <node id="0"><data key="d29">52.5</data><data key="d32">13.4</data><data key="d33">Berlin</data></node>
    <node id="1"><data key="d33">Berlin</data></node>
    <edge source="0" target="1"><data key="d41">155000000.0</data></edge>
    <hyperedge><endpoint node="0"/></hyperedge>
  </graph>
</graphml>"#;

    #[test]
    fn data_are_known_by_the_names_of_their_keys() {
        assert!(is_it(TEXT));
        let Ok(found) = parse(TEXT) else { panic!("it is GraphML") };
        assert_eq!((found.nodes.len(), found.edges.len(), found.edges[0].is_directed), (2, 1, false));
        let place = fairq_experiment::topology::Place::Globe { latitude: 52.5, longitude: 13.4 };
        assert_eq!((found.nodes[0].place, found.nodes[1].place), (Some(place), None));
        assert_eq!((found.nodes[1].label.as_str(), found.nodes[1].line), ("Berlin", 9));
        assert_eq!(found.edges[0].rate.map(|rate| rate.bit_per_s()), Some(155_000_000));
        assert_eq!(found.warnings, ["1 hyperedge left out"]);
    }

    #[test]
    fn what_is_not_graphml_is_said_with_its_line() {
        for (text, line, said) in [
            ("<graphml>\n<graph></grap></graphml>", Some(2), "not XML"),
            ("<graphml></graphml>", None, "no graph element"),
            ("<graphml><graph>\n<edge source=\"a\"/></graph></graphml>", Some(2), "no target"),
            ("<!DOCTYPE a [<!ENTITY b \"&b;\">]>\n<graphml>&b;</graphml>", Some(1), "an entity holds itself"),
            ("<!DOCTYPE a SYSTEM \"b\">\n<graphml>&uuml;</graphml>", Some(2), "does not say what &uuml; is"),
            ("<!DOCTYPE a [\n<!ENTITY b SYSTEM \"c\">]><graphml/>", Some(2), "the entity `b` stands in another file"),
            ("<gexf><graph/></gexf>", Some(1), "the file is one `gexf` element"),
            (
                "<graphml><graph id=\"G\"/>\n<graph/></graphml>",
                None,
                "2 graphs in it; leave one of them: `G` in line 1",
            ),
        ] {
            let Err(broken) = parse(text) else { panic!("{text} is no GraphML") };
            assert!(
                broken.line == line && broken.message.contains(said),
                "{text}: {:?} {}",
                broken.line,
                broken.message
            );
        }
    }
}
