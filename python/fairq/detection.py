"""Was the bottleneck fair? From the evidence of one flow to a probability, and when it is no answer.

A logistic model with few terms; its coefficients are data (detection.json), fitted by scripts/detect_calibrate.py to
test networks of which the truth is known, drawn ones and recorded traffic at drawn bottlenecks. Half of these are fair:
the probability is for somebody who knew nothing before.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fairq import evidence, journeys
from fairq.evidence import FEWEST, Evidence
from fairq.journeys import Journey

CANNOT_TELL = "cannot tell"
"""The verdict where there is none."""

SURE = 0.9
"""A verdict is given from this confidence on."""

ALONE = {"crossing": 0.05, "unexplained": 0.4}
"""Below these nothing of others was seen."""


def detect(paths: Sequence[str | os.PathLike[str]]) -> list[dict[str, Any]]:
    """A row for each flow that the files hold, those with most packets first; journeys.of says what files.

    Raises CaptureError or UsageError.
    """
    return [judged(journey) for journey in journeys.of(paths)]


def judged(journey: Journey) -> dict[str, Any]:
    """What can be said of one flow's bottleneck: verdict, its confidence, the evidence, and why there is no verdict.

    `unmatched` is the part of the packets that were not found at the other end; `notes` are sentences for the user.
    """
    found = evidence.of(journey)
    packets = len(journey.sent)
    row: dict[str, Any] = {"flow": journey.flow, "verdict": CANNOT_TELL, "confidence": None}
    about = {
        "packets": packets,
        "unmatched": float(np.isnan(journey.received).mean()) if packets else 0.0,
        "notes": list(journey.notes),
    }
    if found is None:
        few = f"fewer than {FEWEST} packets came to the bottleneck while their predecessor was there"
        return row | {"p_fair": None, **about, "why": journey.doubt or few}
    p = probability(found)
    confidence = max(p, 1 - p)
    why = ""
    alone = is_alone(found)
    row["verdict"] = CANNOT_TELL if journey.doubt else verdict(p, alone=alone)
    if journey.doubt:
        why = journey.doubt
    elif alone:
        why = "nobody else was seen at the bottleneck: alone, all disciplines look the same"
    elif confidence < SURE:
        why = "the times fit both"
    numbers = {
        name if name not in ("capacity", "share") else f"{name}_bit_per_s": value
        for name, value in asdict(found).items()
    }
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
    lean = math.copysign(math.log1p(abs(found.lean)), found.lean)
    # what says when the work of others came is worth more the more pairs say it
    many = max(-1.2, min(2.5, math.log(found.pairs / 60)))
    return [
        lean,
        found.timing,
        found.close_timing,
        found.follows,
        many * lean,
        many * found.timing,
        many * found.close_timing,
        many * found.follows,
        found.close,
        math.log(found.close_work + 0.02),
        math.log(found.close_rate),
        math.log(found.far_rate),
        found.slope,
        math.log(found.wait_long + 0.1),
        math.log((found.first_wait_max + 0.1) / (found.work_max + 0.1)),
        found.early,
    ]


def probability(found: Evidence, coefficients: Sequence[float] | None = None) -> float:
    """The probability that the bottleneck served each flow from a queue of its own."""
    constant, *slopes = coefficients if coefficients is not None else model()["coefficients"]
    total = constant + math.fsum(slope * term for slope, term in zip(slopes, terms(found), strict=True))
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, total))))


@cache
def model() -> Mapping[str, Any]:
    """The coefficients, and from how many worlds they are."""
    document: dict[str, Any] = json.loads(Path(__file__).with_name("detection.json").read_text(encoding="utf-8"))
    return document
