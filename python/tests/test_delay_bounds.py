"""Parekh and Gallager's bounds: known answers, what is refused, and the simulator below them and near to them."""

import pytest

from fairq.core.inputs import Text
from fairq.core.runs import Experiment
from fairq.theories.delay_bounds import Hop, pgps

TEN = Hop(rate=1e6, share=1e5, largest=1000)


@pytest.mark.parametrize(("hops", "delay"), [(1, 0.101), (4, 0.134)])
def test_a_burst_of_ten_packets_waits_as_long_as_is_known(hops, delay):
    assert pgps(10_000, 1000, [TEN] * hops).delay == pytest.approx(delay)


@pytest.mark.parametrize("hops", [1, 2, 7])
def test_with_equal_shares_it_is_the_bound_as_printed(hops):
    burst, packet, share = 12_345, 800, 4e4
    lines = [Hop(rate=1e6 * (k + 1), share=share, largest=12_000) for k in range(hops)]
    printed = (burst + (hops - 1) * packet) / share + sum(12_000 / line.rate for line in lines)
    assert pgps(burst, packet, lines).delay == pytest.approx(printed)


def test_a_line_of_ones_own_adds_the_time_to_send_a_packet():
    alone = Hop(rate=1e6, share=1e6, largest=0, propagation=0.5)
    assert pgps(10_000, 1000, [TEN, alone]).delay == pytest.approx(0.101 + 0.001 + 0.5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pgps(10_000, 1000, []),
        lambda: pgps(999, 1000, [TEN]),
        lambda: pgps(float("inf"), 1000, [TEN]),
        lambda: pgps(10_000, 0, [TEN]),
        lambda: pgps(10_000, 1000, [TEN], rate=100_001),
        lambda: pgps(10_000, 1000, [Hop(rate=1e6, share=2e6, largest=0)]),
        lambda: pgps(10_000, 1000, [Hop(rate=1e6, share=0, largest=0)]),
        lambda: pgps(10_000, 1000, [Hop(rate=1e6, share=1e5, largest=-1)]),
    ],
)
def test_what_has_no_bound_is_refused(call):
    with pytest.raises(ValueError):
        call()


FLOW = """
[[flows]]
name = "{name}"
from = "{source}"
to = "{sink}"
traffic = "{traffic}"
weight = {weight}
access = {{ rate = "unlimited" }}
sink_access = {{ rate = "unlimited" }}
"""


def simulated(folder, queue, hops, bursts, weight=1, length=1500):
    """The worst delay of a flow that sends `bursts` of ten packets of 125 B beside flows that always have packets of
    `length` waiting.

    Lines of 1 Mbit/s; every line has nine others of its own, of weight 1 each, there from the first instant on.
    """
    others = 9
    nodes = [f"n{k}" for k in range(hops + 1)]
    rows = [f"{start:.6f},burst,125" for start in bursts for _ in range(10)]
    for k in range(others):
        rows += [f"0,other {k},{length}"] * (300_000 // length)
    (folder / "packets.csv").write_text(
        "time,flow,bytes\n" + "\n".join(sorted(rows, key=lambda row: float(row.split(",")[0])))
    )
    text = 'edition = 1\n[measure]\nduration = "30 s"\n[defaults]\nstart = "0 s"\nqueue = "' + queue + '"\n'
    for k in range(hops):
        text += f'[[links]]\nname = "line {k}"\nfrom = "n{k}"\nto = "n{k + 1}"\nrate = "1 Mbit/s"\n'
    text += FLOW.format(
        name="burst", source=nodes[0], sink=nodes[-1], traffic="csv(file=packets.csv, flow=burst)", weight=weight
    )
    for hop in range(hops):
        for k in range(others):
            traffic = f"csv(file=packets.csv, flow=other {k})"
            text += FLOW.format(
                name=f"other {hop}.{k}", source=f"n{hop}", sink=f"n{hop + 1}", traffic=traffic, weight=1
            )
    document = Experiment(Text(text, str(folder / "x.toml"))).run(1).document
    return next(row for row in document["flows"] if row["flow"] == "burst")["delay_s_max"]


@pytest.mark.parametrize("queue", ["wfq", "wf2q", "wf2q_plus"])
@pytest.mark.parametrize("hops", [1, 3])
@pytest.mark.parametrize("weight", [1, 3])
def test_no_simulated_delay_is_above_the_bound(tmp_path, queue, hops, weight):
    share = 1e6 * weight / (9 + weight)
    bursts = [0.0, 0.4137, 1.1093, 1.7001]
    bound = pgps(10_000, 1000, [Hop(1e6, share, 12_000)] * hops).delay
    assert simulated(tmp_path, queue, hops, bursts, weight) < bound


@pytest.mark.parametrize("length", [125, 1250])
def test_at_one_node_the_simulated_delay_comes_near_the_bound(tmp_path, length):
    """The burst comes just after others have begun packets that finish before its last one in the fluid."""
    bound = pgps(10_000, 1000, [Hop(1e6, 1e5, 8 * length)]).delay
    worst = simulated(tmp_path, "wfq", 1, [1e-6], length=length)
    assert 0.9 * bound < worst <= bound


def test_fifo_has_no_such_bound(tmp_path):
    assert simulated(tmp_path, "fifo", 1, [0.5]) > 10 * pgps(10_000, 1000, [Hop(1e6, 1e5, 12_000)]).delay
