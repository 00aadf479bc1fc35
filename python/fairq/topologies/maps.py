"""Maps of topologies: where nodes stand on a page, and which of their labels fit without touching anything.

Everything here is in points of the page, so that what does not overlap here does not overlap in the picture.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairq.core.progress import Tell
from fairq.figures import PAGE, Style, text
from fairq.figures.plot_settings import plotted
from fairq.figures.style import COLOURS_DARK

# isort: split
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font

Rows = Sequence[Mapping[str, Any]]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""


@dataclass(frozen=True)
class Page:
    """The page of a map in points; its height follows the map's shape."""

    width: float
    height_min: float
    height_max: float
    margin: float
    head: float
    foot: float
    title: float
    small: float
    labels: tuple[float, float, float]
    """Letters of labels of less than a hundred nodes, and of more; the size of markers."""
    lines: int = 1
    """Lines of the foot: the key has one of its own where both are wider than the page."""


PAGES: Mapping[str, Page] = {
    "page": Page(860, 340, 900, 46, 30, 34, 12, 7.5, (7.0, 6.0, 1.0)),
    "slide": Page(960, 540, 540, 60, 52, 46, 22, 14, (13.0, 12.0, 1.8)),
    "paper": Page(80 / 25.4 * 72, 110, 300, 16, 18, 30, 8, 6.25, (6.25, 6.25, 0.8), 2),
}
"""The pages by what a map is for, as `fairq.figures.style` has sizes."""

ROUNDS, ROUNDS_OF_MANY = 300, 100
"""Rounds of the layout of a topology without places, and of one of many nodes."""

MANY = 1500
"""Number of nodes from which on they are pushed apart by the cells of a square, and the cells on its side."""

CELLS = 16

RATES_SHOWN = 6
COLOURS = ["#0060a0", "#d05a00", "#2a8a3a", "#7a3a9a", "#a07800", "#c0306a"]


@plotted()
def network(title: str, nodes: Rows, links: Rows, progress: Tell | None = None, *, style: Style = PAGE) -> Figure:
    """Draw a topology: nodes where their coordinates say, else spread by springs; links coloured by rate.

    Labels stand where they fit, those of the best linked nodes first; the foot says how many did not.
    """
    points, kind = _places(nodes, links, progress)
    page = _page(style)
    height = _fit(points, page)
    figure = Figure(figsize=(page.width / 72, height / 72), dpi=style.dpi, facecolor=style.ground)
    figure.set_label(title)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, page.width), ylim=(0, height))
    axes.axis("off")
    _draw_links(axes, points, nodes, links, page, style)
    size = page.labels[2] * (4.2 if len(nodes) < 100 else 2.8 if len(nodes) < 400 else 2.0)
    axes.plot(points[:, 0], points[:, 1], "o", markersize=size, color=style.look(0).colour,
              markeredgecolor=style.ground, markeredgewidth=0.4, zorder=3)  # fmt: skip
    left_out = _draw_labels(axes, points, nodes, links, size, page, style)
    edge = page.margin / 2
    if not style.bare:
        (words,) = text.wrapped(title, page.width - 2 * edge, page.title, 1)
        axes.text(edge, height - 0.6 * page.head, words, fontsize=page.title, va="center", color=style.ink)
    foot = [kind] + ([f"{left_out} of {len(nodes)} labels found no room"] if left_out else [])
    if not style.bare:
        (words,) = text.wrapped("; ".join(foot), page.width - 2 * edge, page.small, 1)
        axes.text(edge, FOOT_LINE * page.small, words, fontsize=page.small, color=style.faint, va="center")
    return figure


def _page(style: Style) -> Page:
    """The page of a style: a slide has a height, a paper's column is narrow."""
    return PAGES["slide" if style.height is not None else "paper" if style.width < 300 else "page"]


FOOT_LINE = 1.75
"""Where the middle of the foot stands, in heights of its letters."""


def _places(nodes: Rows, links: Rows, progress: Tell | None) -> tuple[Any, str]:
    """A place for each node in any unit, y upwards, and where the places come from."""
    columns = [("longitude", "latitude"), ("x", "y")]
    known = next((pair for pair in columns if any(node[pair[0]] is not None for node in nodes)), None)
    if known is None:
        return _springs(len(nodes), _ends(nodes, links), progress), "no coordinates: spread by springs"
    points = np.array([[math.nan if node[name] is None else node[name] for name in known] for node in nodes], float)
    if known[0] == "longitude":
        # a degree of longitude is as long as one of latitude at the equator only
        points[:, 0] *= max(math.cos(math.radians(float(np.nanmean(points[:, 1])))), 0.1)
    missing = np.isnan(points).any(axis=1)
    if missing.any():
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        points[missing, 0] = np.linspace(low[0], high[0], int(missing.sum()))
        points[missing, 1] = low[1] - 0.08 * (high[1] - low[1] or 1.0)
        return points, "nodes without a place stand in the lowest row"
    return points, "by coordinates"


