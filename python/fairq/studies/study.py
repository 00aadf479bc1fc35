"""A study: what study.toml says, as points of its axes and the names of their runs.

What a study may say, its axes, conditions and derived values are types of the compiled part:
crates/experiment/src/study. The runs of all points have the same seeds, so that points differ by
their axes and not by chance.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import fairq._native as _native
from fairq.core.declared import properties, required
from fairq.core.errors import FairqError, ScenarioError, UsageError
from fairq.core.inputs import Text, read
from fairq.core.near import near_miss
from fairq.core.runs import Experiment
from fairq.core.shapes import made
from fairq.questions.asked import Question

if TYPE_CHECKING:
    from fairq.core.own import Own

TABLES = ("flows", "links", "queues", "transfers", "sessions")
"""The tables that every run has."""

SEED_MAX = 2**63 - 1
"""The last seed: a whole number of a table has no more bits."""

ONE_RUN = ("measure.replications", "1")
"""What is set where a point's scenario is for one run."""

BLOCK = 64
"""Points whose runs are named at a time: a block for each thread."""

Sets = tuple[tuple[str, str], ...]
"""Paths of the scenario's fields and their values as JSON."""


class Keep(NamedTuple):
    """What is kept of each run; no `tables` means all that have rows."""

    tables: tuple[str, ...] = TABLES
    series: str | None = None
    packets: str | None = None
    states: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The tables that are kept."""
        asked = {"series": self.series, "packets": self.packets, "states": self.states}
        return (*self.tables, *(name for name, value in asked.items() if value))

    @property
    def is_known(self) -> bool:
        """Whether a run has all of its tables; if not, no fairq wrote it."""
        return set(self.tables) <= set(TABLES)


class Draw(NamedTuple):
    """The figures of the report: the columns to show, and axes; what is not said is chosen."""

    columns: tuple[str, ...] = ()
    x: str | None = None
    by: str | None = None
    facet: str | None = None


@dataclass
class Point:
    """A combination of the axes' values: what it sets, and a digest for each seed."""

    axes: dict[str, str | int | float | bool]
    sets: Sets
    at: int
    """The number of the point among those of the scenario's own axes."""
    seed: int
    """The first seed; the others follow it."""
    digests: list[str]
    asked: int = 0
    """How many of the digests the study's file asks for; --until has added the others."""


class Run(NamedTuple):
    """A run of a study."""

    point: int
    seed: int
    digest: str


