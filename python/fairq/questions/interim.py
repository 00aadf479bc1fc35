"""Intervals until fairq.statistics is there; the same functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from fairq import _native


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
    _, low, high = _native.confidence_interval(list(values))
    half = (high - low) / 2
    if half == 0 or scale == "plain":
        return Interval(mean, mean - half, mean + half)
    if scale == "log":
        return Interval(mean, mean * math.exp(-half / mean), mean * math.exp(half / mean))
    rest = 1 - mean
    step = min(half / (mean * rest), 700)
    return Interval(mean, mean / (mean + rest * math.exp(step)), mean / (mean + rest * math.exp(-step)))


def paired(a: Sequence[float], b: Sequence[float], scale: str) -> Paired:
    """The mean difference and its 95 % interval."""
    del scale
    gaps = [x - y for x, y in zip(a, b, strict=True)]
    mean, low, high = _native.confidence_interval(gaps)
    half = (high - low) / 2
    decided = low > 0 or high < 0
    more = None if decided or mean == 0 else math.ceil(len(gaps) * ((half / mean) ** 2 - 1))
    return Paired(mean, low, high, decided, 0 if decided else more)
