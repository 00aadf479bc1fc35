"""The blocks of the pages on networks in Python run, and show what they say."""

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from test_pages import CONSOLE, PYTHON, TOML, prints_what_it_shows

import fairq
from fairq.cli import program

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"


def page(name):
    """A page of the guide."""
    return (GUIDE / name).read_text(encoding="utf-8")


def ran(name):
    """What the blocks of a page define."""
    found = {}
    for block in PYTHON.findall(page(name)):
        exec(compile(block, name, "exec"), found)
    return found


def test_the_page_of_networks_builds_them():
    found = ran("network-in-python.md")
    assert found["delays"]["fq_codel", "call"] < found["delays"]["fifo", "call"] / 2
    assert found["back"].number_of_edges() == 4
    assert fairq.run(found["ring"]).flows[0].goodput_packets > 0


def test_what_users_of_ns_write_runs():
    found = ran("from-ns.md")
    (flow,) = found["flows"]
    assert flow.transport.startswith("newreno") and flow.goodput_packets > 1000
    assert len(found["measured"].flows) == 4
    assert all(flow.goodput_packets > 0 for flow in found["measured"].flows)


def test_the_scenarios_of_the_pages_run():
    (ns,) = TOML.findall(page("from-ns.md"))
    cbr, voice = fairq.run(tomllib.loads(ns)).flows
    assert cbr.throughput_bit_per_s == pytest.approx(1e6, rel=0.1) and voice.goodput_packets > 0
    (tc,) = TOML.findall(page("from-tc.md"))
    (flow,) = fairq.run(tomllib.loads(tc)).flows
    assert flow.lost > 0


def test_what_users_of_tc_and_dummynet_write_runs():
    found = ran("from-tc.md")
    (flow,) = found["shaped"]
    assert flow.goodput_packets > 500
    assert found["shares"]["first"] == pytest.approx(3 * found["shares"]["second"], rel=0.02)
    assert len(found["goodputs"]) == 2 and min(found["goodputs"]) > 0


def test_the_commands_of_the_pages_print_what_they_show(capsys):
    shown = page("from-tc.md")
    prints_what_it_shows(shown, "tc tc", capsys)
    first, *_ = CONSOLE.findall(shown)
    tc = re.search(r"```sh\n(tc .*?)```", shown, re.DOTALL)[1].replace("tc ", "").strip().replace("\n", "; ")
    assert shlex.split(first[0])[-1] == tc, "the lines above the command are those that it reads"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="emulation needs Linux")
def test_mahimahis_line_is_taken_as_it_is(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FAIRQ_EMULATION", raising=False)
    for trace in ("up.trace", "down.trace"):
        (tmp_path / trace).write_text("1\n", encoding="ascii")
    theirs = re.search(r"^mm-delay 20 mm-link (.*)$", page("from-tc.md"), re.MULTILINE)[1]
    ours = re.search(r"^fairq (mm-link .*)$", page("from-tc.md"), re.MULTILINE)[1]
    assert ours == f"mm-link {theirs} --delay 20ms"
    assert program.main([*shlex.split(ours), "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert "12 Mbit/s  20 ms  100 packets" in printed


def test_the_names_in_the_tables_are_known():
    base = {"rate": "10 Mbit/s", "delay": "20 ms", "loss": 0.01}
    for queue in ("fifo", "drr", "stochastic_fq", "qfq", "fq_codel", "fq_pie", "red", "codel", "pie", "wf2q_plus"):
        net = fairq.Network(buffer="50 packets").link("a", "b", queue=queue, **base).flow("a", "b", weight=2)
        assert fairq.experiment(net).runs(), queue
    for transport in ("newreno", "cubic", "bbr"):
        for profile in ("ns-2", "ns-3"):
            net = fairq.Network(connection=profile).link("a", "b", **base).flow("a", "b", transport=transport)
            assert fairq.experiment(net).runs(), (transport, profile)
    assert fairq.experiment(fairq.Network(topology="dumbbell(hosts=4)").flow("l1", "r1")).runs()


def test_a_path_stays_when_its_link_goes_down():
    net = fairq.Network(duration="4 s")
    for a, b in (("a", "b"), ("a", "c"), ("c", "b")):
        net.link(a, b, rate="10 Mbit/s", delay="1 ms")
    net.flow("a", "b", traffic="constant_rate(rate=1Mbit/s)", start="0 s").change("1 s", link="a-b", up=False)
    result = net.run()
    carried = {row.link: row.packets for row in result.links if row.direction == "forward"}
    assert carried["a-b"] == result.flows[0].goodput_packets > 0
    assert carried["a-c"] == carried["c-b"] == 0


def test_a_refused_pair_says_why():
    net = fairq.Network().link("a", "b", rate="1 Mbit/s", queue="edf + codel").flow("a", "b")
    with pytest.raises(fairq.ScenarioError, match="link a-b: queue: codel judges queues by what waits in them"):
        net.run()
    assert "`edf` | `codel` | codel judges queues" in (GUIDE.parent / "reference" / "refused.md").read_text("utf-8")
