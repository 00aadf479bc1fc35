"""What the runs of a study say together: means with their intervals, and what each axis changes.

A run gives one value of a column for each *group*: a flow entry, a direction of a link, a receiver.
Copies of a flow's entry (`name.1`, `name.2`) are averaged within the run, so that a run counts
once, however many flows it has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fairq import statistics
from fairq.core import columns
from fairq.core.columns import described
from fairq.statistics import Scale
from fairq.studies.stored_runs import Results

KEYS = {table: columns.keys(table) for table in ("flows", "links", "queues", "transfers", "sessions")}
"""The columns that tell the rows of a run apart."""

COPY = re.compile(r"\.\d+$")

Place = tuple[Any, ...]
"""The values of the axes, in their order."""


class Quantity(NamedTuple):
    """A column of a table."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass
class Values:
    """The values of one quantity: by the place on the axes and the group, then by seed."""

    axes: tuple[str, ...]
    scale: Scale = "plain"
    """The scale of its intervals."""
    by: dict[tuple[Place, str], dict[int, float]] = field(default_factory=dict)
    ratios: dict[tuple[Place, str], dict[int, float]] = field(default_factory=dict)
    """Those of the ratio that it may be in proportion to, which then has its interval."""

    @property
    def groups(self) -> list[str]:
        """The groups, in the order in which they occur."""
        return list(dict.fromkeys(group for _, group in self.by))

    @property
    def places(self) -> list[Place]:
        """The places on the axes, in the order of the study's points."""
        return list(dict.fromkeys(place for place, _ in self.by))


def values(results: Results, quantities: Sequence[Quantity]) -> dict[Quantity, Values]:
    """The values of some quantities of one study; those without a value are left out.

    So are those of a table that the study does not keep.
    """
    found: dict[Quantity, Values] = {}
    for table in dict.fromkeys(quantity.table for quantity in quantities if quantity.table in results.tables):
        mine = [quantity for quantity in quantities if quantity.table == table]
        known = {each: columns.facts(each.column, table) for each in mine}
        ratios = {each: Quantity(table, of.of_ratio) for each, of in known.items() if of and of.of_ratio}
        read = _read(results, table, list(dict.fromkeys([*mine, *ratios.values()])))
        for quantity in mine:
            if by := read[quantity]:
                own = ratios.get(quantity)
                scale = scale_of(quantity.column, [value for by_seed in by.values() for value in by_seed.values()])
                found[quantity] = Values(results.axes, scale, by, read[own] if own else {})
    return {quantity: found[quantity] for quantity in quantities if quantity in found}


def order(results: Results) -> dict[Place, int]:
    """The number of each place on the axes among the study's points."""
    return {tuple(point.axes[axis] for axis in results.axes): at for at, point in enumerate(results.study.points)}


def _read(
    results: Results, table: str, quantities: Sequence[Quantity]
) -> dict[Quantity, dict[tuple[Place, str], dict[int, float]]]:
    """Every value by quantity, place and group, and seed: the mean of copies of a flow."""
    names = [quantity.column for quantity in quantities]
    found: dict[Quantity, dict[tuple[Place, str], dict[int, list[float]]]] = {each: {} for each in quantities}
    for row in results.rows(table, [*KEYS[table], *names]):
        key = (tuple(row[axis] for axis in results.axes), group_of(table, row))
        for quantity in quantities:
            value = row[quantity.column]
            if value is not None and math.isfinite(value):
                found[quantity].setdefault(key, {}).setdefault(row["seed"], []).append(float(value))
    at = order(results)
    return {
        quantity: {
            key: {seed: math.fsum(each) / len(each) for seed, each in by_seed.items()}
            for key, by_seed in sorted(rows.items(), key=lambda each: at[each[0][0]])
        }
        for quantity, rows in found.items()
    }


def group_of(table: str, row: Mapping[str, Any]) -> str:
    """The group of a row: the names that tell it apart, a flow's without the number of its copy."""
    return " ".join(COPY.sub("", str(row[key])) if key == "flow" else str(row[key]) for key in KEYS[table])


def scale_of(column: str, values: Iterable[float]) -> Scale:
    """The scale of the intervals of some values of a column.

    A sum of ratios may be above 1, and so may a utilisation by an older version of fairq.
    """
    facts = columns.facts(column)
    scale: Scale = "plain" if facts is None else facts.scale
    return "log" if scale == "logit" and any(value > 1 for value in values) else scale


