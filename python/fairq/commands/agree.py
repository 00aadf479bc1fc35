"""`fairq agree`: how far fairq is from a real kernel, by what was recorded of it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from fairq import agreement, api, tables
from fairq.commands.options import Commands, command, looks
from fairq.commands.printing import as_json, look


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(
        commands_of, "agree", agree, "fairq agree linux fq_codel",
        "Without NAME there is a line for each discipline and each congestion control that was recorded."
        " docs/agreement/linux.md shows every cell.",
    )  # fmt: skip
    parser.add_argument("witness", choices=["linux"], metavar="WITNESS", help=f"linux: {agreement.KERNEL}")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a discipline or a congestion control, as fq_codel")
    looks(parser)


def agree(arguments: Namespace) -> str:
    """`fairq agree`."""
    found = api.agree(arguments.witness, arguments.name)
    if arguments.json:
        return as_json(found, "agree")
    columns = SUMMARY if arguments.name is None else CELLS
    rows = found["summary"] if arguments.name is None else [_read(row) for row in found["cells"]]
    shown = None if arguments.wide else columns
    table = tables.text(rows, shown, minor=MINOR, keep=columns[:1], **look(arguments))
    return "\n\n".join([table, *_why(found["cells"]), tables.prose(found["text"])])


SUMMARY = ("name", "part", "cells", "agrees", "undecided", "differs", "share_distance", "queueing_distance")
"""The columns of all names."""

CELLS = ("cell", "window", "verdict", "share_linux", "share_fairq", "queueing_s_linux", "queueing_s_fairq",
         "loss_linux", "loss_fairq")  # fmt: skip
"""The columns of one name."""

MINOR = ("part", "loss_linux", "loss_fairq", "undecided")
"""The columns that go first where a screen is too narrow."""


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    """A cell with its shares as text: there is one of each congestion control."""
    shares = {
        f"share_{side}": ", ".join(f"{law} {100 * share:.1f} %" for law, share in row[f"share_{side}"].items())
        for side in ("linux", "fairq")
    }
    return {**row, **shares}


def _why(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each reason of a miss, with its cells."""
    cells_of: dict[str, list[str]] = {}
    for row in rows:
        if row["verdict"] == "differs":
            cells_of.setdefault(row["reason"] or "no reason is known", []).append(f"{row['cell']} ({row['window']} s)")
    if not cells_of:
        return []
    lines = [f"{', '.join(cells)}: {reason}." for reason, cells in cells_of.items()]
    return ["What differs, and why", *(tables.prose(line) for line in lines)]
