"""Means with their intervals: bars for names, lines for a number, shades for two numbers.

Rows have a mean under its column's name and the ends of its interval, if it has one, under
`<column>_low` and `<column>_high`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

from fairq.core.columns import is_ratio
from fairq.figures import axis_units, text
from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import GROUND, Key, columns_for, from_zero, handle, left, name_panel, panels_height, sheet
from fairq.figures.style import PAGE, Look, Style, contrast

Rows = Sequence[Mapping[str, Any]]

SERIES_MAX = 8
"""Bars of one group that have looks of their own; more become groups of one bar, each with its
name."""


@plotted("quantities", "groups", "series")
def bars(
    rows: Rows, quantities: Sequence[str], groups: Sequence[str], series: str | None, title: str, *,
    caption: str = "", ideals: Mapping[str, str] | None = None, style: Style = PAGE,
) -> Figure:  # fmt: skip
    """A panel for each quantity; a group of bars for each of `groups`, a bar for each of `series`.

    Bars lie, so that a name has a line of its own; each has its value behind it. `ideals` gives the
    column of the value that theory expects of a quantity: an upright line.
    """
    quantities, left_quantities = first(list(quantities), style.panels_max)
    groups, at = _varied(rows, groups)
    if series is not None and len(_distinct(rows, [series])) > SERIES_MAX:
        groups, series = [*groups, series], None
    names = _distinct(rows, groups)
    of_series = _distinct(rows, [series]) if series else [()]
    looks = {one: style.look(number) for number, (one, *_) in enumerate(of_series)} if series else {None: style.look(0)}
    key = []
    if len(looks) > 1:
        key = [(handle(style, look, line=False), named([series or ""], (one,))) for one, look in looks.items()]
    if ideals:
        expected = dict.fromkeys(axis_units.words(ideals[quantity])[0] for quantity in quantities if quantity in ideals)
        key.append((_upright(style), "; ".join(expected)))
    label_room = (0.32 if style.width < 300 else 0.24) * style.width
    labels = [named(groups, name) for name in names]
    label_wide = min(label_room, max(text.width(label, style.text) for label in labels) + style.text)
    columns = columns_for(style, len(quantities), labels=label_wide)
    pitch = 1.32 * style.small
    group = len(of_series) * pitch + 0.45 * style.small
    said = [interval_said(rows, quantities, "bar", "line"), at, caption, left(left_quantities, "quantity")]
    # as if some were left out, which the caption would say
    room = panels_height(style, title, [Key(key)], sentences(*said, left(len(names), "group")))
    room = room / math.ceil(len(quantities) / columns) - 4.4 * style.text
    names, left_groups = first(names, max(1, int(room // group)))
    # half a point for rounding
    labels = _fitted(labels[: len(names)], label_wide - style.text + 0.5, style, 2 if group > 2.6 * style.text else 1)
    shown = {(tuple(row[g] for g in groups), row[series] if series else None): row for row in rows}
    said.append(left(left_groups, "group"))
    drawn = sheet(
        style, len(quantities), title, keys=[Key(key)], caption=sentences(*said), columns=columns,
        panel_height=len(names) * group + 0.5 * style.small, labels=label_wide,
    )  # fmt: skip
    panel_wide = (style.width - label_wide) / columns - 1.6 * style.text
    for number, (panel, quantity) in enumerate(zip(drawn.panels, quantities, strict=True)):
        ideal = (ideals or {}).get(quantity, "")
        size, label = axis_units.scaled(quantity, values_of(rows, quantity, ideal))
        name_panel(drawn, panel, label)
        _limit(panel, rows, quantity, ideal, size, panel_wide, style)
        # measured in groups: as many bars fit a group as there are series
        thick = pitch / group
        for index, name in enumerate(names):
            for turn, (one, look) in enumerate(looks.items()):
                place = index + (turn - (len(looks) - 1) / 2) * thick
                row = shown.get((name, one))
                _bar(panel, row, quantity, ideal, place, 0.62 * thick, size, look, style, panel_wide)
                if row is not None and row.get(ideal) is not None:
                    panel.plot([row[ideal] / size], [place], "|", color=style.ink, markersize=0.95 * pitch,
                               markeredgewidth=1.4 * style.line, zorder=4)  # fmt: skip
        panel.set_ylim(len(names) - 0.45, -0.55)
        panel.set_yticks(range(len(names)), labels if number % columns == 0 else [""] * len(names), fontsize=style.text)
        panel.tick_params(axis="y", length=0)
        panel.grid(visible=False, axis="y")
    return drawn.finish()


@plotted()
def bars_of_panels(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]], title: str, *, style: Style = PAGE
) -> Figure:
    """A panel for each quantity with groups of bars: by the bar's name, then by the group's."""
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    looks = {name: style.look(number) for number, name in enumerate(names)}
    across = {caption: list(dict.fromkeys(key for values in series.values() for key in values))
              for caption, series in panels.items()}  # fmt: skip
    pitch = 1.32 * style.small
    high = max(map(len, across.values())) * (len(names) * pitch + 0.45 * style.small)
    columns = 1 if style.width < 300 else columns_for(style, len(panels))
    keys = [Key([(handle(style, look, line=False), name) for name, look in looks.items()])]
    drawn = sheet(style, len(panels), title, keys=keys, columns=columns, panel_height=high)
    for panel, (caption, series) in zip(drawn.panels, panels.items(), strict=True):
        groups = across[caption]
        rows = [{"value": value} for values in series.values() for value in values.values()]
        wide = drawn.room - max(text.width(group, style.text) for group in groups)
        _limit(panel, rows, "value", "", 1.0, wide, style)
        thick = 1 / (len(names) + 0.35)
        for number, name in enumerate(names):
            for index, group in enumerate(groups):
                row = {"value": series[name][group]} if group in series.get(name, {}) else None
                place = index + (number - (len(names) - 1) / 2) * thick
                _bar(panel, row, "value", "", place, 0.62 * thick, 1.0, looks[name], style, wide)
        panel.set_ylim(len(groups) - 0.45, -0.55)
        panel.set_yticks(range(len(groups)), groups, fontsize=style.text)
        panel.tick_params(axis="y", length=0)
        panel.grid(visible=False, axis="y")
        name_panel(drawn, panel, caption)
    return drawn.finish()


@plotted("quantities", "across", "series", "panels")
def lines(
    rows: Rows, quantities: Sequence[str], across: str, series: Sequence[str], panels: Sequence[str], title: str, *,
    caption: str = "", style: Style = PAGE,
) -> Figure:  # fmt: skip
    """Curves over the number `across`, one for each of `series`; a panel for each of `panels`.

    An interval is an upright line at its mean.
    """
    series, at = _varied(rows, series)
    panels, also = _varied(rows, panels)
    places = numbers_of(rows, across)
    curves, left_curves = first(_distinct(rows, series), style.lines_max)
    kinds, left_panels = first(
        [(quantity, name) for quantity in quantities for name in _distinct(rows, panels)], style.panels_max
    )
    looks = {name: style.look(number) for number, name in enumerate(curves)}
    key = [(handle(style, look), named(series, name)) for name, look in looks.items()] if len(looks) > 1 else []
    said = sentences(
        interval_said(rows, quantities, "mark", "upright line"), shifted_said(len(looks)), *{at, also} - {""}, caption,
        left(left_curves, "curve"), left(left_panels, "panel"),
    )  # fmt: skip
    drawn = sheet(style, len(kinds), title, keys=[Key(key)], caption=said)
    span, label_across = size_of(rows, across)
    xs = sorted({place / span for place in places.values()})
    for number, (panel, (quantity, name)) in enumerate(zip(drawn.panels, kinds, strict=True)):
        mine = [row for row in rows if tuple(row[p] for p in panels) == name]
        size, label = axis_units.scaled(quantity, values_of(rows, quantity))
        is_low = number >= len(kinds) - drawn.columns
        name_panel(drawn, panel, ", ".join(filter(None, [named(panels, name), label])), label_across if is_low else "")
        for turn, (curve, look) in enumerate(looks.items()):
            own = sorted(
                ((places[str(row[across])] / span, row) for row in mine
                 if tuple(row[s] for s in series) == curve and row.get(quantity) is not None),
                key=lambda each: each[0],
            )  # fmt: skip
            if own:
                mean_curve(panel, own, quantity, size, look, style, turn - (len(looks) - 1) / 2)
        number_axis(panel, xs, style, drawn.room)
        from_zero(panel, values_of(mine, quantity))
    return drawn.finish()


@plotted("quantity", "across", "up", "panels")
def shades(
    rows: Rows, quantity: str, across: str, up: str, panels: Sequence[str], title: str, *, caption: str = "",
    style: Style = PAGE,
) -> Figure:  # fmt: skip
    """A map over two numbers: a lighter cell has a greater mean, which stands in it if it fits."""
    panels, at = _varied(rows, panels)
    kinds, left_panels = first(_distinct(rows, panels), style.panels_max)
    sides = [_side(rows, across), _side(rows, up)]
    of_panel = {name: [row for row in rows if tuple(row[p] for p in panels) == name] for name in kinds}
    scales = {name: _scale_of_shades(mine, quantity) for name, mine in of_panel.items()}
    # panels far apart have scales of their own, else the smaller one is of one colour
    tops = [size * high for size, _, (_, high) in scales.values() if high > 0]
    is_apart = len(tops) > 1 and max(tops) > SHADES_APART * min(tops)
    if not is_apart:
        scales = dict.fromkeys(kinds, _scale_of_shades(rows, quantity))
    own_scale = "each panel has its own scale" if is_apart else ""
    said = sentences("cell: mean", own_scale, at, caption, left(left_panels, "panel"))
    columns = columns_for(style, len(kinds))
    height = min(1.6 * style.panel_height, max(style.panel_height, len(sides[1][0]) * 1.7 * style.small))
    drawn = sheet(style, len(kinds), title, caption=said, panel_height=height + 3 * style.text, columns=columns)
    image: Any = None
    for number, (panel, name) in enumerate(zip(drawn.panels, kinds, strict=True)):
        mine = {(str(row[across]), str(row[up])): row[quantity] for row in of_panel[name]}
        size, label, (low, high) = scales[name]
        cells = [[mine.get((x, y)) for x in sides[0][1]] for y in sides[1][1]]
        grid = [[math.nan if value is None else value / size for value in line] for line in cells]
        panel.grid(visible=False)
        # cividis looks alike with and without red and green
        image = panel.imshow(grid, cmap="cividis", vmin=low, vmax=high, aspect="auto", origin="lower", gid=GROUND)
        is_low = number >= len(kinds) - columns
        head = ": ".join([part for part in (named(panels, name), label if is_apart else "") if part])
        name_panel(drawn, panel, head or label, sides[0][2] if is_low else "")
        if is_apart:
            _scale_bar(drawn, image, [panel])
        for axis, (shown, _, _) in zip((panel.xaxis, panel.yaxis), sides, strict=True):
            axis.set_ticks(range(len(shown)), shown, fontsize=style.small)
        if number % columns == 0:
            panel.set_ylabel(text.cut(sides[1][2], height, style.text), fontsize=style.text, color=style.ink)
        cell = drawn.room / max(len(sides[0][1]), 1)
        fits = height / len(sides[1][1]) > 1.4 * style.small
        for y, line in enumerate(grid):
            for x, value in enumerate(line):
                said_in = axis_units.brief(None if math.isnan(value) else value)
                if fits and text.width(said_in, style.small) + 2 < cell * 0.9:
                    shade = style.ground if math.isnan(value) else to_hex(image.cmap(image.norm(value)))
                    ink = max(("#000000", "#ffffff"), key=lambda one: contrast(one, shade))
                    panel.text(x, y, said_in, ha="center", va="center", fontsize=style.small, color=ink, clip_on=True)
    if not is_apart:
        bar = _scale_bar(drawn, image, drawn.panels)
        bar.set_label(text.cut(label, style.width - 20, style.text), fontsize=style.text, color=style.ink)
        drawn.panels.append(bar.ax)
    return drawn.finish()


SHADES_APART = 5
"""Panels of a map whose greatest values are further apart than this have scales of their own."""


def _scale_of_shades(rows: Rows, quantity: str) -> tuple[float, str, tuple[float, float]]:
    """The unit of shades, their label, and the ends of their scale."""
    size, label = axis_units.scaled(quantity, values_of(rows, quantity))
    found = [value / size for value in values_of(rows, quantity)] or [0.0, 1.0]
    low, high = min(*found, 0.0), max(found)
    return size, label, (low, high if high > low else low + 1.0)


def _scale_bar(drawn: Any, image: Any, panels: Sequence[Any]) -> Any:
    """The scale of the shades of some panels, below them."""
    style = drawn.style
    bar = drawn.figure.colorbar(image, ax=panels, orientation="horizontal", aspect=40 if len(panels) > 1 else 20,
                                pad=0.02, fraction=0.06)  # fmt: skip
    bar.outline.set(edgecolor=style.faint, linewidth=0.5 * style.line)
    bar.ax.tick_params(colors=style.ink, labelsize=style.small, width=0.6 * style.line, length=2)
    bar.ax.xaxis.set_major_formatter(axis_units.tick)
    if len(panels) == 1:
        bar.ax.xaxis.set_major_locator(MaxNLocator(3))
    return bar


def named(columns: Sequence[str], values: Sequence[Any]) -> str:
    """What tells a combination from others: values with units, bare numbers with words."""
    return " · ".join(_value(column, value) for column, value in zip(columns, values, strict=True))


def _value(column: str, value: Any) -> str:
    said, unit = axis_units.words(column)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if column == "replication" or not unit:
            return f"{said} {axis_units.brief(value)}"
        size, name = axis_units.step(unit, [value])
        return f"{axis_units.brief(value / size)} {name}"
    if axis_units.number(value) is not None and axis_units.number(value)[1] == "":  # type: ignore[index]
        return f"{said} {value}"
    return "none" if value is None else str(value)


def _varied(rows: Rows, columns: Sequence[str]) -> tuple[list[str], str]:
    """The columns that have several values, and what is said of the others."""
    distinct = {column: _distinct(rows, [column]) for column in columns}
    kept = [column for column in columns if len(distinct[column]) > 1]
    alone = [_said_of_all(column, found[0][0]) for column, found in distinct.items()
             if len(found) == 1 and found[0][0] not in (None, "")]  # fmt: skip
    return kept, ", ".join(alone)


def _said_of_all(column: str, value: Any) -> str:
    """What a caption says of a value that all rows have."""
    said, shown = axis_units.words(column)[0], _value(column, value)
    return shown if shown.startswith(said) else f"{said} {shown}"


def _distinct(rows: Rows, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(tuple(row.get(column) for column in columns) for row in rows))


def first(found: list[Any], most: int) -> tuple[list[Any], int]:
    """The first ones, and how many are left out."""
    return found[:most], max(len(found) - most, 0)


def sentences(*parts: str) -> str:
    """The parts that are not empty as one sentence."""
    said = "; ".join(part for part in parts if part)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def values_of(rows: Rows, *columns: str) -> list[float]:
    """The values of columns that exist, the ends of their intervals left out."""
    found = (row.get(column) for row in rows for column in columns if column)
    return [value for value in found if value is not None and math.isfinite(value)]


def _ends(row: Mapping[str, Any], quantity: str) -> tuple[float, float] | None:
    low, high = row.get(f"{quantity}_low"), row.get(f"{quantity}_high")
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return low, high


def interval_said(rows: Rows, quantities: Sequence[str], mark: str, line: str) -> str:
    """What marks and their intervals are, of how many seeds."""
    seeds = {row.get("seeds") for row in rows} - {None}
    of = "".join(f" of {count} seeds" for count in seeds) if len(seeds) == 1 else ""
    if any(_ends(row, quantity) for row in rows for quantity in quantities):
        return f"{mark}: mean{of}; {line}: its 95 % confidence interval"
    if seeds == {1}:
        return f"{mark}: value of one seed, without an interval"
    return f"{mark}: mean{of}" if of else f"{mark}: value"


def shifted_said(curves: int) -> str:
    """What a caption says of marks that `mean_curve` shifts."""
    return "marks at one value stand side by side" if curves > 1 else ""


def _fitted(labels: Sequence[str], room: float, style: Style, lines_max: int) -> list[str]:
    broken = ["\n".join(text.wrapped(label, room, style.text, lines_max)) for label in labels]
    if len(set(broken)) == len(set(labels)):
        return broken
    return text.cut_all(labels, room, style.text)


def _bar(
    panel: Any, row: Mapping[str, Any] | None, quantity: str, ideal: str, place: float, thick: float, size: float,
    look: Look, style: Style, wide: float,
) -> None:  # fmt: skip
    value = None if row is None else row.get(quantity)
    ends = _ends(row, quantity) if row is not None else None
    at = 0.0
    if value is not None and math.isfinite(value):
        panel.barh(place, value / size, thick, facecolor=tint(look.colour, style), edgecolor=look.colour,
                   linewidth=0.7 * style.line, zorder=2)  # fmt: skip
        if ends is not None:
            around = [[max(value - ends[0], 0) / size], [max(ends[1] - value, 0) / size]]
            panel.errorbar([value / size], [place], xerr=around, fmt="none", ecolor=look.colour, zorder=3,
                           elinewidth=style.line, capsize=0)  # fmt: skip
        panel.plot([value / size], [place], look.marker, color=look.colour, markersize=0.8 * style.marker, zorder=4)
        at = max(value, ends[1] if ends else value, 0.0) / size
    said = axis_units.brief(None if value is None else value / size)
    if row is not None and row.get(ideal) is not None:
        # the number stands behind the expected value, if they would touch
        span = panel.get_xlim()[1] - panel.get_xlim()[0]
        reach = (text.width(said, style.small) + style.marker + 4) / wide * span
        expected = row[ideal] / size
        if at - 0.02 * span < expected < at + reach:
            # there it must not look as if it were the expected value
            said = _of(said, expected) if expected > at else said
            at = expected
    panel.annotate(
        said, (at, place), xytext=(0.7 * style.marker + 1, 0),
        textcoords="offset points", va="center", ha="left", fontsize=style.small, color=style.ink, zorder=5,
    )  # fmt: skip


def _of(said: str, expected: float) -> str:
    return f"{said} of {axis_units.brief(expected)}"


def _limit(
    panel: Any, rows: Rows, quantity: str, ideal: str, size: float, wide: float, style: Style
) -> None:  # fmt: skip
    """Let the axis begin at zero, or at what is below, and end behind the widest value's text."""
    values = values_of(rows, quantity, ideal) or [0.0]
    ends = [end for row in rows if (end := _ends(row, quantity))]
    high = max([0.0, *values, *(end[1] for end in ends)]) / size
    low = min([0.0, *values]) / size
    if low < 0:
        low = min([low, *(end[0] / size for end in ends)])
    if high <= low:
        # zeros alone, or no values, have no scale
        panel.set_xlim(0, 1)
        panel.set_xticks([0] if values_of(rows, quantity, ideal) else [])
        return
    words = max(text.width(axis_units.brief(value / size), style.small) for value in values)
    if ideal:
        both = [row for row in rows if row.get(quantity) is not None and row.get(ideal) is not None]
        said = (_of(axis_units.brief(row[quantity] / size), row[ideal] / size) for row in both)
        words = max([words, *(text.width(each, style.small) for each in said)])
    share = min(0.6, (words + style.marker + 4) / wide)
    panel.set_xlim(low, low + (high - low) / (1 - share))
    if is_ratio(quantity):
        # more than all is no share
        panel.set_xticks([tick for tick in panel.get_xticks() if tick <= min(100, panel.get_xlim()[1])])
    if low < 0:
        panel.axvline(0, color=style.faint, linewidth=0.6 * style.line)


