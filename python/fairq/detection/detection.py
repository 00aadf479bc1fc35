"""Was the bottleneck fair? From the evidence of one flow to a probability, and when it is no answer.

A logistic model with few terms; its coefficients are data (detection.json), fitted by scripts/detect_calibrate.py to
test networks of which the truth is known, random ones and recorded traffic at random bottlenecks. Half of these are
fair: the probability assumes even odds beforehand.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fairq.core.rows import Table
from fairq.detection import evidence, journeys
from fairq.detection.detected import Detected
from fairq.detection.evidence import FEWEST, Evidence
from fairq.detection.journeys import Journey

CANNOT_TELL = "cannot tell"
"""The verdict where there is none."""

SURE = 0.85
"""A verdict is given from this confidence on."""

NUMBERS = {
    field.name: f"{field.name}_bit_per_s" if field.name in ("capacity", "share") else field.name
    for field in fields(Evidence)
}
"""The numbers of the evidence by the names that a row has for them."""

ALONE = {"crossing": 0.05, "unexplained": 0.4}
"""Below these nothing of others was seen."""


def detect(paths: Sequence[str | os.PathLike[str]]) -> Table[Detected]:
    """A row for each flow that the files hold, those with most packets first; journeys.of says what files.

    Raises CaptureError or UsageError.
    """
    return Table.of(Detected, [judged(journey) for journey in journeys.of(paths)])


def judged(journey: Journey) -> dict[str, Any]:
    """What can be said of one flow's bottleneck: verdict, its confidence, the evidence, and why there is no verdict.

    `unmatched` is the part of the packets that were not found at the other end; `notes` are sentences for the user.
    """
    found = evidence.of(journey)
    packets = len(journey.sent)
    row: dict[str, Any] = {"flow": journey.flow, "verdict": CANNOT_TELL, "confidence": None, "p_fair": None}
    row |= dict.fromkeys(NUMBERS.values())
    about = {
        "packets": packets,
        "unmatched": float(np.isnan(journey.received).mean()) if packets else 0.0,
        "notes": list(journey.notes),
    }
    if found is None:
        few = f"fewer than {FEWEST} packets came to the bottleneck while their predecessor was there"
        return row | {**about, "why": journey.doubt or few}
    p = probability(found)
    confidence = max(p, 1 - p)
    why = ""
    alone = is_alone(found)
    row["verdict"] = CANNOT_TELL if journey.doubt else verdict(p, alone=alone)
    if journey.doubt:
        why = journey.doubt
    elif alone:
        why = "no other traffic was seen at the bottleneck: alone, all disciplines look the same"
    elif confidence < SURE:
        why = "the times fit both"
    numbers = {NUMBERS[name]: value for name, value in asdict(found).items()}
    return row | {"confidence": confidence, "p_fair": p, **numbers, **about, "why": why}


def verdict(p_fair: float, *, alone: bool) -> str:
    """What is said where fair queueing has this probability: something if the model is sure and others were seen."""
    if alone or max(p_fair, 1 - p_fair) < SURE:
        return CANNOT_TELL
    return "fair queueing" if p_fair > 0.5 else "FIFO"


def is_alone(found: Evidence) -> bool:
    """Whether nothing of others was seen."""
    return found.crossing < ALONE["crossing"] and found.unexplained < ALONE["unexplained"]


def terms(found: Evidence) -> list[float]:
    """The terms of the model, the constant left out."""
    # what says something is worth more the more pairs say it
    many = max(-1.2, min(2.5, math.log(found.pairs / 60)))
    lean = math.copysign(math.log1p(abs(found.lean)), found.lean)
    # half a long packet in the time of one more, lest few pairs say much
    close_rate = math.log((found.close_work + 0.5) / (found.close_time + 1))
    far_rate = math.log((found.far_work + 0.5) / (found.far_time + 1))
    turns = found.fit * math.log(max(found.slope, 0.5))
    varied = found.spread / (found.spread + 0.5)
    return [
        lean * min(1.0, found.timing_range),
        found.timing,
        found.timing_range,
        found.close_timing,
        math.log1p(found.pieces),
        close_rate - far_rate,
        many * close_rate,
        many * math.log((found.close_work + 0.05) / (found.close_time + 0.5)),
        math.log(found.close_work / max(1.0, found.close * found.pairs) + 0.02),
        found.crossed,
        varied * found.follows,
        max(0.0, math.log((found.first_wait_max + 0.1) / 3)),
        many * math.log(found.first_wait_max + 0.1),
        math.log1p(found.firsts),
        many * turns,
        found.slope,
        math.log(max(found.intercept, 0.0) + 0.1),
        math.log(max(found.beyond_own, 0.0) + 0.05),
    ]


def probability(found: Evidence, trained: Mapping[str, Any] | None = None) -> float:
    """The probability that the bottleneck served each flow from a queue of its own."""
    trained = model() if trained is None else trained
    constant, *slopes = trained["coefficients"]
    total = constant
    for slope, term, (low, high) in zip(slopes, terms(found), trained["ranges"], strict=True):
        # beyond what it was trained on a term says no more
        total += slope * max(low, min(high, term))
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, total))))


@cache
def model() -> Mapping[str, Any]:
    """The coefficients, the ranges of the terms, and from how many test networks they are."""
    document: dict[str, Any] = json.loads(Path(__file__).with_name("detection.json").read_text(encoding="utf-8"))
    return document
