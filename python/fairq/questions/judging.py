"""Which choice is best by what a question is about, and whether the difference counts.

Values are ranked by their means over the seeds. Choices whose means differ from the best by less
than counts are the same for practical purposes. A difference is decided if 0 is outside of its 95 %
interval over runs of the same seeds; what still moves may turn that (turning.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairq import statistics
from fairq.questions.measures import MEASURES

Values = list[float | None]
"""A value for each seed."""

SHARE_LEAST = 0.02
"""The least difference of shares, and of parts of the line used, that counts."""

JAIN_LEAST = 0.01
"""The least difference of Jain's index that counts."""

DELAY_LEAST_S, DELAY_LEAST = 1e-3, 0.05
"""The least difference of times that counts: more than the first, or than a fortieth of a shorter
round trip, and more than the second part of the greater."""


def counts(quantity: str, one: float, other: float, rtt_s: float) -> bool:
    """Whether two means differ by as much as counts, on a line of this round trip."""
    gap = abs(one - other)
    if quantity.startswith("jain"):
        return gap >= JAIN_LEAST
    if "_s_" in quantity:
        return gap >= min(DELAY_LEAST_S, rtt_s / 40) and gap >= DELAY_LEAST * max(one, other)
    return gap >= SHARE_LEAST


def ranked(quantity: str, of: str | None, values: Mapping[str, Values], rtt_s: float) -> dict[str, Any]:
    """The answer: which is best, which are as good, by how much, and whether that is decided."""
    scale = MEASURES[quantity].scale
    every = {label: statistics.interval(each, scale).mean for label, each in values.items()}
    means = {label: mean for label, mean in every.items() if mean is not None}
    is_more_better = MEASURES[quantity].is_more_better
    order = sorted(means, key=lambda label: (-means[label] if is_more_better else means[label], label))
    alike = [label for label in order[1:] if not counts(quantity, means[order[0]], means[label], rtt_s)]
    best = next(iter(order), None)
    second = next((label for label in [*order[1 + len(alike) :], *alike]), None)
    answer: dict[str, Any] = {
        "quantity": quantity, "of": of, "best": best, "second": second, "alike": alike, "difference": None, "low": None,
        "high": None, "decided": False, "more_seeds": None,
        "values": [{"name": label, "mean": means[label]} for label in order],
    }  # fmt: skip
    if best is not None and second is not None:
        found = statistics.paired(values[best], values[second], scale)
        if found.count > 1:
            answer |= {
                "difference": found.difference, "low": found.low, "high": found.high,
                "decided": found.decided and second not in alike,
                "more_seeds": None if second in alike else found.more_seeds,
            }  # fmt: skip
    return answer
