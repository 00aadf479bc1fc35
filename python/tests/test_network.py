"""A network that is built in Python is the scenario that it prints."""

import math
import sys
from pathlib import Path

import networkx
import pytest

import fairq

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted(ROOT.glob("scenarios/*.toml"))


def two():
    net = fairq.Network(duration="2 s", warm_up="1 s", seed=3, buffer="30 packets")
    return net.link("a", "b", rate="2 Mbit/s", delay="20 ms", queue="fq_codel").flow(
        "a", "b", transport="cubic", count=2
    )


def digests(scenario):
    return [run.digest for run in fairq.experiment(scenario).runs()]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_that_is_read_and_printed_is_the_same(path, tmp_path):
    net = fairq.Network.read(path)
    assert digests(net) == digests(path)
    printed = tmp_path / path.name
    printed.write_text(str(net), encoding="utf-8")
    for beside in path.parent.glob("*.csv"):
        (tmp_path / beside.name).write_bytes(beside.read_bytes())
    assert [run.axes for run in fairq.experiment(printed).runs()] == [run.axes for run in fairq.experiment(path).runs()]
    assert digests(printed) == digests(path)


def test_a_network_is_what_one_would_write(tmp_path):
    written = tmp_path / "written.toml"
    written.write_text("""
        edition = 2
        measure = { duration = "2 s", warm_up = "1 s", seed = 3 }
        defaults = { buffer = "30 packets" }
        links = [{ name = "a-b", from = "a", to = "b", rate = "2 Mbit/s", delay = "20 ms", queue = "fq_codel" }]
        flows = [{ name = "ftp", from = "a", to = "b", traffic = "ftp", transport = "cubic", count = 2 }]
    """)
    assert digests(two()) == digests(written)
    assert [flow.flow for flow in two().run().flows] == ["ftp.1", "ftp.2"]


def test_all_that_takes_a_scenario_takes_a_network():
    net = two()
    assert fairq.run(net).flows[0].goodput_packets > 0
    assert len(fairq.max_min(net)) == 2
    with fairq.live(net) as run:
        assert run.digest


def test_axes_changes_and_words_of_python():
    net = two().axis("queue", ["fifo", "fq"]).change("1 s", link="a-b", rate="1 Mbit/s").flow("a", "b", class_="voice")
    assert net["axes"] == [{"name": "queue", "values": ["fifo", "fq"], "path": "defaults.queue"}]
    assert net["flows"][1]["name"] == "ftp 2" and net["flows"][1]["class"] == "voice"
    assert len(digests(net)) == 2


@pytest.mark.parametrize(
    ("build", "error", "said"),
    [
        (lambda: fairq.Network(durration="1 s"), fairq.UsageError, "did you mean duration?"),
        (lambda: two().link("a", "c", rat="1 Mbit/s"), fairq.UsageError, "Network.link: no such field as rat; did"),
        (lambda: two().link("a", "c", rate="1 Mbit"), fairq.ScenarioError, "link a-c: rate: `1 Mbit`: write"),
        (lambda: two().change("1 s", rate="fast"), fairq.ScenarioError, "network: change at 1 s: rate: `fast`"),
        (lambda: two().flow("a", "b", start="soon"), fairq.ScenarioError, "flow ftp 2: start: "),
        (lambda: two().add("lnk"), fairq.UsageError, "did you mean link?"),
        (lambda: two().link("a", "c", rate={1, 2}), fairq.UsageError, "rate: "),
        (lambda: fairq.Network(duration="soon"), fairq.ScenarioError, "network: measure.duration: `soon`"),
        (lambda: fairq.Network(seed=1.5), fairq.ScenarioError, "network: measure.seed: "),
        (lambda: fairq.Network(buffer="x"), fairq.ScenarioError, "network: defaults.buffer: `x`"),
        (lambda: fairq.Network(routing="x"), fairq.ScenarioError, "network: routing: `x` is not known"),
    ],
)
def test_what_is_wrong_is_said_at_once(build, error, said):
    with pytest.raises(error) as caught:
        build()
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: two().link("b", "c", rate="1 Mbit/s", queue="fq_codell"), "network: link b-c: queue: `fq_codell` is"),
        (lambda: two().link("b", "c"), "network: link b-c: rate is missing"),
        (lambda: two().flow("a", "z"), "network: flow ftp 2: to: no link leads to a node called z"),
        (lambda: two().axis("mine", [1]), "network: axis mine: values[0]: write"),
        # a change has no name: it is called by its time
        (lambda: two().change("1 s", link="zz", rate="1 Mbit/s"), "network: change at 1 s: link: no link is called zz"),
    ],
)
@pytest.mark.parametrize("function", [fairq.run, fairq.live, fairq.Network.run, fairq.experiment])
def test_what_is_wrong_when_it_is_run_has_the_names_of_links_and_flows(build, said, function):
    with pytest.raises(fairq.ScenarioError) as caught:
        function(build())
    assert str(caught.value).startswith(said)


