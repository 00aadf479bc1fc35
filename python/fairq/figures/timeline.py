"""Packets by flow over time, what the line sends beneath, and the fluid of the same arrivals.

A flow has a lane: a thin line while a packet waits, a thick one while it is sent.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fairq.figures import axis_units, text
from fairq.figures.means import sentences
from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import Key, Sheet, from_zero, left, name_panel, panels_height, sheet
from fairq.figures.style import PAGE, Look, Style

Row = Mapping[str, Any]
Rows = Sequence[Row]

ROWS_MAX = 16
"""The most packets of a flow that have a row each in its lane; more lie closer."""

NUMBERS = ("start", "finish")
"""The columns of the numbers by which fair queueing orders packets."""

NUMBERED = 0.5
"""The part of the packets whose numbers must have room, or none are written."""

STRIP, SLANT = 1.4, 1.1
"""In heights of letters: what the line sends, and the way from a packet's end to the fluid."""

OVER, BELOW = 2.2, 1.4
"""In heights of letters: the room over each panel, and what the last one has below it besides."""

BAR_MIN = 4
"""The width of a bar, in those of a line, from which on gaps and hatches leave enough of it."""

DASH = (0, (4, 2))
"""The line of the fluid."""


class Fit(NamedTuple):
    """How close everything lies, in heights of letters; of the service in usual panels."""

    wait: float
    """A packet that waits."""
    bar: float
    """A packet that is sent, in its lane."""
    gap: float
    """Between lanes."""
    rows_min: int
    """A lane is at least as high as with this number of packets that wait."""
    service: float


PLAIN = Fit(0.45, 0.9, 0.7, 2, 0.8)
"""Without numbers."""

NUMBERED_FITS = (Fit(1.3, 0.9, 0.7, 2, 0.8), Fit(1.25, 0.7, 0.4, 1, 0.5))
"""With numbers: the first for which there is room."""


class Time(NamedTuple):
    """What is shown of the time, in seconds, and how many points a second takes."""

    low: float
    high: float
    points: float

    def name(self, panel: Any) -> str:
        """What stands below a panel, whose axis then is in the unit that is named."""
        size, unit = axis_units.step("s", [self.high])
        panel.xaxis.set_major_formatter(lambda value, _: axis_units.tick(value / size))
        return f"time ({unit})"

    def part(self, row: Row) -> tuple[float, float]:
        """When a packet came and went, as far as that is shown."""
        return max(row["arrived_s"], self.low), min(_end(row, self.high), self.high)


@dataclass
class Lane:
    """The packets of a flow and the rows on which they wait, from 0 up."""

    flow: str
    look: Look
    packets: list[Row]
    rows: list[int]
    count: int
    rows_min: int = 2
    bottom: float = 0.0
    bar: float = 0.0
    top: float = 0.0

    def height(self, row: int) -> float:
        """Where a packet on that row waits."""
        first = self.bottom + self.bar
        return first + (row + 0.4) * (self.top - first) / max(self.count, self.rows_min)