def _ends(nodes: Rows, links: Rows) -> Any:
    number = {node["node"]: at for at, node in enumerate(nodes)}
    return np.array([(number[link["from"]], number[link["to"]]) for link in links], int).reshape(-1, 2)


def _springs(count: int, ends: Any, progress: Tell | None) -> Any:
    """Spread nodes by springs (Fruchterman and Reingold 1991), beginning from a circle."""
    turn = 2 * math.pi * np.arange(count) / max(count, 1)
    points = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    length = math.sqrt(4 / max(count, 1))
    rounds = ROUNDS if count <= MANY else ROUNDS_OF_MANY
    for step in range(rounds):
        if progress is not None:
            progress(step / rounds, 0.0, 0)
        force = _pushed(points, length) if count <= MANY else _pushed_by_cells(points, length)
        pull = points[ends[:, 0]] - points[ends[:, 1]]
        pull *= (np.hypot(pull[:, 0], pull[:, 1]) / length)[:, None]
        np.add.at(force, ends[:, 0], -pull)
        np.add.at(force, ends[:, 1], pull)
        # parts that nothing joins stay on the page
        force -= points * length
        size = np.maximum(np.hypot(force[:, 0], force[:, 1]), 1e-9)
        points += force * (np.minimum(size, 0.1 * (1 - step / rounds)) / size)[:, None]
    return points


def _pushed(points: Any, length: float) -> Any:
    """The forces that push each of `points` away from all others."""
    gap = points[:, None] - points[None]
    distance = np.maximum(np.hypot(gap[..., 0], gap[..., 1]), 0.01 * length)
    return (gap * (length**2 / distance**2)[..., None]).sum(axis=1)


def _pushed_by_cells(points: Any, length: float) -> Any:
    """The forces on many points, without all their pairs: the points of a cell push from their mean."""
    low, high = points.min(axis=0), points.max(axis=0)
    column, row = np.minimum((points - low) / np.maximum(high - low, 1e-9) * CELLS, CELLS - 1).astype(int).T
    cell = column * CELLS + row
    count = np.bincount(cell, minlength=CELLS**2)
    sums = [np.bincount(cell, weights=points[:, axis], minlength=CELLS**2) for axis in (0, 1)]
    x, y = (total[count > 0] / count[count > 0] for total in sums)
    weight = length**2 * count[count > 0]
    force = np.empty_like(points)
    # some at a time: a table of all points and cells would take more memory than the caches have
    for at in range(0, len(points), 1024):
        some = slice(at, at + 1024)
        right, up = points[some, :1] - x, points[some, 1:] - y
        size = weight / np.maximum(right**2 + up**2, (0.01 * length) ** 2)
        force[some, 0], force[some, 1] = (right * size).sum(axis=1), (up * size).sum(axis=1)
    return force


def _fit(points: Any, page: Page) -> float:
    """Scale the places to the page in both directions alike; the page's height."""
    low, high = points.min(axis=0), points.max(axis=0)
    wide, tall = high - low
    inner = page.width - 2 * page.margin
    scale = inner / wide if wide > 0 else math.inf
    if tall > 0:
        scale = min(scale, (page.height_max - 2 * page.margin - page.head - page.foot) / tall)
    if not math.isfinite(scale):
        scale = 1.0
    height = max(page.height_min, tall * scale + 2 * page.margin + page.head + page.foot)
    middle = np.array([page.width / 2, page.foot + (height - page.head - page.foot) / 2])
    points[:] = (points - (low + high) / 2) * scale + middle
    return float(height)


SAMPLE = 16
"""The length of a line of the key, in points."""


