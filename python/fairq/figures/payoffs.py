"""The figures of selfish users: payoffs as maps of shades, ways to an equilibrium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from fairq.figures import text
from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import GROUND, name_panel, sheet
from fairq.figures.style import PAGE, Style, contrast


@plotted()
def payoffs(
    title: str, panels: Mapping[str, Sequence[Sequence[float]]], names: Sequence[str], columns: int, *,
    style: Style = PAGE,
) -> Figure:  # fmt: skip
    """Matrices as maps of shades with numbers, `columns` in a row, which has one scale."""
    shown = dict(list(panels.items())[: style.panels_max])
    fits = columns if style.width > 300 else 1
    drawn = sheet(style, len(shown), title, columns=fits, panel_height=1.05 * style.panel_height,
                  caption="Lighter: more. Panels of one row of the table have one scale.")  # fmt: skip
    for number, (panel, (name, matrix)) in enumerate(zip(drawn.panels, shown.items(), strict=True)):
        first = number // columns * columns
        values = [value for each in list(panels.values())[first : first + columns] for line in each for value in line]
        low, high = min(values), max(values)
        # cividis looks alike with and without red and green
        panel.imshow(matrix, cmap="cividis", vmin=low, vmax=high, aspect="auto", gid=GROUND)
        name_panel(drawn, panel, name)
        panel.grid(visible=False)
        room = 0.9 * drawn.room / len(names)
        panel.set_xticks(range(len(names)), [text.cut(each, room, style.small) for each in names], fontsize=style.small)
        beside = [text.cut(each, 0.25 * style.width, style.small) if number % fits == 0 else "" for each in names]
        panel.set_yticks(range(len(names)), beside, fontsize=style.small)
        for i, line in enumerate(matrix):
            for j, value in enumerate(line):
                shade = to_hex(colormaps["cividis"]((value - low) / ((high - low) or 1)))
                ink = max(("#000000", "#ffffff"), key=lambda one: contrast(one, shade))
                panel.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=style.small, color=ink)
    return drawn.finish()


@plotted()
def ways(
    title: str, panels: Mapping[str, Sequence[Sequence[Sequence[float]]]], across: str, up: str, *, style: Style = PAGE
) -> Figure:
    """Ways in the plane of two users: a ring is a start, a filled mark an end."""
    columns = min(2 if style.height is None else 4, len(panels))
    side = style.width / columns - 6 * style.text
    drawn = sheet(style, len(panels), title, columns=columns, caption="Ring: start; filled mark: end.",
                  panel_height=min(side, 2.2 * style.panel_height))  # fmt: skip
    every = [point for found in panels.values() for way in found for point in way]
    low, high = min(map(min, every)), max(map(max, every))
    slack = 0.06 * (high - low or 1.0)
    for number, (panel, (name, found)) in enumerate(zip(drawn.panels, panels.items(), strict=True)):
        for turn, way in enumerate(found):
            look = style.look(turn)
            panel.plot(*zip(*way, strict=True), color=look.colour, linestyle=look.dash, linewidth=0.7 * style.line)
            panel.plot(*way[0], look.marker, color=look.colour, markerfacecolor=style.ground, markersize=style.marker)
            # ends that coincide are seen as marks of different sizes
            size = style.marker * (1.1 + 0.3 * (len(found) - turn))
            panel.plot(*way[-1], look.marker, color=look.colour, markersize=size, zorder=3)
        panel.set(xlim=(low - slack, high + slack), ylim=(low - slack, high + slack), aspect="equal")
        name_panel(drawn, panel, f"{name}\n{up}", across if number >= len(panels) - columns else "")
    return drawn.finish()
