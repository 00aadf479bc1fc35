"""A study: what study.toml says, as points of its axes and the names of their runs.

The schema of the file is study.schema.json. The runs of all points have the same seeds, so that
points differ by their axes and not by chance.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fairq import _native
from fairq.declared import properties, required
from fairq.errors import FairqError, ScenarioError, UsageError
from fairq.given import Text, read
from fairq.near import near_miss
from fairq.questions.asked import Question
from fairq.results import described
from fairq.shapes import made
from fairq.sweeps import arithmetic
from fairq.sweeps.document import Document

TABLES = ("flows", "links", "queues", "transfers", "sessions")
"""The tables that every run has."""

TAKEN = ("digest", "part", "point", "seed", "cost_s", "error", "runs", "seeds")
"""Columns of the table of runs and of tables of means, which no axis can be called."""

SEED_MAX = 2**63 - 1
"""The last seed: a whole number of a table has no more bits."""

RUNS_MAX = 1_000_000
"""The most runs of a study: their names alone take 100 MB."""

COMBINATIONS_MAX = RUNS_MAX
"""The most combinations of the axes' values, those that no condition leaves included."""

ONE_RUN = ("measure.replications", "1")
"""What is set where a point's scenario is for one run."""

BLOCK = 64
"""Points whose runs are named at a time: a block for each thread."""

OPTION = "--set "
"""What begins the path of a fault in a field that a point sets."""

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
        """Whether all its tables are some that a run has: else no fairq wrote it."""
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
            named = _native.named_runs(self.scenario.text, self.scenario.name, [list(point.sets)], replications)
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


@cache
def schema() -> Mapping[str, Any]:
    """The JSON Schema of study.toml."""
    said: Mapping[str, Any] = json.loads(Path(__file__).with_name("study.schema.json").read_text(encoding="utf-8"))
    return said


def read_study(path: str | os.PathLike[str], known: Mapping[str, Any] | None = None, find: Find | None = None) -> Study:
    """The study that a file says; ScenarioError names the file, the line and what is wrong.

    A question without times of its own has those of the study `known`, as its store keeps it, if
    that asks the same: its runs stay runs of this study. Else it has those that `find` gives of it
    and of points of the study, else the usual ones.
    """
    text, name = read(path, "study")
    document = Document(text, name, schema())
    said = document.tree["study"]
    if known is not None and "compare" in said and _question_of(known) == said["compare"]:
        scenario = Text(known["scenario"]["text"], known["scenario"]["name"])
    else:
        scenario = _scenario(document, said, Path(path).parent, find)
    keep = document.tree.get("keep", {})
    keep = Keep(**{**keep, "tables": tuple(dict.fromkeys(keep.get("tables", TABLES)))})
    combinations = _combinations(document)
    study = Study(
        name=said.get("name", Path(path).name.removesuffix(".toml")),
        text=text,
        scenario=scenario,
        keep=keep,
        draw=made(Draw, document.tree.get("draw", {})),
        points=_named(document, scenario, combinations, said.get("replications")),
    )
    _check_names(document, study)
    _check_keep(document, study)
    _check_draw(document, study)
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


def _scenario(document: Document, said: Mapping[str, Any], folder: Path, find: Find | None) -> Text:
    if ("scenario" in said) == ("compare" in said):
        raise document.fault("study", "write either scenario, a file, or compare, a question")
    if "scenario" not in said:
        return _asked(document, said["compare"], find)
    try:
        return read(folder / said["scenario"])
    except ScenarioError as error:
        raise document.fault("study.scenario", str(error)) from None