def _draw_links(axes: Any, points: Any, nodes: Rows, links: Rows, page: Page, style: Style) -> None:
    ends = _ends(nodes, links)
    rates = sorted({link["rate_bit_per_s"] for link in links}, key=lambda rate: rate or math.inf)
    colour = (
        dict(zip(rates, COLOURS_DARK if style.dark else COLOURS, strict=False)) if 1 < len(rates) <= RATES_SHOWN else {}
    )
    colours = [colour.get(link["rate_bit_per_s"], style.faint if style.dark else "#9aa4ad") for link in links]
    width = 1.0 if len(links) < 400 else 0.7
    axes.add_collection(LineCollection(points[ends], colors=colours, linewidths=width, zorder=1))
    at = page.width - page.margin / 2
    y = page.small * (FOOT_LINE + 1.5 * (page.lines - 1))
    for rate in reversed(rates if colour else []):
        words = rate_in_words(rate)
        axes.text(at, y, words, fontsize=page.small, color=colour[rate], ha="right", va="center")
        at -= text.width(words, page.small) + 4
        axes.plot([at - SAMPLE, at], [y, y], color=colour[rate], linewidth=1.4 * width)
        at -= SAMPLE + 14


def rate_in_words(rate: int | None) -> str:
    """A rate with the unit that people say: 9953280000 is 9.95 Gbit/s."""
    if rate is None:
        return "unlimited"
    for size, unit in ((10**12, "Tbit/s"), (10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s")):
        if rate >= size:
            return f"{rate / size:.3g} {unit}"
    return f"{rate} bit/s"


def _draw_labels(axes: Any, points: Any, nodes: Rows, links: Rows, marker: float, page: Page, style: Style) -> int:
    """Label nodes where there is room, the best linked first; how many found none."""
    height = float(axes.get_ylim()[1])
    font = page.labels[0] if len(nodes) < 100 else page.labels[1]
    ends = _ends(nodes, links)
    degree = np.bincount(ends.ravel(), minlength=len(nodes))
    half = marker / 2 + 0.6
    measure = get_font(findfont(FontProperties()))
    # in tenths of a point
    measure.set_size(font, 720)
    taken = _Taken(height, page)
    for x, y in points:
        taken.add((x - half, y - half, x + half, y + half))
    named = [(at, str(node["label"] or node["node"])) for at, node in enumerate(nodes)]
    left_out = 0
    for at, words in sorted(named, key=lambda pair: (-degree[pair[0]], pair[0])):
        # a dollar would begin a formula
        words = words.replace("$", r"\$")[:40]
        measure.set_text(words, 0)
        wide = float(measure.get_width_height()[0]) / 64 / 10 + 1.5
        tall = font * 1.05
        box = next((box for box in _around(points[at], half + 0.8, wide, tall) if taken.has_room(box)), None)
        if box is None:
            left_out += 1
            continue
        taken.add(box)
        behind = {"boxstyle": "square,pad=0.05", "fc": (*to_rgb(style.ground), 0.75), "ec": "none"}
        axes.text(box[0] + 0.75, (box[1] + box[3]) / 2, words, fontsize=font, va="center_baseline", ha="left",
                  parse_math=False, zorder=4, color=style.ink, bbox=behind)  # fmt: skip
    return left_out


def _around(point: Any, gap: float, wide: float, tall: float) -> list[Box]:
    """The places for a label beside a point, the best first: right, left, above, below, then the corners."""
    x, y = float(point[0]), float(point[1])
    corners = [
        (x + gap, y - tall / 2), (x - gap - wide, y - tall / 2),
        (x - wide / 2, y + gap), (x - wide / 2, y - gap - tall),
        (x + gap, y + gap / 2), (x + gap, y - gap / 2 - tall),
        (x - gap - wide, y + gap / 2), (x - gap - wide, y - gap / 2 - tall),
    ]  # fmt: skip
    return [(left, low, left + wide, low + tall) for left, low in corners]


class _Taken:
    """Boxes on the page that nothing else may touch."""

    CELL = 24.0

    def __init__(self, height: float, page: Page) -> None:
        self.height, self.page = height, page
        self.cells: dict[tuple[int, int], list[Box]] = {}

    def has_room(self, box: Box) -> bool:
        left, low, right, high = box
        if left < 4 or right > self.page.width - 4 or low < self.page.foot - 8 or high > self.height - self.page.head:
            return False
        return not any(
            left < other[2] and other[0] < right and low < other[3] and other[1] < high
            for cell in self._of(box)
            for other in self.cells.get(cell, ())
        )

    def add(self, box: Box) -> None:
        for cell in self._of(box):
            self.cells.setdefault(cell, []).append(box)

    def _of(self, box: Box) -> list[tuple[int, int]]:
        left, low, right, high = (math.floor(side / self.CELL) for side in box)
        return [(column, row) for column in range(left, right + 1) for row in range(low, high + 1)]
