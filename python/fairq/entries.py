"""What there is: lists of the registry's entries, their cards and scenes, and the schemas."""

from __future__ import annotations

import json
from typing import Any, Literal

import fairq._native as _native
from fairq.core import registry
from fairq.core.arguments import checked
from fairq.core.errors import UsageError

LISTS = ("disciplines", "transports", "traffic", "receivers", "topologies", "policies", "papers")
"""What can be listed."""

What = Literal["disciplines", "transports", "traffic", "receivers", "topologies", "policies", "papers"]
"""The name of a list."""

WIDTH_MIN = 20
"""The least columns in which a card can be read."""


@checked
def listing(what: What) -> list[dict[str, Any]]:
    """What the registry holds: name, aliases, when to use it, source, cost and bound; of papers name, title and seeds.

    `what` is one of "disciplines", "transports", "traffic", "receivers", "topologies", "policies"
    and "papers".
    """
    if what not in LISTS:
        from fairq.core.near import near_miss

        raise UsageError(f"{what}: nothing of that name to list{near_miss(what, LISTS)}")
    if what == "papers":
        from fairq.papers.papers import load, names

        found = [(name, load(name).compare) for name in names()]
        return [
            {"name": name, "title": compare.TITLE, "seeds": compare.SEEDS, "quick_seeds": compare.QUICK_SEEDS}
            for name, compare in found
        ]
    return registry.listing(what)


@checked
def explain(name: str, *, width: int = 100) -> str:
    """The card of one entry of the registry, with its settings and their defaults, in lines of `width` columns.

    Raises UsageError with the near miss.
    """
    if width < WIDTH_MIN:
        raise UsageError(f"width: {width} columns; write {WIDTH_MIN} or more")
    return _native.explain(name, width)


@checked
def cards(name: str) -> list[dict[str, Any]]:
    """The cards that are called `name`, as fields: mostly one, but "drr" is in two registries.

    Each has `name`, `part`, `aliases`, `what`, `use_when`, `source`, `rules`, `departs`, `chosen`, `cost`, `bound`,
    `changes`, `range` (empty where the card says nothing) and `settings`: `name`, `type`, `required`, `default`,
    `doc` of each. An edition or a profile of connections has no card: the list is empty.

    >>> cards("drr")[0]["settings"][0]["default"]
    '1514 B'

    Raises UsageError with the near miss.
    """
    return registry.cards(name)


@checked
def explained(name: str) -> dict[str, Any]:
    """The same as a document: `name`, `cards` as fields, and `card`, their text in 100 columns.

    Raises UsageError with the near miss.
    """
    return registry.explained(name)


@checked
def scenes(name: str) -> list[dict[str, Any]]:
    """A transport driven alone, without a network: named scenes of rounds, with its numbers after each."""
    played: list[dict[str, Any]] = json.loads(_native.scenes(name))
    return played


@checked
def schema(name: str = "scenario") -> dict[str, Any]:
    """The JSON Schema called `name`: "scenario", "result" (of `run`), or a command, as "theory-tcp".

    Raises UsageError with the near miss.
    """
    from fairq import schemas

    if name not in schemas.NAMES:
        from fairq.core.near import near_miss

        raise UsageError(f"{name}: there is no schema of it{near_miss(name, schemas.NAMES)}")
    document: dict[str, Any] = json.loads(schemas.text(name))
    return document
