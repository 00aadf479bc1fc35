"""Whether differences of paired runs are more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence


def by_chance(a: Sequence[float], b: Sequence[float]) -> float:
    """How likely so great a mean difference of pairs is by chance: Student's test, two-sided.

    Differences that are all zero are by chance (1), others that are all equal are not (0); fewer
    than two pairs tell nothing (1).
    """
    gaps = [x - y for x, y in zip(a, b, strict=True)]
    if len(gaps) < 2 or not any(gaps):
        return 1.0
    mean = math.fsum(gaps) / len(gaps)
    squares = math.fsum((gap - mean) ** 2 for gap in gaps)
    # What rounding leaves of equal differences is no spread.
    if squares <= (1e-12 * mean) ** 2:
        return 0.0
    degrees = len(gaps) - 1
    return _beyond(abs(mean) / math.sqrt(squares / degrees / len(gaps)), degrees)


def _beyond(t: float, degrees: int) -> float:
    """The part of Student's distribution beyond -t and t.

    Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4: sums of powers
    of the cosine of theta = atan(t / sqrt(degrees)), the odd powers for odd degrees and the even
    for even.
    """
    theta = math.atan(t / math.sqrt(degrees))
    sine, square = math.sin(theta), math.cos(theta) ** 2
    term, total = (math.cos(theta), 0.0) if degrees % 2 else (1.0, 0.0)
    for power in range(degrees % 2, degrees - 1, 2):
        total += term
        term *= square * (power + 1) / (power + 2)
    inside = 2 / math.pi * (theta + sine * total) if degrees % 2 else sine * total
    return max(1.0 - inside, 0.0)
