"""Throughput, windows, round trips and queues over time; one flow by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from fairq.figures import axis_units, text
from fairq.figures.means import sentences
from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import (
    GROUND,
    NOTE,
    Key,
    Sheet,
    columns_for,
    from_zero,
    handle,
    left,
    name_panel,
    patch,
    plain_logarithm,
    sheet,
)
from fairq.figures.style import PAGE, Look, Style

Rows = Sequence[Mapping[str, Any]]

MARKS = 8
"""Markers along a curve, which tell it from others without its colour."""

RATE_MARKS = {
    "max_min_bit_per_s": ("max-min share", "|", 1),
    "mathis_bit_per_s": ("Mathis", "s", 2),
    "padhye_bit_per_s": ("Padhye", "D", 3),
    "throughput_bit_per_s": ("measured", "o", 0),
}
DELAY_MARKS = {
    "delay_bound_s": ("bound", "|", 1),
    "delay_s_mean": ("mean", "s", 2),
    "delay_s_p99": ("99 %", "^", 3),
    "delay_s_max": ("worst", "o", 0),
}
"""The columns of theory plotted beside a run: label, mark and number of the look of each."""

SAMPLED = {
    "throughput_bit_per_s": "throughput",
    "held_packets": "packets held",
    "window_packets": "window (packets)",
    "flight_packets": "packets in flight",
    "rtt_s": "round trip",
    "pacing_bit_per_s": "pacing rate",
    "level": "layers",
}
"""The columns of samples that can be plotted, and what their panels are called."""

OF_OTHERS = ("held_packets", "level")
"""Those of them that are not of flows."""

THEORY = ("rates", "delays")
"""The panels of theory, beside those of samples."""

USUAL = ("throughput_bit_per_s", "held_packets", "window_packets", "rtt_s", "level")
"""The columns of samples that are plotted where none are asked for."""


@plotted("axes", needs=("time_s", "seed"))
def over_time(
    rows: Rows, axes: Sequence[str], title: str, theory: Rows = (), *, quantities: Sequence[str] = USUAL,
    names: Sequence[str] = (), instants: Sequence[float] = (), caption: str = "", style: Style = PAGE,
) -> Figure:  # fmt: skip
    """Samples of `fairq run --series`: a panel for each quantity and each point of the axes.

    A quantity may be one that disciplines show: `rows_of_states` makes rows of these. Of several
    seeds a curve is the mean, with a band from the least to the greatest. A row may be the mean of
    several samples: then `<column>_min` and `<column>_max` are the ends of its band.
    `theory`, the rows of `fairq run --overlay`, adds the max-min shares as thin lines and panels of
    rates and delays by flow. `names` are curves whose looks come first, in their order, so that
    several figures agree. `instants`, in seconds, are upright lines: `changes_of` gives those at
    which a scenario changes.
    """
    kinds: list[str] = [kind for kind in quantities if any(row.get(kind) is not None for row in rows)]
    if theory:
        kinds += ["rates", "delays"] if any(row["delay_bound_s"] is not None for row in theory) else ["rates"]
    kinds = kinds or [quantities[0]]
    every = list(dict.fromkeys(tuple(row[axis] for axis in axes) for row in rows))
    # all points rather than all quantities; theory, which was asked for, rather than windows
    panels_max = style.panels_max if style.height is None else min(4, style.panels_max)
    most = max(2, panels_max // len(every))
    order = (*reversed(quantities[1:]), "delays", "rates")
    dropped = [kind for kind in order if kind in kinds]
    dropped = dropped[: max(0, len(kinds) - most)]
    kinds = [kind for kind in kinds if kind not in dropped]
    points = every[: max(1, panels_max // len(kinds))]
    columns = columns_for(style, len(points)) if len(points) > 1 or style.height is None else 2
    by_kind = len(points) > 1 or style.height is None
    blocks = math.ceil(len(points) / columns) if by_kind else 1
    place: dict[tuple[str, int], int] = {}
    for at in range(len(points)):
        for number, kind in enumerate(kinds):
            block, column = divmod(at, columns)
            place[kind, at] = (block * len(kinds) + number) * columns + column if by_kind else number
    count = blocks * len(kinds) * columns if by_kind else len(kinds)
    mine = [[row for row in rows if tuple(row[axis] for axis in axes) == point] for point in points]
    shown = {kind: _names(mine, kind, style.lines_max) for kind in kinds if kind not in THEORY}
    # a flow has one look in all panels
    flows = list(dict.fromkeys(name for kind in shown if _is_of_flows(kind) for name in shown[kind][0]))
    # the same two colours must not mean flows and gateways; a curve of `names` keeps its look
    others = [*names, *flows]
    for kind in sorted((kind for kind in shown if not _is_of_flows(kind)), key=_place_of_looks):
        others += shown[kind][0]
    looks = {kind: _looks(flows if _is_of_flows(kind) else shown[kind][0], others, style) for kind in shown}
    keys = _keys(shown, looks, theory, kinds, place, columns if by_kind else 1, style)
    seeds = max(len({row["seed"] for row in own}) for own in mine)
    said = sentences(
        f"curve: mean of {seeds} seeds; band: least and greatest of them" if seeds > 1 else "one seed",
        left(len(every) - len(points), "combination"),
        "upright lines: changes of the scenario" if instants else "",
        f"not shown: {', '.join(SAMPLED.get(kind, kind).partition(' (')[0] for kind in dropped)}" if dropped else "",
        caption,
    )
    high = 0.62 * style.panel_height if len(kinds) > 4 else 0.8 * style.panel_height
    drawn = sheet(style, count, title, keys=keys, caption=said, columns=columns, panel_height=high,
                  blank=set(range(count)) - set(place.values()))  # fmt: skip
    for kind in kinds:
        panels = [drawn.panels[place[kind, at]] for at in range(len(points))]
        label = _draw_kind(drawn, kind, panels, mine, looks.get(kind, {}), points, axes, theory)
        for at, panel in enumerate(panels):
            if kind not in THEORY:
                _draw_instants(panel, instants, style)
            head = ", ".join(str(value) for value in points[at]) if kind == kinds[0] and len(every) > 1 else ""
            is_last = kind == [each for each in kinds if each not in THEORY][-1] or not by_kind
            across = "" if kind in THEORY or not is_last else "time (s)"
            name_panel(drawn, panel, label, across, head=head)
    return drawn.finish()


@plotted()
def baseline(rows: Rows, title: str, *, caption: str = "", style: Style = PAGE) -> Figure:
    """One flow alone: throughput, flight and window, pacing, round trip; shades are its phases.

    `rows` have `time_s`, `throughput_bit_per_s`, `flight_bytes`, `window_bytes`,
    `pacing_bit_per_s`, `rtt_s` and `phase`, each of which may be None.
    """
    groups = [
        ("throughput", [("throughput_bit_per_s", "throughput")]),
        ("in flight, and the window", [("flight_bytes", "in flight"), ("window_bytes", "window")]),
        ("pacing rate", [("pacing_bit_per_s", "pacing rate")]),
        ("round trip", [("rtt_s", "round trip")]),
    ]
    known = {column for _, curves in groups for column, _ in curves if any(row.get(column) is not None for row in rows)}
    groups = [group for group in groups if any(column in known for column, _ in group[1])] or groups[:1]
    spans = _phases(rows)
    phases = {name: style.look(number + 2) for number, name in enumerate(dict.fromkeys(name for _, _, name in spans))}
    looks = {"flight_bytes": style.look(0), "window_bytes": style.look(1)}
    entries = [
        (handle(style, looks[column], marker=False), name)
        for column, name in (("flight_bytes", "in flight"), ("window_bytes", "window"))
        if column in known
    ]
    keys = [Key(entries), Key([(patch(style, look), name) for name, look in phases.items()], "phases")]
    columns = 2 if style.height is not None and len(groups) > 2 else 1
    drawn = sheet(
        style, len(groups), title, keys=keys, caption=caption, columns=columns, panel_height=0.75 * style.panel_height
    )
    for number, (panel, (name, curves)) in enumerate(zip(drawn.panels, groups, strict=True)):
        values = [row[column] for row in rows for column, _ in curves if row.get(column) is not None]
        unit = axis_units.words(curves[0][0])[1]
        size, short = axis_units.step(unit, values)
        for column, _ in curves:
            look = looks.get(column, style.look(0))
            x = [row["time_s"] for row in rows]
            y = [math.nan if row.get(column) is None else row[column] / size for row in rows]
            panel.plot(x, y, color=look.colour, linestyle=look.dash, linewidth=style.line, zorder=3)
        for phase, look in phases.items():
            of_phase = [(start, end) for start, end, name in spans if name == phase]
            _upright(panel, of_phase, 0, color=look.colour, alpha=0.1, linewidth=0, zorder=0, gid=GROUND)
            _upright(panel, of_phase, 0.96, facecolor=look.colour, edgecolor=style.ground, hatch=look.hatch,
                     linewidth=0, zorder=1)  # fmt: skip
        name_panel(drawn, panel, f"{name} ({short})", "time (s)" if number >= len(groups) - columns else "")
        times = [row["time_s"] for row in rows] or [0.0, 1.0]
        panel.set_xlim(min(*times, 0.0), max(times) or 1.0)
        panel.set_ylim(0, 1.15 * max(values, default=1.0) / size or 1.0)
        from_zero(panel, values)
    return drawn.finish()


def _upright(panel: Any, spans: Sequence[tuple[float, float]], low: float, **looks: Any) -> None:
    """Rectangles from that part of a panel's height to its top, in one path: a file has it once."""
    corners = [[(start, low), (end, low), (end, 1), (start, 1), (start, low)] for start, end in spans]
    path = Path.make_compound_path(*(Path(each, closed=True) for each in corners))
    panel.add_artist(PathPatch(path, transform=panel.get_xaxis_transform(), **looks))


