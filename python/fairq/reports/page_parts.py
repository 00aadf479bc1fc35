"""What stands on a page: tables, files inside links, and digests of what the page is made of."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

LINE = 40
"""Letters of a cell in one line."""


ROWS_SEEN = 14
"""Rows of a table that a screen shows at once."""


class File(NamedTuple):
    """Rows as a file that a reader can save."""

    caption: str
    name: str
    link: str
    """The rows as CSV, in the link itself."""


class Judged(NamedTuple):
    """A cell with a verdict: its text, and the sign of the verdict if that stands behind it."""

    text: str
    sign: str
    verdict: str


@dataclass
class Shown:
    """A table of the page: its headings, its rows in groups, and the same rows as a file."""

    caption: str
    heads: list[str]
    groups: Sequence[tuple[str, Sequence[Sequence[str | Judged]]]]
    """Rows below a heading of their own, or below none if that is empty."""
    file: File
    left_out: str = ""

    @property
    def said(self) -> str:
        """What stands above the table, with the number of rows where not all are seen at once."""
        rows = sum(len(group) for _, group in self.groups)
        parts = [self.caption, self.left_out, f"{rows} rows: scroll within the table" if rows > ROWS_SEEN else ""]
        return ". ".join(part for part in parts if part)

    @property
    def kinds(self) -> list[str]:
        """The class of each column in the style sheet: `number`, `long`, or none."""
        rows = [row for _, group in self.groups for row in group]
        return [_kind([cell if isinstance(cell, str) else cell.text for cell in of]) for of in zip(*rows, strict=True)]


def _kind(cells: Sequence[str]) -> str:
    """The class of a column of these cells: `long` if a cell takes several lines.

    A number may have a unit or an interval, or be missing.
    """
    if max(map(len, cells)) > LINE:
        return "long"
    return "number" if all(not text or re.match(r"[-−<]?\d|-( /|$)", text) for text in cells) else ""


def csv_file(caption: str, name: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> File:
    """Rows as CSV in the text of a link."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([row.get(column) for column in columns] for row in rows)
    data = base64.b64encode(text.getvalue().encode()).decode("ascii")
    return File(caption, name, f"data:text/csv;base64,{data}")


def thinned(rows: Sequence[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """Every n-th row, at most `most`."""
    return list(rows[:: max(1, -(-len(rows) // most))])


def sha(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
