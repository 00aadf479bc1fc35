"""Candidates in the plane of two quantities: what one gains, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairq.figures import axis_units, text
from fairq.figures.means import sentences
from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import Key, Sheet, from_zero, handle, left, name_panel, plain_logarithm, sheet
from fairq.figures.style import PAGE, Style

Rows = Sequence[Mapping[str, Any]]
Box = tuple[float, float, float, float]

CANDIDATES = 36
"""Candidates of a figure: as many looks there are."""

LABELS = 14
"""Most candidates with their names beside them, if there is space; more have a key."""


@plotted("across", "up", "name")
def trade_off(
    rows: Rows, across: str, up: str, name: str, title: str, *, least: float = 0.0, winner: str | None = None,
    caption: str = "", style: Style = PAGE,
) -> Figure:  # fmt: skip
    """A marker for each candidate, named by the column `name`, with its intervals as bars.

    A line stands at the `least` that is asked for of `across`, and a ring around the `winner`. A
    name stands beside its marker if all have room there, else in the key.
    """
    whole = [row for row in rows if row.get(across) is not None and row.get(up) is not None]
    shown = whole[:CANDIDATES]
    has_ends = any(row.get(f"{column}_low") is not None for row in shown for column in (across, up))
    said = sentences(
        "bars: 95 % confidence intervals" if has_ends else "", left(len(whole) - len(shown), "candidate"),
        f"{len(rows) - len(whole)} without values left out" if len(whole) < len(rows) else "", caption,
    )  # fmt: skip
    marks = _Marks(least, winner)
    if len(shown) <= LABELS:
        drawn = _drawn(shown, across, up, name, title, said, style, marks, keyed=False)
        if _label(drawn, shown, across, up, name, marks):
            return drawn.figure
    return _drawn(shown, across, up, name, title, said, style, marks, keyed=True).figure


class _Marks(NamedTuple):
    """What stands out: the least value that is asked for, 0 for none, and the best."""

    least: float
    winner: str | None


def _drawn(
    rows: Rows, across: str, up: str, name: str, title: str, said: str, style: Style, marks: _Marks, *, keyed: bool
) -> Sheet:  # fmt: skip
    keys = [(handle(style, style.look(number), line=False), str(row[name])) for number, row in enumerate(rows)]
    told = _mark_keys(style, marks, rows, name)
    drawn = sheet(
        style,
        1,
        title,
        keys=[Key([*(keys if keyed else []), *told])] if keyed or told else [],
        caption=said,
        panel_height=min(0.62 * style.width, 400),
    )
    (panel,) = drawn.panels
    (x_size, x_label), (y_size, y_label) = (
        axis_units.scaled(column, [row[column] for row in rows]) for column in (across, up)
    )
    for number, row in enumerate(rows):
        look = style.look(number)
        x, y = row[across] / x_size, row[up] / y_size
        panel.errorbar(
            [x], [y], xerr=_reach(row, across, x_size), yerr=_reach(row, up, y_size), fmt=look.marker,
            color=look.colour,
            markersize=1.3 * style.marker, elinewidth=0.7 * style.line, capsize=0.5 * style.marker, zorder=3,
        )  # fmt: skip
        if row[name] == marks.winner:
            panel.plot([x], [y], **_ring(style), zorder=3)
    if marks.least:
        panel.axvline(marks.least / x_size, color=style.faint, linewidth=style.line, linestyle="--", zorder=1)
    heights = [row[up] / y_size for row in rows if row[up] > 0]
    is_wide = heights and max(heights) > 20 * min(heights) and len(heights) == len(rows)
    if is_wide and not y_label.endswith("(%)"):
        panel.set_yscale("log")
        plain_logarithm(panel.yaxis)
    else:
        from_zero(panel, [row[up] for row in rows])
    panel.margins(x=0.12, y=0.12)
    if x_label.endswith("(%)"):
        # the margin holds names; there is no part above the whole
        left, right = panel.get_xlim()
        panel.set_xticks([tick for tick in panel.get_xticks() if left <= tick <= 100])
        panel.set_xlim(left, right)
    name_panel(drawn, panel, y_label, x_label)
    drawn.finish()
    return drawn


def _mark_keys(style: Style, marks: _Marks, rows: Rows, name: str) -> list[tuple[Line2D, str]]:
    found = []
    if any(row[name] == marks.winner for row in rows):
        found.append((Line2D([], [], **_ring(style)), "the winner"))
    if marks.least and rows:
        line = Line2D([], [], color=style.faint, linewidth=style.line, linestyle="--")
        found.append((line, f"the least that is asked for, {100 * marks.least:.3g} %"))
    return found


def _ring(style: Style) -> dict[str, Any]:
    return {
        "marker": "o", "markersize": 2.6 * style.marker, "markerfacecolor": "none", "markeredgecolor": style.ink,
        "markeredgewidth": 0.8 * style.line, "linestyle": "",
    }  # fmt: skip


def _reach(row: Mapping[str, Any], column: str, size: float) -> list[list[float]] | None:
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    if low is None or high is None:
        return None
    return [[max(row[column] - low, 0) / size], [max(high - row[column], 0) / size]]


def _label(drawn: Sheet, rows: Rows, across: str, up: str, name: str, marks: _Marks) -> bool:
    """Write each name beside its marker, where it touches nothing; whether all have room."""
    style = drawn.style
    (panel,) = drawn.panels
    scale = drawn.figure.dpi / 72
    frame = panel.get_window_extent()
    sizes = [axis_units.scaled(column, [row[column] for row in rows])[0] for column in (across, up)]
    points = [panel.transData.transform((row[across] / sizes[0], row[up] / sizes[1])) for row in rows]
    half = 0.9 * style.marker * scale
    taken = [(x - half, y - half, x + half, y + half) for x, y in points]
    for (x, y), row in zip(points, rows, strict=True):
        taken += _bars(panel, row, (across, up), sizes, (x, y), 0.4 * style.line * scale)
    if marks.least:
        x, _ = panel.transData.transform((marks.least / sizes[0], 1.0))
        taken.append((x - 2, frame.y0, x + 2, frame.y1))
    chosen = []
    for (x, y), row in sorted(zip(points, rows, strict=True), key=lambda each: -each[0][0]):
        words = text.plain(row[name])
        wide, tall = text.width(words, style.small) * scale, 1.25 * style.small * scale
        box = next((box for box in _around(x, y, half, wide, tall, scale) if _has_room(box, frame, taken)), None)
        if box is None:
            return False
        taken.append(box)
        chosen.append((words, box, (x, y)))
    for words, box, point in chosen:
        _place(panel, style, words, box, point, 2.2 * half)
    return True


def _bars(
    panel: Any,
    row: Mapping[str, Any],
    columns: tuple[str, str],
    sizes: Sequence[float],
    point: tuple[float, float],
    half: float,
) -> list[Box]:
    """The boxes of the bars of a candidate."""
    boxes = []
    for at, (column, size) in enumerate(zip(columns, sizes, strict=True)):
        low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
        if low is None or high is None:
            continue
        other = row[columns[1 - at]] / sizes[1 - at]
        ends = [(value / size, other) if at == 0 else (other, value / size) for value in (low, high)]
        (x0, y0), (x1, y1) = (panel.transData.transform(end) for end in ends)
        if all(map(math.isfinite, (x0, y0, x1, y1))):
            boxes.append((x0 - half, y0 - half, x1 + half, y1 + half))
    return boxes


def _around(x: float, y: float, half: float, wide: float, tall: float, scale: float) -> Iterator[Box]:
    """Places for a name, the best first: right, left, above, below, then further away."""
    for far in (1.5 * scale, 6 * scale, 14 * scale, 24 * scale, 36 * scale):
        gap = half + far
        for side, low in (
            (x + gap, y - tall / 2), (x - gap - wide, y - tall / 2),
            (x - wide / 2, y + gap), (x - wide / 2, y - gap - tall),
            (x + gap, y + 0.5 * gap), (x + gap, y - 0.5 * gap - tall),
            (x - gap - wide, y + 0.5 * gap), (x - gap - wide, y - 0.5 * gap - tall),
        ):  # fmt: skip
            yield side, low, side + wide, low + tall


def _has_room(box: Box, frame: Any, taken: Sequence[Box]) -> bool:
    if box[0] < frame.x0 + 2 or box[2] > frame.x1 or box[1] < frame.y0 + 2 or box[3] > frame.y1:
        return False
    return not any(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken
    )


def _place(panel: Any, style: Style, words: str, box: Box, point: tuple[float, float], near: float) -> None:
    back = panel.transAxes.inverted().transform
    x, y = back((box[0], (box[1] + box[3]) / 2))
    written = panel.text(
        x, y, words, transform=panel.transAxes, fontsize=style.small, color=style.ink, va="center", zorder=4
    )
    written.set_in_layout(False)
    end = (min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3]))
    if math.dist(end, point) > near:
        (x0, y0), (x1, y1) = back(end), back(point)
        panel.plot(
            [x0, x1], [y0, y1], transform=panel.transAxes, color=style.faint, linewidth=0.5 * style.line, zorder=2
        )
