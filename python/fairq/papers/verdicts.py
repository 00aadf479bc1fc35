"""Judging published numbers: one printed value against the runs of one cell.

A published value that is one run is compared with the 95 % prediction interval of one run, one that is a mean of
several with the 95 % confidence interval of our mean; either is widened by a tolerance that is fixed beforehand, one
for each kind of quantity. A paper whose rules were fixed otherwise says so and has them in its own compare.py.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import fairq._native as _native
from fairq.core.pictured import Pictured
from fairq.core.records import Beside, Record
from fairq.core.rows import Row, Table

Verdict = Literal["agrees", "differs", "undecided", "unreadable", "beyond"]
"""`beyond` is what the paper does not have: a discipline or an index of ours beside its own."""

TOLERANCES = {"throughput": 0.05, "utilisation": 0.05, "index": 0.05, "memory": 0.05, "loss": 0.10, "delay": 0.10}
"""The tolerance of each kind of quantity, as a part of the published value."""

AXIS_TOLERANCE = 0.05
"""The tolerance of a value that was read off a plot, as a part of the length of its axis."""

FLAGS = frozenset({"printed", "repaired", "unreadable", "plot"})
"""How a value was come by: a *repaired* one has a digit of the scan replaced, *plot* is read off a figure."""

SHARE_OF_SEEDS = 0.8
"""A claim agrees if it holds in this part of the seeds, differs if it fails in this part."""

COLUMNS = (
    "paper", "item", "policy", "quantity", "source", "published", "measured", "low", "high", "verdict", "note",
)  # fmt: skip
"""The columns of a table of verdicts; their order is part of the interface."""


@dataclass(frozen=True)
class Published:
    """One printed cell.

    `item` is the table or figure it stands in; `text` is as printed ("0.083", its digits matter), empty where there is
    a dash or nothing can be read; `flag` is one of FLAGS. `kind` is one of TOLERANCES, `of` says whether the value is
    one *run* or a *mean* of several, `axis` is the length of the plot's axis if it was read off one.
    """

    item: str
    policy: str
    quantity: str
    source: str
    text: str
    flag: str
    kind: str = ""
    of: str = "run"
    axis: str = ""

    @property
    def value(self) -> float | None:
        """The number, None for a dash or what cannot be read."""
        return float(self.text) if self.text else None

    @property
    def half_digit(self) -> float:
        """Half of the last printed digit."""
        exponent = Decimal(self.text).as_tuple().exponent
        assert isinstance(exponent, int)
        return float(Decimal(5).scaleb(exponent - 1))

    @property
    def tolerance(self) -> float:
        """The tolerance of its kind, or of its axis if it was read off a plot; at least half the last printed digit."""
        if not self.text:
            return 0.0
        if self.flag == "plot":
            return AXIS_TOLERANCE * float(self.axis)
        return max(TOLERANCES[self.kind] * abs(float(self.text)), self.half_digit)


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % interval, of one further run or of the mean; None where nothing was measured."""

    mean: float | None
    low: float | None
    high: float | None


NOTHING = Interval(None, None, None)
"""The interval where nothing was measured."""


@dataclass(frozen=True)
class Line:
    """One line of the table of verdicts; its numbers have the unit of the paper's table or plot."""

    paper: Annotated[str, "The paper."]
    item: Annotated[str, "The table or figure, or claim."]
    policy: Annotated[str, "The discipline."]
    quantity: Annotated[str, "What is compared; of a claim its sentence."]
    source: Annotated[str, "The flow, or the place of a claim."]
    published: Annotated[float | None, "The paper's number; null if it has none that can be read."]
    measured: Annotated[float | None, "The mean over our seeds; of a claim the part of seeds in which it holds."]
    low: Annotated[float | None, "The lower end of the 95 % interval."]
    high: Annotated[float | None, "The upper end of the 95 % interval."]
    verdict: Annotated[Verdict, "Whether both agree."]
    note: Annotated[str, "Why not, or how the number was read."]

    def row(self) -> dict[str, Any]:
        """As a row of a table, with the columns of COLUMNS."""
        return asdict(self)


class Judged(Row, Line, named="Line"):
    """One line of the table of verdicts; its numbers have the unit of the paper's table or plot."""


