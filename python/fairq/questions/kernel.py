"""What recorded cells of a Linux kernel say of the answers of a question."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairq.questions import agreement, words
from fairq.questions.agreement import Cell
from fairq.questions.answers import Answers, Point
from fairq.questions.asked import Question

PROFILE = "linux"
"""Cells were recorded between hosts of this system."""

ALWAYS_ECN = frozenset({"dctcp", "prague"})
"""Controls that negotiate ECN whether it is asked for or not."""

UNCONTROLLED = (*words.TRAFFIC, words.RECORDED)
"""Flows without a congestion control that a cell would have to share."""

NEAR = 2.0
"""A cell is near if its rate and its round trip differ by at most this factor."""

STEADY = "5-20"
"""The window after the start of the flows."""

CELLS_MIN = 3
"""Fewer near cells say nothing."""

HOLDS = 0.95
"""A distance is stated so that another cell is within it with this probability, and so within both, of shares and of
queueing, in at least nine of ten."""

RESOLVED = {"share_distance": 0.01, "queueing_distance": 0.05}
"""No distance below this is stated: few runs of a kernel are not known better."""


@dataclass(frozen=True)
class Asked:
    """What an answer is of."""

    queue: frozenset[str]
    controls: frozenset[str]
    ecn: bool
    rate_bit_per_s: float
    rtts_s: tuple[float, ...]


@dataclass(frozen=True)
class Distance:
    """How far near cells are from the kernel."""

    cells: tuple[Cell, ...]
    share: float
    """Parts of the line."""
    queueing: float
    """Parts of the kernel's queueing delay, or of `QUEUEING_MIN_S`, if that is longer."""

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        cells = [
            {
                "cell": cell.name, "verdict": cell.verdict, "share": cell.share_distance,
                "queueing": cell.queueing_distance,
            }
            for cell in self.cells
        ]  # fmt: skip
        return {"share": self.share, "queueing": self.queueing, "cells": cells}


def document(answers: Answers, queue: str | None = None) -> dict[str, Any]:
    """The cells that each answer is like, how far they are from the kernel, and a sentence; of one queue, or of all."""
    rows, distances = [], {}
    for point in (point for point in answers.points if queue in (None, point.choice.queue)):
        for way in answers.directions:
            asked = _asked(answers.question, point, way)
            found = distance(near(asked)) if asked else None
            rows.append({
                "queue": point.choice.queue, "rtt_s": words.quantity("--rtt", "time", point.rtt), "direction": way,
                **(found.document() if found else {"share": None, "queueing": None, "cells": []}),
            })  # fmt: skip
            distances[_name(answers, point, way)] = found
    return {"kernel": agreement.KERNEL, "answers": rows, "text": said(distances)}


def _name(answers: Answers, point: Point, way: str) -> str:
    """What tells an answer from the others."""
    parts = [point.choice.queue]
    if point.choice.buffer and len(answers.question.buffers) > 1:
        parts.append(f"with {point.choice.buffer}")
    if len(answers.question.line_rtts) > 1:
        parts.append(f"at {point.rtt}")
    if len(answers.directions) > 1:
        parts.append(way)
    return " ".join(parts)


def _asked(question: Question, point: Point, way: str) -> Asked | None:
    """What is to be looked for; `None` if what is not recorded enters the answer."""
    groups = [group for group in question.groups if group.direction == way and group.item.name not in UNCONTROLLED]
    faults = (question.loss and question.loss.part, question.jitter, question.reorder)
    is_changed = question.is_moving or any((*faults, question.receive_window, question.hosts))
    if not groups or is_changed or question.profile != PROFILE or point.choice.host_queue is not None:
        return None
    if any(group.item.settings or not group.item.is_greedy for group in groups):
        return None
    if any(item.name == "flood" for item in question.flows):
        return None
    controls = frozenset(group.item.name for group in groups)
    return Asked(
        agreement.parts(point.settings[way]),
        controls,
        question.ecn or bool(controls & ALWAYS_ECN),
        question.rate_bit_per_s(way),
        tuple(question.rtt_s(group.item, point.rtt) for group in groups),
    )


def _is_near(cell: Cell, asked: Asked) -> bool:
    """Whether queue and controls are the same, and rate and round trips differ by at most `NEAR`."""
    return (
        cell.is_plain
        and cell.window == STEADY
        and (cell.queue, cell.controls, cell.ecn) == (asked.queue, asked.controls, asked.ecn)
        and _is_within(cell.rate_bit_per_s, asked.rate_bit_per_s)
        and all(_is_within(cell.rtt_s, rtt_s) for rtt_s in asked.rtts_s)
    )


def _is_within(one: float, other: float) -> bool:
    return one <= NEAR * other * (1 + 1e-9) and other <= NEAR * one * (1 + 1e-9)


def near(asked: Asked) -> list[Cell]:
    """The recorded cells that are like this."""
    return [cell for cell in agreement.cells() if _is_near(cell, asked)]


def distance(found: Sequence[Cell]) -> Distance | None:
    """What these cells let expect; `None` if they are too few."""
    if len(found) < CELLS_MIN:
        return None
    share, queueing = (max(least, widened([getattr(cell, name) for cell in found])) for name, least in RESOLVED.items())
    return Distance(tuple(found), share, queueing)


def widened(values: Sequence[float]) -> float:
    """The greatest of n distances, widened so that another one is within it with probability `HOLDS`.

    Of twenty distances the last is above the others once in twenty times. For fewer, the greatest is taken
    `factor(n)` times: another distance exceeds c times the greatest of n with probability prod k / (k + c) over
    k = 1 to n, if distances are exponential around a mean that need not be known (docs/design/statistics.md).
    """
    return max(values) * factor(len(values))


def factor(count: int) -> float:
    """The c at which prod k / (k + c) is `1 - HOLDS`; 1 at least, which nineteen distances reach."""
    low, high = 1.0, 20.0
    if _exceeds(count, low) <= 1 - HOLDS:
        return low
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _exceeds(count, middle) > 1 - HOLDS else (low, middle)
    return high


def _exceeds(count: int, factor: float) -> float:
    """The probability that another exponential distance is above `factor` times the greatest of `count`."""
    return math.prod(k / (k + factor) for k in range(1, count + 1))


def said(distances: Mapping[str, Distance | None]) -> str:
    """The sentence of answers, by the name of what each is of."""
    some = {name: found for name, found in distances.items() if found is not None}
    without = [name for name, found in distances.items() if found is None]
    if not some:
        return f"No recorded cell of {agreement.KERNEL} is like this."
    count = len({cell.name for found in some.values() for cell in found.cells})
    share, queueing = (max(getattr(found, name) for found in some.values()) for name in ("share", "queueing"))
    points, percent = (agreement.rounded(100 * value) for value in (share, queueing))
    least_ms = agreement.rounded(1e3 * queueing * agreement.QUEUEING_MIN_S)
    text = (
        f"In {count} recorded cells of {agreement.KERNEL} like these, shares were within {points} points and queueing "
        f"within {percent} % or {least_ms} ms."
    )
    return text + (f" No recorded cell is like {_many(without)}." if without else "")


def _many(names: Collection[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
