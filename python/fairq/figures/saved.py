"""Figures as files and as text; the same figure gives the same bytes."""

from __future__ import annotations

import re
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from fairq.figures.plot_settings import own

PATH = re.compile(rb' d="[^"]*"')
LONG = re.compile(rb"-?\d+\.\d{3,}")
"""The paths of an SVG, and a number in one with more digits than an eye sees."""

SVG: WeakKeyDictionary[Figure, bytes] = WeakKeyDictionary()
"""The SVG of figures that are in use: a page shows what is also a file."""


def save(figure: Figure, stem: Path) -> None:
    """Write the figure as `stem`.svg and `stem`.png; the same figure gives the same bytes."""
    for suffix in (".svg", ".png"):
        save_as(figure, stem.with_name(stem.name + suffix))


def save_as(figure: Figure, path: Path) -> None:
    """Write the figure to one file, in the format of its name; the same bytes every time."""
    # written here, for matplotlib turns a full disk into errors of its own
    path.write_bytes(drawn(figure, path.suffix[1:].lower()))


def drawn(figure: Figure, form: str) -> bytes:
    """The figure, whose layout is fixed, as `svg`, `png` or `pdf`; its SVG is made once."""
    if form != "svg":
        return _made(figure, form)
    if figure not in SVG:
        SVG[figure] = _made(figure, form)
    return SVG[figure]


def _made(figure: Figure, form: str) -> bytes:
    """The figure by the canvas of the form: `savefig` would plot it twice, once to lay it out."""
    # matplotlib does not give the types of these methods
    canvases: dict[str, Any] = {"svg": FigureCanvasSVG, "pdf": FigureCanvasPdf, "png": FigureCanvasAgg}
    more = {"svg": {"metadata": {"Date": None}}, "pdf": {"metadata": {"CreationDate": None}}, "png": {}}
    into, canvas, dpi = BytesIO(), figure.canvas, figure.dpi
    # publishers refuse the Type 3 fonts that matplotlib would embed
    with own(), matplotlib.rc_context({"svg.hashsalt": "fairq", "pdf.fonttype": 42}):
        getattr(canvases[form](figure), f"print_{form}")(into, **more[form])
    # the canvas of SVG takes 72 dots per inch
    figure.set_canvas(canvas)
    figure.dpi = dpi
    return _shorter(into.getvalue()) if form == "svg" else into.getvalue()


def _shorter(made: bytes) -> bytes:
    """The SVG with paths in hundredths of a point: matplotlib writes millionths."""
    return PATH.sub(lambda path: LONG.sub(lambda number: b"%.2f" % float(number[0]), path[0]), made)


def svg(figure: Figure, says: str) -> str:
    """The figure as an element of a page, which says to a reader without sight what it shows."""
    whole = drawn(figure, "svg").decode()
    element = whole[whole.index("<svg") :].rstrip()
    head, rest = element.split(">", 1)
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    wide = figure.get_figwidth() * 96
    return f'{head} role="img" aria-label="{escape(says)}" style="max-width: 100%; width: {wide:.0f}px">{rest}'
