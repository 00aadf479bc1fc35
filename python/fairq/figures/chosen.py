"""The figure that the shape of the data asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from fairq.figures import axis_units
from fairq.figures.delays import distribution
from fairq.figures.means import bars, lines, shades
from fairq.figures.over_time import USUAL, changes_of, over_time, rows_of_states
from fairq.figures.plot_settings import plotted
from fairq.figures.style import PAGE, Style

Rows = Sequence[Mapping[str, Any]]

QUANTITIES = ("throughput_bit_per_s", "queueing_s_mean", "rtt_s_mean")
"""The columns of flows that a run's means are plotted of."""

COMPARED = ("share", "goodput_bit_per_s", "queueing_s_mean", "loss")
"""The columns of a comparison that are plotted."""

OF_LEAVES = "packets"
"""What each leaf of a tree, or tin, shows of the packets that it holds."""

GROUPS = ("queue", "host_queue", "buffer", "rtt_s")
"""The columns that tell the groups of a comparison."""

POINTS = 3
"""Least number of numeric values that a comparison shows as lines."""


@plotted()
def of_result(
    result: Any, axes: Sequence[str] | None = None, quantities: Sequence[str] | None = None, *,
    title: str | None = None, samples: bool | None = None, style: Style = PAGE,
) -> Figure:  # fmt: skip
    """A run's figure: samples over time, means of flows over axes, or delays of packets.

    `samples` says which of the first two; None takes the distribution of the delays if packets were
    recorded, else the samples if there are some. `quantities` are columns of these; over time also
    quantities of `states`, as "average_queue". `result` is a `fairq.Result`, or rows.
    """
    if isinstance(result, Sequence):
        return of_rows(result, axes or (), quantities or QUANTITIES, title or "", style=style)
    names = [axis["name"] for axis in result.scenario.get("axes", [])] if axes is None else list(axes)
    said = result.scenario.get("title") or "" if title is None else title
    if samples is None and len(result.packets):
        packets = list(result.packets)
        flows = ["flow"] if len({row["flow"] for row in packets}) > 1 else []
        count = len({row["seed"] for row in packets})
        seeds = "one seed" if count == 1 else f"{count} seeds"
        return distribution(packets, names, flows, said, caption=f"all packets of {seeds}", style=style)
    if samples or (samples is None and len(result.series)):
        asked = quantities or (*USUAL, OF_LEAVES)
        shown = rows_of_states(result.states, asked)
        rows = [*result.series, *shown] if shown else result.series
        sampled = [q for q in asked if any(row.get(q) is not None for row in rows)]
        return over_time(
            rows, names, said, result.theory or (), quantities=sampled or USUAL,
            instants=changes_of(result.scenario), style=style,
        )  # fmt: skip
    if result.theory:
        return shares(result.theory, names, said, style=style)
    means = list(result.flows)
    known = [q for q in quantities or QUANTITIES if any(row.get(q) is not None for row in means)]
    rows = [{**row, "seeds": result.scenario["measure"]["replications"]} for row in means]
    return of_rows(rows, names, known or QUANTITIES[:1], said, series="flow", style=style)


@plotted("axes", "quantities", "series")
def of_rows(
    rows: Rows, axes: Sequence[str], quantities: Sequence[str], title: str, *, series: str | None = None,
    caption: str = "", style: Style = PAGE,
) -> Figure:  # fmt: skip
    """Means over axes: bars over names, lines over a number, a map of shades over two numbers.

    `series` is the column of what is beside each other at every point, as the flow.
    """
    varied = [axis for axis in axes if len({str(row[axis]) for row in rows}) > 1]
    numeric = [axis for axis in varied if axis_units.numbers(row[axis] for row in rows) is not None]
    names = [axis for axis in varied if axis not in numeric]
    every = [*axes]
    if len(numeric) >= 2:
        # the longer one across
        by_length = sorted(numeric, key=lambda axis: -len({str(row[axis]) for row in rows}))
        across, up = by_length[:2]
        panels = [axis for axis in [*every, *([series] if series else [])] if axis not in (across, up)]
        return shades(rows, quantities[0], across, up, panels, title, caption=caption, style=style)
    if numeric:
        (across,) = numeric
        rest = [axis for axis in every if axis != across]
        if not series:
            return lines(rows, quantities, across, rest, [], title, caption=caption, style=style)
        flows = len({row[series] for row in rows})
        if names and flows * len(quantities) <= style.panels_max:
            return lines(rows, quantities, across, rest, [series], title, caption=caption, style=style)
        return lines(rows, quantities, across, [series], rest, title, caption=caption, style=style)
    return bars(rows, quantities, every, series, title, caption=caption, style=style)


@plotted(needs=("flow",))
def compared(
    rows: Rows, title: str, *, quantities: Sequence[str] = COMPARED, caption: str = "", style: Style = PAGE
) -> Figure:
    """A comparison: a panel for each quantity, a group of bars for each queue, a bar for each flow.

    If round trip or buffer alone has several numbers, three at least, there are lines over it: a
    curve for each flow at each queue.
    """
    groups = [group for group in GROUPS if any(row.get(group) is not None for row in rows)]
    known = [quantity for quantity in quantities if any(row.get(quantity) is not None for row in rows)]
    known = known or list(quantities[:1])
    several = [g for g in groups if g in ("buffer", "rtt_s") and len({str(row.get(g)) for row in rows}) > 1]
    places = {str(row[several[0]]) for row in rows} if len(several) == 1 else set()
    if len(places) >= POINTS and axis_units.numbers(places) is not None:
        rest = [group for group in groups if group != several[0]]
        # Curves in one panel have one scale; more than have looks need panels.
        curves = {tuple(row[name] for name in (*rest, "flow")) for row in rows}
        if len(curves) <= style.lines_max:
            return lines(rows, known, several[0], [*rest, "flow"], [], title, caption=caption, style=style)
        return lines(rows, known, several[0], ["flow"], rest, title, caption=caption, style=style)
    return bars(rows, known, groups, "flow", title, caption=caption, style=style)


@plotted("axes")
def shares(theory: Rows, axes: Sequence[str], title: str, *, caption: str = "", style: Style = PAGE) -> Figure:
    """What each flow got as a bar, its max-min share as an upright line."""
    return bars(
        theory, ["throughput_bit_per_s"], [*axes, "flow"], None, title, caption=caption,
        ideals={"throughput_bit_per_s": "max_min_bit_per_s"}, style=style,
    )  # fmt: skip