def mean_curve(
    panel: Any, own: Sequence[tuple[float, Mapping[str, Any]]], quantity: str, size: float, look: Look, style: Style,
    turn: float = 0.0,
) -> None:  # fmt: skip
    """A curve of means with their intervals, `turn` half markers to the right of its places."""
    shift = ScaledTranslation(turn * 0.5 * style.marker / 72, 0, panel.figure.dpi_scale_trans)
    beside = panel.transData + shift
    x = [place for place, _ in own]
    y = [row[quantity] / size for _, row in own]
    panel.plot(x, y, color=look.colour, linestyle=look.dash, marker=look.marker, markersize=style.marker,
               linewidth=style.line, zorder=3, transform=beside)  # fmt: skip
    known = [(place, row[quantity] / size, ends) for place, row in own if (ends := _ends(row, quantity))]
    # what is plotted beside its place does not count for the limits by itself
    panel.update_datalim([*zip(x, y, strict=True), *((x, end / size) for x, _, ends in known for end in ends)])
    if known:
        below = [max(y - ends[0] / size, 0) for _, y, ends in known]
        above = [max(ends[1] / size - y, 0) for _, y, ends in known]
        panel.errorbar(
            [x for x, _, _ in known], [y for _, y, _ in known], [below, above], fmt="none", ecolor=look.colour,
            # a cap on the edge of a marker would make a square of a circle
            elinewidth=0.7 * style.line, capsize=0, zorder=2, transform=beside,
        )  # fmt: skip


