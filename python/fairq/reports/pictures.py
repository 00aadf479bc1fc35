"""Figures as parts of a page that is light or dark, wide or narrow, as its reader's screen is.

A figure is plotted for a screen of 1280 pixels and again for one of 390; the page shows the one
that fits. Its colours become those of the page's style sheet, so that one plot serves a light and a
dark ground. A map of shades, whose text has the colour that its shade needs, is plotted for both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fairq.figures.style import For, Style

Plot = Callable[["Style"], "Figure"]
"""Plots a figure in a style."""

Elements = Sequence[tuple[str, str]]
"""The plots of a figure: the class that says where each is shown, and the element."""

COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
NAMED = re.compile(r' id="([^"]+)"')
LINKED = re.compile(r'(url\(#|href="#)([^")]+)')
PLACES = re.compile(r' (?:d|x|y)="[^"]*"')
DIGITS = re.compile(r"(\d+\.\d{2})\d+")
UNSEEN = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
INDENT = re.compile(r"\n\s+")


def variables() -> dict[str, tuple[str, str]]:
    """The colours of figures: the name in the style sheet, on a light and on a dark ground."""
    from fairq.figures import style
    from fairq.figures.means import tint
    from fairq.figures.style import COLOURS, COLOURS_DARK

    light, dark = style("page"), style("page", dark=True)
    known: dict[str, tuple[str, str]] = {}
    for number, (one, other) in enumerate(zip(COLOURS, COLOURS_DARK, strict=True)):
        known[f"c{number}"] = (one, other)
        known[f"t{number}"] = (tint(one, light), tint(other, dark))
    for name in ("ground", "ink", "faint", "grid"):
        known[name] = (getattr(light, name), getattr(dark, name))
    for verdict in ("agrees", "differs"):
        known[verdict] = (light.verdicts[verdict], dark.verdicts[verdict])
    return known


def plotted(plot: Plot, name: str, says: str) -> Elements:
    """The plots of a figure: `name` begins the names inside them, `says` is their text."""
    from fairq.figures import style

    elements = []
    sizes: Sequence[tuple[For, str]] = (("page", "wide"), ("paper", "narrow"))
    for size, kind in sizes:
        figure = plot(style(size))
        if any(panel.images for panel in figure.axes):
            dark = plot(style(size, dark=True))
            elements.append((f"{kind} light", _element(figure, f"{name}{kind[0]}l", says)))
            elements.append((f"{kind} dark", _element(dark, f"{name}{kind[0]}d", says)))
        else:
            elements.append((kind, _themed(_element(figure, f"{name}{kind[0]}", says))))
    return elements


def shown(elements: Elements, *, narrow: bool) -> str:
    """The figure as a part of the page; without `narrow` a small screen shows the wide plot."""
    if narrow:
        return "".join(f'<div class="plot {kind}">{element}</div>' for kind, element in elements)
    # on a small screen it is wider than that, and scrolls: also by keyboard
    return "".join(
        f'<div class="plot {kind.replace("wide", "always")}" tabindex="0">{element}</div>'
        for kind, element in elements
        if "narrow" not in kind
    )


def _element(figure: Figure, name: str, says: str) -> str:
    """The figure as an element whose names no other figure has."""
    from fairq.figures import svg

    element = INDENT.sub("\n", UNSEEN.sub("", svg(figure, says)))
    used = {found[2] for found in LINKED.finditer(element)}
    element = NAMED.sub(lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", element)
    element = LINKED.sub(lambda found: f"{found[1]}{name}-{found[2]}", element)
    # in a place less than a hundredth of a point cannot be seen; the scale of a letter has more
    # digits
    return PLACES.sub(lambda found: DIGITS.sub(r"\1", found[0]), element)


def _themed(element: str) -> str:
    """The element in the colours of the page."""
    of = {light.lower(): f"var(--{variable})" for variable, (light, _) in variables().items()}
    return COLOUR.sub(lambda found: of.get(found[0].lower(), found[0]), element)