def means(of: Values, quantity: Quantity) -> list[dict[str, Any]]:
    """A row for each place and group: seeds, axes, group, the mean and the ends of its interval.

    The group stands under the first of the columns that tell the rows of its table apart, which no
    axis can be called.
    """
    rows = []
    column, group = quantity.column, KEYS[quantity.table][0]
    for (place, name), by_seed in of.by.items():
        ratios = of.ratios.get((place, name), {})
        found = columns.interval(by_seed.values(), of.scale, [ratios.get(seed) for seed in by_seed])
        own = {group: name, column: found.mean, f"{column}_low": found.low, f"{column}_high": found.high}
        rows.append({"seeds": found.count, **dict(zip(of.axes, place, strict=True)), **own})
    return rows


class Effect(NamedTuple):
    """What a value of an axis does to a quantity of a group, against the first value."""

    axis: str
    value: Any
    group: str
    mean: float | None
    """The mean at this value, over all places and seeds."""
    against: Any
    """The first value of the axis; None for that itself, which has no difference."""
    found: statistics.Paired | None


def effects(of: Values) -> list[Effect]:
    """The main effects of all axes: the mean at each value, and its difference from the first.

    A difference is one number for each seed, the mean over all places that both values have, other
    axes being equal; its interval is over the seeds, which are independent of each other where the
    places are not.
    """
    found = []
    for at, axis in enumerate(of.axes):
        levels = list(dict.fromkeys(place[at] for place in of.places))
        if len(levels) < 2:
            continue
        for group in of.groups:
            for level in levels:
                own = _at(of, at, level, group)
                known = [value for by_seed in own.values() for value in by_seed.values()]
                mean = math.fsum(known) / len(known) if known else None
                is_first = level == levels[0]
                paired = None if is_first else _difference(own, _at(of, at, levels[0], group), of.scale)
                found.append(Effect(axis, level, group, mean, None if is_first else levels[0], paired))
    return found


def _at(of: Values, at: int, level: Any, group: str) -> dict[Place, dict[int, float]]:
    """The values of a group at one value of an axis, by the place on the other axes."""
    return {
        (*place[:at], *place[at + 1 :]): by_seed
        for (place, name), by_seed in of.by.items()
        if place[at] == level and name == group
    }


def _difference(
    a: Mapping[Place, Mapping[int, float]], b: Mapping[Place, Mapping[int, float]], scale: Scale
) -> statistics.Paired | None:
    """The paired difference of two sets of places, over the seeds that all places of both have."""
    both = [place for place in a if place in b]
    if not both:
        return None
    seeds = sorted(set.intersection(*(set(side[place]) for side in (a, b) for place in both)))
    ours, theirs = ([math.fsum(side[place][seed] for place in both) / len(both) for seed in seeds] for side in (a, b))
    return statistics.paired(ours, theirs, scale)


USUAL = (
    Quantity("flows", "throughput_bit_per_s"),
    Quantity("flows", "queueing_s_mean"),
    Quantity("flows", "queueing_s_p99"),
    Quantity("transfers", "completion_s_mean"),
    Quantity("sessions", "goodput_bit_per_s"),
    Quantity("queues", "utilisation"),
    Quantity("queues", "jain"),
)
"""What is shown of a study that does not say it."""


def quantities(results: Results) -> list[Quantity]:
    """What is to be shown of a study: the columns of its [draw], else the usual ones."""
    asked = results.study.draw.columns
    if not asked:
        return [quantity for quantity in USUAL if quantity.table in results.tables]
    found = []
    for name in asked:
        column = name.removesuffix("_low").removesuffix("_high")
        tables = [table for table in KEYS if table in results.tables and _has(table, column)]
        found += [Quantity(table, column) for table in tables[:1]]
    return list(dict.fromkeys(found))


def _has(table: str, column: str) -> bool:
    return any(each["name"] == column and each["kind"] != "text" for each in described()[table]["columns"])


BESIDE = Quantity("flows", "queueing_s_mean")
"""What stands beside a throughput, which says nothing of delay."""


def by_group(results: Results, first: Quantity) -> list[dict[str, Any]]:
    """A row for each place and group of flows: axes, group, runs, `first` and the delay beside it.

    Flows of several entries are never averaged together: the mean of a download and a call is the
    throughput of neither.
    """
    wanted = [first, BESIDE] if first.table == BESIDE.table and first != BESIDE else [first]
    rows: dict[tuple[Place, str], dict[str, Any]] = {}
    group = KEYS[first.table][0]
    for quantity, of in values(results, wanted).items():
        for row in means(of, quantity):
            place = tuple(row[axis] for axis in results.axes)
            own = rows.setdefault(
                (place, row[group]), dict(zip(results.axes, place, strict=True)) | {group: row[group]}
            )
            own |= {"runs": max(row.pop("seeds"), own.get("runs", 0)), **row}
    at = order(results)
    return sorted(rows.values(), key=lambda row: at[tuple(row[axis] for axis in results.axes)])
