"""Files of topologies: GML, GraphML, edge lists in CSV, BRITE and the output of tiers."""

from __future__ import annotations

from fuzzing.drawing import Case, Draw, damaged

NAMES = ("New York", "Köln", "n", "a b", "x", "Genève", "日本", "&amp;")
RATES = (
    "10 Mbit/s",
    "OC-192c",
    "2 x 155 Mbit/s",
    "1e9",
    "10 Gigabit Ethernet",
    "1,000 Mbit/s",
    "STM-16",
    "2,5 Gbps",
    "E3",
)
WORDS = [
    "graph",
    "node",
    "edge",
    "id",
    "source",
    "target",
    "label",
    "Latitude",
    "Longitude",
    "LinkSpeedRaw",
    "directed",
    "key",
    "data",
    "graphml",
    "from",
    "to",
    "rate",
    "delay",
    "weight",
    "default",
    "RT_NODE",
    "E_RT",
]
Edges = list[tuple[int, int]]


def topology(draw: Draw) -> Case:
    """A file, described; sometimes as a picture, or under a scenario."""
    count = 2 + draw.up_to(draw.one((2, 6, 20)))
    edges = [(draw.up_to(at - 1), at) for at in range(1, count)]
    for _ in range(draw.up_to(3)):
        one, other = draw.sample(range(count), 2)
        edges.append((one, other))
    kind = draw.one(list(FORMATS))
    text = damaged(draw, FORMATS[kind](draw, count, edges), WORDS, 0.4)
    content = encoded(draw, text)
    name = f"t.{kind}"
    if draw.chance(0.1):
        scenario = SCENARIO.replace("FILE", name)
        return Case((("topology", "s.toml"), ("run", "s.toml", "--json")), {name: content, "s.toml": scenario.encode()})
    options = draw.some(("--json", "--default-rate=1Gbit/s", "--default-delay=1ms"), 0.3)
    options += draw.some(("--strict", "--out=map.svg"), 0.05)
    return Case((("topology", name, *options),), {name: content})


SCENARIO = """topology = "file(file=FILE)"
measure = { duration = "1 ms" }
[[flows]]
name = "f"
from = "0"
to = "1"
traffic = "ftp"
"""


def encoded(draw: Draw, text: str) -> bytes:
    """The text in one of the encodings that files have."""
    coding = draw.weighted({"utf-8": 20, "utf-8-sig": 1, "utf-16": 1, "cp1252": 1, "latin-1": 1})
    content = text.encode(coding, "replace")
    return content.replace(b"\n", b"\r\n") if draw.chance(0.1) and coding != "utf-16" else content


def gml(draw: Draw, count: int, edges: Edges) -> str:
    """GML, as of the Topology Zoo."""
    lines = [draw.one(("graph [", "Creator x\ngraph\n[", "graph [ # a comment"))]
    lines += draw.some((" directed 0", " directed 1", ' label "x"', " multigraph 1"), 0.2)
    for at in range(count):
        place = f"Latitude {draw.uniform(-90, 90):.4f}\n  Longitude {draw.uniform(-180, 180):.4f}"
        of_node = (f'label "{draw.one(NAMES)} {at}"', place, f"graphics [ x {at} y 2.5 ]", "Internal 1")
        lines.append(f" node [\n  id {at}\n  " + "\n  ".join(draw.some(of_node)) + "\n ]")
    for one, other in edges:
        raw = draw.one(("1e9", "155000000.0", "0", "-1"))
        of_edge = (f'LinkLabel "{draw.one(RATES)}"', f"LinkSpeedRaw {raw}", 'LinkSpeed "10"\n  LinkSpeedUnits "G"',
                   f'delay "{1 + draw.up_to(9)} ms"', "weight 2.5", "key 0")  # fmt: skip
        inner = draw.some(of_edge, 0.3)
        lines.append(f" edge [ source {one} target {other} " + "\n  ".join(inner) + " ]")
    return "\n".join([*lines, "]\n"])


