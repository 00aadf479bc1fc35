"""Trains `fairq detect` on random test networks and recorded traffic, and judges its verdicts on others.

    FAIRQ_DATA=... .venv/bin/python scripts/detect_calibrate.py    all of it: about ten minutes
    .venv/bin/python scripts/detect_calibrate.py --judge           keeps the coefficients, judges held-out networks anew
    .venv/bin/python scripts/detect_calibrate.py --table           makes tables and figure from the rows kept

The recorded traffic is the captures of FAIRQ_DATA/captures. Each of them is judged by a model that
was trained without it. Writes the coefficients (python/fairq/detection/detection.json), and into the folder
that `--out` names (target/detect) the held-out networks and the replays of captures with what was
said of them, the calibration table and its figure. Rows that a run does not make anew are those of
the folder, or of python/tests/data if the folder has none. The tables of docs/design/detect.md are
of the rows in python/tests/data: copy `detect_*.csv` there when the coefficients change.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import detect_worlds
import numpy as np
from matplotlib.figure import Figure

import fairq
from fairq import figures
from fairq.core.tables import text, write_csv
from fairq.detection import detection, evidence, journeys

ROOT = Path(__file__).resolve().parents[1]
MODEL = ROOT / "python" / "fairq" / "detection.json"
OUT = ROOT / "target" / "detect"
KEPT = ROOT / "python" / "tests" / "data"
"""Where rows are written by default, and those that the tests and the page of the design hold."""

TAUGHT = range(1500)
HELD_OUT = range(100_000, 100_500)
"""Numbers of test networks; no number is in both."""

RECORDED = range(800)
"""Numbers of test networks of recorded traffic; several flows of each are seen."""

RATES = (2, 5, 10, 20)
DISCIPLINES = {"fifo": 0, "fifo + codel": 0, "drr": 1, "fq": 1, "fq_codel": 1, "cake": 1}
"""At what captures are replayed as they are: Mbit/s, and disciplines with whether they are fair."""
BUFFER = "100 packets"

MASS, RIDGE = 2000.0, 1.0
"""The weight of all rows in test networks, half of them random, half recorded, half fair; and of the squares of the
coefficients, the terms scaled to a deviation of one."""

BIN_MIN = 50
"""Rows of a bin of the calibration error, at the least."""

EDGES = (0.0, 0.02, 0.1, 0.2, 0.35, 0.65, 0.8, 0.9, 0.98, 1.0)
"""Edges of the classes of what was said."""

DEVIATIONS = 3.0
"""The distance from its mean beyond which a term counts no more."""

Row = dict[str, Any]
Trained = dict[str, Any]
"""What a model is: its coefficients, and the ranges of its terms."""


def world(number: int) -> tuple[Row, evidence.Evidence | None]:
    """The truth of a test network, and the evidence it leaves."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = detect_worlds.drawn(number, Path(folder))
    found = None if drawn.journey is None else evidence.of(drawn.journey)
    truth = {
        "world": number, "kind": drawn.kind, "discipline": drawn.discipline, "others": drawn.others, "mine": drawn.mine,
        "fair": int(drawn.is_fair), "capacity_bit_per_s": drawn.capacity,
    }  # fmt: skip
    return truth, found


def said(number: int) -> Row:
    """A test network beside what is said of it."""
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


@dataclass(frozen=True)
class Seen:
    """A flow of a test network: whether the bottleneck was fair, the terms, and the captures in it, if any."""

    fair: int
    terms: list[float]
    captures: frozenset[str] = frozenset()


def drawn_rows(numbers: Iterable[int]) -> list[Seen]:
    """What is seen in random test networks."""
    rows = [world(number) for number in told(numbers, "drawn")]
    return [Seen(truth["fair"], detection.terms(found)) for truth, found in rows if found is not None]


def recorded_rows(numbers: Iterable[int], captures: Sequence[Path]) -> list[Seen]:
    """What is seen in test networks of recorded traffic."""
    rows = []
    for number in told(numbers, "recorded"):
        with tempfile.TemporaryDirectory() as folder:
            used, worlds = detect_worlds.recorded(number, captures, Path(folder))
        names = frozenset(capture.name for capture in used)
        for seen in worlds:
            found = None if seen.journey is None else evidence.of(seen.journey)
            if found is not None:
                rows.append(Seen(int(seen.is_fair), detection.terms(found), names))
    return rows


