"""What work is given: scenarios as files, text or dicts, and settings; and what makes two pieces of work the same."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import fairq._native as _native
from fairq.core import own as own_parts
from fairq.core.errors import CaptureError, ScenarioError, UsageError
from fairq.core.remedies import reason, told


class Text(NamedTuple):
    """The text of a scenario that was read, its name for messages, and own parts it may name."""

    text: str
    name: str
    own: own_parts.Own | None = None


class Placed(Mapping[str, object]):
    """What stands in a scenario, with its name for messages, from which its files are looked for."""

    place: str

    def _told(self, error: ScenarioError) -> ScenarioError:
        """An error of it, with its own names for the places."""
        return error


Scenario = str | os.PathLike[str] | Mapping[str, object] | Text
"""The path of a scenario file ("-" for standard input), or what would stand in one, as dicts and lists; its files are
looked for from here."""

Settings = Mapping[str, object] | Sequence[tuple[str, str]]
"""Fields of a scenario to change: path to value, or pairs when one path is set twice."""

Commands = Settings
"""Hosts and what runs in them: name to command, or pairs where a host has several."""


Whole = int
"""A whole number from 0 up; other numbers are at least 1."""

STANDARD_INPUT = "/dev/stdin"
"""The file that "-" stands for where a file is read in pieces."""


def replayed(capture: str | os.PathLike[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a replay the same: the capture's name, and all that is said of the gateway."""
    return {"capture": Path(capture).name, **{name: value for name, value in options.items() if name != "out"}}


def split(text: str) -> list[str]:
    """Split at the commas that are in no brackets: drr(quantum=1500, x=1),fq."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def room(buffer: str, rtt: str | None) -> str:
    """The buffer of a line: bandwidth-delay products as the time that they are of a round trip."""
    match = PRODUCT.fullmatch(buffer.strip())
    if match is None:
        if rtt is not None:
            raise UsageError(f"rtt: goes with a buffer of products, as 1BDP; {buffer} needs none")
        return buffer
    if rtt is None:
        raise UsageError(f"buffer: {buffer} is of a round trip, which no capture tells; write rtt beside it")
    seconds = float(match[1]) * _native.quantity("time", rtt)
    return f"{round(seconds * 1e12)} ps"


PRODUCT = re.compile(r"(\d+(?:\.\d*)?)\s*bdp", re.IGNORECASE)
"""A buffer in bandwidth-delay products."""


CAPTURES = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\n\r\r\n")
"""How captures begin: pcap in both orders of bytes, in microseconds and nanoseconds, and pcapng."""


def check_capture(capture: str | os.PathLike[str]) -> None:
    """Refuse a scenario where a capture is wanted."""
    path = Path(capture)
    if path.suffix.lower() in (".toml", ".json") and path.is_file():
        raise CaptureError(f"{path}: is a scenario and no capture; write fairq run {path}")


def read(scenario: Scenario, what: str = "scenario", parts: own_parts.Parts | own_parts.Own | None = None) -> Text:
    """The text of a scenario, or of `what`, its name for messages, and own `parts` it may name.

    The file "-" is standard input, which can be read once.
    """
    if parts is not None:
        return read(scenario, what)._replace(own=own_parts.read(parts))
    if isinstance(scenario, Text):
        return scenario
    if isinstance(scenario, Mapping):
        what = scenario.place if isinstance(scenario, Placed) else what
        try:
            return Text(json.dumps(plain(scenario, "")), what)
        except ValueError as error:
            raise ScenarioError(f"{what}: {error}") from None
    name = os.fspath(scenario)
    try:
        if name == "-":
            name = "standard input"
            data = sys.stdin.buffer.read()
        else:
            data = Path(name).read_bytes()
        if data.startswith(CAPTURES):
            raise ScenarioError(f"{name}: is a capture and no {what}; write fairq replay {name}")
        return Text(data.decode().replace("\r\n", "\n"), name)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ScenarioError(f"{name}:{line}: not UTF-8 text; a {what} is a TOML file") from None
    except ValueError:
        raise ScenarioError(f"{name!r}: not a file name") from None
    except OSError as error:
        is_misnamed = error.errno in (None, errno.ENOENT, errno.EISDIR, errno.ENOTDIR)
        said = f"{reason(error)}; give the path of a {what} file" if is_misnamed else told(error)
        raise ScenarioError(f"{name}: {said}") from None


def pairs(settings: Settings) -> list[tuple[str, str]]:
    """Path and value of each field that is set, in their order; UsageError if a value has no text."""
    each = settings.items() if isinstance(settings, Mapping) else settings
    return [(path, value if isinstance(value, str) else _said(path, value)) for path, value in each]


def _said(path: str, value: object) -> str:
    try:
        return json.dumps(plain(value, path))
    except ValueError as error:
        raise UsageError(f"set: {error}") from None


DEPTH_MAX = 100
"""The most dicts and lists within each other; every field of a scenario has less."""


def plain(value: object, path: str, depth: int = 0) -> object:
    """A value as JSON has it, also of paths and of numpy's numbers; ValueError names the field."""
    if value is None or isinstance(value, bool | str):
        return value
    if hasattr(value, "__index__"):
        # also a whole number of numpy's
        return int(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if depth > DEPTH_MAX:
        raise ValueError(f"{path[:40]}…: more than {DEPTH_MAX} dicts and lists within each other")
    if isinstance(value, Mapping):
        return {_name(key, path): plain(inner, _below(path, str(key)), depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, f"{path}[{at}]", depth + 1) for at, inner in enumerate(value)]
    said = f"{path}: " if path else ""
    if isinstance(value, float) or _is_number(value):
        number = float(value)  # type: ignore[arg-type]
        if not math.isfinite(number):
            raise ValueError(f"{said}{number} is no number that a field can have; leave it out, or write a number")
        return number
    raise ValueError(f"{said}{_shown(value)} is a {type(value).__name__}; write text, a number, a list or a dict")


def _is_number(value: object) -> bool:
    """Whether a value is one number of numpy's, whose classes are not loaded for this."""
    return type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0 and hasattr(value, "__float__")


def _name(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{path + ': ' if path else ''}{_shown(key)} is no name of a field; write text")
    return key


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


def ran(scenario: Scenario, settings: Settings) -> dict[str, Any]:
    """What makes a run the same: its scenario, whatever its comments and the order of its fields, and its settings."""
    text, name, parts = read(scenario)
    try:
        # as runs read it: with bounds on its depth, unlike tomllib
        said = json.loads(_native.toml_tree(text, name)[0])
    except ScenarioError:
        # it is refused when it is read for its run
        said = text
    work = {"scenario": said, "set": pairs(settings)}
    return work if parts is None else work | {"parts": parts.versions()}
