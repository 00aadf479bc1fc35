"""Quantities with units in text, for the theory's few arguments; scenarios are parsed by the compiled part."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fairq._native import UsageError

SIZES = {"B": 1, "kB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "KiB": 1024, "MiB": 1 << 20, "GiB": 1 << 30}
TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0, "h": 3600.0}
RATES = {"bit/s": 1, "kbit/s": 1000, "Mbit/s": 1_000_000, "Gbit/s": 1_000_000_000, "Tbit/s": 1_000_000_000_000}


def size(text: str) -> float:
    """Bytes from "1000 B" or "1kB"; UsageError says what to write."""
    return _quantity(text, SIZES, "1000 B")


def rate(text: str) -> float:
    """Bits per second from "56 kbit/s"; UsageError says what to write."""
    value = _quantity(text, RATES, "56 kbit/s")
    if value == 0:
        raise UsageError(f"{text!r}: a rate must be above 0; write a rate such as 56 kbit/s")
    return value


def rates(text: str) -> list[float]:
    """Bits per second of each rate in a list that is separated by commas."""
    return [rate(part) for part in text.split(",")]


def time(text: str) -> float:
    """Seconds from "100 ms"; UsageError says what to write."""
    return _quantity(text, TIMES, "100 ms")


def _quantity(text: str, units: Mapping[str, float], example: str) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z/]+)\s*", text)
    if re.match(r"\s*-\.?\d", text):
        raise UsageError(f"{text!r}: a quantity cannot be negative; write one as {example!r}")
    if match is None or match[2] not in units:
        raise UsageError(f"{text!r}: a number and one of the units {', '.join(units)} are needed, as in {example!r}")
    return float(match[1]) * units[match[2]]
