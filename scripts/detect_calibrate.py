"""Teaches `fairq detect` by drawn worlds, and compares what it says of others with the truth.

    .venv/bin/python scripts/detect_calibrate.py            all of it: about a quarter of an hour
    .venv/bin/python scripts/detect_calibrate.py --judge    keeps the coefficients, judges the held-out worlds anew
    .venv/bin/python scripts/detect_calibrate.py --table    makes table and figure from the held-out rows kept

Writes the coefficients (python/fairq/detection.json), the held-out worlds with what was said of them, the calibration
table and its figure (docs/guide/detect/).
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import detect_worlds
import numpy as np
from matplotlib.figure import Figure

from fairq import detection, evidence, figures
from fairq.tables import text, write_csv

ROOT = Path(__file__).resolve().parents[1]
MODEL = ROOT / "python" / "fairq" / "detection.json"
FOLDER = ROOT / "docs" / "guide" / "detect"

TAUGHT = range(1500)
HELD_OUT = range(100_000, 100_500)
"""Numbers of worlds; no number is in both."""

RIDGE = 2.0
"""Of the squares of the coefficients, the terms scaled to a deviation of one: little, with so many worlds."""

EDGES = (0.0, 0.02, 0.1, 0.2, 0.35, 0.65, 0.8, 0.9, 0.98, 1.0)
"""Edges of the classes of what was said."""

Row = dict[str, Any]


def world(number: int) -> tuple[Row, evidence.Evidence | None]:
    """The truth of a world, and the evidence it leaves."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = detect_worlds.drawn(number, Path(folder))
    found = None if drawn.journey is None else evidence.of(drawn.journey)
    truth = {
        "world": number, "kind": drawn.kind, "discipline": drawn.discipline, "others": drawn.others, "mine": drawn.mine,
        "fair": int(drawn.is_fair), "capacity_bit_per_s": drawn.capacity,
    }  # fmt: skip
    return truth, found


def said(number: int) -> Row:
    """A world beside what is said of it."""
    truth, found = world(number)
    if found is None:
        return truth | dict.fromkeys(("p_fair", "capacity_ratio", "share_ratio", "alone"))
    # rounded: the last digits of a sum may differ between machines
    return truth | {
        "p_fair": round(detection.probability(found), 6),
        "capacity_ratio": round(found.capacity / truth["capacity_bit_per_s"], 6),
        "share_ratio": round(found.share / truth["capacity_bit_per_s"], 6),
        "alone": int(detection.is_alone(found)),
    }


def taught(numbers: Iterable[int]) -> dict[str, Any]:
    """The coefficients that these worlds give: logistic regression by Newton's method, with a ridge."""
    rows = [world(number) for number in told(numbers, "taught by")]
    seen = [(truth["fair"], detection.terms(found)) for truth, found in rows if found is not None]
    fair = np.array([truth for truth, _ in seen], dtype=np.float64)
    terms = np.array([row for _, row in seen])
    middle, width = terms.mean(axis=0), terms.std(axis=0)
    scaled = np.column_stack([np.ones(len(terms)), (terms - middle) / width])
    ridge = RIDGE * np.diag([0.0] + [1.0] * len(width))
    slopes = np.zeros(len(width) + 1)
    for _ in range(50):
        p = 1 / (1 + np.exp(-scaled @ slopes))
        hessian = scaled.T @ (scaled * (p * (1 - p))[:, None]) + ridge
        slopes += np.linalg.solve(hessian, scaled.T @ (fair - p) - ridge @ slopes)
    plain = slopes[1:] / width
    coefficients = [slopes[0] - float(plain @ middle), *plain]
    return {
        "worlds": len(rows),
        "worlds_with_evidence": len(seen),
        "coefficients": [round(float(value), 6) for value in coefficients],
    }


