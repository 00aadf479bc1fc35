//! The peculiarities of topology files: defaults, encodings, declarations, directions, labels.

use fairq_experiment::topology::file::Options;
use fairq_experiment::topology::file::{usual_delay, usual_rate};
use fairq_experiment::topology::{Graph, Place};
use fairq_sched::units::{Rate, Time};
use fairq_topologies::format;

const LENIENT: Options = Options { rate: usual_rate(), delay: usual_delay(), is_strict: false };

fn read(text: impl AsRef<[u8]>, file: &str) -> Graph {
    let text = text.as_ref();
    match format::read(text, file, &LENIENT) {
        Ok((_, graph)) => graph,
        Err(error) => panic!("{error}\n{}", String::from_utf8_lossy(text)),
    }
}

fn refused(text: impl AsRef<[u8]>, file: &str) -> String {
    let text = text.as_ref();
    format::read(text, file, &LENIENT).map(|_| ()).expect_err(&String::from_utf8_lossy(text))
}

/// The links, each with its rate in bit/s and its delay in microseconds.
fn links(graph: &Graph) -> Vec<(String, u64, u64)> {
    let rate = |link: &fairq_experiment::topology::Edge| link.rate.0.map_or(0, Rate::bit_per_s);
    graph.links.iter().map(|link| (link.name.clone(), rate(link), link.delay.0 / 1_000_000)).collect()
}

fn labels(graph: &Graph) -> Vec<&str> {
    graph.nodes.iter().map(|node| node.label.as_str()).collect()
}

/// One of the files in which these faults were found.
fn case(file: &str) -> Option<Vec<u8>> {
    let folder = fairq_testkit::real::folder("cases", "no file with a fault was read")?;
    Some(std::fs::read(folder.join(file)).expect("a file that is there"))
}

/// GraphML with these keys, and these nodes and edges in an undirected graph.
fn graphml(keys: &str, elements: &str) -> String {
    format!(
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n{keys}\n<graph edgedefault=\"undirected\">\n{elements}\n</graph></graphml>"
    )
}

const PAIR: &str = "<node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\"/>";

fn pair(rate: u64, delay_us: u64) -> Vec<(String, u64, u64)> {
    vec![("a-b".to_string(), rate, delay_us)]
}

/// A key and its default.
fn key(kind: &str, name: &str, default: &str) -> String {
    format!("<key id=\"{kind}-{name}\" for=\"{kind}\" attr.name=\"{name}\"><default>{default}</default></key>")
}

