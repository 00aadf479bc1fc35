"""Figures as files and as text; the same figure gives the same bytes."""

from __future__ import annotations

import re
from html import escape
from io import BytesIO
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from fairq.figures.settings import own


def save(figure: Figure, stem: Path) -> None:
    """Write the figure as `stem`.svg and `stem`.png; the same figure gives the same bytes."""
    for suffix in (".svg", ".png"):
        save_as(figure, stem.with_name(stem.name + suffix))


def save_as(figure: Figure, path: Path) -> None:
    """Write the figure to one file, in the format of its name; the same bytes every time."""
    # written here, for matplotlib turns a full disk into errors of its own
    path.write_bytes(drawn(figure, path.suffix[1:].lower()))


def drawn(figure: Figure, form: str) -> bytes:
    """The figure as `svg`, `png` or `pdf`."""
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    into = BytesIO()
    # publishers refuse the Type 3 fonts that matplotlib would embed
    with own(), matplotlib.rc_context({"svg.hashsalt": "fairq", "pdf.fonttype": 42}):
        figure.savefig(into, format=form, dpi=figure.dpi, metadata=dates.get(form), facecolor=figure.get_facecolor())
    return into.getvalue()


def svg(figure: Figure, says: str) -> str:
    """The figure as an element of a page, which says to a reader without sight what it shows."""
    whole = drawn(figure, "svg").decode()
    element = whole[whole.index("<svg") :].rstrip()
    head, rest = element.split(">", 1)
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    wide = figure.get_figwidth() * 96
    return f'{head} role="img" aria-label="{escape(says)}" style="max-width: 100%; width: {wide:.0f}px">{rest}'
