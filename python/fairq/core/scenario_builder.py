"""A scenario built in Python: links, flows and the rest in a few lines, and printed as TOML."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import fairq._native as _native
from fairq.core import graphs, toml_text
from fairq.core.errors import ScenarioError, UsageError
from fairq.core.inputs import Placed, plain, read
from fairq.core.near import near_miss

if TYPE_CHECKING:
    from fairq.core.results import Result

LISTS = {
    "link": "links",
    "node": "nodes",
    "pool": "pools",
    "flow": "flows",
    "session": "sessions",
    "change": "changes",
    "axis": "axes",
}
"""The lists of tables of a scenario, by what one of their tables is called."""

NAMES_PARTS = frozenset({
    *("queue", "reverse_queue", "traffic", "transport", "control", "policy", "source", "access", "sink_access"),
    *("values", "paired", "topology"),
})  # fmt: skip
"""Fields that may name own parts, which are known only when it is run: they are judged then."""


class Network(Placed):
    """A scenario that is built in Python. It stands wherever a scenario does, and prints as TOML.

    Arguments are fields of the scenario, of `[measure]` and of `[defaults]`, as in
    docs/reference/scenario.md. A field that is a word of Python has an underscore behind it, as
    `class_`.

    >>> net = Network(duration="20 s").link("a", "b", rate="10 Mbit/s", delay="20 ms").flow("a", "b")
    >>> [link["name"] for link in net["links"]], [flow["traffic"] for flow in net["flows"]]
    (['a-b'], ['ftp'])

    Raises UsageError for a field that is not there, and ScenarioError for a value that is no
    quantity. Other errors come when it is run, with the name of the link or flow.
    """

    def __init__(self, **fields: object) -> None:
        self.place = "network"
        self.positions: dict[str, tuple[float, float]] = {}
        self._tables: dict[str, Any] = {"edition": 2}
        homes: dict[str, str | None] = {
            name: None for name in _fields("") if name not in (*LISTS.values(), "measure", "defaults")
        }
        for home in HEADS:
            homes.update(dict.fromkeys(_fields(home.capitalize()), home))
        for name, value in _given("Network", homes, fields).items():
            head = homes[name]
            (self._tables if head is None else self._tables.setdefault(head, {}))[name] = value
        _check_heads(self._tables)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """A network that begins as a scenario file; its files are looked for from there.

        Raises ScenarioError with file and line.
        """
        text, name, _ = read(path)
        is_json = text.lstrip().startswith("{")
        try:
            made = json.loads(text if is_json else _native.toml_tree(text, name)[0])
        except ValueError as error:
            raise ScenarioError(f"{name}: {error}") from None
        net = cls()
        net.place, net._tables = name, made
        return net

    def link(self, a: str, b: str, *, name: str | None = None, **fields: object) -> Self:
        """A link from `a` to `b` and back: `rate`, `delay`, `queue`, … Its name is `a-b` if none is given."""
        return self.add("link", **{"name": name or self._free("link", f"{a}-{b}"), "from": a, "to": b} | fields)

    def flow(
        self, a: str, b: str, *, traffic: object = "ftp", name: str | None = None, **fields: object
    ) -> Self:  # fmt: skip
        """A flow from `a` to `b`: `traffic`, `transport`, `count`, … If it has no name, that of its traffic."""
        called = name or self._free("flow", _kind(traffic))
        return self.add("flow", **{"name": called, "from": a, "to": b, "traffic": traffic} | fields)

    def axis(self, name: str, values: object, *, path: str | None = None, **fields: object) -> Self:
        """A parameter to vary: the field at `path`, or that of `[defaults]` or `[measure]` called `name`."""
        if path is None and name in _fields("Defaults"):
            path = f"defaults.{name}"
        elif path is None and name in _fields("Measure"):
            path = f"measure.{name}"
        return self.add("axis", **{"name": name, "values": values} | ({} if path is None else {"path": path}) | fields)

    def change(self, at: str, **fields: object) -> Self:
        """What changes `at` a time: of a `link` or a `flow`."""
        return self.add("change", at=at, **fields)

    def add(self, what: str, **fields: object) -> Self:
        """Any table of a list: "link", "node", "pool", "flow", "session", "change" or "axis"."""
        if what not in LISTS:
            raise UsageError(f"Network.add: no such table as {what}{near_miss(what, LISTS)}")
        given = _given(f"Network.{what}", _fields(what.capitalize()), fields)
        _check(what, given)
        self._tables.setdefault(LISTS[what], []).append(given)
        return self

    def run(self, **options: Any) -> Result:
        """Run it, as `fairq.run` does."""
        # the functions of the package know of networks, not the other way round
        result: Result = import_module("fairq.api").run(self, **options)
        return result

    def _told(self, error: ScenarioError) -> ScenarioError:
        """An error with the name of a link or flow, or a change's time, in place of its number."""
        found = re.match(r"(\w+)\[(\d+)\](?:\.(.+))?$", error.path)
        whats = {many: what for what, many in LISTS.items()}
        if found is None or found[1] not in whats or error.where != self.place:
            return error
        # a topology has links that are in no table
        mine = self._tables.get(found[1], [])[int(found[2]) :]
        called = _called(mine[0]) if mine else ""
        if not called:
            return error
        path = f"{whats[found[1]]}{called}" + (f": {found[3]}" if found[3] else "")
        return ScenarioError(error.fault, error.where, path, error.field, error.errno)

    def to_networkx(self) -> Any:
        """The nodes and links as a MultiGraph of networkx; flows and the rest are not in it."""
        return graphs.graph_of(self, self.positions)

    @classmethod
    def from_networkx(
        cls, graph: Any, *, rate: str = "rate", delay: str = "delay", weight: str | None = None, **fields: object
    ) -> Self:
        """The nodes and links of a graph of networkx.

        `rate`, `delay` and `weight` are names of the edges' attributes, or a value for all edges,
        as "10 Mbit/s".

        Raises UsageError with the edge that is no link.
        """
        net = cls(**fields)
        found = list(graphs.links_of(graph, rate, delay, weight, _fields("Link")))
        net.positions = graphs.positions_of(graph)
        for node, data in graph.nodes(data=True):
            if "role" in data:
                net.add("node", name=node, role=data["role"])
        for a, b, link in found:
            net.link(a, b, **link)
        return net

    def __getitem__(self, key: str) -> Any:
        return self._tables[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __str__(self) -> str:
        tables: list[str] = []
        top = {key: value for key, value in self._tables.items() if not _is_tables(value) and key not in HEADS}
        tables.append(toml_text.table("", top))
        tables.extend(toml_text.table(f"[{key}]", self._tables[key]) for key in HEADS if self._tables.get(key))
        for key, value in self._tables.items():
            if _is_tables(value):
                tables.extend(toml_text.table(f"[[{key}]]", each) for each in value)
        return "\n\n".join(filter(None, tables)) + "\n"

    def __repr__(self) -> str:
        counts = (f"{len(self._tables.get(key, ()))} {key}" for key in ("links", "flows"))
        return f"<Network: {', '.join(counts)}; print it for its TOML>"

    def _repr_html_(self) -> str:
        # few pages of a scenario need more than these, and Python's own module is not loaded for it
        text = str(self).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f"<pre>{text}</pre>"

    def _free(self, what: str, name: str) -> str:
        taken = {each.get("name") for each in self._tables.get(LISTS[what], ())}
        tries = (name if at == 1 else f"{name} {at}" for at in range(1, len(taken) + 2))
        return next(each for each in tries if each not in taken)


HEADS = ("measure", "defaults")
"""Tables with a head of their own."""


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _kind(traffic: object) -> str:
    kind = traffic.get("kind") if isinstance(traffic, Mapping) else traffic
    return str(kind).partition("(")[0].strip()


@cache
def _fields(definition: str) -> tuple[str, ...]:
    """The fields of a table of the scenario's schema, or of the scenario itself."""
    schema = json.loads(_native.schema("scenario"))
    return tuple((schema["$defs"][definition] if definition else schema)["properties"])


def _given(function: str, known: Mapping[str, object] | tuple[str, ...], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by their names in a scenario, as JSON has them; None stands for one that is left out."""
    found = {}
    for word, value in fields.items():
        name = word.removesuffix("_")
        if name not in known:
            raise UsageError(f"{function}: no such field as {word}{near_miss(word, known)}")
        if value is not None:
            try:
                found[name] = plain(value, name)
            except ValueError as error:
                raise UsageError(f"{function}: {error}") from None
    return found


def _called(table: Mapping[str, Any]) -> str:
    """What tells a table of a list from the others, after its kind: its name, or its time."""
    return f" {table['name']}" if "name" in table else f" at {table['at']}" if "at" in table else ""


def _check(what: str, given: Mapping[str, Any]) -> None:
    """Refuse a value that no field of its kind takes, while the line of Python that gave it is at hand."""
    first = f"{LISTS[what]}[0]."
    mine = {key: value for key, value in given.items() if key not in NAMES_PARTS}
    error = _error({LISTS[what]: [mine]})
    field, _, said = error.removeprefix(first).partition(": ")
    # what else is wrong with a scenario of one table is no fault of the table
    if error.startswith(first) and field.split(".")[0].split("[")[0] in mine:
        raise ScenarioError(f"network: {what}{_called(given)}: {field}: {said}")


def _check_heads(tables: Mapping[str, Any]) -> None:
    """The same for what `Network` is given: measure, defaults and the scenario's own fields."""
    mine = {key: value for key, value in tables.items() if key not in (*NAMES_PARTS, *HEADS)}
    for head in HEADS:
        mine[head] = {key: value for key, value in tables.get(head, {}).items() if key not in NAMES_PARTS}
    error = _error(mine)
    head, _, field = error.partition(": ")[0].partition(".")
    if field.split(".")[0] in mine.get(head, ()) if head in HEADS else head in mine:
        raise ScenarioError(f"network: {error}")


def _error(scenario: Mapping[str, Any]) -> str:
    """What the reader of scenarios says against one, or nothing."""
    try:
        _native.max_min(json.dumps(scenario), "network", [])
    except ScenarioError as error:
        return ": ".join(filter(None, (error.path, error.field, error.fault)))
    return ""
