"""Delays of packets: their distribution, and how they change over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.figures import axis_units, text
from fairq.figures.means import named, sentences
from fairq.figures.over_time import curve
from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import GROUND, Key, columns_for, from_zero, handle, left, name_panel, plain_logarithm, sheet
from fairq.figures.style import PAGE, Style

Rows = Sequence[Mapping[str, Any]]

STEPS = 400
"""Points of a distribution, and intervals of time: more cannot be seen."""

SPREAD = 50.0
"""Least ratio of the greatest to the least delay at which delays over time have a logarithmic axis."""

SPREAD_OF_SHARES = 8.0
"""Least such ratio for a distribution: on a linear axis most of its curve would be one upright line."""

SILENCE = 5
"""A curve over time ends at a silence of more than this many of its usual steps."""


@plotted("series", "panels")
def distribution(
    rows: Rows, series: Sequence[str], panels: Sequence[str], title: str, *, value: str = "delay_s", caption: str = "",
    style: Style = PAGE,
) -> Figure:  # fmt: skip
    """The share of packets whose delay is at most that across, a curve for each of `series`.

    `rows` are packets with their delay in `value`, or `sent_s` and `received_s`; those without a
    delay did not arrive and count: their curve ends below 100 %.
    """
    delays = _delays(rows, value)
    size, label = axis_units.scaled(value, [delay for _, delay in delays if delay is not None])
    kinds, curves, unseen = _parts(rows, series, panels, style)
    looks = {name: style.look(number) for number, name in enumerate(curves)}
    keys = [(handle(style, look), named(series, name)) for name, look in looks.items()] if series else []
    said = "Packets that did not arrive count as the slowest" if any(delay is None for _, delay in delays) else ""
    drawn = sheet(style, len(kinds), title, keys=[Key(keys)], caption=sentences(said, caption, *unseen))
    known = [delay / size for _, delay in delays if delay is not None and delay > 0]
    log = bool(known) and max(known) > SPREAD_OF_SHARES * min(known)
    for number, (panel, kind) in enumerate(zip(drawn.panels, kinds, strict=True)):
        for turn, (name, look) in enumerate(looks.items()):
            own = [delay for row, delay in delays
                   if tuple(row[s] for s in series) == name and tuple(row[p] for p in panels) == kind]  # fmt: skip
            arrived = sorted(delay / size for delay in own if delay is not None)
            if arrived:
                picked = sorted({round(at * (len(arrived) - 1) / STEPS) for at in range(STEPS + 1)})
                share = [100 * (at + 1) / len(own) for at in picked]
                curve(panel, [arrived[at] for at in picked], share, look, style, turn, drawstyle="steps-post")
        head = f"{named(panels, kind)}: packets (%)" if panels else "packets (%)"
        name_panel(drawn, panel, head, label if number >= len(kinds) - drawn.columns else "")
        panel.set_ylim(0, 103)
        if log:
            panel.set_xscale("log")
            panel.set_xlim(min(known), max(known))
            plain_logarithm(panel.xaxis)
        else:
            low, high = min(known, default=0.0), max(known, default=1.0)
            # alike delays far from zero would be one upright line
            begin = low - 0.1 * (high - low) if low > 0.5 * high > 0 and high > low else 0.0
            panel.set_xlim(begin, high + 0.02 * (high - begin))
    return drawn.finish()


@plotted("series", "panels", "time")
def over_time(
    rows: Rows, series: Sequence[str], panels: Sequence[str], title: str, *, value: str = "delay_s",
    time: str = "time_s", caption: str = "", style: Style = PAGE,
) -> Figure:  # fmt: skip
    """Delays over time: a panel for each of `panels`, a curve for each of `series`.

    Of many packets a curve is the mean of each short interval, with a band from the least to the
    greatest.
    """
    delays = [(row, delay) for row, delay in _delays(rows, value) if delay is not None and row.get(time) is not None]
    size, label = axis_units.scaled(value, [delay for _, delay in delays])
    kinds, curves, unseen = _parts(rows, series, panels, style)
    looks = {name: style.look(number) for number, name in enumerate(curves)}
    keys = [(handle(style, look), named(series, name)) for name, look in looks.items()] if series else []
    times = [row[time] for row, _ in delays] or [0.0]
    usual = _step(times)
    first, span = min(times), (max(times) - min(times)) or 1.0
    grouped = _by(delays, [*series, *panels])
    most = max(map(len, grouped.values()), default=0)
    seen = style.width / columns_for(style, len(kinds)) / 3
    is_mean = most > seen
    intervals = max(1, int(min(seen, most / 8)))
    said = (
        f"Curve: mean of each {axis_units.brief(span / intervals)} s; band: least and greatest in it" if is_mean else ""
    )
    drawn = sheet(style, len(kinds), title, keys=[Key(keys)], caption=sentences(said, caption, *unseen))
    heads = text.cut_all([named(panels, kind) for kind in kinds], 1.8 * drawn.room, style.text)
    known = [delay / size for _, delay in delays if delay > 0]
    log = bool(known) and max(known) > SPREAD * (sorted(known)[len(known) // 10])
    for number, (panel, kind) in enumerate(zip(drawn.panels, kinds, strict=True)):
        for turn, (name, look) in enumerate(looks.items()):
            own = sorted(
                ((row[time], delay / size) for row, delay in grouped.get((*name, *kind), [])), key=lambda o: o[0]
            )
            if not is_mean:
                curve(panel, *_broken(own, usual), look, style, turn)
                continue
            slots: dict[int, list[float]] = {}
            for at, delay in own:
                slots.setdefault(min(intervals - 1, int((at - first) / span * intervals)), []).append(delay)
            x = [first + (slot + 0.5) * span / intervals for slot in slots]
            ends = [(at, (min(of), max(of))) for at, of in zip(x, slots.values(), strict=True)]
            xs, pairs = _broken(ends, usual, (math.nan, math.nan))
            panel.fill_between(xs, [low for low, _ in pairs], [high for _, high in pairs], color=look.colour,
                               alpha=0.18, linewidth=0, zorder=1, gid=GROUND)  # fmt: skip
            means = [math.fsum(of) / len(of) for of in slots.values()]
            curve(panel, *_broken(list(zip(x, means, strict=True)), usual), look, style, turn)
        name_panel(drawn, panel, label, "time (s)" if number >= len(kinds) - drawn.columns else "", head=heads[number])
        panel.set_xlim(first, first + span)
        if log:
            panel.set_yscale("log")
            plain_logarithm(panel.yaxis)
        else:
            from_zero(panel, known)
    return drawn.finish()


def _step(times: Sequence[float]) -> float:
    """The median distance of times that differ; 0 if hardly any are shared, as of packets.

    >>> _step([0, 0, 1, 1, 2, 2, 9, 9]), _step([0, 1, 2])
    (1, 0.0)
    """
    distinct = sorted({*times})
    if 2 * len(distinct) > len(times):
        return 0.0
    steps = sorted(after - before for before, after in pairwise(distinct))
    return steps[len(steps) // 2] if steps else 0.0


def _broken(
    points: Sequence[tuple[float, Any]], usual: float = 0.0, none: Any = math.nan
) -> tuple[list[float], list[Any]]:
    """The points of a curve, with a gap where there is a silence: no packet had a delay then.

    >>> _broken([(0, 1.0), (1, 2.0), (2, 2.0), (30, 4.0)])[0]
    [0, 1, 2, 16.0, 30]
    """
    steps = sorted(after - before for (before, _), (after, _) in pairwise(points))
    usual = usual or (steps[len(steps) // 2] if steps else 0.0)
    x: list[float] = []
    y: list[Any] = []
    for at, value in points:
        if x and at - x[-1] > SILENCE * usual > 0:
            y.append(none)
            x.append((at + x[-1]) / 2)
        x.append(at)
        y.append(value)
    return x, y


def _delays(rows: Rows, value: str) -> list[tuple[Mapping[str, Any], float | None]]:
    """Each packet with its delay; None if it did not arrive."""
    if rows and value not in rows[0] and "sent_s" not in rows[0]:
        raise UsageError(f"value: the rows have no column {value}{near_miss(value, rows[0])}")
    return [
        (row, row[value] if value in row else _difference(row.get("received_s"), row.get("sent_s"))) for row in rows
    ]


def _difference(end: float | None, start: float | None) -> float | None:
    return None if end is None or start is None else end - start


def _parts(
    rows: Rows, series: Sequence[str], panels: Sequence[str], style: Style
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], tuple[str, str]]:
    """The panels, the curves, and what the caption says of what is left out."""
    kinds = list(dict.fromkeys(tuple(row[p] for p in panels) for row in rows)) or [()]
    curves = list(dict.fromkeys(tuple(row[s] for s in series) for row in rows)) or [()]
    unseen = left(len(curves) - style.lines_max, "curve"), left(len(kinds) - style.panels_max, "panel")
    return kinds[: style.panels_max], curves[: style.lines_max], unseen


def _by(
    delays: Sequence[tuple[Mapping[str, Any], float]], columns: Sequence[str]
) -> dict[tuple[Any, ...], list[tuple[Mapping[str, Any], float]]]:
    found: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], float]]] = {}
    for row, delay in delays:
        found.setdefault(tuple(row[column] for column in columns), []).append((row, delay))
    return found