#[test]
fn the_default_of_a_key_comes_before_ours() {
    if let Some(bytes) = case("graphml_defaults.graphml") {
        let graph = read(bytes, "x.graphml");
        let right = [("a-b".to_string(), 10_000_000, 5000), ("b-c".to_string(), 2_000_000, 5000)];
        assert_eq!((links(&graph).as_slice(), graph.rates_by_default, graph.warnings.len()), (&right[..], 0, 0));
    }
    let both = |kind: &str| key(kind, "rate", "3 Mbit/s") + &key(kind, "delay", "<!-- two -->2<?x y?> ms");
    assert_eq!(links(&read(graphml(&both("edge"), PAIR), "x.graphml")), pair(3_000_000, 2000));
    assert_eq!(links(&read(graphml(&both("all"), PAIR), "x.graphml")), pair(3_000_000, 2000));
    assert_eq!(
        links(&read(graphml(&both("edge").replace(" for=\"edge\"", ""), PAIR), "x.graphml")),
        pair(3_000_000, 2000)
    );
    // A key for nodes does not apply to edges.
    assert_eq!(links(&read(graphml(&both("node"), PAIR), "x.graphml")), pair(1_000_000_000, 1000));
    let edge = |data: &str| format!("<node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\">{data}</edge>");
    let own = "<key id=\"r\" for=\"edge\" attr.name=\"rate_bit_per_s\"/>".to_string();
    let data = |key: &str, said: &str| edge(&format!("<data key=\"{key}\">{said}</data>"));
    // Its own data comes before the default of its key, and before that of a key whose name is
    // looked for first.
    assert_eq!(
        links(&read(graphml(&both("edge"), &data("edge-rate", "7 Mbit/s")), "x.graphml")),
        pair(7_000_000, 2000)
    );
    let raw = key("edge", "LinkSpeedRaw", "5000") + &both("edge");
    assert_eq!(links(&read(graphml(&raw, &data("edge-rate", "7 Mbit/s")), "x.graphml")), pair(7_000_000, 2000));
    assert_eq!(links(&read(graphml(&(own + &both("edge")), &data("r", "8000")), "x.graphml")), pair(8000, 2000));
    // Empty data is data.
    assert_eq!(links(&read(graphml(&both("edge"), &data("edge-rate", "")), "x.graphml")), pair(1_000_000_000, 2000));
    // A part of a value may be a default.
    let units = key("edge", "LinkSpeedUnits", "M") + &key("edge", "LinkSpeed", "");
    let graph = read(graphml(&units, &data("edge-LinkSpeed", "34")), "x.graphml");
    assert_eq!((links(&graph), graph.warnings.len()), (pair(34_000_000, 1000), 1), "{:?}", graph.warnings);
    // For nodes too: labels and places.
    let keys = key("node", "label", "City") + &key("node", "Latitude", "10") + &key("node", "Longitude", "0");
    let nodes = "<node id=\"a\"/><node id=\"b\"><data key=\"node-Longitude\">4</data></node>";
    let graph = read(graphml(&keys, nodes), "x.graphml");
    let place = |longitude| Some(Place::Globe { latitude: 10.0, longitude });
    assert_eq!((labels(&graph), graph.nodes[0].place, graph.nodes[1].place), (vec!["City"; 2], place(0.0), place(4.0)));
    // An invalid default is reported like a written value.
    let graph = read(graphml(&key("edge", "rate", "fast"), PAIR), "x.graphml");
    assert!(graph.warnings[0].contains("unlike `fast`"), "{:?}", graph.warnings);
}

#[test]
fn letters_are_those_of_the_declared_encoding() {
    for file in ["latin1_declared.graphml", "utf16.graphml"] {
        if let Some(bytes) = case(file) {
            let graph = read(bytes, file);
            assert_eq!(labels(&graph), ["München", "Köln"], "{file}");
        }
    }
    let document = |encoding: &str, label: &str| {
        let key = "<key id=\"l\" for=\"node\" attr.name=\"label\"/>";
        let text = graphml(key, &format!("<node id=\"a\"><data key=\"l\">{label}</data></node>"));
        format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>\n{text}")
    };
    let wide = |text: String| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let narrow = |text: String, letters: &[(char, u8)]| {
        let byte = |c: char| letters.iter().find(|(letter, _)| *letter == c).map_or(c as u8, |(_, byte)| *byte);
        text.chars().map(byte).collect::<Vec<u8>>()
    };
    for (bytes, label) in [
        (document("UTF-8", "Łódź").into_bytes(), "Łódź"),
        (wide("\u{feff}".to_string() + &document("UTF-16", "東京")), "東京"),
        (wide(document("UTF-16", "東京")), "東京"),
        (narrow(document("windows-1252", "€"), &[('€', 0x80)]), "€"),
        (narrow(document("iso-8859-2", "Łódź"), &[('Ł', 0xa3), ('ó', 0xf3), ('ź', 0xbc)]), "Łódź"),
        (narrow(document("koi8-r", "Мир"), &[('М', 0xed), ('и', 0xc9), ('р', 0xd2)]), "Мир"),
    ] {
        let graph = read(&bytes, "x.graphml");
        assert_eq!((labels(&graph), graph.warnings.len()), (vec![label], 0), "{:?}", graph.warnings);
    }
    // A letter that is lost, or guessed, is a warning, and with strict an error, in any format.
    let lost = narrow(document("UTF-8", "ü"), &[('ü', 0xfc)]);
    assert_eq!(read(lost, "x.graphml").warnings, ["letters that are not UTF-8 are lost, the first in line 5"]);
    let guessed = narrow("from,to,rate,delay\nKöln,b,1 Mbit/s,1 ms\n".to_string(), &[('ö', 0xf6)]);
    let graph = read(&guessed, "x.csv");
    assert_eq!(links(&graph)[0].0, "Köln-b");
    let warning = "line 2 is not UTF-8 and no encoding is named; the file is read as windows-1252";
    assert_eq!(graph.warnings, [warning]);
    let strict = format::read(&guessed, "x.csv", &Options { is_strict: true, ..LENIENT });
    assert_eq!(strict.expect_err("strict"), format!("x.csv: {warning} (an error because of strict)"));
    let unknown = refused(document("EBCDIC-CP-US", "a"), "x.graphml");
    assert_eq!(unknown, "x.graphml:1: the encoding `EBCDIC-CP-US` is not known here; save the file as UTF-8");
    // An edge list as spreadsheets write it.
    let wide = "\u{feff}from\tto\nMünchen\tKöln\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    assert_eq!(read(wide, "x.txt").nodes[0].name, "München");
}