@plotted(needs=("flow", "arrived_s", "packet_bytes"))
def timeline(
    rows: Rows, title: str, *, fluid: Rows = (), span: tuple[float, float] | None = None, names: Sequence[str] = (),
    outlined: Collection[int] = (), caption: str = "", style: Style = PAGE,
) -> Figure:  # fmt: skip
    """Packets of one line: a lane for each flow, what the line sends, and what each flow has got.

    `rows` and `fluid` are the tables of `LiveRun.timeline`. Without `fluid` there is no panel of
    service: a line leads from the end of each packet to when it left the fluid, if the rows have
    `fluid_s`. `span` are the first and the last second, `names` flows in the order of their lanes,
    `outlined` packets by their `serial`. Start and finish numbers are written where they fit.
    """
    low, high = span or _span(rows)
    lanes = _lanes(rows, (low, high), names, style)
    of_shown = {lane.flow for lane in lanes}
    served = [row for row in fluid if row["flow"] in of_shown]
    lead = min(max(text.width(text.plain(lane.flow), style.small) for lane in lanes), 0.22 * style.width)
    time = Time(low, high, (style.width - lead - 4 * style.text) / (high - low))
    left_out = left(len({row["flow"] for row in rows}) - len(lanes), "flow")
    of_packets = [name for name in NUMBERS if any(row.get(name) is not None for row in rows)]
    said = sentences(f"numbers: {' and '.join(of_packets)} number of a packet", left_out, caption)
    slant = SLANT * style.small if not served and any(row.get("fluid_s") is not None for row in rows) else 0.0
    inside = [row for row in rows if low <= _end(row, low) <= high]
    keys = [Key(_entries(inside, style, has_service=bool(served), has_slants=bool(slant)))]
    panels = 3 if served else 2
    room = panels_height(style, title, keys, said) - (panels * OVER + BELOW) * style.text - slant * len(lanes)
    fit = _numbered_fit(lanes, time, room - STRIP * style.small, style, has_service=bool(served))
    has_numbers = fit is not None
    fit = fit or PLAIN
    height = _place(lanes, fit, slant, style)
    heights = [height, STRIP * style.small, fit.service * style.panel_height][:panels]
    drawn = sheet(
        style, len(heights), title, keys=keys, caption=said if has_numbers else sentences(left_out, caption),
        columns=1, panel_height=sum(heights) / len(heights), ratios=heights, sharex=True,
    )  # fmt: skip
    _draw_lanes(drawn, lanes, height, time, lead)
    if slant:
        _draw_slants(drawn.panels[0], lanes, slant, style)
    _draw_outlines(drawn.panels[0], lanes, outlined, time, style)
    if has_numbers:
        _draw_numbers(drawn.panels[0], lanes, time, style)
    _draw_line(drawn, lanes, time, is_last=not served)
    if served:
        _draw_service(drawn, lanes, served, time)
    return drawn.finish()


def _span(rows: Rows) -> tuple[float, float]:
    """From the first arrival to the last end of a transmission."""
    first = min(row["arrived_s"] for row in rows)
    last = max(_end(row, row["arrived_s"]) for row in rows)
    return first, last if last > first else first + 1e-3


def _end(row: Row, horizon: float) -> float:
    """When a packet left the line, or until when it is plotted."""
    ends = (row.get("sent_s"), row.get("dropped_s"), row.get("removed_s"))
    return next((end for end in ends if end is not None), horizon)


def _is_dropped(row: Row) -> bool:
    return row.get("dropped_s") is not None


def _lanes(rows: Rows, span: tuple[float, float], names: Sequence[str], style: Style) -> list[Lane]:
    """The flows with most packets, in the order of `names`, and rows for their packets."""
    by_flow: dict[str, list[Row]] = {name: [] for name in names}
    for row in sorted(rows, key=lambda row: float(row["arrived_s"])):
        by_flow.setdefault(row["flow"], []).append(row)
    busy = sorted((flow for flow in by_flow if by_flow[flow]), key=lambda flow: -len(by_flow[flow]))
    shown = [flow for flow in by_flow if flow in busy[: style.lines_max]]
    lanes = []
    for number, flow in enumerate(shown):
        packets = by_flow[flow]
        places = _places([(row["arrived_s"], _end(row, span[1])) for row in packets])
        lanes.append(Lane(flow, style.look(number), packets, places, max(places) + 1))
    return lanes


def _places(spans: Sequence[tuple[float, float]]) -> list[int]:
    """For each span, in the order of their beginnings, the lowest row that is free."""
    free: list[int] = []
    taken: list[tuple[float, int]] = []
    places = []
    for start, end in spans:
        while taken and taken[0][0] <= start:
            heapq.heappush(free, heapq.heappop(taken)[1])
        row = heapq.heappop(free) if free else len(taken)
        heapq.heappush(taken, (end, row))
        places.append(row)
    return places


def _numbers(row: Row) -> str:
    """The start and the finish number of a packet; "" if it has none."""
    return " – ".join(axis_units.brief(row[name]) for name in NUMBERS if row.get(name) is not None)


