"""The papers' figures: published values beside measured ones, and the curves that a paper prints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from fairq import theory

Rows = Sequence[Mapping[str, Any]]

BLUE, ORANGE, GREEN, GREY = "#0060a0", "#d05a00", "#2a8a3a", "#666666"
COLOURS = {"agrees": GREEN, "differs": "#c00020", "undecided": "#9a9a9a", "unreadable": "#9a9a9a", "beyond": BLUE}
LOOKS = {"agrees": "o", "differs": "X", "undecided": "s", "unreadable": "s", "beyond": "D"}
SIZES = {"agrees": 3.5, "differs": 6.5, "undecided": 3.5, "unreadable": 3.5, "beyond": 3.5}
"""The marker of each verdict, which says it without the colour, and its size."""
TOLD_APART = (BLUE, ORANGE, "#009e73", "#cc79a7", "#222222", "#56b4e9")
"""Colours of curves that can be told apart without seeing red or green; each has a marker and a dash of its own."""
MARKERS, DASHES = "os^DvP", ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))

SHIFT = 0.08
"""By how much policies stand apart at one source, so that their bars can be told apart."""


def deltas(delta: float) -> dict[str, float]:
    """The FQ curves of a figure: δ = 0 and one other, in packets."""
    return {"FQ delta=0": 0.0} | ({f"FQ delta={delta:g} P": delta} if delta else {})


def published_beside_measured(rows: Rows, title: str, quantities: Mapping[str, str], across: str = "source") -> Figure:
    """One panel for each of the quantities, with its label; in it one group a policy, in that one place a source.

    A ring is the published value, a dot with a bar our mean and the interval of one run, coloured by verdict.
    """
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    sources = list(dict.fromkeys(row["source"] for row in rows))
    place = {
        (policy, source): index * (len(sources) + 1.5) + number
        for index, policy in enumerate(policies)
        for number, source in enumerate(sources)
    }
    shown = [quantity for quantity in quantities if any(_is_seen(row) for row in rows if row["quantity"] == quantity)]
    # places are given, not searched for: a search draws everything again
    height = 1.5 + 2.0 * len(shown)
    figure = Figure(figsize=(11, height))
    figure.subplots_adjust(left=0.07, right=0.99, top=1 - 0.65 / height, bottom=0.85 / height, hspace=0.08)
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for panel, quantity in zip(panels, shown, strict=True):
        mine = [row for row in rows if row["quantity"] == quantity]
        _draw_panel(panel, mine, place, is_time=quantities[quantity].endswith("(s)"))
        panel.set_ylabel(quantities[quantity])
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
        for index in range(1, len(policies)):
            panel.axvline(index * (len(sources) + 1.5) - 1.25, color="#cccccc", linewidth=0.8)
    bottom = panels[-1]
    bottom.set_xlim(-1.25, len(policies) * (len(sources) + 1.5) - 1.25)
    bottom.set_xticks(list(place.values()), [source for _, source in place], fontsize=8)
    bottom.set_xlabel(across)
    for index, policy in enumerate(policies):
        middle = index * (len(sources) + 1.5) + (len(sources) - 1) / 2
        panels[0].annotate(
            policy, (middle, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 5), textcoords="offset points",
            ha="center", fontsize=10,
        )  # fmt: skip
    figure.suptitle(title, fontsize=12, y=1 - 0.12 / height, va="top")
    _legend(figure, {row["verdict"] for row in rows})
    return figure


def delay_curve(paper: Any, rows: Rows) -> Figure:
    """Queueing delay against the share of the fair share: simulated points over the analytic curves.

    `paper` gives FTPS, WINDOW and DELTAS; `rows` are the lines of figure 1, possibly none.
    """
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    whole = paper.FTPS + 0.8
    _draw_curves(left, paper, upto=whole)
    _draw_curves(right, paper, upto=0.95)
    for panel in (left, right):
        _draw_points(panel, rows)
        panel.set_xlabel("throughput of the Poisson source / its fair share")
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    left.set(
        xlim=(0, whole),
        ylim=(0, 4 * paper.FTPS * paper.WINDOW),
        ylabel="queueing delay (packet times)",
        title="up to the whole line",
    )
    right.set(xlim=(0, 0.95), ylim=(0, 4 * paper.FTPS), title="fair queueing below its fair share")
    figure.suptitle(f"{paper.FTPS} FTPs with a window of {paper.WINDOW} beside one Poisson source", fontsize=12)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def by_source(
    rows: Rows, groups: Mapping[str, Sequence[str]], across: str, up: str, title: str,
    ideal: Mapping[str, float] | None = None, ideal_label: str = "", *, log: bool = False,
) -> Figure:  # fmt: skip
    """What each source got, a curve for each policy and a panel for each group of policies, over what is ideal.

    A bar is the interval of one run; a ring is a published value.
    """
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    figure.suptitle(title, fontsize=12)
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    sources = list(dict.fromkeys(row["source"] for row in rows))
    place = {source: number for number, source in enumerate(sources)}
    for panel, (group, policies) in zip(panels, groups.items(), strict=True):
        if ideal is not None:
            panel.plot(place.values(), [ideal[source] for source in sources], color=GREY, linewidth=3, alpha=0.4,
                       label=ideal_label)  # fmt: skip
        for number, policy in enumerate(policies):
            mine = [row for row in rows if row["policy"] == policy]
            _draw_policy(panel, mine, place, policy, number, (number - (len(policies) - 1) / 2) * SHIFT)
        panel.set_title(group, fontsize=10)
        panel.set_xticks(list(place.values()), sources, fontsize=8)
        panel.set_xlabel(across)
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False, fontsize=8)
    if log:
        panels[0].set_yscale("log")
        panels[0].yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel(up)
    return figure


def _draw_policy(panel: Any, rows: Rows, place: Mapping[str, float], policy: str, number: int, shift: float) -> None:
    x = [place[row["source"]] + shift for row in rows]
    mean = [row["measured"] for row in rows]
    spread = [
        [row["measured"] - max(row["low"], 0.0) for row in rows],
        [max(row["high"] - row["measured"], 0.0) for row in rows],
    ]
    panel.errorbar(
        x, mean, spread, color=TOLD_APART[number], marker=MARKERS[number], linestyle=DASHES[number], markersize=4.5,
        linewidth=1.2, elinewidth=0.8, capsize=2, label=policy,
    )  # fmt: skip
    printed = [row for row in rows if row["published"] is not None]
    if printed:
        panel.plot(
            [place[row["source"]] + shift for row in printed], [row["published"] for row in printed], "o",
            markersize=9, markerfacecolor="none", markeredgecolor="black", label=f"{policy}, published",
        )  # fmt: skip


def curves_below_each_other(
    curves: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str, title: str
) -> Figure:
    """A panel for each curve, all with the same axes; the broken line is its mean."""
    figure = Figure(figsize=(9, 1 + 2.2 * len(curves)), layout="constrained")
    figure.suptitle(title, fontsize=12)
    panels = figure.subplots(len(curves), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for panel, (name, points) in zip(panels, curves.items(), strict=True):
        values = [value for _, value in points]
        mean = math.fsum(values) / len(values)
        panel.plot([x for x, _ in points], values, color=BLUE, linewidth=1.1)
        panel.axhline(mean, color=ORANGE, linewidth=1.1, linestyle="--")
        panel.set_title(f"{name}, mean {mean:.0f}", fontsize=10, loc="left")
        panel.set_ylabel(up)
        panel.grid(color="#dddddd", linewidth=0.6)
    panels[0].set_ylim(bottom=0)
    panels[-1].set_xlabel(across)
    return figure


def curves_and_points(
    curves: Mapping[str, Sequence[tuple[float, float]]], printed: Mapping[str, tuple[float, float]], across: str,
    up: str, title: str,
) -> Figure:  # fmt: skip
    """Curves and published points on logarithmic axes."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    panel = figure.subplots()
    for number, (name, points) in enumerate(curves.items()):
        panel.plot(*zip(*points, strict=True), color=TOLD_APART[number], linestyle=DASHES[number], label=name)
    for number, (name, point) in enumerate(printed.items()):
        panel.plot(*point, MARKERS[number], markersize=9, markerfacecolor="none", color="black", label=name)
    panel.set(xscale="log", yscale="log", xlabel=across, ylabel=up, title=title)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.legend(frameon=False, fontsize=9)
    return figure


