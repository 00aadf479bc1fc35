"""What makes a shell complete the commands, options, files and names of fairq."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from fairq import api, papers
from fairq.errors import UsageError

FILES = frozenset({"SCENARIO.toml", "CAPTURE", "SENT", "RECEIVED", "FILE", "WHAT", "TEXT|SCENARIO"})
"""The names in help of what is a file, or may be one."""
FOLDERS = frozenset({"DIR"})
"""The names in help of what is a folder."""


def completion(root: argparse.ArgumentParser, shell: str) -> str:
    """The script that a shell reads; UsageError if the package that writes it is missing."""
    try:
        import shtab
    except ImportError:
        raise UsageError("--print-completion needs the package shtab; write: pip install shtab") from None
    known = {"PAPER": [*papers.names(), "all"], "DISCIPLINE": _listed("disciplines"),
             "NAME": [*_listed("disciplines"), *_listed("transports"), *_listed("traffic")]}  # fmt: skip
    for action in _actions(root):
        name = action.metavar
        if name in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif name in FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif isinstance(name, str) and name in known and not action.option_strings:
            action.choices = known[name]
    script: str = shtab.complete(root, shell)
    return script if script.endswith("\n") else script + "\n"


def _listed(what: api.What) -> list[str]:
    return [entry["name"] for entry in api.listing(what)]


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The options and arguments of a command and of the commands in it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)
