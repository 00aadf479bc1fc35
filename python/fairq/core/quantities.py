"""Quantities with units in text: of the theory, read as a scenario's, and of an axis."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import fairq._native as _native
from fairq.core.errors import UsageError

NUMBER = re.compile(r"\d+(\.\d*)?")

_NUMBER = re.compile(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*(.*?)\s*")
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0, "h": 3600.0}


def size(text: str) -> float:
    """Bytes from "1000 B" or "1kB"; UsageError says what to write."""
    return _native.quantity("size", text)


def rate(text: str) -> float:
    """Bits per second from "56 kbit/s"; UsageError says what to write."""
    if NUMBER.fullmatch(text.strip()):
        # no line is of 100 bit/s, the unit that the parser would add
        raise UsageError(f"`{text}`: a rate needs a unit; write {text.strip()}Mbit/s or {text.strip()}kbit/s")
    return _native.quantity("rate", text)


def rates(text: str) -> list[float]:
    """Bits per second of each rate in a list that is separated by commas."""
    return [rate(part) for part in text.split(",")]


def time(text: str) -> float:
    """Seconds from "100 ms"; UsageError says what to write."""
    return _native.quantity("time", text)


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