def steps(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], columns: int, across: str, up: str, title: str
) -> Figure:
    """Panels of curves that jump, all with the same axes; curves of the same name have the same looks."""
    lines = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(max(9.0, 5.2 * columns), 1 + 2.1 * lines), layout="constrained")
    figure.suptitle(title, fontsize=12)
    places = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    for panel, (caption, curves) in zip(places.flat, panels.items(), strict=False):
        for name, points in curves.items():
            number = names.index(name)
            panel.step(
                *zip(*points, strict=True), where="pre", color=TOLD_APART[number], linestyle=DASHES[number],
                linewidth=1.3, label=name,
            )  # fmt: skip
        panel.set_title(caption, fontsize=10, loc="left")
        panel.yaxis.get_major_locator().set_params(integer=True)
        panel.grid(axis="y", linewidth=0.4, color="#cccccc")
    figure.legend(
        *places[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(names), frameon=False
    )
    for panel in places[-1]:
        panel.set_xlabel(across)
    figure.supylabel(up, fontsize=10)
    return figure


def bars_of_panels(panels: Mapping[str, Mapping[str, Mapping[str, float]]], title: str) -> Figure:
    """A panel for each quantity with groups of bars: by the bar's name, then by what stands across."""
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    figure.suptitle(title, fontsize=12)
    for panel, (caption, series) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        across = list(dict.fromkeys(name for values in series.values() for name in values))
        width = 0.8 / max(len(series), 1)
        for number, (name, values) in enumerate(series.items()):
            places = [at + (number - (len(series) - 1) / 2) * width for at, key in enumerate(across) if key in values]
            heights = [values[key] for key in across if key in values]
            drawn = panel.bar(places, heights, width, color=TOLD_APART[number], label=name)
            panel.bar_label(drawn, [f"{height:.2g}" for height in heights], fontsize=7)
        panel.set_xticks(range(len(across)), across)
        panel.set_title(caption, fontsize=10, loc="left")
        panel.legend(frameon=False)
    return figure


def curves_of_choices(
    title: str, curves: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str, share: float
) -> Figure:
    """Curves with a mark at each point, and the fair share as a line."""
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    panel = figure.subplots()
    panel.axhline(share, color=GREY, linewidth=0.8)
    _draw_marked(panel, curves, across, up, title)
    panel.set_ylim(bottom=0)
    return figure


def _draw_marked(
    panel: Any, curves: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str, title: str
) -> None:
    """Curves with a mark at each point, and their legend."""
    for number, (name, points) in enumerate(curves.items()):
        panel.plot(*zip(*points, strict=True), color=TOLD_APART[number], marker=MARKERS[number],
                   linestyle=DASHES[number], label=name)  # fmt: skip
    panel.set(xlabel=across, ylabel=up, title=title)
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.legend(frameon=False, fontsize=9)


def by_number(panels: Mapping[str, Mapping[str, Rows]], across: str, title: str, whole: str | None = None) -> Figure:
    """Curves over a number that is each row's source, on logarithmic axes; a panel for each label of the axis upwards.

    A bar is the row's interval, a ring a published value. The panel of the label `whole` is linear, with a line at 1.
    """
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    figure.suptitle(title, fontsize=12)
    for panel, (label, curves) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        numbers = sorted({float(row["source"]) for rows in curves.values() for row in rows})
        for number, (name, rows) in enumerate(sorted(curves.items())):
            # side by side, so that the bars can be told apart
            place = {row["source"]: float(row["source"]) * (1 + SHIFT * (number - (len(curves) - 1) / 2))
                     for row in rows}  # fmt: skip
            _draw_policy(panel, sorted(rows, key=lambda row: float(row["source"])), place, name, number, 0.0)
        panel.set(xscale="log", xlabel=across, ylabel=label)
        shown = _apart(numbers)
        panel.set_xticks(shown, [f"{number:g}" for number in shown], minor=False)
        panel.set_xticks([], minor=True)
        if label == whole:
            panel.axhline(1.0, color=GREY, linewidth=1)
        else:
            panel.set_yscale("log")
            panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            panel.yaxis.set_minor_formatter(lambda *_: "")
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False, fontsize=8)
    return figure


