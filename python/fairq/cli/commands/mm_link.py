"""`fairq mm-link`: a command over two delivery traces, with the arguments of Mahimahi's mm-link."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from fairq.cli.commands.emulate import ended, made, shown
from fairq.cli.options import LOOKS
from fairq.cli.printing import as_json, paragraphs
from fairq.core import arguments as checked
from fairq.core import streams
from fairq.core.declared import Spec, options, picked, switch, typed_only
from fairq.core.output import check_file
from fairq.emulation import emulated, mahimahi
from fairq.emulation.mahimahi import Link

METERS = ("uplink", "downlink", "uplink_delay", "downlink_delay", "all")
"""What Mahimahi can draw while it runs."""

SPEC = Spec(
    "mm-link",
    "fairq mm-link up.trace down.trace --downlink-queue=fq_codel --downlink-log=down.log -- curl $MAHIMAHI_BASE",
    typed_only(
        *options(Link),
        *(switch(f"meter_{name}", "ignored: fairq emulate --watch shows more") for name in METERS),
        switch("dry_run", "say what would be made, and end"),
        switch("tables", "print the tables of flows and queues in the end, to standard error"),
        *LOOKS,
    ),
    "COMMAND stands behind the traces, as Mahimahi has it, or behind --; without one a shell runs. $MAHIMAHI_BASE is"
    " the outer host: a namespace where --right runs, or that of an emulation around this one. No other is reached,"
    " nor the Internet. docs/guide/mahimahi.md says how packets are counted.",
    command="runs at the terminal",
    has_bare_command=True,
)


def mm_link(arguments: Namespace) -> str:
    """`fairq mm-link`."""
    given = picked(Link, vars(arguments))
    link = checked.read(Link, "mm-link", given)
    link = replace(link, command=tuple(arguments.behind))
    for path in link.logs().values():
        check_file(path)
    asked = link.emulation()
    described = emulated.describe(asked)
    if arguments.dry_run:
        if arguments.json:
            return as_json(emulated.planned(described), "emulate-plan")
        return paragraphs(made(described, asked, arguments), arguments)
    if any(getattr(arguments, f"meter_{name}") for name in METERS):
        streams.note("--meter: there are no meters here; fairq emulate --watch shows rates, queues and delays")
    if emulated.INSIDE not in os.environ and not link.right:
        streams.note(
            "the outer host is empty: the Internet and this machine are not reached; --right runs a command there"
        )
    for path, head in mahimahi.heads(link).items():
        Path(path).write_text(head, encoding="utf-8")
    result = emulated.emulate(
        asked, described=described, more=mahimahi.job(link, described),
        output=streams.error_descriptor() if arguments.json else None,
    )  # fmt: skip
    return ended(result, arguments, shown(result, arguments) if arguments.tables else None)