class Reproduction(Pictured, Record, places=("rows", "report"), told=("rows",)):
    """A paper's numbers beside ours: `rows` as written to verdicts.csv, `report` as printed."""

    rows: Table[Judged]
    report: Annotated[str, Beside("The report as it is printed.")]

    def _keep(self, documents: Mapping[str, Mapping[str, Any]]) -> Self:
        """Keep what the runs of each paper gave, of which some figures are made."""
        self.__dict__["_documents"] = documents
        return self

    @property
    def _documents(self) -> Mapping[str, Mapping[str, Any]]:
        """What the runs of each paper gave; none after `pickle`."""
        found: Mapping[str, Mapping[str, Any]] = self.__dict__.get("_documents", {})
        return found

    @property
    def document(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """The rows, as --json prints them."""
        return self.rows.plain()


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper as a test on the cells of one run.

    `item` is where it stands or what it is about; `runs` are those it is tested on, if not its
    item's; `note` stands in place of the count of seeds; `reason` computes why it does not hold.
    """

    item: str
    policy: str
    text: str
    holds: Callable[[Any], bool]
    runs: str = ""
    note: str = ""
    reason: Callable[[], str] = str


def read_published(path: Path) -> list[Published]:
    """The published cells of a paper: columns item, policy, quantity, source, value, flag and maybe kind, of, axis."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_published(row, path.name) for row in csv.DictReader(file)]


def _published(row: Mapping[str, str], name: str) -> Published:
    fields = {"text" if key == "value" else key: value for key, value in row.items()}
    cell = Published(**fields)
    assert cell.flag in FLAGS and cell.of in ("run", "mean"), f"{name}: {row}"
    return cell


def interval(values: Sequence[float | None], of: str = "run") -> Interval:
    """The interval of one further *run*, or of the *mean*, of the values that exist, if half of the runs have one."""
    seen = [value for value in values if value is not None]
    if not seen or 2 * len(seen) < len(values):
        return NOTHING
    return Interval(*(_native.prediction_interval(seen) if of == "run" else _native.confidence_interval(seen)))


def is_too_wide(cell: Published, measured: Interval) -> bool:
    """Whether the interval decides nothing: it is wider than twice the tolerance."""
    assert measured.low is not None and measured.high is not None
    return measured.high - measured.low > 2 * cell.tolerance


def judge(
    cell: Published,
    measured: Interval,
    tolerance: float | None = None,
    too_wide: Callable[[Published, Interval], bool] = is_too_wide,
) -> Verdict:
    """The verdict on one cell: an interval that is too wide decides nothing."""
    if cell.flag == "unreadable":
        return "unreadable"
    if cell.value is None:
        return "agrees" if measured.mean is None else "differs"
    if measured.mean is None or measured.low is None or measured.high is None:
        return "differs"
    if too_wide(cell, measured):
        return "undecided"
    return "agrees" if contains(cell.value, measured, cell.tolerance if tolerance is None else tolerance) else "differs"


def contains(value: float, measured: Interval, tolerance: float) -> bool:
    """Whether the value lies in the interval widened by the tolerance."""
    assert measured.low is not None and measured.high is not None
    return measured.low - tolerance <= value <= measured.high + tolerance


def line(paper: str, cell: Published, values: Sequence[float | None], reason: str = "") -> Line:
    """The line of one cell, given what each seed measured; `reason` is what was found to move it if it differs."""
    measured = interval(values, cell.of)
    verdict = judge(cell, measured)
    notes = []
    if cell.flag == "repaired":
        notes.append("a digit of the scan is repaired")
    if cell.flag == "plot":
        notes.append("read off the plot")
    if verdict == "undecided":
        assert cell.value is not None
        inside = contains(cell.value, measured, cell.tolerance)
        notes.append("the interval is wider than twice the tolerance" + ("" if inside else ", and yet it misses"))
    if verdict == "differs":
        notes.append(reason or "reason not known")
    return Line(
        paper, cell.item, cell.policy, cell.quantity, cell.source, cell.value,
        measured.mean, measured.low, measured.high, verdict, "; ".join(notes),
    )  # fmt: skip


def beyond(
    paper: str, item: str, policy: str, quantity: str, source: str, values: Sequence[float | None], of: str = "run"
) -> Line:
    """The line of what the paper does not have; the interval is of one *run*, or of the *mean*."""
    measured = interval(values, of)
    return Line(paper, item, policy, quantity, source, None, measured.mean, measured.low, measured.high, "beyond", "")


def claim_line(paper: str, claim: Claim, runs: Iterable[Any], reason: str = "") -> Line:
    """The line of one claim: it agrees if it holds in 8 of 10 seeds, differs if it fails in 8 of 10."""
    held = [claim.holds(run) for run in runs]
    share = sum(held) / len(held)
    verdict: Verdict = "undecided"
    if share >= SHARE_OF_SEEDS:
        verdict = "agrees"
    elif 1 - share >= SHARE_OF_SEEDS:
        verdict = "differs"
    note = f"{sum(held)} of {len(held)} seeds"
    if verdict != "agrees" and reason:
        note += f"; {reason}"
    note = claim.note or note
    return Line(paper, "claim", claim.policy, claim.text, claim.item, 1.0, share, SHARE_OF_SEEDS, 1.0, verdict, note)


class Paper(Row):
    """A paper whose numbers are reproduced."""

    name: Annotated[str, "Its name, as fairq reproduce takes it."]
    title: Annotated[str, "Authors, title, place and year."]
    seeds: Annotated[int, "Seeds of each scenario."]
    quick_seeds: Annotated[int, "Seeds of each scenario with --quick."]
