"""`fairq list`: what the registry holds."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from fairq import api
from fairq.cli.options import LOOKS
from fairq.cli.printing import as_json, look
from fairq.core import streams, tables
from fairq.core.declared import Spec, argument

SPEC = Spec(
    "list",
    "fairq list disciplines",
    (argument("what", kind="What", choices=api.LISTS), *LOOKS),
    does="listing",
    functions=("listing",),
)


NAME_WIDTH = 18
"""Columns of the names of a list: a longer name moves its own line alone."""


def listing(arguments: Namespace) -> str:
    """`fairq list`."""
    entries = api.listing(arguments.what)
    if arguments.json:
        return as_json(entries, "list-papers" if arguments.what == "papers" else "list")
    if arguments.what == "papers":
        return tables.text(entries, sentences=["title"], **look(arguments))
    return _names(entries, streams.screen_width())


def _names(entries: Sequence[Mapping[str, Any]], width: int) -> str:
    """A line for each entry, by part: its name and the first sentence of its card, cut to `width` columns (0: not)."""
    lines: list[str] = []
    for part, group in groupby(entries, key=lambda entry: entry["part"]):
        rows = [(entry["name"], entry["summary"].split(". ")[0].rstrip(".") + ".") for entry in group]
        room = min(max(len(name) for name, _ in rows), NAME_WIDTH)
        lines += ["", part] if lines else [part]
        lines += [f"  {name.ljust(room)}  {sentence}" for name, sentence in rows]
    return "\n".join(line if not width or len(line) <= width else f"{line[: width - 1]}…" for line in lines)