#[test]
fn a_doctype_is_no_fault_and_its_entities_are_letters() {
    if let Some(bytes) = case("doctype.graphml") {
        assert_eq!(read(bytes, "doctype.graphml").links.len(), 1);
    }
    let rate = "<key id=\"r\" for=\"edge\" attr.name=\"rate\"/>";
    let with = |doctype: &str, said: &str| {
        let edge = format!(
            "<node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\"><data key=\"r\">{said}</data></edge>"
        );
        format!("<?xml version=\"1.0\"?>\n<!-- a map -->\n<!DOCTYPE graphml {doctype}>\n{}", graphml(rate, &edge))
    };
    let entity = "[\n<!ENTITY unit \"Mbit/s\">\n<!ENTITY ten '10 &unit;'><!ENTITY ten '11'>]";
    assert_eq!(links(&read(with(entity, "10 &unit;"), "x.graphml"))[0].1, 10_000_000);
    assert_eq!(links(&read(with(entity, "&ten;"), "x.graphml"))[0].1, 10_000_000);
    assert_eq!(
        links(&read(with("PUBLIC \"-//x//DTD\" 'http://example.org/x.dtd' []", "1&#48; Mbit/s"), "x.graphml"))[0].1,
        10_000_000
    );
    let graph = read(with("[<!ATTLIST edge directed CDATA \"true\">]", "10 Mbit/s"), "x.graphml");
    assert!(graph.warnings[0].contains("1 list of attributes in the DOCTYPE left out"), "{:?}", graph.warnings);
    let bomb = "ha".to_string();
    let levels =
        (0..9).map(|at| format!("<!ENTITY e{} \"{}\">", at + 1, format!("&e{at};").repeat(10))).collect::<String>();
    for (doctype, said, place) in [
        (
            "[\n<!ENTITY x SYSTEM \"file:///etc/passwd\">]".to_string(),
            "&x;",
            "x.graphml:4: the entity `x` stands in another file",
        ),
        ("[<!ENTITY % x SYSTEM 'x.dtd'> %x;]".to_string(), "1", "x.graphml:3: the entity `x` stands in another file"),
        ("SYSTEM 'x.dtd'".to_string(), "&x;", "x.graphml:7: the file does not say what &x; is"),
        (format!("[<!ENTITY e0 \"{bomb}\">{levels}]"), "&e9;", "x.graphml:7: entities like `e9` make more than"),
        (
            format!("[<!ENTITY x \"{}\">]", "y".repeat(99_999)),
            &"&x;".repeat(50),
            "x.graphml:7: entities like `x` make more than",
        ),
        ("[<!ENTITY x \"&x;\">]".to_string(), "&x;", "x.graphml:3: an entity holds itself"),
    ] {
        let error = refused(with(&doctype, said), "x.graphml");
        assert!(error.starts_with(place) && error.len() < 200, "{error}");
    }
}

