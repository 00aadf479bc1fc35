"""A transport driven alone: its window, or its rate, after each round."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fairq.figures.means import sentences
from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import Key, from_zero, handle, left, name_panel, sheet
from fairq.figures.style import PAGE, Style


@plotted()
def scenes(played: Sequence[Mapping[str, Any]], title: str, *, style: Style = PAGE) -> Figure:
    """A panel for each scene: the window or the rate after each round, and packets sent in it.

    An upright line is a round with losses or, dotted, with marks.
    """
    shown = played[: style.panels_max]
    looks = [style.look(0), style.look(2), style.look(3)]
    sent = Line2D([], [], color=looks[1].colour, marker=".", linestyle="", markersize=0.8 * style.marker)
    lost = Line2D([], [], color=style.look(5).colour, linestyle="-", linewidth=0.8 * style.line)
    marked = Line2D([], [], color=style.look(1).colour, linestyle=":", linewidth=0.8 * style.line)
    rounds = [row for scene in shown for row in scene["rounds"]]
    has_window = [any(row["window_packets"] is not None for row in scene["rounds"]) for scene in shown]
    name = ", or ".join(["window"] * any(has_window) + ["rate in a round trip"] * (not all(has_window)))
    entries = [(handle(style, looks[0], marker=False), name), (sent, "sent")]
    if any(row.get("threshold_packets") is not None for row in rounds):
        entries.append((handle(style, looks[2], marker=False), "threshold"))
    entries += [(lost, "losses")] if any(row["lost"] for row in rounds) else []
    entries += [(marked, "marks")] if any(row["marked"] and not row["lost"] for row in rounds) else []
    said = sentences(left(len(played) - len(shown), "scene"))
    columns = None if style.width < 300 else min(2 if style.height is None else 3, len(shown))
    drawn = sheet(style, len(shown), title, keys=[Key(entries)], caption=said, columns=columns)
    for number, (panel, scene, windowed) in enumerate(zip(drawn.panels, shown, has_window, strict=True)):
        rows = scene["rounds"]
        numbers = [row["round"] for row in rows]
        if windowed:
            values = [math.nan if row["window_packets"] is None else row["window_packets"] for row in rows]
        else:
            least = min(row["rtt_s"] for row in rows)
            values = [row["pace_packets_per_s"] * least for row in rows]
        panel.plot(numbers, values, color=looks[0].colour, linewidth=style.line, zorder=3)
        panel.plot(numbers, [row["sent"] for row in rows], linestyle="", marker=".", color=looks[1].colour,
                   markersize=0.8 * style.marker, zorder=2)  # fmt: skip
        thresholds = [math.nan if row.get("threshold_packets") is None else row["threshold_packets"] for row in rows]
        if not all(map(math.isnan, thresholds)):
            panel.plot(numbers, thresholds, color=looks[2].colour, linestyle=looks[2].dash, linewidth=0.8 * style.line)
        for row in rows:
            if row["lost"] or row["marked"]:
                of = lost if row["lost"] else marked
                panel.axvline(
                    row["round"], color=of.get_color(), linestyle=of.get_linestyle(), linewidth=0.6 * style.line
                )
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        across = "round" if number >= len(shown) - drawn.columns else ""
        name_panel(
            drawn, panel, f"{scene['scene']} (packets)\n{scene['shows']}", across, 4 if style.height is None else 2
        )
        from_zero(panel, [*(value for value in values if not math.isnan(value)), *(row["sent"] for row in rows)])
    return drawn.finish()
