"""The answer to a question as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SAYINGS = {
    "jain": "the most even shares, by Jain's index",
    "jain_hosts": "the most even shares of hosts, by Jain's index",
    "queueing_s_mean": "the shortest mean queueing delay",
    "queueing_s_p99": "the shortest 99th percentile of the queueing delay",
    "completion_s_mean": "the shortest mean completion time",
    "share_per_flow": "the most for each flow",
}
"""What the best has of each quantity by which there is a best."""


def answer(found: Mapping[str, Any], seeds: int) -> str:
    """The sentence that an answer is rendered as."""
    values = {each["name"]: amount(found["quantity"], each["mean"]) for each in found["values"]}
    best, second = found["best"], found["second"]
    if best is None:
        return "Nothing to compare: no value was found."
    if second is None:
        return f"{best}: {values[best]}."
    who = f" of {found['of']}" if found["of"] else ""
    what = f"{SAYINGS[found['quantity']]}{who}"
    others = [f"{name} {value}" for name, value in values.items() if name not in (best, second)]
    rest = f"; {', '.join(others)}" if others else ""
    if found["low"] is None:
        return f"{best} has {what}: {values[best]}, {second} {values[second]}{rest}; one seed decides nothing."
    gap = " to ".join(amount(found["quantity"], found[end]) for end in ("low", "high"))
    interval = f"difference {amount(found['quantity'], found['difference'])}, 95 % interval {gap}, {seeds} seeds"
    if found["decided"]:
        return f"{best} has {what}: {values[best]}, before {second} with {values[second]} ({interval}){rest}."
    return (
        f"{best} {values[best]} and {second} {values[second]} cannot be told apart by {seeds} seeds ({interval}), "
        f"by {what}{rest}."
    )


def amount(quantity: str, value: float) -> str:
    """A value as people read it: three digits and a unit."""
    if "_s_" in quantity:
        return f"{value * 1e3:.3g} ms" if abs(value) < 1 else f"{value:.3g} s"
    if "share" in quantity:
        return f"{value * 100:.3g} %"
    return f"{value:.3f}"
