"""Tables of results: rows as frozen objects, columns by name, Arrow for polars, pandas, pyarrow and DuckDB.

A table is a sequence of rows. A row is a mapping from column name to value and has its columns as attributes too:
`row["delay_s_p99"]` is `row.delay_s_p99`; a column called like a keyword of Python, as `from`, is `row.from_`. A value
that does not exist is None.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from fairq import _native, tables
from fairq.columns import described as described
from fairq.errors import UsageError
from fairq.remedies import reason

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from fairq import _types

PART = 4096
"""Rows that are made at a time."""

ROWS_SHOWN = 10
"""Rows of a table that a prompt or a notebook shows."""


class Row(Mapping[str, Any]):
    """One row of a table; it cannot be changed."""

    __slots__ = ("_names", "_values")
    _names: Mapping[str, int]
    _values: tuple[Any, ...]

    def __init__(self, names: Mapping[str, int], values: tuple[Any, ...]) -> None:
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_values", values)

    def __getitem__(self, name: str) -> Any:
        return self._values[self._names[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getattr__(self, name: str) -> Any:
        at = None if name.startswith("_") else self._names.get(name, self._names.get(name.removesuffix("_")))
        if at is None:
            from fairq.near import near_miss

            raise AttributeError(f"{name}: no such column{near_miss(name, list(self._names))}", name=name, obj=self)
        return self._values[at]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: a row of a result cannot be changed; dict(row) makes one that can")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self._names), self._values)

    def __hash__(self) -> int:
        return hash((tuple(self._names), self._values))

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.items())
        return f"{type(self).__name__}({said})"


R = TypeVar("R", bound=Row, covariant=True)


if TYPE_CHECKING:
    Rows = Sequence[R]
else:
    # A Sequence when it is checked and not when it runs: polars would take the rows of one, not Arrow's memory.
    Rows = Generic


class Table(Rows[R]):
    """A table of results: a sequence of its rows.

    Polars, pandas, pyarrow and DuckDB take it as it is, by Arrow's C data interface and without a copy of its numbers:
    `polars.DataFrame(table)`.
    """

    __slots__ = ("_names", "_native", "_row")

    def __init__(self, native: Any, row: Callable[[Mapping[str, int], tuple[Any, ...]], R]) -> None:
        self._native, self._row = native, row
        self._names = {name: at for at, name in enumerate(native.names)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(self._names)

    def column(self, name: str) -> list[Any]:
        """All values of a column."""
        if name not in self._names:
            from fairq.near import near_miss

            raise KeyError(f"{name}: no such column{near_miss(name, self.columns)}")
        values: list[Any] = self._native.cells(self._names[name], 0, len(self))
        return values

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, at: int) -> R: ...
    @overload
    def __getitem__(self, at: slice) -> list[R]: ...
    @overload
    def __getitem__(self, at: str) -> list[Any]: ...
    def __getitem__(self, at: int | slice | str) -> R | list[R] | list[Any]:
        if isinstance(at, str):
            return self.column(at)
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = at + len(self) if at < 0 else at
        if not 0 <= number < len(self):
            raise IndexError(f"{at}: the table has {len(self)} rows")
        return next(self._rows(number, 1))

    def __iter__(self) -> Iterator[R]:
        for start in range(0, len(self), PART):
            yield from self._rows(start, PART)

    def _rows(self, start: int, count: int) -> Iterator[R]:
        cells = [self._native.cells(at, start, count) for at in range(len(self._names))]
        return (self._row(self._names, values) for values in zip(*cells, strict=True))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Table | Sequence) and not isinstance(other, str):
            return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def to_polars(self) -> polars.DataFrame:
        """As a polars data frame; needs polars."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas data frame; needs pandas."""
        import pandas

        return pandas.DataFrame({name: self.column(name) for name in self.columns})

    def to_arrow(self) -> pyarrow.Table:
        """As an Arrow table; needs pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def write_parquet(self, path: str | os.PathLike[str], source: str = "", seed: int | None = None) -> None:
        """Write a Parquet file; `source` and `seed` go into its metadata. OutputError if it cannot be written."""
        self._native.write_parquet(_path(path), source, None if seed is None else int(seed))

    def __repr__(self) -> str:
        every = "the same in all rows" if len(self) <= ROWS_SHOWN else "the same in all rows shown"
        shown = tables.text(self[:ROWS_SHOWN], self.columns, every=every, more=".columns names all")
        return f"{shown}\n{_size(len(self), len(self.columns))}"

    def _repr_html_(self) -> str:
        from html import escape

        heads, rows = tables.read(self[:ROWS_SHOWN], self.columns)
        above = "".join(f"<th>{escape(head)}</th>" for head in heads)
        below = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        size = escape(_size(len(self), len(self.columns)))
        return f"<table><thead><tr>{above}</tr></thead><tbody>{below}</tbody></table><p>{size}</p>"


def _path(path: Any) -> str:
    """A path of a file as text; UsageError if it is none."""
    try:
        return str(os.fspath(path))
    except TypeError:
        raise UsageError(f"path: {path!r} is a {type(path).__name__}; write the path of a file") from None


def _into(path: Any, write: Callable[[Callable[[str], Any]], None]) -> None:
    """Write pieces of text into a file, whole or not at all."""
    from fairq.output import file

    with file(_path(path)) as place, place.open("w", encoding="utf-8") as into:
        write(into.write)


def _size(rows: int, columns: int) -> str:
    return f"{rows} row{'' if rows == 1 else 's'}, {columns} columns"


class Result:
    """What a scenario's run gave.

    `flows`, `links` and `queues` hold all rows, with the axes' values as columns: means over the seeds, with the ends
    of their 95 % confidence intervals where there are several seeds. So does `transfers`, which has no rows if no
    traffic is made of transfers, and `sessions`, which has one for each receiver of a session. `series`, `packets` and
    `states` have rows only if they were asked for, with the seed as a column. `by_seed("flows")` is a table with the
    rows of each seed.

    `points` has one element for each combination of the axes' values (one when there are no axes), with the tables of
    that point and the same per seed, as dicts and lists. `notes` say what limited the run that may not have been meant,
    each with a code, where, and a text (docs/guide/notes.md). `run_info` is what differs between machines (times,
    versions, packet-hops). `document` is all of it as `--json` prints it.
    """

    def __init__(self, native: _native.Outcome, theory: Table[_types.Theory] | None = None) -> None:
        self._native = native
        self._tables: dict[str, Table[Any]] = {}
        self._document: dict[str, Any] | None = None
        self.theory = theory

    @property
    def flows(self) -> Table[_types.Flow]:
        """One row for each flow."""
        return self._table("flows")

    @property
    def links(self) -> Table[_types.Link]:
        """One row for each direction of each link."""
        return self._table("links")

    @property
    def queues(self) -> Table[_types.Queue]:
        """One row for the queue before each direction of each link."""
        return self._table("queues")

    @property
    def transfers(self) -> Table[_types.Transfer]:
        """One row for the transfers of each flow, and for each decade of bytes."""
        return self._table("transfers")

    @property
    def sessions(self) -> Table[_types.Session]:
        """One row for each receiver of each multicast session."""
        return self._table("sessions")

    @property
    def series(self) -> Table[_types.Sample]:
        """Samples over time."""
        return self._table("series")

    @property
    def packets(self) -> Table[_types.Packet]:
        """Each packet of a flow."""
        return self._table("packets")

    @property
    def states(self) -> Table[_types.State]:
        """What each discipline counts and keeps at the end."""
        return self._table("states")

    def by_seed(self, name: str) -> Table[Any]:
        """The table called `name` with the rows of each seed."""
        return table(self._native.by_seed(name), name)

    def _table(self, name: str) -> Table[Any]:
        if name not in self._tables:
            self._tables[name] = table(self._native.table(name), name)
        return self._tables[name]

    @property
    def document(self) -> dict[str, Any]:
        """All of it as dicts and lists, as `--json` prints it."""
        if self._document is None:
            parts: list[str] = []
            self._native.write_json(parts.append)
            self._document = json.loads("".join(parts))
        if self.theory is not None:
            self._document["theory"] = [dict(row) for row in self.theory]
        return self._document

    def write_json(self, write: Callable[[str], Any] | str | os.PathLike[str]) -> None:
        """Write the document as JSON into the file of a path, whole or not at all.

        Or call `write` with the text, piece by piece: it takes more room than the tables.
        """
        if not callable(write):
            return _into(write, self.write_json)
        if self.theory is None:
            self._native.write_json(write)
        else:
            encoder = json.JSONEncoder(indent=1, ensure_ascii=False, allow_nan=False)
            for piece in encoder.iterencode(self.document):
                write(piece)
        return None

    def write_trace(self, write: Callable[[str], Any] | str | os.PathLike[str]) -> None:
        """Write the trace of the first run into the file of a path, whole or not at all.

        Or call `write` with its JSON text, for viewers, piece by piece. UsageError if none was
        kept: `fairq.run(…, trace=True)`.
        """
        if not callable(write):
            return _into(write, self.write_trace)
        self._native.write_trace(write)
        return None

    def write_qlog(self, flow: str, write: Callable[[str], Any] | str | os.PathLike[str]) -> None:
        """Write what a flow's sender did and heard in the first run, as qlog (JSON-SEQ, version 0.3).

        `write` is as that of `write_trace`. Packets sent, acknowledged and sent again, and windows
        at the instants of the samples (draft-ietf-quic-qlog-quic-events-02). UsageError if no trace
        was kept, `fairq.run(…, trace=True)`, or there is no such flow.
        """
        if not callable(write):
            return _into(write, partial(self.write_qlog, flow))
        self._native.write_qlog(flow, write)
        return None

    @property
    def scenario(self) -> Mapping[str, Any]:
        """The scenario with all its fields, those that were left to their defaults too."""
        scenario: Mapping[str, Any] = self.document["scenario"]
        return scenario

    @property
    def points(self) -> Sequence[Mapping[str, Any]]:
        """The tables of each point of the axes and of each seed, as dicts and lists."""
        points: Sequence[Mapping[str, Any]] = self.document["points"]
        return points

    @property
    def notes(self) -> Sequence[Mapping[str, Any]]:
        """What limited the run that may not have been meant."""
        notes: Sequence[Mapping[str, Any]] = self.document["notes"]
        return notes

    @property
    def run_info(self) -> Mapping[str, Any]:
        """What differs between machines."""
        info: Mapping[str, Any] = self.document["run_info"]
        return info

    def __repr__(self) -> str:
        sizes = [f"{name} {len(self._table(name))}" for name in TABLES if len(self._table(name))]
        return f"<Result: points {len(self.points)}, {', '.join(sizes)}>"


def read_result(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The document of a result that `fairq run` wrote: a folder of `--out`, or a file of `--json`.

    UsageError if there is none, or if it is of another version of results.
    """
    place = Path(path) / "result.json" if Path(path).is_dir() else Path(path)
    try:
        document: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{place}: {reason(error)}; give a folder that fairq run --out wrote, or a file of --json"
        ) from None
    except ValueError:
        raise UsageError(f"{place}: not JSON; give a folder that fairq run --out wrote, or a file of --json") from None
    version = document.get("schema_version") if isinstance(document, dict) else None
    if not isinstance(version, int) or "points" not in document:
        raise UsageError(f"{place}: not a result of fairq run; write one with fairq run SCENARIO --out DIR")
    ours = _schema_version()
    if version != ours:
        age = "an older" if version < ours else "a newer"
        raise UsageError(
            f"{place}: written by {age} fairq (results of version {version}, this one reads {ours}); run its scenario "
            "again: it is in the file, under scenario"
        )
    return document


@cache
def _schema_version() -> int:
    version: int = json.loads(_native.schema("result"))["properties"]["schema_version"]["const"]
    return version


TABLES = ("flows", "links", "queues", "transfers", "sessions", "series", "packets", "states")
"""The tables of a run."""


@cache
def row_class(table: str) -> type[Row]:
    """The type of the rows of a table."""
    from fairq import _types

    found: type[Row] = getattr(_types, described()[table]["class"])
    return found


def table_of(name: str, rows: Sequence[Mapping[str, Any]]) -> Table[Any]:
    """The table called `name` with these rows; UsageError for a value of another kind."""
    return table(_native.table_of(name, json.dumps(rows)), name)


def table(native: Any, name: str) -> Table[Any]:
    """The compiled part's table as the table called `name`."""
    return Table(native, row_class(name))
