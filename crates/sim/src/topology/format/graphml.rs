//! GraphML (Brandes and others, 2002): XML whose `key` elements say what the `data` of nodes and edges mean.
//!
//! The ids of keys differ from file to file; what counts is their `attr.name`. Nested graphs, ports and hyperedges
//! are beyond a network of links: nodes of nested graphs are taken, hyperedges are left out with a warning.

use super::attributes::Attributes;
use super::{Broken, Found, FoundEdge, FoundNode};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

pub(super) fn is_it(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with('<') && (start.contains("<graphml") || start.contains(":graphml"))
}

pub(super) fn parse(text: &str) -> Result<Found, Broken> {
    let document =
        Document::parse(text).map_err(|error| Broken::at(error.pos().row as usize, format!("not XML: {error}")))?;
    let line = |node: &Node<'_, '_>| document.text_pos_at(node.range().start).row as usize;
    let root = document.root_element();
    let key = |node: Node<'_, '_>| {
        let name = node.attribute("attr.name").or_else(|| node.attribute("yfiles.type"));
        Some((node.attribute("id")?.to_string(), name?.to_string()))
    };
    let keys: BTreeMap<String, String> =
        root.children().filter(|node| node.has_tag_name("key")).filter_map(key).collect();
    let Some(graph) = root.children().find(|node| node.has_tag_name("graph")) else {
        return Err(Broken::whole("not GraphML: there is no graph element"));
    };
    let mut found = Found { is_directed: graph.attribute("edgedefault") == Some("directed"), ..Found::default() };
    let mut hyperedges = 0;
    for node in graph.descendants().filter(Node::is_element) {
        match node.tag_name().name() {
            "node" => {
                let id = node.attribute("id").unwrap_or_default().trim().to_string();
                let mut new = FoundNode { line: line(&node), id, ..FoundNode::default() };
                attributes(&node, &keys).describe_node(&mut new, &mut found.warnings);
                found.nodes.push(new);
            }
            "edge" => {
                let line = line(&node);
                let end = |name: &str| {
                    let missing = || Broken::at(line, format!("an edge has no {name}"));
                    node.attribute(name).map(|id| id.trim().to_string()).ok_or_else(missing)
                };
                let mut new = FoundEdge { line, from: end("source")?, to: end("target")?, ..FoundEdge::default() };
                attributes(&node, &keys).describe_edge(&mut new, &mut found.warnings);
                found.edges.push(new);
            }
            "hyperedge" => hyperedges += 1,
            _ => {}
        }
    }
    if hyperedges > 0 {
        found.warnings.push(format!("{} left out", super::count(hyperedges, "hyperedge")));
    }
    Ok(found)
}

/// The data of `node`, by the names that the keys give them.
fn attributes<'t>(node: &Node<'t, '_>, keys: &'t BTreeMap<String, String>) -> Attributes<'t> {
    let data = node.children().filter(|child| child.has_tag_name("data"));
    let pair = |data: Node<'t, '_>| Some((keys.get(data.attribute("key")?)?.as_str(), data.text()?));
    Attributes(data.filter_map(pair).collect())
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
        assert_eq!((found.nodes.len(), found.edges.len(), found.is_directed), (2, 1, false));
        let place = super::super::Place::Globe { latitude: 52.5, longitude: 13.4 };
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
            ("<!DOCTYPE a [<!ENTITY b \"&b;\">]><graphml/>", Some(1), "not XML"),
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
