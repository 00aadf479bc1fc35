"""What a store holds: the runs of its study, and the files and rows of their tables.

The files of a table have the digest of a run before its rows, and no axes: a study that gains an
axis, or renames one, keeps its runs. `Results.runs` has the axes by digest; `Results.rows` and the
queries put both together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import fairq._native as _native
from fairq.core import shown
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.pictured import Pictured
from fairq.core.quantities import numbers
from fairq.core.results import Row, Table, described
from fairq.core.rows import ROWS_SHOWN
from fairq.studies.store import Marker, Store
from fairq.studies.study import Study

UNIT_ENDS = {"bit/s": "bit_per_s", "BDP": "bdp", "%": "percent"}
"""How the name of a column ends, by the unit; other units stand as they are."""


class RunRow(NamedTuple):
    """A run of the study, as the table `runs` has it."""

    digest: str
    point: int
    """The number of its point among the study's, from 0."""
    seed: int
    part: str | None
    """The name of its files without their ending; None if the run does not exist."""
    cost_s: float | None
    """The time that it took on one core."""
    error: str | None
    """Why it has failed, if it has and does not exist."""
    axes: Mapping[str, Any]


class Part(NamedTuple):
    """A file of a table, and the runs to take from it; None for all that it holds, as is usual."""

    path: Path
    digests: frozenset[str] | None
    marker: Marker
    """What says how many rows it has, and of which runs."""

    def rows(self, table: str) -> int:
        """The rows that it has by its marker."""
        return self.marker.files[table].rows


class Results(Pictured):
    """The results of a study, as they were at the last `refresh`.

    UsageError if the folder is no store.

    Nothing is written. Parts that are damaged are in `damages`, and their runs do not exist. A part
    that was changed with its size and time kept is found with `verify` alone, which reads all.
    """

    def __init__(self, root: str | os.PathLike[str], *, verify: bool = False) -> None:
        self.store = Store(root, verify=verify)
        self.study: Study = self.store.study()
        self.damages = self.store.damages
        self.refresh()

    def _repr_html_(self) -> str:
        runs = self.runs()
        done = sum(run.part is not None for run in runs)
        rows = [
            {**run.axes, "seed": run.seed, "exists": run.part is not None, "cost_s": run.cost_s, "error": run.error}
            for run in runs[:ROWS_SHOWN]
        ]
        above = shown.sentence(f"{done} of {len(runs)} runs exist; tables: {', '.join(self.tables)}")
        return f"{above}{shown.table(rows, list(rows[0]), len(runs)) if rows else ''}"

    def refresh(self) -> None:
        """Look for runs that were done since."""
        self.store.scan()

    @property
    def other_version(self) -> str | None:
        """What is said of a store whose values or columns are of another fairq."""
        return self.store.other_version

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the study's axes and derived values."""
        return self.study.axes

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that the study keeps; one without rows has no files."""
        return self.study.keep.names

    @cached_property
    def in_base_units(self) -> Mapping[str, tuple[str, Mapping[Any, float]]]:
        """Beside each axis whose texts are of one unit, a column of numbers in the base unit.

        By the column's name, `rate_bit_per_s`: the axis, and the number of each text. A known name
        stays what it is.
        """
        found: dict[str, tuple[str, Mapping[Any, float]]] = {}
        for axis in self.axes:
            texts = list(dict.fromkeys(point.axes[axis] for point in self.study.points))
            read = numbers(texts) if all(isinstance(text, str) for text in texts) else None
            name = f"{axis}_{UNIT_ENDS.get(read[1], read[1])}" if read is not None and read[1] else ""
            if read is not None and name and name not in {*RunRow._fields, *self.axes, *found}:
                found[name] = (axis, dict(zip(texts, read[0], strict=True)))
        return found

    def beside(self, row: Mapping[str, Any]) -> dict[str, float]:
        """The columns of `in_base_units` that go with the axes of a row, and are none of its own."""
        return {
            name: bases[row[axis]]
            for name, (axis, bases) in self.in_base_units.items()
            if name not in row and row.get(axis) in bases
        }

    def runs(self) -> list[RunRow]:
        """All runs of the study, those that exist and those that do not.

        The first seed of each point comes first, then the next.

        Points whose scenarios are the same share the digests of their runs.
        """
        errors = self.store.failed()
        rows = []
        for run in self.study.runs():
            marker = self.store.done.get(run.digest) if self.store.has(run.digest) else None
            said = errors.get(run.digest) if marker is None else None
            rows.append(
                RunRow(
                    run.digest,
                    run.point,
                    run.seed,
                    marker.name if marker else None,
                    marker.runs[run.digest] if marker else None,
                    str(said.get("error")) if said else None,
                    self.study.points[run.point].axes,
                )
            )
        return rows

    def parts(self, table: str) -> list[Part]:
        """The files with the rows of a table of all runs of the study that exist, by name."""
        self._check(table)
        wanted: dict[str, set[str]] = {}
        markers: dict[str, Marker] = {}
        for run in self.study.runs():
            if self.store.has(run.digest):
                marker = self.store.done[run.digest]
                markers[marker.name] = marker
                wanted.setdefault(marker.name, set()).add(run.digest)
        parts = []
        for name, marker in sorted(markers.items()):
            if table in marker.files:
                is_whole = len(wanted[name]) == len(marker.runs)
                digests = None if is_whole else frozenset(wanted[name])
                parts.append(Part(self.store.path(table, marker), digests, marker))
        return parts

    def table(self, name: str, columns: Sequence[str] | None = None) -> Table[Row]:
        """The rows of a table of all runs: `digest`, then its columns or those asked for."""
        return self.table_of(self.parts(name), name, columns)

    def table_of(self, parts: Sequence[Part], name: str, columns: Sequence[str] | None = None) -> Table[Row]:
        """The rows of a table of the runs in `parts`.

        OutputError with the part's name if one does not have the rows that its marker says.
        """
        kinds = {column["name"]: column["kind"] for column in described()[name]["columns"]}
        for column in columns or ():
            if column not in kinds:
                raise UsageError(f"{column}: no such column of {name}{near_miss(column, kinds)}")
        wanted = [("digest", "text"), *((column, kinds[column]) for column in columns or kinds)]
        files = [
            (os.fspath(part.path), set(part.digests) if part.digests else None, set(part.marker.runs), part.rows(name))
            for part in parts
        ]
        return Table(_native.read_parts(files, wanted), Row)

    def rows(self, name: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """The rows of a table as dicts: axes, these in base units, seed, digest, then its columns."""
        of: dict[str, list[RunRow]] = {}
        for run in self.runs():
            of.setdefault(run.digest, []).append(run)
        for row in self.table(name, columns):
            for run in of[row["digest"]]:
                yield {**run.axes, **self.beside({**run.axes, **row}), "seed": run.seed, **row}

    def _check(self, table: str) -> None:
        if table not in self.tables:
            raise UsageError(f"{table}: the study keeps no such table{near_miss(table, self.tables)}")
