"""What makes a shell complete the commands, options, files and names of fairq."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from fairq import api
from fairq.cli.options import Parser
from fairq.core import lazy
from fairq.core.declared import PATH, Option
from fairq.papers import papers

FILES = (PATH, "Scenario")
"""The kinds of what is a file, or may be one; a folder is called DIR in help."""


def completion(root: Parser, shell: str) -> str:
    """The script that a shell reads; UsageError if the package that writes it is missing."""
    known = {"PAPER": [*papers.names(), "all"], "DISCIPLINE": _listed("disciplines"),
             "NAME": [*_listed("disciplines"), *_listed("transports"), *_listed("traffic")]}  # fmt: skip
    for action, option in _declared(root):
        if option.kind in FILES:
            complete = lazy.shtab.DIRECTORY if option.metavar == "DIR" else lazy.shtab.FILE
            action.complete = complete  # type: ignore[attr-defined]
        elif option.metavar in known and option.is_argument:
            action.choices = known[option.metavar]
    script: str = lazy.shtab.complete(root, shell)
    return script if script.endswith("\n") else script + "\n"


def _listed(what: api.What) -> list[str]:
    return [entry["name"] for entry in api.listing(what)]


def _declared(parser: Parser) -> Iterator[tuple[argparse.Action, Option]]:
    """What a command takes, and the commands in it, each beside its declaration."""
    options = {option.name: option for option in parser.spec.all()} if parser.spec is not None else {}
    for action in parser._actions:
        if action.dest in options:
            yield action, options[action.dest]
    for inner in parser.commands().values():
        yield from _declared(inner)
