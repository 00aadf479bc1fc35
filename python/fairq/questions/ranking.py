"""The order of candidates: by one criterion, or by several with a band each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from fairq import statistics
from fairq.questions.measures import MEASURES, quantity


class Criterion(NamedTuple):
    """What candidates are ranked by: a column of theirs, and its words in a sentence."""

    column: str
    said: str
    asks_for: str = ""
    """What gives it a value: "call" or "transfer", or "kinds" of users."""

    @property
    def is_more_better(self) -> bool:
        """Whether the greatest value is the best."""
        return MEASURES[quantity(self.column)].is_more_better

    @property
    def scale(self) -> statistics.Scale:
        """The scale of its intervals."""
        return MEASURES[quantity(self.column)].scale


CRITERIA = {
    "call_p99": Criterion("call_queueing_s_p99", "99th percentile of the call's queueing delay", "call"),
    "call_mean": Criterion("call_queueing_s_mean", "mean queueing delay of the call", "call"),
    "call_loss": Criterion("call_loss", "the call's loss", "call"),
    "call_in_time": Criterion("call_in_time", "part of the time that the call is within the target", "call"),
    "queueing": Criterion("queueing_s_mean", "mean queueing delay of all flows"),
    "bulk": Criterion("bulk_queueing_s_mean", "mean queueing delay of the bulk flows"),
    "completion": Criterion("completion_s_mean", "mean completion time of transfers", "transfer"),
    "jain": Criterion("jain", "Jain's index of the bulk flows"),
    "utilisation": Criterion("utilisation", "utilisation"),
    "guarantee": Criterion("guarantee_kept", "part of its guarantee that a kind of users gets", "kinds"),
    "alone": Criterion("alone_utilisation", "utilisation while one kind of users is alone", "kinds"),
}
"""By name."""


class Level(NamedTuple):
    """A criterion, and the differences of it that make no candidate better."""

    criterion: Criterion
    band: float = 0.0
    """Up to this, in the unit of the column."""
    part: float = 0.0
    """Up to this part of the best value."""


ORDER = (
    Level(CRITERIA["call_p99"], band=0.005),
    Level(CRITERIA["completion"], part=0.05),
    Level(CRITERIA["bulk"], band=0.005),
    Level(CRITERIA["utilisation"], band=0.01),
)
"""What candidates are ranked by where no criterion is named: those equal by one level by the next."""

IN_TIME = (Level(CRITERIA["call_in_time"], band=0.005), *ORDER[1:])
"""The levels with `--latency-target`."""


def with_kinds(levels: Sequence[Level]) -> tuple[Level, ...]:
    """The levels with kinds of users: guarantees first, what they lend before the last."""
    return (Level(CRITERIA["guarantee"], band=0.05), *levels[:-1], Level(CRITERIA["alone"], band=0.05), levels[-1])


TOLD = {"call_p99": (0.001, 0.0), "completion": (0.0, 0.05), "bulk": (0.001, 0.05), "utilisation": (0.01, 0.0)}
"""The least advantages of another candidate that the price of the winner has: so much, and this
part of its value."""

TOLD_OF_KINDS = {"guarantee": (0.05, 0.0), **TOLD, "alone": (0.05, 0.0)}
"""Likewise with `--shared`."""


class Tried(Protocol):
    """A candidate with what each seed gave."""

    @property
    def name(self) -> str:
        """Its name."""

    def values(self, column: str) -> list[float | None]:
        """A column by seed."""


T = TypeVar("T", bound=Tried)


def in_order(tried: Sequence[T], levels: Sequence[Level]) -> list[tuple[T, Level | None]]:
    """The candidates, the best first, each with the level at which it is worse than the first.

    `None`: it is equal to the first at all levels. Those that are equal at a level are ranked by
    the next, and so are those that chance could have put behind the best. Those that are equal to
    the end are in the order of their means by the first criterion, then by the call's loss, then by
    the other criteria.
    """
    first = [levels[0].criterion] if levels else []
    means = [*first, CRITERIA["call_loss"], *(level.criterion for level in ORDER)]
    return _in_order(sorted(tried, key=lambda each: [cost(each, criterion) for criterion in means]), levels)


def _in_order(tried: Sequence[T], levels: Sequence[Level]) -> list[tuple[T, Level | None]]:
    """The ranked candidates, of `tried` in the order that candidates equal at all levels keep."""
    if not tried or not levels:
        return [(each, None) for each in tried]
    level, further = levels[0], levels[1:]
    order = sorted(tried, key=lambda each: cost(each, level.criterion))
    first = order[0]
    near = [each for each in order if _is_equal(each, first, level) or (further and _is_by_chance(each, first, level))]
    far = [each for each in order if each not in near]
    near = [each for each in tried if each in near]
    return _in_order(near, further) + [(each, level) for each, _ in _in_order(far, levels)]


def cost(tried: Tried, criterion: Criterion) -> float:
    """The mean of a criterion over the seeds, the less the better; none is the worst."""
    mean = statistics.interval(tried.values(criterion.column), criterion.scale).mean
    return math.inf if mean is None else -mean if criterion.is_more_better else mean


def _is_equal(other: Tried, best: Tried, level: Level) -> bool:
    one, two = (cost(each, level.criterion) for each in (best, other))
    return two == one or two - one <= max(level.band, level.part * abs(one))


def _is_by_chance(other: Tried, best: Tried, level: Level) -> bool:
    found = gap(other, best, level.criterion)
    return found.low is not None and not found.decided


def worse(other: Tried, best: Tried, levels: Sequence[Level]) -> tuple[Criterion, statistics.Paired]:
    """By what, and by how much, a candidate is worse than the best.

    That is the first level at which it is worse beyond chance, if there is one, else the first.
    """
    found = [(level, gap(other, best, level.criterion)) for level in levels]
    for level, by in found:
        if by.decided and not _is_equal(other, best, level) and by.difference is not None and by.difference > 0:
            return level.criterion, by
    return found[0][0].criterion, found[0][1]


def gap(worse: Tried, better: Tried, criterion: Criterion) -> statistics.Paired:
    """By how much one candidate is worse than another, on the same seeds."""
    pair = (better, worse) if criterion.is_more_better else (worse, better)
    a, b = (each.values(criterion.column) for each in pair)
    return statistics.paired(a, b, criterion.scale)


def price(
    best: Tried, others: Sequence[Tried], told: Mapping[str, tuple[float, float]] = TOLD
) -> list[dict[str, str | float | None]]:  # fmt: skip
    """What the best gives up: by each criterion of `told` the best candidate, and by how much."""
    found: list[dict[str, str | float | None]] = []
    for name, (least, part) in told.items() if others else ():
        criterion = CRITERIA[name]
        other = min(others, key=lambda each: cost(each, criterion))
        by = gap(best, other, criterion)
        if by.decided and by.difference is not None and by.difference >= max(least, part * abs(cost(best, criterion))):
            found.append({
                "candidate": other.name, "criterion": name, "better_by": by.difference, "low": by.low, "high": by.high,
            })  # fmt: skip
    return found
