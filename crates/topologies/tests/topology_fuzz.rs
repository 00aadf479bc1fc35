//! No damaged bytes break the reading of a topology. `FAIRQ_TIMES=50` makes the run that many times
//! longer.

use fairq_testkit::mutate::Mutator;
use fairq_testkit::skip::iterations;
use fairq_topologies::fuzz::fuzz_topology;

const GML: &[u8] = b"graph [\n directed 0\n node [\n id 0\n label \"New &#89;ork\"\n Longitude -74.0\n Latitude 40.7\n ]\n \
node [ id 1 label \"x\" graphics [ x 1 y 2 ] ]\n node [ id 2 ]\n edge [ source 0 target 1 LinkLabel \"OC-192c\" ]\n \
edge [ source 1 target 2 LinkSpeed \"10\" LinkSpeedUnits \"G\" weight 2.5 ]\n edge [ source 1 target 0 delay \"1 ms\" ]\n]\n";

const GRAPHML: &[u8] = b"<?xml version=\"1.0\"?><graphml><key id=\"a\" attr.name=\"Latitude\"/><key id=\"b\" \
attr.name=\"Longitude\"/><key id=\"c\" attr.name=\"LinkSpeedRaw\"/><graph edgedefault=\"directed\"><node id=\"n0\">\
<data key=\"a\">52.5</data><data key=\"b\">13.4</data></node><node id=\"n1\"/><edge source=\"n0\" target=\"n1\">\
<data key=\"c\">1e9</data></edge><edge source=\"n1\" target=\"n0\"/><hyperedge/></graph></graphml>";

/// Defaults, a document type, an encoding, directions, comments.
const GRAPHML_RICH: &[u8] = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!-- a --><!DOCTYPE graphml SYSTEM \"a.dtd\" [\n\
<!ENTITY unit \"Mbit/s\"><!ENTITY ten '10 &unit;'><!ATTLIST edge directed CDATA \"true\">]>\n<graphml>\
<key id=\"r\" for=\"edge\" attr.name=\"rate\"><default>&ten;</default></key><key id=\"l\" for=\"all\" \
attr.name=\"label\"><default>1,000 Mbit/s</default></key><graph id=\"G\"><node id=\"M\xfc\"><data key=\"l\"><!-- b -->K\xf6ln\
<?c d?></data><graph edgedefault=\"directed\"><node id=\"n\"/></graph></node><edge directed=\"true\" source=\"M\xfc\" \
target=\"n\"/><edge directed=\"true\" source=\"n\" target=\"M\xfc\"><data key=\"r\">2,5 &unit;</data></edge></graph></graphml>";

const BRITE: &[u8] =
    b"Topology: ( 2 Nodes, 1 Edges )\nModel (1 - RTWaxman): 2 10\n\nNodes: ( 2 )\n0\t1.0\t2.0\t1\t1\t-1\tRT_NODE\n\
1 3 4 1 1 -1 RT_NODE\n\nEdges: ( 1 )\n0\t0\t1\t5.0\t1.5\t10.0\t-1\t-1\tE_RT\tU\n";

const TIERS: &[u8] =
    b"# NODES ( 3 )\n0 1 2 0\n1 3 4 1\n2 5 6 2\n# EDGES\n0 1 25 155 0 1 3\n1 0 25 155 1 0 3\n1 2 1 10 1 2 4\n";

const CSV: &[u8] =
    b"from;to;rate;delay;weight;name\na;\"b \"\"x\"\"\";10 Mbit/s;5 ms;2;first\na;c;OC-3;0.1 ms;;\nb;c\n";

/// Two possible separators, decimal commas and thousands.
const CSV_BARE: &[u8] =
    b"a;\"b, c\";10,5 Mbit/s;2,5 ms;1\n# no row\nc;d;1.000,5 Mbit/s;1,000 ms;2,5\nd;a;1 000 Mbit/s;1'000 ms;\n";

const LABELS: &[u8] = b"graph [ directed 1 node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 LinkLabel \"2 x 10 Gigabit \
Ethernet\" ] edge [ source 1 target 0 LinkLabel \"Ethernet, 1,000 Mbit/s\" ] edge [ source 1 target 0 LinkType \"OC-3 (2.5G) &uuml;\" ] ]";

/// The pieces of the formats, and numbers at the edges of ranges.
const WORDS: &[&[u8]] = &[
    b"graph [",
    b"node [",
    b"edge [",
    b"]",
    b"id ",
    b"source ",
    b"target ",
    b"label ",
    b"Latitude ",
    b"Longitude ",
    b"\"",
    b"directed 1",
    b"<graphml>",
    b"</graphml>",
    b"<graph>",
    b"<node id=\"",
    b"<edge ",
    b"<data key=\"",
    b"&amp;",
    b"&#x110000;",
    b"<!DOCTYPE a>",
    b"<!DOCTYPE graphml [",
    b"<!ENTITY a \"&b;&b;&b;\">",
    b"<!ENTITY b SYSTEM 'c'>",
    b"]>",
    b"&a;",
    b"<default>",
    b"<!--",
    b"-->",
    b"<?",
    b"?>",
    b" directed=\"true\"",
    b"encoding=\"UTF-16\"",
    b"encoding=\"Shift_JIS\"",
    b"\xff\xfe",
    b"\xfe\xff",
    b"graph [ id 1 ]",
    b"&uuml;",
    b"sep=;",
    b"Gigabit",
    b"Ethernet",
    b"10G",
    b"1,000 Mbit/s",
    b"1.000,5",
    b"\xc2\xa0000",
    b"Topology:",
    b"Nodes: ( ",
    b"Edges: ( ",
    b"# NODES",
    b"# EDGES",
    b"from,to",
    b"source;target",
    b"rate",
    b"delay_ms",
    b"bandwidth",
    b"-1",
    b"1e308",
    b"-1e-308",
    b"nan",
    b"inf",
    b"18446744073709551616",
    b"180.0",
    b"-90",
    b"1e9 Tbps",
    b"OC-",
    b" x ",
    b"\n",
    b"\t",
    b",",
    b";",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\0",
    b"#",
];

#[test]
fn no_damage_breaks_the_reading_of_a_topology() {
    damage(0x1997, iterations(20_000));
}

/// Equally many mutants of each format, each with a mutator of its own, so that one can be replayed
/// without those before it.
fn damage(seed: u64, iterations: u64) {
    let wide: Vec<u8> = GRAPHML.iter().flat_map(|letter| [*letter, 0]).collect();
    for (file, whole) in [
        ("a.gml", GML),
        ("labels.gml", LABELS),
        ("a.graphml", GRAPHML),
        ("rich.graphml", GRAPHML_RICH),
        ("wide.graphml", &wide),
        ("a.brite", BRITE),
        ("a.tiers", TIERS),
        ("a.csv", CSV),
        ("bare.csv", CSV_BARE),
    ] {
        fuzz_topology(whole, file);
        let seeds = vec![whole.to_vec()];
        for iteration in 0..iterations {
            let bytes = Mutator::new(seed << 32 | iteration).mutant(&seeds, WORDS);
            if let Err(panic) = std::panic::catch_unwind(|| fuzz_topology(&bytes, file)) {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                eprintln!("{file}: seed {seed:#x}, iteration {iteration}: fuzz_topology panics on\n{text}");
                eprintln!(
                    "replay: cargo test -p fairq-topologies --test topology_fuzz; the text follows from seed and iteration"
                );
                std::panic::resume_unwind(panic);
            }
        }
    }
}
