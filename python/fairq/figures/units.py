"""What an axis says: words and unit of a column; numbers that stand in text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from fairq import tables

STEPS = {
    "bit/s": ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}
"""The sizes of a unit and their names, the largest first."""

RATIOS = ("share", "loss", "utilisation", "marked_ratio")
"""Columns in 0 to 1 that are shown in per cent."""

WORDS = {
    "queueing mean": "mean queueing delay",
    "queueing": "queueing delay",
    "rtt": "round trip",
    "delay mean": "mean delay",
    "rtt mean": "mean round trip",
    "marked ratio": "marked",
    "jain": "Jain's index",
    "max min": "max-min share",
    "p50": "median",
    "p95": "95th percentile",
    "p99": "99th percentile",
}
"""What words of columns are called in a figure."""

_NUMBER = re.compile(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*(.*?)\s*")
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0, "h": 3600.0}


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
    if column in RATIOS:
        return 0.01, f"{said} (%)"
    size, name = step(unit, values)
    return size, f"{said} ({name})" if name else said


def step(unit: str, values: Iterable[Any]) -> tuple[float, str]:
    """The size and the name of the unit in which the largest of the values is 1 to 1000."""
    if unit not in STEPS:
        return 1.0, unit
    largest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    if not largest:
        return next((size, name) for size, name in STEPS[unit] if size == 1.0)
    return next(((size, name) for size, name in STEPS[unit] if largest >= 0.9995 * size), STEPS[unit][-1])


def number(value: Any) -> tuple[float, str] | None:
    """A value of an axis as a number in the base of its unit, and that unit; None if it is a name.

    >>> number("20 ms"), number("1.5BDP"), number(4), number("FQ"), number("100Mbit/s")
    ((0.02, 's'), (1.5, 'BDP'), (4.0, ''), None, (100000000.0, 'bit/s'))
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return (float(value), "") if math.isfinite(value) else None
    match = _NUMBER.fullmatch(str(value))
    if match is None:
        return None
    size, unit = float(match[1]), match[2]
    if unit in _TIMES:
        return size * _TIMES[unit], "s"
    if unit.lower().endswith("bit/s") and unit[:-5].lower() in _PREFIXES:
        return size * _PREFIXES[unit[:-5].lower()], "bit/s"
    if unit in ("B", "kB", "MB", "GB"):
        return size * _PREFIXES[unit[:-1].lower()], "bytes"
    return (size, unit) if unit in ("", "%", "BDP", "packets") else None


def numbers(values: Iterable[Any]) -> tuple[list[float], str] | None:
    """The values of an axis as numbers, and their unit; None if one is a name or units differ."""
    found = [number(value) for value in values]
    units = {each[1] for each in found if each is not None}
    if not found or None in found or len(units) > 1:
        return None
    return [each[0] for each in found if each is not None], units.pop()


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