def _asked(document: Document, options: Mapping[str, Any], find: Find | None) -> Text:
    """The scenario that a question of `fairq compare` makes; its lists are axes of the study."""
    from fairq.questions import asked, network

    known = properties(asked.Question)
    for name in options:
        if name not in known:
            raise document.fault(f"study.compare.{name}", f"no such option{near_miss(name, known)}")
    for name in required(asked.Question):
        if name not in options:
            raise document.fault("study.compare", f"{name} is missing")
    try:
        question = asked.ask(**options)
        scenario = network.scenario(question)
        if find is None or (question.duration is not None and question.warm_up is not None):
            return scenario
        combinations = [sets for _, sets in _combinations(document)]
        if any(path.startswith(("measure.warm_up", "measure.duration")) for sets in combinations for path, _ in sets):
            return scenario
        step = -(-len(combinations) // SEARCHED_MAX)
        seeds = min(document.tree["study"].get("replications", question.seeds), SEEDS_MAX)
        found = find(replace(question, seeds=seeds), combinations[::step])
        return network.scenario(replace(found, seeds=question.seeds))
    except UsageError as error:
        raise document.fault("study.compare", str(error)) from None


@dataclass(frozen=True)
class _Axis:
    """A parameter, where it stands in the file, and for each value its label and what it sets."""

    name: str
    place: str
    steps: Sequence[tuple[Any, Sets]]


def _axes(document: Document) -> list[list[_Axis]]:
    """The axes, each with those that vary together with it."""
    groups = []
    for at, said in enumerate(document.tree.get("axes", [])):
        group = [_axis(document, said, f"axes[{at}]")]
        for beside, paired in enumerate(said.get("paired", [])):
            place = f"axes[{at}].paired[{beside}]"
            group.append(_axis(document, paired, place))
            if len(paired["values"]) != len(said["values"]):
                counts = f"{len(paired['values'])} values beside {len(said['values'])} of {said['name']}"
                raise document.fault(f"{place}.values", f"{counts}; paired axes have the same number")
        groups.append(group)
    return groups


def _axis(document: Document, said: Mapping[str, Any], place: str) -> _Axis:
    steps = []
    for at, value in enumerate(said["values"]):
        where = f"{place}.values[{at}]"
        if isinstance(value, dict):
            if "path" in said:
                raise document.fault(where, "a table of fields beside a path; leave one of them out")
            steps.append((value["name"], tuple((path, json.dumps(to)) for path, to in value["set"].items())))
        else:
            steps.append((value, ((said["path"], json.dumps(value)),) if "path" in said else ()))
        if "paired" not in said and ".paired" not in place and steps[-1] in steps[:-1]:
            raise document.fault(where, "this value was given before; leave it out")
    return _Axis(said["name"], place, steps)


def _combinations(document: Document) -> list[tuple[dict[str, Any], Sets]]:
    """Every combination of the axes' values that meets the conditions: labels, and what it sets."""
    said = document.tree["study"]
    fixed = tuple((path, json.dumps(value)) for path, value in said.get("set", {}).items())
    if "seed" in said:
        fixed += (("measure.seed", json.dumps(said["seed"])),)
    groups = _axes(document)
    _check_places(document, [axis for group in groups for axis in group], dict(fixed))
    count = math.prod(len(group[0].steps) for group in groups)
    if count > COMBINATIONS_MAX:
        raise document.fault(
            "axes", f"the axes have {count} combinations, more than {COMBINATIONS_MAX}; take fewer values"
        )
    combinations = []
    for steps in itertools.product(*(range(len(group[0].steps)) for group in groups)):
        chosen = [(axis, axis.steps[step]) for group, step in zip(groups, steps, strict=True) for axis in group]
        labels = {axis.name: label for axis, (label, _) in chosen}
        sets = fixed + tuple(each for _, (_, sets) in chosen for each in sets) + _derive(document, labels)
        if all(_holds(document, at, labels) for at in range(len(said.get("conditions", [])))):
            combinations.append((labels, sets))
        if len(combinations) * said.get("replications", 1) > RUNS_MAX:
            raise document.fault("axes", f"the axes span more than {RUNS_MAX} runs; take fewer values")
    if not combinations:
        raise document.fault("study.conditions", "no combination of the axes meets the conditions")
    return combinations


def _check_places(document: Document, axes: Sequence[_Axis], fixed: Mapping[str, str]) -> None:
    """Refuse two axes of a name, and two that set the same field."""
    derived = document.tree.get("derive", {})
    names = [(axis.name, f"{axis.place}.name") for axis in axes] + [(name, f"derive.{name}") for name in derived]
    for at, (name, place) in enumerate(names):
        if _is_column(name):
            raise document.fault(place, f"{name} is a column of the results; choose another name")
        if name.casefold() in (other.casefold() for other, _ in names[:at]):
            raise document.fault(place, f"{name} is another axis; choose another name")
    setters = {path: "study.set" for path in fixed}
    for name in ("seed", "replications"):
        path = f"measure.{name}"
        if name in document.tree["study"]:
            if path in document.tree["study"].get("set", {}):
                raise document.fault(f"study.{name}", f"study.set sets {path} already; choose one of them")
            setters[path] = f"study.{name}"
    fields = [(axis.place, {path for _, sets in axis.steps for path, _ in sets}) for axis in axes]
    fields += [(f"derive.{name}", {said["path"]}) for name, said in derived.items() if "path" in _table(said)]
    for place, paths in fields:
        for path in sorted(paths):
            if path in setters:
                raise document.fault(place, f"{path}: {setters[path]} sets this field already; choose one of them")
            setters[path] = place


def _table(said: Any) -> Mapping[str, Any]:
    return {"value": said} if isinstance(said, str) else said


def _derive(document: Document, labels: dict[str, Any]) -> Sets:
    """Add the derived values to the labels; gives what they set."""
    sets = []
    for name, said in document.tree.get("derive", {}).items():
        derived = _table(said)
        if "value" not in derived:
            raise document.fault(f"derive.{name}", "value is missing")
        if "unit" in derived and "path" not in derived:
            raise document.fault(f"derive.{name}.unit", "a unit is for the field that path names; write path too")
        try:
            value = arithmetic.evaluate(derived["value"], labels)
        except UsageError as error:
            raise document.fault(f"derive.{name}", f"{error}{_at(labels)}") from None
        if isinstance(value, float):
            value = float(f"{value:.12g}")
        labels[name] = value
        if "path" in derived:
            # the plain form of a number: the units of a scenario know no exponents
            shown = f"{value:.12f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
            sets.append((derived["path"], json.dumps(f"{shown} {derived['unit']}" if "unit" in derived else value)))
    return tuple(sets)


def _holds(document: Document, at: int, labels: Mapping[str, Any]) -> bool:
    try:
        return bool(arithmetic.evaluate(document.tree["study"]["conditions"][at], labels))
    except UsageError as error:
        raise document.fault(f"study.conditions[{at}]", f"{error}{_at(labels)}") from None


def _at(labels: Mapping[str, Any]) -> str:
    return f" (at {', '.join(f'{name} = {value}' for name, value in labels.items())})" if labels else ""


@cache
def _columns() -> frozenset[str]:
    names = {column["name"] for table in json.loads(_native.columns()) for column in table["columns"]}
    return frozenset({*names, *(f"{name}{end}" for name in names for end in ("_low", "_high")), *TAKEN})


def _is_column(name: str) -> bool:
    # SQL knows no upper case
    return name.casefold() in _columns()


def _named(
    document: Document, scenario: Text, combinations: Sequence[tuple[dict[str, Any], Sets]], replications: int | None
) -> list[Point]:
    """The points of the study, each with those of the scenario's axes, and their runs."""
    from concurrent.futures import ThreadPoolExecutor

    def named(at: int) -> list[Any]:
        sets = [list(sets) for _, sets in combinations[at : at + BLOCK]]
        return _native.named_runs(scenario.text, scenario.name, sets, replications)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        try:
            blocks = list(pool.map(named, range(0, len(combinations), BLOCK)))
        except FairqError as error:
            pool.shutdown(cancel_futures=True)
            raise _located(document, scenario, combinations, error) from None
    points = []
    for (labels, sets), own in zip(combinations, itertools.chain.from_iterable(blocks), strict=True):
        for at, (axes, seed, digests) in enumerate(own):
            if seed + len(digests) - 1 > SEED_MAX:
                raise document.fault(
                    "study.seed", f"the last seed of a point is more than {SEED_MAX}; take a lower one"
                )
            inner = json.loads(axes)
            for name in inner:
                if name.casefold() in map(str.casefold, labels):
                    raise document.fault("axes", f"{name} is an axis of the scenario too; choose another name")
            points.append(Point({**labels, **inner}, sets, at, seed, digests, len(digests)))
    return points


def _located(
    document: Document, scenario: Text, combinations: Sequence[tuple[dict[str, Any], Sets]], error: FairqError
) -> FairqError:
    """The error at its place in the study, if a field that a point sets is what is wrong."""
    for labels, sets in combinations:
        try:
            _native.named_runs(scenario.text, scenario.name, [list(sets)], 1)
        except FairqError as found:
            if not found.path.startswith(OPTION):
                return found
            path = found.path.removeprefix(OPTION)
            fault = f"{found.field}: {found.fault}" if found.field else found.fault
            message = _of_question(document, path) or f"{fault}{_at(labels)}"
            return document.fault(_setter(document, path, dict(sets)), f"{path}: {message}")
    return error


def _of_question(document: Document, path: str) -> str | None:
    """What to write where an axis sets a word of the question, whose scenario has no such field."""
    from fairq.questions import asked

    if "compare" not in document.tree["study"] or path not in properties(asked.Question):
        return None
    return f'the question says this itself, and its lists are axes; write compare = {{ {path} = "…, …" }}'


def _setter(document: Document, path: str, sets: Mapping[str, str]) -> str:
    """The place in the study that sets a field of the scenario."""
    value = sets.get(path)
    for at, said in enumerate(document.tree.get("axes", [])):
        places = {f"axes[{at}]": said} | {f"axes[{at}].paired[{n}]": it for n, it in enumerate(said.get("paired", []))}
        for place, axis in places.items():
            for number, each in enumerate(axis["values"]):
                if axis.get("path") == path and json.dumps(each) == value:
                    return f"{place}.values[{number}]"
                if isinstance(each, dict) and path in each["set"] and json.dumps(each["set"][path]) == value:
                    return f"{place}.values[{number}]"
    for name, said in document.tree.get("derive", {}).items():
        if _table(said).get("path") == path:
            return f"derive.{name}"
    return "study.seed" if path == "measure.seed" else "study.set"


def _check_names(document: Document, study: Study) -> None:
    for name in study.axes:
        if _is_column(name):
            raise document.fault("axes", f"{name} is a column of the results; choose another name")


def _check_keep(document: Document, study: Study) -> None:
    """Refuse a flow or a distance of samples that the scenario does not take."""
    keep, point = study.keep, study.points[0]
    for name, series, packets in (("series", keep.series, None), ("packets", None, keep.packets)):
        if series or packets:
            try:
                _native.Experiment(*study.scenario, [*point.sets, ONE_RUN], series, packets)
            except FairqError as error:
                raise document.fault(f"keep.{name}", str(error)) from None


def _check_draw(document: Document, study: Study) -> None:
    for name in ("x", "by", "facet"):
        axis = getattr(study.draw, name)
        if axis is not None and axis not in study.axes:
            raise document.fault(f"draw.{name}", f"{axis}: no such axis{near_miss(axis, study.axes)}")
    for at, column in enumerate(study.draw.columns):
        tables = _tables_of(column)
        if not tables:
            known = [name for name in _columns() if _tables_of(name)]
            raise document.fault(f"draw.columns[{at}]", f"{column}: no such column{near_miss(column, known)}")
        if not set(tables) & set(study.keep.tables):
            kept = f"{column} is a column of {tables[0]}, which [keep] leaves out"
            raise document.fault(f"draw.columns[{at}]", f"{kept}; add it to keep.tables")


def _tables_of(column: str) -> list[str]:
    """The tables of every run that have a column of numbers, or the column of which this is an end."""
    column = column.removesuffix("_low").removesuffix("_high")
    return [
        table
        for table in TABLES
        if any(each["name"] == column and each["kind"] != "text" for each in described()[table]["columns"])
    ]
