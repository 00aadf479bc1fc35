"""What changed from one study to another: scenario, axes, versions, and results by pairs.

Runs of both at the same values of the axes and with the same seed are pairs, so that a difference
is what the change does and not what chance does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import fairq._native as _native
from fairq import statistics
from fairq.core.records import Beside, Named, Record
from fairq.statistics import Scale
from fairq.studies import summary
from fairq.studies.stored_runs import Results
from fairq.studies.study_results import Scalar
from fairq.studies.summary import Place, Quantity, Values


class Change(Record, named="Changed", places=("what", "field", "a", "b")):
    """A field that differs between two studies."""

    what: Annotated[Literal["version", "axes", "study", "scenario"], "Where the field is."]
    field: Annotated[str, "Its name or path."]
    a: Annotated[Scalar | list[Scalar], "What the first study has; null if it has none."]
    b: Annotated[Scalar | list[Scalar], "What the second study has."]


class Row(Record, named="Differing", places=("axes", "quantity", "group", "a", "b", "found")):
    """A quantity of a group, as a flow, at one point of both studies."""

    axes: Annotated[Mapping[str, Scalar], "The point: the axes that both studies have."]
    table: Annotated[str, "The table of the quantity."]
    column: Annotated[str, Named("quantity"), "Its column, with its unit."]
    group: Annotated[str, Named("of"), "The group: a flow, a direction of a link, a receiver."]
    a: Annotated[float | None, "The mean of the first study, over the seeds that both have."]
    b: Annotated[float | None, "The mean of the second study."]
    difference: Annotated[float | None, "The mean of b - a over these seeds; null if there is none."]
    low: Annotated[float | None, "The lower end of its 95 % interval; null of fewer than two seeds."]
    high: Annotated[float | None, "The upper end of its 95 % interval."]
    decided: Annotated[bool, "Whether 0 is outside of the interval."]
    more_seeds: Annotated[
        int | None, "How many more seeds would decide it, if it stays what it is; null if none would."
    ]
    seeds: Annotated[int, Named("count"), "The seeds that both have."]
    left_out: Annotated[int, "The seeds of which a study has no value."]
    quantity: Annotated[Quantity, Beside("The table and the column.")]
    found: Annotated[statistics.Paired, Beside("The mean of b - a with its interval.")]


class Diff(Record, named="Diffed", places=("changes", "rows", "same_runs", "runs", "notes")):
    """What changed from one study to another."""

    changes: Annotated[list[Change], "The fields that differ."]
    rows: Annotated[list[Row], "The results at the points of both."]
    runs: Annotated[tuple[int, int], "The runs of each study that exist."]
    same_runs: Annotated[int, "The runs that both have, whose results are the same."]
    notes: Annotated[list[str], "What could not be compared, and damaged parts."]


def diff(a: Results, b: Results) -> Diff:
    """Compare two studies: what was changed, and the difference b - a at the points of both."""
    changes = [*_versions(a, b), *_axes(a, b), *_fields("scenario", _scenario(a), _scenario(b))]
    runs = [{run.digest for run in each.runs() if run.part} for each in (a, b)]
    notes = [f"{each.store.root}: {damage}" for each in (a, b) for damage in each.damages]
    common = tuple(axis for axis in a.axes if axis in b.axes)
    if said := _unmatched(a, b, common):
        return Diff(changes, [], len(runs[0] & runs[1]), (len(runs[0]), len(runs[1])), [*notes, said])
    rows = list(_rows(a, b, common))
    if not rows:
        notes.append("The studies have no point, table or flow in common: no results can be compared.")
    elif not any(row.found.count for row in rows):
        notes.append("The studies have no seed in common: runs cannot be paired.")
    return Diff(changes, rows, len(runs[0] & runs[1]), (len(runs[0]), len(runs[1])), notes)


def _versions(a: Results, b: Results) -> Iterator[Change]:
    ours, theirs = (each.store.header() or {} for each in (a, b))
    for name in ("fairq", "results", "columns"):
        if ours.get(name) != theirs.get(name):
            yield Change("version", name, ours.get(name), theirs.get(name))


def _axes(a: Results, b: Results) -> Iterator[Change]:
    """Axes that one study alone has, or with other values; then seeds and what is kept."""
    levels: list[dict[str, list[Any]]] = [
        {axis: list(dict.fromkeys(point.axes[axis] for point in each.study.points)) for axis in each.axes}
        for each in (a, b)
    ]
    yield from _fields("axes", *levels)
    said = [
        {
            "replications": max(len(point.digests) for point in each.study.points),
            "seed": min(point.seed for point in each.study.points),
            "keep": list(each.study.keep.names),
        }
        for each in (a, b)
    ]
    yield from _fields("study", *said)


def _scenario(of: Results) -> dict[str, Any]:
    """The fields of the scenario by their paths."""
    tree, _ = _native.toml_tree(*of.study.scenario[:2])
    return dict(_flat(json.loads(tree), ""))


def _flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        for at, inner in enumerate(value):
            name = inner.get("name", at) if isinstance(inner, Mapping) else at
            yield from _flat(inner, f"{path}[{name}]")
    else:
        yield path, value


def _fields(what: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            yield Change(what, name, ours.get(name), theirs.get(name))


def _unmatched(a: Results, b: Results, common: Sequence[str]) -> str:
    """Why points cannot be matched; "" if they can."""
    for each in (a, b):
        places = [tuple(point.axes[axis] for axis in common) for point in each.study.points]
        if len(set(places)) < len(places):
            alone = ", ".join(axis for axis in each.axes if axis not in common)
            return f"The study {each.study.name} alone has the axis {alone}: its points have no counterparts."
    return ""


def _rows(a: Results, b: Results, common: tuple[str, ...]) -> Iterator[Row]:
    asked = [quantity for quantity in summary.quantities(a) if quantity.table in b.tables]
    ours, theirs = summary.values(a, asked), summary.values(b, asked)
    for quantity in asked:
        if quantity not in ours or quantity not in theirs:
            continue
        of = [_by_common(each[quantity], common) for each in (ours, theirs)]
        scale: Scale = ours[quantity].scale if ours[quantity].scale == theirs[quantity].scale else "plain"
        for key in of[0]:
            if key in of[1]:
                yield _row(quantity, key, common, of[0][key], of[1][key], scale)


def _by_common(of: Values, common: tuple[str, ...]) -> dict[tuple[Place, str], dict[int, float]]:
    at = [of.axes.index(axis) for axis in common]
    return {(tuple(place[each] for each in at), group): by_seed for (place, group), by_seed in of.by.items()}


def _row(
    quantity: Quantity, key: tuple[Place, str], common: tuple[str, ...], a: Mapping[int, float],
    b: Mapping[int, float], scale: Scale,
) -> Row:  # fmt: skip
    seeds = [seed for seed in a if seed in b]
    found = statistics.paired([b[seed] for seed in seeds], [a[seed] for seed in seeds], scale)
    means = [math.fsum(each[seed] for seed in seeds) / len(seeds) if seeds else None for each in (a, b)]
    return Row(
        dict(zip(common, key[0], strict=True)), quantity, key[1], means[0], means[1], found,
        table=quantity.table, column=quantity.column, document=found._asdict(),
    )  # fmt: skip
