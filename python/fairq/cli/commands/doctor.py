"""`fairq doctor`: what this machine can emulate, and how to get the rest."""

from __future__ import annotations

from argparse import Namespace

from fairq.cli.options import LOOKS
from fairq.cli.printing import as_json, look, paragraphs
from fairq.core import tables
from fairq.core.declared import Spec
from fairq.emulation import doctoring

SPEC = Spec(
    "doctor",
    "fairq doctor",
    LOOKS,
    "It tries user namespaces, TUN devices, packet sockets, congestion controls and the clock, and changes nothing.",
    functions=("doctor",),
)


def doctor(arguments: Namespace) -> str:
    """`fairq doctor`."""
    found = doctoring.doctor()
    if arguments.json:
        return as_json(found.document, "doctor")
    names = ("what", "state", "found", "remedy")
    table = tables.text(found.rows, names, keep=names[:3], sentences=("found", "remedy"), **look(arguments))
    return paragraphs([table, tables.prose(found.text)], arguments)
