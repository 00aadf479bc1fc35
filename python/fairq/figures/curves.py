"""The papers' curves: below each other, in steps, with published points, of choices and answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import Key, handle, name_panel, plain_logarithm, sheet
from fairq.figures.style import MARKERS, PAGE, Style

Points = Sequence[tuple[float, float]]


@plotted()
def curves_below_each_other(
    curves: Mapping[str, Points], across: str, up: str, title: str, *, style: Style = PAGE
) -> Figure:
    """A panel for each curve, all with the same axes; the broken line is its mean."""
    look, broken = style.look(0), style.look(1)
    mean_line = Line2D([], [], color=broken.colour, linestyle="--", linewidth=0.8 * style.line)
    drawn = sheet(style, len(curves), title, keys=[Key([(mean_line, "mean")])], columns=1)
    top = max(value for points in curves.values() for _, value in points)
    for number, (panel, (name, points)) in enumerate(zip(drawn.panels, curves.items(), strict=True)):
        values = [value for _, value in points]
        mean = math.fsum(values) / len(values)
        panel.plot([x for x, _ in points], values, color=look.colour, linewidth=0.8 * style.line)
        panel.axhline(mean, color=broken.colour, linewidth=0.8 * style.line, linestyle="--")
        panel.set_ylim(0, 1.05 * top or 1)
        name_panel(drawn, panel, f"{name}, mean {mean:.0f}: {up}", across if number == len(curves) - 1 else "")
    return drawn.finish()


@plotted()
def curves_and_points(
    curves: Mapping[str, Points], printed: Mapping[str, tuple[float, float]], across: str, up: str, title: str, *,
    style: Style = PAGE,
) -> Figure:  # fmt: skip
    """Curves and published points on logarithmic axes."""
    rings: dict[str, dict[str, Any]] = {
        name: {"marker": MARKERS[number], "linestyle": "", "markersize": 1.6 * style.marker, "markerfacecolor": "none",
               "color": style.ink}
        for number, name in enumerate(printed)
    }  # fmt: skip
    looks = {name: style.look(number) for number, name in enumerate(curves)}
    entries = [(handle(style, look, marker=False), name) for name, look in looks.items()]
    entries += [(Line2D([], [], **ring), name) for name, ring in rings.items()]
    drawn = sheet(style, 1, title, keys=[Key(entries)], panel_height=min(0.5 * style.width, 2.2 * style.panel_height))
    (panel,) = drawn.panels
    for name, points in curves.items():
        panel.plot(
            *zip(*points, strict=True), color=looks[name].colour, linestyle=looks[name].dash, linewidth=style.line
        )
    for name, point in printed.items():
        panel.plot(*point, **rings[name])
    panel.set(xscale="log", yscale="log")
    for axis in (panel.xaxis, panel.yaxis):
        plain_logarithm(axis)
    name_panel(drawn, panel, up, across)
    return drawn.finish()


@plotted()
def steps(
    panels: Mapping[str, Mapping[str, Points]], columns: int, across: str, up: str, title: str, *, style: Style = PAGE
) -> Figure:
    """Panels of curves that jump, with the same axes; a name has one look."""
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    looks = {name: style.look(number) for number, name in enumerate(names)}
    keys = [Key([(handle(style, look, marker=False), name) for name, look in looks.items()])]
    drawn = sheet(style, len(panels), title, keys=keys, columns=columns)
    every = [point for curves in panels.values() for points in curves.values() for point in points]
    low, high = min(y for _, y in every), max(y for _, y in every)
    # A line at the edge is seen whole: of windows, which are few packets, and of sums of bytes.
    margin = max(0.3, 0.02 * (high - low))
    for number, (panel, (caption, curves)) in enumerate(zip(drawn.panels, panels.items(), strict=True)):
        for name, points in curves.items():
            panel.step(
                *zip(*points, strict=True), where="pre", color=looks[name].colour, linestyle=looks[name].dash,
                linewidth=0.9 * style.line, label=name,
            )  # fmt: skip
        panel.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        panel.set_xlim(min(x for x, _ in every), max(x for x, _ in every))
        panel.set_ylim(low - margin, high + margin)
        name_panel(drawn, panel, f"{caption}: {up}", across if number >= len(panels) - columns else "")
    return drawn.finish()


@plotted()
def curves_of_choices(
    title: str, curves: Mapping[str, Points], across: str, up: str, share: float, *, style: Style = PAGE
) -> Figure:
    """Curves with a mark at each point, and the fair share as a line."""
    fair = Line2D([], [], color=style.faint, linewidth=0.8 * style.line)
    return _marked(curves, across, up, title, style, (fair, "fair share"), [share, share])


@plotted()
def answers(curves: Mapping[str, Points], across: str, up: str, title: str, *, style: Style = PAGE) -> Figure:
    """What is answered to what; on the diagonal an answer is what it answers to."""
    diagonal = Line2D([], [], color=style.faint, linewidth=1.2 * style.line)
    most = max(max(point) for points in curves.values() for point in points)
    return _marked(curves, across, up, title, style, (diagonal, "no one changes"), [0, most])


def _marked(
    curves: Mapping[str, Points], across: str, up: str, title: str, style: Style, behind: tuple[Line2D, str],
    ends: Sequence[float],
) -> Figure:  # fmt: skip
    """Curves with a mark at each point, over a straight line between `ends`."""
    looks = {name: style.look(number) for number, name in enumerate(curves)}
    keys = [Key([*((handle(style, look), name) for name, look in looks.items()), behind])]
    drawn = sheet(style, 1, title, keys=keys, panel_height=min(0.6 * style.width, 2.2 * style.panel_height))
    (panel,) = drawn.panels
    xs = [x for points in curves.values() for x, _ in points]
    sides = [min(xs), max(xs)] if ends[0] == ends[1] else ends
    panel.plot(sides, ends, color=behind[0].get_color(), linewidth=behind[0].get_linewidth(), zorder=1)
    for name, points in curves.items():
        look = looks[name]
        panel.plot(*zip(*points, strict=True), color=look.colour, marker=look.marker, linestyle=look.dash,
                   linewidth=style.line, markersize=style.marker)  # fmt: skip
    panel.set_ylim(bottom=0)
    name_panel(drawn, panel, up, across)
    return drawn.finish()