def _fits(row: Row, time: Time, style: Style) -> bool:
    """Whether the numbers of a packet have room above the line that it is."""
    start, end = time.part(row)
    return text.width(_numbers(row), style.small) <= (end - start) * time.points


def _numbered_fit(
    lanes: Sequence[Lane], time: Time, room: float, style: Style, *, has_service: bool
) -> Fit | None:  # fmt: skip
    """How numbers have room: those of most packets that are seen across, and all lanes upwards."""
    shown = [row for lane in lanes for row in lane.packets if time.part(row)[0] < time.part(row)[1]]
    numbered = [row for row in shown if _numbers(row)]
    fit = sum(_fits(row, time, style) for row in numbered)
    if not numbered or fit < NUMBERED * len(numbered) or any(lane.count > ROWS_MAX for lane in lanes):
        return None
    for each in NUMBERED_FITS:
        high = each.gap + sum(each.wait * max(lane.count, each.rows_min) + each.bar + each.gap for lane in lanes)
        if high * style.small + (each.service * style.panel_height if has_service else 0.0) <= room:
            return each
    return None


def _place(lanes: Sequence[Lane], fit: Fit, slant: float, style: Style) -> float:
    """Place the lanes, the first on top; gives the height of all."""
    bottom = fit.gap * style.small
    for lane in reversed(lanes):
        lane.rows_min = fit.rows_min
        lane.bottom, lane.bar = bottom + slant, fit.bar * style.small
        lane.top = lane.bottom + lane.bar + fit.wait * style.small * min(max(lane.count, fit.rows_min), ROWS_MAX)
        bottom = lane.top + fit.gap * style.small
    return bottom


def _draw_lanes(drawn: Sheet, lanes: Sequence[Lane], height: float, time: Time, lead: float) -> None:
    panel, style = drawn.panels[0], drawn.style
    for lane in lanes:
        waits, turns = [], []
        for row, place in zip(lane.packets, lane.rows, strict=True):
            y, began = lane.height(place), row.get("began_s")
            waits.append([(row["arrived_s"], y), (_end(row, time.high) if began is None else began, y)])
            if began is not None:
                turns.append([(began, y), (began, lane.bottom + lane.bar)])
        for lines, width, name in ((waits, 0.7, "waits"), (turns, 0.3, "turns")):
            drawn_lines = LineCollection(lines, colors=lane.look.colour, linewidths=width * style.line, zorder=2)
            drawn_lines.set_gid(f"{name} of {lane.flow}")
            panel.add_collection(drawn_lines, autolim=False)
        _draw_sent(panel, lane, (lane.bottom, lane.bar), time, style, "sent")
        _draw_fates(panel, lane, time, style)
    panel.set_ylim(0, height)
    panel.set_xlim(time.low, time.high)
    panel.set_yticks([(lane.bottom + lane.top) / 2 for lane in lanes],
                     [text.cut(lane.flow, lead, style.small) for lane in lanes])  # fmt: skip
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    name_panel(drawn, panel, "packets of each flow")


def _draw_sent(
    panel: Any, lane: Lane, place: tuple[float, float], time: Time, style: Style, name: str
) -> None:  # fmt: skip
    """A bar for each packet that is sent; those that are wide have a gap between and a hatch."""
    sent = [(row["began_s"], _end(row, time.high)) for row in lane.packets if row.get("began_s") is not None]
    for is_wide, kind in ((False, "short "), (True, "")):
        bars = [(start, end - start) for start, end in sent
                if ((end - start) * time.points > BAR_MIN * style.line) is is_wide]  # fmt: skip
        if bars:
            looks: dict[str, Any] = {"edgecolor": lane.look.colour, "linewidth": 0.1 * style.line}
            if is_wide:
                looks = {"edgecolor": style.ground, "linewidth": 0.4 * style.line, "hatch": lane.look.hatch}
            panel.broken_barh(
                bars, place, facecolor=lane.look.colour, zorder=3, gid=f"{kind}{name} of {lane.flow}", **looks
            )