def _apart(numbers: Sequence[float]) -> list[float]:
    """Of ascending numbers on a logarithmic axis those whose labels do not touch, the greatest among them."""
    shown: list[float] = []
    for number in reversed(numbers):
        if not shown or number * 1.35 <= shown[0]:
            shown.insert(0, number)
    return shown


def answers(curves: Mapping[str, Sequence[tuple[float, float]]], across: str, up: str, title: str) -> Figure:
    """What is answered to what; where a curve crosses the diagonal an answer is what it answers to."""
    figure = Figure(figsize=(6.4, 5), layout="constrained")
    panel = figure.subplots()
    most = max(max(point) for points in curves.values() for point in points)
    panel.plot([0, most], [0, most], color=GREY, linewidth=3, alpha=0.4, label="no one changes")
    _draw_marked(panel, curves, across, up, title)
    return figure


def payoffs(
    title: str, panels: Mapping[str, Sequence[Sequence[float]]], names: Sequence[str], columns: int
) -> Figure:  # fmt: skip
    """Matrices as heat maps with their numbers, `columns` beside each other; a row of them has one scale."""
    down = len(panels) // columns
    figure = Figure(figsize=(3.5 * columns, 3.1 * down + 0.4), layout="constrained")
    drawn = figure.subplots(down, columns, squeeze=False)
    for row in range(down):
        mine = list(panels.items())[row * columns : (row + 1) * columns]
        values = [value for _, matrix in mine for line in matrix for value in line]
        low, high = min(values), max(values)
        for column, (name, matrix) in enumerate(mine):
            panel = drawn[row][column]
            # cividis looks alike with and without red and green
            panel.imshow(matrix, cmap="cividis", vmin=low, vmax=high)
            panel.set_title(name, fontsize=9)
            panel.set_xticks(range(len(names)), names, fontsize=8)
            panel.set_yticks(range(len(names)), names if column == 0 else [""] * len(names), fontsize=8)
            for i, line in enumerate(matrix):
                for j, value in enumerate(line):
                    colour = "black" if value > (low + high) / 2 else "white"
                    panel.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=9, color=colour)
    figure.suptitle(title)
    return figure


