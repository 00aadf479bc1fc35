"""Figures as files and as text; the same figure gives the same bytes."""

from __future__ import annotations

import re
from html import escape
from io import BytesIO
from pathlib import Path
from weakref import WeakKeyDictionary

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from fairq.figures.settings import own


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
    """The figure, whose layout is fixed, as `svg`, `png` or `pdf`; its SVG is drawn once."""
    if form != "svg":
        return _drawn(figure, form)
    if figure not in SVG:
        SVG[figure] = _drawn(figure, form)
    return SVG[figure]


def _drawn(figure: Figure, form: str) -> bytes:
    """The figure by the canvas of the form: `savefig` would draw it twice, once to lay it out."""
    into, canvas, dpi = BytesIO(), figure.canvas, figure.dpi
    # publishers refuse the Type 3 fonts that matplotlib would embed
    with own(), matplotlib.rc_context({"svg.hashsalt": "fairq", "pdf.fonttype": 42}):
        if form == "svg":
            FigureCanvasSVG(figure).print_svg(into, metadata={"Date": None})
        elif form == "pdf":
            FigureCanvasPdf(figure).print_pdf(into, metadata={"CreationDate": None})
        else:
            FigureCanvasAgg(figure).print_png(into)
    # the canvas of SVG takes 72 dots per inch
    figure.set_canvas(canvas)
    figure.dpi = dpi
    return into.getvalue()


def svg(figure: Figure, says: str) -> str:
    """The figure as an element of a page, which says to a reader without sight what it shows."""
    whole = drawn(figure, "svg").decode()
    element = whole[whole.index("<svg") :].rstrip()
    head, rest = element.split(">", 1)
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    wide = figure.get_figwidth() * 96
    return f'{head} role="img" aria-label="{escape(says)}" style="max-width: 100%; width: {wide:.0f}px">{rest}'
