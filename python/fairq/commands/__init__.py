"""The commands of fairq: a file for each, with its options and what it does.

A command calls the function of api.py with the same name and turns its result into the text to print. Its file has
`add`, which adds its options; the file is loaded when the command is typed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

Command = Callable[[Namespace], str | Iterator[str]]
"""A command: from its arguments to all that goes to standard output."""

NAMES = (
    "run",
    "baseline",
    "compare",
    "advise",
    "sweep",
    "query",
    "report",
    "diff",
    "reproduce",
    "replay",
    "detect",
    "tc",
    "topology",
    "audit",
    "list",
    "explain",
    "agree",
    "schema",
    "theory",
    "bench",
)
"""The commands, and the files here that hold them, in the order of `fairq --help`."""


def adder(name: str) -> Callable[[Any], None]:
    """What adds the options of a command."""
    add: Callable[[Any], None] = import_module(f"fairq.commands.{name}").add
    return add


class Broken(Exception):  # noqa: N818 - it is no error: the command did what it should
    """A command has found that something does not hold; `text` is all that goes to standard output."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
