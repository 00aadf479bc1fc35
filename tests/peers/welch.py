"""Whether two samples of runs show the same mean: Welch's interval, and what is made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

Verdict = Literal["same", "differs", "undecided"]

TOLERANCE = 0.05
"""A difference within this part of the peer's mean does not count."""


@dataclass(frozen=True)
class Difference:
    """Ours less the peer's: both means with their standard deviations over the runs, and half the 95 % interval."""

    peer: float
    peer_std: float
    ours: float
    ours_std: float
    half: float

    @property
    def relative(self) -> float | None:
        """Relative difference, (ours - peer) / |peer|; None if the peer's mean is 0."""
        return (self.ours - self.peer) / abs(self.peer) if self.peer else None

    @property
    def relative_half(self) -> float | None:
        """Half the interval over |peer|; None if the peer's mean is 0."""
        return self.half / abs(self.peer) if self.peer else None

    @property
    def verdict(self) -> Verdict:
        """Beyond the tolerance and the interval it differs; if the interval is wider than the tolerance, undecided."""
        gap, allowed = abs(self.ours - self.peer), TOLERANCE * abs(self.peer)
        if gap > allowed and gap > self.half:
            return "differs"
        return "same" if self.half <= allowed else "undecided"


def compare(peer: Sequence[float], ours: Sequence[float]) -> Difference:
    """The difference of the means of two samples of at least two runs each."""
    deviations = stdev(peer), stdev(ours)
    errors = deviations[0] ** 2 / len(peer), deviations[1] ** 2 / len(ours)
    both = sum(errors)
    half = 0.0
    if both > 0.0:
        # Welch and Satterthwaite
        freedom = both**2 / (errors[0] ** 2 / (len(peer) - 1) + errors[1] ** 2 / (len(ours) - 1))
        half = quantile(0.975, freedom) * math.sqrt(both)
    return Difference(fmean(peer), deviations[0], fmean(ours), deviations[1], half)


def quantile(probability: float, freedom: float) -> float:
    """Student's t, for a probability above one half, by bisection on the integral of its density."""
    low, high = 0.0, 1.0
    while _below(high, freedom) < probability:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = (low + high) / 2.0
        if _below(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return high


def _below(t: float, freedom: float) -> float:
    """The probability of a value below t >= 0: with t = sqrt(f) tan a the density is a power of cos a (Simpson)."""
    end = math.atan(t / math.sqrt(freedom))
    steps = 200
    width = end / steps
    heights = [math.cos(k * width) ** (freedom - 1.0) for k in range(steps + 1)]
    area = width / 3.0 * (heights[0] + heights[-1] + 4.0 * sum(heights[1:-1:2]) + 2.0 * sum(heights[2:-1:2]))
    log_scale = math.lgamma((freedom + 1.0) / 2.0) - math.lgamma(freedom / 2.0) - 0.5 * math.log(math.pi)
    return float(0.5 + area * math.exp(log_scale))
