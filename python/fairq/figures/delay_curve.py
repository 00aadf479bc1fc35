"""The delay curve of Demers, Keshav and Shenker 1990: simulated points over analytic curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import Key, handle, name_panel, sheet
from fairq.figures.style import PAGE, Style
from fairq.theories import fq_delay

Rows = Sequence[Mapping[str, Any]]

LOOKS = {"FCFS": 2, "FQ delta=0": 0, "FQ delta=P": 1}
"""The number of the look of each policy."""


def deltas(delta: float) -> dict[str, float]:
    """The FQ curves of a figure: δ = 0 and one other, in packets."""
    return {"FQ delta=0": 0.0} | ({f"FQ delta={delta:g} P": delta} if delta else {})


@plotted()
def delay_curve(paper: Any, rows: Rows, *, style: Style = PAGE) -> Figure:
    """Queueing delay against the share of the fair share: simulated points over curves.

    `paper` gives FTPS, WINDOW and DELTAS; `rows` are the lines of figure 1, possibly none.
    """
    whole = paper.FTPS + 0.8
    curves: list[tuple[Any, str]] = [(_line(style, 2, "-"), "FCFS")]
    for number, name in enumerate(paper.DELTAS):
        label = name.replace("delta", "δ")
        curves += [
            (_line(style, number, "-"), f"{label}, with the factor N+1"),
            (_line(style, number, ":"), f"{label}, as printed"),
        ]
    known = [policy for policy in LOOKS if any(r["policy"] == policy and r["measured"] is not None for r in rows)]
    points = [(handle(style, style.look(LOOKS[p]), line=False), f"{p.replace('delta', 'δ')}, simulated") for p in known]
    title = f"{paper.FTPS} FTPs with a window of {paper.WINDOW} beside one Poisson source"
    columns = 1 if style.width < 300 else 2
    drawn = sheet(
        style, 2, title, keys=[Key([*curves, *points])], columns=columns, panel_height=1.6 * style.panel_height
    )
    ends = [(whole, 4 * paper.FTPS * paper.WINDOW, "up to the whole line"),
            (0.95, 4 * paper.FTPS, "fair queueing below its fair share")]  # fmt: skip
    for panel, (right, top, name) in zip(drawn.panels, ends, strict=True):
        _draw_curves(panel, paper, right, style)
        for policy in known:
            _draw_points(panel, rows, policy, style)
        panel.set(xlim=(0, right), ylim=(0, top))
        name_panel(
            drawn, panel, f"{name}\nqueueing delay (packet times)", "throughput of the Poisson source / its fair share"
        )
    return drawn.finish()


def _line(style: Style, number: int, dash: str) -> Line2D:
    sample: dict[str, Any] = {"color": style.look(number).colour, "linestyle": dash, "linewidth": style.line}
    return Line2D([], [], **sample)


def _draw_curves(panel: Any, paper: Any, upto: float, style: Style) -> None:
    share = [0.002 * upto * step for step in range(1, 500)]
    grey = style.look(2).colour
    panel.plot(
        share, [fq_delay.fcfs_delay(paper.FTPS, paper.WINDOW, rho) for rho in share], color=grey, linewidth=style.line
    )
    below = [rho for rho in share if rho < 0.995]
    for number, delta in enumerate(paper.DELTAS.values()):
        colour = style.look(number).colour
        mended = [fq_delay.poisson_delay(paper.FTPS, rho, delta) for rho in below]
        printed = [fq_delay.poisson_delay(paper.FTPS, rho, delta, as_printed=True) for rho in below]
        panel.plot(below, mended, color=colour, linewidth=style.line)
        panel.plot(below, printed, color=colour, linestyle=":", linewidth=style.line)


def _draw_points(panel: Any, rows: Rows, policy: str, style: Style) -> None:
    look = style.look(LOOKS[policy])
    points = {row["source"]: row for row in rows if row["policy"] == policy and row["measured"] is not None}
    x = [float(source.removeprefix("rho ")) for source in points]
    mean = [row["measured"] for row in points.values()]
    spread = [
        [row["measured"] - row["low"] for row in points.values()],
        [row["high"] - row["measured"] for row in points.values()],
    ]
    panel.errorbar(
        x, mean, spread, fmt=look.marker, color=look.colour, markersize=style.marker, capsize=0.5 * style.marker,
        linewidth=0.8 * style.line, zorder=3,
    )  # fmt: skip
