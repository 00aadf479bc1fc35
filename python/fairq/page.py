"""A report as one HTML page that needs no other file: tables coloured by verdict, figures inside."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairq import tables

if TYPE_CHECKING:
    from fairq.reproduction import Section

STYLE = """
body { font: 15px/1.45 sans-serif; color: #222; max-width: 72em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.25em; margin-top: 2.5em; } h3 { font-size: 1em; margin-top: 2em; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: 0.15em 0.7em; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number { text-align: right; white-space: nowrap; }
td.differs { background: #fbe0cc; } td.undecided, td.unreadable { background: #eee; }
img { max-width: 100%; }
"""

SIGNS = {"=": "agrees", "#": "differs", "~": "undecided", "?": "unreadable"}
"""The signs at the end of a cell, and the classes of its style; the sign says it without the colour."""


def page(chapters: Sequence[str]) -> str:
    """The page around its chapters."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Papers reproduced</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>Papers reproduced</h1>\n{''.join(chapters)}</body>\n</html>\n"
    )


def chapter(heading: str, legend: str, sections: Sequence[Section], figures: Mapping[str, Path], totals: str) -> str:
    """One paper: its heading, totals, then each table with the figures of the same item below.

    A figure belongs to the item whose name, without spaces, its own is or begins with; the others come at the end.
    """
    title, _, said = heading.partition("\n")
    counts = escape(totals).replace("\n", "<br>")
    parts = [f"<h2>{escape(title)}</h2>\n<p>{escape(said)} {escape(legend)}</p>\n<p>{counts}</p>\n"]
    left = dict(figures)
    for section in sections:
        parts.append(f"<h3>{escape(section.title)}</h3>\n")
        own = [name for name in left if section.item and is_of(name, section.item)]
        parts += [image(name, left.pop(name)) for name in own]
        if section.rows:
            parts.append(table(section.rows, section.columns))
    return "".join([*parts, *(image(name, path) for name, path in left.items())])


def is_of(figure: str, item: str) -> bool:
    """Whether a figure's name is an item's, or that with a letter or word behind."""
    return re.fullmatch(re.escape(item.replace(" ", "")) + r"(\D.*)?", figure) is not None


def image(name: str, svg: Path) -> str:
    """A figure inside the page."""
    inside = base64.b64encode(svg.read_bytes()).decode("ascii")
    return f'<p><img alt="{escape(name)}" src="data:image/svg+xml;base64,{inside}"></p>\n'


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A table; a cell that ends in a verdict's sign, or is a verdict, has its colour."""
    heads = "".join(f"<th>{escape(tables.heading(name))}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in columns)}</tr>\n" for row in rows)
    return f'<div class="wide"><table>\n<tr>{heads}</tr>\n{body}</table></div>\n'


def _cell(value: Any) -> str:
    text = tables.shown(value)
    verdict = text if text in SIGNS.values() else SIGNS.get(text[-1:], "") if " / " in text else ""
    number = isinstance(value, int | float) or " / " in text
    classes = " ".join(filter(None, ["number" if number else "", verdict]))
    return f'<td class="{classes}">{escape(text)}</td>' if classes else f"<td>{escape(text)}</td>"
