"""Facts of columns: unit, scale of the interval, which way is better.

Those of a run's tables come from crates/experiment/src/columns.rs; a column of another table has
those of a column that it is like.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

import fairq._native as _native
from fairq.statistics import Interval, Scale


class Facts(NamedTuple):
    """What is true of a column in every table."""

    unit: str
    """The unit as people write it; "" for text and for numbers without a unit."""
    scale: Scale
    """Where the interval of its mean is symmetric."""
    ratio: bool
    """Whether it is a part of a whole, 0 to 1, which people read in percent."""
    instant: bool
    """Whether it is an instant and no duration."""
    better: Literal["higher", "lower", "neither"]
    """Which of two values a user wants."""
    of_ratio: str | None
    """The ratio of the same row whose interval it has, where the two are in proportion."""


LIKE = {
    "share_per_flow": "share", "share_per_host": "share", "call_in_time": "share", "jain_hosts": "jain",
    "marked_ratio": "loss", "guarantee_kept": "utilisation", "alone_utilisation": "utilisation",
    "max_min_share": "share", "busy": "utilisation", "waits": "utilisation", "load": "utilisation",
    "agreement": "utilisation", "bound_reached": "utilisation", "of_max_min": "utilisation",
}  # fmt: skip
"""Columns that no run has, and the column that has their facts."""


@cache
def described() -> Mapping[str, Mapping[str, Any]]:
    """The tables of a run by name: `row` says what has a row, `columns` have facts and meanings."""
    return {table["name"]: table for table in json.loads(_native.columns())}


@cache
def _of_table(table: str) -> Mapping[str, Facts]:
    columns = described()[table]["columns"]
    return {column["name"]: Facts(*(column[fact] for fact in Facts._fields)) for column in columns}


@cache
def _known() -> Mapping[str, Facts]:
    known: dict[str, Facts] = {}
    for table in described():
        # Of one name in several tables the first counts: that of flows, links or queues.
        known = {**_of_table(table), **known}
    return known | {name: known[other] for name, other in LIKE.items()}


def facts(column: str, table: str | None = None) -> Facts | None:
    """The facts of a column of a run, of this table if it has one of the name.

    `None` of one that is in no table and like none.

    >>> facts("share_per_host").scale, facts("queueing_s_p99").better, facts("utilisation").ratio
    ('logit', 'lower', True)
    """
    own = {} if table is None else _of_table(table)
    return own.get(column) or _known().get(column)


def is_ratio(column: str) -> bool:
    """Whether a column is a part of a whole, which is shown in percent."""
    known = facts(column)
    return known is not None and known.ratio


@cache
def keys(table: str) -> tuple[str, ...]:
    """The columns that tell the rows of a run apart.

    >>> keys("queues")
    ('link', 'direction')
    """
    return tuple(column["name"] for column in described()[table]["columns"] if column["key"])


def interval(values: Iterable[float | None], scale: Scale, ratio: Iterable[float | None] = ()) -> Interval:
    """The mean and its interval, as `statistics.interval` has it.

    Values that are in proportion to `ratio`, pair by pair, have the interval of that: a goodput and
    the share of the line are one number.
    """
    of, beside = ([float("nan") if value is None else value for value in each] for each in (values, ratio))
    return Interval(*_native.interval(of, scale, beside))
