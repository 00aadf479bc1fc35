"""The comparison with ns-2 and ns-3, as far as it can be tested without them."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).resolve().parents[2] / "tests" / "peers"


@pytest.fixture(scope="module", autouse=True)
def _modules():
    sys.path.insert(0, str(PEERS))
    yield
    sys.path.remove(str(PEERS))


@pytest.mark.parametrize(("freedom", "expected"), [(1, 12.706), (2, 4.303), (9, 2.262), (18, 2.101), (120, 1.980)])
def test_students_quantile_is_that_of_the_tables(freedom, expected):
    import welch

    assert welch.quantile(0.975, freedom) == pytest.approx(expected, abs=5e-4)


def test_the_interval_covers_a_difference_in_95_of_100():
    import welch

    draw, covered = random.Random(1), 0
    for _ in range(400):
        peer = [draw.gauss(100, 3) for _ in range(10)]
        ours = [draw.gauss(102, 9) for _ in range(10)]
        found = welch.compare(peer, ours)
        covered += abs(found.ours - found.peer - 2) <= found.half
    assert 366 <= covered <= 394


@pytest.mark.parametrize(
    ("peer", "ours", "verdict"),
    [
        ([100, 101, 99, 100], [104, 105, 103, 104], "same"),
        ([100, 101, 99, 100], [110, 111, 109, 110], "differs"),
        ([100, 101, 99, 100], [80, 140, 100, 60], "undecided"),
        ([100, 101, 99, 100], [90, 150, 120, 150], "undecided"),
        ([7, 7], [7, 7], "same"),
        ([0, 0], [0, 0], "same"),
        ([0, 0], [1, 1], "differs"),
    ],
)
def test_a_difference_counts_beyond_the_tolerance_and_the_interval(peer, ours, verdict):
    import welch

    assert welch.compare(peer, ours).verdict == verdict


def test_points_come_in_the_order_of_the_axes():
    import compare

    axes = [
        {"name": "a", "group": "g", "values": [{"name": "1"}, {"name": "2"}]},
        {"name": "b", "values": [{"name": "x"}, {"name": "y"}]},
        {"name": "c", "group": "g", "values": [{"name": "I"}, {"name": "II"}]},
    ]
    together = [{"a": "1", "c": "I"}, {"a": "2", "c": "II"}]
    expected = [{**one, "b": b} for one in together for b in "xy"]
    assert compare.points_of({"axes": axes}) == expected


def test_jains_index_is_one_for_the_ideal_and_one_over_n_for_one_winner():
    import quantities

    assert quantities.fairness([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert quantities.fairness([5, 0, 0, 0], [1, 1, 1, 1]) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("script", "options", "said"),
    [
        ("compare.py", [], "compare: ns-2 is not installed (there is no program ns): apt-get install ns2"),
        ("compare.py", ["--peer", "ns3"], "compare: ns-3 cannot be built (there is no g++): apt-get install"),
        ("compare.py", ["--scenarios", "dumbell"], "compare: dumbell: there is no such scenario"),
        ("compare.py", ["--seeds", "1"], "compare: --seeds 1: an interval needs at least 2 runs"),
        ("speed.py", [], "speed: ns-2 is not installed (there is no program ns): apt-get install ns2"),
        ("speed.py", ["--rounds", "0"], "speed: --rounds 0: at least 1"),
    ],
)
def test_what_is_missing_is_said_in_one_line(script, options, said, tmp_path):
    environment = {**os.environ, "PATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, str(PEERS / script), *options], capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.startswith(said)
    assert run.stderr.count("\n") == 1
