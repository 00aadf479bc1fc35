"""`fairq baseline`: one flow alone on an ideal line, over time."""

from __future__ import annotations

from argparse import Namespace

from fairq import api, plots
from fairq.cli.options import LOOKS, QLOG, SCENARIO, TRACE, plot
from fairq.cli.printing import (
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
from fairq.core import tables
from fairq.core.declared import Spec, options
from fairq.core.output import check_file
from fairq.core.progress import Bar
from fairq.questions import baselines

SPEC = Spec(
    "baseline",
    "fairq baseline bbr3 --rate 20Mbit/s --rtt 100ms --plot bbr3.png --trace bbr3.json",
    (
        *options(baselines.Question),
        *plot("draw the samples over time, with the phases shaded"),
        TRACE,
        QLOG,
        SCENARIO,
        *LOOKS,
    ),
    "CONTROL is one that fairq list transports shows, with settings as cubic(decrease=0.8)."
    " docs/guide/baseline.md shows how to read the picture and the trace.",
    functions=("baseline",),
    beside=("trace", "progress"),
)


PHASES = ("phase", "begins", "duration_s", "throughput_bit_per_s", "flight_bytes", "window_bytes", "rtt_s")


def baseline(arguments: Namespace) -> str:
    """`fairq baseline`."""
    drawing = picture(arguments.plot) if arguments.plot else None
    for path in filter(None, (arguments.trace, arguments.qlog, arguments.scenario)):
        check_file(path)
    with Bar("baseline") as bar:
        found = api.baseline(**SPEC.words(vars(arguments)), trace=bool(arguments.trace or arguments.qlog), progress=bar)
    if arguments.scenario:
        save_text(found.scenario, arguments.scenario)
    tell(found.notes)
    if drawing:
        save(plots.of_baseline(found, style(arguments)), drawing)
    if arguments.trace:
        save_trace(found.result, arguments.trace)
    logs = save_qlogs(found.result, arguments.qlog) if arguments.qlog else []
    if arguments.json:
        return as_json(found.document, "baseline")
    table = f"{tables.text(found.phases, PHASES, keep=PHASES, **look(arguments))}\n\n" if found.phases else ""
    places = written(arguments, arguments.scenario, drawing, arguments.trace, *logs)
    return f"{table}{tables.prose(baselines.sentence(found))}\n{places}"
