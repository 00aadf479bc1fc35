"""`fairq tc`: queues to commands of Linux, and back."""

from __future__ import annotations

import sys
from argparse import Namespace

from fairq import api
from fairq.cli.printing import as_json
from fairq.core.declared import OneOf, Option, Spec, argument
from fairq.traffic_control.tc_results import TcRead

SPEC = Spec(
    "tc",
    "fairq tc 'fq_codel(target=3ms) + 1000packets' --dev eth1;"
    " fairq tc --read 'qdisc add dev eth0 root fq_codel limit 1000 target 3ms'",
    (
        OneOf((
            argument("queue", "a queue's text form, or a scenario file: print its tc commands",
                     "TEXT|SCENARIO", "Scenario", typed=[], nargs="*"),
            Option("read", "print the text form of these tc commands; - reads standard input", "COMMANDS"),
        ), required=True),
        Option("dev", "the device of the commands (default eth0)", default="eth0"),
    ),
    "Prints the nearest configuration, and what differs. --read takes qdisc, class and filter commands,"
    " separated by semicolons; --read - takes a line each from standard input. The words of a qdisc, as"
    " fq_codel target 5ms, need no --read.",
    functions=("tc",),
)  # fmt: skip


def tc(arguments: Namespace) -> str:
    """`fairq tc`."""
    if arguments.read is None:
        found = api.tc(" ".join(arguments.queue), dev=arguments.dev)
    else:
        found = api.tc(read=sys.stdin.read() if arguments.read == "-" else arguments.read)
    schema = "tc-read" if isinstance(found, TcRead) else "tc"
    return as_json(found.document, schema) if arguments.json else "\n".join(found.as_lines())
