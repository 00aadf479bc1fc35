"""The blocks of the pages on networks in Python run, and show what they say."""

import re
from pathlib import Path

import fairq

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def ran(page):
    """What the blocks of a page define."""
    found = {}
    for block in PYTHON.findall((GUIDE / page).read_text(encoding="utf-8")):
        exec(compile(block, page, "exec"), found)
    return found


def test_the_page_of_networks_builds_them():
    found = ran("network-in-python.md")
    assert found["delays"]["fq_codel", "call"] < found["delays"]["fifo", "call"] / 2
    assert found["back"].number_of_edges() == 4
    assert fairq.run(found["ring"]).flows[0].goodput_packets > 0


def test_what_users_of_other_simulators_write_runs():
    (flow,) = ran("from-other-simulators.md")["flows"]
    assert flow.transport.startswith("newreno") and flow.goodput_packets > 1000


def test_the_names_in_the_tables_are_known():
    base = {"rate": "10 Mbit/s", "delay": "20 ms", "loss": 0.01}
    for queue in ("fifo", "drr", "linux_sfq", "fq_codel", "fq_pie", "red", "codel", "pie", "wf2q_plus"):
        net = fairq.Network(buffer="50 packets").link("a", "b", queue=queue, **base).flow("a", "b", weight=2)
        assert fairq.experiment(net).runs(), queue
    for transport in ("newreno", "cubic", "bbr"):
        for profile in ("ns-2", "ns-3"):
            net = fairq.Network(connection=profile).link("a", "b", **base).flow("a", "b", transport=transport)
            assert fairq.experiment(net).runs(), (transport, profile)
    assert fairq.experiment(fairq.Network(topology="dumbbell(hosts=4)").flow("l1", "r1")).runs()
