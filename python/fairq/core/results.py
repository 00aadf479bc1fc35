"""What a scenario's runs gave: its tables, its document, and how both are read again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fairq._native as _native
from fairq.core import shown
from fairq.core.columns import described as described
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.pictured import Pictured
from fairq.core.remedies import reason
from fairq.core.rows import Kept, as_text, write_into
from fairq.core.rows import Row as Row
from fairq.core.rows import Table as Table

if TYPE_CHECKING:
    from fairq.core import _types


class Result(Pictured, Mapping[str, Any]):
    """What a scenario's run gave.

    `flows`, `links` and `queues` hold all rows, with the axes' values as columns: means over the seeds, with the ends
    of their 95 % confidence intervals where there are several seeds. So does `transfers`, which has no rows if no
    traffic is made of transfers, and `sessions`, which has one for each receiver of a session. `series`, `packets` and
    `states` have rows only if they were asked for, with the seed as a column. `by_seed("flows")` is a table with the
    rows of each seed.

    `points` has one element for each combination of the axes' values (one when there are no axes), with the tables of
    that point and the same per seed, as dicts and lists. `notes` say what limited the run that may not have been meant,
    each with a code, where, and a text (docs/guide/notes.md). `run_info` is what differs between machines (times,
    versions, packet-hops). `document` is all of it as `--json` prints it, and a result answers by
    its keys too: `result["points"]`.
    """

    def __init__(self, native: _native.Outcome | _Written, theory: Table[_types.Theory] | None = None) -> None:
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
        """What each discipline counts and keeps, at the end and at the samples of `series`."""
        return self._table("states")

    def __getitem__(self, name: str) -> Any:
        return self.document[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)

    def __bool__(self) -> bool:
        return True

    def __hash__(self) -> int:
        return hash((self.flows.columns, len(self.flows)))

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
            return write_into(write, self.write_json)
        if self.theory is None:
            self._native.write_json(write)
        else:
            encoder = json.JSONEncoder(indent=1, ensure_ascii=False, allow_nan=False)
            for piece in encoder.iterencode(self.document):
                write(piece)
        return None

    def write_csv(self, path: str | os.PathLike[str], table: str = "flows") -> None:
        """Write a table as CSV into a file, whole or not at all.

        UsageError if there is none called so, OutputError if the file cannot be written.
        """
        if table not in TABLES:
            raise UsageError(f"table: {table}: a result has no such table{near_miss(table, TABLES)}")
        self._table(table).write_csv(path)

    def write_trace(self, write: Callable[[str], Any] | str | os.PathLike[str]) -> None:
        """Write the trace of the first run into the file of a path, whole or not at all.

        Or call `write` with its JSON text, for viewers, piece by piece. UsageError if none was
        kept: `fairq.run(…, trace=True)`.
        """
        if not callable(write):
            return write_into(write, self.write_trace)
        self._native.write_trace(write)
        return None

    def write_qlog(self, flow: str, write: Callable[[str], Any] | str | os.PathLike[str]) -> None:
        """Write what a flow's sender did and heard in the first run, as qlog (JSON-SEQ, version 0.3).

        `write` is as that of `write_trace`. Packets sent, acknowledged and sent again, and windows
        at the instants of the samples (draft-ietf-quic-qlog-quic-events-02). UsageError if no trace
        was kept, `fairq.run(…, trace=True)`, or there is no such flow.
        """
        if not callable(write):
            return write_into(write, partial(self.write_qlog, flow))
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

    def _repr_html_(self) -> str:
        title = self.scenario.get("title") or ""
        notes = [note["text"] for note in self.notes[:NOTES_SHOWN]]
        more = len(self.notes) - len(notes)
        said = [title, *notes, *([f"{more} more notes: .notes has all"] if more else [])]
        return f"{shown.sentence(chr(10).join(filter(None, said)))}{self.flows._repr_html_()}"

    def __repr__(self) -> str:
        sizes = [f"{name} {len(self._table(name))}" for name in TABLES if len(self._table(name))]
        return f"<Result: points {len(self.points)}, {', '.join(sizes)}>"


class _Written:
    """A document that was read, in place of the compiled part's outcome."""

    def __init__(self, text: str, document: Mapping[str, Any]) -> None:
        self._text, self._document = text, document

    def table(self, name: str) -> Kept:
        """The table called so."""
        seed = ["seed"] if name in ALONE else []
        return self._kept(name, list(self._document.get(name, ())), seed)

    def by_seed(self, name: str) -> Kept:
        """The table's rows of each seed."""
        if name not in TABLES:
            raise UsageError(f"{name}: a result that was read has no such table{near_miss(name, TABLES)}")
        if name in ALONE:
            return self.table(name)
        every = [(point["axes"], seed) for point in self._document["points"] for seed in point["seeds"]]
        rows = [{**axes, "seed": seed["seed"], **row} for axes, seed in every for row in seed[name]]
        return self._kept(name, rows, ["seed"])

    def _kept(self, name: str, rows: list[dict[str, Any]], more: Sequence[str]) -> Kept:
        """The rows; their first columns are the axes and `more`, and without rows the table's follow."""
        axes = [axis for point in self._document["points"][:1] for axis in point["axes"]]
        columns = [column["name"] for column in described()[name]["columns"]]
        return Kept(rows, [*axes, *more, *([] if rows else columns)])

    def write_json(self, write: Callable[[str], object]) -> None:
        """Give the text that was read."""
        write(self._text)

    def write_trace(self, write: Callable[[str], object]) -> None:
        """Refuse: a document has no trace."""
        raise UsageError("a result that was read has no trace; run its scenario by fairq.run(…, trace=True)")

    def write_qlog(self, flow: str, write: Callable[[str], object]) -> None:
        """Refuse: a document has no trace."""
        self.write_trace(write)


def written(document: Mapping[str, Any]) -> _Written:
    """A document as what a `Result` is made of."""
    return _Written(as_text(document), document)


def read_result(path: str | os.PathLike[str]) -> Result:
    """Read a result again that `fairq run` wrote: a folder of `--out`, or a file of `--json`.

    UsageError if there is none, or if it is of another version of results.
    """
    place = Path(path) / "result.json" if Path(path).is_dir() else Path(path)
    try:
        text = place.read_text(encoding="utf-8")
        document: dict[str, Any] = json.loads(text)
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
    theory: Any = Table.of(row_class("theory"), document["theory"]) if "theory" in document else None
    return Result(_Written(text, document), theory)


@cache
def _schema_version() -> int:
    version: int = json.loads(_native.schema("result"))["properties"]["schema_version"]["const"]
    return version


NOTES_SHOWN = 3
"""Notes of a run that a notebook shows."""

TABLES = ("flows", "links", "queues", "transfers", "sessions", "series", "packets", "states")
"""The tables of a run."""

ALONE = ("series", "packets", "states")
"""Tables of which no mean is taken: they have the seed as a column."""


@cache
def row_class(table: str) -> type[Any]:
    """The type of the rows of a table."""
    from fairq.core import _types

    found: type[Any] = getattr(_types, described()[table]["class"])
    return found


def table_of(name: str, rows: Sequence[Mapping[str, Any]]) -> Table[Any]:
    """The table called `name` with these rows; UsageError for a value of another kind."""
    return table(_native.table_of(name, json.dumps(rows)), name)


def table(native: Any, name: str) -> Table[Any]:
    """The compiled part's table as the table called `name`."""
    return Table(native, row_class(name))
