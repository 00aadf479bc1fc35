"""The papers, and what each says to the driver.

They are in `_papers`, a link to papers/ in a source checkout and a folder in an installed wheel. A paper is a folder
with scenario files, `published.csv` (verdicts.py: read_published), `compare.py`, which says what `Compare` lists, and
`reasons.csv`, which says why lines of verdicts.csv differ.
"""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.papers.verdicts import Line, Published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fairq.figures import Style

ROOT = Path(__file__).resolve().parent.parent / "_papers"

SEEDS = "measure.replications"
"""The path of a scenario's number of seeds."""


@dataclass(frozen=True)
class Setup:
    """How a paper's scenarios are run: `start` is one of the paper's STARTS, `quick` asks for less."""

    seeds: int
    start: str
    workers: int
    quick: bool = False


@dataclass(frozen=True)
class Job:
    """One scenario file to run with some of its fields changed, and with samples over time if `series` is a time.

    `keep` makes of the document what is kept of it: those of many large runs would fill the memory.
    """

    file: str
    sets: tuple[tuple[str, str], ...] = ()
    series: str | None = None
    keep: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None


Results = Mapping[str, Mapping[str, Any]]
"""What each job's scenario gave, by the name the paper gave it: the document of `fairq run --json`, or what is kept."""


class Plotted(NamedTuple):
    """A figure of a paper."""

    name: str
    """The name of its file, without what says the format."""
    item: str
    """The table or figure of the paper that it belongs to; "" if it is of several."""
    figure: Figure
    data: Sequence[Mapping[str, Any]] = ()
    """What it shows, which a figure needs unless that is in the lines of its item."""

    @property
    def title(self) -> str:
        """What stands above it."""
        return str(self.figure.get_label())

    @property
    def panels(self) -> list[str]:
        """What stands above its panels, once each."""
        titles = [panel.get_title(loc="left").replace("\n", ": ") for panel in self.figure.axes]
        return list(dict.fromkeys(filter(None, titles)))


def curve_rows(
    curves: Mapping[str, Iterable[Sequence[float]]], name: str, across: str, up: str
) -> list[dict[str, Any]]:
    """The points of curves as rows with the columns `name`, `across` and `up`.

    >>> curve_rows({"FQ": [(0.0, 1.0)]}, "queue", "time_s", "packets")
    [{'queue': 'FQ', 'time_s': 0.0, 'packets': 1.0}]
    """
    return [{name: curve, across: x, up: y} for curve, points in curves.items() for x, y in points]


class Compare(Protocol):
    """What a paper's compare.py has: module constants and functions of these names."""

    TITLE: str
    """Authors, title and year."""
    SEEDS: int
    """Seeds of each scenario."""
    QUICK_SEEDS: int
    """Seeds of each scenario under --quick."""
    STARTS: Sequence[str]
    """How sources may start: `together`, as the scenario files say, and maybe `drawn`, at random."""
    QUANTITIES: Mapping[str, str]
    """Quantities that are not shown by their own names, with units: "rtt" is shown as "round trip (s)"."""

    def jobs(self, setup: Setup) -> Mapping[str, Job]:
        """What is to be run, by name."""

    def captions(self, setup: Setup) -> Mapping[str, str]:
        """Each table and figure (the lines' `item`) with its caption, in the order of the report."""

    def needs(self, setup: Setup, item: str) -> Collection[str]:
        """The names of the jobs that the table of this item needs: it is printed when they are done."""

    def lines(self, setup: Setup, published: Sequence[Published], results: Results) -> list[Line]:
        """One line for each cell and for each claim (of the item "claim").

        There may be fewer results than jobs: lines of what was not run are left out.
        """

    def figures(self, rows: Sequence[Mapping[str, Any]], results: Results, style: Style) -> Iterator[Plotted]:
        """Each figure, the same ones in every style; `rows` are the lines as rows."""


@dataclass(frozen=True)
class Paper:
    """A paper's folder and what its compare.py says."""

    name: str
    folder: Path
    compare: Compare


def names() -> list[str]:
    """The papers that can be reproduced."""
    return sorted(script.parent.name for script in ROOT.glob("*/compare.py"))


class Reason(NamedTuple):
    """Why lines differ, as far as it was tested: those with what it names; a quantity that ends in ... begins so."""

    item: str
    policy: str
    quantity: str
    source: str
    reason: str

    def is_about(self, *line: str) -> bool:
        """Whether the item, policy, quantity and source of a line are what is named."""
        return all(
            not named or named == said or (named.endswith("...") and said.startswith(named[:-3]))
            for named, said in zip(self, line, strict=False)
        )


@cache
def reasons(paper: str) -> list[Reason]:
    """The rows of the paper's reasons.csv, if it has one."""
    path = ROOT / paper / "reasons.csv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [Reason(**row) for row in csv.DictReader(file)]


def reason(paper: str, *line: str) -> str:
    """Why a line of this item, policy, quantity and source differs, "" if that is not known."""
    return next((each.reason for each in reasons(paper) if each.is_about(*line)), "")


@cache
def load(name: str) -> Paper:
    """The paper of that name; UsageError names those there are."""
    if name not in names():
        raise UsageError(f"{name}: no such paper{near_miss(name, [*names(), 'all'])}")
    script = ROOT / name / "compare.py"
    spec = importlib.util.spec_from_file_location(f"fairq_paper_{name}", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # a dataclass in it looks for its module there
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return Paper(name, script.parent, cast("Compare", module))
