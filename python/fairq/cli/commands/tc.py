"""`fairq tc`: queues to commands of Linux, and back."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import fairq._native as _native
from fairq.cli.printing import as_json
from fairq.core.declared import OneOf, Option, Spec, argument
from fairq.core.errors import UsageError
from fairq.core.inputs import read

if TYPE_CHECKING:
    from fairq.traffic_control import Read


SPEC = Spec(
    "tc",
    "fairq tc 'fq_codel(target=3ms) + 1000packets' --dev eth1;"
    " fairq tc --read 'qdisc add dev eth0 root fq_codel limit 1000 target 3ms'",
    (
        OneOf((
            argument("queue", "a queue's text form, or a scenario file: print its tc commands",
                     "TEXT|SCENARIO", "Scenario", default=[], nargs="*"),
            Option("read", "print the text form of these tc commands; - reads standard input", "COMMANDS"),
        ), required=True),
        Option("dev", "the device of the commands (default eth0)", default="eth0"),
    ),
    "Prints the nearest configuration, and what differs. --read takes qdisc, class and filter commands,"
    " separated by semicolons; --read - takes a line each from standard input. The words of a qdisc, as"
    " fq_codel target 5ms, need no --read.",
)  # fmt: skip


def tc(arguments: Namespace) -> str:
    """`fairq tc`."""
    from fairq import traffic_control as linux

    if arguments.read is not None:
        return _read(linux.read(sys.stdin.read() if arguments.read == "-" else arguments.read), arguments)
    text = " ".join(arguments.queue)
    path = Path(text)
    if path.suffix in (".toml", ".json"):
        scenario = read(path)
        written = linux.of_scenario(scenario.text, scenario.name, arguments.dev)
    else:
        try:
            _native.queue(text)
        except UsageError:
            with suppress(UsageError):
                words = text.removeprefix("tc ")
                return _read((linux.read if words.startswith("qdisc ") else linux.read_words)(words), arguments)
        written = linux.write(text, arguments.dev)
    return as_json(written.as_document(), "tc") if arguments.json else "\n".join(written.as_lines())


def _read(found: Read, arguments: Namespace) -> str:
    """The queue that commands of Linux set up."""
    from fairq import traffic_control as linux

    return as_json(linux.as_document(found), "tc-read") if arguments.json else "\n".join(linux.as_lines(found))
