"""`fairq explain`: the card of an entry, scenes of a transport, and what each setting does."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from fairq import api, plots
from fairq.cli.options import LOOKS, WORKERS, plot
from fairq.cli.printing import as_json, look, paragraphs, picture, save, sections, style, written
from fairq.core import streams, tables
from fairq.core.declared import LIST, OneOf, Option, Spec, argument, switch, typed_only
from fairq.core.errors import UsageError
from fairq.core.progress import Bar
from fairq.questions import agreement

LINE = (
    Option("rate", "the line's rate (default 20Mbit/s)", "DOWN[/UP]", default="20Mbit/s", typed=None),
    Option("rtt", "its round trip without queueing (default 40ms)", "TIME", default="40ms", typed=None),
    Option("flows", "the flows, as of fairq compare (default: bulk, bulk with ECN, a call)", "LIST", LIST),
    Option("seeds", "runs of each value (default 10, or as many as take 60 s of the processor)", "N", "int"),
    Option("duration", "measure this long (default 15s)", "TIME"),
)
"""What the line of --effects can be told."""

SPEC = Spec(
    "explain",
    "fairq explain fq_codel --effects --plot effects.svg",
    (
        argument("name", metavar="NAME"),
        OneOf(typed_only(
            switch("scenes", "drive a transport alone through named scenes and print one line a round"),
            switch("effects", "measure what each setting does to delay, share and loss"),
        )),
        *plot("draw the scenes, or the effects, into FILE"),
        *LINE,
        WORKERS,
        *LOOKS,
    ),
    "--effects varies each setting alone over one line, and --rate, --rtt, --flows, --seeds and"
    " --duration say which line.",
    functions=("explain", "effects"),
    beside=("width", "progress"),
)  # fmt: skip


CARD_WIDTH = 100
"""Columns of a card where there is no screen."""


CARD_WIDTH_MAX = 120
"""Columns of a card at most: longer lines are hard to read."""


def explain(arguments: Namespace) -> str:
    """`fairq explain`."""
    if arguments.effects:
        return _effects(arguments)
    for option in (*LINE, WORKERS):
        if getattr(arguments, option.name) is not None:
            raise UsageError(f"{option.flag} goes with --effects; write fairq explain {arguments.name} --effects")
    if arguments.scenes or arguments.plot:
        return _scenes(arguments)
    if arguments.json:
        return as_json(api.explained(arguments.name), "explain")
    width = streams.screen_width() or CARD_WIDTH
    width = min(max(width, api.WIDTH_MIN), CARD_WIDTH_MAX)
    card = api.explain(arguments.name, width=width)
    said = agreement.line(arguments.name)
    return f"{card.rstrip()}\n\n{tables.prose(f'{arguments.name} {said}', width)}" if said else card


def _scenes(arguments: Namespace) -> str:
    """A table for each scene of a transport; or one figure of them all."""
    drawing = picture(arguments.plot) if arguments.plot else None
    played = api.scenes(arguments.name)
    if drawing:
        from fairq import figures

        save(figures.scenes(played, f"{arguments.name}, driven alone", style=style(arguments)), drawing)
    if arguments.json:
        return as_json(played, "explain-scenes")
    if drawing:
        return written(arguments, drawing).lstrip("\n")
    return sections(
        {
            tables.prose(f"{scene['scene']}: {scene['shows']}"): tables.text(scene["rounds"], **look(arguments))
            for scene in played
        }
    )


def _effects(arguments: Namespace) -> str:
    """The settings that change something, those that do not, and those that are not varied."""
    drawing = picture(arguments.plot) if arguments.plot else None
    line = {word: value for word, value in SPEC.words(vars(arguments)).items() if value is not None}
    with Bar(f"explain {arguments.name}") as bar:
        found = api.effects(**line, progress=bar)
    if drawing:
        save(plots.of_effects(found, style(arguments), arguments.name), drawing)
    if arguments.json:
        return as_json(found.document, "explain-effects")
    has_room = arguments.wide or arguments.si or (streams.screen_width() or tables.WIDTH) >= INTERVALS_WIDTH
    shown = _shown(found, every=arguments.wide, has_intervals=has_room)
    raw = [f"{name}{end}" for name in COLUMNS for end in ("", *tables.ENDS) if f"{name}{end}" in found.rows[0]]
    parts = []
    if shown:
        columns = raw if arguments.si else COLUMNS
        table = tables.text(shown, columns, minor=MINOR, keep=("setting", "value", "flow"), **look(arguments))
        parts.append(f"{_titled(found.document['line'], has_room)}\n{table}")
    parts.append(tables.prose(found.text))
    if found.fixed:
        table = tables.text(found.fixed, sentences=("reason",), keep=("reason",), **look(arguments))
        parts.append(f"Not varied alone\n{table}")
    return paragraphs(parts, arguments, drawing)


COLUMNS = ("setting", "value", "flow", "queueing_s_mean", "queueing_s_p99", "share", "loss", "marked_ratio")
"""The columns of effects on a screen; --json has all."""

MINOR = ("marked_ratio", "queueing_s_p99")
"""Those that go first where a screen is too narrow."""


INTERVALS_WIDTH = 120
"""Columns of a screen from which intervals are shown, beside delay, share and loss."""


def _titled(line: Mapping[str, Any], has_intervals: bool) -> str:
    """The line that the settings were tried on."""
    intervals = " with their 95 % intervals" if has_intervals else ""
    return tables.prose(
        f"{', '.join(line['flows'])} over {line['rate']} with a round trip of {line['rtt'][0]}; "
        f"means of {line['seeds']} seeds{intervals}. Only flows that a setting changes are shown."
    )


def _shown(found: Any, every: bool, has_intervals: bool) -> list[dict[str, Any]]:
    """The rows of the flows that a setting changes; the default's value says that it is one."""
    changed = {(each["setting"], change["flow"]) for each in found.settings for change in each["changes"]}
    return [
        {name: value for name, value in row.items() if has_intervals or not name.endswith(tables.ENDS)}
        | {"value": f"{row['value']}{' (default)' if row['is_default'] else ''}"}
        for row in found.rows
        if every or (row["setting"], row["flow"]) in changed
    ]