def test_a_file_that_is_read_is_the_place_of_its_errors(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(str(two()).replace("fq_codel", "fq_codell"), encoding="utf-8")
    with pytest.raises(fairq.ScenarioError, match=r"mine\.toml: link a-b: queue: `fq_codell`"):
        fairq.Network.read(path).run()


def test_a_graph_goes_there_and_back():
    net = two().link("b", "c", rate="unlimited").link("b", "a", rate="1 Mbit/s").add("node", name="b", role="core")
    net.positions = {"a": (0.0, 1.0)}
    graph = net.to_networkx()
    assert sorted(graph.nodes) == ["a", "b", "c"] and graph.nodes["a"]["pos"] == (0.0, 1.0)
    assert graph.edges["a", "b", "a-b"]["rate_bit_per_s"] == 2e6
    assert graph.edges["a", "b", "a-b"]["delay_s"] == 0.02
    assert graph.edges["b", "c", "b-c"]["rate_bit_per_s"] == math.inf
    back = fairq.Network.from_networkx(graph)
    by_name = [sorted(each["links"], key=lambda link: link["name"]) for each in (net, back)]
    assert by_name[0] == by_name[1]
    assert back["nodes"] == net["nodes"] and back.positions == net.positions


def test_attributes_of_edges_by_name():
    graph = networkx.path_graph(["a", "b", "c"])
    networkx.set_edge_attributes(graph, "3 ms", "latency")
    net = fairq.Network.from_networkx(graph, rate="5 Mbit/s", delay="latency", duration="1 s").flow("a", "c")
    assert [(link["rate"], link["delay"]) for link in net["links"]] == [("5 Mbit/s", "3 ms")] * 2
    assert fairq.run(net).flows[0].goodput_packets > 0
    assert len(fairq.Network.from_networkx(graph.to_directed(), rate="5 Mbit/s")["links"]) == 2


def looped():
    graph = networkx.Graph()
    graph.add_edge("a", "a", rate="1 Mbit/s")
    return graph


def one_way(*back):
    graph = networkx.DiGraph()
    graph.add_edge("a", "b", rate="1 Mbit/s")
    for rate in back:
        graph.add_edge("b", "a", rate=rate)
    return graph


def plain_number():
    graph = networkx.Graph()
    graph.add_edge("a", "b", rate=10)
    return graph


def test_a_directed_graph_of_equal_sides_is_links_and_of_unequal_ones_none():
    assert fairq.Network.from_networkx(one_way("1 Mbit/s"))["links"] == [
        {"name": "a-b", "from": "a", "to": "b", "rate": "1 Mbit/s"}
    ]
    with pytest.raises(fairq.UsageError, match=r"differs from the edge back.*to_undirected.*reverse_rate"):
        fairq.Network.from_networkx(one_way("2 Mbit/s"))
    # the remedy that the message names
    graph = one_way("2 Mbit/s").to_undirected()
    graph.edges["a", "b"].update(rate="1 Mbit/s", reverse_rate="2 Mbit/s")
    (link,) = fairq.Network.from_networkx(graph)["links"]
    assert (link["rate"], link["reverse_rate"]) == ("1 Mbit/s", "2 Mbit/s")
    # two links each way are two links, and two forth and one back are none
    several = networkx.MultiDiGraph()
    for a, b in (("a", "b"), ("b", "a"), ("a", "b"), ("b", "a")):
        several.add_edge(a, b, rate="1 Mbit/s")
    assert [link["name"] for link in fairq.Network.from_networkx(several)["links"]] == ["a-b", "a-b 2"]
    several.remove_edge("b", "a")
    with pytest.raises(fairq.UsageError, match="differs from the edge back"):
        fairq.Network.from_networkx(several)


def test_places_of_nodes_are_kept():
    graph = networkx.path_graph(["a", "b", "c", "d"])
    graph.add_node("a", pos=(1, 2))
    graph.add_node("b", x=3, y=4.5)
    graph.add_node("c", pos="nowhere")
    net = fairq.Network.from_networkx(graph, rate="1 Mbit/s")
    assert net.positions == {"a": (1.0, 2.0), "b": (3.0, 4.5)}
    # layouts give arrays
    networkx.set_node_attributes(graph, networkx.circular_layout(graph), "pos")
    net = fairq.Network.from_networkx(graph, rate="1 Mbit/s")
    assert sorted(net.positions) == ["a", "b", "c", "d"]
    assert net.to_networkx().nodes["c"]["pos"] == net.positions["c"]
    assert "positions" not in str(net)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (networkx.path_graph(["a", "b"]), "edge a-b: has no attribute rate"),
        (networkx.path_graph(2), "node 0 is no text"),
        (looped(), "edge a-a: a link has two nodes"),
        (one_way(), "edge a-b: has no edge back"),
        (one_way("2 Mbit/s"), "edge a-b: differs from the edge back"),
        (plain_number(), "a number without a unit"),
        (3, "int: no graph of networkx"),
    ],
)
def test_a_graph_that_is_no_network_is_refused_in_a_line(graph, said):
    with pytest.raises(fairq.UsageError) as caught:
        fairq.Network.from_networkx(graph)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_without_networkx_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(fairq.UsageError, match="pip install networkx"):
        two().to_networkx()
