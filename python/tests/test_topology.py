import json
import os
import time
import xml.etree.ElementTree
from pathlib import Path

import pytest
from matplotlib import colors
from matplotlib.backends.backend_agg import FigureCanvasAgg

import fairq
from fairq import figures, topology
from fairq.topologies import maps

TRIANGLE = """graph [
  node [ id 0 label "Here" Latitude 0 Longitude 0 ]
  node [ id 1 label "There" Latitude 0 Longitude 1 ]
  node [ id 2 label "Nowhere" ]
  edge [ source 0 target 1 LinkLabel "10 Gbps" ]
  edge [ source 1 target 2 ]
]
"""


@pytest.fixture
def triangle(tmp_path):
    path = tmp_path / "triangle.gml"
    path.write_text(TRIANGLE)
    return path


def real_maps():
    folder = os.environ.get("FAIRQ_DATA")
    return sorted(Path(folder, "topologies").iterdir()) if folder else []


def test_a_topology_is_counted_and_its_warnings_told(triangle):
    found = fairq.topology(triangle)
    assert (found.nodes, found.links, found.connected, found.parts) == (3, 2, True, 1)
    # a degree of the equator, 111.19 km, at two thirds of the speed of light; the third node stands at the second
    assert found.diameter_s == pytest.approx(0.5564e-3, rel=1e-3)
    assert found.warnings == ["1 node without coordinates placed at the mean of neighbours: `2` (Nowhere)"]
    assert found.notes == ["1 link without a rate given 1 Gbit/s: `1-2`",
                           "the rate of 1 link is guessed from labels: `10 Gbps` as 10 Gbit/s"]  # fmt: skip
    assert [row["rate_bit_per_s"] for row in found.link_table] == [10_000_000_000, 1_000_000_000]
    assert fairq.topology(triangle, default_rate="5 Mbit/s").link_table[1]["rate_bit_per_s"] == 5_000_000
    with pytest.raises(fairq.TopologyError, match=r"triangle.gml: 1 node without coordinates"):
        fairq.topology(triangle, strict=True)