def fitted(rows: Sequence[Seen]) -> Trained:
    """Coefficients and ranges of the terms: logistic regression by Newton's method, with a ridge."""
    fair = np.array([row.fair for row in rows], dtype=np.float64)
    terms = np.array([row.terms for row in rows])
    is_recorded = np.array([bool(row.captures) for row in rows])
    weight = np.where(is_recorded, 1 / max(1, is_recorded.sum()), 1 / max(1, (~is_recorded).sum()))
    for truth in (0.0, 1.0):
        weight[fair == truth] *= MASS / 2 / weight[fair == truth].sum()
    middle, width = terms.mean(axis=0), terms.std(axis=0)
    low, high = np.round(middle - DEVIATIONS * width, 6), np.round(middle + DEVIATIONS * width, 6)
    scaled = np.column_stack([np.ones(len(terms)), (np.clip(terms, low, high) - middle) / width])
    ridge = RIDGE * np.diag([0.0] + [1.0] * len(width))
    slopes = np.zeros(len(width) + 1)
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(scaled @ slopes, -700, 700)))
        hessian = scaled.T @ (scaled * (weight * p * (1 - p))[:, None]) + ridge
        slopes += np.linalg.solve(hessian, scaled.T @ (weight * (fair - p)) - ridge @ slopes)
    plain = slopes[1:] / width
    return {
        "coefficients": [round(float(value), 6) for value in (slopes[0] - float(plain @ middle), *plain)],
        "ranges": [[float(least), float(most)] for least, most in zip(low, high, strict=True)],
    }


def replayed(capture: Path, trained: Trained) -> Iterable[Row]:
    """The flows of a capture that is replayed as it is, beside what is said of them."""
    for rate in RATES:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            disciplines = list(DISCIPLINES)
            fairq.replay(capture, rate=f"{rate} Mbit/s", buffer=BUFFER, disciplines=disciplines, fluid=False, out=out)
            for discipline, fair in DISCIPLINES.items():
                for journey in journeys.from_replay(out / discipline.replace(" ", "")):
                    found = evidence.of(journey)
                    if found is None:
                        continue
                    yield {
                        "capture": capture.name, "rate_mbit_per_s": rate, "discipline": discipline,
                        "flow": journey.flow, "pairs": found.pairs, "fair": fair,
                        "p_fair": round(detection.probability(found, trained), 6),
                        "alone": int(detection.is_alone(found)),
                    }  # fmt: skip


