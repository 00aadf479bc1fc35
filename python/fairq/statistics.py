"""Means with 95 % intervals, differences of paired runs, and what one long run says of itself.

>>> from fairq.statistics import interval, paired
>>> utilisation = interval([0.91, 0.97, 0.94, 0.99, 0.93], scale="logit")
>>> round(utilisation.mean, 3), round(utilisation.low, 3), round(utilisation.high, 3)
(0.948, 0.891, 0.976)
>>> paired([3.1, 2.8, 3.4], [4.0, 3.9, 4.2], scale="log").decided
True

The numbers come from the compiled part and are the same bits on every machine. `None` and NaN are
left out and counted; `None` in a result is a number that the values do not have. What cannot be
averaged raises UsageError.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, Literal, NamedTuple

import fairq._native as _native
from fairq.core.errors import UsageError

Scale = Literal["plain", "log", "logit"]
"""Where an interval is symmetric.

*plain* for any number, *log* for delays and rates, *logit* for ratios in [0, 1].
"""

Values = Iterable[float | None]

# `count` takes the place of the method that counts equal fields, which a type checker remarks on.


class Interval(NamedTuple):
    """An arithmetic mean and its 95 % interval, in the unit of the values."""

    mean: float | None
    """`None` if no value counts."""
    low: float | None
    """The lower end; `None` of fewer than two values."""
    high: float | None
    """The upper end; `None` of fewer than two values."""
    count: int  # type: ignore[assignment]
    """Values that count."""
    left_out: int
    """Values that are `None` or NaN."""


class Paired(NamedTuple):
    """The mean of a - b over pairs, with its 95 % interval, in the unit of the values."""

    difference: float | None
    """`None` if no pair counts."""
    low: float | None
    """The lower end; `None` of fewer than two pairs."""
    high: float | None
    """The upper end; `None` of fewer than two pairs."""
    decided: bool
    """Whether 0 is outside of the interval."""
    more_seeds: int | None
    """How many more seeds would decide the difference, if it and its spread stay what they are.

    0 if it is decided. `None` if there is no difference, no interval, or more than 10⁹ would be
    needed.
    """
    count: int  # type: ignore[assignment]
    """Pairs that count."""
    left_out: int
    """Pairs of which a value is `None` or NaN."""


class BatchMeans(NamedTuple):
    """The mean of one long run and its 95 % interval, from the means of stretches of it."""

    mean: float | None
    """The mean of the batches."""
    low: float | None
    """The lower end."""
    high: float | None
    """The upper end."""
    batches: int
    """The number of batches."""
    size: int
    """Values in a batch."""
    correlation: float
    """How much neighbouring batches resemble each other: near 0 if they are independent."""
    correlated: bool
    """Whether independent batches would be so correlated in less than one case of twenty.

    The interval is then too narrow: run longer.
    """
    left_out: int
    """Values that are `None` or NaN."""


class WarmUp(NamedTuple):
    """Where the warm-up of a run ends."""

    cut: int | None
    """The position of the first value to keep, in the series as given.

    `None`: the series still moves in its second half, or has fewer than fifty values. Run longer.
    """
    count: int  # type: ignore[assignment]
    """Values that count."""
    left_out: int
    """Values that are `None` or NaN."""


class Precision(NamedTuple):
    """How precise a mean is, and whether that is enough to stop."""

    relative: float | None
    """Half the width of the 95 % interval over the size of the mean.

    `None` without an interval, or of a mean of 0 with a spread.
    """
    reached: bool
    """Whether it is at most the target, after the least number of values."""
    more: int | None
    """How many more values would reach the target at this spread.

    `None` if that cannot be said or is above 10⁹.
    """
    count: int  # type: ignore[assignment]
    """Values that count."""
    left_out: int
    """Values that are `None` or NaN."""


def interval(values: Values, scale: Scale = "plain") -> Interval:
    """Give the arithmetic mean and its 95 % interval, on a scale where the impossible cannot occur.

    The interval is g(mean) ± t s/√n |g'(mean)|, transformed back (the delta method: Casella and
    Berger, "Statistical Inference", 2nd ed., 5.5.4), with g the logarithm or the logit. A ratio
    stays in (0, 1) and a delay above 0 without being clamped.

    One value has no interval. Values that are all equal, also all 0 and all 1, have an interval of
    no width: they show no spread, which does not show that there is none. After n runs without an
    event, a run has one with a probability of up to 3/n (the rule of three).

    >>> interval([0.0, 0.0, 0.0], scale="logit")
    Interval(mean=0.0, low=0.0, high=0.0, count=3, left_out=0)
    """
    return Interval(*_native.interval(_numbers("values", values), _text("scale", scale)))


def paired(a: Values, b: Values, scale: Scale = "plain") -> Paired:
    """Give the difference of two means from runs with the same seeds, in pairs by position.

    Runs that share a seed share their arrivals (common random numbers: Law and Kelton, "Simulation
    Modeling and Analysis", 3rd ed., 10.2.1 and 11.2), so that the spread of a - b is that of what
    the settings change. A difference of ratios (*logit*) lies in (-1, 1), and its interval is
    symmetric in the inverse hyperbolic tangent; a difference of delays (*log*) may be any number,
    as on the *plain* scale, and its interval is Student's.

    >>> paired([0.52, 0.61, 0.55], [0.50, 0.62, 0.49], scale="logit").more_seeds
    9
    """
    return Paired(*_native.paired(_numbers("a", a), _numbers("b", b), _text("scale", scale)))


def batch_means(values: Values, batches: int = 20, scale: Scale = "plain") -> BatchMeans:
    """Give the mean of one long run and its 95 % interval, from the means of equal stretches.

    The values of a run depend on each other, and the means of long stretches hardly do (Law and
    Kelton, 3rd ed., 9.5.3). Between 10 and 30 batches are best (Schmeiser, Operations Research
    30(3), 1982). Whether they are independent is asked of von Neumann's ratio (Fishman, Management
    Science 24(5), 1978). Cut the warm-up first; what does not fill a batch is left out at the
    start.
    """
    told, size, correlation, correlated = _native.batch_means(
        _numbers("values", values), _whole("batches", batches), _text("scale", scale)
    )
    mean, low, high, count, left_out = told
    return BatchMeans(mean, low, high, count, size, correlation, correlated, left_out)


def warm_up(values: Values) -> WarmUp:
    """Say where the warm-up of a series ends, by MSER-5.

    The cut is where the squared standard error of what remains is least, among means of five values
    each (White, Cobb and Spratt, WSC 2000). A least value in the second half is no answer, and the
    last five means are no place to cut at (Hoad, Robinson and Davies, JORS 61(9), 2010).

    >>> warm_up([9, 9, 9, 9, 9, 5, 5, 5, 5, 5, *[1, 2] * 30]).cut
    10
    """
    return WarmUp(*_native.warm_up(_numbers("values", values)))


def precision(values: Values, target: float, least: int = 10, scale: Scale = "plain") -> Precision:
    """Say whether half the width of the 95 % interval is at most `target` times the mean.

    The sequential procedure for a relative error (Law and Kelton, 3rd ed., 9.4.1; Chow and Robbins,
    Annals of Mathematical Statistics 36(2), 1965): ask after every seed and stop when it is
    reached, with at least `least` values. With fewer than ten values, a spread that is small by
    chance stops too early. For the true mean to lie within a share γ of the mean found, write γ/(1
    + γ).

    >>> precision([9.0, 11.0] * 5, target=0.05).more
    10
    """
    numbers = _numbers("values", values)
    share = _number("target", target)
    return Precision(*_native.precision(numbers, share, _whole("least", least), _text("scale", scale)))


def _numbers(name: str, values: Any) -> list[float]:
    """The values of a list, with NaN for `None`."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise UsageError(f"{name}: {_shown(values)}; write a list of numbers, as [0.5, 0.7]")
    nan = float("nan")
    return [nan if value is None else _number(f"{name}[{at}]", value) for at, value in enumerate(values)]


def _number(name: str, value: Any) -> float:
    if not isinstance(value, Real):
        raise UsageError(f"{name}: {_shown(value)}; write a number")
    try:
        return float(value)
    except OverflowError:
        raise UsageError(f"{name}: too large to average; the largest is 1e150") from None


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise UsageError(f"{name}: {_shown(value)}; write a whole number, at least 0")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name}: {_shown(value)}; write plain, log or logit")
    return value


def _shown(value: Any) -> str:
    """A wrong value in one short line, with its kind."""
    text = " ".join(repr(value).split())
    return f"{text if len(text) <= 40 else text[:37] + '…'} is a {type(value).__name__}"