def curve(
    panel: Any, x: Sequence[float], y: Sequence[float], look: Look, style: Style, number: int = 0, **more: Any
) -> None:
    """A curve with a few markers along it, which are not those of its neighbours."""
    step = max(1, len(x) // MARKS)
    panel.plot(
        x, y, color=look.colour, linestyle=look.dash, linewidth=style.line, marker=look.marker, zorder=3,
        markersize=0.8 * style.marker, markevery=(number * step // 6 % step, step), **more,
    )  # fmt: skip


def changes_of(scenario: Mapping[str, Any]) -> list[float]:
    """When a scenario changes, in seconds: its `changes`, and the `rates` of its links."""
    times = [change["at"] for change in scenario.get("changes", [])]
    times += [time for link in scenario.get("links", []) for time, _ in link.get("rates", [])]
    found = axis_units.numbers(times)
    return sorted(set(found[0])) if found else []


def _draw_instants(panel: Any, instants: Sequence[float], style: Style) -> None:
    for instant in instants:
        # above the grid, whose lines may stand at the same times
        panel.axvline(instant, color=style.ink, linestyle=":", linewidth=0.6 * style.line, zorder=1, gid=GROUND)


def _draw_kind(
    drawn: Sheet, kind: str, panels: Sequence[Any], mine: Sequence[Rows], looks: Mapping[str, Look],
    points: Sequence[tuple[Any, ...]], axes: Sequence[str], theory: Rows,
) -> str:  # fmt: skip
    """Draw the panels of one quantity with the same axis upwards; gives their label."""
    style = drawn.style
    if kind in THEORY:
        marks, label = (RATE_MARKS, "rate") if kind == "rates" else (DELAY_MARKS, "delay")
        of = [[row for row in theory if tuple(row[axis] for axis in axes) == point] for point in points]
        values = [row[column] for rows in of for row in rows for column in marks if row[column] is not None]
        size, short = axis_units.step("bit/s" if kind == "rates" else "s", values)
        for panel, own in zip(panels, of, strict=True):
            _draw_marks(panel, own[: style.lines_max], marks, size, drawn, log=kind == "delays")
        # one scale for all points: a delay of 200 ms must not look like one of 12
        low, high = (
            of(end)
            for of, end in zip((min, max), zip(*(panel.get_xlim() for panel in panels), strict=True), strict=True)
        )
        for panel in panels:
            panel.set_xlim(low, high)
            if kind == "delays":
                plain_logarithm(panel.xaxis)
        return f"{label} ({short})"
    unit = axis_units.words(kind)[1] if kind in ("throughput_bit_per_s", "rtt_s", "pacing_bit_per_s") else ""
    if kind not in SAMPLED:
        unit = next((row.get("unit", "") for rows in mine for row in rows if row.get(kind) is not None), "")
    known = [row[kind] for rows in mine for row in rows if row.get(kind) is not None]
    size, short = axis_units.step(unit, known)
    for panel, rows, point in zip(panels, mine, points, strict=True):
        of_name = _of(kind)
        grouped: dict[str, dict[float, list[tuple[float, float, float]]]] = {}
        for row in rows:
            if row.get(kind) is not None and (one := of_name(row)) is not None:
                ends = (row.get(f"{kind}{end}", row[kind]) / size for end in ("_min", "_max"))
                grouped.setdefault(one, {}).setdefault(row["time_s"], []).append((row[kind] / size, *ends))
        for name, samples in list(grouped.items())[: style.lines_max]:
            look = looks[name]
            x = sorted(samples)
            lows, highs = [min(s[1] for s in samples[t]) for t in x], [max(s[2] for s in samples[t]) for t in x]
            if lows != highs:
                # the edge shows a peak that is too narrow for an area
                panel.fill_between(x, lows, highs, facecolor=(look.colour, 0.14), edgecolor=(look.colour, 0.4),
                                   linewidth=0.5 * style.line, zorder=1, gid=GROUND)  # fmt: skip
            means = [math.fsum(s[0] for s in samples[t]) / len(samples[t]) for t in x]
            curve(panel, x, means, look, style, list(looks).index(name))
            if kind == "throughput_bit_per_s":
                for share in [row["max_min_bit_per_s"] for row in theory
                              if row["flow"] == name and tuple(row[axis] for axis in axes) == point]:  # fmt: skip
                    if share is not None:
                        panel.axhline(share / size, color=look.colour, linestyle="--", linewidth=0.6 * style.line)
    bottom, top = min(panel.get_ylim()[0] for panel in panels), max(panel.get_ylim()[1] for panel in panels)
    for panel in panels:
        panel.set_ylim(bottom if min(known, default=0) < 0 else 0, top)
        from_zero(panel, known)
    said = SAMPLED.get(kind) or axis_units.words(kind)[0]
    return f"{said} ({short})" if short and short != said else said


def _draw_marks(
    panel: Any, rows: Rows, marks: Mapping[str, tuple[str, str, int]], size: float, drawn: Sheet, *, log: bool
) -> None:
    """A line for each flow; measured values as dots, theory as upright lines and rings."""
    style = drawn.style
    for column, (_, marker, _) in marks.items():
        known = [(place, row[column] / size) for place, row in enumerate(rows) if row[column] is not None]
        colour = style.ink
        panel.plot(
            [value for _, value in known], [place for place, _ in known], color=colour, **_mark(marker, style, colour)
        )
    names = text.cut_all([row["flow"] for row in rows], 0.3 * drawn.room, style.small)
    panel.set_yticks(range(len(rows)), names, fontsize=style.small)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    if log:
        panel.set_xscale("log")
        plain_logarithm(panel.xaxis)
    else:
        panel.set_xlim(0, panel.get_xlim()[1])


def _mark(marker: str, style: Style, colour: str) -> dict[str, Any]:
    is_line = marker == "|"
    return {
        "marker": marker, "linestyle": "", "markersize": (2.6 if is_line else 1) * style.marker,
        "markeredgewidth": (1.5 if is_line else 0.9) * style.line,
        "markerfacecolor": "none" if marker in "sD" else colour,
    }  # fmt: skip


def _of(kind: str) -> Callable[[Mapping[str, Any]], str | None]:
    """What a curve of that quantity is of."""
    if kind == "held_packets":
        return lambda row: None if row["link"] is None else f"{row['link']} {row['direction']}"
    if kind == "level":
        return lambda row: row.get("receiver")
    return lambda row: row.get("flow" if kind in SAMPLED else "shown_by")


def rows_of_states(states: Rows, quantities: Sequence[str]) -> list[dict[str, Any]]:
    """Rows for `over_time` of these quantities of `states`: each value in a column of its name."""
    return [
        {**row, row["quantity"]: row["value"],
         "shown_by": " ".join(filter(None, (row["link"], row["direction"], row["subqueue"])))}
        for row in states if row["quantity"] in quantities
    ]  # fmt: skip


def _is_of_flows(kind: str) -> bool:
    return kind in SAMPLED and kind not in OF_OTHERS


def _place_of_looks(kind: str) -> int:
    """Gateways before receivers, and both before what disciplines show."""
    return OF_OTHERS.index(kind) if kind in OF_OTHERS else len(OF_OTHERS)


def _names(mine: Sequence[Rows], kind: str, lines_max: int) -> tuple[list[str], int]:
    """The names of the curves of a quantity that are shown at some point; how many at none."""
    of_name = _of(kind)
    every: dict[str, None] = {}
    shown: dict[str, None] = {}
    for rows in mine:
        own = dict.fromkeys(name for row in rows if (name := of_name(row)) is not None and row.get(kind) is not None)
        every |= own
        shown |= dict.fromkeys(list(own)[:lines_max])
    return list(shown), len(every) - len(shown)


def _looks(names: Sequence[str], first: Sequence[str], style: Style) -> dict[str, Look]:
    """The look of each name, numbered after those that come first."""
    every = {name: style.look(number) for number, name in enumerate(dict.fromkeys([*first, *names]))}
    return {name: look for name, look in every.items() if name in names}


def _keys(
    names: Mapping[str, tuple[list[str], int]], looks: Mapping[str, Mapping[str, Look]], theory: Rows,
    kinds: Sequence[str], place: Mapping[tuple[str, int], int], columns: int, style: Style,
) -> list[Key]:  # fmt: skip
    """Keys of flows, gateways, receivers, theory; each belongs to the last panel of a row."""
    keys = []
    seen: set[tuple[str, ...]] = set()
    for kind, (shown, more) in names.items():
        what = {"held_packets": "gateways", "level": "receivers"}.get(kind, "flows" if kind in SAMPLED else "queues")
        every = [*looks[kind]]
        if (what, *every) in seen:
            continue
        seen.add((what, *every))
        entries: list[tuple[Any, str]] = [(handle(style, looks[kind][name]), name) for name in every]
        entries += [(NOTE, f"and {more} more")] if more else []
        keys.append(Key(entries, what, _end_of_row(place, kind, columns)))
        assert set(shown) <= set(every)
    for kind, marks in (("rates", RATE_MARKS), ("delays", DELAY_MARKS)):
        if kind in kinds:
            known = [column for column in marks if any(row[column] is not None for row in theory)]
            shown_marks = [(_sample(marks[column], style), marks[column][0]) for column in known]
            keys.append(Key(shown_marks, kind, _end_of_row(place, kind, columns)))
    return keys


def _end_of_row(place: Mapping[tuple[str, int], int], kind: str, columns: int) -> int:
    """The last panel of the first row of a quantity."""
    return max(number for (one, at), number in place.items() if one == kind and at < columns)


def _sample(mark: tuple[str, str, int], style: Style) -> Any:
    colour = style.ink
    return Line2D([], [], color=colour, **_mark(mark[1], style, colour))


def _phases(rows: Rows) -> list[tuple[float, float, str]]:
    """Start, end and name of each stretch of one phase."""
    spans: list[tuple[float, float, str]] = []
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        name = row.get("phase")
        if name is None:
            continue
        end = row["time_s"] if after is None else after["time_s"]
        if spans and spans[-1][2] == name and spans[-1][1] == row["time_s"]:
            spans[-1] = (spans[-1][0], end, name)
        else:
            spans.append((row["time_s"], end, name))
    return spans
