"""`fairq detect`: whether a bottleneck was fair."""

from __future__ import annotations

from argparse import Namespace

from fairq import api, tables
from fairq._native import UsageError
from fairq.commands.options import (
    Commands,
    command,
    looks,
)
from fairq.commands.printing import FLOWS_SHOWN, as_json, look


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(commands_of, "detect", detect,
                      "tell whether the bottleneck was fair, by packet times at both ends",
                      "fairq detect sent.pcap received.pcap --flow 10.0.0.1",
                      "In place of two captures it takes a folder of fairq run --packets, a folder of fairq replay for"
                      " one discipline, or a .csv table of sent_s, received_s, bytes.")  # fmt: skip
    parser.add_argument("sent", metavar="SENT",
                        help="the capture of the sending end; or, alone, a folder or a .csv table")  # fmt: skip
    parser.add_argument("received", metavar="RECEIVED", nargs="?", help="the capture of the receiving end")
    parser.add_argument("--flow", metavar="TEXT", help="judge only flows with this in their name")
    parser.add_argument("--all", action="store_true", help="show all flows, not only those with most packets")
    looks(parser)


DETECTED = ["flow", "verdict", "confidence", "capacity_bit_per_s", "share_bit_per_s", "packets", "unmatched", "pairs",
            "why"]  # fmt: skip
"""The columns of `fairq detect`; --json has the evidence too."""


MEANT = """\
confidence: the share of correct verdicts on test networks, half of them fair. capacity: from the smallest distance of
two packets that comes often; if others never paused in a fair queue, the line has more. share: what the flow got while
its packets waited for each other. unmatched: the part of its packets that was not found at the other end.
docs/guide/detect.md says what can and cannot be told."""
"""What the numbers of `fairq detect` mean."""


def detect(arguments: Namespace) -> str:
    """`fairq detect`."""
    rows = api.detect(*(path for path in (arguments.sent, arguments.received) if path is not None))
    if arguments.flow is not None:
        rows = [row for row in rows if arguments.flow in row["flow"]]
        if not rows:
            raise UsageError(f"{arguments.flow!r}: no flow has this in its name; without --flow all are shown")
    if arguments.json:
        return as_json(rows, "detect")
    kept = rows if arguments.all else rows[:FLOWS_SHOWN]
    every = "every row" if len(kept) == len(rows) else "every row shown"
    text = tables.text(kept, DETECTED, every=every, minor=["pairs", "unmatched", "packets"], **look(arguments))
    if len(kept) < len(rows):
        text += f"\nand {len(rows) - len(kept)} flows with fewer packets; --all shows them"
    said: dict[str, list[str]] = {}
    for row in kept:
        for note in row["notes"]:
            said.setdefault(note, []).append(row["flow"])
    for note, flows in said.items():
        more = f" and {len(flows) - 1} others" if len(flows) > 1 else ""
        text += f"\nnote, {flows[0]}{more}: {note}"
    return f"{text}\n\n{tables.prose(MEANT)}"