def calibration_error(rows: Sequence[Row]) -> float:
    """The expected calibration error: the confidence less the part that was right, over bins of equal count."""
    found = sorted((max(row["p_fair"], 1 - row["p_fair"]), (row["p_fair"] > 0.5) == bool(row["fair"])) for row in rows)
    bins = np.array_split(np.array(found, dtype=np.float64), max(1, min(10, len(found) // BIN_MIN)))
    return float(sum(abs(each[:, 0].mean() - each[:, 1].mean()) * len(each) for each in bins) / len(found))


def summary(rows: Sequence[Row], name: str, fewest: int = 0) -> Row:
    """How many of the rows with evidence got a verdict, and how many of these were right."""
    rows = [row for row in rows if row["p_fair"] is not None and row.get("pairs", fewest) >= fewest]
    given = [row for row in rows if detection.verdict(row["p_fair"], alone=bool(row["alone"])) != detection.CANNOT_TELL]
    right = [row for row in given if (row["p_fair"] > 0.5) == bool(row["fair"])]
    return {
        "rows": name, "pairs_min": fewest, "flows": len(rows), "verdicts": len(given), "right": len(right),
        "right_part": round(len(right) / len(given), 3) if given else None,
        "calibration_error": round(calibration_error(rows), 3) if len(rows) >= BIN_MIN else None,
    }  # fmt: skip


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
    above.set(ylabel="part of the networks that were fair", ylim=(-0.03, 1.03), xlim=(-0.02, 1.02))
    above.legend(frameon=False, fontsize=9, loc="upper left")
    for fair, colour, name in ((1, figures.BLUE, "fair"), (0, figures.ORANGE, "FIFO")):
        mine = [row["p_fair"] for row in rows if row["p_fair"] is not None and row["fair"] == fair]
        below.hist(mine, bins=25, range=(0, 1), histtype="step", color=colour, label=name)
    below.set(xlabel="said: probability that the bottleneck is fair", ylabel="networks")
    below.legend(frameon=False, fontsize=9, loc="upper center")
    for panel in (above, below):
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    figure.suptitle(f"fairq detect on {len(rows)} networks that it was not trained on")
    return figure


def told(numbers: Iterable[int], what: str) -> Iterable[int]:
    """The same numbers; says now and then how far they are."""
    numbers = list(numbers)
    for place, number in enumerate(numbers):
        if place % 50 == 0:
            print(f"{what} {place} of {len(numbers)} networks", file=sys.stderr, flush=True)
        yield number


def rows_file(name: str, folder: Path) -> Path:
    """The file in a folder that has the rows of a name."""
    return folder / f"detect_{name}.csv"


def kept(name: str = "held_out", folder: Path = KEPT) -> list[Row]:
    """Rows as they were written: of `held_out` networks, or of `replayed` captures."""
    path = rows_file(name, folder)
    with (path if path.exists() else rows_file(name, KEPT)).open(encoding="utf-8", newline="") as file:
        rows: list[Row] = list(csv.DictReader(file))
    for row in rows:
        for column in ("world", "fair", "pairs", "rate_mbit_per_s"):
            if column in row:
                row[column] = int(row[column])
        for column in ("capacity_bit_per_s", "p_fair", "capacity_ratio", "share_ratio", "alone"):
            if column in row:
                row[column] = float(row[column]) if row[column] else None
    return rows


def train(folder: Path) -> None:
    """Fits the coefficients, and judges each capture by those that were fitted without it."""
    if "FAIRQ_DATA" not in os.environ:
        raise SystemExit(
            "FAIRQ_DATA does not name a folder with captures/: without recorded traffic there is no training"
        )
    captures = sorted((Path(os.environ["FAIRQ_DATA"]) / "captures").iterdir())
    drawn, recorded = drawn_rows(TAUGHT), recorded_rows(RECORDED, captures)
    document = {
        "worlds": len(TAUGHT),
        "worlds_with_evidence": len(drawn),
        "recorded_worlds": len(RECORDED),
        "recorded_flows": len(recorded),
        **fitted([*drawn, *recorded]),
    }
    MODEL.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    detection.model.cache_clear()
    rows: list[Row] = []
    for capture in captures:
        others = [row for row in recorded if capture.name not in row.captures]
        rows += replayed(capture, fitted([*drawn, *others]))
    write_csv(rows_file("replayed", folder), rows)


def main() -> None:
    """Train, judge, compare."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    part = arguments.add_mutually_exclusive_group()
    part.add_argument("--judge", action="store_true", help="keep the coefficients")
    part.add_argument("--table", action="store_true", help="keep the held-out rows too")
    arguments.add_argument("--out", type=Path, default=OUT, metavar="FOLDER", help="where to write (target/detect)")
    given = arguments.parse_args()
    folder: Path = given.out
    folder.mkdir(parents=True, exist_ok=True)
    if not (given.judge or given.table):
        train(folder)
    if not given.table:
        write_csv(rows_file("held_out", folder), [said(number) for number in told(HELD_OUT, "judged")])
    rows, real = kept("held_out", folder), kept("replayed", folder)
    table = calibration(rows)
    write_csv(folder / "calibration.csv", table)
    figures.save(reliability(table, rows), folder / "reliability")
    print(text(table), *(f"\n{text(by(rows, column))}" for column in ("kind", "others", "mine")), sep="\n")
    parts = [
        summary(rows, "held-out networks"),
        *(summary(real, "replayed captures", fewest) for fewest in (0, 100, 200)),
        *(
            summary([row for row in real if row["discipline"] == discipline], discipline)
            for discipline in DISCIPLINES
        ),
    ]  # fmt: skip
    print(f"\n{text(parts)}")


if __name__ == "__main__":
    main()
