"""A figure before its marks: title, key, panels that wrap, caption; then its labels.

Title, key and caption have strips of their own, whose height follows from the width of their text,
so that no text can stand on another.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

from fairq.figures import axis_units, text
from fairq.figures.style import Look, Style

GAP = 1.42
"""The distance of two lines of a key, in heights of its letters."""

TITLE_LINES = 2
"""The lines of a title, at most."""

GROUND = "ground"
"""The mark (`gid`) of what stands behind and from which nothing is read: grids, shades."""

NOTE = None
"""The handle of an entry of a key that is a note without a look."""


@dataclass
class Key:
    """Entries of a key: a handle, or NOTE, and its text; before them a heading, if any.

    `owner` is the number of the panel to which the legend belongs.
    """

    entries: Sequence[tuple[Any, str]]
    heading: str = ""
    owner: int = 0


@dataclass
class Sheet:
    """A figure and its panels, from left to right and then down."""

    figure: Figure
    panels: list[Any]
    columns: int
    style: Style
    room: float = field(default=0.0)
    """The width of a panel's title, in points."""

    def finish(self) -> Figure:
        """The figure with its layout fixed and without labels that touch others."""
        # the layout alone: drawing all marks for it would take most of the time
        engine: Any = self.figure.get_layout_engine()
        engine.execute(self.figure)
        thinned = [_thin(axis) for panel in self.panels for axis in (panel.xaxis, panel.yaxis)]
        if any(thinned):
            engine.execute(self.figure)
        self.figure.set_layout_engine("none")
        return self.figure


