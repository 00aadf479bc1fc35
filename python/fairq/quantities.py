"""Quantities with units in text, for the theory: read as those of a scenario, with the same messages."""

from __future__ import annotations

import re

from fairq import _native

NUMBER = re.compile(r"\d+(\.\d*)?")


def size(text: str) -> float:
    """Bytes from "1000 B" or "1kB"; UsageError says what to write."""
    return _native.quantity("size", text)


def rate(text: str) -> float:
    """Bits per second from "56 kbit/s"; UsageError says what to write."""
    if NUMBER.fullmatch(text.strip()):
        # no line is of 100 bit/s, the unit that the parser would add
        raise _native.UsageError(f"`{text}`: a rate needs a unit; write {text.strip()}Mbit/s or {text.strip()}kbit/s")
    return _native.quantity("rate", text)


def rates(text: str) -> list[float]:
    """Bits per second of each rate in a list that is separated by commas."""
    return [rate(part) for part in text.split(",")]


def time(text: str) -> float:
    """Seconds from "100 ms"; UsageError says what to write."""
    return _native.quantity("time", text)