@dataclass
class Study:
    """A study that was read and checked."""

    name: str
    text: str
    scenario: Text
    keep: Keep
    draw: Draw
    points: list[Point] = field(repr=False)

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes and derived values."""
        return tuple(self.points[0].axes)

    def runs(self) -> Iterator[Run]:
        """All runs: the first seed of each point, then the second."""
        for number in range(max(len(point.digests) for point in self.points)):
            for at, point in enumerate(self.points):
                if number < len(point.digests):
                    yield Run(at, point.seed + number, point.digests[number])

    def extend(self, at: int, replications: int) -> None:
        """Give point number `at` as many replications as this, if it has fewer."""
        point = self.points[at]
        if replications > len(point.digests):
            text, name, own = self.scenario
            named = _native.named_runs(text, name, [list(point.sets)], replications, own)
            point.digests = named[0][point.at][2]

    def described(self) -> dict[str, Any]:
        """The study as its store keeps it."""
        return {
            "name": self.name,
            "text": self.text,
            # its folder is another on each machine
            "scenario": {"name": Path(self.scenario.name).name, "text": self.scenario.text},
            "keep": self.keep._asdict(),
            "draw": {name: said for name, said in self.draw._asdict().items() if said},
            "points": [vars(point) for point in self.points],
        }


def restored(described: Mapping[str, Any]) -> Study:
    """The study that `Study.described` describes; ValueError if it is none."""
    study = made(Study, described, passing=True)
    points = study.points
    if not study.keep.is_known or not points or not all(point.digests and point.seed <= SEED_MAX for point in points):
        raise ValueError("no runs that fairq names")
    if any(point.axes.keys() != points[0].axes.keys() for point in points):
        raise ValueError("points of other axes")
    return study


def read_study(
    path: str | os.PathLike[str],
    known: Mapping[str, Any] | None = None,
    find: Find | None = None,
    own: Own | None = None,
) -> Study:
    """The study that a file says; ScenarioError names the file, the line and what is wrong.

    Its scenario may name `own` parts.
    A question without times of its own has those of the study `known`, as its store keeps it, if
    that asks the same: its runs stay runs of this study. Else it has those that `find` gives of it
    and of points of the study, else the usual ones.
    """
    text, name, _ = read(path, "study")
    document = _native.Study(text, name)
    tree = json.loads(document.said())
    said = tree["study"]
    if known is not None and said["compare"] is not None and _question_of(known) == said["compare"]:
        scenario = Text(known["scenario"]["text"], known["scenario"]["name"], own)
    else:
        scenario = _scenario(document, said, Path(path).parent, find, own)
    study = Study(
        name=said["name"] or Path(path).name.removesuffix(".toml"),
        text=text,
        scenario=scenario,
        keep=Keep(**{**tree["keep"], "tables": tuple(tree["keep"]["tables"])}),
        draw=made(Draw, tree["draw"]),
        points=_named(document, scenario),
    )
    _check_keep(document, study)
    document.check_draw(list(study.axes))
    return study


def _question_of(known: Mapping[str, Any]) -> Any:
    """The question that a study that its store keeps was made of."""
    try:
        tree, _ = _native.toml_tree(known["text"], "store.json")
        return json.loads(tree)["study"].get("compare")
    except (KeyError, TypeError, AttributeError, ValueError, ScenarioError):
        return None


Find = Callable[[Question, Sequence[Sets]], Question]
"""Gives a question the times with which it stands still at points that set these fields."""

SEARCHED_MAX = 16
"""Points of the study's axes at which that is tried, evenly spread, and at each at most SEEDS_MAX
seeds."""

SEEDS_MAX = 10


def _scenario(
    document: _native.Study, said: Mapping[str, Any], folder: Path, find: Find | None, own: Own | None
) -> Text:
    if (said["scenario"] is None) == (said["compare"] is None):
        raise document.fault("study", "write either scenario, a file, or compare, a question")
    if said["scenario"] is None:
        return _asked(document, said, find, own)
    try:
        return read(folder / said["scenario"], parts=own)
    except ScenarioError as error:
        raise document.fault("study.scenario", str(error)) from None


def _asked(document: _native.Study, said: Mapping[str, Any], find: Find | None, own: Own | None) -> Text:
    """The scenario that a question of `fairq compare` makes; its lists are axes of the study."""
    from fairq.questions import asked, network

    options = said["compare"]
    known = properties(asked.Question)
    for name in options:
        if name not in known:
            raise document.fault(f"study.compare.{name}", f"no such option{near_miss(name, known)}")
    for name in required(asked.Question):
        if name not in options:
            raise document.fault("study.compare", f"{name} is missing")
    try:
        question = asked.ask(own, **options)
        scenario = network.scenario(question)
        if find is None or (question.duration is not None and question.warm_up is not None):
            return scenario
        points = [tuple(sets) for sets in document.sets(-(-document.count() // SEARCHED_MAX))]
        if any(path.startswith(("measure.warm_up", "measure.duration")) for sets in points for path, _ in sets):
            return scenario
        seeds = min(said["replications"] or question.seeds, SEEDS_MAX)
        found = find(replace(question, seeds=seeds), points)
        return network.scenario(replace(found, seeds=question.seeds))
    except UsageError as error:
        raise document.fault("study.compare", str(error)) from None


def _named(document: _native.Study, scenario: Text) -> list[Point]:
    """The points of the study, each with those of the scenario's axes, and their runs."""
    from concurrent.futures import ThreadPoolExecutor

    from fairq.questions import asked

    # they are no fields of the scenario that a question makes
    words = list(properties(asked.Question))
    text, name, parts = scenario
    points = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        try:
            firsts = range(0, document.count(), BLOCK)
            for block in pool.map(lambda first: document.named(text, name, first, BLOCK, words, parts), firsts):
                for labels, sets, own in block:
                    for at, (axes, seed, digests) in enumerate(own):
                        names = {**json.loads(labels), **json.loads(axes)}
                        points.append(Point(names, tuple(sets), at, seed, digests, len(digests)))
        except FairqError:
            pool.shutdown(cancel_futures=True)
            raise
    return points


def _check_keep(document: _native.Study, study: Study) -> None:
    """Refuse a flow or a distance of samples that the scenario does not take."""
    keep, point = study.keep, study.points[0]
    for name, series, packets in (("series", keep.series, None), ("packets", None, keep.packets)):
        if series or packets:
            try:
                Experiment(study.scenario, [*point.sets, ONE_RUN], series, packets)
            except FairqError as error:
                raise document.fault(f"keep.{name}", str(error)) from None
