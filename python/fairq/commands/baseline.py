"""`fairq baseline`: one flow alone on an ideal line, over time."""

from __future__ import annotations

from argparse import Namespace

from fairq import alone, api, tables
from fairq.commands.options import Commands, command, looks, plot, target, traces
from fairq.commands.printing import (
    as_json,
    look,
    picture,
    save,
    save_qlogs,
    save_text,
    save_trace,
    style,
    tell,
    written,
)
from fairq.output import check_file
from fairq.progress import Bar


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(
        commands_of, "baseline", baseline,
        "fairq baseline bbr3 --rate 20Mbit/s --rtt 100ms --plot bbr3.png --trace bbr3.json",
        "CONTROL is one that fairq list transports shows, with settings as cubic(decrease=0.8)."
        " docs/guide/baseline.md"
        " shows how to read the picture and the trace.",
    )  # fmt: skip
    parser.add_argument("control", metavar="CONTROL", help="the congestion control, as bbr3 or cubic(decrease=0.8)")
    parser.add_argument(
        "--rate", required=True, help="the rate of the line, as 20Mbit/s, 30Mbit/s..130Mbit/s, or trace:FILE"
    )
    parser.add_argument("--rtt", required=True, metavar="TIME", help="the round trip without queueing, as 100ms")
    parser.add_argument("--buffer", default=alone.BUFFER, metavar="ROOM",
                        help=f"the room of the line's queue, as 2BDP or 60kB (default {alone.BUFFER})")  # fmt: skip
    parser.add_argument("--queue", default=alone.QUEUE, help=f"the queue of the line (default {alone.QUEUE})")
    parser.add_argument("--duration", metavar="TIME",
                        help=f"run this long (default: until it stands still, at least {alone.DURATION})")  # fmt: skip
    parser.add_argument("--profile", default=alone.PROFILE, metavar="NAME",
                        help=f"the system of the hosts (default {alone.PROFILE})")  # fmt: skip
    parser.add_argument("--receive-window", metavar="SIZE",
                        help="the receive window, as 6MB or 4000packets (default: the profile's)")  # fmt: skip
    parser.add_argument("--series", metavar="TIME", help="sample this often (default: four times in a round trip)")
    plot(parser, "draw the samples over time, with the phases shaded")
    traces(parser)
    parser.add_argument("--scenario", type=target, metavar="FILE", help="write the scenario that is run, for fairq run")
    looks(parser)


WORDS = ("control", "rate", "rtt", "buffer", "queue", "duration", "profile", "series", "receive_window")
"""The words of the question, which the API has as well."""

PHASES = ("phase", "begins", "duration_s", "throughput_bit_per_s", "flight_bytes", "window_bytes", "rtt_s")


def baseline(arguments: Namespace) -> str:
    """`fairq baseline`."""
    words = {word: getattr(arguments, word) for word in WORDS}
    drawing = picture(arguments.plot) if arguments.plot else None
    for path in filter(None, (arguments.trace, arguments.qlog, arguments.scenario)):
        check_file(path)
    with Bar("baseline") as bar:
        found = api.baseline(**words, trace=bool(arguments.trace or arguments.qlog), progress=bar)
    if arguments.scenario:
        save_text(found.scenario, arguments.scenario)
    tell(found.notes)
    if drawing:
        from fairq import figures

        save(figures.baseline(found.series, alone.title(found), style=style(arguments)), drawing)
    if arguments.trace:
        save_trace(found.result, arguments.trace)
    logs = save_qlogs(found.result, arguments.qlog) if arguments.qlog else []
    if arguments.json:
        return as_json(found.document, "baseline")
    table = f"{tables.text(found.phases, PHASES, keep=PHASES, **look(arguments))}\n\n" if found.phases else ""
    places = written(arguments, arguments.scenario, drawing, arguments.trace, *logs)
    return f"{table}{tables.prose(alone.sentence(found))}\n{places}"