def columns_for(style: Style, count: int, *, labels: float = 0.0) -> int:
    """How many panels stand beside each other, and beside names of `labels` points."""
    room = style.width - labels
    most = max(1, min(count, style.columns_max, int(room // (style.panel_width + 2.5 * style.text))))
    return math.ceil(count / math.ceil(count / most))


def sheet(
    style: Style, count: int, title: str, *, keys: Sequence[Key] = (), caption: str = "", columns: int | None = None,
    panel_height: float | None = None, labels: float = 0.0, blank: Collection[int] = (), sharex: Any = False,
    ratios: Sequence[float] | None = None,
) -> Sheet:  # fmt: skip
    """A figure of `count` panels, at most style.panels_max, with title, keys and caption.

    The title, which is wrapped or cut where it does not fit, is whole as the label of the figure.
    `labels` is the width of the names left of the panels; panels with the numbers in `blank` are
    left out. A figure of a fixed height shares it among its panels. `ratios` are the heights of the
    lines of panels to each other, if they are not the same.
    """
    assert 1 <= count - len(blank) <= style.panels_max, f"{count} panels"
    columns = columns or columns_for(style, count, labels=labels)
    lines = math.ceil(count / columns)
    pad = 0.6 * style.text
    titles, captions, shown = _parts(style, title, keys, caption)
    head, strips, foot = _heights(style, titles, captions, shown)
    if style.height is not None:
        height = style.height
    else:
        wanted = (panel_height or style.panel_height) + 3.6 * style.text
        height = min(head + strips + foot + lines * wanted, max(style.height_max, head + strips + foot + 60 * lines))
    figure = Figure(figsize=(style.width / 72, height / 72), dpi=style.dpi, facecolor=style.ground)
    figure.set_label(title)
    figure.set_layout_engine(
        "constrained", rect=(0, foot / height, 1, 1 - (head + strips + foot) / height), w_pad=pad / 72, h_pad=pad / 144,
        wspace=0.02, hspace=0.02,
    )  # fmt: skip
    top = height - pad
    for line in titles:
        _write(figure, style, pad, top - 1.05 * style.title, line, style.title, style.ink, height)
        top -= 1.3 * style.title
    grid = figure.subplots(lines, columns, squeeze=False, sharex=sharex, height_ratios=ratios)
    panels = list(grid.flat)
    for number, panel in enumerate(panels):
        if number >= count or number in blank:
            panel.set_visible(False)
            panel.set_in_layout(False)
    top = height - head
    for key, across, rows, names in shown:
        _legend(panels[key.owner], figure, style, key, names, across, (pad / style.width, top / height))
        top -= rows * GAP * style.small + 0.3 * style.small
    for number, line in enumerate(reversed(captions)):
        _write(figure, style, pad, pad + number * 1.35 * style.small, line, style.small, style.faint, height)
    for panel in panels[:count]:
        dress(panel, style)
    room = (style.width - labels) / columns - (1.6 if labels else 4.6) * style.text
    return Sheet(figure, panels[:count], columns, style, room)


def title_of(style: Style, items: Sequence[str], rest: str) -> str:
    """A title that lists items: as many as fit its lines with the rest, and how many more."""
    room = _inner(style)
    for kept in range(len(items), 0, -1):
        more = f" and {len(items) - kept} more" if kept < len(items) else ""
        title = f"{', '.join(items[:kept])}{more} {rest}"
        if text.fits(title, room, style.title, TITLE_LINES):
            return title
    return title


def panels_height(style: Style, title: str, keys: Sequence[Key] = (), caption: str = "") -> float:
    """The height that title, keys and caption leave for panels and their labels, in points."""
    return (style.height or style.height_max) - sum(_heights(style, *_parts(style, title, keys, caption)))


def _parts(
    style: Style, title: str, keys: Sequence[Key], caption: str
) -> tuple[list[str], list[str], list[tuple[Key, int, int, list[str]]]]:
    """The lines of title and caption; columns, rows and names of each key with entries."""
    inner = _inner(style)
    titles = [] if style.bare else text.wrapped(title, inner, style.title, TITLE_LINES)
    captions = text.wrapped(caption, inner, style.small, 4) if caption and not style.bare else []
    return titles, captions, [(key, *_shape(key, inner, style)) for key in keys if key.entries]


def _inner(style: Style) -> float:
    """The width of title, keys and caption."""
    return style.width - 1.2 * style.text


def _heights(
    style: Style, titles: Sequence[str], captions: Sequence[str], keys: Sequence[tuple[Key, int, int, list[str]]]
) -> tuple[float, float, float]:
    """The heights of the title, the keys and the caption."""
    pad = 0.6 * style.text
    head = pad + (len(titles) * 1.3 + 0.2) * style.title if titles else pad
    strips = sum(rows * GAP * style.small + 0.3 * style.small for _, _, rows, _ in keys)
    return head, strips, len(captions) * 1.35 * style.small + pad


def dress(panel: Any, style: Style) -> None:
    """Give a panel its colours, letters and grid."""
    panel.set_facecolor(style.ground)
    panel.tick_params(colors=style.ink, labelsize=style.small, width=0.6 * style.line, length=2 + 0.15 * style.text,
                      pad=0.3 * style.text)  # fmt: skip
    panel.tick_params(which="minor", colors=style.faint, width=0.4 * style.line, length=1 + 0.08 * style.text)
    for name, spine in panel.spines.items():
        spine.set(color=style.faint, linewidth=0.6 * style.line)
        spine.set_visible(name in ("left", "bottom"))
    panel.grid(color=style.grid, linewidth=0.5 * style.line, gid=GROUND)
    panel.set_axisbelow(True)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(axis_units.tick)
        axis.set_major_locator(MaxNLocator(4 if style.text < 8 else 5))


def name_panel(sheet: Sheet, panel: Any, title: str, across: str = "", lines_max: int = 2, *, head: str = "") -> None:
    """Write above a panel what it shows, below it what stands across; in lines that fit.

    `head` stands above the title, in at most two lines of its own.
    """
    style = sheet.style
    lines = [*text.wrapped(head, sheet.room, style.text, 2), *text.wrapped(title, sheet.room, style.text, lines_max)]
    panel.set_title("\n".join(lines), fontsize=style.text, color=style.ink, loc="left", pad=0.5 * style.text)
    if across:
        panel.set_xlabel(text.cut(across, sheet.room, style.text), fontsize=style.text, color=style.ink,
                         labelpad=0.25 * style.text)  # fmt: skip


def handle(style: Style, look: Look, *, line: bool = True, marker: bool = True) -> Line2D:
    """The sample of a curve in a key."""
    return Line2D([], [], color=look.colour, linestyle=look.dash if line else "", linewidth=style.line,
                  marker=look.marker if marker else "", markersize=style.marker)  # fmt: skip


def patch(style: Style, look: Look) -> Patch:
    """The sample of an area in a key."""
    return Patch(facecolor=look.colour, edgecolor=style.ground, hatch=look.hatch, linewidth=0)


def from_zero(panel: Any, values: Collection[float]) -> None:
    """Let the axis upwards begin at zero, unless it is logarithmic or has values below.

    Without a value that is not zero there is no scale: only zero has a label, if there is one.
    """
    if panel.get_yscale() != "linear" or min(values, default=0.0) < 0:
        return
    if any(values):
        panel.set_ylim(0, panel.get_ylim()[1])
        return
    panel.set_ylim(0, 1)
    panel.set_yticks([0] if values else [])


def left(count: int, what: str) -> str:
    """What a caption says of things that are not shown."""
    return f"{count} more {what}{'' if count == 1 else 's'} not shown" if count > 0 else ""


def plain_logarithm(axis: Any) -> None:
    """Labels of a logarithmic axis at powers of ten, on a short one at 1, 2 and 5."""
    low, high = axis.get_view_interval()
    decades = math.log10(high / low) if low > 0 else 1.0
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,)))
    axis.set_major_formatter(axis_units.tick)
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def _shape(key: Key, inner: float, style: Style) -> tuple[int, int, list[str]]:
    """Columns and rows of a key, and its names as they fit."""
    sample = 4.2 * style.small
    room = inner - _lead(key, style)
    # several beside each other, or a few long names would take the room of the panels
    share = 1 if style.width < 300 or len(key.entries) < 3 else 3
    names = text.cut_all([name for _, name in key.entries], room / share - sample, style.small)
    wide = [text.width(name, style.small) + sample for name in names]
    for columns in range(len(names), 1, -1):
        rows = math.ceil(len(names) / columns)
        # entries go down a column first
        parts = [wide[at : at + rows] for at in range(0, len(wide), rows)]
        if sum(map(max, parts)) <= room:
            return len(parts), rows, names
    return 1, len(names), names


