"""The answer to a question as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fairq import tables


class Saying(NamedTuple):
    """What is said of the best by a quantity, of one and of two, and what its values are of."""

    one: str
    two: str
    values: str


SAYINGS = {
    "jain": Saying("shares most evenly", "share most evenly", "Jain's index"),
    "jain_hosts": Saying("shares most evenly among hosts", "share most evenly among hosts", "Jain's index of hosts"),
    "queueing_s_mean": Saying("has the shortest queue", "have the shortest queues", "mean queueing delay"),
    "queueing_s_p99": Saying("delays {of} least", "delay {of} least", "99th percentile of its queueing delay"),
    "completion_s_mean": Saying("finishes {of} soonest", "finish {of} soonest", "mean completion time"),
    "share": Saying("leaves {of} most", "leave {of} most", "its part of the line"),
    "share_per_flow": Saying("gets most", "get most", "part of the line for each flow"),
}
"""By quantity."""


def answer(found: Mapping[str, Any], seeds: int, round_trips: int) -> str:
    """The sentence that an answer is rendered as; values are means over the round trips, too."""
    over = f" Means over {round_trips} round trips." if round_trips > 1 else ""
    return f"{_said(found, seeds)}{over}"


def _said(found: Mapping[str, Any], seeds: int) -> str:
    quantity = found["quantity"]
    said = Saying(*(text.format(of=found["of"]) for text in SAYINGS[quantity]))
    values = {each["name"]: amount(quantity, each["mean"]) for each in found["values"]}
    best, second = found["best"], found["second"]
    if best is None:
        return "There is nothing to compare: no packet of these flows arrived, and no transfer came to its end."
    if second is None:
        whose = f" ({found['of']})" if found["of"] else ""
        return f"{best}: {said.values} {values[best]}{whose}."
    others = "".join(f"; {name} {value}" for name, value in values.items() if name not in (best, second))
    if found["low"] is None:
        two = f"{said.values} {values[best]}, then {second} {values[second]}"
        return f"{best} {said.one}: {two}{others}. One seed decides nothing."
    low, high = (amount(quantity, found[end]) for end in ("low", "high"))
    gap = f"difference {amount(quantity, found['difference'])}, 95 % interval {low} to {high}"
    if found["decided"]:
        return f"{best} {said.one}: {said.values} {values[best]}, then {second} {values[second]} ({gap}){others}."
    more = found["more_seeds"]
    enough = f"; about {more} more would" if more and more <= MORE_SEEDS_MAX else ""
    return (
        f"{best} and {second} {said.two}, and {seeds} seeds do not tell them apart{enough}: "
        f"{said.values} {values[best]} and {values[second]} ({gap}){others}."
    )


MORE_SEEDS_MAX = 1000
"""A number of further seeds above this is left out."""


def amount(quantity: str, value: float) -> str:
    """A value as people read it: three digits and a unit, parts of a whole in percent."""
    if quantity in PARTS:
        percent = value * 100
        return f"{percent:.3g} %" if abs(percent) >= LEAST else "0 %"
    if "_s_" in quantity:
        return tables.value(quantity, value)
    return f"{value:.4f}"


PARTS = ("share", "share_per_flow", "loss", "marked_ratio", "utilisation", "overtaken")
"""Parts of a whole."""

LEAST = 5e-4
"""The least percentage that is told from none."""