def test_the_command_says_the_same_in_words_and_as_json(fairq, triangle):
    status, out, err = fairq("topology", str(triangle), "--json")
    said = json.loads(out)
    assert (status, err) == (0, "")
    assert {"nodes", "links", "connected", "diameter_s", "warnings", "notes"} <= said.keys() and said["nodes"] == 3
    status, out, err = fairq("topology", str(triangle))
    assert (status, err) == (0, "") and "nodes: 3" in out and "warning: 1 node without" in out
    assert "note: the rate of 1 link is guessed from labels: `10 Gbps` as 10 Gbit/s" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.gml"], "gone.gml: cannot be read"),
        (["triangle.gml", "--strict"], "triangle.gml: 1 node without coordinates"),
        (["triangle.gml", "--default-rate", "5"], "default_rate: `5`: a rate needs a unit"),
        (["triangle.gml", "--default-delay", "x"], "default_delay: `x`"),
        (["triangle.gml", "--out", "map.txt"], "must end in .svg"),
        (["triangle.gml", "--out", "nowhere/map.svg"], "there is no folder"),
        (["twice.gml"], "twice.gml:1: the id `1` of a node is taken"),
        (["words.txt"], "words.txt: a topology in an unknown format; there are"),
        (["strange.gml"], "strange.gml:1: an edge leads to `7`"),
        (["binary.gml"], "binary.gml"),
        (["fattree(k=4)"], "did you mean fat_tree?"),
        (["fattree"], "or a shape that fairq list topologies shows"),
        (["fat_tree(kk=4)"], "topology.kk: no such field of fat_tree; did you mean k?"),
        (["fat_tree(k=3)"], "topology: k is even and at least 2"),
        (["star", "--strict"], "strict: it is for files of topologies"),
        (["gone.toml"], "gone.toml: cannot be read"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(fairq, triangle, monkeypatch, arguments, said):
    monkeypatch.chdir(triangle.parent)
    Path("twice.gml").write_text("graph [ node [ id 1 ] node [ id 1 ] ]")
    Path("words.txt").write_text("hello")
    Path("strange.gml").write_text("graph [ node [ id 1 ] edge [ source 1 target 7 ] ]")
    Path("binary.gml").write_bytes(bytes(range(256)))
    status, out, err = fairq("topology", *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and said in err


def test_a_topology_without_coordinates_is_drawn_too(fairq, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ring.csv").write_text("from,to,rate\n" + "".join(f"n{i},n{(i + 1) % 9},{i + 1} Mbit/s\n" for i in range(9)))
    status, _, err = fairq("topology", "ring.csv", "--out", "ring.svg")
    assert (status, err) == (0, "")
    assert xml.etree.ElementTree.parse("ring.svg").getroot().tag.endswith("svg")


SHAPES = {
    "chain(nodes=7)": (7, 6),
    "dumbbell(hosts=8)": (18, 17),
    "fat_tree(k=4)": (36, 48),
    "leaf_spine(leaves=3, spines=2, hosts=5)": (20, 21),
    "parking_lot(hops=4)": (15, 14),
    "star(hosts=9)": (10, 9),
    "tiers(seed=3)": None,
}


def test_every_shape_is_described_and_drawn(fairq, document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = {entry["name"] for entry in document("list", "topologies")} - {"file"}
    assert {shape.split("(")[0] for shape in SHAPES} == kinds
    for shape, counts in SHAPES.items():
        said = document("topology", shape, "--out", "map.svg")
        assert said["connected"] and (counts is None or (said["nodes"], said["links"]) == counts), shape
        assert xml.etree.ElementTree.parse("map.svg").getroot().tag.endswith("svg")


def test_the_nodes_of_a_shape_stand_apart():
    for shape in SHAPES:
        nodes = fairq.topology(shape).node_table
        places = {(node["x"], node["y"]) for node in nodes}
        # that of tiers has no places, and is spread by springs
        assert len(places) == len(nodes) or places == {(None, None)}, shape


def test_the_network_of_a_scenario_is_its_topology_and_its_links(document, tmp_path):
    path = tmp_path / "net.toml"
    path.write_text("""
    topology = "chain(nodes=3)"
    [[links]]
    name = "more"
    from = "n3"
    to = "home"
    rate = "1 Mbit/s"
    delay = "5 ms"
    """)
    said = document("topology", str(path))
    assert (said["nodes"], said["links"], said["format"]) == (4, 3, "a scenario")


def tree(nodes):
    """An edge list: each node hangs on one of those before it."""
    links = (f"n{at * 7919 % max(at // 2, 1)},n{at},{1 + at * 31 % 97} us\n" for at in range(1, nodes))
    return "from,to,delay\n" + "".join(links)


def test_a_tree_of_20_000_nodes_is_described_at_once_and_drawn(fairq, tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text(tree(20_000))
    began = time.process_time()
    found = topology(path)
    # a search from every node takes 20 s and more
    assert time.process_time() - began < 5
    assert (found.nodes, found.links, found.connected) == (20_000, 19_999, True)
    # without places; all pairs of 2000 nodes would be a tenth of the memory and the time that these are
    path.write_text(tree(4000))
    picture = tmp_path / "tree.png"
    assert fairq("topology", str(path), "--out", str(picture))[0] == 0 and picture.stat().st_size > 1000


def test_the_progress_of_a_topology_is_told_and_stops_it(tmp_path):
    # of a ring all nodes are alike, and each is searched from
    path = tmp_path / "ring.csv"
    path.write_text("from,to\n" + "".join(f"{at},{(at + 1) % 3000}\n" for at in range(3000)))
    told = []
    found = topology(path, progress=lambda *told_now: told.append(told_now))
    assert found.diameter_s == pytest.approx(1.5)
    parts = [part for part, *rest in told if rest == [0.0, 0]]
    assert len(parts) == len(told) > 1 and parts == sorted(parts) and 0 <= parts[0] < parts[-1] <= 1

    def refuse(*_):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        topology(path, progress=refuse)


def test_files_of_other_programs_are_read_as_they_say(fairq, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    key = '<key id="l" for="node" attr.name="label"/>'
    graph = '<graph edgedefault="undirected"><node id="a"><data key="l">München</data></node><node id="b"/>'
    body = f'<graphml>{key}{graph}<edge source="a" target="b"/></graph></graphml>'
    for encoding in ("ISO-8859-1", "UTF-16", "UTF-8"):
        Path("x.graphml").write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>\n{body}'.encode(encoding))
        assert topology("x.graphml").node_table[0]["label"] == "München"
    Path("x.graphml").write_text(f'<!DOCTYPE graphml [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n{body}')
    status, out, err = fairq("topology", "x.graphml")
    assert (status, out) == (2, "") and err.count("\n") == 1 and "the entity `x` stands in another file" in err
    Path("two.gml").write_text("graph [ node [ id 0 ] ]\ngraph [ node [ id 1 ] ]\n")
    status, out, err = fairq("topology", "two.gml")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "there are 2 graphs in it; leave one of them: one in line 1, one in line 2" in err


def test_the_same_map_is_the_same_bytes(fairq, triangle, tmp_path):
    pictures = [tmp_path / name for name in ("a.svg", "b.svg")]
    for picture in pictures:
        assert fairq("topology", str(triangle), "--out", str(picture))[0] == 0
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_no_label_of_a_real_map_touches_another():
    if not real_maps():
        pytest.skip("FAIRQ_DATA does not name the folder of real data")
    for path in real_maps():
        found = fairq.topology(path)
        assert found.nodes > 3 and found.diameter_s > 0
        figure = maps.network(path.stem, found.node_table, found.link_table)
        renderer = FigureCanvasAgg(figure).get_renderer()
        texts = [text for axes in figure.axes for text in axes.texts]
        # without the frame behind them
        boxes = [text.get_window_extent(renderer) for text in texts]
        page = figure.bbox
        assert len(boxes) > 5
        for at, box in enumerate(boxes):
            assert page.x0 <= box.x0 and box.x1 <= page.x1, texts[at].get_text()
            for number, other in enumerate(boxes[:at]):
                beside = box.x1 <= other.x0 + 1 or other.x1 <= box.x0 + 1
                above = box.y1 <= other.y0 + 1 or other.y1 <= box.y0 + 1
                assert beside or above, (path.name, texts[at].get_text(), texts[number].get_text())


def test_the_key_of_a_picture_has_a_line_for_each_rate():
    nodes = [{"label": name, "node": name, "x": at, "y": at % 2, "longitude": None} for at, name in enumerate("abc")]
    links = [{"from": one, "to": other, "rate_bit_per_s": int(rate)} for one, other, rate in ("ab1", "bc2")]
    (axes,) = maps.network("three", nodes, links).axes
    samples = {line.get_color() for line in axes.lines if line.get_marker() == "None"}
    assert samples == set(maps.COLOURS[:2])


@pytest.mark.parametrize(("size", "dark"), [("page", True), ("slide", False), ("paper", True)])
def test_a_map_is_for_a_page_a_slide_or_a_paper(size, dark, fairq, tmp_path):
    style = figures.style(size, dark=dark)
    found = topology("dumbbell(hosts=3)")
    links = [{**link, "rate_bit_per_s": 10**6 * (1 + at % 3)} for at, link in enumerate(found.link_table)]
    figure = maps.network("a map", found.node_table, links, style=style)
    assert colors.to_hex(figure.get_facecolor()) == style.ground
    assert (figure.get_figheight() * 72 == 540) == (size == "slide") and figure.get_figwidth() * 72 <= style.width + 1
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [words.get_window_extent(renderer) for words in figure.axes[0].texts]
    assert all(one.x0 >= 0 and one.x1 <= figure.bbox.x1 and one.y0 >= 0 for one in boxes)
    assert not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[:at])
    words = ["--for", size, *(["--dark"] if dark else []), "--bare"]
    assert fairq("topology", "dumbbell(hosts=3)", "--out", tmp_path / "m.svg", *words)[0] == 0
    assert "diameter" not in (tmp_path / "m.svg").read_text().replace("<!-- diameter", "")
