"""What work is given: scenarios as files, text or dicts, and settings; and what makes two pieces of work the same."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fairq import _native
from fairq.remedies import reason, told


class Text(NamedTuple):
    """The text of a scenario that was read, and its name for messages."""

    text: str
    name: str


Scenario = str | os.PathLike[str] | Mapping[str, object] | Text
"""The path of a scenario file ("-" for standard input), or what would stand in one, as dicts and lists; its files are
looked for from here."""

Settings = Mapping[str, object] | Sequence[tuple[str, str]]
"""Fields of a scenario to change: path to value, or pairs when one path is set twice."""


STANDARD_INPUT = "/dev/stdin"
"""The file that "-" stands for where a file is read in pieces."""


def replayed(capture: str | os.PathLike[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a replay the same: the capture's name, and all that is said of the gateway."""
    return {"capture": Path(capture).name, **{name: value for name, value in options.items() if name != "out"}}


def read(scenario: Scenario, what: str = "scenario") -> Text:
    """The text of a scenario, or of `what`, and its name for messages.

    The file "-" is standard input, which can be read once.
    """
    if isinstance(scenario, Text):
        return scenario
    if isinstance(scenario, Mapping):
        try:
            return Text(json.dumps(scenario, allow_nan=False), "scenario")
        except (TypeError, ValueError, RecursionError) as error:
            raise _native.ScenarioError(f"scenario: {error}; write dicts, lists, texts and numbers") from None
    name = os.fspath(scenario)
    try:
        if name == "-":
            name = "standard input"
            return Text(sys.stdin.buffer.read().decode(), name)
        return Text(Path(name).read_text(encoding="utf-8"), name)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _native.ScenarioError(f"{name}:{line}: not UTF-8 text; a {what} is a TOML file") from None
    except ValueError:
        raise _native.ScenarioError(f"{name!r}: not a file name") from None
    except OSError as error:
        is_misnamed = error.errno in (None, errno.ENOENT, errno.EISDIR, errno.ENOTDIR)
        said = f"{reason(error)}; give the path of a {what} file" if is_misnamed else told(error)
        raise _native.ScenarioError(f"{name}: {said}") from None


def pairs(settings: Settings) -> list[tuple[str, str]]:
    """Path and value of each field that is set, in their order; UsageError if a value has no text."""
    each = settings.items() if isinstance(settings, Mapping) else settings
    return [(path, value if isinstance(value, str) else _said(path, value)) for path, value in each]


def _said(path: str, value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _native.UsageError(f"set: {path}: {error}; write text, a number, a list or a dict") from None


def ran(scenario: Scenario, settings: Settings) -> dict[str, Any]:
    """What makes a run the same: its scenario, whatever its comments and the order of its fields, and its settings."""
    text, name = read(scenario)
    try:
        # as runs read it: with bounds on its depth, unlike tomllib
        said = json.loads(_native.toml_tree(text, name)[0])
    except _native.ScenarioError:
        # it is refused when it is read for its run
        said = text
    return {"scenario": said, "set": pairs(settings)}
