"""Writes the tc commands of the nearest Linux configuration, and what differs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import fairq._native as _native
from fairq.traffic_control import policing, qdiscs, trees
from fairq.traffic_control.draft import Writer, limit_of, native_queue
from fairq.traffic_control.refusal import refused
from fairq.traffic_control.tc_results import TcCommands
from fairq.traffic_control.units import rate_word

DEVICE = re.compile(r"(?!\.\.?$)[A-Za-z0-9_.@+-]{1,15}", re.ASCII)
"""The name of a device that a shell takes as it is."""


def write(text: str, dev: str = "eth0", *, rate_bit_per_s: float | None = None) -> TcCommands:
    """The commands for the queue of a text form on the device `dev`, in a class if it has a rate.

    Raises UsageError with what is wrong.
    """
    _check(dev)
    writer = Writer(dev, rate_bit_per_s)
    _write(writer, native_queue(text))
    return TcCommands(writer.commands, writer.differs, text)


def _check(dev: str) -> None:
    if not DEVICE.fullmatch(dev):
        raise refused(f"{dev!r} is no name of a device; write up to 15 letters, digits and . _ @ + -, as eth0")


def of_scenario(text: str, name: str, dev: str = "eth0") -> TcCommands:
    """The commands for the lines of a scenario, each under a class that has the line's rate.

    A line is the device at its sending end: of several, each command is after a comment that names its line. Raises
    ScenarioError with the place that is wrong.
    """
    _check(dev)
    lines: list[dict[str, Any]] = json.loads(_native.lines(text, name, []))
    chosen: list[dict[str, Any]] = []
    for line in lines:
        # The points of axes have lines in common.
        if line not in chosen:
            chosen.append(line)
    commands: list[str] = []
    differs: list[dict[str, str]] = []
    for line in chosen:
        writer = Writer(dev, line["rate_bit_per_s"])
        title = _title(line, chosen)
        _write(writer, line["queue"])
        if line["rate_changes"]:
            writer.differ("rate", "it changes", "its mean, or the middle of its walk")
        if line["delay_s"]:
            writer.differ("delay", f"{line['delay_s']:g} s", "the path's own; netem on another device makes one")
        several = len(chosen) > 1
        commands += [f"# {title}", *writer.commands] if several else writer.commands
        differs += [{**row, "setting": f"{title}: {row['setting']}"} if several else row for row in writer.differs]
    return TcCommands(commands, differs, name)


def _title(line: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> str:
    """What tells a line from the others; of one that the points of axes change, which it is and how."""
    # A name may have any letters, and a title stands in a comment.
    title = " ".join(f"line {line['link']}, {line['direction']}".split())
    alike = [one for one in lines if (one["link"], one["direction"]) == (line["link"], line["direction"])]
    if len(alike) == 1:
        return title
    rate = line["rate_bit_per_s"]
    said = {"rate_bit_per_s": "without a rate" if rate is None else rate_word(rate),
            "delay_s": f"delay {line['delay_s']:g} s",
            "rate_changes": "whose rate moves" if line["rate_changes"] else "of a rate"}  # fmt: skip
    which = f"{alike.index(line) + 1} of {len(alike)}"
    return ", ".join(
        [title, which, *(word for name, word in said.items() if any(one[name] != line[name] for one in alike))]
    )


def _write(writer: Writer, table: Mapping[str, Any]) -> None:
    """Write the commands of a queue, and what differs."""
    design, scheduler = table.get("design"), table.get("scheduler") or {"kind": "fifo"}
    part = design or scheduler
    kind, limit = str(part["kind"]), limit_of(table.get("limit"))
    if writer.rate is not None and kind not in ("cake", "cake_mq"):
        writer.under(rate_word(writer.rate))
    elif writer.rate is not None and part.get("rate") is None:
        part = {**part, "rate": f"{round(writer.rate)} bit/s"}
    early = table.get("buffer")
    if kind == "fifo" and early is not None:
        qdiscs.WRITERS.get(early["kind"], qdiscs.unknown_buffer)(writer, early, limit)
    else:
        writers = {**qdiscs.WRITERS, **trees.WRITERS}
        writers.get(kind, qdiscs.fair)(writer, part, limit)
        if early is not None and early["kind"] != "tail_drop":
            writer.differ("buffer", str(early["kind"]), "drops what arrives at a full queue")
    if (policer := table.get("policer")) is not None and not writer.place:
        policing.police(writer, policer)
    elif policer is not None:
        writer.differ("policer", "before the queue of a class", "left out: a filter with police, at its parent")
    for place in ("overflow", "marker"):
        if (other := table.get(place)) is not None:
            writer.differ(place, str(other["kind"]), "nothing like it")
    classifier = (table.get("classifier") or {}).get("kind")
    if classifier not in (None, "port_pair"):
        writer.differ("classifier", str(classifier), "a flow is the five-tuple")
    for below, queue in writer.leaves:
        _write(below, queue)