def ways(
    title: str, panels: Mapping[str, Sequence[Sequence[Sequence[float]]]], across: str, up: str
) -> Figure:  # fmt: skip
    """Ways in the plane of two users, two panels beside each other: a ring is a start, a filled mark an end."""
    down = math.ceil(len(panels) / 2)
    figure = Figure(figsize=(7.2, 4.2 * down + 0.4), layout="constrained")
    drawn = figure.subplots(down, 2, sharex=True, sharey=True, squeeze=False)
    for panel, (name, found) in zip(drawn.flat, panels.items(), strict=False):
        for number, way in enumerate(found):
            colour, mark = TOLD_APART[number], MARKERS[number]
            panel.plot(*zip(*way, strict=True), color=colour, linestyle=DASHES[number], linewidth=1)
            panel.plot(*way[0], mark, color=colour, markerfacecolor="white")
            panel.plot(*way[-1], mark, color=colour, markersize=7 + 2 * (len(found) - number), alpha=0.8)
        panel.set_title(name, fontsize=10)
        panel.set_aspect("equal")
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.label_outer()
    for panel in drawn[-1]:
        panel.set_xlabel(across)
    for panel in drawn[:, 0]:
        panel.set_ylabel(up)
    figure.suptitle(title)
    return figure


def _draw_panel(panel: Any, rows: Rows, place: Mapping[tuple[str, str], float], is_time: bool) -> None:
    for verdict, colour in COLOURS.items():
        mine = [row for row in rows if row["verdict"] == verdict and row["measured"] is not None]
        if not mine:
            continue
        x = [place[row["policy"], row["source"]] for row in mine]
        mean = [row["measured"] for row in mine]
        below = [row["measured"] - max(row["low"], 0.0) for row in mine]
        above = [row["high"] - row["measured"] for row in mine]
        panel.errorbar(
            x,
            mean,
            [below, above],
            fmt=LOOKS[verdict],
            markersize=SIZES[verdict],
            color=colour,
            capsize=2.5,
            linewidth=1.1,
        )
    printed = [row for row in rows if row["published"] is not None]
    panel.plot(
        [place[row["policy"], row["source"]] for row in printed], [row["published"] for row in printed],
        "o", markersize=8, markerfacecolor="none", markeredgecolor="black", markeredgewidth=0.9,
    )  # fmt: skip
    values = sorted(v for row in rows for v in (row["published"], row["measured"]) if v)
    if values and is_time and values[-1] > 10 * values[0]:
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    elif values and values[-1] > 0:
        panel.set_ylim(bottom=-0.04 * values[-1], top=max(panel.get_ylim()[1], 1.08 * values[-1]))


