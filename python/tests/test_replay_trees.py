"""`fairq replay` and `fairq audit` of trees of classes with a queue in each leaf."""

from collections import deque

import pyarrow.parquet as pq
import pytest

from fairq import api

LINE = ("--rate", "250kbit/s", "--buffer", "unlimited", "--no-fluid")
CS1 = 8
"""The code point of half of the packets of netflix.pcap; the others have none."""


def strict(*leaves):
    """Strict priority of what carries CS1, with these leaves."""
    queues = ", ".join(f'"{leaf}"' for leaf in leaves)
    places = [0 if point == CS1 else 1 for point in range(64)]
    return f"ets(strict=2, quanta=[], map={places}, queues=[{queues}])"


@pytest.fixture
def netflix(data):
    return data / "captures" / "netflix.pcap"


def rows(folder):
    return pq.read_table(folder / "packets.parquet").to_pylist()


def replayed(document, capture, tree, out, *more):
    """The rows of the packets in their order in the capture, and the report of the tree."""
    found = document("replay", capture, *LINE, "--queue", tree, "--out", out, *more)
    (folder,) = [path for path in out.iterdir() if path.is_dir()]
    return sorted(rows(folder), key=lambda row: row["packet"]), found["disciplines"][0]


def by_hand(packets, most, rate):
    """Another implementation: two FIFOs with a limit each, the first goes first."""
    waiting, free, fates = (deque(), deque()), 0, {}

    def serve(until):
        nonlocal free
        while any(waiting) and free <= until:
            queue = waiting[0] or waiting[1]
            number, length = queue.popleft()
            free += length * 8 * 10**12 // rate
            fates[number] = free

    for number, (arrival, length, band) in enumerate(packets):
        # A transmission that ends now makes room after the packet has arrived.
        serve(arrival - 1)
        if not any(waiting) and free <= arrival:
            free = arrival + length * 8 * 10**12 // rate
            fates[number] = free
        elif len(waiting[band]) < most[band]:
            waiting[band].append((number, length))
        else:
            fates[number] = None
    serve(10**30)
    return fates


def test_leaves_have_limits_of_their_own(document, netflix, tmp_path):
    marked, _ = replayed(document, netflix, "fifo", tmp_path / "all", "--classifier", "tos")
    packets = [(row["arrival_ps"], row["bytes"], 0 if row["flow"] == f"dscp {CS1}" else 1) for row in marked]
    assert {band for _, _, band in packets} == {0, 1}
    tree, report = replayed(document, netflix, strict("fifo + 4packets", "fifo + 9packets"), tmp_path / "tree")
    expected = by_hand(packets, (4, 9), 250_000)
    assert [row["departure_ps"] for row in tree] == [expected[row["packet"]] for row in tree]
    assert report["dropped"] == sum(fate is None for fate in expected.values()) > 0


@pytest.mark.parametrize("leaf", ["fq_codel", "linux_sfq + 127packets", "codel", "fifo + 20packets"])
def test_a_tree_of_one_class_is_its_leaf(document, netflix, tmp_path, leaf):
    """A class that nothing holds back serves its leaf as an htb class of Linux does."""
    tree = f'htb(classes=[(name=all, rate=1Gbit/s, queue="{leaf}")])'
    of_tree, report = replayed(document, netflix, tree, tmp_path / "tree")
    alone, other = replayed(document, netflix, leaf, tmp_path / "alone", "--under", "class")
    assert [row["departure_ps"] for row in of_tree] == [row["departure_ps"] for row in alone]
    assert (report["dropped"], report["overtakes"]) == (other["dropped"], other["overtakes"])


def test_what_a_leaf_says_it_dropped_are_the_drops_of_its_flows(document, netflix):
    tree = (
        'htb(classes=[(name=a, rate=100kbit/s, dscp=[8], queue="fq_codel + 20packets"), '
        '(name=b, rate=100kbit/s, queue="fifo + 9packets")], default=b)'
    )
    found = document("replay", netflix, *LINE, "--queue", tree, "--classifier", "tos")
    (both,) = found["disciplines"]
    drops = {row["flow"]: row["dropped"] for row in both["flows"]}
    states = {(row["subqueue"], row["quantity"]): row["value"] for row in both["states"]}
    assert drops == {"dscp 8": states["a", "dropped"], "dscp 0": states["b", "dropped"]}
    assert min(drops.values()) > 0 and sum(drops.values()) == both["dropped"]


def test_the_table_of_states_has_a_row_for_each_leaf(fairq, netflix):
    status, out, _ = fairq("replay", netflix, *LINE, "--queue", strict("fq_codel", "fifo + 9packets"), "--states")
    table = out.partition("States of ets(")[2]
    assert status == 0 and "band0" in table and "band1" in table


def test_flows_are_shown_below_a_long_name_that_is_cut(fairq, netflix):
    tree = strict("fq_codel", "fifo")
    line = ("replay", netflix, *LINE, "--classifier", "pair", "--queue", f"fifo,{tree}")
    status, out, _ = fairq(*line)
    (head,) = [line for line in out.splitlines() if line.startswith("flow  ")]
    assert status == 0 and "…" in head and len(head) < 120
    assert tree in fairq(*line, "--wide")[1]


@pytest.mark.parametrize(
    "tree",
    [
        'htb(classes=[(name=a, rate=1Mbit/s, dscp=[8], queue="fq_codel"), (name=b, rate=1Mbit/s, queue="linux_sfq")])',
        'hfsc(classes=[(name=a, link_share=(m2=1Mbit/s), queue="fq_codel"), (name=b, link_share=(m2=1Mbit/s))])',
        'ets(strict=1, quanta=[3028B, 1514B], map=[2, 2, 1, 1, 0, 0, 0, 0], queues=["fifo + 9packets", "fq_codel"])',
        'drr(classes=[(name=a, quantum=1514B, queue="linux_sfq"), (name=b, quantum=3028B)], default=b)',
        'token_bucket(rate=1Mbit/s, burst=9kB, queue="fq_codel")',
    ],
    ids=lambda tree: tree.partition("(")[0],
)
def test_a_tree_with_leaves_keeps_the_invariants(tree):
    found = api.audit(tree, seeds=1)
    assert found.passed, [row["message"] for row in found.violations]
    assert next(row for row in found.laws if row["law"] == "conservation")["checks"] > 1000


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        ('htb(classes=[(name=a, rate=1Mbit/s, queue="fq_codl")])', "fq_codl"),
        ('htb(classes=[(name=a, rate=1Mbit/s, queue="fifo"), (name=a, rate=1Mbit/s)])', "a"),
    ],
)
def test_a_leaf_that_cannot_be_is_one_line(refused, netflix, tree, line):
    assert line in refused("replay", netflix, *LINE, "--queue", tree)
    assert line in refused("audit", tree, "--quick")
