"""The rate of a line in one direction: one rate, a walk between two ends, or a delivery trace.

`30Mbit/s..130Mbit/s` is a random walk of the rate's logarithm, `trace:FILE` a file as Mahimahi has
it. What needs one rate takes the nominal one: the geometric middle of a walk, the mean of a trace.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path

import fairq._native as _native
from fairq.core import quantities
from fairq.core.errors import ScenarioError, UsageError

TRACE, BETWEEN = "trace:", ".."
"""What a trace begins with, and what stands between the ends of a walk."""

_RATE = r"[^/]*bit/s(?:\s*\.\.[^/]*bit/s)?"
_BOTH = re.compile(rf"(?P<down>{_RATE})\s*/(?P<up>{_RATE})")
_UP_BEHIND_TRACE = re.compile(rf"/(?P<up>{TRACE}.+|\s*[\d.]+{_RATE})")
"""The name of a trace's file may have strokes itself."""


def is_moving(text: str) -> bool:
    """Whether a rate changes while the line runs."""
    return text.startswith(TRACE) or BETWEEN in text


def of_ways(text: str) -> tuple[str, str]:
    """The rates down and up of `DOWN[/UP]`: "50Mbit/s/10Mbit/s", or "100Mbit/s" for both."""
    text = text.strip()
    down, up = _by_trace(text) or _by_rates(text)
    for rate in dict.fromkeys((down, up)):
        nominal("--rate", rate)
    return down, up


def _by_trace(text: str) -> tuple[str, str] | None:
    """Both ways where one of them is a trace."""
    if text.startswith(TRACE):
        for place in (place for place, letter in enumerate(text) if letter == "/"):
            if found := _UP_BEHIND_TRACE.fullmatch(text, place):
                return text[:place], found["up"].strip()
        return text, text
    down, stroke, up = text.partition(f"/{TRACE}")
    return (down.strip(), f"{TRACE}{up}") if stroke else None


def _by_rates(text: str) -> tuple[str, str]:
    if found := _BOTH.fullmatch(text):
        return found["down"].strip(), found["up"].strip()
    words = text.split("/")
    if len(words) == 2 and all(quantities.NUMBER.fullmatch(word.strip()) for word in words):
        raise UsageError(f"--rate {text}: a rate needs a unit; write {words[0].strip()}Mbit/s/{words[1].strip()}Mbit/s")
    # A unit has one stroke of its own: bit/s.
    if len(words) > 2 and not re.fullmatch(_RATE, text):
        raise UsageError(f"--rate {text}: write one rate, or DOWN/UP with the unit of both, as 50Mbit/s/10Mbit/s")
    return text, text


def nominal(option: str, text: str) -> float:
    """The one rate that stands for a rate, in bit/s; UsageError says what the option cannot be."""
    try:
        return _moving(text) if is_moving(text) else quantities.rate(text)
    except UsageError as error:
        raise UsageError(f"{option} {error}") from None


def greatest(text: str) -> float:
    """The greatest rate of a walk; of another its nominal one."""
    return quantities.rate(text.partition(BETWEEN)[2]) if _is_walk(text) else nominal("--rate", text)


def least(text: str) -> float:
    """The least rate of a walk; the nominal rate of any other."""
    return quantities.rate(text.partition(BETWEEN)[0]) if _is_walk(text) else nominal("--rate", text)


def fields(text: str, reverse: str = "") -> dict[str, str]:
    """The fields of a link of this rate; `reverse` is the prefix of the names for the way back."""
    if text.startswith(TRACE):
        # A scenario that is written elsewhere finds the same file.
        return {f"{reverse}trace": str(Path(text.removeprefix(TRACE)).absolute())}
    return {f"{reverse}rate": text}


def _is_walk(text: str) -> bool:
    return BETWEEN in text and not text.startswith(TRACE)


@lru_cache
def _moving(text: str) -> float:
    """The nominal rate of a line whose rate changes, as the simulator reads it."""
    if _is_walk(text):
        for end in text.split(BETWEEN):
            quantities.rate(end)
    said = "\n".join(f"{name} = {json.dumps(value)}" for name, value in fields(text).items())
    ends = 'from = "a"\nto = "b"\n'
    link = f'[[links]]\nname = "line"\n{ends}{said}\n'
    scenario = f'edition = 2\n{link}[[flows]]\nname = "flow"\n{ends}traffic = "ftp"\n'
    try:
        (line, *_) = json.loads(_native.lines(scenario, "rate", []))
    except ScenarioError as error:
        raise UsageError(f"{TRACE}{error.fault}" if text.startswith(TRACE) else error.fault) from None
    return float(line["rate_bit_per_s"])
