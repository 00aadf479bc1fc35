"""What an axis says: words and unit of a column; numbers that stand in text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from fairq.core import tables
from fairq.core.cells import PREFIXES
from fairq.core.columns import is_ratio
from fairq.core.quantities import number as number
from fairq.core.quantities import numbers as numbers

WORDS = {
    "queueing mean": "mean queueing delay",
    "queueing": "queueing delay",
    "rtt": "round trip",
    "delay mean": "mean delay",
    "rtt mean": "mean round trip",
    "marked ratio": "marked",
    "waiting": "waiting time",
    "slowdown mean": "mean slowdown",
    "jain": "Jain's index",
    "max min": "max-min share",
    "max min share": "max-min share",
    "p50": "median",
    "p95": "95th percentile",
    "p99": "99th percentile",
}
"""What words of columns are called in a figure."""


def words(column: str) -> tuple[str, str]:
    """The words and the unit of a column; "" if it has no unit.

    >>> words("queueing_s_p99"), words("goodput_bit_per_s"), words("loss")
    (('queueing delay, 99th percentile', 's'), ('goodput', 'bit/s'), ('loss', ''))
    """
    head, _, unit = tables.heading(column).partition(" (")
    if head in WORDS:
        return WORDS[head], unit.rstrip(")")
    *first, last = head.split(" ")
    if first and last in WORDS:
        start = " ".join(first)
        return f"{WORDS.get(start, start)}, {WORDS[last]}", unit.rstrip(")")
    return head, unit.rstrip(")")


def scaled(column: str, values: Iterable[Any]) -> tuple[float, str]:
    """What the values of a column are divided by, and the label of their axis, with its unit.

    >>> scaled("goodput_bit_per_s", [16_200_000.0, None, 0]), scaled("loss", [0.01])
    ((1000000.0, 'goodput (Mbit/s)'), (0.01, 'loss (%)'))
    """
    said, unit = words(column)
    if is_ratio(column):
        return 0.01, f"{said} (%)"
    size, name = step(unit, values)
    return size, f"{said} ({name})" if name else said


def step(unit: str, values: Iterable[Any]) -> tuple[float, str]:
    """The size and the name of the unit in which the largest of the values is 1 to 1000."""
    if unit not in PREFIXES:
        return 1.0, unit
    steps = PREFIXES[unit]
    largest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    if not largest:
        return next((size, name) for size, name in steps if size == 1.0)
    return next(((size, name) for size, name in steps if largest >= 0.9995 * size), steps[-1])


def brief(value: float | None) -> str:
    """A number as a figure writes it: three digits, never an exponent where it can be avoided.

    >>> brief(16.234), brief(0.00321), brief(1234.5), brief(0.0), brief(None)
    ('16.2', '0.00321', '1234', '0', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}" if abs(value) < 1e7 else f"{value:.2e}"
    if abs(value) < 1e-4:
        return f"{value:.1e}"
    shown = f"{value:.3g}"
    return shown if "e" not in shown else f"{value:.5f}".rstrip("0")


def tick(value: float, _place: object = None) -> str:
    """A number at an axis, without an exponent: the unit is chosen so that it is short."""
    shown = f"{value:.6g}"
    return (f"{value:.0f}" if abs(value) >= 1 else f"{value:.7f}".rstrip("0")) if "e" in shown else shown