def _draw_curves(panel: Any, paper: Any, upto: float) -> None:
    share = [0.002 * upto * step for step in range(1, 500)]
    panel.plot(share, [theory.fcfs_delay(paper.FTPS, paper.WINDOW, rho) for rho in share], color=GREY, label="FCFS")
    below = [rho for rho in share if rho < 0.995]
    for (name, delta), colour in zip(paper.DELTAS.items(), (BLUE, ORANGE), strict=False):
        label = name.replace("delta", "δ")
        mended = [theory.poisson_delay(paper.FTPS, rho, delta) for rho in below]
        printed = [theory.poisson_delay(paper.FTPS, rho, delta, as_printed=True) for rho in below]
        panel.plot(below, mended, color=colour, label=f"{label}, with the factor N+1")
        panel.plot(below, printed, color=colour, linestyle=":", label=f"{label}, as printed")


def _draw_points(panel: Any, rows: Rows) -> None:
    looks = {"FCFS": (GREY, "s"), "FQ delta=0": (BLUE, "o"), "FQ delta=P": (ORANGE, "^")}
    for policy, (colour, marker) in looks.items():
        points = {row["source"]: row for row in rows if row["policy"] == policy and row["measured"] is not None}
        if not points:
            continue
        x = [float(source.removeprefix("rho ")) for source in points]
        mean = [row["measured"] for row in points.values()]
        spread = [
            [row["measured"] - row["low"] for row in points.values()],
            [row["high"] - row["measured"] for row in points.values()],
        ]
        panel.errorbar(
            x, mean, spread, fmt=marker, color=colour, markersize=5, capsize=3, linewidth=1.1,
            label=f"{policy.replace('delta', 'δ')}, simulated",
        )  # fmt: skip


def _is_seen(row: Mapping[str, Any]) -> bool:
    """Whether a cell shows anything but zeros."""
    return any(
        value is not None and math.isfinite(value) and value > 0 for value in (row["published"], row["measured"])
    )


def _legend(figure: Figure, verdicts: Iterable[str]) -> None:
    from matplotlib.lines import Line2D

    entries = [
        Line2D([], [], marker="o", linestyle="", markersize=8, markerfacecolor="none", color="black", label="published")
    ]
    for verdict in ("agrees", "differs", "undecided", "beyond"):
        if verdict in verdicts:
            label = "measured, not in the paper" if verdict == "beyond" else f"measured: {verdict}"
            entries.append(
                Line2D([], [], marker=LOOKS[verdict], markersize=SIZES[verdict], color=COLOURS[verdict], label=label)
            )
    entries.append(Line2D([], [], linestyle="", marker="$I$", color="black", label="bar: 95 % interval of one run"))
    figure.legend(handles=entries, loc="lower center", ncols=len(entries), frameon=False, fontsize=9,
                  columnspacing=1.2, handletextpad=0.4, handlelength=1.2)  # fmt: skip