def _draw_slants(panel: Any, lanes: Sequence[Lane], slant: float, style: Style) -> None:
    """From the end of each packet to when it left the fluid: to the left if it was late."""
    for lane in lanes:
        both = [(row["sent_s"], row["fluid_s"]) for row in lane.packets
                if row.get("sent_s") is not None and row.get("fluid_s") is not None]  # fmt: skip
        lines = [[(sent, lane.bottom), (fluid, lane.bottom - slant)] for sent, fluid in both]
        slants = LineCollection(lines, colors=lane.look.colour, linewidths=0.5 * style.line, zorder=2)
        slants.set_gid(f"slants of {lane.flow}")
        panel.add_collection(slants, autolim=False)
        looks = _departure(style, lane.look.colour)
        ends = [fluid for _, fluid in both]
        panel.plot(ends, [lane.bottom - slant] * len(ends), **looks, zorder=3, gid=f"fluid of {lane.flow}")


def _departure(style: Style, colour: str) -> dict[str, Any]:
    """How the end of a packet in the fluid is plotted."""
    return {"marker": ".", "linestyle": "", "color": colour, "markersize": 0.9 * style.marker}


def _draw_outlines(panel: Any, lanes: Sequence[Lane], outlined: Collection[int], time: Time, style: Style) -> None:
    for lane in lanes:
        for row in lane.packets:
            if row.get("serial") in outlined and row.get("began_s") is not None:
                start = row["began_s"]
                panel.broken_barh(
                    [(start, _end(row, time.high) - start)], (lane.bottom, lane.bar), facecolor="none",
                    edgecolor=style.ink, linewidth=1.6 * style.line, zorder=4, gid="outlined",
                )  # fmt: skip


def _draw_fates(panel: Any, lane: Lane, time: Time, style: Style) -> None:
    """A cross where a packet was dropped, a triangle where one that is marked leaves its queue."""
    placed = list(zip(lane.packets, lane.rows, strict=True))
    dropped = [(_end(row, time.high), lane.height(place)) for row, place in placed if _is_dropped(row)]
    marked = [(row["began_s"], lane.height(place)) for row, place in placed
              if row.get("marked") and row.get("began_s") is not None]  # fmt: skip
    for points, name in ((dropped, "dropped"), (marked, "marked")):
        if points:
            panel.plot(*zip(*points, strict=True), **_fate(name, style), zorder=6, gid=f"{name} of {lane.flow}")


def _fate(name: str, style: Style) -> dict[str, Any]:
    """How a packet is plotted that was dropped or marked."""
    return {"marker": "x" if name == "dropped" else "^", "linestyle": "", "color": style.ink,
            "markersize": style.marker, "markerfacecolor": style.ground}  # fmt: skip


def _draw_numbers(panel: Any, lanes: Sequence[Lane], time: Time, style: Style) -> None:
    for lane in lanes:
        for row, place in zip(lane.packets, lane.rows, strict=True):
            if _numbers(row) and _fits(row, time, style):
                panel.text(
                    time.part(row)[0] + 0.1 * style.small / time.points, lane.height(place) + 0.15 * style.small,
                    _numbers(row), fontsize=style.small, color=style.ink, va="bottom", ha="left", zorder=5,
                    bbox={"facecolor": style.ground, "linewidth": 0, "pad": 0},
                )  # fmt: skip


def _draw_line(drawn: Sheet, lanes: Sequence[Lane], time: Time, *, is_last: bool) -> None:
    """What the line sends, in the looks of the flows."""
    panel = drawn.panels[1]
    for lane in lanes:
        _draw_sent(panel, lane, (0.0, 1.0), time, drawn.style, "line")
    panel.set_ylim(0, 1)
    panel.set_yticks([])
    panel.grid(visible=False)
    name_panel(drawn, panel, "what the line sends", time.name(panel) if is_last else "")


