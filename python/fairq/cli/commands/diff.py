"""`fairq diff`: what changed from one study to another."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from fairq.cli.printing import as_json, sections
from fairq.core import streams, tables
from fairq.core.declared import PATH, Spec, argument

if TYPE_CHECKING:
    from fairq.studies.difference import Diff


SPEC = Spec(
    "diff",
    "fairq diff before.toml after.toml",
    (
        argument("a", "a study file, or the folder of its store", "STUDY-A", PATH),
        argument("b", "the study that is compared with it", "STUDY-B", PATH),
    ),
    "Results are compared at the points that both have, in pairs of runs with the same seed: a difference is"
    " decided if its 95 % interval does not hold 0.",
    functions=("diff",),
)


def diff(arguments: Namespace) -> str:
    """`fairq diff`."""
    from fairq import api

    found = api.diff(arguments.a, arguments.b)
    if arguments.json:
        return as_json(found.document, "diff")
    for note in found.notes:
        streams.note(note)
    parts = {"What changed": _changes(found)}
    for quantity in dict.fromkeys(row.quantity for row in found.rows):
        rows = [_row(row) for row in found.rows if row.quantity == quantity]
        columns = [column for column in tables.columns_of(rows) if not column.endswith(("_low", "_high"))]
        parts[f"{tables.words(quantity.column)[0]} of {quantity.table}, b - a"] = tables.text(
            rows, columns, keep=columns, more="--json has all"
        )
    decided = sum(row.found.decided for row in found.rows)
    last = f"{found.same_runs} of {found.runs[0]} and {found.runs[1]} runs are the same"
    if found.rows:
        last += f"; {decided} of {len(found.rows)} differences are decided"
    return f"{sections(parts)}\n\n{last}.\n"


def _changes(found: Diff) -> str:
    if not found.changes:
        return "Nothing: both studies have the same scenario, axes and version."
    rows = [
        {"what": change.what, "field": change.field, "a": _said(change.a), "b": _said(change.b)}
        for change in found.changes
    ]
    return tables.text(rows, keep=["what"], more="--json has all")


def _said(value: Any) -> str:
    if value is None:
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _row(row: Any) -> dict[str, Any]:
    """A row as the table shows it; the names of its numbers carry their unit."""
    unit = tables.suffix(row.quantity.column)
    name = {each: f"{each}_{unit}" if unit else each for each in ("a", "b", "difference")}
    found = row.found
    own = {
        "of": row.group, name["a"]: row.a, name["b"]: row.b, name["difference"]: found.difference,
        f"{name['difference']}_low": found.low, f"{name['difference']}_high": found.high,
        "decided": found.decided, "more_seeds": found.more_seeds or None,
    }  # fmt: skip
    return {**{f"axis {axis}" if axis in own else axis: value for axis, value in row.axes.items()}, **own}