#[test]
fn comments_and_instructions_hide_nothing() {
    let keys =
        "<!-- <key id=\"r\" for=\"edge\" attr.name=\"delay\"/> --><key id=\"r\" for=\"edge\" attr.name=\"rate\"/>";
    let edge = |said: &str| {
        format!(
            "<?x <node id=\"c\"/>?><node id=\"a\"/><!-- <node id=\"b\"/> --><node id=\"b\"/><edge source=\"a\" target=\"b\"><data key=\"r\">{said}</data></edge>"
        )
    };
    for said in [
        "<!-- ten -->10 Mbit/s",
        "<?ten?>10 Mbit/s",
        "10<!-- ten --> Mbit/s<?ten?>",
        "<![CDATA[10 ]]>Mbit/s",
        "\n  <!-- 1 Mbit/s --> 10 Mbit/s <!-- -->\n",
    ] {
        let graph = read(graphml(keys, &edge(said)), "x.graphml");
        assert_eq!((graph.nodes.len(), links(&graph)[0].1), (2, 10_000_000), "{said}");
    }
    let before = format!("<!-- a map -->\n<?xml-stylesheet href=\"a\"?>\n{}", graphml(keys, &edge("10 Mbit/s")));
    assert_eq!(links(&read(before, "x.txt"))[0].1, 10_000_000);
    // Elements within the data of another program are not part of the graph.
    let other = graphml(
        "<key id=\"r\" for=\"node\" yfiles.type=\"nodegraphics\"/>",
        "<node id=\"a\"><data key=\"r\"><y:g xmlns:y=\"y\"><node id=\"a\"/><edge/></y:g></data></node>",
    );
    assert_eq!(read(other, "x.graphml").nodes.len(), 1);
    // Also in the formats that are detected by their first words.
    let gml = "# a map\ngraph # of two\n[ # nodes\nnode [ id 0 # first\n] node [ id 1 ] edge [ source 0 target 1 ] ]";
    assert_eq!(read(gml, "x.txt").links.len(), 1);
    let brite = "# a map\n\nTopology: ( 2 Nodes, 1 Edges )\nNodes: ( 2 )\n0 1 1 1 1 -1 RT\n# second\n1 2 2 1 1 -1 RT\nEdges: ( 1 )\n0 0 1 1 1 10 -1 -1 E U\n";
    assert_eq!(links(&read(brite, "x.txt"))[0].1, 10_000_000);
    assert_eq!(read("# a map\n\n  # of two\nfrom,to\n# first\na,b\n", "x.txt").links.len(), 1);
}

#[test]
fn a_file_of_several_graphs_is_refused_and_names_them() {
    let graph = |id: &str| format!("<graph {id} edgedefault=\"undirected\">{PAIR}</graph>\n");
    let two = format!("<graphml>\n{}{}</graphml>", graph("id=\"east\""), graph(""));
    let said = "there are 2 graphs in it; leave one of them: `east` in line 2, one in line 3";
    assert_eq!(refused(two, "x.graphml"), format!("x.graphml: {said}"));
    let many = format!("<graphml>{}</graphml>", graph("").repeat(7));
    assert!(refused(many, "x.graphml").ends_with("one in line 5, …"));
    let gml = |label: &str| format!("graph [ {label}\nnode [ id 0 ] ]\n");
    let said = "there are 2 graphs in it; leave one of them: `west` in line 1, one in line 3";
    assert_eq!(refused(gml("label \"west\"") + &gml(""), "x.gml"), format!("x.gml: {said}"));
    // Graphs within nodes are parts of one.
    let nested = format!(
        "<node id=\"n\"><graph edgedefault=\"directed\">{PAIR}</graph></node><node id=\"m\"/><edge source=\"n\" target=\"m\"/>"
    );
    let nested = read(graphml("", &nested), "x.graphml");
    assert_eq!((nested.nodes.len(), nested.links.len()), (4, 2));
    let commented = format!("<graphml><!-- {} -->{}</graphml>", graph(""), graph(""));
    assert_eq!(read(commented, "x.graphml").links.len(), 1);
}