def _draw_service(drawn: Sheet, lanes: Sequence[Lane], fluid: Rows, time: Time) -> None:
    """What each flow has got since the beginning: by packets, and from the fluid."""
    panel, style = drawn.panels[2], drawn.style
    by_flow = {flow: list(rows) for flow, rows in groupby(sorted(fluid, key=_in_order), lambda row: row["flow"])}
    seen: list[float] = []
    curves = []
    for lane in lanes:
        ideal = by_flow.get(lane.flow, [])
        times = [row["time_s"] for row in ideal]
        got = [row["served_bytes"] for row in ideal]
        by_packets = _service(lane.packets, times, got, time)
        curves += [
            (lane, "service", "-", style.line, by_packets),
            (lane, "fluid", DASH, 0.8 * style.line, (times, got)),
        ]
        seen += [*_inside(*by_packets, time), *_inside(times, got, time)]
    low, high = min(seen, default=0.0), max(seen, default=0.0)
    size, short = axis_units.step("bytes", [high - low])
    for lane, name, dash, width, (x, y) in curves:
        panel.plot(x, np.array(y) / size, color=lane.look.colour, linestyle=dash, linewidth=width, zorder=3,
                   gid=f"{name} of {lane.flow}")  # fmt: skip
    if high > low:
        margin = 0.05 * (high - low)
        panel.set_ylim((low - margin) / size, (high + margin) / size)
    if low <= 0.1 * high:
        from_zero(panel, [value / size for value in seen])
    name_panel(drawn, panel, f"service of each flow ({short})", time.name(panel))


def _inside(x: Sequence[float], y: Sequence[float], time: Time) -> list[float]:
    """The values of a curve in what is shown of the time, and at its ends."""
    if not len(x):
        return []
    ends = np.interp([max(time.low, x[0]), min(time.high, x[-1])], x, y)
    return [*map(float, ends), *(value for at, value in zip(x, y, strict=True) if time.low <= at <= time.high)]


def _in_order(row: Row) -> tuple[str, float]:
    return row["flow"], row["time_s"]


def _service(
    packets: Rows, times: Sequence[float], got: Sequence[float], time: Time
) -> tuple[list[float], list[float]]:  # fmt: skip
    """What a flow has got by packets, at the ends of each transmission.

    The fluid has served as much when a packet leaves it as the line when that packet is sent: this
    says how much was served before the first one.
    """
    sent = sorted((row for row in packets if row.get("sent_s") is not None), key=lambda row: float(row["sent_s"]))
    if not sent:
        return [], []
    totals = list(accumulate(row["packet_bytes"] for row in sent))
    ends = ((row.get("fluid_s"), total) for row, total in zip(sent, totals, strict=True))
    both = [(at, total) for at, total in ends if at is not None and times and times[0] <= at <= times[-1]]
    before = float(np.interp(both[0][0], times, got)) - both[0][1] if both else 0.0
    x, y = [], []
    for row, total in zip(sent, totals, strict=True):
        x += [row["began_s"], row["sent_s"]]
        y += [before + total - row["packet_bytes"], before + total]
    # nothing of it is sent before the first packet, nor between the last and one that is under way
    under_way = (row["began_s"] for row in packets if row.get("sent_s") is None and row.get("began_s") is not None)
    return [min(time.low, x[0]), *x, max(next(under_way, time.high), x[-1])], [y[0], *y, y[-1]]


def _entries(rows: Rows, style: Style, *, has_service: bool, has_slants: bool) -> list[tuple[Any, str]]:
    """What lines and marks mean, of those that there are."""
    ink: dict[str, Any] = {"color": style.ink, "linewidth": 0.7 * style.line}
    entries: list[tuple[Any, str]] = [
        (Line2D([], [], **ink), "waits"),
        (Patch(facecolor=style.ink, edgecolor=style.ground, linewidth=0), "is sent"),
    ]
    known = {"dropped": any(map(_is_dropped, rows)), "marked": any(row.get("marked") for row in rows)}
    entries += [(Line2D([], [], **_fate(name, style)), name) for name, is_there in known.items() if is_there]
    if has_slants:
        entries.append((Line2D([], [], **_departure(style, style.ink)), "leaves the fluid"))
    if has_service:
        solid, dashed = ink | {"linewidth": style.line}, ink | {"linestyle": DASH}
        entries.append((Line2D([], [], **solid), "service by packets"))
        entries.append((Line2D([], [], **dashed), "service by the fluid"))
    return entries
