"""`--timeline`: the packets of a run, by flow over time, as a picture."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import fairq._native as _native
from fairq import api
from fairq.cli.printing import plotting, style
from fairq.core import tables
from fairq.core.errors import UsageError
from fairq.core.inputs import Text
from fairq.core.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKETS_MAX = 2000
"""The most packets of a picture."""

NEAR = 0.9
"""The part of a bound from which on it was nearly broken."""

NAMED = 3
"""The most bounds that a caption names."""


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
    figure: Figure = plotting().timeline(
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


def of_audit(found: api.Audit, arguments: Namespace) -> Figure:
    """The figure of a run of an audit: packets, their ends in the fluid, bounds it came near."""
    run = arguments.replay
    rows = [_packet(row) for row in found.packets]
    if not rows:
        raise UsageError(f"{run} has no packets to draw; take a run of the tables of the audit", where="--timeline")
    late = {row["serial"]: row["sent_s"] - row["fluid_s"] for row in rows
            if row["sent_s"] is not None and row["fluid_s"] is not None}  # fmt: skip
    latest = max(late, key=lambda serial: late[serial], default=None)
    caption = "; ".join(filter(None, (
        *(f"broken: {row['of']}, {row['message']}" for row in found.violations),
        *_nearest(found),
        None if latest is None else f"outlined: the packet that is latest against the fluid, by "
        f"{tables.value('late_s', late[latest])}",
    )))  # fmt: skip
    figure: Figure = plotting().timeline(
        rows,
        f"audit of {found.discipline}, run {run}",
        names=sorted({row["flow"] for row in rows}, key=lambda name: int(name.split()[-1])),
        outlined=() if latest is None else (latest,),
        caption=caption,
        style=style(arguments),
    )
    return figure


def _nearest(found: api.Audit) -> list[str]:
    """The bounds that the run broke or nearly broke, the nearest first."""
    near = [row for row in found.bounds if row["ratio"] is not None and row["ratio"] >= NEAR]
    near.sort(key=lambda row: -row["ratio"])
    return [f"{row['measure']} {row['worst']:.6g} of {row['bound']:.6g} {row['unit']}, {row['of']}"
            for row in near[:NAMED]]  # fmt: skip


def _packet(row: Mapping[str, Any]) -> dict[str, Any]:
    """A packet of an audit as a timeline has it."""
    arrived, began, end, fluid = (
        None if row[name] is None else row[name] / 1e12 for name in ("arrival_ps", "start_ps", "end_ps", "fluid_ps")
    )
    is_sent = row["fate"] == "sent"
    return {
        "serial": row["packet"],
        "flow": f"flow {row['flow']}",
        "packet_bytes": row["bytes"],
        "arrived_s": arrived,
        "began_s": began,
        "sent_s": end if is_sent else None,
        "dropped_s": end if row["fate"].startswith("dropped") else None,
        "removed_s": end if row["fate"] == "removed" else None,
        "fluid_s": fluid,
    }
