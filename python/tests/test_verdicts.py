"""The rules by which a published number is judged, tried on what an independent simulation gave."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from fairq.verdicts import Interval, Published, interval, judge, rank, read_published

DATA = Path(__file__).parent / "data"
CLASSES = {"order": "undecided"}


def cell(text, quantity="throughput", flag="printed"):
    return Published("1", "G/FQ", quantity, "1", text, flag)


@pytest.mark.parametrize(
    ("text", "quantity", "tolerance"),
    [
        ("1746", "throughput", 87.3),
        ("10", "dropped", 3.0),
        ("0", "retransmitted", 3.0),
        ("0.083", "rtt", 0.00415),
        ("0.08", "rtt", 0.005),
        ("870", "rtt", 43.5),
        ("9", "rtt", 0.5),
    ],
)
def test_the_tolerance_is_five_percent_or_the_least_of_its_kind(text, quantity, tolerance):
    assert cell(text, quantity).tolerance == pytest.approx(tolerance)


def test_the_prediction_interval_is_that_of_one_further_run():
    measured = interval([1.0, 2.0, 3.0])
    assert measured.mean == pytest.approx(2.0)
    assert measured.high == pytest.approx(2.0 + 4.3027 * 1.0 * (4 / 3) ** 0.5, abs=1e-3)
    assert interval([5.0]) == Interval(5.0, 5.0, 5.0)
    assert interval([None, None, 5.0]) == Interval(None, None, None)


def test_a_dash_agrees_with_nothing_delivered():
    dash = cell("", "rtt")
    assert judge(dash, Interval(None, None, None), by_hand=False, is_telnet=False) == "agrees"
    assert judge(dash, Interval(1.0, 1.0, 1.0), by_hand=False, is_telnet=False) == "differs"
    assert judge(cell("", "rtt", "unreadable"), Interval(1, 1, 1), by_hand=True, is_telnet=False) == "unreadable"


def test_interchangeable_sources_meet_rank_by_rank():
    published = {"P": {"throughput": {"1": 10.0, "2": 30.0, "3": 20.0}}}
    run = {"P": {"throughput": {"1": 31.0, "2": 11.0, "3": 21.0}}}
    assert rank(published, run, "P", [("1", "2", "3")]) == {"1": "2", "2": "1", "3": "3"}
    assert rank(published, run, "P", []) == {"1": "1", "2": "2", "3": "3"}
    equal = {"P": {"throughput": {"1": 5.0, "2": 5.0, "3": 5.0}}}
    assert rank(equal, equal, "P", [("3", "2", "1")]) == {"1": "1", "2": "2", "3": "3"}


ON_THE_EDGE = ("3", "G/FQ", "throughput", "2")
"""Half its interval is 34.1 by rounded ends and the limit 34.11: its class hangs on digits that are not written."""


def test_the_rules_give_the_classes_of_the_independent_simulation(demers1990):
    with (DATA / "demers1990_independent.csv").open(newline="") as file:
        theirs = {(row["scenario"], row["policy"], row["quantity"], row["source"]): row for row in csv.DictReader(file)}
    odd, counts = [], Counter()
    for cell in read_published(demers1990.folder / "published.csv"):
        row = theirs[cell.scenario, cell.policy, cell.quantity, cell.source]
        # a printed dash: their interval is over the few seeds that delivered anything
        ends = [float(row[k]) if cell.text and row[k] else None for k in ("mean", "low", "high")]
        telnet = cell.source in demers1990.compare.TELNETS[cell.scenario]
        verdict = judge(cell, Interval(*ends), by_hand=demers1990.compare.is_undecided(cell), is_telnet=telnet)
        counts[row["class"]] += 1
        key = (cell.scenario, cell.policy, cell.quantity, cell.source)
        if verdict != CLASSES.get(row["class"], row["class"]) and key != ON_THE_EDGE:
            odd.append((key, row["class"], verdict))
    assert odd == []
    assert counts == {"agrees": 519, "order": 139, "differs": 8, "unreadable": 14}


def test_every_claim_is_true_of_the_published_run(demers1990):
    runs = {}
    for cell in read_published(demers1990.folder / "published.csv"):
        runs.setdefault(cell.scenario, {}).setdefault(cell.policy, {}).setdefault(cell.quantity, {})[cell.source] = (
            cell.value
        )
    assert len(demers1990.compare.CLAIMS) == 35
    untrue = [(c.policy, c.text) for c in demers1990.compare.CLAIMS if not c.holds(runs[c.scenario])]
    assert untrue == []