#[test]
fn an_edge_s_own_direction_comes_before_that_of_its_graph() {
    if let Some(bytes) = case("directed_each.graphml") {
        assert_eq!(read(bytes, "x.graphml").links.len(), 1);
    }
    let edge = |ends: [&str; 2], more: &str| format!("<edge source=\"{}\" target=\"{}\" {more}/>", ends[0], ends[1]);
    let read_as = |default: &str, edges: &[String]| {
        let nodes = "<node id=\"a\"/><node id=\"b\"/>".to_string();
        read(graphml("", &(nodes + &edges.concat())).replace("undirected", default), "x.graphml")
    };
    let (there, back) = (["a", "b"], ["b", "a"]);
    for (default, first, second, links) in [
        ("undirected", "", "", 2),
        ("undirected", "directed=\"true\"", "directed=\"1\"", 1),
        ("undirected", "directed=\"true\"", "", 2),
        ("directed", "", "", 1),
        ("directed", "directed=\"false\"", "", 2),
        ("directed", "", "directed=\"0\"", 2),
        ("directed", "", "directed=\" true \"", 1),
    ] {
        let graph = read_as(default, &[edge(there, first), edge(back, second)]);
        assert_eq!(graph.links.len(), links, "{default} {first} {second}");
    }
    // Each edge has one partner; an edge without one is reported.
    let one = edge(there, "");
    let graph = read_as("directed", &[one.clone(), one.clone(), edge(back, ""), one]);
    assert_eq!(graph.links.len(), 3);
    assert_eq!(
        graph.warnings[..2],
        [
            "1 pair of directed edges there and back is one link",
            "2 directed edges without one back go both ways here: `a-b`, `a-b.3`"
        ]
    );
    let graph = read_as("undirected", &[edge(there, "directed=\"yes\"")]);
    assert_eq!(graph.warnings[0], "directed is true or false, unlike `yes` in line 4");
    // In the other formats that have directions.
    let gml = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] edge [ source 1 target 0 ] directed 1 ]";
    assert_eq!(read(gml, "x.gml").links.len(), 1);
    let brite = |direction: &str| {
        let edges = format!("0 0 1 1 1 10 -1 -1 E {direction}\n1 1 0 1 1 10 -1 -1 E {direction}\n");
        read(format!("Topology:\nNodes: ( 2 )\n0 1 1\n1 2 2\nEdges: ( 2 )\n{edges}"), "x.brite").links.len()
    };
    assert_eq!((brite("D"), brite("U"), brite("")), (1, 2, 2));
    assert_eq!(read("Source,Target,Type\na,b,Directed\nb,a,directed\n", "x.csv").links.len(), 1);
    assert_eq!(read("Source,Target,Type\na,b,Undirected\nb,a,Undirected\n", "x.csv").links.len(), 2);
}

#[test]
fn an_edge_list_is_parted_by_what_gives_every_row_as_many_fields() {
    let graph = case("semicolon_no_heading.csv").map(|bytes| read(bytes, "x.csv"));
    if let Some(graph) = graph {
        let nodes: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(nodes, ["a", "b", "c"]);
        assert_eq!(links(&graph)[0], ("a-b".to_string(), 10_000_000, 2500));
        assert_eq!(graph.notes, ["fields are parted by `;`; `,` would give every line as many fields too"]);
    }
    let graph = read("\"Paris, FR\";\"Lyon, FR\";10 Mbit/s;5 ms\n", "x.csv");
    assert_eq!((graph.nodes[0].name.as_str(), graph.notes.len()), ("Paris, FR", 0));
    let error = refused("a;b;1 Mbit/s\nb\n", "x.csv");
    assert_eq!(error, "x.csv:2: a link has no to");
}

