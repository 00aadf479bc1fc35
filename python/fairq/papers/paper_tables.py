"""The tables and claims of a paper as data: which runs they are about, which cells they have.

A paper's compare.py says its `Tables`, which answer what the driver asks (papers.py: Compare).

>>> loss = Cell("FQ", "loss", "all", lambda run, flow: run[flow], ("a",))
>>> table = Table("table 1", "runs", lambda runs: [loss])
>>> runs = {"runs": Runs(("job",), lambda document: document)}
>>> said = Tables("p", {"table 1": "losses"}, runs, [table])
>>> said.needs(None, "table 1")
['job']
>>> [line.measured for line in said.lines(None, [], {"job": [{"a": 1.0}, {"a": 2.0}]})]
[1.5]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fairq.papers.papers import SEEDS, Job, Results, Setup, reason
from fairq.papers.verdicts import Claim, Line, Published, beyond, claim_line, line


class Cell(NamedTuple):
    """A place in a table, and what stands there: `measure(run, *at)` of each run."""

    policy: str
    quantity: str
    source: str
    measure: Callable[..., float | None]
    at: tuple[Any, ...] = ()


class Runs(NamedTuple):
    """What tables and claims are about: `read` makes runs of the documents of these jobs."""

    jobs: tuple[str, ...]
    read: Callable[..., Sequence[Any]]


class Table(NamedTuple):
    """The cells of one item, in the order of its lines; what is no cell of a run is a line.

    A printed cell is judged; of all others the interval is that of one *run*, or of the *mean*.
    """

    item: str
    runs: str
    cells: Callable[[Sequence[Any]], Iterable[Cell | Line]] = lambda _runs: ()
    of: str = "run"


@dataclass(frozen=True)
class Tables:
    """What a paper compares: captions by item, runs by name, tables and claims in their order.

    With `jobs`, an item has a caption only if its jobs are run.
    """

    paper: str
    said: Mapping[str, str]
    runs: Mapping[str, Runs]
    tables: Sequence[Table]
    claims: Sequence[Claim] = ()
    jobs: Callable[[Setup], Mapping[str, Job]] | None = None

    def captions(self, setup: Setup) -> dict[str, str]:
        """The items whose jobs are run."""
        run = None if self.jobs is None else set(self.jobs(setup))
        return {
            each: said for each, said in self.said.items() if run is None or run.issuperset(self.needs(setup, each))
        }

    def needs(self, _setup: Setup | None, item: str) -> list[str]:
        """The jobs of the item's tables."""
        jobs = [job for each in self.tables if each.item == item for job in self.runs[each.runs].jobs]
        return list(dict.fromkeys(jobs))

    def lines(self, _setup: Setup | None, published: Sequence[Published], results: Results) -> list[Line]:
        """The lines of all tables and then of all claims whose jobs were run."""
        printed = {(each.item, each.policy, each.quantity, each.source): each for each in published}
        read = {
            name: of.read(*(results[job] for job in of.jobs)) if set(of.jobs) <= set(results) else ()
            for name, of in self.runs.items()
        }
        cells = [
            cell if isinstance(cell, Line) else self._line(table, cell, read[table.runs], printed)
            for table in self.tables
            for cell in (table.cells(read[table.runs]) if read[table.runs] else ())
        ]
        of_item = {table.item: table.runs for table in reversed(self.tables)}
        about = [(claim, read[claim.runs or of_item.get(claim.item, claim.item)]) for claim in self.claims]
        return cells + [claim_line(self.paper, each, runs, self._why(each)) for each, runs in about if runs]

    def _why(self, claim: Claim) -> str:
        return claim.reason() or reason(self.paper, "claim", claim.policy, claim.text, claim.item)

    def _line(self, table: Table, cell: Cell, runs: Sequence[Any], printed: Mapping[Any, Published]) -> Line:
        policy, quantity, source, measure, at = cell
        values = [measure(run, *at) for run in runs]
        if found := printed.get((table.item, policy, quantity, source)):
            return line(self.paper, found, values, reason(self.paper, table.item, policy, quantity, source))
        return beyond(self.paper, table.item, policy, quantity, source, values, table.of)


def seeds(setup: Setup, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """What sets a scenario's number of seeds, and more."""
    return ((SEEDS, str(setup.seeds)), *more)


def by_seed(
    document: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Any],
    place: Callable[[Mapping[str, Any]], Any] = lambda axes: tuple(map(str, axes.values())),
) -> list[Any]:  # fmt: skip
    """Of each seed what `read` makes of each point, by the point's place on the axes.

    >>> points = [{"axes": {"queue": "FQ"}, "seeds": [{"loss": 1}, {"loss": 2}]}]
    >>> by_seed({"points": points}, lambda seed: seed["loss"])
    [{('FQ',): 1}, {('FQ',): 2}]
    """
    points = document["points"]
    return [
        {place(point["axes"]): read(point["seeds"][at]) for point in points} for at in range(len(points[0]["seeds"]))
    ]


def where(rows: Iterable[Mapping[str, Any]], **columns: Any) -> list[Any]:
    """The rows whose columns have these values.

    >>> where([{"flow": "a", "sent": 1}, {"flow": "b", "sent": 2}], flow="b")
    [{'flow': 'b', 'sent': 2}]
    """
    return [row for row in rows if all(row[name] == value for name, value in columns.items())]


def over_time(rows: Iterable[Mapping[str, Any]], column: str, *by: str) -> dict[Any, list[tuple[float, float]]]:
    """The curve of a column over time for each value, or tuple of values, of the columns `by`."""
    curves: dict[Any, list[tuple[float, float]]] = {}
    for row in rows:
        name = row[by[0]] if len(by) == 1 else tuple(row[each] for each in by)
        curves.setdefault(name, []).append((row["time_s"], row[column]))
    return curves


def fairness_index(values: Sequence[float]) -> float:
    """Jain's index: 1 if all are equal, a part of 1 if few have all; 0 if none has anything."""
    squares = math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / (len(values) * squares) if squares else 0.0