def calibration(rows: Sequence[Row]) -> list[Row]:
    """Said against true: for each class of what was said its mean, how many were fair, and what chance allows."""
    table = []
    for low, high in pairwise(EDGES):
        inside = [row for row in rows if row["p_fair"] is not None and low <= row["p_fair"] < high + (high == 1)]
        if not inside:
            continue
        mean = sum(row["p_fair"] for row in inside) / len(inside)
        fair = sum(row["fair"] for row in inside)
        below, above = wilson(fair, len(inside))
        table.append(
            {"said_from": low, "said_to": high, "worlds": len(inside), "said_mean": round(mean, 4),
             "fair": fair, "fair_part": round(fair / len(inside), 4), "low": round(below, 4), "high": round(above, 4)}
        )  # fmt: skip
    return table


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a probability."""
    z = 1.96
    p = successes / trials
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * (p * (1 - p) / trials + z * z / (4 * trials * trials)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def by(rows: Sequence[Row], column: str) -> list[Row]:
    """How often there was a verdict, how often it was right, and how near the capacity came to the truth."""
    table = []
    for name in dict.fromkeys(sorted(row[column] for row in rows)):
        mine = [row for row in rows if row[column] == name]
        seen = [row for row in mine if row["p_fair"] is not None]
        said = [(detection.verdict(row["p_fair"], alone=bool(row["alone"])), row["fair"]) for row in seen]
        sure = [(verdict, fair) for verdict, fair in said if verdict != detection.CANNOT_TELL]
        right = [verdict for verdict, fair in sure if (verdict == "fair queueing") == bool(fair)]
        ratios = np.array([row["capacity_ratio"] for row in seen] or [np.nan])
        table.append(
            {column: name, "worlds": len(mine), "too few pairs": len(mine) - len(seen), "verdicts": len(sure),
             "right": len(right), "capacity within 10 %": f"{100 * np.mean(abs(ratios - 1) < 0.1):.0f} %",
             "median ratio": float(np.median(ratios))}
        )  # fmt: skip
    return table


def reliability(table: Sequence[Row], rows: Sequence[Row]) -> Figure:
    """The table as a figure: said against true above, how often it was said below."""
    figure = Figure(figsize=(5.6, 6.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    above.plot([0, 1], [0, 1], color=figures.GREY, linewidth=0.8, linestyle="--", label="said = true")
    said_mean = [row["said_mean"] for row in table]
    part = [row["fair_part"] for row in table]
    bars = [[row["fair_part"] - row["low"] for row in table], [row["high"] - row["fair_part"] for row in table]]
    above.errorbar(said_mean, part, bars, fmt="o", color=figures.BLUE, capsize=3, label="true, with 95 % of chance")
    above.axvspan(1 - detection.SURE, detection.SURE, color="#eeeeee", label="cannot tell")
    above.set(ylabel="part of the worlds that were fair", ylim=(-0.03, 1.03), xlim=(-0.02, 1.02))
    above.legend(frameon=False, fontsize=9, loc="upper left")
    for fair, colour, name in ((1, figures.BLUE, "fair"), (0, figures.ORANGE, "FIFO")):
        mine = [row["p_fair"] for row in rows if row["p_fair"] is not None and row["fair"] == fair]
        below.hist(mine, bins=25, range=(0, 1), histtype="step", color=colour, label=name)
    below.set(xlabel="said: probability that the bottleneck is fair", ylabel="worlds")
    below.legend(frameon=False, fontsize=9, loc="upper center")
    for panel in (above, below):
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    figure.suptitle(f"fairq detect on {len(rows)} worlds that it was not taught by")
    return figure


def told(numbers: Iterable[int], what: str) -> Iterable[int]:
    """The same numbers; says now and then how far they are."""
    numbers = list(numbers)
    for place, number in enumerate(numbers):
        if place % 50 == 0:
            print(f"{what} {place} of {len(numbers)} worlds", file=sys.stderr, flush=True)
        yield number


def kept() -> list[Row]:
    """The held-out rows as they were written."""
    with (FOLDER / "held_out.csv").open(encoding="utf-8", newline="") as file:
        rows: list[Row] = list(csv.DictReader(file))
    for row in rows:
        row |= {"world": int(row["world"]), "fair": int(row["fair"])}
        for column in ("capacity_bit_per_s", "p_fair", "capacity_ratio", "share_ratio", "alone"):
            row[column] = float(row[column]) if row[column] else None
    return rows


def main() -> None:
    """Teach, judge, compare."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    part = arguments.add_mutually_exclusive_group()
    part.add_argument("--judge", action="store_true", help="keep the coefficients")
    part.add_argument("--table", action="store_true", help="keep the held-out rows too")
    given = arguments.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (given.judge or given.table):
        MODEL.write_text(json.dumps(taught(TAUGHT), indent=1) + "\n", encoding="utf-8")
    if not given.table:
        write_csv(FOLDER / "held_out.csv", [said(number) for number in told(HELD_OUT, "judged")])
    rows = kept()
    table = calibration(rows)
    write_csv(FOLDER / "calibration.csv", table)
    figures.save(reliability(table, rows), FOLDER / "reliability")
    print(text(table), *(f"\n{text(by(rows, column))}" for column in ("kind", "others", "mine")), sep="\n")


if __name__ == "__main__":
    main()
