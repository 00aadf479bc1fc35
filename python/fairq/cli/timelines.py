"""`--timeline`: the packets of a run, by flow over time, as a picture."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import fairq._native as _native
from fairq import api, plots
from fairq.cli.printing import style
from fairq.core.errors import UsageError
from fairq.core.inputs import Text
from fairq.core.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKETS_MAX = 2000
"""The most packets of a picture."""


def check(arguments: Namespace) -> None:
    """UsageError if --from or --to is no time."""
    _seconds("--from", arguments.first, 0.0)
    _seconds("--to", arguments.last, 0.0)


def of_run(scenario: Text, result: Result, arguments: Namespace) -> Figure:
    """The figure of the first run of the first point, which is run again, up to the last time."""
    measure = result.scenario["measure"]
    sets, labels = _first_point(result.scenario)
    with api.live(scenario, seed=measure["seed"], set=[*arguments.set, *sets], links=arguments.link) as run:
        first = _seconds("--from", arguments.first, 0.0)
        last = min(_seconds("--to", arguments.last, run.end), run.end)
        if first >= last:
            raise UsageError(f"nothing is between {first:g} s and {last:g} s; the run ends at {run.end:g} s",
                             where="--from")  # fmt: skip
        found = run.timeline(arguments.link, from_s=first, until_s=last, most=PACKETS_MAX)
    rows = list(found.packets)
    if not rows:
        raise UsageError(f"no packet was at the link from {first:g} s to {last:g} s; write other times or --link",
                         where="--timeline")  # fmt: skip
    if found.has_more:
        raise UsageError(_too_many(rows, first, last), where="--timeline")
    title = ", ".join(filter(None, (result.scenario.get("title"), *labels)))
    of = f"packets on {rows[0]['link']}" + (", the other way" if rows[0]["direction"] == "reverse" else "")
    figure: Figure = plots.loaded().timeline(
        rows,
        f"{title}: {of}" if title else of,
        fluid=list(found.fluid),
        span=(first, last),
        names=list(dict.fromkeys(row["flow"] for row in result.flows)),
        caption=f"the first run, seed {measure['seed']}",
        style=style(arguments),
    )
    return figure


def _first_point(scenario: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[str]]:
    """What to set for a run of the first point of the axes alone, and the names of its values."""
    sets, labels = [("axes", "[]")], []
    for axis in scenario["axes"]:
        value = axis["values"][0]
        fields = value["set"] if axis["path"] is None else {axis["path"]: value}
        sets += [(path, each if isinstance(each, str) else json.dumps(each)) for path, each in fields.items()]
        labels.append(str(value["name"] if axis["path"] is None else value))
    return sets, labels


def _seconds(option: str, said: str | None, other: float) -> float:
    """A time as seconds; UsageError names the option."""
    try:
        return other if said is None else _native.quantity("time", said)
    except UsageError as error:
        raise UsageError(error.fault, where=option) from None


def _too_many(rows: Sequence[Mapping[str, Any]], first: float, last: float) -> str:
    """That there are too many packets, and a time up to which they have room."""
    lasts = max(row["arrived_s"] for row in rows) - first
    # three digits, rounded down: an option that can be read
    unit = 10 ** (math.floor(math.log10(lasts)) - 2) if lasts > 0 else 1e-12
    end = first + math.floor(lasts / unit) * unit
    return (
        f"{rows[0]['link']} has more than the {PACKETS_MAX} packets of a picture from {first:g} s to {last:g} s;"
        f" write --from {first:.12g}s --to {end:.12g}s, or the like"
    )