def graphml(draw: Draw, count: int, edges: Edges) -> str:
    """GraphML with keys and defaults."""
    directed = draw.one(("directed", "undirected"))
    default = draw.one(("", "<default>10 Mbit/s</default>", "<default>&r;</default>"))
    speed = draw.one(("rate", "LinkSpeedRaw", "LinkLabel", "bandwidth"))
    doctype = '<!DOCTYPE graphml [<!ENTITY r "1 Mbit/s">]>' if "&r;" in default else ""
    lines = [draw.one(('<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-8"?>', "")), doctype,
             '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
             '<key id="a" for="node" attr.name="Latitude" attr.type="double"/>',
             '<key id="b" for="node" attr.name="Longitude"/>',
             f'<key id="c" for="edge" attr.name="{speed}">{default}</key>',
             '<key id="d" attr.name="delay"/><key id="e" for="all" attr.name="label"/>',
             f'<graph id="G" edgedefault="{directed}">']  # fmt: skip
    for at in range(count):
        place = f'<data key="a">{draw.uniform(-90, 90):.3f}</data><data key="b">{draw.uniform(-180, 180):.3f}</data>'
        name = f'<data key="e">{draw.one(NAMES[:5])} {at}</data>'
        inner = draw.some((place, name, "<!-- x -->", "<desc>y</desc>"), 0.4)
        lines.append(f'<node id="n{at}">{"".join(inner)}</node>')
    for one, other in edges:
        inner = draw.some(
            (f'<data key="c">{draw.one(("1e9", "10 Mbit/s", "155000000"))}</data>', '<data key="d">2 ms</data>'), 0.4
        )
        lines.append(f'<edge source="n{one}" target="n{other}">{"".join(inner)}</edge>')
        if directed == "directed" and draw.chance(0.5):
            lines.append(f'<edge source="n{other}" target="n{one}"/>')
    return "\n".join([*lines, "</graph></graphml>\n"])


def table(draw: Draw, count: int, edges: Edges) -> str:
    """An edge list in CSV."""
    separator = draw.one(",,,;\t")
    columns = ["from", "to", *draw.some(("name", "rate", draw.one(("delay", "delay_ms")), "weight"), 0.5)]
    rows = [columns] if draw.chance(0.9) else []
    for at, (one, other) in enumerate(edges):
        values = {"from": f"n{one}", "to": f"n{other}", "name": f"l{at}", "weight": draw.one(("1", "2.5", "")),
                  "rate": draw.one(("10 Mbit/s", "OC-3", "1 Gbit/s", "1.5 Mbit/s")), "delay": f"{draw.up_to(9)} ms",
                  "delay_ms": str(draw.up_to(9))}  # fmt: skip
        rows.append([draw.one(("{}", "{}", '"{}"')).format(values[column]) for column in columns])
    head = f"sep={separator}\n" if draw.chance(0.1) else ""
    return head + "\n".join(separator.join(row) for row in rows) + "\n"


def brite(draw: Draw, count: int, edges: Edges) -> str:
    """The output of BRITE."""
    gap = draw.one("\t ")
    nodes = [
        gap.join((str(at), f"{draw.up_to(99)}.0", f"{draw.up_to(99)}.0", "1", "1", "-1", "RT_NODE"))
        for at in range(count)
    ]
    ends = []
    for at, (one, other) in enumerate(edges):
        numbers = (at, one, other, 5.0, draw.one((1.5, 0.1, -1)), draw.one((10.0, 155)), -1, -1)
        ends.append(gap.join((*map(str, numbers), "E_RT", draw.one("UUUD"))))
    head = f"Topology: ( {count} Nodes, {len(edges)} Edges )\nModel (1 - RTWaxman): 2 10\n"
    return "\n".join((head, f"Nodes: ( {count} )", *nodes, "", f"Edges: ( {len(edges)} )", *ends, ""))


def tiers(draw: Draw, count: int, edges: Edges) -> str:
    """The output of tiers: each edge there and back."""
    nodes = [f"{at} {draw.up_to(99)} {draw.up_to(99)} {draw.up_to(2)}" for at in range(count)]
    ends = [f"{a} {b} {draw.one((1, 25))} {draw.one((155, 10))} 0 1 {at}" for at, (one, other) in enumerate(edges)
            for a, b in ((one, other), (other, one))]  # fmt: skip
    return "\n".join((f"# NODES ( {count} )", *nodes, "# EDGES", *ends, ""))


FORMATS = {"gml": gml, "graphml": graphml, "csv": table, "brite": brite, "tiers": tiers}