def _lead(key: Key, style: Style) -> float:
    """The room that the heading of a key takes."""
    return text.width(key.heading, style.small) + style.small if key.heading else 0.0


def _legend(
    panel: Any, figure: Figure, style: Style, key: Key, names: Sequence[str], columns: int, place: tuple[float, float]
) -> None:
    handles = [Line2D([], [], linestyle="") if sample is NOTE else sample for sample, _ in key.entries]
    lead = _lead(key, style)
    before = panel.get_legend()
    legend = panel.legend(
        # matplotlib leaves out what begins with an underscore, unless it is written afterwards
        handles, [str(number) for number in range(len(handles))], loc="upper left", ncols=columns, frameon=False,
        bbox_to_anchor=(place[0] + lead / style.width, place[1]), bbox_transform=figure.transFigure, borderpad=0,
        borderaxespad=0, handlelength=2.4, handletextpad=0.6, columnspacing=1.2, fontsize=style.small,
        labelspacing=0.35, labelcolor=style.ink,
    )  # fmt: skip
    for written, name in zip(legend.get_texts(), names, strict=True):
        written.set_text(name)
    legend.set_in_layout(False)
    if before is not None:
        # a second key of a panel would take the place of the first
        panel.add_artist(before)
    if key.heading:
        height = figure.get_figheight() * 72
        _write(figure, style, place[0] * style.width, place[1] * height - style.small, key.heading, style.small,
               style.faint, height)  # fmt: skip


def _write(
    figure: Figure, style: Style, x: float, y: float, words: str, size: float, colour: str, height: float
) -> None:  # fmt: skip
    figure.text(x / style.width, y / height, words, fontsize=size, color=colour, va="baseline").set_in_layout(False)


def _thin(axis: Any) -> bool:
    """Leave out labels of an axis, every second or more, until none touches another.

    Gives whether any is left out.
    """
    boxes = [box for _, box in _labels(axis)]
    if len(boxes) < 2 or not _touch(boxes):
        return False
    places = [place for place, _ in _labels(axis)]
    for step in range(2, len(places) + 1):
        if not _touch(boxes[::step]):
            names = [label.get_text() for label in axis.get_ticklabels()]
            known = dict(zip(axis.get_ticklocs(), names, strict=False))
            axis.set_ticks(places[::step], [known[place] for place in places[::step]])
            return True
    return False


def _labels(axis: Any) -> list[tuple[float, Any]]:
    """Place and box of each label that is seen, in order."""
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * (high - low)
    found = [
        (place, label.get_window_extent())
        for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
        if label.get_visible() and label.get_text() and low - slack <= place <= high + slack
    ]
    return sorted(found, key=lambda each: each[0])


def _touch(boxes: Sequence[Any]) -> bool:
    """Whether a box comes within a pixel or two of its neighbour."""
    return any(
        one.x0 - 2 < other.x1 and other.x0 - 2 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1
        for one, other in pairwise(boxes)
    )
