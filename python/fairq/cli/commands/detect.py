"""`fairq detect`: whether a bottleneck was fair."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from fairq import api
from fairq.cli.options import LOOKS
from fairq.cli.printing import FLOWS_SHOWN, as_json, look
from fairq.core import tables
from fairq.core.declared import PATH, Option, Spec, argument, switch, typed_only
from fairq.core.errors import UsageError
from fairq.detection.detected import Detected

SPEC = Spec(
    "detect",
    "fairq detect sent.pcap received.pcap --flow 10.0.0.1",
    typed_only(
        argument("sent", "the capture of the sending end; or, alone, a folder or a .csv table", "SENT", PATH),
        argument("received", "the capture of the receiving end", "RECEIVED", PATH, nargs="?"),
        Option("flow", "judge only flows with this in their name", "TEXT"),
        switch("all", "show all flows, not only those with most packets"),
        *LOOKS,
    ),
    "In place of two captures it takes a folder of fairq run --packets, a folder of fairq replay for"
    " one discipline, or a .csv table of sent_s, received_s, bytes.",
    functions=("detect",),
    beside=("paths",),
)  # fmt: skip


DETECTED = ["flow", "verdict", "confidence", "capacity_bit_per_s", "share_bit_per_s", "packets", "unmatched", "pairs",
            "why"]  # fmt: skip
"""The columns of `fairq detect`; --json has the evidence too."""


MINOR = ["pairs", "unmatched", "packets"]
"""The columns that go first where a screen is too narrow."""


MEANT = """\
confidence: the share of correct verdicts on test networks, half of them fair. capacity: from the smallest distance of
two packets that comes often; if others never paused in a fair queue, the line has more. share: what the flow got while
its packets waited for each other. unmatched: the part of its packets that was not found at the other end.
docs/guide/detect.md says what can and cannot be told."""
"""What the numbers of `fairq detect` mean."""


def detect(arguments: Namespace) -> str:
    """`fairq detect`."""
    rows: Sequence[Detected] = api.detect(*(path for path in (arguments.sent, arguments.received) if path is not None))
    if arguments.flow is not None:
        rows = [row for row in rows if arguments.flow in row["flow"]]
        if not rows:
            raise UsageError(f"{arguments.flow!r}: no flow has this in its name; without --flow all are shown")
    if arguments.json:
        return as_json(rows, "detect")
    kept = rows if arguments.all else rows[:FLOWS_SHOWN]
    every = "the same in all rows" if len(kept) == len(rows) else "the same in all rows shown"
    columns = DETECTED if arguments.wide else [name for name in DETECTED if name != "why"]
    text = tables.text(kept, columns, every=every, minor=MINOR, keep=["verdict", "confidence"], **look(arguments))
    if len(kept) < len(rows):
        text += f"\nand {len(rows) - len(kept)} flows with fewer packets; --all shows them"
    said: dict[tuple[str, str], list[str]] = {}
    for row in kept:
        why = [] if arguments.wide or not row["why"] else [("why", row["why"])]
        for each in (*why, *(("note", note) for note in row["notes"])):
            said.setdefault(each, []).append(row["flow"])
    for (what, of), flows in said.items():
        more = f" and {len(flows) - 1} others" if len(flows) > 1 else ""
        text += f"\n{tables.prose(f'{what}, {tables.shown(flows[0])}{more}: {of}')}"
    return f"{text}\n\n{tables.prose(MEANT)}"
