"""The buffers' paper: what its short run judges, and that its measures say what they should."""

from __future__ import annotations

import pytest

import fairq
from fairq.papers.papers import load

compare = load("buffers").compare


def test_the_short_run_judges_the_mixed_scenario_and_the_schedule() -> None:
    done = fairq.reproduce("buffers", quick=True)
    assert {row["item"] for row in done.rows} == {"mixed", "schedule", "claim"}
    assert "5 seeds (quick: fewer scenarios)" in done.report
    claims = {row["quantity"]: row["verdict"] for row in done.rows if row["item"] == "claim"}
    assert set(claims.values()) == {"agrees"}, claims
    waiting = {row["source"]: row["measured"] for row in done.rows if row["quantity"] == "waiting"}
    # Poisson packets of one length: load² / 2(1 - load) wait.
    for load_of, measured in waiting.items():
        rho = float(load_of)
        assert measured == pytest.approx(rho**2 / (2 * (1 - rho)), rel=0.15)


def test_a_share_is_of_what_the_background_leaves() -> None:
    cell = compare.Point({"1": 10e6, "2": 5e6}, {}, 20e6, 0.0, 0.05, 1.0)
    assert cell.share == pytest.approx(0.5)
