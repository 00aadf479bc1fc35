"""Every number of every table of all scenarios, and every interval, against its column's range."""

import math
from pathlib import Path

import pytest
from sweep_studies import write_study

import fairq as package
from fairq.core.columns import described
from fairq.studies import summary

ROOT = Path(__file__).resolve().parents[2]

SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
BRIEF = {"measure.warm_up": "2 s", "measure.duration": "8 s"}
"""Less than a scenario says itself, for those that take long."""

LONG = {
    "byte_buffers", "come_and_go", "delta", "outage", "packet_table", "preemption", "refund", "token_bucket",
    "virtual_clock",
}  # fmt: skip
"""Scenarios that are short, or whose flows or changes begin at times of theirs."""


def outside(of, rows):
    """What is outside of its range in the rows of a table."""
    for row in rows:
        for column in described()[of]["columns"]:
            name, most = column["name"], 1 if column["scale"] == "logit" else math.inf
            least = -math.inf if column["scale"] == "plain" else 0
            mean, low, high = (row.get(f"{name}{end}") for end in ("", "_low", "_high"))
            if column["kind"] == "text" or mean is None:
                continue
            if not least <= mean <= most or (low is not None and not least <= low <= mean <= high <= most):
                yield f"{of}.{name}: {mean} in {low} to {high}, of {least} to {most}"
            assert (low is None) == (high is None), (of, name)


def wrong(document):
    """The same of a whole document, and of the rows of each seed."""
    found = []
    for point in document["points"]:
        for part in [point, *point["seeds"]]:
            found += [each for of, rows in part.items() if of in described() for each in outside(of, rows)]
    return found


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_no_value_and_no_interval_is_impossible(scenario):
    given = {"measure.replications": 3, **({} if scenario.stem in LONG else BRIEF)}
    result = package.run(scenario, set=given, workers=1)
    assert wrong(result.document) == []


def test_a_line_that_is_always_busy_is_used_in_full_and_no_more(tmp_path):
    """A packet of 12 ms crosses both ends of the measured time, which is no multiple of it."""
    scenario = tmp_path / "full.toml"
    scenario.write_text(FULL)
    for queue in ("fifo", "fq", "drr"):
        for rate in ("1 Mbit/s", "0.9 Mbit/s..1.1 Mbit/s"):
            found = package.run(scenario, set={"defaults.queue": queue, "links.line.rate": rate})
            assert found.links[0].utilisation == pytest.approx(1, abs=1e-9) and found.links[0].utilisation <= 1


FULL = """
edition = 1

[measure]
warm_up = "100 ms"
duration = "1003 ms"

[[links]]
name = "line"
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"

[[flows]]
name = "blast"
from = "a"
to = "b"
traffic = { kind = "constant_rate", rate = "3 Mbit/s", packet = "1500 B" }
transport = "none"
start = "0 s"
"""


def test_a_throughput_and_its_share_have_one_interval():
    result = package.run(ROOT / "scenarios" / "dumbbell.toml", set={"measure.replications": 3, **BRIEF})
    rows = [row for row in result.flows if row.share_low != row.share_high and row.share < 1]
    assert rows
    for row in rows:
        of = [row[f"goodput_packets{end}"] / row.goodput_packets for end in ("_low", "_high")]
        assert of == pytest.approx([row[f"share{end}"] / row.share for end in ("_low", "_high")], rel=1e-9)


def test_a_study_has_no_impossible_interval_either(tmp_path):
    study = write_study(tmp_path, replications=3, duration="200 ms")
    package.sweep(study)
    results = package.read_store(tmp_path / "study")
    asked = [summary.Quantity(of, each["name"]) for of in summary.KEYS for each in described()[of]["columns"]]
    found = summary.values(results, [each for each in asked if summary._has(each.table, each.column)])
    for quantity, of in found.items():
        assert list(outside(quantity.table, summary.means(of, quantity))) == []
    share, rate = (found[summary.Quantity("flows", name)] for name in ("share", "throughput_bit_per_s"))
    assert share.scale == "logit" and rate.scale == "log"
