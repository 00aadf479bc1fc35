"""Intervals until fairq.statistics is there; the same functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fairq import _native

Scale = tuple[Callable[[float], float], Callable[[float], float]]
LOGIT: Scale = (lambda x: math.log(x / (1 - x)), lambda y: 1 / (1 + math.exp(-y)))
PLAIN: Scale = (lambda x: x, lambda y: y)


class Interval(NamedTuple):
    """A mean and the ends of its interval."""

    mean: float
    low: float | None
    high: float | None


class Paired(NamedTuple):
    """A difference and the ends of its interval."""

    difference: float
    low: float | None
    high: float | None
    decided: bool
    more_seeds: int | None


def interval(values: Sequence[float], scale: str) -> Interval:
    """The mean and its 95 % interval."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return Interval(mean, None, None)
    to, back = {"plain": PLAIN, "log": (math.log, math.exp), "logit": LOGIT}[scale]
    if scale != "plain" and not all(0 < value < (1 if scale == "logit" else math.inf) for value in values):
        to, back = PLAIN
    _, low, high = _native.confidence_interval([to(value) for value in values])
    return Interval(mean, back(low), back(high))


def paired(a: Sequence[float], b: Sequence[float], scale: str) -> Paired:
    """The mean difference and its 95 % interval."""
    del scale
    gaps = [x - y for x, y in zip(a, b, strict=True)]
    mean, low, high = _native.confidence_interval(gaps)
    half = (high - low) / 2
    decided = low > 0 or high < 0
    more = None if decided or mean == 0 else math.ceil(len(gaps) * ((half / mean) ** 2 - 1))
    return Paired(mean, low, high, decided, 0 if decided else more)
