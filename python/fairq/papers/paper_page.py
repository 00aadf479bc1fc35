"""The page of papers that were reproduced: verdicts as tables and figures, and how it was made."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import fairq._native as _native
from fairq.core import tables
from fairq.papers.reproduction import LEGEND, Outcome, Plots, Section, heading, sections, totals
from fairq.papers.verdicts import COLUMNS
from fairq.reports import pictures
from fairq.reports.page_parts import File, Judged, Shown, csv_file, thinned
from fairq.reports.rendering import fitting, rendered

SIGNS = {"=": "agrees", "#": "differs", "~": "undecided", "?": "unreadable"}
"""The verdict of each sign at the end of a cell."""

UNPUBLISHED = "Measured: means over the seeds. The paper has no such numbers."
"""What stands above a table that compares nothing."""


class Thin(NamedTuple):
    """How much the page holds."""

    narrow: bool
    """Figures for a phone."""
    rows: int
    """The most rows of a file with the points of curves."""
    every: bool
    """A file of all verdicts of a paper, which are in those of its tables as well."""


THINNER = (Thin(True, 2_000, True), Thin(False, 2_000, True), Thin(False, 200, False))
"""From all there is to what fits in a page."""


@dataclass
class Picture:
    """A figure, plotted once however often the page is made."""

    elements: pictures.Elements
    name: str
    title: str
    data: Sequence[Mapping[str, Any]]
    """What it shows, if that is not in the table below it."""

    def shown(self, thin: Thin) -> str:
        """The figure as a part of the page."""
        return pictures.shown(self.elements, narrow=thin.narrow)

    def file(self, thin: Thin) -> File | None:
        """What it shows as a file, or None if that is in the table below it."""
        rows = thinned(self.data, thin.rows)
        more = f", {len(rows)} of {len(self.data)} points" if len(rows) < len(self.data) else ""
        return csv_file(f"{self.title}{more}", f"{self.name}.csv", rows, list(rows[0])) if rows else None


@dataclass
class Item:
    """A table or figure of the paper, or what sums them up."""

    name: str
    title: str
    text: str
    table: Shown | None
    pictures: list[Picture] = field(default_factory=list)


@dataclass
class Chapter:
    """A paper."""

    name: str
    title: str
    text: str
    totals: list[str]
    every: File
    """All its verdicts."""
    parts: list[Item]
    made: Sequence[tuple[str, str]]


def page(plotted: Sequence[Plots], command: str) -> str:
    """The page of the papers that `command` reproduced; the same outcomes give the same bytes."""
    chapters = [_chapter(plots, f"p{number}") for number, plots in enumerate(plotted)]
    is_one = len(chapters) == 1
    contents: Sequence[Item | Chapter] = chapters[0].parts if is_one else chapters
    said = {
        "heading": "Paper reproduced" if is_one else "Papers reproduced",
        "title": f"{chapters[0].name} reproduced" if is_one else "Papers reproduced",
        "lead": LEGEND,
        "contents": [(each.name, each.title) for each in contents],
        "chapters": chapters,
        "made": [
            ("command", command),
            ("fairq", _native.version()),
            ("version of results", str(_native.results_version())),
        ],
    }
    return fitting(lambda thin: rendered("papers.html", {**said, "thin": thin}), THINNER)


def _chapter(plots: Plots, prefix: str) -> Chapter:
    """A paper; `prefix` begins the names inside its figures."""
    found = plots.outcome
    paper = found.paper.name
    title, _, text = heading(found.paper, found.setup).partition("\n")
    parts = {section.item or section.title: _item(section, found) for section in sections(found)}
    rest = Item(f"{paper}-figures", "Other figures", "", None)
    for number, (name, figure) in enumerate(plots.figures.items()):
        item = parts.get(figure.item, rest)
        below = "The table below has all values" if item.table is not None else ""
        says = ". ".join(filter(None, [figure.title, "; ".join(figure.panels), item.text, below]))
        elements = pictures.plotted(plots.plot(name), f"{prefix}n{number}", says)
        item.pictures.append(Picture(elements, f"{paper}-{name}", figure.title, figure.data))
    return Chapter(
        paper,
        title,
        text,
        totals(found.lines).split("\n"),
        csv_file(f"all verdicts of {paper}", f"{paper}-verdicts.csv", found.rows, COLUMNS),
        [*parts.values(), *([rest] if rest.pictures else [])],
        found.made(),
    )


def _item(section: Section, found: Outcome) -> Item:
    """A section of the report; its file has the lines of the table, each with all that is known."""
    name = f"{found.paper.name}-{_slug(section.item or section.title)}"
    text = totals(section.lines).replace("\n", "; ") if section.item else ""
    if not section.rows:
        return Item(name, section.title, text, None)
    rows = [line.row() for line in section.lines]
    is_published = any(line.verdict != "beyond" for line in section.lines)
    caption = (LEGEND if is_published else UNPUBLISHED) if section.item else ""
    file = csv_file(section.title, f"{name}.csv", rows, COLUMNS)
    return Item(name, section.title, text, _shown(section, caption, file))


def _shown(section: Section, caption: str, file: File) -> Shown:
    """The table; its first column becomes headings of groups of rows, if groups have several."""
    first, *others = section.columns
    groups: dict[str, list[list[str | Judged]]] = {}
    for row in section.rows:
        groups.setdefault(str(row[first]), []).append([_cell(row.get(column)) for column in others])
    heads = [tables.heading(column) for column in section.columns]
    if len(groups) < len(section.rows):
        return Shown(caption, heads[1:], list(groups.items()), file)
    return Shown(caption, heads, [("", [[name, *row] for name, (row,) in groups.items()])], file)


def _cell(value: Any) -> str | Judged:
    """A cell, and the verdict in it if it ends in the sign of one or is one."""
    text = tables.shown(value)
    if text in SIGNS.values():
        return Judged(text, "", text)
    between, sign = text[-2:-1], text[-1:]
    return Judged(text[:-2], sign, SIGNS[sign]) if " / " in text and between == " " and sign in SIGNS else text


def _slug(text: str) -> str:
    """A text as a part of an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
