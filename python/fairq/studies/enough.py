"""The answer so far: the mean of a column at each point over the seeds that are done."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fairq import statistics
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.results import described
from fairq.studies import summary
from fairq.studies.stored_runs import Part, Results
from fairq.studies.study import TABLES

OVER: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "sum": math.fsum,
    "min": min,
    "max": max,
}
"""How the rows of one run become its value."""

WRITTEN = re.compile(
    r"\s*(?:(?P<over>\w+)\s+(?:of\s+)?)?(?P<column>[\w.]+)\s+half-width\s*<\s*(?P<number>[0-9.eE+-]+)\s*(?P<percent>%?)\s*"
)


LEAST = 10
"""Replications below which nothing is decided: the spread of few is small by chance too often."""
GROWTH = 2.0
"""The factor by which replications are added at most before the spread is looked at again."""


class Quantity(NamedTuple):
    """A column of a table, and how the rows of one run become one value."""

    table: str
    column: str
    over: str = "mean"


class Until(NamedTuple):
    """When there are enough replications: by the half-width of the 95 % interval."""

    quantity: Quantity
    width: float
    is_relative: bool


class PointAnswer(NamedTuple):
    """A point's answer so far; no interval for one run."""

    axes: Mapping[str, Any]
    runs: int
    mean: float | None
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float:
        """Half the length of the interval; infinite if there is none."""
        return math.inf if self.low is None or self.high is None else (self.high - self.low) / 2


def quantity(text: str, over: str = "mean") -> Quantity:
    """The quantity that `flows.goodput_packets`, a column's name, or the beginning of one says."""
    if over not in OVER:
        raise UsageError(f"{over}: not a way to put rows together{near_miss(over, OVER)}")
    table, dot, name = text.rpartition(".")
    tables = [table] if dot else list(TABLES)
    if dot and table not in TABLES:
        raise UsageError(f"{table}: no such table{near_miss(table, TABLES)}")
    columns = [
        (each, column["name"]) for each in tables for column in described()[each]["columns"] if column["kind"] != "text"
    ]
    exact = [found for found in columns if found[1] == name]
    begins = [found for found in columns if found[1].startswith(f"{name}_")]
    if not exact and len({column for _, column in begins}) > 1 and len(tables) == 1:
        raise UsageError(f"{text}: begins several columns; there are {', '.join(sorted(c for _, c in begins))}")
    # of a rate in packets and in bits, that in bits
    begins.sort(key=lambda found: (tables.index(found[0]), not found[1].endswith("_bit_per_s")))
    for found in (exact, begins):
        if found:
            return Quantity(*found[0], over)
    known = dict.fromkeys(each for _, column in columns for each in (column, column.partition("_")[0]))
    raise UsageError(f"{text}: no such column{near_miss(name, known)}")


def shown(results: Results, goal: Until | None) -> Quantity | None:
    """The quantity to show: what --until goes by, or what a report shows first.

    None if the study keeps no table with it.
    """
    if goal is not None:
        return goal.quantity
    found = summary.quantities(results)
    return Quantity(*found[0]) if found else None


def until(text: str) -> Until:
    """What `--until` says, as `goodput half-width < 1%`; UsageError says what is wrong."""
    found = WRITTEN.fullmatch(text)
    try:
        width = float(found["number"]) / (100 if found["percent"] else 1) if found else 0.0
    except ValueError:
        width = 0.0
    if found is None or not 0 < width < math.inf:
        raise UsageError(f"--until: {text!r} says no end; write it as 'goodput half-width < 1%'")
    try:
        return Until(quantity(found["column"], found["over"] or "mean"), width, bool(found["percent"]))
    except UsageError as error:
        raise UsageError(f"--until: {error}") from None


class Answer:
    """The values of a quantity of all runs that are done, read part by part as they come."""

    def __init__(self, results: Results, of: Quantity) -> None:
        self._results, self.of = results, of
        self._read: set[str] = set()
        self._values: dict[str, float] = {}

    def refresh(self) -> None:
        """Read the parts that are new."""
        self._results.refresh()
        parts = [part for part in self._results.parts(self.of.table) if part.path.name not in self._read]
        # all runs of a part: a replication that was added may be in one that is known
        self._add([part._replace(digests=None) for part in parts])
        self._read.update(part.path.name for part in parts)

    def _add(self, parts: Sequence[Part]) -> None:
        rows: dict[str, list[float]] = {}
        table = self._results.table_of(parts, self.of.table, [self.of.column])
        for digest, value in zip(table.column("digest"), table.column(self.of.column), strict=True):
            if value is not None:
                rows.setdefault(digest, []).append(value)
        for digest, values in rows.items():
            self._values[digest] = OVER[self.of.over](values)

    def worst(self) -> str:
        """The widest interval of all points, for a line of progress; empty before there is one."""
        widths = [point.half_width / abs(point.mean) for point in self.points() if point.mean]
        known = [width for width in widths if math.isfinite(width)]
        return f"{self.of.column} ± {100 * max(known):.2g} % at most" if known else ""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each point that has a run: axes, runs, the mean and its interval."""
        name = self.of.column
        return [
            {**point.axes, "runs": point.runs, name: point.mean, f"{name}_low": point.low, f"{name}_high": point.high}
            for point in self.points()
            if point.runs
        ]

    def points(self) -> list[PointAnswer]:
        """Each point's answer."""
        answers = []
        for at, point in enumerate(self._results.study.points):
            values = self.values(at)
            found = statistics.interval(values, summary.scale_of(self.of.column, values))
            answers.append(PointAnswer(point.axes, found.count, found.mean, found.low, found.high))
        return answers

    def values(self, at: int) -> list[float]:
        """The values of the runs of point number `at` that are done, by seed."""
        digests = self._results.study.points[at].digests
        return [self._values[digest] for digest in digests if digest in self._values]


def holds(goal: Until, values: Sequence[float]) -> bool:
    """Whether the values of a point end its replications."""
    return replications(goal, values, len(values)) == len(values)


def replications(goal: Until, values: Sequence[float], now: int) -> int:
    """How many replications a point needs by its values; at most GROWTH times those of now."""
    if now < LEAST:
        return LEAST
    scale = summary.scale_of(goal.quantity.column, values)
    if goal.is_relative:
        found = statistics.precision(values, goal.width, LEAST, scale)
        is_reached, more = found.reached, found.more
    else:
        told = statistics.interval(values, scale)
        half = math.inf if told.low is None or told.high is None else (told.high - told.low) / 2
        is_reached = half <= goal.width
        more = math.ceil(now * ((half / goal.width) ** 2 - 1)) if math.isfinite(half) else None
    return now if is_reached else min(now + max(1, now if more is None else more), math.ceil(now * GROWTH))
