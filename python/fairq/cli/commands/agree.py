"""`fairq agree`: how far fairq is from a real kernel, by what was recorded of it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from fairq import api
from fairq.cli.options import LOOKS
from fairq.cli.printing import as_json, look
from fairq.core import tables
from fairq.core.declared import Spec, argument
from fairq.questions import agreement

SPEC = Spec(
    "agree",
    "fairq agree linux fq_codel",
    (
        argument("witness", f"linux: {agreement.KERNEL}", "WITNESS", choices=("linux",)),
        argument("name", "a discipline or a congestion control, as fq_codel", "NAME", nargs="?"),
        *LOOKS,
    ),
    "Without NAME there is a line for each discipline and each congestion control that was recorded."
    " docs/agreement/linux.md shows every cell.",
    functions=("agree",),
)  # fmt: skip


def agree(arguments: Namespace) -> str:
    """`fairq agree`."""
    found = api.agree(arguments.witness, arguments.name)
    if arguments.json:
        return as_json(found, "agree")
    if arguments.name is None:
        parts = [_table(found["summary"], SUMMARY, arguments)]
    else:
        titled = {"Connections": (found["cells"], CELLS), "Orders": (found["orders"], ORDERS)}
        rows = {title: ([_read(row) for row in rows], columns) for title, (rows, columns) in titled.items() if rows}
        parts = [f"{title}\n{_table(*each, arguments)}" for title, each in rows.items()]
        parts += _why([*found["cells"], *found["orders"]])
    return "\n\n".join([*parts, tables.prose(found["text"])])


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], arguments: Namespace) -> str:
    return tables.text(rows, None if arguments.wide else columns, minor=MINOR, keep=columns[:1], **look(arguments))


SUMMARY = (
    "name",
    "part",
    "orders",
    "orders_agree",
    "cells",
    "agrees",
    "undecided",
    "differs",
    "share_distance",
    "queueing_distance",
)
"""The columns of all names."""

CELLS = ("cell", "window", "verdict", "share_linux", "share_fairq", "queueing_s_linux", "queueing_s_fairq",
         "loss_linux", "loss_fairq")  # fmt: skip
"""The columns of one name."""

ORDERS = ("case", "kind", "verdict")

MINOR = ("part", "loss_linux", "loss_fairq", "undecided")
"""The columns that go first where a screen is too narrow."""


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    """A cell with its shares as text: there is one of each congestion control."""
    if "share_linux" not in row:
        return dict(row)
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
            cells_of.setdefault(row["reason"] or "no reason is known", []).append(_name(row))
    if not cells_of:
        return []
    lines = [f"{', '.join(cells)}: {reason.rstrip('.')}." for reason, cells in cells_of.items()]
    return ["What differs, and why", *(tables.prose(line) for line in lines)]


def _name(row: Mapping[str, Any]) -> str:
    return row["case"] if "case" in row else f"{row['cell']} ({row['window']} s)"
