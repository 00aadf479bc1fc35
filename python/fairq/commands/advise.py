"""`fairq advise`: which queue is best for a line, and how Linux is told to have it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairq import api, tables
from fairq._native import UsageError
from fairq.commands.options import Commands, command, count, looks, plot, workers
from fairq.commands.printing import as_json, look, picture, save, style, tell, written
from fairq.progress import Bar
from fairq.questions import asked
from fairq.questions.advising import BELOW, CRITERIA, UTILISATION_MIN, Advice

if TYPE_CHECKING:
    from fairq.figures import Style


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(
        commands_of, "advise", advise, "rank queues and buffers for your line, and print the tc commands",
        "fairq advise --down 50Mbit/s --up 10Mbit/s --rtt 20ms,80ms",
        "Queues that Linux can set up have bulk flows in both directions, and a call or your own packets, on a line of"
        f" these rates. They are ranked by {', '.join(CRITERIA)}. docs/guide/advise.md says what is behind it.",
    )  # fmt: skip
    parser.add_argument("--down", required=True, metavar="RATE", help="the line's rate to you, as 50Mbit/s")
    parser.add_argument("--up", required=True, metavar="RATE", help="its rate from you, as 10Mbit/s")
    parser.add_argument(
        "--rtt", required=True, metavar="LIST", help="round trips to your servers without queueing, as 20ms,80ms"
    )
    parser.add_argument("--capture", metavar="FILE", help="take your own packets of this capture in place of a call")
    parser.add_argument("--me", metavar="ADDRESS", help="your address in it, or network; several with commas between")
    parser.add_argument(
        "--flows", metavar="LIST", help="the flows, as of fairq compare (default: bulk both ways, a call both ways)"
    )
    parser.add_argument("--criterion", metavar="NAME", help=f"rank by this (default {next(iter(CRITERIA))})")
    parser.add_argument(
        "--utilisation-min",
        metavar="PART",
        help=f"rank only what uses this part of the line (default {100 * UTILISATION_MIN:g}%%)",
    )
    parser.add_argument("--queue", metavar="LIST", help="rank these queues (default: those of Linux)")
    parser.add_argument(
        "--buffer", metavar="LIST", help="give them these rooms, as 100ms,60kB (default: those of Linux)"
    )
    parser.add_argument("--dev", default="eth0", help="the device to the line, in tc commands (default eth0)")
    parser.add_argument(
        "--lan", default="eth1", metavar="DEV", help="the device to your network, in tc commands (default eth1)"
    )
    parser.add_argument(
        "--below", metavar="PART", help=f"let tc shape this part below the line (default {100 * BELOW:g}%%)"
    )
    parser.add_argument(
        "--seeds",
        type=count,
        default=asked.SEEDS,
        metavar="N",
        help=f"runs of each candidate and round trip (default {asked.SEEDS})",
    )
    parser.add_argument(
        "--duration", default=asked.DURATION, metavar="TIME", help=f"measure this long (default {asked.DURATION})"
    )
    plot(parser, "draw the trade-off into FILE")
    workers(parser)
    looks(parser)


WORDS = ("down", "up", "rtt", "flows", "capture", "me", "criterion", "utilisation_min", "queue", "buffer", "seeds",
         "duration", "dev", "lan", "below")  # fmt: skip
"""The words of a line, which the API has as well."""


def advise(arguments: Namespace) -> str:
    """`fairq advise`."""
    drawing = picture(arguments.plot) if arguments.plot else None
    words: dict[str, Any] = {word: getattr(arguments, word) for word in WORDS}
    for word, value in words.items():
        if value == "":
            raise UsageError(f"--{word.replace('_', '-')} is empty; write a value, or leave it out")
    with Bar("advise") as bar:
        found = api.advise(**words, workers=arguments.workers, progress=bar)
    if drawing is not None:
        save(_figure(found, style(arguments)), drawing)
    tell(found.notes)
    if arguments.json:
        return as_json(found.document, "advise")
    parts = [_table(found, arguments), tables.prose(found.text), *(["\n".join(found.tc)] if found.tc else [])]
    return "\n\n".join(parts) + (f"\n{places}" if (places := written(arguments, drawing)) else "")


def _table(found: Advice, arguments: Namespace) -> str:
    """The candidates with what they are ranked by, and how far each is behind the best."""
    criterion = found.criterion["column"]
    behind = "behind_s" if "_s_" in criterion else "behind"
    is_whole = arguments.wide or arguments.si
    rows = [_shown(row, behind, is_whole) for row in found.candidates]
    columns = list(dict.fromkeys(("rank", "candidate", criterion, behind, "utilisation", *COLUMNS)))
    raw = [f"{name}{end}" for name in columns for end in ("", *tables.ENDS) if f"{name}{end}" in rows[0]]
    shown = None if arguments.wide else raw if arguments.si else columns
    minor = [name for name in MINOR if name not in (criterion, "utilisation")]
    table = tables.text(rows, shown, minor=minor, keep=("rank", "candidate", criterion), **look(arguments))
    seeds = found.candidates[0]["seeds"]
    means = f"means of {seeds} seeds with their 95 % intervals, " if seeds > 1 else ""
    said = f"The worse of both directions, {means}and over the round trips."
    return f"{table}\n\n{tables.prose(said)}"


def _shown(row: Mapping[str, Any], behind: str, is_whole: bool) -> dict[str, Any]:
    """A candidate; what it is behind has its unit in its name, and its interval if `is_whole`."""
    return {
        f"{behind}{name.removeprefix('behind')}" if name.startswith("behind") else name: value
        for name, value in row.items()
        if is_whole or name not in ("behind_low", "behind_high")
    }


COLUMNS = ("call_loss", "queueing_s_mean", "jain", "completion_s_mean", "is_decided", "limit_down", "limit_up")
"""The columns on a screen beside the criterion's; --wide and --json have all."""

MINOR = ("limit_down", "limit_up", "is_decided", "jain", "completion_s_mean", "call_loss", "queueing_s_mean")
"""The columns that go first where a screen is too narrow."""


def _figure(found: Advice, style: Style) -> Any:
    """The candidates by what they use of the line and what it costs."""
    from fairq import figures

    line, criterion = found.document["line"], found.criterion
    up = criterion["column"] if criterion["column"] != "utilisation" else "queueing_s_mean"
    title = f"A line of {line['down']} down and {line['up']} up"
    return figures.trade_off(found.candidates, "utilisation", up, "candidate", title, style=style)