def numbers_of(rows: Rows, column: str) -> dict[str, float]:
    """The number of each value of an axis."""
    return {str(row[column]): found[0] for row in rows if (found := axis_units.number(row[column])) is not None}


def size_of(rows: Rows, column: str) -> tuple[float, str]:
    """What the numbers of an axis are divided by, and its label; name or values have the unit."""
    found = [each for row in rows if (each := axis_units.number(row[column])) is not None]
    unit = axis_units.words(column)[1] or next((unit for _, unit in found), "")
    size, name = axis_units.step(unit, [value for value, _ in found])
    said = axis_units.words(column)[0]
    return size, f"{said} ({name})" if name else said


def _side(rows: Rows, column: str) -> tuple[list[str], list[str], str]:
    """A side of a map: its labels, its values as text, and what it is of."""
    places = numbers_of(rows, column)
    size, label = size_of(rows, column)
    order = sorted(places, key=places.__getitem__)
    return [axis_units.brief(places[value] / size) for value in order], order, label


SPREAD, SPREAD_MUCH = 4, 20
"""From the first ratio of the largest to the least value on an axis is logarithmic if that brings
the values to more equal distances; from the second on in any case."""


def _spread(xs: Sequence[float]) -> bool:
    """Whether the values of an axis, in order, are better told apart by their ratios.

    >>> _spread([10, 20, 40]), _spread([1, 2, 3, 4]), _spread([0.2, 0.4, 0.8, 0.9]), _spread([0, 1, 8])
    (True, False, False, False)
    """
    if len(xs) < 3 or xs[0] <= 0:
        return False
    steps = [high - low for low, high in pairwise(xs)]
    ratios = [math.log(high / low) for low, high in pairwise(xs)]
    is_evener = max(ratios) / min(ratios) < max(steps) / min(steps)
    return xs[-1] / xs[0] >= (SPREAD if is_evener else SPREAD_MUCH)