#[test]
fn what_is_guessed_from_a_label_is_a_note() {
    if let Some(bytes) = case("labels.gml") {
        let graph = read(bytes, "labels.gml");
        let rates: Vec<u64> = links(&graph).iter().map(|(_, rate, _)| *rate).collect();
        assert_eq!((rates, graph.rates_guessed), (vec![10_000_000_000, 100_000_000_000, 100_000_000_000], 3));
        let said = "the rate of 3 links is guessed from labels: `10 Gigabit Ethernet` as 10 Gbit/s, `Ethernet 100G` as \
                    100 Gbit/s, `100 Gigabit` as 100 Gbit/s";
        assert_eq!(graph.notes, [said]);
    }
    let of = |fields: &str| {
        let text = format!("graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 delay \"1 ms\" {fields} ] ]");
        let graph = read(&text, "x.gml");
        // A note is no error, whatever strict says.
        assert!(format::read(text.as_bytes(), "x.gml", &Options { is_strict: true, ..LENIENT }).is_ok(), "{text}");
        (links(&graph)[0].1, graph.notes.join("; "))
    };
    let guessed = |label: &str, rate: &str| format!("the rate of 1 link is guessed from labels: `{label}` as {rate}");
    for (label, rate, said) in [
        ("1,000 Mbit/s", 1_000_000_000, "1 Gbit/s"),
        ("OC-192c", 9_953_280_000, "9953280 kbit/s"),
        ("Ethernet", 10_000_000, "10 Mbit/s"),
        ("Gigabit Ethernet, 100 Mbit/s", 100_000_000, "100 Mbit/s"),
    ] {
        assert_eq!(of(&format!("LinkLabel \"{label}\"")), (rate, guessed(label, said)));
    }
    // In any of the fields.
    let of_type = guessed("fibre, 10G", "10 Gbit/s");
    assert_eq!(of("LinkLabel \"Ethernet\" LinkType \"fibre, 10G\""), (10_000_000_000, of_type));
    // A field of rates is no free text; a link without a rate is reported too.
    assert_eq!(of("rate \"OC-3\" label \"10G\""), (155_520_000, String::new()));
    assert_eq!(of("LinkSpeedRaw 5000"), (5000, String::new()));
    assert_eq!(of("label \"dark fibre\""), (1_000_000_000, "1 link without a rate given 1 Gbit/s: `0-1`".to_string()));
}

/// Any of these took minutes when lines, places or names were searched from the start each time.
#[test]
fn large_files_take_no_more_than_their_length() {
    let nodes = 20_000;
    let mut elements = String::new();
    for node in 0..nodes {
        elements += &format!("<node id=\"{node}\">\n<data key=\"x\">1</data></node>\n");
    }
    for node in 1..nodes {
        elements += &format!("<edge source=\"{}\" target=\"{node}\"/>\n", node / 2);
    }
    assert_eq!(read(graphml("", &elements), "x.graphml").links.len(), nodes - 1);
    // A chain of which one end has a place.
    let mut chain = "graph [ node [ id 0 Latitude 1 Longitude 2 ]\n".to_string();
    for node in 1..nodes {
        chain += &format!("node [ id {node} ] edge [ source {} target {node} ]\n", node - 1);
    }
    let chain = read(chain + "]", "x.gml");
    assert!(chain.links.iter().all(|link| link.delay == Time::ZERO), "all stand in one place");
    // Many links between the same two nodes.
    let parallel = read("from,to\n".to_string() + &"a,b\n".repeat(nodes), "x.csv");
    assert_eq!(parallel.links[nodes - 1].name, format!("a-b.{nodes}"));
}
