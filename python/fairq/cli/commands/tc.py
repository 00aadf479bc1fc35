"""`fairq tc`: queues to commands of Linux, and back."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from fairq import api
from fairq.cli.printing import as_json
from fairq.core import tables
from fairq.core.declared import PATH, OneOf, Option, Spec, argument
from fairq.core.errors import UsageError
from fairq.core.remedies import reason
from fairq.traffic_control.tc_results import TcCommands, TcRead

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
        Option("beside", "compare the counters of tc -s with a result of fairq run or replay", "RESULT", PATH),
    ),
    "Prints the nearest configuration, and what differs. --read takes qdisc, class and filter commands,"
    " separated by semicolons, or a file that has a line each; --read - takes them from standard input. What"
    " tc -s qdisc show and tc -s class show print is read, too. The words of a qdisc, as fq_codel target 5ms,"
    " need no --read.",
    functions=("tc",),
)  # fmt: skip


def tc(arguments: Namespace) -> str:
    """`fairq tc`."""
    found: TcCommands | TcRead
    if arguments.read is None:
        if arguments.beside is not None:
            raise UsageError("goes with what tc -s shows; write --read", where="--beside")
        found = api.tc(" ".join(arguments.queue), dev=arguments.dev)
    else:
        found = api.tc(read=_text(arguments.read), dev=arguments.dev, beside=arguments.beside)
    if arguments.json:
        return as_json(found.document, "tc-read" if isinstance(found, TcRead) else "tc")
    parts = ["\n".join(found.as_lines())]
    if isinstance(found, TcRead):
        leaves = [row for row in found.counters if row.leaf is not None]
        rows, columns = (found.beside, None) if found.beside else (leaves, COUNTERS)
        parts += [tables.text(rows, columns, keep=COUNTERS)] if rows else []
    return "\n\n".join(parts)


COUNTERS = ("leaf", "what", "packets", "dropped", "marked", "backlog_packets")
"""The columns of what tc -s counted."""


def _text(given: str) -> str:
    """The commands: standard input, a file, or the text itself."""
    if given == "-":
        return sys.stdin.read()
    # The name of a file has no blank; commands have.
    if not given or any(letter.isspace() for letter in given) or not Path(given).is_file():
        return given
    try:
        return Path(given).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(reason(error), where=f"--read {given}") from None
    except ValueError:
        raise UsageError("not UTF-8; give a text file of tc commands", where=f"--read {given}") from None