def number_axis(panel: Any, xs: Sequence[float], style: Style, room: float, *, log: bool = False) -> None:
    """The axis across, logarithmic if asked for or values are spread; few values have labels."""
    if log or _spread(xs):
        panel.set_xscale("log")
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_xlim(xs[0] / 1.15, xs[-1] * 1.15)
        place: Callable[[float], float] = math.log
    else:
        panel.set_xlim(xs[0] - 0.05 * (xs[-1] - xs[0] or 1), xs[-1] + 0.05 * (xs[-1] - xs[0] or 1))
        place = float
    if len(xs) <= 12 or panel.get_xscale() == "log":
        span = place(xs[-1]) - place(xs[0]) or 1.0
        kept: list[float] = []
        for x in xs:
            wide = text.width(axis_units.tick(x), style.small) + style.small
            if not kept or (place(x) - place(kept[-1])) / span * 0.9 * room >= wide:
                kept.append(x)
        panel.xaxis.set_major_locator(FixedLocator(kept))
        panel.xaxis.set_major_formatter(axis_units.tick)


def _upright(style: Style) -> Any:
    return Line2D([], [], color=style.ink, marker="|", linestyle="", markersize=1.3 * style.small,
                  markeredgewidth=1.4 * style.line)  # fmt: skip


def tint(colour: str, style: Style) -> str:
    """The colour thinned by the ground, for areas: their edges and marks are seen."""
    part = 0.35 if style.dark else 0.25
    red, green, blue = (
        part * one + (1 - part) * other for one, other in zip(to_rgb(colour), to_rgb(style.ground), strict=True)
    )
    return str(to_hex((red, green, blue)))
